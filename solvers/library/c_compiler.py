"""Finds the program that compiles C and links: the machine's compiler, else zig, which pip installs
(`ziglang`) and which supports every platform.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec

from kinetree.solvers.cache import cache_root


class LibraryError(Exception):
    """Raised if a library cannot be built or loaded; the message gives the cause and the remedy."""


@lru_cache(maxsize=1)
def has_zig() -> bool:
    """Return whether zig is installed for this Python."""
    return find_spec("ziglang") is not None


def compiler() -> list[str]:
    """Return the command of the C compiler of this machine, or zig if there is none."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return [name]
    return cross_compiler("native") if has_zig() else refuse()


def cross_compiler(target: str) -> list[str]:
    """Return the command of a C compiler for another platform, given by zig's name for it."""
    if not has_zig():
        raise LibraryError("other platforms need zig: install it with 'pip install ziglang'")
    return [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        *([] if target == "native" else ["-target", target]),
    ]


def refuse() -> list[str]:
    raise LibraryError(
        "no C compiler found: install one with 'pip install ziglang', or for example with 'apt-get install gcc'"
    )


def run(command: Sequence[str]) -> None:
    """Run a tool; if it fails, raise a LibraryError with the tool's own message."""
    places = {
        "ZIG_GLOBAL_CACHE_DIR": str(cache_root() / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(cache_root() / "zig"),
    }
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **places})
    if done.returncode:
        raise LibraryError(f"{' '.join(command[:4])} failed: {done.stderr.strip()[:2000]}")
