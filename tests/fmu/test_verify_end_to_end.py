"""`kinetree verify` as a whole, from archives and motions made by hand: which checks an archive has, over which times and with which bounds."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fmpy.validation
import numpy as np
import pytest
from host_stand_in import Unit, archive_of

from kinetree.scripts.fmi import verify
from kinetree.scripts.fmi.verify import Report

GRID = [0.0, 0.5, 1.0, 1.5]


def told(report: Report) -> list[tuple[str, str, bool]]:
    return [(check.what, check.result, check.good) for check in report.checks]


@pytest.mark.parametrize(
    "case", ["chain", "loops", "source", "sensitive", "model exchange alone", "short"]
)
def test_verify_runs_all_checks(monkeypatch: pytest.MonkeyPatch, case: str):
    """As long as the archive says, 5 s at most, in its steps, 2000 at most; where errors grow, up to there."""
    stop, last = (None, 5) if case == "sensitive" else (0.2 if case == "short" else None, 10)
    last, response = (1, 1e2) if case == "short" else (last, 1e7)
    archive = archive_of(compiled=case == "source")
    if case != "source":
        archive.description.modelExchange = "part"
    if case == "model exchange alone":
        archive.description.coSimulation = None
    done: dict[str, Any] = {}
    twin: Any = Unit()
    twin.unit = SimpleNamespace(
        system=SimpleNamespace(compiled=SimpleNamespace(loops=["a"] * (case == "loops"))),
        chain=SimpleNamespace() if case == "chain" else None,
    )
    monkeypatch.setattr(
        fmpy.validation, "validate_fmu", lambda path: ["a", "b"] if case == "loops" else []
    )
    monkeypatch.setattr(verify, "Archive", lambda path: nullcontext(archive))
    monkeypatch.setattr(verify, "described", lambda report, archive: None)
    monkeypatch.setattr(verify, "check_archive", lambda path: None)
    monkeypatch.setattr(verify, "comparable", lambda archive, twin: ["x"])
    monkeypatch.setattr(
        verify, "horizon", lambda twin, grid, names, expected: (last, np.array([response]))
    )
    monkeypatch.setattr(
        verify,
        "own_bound",
        lambda twin, *given: (
            0.25 * len(done.setdefault("own", [*given[:2], len(given[2](twin.start()))])) / 3
        ),
    )
    monkeypatch.setattr(verify, "step_error", lambda *given: np.array([0.5]))
    for name in ("motion", "chain_motion", "exchange", "sweep", "replay", "conditions"):
        monkeypatch.setattr(
            verify, name, lambda report, *given, name=name: done.setdefault(name, given)
        )
    report = verify.verify("it.fmu", stop, lambda given: twin)
    count = 1 if case == "short" else 10
    grid = [0.5 * k for k in range(count + 1)]
    whole, part = (np.array([[2.0**-t] for t in grid[: n + 1]]) for n in (count, last))

    def given(name: str, *expected: Any) -> bool:
        return name in done and all(
            np.array_equal(a, b) for a, b in zip(done[name], expected, strict=True)
        )

    bounds = {"chain": 1e-12, "source": 0.25}
    assert given(
        "motion",
        archive,
        grid,
        ["x"],
        whole,
        last if case == "source" else count,
        bounds.get(case, 1e-12),
    )
    assert done.get("own") == ([5.0, 1e7, 11] if case == "source" else None)
    assert ("chain_motion" in done) == (case == "chain") and (
        case != "chain" or given("chain_motion", twin.unit.chain, grid, ["x"], whole)
    )
    lasting = grid[: last + 1]
    if case == "source":
        assert "exchange" not in done
    else:
        bound = {"loops": 5e-3, "short": 1e-4}.get(case, 10.0 * 1e-8 * 1e7)
        assert given("exchange", archive, lasting, ["x"], part, np.array([bound + 0.5]))
    assert given("sweep", archive, lasting, ["x"], part, 0.5) and given(
        "replay", archive, lasting, ["x"]
    )
    if case == "model exchange alone":
        assert "conditions" not in done
    else:
        assert given("conditions", archive, twin, lasting, ["x"], part, case == "source", 0.5)
    rows = [
        ("modelDescription", "a; b" if case == "loops" else "no problem found", case != "loops")
    ]
    rows += [
        ("sources", "compiled by cc -std=c99 -Wall -Wextra -Wpedantic without a warning", True)
    ] * (case == "source")
    rows += [
        (
            "sensitivity",
            "errors grow 100 times until t = 2.5: other integrations are compared up to there",
            True,
        )
    ] * (case == "sensitive")
    assert (
        told(report) == rows and report.good == (case != "loops") and report.path == Path("it.fmu")
    )


def test_verification_run_has_at_most_two_thousand_steps(monkeypatch: pytest.MonkeyPatch):
    archive, grids = archive_of(step=0.0009765625), []
    archive.description.defaultExperiment = SimpleNamespace(stopTime="4.0", stepSize="0.0009765625")

    def stop(report: Report, twin: Any, grid: list[float], names: list[str]) -> None:
        grids.append(grid)
        raise KeyError

    monkeypatch.setattr(fmpy.validation, "validate_fmu", lambda path: [])
    monkeypatch.setattr(verify, "Archive", lambda path: nullcontext(archive))
    monkeypatch.setattr(verify, "described", lambda report, archive: None)
    monkeypatch.setattr(verify, "check_archive", lambda path: None)
    monkeypatch.setattr(verify, "comparable", lambda archive, twin: ["x"])
    monkeypatch.setattr(verify, "motion_of_model", stop)
    for end in (None, 1.0):
        with pytest.raises(KeyError):
            verify.verify("it.fmu", end, lambda given: Unit())
    assert [(len(grid), grid[-1]) for grid in grids] == [(2001, 2000 / 1024), (1025, 1.0)]


def test_chain_steps_match_matrix_method():
    asked: list[Any] = []

    class Chain:
        coordinates, speeds = ("a",), ("va",)

        def simulate(self, **options: float) -> dict[str, np.ndarray]:
            asked.append(options)
            return {"a": np.array([1.0, 2.0, 3.0, 4.0]), "va": np.array([0.0, 0.0, 0.0, 8e-8])}

    report, expected = (
        Report(Path()),
        np.array([[9.0, 1.0, 0.0], [9.0, 2.0, 0.0], [9.0, 3.0, 0.0], [9.0, 4.0, 0.0]]),
    )
    verify.chain_motion(report, Chain(), [0.125, *GRID[1:]], ["other", "a", "va"], expected)  # type: ignore[arg-type]
    assert asked == [{"stop_time": 1.5, "start_time": 0.0, "output_step": 0.375}]
    assert told(report) == [("matrix method", "largest deviation 8.00e-08 (allowed 1e-08)", False)]
