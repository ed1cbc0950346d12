"""`kinetree setup`: compiles everything that later commands need."""

import math
import threading
import time
from typing import Annotated

import typer

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Quiet
from kinetree.scripts.terminal.error_messages import BadInput

USUAL = 60.0  # seconds that the engine takes on a machine of today


def setup(
    platforms: Annotated[
        str,
        typer.Option(
            "--platforms",
            help="Prepare FMUs for other platforms too: names with commas, or all (needs the extra cross).",
        ),
    ] = "",
    quiet: Quiet = False,
) -> None:
    """Compile the engine and the binaries that FMUs contain now, so that later commands start at once."""
    from kinetree.fmu.native.binaries import binaries
    from kinetree.fmu.variables import FmuError
    from kinetree.scripts.terminal.progress import progress
    from kinetree.solvers.entries import LIBRARIES
    from kinetree.solvers.library.build import build, linker, ready
    from kinetree.solvers.library.platforms import PLATFORMS, this_platform

    named = [name.strip() for name in platforms.split(",") if name.strip()]
    wanted = list(PLATFORMS) if named == ["all"] else named
    for name in wanted:
        if name not in PLATFORMS:
            raise BadInput(f"--platforms {name}: expected all, or some of {', '.join(PLATFORMS)}")
    own = this_platform()
    targets = [own] if own and linker() else []
    targets += [PLATFORMS[name] for name in wanted if own is None or name != own.name]
    missing = [name for name in LIBRARIES if not ready(name)]
    parts, clock = len(missing) + len(targets), time.perf_counter()
    with progress("engine", parts, quiet, "parts") as told, Passing(told) as passing:
        build(passing.hear)
        for target in targets:
            try:
                binaries((target,))
            except FmuError as error:
                typer.echo(str(error), err=True)
            passing.hear("is ready")
    if quiet:
        return
    fmus = ", ".join(target.name for target in targets) or "none: there is no C compiler and no zig"
    seconds = f"{time.perf_counter() - clock:.0f} s" if missing else "was there already"
    linked = "linked" if linker() else "object code, since no linker is available"
    typer.echo(f"Engine ({', '.join(LIBRARIES)}): {seconds}; {linked}. Native FMUs: {fmus}")


class Passing:
    """Progress of a build: finished parts, and a time estimate between them."""

    def __init__(self, told):
        self.told, self.done, self.begun = told, 0, time.monotonic()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.tell, daemon=True)

    def hear(self, text: str) -> None:
        """Count a finished part from a message of the build."""
        if text.endswith("is ready"):
            self.done += 1

    def tell(self) -> None:
        while not self.over.wait(0.5):
            self.told(self.done + 0.9 * (1.0 - math.exp(-(time.monotonic() - self.begun) / USUAL)))

    def __enter__(self) -> "Passing":
        self.thread.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self.over.set()
        self.thread.join()


COMMAND = Command("setup", setup, place=240)
