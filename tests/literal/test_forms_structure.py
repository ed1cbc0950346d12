"""Block Cholesky without fill-in, work as predicted, storage for the pairs that occur, accuracy, no allocation."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from dense_reference import Dense
from hypothesis import given, settings
from hypothesis import strategies as st
from random_trees import instance, random_tree

from kinetree.solvers.literal.block_sparsity import pattern
from kinetree.solvers.literal.kinds import LITERAL

FORMS = tuple(form.entry for form in LITERAL if not form.momenta)
ITERATED = tuple(form.entry for form in LITERAL if form.iterated and not form.momenta)
DRAWN = settings(max_examples=30, deadline=None, derandomize=True, database=None)
trees = st.builds(
    lambda seed, bodies: random_tree(np.random.default_rng(seed), bodies),
    st.integers(0, 2**32),
    st.integers(1, 15),
)


def last_row_up(A):
    """Dense L, lower triangular, with A = LᵀL."""
    return np.linalg.cholesky(A[::-1, ::-1])[::-1, ::-1].T


def assert_rows(dense, rows, what):
    """The strips hold all of the dense factor: what lies outside is zero."""
    seen = np.zeros(dense.shape, bool)
    for row, columns, values in rows:
        assert np.allclose(
            dense[row, columns], values, rtol=0.0, atol=1e-9 * np.abs(dense).max()
        ), what
        seen[row, columns] = True
    assert (
        np.abs(dense[~seen & np.tri(len(dense), dtype=bool)]).max(initial=0.0)
        <= 1e-13 * np.abs(dense).max()
    ), what


def path_to(tree, i):
    path = []
    while i > 0:
        path.insert(0, i)
        i = tree.parent[i]
    return path


@DRAWN
@given(trees)
def test_mass_matrix_factor_has_no_fill_in(tree):
    """Theorem 2.5: row i of L has blocks for the joints on the path 0 -> i and nothing else."""
    if not len(tree.u):
        return
    d, I = Dense(tree), instance(tree)
    assert I.call("literal_state") == I.call("cbm") == 0
    rows = []
    for i in range(1, tree.bodies + 1):
        columns = np.concatenate(
            [np.arange(tree.u_at[j], tree.u_at[j + 1]) for j in path_to(tree, i)]
        ).astype(int)
        for k in range(tree.u_at[i], tree.u_at[i + 1]):
            own = columns[columns <= k]
            at = I.model.m_at[i] + (k - tree.u_at[i]) * I.model.eta[i]
            rows.append((k, own, I.ws.Mr[at : at + len(own)]))
    assert_rows(last_row_up((d.B.T @ d.M @ d.B).real), rows, "M")


@DRAWN
@given(trees)
def test_multiplier_matrix_factor_has_no_fill_in(tree):
    """Theorem 2.6: row i of L has blocks for the predecessor, the siblings before i and i itself."""
    d, I = Dense(tree), instance(tree)
    assert I.call("literal_state") == I.call("lgr") == 0
    m = 6 - tree.freedoms
    first = np.concatenate([[0], np.cumsum(m)])
    Z = np.zeros((6 * tree.bodies, first[-1]))
    for i in range(1, tree.bodies + 1):
        own = slice(first[i - 1], first[i])
        Z[6 * i - 6 : 6 * i, own] = I.ws.Z[36 * i : 36 * i + 36].reshape(6, 6)[6 - m[i - 1] :].T
    rows = []
    for i in range(1, tree.bodies + 1):
        k = tree.parent[i]
        before = [k] + [j for j in range(1, i) if tree.parent[j] == k] if k > 0 else []
        columns = np.concatenate([np.arange(first[j - 1], first[j]) for j in [*before, i]]).astype(
            int
        )
        for r in range(m[i - 1]):
            own = columns[columns <= first[i - 1] + r]
            at = I.model.h_at[i] + r * (I.model.h_col[i] + m[i - 1])
            rows.append((first[i - 1] + r, own, I.ws.Hr[at : at + len(own)]))
    if first[-1]:
        H = (Z.T @ d.S @ np.linalg.solve(d.M, d.S.T @ Z)).real
        assert_rows(last_row_up(H), rows, "H")


@pytest.fixture(scope="module")
def flops():
    """Counts of the kernels run in plain Python."""
    script = Path(__file__).parents[1] / "support" / "flop_counter.py"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, str(script), "7"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_factorisation_operation_counts_match_formulas(flops):
    """Operations counted in both block Cholesky methods are those of (B.8) without fill-in, to the last one."""
    for case in flops["factorisations"]:
        for name, (counted, predicted) in case.items():
            assert counted == predicted, name


def test_form_operation_counts_match_formulas(flops):
    """The cost formulas describe this code: within 20 % for every form, number of freedoms and topology."""
    for case, forms in flops["forms"].items():
        for name, count in forms.items():
            assert 0.8 <= count["counted"] / count["predicted"] <= 1.2, (case, name, count)


@pytest.mark.parametrize("bodies", [10, 10_000])
def test_storage_grows_with_nonzero_pairs(bodies):
    """M on a star and H on a chain take storage linear in N."""
    u_at = np.concatenate([[0], np.arange(bodies + 1)])
    chain, star = np.arange(-1, bodies), np.array([-1, 0] + [1] * (bodies - 1))
    assert pattern(chain, u_at)["h_at"][-1] == 25 + 50 * (bodies - 1)
    assert pattern(star, u_at)["m_at"][-1] == 1 + 2 * (bodies - 1)


def relative_residual(I, form):
    """‖Q − M q̈‖/(‖M‖‖q̈‖) by inverse dynamics, which does not use M."""
    assert I.call("mass_matrix") == I.call("literal_state") == I.call(form) == 0
    n = I.ws.u.size
    size = np.abs(I.ws.Mq.reshape(n, n)).sum(axis=1).max() * np.abs(I.ws.udot).max()
    assert np.isfinite(size)
    assert I.call("inverse_dynamics") == 0
    return np.abs(I.ws.Q).max() / size


@pytest.mark.parametrize("shape", ["chain", "star", "random"])
@pytest.mark.parametrize("joint", ["revolute", "ball", "any"])
def test_equations_have_zero_residual(shape, joint):
    tree = random_tree(np.random.default_rng(11), 30, shape, joint)
    I = instance(tree)
    for form in ("drt", "cbm", "lgr", "abm"):
        assert relative_residual(I, form) <= 1e-12, form


@pytest.mark.parametrize("ratio", [1e-6, 1e6])
def test_forms_agree_for_extreme_mass_ratios(ratio):
    """Alternating bodies 1e6 times lighter or heavier. The second kind and the eliminations lose nothing in the residual; the first kind works with
    accelerations (R_i − R_j)/m of light bodies between heavy ones and so loses the ratio: eps · 1e6 · N = 2e-9."""
    tree = random_tree(np.random.default_rng(8), 10, "chain", "revolute")
    tree.mass[2::2] *= ratio
    tree.inertia[2::2] *= ratio
    I = instance(tree)
    for form in ("drt", "cbm", "abm"):
        assert relative_residual(I, form) <= 1e-12, form
    assert relative_residual(I, "lgr") <= 2.2e-16 * 1e6 * 10


def test_iterative_form_reuses_its_matrix():
    """Along a smooth motion one factorisation serves, with a few iterations per evaluation; both products with M and the direct variant agree."""
    tree = random_tree(np.random.default_rng(2), 12, "chain", "universal")
    n = len(tree.u)
    for form in ITERATED:
        I = instance(tree)
        I.ws.head.itr_tolerance = 1e-10
        iterations = []
        for k in range(20):
            I.ws.q[:] = tree.q + 1e-4 * k * tree.u
            assert I.call("literal_state") == I.call(form) == 0
            iterations.append(I.ws.head.iterations)
            got = I.ws.udot.copy()
            assert I.call("cbm") == 0
            assert np.abs(got - I.ws.udot).max() <= 1e-7 * np.abs(got).max(), form
        assert I.ws.head.refactored == 1
        assert np.mean(iterations) < n / 4


def test_iterative_form_converges_after_state_jump():
    """Far from the carried matrix the iteration does not contract: line search or a new factorisation give the full accuracy all the same."""
    tree = random_tree(np.random.default_rng(4), 8, "random", "revolute")
    for form in (*ITERATED, "itr_h"):
        I = instance(tree)
        for k in range(6):
            I.ws.q[:] = tree.q + 2.0 * k * np.resize(tree.u, len(tree.q))
            I.ws.u[:] = tree.u
            if form == "itr_h":
                assert I.call("momenta") == I.call(form) == 0
                assert np.abs(I.ws.u - tree.u).max() <= 1e-11
            else:
                assert I.call("literal_state") == I.call(form) == 0
                got = I.ws.udot.copy()
                assert I.call("cbm") == 0
                assert np.abs(got - I.ws.udot).max() <= 1e-11 * np.abs(got).max(), form
        assert I.ws.head.fallbacks + I.ws.head.refactored > 1


def test_variable_metric_iteration_stops_at_zero_force():
    """b = 0: no iteration, no division by zero."""
    tree = random_tree(np.random.default_rng(6), 4, "chain", "revolute")
    for field in (tree.gravity, tree.u, tree.tau, tree.wrench, tree.extra):
        field[...] = 0.0
    I = instance(tree)
    for form in ITERATED:
        I.ws.head.held = 0.0
        for _ in range(2):
            assert I.call("literal_state") == I.call(form) == 0
            assert not I.ws.udot.any()
