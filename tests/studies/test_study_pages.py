"""Pages of studies and of compared ways by hand: which sections they have, what their rows and pictures say, and plans of experiments."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.models.engine.status import EvaluationError
from kinetree.scripts.reports.study_page import Section
from kinetree.scripts.studies import experiment_plans as planned
from kinetree.scripts.studies import stabilisation_report, study_report
from kinetree.scripts.studies.experiment_plans import Plan, law_of, searched
from kinetree.scripts.studies.sobol_indices import indices, problem, saltelli
from kinetree.scripts.studies.stabilisation import system_of
from kinetree.scripts.studies.study import Study
from kinetree.scripts.studies.study_report import (
    histograms,
    maps,
    rank_correlations,
    shares,
    summary,
    write_report,
)
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.solvers.layout import Status


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Figures by their captions; none is rendered."""
    seen: dict[str, Any] = {}
    monkeypatch.setattr(
        Section,
        "picture",
        lambda section, figure, caption: seen.__setitem__(caption, figure) or section,
    )
    return seen


def study(**more: Any) -> Study:
    return Study.model_validate(
        {
            "mechanism": "lib:boom",
            "rest": ["growth"],
            "vary": {"a": [1.0, 2.0, 4.0], "b": [1.0, 3.0]},
            **more,
        }
    )


def sections_of(
    monkeypatch: pytest.MonkeyPatch, wanted: Study, rows: list[list[float]]
) -> list[Section]:
    pages: list[Any] = []
    monkeypatch.setattr(
        study_report,
        "write_page",
        lambda path, title, sections, more: pages.append((sections, more)),
    )
    for name, heading in (
        ("maps", "Maps"),
        ("histograms", "Distributions"),
        ("shares", "Sobol indices"),
    ):
        monkeypatch.setattr(study_report, name, lambda *given, heading=heading: Section(heading))
    write_report(wanted, rows, Path("p.html"))
    ((sections, more),) = pages
    assert (
        more["samples"],
        more["combine"],
        sections[-1].heading,
        len(sections[-1].tables[0]["rows"]),
    ) == (
        len(rows),
        wanted.combine,
        "All runs",
        len(rows),
    )
    return sections


def test_study_report_has_sections_supported_by_its_runs(monkeypatch: pytest.MonkeyPatch):
    """Correlations of three runs at least, maps of a grid of two, distributions of ten runs at least; runs without numbers count nowhere."""
    rows = [[a, b, a - 2.0 * b] for a in (1.0, 2.0, 4.0) for b in (1.0, 3.0)]
    names = lambda sections: [each.heading for each in sections]  # noqa: E731
    assert names(sections_of(monkeypatch, study(), rows)) == [
        "Results",
        "Rank correlation",
        "Maps",
        "All runs",
    ]
    first, *_ = sections_of(
        monkeypatch,
        study(),
        [*rows[:2], [4.0, 1.0, math.nan], *[[2.0, k, math.nan] for k in (1.0, 3.0, 4.0)]],
    )
    assert first.texts[-1].startswith("4 of 6 runs failed") and first.texts[0].startswith(
        "0 % of 2 runs have an unstable equilibrium"
    )
    drawn = study(combine="random", samples=9)
    assert names(sections_of(monkeypatch, drawn, rows[:2])) == ["Results", "All runs"]
    assert names(sections_of(monkeypatch, drawn, rows[:3])) == [
        "Results",
        "Rank correlation",
        "All runs",
    ]
    many = [[float(k), float(k * k % 7), float(k)] for k in range(10)]
    assert names(sections_of(monkeypatch, drawn, many[:9])) == [
        "Results",
        "Rank correlation",
        "All runs",
    ]
    assert names(sections_of(monkeypatch, drawn, many)) == [
        "Results",
        "Rank correlation",
        "Distributions",
        "All runs",
    ]
    single = study(vary={"a": [1.0, 2.0, 4.0], "b": [1.0]})
    assert "Maps" not in names(
        sections_of(monkeypatch, single, [[a, 1.0, -a] for a in (1.0, 2.0, 4.0)])
    )
    three = study(vary={"a": [1.0, 2.0], "b": [1.0, 3.0], "c": [1.0, 2.0]})
    assert "Maps" not in names(sections_of(monkeypatch, three, [[1.0, 1.0, 1.0, 2.0]] * 8))
    whole = [[float(k), float(k % 3), float(k)] for k in range(16)]
    wanted = study(combine="indices", samples=4)
    assert "Sobol indices" in names(sections_of(monkeypatch, wanted, whole))
    assert "Sobol indices" not in names(
        sections_of(monkeypatch, wanted, [*whole[:-1], [0.5, 0.5, math.nan]])
    )


def test_study_report_lists_percentiles_and_share_of_unstable_runs():
    """Of what has numbers; a rest that neither grows nor falls does not grow."""
    wanted = study(combine="latin", vary={"a": [1.0, 2.0], "b": {"normal": [1.0, 0.5]}})
    values = np.array(
        [[1.0, 0.0, -1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.5], [1.0, 0.0, 2.0], [2.0, 0.0, math.nan]]
    )
    section = summary(wanted, values, wanted.columns(), 2)
    assert section.tables[0]["head"] == [
        "measure",
        "1 %",
        "5 %",
        "50 %",
        "95 %",
        "99 %",
        "smallest",
        "largest",
    ]
    ((name, *row),) = section.tables[0]["rows"]
    expected = [*np.percentile([-1.0, 0.0, 0.5, 2.0], (1, 5, 50, 95, 99)), -1.0, 2.0]
    assert name == "growth" and [float(cell) for cell in row] == pytest.approx(expected, rel=1e-5)
    assert section.texts == [
        "40 % of 5 runs have an unstable equilibrium.",
        "b: normal(1, 0.5)",
    ]
    plain = study(rest=["damping"])
    assert summary(plain, values, plain.columns(), 2).texts == []


def test_values_that_differ_by_rounding_have_one_rank():
    """From the ninth digit of the largest on; what has no number and what is constant follows nothing."""
    a = np.array([1.0, 2.0, 3.0, 4.0])
    y = np.array([1e6, 1e6 + 1e-4, 2e6, 3e6])
    found = rank_correlations(
        np.column_stack((a, a[::-1], y, -a, [1.0, math.nan, 2.0, 3.0], np.zeros(4), a + 1e-7)), 2
    )
    tied = np.corrcoef([1, 2, 3, 4], [1.5, 1.5, 3, 4])[0, 1]
    assert (
        found[0] == pytest.approx([tied, -tied], abs=1e-9)
        and found[1].tolist() == [-1.0, 1.0]
        and found[4].tolist() == [1.0, -1.0]
    )
    assert found[2:4].tolist() == [[0.0, 0.0], [0.0, 0.0]] and not np.signbit(found[3]).any()


def test_sobol_indices_are_scale_invariant():
    pytest.importorskip("SALib")
    assert problem("ab") == {"num_vars": 2, "names": ["a", "b"], "bounds": [[0.0, 1.0], [0.0, 1.0]]}
    points = saltelli(2, 32, 3)
    assert points.shape == (32 * 4, 2) and points.min() >= 0.0 and points.max() <= 1.0
    values = points @ [3.0, 1.0]
    small, large = (indices(each, ["a", "b"]) for each in (values, 5e6 + 1e3 * values))
    assert all(
        large[key] == pytest.approx(small[key], rel=1e-6, abs=1e-9)
        for key in ("S1", "S1_conf", "ST", "ST_conf")
    )
    same = indices(values, ["a", "b"])
    assert all((same[key] == small[key]).all() for key in same), (
        "bounds are drawn with one and the same seed"
    )


def test_sobol_shares_are_plotted(figures: dict[str, Any]):
    """Bars of two fifths to either side of their parameter, three measures at most; all of them have their table."""
    pytest.importorskip("SALib")
    points = saltelli(2, 16, 0)
    names = ["u", "v", *(f"m{k}" for k in range(4))]
    section = shares(
        np.column_stack((points, *(points @ [k + 1.0, 1.0] for k in range(4)))), names, 2
    )
    axes = figures["Sobol indices"].axes
    assert (
        len(axes) == 3
        and [place.get_title() for place in axes] == ["m0", "m1", "m2"]
        and [each["title"] for each in section.tables] == names[2:]
    )
    for place in axes:
        first, total = (each for each in place.containers if hasattr(each, "patches"))
        for bars, shift in ((first, -0.2), (total, 0.2)):
            assert [bar.get_x() + bar.get_width() / 2 for bar in bars.patches] == pytest.approx(
                [shift, 1.0 + shift]
            )
            assert [bar.get_width() for bar in bars.patches] == pytest.approx([0.4, 0.4])
        assert place.get_legend() is not None
    one = shares(np.column_stack((points, points @ [1.0, 1.0])), names[:3], 2)
    assert len(figures["Sobol indices"].axes) == 1 and len(one.tables) == 1


@pytest.mark.parametrize(("count", "rows"), [(3, 1), (14, 4)])
def test_study_report_draws_up_to_twelve_histograms(figures: dict[str, Any], count: int, rows: int):
    values = np.random.default_rng(2).normal(size=(30, 1 + count))
    histograms(values, ["k", *(f"m{k}" for k in range(count))], 1)
    axes = figures["Measures over all runs"].axes
    shown = [place for place in axes if place.axison]
    assert len(axes) == 3 * rows and [place.get_xlabel() for place in shown] == [
        f"m{k}" for k in range(min(count, 12))
    ]
    for k, place in enumerate(shown):
        edges = [bar.get_x() for bar in place.patches]
        assert (
            len(edges) == 40
            and edges[0] == pytest.approx(values[:, 1 + k].min())
            and sum(bar.get_height() for bar in place.patches) == 30
        )
        assert place.get_ylabel() == "runs"


@pytest.mark.parametrize(
    ("name", "low", "high", "border"),
    [
        ("growth", -1.0, 0.25, 0.0), ("growth", 0.0, 1.0, None), ("growth", -1.0, 0.0, None), ("modulus_margin", 1e-3, 0.5, 1e-3),
        ("modulus_margin", 0.0, 1e-3, None), ("modulus_margin", 1.1e-3, 0.5, None), ("damping", -1.0, 1.0, None),
    ],
)  # fmt: skip
def test_stability_border_is_drawn(
    figures: dict[str, Any], name: str, low: float, high: float, border: float | None
):
    """Where growth changes its sign, or loops hardly stand; axes are those of the parameters, the last places stay empty."""
    wanted = study(
        rest=[name], report={"x": ["max", "end"]}, vary={"a": [1.0, 2.0, 4.0], "b": [1.0, 3.0]}
    )
    level = np.array([low, high, low, high, low, high])
    values = np.array([[a, b, 10.0 * a + b, a * b] for a in (1.0, 2.0, 4.0) for b in (1.0, 3.0)])
    maps(wanted, np.column_stack((values, level)), wanted.columns())
    axes = figures["Measures over two parameters; red: border of stability"].axes
    places = [place for place in axes if place.get_ylabel() == "a"]
    assert (
        len(places) == 3
        and [place.get_xlabel() for place in places] == ["b"] * 3
        and sum(not place.axison for place in axes) == 1
    )
    for place, column in zip(places, (values[:, 2], values[:, 3], level), strict=True):
        mesh, *lines = place.collections
        assert np.asarray(mesh.get_array()).ravel().tolist() == column.tolist() and len(lines) == (
            border is not None
        )
        if border is not None:
            assert lines[0].get_paths()[0].vertices[:, 0] == pytest.approx(
                1.0 + 2.0 * (border - low) / (high - low)
            )


class Ran(dict):
    time = np.arange(5.0)
    events: Any = [SimpleNamespace(time=1.0, stage="swing")]

    def unit(self, name: str) -> str:
        return {"x": "m", "n": ""}[name]


@pytest.mark.parametrize("disturbed", ["swing", ""])
def test_comparison_plot_shows_deviations_and_band(disturbed: str):
    """In thousandths where they are small lengths; disturbances are marked where there are any."""
    wanted: Any = SimpleNamespace(hold=["x", "n"], band=0.25, disturbed=disturbed, until="")
    runs: Any = {
        "soft": Ran(x=np.array([1.0, 2.0, 0.5, 1.0, 1.0]), n=np.arange(5.0)),
        "stiff": Ran(x=np.ones(5), n=np.zeros(5)),
    }
    above, below = stabilisation_report.drawing(wanted, runs).axes
    assert above.lines[0].get_ydata().tolist() == [0.0, 1e3, -500.0, 0.0, 0.0] and below.lines[
        0
    ].get_ydata().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    ways = [line for line in above.lines if line.get_label() in ("soft", "stiff")]
    assert len(ways) == 2 and [line.get_xdata()[0] for line in above.lines[2:]] == (
        [1.0] if disturbed else []
    )
    for place, size in ((above, 250.0), (below, 0.25)):
        box = (
            place.patches[0].get_bbox()
            if hasattr(place.patches[0], "get_bbox")
            else place.patches[0].get_extents()
        )
        assert (box.y0, box.y1) == (-size, size)
    assert (above.get_ylabel(), below.get_ylabel()) == ("x, deviation [mm]", "n, deviation [1]")
    assert (above.get_xlabel(), below.get_xlabel()) == (
        "",
        "time [s]",
    ) and above.get_legend() is not None
    assert above.get_title() == (
        "Dashed: disturbances; grey: settled" if disturbed else "Grey: settled"
    )


def test_variant_modes_and_margins_are_listed(monkeypatch: pytest.MonkeyPatch):
    """The slowest swing, the smallest damping, delay margins in ms; a way without a rest says why."""
    margins = SimpleNamespace(stable=True, gain=2.0, phase=40.0, delay=0.25, modulus=0.5)
    modes = [
        SimpleNamespace(
            frequency=f, damping=d, oscillates=True, eigenvalue=complex(-d, 2 * math.pi * f)
        )
        for f, d in ((3.0, 0.1), (2.0, 0.2), (5.0, 0.4))
    ]

    def rest(system: str, inputs: Any) -> Any:
        if system == "lost":
            raise EvaluationError("it tips over", Status.SINGULAR_BODY)
        found = modes if system == "held" else []
        values = np.array([each.eigenvalue for each in found] or [-2.0 + 0j])
        loops = [SimpleNamespace(name="c", margins=margins)] if system == "held" else []
        return SimpleNamespace(
            linear=SimpleNamespace(eigenvalues=values, modes=lambda: found), loops=loops
        )

    monkeypatch.setattr(stabilisation_report, "AtRest", rest)
    monkeypatch.setattr(stabilisation_report, "system_of", lambda wanted, way: way)
    wanted: Any = SimpleNamespace(ways={"held": {}, "lost": {}, "free": {}}, options=dict)
    section = stabilisation_report.at_rest(wanted)
    small, loops = section.tables
    assert small["rows"] == [
        ["held", "-0.1", "2", "0.1"],
        ["free", "-2", "–", "–"],
    ] and section.texts == ["lost: it tips over"]
    assert loops["rows"] == [["held", "c", "stable", "2", "40", "250", "0.5"]]
    wanted.ways = {"free": {}}
    assert len(stabilisation_report.at_rest(wanted).tables) == 1


def test_variant_percentiles_are_listed(figures: dict[str, Any]):
    """Of the runs that have numbers, in thousandths; failed ones are counted, and a way that only failed has nothing to tell."""
    wanted: Any = SimpleNamespace(samples=5, hold=["x"], spreads=lambda: {"m": "normal(1, 2)"})
    values = np.array([0.003, 0.001, math.nan, 0.002, 0.009])
    section = stabilisation_report.robustness(
        wanted,
        {"soft": Ran(x=values)},
        {"soft": {"x": values}, "lost": {"x": np.full(5, math.nan)}},
    )  # type: ignore[dict-item]
    expected = np.percentile([1.0, 2.0, 3.0, 9.0], (5, 50, 95))
    assert section.tables[0]["head"] == ["", "way", "5 %", "50 %", "95 %", "largest", "failed"]
    first, lost = section.tables[0]["rows"]
    assert first[:2] == ["x", "soft"] and [float(cell) for cell in first[2:]] == pytest.approx(
        [*expected, 9.0, 1.0], rel=1e-5
    )
    assert lost == ["x", "lost", "–", "–", "–", "0", "5"] and section.texts == [
        "Largest deviations over 5 runs per variant, parameters from a Latin hypercube:", "m: normal(1, 2)"
    ]  # fmt: skip
    (place,) = figures["How many runs stay below a deviation"].axes
    assert (
        place.lines[0].get_ydata().tolist() == [0.25, 0.5, 0.75, 1.0]
        and place.get_legend() is not None
    )


def test_variant_page_names_best(monkeypatch: pytest.MonkeyPatch, figures: dict[str, Any]):
    pages: list[Any] = []
    monkeypatch.setattr(
        stabilisation_report,
        "write_page",
        lambda path, title, sections, more: pages.append((title, sections, more)),
    )
    monkeypatch.setattr(
        stabilisation_report, "at_rest", lambda wanted: Section("Small motions at rest")
    )
    monkeypatch.setattr(
        stabilisation_report, "robustness", lambda *given: Section("With other numbers")
    )
    wanted: Any = SimpleNamespace(
        hold=["x"], band=0.25, disturbed="", until="", energy="", show=[],
        ways={"soft": {"k": 1.0}, "stiff": {}}, mechanism="lib:x", settings={"pace": 2.0},
        path=Path("/a/c.toml"),
    )  # fmt: skip
    runs: Any = {
        "soft": Ran(x=np.array([1.0, 2.0, 1.0, 1.0, 1.0])),
        "stiff": Ran(x=np.array([1.0, 1.5, 1.0, 1.0, 1.0])),
    }
    for spreads, count in (({}, 2), ({"soft": {}}, 3)):
        stabilisation_report.write_report(wanted, runs, spreads, Path("p.html"))
        title, sections, more = pages[-1]
        assert (
            len(sections) == count
            and sections[0].texts[1:] == ["x: least by stiff."]
            and len(sections[0].tables[0]["rows"]) == 2
        )
        told = {
            "file": "c.toml",
            "mechanism": "lib:x",
            "settings": {"pace": 2.0},
            "way soft": {"k": 1.0},
            "way stiff": "as described",
        }
        assert title == "Stabilisation of lib:x" and more == told


def test_comparison_names_exist_in_mechanism(monkeypatch: pytest.MonkeyPatch):
    """Parameters of the way and of what varies, held values, the energy, and stages by how they begin."""
    from kinetree.scripts.studies import stabilisation

    compiled = SimpleNamespace(
        outputs=[SimpleNamespace(name="y")], coordinates=("q",), speeds=("der(q)",), states=("s",)
    )
    system = SimpleNamespace(
        compiled=compiled, stages=[SimpleNamespace(name="swing 1"), SimpleNamespace(name="")]
    )
    mechanism = SimpleNamespace(
        description=SimpleNamespace(parameters={"k": 1, "m": 1}), compile=lambda **way: system
    )
    monkeypatch.setattr(stabilisation, "load", lambda source, **settings: mechanism)
    given = {
        "hold": ["y", "q", "der(q)"],
        "energy": "s",
        "ways": {"a": {"k": 1.0}},
        "vary": {"m": 1},
        "disturbed": "swing",
        "until": "",
        "path": "c.toml",
    }

    def asked(**more):
        return SimpleNamespace(**{**given, **more}, settings={}, source=lambda: "lib:pendulum")

    assert (
        system_of(asked(), "a") is system
        and system_of(asked(energy="", disturbed=""), "a") is system
    )  # type: ignore[arg-type]
    for change, said in (
        ({"hold": ["z"]}, "no column 'z'"), ({"energy": "z"}, "no column 'z'"), ({"vary": {"z": 1}}, "no parameter 'z'"),
        ({"ways": {"a": {"z": 1.0}}}, "no parameter 'z'"), ({"until": "travel"}, "no stage begins with 'travel'; stages: swing 1"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=said):
            system_of(asked(**change), "a")  # type: ignore[arg-type]
    system.stages = []
    with pytest.raises(BadInput, match="stages: none"):
        system_of(asked(), "a")  # type: ignore[arg-type]


def test_experiment_laws_depend_on_time_and_varied_numbers():
    assert law_of(2.5, "here", {}) == 2.5
    law = law_of("a*t + 1", "here", {"a": 3.0})
    assert callable(law) and (law(0.0), law(2)) == (1.0, 7.0)
    for wrong in ("a*t + b", "t +", "1/0"):
        with pytest.raises(BadInput, match=r"^here: "):
            law_of(wrong, "here", {"a": 3.0})


def test_experiment_plans_are_combined(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """One experiment has nothing to be taken together with; a deviation without end is none that one could write."""
    import kinetree.models.analysis.experiment_information as experiments
    import kinetree.models.analysis.identification as identification
    from kinetree.scripts.studies import experiment_search as excitation

    asked: list[Any] = []

    def told(deviation: float) -> Any:
        return SimpleNamespace(
            deviations={"k": deviation}, score=lambda sizes: 10.0 * deviation + sizes[0]
        )

    monkeypatch.setattr(identification, "checked_parameters", lambda mechanism, wanted: {"k": 4.0})
    monkeypatch.setattr(
        experiments,
        "experiment_information",
        lambda *given: asked.append(given) or {label: told(0.5) for label in given[2]},
    )
    monkeypatch.setattr(experiments, "combined_information", lambda found: told(math.inf))
    monkeypatch.setattr(
        excitation,
        "best_excitation",
        lambda mechanism, task, made: asked.append((task, made({"a": 2.0}))) or {"a": 2.0},
    )
    path = tmp_path / "p.toml"
    head = 'stop_time = 4.0\noutput_step = 0.5\n[noise]\nx = 1e-3\n[experiments.one]\ninputs = { f = "a*t" }\nset = { m = 3.0 }\n'
    path.write_text(head + "vary = { a = [1, 3] }\nmost = { x = 0.5 }\n")
    found = planned.told_by(None, path, ["k"])  # type: ignore[arg-type]
    assert found == {
        "parameters": {"k": 4.0},
        "experiments": {"one": {"deviations": {"k": 0.5}, "score": 9.0, "found": {"a": 2.0}}},
    }
    task, made = asked[0]
    assert (
        task.parameters,
        task.noise,
        task.stop_time,
        task.output_step,
        task.bounds,
        task.most,
    ) == (
        ["k"],
        {"x": 1e-3},
        4.0,
        0.5,
        {"a": (1.0, 3.0)},
        {"x": 0.5},
    )
    assert (
        made.settings == {"m": 3.0}
        and made.inputs["f"](3.0) == 6.0
        and asked[1][2]["one"].inputs["f"](3.0) == 6.0
    )
    path.write_text(head.replace("a*t", "2*t") + "[experiments.two]\n")
    rows = planned.told_by(None, path, ["k"])["experiments"]  # type: ignore[arg-type]
    assert (
        list(rows) == ["one", "two", "all together"]
        and rows["all together"]["deviations"] == {"k": None}
        and "found" not in rows["one"]
    )
    for vary, said in (
        ({"a": (3.0, 3.0)}, "the lower one first, found 3 and 3"),
        ({"b": (1.0, 2.0)}, "no law of its inputs has this number"),
    ):
        plan = Plan.model_validate(
            {
                "stop_time": 1,
                "output_step": 1,
                "noise": {"x": 1},
                "experiments": {"e": {"inputs": {"f": "a*t", "g": 1.0}, "vary": vary}},
            }
        )
        with pytest.raises(BadInput, match=said):
            searched(None, path, ["k"], plan, "e")  # type: ignore[arg-type]
