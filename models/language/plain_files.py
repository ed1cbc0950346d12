"""Bounded reading: only regular files of limited size, and third-party code in a process with
limited time and memory.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

MEMORY = 8 << 30  # bytes that a process apart may take
CODE = """
import importlib, pickle, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
except (ImportError, ValueError, OSError):
    pass
module, name, given = pickle.load(sys.stdin.buffer)
try:
    found = True, getattr(importlib.import_module(module), name)(*given)
except Exception as error:
    found = False, f"{{type(error).__name__}}: {{error}}"[:2000]
with open({place!r}, "wb") as stream:
    pickle.dump(found, stream)
"""


def fault_of(path: Path, most: int) -> str:
    """Return why a file cannot be read completely: it is a pipe or a device, or too large; empty if
    it can.
    """
    found = path.stat()
    if not path.is_file():
        return "it is no plain file"
    return f"{found.st_size} bytes, expected at most {most}" if found.st_size > most else ""


def apart(module: str, name: str, *given: Any, seconds: float) -> Any:
    """Return the result of a function called in a separate process with bounded time and memory;
    raises ValueError with the cause on failure.
    """
    with tempfile.TemporaryDirectory(prefix="kinetree-") as folder:
        place = Path(folder) / "found"
        try:
            done = subprocess.run(
                [sys.executable, "-c", CODE.format(memory=MEMORY, place=str(place))],
                input=pickle.dumps((module, name, given)),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            raise ValueError(f"it is not read after {seconds:g} s") from None
        if not place.exists():
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise ValueError(f"its reader ended by itself ({(said or ['no reason given'])[-1]})")
        good, found = pickle.loads(place.read_bytes())
    if not good:
        raise ValueError(found)
    return found
