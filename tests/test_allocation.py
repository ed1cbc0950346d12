"""No kernel allocates: counted while the entries run, and seen in the compiled library, which does not even know how."""

import shutil
import subprocess

import numpy as np
import pytest
from allocation import allocations, assert_no_allocation

from kinetree.models import load
from kinetree.models.compilation.blocks import allocate
from kinetree.solvers.entries import entries
from kinetree.solvers.library.build import LEVELS, library_path

FOREIGN = ("malloc", "calloc", "realloc", "NRT", "Py", "numba")


def test_the_counter_counts():
    """The guard of this file: a function that does allocate is caught."""
    from numba import njit

    @njit
    def allocating(n):
        return np.ones(n).sum()

    allocating(3)
    assert allocations(lambda: allocating(3), 1) == 1 and allocations(lambda: allocating(3), 9) == 9


@pytest.mark.parametrize("level", LEVELS)
def test_library_needs_no_memory_and_no_python(level: str):
    path = library_path(level)
    if not path.exists() or not shutil.which("nm"):
        pytest.skip("the engine library has not been built here (python3 scripts/dev.py setup builds it)")
    wanted = subprocess.run(["nm", "-D", "--undefined-only", str(path)], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in wanted.splitlines()]
    assert not [name for name in names if name.startswith(FOREIGN)]


@pytest.mark.slow
@pytest.mark.parametrize("name", entries())
def test_entries_do_not_allocate(name: str):
    system = load("lib:regulator").compile()
    ints, floats = system.compiled.ints, system.compiled.floats
    work, _ = allocate(ints, floats)
    assert entries()["prepare"](ints, floats, work, 0, 0.0) == 0
    assert_no_allocation(lambda: entries()[name](ints, floats, work, 0, 0.0))
