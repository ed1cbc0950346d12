"""Derivatives of the accelerations beside Pinocchio's computeABADerivatives, for chains and robots;
the values are compared before anything is timed. "inside" is the engine's entry without Python's
overhead; Pinocchio is called from Python, and the time of a call on a model without bodies is
subtracted.
"""

import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import typer

from kinetree.models.analysis.exact_derivatives import slope_call
from kinetree.scripts.bench.dynamics_peers import pinocchio_model
from kinetree.scripts.bench.dynamics_trees import chain, star, state, system
from kinetree.scripts.bench.results_file import machine, write_results
from kinetree.scripts.bench.robots import FILES, folder, ours, repeated, states, timed
from kinetree.scripts.terminal.error_messages import BadInput

AIM = 1.5  # times Pinocchio's time
APART = 1e-8  # largest difference of slopes, as part of the largest slope; Pinocchio's rounding on long chains is most of it
CHAINS = (7, 20, 100)
ROBOTS = ("panda", "a1", "talos_full_v2", "centauro")


def trees() -> list[tuple[str, Any, Any, tuple[np.ndarray, ...]]]:
    """Yield for every chain its name, our system, Pinocchio's model, the state in both orders, and
    Pinocchio's index of each of our speeds.
    """
    found = []
    for case in (*(chain("revolute", n) for n in CHAINS), star("revolute", 20)):
        q, u = state(case)
        found.append(
            (
                f"{case.topology} {case.bodies}",
                system(case),
                pinocchio_model(case),
                (q, u, q, u, np.arange(u.size)),
            )
        )
    return found


def robots() -> list[tuple[str, Any, Any, tuple[np.ndarray, ...]]]:
    """Yield the robots whose joints have one coordinate each in both programs, in the form of
    `trees`.
    """
    import pinocchio as pin

    paths = [
        path
        for path in (folder() / f"{name}.urdf" for name in FILES)
        if path.stem in ROBOTS and path.is_file()
    ]
    pairs = [(path.stem, ours(path), pin.buildModelFromUrdf(str(path))) for path in paths]
    return [
        (name, own, model, states(own, model)) for name, own, model in pairs if model.nq == model.nv
    ]


def measure(name: str, own: Any, model: Any, at: tuple[np.ndarray, ...]) -> dict[str, Any]:
    """Return times of one tree [µs] and the largest difference of the derivatives."""
    import pinocchio as pin

    q, u, their_q, their_u, places = at
    data, none = model.createData(), np.zeros(model.nv)
    found, theirs = (
        own.derivatives(0.0, q, u),
        pin.computeABADerivatives(model, data, their_q, their_u, none),
    )
    both = np.ix_(places, places)
    apart = max(
        np.abs(a - b[both]).max() / np.abs(a).max()
        for a, b in zip((found.q, found.u), theirs[:2], strict=True)
    )
    if not apart <= APART:
        raise BadInput(f"{name}: the slopes are {apart:.1e} of the largest one apart")
    call, out = slope_call(own._fast), np.empty((q.size + 2 * own.n, own.n))
    assert call is not None
    nobody = pin.Model()
    empty, nothing = nobody.createData(), np.zeros(0)
    times = timed(
        {
            "call": repeated(own.derivatives, 0.0, q, u),
            "inside": repeated(call.call, 0.0, call.plan_at, 0, -1, out.ctypes.data),
            "evaluation": lambda count: own._fast.entry("repeat")(count, 0.0),
            "pin_call": repeated(pin.computeABADerivatives, model, data, their_q, their_u, none),
            "pin_empty": repeated(
                pin.computeABADerivatives, nobody, empty, nothing, nothing, nothing
            ),
        }
    )
    times["pinocchio"] = times["pin_call"] - times.pop("pin_empty")
    ratios = {
        "inside_ratio": times["inside"] / times["pinocchio"],
        "call_ratio": times["call"] / times["pin_call"],
    }
    return {"tree": name, "freedoms": own.n, "apart": float(apart)} | times | ratios


def run(quick: bool, json_path: Path | None, plots: Path | None) -> None:
    """Run all trees and print a table with ratios."""
    versions = {package: version(package) for package in ("pin", "numpy", "numba")} | {
        "python": platform.python_version()
    }
    typer.echo(
        f"{machine()}; "
        + ", ".join(f"{name} {number}" for name, number in versions.items())
        + "; µs, the fastest of 200 rounds\n"
    )
    typer.echo(
        "| tree | freedoms | inside | Pinocchio | ratio | `derivatives` | its call | ratio of calls | evaluations | apart |"
    )
    typer.echo("|---|---|---|---|---|---|---|---|---|---|")
    found = []
    for case in trees() + ([] if quick else robots()):
        found.append(each := measure(*case))
        cells = f"{each['inside']:.1f} | {each['pinocchio']:.1f} | **{each['inside_ratio']:.2f}** | {each['call']:.1f} | {each['pin_call']:.1f}"
        cells += f" | **{each['call_ratio']:.2f}** | {each['inside'] / each['evaluation']:.0f} | {each['apart']:.0e}"
        typer.echo(f"| {each['tree']} | {each['freedoms']} | {cells} |")
    reached = sum(each["inside_ratio"] <= AIM for each in found)
    typer.echo(f"\n{reached} of {len(found)} take at most {AIM:g} times as long as Pinocchio")
    write_results(json_path, versions=versions, results=found)
