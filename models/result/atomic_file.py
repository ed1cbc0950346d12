"""Atomic output files: written under a draft name and moved into place, so that the old file
survives a full disk.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Context manager that yields a draft path and moves it to `path` at the end; device files are
    written directly.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    direct = target.exists() and not target.is_file()
    draft = target if direct else target.with_name(f".{secrets.token_hex(6)}{target.suffix}")
    try:
        yield draft
        if not direct:
            if target.exists():
                draft.chmod(target.stat().st_mode & 0o7777)
            os.replace(draft, target)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(draft), draft):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
    finally:
        if not direct:
            draft.unlink(missing_ok=True)


@contextmanager
def opened(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Context manager like `whole_file` that yields an open file, binary with "wb", otherwise text."""
    with whole_file(path) as draft:
        with (
            draft.open(mode)
            if "b" in mode
            else draft.open(mode, newline="", encoding="utf-8") as stream
        ):
            yield stream


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically."""
    with opened(path) as stream:
        stream.write(text)
