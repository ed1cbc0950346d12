"""What hosts do with an instance besides stepping it evenly: reset it, interleave two of them, go back and forth, grow the steps, change parameters,
hold an FMU of another model beside it, run in a process with an empty environment out of a folder with an awkward name.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.fmu.variables import Access
from kinetree.scripts.fmi.bare import HostError
from kinetree.scripts.fmi.host import Archive, Host
from kinetree.scripts.fmi.hosts import FOREIGN, Task
from kinetree.scripts.fmi.in_process import InProcess
from kinetree.solvers.library.tools import LibraryError

if TYPE_CHECKING:
    from kinetree.scripts.fmi.verify import Report

AWKWARD = "Ünterlagen %23 + #1"
STEPS, REWINDS, GROWTH, CHANGE = 20, 4, 1.3, 1.02
SWEEP = 1e-4  # other communication steps move the steps of the integrator
# another model for the same process, whose solution is known
DECAY = {"format": "kinetree/1", "name": "decay", "states": {"x": {"rate": "-x", "start": 1.0}}, "outputs": {"y": {"value": "x"}}}
NEAR = 1e-5  # of its solution, in steps of any length


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
    beside_another(report, archive, few, names, first)
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
    """A tunable parameter changes in the middle, in the FMU and in this process; FMI 3.0 allows that in event mode."""
    tunable = [v for v in twin.table.variables if v.access == Access.TUNABLE and v.start]
    chosen = next((v for v in tunable if v.minimum <= CHANGE * (v.start or 0.0) <= v.maximum), None)
    if chosen is None:
        report.add("parameter changed at run time", "no tunable parameter")
        return
    half, found = len(grid) // 2, []
    twin.reset()
    modes = archive.version == 3
    options: dict[str, Any] = {"event_mode_used": True} if modes else {}
    host = Host(archive, **options).start()
    if modes:
        leave_event_mode(host)
    for each in (host, twin.start()):
        for k, t in enumerate(grid[1:], 1):
            if k == half:
                if modes and each is host:
                    host.fmu.enterEventMode()
                each.set({chosen.name: CHANGE * (chosen.start or 0.0)})
                if modes and each is host:
                    leave_event_mode(host)
            each.step(t)
        found.append(np.array(each.get(names)))
    host.close()
    report.compare(f"{chosen.name} changed at run time", largest(found[0], found[1]), 1e-12)


def leave_event_mode(host: Host) -> None:
    """Until nothing changes any more, and on to steps."""
    while host.fmu.updateDiscreteStates()[0]:
        pass
    host.fmu.enterStepMode()


def beside_another(report: Report, archive: Archive, grid: Sequence[float], names: list[str], first: np.ndarray) -> None:
    """An FMU of another model in the same process, a step of one and then one of the other: both move as if they were alone."""
    from kinetree.fmu.archive.build import FmuError, build_fmu
    from kinetree.models import load

    with tempfile.TemporaryDirectory() as folder:
        try:
            path = build_fmu(load(DECAY), Path(folder) / "decay.fmu", "native", archive.version)
        except FmuError as error:
            report.add("beside another FMU", f"not run: {error}")
            return
        with Archive(path) as other:
            host, guest, worst = Host(archive).start(), Host(other).start(), 0.0
            found = [host.get(names)]
            for t in grid[1:]:
                host.step(t)
                guest.step(t)
                found.append(host.get(names))
                worst = max(worst, abs(guest.get(["y"])[0] - math.exp(-t)))
            host.close()
            guest.close()
    report.compare("beside another FMU", largest(np.array(found), first), 0.0)
    report.compare("the other FMU", worst, NEAR)


def bare_process(report: Report, archive: Archive, grid: Sequence[float], names: list[str], expected: np.ndarray) -> None:
    """A C program with an empty environment and no home; signs of URLs and letters beyond ASCII in the folder's name."""
    title, host = "empty environment, awkward folder", FOREIGN["bare"]
    task = Task(archive, False, names, grid[1] - grid[0], len(grid) - 1)
    if reason := host.cannot(task):
        report.add(title, f"not run: {reason}")
        return
    with tempfile.TemporaryDirectory() as scratch:
        there = copy(archive)
        there.folder = str(Path(scratch) / AWKWARD)
        shutil.copytree(archive.folder, there.folder)
        try:
            found = host.run(replace(task, archive=there), host.platform)
        except (HostError, LibraryError) as error:
            report.add(title, str(error), False)
            return
    report.compare(title, largest(np.array(found), expected), 1e-12)
