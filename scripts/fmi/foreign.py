"""An archive in hosts of their own: bare C programs for each platform, run here, under Wine or under QEMU, each with an empty environment.

Whatever cannot run here is said with what is missing; a host that runs has to give the numbers of fmpy on this machine, and take states of others.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.scripts.fmi.bare import BareHost, HostError, why_not
from kinetree.scripts.fmi.host import Archive, Host
from kinetree.solvers.library.platforms import PLATFORMS, this_platform
from kinetree.solvers.library.tools import LibraryError

if TYPE_CHECKING:
    from kinetree.scripts.fmi.verify import Report

HOSTS = {"bare": "linux64", "wine": "win64", "qemu": "aarch64-linux"}
STEPS = 100
SAME = 1e-9  # C libraries differ in the last digit of a sine


def in_hosts(report: Report, path: Path, names: Sequence[str]) -> None:
    """One row for each host: its largest deviation after some steps, or why there is none."""
    with Archive(path) as archive:
        if archive.version != 2:
            for name in names:
                report.add(f"host {name}", "not run: the bare host speaks FMI 2.0 only")
            return
        experiment: Any = archive.description.defaultExperiment
        step = float(experiment.stepSize)
        expected = in_fmpy(archive, step)
        for name in names:
            report_host(report, archive, name, step, expected)


def in_fmpy(archive: Archive, step: float) -> list[float]:
    host = Host(archive).start()
    for k in range(STEPS):
        host.fmu.doStep(currentCommunicationPoint=k * step, communicationStepSize=step)
    values = host.get(archive.names("output"))
    host.fmu.freeInstance()
    return values


def report_host(report: Report, archive: Archive, name: str, step: float, expected: list[float]) -> None:
    """Run to the end, and again from a state that was saved half of the way, in processes of their own."""
    target = PLATFORMS[HOSTS[name]]
    title = f"host {name} ({target.name})"
    if reason := why_not(target):
        report.add(title, f"not run: {reason}")
        return
    if not list((Path(archive.folder) / "binaries").glob(f"{target.name}/*")):
        report.add(title, f"not run: the archive has no binary for {target.name} (kinetree fmu --platforms {target.name})")
        return
    try:
        with tempfile.TemporaryDirectory() as folder:
            host = BareHost(archive, target, archive.names("output"))
            through = host.values("save", step, STEPS // 2, Path(folder) / "state")
            resumed = host.values("load", step, STEPS // 2, Path(folder) / "state")
    except (HostError, LibraryError) as error:
        report.add(title, str(error), target != this_platform() and "no host" in str(error))
        return
    scale = np.maximum(1.0, np.abs(expected))
    worst = max(float(np.max(np.abs(np.array(found) - expected) / scale)) for found in (through, resumed))
    report.compare(f"{title}, {STEPS} steps and a state resumed", worst, SAME)
