"""The regulator as a dict, to be broken in one place by tests of the description."""

import copy

REGULATOR = {
    "format": "kinetree/1",
    "parameters": {"m2": 1.5, "k": {"value": 40.0, "unit": "N.m.s/rad", "min": 0, "tunable": True}},
    "bodies": {
        "arm": {"mass": 2.0, "com": [0, 0.4, 0], "inertia": [0.3, 0.02, 0.3, 0, 0, 0]},
        "ball": {"mass": "m2", "com": [0, 0, -0.1], "inertia": [0.01, 0.01, 0.002, 0, 0, 0]},
    },
    "joints": {
        "O": {"child": "arm", "transforms": [{"rotate": "z", "coordinate": "gamma", "speed": 5.0}]},
        "A": {
            "parent": "arm",
            "child": "ball",
            "transforms": [
                {"shift": "y", "coordinate": "y2", "start": 0.5},
                {"rotate": "x", "coordinate": "alpha"},
            ],
        },
    },
    "forces": {
        "drive": {"coordinate": "gamma", "value": "k*(omega0 - der(gamma))"},
        "spring": {
            "between": [{"body": "arm"}, {"body": "ball"}],
            "stiffness": 200.0,
            "length": 0.5,
        },
    },
    "inputs": {"omega0": {"start": 5.0, "unit": "rad/s"}},
    "outputs": {
        "height": {"quantity": "position", "body": "ball", "axis": "z"},
        "power": {"value": "k*(omega0-der(gamma))*der(gamma)"},
    },
    "tables": {"curve": {"x": [0, 1, 2], "y": [0, 1, 4]}},
    "stages": [
        {"name": "first", "ends": {"when": "abs(force('drive')) > 10"}, "free": ["A"]},
        {"name": "last"},
    ],
    "run": {"stop_time": 1},
}


def changed(*path, to):
    """The regulator with one value replaced (or added)."""
    description = copy.deepcopy(REGULATOR)
    table = description
    for part in path[:-1]:
        table = table.setdefault(part, {}) if isinstance(table, dict) else table[part]
    table[path[-1]] = to
    return description
