"""Traced equations as readable text, with names of the description."""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.models.equations.printer import Language, Printer, argument_lines
from kinetree.models.equations.product_layout import FlatPrinter, written_out
from kinetree.models.trace.trace import Trace

SPELL = {
    name: f"{name}({{0}})"
    for name in "sqrt sin cos tan asin acos atan sinh cosh tanh exp log floor ceil abs".split()
}
SPELL |= {
    "atan2": "atan2({0}, {1})",
    "pow": "({0})^({1})",
    "mod": "mod({0}, {1})",
    "select": "if({0}, {1}, {2})",
}
SPELL |= {"lt": "{0} < {1}", "le": "{0} <= {1}", "eq": "{0} == {1}", "ne": "{0} != {1}"}
SPELL |= {"and": "({0} and {1})", "or": "({0} or {1})", "not": "not ({0})"}


def matrix_lines(trace: Trace, printer: Printer) -> Iterator[str]:
    """Return the matrices of all bodies as text columns."""
    at = 0
    for matrix in trace.matrices:
        entries = [printer.result(i) for i in trace.results[at : at + matrix.rows * matrix.columns]]
        at += len(entries)
        rows = [entries[matrix.columns * k : matrix.columns * (k + 1)] for k in range(matrix.rows)]
        widths = [max(len(row[k]) for row in rows) for k in range(matrix.columns)]
        yield f"{matrix.symbol}({matrix.body}) =" if matrix.body else f"{matrix.symbol} ="
        yield from (
            "    " + "   ".join(each.rjust(width) for each, width in zip(row, widths, strict=True))
            for row in rows
        )


def text(trace: Trace) -> str:
    """Return the equations as text, one per line."""

    def symbol(group: str, k: int) -> str:
        return "t" if group == "t" else trace.arguments[group][k]

    lines = [f"{trace.heading}.", *argument_lines(trace, True), ""]
    trace = written_out(trace)
    language = Language(symbol, lambda x: f"{x:.12g}", SPELL, product="*", quotient="{0}/{1}")
    printer = FlatPrinter(trace, language, lambda base, count: f"{base}^{count}")
    lines += [f"{each.name} = {each.text}" for each in printer.statements()]
    lines += [
        f"{label} = {printer.result(i)}"
        for label, i in zip(trace.labels, trace.results, strict=True)
        if not trace.matrices
    ]
    lines += list(matrix_lines(trace, printer))
    valid = printer.watched(" and ")
    return "\n".join([*lines, *([f"while {valid}"] if valid else [])]) + "\n"
