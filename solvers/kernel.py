"""The decorators that compile all kernels.

`kernel` marks functions that other kernels call (`inline` and `exact` are variants with special
compiler options); `entry` marks functions that Python calls, and only these are cached on disk.
numba's cache does not notice changes of callees, so it is kept in a folder named after a hash of
all kernel sources.
"""

import os
import platform
from collections.abc import Callable
from typing import TypeVar, cast

from kinetree.solvers.cache import cache_root, sources_hash

F = TypeVar("F", bound=Callable)
# contract and nsz keep NaN and infinity visible; reassociation would undo compensated sums
FAST = {"contract", "nsz", "arcp"}
OPTIONS = {"error_model": "numpy", "fastmath": FAST}


if not os.environ.get("NUMBA_CACHE_DIR"):
    os.environ["NUMBA_CACHE_DIR"] = str(
        cache_root() / "numba" / f"{sources_hash()}-{platform.machine()}"
    )

from numba import config, njit  # noqa: E402  (the cache folder should be known before numba is imported)

config.CACHE_DIR = os.environ[
    "NUMBA_CACHE_DIR"
]  # where numba was imported before, it would look beside the sources, at the code of other engines


def kernel(function: F) -> F:
    """Compile a kernel that other kernels call."""
    return cast(F, njit(function, **OPTIONS))


def inline(function: F) -> F:
    """Compile a kernel into each of its callers, so that returned tuples stay in registers."""
    return cast(F, njit(function, **OPTIONS, forceinline=True))


def exact(function: F) -> F:
    """Compile a kernel whose products are rounded before addition (no fused multiply-add) on every
    machine.
    """
    return cast(F, njit(function, **OPTIONS | {"fastmath": FAST - {"contract"}}))


def entry(function: F) -> F:
    """Compile a kernel that Python calls; cached on disk."""
    return cast(F, njit(function, **OPTIONS, cache=True))
