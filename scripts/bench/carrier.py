"""Benchmark of the carrier: its departures, steps of its native FMU at 1 kHz, and predicted and
measured cost of the methods over the number of modules.

Predictions are the published formulas [Sh24, tables 5.2 and 5.3]. A measured time is that of one
evaluation of the accelerations along a slow motion, by the literal forms and by the engine that
runs by default. The time of a step is the minimum of several runs, which removes interruptions by
the operating system.
"""

import json as json_module
import math
import platform
import time
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import typer

from kinetree.models import load
from kinetree.models.library import carrier, carrier_detailed

VARIANTS = {"carrier": carrier.describe, "carrier-detailed": carrier_detailed.describe}
MODULES = (1, 2, 4, 8, 12, 16, 24, 32, 50)
METHODS = ("CBM", "LGR", "ITR-G", "DEC")
STEP = 1e-3  # communication step [s]
INNER = 2.5e-4  # step of rk4 inside [s]
RUNS = 5
CHECKED = 3.0  # seconds over which errors are taken
REAL_TIME = (
    ("rk4", 1e-3),
    ("rk4", 5e-4),
    ("rk4", 2.5e-4),
    ("adams-fixed", 1e-3),
    ("adams-fixed", 5e-4),
    ("adams-fixed", 2.5e-4),
    ("adams", INNER),
)
MEDIAN, SPREAD = 25.0, 2.0  # aims in µs, and of the slowest in a thousand over the median


def departures(n: int) -> dict:
    """Return the seconds to compile and to integrate a carrier from which n modules depart, one per
    second.
    """
    best = {}
    for _ in range(2):
        clock = time.perf_counter()
        system = load("lib:carrier", modules=n, pace=0.446).compile()
        compiled = time.perf_counter() - clock
        clock = time.perf_counter()
        result = system.simulate()
        best = min(
            best or {"seconds": np.inf},
            {"seconds": time.perf_counter() - clock, "compile": compiled},
            key=lambda run: run["seconds"],
        )
    return {
        "modules": n,
        "events": len(result.events),
        "simulated": float(result.time[-1]),
        "integration": result.statistics["seconds"],
        **best,
    }


def step_times(
    name: str, modules: int, integrator: str, inner: float = INNER, stop: float = 60.0
) -> np.ndarray:
    """Return the time [s] of every communication step of the native FMU."""
    from kinetree.fmu.archive.build import build_fmu
    from kinetree.scripts.fmi.fmpy_host import Archive, Host

    with TemporaryDirectory(prefix="kinetree-bench-") as folder:
        path = build_fmu(
            load(f"lib:{name}", modules=modules),
            Path(folder) / "carrier.fmu",
            "native",
            2,
            integrator,
            inner,
        )
        with Archive(path) as archive:
            experiment: Any = archive.description.defaultExperiment
            count = round(min(stop, float(experiment.stopTime)) / STEP)
            best = np.full(count, np.inf)
            for _ in range(RUNS):
                host = Host(archive).start()
                for k in range(count):
                    clock = time.perf_counter()
                    host.step((k + 1) * STEP)
                    best[k] = min(best[k], time.perf_counter() - clock)
                host.close()
    return best


def error(name: str, modules: int, integrator: str, inner: float) -> float:
    """Return the largest error of any coordinate over the first seconds, relative to the
    coordinate's largest value; the reference is a run of `adams` at a tolerance of 1e-10.
    """
    system = load(f"lib:{name}", modules=modules).compile()
    exact = system.simulate(CHECKED, integrator="adams", tolerance=1e-10, output_step=1e-2)
    found = system.simulate(CHECKED, integrator=integrator, step=inner, output_step=1e-2)
    return max(
        np.abs(found[each] - exact[each]).max() / max(np.abs(exact[each]).max(), 1e-3)
        for each in system.coordinates
    )


def steps(
    name: str, modules: int, integrator: str, inner: float = INNER, stop: float = 60.0
) -> dict:
    """Return median and largest step times [µs], with those of steps that contain events as
    separate values.
    """
    times = 1e6 * step_times(name, modules, integrator, inner, stop)
    eventful = np.zeros(times.size, dtype=bool)
    for event in (
        load(f"lib:{name}", modules=modules)
        .compile()
        .simulate(times.size * STEP, output_step=1e-2)
        .events
    ):
        eventful[max(math.ceil(event.time / STEP) - 2, 0) : math.ceil(event.time / STEP) + 1] = True
    median, high = float(np.median(times)), float(np.percentile(times, 99.9))
    return {
        "variant": name,
        "modules": modules,
        "integrator": integrator,
        "inner": 1e3 * inner,
        "error": error(name, modules, integrator, inner),
        "median": median,
        "p99.9": high,
        "ratio": high / median,
        "without": float(np.percentile(times[~eventful], 99.9)) / median,
        "largest": times.max(),
    }


def costs(name: str, modules: int) -> dict:
    """Return predicted operation counts and measured times [µs] of one evaluation by several
    methods.
    """
    from kinetree.models.analysis.form_choice import evaluation_time

    source = VARIANTS[name](modules=modules)
    source["run"].pop("prepare")  # the place of the evaluation does not matter
    system = load(source).compile()
    predicted = system.costs()
    own = evaluation_time(system, "DEC")
    times = {
        method: 1e6 * evaluation_time(system, method)
        for method in ("CBM", "LGR", "ITR-G")
        if predicted[method] < 30 * predicted["DEC"]
    }
    return {
        "variant": name, "modules": modules, "flops": {method: predicted[method] for method in METHODS}, "choice": system.choose(),
        "times": times | {"engine": 1e6 * own},
    }  # fmt: skip


def show(rows: list[dict], kinds: dict[str, str]) -> None:
    """Print rows as a table; `kinds` maps keys of a row to column headings."""
    typer.echo("  ".join(f"{text:>16}" for text in kinds.values()))
    for row in rows:
        cells = (row[key] for key in kinds)
        typer.echo(
            "  ".join(
                f"{cell:16.4g}" if isinstance(cell, float) else f"{cell:>16}" for cell in cells
            )
        )


def run(quick: bool, json: Path | None, plots: Path | None) -> None:
    """Run the three parts of the benchmark: departures, FMU steps, and costs of the methods."""
    typer.echo(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, numpy {version('numpy')}"
    )
    left = [departures(n) for n in ((12,) if quick else (12, 50))]
    show(
        left,
        {
            "modules": "modules",
            "events": "events",
            "simulated": "simulated s",
            "compile": "compile s",
            "seconds": "run s",
        },
    )
    cases = (
        [("carrier", 4, "rk4", STEP)]
        if quick
        else [("carrier", 12, kind, inner) for kind, inner in REAL_TIME]
        + [("carrier-detailed", 12, *REAL_TIME[0])]
    )
    jitter = [steps(*case) for case in cases]
    heads = {
        "variant": "variant",
        "modules": "modules",
        "integrator": "integrator",
        "inner": "inner step ms",
        "error": "error",
        "median": "median µs",
        "p99.9": "p99.9 µs",
        "ratio": "p99.9/median",
        "without": "between events",
        "largest": "largest µs",
    }
    typer.echo(
        f"steps of {1e3 * STEP:g} ms of native FMUs: aims are a median of {MEDIAN:g} µs and p99.9 within {SPREAD:g} medians"
    )
    show(jitter, heads)
    methods = [costs(name, n) for name in VARIANTS for n in ((4, 12) if quick else MODULES)]
    for row in methods:
        flops = "  ".join(f"{method} {row['flops'][method]:9.0f}" for method in METHODS)
        times = "  ".join(f"{method} {value:7.1f}" for method, value in row["times"].items())
        typer.echo(
            f"{row['variant']:17} {row['modules']:3}  flops: {flops}  chosen {row['choice']:6} µs: {times}"
        )
    if json:
        json.write_text(
            json_module.dumps(
                {"departures": left, "steps": jitter, "methods": methods}, indent=1, default=float
            ),
            encoding="utf-8",
        )
    if plots:
        draw(methods, plots / "carrier_methods.png")


def draw(methods: list[dict], path: Path) -> None:
    """Plot predicted and measured cost over the number of modules."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 7.0), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True)
    for column, name in enumerate(VARIANTS):
        rows = [row for row in methods if row["variant"] == name]
        for place, key, label in (
            (0, "flops", "operations / (1000 N)"),
            (1, "times", "time / N [µs]"),
        ):
            axis = axes[place][column]
            for method in rows[0][key]:
                known = [
                    (row["modules"], row[key][method] / row["modules"])
                    for row in rows
                    if method in row[key]
                ]
                scale = 1e-3 if key == "flops" else 1.0
                text = "DEC, default engine" if method == "engine" else method
                axis.plot(*zip(*((n, scale * value) for n, value in known)), marker=".", label=text)
            axis.set_ylim(0, None)
            if key == "flops":
                axis.set_ylim(0, 8)
                axis.set_title(name)
            axis.grid(alpha=0.4)
            axis.set_ylabel(label)
        axes[1][column].set_xlabel("modules N")
    axes[0][0].legend(fontsize="small")
    axes[1][0].legend(fontsize="small")
    figure.savefig(path, dpi=120)


__all__ = ["costs", "departures", "run", "step_times", "steps"]
