"""Where the next corner of a law of time lies, and what is done there, on hand-made laws."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from plain_kernels import plain

from kinetree.solvers import layout as L
from kinetree.solvers.model_records import KNOT, TABLE

K, M, C = (
    plain("instance.time_breakpoints"),
    plain("run.breakpoint_jumps"),
    plain("integrate.controller"),
)
SAME = 1e-12
INF = math.inf


@pytest.mark.parametrize(
    "t, distance",
    [
        (0.0, 1e-15),
        (5e-4, 1e-15),
        (2e-3, 2e-15),
        (-3.0, 3e-12),
        (1e3, 1e-9),
        (INF, 0.0),
        (-INF, 0.0),
        (math.nan, 0.0),
    ],
)
def test_nearby_discontinuity_times_coincide(t, distance):
    assert K.time_tolerance(t) == pytest.approx(distance, rel=1e-14, abs=0.0)
    if math.isfinite(t):
        assert (
            M.breakpoint_side(t, 1.0) == t + distance
            and M.breakpoint_side(t, -1.0) == t - distance
            and M.breakpoint_side(t, -2.0) == t - 2 * distance
        )


@pytest.mark.parametrize(
    "x, pace, spacing, closest, way",
    [
        (0.3, 1, 1, 0, 0.7), (0.3, -1, 1, 0, -0.3), (0.3, 1, -1, 0, 0.7), (0.3, -1, -1, 0, -0.3), (0.3, 1, 0, 0, 0), (0.3, 1, math.nan, 0, 0),
        (2.0, 1, 1, 0, 1.0), (2.0, -1, 1, 0, -1.0), (7.5, 2, 2.5, 0, 2.5), (7.5, -2, 2.5, 0, -2.5), (-0.3, 1, 1, 0, 0.3), (-0.3, -1, 1, 0, -0.7),
        (0.75, 1, 1, 0.25, 1.25), (0.75, 1, 1, 0.2, 0.25), (1.25, -1, 1, 0.25, -1.25), (1.25, -1, 1, 0.2, -0.25), (4.5, 1, 3, 2, 4.5),
        (4.5, -1, 3, 2, -4.5),
    ],
)  # fmt: skip
def test_distance_to_next_multiple(x, pace, spacing, closest, way):
    assert K.distance_to_multiple(x, pace, spacing, closest) == pytest.approx(way)


GRID = {0: [1.0, 2.0, 4.0], 1: [10.0, 20.0]}


@pytest.mark.parametrize(
    "x, pace, closest, way",
    [
        (0.0, 1, 0, 1.0), (1.0, 1, 0, 1.0), (1.5, 1, 0, 0.5), (2.0, 1, 0, 2.0), (3.9, 1, 0, 0.1), (4.0, 1, 0, 0.0), (5.0, 1, 0, 0.0),
        (0.75, 1, 0.25, 1.25), (0.75, 1, 0.2, 0.25), (5.0, -1, 0, -1.0), (4.0, -1, 0, -2.0), (3.0, -1, 0, -1.0), (2.0, -1, 0, -1.0),
        (1.5, -1, 0, -0.5), (1.0, -1, 0, 0.0), (0.0, -1, 0, 0.0), (2.25, -1, 0.25, -1.25), (2.25, -1, 0.2, -0.25),
    ],
)  # fmt: skip
@pytest.mark.parametrize("axis", [0, 1])
def test_distance_to_next_table_point(x, pace, closest, way, axis):
    """The grid of the second axis stands behind that of the first."""
    other = [10.0, 20.0]
    data = np.array([99.0, *GRID[0], *other, 7.0] if axis == 0 else [99.0, *other, *GRID[0], 7.0])
    rows = [
        *TABLE.filled(),
        *TABLE.filled(data=1, nx=3 if axis == 0 else 2, ny=2 if axis == 0 else 3),
    ]
    model = SimpleNamespace(tables=np.array(rows), table_data=data)
    assert K.distance_to_grid(
        model, L.Knot.TABLE_Y if axis else L.Knot.TABLE_X, x, pace, 1, closest
    ) == pytest.approx(way)


def knots(monkeypatch, *rows: tuple[int, float, float, int, int], status: int = 0):
    """A model with corners (kind, argument at t, pace, detail, motion) whose registers follow t."""
    model = SimpleNamespace(
        header=SimpleNamespace(knots=len(rows)),
        tables=np.array(TABLE.filled(data=0, nx=3)),
        table_data=np.array(GRID[0]),
    )
    ws = SimpleNamespace(val=np.zeros(2 * len(rows) + 3))
    ws.val[0] = 0.5
    model.knots = np.array(
        [
            KNOT.filled(kind=kind, argument=2 * k + 1, pace=2 * k + 2, detail=detail, motion=motion)
            for k, (kind, *_, detail, motion) in enumerate(rows)
        ]
    ).ravel()

    def set_registers(model, ws, t):
        for k, (_, at_zero, pace, *_) in enumerate(rows):
            ws.val[2 * k + 1], ws.val[2 * k + 2] = at_zero + pace * t, pace
        return status

    monkeypatch.setattr(K, "set_registers", set_registers)
    return model, ws


ZERO, MULTIPLE, TABLE_X = int(L.Knot.ZERO), int(L.Knot.MULTIPLE), int(L.Knot.TABLE_X)


def test_first_discontinuity_after_a_time_is_found(monkeypatch):
    rows = [
        (ZERO, -6.0, 2.0, 0, 0),
        (ZERO, 10.0, -2.0, 0, 1),
        (TABLE_X, 0.0, 0.5, 0, L.ANNOUNCED),
        (MULTIPLE, 0.3, 1.0, 0, 1),
        (ZERO, 1.0, 0.0, 0, 1),
    ]
    model, ws = knots(monkeypatch, *rows)
    for of_motion, instants in (
        (1, [0.2, 0.7, 1.2]),
        (0, [0.2, 0.7, 1.2]),
        (L.ANNOUNCED, [0.2, 0.7, 1.2]),
    ):
        t = 0.0
        for expected in instants:
            t = K.next_breakpoint(model, ws, t, of_motion)
            assert t == pytest.approx(expected)
    alone, ws = knots(monkeypatch, *rows[:3])
    assert [K.next_breakpoint(alone, ws, 1.0, of) for of in (1, 0, L.ANNOUNCED)] == pytest.approx(
        [5.0, 3.0, 2.0]
    )
    assert [K.next_breakpoint(alone, ws, 3.0, of) for of in (1, 0, L.ANNOUNCED)] == pytest.approx(
        [5.0, 5.0, 4.0]
    )
    assert [K.next_breakpoint(alone, ws, 5.0, of) for of in (1, 0, L.ANNOUNCED)] == pytest.approx(
        [INF, INF, 8.0]
    )
    assert K.next_breakpoint(alone, ws, 8.0, L.ANNOUNCED) == INF


def test_discontinuity_at_a_time_is_not_after_it(monkeypatch):
    model, ws = knots(monkeypatch, (ZERO, -20.0, 10.0, 0, 0))
    assert (
        K.next_breakpoint(model, ws, 2.0 - 1e-11, 0) == pytest.approx(2.0, abs=1e-15)
        and K.next_breakpoint(model, ws, 2.0 - 1e-12, 0) == INF
    )
    assert (
        K.next_breakpoint(*knots(monkeypatch, (ZERO, -20.0, 10.0, 0, 0), status=2), 0.0, 0) == INF
    )
    assert (
        K.next_breakpoint(
            *knots(monkeypatch, (ZERO, INF, 1.0, 0, 0), (ZERO, -9.0, 1.0, 0, 0)), 0.0, 0
        )
        == 9.0
    )
    assert (
        K.next_breakpoint(
            *knots(
                monkeypatch,
                (ZERO, -9.0, 1.0, 0, 0),
                (ZERO, -7.0, 1.0, 0, 0),
                (ZERO, -8.0, 1.0, 0, 0),
            ),
            0.0,
            0,
        )
        == 7.0
    )


@pytest.mark.parametrize(
    "x, before, much",
    [(1.0, 1.0 + 2e-9, True), (1.0, 1.0 + 1.3e-9, False), (0.0, 1e-30, True), (0.0, 0.0, False)],
)
def test_velocity_jump_threshold(x, before, much):
    """By more than 1e-9 of the root of both squares."""
    for k in range(3):
        a, b = np.zeros(3), np.zeros(3)
        a[k], b[k] = x, before
        assert M.differs(tuple(a), tuple(b)) == much == M.differs(tuple(b), tuple(a))


class Mechanism:
    """A body and a coupling whose velocities are laws of time, from kinematics that are noted."""

    def __init__(
        self,
        monkeypatch,
        velocity=lambda t: 0.0,
        spin=lambda t: 0.0,
        rate=lambda t: 0.0,
        loops: int = 2,
        fails_at: float = math.nan,
    ):
        self.velocity, self.spin, self.rate, self.fails_at, self.told = (
            velocity,
            spin,
            rate,
            fails_at,
            [],
        )
        kinds, rows = np.array([L.Loop.WELD, L.Loop.COUPLING][:loops]), np.array([0, 1][:loops])
        self.model = SimpleNamespace(
            parent=np.zeros(3),
            l_kind=kinds,
            l_row=rows,
            l_a=np.array([2, 4]),
            c_law=np.zeros(0),
            header=SimpleNamespace(),
        )
        self.ws = SimpleNamespace(
            row=np.zeros(3 * L.ROW),
            reaction=np.zeros(18),
            loop_b=np.zeros(2),
            val=np.zeros(8),
            u=np.array([2.0, 3.0]),
        )
        self.ws.tau, self.ws.rotor = np.zeros(2), np.array([0.5, 0.0])
        self.ws.head = SimpleNamespace(sided=0.0, read_from=0.0, read_until=0.0)
        monkeypatch.setattr(M, "place", self.place)
        monkeypatch.setattr(M, "velocities", lambda model, ws: self.told.append("velocities"))
        monkeypatch.setattr(
            M, "run_phase", lambda model, ws, phase: self.told.append(f"phase {phase}") or 0
        )

    def place(self, model, ws, t, moving):
        assert moving
        self.told.append(t)
        self.ws.row[2 * L.ROW + L.W_V], self.ws.row[2 * L.ROW + L.W_OM + 2], self.ws.val[5] = (
            self.velocity(t),
            self.spin(t),
            self.rate(t),
        )
        return 4 if t == self.fails_at else 0


def test_poses_and_velocities_at_a_time_match_formulas(monkeypatch):
    for loops, fails_at, told, status in (
        (2, 0.0, [3.0, "velocities", "phase 2"], 0),
        (0, 0.0, [3.0, "velocities"], 0),
        (2, 3.0, [3.0, "velocities"], 4),
    ):
        mechanism = Mechanism(monkeypatch, loops=loops, fails_at=fails_at)
        assert (
            M.evaluate_motion_at(mechanism.model, mechanism.ws, 3.0) == status
            and mechanism.told == told
        )


def step(t: float) -> float:
    return 1.0 if t > 2.0 else 0.25


@pytest.mark.parametrize("which", ["velocity", "spin", "rate", ""])
def test_prescribed_velocity_jumps_are_detected(monkeypatch, which):
    mechanism = Mechanism(monkeypatch, **({which: step} if which else {}))
    assert M.speeds_jump(mechanism.model, mechanism.ws, 2.0) == bool(which)
    assert [each for each in mechanism.told if isinstance(each, float)] == [
        2.0 - 2e-12,
        2.0 + 2e-12,
    ]
    assert not M.speeds_jump(mechanism.model, mechanism.ws, 3.0)


@pytest.mark.parametrize("statuses", [(4, 0), (0, 4)])
def test_undefined_velocity_is_reported_by_jump(monkeypatch, statuses):
    mechanism, given = Mechanism(monkeypatch), iter(statuses)
    monkeypatch.setattr(M, "evaluate_motion_at", lambda model, ws, t: next(given))
    assert M.speeds_jump(mechanism.model, mechanism.ws, 2.0)


@pytest.mark.parametrize("change, jumps", [(0.9e-9, False), (1.1e-9, True)])
def test_coupling_rate_jump_exceeds_law_curvature(monkeypatch, change, jumps):
    for sign in (1.0, -1.0):
        mechanism = Mechanism(
            monkeypatch, rate=lambda t, sign=sign: sign * (1.0 + (2.0 * change if t > 2.0 else 0.0))
        )
        assert M.speeds_jump(mechanism.model, mechanism.ws, 2.0) == jumps


def test_next_velocity_jump_is_found(monkeypatch):
    mechanism = Mechanism(monkeypatch, velocity=step)
    asked = []
    monkeypatch.setattr(
        M,
        "next_breakpoint",
        lambda model, ws, t, of: (
            asked.append(t)
            or next((knot for knot in (1.0, 1.5, 2.0, 3.0) if knot > t and of == 1), INF)
        ),
    )
    found = [
        M.next_velocity_jump(mechanism.model, mechanism.ws, *each)
        for each in ((0.0, 5.0), (0.0, 2.0), (0.0, 1.9), (2.0, 9.0), (1.5, INF))
    ]
    assert found == [2.0, 2.0, INF, INF, 2.0] and asked[:3] == [0.0, 1.0 + 1e-12, 1.5 + 1.5e-12]


def test_time_laws_are_evaluated_after_the_discontinuity():
    ws = SimpleNamespace(head=SimpleNamespace())
    M.read_after_breakpoint(ws, 4.0)
    assert vars(ws.head) == {"sided": 1.0, "read_from": 4.0 + 4e-12, "read_until": INF}


def test_discontinuity_jump_conserves_momenta(monkeypatch):
    """Bodies and rotors keep theirs; then loops close, and what touches is struck; a failure stops there."""
    before, after = 2.0 - 2e-12, 2.0 + 2e-12
    for loops, contacts, fails in (
        (0, 0, ""),
        (2, 0, ""),
        (2, 1, ""),
        (0, 1, ""),
        (2, 1, "project"),
        (2, 1, "momenta"),
        (2, 1, "before"),
        (2, 1, "after"),
    ):
        mechanism = Mechanism(
            monkeypatch,
            lambda t: step(t),
            lambda t: 2 * step(t),
            loops=loops,
            fails_at={"before": before, "after": after}.get(fails, 0.0),
        )
        mechanism.model.c_law = np.zeros(contacts)
        told = []
        monkeypatch.setattr(
            M, "put_momentum", lambda model, ws, i, v, om, told=told: told.append((i, *v, *om))
        )
        monkeypatch.setattr(M, "keep_modal_momenta", lambda model, ws: None)
        for name in ("solve_momenta", "project", "apply_impacts"):
            short = {"solve_momenta": "momenta"}.get(name, name)
            monkeypatch.setattr(
                M,
                name,
                lambda *rest, short=short, told=told, fails=fails: (
                    told.append((short, *rest[2:])) or (4 if short == fails else 0)
                ),
            )
        assert M.apply_velocity_jump(mechanism.model, mechanism.ws, 2.0) == (4 if fails else 0)
        momenta = [(1, 0, 0, 0, 0, 0, 0), (2, 0.25, 0, 0, 0, 0, 0.5)]
        whole = [
            *momenta,
            ("momenta",),
            *([("project", after)] if loops else []),
            *([("apply_impacts", after)] if contacts else []),
        ]
        assert told == whole[: {"project": 4, "momenta": 3, "before": 2, "after": 2}.get(fails)]
        assert mechanism.ws.tau.tolist() == [1.0, 0.0] and not mechanism.ws.u.any()
        assert [each for each in mechanism.told if isinstance(each, float)] == [before] + (
            [after] if fails != "before" else []
        )


def noted(told: list, name: str, fails: str = ""):
    """A call that notes its name and the instants among its arguments."""

    def call(*arguments):
        told.append((name, *(float(each) for each in arguments if isinstance(each, float))))
        return 4 if name == fails else 0

    return call


@pytest.mark.parametrize("momenta", [False, True])
def test_state_and_work_are_carried_over_a_discontinuity(monkeypatch, momenta):
    """What the drives do there is booked: the energy behind it less that before."""
    before, after = 2.0 - 2e-12, 2.0 + 2e-12
    over = ("put_state", after) if momenta else ("apply_velocity_jump", 2.0)
    whole = [
        ("evaluate_motion_at", before),
        ("energy",),
        over,
        ("get_state", after),
        ("evaluate_motion_at", after),
        ("energy",),
    ]
    for fails in ("", "evaluate_motion_at", over[0], "get_state"):
        told, energies = [], iter((3.0, 10.0))
        monkeypatch.setattr(M, "in_momenta", lambda ws: momenta)
        monkeypatch.setattr(
            M,
            "energy_of_motion",
            lambda model, ws, told=told, energies=energies: (
                told.append(("energy",)) or next(energies)
            ),
        )
        for name in ("evaluate_motion_at", "put_state", "apply_velocity_jump", "get_state"):
            monkeypatch.setattr(M, name, noted(told, name, fails))
        y = np.array([1.0, 0.5])
        assert M.carry_state_across(None, None, 2.0, y) == (4 if fails else 0) and y.tolist() == [
            1.0,
            7.5,
        ]
        stop = {"": 6, "evaluate_motion_at": 1, over[0]: 3, "get_state": 4}[fails]
        rest = [each for each in whole[stop:] if each == ("energy",)]
        assert told == (
            whole[:stop] + rest if fails != "evaluate_motion_at" else [*whole[:2], ("energy",)]
        )


def test_discontinuity_is_applied(monkeypatch):
    """Speeds jump where given motions have a corner there; the method goes on from there, and laws are read behind."""
    before, after = 2.0 - 2e-12, 2.0 + 2e-12
    for knot, jumps, fails, names in (
        (2.0, True, "", ["put_state", "carry_state_across", "turn"]), (2.0, False, "", ["put_state", "turn"]), (2.1, True, "", ["turn"]),
        (INF, True, "", ["turn"]),
        (2.0, True, "put_state", ["put_state"]), (2.0, True, "carry_state_across", ["put_state", "carry_state_across"]),
        (2.0, True, "turn", ["put_state", "carry_state_across", "turn"]),
        (after, True, "", ["put_state", "carry_state_across", "turn"]), (before, True, "", ["put_state", "carry_state_across", "turn"]),
    ):  # fmt: skip
        told, asked = [], []
        W, ws, mem = (
            SimpleNamespace(knot=2.0, turned=0.0),
            SimpleNamespace(head=SimpleNamespace()),
            np.zeros(C.HEADER),
        )
        monkeypatch.setattr(
            M,
            "next_breakpoint",
            lambda model, ws, t, of, asked=asked, knot=knot: asked.append((t, of)) or knot,
        )
        monkeypatch.setattr(M, "speeds_jump", lambda model, ws, knot, jumps=jumps: jumps)
        for name in ("put_state", "carry_state_across", "turn"):
            monkeypatch.setattr(M, name, noted(told, name, fails))
        assert (
            M.pass_breakpoint(W, mem, None, ws) == (4 if fails else 0)
            and [name for name, *_ in told] == names
        )
        assert (W.knot, W.turned, ws.head.read_from) == (-INF, 2.0, after) and asked == [
            (2.0 - 4e-12, 1)
        ]
        assert ("put_state", before) in told or "put_state" not in names


def test_host_reads_before_and_after_discontinuity():
    W = SimpleNamespace(next=4.0, turned=2.0)
    rows = [  # t -> read at, events come true at
        (3.0, 3.0, 3.0), (4.0, 4.0 - 4e-12, 4.0 + 4e-12), (4.0 - 3e-12, 4.0 - 4e-12, 4.0 + 4e-12), (4.0 + 3e-12, 4.0 - 4e-12, 4.0 + 4e-12),
        (4.0 - 5e-12, 4.0 - 5e-12, 4.0 - 5e-12), (2.0, 2.0 + 2e-12, 2.0 + 2e-12), (2.0 - 1e-12, 2.0 + 2e-12, 2.0 + 2e-12),
        (2.0 + 3e-12, 2.0 + 3e-12, 2.0 + 3e-12),
    ]  # fmt: skip
    sides = plain("instance.time_breakpoints")
    assert [(sides.host_time(W, t), sides.later_side(W, t)) for t, *_ in rows] == [
        (a, b) for _, a, b in rows
    ]
    none = SimpleNamespace(next=INF, turned=-INF)
    assert sides.host_time(none, 1.0) == sides.later_side(none, 1.0) == 1.0


def test_host_passes_a_reached_discontinuity(monkeypatch):
    """The state jumps where given motions do, everything is evaluated behind the corner, and the next one is announced."""
    behind = 2.0 + 2e-12
    for t, knot, jumps, fails, names in (
        (1.9, 2.0, True, "", []),
        (2.0, 2.0, True, "", ["load_states", "apply_velocity_jump", "refresh"]),
        (2.0 - 2e-12, 2.0, True, "", ["load_states", "apply_velocity_jump", "refresh"]),
        (2.5, 2.0, True, "", ["load_states", "apply_velocity_jump", "refresh"]),
        (2.0 - 3e-12, 2.0, True, "", []),
        (2.0, 2.0, False, "", ["load_states", "refresh"]),
        (2.0, 2.1, True, "", ["load_states", "refresh"]),
        (2.0, 2.0, True, "apply_velocity_jump", ["load_states", "apply_velocity_jump"]),
        (2.0, 2.0, True, "refresh", ["load_states", "apply_velocity_jump", "refresh"]),
    ):
        told, asked = [], []
        W = SimpleNamespace(next=2.0, turned=-INF, time=0.0)
        monkeypatch.setattr(M, "structure", lambda I, F, W: (None, None))
        monkeypatch.setattr(
            M,
            "next_breakpoint",
            lambda model, ws, t, of, asked=asked, knot=knot: (
                asked.append((t, of)) or (knot if of == 1 else 9.0)
            ),
        )
        monkeypatch.setattr(M, "speeds_jump", lambda model, ws, knot, jumps=jumps: jumps)
        for name in ("load_states", "apply_velocity_jump", "refresh"):
            monkeypatch.setattr(M, name, noted(told, name, fails))
        assert (
            M.pass_host_breakpoint(None, None, W, t) == (4 if fails else 0)
            and [name for name, *_ in told] == names
        )
        passed = bool(names)
        assert (W.turned, W.time) == (
            (2.0 if passed else -INF),
            (t if "refresh" in names else 0.0),
        ) and W.next == 9.0
        assert asked == [
            *([(2.0 - 4e-12, 1)] if passed else []),
            (behind if passed and abs(t - 2.0) <= 2.1e-12 else t, L.ANNOUNCED),
        ]
        assert not passed or "refresh" not in names or told[-1][1] == asked[-1][0]
