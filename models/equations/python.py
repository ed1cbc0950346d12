"""Traced equations as a Python function that depends on numpy only. Every argument may be an array
of many states.
"""

from __future__ import annotations

from kinetree.models.equations.printer import Language, Printer, argument_lines, function_name
from kinetree.models.trace.trace import Trace

SPELL = {
    name: f"np.{name}({{0}})"
    for name in "sqrt sin cos tan sinh cosh tanh exp log floor ceil abs".split()
}
SPELL |= {
    "asin": "np.arcsin({0})",
    "acos": "np.arccos({0})",
    "atan": "np.arctan({0})",
    "atan2": "np.arctan2({0}, {1})",
}
SPELL |= {
    "pow": "np.power({0}, {1})",
    "mod": "np.mod({0}, {1})",
    "select": "np.where({0}, {1}, {2})",
}
SPELL |= {"lt": "({0} < {1})", "le": "({0} <= {1})", "eq": "({0} == {1})", "ne": "({0} != {1})"}
SPELL |= {"and": "({0} & {1})", "or": "({0} | {1})", "not": "np.logical_not({0})"}


def python_number(x: float) -> str:
    return (
        "np.nan"
        if x != x
        else ("np.inf" if x > 0 else "-np.inf")
        if abs(x) == float("inf")
        else repr(x)
    )


LANGUAGE = Language(lambda group, k: "t" if group == "t" else f"{group}[{k}]", python_number, SPELL)


def python(trace: Trace, name: str = "") -> str:
    """Return a Python module with one function."""
    printer = Printer(trace, LANGUAGE)
    own = function_name(trace, name)
    lines = [f'"""{trace.heading}.', "", *argument_lines(trace)]
    lines += [
        "Rows of the arrays may be arrays: many states at once.",
        '"""',
        "",
        "import numpy as np",
        "",
        "",
    ]
    lines += [f"def {own}(t, q, u, x, inputs, parameters):"]
    lines += [
        f'    """{", ".join(trace.labels[:4])}{" ..." if len(trace.labels) > 4 else ""}"""'.replace(
            "\\", ""
        )
    ]
    lines += [
        "    q, u, x, inputs, parameters = (np.asarray(each, dtype=float) for each in (q, u, x, inputs, parameters))"
    ]
    lines += ['    with np.errstate(all="ignore"):']
    lines += [f"        {each.name} = {each.text}" for each in printer.statements()]
    valid = printer.watched(" & ")
    if valid:
        lines.append(f"        valid = {valid}")
    results = [
        f"np.where(valid, {printer.result(i)}, np.nan)" if valid else printer.result(i)
        for i in trace.results
    ]
    lines += [f"        {trace.symbol} = ["]
    lines += [f"            {each}," for each in results]
    lines += ["        ]"]
    lines += [
        f"    return np.stack(np.broadcast_arrays(*{trace.symbol})){reshaped(trace)}"
        if results
        else "    return np.zeros(0)"
    ]
    return "\n".join(lines) + "\n"


def reshaped(trace: Trace) -> str:
    """Return the code that reshapes a matrix result."""
    return (
        f".reshape({', '.join(map(str, trace.shape))}, *np.shape({trace.symbol}[0]))"
        if len(trace.shape) > 1
        else ""
    )
