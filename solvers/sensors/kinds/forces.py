"""Kinds of sensors: joint reactions and the forces of couplings and contacts."""

from kinetree.solvers.sensors.kinds import Kind

REACTION_FORCE = Kind("REACTION_FORCE", 8, "forces.reaction_force", vector=True, reactions=True)
REACTION_MOMENT = Kind("REACTION_MOMENT", 9, "forces.reaction_moment", vector=True, reactions=True)
MULTIPLIER = Kind("MULTIPLIER", 15, "forces.multiplier")  # generalised force of a coupling
CONTACT = Kind(
    "CONTACT", 16, "forces.contact"
)  # of contact a what `axis` says: normal force, friction, normal impulse of its last impact, state
SENSORS = (REACTION_FORCE, REACTION_MOMENT, MULTIPLIER, CONTACT)
