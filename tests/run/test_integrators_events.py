"""Events on the dense output against closed forms: instants, order, direction, double crossings, simultaneity, chatter."""

import math

import numpy as np
import pytest
from integrator_runs import METHODS, cut, memory, problem, time_of
from plain_kernels import plain
from unit_stand_in import entries

from kinetree.scripts.bench.integrator_problems import FALL, Problem, kepler
from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import Status

EVENTS = plain("events.event_location")
reset_signs, start_locator = EVENTS.reset_signs, EVENTS.start_locator
locate, locator_size = EVENTS.locate_event, plain("events.guard_state").locator_size
G = 9.81
NEVER = 1e9
HEIGHT, SINE, PAIR, WAVE, DIP = range(5)


def guards(g, context, t, y):
    """Guards of the tests by context[2]."""
    kind = int(context[2])
    if kind == HEIGHT:
        g[0] = y[0]
    elif kind == SINE:
        g[0] = math.sin(3.0 * t + 0.1)
        g[1] = math.cos(3.0 * t + 0.1)
        g[2] = math.sin(3.0 * t + 0.1)
    elif kind == PAIR:
        g[0] = t - 0.5
        g[1] = 2.0 * (t - 0.5)
    elif kind == WAVE:  # level at its crests, below zero around 1.5, 4.5, ...
        g[0] = math.cos(2.0 * math.pi / 3.0 * t) + context[1]
    else:  # below zero for 2 sqrt(context[1]) around 0.7, and for ever after 2
        g[0] = (t - 0.7) * (t - 0.7) - context[1]
        g[1] = t - 2.0
    return 0


def fall(kind: float, depth: float = 0.0, start: tuple[float, ...] = (1.0, 0.0)) -> Problem:
    context = (FALL, G, kind) if kind == HEIGHT else (FALL, depth, kind)
    return Problem("fall", context, start, 10.0, None, False, 1)


def prepared(
    name: str, case: Problem, count: int, watch: float = 1.0, direction: float = 0.0, **options
):
    mem, ev = (
        memory(name, case, 1e-10, 1e-10, **options),
        U.LOCATOR.of(np.empty(locator_size(count, len(case.start)))),
    )
    start_locator(ev, count, len(case.start))
    entries(ev, "watch")[:] = watch
    entries(ev, "direction")[:] = direction
    y = np.array(case.start)
    assert METHODS[name].start(mem, problem, case.context, 0.0, y) == 0
    assert reset_signs(ev, guards, case.context, 0.0, y) == 0
    return mem, ev


def fired(ev) -> np.ndarray:
    """The new signs of the guards that crossed at the last event, else 0."""
    return entries(ev, "mark") * entries(ev, "sign")


def found(
    name: str, case: Problem, mem: np.ndarray, ev: np.ndarray, stop: float
) -> list[tuple[float, tuple[float, ...]]]:
    """Events up to `stop` that are only recorded: instants and signs."""
    events = []
    while time_of(mem) < stop:
        assert METHODS[name].step(mem, problem, case.context, NEVER) == 0
        while (
            status := locate(ev, guards, case.context, METHODS[name].interpolate, mem, stop)
        ) == Status.EVENT:
            events.append((ev.event_time, tuple(fired(ev))))
        assert status == 0
    return events


@pytest.mark.parametrize(
    "name, options",
    [("adams", {}), ("rk4", {"h": 0.01}), ("rk45", {}), ("radau", {}), ("stormer", {"h": 0.01})],
)
@pytest.mark.parametrize("restitution", [1.0, 0.7])
def test_bouncing_ball_events_match_geometric_series(name, options, restitution):
    """Impacts at t1 (1 + 2 e + 2 e^2 + ...); dense output is exact on a parabola, so only rounding is left: 1e-10 of an instant leaves wide room."""
    case = fall(HEIGHT)
    mem, ev = prepared(name, case, 1, direction=-1.0, **options)
    first, impacts, y = math.sqrt(2.0 / G), [], np.empty(2)
    while len(impacts) < 12:
        assert METHODS[name].step(mem, problem, case.context, NEVER) == 0
        if locate(ev, guards, case.context, METHODS[name].interpolate, mem, NEVER) == Status.EVENT:
            instant = ev.event_time
            impacts.append(instant)
            METHODS[name].interpolate(y, mem, instant)
            y[1] *= -restitution
            cut(mem, instant, y)
            assert METHODS[name].restart(mem, problem, case.context) == 0
            assert reset_signs(ev, guards, case.context, instant, y) == 0
    exact = first * (1.0 + 2.0 * np.cumsum([0.0] + [restitution**k for k in range(1, 12)]))
    assert np.abs(np.array(impacts) - exact).max() < 1e-10


@pytest.mark.parametrize("step", [0.05, 0.2])
@pytest.mark.parametrize("direction", [-1.0, 0.0], ids=["falling", "either"])
def test_flight_from_zero_gap_ends_within_step(step, direction):
    """Where both directions count the guard has no sign at first: it is found where it shows, also when the ball is down before the step is over."""
    case = fall(HEIGHT, start=(0.0, 0.5))
    events = found(
        "rk4", case, *prepared("rk4", case, 1, watch=0.0, direction=direction, h=step), 0.3
    )
    assert [sign for _, sign in events] == [(-1.0,)] and events[0][0] == pytest.approx(
        1.0 / G, abs=1e-12
    )


def test_elastic_ball_with_endless_bounces_is_reported_as_chatter():
    """Bounces of half the speed accumulate at 3 t1: reported there, not passed through."""
    case = fall(HEIGHT)
    mem, ev = prepared("adams", case, 1, direction=-1.0)
    y, status = np.empty(2), 0
    while status != Status.CHATTERING and time_of(mem) < 3.0:
        assert METHODS["adams"].step(mem, problem, case.context, NEVER) == 0
        status = locate(ev, guards, case.context, METHODS["adams"].interpolate, mem, NEVER)
        if status == Status.EVENT:
            METHODS["adams"].interpolate(y, mem, ev.event_time)
            y[1] *= -0.5
            cut(mem, ev.event_time, y)
            METHODS["adams"].restart(mem, problem, case.context)
            reset_signs(ev, guards, case.context, ev.event_time, y)
    assert status == Status.CHATTERING
    assert ev.event_time == pytest.approx(3.0 * math.sqrt(2.0 / G), abs=1e-6)


def test_sine_crossings_are_ordered_with_direction():
    """Guard 0 both ways, guard 1 upwards, guard 2 downwards; steps of 0.2 hold up to one crossing of each."""
    case = fall(SINE)
    mem, ev = prepared("rk4", case, 3, h=0.2)
    entries(ev, "direction")[:] = (0.0, 1.0, -1.0)
    events = found("rk4", case, mem, ev, 9.0)
    exact = []
    for k in range(1, 20):
        up = 1.0 if k % 2 == 0 else -1.0
        exact.append(((k * math.pi - 0.1) / 3.0, (up, 0.0, up if up < 0.0 else 0.0)))
        if k % 2 == 0:
            exact.append((((k - 0.5) * math.pi - 0.1) / 3.0, (0.0, 1.0, 0.0)))
    exact = sorted(event for event in exact if event[0] <= 9.0)
    assert [signs for _, signs in events] == [signs for _, signs in exact]
    assert np.abs(np.array([t for t, _ in events]) - np.array([t for t, _ in exact])).max() < 2e-12


def test_many_crossings_inside_a_step_are_found():
    """A step of 3.5 holds three crossings of sin and cos(3 t + 0.1) each: six points inside separate them."""
    case = fall(SINE)
    mem, ev = prepared("rk4", case, 3, watch=7.0, h=3.5)
    events = found("rk4", case, mem, ev, 3.5)
    exact = sorted(
        [(k * math.pi - 0.1) / 3.0 for k in range(1, 4)]
        + [((k + 0.5) * math.pi - 0.1) / 3.0 for k in range(4)]
    )
    instants = [t for t, _ in events]
    assert len(instants) == len([t for t in exact if t <= 3.5])
    assert np.abs(np.array(instants) - np.array(exact)[: len(instants)]).max() < 2e-12


@pytest.mark.parametrize("depth", [0.1, 1e-4, 1e-8])
def test_dip_inside_step_is_detected(depth):
    """Steps of 1 from 0; the dip around 0.7 is 2 sqrt(depth) wide; the minimum of a parabola is found to 1e-8 of the step and better."""
    case = fall(DIP, depth)
    mem, ev = prepared("rk4", case, 2, h=1.0)
    events = found("rk4", case, mem, ev, 3.5)
    exact = [0.7 - math.sqrt(depth), 0.7 + math.sqrt(depth), 2.0]
    assert (
        np.abs(np.array([t for t, _ in events]) - exact).max()
        < 1e-11 / math.sqrt(depth) ** 0.5 + 1e-12
    )
    assert [signs for _, signs in events] == [(-1.0, 0.0), (1.0, 0.0), (0.0, 1.0)]


def test_dips_in_later_steps_are_found():
    """Steps of 1: the first of every three begins level, the second falls and rises again."""
    case = fall(WAVE, 0.9)
    mem, ev = prepared("rk4", case, 1, h=1.0)
    half = 1.5 / math.pi * math.acos(0.9)
    exact = [middle + side * half for middle in (1.5, 4.5, 7.5) for side in (-1.0, 1.0)]
    events = found("rk4", case, mem, ev, 9.0)
    assert [t for t, _ in events] == pytest.approx(exact, abs=1e-11) and [
        signs for _, signs in events
    ] == 3 * [(-1.0,), (1.0,)]


@pytest.mark.parametrize("direction, exact", [(1.0, [0.8]), (-1.0, [0.6])])
def test_double_crossing_fires_in_its_direction(direction, exact):
    case = fall(DIP, 0.01)
    mem, ev = prepared("rk4", case, 2, direction=direction, h=1.0)
    assert [t for t, _ in found("rk4", case, mem, ev, 1.0)] == pytest.approx(exact, abs=1e-12)


def test_touching_zero_is_not_a_crossing():
    case = fall(DIP, 0.0)
    mem, ev = prepared("rk4", case, 2, h=1.0)
    assert [signs for _, signs in found("rk4", case, mem, ev, 1.5)] == []


def test_simultaneous_events_are_reported_together():
    case = fall(PAIR)
    mem, ev = prepared("rk4", case, 2, h=0.3)
    events = found("rk4", case, mem, ev, 1.0)
    assert len(events) == 1 and events[0][1] == (1.0, 1.0)
    assert events[0][0] == pytest.approx(0.5, abs=1e-12)


def test_guard_at_zero_fires_in_its_direction():
    """At the very start g = t - 0.5 + 0.5: watched upwards it fires at once, watched downwards never."""
    for direction, count in ((1.0, 1), (-1.0, 0)):
        case = fall(HEIGHT, start=(0.0, 1.0))
        mem, ev = prepared("rk4", case, 1, direction=direction, h=0.01)
        events = found("rk4", case, mem, ev, 0.1)
        assert len(events) == count
        assert not events or events[0][0] < 1e-11


def test_a_step_without_events_costs_three_guard_evaluations():
    """One at the end of the step, one for the slope there; one for the first slope and four inside the first step: the rest are shared."""
    case = kepler(0.3, 10.0)._replace(context=(0.0, 1.0, PAIR))
    mem, ev = prepared("rk4", case, 2, h=0.01)
    calls = ev.calls
    found("rk4", case, mem, ev, 0.395)
    assert ev.calls - calls <= 2 * 40 + 5
