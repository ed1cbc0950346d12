"""Rotor inertia of electric motors: reflected through the gear, it is added to the joint that the
motor drives.
"""

from __future__ import annotations

from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import Description, JointSpec
from kinetree.models.forces.kinds.electric import ElectricForce
from kinetree.models.joints.elements import JointProblem


def with_rotors(description: Description) -> Description:
    """Return the description with the rotor inertia of motors added to the joints of their
    coordinates.
    """
    joints: dict[str, JointSpec] = dict(description.joints)
    for force in description.forces.values():
        if not isinstance(force, ElectricForce) or force.inertia == 0.0:
            continue
        for label, joint in joints.items():
            try:
                form = joint_elements(joint, label)
            except JointProblem:
                continue  # reported with the joint
            if force.coordinate not in form.coordinates or form.quaternion:
                continue
            rotors = list(joint.rotor_inertia or [0.0] * len(form.speeds))
            k = form.coordinates.index(force.coordinate)
            seen = f"({force.gear})**2*({force.inertia})"
            rotors[k] = seen if rotors[k] == 0.0 else f"{rotors[k]} + {seen}"
            joints[label] = joint.model_copy(update={"rotor_inertia": tuple(rotors)})
            break
    changed = any(joints[label] is not joint for label, joint in description.joints.items())
    return description.model_copy(update={"joints": joints}) if changed else description
