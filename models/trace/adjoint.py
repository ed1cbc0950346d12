"""Derivatives of traced results by a reverse sweep from the results to the symbols: a few
evaluations per result, for any number of symbols.

A condition has zero derivative; a selection takes that of its branch. At a kink the derivative is
that of the side on which the condition lies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kinetree.models.trace.live_nodes import alive, arguments, finished
from kinetree.models.trace.tape import Tape
from kinetree.models.trace.trace import Trace

SINGULAR = ("/", "sqrt", "log", "pow", "asin", "acos", "atan2")  # whose slopes may be infinite


def partials(tape: Tape, i: int) -> list[tuple[int, int]]:
    """Return the arguments of a node that have derivatives, with ∂node/∂argument."""
    operation, *rest = tape.nodes[i]
    one = tape.constant(1.0)
    if operation in ("+", "-"):
        return [(rest[0], one), (rest[1], one if operation == "+" else tape.constant(-1.0))]
    if operation == "*":
        return [(rest[0], rest[1]), (rest[1], rest[0])]
    if operation == "/":
        inverse = tape.div(one, rest[1])
        return [(rest[0], inverse), (rest[1], tape.neg(tape.mul(i, inverse)))]
    if operation == "neg":
        return [(rest[0], tape.constant(-1.0))]
    if operation == "select":
        zero = tape.constant(0.0)
        return [
            (rest[1], tape.select(rest[0], one, zero)),
            (rest[2], tape.select(rest[0], zero, one)),
        ]
    if operation == "mod":  # a - b floor(a/b)
        return [(rest[0], one), (rest[1], tape.neg(tape.fold("floor", tape.div(*rest))))]
    if operation == "atan2":
        a, b = rest
        square = tape.add(tape.mul(a, a), tape.mul(b, b))
        return [(a, tape.div(b, square)), (b, tape.neg(tape.div(a, square)))]
    if operation == "pow":
        a, b = rest
        by_base = tape.mul(b, tape.power(a, tape.sub(b, one)))
        return [
            (a, by_base),
            *([] if tape.number(b) is not None else [(b, tape.mul(i, tape.fold("log", a)))]),
        ]
    if operation in ("floor", "ceil", "lt", "le", "eq", "ne", "and", "or", "not"):
        return []
    return [(rest[0], slope(tape, operation, rest[0], i))]


def slope(tape: Tape, operation: str, a: int, i: int) -> int:
    """Return the derivative of a function of one argument."""
    one = tape.constant(1.0)
    square = tape.mul(a, a)
    own = tape.mul(i, i)
    if operation == "sin":
        return tape.cosine(a)
    if operation == "cos":
        return tape.neg(tape.sine(a))
    if operation == "sqrt":  # flat at zero, as a length is to both sides
        return tape.select(
            tape.compare("eq", i, tape.constant(0.0)),
            tape.constant(0.0),
            tape.div(tape.constant(0.5), i),
        )
    if operation == "abs":
        return tape.select(tape.compare("lt", a, tape.constant(0.0)), tape.constant(-1.0), one)
    if operation == "exp":
        return i
    if operation == "log":
        return tape.div(one, a)
    if operation == "tan":
        return tape.add(one, own)
    if operation == "tanh":
        return tape.sub(one, own)
    if operation == "sinh":
        return tape.fold("cosh", a)
    if operation == "cosh":
        return tape.fold("sinh", a)
    if operation == "atan":
        return tape.div(one, tape.add(one, square))
    found = tape.div(one, tape.fold("sqrt", tape.sub(one, square)))
    return found if operation == "asin" else tape.neg(found)


def swept(tape: Tape, result: int, seed: int, wanted: Iterable[int]) -> dict[int, int]:
    """Return the derivatives of one result, times the seed, by the wanted nodes."""
    return sweep(tape, {result: seed}, wanted)


def below_selections(tape: Tape, live: Sequence[int]) -> set[int]:
    """Return the nodes that a branch of some selection needs, directly or indirectly."""
    found: set[int] = set()
    for i in reversed(live):
        node = tape.nodes[i]
        if i in found or node[0] == "select":
            found.update(node[2:] if node[0] == "select" and i not in found else arguments(node))
    return found


def sweep(tape: Tape, seeds: dict[int, int], wanted: Iterable[int]) -> dict[int, int]:
    """Return Σ seed ∂node/∂wanted over the seeded nodes, by one reverse sweep through the tape."""
    wanted = set(wanted)
    zero: int = tape.constant(0.0)
    live = alive(tape, seeds)
    depends = set(wanted)
    for i in live:
        if not depends.isdisjoint(arguments(tape.nodes[i])):
            depends.add(i)
    adjoint: dict[int, int] = dict(seeds)
    chosen = below_selections(tape, live)
    for i in reversed(live):
        if i not in adjoint or i not in depends or i in wanted:
            continue
        careful = i in chosen and tape.nodes[i][0] in SINGULAR
        for argument, partial in partials(tape, i):
            if argument in depends:
                share = tape.mul(adjoint[i], partial)
                if (
                    careful
                ):  # the branch that is not taken may have no slope here: nothing times infinity
                    share = tape.select(tape.compare("eq", adjoint[i], zero), zero, share)
                adjoint[argument] = (
                    tape.add(adjoint[argument], share) if argument in adjoint else share
                )
    return {i: adjoint.get(i, zero) for i in wanted}


def symbols_of(trace: Trace, by: Sequence[str] | str | None) -> list[tuple[str, int]]:
    """Return names and nodes of the symbols of differentiation; unused symbols have no node."""
    wanted = [by] if isinstance(by, str) else by
    found = []
    for group, names in trace.arguments.items():
        for k, name in enumerate(names):
            fixed = group == "parameters" and ("symbol", group, k) not in trace.tape.index
            if (wanted is None and not fixed) or (wanted is not None and name in wanted):
                if fixed:
                    raise ValueError(
                        f"'{name}' is a number in this trace: trace with parameters=\"symbols\""
                    )
                found.append((name, trace.tape.symbol(group, k, 0.0)))
    missing = set(wanted or ()) - {name for name, _ in found}
    if missing:
        raise KeyError(
            f"unknown: {', '.join(sorted(missing))}; there are {', '.join(sum(trace.arguments.values(), ()))}"
        )
    return found


def gradient(trace: Trace, by: Sequence[str] | str | None, of: Sequence[str] | str | None) -> Trace:
    """Return the derivatives of the results as a matrix, one row per result."""
    tape, columns = trace.tape, symbols_of(trace, by)
    chosen = [of] if isinstance(of, str) else list(trace.labels if of is None else of)
    rows = [(label, trace.results[trace.labels.index(label)]) for label in chosen]
    one = tape.constant(1.0)
    results = []
    for _, node in rows:
        slopes = swept(tape, node, one, [i for _, i in columns])
        results += [slopes[i] for _, i in columns]
    labels = [f"d {label} / d {name}" for label, _ in rows for name, _ in columns]
    shape = (len(rows), len(columns))
    return replace(
        trace,
        of=f"slopes of {trace.of}",
        results=finished(tape, results),
        labels=labels,
        shape=shape,
        symbol="slopes",
    )
