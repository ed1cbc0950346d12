"""What actions of events write, and the books of momentum and energy, on hand-made records and on random trees."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from noted_calls import FAILURE, Noted
from plain_kernels import blocks, plain, structure
from unit_stand_in import HandMade, action, guard

from kinetree.models import load
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.solvers.layout import Guard

R, N, Y = plain("events.event_cascade"), plain("instance.balances"), plain("instance.derivatives")
U = plain("instance.memory")
RESET, STAGE = int(Guard.RESET), int(Guard.STAGE)
NAN = math.nan


class Acting(HandMade):
    """Two coordinates and a quaternion of a second body, one speed of the first and three of the second, two states: y has 6, 4 and 2 numbers."""

    def __init__(self, *guards: list[int], actions=()):
        super().__init__(*guards, actions=actions)
        self.ws = SimpleNamespace(
            q=np.arange(1.0, 7.0), u=np.zeros(4), x=np.zeros(2), val=np.arange(20.0), new_value=np.zeros(9), head=SimpleNamespace(item=4.0),
            set_q=np.zeros(6), set_mark=np.full(3, 7.0), set_hold=np.full(3, 7.0), set_to=np.full(3, 7.0),
        )  # fmt: skip
        self.model.set_speed = np.array([0, 2, 1])
        self.model.u_body, self.model.u_q, self.model.q_at = (
            np.array([1, 2, 2, 2]),
            np.array([0, -1, -1, -1]),
            np.array([0, 0, 2, 6]),
        )
        self.W.time = 2.0

    def reset(self) -> None:
        self.ws.set_mark[:], self.ws.set_hold[:], self.ws.set_to[:], self.ws.set_q[:] = (
            0.0,
            0.0,
            7.0,
            NAN,
        )


def test_actions_request_coordinates_and_speeds():
    """Entry -> asked, marks, what is held, values; a joint with a quaternion is kept as a whole, and no other."""
    rows = [
        (-1, False, (0, 0, 0), (0, 0, 0), (7, 7, 7)), (10, False, (0, 0, 0), (0, 0, 0), (7, 7, 7)), (0, True, (0, 0, 0), (1, 0, 0), (7, 7, 7)),
        (1, True, (0, 0, 0), (0, 0, 0), (7, 7, 7)), (2, True, (0, 0, 0), (0, 1, 1), (7, 7, 7)), (5, True, (0, 0, 0), (0, 1, 1), (7, 7, 7)),
        (6, True, (1, 0, 0), (0, 0, 0), (5, 7, 7)), (7, True, (0, 0, 1), (0, 0, 0), (7, 7, 5)), (8, True, (0, 1, 0), (0, 0, 0), (7, 5, 7)),
        (9, True, (0, 0, 0), (0, 0, 0), (7, 7, 7)),
    ]  # fmt: skip
    made = Acting()
    for entry, asked, marks, holds, values in rows:
        made.reset()
        assert R.note_requested_value(made.model, made.ws, entry, 5.0) == asked
        assert (
            made.ws.set_mark.tolist() == [*marks]
            and made.ws.set_hold.tolist() == [*holds]
            and made.ws.set_to.tolist() == [*values]
        )
        assert [k for k in range(6) if made.ws.set_q[k] == 5.0] == (
            [entry] if 0 <= entry < 6 else []
        )


def test_set_coordinates_are_written():
    made = Acting()
    made.reset()
    assert not R.write_set_coordinates(made.model, made.ws) and made.ws.q.tolist() == [
        1,
        2,
        3,
        4,
        5,
        6,
    ]
    made.ws.set_q[1] = 9.0
    assert R.write_set_coordinates(made.model, made.ws) and made.ws.q.tolist() == [1, 9, 3, 4, 5, 6]


def test_actions_read_before_writing():
    """Two states that change places, a parameter, a speed that is left to the others; what was written is told."""
    swap = (
        action(entry=10, value=11),
        action(entry=11, value=10),
        action(parameter=1, value=12),
        action(entry=6, value=13),
    )
    made = Acting(
        guard(action=0, actions=2),
        guard(action=2, actions=1),
        guard(action=3, actions=1),
        guard(action=1, actions=2),
        actions=swap,
    )
    told = []
    for k in range(4):
        made.ws.x[:], made.ws.val[1] = 0.0, 1.0
        told.append((R.assign_values(made.model, made.ws, k), *made.ws.x, made.ws.val[1]))
    assert told == [(1, 11, 10, 1), (2, 0, 0, 12), (0, 0, 0, 1), (3, 0, 10, 12)]
    assert made.ws.new_value.tolist() == [11, 10, 12, 13, 0, 0, 0, 0, 0] and not made.ws.u.any()


@pytest.mark.parametrize("loops, parameters", [(0, False), (1, False), (0, True), (1, True)])
def test_coordinates_and_speeds_move_together(monkeypatch, loops, parameters):
    """Where something asks for them, or a loop depends on a parameter; quaternions that are set have length 1 then, too."""
    rows = (action(entry=10), action(entry=3), action(entry=6))
    for fired, asks in (
        ((1, 0, 0, 0), False),
        ((0, 1, 0, 0), True),
        ((0, 0, 1, 0), True),
        ((0, 0, 0, 1), False),
        ((1, 1, 0, 0), True),
    ):
        guards = [guard(action=k, actions=1, kind=RESET) for k in range(3)]
        made = Acting(*guards, guard(action=2, actions=1, kind=STAGE), actions=rows).set(mark=fired)
        made.model.l_kind = np.zeros(loops)
        made.ws.new_value[:3] = 1.0, 8.0, 9.0
        calls = Noted(
            monkeypatch,
            R,
            settle=5,
            normalise_quaternions=lambda model, ws: ws.q.__setitem__(slice(2, 6), 0.5),
        )
        moves = asks or (parameters and loops)
        assert R.set_coordinates_and_speeds(
            made.I, made.W, made.model, made.ws, RESET, parameters
        ) == (5 if moves else 0)
        placed = fired[1] == 1
        assert calls.told == (["normalise_quaternions"] if placed else []) + (
            ["settle 2"] if moves else []
        )
        assert made.ws.set_mark.tolist() == [
            float(fired[2]),
            0,
            0,
        ] and made.ws.set_hold.tolist() == [0.0, float(placed), float(placed)]
        assert [k for k in range(6) if not math.isnan(made.ws.set_q[k])] == (
            [3] if placed else []
        ) and (not placed or made.ws.set_q[3] == 0.5)


@pytest.mark.parametrize("fails", ["", "refresh", "prepare", "set_coordinates_and_speeds"])
def test_simultaneous_events_act_in_order(monkeypatch, fails):
    """Each from what those before it have left, which is evaluated where they have written something; coordinates and speeds at the end."""
    for wrote, told, parameters in (
        ((1, 0, 2, 0), ["refresh 2", "prepare"], True), ((0, 0, 0, 0), [], False), ((3, 0, 1, 0), ["prepare", "refresh 2"], True),
        ((0, 0, 1, 0), [], False), ((0, 1, 0, 0), ["refresh 2"], False), ((1, 0, 0, 2), ["refresh 2"], False),
    ):  # fmt: skip
        made = Acting(*[guard(kind=RESET)] * 3, guard(kind=STAGE), guard(kind=RESET)).set(
            mark=(1, 1, 4, 1, 0)
        )
        seen = []
        calls = Noted(
            monkeypatch, R, "refresh", "prepare", structure=lambda *_, made=made: (made.model, made.ws), fails=fails,
            assign_values=lambda model, ws, k, wrote=wrote: wrote[k], set_coordinates_and_speeds=lambda *rest, seen=seen: seen.append(rest[-1]) or 0,
        )  # fmt: skip
        status = R.apply_actions(made.I, None, made.W, RESET)
        steps = [each for each in calls.told if each in ("refresh 2", "prepare")]
        failed = fails and any(each.split()[0] == fails for each in calls.told)
        assert status == (FAILURE if failed else 0) and made.W.item == (4.0 if failed else 7.0)
        if not failed or fails == "set_coordinates_and_speeds":
            assert steps == told and seen == [parameters] and calls.told.count("assign_values") == 3
        else:
            assert steps == told[: [each.split()[0] for each in told].index(fails) + 1] and not seen


def tree() -> Run:
    """A tumbling free body with its centre of mass aside, a pendulum on it with a rotor, in gravity; evaluated off its rest."""
    description = {
        "format": "kinetree/1",
        "gravity": [0.3, -0.2, -9.81],
        "bodies": {
            "a": {
                "mass": 2.0,
                "com": [0.1, 0.2, -0.3],
                "inertia": [0.4, 0.5, 0.6, 0.01, 0.02, 0.03],
            },
            "b": {"mass": 0.5, "com": [0.0, 0.4, 0.1], "inertia": [0.1, 0.2, 0.15, 0, 0, 0]},
        },
        "joints": {
            "free": {
                "child": "a",
                "type": "free",
                "start": [0.3, -0.2, 0.5, 0.5, 0.5, -0.5, 0.5],
                "speed": [1, 2, 3, 0.3, -0.2, 0.4],
            },
            "pin": {
                "parent": "a",
                "child": "b",
                "transforms": [{"rotate": "y", "coordinate": "th", "start": 0.7, "speed": -1.5}],
            },
        },
        "forces": {"drive": {"coordinate": "th", "value": 3.0}},
    }
    run = Run(make_unit(load(description).compile(), "rk4"))
    assert run.call("unit_start", 0, 0.0) == 0
    return run


def test_balances_match_bodies():
    """Mass, Σ m v of the centres of mass, and T + V, from poses by hand."""
    run, out = tree(), np.zeros(5)
    model, ws = structure(run)
    plain("engine.kinematics").velocities(model, ws)
    N.write_balances(out, model, ws)
    momentum, energy, gravity = np.zeros(3), 0.0, np.array([0.3, -0.2, -9.81])
    L = plain("layout")
    for i, (m, com, J) in enumerate((
        (2.0, [0.1, 0.2, -0.3], [[0.4, 0.01, 0.02], [0.01, 0.5, 0.03], [0.02, 0.03, 0.6]]), (0.5, [0.0, 0.4, 0.1], np.diag([0.1, 0.2, 0.15])),
    ), 1):  # fmt: skip
        row = ws.row[i * L.ROW :]
        rotation, spin = row[L.W_R : L.W_R + 9].reshape(3, 3), row[L.W_OM : L.W_OM + 3]
        c = rotation @ com
        v = row[L.W_V : L.W_V + 3] + np.cross(spin, c)
        local = rotation.T @ spin
        momentum += m * v
        energy += (
            0.5 * m * v @ v
            + 0.5 * local @ (np.array(J) @ local)
            - m * gravity @ (row[L.W_P : L.W_P + 3] + c)
        )
    assert out == pytest.approx([2.5, *momentum, energy], rel=1e-12)
    assert N.energy_of_motion(model, ws) == pytest.approx(energy, rel=1e-12)


def test_power_is_that_of_loads_and_wrenches(monkeypatch):
    run = tree()
    model, ws = structure(run)
    ws.tau[:] = np.arange(1.0, 8.0)
    ws.wrench[:] = np.arange(ws.wrench.size)
    L = plain("layout")
    of_wrenches = sum(
        ws.wrench[6 * i : 6 * i + 3] @ ws.row[i * L.ROW + L.W_V :][:3]
        + ws.wrench[6 * i + 3 : 6 * i + 6] @ ws.row[i * L.ROW + L.W_OM :][:3]
        for i in (1, 2)
    )
    for flag, extra in ((0.0, 0.0), (1.0, of_wrenches)):
        ws.head.wrench = flag
        assert N.load_power(model, ws) == pytest.approx(ws.tau @ ws.u + extra, rel=1e-13)
    Noted(
        monkeypatch,
        N,
        carry=0,
        prescribed_power=lambda model, ws, i: 10.0**i,
        power_of_couplings=1000.0,
        contact_power=20000.0,
    )
    model.header = SimpleNamespace(given=0)
    assert N.load_power(model, ws) == pytest.approx(
        ws.tau @ ws.u + of_wrenches + 21000.0, rel=1e-12
    )
    model.header.given = 1
    for loops in (0, 1):
        model.l_kind = np.zeros(loops)
        calls = Noted(monkeypatch, N, carry=0, prescribed_power=lambda model, ws, i: 10.0**i)
        assert (
            N.load_power(model, ws)
            == pytest.approx(ws.tau @ ws.u + of_wrenches + 21110.0, rel=1e-12)
            and calls.told.count("carry") == loops
        )


def test_states_copy_round_trip():
    """y = (q, u, x, ...), where momenta stand in the place of the speeds in a run by them."""
    for momenta in (False, True):
        ws = SimpleNamespace(
            q=np.array([1.0, 2.0]),
            u=np.array([3.0]),
            x=np.array([4.0, 5.0]),
            p=np.array([6.0]),
            head=SimpleNamespace(form=0),
        )
        y = np.full(7, 9.0)
        with pytest.MonkeyPatch.context() as patch:
            calls = Noted(patch, Y, in_momenta=momenta, form_speeds=0, form_momenta=0)
            assert Y.get_state(y, None, ws, 2.0) == 0 and y.tolist() == [
                1,
                2,
                6 if momenta else 3,
                4,
                5,
                9,
                9,
            ]
            ws.q[:], ws.x[:], ws.u[:], ws.p[:] = 0.0, 0.0, 0.0, 0.0
            assert Y.put_state(None, ws, 2.0, y) == 0
            assert (*ws.q, *ws.x, *ws.u, *ws.p) == (1, 2, 4, 5, *((0, 6) if momenta else (3, 0)))
            assert [each for each in calls.told if each != "in_momenta"] == (
                ["form_momenta 2", "form_speeds 2"] if momenta else []
            )
            for name in ("form_speeds", "form_momenta"):
                Noted(patch, Y, in_momenta=momenta, **{name: 4})
            assert (
                Y.get_state(y, None, ws, 2.0)
                == Y.put_state(None, ws, 2.0, y)
                == (4 if momenta else 0)
            )


def test_time_laws_are_evaluated_between_two_times():
    ws = SimpleNamespace(head=SimpleNamespace(sided=0.0, read_from=1.0, read_until=2.0))
    assert [Y.sided_time(ws, t) for t in (0.5, 1.5, 2.5)] == [0.5, 1.5, 2.5]
    ws.head.sided = 1.0
    assert [Y.sided_time(ws, t) for t in (0.5, 1.5, 2.5)] == [1.0, 1.5, 2.0]


def test_default_engine_is_created_only_if_needed(monkeypatch):
    for form, states, given, needs in (
        (0, 0, 0, True),
        (3, 0, 0, False),
        (3, 1, 0, True),
        (3, 0, 1, True),
    ):
        model, ws = (
            SimpleNamespace(header=SimpleNamespace(given=given)),
            SimpleNamespace(head=SimpleNamespace(form=form), x=np.zeros(states)),
        )
        assert Y.needs_engine(model, ws) == needs
        calls = Noted(monkeypatch, Y, velocities=0)
        Y.velocities_if_given(model, ws)
        assert calls.told == (["velocities"] if given else [])


@pytest.mark.parametrize("fails", ["", "put_state", "load", "accelerations_of", "finish"])
def test_state_rates_match_formulas(monkeypatch, fails):
    """Coordinates, speeds, states, and the power of the loads at the end; each part is asked for where it is needed."""
    rows = [
        (0, 0, 1, 0, 0, 0),
        (0, 0, 0, 1, 1, 0),
        (0, 1, 1, 0, 1, 0),
        (5, 0, 1, 0, 1, 0),
        (7, 0, 1, 0, 1, 0),
        (0, 0, 1, 0, 1, 3),
        (0, 0, 1, 0, 0, 3),
    ]
    for own, on, forces, reactions, states, form in rows:
        ws = SimpleNamespace(
            q=np.zeros(1),
            u=np.zeros(2),
            x=np.zeros(states),
            udot=np.array([5.0, 6.0]),
            xdot=np.array([7.0]),
        )
        ws.head = SimpleNamespace(on_constraints=float(on), form=float(form), sided=0.0)
        model = SimpleNamespace(
            header=SimpleNamespace(own=own, forces=forces, reactions=reactions, given=0)
        )
        calls = Noted(
            monkeypatch, Y, "put_state", "project_constraints", "load", "accelerations_of", "reactions", "finish", "velocities_if_given", fails=fails,
            specialised_rates=own == 7, coordinate_rates=lambda out, model, ws: out.__setitem__(0, 4.0), load_power=8.0, rates_by_form=0,
        )  # fmt: skip
        ydot = np.zeros(4 + states)
        status = Y.rates(ydot, model, ws, 2.0, np.zeros(4 + states))
        if own == 7:
            assert status == 0 and calls.told[-1] == "specialised_rates 2"
            continue
        whole = [
            "put_state 2",
            *(["specialised_rates 2"] if own else []),
            *(["project_constraints 2"] if on else []),
            "load 2",
        ]
        whole += ["accelerations_of"] if form == 0 or states else []
        whole += ["coordinate_rates", *([] if forces else ["velocities_if_given"]), "load_power"]
        whole += [*(["reactions"] if reactions else []), "finish"] if states else []
        names = [each.split()[0] for each in whole]
        if fails == "put_state":
            assert (
                status == FAILURE and "load 2" not in calls.told and "load_power" not in calls.told
            )
        elif fails in names:
            assert status == FAILURE and calls.told == whole[: names.index(fails) + 1]
        else:
            assert (
                status == 0
                and calls.told == whole + (["rates_by_form 2"] if form else [])
                and ydot.tolist() == [4, 5, 6, *[7] * states, 8]
            )


def test_literal_form_rates_are_speeds_or_momentum_rates(monkeypatch):
    ws = SimpleNamespace(
        q=np.zeros(2), u=np.zeros(2), udot=np.array([1.0, 2.0]), pdot=np.array([3.0, 4.0])
    )
    for momenta, expected in ((False, [0, 0, 1, 2]), (True, [0, 0, 3, 4])):
        Noted(monkeypatch, Y, form_rates=4, in_momenta=momenta)
        out = np.zeros(4)
        assert Y.rates_by_form(out, None, ws, 2.0) == 4 and out.tolist() == expected


@pytest.mark.parametrize("fails", ["", "load", "look", "accelerations_of", "finish"])
def test_guards_evaluate_only_needed_stages(monkeypatch, fails):
    for late, closed, reactions in ((0, False, 1), (1, False, 1), (1, False, 0), (0, True, 1)):
        model = SimpleNamespace(header=SimpleNamespace(late_guards=late, reactions=reactions))
        calls = Noted(
            monkeypatch,
            Y,
            "load",
            "look",
            "accelerations_of",
            "reactions",
            "finish",
            "write_indicators",
            any_closed=closed,
            fails=fails,
        )
        status = Y.evaluate_guards(model, None, 2.0)
        deep = late or closed
        whole = (
            ["load 2", "accelerations_of", *(["reactions"] if reactions else []), "finish"]
            if deep
            else ["look 2"]
        )
        names = [each.split()[0] for each in whole]
        assert status == (FAILURE if fails in names else 0)
        found = [each for each in calls.told if each != "any_closed"]
        assert found == [
            *whole[: names.index(fails) + 1 if fails in names else None],
            "write_indicators",
        ]


def test_guards_are_read_at_any_status(monkeypatch):
    made = HandMade(guard(register=4), guard(register=2))
    made.ws.val[:] = np.arange(20.0)
    for fails, told in (
        ("", ["put_state 2", "evaluate_guards 2"]),
        ("put_state", ["put_state 2"]),
        ("evaluate_guards", ["put_state 2", "evaluate_guards 2"]),
    ):
        calls, out = Noted(monkeypatch, Y, "put_state", "evaluate_guards", fails=fails), np.zeros(2)
        assert Y.event_indicators(out, (made.model, made.ws), 2.0, np.zeros(1)) == (
            FAILURE if fails else 0
        )
        assert calls.told == told and out.tolist() == [4, 2]


def test_missing_states_keep_values():
    """Entries of (q, u, x) by their maps, there and back; rates of what is not there are zero."""
    run = tree()
    I, _, W = blocks(run)
    ws = SimpleNamespace(q=np.arange(1.0, 8.0), u=np.arange(11.0, 18.0), x=np.array([21.0]))
    ws.ydot, ws.udot, ws.xdot = -ws.q, -ws.u, -ws.x
    assert [U.state_entry(ws, k) for k in (0, 6, 7, 13, 14)] == [1, 7, 11, 17, 21]
    assert [U.state_rate(ws, k) for k in (-1, 0, 6, 7, 13, 14)] == [0, -1, -7, -11, -17, -21]
    for k in (0, 6, 7, 13, 14):
        U.set_state_entry(ws, k, 99.0)
    assert (
        ws.q[[0, 6]].tolist() == ws.u[[0, 6]].tolist() == [99, 99]
        and ws.x.tolist() == [99]
        and ws.q[1] == 2
        and ws.u[1] == 12
    )
    at = int(U.stage_record(I, W).states)
    kept = I[at + 3], I[at + 6]
    I[at + 3] = I[at + 6] = -1
    try:
        before = np.array(W[I.at_states : I.at_states + 14])
        U.save_states(I, W, ws)
        saved = np.array(W[I.at_states : I.at_states + 14])
        assert saved[[3, 6]].tolist() == before[[3, 6]].tolist() and saved[
            [0, 1, 2, 7]
        ].tolist() == [99, 2, 3, 99]
        ws.q[:] = 0.0
        U.load_states(I, W, ws)
        assert ws.q.tolist() == [99, 2, 3, 0, 5, 6, 0]
    finally:
        I[at + 3], I[at + 6] = kept
