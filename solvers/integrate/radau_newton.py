"""Collocation equations of Radau IIA of order 5 by simplified Newton iteration in transformed variables.

Z = h (A x I) F(Z) becomes, with W = (T^-1 x I) Z, one real system (g/h - J) dw_1 = r_1 and one complex system
((a + i b)/h - J)(dw_2 + i dw_3) = r_2 + i r_3: about 5 n^3 / 3 multiplications for the factors instead of 9 n^3.
E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.8 (RADAU5).
"""

import math

from kinetree.solvers.integrate import controller as CT
from kinetree.solvers.integrate.linear_solver import factor, factor_complex, solve, solve_complex
from kinetree.solvers.kernel import kernel

ROOT6 = math.sqrt(6.0)
C1, C2 = (4.0 - ROOT6) / 10.0, (4.0 + ROOT6) / 10.0
# eigenvalues of A^-1: GAMMA, A_RE +- i B_IM
GAMMA = 3.0 + 3.0 ** (2 / 3) - 3.0 ** (1 / 3)
A_RE, B_IM = 3.0 + 0.5 * (3.0 ** (1 / 3) - 3.0 ** (2 / 3)), 0.5 * (3.0 ** (5 / 6) + 3.0 ** (7 / 6))
T11, T12, T13 = 9.1232394870892942792e-02, -0.14125529502095420843, -3.0029194105147424492e-02
T21, T22, T23 = 0.24171793270710701896, 0.20412935229379993199, 0.38294211275726193779
T31 = 0.96604818261509293619  # T32 = 1, T33 = 0
I11, I12, I13 = 4.3255798900631553510, 0.33919925181580986954, 0.54177053993587487119
I21, I22, I23 = -4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196
I31, I32, I33 = -0.50287263494578687595, 2.5719269498556054292, -0.59603920482822492497
ITERATIONS = 7
TRUSTED = 1e-3  # below it the rate of the last step is believed, and one iteration may do: linear problems
KEEP_JACOBIAN = 0.02  # rate of convergence up to which a Jacobian is kept

THETA = CT.OWN  # rate of convergence of the last iteration
USED = CT.OWN + 1  # iterations of the last step
FACTOR_H = CT.OWN + 2  # step the factors belong to; 0: none
JACOBIAN_AGE = CT.OWN + 3  # 0: evaluated at T_NEW; -1: none
LAST_ACCEPTED_H, LAST_ERROR = CT.OWN + 4, CT.OWN + 5
KAPPA = CT.OWN + 6  # tolerance of the iteration, in units of the step's tolerance
NOT_MEASURED = -1.0  # of QUALITY at a start: a matrix far too stiff, as where a slip begins, makes corrections small whether they converge or not
QUALITY = (
    CT.OWN + 7
)  # theta/(1 - theta) as last measured; grows while single iterations leave it unmeasured
# P: collocation polynomial of the last step, FREE and POWER4, POWER5: what `radau_dense` adds; FORESEEN: continuation of P to the end of this step;
# after WEIGHT two blocks of pivots
(
    Z1,
    Z2,
    Z3,
    W1,
    W2,
    W3,
    G1,
    G2,
    G3,
    P1,
    P2,
    P3,
    FREE,
    POWER4,
    POWER5,
    STAGE,
    SCRATCH,
    FORESEEN,
    WEIGHT,
) = range(CT.BLOCKS, CT.BLOCKS + 19)
DEFECT = G1  # after the error estimate
MATRICES_AT = WEIGHT + 3
JACOBIAN, REAL, COMPLEX_RE, COMPLEX_IM = range(4)


@kernel
def memory_size(n):
    """Return the length of the memory of the Radau Newton iteration for n states."""
    return CT.HEADER + MATRICES_AT * n + 4 * n * n


@kernel
def matrix(mem, j):
    """Return the view of the j-th n x n matrix in `mem`."""
    n = int(mem[CT.N])
    at = CT.HEADER + MATRICES_AT * n + j * n * n
    return mem[at : at + n * n]


@kernel
def trial_of(mem):
    """Return the view of 2n scratch values in `mem`."""
    n = int(mem[CT.N])
    return mem[CT.HEADER + STAGE * n : CT.HEADER + (STAGE + 2) * n]


@kernel
def weigh(mem):
    """Set the weights 1/tolerance of the current step. The inner tolerance is 0.1 rtol^(2/3), since
    the error estimate is only of order 3.
    """
    inner = 0.1 * mem[CT.RTOL] ** (2.0 / 3.0)
    mem[KAPPA] = max(10.0 * 2.22e-16 / inner, min(0.03, math.sqrt(inner)))
    y, atol, weight = CT.block(mem, CT.Y_NEW), CT.block(mem, CT.ATOL), CT.block(mem, WEIGHT)
    for i in range(len(y)):
        weight[i] = 1.0 / (inner * (atol[i] / mem[CT.RTOL] + abs(y[i])))


@kernel
def factorise(mem, h):
    """Factor the real and the complex matrix for step size h; return 1 if one is singular, else 0."""
    n, jacobian = int(mem[CT.N]), matrix(mem, JACOBIAN)
    real, re, im = matrix(mem, REAL), matrix(mem, COMPLEX_RE), matrix(mem, COMPLEX_IM)
    mem[CT.FACTORISATIONS] += 1.0
    mem[FACTOR_H] = h
    for i in range(n * n):
        real[i] = -jacobian[i]
        re[i] = -jacobian[i]
        im[i] = 0.0
    for i in range(n):
        real[i * n + i] += GAMMA / h
        re[i * n + i] += A_RE / h
        im[i * n + i] += B_IM / h
    return factor(real, CT.block(mem, WEIGHT + 1), n) + factor_complex(
        re, im, CT.block(mem, WEIGHT + 2), n
    )


@kernel
def predict(mem, h):
    """Predict start values of Z and W by extrapolating the collocation polynomial of the last step;
    zero for the first step.
    """
    z1, z2, z3, w1, w2, w3 = (
        CT.block(mem, Z1),
        CT.block(mem, Z2),
        CT.block(mem, Z3),
        CT.block(mem, W1),
        CT.block(mem, W2),
        CT.block(mem, W3),
    )
    p1, p2, p3, foreseen = (
        CT.block(mem, P1),
        CT.block(mem, P2),
        CT.block(mem, P3),
        CT.block(mem, FORESEEN),
    )
    s3 = 0.0 if mem[CT.FRESH] == 1.0 else h / mem[CT.H]
    s1, s2 = C1 * s3, C2 * s3
    for i in range(len(z1)):
        z1[i] = s1 * (p1[i] + (s1 - C2 + 1.0) * (p2[i] + (s1 - C1 + 1.0) * p3[i]))
        z2[i] = s2 * (p1[i] + (s2 - C2 + 1.0) * (p2[i] + (s2 - C1 + 1.0) * p3[i]))
        z3[i] = s3 * (p1[i] + (s3 - C2 + 1.0) * (p2[i] + (s3 - C1 + 1.0) * p3[i]))
        foreseen[i] = z3[i]
        w1[i] = I11 * z1[i] + I12 * z2[i] + I13 * z3[i]
        w2[i] = I21 * z1[i] + I22 * z2[i] + I23 * z3[i]
        w3[i] = I31 * z1[i] + I32 * z2[i] + I33 * z3[i]


@kernel
def evaluate_stages(mem, rhs, context, h):
    """Evaluate the rates G at the three stages Y_NEW + Z of the Radau step; return the status."""
    y, stage = CT.block(mem, CT.Y_NEW), CT.block(mem, STAGE)
    nodes = (C1, C2, 1.0)
    for j in range(3):
        z = CT.block(mem, Z1 + j)
        for i in range(len(y)):
            stage[i] = y[i] + z[i]
        status = CT.evaluate(
            CT.block(mem, G1 + j), mem, rhs, context, mem[CT.T_NEW] + nodes[j] * h, stage
        )
        if status != 0:
            return status
    return 0


@kernel
def newton_update(mem, h):
    """Make one Newton correction and return its weighted norm."""
    z1, z2, z3, w1, w2, w3 = (
        CT.block(mem, Z1),
        CT.block(mem, Z2),
        CT.block(mem, Z3),
        CT.block(mem, W1),
        CT.block(mem, W2),
        CT.block(mem, W3),
    )
    g1, g2, g3, weight = (
        CT.block(mem, G1),
        CT.block(mem, G2),
        CT.block(mem, G3),
        CT.block(mem, WEIGHT),
    )
    n, g, a, b = len(z1), GAMMA / h, A_RE / h, B_IM / h
    for i in range(n):
        r1, r2, r3 = g1[i], g2[i], g3[i]
        g1[i] = I11 * r1 + I12 * r2 + I13 * r3 - g * w1[i]
        g2[i] = I21 * r1 + I22 * r2 + I23 * r3 - (a * w2[i] - b * w3[i])
        g3[i] = I31 * r1 + I32 * r2 + I33 * r3 - (a * w3[i] + b * w2[i])
    solve(matrix(mem, REAL), CT.block(mem, WEIGHT + 1), n, g1)
    solve_complex(
        matrix(mem, COMPLEX_RE), matrix(mem, COMPLEX_IM), CT.block(mem, WEIGHT + 2), n, g2, g3
    )
    total = 0.0
    for i in range(n):
        total += (g1[i] * weight[i]) ** 2 + (g2[i] * weight[i]) ** 2 + (g3[i] * weight[i]) ** 2
        w1[i] += g1[i]
        w2[i] += g2[i]
        w3[i] += g3[i]
        z1[i] = T11 * w1[i] + T12 * w2[i] + T13 * w3[i]
        z2[i] = T21 * w1[i] + T22 * w2[i] + T23 * w3[i]
        z3[i] = T31 * w1[i] + w2[i]
    return math.sqrt(total / max(3 * n, 1))


@kernel
def iterate(mem, rhs, context, h):
    """Solve the collocation equations; return (status, factor): 0 converged; -1 not converged, try
    step size h*factor; > 0 failure of the right-hand side.
    """
    predict(mem, h)
    last, rate, last_rate, kappa = 0.0, 1.0, 0.0, mem[KAPPA]
    quality, measured = max(mem[QUALITY], 2.2e-16) ** 0.8, mem[QUALITY] != NOT_MEASURED
    if quality > TRUSTED or not measured:
        quality = 1.0
    mem[THETA] = KEEP_JACOBIAN
    for k in range(1, ITERATIONS + 1):
        status = evaluate_stages(mem, rhs, context, h)
        if status != 0:
            return status, 0.5
        size = newton_update(mem, h)
        mem[USED] = k
        if not size < math.inf:
            return -1, 0.5
        if k > 1:
            rate = size / last
            theta = rate if k == 2 else math.sqrt(rate * last_rate)
            last_rate = rate
            mem[THETA] = theta
            if theta >= 0.99:
                return -1, 0.5
            quality = theta / (1.0 - theta)
            foreseen = quality * size * theta ** (ITERATIONS - 1 - k) / kappa
            if k < ITERATIONS and foreseen >= 1.0:
                return -1, 0.8 * min(max(foreseen, 1e-4), 20.0) ** (-1.0 / (3 + ITERATIONS - k))
        last = max(size, 2.2e-16)
        if quality * size <= kappa and (measured or k > 1):
            mem[QUALITY] = quality
            return 0, 1.0
    return -1, 0.5
