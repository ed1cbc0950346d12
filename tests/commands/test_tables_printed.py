"""Tables and sentences of commands as they are printed, every number of them, from results made by hand."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from kinetree.models.analysis.frequency import Margins
from kinetree.scripts.commands import hil, identify, info, statics, study, tune
from kinetree.scripts.reports import linear_text
from kinetree.scripts.studies import planned, worst_case
from kinetree.scripts.studies.sweep import Sweep
from kinetree.scripts.terminal.error_messages import BadInput

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
        "k and d are hardly told apart by these data: correlation -0.995",
        "the fit did not converge: the values are the best that were found", "17 runs",
    ]  # fmt: skip
    found.converged = True
    identify.tell_fit(found, None, None, False, False)  # type: ignore[arg-type]
    assert not any("converge" in line for line in printed(capsys))
    for quiet, json in ((True, False), (True, True)):
        identify.tell_fit(found, None, None, quiet, json)  # type: ignore[arg-type]
        assert printed(capsys) == (["{}"] if json else [])


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
        "What experiments would tell", "experiment ± 1σ of k ± 1σ of d score", "push 0.5 (2.5 %) 0.25 1.23",
        "swing (f = 1.5, a = 0.25) not told 0.125 -2.00",
    ]  # fmt: skip


def test_hil_summary_prints_times_and_margins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    from kinetree.scripts.hil import report

    rows = [("as it ran", 12.5, "stable", 2.5, 40.0, 7.5, 0.625)]
    for name, found in (
        ("sentences", ["300 steps"]),
        ("times", [("computing of a step", 1.5, 2.5, 3.5, 4.5)]),
        ("margin_rows", rows),
    ):
        monkeypatch.setattr(report, name, lambda record, found=found: found)
    hil.show(SimpleNamespace(computing=[1.0]))  # type: ignore[arg-type]
    margins = "as it ran (12.5 ms): stable, gain margin 2.5, phase margin 40°, delay margin 7.5 ms, modulus 0.625"
    assert printed(capsys) == [
        "300 steps",
        "Times [µs]",
        "50 % 99 % 99.9 % largest",
        "computing of a step 1.5 2.5 3.5 4.5",
        margins,
    ]
    assert hil.told_of(SimpleNamespace(computing=[1.0])) == {  # type: ignore[arg-type]
        "sentences": ["300 steps"],
        "times_us": {"computing of a step": {"p50": 1.5, "p99": 2.5, "p99.9": 3.5, "largest": 4.5}},
        "margins": [
            dict(
                zip(
                    (
                        "loop",
                        "delay_ms",
                        "verdict",
                        "gain_margin",
                        "phase_margin_deg",
                        "delay_margin_ms",
                        "modulus",
                    ),
                    rows[0],
                    strict=True,
                )
            )
        ],
    }
    hil.show(SimpleNamespace(computing=[]))  # type: ignore[arg-type]
    assert printed(capsys) == ["300 steps", margins], "nothing was timed, as in virtual time"
    assert hil.told_of(SimpleNamespace(computing=[]))["times_us"] == {}  # type: ignore[arg-type]


def test_a_swept_response_fits_a_narrow_terminal_whole(
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
        assert found[1:3] == ["frequency damping real imaginary", "[Hz] ratio [1/s] [rad/s] kind"]
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


def test_long_mechanism_info_is_truncated(capsys: pytest.CaptureFixture):
    """A comb of bodies on the ground, more than are shown, over-constrained; the freedoms of speeds are not those of positions."""
    count = info.ROWS + 2
    joints = [
        {
            "name": f"j{k}",
            "parent": "ground",
            "child": f"b{k}",
            "type": "revolute" if k else "transforms",
            "coordinates": ["q"] * (k != 1),
            "cut": k == 2,
        }
        for k in range(count)
    ]
    inputs = [
        {"name": f"f{k}", "start": 0.5 * k, "unit": "N", "text": "push"} for k in range(count + 1)
    ]
    content = {
        "name": "comb", "text": "of teeth", "bodies": [{"name": f"b{k}", "parent": "ground", "joint": f"j{k}"} for k in range(count)],
        "joints": joints,
        "freedoms": 5, "position_freedoms": 7, "merged": {"b1": "b0"}, "couplings": ["gear"], "redundant": ["j2[1]"], "stages": ["1", "out"],
        "inputs": inputs, "outputs": [], "parameters": [{"name": "m", "value": 2.5, "unit": "kg", "text": ""}],
        "costs": {"DRT": 12000.0, "DEC": 1500.4}, "engine": "DEC", "cheapest": "DRT",
    }  # fmt: skip
    info.show(content)
    told = printed(capsys)
    assert told[:3] == [
        "comb: of teeth",
        f"{count} bodies, 5 degrees of freedom in velocities, 7 in positions",
        "ground",
    ]
    for line in (
        "├── b0 j0: q", "├── b1 j1: revolute fixed, merged with b0", "└── ... and 2 more (--json shows all)",
        "loop joint j2: closes a loop between ground and b2", f"1 body is merged into rigid groups: {count - 1} move",
        "couplings: gear", "redundant constraints (their reactions are not unique): j2[1]", "Inputs", "f1 0.5 N push",
        f"... {count + 1 - info.ROWS} more",
        "Parameters", "m 2.5 kg", "Stages: 1, out", "method flops",
    ):  # fmt: skip
        assert line in told, line
    assert f"├── b{info.ROWS - 1} j{info.ROWS - 1}: revolute q" in told and not any(
        f"b{info.ROWS} " in line for line in told
    )
    assert told[-2:] == ["DEC 1,500 used for runs", "DRT 12,000 fewest operations"], (
        "the cheapest first"
    )
    info.show(
        {
            **content,
            "bodies": content["bodies"][:1],
            "text": "",
            "freedoms": 1,
            "position_freedoms": 1,
            "merged": {},
            "stages": [],
            "inputs": inputs[: info.ROWS],
        }
    )
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
    from kinetree.scripts.studies import tuning

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
    inner = SimpleNamespace(name="hold", period=0.002, delay=0.001, limited=False, margins=margins)
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


def test_unstable_equilibrium_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """What grows by its time and by what moves most, a state where no coordinate does; minus zero is no number to read."""
    from kinetree.models.analysis import rest_rows

    swing = SimpleNamespace(frequency=1.5, damping=-4e-5, eigenvalue=complex(0.0, 9.4))
    grows = SimpleNamespace(
        eigenvalue=complex(4.0, 0.0), shape={"phi": -1.0, "psi": 0.75, "p": 3.0}
    )
    oil = SimpleNamespace(eigenvalue=complex(0.5, 0.0), shape={"phi": 0.25, "psi": 0.0, "p": 1.0})
    falls = SimpleNamespace(eigenvalue=complex(-1.0, 0.0), shape={"phi": 1.0, "psi": 0.0, "p": 0.0})
    monkeypatch.setattr(rest_rows, "rest_rows", lambda found: {"Coordinates": [("phi", "3", "°")]})
    monkeypatch.setattr(rest_rows, "shape_of", lambda found, mode: [("phi", 1.0), ("psi", 0.125)])
    found = SimpleNamespace(
        iterations=7, residual=2.5e-9, stability="unstable", stable=False, modes=[swing], directions=({"x": 1.0, "y": -0.5, "z": 1e-9},),
        growing=[complex(4.0, 0.0), complex(0.5, 0.0)],
        reactions={"pin": (-4e-7, 2.5, 1e6, 0.0, 1.2345678, -0.5)},
        linear=SimpleNamespace(modes=lambda: [swing, grows, oil, falls], local=("phi", "psi"), sampled={}),
    )  # fmt: skip
    statics.show(Console(highlight=False, soft_wrap=True), "arm", found, SimpleNamespace())  # type: ignore[arg-type]
    assert printed(capsys) == [
        "arm: unstable equilibrium after 7 iterations, residual 2.5e-09 relative to the weight", "Coordinates", "phi 3 °",
        "Vibration modes", "1.5 Hz damping ratio 0.0000 phi 1, psi 0.125",
        "unstable: phi grows by a factor e in 0.25 s", "unstable: p grows by a factor e in 2 s",
        "neutral direction (zero stiffness): x - 0.5 y",
        "Joint reactions (force and moment on the child body, in its axes)", "pin 0 2.5 1000000 0 1.23457 -0.5",
    ]  # fmt: skip
    found.residual, found.stable, found.modes, found.directions = 0.0, True, [], ()
    statics.show(Console(highlight=False, soft_wrap=True), "arm", found, SimpleNamespace())  # type: ignore[arg-type]
    told = printed(capsys)
    assert told[0] == "arm: unstable equilibrium after 7 iterations" and not any(
        "grows" in line or "Vibration" in line or "neutral" in line for line in told
    )
