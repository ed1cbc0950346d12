"""Inputs and first-order states that force elements and actuators add to those of the description."""

from __future__ import annotations

from kinetree.models.description.joint_units import actuator_units, way_driven
from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import Actuator, Description
from kinetree.models.expressions.internal_names import free_name, hidden
from kinetree.models.forces.kinds import KINDS
from kinetree.models.hydraulics.kinds import KINDS as HYDRAULICS
from kinetree.models.hydraulics.kinds import Hydraulic
from kinetree.models.language.numbers_and_expressions import guessed
from kinetree.models.language.parts.input_motion_parts import filter_states, followings
from kinetree.models.language.parts.value_parts import Input, State
from kinetree.models.quantities.kinds import QUANTITIES

HELD = {
    "s0": "length",
    "v0": "speed",
}  # what an actuator holds from the beginning of a communication step on; t0 is its time


def inputs_of(description: Description) -> dict[str, Input]:
    """Return all inputs: those of the description and of actuators, and internal ones that hosts do
    not see.
    """
    found = dict(description.inputs)
    for label, actuator in description.actuators.items():
        units = actuator_units(way_driven(description.joints, actuator.coordinate))
        found[f"{label}.force"] = Input(
            start=actuator.force, unit=units["force"], text="Force at the beginning of the step"
        )
        found[f"{label}.stiffness"] = Input(
            unit=units["stiffness"],
            text="dF/ds: change of the force with the length within the step",
        )
        found[f"{label}.damping"] = Input(
            unit=units["damping"], text="dF/dv: change of the force with the speed within the step"
        )
        if actuator.chambers is not None:
            for side in "ab":
                found[f"{label}.flow_{side}"] = Input(unit="m3/s", text=f"Flow into chamber {side}")
    return found | {
        name: Input(text="Held from the beginning of the step on")
        for name in held_inputs(description)
    }


def held(label: str) -> tuple[str, ...]:
    """Return the names of the internal inputs that an actuator keeps constant during a
    communication step.
    """
    return (*(hidden(label, key) for key in HELD), hidden(label, "t0"))


def held_inputs(description: Description) -> tuple[str, ...]:
    """Return all internal inputs, which only the engine writes."""
    return tuple(name for label in description.actuators for name in held(label))


def states_of(description: Description) -> dict[str, State]:
    """Return all first-order states: of the description, force elements, oil chambers and hydraulic
    circuits.

    `rate_of_state` names the rate of a state that an element adds; names in the description take
    precedence over the state's name.
    """
    found = dict(description.states)
    for label, force in description.forces.items():
        for suffix, own in KINDS[force.kind].states(force).items():
            found[free_name(f"{label}.{suffix}", description.own_names)] = own.state()
    for _, follow in followings(description):
        if follow.bandwidth is not None:
            given = description.inputs[follow.input]
            way, rate = filter_states(follow.input)
            found[way] = State(
                rate=0.0, start=given.start, unit=given.unit, text=f"What follows {follow.input}"
            )
            found[rate] = State(rate=0.0, text=f"Rate of what follows {follow.input}")
    for label, output in description.outputs.items():
        if output.quantity is not None and QUANTITIES[output.quantity].state:
            found[label] = State(
                rate=0.0,
                unit=QUANTITIES[output.quantity].unit,
                text=output.text,
                display_unit=output.display_unit,
            )
    for label, actuator in description.actuators.items():
        if actuator.chambers is not None and stands(actuator, description):
            for side in "ab":
                start = guessed(getattr(actuator.chambers, f"pressure_{side}"))
                found[f"{label}.pressure_{side}"] = State(rate=0.0, start=start, unit="Pa")
    for label, element in description.hydraulics.items():
        found |= HYDRAULICS[element.kind].states(
            label, element, lambda name: free_name(name, description.own_names)
        )
    return found


def stands(element: Actuator | Hydraulic, description: Description) -> bool:
    """Return whether the bodies or the coordinate that an element acts on still exist in a
    structure.
    """
    between, coordinate = getattr(element, "between", None), getattr(element, "coordinate", None)
    if between is not None:
        return {point.body for point in between} <= {"ground", *description.bodies}
    return coordinate is None or any(
        coordinate in joint_elements(joint, label).coordinates
        for label, joint in description.joints.items()
    )


def settlements(description: Description) -> frozenset[str]:
    """Return the names of the states that never decrease, such as plastic settlement."""
    forces = description.forces.items()
    return frozenset(
        f"{label}.{suffix}"
        for label, force in forces
        for suffix, own in KINDS[force.kind].states(force).items()
        if own.settles
    )
