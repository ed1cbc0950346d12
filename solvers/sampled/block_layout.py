"""Memory layout of sampled blocks: predictive controllers and observers that a unit contains, each
with a model of its own.

Ints of the unit: records BLOCK, and for each block its own record, lists of registers and the ints
of its inner model. Floats: scaling factors, constants and the floats of the inner model. Work: the
memory of the block, parts one after another; its first value is 1 once it has started.
"""

from kinetree.solvers.fields import Field
from kinetree.solvers.records import Entry, Record

BLOCK = Record(
    "block",
    "ints: a sampled block of a unit",
    Entry("kind", "PREDICTIVE_BLOCK or OBSERVER_BLOCK"),
    Entry("event", "number of the event in the description that carries it out"),
    Entry("stage", "stage in which it does"),
    Entry("own", "where its own record begins in ints"),
    Entry("ints", "where its inner model begins in ints"),
    Entry("floats", "where its inner model begins in floats"),
    Entry("numbers", "where its own floats begin in floats"),
    Entry("work", "where its memory begins in the memory of all blocks"),
    Entry("reads", "in ints: registers of the unit that it reads, -1: none"),
    Entry("gives", "in ints: entries of y that it writes"),
)  # fmt: skip
PREDICTIVE_BLOCK, OBSERVER_BLOCK = 1, 2

# memory of a predictive controller; n states, m commands, N steps of the horizon, z = N m, no outputs (errors, then limits), nl limits, p = N nl
PREDICTIVE_PARTS = (
    Field("plan", "z", "planned commands, step by step"),
    Field("start", "n", "scaled state at the sample"),
    Field("last", "m", "commands before the sample"),
    Field("state", "n", "scaled state along the plan"),
    Field("rates", "n", "its rates"),
    Field("seen", "no", "outputs"),
    Field("F", "n*n", "slopes of rates by the state"),
    Field("G", "n*m", "by the commands"),
    Field("C", "no*n", "slopes of outputs by the state"),
    Field("D", "no*m", "by the commands"),
    Field("A", "n*n", "transition over a part of a step"),
    Field("P", "n*n", "its integral"),
    Field("B", "n*m", "what a held command does in it"),
    Field("X", "n*z", "slopes of the state by the plan"),
    Field("other", "n*z", "scratch"),
    Field("S", "N*no*z", "slopes of the outputs by the plan, step by step"),
    Field("values", "N*no", "outputs, step by step"),
    Field(
        "settings",
        "(N+1)*ns",
        "settings, step by step: TIMES, then PER_COMMAND, PER_ERROR, PER_LIMIT numbers for each",
    ),
    Field("H", "z*z", "Hessian"),
    Field("g", "z", "gradient"),
    Field("change", "z", "change of the plan"),
    Field("rows", "p*z", "rows of limits"),
    Field("bounds", "3*(2*z+p)", "low, high and compliance of all rows"),
    Field("scratch", "scratch", "scratch of slopes, exponentials and the program"),
    Field("inner", "inner", "workspace of the inner model"),
)
PREDICTIVE = Record(
    "predictive",
    "ints: a predictive controller",
    Entry("n", "states of the inner model: coordinates, speeds, first-order states"),
    Entry("m", "commands"),
    Entry("horizon", "steps that are looked ahead"),
    Entry("parts", "parts of a step in which it is predicted"),
    Entry("errors", "outputs that are squared and summed"),
    Entry("limits", "outputs with limits"),
    Entry("passes", "linearisations per sample"),
    Entry(
        "copied",
        "registers that the inner model takes over: parameters, inputs, locked coordinates",
    ),
    Entry("pairs", "in ints: these registers outside and inside, one after the other"),
    Entry("commands", "in ints: registers of the commands in the inner model"),
    Entry("outputs", "in ints: registers of errors, then of limited outputs"),
    Entry("settings", "in ints: registers of the settings"),
    Entry("set", "how many settings there are"),
    Entry("terminal", "1: a matrix of weights at the end follows the sizes in floats"),
    *(Entry(f"at_{part.name}", f"in memory: {part.text}") for part in PREDICTIVE_PARTS),
)
# memory of an observer; n states and w estimated registers (of the stage that has most), N = n + w, no outputs (readings, then estimates)
OBSERVER_PARTS = (
    Field("state", "N", "scaled state, and scaled estimated registers"),
    Field("covariance", "N*N", "of the scaled estimate"),
    Field("time", "1", "of the last sample"),
    Field("squared", "1", "mean squared normalised innovation of the last sample"),
    Field("rates", "n", "rates of the scaled state"),
    Field("moved", "n", "change of the state over a period"),
    Field("seen", "no", "outputs"),
    Field("F", "n*n", "slopes of rates by the state"),
    Field("G", "n*w", "by the estimated registers"),
    Field("C", "no*n", "slopes of outputs by the state"),
    Field("D", "no*w", "by the estimated registers"),
    Field("A", "n*n", "transition over a period"),
    Field("P", "n*n", "its integral"),
    Field("B", "n*w", "what the estimated registers do in a period"),
    Field("whole", "N*N", "transition of the estimate"),
    Field("other", "N*N", "scratch"),
    Field("change", "N", "correction"),
    Field("gain", "N", "covariance of estimate and reading"),
    Field("row", "N", "slopes of one output"),
    Field("scratch", "scratch", "scratch of slopes and exponentials"),
    Field("kept", "inner", "copy of the inner model while its structure changes"),
    Field(
        "inner", "inner", "work block of the inner model, a unit with the stages of the mechanism"
    ),
)
OBSERVER = Record(
    "observer",
    "ints: an observer in one stage",
    Entry("n", "states of the inner model: coordinates, speeds, first-order states"),
    Entry("w", "estimated registers: parameters, unknown inputs, biases, locked coordinates"),
    Entry("readings", "readings"),
    Entry("outputs_count", "readings and estimates"),
    Entry("copied", "registers that the inner model takes over"),
    Entry("pairs", "in ints: these registers outside and inside, one after the other"),
    Entry("estimated", "in ints: estimated registers of the inner model"),
    Entry(
        "outputs",
        "in ints: registers of the expected readings, then of the estimates; -1: not there",
    ),
    Entry(
        "origins",
        "in ints: which number of the estimate in the stage before every estimated register was",
    ),
    Entry("starts", "in ints: registers outside of the start values; -1: among its floats"),
    *(Entry(f"at_{part.name}", f"in memory: {part.text}") for part in OBSERVER_PARTS),
)
# floats of an observer: sizes, starts, standard deviations there and densities of noise (N each), noise of the readings, limits (2 w)

# settings by registers: period, step, delay; per command low, high, rate, target, weight, rate weight;
# per error weight, final weight; per limit low, high, stiffness
PER_COMMAND, PER_ERROR, PER_LIMIT, TIMES = 6, 2, 3, 3
LOW, HIGH, RATE, TARGET, WEIGHT, RATE_WEIGHT = 0, 1, 2, 3, 4, 5
BEGUN = 1  # numbers of the memory before its parts

BLOCK_RECORDS = (BLOCK, PREDICTIVE, OBSERVER)
LAYOUTS = {PREDICTIVE_BLOCK: PREDICTIVE, OBSERVER_BLOCK: OBSERVER}
