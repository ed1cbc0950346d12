"""From one structure to the next piece by piece: what is kept of bodies and registers, freed coordinates, momenta; and what a unit evaluates."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from noted_calls import FAILURE, Noted
from plain_kernels import plain
from unit_stand_in import HandMade, guard

from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import Loop

M, Q, X = plain("events.stage_change"), plain("instance.memory"), plain("instance.integrators")
TURN = np.array(
    [[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]
)  # no axis of it is its own, quaternion (1, 1, -1, 1)/2


class Changing(HandMade):
    """Two bodies over all structures, of which the present one has the second as its body 2; three parameters and an input."""

    def __init__(self, monkeypatch, bodies=(-1, 2), transition=(), places: int = 60):
        super().__init__(room=places)
        self.I.bodies, self.I.parameters, self.I.inputs = 2, 3, 1
        block = np.concatenate([self.I.block, bodies, transition]).astype(np.int64)
        self.I, first = U.UNIT.of(block), self.I.block.size
        self.stage, self.transition = SimpleNamespace(bodies=first, transition=first + 2), first + 2
        self.ws = SimpleNamespace(
            row=np.zeros(3 * L.ROW),
            val=np.arange(40.0, 50.0),
            q=np.zeros(9),
            u=np.zeros(8),
            tau=np.zeros(8),
            rotor=np.zeros(8),
        )
        self.ws.udot = np.zeros(8)
        monkeypatch.setattr(M, "stage_record", lambda I, W: self.stage)

    @property
    def kept(self):
        return [U.UNIT_BODY.of(self["bodies"], k * U.UNIT_BODY.size) for k in range(2)]


def test_stage_change_keeps_poses_and_velocities(monkeypatch):
    """Of those that the structure has, the ground being one of them; the others keep what they had."""
    for bodies, rows in (((-1, 2), {1: 2}), ((0, 1), {0: 0, 1: 1})):
        made = Changing(monkeypatch, bodies)
        made["bodies"][:] = -1.0
        for name, size in (("W_P", 3), ("W_V", 3), ("W_OM", 3), ("W_R", 9)):
            for i in range(3):
                made.ws.row[i * L.ROW + getattr(L, name) :][:size] = (
                    100 * i + getattr(L, name) + np.arange(size)
                )
        M.save_bodies(made.I, made.W, made.ws)
        for g, body in enumerate(made.kept):
            for part, name in (
                ("position", "W_P"),
                ("velocity", "W_V"),
                ("spin", "W_OM"),
                ("rotation", "W_R"),
            ):
                found = getattr(body, part)
                expected = (
                    100 * rows[g] + getattr(L, name) + np.arange(found.size)
                    if g in rows
                    else np.full(found.size, -1.0)
                )
                assert found.tolist() == expected.tolist()


def test_stage_change_keeps_parameters(monkeypatch):
    """The start of the new stage and that of the run stand behind them; locked coordinates have the values that they had as states."""
    transition = [
        *U.TRANSITION.filled(set=1, freed=1, locked=2),
        2,
        1,
        *U.LOCKED.filled(state=1, register=7),
        *U.LOCKED.filled(state=0, register=8),
    ]
    made = Changing(monkeypatch, transition=transition)
    M.save_registers(made.I, made.W, made.ws)
    assert made["bodies"][2 * U.UNIT_BODY.size :][:7].tolist() == [40, 41, 42, 43, 44, 45, 46]
    fresh = SimpleNamespace(val=np.full(10, -1.0))
    made.W.time = 3.5
    made["states"][:2] = 21.0, 22.0
    M.restore_registers(
        made.I, made.W, SimpleNamespace(val0=np.arange(60.0, 70.0)), fresh, made.transition
    )
    assert fresh.val.tolist() == [40, 41, 62, 43, 44, 3.5, 46, 22, 21, -1]


def test_released_bodies_keep_their_pose(monkeypatch):
    """Coordinates of a free joint: place and quaternion; its speeds in the axes of the body."""
    transition = [*U.TRANSITION.filled(set=2, freed=1), 9, 9, 1]
    made = Changing(monkeypatch, transition=transition)
    body = made.kept[1]
    body.position, body.rotation = (1.0, 2.0, 3.0), TURN.ravel()
    body.velocity, body.spin = (4.0, 5.0, 6.0), (7.0, 8.0, 9.0)
    model = SimpleNamespace(q_at=np.array([0, 0, 1]), u_at=np.array([0, 0, 2]))
    M.place_released_bodies(made.I, made.W, model, made.ws, made.transition)
    w = made.ws.q[4] * 2
    assert made.ws.q == pytest.approx([0, 1, 2, 3, w / 2, w / 2, -w / 2, w / 2, 0]) and abs(
        w
    ) == pytest.approx(1.0)
    assert made.ws.u == pytest.approx([0, 0, *(TURN.T @ [4, 5, 6]), *(TURN.T @ [7, 8, 9])])


@pytest.mark.parametrize("status", [0, 4])
def test_stage_change_conserves_momenta(monkeypatch, status):
    """A twin moves with its body, that of the ground stands; what the structure does not have gives nothing."""
    first, second, still = (1, 0, 0.5, 0, 1, 0.5), (2, 0, 0.5, 0, 2, 0.5), (4, *[0.0] * 6)
    rows = (
        ((1, -1), [(1, *first), (3, *first), still]),
        ((0, 2), [(2, *second), still]),
        ((3, 1), [(1, *second), (3, *second), still]),
    )
    for bodies, expected in rows:
        made = Changing(monkeypatch, bodies)
        for g, body in enumerate(made.kept):
            body.velocity, body.spin = (g + 1.0, 0.0, 0.5), (0.0, g + 1.0, 0.5)
        made.ws.u[:2], made.ws.rotor[:2] = (3.0, 5.0), (0.5, 0.25)
        kinds, a, b = [Loop.WELD, Loop.COUPLING, Loop.WELD], [1, 1, 0], [3, 9, 4]
        model, put = SimpleNamespace(l_kind=np.array(kinds), l_a=np.array(a), l_b=np.array(b)), []
        monkeypatch.setattr(M, "keep_modal_momenta", lambda model, ws: None)
        calls = Noted(
            monkeypatch, M, "motion", "velocities", set_registers=status, solve_momenta=0,
            put_momentum=lambda model, ws, i, v, om, put=put: put.append((i, *v, *om)),
        )  # fmt: skip
        assert M.balance_momenta(made.I, made.W, model, made.ws, 2.0) == status
        assert calls.told[0] == "set_registers 2" and ("solve_momenta" in calls.told) == (
            status == 0
        )
        assert (
            put == expected
            and made.ws.tau.tolist() == [1.5, 1.25, 0, 0, 0, 0, 0, 0]
            and not made.ws.u.any()
        )


def test_body_momentum_about_its_origin(monkeypatch):
    """-(m v + ω × h) and -(J ω + h × v) of the velocity beyond that of the given motions."""
    rng = np.random.default_rng(3)
    v, om, v_given, om_given, h = rng.standard_normal((5, 3))
    J = rng.standard_normal((3, 3))
    J, ws = J + J.T, SimpleNamespace(row=np.zeros(2 * L.ROW))
    ws.row[L.ROW + L.W_V :][:3], ws.row[L.ROW + L.W_OM :][:3] = v_given, om_given
    monkeypatch.setattr(
        M,
        "inertia_of",
        lambda ws, i: (2.5, tuple(h), (J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2])),
    )
    M.put_momentum(SimpleNamespace(joint=np.full(2, L.Joint.FREE)), ws, 1, tuple(v), tuple(om))
    v, om = v - v_given, om - om_given
    assert ws.row[L.ROW + L.W_F :][:3] == pytest.approx(-(2.5 * v + np.cross(om, h)))
    assert ws.row[L.ROW + L.W_N :][:3] == pytest.approx(-(J @ om + np.cross(h, v)))


@pytest.mark.parametrize("fails_at", [0, 2])
def test_momenta_are_solved_leaves_first(monkeypatch, fails_at):
    told = []
    ws = SimpleNamespace(u=np.zeros(2), udot=np.array([3.0, 4.0]))
    monkeypatch.setattr(M, "lend", lambda model, ws: told.append("lend"))
    monkeypatch.setattr(
        M, "eliminate", lambda model, ws, i: told.append(-i) or (4 if i == fails_at else 0)
    )
    monkeypatch.setattr(M, "accelerate", lambda model, ws, i: told.append(i))
    assert M.solve_momenta(SimpleNamespace(parent=np.zeros(4)), ws) == (
        4 if fails_at else 0
    ) and ws.u.tolist() == [3, 4]
    assert told == (["lend", -3, -2] if fails_at else ["lend", -3, -2, -1, 1, 2, 3])


@pytest.mark.parametrize(
    "jump, loops, contacts", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 0, 1), (2, 1, 1)]
)
@pytest.mark.parametrize("fails", ["", "prepare", "balance_momenta", "project", "survey_ranks"])
def test_stage_change_replaces_structure(monkeypatch, jump, loops, contacts, fails):
    made = Changing(monkeypatch, transition=U.TRANSITION.filled(jump=jump))
    made.model.l_kind, made.model.c_law = np.zeros(loops), np.zeros(contacts)
    made.W.stage, made.W.started = 1.0, 1.0
    names = "save_states save_bodies save_registers initialise_workspace restore_registers prepare load_states place_released_bodies balance_momenta "
    names += "project survey_ranks initialise_contacts mark_contacts_evaluated"
    calls = Noted(
        monkeypatch, M, *names.split(), structure=lambda *_: (made.model, made.ws), fails=fails
    )
    status = M.change_structure(made.I, None, made.W, 2.0)
    found = [each.split()[0] for each in calls.told if not each.startswith("structure")]
    whole = (
        names.split()[:8]
        + (["balance_momenta"] if jump == 1 else [])
        + (["project", "survey_ranks"] if loops else [])
        + (["initialise_contacts", "mark_contacts_evaluated"] if contacts else [])
    )
    upto = {"prepare": 8}.get(fails, whole.index(fails) + 1 if fails in whole else len(whole))
    assert found == whole[:upto] and status == (FAILURE if fails in whole else 0)
    assert (made.W.stage, made.W.started) == (2.0, 0.0) and all(
        each.endswith(" 2")
        for each in calls.told
        if each.split()[0] in ("project", "initialise_contacts")
    )


class Unit(HandMade):
    """Three columns, two states of the union and a guard; maps of a stage behind the ints."""

    def __init__(self, monkeypatch):
        super().__init__(guard(register=6), room=8)
        block = np.concatenate([self.I.block, [4, -1, 5], [0, -1]]).astype(np.int64)
        first = self.I.block.size
        self.I = U.UNIT.of(block)
        self.I.columns, self.I.states = 3, 2
        self.ws = SimpleNamespace(
            val=np.arange(10.0),
            q=np.array([9.0]),
            u=np.array([8.0]),
            x=np.zeros(0),
            ydot=np.array([3.0]),
            udot=np.zeros(1),
        )
        self.ws.head = SimpleNamespace(item=5.0)
        monkeypatch.setattr(
            Q, "stage_record", lambda I, W: SimpleNamespace(columns=first, states=first + 3)
        )
        monkeypatch.setattr(Q, "structure", lambda I, F, W: (self.model, self.ws))


def test_host_variables_are_updated(monkeypatch):
    unit = Unit(monkeypatch)
    Q.publish(unit.I, unit.W, unit.model, unit.ws)
    assert unit["columns"][:4].tolist() == [4, 7, 5, 7] and unit["guards"].tolist() == [6]
    assert unit["states"][:3].tolist() == [9, 7, 7] and unit["rates"][:3].tolist() == [3, 0, 7]


@pytest.mark.parametrize("loops", [0, 1])
@pytest.mark.parametrize("fails", ["", "probe_actuators", "load", "accelerations_of", "finish"])
def test_host_evaluation_after_stage_change(monkeypatch, loops, fails):
    """Energies, residuals, guards and columns; a failure names its number, and nothing is published then."""
    unit = Unit(monkeypatch)
    unit.model.l_kind = np.zeros(loops)
    unit.W.energy_start, unit.W.work = 1.0, 0.25
    order = "probe_actuators load accelerations_of reactions velocities finish tell compute_effective_masses write_indicators"
    calls = Noted(
        monkeypatch, Q, *order.split(), "position_residual", "coordinate_rates", "publish", fails=fails,
        kinetic=3.0, potential=4.0, energy_of_motion=9.0, opening=0.5, find_cause=lambda model, ws, status: status + 1,
    )  # fmt: skip
    status = Q.refresh(unit.I, None, unit.W, 2.0)
    assert unit.W.time == 2.0
    if fails in ("probe_actuators", "load", "accelerations_of"):
        assert (
            status == FAILURE + 1
            and unit.W.item == 5.0
            and calls.told[-2].split()[0] == fails
            and calls.told[-1] == "find_cause"
        )
        assert unit.W.energy == 7.0
        return
    named = [each.split()[0] for each in calls.told]
    assert [each for each in named if each in order.split()] == order.split() and named.count(
        "position_residual"
    ) == loops
    assert (unit.W.energy, unit.W.energy_residual, unit.W.constraint_residual) == (
        7.0,
        7.75,
        0.5 * loops,
    )
    assert status == (FAILURE + 1 if fails else 0) and ("publish" in named) == (not fails) == (
        "coordinate_rates" in named
    )


def test_energy_residual_starts_continuously(monkeypatch):
    unit = Unit(monkeypatch)
    unit.W.work, unit.W.energy_residual = 0.25, 0.5
    Noted(monkeypatch, Q, energy_of_motion=9.0)
    Q.open_energy_balance(unit.I, None, unit.W)
    assert unit.W.energy_start == 8.25


def test_new_workspace_holds_initial_registers(monkeypatch):
    """Registers at their image, loads zero, the rest not a number."""
    unit = Unit(monkeypatch)
    unit.I.form = 3
    first = int(unit.I.at_workspace)
    names = (
        "val q u x p tau added extra wrench reaction c_mode c_dir c_along c_lam c_out other".split()
    )
    block = np.full(first + 2 * len(names) + 4, 5.0)
    unit.W = U.UNIT_HEAD.of(block)
    views = {name: block[first + 4 + 2 * k : first + 6 + 2 * k] for k, name in enumerate(names)}

    class Head:
        size = 4
        form = 0.0

        def __setitem__(self, k, value):
            block[first + k] = value

    head = Head()
    unit.model.header.work_size, unit.model.val0 = 2 * len(names) + 3, np.array([6.0, 7.0])
    unit.ws = SimpleNamespace(head=head, **views)
    Q.initialise_workspace(unit.I, None, unit.W)
    assert (
        head.form == 3
        and block[first : first + 4].tolist() == [0.0] * 4
        and views["val"].tolist() == [6, 7]
    )
    assert (
        not any(views[name].any() for name in names[1:-1])
        and math.isnan(views["other"][0])
        and views["other"][1] == 5.0
        and block[first - 1] == 5.0
    )


def test_method_codes_select_integrators():
    """Sizes of memories; `auto` has room for the largest of those that it uses; which of them take steps of given size."""
    from kinetree.solvers.integrate.kinds import AUTO, CODES, INTEGRATORS

    for n in (1, 5, 12):
        sizes = {method.name: X.memory_size(method.code, n) for method in INTEGRATORS}
        assert sizes == {name: X.KERNELS[name].size(n) for name in sizes}
        assert X.memory_size(AUTO, n) == max(sizes[name] for name in ("adams", "rk45", "radau"))
    assert {method.name for method in INTEGRATORS if X.is_fixed(method.code)} == {
        method.name for method in INTEGRATORS if method.fixed
    }
    assert not X.is_fixed(AUTO) and X.is_fixed(CODES["rk4"])
