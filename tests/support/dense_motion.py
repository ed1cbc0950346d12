"""Motion of a description by dense matrices in absolute coordinates: poses as 4x4 jets, Jacobians column by column, multipliers, scipy's DOP853.

Nothing of the product is used but the text of the description. Trees of every joint type, given motions with corners (momenta are continuous there),
closing ball joints, rods and gears, and the force laws below as docs/forces.md states them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from random_descriptions import Jet, empty, inverse, product, quaternion_jet, skew
from scipy.integrate import solve_ivp
from scipy.linalg import lstsq

from kinetree.models.joints.kinds import KINDS

Given = tuple[
    Callable[[float], tuple[float, float, float]], tuple[float, ...]
]  # value and two rates, corners


def sine(t: float) -> tuple[float, float, float]:
    return 0.2 * math.sin(3 * t + 0.4), 0.6 * math.cos(3 * t + 0.4), -1.8 * math.sin(3 * t + 0.4)


def lines(x: tuple[float, ...], y: tuple[float, ...]) -> Given:
    """Straight pieces through points, held outside."""

    def value(t: float) -> tuple[float, float, float]:
        for k in range(len(x) - 1):
            if x[k] <= t < x[k + 1]:
                slope = (y[k + 1] - y[k]) / (x[k + 1] - x[k])
                return y[k] + slope * (t - x[k]), slope, 0.0
        return (y[0] if t < x[0] else y[-1]), 0.0, 0.0

    return value, x


GIVEN: dict[str, Given] = {
    "0.2*sin(3*t + 0.4)": (sine, ()),
    "max(0, 0.4*(t - 0.17))": lines((0.17, 10.0), (0.0, 0.4 * 9.83)),
    "if(t < 0.23, 0.1*t, 0.023 + 0.5*(t - 0.23)**2)": (
        lambda t: (
            (0.1 * t, 0.1, 0.0) if t < 0.23 else (0.023 + 0.5 * (t - 0.23) ** 2, t - 0.23, 1.0)
        ),
        (0.23,),
    ),
    "0.3*abs(t - 0.31)": lines((-9.69, 0.31, 10.31), (3.0, 0.0, 3.0)),
    "table('path', t)": lines((0.0, 0.13, 0.29, 0.7), (0.0, 0.05, -0.02, 0.1)),
    "min(0.3*t, 0.1)": lines((-10.0, 1 / 3, 10.0), (-3.0, 0.1, 0.1)),
}
AXES = {
    "x": (1, 0, 0),
    "y": (0, 1, 0),
    "z": (0, 0, 1),
    "-x": (-1, 0, 0),
    "-y": (0, -1, 0),
    "-z": (0, 0, -1),
}


def direction(axis: Any) -> np.ndarray:
    return np.array(AXES[axis] if isinstance(axis, str) else axis, dtype=float)


def shift_jet(axis: np.ndarray, x: tuple[float, float, float]) -> Jet:
    jet = empty()
    for k in range(3):
        jet[k][:3, 3] = x[k] * axis
    return jet


def turn_jet(axis: np.ndarray, x: tuple[float, float, float]) -> Jet:
    jet, K = empty(), skew(axis / np.linalg.norm(axis))
    R = np.eye(3) + math.sin(x[0]) * K + (1.0 - math.cos(x[0])) * K @ K
    jet[0][:3, :3], jet[1][:3, :3], jet[2][:3, :3] = (
        R,
        x[1] * K @ R,
        (x[2] * K + x[1] ** 2 * K @ K) @ R,
    )
    return jet


def constants(table: dict[str, Any], at: str, frame: str) -> Jet:
    jet = shift_jet(np.array(table.get(at, (0, 0, 0)), float), (1.0, 0.0, 0.0))
    for part in table.get(frame, ()):
        jet = product(jet, turn_jet(direction(part["rotate"]), (part["by"], 0.0, 0.0)))
    return jet


RATES = {"spherical": ("wx", "wy", "wz"), "free": ("vx", "vy", "vz", "wx", "wy", "wz")}
WORDS = {kind.name: kind.coordinates for kind in KINDS.values()}
COUNTS = {
    kind.name: (len(kind.coordinates), len(kind.speeds or kind.coordinates))
    for kind in KINDS.values()
}
KNOWN = (
    "rigid",
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "screw",
    "free",
)  # by matrices of their own below


class Joint:
    """A joint of the tree: its jet from the carrying body to the carried one, as a function of its own coordinates."""

    def __init__(self, table: dict[str, Any], backwards: bool):
        self.table, self.backwards, self.kind = table, backwards, table.get("type", "transforms")
        moving = [part for part in table.get("transforms", ()) if "coordinate" in part]
        self.nq, self.nu = (
            (len(moving), len(moving)) if self.kind == "transforms" else COUNTS[self.kind]
        )
        if self.kind == "transforms":
            self.q0, self.u0 = (
                [part["start"] for part in moving],
                [part["speed"] for part in moving],
            )
        else:
            rest = (
                [0.0] * (self.nq - 4) + [1.0, 0.0, 0.0, 0.0]
                if self.nq > self.nu
                else [0.0] * self.nq
            )
            self.q0, self.u0 = (
                list(table.get("start", rest)),
                list(table.get("speed", [0.0] * self.nu)),
            )
        if self.nq > self.nu:
            e = np.array(self.q0[-4:])
            self.q0[-4:] = e / np.linalg.norm(e)

    def jet(self, t: float, q: np.ndarray, u: np.ndarray) -> Jet:
        found = self.forwards(t, q, u)
        return inverse(found) if self.backwards else found

    def forwards(self, t: float, q: np.ndarray, u: np.ndarray) -> Jet:
        if self.kind == "transforms":
            return self.sequence(t, q, u)
        x = [(float(a), float(b), 0.0) for a, b in zip(q, u, strict=False)]
        axis = direction(self.table.get("axis", "z")) if self.kind != "universal" else np.zeros(3)
        axis = axis / (np.linalg.norm(axis) or 1.0)
        steps: list[Jet] = []
        if self.kind in ("revolute", "screw"):
            steps = [turn_jet(axis, x[0])]
        if self.kind == "screw":
            steps += [shift_jet(axis * self.table["pitch"] / (2 * math.pi), x[0])]
        if self.kind in ("prismatic", "cylindrical"):
            steps = [shift_jet(axis, x[0])] + (
                [turn_jet(axis, x[1])] if self.kind == "cylindrical" else []
            )
        if self.kind == "universal":
            steps = [turn_jet(direction(each), x[k]) for k, each in enumerate(self.table["axis"])]
        if self.kind == "planar":
            steps = [
                shift_jet(np.eye(3)[0], x[0]),
                shift_jet(np.eye(3)[1], x[1]),
                turn_jet(np.eye(3)[2], x[2]),
            ]
        if self.kind in ("spherical", "free"):
            steps = [quaternion_jet(self.kind == "free", q, u, np.zeros(self.nu))]
        if self.kind not in KNOWN:
            steps = self.registered(x)
        jet = constants(self.table, "at", "frame")
        for step in steps:
            jet = product(jet, step)
        return product(jet, inverse(constants(self.table, "child_at", "child_frame")))

    def registered(self, x: list[tuple[float, float, float]]) -> list[Jet]:
        """Of a kind that is not known here: its elements, multiplied as matrices."""
        given = self.table.get("axis", "z")
        axes = (
            [direction(axis) for axis in given]
            if len(KINDS[self.kind].axes) > 1
            else [direction(given)]
        )
        elements = KINDS[self.kind].elements(axes, self.table.get("pitch", 0.0))
        moved = [tuple(e.factor * number for number in x[e.coordinate]) for e in elements]
        return [
            (turn_jet if e.kind.turns else shift_jet)(np.array(e.axis), by)
            for e, by in zip(elements, moved)
        ]

    def sequence(self, t: float, q: np.ndarray, u: np.ndarray) -> Jet:
        jet, k = empty(), 0
        for part in self.table["transforms"]:
            word = "rotate" if "rotate" in part else "shift"
            axis = direction(part[word])
            if "coordinate" in part:
                x, k = (float(q[k]), float(u[k]), 0.0), k + 1
            elif "by" in part:
                x = GIVEN[part["by"]][0](t)
            else:
                jet = product(jet, shift_jet(axis, (1.0, 0.0, 0.0)))
                continue
            jet = product(
                jet, (turn_jet if word == "rotate" else shift_jet)(axis / np.linalg.norm(axis), x)
            )
        return jet

    def rates(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """q̇; quaternions by half their product with the angular velocity in child axes."""
        if self.nq == self.nu:
            return u
        e, w = q[-4:], u[-3:]
        turning = 0.5 * np.concatenate(([-e[1:] @ w], e[0] * w + np.cross(e[1:], w)))
        if self.kind == "spherical":
            return turning
        v = e[1:]
        R = np.eye(3) * (1.0 - 2.0 * v @ v) + 2.0 * np.outer(v, v) + 2.0 * e[0] * skew(v)
        return np.concatenate((R @ u[:3], turning))


class Bodies:
    """Poses of all bodies at one state, and the columns of their velocities."""

    def __init__(self, model: Dense, t: float, q: np.ndarray, u: np.ndarray):
        self.jets = model.poses(t, q, u)
        still = model.poses(t, q, np.zeros_like(u))
        self.given = {name: twist(jet) for name, jet in still.items()}
        self.columns = {name: np.zeros((6, u.size)) for name in still}
        for k in range(u.size):
            one = model.poses(t, q, np.eye(u.size)[k])
            for name, jet in one.items():
                self.columns[name][:, k] = twist(jet) - self.given[name]

    def point(self, body: str, at: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Place, velocity, acceleration at rest of the speeds' rates, Jacobian."""
        p = np.append(np.asarray(at, float), 1.0)
        x = [(jet @ p)[:3] for jet in self.jets[body]]
        arm = x[0] - self.jets[body][0][:3, 3]
        J = self.columns[body][:3] - skew(arm) @ self.columns[body][3:]
        return x[0], x[1], x[2], J


def twist(jet: Jet) -> np.ndarray:
    """Velocity of the origin and angular velocity, ground axes."""
    W = jet[1][:3, :3] @ jet[0][:3, :3].T
    return np.concatenate((jet[1][:3, 3], [W[2, 1], W[0, 2], W[1, 0]]))


def twist_rate(jet: Jet) -> np.ndarray:
    R = jet[0][:3, :3]
    W = jet[1][:3, :3] @ R.T
    E = jet[2][:3, :3] @ R.T - W @ W
    return np.concatenate((jet[2][:3, 3], [E[2, 1], E[0, 2], E[1, 0]]))


class Dense:
    """A description as functions of dense matrices."""

    def __init__(self, description: dict[str, Any], inputs: dict[str, Callable[[float], float]]):
        self.d, self.inputs, self.x = (
            description,
            inputs,
            np.array([state["start"] for state in description.get("states", {}).values()]),
        )
        self.joints: dict[
            str, tuple[str, str, Joint]
        ] = {}  # carried body: carrying body, name of the joint, joint
        known = {"ground"}
        while len(known) <= len(description["bodies"]):
            for name, table in description["joints"].items():
                a, b = table.get("parent", "ground"), table["child"]
                if name != "closing" and (a in known) != (b in known):
                    carrier, carried = (a, b) if a in known else (b, a)
                    self.joints[carried] = carrier, name, Joint(table, carried == a)
                    known.add(carried)
        self.at: dict[str, tuple[int, int]] = {}
        nq = nu = 0
        for body, (_, _, joint) in self.joints.items():
            self.at[body] = nq, nu
            nq, nu = nq + joint.nq, nu + joint.nu
        self.nq, self.nu = nq, nu
        self.scalars = self.coordinates()

    def coordinates(self) -> dict[str, tuple[int, int]]:
        """Places of the coordinates whose rates are speeds, by name."""
        found = {}
        for body, (_, name, joint) in self.joints.items():
            own = [
                part["coordinate"]
                for part in joint.table.get("transforms", ())
                if "coordinate" in part
            ]
            for k, each in enumerate(
                own
                or [
                    f"{name}.{word}"
                    for word in WORDS.get(joint.kind, ())
                    if joint.kind not in RATES
                ]
            ):
                found[each] = self.at[body][0] + k, self.at[body][1] + k
        return found

    def poses(self, t: float, q: np.ndarray, u: np.ndarray) -> dict[str, Jet]:
        found = {"ground": empty()}
        for body, (carrier, _, joint) in self.joints.items():
            a, b = self.at[body]
            found[body] = product(
                found[carrier], joint.jet(t, q[a : a + joint.nq], u[b : b + joint.nu])
            )
        return found

    # -- dynamics ---------------------------------------------------------------------------------------------------------------------------
    def system(
        self, t: float, q: np.ndarray, u: np.ndarray
    ) -> tuple[Bodies, np.ndarray, np.ndarray]:
        """Mass matrix, and forces less what inertia asks for at u̇ = 0."""
        bodies = Bodies(self, t, q, u)
        M, f = np.zeros((u.size, u.size)), np.zeros(u.size)
        for name, table in self.d["bodies"].items():
            jet, J = bodies.jets[name], bodies.columns[name]
            I, w = spatial_inertia(table, jet[0][:3, :3]), twist(jet)[3:]
            m, h = table["mass"], jet[0][:3, :3] @ np.array(table["com"], float) * table["mass"]
            gravity = np.array(self.d["gravity"])
            gyro = np.concatenate((np.cross(w, np.cross(w, h)), np.cross(w, I[3:, 3:] @ w)))
            load = np.concatenate((m * gravity, np.cross(h, gravity)))
            M += J.T @ I @ J
            f += J.T @ (load - gyro - I @ twist_rate(jet))
        for table in self.d["forces"].values():
            f += self.force(bodies, table, t, q, u)
        return bodies, M, f

    def constraints(
        self, bodies: Bodies, u: np.ndarray, q: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows J, their velocities J u + c, and accelerations at u̇ = 0."""
        J, v, a = [np.zeros((0, self.nu))], [np.zeros(0)], [np.zeros(0)]
        if closing := self.d["joints"].get("closing"):
            first = bodies.point(closing["parent"], closing["at"])
            second = bodies.point(closing["child"], closing["child_at"])
            J, v, a = (
                [*J, first[3] - second[3]],
                [*v, first[1] - second[1]],
                [*a, first[2] - second[2]],
            )
        for coupling in self.d.get("couplings", {}).values():
            if isinstance(coupling, str):
                left, rest = coupling.split(" - ", 1)
                factor, right = rest.split(" - ")[0].split("*")
                row = np.zeros((1, self.nu))
                row[0, self.scalars[left][1]], row[0, self.scalars[right][1]] = 1.0, -float(factor)
                J, v, a = [*J, row], [*v, row @ u], [*a, np.zeros(1)]
            else:
                (x, xv, xa, xJ), (y, yv, ya, yJ) = (
                    bodies.point(end["body"], end["point"]) for end in coupling["between"]
                )
                d, dv = x - y, xv - yv
                J, v = [*J, (d @ (xJ - yJ))[None]], [*v, np.array([d @ dv])]
                a = [*a, np.array([d @ (xa - ya) + dv @ dv])]
        return np.concatenate(J), np.concatenate(v), np.concatenate(a)

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        q, u, x = y[: self.nq], y[self.nq : self.nq + self.nu], y[self.nq + self.nu :]
        self.x = x
        bodies, M, f = self.system(t, q, u)
        J, v, a = self.constraints(bodies, u, q)
        udot = saddle(
            M, J, f, -a - 2 * 5.0 * v
        )  # drift of the speeds decays; that of the places stays at the integrator's tolerance
        qdot = np.concatenate(
            [
                joint.rates(q[self.at[b][0] :][: joint.nq], u[self.at[b][1] :][: joint.nu])
                for b, (_, _, joint) in self.joints.items()
            ]
        )
        xdot = []
        for state in self.d.get("states", {}).values():
            c = state["rate"].split("sin(")[1].split(")")[0]
            a_, b_ = self.scalars[c]
            d_ = self.scalars[state["rate"].split("der(")[1].split(")")[0]][1]
            assert b_ == self.scalars[c][1]
            xdot.append(5 * (math.sin(q[a_]) - x[0]) + 0.3 * u[d_])
        return np.concatenate((qdot, udot, xdot))

    def at_corner(self, t: float, y: np.ndarray) -> np.ndarray:
        """Speeds after a corner of a given motion: M (u⁺ - u⁻) = - Bᵀ M (v̂⁺ - v̂⁻) + Jᵀμ, on the constraints."""
        q, u = y[: self.nq], y[self.nq : self.nq + self.nu]
        before, M, _ = self.system(t - 1e-12, q, u)
        after, _, _ = self.system(t + 1e-12, q, u)
        f = np.zeros(self.nu)
        for name, table in self.d["bodies"].items():
            I = spatial_inertia(table, after.jets[name][0][:3, :3])
            f -= after.columns[name].T @ I @ (after.given[name] - before.given[name])
        J, v, _ = self.constraints(after, u, q)
        return np.concatenate((q, u + saddle(M, J, f, -v), y[self.nq + self.nu :]))

    def state(self, values: dict[str, float]) -> np.ndarray:
        """The state of given coordinates and speeds, by their names; with states at their starts."""
        q, u = list[float](), list[float]()
        for _, name, joint in self.joints.values():
            own = [
                part["coordinate"]
                for part in joint.table.get("transforms", ())
                if "coordinate" in part
            ]
            names = own or [f"{name}.{word}" for word in WORDS.get(joint.kind, ())]
            q += [values[each] for each in names]
            u += (
                [values[f"{name}.{word}"] for word in RATES[joint.kind]]
                if joint.kind in RATES
                else [values[f"der({each})"] for each in names]
            )
        return np.array([*q, *u, *(state["start"] for state in self.d.get("states", {}).values())])

    def motion(self, y: np.ndarray, stop: float) -> tuple[np.ndarray, np.ndarray]:
        """State at the end; integrated from corner to corner."""
        parts = [
            part
            for joint in self.d["joints"].values()
            for part in joint.get("transforms", ())
            if "by" in part
        ]
        corners = sorted({c for part in parts for c in GIVEN[part["by"]][1] if 0.0 < c < stop})
        t = 0.0
        for end in [*corners, stop]:
            found = solve_ivp(
                self.rates, (t + 1e-12, end - 1e-12), y, "DOP853", rtol=1e-10, atol=1e-11
            )
            y, t = found.y[:, -1], end
            if end in corners:
                y = self.at_corner(end, y)
        return y[: self.nq], y[self.nq : self.nq + self.nu]

    # -- forces -----------------------------------------------------------------------------------------------------------------------------
    def force(
        self, bodies: Bodies, table: dict[str, Any], t: float, q: np.ndarray, u: np.ndarray
    ) -> np.ndarray:
        if "coordinate" in table:
            k, j = self.scalars[table["coordinate"]]
            f = np.zeros(self.nu)
            f[j] = self.along(table, float(q[k]), float(u[j]), t)
            return f
        if "between" in table and "force" not in table:
            (x, xv, _, xJ), (y, yv, _, yJ) = (
                bodies.point(end["body"], end["point"]) for end in table["between"]
            )
            length = float(np.linalg.norm(x - y))
            n = (x - y) / length
            return float(self.line(table, length, float(n @ (xv - yv)), t)) * (n @ (xJ - yJ))
        body, point = (
            (table["body"], table["point"])
            if "body" in table
            else (table["between"][0]["body"], table["between"][0]["point"])
        )
        R = bodies.jets[body][0][:3, :3] if table["frame"] == "body" else np.eye(3)
        F, N = (
            R @ np.array([self.number(x, t) for x in table["force"]]),
            R @ np.array(table["moment"]),
        )
        x, _, _, J = bodies.point(body, point)
        f = J.T @ F + bodies.columns[body][3:].T @ N
        if "between" in table:  # the opposite at the same place of the second body
            other = table["between"][1]["body"]
            arm = x - bodies.jets[other][0][:3, 3]
            f -= (
                bodies.columns[other][:3] - skew(arm) @ bodies.columns[other][3:]
            ).T @ F + bodies.columns[other][3:].T @ N
        return f

    def number(self, value: Any, t: float) -> float:
        if not isinstance(value, str):
            return float(value)
        names = {"t": t, "k": self.d["parameters"]["k"]["value"], "cos": math.cos, "sin": math.sin}
        names |= {name: f(t) for name, f in self.inputs.items()} | (
            {"lag": self.x[0]} if self.x.size else {}
        )
        return float(eval(value, {"__builtins__": {}}, names))  # noqa: S307 texts that the tests drew

    def along(self, table: dict[str, Any], q: float, v: float, t: float) -> float:
        if "value" in table:
            return self.number(table["value"], t)
        if "coulomb" in table:
            return -(table["coulomb"] * math.tanh(v / table["speed"]) + table["viscous"] * v)
        if "sharpness" in table:
            s, k, d = table["sharpness"], table["stiffness"], table["damping"]
            low = max(k - d * v, 0.0) * math.exp(-s * (q - table["lower"]))
            return low - max(k + d * v, 0.0) * math.exp(s * (q - table["upper"]))
        x = q - table.get("length", 0.0)
        law = (
            float(np.interp(x, self.d["tables"]["law"]["x"], self.d["tables"]["law"]["y"]))
            if "law" in table
            else 0.0
        )
        return -(self.number(table.get("stiffness", 0.0), t) * x + law + table["damping"] * v)

    def line(self, table: dict[str, Any], length: float, v: float, t: float) -> float:
        if "value" in table:
            return self.number(table["value"], t)
        if "area_a" in table:
            return (
                table["area_a"] * table["pressure_a"]
                - table["area_b"] * table["pressure_b"]
                - table["viscous"] * v
            )
        f = -(
            self.number(table["stiffness"], t) * (length - table["length"]) + table["damping"] * v
        )
        if not table.get("tension_only"):
            return f
        return min(f, 0.0) if length > table["length"] else 0.0


def spatial_inertia(table: dict[str, Any], R: np.ndarray) -> np.ndarray:
    """6x6 about the body's origin, ground axes; linear parts first."""
    m, c = table["mass"], R @ np.array(table["com"], float)
    xx, yy, zz, xy, xz, yz = table["inertia"]
    J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T - m * skew(c) @ skew(c)
    return np.block([[m * np.eye(3), -m * skew(c)], [m * skew(c), J]])


def saddle(M: np.ndarray, J: np.ndarray, f: np.ndarray, a: np.ndarray) -> np.ndarray:
    """x of M x = f + Jᵀμ, J x = a; dependent rows by least squares."""
    n, real = (
        M.shape[0],
        np.linalg.norm(J, axis=1) > 1e-12,
    )  # loops of bodies that cannot move apart have rows of rounding alone
    J, a = J[real], a[real]
    if not J.size:
        return np.linalg.solve(M, f) if n else f
    x, y = np.linalg.solve(M, np.column_stack((f, J.T)))[:, 0], np.linalg.solve(M, J.T)
    mu = lstsq(J @ y, a - J @ x, cond=1e-11)[0]
    return x + y @ mu
