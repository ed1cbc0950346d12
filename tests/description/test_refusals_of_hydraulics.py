"""Every refusal of hydraulic circuits to the letter, beside a neighbour that is accepted; the numbers stand at the borders."""

import pytest
from plant_description import PLANT, changed, said, within, without

ENDS = [{"body": "a"}, {"body": "b"}]
VALVE = {"supply": "pump", "tank": "tank", "a": "A", "b": "Z", "command": 0, "rated_flow": 0.001}
CYLINDER = {
    "a": "A",
    "b": "Z",
    "area_a": 1,
    "area_b": 1,
    "shortest": 1,
    "longest": 2,
    "between": ENDS,
}
MOTOR = {"a": "A", "b": "Z", "displacement": 1, "coordinate": "q"}
PLACES = {
    "tank": {"pressure": 1e5},
    "pump": {"pressure": 2e7},
    "A": {"volume": 1e-3},
    "Z": {"volume": 1e-3},
}
CIRCUIT = PLANT | {"hydraulics": PLACES | {"o": {"path": ["A", "Z"], "area": 1e-5}}}
HYDRAULICS = [
    ("hydraulics/h", VALVE, []),
    (
        "hydraulics/h",
        VALVE | {"supply": "z"},
        [".supply: found the unknown place 'z'; did you mean 'Z'?"],
    ),
    (
        "hydraulics/h",
        VALVE | {"supply": "o"},
        [".supply: found 'o', which is of kind orifice, expected a source or a volume"],
    ),
    (
        "hydraulics/h",
        VALVE | {"b": "A"},
        [": found a and b at the same place 'A', expected two different places"],
    ),
    (
        "hydraulics/h",
        VALVE | {"tank": "pump"},
        [
            ": found supply and tank at the same place 'pump', expected two different places",
            ".supply: found 'pump' at 2e+07 Pa, expected a pressure above that of 'pump', 2e+07 Pa",
        ],
    ),
    (
        "hydraulics/h",
        without(VALVE, "rated_flow"),
        [".rated_flow: found nothing, expected the flow fully open"],
    ),
    (
        "hydraulics/h",
        VALVE | {"time_constant": 0.1, "frequency": 5},
        [": found time_constant and frequency, expected one of them"],
    ),
    (
        "hydraulics/h",
        VALVE | {"rate": 1},
        [".rate: found a rate, expected time_constant too: the rate limits a spool of first order"],
    ),
    ("hydraulics/h", VALVE | {"rate": 1, "time_constant": 0.1}, []),
    ("hydraulics/h", VALVE | {"overlap": -1, "open_edges": 0, "start": -1}, []),
    ("hydraulics/h", VALVE | {"overlap": 1, "open_edges": 1, "start": 1}, []),
    (
        "hydraulics/h",
        VALVE | {"overlap": -1.01, "open_edges": -0.01, "start": -1.01},
        [
            ".overlap: found -1.01, expected a part of the stroke, -1 to 1",
            ".open_edges: found -0.01, expected a part of the stroke, 0 to 1",
            ".start: found -1.01, expected a part of the stroke, -1 to 1",
        ],
    ),
    (
        "hydraulics/h",
        VALVE | {"overlap": 1.01, "open_edges": 1.01, "start": 1.01},
        [
            ".overlap: found 1.01, expected a part of the stroke, -1 to 1",
            ".open_edges: found 1.01, expected a part of the stroke, 0 to 1",
            ".start: found 1.01, expected a part of the stroke, -1 to 1",
        ],
    ),
    (
        "hydraulics/h",
        VALVE | {"supply": "tank", "tank": "pump"},
        [".supply: found 'tank' at 100000 Pa, expected a pressure above that of 'pump', 2e+07 Pa"],
    ),
    (
        "hydraulics/h",
        VALVE | {"rated_drop": 0, "laminar": 0, "time_constant": 0},
        [
            ".rated_drop: found 0, expected a number > 0",
            ".laminar: found 0, expected a number > 0",
            ".time_constant: found 0, expected a number > 0",
        ],
    ),
    (
        "hydraulics/h",
        VALVE | {"frequency": 0, "damping": 0},
        [".frequency: found 0, expected a number > 0", ".damping: found 0, expected a number > 0"],
    ),
    (
        "hydraulics/h",
        {"path": ["A", "A"], "area": 1},
        [".path: found 'A' twice, expected two different places"],
    ),
    (
        "hydraulics/h",
        {"path": ["A", "z"], "area": 1},
        [".path[1]: found the unknown place 'z'; did you mean 'Z'?"],
    ),
    (
        "hydraulics/h",
        {"path": ["A", "Z"], "kind": "orifice"},
        [": found both or neither of rated_flow and area, expected one of them"],
    ),
    (
        "hydraulics/h",
        {"path": ["A", "Z"], "area": 1, "rated_flow": 1},
        [": found both or neither of rated_flow and area, expected one of them"],
    ),
    ("hydraulics/h", {"path": ["A", "Z"], "area": 0}, [".area: found 0, expected a number > 0"]),
    (
        "hydraulics/h",
        {"path": ["A", "Z"], "area": 1, "discharge": 0, "density": 0},
        [".discharge: found 0, expected a number > 0", ".density: found 0, expected a number > 0"],
    ),
    (
        "hydraulics/h",
        {"path": ["A", "Z"], "opens": 100000.0, "gain": 0},
        [".gain: found 0, expected a number > 0"],
    ),
    (
        "hydraulics/h",
        {"path": ["tank", "Z"], "flow": 1, "limit": 0, "range": 0},
        [".range: found 0, expected a number > 0", ".limit: found 0, expected a number > 0"],
    ),
    (
        "hydraulics/h",
        {"at": "pump", "gas": 1, "precharge": 1},
        [".at: found 'pump', whose pressure is given, expected a volume"],
    ),
    ("hydraulics/h", {"at": "A", "gas": 1, "precharge": 1}, []),
    (
        "hydraulics/h",
        {"at": "z", "gas": 0, "precharge": 0, "exponent": 0},
        [
            ".gas: found 0, expected a number > 0",
            ".precharge: found 0, expected a number > 0",
            ".exponent: found 0, expected a number > 0",
            ".at: found the unknown place 'z'; did you mean 'Z'?",
        ],
    ),
    (
        "hydraulics/h",
        {"pressure": -1},
        [".pressure: found -1, expected an absolute pressure, 0 or more"],
    ),
    ("hydraulics/h", {"pressure": 0}, []),
    (
        "hydraulics/h",
        {"volume": 0, "start": -1, "wall": 0, "bulk_modulus": 0},
        [
            ".volume: found 0, expected a number > 0",
            ".bulk_modulus: found 0, expected a number > 0",
            ".wall: found 0, expected a number > 0",
            ".start: found -1, expected an absolute pressure, 0 or more",
        ],
    ),
    ("hydraulics/h", {"volume": 1, "start": 0}, []),
    ("hydraulics/h", CYLINDER, []),
    (
        "hydraulics/h",
        CYLINDER | {"longest": 1},
        [".longest: found 1, expected a number above shortest, 1"],
    ),
    ("hydraulics/h", CYLINDER | {"longest": 1.1}, []),
    (
        "hydraulics/h",
        without(CYLINDER, "between"),
        [
            ": found neither or too much of between, length and rate, expected between, or length with rate"
        ],
    ),
    ("hydraulics/h", without(CYLINDER, "between") | {"length": "push", "rate": "pull"}, []),
    (
        "hydraulics/h",
        without(CYLINDER, "between") | {"length": "push"},
        [
            ": found neither or too much of between, length and rate, expected between, or length with rate"
        ],
    ),
    (
        "hydraulics/h",
        CYLINDER | {"rate": "push"},
        [
            ": found neither or too much of between, length and rate, expected between, or length with rate"
        ],
    ),
    (
        "hydraulics/h",
        CYLINDER | {"area_a": 0, "speed": 0},
        [".area_a: found 0, expected a number > 0", ".speed: found 0, expected a number > 0"],
    ),
    ("hydraulics/h", CYLINDER | {"area_b": 0}, []),
    (
        "hydraulics/h",
        CYLINDER | {"between": [{"body": "a"}, {"body": "a"}]},
        [".between: found 'a' twice, expected two different bodies"],
    ),
    (
        "hydraulics/h",
        CYLINDER | {"b": "A"},
        [": found a and b at the same place 'A', expected two different places"],
    ),
    ("hydraulics/h", MOTOR, []),
    (
        "hydraulics/h",
        MOTOR | {"rate": "push"},
        [": found both or neither of coordinate and rate, expected one of them"],
    ),
    (
        "hydraulics/h",
        without(MOTOR, "coordinate"),
        [": found both or neither of coordinate and rate, expected one of them"],
    ),
    ("hydraulics/h", without(MOTOR, "coordinate") | {"rate": "push"}, []),
    (
        "hydraulics/h",
        MOTOR | {"coordinate": "z"},
        [".coordinate: found the unknown coordinate 'z'; known: x, q, jc.qw, jc.qx, jc.qy, jc.qz"],
    ),
    (
        "hydraulics/h",
        MOTOR | {"displacement": 0},
        [".displacement: found 0, expected a number > 0"],
    ),
]


@pytest.mark.parametrize("cases", [HYDRAULICS], ids=["hydraulics"])
def test_invalid_hydraulics_are_refused_and_similar_valid_ones_accepted(cases: list):
    """Nothing is said of the ones, exactly this of the others."""
    for path, value, words in cases:
        assert said(changed(path, value, CIRCUIT), within(path)) == words, (path, value)
