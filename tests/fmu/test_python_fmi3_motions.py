"""Mechanisms of every sort in the Python archive of FMI 3.0, step by step and bit by bit beside the native one."""

import math
from typing import Any, NamedTuple

import pytest
from exchange_in_steps import ExchangeHost
from what_moves import CORNERED, PENDULUM, SHOWN, carriage, made, slider, struck

from kinetree.fmu.archive.build import pack_unit
from kinetree.fmu.unit import fmu_unit
from kinetree.models import load
from kinetree.scripts.fmi.fmpy_host import Archive, Host


class Case(NamedTuple):
    """A mechanism, how long it runs, steps of the host, and what it is given."""

    model: Any
    stop: float = 0.5
    step: float = 5e-3
    inputs: tuple[str, ...] = ()
    events: int = 0  # at least


BALL = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
STAGED = made(
    {"b": BALL},
    {"j": {"child": "b", "type": "prismatic", "axis": "z", "coordinates": ["z"], "start": 1.0}},
    stages=[
        {"name": "falls", "ends": {"when": "z < 0.8"}},
        {"name": "held", "lock": ["j"], "ends": {"after": 0.1}},
        {"name": "falls again"},
    ],
)
SPRUNG = made(
    {"cart": BALL, "arm": {**BALL, "com": [0, 0, -0.5]}},
    {
        "rail": {"child": "cart", "type": "prismatic", "axis": "x", "coordinates": ["x"]},
        "pin": PENDULUM,
    },
    states={"lag": {"rate": "5*(push - lag)"}},
    inputs={"push": {"start": 0.0}},
    forces={"pull": {"coordinate": "x", "value": "lag - 3*x"}},
    events={"knock": {"when": "a < 0", "set": {"der(x)": "der(x) + 0.3"}}},
)
SLIDING = made(
    {"b": {"mass": 1.0}},
    {
        "j": {
            "child": "b",
            "transforms": [
                {"shift": axis, "coordinate": axis, "speed": speed}
                for axis, speed in (("x", 0.8), ("y", 0.0), ("z", 0.0))
            ],
        }
    },
    contacts={"floor": {"body": "b", "point": [0, 0, 0], "friction": 0.3}},
    forces={"push": {"coordinate": "y", "value": "2.5 - 3*t"}},
)
CASES = {
    "impacts": Case(struck("poisson"), 0.6, 2e-3, events=2),
    "a slide that turns": Case(SLIDING, 0.6, events=1),
    "a slide that begins": Case(SHOWN["stiction"].model, 1.0, 0.02, events=1),
    "stages": Case(STAGED, events=2),
    "a loop": Case("lib:four-bar", 0.5),
    "a relation with a state": Case(
        slider(
            "x - 0.3*sin(p) - lag",
            states={"lag": {"rate": "5*(push - lag)"}},
            inputs={"push": {"start": 0.0}},
        ),
        inputs=("push",),
    ),
    "corners of time": Case(
        carriage({"by": "table('way', t)"}, tables={"way": CORNERED}), 0.5, events=1
    ),
    "a followed input": Case(
        carriage({"follow": {"input": "deck", "bandwidth": 20.0}}, inputs={"deck": 0.0}),
        inputs=("deck",),
    ),
    "states and events that set": Case(SPRUNG, 1.0, inputs=("push",), events=1),
    "an actuator with states": Case("lib:boom-drive", 0.1, 2e-4),
}


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    """The case, and both archives of one compiled unit."""
    found, folder = CASES[request.param], tmp_path_factory.mktemp("motions")
    unit = fmu_unit(load(found.model))
    with (
        Archive(pack_unit(unit, folder / "p.fmu", "python", 3)) as python,
        Archive(pack_unit(unit, folder / "n.fmu", "native", 3)) as native,
    ):
        yield found, (python, native)


def watched(archive):
    return [name for name in archive.reals if not name.startswith("event_indicator")]


def test_python_model_exchange_equals_native_bit_for_bit(case):
    given, twins = case
    inputs = (
        (lambda t: {name: 0.1 * math.sin(3 * t) for name in given.inputs}) if given.inputs else None
    )
    rows = []
    for each in twins:
        host = ExchangeHost(each).start()
        rows.append(
            [
                *host.rows(given.stop, given.step, watched(each), inputs),
                host.host.integers(["stage", "events"]),
                host.next,
                host.events,
            ]
        )
        rows[-1].append(host.host.messages)
        host.host.close()
    assert rows[0] == rows[1]
    assert rows[0][-2] >= given.events
    assert len({row[1:] for row in rows[0][:-4]}) > 10  # something moves


def test_python_co_simulation_equals_native_bit_for_bit(case):
    """Steps of changing length; hosts with event mode see the same instants."""
    given, twins = case
    rows = []
    for each in twins:
        host = Host(each, event_mode_used=True, early_return_allowed=True).start()
        host.fmu.updateDiscreteStates()
        host.fmu.enterStepMode()
        t, k = 0.0, 0
        rows.append([])
        while t < given.stop - 1e-9:
            host.set({name: 0.1 * math.sin(3 * t) for name in given.inputs})
            needed, _, early, t = host.fmu.doStep(t, given.step * (1 + k % 3))
            rows[-1].append(
                (
                    needed,
                    early,
                    t,
                    *host.get(watched(each)),
                    *host.integers(["stage", "events", "solver_steps"]),
                    host.text("stage_name"),
                )
            )
            k += 1
            if needed:
                host.fmu.enterEventMode()
                host.fmu.updateDiscreteStates()
                host.fmu.enterStepMode()
        host.close()
    assert rows[0] == rows[1]
    assert len(rows[0]) > 10
