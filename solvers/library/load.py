"""Loads the compiled library for the processor level of this machine, or says that there is none; nothing damaged is loaded."""

from __future__ import annotations

import ctypes
from functools import lru_cache

from kinetree.solvers.entries import library_of, signature_of
from kinetree.solvers.library.c_compiler import LibraryError
from kinetree.solvers.library.processor_levels import level, suffix_of
from kinetree.solvers.library.verified_files import library_path, sound

KINDS = {
    "int": ctypes.c_int64,
    "float": ctypes.c_double,
    "ints": ctypes.c_void_p,
    "floats": ctypes.c_void_p,
}


@lru_cache(maxsize=4)
def load_library(name: str) -> ctypes.CDLL | None:
    """A library of the present sources, or None when it has not been built or is not what was built."""
    path = library_path(name, level())
    return ctypes.CDLL(str(path)) if sound(path) else None


def needed_library(name: str) -> ctypes.CDLL:
    """A library that has to be there: those that few commands use are built when they are first wanted."""
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
    """Give the core library the address of an entry that it calls through a hook."""
    cell = ctypes.c_void_p.in_dll(needed_library("core"), f"kt_hook_{entry}{suffix_of(level())}")
    cell.value = ctypes.cast(function(entry), ctypes.c_void_p).value


def held_function(entry: str):
    """An entry point that is called without letting other Python threads run meanwhile."""
    f = getattr(
        ctypes.PyDLL(str(library_path(library_of(entry), level()))),
        f"kt_{entry}{suffix_of(level())}",
    )
    f.restype, f.argtypes = ctypes.c_int32, function(entry).argtypes
    return f


def function(entry: str):
    """An entry point with its C signature."""
    f = getattr(needed_library(library_of(entry)), f"kt_{entry}{suffix_of(level())}")
    f.restype = ctypes.c_int32
    f.argtypes = [KINDS[kind] for kind in signature_of(entry)]
    return f
