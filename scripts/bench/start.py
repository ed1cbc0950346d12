"""Start-up times: commands, compilation of many stages, instantiation of native FMUs.

The time of a command is the processor time of a fresh process, the least of several, since elapsed
times on busy machines depend on other programs; the peers are processes that only import another
tool. All processes find cached bytecode, as after an installation, independent of their folder and
of PYTHONDONTWRITEBYTECODE.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from kinetree.scripts.bench.results_file import machine

REPEATS = 5
COMMANDS = {  # aims in seconds of processor time
    "--help": 0.15,
    "check lib:regulator": 0.25,
    "run lib:regulator": 0.5,
    "run lib:carrier": None,
}
PEERS = {
    "python": "pass",
    "import numpy": "import numpy",
    "import scipy.integrate": "import scipy.integrate",
    "import pinocchio": "import pinocchio",
    "import mujoco": "import mujoco",
}
INSTANCES = {"regulator": {}, "four-bar": {}, "carrier": {"modules": 12}}  # of the library
MODULES = 50


def processor_seconds(command: list[str], bytecode: Path) -> float:
    """Return the processor time [s] of a process and its children."""
    surroundings = {
        key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"
    } | {"PYTHONPYCACHEPREFIX": str(bytecode)}
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=surroundings
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime if process.returncode == 0 else float("nan")


def least(repeats: int, call: Callable[..., float], *arguments: Any) -> float:
    return min(call(*arguments) for _ in range(repeats))


def commands(repeats: int) -> list[dict[str, Any]]:
    """Return the start-up times [s] of Kinetree's commands and of the imports of other tools."""
    lines = [
        (f"kinetree {text}", [sys.executable, "-m", "kinetree.scripts.cli", *text.split()], aim)
        for text, aim in COMMANDS.items()
    ]
    lines += [(text, [sys.executable, "-c", code], None) for text, code in PEERS.items()]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for text, command, aim in lines:
            first = processor_seconds(command, Path(folder))  # writes the bytecode
            rows.append(
                {
                    "command": text,
                    "seconds": least(repeats, processor_seconds, command, Path(folder)),
                    "first": first,
                    "aim": aim,
                }
            )
    return rows


def stages(modules: int) -> dict[str, Any]:
    """Return the processor seconds for compiling the carrier from which one module after another
    leaves.
    """
    from kinetree.models import load
    from kinetree.models.run.simulation_unit import later_structures

    clock = [time.process_time()]

    def lap() -> float:
        clock.append(time.process_time())
        return clock[-1] - clock[-2]

    mechanism = load("lib:carrier", modules=modules)
    found: dict[str, Any] = {"modules": modules, "read seconds": lap()}
    system = mechanism.compile()
    found["compile seconds"] = lap()
    found["structures"] = 1 + len(later_structures(system))
    found["structures seconds"] = lap()
    result = system.simulate()
    found |= {
        "run seconds": lap(),
        "departures": sum(event.kind == "stage" for event in result.events),
    }
    return found


def instantiated(fmu: Any) -> float:
    """Return the seconds to instantiate an FMU once more in the same process."""
    fmu.fmi2FreeInstance(fmu.component)
    clock = time.perf_counter()
    fmu.instantiate()
    return time.perf_counter() - clock


def initialised(fmu: Any) -> float:
    """Return the seconds from instantiation until the first step is possible."""
    fmu.fmi2FreeInstance(fmu.component)
    clock = time.perf_counter()
    fmu.instantiate()
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    return time.perf_counter() - clock


def instances() -> list[dict[str, Any]]:
    """Return the times to instantiate, initialise and free native FMUs once more, in a process that
    has loaded the library.
    """
    from kinetree.fmu.archive.build import build_fmu
    from kinetree.models import load
    from kinetree.scripts.fmi.fmpy_host import Archive, Host

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, settings in INSTANCES.items():
            path = build_fmu(
                load(f"lib:{name}", **settings), Path(folder) / f"{name}.fmu", "native"
            )
            with Archive(path) as archive:
                Host(archive).start().close()
                fmu = Host(archive).fmu

                made = least(50, instantiated, fmu)
                ready = least(50, initialised, fmu)
                rows.append(
                    {"fmu": name, "instantiated ms": 1e3 * made, "initialised ms": 1e3 * ready}
                )
                fmu.freeInstance()
    return rows


def run(quick: bool, json_path: Path | None, plots: Path | None) -> None:
    """Run all three parts."""
    typer.echo(f"{machine()}; processor time, least of {REPEATS}\n")
    found: dict[str, Any] = {"machine": machine(), "commands": commands(2 if quick else REPEATS)}
    found |= {"stages": stages(12 if quick else MODULES), "instances": instances()}
    typer.echo("| process | s | first, without bytecode | aim |\n|---|---|---|---|")
    for row in found["commands"]:
        typer.echo(
            f"| {row['command']} | {row['seconds']:.3f} | {row['first']:.2f} | {row['aim'] or ''} |"
        )
    typer.echo(
        "\n"
        + "; ".join(
            f"{name} {value:.2f}" if isinstance(value, float) else f"{name} {value}"
            for name, value in found["stages"].items()
        )
    )
    typer.echo("\n| native FMU | instantiated, ms | and initialised, ms |\n|---|---|---|")
    for row in found["instances"]:
        typer.echo(f"| {row['fmu']} | {row['instantiated ms']:.3f} | {row['initialised ms']:.3f} |")
    if json_path:
        json_path.write_text(json.dumps(found, indent=1), encoding="utf-8")
