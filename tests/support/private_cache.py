"""A cache of one's own that begins with what the user's holds for the present engine: binaries can be put into it that nobody else gets."""

from __future__ import annotations

import os
import shutil
from collections.abc import Container
from pathlib import Path

from kinetree.solvers.cache import cache_root
from kinetree.solvers.library.verified_files import library_folder


def private_cache(folder: Path, without: Container[str] = ()) -> Path:
    """The folder, for KINETREE_CACHE; files of the engine are linked, so that nothing is built again and little is copied."""
    engine = folder / "library" / library_folder().name
    engine.mkdir(parents=True)
    folder.chmod(0o700)
    for each in library_folder().iterdir():
        if each.is_file() and not each.name.startswith("shell-") and each.name != "lock":
            try:
                os.link(each, engine / each.name)
            except OSError:
                shutil.copy2(each, engine)
    for each in cache_root().iterdir():
        if each.name != "library" and each.name not in without:
            (folder / each.name).symlink_to(each)
    return folder
