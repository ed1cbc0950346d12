"""Translates some entry points and all kernels behind them to one C99 file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from kinetree.fmu.source import kinds as K
from kinetree.fmu.source.statements import Kernel
from kinetree.models.trace.symbolic_kernels import PlainKernels
from kinetree.solvers.model_records import HEADER

HEAD = f"""#include <math.h>
#include <stdint.h>

/* a part of a block, and the blocks of a model and of its workspace: the ints describe where the fields of the other stand */
typedef struct {{ const int64_t *data; int64_t size; }} KtInts;
typedef struct {{ double *data; int64_t size; }} KtFloats;
typedef struct {{ const int64_t *ints; double *data; }} KtModel;
typedef struct {{ const int64_t *ints; double *data; }} KtWork;
enum {{ KT_HEADER = {HEADER.size}, KT_RAISED = -1 }};
"""
# Python's arithmetic where that of C differs
HELPERS = {
    "kt_call_own": """static int64_t kt_call_own(int64_t address, double t, KtFloats y, KtFloats val, KtFloats ydot) {
    typedef int32_t (*Own)(double, const double *, const double *, double *);
    Own own = (Own)(intptr_t)address;
    return own(t, y.data, val.data, ydot.data);
}""",
    "kt_least": "static int64_t kt_least(int64_t a, int64_t b) { return b < a ? b : a; }",
    "kt_min_d": "static double kt_min_d(double a, double b) { return b < a ? b : a; }",
    "kt_max_d": "static double kt_max_d(double a, double b) { return b > a ? b : a; }",
    "kt_min_i": "static int64_t kt_min_i(int64_t a, int64_t b) { return b < a ? b : a; }",
    "kt_max_i": "static int64_t kt_max_i(int64_t a, int64_t b) { return b > a ? b : a; }",
    "kt_absolute": "static int64_t kt_absolute(int64_t a) { return a < 0 ? -a : a; }",
    "kt_floor_div_i": "static int64_t kt_floor_div_i(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }",
    "kt_mod_i": "static int64_t kt_mod_i(int64_t a, int64_t b) { int64_t r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }",
    "kt_mod_d": "static double kt_mod_d(double a, double b) { double r = fmod(a, b); return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r; }",
}


class Program:
    """Translated functions and tuple types in the order of their dependencies."""

    def __init__(self) -> None:
        self.kernels = PlainKernels(symbolic=False)
        self.functions: dict[tuple[Callable, tuple], tuple[str, Any]] = {}
        self.tuples: dict[str, str] = {}
        self.names: set[str] = set()
        self.tables: dict[str, tuple[str, str]] = {}  # initial values -> name and type
        self.text: list[str] = []

    def tuple_of(self, parts: tuple) -> K.Tuple:
        """Return the tuple type with given parts; it is defined once."""
        kind = K.Tuple(parts)
        self.tuples.setdefault(kind.name, kind.definition())
        return kind

    def known(self, kind: Any) -> Any:
        """Return a type after defining all tuple types in it."""
        if isinstance(kind, K.Tuple):
            for part in kind.parts:
                self.known(part)
            self.tuple_of(kind.parts)
        return kind

    def constant(self, value: Any) -> tuple[str, Any]:
        """Return the C text of a module constant; arrays are stored once."""
        kind = self.known(K.of_value(value))
        if not isinstance(kind, K.Tuple) or len(value) <= 3:
            return K.literal(value), kind
        text = K.braces(value)
        if text not in self.tables:
            self.tables[text] = f"kt_table{len(self.tables) + 1}", kind.name
        return self.tables[text][0], kind

    def request(self, function: Callable, arguments: tuple) -> tuple[str, Any]:
        """Translate a kernel for given argument types, once; return its C name and result type."""
        key = (function, arguments)
        if key not in self.functions:
            kernel = Kernel(self, function, arguments)
            base = f"{function.__module__.rsplit('.', 1)[-1]}_{function.__name__}"
            try:
                lines = kernel.translated("@")
            except Exception as error:
                error.add_note(f"while translating {base}{arguments}")
                raise
            name, k = base, 1
            while name in self.names:
                k += 1
                name = f"{base}_{k}"
            self.names.add(name)
            self.functions[key] = name, kernel.result
            self.text += [
                *[
                    line.replace("@", name, 1) if line.startswith("static ") else line
                    for line in lines
                ],
                "",
            ]
        return self.functions[key]

    def entry(self, module: str, name: str) -> str:
        """Return an entry point with its C signature."""
        function = self.kernels.kernel(f"entries.{module}", name)
        own, _ = self.request(function, (K.INTS, K.FLOATS, K.FLOATS, K.INTEGER, K.REAL))
        arguments = "int64_t *ints, double *floats, double *work, int64_t option, double t"
        size = "INT64_MAX"
        blocks = (
            f"(KtInts){{ints, {size}}}, (KtFloats){{floats, {size}}}, (KtFloats){{work, {size}}}"
        )
        prototype = f"int32_t kt_{name}({arguments})"
        return f"{prototype};\n{prototype} {{ return (int32_t){own}({blocks}, option, t); }}"


@lru_cache(maxsize=1)
def engine_source(entries: Sequence[tuple[str, str]] = ()) -> str:
    """Return the C99 source of the engine with the given entry points."""
    from kinetree.solvers.entries import LIBRARIES

    program = Program()
    wanted = entries or [("fmu_instance", name) for name in LIBRARIES["core"]["fmu_instance"]]
    bodies = [program.entry(module, name) for module, name in wanted]
    whole = "\n".join([*program.text, *bodies])
    helpers = [text for name, text in HELPERS.items() if f"{name}(" in whole]
    tables = [
        f"static const {kind} {name} = {text};" for text, (name, kind) in program.tables.items()
    ]
    return "\n".join([HEAD, *program.tuples.values(), "", *tables, "", *helpers, "", whole, ""])
