"""The tolerance of the variable-metric iteration, and the step with which it surely converges."""

import math
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.analysis.variable_metric_step import itr_step_advice

PENDULUM = load("lib:double-pendulum")
SYSTEM = PENDULUM.compile()


def run(**how):
    return SYSTEM.simulate(0.2, output_step=0.05, integrator="rk4", step=5e-3, **how)


@pytest.mark.parametrize("method", ["ITR-M", "ITR-G", "ITR-DIRECT", "ITR-H"])
def test_itr_error_follows_its_tolerance(method: str):
    exact, fine, wide = (
        run(),
        run(method=method, itr_tolerance=1e-13),
        run(method=method, itr_tolerance=1e-2),
    )
    for name in SYSTEM.coordinates:
        assert fine[name] == pytest.approx(exact[name], abs=1e-8)
        assert 1e-8 < np.abs(wide[name] - exact[name]).max() < 0.1


def test_other_methods_refuse_itr_tolerance():
    with pytest.raises(ValueError, match="this run is by 'CBM'"):
        run(method="CBM", itr_tolerance=1e-6)
    with pytest.raises(ValueError, match="itr_tolerance is 2"):
        run(method="ITR-M", itr_tolerance=2.0)


def test_itr_tolerance_of_description_is_used():
    description = PENDULUM.description.model_dump(exclude_unset=True, by_alias=True)
    description["run"] = {"itr_tolerance": 1e-2, "method": "ITR-G"}
    told = load(description).compile().simulate(0.2, output_step=0.05, integrator="rk4", step=5e-3)
    same = run(method="ITR-G", itr_tolerance=1e-2)
    assert all((told[name] == same[name]).all() for name in SYSTEM.coordinates)


def test_advised_step_keeps_the_change_of_the_mass_matrix_within_its_bound():
    """(2.43) at the step that (2.51) gives, on the way there below it, and (2.52) by numpy."""
    q, u = np.array([0.3, 1.1]), np.array([0.4, -2.0])
    advice = itr_step_advice(SYSTEM, 0.0, q, u)
    mass = SYSTEM.mass_matrix(0.0, q)
    bound = 1.0 / np.linalg.norm(np.linalg.inv(mass), 2)
    for part in (0.01, 0.1):
        moved = SYSTEM.mass_matrix(0.0, q + part * advice.sure * u) - mass
        assert np.linalg.norm(moved, 2) == pytest.approx(part * bound, rel=0.2)
    assert advice.condition == pytest.approx(np.linalg.cond(mass))
    assert advice.estimate == pytest.approx(1.0 / (np.linalg.cond(mass) * np.linalg.norm(u)))
    assert math.isinf(itr_step_advice(SYSTEM, 0.0, q, np.zeros(2)).sure)


def test_itr_tolerance_with_another_method_is_warned():
    description = PENDULUM.description.model_dump(exclude_unset=True, by_alias=True)
    for method, count in (("CBM", 1), ("ITR-M", 0)):
        description["run"] = {"itr_tolerance": 1e-3, "method": method}
        told = load(description).description.warnings
        assert sum("itr_tolerance" in str(warning) for warning in told) == count


def test_runs_by_itr_record_iterations(tmp_path: Path):
    """They stay at or below rank + 1 (2.40), grow fewer with a wider residual, and go into files."""
    system = load("lib:chain", n=8).compile()
    fine = system.simulate(stop_time=0.3, method="ITR-M")
    wide = system.simulate(stop_time=0.3, method="ITR-G", itr_tolerance=1e-5)
    for result in (fine, wide):
        found = result["itr_iterations"]
        assert (found == np.round(found)).all() and found[1:].max() <= system.n + 1
    assert wide["itr_iterations"].mean() < fine["itr_iterations"].mean()
    fine.to_csv(tmp_path / "run.csv")
    assert "itr_iterations" in (tmp_path / "run.csv").read_text().splitlines()[0]
    assert "itr_iterations" not in system.simulate(stop_time=0.1, method="CBM")
