"""The watch of a coupling, the control of its step and the forecasts of its inputs, each against what it says of itself, on wires made by hand."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.scripts.cosim.energy_monitor import Watch
from kinetree.scripts.cosim.masters import Master, Wire
from kinetree.scripts.cosim.power_bonds import Bond
from kinetree.scripts.cosim.step_size_control import ControlSpec, StepControl

EPS = float(np.finfo(float).eps)


def coupling(
    effort: float, flow: float, used: list[float], factors: tuple[float, ...] = (1.0, 1.0, 1.0)
) -> Any:
    """Effort, flow and a stiffness on the wires, the same at both ends of the step; what the inputs were given meanwhile."""
    wires = [SimpleNamespace(factor=factor) for factor in factors]
    return SimpleNamespace(used=used, before=[effort, flow, 0.0], wires=wires)


def seen(watch: Watch, h: float, most: int, jump: Any, flow: float = 0.0) -> tuple[int, str]:
    """Steps until a message comes, at most so many, and the message; inputs differ by jump(k) from the outputs."""
    for k in range(most):
        said = watch.look(
            coupling(1.0, 1.0, [1.0 + jump(k), 1.0 + flow * jump(k), 0.0]),
            [1.0, 1.0, 0.0],
            k * h,
            h,
        )
        if said:
            return k + 1, said
    return 0, ""


def test_coupling_work_uses_consistent_units():
    """What one was given times what it did, less what the other answered times what it was given: 6 N given for 4 N, 3 m/s given for 2."""
    for sign, factors in (
        (1.0, (1.0, 1.0, 1.0)),
        (-1.0, (1.0, 1.0, 1.0)),
        (1.0, (-10.0, 1.0, 1.0)),
        (1.0, (0.0, 1.0, 1.0)),
    ):
        watch, scale = Watch(Bond("b", 0, 1, sign=sign)), 0.1 if factors[0] == -10.0 else 1.0
        master = coupling(3.0, 1.0, [6.0, 3.0, 0.0], factors)
        for k in range(
            2
        ):  # outputs of 3 N, 1 m/s before and 5 N, 3 m/s after the step: 4 N and 2 m/s on average
            assert watch.look(master, [5.0, 3.0, 0.0], 0.5 * k, 0.5) == ""
        assert (watch.power, watch.error) == pytest.approx((scale * 12.0, 0.0), abs=0.0)
        assert watch.residual == 0.0
        master = coupling(3.0, 1.0, [6.0, 2.5, 0.0], factors)
        watch.look(master, [5.0, 3.0, 0.0], 1.0, 0.25)
        assert (watch.power, watch.error) == pytest.approx(
            (scale * 12.0, scale * (12.0 - 10.0)), rel=4 * EPS
        )
        assert watch.residual == pytest.approx(
            sign * scale * 0.25 * (12.0 - 10.0), rel=64 * EPS
        )  # beside 15 J on both sides
        assert watch.largest == pytest.approx(scale * (12.0 + 0.25 * 12.0), rel=8 * EPS)
    told = Watch(Bond("b", 0, 1, stiffness=2))
    told.look(coupling(4.0, 2.0, [6.0, 2.0, -8.0]), [4.0, 2.0, -8.0], 0.0, 0.25)
    assert told.power == (6.0 - 8.0 * 2.0 * 0.25 / 2) * 2.0, (
        "the force that is told follows the motion, on average over half of the way"
    )
    first = coupling(1.0, 1.0, [2.0, 1.0, 0.0])
    first.before = None
    assert Watch(Bond("b", 0, 1)).look(first, [1.0, 1.0, 0.0], 0.0, 1.0) == "", (
        "before the first step nothing is known"
    )


@pytest.mark.parametrize(("h", "steps"), [(0.001, 20), (0.0025, 8), (0.01, 4), (0.5, 4)])
def test_coupling_with_growing_energy_is_unstable_after_four_windows(h: float, steps: int):
    """A window lasts 0.02 s, and four steps; 20 % of effort too much make a sixth of the work of the side that has more, 11 % less than a tenth."""
    h += EPS  # so that rounding of t decides nothing
    count, said = seen(Watch(Bond("b", 0, 1)), h, 6 * steps, lambda k: 0.2)
    assert count == 4 * steps
    assert (
        f"until t = {4 * steps * h:.4g} s" in said
        and f"has made {0.2 * 4 * steps * h:.3g} J, 17 % of the work of either side" in said
    )
    assert seen(Watch(Bond("b", 0, 1)), h, 6 * steps, lambda k: 0.12)[0] == 4 * steps
    assert seen(Watch(Bond("b", 0, 1)), h, 6 * steps, lambda k: 0.11) == (0, "")
    assert seen(Watch(Bond("b", 0, 1, sign=-1.0)), h, 6 * steps, lambda k: 0.2) == (0, ""), (
        "what takes energy away dies out"
    )
    begun = seen(Watch(Bond("b", 0, 1)), h, 8 * steps, lambda k: 0.2 if k < 3 * steps else -0.2)
    assert begun == (0, ""), "three windows and no more: it takes back what it made"


@pytest.mark.parametrize(
    ("falls", "unstable"), [(1.0, True), (0.97, True), (0.93, False), (0.8, False)]
)
def test_inactive_inputs_are_reported_until_they_follow(falls: float, unstable: bool):
    """Jumps up and down on both wires make no energy; they fade when a window's are a tenth less than those of the first of four windows."""

    class Known(Watch):
        def __init__(self) -> None:
            super().__init__(Bond("b", 0, 1))
            for wire in (self.effort, self.flow):
                wire.lowest, wire.highest = (
                    -0.5,
                    1.0,
                )  # a range of 1.5 and a hundredth of 1: mean jumps of a half are a third of it

    count, said = seen(
        Known(), 0.01, 24, lambda k: 0.5 * (-1.0) ** k * falls ** (k // 4), flow=-1.0
    )
    assert count == (16 if unstable else 0) and ("jumps from step to step" in said) == unstable
    for jump, steps in ((0.32, 16), (0.29, 0)):
        assert (
            seen(Known(), 0.01, 24, lambda k, jump=jump: jump * (-1.0) ** k, flow=-1.0)[0] == steps
        ), "a fifth of the range is wrong"
    assert seen(Known(), 0.01, 24, lambda k: 0.5 * (-1.0) ** k, flow=0.1) == (0, ""), (
        "one of both wires is followed"
    )


def watched(name: str, power: float, error: float) -> Any:
    return SimpleNamespace(bond=SimpleNamespace(name=name), power=power, error=error)


def test_step_size_follows_residual_power():
    """h⁺/h = (0.8/e)^(0.3 + 0.2) e₋^0.2, e the residual over its tolerance, e₋ the last one; between 0.2 and 1.5, within the given lengths."""
    control = StepControl(ControlSpec(0.01, 1e-4, 0.3), 0.1)
    assert control.following([watched("b", 10.0, 0.4)], 0.1) == pytest.approx(
        0.1 * (0.8 / 4.0) ** 0.5, rel=8 * EPS
    )
    expected = 0.05 * (0.8 / 2.0) ** 0.5 * 4.0**0.2
    assert control.following([watched("b", -5.0, -0.2)], 0.05) == pytest.approx(
        expected, rel=8 * EPS
    ), "beside the largest power until then"
    for e, change in ((1e6, 0.2), (0.0, 1.5)):  # far too much, nothing
        fresh = StepControl(ControlSpec(0.01), 0.1)
        assert fresh.following([watched("b", 10.0, 0.1 * e)], 0.1) == pytest.approx(0.1 * change)
    assert (fresh.smallest, fresh.largest) == pytest.approx((1e-4, 1.0))
    for h, e, reached in ((0.9, 0.0, 1.0), (2e-4, 1e6, 1e-4)):
        assert StepControl(ControlSpec(0.01), 0.1).following(
            [watched("b", 10.0, 0.1 * e)], h
        ) == pytest.approx(reached)
    still = StepControl(ControlSpec(0.01), 0.1)
    assert (
        still.following([], 0.1)
        == still.following([watched("b", 10.0, 0.1)], 0.1)
        == pytest.approx(0.1 * 0.8**0.5)
    ), "no bond: as at the tolerance"
    assert still.error([watched("rest", 0.0, 0.0)]) == 0.0 and still.before == 1.0


def test_residuals_of_bonds_count_by_their_root_mean_square():
    """Each beside its own largest power: 3 and 4 times the tolerance are sqrt(12.5) of it."""
    both = [watched("a", 10.0, 0.3), watched("b", 1000.0, -40.0)]
    assert StepControl(ControlSpec(0.01), 0.1).error(both) == pytest.approx(
        math.sqrt(12.5), rel=8 * EPS
    )


def test_constant_residual_keeps_step_size():
    """Where the change is 1: e = 0.8^((0.3 + 0.2)/0.3) of the tolerance."""
    e, control, h = 0.8 ** (0.5 / 0.3), StepControl(ControlSpec(0.01), 0.1), [0.1]
    for _ in range(2):
        h.append(control.following([watched("b", 10.0, 0.1 * e)], h[-1]))
    assert h[2] == pytest.approx(h[1], rel=16 * EPS)


@pytest.mark.parametrize(("order", "bend"), [(0, 0.0), (1, 0.0), (2, 3.0)])
def test_forecasts_are_best_lines_to_extrapolated_polynomials(order: int, bend: float):
    """Steps of three lengths, what is held, linear or parabolic: the line of least squares over the next step, found by Legendre's polynomials."""
    y = np.polynomial.Polynomial([2.0, -1.5 if order else 0.0, bend])
    source = SimpleNamespace(
        name="a", outputs=["y", "rate"], get=lambda name: {"y": 2.0, "rate": 8.0}[name]
    )
    target = SimpleNamespace(name="b", inputs=["x", "z", "s"], ramped=["x"])
    wires = [
        Wire(source, "y", target, "x"),
        Wire(source, "y", target, "z", slope="rate", factor=0.5),
        Wire(source, "y", target, "s", hold=True),
    ]  # type: ignore[arg-type]
    master = Master([], wires, order)
    for begin, h in ((-0.7, 0.4), (-0.3, 0.3)):  # the next step begins at 0
        master.remember(np.full(3, y(begin)), h)
    h = 0.2
    values, slopes = master.forecast(np.full(3, y(0.0)), h)
    line = y.convert(kind=np.polynomial.Legendre, domain=[0.0, h]).truncate(2)
    assert values[0] == pytest.approx(line(0.0), rel=64 * EPS) and slopes[0] == pytest.approx(
        (line(h) - line(0.0)) / h, rel=64 * EPS, abs=64 * EPS
    )
    assert (values[1], slopes[1]) == (2.0, 4.0), (
        "a slope that its source tells, in the unit of the wire"
    )
    assert (values[2], slopes[2]) == (2.0, 0.0), "samplers hold"
