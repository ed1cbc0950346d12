"""`kinetree statics`: where a mechanism rests."""

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
    numbers,
    one_of,
    writable,
)
from kinetree.scripts.terminal.json_output import Json, show_json

if TYPE_CHECKING:
    from rich.console import Console

    from kinetree.models.analysis.equilibrium import Equilibrium
    from kinetree.models.analysis.linearization import Linear, Mode
    from kinetree.models.system.system import System


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
            help="Go on from there with other values; may be repeated.",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            help="Page with the mechanism at rest and its small motions in three dimensions.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Find the state of rest downhill from the start: coordinates, loads, reactions, stability and small motions."""
    from kinetree.models import load

    system = begun(load(file, **numbers(settings)), starts, origin).compile()
    given = held(inputs, system.compiled.inputs)
    steps: list[dict[str, float]] = [
        {},
        *(numbers(step.split(","), "--then") for step in then or ()),
    ]
    for name in (name for step in steps for name in step):
        one_of(name, (*system.description.parameters, *system.compiled.inputs), "--then")
    writable(html, (".html", ".htm"), "--html")
    found = system.equilibria(steps, given)
    if html is not None:
        from kinetree.models.scene.make_scenes import Animation, rest_data

        Animation(rest_data(system, found, ["at rest", *(then or ())])).save(html)
    if json:
        plain = [each.to_dict() for each in found]
        show_json(plain if then else plain[0])
        return

    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for step, each in zip(("", *(then or ())), found, strict=True):
        show(console, f"{system.name} {step}".strip(), each, system)
    if html is not None:
        console.print(f"written: {html}")


def show(console: "Console", title: str, found: "Equilibrium", system: "System") -> None:
    """Print a state of rest."""
    from rich.markup import escape

    from kinetree.models.analysis.rest_rows import rest_rows, shape_of
    from kinetree.models.result.number_format import written
    from kinetree.scripts.commands.info import grid

    effort = (
        f"{found.iterations} iterations, residual {found.residual:.1e} of the weight"
        if found.residual
        else f"{found.iterations} iterations"
    )
    console.print(f"[bold]{escape(title)}[/bold]: {found.stability} rest after {effort}")
    for heading, values in rest_rows(found).items():
        console.print(grid(heading, values))
    rows = []
    for mode in found.modes:
        shape = ", ".join(f"{name} {size:.3g}" for name, size in shape_of(found, mode))
        rows.append(
            (f"{mode.frequency:.6g} Hz", f"damping ratio {round(mode.damping, 4) + 0.0:.4f}", shape)
        )
    if rows:
        console.print(grid("Small motions", rows))
    growing = (
        [mode for mode in found.linear.modes() if mode.eigenvalue.real > 0.0]
        if not found.stable
        else []
    )
    for mode in growing:
        console.print(
            f"grows by e in {1.0 / mode.eigenvalue.real:.4g} s along {escape(leading(found.linear, mode))}"
        )
    if found.undetermined:
        console.print(f"nothing holds the mechanism along {escape(', '.join(found.undetermined))}")
    wrenches = [
        (name, *(written(round(x, 6) + 0.0, 6) for x in wrench))
        for name, wrench in found.reactions.items()
    ]
    console.print(grid("Joint reactions (force, moment on the child; its axes)", wrenches))


def leading(linear: "Linear", mode: "Mode") -> str:
    """The coordinate that moves most; the state, where none does."""
    among = [name for name in linear.local if abs(mode.shape[name]) > 0.5] or list(mode.shape)
    return max(among, key=lambda name: abs(mode.shape[name]))


COMMAND = Command("statics", statics, place=40)
