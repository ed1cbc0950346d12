"""What `kinetree explain`, `list`, `new` and `equations` find and print, word by word."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kinetree.models.forces.kinds import KINDS
from kinetree.scripts.cli import main
from kinetree.scripts.commands import bench, equations, explain, import_robot, library
from kinetree.scripts.commands.new import TEMPLATES, content
from kinetree.scripts.terminal import explain_lookup
from kinetree.scripts.terminal.error_hints import ADVICE, advice
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.glossary import PAGE, glossary_page


@pytest.mark.parametrize(
    ("asked", "places"),
    [
        ("", []), ("[]", []), (" . ", []), ("model.toml", []), ("nothing.nothing", []),
        ("mass", ["bodies: mass", "chain: mass"]), ("bodies.arm.mass", ["bodies: mass"]), ("nothing.mass", ["bodies: mass", "chain: mass"]),
        ("m.toml: bodies.arm[3].com: found -1", ["bodies: com"]), ("Bodies.Mass", ["bodies: mass"]),
        ("outputs.x.quantity", ["outputs: quantity"]), ("kind", ["kind"]), ("nothing.kind", ["kind"]), ("bodies.arm.inertai", ["bodies: inertia"]),
        ("against", ["[contacts.against]", "[forces.against]"]), ("events", ["[events]", "  text", "  when", "  set"]),
        ("forces.rope.spring", []), ("sin", ["sin"]), ("controllers.hold.kp", ["controllers kind = pid: kp"]),
        ("helix", ["helix", "  radius", "  pitch", "  begin", "  end"]),
        ("forces.g.helix", ["forces kind = guide: helix", "helix", "  radius", "  pitch", "  begin", "  end"]),
        ("report.tables.sums.columns", ["report.tables: columns", "report.plots: columns"]),
        ("forces.shape", ["[forces.shape]", "  sphere", "  capsule", "  box", "  cylinder", "  polygon",
            "  thickness", "  hull", "  scale", "  axis", "  rotate"]),
    ],
)  # fmt: skip
def test_explain_finds_requested_key(asked: str, places: list[str]):
    assert [place for place, _ in explain.meanings(asked)] == places


def test_explain_maps_user_names_to_sections():
    """One level below it; what is no key of a kind is one of its table."""
    assert (
        [place for place, _ in explain.meanings("run.zzz")][0]
        == "[run]"
        == explain.meanings("run")[0][0]
    )
    line = [place for place, _ in explain.meanings("line")]
    assert (
        line[0] == "[forces] kind = line"
        and "  kind" not in line
        and "  copies" not in line
        and "  between" in line
    )
    for asked in ("forces kind line", "forces line", "forces.line"):
        assert [place for place, _ in explain.meanings(asked)] == line
    tables = dict(explain.tables())
    assert explain.described(tables["[joints]"], "child").endswith(
        " (required)"
    ) and explain.described(tables["[joints]"], "type").endswith(", free")
    assert explain.described(tables["[run]"], "integrator").endswith("adams-fixed (default auto)")
    assert explain.described(tables["[controllers] kind = pid"], "kp").endswith(" (default 0)")
    assert [label for label, _ in explain.held(tables["[joints]"], "transforms")] == [
        "transforms"
    ] and explain.held(tables["[joints]"], "x") == []
    assert (
        explain.nearest("nope", "inertai") == []
        and {"mass", "sin", "bodies", "rope"} <= set(explain.known())
        and "kind" in explain.known()
    )
    assert explain.path_of("[forces] kind = lead-lag") == [
        "forces",
        "lead-lag",
    ] and explain.path_of("[report.tables]") == ["report", "tables"]


def test_explain_covers_allowed_values():
    """Units by their factor to the base units, and from where they are counted."""
    assert explain_lookup.values("kN") == [("unit: kN", "1000 kg.m.s-2")] and explain_lookup.values(
        "degC"
    ) == [("unit: degC", "1 K, from 273.15")]
    assert (
        explain_lookup.values("m2") == [("unit: m2", "1 m2")]
        and explain_lookup.values("%") == [("unit: %", "0.01 1")]
        and explain_lookup.values("1") == []
    )
    ((place, what),) = explain_lookup.values("radau")
    assert (
        place == "integrator: radau"
        and "order 5: " in what
        and explain_lookup.values("nothing of it") == []
    )
    assert [place for place, _ in explain_lookup.values("revolute")] == [
        "type of a joint: revolute"
    ]
    tables = dict(explain.tables())
    assert [each.__name__ for each in explain_lookup.inside(tables["description"], "joints")] == [
        "JointSpec"
    ]
    assert explain_lookup.inside(tables["description"], "forces") == [], "one of many kinds"
    assert (
        explain_lookup.example("[forces] kind = line").startswith("[forces.")
        and explain_lookup.example("nope") == ""
    )


def test_explanations_are_printed_in_two_columns_with_their_examples(capsys: pytest.CaptureFixture):
    """An example of each where fewer than three tables are named."""
    assert main(["explain", "forces.g.helix"]) == 0
    lines = capsys.readouterr().out.splitlines()
    width = len("forces kind = guide: helix") + 2
    assert [line[:width].rstrip() for line in lines[:6]] == [
        "forces kind = guide: helix",
        "helix",
        "  radius",
        "  pitch",
        "  begin",
        "  end",
    ]
    assert all(line[width - 1] == " " != line[width] for line in lines[:6])
    for asked, examples in (("bodies", 1), ("against", 2), ("reference", 0), ("forces", 0)):
        assert main(["explain", asked]) == 0
        out = capsys.readouterr().out
        found = [
            text
            for text in dict.fromkeys(
                explain_lookup.example(place) for place, _ in explain.meanings(asked)
            )
            if text
        ]
        assert sum(f"\n\n{text}" in out for text in found) == min(examples, len(found)), asked
    assert main(["explain", "the", "motion", "is", "unstable"]) == 0
    assert (
        capsys.readouterr().out == f"the motion is unstable  {ADVICE['the motion is unstable']}\n"
    )
    assert (
        main(["explain", "inertai"]) == 2
        and "'inertai'" in (said := capsys.readouterr().err)
        and "did you mean inertia" in said
    )
    assert main(["explain", "stiffnes"]) == 2
    assert (
        capsys.readouterr()
        .err.strip()
        .endswith("; did you mean stiffness, end_stiffness, slip_stiffness?")
    ), "three at most"
    assert main(["explain", "gibberish"]) == 2
    said = capsys.readouterr().err
    assert "'gibberish'" in said and "did you mean" not in said
    assert advice("A DEAD POINT") == [("dead point", ADVICE["dead point"])]


def test_list_prints_library_in_two_columns(capsys: pytest.CaptureFixture):
    """Mechanisms by text, name or the first line of their generator; force elements by that of their tables."""
    assert (
        library.title("pendulum")
        and library.title("chain")
        == "Chain of n equal hanging rods, on revolute joints of alternating axes, universal or spherical joints."
    )
    for what, names in (("library", ("lib:pendulum", "lib:three-link")), ("forces", tuple(KINDS))):
        assert main(["list", what, "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert set(names) <= set(rows) and all(
            rows[name] and "\n" not in rows[name] for name in names
        )
        assert main(["list", what]) == 0
        width = max(map(len, rows))
        assert capsys.readouterr().out.splitlines() == [
            f"{name:<{width}}  {text}".rstrip() for name, text in rows.items()
        ]
    assert (
        json.loads("{}") == {}
        and rows["line"] == (KINDS["line"].table.__doc__ or "").splitlines()[0]
    )


def test_new_fills_in_template_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.chdir(tmp_path)
    for template in TEMPLATES:
        assert content(template, 'a \\ "b"').count('name = "a \\ "b""\n') == 1, template
    assert main(["new", "My arm.toml", "-t", "cosim"]) == 0
    said = capsys.readouterr().out
    assert said == (
        "My-arm.toml written. Next: kinetree info My-arm.toml, kinetree run My-arm.toml --plot My-arm.png, kinetree view My-arm.toml"
        ", kinetree cosim with My-arm.toml as a unit\n"
    )
    assert 'name = "My arm"' in (tmp_path / "My-arm.toml").read_text()
    (tmp_path / "My-arm.toml").write_text("mine")
    assert main(["new", "My arm"]) == 2 and (tmp_path / "My-arm.toml").read_text() == "mine"
    assert (
        main(["new", "My arm", "--force"]) == 0
        and "cosim" not in capsys.readouterr().out
        and (tmp_path / "My-arm.toml").read_text() != "mine"
    )
    assert (
        main(["new", "x", "-o", "y.toml"]) == 0
        and (tmp_path / "y.toml").exists()
        and not (tmp_path / "x.toml").exists()
    )


class Trace:
    """Equations that say how they were asked for."""

    of, name, form, operations, heading = "energy", "arm", "CBM", 7, "a heading"

    def __init__(self, *asked: Any):
        self.asked = asked

    def gradient(self, names: Any) -> "Trace":
        return Trace(*self.asked, names)

    def __getattr__(self, language: str) -> Any:
        return lambda *name: f"{language} {name} {self.asked}\n"


def test_equations_options_select_stage_form_and_gradient(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """Stages by number or name, forms in capitals but auto, slopes by all or some names; languages of code have a name for it."""
    from kinetree import models

    monkeypatch.setattr(
        models,
        "load",
        lambda *given, **more: SimpleNamespace(
            description=SimpleNamespace(slips=()), compile=lambda: SimpleNamespace(trace=Trace)
        ),
    )
    for options, text in (
        (["--to", "latex"], "latex () ('accelerations', 'numbers', 'auto', None)\n"),
        (["--form", "cbm", "--stage", "2"], "text () ('accelerations', 'numbers', 'CBM', 2)\n"),
        (
            ["--stage", "lift", "--to", "c", "--name", "f"],
            "c ('f',) ('accelerations', 'numbers', 'auto', 'lift')\n",
        ),
        (
            ["--gradient", "all", "--to", "python"],
            "python ('',) ('accelerations', 'numbers', 'auto', None, None)\n",
        ),
        (
            ["--gradient", "a, b"],
            "text () ('accelerations', 'numbers', 'auto', None, ['a', 'b'])\n",
        ),
    ):
        assert main(["equations", "m", *options]) == 0
        assert capsys.readouterr().out == text
    path = tmp_path / "e.txt"
    plain = {"of": "energy", "name": "arm", "form": "CBM", "operations": 7, "language": "text"}
    for options, shown in (
        (["--json"], plain | {"file": str(path)}),
        (["-q"], None),
        ([], f"{path}: a heading\n"),
    ):
        path.unlink(missing_ok=True)
        assert main(["equations", "m", "-o", str(path), *options]) == 0
        out = capsys.readouterr().out
        assert path.read_text().startswith("text ()") and (
            json.loads(out) if options == ["--json"] else out
        ) == (shown or "")
    assert main(["equations", "m", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == plain | {
        "text": "text () ('accelerations', 'numbers', 'auto', None)\n"
    }


def test_equations_command_writes_controllers_in_c_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    from kinetree.models.equations import controllers_c as laws

    monkeypatch.setattr(laws, "controllers_in_c", lambda description: "void c(void);\n")
    machine: Any = SimpleNamespace(description=SimpleNamespace(name="arm"))
    path = tmp_path / "c.c"
    for output, quiet, shown in (
        (None, False, "void c(void);\n"),
        (None, True, "void c(void);\n"),
        (path, True, ""),
        (path, False, f"{path}: controllers of arm\n"),
    ):
        equations.controllers(machine, "c", output, quiet)
        assert capsys.readouterr().out == shown
    assert path.read_text() == "void c(void);\n"
    with pytest.raises(BadInput, match="--of controllers is written as C: --to c, not text"):
        equations.controllers(machine, "text", None, False)


def test_xacro_and_benchmark_arguments_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    assert [import_robot.pair(text) for text in ("a=1", "b:=2=3", " c =")] == [
        ("a", "1"),
        ("b", "2=3"),
        ("c", ""),
    ]
    for text in ("a", "=1", ":=1", " =2"):
        with pytest.raises(BadInput, match=f"--arg {text}: expected NAME=VALUE"):
            import_robot.pair(text)
    names = bench.benchmarks()
    assert names == sorted(names) and "chain" in names and all("_" not in name for name in names)
    assert main(["bench"]) == 0 and capsys.readouterr().out.split() == names
    asked: list[Any] = []
    run = lambda quick, json, plots, source=None: asked.append((quick, json, plots, source))  # noqa: E731
    monkeypatch.setattr(
        bench, "import_module", lambda name: (asked.append(name), SimpleNamespace(run=run))[1]
    )
    assert (
        main(["bench", "loops", "--quick", "--json", "a.json", "--plots", str(tmp_path / "p")])
        == 0
        == main(["bench", "loops", "x.toml"])
    )
    module = "kinetree.scripts.bench.loops"
    assert (
        asked
        == [
            module,
            (True, Path("a.json"), tmp_path / "p", None),
            module,
            (False, None, None, "x.toml"),
        ]
        and (tmp_path / "p").is_dir()
    )
    assert (
        main(["bench", "loops", "--against", "x.json"]) == 2
        and "bench loops: compares nothing with x.json" in capsys.readouterr().err
    )
    monkeypatch.setattr(
        bench, "import_module", lambda name: SimpleNamespace(run=lambda quick, json, plots: None)
    )
    assert (
        main(["bench", "loops", "x.toml"]) == 2
        and "bench loops: takes no file, got x.toml" in capsys.readouterr().err
    )


def test_explain_prints_words_of_the_glossary(capsys: pytest.CaptureFixture):
    """A word, its plural, the term of the trade; beside the key of the same name."""
    for asked, word in (("guard", "guard"), ("Freedoms", "freedom"), ("equilibrium", "rest")):
        assert main(["explain", asked]) == 0
        assert f"glossary: {word} " in capsys.readouterr().out
    assert main(["explain", "coordinate"]) == 0
    said = capsys.readouterr().out
    assert "glossary: coordinate " in said and "forces" in said


def test_glossary_page_is_written_from_the_terms():
    assert PAGE.read_text(encoding="utf-8") == glossary_page()


def test_new_writes_into_named_folder(tmp_path: Path):
    (tmp_path / "sub").mkdir()
    assert main(["new", f"{tmp_path}/sub/my arm"]) == 0
    assert 'name = "my arm"' in (tmp_path / "sub" / "my-arm.toml").read_text()


def test_explain_describes_library_mechanisms():
    assert (
        explain_lookup.values("geneva")[0][0]
        == explain_lookup.values("lib:geneva")[0][0]
        == "lib:geneva"
    )
