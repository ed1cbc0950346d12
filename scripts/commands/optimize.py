"""`kinetree optimize`: optimises parameters for measures of runs, under bounds and constraints."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Quiet, writable
from kinetree.scripts.terminal.json_output import Json, keep_json, show_json

if TYPE_CHECKING:
    from kinetree.scripts.studies.optimise import Found
    from kinetree.scripts.studies.optimise_file import Task


def optimize(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.toml",
            help="File with the design variables, the objective and the constraints.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write all results to this .json file."),
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write a report: .html.")] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            help="Store every evaluation in this file (.jsonl); evaluations already in it are reused.",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Optimise parameters by SLSQP, trust regions, differential evolution, IPOPT or minimax.

    Ctrl-C ends with the best result so far; --state continues an earlier search.

    \b
    Example of an optimisation file:
      mechanism = "lib:regulator"
      [optimize]
      method = "slsqp"               # trust-constr, differential-evolution, ipopt, minimax
      multistart = 4
      [optimize.variables]
      k = { from = 1, to = 100, start = 20 }
      [optimize.measures]
      "rms(height)" = 1.0            # start end min max mean std span peak rms integral deviation settling; growth damping frequency
      [optimize.constraints]
      "peak(height)" = { max = 0.5 }
      [run]
      stop_time = 5.0
    """
    from kinetree.scripts.studies.optimise import optimise
    from kinetree.scripts.studies.optimise_file import read_task
    from kinetree.scripts.terminal.progress import progress

    writable(output, (".json",), "--output")
    writable(report, (".html",), "--report")
    writable(state, (".jsonl",), "--state")
    task = read_task(file)
    with progress(f"optimize {file.stem}", 0.0, quiet, "evaluations") as told:
        found = optimise(task, lambda done, best: told(done), state)
    keep_json(asdict(found), output)
    if report:
        tell(file, task, found, report)
    if json:
        show_json(asdict(found))
    elif not quiet:
        show(file.stem, task, found)


def show(title: str, task: "Task", found: "Found") -> None:
    """Print variables, measures and the reason why the search ended."""
    from rich.console import Console

    from kinetree.scripts.reports.summary import show_table, text_table

    console = Console(highlight=False, soft_wrap=True)
    rows = [
        (
            name,
            *(value if isinstance(value, str) else f"{value:.8g}" for value in (start, end)),
            word,
        )
        for name, _, _, start, end, word in variables(task, found)
    ]
    show_table(text_table(title, ("variable", "start", "found", ""), rows))
    values = [(name, *(f"{value:.6g}" for value in pair)) for name, *pair in measures(found)]
    show_table(text_table("", ("measure", "value", "at the start"), values))
    if found.front:
        first, second = task.measures
        points = [
            tuple(f"{row['measures'][text]:.6g}" for text in (first, second)) for row in found.front
        ]
        show_table(text_table("Pareto front", (first, second), points))
    for note in notes(task, found):
        console.print(note, markup=False)


def variables(task: "Task", found: "Found") -> list[tuple[Any, ...]]:
    """Return rows of name, bounds, start, result and active bound; a permutation is one row."""
    from kinetree.scripts.studies.optimise_file import orders_of

    rows: list[tuple[Any, ...]] = []
    for name, places in orders_of(task).items():
        start, end = (
            " ".join(f"{value:.0f}" for value in each)
            for each in (
                [task.variables[p].start for p in places],
                [found.values[p] for p in places],
            )
        )
        rows.append((name, 1.0, float(len(places)), start, end, ""))
    inside = {place for places in orders_of(task).values() for place in places}
    every = [
        (name, v, found.values[name]) for name, v in task.variables.items() if name not in inside
    ]
    return [
        *rows,
        *((name, v.low, v.high, v.start, value, at_bound(v, value)) for name, v, value in every),
    ]


def measures(found: "Found") -> list[tuple[Any, ...]]:
    """Return rows of name, value at the result, and value at the start."""
    return [
        (name, value, found.begin.get(name, float("nan"))) for name, value in found.measures.items()
    ]


def at_bound(variable, value: float) -> str:
    near = 1e-4 * (variable.high - variable.low)
    return (
        "at its lower bound"
        if value < variable.low + near
        else "at its upper bound"
        if value > variable.high - near
        else ""
    )


def notes(task: "Task", found: "Found") -> list[str]:
    """Return sentences about the search."""
    lines = [
        f"objective {found.objective:.8g} after {found.evaluations} evaluations in {found.seconds:.3g} s ({task.method}: {found.message})"
    ]
    if not found.feasible:
        lines.append("no evaluation satisfied all constraints: these values violate them least")
    if found.failed:
        lines.append(
            f"{found.failed} of {found.evaluations} evaluations failed; the first: {found.failure}"
        )
    if len(found.starts) > 1:
        same = sum(
            abs(value - found.objective) <= 1e-4 * max(abs(found.objective), 1e-12)
            for _, value in found.starts
        )
        lines.append(f"{same} of {len(found.starts)} starts ended there")
    return lines


def tell(file: Path, task: "Task", found: "Found", path: Path) -> None:
    """Write the report of an optimisation."""
    from kinetree.scripts.reports.linear_pictures import figure_of
    from kinetree.scripts.reports.study_page import Section, write_page
    from kinetree.scripts.studies.optimise_motion import curve_section, motion_section

    figure, axes = figure_of(1, 1, 7.0, 3.5)
    axes[0, 0].plot(range(1, len(found.history) + 1), found.history)
    axes[0, 0].set(xlabel="evaluation", ylabel="best objective so far")
    axes[0, 0].grid(alpha=0.3)
    answer = (
        Section("Found")
        .say(*notes(task, found))
        .table(("variable", "from", "to", "start", "found", ""), variables(task, found))
    )
    answer.table(("measure", "value", "at the start"), measures(found))
    front = front_section(task, found) if found.front else None
    search = Section("Search").picture(figure, "Best objective over evaluations")
    search.table(
        (*task.variables, "objective"),
        [(*values.values(), value) for values, value in found.starts],
        "Where every start ended",
    )
    write_page(
        path,
        f"Optimisation of {file.stem}",
        [
            answer,
            *filter(None, (motion_section(task, found), curve_section(task, found), front)),
            search,
        ],
        more={"file": file, "mechanism": task.source},
    )


def front_section(task: "Task", found: "Found") -> Any:
    """Return the report section of the Pareto front: picture and table."""
    from kinetree.scripts.reports.linear_pictures import figure_of
    from kinetree.scripts.reports.study_page import Section

    first, second = task.measures
    points = [(row["measures"][second], row["measures"][first]) for row in found.front]
    figure, axes = figure_of(1, 1, 7.0, 4.0)
    axes[0, 0].plot(*zip(*points, strict=True), "o-")
    axes[0, 0].set(xlabel=second, ylabel=first)
    axes[0, 0].grid(alpha=0.3)
    section = Section("Pareto front").say(
        "No point of the front is better than another one in both measures."
    )
    section.picture(figure, f"{first} against {second}")
    rows = [
        (*row["values"].values(), row["measures"][first], row["measures"][second])
        for row in found.front
    ]
    return section.table((*task.variables, first, second), rows)


COMMAND = Command("optimize", optimize, place=70)
