"""Checks of an archive in external hosts: every kind of archive, and states passed between
processes.

What cannot run on this machine is reported with what is missing; a host that runs must reproduce
the values of fmpy on this machine, and restore states saved by another process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kinetree.scripts.fmi.bare_c_host import BareHost, HostError
from kinetree.scripts.fmi.fmpy_host import Archive
from kinetree.scripts.fmi.host_programs import (
    FOREIGN,
    INTEGRATED,
    SINES,
    ForeignHost,
    Task,
    by_c_program,
    by_fmpy,
    deviation,
    tasks,
)
from kinetree.solvers.library.c_compiler import LibraryError

if TYPE_CHECKING:
    from kinetree.scripts.fmi.verify import Report

STEPS = 100


def in_hosts(report: Report, path: Path, names: Sequence[str]) -> None:
    """Report for each host the largest deviation from fmpy, or why it was not run."""
    if not names:
        return
    with Archive(path) as archive:
        runs = tasks(archive, archive.step, STEPS)
        expected = by_fmpy(runs[0], FOREIGN["fmpy"].platform)
        for name in names:
            for task in runs:
                report_host(report, FOREIGN[name], task, expected)


def report_host(report: Report, host: ForeignHost, task: Task, expected: list[float]) -> None:
    """Report a run in a host; for our own FMI 2.0 C host also a run resumed from a saved state."""
    title = f"host {host.name} ({host.platform.name}), {task.kind}"
    if reason := host.cannot(task):
        report.add(title, f"not run: {reason}")
        return
    try:
        report.compare(
            f"{title}, {STEPS} steps",
            deviation(host.run(task, host.platform), expected),
            INTEGRATED if task.exchange else host.stepped,
        )
        if host.run is by_c_program and not task.exchange and task.archive.version == 2:
            report.compare(f"{title}, a state resumed", resumed(host, task, expected), SINES)
    except (HostError, LibraryError) as error:
        report.add(title, str(error), False)


def resumed(host: ForeignHost, task: Task, expected: list[float]) -> float:
    """Return the deviation of a run that saves its state, and of one that resumes from the saved
    state.
    """
    with tempfile.TemporaryDirectory() as folder:
        program, state = BareHost(task.archive, host.platform, task.names), Path(folder) / "state"
        return max(
            deviation(program.values(what, task.step, task.count // 2, state), expected)
            for what in ("save", "load")
        )
