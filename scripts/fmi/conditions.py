"""What hosts do with an instance besides stepping it evenly: reset it, interleave two of them, go back and forth, grow the steps, change parameters,
run in a process with an empty environment out of a folder with an awkward name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinetree.fmu.variables import Access
from kinetree.scripts.fmi.host import Archive, Host
from kinetree.scripts.fmi.in_process import InProcess

if TYPE_CHECKING:
    from kinetree.scripts.fmi.verify import Report

AWKWARD = "Ünterlagen %23 + #1"
STEPS, REWINDS, GROWTH, CHANGE = 20, 4, 1.3, 1.02
SWEEP = 1e-4  # other communication steps move the steps of the integrator
PLAIN = """
import ctypes, json, sys
library, folder, guid, references, steps = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4]), json.loads(sys.argv[5])
fmu = ctypes.CDLL(library)
fmu.fmi2Instantiate.restype = ctypes.c_void_p
class Callbacks(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("logger", "allocate", "free", "finished", "environment")]
instance = ctypes.c_void_p(fmu.fmi2Instantiate(b"a", 1, guid.encode(), folder.encode(), ctypes.byref(Callbacks()), 0, 0))
assert instance.value and fmu.fmi2SetupExperiment(instance, 0, ctypes.c_double(0), ctypes.c_double(0), 0, ctypes.c_double(0)) == 0
assert fmu.fmi2EnterInitializationMode(instance) == 0 and fmu.fmi2ExitInitializationMode(instance) == 0
for t, h in steps:
    assert fmu.fmi2DoStep(instance, ctypes.c_double(t), ctypes.c_double(h), 1) == 0
values = (ctypes.c_double * len(references))()
assert fmu.fmi2GetReal(instance, (ctypes.c_uint * len(references))(*references), ctypes.c_size_t(len(references)), values) == 0
print(json.dumps(list(values)))
"""


def conditions(report: Report, archive: Archive, twin: InProcess, grid: Sequence[float], names: list[str], expected: np.ndarray) -> None:
    """All of them; what an archive does not offer is said."""
    few = list(grid[: STEPS + 1])
    part = archive.description.coSimulation
    first = rows(Host(archive).start(), few, names)
    reset(report, archive, few, names, first)
    interleaved(report, archive, few, names, first)
    if getattr(part, "canGetAndSetFMUstate", False) or getattr(part, "canGetAndSetFMUState", False):
        rewinds(report, archive, grid, names)
    growing(report, archive, grid, names, expected)
    parameters(report, archive, twin, few, names)
    bare_process(report, archive, few, names, first[-1])


def rows(host: Host, grid: Sequence[float], names: Sequence[str]) -> np.ndarray:
    """Values at the times of a grid; the instance is freed."""
    found = [host.get(names)]
    for t in grid[1:]:
        host.step(t)
        found.append(host.get(names))
    host.close()
    return np.array(found)


def largest(a: np.ndarray, b: np.ndarray) -> float:
    """Difference relative to the size of a column where that exceeds 1."""
    scale = np.maximum(1.0, np.max(np.abs(b), axis=0)) if b.ndim > 1 else np.maximum(1.0, np.abs(b))
    return float(np.max(np.abs(a - b) / scale)) if a.size else 0.0


def reset(report: Report, archive: Archive, grid: Sequence[float], names: list[str], first: np.ndarray) -> None:
    """After a reset an instance is as new."""
    host = Host(archive).start()
    for t in grid[1:]:
        host.step(t)
    host.fmu.reset()
    report.compare("after a reset", largest(rows(host.start(), grid, names), first), 0.0)


def interleaved(report: Report, archive: Archive, grid: Sequence[float], names: list[str], first: np.ndarray) -> None:
    """Two instances in one process, a step of one and then one of the other, half a grid apart."""
    hosts, found, shift = [Host(archive).start(), Host(archive).start()], [[], []], len(grid) // 2
    for k in range(len(grid) + shift):
        for host, table, at in zip(hosts, found, (k, k - shift), strict=True):
            if 0 <= at < len(grid):
                if at:
                    host.step(grid[at])
                table.append(host.get(names))
    for host in hosts:
        host.close()
    report.compare("two instances, step by step", max(largest(np.array(table), first) for table in found), 0.0)


def rewinds(report: Report, archive: Archive, grid: Sequence[float], names: list[str]) -> None:
    """Back from the end of every quarter to its beginning, stages and events included, and on again."""
    host, worst, ends = Host(archive).start(), 0.0, [round(k * (len(grid) - 1) / REWINDS) for k in range(REWINDS + 1)]
    for begin, end in zip(ends, ends[1:]):
        state, passes = host.save(), []
        for _ in range(2):
            host.restore(state)
            for t in grid[begin + 1 : end + 1]:
                host.step(t)
            passes.append(np.array(host.get(names)))
        host.forget(state)
        worst = max(worst, largest(passes[1], passes[0]))
    host.close()
    report.compare(f"{REWINDS} rewinds over all stages", worst, 0.0)


def growing(report: Report, archive: Archive, grid: Sequence[float], names: list[str], expected: np.ndarray) -> None:
    """Steps that grow by 30 % each reach the same end."""
    times, h = [0.0], (grid[1] - grid[0]) / 10.0
    while times[-1] + h < grid[-1]:
        times.append(times[-1] + h)
        h *= GROWTH
    report.compare("growing steps", largest(rows(Host(archive).start(), [*times, grid[-1]], names)[-1], expected[-1]), SWEEP)


def parameters(report: Report, archive: Archive, twin: InProcess, grid: Sequence[float], names: list[str]) -> None:
    """A tunable parameter changes in the middle, in the FMU and in this process."""
    tunable = [v for v in twin.table.variables if v.access == Access.TUNABLE and v.start]
    chosen = next((v for v in tunable if v.minimum <= CHANGE * (v.start or 0.0) <= v.maximum), None)
    if chosen is None or archive.version != 2:
        report.add("parameter changed at run time", "no tunable parameter" if chosen is None else "FMI 3.0: in event mode only")
        return
    half, found = len(grid) // 2, []
    twin.reset()
    for each in (Host(archive).start(), twin.start()):
        for k, t in enumerate(grid[1:], 1):
            if k == half:
                each.set({chosen.name: CHANGE * (chosen.start or 0.0)})
            each.step(t)
        found.append(np.array(each.get(names)))
    report.compare(f"{chosen.name} changed at run time", largest(found[0], found[1]), 1e-12)


def bare_process(report: Report, archive: Archive, grid: Sequence[float], names: list[str], expected: np.ndarray) -> None:
    """A process with an empty environment and a home that cannot be written; signs of URLs and letters beyond ASCII in the folder's name."""
    library = next((Path(archive.folder) / "binaries" / "linux64").glob("*.so"), None) if archive.version == 2 else None
    if library is None or archive.needs_python:
        report.add("empty environment, awkward folder", "not run: for native FMUs of FMI 2.0 on Linux")
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / AWKWARD
        folder.mkdir()
        for name in ("binaries", "resources"):
            (folder / name).symlink_to(Path(archive.folder) / name)
        steps = [[a, b - a] for a, b in zip(grid, grid[1:])]
        there = folder / "binaries" / "linux64" / library.name
        place = (folder / "resources").as_uri()
        references = json.dumps([archive.references[name] for name in names])
        line = [sys.executable, "-I", "-c", PLAIN, str(there), place, archive.description.guid, references, json.dumps(steps)]
        done = subprocess.run(line, capture_output=True, text=True, cwd=os.sep, env={"HOME": "/proc"}, timeout=600)
    if done.returncode:
        report.add("empty environment, awkward folder", done.stderr.strip()[-300:] or f"ended with {done.returncode}", False)
        return
    report.compare("empty environment, awkward folder", largest(np.array(json.loads(done.stdout)), expected), 1e-12)
