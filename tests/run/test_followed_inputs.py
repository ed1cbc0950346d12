"""Motions that inputs give, in transforms and couplings: with rates by further inputs, or filtered; against the same motion over time."""

import json
import math

import numpy as np
import pytest
from fmpy import simulate_fmu

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import Signal, load
from kinetree.models.language.errors import ModelError
from kinetree.scripts.cli import main

BODY = {"mass": 2.0, "com": [0.1, 0, -0.2], "inertia": [0.1, 0.2, 0.15, 0, 0, 0]}


def shaker(move: dict, **more) -> dict:
    """A pendulum on a slider on a table that moves along x and tips about y, each by what `move` says."""
    joints = {
        "table": {
            "child": "table",
            "transforms": [{"shift": "x", **move}, {"rotate": "y", **move}],
        },
        "slide": {
            "parent": "table",
            "child": "slider",
            "transforms": [{"shift": "x", "coordinate": "s"}],
        },
        "hinge": {
            "parent": "slider",
            "child": "arm",
            "transforms": [{"rotate": "y", "coordinate": "a", "start": 0.3}],
        },
    }
    forces = {"spring": {"coordinate": "s", "stiffness": 40.0, "damping": 1.0}}
    return {
        "format": "kinetree/1",
        "name": "shaker",
        "bodies": dict.fromkeys(("table", "slider", "arm"), BODY),
        "joints": joints,
        "forces": forces,
        **more,
    }


def sway(t: float) -> float:
    return 0.2 * math.sin(5.0 * t)


INPUTS = {"deck": {"start": 0.0}, "deck_rate": {"start": 1.0}, "deck_acceleration": {"start": 0.0}}
RATES = {"input": "deck", "rate": "deck_rate", "acceleration": "deck_acceleration"}
MOTION = {
    "deck": sway,
    "deck_rate": lambda t: math.cos(5.0 * t),
    "deck_acceleration": lambda t: -5.0 * math.sin(5.0 * t),
}


def test_prescribed_motion_by_input_rates_matches_time_function():
    """The three inputs together are the motion: coordinates, reactions and energies are those of the function of time."""
    right = (
        load(shaker({"by": "0.2*sin(5*t)"}))
        .compile()
        .simulate(stop_time=1.0, output_step=0.05, tolerance=1e-9)
    )
    found = (
        load(shaker({"follow": RATES}, inputs=INPUTS))
        .compile()
        .simulate(stop_time=1.0, output_step=0.05, inputs=MOTION, tolerance=1e-9)
    )
    for name in ("s", "a", "der(s)", "der(a)"):
        assert found[name] == pytest.approx(right[name], abs=1e-6)
    assert found["reaction('table')"][1:] == pytest.approx(right["reaction('table')"][1:], rel=1e-5)


def test_input_filter_matches_its_equation():
    """r̈ = ω² (s - r) - 2 ζ ω ṙ: a table driven by the filter moves as one by its closed form after a step of the input."""
    haste, damping = 12.0, 0.6
    follow = {"input": "deck", "bandwidth": "haste", "damping": "damping"}
    parameters = {"haste": haste, "damping": damping}
    model = shaker(
        {"follow": follow},
        inputs={"deck": 0.0},
        parameters=parameters,
        outputs={"x": {"quantity": "position", "body": "table", "axis": "x"}},
    )
    found = (
        load(model)
        .compile()
        .simulate(stop_time=1.0, output_step=0.05, inputs={"deck": 0.1}, tolerance=1e-10)
    )
    fast = haste * math.sqrt(1 - damping**2)
    closed = f"0.1*(1 - exp(-{damping * haste}*t)*(cos({fast}*t) + {damping * haste / fast}*sin({fast}*t)))"
    right = (
        load(shaker({"by": closed}))
        .compile()
        .simulate(stop_time=1.0, output_step=0.05, tolerance=1e-10)
    )
    t = found.time
    way = 0.1 * (
        1
        - np.exp(-damping * haste * t)
        * (np.cos(fast * t) + damping * haste / fast * np.sin(fast * t))
    )
    assert found["x"] == pytest.approx(way, abs=1e-9) and found["deck.reference"] == pytest.approx(
        way, abs=1e-9
    )
    assert found["a"] == pytest.approx(right["a"], abs=1e-7) and found["s"] == pytest.approx(
        right["s"], abs=1e-7
    )
    assert np.ptp(found["energy_residual"]) < 1e-6


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_followed_inputs_work_in_fmu_hosts(kind: str, tmp_path):
    """A host that gives a ramp of 0.5 m/s: the table follows at a distance of 2 ζ/ω times the speed, in both kinds of FMU."""
    haste, speed = 40.0, 0.5
    model = shaker({"follow": {"input": "deck", "bandwidth": haste}}, inputs={"deck": 0.0})
    model["outputs"] = {"x": {"quantity": "position", "body": "table", "axis": "x"}}
    path = build_fmu(load(model), tmp_path / "deck.fmu", "native")
    given = np.array(
        [(t, speed * t) for t in np.linspace(0, 1, 1001)], dtype=[("time", float), ("deck", float)]
    )
    found = simulate_fmu(
        str(path),
        stop_time=1.0,
        fmi_type=kind,
        input=given,
        output=["x", "a"],
        output_interval=1e-3,
        relative_tolerance=1e-7,
    )
    assert found["x"][-1] == pytest.approx(
        speed * (1.0 - 2.0 / haste), abs=speed * 2e-3
    )  # held inputs are a step late


@pytest.mark.parametrize(
    "follow, match",
    [
        ({"input": "deck"}, "rate.*bandwidth|bandwidth"),
        ({"input": "deck", "rate": "deck_rate"}, "acceleration"),
        ({"input": "dekc", "bandwidth": 1.0}, "dekc"),
        ({"input": "deck", "bandwidth": 0.0}, "above 0"),
        ({"input": "deck", "bandwidth": 1.0, "rate": "deck_rate"}, "beside bandwidth"),
    ],
)
def test_unknowable_input_rates_are_refused(follow: dict, match: str):
    with pytest.raises(ModelError, match=match):
        load(shaker({"follow": follow}, inputs=INPUTS))
    with pytest.raises(ModelError, match="one of them"):
        load(shaker({"follow": RATES, "by": 0.1}, inputs=INPUTS))


# -- couplings ------------------------------------------------------------------------------------------------------------------------------
def driven(move: dict | None, relation: dict | str | None = None, **more) -> dict:
    """A pendulum on a table: the table moves as `move` says, or by a relation of its coordinate x."""
    way = {"shift": "x", **(move or {"coordinate": "x"})}
    joints = {
        "way": {"child": "table", "transforms": [way]},
        "hinge": {
            "parent": "table",
            "child": "arm",
            "transforms": [{"rotate": "y", "coordinate": "a", "start": 0.3}],
        },
    }
    couplings = {} if relation is None else {"couplings": {"drive": relation}}
    return {
        "format": "kinetree/1",
        "name": "driven",
        "bodies": dict.fromkeys(("table", "arm"), BODY),
        "joints": joints,
        **couplings,
        **more,
    }


BY_RATES = {"value": "x - deck", "follow": [RATES]}
BY_FILTER = {"value": "x - deck", "follow": [{"input": "deck", "bandwidth": 12.0, "damping": 0.6}]}


def test_coupling_follows_input_with_given_rates():
    """The same motion as a transform that is a function of time, and the same force along the way."""
    right = (
        load(driven({"by": "0.2*sin(5*t)"}))
        .compile()
        .simulate(stop_time=1.0, output_step=0.05, tolerance=1e-9)
    )
    found = (
        load(driven(None, BY_RATES, inputs=INPUTS))
        .compile()
        .simulate(stop_time=1.0, output_step=0.05, inputs=MOTION, tolerance=1e-9)
    )
    assert found["a"] == pytest.approx(right["a"], abs=1e-6)
    assert np.abs(found["force('drive')"])[1:] == pytest.approx(
        np.abs(right["reaction('way')[1]"])[1:], rel=1e-4, abs=1e-3
    )


@pytest.mark.parametrize("cut", [{}, {"output_step": 0.2}])
def test_coupling_follows_filtered_input(cut: dict):
    """The filter of a coupling is that of a transform, whatever the input does: a jump in the middle of the run."""
    deck = Signal(lambda t: 0.1 if t < 0.513 else -0.05, jumps=[0.513])
    options = {
        "stop_time": 1.0,
        "output_step": 0.05,
        "inputs": {"deck": deck},
        "tolerance": 1e-10,
    } | cut
    right = (
        load(driven({"follow": BY_FILTER["follow"][0]}, inputs={"deck": 0.0}))
        .compile()
        .simulate(**options)
    )
    found = load(driven(None, BY_FILTER, inputs={"deck": 0.0})).compile().simulate(**options)
    assert found["x"] == pytest.approx(right["deck.reference"], abs=1e-9)
    assert (
        found["a"] == pytest.approx(right["a"], abs=1e-8)
        and np.ptp(found["energy_residual"]) < 1e-6
    )


def test_input_rates_apply_to_all_couplings():
    """A second relation takes the rates that the first one tells; a relation of speeds needs no acceleration."""
    second = {"value": "y - 2*deck"}
    d = driven(None, BY_RATES, inputs=INPUTS)
    d["bodies"]["rider"], d["couplings"]["other"] = BODY, second
    d["joints"]["ride"] = {"child": "rider", "transforms": [{"shift": "y", "coordinate": "y"}]}
    system = load(d).compile()
    assert system.warnings == ()
    values = {"deck": 0.1, "deck_rate": 0.7, "deck_acceleration": -0.4}
    found = system.simulate(stop_time=0.0, inputs=values)
    for name, factor in (("x", 1.0), ("y", 2.0)):
        assert found[name][0] == pytest.approx(0.1 * factor) and found[f"der({name})"][
            0
        ] == pytest.approx(0.7 * factor)
        assert found[f"der(der({name}))"][0] == pytest.approx(-0.4 * factor)
    speed = {
        "value": "der(x) - deck_rate",
        "follow": [{"input": "deck_rate", "rate": "deck_acceleration"}],
    }
    found = (
        load(driven(None, speed, inputs=INPUTS)).compile().simulate(stop_time=0.0, inputs=values)
    )
    assert found["der(x)"][0] == pytest.approx(0.7) and found["der(der(x))"][0] == pytest.approx(
        -0.4
    )


@pytest.mark.parametrize("relation", [BY_RATES, BY_FILTER])
@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_coupling_of_inputs_works_in_fmu_hosts(kind: str, relation: dict, tmp_path):
    """A host that holds its inputs: what is left halves with its step, and the coupling moves as the transform does."""
    inputs = INPUTS if relation is BY_RATES else {"deck": 0.0}
    models = (
        driven(None, relation, inputs=inputs),
        driven({"follow": relation["follow"][0]}, inputs=inputs),
    )
    coupled, moved = (
        build_fmu(load(model), tmp_path / f"{k}.fmu", "native") for k, model in enumerate(models)
    )

    def run(path, step: float) -> np.ndarray:
        times = np.linspace(0, 1, round(1 / step) + 1)
        given = np.array(
            [(t, *(MOTION[name](t) for name in inputs)) for t in times],
            dtype=[("time", float), *((name, float) for name in inputs)],
        )
        found = simulate_fmu(
            str(path),
            stop_time=1.0,
            fmi_type=kind,
            input=given,
            output=["a"],
            output_interval=step,
            relative_tolerance=1e-6,
        )
        return found["a"][:: round(0.1 / step)]

    if relation is BY_FILTER:
        bound = (
            1e-5 if kind == "CoSimulation" else 1e-3
        )  # the host's method of many steps is not told of a hundred jumps of its input
        assert run(coupled, 0.01) == pytest.approx(run(moved, 0.01), abs=bound)
        return
    right = (
        load(driven({"by": "0.2*sin(5*t)"}))
        .compile()
        .simulate(stop_time=1.0, output_step=0.1, tolerance=1e-9)["a"]
    )
    errors = [np.abs(run(coupled, step) - right).max() for step in (0.02, 0.01)]
    assert errors[0] < 0.1 and errors[1] < 0.65 * errors[0]


def test_inputs_without_rates_are_named(tmp_path, capsys):
    """By `check`, by a run and where the FMU is packed; rates of a held input are what is lacking."""
    path = tmp_path / "driven.json"
    path.write_text(json.dumps(driven(None, "x - deck", inputs={"deck": 0.0})))
    assert "'deck' as it is: where it jumps the mechanism jumps" in " ".join(
        load(path).compile().warnings
    )
    assert main(["fmu", str(path), "-o", str(tmp_path / "driven.fmu"), "--backend", "native"]) == 0
    assert "hosts that give no derivatives of inputs move it wrongly" in capsys.readouterr().err
    assert load(driven(None, BY_FILTER, inputs={"deck": 0.0})).compile().warnings == ()


@pytest.mark.parametrize(
    "relation, match",
    [
        ({"value": "x - deck", "follow": [{"input": "deck"}]}, "bandwidth"),
        (
            {"value": "x - deck", "follow": [{"input": "deck", "rate": "deck_rate"}]},
            "in a relation of positions",
        ),
        (
            {"value": "x - deck", "follow": [{"input": "deck", "acceleration": "deck_rate"}]},
            "without rate",
        ),
        (
            {"value": "x - deck", "follow": [{"input": "deck_rate", "bandwidth": 3.0}]},
            "that the relation contains",
        ),
        ({"value": "x - deck", "follow": [{"input": "dekc", "bandwidth": 3.0}]}, "dekc"),
        (
            {
                "value": "x - deck",
                "follow": [
                    {"input": "deck", "bandwidth": 3.0},
                    {"input": "deck", "bandwidth": 4.0},
                ],
            },
            "in two ways",
        ),
        (
            {
                "blade": {"body": "table", "normal": "y"},
                "follow": [{"input": "deck", "bandwidth": 3.0}],
            },
            "that the relation contains",
        ),
    ],
)
def test_invalid_followed_inputs_of_couplings_are_refused(relation: dict, match: str):
    with pytest.raises(ModelError, match=match):
        load(driven(None, relation, inputs=INPUTS)).compile()
