"""Tables and sentences of commands as they are printed, every number of them, from results made by hand."""

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from loop_text import SCENARIO
from rich.console import Console

from kinetree.models import load
from kinetree.models.analysis.frequency_response import Margins
from kinetree.scripts.commands import hil, identify, info, statics, study, tune
from kinetree.scripts.hil.loop_run import simulate
from kinetree.scripts.hil.scenario import read_scenario
from kinetree.scripts.reports import linear_text
from kinetree.scripts.studies import experiment_plans as planned
from kinetree.scripts.studies import worst_case
from kinetree.scripts.studies.sine_sweep import Sweep
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.model_info import anatomy

HERTZ = 2 * math.pi


def printed(capsys: pytest.CaptureFixture) -> list[str]:
    """Lines of the terminal, columns one space apart; nothing is left where nothing stands."""
    return [
        line
        for line in (" ".join(line.split()) for line in capsys.readouterr().out.splitlines())
        if line
    ]


def estimate(
    name: str, start: float, value: float, deviation: float, unit: str = "", note: str = ""
) -> Any:
    return SimpleNamespace(
        name=name, start=start, value=value, deviation=deviation, unit=unit, note=note, to_dict=dict
    )


def test_fit_table_shows_parameters_and_correlations(
    capsys: pytest.CaptureFixture,
):
    """A deviation is a part of the magnitude of what was found, and none of 0; mean deviations of columns are parts of 100."""
    estimates = [
        estimate("k", 10.0, -25.0, 0.5, "N/m"),
        estimate("d", 1.0, 0.0, 0.25, "", "at its lower bound"),
    ]
    fits = [SimpleNamespace(name="x", rows=40, rms=0.0125, mean_deviation=0.03, correlation=0.75)]
    found = SimpleNamespace(
        name="swing",
        estimates=estimates,
        fits=fits,
        alike=[("k", "d", -0.995)],
        converged=False,
        suspects=(),
        runs=17,
        to_dict=dict,
    )
    identify.tell_fit(found, None, None, False, False)  # type: ignore[arg-type]
    assert printed(capsys) == [
        "swing", "parameter start found ± 1σ", "k 10 -25 0.5 2 % N/m", "d 1 0 0.25 at its lower bound",
        "column rows rms left mean deviation correlation", "x 40 0.0125 3 % 0.750000",
        "k and d can hardly be distinguished by these data: correlation -0.995",
        "the fit did not converge: the values are the best that were found", "17 runs",
    ]  # fmt: skip
    found.converged = True
    identify.tell_fit(found, None, None, False, False)  # type: ignore[arg-type]
    assert not any("converge" in line for line in printed(capsys))
    for quiet, as_json in ((True, False), (True, True)):
        identify.tell_fit(found, None, None, quiet, as_json)  # type: ignore[arg-type]
        assert printed(capsys) == (["{}"] if as_json else [])


def test_bounds_of_a_parameter_may_be_open():
    assert identify.bounds_of(["k=1:5", " d =:2", "m=3:"]) == {
        "k": (1.0, 5.0),
        "d": (-math.inf, 2.0),
        "m": (3.0, math.inf),
    }
    assert identify.bounds_of(None) == {}
    for text in ("k=1", "k", "k=a:2"):
        with pytest.raises(BadInput, match=f"--bounds {text}: expected NAME=LOW:HIGH"):
            identify.bounds_of([text])


def test_experiment_plan_prints_expected_deviations(capsys: pytest.CaptureFixture):
    """A standard deviation stands beside its part of the parameter's magnitude, but of a parameter that is 0."""
    deviations = {"k": 0.5, "d": 0.25}
    one = {"deviations": deviations, "score": 1.234}
    other = {"deviations": {"k": None, "d": 0.125}, "score": -2.0, "found": {"f": 1.5, "a": 0.25}}
    planned.show_plan(
        {"parameters": {"k": -20.0, "d": 0.0}, "experiments": {"push": one, "swing": other}}
    )
    assert printed(capsys) == [
        "Predicted accuracy of experiments", "experiment ± 1σ of k ± 1σ of d score", "push 0.5 (2.5 %) 0.25 1.23",
        "swing (f = 1.5, a = 0.25) not told 0.125 -2.00",
    ]  # fmt: skip


def test_hil_summary_prints_times_and_margins(tmp_path: Path, capsys: pytest.CaptureFixture):
    """A mass of 2 kg held by a PD whose force never reaches its limits, with times of computing that are known."""
    d = {
        "name": "slider",
        "gravity": [0, 0, 0],
        "inputs": {"f": 0.0},
        "bodies": {"b": {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x"}]}},
        "forces": {"law": {"coordinate": "x", "value": "f - der(x)"}},
        "outputs": {"place": {"value": "x", "unit": "m"}},
    }
    (tmp_path / "m.json").write_text(json.dumps(d))
    (tmp_path / "loop.toml").write_text(SCENARIO.format(channel="") + "low = -1.0\nhigh = 2.0\n")
    record = simulate(read_scenario(tmp_path / "loop.toml"))
    assert hil.told_of(record)["times_us"] == {}, "nothing is timed in virtual time"
    hil.show(record)
    untimed = printed(capsys)
    record.computing = [1e-6 * k for k in range(1, 1002)]
    hil.show(record)
    timed = printed(capsys)
    table = ["50 % 99 % 99.9 % largest", "computing of a step 501 991 1000 1001"]
    assert [line for line in timed if line not in untimed][-2:] == table
    assert [line for line in timed if line in untimed] == untimed
    told = hil.told_of(record)
    assert told["times_us"] == {
        "computing of a step": pytest.approx(
            {"p50": 501.0, "p99": 991.0, "p99.9": 1000.0, "largest": 1001.0}
        )
    }
    assert untimed[: len(told["sentences"])] == told["sentences"]
    assert "300 steps of 10 ms" in untimed[0]
    places, forces = np.transpose(record.rows)
    limited = 100.0 * np.mean((forces <= -1.0) | (forces >= 2.0))
    assert limited > 0.0
    ((name, goal, most, end, settled, share),) = [held.values() for held in told["held"]]
    assert "place" in name and (goal, most, end, share) == pytest.approx(
        (1.0, np.abs(places - 1.0).max(), abs(places[-1] - 1.0), limited)
    )
    (held,) = (line for line in untimed if line.startswith("place"))
    read = [float(word) for word in held.replace(",", "").split() if word[0].isdigit()]
    assert read == pytest.approx([1.0, most, end, float(settled), limited], rel=1e-2)
    assert [row["verdict"] for row in told["margins"]] == ["stable"] * 3
    for row, line in zip(told["margins"], untimed[-3:], strict=True):
        assert line.startswith(f"{row['loop']} ({row['delay_ms']:.3g} ms): stable")
        for key in ("gain_margin", "phase_margin_deg", "delay_margin_ms", "modulus"):
            assert f" {row[key]:.3g}" in line, key


def test_sweep_table_fits_a_narrow_terminal(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    """The longest numbers there are, in 80 characters; where there are less, lines are longer and no number is cut."""
    response = np.array([[1.23456e-7 * np.exp(-3.14j)], [1.5j]])
    swept = Sweep(
        np.array([1.23456e-5, 2.0]),
        ("boom.force",),
        response,
        response * np.exp(1e-5j),
        np.array([[1.2345e-10], [0.5]]),
    )
    decay = SimpleNamespace(
        frequency=1.23456e-10,
        damping=0.70711,
        eigenvalue=complex(-1.23456e-5, -1.23456e-5),
        word="decay of a1",
    )
    facts = {
        "modes": [decay] * 10,
        "said": [],
        "zero_array": np.zeros(0),
        "margin_objects": {},
        "loops": [],
        "cycles": [],
        "sweep": swept,
    }
    for width in (80, 120, 40):
        monkeypatch.setenv("COLUMNS", str(width))
        linear_text.show("arm", None, facts, "rest")  # type: ignore[arg-type]
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= 80
        found = [" ".join(line.split()) for line in out.splitlines()]
        assert found[1:3] == ["frequency damping real imaginary", "[Hz] ratio [1/s] [rad/s] motion"]
        assert found[3] == "1 1.23456e-10 0.70711 -1.2346e-05 -1.2346e-05 decay of a1"
        assert found[-7:] == [
            "boom.force, measured on the FMU", "phase phase", "frequency gain gain measured linear", "[Hz] measured linear [°] [°] distortion",
            "1.2346e-05 1.2346e-07 1.2346e-07 -179.91 -179.91 1.2e-10", "2 1.5 1.5 90 90 0.5",
            "largest relative deviation from the linear response: 1e-05",
        ]  # fmt: skip
    assert (
        linear_text.degrees(np.exp(-1e-5j)) == "0"
        and linear_text.degrees(np.exp(-3.1e-4j)) == "-0.02"
    )


def test_long_tables_are_truncated_with_note(capsys: pytest.CaptureFixture):
    """What fits is shown whole; of what does not, the count that is left."""
    for rows, last in (
        (study.SHOWN, f"{study.SHOWN - 1}"),
        (study.SHOWN + 3, "... 3 more rows (--output writes all)"),
    ):
        study.show(["a"], [[float(k)] for k in range(rows)])
        told = printed(capsys)
        assert (
            told[:2] == ["a", "0"]
            and told[-1] == last
            and told[study.SHOWN] == f"{study.SHOWN - 1}"
        )
    study.show(["a", "end(p[high])"], [[1.5, math.nan]])
    assert printed(capsys) == ["a end(p[high])", "1.5 –"]
    whole = {
        "name": "train",
        "text": "of wagons",
        "coordinates": ["x"] * 2,
        "method": "banded",
        "frequencies": [0.5 * k for k in range(1, info.ROWS + 1)],
    }
    info.show_chain(whole)
    told = printed(capsys)
    assert told[:3] == ["train: of wagons", "chain of 2 masses, banded", "Natural frequencies"]
    assert (told[3], told[-1]) == ("1 0.5 Hz", f"{info.ROWS} {0.5 * info.ROWS:g} Hz")
    info.show_chain(
        {
            **whole,
            "text": "",
            "coordinates": ["x"],
            "frequencies": [*whole["frequencies"], 99.0, 100.0],
        }
    )
    told = printed(capsys)
    assert told[:2] == ["train", "chain of 1 mass, banded"] and told[-2:] == [
        f"{info.ROWS} {0.5 * info.ROWS:g} Hz",
        "... 2 more up to 100 Hz",
    ]


def hinge(body: str, name: str) -> dict[str, Any]:
    return {"child": body, "type": "revolute", "axis": "z", "coordinates": [name]}


def test_long_mechanism_info_is_truncated(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    """A comb of bodies on the ground, more than are shown, over-constrained; the freedoms of speeds are not those of positions."""
    monkeypatch.setattr(info, "ROWS", 4)
    steel = {"mass": "m", "inertia": [1e-3, 1e-3, 1e-3, 0, 0, 0]}
    comb: dict[str, Any] = {
        "name": "comb",
        "text": "of teeth",
        "parameters": {"m": {"value": 2.5, "unit": "kg"}},
        "bodies": {f"b{k}": steel for k in range(7)},
        "joints": {
            "j0": {"child": "b0", "transforms": [{"rotate": "z", "coordinate": "q0"}]},
            "j1": {"parent": "b0", "child": "b1", "type": "rigid"},
            **{f"j{k}": hinge(f"b{k}", f"q{k}") for k in (2, 3, 4, 5)},
            "hasp": {"parent": "b2", "child": "b3", "type": "revolute", "axis": "z"},
            "j6": {"child": "b6", "type": "planar", "axis": "z"},
        },
        "inputs": {f"f{k}": {"start": 0.5 * k, "unit": "N", "text": "push"} for k in range(5)},
        "couplings": {
            "gear": {"value": "q4 - q5"},
            "skate": {"blade": {"body": "b6", "normal": "y"}},
        },
        "stages": [{"ends": {"at": 0.5}}, {"name": "out"}],
    }
    content = anatomy(load(comb).compile())
    info.show(content)
    told = printed(capsys)
    assert told[:3] == [
        "comb: of teeth",
        "7 bodies, 6 degrees of freedom in velocities, 7 in positions",
        "ground",
    ]
    for line in (
        "├── b0 j0: q0", "│ └── b1 j1: rigid fixed, merged with b0", "├── b3 j3: revolute q3",
        "└── ... and 3 more (--json shows all)",
        "loop joint hasp: closes a loop between b2 and b3", "1 body is merged into rigid groups: 6 move",
        "couplings: gear, skate", "Inputs", "f1 0.5 N push", "... 1 more", "Parameters", "m 2.5 kg",
        "Stages: 1, out", "method operations meaning",
    ):  # fmt: skip
        assert line in told, line
    assert not any("b4 " in line for line in told)
    (redundant,) = (line for line in told if line.startswith("redundant constraints"))
    assert redundant.count("hasp") == 5, "a second hinge about the same axis holds nothing more"
    for entry, flops in content["costs"].items():
        assert any(line.startswith(f"{entry} {flops:,.0f}") for line in told), entry
    known = {"costs": {"DEC": 12000.0, "DRT": 1500.4}, "engine": "DEC", "cheapest": "DRT"}
    info.show(content | known)
    assert [line for line in printed(capsys) if line.startswith(("DEC 1", "DRT 1"))] == [
        "DRT 1,500 mass matrix from Jacobians; fewest operations",
        "DEC 12,000 recursive block elimination (LᵀDL); used for runs",
    ], "the least first"
    lone = {key: comb[key] for key in ("name", "parameters")}
    lone |= {"bodies": {"b0": steel}, "joints": {"j0": comb["joints"]["j0"]}}
    info.show(anatomy(load({**lone, "inputs": {f"f{k}": 0.0 for k in range(4)}}).compile()))
    told = printed(capsys)
    assert (
        told[:2] == ["comb", "1 body, 1 degree of freedom"]
        and not any("more" in line for line in told)
        and "Outputs" not in told
    )


def test_worst_case_is_printed_with_sign(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """What is searched is made small: the largest deviation as its negative."""
    for measure, word, value in (("max(x)", "largest", "2.5"), ("damping", "smallest", "-2.5")):
        found = SimpleNamespace(objective=-2.5, evaluations=12, values={"k": 1.25, "m": 3.0})
        monkeypatch.setattr(
            worst_case, "worst_case", lambda wanted, measure, told, found=found: found
        )
        study.tell_worst(SimpleNamespace(), measure, True)  # type: ignore[arg-type]
        assert printed(capsys) == [
            f"{word} {measure}: {value} after 12 runs, at",
            "k = 1.25",
            "m = 3",
        ]


def test_tuned_design_prints_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """Crossovers and samples in Hz, times in ms; eigenvalues once for a pair; margins that others spoilt are said to be less than was asked for."""
    from kinetree.scripts.studies import loop_tuning as tuning

    monkeypatch.setattr(tuning, "snippet", lambda table, numbers: f"kp = {numbers['kp']:g}")
    kept = [True]
    monkeypatch.setattr(tuning, "keeps", lambda margins, wanted: kept[0])
    margins = Margins(False, math.inf, 0.0, 0.0, math.inf, 0.0, math.inf, 0.5, 1.0, 1.0)
    notch = {"frequency": 8.0, "depth": 0.05, "width": 0.5}
    result = SimpleNamespace(
        crossover=3.0 * HERTZ, bandwidth=0.0, notch=notch, margins=margins, numbers={"kp": 4.0}
    )
    scenario = SimpleNamespace(step=0.002, tune=None, commands=["f"])
    eigenvalues = [complex(-1.0, 2.0), complex(-1.0, -2.0), complex(-3.0, 0.0)]
    observer = SimpleNamespace(
        eigenvalues=np.array([0.5, -0.875]), plant=SimpleNamespace(A=[0, 0, 0]), period=0.004
    )
    inner = SimpleNamespace(
        name="hold", period=0.002, delay=0.001, limited=False, margins=margins, known=True, said=""
    )
    table = {"measure": "x", "command": "f"}
    found = SimpleNamespace(
        scenario=scenario, delay=0.003, known={"x": 0.25}, loops=[(table, result, (2.5, 0.125))], feedback=([[10.0, 2.5]], eigenvalues),
        linear=SimpleNamespace(states=["x", "v"]), observer=observer, closed={"lqr": [inner]}, notes=["a note"],
    )  # fmt: skip
    tune.show(found)  # type: ignore[arg-type]
    assert printed(capsys) == [
        "f by x: crosses at 3 Hz, sampled every 2 ms, commands 3 ms late, about x = 0.25",
        "behind a notch at 8 Hz (damping 0.05 of 0.5)", "feed-forward: 2.5 per speed, 0.125 per acceleration of the setpoint", "unstable", "kp = 4",
        "f = -(10*x + 2.5*v)", "eigenvalues with it: -1+2j, -3+0j",
        "observer of order 3 at 250 Hz: largest eigenvalue 0.875 of one sample to the next",
        "state feedback, controller hold in the mechanism (500 Hz, delay 1 ms): unstable", "a note",
    ]  # fmt: skip
    kept[0], result.notch, found.known = False, {}, {}
    found.loops, found.feedback, found.observer, found.closed, found.notes = (
        [(table, result, ())],
        None,
        None,
        {},
        [],
    )
    tune.show(found)  # type: ignore[arg-type]
    late = "sampled every 2 ms, commands 3 ms late"
    assert printed(capsys) == [
        f"f by x: crosses at 3 Hz, {late}", "unstable; less than was asked for, now that the other loops are closed", "kp = 4"
    ]  # fmt: skip


def test_narrow_terminal_cuts_no_reaction(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    """Names and numbers of the table stand in full, however long they are."""
    monkeypatch.setenv("COLUMNS", "40")
    name = "bearing_of_the_lower_wishbone_at_the_front"
    system = load("lib:pendulum").compile()
    rest = system.equilibrium()
    wrench = (-27673.4, 0.123456, 1e5, -22.1234, 1234.56, 0.0)
    rest = replace(rest, reactions={name: wrench}, coordinates={f"{name}_angle": 0.25})
    statics.show(Console(highlight=False, soft_wrap=True), "narrow", rest, system)
    lines = printed(capsys)
    assert lines[-1] == f"{name} -27.6734 0.000123456 100 -0.0221234 1.23456 0"
    assert "Fz [kN]" in lines[-2] and "Mx [kN.m]" in lines[-2]
    assert f"{name}_angle 0.25" in "\n".join(lines)


def test_unstable_equilibrium_is_reported(capsys: pytest.CaptureFixture):
    """What grows by its time and by what moves most, a state where no coordinate does; minus zero is no number to read."""

    def rod(at: float) -> dict[str, Any]:
        return {"mass": 2.0, "com": [0, 0, at], "inertia": [0, 0, 0, 0, 0, 0]}

    def joint(child: str, motion: str, axis: str, name: str) -> dict[str, Any]:
        return {"child": child, "transforms": [{motion: axis, "coordinate": name}]}

    block = {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}
    arm = {
        "name": "arm",
        "parameters": {"k": 100.0},
        "bodies": {"up": rod(1.0), "down": rod(-1.0), "a": block, "b": block},
        "joints": {
            "top": joint("up", "rotate", "y", "phi"),
            "low": joint("down", "rotate", "y", "psi"),
            "left": joint("a", "shift", "x", "x"),
            "right": joint("b", "shift", "x", "y"),
        },
        "states": {"p": {"rate": "0.5*p"}},
        "forces": {
            "fx": {"coordinate": "x", "value": "-k*(x + 2*y)"},
            "fy": {"coordinate": "y", "value": "-2*k*(x + 2*y)"},
        },
    }
    system = load(arm).compile()
    found = system.equilibrium()
    wrench = (-4e-7, 2.5, 1e6, 0.0, 1.2345678, -0.5)
    found = replace(found, iterations=7, residual=2.5e-9, reactions={"top": wrench})
    console = Console(highlight=False, soft_wrap=True)
    statics.show(console, "arm", found, system)
    told = printed(capsys)
    assert told[0].startswith("arm: unstable equilibrium") and all(
        part in told[0] for part in ("7 iterations", "2.5e-09")
    )
    swing = math.sqrt(9.81)  # rad/s, of a point mass 1 m from its hinge
    for line in (
        "Coordinates", "phi 0 rad", "Vibration modes",
        f"{swing / HERTZ:.6g} Hz damping ratio 0.0000 psi 1",
        f"{math.sqrt(500.0) / HERTZ:.6g} Hz damping ratio 0.0000 y 1, x 0.5",
        f"unstable: phi grows by a factor e in {1.0 / swing:.4g} s",
        "unstable: p grows by a factor e in 2 s",
    ):  # fmt: skip
        assert line in told, line
    assert len([line for line in told if "grows" in line]) == 2
    (free,) = (line for line in told if line.startswith("neutral direction"))
    assert free.endswith("x - 0.5 y") and told[-1] == "top 0 2.5e-6 1 0 1.23457 -0.5"
    assert told[-2] == "joint Fx [MN] Fy [MN] Fz [MN] Mx [N.m] My [N.m] Mz [N.m]"
    calm = load("lib:pendulum").compile()
    rest = replace(calm.equilibrium(), residual=0.0)
    statics.show(console, "arm", rest, calm)
    told = printed(capsys)
    assert "stable equilibrium" in told[0] and "residual" not in told[0]
    assert not any("grows" in line or "neutral" in line for line in told)
