"""No kernel allocates: counted while the entries run, and seen in the compiled library, which does not even know how."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from allocation import allocations, assert_no_allocation

from kinetree.models import load
from kinetree.models.engine.instance import Instance
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.solvers.entries import LIBRARIES, jitted
from kinetree.solvers.library.build import library_path, object_path
from kinetree.solvers.library.platforms import this_platform
from kinetree.solvers.library.processor_levels import level, packed_levels

FOREIGN = ("malloc", "calloc", "realloc", "NRT", "Py", "numba")


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="plain Python does not use numba's allocator"
)
def test_allocation_counter_counts():
    """The guard of this file: a function that does allocate is caught."""
    from numba import njit

    @njit
    def allocating(n):
        return np.ones(n).sum()

    allocating(3)
    assert allocations(lambda: allocating(3), 1) == 1 and allocations(lambda: allocating(3), 9) == 9


@pytest.mark.parametrize("what", [*LIBRARIES, *(f"core for {each}" for each in packed_levels())])
def test_library_needs_no_memory_and_no_python(what: str):
    """The libraries of this machine, and the code of every processor level that FMUs carry."""
    library, _, processor = what.partition(" for ")
    path = object_path(this_platform(), processor) if processor else library_path(library, level())
    if not path.exists() or not shutil.which("nm"):
        pytest.skip(
            "it has not been built here (python3 scripts/dev.py setup builds libraries, packing an FMU the code of other levels)"
        )
    dynamic = [] if processor else ["-D"]
    wanted = subprocess.run(
        ["nm", *dynamic, "--undefined-only", str(path)], capture_output=True, text=True, check=True
    ).stdout
    names = [line.split()[-1] for line in wanted.splitlines()]
    assert not [name for name in names if name.startswith(FOREIGN)]


def test_compiled_code_lies_in_the_folder_of_its_sources(tmp_path):
    """Also when others import numba first: code beside the sources outlives edits of its callees, and calls symbols that are gone."""
    code = "import numba; from kinetree.solvers.entries import evaluate; print(evaluate.prepare.stats.cache_path)"
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT")
    }
    environment["KINETREE_CACHE"] = str(tmp_path)
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    ).stdout
    assert said.startswith(str(tmp_path))


@pytest.fixture(scope="module")
def regulator():
    return load("lib:regulator").compile()


@pytest.fixture(scope="module")
def structure(regulator) -> Instance:
    """A workspace with the arrays of every method."""
    instance = Instance(
        regulator.compiled, frozenset({"literal", "path", "sibling", "direct", "dense"})
    )
    instance.set_state(*regulator.start())
    return instance


def names_of(*modules: str) -> list[str]:
    return [
        name
        for parts in LIBRARIES.values()
        for module, names in parts.items()
        if module in modules
        for name in names
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", names_of("evaluate", "literal", "form_motion"))
def test_entries_of_a_structure_do_not_allocate(structure: Instance, name: str):
    ints, floats, work = structure.ints, structure.compiled.floats, structure.work
    for first in ("prepare", "literal_state"):
        assert jitted(first)(ints, floats, work, 0, 0.0) == 0
    assert_no_allocation(jitted(name), ints, floats, work, 1, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", names_of("closure"))
def test_entries_of_closed_loops_do_not_allocate(name: str):
    system = load("lib:four-bar").compile()
    instance = Instance(system.compiled)
    instance.set_state(*system.start())
    assert_no_allocation(jitted(name), instance.ints, system.compiled.floats, instance.work, 0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", names_of("unit"))
def test_entries_of_a_unit_do_not_allocate(regulator, name: str):
    run = Run(make_unit(regulator, "auto"))
    ints, floats, work = run.unit.ints, run.unit.floats, run.work
    assert jitted("unit_start")(ints, floats, work, 0, 0.0) == 0
    time = 0.01 if name == "unit_advance" else 0.0
    assert_no_allocation(jitted(name), ints, floats, work, 0, time)
