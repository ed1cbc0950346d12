"""All forms against an independent dense solution of (1.38) and (1.54) on drawn trees: every joint kind, given motions, loads.

Tolerance: eps · cond · n with the drawn inertias (cond below 1e4, n below 100) is about 2e-11; 1e-10 is asked.
"""

import numpy as np
import pytest
from dense_reference import Dense, momentum_rates
from hypothesis import given, settings
from hypothesis import strategies as st
from random_trees import instance, random_tree

from kinetree.solvers import layout as L
from kinetree.solvers.literal.kinds import LITERAL

LAGRANGE = {form.name: form.entry for form in LITERAL if not form.momenta}
NUMBER = {form.name: form.code for form in LITERAL if not form.momenta}
HAMILTON = {form.name: form.entry for form in LITERAL if form.momenta}
DRAWN = settings(max_examples=40, deadline=None, derandomize=True, database=None)
TOLERANCE = 1e-10

trees = st.builds(lambda seed, bodies, shape: random_tree(np.random.default_rng(seed), bodies, shape), st.integers(0, 2**32), st.integers(1, 12),
                  st.sampled_from(["random", "random", "chain", "star"]))  # fmt: skip


def assert_close(got, wanted, what=""):
    wanted = np.asarray(wanted).real
    scale = np.abs(wanted).max(initial=0.0)
    assert np.abs(got - wanted).max(initial=0.0) <= TOLERANCE * max(scale, 1.0), what


def compare_lagrange(tree):
    w, R, udot = Dense(tree).lagrange()
    I = instance(tree)
    for name, entry in LAGRANGE.items():
        if name.startswith("ITR"):  # carry H over from a neighbouring state
            I.ws.head.held = 0.0
            I.ws.q[:] = tree.q + 1e-3
            assert I.call("literal_state") == I.call(entry) == 0
            I.ws.q[:] = tree.q
        assert I.call("literal_state") == 0
        I.ws.udot[:], I.ws.reaction[:] = np.nan, np.nan
        assert I.call(entry) == 0, name
        assert I.call("literal_reactions", NUMBER.get(name, L.Method.CBM)) == 0
        assert_close(I.ws.udot, udot, name)
        assert_close(I.ws.reaction[6:], R, name)
    assert (
        I.call("inverse_dynamics") == 0
    )  # of the accelerations found, on top of tau: nothing is missing
    assert np.abs(I.ws.Q).max(initial=0.0) <= TOLERANCE * max(1.0, np.abs(R).max())


@DRAWN
@given(trees)
def test_lagrangian_forms_agree(tree):
    compare_lagrange(tree)


@pytest.mark.parametrize("seed", [1, 2])
def test_forms_agree_for_fifty_bodies(seed):
    compare_lagrange(random_tree(np.random.default_rng(seed), 50))


@DRAWN
@given(trees)
def test_default_engine_matches_literal_dec(tree):
    """DEC in ground axes gives the same accelerations and reactions."""
    w, R, udot = Dense(tree).lagrange()
    I = instance(tree)
    assert I.call("outputs") == 0
    assert_close(I.ws.udot, udot)
    assert_close(I.ws.reaction[6:], R)


@DRAWN
@given(trees)
def test_hamiltonian_forms_agree(tree):
    """u from p against (1.54); ṗ against the derivative of BᵀMv along the motion that (1.38) gives."""
    dense = Dense(tree)
    p, pdot = dense.momenta().real, momentum_rates(tree)
    v, ps, u = dense.hamilton(p)
    assert_close(tree.u, u)
    I = instance(tree)
    assert I.call("momenta") == 0
    assert_close(I.ws.p, p)
    for name, entry in HAMILTON.items():
        I.ws.p[:] = p
        for field in (I.ws.u, I.ws.v, I.ws.ps, I.ws.pdot):
            field[:] = np.nan
        assert I.call("literal_places") == 0
        assert I.call(entry) == 0, name
        assert_close(I.ws.u, u, name)
        assert_close(I.ws.ps[6:], ps, name)
        assert I.call("literal_rates") == 0
        assert_close(I.ws.pdot, pdot, name)


@DRAWN
@given(trees)
def test_mass_matrices_agree(tree):
    dense = Dense(tree)
    I = instance(tree)
    assert I.call("mass_matrix") == 0
    n = len(tree.u)
    assert_close(I.ws.Mq.reshape(n, n), dense.B.T @ dense.M @ dense.B)


@DRAWN
@given(trees)
def test_body_axes_kinematics_match_absolute_poses(tree):
    """A, v, w' and F' of the body-axes recursions against absolute poses."""
    dense = Dense(tree)
    I = instance(tree)
    assert I.call("literal_state") == 0
    A = np.zeros((6 * tree.bodies, len(tree.u)))
    for i in range(1, tree.bodies + 1):
        for k in range(tree.u_at[i], tree.u_at[i + 1]):
            A[6 * i - 6 : 6 * i, k] = I.ws.A[6 * k : 6 * k + 6]
            assert_close(
                I.ws.Ap[6 * k : 6 * k + 6],
                np.linalg.pinv(dense.A[6 * i - 6 : 6 * i, tree.u_at[i] : tree.u_at[i + 1]].real)[
                    k - tree.u_at[i]
                ],
            )
        Q = I.ws.Z[36 * i : 36 * i + 36].reshape(6, 6)
        n = tree.u_at[i + 1] - tree.u_at[i]
        assert_close(Q @ Q.T, np.eye(6))
        assert_close(Q[n:] @ A[6 * i - 6 : 6 * i], np.zeros((6 - n, len(tree.u))))
    assert_close(A, dense.A)
    assert_close(I.ws.v[6:], dense.v)
    assert_close(I.ws.wp[6:], dense.S @ dense.w_drift)
    assert_close(I.ws.Fp[6:], dense.active() + dense.inertial())


@pytest.mark.parametrize("seed", range(4))
def test_forms_with_massless_bodies_agree(seed):
    """A massless body between others is fine where M_i is not inverted; the first kind names it."""
    tree = random_tree(np.random.default_rng(seed), 12, "chain", "revolute", massless=True)
    light = np.flatnonzero(tree.mass == 0.0)
    assert light.size
    udot = Dense(tree).lagrange()[2].real
    I = instance(tree)
    for name, entry in LAGRANGE.items():
        assert I.call("literal_state") == 0
        if name == "LGR":
            assert I.call(entry) == L.Status.SINGULAR_BODY
            assert I.ws.head.item == light[0]
        else:
            assert I.call(entry) == 0
            assert_close(I.ws.udot, udot, name)


def test_locked_inertia_is_named():
    """An end body with no mass: every form says which body, none returns NaN silently."""
    tree = random_tree(np.random.default_rng(3), 6, "chain", "revolute")
    tree.mass[6], tree.inertia[6] = 0.0, 0.0
    I = instance(tree)
    for name, entry in LAGRANGE.items():
        I.ws.head.held = 0.0
        assert I.call("literal_state") == 0
        assert I.call(entry) in (L.Status.SINGULAR_JOINT, L.Status.SINGULAR_BODY), name
        assert I.ws.head.item == 6, name
    assert I.call("accelerations") == L.Status.SINGULAR_JOINT
    assert I.ws.head.item == 6


def test_singular_joint_is_named():
    """Two turns about one axis in one joint: the columns have lost their rank."""
    tree = random_tree(np.random.default_rng(5), 3, "chain", "universal")
    turning = [e for e in tree.joints[2] if e.kind == L.Element.ROTATE_Q]
    turning[1].axis = turning[0].axis
    I = instance(tree)
    assert I.call("literal_state") == L.Status.SINGULAR_JOINT
    assert I.ws.head.item == 2
