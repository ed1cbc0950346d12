"""The carriers as FMUs and in time: verification over the whole motion, departures in seconds, even steps at 1 kHz, cost formulas."""

from pathlib import Path

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.library import carrier, carrier_detailed
from kinetree.scripts.bench.carrier import steps
from kinetree.scripts.fmi.verify import verify


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "python"])
@pytest.mark.parametrize("variant", ["carrier", "carrier-detailed"])
def test_both_variants_are_verified_over_all_departures(variant: str, backend: str, tmp_path: Path):
    """Every check is good, and none had to stop before the end."""
    report = verify(build_fmu(load(f"lib:{variant}", modules=3), tmp_path / "carrier.fmu", backend))
    assert report.good, [check for check in report.checks if not check.good]
    assert "sensitivity" not in [check.what for check in report.checks]


def test_fmu_of_the_carrier_is_verified_over_a_departure(tmp_path: Path):
    report = verify(build_fmu(load("lib:carrier", modules=1), tmp_path / "carrier.fmu", "native"))
    assert report.good, [check for check in report.checks if not check.good]
    assert "sensitivity" not in [check.what for check in report.checks]


@pytest.mark.slow
def test_carrier_with_departures_every_second_runs_in_time():
    """All modules leave in order; a departure of many takes about the steps of a departure of few."""
    steps_each = []
    for modules in (12, 50):
        result = load("lib:carrier", modules=modules, pace=0.446).compile().simulate()
        assert len(result.events) == 2 * modules + 1
        pushes = np.array(
            [event.time for event in result.events if event.stage.startswith("travel")]
        )
        assert np.abs(np.diff(pushes) - 1.0).max() < 0.03
        steps_each.append(result["solver_steps"][-1] / modules)
    assert steps_each[1] < 1.5 * steps_each[0]


@pytest.mark.slow
def test_native_carrier_fmu_steps_within_a_millisecond():
    """rk4 with four steps inside: stage changes, the longest of all steps, stay below three medians."""
    found = steps("carrier", 4, "rk4")
    assert found["p99.9"] <= 3 * found["median"]


def test_fixed_steps_of_a_quarter_millisecond_are_accurate():
    """The errors of rk4 are far below what is reported of angles (1 µrad)."""
    system = load("lib:carrier", modules=1).compile()
    exact, fixed = (
        system.simulate(1.3, tolerance=1e-10),
        system.simulate(1.3, integrator="rk4", step=2.5e-4),
    )
    for name in ("heave", "slew", "luff"):
        assert np.abs(exact[name] - fixed[name]).max() < 1e-7


FORMULAS = {
    "carrier": {
        "CBM": (1757, 1446, 0, 0),
        "LGR": (4538, 2329 / 2, 243 / 2, 9),
        "DEC": (2825, 1601, 0, 0),
    },
    "carrier-detailed": {
        "CBM": (4103, 1869, 0, 0),
        "LGR": (7066, 2329 / 2, 243 / 2, 9),
        "DEC": (5984, 1601, 0, 0),
    },
}
DESCRIBE = {"carrier": carrier.describe, "carrier-detailed": carrier_detailed.describe}
PRINTED_ITR = {"carrier": (1943, 1004, 45), "carrier-detailed": (4131, 1184, 45)}


@pytest.mark.parametrize("variant", FORMULAS)
def test_carrier_costs_match_published_tables(variant: str):
    """[Sh24, tables 5.2 and 5.3]."""
    for n in (1, 4, 12, 50):
        source = DESCRIBE[variant](modules=n)
        source["run"].pop("prepare")
        found = load(source).compile().costs()
        for method, row in FORMULAS[variant].items():
            assert found[method] == pytest.approx(value(row, n), rel=1e-12)


def value(row: tuple[float, ...], n: int) -> float:
    return sum(a * n**k for k, a in enumerate(row))


def test_cheapest_published_form_changes_with_number_of_modules():
    """With the printed ITR columns: basic ITR up to 9 and CBM beyond; detailed ITR up to 12 and DEC beyond. With (4.5) ITR never wins."""
    for variant, last, then in (("carrier", 9, "CBM"), ("carrier-detailed", 12, "DEC")):
        for n in range(1, 51):
            predicted = {method: value(row, n) for method, row in FORMULAS[variant].items()} | {
                "ITR": value(PRINTED_ITR[variant], n)
            }
            assert min(predicted, key=predicted.__getitem__) == ("ITR" if n <= last else then)
