"""Names in scope: which ones tables bring along, which are taken, and what laws of every kind may use, to the letter."""

from plant_description import PLANT, changed, said, within

ENDS = [{"body": "a"}, {"body": "b"}]
CHAMBERS = {"area_a": 1, "area_b": 1, "volume_a": 1, "volume_b": 1, "shortest": 1, "longest": 2}
FULL = PLANT | {
    "actuators": {"m": {"coordinate": "x"}, "n": {"between": ENDS, "chambers": CHAMBERS}},
    "hydraulics": {"A": {"volume": 1}, "B": {"pressure": 1}}, "contacts": {"k": {"body": "c", "friction": 0.1}}, "states": {"s": {"rate": 0}},
    "couplings": {"g": {"value": "g[1] - x", "point": {"body": "b"}}, "w": {"rolling": {"body": "c", "radius": 1}}},
    "forces": {"line": {"between": ENDS, "stiffness": 1, "length": 1}},
}  # fmt: skip
STATE = ", only parameters, t, coordinates, speeds, states, inputs and outputs can be used here"
NAMES = [
    ("inputs/m.force", {}, ["actuators.m: found the name 'm.force'; it is already an input"]),
    ("inputs/m.speed", {}, ["actuators.m: found the name 'm.speed'; it is already an input"]),
    ("inputs/m.flow_a", {}, []),
    ("inputs/n.flow_a", {}, ["actuators.n: found the name 'n.flow_a'; it is already an input"]),
    (
        "inputs/n.pressure_b",
        {},
        ["actuators.n: found the name 'n.pressure_b'; it is already an input"],
    ),
    (
        "inputs/A.pressure",
        {},
        ["hydraulics.A: found the name 'A.pressure'; it is already an input"],
    ),
    (
        "inputs/A.compliance",
        {},
        ["hydraulics.A: found the name 'A.compliance'; it is already an input"],
    ),
    (
        "inputs/B.pressure",
        {},
        ["hydraulics.B: found the name 'B.pressure'; it is already an input"],
    ),
    ("inputs/B.compliance", {}, []),
    ("inputs/jc.qw", {}, [": found the name 'jc.qw'; it is already a coordinate of joint 'jc'"]),
    ("parameters/jc.wx", 1.0, ["joints.jc: found the name 'jc.wx'; it is already a parameter"]),
    ("parameters/jc.qx", 1.0, ["joints.jc: found the name 'jc.qx'; it is already a parameter"]),
    ("parameters/x", 1.0, ["joints.ja.coordinates: found the name 'x'; it is already a parameter"]),
    ("states/pull", {"rate": 0}, [": found the name 'pull'; it is already an input"]),
    ("outputs/s", {"value": 1}, [": found the name 's'; it is already a state"]),
    ("inputs/line.length", {}, []),
    ("inputs/k.gap", {}, []),
    ("inputs/k.force", {}, []),
    ("inputs/stage_start", {}, []),
    ("states/p", {"rate": 0}, [": found the name 'p'; it is already a parameter"]),
    (
        "joints/jd",
        {"parent": "c", "child": "a", "type": "revolute", "coordinates": ["p"]},
        [".coordinates: found the name 'p'; it is already a parameter"],
    ),
    (
        "joints/jd",
        {"parent": "c", "child": "a", "transforms": [{"rotate": "x", "coordinate": "push"}]},
        ["inputs.push: found the name 'push'; it is already a coordinate of joint 'jd'"],
    ),
    ("outputs/o", "der(s)", []),
    ("outputs/o", "der(A.pressure)", []),
    (
        "outputs/o",
        "der(B.pressure)",
        [
            ".value: found 'der(B.pressure)' (column 1); unknown name 'der(B.pressure)'; did you mean 'der(A.pressure)'?"
        ],
    ),
    ("outputs/o", "force('g')", []),
    ("outputs/o", "force('w.along')", []),
    (
        "outputs/o",
        "force('w')",
        [
            ".value: found \"force('w')\" (column 1); unknown name 'force('w')'; did you mean 'force('g')'?"
        ],
    ),
    ("outputs/o", "force('line')", []),
    ("outputs/o", "reaction('ja')", []),
    ("outputs/o", "force('ja')", []),
    (
        "outputs/o",
        "reaction('line')",
        [
            ".value: found \"reaction('line')\" (column 1); unknown name 'reaction('line')'; did you mean 'reaction('jc')'?"
        ],
    ),
    ("outputs/o", "k.impulse", []),
    ("outputs/o", "k.gap", []),
    (
        "outputs/o",
        "k.impuls",
        [".value: found 'k.impuls' (column 1); unknown name 'k.impuls'; did you mean 'k.impulse'?"],
    ),
    ("outputs/o", "g[1] + g[3]", []),
    (
        "outputs/o",
        "g[4]",
        [".value: found 'g[4]' (column 1); unknown name 'g[4]'; did you mean 'g[3]'?"],
    ),
    (
        "outputs/o",
        "w[1]",
        [".value: found 'w[1]' (column 1); unknown name 'w[1]'; did you mean 'g[1]'?"],
    ),
    ("outputs/o", "der(der(q))", []),
    ("outputs/o", "der(jc.wx)", []),
    (
        "outputs/o",
        "der(jc.qw)",
        [
            ".value: found 'der(jc.qw)' (column 1); unknown name 'der(jc.qw)'; did you mean 'der(jc.wz)'?"
        ],
    ),
    ("outputs/o", "stage_start", []),
    (
        "outputs/o",
        "der(m.length)",
        [
            ".value: found 'der(m.length)' (column 1); unknown name 'der(m.length)'; did you mean 'm.length'?"
        ],
    ),
    (
        "forces/f",
        {"coordinate": "q", "value": "der(s)"},
        [".value: found 'der(s)' (column 1); 'der(s)' is the rate of a state" + STATE],
    ),
    ("forces/f", {"coordinate": "q", "value": "k.gap"}, []),
    (
        "forces/f",
        {"coordinate": "q", "value": "k.force"},
        [".value: found 'k.force' (column 1); 'k.force' is a result of contact 'k'" + STATE],
    ),
    ("forces/f", {"coordinate": "q", "value": "A.pressure"}, []),
    (
        "forces/f",
        {"coordinate": "q", "value": "der(A.pressure)"},
        [
            ".value: found 'der(A.pressure)' (column 1); 'der(A.pressure)' is the rate of a pressure"
            + STATE
        ],
    ),
    ("forces/f", {"coordinate": "q", "value": "m.speed"}, []),
    ("forces/f", {"coordinate": "q", "value": "n.pressure_a"}, []),
    (
        "forces/f",
        {"coordinate": "q", "value": "m.pressure_a"},
        [
            ".value: found 'm.pressure_a' (column 1); unknown name 'm.pressure_a'; did you mean 'n.pressure_a'?"
        ],
    ),
    ("forces/f", {"coordinate": "q", "value": "g[2]"}, []),
    ("forces/f", {"coordinate": "q", "value": "line.length + line.rate"}, []),
    (
        "forces/f",
        {"coordinate": "q", "value": "line.elongation"},
        [
            ".value: found 'line.elongation' (column 1); unknown name 'line.elongation'; did you mean 'line.length'?"
        ],
    ),
    ("forces/f", {"coordinate": "q", "value": "t + stage_start"}, []),
    (
        "forces/f",
        {"coordinate": "q", "value": "reaction('ja')"},
        [".value: found \"reaction('ja')\" (column 1); 'reaction('ja')' is a reaction" + STATE],
    ),
    ("forces/f", {"coordinate": "q", "value": "jc.qw*jc.wx"}, []),
    (
        "forces/f",
        {"coordinate": "q", "value": "der(jc.qw)"},
        [
            ".value: found 'der(jc.qw)' (column 1); unknown name 'der(jc.qw)'; did you mean 'der(q)'?"
        ],
    ),
    ("states/z", {"rate": "der(der(q)) + reaction('ja') + force('line')"}, []),
    ("stages", [{"ends": {"when": "reaction('ja') > k.force"}}, {}], []),
    (
        "events/e",
        {"when": "reaction('ja') > 1", "set": {"p": 1}},
        [".when: found \"reaction('ja') > 1\" (column 1); 'reaction('ja')' is a reaction" + STATE],
    ),
    ("couplings/h", {"value": "x - q - s*pull + p + t"}, []),
    (
        "couplings/h",
        {"value": "x - k.force"},
        [".value: found 'x - k.force' (column 5); 'k.force' is a result of contact 'k'" + STATE],
    ),
    (
        "joints/jd",
        {"parent": "c", "child": "a", "transforms": [{"shift": "x", "by": "pull"}]},
        [
            ".transforms[0].by: found 'pull' (column 1); 'pull' is an input, only parameters, t and coordinates can be used here"
        ],
    ),
]


def test_reserved_names_are_refused():
    """Nothing is said of the ones, exactly this of the others."""
    for path, value, words in NAMES:
        assert said(changed(path, value, FULL), within(path)) == words, (path, value)
