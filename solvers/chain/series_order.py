"""Choice of the series order r and the number of doublings m from the error formula [GG11]
(18)-(20) and their work.

After m doublings the relative error of a step is eps(m, r) = 2^m x^(r+1)/(r+1)! with x = omega
Delta, Delta = dt/2^m. If a term of the series costs as much as a doubling, x = (r+2)/2^(r+1) is
optimal; for narrow bands terms are cheaper than doublings, and r grows until x is of order one.
"""

import math
from typing import NamedTuple

import numpy as np

ORDERS = range(2, 41)
LOG_FACTORIALS = np.array([math.lgamma(r + 2) for r in ORDERS])
FINER = 10  # numbers of doublings that are tried
LARGEST_START = 2.0  # omega Delta beyond which the series loses digits by cancellation (e^x)


class Choice(NamedTuple):
    r: int  # order of the series
    m: int  # number of doublings
    error: float  # eps(m, r)
    work: float  # estimated multiplications


def error(m: int, r: int, x: float) -> float:
    """Return the relative error of a step after m doublings, for a series of order r at omega*Delta
    = x.
    """
    return (
        math.exp(m * math.log(2.0) + (r + 1) * math.log(x) - math.lgamma(r + 2)) if x > 0 else 0.0
    )


def optimum(r: int) -> tuple[float, float]:
    """Return the best omega*Delta for order r, if a term costs as much as a doubling, and its error
    ([GG11] (18), (19)).
    """
    x = (r + 2) / 2 ** (r + 1)
    return x, x**r / math.factorial(r + 1)


def choose(
    total: float, accuracy: float, term=lambda k: 1.0, doubling=lambda x: 1.0, lowest: int = 0
) -> Choice:
    """Return the cheapest (r, m >= lowest) with error eps <= accuracy for omega*dt = total. term(k)
    is the work of term k, doubling(x) that of a doubling from omega*Delta = x.
    """
    if total <= 0.0:
        return Choice(ORDERS[0], lowest, 0.0, 0.0)
    lowest = max(lowest, 0, math.ceil(math.log2(total / LARGEST_START)))
    series = np.cumsum([term(k) for k in range(1, ORDERS[-1] + 1)])[ORDERS[0] - 1 :]
    fine = [doubling(total / 2**m) for m in range(1, lowest + FINER)]
    orders, best = np.array(ORDERS), None
    for m in range(lowest, lowest + FINER):
        logarithm = m * math.log(2.0) + (orders + 1) * math.log(total / 2**m) - LOG_FACTORIALS
        met = np.flatnonzero(logarithm <= math.log(accuracy))
        work = float(series[met[0]] + sum(fine[:m])) if len(met) else math.inf
        if best is None or work < best.work:
            best = (
                Choice(int(orders[met[0]]), m, math.exp(logarithm[met[0]]), work)
                if len(met)
                else best
            )
    return best
