"""Kinds of sensors: energies of the whole mechanism."""

from kinetree.solvers.sensors.kinds import Kind

KINETIC_ENERGY = Kind("KINETIC_ENERGY", 11, "energies.kinetic_energy")
POTENTIAL_ENERGY = Kind("POTENTIAL_ENERGY", 12, "energies.potential_energy", speeds=False)
ENERGY = Kind("ENERGY", 13, "energies.energy")
SENSORS = (KINETIC_ENERGY, POTENTIAL_ENERGY, ENERGY)
