"""Shapes of bodies and scenery: what is accepted, and what is said about what is not."""

import pytest

from kinetree.models import ModelError, load

GOOD = [
    {"box": [1, "w", 0.1], "colour": "orange"},
    {"capsule": [0.1, 0.5], "axis": "x"},
    {
        "extrusion": [[0, 0], [1, 0], [0, "w"]],
        "height": 0.1,
        "rotate": [0, 0, 0.5],
        "colour": "#aabbcc",
    },
    {"mesh": "part.stl", "scale": 1e-3, "opacity": 0.5},
]
BAD = {
    "a negative size, -0.5": {"capsule": [0.1, -0.5]},
    "box and sphere": {"sphere": 1, "box": [1, 1, 1]},
    "'gren', expected #rrggbb or one of black": {"sphere": 1, "colour": "gren"},
    "2 corners, expected 3": {"extrusion": [[0, 0], [1, 0]], "height": 1},
    "one with sphere": {"sphere": 1, "height": 2},
    "none with extrusion": {"extrusion": [[0, 0], [1, 0], [0, 1]]},
    "axis and rotate": {"box": [1, 1, 1], "axis": "x", "rotate": [0, 0, 0]},
    "no shape": {"colour": "red"},
}


def described(*shapes: dict) -> dict:
    return {
        "format": "kinetree/1",
        "parameters": {"w": 0.2},
        "bodies": {"a": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0], "shapes": list(shapes)}},
        "joints": {"j": {"child": "a", "type": "revolute"}},
        "scenery": [{"box": [1, 1, 0.1], "colour": "grey"}],
    }


def test_several_shapes_of_every_kind_and_scenery():
    description = load(described(*GOOD)).description
    assert len(description.bodies["a"].shapes) == len(GOOD) and len(description.scenery) == 1


@pytest.mark.parametrize("said", BAD)
def test_undrawable_shape_is_refused_with_key(said: str):
    with pytest.raises(ModelError) as caught:
        load(described(GOOD[0], BAD[said]))
    assert "bodies.a.shapes[1]" in str(caught.value) and said in str(caught.value)
