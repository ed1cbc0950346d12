"""Translates the specialised code of one mechanism to C99."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.models.equations.c import MOD, SPELL, c_number
from kinetree.models.equations.printer import Language, Printer
from kinetree.models.specialised.specialised_rates import Motion
from kinetree.models.trace.function_splitting import Block, blocks
from kinetree.models.trace.operations import CONDITIONS
from kinetree.solvers.integrate.kinds import INTEGRATORS

INTEGRATORS_BY_NAME = {method.name: method for method in INTEGRATORS}
ARGUMENTS = "double t, const double *y, const double *val, double *ydot"
BLOCK, WHOLE = (
    1_000,
    2_000,
)  # statements of a block, and those that stay together, of a few operations each
HEAD = """#include <math.h>

#include "engine.h"

"""


def own_text(motions: Sequence[Motion | str]) -> str:
    """Return the C file: one function for every structure with specialised code, and the table of
    functions.
    """
    functions = [
        function(f"own_{k}", each) for k, each in enumerate(motions) if isinstance(each, Motion)
    ]
    names = [f"own_{k}" if isinstance(each, Motion) else "NULL" for k, each in enumerate(motions)]
    table = f"extern const OwnCode kt_own_table[];\nconst OwnCode kt_own_table[] = {{{', '.join(names)}}};\n"
    whole = "\n".join(functions)
    return HEAD + (MOD if "kt_mod(" in whole else "") + whole + "\n" + table


class Lines:
    """C code of one structure: its statements, results and validity conditions, divided into
    blocks.
    """

    def __init__(self, motion: Motion):
        self.motion, self.trace = motion, motion.trace

        def symbol(group: str, k: int) -> str:
            return (
                "t"
                if group == "t"
                else f"{motion.places[group][k].array}[{motion.places[group][k].at}]"
            )

        self.printer = Printer(self.trace, Language(symbol, c_number, SPELL))
        self.results = [self.home(i) for i in self.trace.results]
        self.watches = [self.home(i) for i, _ in self.trace.watches]

    def home(self, i: int) -> int:
        """Return the index of the statement after which a result or a condition can be written; -1
        if it needs none.
        """
        return i if i in self.printer.assigned else max(self.printer.needs(i), default=-1)

    def blocks(self) -> tuple[list[Block], int]:
        """Return the statements with their results and conditions, divided into blocks."""
        order = sorted(self.printer.assigned)
        needs = {i: self.printer.needs(i) for i in order}
        for home, i in [
            *zip(self.results, self.trace.results, strict=True),
            *zip(self.watches, (i for i, _ in self.trace.watches), strict=True),
        ]:
            if home != i and home >= 0:
                needs[home] |= self.printer.needs(i) - {home}
        return blocks(order, {i: sorted(each) for i, each in needs.items()}, BLOCK, WHOLE)

    def kind(self, i: int) -> str:
        return "const int" if self.trace.tape.nodes[i][0] in CONDITIONS else "const double"

    def body(self, block: Block, first: bool) -> list[str]:
        """Return the body of the function of one block."""
        printer, names, inside = (
            self.printer,
            self.printer.assigned,
            {*block.items, *([-1] if first else [])},
        )
        lines = [
            f"{self.kind(i)} {names[i]} = kept[{k}]{' != 0.0' if 'int' in self.kind(i) else ''};"
            for i, k in sorted(block.reads.items())
        ]
        lines += [f"{self.kind(i)} {names[i]} = {printer.expression(i)[0]};" for i in block.items]
        lines += [f"kept[{k}] = {names[i]};" for i, k in sorted(block.writes.items())]
        own = [k for k, home in enumerate(self.results) if home in inside]
        lines += [f"ydot[{k}] = {printer.result(self.trace.results[k])};" for k in own]
        known = self.motion.parameters if first else []
        conditions = [
            f"val[{register}] == {c_number(value)}" for register, value in known if value == value
        ]
        watched = [
            watch
            for watch, home in zip(self.trace.watches, self.watches, strict=True)
            if home in inside
        ]
        conditions += [
            printer.result(i) if outcome else f"!({printer.result(i)})" for i, outcome in watched
        ]
        lines += [f"if (!({' && '.join(conditions)})) return 1;"] if conditions else []
        return [*lines, f"return {' + '.join(f'0.0 * ydot[{k}]' for k in own) or '0.0'} != 0.0;"]


def function(name: str, motion: Motion) -> str:
    """Return the C functions of one structure, one per block and one that calls them."""
    lines = Lines(motion)
    found, places = lines.blocks()
    several, texts = (
        len(found) > 1,
        [f"/* {motion.trace.operations} operations, {motion.trace.form} */"],
    )
    for number, block in enumerate(found):
        own, more = (f"{name}_{number}", ", double *kept") if several else (name, "")
        body = [
            "(void)t, (void)y, (void)val, (void)ydot;",
            *(["(void)kept;"] if several else []),
            *lines.body(block, number == 0),
        ]
        texts += [
            f"static int32_t {own}({ARGUMENTS}{more})",
            "{",
            *(f"    {each}" for each in body),
            "}",
            "",
        ]
    if several:
        calls = " || ".join(
            f"{name}_{number}(t, y, val, ydot, kept)" for number in range(len(found))
        )
        texts += [
            f"static int32_t {name}({ARGUMENTS})",
            "{",
            f"    double kept[{max(1, places)}];",
            f"    return {calls};",
            "}",
            "",
        ]
    return "\n".join(texts)


def work_of(motions: Sequence[Motion | str], integrator: str) -> str:
    """Return a text on the largest number of operations of a step."""
    sizes = [each.trace.operations for each in motions if isinstance(each, Motion)]
    why = sorted({each for each in motions if isinstance(each, str)})
    if why or not sizes:
        return f"the general engine evaluates {len(motions) - len(sizes)} of {len(motions)} structures: {'; '.join(why)}"
    evaluations = INTEGRATORS_BY_NAME[integrator].evaluations
    step = (
        f", {int(evaluations) * max(sizes)} operations between events"
        if evaluations.isdigit()
        else ""
    )
    return f"right-hand sides of at most {max(sizes)} operations; a step by {integrator} takes {evaluations} evaluations{step}"
