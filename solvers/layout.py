"""The glossary: every array of the compiled model and of the workspace, with its shape, frame and unit.

Pure data: importing this module costs nothing. `views.py` cuts the flat blocks by these tables, `models/compile.py` fills them.

Symbols follow the literature: q coordinates, u speeds, x first-order states, N bodies, n speeds (freedoms), kappa parents.
World axes unless a line says body axes. A row "k per body" has N+1 rows, row 0 is the ground.
"""
from enum import IntEnum
from typing import NamedTuple


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
    EVENT = 16  # not an error: an event was located and is to be handled
    STAGE_NEVER_ENDS = 17


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


class Loop(IntEnum):
    """Groups of constraint rows of closed loops."""

    WELD = 0  # up to six rows: a twin stays with the body it was cut from; position then rotation, ground axes
    COUPLING = 1  # one row: an expression over coordinates and time stays zero


class Column(IntEnum):
    """What a tangent column A_j looks like at O_i."""

    GENERAL = 0
    ROTATION = 1  # angular part only: the axis passes through O_i
    TRANSLATION = 2  # linear part only


class Op(IntEnum):
    """Instructions of the register machine: dst = a op b (c)."""

    COPY = 0
    ADD = 1
    SUB = 2
    MUL = 3
    DIV = 4
    POW = 5
    NEG = 6
    SIN = 7
    COS = 8
    TAN = 9
    ASIN = 10
    ACOS = 11
    ATAN = 12
    ATAN2 = 13
    SINH = 14
    COSH = 15
    TANH = 16
    EXP = 17
    LOG = 18
    SQRT = 19
    ABS = 20
    SIGN = 21
    MIN = 22
    MAX = 23
    LT = 24
    LE = 25
    GT = 26
    GE = 27
    EQ = 28
    NE = 29
    AND = 30
    OR = 31
    NOT = 32
    IF = 33  # a != 0 ? b : c
    TABLE1 = 34  # table a (its index as a plain integer), at register b
    TABLE2 = 35  # table a, at registers b, c
    TABLE1_D = 36  # derivative of a one-variable table
    TABLE2_DX = 37
    TABLE2_DY = 38
    FLOOR = 39
    CEIL = 40
    MOD = 41
    TABLE1_DD = 42  # second derivative of a one-variable table


INSTRUCTION = 5  # ints per instruction: op, dst, a, b, c
PHASES = 4  # PARAMETER, TIME, STATE, ACCELERATION
TABLE = 6  # ints per table: kind (0 linear, 1 cubic), outside (0 clamped, 1 extrapolated), nx, ny (0: one variable), offset in floats, spare


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


GUARD = 4  # ints per guard: register, kind, first action, number of actions; an event is a change of the guard to a positive value
G_STAGE, G_RESET = 0, 1  # the stage ends, or actions are carried out
ACTION = 3  # ints per action: index in y = (q, u, x) or -1, register of a parameter or -1, register of the new value
LATCH = 2  # ints per latch: register, register that holds its value from the beginning of an advance on
PROBE = 3  # ints per probe: register of an additional force, 0 but during probing; of the acceleration along it; of the effective mass
H_LATE_GUARDS = 33  # 1 when guards need accelerations
H_QUATERNIONS = 34  # number of quaternions
H_GIVEN = 35  # 1 when some joint has a given motion


class Field(NamedTuple):
    name: str
    size: str  # expression over N bodies, nq, nu, nx, ni inputs, np parameters, ne elements, nr registers, ns sensors, nf forces, nt tables, ng guards, na actions, npot potentials, nl.. closed loops, dense 0 or 1
    text: str


MODEL_INTS = (
    Field("parent", "N+1", "kappa_i, number of the predecessor; -1 for the ground"),
    Field("child_at", "N+2", "children of body i are child[child_at[i]:child_at[i+1]]"),
    Field("child", "N", "children, ascending"),
    Field("joint", "N+1", "Joint pattern of the joint into body i"),
    Field("q_at", "N+2", "coordinates of joint i are q[q_at[i]:q_at[i+1]]"),
    Field("u_at", "N+2", "speeds of joint i are u[u_at[i]:u_at[i+1]]"),
    Field("e_at", "N+2", "elements of joint i are those from e_at[i] to e_at[i+1]"),
    Field("e_kind", "ne", "Element kind"),
    Field("e_q", "ne", "index of the (first) coordinate in q, or -1"),
    Field("e_u", "ne", "index of the (first) speed in u, or -1"),
    Field("e_axis", "ne", "register of the axis or the constant shift (3 consecutive), or -1"),
    Field("e_amount", "ne", "register of the constant angle of ROTATE, of value, first and second derivative of a given motion (3 consecutive), or -1"),
    Field("e_factor", "ne", "register of the factor of a coordinate, or -1 for 1"),
    Field("u_kind", "nu", "Column kind of the tangent column of speed j"),
    Field("u_body", "nu", "body whose joint has speed j"),
    Field("u_q", "nu", "coordinate whose derivative is speed j, or -1 (quaternion joints)"),
    Field("b_mass", "N+1", "register of the mass"),
    Field("b_com", "N+1", "register of the centre of mass (3), body frame"),
    Field("b_inertia", "N+1", "register of the tensor xx yy zz xy xz yz (6)"),
    Field("b_about", "N+1", "0: tensor about the centre of mass, 1: about the body frame's origin"),
    # literal forms: `forms/pattern.py` fills them
    Field("eta", "N+1", "number of speeds on the path 0 -> i"),
    Field("m_at", "N+2", "row of blocks i of M (n_i by eta_i) is Mr[m_at[i]:m_at[i+1]]"),
    Field("b_at", "N+2", "row of blocks i of B (6 by eta_i)"),
    Field("h_at", "N+2", "row of blocks i of H (m_i by h_col[i] + m_i)"),
    Field("h_col", "N+1", "first column of the diagonal block in row i of H"),
    Field("code", "5*(number of instructions)", "instructions of all phases"),
    Field("tables", "6*nt", "table records"),
    Field("sensors", "8*ns", "sensor records"),
    Field("forces", "16*nf", "force records"),
    Field("potentials", "npot", "registers of the potential energies of force elements"),
    Field("x_rate", "nx", "register of the rate of state k"),
    Field("guards", "4*ng", "guard records of GUARD ints"),
    Field("actions", "3*na", "action records of ACTION ints"),
    Field("latches", "2*(number of latches)", "latch records of LATCH ints"),
    Field("probes", "3*(number of probes)", "probe records of PROBE ints"),
    # closed loops: nl groups of constraint rows (one per cut joint or coupling), nlr rows, nle bodies on the paths of all groups to the ground
    Field("l_kind", "nl", "Loop kind of group k"),
    Field("l_a", "nl", "weld: the original body; coupling: first of three registers, value, rate, second derivative at u̇ = 0"),
    Field("l_b", "nl", "weld: its twin, the last body of the group's paths"),
    Field("l_from", "nl", "weld: entry of body a among the paths, or -1 for the ground"),
    Field("l_row", "nl+1", "rows of group k are l_row[k]:l_row[k+1]"),
    Field("l_part", "nlr", "component of the weld's residual that a row is: 0-2 position, 3-5 rotation"),
    Field("l_at", "nl+1", "entries of group k are l_body[l_at[k]:l_at[k+1]], ascending"),
    Field("l_body", "nle", "body of entry e"),
    Field("l_up", "nle", "entry of its predecessor, or -1"),
    Field("l_y", "nle", "first of the entry's numbers (rows by speeds) in `loop_y`"),
    Field("l_first", "nl", "first group that meets group k on some path"),
    Field("l_env", "nl+1", "row of blocks k of the envelope is loop_g[l_env[k]:l_env[k+1]], blocks l_first[k]..k one after another"),
    Field("l_k", "nl+1", "slopes of coupling k are those from l_k[k] to l_k[k+1]"),
    Field("l_speed", "number of slopes", "speed index"),
    Field("l_slope", "number of slopes", "register of the partial derivative"),
    Field("l_rank", "nl", "independent rows of group k, given those before it, in general position"),
    Field("l_size", "1", "nly, length of `loop_y`"),
    Field("u_held", "nu", "1: the coordinate's start is given by the user, 2: the speed's start is, 3: both"),
)
MODEL_FLOATS = (
    Field("val0", "nr", "initial image of the registers: constants, parameter and input defaults"),
    Field("table_data", "nd", "grids and values of all tables"),
)

BODY = 32  # floats per body in `body`: derived by `prepare` from registers, body axes
B_MASS, B_H, B_J = 0, 1, 4  # mass; h = m*com (3); J about O_i: xx xy xz yy yz zz (6)
B_E, B_R, B_AXIS = 10, 19, 22  # folded constant part of the joint: rotation parent-from-joint (9, row major), shift in parent axes (3), axis (3)
B_CODE = 25  # 1, 2, 3 when the axis is +x, +y, +z, else 0

ELEMENT = 16  # floats per element in `elem`: derived by `prepare`
E_AXIS, E_FACTOR, E_MATRIX, E_CODE = 0, 3, 4, 13  # unit axis or constant shift (3); factor; constant rotation parent-from-child (9); as B_CODE

ROW = 96  # floats per body in `row`: the fast path, world axes, moments about O_i
W_R = 0  # rotation ground-from-body (9)
W_D = 9  # O_i - O_kappa (3)
W_OM = 12  # angular velocity (3)
W_AL = 15  # angular acceleration at u̇ = 0 (3)
W_A0 = 18  # acceleration of O_i at u̇ = 0, minus gravity (3)
W_J, W_H, W_M = 21, 27, 36  # articulated inertia: moment by angular (6), moment by linear (9), force by linear acceleration (6)
W_N, W_F = 42, 45  # bias moment and force (3 + 3)
W_DA, W_DB = 48, 51  # increments of angular and linear acceleration by u̇ (3 + 3)
W_P, W_V = 54, 57  # position and velocity of O_i (3 + 3), filled by `tree.motion.positions`
W_VH = 60  # explicit-time part of the velocity of O_i relative to the parent, angular part (3), linear (3)
W_INV = 66  # inverse of the eliminated block of a ball (6); of a free joint (6 + 9 more)

COLUMN = 16  # floats per speed in `col`: linear part (3), angular part (3) of A_j at O_i; U_j (moment 3, force 3); 1/D; g
C_L, C_A, C_UN, C_UF, C_INV, C_G = 0, 3, 6, 9, 12, 13

WORK = (
    Field("head", "64", "counters and flags of an instance: see K_* below"),
    Field("val", "nr", "registers"),
    Field("q", "nq", "coordinates, argument of entries"),
    Field("u", "nu", "speeds (or result u of hamilton)"),
    Field("x", "nx", "first-order states"),
    Field("p", "nu", "momenta"),
    Field("udot", "nu", "result: rates of the speeds"),
    Field("pdot", "nu", "result: rates of the momenta"),
    Field("xdot", "nx", "result: rates of the states"),
    Field("given", "ni", "inputs at head[K_GIVEN_AT], where they have slopes"),
    Field("slope", "ni", "slopes of the inputs"),
    Field("tau", "nu", "generalised force along speeds"),
    Field("extra", "6*(N+1)", "caller's loads: force and moment about O_i, body axes"),
    Field("wrench", "6*(N+1)", "applied force and moment about O_i, ground axes, without gravity"),
    Field("reaction", "6*(N+1)", "result: joint reaction, force and moment at O_i, body axes"),
    Field("body", "32*(N+1)", "derived constants of bodies"),
    Field("elem", "16*ne", "derived constants of elements"),
    Field("row", "96*(N+1)", "fast path per body"),
    Field("col", "16*nu", "fast path per speed"),
    Field("small", "64", "scratch of one joint"),
    # closed loops
    Field("push", "6*(N+1)*min(nl,1)", "wrench of the constraints on body i and what it carries: force, moment about O_i, ground axes"),
    Field("push_u", "nu*min(nl,1)", "generalised force of the couplings"),
    Field("loop_w", "36*nle", "unit wrenches of the rows of a group on their way to the ground, 6 per row"),
    Field("loop_y", "nly", "Y = D^-½ Lᵀ Jᵀ, so that J M⁻¹ Jᵀ = Yᵀ Y: rows by speeds, entry by entry"),
    Field("loop_g", "nlg", "envelope of J M⁻¹ Jᵀ and of its pivoted factor"),
    Field("loop_pivot", "nlr", "rows of a group in the order in which they became pivots"),
    Field("loop_found", "nl", "rank of group k in the last factorisation"),
    Field("loop_rank", "nl", "largest rank group k may have"),
    Field("loop_r", "nlr", "residual of the rows: positions, velocities or accelerations"),
    Field("loop_b", "nlr", "scratch of the solution"),
    Field("loop_lam", "nlr", "multipliers: force and moment of the twin's weld, ground axes; force of a coupling"),
    Field("loop_live", "nlr", "largest share of the row's scale that its diagonal has had: a row of zeros constrains nothing"),
    Field("loop_scale", "2*nl", "size of the diagonal of J M⁻¹ Jᵀ, position and rotation rows"),
    Field("loop_q", "2*nq*min(nl,1)", "coordinates to go back to: of the start, of the last step"),
    Field("loop_u", "nu*min(nl,1)", "speeds to go back to"),
    Field("loop_weight", "nu*min(nl,1)", "inverse weight of a change of speed j in the assembly"),
    # literal forms, body axes; six-vectors are (linear, angular); matrices row by row unless said otherwise. Kinematics and loads:
    Field("G", "9*(N+1)", "G_i: components from frame kappa_i to frame i"),
    Field("Rg", "9*(N+1)", "rotation ground-from-body"),
    Field("rho", "3*(N+1)", "origin of frame i in frame kappa_i"),
    Field("A", "6*nu", "columns of A_i one after another"),
    Field("Ap", "6*nu", "rows of the pseudo-inverse (AᵀA)⁻¹Aᵀ of A_i"),
    Field("Adot", "6*nu", "rates of the columns of A_i in body axes"),
    Field("ecol", "6*ne", "tangent column of an element at O_i (one-freedom and given-motion elements)"),
    Field("Z", "36*(N+1)", "orthogonal matrix of joint i by rows: n_i rows that span A_i, then the 6 - n_i columns of Z_i"),
    Field("vh", "6*(N+1)", "v̂_i, explicit-time part of the relative velocity"),
    Field("v", "6*(N+1)", "velocity of frame i"),
    Field("wp", "6*(N+1)", "w'_i = w^c_i + ŵ_i"),
    Field("w", "6*(N+1)", "accelerations w_i"),
    Field("F", "6*(N+1)", "F_i: active force and moment about O_i, gravity and tau included"),
    Field("Fp", "6*(N+1)", "F'_i = F_i + F^c_i"),
    # what the forms derive; linear in N
    Field("Ms", "36*(N+1)", "M*_i of ABM and DEC; m, h, J (10 of 36) of the composite body in CBM; 1/m, rc, Jc⁻¹ in LGR"),
    Field("Fs", "6*(N+1)", "F*_i, F̂*_i"),
    Field("pis", "6*(N+1)", "π*_i"),
    Field("ps", "6*(N+1)", "p*_i, momentum that joint i carries"),
    Field("R", "6*(N+1)", "A_i(AᵀA)⁻¹p_i of LGR-H"),
    Field("lam", "6*(N+1)", "λ_i"),
    Field("X", "36*(N+1)", "columns C_iᵀ Z_i of LGR; H_j of ABM and DEC"),
    Field("Y", "36*(N+1)", "factor L_i of DEC and ABM"),
    Field("U", "6*nu", "rows of U_i; columns M*_i A_i carried along the path in CBM"),
    Field("K", "6*nu", "columns M*_i A_i of ABM"),
    Field("uj", "nu", "u_j"),
    Field("Q", "nu", "right-hand side Q, solution of the last linear system"),
    Field("diagonal", "6*(N+1)", "diagonal before a factorisation, or the size of the inertias that met in body i"),
    # rows of blocks for the pairs that occur: sizes nm, nb, nh are the last entries of m_at, b_at, h_at; path, direct, sibling are 1 when wanted
    Field("Mr", "nm*path", "M and its factor L (CBM, DRT, ITR, their momentum twins, mass matrix)"),
    Field("Br", "nb*direct", "B (DRT)"),
    Field("Hr", "nh*sibling", "H of (2.24) and its factor (LGR, LGR-H)"),
    # nu*nu; dense is 1 when wanted
    Field("Mq", "nu*nu*dense", "mass matrix, full symmetric"),
    Field("Hq", "nu*nu*dense", "H of ITR, approximate inverse of M, or D and L of its direct variant, carried between evaluations"),
    Field("itr", "6*nu", "vectors of ITR"),
    Field("y", "nq+nu+nx", "state of the integrator"),
    Field("ydot", "nq+nu+nx", "its rate"),
)
LITERAL = ("G", "itr")  # first and last field of the literal group: allocated when a literal method is first used; `dense` is 1 when n*n arrays are wanted
K_ITEM, K_ITERATIONS, K_EVALUATIONS = 0, 1, 2  # which body/register a status means; ITR iterations of the last evaluation; evaluations since start
K_WRENCH, K_EXTRA = 3, 4  # 1 when `wrench` or `extra` holds anything but zeros
K_TIME = 5  # time of the last evaluation
K_SLOPED, K_GIVEN_AT = 8, 9  # 1 while inputs are given + slope (t - head[K_GIVEN_AT]) instead of held
K_KINETIC, K_POTENTIAL = 6, 7  # energies of the last `outputs`
K_HELD = 16  # what Hq holds: 0 nothing, 1 an approximate inverse (ITR), 2 the factors of the direct variant
K_ITR_TOLERANCE = 19  # relative residual at which ITR stops; 0: rounding level
K_SWEEPS = 20  # ITR multiplies by M by two sweeps (1) or by rows of blocks (0)
K_REFACTORED, K_FALLBACKS = 17, 18  # ITR since start: refactorisations, evaluations that needed the line search (2.33)
