"""FMUs of mechanisms beside the smallest native FMU and the smallest pythonfmu slave, all through
fmpy in one run.

Measured are size, time to pack, first start, and the cost of setting, stepping and reading; the
peers only answer the calls.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.native.shell import fmi_headers
from kinetree.models import load
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.solvers.library.c_compiler import compiler
from kinetree.solvers.library.platforms import this_platform

HERE = Path(__file__).parent
STEP = 1e-3
# start a slave in a fresh process: what a user waits for before the first step, imports of the host left out
COLD = """
import sys, time
from kinetree.scripts.fmi.fmpy_host import Archive, Host
archive = Archive(sys.argv[1])
begin = time.perf_counter()
host = Host(archive).start()
print(time.perf_counter() - begin)
"""


def chain(n: int) -> dict:
    """Return the description of a chain of n links of 1 m and 1 kg, on revolute joints about y and
    z in turn.
    """
    bodies, joints = {}, {}
    for k in range(1, n + 1):
        bodies[f"link{k}"] = {
            "mass": 1.0,
            "com": [0.5, 0, 0],
            "inertia": [0.01, 0.0833, 0.0833, 0, 0, 0],
        }
        joints[f"J{k}"] = {
            "parent": f"link{k - 1}" if k > 1 else "ground", "child": f"link{k}", "type": "revolute", "axis": "y" if k % 2 else "z",
            "at": [1.0 if k > 1 else 0.0, 0, 0], "coordinates": [f"q{k}"], "start": 0.3 + 0.1 * (k - 1),
        }  # fmt: skip
    run = {"stop_time": 3.0, "output_step": STEP, "step": STEP}
    return {
        "format": "kinetree/1",
        "name": f"chain {n}",
        "gravity": [0, 0, -9.80665],
        "bodies": bodies,
        "joints": joints,
        "run": run,
    }


def minimal_native(path: Path) -> Path:
    """Build minimal_fmu.c and pack it as an FMU."""
    from zipfile import ZipFile

    with tempfile.TemporaryDirectory() as scratch:
        library = Path(scratch) / "m.so"
        flags = ["-std=c11", "-O2", "-shared", "-fPIC", "-w", f"-I{fmi_headers()}"]
        subprocess.run(
            [*compiler(), *flags, str(HERE / "minimal_fmu.c"), "-o", str(library)], check=True
        )
        with ZipFile(path, "w") as archive:
            archive.write(library, "binaries/linux64/minimal.so")
            archive.writestr("modelDescription.xml", MINIMAL)
    return path


MINIMAL = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="minimal" guid="{minimal}"><CoSimulation modelIdentifier="minimal"/>
<ModelVariables><ScalarVariable name="x" valueReference="0" causality="output"><Real/></ScalarVariable></ModelVariables>
<ModelStructure><Outputs><Unknown index="1"/></Outputs></ModelStructure></fmiModelDescription>
"""


def minimal_python(path: Path) -> Path:
    """Pack minimal_slave.py as an FMU."""
    from pythonfmu.builder import FmuBuilder

    before = list(sys.path)
    try:
        FmuBuilder.build_FMU(HERE / "minimal_slave.py", dest=path, needsExecutionTool="false")
    finally:
        sys.path[:] = before
        sys.modules.pop("minimal_slave", None)
    return path


def median(call: Callable[[], object], repeats: int = 2000) -> float:
    """Return the median time of a call [µs]."""
    costs = []
    gc.disable()
    for _ in range(repeats):
        begin = time.perf_counter_ns()
        call()
        costs.append(time.perf_counter_ns() - begin)
    gc.enable()
    return sorted(costs)[repeats // 2] * 1e-3


def calls(path: Path, outputs: int) -> dict[str, float]:
    """Return the time of one set, one step and one get call [µs] through fmpy's low-level
    interface.
    """
    with Archive(path) as archive:
        host = Host(archive).start()
        references = [
            v.valueReference
            for v in archive.description.modelVariables
            if v.causality == "output" and v.type == "Real"
        ][:outputs]
        vr = (ctypes.c_uint32 * len(references))(*references)
        values = (ctypes.c_double * len(references))()
        c, fmu = host.fmu.component, host.fmu
        given = archive.names("input")
        place = (ctypes.c_uint32 * 1)(archive.references[given[0]] if given else references[0])
        value = (ctypes.c_double * 1)(0.0)
        now = 0.0

        def step() -> None:
            nonlocal now
            fmu.dll.fmi2DoStep(c, ctypes.c_double(now), ctypes.c_double(STEP), 1)
            now += STEP

        result = {
            "step": median(step),
            "get": median(lambda: fmu.dll.fmi2GetReal(c, vr, len(vr), values)),
        }
        result["values"] = len(vr)
        result["set"] = (
            median(lambda: fmu.dll.fmi2SetReal(c, place, 1, value))
            if given or path.name.startswith("minimal")
            else float("nan")
        )
        host.fmu.freeInstance()
    return result


def cold_start(path: Path) -> float:
    """Return the time [ms] of the first start of an FMU in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", COLD, str(path)], capture_output=True, text=True, check=True
    )
    return float(done.stdout.splitlines()[-1]) * 1e3


def measure(quick: bool, folder: Path) -> list[dict]:
    """Return one row per archive."""
    rows = []
    for backend, make in (("native", minimal_native), ("python", minimal_python)):
        path = make(folder / f"minimal-{backend}.fmu")
        rows.append({"model": "minimal", "backend": backend, "packed": float("nan"), **facts(path)})
    sources = {"regulator": ("lib:regulator", "auto")} | {
        f"chain of {n}": (chain(n), "rk4") for n in ((2, 12) if quick else (2, 6, 12, 24))
    }
    own = [
        each.name for each in (this_platform(),) if each
    ]  # sizes are those of one platform, whatever has been built here besides
    for name, (source, integrator) in sources.items():
        mechanism = load(source)
        for backend in ("native", "python"):
            begin = time.perf_counter()
            path = build_fmu(
                mechanism, folder / "model.fmu", backend, integrator=integrator, platforms=own
            )
            rows.append(
                {
                    "model": name,
                    "backend": backend,
                    "packed": time.perf_counter() - begin,
                    **facts(path),
                }
            )
    return rows


def facts(path: Path) -> dict[str, float]:
    return {"size": path.stat().st_size / 1e3, "cold": cold_start(path), **calls(path, 10)}


def run(quick: bool = False, json_path: Path | None = None, plot_dir: Path | None = None) -> dict:
    """Measure, print a table, write JSON."""
    from importlib.metadata import version
    from platform import machine, processor, python_version

    with tempfile.TemporaryDirectory() as folder:
        rows = measure(quick, Path(folder))
    machine_text = f"{machine()} {processor()}, Python {python_version()}, fmpy {version('fmpy')}, pythonfmu {version('pythonfmu')}"
    report = {"machine": machine_text, "step_s": STEP, "rows": rows}
    show(report)
    if json_path:
        json_path.write_text(json.dumps(report, indent=1))
    return report


def show(report: dict) -> None:
    """Print the table and the ratio to the smallest slave of the same back end."""
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=f"{report['machine']}; steps of {report['step_s'] * 1e3:g} ms",
        title_justify="left",
        box=None,
        padding=(0, 2),
    )
    for title in (
        "model",
        "back end",
        "packed s",
        "kB",
        "first start ms",
        "set µs",
        "step µs",
        "get µs",
        "values",
        "step beside minimal",
    ):
        table.add_column(title, justify="left" if title in ("model", "back end") else "right")
    least = {row["backend"]: row["step"] for row in report["rows"] if row["model"] == "minimal"}
    for r in report["rows"]:
        numbers = [
            f"{r['packed']:.2f}",
            f"{r['size']:.0f}",
            f"{r['cold']:.1f}",
            *(f"{r[key]:.2f}" for key in ("set", "step", "get")),
        ]
        table.add_row(
            r["model"],
            r["backend"],
            *numbers,
            f"{r['values']:.0f}",
            f"{r['step'] / least[r['backend']]:.1f}x",
        )
    Console(highlight=False, width=150).print(table)
