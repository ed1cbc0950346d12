"""Straight-line right-hand sides of a mechanism in C99: what a source FMU steps by while its parameters are as packed."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.models.equations.c import MOD, SPELL, c_number
from kinetree.models.equations.printer import Language, Printer
from kinetree.models.specialised.motion import Motion
from kinetree.solvers.integrate.kinds import INTEGRATORS

INTEGRATORS_BY_NAME = {method.name: method for method in INTEGRATORS}
HEAD = """#include <math.h>

#include "engine.h"

"""


def own_text(motions: Sequence[Motion | str]) -> str:
    """The file: a function for every structure that has operations, and the table of them."""
    functions = [function(f"own_{k}", each) for k, each in enumerate(motions) if isinstance(each, Motion)]
    names = [f"own_{k}" if isinstance(each, Motion) else "NULL" for k, each in enumerate(motions)]
    table = f"extern const OwnCode kt_own_table[];\nconst OwnCode kt_own_table[] = {{{', '.join(names)}}};\n"
    whole = "\n".join(functions)
    return HEAD + (MOD if "kt_mod(" in whole else "") + whole + "\n" + table


def function(name: str, motion: Motion) -> str:
    """One structure."""
    trace = motion.trace

    def symbol(group: str, k: int) -> str:
        return "t" if group == "t" else f"{motion.places[group][k].array}[{motion.places[group][k].at}]"

    printer = Printer(trace, Language(symbol, c_number, SPELL))
    body = [f"    const {'int' if each.condition else 'double'} {each.name} = {each.text};" for each in printer.statements()]
    conditions = [f"val[{register}] == {c_number(value)}" for register, value in motion.parameters if value == value]
    conditions += [printer.watched(" && ")] if trace.watches else []
    results = [f"    ydot[{k}] = {printer.result(i)};" for k, i in enumerate(trace.results)]
    finite = " + ".join(f"0.0 * ydot[{k}]" for k in range(len(trace.results)))
    return "\n".join(
        [
            f"/* {trace.operations} operations, {trace.form} */",
            f"static int32_t {name}(double t, const double *y, const double *val, double *ydot)",
            "{",
            "    (void)t, (void)y, (void)val;",
            *body,
            *results,
            *([f"    if (!({' && '.join(conditions)})) return 1;"] if conditions else []),
            f"    return {finite} != 0.0;",
            "}",
            "",
        ]
    )


def work_of(motions: Sequence[Motion | str], integrator: str) -> str:
    """What a step costs at most, between events."""
    sizes = [each.trace.operations for each in motions if isinstance(each, Motion)]
    why = sorted({each for each in motions if isinstance(each, str)})
    if why or not sizes:
        return f"the general engine evaluates {len(motions) - len(sizes)} of {len(motions)} structures: {'; '.join(why)}"
    evaluations = INTEGRATORS_BY_NAME[integrator].evaluations
    step = f", {int(evaluations) * max(sizes)} operations between events" if evaluations.isdigit() else ""
    return f"right-hand sides of at most {max(sizes)} operations; a step by {integrator} takes {evaluations} evaluations{step}"
