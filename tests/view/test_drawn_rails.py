"""How guides are drawn: straight rails as long as their stops, curves through their points, helices with their pitch, plates and hats of bearings."""

from typing import Any

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.scene.attachments import Numbers
from kinetree.models.scene.ground_surface import terrain
from kinetree.models.scene.make_scenes import start_scene
from kinetree.models.scene.shapes import matrix
from kinetree.models.scene.video import instant


def drawn(law: dict[str, Any], size: float = 0.0) -> list[dict[str, Any]]:
    """What a guide of a bead puts on the body that carries it."""
    steps = [{"shift": axis, "coordinate": axis} for axis in "xyz"]
    mass = {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}
    description = {
        "format": "kinetree/1", "bodies": {"bead": {"mass": 0.5}, "frame": mass},
        "joints": {
            "J": {"child": "bead", "transforms": steps}, "F": {"child": "frame", "transforms": [{"rotate": "z", "coordinate": "a"}]},
        },
        "forces": {"g": {"kind": "guide", "between": [{"body": "frame", "point": [0.5, 0, 0]}, {"body": "bead"}], "stiffness": 2e5, **law}},
    }  # fmt: skip
    data = start_scene(load(description).compile()).data()
    (body,) = (each for each in data["bodies"] if each["name"] == "frame")
    return [piece for piece in body["parts"] if piece["kind"] in ("box", "cylinder")]


def ends(piece: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Of a cylinder."""
    half = 0.5 * piece["size"][1] * matrix(np.array(piece["turn"]))[:, 2]
    return np.array(piece["at"]) - half, np.array(piece["at"]) + half


def test_drawn_straight_rail_ends_at_stops():
    for axis, unit in (([1, 0, 0], [1.0, 0, 0]), ([0, 3, 4], [0, 0.6, 0.8])):
        (rail,) = (
            piece
            for piece in drawn({"kind": "rail", "axis": axis, "begin": 0.25, "end": 1.75})
            if piece["kind"] == "box"
        )
        assert max(rail["size"]) == pytest.approx(1.5) and rail["at"] == pytest.approx(
            np.array([0.5, 0, 0]) + np.array(unit)
        )
        assert abs(matrix(np.array(rail["turn"])).T @ unit) == pytest.approx([0, 0, 1], abs=1e-12)
    (rail,) = (
        piece for piece in drawn({"kind": "rail", "axis": [1, 0, 0]}) if piece["kind"] == "box"
    )
    assert max(rail["size"]) > 0.0 and rail["at"][0] == pytest.approx(
        0.5 + 0.5 * max(rail["size"])
    ), "without a stop it goes on for a while"


@pytest.mark.parametrize("closed", [False, True])
def test_drawn_curve_is_continuous(closed: bool):
    angles = np.linspace(0.0, 2 * np.pi, 12, endpoint=False)
    points = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    pieces = [
        ends(piece)
        for piece in drawn({"points": points.tolist(), "closed": closed})
        if piece["kind"] == "cylinder"
    ]
    line = np.array([pieces[0][0], *(end for _, end in pieces)]) - [0.5, 0, 0]
    for (_, end), (begin, _) in zip(pieces, pieces[1:], strict=False):
        np.testing.assert_allclose(end, begin, atol=1e-9)
    assert np.linalg.norm(line, axis=1) == pytest.approx(1.0, abs=4e-3), (
        "on the circle, within the spline's and the pieces' sagitta"
    )
    np.testing.assert_allclose(line[0], points[0], atol=1e-12)
    np.testing.assert_allclose(line[-1], points[0] if closed else points[-1], atol=1e-9)


def test_drawn_helix_rises_by_its_pitch():
    law = {"helix": {"radius": 0.5, "pitch": 0.2, "begin": -np.pi, "end": 3 * np.pi}}
    pieces = [ends(piece) for piece in drawn(law) if piece["kind"] == "cylinder"]
    (first, _), (_, last) = pieces[0], pieces[-1]
    np.testing.assert_allclose(last - first, [0.0, 0.0, 0.4], atol=1e-9)
    assert first - [0.5, 0, 0] == pytest.approx([-0.5, 0.0, -0.1]) and len(pieces) == 1 + int(
        4 * np.pi / 0.2
    )


STONE = {
    "format": "kinetree/1",
    "bodies": {"stone": {"mass": 1.0}},
    "joints": {"J": {"child": "stone", "transforms": [{"shift": "z", "coordinate": "z"}]}},
}


@pytest.mark.parametrize(
    ("height", "more", "expected"),
    [
        ("0.1*ground.x", {}, lambda x, y: 0.1 * x),
        (
            "table('hill', ground.x)",
            {"tables": {"hill": {"x": [-2, 0, 2], "y": [0, 0.5, 0]}}},
            lambda x, y: 0.5 - 0.25 * abs(x),
        ),
        (
            "table('slope', ground.x, ground.y)",
            {"tables": {"slope": {"x": [-2, 2], "y": [-2, 2], "z": [[0, 1], [2, 3]]}}},
            None,
        ),
        ("lift + 0.1*ground.x", {"inputs": {"lift": 0.0}}, None),
        ("1e-9*ground.x", {}, None),
    ],
)
def test_ground_surface_is_drawn_from_height(height: str, more: dict[str, Any], expected: Any):
    """Over one place or a table of one; tables of two, what inputs move and what is flat are not drawn."""
    law = {
        "kind": "contact",
        "body": "stone",
        "point": [0, 0, 0],
        "stiffness": 1e4,
        "height": height,
    }
    description = load({**STONE, "forces": {"c": law}, **more}).description
    found = terrain(description, Numbers(description), np.array([-2.0, -1.0]), np.array([2.0, 1.0]))
    if expected is None:
        assert found is None
        return
    assert found is not None
    x, y, z = np.array(found["points"]).reshape(-1, 3).T
    assert z == pytest.approx(expected(x, y), abs=2e-5) and (
        x.min(),
        x.max(),
        y.min(),
        y.max(),
    ) == (-2.0, 2.0, -1.0, 1.0)
    a, b, c = (
        np.stack([x, y, z], axis=1)[np.array(found["triangles"]).reshape(-1, 3)[:, k]]
        for k in range(3)
    )
    faces = 0.5 * np.cross(b - a, c - a)
    assert (faces[:, 2] > 0.0).all() and faces[:, 2].sum() == pytest.approx(8.0), (
        "seen from above, without gaps"
    )


def test_picture_time_outside_the_run_is_refused():
    from kinetree.models.scene.make_scenes import run_data

    data = run_data(load("lib:pendulum").compile().simulate(1.0, output_step=0.1))
    assert instant(data, None) == 0.0 and instant(data, 0.52) == 0.5 and instant(data, 1.0) == 1.0
    with pytest.raises(ValueError, match="a picture at 1.5 s: the run goes from 0 to 1 s"):
        instant(data, 1.5)
