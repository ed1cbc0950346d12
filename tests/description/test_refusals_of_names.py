"""Every refusal of bodies, joints, names and expressions to the letter, beside a neighbour that is accepted; the numbers stand at the borders."""

import pytest
from plant_description import BODY, PLANT, changed, said, within

JOINTS = PLANT["joints"]
BODIES = [
    ("bodies/a", {"mass": -1e-09}, [".mass: found a negative mass, -1e-09, expected 0 or more"]),
    ("bodies/a", {"mass": 0}, []),
    (
        "bodies/a",
        BODY | {"inertia_at_origin": [1, 1, 1, 0, 0, 0]},
        [": found inertia and inertia_at_origin, expected one of them"],
    ),
    ("bodies/a", {"mass": 1, "inertia": [1, 1, 2, 0, 0, 0]}, []),
    (
        "bodies/a",
        {"mass": 1, "inertia": [1, 1, 2.01, 0, 0, 0]},
        [
            (
                ".inertia: found principal moments 1, 1, 2.01, expected each at most the sum of the other two; "
                "unphysical = true accepts reduced data as they are"
            )
        ],
    ),
    ("bodies/a", {"mass": 1, "inertia": [1, 1, 2.002, 0, 0, 0]}, []),
    (
        "bodies/a",
        {"mass": 1, "inertia": [1, 1, 1, 1.01, 0, 0]},
        [".inertia: found a negative principal moment, -0.01, expected 0 or more"],
    ),
    (
        "bodies/a",
        {"mass": 1, "inertia": [1, 1, 1, 1.002, 0, 0]},
        [
            (
                ".inertia: found principal moments -0.002, 1, 2.002, expected each at most the sum of the other "
                "two; unphysical = true accepts reduced data as they are"
            )
        ],
    ),
    ("bodies/a", {"mass": 1, "inertia": [1, 2, 2, 0.1, -0.2, 0.3]}, []),
    ("bodies/a", {"mass": 2, "com": [1, 2, 3], "inertia_at_origin": [27, 21, 11, -4, -6, -12]}, []),
    ("bodies/a", {"mass": 2, "com": [1, 2, 3], "inertia_at_origin": [26, 20, 10, -4, -6, -12]}, []),
    (
        "bodies/a",
        {"mass": 2, "com": [1, 2, 3], "inertia_at_origin": [25.9, 20, 10, -4, -6, -12]},
        [
            ".inertia_at_origin: found a negative principal moment about the centre of mass, -0.1, expected 0 or more"
        ],
    ),
    ("bodies/a", {"mass": 1, "inertia": [1, 1, 5, 0, 0, 0], "unphysical": True}, []),
    (
        "bodies/a",
        {"mass": 1, "inertia": [1e150, 1, 1, 0, 0, 0]},
        [
            ".inertia: found moments too large to compute with, expected moments below 1e+150 kg.m2 about the centre of mass"
        ],
    ),
    ("bodies/a", {"mass": 1, "inertia": [1e149, 1e149, 1e149, 0, 0, 0]}, []),
    (
        "bodies/a",
        BODY | {"shape": {}},
        [".shape: found no shape, expected one of box, cylinder, capsule, sphere, extrusion, mesh"],
    ),
    (
        "bodies/a",
        BODY | {"shape": {"box": [1, 1, 1], "sphere": 1}},
        [
            ".shape: found box and sphere, expected one of box, cylinder, capsule, sphere, extrusion, mesh"
        ],
    ),
    (
        "bodies/a",
        BODY | {"shape": {"box": [1, -1, 1]}},
        [".shape.box: found a negative size, -1, expected 0 or more"],
    ),
    ("bodies/a", BODY | {"shape": {"box": [1, 0, 1]}}, []),
    (
        "bodies/a",
        BODY | {"shape": {"cylinder": [1, 1], "axis": "x", "rotate": [0, 0, 1]}},
        [".shape: found axis and rotate, expected one of them"],
    ),
    (
        "bodies/a",
        BODY | {"shape": {"sphere": -1}},
        [".shape.sphere: found a negative size, -1, expected 0 or more"],
    ),
    (
        "bodies/a",
        BODY | {"shape": {"sphere": 1, "height": 1}},
        [".shape.height: found one with sphere, expected a height with an extrusion only"],
    ),
    ("bodies/a", BODY | {"shape": {"extrusion": [[0, 0], [1, 0], [0, 1]], "height": 1}}, []),
    (
        "bodies/a",
        BODY | {"shape": {"extrusion": [[0, 0], [1, 0]], "height": 1}},
        [".shape.extrusion: found 2 corners, expected 3 or more"],
    ),
    (
        "bodies/a",
        BODY | {"shape": {"extrusion": [[0, 0], [1, 0], [0, 1]]}},
        [".shape.height: found none with extrusion, expected a height with an extrusion only"],
    ),
    (
        "bodies/a",
        BODY | {"shape": {"extrusion": [[0, 0], [1, 0], [0, 1]], "height": -1}},
        [".shape.extrusion: found a negative size, -1, expected 0 or more"],
    ),
    (
        "bodies/a",
        BODY | {"shape": {"mesh": "x.stl", "scale": -1}},
        [".shape.mesh: found a negative size, -1, expected 0 or more"],
    ),
    (
        "bodies/a",
        BODY | {"shape": {"capsule": [1, -1]}},
        [".shape.capsule: found a negative size, -1, expected 0 or more"],
    ),
    (
        "bodies/a",
        BODY | {"shape": {"sphere": 1, "colour": "rosy"}},
        [
            (
                ".shape.colour: found 'rosy', expected #rrggbb or one of black, white, grey, silver, steel, "
                "red, brick, orange, yellow, green, teal, blue, navy, purple, pink, brown, wood"
            )
        ],
    ),
    (
        "bodies/a",
        BODY | {"shape": {"sphere": 1, "colour": "#12345"}},
        [
            (
                ".shape.colour: found '#12345', expected #rrggbb or one of black, white, grey, silver, steel, "
                "red, brick, orange, yellow, green, teal, blue, navy, purple, pink, brown, wood"
            )
        ],
    ),
    ("bodies/a", BODY | {"shape": {"sphere": 1, "colour": "#aBc"}}, []),
    ("bodies/a", BODY | {"shape": {"sphere": 1, "colour": "TEAL"}}, []),
    (
        "bodies/a",
        BODY | {"shapes": [{"sphere": 1}, {}]},
        [
            ".shapes[1]: found no shape, expected one of box, cylinder, capsule, sphere, extrusion, mesh"
        ],
    ),
    (
        "bodies/a",
        BODY | {"at": [0, 0, 1]},
        [
            ".at: found a place, expected a shape; it places the one that is written as `shape`; `shapes` have each their own"
        ],
    ),
    ("bodies/a", BODY | {"at": [0, 0, 1], "shape": {"sphere": 1}}, []),
    (
        "bodies/a",
        BODY | {"at": [0, 0, 1], "shapes": [{"sphere": 1}]},
        [
            ".at: found a place, expected a shape; it places the one that is written as `shape`; `shapes` have each their own"
        ],
    ),
    (
        "bodies/ground",
        BODY,
        [
            ": found a body named 'ground'; ground is there already: it is body 0",
            ': found no path to ground; a joint must lead to it; type = "free" lets it move freely',
        ],
    ),
    (
        "bodies/d",
        BODY,
        [': found no path to ground; a joint must lead to it; type = "free" lets it move freely'],
    ),
]
NAMES = [
    (
        "",
        {"scenery": [{"sphere": 1}, {"sphere": -1}]},
        ["scenery[1].sphere: found a negative size, -1, expected 0 or more"],
    ),
    ("parameters/k", {"value": 2, "min": 2}, []),
    ("parameters/k", {"value": 2, "min": 2.1}, [": found 2, expected a number >= 2.1"]),
    ("parameters/k", {"value": 2, "max": 2}, []),
    ("parameters/k", {"value": 2, "max": 1.9}, [": found 2, expected a number <= 1.9"]),
    ("parameters/k", {"value": 2, "min": 2, "max": 2}, []),
    ("parameters/k", {"value": 2, "min": 3, "max": 2}, [": found min 3 above max 2"]),
    ("parameters/k", {"value": "2*p", "min": "3*p"}, [": found 2, expected a number >= 3 (3*p)"]),
    ("inputs/k", {"start": 1, "min": 2}, [": found 1, expected a number >= 2"]),
    ("inputs/k", {"start": 1, "min": 1, "max": 1}, []),
    ("inputs/k", {"start": 1, "max": 0, "min": 1}, [": found min 1 above max 0"]),
    (
        "",
        {
            "parameters": {"p": {"value": 1, "min": 0, "max": 2}},
            "stages": [
                {"ends": {"at": 1}, "set": {"p": 2.1}},
                {"ends": {"at": 2}, "set": {"p": 2}},
                {},
            ],
            "events": {
                "e": {"when": "x>1", "set": {"p": -0.1}},
                "g": {"when": "x>1", "set": {"p": 0}},
            },
            "run": {"prepare": [{"set": {"p": 3}}, {"set": {"p": "q"}}]},
        },
        [
            "run.prepare[1].set.p: found 'q' (column 1); 'q' is a coordinate of joint 'jb', only parameters can be used here",
            "stages[0].set.p: found 2.1, expected a number >= 0 and <= 2",
            "events.e.set.p: found -0.1, expected a number >= 0 and <= 2",
            "run.prepare[0].set.p: found 3, expected a number >= 0 and <= 2",
        ],
    ),
    (
        "joints/k",
        {"parent": "a", "child": "a", "type": "rigid"},
        [": found a joint of 'a' to itself, expected two different bodies"],
    ),
    (
        "joints/k",
        {"parent": "y", "child": "z", "type": "rigid"},
        [
            ".parent: found the unknown body 'y'; known: a, b, c",
            ".child: found the unknown body 'z'; known: a, b, c",
        ],
    ),
    (
        "joints/k",
        {"child": "c", "type": "revolute", "axis": ["p-1", 0, 0]},
        [": found an axis of length 0, expected a direction"],
    ),
    ("joints/k", {"child": "c", "transforms": [{"shift": ["p-1", 0, 0]}]}, []),
    (
        "joints/k",
        {"child": "c", "type": "revolute", "coordinates": ["2q"]},
        [
            ".coordinates: found the name '2q', expected letters, digits, underscores, dots and - + / : @ ~, beginning with a letter"
        ],
    ),
    (
        "joints/k",
        {"child": "c", "transforms": [{"rotate": "x", "coordinate": "t"}]},
        [
            ".transforms: found the name 't', expected another name: 't' has a meaning in expressions",
            ".transforms: found the name 't'; it is already the time",
        ],
    ),
    (
        "joints/k",
        {"child": "c", "type": "revolute", "coordinates": ["ground.x"]},
        [
            ".coordinates: found the name 'ground.x', expected another name: 'ground.x' is the place of a contact"
        ],
    ),
    (
        "joints/k",
        {"child": "c", "type": "revolute", "coordinates": ["q"]},
        [".coordinates: found the name 'q'; it is already a coordinate of joint 'jb'"],
    ),
    (
        "joints/k",
        {"child": "c", "type": "revolute", "coordinates": ["lambda"]},
        [
            ".coordinates: found the name 'lambda', expected another name: 'lambda' has a meaning in expressions"
        ],
    ),
    (
        "",
        {"bodies": {"d": BODY}},
        [
            "joints.ja.child: found the unknown body 'a'; known: d",
            "joints.jb.parent: found the unknown body 'a'; known: d",
            "joints.jb.child: found the unknown body 'b'; known: d",
            "joints.jc.child: found the unknown body 'c'; known: d",
        ],
    ),
    (
        "",
        {"bodies": {}, "joints": {}},
        [
            "bodies: found no bodies, expected at least one, or states, outputs or a hydraulic circuit"
        ],
    ),
    ("", {"bodies": {}, "joints": {}, "outputs": {"o": "p"}}, []),
    (
        "joints/jb/cut",
        True,
        [
            "bodies.b: found no path to ground without cut joints; cut = true belongs on a joint in a closed loop (see 'jb')"
        ],
    ),
    ("", {"joints": JOINTS | {"k": {"child": "a", "type": "spherical", "cut": True}}}, []),
    (
        "joints/ja/cut",
        True,
        [
            "bodies.a: found no path to ground without cut joints; cut = true belongs on a joint in a closed loop (see 'ja')",
            "bodies.b: found no path to ground without cut joints; cut = true belongs on a joint in a closed loop (see 'jb')",
        ],
    ),
    (
        "inputs/der",
        {},
        [": found the name 'der', expected another name: 'der' has a meaning in expressions"],
    ),
    ("inputs/x", {}, [": found the name 'x'; it is already a coordinate of joint 'ja'"]),
    ("inputs/é", {}, []),
    (
        "inputs/a b",
        {},
        [
            ": found the name 'a b', expected letters, digits, underscores, dots and - + / : @ ~, beginning with a letter"
        ],
    ),
    ("inputs/j-1", {}, []),
    ("outputs/force", {"value": 1}, []),
    ("outputs/reaction", {"value": 1}, []),
    (
        "outputs/der",
        {"value": 1},
        [": found the name 'der', expected another name: 'der' has a meaning in expressions"],
    ),
    (
        "outputs/not",
        {"value": 1},
        [": found the name 'not', expected another name: 'not' has a meaning in expressions"],
    ),
    ("inputs/" + 100 * "a", {}, []),
    (
        "inputs/" + 101 * "a",
        {},
        [
            ": found the name 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..., expected at most 100 characters"
        ],
    ),
    ("inputs/k", {"unit": "zz"}, [".unit: found 'zz'; 'zz' is not a known unit"]),
    ("states/k", {"rate": "der(k)"}, []),
    (
        "states/k",
        {"rate": "force('f')"},
        [
            ".rate: found \"force('f')\" (column 1); unknown name 'force('f')'; did you mean 'force('jc')'?"
        ],
    ),
    (
        "forces/f",
        {"coordinate": "q", "value": "der(der(q))"},
        [
            (
                ".value: found 'der(der(q))' (column 1); 'der(der(q))' is an acceleration, only parameters, t, "
                "coordinates, speeds, states, inputs and outputs can be used here"
            )
        ],
    ),
    (
        "forces/f",
        {"coordinate": "q", "value": "f2"},
        [".value: found 'f2' (column 1); unknown name 'f2'"],
    ),
    (
        "forces/f",
        {"coordinate": "q", "value": "table('flat', q)"},
        [".value: found \"table('flat', q)\" (column 1); table 'flat' takes two values"],
    ),
    (
        "forces/f",
        {"coordinate": "q", "value": "table('T', q, x)"},
        [".value: found \"table('T', q, x)\" (column 1); table 'T' takes one value"],
    ),
    (
        "forces/f",
        {"coordinate": "q", "value": "table('t', q)"},
        [".value: found \"table('t', q)\" (column 1); unknown table 't'; did you mean 'T'?"],
    ),
    (
        "gravity",
        [0, 0, "table('T',1)"],
        ["[2]: found \"table('T',1)\" (column 1); tables cannot be used in constants"],
    ),
    (
        "gravity",
        [0, 0, "q"],
        [
            "[2]: found 'q' (column 1); 'q' is a coordinate of joint 'jb', only parameters can be used here"
        ],
    ),
    ("gravity", [0, 0, "1/(p-1)"], ["[2]: found '1/(p-1)'; division by zero"]),
    ("forces/f", {"body": "a", "stiffness": 1, "height": "ground.x + push"}, []),
    (
        "forces/f",
        {"body": "a", "stiffness": 1, "height": "q"},
        [
            (
                ".height: found 'q' (column 1); 'q' is a coordinate of joint 'jb', only parameters, t, inputs, "
                "states and the place of the contact (ground.x, ground.y, ground.z) can be used here"
            )
        ],
    ),
    (
        "forces/f",
        {"coordinate": "q", "value": "ground.x"},
        [".value: found 'ground.x' (column 1); unknown name 'ground.x'"],
    ),
    (
        "forces/f",
        {"between": [{"body": "a"}, {"body": "b"}], "strength": "q", "stiffness": 1, "length": 1},
        [
            ".strength: found 'q' (column 1); 'q' is a coordinate of joint 'jb', only parameters, t and inputs can be used here"
        ],
    ),
    (
        "forces/f",
        {
            "between": [{"body": "a"}, {"body": "b"}],
            "strength": "push + t",
            "stiffness": 1,
            "length": 1,
        },
        [],
    ),
    (
        "joints/k",
        {"child": "c", "transforms": [{"rotate": "x", "by": "push"}]},
        [
            ".transforms[0].by: found 'push' (column 1); 'push' is an input, only parameters, t and coordinates can be used here"
        ],
    ),
    ("joints/k", {"child": "c", "transforms": [{"rotate": "x", "by": "t*p"}]}, []),
    (
        "",
        {"chain": {"mass": [1.0, 1.0], "stiffness": 1.0}},
        [
            "bodies: found a section that belongs to bodies; [chain] replaces bodies and joints",
            "joints: found a section that belongs to bodies; [chain] replaces bodies and joints",
            "tables: found a section that belongs to bodies; [chain] replaces bodies and joints",
        ],
    ),
    (
        "",
        {
            "bodies": {},
            "joints": {},
            "tables": {},
            "inputs": {},
            "chain": {"mass": [1.0, 1.0], "stiffness": 1.0, "names": ["x", "2y"]},
            "outputs": {"o": {"quantity": "energy"}, "o2": "table('T', x)", "o3": "x"},
        },
        [
            "outputs.o2.value: found \"table('T', x)\" (column 1); unknown table 'T'",
            "chain.names: found the name '2y', expected letters, digits, underscores, dots and - + / : @ ~, beginning with a letter",
            "outputs.o.quantity: found 'energy', expected value, an expression over the coordinates of the chain",
            "outputs.o2.value: found 'table('T', x)', expected coordinates, speeds, inputs, parameters and t",
        ],
    ),
]


@pytest.mark.parametrize("cases", [BODIES, NAMES], ids=["bodies", "names"])
def test_invalid_names_are_refused_and_similar_valid_ones_accepted(cases: list):
    """Nothing is said of the ones, exactly this of the others."""
    for path, value, words in cases:
        assert said(changed(path, value), within(path)) == words, (path, value)
