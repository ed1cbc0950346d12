"""Builds the engine's libraries for this machine, and the object code that FMUs carry for other
processors and platforms.

The LLVM code of a library, which takes longest, is generated once; machine code for a processor is
generated from it when first needed. Files are stored by content: the folder's name contains the
hash of all kernel sources.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from kinetree.solvers.entries import LIBRARIES
from kinetree.solvers.library.c_compiler import LibraryError, compiler, run
from kinetree.solvers.library.load import know_this_machine
from kinetree.solvers.library.platforms import Platform, levels_for, this_platform
from kinetree.solvers.library.processor_levels import level, suffix_of
from kinetree.solvers.library.verified_files import (
    forget_old,
    library_folder,
    library_path,
    one_builder,
    place,
    sound,
    written,
)

Say = Callable[[str], None]


def silent(text: str) -> None:
    """Ignore a progress message."""


def build(say: Say = silent, libraries: Iterable[str] = LIBRARIES) -> Path:
    """Build the missing libraries of this machine, one process each, and return their folder."""
    folder = made_folder()
    with one_builder(folder, say):
        wanted = [name for name in libraries if not ready(name)]
        at_once([(f"the library '{name}'", f"make_library({name!r})") for name in wanted], say)
    forget_old(folder)
    return folder


def ready(name: str, processor: str = "") -> bool:
    """Return whether a library exists for a processor level, linked or as object code."""
    path = library_path(name, processor or level())
    return sound(path) or (linker() is None and sound(path.with_suffix(".o")))


def linker() -> list[str] | None:
    """Return the command of a linker for shared libraries; None if LLVM must link them in memory."""
    try:
        return compiler() if sys.platform.startswith("linux") else None
    except LibraryError:
        return None


def build_all_levels(say: Say = silent) -> None:
    """Build the libraries for every processor level of this platform, for wheels."""
    build(say)
    own = this_platform()
    with one_builder(library_folder(), say):
        for each in own.levels if own else ():
            jobs = [name for name in LIBRARIES if not sound(library_path(name, each))]
            at_once(
                [
                    (f"the library '{name}', {each}", f"make_library({name!r}, {each!r})")
                    for name in jobs
                ],
                say,
            )


def objects_for(target: Platform, say: Say = silent) -> list[Path]:
    """Return the core's object files for every processor level of a platform, compiling missing
    ones.
    """
    folder = made_folder()
    levels = levels_for(target)
    paths = [object_path(target, each) for each in levels]
    if not all(sound(path) for path in paths):
        with one_builder(folder, say):
            if not sound(code_path("core")):
                at_once([("the library 'core'", "make_code('core')")], say)
            missing = [each for each, path in zip(levels, paths) if not sound(path)]
            at_once(
                [
                    (
                        f"code for {target.name}, {each}",
                        f"make_object('core', {target.name!r}, {each!r})",
                    )
                    for each in missing
                ],
                say,
            )
    return paths


def made_folder() -> Path:
    folder = library_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise LibraryError(
            f"{folder} cannot be made: {error.strerror}; set KINETREE_CACHE to a folder that can be written"
        ) from error
    return folder


def code_path(library: str) -> Path:
    """Return the path of a library's compressed LLVM code."""
    return place(f"kinetree-{library}.bc.z")


def object_path(target: Platform | None, level_name: str) -> Path:
    """Return the path of the core's object code for a platform and processor level."""
    return place(
        f"kinetree-core-{level_name}.o"
        if target == this_platform() or target is None
        else f"kinetree-core-{target.name}-{level_name}.o"
    )


def at_once(jobs: list[tuple[str, str]], say: Say) -> None:
    """Run jobs in parallel processes; a job is a label and the call of a function of this module."""
    running = []
    for what, call in jobs:
        say(f"compiling {what}")
        code = f"from kinetree.solvers.library import build; build.{call}"
        running.append(
            (
                what,
                subprocess.Popen(
                    [sys.executable, "-W", "ignore", "-c", code],
                    env=child_environment(),
                    stderr=subprocess.PIPE,
                    text=True,
                ),
            )
        )
    for what, process in running:
        _, errors = process.communicate()
        if process.returncode:
            raise LibraryError(
                f"compiling {what} failed: {errors.strip().splitlines()[-1] if errors.strip() else 'no message'}"
            )
        say(f"{what} is ready")


def child_environment() -> dict[str, str]:
    """Return the environment of child processes, in which numba does not optimise: `emit` does that
    once, numba would repeat it for every caller of a kernel.
    """
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_DISABLE_JIT"}
    return environment | {"NUMBA_OPT": "0"}


def make_code(library: str) -> bytes:
    """Return the LLVM bitcode of a library, which is cached so that machine code for other
    processors can be generated.
    """
    if sound(code_path(library)):
        return zlib.decompress(code_path(library).read_bytes())
    from kinetree.solvers.entries import entries
    from kinetree.solvers.library.compile_ahead import keep_from_running, linked_module

    keep_from_running()
    code = linked_module(entries(library)).as_bitcode()
    with written(library_folder() / code_path(library).name) as draft:
        draft.write_bytes(zlib.compress(code, 6))
    return code


def make_object(library: str, target: str, level_name: str) -> Path:
    """Return the core's object file for one processor level of a platform, compiling it if it is
    missing.
    """
    from kinetree.solvers.library.compile_ahead import emit
    from kinetree.solvers.library.platforms import PLATFORMS

    platform = PLATFORMS[target]
    own = platform == this_platform()
    path = library_folder() / object_path(platform, level_name).name
    code = make_code(library)
    know_this_machine()
    with written(path) as draft:
        emit(code, draft, level_name, suffix_of(level_name), "" if own else platform.triple)
    return path


def make_library(library: str, processor: str = "") -> None:
    """Compile and link one library for this machine, or for another processor level of its platform."""
    from kinetree.solvers.library.compile_ahead import emit

    processor = processor or level()
    path = library_folder() / library_path(library, processor).name
    code = make_code(library)
    know_this_machine()
    objects = path.with_suffix(".o")
    with written(objects) as draft:
        emit(code, draft, processor, suffix_of(processor))
    command = linker()
    if command is None:
        return
    with (
        suppress(LibraryError),
        written(path) as draft,
    ):  # what cannot be linked is linked in memory
        run([*command, "-shared", "-o", str(draft), str(objects), "-lm", "-Wl,-z,defs"])


__all__ = ["LibraryError", "build", "compiler", "library_path", "object_path", "objects_for"]
