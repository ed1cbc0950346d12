"""Kernels of an explicit Runge-Kutta pair, generated from its tableau: PI step-size control,
polynomial dense output, stiffness estimate.

The last stage of a step is the first of the next one. The stage before it is at the end of the step
too, so that |f(y_s) - f(y_r)| / |y_s - y_r| of these two estimates the dominant eigenvalue. E.
Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, II.4 to II.6.
"""

import math

from kinetree.solvers.integrate import controller as CT
from kinetree.solvers.integrate.interface import Kernels
from kinetree.solvers.integrate.tableau import Tableau
from kinetree.solvers.kernel import kernel

BETA = 0.04  # weight of the previous error
SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
LAST_ERROR = CT.OWN
STAGE, LAST, ERROR = range(
    CT.BLOCKS, CT.BLOCKS + 3
)  # new state, argument of the stage before the last, error
K = ERROR  # stage s >= 1 is block K + s


@kernel
def judge(mem, h, k_last, k_before, stable):
    """Estimate the dominant eigenvalue from the two evaluations at the end of the step, and count
    steps at the stability limit `stable`.
    """
    mem[CT.LIPSCHITZ] = CT.steepness(k_last, k_before, CT.block(mem, STAGE), CT.block(mem, LAST))
    CT.count_stiff(mem, h * mem[CT.LIPSCHITZ] > stable)


@kernel
def commit(mem, t, h, k_last):
    """Make STAGE and the last stage the new state and rate; the stages are kept for the dense
    output.
    """
    CT.copy(CT.block(mem, CT.Y_OLD), CT.block(mem, CT.Y_NEW))
    CT.copy(CT.block(mem, CT.F_OLD), CT.block(mem, CT.F_NEW))
    CT.copy(CT.block(mem, CT.Y_NEW), CT.block(mem, STAGE))
    CT.copy(CT.block(mem, CT.F_NEW), k_last)
    CT.accept(mem, t, h)


@kernel
def changed(mem, rhs, context):
    """Evaluate f again after Y_NEW was changed; return the status."""
    return CT.evaluate(
        CT.block(mem, CT.F_NEW), mem, rhs, context, mem[CT.T_NEW], CT.block(mem, CT.Y_NEW)
    )


def explicit(table: Tableau) -> Kernels:
    """Return the kernels generated from one tableau, whose values become compile-time constants."""
    count, last = len(table.c), table.stages - 1
    nodes = table.c
    rows = tuple(x for row in table.a for x in row)  # row s begins at s (s - 1)/2
    errors = table.error
    powers = len(table.weights[0])
    dense = tuple(x for weights in table.weights for x in weights)
    order, exponent = float(table.order), 1.0 / (table.lower + 1.0)
    stable = 0.95 * table.stability()

    @kernel
    def size(n):
        """Return the length of the memory `mem` for n states."""
        return CT.HEADER + (K + count) * n

    @kernel
    def restart(mem, rhs, context):
        """Restart at T_NEW with the state in Y_NEW: the first step is chosen anew, error history is
        discarded.
        """
        CT.forget(mem)
        mem[CT.ORDER] = order
        mem[LAST_ERROR] = 1e-4
        status = changed(mem, rhs, context)
        if status == 0:
            mem[CT.H_NEXT] = CT.first_step(
                mem, rhs, context, order, CT.block(mem, STAGE), CT.block(mem, K + 1)
            )
        return status

    @kernel
    def start(mem, rhs, context, t, y):
        """Start at (t, y); return the status."""
        CT.begin(mem, t, y)
        return restart(mem, rhs, context)

    @kernel
    def stages(mem, rhs, context, h, t_end, first, end):
        """Evaluate the stages first..end-1 from Y_NEW and F_NEW; the arguments of the last two
        stages of the step stay in LAST and STAGE.
        """
        y = CT.block(mem, CT.Y_NEW)
        for s in range(first, end):
            argument = CT.block(mem, STAGE if s == last else LAST if s < last else ERROR)
            CT.copy(argument, y)
            for j in range(s):
                weight = h * rows[s * (s - 1) // 2 + j]
                if weight != 0.0:
                    k = CT.block(mem, CT.F_NEW if j == 0 else K + j)
                    for i in range(len(y)):
                        argument[i] += weight * k[i]
            t = t_end if nodes[s] == 1.0 else mem[CT.T_NEW] + nodes[s] * h
            status = CT.evaluate(CT.block(mem, K + s), mem, rhs, context, t, argument)
            if status != 0:
                return status
        return CT.OK

    @kernel
    def error_of(mem, h):
        """Return the weighted norm of the difference of the two embedded solutions."""
        e, k1 = CT.block(mem, ERROR), CT.block(mem, CT.F_NEW)
        for i in range(len(e)):
            e[i] = h * errors[0] * k1[i]
        for s in range(1, last + 1):
            k, weight = CT.block(mem, K + s), h * errors[s]
            for i in range(len(e)):
                e[i] += weight * k[i]
        return CT.norm(mem, e, CT.block(mem, CT.Y_NEW), CT.block(mem, STAGE))

    @kernel
    def step(mem, rhs, context, t_limit):
        """Make one accepted step; return the status."""
        wanted, failed = mem[CT.H_NEXT], CT.STEP_TOO_SMALL
        h = CT.limited(mem, wanted, t_limit)
        for attempt in range(CT.MAX_REJECTIONS):
            if CT.too_small(mem[CT.T_NEW], h):
                break
            t_end = CT.end_time(mem, h, t_limit)
            status = stages(mem, rhs, context, h, t_end, 1, last + 1)
            error = error_of(mem, h) if status == 0 else math.inf
            if error <= 1.0:
                status = stages(mem, rhs, context, h, t_end, last + 1, count)
                error = error if status == 0 else math.inf
            if error <= 1.0:
                factor = (
                    SAFETY * mem[LAST_ERROR] ** BETA / max(error, 1e-10) ** (exponent - 0.75 * BETA)
                )
                h_next = h * min(max(factor, SHRINK), 1.0 if attempt > 0 else GROW)
                # a step that a limit cut short says nothing against the step planned before
                mem[CT.H_NEXT] = max(h_next, wanted) if attempt == 0 and h < wanted else h_next
                mem[LAST_ERROR] = max(error, 1e-4)
                judge(mem, h, CT.block(mem, K + last), CT.block(mem, K + last - 1), stable)
                commit(mem, t_end, h, CT.block(mem, K + last))
                return CT.OK
            mem[CT.REJECTED] += 1.0
            failed = status if status != 0 else CT.STEP_TOO_SMALL
            h *= (
                max(SHRINK, SAFETY / error ** (exponent - 0.75 * BETA))
                if error < math.inf
                else SHRINK
            )
        return failed

    @kernel
    def interpolate(out, mem, t):
        """Compute the state at t inside the last step by the dense output; changes made at the
        step's end are blended in.
        """
        y_old, y, ended, h = (
            CT.block(mem, CT.Y_OLD),
            CT.block(mem, CT.Y_NEW),
            CT.block(mem, STAGE),
            mem[CT.H],
        )
        if h == 0.0:
            CT.copy(out, y)
            return
        s = (t - mem[CT.T_OLD]) / h
        blend = s * s * (3.0 - 2.0 * s)
        for i in range(len(out)):
            out[i] = y_old[i] + blend * (y[i] - ended[i])
        for j in range(count):
            weight = 0.0
            for m in range(powers - 1, -1, -1):
                weight = (weight + dense[j * powers + m]) * s
            k = CT.block(mem, CT.F_OLD if j == 0 else K + j)
            if weight != 0.0:
                for i in range(len(out)):
                    out[i] += h * weight * k[i]

    return Kernels(size, start, restart, changed, changed, step, interpolate)
