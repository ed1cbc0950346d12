"""Guards that swing many times inside of one step: every crossing is found, at a cost that is known, whatever the periods have in common."""

import math

import numpy as np
import pytest
from known_guards import E, Law, Locator

from kinetree.solvers.layout import Status


def instants(locator: Locator, end: float) -> list[float]:
    """Instants of all events up to the end of the step."""
    found = []
    while (status := E.locate_event(*locator.how, end)) == Status.EVENT:
        found.append(locator.ev.event_time)
    assert status == 0
    return found


def locator_of(law: Law, begin: float, end: float, direction: float) -> Locator:
    locator = Locator(law, begin=begin, end=end, direction=direction)
    assert E.reset_signs(locator.ev, locator.guards, None, begin, np.array([begin])) == 0
    return locator


def crossings(law: Law, begin: float, end: float, direction: float, step: float) -> list[float]:
    """Instants at which a law of time changes its sign, by small steps."""
    times = np.linspace(begin, end, math.ceil((end - begin) / step) + 1)
    signs = np.sign([law(t) for t in times])
    places = np.flatnonzero(signs[1:] * signs[:-1] < 0)
    return [times[k + 1] for k in places if direction == 0.0 or signs[k + 1] == direction]


# a law whose period divides the step, and the shares of it at which a step may be looked at, begins at an extremum, or nowhere in particular
SWINGS = {
    "whole turns": lambda t: math.cos(2 * math.pi * 10 * t) - 0.5,
    "from an extremum": lambda t: 0.5 - math.cos(2 * math.pi * 64 * t),
    "many": lambda t: math.sin(1234.5 * t + 0.3) + 0.97,
    "seldom deep": lambda t: math.sin(217.3 * t) - 0.999,
    "faster and faster": lambda t: math.sin(300.0 * t * t) - 0.2,
    "on a slope": lambda t: 0.3 - t + 0.25 * math.sin(150.0 * t),
    "two rhythms": lambda t: math.sin(40.0 * t) + math.sin(40.0 * math.sqrt(2.0) * t) - 1.7,
    "steps": lambda t: math.tanh(2.0 * math.sin(70.0 * t + 0.2)) + 0.5,
}


@pytest.mark.parametrize("direction", [1.0, 0.0])
@pytest.mark.parametrize("length", [1.0, 3.0])
@pytest.mark.parametrize("name", SWINGS)
def test_every_crossing_inside_a_step_is_found(name: str, length: float, direction: float):
    law = SWINGS[name]
    locator = locator_of(law, 0.0, length, direction)
    found, expected = (
        instants(locator, length),
        crossings(law, 0.0, length, direction, 1e-5),
    )
    assert len(found) == len(expected) and found == pytest.approx(expected, abs=1.1e-5)


@pytest.mark.parametrize("begin", [-1e6, 0.0, 1e6])
def test_oscillating_guard_costs_few_evaluations_per_period(begin: float):
    """A hundred turns in one step, never across zero: less than fifty looks a turn."""
    locator = locator_of(lambda t: math.sin(628.0 * (t - begin)) - 1.1, begin, begin + 1.0, 1.0)
    assert not instants(locator, begin + 1.0) and len(locator.asked) < 5000


def test_far_or_smooth_guard_costs_no_extra_evaluations():
    """Swings far above zero, and laws that are a polynomial, are looked at once inside of a step; later steps of that length not at all."""
    for law in (lambda t: 1e6 + math.sin(300.0 * t), lambda t: 4.0 - t - 0.1 * t**3):
        locator = Locator(law, end=1.0)
        assert E.locate_event(*locator.how, 1.0) == 0 and len(locator.asked) <= 8
        locator.asked.clear()
        locator.mem[5:7] = 1.0, 2.0
        assert E.locate_event(*locator.how, 2.0) == 0 and len(locator.asked) <= 4


def test_guard_noise_does_not_shorten_steps():
    """A guard that is nothing but rounding: looked at until it is known to be that, and then no more than others."""
    rng = np.random.default_rng(5)
    locator = Locator(lambda t: -1e-16 * rng.uniform(0.1, 1.0), end=1.0, direction=1.0)
    assert E.locate_event(*locator.how, 1.0) == 0
    first = len(locator.asked)
    for k in range(1, 20):
        locator.mem[5:7] = float(k), k + 1.0
        assert E.locate_event(*locator.how, k + 1.0) == 0
    assert first < 300 and len(locator.asked) - first < 20 * 40


def test_guard_search_interval_grows_again():
    """Noise that hides a guard for a while, as right after an event: parts grow again behind it, whatever is left of the noise."""
    rng = np.random.default_rng(7)

    def law(t: float) -> float:
        return -1e-3 - t + rng.uniform(-1.0, 1.0) * (9e-4 if t < 1e-3 else 1e-9)

    locator = Locator(law, end=1.0, direction=1.0)
    looks = []
    for k in range(40):
        locator.mem[5:7] = float(k), k + 1.0
        locator.asked.clear()
        assert E.locate_event(*locator.how, k + 1.0) == 0
        looks.append(len(locator.asked))
    assert sum(looks) < 2000 and max(looks[10:]) < 20
