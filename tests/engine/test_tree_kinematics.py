"""Kinematics of trees: against an independent dense evaluation and against differences of the product's own outputs along a motion."""

import numpy as np
import pytest
from random_descriptions import (
    RandomTree,
    empty,
    joint_jet,
    matrix_of,
    product,
    random_description,
    skew,
)

from kinetree.models import ModelError, load
from kinetree.models.engine.instance import Instance

BODIES = 50
EPS = np.finfo(float).eps
NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)
# central difference of order 8: error h⁸ f⁽⁹⁾/630
OFFSETS = (1, 2, 3, 4)
FACTORS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)


class Case:
    """A compiled random tree at a random state."""

    def __init__(self, seed: int, bodies: int = BODIES):
        rng = np.random.default_rng(seed)
        self.tree: RandomTree = random_description(rng, bodies)
        self.system = load(self.tree.description).compile()
        system = self.system
        self.t = 0.4
        self.q = 0.6 * rng.normal(size=len(system.coordinates))
        self.u = 0.5 * rng.normal(size=system.n)
        self.slices, q, u = {}, 0, 0
        for body in system.bodies:
            joint = self.tree.joints[body]
            nq = joint.freedoms + (1 if joint.special else 0)
            self.slices[body] = (slice(q, q + nq), slice(u, u + joint.freedoms))
            if joint.special:
                self.q[q + nq - 4 : q + nq] /= np.linalg.norm(self.q[q + nq - 4 : q + nq])
            q, u = q + nq, u + joint.freedoms
        self.udot = system.accelerations(self.t, self.q, self.u)

    def vector(self, values: dict[str, float], name: str, size: int = 3) -> np.ndarray:
        return np.array([values[f"{name}[{k + 1}]"] for k in range(size)])

    def along(self, s: float) -> tuple[float, np.ndarray, np.ndarray]:
        """The state a time s later on the motion whose speeds are u + u̇ s."""
        q, u = self.q.copy(), self.u + s * self.udot
        for body, (of_q, of_u) in self.slices.items():
            special, u0, rate = self.tree.joints[body].special, self.u[of_u], self.udot[of_u]
            if not special:
                q[of_q] += s * u0 + 0.5 * s * s * rate
                continue
            q0 = self.q[of_q]
            if special == "free":
                steps = (
                    (0.5 * s * w, 0.5 * s * (x + 1.0)) for x, w in zip(NODES, WEIGHTS, strict=True)
                )
                q[of_q][:3] += sum(
                    w * matrix_of(turned(q0[3:], u0[3:], rate[3:], at)) @ (u0[:3] + at * rate[:3])
                    for w, at in steps
                )
            q[of_q][-4:] = turned(q0[-4:], u0[-3:], rate[-3:], s)
        return self.t + s, q, u

    def difference(self, what, h: float = 4e-3):
        """Rate of a function of the outputs along the motion."""
        values = {
            k: what(self.system.outputs(*self.along(k * h))) for j in OFFSETS for k in (-j, j)
        }
        return sum(c * (values[k] - values[-k]) for k, c in zip(OFFSETS, FACTORS, strict=True)) / h


def turned(quaternion: np.ndarray, rate: np.ndarray, change: np.ndarray, s: float) -> np.ndarray:
    """Solution of Q' = Q (rate + change s)/2 at s: power series, c_{k+1} = (c_k rate + c_{k-1} change)/(2(k+1))."""
    before, now, total = np.zeros(4), quaternion, quaternion.copy()
    for k in range(16):
        before, now = now, (times(now, rate) + times(before, change)) / (2 * (k + 1))
        total += now * s ** (k + 1)
    return total


def times(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    w, v = quaternion[0], quaternion[1:]
    return np.concatenate([[-v @ vector], w * vector + np.cross(v, vector)])


@pytest.fixture(scope="module", params=[1, 2, 3])
def case(request) -> Case:
    return Case(request.param)


def unskew(W: np.ndarray) -> np.ndarray:
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


def close(found, expected, tolerance: float, scale: float, what: str) -> None:
    error = np.abs(np.asarray(found) - expected).max()
    assert error <= tolerance * max(1.0, scale), f"{what}: {error:.2e}, scale {scale:.2e}"


def test_random_trees_contain_every_kind_of_joint(case):
    specials = {(joint.special, joint.backwards) for joint in case.tree.joints.values()}
    assert specials >= {("", False), ("", True), ("ball", False), ("free", False)}
    assert len(case.system.bodies) == BODIES and all(
        parent < i for i, parent in enumerate(case.system.parents, 1)
    )


def test_kinematics_match_dense_evaluation(case):
    """1e-12 of the largest magnitude on the path: products of up to 50 matrices, each rounding to about 10 ε."""
    system, tree = case.system, case.tree
    values = system.outputs(case.t, case.q, case.u)
    jets = {"ground": empty()}
    for body in system.bodies:
        of_q, of_u = case.slices[body]
        jet = joint_jet(tree.joints[body], case.t, case.q[of_q], case.u[of_u], case.udot[of_u])
        x, v, a = jets[body] = product(jets[tree.parents[body]], jet)
        point = np.array([*tree.description["outputs"][f"{body}_position"]["point"], 1.0])
        R = x[:3, :3]
        sizes = [
            max(np.abs(each).max() for each in column)
            for column in zip(*jets.values(), strict=True)
        ]
        close(case.vector(values, f"{body}_position"), (x @ point)[:3], 1e-12, sizes[0], body)
        close(case.vector(values, f"{body}_velocity"), (v @ point)[:3], 1e-12, sizes[1], body)
        close(case.vector(values, f"{body}_acceleration"), (a @ point)[:3], 1e-12, sizes[2], body)
        close(
            case.vector(values, f"{body}_own_velocity"),
            R.T @ (v @ point)[:3],
            1e-12,
            sizes[1],
            body,
        )
        close(
            case.vector(values, f"{body}_own_acceleration"),
            R.T @ (a @ point)[:3],
            1e-12,
            sizes[2],
            body,
        )
        close(matrix_of(case.vector(values, f"{body}_orientation", 4)), R, 1e-12, 1.0, body)
        close(
            case.vector(values, f"{body}_angular_velocity"),
            unskew(v[:3, :3] @ R.T),
            1e-12,
            sizes[1],
            body,
        )
        close(
            case.vector(values, f"{body}_angular_acceleration"),
            unskew(a[:3, :3] @ R.T),
            1e-12,
            sizes[2],
            body,
        )


def test_kinematics_match_central_differences(case):
    """Velocities and accelerations are the rates of positions and velocities along the motion."""
    values = case.system.outputs(case.t, case.q, case.u)
    names = [f"{body}_{{}}" for body in case.system.bodies]
    for lower, upper in (
        ("position", "velocity"),
        ("velocity", "acceleration"),
        ("angular_velocity", "angular_acceleration"),
    ):
        every = lambda outputs, key=lower: np.array(  # noqa: E731
            [case.vector(outputs, name.format(key)) for name in names]
        )
        expected = np.array([case.vector(values, name.format(upper)) for name in names])
        close(case.difference(every), expected, 1e-8, np.abs(expected).max(), upper)
    turns = lambda outputs: np.array(  # noqa: E731
        [matrix_of(case.vector(outputs, name.format("orientation"), 4)) for name in names]
    )
    rates = [skew(case.vector(values, name.format("angular_velocity"))) for name in names]
    close(
        case.difference(turns), np.array(rates) @ turns(values), 1e-8, np.abs(rates).max(), "turns"
    )


def test_reversed_free_joint_is_built_directly():
    """A joint whose child is the tree's predecessor is inverted element by element; a free joint has to be written the other way round."""
    tree = {
        "bodies": {"a": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"parent": "a", "child": "ground", "type": "free"}},
    }
    with pytest.raises(ModelError, match="exchanged"):
        load(tree).compile()


def test_regulator_matches_published_matrices():
    """G, ρ, A and Ȧ of [IPS16], corrected: rotation about x by α, then about the new y by β; coordinates (y2, α, β)."""
    system = load("lib:regulator").compile()
    gamma, y, al, be = q = np.array([0.7, 0.55, 0.3, -0.4])
    _, _, dal, dbe = u = np.array([5.0, 0.2, -0.6, 0.9])
    assert system.coordinates == ("gamma", "y2", "alpha", "beta")
    forms = Instance(system.compiled, frozenset({"literal", "path"}))
    forms.set_state(q, u)
    forms.call("literal_state")
    ws = forms.ws
    cg, sg, ca, sa, cb, sb = (
        np.cos(gamma),
        np.sin(gamma),
        np.cos(al),
        np.sin(al),
        np.cos(be),
        np.sin(be),
    )
    G = ws.G.reshape(-1, 3, 3)
    assert np.abs(G[1] - [[cg, sg, 0], [-sg, cg, 0], [0, 0, 1]]).max() < 4 * EPS
    assert (
        np.abs(G[2] - [[cb, sa * sb, -ca * sb], [0, ca, sa], [sb, -sa * cb, ca * cb]]).max()
        < 4 * EPS
    )
    assert np.array_equal(ws.rho[3:].reshape(2, 3), [[0, 0, 0], [0, y, 0]])
    A2 = [[sa * sb, ca, -sa * cb, 0, 0, 0], [0, 0, 0, cb, 0, sb], [0, 0, 0, 0, 1, 0]]
    A2dot = [
        [dal * ca * sb + dbe * sa * cb, -dal * sa, -dal * ca * cb + dbe * sa * sb, 0, 0, 0],
        [0, 0, 0, -dbe * sb, 0, dbe * cb],
        [0] * 6,
    ]
    assert np.array_equal(ws.A[:6], [0, 0, 0, 0, 0, 1])
    assert np.abs(ws.A[6:].reshape(3, 6) - A2).max() < 4 * EPS
    assert not ws.Adot[:6].any()
    assert np.abs(ws.Adot[6:].reshape(3, 6) - A2dot).max() < 8 * EPS
