"""A compiled mechanism and how to ask it."""
