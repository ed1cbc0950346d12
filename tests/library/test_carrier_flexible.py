"""The carrier whose boom and cradle bend: its limit of stiff steel, its rest, its runs, its loops."""

from pathlib import Path

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.analysis.control_loops import control_loops
from kinetree.models.system.system import System
from kinetree.scripts.fmi.verify import verify

ANGLES = ("luff", "pitch", "heave")


@pytest.fixture(scope="module")
def bending() -> System:
    return load("lib:carrier", modules=1, flexible=1).compile()


def test_boom_and_cradle_have_the_mass_of_the_rigid_cradle(bending: System):
    """The inertia of everything about the base is that of the carrier with a rigid cradle."""
    inertia = []
    for system in (load("lib:carrier", modules=1).compile(), bending):
        q = system.start()[0]
        inertia.append(system.mass_matrix(0.0, q)[:3, :3])
    assert inertia[1] == pytest.approx(inertia[0], rel=4e-3, abs=25.0)


def test_stiff_flexible_carrier_matches_rigid_carrier(bending: System):
    """A hundred times the modulus, and the deviations are the rigid carrier's; steel adds to those of the rails."""
    runs = [
        load("lib:carrier", modules=1, **settings).compile().simulate(2.0, tolerance=1e-7)
        for settings in ({}, {"flexible": 1, "steel_modulus": 2.1e13, "support_stiffness": 1e10})
    ]
    bent = bending.simulate(2.0, tolerance=1e-7)
    rigid, stiff, steel = (
        {name: np.abs(run[name] - run[name][0]).max() for name in ANGLES} for run in (*runs, bent)
    )
    for name in ANGLES:
        assert stiff[name] == pytest.approx(rigid[name], rel=4e-3)
    assert steel["luff"] > 1.002 * rigid["luff"]
    rails = np.abs(bent["rail_luff"] - bent["rail_luff"][0]).max()
    assert 1.01 * steel["luff"] < rails < 1.2 * steel["luff"]
    assert np.abs(bent["energy_residual"]).max() < 1e-5 * np.ptp(bent["energy"])
    assert np.ptp(bent["luff"][bent.time < 0.49]) < 1e-9  # the motion begins at rest


def test_weight_bends_boom_and_cradle_down(bending: System):
    """More load, more sag; the sag falls with the modulus."""
    rest = bending.equilibrium().outputs
    soft = load("lib:carrier", modules=1, flexible=1, steel_modulus=1.05e11).compile()
    twice = soft.equilibrium().outputs
    for name in ("boom_sag", "cradle_sag"):
        assert rest[name] < 0.0
        assert twice[name] == pytest.approx(2.0 * rest[name], rel=0.02)
    assert twice["boom_stress"] == pytest.approx(rest["boom_stress"], rel=0.02)


@pytest.mark.parametrize(
    "variant", ["carrier", pytest.param("carrier-detailed", marks=pytest.mark.slow)]
)
def test_flexible_carrier_has_equilibrium_with_every_setting(variant: str):
    """Soft joints beside stiff hinges: every state of the preparation is found."""
    settings = {"full": 1, "helical": 1, "contacts": 1, "hydraulic": 1, "drives": 2}
    system = load(f"lib:{variant}", modules=1, flexible=1, **settings).compile()
    q, u = system.start()
    assert np.abs(system.accelerations(0.0, q, u)).max() < 1e-5


@pytest.mark.slow
def test_loops_of_the_flexible_carrier_have_margins():
    system = load("lib:carrier", modules=1, flexible=1, drives=1).compile()
    loops = control_loops(system)
    assert [each.margins.stable for each in loops] == [True, True]
    assert all(each.margins.gain > 2.0 for each in loops)


@pytest.mark.slow
def test_fmu_of_the_flexible_carrier_is_verified(tmp_path: Path):
    mechanism = load("lib:carrier", modules=1, flexible=1, drives=1, pause=0.05)
    report = verify(build_fmu(mechanism, tmp_path / "carrier.fmu", "native"))
    assert report.good, [check for check in report.checks if not check.good]
