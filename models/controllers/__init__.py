"""Controllers inside a mechanism: their laws as texts, the states and events that carry them out, and the loops they close."""
