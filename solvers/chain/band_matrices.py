"""Band matrices: storage, and products that follow the growing band.

A band is (data, base, stride, width): element (i, j), |i - j| <= width, is data[base + i*stride + j]. Rows are padded by PAD zeros on both sides,
so that kernels may take several rows at a time. A dense n x n array is the band (data, 0, n, n - 1). Cost of a product: at most 2n(2w_a + 1)(2w_b
+ 1) flops.
"""

from typing import NamedTuple

import numpy as np

from kinetree.solvers.chain import band_kernels

PAD = band_kernels.ROWS
LEAST, MOST = (
    2**20,
    4 * 10**6,
)  # numbers that are worth keeping in any process, and the most that glibc keeps (32 MB)


class Band(NamedTuple):
    data: np.ndarray
    base: int
    stride: int
    width: int

    @property
    def is_dense(self) -> bool:
        return self.base == 0


def zeros(n: int, width: int) -> Band:
    """Return a band of zeros."""
    width = max(0, min(width, n - 1))
    row = 2 * width + 1 + 2 * PAD
    return Band(np.zeros(n * row), width + PAD, row - 1, width)


def retain(count: int) -> None:
    """Make the C allocator keep freed memory for `count` values: new memory for every term would
    cost as much as its arithmetic.
    """
    np.empty(min(max(count, LEAST), MOST))


def identity(n: int) -> Band:
    """Return the unit matrix as a band of half-width 0."""
    unit = zeros(n, 0)
    unit.data[unit.base :: unit.stride + 1] = 1.0
    return unit


def diagonals(a: Band, n: int) -> np.ndarray:
    """Return a view, n x (2 width + 1), of the stored diagonals; column width + d holds the
    elements (i, i + d).
    """
    return a.data.reshape(n, a.stride + 1)[:, PAD:-PAD]


def dense(a: Band, n: int) -> np.ndarray:
    """Return a band matrix as an n x n array; a view if the band is already stored densely."""
    if a.is_dense:
        return a.data.reshape(n, n)
    full = np.zeros(n * n)
    band_kernels.add(full, 0, n, a.width, 1.0, a.data, a.base, a.stride, n)
    return full.reshape(n, n)


def pitch(bands: list[Band], n: int) -> int:
    """Return by how much the half-width of a product of bands grows with every further factor.

    Blocks of b coordinates coupled to their neighbours have half-width 2b - 1, but products grow by
    b. Sparsity patterns are assumed symmetric.
    """
    width = max(a.width for a in bands)
    if width <= 1 or any(a.is_dense for a in bands):
        return width
    reach = np.arange(n)
    for a in bands:
        above = diagonals(a, n)[:, a.width :] != 0.0
        reach = np.maximum(
            reach,
            np.arange(n) + np.where(above.any(axis=1), a.width - above[:, ::-1].argmax(axis=1), 0),
        )
    reach = np.maximum.accumulate(np.minimum(reach, n - 1))
    return int((reach[reach] - reach).max(initial=0))


def from_dense(full: np.ndarray) -> Band:
    """Return an n x n array as a band matrix of full width."""
    n = full.shape[0]
    return Band(np.ascontiguousarray(full).reshape(n * n), 0, n, n - 1)


def resized(a: Band, n: int, width: int, factor: float = 1.0) -> Band:
    """Return factor*a with another half-width: diagonals are cut off or zero ones added."""
    out = zeros(n, width)
    band_kernels.add(
        out.data, out.base, out.stride, min(out.width, a.width), factor, a.data, a.base, a.stride, n
    )
    return out


def add(out: Band, factor: float, a: Band, n: int) -> None:
    """Add factor*a to `out`, whose half-width is at least that of a."""
    band_kernels.add(out.data, out.base, out.stride, a.width, factor, a.data, a.base, a.stride, n)


def transposed(a: Band, n: int) -> Band:
    """Return a transposed copy of a band matrix."""
    if a.is_dense:
        return from_dense(dense(a, n).T)
    out = zeros(n, a.width)
    band_kernels.transpose(out.data, a.data, a.base, a.stride, a.width, n)
    return out


def product(factor: float, a: Band, b: Band, n: int, width: int) -> Band:
    """Return factor*a*b, which has no non-zero diagonals beyond `width` on either side; computed by
    BLAS if a factor is dense.
    """
    if a.is_dense or b.is_dense:
        return from_dense(factor * (dense(a, n) @ dense(b, n)))
    out = zeros(n, min(a.width + b.width, width))
    band_kernels.multiply(*out, factor, *a, *b, n)
    return out


def profile(a: Band, n: int) -> np.ndarray:
    """Return the largest |element| on the diagonals d and -d for d = 0..width."""
    peak = np.zeros(a.width + 1)
    band_kernels.profile(peak, *a, n)
    return peak


def needed(peaks: np.ndarray, drop: float) -> int:
    """Return the smallest half-width outside which the elements of a row, bounded by `peaks`, sum
    to at most `drop`.
    """
    tail = 2.0 * np.cumsum(peaks[::-1])[::-1]
    return (
        int(np.count_nonzero(tail > drop)) - 1
        if drop > 0.0
        else int(np.flatnonzero(peaks)[-1])
        if peaks.any()
        else 0
    )


def square_width(peak: np.ndarray, drop: float) -> int:
    """Return the half-width that the product of a band with itself needs, from its largest elements
    per diagonal; what is dropped sums to at most `drop`.
    """
    both = np.concatenate((peak[:0:-1], peak))
    return max(0, needed(np.convolve(both, both)[2 * len(peak) - 2 :], drop))


def rows_product(rows: np.ndarray, b: Band) -> np.ndarray:
    """Return rows*b for an array of row vectors."""
    count, n = rows.shape
    if b.is_dense:
        return rows @ dense(b, n)
    out = np.zeros((count, n))
    first, last = used(rows)
    band_kernels.multiply_rows(
        out.reshape(-1), np.ascontiguousarray(rows).reshape(-1), first, last, count, *b, n
    )
    return out


def used(*rows: np.ndarray) -> tuple[int, int]:
    """Return the first and last column in which any of the arrays has a non-zero element."""
    columns = np.flatnonzero(sum(np.abs(a).sum(axis=0) for a in rows))
    return (int(columns[0]), int(columns[-1])) if len(columns) else (0, -1)
