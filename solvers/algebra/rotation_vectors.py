"""Rotations given by small rotation vectors: the matrix exp(θ×) and the tangent map T with ω = T
dθ/dt.
"""

from kinetree.solvers.algebra.vectors import add3, add9, cross, dot3, scale, skew, skew_mm
from kinetree.solvers.kernel import kernel

UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def turned(turn, rate):
    """Return, for a rotation vector θ and its rate dθ/dt, the matrix exp(θ×), the tangent map T
    with ω = T dθ/dt, and (dT/dt) dθ/dt.
    """
    x = dot3(turn, turn)
    # series of sin φ/φ, (1 - cos φ)/φ², (φ - sin φ)/φ³ and of the slopes of the last two, in x = φ²
    s = 1.0 - x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0)))
    a = 0.5 * (1.0 - x / 12.0 * (1.0 - x / 30.0 * (1.0 - x / 56.0 * (1.0 - x / 90.0))))
    b = (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0 * (1.0 - x / 110.0)))) / 6.0
    da = -(1.0 - x / 15.0 * (1.0 - x * 3.0 / 112.0 * (1.0 - x * 4.0 / 270.0))) / 24.0
    db = -(1.0 - x / 21.0 * (1.0 - x / 48.0 * (1.0 - x * 4.0 / 330.0))) / 120.0
    once = skew(turn)
    twice = skew_mm(turn, once)
    E = add9(UNIT, add9(scaled9(s, once), scaled9(a, twice)))
    T = add9(UNIT, add9(scaled9(a, once), scaled9(b, twice)))
    across = cross(turn, rate)
    inner = scale(2.0 * dot3(turn, rate), add3(scale(da, across), scale(db, cross(turn, across))))
    return E, T, add3(inner, scale(b, cross(rate, across)))


@kernel
def scaled9(s, a):
    """Return a number times a 3 x 3 matrix (9 elements)."""
    return (
        s * a[0],
        s * a[1],
        s * a[2],
        s * a[3],
        s * a[4],
        s * a[5],
        s * a[6],
        s * a[7],
        s * a[8],
    )
