"""Equations of one mechanism as straight-line operations, as `System.trace` returns them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinetree.models.trace.live_nodes import alive, operations
from kinetree.models.trace.operations import VALUE
from kinetree.models.trace.tape import Tape
from kinetree.models.trace.tree_matrices import Matrix

Numbers = Sequence[Any] | np.ndarray
# what an operation costs beside an addition: divisions and roots wait for each other, functions are dozens of operations
WEIGHT = {"/": 6.0, "sqrt": 6.0, "sin": 12.0, "cos": 12.0}


@dataclass
class Trace:
    """Traced equations: results as nodes of a tape, names of the arguments, and names of
    intermediate quantities.
    """

    name: str  # of the mechanism
    of: str
    form: str  # and its axes, such as "DEC in body axes"
    tape: Tape
    results: list[int]
    labels: list[str]
    shape: tuple[int, ...]
    symbol: str  # name of the results in code
    arguments: dict[str, tuple[str, ...]]  # names of the numbers in q, u, x, inputs, parameters
    values: dict[str, float] = field(default_factory=dict)  # of the parameters
    names: dict[int, str] = field(default_factory=dict)
    matrices: list[Matrix] = field(
        default_factory=list
    )  # what the results make up, where they are several matrices
    watches: list[tuple[int, bool]] = field(
        default_factory=list
    )  # conditions under which the operations hold
    stage: str = ""  # whose structure it is, of a mechanism with stages
    written: bool = False  # for readers: results stand as sums of products, without names between

    @property
    def live(self) -> list[int]:
        """Return the nodes that the results and their validity conditions need."""
        return alive(self.tape, [*self.results, *(i for i, _ in self.watches)])

    @property
    def counts(self) -> Counter[str]:
        """Return the operations by kind."""
        return operations(self.tape, self.live)

    @property
    def operations(self) -> int:
        """Return the number of operations; sign changes are not counted."""
        return sum(self.counts.values())

    @property
    def heading(self) -> str:
        """Return the title of the printed equations."""
        stage = f" in the stage '{self.stage}'" if self.stage else ""
        return f"{self.of} of {self.name}{stage}: {self.operations} operations, {self.form}"

    @property
    def weight(self) -> float:
        """Return the cost of all operations in units of an addition."""
        return sum(WEIGHT.get(name, 1.0) * count for name, count in self.counts.items())

    def evaluate(
        self, t: Any, q: Numbers, u: Numbers, x: Numbers = (), inputs: Numbers = (), **rest: Any
    ) -> Any:
        """Return the values of the results for given arguments; `parameters` for symbols, `held`
        for held registers of runs.
        """
        groups = {
            "t": [t],
            "q": q,
            "u": u,
            "x": x,
            "inputs": inputs,
            "parameters": rest.get("parameters", list(self.values.values())),
        }
        groups["held"] = rest.get("held", ())
        functions = VALUE | rest.get("functions", {})
        number = rest.get("number", float)
        known: dict[int, Any] = {}
        for i in self.live:
            kind, *arguments = self.tape.nodes[i]
            if kind == "const":
                known[i] = number(arguments[0])
            elif kind == "symbol":
                known[i] = groups[arguments[0]][arguments[1]]
            else:
                known[i] = functions[kind](*[known[each] for each in arguments])
        found = [known[i] for i in self.results]
        return np.array(found).reshape(self.shape) if number is float else found

    # -- text -------------------------------------------------------------------------------------------------------------------------------
    def text(self) -> str:
        """Return the equations as readable text."""
        from kinetree.models.equations.text import text

        return text(self)

    def __repr__(self) -> str:
        return f"<{self.of} of {self.name}: {self.form}, {len(self.results)} results>"

    def _repr_latex_(self) -> str:
        """Return the equations for a notebook: LaTeX without the comment in front."""
        return "\n".join(line for line in self.latex().splitlines() if not line.startswith("%"))

    def latex(self) -> str:
        """Return the equations as LaTeX."""
        from kinetree.models.equations.latex import latex

        return latex(self)

    def c(self, name: str = "") -> str:
        """Return the equations as a C99 function."""
        from kinetree.models.equations.c import c

        return c(self, name)

    def python(self, name: str = "") -> str:
        """Return the equations as a Python function that needs only numpy."""
        from kinetree.models.equations.python import python

        return python(self, name)

    def modelica(self, name: str = "", external: bool = False) -> str:
        """Return the equations as a Modelica function; with `external` one that includes the C
        function, for tools that are slow on long algorithms.
        """
        from kinetree.models.equations.modelica import modelica

        return modelica(self, name, external)

    def casadi(self, name: str = "") -> str:
        """Return a Python function that builds a CasADi function of the equations."""
        from kinetree.models.equations.casadi import casadi

        return casadi(self, name)

    # -- slopes -----------------------------------------------------------------------------------------------------------------------------
    def gradient(
        self, by: Sequence[str] | str | None = None, of: Sequence[str] | str | None = None
    ) -> Trace:
        """Return derivatives of results (all or named) by named quantities (default: q, u, x,
        inputs, symbols).
        """
        from kinetree.models.trace.adjoint import gradient

        return gradient(self, by, of)
