"""Traced equations as a Modelica function with the same arrays as arguments."""

from __future__ import annotations

from kinetree.models.equations import c
from kinetree.models.equations.printer import Language, Printer, argument_lines, function_name
from kinetree.models.trace.trace import Trace

SPELL = {
    name: f"{name}({{0}})"
    for name in "sqrt sin cos tan asin acos atan sinh cosh tanh exp log floor ceil abs".split()
}
SPELL |= {
    "atan2": "atan2({0}, {1})",
    "pow": "({0}) ^ ({1})",
    "mod": "mod({0}, {1})",
    "select": "(if {0} then {1} else {2})",
}
SPELL |= {"lt": "({0} < {1})", "le": "({0} <= {1})", "eq": "({0} == {1})", "ne": "({0} <> {1})"}
SPELL |= {"and": "({0} and {1})", "or": "({0} or {1})", "not": "(not {0})"}
KEYWORDS = set(
    "algorithm and annotation assert block break class connect connector constant constrainedby der discrete each else elseif elsewhen encapsulated "
    "end enumeration equation expandable extends external false final flow for function if import impure in initial inner input loop model not "
    "operator or outer output package parameter partial protected public pure record redeclare replaceable return stream then true type when while "
    "within time".split()
)
MODELICA_INFINITY = "Modelica.Constants.inf"
MOST_OPERATIONS = 200  # that a tool is given to work on; OpenModelica needs minutes for 431


def modelica_number(x: float) -> str:
    return repr(x) if abs(x) < 1e300 else ("1e300" if x > 0 else "-1e300")


def modelica_symbol(group: str, k: int) -> str:
    return "t" if group == "t" else f"{group}[{k + 1}]"


LANGUAGE = Language(modelica_symbol, modelica_number, SPELL)


def modelica(trace: Trace, name: str = "", external: bool = False) -> str:
    """Return a Modelica function; with `external` its body is an external C function, which tools
    call without analysing it.
    """
    if external:
        return external_modelica(trace, name)
    printer = Printer(trace, LANGUAGE)
    printer.assigned = {
        i: f"{each}_" if each in KEYWORDS else each for i, each in printer.assigned.items()
    }
    own = function_name(trace, name)
    lines = [f"// {line}" for line in argument_lines(trace)]
    lines += [f'function {own} "{trace.heading}"']
    lines += [
        "  input Real t;",
        *[f"  input Real {group}[{len(names)}];" for group, names in trace.arguments.items()],
    ]
    lines += [f"  output Real {trace.symbol}[{len(trace.results)}];"]
    statements = list(printer.statements())
    if statements:
        lines += [
            "protected",
            *[f"  {'Boolean' if each.condition else 'Real'} {each.name};" for each in statements],
        ]
    lines += ["algorithm", *[f"  {each.name} := {each.text};" for each in statements]]
    valid = printer.watched(" and ")
    if valid:
        lines.append(
            f'  assert({valid}, "a loop is too near to a singular position for this order of elimination");'
        )
    lines += [
        f"  {trace.symbol}[{k + 1}] := {printer.result(i)};" for k, i in enumerate(trace.results)
    ]
    return "\n".join([*lines, f"end {own};"]) + "\n"


def external_modelica(trace: Trace, name: str) -> str:
    """Return a Modelica function with the same arguments that includes its C code, once per model."""
    own = function_name(trace, name)
    text = c.c(trace, name)
    if c.MOD in text:
        text = text.replace(c.MOD, f"#ifndef KT_MOD\n#define KT_MOD\n{c.MOD}#endif\n")
    guard = f"{own}_INCLUDED"
    text = f"#ifndef {guard}\n#define {guard}\n{text}#endif\n"
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    passed = ", ".join(("t", *c.ARGUMENTS[1:], trace.symbol))
    groups = [
        f"  input Real {group}[{len(trace.arguments.get(group, ()))}];" for group in c.ARGUMENTS[1:]
    ]
    lines = [
        *[f"// {line}" for line in argument_lines(trace)],
        f'function {own} "{trace.heading}"',
        "  input Real t;",
        *groups,
        f"  output Real {trace.symbol}[{len(trace.results)}];",
        f'  external "C" {own}({passed}) annotation(Include = "{quoted}");',
        f"end {own};",
    ]
    return "\n".join(lines) + "\n"
