"""Checks of instance handling by hosts: reset, interleaving, rollback, growing steps, parameter
changes, other models in the same process, an empty environment, an awkward folder name.
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
from kinetree.scripts.fmi.bare_c_host import HostError
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.host_programs import FOREIGN, Task
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.scripts.fmi.sensitivity import SAME, TAIL, deviation, end_deviation, rounded, run
from kinetree.solvers.library.c_compiler import LibraryError

if TYPE_CHECKING:
    from kinetree.scripts.fmi.verify import Report

AWKWARD = "Ünterlagen %23 + #1"
STEPS, REWINDS, GROWTH, CHANGE = 20, 4, 1.3, 1.02
SWEEP = 1e-4  # other communication steps move the steps of the integrator
# another model for the same process, whose solution is known
DECAY = {
    "format": "kinetree/1",
    "name": "decay",
    "states": {"x": {"rate": "-x", "start": 1.0}},
    "outputs": {"y": {"value": "x"}},
}
CLOSE_IN_STEPS = 1e-5  # of its solution, in steps of any length


def conditions(
    report: Report,
    archive: Archive,
    twin: InProcess,
    grid: Sequence[float],
    names: list[str],
    expected: np.ndarray,
    straight: bool,
    swept: float = SWEEP,
) -> None:
    """Run all checks of instance handling; features that an archive lacks are reported. `swept`:
    deviation that other communication steps may cause.
    """
    few = list(grid[: STEPS + 1])
    part = archive.description.coSimulation
    first = rows(Host(archive).start(), few, names)
    reset(report, archive, few, names, first)
    interleaved(report, archive, few, names, first)
    if getattr(part, "canGetAndSetFMUstate", False) or getattr(part, "canGetAndSetFMUState", False):
        rewinds(report, archive, grid, names)
    growing(report, archive, grid, names, expected, swept)
    parameters(report, archive, twin, few, names, straight)
    beside_another(report, archive, few, names, first)
    bare_process(report, archive, few, names, first[-1])


def rows(host: Host, grid: Sequence[float], names: Sequence[str]) -> np.ndarray:
    """Return the values of variables at the times of a grid; the instance is freed."""
    found = run(host, grid, names)
    host.close()
    return found


def reset(
    report: Report, archive: Archive, grid: Sequence[float], names: list[str], first: np.ndarray
) -> None:
    """Check that an instance behaves as new after a reset."""
    host = Host(archive).start()
    for t in grid[1:]:
        host.step(t)
    host.fmu.reset()
    report.compare("after a reset", deviation(rows(host.start(), grid, names), first), 0.0)


def interleaved(
    report: Report, archive: Archive, grid: Sequence[float], names: list[str], first: np.ndarray
) -> None:
    """Check two instances in one process, stepped alternately with an offset of half the grid."""
    hosts, found, shift = [Host(archive).start(), Host(archive).start()], [[], []], len(grid) // 2
    for k in range(len(grid) + shift):
        for host, table, at in zip(hosts, found, (k, k - shift), strict=True):
            if 0 <= at < len(grid):
                if at:
                    host.step(grid[at])
                table.append(host.get(names))
    for host in hosts:
        host.close()
    report.compare(
        "two instances, step by step",
        max(deviation(np.array(table), first) for table in found),
        0.0,
    )


def rewinds(report: Report, archive: Archive, grid: Sequence[float], names: list[str]) -> None:
    """Check rollback from the end of every quarter of the run to its beginning."""
    host, worst, ends = (
        Host(archive).start(),
        0.0,
        [round(k * (len(grid) - 1) / REWINDS) for k in range(REWINDS + 1)],
    )
    for begin, end in zip(ends, ends[1:]):
        state, passes = host.save(), []
        for _ in range(2):
            host.restore(state)
            for t in grid[begin + 1 : end + 1]:
                host.step(t)
            passes.append(np.array(host.get(names)))
        host.forget(state)
        worst = max(worst, deviation(passes[1], passes[0]))
    host.close()
    report.compare(f"{REWINDS} rewinds over all stages", worst, 0.0)


def growing(
    report: Report,
    archive: Archive,
    grid: Sequence[float],
    names: list[str],
    expected: np.ndarray,
    bound: float = SWEEP,
) -> None:
    """Check that a run with steps growing by 30 % each ends with the same values."""
    times, h = [0.0], (grid[1] - grid[0]) / 10.0
    while times[-1] + h < grid[-1]:
        times.append(times[-1] + h)
        h *= GROWTH
    report.compare(
        "growing steps",
        end_deviation(rows(Host(archive).start(), [*times, grid[-1]], names)[-1], expected),
        bound,
    )


def parameters(
    report: Report,
    archive: Archive,
    twin: InProcess,
    grid: Sequence[float],
    names: list[str],
    straight: bool,
) -> None:
    """Check a change of a tunable parameter in the middle of a run."""
    tunable = [v for v in twin.table.variables if v.access == Access.TUNABLE and v.start]
    chosen = next((v for v in tunable if v.minimum <= CHANGE * (v.start or 0.0) <= v.maximum), None)
    if chosen is None:
        report.add("parameter changed at run time", "no tunable parameter")
        return
    half, value = len(grid) // 2, CHANGE * (chosen.start or 0.0)

    def changed(unit: Host | InProcess) -> np.ndarray:
        run(unit, grid[:half], names)
        if archive.version == 3 and isinstance(unit, Host):
            unit.fmu.enterEventMode()
            unit.set({chosen.name: value})
            leave_event_mode(unit)
        else:
            unit.set({chosen.name: value})
        for t in grid[half:]:
            unit.step(t)
        return np.array(unit.get(names))

    options: dict[str, Any] = {"event_mode_used": True} if archive.version == 3 else {}
    host = Host(archive, **options).start()
    if archive.version == 3:
        leave_event_mode(host)
    found = changed(host)
    host.close()
    twin.reset()
    expected = changed(twin.start())
    bound = max(SAME, TAIL * rounded(twin, changed)) if straight else SAME
    report.compare(f"{chosen.name} changed at run time", deviation(found, expected), bound)


def leave_event_mode(host: Host) -> None:
    """Update discrete states until nothing changes and return to step mode."""
    while host.fmu.updateDiscreteStates()[0]:
        pass
    host.fmu.enterStepMode()


def beside_another(
    report: Report, archive: Archive, grid: Sequence[float], names: list[str], first: np.ndarray
) -> None:
    """Check that an FMU of another model in the same process does not interfere."""
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
    report.compare("beside another FMU", deviation(np.array(found), first), 0.0)
    report.compare("the other FMU", worst, CLOSE_IN_STEPS)


def bare_process(
    report: Report, archive: Archive, grid: Sequence[float], names: list[str], expected: np.ndarray
) -> None:
    """Check a run in a C program with an empty environment and special characters in the folder
    name.
    """
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
    report.compare(title, deviation(np.array(found), expected), SAME)
