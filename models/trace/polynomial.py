"""Short expressions as sums of products, simplified by s² + c² = 1 for the sine and cosine of one
angle, as in hand-written formulas.
"""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.models.trace.tape import Tape

MAX_TERMS = 40  # terms above which nothing is multiplied out
TURNED = ("sin", "cos")
Product = tuple[int, ...]  # nodes that are multiplied, in order
Sum = dict[Product, float]  # factors of products


def expanded(tape: Tape, i: int) -> Sum | None:
    """Return a node as a sum of products of nodes that are neither sums nor products; None if that
    gets too long.
    """
    kind, *rest = tape.nodes[i]
    if kind == "const":
        return {(): rest[0]} if rest[0] != 0.0 else {}
    if kind not in ("+", "-", "*", "neg"):
        return {(i,): 1.0}
    parts: list[Sum] = []
    for each in rest:
        part = expanded(tape, each)
        if part is None:
            return None
        parts.append(part)
    found: Sum = {}
    for product, factor in multiplied(parts[0], parts[1]) if kind == "*" else added(parts, kind):
        found[product] = found.get(product, 0.0) + factor
    return (
        {product: factor for product, factor in found.items() if factor != 0.0}
        if len(found) <= MAX_TERMS
        else None
    )


def multiplied(a: Sum, b: Sum) -> Iterator[tuple[Product, float]]:
    """Yield the terms of a product of sums."""
    for p, x in a.items():
        for q, y in b.items():
            yield tuple(sorted((*p, *q))), x * y


def added(parts: list[Sum], kind: str) -> Iterator[tuple[Product, float]]:
    """Yield the terms of a sum, difference or negation."""
    for number, part in enumerate(parts):
        sign = -1.0 if kind == "neg" or (kind == "-" and number == 1) else 1.0
        yield from ((product, sign * factor) for product, factor in part.items())


def without_squares(tape: Tape, terms: Sum, angle: int, gone: str) -> Sum:
    """Return the terms with s² replaced by 1 - c², or c² by 1 - s², for one angle."""
    kept = "cos" if gone == "sin" else "sin"
    square, other = tape.index[gone, angle], tape.index[kept, angle]
    found: Sum = {}
    waiting = list(terms.items())
    while waiting:
        product, factor = waiting.pop()
        if product.count(square) < 2:
            found[product] = found.get(product, 0.0) + factor
            continue
        rest = list(product)
        rest.remove(square)
        rest.remove(square)
        waiting += [(tuple(rest), factor), (tuple(sorted((*rest, other, other))), -factor)]
    return {product: factor for product, factor in found.items() if factor != 0.0}


def paired(tape: Tape, terms: Sum, angle: int) -> Sum:
    """Return the terms with each pair p s², p c² replaced by p."""
    s, c = tape.index["sin", angle], tape.index["cos", angle]
    found = dict(terms)
    for product in [each for each in terms if each.count(s) >= 2]:
        rest = list(product)
        rest.remove(s)
        rest.remove(s)
        other = tuple(sorted((*rest, c, c)))
        if product in found and found.get(other) == found[product]:
            factor = found.pop(other)
            del found[product]
            found[tuple(rest)] = found.get(tuple(rest), 0.0) + factor
    return {product: factor for product, factor in found.items() if factor != 0.0}


def shortened(tape: Tape, i: int) -> int:
    """Return the node of an equal but shorter sum, or the node itself."""
    terms = expanded(tape, i)
    if terms is None:
        return i
    angles = {
        tape.nodes[each][1]
        for product in terms
        for each in product
        if tape.nodes[each][0] in TURNED
    }
    best, before = terms, len(terms) + 1
    while len(best) < before:
        before = len(best)
        for angle in sorted(angles):
            if all((each, angle) in tape.index for each in TURNED):
                best = min(
                    (
                        best,
                        paired(tape, best, angle),
                        *(without_squares(tape, best, angle, gone) for gone in TURNED),
                    ),
                    key=len,
                )
    if len(best) >= len(terms):
        return i
    total = tape.constant(0.0)
    for product, factor in sorted(best.items()):
        node = tape.constant(1.0)
        for each in product:
            node = tape.mul(node, each)
        total = tape.add(total, tape.mul(tape.constant(factor), node))
    return total
