"""`kinetree statics`: computes static equilibria."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import (
    Inputs,
    Origin,
    Settings,
    Source,
    Starts,
    begun,
    held,
    loaded,
    numbers,
    one_of,
    told_slips,
    writable,
)
from kinetree.scripts.terminal.json_output import Json, show_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from kinetree.models.analysis.equilibrium import Equilibrium
    from kinetree.models.analysis.linearization import Linear, Mode
    from kinetree.models.system.system import System

STABILITY = {"indifferent": "neutrally stable"}  # words of the results -> of the trade


def statics(
    file: Source,
    settings: Settings = None,
    starts: Starts = None,
    origin: Origin = None,
    inputs: Inputs = None,
    then: Annotated[
        list[str] | None,
        typer.Option(
            "--then",
            metavar="NAME=VALUE,...",
            help="Continue from that equilibrium with other values; may be repeated.",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            help="Write a 3D page with the equilibrium and its vibration modes.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Every number of every equilibrium, in SI: .csv."),
    ] = None,
    json: Json = False,
) -> None:
    """Compute the static equilibrium from the initial state: loads, reactions, stability and modes.

    Where the description has [[run.prepare]], the equilibria of all its steps are printed too.
    """

    mechanism = begun(loaded(file, settings), starts, origin)
    system = mechanism.compile()
    given = held(inputs, system.compiled.inputs)
    steps: list[dict[str, float]] = [
        {},
        *(numbers(step.split(","), "--then") for step in then or ()),
    ]
    for name in (name for step in steps for name in step):
        one_of(name, (*system.description.parameters, *system.compiled.inputs), "--then")
    for step in steps:
        told_slips(mechanism.description, step)
    writable(html, (".html", ".htm"), "--html")
    writable(output, (".csv",), "--output")
    before = system.preparations
    found = system.equilibria(steps, given)
    if output is not None:
        write_rows(output, before | dict(zip(("at rest", *(then or ())), found, strict=True)))
    if html is not None:
        from kinetree.models.scene.make_scenes import Animation, rest_data

        states = before | dict(zip(("equilibrium", *(then or ())), found, strict=True))
        Animation(rest_data(system, list(states.values()), list(states))).save(html)
    if json:
        plain = [each.to_dict() for each in found]
        steps_before = {name: rest.to_dict() for name, rest in before.items()}
        show_json(plain if then else plain[0] | {"preparations": steps_before})
        return

    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    if before:
        show_preparations(console, before)
    for step, each in zip(("", *(then or ())), found, strict=True):
        show(console, f"{system.name} {step}".strip(), each, system)
    for path in (html, output):
        if path is not None:
            console.print(f"written: {path}")


def write_rows(path: Path, rests: dict[str, "Equilibrium"]) -> None:
    """Write the equilibria as CSV with one row per value: state, kind, name, value, unit."""
    import csv

    from kinetree.models.analysis.equilibrium_table import plain_rows

    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("state", "kind", "name", "value", "unit"))
        writer.writerows(plain_rows(rests))


def show_preparations(console: "Console", rests: dict[str, "Equilibrium"]) -> None:
    """Print the equilibria of the preparation steps of a run, one column each."""
    from kinetree.models.analysis.equilibrium_table import compared_rows, shape_of
    from kinetree.scripts.commands.info import grid
    from kinetree.scripts.reports.summary import show_table

    console.print("[bold]Equilibria of the preparation[/bold], each computed from the previous one")
    head = ["", *rests, ""]
    judged = [["stability", *(rest.stability for rest in rests.values()), ""]]
    for heading, rows in ({"State": judged} | compared_rows(rests)).items():
        show_table(grid(heading, [tuple(head), *map(tuple, rows)]))
    for name, rest in rests.items():
        rows = [
            (
                f"{mode.frequency:.6g} Hz",
                f"damping ratio {mode.damping:.4f}",
                ", ".join(f"{part} {size:.3g}" for part, size in shape_of(rest, mode)),
            )
            for mode in rest.modes
        ]
        if rows:
            show_table(grid(f"Vibration modes {name}", rows))


def show(console: "Console", title: str, found: "Equilibrium", system: "System") -> None:
    """Print an equilibrium: stability, coordinates, loads, modes, neutral directions and reactions."""
    from rich.markup import escape

    from kinetree.models.analysis.equilibrium_table import neutral_combination, rest_rows, shape_of
    from kinetree.scripts.commands.info import grid
    from kinetree.scripts.reports.summary import show_table

    effort = (
        f"{found.iterations} iterations, force residual {found.residual:.1e} of the weight"
        if found.residual
        else f"{found.iterations} iterations"
    )
    console.print(f"[bold]{escape(title)}[/bold]: {found.stability} equilibrium after {effort}")
    for heading, values in rest_rows(found).items():
        show_table(grid(heading, values))
    rows = []
    for mode in found.modes:
        words = found.linear.motions
        shape = ", ".join(
            f"{name} ({words[name]}) {size:.3g}" if name in words else f"{name} {size:.3g}"
            for name, size in shape_of(found, mode)
        )
        rows.append(
            (f"{mode.frequency:.6g} Hz", f"damping ratio {round(mode.damping, 4) + 0.0:.4f}", shape)
        )
    if rows:
        show_table(grid("Vibration modes", rows))
    modes = found.linear.modes() if not found.stable else []
    for value in found.growing if modes else ():
        if value.imag >= 0.0:
            mode = min(modes, key=lambda mode: abs(mode.eigenvalue - value))
            console.print(
                f"unstable: {escape(leading(found.linear, mode))} grows by a factor e in {1.0 / value.real:.4g} s"
            )
    for direction in found.directions:
        console.print(
            f"neutral direction (zero stiffness): {escape(neutral_combination(direction))}"
        )
    for name, period in found.linear.sampled.items():
        console.print(
            f"the sampled controller {escape(name)} ({period:g} s) is treated as continuous"
        )
    show_table(reactions_table(found, system))


def reactions_table(found: "Equilibrium", system: "System") -> "Table":
    """Return a table with force and moment of every joint of the description, each in a unit that
    fits the largest of all.
    """
    from kinetree.models.result.number_format import fitting, written
    from kinetree.scripts.reports.summary import text_table

    title = "Joint reactions: force and moment on the child body, in its axes"
    wrenches = {
        name: tuple(round(x, 6) + 0.0 for x in wrench)
        for name, wrench in found.reactions.items()
        if ("joints", name) not in system.description.pieces
    }
    largest = [
        max((abs(x) for each in wrenches.values() for x in each[part]), default=0.0)
        for part in (slice(0, 3), slice(3, 6))
    ]
    force, force_unit = fitting("N", largest[0])
    moment, moment_unit = fitting("N.m", largest[1])
    heads = (
        "joint",
        *(f"F{axis} [{force_unit}]" for axis in "xyz"),
        *(f"M{axis} [{moment_unit}]" for axis in "xyz"),
    )
    factors = (force,) * 3 + (moment,) * 3
    rows = [
        (name, *(written(x * factor, 6) for x, factor in zip(wrench, factors, strict=True)))
        for name, wrench in wrenches.items()
    ]
    return text_table(title, heads, rows)


def leading(linear: "Linear", mode: "Mode") -> str:
    """Return the coordinate with the largest part in a mode, or the state if no coordinate takes
    part.
    """
    among = [name for name in linear.local if abs(mode.shape[name]) > 0.5] or list(mode.shape)
    return max(among, key=lambda name: abs(mode.shape[name]))


COMMAND = Command("statics", statics, place=40)
