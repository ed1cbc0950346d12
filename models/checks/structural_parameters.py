"""Structural parameters: changing them requires a new compilation, so hosts and events cannot set
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kinetree.models.expressions.nodes import ExpressionError, names
from kinetree.models.expressions.parse import evaluate_constant, parse
from kinetree.models.language.parameters import evaluate_parameters

if TYPE_CHECKING:
    from kinetree.models.description.schema import Description

COPIES = "a number of copies"
SWITCHES = ("noise", "resolution", "jitter")  # of controllers: what is 0 is not built


def frozen(description: Description) -> dict[str, str]:
    """Return the structural parameters, including those they are computed from, with what each of
    them determines.
    """
    return behind(description, deciding(description))


def kept_by_fmus(description: Description) -> list[str]:
    """Return sentences about settings that FMUs freeze at export although they depend on tunable
    parameters.
    """
    run = description.run
    given: dict[str, float | str | None] = {"step": run.step}
    given |= (
        {f"tolerances.{key}": getattr(run.tolerances, key) for key in ("relative", "absolute")}
        if run.tolerances is not None
        else {}
    )
    found = behind(
        description, [(text, key) for key, text in given.items() if isinstance(text, str)]
    )
    said = [
        f"[run] {what} stays that of the values written: a host that sets '{name}' does not change it"
        for name, what in found.items()
    ]
    if run.prepare:
        said.append(
            "the equilibrium of [run] prepare is computed for the values in the file: other values set by a host do not change the start"
        )
    return said


def behind(description: Description, texts: Iterable[tuple[float | str, str]]) -> dict[str, str]:
    """Return the parameters on which expressions depend, directly or indirectly, with what these
    expressions determine.
    """
    found: dict[str, str] = {}
    waiting = list(texts)
    while waiting:
        text, what = waiting.pop()
        try:
            used = names(parse(text)) & description.parameters.keys()
        except ExpressionError:
            continue  # reported elsewhere
        for name in used - found.keys():
            found[name] = what
            waiting.append((description.parameters[name].value, what))
    return found


def deciding(description: Description) -> Iterator[tuple[float | str, str]]:
    """Yield the expressions that are evaluated once at compilation, with what they determine."""
    for text in description.counted:
        yield text, COPIES
    for name, table in description.tables.items():
        for grid in (table.x, table.y, *(table.z or ())):
            for text in grid:
                if isinstance(text, str):
                    yield text, f"points of the table '{name}'"
    if description.written.beams:
        from kinetree.models.beams.beam_expansion import deciding_numbers

        yield from deciding_numbers(description.written)
    values = evaluate_parameters(
        {name: parameter.value for name, parameter in description.parameters.items()}
    )[0]
    for name, controller in description.written.controllers.items():
        late = [getattr(controller, key, None) for key in ("delay", "jitter")]
        keys = ("delay", "period") if any(late) else ("delay",)
        off = [key for key in SWITCHES if absent(getattr(controller, key, None), values)]
        for key in (*keys, *off):
            if isinstance(text := getattr(controller, key, None), str):
                yield text, f"the {key} of the controller '{name}'"


def absent(text: float | str | None, values: Mapping[str, float]) -> bool:
    """Return whether an expression is constantly 0 for the given parameter values."""
    try:
        return text is not None and evaluate_constant(text, dict(values)) == 0.0
    except ExpressionError:
        return False
