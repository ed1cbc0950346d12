"""A soft beam that falls from the horizontal about a pin: our beam and Exudyn's cable elements in
absolute coordinates (ANCF), in one run.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from kinetree.models import load
from kinetree.scripts.bench.floating_frame import end_in_exudyn

LENGTH, BENDING, AXIAL, LINE = 1.0, 1.0, 1e6, 1.0  # m, E I [N.m2], E A [N], mass per length [kg/m]
STOP = 0.5  # s
ELEMENTS, STEP = 16, 2.5e-4  # there; the step in s
SEGMENTS, TOLERANCE = 8, 1e-8  # here


class Tip(NamedTuple):
    """The position x, y of the tip at the end of a run [m], and the processing time of the run [s]."""

    x: float
    y: float
    seconds: float


def ours(segments: int = SEGMENTS, tolerance: float = TOLERANCE) -> Tip:
    """Return the tip at the end of a run of our beam, which stretches as the cable does."""
    moment = BENDING / AXIAL
    section = {"area": 1.0, "iy": moment, "iz": moment, "j": moment, "shear_area": [1.0, 1.0]}
    beam = {"length": LENGTH, "section": section, "material": "soft", "segments": segments}
    beam |= {"bending": "z", "extension": True, "damping": 0.0}
    description = {
        "format": "kinetree/1",
        "name": "cable",
        "gravity": [0, -9.81, 0],
        "materials": {
            "soft": {"density": LINE, "youngs_modulus": AXIAL, "shear_modulus": 0.5 * AXIAL}
        },
        "beams": {"cable": beam},
        "joints": {"pin": {"child": "cable", "type": "revolute"}},
        "outputs": {"tip": {"quantity": "position", "body": "cable", "station": LENGTH}},
    }
    result = load(description).compile().simulate(STOP, output_step=STOP, tolerance=tolerance)
    return Tip(result["tip[1]"][-1], result["tip[2]"][-1], result.statistics["seconds"])


def theirs(elements: int = ELEMENTS, step: float = STEP) -> Tip:
    """Return the tip at the end of a run of Exudyn's cable elements by the generalised-alpha
    method.
    """
    exu: Any = import_module("exudyn")  # made by a compiler: nothing is known of its types
    items: Any = import_module("exudyn.itemInterface")
    beams: Any = import_module("exudyn.beams")

    mbs = exu.SystemContainer().AddSystem()
    cable = items.Cable2D(
        physicsMassPerLength=LINE, physicsBendingStiffness=BENDING, physicsAxialStiffness=AXIAL
    )
    nodes = beams.GenerateStraightLineANCFCable2D(
        mbs,
        positionOfNode0=[0, 0, 0],
        positionOfNode1=[LENGTH, 0, 0],
        numberOfElements=elements,
        cableTemplate=cable,
        massProportionalLoad=[0, -9.81, 0],
        fixedConstraintsNode0=[1, 1, 0, 0],
    )[0]
    sensor = mbs.AddSensor(
        items.SensorNode(
            nodeNumber=nodes[-1],
            outputVariableType=exu.OutputVariableType.Position,
            storeInternal=True,
        )
    )
    place, seconds = end_in_exudyn(exu, mbs, sensor, STOP, step)
    return Tip(float(place[0]), float(place[1]), seconds)
