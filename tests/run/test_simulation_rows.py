"""How a run goes from row to row, over units that only note what they are asked for; the methods of ensembles and how their runs are grouped."""

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError
from kinetree.models.run import ensemble, lanes_through_events, simulation
from kinetree.models.run.input_functions import Sampled, Signal
from kinetree.models.run.simulation import Options
from kinetree.models.run.simulation_unit import Run, make_unit, stage_transition
from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import CURVE, WIDTH, Status
from kinetree.solvers.model_records import HEADER

E, T = ensemble, lanes_through_events


class Running:
    """A unit of two stages whose advances end as told; a log of four events."""

    def __init__(self, *statuses: int, stages: int = 2, followed: int = 0):
        self.statuses, self.told = list(statuses), []
        compiled = [
            SimpleNamespace(guards=[f"{k}a", f"{k}b"], inputs=("f", "g"), counts={"nfi": followed})
            for k in range(stages)
        ]
        header = SimpleNamespace(logged=4, at_events=3, at_slopes=80, at_curves=84)
        self.unit: Any = SimpleNamespace(
            header=header, stage_names=["one", "two"], stages=compiled, compiled=compiled
        )
        self.work = np.zeros(100)
        self.head: Any = SimpleNamespace(
            events=0.0, told=0.0, time=2.0, item=0.0, curved=0.0, stage=0.0
        )

    def call(self, name: str, option: int = 0, t: float = 0.0) -> int:
        self.told.append((name, option, t))
        return self.statuses.pop(0) if self.statuses else 0

    def set_input(self, name: str, value: float) -> None:
        self.told.append((name, value))

    def log(self, number: int, kind: int, stage: int, guard: int) -> None:
        event = U.EVENT.of(self.work, 3 + U.EVENT.size * (number % 4))
        event.time, event.kind, event.stage, event.guard, event.count = (
            0.5 * number,
            kind,
            stage,
            guard,
            number + 1,
        )
        event.before, event.after = np.full(5, number), np.full(5, -number)
        self.head.events = number + 1.0


class Results:
    def __init__(self) -> None:
        self.events: list[Any] = []
        self.notes = 0

    def note(self, run: Any) -> None:
        self.notes += 1


def test_events_are_read_from_the_ring_buffer():
    """What was taken over is not again, what has been overwritten is lost; a stage's end is told by the guards of the stage before."""
    run: Any = Running()
    result: Any = Results()
    simulation.collect_events(run, result.events)
    assert not result.events and run.head.told == 0
    run.log(0, U.E_RESET, 0, 1)
    run.log(1, U.E_STAGE, 1, 0)
    simulation.collect_events(run, result.events)
    first, second = result.events
    assert (first.time, first.kind, first.stage, first.cause, first.together) == (
        0.0,
        "reset",
        "one",
        "0b",
        1,
    )
    assert (second.time, second.kind, second.stage, second.cause, second.together) == (
        0.5,
        "stage",
        "two",
        "0a",
        2,
    )
    assert second.before == (1.0,) * 5 and second.after == (-1.0,) * 5 and run.head.told == 2
    for number in range(2, 8):
        run.log(number, U.E_RESET, 1, 0)
    simulation.collect_events(run, result.events)
    assert (
        [event.time for event in result.events] == [0.0, 0.5, 2.0, 2.5, 3.0, 3.5]
        and run.head.told == 8
        and result.events[-1].cause == "1a"
    )


def test_staged_run_stops_around_events():
    for stages, option in ((1, U.STOP_BEFORE_FULL), (2, U.STOP_AROUND_EVENT)):
        run: Any = Running(Status.EVENT, Status.EVENT, 0, stages=stages)
        result: Any = Results()
        simulation.advance(run, result, U.CONTINUED, 3.0)
        assert run.told == [("unit_advance", option | U.CONTINUED, 3.0)] * 3 and result.notes == 2
    interrupted: Any = Running(Status.CANCELLED)
    with pytest.raises(KeyboardInterrupt):
        simulation.advance(interrupted, Results(), 0, 3.0)  # type: ignore[arg-type]


def test_stop_statuses_are_not_errors():
    run = Run(make_unit(load(mass()).compile()))
    simulation.raise_on_failure(run, Status.OK)
    simulation.raise_on_failure(run, Status.EVENT)
    run.head.time = 2.5
    with pytest.raises(EvaluationError, match="at t = 2.5: too many|at t = 2.5: ") as caught:
        simulation.raise_on_failure(run, Status.TOO_MANY_STEPS)
    assert caught.value.status == Status.TOO_MANY_STEPS


def mass(**more: Any) -> dict[str, Any]:
    body = {"mass": 1.0, "com": [0, 0, 0], "inertia": [1, 1, 1, 0, 0, 0]}
    return {
        "format": "kinetree/1",
        "bodies": {"a": body},
        "joints": {"j": {"child": "a", "transforms": [{"shift": "x", "coordinate": "x"}]}},
        **more,
    }


def test_moving_input_passes_all_derivatives():
    """By its number among the inputs: the value in its register, the slope and CURVE more powers in their parts."""
    run: Any = Running()
    simulation.write_input_polynomial(run, "g", np.arange(1.0, CURVE + 3))
    expected = np.zeros(100)
    expected[81], expected[84 + CURVE : 84 + 2 * CURVE] = 2.0, np.arange(3.0, CURVE + 3)
    assert (
        run.told == [("g", 1.0)]
        and run.work.tolist() == expected.tolist()
        and run.head.curved == 1.0
    )


@pytest.mark.parametrize("followed", [0, 1])
def test_interval_continues_across_pieces(followed: int):
    """Parts after the first one continue the communication step; a row shows what follows a jump at its instant, and forces of couplings else."""
    for jump, refreshed in ((0.5, not followed), (1.0, True)):
        run: Any = Running(stages=1, followed=followed)
        moving = {
            "f": Sampled("f", Signal(lambda t, jump=jump: 1.0 if t >= jump else 3.0, (jump,)), 1e-8)
        }
        simulation.advance_to_row(run, Results(), moving, 0.0, 1.0)  # type: ignore[arg-type]
        advances = [
            (option & U.CONTINUED, t)
            for name, option, t in (each for each in run.told if each[0] == "unit_advance")
        ]
        assert [option for option, _ in advances] == [
            0,
            *[U.CONTINUED] * (len(advances) - 1),
        ] and advances[-1][1] == 1.0
        assert jump == 1.0 or [t for _, t in advances] == pytest.approx([0.5, 1.0], abs=1e-11)
        assert (("unit_refresh", 0, 1.0) in run.told) == refreshed and (
            run.told[-2:] == [("f", 1.0), ("unit_refresh", 0, 1.0)]
        ) == refreshed
    still: Any = Running(stages=1)
    simulation.advance_to_row(still, Results(), {}, 0.0, 1.0)  # type: ignore[arg-type]
    assert still.told == [("unit_advance", U.STOP_BEFORE_FULL, 1.0)]


def test_coupling_follows_previous_polynomial():
    """A row that comes without a jump needs no look at the input: what its polynomial reaches is what it is."""
    run: Any = Running(stages=1, followed=1)
    function = Signal(lambda t: 3.0 + 2.0 * t, (0.5,))
    simulation.advance_to_row(run, Results(), {"f": Sampled("f", function, 1e-8)}, 0.0, 1.0)  # type: ignore[arg-type]
    assert ("unit_refresh", 0, 1.0) not in run.told


def test_run_options_reach_the_integrator():
    """Steps may pass an output where nothing changes there: no function of time, no actuator, no fixed steps."""
    rows = (
        ("auto", 0, 0, 1),
        ("auto", 1, 0, 0),
        ("auto", 0, 1, 0),
        ("rk4", 0, 0, 0),
        ("radau", 0, 0, 1),
        ("stormer", 0, 0, 0),
    )
    for integrator, moving, actuators, soft in rows:
        run: Any = Running()
        run.unit.description = SimpleNamespace(actuators={"a": 1} if actuators else {})
        simulation.write_integrator_options(
            run,
            Options(0.0, 1.0, 0.1, integrator, "auto", 1e-3, 1e-4, 0.05, 0.5, 77.0),
            bool(moving),
        )
        head = run.head
        assert (
            head.relative,
            head.absolute,
            head.step,
            head.largest_step,
            head.budget,
            head.soft,
        ) == (1e-3, 1e-4, 0.05, 0.5, 77.0, soft)


@pytest.mark.parametrize("integrator", ["rk4", "auto", "rk45", *E.TABLES])
def test_lane_methods_integrate_polynomials_exactly(integrator: str):
    """Nodes are the sums of their rows; weights integrate up to the order, their difference up to the lower one."""
    numbers = E.method_numbers(
        Options(0.0, 1.0, 0.1, integrator, "auto", 1e-3, 1e-4, 0.05, 0.5), 2.0
    )
    stages = int(-3 + np.sqrt(9 + 4 * (numbers.size - 7))) // 2
    assert numbers.size == 7 + 3 * stages + stages**2
    head, c, b, e, a = np.split(numbers, 7 + stages * np.array([0, 1, 2, 3]))
    a = a.reshape(stages, stages)
    assert (
        c == pytest.approx(a.sum(axis=1), abs=1e-13)
        and not np.triu(a).any()
        and b.sum() == pytest.approx(1.0)
    )
    order = {"rk4": 4, "auto": 5, "rk45": 5}.get(integrator) or E.TABLES[integrator].order
    assert [b @ c**k for k in range(order)] == pytest.approx(
        [1 / (k + 1) for k in range(order)], abs=1e-12
    )
    if integrator == "rk4":
        assert head.tolist() == [1e-3, 1e-4, 0.05, 4, 0, 0.05, 0] and not e.any() and stages == 4
        return
    lower = next(
        k for k in itertools.count() if abs(e @ c**k) > 1e-10
    )  # the first power that the other weights miss
    assert head.tolist() == [1e-3, 1e-4, 0.0, lower + 1.0, 1.0, 0.2, 0.0]
    assert a[-1] == pytest.approx(b) and c[-1] == 1.0, (
        "the last stage is the first of the next step"
    )


def test_lane_tableaus_include_last_stage():
    """What is compared, too, belongs to that stage: the difference of both solutions vanishes for constant rates alone."""
    for name in ("auto", *E.TABLES):
        numbers = E.method_numbers(Options(0.0, 1.0, 0.1, name, "auto", 1e-3, 1e-4, 0.05, 0.5), 1.0)
        stages = int(-3 + np.sqrt(9 + 4 * (numbers.size - 7))) // 2
        e = numbers[7 + 2 * stages : 7 + 3 * stages]
        assert e.sum() == pytest.approx(0.0, abs=1e-13) and e[-1] != 0.0


class Grouped:
    """Groups of which the members are numbers."""

    def __init__(self, *members: Any):
        self.places = [*members, *[None] * (WIDTH - len(members))]
        self.kept = 0
        self.wide = self
        self.structure = SimpleNamespace(
            instance=SimpleNamespace(keep=lambda stride, wide: setattr(wide, "kept", wide.kept + 1))
        )

    def members(self) -> list[Any]:
        return [each for each in self.places if each is not None]


@pytest.mark.parametrize(
    "sizes, left",
    [
        ((8, 8), 2),
        ((4, 4), 1),
        ((8, 1), 2),
        ((3, 3, 3), 2),
        ((1, 0, 7), 1),
        ((0, 0), 0),
        ((0,), 0),
        ((8, 8, 1, 7), 3),
        ((8, 8, 1, 8), 4),
    ],
)
def test_ensemble_groups_are_refilled(sizes: tuple[int, ...], left: int):
    numbers = iter(range(99))
    groups: Any = [Grouped(*(next(numbers) for _ in range(size))) for size in sizes]
    stay, out = T.fullest_groups(groups)
    assert (
        len(stay) == left
        and sorted(len(group.members()) for group in stay) == sorted(sizes)[len(sizes) - left :]
    )
    rest = [group for group in groups if group not in stay]
    assert sorted(out) == sorted(member for group in rest for member in group.members()) and all(
        group.kept == (group in rest) for group in groups
    )


def test_run_joins_matching_group(monkeypatch):
    made: list[Any] = []

    class New(Grouped):
        def __init__(self, room, structure, stages):
            super().__init__()
            made.append((room, structure, stages))

        def join(self, member) -> None:
            self.places[self.places.index(None)] = member

    monkeypatch.setattr(T, "LaneGroup", New)
    groups: dict[Any, Any] = {}
    for k in range(WIDTH + 2):
        T.join_group("room", groups, SimpleNamespace(key="a", structure="s", number=k), 4)  # type: ignore[arg-type]
    T.join_group("room", groups, SimpleNamespace(key="b", structure="s", number=99), 4)  # type: ignore[arg-type]
    assert (
        [len(group.members()) for group in groups["a"]] == [WIDTH, 2]
        and len(groups["b"]) == 1
        and made == [("room", "s", 4)] * 3
    )


def test_stage_entry_initialises_state():
    """Parameters that it sets, bodies that are let go, locked states that the run has had; speeds may jump at locks and with loops."""
    stages = [SimpleNamespace(), SimpleNamespace(set=("k", "m"), freed=("c", "a"), newly_locked=())]
    registers = {"k": 3, "m": 4, "locked(x)": 9, "locked(y)": 11, "locked(gone)": 12, "x": 20}
    for locked, loops, jump in (((), [], 0), (("j",), [], 1), ((), ["l"], 1)):
        stages[1].newly_locked = locked
        unit: Any = SimpleNamespace(
            stages=stages,
            compiled=[None, SimpleNamespace(registers=registers, loops=loops)],
            states=["v", "y", "x"],
        )
        assert stage_transition(unit, 1, ["a", "b", "c"]) == [
            *U.TRANSITION.filled(set=2, freed=2, locked=2, jump=jump),
            3,
            4,
            2,
            0,
            2,
            9,
            1,
            11,
        ]


def test_falling_mass_records_each_row_once():
    """x = -g t²/2 with an input that jumps at a row, which shows the value behind it; the interrupt of a run keeps what was there."""
    source = mass(
        gravity=[-10, 0, 0],
        inputs={"f": 0.0},
        forces={"push": {"coordinate": "x", "value": "f"}},
        outputs={"seen": "f"},
    )
    told: list[float] = []
    result = (
        load(source)
        .compile()
        .simulate(
            1.0,
            inputs={"f": Signal(lambda t: 4.0 if t >= 0.5 else 0.0, (0.5,))},
            output_step=0.25,
            progress=told.append,
        )
    )
    assert told == [0.25, 0.5, 0.75, 1.0] and result["seen"].tolist() == [0.0, 0.0, 4.0, 4.0, 4.0]
    late = np.maximum(result.time - 0.5, 0.0)
    assert result["x"] == pytest.approx(-5.0 * result.time**2 + 2.0 * late**2, abs=1e-9)

    def stop(t: float) -> None:
        if t > 0.4:
            raise KeyboardInterrupt

    broken = load(source).compile().simulate(1.0, output_step=0.25, progress=stop)
    assert (
        broken.time.tolist() == [0.0, 0.25, 0.5]
        and broken.interrupted
        and math.isclose(broken["x"][-1], -1.25, rel_tol=1e-9)
    )
    with pytest.raises(KeyError, match="'h' is not an input; inputs: f"):
        load(source).compile().simulate(1.0, inputs={"h": 1.0, "f": 1.0})


def test_run_reports_computing_time(monkeypatch):
    """By the clock before its first row and behind its last one."""
    clock = iter((10.0, 13.5))
    monkeypatch.setattr(simulation, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    result = load(mass()).compile().simulate(0.5, output_step=0.25)
    assert (
        result.statistics["seconds"] == 3.5
        and result.statistics["events"] == 0.0
        and result.statistics["steps"] > 0.0
    )


def test_run_starts_with_its_inputs(monkeypatch):
    """They are written once everything stands, and all is evaluated again; a start that fails is the end of it."""
    run = Run(
        make_unit(
            load(
                mass(
                    inputs={"f": 1.0, "g": 2.0},
                    forces={"push": {"coordinate": "x", "value": "f + g"}},
                )
            ).compile()
        )
    )
    for status, inputs, names in (
        (0, {}, ["unit_start"]), (0, {"g": 7.0}, ["unit_start", "unit_refresh"]), (4, {"g": 9.0}, ["unit_start"]),
    ):  # fmt: skip
        told: list[Any] = []
        monkeypatch.setattr(
            run, "call", lambda *given, told=told, status=status: told.append(given) or status
        )
        assert run.begin(2.5, inputs) == status and told == [(name, 0, 2.5) for name in names]
        assert not inputs or run.work[run.unit.register("f") + 1] == 7.0


def test_columns_cover_all_structures():
    """Sizes and places of a unit of two stages, of which the second has more bodies free: the largest of either, and one number more for the work."""
    source = mass(
        bodies={name: mass()["bodies"]["a"] for name in "ab"},
        joints=mass()["joints"] | {"k": {"parent": "a", "child": "b", "transforms": [{"rotate": "y", "coordinate": "p"}]}},
        stages=[{"ends": {"at": 1.0}, "free": ["k"]}, {}], events={"e": {"when": "x > 9", "set": {"der(x)": 0}}},
    )  # fmt: skip
    unit = make_unit(load(source).compile(), "rk4")
    header, record = (
        unit.header,
        [U.STAGE.of(unit.ints, U.UNIT.size + k * U.STAGE.size) for k in range(2)],
    )
    first, second = unit.compiled
    assert unit.states == [
        *dict.fromkeys((*first.coordinates, *first.speeds, *second.coordinates, *second.speeds))
    ]
    assert [column.name for column in unit.columns][: len(unit.states)] == [
        *first.coordinates,
        *first.speeds,
        *unit.states[4:],
    ]
    assert (
        header.stages,
        header.columns,
        header.states,
        header.bodies,
        header.event_names,
        header.inputs,
    ) == (
        2,
        len(unit.columns),
        len(unit.states),
        2,
        1,
        0,
    )
    assert (header.guards, record[0].guards, record[1].guards) == (2, 2, 1) and (
        record[0].transition,
        record[0].floats,
    ) == (-1, 0)
    assert (
        record[1].floats == first.floats.size
        and unit.floats.size == first.floats.size + second.floats.size == header.floats_size
    )
    assert (
        unit.ints.size == header.ints_size
        and unit.ints[record[0].ints :][: first.ints.size].tolist() == first.ints.tolist()
    )
    assert unit.ints[record[1].ints :][: second.ints.size].tolist() == second.ints.tolist()
    states, there = (
        unit.ints[record[0].states :][: len(unit.states)].tolist(),
        [*first.coordinates, *first.speeds],
    )
    assert states == [there.index(name) if name in there else -1 for name in unit.states]
    assert unit.ints[record[1].bodies :][:2].tolist() == [
        [*second.bodies].index(name) + 1 for name in first.bodies
    ]
    n = len(second.coordinates) + len(second.speeds) + 1
    assert (
        header.at_memory - header.at_scratch == 3 * n
        and header.at_workspace - header.at_memory == header.memory
    )
    assert header.work_size - header.at_workspace == max(
        int(HEADER.of(c.ints).work_size) for c in unit.compiled
    ) and unit.stage_names == [
        "stage 1",
        "stage 2",
    ]
