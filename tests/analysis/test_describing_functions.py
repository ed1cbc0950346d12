"""Describing functions beside Fourier integrals, limit cycles beside runs of the nonlinear loop."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.analysis.describing_functions import PARTS, limit_cycles
from kinetree.models.analysis.frequency_response import StateSpace


def answer(part: str, y: np.ndarray, w: float) -> np.ndarray:
    """What a part makes of samples of a signal."""
    if part == "overlap":
        return y - np.clip(y, -w, w)
    if part == "limit":
        return np.clip(y, -w, w)
    if part == "friction":
        return w * np.sign(y)
    out = np.zeros_like(y)
    for k in range(1, y.size):  # play: it moves when a side of the gap does
        out[k] = min(max(out[k - 1], y[k] - w), y[k] + w)
    return out


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("amplitude", [0.31, 0.5, 2.0, 30.0])
def test_describing_function_matches_first_harmonic_of_samples(part: str, amplitude: float):
    """Of three periods of 20000 samples the last is taken: the play has forgotten where it began."""
    phase = 2 * np.pi * np.arange(60_000) / 20_000
    made = answer(part, amplitude * np.sin(phase), 0.3)[40_000:]
    first = 2j * (made * np.exp(-1j * phase[40_000:])).mean() / amplitude
    assert PARTS[part](amplitude, 0.3) == pytest.approx(first, abs=3e-4)


def third_order(gain: float) -> StateSpace:
    """gain/(s (s + 1)(s + 2))."""
    A = np.array([[0.0, 1, 0], [0, 0, 1], [0, -2, -3]])
    return StateSpace(A, np.array([[0.0], [0], [1]]), np.array([[gain, 0, 0]]), np.zeros((1, 1)))


def test_limit_cycles_match_closed_form():
    """L is real and negative at √2 rad/s, L = -gain/6. A relay of 1 swings with 4 gain/(6 π); a limit swings where N = 6/gain < 1, an overlap as well
    but grows beyond (the loop without it is unstable); with a gain of 3 the loop falls to rest."""
    (relay,) = limit_cycles(third_order(3.0), "friction", 1.0)
    assert (relay.omega, relay.amplitude, relay.stable) == (
        pytest.approx(np.sqrt(2)),
        pytest.approx(2 / np.pi),
        True,
    )
    (kept,) = limit_cycles(third_order(12.0), "limit", 1.0)
    assert PARTS["limit"](kept.amplitude, 1.0) == pytest.approx(0.5) and kept.stable
    (border,) = limit_cycles(third_order(12.0), "overlap", 1.0)
    assert PARTS["overlap"](border.amplitude, 1.0) == pytest.approx(0.5) and not border.stable
    assert not limit_cycles(third_order(3.0), "limit", 1.0) and not limit_cycles(
        third_order(3.0), "overlap", 1.0
    )


@pytest.mark.parametrize(
    ("part", "gain", "law"),
    [("limit", 12.0, "min(max(e, -w), w)"), ("friction", 3.0, "w*tanh(e/(0.01*w))")],
)
def test_limit_cycles_of_runs(part: str, gain: float, law: str):
    """The third-order loop as a mass with friction behind a lag; its own swing within a few per cent, which are the higher harmonics' share."""
    law = (
        law.replace("e", f"({-gain}*x)")
        if part == "limit"
        else law.replace("tanh(e", f"tanh({-gain}*x").replace("*w))", "*w))")
    )
    text = {
        "name": "swing", "gravity": [0, 0, 0], "parameters": {"w": 0.4}, "bodies": {"b": {"mass": 1.0}},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x", "start": 0.5}]}},
        "states": {"lag": {"rate": f"{law} - 2*lag"}}, "forces": {"f": {"coordinate": "x", "value": "lag - der(x)"}},
    }  # fmt: skip
    run = load(text).compile().simulate(80.0, output_step=0.005, tolerance=1e-8)
    late = run.time > 50.0
    x, time = gain * run["x"][late], run.time[late]
    ups = time[1:][(x[:-1] < 0) & (x[1:] >= 0)]
    (found,) = limit_cycles(third_order(gain), part, 0.4)
    assert 2 * np.pi * (ups.size - 1) / (ups[-1] - ups[0]) == pytest.approx(found.omega, rel=0.03)
    assert np.ptp(x) / 2 == pytest.approx(found.amplitude, rel=0.04)


def test_backlash_in_a_loop_gives_predicted_limit_cycle():
    """Behind a play an integrating loop of third order swings with what both parts of the equation 1 + N L = 0 say."""
    loop = third_order(5.0)
    (found,) = limit_cycles(loop, "backlash", 0.1)
    assert PARTS["backlash"](found.amplitude, 0.1) * loop.response(found.omega)[
        0, 0, 0
    ] == pytest.approx(-1.0, abs=1e-8)
    assert found.stable and not limit_cycles(third_order(0.5), "backlash", 0.1)
