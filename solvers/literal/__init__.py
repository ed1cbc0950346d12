"""The twelve forms (formulations) of the equations of motion as published, with their frames,
orthogonal complements and costs.
"""
