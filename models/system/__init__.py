"""A compiled mechanism: evaluation, simulation and analyses."""
