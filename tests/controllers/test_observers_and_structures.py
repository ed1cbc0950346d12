"""Kalman filters inside mechanisms with closed loops, ball joints and changes of structure: those of the textbook where these are linear."""

from copy import deepcopy

import numpy as np
import pytest
from scipy.linalg import expm

from kinetree.models import ModelError, load
from kinetree.models.observers.estimation import EstimationProblem
from kinetree.models.observers.estimation_setup import Recorded, Sensor, Setup

PERIOD, NOISE, DENSITY = 0.05, 2e-3, 0.03
M1, M2, STIFFNESS, DAMPING, OTHER = 2.0, 1.0, 3.0, 0.4, 5.0
CARTS = {
    "format": "kinetree/1",
    "name": "carts",
    "gravity": [0, 0, 0],
    "bodies": {"a": {"mass": M1}, "b": {"mass": M2}},
    "joints": {
        "ja": {"child": "a", "type": "prismatic", "axis": "x", "coordinates": ["x"], "start": [0.3]},
        "jb": {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["y"], "start": [0.6]},
    },
    "forces": {
        "spring": {"coordinate": "x", "stiffness": STIFFNESS, "damping": DAMPING},
        "other": {"coordinate": "y", "stiffness": OTHER},
    },
    "controllers": {
        "gauge": {"kind": "sensor", "input": "x", "period": PERIOD, "noise": NOISE * (2 * PERIOD) ** 0.5, "seed": 4},
    },
    "observers": {
        "watch": {
            "period": PERIOD,
            "readings": [{"value": "x", "reads": "gauge", "noise": NOISE}],
            "estimates": {"x": "x", "v": "der(x)", "y": "y", "w": "der(y)"},
            "start": {"x": 0.1, "y": 0.2},
            "initial": {"x": 0.5, "der(x)": 0.5, "y": 0.4, "der(y)": 0.3},
            "process": {"speeds": DENSITY},
        }
    },
}  # fmt: skip


def run(description, stop=0.3, **how):
    return load(description).compile().simulate(stop_time=stop, output_step=PERIOD, **how)


def noise(hours, speeds, size):
    """Return the covariance that white noise on accelerations adds: positions are the first numbers, speeds those in `speeds`."""
    Q = np.zeros((size, size))
    for place, speed in speeds:
        Q[place, place] += DENSITY**2 * hours**3 / 3
        Q[place, speed] = Q[speed, place] = DENSITY**2 * hours**2 / 2
        Q[speed, speed] = DENSITY**2 * hours
    return Q


def corrected(x, P, reading):
    """Return estimate and covariance after a reading of the first number."""
    gain = P[:, 0] / (P[0, 0] + NOISE**2)
    return x + gain * (reading - x[0]), P - np.outer(gain, P[0])


def test_observer_of_coupled_carts_equals_filter_of_one_cart():
    """y = 2 x is a cart of mass M1 + 4 M2; deviations and noise of both are projected onto its motion, weighted by the masses."""
    table = CARTS | {"couplings": {"gear": {"value": "2*x - y"}}}
    found = run(table)
    T, masses = np.array([1.0, 2.0]), np.array([M1, M2])
    mass = (masses * T) @ T
    share = masses * T / mass
    P = np.diag([(share**2) @ [0.25, 0.16], (share**2) @ [0.25, 0.09]])
    Q = noise(PERIOD, [(0, 1)], 2) * (share @ share)
    A = expm(PERIOD * np.array([[0, 1], [-(STIFFNESS + 4 * OTHER) / mass, -DAMPING / mass]]))
    x = np.array([0.1, 0.0])
    x, P = corrected(x, P, found["gauge"][1])
    first = found["watch.x"][1] - x[0]
    assert found["watch.x"][1] == pytest.approx(x[0], abs=1e-4) and abs(first) > 0.0
    x = np.array([found["watch.x"][1], found["watch.v"][1]])
    for k, reading in enumerate(found["gauge"][2:], 2):
        x, P = corrected(A @ x, A @ P @ A.T + Q, reading)
        assert found["watch.x"][k] == pytest.approx(x[0], abs=1e-9)
        assert found["watch.w"][k] == pytest.approx(2 * x[1], abs=1e-8)
        assert found["watch.x.std"][k] == pytest.approx(P[0, 0] ** 0.5, rel=1e-6)
        assert found["watch.w.std"][k] == pytest.approx(2 * P[1, 1] ** 0.5, rel=1e-6)


def test_lock_transfers_estimate_by_momentum():
    """Two carts, one on the other, lock at 0.12 s: the common speed follows from the momenta, what was not known of their distance stays so."""
    table = deepcopy(CARTS)
    table["joints"]["jb"] |= {"parent": "a", "start": [-0.2]}
    table["stages"] = [{"name": "apart", "ends": {"after": 0.12}, "lock": ["jb"]}, {"name": "one"}]
    found = run(table)
    M = np.array([[M1 + M2, M2], [M2, M2]])
    F, both = np.zeros((4, 4)), M1 + M2
    F[:2, 2:] = np.eye(2)
    F[2:] = -np.linalg.solve(M, [[STIFFNESS, 0, DAMPING, 0], [0, OTHER, 0, 0]])
    after = np.array([[0, 1, 0], [-STIFFNESS / both, -DAMPING / both, 0], [0, 0, 0]])
    lock = np.array([[1, 0, 0, 0], [0, 0, 1, M2 / both], [0, 1, 0, 0]])
    x, P = np.array([0.1, 0.2, 0, 0]), np.diag([0.25, 0.16, 0.25, 0.09])
    pairs, fewer = [(0, 2), (1, 3)], [(0, 1)]
    for k in (1, 2, 3):
        if k > 1:
            A = expm(PERIOD * F)
            x, P = A @ x, A @ P @ A.T + noise(PERIOD, pairs, 4)
        x, P = corrected(x, P, found["gauge"][k])
    A = expm(0.02 * F)
    x, P = A @ x, A @ P @ A.T + noise(0.02, pairs, 4)
    x, P = lock @ x, lock @ P @ lock.T
    A = expm(0.03 * after)
    x, P = A @ x, A @ P @ A.T + noise(0.03, fewer, 3)
    x, P = corrected(x, P, found["gauge"][4])
    got = [found[f"watch.{key}"][4] for key in ("x", "v", "y")]
    assert got == pytest.approx(x.tolist(), abs=1e-6)
    spread = [found[f"watch.{key}.std"][4] for key in ("x", "v", "y")]
    assert spread == pytest.approx(np.sqrt(np.diag(P)).tolist(), rel=1e-5)
    assert spread[2] > 0.3 and found["watch.w.std"][4] == 0.0


def test_estimate_of_released_body_is_kept():
    """A body that is let go has six degrees of freedom; place and speed of it keep their deviations, which grow with the time."""
    table = deepcopy(CARTS)
    table["joints"]["jb"] |= {"parent": "a", "start": [-0.2], "speed": [0.5]}
    table["bodies"]["b"]["inertia"] = [1, 1, 1, 0, 0, 0]
    table["forces"].pop("other")
    table["outputs"] = {
        "place": {"quantity": "position", "body": "b", "axis": "x"},
        "rate": {"quantity": "velocity", "body": "b", "axis": "x"},
    }
    watch = table["observers"]["watch"]
    watch["estimates"] = {"place": "place", "rate": "rate", "x": "x"}
    watch["start"] = {}
    watch["process"] = {"speeds": 0.0}
    table["stages"] = [{"name": "held", "ends": {"after": 0.12}, "free": ["jb"]}, {"name": "flies"}]
    found = run(table, 0.5)
    assert found["watch.place"][4:] - found["place"][3:-1] == pytest.approx(
        np.zeros(7), abs=3 * found["watch.place.std"].max()
    )
    variance, late = found["watch.place.std"] ** 2, slice(4, None)
    times = np.arange(len(variance))[late] * PERIOD
    fitted = np.polyfit(times, variance[late], 2)  # of constant speed: a square of the time
    assert np.polyval(fitted, times) == pytest.approx(variance[late], rel=1e-6)
    assert fitted[0] == pytest.approx(found["watch.rate.std"][-1] ** 2, rel=1e-3)
    assert found["watch.rate.std"][late] == pytest.approx(
        np.full(7, found["watch.rate.std"][-1]), rel=5e-3
    )


BALL = {
    "format": "kinetree/1",
    "name": "ball",
    "bodies": {"top": {"mass": 1.0, "com": [0.2, 0, -0.5], "inertia": [0.3, 0.2, 0.1, 0, 0, 0]}},
    "joints": {"j": {"child": "top", "type": "spherical", "speed": [0.5, -0.7, 2.0]}},
    "outputs": {
        "a": {"quantity": "position", "body": "top", "point": [0, 0, 1], "axis": "x"},
        "b": {"quantity": "position", "body": "top", "point": [1, 0, 0], "axis": "y"},
    },
}
TURN, SPIN = ("j.turn_x", "j.turn_y", "j.turn_z"), ("j.wx", "j.wy", "j.wz")


def test_ball_joint_rotation_estimate_matches_filter_on_record():
    """That one moves by rotation vectors; half of their deviation is that of the quaternion."""
    period, guess = 2e-3, dict(zip(SPIN, (0.3, -0.5, 1.8), strict=True))
    watch = {
        "period": period,
        "readings": [{"value": "a", "noise": 1e-3}, {"value": "b", "noise": 1e-3}],
        "estimates": {"wx": "j.wx", "wz": "j.wz", "one": "j.qw**2 + j.qx**2 + j.qy**2 + j.qz**2"},
        "start": guess,
        "initial": dict.fromkeys(("j.qw", "j.qx", "j.qy", "j.qz"), 0.01) | dict.fromkeys(SPIN, 0.3),
        "process": {"speeds": 0.02},
    }
    how = {"stop_time": 0.1, "output_step": period, "integrator": "rk4", "step": period}
    inside = load(BALL | {"observers": {"watch": watch}}).compile().simulate(**how)
    truth = load(BALL).compile().simulate(**how)
    setup = Setup(
        (Sensor("a", 1e-3), Sensor("b", 1e-3)), start=guess, process={"speeds": 0.02},
        start_deviations=dict.fromkeys(TURN, 0.02) | dict.fromkeys(SPIN, 0.3),
    )  # fmt: skip
    record = Recorded(truth.time, {"a": truth["a"], "b": truth["b"]})
    outside = EstimationProblem(load(BALL).compile(), setup).run(record)
    for key in ("wx", "wz"):
        mine, theirs = inside[f"watch.{key}"][1:], outside[f"j.{key}"][1:-1]
        assert mine == pytest.approx(theirs, abs=0.01)
        spread = outside.deviation(f"j.{key}")[1:-1]
        assert inside[f"watch.{key}.std"][1:] == pytest.approx(spread, rel=0.02)
    assert inside["watch.wz.std"][-1] < 0.02
    assert inside["watch.one"][1:] == pytest.approx(np.ones(50), abs=1e-12)


def test_observer_estimates_link_length_in_closed_loop():
    """A coupling with an estimated ratio: what depends on it moves with the estimate, so that the loop stays closed."""
    table = CARTS | {
        "parameters": {"ratio": {"value": 2.0, "tunable": True}},
        "couplings": {"gear": {"value": "ratio*x - y"}},
    }
    watch = deepcopy(CARTS["observers"]["watch"])
    watch["readings"].append({"value": "y", "noise": 1e-3})
    watch["parameters"] = {"ratio": {"start": 1.8, "std": 0.3}}
    watch["estimates"]["gap"] = "ratio*x - y"
    found = run(table | {"observers": {"watch": watch}}, 1.5)
    assert found["watch.ratio"][-1] == pytest.approx(2.0, abs=4 * found["watch.ratio.std"][-1])
    assert found["watch.ratio.std"][-1] < 0.02
    assert found["watch.gap"][1:] == pytest.approx(np.zeros(30), abs=1e-9)


def test_small_numbers_are_estimated_as_large_ones():
    """A damper in units a hundred million times larger: the same estimate, in these units."""
    found = []
    for scale in (1.0, 1e-8):
        table = deepcopy(CARTS)
        table["parameters"] = {"rub": {"value": DAMPING * scale, "tunable": True}}
        table["forces"]["spring"]["damping"] = f"rub*{1 / scale}"
        watch = table["observers"]["watch"]
        watch["parameters"] = {"rub": {"start": 0.8 * scale, "std": 0.5 * scale}}
        result = run(table, 2.0)
        found.append(np.array([result["watch.rub"], result["watch.rub.std"]]) / scale)
    assert found[1] == pytest.approx(found[0], rel=1e-6)
    assert found[0][1, -1] < 0.4


def test_stage_that_sets_a_speed_is_refused_by_name():
    table = deepcopy(CARTS)
    table["stages"] = [{"name": "one", "ends": {"after": 0.1}, "set": {"der(x)": 0.0}}, {"name": "two"}]  # fmt: skip
    with pytest.raises(ModelError, match=r"sets 'der\(x\)'"):
        load(table)
