"""Host programs that run FMUs and return the final values, or the reason why they cannot.

fmpy, libcosim and ecos come with the tests' packages; a C program of ours runs here, under Wine and
under QEMU; fmusim and OMSimulator are used if they are on the path. Every run except fmpy's is a
process of its own; those of our C program have an empty environment.
"""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.fmu.native.binaries import place_of
from kinetree.scripts.fmi import sensitivity
from kinetree.scripts.fmi.bare_c_host import (
    HostError,
    launcher,
    native_program,
    no_compiler,
    resources_place,
    why_not,
)
from kinetree.scripts.fmi.component_host import by_component
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.python_hosts import ECOS, LIBCOSIM
from kinetree.solvers.library.platforms import PLATFORMS, WEBASSEMBLY, Platform, this_platform

TOLERANCE = 1e-8  # of hosts that integrate themselves
INTEGRATED = 2e-3  # deviation allowed there: rates at corners are the largest
COARSE = 0.2  # of OMSimulator 2.1.3, which reads laws of time at its last communication point: the table of hosts calls that off and goes on
SINES = 1e-9  # the C libraries differ in the last digit of a sine
RESULT = "RESULT"  # before the values in what a process of ours prints
LIMIT = 600.0  # seconds for one run


@dataclass(frozen=True)
class Task:
    """A run of an archive by co-simulation or model exchange: real variables to read after `count`
    equal steps.
    """

    archive: Archive
    exchange: bool
    names: list[str] = field(default_factory=list)
    step: float = 1e-3
    count: int = 100
    tolerance: float | None = None  # of hosts in C that integrate; nothing: their own
    parameters: dict[str, float] = field(default_factory=dict)  # set by hosts in C

    @property
    def kind(self) -> str:
        return f"{'ME' if self.exchange else 'CS'} {self.archive.version}.0"

    @property
    def end(self) -> float:
        return self.step * self.count

    @property
    def identifier(self) -> str:
        part: Any = (
            self.archive.description.modelExchange
            if self.exchange
            else self.archive.description.coSimulation
        )
        return part.modelIdentifier

    @property
    def references(self) -> list[int]:
        return [self.archive.references[name] for name in self.names]


@dataclass(frozen=True)
class ForeignHost:
    """A host program with its platform, FMI versions and abilities."""

    name: str
    platform: Platform
    run: Callable[[Task, Platform], list[float]]
    missing: Callable[[], str]
    versions: tuple[int, ...] = (2, 3)
    exchange: bool = True
    stepping: bool = True  # co-simulation
    python: bool = True
    stepped: float = 1e-6  # deviation allowed: hosts add up their times, or count whole nanoseconds, and impacts enlarge that
    seen: float = INTEGRATED  # deviations that were seen in model exchange: above INTEGRATED they are off, above this they are failures

    def cannot(self, task: Task) -> str:
        """Return why this host cannot run a task on this machine; empty if it can."""
        archive = task.archive
        if reason := self.missing():
            return reason
        if archive.version not in self.versions:
            return f"{self.name} has no FMI {archive.version}.0"
        if task.exchange and not self.exchange:
            return f"{self.name} has no model exchange"
        if not task.exchange and not self.stepping:
            return f"{self.name} is for model exchange"
        if archive.needs_python and not self.python:
            return f"no Python for {self.platform.name} is here"
        if (
            not archive.compiled
            and not (
                Path(archive.folder) / place_of(self.platform, task.identifier, archive.version)
            ).exists()
        ):
            return f"the archive has no binary for {self.platform.name} (kinetree fmu --platforms {self.platform.name})"
        return ""


def outputs(archive: Archive) -> list[str]:
    """Return the outputs that do not depend on the step size."""
    return [
        name
        for name in archive.names("output")
        if not name.endswith(("_residual", ".mean_speed", ",2)"))
    ]


def tasks(archive: Archive, step: float, count: int) -> list[Task]:
    """Return one task per kind of the archive: co-simulation, model exchange."""
    d = archive.description
    kinds = ((False, d.coSimulation), (True, d.modelExchange))
    return [
        Task(archive, exchange, outputs(archive), step, count)
        for exchange, part in kinds
        if part is not None
    ]


def deviation(found: list[float], expected: list[float]) -> float:
    """Return the largest deviation, relative to the expected value where that exceeds 1; NaN counts
    as infinite.
    """
    if len(found) != len(expected):
        raise HostError(f"{len(found)} values, expected {len(expected)}")
    return (
        sensitivity.deviation(np.array(found), np.array(expected))
        if np.isfinite(found).all()
        else math.inf
    )


def finished(
    line: list[str], folder: Path, environment: dict[str, str], read: Callable[[str], list[float]]
) -> list[float]:
    """Run a command and return its output parsed by `read`; raise HostError if it fails."""
    try:
        done = subprocess.run(
            line,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise HostError(f"not done after {LIMIT:g} s") from None
    try:
        if done.returncode:
            raise HostError(f"ended with {done.returncode}")
        return read(done.stdout)
    except (HostError, OSError, ValueError, IndexError, StopIteration) as error:
        said = " ".join((done.stdout + done.stderr).split())[-300:]
        raise HostError(f"{str(error) or type(error).__name__}: {said}") from error


def by_fmpy(task: Task, platform: Platform) -> list[float]:
    """Run a task in fmpy, model exchange by its CVode; return the last values."""
    archive = task.archive
    if not task.exchange:
        host = Host(archive).start()
        for k in range(1, task.count + 1):
            host.step(k * task.step)
        values = host.get(task.names)
        host.close()
        return values
    from fmpy import simulate_fmu

    result = simulate_fmu(
        archive.folder, stop_time=task.end, fmi_type="ModelExchange", solver="CVode", relative_tolerance=TOLERANCE, output_interval=task.step,
        output=task.names, record_events=False,
    )  # fmt: skip
    return [float(result[name][-1]) for name in task.names]


def by_c_program(task: Task, platform: Platform, habits: str = "me") -> list[float]:
    """Run a task in the C host of a platform and return the last values."""
    return by_habits(task, platform, habits)[0]


def by_habits(task: Task, platform: Platform, habits: str) -> tuple[list[float], int]:
    """Run a task in the C host of a platform, model exchange with the event handling of another
    host; return the last values and the number of events.
    """
    archive, d = task.archive, task.archive.description
    command, environment = launcher(platform)
    library = Path(archive.folder) / place_of(platform, task.identifier, archive.version)
    token = d.guid if archive.version == 2 else d.instantiationToken
    states = sum(1 for v in d.modelVariables if v.derivative is not None)
    words = [
        resources_place(archive, platform),
        token,
        f"fmi{archive.version}",
        habits if task.exchange else "cs",
        ",".join(map(str, task.references)),
    ]
    numbers = [
        repr(task.step),
        str(task.count),
        str(states),
        str(d.numberOfEventIndicators or 0),
    ]
    if task.tolerance or task.parameters:
        given = (f"{archive.references[name]}={x!r}" for name, x in task.parameters.items())
        numbers += [repr(task.tolerance or 0.0), ",".join(given)]
    line = [*command, str(native_program("motion_host", platform)), str(library), *words, *numbers]
    events: list[int] = []

    def read(said: str) -> list[float]:
        rows = [row.split() for row in said.splitlines()]
        events.extend(int(row[1]) for row in rows if row[:1] == ["events"])
        return [float(row[1]) for row in rows if row[:1] == ["value"]]

    return finished(line, Path(archive.folder), environment, read), sum(events)


def with_habits(habits: str) -> Callable[[Task, Platform], list[float]]:
    """Return a function that runs our C host with the event handling of another host."""
    return lambda task, platform: by_c_program(task, platform, habits)


def by_script(script: str, by_name: bool) -> Callable[[Task, Platform], list[float]]:
    """Return a function that runs a task by a Python script in its own process."""

    def run(task: Task, platform: Platform) -> list[float]:
        with tempfile.TemporaryDirectory() as folder:
            wanted = json.dumps(task.names if by_name else task.references)
            line = [
                sys.executable,
                "-c",
                script,
                str(task.archive.path.resolve()),
                repr(task.step),
                str(task.count),
                wanted,
            ]
            environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": folder}
            return finished(line, Path(folder), environment, result_in)

    return run


def result_in(said: str) -> list[float]:
    """Return the values in the output of a script of ours."""
    begin = f"{RESULT} "
    line = next(row for row in said.splitlines() if row.startswith(begin))
    return json.loads(line.removeprefix(begin))


def by_mapping(task: Task, platform: Platform) -> list[float]:
    """Run a task in fmpy with the archive's macOS library mapped into a Linux process."""
    line = [
        sys.executable,
        "-m",
        "kinetree.scripts.fmi.mapped_host",
        str(task.archive.path.resolve()),
    ]
    line += [
        "ME" if task.exchange else "CS",
        repr(task.step),
        str(task.count),
        json.dumps(task.names),
    ]
    return finished(line, Path(task.archive.folder), dict(os.environ), result_in)


def not_mapped() -> str:
    """Return why a macOS library cannot be mapped here; empty if it can."""
    return (
        ""
        if this_platform() == LINUX
        else "libraries of macOS are mapped into Linux on x86-64 only"
    )


def by_table(
    arguments: Callable[[Task, Path], list[str]], program: str
) -> Callable[[Task, Platform], list[float]]:
    """Return a function that runs a task in a program that writes a table with a column per
    variable.
    """

    def run(task: Task, platform: Platform) -> list[float]:
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.csv"
            line = [
                str(shutil.which(program)),
                *arguments(task, table),
                str(task.archive.path.resolve()),
            ]
            return finished(
                line,
                Path(folder),
                {"PATH": os.environ.get("PATH", os.defpath), "HOME": folder},
                lambda said: row_at(table, task.names, task.end),
            )

    return run


def row_at(table: Path, names: list[str], time: float) -> list[float]:
    """Return the values by name in the last row at a time. Unquoted headings that were split at
    commas inside names are joined again.
    """
    rows = list(csv.reader(table.read_text(encoding="utf-8").splitlines()))
    heading: list[str] = []
    for word in rows[0]:
        if heading and heading[-1].count("(") + heading[-1].count("[") > heading[-1].count(
            ")"
        ) + heading[-1].count("]"):
            heading[-1] += f",{word}"
        else:
            heading.append(word)
    plain = {word.strip().removeprefix("model.root."): k for k, word in enumerate(heading)}
    lost = [name for name in names if name not in plain]
    if lost:
        raise HostError(f"the table has no column '{lost[0]}'")
    found = [row for row in rows[1:] if abs(float(row[0]) - time) < 1e-6 * (1.0 + time)]
    if not found:
        raise HostError(f"the table has no row at t = {time:g}")
    return [float(found[-1][plain[name]]) for name in names]


def fmusim(task: Task, table: Path) -> list[str]:
    what = [word for name in task.names for word in ("--output-variable", name)]
    times = [
        "--stop-time",
        repr(task.end),
        "--output-interval",
        repr(task.step),
        "--solver",
        "cvode",
        "--tolerance",
        repr(TOLERANCE),
    ]
    return [
        "--interface-type",
        "me" if task.exchange else "cs",
        *times,
        "--output-file",
        str(table),
        *what,
    ]


def omsimulator(task: Task, table: Path) -> list[str]:
    stop = (
        2.0 * task.end if task.end == 1.0 else task.end
    )  # it takes a stop time of 1 s for none at all
    times = [
        f"--stopTime={stop!r}",
        f"--stepSize={task.step!r}",
        f"--intervals={round(stop / task.step)}",
        f"--tolerance={TOLERANCE!r}",
    ]
    return [
        f"--mode={'me' if task.exchange else 'cs'}",
        "--solver=cvode",
        *times,
        f"--resultFile={table}",
    ]


def package(name: str, extra: str = "") -> Callable[[], str]:
    """Return a function that tells why a package is missing; empty if it is installed."""
    return lambda: "" if find_spec(name) else f"{name} is missing: pip install {extra or name}"


def ecos_missing() -> str:
    if not find_spec("ecospy"):
        return "ecospy is missing: pip install ecospy"
    known = (
        subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout
        if shutil.which("ldconfig")
        else "libtbb.so.12"
    )
    return "" if "libtbb.so.12" in known else "its library is missing: apt-get install libtbb12"


def on_path(program: str) -> Callable[[], str]:
    return lambda: (
        "" if shutil.which(program) else f"the program {program} is not on the search path"
    )


def here(missing: Callable[[], str]) -> Callable[[], str]:
    """Return a function that tells why a host cannot run on this machine."""
    return lambda: why_not(LINUX) or missing()


LINUX, ARM = PLATFORMS["linux64"], PLATFORMS["aarch64-linux"]
MAC, MAC_ARM = PLATFORMS["darwin64"], PLATFORMS["aarch64-darwin"]
FOREIGN = {
    each.name: each
    for each in (
        ForeignHost("fmpy", LINUX, by_fmpy, here(lambda: "")),
        ForeignHost(
            "libcosim", LINUX, by_script(LIBCOSIM, False), here(package("libcosimpy")), (2,), False
        ),
        ForeignHost("ecos", LINUX, by_script(ECOS, True), here(ecos_missing), (2,), False),
        ForeignHost("bare", LINUX, by_c_program, here(no_compiler), stepped=SINES),
        ForeignHost("omc-like", LINUX, with_habits("omc"), here(no_compiler), stepping=False),
        ForeignHost("oms-like", LINUX, with_habits("oms"), here(no_compiler), stepping=False),
        ForeignHost(
            "wine",
            PLATFORMS["win64"],
            by_c_program,
            lambda: why_not(PLATFORMS["win64"]),
            python=False,
            stepped=SINES,
        ),
        ForeignHost("qemu", ARM, by_c_program, lambda: why_not(ARM), python=False, stepped=SINES),
        ForeignHost("mapped", MAC, by_mapping, not_mapped, python=False, stepped=SINES),
        ForeignHost(
            "apple", MAC_ARM, by_c_program, lambda: why_not(MAC_ARM), python=False, stepped=SINES
        ),
        ForeignHost(
            "wasmtime",
            WEBASSEMBLY,
            by_component,
            package("wasmtime"),
            (3,),
            python=False,
            stepped=SINES,
        ),
        ForeignHost("fmusim", LINUX, by_table(fmusim, "fmusim"), here(on_path("fmusim"))),
        ForeignHost(
            "omsimulator",
            LINUX,
            by_table(omsimulator, "OMSimulator"),
            here(on_path("OMSimulator")),
            (2,),
            seen=COARSE,
        ),
    )
}
