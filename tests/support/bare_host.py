"""The bare C host of this machine on an archive."""

from collections.abc import Callable
from pathlib import Path

from kinetree.scripts.fmi.bare_c_host import BareHost
from kinetree.scripts.fmi.fmpy_host import Archive
from kinetree.solvers.library.platforms import PLATFORMS


def bare_runner(path: Path, folder: Path, variable: str) -> Callable[..., dict[str, list[str]]]:
    """run(command, step, count, file, place): lines "name value" of the host's output, by name; `variable` is the one it reads."""
    archive = Archive(path)
    archive.unpack(folder)
    return BareHost(archive, PLATFORMS["linux64"], [variable]).run
