"""Calls the entry points: from the library compiled ahead of time when it is there, else jitted.

KINETREE_ENGINE=library|jit forces one of them.
"""
from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache

import numpy as np

Call = Callable[[int, float], int]


class Engine:
    """Entry points by name."""

    def __init__(self, kind: str):
        self.kind = kind
        self.library = None
        if kind == "library":
            from kinetree.solvers.library.load import load_library

            self.library = load_library()

    def bind(self, name: str, ints: np.ndarray, floats: np.ndarray, work: np.ndarray) -> Call:
        """The entry on given blocks: call(option, t) -> status."""
        if self.library is not None:
            from kinetree.solvers.library.load import function

            f = function(self.library, name)
            a, b, c = ints.ctypes.data, floats.ctypes.data, work.ctypes.data
            return lambda option, t: f(a, b, c, option, t)
        from kinetree.solvers.entries import entries

        g = entries()[name]
        return lambda option, t: int(g(ints, floats, work, option, t))


@lru_cache(maxsize=1)
def engine() -> Engine:
    """The engine of this process."""
    wanted = os.environ.get("KINETREE_ENGINE", "")
    if wanted not in ("", "library", "jit"):
        raise ValueError(f"KINETREE_ENGINE is '{wanted}', expected 'library' or 'jit'")
    if wanted != "jit":
        found = Engine("library")
        if found.library is not None:
            return found
        if wanted == "library":
            raise RuntimeError("the engine library is not built: run 'python -m kinetree.solvers.library build'")
    return Engine("jit")
