"""Loads the compiled library for this processor level, if it exists and its checksum is right."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from kinetree.solvers.entries import library_of, signature_of
from kinetree.solvers.library.c_compiler import LibraryError
from kinetree.solvers.library.platforms import this_platform
from kinetree.solvers.library.processor_levels import level, suffix_of
from kinetree.solvers.library.verified_files import (
    digest,
    library_folder,
    library_path,
    place,
    sound,
)

KINDS = {
    "int": ctypes.c_int64,
    "float": ctypes.c_double,
    "ints": ctypes.c_void_p,
    "floats": ctypes.c_void_p,
}


def know_this_machine() -> None:
    """Initialise LLVM's code generator for this machine."""
    import llvmlite.binding as llvm

    with suppress(RuntimeError):  # newer versions do it by themselves
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()


class Shared:
    """A shared library made by a linker."""

    def __init__(self, path: Path):
        self.path, self.own = path, ctypes.CDLL(str(path))

    def function(self, symbol: str, arguments: list[Any], held: bool) -> Any:
        """Return a function of the library; `held`: it runs with the GIL, so other Python threads
        wait.
        """
        library = ctypes.PyDLL(str(self.path)) if held else self.own
        f = getattr(library, symbol)
        f.restype, f.argtypes = ctypes.c_int32, arguments
        return f

    def cell(self, symbol: str) -> ctypes.c_void_p:
        """Return a variable of the library that holds an address."""
        return ctypes.c_void_p.in_dll(self.own, symbol)


class ObjectCode:
    """Object code that LLVM loads and links in memory, for machines without a linker."""

    def __init__(self, path: Path):
        import llvmlite.binding as llvm

        know_this_machine()
        machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
        self.path = path
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self.engine.add_object_file(llvm.ObjectFileRef.from_path(str(path)))
        self.engine.finalize_object()

    def function(self, symbol: str, arguments: list[Any], held: bool) -> Any:
        """Return a function of the object code; `held`: it runs with the GIL, so other Python
        threads wait.
        """
        kind = ctypes.PYFUNCTYPE if held else ctypes.CFUNCTYPE
        f = kind(ctypes.c_int32, *arguments)(self.engine.get_function_address(symbol))
        f.kept = self.engine  # type: ignore[attr-defined]
        return f

    def cell(self, symbol: str) -> ctypes.c_void_p:
        """Return a variable of the object code that holds an address."""
        return ctypes.c_void_p.from_address(self.engine.get_global_value_address(symbol))


@lru_cache(maxsize=4)
def load_library(name: str) -> Shared | ObjectCode | None:
    """Return a library of the current sources; None if it has not been built or its file is
    damaged.
    """
    path = library_path(name, level())
    if sound(path):
        return Shared(path)
    return next((ObjectCode(each) for each in object_files(name) if loads(each)), None)


def object_files(name: str) -> list[Path]:
    """Return the object files of a library for this machine: built here, or contained in a wheel
    built on another platform.
    """
    found = [library_path(name, level()).with_suffix(".o")]
    own = this_platform()
    if own and name == "core":
        known = level() if level() in own.levels else own.levels[0]
        found.append(place(f"kinetree-core-{own.name}-{known}.o"))
    return found


def loads(path: Path) -> bool:
    """Return whether object code can be linked in memory here. This is tried once in a separate
    process, since LLVM terminates a process in which it fails.
    """
    if not sound(path):
        return False
    verdict = library_folder() / f"{path.name}.loads"
    key = digest(path)
    with suppress(OSError):
        said = verdict.read_text().split()
        if said[:1] == [key]:
            return said[1:] == ["yes"]
    code = f"from kinetree.solvers.library.load import ObjectCode; from pathlib import Path; ObjectCode(Path({str(path)!r}))"
    good = subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
    with suppress(OSError):
        library_folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        verdict.write_text(f"{key} {'yes' if good else 'no'}")
    return good


def needed_library(name: str) -> Shared | ObjectCode:
    """Return a library, building it first if it is missing."""
    library = load_library(name)
    if library is None:
        from kinetree.solvers.library.build_notice import build_once

        build_once(name)
        load_library.cache_clear()
        library = load_library(name)
    if library is None:
        raise LibraryError(
            "the engine library is not built: run 'python -m kinetree.solvers.library build'"
        )
    return library


def connect(entry: str) -> None:
    """Give the core library the address of an entry point that it calls through a hook."""
    cell = needed_library("core").cell(f"kt_hook_{entry}{suffix_of(level())}")
    cell.value = ctypes.cast(function(entry), ctypes.c_void_p).value


def held_function(entry: str):
    """Return an entry point that is called while holding the GIL."""
    return entry_point(entry, True)


def function(entry: str):
    """Return an entry point with its C signature."""
    return entry_point(entry, False)


def entry_point(entry: str, held: bool):
    arguments = [KINDS[kind] for kind in signature_of(entry)]
    library = needed_library(library_of(entry))
    return library.function(f"kt_{entry}{suffix_of(level())}", arguments, held)
