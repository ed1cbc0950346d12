"""The engine's entries compiled by numba from kernels packed in the archive, for machines for which
it has no library.
"""

from functools import cache
from importlib import import_module

import numpy as np


def jitted(ints, floats):
    """Return a function work -> entry -> call(option, t), for blocks that are arrays of the
    standard library.
    """
    jit = cache(import_module(f"{__package__}.entries").jitted)
    integers, numbers = np.frombuffer(ints, dtype=np.int64), np.frombuffer(floats)

    def bind(work):
        view = np.frombuffer(work)
        return lambda name, option, t: int(jit(f"unit_{name}")(integers, numbers, view, option, t))

    return bind
