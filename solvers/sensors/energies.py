"""Sensors of the energies of the whole mechanism."""

from kinetree.solvers.engine.energy import kinetic, potential
from kinetree.solvers.kernel import kernel


@kernel
def kinetic_energy(model, ws, s):
    """Return the kinetic energy of all bodies and rotors [J]."""
    return kinetic(model, ws)


@kernel
def potential_energy(model, ws, s):
    """Return the potential energy of gravity, springs and contacts [J]."""
    return potential(model, ws)


@kernel
def energy(model, ws, s):
    """Return the sum of kinetic and potential energy [J]."""
    return kinetic(model, ws) + potential(model, ws)
