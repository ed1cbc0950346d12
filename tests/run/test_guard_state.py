"""What is kept of the guards at an instant and across a new start, guard by guard, from hand-made records."""

import math

import numpy as np
import pytest
from known_guards import G
from plain_kernels import plain
from unit_stand_in import EMPTY, HandMade, guard

from kinetree.solvers import layout as L
from kinetree.solvers.layout import Guard, Status

M = plain("events.guard_state")
RESET, STAGE, CONTACT = (int(each) for each in (Guard.RESET, Guard.STAGE, Guard.CONTACT))
LIFT = 1e-9


@pytest.fixture
def watched(monkeypatch) -> dict[int, int]:
    """By register of a guard: the margin of a closed contact that it shows; others show gaps."""
    found: dict[int, int] = {}
    monkeypatch.setattr(
        M, "monitored_margin", lambda model, ws, register: found.get(int(register), -1)
    )
    return found


def test_guard_codes_are_distinct():
    for codes in (L.GuardPhase, L.GuardMark, L.GuardVerdict, L.Condition, L.Contact, L.Impact):
        assert len({int(code) for code in codes}) == len(list(codes))


def test_opening_and_closed_contacts_count_as_fired():
    """A contact that was evaluated and has not opened does not."""
    made = HandMade(*([guard()] * 5))
    made.set(verdict=(G.NO_VERDICT, G.FIRED, G.EVALUATED_FALSE, G.FORCED_OPEN, G.WAS_CLOSED))
    fired = [M.has_fired(M.guard_state(made.ev, k)) for k in range(5)]
    assert fired == [False, True, False, True, True]


def test_located_guards_carry_noise_estimate():
    """Four times the value at the instant, and twice the way from the dense output to it; a sign that was not known is that of the value."""
    rows = [  # mark, sign, located, value -> mark, verdict, condition, noise
        ((1.0, 1.0, 0.25, 0.5), (1, 1, 1, 2.5)),
        ((1.0, -1.0, -0.25, 0.5), (1, 1, -1, 3.5)),
        ((0.0, 1.0, 0.5, -0.25), (0, 0, 1, 2.5)),
        ((0.0, 0.0, 0.0, -0.25), (0, 0, -1, 1.5)),
        ((0.0, 0.0, 0.0, 0.25), (0, 0, 1, 1.5)),
    ]
    made = HandMade(*([guard()] * len(rows)))
    given = np.array([row for row, _ in rows]).T
    made.set(mark=given[0], sign=given[1], guards=given[3])
    M.guard_values(made.ev, M.VALUE)[:] = given[2]
    M.begin_located_instant(made.I, made.W, made.model, made.ev)
    assert made.rows("mark", "verdict", "condition", "noise") == [expected for _, expected in rows]


def test_condition_truth_is_stored_per_described_event():
    made = HandMade(
        guard(event=2), guard(kind=STAGE, event=-4), guard(event=0), guard(event=3), events=5
    )
    made.set(
        verdict=(1.0, 1.0, 0.0, G.EVALUATED_FALSE),
        condition=(-1.0, -1.0, 1.0, -1.0),
        noise=(0.1, 0.2, 0.3, 0.4),
    )
    M.save_conditions(made.I, made.W, made.model)
    assert made["conditions"].tolist() == [
        1.0,
        0.3,
        EMPTY,
        EMPTY,
        G.JUST_FIRED,
        0.1,
        -1.0,
        0.4,
        EMPTY,
        EMPTY,
    ]
    made.set(sign=(-1.0, 1.0, 0.0, 1.0))
    M.save_signs(made.I, made.W, made.model)
    assert made["conditions"].tolist() == [
        0.0,
        0.0,
        EMPTY,
        EMPTY,
        -1.0,
        0.0,
        1.0,
        0.0,
        EMPTY,
        EMPTY,
    ]


def test_only_contacts_are_evaluated_at_start():
    made = HandMade(
        guard(kind=CONTACT, event=2),
        guard(kind=RESET, event=1),
        guard(kind=CONTACT, event=0),
        guard(kind=STAGE, event=-1),
        events=3,
    )
    M.mark_contacts_evaluated(made.I, made.W, made.model)
    assert made["conditions"].tolist() == [G.EVALUATED, EMPTY, EMPTY, EMPTY, G.EVALUATED, EMPTY]


def test_events_of_same_instant_are_remembered(watched):
    """Truth and its noise, value, whether the guard shows a margin -> met, noise."""
    rows = [
        ((G.JUST_FIRED, 0.25, 5.0, False), (1, 0.25)),
        ((1.0, 0.25, 0.0, False), (0, 0)),
        ((-1.0, 0.25, 0.0, False), (0, 0)),
        ((0.0, 0.25, 0.0, False), (0, 0)),
        ((G.EVALUATED, 0.25, 5.0, True), (G.EVALUATED_FALSE, 0)),
        ((G.EVALUATED, 0.25, LIFT, False), (G.FORCED_OPEN, LIFT)),
        ((G.EVALUATED, 0.25, -LIFT, False), (G.FORCED_OPEN, LIFT)),
        ((G.EVALUATED, 0.25, 1.1 * LIFT, False), (0, 0)),
    ]
    for row, (truth, noise, value, closed) in enumerate(given for given, _ in rows):
        made = HandMade(
            guard(register=3, kind=STAGE, event=-1), guard(register=4, event=1), events=2
        ).set(conditions=(EMPTY, EMPTY, truth, noise))
        watched.clear()
        watched.update({4: 0} if closed else {})
        expected = rows[row][1]
        assert M.restore_conditions(made.I, made.W, made.model, made.ws, [0.0, value]) == (
            expected[0] != 0
        )
        assert made.rows("verdict", "noise") == [(0.0, 0.0), expected]
    first = HandMade(guard(event=0), guard(event=1), events=2).set(
        conditions=(G.JUST_FIRED, 0.5, 0.0, 0.0)
    )
    assert M.restore_conditions(first.I, first.W, first.model, first.ws, [0.0, 0.0])


def test_events_due_at_stage_start():
    """Ends of stages whose condition holds, and events whose condition did not hold before and does now; then nothing is kept any more."""
    ends, waits = guard(kind=STAGE, event=-1 - 3), guard(kind=STAGE, event=-1 - 4)
    made = HandMade(ends, waits, *(guard(event=k) for k in range(5)), events=5)
    made.ws.val[3] = 1.0
    known = [(-1, 0.5), (-1, 0.5), (1, 0.5), (0, 0.5), (G.JUST_FIRED, 0.5)]
    made.set(conditions=np.array(known).ravel())

    def due(*values: float) -> tuple[int, list[float]]:
        status = M.mark_initially_due(made.I, made.W, made.model, made.ws, values)
        return status, made["mark"].tolist()

    assert due(-1.0, 1.0, 0.1, 0.0, 0.1, 0.1, 0.1) == (Status.EVENT, [1, 0, 1, 0, 0, 0, 0])
    assert not made["conditions"].any()
    made.ws.val[3] = 0.0
    assert due(*[1.0] * 7) == (0, [0] * 7)
    made.ws.val[4] = -1.0
    assert due(*[1.0] * 7) == (Status.EVENT, [0, 1, 0, 0, 0, 0, 0])


def test_host_arms_negative_guards():
    made = HandMade(
        guard(event=0),
        guard(event=1),
        guard(event=2),
        guard(kind=STAGE, event=-4),
        guard(kind=STAGE, event=-5),
        events=3,
    )
    made.ws.val[3] = 1.0
    made.set(guards=(-0.1, 0.0, 0.1, 0.2, 0.2))
    M.arm_guards(made.I, made.W, made.model, made.ws)
    assert made["armed"].tolist() == [1, 0, 0, 1, 0]


def test_host_does_not_arm_guards_at_zero(
    monkeypatch,
):
    monkeypatch.setattr(M, "monitors_separating_contact", lambda model, ws, register: register == 9)
    made = HandMade(*(guard(register=9 if k == 5 else k) for k in range(7)))
    made.set(
        guards=(0.5, -0.5, 0.6, 0.1, 0.1, 0.1, 0.1),
        verdict=(1, G.FORCED_OPEN, 1, 0, G.EVALUATED_FALSE, 1, G.WAS_CLOSED),
        noise=0.5,
        armed=1.0,
    )
    M.disarm_at_bounds(made.I, made.W, made.model, made.ws)
    assert made["armed"].tolist() == [0, 0, 1, 1, 1, 1, 0]


def test_values_before_host_events_are_stored_and_compared():
    made = HandMade(*([guard()] * 4)).set(guards=(0.5, -0.5, 0.0, 0.25), mark=(1.0, 0.0, 3.0, 0.0))
    M.note_guard_values(made.I, made.W, made.model)
    assert made.rows("verdict", "noise") == [(0, 0.5), (0, -0.5), (0, 0.0), (0, 0.25)]
    made.set(guards=(0.75, -0.5, 0.0, -0.25))
    M.begin_host_instant(made.I, made.W, made.model)
    assert made.rows("verdict", "condition", "noise") == [
        (1, 1, 3.5),
        (0, -1, 2.0),
        (1, 1, 0.0),
        (0, -1, 2.0),
    ]
    assert math.isclose(M.RELEASE_DISTANCE, LIFT)
