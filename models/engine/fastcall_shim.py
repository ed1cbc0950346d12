"""Fast calls from Python through a compiled METH_FASTCALL function.

`direct(context)` takes (t, q, u, udot) and returns None on success. It returns False if an argument
is not a float or a one-dimensional, contiguous array of floats of the right length, which the
Python path then handles; otherwise it returns the status of the entry point, or a status for
non-finite rates. Nothing is converted or allocated. The memory layout of Python's and numpy's
objects is verified before use; if it differs there is no direct call.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from kinetree.solvers.layout import Status

Direct = Callable[[float, object, object, np.ndarray], None | bool | int]
# places in the context, an array of 64-bit integers: addresses and sizes
SLOTS = (
    "entry", "ints", "floats", "work", "nq", "nu", "q", "u", "udot", "resets", "added", "loaded", "nx", "x", "x_start", "ni", "inputs", "given",
    "array_type", "number_type", "float_type", "none", "false", "hold", "whole",
)  # fmt: skip
NOTHING, EVERYTHING, ALL_BUT_FORCES = (
    0,
    1,
    2,
)  # what is reset before an evaluation: states, inputs, loads, forces along the speeds
AT = {name: k for k, name in enumerate(SLOTS)}
DATA, DIMENSIONS, SHAPE, DTYPE, FLAGS, VALUE = (
    16,
    24,
    32,
    56,
    64,
    16,
)  # bytes from the beginning of an array; of a float
READ, WRITE = 0x1 | 0x100, 0x1 | 0x100 | 0x400  # contiguous and aligned; and writeable


def loads(names: str, prefix: str) -> str:
    """Return LLVM instructions that read slots of the context %c."""
    lines = []
    for name in names.split():
        lines += [
            f"  %{prefix}{name}_at = getelementptr i64, ptr %c, i64 {AT[name]}",
            f"  %{prefix}{name} = load i64, ptr %{prefix}{name}_at",
        ]
    return "\n".join(lines)


def field(result: str, of: str, offset: int, kind: str) -> str:
    """Return LLVM instructions that read a field of an object."""
    return f"  %{result}_at = getelementptr i8, ptr {of}, i64 {offset}\n  %{result} = load {kind}, ptr %{result}_at"


def code() -> str:
    """Return the function as LLVM code."""
    sizes = "nq nu nx ni q u udot added x x_start inputs given"
    return f"""
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal i1 @plain(ptr %a, ptr %c, i64 %n, i32 %wanted) alwaysinline {{
{loads("array_type number_type", "")}
{field("type", "%a", 8, "i64")}
  %right = icmp eq i64 %type, %array_type
  br i1 %right, label %inside, label %no
inside:
{field("dtype", "%a", DTYPE, "i64")}
{field("nd", "%a", DIMENSIONS, "i32")}
{field("shape", "%a", SHAPE, "ptr")}
{field("flags", "%a", FLAGS, "i32")}
  %number = icmp eq i64 %dtype, %number_type
  %line = icmp eq i32 %nd, 1
  %masked = and i32 %flags, %wanted
  %allowed = icmp eq i32 %masked, %wanted
  %both = and i1 %number, %line
  %all = and i1 %both, %allowed
  br i1 %all, label %measure, label %no
measure:
  %size = load i64, ptr %shape
  %fits = icmp eq i64 %size, %n
  ret i1 %fits
no:
  ret i1 false
}}

define internal void @copy(i64 %to, i64 %from, i64 %n) alwaysinline {{
  %a = inttoptr i64 %to to ptr
  %b = inttoptr i64 %from to ptr
  %bytes = shl i64 %n, 3
  call void @llvm.memmove.p0.p0.i64(ptr %a, ptr %b, i64 %bytes, i1 false)
  ret void
}}

define ptr @kinetree_direct(ptr %self, ptr %args, i64 %count) {{
{field("c", "%self", DATA, "ptr")}
{loads(sizes, "")}
{loads("entry ints floats work resets loaded float_type none false hold whole", "")}
  %four = icmp eq i64 %count, 4
  br i1 %four, label %look, label %left
look:
  %time = load ptr, ptr %args
{chr(10).join(field(name, "%args", 8 * k, "ptr") for k, name in ((1, "aq"), (2, "au"), (3, "ar")))}
{field("time_type", "%time", 8, "i64")}
  %floating = icmp eq i64 %time_type, %float_type
  %good_q = call i1 @plain(ptr %aq, ptr %c, i64 %nq, i32 {READ})
  %good_u = call i1 @plain(ptr %au, ptr %c, i64 %nu, i32 {READ})
  %good_r = call i1 @plain(ptr %ar, ptr %c, i64 %nu, i32 {WRITE})
  %g1 = and i1 %good_q, %good_u
  %g2 = and i1 %good_r, %floating
  %good = and i1 %g1, %g2
  br i1 %good, label %take, label %left
left:
  br label %give
take:
{field("t", "%time", VALUE, "double")}
{field("from_q", "%aq", DATA, "i64")}
{field("from_u", "%au", DATA, "i64")}
{field("to_r", "%ar", DATA, "i64")}
  call void @copy(i64 %q, i64 %from_q, i64 %nq)
  call void @copy(i64 %u, i64 %from_u, i64 %nu)
  %fresh = icmp ne i64 %resets, 0
  br i1 %fresh, label %reset, label %run
reset:
  %force = inttoptr i64 %added to ptr
  %everything = icmp eq i64 %resets, {EVERYTHING}
  %forces = select i1 %everything, i64 %nu, i64 0
  %force_bytes = shl i64 %forces, 3
  call void @llvm.memset.p0.i64(ptr %force, i8 0, i64 %force_bytes, i1 false)
  %flag = inttoptr i64 %loaded to ptr
  store double 0.0, ptr %flag
  call void @copy(i64 %x, i64 %x_start, i64 %nx)
  call void @copy(i64 %inputs, i64 %given, i64 %ni)
  br label %run
run:
  %f = inttoptr i64 %entry to ptr
  %status = call i32 %f(i64 %ints, i64 %floats, i64 %work, i64 1, double %t)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %look_at_rates, label %failed
look_at_rates:
  %rates = inttoptr i64 %udot to ptr
  %without = icmp eq i64 %nu, 0
  br i1 %without, label %done, label %each
each:
  %k = phi i64 [ 0, %look_at_rates ], [ %next, %each ]
  %sum = phi double [ 0.0, %look_at_rates ], [ %more, %each ]
  %place = getelementptr double, ptr %rates, i64 %k
  %value = load double, ptr %place
  %zero = fmul double %value, 0.0
  %more = fadd double %sum, %zero
  %next = add i64 %k, 1
  %last = icmp eq i64 %next, %nu
  br i1 %last, label %judge, label %each
judge:
  %finite = fcmp oeq double %more, 0.0
  br i1 %finite, label %done, label %failed
done:
  call void @copy(i64 %to_r, i64 %udot, i64 %nu)
  br label %give
failed:
  %code = phi i32 [ %status, %run ], [ {int(Status.NOT_A_NUMBER)}, %judge ]
  %make = inttoptr i64 %whole to ptr
  %long = sext i32 %code to i64
  %number = call ptr %make(i64 %long)
  ret ptr %number
give:
  %which = phi i64 [ %false, %left ], [ %none, %done ]
  %object = inttoptr i64 %which to ptr
  %keep = inttoptr i64 %hold to ptr
  call void %keep(ptr %object)
  ret ptr %object
}}
"""


def known_layout() -> bool:
    """Return whether objects of this interpreter and numpy have the memory layout that the code
    expects.
    """
    if (
        platform.python_implementation() != "CPython"
        or sys.maxsize < 2**62
        or hasattr(sys, "getobjects")
    ):
        return False
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    array, number = np.arange(3.0), 2.5

    def read(of: object, offset: int, kind):
        return kind.from_address(id(of) + offset).value

    shape = read(array, SHAPE, ctypes.c_uint64)
    return (
        read(array, 8, ctypes.c_uint64) == id(np.ndarray)
        and read(array, DATA, ctypes.c_uint64) == array.ctypes.data
        and read(array, DIMENSIONS, ctypes.c_int32) == 1
        and ctypes.c_int64.from_address(shape).value == 3
        and read(array, DTYPE, ctypes.c_uint64) == id(np.dtype(np.float64))
        and read(array, FLAGS, ctypes.c_int32) == array.flags.num
        and read(number, 8, ctypes.c_uint64) == id(float)
        and read(number, VALUE, ctypes.c_double) == number
    )


class MethodDef(ctypes.Structure):
    """The C structure PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


FASTCALL = 0x80


def machine_code(text: str, name: str) -> tuple[object, int] | None:
    """Compile a function from LLVM code and return its owner and address; None if that is
    impossible.
    """
    try:
        import llvmlite.binding as llvm

        try:
            llvm.initialize_native_target()
            llvm.initialize_native_asmprinter()
        except RuntimeError:  # newer versions do it by themselves
            pass
        module = llvm.parse_assembly(text)
        module.verify()
        machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        return engine, engine.get_function_address(name)
    except (ImportError, RuntimeError, OSError):
        return None


@lru_cache(maxsize=1)
def compiled():
    """Return the LLVM engine with the compiled function and its Python definition; None if
    unavailable.
    """
    made = machine_code(code(), "kinetree_direct") if known_layout() else None
    if made is None:
        return None
    return made[0], MethodDef(b"direct", made[1], FASTCALL, b"Accelerations of a state.")


def address_of(name: str) -> int:
    """Return the address of a function of Python's C interface."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def direct(**slots: int) -> Direct | None:
    """Return the direct call on a context filled from `slots`; the memory that these refer to must
    outlive it.
    """
    found = compiled()
    if found is None:
        return None
    slots |= {
        "array_type": id(np.ndarray),
        "number_type": id(np.dtype(np.float64)),
        "float_type": id(float),
        "none": id(None),
        "false": id(False),
    }
    slots |= {"hold": address_of("Py_IncRef"), "whole": address_of("PyLong_FromLong")}
    context = np.array([slots[name] for name in SLOTS], dtype=np.int64)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p],
    )
    return make(ctypes.addressof(found[1]), context, None)
