"""Controllers as C99 code that depends on libm only: the laws of laws.py as they run inside the
mechanism, for a machine's own processor.

The values a controller reads are passed as `measured` (its sensors) and `given` (setpoint and
feed-forward), in the order of the comment. Sampled: NAME_sample, called once per period, returns
the commands of this sample; delay, jitter and noise belong to the communication, not to the law.
Continuous: NAME_commands, and NAME_rates of its memory for an integrator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kinetree.models.controllers.expansion import Expansion, Made, values_of
from kinetree.models.controllers.laws import brace
from kinetree.models.description.schema import Description
from kinetree.models.equations.c import MOD, SPELL, c_number
from kinetree.models.expressions.nodes import Const, Leaf, Node, Operation, postorder
from kinetree.models.expressions.parse import parse
from kinetree.models.language.parts.predictive_parts import PredictiveController
from kinetree.solvers.layout import Op

SIGNS = {Op.ADD: "+", Op.SUB: "-", Op.MUL: "*", Op.DIV: "/"}
TESTS = {
    Op.LT: "{0} < {1}",
    Op.LE: "{0} <= {1}",
    Op.GT: "{0} > {1}",
    Op.GE: "{0} >= {1}",
    Op.EQ: "{0} == {1}",
    Op.NE: "{0} != {1}",
}
TESTS |= {
    Op.AND: "{0} != 0.0 && {1} != 0.0",
    Op.OR: "{0} != 0.0 || {1} != 0.0",
    Op.NOT: "{0} == 0.0",
}
FORMS = {
    Op.IF: "{0} != 0.0 ? {1} : {2}",
    Op.MIN: "{1} < {0} ? {1} : {0}",
    Op.MAX: "{1} > {0} ? {1} : {0}",
    Op.NEG: "-{0}",
}
FORMS |= {Op.SIGN: "{0} > 0.0 ? 1.0 : {0} < 0.0 ? -1.0 : {0}"} | {
    op: f"{test} ? 1.0 : 0.0" for op, test in TESTS.items()
}
FORMS |= {op: f"{{0}} {sign} {{1}}" for op, sign in SIGNS.items()}


def identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)


class Code:
    """C statements for expressions with known names; every common subexpression is computed once."""

    def __init__(self, names: Mapping[str, str], values: Mapping[str, float], tables: str):
        self.names, self.values, self.tables = names, values, tables
        self.lines: list[str] = []
        self.known: dict[Node, str] = {}

    def value(self, text: str) -> str:
        """Return the C operand that holds the value of an expression, adding the statements that
        compute it.
        """
        root = parse(text)
        for node in postorder((root,), self.known):
            if isinstance(node, Const):
                self.known[node] = c_number(node.value)
            elif isinstance(node, Leaf):
                self.known[node] = (
                    self.names[node.key] if node.key in self.names else self.parameter(node.key)
                )
            elif isinstance(node, Operation):
                form = FORMS.get(node.op) or SPELL[node.op.name.lower()]
                self.known[node] = f"v{len(self.lines)}"
                self.lines.append(
                    f"    const double {self.known[node]} = {form.format(*(self.known[arg] for arg in node.args))};"
                )
            else:
                raise ValueError(
                    f"{self.tables}: a law with a table has no C; write the table as an expression"
                )
        return self.known[root]

    def parameter(self, name: str) -> str:
        if name not in self.values:
            raise ValueError(
                f"{self.tables}: its law reads '{name}', which is neither measured nor a parameter"
            )
        return c_number(float(self.values[name]))


def controllers_in_c(description: Description) -> str:
    """Return all controllers of a mechanism as C code; raises ValueError if there are none, or one
    has no C form.
    """
    written = description.written
    if not written.controllers:
        raise ValueError(f"'{description.name}' has no [controllers]")
    for name, controller in written.controllers.items():
        if isinstance(controller, PredictiveController):
            raise ValueError(
                f"controllers.{name} is predictive, with the mechanism as its model: "
                "as C it is part of the source-code FMU (kinetree fmu --backend source)"
            )
    texts = [controller_in_c(written, name) for name in written.controllers]
    mod = MOD if any("kt_mod(" in text for text in texts) else ""
    return "#include <math.h>\n\n" + mod + "\n".join(texts)


def controller_in_c(description: Description, name: str) -> str:
    """Return the memory type and the functions of one controller as C code."""
    controller, values = description.controllers[name], values_of(description)
    made = Expansion(Made(), name, controller, values, description, False, False)
    law, commands = made.law, made.commanded()
    own, sampled = identifier(name), made.sampled
    if sampled and controller.rate is not None:
        law.memory |= {
            f"limited{suffix}": text for suffix, text in zip(made.suffixes, commands, strict=True)
        }
    reads = {f"{name}.{key}": f"measured[{k}]" for k, key in enumerate(law.samples)}
    reads |= {f"{name}.{key}": f"given[{k}]" for k, key in enumerate(law.given)}
    memory = {
        f"{name}.{key}": f"s->{key}" for key in (*law.memory, *(["samples"] if sampled else []))
    }
    fields = [text.removeprefix("s->") for text in memory.values()] or ["nothing"]
    head = [
        f"/* {own}: {type(controller).__name__} of '{description.name}', "
        + (f"every {made.number('period'):g} s." if sampled else "continuous.")
    ]
    head += [f" * measured[{k}]: {text}" for k, text in enumerate(law.samples.values())]
    head += [f" * given[{k}]: {text}" for k, text in enumerate(law.given.values())]
    head += [" */", f"typedef struct {{ double {', '.join(fields)}; }} {own}_memory;", ""]
    begin = {key: law.begin.get(key, "0") if not sampled else "0" for key in law.memory}
    if sampled and controller.rate is not None:
        begin |= {f"limited{suffix}": brace(controller.start) for suffix in made.suffixes}
    arguments = f"const {own}_memory *s, const double *measured, const double *given"
    writing = arguments.removeprefix("const ")
    where = f"controllers.{name}"

    def body(texts: Mapping[str, str], known: Mapping[str, str]) -> list[str]:
        code = Code(known, values, where)
        ends = [f"    {target} = {code.value(text)};" for target, text in texts.items()]
        return ["    (void)s; (void)measured; (void)given;", *code.lines, *ends, "}", ""]

    lines = [*head, f"void {own}_begin({writing})", "{"]
    lines += body(
        {f"s->{key}": text for key, text in begin.items()}
        | ({"s->samples": "0"} if sampled else {}),
        reads,
    )
    told = {f"commands[{k}]": text for k, text in enumerate(commands)}
    if sampled:
        after = {f"s->{key}": text for key, text in law.memory.items()} | {
            "s->samples": f"{name}.samples + 1"
        }
        return "\n".join(
            [
                *lines,
                f"void {own}_sample({writing}, double *commands)",
                "{",
                *body(told | after, reads | memory),
            ]
        )
    lines += [
        f"void {own}_commands({arguments}, double *commands)",
        "{",
        *body(told, reads | memory),
    ]
    if not law.memory:
        return "\n".join(lines)
    rates = {f"rates[{k}]": text for k, text in enumerate(law.memory.values())}
    return "\n".join(
        [*lines, f"void {own}_rates({arguments}, double *rates)", "{", *body(rates, reads | memory)]
    )
