"""What is said of a coupled run: being bounded is not being right."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from kinetree.scripts.cosim.cosim_report import VERDICTS, plot_columns, show, steps_of
from kinetree.scripts.cosim.run_master import Trace
from kinetree.scripts.cosim.scenario_verdict import Outcome
from kinetree.scripts.cosim.schemes import SCHEMES

BAR = 1e5  # Pa
PEAK = 76 * BAR


def outcome(error: float, stable: bool = True, reference: bool = True) -> Outcome:
    """A run whose pressures err by so much beside a reference of 76 bar."""
    time = np.linspace(0.0, 1.0, 11)
    exact = (
        {
            "time": time,
            "pressure_a": np.full(11, PEAK),
            "pressure_b": np.zeros(11),
            "length": np.ones(11),
        }
        if reference
        else {}
    )
    columns = {
        "pressure_a": np.full(11, PEAK + error),
        "pressure_b": np.zeros(11),
        "length": np.ones(11),
    }
    return Outcome(
        "boom",
        "held",
        0.02,
        1.0,
        Trace(time, columns, stable),
        exact,
        error if reference else np.nan,
        0.1,
    )


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (0.0, "accurate"),
        (1.5 * BAR, "accurate"),
        (1.6 * BAR, "rough"),
        (7.5 * BAR, "rough"),
        (153 * BAR, "wrong"),
        (np.nan, "wrong"),
    ],
)
def test_accuracy_is_part_of_the_verdict(error: float, verdict: str):
    """An error of 153 bar on 76 was called stable, and no more."""
    found = outcome(error)
    told = found.report()
    assert found.verdict == told["verdict"] == verdict and told[
        "peak_pressure_bar"
    ] == pytest.approx(76.0)
    assert told["peak_pressure_error_bar"] == (
        pytest.approx(error / BAR) if np.isfinite(error) else None
    )


def test_diverged_run_is_not_judged_further():
    assert outcome(0.0, stable=False).verdict == "not stable"
    assert outcome(0.0, reference=False).verdict == "stable"


def test_inaccurate_run_is_reported_on_terminal(capsys: pytest.CaptureFixture[str]):
    show(outcome(153 * BAR), [])
    said = capsys.readouterr().out
    assert "stable but inaccurate" in said and "153 bar" in said and "76 bar" in said
    assert set(VERDICTS) == {"not stable", "wrong", "rough", "accurate", "stable"}


def test_coupling_report_lists_steps_and_energies(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    """Lengths of steps that were made, but not of the last, which ends with the run; energies of bonds, those that are no numbers left out."""
    found = outcome(7.5 * BAR)
    found.trace.time = np.array([0.0, 0.125, 0.375, 0.875, 0.9])
    found.trace.energies = {
        "oil": np.array([0.0, 2.5]),
        "rope": np.array([0.0, 0.5]),
        "lost": np.array([0.0, np.nan]),
    }
    found.trace.columns["length"], found.reference["length"] = np.full(5, 1.25), np.full(11, 1.0)
    found.trace.message, found.trace.residual_power, found.notes, found.controlled = (
        "a message",
        3.5,
        ["a note"],
        True,
    )
    show(found, [tmp_path / "a.csv"])
    assert steps_of(found) == "4 communication steps of 0.125 to 0.5 s"
    assert capsys.readouterr().out.splitlines() == [
        "boom: 4 communication steps of 0.125 to 0.5 s, stop time 1 s: stable, low accuracy",
        f"coupling scheme held: {SCHEMES['held'].says}", "a message",
        "largest pressure error 7.5 bar against the monolithic simulation, largest pressure 76 bar",
        "energy created by the coupling at oil: 2.5 J (0 in an exact coupling)",
        "energy created by the coupling at rope: 0.5 J (0 in an exact coupling)", "a note", f"wrote {tmp_path / 'a.csv'}",
    ]  # fmt: skip
    told = found.report()
    assert (told["smallest_step_s"], told["largest_step_s"], told["steps"], told["reached_s"]) == (
        0.125,
        0.5,
        4,
        0.9,
    )
    assert (
        told["energy_residuals_J"] == {"oil": 2.5, "rope": 0.5, "lost": None}
        and told["largest_residual_power_W"] == 3.5
    )
    assert told["peak_length_error"] == 0.25 and (
        told["stop_time"],
        told["step_size"],
        told["wall_time_s"],
    ) == (1.0, 0.02, 0.1)
    found.trace.energies = {"oil": np.array([0.0, 1.0, 2.5]), "rope": np.array([0.0, 0.5, -4.0])}
    assert found.report()["energy_residual_J"] == -1.5
    found.trace.time, found.controlled = found.trace.time[:2], False
    assert (
        found.step(np.min) == found.step(np.max) == 0.125
        and steps_of(found) == "communication step 0.02 s"
    ), "one step is the last one too"
    found.trace.time = found.trace.time[:1]
    assert found.step(np.min) is None


def test_run_without_reference_plots_each_value(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Pressures in bar, other values as they are, so many rows at most; the energies of all bonds in the last one."""
    drawn: list[Any] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **options: drawn.append(figure))
    monkeypatch.setattr("kinetree.scripts.cosim.cosim_report.whole_file", nullcontext)
    found, time = outcome(0.0, reference=False), np.linspace(0.0, 1.0, 11)
    found.trace.columns = {"p": 5 * BAR * time, "x": 2.0 * time, "share": time}
    found.trace.units, found.trace.energies = (
        {"p": "Pa", "x": "m", "share": "1"},
        {"oil": 3.0 * time, "rope": -time},
    )
    plot_columns(found, tmp_path / "p.png")
    rows = drawn[0].axes
    assert [[line.get_ydata()[-1] for line in axes.lines] for axes in rows] == [
        [5.0],
        [2.0],
        [1.0],
        [3.0, -1.0],
    ]
    assert [axes.get_title(loc="left") for axes in rows] == [
        "p [bar]",
        "x [m]",
        "share",
        "energy made by the coupling [J]",
    ]
    assert drawn[0].get_suptitle() == "boom: held, communication step 0.02 s" and [
        line.get_label() for line in rows[3].lines
    ] == ["oil", "rope"]
    found.trace.columns, found.trace.energies = {f"c{k}": k * time for k in range(14)}, {}
    plot_columns(found, tmp_path / "p.png")
    assert [axes.lines[0].get_ydata()[-1] for axes in drawn[1].axes] == list(range(12))
