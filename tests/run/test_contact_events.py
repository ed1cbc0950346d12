"""Which contacts are closed, stick or slide as a motion goes on, on hand-made contacts: tries that nothing confirms are taken back."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from noted_calls import FAILURE, Noted
from plain_kernels import plain

from kinetree.solvers.layout import Contact, Status

M, I = plain("contacts.mode_changes"), plain("contacts.impacts")
OPEN, STICK, SLIDE = (float(each) for each in (Contact.OPEN, Contact.STICK, Contact.SLIDE))
SLOW, STILL, SCALE = M.CLOSED_ON_TRIAL, I.STILL_SPEED, 2.0


def contacts(monkeypatch, *rows: dict):
    """Contacts with friction (three rows) or without (one) by mode, near, slip, normal force and margin."""
    count = len(rows)
    wide = [3 if row.get("friction", True) else 1 for row in rows]
    first = np.array([0, *np.cumsum(wide)])
    ws = SimpleNamespace(
        c_mode=np.array([row.get("mode", STICK) for row in rows]), c_impact=np.array([row.get("near", 0.0) for row in rows]),
        c_margin=np.zeros(2 * count), c_rate=np.zeros(first[-1]), c_lam=np.zeros(first[-1]), c_slip=np.zeros(2 * count), c_dir=np.zeros(2 * count),
        c_hold=np.zeros(count), c_friction=np.zeros(count), head=SimpleNamespace(item=-1.0),
    )  # fmt: skip
    for k, row in enumerate(rows):
        ws.c_margin[2 * k + 1], ws.c_lam[first[k]] = row.get("margin", 0.0), row.get("force", 0.0)
        ws.c_slip[2 * k : 2 * k + 2] = row.get("drawn", (0.0, 0.0))
        if wide[k] == 3:
            ws.c_rate[first[k] + 1 : first[k] + 3] = row.get("slip", (0.0, 0.0))
    monkeypatch.setattr(M, "speed_scale", lambda ws: SCALE)
    return SimpleNamespace(c_law=np.zeros(count), c_row=first), ws


FASTER, SLOWER = (
    (1.01 * STILL * SCALE * 0.6, 1.01 * STILL * SCALE * 0.8),
    (0.99 * STILL * SCALE * 0.6, 0.99 * STILL * SCALE * 0.8),
)
HELD = {"near": 1.0, "slip": FASTER}
TRIES = [  # a contact -> held for a try, and tried at all
    (HELD, True, True), (HELD | {"slip": SLOWER}, False, False), (HELD | {"mode": SLIDE}, False, False), (HELD | {"near": 0.0}, False, False),
    (HELD | {"friction": False}, False, False), ({"near": SLOW, "mode": SLIDE}, False, True), ({"near": SLOW, "mode": OPEN}, False, False),
    ({"near": SLOW, "mode": STICK, "slip": SLOWER}, False, True), ({"mode": STICK}, False, False),
]  # fmt: skip


@pytest.mark.parametrize("contact, held, tried", TRIES)
def test_trial_contact_states_are_detected(monkeypatch, contact, held, tried):
    model, ws = contacts(monkeypatch, {"mode": OPEN}, contact)
    assert M.sticks_on_trial(model, ws, 1) == held and M.any_on_trial(model, ws) == tried
    model, ws = contacts(monkeypatch, contact, {"mode": OPEN})
    assert M.any_on_trial(model, ws) == tried


def test_unconfirmed_contact_trials_are_reverted(monkeypatch):
    """Those that nothing presses together open; those that friction does not hold slide, where they slip and are drawn, the latter twice."""
    back = np.array(FASTER) / math.hypot(*FASTER) + 2.0 * np.array([-1.0, 0.5])
    rows = [
        ({"near": SLOW, "mode": STICK, "force": 0.0}, OPEN), ({"near": SLOW, "mode": SLIDE, "force": -1.0}, OPEN),
        ({"near": SLOW, "mode": STICK, "force": 1.0}, STICK),
        ({"near": SLOW, "mode": STICK, "force": math.nan}, OPEN), ({"near": 0.0, "mode": STICK, "force": 0.0}, STICK),
        (HELD | {"margin": 1.0, "drawn": (-1.0, 0.5), "force": 1.0}, SLIDE), (HELD | {"margin": 0.0, "force": 1.0}, STICK),
        (HELD | {"margin": 1.0, "slip": SLOWER, "force": 1.0}, STICK), (HELD | {"margin": -1.0, "force": 1.0}, STICK),
    ]  # fmt: skip
    model, ws = contacts(monkeypatch, *(row for row, _ in rows))
    M.end_trials(model, ws)
    assert ws.c_mode.tolist() == [mode for _, mode in rows]
    assert (
        ws.c_dir[10:12] == pytest.approx(back / np.hypot(*back))
        and not ws.c_dir[:10].any()
        and not ws.c_dir[12:].any()
    )


@pytest.mark.parametrize("tried", [False, True])
@pytest.mark.parametrize(
    "fails",
    [
        "",
        "apply_impulses",
        "evaluate_accelerations",
        "project_constraints",
        "settle_modes",
        "report_driven_together",
    ],
)
def test_contact_impulses_precede_contact_modes(monkeypatch, tried, fails):
    calls = Noted(
        monkeypatch,
        M,
        "apply_impulses",
        "evaluate_accelerations",
        "end_trials",
        "project_constraints",
        "restart_slip_directions",
        "settle_modes",
        "report_driven_together",
        fails=fails,
        any_on_trial=tried,
    )
    trying = ["evaluate_accelerations 2", "end_trials"] if tried else []
    whole = [
        "apply_impulses 2",
        "any_on_trial",
        *trying,
        "project_constraints 2",
        "restart_slip_directions",
        "settle_modes 2",
        "report_driven_together",
    ]
    status = M.apply_impacts(None, None, 2.0)
    names = [each.split()[0] for each in whole]
    cut = {
        "apply_impulses": whole[:1],
        "evaluate_accelerations": [*whole[:2], *trying] if tried else whole,
        "project_constraints": whole[:-3],
        "settle_modes": whole[:-1],
    }
    assert calls.told == cut.get(fails, whole) and status == (FAILURE if fails in names else 0)


def test_slips_restart_after_closing(monkeypatch):
    """The slip of what took part and slides is that of the state now; what is let go, takes no part, sticks or has one row keeps its direction."""
    rows = [
        {"near": SLOW, "mode": SLIDE},
        {"near": M.SLIP_KEPT, "mode": SLIDE},
        {"near": SLOW, "mode": STICK},
        {"near": SLOW, "mode": SLIDE, "friction": False},
    ]
    model, ws = contacts(monkeypatch, *rows)
    ws.c_along, ws.c_dir[:] = np.ones(4), 0.5
    monkeypatch.setattr(M, "row_velocity", lambda model, ws, r: {1: 3.0, 2: -4.0}.get(r, 7.0))
    M.restart_slip_directions(model, ws)
    assert ws.c_dir.tolist() == [0.6, -0.8, *[0.5] * 6] and not ws.c_along.any()


def test_driven_together_contact_is_named(monkeypatch):
    """Of contacts that took part, 1 or 2 in c_impact, the first that is driven together; the others may approach as they like."""
    for near, driven, item in (
        ((0.0, 1.0, SLOW), (1, 1, 1), 1),
        ((0.0, 1.0, SLOW), (1, 0, 1), 2),
        ((0.0, 1.0, SLOW), (1, 0, 0), -1),
        ((0.0,), (1,), -1),
    ):
        model, ws = contacts(monkeypatch, *({"near": each} for each in near))
        monkeypatch.setattr(
            M, "is_driven_together", lambda model, ws, k, driven=driven: bool(driven[k])
        )
        assert (
            M.report_driven_together(model, ws) == (Status.DRIVEN_TOGETHER if item >= 0 else 0)
            and ws.head.item == item
        )


def test_contact_modes_change_until_forces_are_consistent(monkeypatch):
    """At most three times as often as there are contacts, and once more."""
    for changes, status, evaluations in ((0, 0, 1), (2, 0, 3), (99, 0, 7)):
        left = iter([True] * changes + [False] * 9)
        calls = Noted(
            monkeypatch, M, "evaluate_accelerations", change_modes=lambda *_, left=left: next(left)
        )
        assert M.settle_modes(SimpleNamespace(c_law=np.zeros(2)), None, 2.0) == status
        assert (
            calls.told.count("evaluate_accelerations 2")
            == evaluations
            == calls.told.count("change_modes")
        )
    calls = Noted(
        monkeypatch, M, "evaluate_accelerations", fails="evaluate_accelerations", change_modes=True
    )
    assert M.settle_modes(
        SimpleNamespace(c_law=np.zeros(2)), None, 2.0
    ) == FAILURE and calls.told == ["evaluate_accelerations 2"]


@pytest.mark.parametrize(
    "fails, told",
    [
        ("", ["load 2", "accelerations_of"]),
        ("load", ["load 2"]),
        ("accelerations_of", ["load 2", "accelerations_of"]),
    ],
)
def test_contact_accelerations_and_forces_are_consistent(monkeypatch, fails, told):
    calls = Noted(monkeypatch, M, "load", "accelerations_of", fails=fails)
    assert (
        M.evaluate_accelerations(None, None, 2.0) == (FAILURE if fails else 0)
        and calls.told == told
    )


def test_initial_overlap_is_an_error(monkeypatch):
    """The first contact that overlaps is named; all are open until they are judged."""
    deep = plain("contacts.contact_jacobian").OVERLAP_TOLERANCE
    for gaps, status, item in (
        ((0.0, 1.0, -deep), 0, -1.0),
        ((1.0, -1.01 * deep, -9.0), Status.PENETRATES, 1.0),
        ((0.0, 0.0, -9.0), Status.PENETRATES, 2.0),
    ):
        model, ws = contacts(monkeypatch, {"mode": SLIDE}, {"mode": STICK}, {})
        calls = Noted(
            monkeypatch,
            M,
            "place_loops",
            "apply_impacts",
            gap_of=lambda model, ws, k, gaps=gaps: gaps[k],
        )
        assert (
            M.initialise_contacts(model, ws, 2.0) == status
            and ws.head.item == item
            and not ws.c_mode.any()
        )
        assert ("apply_impacts 2" in calls.told) == (status == 0)
    model, ws = contacts(monkeypatch, {})
    calls = Noted(monkeypatch, M, "place_loops", "apply_impacts", fails="place_loops", gap_of=-9.0)
    assert (
        M.initialise_contacts(model, ws, 2.0) == FAILURE
        and ws.head.item == -1.0
        and calls.told == ["place_loops 2"]
    )
