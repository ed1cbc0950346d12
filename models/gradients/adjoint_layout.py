"""Memory layout of gradients: what the entry points that step forwards and backwards through a run
read and write.

One call processes a block of steps in one structure. Ints: the record ADJOINT. Work: the record
ADJOINT_HEAD, then the parts of PARTS.
"""

from kinetree.solvers.fields import Field
from kinetree.solvers.records import Entry, Record

# sizes over n: states, given: inputs, parameters and held numbers, targets, capacity: steps of a block
PARTS = (
    Field("targets", "targets", "instants that steps end at"),
    Field("given", "given", "inputs, then parameters and held numbers"),
    Field("curves", "6*inputs", "inputs as polynomials of the time since `origin`"),
    Field("times", "capacity+1", "beginnings of the steps, and the end of the last"),
    Field("anchors", "capacity", "Anchor: what the step's instants depend on"),
    Field(
        "path",
        "5*n*(capacity+1)",
        "per step: state before it, arguments of its evaluations or its increments, state after it before loops are closed",
    ),
    Field(
        "adjoint", "n", "slopes of the result by the state at the step that was reached backwards"
    ),
    Field("slopes", "given", "slopes of the result by the given numbers, so far"),
    Field("pair", "3*n", "a state, and what multiplies slopes there"),
    Field("out", "n+1+given", "slopes by states, time and given numbers"),
    Field("scratch", "8*n", "numbers of one step"),
    Field("matrices", "2*n*n", "Jacobian and factors of the linearly implicit method"),
    Field(
        "sides", "2*sides", "sides of their bounds on which conditions of laws stand, two states"
    ),
    Field("crossed", "capacity", "steps over which a condition of a law changes"),
)
ADJOINT = Record(
    "adjoint",
    "ints: a block of steps",
    Entry("rates", "address of the right-hand side"),
    Entry("back", "address of the products with its transposed slopes"),
    Entry("bend", "address of the slopes of w J v, which the linearly implicit method needs"),
    Entry("close", "address of the projection onto loops; 0: none"),
    Entry("open", "address of the products with its transposed slopes"),
    Entry("stand", "address of the sides on which conditions of laws stand; 0: there are none"),
    Entry("method", "code of the integrator"),
    Entry("n", "states"),
    Entry("given", "given numbers"),
    Entry("inputs", "inputs among them"),
    Entry("curved", "1: inputs move"),
    Entry("targets", "number of targets"),
    Entry("capacity", "steps that a block holds"),
    Entry("sides", "number of conditions of laws"),
    *(Entry(f"at_{part.name}", f"in work: {part.text}") for part in PARTS),
)
ADJOINT_HEAD = Record(
    "adjoint_head",
    "floats: the beginning of the work of a block",
    Entry("time", "time reached"),
    Entry("step", "size of a full step"),
    Entry("base", "where the grid of steps begins"),
    Entry("counted", "steps since then"),
    Entry("moves", "1: the grid begins at an event, whose instant depends on parameters"),
    Entry("next", "first target that was not reached"),
    Entry("stop", "no step begins at or after this time"),
    Entry("steps", "steps of the block"),
    Entry("lowest", "backwards: the step to stop at"),
    Entry("highest", "backwards: the step to begin before"),
    Entry("origin", "where the time of the curves begins"),
    Entry("shift", "slope of the result by the instant at which the grid begins"),
    Entry("crossings", "number of steps over which a condition of a law changes"),
)
FIXED, MOVING, ENDING = (
    0,
    1,
    2,
)  # anchor of a step: a fixed grid; the grid of an event; its last step, which ends at a target

RECORDS = (ADJOINT, ADJOINT_HEAD)
