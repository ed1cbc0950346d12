"""The engine as C99, as the source back end packs it: compiled as strict as a host's compiler may be, and called in the place of the library."""

import ctypes
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import kinetree.models.run.unit as unit_module
from kinetree.fmu.source.archive import STRICT, engine_text
from kinetree.solvers.library.tools import compiler


def translated_engine(folder: Path) -> ctypes.CDLL:
    """Compiled without a warning."""
    source, library = folder / "engine.c", folder / "engine.so"
    source.write_text(engine_text())
    subprocess.run([*compiler(), *STRICT, "-shared", "-fPIC", str(source), "-lm", "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def bound(engine: ctypes.CDLL) -> Callable:
    """Instead of `bind`: entries of the translated engine."""

    def bind(name: str, ints: np.ndarray, floats: np.ndarray, work: np.ndarray):
        entry = getattr(engine, f"kt_{name}")
        entry.restype, entry.argtypes = ctypes.c_int32, [ctypes.c_void_p] * 3 + [ctypes.c_int64, ctypes.c_double]
        return lambda option, t: entry(ints.ctypes.data, floats.ctypes.data, work.ctypes.data, option, t)

    return bind


@contextmanager
def in_its_place(engine: ctypes.CDLL) -> Iterator[None]:
    """Runs that begin here are made by the translated engine."""
    library = unit_module.bind
    unit_module.bind = bound(engine)
    try:
        yield
    finally:
        unit_module.bind = library
