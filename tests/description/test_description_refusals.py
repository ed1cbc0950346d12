"""Keys that contradict one another or are not enough: each is refused by a message that names the key and what was expected."""

import pytest

from kinetree.models import ModelError
from kinetree.models.checks.loader import describe

BODY = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
SLIDES = {
    "format": "kinetree/1",
    "bodies": {"a": BODY, "b": BODY, "c": BODY},
    "joints": {
        "ja": {"child": "a", "type": "prismatic", "axis": "x", "coordinates": ["x"]},
        "jb": {"parent": "a", "child": "b", "type": "revolute", "axis": "z", "coordinates": ["q"]},
        "jc": {"child": "c", "type": "free"},
    },
    "tables": {"flat": {"x": [0, 1], "y": [0, 1], "z": [[0, 1], [1, 2]]}},
    "inputs": {"pull": {}, "push": {}},
}
SPHERE = {"sphere": 0.3}
ENDS = [{"body": "a"}, {"body": "b"}]
FORCES = [
    (
        {"kind": "stop", "coordinate": "x", "stiffness": 1, "sharpness": 1},
        "forces.f",
        "lower, upper or both",
    ),
    (
        {"kind": "line", "between": ENDS, "stiffness": 1},
        "forces.f.length",
        "the length without spring force",
    ),
    (
        {
            "kind": "line",
            "between": ENDS,
            "value": 1,
            "tension_only": True,
            "compression_only": True,
        },
        "forces.f",
        "one of them",
    ),
    (
        {"kind": "gear", "coordinate": "x", "other": "x", "ratio": 2, "stiffness": 1},
        "forces.f.other",
        "another coordinate",
    ),
    ({"kind": "bushing", "between": ENDS}, "forces.f", "stiffness or damping"),
    (
        {
            "kind": "contact",
            "body": "a",
            "shape": SPHERE,
            "stiffness": 1,
            "against": {"body": "a", "sphere": 0.1},
        },
        "forces.f.against.body",
        "another body",
    ),
    ({"coordinate": "x", "law": "flat"}, "forces.f.law", "a table of one"),
]
OTHERS = [
    (
        ("joints", "jd"),
        {"parent": "b", "child": "c", "type": "spherical", "coordinates": ["x"]},
        "joints.jd.coordinates",
        "4 names",
    ),
    (("couplings", "l"), {"length": 1.0}, "couplings.l.length", "between"),
    (
        ("couplings", "l"),
        {"length": 1.0, "between": [{"body": "a"}, {"body": "a"}]},
        "couplings.l.between",
        "points of two bodies",
    ),
    (("outputs", "o"), {"quantity": "velocity", "body": "d"}, "outputs.o.body", "unknown body 'd'"),
    (
        ("stages",),
        [{"ends": {"at": 1}, "drop": ["b"]}, {"ends": {"at": 2}, "drop": ["b"]}, {}],
        "stages[1].drop",
        "still there",
    ),
    (
        ("stages",),
        [{"ends": {"at": 1}, "free": ["jb"], "lock": ["jb"]}, {}],
        "stages[0]",
        "one of them",
    ),
    (("parameters", "k"), {"value": 1.0, "min": 2.0, "max": 0.5}, "parameters.k", "above max"),
    (("parameters", "k"), "2*t", "parameters.k", "cannot depend on the time"),
    (("bodies", "ä" + 100 * "b"), BODY, "bodies.ä" + 100 * "b", "at most 100 characters"),
    (("bodies", "ﬁn"), BODY, "bodies.ﬁn", "NFKC"),
    (
        ("forces", "f"),
        {"coordinate": "x", "value": "sin(x, x=1)"},
        "forces.f.value",
        "plain values",
    ),
    (("forces", "f"), {"coordinate": "x", "value": "~x"}, "forces.f.value", "~"),
    (("forces", "f"), {"coordinate": "x", "value": "x in x"}, "forces.f.value", "cannot be read"),
    (
        ("forces", "f"),
        {"coordinate": "x", "value": "+".join(30000 * ["x"])},
        "forces.f",
        "characters",
    ),
]


def said(description: dict) -> dict[str, str]:
    with pytest.raises(ModelError) as error:
        describe(description)
    found = dict[str, str]()
    for problem in error.value.problems:
        found[problem.key] = found.get(problem.key, "") + str(problem)
    return found


@pytest.mark.parametrize(
    ("force", "key", "words"), FORCES, ids=[str(k) for k in range(len(FORCES))]
)
def test_invalid_forces_are_refused(force: dict, key: str, words: str):
    found = said(SLIDES | {"forces": {"f": force}})
    assert words in found.get(key, ""), found


@pytest.mark.parametrize(
    ("path", "value", "key", "words"),
    OTHERS,
    ids=[f"{k}-{case[2][:20]}" for k, case in enumerate(OTHERS)],
)
def test_other_invalid_tables_are_refused(
    path: tuple[str, ...], value: object, key: str, words: str
):
    changed = SLIDES | {
        path[0]: value if len(path) == 1 else SLIDES.get(path[0], {}) | {path[1]: value}
    }
    found = said(changed)
    assert words in found.get(key, ""), found
