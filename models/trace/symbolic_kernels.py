"""Kernels executed as plain Python functions on symbolic arguments.

Each module of the solvers is executed once more from its source with some imports replaced: kernel
decorators do nothing, mathematical functions and decisions work on symbols, and views are plain
lists. Nothing else in the process changes; numba is not even imported.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any

from kinetree.models.trace import symbol
from kinetree.solvers import model_records, unit_layout
from kinetree.solvers.records import plain_block, plain_rows

PURE = (
    "layout",
    "fields",
    "opcodes",
    "unit_layout",
    "records",
    "model_records",
    "elements.kinds",
    "elements.interface",
    "integrate.kinds",
    "integrate.tableau",
    "integrate.interface",
    "literal.kinds",
    "sensors.kinds",
)  # tables and numbers: shared with everybody
ROOT = "kinetree.solvers."


def unchanged(function: Any = None, *_: Any, **__: Any) -> Any:
    """Return the function itself: the kernel decorator while tracing."""
    return function if callable(function) else lambda inner: inner


def named(name: str, **content: Any) -> ModuleType:
    """Return a new module with the given name and content."""
    module = ModuleType(name)
    module.__dict__.update(content)
    return module


class Hook:
    """A kernel of another library, which is looked up when it is called."""

    kinetree_hook = True

    def __init__(self, kernels: PlainKernels, module: str, name: str):
        self.kernels, self.module, self.name = kernels, module, name

    def __call__(self, model: Any, ws: Any, t: Any) -> Any:
        return getattr(self.kernels.module(self.module), self.name)(model, ws, t)


class Own:
    """Placeholder for specialised machine code: symbols do not call it, and generated code in other
    languages has its own calls.
    """

    kinetree_own = True


OWN = Own()


def model_view(ints: Any, floats: Any) -> Any:
    """Return the block itself as the compiled model."""
    return ints


def work_view(ints: Any, work: Any) -> Any:
    """Return the block itself as the workspace."""
    return work


def ints_view(block: Any) -> Any:
    return block


def floats_view(block: Any) -> Any:
    return block


class PlainKernels:
    """Modules of the solvers executed as plain Python, for symbols or for plain numbers."""

    def __init__(self, symbolic: bool = True) -> None:
        self.symbolic = symbolic
        self.modules: dict[str, ModuleType] = {}
        self.builtins = {**vars(builtins), "__import__": self.bring}
        views = {
            "model_view": model_view,
            "work_view": work_view,
            "ints_view": ints_view,
            "floats_view": floats_view,
        }
        views |= {
            f"{name}_at": plain_rows(record)
            for name, record in (model_records.ROWS | unit_layout.ROWS).items()
        }
        views |= {
            "unit_ints": plain_block(unit_layout.UNIT),
            "unit_work": plain_block(unit_layout.UNIT_HEAD),
            "locator_view": plain_block(unit_layout.LOCATOR),
        }
        replaced: dict[str, dict[str, Any]] = {
            "importlib": {"import_module": self.module},
            "numba": {"types": SimpleNamespace()},
            "numba.extending": {"overload": lambda *_, **__: unchanged},
            ROOT + "kernel": {
                "kernel": unchanged,
                "inline": unchanged,
                "exact": unchanged,
                "entry": unchanged,
                "OPTIONS": {},
            },
            ROOT + "linked_kernels": {
                "boundary": lambda shape: unchanged,
                "hook": lambda module, name: Hook(self, module, name),
                "call_own": OWN,
            },
            ROOT + "views": views,
        }
        if symbolic:
            self.builtins |= {"min": symbol.least, "max": symbol.largest}
            replaced |= {
                "math": vars(symbol.MATH),
                ROOT + "algebra.lane_select": {
                    "select": symbol.select,
                    "every": symbol.every,
                    "larger_of": symbol.largest,
                    "smaller_of": symbol.least,
                }
                | {"whole_below": symbol.function("floor"), "whole_above": symbol.function("ceil")},
                ROOT + "algebra.trigonometry": {"sincos": symbol.sincos},
            }
        for name, content in replaced.items():
            self.modules[name] = named(name, **content)

    def bring(
        self,
        name: str,
        outer: Any = None,
        local: Any = None,
        wanted: Sequence[str] = (),
        level: int = 0,
    ) -> Any:
        """Return the module or names that an import statement in a kernel module asks for."""
        if not f"{name}.".startswith(ROOT) and name not in self.modules:
            return import_module(name)
        if (
            not self.is_module(name) and name.removeprefix(ROOT) not in PURE
        ):  # modules out of a package
            return SimpleNamespace(**{each: self.module(f"{name}.{each}") for each in wanted})
        return self.module(name)

    def is_module(self, name: str) -> bool:
        """Return whether a name is a module rather than a package."""
        found = find_spec(name)
        return name in self.modules or (
            found is not None and found.submodule_search_locations is None
        )

    def executed(self, name: str, module: ModuleType) -> ModuleType:
        """Execute the code of a solver module with replaced imports, and return the module."""
        spec = find_spec(name)
        assert spec is not None and spec.loader is not None, name
        module.__dict__["__builtins__"] = self.builtins
        spec.loader.exec_module(module)
        return module

    def original(self, module: str) -> ModuleType:
        """Return the unmodified counterpart of a replaced module (below the solvers), for its
        constants.
        """
        return self.executed(ROOT + module, ModuleType(ROOT + module))

    def module(self, name: str) -> Any:
        """Return a module of the solvers, executed for symbols."""
        if name not in self.modules:
            if name.removeprefix(ROOT) in PURE:
                self.modules[name] = import_module(name)
                return self.modules[name]
            self.modules[name] = module = ModuleType(name)
            self.executed(name, module)
            if self.symbolic and name == ROOT + "expressions.evaluate":
                self.tables(module)
            if self.symbolic and name == ROOT + "loops.envelope_cholesky":
                self.pivots(module)
        return self.modules[name]

    def kernel(self, module: str, name: str) -> Callable:
        """Return one kernel by its module (below the solvers) and its name."""
        return getattr(self.module(ROOT + module), name)

    def tables(self, module: Any) -> None:
        """Replace the table lookup of a module by symbolic nodes, since the grid cell of a symbol
        is unknown.
        """
        from kinetree.models.trace.piecewise_tables import traced

        module.look_up = traced(module.look_up)

    def pivots(self, module: Any) -> None:
        """Exclude the choice of pivots from the recorded branch decisions, since any order is
        valid.
        """
        chosen = module.factor_group

        def factor_group(model: Any, ws: Any, *rest: Any) -> Any:
            found = symbol.symbolic(*ws.loop_g)
            if found is None:
                return chosen(model, ws, *rest)
            with found.tape.unrecorded():
                return chosen(model, ws, *rest)

        module.factor_group = factor_group


KERNELS = PlainKernels()
