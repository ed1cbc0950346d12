"""Work against accuracy: costs are read off curves, and peers integrate the very same mechanism."""

import math

import numpy as np
import pytest

from kinetree.models import load
from kinetree.scripts.bench import integrate
from kinetree.scripts.bench.integrate_cases import Case, sledge


def test_cost_lies_between_neighbouring_runs():
    """Straight lines in logarithms; nothing is promised beyond the most accurate run, and less accuracy costs no more than what was run."""
    points = [integrate.Point(1e-3, 1e-2, 100, 1.0), integrate.Point(1e-5, 1e-4, 400, 4.0)]

    def evaluations(point: integrate.Point) -> float:
        return point.evaluations

    assert integrate.cost(points, 1e-3, evaluations) == pytest.approx(200.0)
    assert integrate.cost(points, 1e-1, evaluations) == 100.0
    assert integrate.cost(points, 1e-5, evaluations) == math.inf


def test_benchmark_ratio_names_the_best_methods():
    ours, theirs = (
        [integrate.Point(1e-9, 1e-9, 100, 1e-3)],
        [integrate.Point(1e-9, 1e-9, 300, 2e-3)],
    )
    found = {
        "class": "tree",
        "case": "c",
        "us": 1.0,
        "row us": 50.0,
        "ours": {"adams": ours},
        "peers": {"CVODE": theirs, "DOP853": [theirs[0]._replace(seconds=1.0)]},
    }
    text = list(integrate.lines(found, 2.0))
    assert "CVODE over adams: time 2.00 (aim 2, never below 0.7)" in text[-1]
    assert found["ratios"][0]["without rows"] == pytest.approx(4.0)  # half a millisecond of rows
    assert found["ratios"][0]["evaluations"] == 3.0


@pytest.mark.parametrize("stiff", [False, True])
def test_sundials_integrates_the_same_mechanism(stiff: bool):
    """CVODE in C on our straight-line code, by both of its methods, and ours by tolerances of 1e-9: one motion."""
    pytest.importorskip("sksundae")
    make = sledge if stiff else (lambda: load("lib:double-pendulum").compile())
    case = Case("test", "test", make, 0.3, 1.0, stiff=stiff)
    system = make()
    ours, _, _ = integrate.own_once(system, case, "radau" if stiff else "adams", 1e-10)
    straight, evaluations, _ = integrate.own_once(
        system, case, "radau" if stiff else "adams", 1e-10, straight=True
    )
    theirs, counted, _ = integrate.cvode_once(
        system, case, "CVODE BDF" if stiff else "CVODE Adams", 1e-10
    )
    scale = np.maximum(np.abs(ours).max(axis=0), 1e-3)
    assert np.abs((straight - ours) / scale).max() < 1e-6
    assert theirs.shape == ours.shape and np.abs((theirs - ours) / scale).max() < 1e-5
    assert evaluations > 50 and counted > 50


def test_exudyn_model_matches_benchmark_chain():
    pytest.importorskip("exudyn")
    from kinetree.scripts.bench.dynamics_trees import chain, system
    from kinetree.scripts.bench.integrate_exudyn import chain_run

    made = system(chain("revolute", 3))
    result = made.simulate(0.5, tolerance=1e-11, output_step=0.5)
    end, _ = chain_run(3, 0.5, "DOPRI5", 1e-10)
    assert end[:3] == pytest.approx([result[name][-1] for name in made.coordinates], abs=1e-7)
