"""The engine as C99, as the source back end packs it: compiled as strict as a host's compiler may be, and called in the place of the library."""

import ctypes
import hashlib
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
from filelock import FileLock

import kinetree.models.run.simulation_unit as unit_module
from kinetree.fmu.source.archive import STRICT, engine_text
from kinetree.solvers.cache import cache_root
from kinetree.solvers.library.c_compiler import compiler

QUICK = tuple(
    "-O0" if flag == "-O2" else flag for flag in STRICT
)  # compiled in a quarter of the time; the same operations in the same order


@cache
def translated_engine() -> ctypes.CDLL:
    """Compiled without a warning, once for each state of its text, whichever process asks first."""
    command, text = [*compiler(), *QUICK, "-shared", "-fPIC"], engine_text()
    name = hashlib.sha256("\n".join((*command, text)).encode()).hexdigest()[:16]
    folder = cache_root() / "source"
    source, library, draft = (folder / f"translated-{name}{end}" for end in (".c", ".so", ".draft"))
    with FileLock(str(folder / "translated.lock")):
        if not library.exists():
            source.write_text(text)
            subprocess.run([*command, str(source), "-lm", "-o", str(draft)], check=True)
            draft.replace(library)
            source.unlink()
    return ctypes.CDLL(str(library))


def bound(engine: ctypes.CDLL) -> Callable:
    """Instead of `bind`: entries of the translated engine."""

    def bind(name: str, ints: np.ndarray, floats: np.ndarray, work: np.ndarray):
        entry = getattr(engine, f"kt_{name}")
        entry.restype, entry.argtypes = (
            ctypes.c_int32,
            [ctypes.c_void_p] * 3 + [ctypes.c_int64, ctypes.c_double],
        )
        return lambda option, t: entry(
            ints.ctypes.data, floats.ctypes.data, work.ctypes.data, option, t
        )

    return bind


@contextmanager
def in_its_place() -> Iterator[None]:
    """Runs that begin here are made by the translated engine."""
    library, mine = unit_module.bind, bound(translated_engine())
    unit_module.bind = mine
    try:
        yield
    finally:
        unit_module.bind = library
