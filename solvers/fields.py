"""Fields of the memory blocks: name, size and meaning. `layout.py` re-exports everything here."""

from typing import NamedTuple

from kinetree.solvers import model_records as R
from kinetree.solvers.records import Record


class Field(NamedTuple):
    name: str
    # expression over N bodies, nq, nu, nx, ni inputs, np parameters, ne elements, nr registers, ns sensors, nf forces, nt tables, ng guards,
    # na actions, nk set speeds, nc contacts, ncr their rows, npot potentials, nd table data, nm nb nh block rows, nl... closed loops;
    # dense, path, direct, sibling are 0 or 1
    size: str
    text: str
    record: Record | None = None  # the field is one such record


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
    Field(
        "e_amount",
        "ne",
        "register of the constant angle of ROTATE, of value, first and second derivative of a given motion (3 consecutive), or -1",
    ),
    Field("e_factor", "ne", "register of the factor of a coordinate, or -1 for 1"),
    Field("u_kind", "nu", "Column kind of the tangent column of speed j"),
    Field("u_body", "nu", "body whose joint has speed j"),
    Field("u_rotor", "nu", "register of the inertia of the motor reflected to speed j, or -1"),
    Field("u_q", "nu", "coordinate whose derivative is speed j, or -1 (quaternion joints)"),
    Field("b_mass", "N+1", "register of the mass"),
    Field("b_com", "N+1", "register of the centre of mass (3), body frame"),
    Field("b_inertia", "N+1", "register of the tensor xx yy zz xy xz yz (6)"),
    Field("b_about", "N+1", "0: tensor about the centre of mass, 1: about the body frame's origin"),
    Field("eta", "N+1", "number of speeds on the path 0 -> i"),
    Field("m_at", "N+2", "row of blocks i of M (n_i by eta_i) is Mr[m_at[i]:m_at[i+1]]"),
    Field("b_at", "N+2", "row of blocks i of B (6 by eta_i)"),
    Field("h_at", "N+2", "row of blocks i of H (m_i by h_col[i] + m_i)"),
    Field("h_col", "N+1", "first column of the diagonal block in row i of H"),
    Field("code", "5*(number of instructions)", "instructions of all phases"),
    Field("tables", f"{R.TABLE.size}*nt", "records TABLE"),
    Field("sensors", f"{R.SENSOR.size}*ns", "records SENSOR"),
    Field("forces", f"{R.FORCE.size}*nf", "records FORCE"),
    Field("potentials", "npot", "registers of the potential energies of force elements"),
    Field("x_rate", "nx", "register of the rate of state k"),
    Field("guards", f"{R.GUARD.size}*ng", "records GUARD"),
    Field("actions", f"{R.ACTION.size}*na", "records ACTION"),
    Field("latches", f"{R.LATCH.size}*(number of latches)", "records LATCH"),
    Field("probes", f"{R.PROBE.size}*(number of probes)", "records PROBE"),
    Field(
        "knots",
        f"{R.KNOT.size}*(number of corners)",
        "records KNOT: corners of expressions of time",
    ),
    # closed loops: nl groups of constraint rows (one per cut joint or coupling), nlr rows, nle bodies on the paths of all groups to the ground
    Field("l_kind", "nl", "Loop kind of group k"),
    Field(
        "l_a",
        "nl",
        "weld: the original body; ball, hinge, Cardan joint: its parent; coupling: first of registers of value, rate, second derivative at u̇ = 0",
    ),
    Field(
        "l_b",
        "nl",
        "weld: its twin, the last body of the group's paths; ball, hinge, Cardan joint: its child; coupling: its number among the rows of couplings",
    ),
    Field("l_level", "nl", "2: the rows hold positions, 1: they hold speeds only"),
    Field("l_from", "nl", "no coupling: entry of body a among the paths, or -1 for the ground"),
    Field("l_into", "nl", "no coupling: entry of body b among the paths, or -1 for the ground"),
    Field("l_axes", "nl", "no coupling: the body in whose axes the rows stand, 0: ground axes"),
    Field("l_point", "2*nl", "ball, hinge, Cardan joint: registers of its place on bodies a and b"),
    Field(
        "l_turn",
        "4*nl",
        "registers. Hinge: two vectors on a across its axis, the axis and the first on b; Cardan joint: its axes on a, the second and the first on b",
    ),
    Field("l_row", "nl+1", "rows of group k are l_row[k]:l_row[k+1]"),
    Field(
        "l_part",
        "nlr",
        "component of the residual: 0-2 position, 3-5 rotation; of a hinge 3, 4 about the vectors on a, of a Cardan joint 3 about the normal",
    ),
    Field("l_at", "nl+1", "entries of group k are l_body[l_at[k]:l_at[k+1]], ascending"),
    Field("l_body", "nle", "body of entry e"),
    Field("l_up", "nle", "entry of its predecessor, or -1"),
    Field("l_x", "nle", "first of the entry's numbers (speeds by rows) in `loop_x` and `loop_z`"),
    Field("l_columns", "nl", "speeds on the paths of group k"),
    Field("l_first", "nl", "first group that meets group k on some path"),
    Field(
        "l_env",
        "nl+1",
        "row of blocks k of the envelope is loop_g[l_env[k]:l_env[k+1]], blocks l_first[k]..k one after another",
    ),
    Field(
        "l_block",
        "nl+1",
        "number of the first block (k, l_first[k]) of group k, diagonal blocks counted",
    ),
    Field(
        "l_shared_at",
        "number of blocks + 1",
        "pairs of block b are those from l_shared_at[b] to l_shared_at[b+1]",
    ),
    Field(
        "l_shared",
        "2*(number of pairs)",
        "entries of two groups that belong to the same moving body: of the later group, of the earlier",
    ),
    Field("l_k", "nl+1", "slopes of coupling k are those from l_k[k] to l_k[k+1]"),
    Field("l_speed", "number of slopes", "speed index"),
    Field("l_slope", "number of slopes", "register of the partial derivative"),
    Field("l_arm_at", "nl+1", "arms of coupling k are those from l_arm_at[k] to l_arm_at[k+1]"),
    Field(
        "l_arm",
        f"{R.ARM.size}*(number of arms)",
        "records ARM: how a coupling depends on the velocity of a point and the spin of a body",
    ),
    Field(
        "l_input",
        f"{R.FOLLOWED.size}*(number of inputs)",
        "records FOLLOWED: inputs that couplings follow",
    ),
    Field(
        "l_rank", "nl", "independent rows of group k, given those before it, in general position"
    ),
    Field("l_size", "1", "nlx, length of `loop_x`"),
    Field("set_speed", "nk", "speeds that actions of events and ends of stages set"),
    # contacts: nc of them, ncr rows; the gap along the normal and, with friction, the slip along two directions of the plane of touch
    Field("c_row", "nc+1", "rows of contact k are c_row[k]:c_row[k+1]"),
    Field("c_law", "nc", "Restitution hypothesis"),
    Field(
        "c_number",
        "3*nc",
        "registers of the coefficients of restitution and friction, and of the speed of rest",
    ),
    Field("c_guard", "2*nc", "registers of the guards: normal, slip or -1"),
    Field("c_value", "ncr", "first of three registers: value, rate, second derivative at rest"),
    Field(
        "c_arm_at", "ncr+1", "arms of row r are those from c_arm_at[r] to c_arm_at[r+1] of l_arm"
    ),
    Field(
        "u_held",
        "nu",
        "1: the coordinate's start is given by the user, 2: the speed's start is, 3: both",
    ),
    Field(
        "modal", f"{R.MODAL.size}*(number of frames)", "records MODAL: bodies that bend by modes"
    ),
    Field("faces", f"{R.FACE.size}*(number of interfaces)", "records FACE"),
    Field(
        "ghosts",
        "ngh",
        "bodies without mass that only the loops hold: they borrow inertia during the solution",
    ),
)
MODEL_FLOATS = (
    Field("val0", "nr", "initial image of the registers: constants, parameter and input defaults"),
    Field("table_data", "nd", "grids and values of all tables"),
    Field(
        "modal_data",
        "nmd",
        "frames: mass, S_a, J_ab, V_ab, masses of the n modes, S_kl, W_kl; interfaces: place, shifts and turns of the modes, shifts of second order",
    ),
    Field("lent", "2*ngh", "mass and moment of inertia that a ghost borrows"),
)

WORK = (
    Field("head", str(R.HEAD.size), "counters and flags of an instance: record HEAD", R.HEAD),
    Field("val", "nr", "registers"),
    Field("q", "nq", "coordinates, argument of entries"),
    Field("u", "nu", "speeds (or result u of hamilton)"),
    Field("x", "nx", "first-order states"),
    Field("p", "nu", "momenta"),
    Field("udot", "nu", "result: rates of the speeds"),
    Field("pdot", "nu", "result: rates of the momenta"),
    Field("xdot", "nx", "result: rates of the states"),
    Field("given", "ni", "inputs at `given_at` of the head, where they have slopes"),
    Field("slope", "ni", "slopes of the inputs"),
    Field(
        "curve",
        "4*ni",
        "coefficients of the second to fifth power of inputs that move, CURVE per input",
    ),
    Field("tau", "nu", "generalised force along speeds: the caller's and those of force elements"),
    Field("added", "nu", "caller's forces along speeds"),
    Field("extra", "6*(N+1)", "caller's loads: force and moment about O_i, body axes"),
    Field("wrench", "6*(N+1)", "applied force and moment about O_i, ground axes, without gravity"),
    Field("reaction", "6*(N+1)", "result: joint reaction, force and moment at O_i, body axes"),
    Field("body", f"{R.BODY.size}*(N+1)", "derived constants of bodies, records BODY"),
    Field("elem", f"{R.ELEMENT.size}*ne", "derived constants of elements, records ELEMENT"),
    Field(
        "body_code",
        "2*(N+1)",
        "of the folded joint constants: 1, 2, 3 where the axis is +x, +y, +z, else 0; 1 where the folded rotation is none",
    ),
    Field("elem_code", "ne", "1, 2, 3 where the axis of an element is +x, +y, +z, else 0"),
    Field("rotor", "nu", "inertia of the motor reflected to speed j"),
    Field("row", f"{R.ROW.size}*(N+1)", "fast path per body, records ROW"),
    Field("col", f"{R.COLUMN.size}*nu", "fast path per speed, records COLUMN"),
    Field("small", "64", "scratch of one joint"),
    Field(
        "modes",
        "nmw",
        "frames: E (6 by n), right side h (n), M_ff and its factors (n by n), sums (12 n + 9); interfaces: columns (6 by n), shifts, body axes",
    ),
    Field(
        "push",
        "6*(N+1)*min(nl+nk+nc,1)",
        "wrench of the constraints on body i and what it carries: force, moment about O_i, ground axes",
    ),
    Field(
        "push_u", "nu*min(nl+nk+nc,1)", "generalised force of the couplings, or along set speeds"
    ),
    Field(
        "loop_w",
        "36*nle",
        "unit wrenches of the rows of a group on their way to the ground, 6 per row",
    ),
    Field(
        "loop_x",
        "nlx",
        "X = L⁻ᵀ Jᵀ of the elimination M = LᵀDL, so that J M⁻¹ Jᵀ = Xᵀ D⁻¹ X: entry by entry, speed by speed",
    ),
    Field("loop_z", "nlx", "Z = D⁻¹ X"),
    Field(
        "loop_plane",
        "nl",
        "1, 2, 3 where group k lies in a plane across the ground's x, y, z, else 0",
    ),
    Field(
        "loop_even",
        "nl",
        "1 where the last factorisation kept the two or three rows of group k in their own order",
    ),
    Field("loop_g", "nlg", "envelope of J M⁻¹ Jᵀ and of its pivoted factor"),
    Field("loop_pivot", "nlr", "rows of a group in the order in which they became pivots"),
    Field("loop_found", "nl", "rank of group k in the last factorisation"),
    Field("loop_rank", "nl", "largest rank group k may have"),
    Field("loop_r", "nlr", "residual of the rows: positions, velocities or accelerations"),
    Field("loop_b", "nlr", "scratch of the solution"),
    Field("loop_d", "nlr", "J u̇ of a change, or that the repayment of borrowed inertia must keep"),
    Field(
        "ghost_w",
        "6*ngh",
        "increments of acceleration of a ghost, angular and linear, for which its borrowed inertia has been repaid",
    ),
    Field(
        "loop_lam",
        "nlr",
        "multipliers: force and moment of the twin's weld, ground axes; force of a coupling",
    ),
    Field("loop_free", "nlr", "multipliers of the loops as they are, while they are pulled closed"),
    Field(
        "loop_live",
        "nlr",
        "largest share of the row's scale that its diagonal has had: a row of zeros constrains nothing",
    ),
    Field("loop_scale", "2*nl", "size of the diagonal of J M⁻¹ Jᵀ, position and rotation rows"),
    Field(
        "loop_open", "nl", "largest residual of group k in any direction, those without rows too"
    ),
    Field(
        "loop_q",
        "3*nq*min(nl,1)",
        "coordinates to go back to: of the start, of the last step, of the nearest place so far",
    ),
    Field("loop_u", "nu*min(nl,1)", "speeds to go back to"),
    Field("loop_weight", "nu*min(nl,1)", "inverse weight of a change of speed j in the assembly"),
    Field(
        "loop_mark",
        "nu*min(nl,1)",
        "0: the constraints hold speed j; 1: they let it begin, but not go on; 2: it is free",
    ),
    # events: what their actions ask for, and the least change that gives it; k stands for speed set_speed[k]
    Field("new_value", "na", "value of action a, read before anything is written"),
    Field("set_mark", "nk", "1: speed k is set at this instant"),
    Field("set_to", "nk", "its value"),
    Field(
        "set_hold", "nk", "1: coordinate k is set at this instant, and kept while the loops close"
    ),
    Field("set_q", "nq*min(nk,1)", "coordinates that are set at this instant, others not a number"),
    Field("set_want", "nk", "change of speed k that is asked for"),
    Field(
        "set_g",
        "nk*nk",
        "G = S P M⁻¹ Sᵀ: change of speed k by a unit impulse along speed m under the constraints",
    ),
    Field("set_own", "nk", "diagonal of S M⁻¹ Sᵀ, without the constraints"),
    Field("set_done", "nk", "0 left out, 1 to be eliminated, 2 eliminated"),
    Field("set_lam", "nk", "impulses along the set speeds"),
    Field("set_change", "nu*min(nk,1)", "change under the constraints alone"),
    Field("set_rest", "nlr*min(nk,1)", "residual of accelerations at rest"),
    # contacts; what is told per contact, then per row
    Field("c_mode", "nc", "Contact: open, sticking or sliding"),
    Field("c_included", "nc", "1: it takes part in the present problem"),
    Field("c_impact", "nc", "Impact: how it takes part in the present impact"),
    Field("c_begin", "nc", "first of its rows among those listed"),
    Field("c_hold", "nc", "1: its normal row is held"),
    Field(
        "c_friction",
        "nc",
        "Friction: sticks, slips, or slips as it is driven across its slip directions",
    ),
    Field("c_turned", "nc", "how often its slip has been turned round"),
    Field("c_forced", "nc", "1: slips in a direction that is known"),
    Field("c_mu", "nc", "coefficient of friction"),
    Field("c_base", "nc", "least normal force"),
    Field("c_bounce", "nc", "coefficient of restitution that counts"),
    Field("c_share", "nc", "part of the impulse of compression that expansion gives back"),
    Field("c_slip", "2*nc", "direction of slip in the present problem"),
    Field(
        "c_free_count", "nc", "how many free slip directions a contact has while its gap is held"
    ),
    Field("c_free_slip", "2*nc", "the free slip direction where there is one"),
    Field(
        "c_drift",
        "2*nc",
        "velocity across the free slip directions that no force changes while the gap is held",
    ),
    Field(
        "c_dir",
        "2*nc",
        "direction of slip of sliding contacts at the last state that the run went on from",
    ),
    Field("c_along", "nc", "slip along that direction there, 0 where none slides"),
    Field(
        "c_margin", "2*nc", "what a closed contact lacks to open, and a sticking one to slide, m/s2"
    ),
    Field("c_out", "4*nc", "normal force, friction, normal impulse of the last impact, state"),
    Field("c_at", "ncr", "rows that take part, listed"),
    Field("c_lam", "ncr", "contact forces"),
    Field("c_x", "ncr", "forces or impulses of the present problem"),
    Field("c_b", "ncr", "motion along the rows without them"),
    Field("c_rate", "ncr", "velocities along the rows during an impact"),
    Field("c_plastic", "ncr", "impulses without restitution"),
    Field("c_total", "ncr", "impulses of the whole impact"),
    Field("c_sum", "ncr", "scratch of the sweeps"),
    Field(
        "c_pull",
        "ncr",
        "what pulls open contacts together for a host, in the motion without forces",
    ),
    Field("c_from", "ncr", "forces from which a proximal step starts"),
    Field(
        "c_g",
        "ncr*ncr",
        "G = N P M⁻¹ Nᵀ: motion along row r by a unit force along row s under the constraints",
    ),
    Field("c_h", "ncr*(ncr+1)", "equations of the guessed states"),
    Field(
        "c_kept",
        "(12*(N+1)+4*nu+6*ngh)*min(nc,1)",
        "what the elimination has found without contact forces",
    ),
    Field("c_goal", "nlr*min(nc,1)", "J u̇ that the loops keep"),
    Field("c_increment", "nlr*min(nc,1)", "J u̇ without contact forces"),
    Field("c_multiplier", "nlr*min(nc,1)", "multipliers of the loops without contact forces"),
    # literal forms, body axes; six-vectors are (linear, angular); matrices row by row unless said otherwise. Kinematics and loads:
    Field("G", "9*(N+1)", "G_i: components from frame kappa_i to frame i"),
    Field("Rg", "9*(N+1)", "rotation ground-from-body"),
    Field("rho", "3*(N+1)", "origin of frame i in frame kappa_i"),
    Field("A", "6*nu", "columns of A_i one after another"),
    Field("Ap", "6*nu", "rows of the pseudo-inverse (AᵀA)⁻¹Aᵀ of A_i"),
    Field("Adot", "6*nu", "rates of the columns of A_i in body axes"),
    Field(
        "ecol",
        "6*ne",
        "tangent column of an element at O_i (one-freedom and given-motion elements)",
    ),
    Field(
        "Z",
        "36*(N+1)",
        "orthogonal matrix of joint i by rows: n_i rows that span A_i, then the 6 - n_i columns of Z_i",
    ),
    Field("vh", "6*(N+1)", "v̂_i, explicit-time part of the relative velocity"),
    Field("v", "6*(N+1)", "velocity of frame i"),
    Field("wp", "6*(N+1)", "w'_i = w^c_i + ŵ_i"),
    Field("w", "6*(N+1)", "accelerations w_i"),
    Field("F", "6*(N+1)", "F_i: active force and moment about O_i, gravity and tau included"),
    Field("Fp", "6*(N+1)", "F'_i = F_i + F^c_i"),
    # what the forms derive; linear in N
    Field(
        "Ms",
        "36*(N+1)",
        "M*_i of ABM and DEC; m, h, J (10 of 36) of the composite body in CBM; 1/m, rc, Jc⁻¹ in LGR",
    ),
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
    Field(
        "diagonal",
        "6*(N+1)",
        "diagonal before a factorisation, or the size of the inertias that met in body i",
    ),
    # rows of blocks for the pairs that occur: sizes nm, nb, nh are the last entries of m_at, b_at, h_at; path, direct, sibling are 1 when wanted
    Field("Mr", "nm*path", "M and its factor L (CBM, DRT, ITR, their momentum twins, mass matrix)"),
    Field("Br", "nb*direct", "B (DRT)"),
    Field("Hr", "nh*sibling", "H of (2.24) and its factor (LGR, LGR-H)"),
    # nu*nu; dense is 1 when wanted
    Field("Mq", "nu*nu*dense", "mass matrix, full symmetric"),
    Field(
        "Hq",
        "nu*nu*dense",
        "H of ITR, approximate inverse of M, or D and L of its direct variant, carried between evaluations",
    ),
    Field("itr", "6*nu", "vectors of ITR"),
    Field("y", "nq+nu+nx", "state of the integrator"),
    Field("ydot", "nq+nu+nx", "its rate"),
)
# flags and numbers of things: the same for all states that are evaluated together, never wide numbers
PLAIN = (
    "head", "body_code", "elem_code", "loop_pivot", "loop_found", "loop_rank", "loop_plane",
    "loop_even",
)  # fmt: skip
PLAIN += (
    "c_mode", "c_included", "c_impact", "c_begin", "c_hold", "c_friction", "c_turned", "c_forced",
    "c_free_count", "c_at",
)  # fmt: skip
# derived constants: they differ between lanes, but have no slopes
CONSTANTS = ("body", "elem", "rotor")
# first and last field of the literal group: allocated when a literal method is first used;
# `dense` is 1 when n*n arrays are wanted
LITERAL = ("G", "itr")


def places(table: tuple[Field, ...], first: int) -> dict[str, int]:
    """Return the directory index of every field of a block; a closing entry ends each directory."""
    return {field.name: first + k for k, field in enumerate(table)}


# the ints of a model: record HEADER, three directories of offsets, then the fields of MODEL_INTS
AT_INTS = R.HEADER.size
AT_FLOATS = AT_INTS + len(MODEL_INTS) + 1
AT_WORK = AT_FLOATS + len(MODEL_FLOATS) + 1
AT_FIELDS = AT_WORK + len(WORK) + 1
MODEL_AT = {"header": -1} | places(MODEL_INTS, AT_INTS) | places(MODEL_FLOATS, AT_FLOATS)
WORK_AT = places(WORK, AT_WORK)
RECORD_FIELDS = {"header": R.HEADER} | {
    field.name: field.record for field in (*MODEL_INTS, *WORK) if field.record is not None
}
REGISTERS = R.HEAD.size  # where the registers of a workspace begin: they follow its head
