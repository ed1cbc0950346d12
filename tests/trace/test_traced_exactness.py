"""Kernels in exact rational arithmetic: two independent forms agree to the last digit, for every joint kind.

A misprint that happens to be small, or to vanish at special states, cannot hide behind a tolerance here.
"""

import ast
from fractions import Fraction

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.joints.kinds import KINDS
from kinetree.models.trace.kernel_recording import Recording
from kinetree.models.trace.mechanism_traces import WORLD, traced

AXIS, PITCH = (
    {"axis": [0, 1, 0]},
    {"pitch": "pi"},
)  # half a radian's worth of shift: an exact number
JOINTS: dict[str, dict] = {
    **{
        kind.name: {"type": kind.name}
        | (AXIS if len(kind.axes) == 1 else {})
        | (PITCH if kind.pitch else {})
        for kind in KINDS.values()
    },
    "transforms": {
        "transforms": [
            {"shift": "y", "coordinate": "a"},
            {"rotate": "x", "coordinate": "b"},
            {"rotate": "z", "coordinate": "c"},
        ]
    },
    "given": {
        "transforms": [
            {"shift": "y", "by": "t**2/4 - t"},
            {"rotate": "z", "by": "t/2"},
            {"rotate": "x", "coordinate": "b"},
        ]
    },
}
HALF, MASS = Fraction(1, 2), Fraction(7, 3)


def description(kind: str) -> dict:
    """Two bodies on joints of one kind; numbers are sums of powers of two and the mass is a symbol: no constant is rounded."""
    joint = JOINTS[kind]
    second = {**joint, **({"at": [0.5, 0.25, 0.0]} if "type" in joint else {})}
    if "transforms" in joint:
        steps = [
            {**step, **({"coordinate": step["coordinate"] + "2"} if "coordinate" in step else {})}
            for step in joint["transforms"]
        ]
        second = {"transforms": [{"shift": [0.5, 0.25, 0.0]}, *steps]}
    a, b, c = 0.125, 0.0625, 0.25
    tensor = [1.0, a * a + 1.0, b * b + c * c + 1.0, a, b, a * b + c]
    bodies = {
        "one": {"mass": "m", "com": [0.25, 0.125, -0.5], "inertia": tensor},
        "two": {"mass": "m", "com": [0.25, 0, 0], "inertia": tensor},
    }
    first = JOINTS["revolute"] if kind == "rigid" else joint
    joints = {
        "j": {"parent": "ground", "child": "one", **first},
        "k": {"parent": "one", "child": "two", **second},
    }
    return {
        "format": "kinetree/1",
        "name": kind,
        "gravity": [0.5, -2.0, -8.0],
        "parameters": {"m": 2.0},
        "bodies": bodies,
        "joints": joints,
    }


class Angles:
    """Sine and cosine of a rational angle parameter: rational points of the circle, the same for equal angles."""

    def sin(self, a: Fraction) -> Fraction:
        return 2 * a / (1 + a * a)

    def cos(self, a: Fraction) -> Fraction:
        return (1 - a * a) / (1 + a * a)


def rationals(count: int, first: int) -> list[Fraction]:
    return [Fraction((7 * k + first) % 11 - 5, (3 * k + first) % 5 + 2) for k in range(count)]


@pytest.mark.parametrize("kind", JOINTS)
def test_exact_traced_accelerations_have_zero_residual(kind: str):
    """DEC in world axes solves, Newton and Euler in body axes take the accelerations back: exactly nothing remains."""
    system = load(description(kind)).compile()
    trace = traced(system, "accelerations", "symbols", "DEC", WORLD)
    q, u = rationals(len(system.coordinates), 3), rationals(system.n, 4)
    angles = Angles()
    exact = {
        "functions": {"sin": angles.sin, "cos": angles.cos},
        "number": Fraction,
        "parameters": [MASS],
    }
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
    recording = Recording(instance, (q + 0.1, u + 0.1), "symbols")
    recording.ws.udot[:] = recording.symbols("x", np.full(system.n, 0.3))
    recording.entry("literal_forms", "inverse_dynamics", 0, recording.t)
    nodes = recording.nodes(recording.ws.Q)
    trace = traced(system, "accelerations", "symbols", "DEC", WORLD)
    return replace(trace, tape=recording.tape, results=nodes, labels=list(system.speeds), names={})


class Fractions(ast.NodeTransformer):
    """Numbers of a program as the fractions that they are."""

    def visit_Constant(self, node: ast.Constant):
        if not isinstance(node.value, float):
            return node
        numerator, denominator = node.value.as_integer_ratio()
        return ast.Call(
            ast.Name("Fraction", ast.Load()),
            [ast.Constant(numerator), ast.Constant(denominator)],
            [],
        )


def evaluated(text: str, given: dict) -> list[Fraction]:
    """What a generated CasADi module computes, its symbols and numbers replaced by fractions."""
    angles = Angles()

    class Exact:
        class SX:
            sym = staticmethod(lambda name, size=1: given[name])

        sin, cos = staticmethod(angles.sin), staticmethod(angles.cos)
        vertcat = staticmethod(lambda *rows: list(rows))
        Function = staticmethod(lambda name, arguments, results, *names: results[0])

    tree = ast.fix_missing_locations(
        Fractions().visit(ast.parse(text.replace("import casadi as ca", "")))
    )
    space = {"ca": Exact, "Fraction": Fraction}
    exec(compile(tree, "generated", "exec"), space)  # noqa: S102 (the text is ours)
    (name,) = [name for name in space if name.endswith("_accelerations")]
    return space[name]()


@pytest.mark.parametrize("kind", JOINTS)
def test_generated_casadi_is_exact(kind: str):
    """The printed equations, evaluated with fractions, leave no force: neither a kernel nor the printer has a misprint."""
    system = load(description(kind)).compile()
    q, u = rationals(len(system.coordinates), 3), rationals(system.n, 4)
    given = {"t": HALF, "q": q, "u": u, "x": [], "inputs": [], "parameters": [MASS]}
    text = traced(system, "accelerations", "symbols", "DEC", WORLD).casadi()
    rates = [Fraction(each) for each in evaluated(text, given)]
    angles = Angles()
    back = inverse_dynamics(system)
    exact = {
        "functions": {"sin": angles.sin, "cos": angles.cos},
        "number": Fraction,
        "parameters": [MASS],
    }
    assert back.evaluate(HALF, q, u, rates, **exact) == [0] * system.n
    # one sign of the text, and it shows
    line = next(line for line in reversed(text.splitlines()) if " - " in line)
    wrong = [
        Fraction(each)
        for each in evaluated(text.replace(line, line.replace(" - ", " + ", 1)), given)
    ]
    assert wrong != rates and back.evaluate(HALF, q, u, wrong, **exact) != [0] * system.n
