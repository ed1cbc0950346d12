"""Kernels on band storage: element (i, j) is a[base + i*stride + j], rows padded by ROWS zeros on both sides.

Offsets of inner loops are unsigned: numba then leaves out the test for negative indices, and the loops become vector code.
"""

import numpy as np

from kinetree.solvers.kernel import entry, kernel

ROWS = 4  # rows of the right factor taken at once


@kernel
def add_row(out, o, a, s, count, factor):
    """Add factor*a[s:] to out[o:] for `count` elements; offsets are unsigned."""
    for j in range(count):
        out[o + j] += factor * a[s + j]


@kernel
def add_four_rows(out, o, a, s, stride, count, a0, a1, a2, a3):
    """Add four consecutive rows of a, times a0 to a3, to out[o:]; offsets are unsigned."""
    s1 = s + stride
    s2 = s1 + stride
    s3 = s2 + stride
    for j in range(count):
        out[o + j] += a0 * a[s + j] + a1 * a[s1 + j] + a2 * a[s2 + j] + a3 * a[s3 + j]


@entry
def add(out, out_base, out_stride, width, factor, a, base, stride, n):
    """Add factor*a to `out` on the diagonals up to `width`."""
    for i in range(n):
        first, last = max(0, i - width), min(n - 1, i + width)
        o, s = out_base + i * out_stride + first, base + i * stride + first
        add_row(out, np.uintp(o), a, np.uintp(s), np.uintp(last - first + 1), factor)


@entry
def transpose(out, a, base, stride, width, n):
    """Write the transposed matrix to `out` in the same layout."""
    for i in range(n):
        for j in range(max(0, i - width), min(n, i + width + 1)):
            out[base + j * stride + i] = a[base + i * stride + j]


@entry
def profile_three(peak, u, p, Y, base, stride, width, n):
    """Write to peak[d] the largest |element| of three bands of one layout on the diagonals d and
    -d.
    """
    for i in range(n):
        s = base + i * stride
        for j in range(max(0, i - width), min(n, i + width + 1)):
            peak[abs(i - j)] = max(peak[abs(i - j)], abs(u[s + j]), abs(p[s + j]), abs(Y[s + j]))


@entry
def profile(peak, a, base, stride, width, n):
    """Write to peak[d] the largest |element| of a band on the diagonals d and -d."""
    for i in range(n):
        s = base + i * stride
        for j in range(i, min(n, i + width + 1)):
            peak[j - i] = max(peak[j - i], abs(a[s + j]))
        for j in range(max(0, i - width), i):
            peak[i - j] = max(peak[i - j], abs(a[s + j]))


@kernel
def multiply_row(out, o, first, last, factor, a, s, k, end, b, base, stride, width):
    """Add factor*(row a[s + k..s + end])*b to out[o + first..o + last]."""
    while k + 3 <= end:
        lo, hi = max(first, k - width), min(last, k + 3 + width)
        if lo <= hi:
            r = base + k * stride + lo
            a0, a1, a2, a3 = (
                factor * a[s + k],
                factor * a[s + k + 1],
                factor * a[s + k + 2],
                factor * a[s + k + 3],
            )
            add_four_rows(
                out,
                np.uintp(o + lo),
                b,
                np.uintp(r),
                np.uintp(stride),
                np.uintp(hi - lo + 1),
                a0,
                a1,
                a2,
                a3,
            )
        k += 4
    while k <= end:
        lo, hi = max(first, k - width), min(last, k + width)
        if lo <= hi:
            add_row(
                out,
                np.uintp(o + lo),
                b,
                np.uintp(base + k * stride + lo),
                np.uintp(hi - lo + 1),
                factor * a[s + k],
            )
        k += 1


@entry
def multiply(
    out,
    o_base,
    o_stride,
    o_width,
    factor,
    a,
    a_base,
    a_stride,
    a_width,
    b,
    b_base,
    b_stride,
    b_width,
    n,
):
    """Add factor*a*b to `out` on the diagonals -o_width..o_width."""
    for i in range(n):
        first, last = max(0, i - o_width), min(n - 1, i + o_width)
        k, end = max(0, i - a_width, first - b_width), min(n - 1, i + a_width, last + b_width)
        multiply_row(
            out,
            o_base + i * o_stride,
            first,
            last,
            factor,
            a,
            a_base + i * a_stride,
            k,
            end,
            b,
            b_base,
            b_stride,
            b_width,
        )


@entry
def square(u1, p1, Y1, YT1, base1, stride1, width1, u, p, Y, YT, base, stride, width, n):
    """Compute the blocks of D_0 - E for twice the step: u1 = 2u + u u - Y YT, p1 = 2p + p p - YT Y,
    Y1 = 2Y + Y p + u Y and its transpose YT1. The results are added to bands of zeros.
    """
    for i in range(n):
        first, last, o, s = (
            max(0, i - width1),
            min(n - 1, i + width1),
            base1 + i * stride1,
            base + i * stride,
        )
        k, end = max(0, i - width), min(n - 1, i + width)
        count = np.uintp(end - k + 1)
        add_row(u1, np.uintp(o + k), u, np.uintp(s + k), count, 2.0)
        add_row(p1, np.uintp(o + k), p, np.uintp(s + k), count, 2.0)
        add_row(Y1, np.uintp(o + k), Y, np.uintp(s + k), count, 2.0)
        multiply_row(u1, o, i, last, 1.0, u, s, k, end, u, base, stride, width)
        multiply_row(u1, o, i, last, -1.0, Y, s, k, end, YT, base, stride, width)
        multiply_row(p1, o, i, last, 1.0, p, s, k, end, p, base, stride, width)
        multiply_row(p1, o, i, last, -1.0, YT, s, k, end, Y, base, stride, width)
        multiply_row(Y1, o, first, last, 1.0, Y, s, k, end, p, base, stride, width)
        multiply_row(Y1, o, first, last, 1.0, u, s, k, end, Y, base, stride, width)
    for i in range(n):
        for j in range(i + 1, min(n, i + width1 + 1)):
            upper, lower = base1 + i * stride1 + j, base1 + j * stride1 + i
            u1[lower], p1[lower] = u1[upper], p1[upper]
            YT1[lower], YT1[upper] = Y1[upper], Y1[lower]
        YT1[base1 + i * stride1 + i] = Y1[base1 + i * stride1 + i]


@entry
def advance_rows(e_out, v_out, e, v, first, last, count, u, p, Y, YT, base, stride, width, n):
    """Add e p + v Y to e_out and v u - e YT to v_out, for `count` rows of length n that are zero
    outside columns first..last.
    """
    lo, hi = max(0, first - width), min(n - 1, last + width)
    for i in range(count):
        o = i * n
        multiply_row(e_out, o, lo, hi, 1.0, e, o, first, last, p, base, stride, width)
        multiply_row(e_out, o, lo, hi, 1.0, v, o, first, last, Y, base, stride, width)
        multiply_row(v_out, o, lo, hi, 1.0, v, o, first, last, u, base, stride, width)
        multiply_row(v_out, o, lo, hi, -1.0, e, o, first, last, YT, base, stride, width)


@entry
def multiply_rows(out, rows, first, last, count, b, b_base, b_stride, b_width, n):
    """Add rows*b to `out` for `count` row vectors of length n that are zero outside columns
    first..last.
    """
    for i in range(count):
        multiply_row(
            out,
            i * n,
            max(0, first - b_width),
            min(n - 1, last + b_width),
            1.0,
            rows,
            i * n,
            first,
            last,
            b,
            b_base,
            b_stride,
            b_width,
        )


@entry
def row_sums(sums, a, base, stride, width, n):
    """Compute the row sums of a band matrix in twice the working precision, so that cancelling
    springs leave zero.
    """
    for i in range(n):
        total, lost = 0.0, 0.0
        for j in range(max(0, i - width), min(n, i + width + 1)):
            x = a[base + i * stride + j]
            new = total + x
            part = new - total
            lost += (total - (new - part)) + (x - part)
            total = new
        sums[i] = total + lost


@entry
def reach(full, n):
    """Return the half-width of the smallest band that contains all non-zero elements of a dense n x
    n matrix.
    """
    width = 0
    for i in range(n):
        for j in range(i - width):
            if full[i * n + j] != 0.0:
                width = i - j
                break
        for j in range(n - 1, i + width, -1):
            if full[i * n + j] != 0.0:
                width = j - i
                break
    return width


@entry
def eliminate_springs(B, free, a, g, width, n):
    """Compute the lower factor of a spring matrix as a lower band: a_{k+d,k} >= 0 at k*(width+1) +
    d, with row sums g. Both a and g are overwritten.
    """
    size = width + 1
    for k in range(n):
        d = g[k]
        for i in range(1, min(width, n - 1 - k) + 1):
            d += a[k * size + i]
        free[k] = d == 0.0
        if d == 0.0:
            continue
        B[k * size] = d**0.5
        for i in range(1, min(width, n - 1 - k) + 1):
            c = a[k * size + i] / d
            B[k * size + i] = -a[k * size + i] / d**0.5
            g[k + i] += c * g[k]
            for j in range(1, i):
                a[(k + j) * size + i - j] += c * a[k * size + j]


@entry
def eliminate(B, free, rest, tiny, width, n):
    """Compute the Cholesky factor of a band matrix (diagonal at d = 0); pivots below tiny[k] count
    as zero. Return False if the matrix is indefinite.
    """
    size = width + 1
    for k in range(n):
        d = rest[k * size]
        free[k] = d <= tiny[k]
        if d < -tiny[k]:
            return False
        for i in range(1, min(width, n - 1 - k) + 1):
            c = rest[k * size + i]
            if free[k]:
                if abs(c) > (tiny[k] * tiny[k + i]) ** 0.5 * 1e4:
                    return False
                continue
            B[k * size + i] = c / d**0.5
            for j in range(1, i + 1):
                rest[(k + j) * size + i - j] -= c * rest[k * size + j] / d
        if not free[k]:
            B[k * size] = d**0.5
    return True
