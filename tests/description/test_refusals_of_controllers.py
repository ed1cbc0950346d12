"""Every refusal of couplings, contacts and controllers to the letter, beside a neighbour that is accepted; the numbers stand at the borders."""

import pytest
from plant_description import PLANT, changed, said, within, without

ENDS = [{"body": "a"}, {"body": "b"}]
WHEEL = {"body": "a", "radius": 0.1}
PID = {"measure": "q", "kp": 1, "drives": "m"}
SAMPLED = ({}, {"period": 0.1})
PARTS = "letters, digits, underscores and dots, a letter at the beginning and after every dot"
OBSERVER = {"measures": ["q"], "A": [[0]], "B": [[1]], "C": [[1]], "L": [[1]], "K": [[1]]}
DRIVES = {
    "m": {"coordinate": "x"},
    "n": {"coordinate": "q"},
    "oil": {
        "between": ENDS,
        "chambers": {
            "area_a": 1,
            "area_b": 1,
            "volume_a": 1,
            "volume_b": 1,
            "shortest": 1,
            "longest": 2,
        },
    },
}
DRIVEN = PLANT | {"actuators": DRIVES}
COUPLINGS = [
    ("couplings/k", {}, [": found none of them, expected one of value, between, blade, rolling"]),
    (
        "couplings/k",
        {"value": "x - q", "blade": {"body": "a", "normal": "x"}},
        [": found value and blade, expected one of value, between, blade, rolling"],
    ),
    (
        "couplings/k",
        {"between": ENDS},
        [".length: found nothing, expected between and length together"],
    ),
    ("couplings/k", {"value": "x-q", "point": {"body": "a"}}, []),
    (
        "couplings/k",
        {"value": "k[1]", "point": {"body": "z"}},
        [".point.body: found the unknown body 'z'; known: a, b, c"],
    ),
    (
        "couplings/k",
        {"value": "k[1]", "point": {"body": "a"}, "on": "a"},
        [".point.body: found a point of 'a' in its own frame, expected a point of another body"],
    ),
    ("couplings/k", {"value": "k[1]", "point": {"body": "a"}, "on": "b"}, []),
    (
        "couplings/k",
        {"blade": {"body": "a", "normal": "x"}, "on": "b"},
        [".on: found on, expected value beside it; k[1], k[2], k[3] are its place there"],
    ),
    ("couplings/k", {"value": "x", "on": "z"}, [".on: found the unknown body 'z'; known: a, b, c"]),
    (
        "couplings/k",
        {"between": [{"body": "a"}, {"body": "z"}], "length": 1},
        [".between[1].body: found the unknown body 'z'; known: a, b, c"],
    ),
    (
        "couplings/k",
        {"between": ENDS, "length": 0},
        [
            ".length: found 0, expected a distance above 0; a spherical joint holds two points together"
        ],
    ),
    ("couplings/k", {"between": ENDS, "length": 1}, []),
    (
        "couplings/k",
        {"blade": {"body": "z", "normal": "x"}},
        [".blade.body: found the unknown body 'z'; known: a, b, c"],
    ),
    (
        "couplings/k",
        {"blade": {"body": "a", "on": "z", "normal": [0, 0, 0]}},
        [
            ".blade.on: found the unknown body 'z'; known: a, b, c",
            ".blade.normal: found a direction of length 0, expected three numbers that are not all 0",
        ],
    ),
    ("couplings/k", {"rolling": WHEEL}, []),
    (
        "couplings/k",
        {"rolling": WHEEL | {"body": "z", "on": "y"}},
        [
            ".rolling.body: found the unknown body 'z'; known: a, b, c",
            ".rolling.on: found the unknown body 'y'; known: a, b, c",
        ],
    ),
    (
        "couplings/k",
        {"rolling": {"body": "a"}},
        [".rolling: found both or neither of radius and semiaxes, expected one of them"],
    ),
    (
        "couplings/k",
        {"rolling": WHEEL | {"semiaxes": [1, 1, 1]}},
        [".rolling: found both or neither of radius and semiaxes, expected one of them"],
    ),
    (
        "couplings/k",
        {"rolling": {"body": "a", "semiaxes": [1, 1, 0], "axis": "x"}},
        [
            ".rolling.axis: found axis, expected radius beside it",
            ".rolling.semiaxes[2]: found 0, expected a length above 0",
        ],
    ),
    (
        "couplings/k",
        {"rolling": WHEEL | {"radius": 0, "axis": [0, 0, 0]}},
        [
            ".rolling.radius: found 0, expected a length above 0",
            ".rolling.axis: found a direction of length 0, expected three numbers that are not all 0",
        ],
    ),
    (
        "couplings/k",
        {"rolling": WHEEL | {"normal": [0, 0, 0]}},
        [
            ".rolling.normal: found a direction of length 0, expected three numbers that are not all 0"
        ],
    ),
    (
        "couplings/k",
        {"rolling": WHEEL | {"normal": ["p", 0, 0]}},
        [
            ".rolling.normal: found an expression, expected numbers; turn the frame of the joint instead"
        ],
    ),
    (
        "couplings/k",
        {"rolling": {"body": "a", "semiaxes": [1, -1, 1]}},
        [".rolling.semiaxes[1]: found -1, expected a length above 0"],
    ),
]
CONTACTS = [
    ("contacts/k", {"body": "c", "radius": 0}, []),
    ("contacts/k", {"body": "z"}, [".body: found the unknown body 'z'; known: a, b, c"]),
    ("contacts/k", {"body": "c", "on": "z"}, [".on: found the unknown body 'z'; known: a, b, c"]),
    (
        "contacts/k",
        {"body": "c", "on": "c"},
        [": found a contact of 'c' with itself, expected two bodies, or a body and ground"],
    ),
    (
        "contacts/k",
        {"body": "c", "normal": [0, 0, 0]},
        [".normal: found a direction of length 0, expected three numbers that are not all 0"],
    ),
    (
        "contacts/k",
        {"body": "c", "against": {"body": "z", "radius": 1}},
        [".against.body: found the unknown body 'z'; known: a, b, c"],
    ),
    (
        "contacts/k",
        {"body": "c", "against": {"body": "c", "radius": 1}},
        [": found a contact of 'c' with itself, expected two bodies, or a body and ground"],
    ),
    (
        "contacts/k",
        {"body": "c", "against": {"body": "a", "radius": 1}, "on": "a", "at": [0, 0, 1]},
        [
            ".on: found on beside against, expected a plane or a sphere",
            ".at: found at beside against, expected a plane or a sphere",
        ],
    ),
    (
        "contacts/k",
        {"body": "c", "against": {"body": "a"}},
        [".radius: found a point against a point, expected a radius above 0"],
    ),
    ("contacts/k", {"body": "c", "against": {"body": "a", "radius": 0.001}}, []),
    (
        "contacts/k",
        {"body": "c", "radius": -1, "friction": -1},
        [
            ".radius: found -1, expected a number not below 0",
            ".friction: found -1, expected a number not below 0",
        ],
    ),
    (
        "contacts/k",
        {"body": "c", "against": {"body": "a", "radius": -1}},
        [".against: found -1, expected a number not below 0"],
    ),
    (
        "contacts/k",
        {"body": "c", "restitution": 1.01},
        [".restitution: found 1.01, expected a number from 0 to 1"],
    ),
    ("contacts/k", {"body": "c", "restitution": 1}, []),
    ("contacts/k", {"body": "c", "restitution": 0}, []),
    (
        "contacts/k",
        {"body": "c", "restitution": -0.01},
        [".restitution: found -0.01, expected a number from 0 to 1"],
    ),
    (
        "contacts/k",
        {"body": "c", "rest_speed": 0},
        [
            ".rest_speed: found 0, expected a speed above 0; bounces would become ever smaller and have no end"
        ],
    ),
    ("contacts/k", {"body": "c", "rest_speed": 1e-09, "friction": 0}, []),
    (
        "",
        {"contacts": {"k": {"body": "c"}}, "run": {"method": "CBM", "prepare": [{}]}},
        [
            "run.method: found 'CBM', expected auto or DEC; contacts are solved with the default engine",
            "run.prepare: found equilibria with rigid contacts; an equilibrium does not determine which contacts are closed",
        ],
    ),
    ("", {"contacts": {"k": {"body": "c"}}, "run": {"method": "DEC"}}, []),
]
CONTROLLERS = [
    ("controllers/k", PID, []),
    (
        "controllers/k",
        without(PID, "kp") | {"kind": "pid"},
        [": found no gain, expected kp, ki or kd"],
    ),
    (
        "controllers/k",
        PID | {"kd": 1},
        [
            ".filter: found 0, expected a time constant; a continuous derivative without one would follow every jump"
        ],
    ),
    ("controllers/k", PID | {"kd": 1, "filter": 0.1}, []),
    ("controllers/k", PID | {"kd": 1, "period": 0.1}, []),
    (
        "controllers/k",
        PID | {"drives": "z"},
        [".drives: found the unknown actuator 'z'; known: m, n, oil"],
    ),
    (
        "controllers/k",
        PID | {"drives": "oil"},
        [
            ".drives: found actuator 'oil' with chambers, expected one that takes a force; its inputs are flows"
        ],
    ),
    (
        "controllers/k",
        PID | {"low": 1, "high": 1},
        [".high: found 1, expected a number above low, 1"],
    ),
    ("controllers/k", PID | {"low": 1, "high": 1.5}, []),
    (
        "controllers/k",
        PID | {"low": 1, "high": 0.5},
        [".high: found 0.5, expected a number above low, 1"],
    ),
    (
        "controllers/k",
        PID | {"noise": 1, "delay": 1, "jitter": 1, "resolution": 1},
        [
            ".delay: found delay of a continuous controller, expected a period, too",
            ".jitter: found jitter of a continuous controller, expected a period, too",
            ".resolution: found resolution of a continuous controller, expected a period, too",
            ".noise: found noise of a continuous controller, expected a period, too",
        ],
    ),
    ("controllers/k", PID | {"period": 0}, [".period: found 0, expected a number > 0"]),
    (
        "controllers/k",
        PID | {"period": 0.1, "delay": -1, "jitter": -1, "resolution": -1, "noise": -1},
        [
            ".delay: found -1, expected 0 or more",
            ".jitter: found -1, expected 0 or more",
            ".resolution: found -1, expected 0 or more",
            ".noise: found -1, expected 0 or more",
        ],
    ),
    (
        "controllers/k",
        PID | {"rate": 0, "lag": 0, "filter": -1, "tracking": 0},
        [
            ".filter: found -1, expected 0 or more",
            ".rate: found 0, expected a number > 0",
            ".lag: found 0, expected a number > 0",
            ".tracking: found 0, expected a number > 0",
        ],
    ),
    ("controllers/k", PID | {"period": 0.1, "delay": 0.25, "jitter": 0.05}, []),
    ("controllers/k", PID | {"period": 0.1, "delay": 0.25, "jitter": 0.04}, []),
    (
        "controllers/k",
        PID | {"period": 0.1, "jitter": 0.1},
        [".jitter: found 0.1, expected less than 0.1, so that a command comes before the next one"],
    ),
    ("controllers/k", PID | {"period": 0.1, "delay": 0.25}, []),
    (
        "controllers/k",
        {"measure": "q", "lead": 1, "lag_time": 0, "drives": "m"},
        [".lag_time: found 0, expected a number > 0"],
    ),
    (
        "controllers/k",
        {"measure": "q", "lead": 1, "lag_time": 1, "gain": 0},
        [": found no gain, expected a gain"],
    ),
    ("controllers/k", {"measure": "q", "lead": 1, "lag_time": 1}, []),
    (
        "controllers/k",
        {"measure": "q", "frequency": 0, "width": 0, "depth": -1},
        [
            ".depth: found -1, expected 0 or more",
            ".frequency: found 0, expected a number > 0",
            ".width: found 0, expected a number > 0",
        ],
    ),
    (
        "controllers/k",
        {"measure": "q", "frequency": 5, "gain": 0},
        [": found no gain, expected a gain"],
    ),
    (
        "controllers/k",
        {"measure": "q", "frequency": 5, "period": 0.1},
        [".frequency: found 5, expected less than half the sampling rate, 5 Hz"],
    ),
    ("controllers/k", {"measure": "q", "frequency": 4.9, "period": 0.1}, []),
    (
        "controllers/k",
        {"kind": "saturation", "input": "q"},
        [": found no limit, expected low, high or both"],
    ),
    ("controllers/k", {"kind": "saturation", "input": "q", "low": 1}, []),
    (
        "controllers/k",
        {"kind": "rate-limit", "input": "q"},
        [".rate: found nothing, expected the largest change per second"],
    ),
    ("controllers/k", {"kind": "rate-limit", "input": "q", "rate": 1}, []),
    (
        "controllers/k",
        {"kind": "sensor", "input": "q"},
        [".period: found nothing, expected the sampling period"],
    ),
    ("controllers/k", {"kind": "sensor", "input": "q", "period": 1}, []),
    ("controllers/k", PID | {"setpoint": "sin(t)", "speed_forward": 1}, []),
    (
        "controllers/k",
        PID | {"setpoint": "push", "speed_forward": 1},
        [
            ".speed_forward: found a setpoint that depends on 'push', expected a law of time; offset takes a feed-forward of any other kind"
        ],
    ),
    (
        "controllers/k",
        PID | {"setpoint": "table('T',t)", "speed_forward": 1},
        [
            (
                ".speed_forward: found the setpoint 'table('T',t)', expected a law whose derivatives can be "
                "written; the derivative of table 'T' has no text"
            )
        ],
    ),
    ("controllers/k", PID | {"setpoint": "p*t", "acceleration_forward": 1}, []),
    ("controllers/k", PID | {"setpoint": "push"}, []),
    ("controllers/k", OBSERVER | {"drives": "m"}, []),
    (
        "controllers/k",
        OBSERVER | {"A": [[0, 1]]},
        [".A: found 1 by 2, expected 1 by 1 (1 states, 1 measures, 1 commands)"],
    ),
    (
        "controllers/k",
        OBSERVER | {"B": [[1, 2]]},
        [".B: found 1 by 2, expected 1 by 1 (1 states, 1 measures, 1 commands)"],
    ),
    (
        "controllers/k",
        OBSERVER | {"drives": "m", "commands": ["n"]},
        [".drives: found drives and commands, expected one of them"],
    ),
    (
        "controllers/k",
        OBSERVER | {"commands": ["m", "n"]},
        [".commands: found 2 actuators, expected 1, one for every row of K"],
    ),
    ("controllers/k", OBSERVER | {"K": [[1], [1]], "B": [[1, 1]], "commands": ["m", "n"]}, []),
    (
        "controllers/k",
        OBSERVER | {"K": [[1], [1]], "B": [[1, 1]], "drives": "m"},
        [".drives: found one actuator, expected commands with 2, one for every row of K"],
    ),
    (
        "controllers/k",
        OBSERVER | {"commands": ["z"]},
        [".commands: found the unknown actuator 'z'; known: m, n, oil"],
    ),
    (
        "controllers/k",
        OBSERVER | {"L": [[1], [1]], "C": [[1], [1]]},
        [
            ".C: found 2 by 1, expected 1 by 1 (1 states, 1 measures, 1 commands)",
            ".L: found 2 by 1, expected 1 by 1 (1 states, 1 measures, 1 commands)",
        ],
    ),
    *(
        (f"controllers/{name}", PID | more, [f": found the name '{name}', expected {PARTS}"])
        for name in ("2k", "a b")
        for more in SAMPLED
    ),
    *(
        (f"controllers/{name}", PID, [f": found the name '{name}', expected {PARTS}"])
        for name in ("a.2k", "a..b", ".a", "a.", "a-b")
    ),
    ("controllers/", PID, [f".: found the name '', expected {PARTS}"]),
    ("controllers/a.k2", PID, []),
    ("controllers/größe", PID, []),
    (
        "controllers/µ",
        PID,
        [": found the name 'µ', expected letters in their usual form (Unicode NFKC)"],
    ),
    (
        "controllers/sin",
        OBSERVER | {"B": [[1, 1]], "K": [[1], [1]], "commands": ["m", "n"]},
        [],
    ),  # two values, sin.u1 and sin.u2
    (
        "controllers/lambda",
        PID,
        [": found the name 'lambda', expected another name: 'lambda' has a meaning in expressions"],
    ),
    (f"controllers/{'k' * 91}", PID, []),  # NAME.measured has 100 characters
    (
        f"controllers/{'k' * 92}",
        PID,
        [f": found the name '{'k' * 59}..., expected at most 91 characters"],
    ),
    (
        f"controllers/{'k' * 101}",
        PID,
        [f": found the name '{'k' * 59}..., expected at most 91 characters"],
    ),
    (
        "",
        {
            "actuators": {"m" * 99: {"coordinate": "x"}},
            "controllers": {"k": PID | {"drives": "m" * 99}},
        },
        [f"controllers.k: found the name 'k.{'m' * 57}..., expected at most 100 characters"],
    ),
    (
        "controllers/m.force",
        PID,
        ["actuators.m: found the name 'm.force'; it is already an output"],
    ),
    (
        "",
        {
            "parameters": {"p": {"value": 0.1, "tunable": True}},
            "controllers": {"k": PID | {"period": "p"}},
        },
        [
            "controllers.k.period: found 'p', which may change in a run, expected a parameter that does not"
        ],
    ),
    (
        "",
        {
            "parameters": {"p": {"value": 0.1, "tunable": False}},
            "controllers": {"k": PID | {"period": "p"}},
        },
        [],
    ),
    (
        "",
        {
            "parameters": {"p": 0.1},
            "events": {"e": {"when": "x>1", "set": {"p": 2}}},
            "controllers": {"k": PID | {"period": 1, "delay": "p"}},
        },
        [
            "controllers.k.delay: found 'p', which may change in a run, expected a parameter that does not",
            (
                "events.e.set.p: found 'p', on which the delay of the controller 'k' depends, expected a "
                "parameter that may change during a run; the end of a stage may set a number"
            ),
        ],
    ),
]


@pytest.mark.parametrize(
    "cases", [COUPLINGS, CONTACTS, CONTROLLERS], ids=["couplings", "contacts", "controllers"]
)
def test_invalid_controllers_are_refused_and_similar_valid_ones_accepted(cases: list):
    """Nothing is said of the ones, exactly this of the others."""
    for path, value, words in cases:
        assert said(changed(path, value, DRIVEN), within(path)) == words, (path, value)
