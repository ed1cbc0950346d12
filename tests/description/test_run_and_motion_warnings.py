"""Given motions, conditions and numbers of runs: every refusal and warning to the letter, beside a neighbour of which nothing is said."""

import pytest
from plant_description import PLANT, changed, said, within, without


def following(**keys: object) -> dict:
    """A joint whose shift an input gives."""
    return {"child": "c", "transforms": [{"shift": "x", "follow": keys}]}


def given(law: str) -> dict:
    """A joint whose turn is a law of time."""
    return {"child": "c", "transforms": [{"rotate": "x", "by": law}]}


SLIDES = PLANT | {"joints": without(PLANT["joints"], "jc")}
LATE = changed("joints/k", given("if(t > 12, 1, 0)"), SLIDES)
BOTH = (
    ", expected rate and acceleration, or bandwidth; the derivatives of an input are unknown:"
    " give inputs for both, or a bandwidth for a filter that follows it smoothly"
)
JUMPS = ", expected a motion without jumps; it jumps at t = "
CARRIES = ": no force carries a body over that; an event can set coordinates"
CORNERS = "; its kinks occur at unknown instants, so momentum is not conserved there: use arguments that are linear in t"
PASSES = " between values that move, expected <, <=, > or >=; a run sees where one value passes another, not that they are equal at an instant"
NUMBER = ", expected a comparison; a number counts as true if it is above 0.5"
DEGREES = ' rad; angles are in radians; { value = ..., unit = "deg" } takes degrees'
STATES = {"held": {"rate": "0"}, "going": {"rate": "1"}}
OUTPUTS = {
    "step": "if(q > 0, 1, 0)",
    "way": "2*q",
    "of": "way",
    "two": "n + 1",
    "len": {"quantity": "energy"},
}
COUNTING = PLANT | {"parameters": {"p": 1.0, "n": 0.0}, "states": STATES, "outputs": OUTPUTS}
MOTIONS = [
    ("joints/k", following(input="pull", bandwidth=5), []),
    (
        "joints/k",
        following(input="pull"),
        [".transforms[0].follow: found without rate and acceleration" + BOTH],
    ),
    (
        "joints/k",
        following(input="pull", rate="push"),
        [".transforms[0].follow: found without acceleration" + BOTH],
    ),
    ("joints/k", following(input="pull", rate="push", acceleration="third"), []),
    (
        "joints/k",
        following(input="z", rate="y", acceleration="third"),
        [
            ".transforms[0].follow.input: found the unknown input 'z'; known: pull, push, third",
            ".transforms[0].follow.rate: found the unknown input 'y'; known: pull, push, third",
        ],
    ),
    (
        "joints/k",
        following(input="pull", rate="push", bandwidth=5),
        [
            ".transforms[0].follow.rate: found rate beside bandwidth, expected rate and acceleration, or bandwidth"
        ],
    ),
    (
        "joints/k",
        following(input="pull", acceleration="push", rate="third", bandwidth=5),
        [
            ".transforms[0].follow.rate: found rate beside bandwidth, expected rate and acceleration, or bandwidth"
        ],
    ),
    (
        "joints/k",
        following(input="pull", rate="push", acceleration="third", damping=1),
        [".transforms[0].follow.damping: found damping, expected bandwidth beside it"],
    ),
    (
        "joints/k",
        following(input="pull", bandwidth=0),
        [".transforms[0].follow.bandwidth: found 0, expected a number above 0"],
    ),
    (
        "joints/k",
        following(input="pull", bandwidth=5, damping=0),
        [".transforms[0].follow.damping: found 0, expected a number above 0"],
    ),
    (
        "joints/k",
        following(input="pull", bandwidth="p-1"),
        [".transforms[0].follow.bandwidth: found 0, expected a number above 0"],
    ),
    (
        "joints/k",
        {
            "child": "c",
            "transforms": [{"shift": "x", "by": 1, "follow": {"input": "pull", "bandwidth": 5}}],
        },
        [".transforms[0].follow: found by and follow, expected one of them"],
    ),
    (
        "joints/k",
        {
            "child": "c",
            "transforms": [
                {"shift": "x", "coordinate": "s", "follow": {"input": "pull", "bandwidth": 5}}
            ],
        },
        [".transforms[0].follow: found coordinate and follow, expected one of them"],
    ),
    (
        "joints/k",
        {
            "child": "c",
            "transforms": [
                {"shift": "x", "follow": {"input": "pull", "bandwidth": 5}},
                {"shift": "y", "follow": {"input": "pull", "bandwidth": 6}},
            ],
        },
        [
            ".transforms[1].follow: found 'pull' followed in two ways, expected the same rates, or the same bandwidth and damping, everywhere"
        ],
    ),
    (
        "joints/k",
        {
            "child": "c",
            "transforms": [
                {"shift": "x", "follow": {"input": "pull", "bandwidth": 5}},
                {"shift": "y", "follow": {"input": "pull", "bandwidth": 5}},
            ],
        },
        [],
    ),
    (
        "",
        {
            "joints": SLIDES["joints"] | {"jc": {"child": "c", "type": "free"}},
            "couplings": {
                "k": {"value": "der(x) - pull", "follow": [{"input": "pull", "rate": "push"}]}
            },
        },
        [],
    ),
    (
        "",
        {
            "joints": SLIDES["joints"] | {"jc": {"child": "c", "type": "free"}},
            "couplings": {"k": {"value": "x - pull", "follow": [{"input": "pull"}]}},
        },
        ["couplings.k.follow[0]: found without rate and acceleration" + BOTH],
    ),
    ("joints/k", given("floor(t)"), [".transforms[0].by: found floor(t)" + JUMPS + "1" + CARRIES]),
    (
        "joints/k",
        given("if(t < 1, 0, 1)"),
        [".transforms[0].by: found if(t < 1, 0, 1)" + JUMPS + "1" + CARRIES],
    ),
    ("joints/k", given("if(t < 1, t, 1)"), []),
    (
        "joints/k",
        given("if(t < 1, 0, 2e-6)"),
        [".transforms[0].by: found if(t < 1, 0, 2e-6)" + JUMPS + "1" + CARRIES],
    ),
    ("joints/k", given("if(t < 1, 0, 9e-7)"), []),
    ("joints/k", given("abs(sin(t))"), [".transforms[0].by: found abs(sin(t))" + CORNERS]),
    ("joints/k", given("abs(t-1)"), []),
    ("joints/k", given("min(t*t, 1)"), [".transforms[0].by: found min(t*t, 1)" + CORNERS]),
    (
        "joints/k",
        given("sign(sin(t))"),
        [".transforms[0].by: found sign(sin(t))" + JUMPS + "3.14159" + CARRIES],
    ),
    (
        "joints/k",
        given("mod(t,1)"),
        [".transforms[0].by: found 'mod(t,1)' (column 1); unknown function 'mod'"],
    ),
    ("joints/k", given("t % 1"), [".transforms[0].by: found t % 1" + JUMPS + "3" + CARRIES]),
    ("joints/k", given("table('T', t)"), []),
    ("joints/k", given("table('T', t*t)"), [".transforms[0].by: found table('T', t*t)" + CORNERS]),
    ("joints/k", given("p*sin(t)"), []),
    ("joints/k", given("floor(p)"), []),
    ("joints/k", given("if(t > 12, 1, 0)"), []),
    (
        "joints/k",
        given("if(t > 9.5, 1, 0)"),
        [".transforms[0].by: found if(t > 9.5, 1, 0)" + JUMPS + "9.5" + CARRIES],
    ),
]
RUNS = [
    (
        "run",
        {"stop_time": 13},
        ["joints.k.transforms[0].by: found if(t > 12, 1, 0)" + JUMPS + "12" + CARRIES],
    ),
    (
        "run",
        {"start_time": 5},
        ["joints.k.transforms[0].by: found if(t > 12, 1, 0)" + JUMPS + "12" + CARRIES],
    ),
    ("run", {"start_time": 2}, []),
    ("run", {"start_time": 12.5, "stop_time": 14}, []),
    ("run", {"stop_time": 11}, []),
]
STAGES = [
    (
        "stages",
        [{"name": "a", "ends": {"when": "q == 1"}}, {"name": "a"}],
        [
            "[0].ends.when: found '=='" + PASSES,
            "[1].name: found 'a' a second time, expected names of their own; tables cannot distinguish such stages",
        ],
    ),
    (
        "stages",
        [{"ends": {"at": 1}}, {"ends": {"at": 2}}],
        [
            "[1].ends: found an end condition of the last stage, expected stop_time in [run]; nothing changes there, and the run continues"
        ],
    ),
    ("stages", [{"ends": {"at": 1}}, {"ends": {"at": 2}, "set": {"n": 1}}], []),
    ("stages", [{"ends": {"at": 1}}, {"ends": {"at": 2}, "free": ["jb"]}], []),
    ("stages", [{"ends": {"at": 1}}, {"ends": {"at": 2}, "drop": ["b"]}], []),
    ("stages", [{"ends": {"at": 1}}, {"ends": {"at": 2}, "lock": ["jb"]}], []),
    (
        "stages",
        [{"ends": {"at": 0}}, {}],
        [
            "[0].ends.at: found 0, expected more than the time it begins, 0; the stage has no duration"
        ],
    ),
    (
        "stages",
        [{"name": "one", "ends": {"at": 1}}, {"name": "two", "ends": {"at": 1}}, {"name": "three"}],
        [
            "[1].ends.at: found 1, expected more than the time it begins, 1; the stage has no duration"
        ],
    ),
    (
        "",
        {
            "run": {"stop_time": 2, "start_time": 1},
            "stages": [{"ends": {"at": 1}}, {"ends": {"at": 2}}, {"name": "last"}],
        },
        [
            "stages[0].ends.at: found 1, expected more than the time it begins, 1; the stage has no duration",
            "stages[1].ends.at: found 2, expected less than stop_time, 2; 'last' is not reached",
        ],
    ),
    (
        "",
        {
            "run": {"stop_time": 2},
            "stages": [
                {"ends": {"at": 1.5}},
                {"ends": {"at": 2.5, "when": "q>1"}},
                {"ends": {"at": 2.5, "after": 1}},
                {"ends": {"at": 2}},
                {},
            ],
        },
        ["stages[3].ends.at: found 2, expected less than stop_time, 2; 'stage 5' is not reached"],
    ),
]
NUMBERS = [
    ("run", {"tolerances": 1e-14}, []),
    (
        "run",
        {"tolerances": 9e-15},
        [
            ".tolerances: found 9e-15, expected at least 1e-14; below that rounding decides: 1e-14 is taken"
        ],
    ),
    (
        "run",
        {"integrator": "rk4", "step": 0.1, "tolerances": 1e-06},
        [
            ".tolerances: found a tolerance of 'rk4', expected step; its steps are fixed, and so is its error"
        ],
    ),
    ("run", {"integrator": "radau", "tolerances": 1e-06}, []),
    (
        "run",
        {"integrator": "adams", "step": 0.1},
        [
            ".step: found a step of 'adams', expected tolerances or largest_step; it finds its own steps"
        ],
    ),
    ("run", {"integrator": "auto", "step": 0.1}, []),
    (
        "run",
        {"integrator": "rk4"},
        [
            ".integrator: found 'rk4' without a step, expected [run] step; runs use output_step, FMUs 0.001 s"
        ],
    ),
    ("run", {"integrator": "rk4", "step": 0.1, "stop_time": 50}, []),
    (
        "run",
        {"integrator": "rk4", "step": 0.1, "stop_time": 49.9},
        [
            ".step: found 0.1, expected at most 0.0998; runs without output_step have 500 rows, and steps end at rows"
        ],
    ),
    ("run", {"integrator": "rk4", "step": 0.1, "stop_time": 51, "start_time": 1}, []),
    (
        "run",
        {"integrator": "rk4", "step": 0.1, "stop_time": 50.9, "start_time": 1},
        [
            ".step: found 0.1, expected at most 0.0998; runs without output_step have 500 rows, and steps end at rows"
        ],
    ),
    ("run", {"integrator": "rk4", "step": 0.1}, []),
    ("run", {"integrator": "rk4", "step": 0.1, "stop_time": 0}, []),
    ("run", {"integrator": "rk4", "step": 0.1, "output_step": 0.3}, []),
    (
        "run",
        {"integrator": "rk4", "step": 0.1, "output_step": 0.35},
        [
            ".step: found 0.1, expected output_step, 0.35, or a whole part of it; steps end at rows: the last one before each is shorter"
        ],
    ),
    (
        "run",
        {"integrator": "rk4", "step": 0.1, "output_step": 0.05},
        [
            ".step: found 0.1, expected output_step, 0.05, or a whole part of it; steps end at rows: they are 0.05"
        ],
    ),
    ("run", {"integrator": "rk4", "step": 0.1, "output_step": 0.10000001}, []),
    (
        "run",
        {"integrator": "rk4", "step": 0.1, "output_step": 0.1000002},
        [
            ".step: found 0.1, expected output_step, 0.1, or a whole part of it; steps end at rows: the last one before each is shorter"
        ],
    ),
    ("joints/jc/start", [1.0009, 0, 0, 0], []),
    (
        "joints/jc/start",
        [1.0011, 0, 0, 0],
        [
            ".start: found a quaternion of length 1.0011, expected 1; the run takes the rotation of its direction"
        ],
    ),
    (
        "joints/jc/start",
        [0.9989, 0, 0, 0],
        [
            ".start: found a quaternion of length 0.9989, expected 1; the run takes the rotation of its direction"
        ],
    ),
    (
        "joints/jc/start",
        ["p", 0, 0, 1],
        [
            ".start: found a quaternion of length 1.41421, expected 1; the run takes the rotation of its direction"
        ],
    ),
    (
        "joints/jc/start",
        ["push", 0, 0, 1],
        [
            ".start[0]: found 'push' (column 1); 'push' is an input, only parameters can be used here"
        ],
    ),
    ("joints/jb/start", [12.56], []),
    ("joints/jb/start", [12.57], [": found 'q' starts at 12.57" + DEGREES]),
    ("joints/jb/start", [-12.57], [": found 'q' starts at -12.57" + DEGREES]),
    ("joints/jb/start", ["10*p"], []),
    ("joints/jb/start", ["13*p"], [": found 'q' starts at 13" + DEGREES]),
    ("joints/ja/start", [13], []),
]
CONDITIONS = [
    ("q == 0", [".e.when: found '=='" + PASSES]),
    ("q != 0", [".e.when: found '!='" + PASSES]),
    ("held == 1", []),
    ("going == 1", [".e.when: found '=='" + PASSES]),
    ("n == 1", []),
    ("pull == 1", []),
    ("step == 1", []),
    ("way == 1", [".e.when: found '=='" + PASSES]),
    ("of == 1", []),
    ("two == 1", []),
    ("len == 1", [".e.when: found '=='" + PASSES]),
    ("floor(q) == 1", []),
    ("if(n > 0, q, 2) == 1", [".e.when: found '=='" + PASSES]),
    ("if(q > 0, 1, 2) == 1", []),
    ("q", [".e.when: found the number q" + NUMBER]),
    ("n", []),
    ("1", []),
    ("q > 0 and n", []),
    ("q > 0 or q", [".e.when: found the number q > 0 or q" + NUMBER]),
    ("not q", [".e.when: found the number not q" + NUMBER]),
    ("not (q > 0)", []),
    ("min(q, 1)", [".e.when: found the number min(q, 1)" + NUMBER]),
]


@pytest.mark.parametrize(
    ("base", "cases"),
    [(SLIDES, MOTIONS), (LATE, RUNS), (COUNTING, STAGES), (PLANT, NUMBERS)],
    ids=["motions", "runs", "stages", "numbers"],
)
def test_run_settings_are_warned_only_where_needed(base: dict, cases: list):
    for path, value, words in cases:
        assert said(changed(path, value, base), within(path)) == words, (path, value)


def test_suspicious_conditions_are_warned():
    for when, words in CONDITIONS:
        assert (
            said(changed("events", {"e": {"when": when, "set": {"n": 1}}}, COUNTING), "events")
            == words
        ), when
