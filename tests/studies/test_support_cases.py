"""Studies of supports by hand: descriptions of cases, soil, margins, what is looked at in a run, preloads by halves, and the rows of their report."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.models.expressions.parse import evaluate_constant
from kinetree.scripts.reports.study_page import Section
from kinetree.scripts.studies import support_study as supports
from kinetree.scripts.studies import supports_report
from kinetree.scripts.studies.support_study import Case, NotPossible, Study, tilted
from kinetree.scripts.studies.supports_file import Supports
from kinetree.scripts.studies.supports_report import (
    axis_of,
    curves,
    disturbances,
    loads,
    name_of,
    number,
    overview,
    points,
    thousandth,
    title_of,
)

LEGS = {
    f"leg{k}": {"kind": "jack", "point": [x, y, "h"]}
    for k, (x, y) in enumerate(((1.0, 0.5), (-1.0, 0.5), (-1.0, -0.5), (3.0, -0.5)), 1)
}
BASE = {
    "parameters": {"push": {"value": 3.0, "unit": "N"}, "reach": 0.5, "law": "2*push"}, "forces": {**LEGS, "post": {"kind": "jack"}},
    "run": {"stop_time": 2.0},
}  # fmt: skip
GROUND = {"bedding": 1e7, "damping": 1e5, "footprint": 0.5, "hardening": 1e6}


def wanted(**more: Any) -> Supports:
    given = {
        "mechanism": "lib:x",
        "supports": ["leg*"],
        "hold": ["x"],
        "vary": {"push": [1.0]},
        "extension": "reach",
        **more,
    }
    return Supports.model_validate(given)


def made(**more: Any) -> Study:
    found = Study.__new__(Study)
    found.wanted, found.base, found.supports, found.others, found.corner = (
        wanted(**more),
        BASE,
        list(LEGS),
        ["post"],
        "leg2",
    )
    return found


def test_support_case_changes_one_quantity():
    """Nothing, a parameter, the ground, a place or gravity; a run that prepares nothing comes to rest first. What it is made from stays."""
    plain = made().description("", math.nan)
    assert plain == BASE | {"run": {"stop_time": 2.0, "prepare": [{"name": "at rest"}]}} and BASE[
        "run"
    ] == {"stop_time": 2.0}
    pushed = made().description("push", 5.0)
    assert pushed["parameters"] == BASE["parameters"] | {"push": {"value": 5.0, "unit": "N"}}
    reached = made().description("", math.nan, 0.75)
    assert (
        reached["parameters"] == BASE["parameters"] | {"reach": {"value": 0.75}}
        and reached["forces"] == BASE["forces"]
    )
    made().base["run"] = {"prepare": [{"name": "own"}]}
    try:
        assert made().description("", math.nan)["run"] == {"prepare": [{"name": "own"}]}
    finally:
        BASE["run"] = {"stop_time": 2.0}
    spread = made().description("spread", 2.0)
    assert (
        spread["forces"]["post"] == {"kind": "jack"}
        and "gravity" not in spread
        and "soil" not in spread["forces"]["leg1"]
    )
    for name, (x, y) in {
        "leg1": (1.5, 1.0),
        "leg2": (-2.5, 1.0),
        "leg4": (5.5, -1.0),
    }.items():  # about (0.5, 0)
        point = spread["forces"][name]["point"]
        assert (
            [evaluate_constant(text, {}) for text in point[:2]] == [x, y]
            and point[2] == "h"
            and len(point) == 3
        )
    for key, expected in (("slope", (-0.75, 0.0, -1.0)), ("cross_slope", (0.0, -0.75, -1.0))):
        gravity = [evaluate_constant(text, {}) for text in made().description(key, 0.75)["gravity"]]
        assert gravity == pytest.approx(9.81 * np.array(expected) / 1.25, abs=1e-12)


@pytest.mark.parametrize(("slope", "cross"), [(0.3, 0.2), (-0.1, 0.4)])
def test_slope_rotates_gravity(slope: float, cross: float):
    """Along x by the slope, then along y: a rotation, whose axes are those of the ground."""
    turn = np.array(
        [
            [evaluate_constant(text, {}) for text in tilted(axis, slope, cross)]
            for axis in np.eye(3).tolist()
        ]
    ).T
    assert turn @ turn.T == pytest.approx(np.eye(3), abs=1e-15) and np.linalg.det(
        turn
    ) == pytest.approx(1.0)
    a, b = math.atan(slope), math.atan(cross)
    x = np.array([[math.cos(a), 0, math.sin(a)], [0, 1, 0], [-math.sin(a), 0, math.cos(a)]])
    y = np.array([[1, 0, 0], [0, math.cos(b), math.sin(b)], [0, -math.sin(b), math.cos(b)]])
    assert turn == pytest.approx(x @ y, abs=1e-15)


def test_support_soil_stiffness_is_bedding_times_footprint():
    """One corner may be softer, in stiffness and bearing; what settles takes a hundredth of a second of the stiffness; without bearing none does."""
    found = made(ground=GROUND).description("soft", 0.25)["forces"]
    never = {"strength": 1e15, "hardening": 5e5, "damping": 5e4}
    assert (
        found["leg1"]["soil"] == never | {"stiffness": 5e6, "viscosity": 5e4 + 5e4}
        and "soil" not in found["post"]
    )
    assert found["leg2"]["soil"] == never | {"stiffness": 1.25e6, "viscosity": 5e4 + 1.25e4}
    found = made(ground={**GROUND, "bearing": 3e5}).description("footprint", 2.0)["forces"]
    assert found["leg2"]["soil"] == {
        "strength": 6e5,
        "hardening": 2e6,
        "stiffness": 2e7,
        "damping": 2e5,
        "viscosity": 2e5 + 2e5,
    }
    assert (
        made(ground={**GROUND, "bearing": 4.0}).soil(
            made(ground={**GROUND, "bearing": 4.0}).numbers("", math.nan), 0.5
        )["strength"]
        == 1.0
    )


def test_varied_quantity_has_unit_and_nominal():
    found = made(ground=GROUND, set={"push": 2.0, "law": "1"})
    assert [found.unit(key) for key in ("bedding", "spread", "", "push", "reach")] == [
        "N/m³",
        "",
        "",
        "N",
        "",
    ]
    told = [found.described(key) for key in ("bedding", "spread", "slope", "soft", "push", "reach")]
    assert told == [1e7, 1.0, 0.0, 1.0, 2.0, 0.5], "with its setting"
    assert all(math.isnan(found.described(key)) for key in ("", "preload", "bearing", "law"))


def test_support_margin_is_that_of_the_weakest_support():
    """At rest over the mean of the supports; in a run over its own load at rest, nothing of what carried nothing."""
    case = Case(
        "",
        1.0,
        loads={"a": 30.0, "b": 10.0, "c": 20.0, "post": 1.0},
        least={"a": 15.0, "b": 8.0, "c": 6.0},
    )
    assert case.margin_at_rest == 0.5 and case.margin == pytest.approx(0.3)
    case.loads["b"] = 0.0
    assert case.margin == 0.0


class Ran(dict):
    time = np.arange(6.0)
    events: Any = [
        SimpleNamespace(time=1.0, stage="swing 1"),
        SimpleNamespace(time=3.0, stage="swing 2"),
    ]

    def unit(self, name: str) -> str:
        return "rad"


def mode(frequency: float, damping: float) -> Any:
    return SimpleNamespace(frequency=frequency, damping=damping)


def test_support_case_is_evaluated_at_equilibrium_and_between_disturbances(
    monkeypatch: pytest.MonkeyPatch,
):
    """Its slowest swings, its least loads, and by disturbance deviations from the start of the run, both ends counted, settled about what is left."""
    rest = SimpleNamespace(
        outputs={"pitch": 0.25}, coordinates={"x": 1.0}, states={}, forces={**dict.fromkeys(LEGS, 10.0), "post": 3.0},
        modes=[mode(4.0, 0.1), mode(1e-6, 0.1), mode(2.0, 0.2), mode(3.0, 1.0), mode(1.0, 0.3), mode(8.0, 0.4)],
    )  # fmt: skip
    columns = {
        f"force('{name}')": np.array([9.0, 8.0, 3.0 + k, 9.0, 9.0, 9.0])
        for k, name in enumerate(LEGS, 1)
    }
    result = Ran(columns | {"x": np.array([2.0, 7.0, 2.5, 4.0, 1.0, 3.0])})
    asked: list[Any] = []
    system = SimpleNamespace(
        start=lambda: ("q", "u"),
        equilibrium=lambda q: asked.append(q) or rest,
        simulate=lambda **options: asked.append(options) or result,
    )
    monkeypatch.setattr(
        supports,
        "load",
        lambda description: SimpleNamespace(compile=lambda: asked.append(description) or system),
    )
    study = made(angles=["pitch"], disturbed="swing", run={"stop_time": 4.0}, band=0.6)
    case = Case("push", 1.0)
    study.look(case, {"a": "description"})
    assert asked == [{"a": "description"}, "q", {"stop_time": 4.0}] and case.modes == [
        (1.0, 0.3),
        (2.0, 0.2),
        (4.0, 0.1),
    ]
    assert (
        case.angles == {"pitch": 0.25}
        and case.units == {"pitch": "rad", "x": "rad"}
        and case.loads["post"] == 3.0
    )
    assert case.least == {f"leg{k}": 3.0 + k for k in (1, 2, 3, 4)}
    assert case.largest == [{"x": 5.0}, {"x": 2.0}] and case.left == [{"x": 2.0}, {"x": 1.0}]
    assert case.settled == [{"x": 2.0}, {"x": 2.0}], "about 4 until 3, about 3 until the end"
    study.wanted = wanted(angles=["roll"])
    with pytest.raises(supports.BadInput, match="no column 'roll'"):
        study.look(case, {})
    study.wanted, rest.forces = wanted(), {**dict.fromkeys(LEGS, 0.0), "post": 40.0}
    with pytest.raises(NotPossible, match="no support carries a load"):
        study.look(case, {})


def test_support_cases_report_failures(monkeypatch: pytest.MonkeyPatch):
    """A preload is looked at with the extension that gives it; what cannot be says so in its first line."""
    seen: list[Any] = []

    def look(self: Study, case: Case, description: Any) -> None:
        seen.append(description)
        if case.value == 2.0:
            raise NotPossible("it tips over\nsomewhere")

    monkeypatch.setattr(Study, "look", look)
    monkeypatch.setattr(
        Study, "description", lambda self, key, value, extension=None: (key, value, extension)
    )
    monkeypatch.setattr(Study, "extension_of", lambda self, share: 10.0 * share)
    study = made(vary={"push": [1.0, 2.0], "preload": [0.25]}, others=["post"])
    monkeypatch.setattr(supports, "Study", lambda wanted: study)
    told: list[float] = []
    cases = supports.study(study.wanted, told.append)
    assert told == [1.0, 2.0, 3.0, 4.0] and [case.failed for case in cases] == [
        "",
        "",
        "it tips over",
        "",
    ]
    assert (
        seen[1:3] == [("push", 1.0, None), ("push", 2.0, None)]
        and seen[3][0] == ""
        and seen[3][2] == 2.5 == cases[3].extension
    )
    assert (cases[1].unit, cases[1].described) == ("N", 3.0)


@pytest.mark.parametrize(("between", "rises"), [((1.0, 3.0), 1.0), ((-2.0, 6.0), 4.0)])
def test_preload_extension_is_found_by_bisection(
    monkeypatch: pytest.MonkeyPatch, between: tuple[float, float], rises: float
):
    """To a part of 1e-4 of its range, on the side where no more is carried; a share of nothing is the least that lifts off: a part of 1e-4."""
    low, high = between
    asked: list[float] = []

    def share(self: Study, extension: float) -> float:
        asked.append(extension)
        return max(0.0, 0.5 - (extension - low) / (high - low))

    monkeypatch.setattr(Study, "share", share)
    study = made(range=list(between), vary={"preload": [0.1]}, others=["post"])
    found = study.extension_of(0.3)
    exact = low + 0.2 * (high - low)
    assert (
        exact <= found <= exact + 1e-4 * (high - low)
        and len(asked) == 2 + 14
        and asked[2] == 0.5 * (low + high)
    )
    lifted = study.extension_of(0.0)
    exact = low + (0.5 - 1e-4) * (high - low)
    assert exact <= lifted <= exact + 1e-4 * (high - low)
    assert study.extension_of(0.5) <= low + 1e-4 * (high - low)
    for wrong in (0.51, -0.1):
        with pytest.raises(NotPossible, match="no reach from"):
            study.extension_of(wrong)


def test_preload_share_is_load_share_of_others_at_equilibrium(monkeypatch: pytest.MonkeyPatch):
    """Whatever the preparation would have required there."""
    rest = SimpleNamespace(forces={**dict.fromkeys(LEGS, 10.0), "post": 60.0})
    asked: list[Any] = []
    system = SimpleNamespace(
        start=lambda: ("q", "u"), equilibrium=lambda q: asked.append(q) or rest
    )
    monkeypatch.setattr(
        supports,
        "load",
        lambda description: SimpleNamespace(compile=lambda: asked.append(description) or system),
    )
    monkeypatch.setattr(
        Study,
        "description",
        lambda self, key, value, extension: {
            "run": {"prepare": [{"name": "a", "require": "load > 0"}]},
            "reach": extension,
        },
    )
    assert made().share(2.0) == 0.6 and asked == [
        {"run": {"prepare": [{"name": "a"}]}, "reach": 2.0},
        "q",
    ]


def case(aspect: str, value: float, k: float = 0.0, **more: Any) -> Any:
    return SimpleNamespace(**{
        "aspect": aspect, "value": value, "unit": "N/m³" if aspect == "bedding" else "", "described": 30.0, "failed": "",
        "modes": [(2.0 + k, 0.1), (5.0, 0.25)],
        "angles": {"pitch": -1e-8}, "margin_at_rest": 0.5 + k, "margin": -1e-9, "largest": [{"x": 1e-3}, {"x": 3e-3 + k}],
        "left": [{"x": 9.0}, {"x": -2e-3}],
        "settled": [{"x": 0.0}, {"x": 1.25}], "units": {"x": "m", "pitch": "rad"}, "loads": {"leg": 1234.5, "post": 10.0 * k},
        "extension": 0.75, **more,
    })  # fmt: skip


ASKED: Any = SimpleNamespace(
    hold=["x"],
    angles=["pitch"],
    vary={"bedding": [], "preload": []},
    settings={},
    mechanism="lib:x",
    extension="reach",
    band=2e-4,
)


def test_support_report_rows_match_cases():
    """Thousandths without a sign of nothing; modes that are not there and cases that cannot be leave their cells empty."""
    cases = [case("", math.nan), case("bedding", 1e6, 1.0), case("bedding", 2e6, failed="no rest")]
    head, *rows = overview(ASKED, cases)
    assert head == [
        "case", "mode 1 [Hz] (ratio)", "mode 2 [Hz] (ratio)", "mode 3 [Hz] (ratio)", "pitch at rest [mrad]", "least load over mean",
        "kept in the run",
        "x: largest [mm]", "x: left [mm]",
    ]  # fmt: skip
    assert rows == [
        [
            "as described",
            "2.000 (0.100)",
            "5.000 (0.250)",
            "",
            "0.000",
            "0.500",
            "0.000",
            "3.000",
            "-2.000",
        ],
        [
            "bedding 1e6 N/m³",
            "3.000 (0.100)",
            "5.000 (0.250)",
            "",
            "0.000",
            "1.500",
            "0.000",
            "1003.000",
            "-2.000",
        ],
        ["bedding 2e6 N/m³", "not possible", *[""] * 7],
    ]
    head, *rows = disturbances(ASKED, cases[:2])
    assert head == [
        "case",
        "disturbance",
        "x: largest [mm]",
        "x: left [mm]",
        "x: settled after [s]",
    ]
    assert (
        rows[:2]
        == [
            ["as described", "1", "1.000", "9000.000", "–"],
            ["as described", "2", "3.000", "-2.000", "1.25"],
        ]
        and len(rows) == 4
    )
    assert loads(cases) == [
        ["case", "leg", "post"],
        ["as described", "1.23", "0.00"],
        ["bedding 1e6 N/m³", "1.23", "0.01"],
    ]
    assert loads(cases[2:]) == [["case"]] and loads(cases[:1]) == loads(cases)[:2]
    assert (
        thousandth(["x", "pitch"], cases),
        thousandth(["x"], cases),
        thousandth(["x"], cases[2:]),
    ) == ("mrad, mm", "mm", "1e-3")
    assert thousandth(["x"], [case("", 0.0, units={"x": "N"})]) == "1e-3"
    assert [number(each) for each in (1e6, 2.5e-7, 0.25, 12345.0)] == [
        "1e6",
        "2.5e-7",
        "0.25",
        "1.234e4",
    ]
    assert name_of(case("soft", 0.5)) == "soft 0.5"
    assert (
        title_of("bedding", cases) == "bedding of the ground [N/m³]"
        and axis_of("bedding", cases) == "bedding [N/m³]"
    )
    assert title_of("push", cases) == "push" and axis_of("cross_slope", cases) == "cross slope"


def test_nominal_case_belongs_to_curve():
    """In the order of the values, once; not where it failed or has no number."""
    first, low, high = case("", math.nan), case("bedding", 10.0, 1.0), case("bedding", 50.0, 2.0)
    cases = [first, high, case("soft", 0.5), case("bedding", 20.0, failed="no rest"), low]
    assert points(cases, "bedding") == ([10.0, 30.0, 50.0], [low, first, high])
    high.described = 50.0
    assert points(cases, "bedding")[0] == [10.0, 50.0]
    high.described = math.nan
    assert points(cases, "bedding")[0] == [10.0, 50.0]
    high.described, first.failed = 30.0, "no rest"
    assert points(cases, "bedding")[0] == [10.0, 50.0]
    (_, modes), (_, margins), (label, moved) = curves(ASKED, cases, [low, high])
    assert (
        [y for _, y, _, _ in modes[:2]] == [[3.0, 4.0], [5.0, 5.0]]
        and np.isnan(modes[2][1]).all()
        and modes[2][0] == "mode 3"
    )
    assert [y for _, y, _, _ in margins] == [
        [1.5, 2.5],
        [-1e-9, -1e-9],
    ] and label == "deviation [mm]"
    assert (
        moved[0][1] == pytest.approx([1003.0, 2003.0])
        and moved[1][1] == pytest.approx([2.0, 2.0])
        and [each[3] for each in moved] == ["o-", "o--"]
    )


@pytest.mark.parametrize(
    ("x", "scale"),
    [
        ([1.0, 20.0], "log"),
        ([1.0, 19.0], "linear"),
        ([0.0, 20.0], "linear"),
        ([-1.0, 50.0], "linear"),
        ([], "linear"),
    ],
)
def test_values_over_more_than_a_decade_have_a_logarithmic_axis(x: list[float], scale: str):
    figure, axes = supports_report.figure_of(1, 1)
    place = axes[0][0]
    supports_report.plot(
        place, "title", x, "label", [("one", x, "#000000", "o-"), ("two", x, "#000000", "o--")]
    )
    assert place.get_xscale() == scale and (place.get_xlabel(), place.get_ylabel()) == (
        "title",
        "label",
    )
    assert [line.get_label() for line in place.lines] == ["one", "two"] and place.get_ylim()[
        0
    ] == 0.0


@pytest.mark.parametrize("ground", [None, 1e8])
def test_support_page_covers_all_aspects(monkeypatch: pytest.MonkeyPatch, ground: float | None):
    """With its failures, its extensions where a load is taken off, and what the ground and settings are."""
    written: list[Any] = []
    monkeypatch.setattr(
        supports_report,
        "write_page",
        lambda path, title, sections, more: written.append((title, sections, more)),
    )
    shown: list[str] = []
    monkeypatch.setattr(
        Section,
        "picture",
        lambda section, figure, caption: (
            shown.append(f"{len(figure.axes[0].lines)} {caption}") or section
        ),
    )
    given: Any = SimpleNamespace(**vars(ASKED), path=SimpleNamespace(name="s.toml"))
    given.ground = wanted(ground={"bedding": ground}).ground if ground else wanted().ground
    given.settings = {"pace": 2.0} if ground else {}
    cases = [
        case("", math.nan),
        case("bedding", 1e6),
        case("bedding", 2e6, failed="no rest"),
        case("preload", 0.25, described=math.nan),
    ]
    supports_report.write_report(given, cases, "p.html")  # type: ignore[arg-type]
    ((title, (first, bedding, preload), more),) = written
    assert (
        title == "Supports of lib:x"
        and len(first.tables[0]["rows"]) == 4
        and "stays within 0.2 mm of what is left" in first.texts[3]
    )
    assert (
        bedding.heading == "Bedding of the ground [N/m³]"
        and bedding.texts == ["bedding 2e6 N/m³: no rest"]
        and bedding.beside
    )
    assert [row[0] for row in bedding.tables[0]["rows"]] == [
        "as described",
        "bedding 1e6 N/m³",
    ] and len(bedding.tables[1]["rows"]) == 6
    assert preload.heading == "Share of the weight on the others" and preload.texts == [
        "preload 0.25: reach = 0.75"
    ]
    assert [table["title"] for table in preload.tables] == [
        "Loads at rest [kN]",
        "Every disturbance, deviations from the start of the run",
    ]
    lines = ["3 The slowest modes", "2 Loads of the supports", "2 Deviations while it is disturbed"]
    assert shown == lines * 2
    expected = {"file": "s.toml", "mechanism": "lib:x"}
    told = (
        "bedding 1e8 N/m³, damping 1e6 N·s/m³, footprint 0.25 m², hardening 0 Pa/m"
        if ground
        else "as the mechanism has it"
    )
    assert more == expected | {"ground": told} | ({"settings": "pace = 2.0"} if ground else {})
