"""Names that OpenModelica's import can translate to Modelica: the import replaces some characters
by underscores and copies all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MODELICA_WORDS = frozenset(
    "algorithm and annotation assert block break class connect connector constant constrainedby der discrete each else elseif elsewhen "
    "encapsulated end enumeration equation expandable extends external false final flow for function if import impure in initial inner input "
    "loop model not operator or outer output package parameter partial protected public pure record redeclare replaceable return stream then "
    "true type when while within".split()
)
BLOCK_WORDS = frozenset(  # what the imported block declares or calls itself
    "time pre change noEvent terminal Integer String Modelica logLevel debugLogging fmuWorkingDir fmi2me fmi2Functions FMI2ModelExchange fmi_x "
    "fmi_x_new fmi_z fmi_z_positive numberOfContinuousStates numberOfEventIndicators flowStartTime flowTime flowEnterInitialization "
    "flowInitialized flowParamsStart flowInitInputs flowStatesInputs callEventUpdate newStatesAvailable triggerDSSEvent nextEventTime".split()
)
RESERVED = MODELICA_WORDS | BLOCK_WORDS
REPLACED = re.compile(r"[.\[\](), ]")  # signs that the import replaces by an underscore
FOREIGN = re.compile(r"[^A-Za-z0-9_.\[\](), ]")  # signs that it leaves, and Modelica does not take
DERIVATIVE = re.compile(r"der\((.*?)(,\d+)?\)")
INDEXED = re.compile(r"(.*?)((?:\[[^\]]*\])*)", re.DOTALL)


def imported(name: str) -> str:
    """Return the name of a variable in the block that OpenModelica's import creates."""
    return REPLACED.sub("_", name)


def is_free(name: str, taken: set[str]) -> bool:
    """Return whether the imported name is valid in Modelica and not taken by another variable."""
    there = imported(name)
    return (
        re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", there) is not None
        and there not in RESERVED
        and there not in taken
    )


def unique_names(names: Iterable[str]) -> dict[str, str]:
    """Return new names for variables whose imported name is invalid in Modelica or equal to an
    earlier one; a derivative follows its variable.

    Characters that are not allowed in identifiers become underscores; underscores are appended,
    before the indices, until a name is free.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    names = list(names)
    plain = [name for name in names if not DERIVATIVE.fullmatch(name)]
    for name in [*plain, *(name for name in names if DERIVATIVE.fullmatch(name))]:
        inner = DERIVATIVE.fullmatch(name)
        variable = inner[1] if inner else name
        if inner and variable in found:
            variable = found[variable]
        new = free_name(variable, inner[2] or "" if inner else None, taken)
        taken.add(imported(new))
        if new != name:
            found[name] = new
    return found


def free_name(variable: str, order: str | None, taken: set[str]) -> str:
    """Return a free name for a variable, or for its derivative of an order ("" or ",2"), by
    appending underscores where needed.
    """
    parts = INDEXED.fullmatch(FOREIGN.sub("_", variable))
    stem, indices = (parts[1], parts[2]) if parts else (variable, "")
    if order is None and not re.match("[A-Za-z_]", stem):
        stem = f"_{stem}"
    while True:
        name = f"{stem}{indices}"
        name = name if order is None else f"der({name}{order})"
        if is_free(name, taken):
            return name
        stem += "_"
