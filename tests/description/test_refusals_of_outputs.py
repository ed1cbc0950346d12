"""Every refusal of outputs, tables, actuators, stages and runs to the letter, beside a neighbour that is accepted; numbers stand at borders."""

import pytest
from plant_description import PLANT, changed, said, within

ENDS = [{"body": "a"}, {"body": "b"}]
MORE = PLANT | {
    "forces": {
        "along": {"coordinate": "q", "stiffness": 1},
        "line": {"between": ENDS, "stiffness": 1, "length": 1},
        "foot": {"body": "a", "stiffness": 1},
    },
    "actuators": {"m": {"coordinate": "x"}},
}
OUTPUTS = [
    ("outputs/o", {}, [": found both or neither of value and quantity, expected one of them"]),
    (
        "outputs/o",
        {"value": 1, "quantity": "energy"},
        [": found both or neither of value and quantity, expected one of them"],
    ),
    (
        "outputs/o",
        {"quantity": "velocity", "body": "z"},
        [".body: found the unknown body 'z'; known: a, b, c"],
    ),
    (
        "outputs/o",
        {"quantity": "mass", "bodies": ["a", "z"]},
        [".bodies: found the unknown body 'z'; known: a, b, c"],
    ),
    (
        "outputs/o",
        {"quantity": "position", "body": "a", "reference": {"body": "z"}},
        [".reference.body: found the unknown body 'z'; known: a, b, c"],
    ),
    (
        "outputs/o",
        {"quantity": "position", "body": "a", "reference": {"body": "b"}, "frame": "z"},
        [".frame: found the unknown body 'z'; known: a, b, c"],
    ),
    (
        "outputs/o",
        {"quantity": "position", "body": "a", "reference": {"body": "ground"}, "frame": "b"},
        [],
    ),
    ("outputs/o", {"quantity": "position", "body": "ground", "frame": "body"}, []),
    (
        "outputs/o",
        {"quantity": "reaction", "joint": "z"},
        [".joint: found the unknown joint 'z'; known: ja, jb, jc"],
    ),
    (
        "outputs/o",
        {"quantity": "force", "force": "z"},
        [".force: found the unknown force 'z'; known: along, line, foot"],
    ),
    (
        "outputs/o",
        {"quantity": "power", "actuator": "z"},
        [".actuator: found the unknown actuator 'z'; known: m"],
    ),
    (
        "outputs/o",
        {"quantity": "power"},
        [".force: found nothing, expected a force or an actuator or a joint for power"],
    ),
    (
        "outputs/o",
        {"quantity": "power", "actuator": "m", "force": "line"},
        [".force: found force and actuator, expected a force or an actuator or a joint for power"],
    ),
    ("outputs/o", {"quantity": "power", "joint": "jb"}, []),
    (
        "outputs/o",
        {"quantity": "distance", "between": [{"body": "a"}, {"body": "a"}]},
        [".between: found 'a' twice, expected two different bodies"],
    ),
    (
        "outputs/o",
        {"quantity": "distance", "between": [{"body": "a"}, {"body": "z"}]},
        [".between[1].body: found the unknown body 'z'; known: a, b, c"],
    ),
    (
        "outputs/o",
        {"quantity": "distance", "body": "a", "between": [{"body": "a"}, {"body": "b"}]},
        [".body: found body, expected no body for distance"],
    ),
    (
        "outputs/o",
        {"quantity": "distance", "between": [{"body": "a"}, {"body": "b"}], "axis": "x"},
        [".axis: found 'x', expected no axis for distance"],
    ),
    (
        "outputs/o",
        {"quantity": "velocity", "body": "a", "between": [{"body": "a"}, {"body": "b"}]},
        [".between: found between, expected no between for velocity"],
    ),
    (
        "outputs/o",
        {"quantity": "velocity", "body": "a", "axis": "w"},
        [".axis: found 'w', expected one of x, y, z, norm"],
    ),
    ("outputs/o", {"quantity": "orientation", "body": "a", "axis": "w"}, []),
    (
        "outputs/o",
        {"quantity": "orientation", "body": "a", "axis": "norm"},
        [".axis: found 'norm', expected one of w, x, y, z"],
    ),
    (
        "outputs/o",
        {"quantity": "orientation", "body": "a", "frame": "b"},
        [".frame: found frame, expected no frame for orientation"],
    ),
    (
        "outputs/o",
        {"quantity": "velocity", "body": "a", "about": "centre"},
        [".about: found about, expected no about for velocity"],
    ),
    (
        "outputs/o",
        {"quantity": "energy", "point": [0, 0, 1]},
        [".point: found point, expected no point for energy"],
    ),
    (
        "outputs/o",
        {"quantity": "energy", "part": "moment"},
        [".part: found part, expected no part for energy"],
    ),
    (
        "outputs/o",
        {"quantity": "angular_velocity", "body": "a", "point": [0, 0, 1]},
        [".point: found point, expected no point for angular_velocity"],
    ),
    (
        "outputs/o",
        {"quantity": "momentum", "reference": {"body": "a"}},
        [".reference: found reference, expected no reference for momentum"],
    ),
    ("outputs/o", {"quantity": "centre_velocity", "reference": {"body": "a"}}, []),
    (
        "outputs/o",
        {"value": 1, "body": "a"},
        [".body: found body, expected no body for an expression"],
    ),
    (
        "outputs/o",
        {"value": 1, "axis": "x"},
        [".axis: found 'x', expected no axis for an expression"],
    ),
    (
        "outputs/o",
        {"value": 1, "point": [0, 0, 0]},
        [".point: found point, expected no point for an expression"],
    ),
    (
        "outputs/o",
        {"value": 1, "joint": "jb"},
        [".joint: found joint, expected no joint for an expression"],
    ),
    (
        "outputs/o",
        {"quantity": "force", "force": "along", "axis": "x"},
        [
            ".axis: found a component, expected no axis, part or frame; force 'along' acts along a coordinate"
        ],
    ),
    (
        "outputs/o",
        {"quantity": "force", "force": "along", "frame": "body"},
        [
            ".axis: found a component, expected no axis, part or frame; force 'along' acts along a coordinate"
        ],
    ),
    ("outputs/o", {"quantity": "force", "force": "along"}, []),
    (
        "outputs/o",
        {"quantity": "force", "force": "line", "part": "moment"},
        [
            ".axis: found nothing, expected x, y, z or norm; without an axis the force is the value of its law"
        ],
    ),
    (
        "outputs/o",
        {"quantity": "force", "force": "line", "frame": "body"},
        [
            ".axis: found nothing, expected x, y, z or norm; without an axis the force is the value of its law"
        ],
    ),
    ("outputs/o", {"quantity": "force", "force": "line", "frame": "body", "axis": "x"}, []),
    (
        "outputs/o",
        {"quantity": "clearance", "force": "line"},
        [
            ".force: found a force of kind line, expected a contact, tyre, wheel, jack, boundary, guide or rail"
        ],
    ),
    ("outputs/o", {"quantity": "clearance", "force": "foot"}, []),
    (
        "outputs",
        {"o": "p2 + 1", "p2": "o2", "o2": "2*o"},
        [".o2.value: found '2*o'; circular: o -> p2 -> o2 -> o"],
    ),
    ("outputs", {"o": "p2 + p3", "p2": "p4", "p3": "p4", "p4": "q"}, []),
    (
        "outputs",
        {"o": "p2 + p3", "p2": "q", "p3": "p3 + 1"},
        [".p3.value: found 'p3 + 1'; circular: p3 -> p3"],
    ),
    ("outputs", {"z": "o", "o": "p2", "p2": "o"}, [".p2.value: found 'o'; circular: o -> p2 -> o"]),
]
STAGES = [
    ("stages", [{"ends": {}}, {}], ["[0].ends: found no condition, expected when, at or after"]),
    (
        "stages",
        [{}, {}],
        [
            "[0].ends: found nothing, expected when, at or after: only the last stage may have no end"
        ],
    ),
    (
        "stages",
        [{"ends": {"at": 1}, "free": ["z"], "lock": ["y"], "drop": ["x"]}, {}],
        [
            "[0].free: found the unknown joint 'z'; known: ja, jb, jc",
            "[0].lock: found the unknown joint 'y'; known: ja, jb, jc",
            "[0].drop: found the unknown body 'x'; known: a, b, c",
        ],
    ),
    (
        "stages",
        [{"ends": {"at": 1}, "drop": ["b", "c"]}, {"ends": {"at": 2}, "drop": ["c"]}, {}],
        ["[1].drop: found 'c' a second time, expected bodies that are still there"],
    ),
    ("stages", [{"ends": {"at": 1}, "drop": ["b"]}, {"ends": {"at": 2}, "drop": ["c"]}, {}], []),
    (
        "stages",
        [{"ends": {"at": 1}, "set": {"y": 1}}, {}],
        ["[0].set.y: found the unknown parameter 'y'"],
    ),
    ("stages", [{"ends": {"at": 1}, "set": {"x": 1, "der(x)": 1, "p": 2}}, {}], []),
    ("stages", [{"ends": {"at": 1}, "free": ["jb"], "lock": ["ja"]}, {}], []),
    (
        "events",
        {"e": {"when": "x > 1", "set": {"y": 1}}},
        [".e.set.y: found the unknown parameter 'y'"],
    ),
    ("events", {"e": {"when": "x > 1", "set": {"x": 1, "p": "2*p"}}}, []),
]
NUMBERS = [
    ("run", {"stop_time": 100, "output_step": 1e-06}, []),
    (
        "run",
        {"stop_time": 100.5, "output_step": 1e-06},
        [".output_step: found 1e-06, 1e+08 rows, expected at most 100000000 rows"],
    ),
    ("run", {"start_time": 50, "stop_time": 150, "output_step": 1e-06}, []),
    (
        "run",
        {"start_time": 50, "stop_time": 151, "output_step": 1e-06},
        [".output_step: found 1e-06, 1.01e+08 rows, expected at most 100000000 rows"],
    ),
    ("run", {"start_time": 2, "stop_time": 2}, []),
    (
        "run",
        {"start_time": 2, "stop_time": 1},
        [".stop_time: found 1, expected a number above start_time, 2"],
    ),
    (
        "run",
        {"tolerances": 1.0},
        [
            ".tolerances.relative: found 1, expected a number below 1: it is relative to the size of the states"
        ],
    ),
    ("run", {"tolerances": 0.999}, []),
    (
        "run",
        {"tolerances": {"relative": 1e-06, "absolute": 0}},
        [".tolerances.absolute: found 0, expected a number > 0"],
    ),
    (
        "run",
        {"step": 0, "output_step": -1},
        [".output_step: found -1, expected a number > 0", ".step: found 0, expected a number > 0"],
    ),
    (
        "run",
        {"prepare": [{"set": {"nothing": 1}}]},
        [".prepare[0].set.nothing: found the unknown parameter 'nothing'; known: p"],
    ),
    (
        "run",
        {"prepare": [{"guess": {"y": 1}}]},
        [
            ".prepare[0].guess.y: found the unknown coordinate 'y'; known: x, q, jc.qw, jc.qx, jc.qy, jc.qz"
        ],
    ),
    (
        "run",
        {"prepare": [{"guess": {"jc.qw": 1}}]},
        [
            ".prepare[0].guess.jc.qw: found the coordinate 'jc.qw' of a spherical or free joint; use a wrench or a pair of forces"
        ],
    ),
    ("run", {"prepare": [{"guess": {"q": 1}, "set": {"p": 2}}]}, []),
    (
        "actuators/m",
        {
            "between": [{"body": "a"}, {"body": "b"}],
            "chambers": {
                "area_a": 0,
                "area_b": 1,
                "volume_a": 1,
                "volume_b": 1,
                "shortest": 1,
                "longest": 2,
            },
        },
        [".chambers.area_a: found 0, expected a number > 0"],
    ),
    (
        "actuators/m",
        {
            "between": [{"body": "a"}, {"body": "b"}],
            "chambers": {
                "area_a": 1,
                "area_b": 0,
                "volume_a": 1,
                "volume_b": 1,
                "shortest": 1,
                "longest": 2,
            },
        },
        [],
    ),
    (
        "actuators/m",
        {
            "between": [{"body": "a"}, {"body": "b"}],
            "chambers": {
                "area_a": 1,
                "area_b": -1,
                "volume_a": 1,
                "volume_b": 1,
                "shortest": 1,
                "longest": 2,
            },
        },
        [".chambers.area_b: found -1, expected 0 or more"],
    ),
    (
        "actuators/m",
        {
            "between": [{"body": "a"}, {"body": "b"}],
            "chambers": {
                "area_a": 1,
                "area_b": 1,
                "volume_a": 0,
                "volume_b": 0,
                "shortest": 1,
                "longest": 2,
            },
        },
        [
            ".chambers.volume_a: found 0, expected a number > 0",
            ".chambers.volume_b: found 0, expected a number > 0",
        ],
    ),
    (
        "actuators/m",
        {
            "between": [{"body": "a"}, {"body": "b"}],
            "chambers": {
                "area_a": 1,
                "area_b": 1,
                "volume_a": 1,
                "volume_b": 1,
                "shortest": 1,
                "longest": 2,
                "bulk_modulus": 0,
                "speed": 0,
            },
        },
        [
            ".chambers.speed: found 0, expected a number > 0",
            ".chambers.bulk_modulus: found 0, expected a number > 0",
        ],
    ),
    (
        "actuators/m",
        {
            "between": [{"body": "a"}, {"body": "b"}],
            "chambers": {
                "area_a": 1,
                "area_b": 1,
                "volume_a": 1,
                "volume_b": 1,
                "shortest": 1,
                "longest": 2,
                "air": -1,
                "leakage": -1,
                "end_stiffness": -1,
                "end_damping": -1,
            },
        },
        [
            ".chambers.air: found -1, expected 0 or more",
            ".chambers.leakage: found -1, expected 0 or more",
            ".chambers.end_stiffness: found -1, expected 0 or more",
            ".chambers.end_damping: found -1, expected 0 or more",
        ],
    ),
    (
        "actuators/m",
        {
            "between": [{"body": "a"}, {"body": "b"}],
            "chambers": {
                "area_a": 1,
                "area_b": 1,
                "volume_a": 1,
                "volume_b": 1,
                "shortest": 1,
                "longest": 2,
                "air": 0,
                "leakage": 0,
                "end_stiffness": 0,
                "end_damping": 0,
            },
        },
        [],
    ),
    (
        "actuators/m",
        {
            "between": [{"body": "a"}, {"body": "b"}],
            "chambers": {
                "area_a": 1,
                "area_b": 1,
                "volume_a": 1,
                "volume_b": 1,
                "shortest": 1,
                "longest": 1,
            },
        },
        [],
    ),
    (
        "actuators/m",
        {
            "between": [{"body": "a"}, {"body": "b"}],
            "chambers": {
                "area_a": 1,
                "area_b": 1,
                "volume_a": 1,
                "volume_b": 1,
                "shortest": 1,
                "longest": 0.5,
            },
        },
        [".chambers.longest: found 0.5, expected a number above shortest, 1"],
    ),
    (
        "actuators/m",
        {"coordinate": "q", "between": [{"body": "a"}, {"body": "b"}]},
        [": found both or neither of between and coordinate, expected one of them"],
    ),
    (
        "actuators/m",
        {"coordinate": "jc.qw"},
        [
            ".coordinate: found the coordinate 'jc.qw' of a spherical or free joint; use a wrench or a pair of forces"
        ],
    ),
    (
        "actuators/m",
        {"between": [{"body": "a"}, {"body": "z"}]},
        [".between[1].body: found the unknown body 'z'; known: a, b, c"],
    ),
    (
        "actuators/m",
        {"between": [{"body": "ground"}, {"body": "ground"}]},
        [".between: found 'ground' twice, expected two different bodies"],
    ),
    (
        "actuators/m",
        {"between": [{"body": "zz"}, {"body": "zz"}]},
        [
            ".between[0].body: found the unknown body 'zz'; known: a, b, c",
            ".between[1].body: found the unknown body 'zz'; known: a, b, c",
        ],
    ),
    (
        "tables/T",
        {"x": [], "y": []},
        [
            ".x: found [], expected Tuple should have at least 2 items after validation, not 0",
            ".y: found [], expected Tuple should have at least 2 items after validation, not 0",
            ".x: found nothing, expected at least two numbers, or a file",
        ],
    ),
    (
        "tables/T",
        {"x": [0, 1], "y": []},
        [
            ".y: found [], expected Tuple should have at least 2 items after validation, not 0",
            ".y: found nothing, expected at least two numbers, or a file",
        ],
    ),
    (
        "tables/T",
        {"x": [0, 1, 1], "y": [0, 1, 2]},
        [".x: found 1 before 1, expected ascending numbers"],
    ),
    (
        "tables/T",
        {"x": [0, 1, 2, 3, 1.5], "y": [0, 1, 2, 3, 4]},
        [".x: found 3 before 1.5, expected ascending numbers"],
    ),
    ("tables/T", {"x": [0, 1], "y": [0, 1, 2]}, [".y: found 3 values, expected 2, as many as x"]),
    ("tables/T", {"x": [0, 1], "y": [5, 4]}, []),
    (
        "tables/flat",
        {"x": [0, 1], "y": [0, 1, 1], "z": [[0, 1, 1], [1, 2, 1]]},
        [".y: found 1 before 1, expected ascending numbers"],
    ),
    (
        "tables/flat",
        {"x": [0, 1], "y": [0, 1], "z": [[0, 1]]},
        [".z: found 1 rows, expected 2 rows of 2 values"],
    ),
    (
        "tables/flat",
        {"x": [0, 1], "y": [0, 1], "z": [[0, 1], [1, 2, 3]]},
        [".z: found 2 rows, expected 2 rows of 2 values"],
    ),
    ("tables/flat", {"x": [0, 1], "y": [0, 1, 2], "z": [[0, 1, 3], [1, 2, 3]]}, []),
]


@pytest.mark.parametrize("cases", [OUTPUTS, STAGES, NUMBERS], ids=["outputs", "stages", "numbers"])
def test_invalid_outputs_are_refused_and_similar_valid_ones_accepted(cases: list):
    """Nothing is said of the ones, exactly this of the others."""
    for path, value, words in cases:
        assert said(changed(path, value, MORE), within(path)) == words, (path, value)
