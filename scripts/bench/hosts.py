"""The table of hosts: every library mechanism in every host that is here, on every platform, in every kind of archive.

A cell is the largest deviation of an output after the run, relative to its size where that exceeds 1, from co-simulation in this machine's fmpy;
or a letter for the reason why it was not run, which stands below the table. Above the common bound it is called off.
"""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from typer.exceptions import Exit

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.description.reading.read_source import library_names
from kinetree.scripts.fmi.bare_c_host import HostError
from kinetree.scripts.fmi.host import Archive
from kinetree.scripts.fmi.host_programs import (
    FOREIGN,
    INTEGRATED,
    ForeignHost,
    Task,
    deviation,
    tasks,
)
from kinetree.solvers.library.c_compiler import LibraryError, has_zig

KINDS = ("CS 2.0", "ME 2.0", "CS 3.0", "ME 3.0", "Python")
ARCHIVES = {"native": (2, KINDS[:2]), "native 3": (3, KINDS[2:4]), "python": (2, KINDS[4:])}
QUICK = ("regulator", "four-bar", "bouncing-ball", "boom-drive")
LONGEST, MOST = 1.0, 400  # seconds and steps of a run
ENDS = {"andrews": 0.03}  # driven without end: the published time
STEPPED = 1e-5  # over a second: hosts add up their times, or count nanoseconds, C libraries differ, and impacts enlarge all that

Cell = float | str


def possible(host: ForeignHost, kind: str) -> bool:
    if kind == "Python":
        return host.python and host.stepping
    takes = host.stepping if kind.startswith("CS") else host.exchange
    return int(kind[3]) in host.versions and takes


def run_of(archive: Archive, name: str) -> list[tuple[str, Task]]:
    """Return the runs of an archive, each with its kind."""
    experiment: Any = archive.description.defaultExperiment
    step = archive.step
    count = max(
        1, min(MOST, round(min(float(experiment.stopTime), ENDS.get(name, LONGEST)) / step))
    )
    return [
        ("Python" if archive.needs_python else task.kind, task)
        for task in tasks(archive, step, count)
    ]


def cell(host: ForeignHost, task: Task, expected: list[float]) -> Cell:
    """Return the largest deviation, or the reason why there is none."""
    if reason := host.cannot(task):
        return reason
    try:
        return deviation(host.run(task, host.platform), expected)
    except (HostError, LibraryError) as error:
        return f"FAILED: {error}"


def row(name: str, folder: Path) -> dict[str, Cell]:
    """Return all cells of a mechanism, by host and kind."""
    found: dict[str, Cell] = {}
    expected: list[float] = []
    for archive_name, (fmi, _) in ARCHIVES.items():
        path = build_fmu(
            load(f"lib:{name}"),
            folder / f"{name}.fmu",
            archive_name.split()[0],
            fmi,
            platforms="all" if has_zig() else None,
        )
        with Archive(path) as archive:
            for kind, task in run_of(archive, name):
                if not expected:
                    expected = FOREIGN["fmpy"].run(
                        replace(task, exchange=False), FOREIGN["fmpy"].platform
                    )
                for host in FOREIGN.values():
                    if possible(host, kind):
                        found[f"{host.name} {kind}"] = cell(host, task, expected)
    return found


def good(key: str, value: Cell) -> bool:
    """Return whether a cell is within its bound, or could not be run here."""
    if isinstance(value, str):
        return not value.startswith("FAILED")
    return value <= (FOREIGN[key.split()[0]].seen if " ME " in key else STEPPED)


def off(key: str, value: Cell) -> bool:
    """Return a number above the bound that all hosts have in common."""
    return not isinstance(value, str) and value > (INTEGRATED if " ME " in key else STEPPED)


def run(quick: bool = False, json_path: Path | None = None, plots: Path | None = None) -> dict:
    """Fill the table, print it as Markdown, write JSON; fails where a cell is neither good nor empty for a reason."""
    rows: dict[str, dict[str, Cell]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in QUICK if quick else library_names():
            rows[name] = row(name, Path(folder))
            print(
                f"{name}: {sum(isinstance(value, float) for value in rows[name].values())} runs",
                flush=True,
            )
            if json_path:  # the whole table takes long: what is done is kept
                json_path.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print(markdown(rows))
    bad = [
        f"{name} in {key}: {value}"
        for name, cells in rows.items()
        for key, value in cells.items()
        if not good(key, value)
    ]
    if bad:
        print("\n".join(["", "not good:", *bad]))
        raise Exit(1)
    return rows


def markdown(rows: dict[str, dict[str, Cell]]) -> str:
    """Return the table: mechanisms by hosts, with exponents of deviations and letters for reasons."""
    hosts = {host: [kind for kind in KINDS if possible(host, kind)] for host in FOREIGN.values()}
    reasons: dict[str, str] = {}

    def shown(key: str, value: Cell) -> str:
        if isinstance(value, str):
            return reasons.setdefault(value, ascii_lowercase[len(reasons) % 26])
        if off(key, value):
            return f"{value:.2g} off"
        return "0" if value == 0.0 else f"{math.ceil(math.log10(value)):.0f}"

    def cells(host: ForeignHost, found: dict[str, Cell]) -> str:
        texts = [shown(key, found[key]) for key in (f"{host.name} {kind}" for kind in hosts[host])]
        return (
            texts[0] if len(set(texts)) == 1 and texts[0] in reasons.values() else " ".join(texts)
        )

    lines = [
        "| mechanism | "
        + " | ".join(f"{host.name}, {host.platform.name}" for host in hosts)
        + " |",
        "|---|" + "---|" * len(hosts),
        "| | "
        + " | ".join(
            ", ".join(kind.removesuffix(".0") for kind in kinds) for kinds in hosts.values()
        )
        + " |",
        *(
            f"| {name} | " + " | ".join(cells(host, found) for host in hosts) + " |"
            for name, found in rows.items()
        ),
    ]
    notes = [f"{letter}: {reason}" for reason, letter in reasons.items()]
    if any(off(key, value) for found in rows.values() for key, value in found.items()):
        notes.append(
            f"off: the deviation itself, above {INTEGRATED:g} in model exchange or {STEPPED:g} in co-simulation, the bounds of all hosts"
        )
    return "\n".join([*lines, "", *notes])
