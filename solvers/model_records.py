"""Records of the compiled model and of the workspace. Part of the reference in `layout.py`, which
re-exports everything here.
"""

from kinetree.solvers.records import Entry, Record

HEADER = Record(
    "header",
    "ints: the beginning of a compiled model; directories and fields follow",
    Entry("nq", "number of coordinates"),
    Entry("nu", "number of speeds"),
    Entry("inputs", "number of inputs"),
    Entry("registers", "number of registers"),
    Entry("sensors", "number of sensors"),
    Entry("forces", "number of force records"),
    Entry("guards", "number of guards"),
    Entry("latches", "number of latches"),
    Entry("probes", "number of probes"),
    Entry("knots", "number of corners of expressions of time"),
    Entry("followed", "number of inputs that couplings follow"),
    Entry("r_inputs", "first register of the inputs"),
    Entry("r_q", "first register of the coordinates"),
    Entry("r_u", "first register of the speeds"),
    Entry("r_x", "first register of the first-order states"),
    Entry("phase", "start of the instructions of phases 0..4 in `code`, and their end", 6),
    Entry("gravity", "register of the gravity vector"),
    Entry(
        "late_sensors",
        "first sensor that needs accelerations and is needed by laws, rates or guards",
    ),
    Entry(
        "idle_sensors",
        "first sensor that nothing but a result reads: it is measured when outputs are asked for",
    ),
    Entry("reactions", "1 when some sensor needs reactions"),
    Entry("late_guards", "1 when guards need accelerations"),
    Entry(
        "own_tangents",
        "number of elements whose speeds are not the derivatives of their coordinates",
    ),
    Entry("given", "1 when some joint has a given motion"),
    Entry(
        "own",
        "address of straight-line code for the right-hand side, written by the owner of the block; 0: there is none",
    ),
    Entry("sequence", "1 when impacts of one instant come one after another"),
    Entry("ints_size", "length of the ints block"),
    Entry("floats_size", "length of the floats block"),
    Entry("work_size", "length of the work block"),
)

HEAD = Record(
    "head",
    "floats: the beginning of a workspace, counters and flags of an instance",
    Entry("item", "which body, register or row a status means"),
    Entry("wrench", "1 when `wrench` holds anything but zeros"),
    Entry("extra", "1 when `extra` holds anything but zeros"),
    Entry("kinetic", "kinetic energy of the last `outputs`"),
    Entry("potential", "potential energy of the last `outputs`"),
    Entry(
        "sloped",
        "1 while inputs are given + slope (t - given_at) instead of held, 2 with the higher powers of `curve`",
    ),
    Entry("given_at", "time at which the inputs had the values of `given`"),
    Entry(
        "on_constraints",
        "1: right-hand sides are those of the state projected onto the loop constraints",
    ),
    Entry("form", "Method by which a run resolves its equations; 0: the default engine"),
    Entry(
        "sided",
        "1: the laws of time are read at instants between the next two: at a corner, from one side",
    ),
    Entry("read_from", "the earlier one"),
    Entry("read_until", "the later one"),
    Entry(
        "damped",
        "1: the factors of the loops are damped, as at impacts: responses on closed loops are corrected once",
    ),
    Entry(
        "carried",
        "1: the wrenches of the loop constraints have joined the bias of the bodies, as reactions need it",
    ),
    Entry(
        "factored",
        "1: rows and factor of the loops are those of the accelerations evaluated last, clear of singular positions",
    ),
    Entry(
        "stabilised", "1: accelerations pull open loops closed, for hosts that integrate themselves"
    ),
    Entry(
        "held",
        "what Hq holds: 0 nothing, 1 an approximate inverse (ITR), 2 the factors of the direct variant",
    ),
    Entry("iterations", "ITR: iterations of the last evaluation"),
    Entry("refactored", "ITR: refactorisations since the start"),
    Entry("fallbacks", "ITR: evaluations since the start that needed the line search (2.33)"),
    Entry("itr_tolerance", "relative residual at which ITR stops; 0: rounding level"),
    Entry("sweeps", "ITR multiplies by M by two sweeps (1) or by rows of blocks (0)"),
)

SENSOR = Record(
    "sensor",
    "ints: a measured quantity",
    Entry("kind", "Sensor"),
    Entry("register", "where its value goes"),
    Entry("a", "body a, or the number of the speed or row of couplings that is told"),
    Entry("point_a", "register of a point of body a, or -1"),
    Entry("b", "body b; of a reaction the child of the joint"),
    Entry(
        "point_b",
        "register of a point of body b, or -1; of a reaction 1 where the tree uses the joint from its child to its parent",
    ),
    Entry(
        "axis",
        "component 0, 1, 2 or length 3; WHOLE: all components, to consecutive registers; of a quaternion 0-3",
    ),
    Entry("frame", "0: ground axes, 1: axes of body a"),
)

MODAL = Record(
    "modal",
    "ints: a floating frame with modal coordinates",
    Entry("body", "the body that is the frame"),
    Entry("coordinate", "its first modal coordinate"),
    Entry("speed", "its first modal speed"),
    Entry("count", "number of modes"),
    Entry("data", "first of its numbers in `modal_data`"),
    Entry("work", "first of its numbers in `modes`"),
    Entry("face", "its first interface"),
    Entry("faces", "number of its interfaces"),
    Entry("second", "1: its numbers have terms of second order"),
)

FACE = Record(
    "face",
    "ints: an interface of a floating frame",
    Entry("body", "the body that is the interface"),
    Entry("data", "first of its numbers in `modal_data`"),
    Entry("work", "first of its numbers in `modes`"),
)

FORCE = Record(
    "force",
    "ints: a force element; what its kind does not use is 0",
    Entry("kind", "Force"),
    Entry("speed", "speed along which a generalised force acts"),
    Entry("a", "body a"),
    Entry("point_a", "register of a point of body a"),
    Entry("b", "body b"),
    Entry("point_b", "register of a point of body b"),
    Entry("value", "register of a scalar; of a line: positive pushes the points apart"),
    Entry("force", "register of a vector, or -1"),
    Entry("moment", "register of a vector, or -1"),
    Entry("frame", "of both vectors. 0: ground axes, 1: axes of body a"),
)

GUARD = Record(
    "guard",
    "ints: an event is a change of the guard to a positive value",
    Entry("register", "of its value"),
    Entry("kind", "Guard: what happens"),
    Entry(
        "action", "first of its actions; of a jump the register that tells its law the side, or -1"
    ),
    Entry("actions", "number of its actions"),
    Entry(
        "event",
        "number of the event in the description; for the end of a stage -1 minus the register of its condition",
    ),
    Entry("timed", "1: it runs evenly with time between events, as that of a sample does"),
)

ACTION = Record(
    "action",
    "ints: what an event sets",
    Entry("entry", "index in y = (q, u, x), or -1"),
    Entry("parameter", "register of a parameter, or -1"),
    Entry("value", "register of the new value"),
)

LATCH = Record(
    "latch",
    "ints: a number that is held from the beginning of an advance on",
    Entry("source", "register"),
    Entry("kept", "register that holds its value"),
)

PROBE = Record(
    "probe",
    "ints: an effective mass, found by one more evaluation",
    Entry("force", "register of an additional force, 0 but during probing"),
    Entry("acceleration", "register of the acceleration along it"),
    Entry("mass", "register of the effective mass"),
)

KNOT = Record(
    "knot",
    "ints: a corner of an expression of time",
    Entry("kind", "Knot"),
    Entry("argument", "register of its argument"),
    Entry("pace", "register of the argument's rate"),
    Entry("detail", "table, or register of the spacing"),
    Entry(
        "motion",
        "1 where a given motion or a coupling depends on it, so that speeds may jump; ANNOUNCED: an event comes there",
    ),
)

ARM = Record(
    "arm",
    "ints: how a coupling, or a row of a contact, depends on the velocity of a point and the spin of a body",
    Entry("entry", "of the body among the group's paths; -1 for contacts"),
    Entry("body", "the body"),
    Entry("point", "register of the point, body axes"),
    Entry("by_velocity", "register of the derivative by the velocity of the point"),
    Entry("by_spin", "register of the derivative by the spin"),
)

FOLLOWED = Record(
    "followed",
    "ints: an input that couplings follow",
    Entry("input", "its number"),
    Entry("rate", "register of its first derivative"),
    Entry("bend", "register of its second derivative"),
)

TABLE = Record(
    "table",
    "ints: a table of one or two variables",
    Entry("kind", "0: linear, 1: cubic"),
    Entry("outside", "0: clamped, 1: extrapolated"),
    Entry("nx", "grid points along the first axis"),
    Entry("ny", "along the second; 0: one variable"),
    Entry("data", "where its grids and values begin in `table_data`"),
    Entry("spare", "unused"),
)

INSTRUCTION = Record(
    "instruction",
    "ints: a step of a register program",
    Entry("op", "Op"),
    Entry("dst", "register of the result"),
    Entry("a", "first operand"),
    Entry("b", "second operand"),
    Entry("c", "third operand"),
)

BODY = Record(
    "body",
    "floats per body in `body`: derived by `prepare` from registers, body axes",
    Entry("mass", "mass"),
    Entry("h", "m*com", 3),
    Entry("J", "tensor about O_i: xx xy xz yy yz zz", 6),
    Entry("E", "folded constant part of the joint: rotation parent-from-joint, row by row", 9),
    Entry("r", "its shift in parent axes", 3),
    Entry("axis", "axis of the joint", 3),
    Entry("spare", "fills whole cache lines", 7),
)

ELEMENT = Record(
    "element",
    "floats per element in `elem`: derived by `prepare`",
    Entry("axis", "unit axis or constant shift", 3),
    Entry("factor", "of the coordinate"),
    Entry("matrix", "constant rotation parent-from-child", 9),
    Entry("spare", "fills whole cache lines", 3),
)

ROW = Record(
    "row",
    "floats per body in `row`: the fast path, world axes, moments about O_i",
    Entry("R", "rotation ground-from-body", 9),
    Entry("om", "angular velocity", 3),
    Entry("al", "angular acceleration at u̇ = 0", 3),
    Entry("a0", "acceleration of O_i at u̇ = 0, minus gravity", 3),
    Entry("J", "articulated inertia: moment by angular acceleration", 6),
    Entry("H", "moment by linear acceleration", 9),
    Entry("M", "force by linear acceleration", 6),
    Entry("N", "bias moment", 3),
    Entry("F", "bias force", 3),
    # what the way back from root to leaves reads and writes lies together
    Entry("d", "O_i - O_kappa", 3),
    Entry("da", "increment of angular acceleration by u̇", 3),
    Entry("db", "increment of linear acceleration by u̇", 3),
    Entry("p", "position of O_i, filled by `engine.kinematics.positions`", 3),
    Entry("v", "velocity of O_i, filled there", 3),
    Entry(
        "vh", "explicit-time part of the velocity of O_i relative to the parent: angular, linear", 6
    ),
    Entry("inv", "inverse of the eliminated block of a ball", 6),
)

COLUMN = Record(
    "column",
    "floats per speed in `col`",
    Entry("l", "linear part of A_j at O_i", 3),
    Entry("a", "angular part", 3),
    Entry("un", "U_j, moment", 3),
    Entry("uf", "U_j, force", 3),
    Entry("inv", "1/D_j"),
    Entry("g", "g_j"),
    Entry("spare", "fills whole cache lines", 2),
)

RECORDS = (
    HEADER,
    HEAD,
    SENSOR,
    FORCE,
    GUARD,
    ACTION,
    LATCH,
    PROBE,
    KNOT,
    ARM,
    FOLLOWED,
    TABLE,
    INSTRUCTION,
    BODY,
    ELEMENT,
    ROW,
    COLUMN,
)
# tables of records, by what cuts one out: `sensor(model.sensors, k)`
ROWS = {
    record.name: record
    for record in (
        SENSOR,
        MODAL,
        FACE,
        FORCE,
        GUARD,
        ACTION,
        LATCH,
        PROBE,
        KNOT,
        ARM,
        FOLLOWED,
        TABLE,
        INSTRUCTION,
    )
}
