"""Robots of the package example-robot-data beside Pinocchio in one run: the compiled evaluation, and a call from Python to Python.

Both read the same URDF file with a fixed base; joint friction, damping and mimic joints, which
Pinocchio ignores, are left out. Before anything is timed, Pinocchio's inverse dynamics of our
accelerations must reproduce the applied forces. Pinocchio's evaluation time is the time of its call
less that of the same call on an empty model.
"""

import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import typer

from kinetree.models import load
from kinetree.models.foreign.urdf import describe
from kinetree.scripts.bench.results_file import machine, write_results
from kinetree.scripts.terminal.error_messages import BadInput

FILES = (
    "ur_description/urdf/ur5_robot", "panda_description/urdf/panda", "kinova_description/robots/kinova", "xarm_description/urdf/xarm7",
    "z1_description/urdf/z1", "so_arm_description/urdf/so101", "allegro_hand_description/urdf/allegro_left_hand",
    "solo_description/robots/solo12", "anymal_b_simple_description/robots/anymal", "hyq_description/robots/hyq_no_sensors",
    "a1_description/urdf/a1", "go2_description/urdf/go2", "b1_description/urdf/b1-z1", "laikago_description/urdf/laikago",
    "g1_description/urdf/g1_29dof_with_hand_rev_1_0", "talos_data/robots/talos_full_v2", "icub_description/robots/icub",
    "tiago_description/robots/tiago", "pr2_description/urdf/pr2", "baxter_description/urdf/baxter", "romeo_description/urdf/romeo_small",
    "centauro_description/urdf/centauro",
)  # fmt: skip
QUICK = 6
ROUND, ROUNDS = 3e-4, 200  # seconds of a round; the fastest round counts
LEFT = 1e-9  # part of the largest force that our accelerations may leave over
KERNEL_AIM, CALL_AIM = 3.0, 1.5


def folder() -> Path:
    """Return the folder of the robot files."""
    found = find_spec("pinocchio")
    where = (
        Path(found.origin).parents[4] / "share" / "example-robot-data" / "robots"
        if found and found.origin
        else None
    )
    if where is None or not where.is_dir():
        raise BadInput(
            "bench robots needs the packages pin and example-robot-data: install them with 'pip install kinetree[peers,robots]'"
        )
    return where


def timed(calls: dict[str, Callable[[int], object]]) -> dict[str, float]:
    """Return the time [µs] of one evaluation of each call, measured in turns."""
    counts, best = {}, dict.fromkeys(calls, float("inf"))
    for name, call in calls.items():
        call(10)
        clock = time.perf_counter()
        call(10)
        counts[name] = max(1, int(ROUND / ((time.perf_counter() - clock) / 10)))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            clock = time.perf_counter()
            call(counts[name])
            best[name] = min(best[name], (time.perf_counter() - clock) / counts[name])
    return {name: 1e6 * seconds for name, seconds in best.items()}


def ours(path: Path) -> Any:
    """Return a compiled robot without the features that Pinocchio ignores."""
    text, _ = describe(path)
    for name in ("forces", "couplings"):
        text.pop(name, None)
    return load(text).compile()


def states(system: Any, model: Any) -> tuple[np.ndarray, ...]:
    """Return one random state in the conventions of both programs, and Pinocchio's index of each of
    our speeds.
    """
    rng = np.random.default_rng(3)
    q, u = system.start()
    their_q, their_u, places = np.zeros(model.nq), np.zeros(model.nv), np.zeros(system.n, int)
    for j in range(1, model.njoints):
        joint, name = model.joints[j], model.names[j]
        angle, k = rng.uniform(-1, 1), system.speeds.index(f"der({name})")
        q[system.coordinates.index(name)], u[k] = angle, rng.uniform(-1, 1)
        their_q[joint.idx_q : joint.idx_q + joint.nq] = (
            (np.cos(angle), np.sin(angle)) if joint.nq == 2 else angle
        )
        their_u[joint.idx_v] = u[k]
        places[k] = joint.idx_v
    return q, u, their_q, their_u, places


def repeated(call: Callable[..., object], *arguments: Any) -> Callable[[int], object]:
    def run(count: int) -> None:
        for _ in range(count):
            call(*arguments)

    return run


def measure(path: Path) -> dict[str, Any]:
    """Return the times of one robot."""
    import pinocchio as pin

    system, model = ours(path), pin.buildModelFromUrdf(str(path))
    q, u, their_q, their_u, places = states(system, model)
    data, none, udot = model.createData(), np.zeros(model.nv), np.empty(system.n)
    own = np.zeros(model.nv)
    own[places] = system.accelerations(0.0, q, u)
    size = np.abs(pin.rnea(model, data, their_q, their_u, none)).max()
    left = float(np.abs(pin.rnea(model, data, their_q, their_u, own)).max() / size)
    if not left <= LEFT:
        raise BadInput(f"{path.stem}: {left:.1e} of the forces are left over")
    kernel, evaluate = system._fast.entry("repeat"), system.evaluator()
    nobody = pin.Model()
    empty, nothing = nobody.createData(), np.zeros(0)
    times = timed(
        {
            "kernel": lambda count: kernel(count, 0.0),
            "call": repeated(system.accelerations, 0.0, q, u),
            "evaluator": repeated(evaluate, 0.0, q, u, udot),
            "pin_call": repeated(pin.aba, model, data, their_q, their_u, none),
            "pin_empty": repeated(pin.aba, nobody, empty, nothing, nothing, nothing),
        }
    )
    times["pin_kernel"] = times["pin_call"] - times.pop("pin_empty")
    ratios = {
        f"{each}_ratio": times[f"pin_{base}"] / times[each]
        for each, base in (("kernel", "kernel"), ("call", "call"), ("evaluator", "call"))
    }
    return (
        {"robot": path.stem, "freedoms": system.n, "bodies": len(system.bodies), "left": left}
        | times
        | ratios
    )


def row(each: dict[str, Any]) -> str:
    cells = f"{each['kernel']:.2f} | {each['pin_kernel']:.2f} | **{each['kernel_ratio']:.1f}** | {each['call']:.2f} | {each['evaluator']:.2f}"
    cells += (
        f" | {each['pin_call']:.2f} | **{each['call_ratio']:.1f}** | {each['evaluator_ratio']:.1f}"
    )
    return f"| {each['robot']} | {each['freedoms']} | {cells} |"


def run(quick: bool, json_path: Path | None, plots: Path | None) -> None:
    """Run all robots of the package and print a table with ratios."""
    robots = [path for path in (folder() / f"{name}.urdf" for name in FILES) if path.is_file()]
    versions = {
        package: version(package) for package in ("pin", "example-robot-data", "numpy", "numba")
    } | {"python": platform.python_version()}
    typer.echo(
        f"{machine()}; "
        + ", ".join(f"{name} {number}" for name, number in versions.items())
        + "; µs, the fastest of 200 rounds\n"
    )
    typer.echo(
        "| robot | freedoms | DEC | Pinocchio | ratio | call | evaluator | `pin.aba` call | ratio of calls | of evaluator |"
    )
    typer.echo("|---|---|---|---|---|---|---|---|---|---|")
    found = []
    for path in robots[: QUICK if quick else None]:
        found.append(measure(path))
        typer.echo(row(found[-1]))
    for name, aim in (("kernel", KERNEL_AIM), ("call", CALL_AIM)):
        ratios = sorted(each[f"{name}_ratio"] for each in found)
        reached = sum(ratio >= aim for ratio in ratios)
        typer.echo(
            f"\n{name}: {ratios[0]:.2f} to {ratios[-1]:.2f}, median {np.median(ratios):.2f}; {reached} of {len(ratios)} reach {aim:g}"
        )
    write_results(json_path, versions=versions, results=found)
    if plots:
        draw(found, plots / "robots.png")


def draw(results: list[dict], path: Path) -> None:
    """Plot the ratio of times for every robot."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 5))
    places = np.arange(len(results))
    axes.barh(places - 0.2, [each["kernel_ratio"] for each in results], 0.4, label="evaluation")
    axes.barh(places + 0.2, [each["call_ratio"] for each in results], 0.4, label="call from Python")
    axes.set_yticks(
        places, [f"{each['robot']} ({each['freedoms']})" for each in results], fontsize=7
    )
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xlabel("time of Pinocchio / time of Kinetree")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)
