"""`kinetree bench`: the benchmarks of scripts/bench, each with its peers in the same run."""

import re
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Annotated

import typer

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.error_messages import BadInput

FOLDER = Path(__file__).parent.parent / "bench"
NOT_INSTALLED = (
    "benchmarks come with the source repository (pip install --editable of it), "
    "not with the installed package"
)


def benchmarks() -> list[str]:
    """Return the names of the benchmarks in scripts/bench."""
    return sorted(
        path.stem.replace("_", "-")
        for path in FOLDER.glob("*.py")
        if re.search(r"^def run\(\s*quick", path.read_text(encoding="utf-8"), re.MULTILINE)
    )


def bench(
    name: Annotated[
        str | None, typer.Argument(help="Benchmark to run (default: list them).")
    ] = None,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="A description to measure (chain only: one with a table chain)."
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Run a small selection: less than a minute once compiled."),
    ] = False,
    json: Annotated[
        Path | None,
        typer.Option("--json", help="Write machine, versions and results to this file."),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option("--plots", help="Write pictures into this folder.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            help="Earlier --json file to compare with; `instructions` fails if a count has grown.",
        ),
    ] = None,
) -> None:
    """Run performance benchmarks, compared with Pinocchio, MuJoCo and others where installed."""
    known = benchmarks()
    if name is None:
        typer.echo("\n".join(known) or NOT_INSTALLED)
        return
    if not known:
        raise BadInput(f"bench {name}: {NOT_INSTALLED}")
    if name not in known:
        raise BadInput(f"bench {name}: expected one of {', '.join(known)}")
    if plots:
        plots.mkdir(parents=True, exist_ok=True)
    measure = import_module(f"kinetree.scripts.bench.{name.replace('-', '_')}").run
    if source is not None and "source" not in signature(measure).parameters:
        raise BadInput(f"bench {name}: takes no file, got {source}")
    if against is not None and "against" not in signature(measure).parameters:
        raise BadInput(f"bench {name}: compares nothing with {against}")
    more = {
        key: value for key, value in (("source", source), ("against", against)) if value is not None
    }
    measure(quick, json, plots, **more)
    if plots and not any(plots.iterdir()):
        typer.echo(f"bench {name} draws no pictures: --plots is not used")


COMMAND = Command("bench", bench, place=230)
