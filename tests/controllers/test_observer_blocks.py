"""Kalman filters inside mechanisms: that of the textbook for a linear one; parameters, forces and offsets; control by estimates."""

import numpy as np
import pytest
from scipy.linalg import expm

from kinetree.models import ModelError, load

STIFFNESS, DAMPING, MASS, PERIOD = 3.0, 0.4, 2.0, 0.05
NOISE, DENSITY = 2e-3, 0.03
CART = {
    "format": "kinetree/1",
    "name": "cart",
    "gravity": [0, 0, 0],
    "parameters": {"mass": {"value": MASS, "tunable": True}, "tare": 1.0},
    "inputs": {"push": {"start": 0.0}},
    "bodies": {"cart": {"mass": "mass"}},
    "joints": {
        "slide": {"child": "cart", "type": "prismatic", "axis": "x", "coordinates": ["x"], "start": [0.3]}
    },
    "forces": {
        "spring": {"coordinate": "x", "stiffness": STIFFNESS, "damping": DAMPING},
        "pushed": {"coordinate": "x", "value": "push"},
    },
    "actuators": {"motor": {"coordinate": "x"}},
    "controllers": {
        "gauge": {"kind": "sensor", "input": "x", "period": PERIOD, "noise": NOISE * (2 * PERIOD) ** 0.5, "seed": 4},
        "shaker": {"kind": "sensor", "input": "2*sin(2*t)", "period": PERIOD, "drives": "motor"},
    },
}  # fmt: skip


def cart(**more) -> dict:
    watch = {
        "period": PERIOD,
        "readings": [{"value": "x", "reads": "gauge", "noise": NOISE}],
        "estimates": {"x": "x", "v": "der(x)"},
        "start": {"x": 0.0},
        "initial": {"x": 0.5, "der(x)": 0.5},
        "process": {"speeds": DENSITY},
    }
    return {**CART, "observers": {"watch": watch | more}}


def run(description, stop=1.0, step=PERIOD, **how):
    return load(description).compile().simulate(stop_time=stop, output_step=step, **how)


def kalman(readings, commands):
    """Return estimates and deviations of the Kalman filter of the sampled cart: readings and the commands held before them."""
    both = np.zeros((3, 3))
    both[:2] = [[0, 1, 0], [-STIFFNESS / MASS, -DAMPING / MASS, 1 / MASS]]
    whole = expm(PERIOD * both)
    A, B, C = whole[:2, :2], whole[:2, 2], np.array([1.0, 0.0])
    Q = DENSITY**2 * np.array([[PERIOD**3 / 3, PERIOD**2 / 2], [PERIOD**2 / 2, PERIOD]])
    x, P, found = np.zeros(2), 0.25 * np.eye(2), []
    for k, (y, u) in enumerate(zip(readings, commands, strict=True)):
        if k:
            x, P = A @ x + B * u, A @ P @ A.T + Q
        gain = P @ C / (C @ P @ C + NOISE**2)
        x, P = x + gain * (y - C @ x), P - np.outer(gain, C @ P)
        found.append((*x, *np.sqrt(np.diag(P))))
    return np.array(found)


def test_observer_of_linear_mechanism_equals_kalman_filter():
    """Rows lie between samples: the estimate of a row is that of the sample a hundredth of a period before it."""
    found = run(cart(), 1.0, PERIOD, start_time=0.0)
    late = slice(1, None)
    readings = found["gauge"][late]
    wanted = kalman(readings, np.concatenate(([0.0], found["shaker"][1:-1])))
    got = np.array([found[f"watch.{key}"][late] for key in ("x", "v", "x.std", "v.std")]).T
    assert got[0, 0] == pytest.approx(wanted[0, 0], rel=1e-9)
    assert got == pytest.approx(wanted, abs=2e-8)


def test_observer_estimates_parameter_and_unknown_force():
    more = {
        "parameters": {"mass": {"start": 3.5, "std": 1.0, "min": 0.5}},
        "unknowns": {"push": {"std": 2.0, "walk": 0.1}},
    }
    table = cart(**more)
    table["inputs"] = {"push": {"start": 1.5}}
    found = run(table, 20.0)
    mass, push = found["watch.mass"][-1], found["watch.push"][-1]
    assert mass == pytest.approx(MASS, abs=4 * found["watch.mass.std"][-1])
    assert push == pytest.approx(1.5, abs=4 * found["watch.push.std"][-1])
    assert found["watch.mass.std"][-1] < 0.05 and found["watch.push.std"][-1] < 0.3
    assert 0.7 < found["watch.nis"][40:].mean() < 1.3


def test_estimates_scale_with_the_mechanism():
    """A cart of a hundred times the mass on a hundred times the spring moves alike, and a hundred times the mass is found."""
    found = []
    for scale in (1.0, 100.0):
        more = {"parameters": {"mass": {"start": 3.5 * scale, "std": scale, "walk": 0.01 * scale}}}
        table = cart(**more)
        table["parameters"] = {"mass": {"value": MASS * scale, "tunable": True}}
        spring = {"coordinate": "x", "stiffness": STIFFNESS * scale, "damping": DAMPING * scale}
        table["forces"] = {
            "spring": spring,
            "pushed": {"coordinate": "x", "value": f"{scale}*push"},
        }
        shaker = {**CART["controllers"]["shaker"], "input": f"{2 * scale}*sin(2*t)"}
        table["controllers"] = {**CART["controllers"], "shaker": shaker}
        result = run(table, 3.0)
        found.append(np.array([result["watch.mass"], result["watch.mass.std"]]) / scale)
        found[-1][0, 0] = 0.0
    assert found[1] == pytest.approx(found[0], rel=1e-6, abs=1e-9)


def test_absent_force_is_estimated_as_zero():
    more = {"unknowns": {"gust": {"coordinate": "x", "std": 1.0, "walk": 0.05}}}
    found = run(cart(**more), 10.0)
    assert abs(found["watch.gust"][-1]) < 4 * found["watch.gust.std"][-1] < 1.0


def test_sensor_bias_is_not_estimated_as_motion():
    """Two sensors, one with an offset: the estimate follows the other."""
    right = {"value": "x", "reads": "gauge", "noise": NOISE}
    wrong = {"value": "x", "reads": "gauge + 0.1", "noise": NOISE, "bias": 1.0}
    table = cart(readings=[right, wrong])
    found = run(table, 5.0)
    assert found["watch.x"][-1] == pytest.approx(found["x"][-2], abs=0.01)


def test_observer_ignores_lost_readings():
    """A reading that is not a number changes nothing but the deviation, which grows."""
    table = cart(
        readings=[{"value": "x", "reads": "gauge*sqrt(1 + 1e9*min(0.51 - t, 0))", "noise": NOISE}]
    )
    found = run(table, 1.5)
    assert np.isfinite(found["watch.x"]).all()
    assert found["watch.x.std"][-1] > 2.0 * found["watch.x.std"][10]


def test_predictive_controller_plans_from_estimates():
    """It reads nothing but the sensor, and brings the cart to its setpoint."""
    table = cart()
    table["controllers"] = {
        "gauge": CART["controllers"]["gauge"],
        "mpc": {
            "period": PERIOD, "step": 0.1, "horizon": 15, "observer": "watch",
            "track": [{"value": "x", "setpoint": 0.5, "weight": 20}, {"value": "der(x)", "weight": 1}],
            "commands": {"force": {"drives": "motor", "low": -5, "high": 5, "target": 0.5 * STIFFNESS, "weight": 0.01}},
        },
    }  # fmt: skip
    found = run(table, 6.0)
    assert found["x"][-1] == pytest.approx(0.5, abs=0.02)
    blind = {
        **table,
        "observers": {"watch": {**table["observers"]["watch"], "estimates": {"x": "x"}}},
    }
    with pytest.raises(ValueError, match=r"does not estimate der\(x\)"):
        run(blind, 0.1)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"period": 0.0}, "watch.period"),
        ({"readings": []}, "watch.readings"),
        ({"readings": [{"value": "x", "noise": 0.0}]}, "noise"),
        ({"readings": [{"value": "y", "noise": 1.0}]}, "y"),
        ({"estimates": {}}, "nothing that is estimated"),
        ({"estimates": {"a b": "x"}}, "the name 'a b'"),
        ({"parameters": {"mas": {"std": 1.0}}}, "mas"),
        ({"parameters": {"mass": {"std": 0.0}}}, "mass.std"),
        ({"unknowns": {"gust": {"std": 1.0}}}, "no coordinate"),
        ({"unknowns": {"gust": {"std": 1.0, "coordinate": "z"}}}, "'z'"),
    ],
)
def test_unsupported_observer_settings_are_refused(more: dict, told: str):
    with pytest.raises(ModelError) as caught:
        load(cart(**more))
    assert told in str(caught.value)
