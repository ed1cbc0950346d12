"""Controllers take part in small motions about every state: the start, a given one, an instant."""

import math

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.analysis.frequency_response import StateSpace
from kinetree.models.analysis.operating_point import linear_at_rest, linear_at_time
from kinetree.models.analysis.sampled_loops import held_plant

M, K, D = 2.0, 30.0, 1.5
PID = {"kind": "pid", "measure": "x", "kp": 20, "ki": 15, "kd": 1.0, "filter": 0.01, "drives": "m"}


def slider(controller: dict, start: float = 0.0, **more) -> dict:
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "inputs": {"f": 0.0},
        "parameters": {"k": K},
        "bodies": {"b": {"mass": M, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {
            "j": {
                "child": "b", "type": "prismatic", "axis": "x", "coordinates": ["x"],
                "start": [start],
            }
        },
        "forces": {
            "s": {"coordinate": "x", "stiffness": "k", "damping": D},
            "i": {"coordinate": "x", "value": "f"},
        },
        "actuators": {"m": {"coordinate": "x"}},
        "controllers": {"c": controller},
        "outputs": {"X": "x"},
    } | more  # fmt: skip


def closed(k: float = K) -> np.ndarray:
    """The loop of `PID` by hand: x, v, filtered error, integral."""
    T = PID["filter"]
    kp, ki, kd = PID["kp"], PID["ki"], PID["kd"]
    return np.array(
        [
            [0, 1, 0, 0],
            [-(k + kp + kd / T) / M, -D / M, -kd / T / M, 1 / M],
            [-1 / T, 0, -1 / T, 0],
            [-ki, 0, 0, 0],
        ]
    )


def by_size(values: np.ndarray) -> np.ndarray:
    return np.sort_complex(np.asarray(values, dtype=complex))


@pytest.mark.parametrize("how", ["rest", "start", "moved", "time 0", "time"])
def test_linearisation_includes_states_of_continuous_controllers(how: str):
    system = load(slider(PID, start=0.2)).compile()
    linear = {
        "rest": lambda: linear_at_rest(system),
        "start": lambda: system.linearize(),
        "moved": lambda: system.linearize(q=[0.7], u=[0.1], states={"c.integral": 2.0}),
        "time 0": lambda: linear_at_time(system, 0.0),
        "time": lambda: linear_at_time(system, 0.35),
    }[how]()
    assert set(linear.states) == {"x", "der(x)", "c.integral", "c.filtered"}
    assert by_size(linear.eigenvalues) == pytest.approx(by_size(np.linalg.eigvals(closed())))
    assert linear.outputs == system.linearize().outputs


@pytest.mark.parametrize(
    "controller",
    [
        PID | {"setpoint": 0.5},
        {"kind": "lead-lag", "measure": "x", "gain": 9.0, "lead": 0.2, "lag_time": 0.05, "drives": "m"},
        {"kind": "notch", "measure": "x", "gain": 9.0, "frequency": 2.0, "width": 0.4, "drives": "m"},
        PID | {"rate": 100.0, "lag": 0.01, "setpoint": 0.1},
    ],
)  # fmt: skip
def test_linearised_controller_memory_matches_run_start(controller: dict):
    """What is linearised at the start is what the run is a moment later."""
    system = load(slider(controller, start=0.2)).compile()
    start, later = system.linearize(), linear_at_time(system, 1e-4)
    assert start.states == later.states
    assert start.A == pytest.approx(later.A, rel=1e-9, abs=1e-9)
    for name in ("c.filtered", "c.slow", "c.swing", "c.limited"):
        assert abs(start.changing.get(name, 0.0)) < 1e-9


def test_linearisation_in_a_later_stage_uses_its_parameters():
    stages = [{"name": "a", "ends": {"at": 0.2}, "set": {"k": 90.0}}, {"name": "b"}]
    system = load(slider(PID, start=0.2, stages=stages)).compile()
    found = linear_at_time(system, 0.3).eigenvalues
    assert by_size(found) == pytest.approx(by_size(np.linalg.eigvals(closed(90.0))))


@pytest.mark.parametrize("how", ["rest", "start", "time"])
def test_sampled_controllers_enter_linearisation(how: str):
    """The eigenvalues are near the logarithms of those from sample to sample."""
    T = 0.002
    law = {"kind": "pid", "measure": "x", "kp": 20, "ki": 15, "drives": "m", "period": T}
    system = load(slider(law, start=0.2)).compile()
    linear = {
        "rest": lambda: linear_at_rest(system),
        "start": lambda: system.linearize(),
        "time": lambda: linear_at_time(system, 0.35),
    }[how]()
    assert linear.sampled == {"c": T} and any("'c'" in each for each in linear.about)
    plant = held_plant(
        StateSpace(*map(np.array, ([[0, 1], [-K / M, -D / M]], [[0], [1 / M]], [[1, 0]], [[0]]))),
        T,
    )
    n = len(plant.A)
    A = np.zeros((n + 1, n + 1))  # the plant, and the integral from sample to sample
    A[:n, :n] = plant.A - (20 + 15 * T) * plant.B @ plant.C
    A[:n, n:] = plant.B
    A[n, :n] = -15 * T * plant.C[0]
    A[n, n] = 1.0
    values = np.linalg.eigvals(A)
    exact = np.log(values[np.abs(values) > 0.5].astype(complex)) / T
    for value in linear.eigenvalues:
        assert np.abs(exact - value).min() < 0.02 * max(abs(value), 1.0)


def test_sampled_commands_can_be_outputs_of_a_linearisation():
    law = {"kind": "pid", "measure": "x", "kp": 20, "drives": "m", "period": 0.01}
    system = load(slider(law)).compile()
    linear = system.linearize(outputs=["c.command", "X"])
    assert linear.C[:, linear.states.index("x")] == pytest.approx([-20.0, 1.0])


def test_unknown_states_are_refused_by_name():
    system = load(slider(PID)).compile()
    with pytest.raises(KeyError, match=r"c\.intergal"):
        system.linearize(states={"c.intergal": 1.0})
    assert not math.isnan(system.linearize(states={"c.begun": 1.0}).A[0, 0])
