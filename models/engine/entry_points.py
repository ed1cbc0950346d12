"""Calls of entry points: from the library compiled ahead of time if it exists, else compiled just
in time.

KINETREE_ENGINE=library|jit forces one of them.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

Call = Callable[[int, float], int]
LONG_WORK = 20_000  # whole numbers in the structure of a mechanism whose evaluation takes so long that other threads should run meanwhile


@lru_cache(maxsize=1)
def kind() -> str:
    """Return how entry points are called in this process: 'library' or 'jit'."""
    wanted = os.environ.get("KINETREE_ENGINE", "")
    if wanted not in ("", "library", "jit"):
        raise ValueError(f"KINETREE_ENGINE is '{wanted}', expected 'library' or 'jit'")
    if wanted:
        return wanted
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return "jit"  # kernels run in plain Python
    from kinetree.solvers.library.load import load_library

    if load_library("core") is None:
        from kinetree.solvers.library.build_notice import build_once

        build_once("core")
        load_library.cache_clear()
    return "library" if load_library("core") else "jit"


def connect(*names: str) -> None:
    """Load the library that contains these entry points and connect it to the hooks of the core
    library.
    """
    if kind() == "library":
        from kinetree.solvers.library.load import connect as connect_library

        for name in names:
            connect_library(name)


@lru_cache(maxsize=8)
def pointer_entry(name: str) -> Callable[..., int] | None:
    """Return an entry point that takes array addresses; None if kernels run as plain Python."""
    if kind() == "library":
        from kinetree.solvers.library.load import function

        return function(name)
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return None
    from kinetree.solvers.entries import as_pointer_function

    return as_pointer_function(name)


def quick(
    name: str, ints: np.ndarray, floats: np.ndarray, work: np.ndarray, option: int
) -> Callable[[float], int]:
    """Return an entry point bound to given blocks with a fixed option, as fast to call as Python
    allows: call(t) -> status.

    The call keeps the GIL, so that other Python threads wait; for work of microseconds this costs
    less than releasing it.
    """
    if kind() == "library" and ints.size < LONG_WORK:
        from kinetree.solvers.library.load import held_function

        return partial(
            held_function(name), ints.ctypes.data, floats.ctypes.data, work.ctypes.data, option
        )
    call = bind(name, ints, floats, work)
    return lambda t: call(option, t)


def held_address(name: str, ints: np.ndarray) -> int | None:
    """Return the address of an entry point for calls that keep the GIL; None if that is slower."""
    if kind() != "library" or ints.size >= LONG_WORK:
        return None
    from kinetree.solvers.library.load import held_function

    return ctypes.cast(held_function(name), ctypes.c_void_p).value


def bind(name: str, ints: np.ndarray, floats: np.ndarray, work: np.ndarray) -> Call:
    """Return an entry point bound to given blocks: call(option, t) -> status."""
    if kind() == "library":
        from kinetree.solvers.library.load import function

        f = function(name)
        a, b, c = ints.ctypes.data, floats.ctypes.data, work.ctypes.data
        blocks = (ints, floats, work)  # addresses alone would not keep them alive
        return lambda option, t: f(a, b, c, option, t) if blocks else 0
    from kinetree.solvers.entries import jitted

    g = jitted(name)
    return lambda option, t: int(g(ints, floats, work, option, t))
