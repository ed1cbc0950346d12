"""Every kind of force element as an FMU: of random mechanisms with one element, in both back ends, by co-simulation and model exchange."""

from pathlib import Path

import pytest
from random_forces import random_mechanism

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.forces.kinds import KINDS
from kinetree.scripts.fmi.verify import verify


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backend", ["native", "python"])
def test_every_force_kind_in_fmus_matches_process(kind: str, backend: str, tmp_path: Path):
    description = random_mechanism(kind, 2, bodies=3) | {
        "run": {"stop_time": 0.4, "output_step": 0.02, "tolerances": 1e-8}
    }
    report = verify(build_fmu(load(description), tmp_path / "unit.fmu", backend))
    assert report.good, [check for check in report.checks if not check.good]
