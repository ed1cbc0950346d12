"""The glossary of a unit: all structures of a mechanism, its stages, and what a host sees.

Unit ints: UNIT_HEADER numbers (U_*), then one STAGE record per stage, then the blocks and tables they point to. Offsets count from the start of the
unit's ints, floats or work. Unit work: UNIT_HEAD numbers (V_*), then the parts whose offsets the header tells.
"""

from kinetree.solvers.integrate.kinds import CODES

UNIT_HEADER = 64
U_STAGES = 0  # number of stages
U_COLUMNS = 1  # number of columns
U_STATES = 2  # number of continuous states of the union
U_GUARDS = 3  # largest number of guards of a stage
U_BODIES = 4  # number of bodies over all structures
U_AT_COLUMNS = 5  # in work: values of the columns
U_AT_STATES = 6  # in work: states of the union
U_AT_RATES = 7  # in work: their rates
U_AT_GUARDS = 8  # in work: values of the guards of the present stage
U_AT_BODIES = 9  # in work: pose and velocity per body, UNIT_BODY numbers
U_AT_MEMORY = 10  # in work: integrator memory
U_MEMORY = 11  # its size
U_BASE = 12  # in work: workspace of the present structure
U_SIZES = 13  # three numbers: length of ints, floats, work
U_INTEGRATOR = 16  # Integrator
U_PARAMETERS = 17  # number of parameters; their registers are 1..
U_AT_EVENTS = 18  # in work: log of events, EVENT numbers each, a ring
U_EVENTS = 19  # its capacity
U_AT_LOCATOR = 20  # in work: memory of the event locator
U_LOCATOR = 21  # its size
U_INPUTS = 22  # number of inputs; their registers follow those of the parameters
U_AT_INPUTS = 23  # in work: inputs as they were at the last evaluation of the integrator
U_START_Q, U_START_U, U_START_X, U_START_INPUTS = 24, 25, 26, 27  # first registers of the start values in stage 0
U_AT_SCRATCH = 28  # in work: one y
U_AT_SLOPES = 29  # in work: slopes of the inputs during the next advance, which clears them; 0: held
U_AT_GIVEN = 30  # in work: inputs at the beginning of an advance
U_PRESET_INPUTS = 32  # first register of what the description starts the inputs from
U_AT_CURVES = 33  # in work: higher powers of the inputs during the next advance, layout.CURVE per input; read where V_CURVED is 1
U_AT_FIRED = 40  # in work, per guard: 1 where the guard has become true and its actions are to be carried out
U_AT_MET = 41  # in work, per guard: 1 where it became true at the present instant
U_AT_HELD = 42  # in work, per guard: whether its condition held before, +1 or -1
U_AT_NOISE = 43  # in work, per guard: values up to this lie on its bound, at the present instant
U_AT_ARMED = 44  # in work, per guard, for hosts that integrate: 1 where it was negative at the last step that the host accepted
U_AT_TRUTH = 45  # in work, two numbers per event: what is known of its condition across a new start (T_* below), and its noise
U_EVENT_NAMES = 46  # number of events of the description
U_FORM = 31  # layout.Method by which the equations are resolved; 0: the default engine

STAGE = 16  # ints per stage, from UNIT_HEADER on
S_INTS, S_FLOATS = 0, 1  # offsets of the structure's blocks
S_COLUMNS = 2  # offset in ints: register of every column, or -1
S_STATES = 3  # offset in ints: index in y = (q, u, x) of every state of the union, or -1
S_BODIES = 4  # offset in ints: number in this structure of every body, or -1
S_GUARDS = 5  # number of guards
S_TRANSITION = 6  # offset in ints of the transition that leads into this stage, or -1

# a transition: TRANSITION numbers, then its lists one after another
TRANSITION = 8
T_SET, T_FREED, T_LOCKED = 0, 1, 2  # lengths of the lists: registers of parameters set, freed bodies (number in the new structure), locked states
T_JUMP = 3  # 1 when speeds may jump (locks, closed loops)
LOCKED = 2  # ints per locked state: state of the union, register in the new structure

UNIT_BODY = 18  # position (3), velocity (3), angular velocity (3), rotation (9), ground axes

UNIT_HEAD = 64
V_TIME = 0  # present time
V_STAGE = 1  # present stage, from 0
V_EVENTS = 2  # events so far
V_EVENT_TIME = 3  # time of the last event
V_STEPS = 4  # integrator steps so far
V_EVALUATIONS = 5
V_ENERGY = 6  # energy at the last evaluation
V_ENERGY_RESIDUAL = 7  # energy now minus energy at the start minus work of non-conservative forces and drives
V_CONSTRAINT_RESIDUAL = 8
V_STATUS = 9  # last status
V_ITEM = 10  # which body, register or guard it means
V_RELATIVE, V_ABSOLUTE = 11, 12  # tolerances
V_STEP = 13  # step of fixed-step integrators
V_LARGEST_STEP = 14
V_STARTED = 15  # 1 once the integrator is started in the present structure
V_KIND = 16  # integrator at work (Kind), differs from U_INTEGRATOR when that is AUTO
V_ENERGY_START = 17  # energy of motion and weight when the books were opened, less the work since
V_WORK = 18  # work of all loads since then
V_REFRESH = 19  # steps between two Jacobians of the semi-implicit method; 0: explicit
V_GIVEN_AT = 21  # time of the beginning of an advance with slopes
V_KNOT = 22  # corner of the laws of time at which the last step ended
V_TOLD = 31  # events of the log that the caller has taken over, for advances that stop before the log is full
V_NEXT = 40  # model exchange: the corner of the laws of time that is announced to the host
V_TURNED = 41  # the corner that was turned last
V_BUDGET = 42  # steps that one advance may take
V_USED = 43  # steps of the present or last advance
V_CANCEL = 44  # set by others while an advance runs: stop between two steps with CANCELLED
V_FASTEST = 45  # after an advance: estimate of the largest rate of the motion, 1/s; 0: unknown
V_LAST_STEP = 46  # after an advance: its last step, s
V_CURVED = 47  # 1: the next advance reads the curves of the inputs
V_PENDING = 30  # Pending: what the next advance goes on with
V_SOFT = 20  # 1: integrators may step past the target (inputs do not change)


PENDING_EVENT, PENDING_REST = 1, 2  # V_PENDING: an event is located but not carried out; the rest of an advance that stopped after an event
TRUE_NOW = 2  # in U_AT_TRUTH: the event happened at this very instant; 1: its condition held, -1: it did not, 0: not known
KINDS = CODES  # integrators by name
# option bits of unit_advance: return after the first event, the inputs keep the values they have reached; return before an event is carried out and
# again after it, the same call once more goes on; this is a further part of one communication step, what actuators hold stays;
# return when half of the log of events is new to the caller, the same call once more goes on
STOP_AT_EVENT, STOP_AROUND_EVENT, CONTINUED, STOP_BEFORE_FULL = 1, 2, 4, 8
E_STAGE, E_RESET = 0, 1  # kinds of logged events

EVENT = 16  # numbers per logged event: time, kind, stage after, guard, books before and after (mass, momentum 3, energy), spare
