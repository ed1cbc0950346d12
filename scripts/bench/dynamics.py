"""`kinetree bench dynamics`: all forms of the equations of motion on chains and stars beside
Pinocchio's aba and MuJoCo's mj_forward, in one run on one thread.

A time is that of one evaluation of the accelerations with everything that they need (kinematics,
bias forces, inertias), the minimum of many rounds taken in turns; `many` is the engine's time per
state in a batch. The overhead of calling the peers from Python, measured on empty models, is
subtracted. Accelerations are compared with Pinocchio's before anything is timed.
"""

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import typer

from kinetree.models.analysis.form_choice import processor_name
from kinetree.models.engine.entry_points import kind
from kinetree.models.system.forms import HAMILTON, LAGRANGE
from kinetree.scripts.bench import dynamics_kinetree as own
from kinetree.scripts.bench import dynamics_peers as peers
from kinetree.scripts.bench import dynamics_plots as plots_of
from kinetree.scripts.bench import dynamics_trees as trees
from kinetree.scripts.bench import selection_diagrams as regions

SIZES = (5, 7, 10, 20, 50, 100, 200)
FORMS = ("DEC", "many", *(name for name in LAGRANGE if name != "DEC"))
LARGE = (500, 1000, 2000, 5000, 10000)  # for forms whose cost is linear
QUICK = (
    ("revolute", 7),
    ("revolute", 20),
    ("revolute", 100),
    ("spherical", 10),
    ("spherical", 100),
)
ALL = (*FORMS, *HAMILTON)
DIRECT = tuple(method for method in ALL if method not in own.ITERATED)
MOST_ITERATED = 200  # freedoms
LINEAR = {
    "chain": ("DEC", "many", "ABM", "LGR", "DEC-H", "ABM-H", "LGR-H"),
    "star": ("DEC", "many", "ABM", "CBM", "DRT", "DEC-H", "ABM-H", "CBM-H"),
}
GROWTH = (50, 5000)  # bodies between which exponents are fitted
AGREEMENT = 1e-9


class Disagreement(Exception):
    """Our accelerations differ from Pinocchio's, so times cannot be compared."""


def measured(case: trees.Case, methods: tuple[str, ...], empty: dict[str, float]) -> list[dict]:
    """Return one row of times per method and peer for a tree."""
    system = trees.system(case)
    forms = own.Forms(system)
    q, u, p = forms.q, forms.u, forms.p
    udot = system.accelerations(0.0, q, u)
    others = {peer.name: peer for peer in peers.peers(case, q, u)}
    accuracy = {
        name: {"deviation": own.deviation(peer.udot, udot)} for name, peer in others.items()
    }
    judge = others["pinocchio"].residual if "pinocchio" in others else None
    if judge:
        for name, values in {
            "DEC": udot,
            **{name: peer.udot for name, peer in others.items()},
        }.items():
            accuracy.setdefault(name, {})["residual"] = judge(values)
        left = accuracy["DEC"]["residual"]
        if left > AGREEMENT:
            raise Disagreement(
                f"{case.topology} of {case.bodies}, {case.joint}: Pinocchio's inverse dynamics leaves {left:.1e} of the forces"
            )
    for method in methods:
        if method in HAMILTON:
            accuracy[method] = {
                "deviation": own.deviation(system.hamilton(0.0, q, p, method)[0], u)
            }
        elif method == own.BATCH:
            accuracy[method] = {
                "deviation": own.deviation(system.accelerations_many(0.0, [q], [u])[0], udot)
            }
        elif method != "DEC":
            accuracy[method] = {
                "deviation": own.deviation(system.accelerations(0.0, q, u, method=method), udot)
            }
    found = own.measure(forms, methods, {name: peer.call for name, peer in others.items()})
    rows = []
    for name, us in found.us.items():
        row = {
            "topology": case.topology,
            "joint": case.joint,
            "bodies": case.bodies,
            "method": name,
            "us": us - empty.get(name, 0.0),
        }
        rows.append(
            row
            | accuracy.get(name, {})
            | ({"iterations": found.iterations[name]} if name in found.iterations else {})
        )
    show(rows)
    return rows


def show(rows: list[dict]) -> None:
    """Print the times of one tree relative to DEC (block decomposition in joint coordinates, the
    engine's form).
    """
    first = rows[0]
    engine = next((row["us"] for row in rows if row["method"] == "DEC"), float("nan"))
    times = "  ".join(f"{row['method']} {row['us']:.4g}" for row in rows)
    batch = next((row["us"] for row in rows if row["method"] == own.BATCH), float("nan"))
    others = [row for row in rows if row["method"] in peers.MOST_FREEDOMS]
    ratios = "  ".join(
        f"{row['method']}/DEC {row['us'] / engine:.2f}, /{own.BATCH} {row['us'] / batch:.1f}"
        for row in others
    )
    typer.echo(f"  {first['topology']} {first['joint']} {first['bodies']:5d}   {times}   {ratios}")


def slope_of(points: list[tuple[int, float]]) -> float:
    """Return the exponent p of the fit y ~ x^p to points (x, y)."""
    x, y = np.log(np.array(points).T)
    return float(np.polyfit(x, y, 1)[0])


def growth(results: list[dict]) -> dict[str, float]:
    """Return the exponents of time over the number of bodies by topology, joint and method."""
    series: dict[str, list[tuple[int, float]]] = {}
    for row in results:
        if GROWTH[0] <= row["bodies"] <= GROWTH[1] and row["method"] not in own.ITERATED:
            series.setdefault(f"{row['topology']} {row['joint']} {row['method']}", []).append(
                (row["bodies"], row["us"])
            )
    return {name: slope_of(points) for name, points in series.items() if len(points) > 2}


def versions() -> dict[str, str]:
    """Return versions of the measured packages."""
    found = {"python": platform.python_version()}
    for package in ("kinetree", "pin", "mujoco", "numpy", "numba"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, object]:
    """Return the processor, number of cores, system load, and the kind of kernels (compiled ahead
    of time or by numba).
    """
    return {
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "engine": kind(),
    }


def quick_cases() -> list[tuple[trees.Case, tuple[str, ...]]]:
    """Return the few chains of the quick selection, each with all forms."""
    return [(trees.chain(joint, bodies), ALL) for joint, bodies in QUICK]


def full_cases() -> list[tuple[trees.Case, tuple[str, ...]]]:
    """Return the chains and stars of joints with 1, 2 and 3 degrees of freedom; long ones with the
    forms of linear cost only.
    """
    found = []
    for make in (trees.chain, trees.star):
        for joint in ("revolute", "universal", "spherical"):
            found += [
                (
                    make(joint, bodies),
                    ALL if bodies * trees.JOINTS[joint] <= MOST_ITERATED else DIRECT,
                )
                for bodies in SIZES
            ]
        for joint in ("revolute", "spherical"):
            found += [(make(joint, bodies), LINEAR[make.__name__]) for bodies in LARGE]
    return found


def run(quick: bool, json_path: Path | None, plots: Path | None) -> None:
    """Run the measurements, print them, write JSON and plots."""
    data = {"machine": machine(), "versions": versions(), "unit": "microseconds per evaluation"}
    typer.echo(f"{data['machine']}  {data['versions']}")
    empty = own.least(peers.empty_calls())
    typer.echo(
        "taken off, calls on empty models: "
        + ", ".join(f"{name} {us:.2f} us" for name, us in empty.items())
    )
    results = []
    for case, methods in quick_cases() if quick else full_cases():
        results += measured(case, methods, empty)
    data |= {"call_overhead": empty, "results": results, "growth": growth(results)}
    for name, exponent in data["growth"].items():
        typer.echo(f"  {name} grows with N^{exponent:.3f}")
    if not quick:
        data["regions"] = choices()
    if json_path:
        json_path.write_text(json.dumps(data, indent=1), encoding="utf-8")
    if plots:
        plots_of.draw(data, plots)


def choices() -> list[dict]:
    """Return the points of all selection diagrams, and print how often the cost prediction names
    the fastest form.
    """
    found = []
    for joint, freedoms in trees.JOINTS.items():
        points = regions.diagram(joint)
        found += points
        for literal, among in ((False, "all"), (True, "literal forms")):
            told = regions.judgement(points, literal)
            typer.echo(
                f"  freedoms per joint {freedoms}, {among}: prediction names the fastest in {100 * told['agree']:.0f} %, "
                f"following it costs {told['mean_loss']:.2f} times the least in the mean, {told['largest_loss']:.2f} at most"
            )
    return found
