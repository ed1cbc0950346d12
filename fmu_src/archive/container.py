"""Writes the zip file of an archive: compressed, readable by all users, and atomically."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

from kinetree.fmu.variables import FmuError

COMPRESSION = 4  # larger numbers save 1 % and cost three times as long
LIBRARIES = (".so", ".dll", ".dylib")


def write_archive(path: Path, entries: Mapping[str, bytes | str | Path]) -> Path:
    """Write all entries to an archive atomically."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(
            draft, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION
        ) as archive:
            for name, content in entries.items():
                archive.writestr(
                    entry(name),
                    content.read_bytes() if isinstance(content, Path) else content,
                    compresslevel=COMPRESSION,
                )
        os.replace(draft, path)
    except OSError as error:
        raise FmuError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)
    return path


def entry(name: str) -> zipfile.ZipInfo:
    """Return a zip entry readable by all users, and executable if it is a library."""
    info = zipfile.ZipInfo(name, time.localtime()[:6])
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = (0o100755 if name.endswith(LIBRARIES) else 0o100644) << 16
    return info
