"""How integrators begin, go on after events, and change; which inputs they have seen; over mechanisms that only note that they are asked."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from known_guards import G, Locator, one
from noted_calls import FAILURE, Noted
from plain_kernels import plain
from unit_stand_in import HandMade, guard

from kinetree.solvers import unit_layout as U
from kinetree.solvers.integrate.kinds import AUTO, CODES
from kinetree.solvers.layout import Guard, Status

B, D, V, J, C, X = (
    plain(name)
    for name in (
        "run.integrator_start",
        "events.event_handling",
        "run.input_changes",
        "run.input_changes",
        "integrate.controller",
        "instance.integrators",
    )
)
INF = math.inf
ADAMS, RK45, RADAU, RK4 = (CODES[name] for name in ("adams", "rk45", "radau", "rk4"))
CONTACT = int(Guard.CONTACT)


class Begun(HandMade):
    """A unit with a mechanism of 2 coordinates, 1 speed, 1 state, with the work 5 numbers, and 1 input; an integrator's memory of its own."""

    def __init__(self, *guards: list[int], knots: int = 0, followed: int = 0, inputs: int = 0):
        super().__init__(*guards, room=8)
        self.model.header.knots, self.model.header.followed = knots, followed
        self.ws = SimpleNamespace(
            q=np.array([1.0, 2.0]),
            u=np.array([3.0]),
            x=np.array([4.0]),
            p=np.zeros(1),
            val=np.zeros(9),
        )
        self.ws.head = SimpleNamespace(
            on_constraints=1.0,
            sloped=0.0,
            form=0.0,
            sided_time=0.0,
            read_from=0.0,
            read_until=0.0,
            item=5.0,
            given_at=0.0,
        )
        self.I.inputs, self.I.parameters, self.I.integrator = inputs, 2, ADAMS
        for name, value in {
            "time": 2.0,
            "work": 9.0,
            "soft": 1.0,
            "relative": 1e-3,
            "absolute": 1e-2,
            "step": 0.25,
            "largest_step": 0.5,
        }.items():
            setattr(self.W, name, value)
        self.mem = np.zeros(C.HEADER + 5 * C.BLOCKS)


def gets(y, model, ws, t) -> int:
    y[:4] = *ws.q, *ws.u, *ws.x
    return 0


@pytest.mark.parametrize(
    "kind, momenta", [(ADAMS, False), (RK4, False), (RK4, True), (RADAU, False)]
)
def test_integrator_options_are_set_at_start(monkeypatch, kind, momenta):
    """Fixed steps by methods of fixed step alone; the work of the loads is the last number, on which nothing depends."""
    made = Begun()
    made.W.refresh = 3.0
    Noted(monkeypatch, B, get_state=gets, in_momenta=momenta)
    assert B.set_integrator(made.I, made.W, made.model, made.ws, made.mem, kind) == 0
    assert made["scratch"][:5].tolist() == [1, 2, 3, 4, 9]
    assert C.block(made.mem, C.ATOL).tolist() == [1e-2] * 4 + [1e30]
    names = ("N", "RTOL", "H_MAX", "H_GIVEN", "NQ", "NU", "PASSIVE", "REFRESH")
    assert [made.mem[getattr(C, name)] for name in names] == [
        5,
        1e-3,
        0.5,
        0.25 if kind == RK4 else 0.0,
        2,
        -1 if momenta else 1,
        1,
        3,
    ]
    assert made.mem[X.KIND] == kind == made.W.kind and made.ws.head.on_constraints == 0.0
    Noted(monkeypatch, B, get_state=4, in_momenta=momenta)
    assert B.set_integrator(made.I, made.W, made.model, made.ws, made.mem, kind) == 4


@pytest.mark.parametrize(
    "integrator, inputs, soft, kind",
    [(AUTO, 0, 0, ADAMS), (AUTO, 1, 0, RK45), (AUTO, 1, 1, ADAMS), (RK4, 1, 0, RK4)],
)
def test_auto_selects_first_integrator(monkeypatch, integrator, inputs, soft, kind):
    """`auto`: one that forgets cheaply where inputs are set at every output, else the one for smooth motions."""
    made, kinds = Begun(inputs=inputs), []
    made.I.integrator, made.W.soft, made.W.turned = integrator, soft, 1.0
    calls = Noted(
        monkeypatch, B, "start", "store_inputs", set_integrator=lambda *rest: kinds.append(rest[-1]) or 0, apply_input_jump=lambda *_: (0, 0.5),
        start_event_location=Status.EVENT, read_after_breakpoint=0,
    )  # fmt: skip
    assert B.start_stage(
        made.I, made.W, made.model, made.ws, made.mem
    ) == Status.EVENT and kinds == [kind]
    assert [each.split()[0] for each in calls.told] == [
        "set_integrator",
        "start",
        "store_inputs",
        "start_event_location",
    ]
    assert made.W.started == 1.0 and made.W.knot == -INF and made.W.work == 9.0


@pytest.mark.parametrize("fails", ["", "apply_input_jump", "set_integrator", "start"])
def test_followed_inputs_move_before_first_step(monkeypatch, fails):
    made = Begun(knots=1, followed=1)
    made.W.turned = 1.0
    calls = Noted(
        monkeypatch, B, "start", "store_inputs", "read_after_breakpoint", "start_event_location", "set_integrator", fails=fails,
        apply_input_jump=lambda *_: (FAILURE if fails == "apply_input_jump" else 0, 0.5),
    )  # fmt: skip
    calls.fails = "" if fails == "apply_input_jump" else fails
    assert (
        B.start_stage(made.I, made.W, made.model, made.ws, made.mem) == (FAILURE if fails else 0)
        and made.W.work == 9.5
    )
    skipped = {
        "": (),
        "apply_input_jump": ("set_integrator", "start", "start_event_location"),
        "set_integrator": ("start", "start_event_location"),
        "start": ("start_event_location",),
    }
    whole = [
        "apply_input_jump 2",
        "set_integrator",
        "read_after_breakpoint 1",
        "start 2",
        "store_inputs",
        "start_event_location",
    ]
    assert calls.told == [each for each in whole if each.split()[0] not in skipped[fails]]


@pytest.mark.parametrize(
    "kind, stiff, smooth, inputs, soft, other",
    [
        (ADAMS, 24, 99, 0, 1, None), (ADAMS, 25, 0, 0, 1, RADAU), (RK45, 25, 0, 1, 0, RADAU), (RADAU, 99, 9, 0, 1, None),
        (RADAU, 99, 10, 0, 1, ADAMS),
        (RADAU, 0, 10, 1, 1, ADAMS), (RADAU, 0, 10, 1, 0, RK45), (RADAU, 0, 10, 0, 0, ADAMS),
    ],
)  # fmt: skip
@pytest.mark.parametrize("fails", ["", "put_state", "set_integrator", "start"])
def test_auto_switches_its_method(monkeypatch, kind, stiff, smooth, inputs, soft, other, fails):
    """At the state of the last step, with a step as long; later restarts choose their own."""
    made, given = Begun(inputs=inputs), []
    made.W.soft = soft
    C.set_options(made.mem, 5, 1e-3, 1e-2, 0.0, 0.0)
    made.mem[C.STIFF], made.mem[C.SMOOTH], made.mem[X.KIND], made.mem[C.T_NEW], made.mem[C.H] = (
        stiff,
        smooth,
        kind,
        3.0,
        0.125,
    )
    C.state_of(made.mem)[:] = 1.0, 2.0, 3.0, 4.0, 77.0
    calls = Noted(
        monkeypatch, B, fails=fails, put_state=lambda model, ws, t, y: given.append((t, *y)) or 0,
        set_integrator=lambda *rest: given.append(rest[-1]) or 0,
        start=lambda mem, context, t, y: given.append((mem[C.HARD], mem[C.H_GIVEN], t)) or 0,
    )  # fmt: skip
    status = B.maybe_switch_method(made.I, made.W, made.mem, (made.model, made.ws))
    if other is None:
        assert status == 0 and not calls.told and made.W.work == 9.0
        return
    whole = [(3.0, 1.0, 2.0, 3.0, 4.0, 77.0), other, (1.0 - soft, 0.125, 3.0)]
    assert (
        status == (FAILURE if fails else 0)
        and given == whole[: {"put_state": 1, "set_integrator": 2}.get(fails)]
    )
    assert (made.W.work, made.W.time, made.mem[C.H_GIVEN]) == (77.0, 3.0, 0.0)


@pytest.mark.parametrize(
    "fails, last", [("", "put_state"), ("get_state", "get_state"), ("restart", "restart")]
)
def test_motion_continues_after_event(monkeypatch, fails, last):
    """From the state that it left, with the work until then, at its instant inside the last step."""
    made = Begun(guard(kind=CONTACT, register=1))
    made.W.time = 2.25
    C.set_options(made.mem, 5, 1e-3, 1e-2, 0.0, 0.0)
    made.mem[C.T_NEW] = 3.0
    seen = []
    calls = Noted(
        monkeypatch,
        D,
        fails=fails,
        structure=lambda *_: (made.model, made.ws),
        integrator_memory=lambda *_: made.mem,
        locator_memory="ev",
        get_state=gets,
        interpolate=0,
        restart=0,
        put_state=0,
        sample_resting_contacts=0,
        resume_signs=lambda ev, guards, context, mem: seen.append((ev, mem[C.T_NEW])) or 0,
    )
    assert (
        D.resume_integration(made.I, None, made.W) == (FAILURE if fails else 0)
        and calls.told[-1].split()[0] == last
    )
    assert made.mem[C.T_NEW] == 2.25 and C.state_of(made.mem)[-1] == 9.0
    assert fails or (C.state_of(made.mem).tolist() == [1, 2, 3, 4, 9] and seen == [("ev", 2.25)])


@pytest.mark.parametrize(
    "fails, stage, told",
    [
        (
            "",
            0.0,
            ["close_at_event", "begin_located_instant", "run_cascade 2", "resume_integration"],
        ),
        ("", 1.0, ["close_at_event", "begin_located_instant", "run_cascade 2"]),
        ("close_at_event", 0.0, ["close_at_event"]),
        ("run_cascade", 0.0, ["close_at_event", "begin_located_instant", "run_cascade 2"]),
    ],
)
def test_located_events_are_executed(monkeypatch, fails, stage, told):
    """In a new structure the integrator starts anew, later."""
    made = Begun()
    calls = Noted(
        monkeypatch,
        D,
        "close_at_event",
        "begin_located_instant",
        "resume_integration",
        fails=fails,
        structure=lambda *_: (made.model, made.ws),
        integrator_memory=lambda *_: made.mem,
        locator_memory=made.ev,
        run_cascade=lambda I, F, W, t: setattr(W, "stage", stage) or 0,
    )
    assert D.handle_located_events(made.I, None, made.W, 2.0) == (FAILURE if fails else 0)
    assert [
        each
        for each in calls.told
        if each.split()[0] not in ("structure", "integrator_memory", "locator_memory")
    ] == told


def test_blocked_event_is_named(monkeypatch):
    """By the workspace; which event chatters has been told."""
    for status, item in (
        (Status.INCONSISTENT, 5.0),
        (Status.DRIVEN_TOGETHER, 5.0),
        (Status.CHATTERING, 3.0),
    ):
        made = Begun()
        made.W.item = 3.0
        Noted(
            monkeypatch,
            D,
            "close_at_event",
            "begin_located_instant",
            structure=lambda *_, made=made: (made.model, made.ws),
            integrator_memory=made.mem,
            locator_memory=made.ev,
            run_cascade=status,
        )
        assert D.handle_located_events(made.I, None, made.W, 2.0) == status and made.W.item == item


@pytest.mark.parametrize("fails", ["", "project_constraints", "refresh"])
def test_state_at_a_time_is_projected(monkeypatch, fails):
    made = Begun()
    calls = Noted(
        monkeypatch,
        D,
        "project_constraints",
        "refresh",
        fails=fails,
        structure=lambda *_: (made.model, made.ws),
    )
    assert D.close_at_event(made.I, None, made.W) == (FAILURE if fails else 0)
    assert calls.told == [
        "structure",
        "project_constraints 2",
        *([] if fails == "project_constraints" else ["refresh 2"]),
    ]


def test_resting_contacts_are_monitored_inside_steps(monkeypatch):
    """And those that hardly are apart; what else watches their registers does not."""
    kinds = ((CONTACT, 1), (CONTACT, 2), (CONTACT, 3), (0, 1), (0, 3))
    made, locator = (
        HandMade(*(guard(kind=kind, register=each) for kind, each in kinds)),
        Locator(*[one] * 5),
    )
    locator.part("sampled")[:] = 7.0
    monkeypatch.setattr(D, "monitors_resting_contact", lambda model, ws, register: register == 1)
    monkeypatch.setattr(D, "is_grazing", lambda model, ws, register: register == 3)
    D.sample_resting_contacts(made.model, made.ws, locator.ev)
    assert locator.part("sampled").tolist() == [1, 0, 1, 0, 0]


def test_open_contacts_at_zero_separate_after_discontinuity(monkeypatch):
    rows = [
        (CONTACT, 1, 1e-9),
        (CONTACT, 1, -1e-9),
        (CONTACT, 1, 1.1e-9),
        (CONTACT, 2, 0.0),
        (0, 1, 0.0),
    ]
    for status in (0, 4):
        made, locator = (
            HandMade(*(guard(kind=kind, register=register) for kind, register, _ in rows)),
            Locator(*([one] * 5)),
        )
        Noted(
            monkeypatch, D, monitored_margin=lambda model, ws, register: 0 if register == 2 else -1
        )
        monkeypatch.setattr(
            D,
            "event_indicators",
            lambda out, context, t, y, status=status: (
                out.__setitem__(slice(None), [row[2] for row in rows]) or status
            ),
        )
        assert (
            D.release_contacts_after_breakpoint(made.model, made.ws, locator.mem, locator.ev)
            == status
        )
        leaves = [k < 2 and status == 0 for k in range(5)]
        found = zip(
            *(locator.part(block).tolist() for block in ("sign", "phase", "band", G.VALUE)),
            strict=True,
        )
        assert list(found) == [
            (-1, G.LEAVING, 1e-9, 0) if each else (1, 0, 0, 1) for each in leaves
        ]


@pytest.mark.parametrize(
    "fails", ["", "reset_signs", "restore_conditions", "event_indicators", "resumed"]
)
def test_event_locator_starts_with_integrator(monkeypatch, fails):
    """All guards are watched for becoming true; what is recalled of this instant decides about their signs; registers end at the state itself."""
    made = Begun(guard(), guard())
    C.set_options(made.mem, 5, 1e-3, 1e-2, 0.0, 0.0)
    ev = made.ev
    calls = Noted(
        monkeypatch,
        D,
        "sample_resting_contacts",
        fails=fails,
        locator_memory=lambda I, W: ev,
        reset_signs=0,
        event_indicators=0,
        mark_initially_due=Status.EVENT,
        restore_conditions=fails == "resumed",
        resume_signs=FAILURE if fails == "resumed" else 0,
    )
    names = {
        "": ["event_indicators", "mark_initially_due"],
        "reset_signs": [],
        "restore_conditions": ["resume_signs", "event_indicators", "mark_initially_due"],
        "event_indicators": ["event_indicators"],
        "resumed": ["resume_signs"],
    }[fails]
    status = D.start_event_location(made.I, made.W, made.model, made.ws, made.mem)
    assert [each.split()[0] for each in calls.told] == [
        "locator_memory",
        "reset_signs",
        *(["restore_conditions"] if fails != "reset_signs" else []),
        *names,
    ] + (["sample_resting_contacts"] if "mark_initially_due" in names else [])
    assert status == (Status.EVENT if "mark_initially_due" in names else FAILURE) and made[
        "direction"
    ].tolist() == [1.0, 1.0]
    assert ev.event_time == (2.0 if "mark_initially_due" in names else 0.0)
    empty = Begun()
    calls = Noted(monkeypatch, D, locator_memory=lambda *_: ev, reset_signs=0)
    assert D.start_event_location(
        empty.I, empty.W, empty.model, empty.ws, made.mem
    ) == 0 and calls.told == ["locator_memory"]


def inputs(
    values=(1.0, 2.0), pending: float = 0.0, curved: float = 0.0, slopes=(0.0, 0.0)
) -> HandMade:
    made = Begun(inputs=2)
    made.ws.val[3:5] = values
    made.W.pending, made.W.curved, made.W.used, made.W.given_at = pending, curved, 3.0, 0.5
    return made.set(inputs=[1.0, 2.0, *[7.0] * 6], slopes=[*slopes, *[7.0] * 6])


def test_integrator_detects_changed_or_moving_inputs():
    for values, sloped, different in (
        ((1.0, 2.0), 0, 0),
        ((1.0, 2.5), 0, 1),
        ((0.5, 2.0), 0, 1),
        ((1.0, 2.0), 1, 1),
        ((1.0, 2.0), 2, 1),
    ):
        made = inputs(values)
        made.ws.head.sloped = sloped
        assert V.store_inputs(made.I, made.W, made.ws) == different and made["inputs"].tolist() == [
            *values,
            *[7.0] * 6,
        ]


@pytest.mark.parametrize("pending", [0.0, 2.0])
@pytest.mark.parametrize("option", [0, U.CONTINUED, U.STOP_AT_EVENT])
def test_advance_keeps_inputs_from_its_start(monkeypatch, pending, option):
    """An advance that goes on keeps what it began with; a further part of a communication step keeps what actuators hold."""
    for curved, slopes, sloped in (
        (0, (0, 0), False),
        (1, (0, 0), True),
        (0, (0, 0.5), True),
        (0, (0.5, 0), True),
    ):
        made = inputs((5.0, 6.0), pending, curved, slopes)
        calls = Noted(
            monkeypatch, V, "latch_actuators", structure=lambda *_, made=made: (made.model, made.ws)
        )
        assert V.begin_input_motion(made.I, None, made.W, option) == sloped
        begins = pending == 0.0
        assert ("latch_actuators" in calls.told) == (begins and option != U.CONTINUED)
        assert (made.W.given_at, made.W.used) == ((2.0, 0.0) if begins else (0.5, 3.0))
        assert made["given"].tolist() == ([5.0, 6.0] if begins else [7.0, 7.0]) + [7.0] * 6


def test_inputs_extrapolate_until_held(monkeypatch):
    made = inputs(slopes=(0.5, 0.25), curved=1.0).set(
        given=np.arange(8.0), curves=np.arange(8.0) * 10
    )
    made.ws.given, made.ws.slope, made.ws.curve = np.zeros(2), np.zeros(2), np.zeros(8)
    V.set_input_slopes(made.I, made.W, made.ws)
    assert (
        made.ws.given.tolist() == [0, 1]
        and made.ws.slope.tolist() == [0.5, 0.25]
        and made.ws.curve.tolist() == (np.arange(8.0) * 10).tolist()
    )
    assert (made.ws.head.given_at, made.ws.head.sloped) == (0.5, 2.0)
    made.W.curved = 0.0
    V.set_input_slopes(made.I, made.W, made.ws)
    assert made.ws.head.sloped == 1.0
    made.W.curved = 1.0
    Noted(monkeypatch, V, structure=lambda *_: (made.model, made.ws))
    V.hold_inputs(made.I, None, made.W)
    assert made.ws.head.sloped == made.W.curved == 0.0 and made["slopes"].tolist() == [
        0.0,
        0.0,
        *[7.0] * 6,
    ]


@pytest.mark.parametrize("contacts", [0, 1])
@pytest.mark.parametrize("fails", ["", "place_loops", "project", "apply_impacts"])
def test_couplings_follow_their_inputs(monkeypatch, contacts, fails):
    """Positions first, then speeds, whose work is that of the impulse, then what touches."""
    energies = iter((3.0, 10.0))
    calls = Noted(
        monkeypatch,
        J,
        "place_loops",
        "project",
        "apply_impacts",
        fails=fails,
        energy_of_motion=lambda *_: next(energies),
    )
    whole = [
        "place_loops 2",
        "energy_of_motion",
        "project 2",
        *(["apply_impacts 2"] if contacts else []),
        "place_loops 2",
        "energy_of_motion",
    ]
    expected = {
        "": whole, "place_loops": [*whole[:2], whole[-1]], "project": [*whole[:3], whole[-1]], "apply_impacts": [*whole[:4],
        whole[-1]] if contacts else whole
    }[fails]  # fmt: skip
    status, work = J.apply_input_jump(SimpleNamespace(c_law=np.zeros(contacts)), None, 2.0)
    assert (
        calls.told == expected and work == 7.0 and status == (0 if expected is whole else FAILURE)
    )


@pytest.mark.parametrize("kind", [ADAMS, RK45])
@pytest.mark.parametrize("followed", [0, 1])
@pytest.mark.parametrize("fails", ["", "put_state", "apply_input_jump", "get_state"])
def test_integrator_takes_over_changed_inputs(monkeypatch, kind, followed, fails):
    """One that remembers the past begins anew; the work of what follows is booked."""
    made = Begun(followed=followed)
    C.set_options(made.mem, 5, 1e-3, 1e-2, 0.0, 0.0)
    made.mem[X.KIND], made.mem[C.T_NEW] = kind, 2.0
    made.ws.head.sided, made.ws.head.read_from, made.ws.head.read_until = 1.0, 2.5, INF
    calls = Noted(
        monkeypatch, J, "put_state", "get_state", "restart", "changed", fails="" if fails == "apply_input_jump" else fails,
        apply_input_jump=lambda *_: (FAILURE if fails == "apply_input_jump" else 0, 0.5),
    )  # fmt: skip
    status = J.take_changed_inputs(made.mem, (made.model, made.ws))
    whole = ["put_state 2.5", "apply_input_jump 2.5", "get_state 2.5"]
    names = [each.split()[0] for each in whole]
    stop = names.index(fails) + 1 if fails else 3
    assert status == (FAILURE if fails and followed else 0)
    assert calls.told == (whole[:stop] if followed else []) + (
        [] if fails and followed else ["restart" if kind == ADAMS else "changed"]
    )
    assert C.state_of(made.mem)[-1] == (0.5 if followed and fails != "put_state" else 0.0)
