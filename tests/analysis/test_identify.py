"""Identification: known parameters come back from noisy columns within their standard deviations, modes from decays, mistakes are named."""

import json
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.analysis.free_decay import DecayError, free_decay
from kinetree.models.analysis.identification import IdentificationError, identify
from kinetree.models.analysis.mode_matching import match_modes
from kinetree.models.run.system_cache import SystemCache
from kinetree.models.system.mechanism import Mechanism
from kinetree.scripts.cli import main

TRUE = {"k": 260.0, "c": 1.7, "x0": 0.12}
OSCILLATOR = {
    "format": "kinetree/1",
    "name": "Oscillator",
    "gravity": [0, 0, 0],
    "parameters": {
        "m": 2.0, "k": {"value": 200.0, "unit": "N/m", "min": 0}, "c": {"value": 1.0, "min": 0}, "x0": 0.1, "idle": 3.0, "twice": "2*k",
    },
    "bodies": {"b": {"mass": "m"}},
    "joints": {"j": {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["x"], "start": ["x0"]}},
    "forces": {"spring": {"coordinate": "x", "stiffness": "k", "damping": "c"}, "push": {"coordinate": "x", "value": "f"}},
    "inputs": {"f": 0.0},
}  # fmt: skip


def exact(t: np.ndarray, k: float, c: float, x0: float, m: float = 2.0) -> np.ndarray:
    """The closed solution, which the fit does not know."""
    s = c / (2 * m)
    w = np.sqrt(k / m - s**2)
    return x0 * np.exp(-s * t) * (np.cos(w * t) + s / w * np.sin(w * t))


def test_true_parameters_lie_within_three_deviations():
    """5 noises of 2 % of the amplitude: every estimate within 3 of its deviations, their spread is what the deviations say."""
    t = np.linspace(0, 3, 61)
    clean, noise = exact(t, **TRUE), np.random.default_rng(1)
    found = [
        identify(OSCILLATOR, {"x": clean + 0.0025 * noise.normal(size=t.size)}, list(TRUE), time=t)
        for _ in range(5)
    ]
    scores = np.array(
        [
            [(each[name] - value) / each.deviations[name] for name, value in TRUE.items()]
            for each in found
        ]
    )
    assert np.abs(scores).max() < 3.0
    assert 0.5 < np.sqrt((scores**2).mean()) < 1.6  # chi-square of 15 correlated numbers about 1
    assert found[0].fits[0].rms == pytest.approx(0.0025, rel=0.3) and found[0].converged


def test_exact_data_give_exact_parameters():
    t = np.linspace(0, 2, 41)
    found = identify(OSCILLATOR, {"x": exact(t, **TRUE)}, list(TRUE), time=t)
    assert found.values == pytest.approx(TRUE, rel=1e-6)


def test_records_with_uneven_times_gaps_and_late_start_are_fitted():
    """Rows at any times, missing values, the start of the run at the first row."""
    t = np.sort(np.random.default_rng(3).uniform(0, 2, 60))
    t[0] = 0.0
    x = exact(t, **TRUE)
    x[5:9] = np.nan
    assert identify(OSCILLATOR, {"x": x}, ["k", "c", "x0"], time=5.0 + t).values == pytest.approx(
        TRUE, rel=1e-5
    )


def test_measured_inputs_drive_the_mechanism():
    """A column with the name of an input is one."""
    system = load(OSCILLATOR).compile(k=230.0)
    t = np.linspace(0, 2, 81)
    f = 5 * np.sin(4 * t)
    result = system.simulate(
        2.0,
        output_step=0.025,
        inputs={"f": lambda now: float(np.interp(now, t, f))},
        tolerance=1e-10,
    )
    found = identify(OSCILLATOR, {"time": t, "x": result["x"], "f": f}, ["k"])
    assert found["k"] == pytest.approx(230.0, rel=1e-6)


def test_columns_are_weighted_by_their_noise():
    """A column of metres and one of newtons: the deviations are those of the better one, not of the larger numbers."""
    t, noise = np.linspace(0, 3, 61), np.random.default_rng(5)
    result = load(OSCILLATOR).compile(**TRUE).simulate(3.0, output_step=0.05, tolerance=1e-10)
    x, v = (
        result["x"] + 1e-4 * noise.normal(size=t.size),
        result["der(x)"] + 0.5 * noise.normal(size=t.size),
    )
    both = identify(OSCILLATOR, {"x": x, "der(x)": v}, ["k", "c"], time=t, bounds={"k": (100, 500)})
    alone = identify(
        OSCILLATOR | {"parameters": OSCILLATOR["parameters"] | {"x0": 0.12}},
        {"x": x},
        ["k", "c"],
        time=t,
    )
    assert both.fits[0].rms > 1e-3  # x0 is not the true one: the model cannot meet x
    assert alone.deviations["k"] < 0.1 and alone["k"] == pytest.approx(
        260.0, abs=4 * alone.deviations["k"]
    )


def test_bounds_are_respected_and_outliers_downweighted():
    t = np.linspace(0, 2, 41)
    data = {"x": exact(t, **TRUE)}
    limited = identify(OSCILLATOR, data, ["k", "c", "x0"], time=t, bounds={"k": (150, 240)})
    assert (
        limited["k"] == pytest.approx(240.0) and limited.estimates[0].note == "at its upper bound"
    )
    data["x"][7] += 1.0
    plain, robust = (
        identify(OSCILLATOR, data, list(TRUE), time=t, loss=loss) for loss in ("linear", "soft_l1")
    )
    assert abs(robust["k"] - 260.0) < 0.2 * abs(plain["k"] - 260.0)


def test_reparameterised_systems_equal_compiled_ones_bit_for_bit(monkeypatch: pytest.MonkeyPatch):
    """Two records with masses of their own: trials within half of the starts compile nothing but the ends."""
    t, asked, plain = np.linspace(0, 0.5, 11), list[dict[str, float]](), Mechanism.compile
    data = [{"time": t, "x": exact(t, 230.0, 1.2, 0.12, m)} for m in (2.0, 2.5)]
    monkeypatch.setattr(
        Mechanism,
        "compile",
        lambda mechanism, **numbers: asked.append(numbers) or plain(mechanism, **numbers),
    )
    found = identify(
        OSCILLATOR, data, ["k", "x0"], settings=[{"m": 2.0, "c": 1.2}, {"m": 2.5, "c": 1.2}]
    )
    ends = [
        {"m": m, "c": 1.2, "k": 200.0 * s, "x0": 0.1 * s} for m in (2.0, 2.5) for s in (0.5, 1.5)
    ]
    assert [each for each in asked if each] == [
        pytest.approx(end) for end in ends
    ] and found.runs > 20
    monkeypatch.setattr(
        SystemCache,
        "at",
        lambda trials, numbers: trials.mechanism.compile(**trials.settings, **numbers),
    )
    again = identify(
        OSCILLATOR, data, ["k", "x0"], settings=[{"m": 2.0, "c": 1.2}, {"m": 2.5, "c": 1.2}]
    )
    assert (
        again.values == found.values
        and again.covariance.tolist() == found.covariance.tolist()
        and len(asked) > found.runs
    )


def test_identify_parameters_of_linear_chain():
    chain = {
        "count": 3,
        "mass": "m",
        "stiffness": ["k", "k", 2000.0, 0.0],
        "start": [0.1, 0.0, 0.0],
    }
    description = {
        "format": "kinetree/1",
        "name": "Chain",
        "parameters": {"m": 2.0, "k": 500.0},
        "chain": chain,
    }
    result = load(description).chain(m=2.4, k=430.0).simulate(0.4, output_step=0.01)
    found = identify(
        description, {name: result[name] for name in ("x1", "x3")}, ["m", "k"], time=result.time
    )
    assert found["m"] == pytest.approx(2.4, rel=1e-6) and found["k"] == pytest.approx(
        430.0, rel=1e-6
    )


GOOD = {"time": np.linspace(0, 2, 41), "x": exact(np.linspace(0, 2, 41), **TRUE)}


@pytest.mark.parametrize(
    ("change", "parameters", "said"),
    [
        ({"y": GOOD["x"]}, ["k"], "column 'y' is not one of the mechanism"),
        ({}, ["kk"], "no parameter 'kk'; did you mean 'k'"),
        ({}, ["k", "k"], "given twice"),
        ({}, [], "no parameters"),
        ({}, ["k", "idle"], "'idle' has no influence on x"),
        ({}, ["k", "c", "m"], "cannot be told apart"),
        ({"time": GOOD["time"][::-1]}, ["k"], "expected ascending times"),
        ({"x": GOOD["x"][:-1]}, ["k"], "has 40 values, the time has 41"),
        (
            {"x": np.where(np.arange(41) < 2, GOOD["x"], np.nan)},
            ["k", "c"],
            "2 measured values are too few for 2 parameters",
        ),
        ({"f": np.full(41, np.nan)}, ["k"], "'f' holds values that are not finite"),
    ],
)
def test_invalid_identification_requests_are_refused_by_name(
    change: dict, parameters: list[str], said: str
):
    with pytest.raises(IdentificationError, match=said):
        identify(OSCILLATOR, GOOD | change, parameters)


# three damped sinusoids, A exp(-s t) cos(2 pi f t + phase), 200 samples every 0.05 s
SUM = ((1.0, 0.10, 0.50, 0.0), (0.5, 0.30, 1.20, 0.7), (0.2, 0.05, 2.75, -1.1))
POLES = (
    0.9827622244452745 + 0.1556542448908611j,
    0.9159339174106949 + 0.36264389211071296j,
    0.6478264560442948 + 0.7585073249756865j,
)


def damped_sum() -> tuple[np.ndarray, np.ndarray]:
    t = 0.05 * np.arange(200)
    return t, np.sum(
        [A * np.exp(-s * t) * np.cos(2 * np.pi * f * t + phase) for A, s, f, phase in SUM], axis=0
    )


def test_modes_of_an_exact_damped_sum_are_found_to_rounding():
    t, y = damped_sum()
    assert y[:3] == pytest.approx(
        [1.4731403179273597, 1.4101916458117607, 1.1591935361160919], rel=1e-14
    )
    found = free_decay(t, {"y": y})
    assert found.singular[6] / found.singular[0] < 1e-14
    for mode, (A, s, f, phase) in zip(found.modes, SUM, strict=True):
        assert abs(mode.frequency - f) < 1e-12 and abs(mode.decay - s) < 1e-11
        assert abs(mode.amplitudes["y"] - A) < 1e-11 and abs(mode.phases["y"] - phase) < 1e-11
    for pole in POLES:
        assert np.abs(found.poles - pole).min() < 1e-13


def test_noise_does_not_change_the_number_of_modes():
    """Noise of 5 % of the signal in two channels: still three modes, frequencies to 0.5 %."""
    t, y = damped_sum()
    noise = np.random.default_rng(0)
    found = free_decay(
        t,
        {
            "y": y + 0.03 * noise.normal(size=t.size),
            "z": 0.01 * (np.gradient(y, t) + 0.05 * noise.normal(size=t.size)),
        },
    )
    assert [mode.frequency for mode in found.modes] == pytest.approx([0.5, 1.2, 2.75], rel=5e-3)
    assert found.fits[0].correlation > 0.99 and found.fits[0].mean_deviation < 0.12


def test_modes_of_a_train_are_identified_from_its_decay():
    """A free train of 5 cars hit at one end: 2 sqrt(k/M) sin(r pi/2n) to 1e-8, and the rolling on that does not swing."""
    chain = {"count": 5, "mass": 20e3, "stiffness": 2e6, "speed": [1.0, 0, 0, 0, 0]}
    result = load({"format": "kinetree/1", "chain": chain}).chain().simulate(16.0, output_step=0.1)
    found = free_decay(
        result.time, {name: result[f"der({name})"] for name in ("x1", "x2", "x3", "x4", "x5")}
    )
    assert found.modes[0].frequency == 0.0 and found.modes[0].amplitudes["x3"] == pytest.approx(
        0.2, rel=1e-8
    )
    expected = 20.0 * np.sin(np.arange(1, 5) * np.pi / 10) / (2 * np.pi)
    assert [mode.frequency for mode in found.modes[1:]] == pytest.approx(expected, rel=1e-8)
    assert max(abs(mode.decay) for mode in found.modes) < 1e-8


def two_masses(k1: float, k2: float, c1: float) -> dict:
    """Two carts on springs, an unknown damper on the first."""
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "parameters": {"k1": k1, "k2": k2, "c1": c1},
        "bodies": {name: {"mass": 1.0} for name in ("a", "b")},
        "joints": {
            "ja": {
                "child": "a",
                "type": "prismatic",
                "axis": "x",
                "coordinates": ["xa"],
                "start": [0.1],
            },
            "jb": {
                "parent": "a",
                "child": "b",
                "type": "prismatic",
                "axis": "x",
                "coordinates": ["xb"],
            },
        },
        "forces": {
            "s1": {"coordinate": "xa", "stiffness": "k1", "damping": "c1"},
            "s2": {"coordinate": "xb", "stiffness": "k2", "damping": 0.1},
        },
    }


def test_parameters_are_matched_to_identified_modes():
    """Free decay of the true system, its modes, the parameters with which the model has them."""
    result = (
        load(two_masses(120.0, 45.0, 0.8))
        .compile()
        .simulate(10.0, output_step=0.1, tolerance=1e-11)
    )
    decay = free_decay(result.time, {name: result[name] for name in ("xa", "xb")})
    found = match_modes(two_masses(100.0, 50.0, 0.5), decay.modes, ["k1", "k2", "c1"])
    assert found == pytest.approx({"k1": 120.0, "k2": 45.0, "c1": 0.8}, rel=1e-5)
    with pytest.raises(IdentificationError, match="too few"):
        match_modes(two_masses(100.0, 50.0, 0.5), decay.modes[:1], ["k1", "k2"], damping=False)


def two_oscillators(k1: float, d1: float) -> dict:
    """Two masses that nothing couples, the second with 900 N/m and 3 N.s/m."""
    body = {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}
    slide = {"start": 0.1}
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "parameters": {"k1": k1, "d1": d1},
        "bodies": {"a": body, "b": body},
        "joints": {
            "a": {"child": "a", "transforms": [{"shift": "x", "coordinate": "x", **slide}]},
            "b": {"child": "b", "transforms": [{"shift": "y", "coordinate": "y", **slide}]},
        },
        "forces": {
            "a": {"coordinate": "x", "stiffness": "k1", "damping": "d1"},
            "b": {"coordinate": "y", "stiffness": 900.0, "damping": 3.0},
        },
    }


@pytest.mark.parametrize("k1", [300.0, 900.0])
def test_modes_overdamped_at_start_values_are_matched(k1: float):
    """Start values at which the first oscillator creeps; at k1 = 900 the record has one frequency."""
    true = load(two_oscillators(k1, 3.0)).compile()
    result = true.simulate(3.0, output_step=0.01, tolerance=1e-10)
    decay = free_decay(result.time, {name: result[name] for name in ("x", "y")})
    found = match_modes(two_oscillators(400.0, 60.0), decay.modes, ["k1", "d1"])
    assert found == pytest.approx({"k1": k1, "d1": 3.0}, rel=1e-4)


def test_records_with_more_modes_than_the_mechanism_are_refused():
    true = load(two_oscillators(300.0, 3.0)).compile()
    result = true.simulate(3.0, output_step=0.01, tolerance=1e-10)
    decay = free_decay(result.time, {name: result[name] for name in ("x", "y")})
    single = two_oscillators(300.0, 3.0)
    for section, name in (("bodies", "b"), ("joints", "b"), ("forces", "b")):
        del single[section][name]
    with pytest.raises(IdentificationError, match="2 modes.* 1 "):
        match_modes(single, decay.modes, ["k1", "d1"])


def test_mode_deviations_match_scatter_of_repeated_records():
    """Sixty records of one decay with other noise: the spread of what is found is what each of them says of itself."""
    t, y = damped_sum()
    rng = np.random.default_rng(5)
    found = [
        free_decay(t, {"y": y + 0.02 * rng.normal(size=t.size)}, order=6).modes[1]
        for _ in range(60)
    ]
    for name in ("frequency", "decay"):
        spread = float(np.std([getattr(mode, name) for mode in found]))
        told = float(np.mean([getattr(mode, f"{name}_deviation") for mode in found]))
        assert told == pytest.approx(
            spread, rel=0.3
        )  # 60 repetitions tell a deviation to 1/sqrt(120) = 9 %, three times that
    assert abs(np.mean([mode.frequency for mode in found]) - 1.2) < 4 * told


def test_order_that_the_noise_does_not_support_is_flagged():
    """Ten poles for three swings: what is beyond them carries a note, and the flagged ones do not take part in a match of parameters."""
    t, y = damped_sum()
    found = free_decay(t, {"y": y + 0.03 * np.random.default_rng(7).normal(size=t.size)}, order=10)
    assert [mode.frequency for mode in found.reliable] == pytest.approx([0.5, 1.2, 2.75], rel=2e-2)
    assert len(found.modes) > 3 and all(
        mode.note for mode in found.modes if mode not in found.reliable
    )


def test_too_low_model_order_leaves_residual_above_noise():
    t, y = damped_sum()
    assert "not noise" in free_decay(t, {"y": y}, order=2).notes[0]


def test_record_of_pure_noise_is_refused():
    with pytest.raises(DecayError, match="stands out of the noise"):
        free_decay(0.05 * np.arange(300), {"y": np.random.default_rng(2).normal(size=300)})


def test_alternating_samples_are_not_reported_as_a_mode():
    """Half the sampling rate came out as a mode without a word."""
    t, y = damped_sum()
    found = free_decay(t, {"y": y + 0.05 * (-1.0) ** np.arange(t.size)}, order=7)
    assert [mode.note.split(":")[0] for mode in found.modes if mode.frequency > 9.0] == [
        "at the limit of the sampling"
    ]


def test_parameters_at_bounds_are_reported():
    """Between both stiffnesses that give these modes (120 and 90.6, with another second one) neither bound lets it pass: a note."""
    result = (
        load(two_masses(120.0, 45.0, 0.8))
        .compile()
        .simulate(10.0, output_step=0.1, tolerance=1e-11)
    )
    decay = free_decay(result.time, {name: result[name] for name in ("xa", "xb")})
    found = match_modes(
        two_masses(100.0, 50.0, 0.5), decay.modes, ["k1", "k2", "c1"], bounds={"k1": (98.0, 105.0)}
    )
    assert found.estimates[0].note.startswith("at its") and any(
        "k1 is at its" in note for note in found.notes
    )


@pytest.mark.parametrize(
    ("t", "y", "said"),
    [
        ([0, 1, 2], [1, 2, 3], "3 samples"),
        ([*range(9), 20], range(10), "equal steps"),
        (range(10), [np.nan] * 10, "'y': expected 10 finite"),
    ],
)
def test_invalid_decay_records_are_refused(t, y, said: str):
    with pytest.raises(DecayError, match=said):
        free_decay(list(t), {"y": list(y)})


@pytest.mark.parametrize(
    ("columns", "order", "said"),
    [
        ({}, None, "no channel"),
        ({"y": 0.0}, None, "'y' is zero throughout"),
        ({"y": 1.0}, 0, "order 0; expected 1 to"),
    ],
)
def test_invalid_channels_and_orders_are_refused(
    columns: dict[str, float], order: int | None, said: str
):
    t = np.linspace(0.0, 1.0, 20)
    with pytest.raises(DecayError, match=said):
        free_decay(t, {name: value * np.cos(9.0 * t) for name, value in columns.items()}, order)


def write(folder: Path, **columns: np.ndarray) -> str:
    path = folder / "data.csv"
    np.savetxt(
        path,
        np.column_stack(list(columns.values())),
        delimiter=",",
        header=",".join(columns),
        comments="",
    )
    return str(path)


def model(folder: Path) -> str:
    path = folder / "model.json"
    path.write_text(json.dumps(OSCILLATOR))
    return str(path)


def test_identify_command_reports_parameters(tmp_path: Path, capsys: pytest.CaptureFixture):
    data, out, picture = write(tmp_path, **GOOD), tmp_path / "fit.json", tmp_path / "fit.png"
    assert (
        main(
            [
                "identify",
                model(tmp_path),
                data,
                "-p",
                "k,c,x0",
                "-o",
                str(out),
                "--plot",
                str(picture),
            ]
        )
        == 0
    )
    found = json.loads(out.read_text())
    assert (
        found["parameters"]["k"]["value"] == pytest.approx(260.0, rel=1e-6)
        and found["converged"]
        and picture.stat().st_size > 10_000
    )
    said = capsys.readouterr().out
    assert "260" in said and "correlation" in said


def test_identify_command_prints_modes_of_a_decay(tmp_path: Path, capsys: pytest.CaptureFixture):
    t, y = damped_sum()
    assert (
        main(
            [
                "identify",
                write(tmp_path, time=t, y=y),
                "-o",
                str(tmp_path / "m.json"),
                "--plot",
                str(tmp_path / "m.png"),
            ]
        )
        == 0
    )
    assert "2.75" in capsys.readouterr().out
    assert [
        mode["frequency"] for mode in json.loads((tmp_path / "m.json").read_text())["modes"]
    ] == pytest.approx([0.5, 1.2, 2.75])
    assert main(["identify", model(tmp_path), write(tmp_path, **GOOD), "--modes", "-p", "k,c"]) == 0
    assert "260" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["MODEL", "DATA"], "--parameters: expected names out of m, k"),
        (["DATA", "-p", "k"], "needs a MODEL"),
        (["MODEL", "DATA", "-p", "k", "--bounds", "k=5"], "expected NAME=LOW:HIGH"),
        (["MODEL", "DATA", "-p", "k", "--bounds", "k=5:9"], "outside of its bounds 5 to 9"),
        (["MODEL", "DATA", "-p", "k", "--columns", "xx"], "no column 'xx'"),
        (["MODEL", "no.csv", "-p", "k"], "no such file"),
        (["MODEL", "DATA", "-p", "k", "-o", "fit.txt"], "ends in .json"),
    ],
)
def test_identify_command_names_invalid_arguments(
    tmp_path: Path, capsys: pytest.CaptureFixture, arguments: list[str], said: str
):
    places = {"MODEL": model(tmp_path), "DATA": write(tmp_path, **GOOD)}
    assert main(["identify", *(places.get(each, each) for each in arguments)]) == 2
    assert said in capsys.readouterr().err
