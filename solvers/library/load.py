"""Loads the compiled library, or says that there is none; the best processor level of this machine is chosen."""

from __future__ import annotations

import ctypes
from functools import lru_cache

from kinetree.solvers.entries import library_of, signature_of
from kinetree.solvers.library.build import LibraryError, library_path
from kinetree.solvers.library.levels import level

KINDS = {"int": ctypes.c_int64, "float": ctypes.c_double, "ints": ctypes.c_void_p, "floats": ctypes.c_void_p}


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
    f.argtypes = [KINDS[kind] for kind in signature_of(entry)]
    return f
