"""Memory layout reference: every array of the compiled model and of the workspace, with its shape,
frame and unit.

Pure data, importing this module costs nothing. `views.py` cuts the flat blocks by these tables,
`models/compile.py` fills them.

Symbols follow the literature: q coordinates, u speeds, x first-order states, N bodies, n speeds
(degrees of freedom), kappa parents. Ground axes unless a line says body axes. A row "k per body"
has N+1 rows, row 0 is the ground.
"""

from enum import IntEnum

from kinetree.solvers import model_records as R
from kinetree.solvers.elements.kinds import KINDS as ELEMENTS
from kinetree.solvers.fields import CONSTANTS as CONSTANTS
from kinetree.solvers.fields import LITERAL as LITERAL
from kinetree.solvers.fields import MODEL_FLOATS as MODEL_FLOATS
from kinetree.solvers.fields import MODEL_INTS as MODEL_INTS
from kinetree.solvers.fields import PLAIN as PLAIN
from kinetree.solvers.fields import WORK as WORK
from kinetree.solvers.fields import Field as Field
from kinetree.solvers.literal.kinds import FORMS
from kinetree.solvers.opcodes import PHASES as PHASES
from kinetree.solvers.opcodes import Op as Op
from kinetree.solvers.sensors.kinds import KINDS as SENSORS


class Status(IntEnum):
    """Status codes returned by kernels; head.item of the workspace names the body, register or
    guard concerned.
    """

    OK = 0
    SINGULAR_JOINT = 1  # no inertia along a joint's freedom; item = body
    NOT_A_NUMBER = 2  # a register or a state is NaN or infinite; item = register or state
    STEP_TOO_SMALL = 3  # error control asks for a step below the resolution of time
    NO_CONVERGENCE = 4  # an iteration did not converge
    TOO_MANY_STEPS = 5
    SINGULAR_BODY = (
        6  # a body has no invertible mass matrix where the method needs one; item = body
    )
    INCONSISTENT = 7  # loop constraints cannot be satisfied; item = constraint row
    CHATTERING = 8  # events accumulate; item = guard
    DEAD_POINT = 9  # a loop may begin to move and may not go on: first-order mobile, second-order rigid; item = constraint row
    NO_CONTACT_FORCE = (
        14  # rigid bodies with friction admit no contact force, or several; item = contact
    )
    PENETRATES = (
        15  # bodies overlap where a motion begins, or where an event puts them; item = contact
    )
    DRIVEN_TOGETHER = (
        19  # given motions drive a contact into its surface, and nothing gives way; item = contact
    )
    SLIDING = 20  # the motion slides along a jump of its rates; item = register of the state
    CANNOT_SET = 12  # an event sets what the constraints and the other set values determine; item = register of the speed or coordinate
    ROTOR = 13  # a form that has no place for rotors of motors; item = speed
    EVENT = 16  # not an error: an event was located and is to be handled
    BLOCK_FAILED = 21  # a predictive controller finds no finite plan; item = block
    ESTIMATE_FAILED = 22  # an observer finds no finite estimate; item = block
    STAGE_NEVER_ENDS = 17
    CANCELLED = 18  # the caller asked to stop between two steps; another call goes on


# forms of the equations of motion by name, with _ for -: literal/kinds says what they are
Method = IntEnum("Method", {form.name.replace("-", "_"): form.code for form in FORMS})


class Knot(IntEnum):
    """Kinds of breakpoints that a function of time can have."""

    TABLE_X = 0  # at a grid point of a table, first axis
    TABLE_Y = 1  # second axis
    ZERO = 2
    MULTIPLE = 3  # at a multiple of the spacing


ANNOUNCED = -1  # `motion` of a knot that only hosts which integrate themselves are told of: an event comes there, found by its guard in runs of ours

# elementary transforms of a joint: elements/kinds says what they are
Element = IntEnum("Element", {kind.name: kind.code for kind in ELEMENTS})


class Joint(IntEnum):
    """Joint types with fast kinematics; constant elements before the joint are folded into one
    rotation and shift.
    """

    GENERAL = 0
    REVOLUTE = 1  # constants, ROTATE_Q with factor 1
    PRISMATIC = 2  # constants, SHIFT_Q with factor 1
    SPHERICAL = 3  # constants, BALL
    FREE = 4  # constants, FREE
    FIXED = 5  # constants only
    UNIVERSAL = 6  # constants, two ROTATE_Q with factor 1 one after the other
    MODES = 7  # a floating frame at the origin of its parent with modal coordinates: record MODAL
    FACE = 8  # an interface that the modes of its parent carry: record FACE


class Loop(IntEnum):
    """Types of constraint groups of closed loops."""

    WELD = 0  # up to six rows: a twin stays with the body it was cut from; position then rotation, ground axes
    COUPLING = (
        1  # one row: an expression over coordinates, speeds, points of bodies and time stays zero
    )
    BALL = 2  # up to three rows: a point of one body stays at a point of another; ground axes
    HINGE = 3  # as BALL, and up to two rows: the bodies turn against each other about one axis
    CARDAN = 4  # as BALL, and a row: an axis of one body stays perpendicular to one of the other


class Contact(IntEnum):
    """Modes of a contact (`c_mode`)."""

    OPEN = 0
    STICK = 1  # closed; with friction: without slip
    SLIDE = 2


class Impact(IntEnum):
    """Participation of a contact in the current impact (`c_impact`)."""

    NONE = 0  # it takes no part
    TOUCHING = 1
    CLOSED_ON_TRIAL = 2  # it separates slowly: closed unless no force presses it together
    LOCATED = 3  # an event has located its touch
    OVERRUN = 4  # a host has stepped over its touch: the bodies overlap
    SLIP_KEPT = 5  # friction cannot hold its slow slip, which keeps the speed of the impact


class Friction(IntEnum):
    """Modes of friction in the current contact problem (`c_friction`)."""

    STICKS = 1
    SLIPS = 2
    DRIVEN = 3  # it slips, as prescribed motions drag it across its slip directions


class Restitution(IntEnum):
    """Restitution hypotheses of impacts."""

    NEWTON = 0  # the contact parts with e times the speed of approach
    POISSON = 1  # expansion gives back e times the impulse of compression
    ENERGETIC = 2  # expansion gives back e² times the work of the normal impulse during compression


POSITIONS, SPEEDS = 2, 1  # l_level
# metric of constraint rows: weights of the speeds; masses; masses, and what the free tree does along the rows joins ws.loop_r
WEIGHTS, MASSES, MOTION = 0, 1, 2


class Column(IntEnum):
    """Structure of a tangent column A_j at the origin O_i."""

    GENERAL = 0
    ROTATION = 1  # angular part only: the axis passes through O_i
    TRANSLATION = 2  # linear part only


# measured quantities: sensors/kinds says what they are
WHOLE = 4  # `axis` of a sensor that tells a vector
Sensor = IntEnum("Sensor", {kind.name: kind.code for kind in SENSORS})


class Force(IntEnum):
    """Types of force records, by what the force acts on."""

    COORDINATE = 0  # a value along a speed
    LINE = 1  # a value along the line of two points; positive pushes them apart
    WRENCH = 2  # force and moment at a point of body a
    PAIR = 3  # force and moment at a point of body a, and the opposite on body b


# what the record of an element of a kind gives
FORCE_ARGUMENTS = {
    Force.COORDINATE: ("speed", "value"),
    Force.LINE: ("a", "point_a", "b", "point_b", "value"),
    Force.WRENCH: ("a", "point_a", "force", "moment", "frame"),
    Force.PAIR: ("a", "point_a", "b", "force", "moment", "frame"),
}


class GuardCourse(IntEnum):
    """How a guard varies between events (`course` of GUARD_STATE)."""

    FREE = 0
    CLOCKED = 1  # evenly with time, as that of a sample does: it never chatters
    SLIP = 2  # the slip of a contact, whose dips are errors of steps


class GuardPhase(IntEnum):
    """What the root finder knows about the sign of a guard (`phase` of GUARD_STATE)."""

    KNOWN = 0
    UNKNOWN = 1  # it is read right after the present instant
    LEAVING = 2  # known by the rate of the guard; its value still lies on the bound
    SIMULTANEOUS = 3  # crosses within the resolution of time of another guard's crossing
    RETURNED = 4  # LEAVING; it left its bound in this interval and came back at `returned`


class GuardMark(IntEnum):
    """What must be done about a guard at the current instant (`mark` of GUARD_STATE)."""

    NONE = 0
    PENDING = 1  # its condition has become true: its actions are to be executed
    RELEASE_FOUND = 2  # a host has located that a closed contact opens or begins to slide
    EVENT_FOUND = 3  # a host has located that another guard became true


class GuardVerdict(IntEnum):
    """The outcome of the current instant for a guard (`verdict` of GUARD_STATE)."""

    NONE = 0
    FIRED = 1  # its condition became true
    EVALUATED_FALSE = 2  # its contact was solved: the condition does not hold
    FORCED_OPEN = 3  # its contact opens or slides, even if round-off leaves its margin negative
    WAS_CLOSED = 4  # its contact was closed before this instant


class Condition(IntEnum):
    """What is known about a condition: in a cascade, and per event across a restart."""

    FALSE = -1
    UNKNOWN = 0
    TRUE = 1
    JUST_FIRED = 2  # its event occurred at this very instant, in the structure before
    EVALUATED = 3  # of a contact: solved where a motion or a structure begins


class Guard(IntEnum):
    """What happens when a guard becomes positive."""

    STAGE = 0  # the stage ends
    RESET = 1  # actions are carried out
    CONTACT = 2  # a contact closes, opens, begins or ceases to slide; `action` is its number, `actions` 0 for the normal and 1 for the slip
    JUMP = 3  # nothing: a law jumps there, at every change of sign


# ---------------------------------------------------------------------------------------------------------------------------------------
# places of the entries of records that stand one after another in a field: ws.row[i * L.ROW + L.W_P]
BODY, ELEMENT, ROW, COLUMN, INSTRUCTION = (
    R.BODY.size,
    R.ELEMENT.size,
    R.ROW.size,
    R.COLUMN.size,
    R.INSTRUCTION.size,
)
MODAL = R.MODAL.size
B_MASS, B_H, B_J, B_E, B_R, B_AXIS, _ = R.BODY.offsets
E_AXIS, E_FACTOR, E_MATRIX, _ = R.ELEMENT.offsets
W_R, W_OM, W_AL, W_A0, W_J, W_H, W_M, W_N, W_F, W_D, W_DA, W_DB, W_P, W_V, W_VH, W_INV = (
    R.ROW.offsets
)
C_L, C_A, C_UN, C_UF, C_INV, C_G, _ = R.COLUMN.offsets

# numbers of `solvers/lanes`: how many stand side by side, and floats that lanes and a dual (value, slopes aligned to a vector) take in a workspace
WIDTH = 8
LANES_STRIDE, DUAL_STRIDE = WIDTH, 2 * WIDTH
CURVE = 4  # higher powers of an input that moves: second to fifth
