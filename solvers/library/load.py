"""Loads the compiled library, or says that there is none; the best processor level of this machine is chosen."""
from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path

from kinetree.solvers.library.build import LEVELS, library_path

V3 = {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"}


@lru_cache(maxsize=1)
def level() -> str:
    """The highest processor level whose instructions this machine has."""
    try:
        flags = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags"))
    except (OSError, StopIteration):
        return LEVELS[0]
    return LEVELS[1] if V3 <= set(flags.split()) else LEVELS[0]


def load_library(path: Path | None = None) -> ctypes.CDLL | None:
    """The library of the present sources, or None when it has not been built."""
    path = path or library_path(level())
    return ctypes.CDLL(str(path)) if path.exists() else None


def function(library: ctypes.CDLL, name: str):
    """Entry `name` with its C signature."""
    f = getattr(library, f"kt_{name}")
    f.restype = ctypes.c_int32
    f.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_double]
    return f
