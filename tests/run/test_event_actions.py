"""What happens at an instant, link by link, on hand-made guards: which events are due, what counts as having come true, what the log holds."""

import numpy as np
import pytest
from known_guards import G
from plain_kernels import plain
from unit_stand_in import EMPTY, HandMade, guard

from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import Guard, Status

M = plain("events.event_cascade")
RESET, STAGE, CONTACT = (int(each) for each in (Guard.RESET, Guard.STAGE, Guard.CONTACT))
LIFT, ON_BOUND = 1e-9, 1e-12
OPENS, SLIPS = 8, 9  # registers of guards that show margins 0 and 1


@pytest.fixture
def contacts(monkeypatch) -> dict[str, set[int]]:
    """Registers of guards of contacts that part slowly; margins are given way within the noise 0.5."""
    told: dict[str, set[int]] = {"slow": set(), "given": set()}
    monkeypatch.setattr(
        M,
        "monitored_margin",
        lambda model, ws, register: {OPENS: 0, SLIPS: 1}.get(int(register), -1),
    )
    monkeypatch.setattr(
        M, "monitors_slow_separation", lambda model, ws, register: int(register) in told["slow"]
    )

    def give_way(model, ws, which, noise):
        told["given"].add(which)
        return noise == 0.5

    monkeypatch.setattr(M, "release_contact", give_way)
    return told


def link_of(made: HandMade, name: str, *more):
    return getattr(M, name)(made.I, made.W, made.model, *more)


def test_events_execute_and_stages_end():
    made = HandMade(guard(kind=RESET), guard(kind=STAGE), guard(kind=CONTACT), guard(kind=STAGE))
    for fired, ends, happens in (
        ((0, 0, 0, 0), -1, False), ((1, 0, 0, 0), -1, True), ((0, 0, 1, 0), -1, True), ((0, 1, 0, 1), 1, False), ((1, 0, 0, 1), 3, True),
    ):  # fmt: skip
        made.set(mark=fired)
        assert (
            link_of(made, "find_stage_end") == ends
            and link_of(made, "has_pending_event") == happens
        )


def test_endless_event_chain_names_last_event():
    made = HandMade(guard(), guard(), guard()).set(mark=(1.0, 1.0, 0.0))
    assert link_of(made, "report_chatter") == Status.CHATTERING and made.W.item == 1


def test_located_contact_events_are_marked_due(contacts):
    rows = [  # kind, register, fired, met -> met
        (CONTACT, OPENS, 1.0, 0.0, G.FORCED_OPEN),
        (CONTACT, SLIPS, 1.0, 0.0, G.FORCED_OPEN),
        (CONTACT, OPENS, 0.0, 0.0, G.WAS_CLOSED),
        (CONTACT, SLIPS, 0.0, 0.0, 0.0),
        (CONTACT, OPENS, 4.0, 0.0, G.WAS_CLOSED),
        (CONTACT, SLIPS, 4.0, 0.0, 0.0),
        (CONTACT, 3, 1.0, 1.0, 1.0),
        (RESET, OPENS, 1.0, 1.0, 1.0),
        (RESET, OPENS, 0.0, 0.0, 0.0),
        (CONTACT, 3, 0.0, 0.0, 0.0),
    ]
    made = HandMade(*(guard(kind=kind, register=register) for kind, register, *_ in rows))
    made.set(mark=[row[2] for row in rows], verdict=[row[3] for row in rows])
    link_of(made, "mark_located_contacts", made.ws)
    assert made["verdict"].tolist() == [row[4] for row in rows]


def test_due_contact_events_happen_within_noise(contacts):
    made = HandMade(*(guard(kind=CONTACT, register=each) for each in (OPENS, SLIPS, 3))).set(
        verdict=(G.FORCED_OPEN, G.WAS_CLOSED, G.FORCED_OPEN)
    )
    for noise, some in ((0.5, True), (0.25, False)):
        made.set(noise=noise)
        assert link_of(made, "force_located_contacts", made.ws) == some and contacts["given"] == {0}
    made.set(verdict=(G.FORCED_OPEN, G.FORCED_OPEN, 1), noise=(0.5, 0.25, 0.5))
    assert link_of(made, "force_located_contacts", made.ws) and contacts["given"] == {0, 1}
    made.set(verdict=(G.FORCED_OPEN, G.FORCED_OPEN, 1), noise=(0.25, 0.5, 0.5))
    assert link_of(made, "force_located_contacts", made.ws)


def test_evaluated_contact_events_are_not_repeated(contacts):
    rows = [  # kind, register, met, noise, value -> met, held, noise
        ((CONTACT, OPENS, G.FORCED_OPEN, 0.5, 0.1), (G.EVALUATED_FALSE, -1, 0)),
        ((CONTACT, SLIPS, 1.0, 0.5, 0.1), (G.EVALUATED_FALSE, -1, 0)),
        ((CONTACT, 3, G.FORCED_OPEN, 0.5, 0.1), (G.FORCED_OPEN, -1, LIFT)),
        ((CONTACT, 3, G.WAS_CLOSED, 0.5, 0.1), (G.FORCED_OPEN, -1, LIFT)),
        ((CONTACT, 4, 1.0, 0.5, 0.1), (G.FORCED_OPEN, -1, 0.2)),
        ((CONTACT, 4, 0.0, 0.5, -0.1), (G.FORCED_OPEN, -1, 0.2)),
        ((CONTACT, 4, 0.0, 0.5, 1e-12), (G.FORCED_OPEN, -1, LIFT)),
        ((CONTACT, 3, 1.0, 0.5, 0.1), (1, 1, 0.5)),
        ((CONTACT, 3, 0.0, 0.5, 0.1), (1, 1, ON_BOUND)),
        ((CONTACT, 3, G.EVALUATED_FALSE, 0.5, 0.1), (1, 1, ON_BOUND)),
        ((CONTACT, 3, 1.0, 0.0, 0.1), (1, 1, ON_BOUND)),
        ((RESET, OPENS, 1.0, 0.5, 0.1), (1, EMPTY, 0.5)),
        ((RESET, 4, G.FORCED_OPEN, 0.5, 0.1), (G.FORCED_OPEN, EMPTY, 0.5)),
    ]
    contacts["slow"] = {4}
    made = HandMade(*(guard(kind=kind, register=register) for (kind, register, *_), _ in rows))
    made.set(
        **dict(
            zip(
                ("verdict", "noise", "guards"),
                np.array([row[2:] for row, _ in rows]).T,
                strict=True,
            )
        )
    )
    link_of(made, "record_contact_verdicts", made.ws)
    assert made.rows("verdict", "condition", "noise") == [
        pytest.approx(expected, abs=1e-18) for _, expected in rows
    ]


def test_event_chain_marks_new_conditions():
    rows = [  # held, value, met, noise -> fired, held, met, noise
        ((-1, 0.1, 0, 0.5), (1, 1, 1, 0)),
        ((-1, 0.0, 0, 0.5), (0, -1, 0, 0.5)),
        ((-1, -0.1, 0, 0.5), (0, -1, 0, 0.5)),
        ((1, 0.1, 0, 0.5), (0, 1, 0, 0.5)),
        ((1, -0.1, 0, 0.5), (0, -1, 0, 0.5)),
        ((1, -0.1, 1, 0.5), (0, 1, 1, 0.5)),
        ((1, -0.6, 1, 0.5), (0, -1, 1, 0.5)),
        ((1, 0.0, 0, 0.5), (0, 1, 0, 0.5)),
        ((-1, 0.1, G.FORCED_OPEN, 0.5), (0, -1, G.FORCED_OPEN, 0.5)),
        ((-1, 0.6, G.FORCED_OPEN, 0.5), (1, 1, 1, 0)),
        ((-1, 0.5, G.FORCED_OPEN, 0.5), (0, -1, G.FORCED_OPEN, 0.5)),
        ((-1, 0.1, 1, 0.5), (1, 1, 1, 0)),
        ((1, -0.5, 1, 0.5), (0, 1, 1, 0.5)),
        ((1, -0.1, G.EVALUATED_FALSE, 0.5), (0, -1, G.EVALUATED_FALSE, 0.5)),
        ((0, 0.1, 0, 0.5), (0, 0, 0, 0.5)),
    ]
    made = HandMade(*([guard()] * len(rows)))
    made.set(
        **dict(
            zip(
                ("condition", "guards", "verdict", "noise"),
                np.array([row for row, _ in rows]).T,
                strict=True,
            )
        )
    )
    link_of(made, "mark_newly_true")
    assert made.rows("mark", "condition", "verdict", "noise") == [expected for _, expected in rows]


def test_event_log_is_a_ring_buffer():
    made = HandMade(guard(), logged=3, room=0)
    made.W.time, made.W.stage = 2.5, 4.0
    for number in range(5):
        M.log_event(
            made.I, made.W, U.E_STAGE if number == 3 else U.E_RESET, 10 + number, 1 + number
        )
    log = list(U.EVENT.rows(made["events"]))
    assert [(row.guard, row.count, row.kind, row.stage, row.time) for row in log] == [
        (13, 4, U.E_STAGE, 5, 2.5), (14, 5, U.E_RESET, 4, 2.5), (12, 3, U.E_RESET, 4, 2.5),
    ]  # fmt: skip
    assert made.W.events == 5 and made.W.event_time == 2.5


class Chain:
    """What `happen_now` calls, noted; every link makes the next guard true, as many times as are wanted."""

    def __init__(self, monkeypatch, links: int = 1, fails_at: int = 0, **guards):
        self.made = HandMade(
            guard(kind=RESET), guard(kind=STAGE, **guards), guard(kind=RESET), stages=2
        )
        self.links, self.fails_at, self.told = links, fails_at, []
        self.made.W.energy_residual = 0.25
        monkeypatch.setattr(M, "structure", lambda I, F, W: (self.made.model, self.made.ws))
        monkeypatch.setattr(
            M, "open_energy_balance", lambda I, F, W: self.told.append(f"books {W.energy_residual}")
        )
        monkeypatch.setattr(M, "run_pass", self.link)
        monkeypatch.setattr(M, "mark_newly_true", self.came_true)

    def link(self, I, F, W, model, ws):
        self.told.append("run_pass")
        W.energy_residual = 9.0
        return 5 if self.told.count("run_pass") == self.fails_at else 0

    def came_true(self, I, W, model):
        self.made["mark"][:] = 1.0 if self.told.count("run_pass") < self.links else 0.0, 0.0, 0.0
        if self.told.count("run_pass") == 2:
            self.made["mark"][1] = 1.0

    def run(self) -> int:
        return M.run_cascade(self.made.I, None, self.made.W, 0.0)


def test_event_chain_has_at_most_hundred_links(monkeypatch):
    for links, status in ((1, 0), (100, 0), (101, Status.CHATTERING)):
        chain = Chain(monkeypatch, links)
        chain.made.set(mark=(1.0, 0.0, 0.0))
        monkeypatch.setattr(M, "end_stage", lambda *_: 0)
        assert chain.run() == status and chain.told == ["run_pass"] * min(links, 100) + [
            "books 0.25"
        ]


def test_stage_end_follows_event_chain(monkeypatch):
    for fired, links, left in (
        ((0, 1, 0), 0, 1),
        ((1, 1, 0), 1, 1),
        ((1, 0, 0), 1, None),
        ((1, 0, 0), 3, 1),
    ):
        chain = Chain(monkeypatch, links)
        chain.made.set(mark=fired)
        monkeypatch.setattr(
            M,
            "end_stage",
            lambda I, F, W, model, ws, ending, told=chain.told: (
                told.append(f"end_stage {ending}") or 4
            ),
        )
        assert chain.run() == (0 if left is None else 4)
        assert chain.told == ["run_pass"] * links + (
            [] if left is None else [f"end_stage {left}"]
        ) + ["books 0.25"]
    chain = Chain(monkeypatch, 3, fails_at=2)
    chain.made.set(mark=(1, 1, 0))
    assert chain.run() == 5 and chain.told == ["run_pass", "run_pass", "books 0.25"]


def test_stage_ends_by_its_first_guard(monkeypatch):
    chain = Chain(monkeypatch, 1)
    chain.made.model.guards = np.array([*guard(kind=STAGE), *guard(kind=RESET), *guard(kind=RESET)])
    monkeypatch.setattr(
        M,
        "end_stage",
        lambda I, F, W, model, ws, ending: chain.told.append(f"end_stage {ending}") or 0,
    )
    for fired, told in (((1, 0, 0), ["end_stage 0"]), ((1, 1, 0), ["run_pass", "end_stage 0"])):
        chain.told.clear()
        chain.made.set(mark=fired)
        assert chain.run() == 0 and chain.told == [*told, "books 0.25"]


@pytest.mark.parametrize("contacts_there", [False, True])
def test_event_chain_link_executes_actions(monkeypatch, contacts_there):
    """Actions, then contacts, then all values; books before and after, and in the log the first event with how many there are."""
    for breaks in ("", "apply_actions", "apply_impacts", "settle_modes", "refresh"):
        made, told = (
            HandMade(guard(kind=STAGE), guard(kind=RESET), guard(kind=CONTACT), guard(kind=RESET)),
            [],
        )
        made.set(mark=(1.0, 0.0, 1.0, 1.0))
        made.W.time = 2.0
        made.model.c_law = np.zeros(1 if contacts_there else 0)

        def fake(name, value=0, told=told, breaks=breaks):
            return lambda *_: told.append(name) or (6 if name == breaks else value)

        for name in (
            "apply_actions",
            "mark_located_contacts",
            "apply_impacts",
            "settle_modes",
            "refresh",
            "record_contact_verdicts",
        ):
            monkeypatch.setattr(M, name, fake(name))
        monkeypatch.setattr(
            M,
            "write_balances",
            lambda out, model, ws, told=told: (
                out.__setitem__(slice(None), len(told)) or told.append("books")
            ),
        )
        monkeypatch.setattr(M, "force_located_contacts", fake("due", True))
        assert M.run_pass(made.I, None, made.W, made.model, made.ws) == (
            6 if breaks in ("apply_actions", "refresh") or contacts_there and breaks else 0
        )
        whole = [
            "books",
            "apply_actions",
            *(
                ["mark_located_contacts", "apply_impacts", "due", "settle_modes"]
                if contacts_there
                else []
            ),
            "refresh",
        ]
        upto = whole.index(breaks) + 1 if breaks in whole else len(whole)
        assert told == [*whole[:upto], "books", "record_contact_verdicts"]
        event = next(U.EVENT.rows(made["events"]))
        assert (event.time, event.kind, event.guard, event.count) == (2.0, U.E_RESET, 2, 2)
        assert event.before.tolist() == [0.0] * 5 and event.after.tolist() == [float(upto)] * 5


def test_contacts_resettle_after_due_events(monkeypatch):
    made, told = HandMade(guard(kind=CONTACT)).set(mark=1.0), []
    made.model.c_law = np.zeros(1)
    for name in (
        "apply_actions",
        "mark_located_contacts",
        "apply_impacts",
        "settle_modes",
        "refresh",
        "record_contact_verdicts",
        "write_balances",
    ):
        monkeypatch.setattr(M, name, lambda *_, name=name: told.append(name) or 0)
    monkeypatch.setattr(M, "force_located_contacts", lambda *_: False)
    assert M.run_pass(made.I, None, made.W, made.model, made.ws) == 0 and "settle_modes" not in told


@pytest.mark.parametrize("actions", [0, 2])
@pytest.mark.parametrize("stage", [0, 1])
def test_stage_end_changes_structure(monkeypatch, actions, stage):
    """What it sets, then the next structure if there is one; a failure stops there. Its books are those of the structures before and after."""
    for breaks in ("", "apply_actions", "change", "refresh"):
        made, told = (
            HandMade(
                guard(event=0), guard(kind=STAGE, event=-1, actions=actions), events=1, stages=2
            ),
            [],
        )
        made.set(mark=(1.0, 1.0), verdict=(0.0, 0.0), condition=1.0, noise=0.5)
        made.W.stage, made.W.time = stage, 3.0

        def fake(name, told=told, breaks=breaks):
            return lambda *_: told.append(name) or (6 if name == breaks else 0)

        for name, as_name in {
            "apply_actions": "apply_actions",
            "refresh": "refresh",
            "change_structure": "change",
        }.items():
            monkeypatch.setattr(M, name, fake(as_name))
        monkeypatch.setattr(M, "structure", lambda I, F, W: ("next", "next"))
        monkeypatch.setattr(
            M,
            "write_balances",
            lambda out, model, ws, told=told: told.append(
                "books after" if model == "next" else "books before"
            ),
        )
        status = M.end_stage(made.I, None, made.W, made.model, made.ws, 1)
        whole = [
            *(["apply_actions", "refresh"] if actions else []),
            *(["change"] if stage == 0 else []),
            "refresh",
        ]
        upto = whole.index(breaks) + 1 if breaks in whole else len(whole)
        assert status == (6 if breaks in whole else 0) and told == [
            "books before",
            *whole[:upto],
            "books after",
        ]
        event = next(U.EVENT.rows(made["events"]))
        assert (event.kind, event.guard, event.count, event.stage, event.time) == (
            U.E_STAGE,
            1,
            1,
            stage + 1,
            3.0,
        )
        assert (
            made["mark"].tolist() == [0, 1]
            and made["verdict"].tolist() == [0, 1]
            and made["conditions"].tolist() == [1.0, 0.5]
        )
