"""Unpacks system structure archives and checks the file names inside them."""

from __future__ import annotations

from pathlib import Path

from kinetree.scripts.ssp.structure import MAIN
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.foreign_archives import stays, unpacked


def unpack(path: Path, folder: Path) -> Path:
    """Unpack a system structure archive; return the folder that contains the system structure."""
    unpacked(path, folder, "an SSP archive")
    if not (folder / MAIN).is_file():
        raise BadInput(f"{path} holds no {MAIN}")
    return folder


def is_inside(folder: Path, source: str) -> bool:
    """Return whether a source named in an archive is a file below the folder: no URL, no absolute
    path, no link that leads out.
    """
    if not stays(source) or "://" in source or source.startswith(("#", "file:")):
        return False
    return (folder / source).resolve().is_relative_to(folder.resolve())
