"""Observers and predictive control beside peers in one run: time of a sample, consistency, and
residual sway.

Kinetree's times are those of whole samples with simulation, less the simulation without the block.
Peers: an extended Kalman filter in numpy with exact derivatives by casadi; the predictive control
of the crane by casadi and IPOPT; a command shaped against the sway (zero-vibration shaper).
"""

import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import typer

from kinetree.models import load
from kinetree.models.controllers.expansion import values_of
from kinetree.models.observers.estimation import EstimationProblem
from kinetree.models.observers.estimation_setup import Recorded, Sensor, Setup, Unknown
from kinetree.scripts.bench import observe_cases as cases
from kinetree.scripts.bench.results_file import machine, write_results


def sample_times(description: dict[str, Any], period: float, count: int) -> np.ndarray:
    """Return the durations [s] of successive communication steps of one period each."""
    stepper = load(description).compile().stepper(step=period, integrator="rk4")
    found = np.empty(count)
    for k in range(count):
        begin = perf_counter()
        stepper.advance()
        found[k] = perf_counter() - begin
    return found


def microseconds(seconds: np.ndarray, part: float = 50.0) -> float:
    """Return a percentile of durations in microseconds."""
    return 1e6 * float(np.percentile(seconds, part))


def repeated(call: Callable[[], Any], count: int) -> np.ndarray:
    """Return the durations [s] of `count` calls."""
    found = np.empty(count)
    for k in range(count):
        begin = perf_counter()
        call()
        found[k] = perf_counter() - begin
    return found


def error_squared(payloads: np.ndarray, deviations: np.ndarray) -> float:
    """Return the normalised estimation error squared (NEES) of estimated payloads, averaged over
    one record, whose errors are correlated.
    """
    return float((((payloads - cases.PAYLOAD) / deviations) ** 2).mean())


def estimation(quick: bool) -> list[dict[str, Any]]:
    """Return rows on the payload estimated from the boom's angle: by the observer block, by
    `kinetree observe`, and by the filter in numpy.
    """
    stop, count = (0.5 if quick else 2.0), (500 if quick else 5000)
    run = load(cases.boom(True)).compile().simulate(
        stop_time=stop, output_step=cases.PERIOD, integrator="rk4", step=cases.PERIOD
    )  # fmt: skip
    hold = values_of(load(cases.boom(False)).description)["hold"]
    readings, forces = run["gauge"][1:], hold + run["pump"][1:]
    half = len(readings) // 2
    watched = sample_times(cases.boom(True), cases.PERIOD, count)
    alone = sample_times(cases.boom(False), cases.PERIOD, count)
    rows = [
        {
            "filter": "in the mechanism", "payload": float(run["watch.load_mass"][-1]),
            "std": float(run["watch.load_mass.std"][-1]), "nis": float(run["watch.nis"][half:].mean()),
            "nees": error_squared(run["watch.load_mass"][half:], run["watch.load_mass.std"][half:]),
            "microseconds": microseconds(watched) - microseconds(alone),
        }
    ]  # fmt: skip
    payloads, deviations, squares, once = cases.peer_filter(readings, forces)
    rows.append(
        {"filter": "numpy with casadi", "payload": float(payloads[-1]), "std": float(deviations[-1]), "nis": float(squares[half:].mean()),
         "nees": error_squared(payloads[half:], deviations[half:]),
         "microseconds": microseconds(repeated(once, 200 if quick else 2000))}
    )  # fmt: skip
    raw = cases.boom(False)
    del raw["controllers"]
    setup = Setup(
        (Sensor("luff", cases.NOISE),), (Unknown("load_mass", cases.GUESS, 50.0, cases.WALK),),
        start_deviations={"luff": 1e-3, "der(luff)": 1e-2}, process={"speeds": cases.SPEEDS},
    )  # fmt: skip
    times = cases.PERIOD * np.arange(len(readings))
    begin = perf_counter()
    found = EstimationProblem(load(raw).compile(), setup).run(
        Recorded(times, {"luff": readings, "lift.force": forces})
    )
    rows.append(
        {"filter": "kinetree observe", "payload": float(found["load_mass"][-1]), "std": float(found.deviation("load_mass")[-1]),
         "nis": found.innovation_band.mean, "nees": error_squared(found["load_mass"][half:], found.deviation("load_mass")[half:]),
         "microseconds": 1e6 * (perf_counter() - begin) / len(times)}
    )  # fmt: skip
    return rows


def prediction(quick: bool) -> dict[str, Any]:
    """Return the times of the crane's predictive control, the commands of both programs at the
    start, and the residual sway.
    """
    planned, free = cases.crane(), cases.crane(False)
    count = 300 if quick else 2000
    mine, alone = (
        sample_times(planned, cases.SAMPLE, count),
        sample_times(free, cases.SAMPLE, count),
    )
    near = {"x": 2.95, "y": 1.97, "load_a": 0.01}  # from where commands are within their bounds
    exact = {**planned, "controllers": {"plan": {**cases.PLAN, "iterations": 20, "parts": 10}}}
    first = (
        load(exact)
        .starting(near)
        .compile()
        .simulate(stop_time=cases.SAMPLE, output_step=cases.SAMPLE)
    )
    own = np.array([first["plan.x"][-1], first["plan.y"][-1]])
    solve = cases.peer_program()
    state = np.array([near.get(name, 0.0) for name in cases.WEIGHTS])
    theirs = solve(state)[0]
    warm = repeated(lambda: solve(state), 3 if quick else 20)
    stop = 10.0 if quick else 40.0
    moved = load(planned).compile().simulate(stop_time=stop, output_step=0.02)
    late = moved.time > stop - 5.0
    sway = max(np.abs(moved[name][late]).max() for name in ("hook_a", "hook_b", "load_a", "load_b"))
    return {
        "median": microseconds(mine), "p99.9": microseconds(mine, 99.9), "motion": microseconds(alone),
        "ipopt": microseconds(warm), "commands": own.tolist(), "commands_of_ipopt": theirs.tolist(),
        "apart": float(np.abs(own - theirs).max() / cases.FORCE), "sway": float(sway),
        "place": [float(moved["x"][-1]), float(moved["y"][-1])], "work": float(moved["plan.work"].max()),
        "shaped_sway": shaped_sway(stop),
    }  # fmt: skip


def shaped_sway(stop: float) -> float:
    """Return the residual sway after a bang-bang force of the same bound, shaped by two impulses
    against the slowest pendulum mode of the load.
    """
    free = cases.crane(False)
    swing = load({**free, "actuators": {}}).compile().linearize()
    rates = np.linalg.eigvals(swing.A).imag
    half = np.pi / rates[rates > 1e-3].min()
    pulses = {}
    for axis, mass in (("x", 5700.0), ("y", 3700.0)):
        switch = (mass * cases.GOAL[axis] / cases.FORCE) ** 0.5
        pulse = f"{cases.FORCE}*(if(S < 0, 0, if(S < {switch}, 1, if(S < {2 * switch}, -1, 0))))"
        both = [pulse.replace("S", f"(t - {late})") for late in (0.0, half)]
        pulses[axis] = f"0.5*({both[0]} + {both[1]})"
    free["forces"] = free["forces"] | {
        f"shaped_{axis}": {"coordinate": axis, "value": text} for axis, text in pulses.items()
    }
    moved = load(free).compile().simulate(stop_time=stop, output_step=0.02)
    late = moved.time > stop - 5.0
    return float(
        max(np.abs(moved[name][late]).max() for name in ("hook_a", "hook_b", "load_a", "load_b"))
    )


def run(quick: bool, json_path: Path | None, plots: Path | None) -> None:
    """Print estimates and predictive controls with their times, beside peers."""
    versions = {name: version(name) for name in ("casadi", "numpy", "numba")}
    versions["python"] = platform.python_version()
    typer.echo(
        f"{machine()}; " + ", ".join(f"{name} {number}" for name, number in versions.items())
    )
    typer.echo(
        f"\nPayload of {cases.PAYLOAD:g} kg from the boom's angle at 1 kHz, first guess {cases.GUESS:g} kg\n"
    )
    typer.echo(
        "| filter | payload [kg] | ± | NIS | NEES | µs a sample |\n|---|---|---|---|---|---|"
    )
    rows = estimation(quick)
    for row in rows:
        typer.echo(
            f"| {row['filter']} | {row['payload']:.1f} | {row['std']:.1f} | {row['nis']:.2f} | {row['nees']:.2f} | {row['microseconds']:.1f} |"
        )
    found = prediction(quick)
    typer.echo(
        f"\nCrane with 12 states and 2 forces at 100 Hz, {cases.HORIZON} steps of {cases.STEP:g} s ahead\n"
    )
    typer.echo("| | µs a sample |\n|---|---|")
    typer.echo(
        f"| plan and motion, median | {found['median']:.0f} |\n| 99.9 % | {found['p99.9']:.0f} |"
    )
    typer.echo(
        f"| motion alone | {found['motion']:.0f} |\n| IPOPT, begun at its solution | {found['ipopt']:.0f} |"
    )
    typer.echo(
        f"\nfirst commands, {found['apart']:.1e} of the bound apart; at most {found['work']:.0f} factorisations a sample; "
        f"sway that is left: {1e3 * found['sway']:.2f} mrad, by the shaped command {1e3 * found['shaped_sway']:.2f} mrad"
    )
    write_results(json_path, versions=versions, estimation=rows, prediction=found)
