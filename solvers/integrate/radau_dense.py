"""Dense output of Radau IIA: the collocation polynomial P, and P refined until it is nearly as good
as the ends of steps, at no evaluation.

Inside a step P, through the start, the stages c_1, c_2 and the end, differs from y by two errors of
the same order h^4:

* where y is not tied by stiff forces, its stages are inaccurate. f(P) - P' = d (s - c_1)(s - c_2)(s
  - 1), so y - P = h d M(s), M the integral of the product from 0. The embedded error estimate is
  h/GAMMA times this at s = 0, filtered by the real system: components tied by stiff forces keep
  their exact stages;
* P has no fourth-power term. The second stage and the start of the previous step, corrected in the
  same way, give the fourth and fifth powers.

Neither step sizes nor errors at step ends depend on this refinement. Collocation: E. Hairer, G.
Wanner, Solving Ordinary Differential Equations II, IV.8.
"""

from kinetree.solvers.integrate.controller import FRESH, T_NEW, Y_NEW, Y_OLD, H, block, copy
from kinetree.solvers.integrate.radau_newton import (
    C1,
    C2,
    DEFECT,
    FREE,
    GAMMA,
    P1,
    P2,
    P3,
    POWER4,
    POWER5,
    Z1,
    Z2,
    Z3,
)
from kinetree.solvers.kernel import kernel

LONGEST = 4.0  # step over the old step up to which the old points say something about this one


@kernel
def nodes(back):
    """Return s (s - c_1) (s - c_2) (s - 1) for back = s - 1."""
    return (back + 1.0) * (back + 1.0 - C1) * (back + 1.0 - C2) * back


@kernel
def stages(back):
    """Return the cubic M(s) - s (s - c_1) (s - c_2) (s - 1) / 4 for back = s - 1, M being the
    integral of the module's docstring.
    """
    return -0.075 * (back + 1.0) * (2.0 * back + 1.0) * back


@kernel
def cubic(p1, p2, p3, back):
    """Return the collocation polynomial at `back` = s - 1, relative to the end of the step."""
    return back * (p1 + (back - C2 + 1.0) * (p2 + (back - C1 + 1.0) * p3))


@kernel
def store(mem, h):
    """Store the collocation polynomial of the step for dense output."""
    z1, z2, z3, p1, p2, p3 = (
        block(mem, Z1),
        block(mem, Z2),
        block(mem, Z3),
        block(mem, P1),
        block(mem, P2),
        block(mem, P3),
    )
    defect, free, power4, power5 = (
        block(mem, DEFECT),
        block(mem, FREE),
        block(mem, POWER4),
        block(mem, POWER5),
    )
    known = mem[FRESH] != 1.0 and h <= LONGEST * mem[H]
    x6 = -mem[H] / h if known else -1.0  # the old points, from the start of this step
    x5 = (1.0 - C2) * x6
    back5, back6 = x5 - 1.0, x6 - 1.0
    for i in range(len(z1)):
        old5, old6 = (
            (C2 - 1.0) * p1[i] + free[i] * stages(C2 - 1.0),
            cubic(p1[i], p2[i], p3[i], -1.0),
        )
        p1[i] = (z2[i] - z3[i]) / (C2 - 1.0)
        slope = (z1[i] - z2[i]) / (C1 - C2)
        p2[i] = (slope - p1[i]) / (C1 - 1.0)
        p3[i] = p2[i] - (slope - z1[i] / C1) / C2
        free[i] = -10.0 * GAMMA * defect[i]
        power4[i], power5[i] = 0.25 * free[i], 0.0
        if known:
            miss5 = (
                old5 - z3[i] - cubic(p1[i], p2[i], p3[i], back5) - free[i] * stages(back5)
            ) / nodes(back5)
            miss6 = (
                old6 - z3[i] - cubic(p1[i], p2[i], p3[i], back6) - free[i] * stages(back6)
            ) / nodes(back6)
            power5[i] = (miss6 - miss5) / (x6 - x5)
            power4[i] = miss5 - power5[i] * x5


@kernel
def radau_interpolate(out, mem, t):
    """Compute the state at t inside the last step by the collocation polynomial."""
    y_old, y, p1, p2, p3, h = (
        block(mem, Y_OLD),
        block(mem, Y_NEW),
        block(mem, P1),
        block(mem, P2),
        block(mem, P3),
        mem[H],
    )
    if h == 0.0:
        copy(out, y)
        return
    back = (t - mem[T_NEW]) / h
    blend = back * back * (3.0 + 2.0 * back)
    for i in range(len(y)):
        gap = y_old[i] - y[i] - cubic(p1[i], p2[i], p3[i], -1.0)
        out[i] = y[i] + cubic(p1[i], p2[i], p3[i], back) + blend * gap


@kernel
def radau_refined(out, mem, t):
    """Compute the state at t inside the last step by the refined polynomial."""
    radau_interpolate(out, mem, t)
    if mem[H] == 0.0:
        return
    free, power4, power5 = block(mem, FREE), block(mem, POWER4), block(mem, POWER5)
    back = (t - mem[T_NEW]) / mem[H]
    s, cubed, product = back + 1.0, stages(back), nodes(back)
    for i in range(len(out)):
        out[i] += free[i] * cubed + product * (power4[i] + power5[i] * s)
