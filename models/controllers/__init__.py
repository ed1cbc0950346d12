"""Controllers inside a mechanism: their laws as expressions, the states and events that implement
them, and the loops they close.
"""
