"""Which rows `kinetree verify` compares where two integrations locate the same event a little apart."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.scripts.fmi.sensitivity import HOST_SOLVER, STEPS_ADD_UP, own_bound
from kinetree.scripts.fmi.verify import clear_of_events

ROWS = np.array([0.1, 0.2, 0.3, 0.4, 0.5])


def test_row_between_event_instants_is_skipped():
    """One side shows speeds before the impact there, the other one those behind it."""
    clear, apart = clear_of_events(ROWS, np.array([0.0, 0.3 - 1e-7]), np.array([0.0, 0.3 + 2e-7]))
    assert clear.tolist() == [True, True, False, True, True] and apart == pytest.approx(3e-7)


def test_row_at_event_instant_is_skipped():
    assert clear_of_events(ROWS, np.array([0.0, 0.4]), np.array([0.0, 0.4 + 1e-12]))[
        0
    ].tolist() == [True, True, True, False, True]


def test_missed_event_is_a_deviation():
    """What the other side has nowhere near is a deviation in every row behind it."""
    clear, apart = clear_of_events(ROWS, np.array([0.0]), np.array([0.0, 0.25, 0.399]))
    assert clear.all() and apart == 0.0


@pytest.mark.parametrize("integrator", ["auto", "radau", "tsit5"])
def test_tolerances_scale_with_sensitivity(integrator: str):
    """Where errors choose the steps, a bound is the tolerance as often as errors of steps may add up, times the response to a change."""
    twin: Any = SimpleNamespace(
        unit=SimpleNamespace(run=SimpleNamespace(integrator=integrator, relative=1e-6))
    )
    bounds = [own_bound(twin, 5.0, response, None) for response in (1e3, 1e4)]  # type: ignore[arg-type]
    assert (
        bounds == pytest.approx([STEPS_ADD_UP * 1e-6 * 1e3, STEPS_ADD_UP * 1e-6 * 1e4])
        and min(bounds) > HOST_SOLVER
    )
    twin.unit.run.relative = 1e-7
    assert own_bound(twin, 5.0, 1e4, None) == pytest.approx(bounds[0])  # type: ignore[arg-type]
    assert own_bound(twin, 5.0, 0.0, None) == HOST_SOLVER, (
        "what a host's own solver is taken at, at least"
    )  # type: ignore[arg-type]
