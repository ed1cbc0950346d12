"""Kernels of this folder that Python calls: compiled once for each state of the sources, and kept on disk as those of the solvers are."""

import hashlib
from pathlib import Path
from typing import Any

from numba.core import config as options_of_numba

from kinetree.solvers.cache import cache_root, sources_hash
from kinetree.solvers.kernel import F, kernel

HERE = Path(__file__).parent
config: Any = options_of_numba


def folder() -> Path:
    """Numba does not see changes of what a kernel calls: the folder is named after all sources."""
    digest = hashlib.sha256(sources_hash().encode())
    for path in sorted(HERE.glob("*.py")):
        digest.update(path.read_bytes())
    return cache_root() / "numba" / f"{Path(config.CACHE_DIR).name}-{digest.hexdigest()[:8]}"


def kept(function: F) -> F:
    """Compile, or read what is kept."""
    compiled: Any = kernel(function)
    if hasattr(compiled, "enable_caching"):  # plain Python where numba is switched off
        usual, config.CACHE_DIR = config.CACHE_DIR, str(folder())
        try:
            compiled.enable_caching()
        finally:
            config.CACHE_DIR = usual
    return compiled
