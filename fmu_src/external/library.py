"""Builds the one library behind the external objects of all mechanisms: the shell of native FMUs, the engine, and what Modelica calls."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from kinetree.fmu.native.shell import link, shell_hash
from kinetree.fmu.variables import FmuError
from kinetree.solvers.library.build import objects_for, silent
from kinetree.solvers.library.c_compiler import LibraryError
from kinetree.solvers.library.platforms import PLATFORMS, levels_for, this_platform
from kinetree.solvers.library.verified_files import place, sound, written

SOURCE = Path(__file__).with_name("block.c")
LIBRARY = "kinetree_block"
SYSTEMS = ("Linux",)  # where a library may leave functions to the program that loads it


def block_library(say: Callable[[str], None] = silent) -> Path:
    """Return the library for this machine; it is built when it is not there yet."""
    own = this_platform()
    if own is None or own.system not in SYSTEMS:
        raise FmuError(
            f"external objects are built on Linux only so far ({', '.join(PLATFORMS)} have FMUs): take kinetree fmu --backend native"
        )
    try:
        objects = objects_for(own, say)
        content = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:8]
        path = place(f"block-{shell_hash(objects)}-{content}-{own.name}{own.extension}")
        if not sound(path):
            say("linking the library of external objects")
            with written(path) as draft:
                link(draft, objects, own, levels_for(own), more=(SOURCE,), exports=f"{LIBRARY}_*")
        return path
    except LibraryError as error:
        raise FmuError(f"the library of external objects cannot be built: {error}") from error
