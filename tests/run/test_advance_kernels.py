"""An advance piece by piece: when it goes on, when it stops and with what, over integrators and mechanisms that only note that they are asked."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from noted_calls import FAILURE, Noted
from plain_kernels import plain
from unit_stand_in import entries

from kinetree.solvers import unit_layout as U
from kinetree.solvers.integrate.kinds import AUTO, CODES
from kinetree.solvers.layout import Status
from kinetree.solvers.model_records import GUARD

M, G, C, X = (
    plain("run.advance"),
    plain("events.guard_state"),
    plain("integrate.controller"),
    plain("instance.integrators"),
)
INF = math.inf
EVENT, CHATTERING = Status.EVENT, Status.CHATTERING
ADAMS, RK4, RADAU = CODES["adams"], CODES["rk4"], CODES["radau"]


def memory(n: int = 3, t: float = 2.0, kind: int = ADAMS) -> np.ndarray:
    """Memory of an integrator that stands at t with the state 1, 2, 3, ..., by a step of 0.5."""
    mem = np.zeros(C.HEADER + C.BLOCKS * n)
    C.set_options(mem, n, 1e-3, 1e-2, 0.0, 0.0)
    mem[C.T_OLD], mem[C.T_NEW], mem[C.H], mem[X.KIND] = t - 0.5, t, 0.5, kind
    C.state_of(mem)[:] = np.arange(1.0, n + 1)
    C.block(mem, C.Y_OLD)[:] = -np.arange(1.0, n + 1)
    return mem


def locator(guards: int) -> Any:
    """Cleared memory of a root finder for some guards and two states."""
    ev = U.LOCATOR.of(np.zeros(G.locator_size(guards, 2)))
    ev.guards, ev.states = guards, 2
    return ev


def head(**values: float) -> SimpleNamespace:
    return SimpleNamespace(
        **{
            "sided": 0.0,
            "read_from": 0.0,
            "read_until": 0.0,
            "on_constraints": 0.0,
            "item": 5.0,
        }
        | values
    )


def mechanism(
    loops: int = 0, contacts: int = 0, knots: int = 0
) -> tuple[SimpleNamespace, SimpleNamespace]:
    model = SimpleNamespace(
        l_kind=np.zeros(loops),
        c_law=np.zeros(contacts),
        header=SimpleNamespace(knots=knots, guards=2),
        guards=np.zeros(2 * GUARD.size),
    )
    return model, SimpleNamespace(head=head(), q=np.array([1.0]), u=np.array([2.0]))


def test_steps_continue_until_stop_request_or_budget():
    for cancel, used, status, left in (
        (0, 3, 0, 0),
        (1, 3, Status.CANCELLED, 0),
        (0.5, 9, Status.CANCELLED, 0),
        (0, 4, 5, 0),
        (0, 5, 5, 0),
    ):
        W = SimpleNamespace(cancel=cancel, used=used, budget=4)
        assert M.check_step_budget(W) == status and W.cancel == left


def test_step_ends_at_discontinuity_after_all_rows():
    rows = [  # knot, target, status, time of the event -> at the corner
        (2.0, 3.0, 0, 0.0, True), (2.0 + 1.9e-12, 3.0, 0, 0.0, True), (2.0 - 1.9e-12, 3.0, 0, 0.0, True), (2.0 + 3e-12, 3.0, 0, 0.0, False),
        (-INF, 3.0, 0, 0.0, False), (INF, 3.0, 0, 0.0, False), (2.0, 2.0, 0, 0.0, True), (2.0, 2.0 - 1.9e-12, 0, 0.0, True),
        (2.0, 2.0 - 3e-12, 0, 0.0, False), (2.0, 3.0, EVENT, 2.0, True), (2.0, 3.0, EVENT, 2.0 - 1.9e-12, True), (2.0, 3.0, EVENT, 1.9, False),
        (2.0, 3.0, 2, 2.0, False), (2.0, 3.0, CHATTERING, 2.0, False),
    ]  # fmt: skip
    for knot, target, status, happened, there in rows:
        ev = locator(0)
        ev.event_time = happened
        assert (
            M.has_reached_breakpoint(SimpleNamespace(knot=knot), memory(), ev, target, status)
            == there
        )


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("soft", [0.0, 1.0])
def test_step_ends_at_next_discontinuity(monkeypatch, fixed, soft):
    """At the target first, unless that misses the corner by rounding, or steps may pass it. Methods of fixed step look for jumps alone."""
    for knot, target, goal in (
        (2.5, 3.0, 2.5),
        (2.5, 2.4, 2.5 if soft else 2.4),
        (3.0, 3.0, 3.0 if soft else 3.0),
        (2.5, 2.5 + 2e-12, 2.5 if soft else None),
    ):
        model, ws = mechanism(knots=1)
        W, mem = (
            SimpleNamespace(knot=0.0, turned=1.0, soft=soft),
            memory(kind=RK4 if fixed else ADAMS),
        )
        mem[C.H_GIVEN] = 0.1
        calls = Noted(
            monkeypatch,
            M,
            next_breakpoint=lambda *_, knot=knot: knot,
            next_velocity_jump=lambda *_, knot=knot: knot,
            step=lambda *_: 0,
        )
        assert M.step_towards(W, mem, model, ws, target) == 0
        within = min(target + 1e-12 * target, 2.5)
        assert calls.told == [
            f"next_velocity_jump 2 {within:g}" if fixed else "next_breakpoint 2",
            f"step {target if goal is None else goal:g}",
        ]
        assert W.knot == knot and (ws.head.sided, ws.head.read_from, ws.head.read_until) == (
            1.0,
            1.0 + 1e-12,
            knot - 1e-12 * knot,
        )
        hard = (
            1.0 - soft
            if goal in (target, None) and not soft and not knot < target - 1e-12 * target
            else 1.0
        )
        assert mem[C.HARD] == hard


def test_step_without_discontinuity_ahead_is_unlimited(monkeypatch):
    for soft, goal, hard in ((1.0, INF, 0.0), (0.0, 3.0, 1.0)):
        model, ws = mechanism(knots=1)
        W, mem, goals = SimpleNamespace(knot=0.0, turned=-INF, soft=soft), memory(), []
        Noted(
            monkeypatch,
            M,
            next_breakpoint=INF,
            step=lambda mem, context, limit, goals=goals: goals.append(limit) or 0,
        )
        assert (
            M.step_towards(W, mem, model, ws, 3.0) == 0 and goals == [goal] and mem[C.HARD] == hard
        )
        assert (ws.head.read_from, ws.head.read_until) == (-INF, INF)


def test_discontinuities_are_searched_from_time_of_evaluation(monkeypatch):
    """A jump within five steps of a method of fixed step at most, or up to the target, that one included."""
    model, ws = mechanism(knots=1)
    ws.head.sided, ws.head.read_from, ws.head.read_until = 1.0, 2.25, INF
    asked = []
    Noted(
        monkeypatch,
        M,
        step=0,
        next_velocity_jump=lambda *rest: asked.append(rest[2:]) or INF,
        next_breakpoint=lambda *rest: asked.append(rest[2:]) or INF,
    )
    W = SimpleNamespace(knot=0.0, turned=-INF, soft=0.0)
    for kind, target, expected in (
        (RK4, 9.0, (2.25, 2.75)),
        (RK4, 2.5, (2.25, 2.5 + 2.5e-12)),
        (ADAMS, 2.5, (2.25, 0)),
    ):
        ws.head.read_from, ws.head.read_until = 2.25, INF
        mem = memory(kind=kind)
        mem[C.H_GIVEN] = 0.1
        M.step_towards(W, mem, model, ws, target)
        assert asked.pop() == expected
    calls = Noted(monkeypatch, M, step=3)
    assert M.step_towards(SimpleNamespace(), memory(), *mechanism(), 7.0) == 3 and calls.told == [
        "step 7"
    ]


def test_only_radau_on_loops_repeats_a_step_with_projection():
    for kind, loops, on, can in (
        (RADAU, 1, 0.0, True),
        (ADAMS, 1, 0.0, False),
        (RADAU, 0, 0.0, False),
        (RADAU, 1, 1.0, False),
    ):
        model, ws = mechanism(loops)
        ws.head.on_constraints = on
        assert M.can_project(memory(kind=kind), model, ws) == can


@pytest.mark.parametrize("k", range(4))
def test_state_drift_is_detected_at_twenty_tolerances(k):
    """As the root mean square over five numbers, the last one the work, which does not count."""
    sizes = np.array([1.0, 2.0, 3.0, -4.0])
    border = 20.0 * math.sqrt(5.0) * (1e-2 + 1e-3 * abs(sizes))
    mem = memory(5)
    C.state_of(mem)[:] = *sizes, 5.0
    C.block(mem, C.ATOL)[4] = 0.0
    for part, other, far in (
        (0.999, 0.0, False),
        (1.001, 0.0, True),
        (-0.999, 0.0, False),
        (-1.001, 0.0, True),
        (math.nan, 0.0, True),
        (0.8, 0.59, False),
        (0.8, 0.61, True),
    ):
        state = sizes.copy()
        state[k] += part * border[k]
        state[3 - k] += other * border[3 - k]
        assert M.is_far_off(mem, SimpleNamespace(q=state[:2], u=state[2:])) == far


CLOSING = ["put_state 2", "project_near 2", "project_closed_contacts 2", "get_state 2", "changed"]


@pytest.mark.parametrize("loops", [0, 1])
@pytest.mark.parametrize(
    "fails", ["", "put_state", "project_near", "project_closed_contacts", "get_state", "changed"]
)
def test_new_state_is_projected_and_taken_over(monkeypatch, loops, fails):
    model, ws = mechanism(loops, 1)
    whole = [each for each in CLOSING if loops or not each.startswith("project_near")]
    calls = Noted(monkeypatch, M, *(each.split()[0] for each in CLOSING), fails=fails)
    names = [each.split()[0] for each in whole]
    assert M.close_step(memory(), (model, ws)) == (FAILURE if fails in names else 0)
    assert calls.told == whole[: names.index(fails) + 1 if fails in names else None]
    ws.head.sided, ws.head.read_from, ws.head.read_until = 1.0, 2.5, INF
    calls = Noted(monkeypatch, M, *(each.split()[0] for each in CLOSING))
    M.close_step(memory(), (model, ws))
    assert calls.told == [each.replace(" 2", " 2.5") for each in whole]


@pytest.mark.parametrize(
    "fails, strays, again",
    [
        ("", False, False),
        ("", True, True),
        ("project_near", False, True),
        ("project_near", True, True),
    ],
)
def test_drifting_step_is_repeated_on_constraints(monkeypatch, fails, strays, again):
    """From where it began, on the constraints from then on."""
    model, ws = mechanism(1)
    calls = Noted(
        monkeypatch,
        M,
        *(each.split()[0] for each in CLOSING),
        fails=fails,
        is_far_off=strays,
        restart=0,
    )
    mem = memory(kind=RADAU)
    assert M.close_step(mem, (model, ws)) == 0
    assert (
        ("restart" in calls.told) == again
        and ("changed" in calls.told) != again
        and ws.head.on_constraints == float(again)
    )
    assert C.time_of(mem) == (1.5 if again else 2.0) and C.state_of(mem).tolist() == (
        [-1.0, -2.0, -3.0] if again else [1.0, 2.0, 3.0]
    )


def test_chatter_error_names_the_guard_fired_most_often():
    ev = locator(4)
    for fired, often, which in (
        ((0, 0, 0, 0), (9, 9, 9, 9), -1), ((0, 1, -1, 1), (9, 2, 3, 2), 2), ((1, 1, 0, 0), (3, 3, 0, 0), 0), ((0, 0, 0, 1), (0, 0, 0, 0), 3),
        ((1, 0, 0, 1), (0, 0, 0, 5), 3),
    ):  # fmt: skip
        entries(ev, "mark")[:], entries(ev, "quick_events")[:] = fired, often
        assert M.find_chattering_guard(ev) == which


@pytest.mark.parametrize(
    "status, target, event, t, inside, item",
    [
        (0, 1.75, 9.0, 1.75, True, 5), (0, 2.0, 9.0, 2.0, False, 5), (EVENT, 9.0, 1.6, 1.6, True, 5), (EVENT, 9.0, 2.0, 2.0, False, 5),
        (CHATTERING, 9.0, 1.6, 1.6, True, 1), (3, 1.75, 1.6, 2.0, False, 8),
    ],
)  # fmt: skip
def test_advance_ends_at_target_event_or_last_step(
    monkeypatch, status, target, event, t, inside, item
):
    """At the target, the event, or the last step where it failed; state and work are those of that instant."""
    model, ws = mechanism()
    mem, placed = memory(), []
    mem[C.LIPSCHITZ] = 40.0
    ev = locator(2)
    ev.event_time = event
    entries(ev, "mark")[:] = 0.0, 1.0
    I = SimpleNamespace(at_scratch=U.UNIT_HEAD.size)
    W = U.UNIT_HEAD.of(np.zeros(U.UNIT_HEAD.size + 3))
    monkeypatch.setattr(
        M,
        "find_cause",
        lambda model, ws, status: setattr(ws.head, "item", 8.0) or status + (status == 3),
    )
    monkeypatch.setattr(
        M, "interpolate", lambda y, mem, t: y.__setitem__(slice(None), (10.0 * t, 0.0, 20.0 * t))
    )
    for found in (0, 7):
        monkeypatch.setattr(
            M, "put_state", lambda model, ws, t, y, found=found: placed.append((t, *y)) or found
        )
        expected = status + 1 if item == 8 else status or found
        assert M.finish_run(I, W, mem, ev, model, ws, target, int(status)) == expected
        state = (10.0 * t, 0.0, 20.0 * t) if inside else (1.0, 2.0, 3.0)
        assert placed[-1] == (t, *state) and (W.time, W.work, W.item, W.fastest, W.last_step) == (
            t,
            state[2],
            item,
            40.0,
            0.5,
        )
        assert ws.head.read_until == INF


def advancing(monkeypatch, outcomes: list[int], fails: str = "", **values: float):
    """A unit whose runs end as told, one after another."""
    ends = iter(outcomes)
    calls = Noted(
        monkeypatch, M, "close_at_event", "refresh", "close_output_state", "hold_inputs", "set_input_slopes", fails=fails,
        run_structure=lambda *_: next(ends), handle_located_events=lambda I, F, W, t: setattr(W, "events", W.events + 1) or 0, structure=(None, None),
        begin_input_motion=bool(values.pop("sloped", 0)),
    )  # fmt: skip
    W = SimpleNamespace(
        **{"pending": 0.0, "status": 9.0, "time": 2.0, "events": 0.0, "told": 0.0} | values
    )
    return calls, SimpleNamespace(logged=4), W


def test_advance_executes_events(monkeypatch):
    calls, I, W = advancing(monkeypatch, [EVENT, EVENT, 0])
    assert M.advance(I, None, W, 3.0, 0) == 0 and (W.status, W.pending) == (0, 0)
    loop = ["structure", "run_structure 3", "handle_located_events 2"]
    assert calls.told == [
        "begin_input_motion",
        *loop,
        *loop,
        *loop[:2],
        "close_output_state 3",
        "refresh 3",
    ]
    calls, I, W = advancing(monkeypatch, [EVENT, 0], sloped=1)
    assert M.advance(I, None, W, 3.0, 0) == 0
    assert calls.told == [
        "begin_input_motion",
        "structure",
        "set_input_slopes",
        "run_structure 3",
        "handle_located_events 2",
        "structure",
        "set_input_slopes",
        "run_structure 3",
        "close_output_state 3",
        "refresh 3",
        "hold_inputs",
    ]
    for fails, last in (
        ("handle_located_events", "handle_located_events 2"),
        ("close_output_state", "close_output_state 3"),
        ("refresh", "refresh 3"),
    ):
        calls, I, W = advancing(monkeypatch, [EVENT, 0], fails)
        assert (
            M.advance(I, None, W, 3.0, 0) == FAILURE
            and calls.told[-1] == last
            and (W.status, W.pending) == (FAILURE, 0)
        )
    calls, I, W = advancing(monkeypatch, [5])
    assert (
        M.advance(I, None, W, 3.0, 0) == 5 and calls.told[-1] == "run_structure 3" and W.status == 5
    )


def test_advance_stopped_at_event_keeps_inputs(monkeypatch):
    for fails, status in (("", EVENT), ("refresh", FAILURE)):
        calls, I, W = advancing(monkeypatch, [EVENT, 0], fails)
        assert M.advance(I, None, W, 3.0, U.STOP_AT_EVENT) == status and calls.told[-2:] == [
            "refresh 2",
            "hold_inputs",
        ]
        assert W.status == (FAILURE if fails else 0)


def test_advance_can_stop_before_and_after_events(monkeypatch):
    """Before one is carried out, again after it, each time with everything evaluated, and then goes on."""
    calls, I, W = advancing(monkeypatch, [EVENT, 0])
    option = U.STOP_AROUND_EVENT
    assert (
        M.advance(I, None, W, 3.0, option) == EVENT
        and W.pending == U.PENDING_EVENT
        and calls.told[-1] == "close_at_event"
        and W.status == 0
    )
    assert M.advance(I, None, W, 3.0, option) == EVENT and W.pending == U.PENDING_REST
    assert calls.told[-4:] == [
        "begin_input_motion",
        "structure",
        "handle_located_events 2",
        "close_at_event",
    ]
    assert (
        M.advance(I, None, W, 3.0, option) == 0
        and W.pending == 0
        and "run_structure 3" in calls.told[-4:]
    )
    calls, I, W = advancing(monkeypatch, [EVENT], "close_at_event")
    assert M.advance(I, None, W, 3.0, option) == FAILURE and (W.pending, W.status) == (0, FAILURE)
    calls, I, W = advancing(monkeypatch, [0], pending=U.PENDING_EVENT)
    assert M.advance(I, None, W, 3.0, 0) == 0 and calls.told[1:4] == [
        "structure",
        "handle_located_events 2",
        "structure",
    ]


def test_advance_stops_before_event_log_is_full(monkeypatch):
    """When more than half of its places are new to the caller."""
    calls, I, W = advancing(monkeypatch, [EVENT] * 3 + [0], told=-0.0)
    assert (
        M.advance(I, None, W, 3.0, U.STOP_BEFORE_FULL) == EVENT
        and W.events == 3
        and W.pending == U.PENDING_REST
    )
    W.told = 3.0
    assert (
        M.advance(I, None, W, 3.0, U.STOP_BEFORE_FULL) == 0
        and calls.told.count("close_at_event") == 1
    )
    calls, I, W = advancing(monkeypatch, [EVENT] * 3 + [0])
    assert M.advance(I, None, W, 3.0, U.CONTINUED) == 0 and W.events == 3


class Stepping:
    """A run whose steps of 1 end where they are told; everything else is noted."""

    def __init__(
        self,
        monkeypatch,
        *,
        knots: tuple[float, ...] = (),
        located=lambda t: 0,
        step=lambda t: 0,
        fails: str = "",
        **what: float,
    ):
        self.mem = memory(t=0.0, kind=int(what.get("kind", ADAMS)))
        self.mem[C.H] = 1.0
        self.model, self.ws = mechanism(int(what.get("loops", 0)), int(what.get("contacts", 0)))
        self.ev = locator(2)
        self.I = SimpleNamespace(integrator=int(what.get("integrator", ADAMS)))
        self.W = SimpleNamespace(
            started=what.get("started", 1.0),
            soft=0.0,
            cancel=0.0,
            used=0.0,
            steps=10.0,
            budget=what.get("budget", 99.0),
            knot=-INF,
            turned=-INF,
        )
        self.late: list[float] = []

        def one(W, mem, model, ws, target):
            self.late.append(float(mem[C.LATE]))
            W.knot = knots[int(W.used)] if int(W.used) < len(knots) else -INF
            if (status := step(mem[C.T_NEW])) == 0:
                mem[C.T_NEW] += 1.0
            return status

        def turned(W, mem, model, ws):
            W.knot = -INF
            return 0

        self.calls = Noted(
            monkeypatch,
            M,
            "take_changed_inputs",
            "close_step",
            "restart_on_constraints",
            "maybe_switch_method",
            "release_contacts_after_breakpoint",
            fails=fails,
            integrator_memory=lambda I, W: self.mem,
            locator_memory=lambda I, W: self.ev,
            start_stage=int(what.get("begins", 0)),
            store_inputs=int(what.get("moved", 0)),
            step_towards=one,
            pass_breakpoint=turned,
            is_constrained=bool(what.get("constrained", 0)),
            locate_event=lambda ev, *rest: located(self.mem[C.T_NEW]),
            finish_run=lambda *rest: int(rest[-1]),
        )

    def run(self, target: float = 2.0) -> tuple[int, list[str]]:
        status = M.run_structure(self.I, self.W, self.model, self.ws, target)
        return status, [
            each.split()[0]
            for each in self.calls.told
            if each.split()[0] not in ("integrator_memory", "locator_memory", "is_constrained")
        ]


FIRST, STEP = ["store_inputs", "locate_event"], ["step_towards", "locate_event"]


def test_run_steps_to_target(monkeypatch):
    stepping = Stepping(monkeypatch)
    assert stepping.run() == (0, [*FIRST, *STEP, *STEP, "finish_run"])
    assert (stepping.W.steps, stepping.W.used, stepping.mem[C.HARD]) == (
        12.0,
        2.0,
        1.0,
    ) and stepping.late == [0.0, 0.0]
    assert Stepping(monkeypatch, started=0.0).run(0.0) == (
        0,
        ["start_stage", "locate_event", "finish_run"],
    )
    assert Stepping(monkeypatch, started=0.0, begins=EVENT).run() == (
        EVENT,
        ["start_stage", "finish_run"],
    )
    assert Stepping(monkeypatch, moved=1).run(0.0) == (
        0,
        ["store_inputs", "take_changed_inputs", "locate_event", "finish_run"],
    )
    assert Stepping(monkeypatch, moved=1, fails="take_changed_inputs").run() == (
        FAILURE,
        ["store_inputs", "take_changed_inputs", "finish_run"],
    )
    assert Stepping(monkeypatch, budget=1.0).run() == (
        Status.TOO_MANY_STEPS,
        [*FIRST, *STEP, "finish_run"],
    )
    assert Stepping(monkeypatch, located=lambda t: EVENT if t > 0.5 else 0).run() == (
        EVENT,
        [*FIRST, *STEP, "finish_run"],
    )
    auto = Stepping(monkeypatch, integrator=AUTO)
    assert auto.run(1.0) == (0, [*FIRST, "maybe_switch_method", *STEP, "finish_run"])
    assert Stepping(monkeypatch, integrator=AUTO, fails="maybe_switch_method").run(1.0) == (
        FAILURE,
        [*FIRST, "maybe_switch_method", "finish_run"],
    )
    assert Stepping(monkeypatch, integrator=AUTO, budget=0.0).run(1.0) == (
        Status.TOO_MANY_STEPS,
        [*FIRST, "finish_run"],
    )


def test_steps_of_loop_mechanisms_are_projected(monkeypatch):
    closed = Stepping(monkeypatch, constrained=1)
    assert closed.run(1.0) == (
        0,
        [*FIRST, "step_towards", "close_step", "locate_event", "finish_run"],
    ) and closed.late == [1.0]
    assert Stepping(monkeypatch, constrained=1, fails="close_step").run(1.0) == (
        FAILURE,
        [*FIRST, "step_towards", "close_step", "finish_run"],
    )
    assert Stepping(monkeypatch, constrained=1, fails="step_towards").run(1.0) == (
        FAILURE,
        [*FIRST, "step_towards", "finish_run"],
    )


def test_failed_radau_step_on_loops_is_repeated_with_projection(monkeypatch):
    for kind, loops, status, names in (
        (
            RADAU,
            1,
            0,
            [
                "step_towards",
                "restart_on_constraints",
                "locate_event",
                "step_towards",
                "locate_event",
            ],
        ),
        (RADAU, 0, 4, ["step_towards"]),
        (ADAMS, 1, 4, ["step_towards"]),
    ):
        tries = iter((4, 0))
        stepping = Stepping(
            monkeypatch, kind=kind, loops=loops, step=lambda t, tries=tries: next(tries)
        )
        assert stepping.run(1.0) == (
            status,
            [*FIRST, *names, "finish_run"],
        ) and stepping.W.used == names.count("step_towards")


def test_discontinuities_are_applied_once_at_step_ends(monkeypatch):
    """And not once more; what is located there comes after it, and contacts are looked at behind it."""
    stepping = Stepping(monkeypatch, knots=(1.0,))
    assert (
        stepping.run() == (0, [*FIRST, *STEP, "pass_breakpoint", *STEP, "finish_run"])
        and stepping.ev.slopes_at == -INF
    )
    contacts = Stepping(monkeypatch, knots=(1.0,), contacts=1)
    assert contacts.run() == (
        0,
        [
            *FIRST,
            *STEP,
            "pass_breakpoint",
            "release_contacts_after_breakpoint",
            *STEP,
            "finish_run",
        ],
    )
    failing = Stepping(monkeypatch, knots=(1.0,), contacts=1, fails="pass_breakpoint")
    assert failing.run() == (FAILURE, [*FIRST, *STEP, "pass_breakpoint", "finish_run"])
    failing = Stepping(
        monkeypatch, knots=(1.0,), contacts=1, fails="release_contacts_after_breakpoint"
    )
    assert failing.run() == (
        FAILURE,
        [*FIRST, *STEP, "pass_breakpoint", "release_contacts_after_breakpoint", "finish_run"],
    )
    happens = Stepping(monkeypatch, knots=(1.0,), located=lambda t: EVENT if t > 0.5 else 0)
    happens.ev.event_time = 1.0
    assert happens.run() == (EVENT, [*FIRST, *STEP, "pass_breakpoint", "finish_run"])
    before = Stepping(monkeypatch, knots=(1.0,), located=lambda t: EVENT if t > 0.5 else 0)
    before.ev.event_time = 0.75
    assert before.run() == (EVENT, [*FIRST, *STEP, "finish_run"])
