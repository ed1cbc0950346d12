"""Kernels that others call through a symbol instead of including a copy of their code.

numba links the code of every callee into every caller, again at each level; above the evaluation of
a mechanism that would make the compiler work for minutes. A boundary is compiled once; its callers
contain only its name. `shape` names its arguments:

    solve  (model, ws)               state  (model, ws, t)            unit  (I, F, W, t)
    rates  (out, model, ws, t, y)    method (mem, model, ws, t)

A hook calls code of another library, which is loaded only if it is needed.
"""

import ctypes
from collections.abc import Callable
from importlib import import_module
from typing import TypeVar, cast

from llvmlite import ir
from numba import cfunc, config, types
from numba.core import cgutils
from numba.extending import intrinsic

from kinetree.solvers.cache import engine_hash
from kinetree.solvers.kernel import OPTIONS, kernel
from kinetree.solvers.unit_layout import UNIT, UNIT_HEAD
from kinetree.solvers.view_types import (
    FLOATS,
    MODEL,
    WORK,
    BlocksType,
    ViewType,
    blocks_from,
    view_from,
)
from kinetree.solvers.views import unit_ints, unit_work

F = TypeVar("F", bound=Callable)
SHAPES = {
    "solve": (MODEL, WORK),
    "state": (MODEL, WORK, types.float64),
    "unit": (
        ViewType(types.int64, UNIT),
        FLOATS,
        ViewType(types.float64, UNIT_HEAD),
        types.float64,
    ),
    "rates": (FLOATS, MODEL, WORK, types.float64, FLOATS),
    "method": (FLOATS, MODEL, WORK, types.float64),
}
HOOKS: dict[str, str] = {}  # symbol -> entry that is behind it, in another library
REGISTERED: dict[
    str, tuple[Callable, str]
] = {}  # symbol -> function and shape, callees before callers
_provided: dict[str, object] = {}  # compiled callbacks of this process, kept alive


def flat_types(shape: str) -> list:
    """Return the C argument types of a shape: blocks are two pointers, a view is a pointer and its
    size.
    """
    found: list = []
    for each in SHAPES[shape]:
        if isinstance(each, BlocksType):
            found += [types.CPointer(types.int64), types.CPointer(types.float64)]
        elif isinstance(each, ViewType):
            found += [types.CPointer(each.dtype), types.int64]
        else:
            found.append(each)
    return found


def emit_call(symbol: str, shape: str):
    """Return the code generator of a call through the symbol."""

    def generate(context, builder, sig, args):
        values = []
        for each, value in zip(SHAPES[shape], args, strict=True):
            if isinstance(each, BlocksType):
                blocks = cgutils.create_struct_proxy(each)(context, builder, value)
                values += [blocks.ints, blocks.data]
            elif isinstance(each, ViewType):
                view = cgutils.create_struct_proxy(each)(context, builder, value)
                values += [view.data, view.size]
            else:
                values.append(value)
        function_type = ir.FunctionType(ir.IntType(32), [value.type for value in values])
        function = cgutils.get_or_insert_function(builder.module, function_type, symbol)
        return builder.sext(builder.call(function, values), ir.IntType(64))

    return types.int64(*SHAPES[shape]), generate


def make_call(symbol: str, shape: str):
    """Return the intrinsic by which kernels call an external symbol of a given signature."""
    if shape == "solve":

        @intrinsic
        def call(typingctx, model, ws):
            return emit_call(symbol, shape)
    elif shape == "state":

        @intrinsic
        def call(typingctx, model, ws, t):
            return emit_call(symbol, shape)
    elif shape == "rates":

        @intrinsic
        def call(typingctx, out, model, ws, t, y):
            return emit_call(symbol, shape)
    else:

        @intrinsic
        def call(typingctx, first, second, third, t):
            return emit_call(symbol, shape)

    return call


def c_function(function: Callable, signature):
    """Compile a function with C arguments that returns a status."""
    return cfunc(signature, **OPTIONS)(function)


def make_callback(function: Callable, shape: str):
    """Return the compiled C function behind a symbol."""
    body = kernel(function)
    signature = types.int32(*flat_types(shape))
    if shape == "solve":

        def solve(ints, floats, ints_again, work):
            return body(
                blocks_from(ints, floats, MODEL_KIND), blocks_from(ints_again, work, WORK_KIND)
            )

        return c_function(solve, signature)
    if shape == "state":

        def state(ints, floats, ints_again, work, t):
            return body(
                blocks_from(ints, floats, MODEL_KIND), blocks_from(ints_again, work, WORK_KIND), t
            )

        return c_function(state, signature)
    if shape == "unit":

        def unit(ints, n_ints, floats, n_floats, work, n_work, t):
            return body(unit_ints(ints), view_from(floats, n_floats), unit_work(work), t)

        return c_function(unit, signature)
    if shape == "rates":

        def rates(out, n_out, ints, floats, ints_again, work, t, y, n_y):
            model, ws = (
                blocks_from(ints, floats, MODEL_KIND),
                blocks_from(ints_again, work, WORK_KIND),
            )
            return body(view_from(out, n_out), model, ws, t, view_from(y, n_y))

        return c_function(rates, signature)

    def method(mem, n_mem, ints, floats, ints_again, work, t):
        model, ws = blocks_from(ints, floats, MODEL_KIND), blocks_from(ints_again, work, WORK_KIND)
        return body(view_from(mem, n_mem), model, ws, t)

    return c_function(method, signature)


MODEL_KIND, WORK_KIND = 0, 1


def boundary(shape: str) -> Callable[[F], F]:
    """Return a decorator that makes a kernel a boundary: callers reach it through a symbol."""

    def decorate(function: F) -> F:
        symbol = f"kt_in_{engine_hash()}_{function.__module__.rsplit('.', 1)[-1]}_{function.__name__}"  # two engines may meet in one process
        if config.DISABLE_JIT:
            return function
        REGISTERED[symbol] = (function, shape)
        return cast(F, make_call(symbol, shape))

    return decorate


def hook(module: str, name: str) -> Callable:
    """Return a kernel (model, ws, t) that calls an entry of another library, loaded when needed;
    its kernel is `name` of `module`.
    """
    symbol = f"kt_in_hook_{name}"
    if config.DISABLE_JIT:
        return lambda model, ws, t: getattr(import_module(module), name)(model, ws, t)
    HOOKS[symbol] = name
    return make_call(symbol, "state")


def own_in_python(address: int, t: float, y, val, ydot) -> int:
    """Stand-in for `call_own` when kernels run as plain Python."""
    pointers = [each.ctypes.data for each in (y, val, ydot)]
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *(ctypes.c_void_p,) * 3)(int(address))(
        t, *pointers
    )


@intrinsic
def own_by_address(typingctx, address, t, y, val, ydot):
    """Emit a call of int32 (double, double *, double *, double *) at an address."""

    def generate(context, builder, sig, args):
        pointer = ir.DoubleType().as_pointer()
        function_type = ir.FunctionType(
            ir.IntType(32), [ir.DoubleType(), pointer, pointer, pointer]
        ).as_pointer()
        data = [
            cgutils.create_struct_proxy(FLOATS)(context, builder, each).data for each in args[2:]
        ]
        return builder.sext(
            builder.call(builder.inttoptr(args[0], function_type), [args[1], *data]), ir.IntType(64)
        )

    return types.int64(types.int64, types.float64, FLOATS, FLOATS, FLOATS), generate


call_own = own_in_python if config.DISABLE_JIT else own_by_address


def late(name: str):
    """Return the C callback of a hook, which compiles its entry point when it is first called."""
    from kinetree.solvers.entries import as_pointer_function

    found: list = []

    def call(ints: int, floats: int, ints_again: int, work: int, t: float) -> int:
        if not found:
            found.append(as_pointer_function(name))
        return found[0](ints, floats, work, 0, t)

    return ctypes.CFUNCTYPE(ctypes.c_int32, *(ctypes.c_void_p,) * 4, ctypes.c_double)(call)


def provide() -> None:
    """Compile all boundary kernels of this process and register their symbols for jitted callers."""
    import llvmlite.binding as llvm

    for symbol, name in HOOKS.items():  # first: boundaries call them
        if symbol not in _provided:
            _provided[symbol] = thunk = late(name)
            llvm.add_symbol(symbol, ctypes.cast(thunk, ctypes.c_void_p).value)
    for symbol, (function, shape) in REGISTERED.items():
        if symbol not in _provided:
            callback = make_callback(function, shape)
            _provided[symbol] = callback
            llvm.add_symbol(symbol, callback.address)
