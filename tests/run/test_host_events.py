"""Events of hosts that integrate themselves, on hand-made guards: what is marked, what happens then, what the host is told afterwards."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from known_guards import G
from plain_kernels import plain
from unit_stand_in import HandMade, guard

from kinetree.solvers.layout import Guard, Status

M = plain("events.model_exchange")
RESET, STAGE, CONTACT = (int(each) for each in (Guard.RESET, Guard.STAGE, Guard.CONTACT))
CLOSED = 8  # register of a guard of a closed contact
EVERY, ARMED = 0, 1
GIVES_WAY, REACHED = G.RELEASE_FOUND, G.EVENT_FOUND


class Host:
    """A unit whose surroundings only note that they were called; `fails` names the call that does not succeed."""

    def __init__(self, monkeypatch, *guards: list[int], contacts: bool = True):
        self.made, self.told, self.fails = HandMade(*guards, stages=3, events=len(guards)), [], ""
        self.made.model.c_law = np.zeros(1 if contacts else 0)
        self.met: list[int] = []
        self.made.set(conditions=0.0)
        monkeypatch.setattr(M, "structure", lambda I, F, W: (self.made.model, self.made.ws))
        monkeypatch.setattr(
            M, "monitored_margin", lambda model, ws, register: 0 if register == CLOSED else -1
        )
        for name in (
            "load_states",
            "refresh",
            "separate_indicators",
            "read_guards",
            "project_constraints",
            "close_for_inspection",
            "evaluate_guards",
            "store_slip_directions",
        ):
            monkeypatch.setattr(M, name, self.noted(name))
        monkeypatch.setattr(M, "is_constrained", lambda model, ws: True)
        monkeypatch.setattr(M, "margin_noise", lambda model, ws: 0.25)
        monkeypatch.setattr(M, "later_side", lambda W, t: t + 100.0)
        monkeypatch.setattr(M, "host_time", lambda W, t: t + 50.0)
        monkeypatch.setattr(
            M,
            "prepare_contact_located_by_host",
            lambda model, ws, register: self.met.append(register),
        )
        monkeypatch.setattr(
            plain("events.guard_state"),
            "monitors_separating_contact",
            lambda model, ws, register: False,
        )

    def noted(self, name: str):
        def call(*arguments):
            instant = next(
                (f" {each:g}" for each in reversed(arguments) if isinstance(each, float)), ""
            )
            self.told.append(name + instant)
            return 6 if name == self.fails else 0

        return call

    def call(self, name: str, *more):
        return getattr(M, name)(self.made.I, None, self.made.W, *more)


def test_host_sees_open_contacts_as_separate(monkeypatch):
    for contacts, fails, told in (
        (True, "", ["refresh 2", "separate_indicators", "read_guards"]),
        (False, "", ["refresh 2"]),
        (True, "refresh", ["refresh 2"]),
    ):
        host = Host(monkeypatch, guard(), contacts=contacts)
        host.fails = fails
        assert host.call("refresh_for_host", 2.0) == (6 if fails else 0) and host.told == told


def test_host_inspection_leaves_state_unchanged(monkeypatch):
    whole = [
        "load_states",
        "close_for_inspection 52",
        "evaluate_guards 52",
        "separate_indicators",
        "read_guards",
        "load_states",
    ]
    for fails, told in (
        ("", whole),
        ("close_for_inspection", [*whole[:2], whole[-1]]),
        ("evaluate_guards", [*whole[:3], whole[-1]]),
    ):
        host = Host(monkeypatch, guard())
        host.fails = fails
        assert host.call("evaluate_closed_guards", 2.0) == 0 and host.told == told
    host = Host(monkeypatch, guard())
    monkeypatch.setattr(M, "is_constrained", lambda model, ws: False)
    assert host.call("evaluate_closed_guards", 2.0) == 0 and not host.told


def test_host_locates_events(monkeypatch):
    """Armed guards at or beyond their bound; a closed contact gives way already within the noise of its margin."""
    rows = [  # kind, register, armed, value -> fired
        (RESET, 1, 1, 0.0, REACHED), (RESET, 1, 1, 0.5, REACHED), (RESET, 1, 1, -0.1, 0), (RESET, 1, 0, 0.5, 0), (CONTACT, 1, 1, -0.1, 0),
        (CONTACT, 1, 1, 0.0, REACHED), (CONTACT, CLOSED, 1, -0.25, GIVES_WAY), (CONTACT, CLOSED, 1, -0.26, 0), (CONTACT, CLOSED, 0, 0.5, 0),
        (STAGE, CLOSED, 1, -0.1, 0), (STAGE, CLOSED, 1, 0.1, REACHED),
    ]  # fmt: skip
    host = Host(monkeypatch, *(guard(kind=kind, register=register) for kind, register, *_ in rows))
    host.made.set(armed=[row[2] for row in rows], guards=[row[3] for row in rows])
    assert host.call("mark_located_by_host") == Status.EVENT and host.made["mark"].tolist() == [
        row[-1] for row in rows
    ]
    host.made.set(guards=-0.26)
    assert host.call("mark_located_by_host") == 0 and not host.made["mark"].any()
    without = Host(monkeypatch, guard(kind=CONTACT, register=CLOSED), contacts=False)
    without.made.set(armed=1.0, guards=-0.1)
    assert without.call("mark_located_by_host") == 0


def test_host_executes_events(monkeypatch):
    rows = [  # kind, register, fired, armed, value -> fired of every positive one, of those armed
        (RESET, 1, 0, 0, 0.0, 1, 0), (RESET, 1, 0, 1, 0.0, 1, 1), (RESET, 1, 0, 1, -0.1, 0, 0), (RESET, 1, REACHED, 0, -0.1, 1, 1),
        (RESET, 1, GIVES_WAY, 0, -0.1, 0, 0), (CONTACT, CLOSED, GIVES_WAY, 0, -0.1, 1, 1), (CONTACT, CLOSED, REACHED, 0, -0.1, 0, 0),
        (CONTACT, CLOSED, 0, 1, 0.1, 1, 1), (CONTACT, 1, REACHED, 0, -0.1, 1, 1), (CONTACT, 1, 0, 0, 0.1, 1, 0), (STAGE, 1, 0, 0, 0.1, 1, 0),
    ]  # fmt: skip
    for option, column, met in ((EVERY, 5, [CLOSED, 1, 1]), (ARMED, 6, [CLOSED, 1])):
        host = Host(
            monkeypatch, *(guard(kind=kind, register=register) for kind, register, *_ in rows)
        )
        host.made.set(
            mark=[row[2] for row in rows],
            armed=[row[3] for row in rows],
            guards=[row[4] for row in rows],
        )
        assert host.call("mark_requested_events", option) and host.made["mark"].tolist() == [
            row[column] for row in rows
        ]
        assert host.met == met, "contacts, but for one that gives way"
    host.made.set(mark=0.0, guards=-0.1)
    assert not host.call("mark_requested_events", EVERY)
    host.made.set(guards=np.where(np.arange(len(rows)) == 0, 0.1, -0.1), armed=0.0)
    assert host.call("mark_requested_events", EVERY) and not host.call(
        "mark_requested_events", ARMED
    )


class Events(Host):
    """A host whose events lead to further stages: what each stage makes true is given, and noise and what holds there are noted."""

    def __init__(self, monkeypatch, fails: str = "", stages: int = 1):
        super().__init__(monkeypatch, guard(event=0), guard(event=1))
        self.fails, self.stages = fails, stages
        self.made.set(guards=(0.5, -0.5), armed=0.0, mark=0.0)
        monkeypatch.setattr(M, "refresh_for_host", self.noted("refresh_for_host"))
        monkeypatch.setattr(M, "run_cascade", self.happen_now)
        monkeypatch.setattr(M, "project_constraints", self.keep_closed)

    def keep_closed(self, *arguments):
        self.made.set(guards=(0.25, -0.25))
        return self.noted("project_constraints")(*arguments)

    def happen_now(self, I, F, W, t):
        self.told.append(f"happen {self.made.rows('mark', 'verdict', 'condition', 'noise')}")
        self.made.set(guards=(0.01, 0.75))
        if self.stages > 1:
            self.stages -= 1
            self.made.W.stage += 1
            self.made.set(conditions=(0.0, 0.0, -1.0, 0.0))
        return self.noted("run_cascade")(t)


def test_host_events_cascade(monkeypatch):
    """Closing has moved the guards by 0.25; what a new structure makes true happens at once."""
    first = ["load_states", "refresh_for_host 102", "project_constraints 102", "refresh 102"]
    one = f"happen {[(1.0, 1.0, 1.0, 1.5), (0.0, 0.0, -1.0, 1.5)]}"
    two = f"happen {[(0.0, 0.0, 1.0, 0.04), (1.0, 1.0, 1.0, 3.0)]}"
    after = ["run_cascade 102", "separate_indicators", "read_guards"]
    host = Events(monkeypatch)
    assert host.call("handle_host_events", 2.0, EVERY) == 0 and host.told == [*first, one, *after]
    assert host.made.W.time == 2.0 and host.made["armed"].tolist() == [0, 0]
    host = Events(monkeypatch, stages=2)
    assert (
        host.call("handle_host_events", 2.0, EVERY) == 0
        and host.told == [*first, one, *after, two, *after]
        and host.made.W.stage == 1
    )
    for fails, upto in (("refresh_for_host", 2), ("project_constraints", 3), ("refresh", 4)):
        host = Events(monkeypatch, fails)
        assert (
            host.call("handle_host_events", 2.0, EVERY) == 6
            and host.told == first[:upto]
            and host.made.W.time == 2.0
        )
    host = Events(monkeypatch, "run_cascade", stages=2)
    assert host.call("handle_host_events", 2.0, EVERY) == 6 and host.told == [
        *first,
        one,
        "run_cascade 102",
    ]
    host = Events(monkeypatch)
    assert (
        host.call("handle_host_events", 2.0, ARMED) == 0
        and host.told == first[:2]
        and host.made["noise"].tolist() == [0.5, -0.5]
    )


def test_guards_are_rearmed_after_events(monkeypatch):
    """Below the bound, and not where the event itself has just happened within its noise."""
    host = Events(monkeypatch)
    monkeypatch.setattr(
        M, "run_cascade", lambda I, F, W, t: host.made.set(guards=(-0.01, -0.75)) and 0
    )
    assert host.call("handle_host_events", 2.0, EVERY) == 0 and host.made["armed"].tolist() == [
        0,
        1,
    ]


class Steps(Host):
    """Contacts that slide, of which the one at register 1 turns: its direction, and how far it slides, become those of the step that is followed."""

    def __init__(self, monkeypatch, *guards: list[int], contacts: int = 1):
        super().__init__(monkeypatch, *guards, contacts=False)
        self.made = HandMade(*guards, sizes={"noted": 4 * len(guards)})
        self.made.model.c_law = np.zeros(contacts)
        self.made.ws.c_dir = np.arange(1.0, 1.0 + 2 * contacts)
        self.made.ws.c_along = np.full(contacts, -0.5)
        self.made.W.noted, self.made.W.settled = math.inf, -math.inf
        monkeypatch.setattr(M, "follow_unseen_reversal", lambda model, ws, register: register == 1)
        monkeypatch.setattr(M, "store_slip_directions", self.follow_slip)

    def follow_slip(self, model, ws):
        ws.c_dir[:], ws.c_along[:] = -ws.c_dir, 0.25

    @property
    def memory(self) -> tuple[list[float], list[float], list[float]]:
        ws = self.made.ws
        return self.made["armed"].tolist(), ws.c_dir.tolist(), ws.c_along.tolist()


def test_completed_step_is_stored_once(monkeypatch):
    """Until then nothing has changed; going back takes it back; the same instant again keeps it."""
    guards = (guard(kind=CONTACT, register=1), guard(kind=CONTACT, register=2), guard(kind=RESET))
    before, after = ([0, 0, 0], [1, 2], [-0.5]), ([1, 0, 1], [-1, -2], [0.25])
    for t, noted, memory in ((2.0, 2.0, before), (1.9, math.inf, before), (2.1, math.inf, after)):
        host = Steps(monkeypatch, *guards)
        host.made.set(armed=0.0, guards=(0.5, -1e-14, -1e-3))
        assert host.call("note_step", 2.0) == 0 and host.memory == before
        assert host.made.W.noted == 2.0
        assert host.call("continue_from", t) == 0
        assert host.memory == memory and host.made.W.noted == noted
    assert host.call("continue_from", 3.0) == 0 and host.memory == after, "nothing is noted"


def test_completed_step_ignores_undetected_events(monkeypatch):
    """Where an event is due, and at or before the end of the last event mode; an older note is lost."""
    rows = ((1, 0.0, 2.0, False), (1, 1e-3, 2.0, False), (0, 1e-3, 2.0, True), (0, 0.5, 1.0, False))
    for armed, value, t, noted in rows:
        host = Steps(monkeypatch, guard())
        host.made.W.settled, host.made.W.noted = 1.0, 1.5
        host.made.set(armed=float(armed), guards=value)
        assert host.call("note_step", t) == 0
        assert host.made.W.noted == (t if noted else math.inf)
        assert host.made["armed"].tolist() == [armed] and host.made.ws.c_dir.tolist() == [1, 2]


def test_event_mode_leaves_guards_armed(monkeypatch):
    host = Steps(monkeypatch, guard(), guard(), guard(), guard())
    host.made.W.noted = 2.0
    host.made.set(armed=(0, 0, 1, 0), guards=(-1e-12, -1e-14, 0.5, 0.5))
    assert host.call("leave_event_mode", 2.0) == 0
    assert host.made["armed"].tolist() == [1, 0, 1, 0]
    assert host.made.W.noted == math.inf and host.made.W.settled == 2.0


def test_mechanism_without_contacts_stores_guard_marks_only(monkeypatch):
    host = Steps(monkeypatch, guard(kind=CONTACT, register=1), contacts=0)
    host.made.set(armed=0.0, guards=0.5)
    assert host.call("note_step", 2.0) == 0 and host.call("continue_from", 3.0) == 0
    assert host.made["armed"].tolist() == [0]


@pytest.mark.parametrize("fails, told", [("", 3), ("project_constraints", 2)])
def test_host_states_are_restored(monkeypatch, fails, told):
    host = Host(monkeypatch, guard())
    host.fails = fails
    monkeypatch.setattr(M, "refresh_for_host", host.noted("refresh_for_host"))
    assert host.call("close_host_state", 2.0) == (6 if fails else 0)
    assert host.told == ["load_states", "project_constraints 2", "refresh_for_host 2"][
        :told
    ] and isinstance(host.made.ws, SimpleNamespace)
