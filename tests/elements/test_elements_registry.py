"""Every kind of joint element that moves, whatever it is: its kernels and what descriptions do with it must tell one and the same motion."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from random_trees import Element, Tree, instance

from kinetree.models.expressions.node_arithmetic import E, name
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.joints.elements import ElementForm
from kinetree.models.joints.moves import MOVES, along, ball, found
from kinetree.models.trace.symbolic_kernels import PlainKernels
from kinetree.solvers import layout as L
from kinetree.solvers.elements.kinds import BY_NAME, KINDS, Kind

MOVING = [kind for kind in KINDS if kind.coordinates]
OWN = [kind for kind in MOVING if not kind.plain]
PLAIN = PlainKernels(symbolic=False)
STEP = 1e-6


def by_name(kinds: list[Kind]):
    return pytest.mark.parametrize("kind", kinds, ids=[kind.name for kind in kinds])


def arm(kind: Kind, seed: int = 4) -> SimpleNamespace:
    """One body on a joint: a constant shift, the element, a constant rotation and a shift."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    q = rng.normal(size=kind.coordinates)
    if kind.quaternion >= 0:
        q[kind.quaternion : kind.quaternion + 4] /= np.linalg.norm(
            q[kind.quaternion : kind.quaternion + 4]
        )
    around = [
        Element(L.Element.SHIFT, rng.normal(size=3)),
        Element(L.Element.ROTATE, axis / np.linalg.norm(axis), angle=0.4),
    ]
    own = Element(
        L.Element[kind.name],
        np.roll(axis, 1) / np.linalg.norm(axis),
        factor=0.7 if kind.plain else 1.0,
        q=0,
        u=0,
    )
    joint = [around[0], own, around[1], Element(L.Element.SHIFT, rng.normal(size=3))]
    two, eye = np.zeros((2, 3)), np.repeat(np.eye(3)[None], 2, axis=0)
    n = kind.speeds
    tree = Tree(
        [-1, 0], [[], joint], [0, 0, kind.coordinates], [0, 0, n], np.ones(2), two, eye, np.zeros(3), 0.0,
        q, rng.normal(size=n), np.zeros(n), np.zeros((2, 6)), np.zeros((2, 6)),
    )  # fmt: skip
    made = instance(tree)
    return SimpleNamespace(model=made.model, ws=made.ws, q=q, u=np.array(tree.u), n=n, at=1)


def kernel(module: str, function: str):
    return PLAIN.kernel(module, function)


def pose(a: SimpleNamespace, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotation from body to ground axes, place of the body, columns in body axes."""
    a.ws.q[:] = q
    kernel("engine.joint_frames", "place_joint")(a.model, a.ws, 1)
    return (
        a.ws.G[9:18].reshape(3, 3).T.copy(),
        a.ws.rho[3:6].copy(),
        a.ws.A[: 6 * a.n].reshape(a.n, 6).copy(),
    )


def moved(a: SimpleNamespace, q: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Coordinates after a change in the directions of the speeds."""
    a.ws.q[:] = q
    if a.model.u_q.size and a.model.u_q[0] >= 0:
        a.ws.q[:] += change
    else:
        kernel("elements.chosen", "retract_element")(a.model, a.ws, a.at, (change, 1.0))
    return a.ws.q.copy()


def plain_speeds(a: SimpleNamespace, kind: Kind) -> None:
    a.model.u_q = np.arange(a.n) if kind.plain else np.full(a.n, -1)


def twist(before: tuple, after: tuple, step: float) -> np.ndarray:
    """Velocity and angular velocity in body axes between two poses."""
    R = 0.5 * (before[0] + after[0])
    W = R.T @ (after[0] - before[0]) / step
    return np.concatenate(
        (
            R.T @ (after[1] - before[1]) / step,
            0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]),
        )
    )


@by_name(MOVING)
def test_element_columns_match_motion(kind: Kind):
    """Every column is what the body does when its speed is one."""
    a = arm(kind)
    plain_speeds(a, kind)
    columns = pose(a, a.q)[2]
    for k, axis in enumerate(np.eye(a.n)):
        found = twist(
            pose(a, moved(a, a.q, -STEP * axis)), pose(a, moved(a, a.q, STEP * axis)), 2.0 * STEP
        )
        assert np.allclose(columns[k], found, atol=1e-8)


@by_name(MOVING)
def test_element_column_rates_match_differences(kind: Kind):
    """Ȧ is what the columns do while the body moves; Aq̇ and Ȧq̇ come along."""
    a = arm(kind)
    plain_speeds(a, kind)
    columns = pose(a, a.q)[2]
    a.ws.u[:] = a.u
    v, rest = kernel("engine.joint_frames", "joint_rates")(a.model, a.ws, 1)
    rates = a.ws.Adot[: 6 * a.n].reshape(a.n, 6).copy()
    ahead, behind = (pose(a, moved(a, a.q, sign * STEP * a.u))[2] for sign in (1.0, -1.0))
    assert np.allclose(v, a.u @ columns, atol=1e-12)
    assert np.allclose(rest, a.u @ rates, atol=1e-12)
    assert np.allclose(rates, (ahead - behind) / (2.0 * STEP), atol=1e-7)


@by_name(MOVING)
def test_elements_agree_in_both_directions_of_the_tree(kind: Kind):
    """The walk in ground axes finds the pose and the columns of the frames in body axes."""
    a = arm(kind)
    R, place, columns = pose(a, a.q)
    a.ws.u[:] = a.u
    for at, size in ((L.W_R, 9), (L.W_OM, 3), (L.W_AL, 3), (L.W_A0, 3), (L.W_P, 3)):
        a.ws.row[at : at + size] = np.eye(3).ravel() if size == 9 else 0.0
    a.model.u_kind[:] = L.Column.GENERAL
    kernel("engine.joint_elements", "move_general")(a.model, a.ws, 1)
    assert np.allclose(a.ws.row[L.ROW + L.W_R : L.ROW + L.W_R + 9].reshape(3, 3), R, atol=1e-13)
    assert np.allclose(a.ws.row[L.ROW + L.W_D : L.ROW + L.W_D + 3], place, atol=1e-13)
    for j in range(a.n):
        at = j * L.COLUMN
        found = np.concatenate(
            (
                R.T @ a.ws.col[at + L.C_L : at + L.C_L + 3],
                R.T @ a.ws.col[at + L.C_A : at + L.C_A + 3],
            )
        )
        assert np.allclose(found, columns[j], atol=1e-12)


@by_name(OWN)
def test_element_tangents_match_rates_and_steps(kind: Kind):
    """q̇ is the way of `retract`, `departure` leads back, and the model's side says the same as the kernels."""
    a, tangent = arm(kind), MOVES[kind].tangent
    assert tangent is not None
    a.ws.q[:], a.ws.u[:] = a.q, a.u
    rate = np.zeros(kind.coordinates)
    kernel("elements.chosen", "element_q_rates")(a.model, a.ws, a.at, rate)
    ahead, behind = (moved(a, a.q, sign * STEP * a.u) for sign in (1.0, -1.0))
    assert np.allclose(rate, (ahead - behind) / (2.0 * STEP), atol=1e-8)
    assert np.allclose(tangent.directions(a.q) @ a.u, rate, atol=1e-12)
    names = [
        [f"{letter}{k}" for k in range(count)]
        for letter, count in (("q", kind.coordinates), ("u", kind.speeds))
    ]
    values = dict(zip(names[0], a.q, strict=True)) | dict(zip(names[1], a.u, strict=True))
    written = tangent.rates(*([name(each) for each in some] for some in names))
    assert np.allclose([evaluate_constant(each.node, values) for each in written], rate, atol=1e-12)
    change = 0.3 * a.u
    there = moved(a, a.q, change)
    assert np.allclose(tangent.moved(a.q, change), there, atol=1e-12)
    out = np.zeros(a.n)
    a.ws.q[:] = there
    kernel("elements.chosen", "element_departure")(a.model, a.ws, a.at, (a.q, out))
    assert np.allclose(out, change, atol=1e-12) and np.allclose(
        tangent.between(a.q, there), change, atol=1e-12
    )


@by_name(OWN)
def test_element_coordinates_are_normalised(kind: Kind):
    """Start values of any length become what they must be, and stay so along every step."""
    a = arm(kind)
    a.ws.q[:] = 3.0 * a.q
    kernel("elements.chosen", "unify_element")(a.model, a.ws, a.at, 0)
    if kind.quaternion >= 0:
        assert np.linalg.norm(a.ws.q[kind.quaternion : kind.quaternion + 4]) == pytest.approx(
            1.0, abs=1e-15
        )
    once = a.ws.q.copy()
    kernel("elements.chosen", "unify_element")(a.model, a.ws, a.at, 0)
    assert np.allclose(a.ws.q, once, atol=1e-15)


def element_pose(kind: Kind, q: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and shift of the element alone."""
    a = arm(kind)
    a.ws.q[:] = q
    a.ws.elem[a.at * L.ELEMENT + L.E_FACTOR] = factor
    R = kernel("elements.chosen", "element_rotation")(a.model, a.ws, a.at, 0)
    return np.array(R).reshape(3, 3), np.array(
        kernel("elements.chosen", "element_shift")(a.model, a.ws, a.at, 0)
    )


@by_name([kind for kind in MOVING if kind.back])
def test_reversed_elements_invert_motion(kind: Kind):
    """From child to parent an element undoes what it does from parent to child, with the same coordinates."""
    form = ElementForm(kind, axis=(1.0, 0.0, 0.0), coordinate=0, factor=0.7).turned()
    assert form.kind is BY_NAME[kind.back] and form.turned().kind is kind
    a = arm(kind)
    R, s = element_pose(kind, a.q, 0.7 if kind.plain else 1.0)
    back, t = element_pose(form.kind, a.q, float(form.factor) if kind.plain else 1.0)
    assert np.allclose(R @ back, np.eye(3), atol=1e-13) and np.allclose(s + R @ t, 0.0, atol=1e-13)


@by_name(MOVING)
def test_locked_elements_become_constant(kind: Kind):
    """Held coordinates make constants, or given amounts, of the same rotation and shift."""
    a, held = arm(kind), MOVES[kind].locked
    assert held is not None
    names = [f"q{k}" for k in range(kind.coordinates)]
    values = dict(zip(names, a.q, strict=True))
    axis = a.ws.elem[a.at * L.ELEMENT + L.E_AXIS :][:3]
    parts = held(
        ElementForm(kind, axis=tuple(map(float, axis)), coordinate=0, factor=0.7),
        [E(each) for each in names],
    )
    R, s = np.eye(3), np.zeros(3)
    for part in parts:
        assert not part.kind.coordinates
        vector = np.array(
            [evaluate_constant(each, values) for each in part.axis or (0.0, 0.0, 1.0)]
        )
        amount = 1.0 if part.amount is None else evaluate_constant(part.amount, values)
        if part.kind.turns:
            u = vector / np.linalg.norm(vector)
            K = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
            R = R @ (np.eye(3) + np.sin(amount) * K + (1.0 - np.cos(amount)) * (K @ K))
        else:
            s = s + R @ vector * amount
    expected = element_pose(kind, a.q, 0.7 if kind.plain else 1.0)
    way = (
        BY_NAME["BALL"] if kind.name == "BALL_BACK" else kind
    )  # no joint is written with it: a description's ball is held before it is turned round
    if way is not kind:
        expected = element_pose(way, a.q, 1.0)
    assert np.allclose(R, expected[0], atol=1e-13) and np.allclose(s, expected[1], atol=1e-13)


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        (
            (replace(along.MOVES[0], units=("m", "m")), *along.MOVES[1:]),
            r"units or tangents of \['SHIFT_Q'\]",
        ),
        (
            (replace(along.MOVES[0], tangent=ball.TANGENT), *along.MOVES[1:]),
            r"units or tangents of \['SHIFT_Q'\]",
        ),
        (along.MOVES[1:], "are not those of the elements that move"),
    ],
)
def test_invalid_tables_of_moving_elements_are_refused(monkeypatch, moves: tuple, words: str):
    """One for every kind, with a unit for every coordinate, and tangents where speeds are no derivatives."""
    monkeypatch.setattr(along, "MOVES", moves)
    with pytest.raises(ValueError, match=words):
        found()
