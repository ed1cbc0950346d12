"""Building blocks of the tables of a description: numbers and expressions, units, base tables,
errors.
"""
