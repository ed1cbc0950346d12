"""All integrators behind one set of calls; the kind stands in the memory of the integrator."""

from kinetree.solvers.boundary import boundary
from kinetree.solvers.integrate.adams import adams_changed, adams_interpolate, adams_restart, adams_size, adams_start, adams_step
from kinetree.solvers.integrate.controller import FRESH
from kinetree.solvers.integrate.radau import radau_changed, radau_restart, radau_size, radau_start, radau_step
from kinetree.solvers.integrate.radau_dense import radau_refined
from kinetree.solvers.integrate.rk4 import rk4_changed, rk4_interpolate, rk4_restart, rk4_size, rk4_start, rk4_step
from kinetree.solvers.integrate.rk45 import rk45_changed, rk45_interpolate, rk45_restart, rk45_size, rk45_start, rk45_step
from kinetree.solvers.integrate.semi_implicit import (
    semi_implicit_changed,
    semi_implicit_interpolate,
    semi_implicit_restart,
    semi_implicit_size,
    semi_implicit_start,
    semi_implicit_step,
)
from kinetree.solvers.integrate.stormer import stormer_changed, stormer_restart, stormer_size, stormer_start, stormer_step
from kinetree.solvers.integrate.stormer_dense import stormer_interpolate
from kinetree.solvers.kernel import kernel
from kinetree.solvers.run.derivatives import derivatives
from kinetree.solvers.unit_layout import Kind

KIND = 30  # offset in the memory of an integrator
ADAMS, RK45, RADAU, RK4, SEMI_IMPLICIT, STORMER = Kind.ADAMS, Kind.RK45, Kind.RADAU, Kind.RK4, Kind.SEMI_IMPLICIT, Kind.STORMER


def memory_size(kind: int, n: int) -> int:
    """Length of the memory for n states; AUTO may use adams, rk45 and radau."""
    sizes = (adams_size, rk45_size, radau_size, rk4_size, semi_implicit_size, stormer_size)
    chosen = sizes[:3] if kind == Kind.AUTO else sizes[kind : kind + 1]
    return max(int(getattr(size, "py_func", size)(n)) for size in chosen)


@kernel
def start(mem, context, t, y):
    """Begin at (t, y)."""
    kind = int(mem[KIND])
    if kind == ADAMS:
        return adams_start(mem, derivatives, context, t, y)
    if kind == RK45:
        return rk45_start(mem, derivatives, context, t, y)
    if kind == RADAU:
        return radau_start(mem, derivatives, context, t, y)
    if kind == RK4:
        return rk4_start(mem, derivatives, context, t, y)
    if kind == SEMI_IMPLICIT:
        return semi_implicit_start(mem, derivatives, context, t, y)
    return stormer_start(mem, derivatives, context, t, y)


@boundary("method")
def restart_method(mem, model, ws, t):
    """Begin anew with the state in Y_NEW."""
    context = (model, ws)
    kind = int(mem[KIND])
    if kind == ADAMS:
        return adams_restart(mem, derivatives, context)
    if kind == RK45:
        return rk45_restart(mem, derivatives, context)
    if kind == RADAU:
        return radau_restart(mem, derivatives, context)
    if kind == RK4:
        return rk4_restart(mem, derivatives, context)
    if kind == SEMI_IMPLICIT:
        return semi_implicit_restart(mem, derivatives, context)
    return stormer_restart(mem, derivatives, context)


@kernel
def restart(mem, context):
    """Begin anew with the state in Y_NEW."""
    model, ws = context
    return restart_method(mem, model, ws, 0.0)


@boundary("method")
def changed_method(mem, model, ws, t):
    """Refresh the rates after Y_NEW was changed a little."""
    context = (model, ws)
    kind = int(mem[KIND])
    if kind == ADAMS:
        return adams_changed(mem, derivatives, context)
    if kind == RK45:
        return rk45_changed(mem, derivatives, context)
    if kind == RADAU:
        return radau_changed(mem, derivatives, context)
    if kind == RK4:
        return rk4_changed(mem, derivatives, context)
    if kind == SEMI_IMPLICIT:
        return semi_implicit_changed(mem, derivatives, context)
    return stormer_changed(mem, derivatives, context)


@kernel
def changed(mem, context):
    """Refresh the rates after Y_NEW was changed a little."""
    model, ws = context
    return changed_method(mem, model, ws, 0.0)


@kernel
def turn(mem, context):
    """Go on from a corner of the right-hand side with the state in Y_NEW."""
    kind = int(mem[KIND])
    if kind == ADAMS or kind == STORMER:
        return restart(mem, context)
    if kind == RADAU:
        mem[FRESH] = 1.0  # neither the polynomial nor the errors of the last step say anything about the next one
    return changed(mem, context)


@boundary("method")
def step_adams(mem, model, ws, limit):
    """One accepted step by adams."""
    return adams_step(mem, derivatives, (model, ws), limit)


@boundary("method")
def step_radau(mem, model, ws, limit):
    """One accepted step by radau."""
    return radau_step(mem, derivatives, (model, ws), limit)


@boundary("method")
def step_other(mem, model, ws, limit):
    """One accepted step by one of the others."""
    context = (model, ws)
    kind = int(mem[KIND])
    if kind == RK45:
        return rk45_step(mem, derivatives, context, limit)
    if kind == RK4:
        return rk4_step(mem, derivatives, context, limit)
    if kind == SEMI_IMPLICIT:
        return semi_implicit_step(mem, derivatives, context, limit)
    return stormer_step(mem, derivatives, context, limit)


@kernel
def step(mem, context, limit):
    """One accepted step."""
    model, ws = context
    kind = int(mem[KIND])
    if kind == ADAMS:
        return step_adams(mem, model, ws, limit)
    if kind == RADAU:
        return step_radau(mem, model, ws, limit)
    return step_other(mem, model, ws, limit)


@kernel
def interpolate(out, mem, t):
    """State inside the last step."""
    kind = int(mem[KIND])
    if kind == ADAMS:
        adams_interpolate(out, mem, t)
    elif kind == RK45:
        rk45_interpolate(out, mem, t)
    elif kind == RADAU:
        radau_refined(out, mem, t)
    elif kind == RK4:
        rk4_interpolate(out, mem, t)
    elif kind == SEMI_IMPLICIT:
        semi_implicit_interpolate(out, mem, t)
    else:
        stormer_interpolate(out, mem, t)
