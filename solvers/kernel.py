"""The two decorators under which all numerics are compiled.

`kernel` marks what other kernels call; `entry` marks what Python calls: only entries are cached on disk. numba's cache does not notice edits in
callees, so it is kept in a folder named after a hash of all kernel sources.
"""

import hashlib
import os
import platform
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar, cast

SOURCES = Path(__file__).parent
F = TypeVar("F", bound=Callable)
# contract and nsz keep NaN and infinity visible; reassociation would undo compensated sums
FAST = {"contract", "nsz", "arcp"}


def cache_root() -> Path:
    """Folder for everything Kinetree compiles or remembers on this machine."""
    base = os.environ.get("KINETREE_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "kinetree")
    return Path(base)


@lru_cache(maxsize=1)
def sources_hash() -> str:
    """Hash over all kernel sources as they were when first asked: the key of every compiled artefact."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*.py")):
        digest.update(str(path.relative_to(SOURCES)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


if not os.environ.get("NUMBA_CACHE_DIR"):
    os.environ["NUMBA_CACHE_DIR"] = str(cache_root() / "numba" / f"{sources_hash()}-{platform.machine()}")

from numba import njit  # noqa: E402  (the cache folder must be known before numba is imported)


def kernel(function: F) -> F:
    """Compile a kernel that other kernels call."""
    return cast(F, njit(function, error_model="numpy", fastmath=FAST))


def entry(function: F) -> F:
    """Compile a kernel that Python calls; cached on disk."""
    return cast(F, njit(function, error_model="numpy", fastmath=FAST, cache=True))
