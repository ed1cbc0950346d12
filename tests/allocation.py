"""Counts what the numba runtime allocates while kernels run."""

from collections.abc import Callable


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


def assert_no_allocation(call: Callable[[], object]) -> None:
    """One call and nine calls allocate equally little."""
    call()
    once, nine_times = allocations(call, 1), allocations(call, 9)
    assert once == nine_times == 0, f"{once} allocations by one call, {nine_times} by nine"
