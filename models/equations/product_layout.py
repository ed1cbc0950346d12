"""Printing of products and sums in mathematical style: no nested brackets, numbers first, equal
factors as powers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from kinetree.models.equations.printer import (
    ATOM,
    MAX_STATEMENT_OPERATIONS,
    PRODUCT,
    SHORT,
    SIGN,
    SUM,
    Language,
    Printer,
)
from kinetree.models.trace.polynomial import expanded, shortened
from kinetree.models.trace.trace import Trace

TURNED = ("sin", "cos")
ORDER = (
    "const",
    "parameters",
    "inputs",
    "t",
    "x",
    "q",
    "u",
    "named",
    *TURNED,
)  # groups of factors; functions, fractions and sums follow
ENTRY = 16  # terms of an entry that is written out
WRITTEN = ("mass_matrix", "momenta", "energy")


class FlatPrinter(Printer):
    """A printer whose expressions are meant for readers."""

    def __init__(self, trace: Trace, language: Language, power: Callable[[str, int], str]):
        super().__init__(
            trace,
            language,
            longest=10**9 if trace.written else MAX_STATEMENT_OPERATIONS,
            short=10**9 if trace.written else SHORT if trace.matrices else 0,
        )
        self.power = power

    def expression(self, i: int) -> tuple[str, int]:
        """Return the text of a node and its operator precedence."""
        kind = self.tape.nodes[i][0]
        if kind in ("+", "-") or (kind == "neg" and self.is_open(self.tape.nodes[i][1], "+", "-")):
            return self.total(self.terms(i, False)), SUM
        if kind in ("*", "neg"):
            negative, factors = self.factors(i)
            text = self.multiplied(factors)
            return (f"-{text}", SIGN) if negative else (text, PRODUCT)
        return super().expression(i)

    def is_open(self, i: int, *kinds: str) -> bool:
        """Return whether a node is inlined and of one of the kinds that can be flattened."""
        return i not in self.assigned and self.tape.nodes[i][0] in kinds

    def terms(self, i: int, negative: bool) -> list[tuple[bool, int]]:
        """Return the signs and terms of a sum, with all signs reversed if `negative`."""
        kind, *rest = self.tape.nodes[i]
        found = []
        for k, each in enumerate(rest):
            turned = negative != (kind == "neg" or (kind == "-" and k == 1))
            found += self.terms(each, turned) if self.is_open(each, "+", "-") else [(turned, each)]
        return found

    def factors(self, i: int) -> tuple[bool, list[int]]:
        """Return the sign and factors of a product."""
        kind, *rest = self.tape.nodes[i]
        negative, found = kind == "neg", []
        for each in rest:
            if self.is_open(each, "*", "neg"):
                turned, more = self.factors(each)
                negative, found = negative != turned, found + more
            else:
                found.append(each)
        return negative, found

    def rank(self, i: int) -> tuple[int, int, int]:
        """Return the sort key of a factor in a product: sines and cosines are ordered by their
        angles.
        """
        kind, *rest = self.tape.nodes[i]
        group = (
            rest[0]
            if kind == "symbol"
            else "named"
            if i in self.assigned and kind not in TURNED
            else kind
        )
        at = ORDER.index(group) if group in ORDER else len(ORDER)
        return (at - (kind == "cos"), rest[0], at) if kind in TURNED else (at, i, 0)

    def multiplied(self, factors: list[int]) -> str:
        """Return the text of a product of factors."""
        ordered = sorted(Counter(factors).items(), key=lambda each: self.rank(each[0]))
        return self.language.product.join(
            self.bracketed(i, PRODUCT) if k == 1 else self.power(self.bracketed(i, ATOM), k)
            for i, k in ordered
        )

    def total(self, terms: list[tuple[bool, int]]) -> str:
        """Return the text of a sum with positive terms first."""
        signed = []
        for negative, i in terms:
            turned, factors = self.factors(i) if self.is_open(i, "*", "neg") else (False, [i])
            signed.append((negative != turned, factors))
        if self.trace.written:
            signed.sort(
                key=lambda each: (
                    sum(self.tape.nodes[i][0] in TURNED for i in each[1]),
                    len(each[1]),
                )
            )
        first = next((k for k, (negative, _) in enumerate(signed) if not negative), 0)
        ordered = [signed[first], *signed[:first], *signed[first + 1 :]]
        texts = [
            ("-" if negative else "+", self.multiplied(factors)) for negative, factors in ordered
        ]
        return (
            ("-" if ordered[0][0] else "")
            + texts[0][1]
            + "".join(f" {sign} {text}" for sign, text in texts[1:])
        )


def written_out(trace: Trace) -> Trace:
    """Return the trace with short results expanded into sums of products."""
    if trace.of not in WRITTEN:
        return trace
    results = [shortened(trace.tape, i) for i in trace.results]
    entries = [expanded(trace.tape, i) for i in results]
    if any(each is None or len(each) > ENTRY for each in entries):
        return trace
    return replace(
        trace, results=[spelled(trace, each or {}) for each in entries], names={}, written=True
    )


def spelled(trace: Trace, terms: dict[tuple[int, ...], float]) -> int:
    """Return a new node for a sum of products."""
    tape = trace.tape
    total = tape.constant(0.0)
    for product, factor in sorted(terms.items(), key=lambda each: (len(each[0]), each[0])):
        node = tape.constant(abs(factor))
        for each in product:
            node = tape.mul(node, each)
        total = tape.add(total, node) if factor > 0.0 else tape.sub(total, node)
    return total
