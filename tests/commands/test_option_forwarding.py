"""`kinetree identify`, `optimize` and `fmu`: what their lines ask for reaches what does it, and nothing else."""

import json
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kinetree import models
from kinetree.fmu.archive import build
from kinetree.models.analysis import mode_matching
from kinetree.models.checks import structural_parameters
from kinetree.scripts import cli, commands
from kinetree.scripts.commands import fmu, identify, optimize, run
from kinetree.scripts.studies import optimise, optimise_file
from kinetree.scripts.terminal import measured_files, progress


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """Records are their names, decays and fits what they are made of."""
    monkeypatch.chdir(tmp_path)
    log: list[Any] = []
    description = SimpleNamespace(parameters={"k": 1.0, "m": 2.0}, name="arm", slips=())
    mechanism = SimpleNamespace(
        description=description,
        compile=lambda: SimpleNamespace(compiled=SimpleNamespace(inputs=("u",))),
    )
    monkeypatch.setattr(
        models,
        "load",
        lambda source, **settings: (log.append(("load", source, settings)), mechanism)[1],
    )

    def match(mechanism: Any, modes: Any, wanted: list[str], **more: Any) -> str:
        log.append(("match", modes, wanted, more))
        return "matched"

    def tell(
        decay: Any,
        output: Any,
        plot: Any,
        quiet: bool,
        as_json: bool,
        mechanism: Any = None,
        values: Any = None,
    ) -> None:
        log.append(
            (
                "decay",
                decay.modes,
                output,
                plot,
                quiet,
                as_json,
                *[True] * (mechanism is not None and values == "matched"),
            )
        )

    monkeypatch.setattr(
        measured_files,
        "single",
        lambda text, maps=None, mechanism=None: (text, maps, mechanism is not None),
    )
    monkeypatch.setattr(mode_matching, "match_modes", match)
    monkeypatch.setattr(
        identify,
        "decay_of",
        lambda data, chosen, order: SimpleNamespace(modes=[data[0], chosen, order]),
    )
    monkeypatch.setattr(
        identify,
        "draw_diagram",
        lambda data, chosen, path: log.append(("diagram", data[0], chosen, path.name)),
    )
    monkeypatch.setattr(identify, "tell_decay", tell)
    monkeypatch.setattr(
        identify, "fit", lambda mechanism, *given: (log.append(("fit", *given)), "found")[1]
    )
    monkeypatch.setattr(
        identify, "tell_fit", lambda found, *given: log.append(("told", found, *given))
    )
    monkeypatch.setattr(identify, "plan", lambda *given: log.append(("plan", *given)))
    return log


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("d.csv --map a=b --columns x,y --order 4 -q", [("decay", ["d.csv", ["x", "y"], 4], None, None, True, False)]),
        ("d.csv --diagram g.png -o o.json --plot p.png --json",
         [("diagram", "d.csv", [], "g.png"), ("decay", ["d.csv", [], None], Path("o.json"), Path("p.png"), False, True)]),
        ("m d.csv -p k --modes --diagram g.png --columns x --bounds k=1:2 --input u=3 --set m=4",
         [("load", "m", {"m": 4}), ("diagram", "d.csv", ["x"], "g.png"),
          ("match", ["d.csv", ["x"], None], ["k"], {"bounds": {"k": (1.0, 2.0)}, "inputs": {"u": 3}}),
          ("decay", ["d.csv", ["x"], None], None, None, False, False, True)]),
        ("m d.csv -p k --modes", [("load", "m", {}), ("match", ["d.csv", [], None], ["k"], {"bounds": {}, "inputs": {}}),
                                  ("decay", ["d.csv", [], None], None, None, False, False, True)]),
        ("m d.csv e.csv -p k,m --map a=b --robust --input u=3 --columns x --bounds k=:2 -o o.json -q",
         [("load", "m", {}),
          ("fit", [("d.csv", ["a=b"], True), ("e.csv", ["a=b"], True)], ["k", "m"], ["x"], {"k": (-float("inf"), 2.0)}, {"u": 3}, True, True, False),
          ("told", "found", Path("o.json"), None, True, False)]),
        ("m d.csv -p k --json",
         [("load", "m", {}), ("fit", [("d.csv", None, True)], ["k"], [], {}, None, False, True, False), ("told", "found", None, None, False, True)]),
        ("m d.csv -p k",
         [("load", "m", {}),
          ("fit", [("d.csv", None, True)], ["k"], [], {}, None, False, False, False), ("told", "found", None, None, False, False)]),
        ("m -p k --experiments e.toml --set m=3 -o o.json --json", [("plan", ["m"], Path("e.toml"), ["k"], {"m": 3}, Path("o.json"), False, True)]),
    ],
)  # fmt: skip
def test_identify_arguments_reach_analysis(fitted: list[Any], line: str, expected: list[Any]):
    """Of a record alone its decay; of a model its modes, or the motion; of planned experiments what they would tell."""
    assert cli.main(["identify", *line.split()]) == 0 and fitted == expected


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("d.csv -p k", "--parameters needs a MODEL before the data"), ("m d.csv", "--parameters: expected names out of k, m"),
        ("m d.csv e.csv -p k --modes", "--modes and --diagram take one record"), ("m d.csv e.csv -p k --diagram g.png", "take one record"),
        ("m d.csv -p k --input v=1", "--input v: expected one of u"),
    ],
)  # fmt: skip
def test_contradictory_options_are_refused(
    fitted: list[Any], capsys: pytest.CaptureFixture, line: str, said: str
):
    assert cli.main(["identify", *line.split()]) == 2 and said in " ".join(
        capsys.readouterr().err.split()
    )


@dataclass
class Best:
    """What a search found."""

    objective: float = 1.5


@pytest.mark.parametrize(
    ("words", "made"),
    [
        ("", ["shown"]),
        ("-q", []),
        ("--json", ["json"]),
        ("-o o.json -q --report p.html --state s.jsonl", ["kept", "page"]),
    ],
)
def test_optimize_saves_and_prints_result(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture,
    words: str,
    made: list[str],
):
    monkeypatch.chdir(tmp_path)
    log: list[Any] = []

    def search(task: str, told: Any, state: Path | None) -> Best:
        told(7, 0.5)
        log.append((task, state))
        return Best()

    monkeypatch.setattr(
        progress, "progress", lambda *given: (log.append(given), nullcontext(log.append))[1]
    )
    monkeypatch.setattr(optimise_file, "read_task", lambda path: f"task of {path}")
    monkeypatch.setattr(optimise, "optimise", search)
    monkeypatch.setattr(
        optimize, "show", lambda title, task, found: log.append(("shown", title, task, found))
    )
    monkeypatch.setattr(
        optimize,
        "tell",
        lambda file, task, found, path: log.append(("page", file, task, found, path.name)),
    )
    assert cli.main(["optimize", "f.toml", *words.split()]) == 0
    task, state = "task of f.toml", Path("s.jsonl") if "--state" in words else None
    said = [("optimize f", 0.0, "-q" in words, "evaluations"), 7, (task, state)]
    pages = [("shown", "f", task, Best())] * ("shown" in made) + [
        ("page", Path("f.toml"), task, Best(), "p.html")
    ] * ("page" in made)
    assert log == [*said, *pages]
    out = capsys.readouterr().out
    assert (json.loads(out) == {"objective": 1.5}) if "json" in made else not out
    assert Path("o.json").exists() == ("kept" in made) and (
        "kept" not in made or json.loads(Path("o.json").read_text()) == {"objective": 1.5}
    )


@pytest.mark.parametrize(
    "words",
    ["", "-q", "--json", "--backend source --integrator RK4", "--backend source", "--linear"],
)
def test_fmu_options_reach_builder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture, words: str
):
    """By a clock of its own, 2.5 s; what the packing says goes to those who read along."""
    monkeypatch.chdir(tmp_path)
    log: list[Any] = []
    ticks = iter([10.0, 12.5])
    mechanism: Any = SimpleNamespace(
        description=SimpleNamespace(name="My arm", slips=()), word="whole"
    )
    mechanism.linear = lambda: SimpleNamespace(description=mechanism.description, word="small")

    def pack(mechanism: Any, path: Path, *given: Any) -> None:
        path.write_bytes(bytes(1_230_000))
        given[6]("a word")
        log.append((mechanism.word, path, *given[:6], *given[7:]))

    monkeypatch.setattr(
        models, "load", lambda source, **settings: (log.append((source, settings)), mechanism)[1]
    )
    monkeypatch.setattr(build, "build_fmu", pack)
    monkeypatch.setattr(build, "fixed_integrator", lambda mechanism: "its own")
    monkeypatch.setattr(structural_parameters, "kept_by_fmus", lambda description: ["a stays"])
    monkeypatch.setattr(fmu, "platforms_in", lambda path, component: (["linux64"], []))
    monkeypatch.setattr(fmu, "time", SimpleNamespace(perf_counter=lambda: next(ticks)))
    line = [
        "fmu",
        "m",
        "--fmi",
        "3",
        "--step-size",
        "0.25",
        "--tolerance",
        "1e-5",
        "--platforms",
        "all",
        "--plain-names",
        "--python",
        "p",
        "--set",
        "m=2",
    ]
    assert cli.main([*line, *words.split()]) == 0
    out, err = capsys.readouterr()
    source = "source" in words
    given = (
        "source" if source else "python",
        "3",
        "rk4" if "RK4" in words else "auto",
        0.25,
        1e-5,
        "all",
        "p",
        True,
        None,
    )
    assert log == [
        ("m", {"m": 2}),
        ("small" if "--linear" in words else "whole", Path("My_arm.fmu"), *given),
    ]
    assert err == ("" if words == "-q" else "  a word\n")
    end = [
        "In it a stays",
        "My_arm.fmu written in 2.50 s, 1.23 MB. Next: kinetree verify My_arm.fmu",
    ]
    begin = (
        f"C99 sources, steps by {'rk4' if 'RK4' in words else 'its own'}"
        if source
        else "for linux64"
    )
    if words == "--json":
        assert json.loads(out) == {
            "file": "My_arm.fmu", "backend": "python", "fmi": "3", "platforms": ["linux64"], "not_built": [], "bytes": 1_230_000, "seconds": 2.5
        }  # fmt: skip
    else:
        assert out.splitlines() == ([] if words == "-q" else [begin, *end])


def test_command_names_are_unique(monkeypatch: pytest.MonkeyPatch):
    one = SimpleNamespace(COMMAND=commands.Command("one", print, place=1))
    monkeypatch.setattr(commands, "import_module", lambda name: one)
    with pytest.raises(ValueError, match="two commands have one name"):
        commands.found()


@pytest.mark.parametrize(
    ("said", "given", "end"),
    [(None, None, 0.0), (4.0, None, 4.0), ("2*m", None, 6.0), (4.0, 1.5, 1.5), (None, 0.0, 0.0)],
)
def test_stop_time_may_be_an_expression(said: Any, given: float | None, end: float):
    system = models.load(
        {"parameters": {"m": 3.0}, "states": {"x": {"rate": "m"}}}
        | ({"run": {"stop_time": said}} if said else {})
    ).compile()
    assert run.end_of(system, given) == end


def test_import_reads_checks_and_writes_a_robot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """With the options that its reader knows; what is no mechanism is refused before anything is written; what is left out is said."""
    from kinetree.models.description.reading import read_source as source

    monkeypatch.chdir(tmp_path)
    asked: list[Any] = []
    bodies: dict[str, Any] = {"a": {"mass": 1.0}}

    def read(
        floating: bool = False, limits: bool = False, arguments: Any = None
    ) -> tuple[dict[str, Any], list[str]]:
        asked.append((floating, limits, arguments))
        joints = {"j": {"child": "a", "type": "revolute", "axis": "z", "coordinates": ["q"]}}
        return {
            "format": "kinetree/1",
            "name": "Robot",
            "bodies": dict(bodies),
            "joints": joints,
        }, ["a colour"]

    monkeypatch.setattr(source, "foreign_reader", lambda file: read)
    assert (
        cli.main(
            ["import", "r.v2.xacro", "--floating", "--limits", "--arg", "a:=1", "--arg", "b=2"]
        )
        == 0
    )
    assert asked.pop() == (True, True, {"a": "1", "b": "2"})
    written = Path("r.toml").read_text()
    assert (
        written.startswith("# Robot, imported from r.v2.xacro\n# left out: a colour\n")
        and '[joints.j]\nchild = "a"' in written
    )
    assert (
        capsys.readouterr().out
        == "r.toml written: 1 body, 1 joint. Next: kinetree check r.toml\nleft out: a colour\n"
    )
    assert (
        cli.main(["import", "r.urdf"]) == 2
        and cli.main(["import", "r.urdf", "--torques", "-o", "x.toml"]) == 2
    )
    assert (
        "r.toml exists already" in (said := capsys.readouterr().err)
        and "--torques has no meaning for .urdf" in said
        and not asked
    )
    Path("r.toml").write_text("mine")
    assert cli.main(["import", "r.urdf", "-o", "r.toml", "--json"]) == 0 and Path(
        "r.toml"
    ).read_text() == written.replace("r.v2.xacro", "r.urdf")
    assert json.loads(capsys.readouterr().out) == {
        "file": "r.toml",
        "bodies": 1,
        "joints": 1,
        "left_out": ["a colour"],
    }
    bodies["a"]["mass"] = -1.0
    assert (
        cli.main(["import", "r.urdf", "-o", "y.toml"]) == 2
        and "mass" in capsys.readouterr().err
        and not Path("y.toml").exists()
    )
