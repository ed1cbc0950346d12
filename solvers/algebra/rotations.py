"""Rotation matrices as tuples of nine: from an axis and an angle, and from a quaternion."""

import math

from kinetree.solvers.algebra.lane_select import select
from kinetree.solvers.algebra.trigonometry import sincos
from kinetree.solvers.kernel import inline


@inline
def rotation(e, angle):
    """Return the matrix of the rotation by `angle` about the unit vector e (Rodrigues): maps
    components after to components before the rotation.
    """
    s, c = sincos(angle)
    k = 1.0 - c
    x, y, z = e
    return (
        c + k * x * x,
        k * x * y - s * z,
        k * x * z + s * y,
        k * x * y + s * z,
        c + k * y * y,
        k * y * z - s * x,
        k * x * z - s * y,
        k * y * z + s * x,
        c + k * z * z,
    )


@inline
def turn_x(b, s, c):
    """Return B Rx(angle), the matrix B (9 elements) rotated about its x axis, from sine and cosine."""
    return (
        b[0],
        c * b[1] + s * b[2],
        c * b[2] - s * b[1],
        b[3],
        c * b[4] + s * b[5],
        c * b[5] - s * b[4],
        b[6],
        c * b[7] + s * b[8],
        c * b[8] - s * b[7],
    )


@inline
def turn_y(b, s, c):
    """Return B Ry(angle), the matrix B (9 elements) rotated about its y axis, from sine and cosine."""
    return (
        c * b[0] - s * b[2],
        b[1],
        c * b[2] + s * b[0],
        c * b[3] - s * b[5],
        b[4],
        c * b[5] + s * b[3],
        c * b[6] - s * b[8],
        b[7],
        c * b[8] + s * b[6],
    )


@inline
def turn_z(b, s, c):
    """Return B Rz(angle), the matrix B (9 elements) rotated about its z axis, from sine and cosine."""
    return (
        c * b[0] + s * b[1],
        c * b[1] - s * b[0],
        b[2],
        c * b[3] + s * b[4],
        c * b[4] - s * b[3],
        b[5],
        c * b[6] + s * b[7],
        c * b[7] - s * b[6],
        b[8],
    )


@inline
def quaternion_matrix(w, x, y, z):
    """Return the rotation matrix of a quaternion of any length: the dynamics do not depend on its
    norm.
    """
    k = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        1.0 - k * (y * y + z * z),
        k * (x * y - w * z),
        k * (x * z + w * y),
        k * (x * y + w * z),
        1.0 - k * (x * x + z * z),
        k * (y * z - w * x),
        k * (x * z - w * y),
        k * (y * z + w * x),
        1.0 - k * (x * x + y * y),
    )


@inline
def quaternion_of(m):
    """Return the unit quaternion of a rotation matrix, computed from its largest component first to
    avoid cancellation.
    """
    t = m[0] + m[4] + m[8]
    largest = select(m[0] > m[4], m[0], m[4])
    largest = select(m[8] > largest, m[8], largest)
    turn = t >= largest
    x, y = m[0] == largest, m[4] == largest
    s = 0.5 * math.sqrt(1.0 + select(turn, t, 2.0 * largest - t))
    k = 0.25 / s
    a, b, c = k * (m[7] - m[5]), k * (m[2] - m[6]), k * (m[3] - m[1])
    d, e, f = k * (m[1] + m[3]), k * (m[2] + m[6]), k * (m[5] + m[7])
    return (
        select(turn, s, select(x, a, select(y, b, c))),
        select(turn, a, select(x, s, select(y, d, e))),
        select(turn, b, select(x, d, select(y, s, f))),
        select(turn, c, select(x, e, select(y, f, s))),
    )
