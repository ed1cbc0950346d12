"""Joints of general motion rho(q, t), G(q, t): transforms whose amount is an expression over
coordinates.

Such a transform gets a coordinate of its own, JOINT.motion1, ..., and a coupling JOINT.motion1.law
that keeps this coordinate equal to the expression.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import Any

from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import Description, JointSpec
from kinetree.models.expressions.parse import ExpressionError, names, parse
from kinetree.models.joints.elements import JointProblem
from kinetree.models.language.parts.body_parts import Transform
from kinetree.models.language.parts.coupling_parts import Coupling


def with_dependent_motions(description: Description) -> Description:
    """Return the description with a coordinate and a coupling for every amount that depends on
    coordinates.
    """
    if not any(isinstance(each.by, str) for each in all_transforms(description)):
        return description
    known = coordinates_of(description)
    joints: dict[str, JointSpec] = dict(description.joints)
    couplings: dict[str, Coupling] = dict(description.couplings)
    written: dict[str, tuple[str | int, ...]] = {}
    for label, joint in description.joints.items():
        transforms = list(joint.transforms or ())
        given, rotors = iter(joint.rotor_inertia or ()), []
        count = 0
        for k, transform in enumerate(transforms):
            if not depends_on(transform, known, description.inputs):
                if transform.coordinate is not None and transform.factor is None:
                    rotors += list(islice(given, 1))
                continue
            rotors += [0.0] * (joint.rotor_inertia is not None)
            count += 1
            name = f"{label}.motion{count}"
            couplings[f"{name}.law"] = Coupling.model_validate(
                {"value": f"'{name}' - ({transform.by})"}
            )
            written[f"{name}.law"] = ("joints", label, "transforms", k, "by")
            moved = {"by": None, "coordinate": name, "guess": True}
            transforms[k] = transform.model_copy(update=moved)
        if count:
            changed: dict[str, Any] = {"transforms": tuple(transforms)}
            if joint.rotor_inertia is not None:
                changed["rotor_inertia"] = (*rotors, *given)
            joints[label] = joint.model_copy(update=changed)
    if not written:
        return description
    result = description.model_copy(update={"joints": joints, "couplings": couplings})
    result._motion_laws = written
    return result


def all_transforms(description: Description) -> list[Transform]:
    return [each for joint in description.joints.values() for each in joint.transforms or ()]


def coordinates_of(description: Description) -> set[str]:
    """Return the names of the coordinates of all valid joints."""
    found: set[str] = set()
    for label, joint in description.joints.items():
        try:
            found |= set(joint_elements(joint, label).coordinates)
        except JointProblem:
            continue  # reported with the joint
    return found


def depends_on(transform: Transform, coordinates: Collection[str], inputs: Collection[str]) -> bool:
    """Return whether the amount of a transform contains coordinates and neither speeds nor inputs;
    other faults are reported by its check.
    """
    if not isinstance(transform.by, str) or transform.coordinate is not None:
        return False
    try:
        used = names(parse(transform.by))
    except ExpressionError:
        return False
    refused = used.intersection(inputs) or any(each.startswith("der(") for each in used)
    return not refused and not used.isdisjoint(coordinates)
