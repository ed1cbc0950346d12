"""Samples come at S + (k + 1e-6) period, S the time at which the run begins, whatever that is, however long the steps, under every host."""

import numpy as np
import pytest

from kinetree.models import load

FIRST, PERIOD = 1e-6, 0.01
HELD = {
    "format": "kinetree/1",
    "name": "held",
    "gravity": [0, 0, 0],
    "bodies": {"b": {"mass": 1.0}},
    "joints": {"j": {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["x"], "start": [1.0]}},
    "actuators": {"m": {"coordinate": "x"}},
    "outputs": {"X": {"value": "x"}},
}  # fmt: skip
GAINS = {"measure": "x", "kp": 60.0, "ki": 20.0, "kd": 9.0, "filter": 0.02, "drives": "m"}


def held(**more) -> dict:
    return {**HELD, "controllers": {"c": {**GAINS, **more}}}


STARTS = (-1e6, -2.0, 0.0, 7.3, 123.456, 1e6)


@pytest.mark.parametrize("step", [1e-3, 0.03, 1.0, 10.0])
@pytest.mark.parametrize("begin", STARTS)
def test_sample_times_are_multiples_of_the_period_from_run_start(begin: float, step: float):
    """To sixteen roundings of the time; none is left out in long steps, and none comes twice in short ones."""
    result = (
        load(held(period=PERIOD))
        .compile()
        .simulate(start_time=begin, stop_time=begin + 0.5, output_step=step)
    )
    instants = np.array([event.time for event in result.events]) - begin
    expected = (np.arange(50) + FIRST) * PERIOD
    assert instants == pytest.approx(expected, abs=1e-12 + 4e-15 * abs(begin))


@pytest.mark.parametrize("more", [{"period": PERIOD}, {"period": PERIOD, "delay": 0.013}, {}])
@pytest.mark.parametrize("integrator", ["auto", "rk45", "radau", "adams", "rk4"])
def test_controlled_motion_does_not_depend_on_start_time(integrator, more):
    """Sampled, late, continuous: the same motion behind every start, within what rounding of the time does to a period."""
    system = load(held(**more)).compile()
    ends = [
        system.simulate(
            start_time=begin,
            stop_time=begin + 0.6,
            output_step=0.1,
            integrator=integrator,
            step=1e-3,
        )["x"]
        for begin in STARTS
    ]
    usual = ends[STARTS.index(0.0)]
    assert abs(usual[-1]) < 0.5
    for begin, found in zip(STARTS, ends, strict=True):
        assert found == pytest.approx(usual, abs=1e-6 + 1e-11 * abs(begin)), begin


def test_start_time_of_description_applies_to_runs_only():
    """`run.start_time` is what a run begins with unless it is told another one; later stages keep counting from there."""
    stages = {
        "run": {"start_time": 40.0, "stop_time": 41.0},
        "stages": [{"name": "a", "ends": {"after": 0.255}}, {"name": "b", "ends": {"after": 0.3}}, {"name": "c"}],
    }  # fmt: skip
    system = load({**held(period=PERIOD), **stages}).compile()
    for begin in (40.0, 38.5):
        result = system.simulate(start_time=begin, stop_time=begin + 1.0)
        instants = np.array([e.time for e in result.events if e.kind == "reset"]) - begin
        assert instants == pytest.approx((np.arange(100) + FIRST) * PERIOD, abs=1e-12)


def test_ensemble_runs_sample_like_single_runs():
    """In lanes and one by one, from a start other than zero."""
    description = {**held(period=PERIOD), "run": {"start_time": -3.0, "stop_time": -2.0}}
    description["parameters"] = {"m": 1.0}
    description["bodies"] = {"b": {"mass": "m"}}
    masses = np.linspace(0.8, 1.6, 9)
    system = load(description).compile()
    many = [
        system.simulate_many(
            {"m": masses}, output_step=0.1, integrator="rk4", step=1e-3, lanes=lanes
        )["x"]
        for lanes in (None, False)
    ]
    one = (
        load(description, m=masses[3])
        .compile()
        .simulate(output_step=0.1, integrator="rk4", step=1e-3)
    )
    assert many[0] == pytest.approx(many[1], abs=1e-9)
    assert many[0][3] == pytest.approx(one["x"], abs=1e-9)


@pytest.mark.parametrize("start", [1e4, 1e5, -1e5, 1e6])
@pytest.mark.parametrize("period", [1e-3, 1e-4])
def test_sampling_is_not_reported_as_chatter(start: float, period: float):
    """A kilohertz at a million seconds, ten at a tenth of that: all samples come, and nobody speaks of chattering."""
    result = (
        load(held(period=period))
        .compile()
        .simulate(start_time=start, stop_time=start + 100.5 * period, output_step=20 * period)
    )
    assert len(result.events) == 101


def test_sample_times_do_not_accumulate_rounding():
    """The count is a whole number up to 2^53: the billionth sample of a kilohertz is where it should be, to the resolution of time."""
    count = 1_000_000_000
    description = held(period=1e-3)
    description["events"] = {
        "skip": {"when": "t > 0.0105", "set": {"c.samples": f"{count} + c.samples"}}
    }
    system = load(description).compile()
    result = system.simulate(stop_time=0.02, output_step=0.01)
    assert result["c.samples"][-1] == count + 11  # the next one is due in eleven and a half days
    late = system.simulate(start_time=1e6, stop_time=1e6 + 0.0102, output_step=0.01)
    instants = np.array([event.time for event in late.events]) - 1e6
    assert instants == pytest.approx((np.arange(11) + FIRST) * 1e-3, abs=4e-9)
    assert np.ptp(np.diff(instants)) < 1e-8


def test_rate_limit_applies_to_the_first_command():
    """A sampled command begins at `start` and changes by rate*period from sample to sample, the first one included."""
    period = 0.01
    table = {"kind": "rate-limit", "input": "5", "rate": 20.0, "period": period, "start": 1.0}
    result = load({"format": "kinetree/1", "name": "r", "inputs": {"y": 0.0}, "controllers": {"c": table}}).compile().simulate(
        stop_time=0.4, output_step=period / 2
    )  # fmt: skip
    between = result["c"][1::2]
    expected = np.minimum(1.0 + 0.2 * np.arange(1, between.size + 1), 5.0)
    assert between == pytest.approx(expected)


def test_events_of_long_runs_take_little_memory():
    """A million samples are kept in less than a hundred bytes each, and read like any other events."""
    import tracemalloc

    from kinetree.models.result.events import Event, Events

    books = (1.0, 0.0, 0.5, 0.0, 2.0)
    tracemalloc.start()
    kept = Events()
    for k in range(20_000):
        kept.append(Event(0.001 * k, "reset", "one", 0, books, books, "event 'c.sample'", 2))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 100 * len(kept)
    struck = Event(20.0, "stage", "two", 1, books, (1.0, 0.0, 0.5, 0.0, 1.5), "contact 'k'")
    kept.append(struck)
    assert kept[-1] == struck and kept[-1].energy_loss == 0.5 and kept[7].time == 0.007
    assert kept[7].after == kept[7].before == books and kept[-2:][0].together == 2
    assert [event.stage for event in kept[19_999:]] == ["one", "two"]
    assert Events(kept[:3]) == kept[:3]
