"""The entries of the engine from its kernels, compiled by numba where the archive has no library for the machine; packed beside the kernels."""

from functools import cache
from importlib import import_module

import numpy as np


def jitted(ints, floats):
    """Return work -> entry -> call(option, t), over blocks that are arrays of the standard library."""
    jit = cache(import_module(f"{__package__}.entries").jitted)
    integers, numbers = np.frombuffer(ints, dtype=np.int64), np.frombuffer(floats)

    def bind(work):
        view = np.frombuffer(work)
        return lambda name, option, t: int(jit(f"unit_{name}")(integers, numbers, view, option, t))

    return bind
