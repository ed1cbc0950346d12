"""The table of hosts: every library mechanism in every host that is here, on every platform, in every kind of archive.

A cell is the largest deviation of an output at the end of the run from co-simulation in fmpy on
this machine, relative to the output's size where that exceeds 1. A cell that was not run shows a
letter, explained below the table. A deviation above the common bound is marked.

`kinetree bench hosts NAMES --json scripts/bench/hosts.json` renews the rows of mechanisms (without NAMES: all) in the file that is kept, and
`python -m kinetree.scripts.bench.hosts` writes its table into docs/fmu.md.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from typer.exceptions import Exit

from kinetree.fmu.archive.build import build_fmu, fixed_integrator
from kinetree.models import load
from kinetree.models.description.reading.read_source import library_names
from kinetree.scripts.fmi.bare_c_host import HostError
from kinetree.scripts.fmi.fmpy_host import Archive
from kinetree.scripts.fmi.host_programs import (
    FOREIGN,
    INTEGRATED,
    ForeignHost,
    Task,
    by_fmpy,
    deviation,
    tasks,
)
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.solvers.library.c_compiler import LibraryError, has_zig

KINDS = {
    "native": ("CS 2.0", "ME 2.0", "CS 3.0", "ME 3.0"),
    "python": ("CS 2.0", "CS 3.0", "ME 3.0"),
    "source": ("CS 2.0", "ME 2.0"),
}  # of archives, by back end
ARCHIVES = (("native", 2), ("native", 3), ("python", 2), ("python", 3), ("source", 2))
# hosts that take an unpacked archive, whose sources were compiled in its folder
TAKE_COMPILED = ("fmpy", "bare", "omc-like", "oms-like")
QUICK = ("regulator", "four-bar", "bouncing-ball", "boom-drive")
LONGEST, MOST = 1.0, 400  # seconds and steps of a run
COARSE = 0.01  # deviation of a fixed step from step control, beyond which the motion is not the mechanism's
ENDS = {"andrews": 0.03}  # driven without end: the published time
STEPPED = 1e-5  # over a second: hosts add up their times, or count nanoseconds, C libraries differ, and impacts enlarge all that
DATA = Path(__file__).with_name("hosts.json")
PAGE = Path(__file__).parents[2] / "docs" / "fmu.md"
BEGIN, END = "<!-- table of hosts -->", "<!-- end of the table of hosts -->"

Cell = float | str


def possible(host: ForeignHost, backend: str, kind: str) -> bool:
    """Return whether a host can take archives of a kind (co-simulation or model exchange) made by a
    back end.
    """
    if backend == "python" and not host.python:
        return False
    if backend == "source" and host.name not in TAKE_COMPILED:
        return False
    takes = host.stepping if kind.startswith("CS") else host.exchange
    return int(kind[3]) in host.versions and takes


def run_of(archive: Archive, name: str) -> list[Task]:
    """Return the tasks (step size and number of steps, by kind) with which an archive is run."""
    experiment: Any = archive.description.defaultExperiment
    step = archive.step
    count = max(
        1, min(MOST, round(min(float(experiment.stopTime), ENDS.get(name, LONGEST)) / step))
    )
    return tasks(archive, step, count)


def cell(host: ForeignHost, task: Task, expected: list[float]) -> Cell:
    """Run a task in a host; return the largest deviation, or the reason why it was not run or
    failed.
    """
    if reason := host.cannot(task):
        return reason
    try:
        return deviation(host.run(task, host.platform), expected)
    except (HostError, LibraryError) as error:
        return f"FAILED: {error}"


class Expected:
    """Values at the end of fmpy's co-simulation of the native archive of a mechanism, by
    integrator.
    """

    def __init__(self, name: str, folder: Path):
        self.name, self.path = name, folder / "expected.fmu"
        self.values: dict[str, list[float]] = {}

    def of(self, task: Task, integrator: str) -> list[float]:
        """Return the values that a task run by an integrator should end with."""
        if integrator not in self.values:
            build_fmu(load(f"lib:{self.name}"), self.path, "native", 2, integrator)
            with Archive(self.path) as archive:
                native = replace(task, archive=archive, exchange=False)
                self.values[integrator] = by_fmpy(native, FOREIGN["fmpy"].platform)
        return self.values[integrator]


def row(name: str, folder: Path) -> dict[str, Cell]:
    """Return all cells of a mechanism, by host, back end and kind."""
    found: dict[str, Cell] = {}
    expected = Expected(name, folder)
    for backend, fmi in ARCHIVES:
        found |= cells(name, folder, backend, fmi, expected)
    return found


def cells(name: str, folder: Path, backend: str, fmi: int, expected: Expected) -> dict[str, Cell]:
    """Return the cells of one archive, by host and kind."""
    found: dict[str, Cell] = {}
    mechanism = load(f"lib:{name}")
    platforms = "all" if backend == "native" and has_zig() else None
    path = build_fmu(mechanism, folder / f"{name}.fmu", backend, fmi, platforms=platforms)
    with Archive(path) as archive:
        for task in run_of(archive, name):
            fixed = backend == "source" and not task.exchange
            steps = fixed_integrator(mechanism) if fixed else "auto"
            hosts = [each for each in FOREIGN.values() if possible(each, backend, task.kind)]
            try:
                values = expected.of(task, steps)
                reason = too_coarse(values, expected.of(task, "auto"), steps, archive.step)
            except Exception as error:  # fmpy raises plain exceptions
                values, reason = (
                    [],
                    f"not compared: integration by {steps} fails: {first_line(error)}",
                )
            if reason:
                found |= {f"{host.name} {backend} {task.kind}": reason for host in hosts}
                continue
            for host in hosts:
                found[f"{host.name} {backend} {task.kind}"] = cell(host, task, values)
    return found


def too_coarse(found: list[float], right: list[float], integrator: str, step: float) -> str:
    """Return the reason why the fixed step of an archive is too long for a comparison; empty if its
    error is small enough.
    """
    error = deviation(found, right)
    if error <= COARSE:
        return ""
    return (
        f"not compared: with steps of {step:g} s the integration by {integrator} itself has an error "
        f"of {error:.1g}; use a smaller `kinetree fmu --step-size`"
    )


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


def good(key: str, value: Cell) -> bool:
    """Return whether a cell is within the bound of its host, or was skipped for a reason."""
    if isinstance(value, str):
        return not value.startswith("FAILED")
    return value <= (FOREIGN[key.split()[0]].seen if " ME " in key else STEPPED)


def off(key: str, value: Cell) -> bool:
    """Return whether a cell is a number above the bound that all hosts have in common."""
    return not isinstance(value, str) and value > (INTEGRATED if " ME " in key else STEPPED)


def read_table(path: Path) -> dict[str, Any]:
    """Return the table in a file, mechanisms with the day of their run and their cells; an empty
    one if there is no file.
    """
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def run(
    quick: bool = False,
    json_path: Path | None = None,
    plots: Path | None = None,
    source: str | None = None,
) -> dict:
    """Fill the table, print it as Markdown, write JSON; fail where a cell is out of bounds or
    failed.

    `source`: names of mechanisms, separated by commas; only their rows are run, and others stay as
    they are in the file.
    """
    table = read_table(json_path) if json_path and source else {}
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted_names(quick, source):
            found = row(name, Path(folder))
            table[name] = {"day": date.today().isoformat(), "cells": found}
            count = sum(isinstance(value, float) for value in found.values())
            print(f"{name}: {count} runs", flush=True)
            if json_path:  # the whole table takes long: what is done is kept
                ordered = {each: table[each] for each in library_names() if each in table}
                text = json.dumps(ordered, indent=1, ensure_ascii=False)
                json_path.write_text(f"{text}\n", encoding="utf-8")
    print(markdown(table))
    bad = [
        f"{name} in {key}: {value}"
        for name, each in table.items()
        for key, value in each["cells"].items()
        if not good(key, value)
    ]
    if bad:
        print("\n".join(["", "not good:", *bad]))
        raise Exit(1)
    return table


def wanted_names(quick: bool, source: str | None) -> list[str]:
    """Return the names of the mechanisms to run."""
    if source is None:
        return list(QUICK) if quick else library_names()
    names = [name.strip().removeprefix("lib:") for name in source.split(",")]
    for name in names:
        if name not in library_names():
            raise BadInput(
                f"bench hosts: no mechanism '{name}' in the library, see kinetree library"
            )
    return names


class Letters:
    """Letters that stand for the reasons of empty cells and for failures."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def of(self, reason: str) -> str:
        k = len(self.reasons)
        first = ascii_lowercase[k // 26 - 1] if k >= 26 else ""
        return self.reasons.setdefault(reason, first + ascii_lowercase[k % 26])

    def shown(self, key: str, value: Cell) -> str:
        """Return a cell as text for the table."""
        if isinstance(value, str):
            return self.of(value)
        if off(key, value):
            return f"{value:.2g} off"
        return "0" if value == 0.0 else f"{math.ceil(math.log10(value)):.0f}"


def markdown(table: dict[str, Any]) -> str:
    """Return the table as Markdown: mechanisms by hosts, with exponents of deviations and letters
    for reasons.
    """
    letters = Letters()
    kinds = {
        host: {
            backend: found
            for backend, each in KINDS.items()
            if (found := [kind for kind in each if possible(host, backend, kind)])
        }
        for host in FOREIGN.values()
    }

    def text(host: ForeignHost, found: dict[str, Cell]) -> str:
        groups = []
        for backend, each in kinds[host].items():
            keys = [f"{host.name} {backend} {kind}" for kind in each]
            missing = "not run yet"
            texts = [letters.shown(key, found.get(key, missing)) for key in keys]
            same = len(set(texts)) == 1 and texts[0] in letters.reasons.values()
            groups.append(texts[0] if same else " ".join(texts))
        same = len(set(groups)) == 1 and groups[0] in letters.reasons.values()
        return groups[0] if same else " / ".join(groups)

    def heading(host: ForeignHost) -> str:
        return " / ".join(
            f"{'' if backend == 'native' else f'{backend} '}"
            + ", ".join(kind.removesuffix(".0") for kind in each)
            for backend, each in kinds[host].items()
        )

    lines = [
        "| mechanism | "
        + " | ".join(f"{host.name}, {host.platform.name}" for host in kinds)
        + " |",
        "|---|" + "---|" * len(kinds),
        "| | " + " | ".join(heading(host) for host in kinds) + " |",
        *(
            f"| {name} | " + " | ".join(text(host, each["cells"]) for host in kinds) + " |"
            for name, each in table.items()
        ),
    ]
    notes = [f"* {letter}: {reason}" for reason, letter in letters.reasons.items()]
    if any(off(key, value) for each in table.values() for key, value in each["cells"].items()):
        notes.append(
            f"* off: the deviation itself, above {INTEGRATED:g} in model exchange or {STEPPED:g} in co-simulation, the bounds of all hosts"
        )
    return "\n".join([*lines, "", *notes])


def page_part(table: dict[str, Any]) -> str:
    """Return the generated part of the page: how many cells were run on which days, and the table."""
    days = sorted({each["day"] for each in table.values()})
    found = [value for each in table.values() for value in each["cells"].values()]
    count = sum(not isinstance(value, str) for value in found)
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    first = (
        f"{len(found)} cells of {len(table)} mechanisms, {count} of them numbers, run {when}. "
        "Letters are the reasons of the others."
    )
    return f"{BEGIN}\n{first}\n\n{markdown(table)}\n{END}"


def with_part(page: str, part: str) -> str:
    """Return the page with its generated part replaced."""
    before, _, rest = page.partition(BEGIN)
    return before + part + rest.partition(END)[2]


def main() -> int:
    """Write the stored table into docs/fmu.md."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(page, page_part(read_table(DATA))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
