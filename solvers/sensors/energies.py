"""Energies of the whole mechanism."""

from kinetree.solvers.engine.energy import kinetic, potential
from kinetree.solvers.kernel import kernel


@kernel
def kinetic_energy(model, ws, s):
    """Of all bodies and rotors."""
    return kinetic(model, ws)


@kernel
def potential_energy(model, ws, s):
    """Of weight, springs and contacts."""
    return potential(model, ws)


@kernel
def energy(model, ws, s):
    """Both."""
    return kinetic(model, ws) + potential(model, ws)
