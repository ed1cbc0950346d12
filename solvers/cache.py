"""Cache folders for compiled artefacts, and the hashes of kernel sources that name them. Imports
nothing heavy.

Only its user may write into a cache folder: anybody else who could would be able to plant code. If
a safe folder cannot be made, a temporary folder is used. The permissions of a folder that already
existed for another purpose are not changed.
"""

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

SOURCES = Path(__file__).parent


def cache_root() -> Path:
    """Return the folder for everything that Kinetree compiles or caches on this machine."""
    named = os.environ.get("KINETREE_CACHE")
    return usable(Path(named) if named else default_root())


def default_root() -> Path:
    """Return the default cache folder of this operating system and user."""
    from platformdirs import user_cache_path

    return user_cache_path("kinetree", appauthor=False)


@lru_cache(maxsize=8)
def usable(wanted: Path) -> Path:
    """Create the wanted cache folder and return it; if that fails, print a note and return a
    temporary folder.
    """
    try:
        if not wanted.is_absolute() and str(wanted).startswith("~"):
            raise OSError("the user has no home folder")
        return own(wanted.absolute(), repaired=wanted == default_root())
    except OSError as error:
        name = f"kinetree-{os.getuid() if hasattr(os, 'getuid') else os.environ.get('USERNAME', 'user')}"
        try:
            other = own(Path(tempfile.gettempdir()) / name, repaired=True)
        except OSError:
            other = Path(tempfile.mkdtemp(prefix="kinetree-"))
        reason = error.strerror or str(error)
        print(
            f"{wanted} cannot be used as cache ({reason}); {other} is used: set KINETREE_CACHE to a folder of yours",
            file=sys.stderr,
        )
        return other


def own(folder: Path, repaired: bool) -> Path:
    """Create a folder that only its user may write to and return it; `repaired` allows changing its
    permissions.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if hasattr(os, "getuid"):
        found = folder.stat()
        if found.st_uid not in (os.getuid(), 0):
            raise OSError("it belongs to another user")
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            if not repaired or found.st_uid != os.getuid():
                raise OSError("others may write into it: chmod go-w")
            folder.chmod(found.st_mode & ~(stat.S_IWGRP | stat.S_IWOTH))
    with tempfile.TemporaryFile(dir=folder):
        return folder


def hash_of(paths: Iterable[Path]) -> str:
    """Return a hash of Python sources that ignores comments, docstrings and layout, as the compiler
    does.

    Parsing all sources takes a second, so the result is cached under a hash of the bytes of the
    files.
    """
    digest = hashlib.sha256()
    texts = [(path.relative_to(SOURCES).as_posix(), path.read_bytes()) for path in sorted(paths)]
    for name, text in texts:
        digest.update(name.encode() + b"\0" + text)
    kept = cache_root() / "sources" / digest.hexdigest()[:32]
    try:
        found = kept.read_text()
    except OSError:
        found = hash_of_code(texts)
        _keep(kept, found)
    return found


def hash_of_code(texts: Iterable[tuple[str, bytes]]) -> str:
    """Return a hash of the syntax trees of named Python texts, without their docstrings."""
    import ast

    digest = hashlib.sha256()
    for name, text in texts:
        tree = ast.parse(text)
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            if (
                isinstance(body, list)
                and body
                and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
                and _is_text(body[0])
            ):
                body[:1] = [] if body[1:] else [ast.Pass()]
        digest.update(name.encode() + b"\0" + ast.dump(tree, annotate_fields=False).encode())
    return digest.hexdigest()[:16]


def _is_text(statement: object) -> bool:
    """Return whether a statement is nothing but a string literal, such as a docstring."""
    import ast

    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _keep(path: Path, text: str) -> None:
    """Write a small file of the cache atomically; failures are ignored, since they only cost time."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.write_text(text)
        os.replace(draft, path)
    except OSError:
        return


@lru_cache(maxsize=1)
def sources_hash() -> str:
    """Return the hash of all kernel sources, computed once per process; it is the key of numba's
    cache.
    """
    return hash_of(SOURCES.rglob("*.py"))


@lru_cache(maxsize=1)
def engine_hash() -> str:
    """Return the hash of the sources of the engine library, without linear chains and the build
    tools.
    """
    return hash_of(path for path in SOURCES.rglob("*.py") if of_engine(path.relative_to(SOURCES)))


def of_engine(path: Path) -> bool:
    """Return whether a source file belongs to the engine library, by its path below solvers/."""
    if path.parent.name == "library":
        return path.name == "compile_ahead.py"
    return path.parent.name != "chain" and path.name != "cache.py"
