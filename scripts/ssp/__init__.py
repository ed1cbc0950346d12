"""System Structure and Parameterization (SSP): archives of FMUs, their connections and parameter
values, read and written.
"""
