"""Storage of built files and their verification by a companion file with size and hash.

A truncated library would crash the process that loads it, so every file is verified before it is
loaded or packed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from kinetree.solvers.cache import cache_root, engine_hash, sources_hash
from kinetree.solvers.library.c_compiler import LibraryError

SHIPPED = Path(__file__).parent / "built"  # of a wheel that carries its engine
KEPT = 24  # engines of former sources that stay


def library_folder() -> Path:
    """Return the cache folder of libraries built from the current sources."""
    return cache_root() / "library" / engine_hash()


def library_path(library: str, level: str) -> Path:
    """Return the file of a library for one processor level of this machine."""
    return place(f"kinetree-{library}-{level}.so")


def place(name: str) -> Path:
    """Return the path of a built file: in the cache, else in the installed wheel."""
    shipped = SHIPPED / engine_hash() / name
    return (
        shipped
        if not (library_folder() / name).exists() and shipped.exists()
        else library_folder() / name
    )


def seal(path: Path) -> None:
    """Write the companion file with size and hash of a file."""
    beside(path).write_text(f"{path.stat().st_size} {digest(path)}\n")


def beside(path: Path) -> Path:
    return path.with_name(path.name + ".sum")


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sound(path: Path) -> bool:
    """Return whether a file exists and matches its recorded size and hash."""
    try:
        stat = path.stat()
        return looked_at(path, stat.st_size, stat.st_mtime_ns, beside(path).read_text())
    except OSError:
        return False


@lru_cache(maxsize=64)
def looked_at(path: Path, size: int, changed: int, noted: str) -> bool:
    return noted.split() == [str(size), digest(path)]


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Context manager that yields a draft path; the file appears complete with its checksum, or not
    at all.
    """
    folder = path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            draft = Path(scratch) / path.name
            yield draft
            seal(draft)
            beside(path).unlink(missing_ok=True)  # never a new file under an old sum
            os.replace(draft, path)
            os.replace(beside(draft), beside(path))
    except OSError as error:
        raise LibraryError(f"{path} cannot be written: {error.strerror or error}") from error


@contextmanager
def one_builder(folder: Path, say: Callable[[str], None] = lambda text: None) -> Iterator[None]:
    """Context manager in which processes wait for the first builder of a file instead of building
    it again.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(str(folder / "lock"), mode=0o600)
    try:
        lock.acquire(timeout=1)
    except Timeout:
        say("waiting for another process that builds it")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def forget_old(present: Path) -> None:
    """Delete builds of earlier sources except the latest few."""
    others = sorted(
        (path for path in present.parent.iterdir() if path.is_dir() and path != present),
        key=lambda path: path.stat().st_mtime,
    )
    for path in others[:-KEPT]:
        shutil.rmtree(path, ignore_errors=True)
    kept = cache_root() / "numba"
    for path in kept.iterdir() if kept.is_dir() else ():
        if (
            not path.name.startswith(sources_hash())
            and path.stat().st_mtime < time.time() - 30 * 86400
        ):
            shutil.rmtree(path, ignore_errors=True)
