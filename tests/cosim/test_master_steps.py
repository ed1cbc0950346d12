"""One step of every master over wires of every kind, beside what is found by hand with units that add up what they are given."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from kinetree.scripts.cosim.coupling_plan import Plan, of_wires
from kinetree.scripts.cosim.jacobian import InterfaceJacobian
from kinetree.scripts.cosim.masters import GaussSeidel, Master, Repeat, Wire
from kinetree.scripts.cosim.oscillator import LinearSlave
from kinetree.scripts.cosim.power_bonds import Bond
from kinetree.scripts.cosim.sign_check import NUDGE, crossed, response
from kinetree.scripts.cosim.slave import CosimError
from kinetree.scripts.terminal.error_messages import BadInput

H = 0.5


class Sum:
    """x' = u with u linear in a step; y = x, its rate and u² are told too."""

    inputs: tuple[str, ...] = ("u",)
    units, law = {}, staticmethod(lambda u: u)

    def __init__(self, name: str, x: float, u: float = 0.0, ramped: bool = True):
        self.name, self.x, self.u, self.slope, self.ramped = (
            name,
            x,
            u,
            0.0,
            self.inputs if ramped else (),
        )
        self.outputs = ("y", "rate")
        self.told: list[Any] = []
        self.saved = 0

    def set(self, name: str, value: float, slope: float = 0.0) -> None:
        self.u, self.slope = value, slope
        self.told.append((value, slope))

    def get(self, name: str) -> float:
        return self.x if name == "y" else self.u

    def step(self, t: float, h: float) -> None:
        self.x += h * self.law(self.u + 0.5 * h * self.slope)
        self.u += h * self.slope
        self.told.append((t, h, self.name))

    def save(self) -> tuple[float, float, float]:
        self.saved += 1
        return self.x, self.u, self.slope

    def restore(self, state: tuple[float, float, float]) -> None:
        self.x, self.u, self.slope = state

    def forget(self, state: Any) -> None:
        self.saved -= 1

    def start(self, values: Any) -> None: ...
    def close(self) -> None: ...


KINDS: dict[str, dict[str, Any]] = {
    "plain": {}, "sloped": {"slope": "rate"}, "mean": {"slope": "rate", "mean": True}, "mean alone": {"mean": True}, "sample": {"hold": True},
}  # fmt: skip


def pair(kind: str, ramped: bool = True) -> tuple[Sum, Sum, tuple[Wire, Wire]]:
    """b.u = 2 a.y + 1, which is 3 at first with a slope of 8, and a.u = -b.y, which is -3."""
    a, b = Sum("a", 1.0, 4.0), Sum("b", 3.0, ramped=ramped)
    return (
        a,
        b,
        (
            Wire(a, "y", b, "u", factor=2.0, offset=1.0, **KINDS[kind]),
            Wire(b, "y", a, "u", factor=-1.0),
        ),
    )


@pytest.mark.parametrize(
    ("master", "order", "kind", "given", "mean"),
    [
        (Master, 0, "plain", (3.0, 0.0), 3.0), (Master, 1, "plain", (3.0, 0.0), 3.0), (Master, 0, "sloped", (3.0, 8.0), 5.0),
        (Master, 0, "mean", (5.0, 0.0), 5.0), (Master, 0, "mean alone", (3.0, 0.0), 3.0), (Master, 2, "sample", (3.0, 0.0), 3.0),
        # a has reached 1 - 3/2, of which 0 is on the wire
        (GaussSeidel, 0, "plain", (0.0, 0.0), 0.0), (GaussSeidel, 1, "plain", (3.0, -6.0), 1.5), (GaussSeidel, 0, "sloped", (3.0, -6.0), 1.5),
        (GaussSeidel, 0, "mean", (-1.5, 0.0), -1.5), (GaussSeidel, 1, "mean alone", (0.0, 0.0), 0.0), (GaussSeidel, 1, "sample", (3.0, 0.0), 3.0),
        # b has reached 4.5 (5.5 on a slope or its mean) in the trial, so that a comes to 1 - 3/2 - 3/8 (- 5/8), b follows it
        (Repeat, 0, "plain", (3.0, -7.5), 1.125), (Repeat, 0, "sloped", (3.0, -8.5), 0.875),
        (Repeat, 0, "mean", (0.875, 0.0), 0.875), (Repeat, 0, "sample", (3.0, 0.0), 3.0),
    ],
)  # fmt: skip
def test_masters_set_extrapolated_inputs(
    master: type[Master], order: int, kind: str, given: tuple[float, float], mean: float
):
    """Where a unit takes no slopes it is given the mean; what was used, what there was before, and the times of the steps are kept."""
    for ramped in (True, False):
        a, b, wires = pair(kind, ramped)
        made = master([a, b], wires, order)
        made.step(7.0, H)
        expected = given if ramped else (mean, 0.0)
        assert b.told[-2:] == [expected, (7.0, H, "b")] and a.told[-1] == (7.0, H, "a")
        assert (
            made.before is not None and made.before.tolist() == [3.0, -3.0] and made.used[0] == mean
        )
        assert [(h, past.tolist()) for h, past in made.past] == [
            (H, [3.0, -3.0])
        ] and a.saved == b.saved == 0
        assert len(a.told) == len(b.told) == (4 if master is Repeat else 2)


def test_master_keeps_values_of_two_past_steps():
    a, b, wires = pair("plain")
    made = Master([a, b], wires, 2)
    for k, h in enumerate((0.5, 0.25, 0.125)):
        made.step(float(k), h)
    assert [h for h, _ in made.past] == [0.125, 0.25] and made.before is made.past[0][1]


@pytest.mark.parametrize(
    ("wire", "said"),
    [
        (("z", "u"), "a has no output 'z' .wire a.z -> b.u.; it has y"),
        (("y", "z"), "b has no input 'z'"),
    ],
)
def test_wire_ends_must_exist(wire: tuple[str, str], said: str):
    a, b = Sum("a", 0.0), Sum("b", 0.0)
    with pytest.raises(BadInput, match=said):
        Master([a, b], [Wire(a, wire[0], b, wire[1])])


def test_coupling_plans_create_their_masters():
    """Inputs of `slope` are straight at least, those of others as they are told; who is told a stiffness steps first."""
    for name, asked, order in (
        ("held", 0, 0),
        ("slope", 0, 1),
        ("slope", 2, 2),
        ("sequential", 1, 1),
    ):
        made = Plan(name, (), ()).make(asked)
        assert made.extrapolation == order and type(made) is (
            GaussSeidel if name == "sequential" else Master
        )
    units = ["drive", "arm", "other", "boom"]
    targets = {("arm", "lift.stiffness"), ("boom", "tip.stiffness"), ("other", "lift.force")}
    assert of_wires("repeat", units, targets, "f") == ("repeat", units)
    assert of_wires("told", units, targets, "f") == (
        "sequential",
        ["arm", "boom", "drive", "other"],
    )
    for scheme, said in (
        ("chambers", "f: scheme chambers needs a .coupling."),
        ("told", "needs a wire from the stiffness"),
    ):
        with pytest.raises(BadInput, match=said):
            of_wires(scheme, units, {("other", "lift.force")}, "f")


class Counted(LinearSlave):
    """Counts its steps; tells its derivatives, times something, where it is asked to."""

    steps, times, asked = 0, 0.0, ()

    def step(self, t: float, h: float) -> None:
        self.steps += 1
        super().step(t, h)

    def differing(self, given: str, outputs: Sequence[str], h: float, ramp: bool) -> list[float]:
        """A linear unit: the difference of two steps is the derivative."""
        self.asked = (*self.asked, (given, tuple(outputs), h, ramp))
        ends, state = [], self.save()
        for slope in (0.0, 1.0):
            self.restore(state)
            self.set(
                given,
                self.u[self.inputs.index(given)] + (0.0 if ramp else 0.5 * slope),
                slope / h if ramp else 0.0,
            )
            LinearSlave.step(self, 0.0, h)
            ends.append([self.get(name) for name in outputs])
        self.restore(state)
        return [self.times * (b - a) for a, b in zip(*ends, strict=True)]


def interface(times: tuple[float, float]) -> tuple[Counted, Counted, InterfaceJacobian]:
    """Two units of three states, two inputs and outputs each, some at once; wires both ways, one of them a sample, one a mean."""
    rng = np.random.default_rng(5)
    units = []
    for name, factor in zip("ab", times, strict=True):
        A, B, C, D = (rng.normal(size=shape) for shape in ((3, 3), (3, 2), (2, 3), (2, 2)))
        unit = Counted(
            name, ("u", "w"), ("y", "z"), A - 3.0 * np.eye(3), B, C, 0.2 * D, rng.normal(size=3)
        )
        unit.times = factor
        if factor:
            unit.ramp_response = unit.differing  # pyright: ignore[reportAttributeAccessIssue]
        units.append(unit)
    a, b = units
    wires = [
        Wire(a, "y", b, "u", factor=0.5, offset=0.25), Wire(b, "z", a, "w", factor=-0.5), Wire(a, "z", b, "w", hold=True),
        Wire(b, "y", a, "u", mean=True),
    ]  # fmt: skip
    return a, b, InterfaceJacobian(units, wires)


@pytest.mark.parametrize(
    ("times", "derived", "differences", "steps"),
    [
        ((0.0, 0.0), 0, 4, (4, 4)),  # both units make a first step, one per column and the last one
        ((1.0, 1.0), 4, 0, (2, 2)), ((1.0, 0.0), 2, 2, (2, 4)),
        # wrong derivatives: at the fourth repetition differences take their place, and the fifth finds nothing left
        ((-1.0, 1.0), 4, 4, (7, 7)),
    ],
)  # fmt: skip
def test_linear_interface_is_solved_in_one_iteration(
    times: tuple[float, float], derived: int, differences: int, steps: tuple[int, int]
):
    """Ramps end at what is on the wires there, means are in the middle of them, samples stay; residuals are a billionth of their values."""
    a, b, master = interface(times)
    begin = master.read()
    master.step(3.0, 0.125)
    end = master.read()
    assert (master.derived, master.differences, (a.steps, b.steps)) == (derived, differences, steps)
    assert [b.u[0], a.u[1]] == pytest.approx([end[0], end[1]], abs=2e-9) and b.slope[
        0
    ] == pytest.approx((end[0] - begin[0]) / 0.125, abs=4e-8)
    assert (b.u[1], b.slope[1]) == (begin[2], 0.0) and a.slope[0] == 0.0
    assert a.u[0] == pytest.approx(0.5 * (begin[3] + end[3]), abs=1e-9)
    assert (
        master.before is not None and (master.before == begin).all() and master.past[0][0] == 0.125
    )
    if times == (1.0, 1.0):
        assert a.asked == (("w", ("y", "z"), 0.125, True), ("u", ("y", "z"), 0.125, False))


def test_unsolvable_interface_stops_after_eight_iterations():
    """Columns are found twice, at first and at the fourth repetition, and the last step is that of the last ramps."""

    class Restless(Counted):
        def get(self, name: str) -> float:
            return (-1.0) ** self.steps + 2.0

    a = Restless(
        "a",
        ("u",),
        ("y",),
        np.zeros((1, 1)),
        np.zeros((1, 1)),
        np.zeros((1, 1)),
        np.zeros((1, 1)),
        (0.0,),
    )
    InterfaceJacobian([a], [Wire(a, "y", a, "u")]).step(0.0, 0.125)
    assert a.steps == 8 + 2 + 1


def test_response_around_a_bond_matches_derivatives():
    """x' = c u² from u = 2: the quotient over a thousandth of it; from nothing over a thousandth. Units are put back, and forgotten."""
    a, b, wires = pair("plain")
    a.law = lambda u: u * u  # pyright: ignore[reportAttributeAccessIssue]
    master = Master([a, b], wires)
    states = master.saved()
    for u in (2.0, 0.0, -4.0):
        nudge = NUDGE * (abs(u) or 1.0)
        expected = 2.0 * H * (2.0 * u + nudge)
        assert response(master, np.array([3.0, u]), 1, 0, 0.0, H, states) == pytest.approx(
            expected, rel=1e-9
        )
        assert (a.x, a.u, b.x, b.told) == (1.0, 4.0, 3.0, [])
    assert NUDGE == 1e-3 and response(
        master, np.array([3.0, 1.0]), 0, 1, 0.0, H, states
    ) == pytest.approx(-H, rel=1e-9)
    assert a.saved == b.saved == 1


@pytest.mark.parametrize(
    ("factor", "told"), [(1.0, True), (-1.0, False), (1.2e-9, True), (0.9e-9, False), (0.0, False)]
)
def test_positive_bond_product_is_reported_as_wrong_sign(factor: float, told: bool):
    a, b = Sum("a", 1.0), Sum("b", 3.0)
    master = Master([a, b], [Wire(a, "y", b, "u"), Wire(b, "y", a, "u", factor=factor)])
    found = crossed(master, [Bond("one", 0, 1)], 0.0, 1.0)
    assert (
        [bond.name for bond, _ in found] == ["one"] * told
        and a.saved == b.saved == 0
        and (a.x, b.x) == (1.0, 3.0)
    )
    assert not told or "bond 'one' feeds every motion (a.y -> b.u and b.y -> a.u)" in found[0][1]
    assert crossed(master, [], 0.0, 1.0) == []


def test_sign_check_skips_units_without_rollback():
    a, b, _ = pair("plain")
    master = Master([a, b], [Wire(a, "y", b, "u"), Wire(b, "y", a, "u")])

    def refuse(*_: Any) -> None:
        raise CosimError("no")

    b.step = refuse  # type: ignore[method-assign]
    assert crossed(master, [Bond("one", 0, 1)], 0.0, 1.0) == [] and a.saved == b.saved == 0
    b.step, b.save = (lambda t, h: None), refuse  # type: ignore[method-assign]
    assert crossed(master, [Bond("one", 0, 1)], 0.0, 1.0) == []
