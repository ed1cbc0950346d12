"""What an ensemble tells of itself: how far it is, how it ran, and the bounds that its values keep; a mass that falls, which any step gets right."""

import os
from typing import Any

import numpy as np
import pytest

from kinetree.models import load

compiled = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="lanes exist in compiled kernels only"
)
RUN: dict[str, Any] = {"stop_time": 0.5, "output_step": 0.1, "integrator": "rk4", "step": 0.1}
EPS = float(np.finfo(float).eps)


def falling(**more: Any) -> dict[str, Any]:
    joint = {"child": "a", "transforms": [{"shift": "z", "coordinate": "z"}]}
    body = {"mass": 1.0, "com": [0, 0, 0], "inertia": [1, 1, 1, 0, 0, 0]}
    g = {"value": 10.0, "min": 1.0, "max": "2*top"}
    return {
        "format": "kinetree/1",
        "bodies": {"a": body},
        "joints": {"j": joint},
        "parameters": {"g": g, "top": 20.0},
        "gravity": [0, 0, "-g"],
        **more,
    }


def fallen(found: Any, g: np.ndarray) -> None:
    """z = -g t²/2 in every run: rounding of some steps of rk4."""
    assert found["z"] == pytest.approx(-0.5 * np.outer(g, found.time**2), rel=64 * EPS)


@compiled
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "events",
    [{}, {"events": {"low": {"when": "z < -0.8", "set": {"der(z)": 0}}}}],
    ids=["lanes", "through events"],
)
def test_ensemble_reports_progress(threads: int, events: dict[str, Any]):
    """Ascending where one thread tells it, and all of them at the end."""
    g, told = np.linspace(1.0, 40.0, 20), []
    system = load(falling(**events)).compile()
    found = system.simulate_many({"g": g}, **RUN, threads=threads, progress=told.append)
    assert max(told) == 20.0 and (threads > 1 or told == sorted(told))
    way = ", an interval in which something happens by itself" if events else ""
    assert found.engine == f"20 runs in lanes of 8{way}" and len(found) == 20
    if not events:
        fallen(found, g)
    told.clear()
    alone = system.simulate_many(
        {"g": g[:3]}, **RUN, threads=threads, progress=told.append, lanes=False
    )
    assert (
        told == [1.0, 2.0, 3.0]
        and alone.engine == f"3 runs one by one on {threads} threads (as asked for)"
    )
    assert alone["z"] == pytest.approx(
        found["z"][:3], abs=1e-12
    )  # instants of events agree within 1e-13 of the step, at speeds below 10 m/s


def test_ensemble_values_on_bounds_are_accepted():
    system = load(falling()).compile()
    g = np.array([1.0, 40.0])
    fallen(system.simulate_many({"g": g}, **RUN), g)
    for wrong in (np.nextafter(1.0, 0.0), np.nextafter(40.0, 50.0)):
        with pytest.raises(ValueError, match=r"g: .* leaves its bounds 1.0 to 40.0"):
            system.simulate_many({"g": [2.0, wrong]}, **RUN)


def test_ensemble_accepts_scalars_and_columns():
    system = load(falling()).compile()
    assert len(system.simulate_many({}, **RUN)) == len(system.simulate_many({"g": 2.0}, **RUN)) == 1
    found = system.simulate_many({"top": [1.0, 2.0, 3.0], "g": 2.0}, **RUN)
    fallen(found, np.full(3, 2.0))
    assert found.parameters["g"].tolist() == [2.0] * 3 and found.time == pytest.approx(
        0.1 * np.arange(6), abs=EPS
    )
    assert len(system.simulate_many({"g": []}, **RUN)) == 0
    for wrong, shape in (([[2.0]], "\\(1, 1\\)"), ([2.0, np.inf], "\\(2,\\)")):
        with pytest.raises(
            ValueError,
            match=f"g: expected a number or a row of finite numbers, found shape {shape}",
        ):
            system.simulate_many({"g": wrong}, **RUN)


@pytest.mark.parametrize("names", [["der(z)", "z"], ["z"]])
def test_ensemble_returns_requested_columns(names: list[str]):
    system = load(falling()).compile()
    found = system.simulate_many({"g": [2.0, 4.0]}, **RUN, outputs=names)
    assert found.names == tuple(names)
    fallen(found, np.array([2.0, 4.0]))
    with pytest.raises(KeyError, match="no column 'zz'"):
        system.simulate_many({"g": [2.0]}, **RUN, outputs=["zz"])
    with pytest.raises(KeyError, match="no column 'der'"):
        found["der"]
