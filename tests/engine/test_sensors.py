"""Every sensor and every load on two bodies that move anyhow: what vector algebra says, in both frames and in both directions of a joint."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from kinetree.models.trace.symbolic_kernels import PlainKernels
from kinetree.solvers import layout as L
from kinetree.solvers.sensors.kinds import KINDS

KERNELS = PlainKernels(symbolic=False)
M, P, F, O, W, EN = (
    KERNELS.module(f"kinetree.solvers.{name}")
    for name in (
        "sensors.measure",
        "sensors.points",
        "sensors.forces",
        "engine.loads",
        "engine.reactions",
        "engine.energy",
    )
)
CODE = {kind.name: kind.code for kind in KINDS}


def turned(rng: np.random.Generator) -> np.ndarray:
    q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return q * np.sign(np.linalg.det(q))


def bodies(seed: int = 1) -> tuple[SimpleNamespace, SimpleNamespace, SimpleNamespace]:
    """Model, workspace, and what stands in it by name and body; registers 0-2 gravity, 3-5 and 6-8 points, 9-11 room."""
    rng = np.random.default_rng(seed)
    ws = SimpleNamespace(
        row=np.full(3 * L.ROW, np.nan), val=np.concatenate((rng.normal(size=9), np.zeros(20))), udot=rng.normal(size=4), reaction=rng.normal(size=18),
        loop_lam=rng.normal(size=4), c_out=np.arange(12.0), wrench=np.zeros(18), tau=np.zeros(4), head=SimpleNamespace(wrench=np.nan),
    )  # fmt: skip
    known = SimpleNamespace(R=[], **{name: [] for name in ("P", "V", "OM", "AL", "A0", "DA", "DB")})
    for i in range(3):
        known.R.append(turned(rng))
        ws.row[i * L.ROW + L.W_R : i * L.ROW + L.W_R + 9] = known.R[-1].ravel()
        for name in ("P", "V", "OM", "AL", "A0", "DA", "DB"):
            getattr(known, name).append(rng.normal(size=3))
            at = i * L.ROW + getattr(L, f"W_{name}")
            ws.row[at : at + 3] = getattr(known, name)[-1]
    model = SimpleNamespace(header=SimpleNamespace(gravity=0), joint=np.zeros(3, dtype=int))
    return model, ws, known


def sensor(kind: str, **more: int) -> SimpleNamespace:
    return SimpleNamespace(
        **{
            "kind": CODE[kind],
            "axis": L.WHOLE,
            "a": 1,
            "point_a": 3,
            "b": 2,
            "point_b": 6,
            "frame": 0,
            "register": 9,
        }
        | more
    )


def vectors(ws: SimpleNamespace, k: SimpleNamespace) -> dict[str, np.ndarray]:
    """In ground axes, of body 1 and the point in registers 3-5."""
    g, r = ws.val[:3], k.R[1] @ ws.val[3:6]
    al, a = k.AL[1] + k.DA[1], k.A0[1] + k.DB[1] + g
    return {
        "POSITION": k.P[1] + r, "DIRECTION": r, "VELOCITY": k.V[1] + np.cross(k.OM[1], r), "ANGULAR_VELOCITY": k.OM[1], "ANGULAR_ACCELERATION": al,
        "ACCELERATION": a + np.cross(al, r) + np.cross(k.OM[1], np.cross(k.OM[1], r)),
        "REACTION_FORCE": k.R[1] @ ws.reaction[6:9], "REACTION_MOMENT": k.R[1] @ ws.reaction[9:12],
    }  # fmt: skip


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS if kind.vector])
def test_vector_sensors_use_ground_or_body_axes(kind: str):
    model, ws, known = bodies()
    expected = vectors(ws, known)[kind]
    s = sensor(kind, point_b=0)
    assert M.vector(model, ws, s) == pytest.approx(expected, abs=1e-14)
    s.frame = 1
    assert M.vector(model, ws, s) == pytest.approx(known.R[1].T @ expected, abs=1e-14)
    s.point_b = 1  # the child of a joint that the tree uses backwards is body b
    if not kind.startswith("REACTION"):
        assert M.vector(model, ws, s) == pytest.approx(known.R[2].T @ expected, abs=1e-14)
    assert M.vector(model, ws, sensor("POSITION", point_a=-1)) == pytest.approx(known.P[1])


def test_reactions_of_reversed_joints_match_reference():
    """The opposite force, and its moment about the origin of the body that is the child then."""
    model, ws, known = bodies(2)
    f, n = known.R[1] @ ws.reaction[6:9], known.R[1] @ ws.reaction[9:12]
    moment = -n - np.cross(known.P[1] - known.P[2], f)
    for frame, axes in ((0, np.eye(3)), (1, known.R[2].T)):
        assert M.vector(
            model, ws, sensor("REACTION_FORCE", point_b=1, frame=frame)
        ) == pytest.approx(axes @ -f, abs=1e-14)
        assert M.vector(
            model, ws, sensor("REACTION_MOMENT", point_b=1, frame=frame)
        ) == pytest.approx(axes @ moment, abs=1e-14)


def test_scalar_sensors_match_formulas():
    """Distances and their rates, speeds' rates, contacts, multipliers of couplings by the number of the coupling."""
    model, ws, known = bodies(3)
    r = known.P[2] + known.R[2] @ ws.val[6:9] - known.P[1] - known.R[1] @ ws.val[3:6]
    v = (
        known.V[2]
        + np.cross(known.OM[2], known.R[2] @ ws.val[6:9])
        - known.V[1]
        - np.cross(known.OM[1], known.R[1] @ ws.val[3:6])
    )
    length = np.linalg.norm(r)
    assert M.number_of(model, ws, sensor("DISTANCE")) == pytest.approx(length)
    assert M.number_of(model, ws, sensor("DISTANCE_RATE")) == pytest.approx(r @ v / length)
    assert M.number_of(model, ws, sensor("SPEED_RATE", a=2)) == ws.udot[2]
    assert [M.number_of(model, ws, sensor("CONTACT", a=2, axis=axis)) for axis in range(4)] == [
        8.0,
        9.0,
        10.0,
        11.0,
    ]
    coupling, weld = int(L.Loop.COUPLING), int(L.Loop.WELD)
    model.l_kind, model.l_b, model.l_row = (
        np.array([weld, coupling, coupling]),
        np.array([1, 0, 1]),
        np.array([0, 2, 3, 4]),
    )
    assert [M.number_of(model, ws, sensor("MULTIPLIER", a=a)) for a in (0, 1, 2)] == [
        ws.loop_lam[2],
        ws.loop_lam[3],
        0.0,
    ]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_coinciding_points_separate_with_distance_rate():
    model, ws, known = bodies(4)
    place = known.R[1] @ ws.val[3:6] + known.P[1] - known.P[2]
    ws.val[6:9] = known.R[2].T @ place
    ws.row[2 * L.ROW + L.W_P : 2 * L.ROW + L.W_P + 3] = ws.row[L.ROW + L.W_P : L.ROW + L.W_P + 3]
    ws.row[2 * L.ROW + L.W_R : 2 * L.ROW + L.W_R + 9] = ws.row[L.ROW + L.W_R : L.ROW + L.W_R + 9]
    ws.val[6:9] = ws.val[3:6]
    r = known.R[1] @ ws.val[3:6]
    v = known.V[2] + np.cross(known.OM[2], r) - known.V[1] - np.cross(known.OM[1], r)
    assert M.number_of(model, ws, sensor("DISTANCE")) == 0.0 and M.number_of(
        model, ws, sensor("DISTANCE_RATE")
    ) == pytest.approx(np.linalg.norm(v))
    ws.val[9] = 7.0
    O.add_line(ws, 1, 3, 2, 6, ws.val[9])  # no line, no force
    assert not ws.wrench.any()


@pytest.mark.parametrize(
    "axis",
    [
        (1.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.0, 0.0, 1.0),
        (0.48, 0.6, 0.64),
        (0.6, 0.64, -0.48),
        (-0.64, 0.48, 0.6),
    ],
)
def test_quaternion_sensor_is_continuous_beyond_half_turn(axis: tuple[float, ...]):
    """The sign that makes the largest component positive; all four components, whatever the largest is."""
    for angle in (0.0, 0.4, -0.4, 2.0, 3.0, -3.0, math.pi):
        model, ws, _ = bodies()
        e = np.array(axis)
        K = np.cross(np.eye(3), e)
        ws.row[L.ROW + L.W_R : L.ROW + L.W_R + 9] = (
            np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * (K @ K)
        ).ravel()
        q = np.array([math.cos(angle / 2), *(math.sin(angle / 2) * e)])
        found = np.array([M.number_of(model, ws, sensor("ORIENTATION", axis=k)) for k in range(4)])
        assert found == pytest.approx(q * np.sign(q[np.argmax(np.abs(q))]), abs=1e-15)


def test_vector_components_can_be_measured():
    v = (3.0, -4.0, 12.0)
    assert [M.pick(v, axis) for axis in range(4)] == [3.0, -4.0, 12.0, 13.0]
    one = sensor("VELOCITY")
    assert M.same_vector(one, sensor("VELOCITY", axis=2, register=20))
    for other in ({"a": 2}, {"point_a": 6}, {"b": 1}, {"point_b": 3}, {"frame": 1}):
        assert not M.same_vector(one, sensor("VELOCITY", **other))
    assert not M.same_vector(one, sensor("POSITION"))


# -- loads -----------------------------------------------------------------------------------------------------------------------------------------
def load(kind: str, **more: int) -> SimpleNamespace:
    given = {
        "kind": int(L.Force[kind]),
        "a": 1,
        "point_a": 3,
        "b": 2,
        "point_b": 6,
        "force": -1,
        "moment": -1,
        "frame": 0,
        "value": 12,
        "speed": 2,
    }
    return SimpleNamespace(**given | more)


def test_forces_along_coordinates_and_lines_are_measured():
    _, ws, known = bodies(5)
    ws.val[12] = 2.5
    O.add_load(ws, load("COORDINATE"))
    O.add_load(ws, load("COORDINATE"))
    assert ws.tau.tolist() == [0.0, 0.0, 5.0, 0.0] and not ws.wrench.any()
    O.add_load(ws, load("LINE"))
    arms = known.R[1] @ ws.val[3:6], known.R[2] @ ws.val[6:9]
    r = known.P[2] + arms[1] - known.P[1] - arms[0]
    push = 2.5 * r / np.linalg.norm(r)
    assert ws.wrench == pytest.approx(
        np.concatenate(
            (np.zeros(6), -push, np.cross(arms[0], -push), push, np.cross(arms[1], push))
        )
    )


@pytest.mark.parametrize("frame", [0, 1])
def test_forces_and_moments_at_points_are_measured(frame: int):
    """In the axes of the ground or of the body; of a pair the opposite acts on the other body, at the same place of space."""
    alone, pair = (kind for kind in ("WRENCH", "PAIR"))
    for kind in (alone, pair):
        _, ws, known = bodies(6)
        ws.val[13:19] = np.arange(1.0, 7.0)
        O.add_load(ws, load(kind, force=13, moment=16, frame=frame))
        axes, arm = known.R[1] if frame else np.eye(3), known.R[1] @ ws.val[3:6]
        f, n = axes @ ws.val[13:16], axes @ ws.val[16:19]
        other = (
            np.zeros(6)
            if kind == alone
            else np.concatenate((-f, np.cross(known.P[1] + arm - known.P[2], -f) - n))
        )
        assert ws.wrench == pytest.approx(
            np.concatenate((np.zeros(6), f, np.cross(arm, f) + n, other)), abs=1e-13
        )
    _, ws, known = bodies(6)
    O.add_load(ws, load(alone, moment=16, point_a=-1))
    assert ws.wrench[6:12].tolist() == [0.0, 0.0, 0.0, *ws.val[16:19]]


def test_reactions_exclude_drive_forces():
    """What is left of a wrench is across to all columns of the joint; a column of nothing takes nothing."""
    rng = np.random.default_rng(7)
    model, ws = (
        SimpleNamespace(u_at=np.array([0, 0, 3])),
        SimpleNamespace(col=np.zeros(3 * L.COLUMN), small=np.full(72, np.nan)),
    )
    columns = rng.normal(size=(3, 6))
    for j in range(3):
        (
            ws.col[j * L.COLUMN + L.C_L : j * L.COLUMN + L.C_L + 3],
            ws.col[j * L.COLUMN + L.C_A : j * L.COLUMN + L.C_A + 3],
        ) = (
            columns[j, :3],
            columns[j, 3:],
        )
    wrench = rng.normal(size=6)
    f, n = W.take_off_drive(model, ws, 1, tuple(wrench[:3]), tuple(wrench[3:]))
    assert columns @ np.concatenate((f, n)) == pytest.approx(np.zeros(3), abs=1e-14)
    basis = np.linalg.qr(columns.T)[0]
    assert np.concatenate((f, n)) == pytest.approx(wrench - basis @ (basis.T @ wrench), abs=1e-14)


def test_energies_match_point_mass_formulas():
    """Kinetic energy and weight of two bodies made of five points each, and the kinetic energy of a motor's rotor."""
    model, ws, known = bodies(8)
    rng, expected, weight = np.random.default_rng(8), 0.5 * 3.0 * 0.25, 0.0
    model.parent, ws.body = np.zeros(3, int), np.zeros(3 * L.BODY)
    ws.u, ws.rotor = np.array([0.5, 7.0]), np.array([3.0, 0.0])
    for i in (1, 2):
        masses, places = rng.random(5) + 0.1, rng.normal(size=(5, 3))
        at, J = (
            i * L.BODY,
            sum(
                m * (r @ r * np.eye(3) - np.outer(r, r))
                for m, r in zip(masses, places, strict=True)
            ),
        )
        ws.body[at + L.B_MASS], ws.body[at + L.B_H : at + L.B_H + 3] = masses.sum(), masses @ places
        ws.body[at + L.B_J : at + L.B_J + 6] = J[np.triu_indices(3)]
        arms = places @ known.R[i].T
        expected += 0.5 * masses @ np.sum((known.V[i] + np.cross(known.OM[i], arms)) ** 2, axis=1)
        weight -= masses @ (known.P[i] + arms) @ ws.val[:3]
    assert EN.kinetic(model, ws) == pytest.approx(expected) and EN.weight(
        model, ws
    ) == pytest.approx(weight)
