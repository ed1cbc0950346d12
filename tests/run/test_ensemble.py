"""Many runs at once: lanes against single runs, what they may share, what falls back and why."""

import os

import numpy as np
import pytest
from random_descriptions import random_description

from kinetree.models import load

compiled = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="lanes exist in compiled kernels only"
)


def arm(**more) -> dict:
    """Two links, a spring on the first, an input, a first-order state, an output."""
    return {
        "format": "kinetree/1",
        "name": "arm",
        "parameters": {
            "m": 1.0,
            "k": {"value": 20.0, "min": 0.0, "tunable": True},
            "l": 0.7,
            "lag": 0.2,
            "half": "0.5*l",
            "p0": 0.3,
        },
        "inputs": {"drive": {"start": 0.5}},
        "states": {"filter": {"rate": "(drive - filter)/lag", "start": 0.1}},
        "bodies": {
            "a": {"mass": "m", "com": ["half", 0, 0], "inertia": [0.01, 0.1, 0.1, 0, 0, 0]},
            "b": {"mass": 1.0, "com": [0.2, 0.1, 0], "inertia": [0.01, 0.05, 0.06, 0, 0, 0]},
        },
        "joints": {
            "A": {"child": "a", "transforms": [{"rotate": "y", "coordinate": "p", "start": "p0"}]},
            "B": {
                "parent": "a",
                "child": "b",
                "type": "spherical",
                "at": ["l", 0, 0],
                "speed": [0.1, 0.4, -0.2],
            },
        },
        "forces": {"spring": {"coordinate": "p", "value": "filter - k*p - 0.2*der(p)"}},
        "outputs": {
            "height": {"quantity": "position", "body": "b", "point": [0.4, 0, 0], "axis": "z"},
            "pull": {"quantity": "reaction", "joint": "B"},
            "haste": {"quantity": "acceleration", "body": "b", "axis": "z"},
        },
        **more,
    }


VALUES = {
    "k": np.linspace(5.0, 40.0, 11),
    "m": np.linspace(0.5, 3.0, 11),
    "l": np.linspace(0.4, 1.0, 11),
    "p0": np.linspace(-0.5, 0.5, 11),
}


def singles(values: dict, **run) -> list:
    return [
        load(arm())
        .compile(**{name: float(column[k]) for name, column in values.items()})
        .simulate(**run)
        for k in range(11)
    ]


@compiled
@pytest.mark.parametrize("names", [("k",), ("m", "l"), ("p0", "k", "l", "m")])
def test_fixed_step_ensemble_equals_single_runs(names: tuple[str, ...]):
    """rk4 in lanes takes the steps of rk4: masses, lengths, inertias, laws and starts differ from lane to lane; rounding only."""
    values = {name: VALUES[name] for name in names}
    run = {"stop_time": 0.6, "output_step": 0.05, "integrator": "rk4", "step": 0.01}
    found = load(arm()).compile().simulate_many(values, **run)
    assert found.engine == "11 runs in lanes of 8" and found["height"].shape == (11, 13)
    for k, single in enumerate(singles(values, **run)):
        for name in ("p", "filter", "height", "pull[3]"):
            assert found[name][k] == pytest.approx(single[name], abs=1e-11)


@compiled
@pytest.mark.parametrize("integrator", ["auto", "tsit5", "verner65"])
def test_variable_step_ensemble_keeps_tolerance(integrator: str):
    run = {"stop_time": 1.0, "output_step": 0.1, "tolerance": 1e-9, "integrator": integrator}
    found = load(arm()).compile().simulate_many(VALUES, **run)
    assert found.engine == "11 runs in lanes of 8", (
        "one by one they would be right whatever lanes do"
    )
    for k, single in enumerate(singles(VALUES, **run)):
        assert found["height"][k] == pytest.approx(single["height"], abs=1e-7)


@compiled
@pytest.mark.parametrize("seed", range(3))
def test_ensemble_matches_single_runs_for_every_joint_kind(seed: int):
    """Random trees with a gravity that differs from run to run."""
    text = random_description(np.random.default_rng(seed), 8).description
    text = {
        **text,
        "parameters": {**text.get("parameters", {}), "weight": 9.81},
        "gravity": [0, 0, "-weight"],
    }
    weights = np.linspace(1.0, 12.0, 9)
    run = {"stop_time": 0.02, "output_step": 0.01, "integrator": "rk4", "step": 0.002}
    found = load(text).compile().simulate_many({"weight": weights}, **run)
    name = load(text).compile().coordinates[-1]
    assert "lanes" in found.engine
    for k, weight in enumerate(weights):
        single = load(text).compile(weight=weight).simulate(**run)[name]
        assert found[name][k] == pytest.approx(single, rel=1e-8, abs=1e-9)


def test_ensemble_inputs_may_differ():
    drives = np.linspace(-1, 1, 5)
    found = load(arm()).compile().simulate_many({}, 0.5, 0.1, inputs={"drive": drives})
    for k, drive in enumerate(drives):
        assert found["filter"][k] == pytest.approx(
            drive + (0.1 - drive) * np.exp(-found.time / 0.2), abs=1e-6
        )


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"events": {"e": {"when": "p > 5", "set": {"der(p)": 0}}}}, "events"),
        ({"stages": [{"ends": {"at": 0.1}, "set": {"k": 3.0}}, {}]}, "events and stages"),
        ({"tables": {"t": {"x": [0, 1], "y": [0, "lag"]}}}, "compiled by itself"),
    ],
)
def test_unsupported_ensemble_runs_one_by_one(more: dict, why: str):
    """The reason is told, the numbers are those of single runs; a table of a parameter is one that writing its register would miss."""
    name = "lag" if "tables" in more else "k"
    values = np.array([0.3, 0.5, 0.4])
    found = load(arm(**more)).compile().simulate_many({name: values}, 0.3, 0.1)
    assert "one by one" in found.engine and why in found.engine
    for k, value in enumerate(values):
        assert found["p"][k] == pytest.approx(
            load(arm(**more))
            .compile(**{name: value})
            .simulate(stop_time=0.3, output_step=0.1)["p"],
            abs=1e-12,
        )


def test_failed_ensemble_runs_are_named():
    """A mass that becomes nothing: its row is not numbers, the reason stands beside it, the others are there."""
    source = arm(events={"e": {"when": "p > 9", "set": {"der(p)": 0}}})
    source["forces"]["spring"]["value"] = "filter - k*p - 1/(k - 7)"
    found = load(source).compile().simulate_many({"k": [6.0, 7.0, 8.0]}, 0.2, 0.1)
    assert (
        list(found.failures) == [1]
        and np.isnan(found["p"][1]).any()
        and np.isfinite(found["p"][[0, 2]]).all()
    )


def test_invalid_ensembles_are_refused():
    system = load(arm()).compile()
    with pytest.raises(KeyError, match="'kk' is not a parameter; did you mean 'k'"):
        system.simulate_many({"kk": [1.0]}, 0.1)
    with pytest.raises(ValueError, match="different lengths: k 2, m 3"):
        system.simulate_many({"k": [1.0, 2.0], "m": [1.0, 2.0, 3.0]}, 0.1)
    with pytest.raises(ValueError, match="leaves its bounds"):
        system.simulate_many({"k": [-1.0, 2.0]}, 0.1)
    with pytest.raises(ValueError, match=r"GB: choose columns"):
        system.simulate_many({"k": np.ones(100_000)}, 100.0, 0.001)
    with pytest.raises(ValueError, match="cannot run in lanes"):
        load("lib:four-bar").compile().simulate_many({}, 0.1, lanes=True)


def test_ensemble_leaves_system_unchanged():
    """The last values of an ensemble stayed in the registers of the system, which later runs of it began with."""
    system = load(arm()).compile()
    before = system.simulate(stop_time=0.1)["p"]
    system.simulate_many({"k": [1.0, 30.0]}, 0.1)
    q, u = system.start()
    assert system.accelerations(0.0, q, u) == pytest.approx(
        load(arm()).compile().accelerations(0.0, q, u), rel=1e-15
    )
    assert (system.simulate(stop_time=0.1)["p"] == before).all()


HAPPENINGS = {
    "resets": {
        "events": {"e": {"when": "p > 0.1", "set": {"der(p)": "-1.5*der(p)", "k": "k + 1"}}}
    },
    "two that meet": {
        "events": {
            "a": {"when": "p > 0.05", "set": {"filter": "filter - 0.4"}},
            "b": {"when": "p < -0.02", "set": {"der(p)": "0.2 + abs(der(p))"}},
        }
    },
    "of accelerations": {"events": {"e": {"when": "haste > 1.0", "set": {"lag": "0.5*lag"}}}},
    "stages": {
        "stages": [
            {"name": "first", "ends": {"when": "p > 0.08"}, "set": {"k": 3.0}},
            {"name": "held", "ends": {"after": 0.13}, "lock": ["B"]},
            {"name": "loose", "ends": {"at": 0.75}, "free": ["B"]},
            {"name": "alone", "drop": ["b"]},
        ]
    },
}


@compiled
@pytest.mark.parametrize("case", HAPPENINGS)
def test_ensemble_lanes_pass_events_and_stages(case: str):
    """Runs in lanes stop where something happens in them and go on, elsewhere if need be: numbers are those of single runs by the same steps."""
    values = {
        "k": np.linspace(5.0, 25.0, 19),
        "p0": np.linspace(-0.4, -0.1, 19),
        "m": np.linspace(0.8, 1.5, 19),
    }
    run = {"stop_time": 1.2, "output_step": 0.02, "integrator": "rk4", "step": 0.004}
    system = load(arm(**HAPPENINGS[case])).compile()
    found = system.simulate_many(values, threads=2, **run)
    assert "19 runs in lanes of 8" in found.engine and not found.failures
    several = 0
    for k in range(19):
        single = (
            load(arm(**HAPPENINGS[case]))
            .compile(**{name: float(column[k]) for name, column in values.items()})
            .simulate(**run)
        )
        several += len(single.events) > 1
        for name in ("p", "der(p)", "filter", "height", "pull[3]"):
            assert found[name][k] == pytest.approx(single[name], rel=1e-9, abs=1e-9), (k, name)
    assert several > 9


@compiled
def test_failed_lane_is_named():
    """A law that has no number beyond an angle: the run ends there, its neighbours in the lanes do not."""
    source = arm(events={"e": {"when": "p > 0.2", "set": {"der(p)": "-der(p)"}}})
    source["forces"]["spring"]["value"] = "filter - k*p - 0.01*sqrt(0.9 - t*(k - 5))"
    found = (
        load(source)
        .compile()
        .simulate_many(
            {"k": np.array([7.0, 5.5, 5.0, 4.0])}, 1.0, 0.02, integrator="rk4", step=0.005
        )
    )
    assert (
        list(found.failures) == [0]
        and np.isfinite(found["p"][0][:20]).all()
        and np.isnan(found["p"][0]).any()
        and np.isfinite(found["p"][1:]).all()
    )


@compiled
def test_prepared_staged_ensemble_runs_are_not_recompiled():
    """The carrier with other masses: its states of rest are found and its departures carried out as if it had been compiled with them, bit for bit.

    The second module leaves in a stage of its own, so that what a stage's structure knows of the mass shows."""
    system = load("lib:carrier", modules=2).compile()
    masses, heavy = np.array([100.0, 140.0]), np.array([2800.0, 3100.0])
    found = system.simulate_many(
        {"module_mass": masses, "platform_mass": heavy},
        outputs=["pitch", "luff", "jack_load_rear_left"],
        threads=1,
    )
    assert not found.failures
    for k in range(2):
        alone = (
            load("lib:carrier", modules=2)
            .compile(module_mass=masses[k], platform_mass=heavy[k])
            .simulate()
        )
        assert len(alone.events) > 3
        for name in found.names:
            assert np.array_equal(found[name][k], alone[name])


@compiled
def test_carrier_ensemble_matches_single_runs():
    """Departures at other times in every run, modules that leave the model, states of rest before: as single runs by the same steps."""
    system = load("lib:carrier", modules=2).compile()
    values = {
        "module_mass": np.linspace(100.0, 140.0, 3),
        "platform_mass": np.array([3100.0, 2900.0, 3000.0]),
    }
    names = ["pitch", "luff", "module1_height", "jack_load_rear_left"]
    run = {"outputs": names, "threads": 1, "integrator": "rk4", "step": 0.005}
    found, alone = (system.simulate_many(values, lanes=lanes, **run) for lanes in (True, False))
    assert "lanes" in found.engine and "one by one" in alone.engine
    for name in names:
        assert found[name] == pytest.approx(
            alone[name], rel=1e-9, abs=1e-9 * np.abs(alone[name]).max()
        )


@compiled
def test_structural_ensemble_parameters_are_recompiled():
    """A parameter that a table is made of: writing its register would leave the table as it was."""
    text = arm(tables={"curve": {"x": [0.0, 1.0], "y": [0.0, "k"]}})
    text["forces"]["spring"]["value"] = "filter - table('curve', p)"
    values = {"k": np.array([5.0, 30.0])}
    found = load(text).compile().simulate_many(values, stop_time=0.5, output_step=0.1)
    assert "compiled by itself" in found.engine
    for k in range(2):
        single = load(text).compile(k=values["k"][k]).simulate(stop_time=0.5, output_step=0.1)
        assert found["p"][k] == pytest.approx(single["p"], abs=1e-7)


@compiled
def test_the_period_of_a_controller_changes_what_is_compiled():
    """Sampling is part of the structure: an ensemble over a period runs what single runs with that period are."""
    text = arm(controllers={"hold": {"measure": "p", "kp": 5.0, "period": "lag", "setpoint": 0.0}})
    text["forces"]["spring"]["value"] = "filter - k*p - 0.2*der(p) + hold"
    values = {"lag": np.array([0.05, 0.2])}
    found = load(text).compile().simulate_many(values, stop_time=0.5, output_step=0.05)
    for k in range(2):
        single = load(text).compile(lag=values["lag"][k]).simulate(stop_time=0.5, output_step=0.05)
        assert found["p"][k] == pytest.approx(single["p"], abs=1e-9)


@pytest.mark.parametrize("name", ["k", "m", "p0"])
def test_ensemble_handles_stage_ends_that_set_speeds(name: str):
    """Runs that were compiled by themselves lost what the end of a stage sets by laws of the state."""
    stages = [
        {"name": "first", "ends": {"at": 0.21}, "set": {"der(p)": "0.3 - der(p)"}},
        {"name": "second"},
    ]
    system = load(arm(stages=stages)).compile()
    values = VALUES[name][[1, 7]]
    many = system.simulate_many({name: values}, stop_time=0.5, output_step=0.05)
    for k, value in enumerate(values):
        one = (
            load(arm(stages=stages)).compile(**{name: float(value)}).simulate(0.5, output_step=0.05)
        )
        assert (
            np.abs(
                one["der(p)"]
                - load(arm())
                .compile(**{name: float(value)})
                .simulate(0.5, output_step=0.05)["der(p)"]
            ).max()
            > 0.1
        )
        for column in ("p", "der(p)", "height"):
            assert many[column][k] == pytest.approx(one[column], abs=1e-6)


@compiled
def test_varying_stop_times_are_respected():
    """All runs share their rows: an end that one of the varied numbers moves is refused, and told; given, it is the same for all."""
    d = arm(
        run={"stop_time": "0.5 + 0.1*l", "output_step": 0.05, "integrator": "rk4", "step": 0.01}
    )
    system = load(d).compile()
    assert system.simulate_many({"k": VALUES["k"]})["p"].shape == (11, 13)  # 0.57 s for all
    with pytest.raises(
        ValueError,
        match="stop_time of the runs follows from what varies .0.57 as described, 0.54 with l = 0.4.: give stop_time",
    ):
        system.simulate_many({"l": VALUES["l"]})
    found = system.simulate_many({"l": VALUES["l"]}, stop_time=0.6)
    for k, length in enumerate(VALUES["l"]):
        assert found["p"][k] == pytest.approx(
            load(d).compile(l=length).simulate(stop_time=0.6)["p"], abs=1e-11
        )
