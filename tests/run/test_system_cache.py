"""Systems at many values of parameters: written into registers between values that were compiled, compiled beyond them, the same in every number."""

from copy import deepcopy
from typing import Any

import pytest

from kinetree.models import ModelError, load
from kinetree.models.run.system_cache import SystemCache, have_equal_structures
from kinetree.models.system.mechanism import Mechanism
from kinetree.models.system.system import System

SLIDER: dict[str, Any] = {
    "gravity": [0, 0, 0], "parameters": {"m": 2.0, "k": 100.0, "c": 1.0, "x0": {"value": 0.1, "min": -1.0}, "twice": "2*k"},
    "bodies": {"b": {"mass": "m"}}, "forces": {"f": {"coordinate": "x", "value": "-twice*x - c*der(x)"}}, "inputs": {"u": 0.0},
    "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x", "start": "x0"}]}}, "actuators": {"a": {"coordinate": "x"}},
}  # fmt: skip


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, float]]:
    """What is compiled, in its order."""
    asked, plain = list[dict[str, float]](), Mechanism.compile

    def compile(mechanism: Mechanism, **numbers: float) -> System:
        asked.append(numbers)
        return plain(mechanism, **numbers)

    monkeypatch.setattr(Mechanism, "compile", compile)
    return asked


def slider(**changes: Any) -> Mechanism:
    return load(deepcopy(SLIDER) | changes)


def test_intermediate_values_are_written_to_registers(compiled: list[dict[str, float]]):
    """Every parameter within its own range, borders included; what is beyond widens it, on either side. A mass, a start and what laws depend on."""
    mechanism, trials = slider(), SystemCache(slider())
    low, high, more, less = (
        {"k": k, "m": m, "x0": x}
        for k, m, x in ((50, 1, 0.0), (80, 3, 0.5), (90, 2, 0.25), (60, 0.5, 0.1))
    )
    for numbers in (low, high, more, less):
        assert (
            trials.at(numbers).description.parameters["k"].value == numbers["k"]
            and compiled.pop() == numbers
        )
    for numbers in (
        low,
        high,
        {"k": 50, "m": 0.5, "x0": 0.5},
        {"k": 90, "m": 3, "x0": 0.0},
        {"k": 71.5, "m": 1.25, "x0": 0.125},
    ):
        found = trials.at(numbers)
        assert not compiled
        assert (
            have_equal_structures(found, mechanism.compile(**numbers)) and compiled.pop() == numbers
        )
    for name, value in (("k", 49.9), ("k", 90.1), ("m", 0.49), ("x0", 0.51)):
        numbers = {"k": 70, "m": 1, "x0": 0.1} | {name: value}
        assert (
            not have_equal_structures(trials.at({"k": 70, "m": 1, "x0": 0.1}), trials.at(numbers))
            and compiled.pop() == numbers
            and not compiled
        )


def test_bounds_are_compiled_on_first_use(compiled: list[dict[str, float]]):
    """Those that cannot be made are passed over; other numbers hold in all of them, but where they are asked for."""
    trials = SystemCache(
        slider(),
        {"c": 3.0, "k": 1.0},
        [{"k": 50.0, "x0": 0.0}, {"k": 80.0, "x0": -2.0}, {"k": 90.0, "x0": 0.5}],
    )
    assert not compiled
    found = trials.at({"k": 70.0, "x0": 0.25})
    assert [each["k"] for each in compiled] == [50.0, 80.0, 90.0] and all(
        each["c"] == 3.0 for each in compiled
    )
    assert {name: found.description.parameters[name].value for name in ("k", "c", "x0")} == {
        "k": 70.0,
        "c": 3.0,
        "x0": 0.25,
    }
    with pytest.raises(ModelError, match="x0"):
        trials.at({"k": 70.0, "x0": -1.5})


PROPORTIONAL = {"controllers": {"r": {"measure": "x", "kp": 1.0, "drives": "a"}}}
SAMPLED = {
    "controllers": {"r": PROPORTIONAL["controllers"]["r"] | {"period": 0.1, "delay": "late"}}
}


def test_structural_values_are_compiled(compiled: list[dict[str, float]]):
    """A delay decides how many states a sampled controller has."""
    mechanism = slider(
        **SAMPLED, parameters=SLIDER["parameters"] | {"late": {"value": 0.05, "tunable": False}}
    )
    trials = SystemCache(mechanism, ends=[{"late": 0.05}, {"late": 0.25}])
    for late in (0.05, 0.15, 0.25):
        assert len(trials.at({"late": late}).compiled.states) == len(
            mechanism.compile(late=late).compiled.states
        )
        assert compiled.pop() == compiled.pop() == {"late": late}


def test_reparameterised_systems_equal_compiled_ones():
    """What the end of a stage sets is a number of the next one alone."""
    one, other, again = (
        slider(stages=[{"ends": {"after": 1.0}, "set": {"c": c}}, {}]).compile()
        for c in (3.0, 4.0, 3.0)
    )
    assert have_equal_structures(one, again) and not have_equal_structures(one, other)
    assert not have_equal_structures(
        one, slider(stages=[{"ends": {"after": 1.0}, "set": {"c": 3.0}}, {}]).compile(m=2.5)
    )


def test_structural_changes_are_recompiled(compiled: list[dict[str, float]]):
    """A chain, whose description is made into another one; a controller that begins where the mechanism rests."""
    chain = {"parameters": {"k": 1.0}, "chain": {"count": 3, "mass": 1.0, "stiffness": "k"}}
    held = slider(**PROPORTIONAL, run={"prepare": [{"name": "rest"}]})
    for mechanism in (load(chain), held):
        trials = SystemCache(mechanism, ends=[{"k": 90.0}, {"k": 120.0}])
        for k in (90.0, 120.0, 100.0):
            del compiled[:]
            trials.at({"k": k})
            assert [each for each in compiled if each] == [{"k": k}]
    assert [SystemCache(each).told for each in (load(chain), held)] == [False, False]
    assert [
        SystemCache(slider(**each)).told
        for each in (PROPORTIONAL, {"run": {"prepare": [{"name": "rest"}]}})
    ] == [True, True]


def test_run_starts_from_equilibrium_of_its_parameters(compiled: list[dict[str, float]]):
    """Written as compiled: 2 k x = 5. An end without any is passed over."""
    push = {
        "forces": SLIDER["forces"] | {"p": {"coordinate": "x", "value": "5"}},
        "run": {"prepare": [{"name": "rest"}]},
    }
    trials = SystemCache(slider(**push), ends=[{"k": 50.0}, {"k": 0.0}, {"k": 200.0}])
    found = trials.at({"k": 125.0})
    assert {"k": 125.0} not in compiled and found.start()[0] == pytest.approx([0.02], abs=1e-9)
    assert have_equal_structures(found, slider(**push).compile(k=125.0))
