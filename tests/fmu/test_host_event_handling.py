"""Hosts that integrate themselves, with habits: looks at trial points and behind the last step, states before the time, no completed steps.

The C host plays them (scripts/fmi/motion_host.c); the reference is co-simulation, that is the own integrator with its own search for events.
"""

import ctypes
import shutil
from collections.abc import Callable

import numpy as np
import pytest
from random_descriptions import random_description

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.description.reading.read_source import library_names
from kinetree.scripts.fmi.bare_c_host import no_compiler, why_not
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.host_programs import LINUX, Task, by_c_program, by_habits, deviation

if why_not(LINUX) or no_compiler():
    pytest.skip(f"no C host: {why_not(LINUX) or no_compiler()}", allow_module_level=True)

ENDS = {"andrews": 0.03}  # driven without end: the published time
HABITS = ("me", "omc", "oms", "quiet")
ARCHIVES = {
    "native 2": ("native", 2),
    "native 3": ("native", 3),
    "python 3": ("python", 3),
    "source 2": ("source", 2),
}
KINDS = [
    pytest.param(kind, marks=pytest.mark.slow if kind.startswith("source") else ())
    for kind in ARCHIVES
]
BALL = {
    "format": "kinetree/1",
    "name": "ball",
    "gravity": [0, 0, -9.81],
    "parameters": {
        "height": {"value": 1.0, "min": 0.1},
        "keeps": {"value": 0.7, "min": 0, "max": 1},
        "pace": {"value": 1.0, "tunable": True},
        "twice": "2*height",
    },
    "inputs": {"wind": {"start": 0.5}},
    "bodies": {"ball": {"mass": 1.0}},
    "joints": {
        "j": {
            "child": "ball",
            "transforms": [
                {"shift": "z", "coordinate": "h", "start": "height"},
                {"shift": "x", "coordinate": "x", "speed": "pace*height"},
            ],
        }
    },
    "forces": {"blow": {"coordinate": "x", "value": "wind"}},
    "events": {
        "bounce": {
            "when": "h < 0 and der(h) < 0",
            "set": {"h": 0.0, "der(h)": "-keeps*der(h)"},
        }
    },
    "run": {"stop_time": 1.3, "output_step": 0.01},
}
# contacts without and with friction along a line and in a plane, events, stages, closed loops; end of the run, events up to there
QUICK = {
    "bouncing-ball": (1.0, 2),
    "pendulum-stop": (1.0, 2),
    "impact-pair": (0.5, 4),
    "painleve-rod": (0.5, 1),
    "newtons-cradle": (0.5, None),
    "woodpecker": (0.3, 16),
    "four-bar": (0.5, 0),
}


def states_of(archive: Archive) -> list[str]:
    found = (v.derivative for v in archive.description.modelVariables)
    return [v.name for v in found if v is not None]


def task_of(archive: Archive, exchange: bool, end: float, **more) -> Task:
    return Task(archive, exchange, states_of(archive), end / 20, 20, **more)


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Archives by mechanism and kind, packed once."""
    folder, archives = tmp_path_factory.mktemp("hosts"), {}

    def of(mechanism: str | dict, kind: str = "native 2") -> Archive:
        key = (str(mechanism), kind)
        if key not in archives:
            backend, version = ARCHIVES[kind]
            path = folder / f"{len(archives)}.fmu"
            platforms = None if backend == "source" else ["linux64"]
            build_fmu(load(mechanism), path, backend, version, platforms=platforms)
            archives[key] = Archive(path)
        return archives[key]

    yield of
    for archive in archives.values():
        shutil.rmtree(archive.folder, ignore_errors=True)


@pytest.mark.parametrize("habits", HABITS)
@pytest.mark.parametrize("name", QUICK)
def test_every_host_behaviour_finds_the_same_events(name: str, habits: str, opened: Callable):
    """At the tolerances of OpenModelica and tighter ones, where its hysteresis is smaller."""
    archive, (end, events) = opened(f"lib:{name}"), QUICK[name]
    expected = by_c_program(task_of(archive, False, end), LINUX)
    for tolerance, bound in ((1e-3, 5e-3), (1e-6, 1e-4), (1e-8, 1e-5)):
        task = task_of(archive, True, end, tolerance=tolerance)
        found, count = by_habits(task, LINUX, habits)
        assert deviation(found, expected) < bound
        assert events is None or count == events


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("habits", HABITS)
def test_every_archive_kind_finds_the_same_events(habits: str, kind: str, opened: Callable):
    archive = opened(BALL, kind)
    expected = by_c_program(task_of(archive, False, 0.6), LINUX)
    found, count = by_habits(task_of(archive, True, 0.6, tolerance=1e-4), LINUX, habits)
    assert deviation(found, expected) < 1e-6 and count == 1


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_set_in_initialization_determine_the_start(kind: str, opened: Callable):
    """OpenModelica up to 1.27 sets fixed and tunable parameters there, unchanged or not, and reads the states behind that."""
    archive = opened(BALL, kind)
    given = {"height": 0.8, "keeps": 0.5, "pace": 2.0, "wind": 0.25}
    late, early = (
        by_habits(task_of(archive, True, 0.6, tolerance=1e-4, parameters=given), LINUX, habits)
        for habits in ("omc", "me")
    )
    other, _ = by_habits(task_of(archive, True, 0.6, tolerance=1e-4), LINUX, "omc")
    assert deviation(*map(list, (late[0], early[0]))) < 1e-12 and late[1] == early[1]
    assert deviation(late[0], other) > 0.1


class Integrated:
    """An instance of model exchange, by the calls of FMI 2.0."""

    def __init__(self, archive: Archive, messages: list[str] | None = None):
        self.host = Host(archive, messages, kind="ModelExchange").start()
        self.fmu, self.archive = self.host.fmu, archive
        self.size = archive.description.numberOfContinuousStates
        self.guards = archive.description.numberOfEventIndicators

    def numbers(self, call: Callable, count: int) -> list[float]:
        values = (ctypes.c_double * count)()
        call(values, count)
        return list(values)

    @property
    def states(self) -> list[float]:
        return self.numbers(self.fmu.getContinuousStates, self.size)

    def place(self, t: float, *x: float) -> list[float]:
        """Indicators there."""
        self.fmu.setTime(t)
        self.fmu.setContinuousStates((ctypes.c_double * self.size)(*x), self.size)
        return self.numbers(self.fmu.getEventIndicators, self.guards)

    def update(self, *, enter: bool = True) -> None:
        if enter:
            self.fmu.enterEventMode()
        self.fmu.newDiscreteStates()
        self.fmu.enterContinuousTimeMode()


def test_event_mode_may_be_entered_repeatedly(opened: Callable):
    """The first update of OpenModelica begins so; nothing has been located there, and nothing happens."""
    unit = Integrated(opened("lib:newtons-cradle"))
    for _ in range(2):
        unit.fmu.enterEventMode()
    unit.update()
    assert unit.host.integers(["events"]) == [0]


def test_completed_step_can_be_rolled_back(opened: Callable):
    """A guard that has happened may happen again once the host goes on from a step at which it was negative; until then no look tells a difference.

    The state is saved with what was noted. BAND is the difference that marks make in an indicator.
    """
    unit = Integrated(opened(BALL))
    unit.update(enter=False)
    order = [v.derivative.name for v in unit.archive.description.modelVariables if v.derivative]

    def at(t: float, h: float, w: float) -> list[float]:
        values = {"h": h, "der(h)": w, "x": 0.0, "der(x)": 0.0}
        return unit.place(t, *(values[name] for name in order))

    assert at(0.4, 0.1, -4.0)[0] < 0 < at(0.45, -1e-9, -4.4)[0]
    unit.update()
    after = dict(zip(order, unit.states, strict=True))
    assert after["der(h)"] == pytest.approx(0.7 * 4.4) and unit.host.integers(["events"]) == [1]
    plain = at(0.5, 0.1, 2.0)
    unit.fmu.completedIntegratorStep()
    assert at(0.5, 0.1, 2.0) == plain, "nothing that a look tells"
    assert at(0.48, 0.1, 2.0) == plain and at(0.5, 0.1, 2.0) == plain, "taken back"
    unit.fmu.completedIntegratorStep()
    state = unit.host.save()
    went_on = at(0.51, 0.1, 2.0)
    unit.host.restore(state)
    assert at(0.49, 0.1, 2.0) == plain, "the note was saved, and is dropped"
    unit.host.restore(unit.host.parsed(unit.host.serialized(state), 0.5))
    assert at(0.51, 0.1, 2.0) == went_on, "the note went through bytes, and counts"


@pytest.mark.parametrize("kind", ["native 2", "native 3", "python 3"])
def test_event_indicators_avoid_zero_and_match_variables(kind: str, opened: Callable):
    """OpenModelica takes no indicator within 1e-4 of its tolerance for a change."""
    archive = opened("lib:bouncing-ball", kind)
    host = Host(archive, kind="ModelExchange").start()
    names = sorted(name for name in archive.references if name.startswith("event_indicator["))
    values = (ctypes.c_double * len(names))()
    host.fmu.getEventIndicators(values, len(names))
    assert host.get(names) == list(values) and min(map(abs, values)) >= 1e-6
    host.close()


def with_event(seed: int) -> dict:
    """A random tree, one of whose coordinates turns back where it passes what it has after 0.1 s."""
    described = random_description(np.random.default_rng(seed), 4).description
    system = load(described).compile()
    run = system.simulate(stop_time=0.1)
    names = [name for name in system.coordinates if f"der({name})" in system.speeds]
    moved = {name: run[name][-1] - run[name][0] for name in names}
    name = max(moved, key=lambda each: abs(moved[each]))
    sign = ">" if moved[name] > 0 else "<"
    speed = f"der({name})"
    turn = {"when": f"{name} {sign} {float(run[name][-1])!r}", "set": {speed: f"-0.7*{speed}"}}
    return described | {"events": {"turn": turn}}


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_random_mechanisms_agree_in_every_host_behaviour(seed: int, opened: Callable):
    archive = opened(with_event(seed))
    expected = by_c_program(task_of(archive, False, 0.2), LINUX)
    counts = set()
    for habits in HABITS:
        found, count = by_habits(task_of(archive, True, 0.2, tolerance=1e-8), LINUX, habits)
        assert deviation(found, expected) < 1e-5
        counts.add(count)
    assert len(counts) == 1 and counts != {0}


@pytest.mark.slow
@pytest.mark.parametrize("name", library_names())
def test_library_mechanisms_agree_in_every_host_behaviour(name: str, opened: Callable):
    """Errors of a tolerance grow by the motion; what habits add is compared with the host that has none."""
    archive, end = opened(f"lib:{name}"), ENDS.get(name, 0.5)
    expected = by_c_program(task_of(archive, False, end), LINUX)
    for tolerance, bound in ((1e-3, 0.3), (1e-6, 3e-3), (1e-8, 2e-4)):
        task = task_of(archive, True, end, tolerance=tolerance)
        plain, _ = by_habits(task, LINUX, "me")
        allowed = max(3.0 * deviation(plain, expected), 0.01 * bound)
        assert deviation(plain, expected) < bound, tolerance
        for habits in ("omc", "oms", "quiet"):
            found, count = by_habits(task, LINUX, habits)
            assert deviation(found, expected) < allowed and count < 200, (habits, tolerance)
