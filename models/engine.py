"""Calls the entry points: from the library compiled ahead of time when it is there, else jitted.

KINETREE_ENGINE=library|jit forces one of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache

import numpy as np

Call = Callable[[int, float], int]


@lru_cache(maxsize=1)
def kind() -> str:
    """How entry points are called in this process: 'library' or 'jit'."""
    wanted = os.environ.get("KINETREE_ENGINE", "")
    if wanted not in ("", "library", "jit"):
        raise ValueError(f"KINETREE_ENGINE is '{wanted}', expected 'library' or 'jit'")
    if wanted:
        return wanted
    from kinetree.solvers.library.load import load_library

    return "library" if load_library("core") and load_library("forms") else "jit"


def bind(name: str, ints: np.ndarray, floats: np.ndarray, work: np.ndarray) -> Call:
    """The entry on given blocks: call(option, t) -> status."""
    if kind() == "library":
        from kinetree.solvers.library.load import function

        f = function(name)
        a, b, c = ints.ctypes.data, floats.ctypes.data, work.ctypes.data
        return lambda option, t: f(a, b, c, option, t)
    from kinetree.solvers.entries import jitted

    g = jitted(name)
    return lambda option, t: int(g(ints, floats, work, option, t))
