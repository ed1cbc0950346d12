"""What a call or [run] leaves out, what it may ask for, and the instants of the rows that follow."""

import math
from typing import Any

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.checks.elements_check import MOST_ROWS
from kinetree.models.run.simulation import Options

NAMES = (
    "stop_time",
    "start_time",
    "output_step",
    "integrator",
    "method",
    "tolerance",
    "step",
    "largest_step",
    "step_limit",
)
JOINT = {"child": "a", "transforms": [{"shift": "x", "coordinate": "x"}]}


def options(run: dict[str, Any], **given: Any) -> Options:
    """Of a call of a mass on a rail."""
    mass = {"mass": 1.0, "com": [0, 0, 0], "inertia": [0, 0, 0, 0, 0, 0]}
    system = load(
        {
            "format": "kinetree/1",
            "bodies": {"a": mass},
            "joints": {"j": JOINT},
            "parameters": {"T": {"value": 2.0}},
            "run": run,
        }
    ).compile()
    every: dict[str, Any] = {"integrator": "auto", "method": "auto", **given}
    return Options.of(system, *(every.get(name) for name in NAMES))


def test_run_defaults_match_documentation():
    """Ten seconds in 500 rows, 1e-8 relative, a hundredth of it absolute; steps of fixed length are those of the rows."""
    assert options({}) == Options(
        0.0, 10.0, 10.0 / 500, "auto", "auto", 1e-8, 1e-10, 10.0 / 500, 0.0, 1e6
    )
    assert options({}, start_time=3.0) == Options(
        3.0, 13.0, 10.0 / 500, "auto", "auto", 1e-8, 1e-10, 10.0 / 500, 0.0, 1e6
    )


def test_call_options_override_description():
    run: dict[str, Any] = {
        "start_time": 1.0, "stop_time": "3*T", "output_step": 0.5, "step": 0.25, "integrator": "radau", "method": "CBM",
        "tolerances": {"relative": 1e-5, "absolute": 1e-9}, "step_limit": 100,
    }  # fmt: skip
    assert options(run) == Options(1.0, 6.0, 0.5, "radau", "CBM", 1e-5, 1e-9, 0.25, 0.0, 100.0)
    asked = options(
        run,
        start_time=2.0,
        stop_time=4.0,
        output_step=0.1,
        step=0.02,
        integrator="rk4",
        method="ABM",
        tolerance=1e-3,
        largest_step=0.05,
        step_limit=7,
    )
    assert asked == Options(2.0, 4.0, 0.1, "rk4", "ABM", 1e-3, 1e-5, 0.02, 0.05, 7.0), (
        "a tolerance that is given brings its absolute part"
    )
    assert options({"tolerances": {"relative": 1e-4}}).absolute == pytest.approx(1e-6)
    assert options(run, output_step=0.1).step == 0.25 and options({}, output_step=0.1).step == 0.1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"stop_time": -1e-9}, "stop_time is -1e-09, before the start at 0"),
        ({"stop_time": math.inf}, "stop_time is inf, expected a finite number"),
        ({"tolerance": 0.0}, "tolerance is 0, expected a positive number"),
        ({"tolerance": 1.0}, "tolerance is 1, expected a number below 1"),
        ({"step": 0.0}, "step is 0, expected a positive number"),
        ({"step_limit": 0}, "step_limit is 0, expected a positive number"),
        ({"output_step": 0.0}, "output_step is 0, expected a positive number"),
        (
            {"stop_time": 2.0 * MOST_ROWS, "output_step": 1.0},
            f"output_step is 1: 2e\\+08 rows, expected at most {MOST_ROWS}",
        ),
        ({"integrator": "euler"}, "unknown integrator 'euler'"),
        ({"integrator": "stormer", "method": "CBM-H"}, "a run in momenta by 'CBM-H' has none"),
    ],
)
def test_impossible_runs_are_refused(given: dict[str, Any], said: str):
    with pytest.raises(ValueError, match=said):
        options({}, **given)


def test_option_bounds_are_inclusive():
    """A run of no length is its start; a tolerance just below 1, as many rows as there may be."""
    still = options({}, stop_time=0.0)
    assert still.output_step == 1.0 and still.times().tolist() == [0.0]
    assert options({}, tolerance=math.nextafter(1.0, 0.0)).relative < 1.0
    assert options({}, stop_time=float(MOST_ROWS), output_step=1.0).stop_time == MOST_ROWS


@pytest.mark.parametrize(
    ("start", "stop", "interval", "rows"),
    [
        (0.0, 1.0, 0.25, [0.0, 0.25, 0.5, 0.75, 1.0]),
        (2.0, 3.0, 0.4, [2.0, 2.4, 2.8, 3.0]),
        (-1.0, 1.0, 5.0, [-1.0, 1.0]),
    ],
)
def test_row_times_are_multiples_of_interval_and_end(
    start: float, stop: float, interval: float, rows: list[float]
):
    times = options({}, start_time=start, stop_time=stop, output_step=interval).times()
    assert (
        times == pytest.approx(rows, abs=4 * np.finfo(float).eps) and times[-1] == stop
    )  # a product and a sum


@pytest.mark.parametrize("count", [3, 7, 10, 49, 1000])
def test_rounded_output_interval_adds_no_row(count: int):
    """count * (1/count * 0.1) may lie on either side of 0.1 by rounding: the last row is the end, once."""
    times = options({}, stop_time=0.1, output_step=0.1 / count).times()
    assert times.size == count + 1 and times[-1] == 0.1
    assert np.diff(times) == pytest.approx(
        0.1 / count, rel=8 * count * np.finfo(float).eps
    )  # instants are rounded to eps of 0.1
