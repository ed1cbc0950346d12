"""Small comforts of the command line: templates, explanations, completion; what notebooks show."""

import json

import pytest
from tree import ROOT

from kinetree.models import load
from kinetree.models.description.reference import TABLES
from kinetree.models.expressions.function_help import MEANINGS as EXPLAINED
from kinetree.models.expressions.functions import CONSTANTS, FUNCTIONS, RESERVED
from kinetree.models.forces.kinds import KINDS as FORCES
from kinetree.models.hydraulics.kinds import KINDS as HYDRAULICS
from kinetree.models.language.parts.controller_parts import CONTROLLERS
from kinetree.scripts.cli import main
from kinetree.scripts.commands.new import TEMPLATES, content
from kinetree.scripts.terminal.error_hints import ADVICE


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_is_a_mechanism_of_the_given_name(
    template: str, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["new", 'My "own" crane', "--template", template, "-o", "own.toml"]) == 0
    mechanism = load("own.toml")
    assert mechanism.description.name == 'My "own" crane'
    assert mechanism.compile().simulate(stop_time=0.05).time[-1] == pytest.approx(0.05)
    assert (
        main(["new", "x", "-t", "hydrolic"]) == 2
        and "did you mean 'hydraulic'" in capsys.readouterr().err
    )


def test_load_in_stages_template_is_released(tmp_path):
    """Between the grip's end and the end of the run nothing but gravity acts: the height is a parabola."""
    path = tmp_path / "throw.toml"
    path.write_text(content("stages", "throw"))
    result = load(path).compile().simulate()
    free = result["stage"] == 1
    t, height = result.time[free][1:], result["flight[3]"][free][1:]
    assert free.sum() > 50
    rate = (height[2:] - 2 * height[1:-1] + height[:-2]) / (t[1] - t[0]) ** 2
    assert rate == pytest.approx(-9.81, abs=1e-4)


def told(capsys, *words: str) -> list[dict[str, str]]:
    assert main(["explain", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_explain_covers_keys_tables_functions_and_messages(capsys):
    assert "about the centre of mass" in told(capsys, "bodies.arm.inertia")[0]["what"]
    assert {each["place"].strip() for each in told(capsys, "jack")} >= {
        "stiffness",
        "extension",
        "height",
    }
    assert told(capsys, "atan2")[0]["what"].startswith("atan2(y, x)")
    assert [each["place"] for each in told(capsys, "chain.stiffness")] == ["chain: stiffness"]
    message = "m.toml:4: forces.drive.stifness: found an unknown key"
    assert any(each["place"] == "forces kind = line: stiffness" for each in told(capsys, message))
    message = (
        "kinetree: crane.toml: found override of the unknown parameter 'nothing'; known: load, rope"
    )
    assert any("[parameters]" in each["what"] for each in told(capsys, message))
    assert "shift" in {each["place"].strip() for each in told(capsys, "joints.transforms")}, (
        "what stands in the tables of a key"
    )
    assert told(capsys, "couplings.link")[0]["place"] == "[couplings]", (
        "a name of the user's stands for its section"
    )
    assert (
        "revolute" in told(capsys, "joints.pivot.type")[0]["what"]
        and told(capsys, "revolute")
        and "1000" in told(capsys, "kN")[0]["what"]
    )
    assert (
        main(["explain", "transforms"]) == 0 and "{ shift = [0, 0, 1] }" in capsys.readouterr().out
    ), "an example"
    assert main(["explain", "gibberish"]) == 2 and main(["explain", "inertai"]) == 2
    assert "inertia" in capsys.readouterr().err


def test_explain_covers_every_table(capsys):
    """Sections of many kinds list them, two tables of one name are told apart."""
    for section, kinds in (
        ("forces", FORCES),
        ("hydraulics", HYDRAULICS),
        ("controllers", CONTROLLERS),
    ):
        assert {each["place"] for each in told(capsys, section)} >= {
            f"[{section}] kind = {name}" for name in kinds
        }
        for name in kinds:
            assert any(
                each["place"] == f"[{section}] kind = {name}"
                for each in told(capsys, section, name)
            ), name
    assert (
        told(capsys, "tables")[0]["place"] == "[tables]"
        and told(capsys, "report.tables")[0]["place"] == "[report.tables]"
    )
    assert [each["place"] for each in told(capsys, "controllers.hold.kp")] == [
        "controllers kind = pid: kp"
    ]
    for title in TABLES:
        name = title.strip("[]").split(",")[0].replace(".NAME", "")
        paragraph = (TABLES[title].__doc__ or "").strip().split("\n\n")[0]
        assert told(capsys, name)[0]["what"] == " ".join(paragraph.split()), title


def test_error_hints_match_existing_messages():
    """Every phrase stands in some message of the code."""
    code = "".join(
        path.read_text()
        for room in ("models", "scripts", "fmu_src")
        for path in (ROOT / room).rglob("*.py")
        if path.name != "error_hints.py"
    )
    assert not [phrase for phrase in ADVICE if phrase not in code]


def test_every_key_has_an_explanation():
    """Every function has its line, every key of every table its meaning."""
    assert set(EXPLAINED) == set(RESERVED) >= {*FUNCTIONS, *CONSTANTS}
    for model in TABLES.values():
        assert all(field.description for name, field in model.model_fields.items()), model


def test_completion_is_offered(capsys):
    assert main(["--help"]) == 0
    assert "--install-completion" in capsys.readouterr().out


def test_notebooks_display_mechanisms_results_and_equilibria():
    mechanism = load("lib:pendulum")
    system = mechanism.compile()
    for shown in (mechanism._repr_html_(), system._repr_html_()):
        assert (
            "1 body, 1 degree of freedom" in shown
            and "data:image/png;base64," in shown
            and "phi0" in shown
        )
    run = system.simulate(0.1)
    assert "animate()" in run._repr_html_() and "data:image/png;base64," in run._repr_html_()
    assert "data:image/png;base64," in run.plot()._repr_html_()
    assert "<table>" in run.table("start")._repr_html_()
    assert (
        "stable rest" in system.equilibrium()._repr_html_()
        and "0.49849 Hz" in system.equilibrium()._repr_html_()
    )
    assert load("lib:servo-drive").compile()._repr_html_()
    equations = system.trace("accelerations")
    assert equations._repr_latex_().strip().startswith("\\begin{align*}")
    assert repr(equations).startswith("<accelerations of Pendulum") and len(repr(equations)) < 80


def test_every_reporting_command_offers_json(tmp_path, monkeypatch, capsys):
    """What each prints for people has a form for programs; paths, counts and texts that others go on with."""
    monkeypatch.chdir(tmp_path)

    def told(*words: str) -> dict:
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    assert told("new", "mine", "--template", "loop") == {"file": "mine.toml", "template": "loop"}
    made = told("equations", "lib:pendulum", "--to", "c")
    assert made["language"] == "c" and made["operations"] > 0 and "double" in made["text"]
    packed = told("fmu", "lib:pendulum", "-q")
    assert (
        packed["file"] == "Pendulum.fmu"
        and packed["bytes"] == (tmp_path / "Pendulum.fmu").stat().st_size
        and packed["backend"] == "python"
    )
    around = told("modelica", "lib:boom", "-o", "BoomModel.mo")
    assert around["model"] == "BoomModel" and around["actuators"] == ["lift"]
    (tmp_path / "arm.urdf").write_text(
        '<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="turn" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/></joint></robot>'
    )
    assert told("import", "arm.urdf")["bodies"] == 1


def test_printed_json_names_its_content():
    """Name, size and first names of what can be asked for, in one line and without arrays."""
    mechanism = load("lib:boom")
    system = mechanism.compile()
    run, linear = system.simulate(stop_time=0.1), system.linearize()
    rest = load("lib:pendulum").compile().equilibrium()
    for shown, words in (
        (mechanism, ("Luffing boom", "2 bodies", "reach")),
        (mechanism.starting({"luff": 0.1}), ("starts luff",)),
        (system, ("Luffing boom", "1 degree of freedom", "luff", "lift.force", "tip")),
        (run, ("Luffing boom", "0 to 0.1 s", "11 rows", "luff", "0 events")),
        (linear, ("2 states", "luff", "lift.force", "tip")),
        (rest, ("Pendulum", "stable", "phi = 0", "0.4985 Hz")),
        (system.stepper(), ("Luffing boom", "t = 0", "step = 0.001")),
        (system.steppers(3), ("3 motions",)),
    ):
        text = repr(shown)
        assert all(word in text for word in words), text
        assert "\n" not in text and len(text) < 250


@pytest.mark.parametrize(
    ("given", "meant"),
    [("simulate", "run"), ("rnu", "run"), ("export", "fmu"), ("Validate", "check")],
)
def test_unknown_command_error_suggests_a_command(given: str, meant: str, capsys):
    assert main([given, "lib:boom"]) == 2
    said = capsys.readouterr().err
    assert f"'{given}'" in said and f"'{meant}'" in said and len(said.splitlines()) == 1


def test_synonyms_of_commands_are_suggested(capsys):
    from kinetree.scripts.cli import MEANT
    from kinetree.scripts.commands import found

    assert {*MEANT.values()} <= found().keys() and not {*MEANT} & found().keys()
    assert main(["xyzzy"]) == 2 and "did you mean" not in capsys.readouterr().err


def test_existing_fmu_is_not_overwritten_silently(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    line = ["fmu", "lib:pendulum", "--backend", "python"]
    assert main(line) == 0 and "written" in capsys.readouterr().out
    (path,) = tmp_path.glob("*.fmu")
    assert main(line) == 2 and path.name in capsys.readouterr().err
    assert main([*line, "--force"]) == 0 and "replaced" in capsys.readouterr().out
    assert main([*line, "-o", str(path)]) == 0 and "replaced" in capsys.readouterr().out


@pytest.mark.parametrize("joint", ['type = "free"', 'type = "spherical"', 'type = "revolute"'])
def test_check_refuses_a_body_that_nothing_lets_turn(tmp_path, capsys, joint):
    """A mass in the axis, or free to turn, has no equation of motion: where, what, what to do."""
    text = (
        f'format = "kinetree/1"\n[bodies.load]\nmass = 2.0\n[joints.j]\nchild = "load"\n{joint}\n'
    )
    (tmp_path / "load.toml").write_text(text)
    assert main(["check", str(tmp_path / "load.toml")]) == 2
    told = capsys.readouterr()
    assert "load.toml:2: bodies.load: found mass without inertia" in told.err + told.out
    assert "inertia = [" in told.err and "density" in told.err and "OK" not in told.out
    assert main(["check", str(tmp_path / "load.toml"), "--json"]) == 2
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert (problem["key"], problem["line"]) == ("bodies.load", 2)
    whole = text.replace("mass = 2.0", "mass = 2.0\ninertia = [1, 1, 1, 0, 0, 0]")
    (tmp_path / "whole.toml").write_text(whole)
    assert main(["check", str(tmp_path / "whole.toml")]) == 0
    assert "point mass" not in capsys.readouterr().out


def test_check_names_point_masses(tmp_path, capsys):
    """A mass beside the axis swings as a point; what only slides needs no inertia."""
    text = 'format = "kinetree/1"\n[bodies.load]\nmass = 2.0\ncom = [0, 0, -1]\n[joints.j]\nchild = "load"\n'
    for kind, told in (("revolute", True), ("prismatic", False)):
        (tmp_path / "f.toml").write_text(f'{text}type = "{kind}"\naxis = "x"\n')
        assert main(["check", str(tmp_path / "f.toml")]) == 0
        found = capsys.readouterr().out
        assert ("point masses" in found and "bodies load" in found) == told


def test_check_reports_joints_without_parent(tmp_path, capsys):
    """One of them stands on the ground; where there are several a parent may be forgotten."""
    body = "mass = 1.0\ninertia = [0.1, 0.1, 0.1, 0, 0, 0]\n"
    text = 'format = "kinetree/1"\nname = "two"\n'
    text += "".join(f"[bodies.{name}]\n{body}" for name in "ab")
    text += '[joints.j]\nchild = "a"\ntype = "revolute"\naxis = "y"\n'
    other = '[joints.k]\nchild = "b"\ntype = "revolute"\naxis = "y"\n'
    (tmp_path / "f.toml").write_text(text + other)
    assert main(["check", str(tmp_path / "f.toml")]) == 0
    assert "joints j, k" in capsys.readouterr().out
    (tmp_path / "g.toml").write_text(text + other + 'parent = "a"\n')
    assert main(["check", str(tmp_path / "g.toml")]) == 0
    assert "no parent" not in capsys.readouterr().out
    named = text.replace('child = "a"', 'child = "a"\nparent = "ground"') + other
    (tmp_path / "h.toml").write_text(named)
    assert main(["check", str(tmp_path / "h.toml")]) == 0
    assert "joints k\n" in capsys.readouterr().out, "the other says that it stands on the ground"


def test_info_explains_the_selected_method(capsys):
    assert main(["info", "lib:boom"]) == 0
    assert "Runs use DEC although DRT has fewer" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("words", [["list", "forces"], ["explain", "hydraulics"]])
def test_sentences_of_kinds_are_whole(capsys, words):
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5 and all(line.rstrip().endswith((".", ")", "`")) for line in lines), lines
