"""Kernels in exact rational arithmetic: two independent forms agree to the last digit, for every joint kind.

A misprint that happens to be small, or to vanish at special states, cannot hide behind a tolerance here.
"""

from fractions import Fraction

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.joints.kinds import KINDS
from kinetree.models.trace.mechanism import WORLD, traced
from kinetree.models.trace.record import Recording

EXACT = [kind for kind in KINDS.values() if kind.coordinates and not kind.pitch]  # a pitch is divided by 2 pi
X = {"axis": [1, 0, 0]}
JOINTS: dict[str, dict] = {
    **{kind.name: {"type": kind.name} | (X if len(kind.axes) == 1 else {}) for kind in EXACT},
    "transforms": {"transforms": [{"shift": "y", "coordinate": "a"}, {"rotate": "x", "coordinate": "b"}, {"rotate": "z", "coordinate": "c"}]},
}
HALF = Fraction(1, 2)


def description(kind: str) -> dict:
    """Two bodies on joints of one kind; all numbers are sums of powers of two, so that nothing is rounded when constants fold."""
    joint = JOINTS[kind]
    second = {**joint, **({"at": [0.5, 0.25, 0.0]} if "type" in joint else {})}
    if kind == "transforms":
        steps = [{**step, "coordinate": step["coordinate"] + "2"} for step in joint["transforms"]]
        second = {"transforms": [{"shift": [0.5, 0.25, 0.0]}, *steps]}
    # the last body's pivots and determinant fold to constants: powers of two have exact reciprocals
    a, b, c = 0.125, 0.0625, 0.25
    tensor = [1.0, a * a + 1.0, b * b + c * c + 1.0, a, b, a * b + c]
    bodies = {"one": {"mass": 2.0, "com": [0.25, 0.125, -0.5], "inertia": tensor}, "two": {"mass": 2.0, "com": [0.25, 0, 0], "inertia": tensor}}
    joints = {"j": {"parent": "ground", "child": "one", **joint}, "k": {"parent": "one", "child": "two", **second}}
    return {"format": "kinetree/1", "name": kind, "gravity": [0.5, -2.0, -8.0], "bodies": bodies, "joints": joints}


class Angles:
    """Sine and cosine of a rational angle parameter: rational points of the circle, the same for equal angles."""

    def sin(self, a: Fraction) -> Fraction:
        return 2 * a / (1 + a * a)

    def cos(self, a: Fraction) -> Fraction:
        return (1 - a * a) / (1 + a * a)


def rationals(count: int, first: int) -> list[Fraction]:
    return [Fraction((7 * k + first) % 11 - 5, (3 * k + first) % 5 + 2) for k in range(count)]


@pytest.mark.parametrize("kind", JOINTS)
def test_forces_of_the_accelerations_are_zero(kind: str):
    """DEC in world axes solves, Newton and Euler in body axes take the accelerations back: exactly nothing remains."""
    system = load(description(kind)).compile()
    trace = traced(system, "accelerations", "numbers", "DEC", WORLD)
    q, u = rationals(len(system.coordinates), 3), rationals(system.n, 4)
    angles = Angles()
    exact = {"functions": {"sin": angles.sin, "cos": angles.cos}, "number": Fraction}
    rates = trace.evaluate(HALF, q, u, **exact)
    assert all(isinstance(rate, Fraction) for rate in rates)
    back = inverse_dynamics(system)
    forces = back.evaluate(HALF, q, u, rates, **exact)
    assert forces == [0] * system.n
    wrong = back.evaluate(HALF, q, u, [rates[0] + Fraction(1, 10**30), *rates[1:]], **exact)
    assert wrong != forces  # nothing is that small here


def inverse_dynamics(system):
    """Forces along the speeds that accelerations need, the accelerations given as states."""
    from dataclasses import replace

    from kinetree.models.system.forms import MASS

    instance = system._with(MASS)
    q, u = system.start()
    recording = Recording(instance, (q + 0.1, u + 0.1))
    recording.ws.udot[:] = recording.symbols("x", np.full(system.n, 0.3))
    recording.entry("literal", "inverse_dynamics", 0, recording.t)
    nodes = recording.nodes(recording.ws.Q)
    trace = traced(system, "accelerations", "numbers", "DEC", WORLD)
    return replace(trace, tape=recording.tape, results=nodes, labels=list(system.speeds), names={})


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "universal", "transforms"])
def test_generated_casadi_is_exact(kind: str, tmp_path):
    """The text itself, its symbols replaced by fractions, gives what the tape gives."""
    from generated_code import module

    system = load(description(kind)).compile()
    trace = traced(system, "accelerations", "numbers", "DEC", WORLD)
    text = trace.casadi().replace("import casadi as ca", "from exact_casadi import ca")
    (tmp_path / "exact_casadi.py").write_text("ca = None\n")
    import sys

    sys.path.insert(0, str(tmp_path))
    try:
        found = module(text, tmp_path)
        angles = Angles()
        q, u = rationals(len(system.coordinates), 3), rationals(system.n, 4)
        given = {"t": HALF, "q": q, "u": u, "x": [], "inputs": [], "parameters": []}

        class Exact:
            class SX:
                sym = staticmethod(lambda name, size=1: given[name])

            sin, cos = staticmethod(angles.sin), staticmethod(angles.cos)
            vertcat = staticmethod(lambda *rows: list(rows))
            Function = staticmethod(lambda name, arguments, results, *names: results[0])

        found.ca = Exact
        (name,) = [name for name in vars(found) if name.endswith("_accelerations")]
        result = getattr(found, name)()
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("exact_casadi", None)
    right = trace.evaluate(HALF, q, u, functions={"sin": angles.sin, "cos": angles.cos}, number=Fraction)
    # decimal constants in the text are floats: exact where they are sums of powers of two
    assert [Fraction(value) if isinstance(value, (int, float)) else value for value in result] == right or np.allclose(
        [float(value) for value in result], [float(value) for value in right], rtol=1e-14
    )
