"""Builds the one binary of all native FMUs: the C shell linked with the engine's object code for every processor level.

The binary holds no model, so it is built once per engine and kept by content; packing an FMU copies it under another name.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from kinetree.fmu.archive import matrix_steps
from kinetree.fmu.variables import WORK_HEAD, FmuError
from kinetree.solvers import unit_layout
from kinetree.solvers.layout import Status
from kinetree.solvers.library.build import LibraryError, build, compiler, object_path
from kinetree.solvers.library.levels import levels_of

HERE = Path(__file__).parent
SUFFIXES = ("", "_v3", "_v4")  # of the entries for each processor level
FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter")
ENTRIES = ("reset", "start", "prepare", "refresh", "advance", "derivatives", "event", "corner")


@lru_cache(maxsize=1)
def fmi_headers() -> Path:
    """Folder of the headers of the FMI standard, which fmpy carries."""
    from importlib.util import find_spec

    found = find_spec("fmpy")
    if found is None or found.origin is None:
        raise FmuError("fmpy is not installed: its folder c-code holds the headers of the FMI standard")
    return Path(found.origin).parent / "c-code"


def layout_header() -> str:
    """The glossary of units as C constants."""
    lines = [f"#define {key} {value}" for key, value in vars(unit_layout).items() if key.isupper() and isinstance(value, int)]
    lines += [f"#define {key} {value}" for key, value in matrix_steps.layout().items()]
    lines += [f"#define KIND_{name.upper().replace('-', '_')} {value}" for name, value in unit_layout.KINDS.items()]
    lines += [f"#define STATUS_{status.name} {status.value}" for status in Status]
    return "\n".join([*lines, f"#define KINETREE_WORK_HEAD {WORK_HEAD}", ""])


def sources() -> list[Path]:
    return sorted(HERE.glob("*.c"))


def shell_hash(objects: Sequence[Path]) -> str:
    """Hash over the C sources, the glossary and the object code."""
    digest = hashlib.sha256(layout_header().encode())
    for path in (*sources(), *sorted(HERE.glob("*.h"))):
        digest.update(path.read_bytes())
    for path in objects:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def run(command: Sequence[str]) -> None:
    """Run a tool; what it says becomes the error."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise FmuError(f"{command[0]} failed: {done.stderr.strip()[:2000]}")


def shell_library() -> Path:
    """The binary for this machine; built when it is not there yet."""
    objects = [object_path("core", level) for level in levels_of("core")]
    if not all(path.exists() for path in objects):
        try:
            build()
        except LibraryError as error:
            raise FmuError(f"the engine library cannot be built: {error}") from error
    return linked(objects)


def bound(name: str, ints: np.ndarray, floats: np.ndarray, work: np.ndarray) -> Callable[[int, float], int]:
    """An entry as FMUs call it, chains by their matrices: call(option, t) over blocks of this process."""
    library = ctypes.CDLL(str(shell_library()))
    library.best_engine.restype = ctypes.POINTER(ctypes.c_void_p)
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_double)
    entry = kind(library.best_engine()[ENTRIES.index(name.removeprefix("unit_"))])
    return lambda option, t: entry(ints.ctypes.data, floats.ctypes.data, work.ctypes.data, option, t)


def linked(objects: Sequence[Path]) -> Path:
    """The shell linked with engine objects: the baseline first, then those for newer processors, if any."""
    path = objects[0].parent / f"shell-{shell_hash(objects)}.so"
    if path.exists():
        return path
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        folder = Path(scratch)
        (folder / "unit_layout.h").write_text(layout_header())
        code = [str(objects[0])]
        define = []
        for given, suffix in zip(objects[1:], SUFFIXES[1:], strict=False):
            renamed = folder / f"engine{suffix}.o"
            renames = [option for name in ENTRIES for option in ("--redefine-sym", f"kt_unit_{name}=kt_unit_{name}{suffix}")]
            keep = [option for name in ENTRIES for option in ("--keep-global-symbol", f"kt_unit_{name}{suffix}")]
            run(["objcopy", *renames, str(given), str(renamed)])
            run(["objcopy", *keep, str(renamed)])
            code.append(str(renamed))
            define.append(f"-DKINETREE{suffix.upper()}")
        out = folder / "shell.so"
        includes = [f"-I{folder}", f"-I{HERE}", f"-I{fmi_headers()}"]
        # FMI functions are the only symbols a host sees, so that several FMUs in one process never bind to each other's
        exports = folder / "exports.map"
        exports.write_text("{ global: fmi2*; fmi3*; best_engine; local: *; };\n")
        link = ["-shared", "-fPIC", "-s", "-Wl,-z,defs", "-Wl,-Bsymbolic", f"-Wl,--version-script={exports}", "-lm"]
        run([compiler(), *FLAGS, *define, *includes, *map(str, sources()), *code, *link, "-o", str(out)])
        os.replace(out, path)
    return path
