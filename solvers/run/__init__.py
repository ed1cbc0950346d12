"""A unit in motion: steps, events, stages, balances."""
