"""Real-time scheduling of this process."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

LOCK_ALL = 3  # MCL_CURRENT | MCL_FUTURE


@contextmanager
def realtime_priority(priority: int, notes: list[str]) -> Iterator[None]:
    """Context manager that requests real-time scheduling, locked memory and no garbage collection;
    what is not permitted is appended to `notes`.
    """
    scheduled, policy = False, os.sched_getscheduler(0) if hasattr(os, "sched_getscheduler") else 0
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        scheduled = True
    except (AttributeError, PermissionError, OSError) as error:
        notes.append(
            f"no real-time scheduling ({getattr(error, 'strerror', None) or error}): other processes may delay steps"
        )
    try:
        locked = ctypes.CDLL(None, use_errno=True).mlockall(LOCK_ALL) == 0
    except (OSError, AttributeError):
        locked = False
    if not locked:
        notes.append("memory is not locked: pages may have to be fetched")
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        if locked:
            ctypes.CDLL(None).munlockall()
        if scheduled:
            os.sched_setscheduler(0, policy, os.sched_param(0))
