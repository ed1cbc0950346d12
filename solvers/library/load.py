"""Loads the compiled library, or says that there is none; the best processor level of this machine is chosen."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path

from kinetree.solvers.entries import library_of
from kinetree.solvers.library.build import LEVELS, LibraryError, library_path

V3 = {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"}


@lru_cache(maxsize=1)
def level() -> str:
    """The highest processor level whose instructions this machine has."""
    try:
        flags = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags"))
    except (OSError, StopIteration):
        return LEVELS[0]
    return LEVELS[1] if V3 <= set(flags.split()) else LEVELS[0]


@lru_cache(maxsize=4)
def load_library(name: str) -> ctypes.CDLL | None:
    """A library of the present sources, or None when it has not been built."""
    path = library_path(name, level())
    return ctypes.CDLL(str(path)) if path.exists() else None


def connect(entry: str) -> None:
    """Give the core library the address of an entry that it calls through a hook."""
    core = load_library("core")
    cell = ctypes.c_void_p.in_dll(core, f"kt_hook_{entry}")
    cell.value = ctypes.cast(function(entry), ctypes.c_void_p).value


def function(entry: str):
    """An entry point with its C signature; its library must be there."""
    library = load_library(library_of(entry))
    if library is None:
        raise LibraryError("the engine library is not built: run 'python -m kinetree.solvers.library build'")
    f = getattr(library, f"kt_{entry}")
    f.restype = ctypes.c_int32
    f.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_double]
    return f
