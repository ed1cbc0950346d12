"""Traced equations as a Python function that builds a CasADi function of the same arguments."""

from __future__ import annotations

from kinetree.models.equations.printer import Language, Printer, argument_lines, function_name
from kinetree.models.trace.trace import Trace

SPELL = {
    name: f"ca.{name}({{0}})"
    for name in "sqrt sin cos tan asin acos atan sinh cosh tanh exp log floor ceil".split()
}
SPELL |= {
    "abs": "ca.fabs({0})",
    "atan2": "ca.atan2({0}, {1})",
    "pow": "({0}) ** ({1})",
    "select": "ca.if_else({0}, {1}, {2})",
}
SPELL |= {"mod": "(({0}) - ({1}) * ca.floor(({0}) / ({1})))"}
SPELL |= {"lt": "({0} < {1})", "le": "({0} <= {1})", "eq": "({0} == {1})", "ne": "({0} != {1})"}
SPELL |= {
    "and": "ca.logic_and({0}, {1})",
    "or": "ca.logic_or({0}, {1})",
    "not": "ca.logic_not({0})",
}
NOT_A_NUMBER = 'float("nan")'


def casadi_number(x: float) -> str:
    return (
        NOT_A_NUMBER
        if x != x
        else ("ca.inf" if x > 0 else "-ca.inf")
        if abs(x) == float("inf")
        else repr(x)
    )


LANGUAGE = Language(lambda group, k: "t" if group == "t" else f"{group}[{k}]", casadi_number, SPELL)


def casadi(trace: Trace, name: str = "") -> str:
    """Return a Python module with one function that returns a casadi.Function."""
    printer = Printer(trace, LANGUAGE)
    own = function_name(trace, name)
    lines = [f'"""{trace.heading}.', "", *argument_lines(trace)]
    lines += ['"""', "", "import casadi as ca", "", ""]
    lines += [
        f"def {own}():",
        f'    """The function of t, q, u, x, inputs and parameters that gives {trace.symbol}."""',
    ]
    lines += ['    t = ca.SX.sym("t")']
    lines += [
        f'    {group} = ca.SX.sym("{group}", {len(names)})'
        for group, names in trace.arguments.items()
    ]
    lines += [f"    {each.name} = {each.text}" for each in printer.statements()]
    valid = ""
    for i, outcome in trace.watches:
        each = printer.result(i) if outcome else f"ca.logic_not({printer.result(i)})"
        valid = f"ca.logic_and({valid}, {each})" if valid else each
    if valid:
        lines.append(f"    valid = {valid}")
    results = [
        f"ca.if_else(valid, {printer.result(i)}, {NOT_A_NUMBER})" if valid else printer.result(i)
        for i in trace.results
    ]
    lines += [
        f"    {trace.symbol} = ca.vertcat(",
        *[f"        {each}," for each in results],
        "    )",
    ]
    if len(trace.shape) > 1:
        lines += [
            f"    {trace.symbol} = ca.reshape({trace.symbol}, {trace.shape[1]}, {trace.shape[0]}).T"
        ]
    names = ", ".join(("t", *trace.arguments))
    quoted = ", ".join(f'"{each}"' for each in ("t", *trace.arguments))
    lines += [
        f'    return ca.Function("{own}", [{names}], [{trace.symbol}], [{quoted}], ["{trace.symbol}"])'
    ]
    return "\n".join(lines) + "\n"
