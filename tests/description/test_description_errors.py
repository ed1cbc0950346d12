"""Everything that can be wrong with a description: found, named, explained, all at once."""

import pytest
from regulator_description import REGULATOR, changed

from kinetree.models import ModelError, load
from kinetree.models.checks.loader import describe


def problems_of(description, **overrides):
    with pytest.raises(ModelError) as error:
        describe(description, **overrides)
    return error.value.problems


def test_regulator_description_is_valid():
    assert describe(REGULATOR, m2=2.5).parameters["m2"].value == 2.5


CASES = [
    # path, value, key of the problem, words of the message
    (("bodies", "arm", "mass"), -1, "bodies.arm.mass", "negative"),
    (("bodies", "arm", "mass"), "-m2", "bodies.arm.mass", "negative"),
    (("bodies", "arm", "mass"), True, "bodies.arm.mass", "a number or an expression"),
    (("bodies", "arm", "mass"), float("nan"), "bodies.arm.mass", "a finite number"),
    (("bodies", "arm", "mass"), "0/0", "bodies.arm.mass", "division by zero"),
    (("bodies", "arm", "mass"), "m3", "bodies.arm.mass", "did you mean 'm2'"),
    (("bodies", "arm", "mass"), "m2*t", "bodies.arm.mass", "only parameters"),
    (("bodies", "arm", "mass"), "m2*gamma", "bodies.arm.mass", "is a coordinate of joint 'O'"),
    (
        ("bodies", "arm", "inertia"),
        [3, 0.1, 0.1, 0, 0, 0],
        "bodies.arm.inertia",
        "sum of the other two",
    ),
    (
        ("bodies", "arm", "inertia"),
        [1, 1, 1, 2, 0, 0],
        "bodies.arm.inertia",
        "negative principal moment",
    ),
    (("bodies", "arm", "inertia"), [1, 1, 1], "bodies.arm.inertia", "a list of 6 numbers"),
    (("bodies", "arm", "inertia_at_origin"), [1, 1, 1, 0, 0, 0], "bodies.arm", "one of them"),
    (("bodies", "arm", "colour"), "red", "bodies.arm.colour", "unknown key"),
    (("bodies", "arm", "comm"), [0, 0, 0], "bodies.arm.comm", "did you mean 'com'"),
    (("bodies", "lost"), {"mass": 1}, "bodies.lost", "no path to ground"),
    (("bodies", "ground"), {"mass": 1}, "bodies.ground", "body 0"),
    (("bodies", "2nd arm"), {"mass": 1}, "bodies.2nd arm", "letters, digits"),
    (("joints", "A", "parent"), "arn", "joints.A.parent", "did you mean 'arm'"),
    (("joints", "A", "parent"), "ball", "joints.A", "to itself"),
    (("joints", "O", "cut"), True, "bodies.arm", "no path to ground without cut joints"),
    (("joints", "O", "type"), "revolute", "joints.O", "both type and transforms"),
    (
        ("joints", "B"),
        {"child": "ball", "type": "sphericl"},
        "joints.B.type",
        "did you mean 'spherical'",
    ),
    (
        ("joints", "B"),
        {"child": "ball", "type": "spherical", "coordinates": ["a", "b", "c"]},
        "joints.B.coordinates",
        "4 names",
    ),
    (
        ("joints", "B"),
        {"child": "ball", "type": "revolute", "axis": [0, 0, 0]},
        "joints.B.axis",
        "length 0",
    ),
    (
        ("joints", "B"),
        {"child": "ball", "type": "revolute", "axis": ["m2-1.5", 0, 0]},
        "joints.B",
        "length 0",
    ),
    (
        ("joints", "B"),
        {"child": "ball", "type": "revolute", "coordinates": ["gamma"]},
        "joints.B.coordinates",
        "already a coordinate",
    ),
    (
        ("joints", "B"),
        {"child": "ball", "type": "revolute", "coordinates": ["m2"]},
        "joints.B.coordinates",
        "already a parameter",
    ),
    (
        ("joints", "B"),
        {"child": "ball", "type": "revolute", "coordinates": ["sin"]},
        "joints.B.coordinates",
        "meaning in expressions",
    ),
    (("forces", "drive", "coordinate"), "gama", "forces.drive.coordinate", "did you mean 'gamma'"),
    (("forces", "drive", "value"), "k*omega", "forces.drive.value", "did you mean 'omega0'"),
    (("forces", "drive", "value"), "force('spring')", "forces.drive.value", "is a force"),
    (
        ("forces", "drive", "value"),
        "table('curv', gamma)",
        "forces.drive.value",
        "did you mean 'curve'",
    ),
    (
        ("forces", "drive", "value"),
        "table('curve', gamma, 1)",
        "forces.drive.value",
        "takes one value",
    ),
    (("forces", "drive", "stiffness"), 3, "forces.drive", "value alone"),
    (("forces", "drive", "vale"), 3, "forces.drive.vale", "did you mean 'value'"),
    (("forces", "drive"), {"coordinate": "gamma"}, "forces.drive", "value, stiffness"),
    (("forces", "drive"), {"kind": "lin"}, "forces.drive", "did you mean 'line'"),
    (("forces", "drive"), {"valu": 3}, "forces.drive", "kind = one of"),
    (("forces", "spring", "between"), [], "forces.spring.between[0]", "found nothing"),
    (
        ("forces", "spring", "between"),
        [{"body": "arm"}, {"body": "arm"}],
        "forces.spring.between",
        "twice",
    ),
    (
        ("forces", "spring", "between"),
        [{"body": "arm"}, {"body": "bal"}],
        "forces.spring.between[1].body",
        "did you mean 'ball'",
    ),
    (
        ("forces", "spring", "between"),
        [{"body": "arm"}, {"bod": "ball"}],
        "forces.spring.between[1].bod",
        "did you mean 'body'",
    ),
    (
        ("forces", "stop"),
        {"coordinate": "gamma", "stiffness": 1, "sharpness": 0, "lower": 0},
        "forces.stop.sharpness",
        "> 0",
    ),
    (
        ("forces", "stop"),
        {"coordinate": "gamma", "stiffness": 1, "sharpness": 1, "lower": 1, "upper": 0},
        "forces.stop.upper",
        "above lower",
    ),
    (
        ("forces", "foot"),
        {"body": "ball", "stiffness": 1, "normal": [0, 0, 0]},
        "forces.foot.normal",
        "length 0",
    ),
    (
        ("forces", "law"),
        {"coordinate": "gamma", "law": "curv"},
        "forces.law.law",
        "did you mean 'curve'",
    ),
    (("inputs", "omega0", "unit"), "rad/q", "inputs.omega0.unit", "not a known unit"),
    (("inputs", "gamma"), {}, "inputs.gamma", "already a coordinate"),
    (("inputs", "t"), {}, "inputs.t", "meaning in expressions"),
    (("outputs", "height", "body"), "bal", "outputs.height.body", "did you mean 'ball'"),
    (
        ("outputs", "height", "quantity"),
        "positon",
        "outputs.height.quantity",
        "did you mean 'position'",
    ),
    (("outputs", "height", "value"), "1", "outputs.height", "one of them"),
    (("outputs", "height"), {"quantity": "distance"}, "outputs.height.between", "two points"),
    (
        ("outputs", "height"),
        {"quantity": "energy", "body": "arm"},
        "outputs.height.body",
        "no body for energy",
    ),
    (("outputs", "m2"), {"value": "k"}, "outputs.m2", "already a parameter"),
    (("outputs", "power", "value"), "power + 1", "outputs.power.value", "circular"),
    (("outputs", "power", "value"), "(k", "outputs.power.value", "(k"),
    (("tables", "curve", "x"), [0, 2, 1], "tables.curve.x", "ascending"),
    (("tables", "curve", "y"), [0, 2], "tables.curve.y", "as many as x"),
    (("tables", "curve", "z"), [[0, 2], [1, 2]], "tables.curve.z", "3 rows"),
    (
        ("actuators", "lift"),
        {"coordinate": "gama"},
        "actuators.lift.coordinate",
        "did you mean 'gamma'",
    ),
    (("actuators", "lift"), {}, "actuators.lift", "one of them"),
    (("stages", 0, "free"), ["B"], "stages[0].free", "unknown joint 'B'"),
    (("stages", 0, "set"), {"m3": 1}, "stages[0].set.m3", "did you mean 'm2'"),
    (
        ("stages", 0, "ends"),
        {"when": "abs(force('driv')) > 1"},
        "stages[0].ends.when",
        "unknown name",
    ),
    (("stages", 0, "ends"), {}, "stages[0].ends", "when, at or after"),
    (("stages", 0), {"name": "never ends"}, "stages[0].ends", "only the last stage"),
    (("run", "integrator"), "euler", "run.integrator", "adams"),
    (("run", "output_step"), 0, "run.output_step", "> 0"),
    (("run", "tolerances"), -1e-6, "run.tolerances.relative", "> 0"),
    (("parameters", "k", "max"), 10, "parameters.k", "<= 10"),
    (("parameters", "a"), "sin(a)", "parameters.a", "a -> a"),
    (("parameters", "if"), 3, "parameters.if", "meaning in expressions"),
    (("gravity",), "down", "gravity", "a list of 3 numbers"),
    (("gravty",), [0, 0, 0], "gravty", "did you mean 'gravity'"),
    (("format",), "kinetree/2", "format", "kinetree/1"),
]


@pytest.mark.parametrize(
    ("path", "value", "key", "words"), CASES, ids=[f"{k}-{case[2]}" for k, case in enumerate(CASES)]
)
def test_one_error_gives_one_message(path, value, key, words):
    found = problems_of(changed(*path, to=value))
    assert key in [problem.key for problem in found]
    assert words in "\n".join(str(problem) for problem in found if problem.key == key)
    assert len(found) <= 3  # follow-ups of one fault stay few


def test_all_errors_are_reported_together():
    description = changed("bodies", "arm", "mass", to=-1)
    description["bodies"]["ball"]["inertia"] = [float("inf"), 1, 1, 0, 0, 0]
    description["joints"]["A"]["parent"] = "arn"
    description["forces"]["drive"]["value"] = "k*omega"
    description["gravty"] = [0, 0, 0]
    keys = {problem.key for problem in problems_of(description, m=1)}
    assert keys == {
        "",
        "bodies.arm.mass",
        "bodies.ball.inertia",
        "joints.A.parent",
        "forces.drive.value",
        "gravty",
    }


def test_an_empty_description_is_no_mechanism():
    (problem,) = problems_of({})
    assert problem.key == "bodies"


def test_unknown_override_is_suggested():
    (problem,) = problems_of(REGULATOR, m3=1)
    assert "m3" in str(problem)
    assert "did you mean 'm2'" in str(problem)


def test_override_must_be_a_number():
    (problem,) = problems_of(REGULATOR, m2=float("nan"))
    assert problem.key == "parameters.m2"


def test_circular_parameters_show_the_circle():
    (problem,) = problems_of(
        changed("parameters", to={"m2": 1, "k": "a", "a": "2*b", "b": "c+1", "c": "a"})
    )
    assert "a -> b -> c -> a" in str(problem)


def test_second_joint_into_a_body_closes_a_loop():
    describe(changed("joints", "B", to={"child": "ball", "type": "spherical"}))


def test_massless_bodies_and_point_masses_are_allowed():
    describe(changed("bodies", "ball", to={"mass": 0}))
    describe(changed("bodies", "ball", to={"mass": 1}))


def test_thin_plate_and_rounded_data_pass():
    describe(changed("bodies", "arm", "inertia", to=[0.333, 0.333, 0.667, 0, 0, 0]))
    describe(changed("bodies", "arm", "inertia", to=[0, 1, 1, 0, 0, 0]))


def test_published_reduced_inertia_passes_on_demand():
    body = {"mass": 0, "inertia": [0, 0.35, 0, 0, 0, 0]}
    assert "bodies.ball.inertia" in [
        problem.key for problem in problems_of(changed("bodies", "ball", to=body))
    ]
    describe(changed("bodies", "ball", to=body | {"unphysical": True}))


def test_inertia_about_the_origin_is_reduced_by_the_parallel_axes():
    """A rod of mass 3 and length 2 about its end: 4 about its end, 1 about its centre; with com 3 nothing would be left."""
    rod = {"mass": 3, "com": [1, 0, 0], "inertia_at_origin": [0, 4, 4, 0, 0, 0]}
    describe(changed("bodies", "arm", to=rod))
    (problem,) = problems_of(changed("bodies", "arm", to=rod | {"com": [3, 0, 0]}))
    assert problem.key == "bodies.arm.inertia_at_origin"
    assert "-23" in str(problem)


def test_file_and_line_are_named(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(
        '[bodies.a]\nmass = 1\n\n[joints.J]\nchild = "a"\ntype = "revolute"\naxis = [0, 0,\n  0]\n[forces.f]\ncoordinate = "J.angl"\nvalue = "1+"\n'
    )
    found = problems_of(path)
    assert [(problem.file, problem.key, problem.line) for problem in found] == [
        (str(path), "joints.J.axis", 7),
        (str(path), "forces.f.value", 11),
    ]


def test_column_points_into_the_expression():
    (problem,) = problems_of(changed("forces", "drive", "value", to="k*(omega0 - der(gama))"))
    assert problem.column == 13


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.toml", b"a = [1, 2", "not TOML"),
        ("a.toml", b"a = 1\na = 2", "not TOML"),
        ("a.toml", b"[bodies.b{i}]\ncopies = 2", "in quotes"),
        ("a.toml", b"[bodies]\nb{i} = {copies = 2}", "in quotes"),
        ("a.json", b'{"a": 1', "not JSON"),
        ("a.json", b'{"bodies": {"a": {"mass": 1}, "a": {"mass": 2}}}', "twice"),
        ("a.json", b"[1]", "a table of tables"),
        ("a.toml", b"a = '\xff'", "UTF-8"),
        ("a.yaml", b"", ".toml or .json"),
    ],
)
def test_unreadable_files_are_refused(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    (problem,) = problems_of(path)
    assert problem.file == str(path)
    assert words in str(problem)


@pytest.mark.parametrize(
    "source",
    [
        "nowhere.toml",
        "a\0b.toml",
        "x" * 100_000 + ".toml",
        "lib:regulatr",
        "lib:../../etc/passwd",
        3,
        "nowhere",
    ],
)
def test_missing_sources_are_refused(source):
    assert len(problems_of(source)) == 1


@pytest.mark.parametrize(
    ("table", "key"),
    [
        (
            {"stages": [{"name": "a", "ends": {"at": 1}, "set": {"gap": 20}}, {"name": "b"}]},
            "stages[0].set.gap",
        ),
        (
            {"events": {"e": {"when": "gamma > 1", "set": {"gap": {"value": 120, "unit": "mm"}}}}},
            "events.e.set.gap",
        ),
        ({"run": {"prepare": [{"set": {"gap": "10/5"}}]}}, "run.prepare[0].set.gap"),
    ],
)
def test_set_values_must_respect_bounds(table, key):
    """20 for a parameter that was given as 50 mm is 20 m; a law is evaluated at its instant, and may give what it will."""
    gap = {"value": 50, "unit": "mm", "min": 1, "max": 100, "tunable": True}
    description = {**REGULATOR, **table, "parameters": {**REGULATOR["parameters"], "gap": gap}}
    (problem,) = problems_of(description)
    assert problem.key == key and "a number >= 0.001 and <= 0.1" in str(problem)
    law = {"stages": [{"name": "a", "ends": {"at": 1}, "set": {"gap": "gap/2"}}, {"name": "b"}]}
    describe({**description, **law, "events": {}, "run": {}})


@pytest.mark.parametrize(
    ("table", "given", "meant"),
    [
        ({"bodies": {"a": {"mass": 1, "cog": [0, 0, 0]}}}, "cog", "com"),
        ({"joints": {"j": {"child": "a", "kind": "revolute"}}}, "kind", "type"),
        ({"controllers": {"c": {"kind": "pid", "sample_time": 0.01}}}, "sample_time", "period"),
        ({"run": {"duration": 3.0}}, "duration", "stop_time"),
    ],
)
def test_words_of_other_tools_lead_to_the_key(table, given, meant):
    with pytest.raises(ModelError) as failure:
        load({"format": "kinetree/1", "name": "x"} | table)
    said = [each for each in str(failure.value).splitlines() if f"'{given}'" in each]
    assert len(said) == 1 and f"'{meant}'" in said[0]
