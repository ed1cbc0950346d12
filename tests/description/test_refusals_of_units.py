"""Units and dimensions of every place of the format: what has another one is refused to the letter, beside a neighbour that fits."""

from plant_description import PLANT, changed, said, within

UNITS = {
    "len": "m",
    "ang": "rad",
    "kg": "kg",
    "F": "N",
    "M": "N.m",
    "v": "m/s",
    "w": "rad/s",
    "s": "s",
    "num": "1",
    "pa": "bar",
}
TOLD = PLANT | {
    "parameters": PLANT["parameters"]
    | {name: {"value": 1.0, "unit": unit} for name, unit in UNITS.items()}
}
ENDS = [{"body": "a"}, {"body": "b"}]
PLACES = [
    (
        "forces/f",
        {"coordinate": "x", "stiffness": "F"},
        [".stiffness: found 'F' in kg.m/s2, expected a value in N/m (column 1)"],
    ),
    ("forces/f", {"coordinate": "x", "stiffness": "F/len"}, []),
    ("forces/f", {"coordinate": "q", "stiffness": "M"}, []),
    (
        "forces/f",
        {"coordinate": "q", "stiffness": "F"},
        [".stiffness: found 'F' in kg.m/s2, expected a value in N.m/rad (column 1)"],
    ),
    ("forces/f", {"coordinate": "x", "damping": "F/v"}, []),
    (
        "forces/f",
        {"coordinate": "q", "damping": "F/v"},
        [".damping: found 'F/v' in kg/s, expected a value in N.m.s/rad"],
    ),
    (
        "forces/f",
        {"coordinate": "x", "value": "M"},
        [".value: found 'M' in kg.m2/s2, expected a value in N (column 1)"],
    ),
    ("forces/f", {"coordinate": "q", "value": "M"}, []),
    (
        "forces/f",
        {"coordinate": "x", "stiffness": 1, "length": "ang"},
        [".length: found 'ang' in 1, expected a value in m (column 1)"],
    ),
    ("forces/f", {"coordinate": "q", "stiffness": 1, "length": "ang"}, []),
    (
        "forces/f",
        {"coordinate": "q", "stiffness": 1, "length": "len"},
        [".length: found 'len' in m, expected a value in rad (column 1)"],
    ),
    (
        "forces/f",
        {"between": ENDS, "stiffness": "M", "length": 1},
        [".stiffness: found 'M' in kg.m2/s2, expected a value in N/m (column 1)"],
    ),
    ("forces/f", {"between": ENDS, "stiffness": "F/len", "length": "len"}, []),
    (
        "forces/f",
        {"between": ENDS, "value": "M"},
        [".value: found 'M' in kg.m2/s2, expected a value in N (column 1)"],
    ),
    ("forces/f", {"coordinate": "q", "coulomb": "M", "speed": "w"}, []),
    (
        "forces/f",
        {"coordinate": "x", "coulomb": "F", "speed": "w"},
        [".speed: found 'w' in 1/s, expected a value in m/s (column 1)"],
    ),
    (
        "forces/f",
        {"body": "a", "stiffness": "F"},
        [".stiffness: found 'F' in kg.m/s2, expected a value in N/m (column 1)"],
    ),
    ("forces/f", {"body": "a", "stiffness": "F", "exponent": 1.5}, []),
    (
        "forces/f",
        {"body": "a", "force": ["F", "M", 0]},
        [".force[1]: found 'M' in kg.m2/s2, expected a value in N (column 1)"],
    ),
    (
        "forces/f",
        {"body": "a", "stiffness": 1, "friction": "F"},
        [".friction: found 'F' in kg.m/s2, expected a value in 1 (column 1)"],
    ),
    (
        "forces/f",
        {"coordinate": "q", "value": {"value": 1, "unit": "N"}},
        [".value: found the unit 'N', expected a unit of N.m"],
    ),
    ("forces/f", {"coordinate": "q", "value": {"value": 1, "unit": "kN.m"}}, []),
    ("forces/f", {"coordinate": "q", "stiffness": {"value": 1, "unit": "N.m"}}, []),
    (
        "forces/f",
        {"coordinate": "q", "value": "M*q + F"},
        [".value: found 'M*q + F', expected values of one dimension; here kg.m2/s2 + kg.m/s2"],
    ),
    ("forces/f", {"coordinate": "q", "value": "M*w*s"}, []),
    ("forces/f", {"coordinate": "q", "value": "-x*q"}, []),
    ("forces/f", {"coordinate": "x", "value": "F - 1*der(x)"}, []),
    (
        "forces/f",
        {"coordinate": "x", "value": "F - der(x)"},
        [".value: found 'F - der(x)', expected values of one dimension; here kg.m/s2 - m/s"],
    ),
    ("forces/f", {"coordinate": "x", "value": "F - der(x)*1.0"}, []),
    ("forces/f", {"coordinate": "x", "value": "F - der(x)*2"}, []),
    ("joints/ja/start", ["ang"], [".start[0]: found 'ang' in 1, expected a value in m (column 1)"]),
    ("joints/ja/start", ["len"], []),
    (
        "joints/jb/start",
        ["len"],
        [".start[0]: found 'len' in m, expected a value in rad (column 1)"],
    ),
    ("joints/jb/speed", ["w"], []),
    (
        "joints/jb/speed",
        ["v"],
        [".speed[0]: found 'v' in m/s, expected a value in rad/s (column 1)"],
    ),
    ("joints/ja/speed", ["v"], []),
    ("joints/jc/start", ["num", 0, 0, 0], []),
    (
        "joints/jc/start",
        ["len", 0, 0, 0],
        [".start[0]: found 'len' in m, expected a value in 1 (column 1)"],
    ),
    (
        "joints/jc/speed",
        ["v", 0, 0],
        [".speed[0]: found 'v' in m/s, expected a value in rad/s (column 1)"],
    ),
    (
        "joints/ja/start",
        [{"value": 1, "unit": "deg"}],
        [".start[0]: found the unit 'deg', expected a unit of m"],
    ),
    (
        "joints/k",
        {"child": "c", "transforms": [{"rotate": "x", "by": "len"}]},
        [".transforms[0].by: found 'len' in m, expected a value in rad (column 1)"],
    ),
    ("joints/k", {"child": "c", "transforms": [{"shift": "x", "by": "len*t/s"}]}, []),
    (
        "joints/k",
        {"child": "c", "transforms": [{"shift": "x", "by": "v"}]},
        [".transforms[0].by: found 'v' in m/s, expected a value in m (column 1)"],
    ),
    (
        "joints/k",
        {"child": "c", "transforms": [{"shift": ["len", "v", 0]}]},
        [".transforms[0].shift[1]: found 'v' in m/s, expected a value in m (column 1)"],
    ),
    ("joints/k", {"child": "c", "transforms": [{"shift": ["len", "v", 0], "by": 1}]}, []),
    ("joints/k", {"child": "c", "transforms": [{"rotate": ["len", 1, 0], "by": 1}]}, []),
    (
        "joints/k",
        {"child": "c", "type": "rigid", "frame": [{"rotate": "x", "by": "len"}]},
        [".frame[0].by: found 'len' in m, expected a value in rad (column 1)"],
    ),
    (
        "joints/k",
        {"child": "c", "type": "rigid", "at": ["v", 0, 0]},
        [".at[0]: found 'v' in m/s, expected a value in m (column 1)"],
    ),
    (
        "joints/k",
        {"child": "c", "type": "screw", "pitch": "ang"},
        [".pitch: found 'ang' in 1, expected a value in m (column 1)"],
    ),
    ("bodies/a", {"mass": "F"}, [".mass: found 'F' in kg.m/s2, expected a value in kg (column 1)"]),
    (
        "bodies/a",
        {"mass": 1, "com": [0, 0, "s"]},
        [".com[2]: found 's' in s, expected a value in m (column 1)"],
    ),
    ("bodies/a", {"mass": 1, "inertia": ["kg*len*len", 1, 1, 0, 0, 0]}, []),
    ("gravity", [0, 0, "v/s"], []),
    ("gravity", [0, 0, "v"], ["[2]: found 'v' in m/s, expected a value in m/s2 (column 1)"]),
    ("states/z", {"rate": "v", "unit": "m"}, []),
    (
        "states/z",
        {"rate": "len", "unit": "m"},
        [".rate: found 'len' in m, expected a value in m/s (column 1)"],
    ),
    ("states/z", {"rate": "w", "unit": "rad", "start": "ang"}, []),
    (
        "states/z",
        {"rate": 0, "unit": "m", "start": "v"},
        [".start: found 'v' in m/s, expected a value in m (column 1)"],
    ),
    ("inputs/z", {"start": "len", "unit": "m"}, []),
    (
        "inputs/z",
        {"start": "v", "unit": "m"},
        [".start: found 'v' in m/s, expected a value in m (column 1)"],
    ),
    ("inputs/z", {"unit": "m", "max": "len"}, []),
    ("parameters/z", {"value": "len*2", "unit": "m"}, []),
    (
        "parameters/z",
        {"value": "v", "unit": "m"},
        [".value: found 'v' in m/s, expected a value in m (column 1)"],
    ),
    (
        "outputs/z",
        {"value": "len", "unit": "s"},
        [".value: found 'len' in m, expected a value in s (column 1)"],
    ),
    (
        "outputs/z",
        {"value": "len", "unit": "mm", "display_unit": "kg"},
        [".display_unit: found 'kg', expected a unit of m"],
    ),
    (
        "outputs/z",
        {"quantity": "position", "body": "a", "display_unit": "s"},
        [".unit: found 's', expected a unit of m for position, such as m"],
    ),
    ("outputs/z", {"quantity": "position", "body": "a", "unit": "mm"}, []),
    (
        "outputs/z",
        {"value": "z2 + v", "unit": ""},
        [".value: found 'z2 + v' (column 1); unknown name 'z2'; did you mean 'z'?"],
    ),
    (
        "",
        {"outputs": {"z": {"quantity": "position", "body": "a", "axis": "x"}, "y": "z + v"}},
        ["outputs.y.value: found 'z + v', expected values of one dimension; here m + m/s"],
    ),
    (
        "",
        {
            "outputs": {
                "z": {"quantity": "reaction", "joint": "ja", "part": "moment", "axis": "x"},
                "y": "z + F",
            }
        },
        [
            "outputs.y.value: found 'z + F', expected values of one dimension; here kg.m2/s2 + kg.m/s2"
        ],
    ),
    (
        "",
        {
            "forces": {"f": {"coordinate": "q", "value": 1}},
            "outputs": {"z": {"quantity": "force", "force": "f"}, "y": "z + F"},
        },
        [
            "outputs.y.value: found 'z + F', expected values of one dimension; here kg.m2/s2 + kg.m/s2"
        ],
    ),
    (
        "",
        {
            "forces": {"f": {"coordinate": "q", "value": 1}},
            "outputs": {"z": {"quantity": "force", "force": "f"}, "y": "z + M"},
        },
        [],
    ),
    (
        "",
        {"actuators": {"m": {"coordinate": "q"}}, "outputs": {"y": "m.force + F"}},
        [
            "outputs.y.value: found 'm.force + F', expected values of one dimension; here kg.m2/s2 + kg.m/s2"
        ],
    ),
    ("", {"actuators": {"m": {"coordinate": "q"}}, "outputs": {"y": "m.speed + w"}}, []),
    (
        "",
        {
            "actuators": {"m": {"between": ENDS}},
            "outputs": {"y": "m.effective_mass + kg + m.length"},
        },
        [
            "outputs.y.value: found 'm.effective_mass + kg + m.length', expected values of one dimension; here kg + m"
        ],
    ),
    (
        "actuators/m",
        {"coordinate": "q", "force": "F"},
        [".force: found 'F' in kg.m/s2, expected a value in N.m (column 1)"],
    ),
    ("actuators/m", {"coordinate": "q", "force": "M"}, []),
    (
        "actuators/m",
        {"between": ENDS, "force": "M"},
        [".force: found 'M' in kg.m2/s2, expected a value in N (column 1)"],
    ),
    ("events/e", {"when": "x > len", "set": {"x": "len"}}, []),
    (
        "events/e",
        {"when": "x > v", "set": {"x": "v"}},
        [
            ".when: found 'x > v', expected values of one dimension; here m > m/s",
            ".set.x: found 'v' in m/s, expected a value in m (column 1)",
        ],
    ),
    ("events/e", {"when": "x > len", "set": {"der(q)": "w", "len": "len + 1", "p": "F"}}, []),
    (
        "events/e",
        {"when": "q > 0", "set": {"der(x)": "len"}},
        [".set.der(x): found 'len' in m, expected a value in m/s (column 1)"],
    ),
    ("stages", [{"ends": {"at": "s"}}, {}], []),
    (
        "stages",
        [{"ends": {"after": "len"}}, {}],
        ["[0].ends.after: found 'len' in m, expected a value in s (column 1)"],
    ),
    (
        "run",
        {"stop_time": "len"},
        [".stop_time: found 'len' in m, expected a value in s (column 1)"],
    ),
    ("couplings/c", {"value": "x - len"}, []),
    (
        "couplings/c",
        {"value": "x - v"},
        [".value: found 'x - v', expected values of one dimension; here m - m/s"],
    ),
    (
        "couplings/c",
        {"between": ENDS, "length": "s"},
        [".length: found 's' in s, expected a value in m (column 1)"],
    ),
    (
        "",
        {
            "hydraulics": {
                "A": {"volume": "len"},
                "Z": {"volume": 1, "start": "pa"},
                "m": {"a": "A", "b": "Z", "displacement": "len*len", "coordinate": "q"},
            }
        },
        [
            "hydraulics.A.volume: found 'len' in m, expected a value in m3 (column 1)",
            "hydraulics.m.displacement: found 'len*len' in m2, expected a value in m3/rad",
        ],
    ),
    (
        "",
        {
            "hydraulics": {
                "A": {"volume": 1},
                "Z": {"volume": 1},
                "m": {
                    "a": "A",
                    "b": "Z",
                    "displacement": "len*len*len",
                    "coordinate": "q",
                    "coulomb": "F",
                },
            }
        },
        ["hydraulics.m.coulomb: found 'F' in kg.m/s2, expected a value in N.m (column 1)"],
    ),
    ("tables/T", {"x": [0, "len"], "y": [0, "s"]}, []),
]


def terms_in_order(line: str) -> str:
    """Return a line whose dimensions of a sum stand in alphabetical order: sums have none of their own."""
    before, here, terms = line.partition("; here ")
    return before + here + " + ".join(sorted(terms.split(" + ")))


def test_units_are_checked_everywhere():
    """Nothing is said of the ones, exactly this of the others, up to the order of terms."""
    for path, value, words in PLACES:
        found = said(changed(path, value, TOLD), within(path))
        assert [*map(terms_in_order, found)] == [*map(terms_in_order, words)], (path, value)
