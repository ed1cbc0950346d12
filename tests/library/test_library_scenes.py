"""Everything that constrains, strikes, drives or measures, in every way to run: both back ends, co-simulation and model exchange, stages, rest."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import simulate_fmu
from what_moves import SHOWN, Shown

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load

ROWS = 100
DOCS = Path(__file__).parents[2] / "docs" / "library.md"


def run(shown: Shown, model: Any) -> Any:
    return (
        load(model)
        .compile()
        .simulate(
            stop_time=shown.stop,
            output_step=shown.stop / ROWS,
            tolerance=1e-10,
            inputs=shown.inputs,
        )
    )


def hosted(shown: Shown, path: Path, kind: str) -> Any:
    given = None
    if shown.inputs:
        given = np.array(
            [(0.0, *shown.inputs.values())],
            dtype=[("time", float), *((name, float) for name in shown.inputs)],
        )
    return simulate_fmu(
        str(path), fmi_type=kind, stop_time=shown.stop, output_interval=shown.stop / ROWS, input=given, output=list(shown.watch),
        relative_tolerance=1e-9, record_events=False,
    )  # fmt: skip


def same(shown: Shown, right: Any, found: Any, bound: float, what: str) -> None:
    """Every value at every tenth row; at the end it has moved."""
    for name in shown.watch:
        size = max(1e-3, float(np.abs(right[name]).max()))
        assert (
            np.abs(np.asarray(found[name])[:: ROWS // 10] - right[name][:: ROWS // 10]).max()
            <= bound * size
        ), (what, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_library_runs_in_all_modes(name: str, tmp_path: Path):
    """The run, co-simulation and model exchange by CVode in both back ends; FMI 3.0 where the Python one has both kinds."""
    shown = SHOWN[name]
    right = run(shown, shown.model)
    assert any(np.ptp(right[watched]) > 1e-6 for watched in shown.watch)
    for backend, fmi in (("native", 2), ("python", 2), ("python", 3)):
        path = build_fmu(load(shown.model), tmp_path / f"{backend}.fmu", backend, fmi)
        for kind in (
            ("CoSimulation", "ModelExchange")
            if (backend, fmi) != ("python", 2)
            else ("CoSimulation",)
        ):
            same(
                shown,
                right,
                hosted(shown, path, kind),
                shown.bound,
                f"{backend}, FMI {fmi}.0, {kind}",
            )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name, shown in SHOWN.items() if isinstance(shown.model, dict)]
)
def test_empty_stage_change_has_no_effect(name: str):
    """A second structure is entered on the way: states, contacts, followed inputs go over."""
    shown = SHOWN[name]
    staged = shown.model | {
        "stages": [{"name": "first", "ends": {"at": 0.437 * shown.stop}}, {"name": "second"}]
    }
    assert run(shown, staged).events[-1:] is not None
    same(shown, run(shown, shown.model), run(shown, staged), 1e-7, "stages")


@pytest.mark.parametrize("name", [name for name, shown in SHOWN.items() if shown.rests])
def test_library_equilibria_and_linearisations_are_computed(name: str):
    """Rest has no accelerations, and what is disturbed a little swings as the linearised equations say."""
    system = load(SHOWN[name].model).compile()
    rest = system.equilibrium()
    q = np.array([rest.coordinates[each] for each in system.coordinates])
    assert np.abs(system.accelerations(0.0, q, np.zeros(system.n))).max() < 1e-8
    assert all(np.real(value) < 1e-9 for value in np.linalg.eigvals(rest.linear.A))


def test_library_page_table_names_all_mechanisms():
    """What the page lists is what runs here."""
    section = DOCS.read_text().split("## What moves, and where it is shown")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and "---" not in line][
        1:
    ]
    listed = {each for row in rows for each in re.findall(r"`([^`]+)`", row.split("|")[2])}
    assert listed == set(SHOWN)
    for link in re.findall(r"\]\(([\w./]+\.md)", section):
        assert (DOCS.parent / link).is_file(), link
