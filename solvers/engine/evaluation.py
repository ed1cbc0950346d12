"""One evaluation of the equations of motion: registers, kinematics, loads, accelerations, outputs."""

from kinetree.solvers import layout as L
from kinetree.solvers.engine.derived_constants import run_phase
from kinetree.solvers.engine.kinematics import motion, velocities
from kinetree.solvers.engine.loads import loads
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.sensors.measure import measure
from kinetree.solvers.views import followed_at


@kernel
def set_registers(model, ws, t):
    """Copy time and state to their registers and evaluate the prescribed motions; return the
    status.
    """
    h = model.header
    ws.val[0] = t
    for k in range(ws.q.size):
        ws.val[h.r_q + k] = ws.q[k]
    for k in range(ws.u.size):
        ws.val[h.r_u + k] = ws.u[k]
    for k in range(ws.x.size):
        ws.val[h.r_x + k] = ws.x[k]
    if ws.head.sloped != 0.0:
        move_inputs(model, ws, t - ws.head.given_at)
    if model.header.followed > 0:
        rates_of_inputs(model, ws, t - ws.head.given_at)
    return run_phase(model, ws, 1)


@kernel
def rates_of_inputs(model, ws, dt):
    """Write first and second derivatives of the inputs that couplings use; they are zero for inputs
    held constant.
    """
    for k in range(model.header.followed):
        one = followed_at(model.l_input, k)
        i = one.input
        slope = 0.0
        bend = 0.0
        if ws.head.sloped == 2.0:
            for m in range(L.CURVE - 1, -1, -1):
                c = (m + 2.0) * ws.curve[L.CURVE * i + m]
                slope = (slope + c) * dt
                bend = bend * dt + (m + 1.0) * c
        if ws.head.sloped != 0.0:
            slope = slope + ws.slope[i]
        ws.val[one.rate] = slope
        ws.val[one.bend] = bend


@kernel
def move_inputs(model, ws, dt):
    """Evaluate the inputs as polynomials of the time since they were set."""
    curved = ws.head.sloped == 2.0
    for k in range(ws.slope.size):
        rise = 0.0
        if curved:
            for m in range(L.CURVE - 1, -1, -1):
                rise = (rise + ws.curve[L.CURVE * k + m]) * dt
        ws.val[model.header.r_inputs + k] = ws.given[k] + (ws.slope[k] + rise) * dt


@kernel
def place(model, ws, t, inertia):
    """Compute positions, velocities and the sensors of both for ws.q, ws.u, ws.x; `inertia` also
    computes body inertias for an elimination. Return the status.
    """
    status = set_registers(model, ws, t)
    motion(model, ws, inertia)
    see(model, ws)
    return status


@kernel
def see(model, ws):
    """Compute body velocities and the sensors of positions and velocities, if anything reads them."""
    if model.header.forces > 0 or model.header.idle_sensors > 0:
        velocities(model, ws)
        measure(model, ws, 0, model.header.late_sensors)


@kernel
def loaded(model, ws, t):
    """Compute kinematics (`place`), evaluate the state program and apply all loads; return the
    status.
    """
    return pushed(model, ws, place(model, ws, t, True))


@kernel
def pushed(model, ws, status):
    """Evaluate the state program and apply all loads, unless `status` is an error already; return
    the status.
    """
    if status == 0:
        status = run_phase(model, ws, 2)
    for j in range(ws.tau.size):
        ws.tau[j] = ws.added[j]
    if model.header.forces > 0:
        loads(model, ws)
    return status


@kernel
def finished(model, ws):
    """Evaluate everything that needs accelerations: sensors, outputs and state derivatives; return
    the status.
    """
    measure(model, ws, model.header.late_sensors, model.header.idle_sensors)
    status = run_phase(model, ws, 3)
    for k in range(model.x_rate.size):
        ws.xdot[k] = ws.val[model.x_rate[k]]
    return status


@kernel
def tell(model, ws):
    """Evaluate the sensors that only results use, after accelerations and reactions."""
    measure(model, ws, model.header.idle_sensors, model.header.sensors)


@boundary("state")
def load(model, ws, t):
    """Out-of-line version of `loaded` for plain numbers (no SIMD lanes or duals)."""
    return loaded(model, ws, t)


@boundary("state")
def look(model, ws, t):
    """Compute kinematics without loads: positions, velocities, their sensors and the state program;
    return the status.
    """
    status = place(model, ws, t, False)
    return run_phase(model, ws, 2) if status == 0 else status


@boundary("solve")
def finish(model, ws):
    """Out-of-line version of `finished` for plain numbers (no SIMD lanes or duals)."""
    return finished(model, ws)
