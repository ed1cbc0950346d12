"""Names of the forms of the equations of motion, and what each needs in a workspace."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.solvers.literal.kinds import FORMS, LITERAL
from kinetree.solvers.literal.kinds import LINEAR as LINEAR
from kinetree.solvers.literal.kinds import MASS as MASS

LAGRANGE = {form.name: form.code for form in FORMS if not form.momenta}
HAMILTON = {form.name: form.code for form in FORMS if form.momenta}
ITERATED = tuple(form.name for form in LITERAL if form.iterated)  # variable-metric iterations
NO_GROUPS: frozenset[str] = frozenset()
GROUPS = {
    form.name: form.needs for form in LITERAL
}  # what a form needs in the workspace besides the kinematics
ENTRIES = {form.name: form.entry for form in FORMS}


def known(method: str, methods: Mapping[str, int], default: str) -> str:
    """Return the checked name of a form; `auto` is the default engine."""
    if method == "auto":
        return default
    if method not in methods:
        raise ValueError(f"unknown method '{method}', expected one of auto, {', '.join(methods)}")
    return method


def entry_name(method: str) -> str:
    return ENTRIES[method]
