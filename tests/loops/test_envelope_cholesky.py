"""Factor and solution of J M⁻¹ Jᵀ in its envelope against dense algebra: blocks of every size, redundant rows, ranks, damping."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from kinetree.models.trace.symbolic_kernels import PlainKernels

KERNELS = PlainKernels(symbolic=False)
E, B, S, G, R = (
    KERNELS.module(f"kinetree.solvers.loops.{name}")
    for name in (
        "envelope_cholesky",
        "block3_factor",
        "factor_solve",
        "gauss_newton",
        "constraint_residuals",
    )
)
POSITIONS, SPEEDS = 0, 1


def groups(
    sizes: list[int], first: list[int], parts: list[list[int]] | None = None
) -> tuple[SimpleNamespace, SimpleNamespace]:
    """Groups of rows, each with the first group that it meets."""
    row = np.concatenate(([0], np.cumsum(sizes)))
    env = np.concatenate(
        ([0], np.cumsum([sizes[k] * (row[k + 1] - row[first[k]]) for k in range(len(sizes))]))
    )
    model = SimpleNamespace(
        l_kind=np.zeros(len(sizes), int), l_row=row, l_first=np.array(first), l_env=env,
        l_part=np.concatenate(parts) if parts else np.concatenate([np.arange(n) % 6 for n in sizes]), l_level=np.zeros(len(sizes), int),
    )  # fmt: skip
    model.l_level[:] = E.L.POSITIONS
    n, k = row[-1], len(sizes)
    ws = SimpleNamespace(
        loop_g=np.full(env[-1], np.nan), loop_scale=np.full(2 * k, np.nan), loop_rank=np.array(sizes, float), loop_found=np.full(k, np.nan),
        loop_even=np.full(k, np.nan), loop_pivot=np.full(n, np.nan), loop_b=np.full(n, np.nan), small=np.full(72, np.nan),
    )  # fmt: skip
    return model, ws


def fill(model: SimpleNamespace, ws: SimpleNamespace, dense: np.ndarray) -> None:
    """Lower blocks of a dense matrix, and the scales of its diagonal."""
    row = model.l_row
    for k in range(model.l_kind.size):
        for m in range(model.l_first[k], k + 1):
            block = dense[row[k] : row[k + 1], row[m] : row[m + 1]]
            at = E.block_at(model, k, m)
            ws.loop_g[at : at + block.size] = (np.tril(block) if m == k else block).ravel()
    E.measure_diagonal(model, ws)


def matrix(model: SimpleNamespace, seed: int, redundant: tuple[int, ...] = ()) -> np.ndarray:
    """A positive matrix within the envelope; rows that are combinations of those before them."""
    rng, row = np.random.default_rng(seed), model.l_row
    lower = np.zeros((row[-1], row[-1]))
    for k in range(model.l_kind.size):
        lower[row[k] : row[k + 1], row[model.l_first[k]] : row[k + 1]] = rng.normal(
            size=(row[k + 1] - row[k], row[k + 1] - row[model.l_first[k]])
        )
    lower = np.tril(lower) + 2.0 * np.eye(row[-1])
    for r in redundant:
        lower[:, r] = 0.0
    return lower @ lower.T


SHAPES = {
    "threes": ([3, 3, 3, 3], [0, 0, 1, 0]),
    "mixed": ([3, 6, 1, 3, 2, 3, 5], [0, 0, 1, 1, 3, 2, 4]),
    "alone": ([6, 3, 4], [0, 1, 2]),
    "ones": ([1, 1, 1], [0, 0, 0]),
}


@pytest.mark.parametrize("redundant", [0, 1, 2])
@pytest.mark.parametrize("name", SHAPES)
def test_envelope_solutions_match_dense_algebra(name: str, redundant: int):
    """Rows that others determine are dropped: their multipliers are zero, and what is asked for consistently is met."""
    model, ws = groups(*SHAPES[name])
    rng = np.random.default_rng(redundant)
    n = model.l_row[-1]
    left_out = tuple(sorted(rng.choice(np.arange(1, n), size=min(redundant, n - 1), replace=False)))
    dense = matrix(model, 3, left_out)
    fill(model, ws, dense)
    clear = E.factor(model, ws, 0.0, E.ALL)
    assert (clear == 0.0) == bool(left_out) and ws.loop_found.sum() == n - len(left_out)
    b = dense @ rng.normal(size=n)
    x = b.copy()
    S.solve_factor(model, ws, x)
    assert dense @ x == pytest.approx(b, abs=1e-9 * np.abs(b).max()) and np.count_nonzero(
        x == 0.0
    ) == len(left_out)
    for k in range(model.l_kind.size):
        group = range(model.l_row[k], model.l_row[k + 1])
        assert ws.loop_found[k] == len([r for r in group if x[r] != 0.0])


@pytest.mark.parametrize("name", SHAPES)
def test_envelope_damping_is_relative_to_row_scales(name: str):
    """Of shifts and of turns each its own: the largest diagonal of the group."""
    model, ws = groups(*SHAPES[name])
    dense, row = matrix(model, 4), model.l_row
    fill(model, ws, dense)
    scale = np.zeros(row[-1])
    for k in range(model.l_kind.size):
        for half in (0, 1):
            rows = [r for r in range(row[k], row[k + 1]) if model.l_part[r] // 3 == half]
            scale[rows] = max((dense[r, r] for r in rows), default=0.0)
    E.factor(model, ws, 0.1, E.ALL)
    x = np.arange(1.0, row[-1] + 1.0)
    S.solve_factor(model, ws, x)
    assert x == pytest.approx(
        np.linalg.solve(dense + 0.1 * np.diag(scale), np.arange(1.0, row[-1] + 1.0)), rel=1e-8
    )


def test_used_envelope_rows_are_marked():
    """All; none of a group that holds speeds alone when positions are wanted; as many as the rank when the mechanism moves."""
    for use, found in ((E.ALL, [3, 4, 2]), (E.PLACING, [3, 0, 2]), (E.MOVING, [2, 4, 1])):
        model, ws = groups([3, 4, 2], [0, 0, 1])
        model.l_level[1] = E.L.POSITIONS + 1
        ws.loop_rank[:] = 2.0, 4.0, 1.0
        dense = matrix(model, 5)
        fill(model, ws, dense)
        assert E.factor(model, ws, 0.0, use) > 0.0 and ws.loop_found.tolist() == found
        x = np.ones(9)
        S.solve_factor(model, ws, x)
        kept = np.flatnonzero(x)
        assert x[kept] == pytest.approx(
            np.linalg.solve(dense[np.ix_(kept, kept)], np.ones(len(kept))), rel=1e-9
        ) and len(kept) == sum(found)


def sines(
    angle: float, rows: int = 2, parts: list[list[int]] | None = None
) -> tuple[float, SimpleNamespace]:
    """Two unit rows at an angle, and more across to them."""
    model, ws = groups([rows], [0], parts)
    dense = np.eye(rows)
    dense[0, 1] = dense[1, 0] = math.cos(angle)
    fill(model, ws, dense)
    return E.factor(model, ws, 0.0, E.ALL), ws


def test_redundancy_is_measured_by_squared_sine():
    """Below 1e-12 one is redundant; three rows keep their own order above 1e-4, and else are taken by largest pivots."""
    assert sines(0.3)[0] == pytest.approx(math.sin(0.3) ** 2) and sines(0.3, 3)[0] == pytest.approx(
        math.sin(0.3) ** 2
    )
    assert (
        sines(0.011, 3)[1].loop_even[0] == 1.0
        and sines(0.009, 3)[1].loop_even[0] == 0.0
        and sines(0.3, 4)[1].loop_even[0] == 0.0
    )
    clear, ws = sines(0.009, 3)
    assert (
        clear == pytest.approx(math.sin(0.009) ** 2, rel=1e-9)
        and ws.loop_pivot.tolist() == [0, 2, 1]
        and ws.loop_found[0] == 3
    )
    clear, ws = sines(1.2e-6)
    assert clear == pytest.approx(1.44e-12, rel=1e-3, abs=0.0) and ws.loop_found[0] == 2
    clear, ws = sines(0.9e-6)
    assert clear == 0.0 and ws.loop_found[0] == 1


def test_envelope_pivots_are_scaled():
    """A turn of a small arm is no worse a row than a shift: relative to the largest of its own sort."""
    model, ws = groups([4], [0], [[0, 1, 3, 4]])
    fill(model, ws, np.diag([4.0, 1.0, 3e-6, 4e-6]))
    assert ws.loop_scale.tolist() == [4.0, 4e-6] and [
        E.scale_of(model, ws, 0, r) for r in range(4)
    ] == [4.0, 4.0, 4e-6, 4e-6]
    assert E.factor(model, ws, 0.0, E.ALL) == pytest.approx(0.25)
    assert ws.loop_pivot.tolist() == [0, 1, 2, 3]  # clear ones in their own order
    fill(model, ws, np.diag([4.0, 1.0, 3e-10, 4e-6]))
    assert E.factor(model, ws, 0.0, E.ALL) == pytest.approx(7.5e-5)
    assert ws.loop_pivot.tolist() == [0, 3, 1, 2]
    model, ws = groups([2, 2], [0, 1], [[0, 3], [1, 4]])
    fill(
        model, ws, np.diag([8.0, 2.0, 1e-30, 0.9e-25])
    )  # a group of noise: rows of nothing are redundant
    assert ws.loop_scale.tolist() == [8.0, 2.0, 1e-13, 1e-13]
    E.factor(model, ws, 0.0, E.ALL)
    assert ws.loop_found.tolist() == [2.0, 0.0]


# -- products --------------------------------------------------------------------------------------------------------------------------------------
def test_constraint_products_use_shared_bodies():
    """X of a path of one joint of two speeds and one of one, and of a path with the first of them alone; groups of three rows and others."""
    for sizes in ([3, 3], [2, 3], [3, 1], [6, 3]):
        model, ws = groups(sizes, [0, 0])
        rng, counts = np.random.default_rng(sum(sizes)), [3, 2]
        x = [rng.normal(size=(counts[g], sizes[g])) for g in (0, 1)]
        z = [rng.normal(size=(counts[g], 1)) ** 2 * x[g] for g in (0, 1)]
        z[1][:2] = x[1][:2] * (z[0][:2, :1] / x[0][:2, :1])  # shared speeds have one inertia
        ws.loop_x, ws.loop_z = (
            np.concatenate([a.ravel() for a in x]),
            np.concatenate([a.ravel() for a in z]),
        )
        start = x[0].size
        model.l_at, model.l_body, model.u_at = (
            np.array([0, 2, 3]),
            np.array([1, 2, 1]),
            np.array([0, 0, 2, 3]),
        )
        model.l_x = np.array([0, 2 * sizes[0], start])
        model.l_columns, model.l_block = np.array(counts), np.array([0, 1])
        model.l_shared_at, model.l_shared = np.array([0, 0, 1, 1]), np.array([2, 0])
        E.form_gram(model, ws)
        dense = np.block(
            [[x[0].T @ z[0], (z[1].T @ x[0][:2]).T], [z[1].T @ x[0][:2], x[1].T @ z[1]]]
        )
        for k, m in ((0, 0), (1, 0), (1, 1)):
            at = E.block_at(model, k, m)
            found = ws.loop_g[at : at + sizes[k] * sizes[m]].reshape(sizes[k], sizes[m])
            rows, cols = (
                slice(model.l_row[k], model.l_row[k + 1]),
                slice(model.l_row[m], model.l_row[m + 1]),
            )
            expected = dense[rows, cols]
            assert (np.tril(found) if k == m else found) == pytest.approx(
                np.tril(expected) if k == m else expected
            )
        assert ws.loop_scale[0] == pytest.approx(max(np.diag(dense)[:3][: sizes[0]]))
    model.l_at = np.array([0, 0, 0])  # a group whose path has no bodies
    model.l_columns[:], model.l_shared_at = 0, np.array([0, 0, 0, 0])
    E.form_gram(model, ws)
    assert ws.loop_scale.tolist() == [0.0] * 4


# -- blocks of three -------------------------------------------------------------------------------------------------------------------------------
def threes(seed: int) -> tuple[SimpleNamespace, np.ndarray, np.ndarray]:
    """Two blocks, room for a factor, and six numbers."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, 3, 3))
    lower = np.tril(rng.normal(size=(3, 3)), -1) + np.diag([1.5, 0.5, 2.0])
    kept = lower.copy()
    np.fill_diagonal(kept, 1.0 / np.diag(lower))
    ws = SimpleNamespace(
        loop_g=np.concatenate((a.ravel(), b.ravel(), kept.ravel())), loop_b=rng.normal(size=6)
    )
    return ws, np.array([a, b]), lower


def test_three_by_three_blocks_match_dense_algebra():
    ws, (a, b), lower = threes(1)
    B.subtract_threes(ws, 0, 9, 18)
    kept = np.where(np.eye(3) > 0, 1.0 / np.where(lower == 0.0, 1.0, lower), lower)
    assert ws.loop_g[:9].reshape(3, 3) == pytest.approx(a - b @ kept.T)
    B.divide_three(ws, 9, 18)
    assert ws.loop_g[9:18].reshape(3, 3) == pytest.approx(b @ np.linalg.inv(lower).T)
    ws, (a, b), lower = threes(2)
    x, before = np.arange(1.0, 7.0), ws.loop_b.copy()
    B.pass_three(ws, x, 3, 9, 1)
    assert x == pytest.approx([1.0, 2.0, 3.0, *(np.array([4.0, 5.0, 6.0]) - b @ before[1:4])])
    B.lower_three(ws, x, 3, 18)
    assert ws.loop_b == pytest.approx([*before[:3], *np.linalg.solve(lower, x[3:])])
    ws.loop_b[:] = before
    B.upper_three(ws, x, 3, 18)
    assert x[3:] == pytest.approx(np.linalg.solve(lower.T, before[3:])) and x[:3].tolist() == [
        1.0,
        2.0,
        3.0,
    ]
    B.back_three(ws, x, 3, 9, 1)
    assert ws.loop_b == pytest.approx([before[0], *(before[1:4] - b.T @ x[3:]), *before[4:]])


def test_block3_factor_needs_clear_pivots():
    """Relative to the scales of its rows; else nothing is done. The least of the three is told."""
    lower = np.array([[1.5, 0.0, 0.0], [0.4, 0.5, 0.0], [-0.3, 0.7, 2.0]])
    full = lower @ lower.T
    for least, scales in ((0, (100.0, 1.0, 5.0)), (1, (3.0, 10.0, 5.0)), (2, (3.0, 1.0, 1e3))):
        ws = SimpleNamespace(loop_g=np.tril(full).ravel())
        assert B.factor_three(ws, 0, scales) == pytest.approx(
            lower[least, least] ** 2 / scales[least]
        )
        kept = lower.copy()
        np.fill_diagonal(kept, 1.0 / np.diag(lower))
        assert ws.loop_g.reshape(3, 3) == pytest.approx(kept)
    for r in range(3):
        for part, done in ((1.05e-4, True), (0.95e-4, False)):
            scales = [3.0, 1.0, 5.0]
            scales[r] = lower[r, r] ** 2 / part
            ws = SimpleNamespace(loop_g=np.tril(full).ravel())
            assert (B.factor_three(ws, 0, tuple(scales)) > 0.0) == done and (
                ws.loop_g.tolist() == np.tril(full).ravel().tolist()
            ) != done


# -- small things of the loops ---------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("angle", [0.0, 1e-10, 1e-3, 0.7, 2.0, 3.1, math.pi - 1e-9])
def test_a_rotation_vector_is_axis_times_angle(angle: float):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    K = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    for sign in (1.0, -1.0):
        R_ = np.eye(3) + sign * math.sin(angle) * K + (1.0 - math.cos(angle)) * (K @ K)
        found = np.array(R.rotation_vector(tuple(R_.ravel())))
        assert found == pytest.approx(sign * angle * axis, abs=1e-12 + 1e-7 * (angle > 3.14))


def test_worst_row_and_largest_gap_are_found():
    ws = SimpleNamespace(
        loop_r=np.array([1.0, -3.0, 2.0]),
        loop_open=np.array([0.5, 4.0, 1.0]),
        head=SimpleNamespace(item=-1),
    )
    assert (
        R.largest(None, ws) == 3.0
        and ws.head.item == 1
        and R.opening(ws) == 4.0
        and R.norm_squared(ws) == 14.0
    )
    ws.loop_r[2] = ws.loop_open[0] = math.nan
    assert math.isnan(R.largest(None, ws)) and ws.head.item == 2
    ws.loop_r[:], ws.loop_open[:] = 0.0, 0.0
    assert R.largest(None, ws) == 0.0 and R.opening(ws) == 0.0


def test_gauss_newton_steps_are_limited():
    assert [
        G.limit_step(SimpleNamespace(udot=np.array(u)))
        for u in ([0.1, -0.4], [0.1, -2.0], [4.0, 1.0])
    ] == [1.0, 0.25, 0.125]
    model, ws = (
        SimpleNamespace(u_held=np.array([0, 1, 2, 3])),
        SimpleNamespace(loop_weight=np.full(4, np.nan)),
    )
    for bit, expected in ((1, [1.0, 0.25, 1.0, 0.25]), (2, [1.0, 1.0, 0.25, 0.25])):
        G.weigh(model, ws, bit, 0.25)
        assert ws.loop_weight.tolist() == expected
