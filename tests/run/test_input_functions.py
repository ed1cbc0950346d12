"""Inputs that are functions of time: followed within the tolerance whatever the output step, jumps found or told, never silently wrong."""

import math

import numpy as np
import pytest

from kinetree.fmu.unit import fmu_unit
from kinetree.models import Signal, load
from kinetree.models.run.input_functions import NODES, TESTS, Sampled
from kinetree.scripts.fmi.in_process_reference import InProcess

MASS = 2.0


def test_input_pieces_are_checked_between_nodes():
    """One instant in every gap, where a polynomial through the nodes may be off."""
    assert len(TESTS) == len(NODES) - 1 and NODES[0] == 0.0 and NODES[-1] == 1.0
    assert (NODES[:-1] < TESTS).all() and (NODES[1:] > TESTS).all()


def cart(law: str = "push", **parts) -> dict:
    """A mass on a rail without gravity."""
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"m": {"mass": MASS}},
        "inputs": {"push": 0.0},
        "outputs": {"given": "push"},
        "joints": {"J": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x"}]}},
        "forces": {"push": {"coordinate": "x", "value": law}},
        **parts,
    }


@pytest.mark.parametrize("integrator", ["auto", "adams", "rk45", "radau", "verner65"])
@pytest.mark.parametrize("output_step", [0.1, 1.0, 5.0])
def test_smooth_input_functions_match_described_laws(integrator: str, output_step: float):
    """A line between outputs would be off by h² w²/8 of the force: 1e-2 at 0.1 s."""
    given = (
        load(cart())
        .compile()
        .simulate(
            5.0,
            inputs={"push": lambda t: math.sin(3 * t)},
            output_step=output_step,
            integrator=integrator,
            tolerance=1e-9,
        )
    )
    inside = (
        load(cart("sin(3*t)")).compile().simulate(5.0, output_step=output_step, tolerance=1e-11)
    )
    assert np.abs(given["x"] - inside["x"]).max() < 1e-8
    assert given["given"] == pytest.approx(np.sin(3 * given.time), abs=1e-12)


@pytest.mark.parametrize("jump", [0.3, 0.7123, 1.0])
def test_jumps_of_input_functions_are_found(jump: float):
    """The impulse after the jump is 10 (2 - jump); a ramp over an output interval would be off by half an interval."""
    result = (
        load(cart())
        .compile()
        .simulate(
            2.0,
            inputs={"push": lambda t: 10.0 if t >= jump else 0.0},
            output_step=0.5,
            tolerance=1e-9,
        )
    )
    assert MASS * result["der(x)"][-1] == pytest.approx(10.0 * (2.0 - jump), rel=1e-8)
    assert result["given"][-1] == 10.0 and result["given"][0] == 0.0


def test_kinks_and_many_jumps_of_input_functions_are_found():
    square = (
        load(cart())
        .compile()
        .simulate(
            3.0,
            inputs={"push": lambda t: 1.0 if (t % 0.37) < 0.2 else -1.0},
            output_step=1.0,
            tolerance=1e-8,
        )
    )
    on = sum(min(3.0, 0.37 * k + 0.2) - 0.37 * k for k in range(9))
    assert MASS * square["der(x)"][-1] == pytest.approx(2 * on - 3.0, abs=1e-7)
    bent = (
        load(cart())
        .compile()
        .simulate(3.0, inputs={"push": lambda t: abs(t - 1.234)}, output_step=1.0, tolerance=1e-8)
    )
    assert MASS * bent["der(x)"][-1] == pytest.approx((1.234**2 + 1.766**2) / 2, rel=1e-7)


def test_short_pulses_are_reported():
    """A pulse of 1 ms in an interval of 5 s is nothing that samples find: its instants are given."""
    pulse = Signal(lambda t: 100.0 if 2.0 <= t < 2.001 else 0.0, jumps=(2.0, 2.001))
    result = (
        load(cart())
        .compile()
        .simulate(5.0, inputs={"push": pulse}, output_step=5.0, tolerance=1e-9)
    )
    assert MASS * result["der(x)"][-1] == pytest.approx(0.1, rel=1e-8)


@pytest.mark.parametrize("jumps", [(0.5,), (0.25, 0.75), (0.25, 0.5, 0.75)])
def test_declared_jumps_separate_polynomial_pieces(jumps: tuple[float, ...]):
    """Each piece reads the function on its own side of a jump alone, and jumps at the ends of the interval part nothing."""
    side = lambda t: sum(t >= jump for jump in jumps)  # noqa: E731
    asked: list[float] = []
    sampled = Sampled(
        "push",
        Signal(
            lambda t: (asked.append(t), side(t) * (1.0 + 2.0 * t) - 7.0 * t)[1], (0.0, *jumps, 1.0)
        ),
        1e-9,
    )
    pieces = sampled.pieces(0.0, 1.0)
    assert [(piece.begin, piece.end) for piece in pieces] == [
        (pytest.approx(a, abs=1e-11), pytest.approx(b, abs=1e-11))
        for a, b in zip((0.0, *jumps), (*jumps, 1.0), strict=True)
    ]
    assert len(asked) == len(pieces) * (len(NODES) + len(TESTS)), "nothing is halved"
    for number, piece in enumerate(pieces):
        value, slope, *bends = piece.coefficients
        assert (
            slope == pytest.approx(2.0 * number - 7.0, abs=1e-9) and np.abs(bends).max() < 1e-7
        )  # rounding over powers of a quarter
        assert value == pytest.approx(number + (2.0 * number - 7.0) * piece.begin, abs=1e-11)


def test_unfollowable_inputs_are_refused():
    noise = np.random.default_rng(1)
    with pytest.raises(ValueError, match="'push' is too rough"):
        load(cart()).compile().simulate(
            1.0, inputs={"push": lambda t: float(noise.normal())}, output_step=0.5
        )
    with pytest.raises(ValueError, match=r"'push' is nan at t = 0\.5"):
        load(cart()).compile().simulate(
            1.0, inputs={"push": lambda t: math.nan if t >= 0.5 else 1.0}, output_step=0.5
        )


def test_input_pieces_cover_their_interval():
    """Polynomials meet the function inside every piece, ends of pieces meet."""
    sampled = Sampled("f", lambda t: math.exp(-t) * math.cos(20 * t), 1e-9)
    pieces = sampled.pieces(1.0, 3.0)
    assert pieces[0].begin == 1.0 and pieces[-1].end == 3.0
    assert all(a.end == b.begin for a, b in zip(pieces[:-1], pieces[1:], strict=True))
    for piece in pieces:
        for t in np.linspace(piece.begin, piece.end, 9):
            value = np.polynomial.Polynomial(piece.coefficients)(t - piece.begin)
            assert value == pytest.approx(math.exp(-t) * math.cos(20 * t), abs=1e-9)


@pytest.mark.parametrize("slope", [1.0, 0.5, -1.0, 1e-9, 0.0])
def test_host_ramp_is_followed_exactly(slope: float):
    """m v = F₀ t + s t²/2, exactly; the slope holds for one step alone."""
    twin = InProcess(fmu_unit(load(cart()))).start({"push": 0.25})
    at, h = int(twin.unit.header.at_slopes), 0.5
    twin.work[at] = slope
    twin.step(h)
    assert twin.get(["der(x)"])[0] == pytest.approx(
        (0.25 * h + 0.5 * slope * h * h) / MASS, rel=1e-9
    )
    assert twin.get(["x"])[0] == pytest.approx(
        (0.25 * h * h / 2 + slope * h**3 / 6) / MASS, rel=1e-9
    )
    assert twin.work[at] == 0.0


@pytest.mark.parametrize("begin", [-1e6, 3e5, 1e6])
def test_input_functions_are_followed_at_late_times(begin: float):
    """The resolution of time is 1e-10 s there: values of a smooth function lie as far beside a polynomial."""
    system = load(cart()).compile()
    ends = [
        system.simulate(
            start_time=start, stop_time=start + 1.0, output_step=0.1, tolerance=1e-10,
            inputs={"push": lambda t, s=start: math.sin(4 * (t - s) + 1) if t - s < 0.77 else 3.0},
        )["x"]
        for start in (0.0, begin)
    ]  # fmt: skip
    assert ends[1] == pytest.approx(ends[0], abs=1e-6 + 1e-12 * abs(begin))
