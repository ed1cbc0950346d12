"""Single steps asked for from Python beside MuJoCo and Pinocchio in one run: revolute chains, 1 ms by the classical method of order four.

Each program makes one step per call: ours by `stepper.advance()`, MuJoCo by `mj_step` with its
integrator RK4, Pinocchio by four calls of `aba` with the vector operations between them in numpy.
All begin in the same state; their angles after a second are compared before anything is timed.
"""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

from kinetree.scripts.bench import dynamics_peers as peers
from kinetree.scripts.bench.dynamics_trees import Case, chain, state, system
from kinetree.scripts.bench.results_file import write_results

STEP, COMPARED = 1e-3, 1.0  # s
AGREED = 1e-7  # rad
AIM = 2.0  # times of MuJoCo's step over ours
SIZES, QUICK = (2, 7, 20, 50), (2, 7, 20)
ROUNDS, CALLS = 40, 50


class Steps(NamedTuple):
    """A program that steps a chain, and a function that returns its present angles."""

    advance: Callable[[], Any]
    angles: Callable[[], np.ndarray]


def ours(case: Case) -> Steps:
    """Return our stepper of the chain."""
    made = system(case)
    stepper = made.stepper(step=STEP, integrator="rk4")
    return Steps(stepper.advance, lambda: np.array(stepper.read(list(made.coordinates))))


def mujoco(case: Case) -> Steps:
    """Return MuJoCo's stepping of the chain."""
    import mujoco as module

    mj: Any = module
    text = peers.mujoco_text(case).replace(
        "<option ", f'<option integrator="RK4" timestep="{STEP}" '
    )
    model = mj.MjModel.from_xml_string(text)
    data, step = mj.MjData(model), mj.mj_step
    data.qpos[:], data.qvel[:] = state(case)
    return Steps(lambda: step(model, data), lambda: data.qpos.copy())


def pinocchio(case: Case) -> Steps:
    """Return the stepping of the chain with Pinocchio's accelerations."""
    import pinocchio as pin

    model = peers.pinocchio_model(case)
    data, none, aba = model.createData(), np.zeros(case.bodies), pin.aba
    q, u = (part.copy() for part in state(case))

    def advance() -> None:
        nonlocal q, u
        h = STEP
        a = aba(model, data, q, u, none).copy()
        v = u + 0.5 * h * a
        b = aba(model, data, q + 0.5 * h * u, v, none).copy()
        w = u + 0.5 * h * b
        c = aba(model, data, q + 0.5 * h * v, w, none).copy()
        x = u + h * c
        d = aba(model, data, q + h * w, x, none)
        q = q + h / 6 * (u + 2 * v + 2 * w + x)
        u = u + h / 6 * (a + 2 * b + 2 * c + d)

    return Steps(advance, lambda: q)


PROGRAMS = {"kinetree": ours, "mujoco": mujoco, "pinocchio": pinocchio}


def measured(bodies: int) -> list[dict[str, Any]]:
    """Return the time [µs] of a step of every installed program, and the largest difference of its
    angles from ours after a second.
    """
    case, programs = chain("revolute", bodies), {}
    for name, make in PROGRAMS.items():
        try:
            programs[name] = make(case)
        except ImportError:
            continue
    for each in programs.values():
        for _ in range(round(COMPARED / STEP)):
            each.advance()
    angles, best = {name: each.angles() for name, each in programs.items()}, {}
    for _ in range(ROUNDS):  # in turns, so that all see the same load of the machine
        for name, each in programs.items():
            best[name] = min(best.get(name, math.inf), microseconds(each.advance))
    return [
        {
            "bodies": bodies,
            "method": name,
            "us": each,
            "ratio": each / best["kinetree"],
            "apart": float(np.abs(angles[name] - angles["kinetree"]).max()),
        }
        for name, each in best.items()
    ]


def microseconds(advance: Callable[[], Any]) -> float:
    """Return the mean time [µs] of one step."""
    begin = time.perf_counter()
    for _ in range(CALLS):
        advance()
    return 1e6 * (time.perf_counter() - begin) / CALLS


def run(quick: bool, json_path: Path | None, plots: Path | None) -> None:
    """Print the times of single steps, their ratios to ours, and the differences of angles after a
    second.
    """
    found = []
    for bodies in QUICK if quick else SIZES:
        for row in measured(bodies):
            if not row["apart"] < AGREED:
                name, apart = row["method"], row["apart"]
                raise ArithmeticError(f"{bodies} bodies, {name}: angles are {apart:.1e} rad apart")
            found.append(row)
            aim = f", {row['ratio']:.2f} of ours" if row["method"] != "kinetree" else ""
            aim += f" (aim {AIM:g})" if row["method"] == "mujoco" else ""
            typer.echo(f"  {bodies:3d} bodies  {row['method']:10s} {row['us']:8.2f} us a step{aim}")
    write_results(json_path, results=found)
