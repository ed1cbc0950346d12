"""Checks of descriptions with [chain], which have no bodies: sections and outputs that do not
apply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.description.names import expressions, name_fault
from kinetree.models.expressions.parse import ExpressionError, parse, tables

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

FOREIGN = (
    "bodies",
    "joints",
    "couplings",
    "contacts",
    "forces",
    "states",
    "tables",
    "actuators",
    "hydraulics",
    "events",
    "stages",
)


def check_chain(checker: Checker) -> None:
    """Check coordinate names, inapplicable sections and outputs of a chain."""
    chain = checker.description.chain
    if chain is None:
        return
    for name in chain.names:
        if reason := name_fault(name, value=True):
            checker.complain(("chain", "names"), f"the name '{name}'", reason)
    for section in FOREIGN:
        if getattr(checker.description, section):
            checker.complain(
                (section,),
                "a section that belongs to bodies",
                hint="[chain] replaces bodies and joints",
            )
    for name, output in checker.description.outputs.items():
        if output.quantity is not None:
            checker.complain(
                ("outputs", name, "quantity"),
                f"'{output.quantity}'",
                "value, an expression over the coordinates of the chain",
            )
    for path, text in expressions(checker.description.outputs, ("outputs",)):
        try:
            if tables(parse(text)):
                checker.complain(path, f"'{text}'", "coordinates, speeds, inputs, parameters and t")
        except ExpressionError:
            continue  # reported with its expression
