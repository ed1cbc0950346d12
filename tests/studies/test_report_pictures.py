"""What the pictures of reports show, read from their axes: every curve, bar and point beside a formula of its own."""

import json
import math
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from loop_text import SCENARIO
from report_page import Page, numbers
from scipy.optimize import root_scalar

from kinetree import models
from kinetree.models import load
from kinetree.models.analysis.frequency_response import StateSpace
from kinetree.models.analysis.identification_result import draw_fit
from kinetree.models.analysis.stabilisation_diagram import stabilisation_diagram
from kinetree.scripts import cli
from kinetree.scripts.hil.loop_run import simulate
from kinetree.scripts.hil.report import write_report
from kinetree.scripts.hil.scenario import read_scenario
from kinetree.scripts.reports import linear_pictures
from kinetree.scripts.reports.stage_pictures import LABELS, draw_stages, panels
from kinetree.scripts.reports.stage_pictures import drawn as drawn_of
from kinetree.scripts.reports.study_page import Section
from kinetree.scripts.studies.samplers import Distribution, drawn
from kinetree.scripts.studies.sobol_indices import saltelli
from kinetree.scripts.studies.stabilisation_report import robustness
from kinetree.scripts.studies.study_report import histograms, shares

M, K, D = 2.0, 50.0, 3.0  # kg, N/m, N.s/m
LAG, GAIN = 0.1, 30.0
START = 0.1  # m


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Figures by their captions, or by the names of their files; none is rendered."""
    seen: dict[str, Any] = {}

    def picture(section: Section, figure: Any, caption: str) -> Section:
        seen[caption] = figure
        return section

    monkeypatch.setattr(Section, "picture", picture)
    monkeypatch.setattr(
        linear_pictures, "save", lambda figure, path: seen.__setitem__(path.stem, figure)
    )
    return seen


def written(folder: Path, force: str, start: float = 0.0, **more: Any) -> str:
    """A mass on a spring with a damper, as a file."""
    unit = {"m": "kg", "k": "N/m", "d": "N.s/m"}
    text = {
        "name": "slider",
        "gravity": [0, 0, 0],
        "parameters": {
            name: {"value": value, "unit": unit[name]}
            for name, value in (("m", M), ("k", K), ("d", D))
        }
        | {"push": 1.0},
        "bodies": {"b": {"mass": "m", "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {
            "j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x", "start": start}]}
        },
        "forces": {"law": {"coordinate": "x", "value": force}},
        **more,
    }
    path = folder / "m.json"
    path.write_text(json.dumps(text))
    return str(path)


def line(place: Any, number: int = 0) -> np.ndarray:
    """Two columns, x and y."""
    return np.column_stack(place.lines[number].get_data())


def polynomial(k: float) -> np.ndarray:
    """(m s² + d s + k)(0.1 s + 1)"""
    return np.polymul([M, D, k], [LAG, 1.0])


def loop(omega: Any) -> Any:
    return GAIN / np.polyval(polynomial(K), 1j * np.asarray(omega))


def test_response_and_pole_plots_are_drawn(tmp_path: Path, figures: dict[str, Any]):
    """Bode, Nyquist, poles and zeros, root locus of 30/((m s² + d s + k)(0.1 s + 1)), and where its margins are."""
    more = {
        "inputs": {"f": {"start": 0.0, "unit": "N"}},
        "states": {"lag": {"rate": f"(x - lag)/{LAG}", "unit": "m"}},
    }
    more["outputs"] = {
        "late": {"value": "lag", "unit": "m"},
        "ahead": {"value": "2*x - lag", "unit": "m"},
    }
    file = written(tmp_path, f"{GAIN}*f - k*x - d*der(x)", **more)
    wanted = [f"--{name}={tmp_path / name}.png" for name in ("bode", "nyquist")]
    assert (
        cli.main(
            [
                "linearize",
                file,
                "-q",
                "--inputs=f",
                "--outputs=late",
                "--margins",
                *wanted,
                f"--root-locus=k=20:200:{tmp_path / 'locus.png'}",
            ]
        )
        == 0
    )
    assert (
        cli.main(
            [
                "linearize",
                file,
                "-q",
                "--inputs=f",
                "--outputs=ahead",
                f"--poles={tmp_path / 'poles.png'}",
            ]
        )
        == 0
    )

    above, below = figures["bode"].axes
    hertz, gain = line(above).T
    values = loop(2 * np.pi * hertz)
    assert np.all(np.diff(hertz) > 0.0) and gain == pytest.approx(np.abs(values), rel=1e-9)
    assert line(below) == pytest.approx(
        np.column_stack((hertz, np.degrees(np.unwrap(np.angle(values))))), rel=1e-9
    )
    assert (above.get_xscale(), above.get_yscale(), below.get_xscale(), below.get_yscale()) == (
        "log",
        "log",
        "log",
        "linear",
    )
    assert (above.lines[0].get_label(), above.get_title()) == ("late [m/N]", "from f")
    assert (above.get_ylabel(), below.get_ylabel(), below.get_xlabel()) == (
        "gain",
        "phase [°]",
        "frequency [Hz]",
    )
    assert above.lines[1].get_xdata()[0] == pytest.approx(
        math.sqrt((D / LAG + K) / M) / (2 * math.pi), rel=1e-6
    )  # where the denominator is real
    one = root_scalar(lambda w: abs(loop(w)) - 1.0, bracket=(5.0, 100.0)).root
    assert below.lines[1].get_xdata()[0] == pytest.approx(one / (2 * math.pi), rel=1e-6)

    (place,) = figures["nyquist"].axes
    values = values[np.abs(values) < 20.0]
    assert line(place) == pytest.approx(
        np.column_stack((values.real, values.imag)), rel=1e-9, abs=1e-12
    )
    assert np.hypot(*line(place, 1).T) == pytest.approx(1.0) and line(place, 2).tolist() == [
        [-1.0, 0.0]
    ]
    assert (place.get_xlabel(), place.get_ylabel(), place.get_aspect()) == (
        "real part",
        "imaginary part",
        1.0,
    )

    (place,) = figures["poles"].axes
    shown = [line(place, k) @ [1.0, 1j] for k in range(2)]
    assert np.poly(shown[0]) == pytest.approx(polynomial(K) / (M * LAG), rel=1e-9)
    assert shown[1] == pytest.approx([-0.5 / LAG]) and [
        each.get_label() for each in place.lines[:2]
    ] == ["poles", "zeros"]  # 2 - 1/(0.1 s + 1) = 0
    assert (place.get_xlabel(), place.get_ylabel()) == ("real part [1/s]", "imaginary part [rad/s]")

    place, scale = figures["locus"].axes
    points, stiffness = (
        place.collections[0].get_offsets() @ [1.0, 1j],
        np.asarray(place.collections[0].get_array()),
    )
    assert (stiffness.min(), stiffness.max(), scale.get_ylabel()) == (
        pytest.approx(20.0),
        pytest.approx(200.0),
        "k [N/m]",
    )
    for k in np.unique(stiffness):
        assert np.poly(points[stiffness == k]) == pytest.approx(polynomial(k) / (M * LAG), rel=1e-8)


def test_stability_map_shows_border(tmp_path: Path, figures: dict[str, Any]):
    """Growth -d/2m and frequency √(k/m) over k and d, and the border at d = 0."""
    written(tmp_path, "-k*x - d*der(x)", START)
    text = 'mechanism = "m.json"\nrest = ["growth", "frequency"]\n[vary]\nk = [30.0, 50.0, 80.0]\nd = [-3.0, -1.0, 2.0, 4.0]\n'
    (tmp_path / "s.toml").write_text(text)
    assert (
        cli.main(["study", str(tmp_path / "s.toml"), "-q", "--report", str(tmp_path / "s.html")])
        == 0
    )
    axes = {
        place.get_ylabel(): place
        for place in figures["Measures over two parameters; red: border of stability"].axes
    }
    d, k = np.meshgrid([-3.0, -1.0, 2.0, 4.0], [30.0, 50.0, 80.0])
    places = [
        place
        for place in figures["Measures over two parameters; red: border of stability"].axes
        if place.get_ylabel() == "k"
    ]
    for place, label, values in zip(
        places, ("growth", "frequency"), (-d / (2 * M), np.sqrt(k / M) / (2 * np.pi)), strict=True
    ):
        mesh, border = place.collections
        assert np.asarray(mesh.get_array()).reshape(k.shape) == pytest.approx(values, rel=1e-8)
        corners = mesh.get_coordinates()
        assert (np.diff(corners[0, :, 0]) > 0.0).all()
        for column, value in enumerate(d[0]):  # every value lies in its own cell
            assert corners[0, column, 0] < value < corners[0, column + 1, 0]
        for row, value in enumerate(k[:, 0]):
            assert corners[row, 0, 1] < value < corners[row + 1, 0, 1]
        assert border.get_paths()[0].vertices[:, 0] == pytest.approx(0.0, abs=1e-8)
        assert place.get_xlabel() == "d" and label in axes


def test_sobol_bars_match_indices(figures: dict[str, Any]):
    """3 u + v of uniform u and v: nine tenths of the variance are of u; bars and their bounds are the rows."""
    points = saltelli(2, 512, 0)
    section = shares(np.column_stack((points, points @ [3.0, 1.0])), ["u", "v", "sum"], 2)
    rows = np.array(section.tables[0]["rows"])[:, 1:].astype(float)
    (place,) = figures["Sobol indices"].axes
    bars = [
        container
        for container in place.containers
        if len(container) == 2 and hasattr(container, "patches")
    ]
    heights = np.array([[bar.get_height() for bar in each.patches] for each in bars])
    middles = np.array(
        [[bar.get_x() + bar.get_width() / 2 for bar in each.patches] for each in bars]
    )
    bounds = np.array(
        [
            np.ptp(np.array(each.errorbar.lines[2][0].get_segments())[:, :, 1], axis=1) / 2
            for each in bars
        ]
    )
    assert [each.get_label() for each in bars] == ["first order", "total"] and np.round(
        middles
    ).tolist() == [[0, 1], [0, 1]]
    assert heights == pytest.approx(np.array([[0.9, 0.1]] * 2), abs=0.03)
    assert heights == pytest.approx(rows[:, [0, 2]].T, rel=6e-6) and bounds == pytest.approx(
        rows[:, [1, 3]].T, rel=6e-6
    )
    assert [text.get_text() for text in place.get_xticklabels()] == [
        "u",
        "v",
    ] and place.get_title() == "sum"


def counted(patches: Any, values: np.ndarray) -> int:
    """Sum of the heights of bars, each of which is counted anew."""
    bars = [(bar.get_x(), bar.get_x() + bar.get_width(), bar.get_height()) for bar in patches]
    for low, high, height in bars:
        # a value on a border may be rounded into either bar
        inside = (values > low + 1e-9) & (values < high - 1e-9)
        near = (np.abs(values - low) <= 1e-9) | (np.abs(values - high) <= 1e-9)
        assert inside.sum() <= height <= inside.sum() + near.sum()
    return round(sum(height for _, _, height in bars))


def test_study_histograms_are_drawn(figures: dict[str, Any]):
    values = np.random.default_rng(1).normal(size=(50, 3))
    values[7, 2] = np.nan
    histograms(values, ["k", "first", "second"], 1)
    for place, column in zip(figures["Measures over all runs"].axes, values[:, 1:].T, strict=False):
        assert counted(place.patches, column[np.isfinite(column)]) == np.isfinite(column).sum()
    assert [place.get_xlabel() for place in figures["Measures over all runs"].axes] == [
        "first",
        "second",
        "",
    ]


def step(k: float, m: Any, t: np.ndarray) -> np.ndarray:
    """Of 1 N, from rest."""
    a = D / (2 * m)
    w = np.sqrt(k / m - a * a)
    return (1.0 - np.exp(-a * t) * (np.cos(w * t) + a / w * np.sin(w * t))) / k


def test_variant_plot_shows_deviations(tmp_path: Path, figures: dict[str, Any]):
    """Deviations after a step of 1 N on springs of 50 and 200 N/m, and the share of runs below a deviation over spread masses."""
    written(tmp_path, "if(t > 0, push, 0) - k*x - d*der(x)")
    text = 'mechanism = "m.json"\nhold = ["x"]\nband = 1e-3\nsamples = 8\n[run]\nstop_time = 2.0\noutput_step = 0.005\ntolerance = 1e-9\n'
    (tmp_path / "c.toml").write_text(
        text + "[vary]\nm = { uniform = [1.0, 3.0] }\n[ways.soft]\n[ways.stiff]\nk = 200.0\n"
    )
    assert (
        cli.main(["study", str(tmp_path / "c.toml"), "-q", "--report", str(tmp_path / "c.html")])
        == 0
    )
    (place,), (below,) = (
        figures[name].axes
        for name in ("Deviations from the start", "How many runs stay below a deviation")
    )
    assert (place.get_xlabel(), place.get_ylabel()) == ("time [s]", "x, deviation [mm]")
    assert (below.get_xlabel(), below.get_ylabel()) == (
        "x, largest deviation [mm]",
        "share of the runs",
    )
    masses = drawn("latin", {"m": Distribution("uniform", 1.0, 3.0)}, 8, 0)["m"]
    for number, (way, k) in enumerate((("soft", 50.0), ("stiff", 200.0))):
        time, deviation = line(place, number).T
        assert place.lines[number].get_label() == below.lines[number].get_label() == way
        assert time[-1] == pytest.approx(2.0) and deviation == pytest.approx(
            1e3 * step(k, M, time), abs=1e-4
        )
        largest = np.sort([1e3 * step(k, m, time).max() for m in masses])
        assert line(below, number) == pytest.approx(
            np.column_stack((largest, np.arange(1, 9) / 8)), rel=1e-4
        )


def test_hil_plots_are_drawn(tmp_path: Path, figures: dict[str, Any]):
    """The drawn place follows from the drawn command held over every step; every bar of the times is counted anew."""
    written(
        tmp_path, "f - 1.0*der(x)", inputs={"f": {"start": 0.0}}, outputs={"place": {"value": "x"}}
    )
    (tmp_path / "loop.toml").write_text(SCENARIO.format(channel="delay = 0.004"))
    record = simulate(read_scenario(tmp_path / "loop.toml"))
    record.computing, record.lateness = (
        [1e-6 * (k + 0.5) for k in range(1000)],
        [3.3e-6] * 700 + [7.7e-6] * 300,
    )
    record.bare = [1.1e-6] * 900 + [5.5e-6] * 100
    write_report(record, tmp_path / "l.html")
    axes = {place.get_ylabel(): place for place in figures["Measures and commands"].axes}
    (time, place), (_, f) = line(axes["place"]).T, line(axes["f"]).T
    h, fade = time[1] - time[0], math.exp(-(time[1] - time[0]) / M)
    expected, x, v = [], 0.0, 0.0
    for force in f:
        x, v = x + force * h + (v - force) * M * (1.0 - fade), force + (v - force) * fade
        expected.append(x)
    assert place == pytest.approx(np.array(expected), abs=1e-7) and place.max() > 0.5
    assert figures["Measures and commands"].axes[-1].get_xlabel() == "time [s]"
    computing, lateness = figures["Up to the 99.9th percentile"].axes
    times = 1e6 * np.array(record.computing)
    assert counted(computing.patches, times) == 999  # the largest one lies beyond the picture
    assert counted(lateness.patches[:60], 1e6 * np.array(record.lateness)) == 1000
    assert lateness.patches[60].get_xy()[1::2, 1].sum() == pytest.approx(1000.0, abs=1.0)
    assert [place.get_xlabel() for place in (computing, lateness)] == [
        "computing of a step [µs]",
        "lateness [µs]",
    ]


TASK = """
mechanism = "m.json"
[optimize]
{more}
[optimize.variables]
d = {{ from = 5, to = 40, start = 8 }}
[optimize.measures]
"integral(square)" = 1.0
{second}
[run]
stop_time = 20.0
output_step = 0.01
tolerance = 1e-9
"""
OUTPUTS = {"square": {"value": "x**2"}, "haste": {"value": "der(x)**2"}}


def test_pareto_front_plot_is_drawn(tmp_path: Path, figures: dict[str, Any]):
    """∫x² = x0² (M/d + d/K)/2 against ∫ẋ² = K x0²/(2 d): drawn points lie on that curve, are the rows, and none is better in both."""
    written(tmp_path, "-k*x - d*der(x)", START, outputs=OUTPUTS)
    (tmp_path / "o.toml").write_text(
        TASK.format(more="pareto = 3", second='"integral(haste)" = 1.0')
    )
    assert (
        cli.main(["optimize", str(tmp_path / "o.toml"), "-q", "--report", str(tmp_path / "o.html")])
        == 0
    )
    (place,) = figures["integral(square) against integral(haste)"].axes
    haste, square = line(place).T
    d = K * START**2 / (2 * haste)
    assert square == pytest.approx(START**2 * (M / d + d / K) / 2, rel=2e-3)
    rows = np.array(
        [numbers(row[1:]) for row in Page(tmp_path / "o.html").rows("d", "integral(square)")]
    )
    assert np.column_stack((square, haste)) == pytest.approx(rows, rel=6e-6)
    assert not any(
        (square < a).any() and ((square < a) & (haste < b)).any()
        for a, b in zip(square, haste, strict=True)
    )
    assert (place.get_xlabel(), place.get_ylabel()) == ("integral(haste)", "integral(square)")


def test_optimisation_progress_plot_is_drawn(tmp_path: Path, figures: dict[str, Any]):
    """The best so far: the running minimum of ∫x² by its formula at the points of the state file, down to the known least value."""
    written(tmp_path, "-k*x - d*der(x)", START, outputs=OUTPUTS)
    (tmp_path / "o.toml").write_text(TASK.format(more="", second=""))
    state = tmp_path / "o.jsonl"
    assert (
        cli.main(
            [
                "optimize",
                str(tmp_path / "o.toml"),
                "-q",
                "--state",
                str(state),
                "--report",
                str(tmp_path / "o.html"),
            ]
        )
        == 0
    )
    (place,) = figures["Best objective over evaluations"].axes
    count, best = line(place).T
    made = [json.loads(text) for text in state.read_text().splitlines()[1:]]
    assert count.tolist() == list(range(1, len(made) + 1))
    d = 5.0 + 35.0 * np.array([each["at"][0] for each in made])
    assert best == pytest.approx(np.minimum.accumulate(START**2 * (M / d + d / K) / 2), rel=1e-6)
    assert best[-1] == pytest.approx(START**2 * math.sqrt(M / K), rel=1e-3)
    assert (place.get_xlabel(), place.get_ylabel()) == ("evaluation", "best objective so far")


def test_run_plot_omits_constant_outputs(tmp_path: Path):
    """Outputs that never change say nothing; coordinates have panels of their own."""
    outputs = {"place": {"value": "2*x", "unit": "m"}, "same": {"value": "3*k"}}
    system = load(written(tmp_path, "-k*x", start=START, outputs=outputs)).compile()
    result = system.simulate(stop_time=0.5)
    assert drawn_of(system, result) == ["place"]
    assert panels(result, system.coordinates, ["place"]) == [
        ("deviation", "m", ["x"]),
        ("value", "m", ["place"]),
    ]


def test_cumulative_deviation_plot_is_drawn(tmp_path: Path, figures: dict[str, Any]):
    """The k-th smallest of n that ran stands at k/n; what failed is counted in the table alone."""
    result = load(written(tmp_path, "-k*x")).compile().simulate(stop_time=0.1)
    wanted = SimpleNamespace(samples=4, hold=["x"], spreads=dict)
    spreads = {"one": {"x": np.array([3.0, 1.0, np.nan, 2.0])}, "none": {"x": np.full(4, np.nan)}}
    robustness(wanted, {"one": result}, spreads)  # pyright: ignore[reportArgumentType]
    place = figures["How many runs stay below a deviation"].axes[0]
    x, y = line(place).T
    assert x / x[0] == pytest.approx([1.0, 2.0, 3.0]) and y == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert line(place, 1).size == 0


def test_fit_plot_shows_measured_and_fitted():
    """Points are the measured values and lines the fitted ones, both in the unit on the axis."""
    time = np.linspace(0.0, 1.0, 20)
    figure = draw_fit(
        time, {"x": 2e-3 * np.sin(time)}, {"x": 3e-3 * np.cos(time)}, "a fit", None, {"x": "m"}
    )
    (place,) = figure.axes
    assert place.get_ylabel() == "x\n[mm]" and place.get_xlabel() == "time [s]"
    assert [each.get_label() for each in place.lines] == ["measured", "fitted"]
    assert line(place) == pytest.approx(np.column_stack((time, 2.0 * np.sin(time))))
    assert line(place, 1) == pytest.approx(np.column_stack((time, 3.0 * np.cos(time))))


def test_stabilisation_diagram_is_drawn():
    """Two decaying swings of 2 and 5 Hz: from order 6 on each order has a stable mark at both; nothing is drawn twice or left out."""
    time = np.arange(0.0, 4.0, 0.02)
    noise = 1e-5 * np.random.default_rng(2).normal(size=time.size)
    record = (
        np.exp(-0.4 * time) * np.sin(2 * np.pi * 2.0 * time)
        + np.exp(-0.6 * time) * np.cos(2 * np.pi * 5.0 * time)
        + noise
    )
    found = stabilisation_diagram(time, {"x": record}, 12)
    (place,) = found.plot().axes
    stable, steady, new = (line(place, k) for k in range(3))
    assert [each.get_label() for each in place.lines] == ["stable", "steady frequency", "new"]
    assert len(stable) + len(steady) + len(new) == len(found.poles)
    for hertz in (2.0, 5.0):
        assert sorted(stable[np.abs(stable[:, 0] - hertz) < 2e-3 * hertz, 1]) == [6, 8, 10, 12]
    assert (place.get_xlabel(), place.get_ylabel()) == ("frequency [Hz]", "order")


def test_measured_response_plot_is_drawn(figures: dict[str, Any]):
    """Dots are the measured values, their phases on the turn of the line that is nearest."""
    lag = np.array([[-1.0, 0.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    system = StateSpace(
        lag, np.eye(3)[:, :1], np.eye(3)[2:], np.zeros((1, 1))
    )  # 1/(s + 1)³: its phase goes down to -270°
    hertz = np.array([0.05, 0.5, 1.5])
    measured = 1.1 / (2j * np.pi * hertz + 1.0) ** 3
    sweep = SimpleNamespace(frequencies=hertz, outputs=("y",), measured=measured[:, None])
    linear_pictures.draw_bode(
        SimpleNamespace(part=lambda *names: system), {}, ["u"], ["y"], {}, Path("dots.png"), sweep
    )  # type: ignore[arg-type]
    above, below = figures["dots"].axes
    assert line(above, 1) == pytest.approx(
        np.column_stack((hertz, 1.1 / (1.0 + (2 * np.pi * hertz) ** 2) ** 1.5))
    )
    assert line(below, 1) == pytest.approx(
        np.column_stack((hertz, -3.0 * np.degrees(np.arctan(2 * np.pi * hertz))))
    )
    assert above.lines[1].get_label() == "y, measured" and above.lines[1].get_marker() == "o"


class Told(dict):
    """Columns with units, as a result has them."""

    name, time = "run", np.linspace(0.0, 1.0, 11)
    events = [
        SimpleNamespace(kind="stage", time=0.4, stage="lifted"),
        SimpleNamespace(kind="zero", time=0.6, stage=""),
    ]

    def unit(self, name: str) -> str:
        return {"heave": "m", "luff": "rad"}.get(name, "Pa")

    def __missing__(self, name: str) -> np.ndarray:
        return np.zeros(self.time.size)  # what does not move


@pytest.fixture(scope="module")
def table() -> Any:
    """The boom on its hydraulic drive, and beside it a table that heaves: coordinates luff and heave."""
    text = (Path(models.__file__).parent / "library" / "boom_drive.toml").read_text()
    description = tomllib.loads(text)
    description["bodies"]["table"] = {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}
    description["joints"]["guide"] = {
        "child": "table",
        "transforms": [{"shift": "x", "coordinate": "heave"}],
    }
    return load(description).compile()


def test_staged_run_plot_marks_stages(table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Panels have values in the unit on their axis, coordinates as deviations from the start; only changes of stage are marked."""
    from matplotlib.figure import Figure

    made: list[Figure] = []
    monkeypatch.setattr(
        Figure, "savefig", lambda figure, path, **more: (made.append(figure), Path(path).touch())
    )
    time, part = Told.time, "hose_a.pressure"
    result = Told(
        {"heave": 0.5 + 2e-3 * np.sin(time), "luff": 1.0 + 3e-3 * time, part: 2e7 + 1e6 * time}
    )
    draw_stages(table, result, tmp_path / "run.png")
    shown = {
        "heave": ("deviation\n[mm]", 2.0 * np.sin(time)),
        "luff": ("deviation\n[mrad]", 3.0 * time),
        part: ("hose a.pressure\n[bar]", 200.0 + 10.0 * time),
    }
    wanted = [(name, *shown[name]) for name in (*table.own_coordinates, part)]
    assert len(wanted) == 3
    for place, (name, label, values) in zip(made[0].axes, wanted, strict=True):
        assert place.get_ylabel() == label and place.lines[0].get_label() == name
        assert line(place) == pytest.approx(np.column_stack((time, values)))
        assert [mark.get_xdata()[0] for mark in place.lines[1:]] == [0.4]  # type: ignore[index]
    assert [text.get_text() for text in made[0].axes[0].texts] == ["lifted"] and made[0].axes[
        -1
    ].get_xlabel() == "time [s]"


@pytest.mark.parametrize(
    "count, named", [(3, 3), (LABELS - 1, LABELS - 1), (2 * LABELS, 18), (10 * LABELS, 24)]
)
def test_stage_labels_are_thinned(
    count: int, named: int, table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """All of them, or every k-th from the first on, k - 1 the whole part of their number over that of the places."""
    from matplotlib.figure import Figure

    made: list[Figure] = []
    monkeypatch.setattr(
        Figure, "savefig", lambda figure, path, **more: (made.append(figure), Path(path).touch())
    )
    result = Told({"heave": np.sin(Told.time)})
    monkeypatch.setattr(
        Told,
        "events",
        [SimpleNamespace(kind="stage", stage=f"s{k}", time=k / count) for k in range(count)],
    )
    draw_stages(table, result, tmp_path / "run.png")
    texts = [text.get_text() for text in made[0].axes[0].texts]
    assert len(texts) == named and texts == [f"s{k}" for k in range(0, count, -(-count // named))]
    assert len(made[0].axes[0].lines) == 1 + count
