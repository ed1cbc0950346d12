"""Memory layout of a simulation unit: structures, stages, events and the arrays that a host sees.

Unit ints: the record UNIT, then one STAGE record per stage, then the blocks and tables they point to. Offsets count from the start of the unit's
ints, floats or work. Unit work: the record UNIT_HEAD, then the parts of PARTS one after another.
"""

from kinetree.solvers.fields import Field
from kinetree.solvers.integrate.kinds import CODES
from kinetree.solvers.records import Entry, Record
from kinetree.solvers.sampled.block_layout import BLOCK_RECORDS

UNIT_BODY = Record(
    "unit_body",
    "floats per body over all structures, ground axes",
    Entry("position", "of its origin", 3),
    Entry("velocity", "of its origin", 3),
    Entry("spin", "angular velocity", 3),
    Entry("rotation", "ground-from-body, row by row", 9),
)

EVENT = Record(
    "event",
    "floats: a logged event",
    Entry("time", "when"),
    Entry("kind", "E_STAGE or E_RESET"),
    Entry("stage", "present stage afterwards"),
    Entry("guard", "in the stage before"),
    Entry("before", "books: mass, momentum (3), energy", 5),
    Entry("after", "books afterwards", 5),
    Entry("count", "events that happened together"),
    Entry("spare", "unused"),
)

LOCATOR = Record(
    "locator",
    "floats: head of the memory of the root finder; then records GUARD_STATE, blocks of a number per guard, one state",
    Entry("guards", "number of guards"),
    Entry("states", "number of states"),
    Entry("checked", "time up to which the guards were checked"),
    Entry("event_time", "instant of the event found last"),
    Entry("chatter_interval", "events of one guard closer than this are chatter [s]"),
    Entry("chatter_count", "how many of them in a row are chatter"),
    Entry("events", "events found so far"),
    Entry("calls", "guard evaluations so far"),
    Entry("failed", "status of a guard evaluation that failed during a search"),
    Entry("slopes_at", "time for which the slopes at the end of the interval hold"),
    Entry("span", "longest part of a step that was found to resolve the guards; 0: none"),
    Entry("span_tried", "length of the part that is tried next; 0: as long as there is"),
    Entry(
        "unresolved",
        "shortest parts of late that did not resolve the guards, less what is forgiven",
    ),
)

GUARD_STATE = Record(
    "guard_state",
    "floats per guard: all that is known of it",
    Entry("direction", "+1: only upward crossings are events, -1: only downward, 0: both"),
    Entry(
        "watch", "0: looked at at ends of steps only; k > 0: slopes too, and k - 1 points inside"
    ),
    Entry("sampled", "1: it may come and go while the state stands still, which lets steps grow"),
    Entry("course", "GuardCourse"),
    Entry("sign", "sign before the next crossing; 0: not known yet"),
    Entry("phase", "GuardPhase"),
    Entry("band", "values up to this count as zero while the sign is not known, or LEAVING"),
    Entry("returned", "instant at which a guard of phase RETURNED came back to its bound"),
    Entry("last_time", "instant of its last event"),
    Entry("quick_events", "successive events that came too soon"),
    Entry(
        "unresolved_size",
        "values up to this are noise; SUSPECTED: the last shortest part was not resolved",
    ),
    Entry("mark", "GuardMark"),
    Entry("verdict", "GuardVerdict"),
    Entry("condition", "Condition before the present pass of the cascade"),
    Entry("noise", "values up to this lie on its bound at the present instant"),
    Entry("armed", "for hosts that integrate: 1 where it has been negative since its last event"),
)

CONDITION = Record(
    "condition",
    "floats per event of the description: what is known of it across a new start",
    Entry("condition", "Condition"),
    Entry("noise", "values up to this lie on its bound"),
)

# parts of the work block, sizes over numbers of columns, states, guards, bodies, inputs, parameters, events of the description and events that are
# logged; n: entries of y with the work of the loads; memory, locator, workspace: what the integrator, the locator and the largest structure need
PARTS = (
    Field("columns", "columns", "values of the columns"),
    Field("states", "states", "states of the union"),
    Field("rates", "states", "their rates"),
    Field("guards", "guards", "values of the guards of the present stage"),
    Field(
        "bodies",
        f"{UNIT_BODY.size}*bodies+3+parameters+inputs",
        "records UNIT_BODY; behind them parameters and inputs while the structure changes",
    ),
    Field("events", f"{EVENT.size}*logged", "log of events, records EVENT, a ring"),
    Field("locator", "locator", "record LOCATOR, records GUARD_STATE, memory of the root finder"),
    Field(
        "noted",
        "4*guards",
        "for hosts that integrate: which guards are armed, and directions of slip, from the step that is noted in the head on",
    ),
    Field("conditions", f"{CONDITION.size}*events", "records CONDITION per event"),
    Field("inputs", "inputs", "inputs as they were at the last evaluation of the integrator"),
    Field(
        "slopes",
        "inputs",
        "slopes of the inputs during the next advance, which clears them; 0: held",
    ),
    Field("given", "inputs", "inputs at the beginning of an advance"),
    Field(
        "curves",
        "4*inputs",
        "higher powers of the inputs during the next advance, layout.CURVE per input; read where `curved` is 1",
    ),
    Field("blocks", "blocks", "memory of sampled blocks"),
    Field("scratch", "n", "one y"),
    Field("trial", "2*n", "rates of two states"),
    Field("memory", "memory", "integrator memory"),
    Field("workspace", "workspace", "workspace of the present structure"),
)

UNIT = Record(
    "unit",
    "ints: the beginning of a unit",
    Entry("stages", "number of stages"),
    Entry("columns", "number of columns"),
    Entry("states", "number of continuous states of the union"),
    Entry("guards", "largest number of guards of a stage"),
    Entry("bodies", "number of bodies over all structures"),
    Entry("inputs", "number of inputs; their registers follow those of the parameters"),
    Entry("parameters", "number of parameters; their registers are 1.."),
    Entry("event_names", "number of events of the description"),
    Entry("logged", "events that the log remembers"),
    Entry("memory", "size of the integrator memory"),
    Entry("locator", "size of the memory of the event locator"),
    Entry("integrator", "code of the integrator"),
    Entry("form", "layout.Method by which the equations are resolved; 0: the default engine"),
    Entry("start_q", "first register of the start values of the coordinates, in stage 0"),
    Entry("start_u", "of the speeds"),
    Entry("start_x", "of the first-order states"),
    Entry("start_inputs", "of the inputs"),
    Entry("preset_inputs", "first register of what the description starts the inputs from"),
    Entry(
        "matrix_steps", "where the record of the matrices of a linear chain begins in ints; 0: none"
    ),
    Entry("blocks", "number of sampled blocks: predictive controllers, observers"),
    Entry("block_records", "in ints: records BLOCK"),
    Entry("ints_size", "length of ints"),
    Entry("floats_size", "length of floats"),
    Entry("work_size", "length of work"),
    *(Entry(f"at_{part.name}", f"in work: {part.text}") for part in PARTS),
)

STAGE = Record(
    "stage",
    "ints: one stage of a unit",
    Entry("ints", "where the ints of its structure begin"),
    Entry("floats", "where its floats begin"),
    Entry("columns", "in ints: register of every column, or -1"),
    Entry("states", "in ints: index in y = (q, u, x) of every state of the union, or -1"),
    Entry("bodies", "in ints: number in this structure of every body, or -1"),
    Entry("guards", "number of guards"),
    Entry("transition", "in ints: transition that leads into this stage, or -1"),
)

TRANSITION = Record(
    "transition",
    "ints: how a stage is entered from the one before; its lists follow one after another",
    Entry("set", "number of parameters set: their registers"),
    Entry("freed", "number of freed bodies: their numbers"),
    Entry("locked", "number of locked states: records LOCKED"),
    Entry("jump", "1 when speeds may jump (locks, closed loops)"),
)

LOCKED = Record(
    "locked",
    "ints: a locked state",
    Entry("state", "state of the union"),
    Entry("register", "its register in the new structure"),
)

UNIT_HEAD = Record(
    "unit_head",
    "floats: the beginning of the work block of a unit",
    Entry("time", "present time"),
    Entry("stage", "present stage, from 0"),
    Entry("events", "events so far"),
    Entry("event_time", "time of the last event"),
    Entry("steps", "integrator steps so far"),
    Entry("energy", "energy at the last evaluation"),
    Entry(
        "energy_residual",
        "energy now minus energy at the start minus work of non-conservative forces and drives",
    ),
    Entry("constraint_residual", "largest violation of loop constraints"),
    Entry("status", "last status"),
    Entry("item", "which body, register or guard it means"),
    Entry("relative", "relative tolerance"),
    Entry("absolute", "absolute tolerance"),
    Entry("step", "step of fixed-step integrators"),
    Entry("largest_step", "0: no bound"),
    Entry("started", "1 once the integrator is started in the present structure"),
    Entry(
        "kind", "code of the integrator at work; differs from that of the unit when that is AUTO"
    ),
    Entry(
        "energy_start",
        "energy of motion and weight when the books were opened, less the work since",
    ),
    Entry("work", "work of all loads since then"),
    Entry("refresh", "steps between two Jacobians of the semi-implicit method; 0: explicit"),
    Entry("soft", "1: integrators may step past the target (inputs do not change)"),
    Entry("given_at", "time of the beginning of an advance with slopes"),
    Entry("knot", "corner of the laws of time at which the last step ended"),
    Entry("turned", "the corner that was turned last"),
    Entry("next", "model exchange: the corner of the laws of time that is announced to the host"),
    Entry("pending", "Pending: what the next advance goes on with"),
    Entry(
        "told",
        "events of the log that the caller has taken over, for advances that stop before the log is full",
    ),
    Entry("budget", "steps that one advance may take"),
    Entry("used", "steps of the present or last advance"),
    Entry("cancel", "set by others while an advance runs: stop between two steps with CANCELLED"),
    Entry(
        "fastest", "after an advance: estimate of the largest rate of the motion, 1/s; 0: unknown"
    ),
    Entry("last_step", "after an advance: its last step, s"),
    Entry("curved", "1: the next advance reads the curves of the inputs"),
    Entry(
        "noted",
        "model exchange: time of a step that the host has completed and may take back; infinity: none",
    ),
    Entry("settled", "model exchange: when event mode ended last"),
    Entry("looked_at", "time at which the progress of the steps was looked at last"),
    Entry("sampled", "the sampled block that is carried out"),
    Entry("jumps", "successive looks that found the motion at a jump of its rates"),
)

RECORDS = (
    UNIT,
    STAGE,
    TRANSITION,
    LOCKED,
    UNIT_BODY,
    UNIT_HEAD,
    EVENT,
    LOCATOR,
    GUARD_STATE,
    CONDITION,
    *BLOCK_RECORDS,
)
ROWS = {
    record.name: record
    for record in (
        STAGE,
        TRANSITION,
        LOCKED,
        UNIT_BODY,
        EVENT,
        GUARD_STATE,
        CONDITION,
        *BLOCK_RECORDS,
    )
}

PENDING_EVENT, PENDING_REST = (
    1,
    2,
)  # `pending`: an event is located but not carried out; the rest of an advance that stopped after an event
KINDS = CODES  # integrators by name
# option bits of unit_advance: return after the first event, the inputs keep the values they have reached; return before an event is carried out and
# again after it, the same call once more goes on; this is a further part of one communication step, what actuators hold stays;
# return when half of the log of events is new to the caller, the same call once more goes on
STOP_AT_EVENT, STOP_AROUND_EVENT, CONTINUED, STOP_BEFORE_FULL = 1, 2, 4, 8
E_STAGE, E_RESET = 0, 1  # kinds of logged events
