"""Builds the library that serves the external objects of all mechanisms: the shell of native FMUs,
the engine, and the functions that Modelica calls.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from kinetree.fmu.native.shell import link, shell_hash
from kinetree.fmu.variables import FmuError
from kinetree.solvers.library.build import objects_for, silent
from kinetree.solvers.library.c_compiler import LibraryError
from kinetree.solvers.library.platforms import NATIVE, Platform, levels_for, this_platform
from kinetree.solvers.library.verified_files import place, sound, written

SOURCE = Path(__file__).with_name("block.c")
LIBRARY = "kinetree_block"


def block_library(say: Callable[[str], None] = silent, target: Platform | None = None) -> Path:
    """Return the library for a platform, by default this machine's; it is built if missing."""
    target = target or this_platform()
    if target is None or target.name not in NATIVE:
        raise FmuError(
            f"external objects are built for {', '.join(NATIVE)}: take kinetree fmu --backend source"
        )
    try:
        objects = objects_for(target, say)
        content = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:8]
        path = place(f"block-{shell_hash(objects)}-{content}-{target.name}{target.extension}")
        if not sound(path):
            say(f"linking the library of external objects for {target.name}")
            with written(path) as draft, TemporaryDirectory(dir=draft.parent) as folder:
                # a library of Windows carries the name under which it was linked
                named = Path(folder) / f"lib{LIBRARY}{target.extension}"
                link(
                    named,
                    objects,
                    target,
                    levels_for(target),
                    more=(SOURCE,),
                    exports=f"{LIBRARY}_*",
                )
                named.replace(draft)
        return path
    except LibraryError as error:
        raise FmuError(f"the library of external objects cannot be built: {error}") from error
