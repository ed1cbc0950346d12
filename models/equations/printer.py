"""Expressions of a trace as text: which nodes get a name, infix notation with as few brackets as
precedence allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kinetree.models.trace.live_nodes import arguments, uses
from kinetree.models.trace.operations import CONDITIONS
from kinetree.models.trace.trace import Trace

SUM, PRODUCT, SIGN, ATOM = 1, 3, 2, 5  # how strongly an expression holds together
MAX_STATEMENT_OPERATIONS = 12  # operations of one statement
SHORT = 3  # operations of an entry of a matrix that is written out wherever it stands


@dataclass
class Language:
    """Spelling of operations in one language; `spell` has a pattern with {0}, {1}, {2} for each
    function.
    """

    symbol: Callable[[str, int], str]
    number: Callable[[float], str]
    spell: dict[str, str]
    product: str = " * "
    quotient: str = "{0} / {1}"
    fraction: bool = False  # the quotient itself shows what belongs together


def plain_number(x: float) -> str:
    """Return the shortest decimal that gives the same number."""
    return repr(x)


@dataclass
class Statement:
    """A name and the expression assigned to it."""

    name: str
    text: str
    condition: bool


class Printer:
    """The statements of one trace in one language; up to `short` operations are inlined, up to
    `longest` characters.
    """

    def __init__(
        self,
        trace: Trace,
        language: Language,
        longest: int = MAX_STATEMENT_OPERATIONS,
        short: int = 0,
    ):
        self.trace, self.language, self.tape = trace, language, trace.tape
        self.live = trace.live
        count = uses(self.tape, self.live, [*trace.results, *(i for i, _ in trace.watches)])
        self.assigned: dict[int, str] = {}
        size: dict[int, int] = {}
        taken = 0
        for i in self.live:
            node = self.tape.nodes[i]
            if node[0] in ("const", "symbol"):
                size[i] = 0
                continue
            size[i] = (node[0] != "neg") + sum(size[each] for each in arguments(node))
            shared = count[i] > 1 and node[0] != "neg" and size[i] > short
            if i in trace.names or shared or size[i] >= longest:
                taken += i not in trace.names
                self.assigned[i] = trace.names.get(i, f"v{taken}")
                size[i] = 0

    def needs(self, i: int) -> set[int]:
        """Return the named nodes that the expression of node i uses."""
        found: set[int] = set()
        stack = list(arguments(self.tape.nodes[i]))
        while stack:
            each = stack.pop()
            if each in self.assigned:
                found.add(each)
            else:
                stack += arguments(self.tape.nodes[each])
        return found

    def statements(self) -> Iterator[Statement]:
        """Return all assignments in order."""
        for i, name in sorted(self.assigned.items()):
            yield Statement(name, self.expression(i)[0], self.tape.nodes[i][0] in CONDITIONS)

    def result(self, i: int) -> str:
        """Return the text of a result or a condition."""
        return self.inner(i)[0]

    def inner(self, i: int) -> tuple[str, int]:
        """Return a node as part of an expression: its text and precedence."""
        return (self.assigned[i], ATOM) if i in self.assigned else self.expression(i)

    def bracketed(self, i: int, strength: int) -> str:
        """Return the text of a node, in brackets if it binds weaker than `strength`."""
        text, own = self.inner(i)
        return text if own >= strength else f"({text})"

    def expression(self, i: int) -> tuple[str, int]:
        """Return the text of a node and its operator precedence."""
        language = self.language
        kind, *rest = self.tape.nodes[i]
        if kind == "const":
            return language.number(rest[0]), ATOM if rest[0] >= 0.0 else SIGN
        if kind == "symbol":
            return language.symbol(*rest), ATOM
        if kind == "+":
            a, b = rest
            if self.tape.nodes[a][0] == "neg" and a not in self.assigned:
                a, b = b, a
            return f"{self.bracketed(a, SUM)} + {self.bracketed(b, PRODUCT)}", SUM
        if kind == "-":
            return f"{self.bracketed(rest[0], SUM)} - {self.bracketed(rest[1], PRODUCT)}", SUM
        if kind == "*":
            return (
                f"{self.bracketed(rest[0], PRODUCT)}{language.product}{self.bracketed(rest[1], PRODUCT + 1)}",
                PRODUCT,
            )
        if kind == "/":
            tight = (0, 0) if language.fraction else (PRODUCT, PRODUCT + 1)
            return language.quotient.format(
                *[
                    self.bracketed(each, strength)
                    for each, strength in zip(rest, tight, strict=True)
                ]
            ), PRODUCT
        if kind == "neg":
            return f"-{self.bracketed(rest[0], PRODUCT)}", SIGN
        return language.spell[kind].format(*[self.inner(each)[0] for each in rest]), ATOM

    def watched(self, conjunction: str) -> str:
        """Return the condition under which the branch decisions of the trace hold, or an empty
        text.
        """
        spelled = [
            self.result(i) if outcome else self.language.spell["not"].format(self.result(i))
            for i, outcome in self.trace.watches
        ]
        return conjunction.join(spelled)


def function_name(trace: Trace, name: str) -> str:
    """Return the function name, such as NAME_accelerations."""
    from kinetree.models.trace.readable_names import identifier

    own = identifier(name or trace.name)
    return f"{own}_{trace.of.replace(' ', '_')}"


def argument_lines(trace: Trace, readable: bool = False) -> list[str]:
    """Return one line per argument array; parameters with their values if these are fixed in the
    code.
    """
    lines = []
    for group, names in trace.arguments.items():
        if group == "parameters" and trace.values and not symbolic(trace):
            given = ", ".join(f"{name} = {trace.values[name]:.10g}" for name in names)
            lines += [f"parameters, built in: {given}"] if given else []
        elif names:
            lines.append(f"{group}: {', '.join(names)}")
    lines += (
        [f"{trace.symbol}: {', '.join(trace.labels)}"] if not (trace.matrices and readable) else []
    )
    return [part for line in lines for part in wrapped(line)]


def wrapped(line: str, width: int = 140) -> list[str]:
    """Return a long line broken into several."""
    parts, rest = [], line
    while len(rest) > width and ", " in rest[:width]:
        at = rest.rindex(", ", 0, width) + 2
        parts.append(rest[:at].rstrip())
        rest = "    " + rest[at:]
    return [*parts, rest]


def symbolic(trace: Trace) -> bool:
    """Return whether parameters are symbols instead of numbers."""
    return any(key[0] == "symbol" and key[1] == "parameters" for key in trace.tape.index)
