"""Coefficients of the Adams method on a nonuniform grid: psi, alpha, beta, sigma and g of L. F.
Shampine, M. K. Gordon, 1975, chapter 5.

The work depends on the order, not on the number of states. Tables are indexed from 1 as in the
book.
"""

from kinetree.solvers.integrate.controller import BLOCKS, HEADER, ORDER, OWN, N
from kinetree.solvers.kernel import kernel

MAX_ORDER = 12
WANTED_ORDER = OWN  # k: order of the next step; header ORDER is that of the last one
LAST_H = OWN + 1  # size of the last accepted step
CONSTANT = OWN + 2  # n_s: number of successive steps of size h, the running one included
RISING = OWN + 3  # 1 during the start: step doubles and order rises with every step

PREDICTED, F_PREDICTED, SUM_ERROR, SUM_ERROR_TRIAL, MISMATCH, PHI = range(
    BLOCKS, BLOCKS + 6
)  # phi_1 is block PHI + 1
PHIS = MAX_ORDER + 2
TABLES_AT = PHI + PHIS + 1  # blocks of n before the tables
ALPHA, BETA, PSI, SIGMA, V, W, INTEGRAL, DENSE_INTEGRAL = range(
    8
)  # INTEGRAL: g over a step, DENSE_INTEGRAL: over a part of it
TABLE = 16


@kernel
def memory_size(n):
    """Return the length of the memory `mem` for n states."""
    return HEADER + TABLES_AT * n + 8 * TABLE


@kernel
def table(mem, j):
    """Return the view of table j of the coefficients."""
    at = HEADER + TABLES_AT * int(mem[N]) + j * TABLE
    return mem[at : at + TABLE]


@kernel
def coefficients(mem, h):
    """Fill the coefficient tables for a step of size h, keeping entries that have not changed."""
    k, k_old = int(mem[WANTED_ORDER]), int(mem[ORDER])
    alpha, beta, psi, sigma, g = (
        table(mem, ALPHA),
        table(mem, BETA),
        table(mem, PSI),
        table(mem, SIGMA),
        table(mem, INTEGRAL),
    )
    ns = int(mem[CONSTANT]) if h == mem[LAST_H] else 0
    if ns <= k_old:
        ns += 1
    mem[CONSTANT] = ns
    g[1] = 1.0
    g[2] = 0.5
    sigma[1] = 1.0
    if k < ns:
        return
    beta[ns] = 1.0
    alpha[ns] = 1.0 / ns
    span = h * ns
    sigma[ns + 1] = 1.0
    for i in range(ns + 1, k + 1):
        before = psi[i - 1]
        psi[i - 1] = span
        beta[i] = beta[i - 1] * span / before
        span = before + h
        alpha[i] = h / span
        sigma[i + 1] = i * alpha[i] * sigma[i]
    psi[k] = span
    integrals(table(mem, V), table(mem, W), g, alpha, ns, k, k_old)


@kernel
def integrals(v, w, g, alpha, ns, k, k_old):
    """Fill g_i, the integrals of the basis polynomials over the step, by the recursion (5.12) of the book."""
    if ns == 1:
        for i in range(1, k + 1):
            v[i] = 1.0 / (i * (i + 1))
            w[i] = v[i]
    else:
        if (
            k > k_old
        ):  # the order was raised: columns as if it had always been that, whatever it was since the steps are equal
            for i in range(1, k + 1):
                v[i] = 1.0 / (i * (i + 1))
            for j in range(2, ns):
                for i in range(1, k + 2 - j):
                    v[i] -= alpha[j] * v[i + 1]
        for i in range(1, k + 2 - ns):
            v[i] -= alpha[ns] * v[i + 1]
            w[i] = v[i]
        g[ns + 1] = w[1]
    for j in range(ns + 2, k + 2):
        for i in range(1, k + 3 - j):
            w[i] -= alpha[j - 1] * w[i + 1]
        g[j] = w[1]


@kernel
def shift_back(mem, h):
    """Undo the change of the step history psi by a rejected step of size h."""
    psi = table(mem, PSI)
    for i in range(2, int(mem[WANTED_ORDER]) + 1):
        psi[i - 1] = psi[i] - h


@kernel
def integrals_to(g, w, psi, order, distance):
    """Fill g_1..g_order: integrals of the basis polynomials from t_n to t_n + distance, divided by distance."""
    for i in range(1, order + 1):
        w[i] = 1.0 / i
    g[1] = 1.0
    before = 0.0
    for j in range(2, order + 1):
        a, b = (distance + before) / psi[j - 1], distance / psi[j - 1]
        for i in range(1, order + 2 - j):
            w[i] = a * w[i] - b * w[i + 1]
        g[j] = w[1]
        before = psi[j - 1]
