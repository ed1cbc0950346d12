"""Reference results inside an archive, after the draft layered standard FMI-LS-REF (1.0.0-alpha.1).

The folder of the draft gets stimuli (inputs at the communication points), results, and an
experiment with the tolerance of every column; the manifest states the role of every file. The draft
leaves the format of experiments to a specification that was never published: ours is JSON.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from kinetree.fmu.archive.container import entry
from kinetree.fmu.variables import Access
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.sensitivity import HOST_SOLVER, STEPS_ADD_UP, horizon
from kinetree.scripts.fmi.verify import Report, motion_of_model, twin_of
from kinetree.solvers.integrate.kinds import FIXED

if TYPE_CHECKING:
    from kinetree.scripts.fmi.in_process_reference import InProcess

NAME = "org.fmi-standard.fmi-ls-ref"
DRAFT = "1.0.0-alpha.1"
FOLDER = f"extra/{NAME}"
STIMULI, RESULTS, EXPERIMENT = "stimuli.csv", "results.csv", "experiment.json"
MOVED = 0.01  # part of its start value by which an input swings
MAX_STEPS = 500
FORMAT = "kinetree/reference-1"
PAGE = "documentation/fmi-ls-ref.txt"


def add_reference(path: Path) -> int:
    """Add reference results to an archive built by Kinetree; return the number of rows."""
    with Archive(path) as archive:
        files = reference_files(archive)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        shutil.copyfile(path, draft)
        with ZipFile(draft, "a", ZIP_DEFLATED) as content:
            for name, text in files.items():
                content.writestr(entry(name), text)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return files[f"{FOLDER}/{RESULTS}"].count("\n") - 1


def reference_files(archive: Archive) -> dict[str, str]:
    """Return the files of the layered standard for an archive, by their paths."""
    twin, report = twin_of(archive), Report(archive.path)
    experiment: Any = archive.description.defaultExperiment
    step = archive.step
    count = max(2, min(MAX_STEPS, round(float(experiment.stopTime) / step)))
    grid: Sequence[float] = [k * step for k in range(count + 1)]
    names = [name for name in archive.names("output") if comparable(name)]
    grid, plain = motion_of_model(report, twin, grid, names)  # it may end before its time
    last, responses = horizon(twin, grid, names, plain)
    stimuli = swings(twin, grid[last])
    twin.reset()
    rows, inputs = moved(twin.start(), grid[: last + 1], names, stimuli)
    table = np.array(rows)
    sizes = np.maximum(1.0, np.max(np.abs(table), axis=0))
    relative = twin.unit.run.relative if twin.unit.run.integrator not in FIXED else 0.0
    allowed = np.maximum(HOST_SOLVER, STEPS_ADD_UP * relative * responses) * sizes
    told = {
        "format": FORMAT,
        "startTime": 0.0,
        "stepSize": step,
        "stopTime": grid[last],
        "interface": "CoSimulation",
        "stimuli": STIMULI if stimuli else None,
        "results": RESULTS,
        "tolerances": dict(zip(names, map(float, allowed), strict=True)),
    }
    texts = {EXPERIMENT: json.dumps(told, indent=1), RESULTS: csv_text(grid, names, rows)}
    if stimuli:
        texts[STIMULI] = csv_text(grid, list(stimuli), inputs)
    texts["fmi-ls-manifest.xml"] = manifest(archive, bool(stimuli))
    return {f"{FOLDER}/{name}": text for name, text in texts.items()} | {PAGE: page(told)}


def comparable(name: str) -> bool:
    """Return whether an output does not depend on the length of the steps."""
    return not name.endswith(("_residual", ".mean_speed", ",2)")) and not name.startswith("der(der")


def swings(twin: InProcess, end: float) -> dict[str, tuple[float, float]]:
    """Return for every input with a finite start value this value and the angular frequency of its
    stimulus.
    """
    return {
        v.name: (v.start, 2.0 * math.pi / end)
        for v in twin.table.variables
        if v.access == Access.INPUT and v.start is not None and math.isfinite(v.start)
    }


def moved(
    twin: InProcess,
    grid: Sequence[float],
    names: Sequence[str],
    stimuli: Mapping[str, tuple[float, float]],
) -> tuple[list[list[float]], list[list[float]]]:
    """Return the rows of a run with sinusoidal inputs that are constant between grid points, and
    the rows of inputs.
    """

    def at(t: float) -> dict[str, float]:
        return {
            name: start * (1.0 + MOVED * math.sin(rate * t))
            for name, (start, rate) in stimuli.items()
        }

    rows, inputs = [twin.get(names)], [list(at(t).values()) for t in grid]
    for before, after in zip(grid[:-1], grid[1:], strict=True):
        twin.set(at(before))
        twin.step(after)
        rows.append(twin.get(names))
    return rows, inputs


def csv_text(grid: Sequence[float], names: Sequence[str], rows: Sequence[Sequence[float]]) -> str:
    """Return a table with a column of times as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["time", *names])
    writer.writerows([repr(t), *map(repr, row)] for t, row in zip(grid, rows, strict=False))
    return stream.getvalue()


def manifest(archive: Archive, stimuli: bool) -> str:
    """Return the manifest of the layered standard as text."""
    model = next(iter(sorted((Path(archive.folder) / "resources").glob("model.[tj]*"))))
    related = [
        (f"../../resources/{model.name}", "text/plain", "model", "the mechanism"),
        (EXPERIMENT, "application/json", "experiment/smoke-test", "steps, files and tolerances"),
        (RESULTS, "text/csv", "result", "outputs at the communication points"),
    ]
    if stimuli:
        related.append((STIMULI, "text/csv", "other", "inputs at the communication points"))
    lines = [
        f"  <Related type={quoteattr(kind)} source={quoteattr(source)} role={quoteattr(role)} "
        f"description={quoteattr(text)}/>"
        for source, kind, role, text in related
    ]
    head = (
        '<fmiReferences xmlns:fmi-ls="http://fmi-standard.org/fmi-ls-manifest"\n'
        f'    fmi-ls:fmi-ls-name="{NAME}"\n    fmi-ls:fmi-ls-version="{DRAFT}"\n'
        '    fmi-ls:fmi-ls-description="Layered Standard providing information on related files '
        'included in an FMU.">'
    )
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *lines, "</fmiReferences>\n"])


def page(told: Mapping[str, Any]) -> str:
    """Return the text that explains the reference results inside the archive."""
    inputs = f"inputs are those of {STIMULI}, held during a step; " if told["stimuli"] else ""
    return (
        f"Reference results after the draft layered standard FMI-LS-REF, {DRAFT}.\n\n"
        f"{FOLDER}/{RESULTS} holds the outputs of a co-simulation from 0 to {told['stopTime']:g} s "
        f"in steps of {told['stepSize']:g} s; {inputs}{EXPERIMENT} holds the deviation that is "
        "allowed of each output.\nThe format of the experiment is this program's own, because "
        "that of the draft is not published.\n"
    )


def carries_reference(path: Path) -> bool:
    """Return whether an archive contains reference results and how they were computed."""
    with ZipFile(path) as content:
        return f"{FOLDER}/{EXPERIMENT}" in content.namelist()


def check_reference(report: Report, archive: Archive) -> None:
    """Compare the co-simulation of an archive with the reference results that it contains; report
    nothing if it has none.
    """
    folder = Path(archive.folder) / FOLDER
    if not (folder / EXPERIMENT).is_file() or archive.description.coSimulation is None:
        return
    told = json.loads((folder / EXPERIMENT).read_text(encoding="utf-8"))
    what = "reference results inside (draft FMI-LS-REF)"
    if told.get("format") != FORMAT:
        report.add(what, f"not compared: experiment of format {told.get('format')!r}")
        return
    times, names, expected = read_table(folder / told["results"])
    inputs, values = [], np.empty((len(times), 0))
    if told["stimuli"]:
        _, inputs, values = read_table(folder / told["stimuli"])
    host = Host(archive).start()
    found = [host.get(names)]
    for k, t in enumerate(times[1:]):
        host.set(dict(zip(inputs, map(float, values[k]), strict=True)))
        host.step(t)
        found.append(host.get(names))
    host.close()
    allowed = np.array([told["tolerances"][name] for name in names])
    parts = np.max(np.abs(np.array(found) - expected), axis=0) / allowed
    worst = int(np.argmax(parts))
    report.add(
        what,
        f"{len(times)} rows of {len(names)} outputs, {names[worst]} uses {parts[worst]:.2g} of its tolerance",
        bool(parts[worst] <= 1.0),
    )


def read_table(path: Path) -> tuple[list[float], list[str], np.ndarray]:
    """Return times, names and values of a table."""
    heading, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    table = np.array([[float(each) for each in row] for row in rows])
    return [float(t) for t in table[:, 0]], heading[1:], table[:, 1:]
