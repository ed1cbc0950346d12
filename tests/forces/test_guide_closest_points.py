"""The place of a guide's curve that is nearest to its pin: found on bent curves, and refused where the search would end elsewhere."""

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from kinetree.models import ModelError, load
from kinetree.models.expressions.vectors import Vector
from kinetree.models.forces.curve_validation import NUMBERS, helix_fault, spline_fault
from kinetree.models.forces.curves import HELIX_STEPS, angle, nearest, winding
from kinetree.models.forces.kinds import KINDS, guide

ROOT = Path(__file__).resolve().parents[2]
BESIDE = 0.03  # m, of points about 1 m apart


def zigzag(turn: float, ways: int = 7) -> list[list[float]]:
    """Points 1 m apart, at each of which the straight way turns by so many degrees, to and fro."""
    half = math.radians(turn / 2)
    return [[k * math.cos(half), 0.0, (k % 2) * math.sin(half)] for k in range(ways + 1)]


def ring(n: int) -> list[list[float]]:
    turns = 2 * np.pi * np.arange(n) / n
    return [[math.cos(a), math.sin(a), 0.0] for a in turns]


LONG = [[0, 0, 0], [3, 0, 0], [3, 1, 0], [0, 1, 0]]
SHARP_S = [[0, 0, 0], [1, 0, 0], [1.77, 0.64, 0], [1.94, 1.63, 0], [2.71, 2.27, 0], [3.71, 2.27, 0]]
IN_SPACE = [[0, 0, 0], [1, 0, 0], [1.5, 0.9, 0], [1.6, 1.2, 0.9], [2.6, 1.2, 1.1]]
HAIRPIN = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2.1, 0.1, 0], [2, 0.2, 0], [1, 0.2, 0], [0, 0.2, 0]]


def described(points: list[list[float]], **more: Any) -> dict[str, Any]:
    steps = [{"shift": axis, "coordinate": axis} for axis in "xyz"]
    law = {
        "kind": "guide",
        "between": [{"body": "ground"}, {"body": "pin"}],
        "points": points,
        "stiffness": 1.0,
        **more,
    }
    return {
        "format": "kinetree/1", "bodies": {"pin": {"mass": 1.0}}, "joints": {"free": {"child": "pin", "transforms": steps}}, "forces": {"g": law},
        "outputs": {"s": "g.travel", "depth": "g.penetration", "load": "force('g')"},
    }  # fmt: skip


def curve_of(points: list[list[float]], closed: bool) -> tuple[CubicSpline, float]:
    """The spline by scipy and its length; a closed one goes around often enough to know nothing of its ends."""
    ways = np.linalg.norm(np.diff([*points, points[0]], axis=0), axis=1)
    if not closed:
        s = np.concatenate([[0.0], np.cumsum(ways[:-1])])
        return CubicSpline(s, points), float(s[-1])
    s = np.concatenate([[0.0], np.cumsum(ways)])
    return CubicSpline(s, [*points, points[0]], bc_type="periodic"), float(s[-1])


def pins(curve: CubicSpline, s: np.ndarray, beside: float) -> np.ndarray:
    """Beside the places s, across the curve."""
    along = curve(s, 1) / np.linalg.norm(curve(s, 1), axis=1)[:, None]
    across = np.cross(along, [0.1, 0.3, 1.0])
    return curve(s) + beside * across / np.linalg.norm(across, axis=1)[:, None]


def tupled(points: list[list[float]]) -> tuple[tuple[float, float, float], ...]:
    return tuple((float(x), float(y), float(z)) for x, y, z in points)


@pytest.mark.parametrize(
    ("points", "closed"),
    [(zigzag(40), False), (LONG, True), (ring(4), True), (SHARP_S, False), (IN_SPACE, False), ([[0, 0, 0], [1, 0, 0], [1, 1, 0]], True)],
    ids=["zigzag", "long loop", "ring", "S", "space", "triangle"],
)  # fmt: skip
def test_closest_point_is_found_on_bent_curves(points: list[list[float]], closed: bool):
    """A pin closer to the place s than the curve bends has it for its nearest one: travel is s, the penetration its distance, all along the curve.

    Steps from the nearest of the points ended up to half a metre away on each of these. The seam of a closed table tells a spline by 1e-12."""
    curve, end = curve_of(points, closed)
    system = load(described(points, closed=closed)).compile()
    s = np.linspace(0.0, end, 41)[1:-1]
    for beside in (0.0, BESIDE, -BESIDE):
        found = [system.outputs(0.0, pin, np.zeros(3)) for pin in pins(curve, s, beside)]
        assert np.array([each["s"] for each in found]) == pytest.approx(s, abs=1e-6)
        assert np.array([each["depth"] for each in found]) == pytest.approx(abs(beside), abs=1e-6)


def test_curve_ends_release_the_pin():
    """There the curve is its tangent: travel goes on below 0 and above the length, whatever the distance, and there is no contact."""
    points = zigzag(40)
    curve, end = curve_of(points, False)
    system = load(described(points, clearance=0.01)).compile()
    for s, out in ((0.0, -1.0), (end, 1.0)):
        slope = curve(s, 1)
        for beyond in (1e-6, 0.4, 5.0):
            q = pins(curve, np.array([s]), BESIDE)[0] + out * beyond * slope
            found = system.outputs(0.0, q, np.zeros(3))
            assert found["s"] == pytest.approx(s + out * beyond, abs=1e-9) and found["load"] == 0.0
            assert found["depth"] == pytest.approx(-0.01, abs=1e-9)
        inside = system.outputs(
            0.0, pins(curve, np.array([s - out * 1e-3]), BESIDE)[0], np.zeros(3)
        )
        assert inside["load"] == pytest.approx(BESIDE - 0.01, abs=1e-6)


def test_curve_bend_too_sharp_for_the_search_is_refused(monkeypatch: pytest.MonkeyPatch):
    """A zigzag that turns by 90 degrees at each point: the search would end millimetres away; what is said has the radius of the spline."""
    points = zigzag(90)
    with pytest.raises(ModelError) as error:
        load(described(points))
    found = spline_fault(tupled(points), False, 0.0)
    assert found is not None and found.way == found.ended and found.length == pytest.approx(1.0)
    curve, end = curve_of(points, False)
    s = np.linspace(found.way, found.way + 1, 2001)
    d, dd = curve(s, 1), curve(s, 2)
    radius = (np.linalg.norm(d, axis=1) ** 3 / np.linalg.norm(np.cross(d, dd), axis=1)).min()
    assert found.radius == pytest.approx(radius, rel=1e-2)
    said = f"a bend of radius {radius:.2g} m between points {found.way + 1} and {found.way + 2}, 1 m apart, with clearance 0 m"
    assert (
        "forces.g.points" in str(error.value)
        and said in str(error.value)
        and "points closer together there" in str(error.value)
    )
    monkeypatch.setattr(guide, "spline_fault", lambda *given: None)
    system = load(described(points)).compile()
    s = np.linspace(0.0, end, 201)
    missed = [
        system.outputs(0.0, pin, np.zeros(3))["s"] - place
        for pin, place in zip(curve(s), s, strict=True)
    ]
    assert np.abs(missed).max() > 1e-3


def test_finer_points_resolve_the_same_bend():
    """What is advised helps: points in the bend, from its spline."""
    curve, end = curve_of(zigzag(90), False)
    points = curve(np.linspace(0.0, end, 43)).tolist()
    assert (
        spline_fault(tupled(points), False, 0.0) is None
        and spline_fault(tupled(points), False, 0.01) is None
    )


@pytest.mark.parametrize(
    ("turn", "clearance", "refused"),
    [(75, 0.0, False), (90, 0.0, True), (60, 0.1, False), (60, 0.2, True)],
)
def test_sharply_bent_curve_is_refused(turn: float, clearance: float, refused: bool):
    """The zigzag of 60 degrees bends by 0.3 m: places of pins 0.2 m beside it are searched for in vain, of those nearer to it they are found."""
    assert (spline_fault(tupled(zigzag(turn)), False, clearance) is not None) == refused


def test_self_approaching_curve_is_refused():
    """The two sides of a hairpin bulge by more than half their distance, so that straight ways tell the wrong side; closer points do not."""
    with pytest.raises(
        ModelError,
        match="too near to itself, between points . and . and between points . and .*closer together",
    ):
        load(described(HAIRPIN))
    found = spline_fault(tupled(HAIRPIN), False, 0.0)
    assert found is not None and sorted((found.way, found.ended)) == [0, 5]
    sides = [x for k in range(10) for x in [[0.2 * k, 0, 0]]]
    tip = [[2 + 0.1 * math.sin(a), 0.1 - 0.1 * math.cos(a), 0] for a in np.linspace(0, np.pi, 7)]
    assert (
        spline_fault(
            tupled([*sides, *tip, *[[x, 0.2, z] for x, _, z in reversed(sides)]]), False, 0.01
        )
        is None
    )


@pytest.mark.parametrize(("points", "clearance"), [(3, 0.2), (4, 0.1), (8, 0.05)])
def test_open_curve_with_meeting_ends_is_refused(points: int, clearance: float):
    """Pins beside the meeting ends would be held by neither: the search goes beyond the wrong one. A closed curve has no ends."""
    around = ring(points)
    with pytest.raises(
        ModelError,
        match=f"too near to itself, between points ({points} and {points + 1} and between points 1 and 2|1 and 2 and .*)",
    ):
        load(described([*around, around[0]], clearance=clearance))
    assert spline_fault(tupled(around), True, clearance) is None


def test_closed_curve_search_crosses_the_seam():
    """A search that ends one way further, past the last point, tells of a bend; after the last point comes the first one."""
    points = [[0, 0, 0], [1, 0.9, 0], [2, 0, 0], [2, -1.5, 0], [1, -1, 0], [0, -1.5, 0]]
    ways = set()
    for k in range(6):
        turned = [*points[k:], *points[:k]]
        found = spline_fault(tupled(turned), True, 0.2)
        assert found is not None
        ways.add(found.way)
        with pytest.raises(
            ModelError,
            match=f"a bend of radius 0.1[45] m between points {found.way + 1} and {(found.way + 1) % 6 + 1}, 1.1 m apart",
        ):
            load(described(turned, closed=True, clearance=0.2))
    assert 5 in ways and spline_fault(tupled(ring(24)), True, 0.05) is None


@pytest.mark.parametrize("pitch", [0.3, -1.0, 4.0, 30.0])
def test_closest_point_on_helix_is_found_within_its_radius(pitch: float):
    """Play below 0.9 of the radius, whatever the pitch; the search agrees with the nearest of 20 000 places.

    Half a step h/2 |c'| along the curve from the nearest place of a pin at d the distance is more by up to (h/2 |c'|)²/(2 d)."""
    assert all(helix_fault(1.0, pitch, clearance) is None for clearance in (0.0, 0.1, 0.5, 0.9))
    at = winding(1.0, pitch / (2 * np.pi), NUMBERS)
    rng = np.random.default_rng(5)
    pin = 0.5 * rng.normal(size=3) / 3 + np.array(
        [math.cos(2.0), math.sin(2.0), 2.0 * pitch / (2 * np.pi)]
    )
    r = Vector(*pin[:, None])
    s = np.linspace(-10.0, 10.0, 20_001)
    ways = np.linalg.norm(np.array(at(s)[0]) - pin[:, None], axis=0)
    found = nearest(at, angle(pitch / (2 * np.pi), r, NUMBERS), r, HELIX_STEPS, NUMBERS)
    assert float(np.linalg.norm(np.array(at(found)[0]) - pin[:, None])) == pytest.approx(
        ways.min(), abs=(5e-4 * math.hypot(1.0, pitch / (2 * np.pi))) ** 2 / (2 * ways.min())
    )


def test_guide_clearance_beyond_helix_axis_is_refused():
    """At the axis the pin has no angle: of a helix as steep as it is wide its place was wrong by 0.1 mm of a metre; of a long wave it is not."""
    steep = described(
        [], helix={"radius": 1.0, "pitch": 4.0, "begin": 0.0, "end": 20.0}, clearance=1.5
    )
    del steep["forces"]["g"]["points"]
    with pytest.raises(
        ModelError, match="found 1.5, expected well below the radius of the helix, 1; "
    ):
        load(steep)
    assert helix_fault(1.0, 4.0, 1.5) is not None and helix_fault(1.0, 50.0, 1.5) is None


def test_closest_points_on_documented_guides_are_found():
    """Every guide that is shown to people: in the page on guides, among the examples of the format, in the registry."""
    text = (ROOT / "docs" / "guides.md").read_text()
    hoist = tomllib.loads(text.split("```toml\n")[1].split("```")[0])["forces"]
    shown = tomllib.loads(
        (ROOT / "models" / "schema" / "examples" / "force_guide.toml").read_text()
    )["forces"]
    laws = [
        *(law for law in (*hoist.values(), *shown.values()) if "points" in law),
        KINDS["guide"].example,
    ]
    assert len(laws) == 4
    assert all(
        spline_fault(tupled(law["points"]), law.get("closed", False), law.get("clearance", 0.0))
        is None
        for law in laws
    )
    thread = shown["thread"]["helix"]
    assert helix_fault(thread["radius"], thread["pitch"], 0.0) is None
