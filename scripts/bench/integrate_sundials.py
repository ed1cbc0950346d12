"""CVODE of SUNDIALS as C programs use it: the libraries in the wheel of scikit-sundae, called without Python in between.

The right-hand side is the straight-line machine code of a mechanism, as in our own fast runs; CVODE
calls it through a function compiled by numba. Jacobians are CVODE's dense difference quotients;
evaluations are read from CVODE's counters.
"""

import ctypes
import importlib.util
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba import cfunc, types
from numba.np.numpy_support import carray

from kinetree.models.system.system import System
from kinetree.solvers.library.load import function

ADAMS, BDF, NORMAL, MOST_STEPS = 1, 2, 1, 100_000  # steps between two instants
ADDRESS, WHOLE, FLOAT = ctypes.c_void_p, ctypes.c_int32, ctypes.c_double
NUMBERS = ctypes.CFUNCTYPE(ctypes.POINTER(FLOAT), ADDRESS)  # (vector)
ENTRY = ctypes.CFUNCTYPE(
    WHOLE, ADDRESS, ADDRESS, ADDRESS, ctypes.c_int64, FLOAT
)  # (ints, floats, work, option, t)
OWN = ctypes.CFUNCTYPE(WHOLE, FLOAT, ADDRESS, ADDRESS, ADDRESS)  # (t, y, registers, rates)
SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "SUNContext_Create": (WHOLE, [WHOLE, ADDRESS]),
    "N_VMake_Serial": (ADDRESS, [WHOLE, ADDRESS, ADDRESS]),
    "N_VGetArrayPointer": (ADDRESS, [ADDRESS]),
    "SUNDenseMatrix": (ADDRESS, [WHOLE, WHOLE, ADDRESS]),
    "SUNLinSol_Dense": (ADDRESS, [ADDRESS, ADDRESS, ADDRESS]),
    "SUNNonlinSol_FixedPoint": (ADDRESS, [ADDRESS, WHOLE, ADDRESS]),
    "CVodeCreate": (ADDRESS, [WHOLE, ADDRESS]),
    "CVodeInit": (WHOLE, [ADDRESS, ADDRESS, FLOAT, ADDRESS]),
    "CVodeReInit": (WHOLE, [ADDRESS, FLOAT, ADDRESS]),
    "CVodeSStolerances": (WHOLE, [ADDRESS, FLOAT, FLOAT]),
    "CVodeSetUserData": (WHOLE, [ADDRESS, ADDRESS]),
    "CVodeSetMaxNumSteps": (WHOLE, [ADDRESS, ctypes.c_long]),
    "CVodeSetMaxHnilWarns": (WHOLE, [ADDRESS, WHOLE]),
    "SUNContext_ClearErrHandlers": (WHOLE, [ADDRESS]),
    "CVodeSetStopTime": (WHOLE, [ADDRESS, FLOAT]),
    "CVodeSetLinearSolver": (WHOLE, [ADDRESS, ADDRESS, ADDRESS]),
    "CVodeSetNonlinearSolver": (WHOLE, [ADDRESS, ADDRESS]),
    "CVodeGetNumRhsEvals": (WHOLE, [ADDRESS, ADDRESS]),
    "CVodeGetNumLinRhsEvals": (WHOLE, [ADDRESS, ADDRESS]),
    "CVode": (WHOLE, [ADDRESS, FLOAT, ADDRESS, ADDRESS, WHOLE]),
}


@cache
def functions() -> dict[str, Any]:
    """Return the functions of SUNDIALS by name; raise ImportError if the wheel is not installed."""
    found = importlib.util.find_spec("sksundae")
    if found is None or found.origin is None:
        raise ImportError("scikit-sundae is not installed")
    importlib.import_module("sksundae.cvode")  # loads the libraries with what they need
    libraries = [
        ctypes.CDLL(str(path))
        for path in (Path(found.origin).parent.parent / "scikit_sundae.libs").glob("libsundials_*")
    ]
    result = {}
    for name, (answer, arguments) in SIGNATURES.items():
        function = next(getattr(library, name) for library in libraries if hasattr(library, name))
        function.restype, function.argtypes = answer, arguments
        result[name] = function
    return result


def address_of(function: Any) -> int:
    return ctypes.cast(function, ADDRESS).value or 0


def right_hand_side(address: int, system: System):
    """Return the C callback of CVODE: (t, y, rates, memory) -> status.

    Where the straight-line code is not valid, for example at other pivots of a loop, the engine is
    called instead, as in our own runs.
    """
    instance, ws, work = system._fast, system._fast.ws, system._fast.work
    at_q, at_u, at_x, at_udot, at_xdot, at_val = (
        (field.ctypes.data - work.ctypes.data) // work.itemsize if field.size else 0
        for field in (ws.q, ws.u, ws.x, ws.udot, ws.xdot, ws.val)
    )
    nu, nx, room = ws.u.size, ws.x.size, work.size
    states, ints, floats = 2 * nu + nx, instance.ints, system.compiled.floats
    own, numbers = OWN(address), NUMBERS(address_of(functions()["N_VGetArrayPointer"]))
    engine = ENTRY(address_of(function("accelerations")))

    @cfunc(types.int32(types.float64, types.voidptr, types.voidptr, types.voidptr))
    def rates(t, y, ydot, memory):
        block, state, out = (
            carray(memory, room + states + 1, np.float64),
            carray(numbers(y), states),
            carray(numbers(ydot), states),
        )
        if own(t, state.ctypes, block[at_val:].ctypes, block[room:].ctypes) == 0:
            for k in range(states):
                out[k] = block[room + k]
            return 0
        for k in range(nu):
            block[at_q + k], block[at_u + k] = state[k], state[nu + k]
        for k in range(nx):
            block[at_x + k] = state[2 * nu + k]
        status = engine(ints.ctypes, floats.ctypes, block.ctypes, 0, t)
        for k in range(nu):
            out[k], out[nu + k] = state[nu + k], block[at_udot + k]
        for k in range(nx):
            out[2 * nu + k] = block[at_xdot + k]
        return status

    return rates


class Cvode:
    """CVODE on the straight-line code of a mechanism whose coordinates have the speeds as rates."""

    def __init__(self, address: int, system: System):
        work = system._fast.work
        self.n, self.call = 2 * system.n + len(system.compiled.states), functions()
        self.memory = np.concatenate((work, np.zeros(self.n + 1)))
        self.rates = right_hand_side(address, system)

    def run(
        self,
        method: int,
        tolerance: float,
        start: np.ndarray,
        times: np.ndarray,
        corners: Sequence[float],
    ) -> tuple[np.ndarray, int, float]:
        """Integrate by CVODE with a restart at every corner; return the states at the times, the
        evaluations and the seconds.
        """
        call, context = self.call, ctypes.c_void_p()
        assert call["SUNContext_Create"](0, ctypes.byref(context)) == 0
        call["SUNContext_ClearErrHandlers"](context)
        state = start.copy()
        y = call["N_VMake_Serial"](self.n, state.ctypes.data, context)
        mem = call["CVodeCreate"](method, context)
        call["CVodeInit"](mem, ctypes.cast(self.rates.ctypes, ADDRESS), 0.0, y)
        call["CVodeSStolerances"](mem, tolerance, 1e-2 * tolerance)
        call["CVodeSetUserData"](mem, self.memory.ctypes.data)
        call["CVodeSetMaxNumSteps"](mem, MOST_STEPS)
        call["CVodeSetMaxHnilWarns"](mem, -1)
        if method == ADAMS:
            call["CVodeSetNonlinearSolver"](mem, call["SUNNonlinSol_FixedPoint"](y, 0, context))
        else:
            matrix = call["SUNDenseMatrix"](self.n, self.n, context)
            call["CVodeSetLinearSolver"](mem, call["SUNLinSol_Dense"](y, matrix, context), matrix)
        clock, rows, reached, counts = (
            time.thread_time(),
            [],
            ctypes.c_double(),
            np.zeros(2, dtype=np.int64),
        )
        for stop in (*corners, times[-1]):
            call["CVodeSetStopTime"](mem, stop)
            for t in times[(times <= stop) & (times > reached.value)]:
                if call["CVode"](mem, t, y, ctypes.byref(reached), NORMAL) < 0:
                    return np.zeros((0, self.n)), 0, time.thread_time() - clock
                rows.append(state.copy())
            if (
                reached.value < stop
                and call["CVode"](mem, stop, y, ctypes.byref(reached), NORMAL) < 0
            ):
                return np.zeros((0, self.n)), 0, time.thread_time() - clock
            counts += self.evaluations(mem, method)
            call["CVodeReInit"](mem, stop, y)
        return np.array(rows), int(counts.sum()), time.thread_time() - clock

    def evaluations(self, mem: int, method: int) -> tuple[int, int]:
        """Return the evaluations since the last restart: those of steps, and those for Jacobians."""
        found = (ctypes.c_long(), ctypes.c_long())
        self.call["CVodeGetNumRhsEvals"](mem, ctypes.byref(found[0]))
        if method == BDF:
            self.call["CVodeGetNumLinRhsEvals"](mem, ctypes.byref(found[1]))
        return found[0].value, found[1].value
