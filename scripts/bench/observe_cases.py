"""Mechanisms and peers of the benchmark of observers and predictive control."""

from __future__ import annotations

import copy
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kinetree.models import load
from kinetree.models.description.reading.read_source import read

PAYLOAD, GUESS, NOISE, PERIOD = 120.0, 70.0, 5e-4, 1e-3  # kg, kg, rad, s
WALK, SPEEDS = (
    0.1 / PERIOD**0.5,
    1e-3 / PERIOD**0.5,
)  # densities: variances of 1e-2 kg² and 1e-6 (rad/s)² a step


def boom(observed: bool) -> dict[str, Any]:
    """Return the luffing boom with a payload that swings on its cylinder and a sensor of the angle;
    `observed` adds an observer.
    """
    raw = copy.deepcopy(read("lib:boom")[0])
    raw["parameters"]["load_mass"] = {"value": PAYLOAD, "unit": "kg", "tunable": True}
    raw["controllers"] = {
        "gauge": {"kind": "sensor", "input": "luff", "period": PERIOD, "noise": NOISE * (2 * PERIOD) ** 0.5, "seed": 1},
        "pump": {"kind": "sensor", "input": "1400 + 400*sin(3*t)", "period": PERIOD, "drives": "lift"},
    }  # fmt: skip
    if observed:
        raw["observers"] = {
            "watch": {
                "period": PERIOD,
                "readings": [{"value": "luff", "reads": "gauge", "noise": NOISE}],
                "estimates": {"luff": "luff", "rate": "der(luff)"},
                "parameters": {"load_mass": {"start": GUESS, "std": 50.0, "walk": WALK}},
                "initial": {"luff": 1e-3, "der(luff)": 1e-2},
                "process": {"speeds": SPEEDS},
            }
        }
    return raw


def crane(planned: bool = True) -> dict[str, Any]:
    """Return a bridge crane with a hook and a load on two ropes that swing in all directions:
    twelve states, two forces; `planned` adds predictive control.
    """
    hinges = lambda name: [  # noqa: E731
        {"rotate": "x", "coordinate": f"{name}_a"},
        {"rotate": "y", "coordinate": f"{name}_b"},
    ]
    raw: dict[str, Any] = {
        "format": "kinetree/1",
        "name": "crane12",
        "inputs": {"force_x": 0.0, "force_y": 0.0},
        "bodies": {
            "bridge": {"mass": 2000.0},
            "trolley": {"mass": 500.0},
            "hook": {"mass": 200.0, "com": [0, 0, -6.0], "inertia": [5, 5, 5, 0, 0, 0]},
            "load": {"mass": 3000.0, "com": [0, 0, -2.0], "inertia": [900, 900, 900, 0, 0, 0]},
        },
        "joints": {
            "runway": {"child": "bridge", "transforms": [{"shift": "x", "coordinate": "x"}]},
            "travel": {"parent": "bridge", "child": "trolley", "transforms": [{"shift": "y", "coordinate": "y"}]},
            "rope": {"parent": "trolley", "child": "hook", "transforms": hinges("hook")},
            "sling": {"parent": "hook", "child": "load", "at": [0, 0, -6.0], "transforms": hinges("load")},
        },
        "forces": {
            "push_x": {"coordinate": "x", "value": "force_x"},
            "push_y": {"coordinate": "y", "value": "force_y"},
            "drag_x": {"coordinate": "x", "damping": 100.0},
            "drag_y": {"coordinate": "y", "damping": 100.0},
        },
        "actuators": {"drive_x": {"coordinate": "x"}, "drive_y": {"coordinate": "y"}},
    }  # fmt: skip
    if planned:
        raw["controllers"] = {"plan": PLAN}
    return raw


GOAL = {"x": 3.0, "y": 2.0}
WEIGHTS = {
    "x": 1.0, "y": 1.0, "hook_a": 20.0, "hook_b": 20.0, "load_a": 20.0, "load_b": 20.0,
    "der(x)": 0.1, "der(y)": 0.1, "der(hook_a)": 1.0, "der(hook_b)": 1.0, "der(load_a)": 1.0, "der(load_b)": 1.0,
}  # fmt: skip
HORIZON, STEP, SAMPLE, FORCE, COMMAND_WEIGHT = 20, 0.25, 0.01, 1500.0, 1e-8
PLAN = {
    "kind": "predictive", "period": SAMPLE, "step": STEP, "horizon": HORIZON, "parts": 1,
    "track": [{"value": name, "setpoint": GOAL.get(name, 0.0), "weight": weight} for name, weight in WEIGHTS.items()],
    "commands": {
        key: {"drives": f"drive_{key}", "low": -FORCE, "high": FORCE, "weight": COMMAND_WEIGHT} for key in "xy"
    },
}  # fmt: skip


def casadi_rates(raw: dict[str, Any]) -> tuple[Any, int, int]:
    """Return the casadi function of the rates that Kinetree generates, and its numbers of inputs
    and parameters.
    """
    from kinetree.models.equations.casadi import casadi

    trace = load(raw).compile().trace("rates", parameters="symbols")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rates.py"
        path.write_text(casadi(trace), encoding="utf-8")
        spec = spec_from_file_location("rates", path)
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    made = next(each for name, each in vars(module).items() if name.endswith("_rates"))()
    return made, made.size1_in(4), made.size1_in(5)


def rk4(rate: Callable, x: Any, h: float) -> Any:
    """Return the state after one classical Runge-Kutta step of size h."""
    a = rate(x)
    b = rate(x + h / 2 * a)
    c = rate(x + h / 2 * b)
    d = rate(x + h * c)
    return x + h / 6 * (a + 2 * b + 2 * c + d)


def peer_filter(
    readings: np.ndarray, forces: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Callable]:
    """Return payloads, standard deviations and normalised innovations squared of a Kalman filter in
    numpy with casadi's derivatives, and a function that makes one step of the filter.
    """
    import casadi as ca

    raw = boom(False)
    del raw["controllers"]
    raw["parameters"]["load_mass"] = {"value": PAYLOAD, "unit": "kg", "tunable": True}
    system = load(raw).compile()
    f, inputs, parameters = casadi_rates(raw)
    names = system.compiled.parameters
    given = [float(system._fast.ws.val[system.compiled.registers[name]]) for name in names]
    x, force = ca.SX.sym("x", 3), ca.SX.sym("force")
    number = ca.vertcat(
        *[x[2] if name == "load_mass" else value for name, value in zip(names, given, strict=True)]
    )

    def rate(y: Any) -> Any:
        forces = ca.vertcat(force, ca.SX.zeros(inputs - 1))
        return ca.vertcat(f(0, y[0], y[1], ca.SX(0, 1), forces, number), 0)

    ahead = rk4(rate, x, PERIOD)
    step = ca.Function("step", [x, force], [ahead, ca.jacobian(ahead, x)])
    Q = np.diag([0.0, SPEEDS**2 * PERIOD, WALK**2 * PERIOD])
    state, P = np.array([0.5, 0.0, GUESS]), np.diag([1e-6, 1e-4, 2500.0])

    def once(
        state: np.ndarray, P: np.ndarray, reading: float, force: float
    ) -> tuple[np.ndarray, np.ndarray]:
        gain = P[:, 0] / (P[0, 0] + NOISE**2)
        state, P = state + gain * (reading - state[0]), P - np.outer(gain, P[0])
        there, A = step(state, force)
        slopes = np.array(A)
        return np.array(there).ravel(), slopes @ P @ slopes.T + Q

    found = []
    for reading, held in zip(readings, forces, strict=True):
        squared = (reading - state[0]) ** 2 / (P[0, 0] + NOISE**2)
        state, P = once(state, P, reading, held)
        found.append((state[2], P[2, 2] ** 0.5, squared))
    payloads, deviations, squares = np.array(found).T
    return payloads, deviations, squares, lambda: once(state, P, readings[-1], forces[-1])


def peer_program() -> Callable[[np.ndarray], tuple[np.ndarray, float]]:
    """Return the predictive control of the crane by casadi and IPOPT: a function from a state to
    the first commands and the objective.
    """
    import casadi as ca

    raw = crane(False)
    del raw["actuators"]
    f, inputs, parameters = casadi_rates(raw)
    n = len(WEIGHTS) // 2
    goal = np.array([GOAL.get(name, 0.0) for name in WEIGHTS])
    weights = np.array(list(WEIGHTS.values()))
    x, v = ca.SX.sym("x", 2 * n), ca.SX.sym("v", 2)

    def rate(y: Any) -> Any:
        forces = ca.vertcat(v, ca.SX.zeros(inputs - 2))
        return f(0, y[:n], y[n:], ca.SX(0, 1), forces, ca.SX.zeros(parameters))

    ahead = x
    for _ in range(4):
        ahead = rk4(rate, ahead, STEP / 4)
    step = ca.Function("step", [x, v], [ahead])
    first = ca.MX.sym("first", 2 * n)
    states, plan = ca.MX.sym("states", 2 * n, HORIZON), ca.MX.sym("plan", 2, HORIZON)
    cost, open_steps, before = 0, [], first
    for k in range(HORIZON):
        open_steps.append(states[:, k] - step(before, plan[:, k]))
        before = states[:, k]
        cost += STEP * (
            ca.dot(weights, (before - goal) ** 2) + COMMAND_WEIGHT * ca.sumsqr(plan[:, k])
        )
    numbers = ca.vertcat(ca.vec(states), ca.vec(plan))
    solver = ca.nlpsol(
        "plan", "ipopt", {"x": numbers, "p": first, "f": cost, "g": ca.vertcat(*open_steps)},
        {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-8},
    )  # fmt: skip
    count = 2 * n * HORIZON
    bound = np.concatenate((np.full(count, np.inf), np.full(2 * HORIZON, FORCE)))
    guess = np.zeros(count + 2 * HORIZON)

    def solve(state: np.ndarray) -> tuple[np.ndarray, float]:
        nonlocal guess
        found = solver(x0=guess, p=state, lbx=-bound, ubx=bound, lbg=0, ubg=0)
        guess = np.array(found["x"]).ravel()
        return guess[count : count + 2], float(found["f"])

    return solve
