"""Counts what the numba runtime allocates while kernels run."""

from collections.abc import Callable

from numba import njit


def allocations(call: Callable[[], object], repeats: int) -> int:
    """Allocations of `repeats` calls; the caller has compiled what it calls."""
    from numba.core.runtime import _nrt_python, rtsys

    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats().alloc
        for _ in range(repeats):
            call()
        return rtsys.get_allocation_stats().alloc - before
    finally:
        _nrt_python.memsys_disable_stats()


def idle(ints, floats, work, option, t):
    """A kernel that does nothing: what a call from Python allocates for its three arrays is numba's, not the kernel's."""
    return 0


def assert_no_allocation(entry: Callable, *arguments) -> None:
    """Calls of an entry allocate no more than calls of a kernel that does nothing."""
    nothing = njit(idle)
    for each in (nothing, entry):
        each(*arguments)
    for repeats in (1, 9):
        unavoidable = allocations(lambda: nothing(*arguments), repeats)
        found = allocations(lambda: entry(*arguments), repeats)
        assert found == unavoidable, f"{found - unavoidable} allocations by {repeats} calls"
