"""Detection of sliding modes: solutions that slide along a discontinuity of the right-hand side, as
with a force -sign(der(x)), where steps shrink without end.

On both sides of such a surface the rates lead back to it, so that no step is small enough. The
detection tests whether the progress is too slow to reach the target in reasonable time, and whether
the rates jump, at one instant, along the direction of the current rates.
"""

from kinetree.solvers.instance.derivatives import derivatives, sided_time
from kinetree.solvers.instance.integrators import KIND, is_fixed
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import Status

SLIDING = int(Status.SLIDING)
STEPS_BETWEEN_LOOKS = 128  # steps between two looks
LOOKS_IN_A_ROW = 4  # looks in a row that find the same end a motion: after 512 steps
FUTILE_STEPS = 5e4  # steps that an advance may need without being looked at
STEPS_AHEAD = 20.0  # steps: as far ahead of the state a jump is sought
SMALLEST_JUMP = 0.1  # of a rate: smaller jumps hold up no integrator
HALVINGS = 30


@kernel
def detect_sliding(I, W, mem, context, target):
    """Return SLIDING, with the register of the state whose rate jumps in head.item, after many
    steps along a discontinuity; 0 otherwise.
    """
    if int(W.used) % STEPS_BETWEEN_LOOKS != 0:
        return 0
    advanced, t = C.time_of(mem) - W.looked_at, C.time_of(mem)
    W.looked_at = t
    held_up = advanced * (FUTILE_STEPS / STEPS_BETWEEN_LOOKS) < target - t and not is_fixed(
        int(mem[KIND])
    )
    found = find_jumping_rate(I, W, mem, context) if held_up else -1
    W.jumps = W.jumps + 1.0 if found >= 0 else 0.0
    if W.jumps < LOOKS_IN_A_ROW:
        return 0
    W.jumps = 0.0
    _, ws = context
    ws.head.item = state_register(context, found)
    return SLIDING


@kernel
def state_register(context, j):
    """Return the register of entry j of the state vector y = (q, u, x)."""
    model, ws = context
    h, nq, nu = model.header, ws.q.size, ws.u.size
    return h.r_q + j if j < nq else h.r_u + j - nq if j < nq + nu else h.r_x + j - nq - nu


@kernel
def find_jumping_rate(I, W, mem, context):
    """Return the entry of y whose rate jumps between the current state and one several steps ahead
    along the current rates; -1 if none does.
    """
    n = int(mem[C.N])
    y, y_try = C.state_of(mem), W[I.at_scratch : I.at_scratch + n]
    here, there = W[I.at_trial : I.at_trial + n], W[I.at_trial + n : I.at_trial + 2 * n]
    _, ws = context
    t, far = sided_time(ws, C.time_of(mem)), STEPS_AHEAD * mem[C.H]
    if (
        derivatives(here, context, t, y) != 0
        or rates_ahead(there, y_try, context, t, y, here, far) != 0
    ):
        return -1
    atol, largest, j = C.block(mem, C.ATOL), 0.0, -1
    for k in range(n - 1):
        change = abs(there[k] - here[k])
        weighted = change / (atol[k] + mem[C.RTOL] * abs(y[k]))
        if weighted > largest and change > SMALLEST_JUMP * max(abs(here[k]), abs(there[k])):
            largest, j = weighted, k
    if j < 0:
        return -1
    low, high, at_low, at_high = 0.0, far, here[j], there[j]
    whole = abs(at_high - at_low)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if rates_ahead(there, y_try, context, t, y, here, middle) != 0:
            return -1
        if abs(there[j] - at_low) > abs(at_high - there[j]):
            high, at_high = middle, there[j]
        else:
            low, at_low = middle, there[j]
    return j if abs(at_high - at_low) > 0.5 * whole else -1


@kernel
def rates_ahead(rates, y_try, context, t, y, f, distance):
    """Compute the rates, at the same instant, of the state moved by `distance` along f; return the
    status.
    """
    for k in range(len(y)):
        y_try[k] = y[k] + distance * f[k]
    return derivatives(rates, context, t, y_try)
