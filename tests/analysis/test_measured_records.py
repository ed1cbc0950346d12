"""Identification from several records and other people's columns, stabilisation diagrams, planned experiments."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import lsim

from kinetree.models import load
from kinetree.models.analysis.experiment_information import (
    Experiment,
    combined_information,
    experiment_information,
)
from kinetree.models.analysis.identification import IdentificationError, identify
from kinetree.models.analysis.stabilisation_diagram import stabilisation_diagram
from kinetree.scripts.cli import main
from kinetree.scripts.studies import experiment_search as excitation
from kinetree.scripts.studies.experiment_plans import told_by
from kinetree.scripts.terminal.error_messages import BadInput

SLIDER = {
    "name": "slider", "gravity": [0, 0, 0], "parameters": {"m": 2.0, "k": 200.0, "c": 3.0, "x0": 0.0},
    "bodies": {"b": {"mass": "m"}}, "inputs": {"f": {"start": 0.0, "unit": "N"}},
    "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x", "start": "x0"}]}},
    "forces": {"law": {"coordinate": "x", "value": "f - k*x - c*der(x)"}},
}  # fmt: skip
TIME = np.linspace(0.0, 2.0, 101)


def decay(x0: float, k: float = 200.0, c: float = 3.0, m: float = 2.0) -> np.ndarray:
    s = c / (2 * m)
    w = np.sqrt(k / m - s * s)
    return x0 * np.exp(-s * TIME) * (np.cos(w * TIME) + s / w * np.sin(w * TIME))


def test_two_records_identify_what_one_cannot():
    """A free decay tells k/m and c/m, a step of known force the rest; alone the first cannot, by name. Starts differ from record to record."""
    k, c, m = 230.0, 2.5, 2.4
    free = {"time": TIME, "x": decay(0.1, k, c, m)}
    step = {"time": TIME, "x": 5.0 / k - decay(5.0 / k, k, c, m), "f": np.full(101, 5.0)}
    with pytest.raises(IdentificationError, match="cannot be told apart"):
        identify(SLIDER, free | {}, ["m", "k", "c"], settings=[{"x0": 0.1}])
    found = identify(SLIDER, [free, step], ["m", "k", "c"], settings=[{"x0": 0.1}, {}])
    assert found.values == pytest.approx({"m": m, "k": k, "c": c}, rel=1e-6)
    assert [each.name for each in found.fits] == ["x (record 1)", "x (record 2)"]
    with pytest.raises(IdentificationError, match="expected another parameter"):
        identify(SLIDER, [free, step], ["m", "x0"], settings=[{"x0": 0.1}, {}])


def written(path: Path, **columns: np.ndarray) -> str:
    head = ",".join(columns)
    np.savetxt(
        path, np.column_stack(list(columns.values())), delimiter=",", header=head, comments=""
    )
    return str(path)


def test_columns_of_measured_files_are_mapped_to_outputs(
    tmp_path: Path, capsys: pytest.CaptureFixture
):
    """Millimetres by the head of a column, kilonewtons by the map; a unit that does not fit is refused."""
    (tmp_path / "m.json").write_text(json.dumps(SLIDER))
    k = 260.0
    step = {
        "time": TIME,
        "way [mm]": 1e3 * (5.0 / k - decay(5.0 / k, k)),
        "press": np.full(101, 0.005),
    }
    free = written(
        tmp_path / "free.csv",
        **{"time": TIME, "way [mm]": 100.0 * decay(1.0, k), "press": np.zeros(101)},
    )
    files = [str(tmp_path / "m.json"), written(tmp_path / "step.csv", **step), f"{free}@x0=0.1"]
    maps = ["--map", "way=x", "--map", "press=f:kN"]
    assert (
        main(["identify", *files, "-p", "k,c", *maps, "-o", str(tmp_path / "fit.json"), "-q"]) == 0
    )
    found = json.loads((tmp_path / "fit.json").read_text())["parameters"]
    assert found["k"]["value"] == pytest.approx(k, rel=1e-6) and found["c"][
        "value"
    ] == pytest.approx(3.0, rel=1e-6)
    for wrong, said in (
        (["--map", "way=x", "--map", "press=f:bar"], "expected a unit of N"),
        (["--map", "wax=x"], "did you mean 'way'"),
        (["--map", "way"], "expected COLUMN=NAME"),
    ):
        assert main(["identify", *files, "-p", "k", *wrong]) == 2
        assert said in capsys.readouterr().err
    assert main(["identify", files[0], f"{free}@x0", "-p", "k", *maps]) == 2


def test_stabilisation_diagram_keeps_true_modes():
    """Two oscillations in two noisy channels: exactly these are stable over the orders, with their damping; noise is not."""
    rng, t = np.random.default_rng(2), np.linspace(0.0, 10.0, 1001)
    waves = [
        np.exp(-2 * np.pi * f * z * t) * np.cos(2 * np.pi * f * t)
        for f, z in ((1.5, 0.01), (4.0, 0.02))
    ]
    channels = {"a": waves[0] + 0.5 * waves[1], "b": waves[0] - waves[1]}
    found = stabilisation_diagram(
        t, {name: values + 0.02 * rng.normal(size=t.size) for name, values in channels.items()}, 30
    )
    lines = found.lines()
    assert [line[0] for line in lines] == pytest.approx([1.5, 4.0], rel=2e-3)
    assert [line[1] for line in lines] == pytest.approx([0.01, 0.02], rel=0.1)
    assert found.orders == tuple(range(2, 31, 2)) and any(not pole.stable for pole in found.poles)


def test_stabilisation_diagram_is_drawn_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture):
    t = np.linspace(0.0, 5.0, 501)
    data = written(
        tmp_path / "d.csv",
        time=t,
        y=np.exp(-0.3 * t) * np.cos(2 * np.pi * 2.0 * t)
        + 1e-4 * np.random.default_rng(0).normal(size=501),
    )
    assert main(["identify", data, "--diagram", str(tmp_path / "d.png"), "-q"]) == 0
    assert (tmp_path / "d.png").stat().st_size > 10_000 and capsys.readouterr().out.count(
        "stable: 2 Hz"
    ) == 1


def test_experiment_information_matches_hand_calculation():
    """A load of 5 N on a heavily damped spring: ∂x/∂k = -f/k² (1 - exp(s t)) with the slow root s; rows of noise σ tell k to σ/√(Σ (∂x/∂k)²)."""
    heavy = {**SLIDER, "parameters": {**SLIDER["parameters"], "c": 400.0, "x0": 5.0 / 200.0}}
    found = experiment_information(
        load(heavy),
        ["k"],
        {"pull": Experiment({"f": 5.0}, {}), "nothing": Experiment({}, {"x0": 0.0})},
        {"x": 1e-4},
        20.0,
        0.5,
    )
    s = np.roots([2.0, 400.0, 200.0]).max()
    rate = (
        -5.0 / 200.0**2 * (1 - np.exp(s * np.linspace(0, 20.0, 41)))
    )  # the start stays x0, from there the load creeps to f/k
    assert found["pull"].deviations["k"] == pytest.approx(1e-4 / np.sqrt((rate**2).sum()), rel=5e-3)
    assert found["nothing"].deviations["k"] == np.inf


def test_fit_scatter_matches_predicted_deviation():
    """Twelve fits of noisy data spread by the deviations that were told beforehand; two experiments add their information."""
    mechanism, sigma = load(SLIDER), 1e-3
    told = experiment_information(
        mechanism, ["k", "c"], {"free": Experiment({}, {"x0": 0.1})}, {"x": sigma}, 2.0, 0.02
    )["free"]
    rng, clean = np.random.default_rng(1), decay(0.1)
    fits = [
        identify(
            mechanism,
            {"time": TIME, "x": clean + sigma * rng.normal(size=101)},
            ["k", "c"],
            settings=[{"x0": 0.1}],
        )
        for _ in range(12)
    ]
    for name in ("k", "c"):
        spread = np.std([fit[name] for fit in fits])
        assert 0.5 < spread / told.deviations[name] < 1.7  # of twelve
        assert np.mean([fit.deviations[name] for fit in fits]) == pytest.approx(
            told.deviations[name], rel=0.15
        )
    twice = combined_information({"a": told, "b": told})
    assert twice.deviations["k"] == pytest.approx(told.deviations["k"] / np.sqrt(2), rel=1e-9)


PLAN = """
stop_time = 2.0
output_step = 0.02
[noise]
x = 1e-3
[experiments.step]
inputs = { f = 5.0 }
[experiments.sweep]
inputs = { f = "5*sin(2*t + 3*t**2)" }
[experiments.nothing]
"""


def test_experiment_plans_are_ranked(tmp_path: Path, capsys: pytest.CaptureFixture):
    (tmp_path / "m.json").write_text(json.dumps(SLIDER))
    (tmp_path / "plan.toml").write_text(PLAN)
    command = [
        "identify",
        str(tmp_path / "m.json"),
        "-p",
        "m,k,c",
        "--experiments",
        str(tmp_path / "plan.toml"),
    ]
    assert main([*command, "-o", str(tmp_path / "plan.json")]) == 0
    said = capsys.readouterr().out
    rows = json.loads((tmp_path / "plan.json").read_text())["experiments"]
    assert "not told" in said and rows["nothing"]["deviations"]["k"] is None
    assert rows["all together"]["deviations"]["m"] < min(
        rows[name]["deviations"]["m"] for name in ("step", "sweep")
    )
    (tmp_path / "plan.toml").write_text(PLAN.replace("3*t**2", "3*q**2"))
    assert main(command) == 2 and "law of t alone" in capsys.readouterr().err


@pytest.mark.slow
def test_most_informative_sine_is_found(tmp_path: Path, capsys: pytest.CaptureFixture):
    """The frequency for k alone: the search ends at the largest Σ (∂x/∂k)² of exact responses; what may not move so far is not driven there."""
    text = (
        "stop_time = 2.0\noutput_step = 0.04\n"
        '[noise]\nx = 1e-3\n[experiments.sine]\ninputs = { f = "5*sin(2*pi*w*t)" }\n'
        "vary = { w = [0.3, 5.0] }\n"
    )
    (tmp_path / "m.json").write_text(json.dumps(SLIDER))
    (tmp_path / "plan.toml").write_text(text)
    command = [
        "identify",
        str(tmp_path / "m.json"),
        "-p",
        "k",
        "--experiments",
        str(tmp_path / "plan.toml"),
    ]
    assert main([*command, "-o", str(tmp_path / "plan.json")]) == 0
    row = json.loads((tmp_path / "plan.json").read_text())["experiments"]["sine"]
    assert "sine (w = " in capsys.readouterr().out
    m, k, c = (SLIDER["parameters"][name] for name in "mkc")
    fine = np.linspace(0.0, 2.0, 2001)

    def response(w: float, k: float) -> np.ndarray:
        system = np.array([[0, 1], [-k / m, -c / m]]), [[0], [1 / m]], [[1, 0]], [[0]]
        return lsim(system, 5.0 * np.sin(2 * np.pi * w * fine), fine)[1][::40]

    def information(w: float) -> float:
        return float((((response(w, k * 1.001) - response(w, k * 0.999)) / (0.002 * k)) ** 2).sum())

    best = max(map(information, np.linspace(0.3, 5.0, 400)))
    assert row["deviations"]["k"] == pytest.approx(1e-3 / np.sqrt(best), rel=0.02)
    assert information(row["found"]["w"]) > 0.96 * best
    (tmp_path / "plan.toml").write_text(text.replace("*w*t", "*t"))
    assert main(command) == 2 and "no law of its inputs has this number" in capsys.readouterr().err
    (tmp_path / "plan.toml").write_text(text + "most = { x = 1e-9 }\n")
    assert main(command) == 2 and "keeps x within 1e-09" in capsys.readouterr().err


@pytest.mark.slow
def test_drive_parameters_are_identified_from_step_and_sweep():
    """Bulk modulus and flow of the servo drive's valve from pressures after a step and during a sweep of its command, with noise."""
    true = {"bulk": 1.1e9, "rated_flow": 5e-4}
    rng, t = np.random.default_rng(5), np.linspace(0.0, 0.5, 251)
    laws = {
        "step": np.where(t < 0.05, 0.0, 0.3),
        "sweep": 0.2 * np.sin(2 * np.pi * (2 * t + 12 * t * t)),
    }
    system, records = load("lib:servo-drive").compile(**true), []
    names = [
        column.name
        for column in system.compiled.outputs
        if "pressure" in column.name or column.name == "lift.force"
    ][:2]
    for law in laws.values():
        run = system.simulate(
            0.5,
            output_step=0.002,
            inputs={"command": lambda now, law=law: float(np.interp(now, t, law))},
        )
        records.append(
            {"time": t, "command": law}
            | {
                name: run[name] + 1e-3 * np.ptp(run[name]) * rng.normal(size=t.size)
                for name in names
            }
        )
    found = identify("lib:servo-drive", records, list(true))
    for name, value in true.items():
        assert abs(found[name] - value) < 4 * found.deviations[name] < 0.2 * value


def test_experiment_without_sensitivity_has_no_information(monkeypatch: pytest.MonkeyPatch):
    """Every score is minus infinity alike: there is no best one."""
    monkeypatch.setattr(excitation, "GENERATIONS", 1)
    idle = SLIDER | {"parameters": SLIDER["parameters"] | {"idle": 1.0}}
    wanted = excitation.Wanted(["idle"], {"x": 1e-3}, 0.1, 0.05, {"w": (1.0, 2.0)}, {})
    with pytest.raises(
        BadInput, match="no experiment between the bounds of w determines the parameters$"
    ):
        excitation.best_excitation(
            load(idle), wanted, lambda numbers: Experiment({"f": numbers["w"]}, {})
        )


def test_experiment_search_stops_at_amplitude_bounds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Information grows with the amplitude: it ends at its bound, or where a column may not move further; mistakes in bounds are named."""
    for name, value in (("GENERATIONS", 4), ("PEOPLE", 8)):
        monkeypatch.setattr(excitation, name, value)
    mechanism = load(SLIDER)
    task = excitation.Wanted(["k"], {"x": 1e-3}, 0.4, 0.04, {"a": (1.0, 5.0)}, {})

    def made(numbers: dict[str, float]) -> Experiment:
        return Experiment({"f": numbers["a"]}, {})

    most = excitation.best_excitation(mechanism, task, made)["a"]
    assert 4.8 < most <= 5.0
    reach = float(
        np.abs(mechanism.compile().simulate(0.4, output_step=0.04, inputs={"f": 1.0})["x"]).max()
    )  # a linear system: a newton's worth
    held = excitation.best_excitation(mechanism, replace(task, most={"x": 3.0 * reach}), made)["a"]
    assert 2.7 < held <= 3.0 * (1 + 1e-6)
    with pytest.raises(BadInput, match="and keeps x within"):
        excitation.best_excitation(mechanism, replace(task, most={"x": 1e-9}), made)
    with pytest.raises(BadInput, match="most: no column 'y'"):
        excitation.excess(mechanism, replace(task, most={"y": 1.0}), made({"a": 1.0}))
    (tmp_path / "plan.toml").write_text(
        "stop_time = 0.4\noutput_step = 0.04\n[noise]\nx = 1e-3\n[experiments.one]\ninputs = { f = 'a' }\nvary = { a = [1.0, 5.0] }\n"
    )
    told = told_by(mechanism, tmp_path / "plan.toml", ["k"])["experiments"]["one"]
    assert 4.8 < told["found"]["a"] <= 5.0 and told["deviations"]["k"] > 0.0
    for before, after, said in (
        (
            "[1.0, 5.0]",
            "[5.0, 1.0]",
            "experiments.one.vary.a: expected two bounds, the lower one first, found 5 and 1",
        ),
        (
            "vary = { a",
            "vary = { b",
            "experiments.one.vary.b: no law of its inputs has this number",
        ),
        ("'a'", "'a*'", "experiments.one.inputs.f: "),
    ):
        text = (tmp_path / "plan.toml").read_text()
        (tmp_path / "wrong.toml").write_text(text.replace(before, after))
        with pytest.raises(BadInput, match=said):
            told_by(mechanism, tmp_path / "wrong.toml", ["k"])
