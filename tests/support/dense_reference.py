"""An independent dense solution of the redundant equations (1.38) and (1.54) of [Sh24].

Kinematics by second-order time jets of absolute 4x4 poses (nothing of the body-axes recursions is used); accepts complex arguments,
so that the complex step gives derivatives along the motion to the last digit.
"""

import numpy as np
from random_trees import Tree, axis_rotation, given

from kinetree.solvers import layout as L


def skew(a):
    return np.array(
        [[0.0 * a[0], -a[2], a[1]], [a[2], 0.0 * a[0], -a[0]], [-a[1], a[0], 0.0 * a[0]]]
    )


def jet_product(a, b):
    return a[0] @ b[0], a[1] @ b[0] + a[0] @ b[1], a[2] @ b[0] + 2.0 * a[1] @ b[1] + a[0] @ b[2]


def quaternion_rotation(q):
    w, v = q[0], q[1:]
    return np.eye(3) + (2.0 * w * skew(v) + 2.0 * skew(v) @ skew(v)) / (q @ q)


def motion_jet(motion, t):
    a, b, c, d = motion
    s, k = np.sin(b * t + c), np.cos(b * t + c)
    return given(motion, t), a * b * k + d, -a * b * b * s


def element_jet(e, t, q, u):
    """Pose of an element and its first and second rate at u̇ = 0."""
    X = [np.zeros((4, 4), complex) for _ in range(3)]
    X[0][:] = np.eye(4)
    K = skew(e.axis)
    if e.kind in (L.Element.SHIFT_T, L.Element.ROTATE_T):
        x = motion_jet(e.motion, t)
    elif e.kind in (L.Element.SHIFT_Q, L.Element.ROTATE_Q):
        x = (e.factor * q[e.q], e.factor * u[e.u], 0.0)
    if e.kind == L.Element.SHIFT:
        X[0][:3, 3] = e.axis
    elif e.kind == L.Element.ROTATE:
        X[0][:3, :3] = axis_rotation(e.axis, e.angle)
    elif e.kind in (L.Element.SHIFT_Q, L.Element.SHIFT_T):
        for k in range(3):
            X[k][:3, 3] = x[k] * e.axis
    elif e.kind in (L.Element.ROTATE_Q, L.Element.ROTATE_T):
        R = axis_rotation(e.axis, x[0])
        X[0][:3, :3], X[1][:3, :3], X[2][:3, :3] = (
            R,
            x[1] * K @ R,
            (x[2] * K + x[1] ** 2 * K @ K) @ R,
        )
    else:
        free = e.kind == L.Element.FREE
        R = quaternion_rotation(q[e.q + 3 : e.q + 7] if free else q[e.q : e.q + 4])
        W = skew(u[e.u + 3 : e.u + 6] if free else u[e.u : e.u + 3])
        X[0][:3, :3], X[1][:3, :3], X[2][:3, :3] = R, R @ W, R @ W @ W
        if free:
            X[0][:3, 3], X[1][:3, 3], X[2][:3, 3] = (
                q[e.q : e.q + 3],
                R @ u[e.u : e.u + 3],
                R @ W @ u[e.u : e.u + 3],
            )
    return X


def poses(tree: Tree, t, q, u):
    """Jets of the poses ground-from-body."""
    rest = (np.eye(4, dtype=complex), np.zeros((4, 4), complex), np.zeros((4, 4), complex))
    out = [rest]
    for i in range(1, tree.bodies + 1):
        X = out[tree.parent[i]]
        for e in tree.joints[i]:
            X = jet_product(X, element_jet(e, t, q, u))
        out.append(X)
    return out


def unskew(W):
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


def twists(X):
    """True velocity and acceleration of the body's origin and the angular ones, body axes."""
    R = X[0][:3, :3].T
    v = np.concatenate([R @ X[1][:3, 3], unskew(R @ X[1][:3, :3])])
    w = np.concatenate([R @ X[2][:3, 3], unskew(R @ X[2][:3, :3])])
    return v, w


class Dense:
    """All quantities of the theory at one state; block arrays over the bodies 1..N."""

    def __init__(self, tree: Tree, t=None, q=None, u=None):
        self.tree = tree
        self.t = tree.t if t is None else t
        self.q = tree.q if q is None else q
        self.u = tree.u if u is None else u
        N, n = tree.bodies, len(tree.u)
        X = poses(tree, self.t, self.q, self.u)
        self.R = [x[0][:3, :3] for x in X]
        both = [twists(x) for x in X[1:]]
        self.v = np.concatenate([b[0] for b in both])
        self.w_drift = np.concatenate([b[1] for b in both])  # at u̇ = 0
        still = np.zeros(n)
        self.v_drift = np.concatenate(
            [twists(x)[0] for x in poses(tree, self.t, self.q, still)[1:]]
        )
        self.B = np.zeros((6 * N, n), complex)
        for k in range(n):
            still[k] = 1.0
            self.B[:, k] = (
                np.concatenate([twists(x)[0] for x in poses(tree, self.t, self.q, still)[1:]])
                - self.v_drift
            )
            still[k] = 0.0
        self.S = np.eye(6 * N, dtype=complex)
        self.M = np.zeros((6 * N, 6 * N), complex)
        for i in range(1, N + 1):
            b, k = slice(6 * i - 6, 6 * i), tree.parent[i]
            h, m = tree.mass[i] * tree.com[i], tree.mass[i]
            J = tree.inertia[i] - m * skew(tree.com[i]) @ skew(tree.com[i])
            self.M[b, b] = np.block([[m * np.eye(3), -skew(h)], [skew(h), J]])
            if k > 0:
                G = self.R[i].T @ self.R[k]
                rho = self.R[k].T @ (X[i][0][:3, 3] - X[k][0][:3, 3])
                self.S[b, 6 * k - 6 : 6 * k] = -np.block(
                    [[G, -G @ skew(rho)], [np.zeros((3, 3)), G]]
                )
        self.A = self.S @ self.B

    def active(self):
        """F: gravity and loads in body axes; tau as wrenches A(AᵀA)⁻¹tau with their opposite on the parents."""
        tree, N = self.tree, self.tree.bodies
        F = np.zeros(6 * N, complex)
        for i in range(1, N + 1):
            R = self.R[i].T
            g = R @ tree.gravity
            f = np.concatenate(
                [
                    R @ tree.wrench[i, :3] + tree.mass[i] * g,
                    R @ tree.wrench[i, 3:] + tree.mass[i] * np.cross(tree.com[i], g),
                ]
            )
            F[6 * i - 6 : 6 * i] = f + tree.extra[i]
        return F + self.S.T @ np.linalg.pinv(self.A).T @ tree.tau

    def inertial(self):
        """F^c."""
        tree = self.tree
        out = np.zeros(6 * tree.bodies, complex)
        for i in range(1, tree.bodies + 1):
            b = slice(6 * i - 6, 6 * i)
            o = self.v[b][3:]
            J = self.M[b, b][3:, 3:]
            out[b] = np.concatenate(
                [-tree.mass[i] * np.cross(o, np.cross(o, tree.com[i])), -np.cross(o, J @ o)]
            )
        return out

    def lagrange(self):
        """(1.38): w, R, u̇."""
        N6, n = len(self.v), len(self.u)
        Z, z = np.zeros((N6, N6)), np.zeros((n, N6))
        K = np.block(
            [[self.M, -self.S.T, z.T], [-self.S, Z, self.A], [z, self.A.T, np.zeros((n, n))]]
        )
        w1 = self.S @ self.w_drift
        x = np.linalg.solve(K, np.concatenate([self.active() + self.inertial(), -w1, np.zeros(n)]))
        return x[:N6], x[N6 : 2 * N6], x[2 * N6 :]

    def momenta(self):
        return self.B.T @ self.M @ self.v

    def hamilton(self, p):
        """(1.54) without its last line: v, p*, u."""
        N6, n = len(self.v), len(self.u)
        Z, z = np.zeros((N6, N6)), np.zeros((n, N6))
        K = np.block(
            [[self.M, -self.S.T, z.T], [-self.S, Z, self.A], [z, self.A.T, np.zeros((n, n))]]
        )
        x = np.linalg.solve(K, np.concatenate([np.zeros(N6), -self.S @ self.v_drift, p]))
        return x[:N6], x[N6 : 2 * N6], x[2 * N6 :]

    def coordinate_rates(self):
        """q̇."""
        rates = np.zeros(len(self.q), complex)
        for joint in self.tree.joints:
            for e in joint:
                if e.kind in (L.Element.SHIFT_Q, L.Element.ROTATE_Q):
                    rates[e.q] = self.u[e.u]
                elif e.kind in (L.Element.BALL, L.Element.FREE):
                    free = e.kind == L.Element.FREE
                    k, s = (e.q + 3, e.u + 3) if free else (e.q, e.u)
                    q, o = self.q[k : k + 4], self.u[s : s + 3]
                    rates[k : k + 4] = 0.5 * np.concatenate(
                        [[-q[1:] @ o], q[0] * o + np.cross(q[1:], o)]
                    )
                    if free:
                        rates[e.q : e.q + 3] = quaternion_rotation(q) @ self.u[e.u : e.u + 3]
        return rates


def momentum_rates(tree: Tree) -> np.ndarray:
    """ṗ along the true motion: the complex step through p = BᵀMv, with u̇ from (1.38); no formula for ṗ is used."""
    here = Dense(tree)
    udot = here.lagrange()[2]
    h = 1e-30
    there = Dense(
        tree, tree.t + 1j * h, tree.q + 1j * h * here.coordinate_rates(), tree.u + 1j * h * udot
    )
    return there.momenta().imag / h
