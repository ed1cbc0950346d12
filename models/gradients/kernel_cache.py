"""Cache on disk of the compiled kernels of this folder, keyed by all kernel sources."""

import hashlib
from pathlib import Path
from typing import Any

from numba.core import config as options_of_numba

from kinetree.solvers.cache import cache_root, sources_hash
from kinetree.solvers.kernel import F, kernel

HERE = Path(__file__).parent
config: Any = options_of_numba


def cache_folder() -> Path:
    """Return the cache folder, named after all sources because numba does not track callees."""
    digest = hashlib.sha256(sources_hash().encode())
    for path in sorted(HERE.glob("*.py")):
        digest.update(path.read_bytes())
    return cache_root() / "numba" / f"{Path(config.CACHE_DIR).name}-{digest.hexdigest()[:8]}"


def kept(function: F) -> F:
    """Compile a kernel, or read it from the cache."""
    compiled: Any = kernel(function)
    if hasattr(compiled, "enable_caching"):  # plain Python where numba is switched off
        usual, config.CACHE_DIR = config.CACHE_DIR, str(cache_folder())
        try:
            compiled.enable_caching()
        finally:
            config.CACHE_DIR = usual
    return compiled
