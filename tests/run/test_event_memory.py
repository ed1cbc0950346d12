"""What is kept of the guards at an instant and across a new start, guard by guard, from hand-made records."""

import math

import numpy as np
import pytest
from known_guards import Locator, S, one
from plain_kernels import plain
from unit_stand_in import EMPTY, HandMade, guard

from kinetree.solvers.layout import Guard, Status
from kinetree.solvers.unit_layout import CLOSED, DUE, JUDGED, NOT_YET, TRUE_NOW

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


def test_guard_states_have_distinct_codes():
    assert (
        len({NOT_YET, 0, 1, DUE, CLOSED}) == 5
        and len({-1, 0, 1, TRUE_NOW, JUDGED}) == 5
        and NOT_YET < 0 < min(DUE, CLOSED)
    )


def test_located_guards_carry_noise_estimate():
    """Four times the value at the instant, and twice the way from the dense output to it; a sign that was not known is that of the value."""
    rows = [  # crossed, sign, located, value -> fired, met, held, noise
        ((1.0, 1.0, 0.25, 0.5), (1, 1, 1, 2.5)),
        ((-1.0, -1.0, -0.25, 0.5), (1, 1, -1, 3.5)),
        ((0.0, 1.0, 0.5, -0.25), (0, 0, 1, 2.5)),
        ((0.0, 0.0, 0.0, -0.25), (0, 0, -1, 1.5)),
        ((0.0, 0.0, 0.0, 0.25), (0, 0, 1, 1.5)),
    ]
    locator, made = Locator(*([one] * len(rows))), HandMade(*([guard()] * len(rows)))
    given = np.array([row for row, _ in rows]).T
    locator.part(S.FIRED)[:], locator.part(S.SIGN)[:], locator.part(S.VALUE)[:] = given[:3]
    made.set(guards=given[3])
    M.begin_located_instant(made.I, made.W, made.model, locator.ev)
    assert made.rows("fired", "met", "held", "noise") == [expected for _, expected in rows]


def test_truth_is_kept_by_event_of_the_description():
    made = HandMade(
        guard(event=2), guard(kind=STAGE, event=-4), guard(event=0), guard(event=3), events=5
    )
    made.set(met=(1.0, 1.0, 0.0, NOT_YET), held=(-1.0, -1.0, 1.0, -1.0), noise=(0.1, 0.2, 0.3, 0.4))
    M.save_conditions(made.I, made.W, made.model)
    assert made["truth"].tolist() == [
        1.0,
        0.3,
        EMPTY,
        EMPTY,
        TRUE_NOW,
        0.1,
        -1.0,
        0.4,
        EMPTY,
        EMPTY,
    ]
    locator = Locator(*([one] * 4))
    locator.part(S.SIGN)[:] = -1.0, 1.0, 0.0, 1.0
    M.save_signs(made.I, made.W, made.model, locator.ev)
    assert made["truth"].tolist() == [0.0, 0.0, EMPTY, EMPTY, -1.0, 0.0, 1.0, 0.0, EMPTY, EMPTY]


def test_only_contacts_are_judged_at_start():
    made = HandMade(
        guard(kind=CONTACT, event=2),
        guard(kind=RESET, event=1),
        guard(kind=CONTACT, event=0),
        guard(kind=STAGE, event=-1),
        events=3,
    )
    M.mark_contacts_evaluated(made.I, made.W, made.model)
    assert made["truth"].tolist() == [JUDGED, EMPTY, EMPTY, EMPTY, JUDGED, EMPTY]


def test_events_of_same_instant_are_remembered(watched):
    """Truth and its noise, value, whether the guard shows a margin -> met, noise."""
    rows = [
        ((TRUE_NOW, 0.25, 5.0, False), (1, 0.25)), ((1.0, 0.25, 0.0, False), (0, 0)), ((-1.0, 0.25, 0.0, False), (0, 0)),
        ((0.0, 0.25, 0.0, False), (0, 0)), ((JUDGED, 0.25, 5.0, True), (NOT_YET, 0)), ((JUDGED, 0.25, LIFT, False), (DUE, LIFT)),
        ((JUDGED, 0.25, -LIFT, False), (DUE, LIFT)), ((JUDGED, 0.25, 1.1 * LIFT, False), (0, 0)),
    ]  # fmt: skip
    for row, (truth, noise, value, closed) in enumerate(given for given, _ in rows):
        made = HandMade(
            guard(register=3, kind=STAGE, event=-1), guard(register=4, event=1), events=2
        ).set(truth=(EMPTY, EMPTY, truth, noise))
        watched.clear()
        watched.update({4: 0} if closed else {})
        expected = rows[row][1]
        assert M.restore_conditions(made.I, made.W, made.model, made.ws, [0.0, value]) == (
            expected[0] != 0
        )
        assert made.rows("met", "noise") == [(0.0, 0.0), expected]
    first = HandMade(guard(event=0), guard(event=1), events=2).set(truth=(TRUE_NOW, 0.5, 0.0, 0.0))
    assert M.restore_conditions(first.I, first.W, first.model, first.ws, [0.0, 0.0])


def test_events_due_at_stage_start():
    """Ends of stages whose condition holds, and events whose condition did not hold before and does now; then nothing is kept any more."""
    ends, waits = guard(kind=STAGE, event=-1 - 3), guard(kind=STAGE, event=-1 - 4)
    made = HandMade(ends, waits, *(guard(event=k) for k in range(5)), events=5)
    made.ws.val[3] = 1.0
    made.set(truth=np.array([(-1, 0.5), (-1, 0.5), (1, 0.5), (0, 0.5), (TRUE_NOW, 0.5)]).ravel())
    fired = np.full(7, EMPTY)
    assert (
        M.mark_initially_due(
            made.I, made.W, made.model, made.ws, [-1.0, 1.0, 0.1, 0.0, 0.1, 0.1, 0.1], fired
        )
        == Status.EVENT
    )
    assert fired.tolist() == [1, 0, 1, 0, 0, 0, 0] and not made["truth"].any()
    made.ws.val[3] = 0.0
    assert (
        M.mark_initially_due(made.I, made.W, made.model, made.ws, [1.0] * 7, fired) == 0
        and not fired.any()
    )
    made.ws.val[4] = -1.0
    assert M.mark_initially_due(
        made.I, made.W, made.model, made.ws, [1.0] * 7, fired
    ) == Status.EVENT and fired.tolist() == [0, 1, 0, 0, 0, 0, 0]


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
        met=(1, DUE, 1, 0, NOT_YET, 1, CLOSED),
        noise=0.5,
        armed=1.0,
    )
    M.disarm_at_bounds(made.I, made.W, made.model, made.ws)
    assert made["armed"].tolist() == [0, 0, 1, 1, 1, 1, 0]


def test_before_events_that_a_host_asks_for_values_are_noted_and_compared():
    made = HandMade(*([guard()] * 4)).set(guards=(0.5, -0.5, 0.0, 0.25), fired=(1.0, 0.0, 3.0, 0.0))
    M.note_guard_values(made.I, made.W, made.model)
    assert made.rows("met", "noise") == [(0, 0.5), (0, -0.5), (0, 0.0), (0, 0.25)]
    made.set(guards=(0.75, -0.5, 0.0, -0.25))
    M.begin_host_instant(made.I, made.W, made.model)
    assert made.rows("met", "held", "noise") == [
        (1, 1, 3.5),
        (0, -1, 2.0),
        (1, 1, 0.0),
        (0, -1, 2.0),
    ]
    assert math.isclose(M.RELEASE_DISTANCE, LIFT)
