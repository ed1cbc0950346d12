"""Traced equations as a C99 function that depends on libm only."""

from __future__ import annotations

from kinetree.models.equations.printer import Language, Printer, argument_lines, function_name
from kinetree.models.trace.trace import Trace

SPELL = {
    name: f"{name}({{0}})"
    for name in "sqrt sin cos tan asin acos atan sinh cosh tanh exp log floor ceil".split()
}
SPELL |= {
    "abs": "fabs({0})",
    "atan2": "atan2({0}, {1})",
    "pow": "pow({0}, {1})",
    "mod": "kt_mod({0}, {1})",
}
SPELL |= {"lt": "({0} < {1})", "le": "({0} <= {1})", "eq": "({0} == {1})", "ne": "({0} != {1})"}
SPELL |= {
    "and": "({0} && {1})",
    "or": "({0} || {1})",
    "not": "(!{0})",
    "select": "({0} ? {1} : {2})",
}
MOD = """static double kt_mod(double a, double b)
{
    const double r = fmod(a, b);
    return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}

"""
ARGUMENTS = ("t", "q", "u", "x", "inputs", "parameters")


def c_number(x: float) -> str:
    """Return a number as a C constant of type double."""
    return (
        "NAN"
        if x != x
        else ("INFINITY" if x > 0 else "-INFINITY")
        if abs(x) == float("inf")
        else repr(x)
    )


def c_symbol(group: str, k: int) -> str:
    return "t" if group == "t" else f"{group}[{k}]"


LANGUAGE = Language(c_symbol, c_number, SPELL)


def body(trace: Trace, target: str, language: Language = LANGUAGE) -> list[str]:
    """Return the statements of a C-like function that writes the results to the array `target`."""
    printer = Printer(trace, language)
    lines = [
        f"    const {'int' if each.condition else 'double'} {each.name} = {each.text};"
        for each in printer.statements()
    ]
    valid = printer.watched(" && ")
    if valid:
        lines.append(f"    const int valid = {valid};")
    for k, i in enumerate(trace.results):
        lines.append(
            f"    {target}[{k}] = "
            + (f"valid ? {printer.result(i)} : NAN;" if valid else f"{printer.result(i)};")
        )
    return lines


def used(trace: Trace) -> set[str]:
    """Return the names of the arguments that the operations use."""
    return {trace.tape.nodes[i][1] for i in trace.live if trace.tape.nodes[i][0] == "symbol"}


def c(trace: Trace, name: str = "") -> str:
    """Return the text of a C file with one function."""
    head = [f" * {line}" for line in argument_lines(trace)]
    comment = ["/*", f" * {trace.heading}.", *head]
    if trace.watches:
        comment.append(
            " * Not a number where a loop is too near to a singular position for this order of elimination."
        )
    own = function_name(trace, name)
    arrays = ", ".join(f"const double *{each}" for each in ARGUMENTS[1:])
    lines = [*comment, " */", "#include <math.h>", ""]
    text = "\n".join(lines) + "\n" + (MOD if "mod" in trace.counts else "")
    unused = [f"    (void){each};" for each in ARGUMENTS if each not in used(trace)]
    statements = [
        f"void {own}(double t, {arrays}, double *{trace.symbol});",
        f"void {own}(double t, {arrays}, double *{trace.symbol})",
        "{",
    ]
    return text + "\n".join([*statements, *unused, *body(trace, trace.symbol), "}"]) + "\n"
