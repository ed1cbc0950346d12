"""The loader crane at rest against virtual work, and its motion with flexible and with rigid parts; the flexible boom beside the rigid one."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.library.loader_crane import CYLINDERS, LENGTHS, describe, mass_of

INPUTS = {"lift": lambda t: 0.5 * (1 < t < 3), "slew_rate": lambda t: 0.2 * (t > 1)}


def test_rigid_crane_rests_where_it_starts():
    """The forces of the cylinders are those of virtual work: nothing moves while the valves are shut."""
    result = load("lib:loader-crane", flexible=0).compile().simulate(stop_time=2.0)
    for name in ("boom_angle", "jib_angle", "out"):
        assert np.ptp(result[name]) < 1e-4


@pytest.mark.slow
def test_prepared_crane_rests_and_carries_what_hangs_on_it():
    description = describe()
    description["run"]["prepare"] = [{"name": "at rest"}]
    result = load(description).compile().simulate(stop_time=1.0)
    assert np.ptp(result["boom_sag"]) < 1e-5
    weight = 9.81 * (500.0 + sum(mass_of(name) for name in LENGTHS))
    description["outputs"]["load"] = {
        "quantity": "section_load", "beam": "jib", "station": LENGTHS["jib"] - 1e-3, "axis": "vz",
    }  # fmt: skip
    beyond = load(description).compile().simulate(stop_time=0.02)["load"][0]
    assert -weight < beyond < -9.81 * 500.0 * 0.9


@pytest.mark.slow
def test_flexible_crane_moves_as_the_rigid_one_but_for_its_sag():
    ends = {}
    for flexible in (0, 1):
        system = load("lib:loader-crane", flexible=flexible).compile()
        result = system.simulate(stop_time=4.0, inputs=INPUTS)
        ends[flexible] = result["boom_angle"][-1], result["tip[3]"][-1]
        assert result["lift_cylinder.length"].max() < CYLINDERS["lift"]["stroke"][1]
    assert ends[1][0] == pytest.approx(ends[0][0], abs=1e-2)
    assert 0.01 < ends[0][1] - ends[1][1] < 0.1


@pytest.mark.slow
def test_books_of_the_crane_close_while_it_works():
    result = load("lib:loader-crane").compile().simulate(stop_time=3.0, inputs=INPUTS)
    assert np.abs(result["energy_residual"]).max() < 1e-6 * np.abs(result["energy"]).max()


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "python", "source"])
def test_crane_as_fmu(backend: str, tmp_path):
    from kinetree.fmu.archive.build import build_fmu
    from kinetree.scripts.fmi.verify import verify

    description = describe(segments=1)
    description["run"]["stop_time"] = 0.5
    description["run"]["prepare"] = [{"name": "at rest"}]
    given = {"integrator": "semi-implicit", "step": 1e-3} if backend == "source" else {}
    report = verify(build_fmu(load(description), tmp_path / "crane.fmu", backend, **given))
    assert report.good, [check for check in report.checks if not check.good]


def test_flexible_boom_swings_about_the_motion_of_the_rigid_one():
    tips = {}
    for flexible in (0, 1):
        system = load("lib:boom", flexible=flexible).compile()
        result = system.simulate(stop_time=0.5)
        tips[flexible] = result["tip"]
    assert 0.0 < np.abs(tips[1] - tips[0]).max() < 0.01
