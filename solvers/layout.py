"""The glossary: every array of the compiled model and of the workspace, with its shape, frame and unit.

Pure data: importing this module costs nothing. `views.py` cuts the flat blocks by these tables, `models/compile.py` fills them.

Symbols follow the literature: q coordinates, u speeds, x first-order states, N bodies, n speeds (freedoms), kappa parents.
World axes unless a line says body axes. A row "k per body" has N+1 rows, row 0 is the ground.
"""

from enum import IntEnum

from kinetree.solvers.fields import CONSTANTS as CONSTANTS
from kinetree.solvers.fields import LITERAL as LITERAL
from kinetree.solvers.fields import MODEL_FLOATS as MODEL_FLOATS
from kinetree.solvers.fields import MODEL_INTS as MODEL_INTS
from kinetree.solvers.fields import PLAIN as PLAIN
from kinetree.solvers.fields import WORK as WORK
from kinetree.solvers.fields import Field as Field
from kinetree.solvers.opcodes import INSTRUCTION as INSTRUCTION
from kinetree.solvers.opcodes import PHASES as PHASES
from kinetree.solvers.opcodes import TABLE as TABLE
from kinetree.solvers.opcodes import Op as Op


class Status(IntEnum):
    """Return codes of kernels; `item` of the workspace tells which body, register or guard is meant."""

    OK = 0
    SINGULAR_JOINT = 1  # no inertia along a joint's freedom; item = body
    NOT_A_NUMBER = 2  # a register or a state is NaN or infinite; item = register or state
    STEP_TOO_SMALL = 3  # error control asks for a step below the resolution of time
    NO_CONVERGENCE = 4  # an iteration did not converge
    TOO_MANY_STEPS = 5
    SINGULAR_BODY = 6  # a body has no invertible mass matrix where the method needs one; item = body
    INCONSISTENT = 7  # loop constraints cannot be satisfied; item = constraint row
    CHATTERING = 8  # events accumulate; item = guard
    DEAD_POINT = 9  # a loop may begin to move and may not go on: first-order mobile, second-order rigid; item = constraint row
    CANNOT_SET = 12  # an event sets what the constraints and the other set values determine; item = register of the speed or coordinate
    ROTOR = 13  # a form that has no place for rotors of motors; item = speed
    EVENT = 16  # not an error: an event was located and is to be handled
    STAGE_NEVER_ENDS = 17
    CANCELLED = 18  # the caller asked to stop between two steps; another call goes on


class Method(IntEnum):
    """Forms of the equations of motion: Lagrangian, then Hamiltonian."""

    DEC = 0
    DRT = 1
    CBM = 2
    LGR = 3
    ITR_M = 4
    ITR_G = 5
    ITR_DIRECT = 6
    ABM = 7
    DEC_H = 8
    CBM_H = 9
    LGR_H = 10
    ITR_H = 11
    ABM_H = 12


class Knot(IntEnum):
    """Where an argument that runs evenly with time turns a corner."""

    TABLE_X = 0  # at a grid point of a table, first axis
    TABLE_Y = 1  # second axis
    ZERO = 2
    MULTIPLE = 3  # at a multiple of the spacing


class Element(IntEnum):
    """Elementary transforms of a joint."""

    SHIFT = 0  # constant vector
    ROTATE = 1  # constant rotation
    SHIFT_Q = 2  # along an axis by factor*q
    ROTATE_Q = 3  # about an axis by factor*q
    SHIFT_T = 4  # along an axis by a given function of time
    ROTATE_T = 5  # about an axis by a given function of time
    BALL = 6  # unit quaternion (child axes to parent axes), speeds = relative angular velocity in child axes
    FREE = 7  # x, y, z in parent axes and quaternion; speeds = relative velocity and angular velocity in child axes
    BALL_BACK = 8  # BALL used from its child to its parent: coordinates and speeds keep their meaning


class Joint(IntEnum):
    """Patterns the fast path knows; every pattern but GENERAL may start with constant elements, folded into one rotation and shift."""

    GENERAL = 0
    REVOLUTE = 1  # constants, ROTATE_Q with factor 1
    PRISMATIC = 2  # constants, SHIFT_Q with factor 1
    SPHERICAL = 3  # constants, BALL
    FREE = 4  # constants, FREE
    FIXED = 5  # constants only
    UNIVERSAL = 6  # constants, two ROTATE_Q with factor 1 one after the other


class Loop(IntEnum):
    """Groups of constraint rows of closed loops."""

    WELD = 0  # up to six rows: a twin stays with the body it was cut from; position then rotation, ground axes
    COUPLING = 1  # one row: an expression over coordinates, speeds, points of bodies and time stays zero


ARM = 5  # ints per arm of a coupling: entry among the group's paths, body, r point (body axes), r ∂rate/∂(velocity of the point), r ∂rate/∂(spin)
POSITIONS, SPEEDS = 2, 1  # l_level
# metric of constraint rows: weights of the speeds; masses; masses, and what the free tree does along the rows joins ws.loop_r
WEIGHTS, MASSES, MOTION = 0, 1, 2


class Column(IntEnum):
    """What a tangent column A_j looks like at O_i."""

    GENERAL = 0
    ROTATION = 1  # angular part only: the axis passes through O_i
    TRANSLATION = 2  # linear part only


class Sensor(IntEnum):
    """Measured quantities; a scalar along `axis` (0, 1, 2) of the frame, or a norm (axis = 3) where it makes sense."""

    POSITION = 0
    VELOCITY = 1
    ORIENTATION = 2  # axis 0-3: quaternion w, x, y, z of the body relative to ground
    ANGULAR_VELOCITY = 3
    DISTANCE = 4
    DISTANCE_RATE = 5
    ACCELERATION = 6  # phase 3 from here on
    ANGULAR_ACCELERATION = 7
    REACTION_FORCE = 8
    REACTION_MOMENT = 9
    FORCE = 10  # value of a force element
    KINETIC_ENERGY = 11
    POTENTIAL_ENERGY = 12
    ENERGY = 13
    SPEED_RATE = 14  # u̇ of one speed
    MULTIPLIER = 15  # generalised force of a coupling


SENSOR = 8  # ints per sensor: kind, register, body a, register of point a, body b, register of point b, axis, frame (0 ground, 1 body a)


class Force(IntEnum):
    """Force elements; each is a record of FORCE ints whose meaning is given here (r = register)."""

    COORDINATE = 0  # speed index, r value
    LINE = 1  # body a, r point a, body b, r point b, r value (positive pushes the points apart)
    WRENCH = 2  # body, r point, r force (3), r moment (3), frame (0 ground, 1 body)
    PAIR = 3  # body a, r point a (body a), body b, r force on a (3), r moment on a (3), frame (0 ground, 1 body a); the opposite acts on b


FORCE = 16  # ints per force record: kind, r result (scalar value of the element), then the arguments above


# ---------------------------------------------------------------------------------------------------------------------------------------
# ints block: HEADER numbers (indices below), then the MODEL_INTS fields one after another
HEADER = 64
H_BODIES, H_NQ, H_NU, H_NX, H_INPUTS, H_PARAMETERS, H_ELEMENTS, H_REGISTERS, H_SENSORS, H_FORCES, H_TABLES, H_GUARDS, H_ROWS = range(13)
# first registers of the groups, after t = register 0
H_R_PARAMETERS, H_R_INPUTS, H_R_Q, H_R_U, H_R_X, H_R_SENSORS = range(16, 22)
H_PHASE = 24  # five numbers: start of phases 0..3 in `code`, and the end
H_GRAVITY = 30  # register of the gravity vector
H_LATE_SENSORS = 31  # first sensor that needs accelerations
H_REACTIONS = 32  # 1 when some sensor needs reactions
H_SIZES = 40  # three numbers: length of ints, floats, work


# ints per guard: register, kind, first action, number of actions, number of the event in the description or, for the end of a stage, -1 minus the
# register of its condition; an event is a change of the guard to a positive value
GUARD = 5
G_STAGE, G_RESET = 0, 1  # the stage ends, or actions are carried out
ACTION = 3  # ints per action: index in y = (q, u, x) or -1, register of a parameter or -1, register of the new value
LATCH = 2  # ints per latch: register, register that holds its value from the beginning of an advance on
PROBE = 3  # ints per probe: register of an additional force, 0 but during probing; of the acceleration along it; of the effective mass
# ints per corner of an expression of time: Knot, register of its argument, register of the argument's rate, table or register of the spacing,
# 1 where a given motion or a coupling depends on it, so that speeds may jump
KNOT = 5
H_LATE_GUARDS = 33  # 1 when guards need accelerations
H_QUATERNIONS = 34  # number of quaternions
H_GIVEN = 35  # 1 when some joint has a given motion


BODY = 32  # floats per body in `body`: derived by `prepare` from registers, body axes
B_MASS, B_H, B_J = 0, 1, 4  # mass; h = m*com (3); J about O_i: xx xy xz yy yz zz (6)
B_E, B_R, B_AXIS = 10, 19, 22  # folded constant part of the joint: rotation parent-from-joint (9, row major), shift in parent axes (3), axis (3)

ELEMENT = 16  # floats per element in `elem`: derived by `prepare`
E_AXIS, E_FACTOR, E_MATRIX = 0, 3, 4  # unit axis or constant shift (3); factor; constant rotation parent-from-child (9)

ROW = 72  # floats per body in `row`: the fast path, world axes, moments about O_i
W_R = 0  # rotation ground-from-body (9)
W_OM = 9  # angular velocity (3)
W_AL = 12  # angular acceleration at u̇ = 0 (3)
W_A0 = 15  # acceleration of O_i at u̇ = 0, minus gravity (3)
W_J, W_H, W_M = 18, 24, 33  # articulated inertia: moment by angular (6), moment by linear (9), force by linear acceleration (6)
W_N, W_F = 39, 42  # bias moment and force (3 + 3)
# what the way back from root to leaves reads and writes lies together
W_D = 45  # O_i - O_kappa (3)
W_DA, W_DB = 48, 51  # increments of angular and linear acceleration by u̇ (3 + 3)
W_P, W_V = 54, 57  # position and velocity of O_i (3 + 3), filled by `engine.kinematics.positions`
W_VH = 60  # explicit-time part of the velocity of O_i relative to the parent, angular part (3), linear (3)
W_INV = 66  # inverse of the eliminated block of a ball (6)

COLUMN = 16  # floats per speed in `col`: linear part (3), angular part (3) of A_j at O_i; U_j (moment 3, force 3); 1/D; g
C_L, C_A, C_UN, C_UF, C_INV, C_G = 0, 3, 6, 9, 12, 13

# numbers of `solvers/lanes`: how many stand side by side, and floats that lanes and a dual (value, slopes aligned to a vector) take in a workspace
WIDTH = 8
LANES_STRIDE, DUAL_STRIDE = WIDTH, 2 * WIDTH

K_ITEM, K_ITERATIONS, K_EVALUATIONS = 0, 1, 2  # which body/register a status means; ITR iterations of the last evaluation; evaluations since start
K_WRENCH, K_EXTRA = 3, 4  # 1 when `wrench` or `extra` holds anything but zeros
K_SLOPED, K_GIVEN_AT = 8, 9  # 1 while inputs are given + slope (t - head[K_GIVEN_AT]) instead of held, 2 with the higher powers of `curve`
CURVE = 4  # higher powers of an input that moves: second to fifth
K_ON_CONSTRAINTS = 10  # 1: right-hand sides are those of the state projected onto the loop constraints
K_SIDED, K_FROM, K_UNTIL = 12, 13, 14  # 1: the laws of time are read at instants between these: at a corner, from one side
K_STABILISED = 15  # 1: accelerations pull open loops closed, for hosts that integrate themselves
K_FORM = 11  # Method by which a run resolves its equations; 0: the default engine
K_KINETIC, K_POTENTIAL = 6, 7  # energies of the last `outputs`
K_HELD = 16  # what Hq holds: 0 nothing, 1 an approximate inverse (ITR), 2 the factors of the direct variant
K_ITR_TOLERANCE = 19  # relative residual at which ITR stops; 0: rounding level
K_SWEEPS = 20  # ITR multiplies by M by two sweeps (1) or by rows of blocks (0)
K_CARRIED = 21  # 1: the wrenches of the loop constraints have joined the bias of the bodies, as reactions need it
K_FACTORED = 22  # 1: rows and factor of the loops are those of the accelerations evaluated last, clear of singular positions
K_REFACTORED, K_FALLBACKS = 17, 18  # ITR since start: refactorisations, evaluations that needed the line search (2.33)
