"""Dispatch to the integration methods: one set of kernels for all, selected by a code in the
integrator's memory.
"""

from collections.abc import Callable
from importlib import import_module

from kinetree.solvers.instance.derivatives import derivatives
from kinetree.solvers.integrate.explicit import explicit
from kinetree.solvers.integrate.interface import Kernels
from kinetree.solvers.integrate.kinds import (
    AUTO,
    CODES,
    INTEGRATORS,
    INTERRUPTED,
    SMOOTH,
    STIFF,
    Integrator,
)
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary

KIND = 30  # offset in the memory of an integrator


def kernels_of(method: Integrator) -> Kernels:
    """Return the kernels of an integration method, from its module or its tableau."""
    return (
        explicit(method.tableau)
        if method.tableau is not None
        else import_module(method.kernels).KERNELS
    )


KERNELS = {method.name: kernels_of(method) for method in INTEGRATORS}
FIXED_CODES = tuple(method.code for method in INTEGRATORS if method.fixed)


def one_size(sizes: dict[str, Callable]) -> Callable:
    """Return a kernel (kind, n) -> memory length of method `kind` for n states."""
    (name, this), *others = sizes.items()
    code, rest = CODES[name], one_size(dict(others)) if others else None

    if rest is None:

        @kernel
        def last(kind, n):
            return this(n)

        return last

    @kernel
    def size(kind, n):
        return this(n) if kind == code else rest(kind, n)

    return size


size_of = one_size({name: method.size for name, method in KERNELS.items()})
WORKING = tuple(CODES[name] for name in (SMOOTH, INTERRUPTED, STIFF))  # what AUTO may use


@kernel
def memory_size(kind, n):
    """Return the length of the integrator memory for n states; AUTO may use three methods."""
    if kind != AUTO:
        return size_of(kind, n)
    largest = 0
    for code in WORKING:
        largest = max(largest, size_of(code, n))
    return largest


def one_call(adapted: dict[str, Callable]) -> Callable:
    """Return a kernel (mem, context, t, y) -> status that dispatches to the active method."""
    (name, this), *others = adapted.items()
    if not others:
        return this
    code, rest = CODES[name], one_call(dict(others))

    @kernel
    def call(mem, context, t, y):
        return this(mem, context, t, y) if int(mem[KIND]) == code else rest(mem, context, t, y)

    return call


def starting(begin: Callable) -> Callable:
    @kernel
    def start(mem, context, t, y):
        return begin(mem, derivatives, context, t, y)

    return start


def refreshing(refresh: Callable) -> Callable:
    @kernel
    def after(mem, context, t, y):
        return refresh(mem, derivatives, context)

    return after


def reading(interpolate: Callable) -> Callable:
    @kernel
    def read(mem, context, t, y):
        interpolate(y, mem, t)
        return 0

    return read


def stepping(name: str, step: Callable) -> Callable:
    """Return the step kernel of one method, compiled as a function of its own."""

    def advance(mem, model, ws, limit):
        return step(mem, derivatives, (model, ws), limit)

    advance.__name__ = f"step_{name.replace('-', '_')}"
    bounded = boundary("method")(advance)

    @kernel
    def one(mem, context, t, y):
        model, ws = context
        return bounded(mem, model, ws, t)

    return one


start = one_call({name: starting(method.start) for name, method in KERNELS.items()})
any_restart = one_call({name: refreshing(method.restart) for name, method in KERNELS.items()})
any_changed = one_call({name: refreshing(method.changed) for name, method in KERNELS.items()})
any_turn = one_call({name: refreshing(method.turn) for name, method in KERNELS.items()})
any_step = one_call({name: stepping(name, method.step) for name, method in KERNELS.items()})
any_interpolate = one_call({name: reading(method.interpolate) for name, method in KERNELS.items()})


@kernel
def is_fixed(kind):
    """Return whether a method uses a fixed step size."""
    for code in FIXED_CODES:
        if kind == code:
            return True
    return False


@boundary("method")
def restart_method(mem, model, ws, t):
    """Restart the active method with the state in Y_NEW."""
    return any_restart(mem, (model, ws), t, mem)


@kernel
def restart(mem, context):
    """Restart the active method with the state in Y_NEW; context is (model, ws)."""
    model, ws = context
    return restart_method(mem, model, ws, 0.0)


@boundary("method")
def changed_method(mem, model, ws, t):
    """Refresh the rates of the active method after a small change of Y_NEW."""
    return any_changed(mem, (model, ws), t, mem)


@kernel
def changed(mem, context):
    """Refresh the rates of the active method after a small change of Y_NEW; context is (model, ws)."""
    model, ws = context
    return changed_method(mem, model, ws, 0.0)


@boundary("method")
def turn_method(mem, model, ws, t):
    """Let the active method continue from a breakpoint of the right-hand side."""
    return any_turn(mem, (model, ws), t, mem)


@kernel
def turn(mem, context):
    """Let the active method continue from a breakpoint of the right-hand side with the state in
    Y_NEW; context is (model, ws).
    """
    model, ws = context
    return turn_method(mem, model, ws, 0.0)


@kernel
def step(mem, context, limit):
    """Make one accepted step with the active method, not beyond time `limit`; return the status."""
    return any_step(mem, context, limit, mem)


@kernel
def interpolate(out, mem, t):
    """Write the state at t, interpolated inside the last step, to `out`."""
    any_interpolate(mem, 0, t, out)
