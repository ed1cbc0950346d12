"""Benchmarks of builds, of single steps and of reduced bodies at equal error: what they compare and what they tell."""

import json
from pathlib import Path
from typing import Any

import pytest

from kinetree.scripts.bench import builds, floating_frame, stepper


def test_stepper_benchmark_programs_compute_equal_motion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Angles after a second agree; a program that goes elsewhere is no peer."""
    monkeypatch.setattr(stepper, "QUICK", (2,))
    monkeypatch.setattr(stepper, "ROUNDS", 1)
    stepper.run(True, tmp_path / "steps.json", None)
    rows = json.loads((tmp_path / "steps.json").read_text())["results"]
    assert rows[0]["method"] == "kinetree" and rows[0]["ratio"] == 1.0
    assert all(row["apart"] < 1e-7 and row["us"] > 0.0 for row in rows)
    monkeypatch.setattr(stepper, "AGREED", 0.0)
    with pytest.raises(ArithmeticError, match="rad apart"):
        stepper.run(True, None, None)


def test_build_benchmark_subtracts_command_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """A kernel of the copy has changed before the second build; rows over their aim say so."""
    texts: list[str] = []

    def seconds(command: list[str], folder: Path) -> tuple[float, float]:
        kernel = folder / "kinetree" / builds.CHANGED[0]
        texts.append(kernel.read_text(encoding="utf-8"))
        return [(90.5, 50.0), *[(0.5, 0.5)] * 3, (30.5, 20.0), (0.7, 0.7)][len(texts) - 1]

    monkeypatch.setattr(builds, "seconds_of", seconds)
    stages = {"structures": 3, "compile seconds": 0.1, "structures seconds": 0.9}
    monkeypatch.setattr(builds, "stages", lambda modules: stages)
    builds.run(False, tmp_path / "builds.json", None)
    rows = {
        row["what"]: row for row in json.loads((tmp_path / "builds.json").read_text())["results"]
    }
    assert (
        len(set(texts[:4])) == 1
        and texts[4] != texts[0] == (builds.HERE / builds.CHANGED[0]).read_text()
    )
    assert rows["engine, nothing in the cache"]["seconds"] == 90.0
    assert rows["engine, one kernel changed"]["seconds"] == 30.0
    assert rows["carrier, all other structures (2)"]["aim"] == 0.5
    assert rows["check lib:regulator"]["seconds"] > 0.0
    said = capsys.readouterr().out.splitlines()
    assert sum("missed" in line for line in said if "engine" in line or "structures" in line) == 2


def test_common_errors_lie_in_both_ranges():
    """Between the larger of the smallest errors and the smaller of the largest ones; none where they do not meet."""

    def points(*errors: float) -> list[Any]:
        return [
            floating_frame.Point(1.0, error, 1.0 / (error or 1.0), 1.0) for error in (0.0, *errors)
        ]

    here, there = points(1e-2, 1e-4, 1e-8), points(1e-3, 1e-5)
    found = floating_frame.common_errors(here, there)
    assert found == pytest.approx([1e-3, 1e-4, 1e-5])
    for error in found:
        assert floating_frame.time_at(here, error) > 0.0 < floating_frame.time_at(there, error)
    assert floating_frame.common_errors(points(1e-2), points(1e-5)) == []
