"""System Structure and Parameterization: archives of FMUs, their wires and their values, read and written."""
