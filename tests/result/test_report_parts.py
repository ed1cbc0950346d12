"""Parts of reports by hand: cells, settings, tables of stages in their units and on narrow lines, files of responses, panels of a picture."""

import csv
import json
import math
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.io import loadmat

from kinetree.models import load
from kinetree.models.analysis.frequency_response import Margins, StateSpace
from kinetree.models.language.parts.report_parts import ReportTable
from kinetree.scripts.reports import html_report as html
from kinetree.scripts.reports import (
    linear_files,
    linear_pictures,
    linear_text,
    stage_pictures,
    stage_report,
    stage_tables,
    study_page,
)
from kinetree.scripts.reports.study_page import MOST_ROWS, Section, plain, written
from kinetree.scripts.studies.sine_sweep import Sweep
from kinetree.scripts.terminal.error_messages import BadInput


def test_cells_have_six_digits_without_negative_zero():
    assert [written(cell) for cell in (1.23456789, -0.0, math.nan, 3, True, "x", 1e-20)] == [
        "1.23457",
        "0",
        "–",
        "3",
        "True",
        "x",
        "1e-20",
    ]


@dataclass
class Setting:
    low: float
    high: float | None


def test_report_settings_are_listed():
    """Tables as key = value, lists one after another; what is nothing is left out, and nothing at all is as described."""
    assert plain({"a": Setting(1.0, None), "b": [1, {"c": 2}]}) == "a = low = 1.0, b = 1; c = 2"
    assert (
        plain({}) == "as described"
        and plain({"a": None}) == "as described"
        and plain((1, 2)) == "1; 2"
        and plain("text") == "text"
    )
    assert plain(Setting) == str(Setting), "a class is no setting"


def test_long_page_tables_are_truncated():
    section = Section("s").table(["a"], [[float(k)] for k in range(MOST_ROWS)])
    assert section.texts == [] and len(section.tables[0]["rows"]) == MOST_ROWS == 2000
    section.table(["a"], [[k] for k in range(MOST_ROWS + 1)], "All").table(
        ["a"], [[k] for k in range(MOST_ROWS + 1)]
    )
    assert (
        section.texts
        == ["All: the first 2000 of 2001 rows.", "The table: the first 2000 of 2001 rows."]
        and len(section.tables[1]["rows"]) == MOST_ROWS
    )
    assert section.tables[1]["title"] == "All" and section.tables[2] == {
        "title": "",
        "head": ["a"],
        "rows": section.tables[1]["rows"],
    }


def test_report_page_lists_command_and_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The command as it could be given again; packages that are not there are no facts."""
    monkeypatch.setattr(study_page.sys, "argv", ["/bin/kinetree", "study", "a file.toml"])
    monkeypatch.setattr(study_page, "PACKAGES", ("numpy", "no-such-package"))
    path = study_page.write_page(
        tmp_path / "p.html",
        "Title",
        [Section("One").say("first", "second")],
        "lead",
        {"samples": 3},
    )
    text = path.read_text(encoding="utf-8")
    assert (
        "kinetree study &#39;a file.toml&#39;" in text
        and "numpy" in text
        and "no-such-package" not in text
        and "samples" in text
        and "lead" in text
    )
    assert (
        "first" in text
        and "second" in text
        and study_page.write_page(tmp_path / "q.html", "Title", []).exists()
    )


def test_page_table_has_one_header_row():
    found = html.table([["a", "<b>"], ["1", "2"], ["3", "4"]], "T & U")
    rows = "<tr><th>a</th><th>&lt;b&gt;</th></tr><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr>"
    assert (
        found == f'<p><b>T &amp; U</b></p><div class="wide"><table>{rows}</table></div>'
        and not html.table([["a"]]).startswith("<p>")
    )


def test_summary_tables_of_rows_without_events():
    """Values at the start and end of stages and largest deviations, by hand: sums below, each column in a unit that fits what it changes by."""
    stages, names = np.array([0, 0, 2, 2, 2]), ["lift", "none", "lower"]
    columns = {
        "x": np.array([2.0, 2.004, 2.004, 1.998, 2.001]),
        "f": np.array([0.0, 1e-7, 5.0, 4000.0, 2000.0]),
    }
    made = {
        kind: stage_tables.stage_table(stages, names, columns, kind, ["m", "N"])
        for kind in ("start", "end", "max_deviation")
    }
    assert made["start"] == [
        ["", "x [mm]", "f [N]"], ["start of the run", "2000", "0"], ["lift", "2000", "0"], ["lower", "2004", "5"],
        ["mean", "2002", "2.5"], ["standard deviation", "2", "2.5"], ["deviation from the start", "2.82843", "3.53553"],
    ]  # fmt: skip
    assert made["end"][:2] == [
        ["", "x [mm]", "f [kN]"],
        ["start of the run", "2000", "0"],
    ] and made["end"][3] == ["lower", "2001", "2"]
    assert made["max_deviation"] == [
        ["", "x [mm]", "f [kN]"], ["value at the start", "2000", "0"], ["lift", "4", "0"], ["lower", "4", "4"],
        ["mean", "4", "2"], ["standard deviation", "0", "2"], ["deviation from the start", "4", "2.82843"], ["spread", "0", "4"],
    ]  # fmt: skip
    plain = stage_tables.stage_table(stages, names, columns, "start")
    assert plain[0] == ["", "x", "f"] and plain[3] == ["lower", "2.004", "5"]
    spike = {"f": np.array([0.0, 4000.0, 5.0])}
    assert stage_tables.stage_table(np.array([0, 2, 2]), names, spike, "end", ["N"])[0] == [
        "",
        "f [N]",
    ], "from the start of the run, not from its peak"
    still = {
        "x": np.array([2000.0, 2000.0, 2001.0, 2001.0, 2001.0]),
        "y": np.array([3.0, 3.0, 3.0, 3.0, 3.0]),
    }
    assert stage_tables.stage_table(stages, names, still, "end", ["m", "m"])[0] == [
        "",
        "x [m]",
        "y [mm]",
    ], "a thousandth of what does not move"


@pytest.mark.parametrize(
    ("width", "cuts"), [(200, [[1, 2, 3]]), (2 + 4 + 3 * 7, [[1, 2, 3]]), (2 + 4 + 3 * 7 - 1, [[1, 2], [3]]), (2 + 4 + 7, [[1], [2], [3]]),
    (5, [[1], [2], [3]])]
)  # fmt: skip
def test_wide_tables_are_wrapped(width: int, cuts: list[list[int]], capsys: pytest.CaptureFixture):
    """Labels first in every part, columns to the right, an empty line between."""
    rows = [["", "a", "bb", "ccccc"], ["lift", "12345", "23456", "3"]]
    stage_tables.show({"Title": rows}, width)
    expected = ["Title"]
    for k, cut in enumerate(cuts):
        expected += [""] * (k > 0) + [
            "  " + row[0].ljust(4) + "".join("  " + row[c].rjust(5) for c in cut) for row in rows
        ]
    assert capsys.readouterr().out.splitlines() == expected


def test_table_width_follows_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    asked: list[Any] = []
    monkeypatch.setattr(
        stage_tables,
        "get_terminal_size",
        lambda usual: asked.append(usual) or SimpleNamespace(columns=12),
    )
    stage_tables.show({"T": [["", "a", "b"], ["lift", "1", "22"]]})
    assert (
        capsys.readouterr().out.splitlines()
        == ["T", "        a", "  lift  1", "", "         b", "  lift  22"]
        and asked[0][0] == 160
    )
    assert [
        stage_tables.staged({"stage": np.array(stages)})
        for stages in ([0, 1, 1], [0, 1, 2], [2, 2, 2, 1])
    ] == [False, True, False]


class Shown(dict):
    """A run whose columns are told in other units than they have."""

    stage_names = ("lift", "lower")
    time = np.array([0.0, 1.0])

    def array(self, names: Any) -> np.ndarray:
        return np.column_stack([self[name] for name in names])

    def as_shown(self, names: Any, values: np.ndarray) -> np.ndarray:
        return values * np.array([180 / math.pi if name == "a" else 1.0 for name in names])

    def shown_units(self, names: Any) -> list[str]:
        return ["deg" if name == "a" else "m" for name in names]

    def unit(self, name: str) -> str:
        return "rad" if name == "a" else "m"

    def display_unit(self, name: str) -> str:
        return "deg" if name == "a" else ""


def test_run_tables_use_requested_units(monkeypatch: pytest.MonkeyPatch):
    """Else those that fit; what is rounding is nothing; without a column that lasts there are none."""
    result = Shown(a=np.array([0.0, math.pi / 2]), x=np.array([0.002, 0.004]))
    parts = [np.array([[0.0, 0.002], [45.0, 0.9e-9]]), np.array([[45.0, 1e-9], [90.0, 0.004]])]
    monkeypatch.setattr(stage_tables, "lasting", lambda result, coordinates: list(coordinates))
    monkeypatch.setattr(stage_tables, "samples", lambda result, names: ([0, 1], parts))
    made = stage_tables.tables(result, ["a", "x"])
    assert list(made) == [
        "At the start of each stage",
        "At the end of each stage",
        "Largest deviation within each stage",
    ]
    assert made["At the start of each stage"][:4] == [
        ["", "a [deg]", "x [mm]"],
        ["start of the run", "0", "2"],
        ["lift", "0", "2"],
        ["lower", "45", "1e-6"],
    ]
    assert made["At the end of each stage"][2:4] == [["lift", "45", "0"], ["lower", "90", "4"]]
    assert made["Largest deviation within each stage"][2:4] == [
        ["lift", "45", "-2"],
        ["lower", "90", "2"],
    ]
    assert stage_tables.tables(result, []) == {}


def test_balance_tables_suppress_rounding():
    """A part of 1e-12 of what moves is told, less is nothing; the balance is that of the last row up to the event."""
    before = np.array([2.0, 3.0, 4.0, 0.0, -8.0, 99.0])
    after = np.array([2.0 - 2.5e-12, 3.0 - 5.1e-12, 4.0 - 4.9e-12, 5.1e-12, -8.0 + 7.9e-12, 77.0])
    event = SimpleNamespace(kind="stage", stage="drop", time=1.0, before=before, after=after)
    other = SimpleNamespace(kind="zero", stage="", time=0.5, before=before, after=after)
    result = type(
        "Run", (dict,), {"time": np.array([0.0, 1.0, 1.0, 2.0]), "events": [other, event]}
    )({"energy_residual": np.array([0.0, 1.0, 2.0, 3.0])})
    head, row = stage_tables.books(result)
    told = dict(zip(head[1:], map(float, row[1:]), strict=True))
    assert (
        told["mass removed [kg]"] == pytest.approx(2.5e-12, rel=1e-3)
        and told["energy removed [J]"] == 0.0
        and told["energy balance [J]"] == 2.0
    )
    assert told["momentum removed [N.s]"] == pytest.approx(
        math.hypot(5.1e-12, 5.1e-12), rel=1e-3
    ) and told["momentum z [N.s]"] == pytest.approx(5.1e-12)
    event.time = 5.0
    assert float(stage_tables.books(result)[1][-1]) == 3.0


def table_of(**more: Any) -> Any:
    rows = [["", "x_1 [m]"], ["a & b", "1"], ["50 %", "2"], ["mean", "1.5"]]
    given = {
        "title": "T_1",
        "rows": lambda: rows,
        "plain_rows": lambda: [["", "x"], ["a", "1.0"]],
        "sums": {"mean": 1.5},
        **more,
    }
    return SimpleNamespace(**given)


def test_tables_are_written_for_papers_and_programs(tmp_path: Path):
    """LaTeX with a rule above its sums; CSV with a line between tables; a page else."""
    assert stage_report.latex(table_of()).splitlines() == [
        r"\begin{table}", r"\caption{T\_1}", r"\begin{tabular}{lr}", r"\toprule", r" & x\_1 [m] \\", r"\midrule", r"a \& b & 1 \\", r"50 \% & 2 \\",
        r"\midrule", r"mean & 1.5 \\", r"\bottomrule", r"\end{tabular}", r"\end{table}",
    ]  # fmt: skip
    assert stage_report.latex(table_of(sums={})).splitlines()[6:11] == [
        r"a \& b & 1 \\",
        r"50 \% & 2 \\",
        r"mean & 1.5 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    stage_report.write_tables(tmp_path / "t.csv", [table_of(), table_of(title="U")], "")
    assert (tmp_path / "t.csv").read_text() == "T_1\n,x\na,1.0\n\nU\n,x\na,1.0\n"
    stage_report.write_tables(tmp_path / "t.tex", [table_of(), table_of()], "")
    assert (tmp_path / "t.tex").read_text().count(r"\toprule") == 2
    for title, told in (("", "Tables"), ("Mine", "Mine")):
        assert (
            f"<h1>{told}</h1>"
            in stage_report.write_tables(tmp_path / "t.html", [table_of()], title).read_text()
        )


def test_tables_are_requested_on_command_line():
    """Rows, columns, stages and reference between colons; a number is an instant, and nothing is what is usual."""
    found = stage_report.asked("end: slew, luff :swing*: 0.5 ")
    expected = ReportTable.model_validate(
        {
            "rows": "end",
            "columns": ["slew", "luff"],
            "stages": ["swing*"],
            "reference": 0.5,
            "title": found.title,
        }
    )
    assert found == expected and found.title == "end: slew, luff :swing*: 0.5 "
    assert (
        stage_report.asked("mean").columns == ReportTable.model_validate({"columns": []}).columns
        and stage_report.asked("end:x::stage").reference == "stage"
    )
    with pytest.raises(BadInput, match="expected ROWS:COLUMNS:STAGES:REFERENCE"):
        stage_report.asked("end:x:s:stage:more")
    with pytest.raises(BadInput, match="found 'noon'"):
        stage_report.asked("end:x::noon")


def lag(gain: float, time: float) -> StateSpace:
    return StateSpace(
        np.array([[-1 / time]]), np.array([[1.0]]), np.array([[gain / time]]), np.zeros((1, 1))
    )


class Two:
    """Two inputs and one output, each behind its lag."""

    def part(self, ins: list[str], outputs: list[str]) -> StateSpace:
        both = {"u": lag(2.0, 0.5), "v": lag(-3.0, 0.25)}
        parts = [both[name] for name in ins]
        A, B, C = (
            np.diag([p.A[0, 0] for p in parts]),
            np.eye(len(parts)),
            np.array([[p.C[0, 0] for p in parts]]),
        )
        return StateSpace(A, B, C, np.zeros((1, len(parts))))


def test_response_file_has_gains_and_phases_over_hertz(tmp_path: Path):
    linear_files.write_responses(Two(), ["u", "v"], ["y"], tmp_path / "r.csv")  # type: ignore[arg-type]
    with (tmp_path / "r.csv").open(newline="") as stream:
        head, *rows = csv.reader(stream)
    assert head == ["frequency [Hz]", "|y/u|", "phase y/u [deg]", "|y/v|", "phase y/v [deg]"]
    hertz, *columns = np.array(rows, dtype=float).T
    s = 2j * np.pi * hertz
    for (gain, phase), exact in zip(
        (columns[:2], columns[2:]), (2.0 / (0.5 * s + 1), -3.0 / (0.25 * s + 1)), strict=True
    ):
        assert gain == pytest.approx(np.abs(exact), rel=1e-12)
        assert (
            np.exp(1j * np.radians(phase)) == pytest.approx(exact / np.abs(exact), rel=1e-9)
            and np.abs(np.diff(phase)).max() < 90.0
        )


@pytest.mark.parametrize(
    ("top", "bottom", "unit"),
    [
        ("m", "N", " [m/N]"),
        ("", "", ""),
        ("m", "", " [m]"),
        ("", "N", " [1/N]"),
        ("m", "N.m", " [m/(N.m)]"),
        ("m", "m/s", " [m/(m/s)]"),
    ],
)
def test_quotient_axis_label_has_unit_of_both(top: str, bottom: str, unit: str):
    assert linear_pictures.per(top, bottom) == unit


def test_margin_marks_are_at_crossovers():
    """Phase where the gain is 1, gain where the phase is 180°; what is infinite nowhere."""
    above, below = Figure().subplots(2, 1)
    none = Margins(True, math.inf, 1.0, 0.0, math.inf, 1.0, math.inf, 1.0, 1.0, 1.0)
    linear_pictures.mark(above, below, none, "#000000")
    assert not above.lines and not below.lines
    linear_pictures.mark(
        above,
        below,
        Margins(True, 2.0, 4 * math.pi, 0.0, 45.0, 6 * math.pi, 1.0, 1.0, 1.0, 1.0),
        "#000000",
    )
    assert [line.get_xdata()[0] for line in (*above.lines, *below.lines)] == pytest.approx(
        [2.0, 3.0]
    )


def test_nyquist_plot_shows_critical_point(monkeypatch: pytest.MonkeyPatch):
    """Every pair as a line, without what is 20 away or more; six to each side at most, but no more than there is."""
    saved: list[Any] = []
    monkeypatch.setattr(linear_pictures, "save", lambda figure, path: saved.append(figure))
    monkeypatch.setattr(linear_pictures, "response_of", lambda part: part)
    curves = {
        "u": np.array([30.0, 20.0, 19.9 + 0j, -12.0j, 0.5]),
        "v": np.array([-0.5 + 0.5j, 1.0]),
    }
    linear: Any = SimpleNamespace(part=lambda given, output: curves[given[0]])
    linear_pictures.draw_nyquist(linear, ["u"], ["y"], Path("n.png"))
    linear_pictures.draw_nyquist(linear, ["v"], ["y"], Path("n.png"))
    far, near = (figure.axes[0] for figure in saved)
    assert (
        far.lines[0].get_xdata().tolist() == [19.9, 0.0, 0.5]
        and far.lines[0].get_label() == "u to y"
    )
    assert (
        far.get_xlim()[1] == 6.0 and -2.5 < far.get_xlim()[0] < -1.0 and far.get_ylim()[0] == -6.0
    )
    assert (
        near.get_xlim()[1] < 1.2
        and near.get_ylim()[0] > -1.2
        and [line.get_label() for line in near.lines[:1]] == ["v to y"]
    )
    angle = np.arctan2(far.lines[1].get_ydata(), far.lines[1].get_xdata())
    assert (
        np.unwrap(angle)[[0, -1]] == pytest.approx([0.0, 2 * math.pi], abs=1e-9)
        and far.lines[2].get_marker() == "+"
    )


def test_limit_cycles_and_sampling_are_printed_in_words():
    """Hertz, milliseconds, and what the margins of a loop at its limit do not know."""
    assert linear_text.cycle_text([]) == "no limit cycle"
    cycle = SimpleNamespace(omega=4 * math.pi, amplitude=0.25, stable=True)
    border = SimpleNamespace(omega=6 * math.pi, amplitude=0.5, stable=False)
    assert linear_text.cycle_text([cycle, border]) == (
        "limit cycle at 2 Hz with an amplitude of 0.25 (stable), at 3 Hz with an amplitude of 0.5 (unstable: larger amplitudes grow)"
    )
    assert (
        linear_text.sampling(SimpleNamespace(period=0.004, delay=0.0025, limited=True))
        == "250 Hz, delay 2.5 ms, command at its limit"
    )
    assert (
        linear_text.sampling(SimpleNamespace(period=0.0, delay=0.0, limited=False)) == "continuous"
    )


class Columns(dict):
    name, time = "", np.array([0.0, 1.0, 2.0])
    events: Any = []

    def unit(self, name: str) -> str:
        return {"x": "m", "y": "m", "E": "J", "s": "m"}.get(
            name, "1" if name.startswith("one") else "Pa"
        )


def test_run_picture_contents():
    """Outputs that move, states in J, and of circuits pressures and spools alone."""
    names = ["out", "still", "valve.spool", "tank.level", "tank.pressure_a", "E", "s"]
    result = Columns({name: np.array([0.0, 0.5, 0.25]) for name in names} | {"still": np.ones(3)})
    compiled = SimpleNamespace(
        outputs=[SimpleNamespace(name=name) for name in names[:5]], states=["E", "s"]
    )
    assert stage_pictures.drawn(SimpleNamespace(compiled=compiled), result) == [
        "out",
        "valve.spool",
        "tank.pressure_a",
        "E",
    ]
    assert [
        stage_pictures.kind(name) for name in ("jack_load_left", "module12_height", "plain")
    ] == ["jack", "module", "plain"]


def test_panels_group_by_unit_and_kind(monkeypatch: pytest.MonkeyPatch):
    """Coordinates by their unit, outputs by unit and first word, or by the quantity of a part; sixteen at most."""
    monkeypatch.setattr(stage_pictures, "lasting", lambda result, names: names)
    found = stage_pictures.panels(
        Columns(),
        ["x", "y"],
        ["jack_a", "jack_b", "one_a", "a.pressure_a", "b.pressure_b", "a.spool"],
    )  # type: ignore[arg-type]
    assert found == [
        ("deviation", "m", ["x", "y"]), ("value", "Pa", ["jack_a", "jack_b"]), ("value", "1", ["one_a"]), ("value", "Pa", ["a.pressure_a",
        "b.pressure_b"]),
        ("value", "Pa", ["a.spool"]),
    ]  # fmt: skip
    assert len(stage_pictures.panels(Columns(), [], [f"{chr(97 + k)}_1" for k in range(20)])) == 16  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "what", "label", "shown"),
    [
        ({"one_a": [0.5, 1.0, 2.0]}, "value", "one a", [[0.5, 1.0, 2.0]]),
        ({"one_a": [0.5, 1.0, 2.0], "one_b": [3.0, 1.0, 2.0]}, "value", "one", [[0.5, 1.0, 2.0], [3.0, 1.0, 2.0]]),
        ({"one_a": [5.0, 5.25, 5.5], "one_b": [-5.0, -5.25, -5.0]}, "value", "deviation", [[0.0, 0.25, 0.5], [0.0, -0.25, 0.0]]),
        ({"one_a": [5.0, 5.5, 5.0], "one_b": [-5.0, -5.25, -5.5]}, "value", "deviation", [[0.0, 0.5, 0.0], [0.0, -0.25, -0.5]]),
        ({"one_a": [5.0, 5.6, 5.0], "one_b": [-5.0, -5.25, -5.0]}, "value", "one", [[5.0, 5.6, 5.0], [-5.0, -5.25, -5.0]]),
        ({"one_a": [5.0, 5.001, 5.0]}, "value", "one a", [[5.0, 5.001, 5.0]]), ({"one_a": [0.5, 1.0, 2.0]}, "deviation",
        "deviation", [[0.0, 0.5, 1.5]]),
        ({"p.one_a": [1.0, 2.0, 3.0], "q.one_b": [2.0, 2.0, 1.0]}, "value", "one\n[Pa]", [[1.0, 2.0, 3.0], [2.0, 2.0, 1.0]]),
    ],
)  # fmt: skip
def test_nearly_constant_lines_are_drawn_as_deviations(
    values: dict[str, list[float]], what: str, label: str, shown: list[list[float]]
):
    """Less than a twentieth of its height, where there are several."""
    axes = Figure().subplots()
    stage_pictures.draw_panel(
        axes,
        Columns({name: np.array(column) for name, column in values.items()}),
        what,
        list(values),
    )
    assert [line.get_ydata() for line in axes.lines] == [
        pytest.approx(column) for column in shown
    ] and axes.get_ylabel() == label
    assert [line.get_label() for line in axes.lines] == list(values) and (
        axes.get_legend() is not None
    ) == (len(values) > 1 or what == "deviation")


@pytest.mark.parametrize(
    ("count", "texts"), [(8, [f"one_{k}" for k in range(8)]), (9, ["one_0\nto one_8"])]
)
def test_panel_legend_names_up_to_eight_lines(count: int, texts: list[str]):
    axes = Figure().subplots()
    columns = Columns({f"one_{k}": np.array([0.0, k + 1.0, 2.0]) for k in range(count)})
    stage_pictures.draw_panel(axes, columns, "value", list(columns))
    legend = axes.get_legend()
    assert legend is not None and [text.get_text() for text in legend.get_texts()] == texts


def test_picture_without_panels_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made: list[Figure] = []
    monkeypatch.setattr(
        Figure, "savefig", lambda figure, path, **more: (made.append(figure), Path(path).touch())
    )
    system = load("lib:pendulum").compile()
    names = [*system.coordinates, *system.compiled.states]
    names += [column.name for column in system.compiled.outputs]
    still = Columns({name: np.zeros(3) for name in names})
    stage_pictures.draw_stages(system, still, tmp_path / "p.png")
    assert len(made[0].axes) == 1 and (tmp_path / "p.png").exists() and made[0].get_suptitle() == ""


def told(capsys: pytest.CaptureFixture) -> list[str]:
    return [
        line
        for line in (" ".join(line.split()) for line in capsys.readouterr().out.splitlines())
        if line
    ]


def test_linearisation_report_lists_every_mode(capsys: pytest.CaptureFixture):
    """Numbered from one, without a sign of nothing; a pair of zeros once; margins of opened loops, of controllers, cycles, and what was measured."""
    modes = [
        SimpleNamespace(
            frequency=1.25, damping=-1e-9, eigenvalue=complex(-0.5, 7.5), word="swings"
        ),
        SimpleNamespace(
            frequency=0.0, damping=0.123456, eigenvalue=complex(-2.0, 0.0), word="falls"
        ),
    ]
    lost = Margins(False, math.inf, 0.0, 0.0, math.inf, 0.0, math.inf, 0.0, 0.0, 0.3)
    loop = SimpleNamespace(
        name="c", period=0.004, delay=0.0025, limited=False, margins=lost, said="", known=True
    )
    facts = {
        "modes": modes, "said": ["mode 2 is far"], "zero_array": np.array([1 + 2j, 1 - 2j, -3.0]), "margin_objects": {("f", "y"): lost},
        "loops": [loop],
        "cycles": [("c", [])], "sweep": None,
    }  # fmt: skip
    linear_text.show("Cart", None, facts, "rest")  # type: ignore[arg-type]
    lines = [
        "Cart at equilibrium: modes", "frequency damping real imaginary", "[Hz] ratio [1/s] [rad/s] motion", "1 1.25 0 -0.5 7.5 swings",
        "2 0 0.12346 -2 0 falls",
        "mode 2 is far", "zeros: 1+2j, -3+0j", "control loop closed by f = -y: unstable",
        "controller c (250 Hz, delay 2.5 ms): unstable", "c: no limit cycle",
    ]  # fmt: skip
    assert told(capsys) == lines
    facts |= {
        "said": [],
        "zero_array": np.zeros(0),
        "margin_objects": {},
        "loops": [],
        "cycles": [],
    }
    facts["sweep"] = Sweep(
        np.array([0.5]), ("y",), np.array([[2j]]), np.array([[-1.0 + 0j]]), np.array([[0.25]])
    )
    linear_text.show("Cart", None, facts, "2.5")  # type: ignore[arg-type]
    found = told(capsys)
    assert found[:5] == ["Cart at 2.5 s: modes", *lines[1:5]] and "y, measured on the FMU" in found
    assert found[-2:] == [
        "0.5 2 1 90 180 0.25",
        "largest relative deviation from the linear response: 2.2",
    ]


@pytest.mark.parametrize("ending", [".npz", ".MAT", ".json", ".csv"])
def test_linear_system_file_format_follows_suffix(tmp_path: Path, ending: str):
    """Matrices of the part that is asked for, those of the mechanism, and all names; responses where it is a table."""
    two: Any = Two()
    two.states, two.coordinates = ("a", "b"), ("q",)
    two.mass, two.damping, two.stiffness = (np.array([[float(k)]]) for k in (2, 3, 4))
    path = tmp_path / f"l{ending}"
    linear_files.write(two, ["u", "v"], ["y"], {"plain": [1, 2]}, path)
    if ending == ".json":
        assert json.loads(path.read_text()) == {"plain": [1, 2]}
    elif ending == ".csv":
        assert path.read_text().startswith("frequency [Hz],|y/u|")
    else:
        found = np.load(path) if ending == ".npz" else loadmat(path, squeeze_me=True)
        assert np.diag(found["A"]).tolist() == [-2.0, -4.0] and np.ravel(found["C"]).tolist() == [
            4.0,
            -12.0,
        ]
        assert [np.ravel(found[key])[0] for key in "MFK"] == [2.0, 3.0, 4.0]
        names = {"states": ["a", "b"], "inputs": ["u", "v"], "outputs": ["y"], "coordinates": ["q"]}
        assert {key: np.ravel(found[key]).tolist() for key in names} == names
