"""What the iterations on closed loops decide, step by step, on residuals that are given; and the small sums that they stand on, by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from kinetree.models.trace.symbolic_kernels import PlainKernels
from kinetree.solvers import layout as L
from kinetree.solvers.layout import Status

KERNELS = PlainKernels(symbolic=False)
P, A, G, N, S, T, K, R, C, GH = (
    KERNELS.module(f"kinetree.solvers.loops.{name}")
    for name in (
        "constraint_projection",
        "assembly",
        "gauss_newton",
        "nearest_assembly",
        "set_speeds",
        "baumgarte",
        "constraint_rank",
        "constraint_jacobian",
        "minimum_norm_change",
        "massless_bodies",
    )
)


class Loops:
    """One coordinate q with speed u; residuals follow from a function of them, corrections take a given part of what is left."""

    def __init__(
        self,
        patch: pytest.MonkeyPatch,
        module,
        position,
        velocity=lambda q, u: 0.0,
        left: float = 0.0,
        status: int = 0,
    ):
        self.ws = SimpleNamespace(
            q=np.array([1.0]), u=np.array([1.0]), udot=np.zeros(1), loop_r=np.zeros(1), loop_open=np.zeros(1), loop_q=np.zeros(2), loop_u=np.zeros(1),
            loop_weight=np.ones(1), head=SimpleNamespace(item=-1, factored=1.0), row=np.zeros(2 * L.ROW), loop_d=np.zeros(1),
        )  # fmt: skip
        self.model = SimpleNamespace(
            l_kind=np.array([int(L.Loop.COUPLING)]),
            l_level=np.array([int(L.POSITIONS)]),
            u_held=np.array([0]),
        )
        self.model.header, self.model.ghosts = SimpleNamespace(own_tangents=0), np.zeros(0)
        self.position, self.velocity, self.left, self.status, self.calls = (
            position,
            velocity,
            left,
            status,
            [],
        )
        replaced = {
            "place_loops": lambda m, ws, t: self.status, "position_residual": self.positions, "velocity_residual": self.speeds,
            "least_change": self.change, "answer_residual": self.answer, "retract": self.retract, "norm_squared": lambda ws: ws.loop_r[0] ** 2,
            "increments": lambda m, ws, out: out.__setitem__(0, ws.udot[0]),
        }  # fmt: skip
        for name, function in replaced.items():
            if hasattr(module, name):
                patch.setattr(module, name, function)

    def positions(self, model, ws) -> None:
        ws.loop_r[0] = ws.loop_open[0] = self.position(ws.q[0])

    def speeds(self, model, ws) -> None:
        ws.loop_r[0] = self.velocity(ws.q[0], ws.u[0])

    def change(self, model, ws, damping, inertia, use) -> int:
        self.calls.append((damping, inertia, use))
        ws.udot[0] = -ws.loop_r[0] * (1.0 - self.left)
        return 0

    def answer(self, model, ws) -> None:
        self.change(model, ws, None, None, None)

    def retract(self, model, ws, change, scale) -> None:
        ws.q[0] += scale * change[0]


def test_position_projection_converges(monkeypatch):
    """Until the residual is rounding, or small and hardly less than before; the damping grows with its square, a thousandth at most."""
    loops = Loops(monkeypatch, P, lambda q: q, left=0.01)
    assert P.project_position(loops.model, loops.ws, 0.0) == 0
    dampings = [min(1e-3, 1e-9 + 100.0 ** (-2 * k)) for k in range(7)]
    assert [c[0] for c in loops.calls] == pytest.approx(dampings, rel=1e-9) and {
        c[1:] for c in loops.calls
    } == {(True, P.PLACING)}
    loops = Loops(monkeypatch, P, lambda q: q, left=0.01)
    loops.ws.q[0] = 0.9e-14
    assert P.project_position(loops.model, loops.ws, 0.0) == 0 and not loops.calls
    for start, left, status, calls in (
        (0.9e-9, 0.11, 0, 1),
        (0.9e-9, 0.5, 0, 1),
        (1e-6, 0.9, Status.INCONSISTENT, 12),
        (1.0, 0.05, 0, 11),
    ):
        loops = Loops(monkeypatch, P, lambda q: q, left=left)
        loops.ws.q[0] = start
        assert (
            P.project_position(loops.model, loops.ws, 0.0) == status and len(loops.calls) == calls
        ), (start, left)
    loops = Loops(monkeypatch, P, lambda q: 0.0)
    for opened, status in (
        (0.9e-9, 0),
        (1.1e-9, Status.INCONSISTENT),
    ):  # a gap in a direction without a row
        monkeypatch.setattr(
            P,
            "position_residual",
            lambda model, ws, opened=opened: ws.loop_open.__setitem__(0, opened),
        )
        assert P.project_position(loops.model, loops.ws, 0.0) == status
    assert (
        P.project_position(Loops(monkeypatch, P, lambda q: q, status=7).model, loops.ws, 0.0) == 7
    )


def test_speed_projection_satisfies_constraints(monkeypatch):
    """Rounding is relative to the largest speed; a correction that leaves more than a tenth is the last."""
    for start, left, calls in (
        (1.0, 0.01, 7),
        (1.0, 0.11, 1),
        (0.9e-14, 0.0, 0),
        (1.1e-14, 0.0, 1),
    ):
        loops = Loops(monkeypatch, P, None, lambda q, u: u - 1.0, left=left)
        loops.ws.u[0] = 1.0 + start
        if start < 1e-10:
            loops.velocity = lambda q, u, first=[start, 0.0]: first.pop(0)
        assert P.project_velocity(loops.model, loops.ws, 0.0) == 0 and len(loops.calls) == calls, (
            start
        )
        assert all(call == (1e-9, True, P.ALL) for call in loops.calls)
    loops = Loops(monkeypatch, P, None, lambda q, u: 0.9e-12)
    loops.ws.u[0] = -100.0
    assert P.project_velocity(loops.model, loops.ws, 0.0) == 0 and not loops.calls
    assert P.project_velocity(loops.model, Loops(monkeypatch, P, None, status=7).ws, 0.0) == 7


def test_neighbouring_factor_is_used_while_converging(monkeypatch):
    for start, left, near in (
        (1e-6, 0.009, False),
        (1e-8, 0.0009, True),
        (1e-6, 0.011, False),
        (1e-13, 0.5, True),
        (1.0, 1e-5, False),
    ):
        loops = Loops(monkeypatch, P, lambda q: q, left=left)
        loops.ws.q[0] = start
        assert P.positions_near(loops.model, loops.ws, 0.0) == near, start
    # what is ten roundings when it no longer falls is taken, eleven are not; as is a gap in a direction without a row
    for rest, opened, near in (
        (9e-14, 0.0, True),
        (11e-14, 0.0, False),
        (9e-14, 1.1e-9, False),
        (0.0, 0.9e-9, True),
        (0.0, 1.1e-9, False),
    ):
        loops, residuals = Loops(monkeypatch, P, None), [5e-12, rest, rest, rest]

        def given(model, ws, residuals=residuals, opened=opened) -> None:
            ws.loop_r[0], ws.loop_open[0] = residuals.pop(0), opened

        monkeypatch.setattr(P, "position_residual", given)
        assert P.positions_near(loops.model, loops.ws, 0.0) == near
    assert not P.positions_near(loops.model, Loops(monkeypatch, P, lambda q: 0.0, status=3).ws, 0.0)


def test_speed_projection_reuses_nearby_factor(monkeypatch):
    for start, left, near in (
        (1e-6, 1e-5, True),
        (1e-6, 0.011, False),
        (0.9e-14, 1.0, True),
        (5e-12, 0.018, True),
        (5e-12, 0.022, False),
        (1.0, 1e-4, False),
    ):
        loops = Loops(monkeypatch, P, None, lambda q, u, start=start: start, left=left)
        assert P.speeds_near(loops.model, loops.ws) == near, (start, left)
    loops = Loops(monkeypatch, P, None, lambda q, u: u, left=1e-5)
    assert P.speeds_near(loops.model, loops.ws) is False or abs(loops.ws.u[0]) < 1e-13


def test_factor_validity_conditions():
    model = SimpleNamespace(
        l_kind=np.zeros(2, int),
        l_level=np.array([9, int(L.POSITIONS)]),
        header=SimpleNamespace(own_tangents=0),
        ghosts=np.zeros(0),
    )
    ws = SimpleNamespace(head=SimpleNamespace(factored=1.0))
    assert P.familiar(model, ws)
    for change in ("own_tangents", "ghosts", "factored", "level"):
        other = SimpleNamespace(
            **{**vars(model), "header": SimpleNamespace(own_tangents=int(change == "own_tangents"))}
        )
        other.ghosts, other.l_level = (
            np.zeros(int(change == "ghosts")),
            np.array([int(L.POSITIONS), int(L.POSITIONS) + (change == "level")]),
        )
        assert not P.familiar(
            other, SimpleNamespace(head=SimpleNamespace(factored=float(change != "factored")))
        )


def test_projection_scales_are_at_least_one():
    weld, coupling = int(L.Loop.WELD), int(L.Loop.COUPLING)
    model, ws = (
        SimpleNamespace(l_kind=np.array([coupling, weld]), l_b=np.array([2, 1])),
        SimpleNamespace(row=np.zeros(3 * L.ROW), u=np.array([0.5, -3.0])),
    )
    ws.row[2 * L.ROW + L.W_P] = 50.0
    for c in range(3):
        for value, expected in ((-7.0, 7.0), (0.5, 1.0)):
            ws.row[L.ROW + L.W_P : L.ROW + L.W_P + 3] = 0.0
            ws.row[L.ROW + L.W_P + c] = value
            assert P.reach(model, ws) == expected
    assert P.speed_scale(ws) == 3.0 and P.speed_scale(SimpleNamespace(u=np.array([0.5]))) == 1.0


def test_damped_projection_steps_converge_or_revert(monkeypatch):
    """Steps that help lower the damping tenfold, others are taken back and raise it; half a radian is the longest."""
    loops = Loops(monkeypatch, G, lambda q: q)
    loops.ws.q[0] = 1.6
    assert G.close(loops.model, loops.ws, 0.0) == 0 and loops.ws.q[0] == pytest.approx(
        0.0, abs=1e-13
    )
    assert [c[0] for c in loops.calls] == pytest.approx(
        [1e-3, 1e-4, 1e-5, 1e-6], rel=1e-9
    ) and loops.calls[0][1:] == (False, G.PLACING)
    loops = Loops(monkeypatch, G, lambda q: 1.0 + abs(q))  # nothing helps
    loops.ws.q[0], loops.left = 0.0, 0.9
    assert (
        G.close(loops.model, loops.ws, 0.0) == Status.INCONSISTENT
        and loops.ws.q[0] == 0.0
        and loops.ws.head.item == 0
    )
    assert [c[0] for c in loops.calls] == pytest.approx([10.0**k for k in range(-3, 7)])
    for rest, status in ((0.9e-10, 0), (1.1e-10, Status.INCONSISTENT)):
        loops = Loops(monkeypatch, G, lambda q, rest=rest: rest)
        assert G.close(loops.model, loops.ws, 0.0) == status
    loops = Loops(monkeypatch, G, lambda q: 0.9e-13)
    assert G.close(loops.model, loops.ws, 0.0) == 0 and not loops.calls
    assert G.close(loops.model, Loops(monkeypatch, G, None, status=5).ws, 0.0) == 5


# -- set speeds ------------------------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [1, 2, 4])
def test_set_speeds_share_their_impulses(count: int):
    """The system of those that are set is solved by pivots; unmarked ones have none, and what others determine is left out."""
    rng = np.random.default_rng(count)
    a = rng.normal(size=(count, count))
    full, want = a @ a.T + np.eye(count), rng.normal(size=count)
    for left_out in (None, count - 1):
        done = np.ones(count)
        g, lam = full.copy(), want.copy()
        if left_out is not None:
            done[left_out], g[left_out], g[:, left_out], lam[left_out] = 0.0, 0.0, 0.0, 0.0
        ws = SimpleNamespace(
            set_done=done.copy(),
            set_g=g.ravel().copy(),
            set_own=np.diag(full).copy(),
            set_lam=lam.copy(),
        )
        S.eliminate_sets(ws, count)
        used = [k for k in range(count) if done[k]]
        assert ws.set_lam[used] == pytest.approx(
            np.linalg.solve(full[np.ix_(used, used)], want[used])
        )
        assert all(ws.set_lam[k] == 0.0 for k in range(count) if k not in used)
    for part, kept in ((1.1e-7, True), (0.9e-7, False)):  # of its own mobility
        g = np.array([[4.0, 2.0], [2.0, 1.0 + 3.0 * part]])
        ws = SimpleNamespace(
            set_done=np.ones(2),
            set_g=g.ravel(),
            set_own=np.array([4.0, 3.0]),
            set_lam=np.array([8.0, 4.0]),
        )
        S.eliminate_sets(ws, 2)
        assert (
            (ws.set_done[1] == 2.0) == kept
            and ws.set_lam[0] == pytest.approx(2.0)
            and ws.set_lam[1] == 0.0
        )


def test_conflicting_set_speeds_are_named():
    model = SimpleNamespace(set_speed=np.array([2, 0, 1]), header=SimpleNamespace(r_u=10))

    def reached(
        u: list[float], mark: tuple[float, ...] = (1.0, 1.0, 0.0)
    ) -> tuple[int, float, list[float]]:
        ws = SimpleNamespace(
            u=np.array(u),
            set_mark=np.array(mark),
            set_to=np.array([3.0, 5.0, 7.0]),
            head=SimpleNamespace(item=-1),
        )
        return S.reached(model, ws), ws.head.item, ws.u.tolist()

    assert reached([5.0 + 4e-8, 1.0, 3.0 - 4e-8]) == (0, -1, [5.0, 1.0, 3.0])
    assert reached([5.0 + 6e-8, 1.0, 3.0]) == (Status.CANNOT_SET, 10, [5.0 + 6e-8, 1.0, 3.0])
    assert reached([5.0, 1.0, 2.0]) == (Status.CANNOT_SET, 12, [5.0, 1.0, 2.0])
    assert [S.any_of(np.array(m)) for m in ([0.0, 0.0], [0.0, 2.0], [-1.0, 0.0])] == [
        False,
        True,
        True,
    ]


def test_speed_setting_iterates_to_small_residual(monkeypatch):
    """Rounding, or what a correction leaves more than a tenth of; rows and set speeds alike, unmarked ones not at all."""
    for start, left, mark, calls in (
        (1.0, 0.01, 1.0, 7),
        (1.0, 0.11, 1.0, 1),
        (1.0, 0.09, 1.0, 12),
        (1.0, 0.01, 0.0, 0),
        (0.9e-14, 0.0, 1.0, 0),
    ):
        loops = Loops(monkeypatch, S, None, lambda q, u: 0.0)
        steps: list[tuple] = []

        def change(model, ws, marks, damping, use, left=left, steps=steps) -> int:
            steps.append((damping, use))
            ws.udot[0] = ws.set_want[0] * (1.0 - left)
            return 0

        monkeypatch.setattr(S, "least_change_with", change)
        monkeypatch.setattr(S, "reached", lambda model, ws: 7)
        loops.model.set_speed, loops.ws.set_want, loops.ws.set_mark = (
            np.array([0]),
            np.zeros(1),
            np.array([mark]),
        )
        loops.ws.u[0], loops.ws.set_to = -start, np.zeros(1)
        assert (
            S.set_velocity(loops.model, loops.ws, 0.0) == 7 and steps == [(1e-9, S.ALL)] * calls
        ), (start, left)


# -- stabilisation ---------------------------------------------------------------------------------------------------------------------------------
def moving() -> tuple[SimpleNamespace, SimpleNamespace]:
    """Body 1 turns (speed 0), body 2 shifts (speed 1), body 3 is free (speeds 2-7); bodies 1 and 2 on the paths of loops."""
    joints = [
        int(L.Joint.GENERAL),
        int(L.Joint.REVOLUTE),
        int(L.Joint.PRISMATIC),
        int(L.Joint.FREE),
    ]
    model = SimpleNamespace(
        u_at=np.array([0, 0, 1, 2, 8]), l_body=np.array([1, 2]), joint=np.array(joints)
    )
    ws = SimpleNamespace(
        body=np.zeros(4 * L.BODY), row=np.zeros(4 * L.ROW), col=np.zeros(8 * L.COLUMN), u=np.arange(1.0, 9.0), udot=np.zeros(8)
    )  # fmt: skip
    ws.col[L.C_A : L.C_A + 3] = 0.0, 0.0, 2.0  # an axis of any length
    ws.col[L.COLUMN + L.C_L : L.COLUMN + L.C_L + 3] = 3.0, 4.0, 0.0
    ws.row[L.ROW + L.W_D : L.ROW + L.W_D + 3] = 0.0, 3.0, 4.0
    ws.row[2 * L.ROW + L.W_D : 2 * L.ROW + L.W_D + 3] = 70.0, 0.0, 0.0  # a place on a way
    return model, ws


def test_loop_size_scales_translations_and_rotations():
    model, ws = moving()
    assert [T.shifted(model, ws, i) for i in (1, 2)] == [False, True] and T.size_of(
        model, ws
    ) == 5.0
    for component in (0, 3, 5):  # a radius of gyration: the mean of the moments over the mass
        model, ws = moving()
        ws.body[2 * L.BODY + L.B_MASS], ws.body[2 * L.BODY + L.B_J + component] = 2.0, 400.0
        assert T.size_of(model, ws) == 10.0
    ws.row[:], ws.body[:] = 0.0, 0.0
    assert T.size_of(model, ws) == 1.0


def test_motion_rate_is_that_of_the_fastest_joint():
    """Its speed, and the root of its acceleration; a free body takes the loop along."""
    model, ws = moving()
    assert T.rate_of_motion(model, ws) == pytest.approx(
        2.0
    )  # turn: 2 times 1; shift: 5 times 2 over a size of 5
    ws.u[1] = -3.0
    assert T.rate_of_motion(model, ws) == pytest.approx(3.0)
    ws.udot[:2] = -8.0, 7.0
    assert T.rate_of_motion(model, ws) == pytest.approx(math.sqrt(9.0 + 16.0))
    model.l_body = np.array([1, 2, 3])
    ws.col[2 * L.COLUMN :] = 1.0
    assert T.rate_of_motion(model, ws) == pytest.approx(5.0)


def test_massless_body_correction_is_proportional():
    model = SimpleNamespace(ghosts=np.array([2, 1]), lent=np.array([3.0, 5.0, 7.0, 11.0]))
    ws = SimpleNamespace(
        row=np.zeros(3 * L.ROW),
        ghost_w=np.zeros(12),
        push=np.full(18, np.nan),
        push_u=np.full(2, np.nan),
    )
    GH.lend(model, ws)
    for i, m, j in ((2, 3.0, 5.0), (1, 7.0, 11.0)):
        assert ws.row[i * L.ROW + L.W_M : i * L.ROW + L.W_M + 6].tolist() == [
            m,
            0.0,
            0.0,
            m,
            0.0,
            m,
        ]
        assert ws.row[i * L.ROW + L.W_J : i * L.ROW + L.W_J + 6].tolist() == [
            j,
            0.0,
            0.0,
            j,
            0.0,
            j,
        ]
    a, b = np.array([1.0, -2.0, 3.0]), np.array([4.0, 0.0, -1.0])
    (
        ws.row[2 * L.ROW + L.W_DA : 2 * L.ROW + L.W_DA + 3],
        ws.row[2 * L.ROW + L.W_DB : 2 * L.ROW + L.W_DB + 3],
    ) = a, b
    ws.ghost_w[:6] = 0.0, -2.0, 3.0, 4.0, 0.0, 0.0
    assert GH.claim(model, ws) == pytest.approx(0.5) and ws.push[12:].tolist() == [
        0.0,
        0.0,
        -3.0,
        5.0,
        0.0,
        0.0,
    ]
    assert not ws.push[:12].any() and not ws.push_u.any() and ws.ghost_w[:6].tolist() == [*a, *b]
    assert GH.claim(model, ws) == 0.0
    ws.ghost_w[4] = -8.0
    assert GH.claim(model, ws) == pytest.approx(8.0)


def test_assembly_distance_ignores_held_coordinates(monkeypatch):
    monkeypatch.setattr(
        N, "departure", lambda model, ws, q, out: out.__setitem__(slice(None), [2.0, 3.0, 4.0])
    )
    ws = SimpleNamespace(
        loop_q=np.zeros(3), loop_mark=np.full(3, np.nan), loop_weight=np.array([1.0, 0.0, 0.5])
    )
    assert N.distance(None, ws) == 4.0 + 32.0 and ws.loop_mark.tolist() == [2.0, 0.0, 4.0]


def test_free_directions_are_marked(monkeypatch):
    """A tangent speed above a twentieth is judged; less than a tenth of its step is stuck. What once led on stays so."""
    monkeypatch.setattr(
        K, "departure", lambda model, ws, q, out: out.__setitem__(slice(None), moved)
    )
    ws = SimpleNamespace(
        u=np.array([0.04, 0.06, -1.0, 1.0, 1.0]),
        udot=np.zeros(5),
        loop_mark=np.array([0.0, 0.0, 0.0, 2.0, 0.0]),
        loop_q=None,
    )
    moved = np.array([1.0, 0.06 * 0.0021, 0.0021, 0.0, 0.0019])
    K.mark(None, ws)
    assert ws.loop_mark.tolist() == [0.0, 2.0, 2.0, 2.0, 1.0]


def test_coupling_derivatives_by_speed_match_differences():
    model = SimpleNamespace(
        l_k=np.array([0, 2, 3]), l_speed=np.array([4, 1, 4]), l_slope=np.array([2, 0, 1])
    )
    ws = SimpleNamespace(val=np.array([10.0, 20.0, 30.0]))
    assert [R.slope(model, ws, g, j) for g in (0, 1) for j in (4, 1, 0)] == [
        30.0,
        10.0,
        0.0,
        20.0,
        0.0,
        0.0,
    ]
