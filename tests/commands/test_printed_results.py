"""Sentences and tables of linearisations, searches and coupled runs as they are printed and drawn, from results made by hand."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.models.analysis.describing_functions import LimitCycle
from kinetree.models.analysis.frequency_response import Margins
from kinetree.scripts.bench import chain
from kinetree.scripts.commands import optimize
from kinetree.scripts.commands.linearize import sweep_data
from kinetree.scripts.cosim import cosim_report as coupled
from kinetree.scripts.cosim.run_master import Trace
from kinetree.scripts.cosim.scenario_verdict import Outcome
from kinetree.scripts.reports import linear_text
from kinetree.scripts.studies.optimise import Found
from kinetree.scripts.studies.optimise_file import Task, Variable, places
from kinetree.scripts.studies.sine_sweep import Sweep

BAR = 1e5  # Pa


def test_margins_are_printed_as_a_sentence():
    """What is infinite is left out; what is not stable has no disk; angular frequencies become Hz."""
    hertz = 2 * np.pi
    whole = Margins(True, 4.0, 3.0 * hertz, 0.25, 60.0, 1.5 * hertz, 0.1, 0.5, hertz, 1.0)
    assert linear_text.sentence_of(whole) == (
        "stable, gain margin 4 at 3 Hz, gain reduction margin 0.25, phase margin 60° at 1.5 Hz, delay margin 0.1 s, "
        "disk margin 1 (gain factor 0.333 to 3, or phase 53.1°)"
    )
    assert (
        linear_text.sentence_of(
            Margins(False, np.inf, 0.0, 0.0, np.inf, 0.0, np.inf, 0.5, 1.0, 1.0)
        )
        == "unstable"
    )
    late = SimpleNamespace(period=0.01, delay=2.5e-3, limited=True)
    assert linear_text.sampling(late) == "100 Hz, delay 2.5 ms, command at its limit"
    assert (
        linear_text.sampling(SimpleNamespace(period=0.0, delay=0.0, limited=False)) == "continuous"
    )


def test_limit_cycles_are_printed_in_one_line():
    assert linear_text.cycle_text([]) == "no limit cycle"
    found = linear_text.cycle_text(
        [LimitCycle(2 * np.pi, 0.5, True), LimitCycle(4 * np.pi, 0.25, False)]
    )
    assert (
        found
        == "limit cycle at 1 Hz with an amplitude of 0.5 (stable), at 2 Hz with an amplitude of 0.25 (unstable: larger amplitudes grow)"
    )


def test_linearisation_prints_all_parts(capsys: pytest.CaptureFixture):
    """Zeros once for a pair, loops of pairs and of controllers, cycles, and what was measured beside what is linear."""
    sweep = Sweep(
        np.array([0.5, 2.0]),
        ("y",),
        np.array([[2.0 + 0j], [1j]]),
        np.array([[2.0 + 0j], [1.25j]]),
        np.array([[0.01], [0.02]]),
    )
    margin = Margins(False, np.inf, 0.0, 0.0, np.inf, 0.0, np.inf, 0.5, 1.0, 1.0)
    facts: dict[str, Any] = {
        "modes": [SimpleNamespace(frequency=1.5, damping=-0.0, eigenvalue=complex(-0.1, 9.4), word="swings")], "said": ["[f] is seen nowhere"],
        "zero_array": np.array([-1.0 + 2j, -1.0 - 2j]), "margin_objects": {("f", "y"): margin}, "cycles": [("loop f = -y, dead", [])],
        "loops": [SimpleNamespace(name="pid", period=0.0, delay=0.0, limited=False, margins=margin, said="", known=True)], "sweep": sweep,
    }  # fmt: skip
    linear_text.show("arm", SimpleNamespace(), facts, "2.5")  # type: ignore[arg-type]
    said = capsys.readouterr().out
    for words in (
        "arm at 2.5 s: modes", "[f] is seen nowhere", "zeros: -1+2j\n", "control loop closed by f = -y: unstable",
        "controller pid (continuous): unstable",
        "loop f = -y, dead: no limit cycle", "y, measured on the FMU", "largest relative deviation from the linear response: 0.2",
    ):  # fmt: skip
        assert words in said, words
    assert "90" in said and "-0 " not in said
    assert sweep_data(None) is None and sweep_data(sweep)["measured"] == [[[2.0, 0.0], [0.0, 1.0]]]  # type: ignore[index]


def test_optimize_prints_result_and_bounds(capsys: pytest.CaptureFixture):
    """An order in one row, bounds that are touched, a front, how many starts agree, and that constraints were not kept."""
    variables = {
        "d": Variable(0.0, 2.0, 1.0, False),
        "e": Variable(0.0, 2.0, 1.0, False),
        **places("p", {"order": 2}, "here"),
    }
    task = Task(
        "lib:pendulum", variables, {"end(x)": 1.0, "end(y)": 1.0}, {}, "slsqp", orders=("p",)
    )
    front = [{"values": {}, "measures": {"end(x)": 0.5, "end(y)": 1.25}}]
    values = {"d": 2.0, "e": 0.0, "p[1]": 2.0, "p[2]": 1.0}
    starts = [(values, 3.0), (values, 3.0001), (values, 4.0)]
    found = Found(
        values,
        3.0,
        {"end(x)": 0.5, "end(y)": 2.5},
        False,
        12,
        0.5,
        [],
        "done",
        starts,
        front=front,
        begin={"end(x)": 7.0},
    )
    optimize.show("title", task, found)
    said = capsys.readouterr().out
    rows = [" ".join(line.split()) for line in said.splitlines()]
    assert (
        "p 1 2 2 1" in rows
        and "d 1 2 at its upper bound" in rows
        and "e 1 0 at its lower bound" in rows
        and "end(x) 0.5 7" in rows
    )
    assert "Pareto front" in said and "0.5 1.25" in rows and "2 of 3 starts ended there" in rows
    assert "no evaluation satisfied all constraints: these values violate them least" in rows
    assert "objective 3 after 12 evaluations in 0.5 s (slsqp: done)" in rows


def test_cosim_plot_shows_pressures_and_reference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Pressures in bar above, the length below; the scale is that of the reference, so that what grows leaves it."""
    from matplotlib.figure import Figure

    drawn: list[Any] = []
    save = Figure.savefig
    monkeypatch.setattr(
        Figure,
        "savefig",
        lambda figure, *args, **options: (drawn.append(figure), save(figure, *args, **options)),
    )
    time = np.linspace(0.0, 1.0, 11)
    exact = {
        "time": time,
        "pressure_a": np.full(11, 50 * BAR),
        "pressure_b": np.full(11, 20 * BAR),
        "length": 1.0 + 0.5 * time,
    }
    trace = Trace(
        time,
        {"pressure_a": np.full(11, 900 * BAR), "pressure_b": np.zeros(11), "length": np.ones(11)},
        True,
    )
    outcome = Outcome("boom", "held", 0.1, 1.0, trace, exact, 850 * BAR, 0.1, place="angle [rad]")
    coupled.write_plot(outcome, tmp_path / "p.png")
    (figure,) = drawn
    above, below = figure.axes
    assert (
        above.get_ylim() == pytest.approx((-5.0, 70.0))
        and below.get_ylim() == pytest.approx((0.95, 1.55))
        and below.get_ylabel() == "angle [rad]"
    )
    assert [line.get_ydata()[0] for line in above.lines] == pytest.approx([50.0, 900.0, 20.0, 0.0])
    assert [line.get_label() for line in above.lines] == [
        "a: one system",
        "a: coupled",
        "b: one system",
        "b: coupled",
    ]
    assert (
        above.get_title() == "boom: held, communication step 0.1 s"
        and (tmp_path / "p.png").stat().st_size > 5000
    )
    exact["length"] = np.ones(11)
    coupled.write_plot(outcome, tmp_path / "p.png")
    assert drawn[1].axes[1].get_ylim() == pytest.approx((0.99, 1.01)), (
        "what does not move has room all the same"
    )


def test_chain_benchmark_runs_in_single_threaded_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    asked: list[Any] = []

    def run(line: list[str], env: dict[str, str], **options: Any) -> SimpleNamespace:
        asked.append(
            (line[3:], env["OMP_NUM_THREADS"], env["OPENBLAS_NUM_THREADS"], env["MKL_NUM_THREADS"])
        )
        return SimpleNamespace(stdout='{"headline": 3.0}')

    monkeypatch.setattr(chain.subprocess, "run", run)
    for name in ("show", "plot", "case_of"):
        monkeypatch.setattr(chain, name, lambda *given, name=name: asked.append((name, *given)))
    assert chain.run(True, tmp_path / "kept.json", tmp_path, "train.toml") == {"headline": 3.0}
    assert asked == [
        ("case_of", "train.toml"), (["--quick", "train.toml"], "1", "1", "1"), ("show", {"headline": 3.0}), ("plot", {"headline": 3.0}, tmp_path)
    ]  # fmt: skip
    assert (tmp_path / "kept.json").read_text() == '{\n "headline": 3.0\n}'
