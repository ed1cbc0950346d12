"""`kinetree linearize` and `tune`: what is asked of small motions and designs, what becomes plain data and files; from systems made by hand."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree import models
from kinetree.models.analysis import (
    describing_functions,
    frequency_response,
    modal,
    operating_point,
)
from kinetree.models.engine.status import EvaluationError
from kinetree.scripts import cli
from kinetree.scripts.commands import linearize, tune
from kinetree.scripts.reports import linear_files, linear_pictures, linear_text
from kinetree.scripts.studies import sine_sweep as sweep
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.solvers.layout import Status


def test_linearize_options_are_parsed():
    assert linearize.names_of(" a, b,,") == ["a", "b"] and linearize.tones_of("") is None
    assert linearize.tones_of("0.5:20:3") == (0.5, 20.0, 3.0) and linearize.tones_of(
        "2:2:1e-9"
    ) == (2.0, 2.0, 1e-9)
    for text in ("0:1:1", "-1:1:1", "3:2:1", "1:2:0", "1:2:-1"):
        with pytest.raises(BadInput, match="expected 0 < FROM <= TO and a positive amplitude"):
            linearize.tones_of(text)
    assert linearize.part_of(" Overlap =0.02") == ("overlap", 0.02)
    for text in ("overlap=0", "overlap=-1", "overlap=nan"):
        with pytest.raises(BadInput, match="expected a positive width"):
            linearize.part_of(text)
    assert linearize.locus_of("k=1:2") == ("k", 1.0, 2.0, None) and linearize.locus_of(
        " k =1e4:1e6:a.png"
    ) == ("k", 1e4, 1e6, Path("a.png"))


@pytest.mark.parametrize(
    ("low", "high", "even"),
    [
        (1.0, 5.0, True),
        (1.0, 5.1, False),
        (0.0, 50.0, True),
        (-1.0, 50.0, True),
        (0.5, 50.0, False),
        (6.0, 1.0, True),
    ],
)
def test_root_locus_covers_range(
    monkeypatch: pytest.MonkeyPatch, low: float, high: float, even: bool
):
    """In 41 steps, even ones, or even ratios over more than a factor of 5; a picture where one is asked for."""
    asked: list[Any] = []
    unit = SimpleNamespace(unit="N/m")
    mechanism = SimpleNamespace(
        description=SimpleNamespace(parameters={"k": unit}), compile=lambda k: k
    )
    monkeypatch.setattr(
        linearize,
        "place",
        lambda system, at, given, outputs: SimpleNamespace(eigenvalues=np.array([system + 2j])),
    )
    monkeypatch.setattr(linear_pictures, "draw_locus", lambda *given: asked.append(given))
    found = linearize.follow(mechanism, "rest", {"u": 1.0}, "k", low, high, None)
    values = np.array(found["values"])
    assert (
        len(values) == 41
        and (values[0], values[-1]) == pytest.approx((low, high))
        and found["parameter"] == "k"
        and not asked
    )
    assert np.ptp(np.diff(values if even else np.log(values))) == pytest.approx(0.0, abs=1e-9)
    assert found["eigenvalues"] == [[[value, 2.0]] for value in found["values"]]
    linearize.follow(mechanism, "rest", None, "k", low, high, Path("p.png"))
    ((name, unit_said, drawn, eigenvalues, path),) = asked
    assert (
        (name, unit_said, path) == ("k", "N/m", Path("p.png"))
        and np.array_equal(drawn, values)
        and len(eigenvalues) == 41
    )


def test_linearize_at_selects_operating_point(monkeypatch: pytest.MonkeyPatch):
    """Rest, the start, or a time; where nothing rests, what else there is is said."""
    monkeypatch.setattr(operating_point, "linear_at_rest", lambda *given: ("rest", *given))
    monkeypatch.setattr(operating_point, "linear_at_time", lambda *given: ("time", *given))
    system: Any = SimpleNamespace(start=lambda: ("q", "u"), linearize=lambda **given: given)
    assert linearize.place(system, "rest", {"u": 1.0}, ["y"]) == ("rest", system, {"u": 1.0}, ["y"])
    assert linearize.place(system, "start", None, ["y"]) == {
        "q": "q",
        "u": "u",
        "inputs": None,
        "outputs": ["y"],
    }
    assert linearize.place(system, "1.5", None, []) == ("time", system, 1.5, None, [])

    def nothing(*given: Any) -> None:
        raise EvaluationError("no rest", Status(3))

    monkeypatch.setattr(operating_point, "linear_at_rest", nothing)
    with pytest.raises(
        EvaluationError, match="no rest; --at start or --at TIME linearises elsewhere"
    ) as error:
        linearize.place(system, "rest", None, [])
    assert error.value.status == Status(3)


class Motion:
    """Small motions whose parts are their names."""

    states, moving, changing, about, local = ("a", "b"), {"v": 1.0}, {"w": 2.0}, ["about it"], ()
    A = B = C = D = np.array([[1.0]])

    def __init__(self, speeds: tuple[str, ...] = ("v",)):
        self.coordinates, self.speeds = ("x",), speeds

    def part(self, ins: list[str], outs: list[str]) -> Any:
        matrices = {key: np.array([[float(len(ins)), float(len(outs))]]) for key in "ABCD"}
        return SimpleNamespace(
            name=(tuple(ins), tuple(outs)), seen=lambda: ("seen", *ins, *outs), **matrices
        )


def test_linearize_reports_modes_zeros_and_margins(monkeypatch: pytest.MonkeyPatch):
    """Margins of every pair, of what is seen alone where speeds are no rates; drifts are said where they are."""
    said: list[Any] = []
    monkeypatch.setattr(modal, "mode_facts", lambda linear: ["mode"])
    monkeypatch.setattr(
        modal,
        "unreachable_modes",
        lambda modes, ins, outs, drifts: (said.append((modes, ins, outs, drifts)), ["a word"])[1],
    )
    monkeypatch.setattr(modal, "transmission_zeros", lambda A, B, C, D: np.array([A[0, 0] - 2j]))
    monkeypatch.setattr(
        frequency_response, "margins", lambda loop, delay: (getattr(loop, "name", loop), delay)
    )
    plain, other = Motion(), Motion(("v", "w"))
    facts = linearize.facts_of(plain, ["u", "f"], ["y"], True, 0.5)  # type: ignore[arg-type]
    assert (
        facts["modes"] == ["mode"]
        and facts["said"] == ["about it", "a word"]
        and facts["zero_array"].tolist() == [2.0 - 2j]
    )
    assert facts["margin_objects"] == {
        ("u", "y"): ((("u",), ("y",)), 0.5),
        ("f", "y"): ((("f",), ("y",)), 0.5),
    }
    assert linearize.facts_of(other, ["u"], ["y"], True, 0.0)["margin_objects"] == {
        ("u", "y"): (("seen", "u", "y"), 0.0)
    }  # type: ignore[arg-type]
    assert linearize.facts_of(plain, ["u"], ["y"], False, 0.0)["margin_objects"] == {}  # type: ignore[arg-type]
    assert said == [
        (["mode"], ("u", "f"), ("y",), True),
        (["mode"], ("u",), ("y",), False),
        (["mode"], ("u",), ("y",), True),
    ]


def test_limit_cycles_are_reported_for_every_loop(monkeypatch: pytest.MonkeyPatch):
    """Late by the dead time where a pair is closed outside; loops of controllers have their own."""
    monkeypatch.setattr(
        describing_functions,
        "limit_cycles",
        lambda loop, part, width, late: [(getattr(loop, "name", loop), part, width, late)],
    )
    facts = {
        "margin_objects": {("u", "y"): None},
        "loops": [SimpleNamespace(name="pid", loop="inner", period=0.1, delay=0.0)],
    }
    found = linearize.cycles_of(Motion(), facts, "overlap", 0.25, 0.5)  # type: ignore[arg-type]
    pair, own = (
        ("loop u = -y, overlap", [((("u",), ("y",)), "overlap", 0.25, 0.5)]),
        ("controller pid, overlap", [("inner", "overlap", 0.25, 0.0)]),
    )
    assert found == [pair, own]


def test_results_convert_to_plain_data():
    margins = SimpleNamespace(to_dict=lambda: {"gain": 2.0})
    facts = {
        "modes": [SimpleNamespace(to_dict=lambda: {"frequency": 1.0})], "zero_array": np.array([1.0 - 2j]), "said": ["a"], "sweep": None,
        "margin_objects": {("u", "y"): margins}, "cycles": [("loop", [SimpleNamespace(amplitude=0.5)])],
        "loops": [SimpleNamespace(name="pid", period=0.1, delay=0.2, margins=margins, said="", known=True)],
        "stages": [SimpleNamespace(stage="lift", time=1.5, loops=[SimpleNamespace(name="pd", margins=margins)])],
    }  # fmt: skip
    found = linearize.told(Motion(), ["u"], ["y", "z"], facts, "rest")  # type: ignore[arg-type]
    matrices = {key: [[1.0, 2.0]] for key in "ABCD"}
    assert found == matrices | {
        "at": "rest", "moving": {"v": 1.0}, "changing": {"w": 2.0}, "states": ["a", "b"], "inputs": ["u"], "outputs": ["y", "z"],
        "modes": [{"frequency": 1.0}], "zeros": [[1.0, -2.0]], "said": ["a"], "margins": [{"input": "u", "output": "y", "gain": 2.0}],
        "limit_cycles": [{"loop": "loop", "cycles": [{"amplitude": 0.5}]}], "sweep": None,
        "controllers": [{"name": "pid", "period": 0.1, "delay": 0.2, "said": "", "stability_known": True, "gain": 2.0}],
        "stages": [{"stage": "lift", "time": 1.5, "name": "pd", "gain": 2.0}],
    }  # fmt: skip


def test_sweep_needs_one_input_at_equilibrium(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sweep, "swept", lambda *given: given)
    system: Any = "s"
    assert linearize.measured_on_fmu("m", system, "rest", ["u"], ["y"], (1.0, 2.0, 3.0), None) == (
        "m",
        "s",
        "u",
        ["y"],
        1.0,
        2.0,
        3.0,
        None,
    )
    for at, ins in (("start", ["u"]), ("rest", ["u", "v"]), ("rest", [])):
        with pytest.raises(BadInput, match="--sweep measures one input about the equilibrium"):
            linearize.measured_on_fmu("m", system, at, ins, ["y"], (1.0, 2.0, 3.0), None)


class Asked(list):
    """What is asked, drawn and written; how many loops of controllers there are, and whether inputs are seen."""

    loops, inputs = 0, True


@pytest.fixture
def linear(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """A system with inputs u, w and outputs y, z."""
    log = Asked()
    compiled = SimpleNamespace(
        inputs=("u", "w"),
        outputs=[SimpleNamespace(name="y", unit="m"), SimpleNamespace(name="z", unit="N")],
        registers={"q": 1},
    )
    system = SimpleNamespace(
        name="arm", compiled=compiled, description=None, coordinates=(), stages=()
    )
    monkeypatch.setattr(
        models,
        "load",
        lambda source, **settings: SimpleNamespace(
            compile=lambda: system, description=SimpleNamespace(slips=())
        ),
    )
    monkeypatch.setattr(
        linearize,
        "place",
        lambda system, at, given, outputs: (log.append(("place", at, given, outputs)), Motion())[1],
    )
    monkeypatch.setattr(
        linearize,
        "loops_of",
        lambda system, given, delay=0.0: (
            [SimpleNamespace(name="pid", loop="l", period=0.0, delay=0.0, margins=None)] * log.loops
        ),
    )
    monkeypatch.setattr(linearize, "seen_inputs", lambda system: ["u", "w"] if log.inputs else [])
    monkeypatch.setattr(linearize, "inputs_known", lambda system: {"u": SimpleNamespace(unit="kN")})
    monkeypatch.setattr(linearize, "units_of_motion", lambda system: {"q": "rad", "y": "other"})
    facts = {"modes": [], "said": [], "zero_array": np.zeros(0), "margin_objects": {}}
    monkeypatch.setattr(
        linearize,
        "facts_of",
        lambda linear, ins, outs, pairs, delay: (
            log.append(("facts", ins, outs, pairs, delay)),
            facts,
        )[1],
    )
    monkeypatch.setattr(
        linearize,
        "cycles_of",
        lambda linear, facts, part, width, delay: (log.append(("cycles", part, width, delay)), [])[
            1
        ],
    )
    monkeypatch.setattr(
        linearize, "measured_on_fmu", lambda *given: (log.append(("sweep", *given[2:])), None)[1]
    )
    monkeypatch.setattr(
        linearize,
        "follow",
        lambda mechanism, at, given, *each: (log.append(("follow", at, *each)), "moved")[1],
    )
    monkeypatch.setattr(linearize, "told", lambda *given: {"told": given[-1]})
    for name in ("draw_bode", "draw_nyquist", "draw_poles"):
        monkeypatch.setattr(
            linear_pictures, name, lambda *given, name=name: log.append((name, *given[1:]))
        )
    monkeypatch.setattr(linear_files, "write", lambda *given: log.append(("write", *given[1:])))
    monkeypatch.setattr(
        linear_text, "show", lambda *given: log.append(("show", given[0], given[-1]))
    )
    return log


@pytest.mark.parametrize(
    ("words", "loops", "expected"),
    [
        ("", 0, [("place", "rest", None, ["y", "z"]), ("facts", ["u", "w"], ["y", "z"], False, 0.0), ("show", "arm", "rest")]),
        ("--outputs z,Q --inputs W --at 2.5 -q", 0, [("place", "2.5", None, ["z", "q"]), ("facts", ["w"], ["z", "q"], False, 0.0)]),
        ("--margins --delay 0.5 -q", 0, [("place", "rest", None, ["y", "z"]), ("facts", ["u", "w"], ["y", "z"], True, 0.5)]),
        ("--margins -q", 1, [("place", "rest", None, ["y", "z"]), ("facts", ["u", "w"], ["y", "z"], False, 0.0)]),
        ("--margins --outputs y -q", 1, [("place", "rest", None, ["y"]), ("facts", ["u", "w"], ["y"], True, 0.0)]),
        ("--margins --inputs u -q", 1, [("place", "rest", None, ["y", "z"]), ("facts", ["u"], ["y", "z"], True, 0.0)]),
        ("--margins --at start -q", 1, [("place", "start", None, ["y", "z"]), ("facts", ["u", "w"], ["y", "z"], True, 0.0)]),
        ("--limit-cycle overlap=0.5 --delay 0.25 -q", 0,
         [("place", "rest", None, ["y", "z"]), ("facts", ["u", "w"], ["y", "z"], True, 0.25), ("cycles", "overlap", 0.5, 0.25)]),
        ("--sweep 1:2:3 --inputs u --input w=4 -q", 0,
         [("place", "rest", {"w": 4}, ["y", "z"]), ("facts", ["u"], ["y", "z"], False, 0.0),
          ("sweep", "rest", ["u"], ["y", "z"], (1.0, 2.0, 3.0), {"w": 4})]),
        ("--root-locus k=1:2 -q -o l.json", 0,
         [("place", "rest", None, ["y", "z"]), ("facts", ["u", "w"], ["y", "z"], False, 0.0), ("follow", "rest", "k", 1.0, 2.0, None),
          ("write", ["u", "w"], ["y", "z"], {"told": "rest", "root_locus": ["moved"]}, Path("l.json"))]),
    ],
)  # fmt: skip
def test_linearize_options_reach_analysis(
    linear: Asked,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: str,
    loops: int,
    expected: list[Any],
):
    """Loops of controllers count at rest; pairs are closed where there are none, or where they are named."""
    monkeypatch.chdir(tmp_path)
    linear.loops = loops
    assert cli.main(["linearize", "m", *words.split()]) == 0 and linear == expected


def test_linearisation_is_drawn_and_printed(
    linear: Asked, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """Units of outputs before those of motions, of inputs before both; responses need an input and an output."""
    monkeypatch.chdir(tmp_path)
    assert (
        cli.main(
            [
                "linearize",
                "m",
                "--bode",
                "b.png",
                "--nyquist",
                "n.png",
                "--poles",
                "p.png",
                "--json",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out) == {"told": "rest"}
    bode, nyquist, poles = linear[2:]
    units = {"q": "rad", "y": "m", "z": "N", "u": "kN"}
    assert bode == ("draw_bode", units, ["u", "w"], ["y", "z"], {}, Path("b.png"), None)
    assert (
        nyquist == ("draw_nyquist", ["u", "w"], ["y", "z"], Path("n.png"))
        and poles[0] == "draw_poles"
        and poles[2] == Path("p.png")
    )
    linear.inputs = False
    for words in (
        "--margins",
        "--bode b.png",
        "--nyquist n.png",
        "--limit-cycle overlap=1",
        "--sweep 1:2:3",
    ):
        assert cli.main(["linearize", "m", *words.split()]) == 2
        assert "frequency responses need an input and an output" in " ".join(
            capsys.readouterr().err.split()
        ), words
    assert cli.main(["linearize", "m", "--poles", "p.png", "-q"]) == 0
    linear.loops = 1
    assert cli.main(["linearize", "m", "--margins", "-q"]) == 0, (
        "controllers have loops of their own"
    )


def design(**more: Any) -> Any:
    margins = SimpleNamespace(to_dict=lambda: {"phase": 45.0})
    result = SimpleNamespace(
        numbers={"kp": 2.0}, crossover=3.0, bandwidth=4.0, notch={}, margins=margins
    )
    scenario = SimpleNamespace(
        step=0.25,
        commands=["u"],
        mechanism="lib:arm",
        values={"m": 2.0, "x": 1.0},
        described=lambda: "described",
    )
    told = {
        "scenario": scenario, "delay": 0.5, "loops": [({"measure": "y", "command": "u"}, result, ())], "feedback": None, "observer": None,
        "linear": None,
        "blocks": {"pid": {"a": {}}, "lqr": {"b": {}}}, "closed": {"pid": [SimpleNamespace(name="c", margins=margins)]}, "notes": [],
    }  # fmt: skip
    return SimpleNamespace(**told | more)


def test_design_converts_to_plain_data():
    numbers = {
        "kp": 2.0,
        "crossover": 3.0,
        "bandwidth": 4.0,
        "period": 0.25,
        "delay": 0.5,
        "phase": 45.0,
    }
    rest = {
        "blocks": {"pid": {"a": {}}, "lqr": {"b": {}}},
        "margins": {"pid": {"c": {"phase": 45.0}}},
    }
    assert tune.plain(found := design()) == {"u by y": numbers} | rest
    found.loops[0][1].notch = {"depth": 0.5}
    found.loops[0] = (*found.loops[0][:2], (1.0, 2.0))
    found.linear, found.feedback = (
        SimpleNamespace(states=["a", "b"]),
        (np.array([[1.0, 2.0]]), np.array([-1.0 - 2j])),
    )
    found.observer = SimpleNamespace(
        K=np.array([[3.0]]), L=np.array([[4.0]]), eigenvalues=np.array([0.5 + 0.25j])
    )
    more = {
        "lqr": {"gains": {"u": {"a": 1.0, "b": 2.0}}, "eigenvalues": [[-1.0, -2.0]]},
        "lqg": {"K": [[3.0]], "L": [[4.0]], "eigenvalues": [[0.5, 0.25]]},
    }
    assert (
        tune.plain(found)
        == {"u by y": numbers | {"notch": {"depth": 0.5}, "forward": [1.0, 2.0]}} | more | rest
    )
    assert tune.listed([-1.0 + 2j, -1.0 - 2j, complex(3.0, 0.0)]) == "-1+2j, 3+0j"


def test_design_is_written_as_tables_or_into_mechanism(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Values of the scenario that are parameters go along; the first design is written unless another is asked for."""
    from kinetree.models.foreign import toml_text
    from kinetree.scripts.studies import controller_tables as blocks

    asked: list[Any] = []
    monkeypatch.setattr(tune, "parameters_of", lambda found: {"m": 1.0})
    monkeypatch.setattr(blocks, "with_blocks", lambda *given: (asked.append(given), "made")[1])
    monkeypatch.setattr(blocks, "block_text", lambda blocks, remarks: f"{blocks} {remarks}")
    monkeypatch.setattr(toml_text, "toml_text", lambda made, remarks: f"{made} {remarks}")
    remark = "Controllers that kinetree tune s.toml found for lib:arm (state feedback)."
    tune.write(design(), "lqr", Path("s.toml"), tmp_path / "b.toml", tmp_path / "m.toml")
    note = "The actuators they drive give no force of their own: force = 0."
    assert (tmp_path / "b.toml").read_text() == f"{ {'b': {}} } {[remark, note]}" and (
        tmp_path / "m.toml"
    ).read_text() == f"made {[remark]}"
    assert asked == [("described", {"b": {}}, {"m": 2.0})]
    tune.write(design(), "pid", Path("s.toml"), tmp_path / "b.JSON", None)
    assert json.loads((tmp_path / "b.JSON").read_text()) == tune.plain(design()) and len(asked) == 1


@pytest.mark.parametrize(
    ("words", "wrote", "shown"),
    [
        ("", [], True),
        ("-q", [], False),
        ("-o b.toml -q", [("pid", "b.toml", None)], False),
        ("--into m.toml -q --by lqr", [("lqr", None, "m.toml")], False),
    ],
)
def test_tune_writes_requested_outputs(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture,
    words: str,
    wrote: list[Any],
    shown: bool,
):
    from kinetree.scripts.hil import scenario
    from kinetree.scripts.studies import controller_design as designs

    monkeypatch.chdir(tmp_path)
    log: list[Any] = []
    monkeypatch.setattr(scenario, "read_scenario", lambda path: path)
    monkeypatch.setattr(designs, "design", lambda scenario: design())
    monkeypatch.setattr(tune, "show", lambda found: log.append("shown"))
    monkeypatch.setattr(tune, "ran", lambda found: ([], []))
    monkeypatch.setattr(
        tune,
        "write",
        lambda found, way, file, output, into: log.append(
            (way, output and output.name, into and into.name)
        ),
    )
    assert cli.main(["tune", "s.toml", *words.split()]) == 0 and log == ["shown"] * shown + wrote
    assert (
        cli.main(["tune", "s.toml", "--by", "lqg"]) == 2
        and "--by lqg: s.toml asks for pid, lqr" in capsys.readouterr().err
    )
    assert (
        cli.main(["tune", "s.toml", "--json"]) == 0
        and json.loads(capsys.readouterr().out)["u by y"]["kp"] == 2.0
    )
