"""Modified divided differences of the Adams method: prediction, error estimates, update and order
selection.

L. F. Shampine, M. K. Gordon, Computer Solution of Ordinary Differential Equations, 1975, chapters 5
to 7. One pass costs about 4 k n operations at order k.
"""

import math

from kinetree.solvers.integrate.adams_coefficients import (
    BETA,
    CONSTANT,
    F_PREDICTED,
    INTEGRAL,
    MAX_ORDER,
    PHI,
    PREDICTED,
    RISING,
    SIGMA,
    SUM_ERROR,
    SUM_ERROR_TRIAL,
    WANTED_ORDER,
    shift_back,
    table,
)
from kinetree.solvers.integrate.controller import ATOL, F_NEW, RTOL, Y_NEW, block
from kinetree.solvers.kernel import kernel

# |gamma*_i|: error constants of the Adams-Moulton formulas, index = order
GAMMA = (
    1.0,
    1 / 2,
    1 / 12,
    1 / 24,
    19 / 720,
    3 / 160,
    863 / 60480,
    275 / 24192,
    33953 / 3628800,
    8183 / 1036800,
    3250433 / 479001600,
    4671 / 788480,
    13695779093 / 2615348736000,
    2224234463 / 475517952000,
)


@kernel
def predict(mem, h):
    """Extrapolate the differences to the end of the step, and y into PREDICTED."""
    k = int(mem[WANTED_ORDER])
    beta, g = table(mem, BETA), table(mem, INTEGRAL)
    y, p, lost, lost_trial = (
        block(mem, Y_NEW),
        block(mem, PREDICTED),
        block(mem, SUM_ERROR),
        block(mem, SUM_ERROR_TRIAL),
    )
    spare, above = block(mem, PHI + k + 1), block(mem, PHI + k + 2)
    for i in range(len(y)):
        above[i] = spare[i]
        spare[i] = 0.0
        p[i] = 0.0
    for j in range(k, 0, -1):
        phi, next_phi, weight, scale = block(mem, PHI + j), block(mem, PHI + j + 1), g[j], beta[j]
        for i in range(len(y)):
            scaled = scale * phi[i]
            p[i] += weight * scaled
            phi[i] = scaled + next_phi[i]
    for i in range(len(y)):
        rise = h * p[i] - lost[i]
        p[i] = y[i] + rise
        lost_trial[i] = (p[i] - y[i]) - rise


@kernel
def take_back(mem, h):
    """Undo the changes of `predict`: the differences and the step history psi."""
    beta = table(mem, BETA)
    for j in range(1, int(mem[WANTED_ORDER]) + 1):
        phi, next_phi, factor = block(mem, PHI + j), block(mem, PHI + j + 1), 1.0 / beta[j]
        for i in range(len(phi)):
            phi[i] = factor * (phi[i] - next_phi[i])
    shift_back(mem, h)


@kernel
def difference_norm(mem, a, b, factor, c):
    """Return the weighted root mean square of a - b + factor*c."""
    rtol, atol, y, p = mem[RTOL], block(mem, ATOL), block(mem, Y_NEW), block(mem, PREDICTED)
    total = 0.0
    for i in range(len(a)):
        r = (a[i] - b[i] + factor * c[i]) / (atol[i] + rtol * max(abs(y[i]), abs(p[i])))
        total += r * r
    return math.sqrt(total / max(len(a), 1))


@kernel
def errors(mem, h):
    """Return the error estimate of the step and those of constant steps of order k, k-1, k-2, all
    relative to the tolerance.

    If a step is much shorter than those before it, its own coefficient underestimates the effect of
    a jump; the estimate is then at least that of constant steps.
    """
    k, g, sigma = int(mem[WANTED_ORDER]), table(mem, INTEGRAL), table(mem, SIGMA)
    f, phi_1 = block(mem, F_PREDICTED), block(mem, PHI + 1)
    size = h * difference_norm(mem, f, phi_1, 0.0, phi_1)
    lower, lowest = 0.0, 0.0
    if k >= 2:
        lower = (
            h * sigma[k] * GAMMA[k - 1] * difference_norm(mem, f, phi_1, 1.0, block(mem, PHI + k))
        )
    if k >= 3:
        lowest = (
            h
            * sigma[k - 1]
            * GAMMA[k - 2]
            * difference_norm(mem, f, phi_1, 1.0, block(mem, PHI + k - 1))
        )
    return max(abs(g[k] - g[k + 1]), GAMMA[k]) * size, sigma[k + 1] * GAMMA[k] * size, lower, lowest


@kernel
def update_differences(mem):
    """Update the differences with the new f."""
    k = int(mem[WANTED_ORDER])
    f, phi_1, fresh, above = (
        block(mem, F_NEW),
        block(mem, PHI + 1),
        block(mem, PHI + k + 1),
        block(mem, PHI + k + 2),
    )
    for i in range(len(f)):
        fresh[i] = f[i] - phi_1[i]
        above[i] = fresh[i] - above[i]
    for j in range(1, k + 1):
        phi = block(mem, PHI + j)
        for i in range(len(f)):
            phi[i] += fresh[i]


@kernel
def select_order(mem, h, error, lower, k_low):
    """Return the order of the next Adams step and its error estimate."""
    k = int(mem[WANTED_ORDER])
    if k_low < k or k == MAX_ORDER:
        mem[RISING] = 0.0
    if mem[RISING] == 1.0:
        return k + 1, 0.0
    if k_low < k:
        return k - 1, lower
    if k + 1 > mem[CONSTANT]:
        return k, error
    zero = block(mem, PHI + k + 2)
    higher = h * GAMMA[k + 1] * difference_norm(mem, zero, zero, 1.0, zero)
    if k == 1:
        return (2, higher) if higher < 0.5 * error else (1, error)
    if lower <= min(error, higher):
        return k - 1, lower
    return (k + 1, higher) if higher < error and k < MAX_ORDER else (k, error)


@kernel
def next_step(mem, h, error, k):
    """Return the next step size: doubled, kept, or reduced to between 0.5 and 0.9."""
    if mem[RISING] == 1.0 or 0.5 >= error * 2.0 ** (k + 1):
        return 2.0 * h
    if 0.5 >= error:
        return h
    return h * max(0.5, min(0.9, (0.5 / error) ** (1.0 / (k + 1))))
