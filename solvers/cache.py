"""Where compiled artefacts are kept, and the hash of all kernel sources that names them. Imports nothing heavy."""

import hashlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

SOURCES = Path(__file__).parent


def cache_root() -> Path:
    """Folder for everything Kinetree compiles or remembers on this machine."""
    base = os.environ.get("KINETREE_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "kinetree")
    return Path(base)


def hash_of(paths: Iterable[Path]) -> str:
    """Hash over kernel sources."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(str(path.relative_to(SOURCES)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=1)
def sources_hash() -> str:
    """Hash over all kernel sources as they were when first asked: the key of every compiled artefact."""
    return hash_of(SOURCES.rglob("*.py"))


@lru_cache(maxsize=1)
def engine_hash() -> str:
    """Hash over the sources of the engine library, which knows nothing of the linear chains."""
    return hash_of(path for path in SOURCES.rglob("*.py") if path.parent.name != "chain")
