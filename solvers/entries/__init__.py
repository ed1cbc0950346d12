"""Entry points: (ints, floats, work, option, t) -> status unless SIGNATURES says otherwise;
arguments and results are fields of the workspace.

They form three libraries: `core` is what an FMU carries, `forms` holds the literal methods, `lanes`
evaluates many states and runs at once, and derivatives.
"""

from collections.abc import Callable
from importlib import import_module

from kinetree.solvers.literal.kinds import LITERAL

LIBRARIES = {
    "core": {
        "evaluate": ("prepare", "accelerations", "outputs", "repeat"),
        "fmu_instance": (
            "unit_sizes",
            "unit_reset",
            "unit_start",
            "unit_prepare",
            "unit_refresh",
            "unit_advance",
            "unit_derivatives",
            "unit_event",
            "unit_corner",
        ),
        "loop_closure": ("assemble", "project", "constraints"),
    },
    "forms": {
        "literal_forms": (
            "literal_state",
            "literal_places",
            "literal_reactions",
            "literal_rates",
            "momenta",
            "mass_matrix",
            "inverse_dynamics",
            *(form.entry for form in LITERAL),
        ),  # fmt: skip
        "form_motion": ("form_speeds", "form_rates", "form_momenta"),
    },
    "lanes": {
        "many_states": ("many",),
        "acceleration_slopes": ("slopes",),
        "ensemble_runs": ("ensemble",),
        "lanes_until_event": ("stretch",),
    },
}
BLOCKS = ("ints", "floats", "floats")
# kinds of arguments: blocks and arrays of 64-bit integers or floats, and single ones
SIGNATURES = {
    "many": (
        *BLOCKS,
        "floats",
        "int",
        "floats",
        "floats",
        "floats",
        "floats",
        "ints",
        "int",
        "floats",
    ),
    "slopes": (*BLOCKS, "floats", "float", "ints", "ints", "int", "floats"),
    "ensemble": (
        *BLOCKS,
        "floats",
        "floats",
        "ints",
        "floats",
        "ints",
        "floats",
        "floats",
        "floats",
        "ints",
        "floats",
        "floats",
    ),
    "stretch": (
        *BLOCKS,
        "floats",
        "floats",
        "ints",
        "floats",
        "ints",
        "floats",
        "floats",
        "floats",
        "ints",
        "floats",
        "floats",
    ),
}


def signature_of(entry: str) -> tuple[str, ...]:
    """Return the types of the arguments of an entry point."""
    return SIGNATURES.get(entry, (*BLOCKS, "int", "float"))


def entries(library: str) -> dict[str, Callable]:
    """Return all entry points of a library by name (imports numba)."""
    found = {}
    for module, names in LIBRARIES[library].items():
        source = import_module(f"kinetree.solvers.entries.{module}")
        found |= {name: getattr(source, name) for name in names}
    return found


def jitted(name: str) -> Callable:
    """Return one entry point compiled for calls from Python."""
    from kinetree.solvers.linked_kernels import provide

    found = entries(library_of(name))[name]
    provide()
    return found


def c_callback(name: str, function: Callable):
    """Return the C callback of an entry point."""
    from numba import types

    from kinetree.solvers.linked_kernels import c_function

    kinds = {
        "int": types.int64,
        "float": types.float64,
        "ints": types.CPointer(types.int64),
        "floats": types.CPointer(types.float64),
    }
    return c_function(function.py_func, types.int32(*(kinds[kind] for kind in signature_of(name))))


def as_pointer_function(name: str) -> Callable[..., int]:
    """Return one entry point, compiled in this process, as a function of the addresses of its
    arrays.
    """
    import ctypes

    from kinetree.solvers.linked_kernels import provide

    callback = c_callback(name, entries(library_of(name))[name])
    provide()
    kinds = {
        "int": ctypes.c_int64,
        "float": ctypes.c_double,
        "ints": ctypes.c_void_p,
        "floats": ctypes.c_void_p,
    }
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *(kinds[kind] for kind in signature_of(name)))(
        callback.address
    )
    function.kept = callback  # the address alone would not keep it alive
    return function


def library_of(entry: str) -> str:
    """Return the library that an entry point belongs to."""
    return next(
        library
        for library, modules in LIBRARIES.items()
        if any(entry in names for names in modules.values())
    )
