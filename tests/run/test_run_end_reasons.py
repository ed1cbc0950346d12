"""Why a run cannot go on: which number is told, by which name, and what is worth a try; and what is not finite where a state is asked about."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine import not_finite
from kinetree.models.run import failure_messages
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.solvers import unit_layout as U
from kinetree.solvers.fields import REGISTERS
from kinetree.solvers.layout import Status

MODEL: dict[str, Any] = {
    "format": "kinetree/1",
    "bodies": {"a": {"mass": 1.0, "com": [0, 0, 0], "inertia": [1, 1, 1, 0, 0, 0]}},
    "joints": {"j": {"child": "a", "transforms": [{"shift": "x", "coordinate": "x"}]}},
    "parameters": {"k": 2.0},
    "states": {"s": {"rate": "-k*s", "start": 1.0}},
    "forces": {"spring": {"coordinate": "x", "value": "3/(x - 1)*(k + sin(x)) - s"}},
    "outputs": {"o": {"value": "2*x + k"}},
}


@pytest.fixture(scope="module")
def run() -> Run:
    return Run(make_unit(load(MODEL).compile()))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("x", 1e120, "'x' has grown to 1e+120: the motion"), ("der(x)", np.nan, "'der(x)' is not a finite number: the motion"),
        ("s", np.inf, "'s' is not a finite number: the motion"), ("force('spring')", np.inf, "'force('spring')' is not a finite number: its law"),
        ("k", np.nan, "'k' is not a finite number: its law"),
    ],
)  # fmt: skip
def test_failing_register_is_named_with_value(run: Run, name: str, value: float, words: str):
    """A state has grown, or is none; of others the law has no value."""
    compiled = run.unit.compiled[0]
    register = compiled.registers[name]
    run.work[int(run.unit.header.at_workspace) + REGISTERS + register] = value
    run.head.item = register
    assert failure_messages.failure_message(run, Status.NOT_A_NUMBER).startswith(words)


def test_first_undefined_register_is_named():
    run = Run(make_unit(load(MODEL).compile()))
    run.call("unit_start")
    run.head.item = -1.0
    assert failure_messages.failure_message(run, Status.NOT_A_NUMBER).endswith(
        "grow without bound here"
    )
    compiled = run.unit.compiled[0]
    for name in ("k", "force('spring')"):
        run.work[int(run.unit.header.at_workspace) + REGISTERS + compiled.registers[name]] = np.nan
        assert failure_messages.failure_message(run, Status.NOT_A_NUMBER).endswith(
            f"; '{name}' has no finite value"
        )
    run.head.item = 1.0
    assert failure_messages.failure_message(run, Status.SINGULAR_JOINT).startswith(
        "body 'a' has no inertia"
    )


def test_expression_part_is_named_by_its_user(run: Run):
    """Through as many steps as there are; what nothing is computed from is an expression."""
    compiled = run.unit.compiled[0]
    named = set(compiled.registers.values())
    parts = [k for k in range(max(named)) if k not in named]
    told = {failure_messages.register_name(k, compiled) for k in parts}
    assert "force('spring')" in told and told <= {*compiled.registers, "an expression"}
    assert (
        failure_messages.register_name(10**6, compiled) == "an expression"
        and failure_messages.register_name(compiled.registers["x"], compiled) == "x"
    )


@pytest.mark.parametrize(
    ("rate", "kind", "speed", "advice"),
    [(0.0, "adams", False, True), (40.0, "rk45", True, True), (40.0, "radau", True, False)],
)
def test_step_limit_error_names_fastest_rate(rate: float, kind: str, speed: bool, advice: bool):
    text = failure_messages.step_limit_message(
        SimpleNamespace(last_step=1e-5, fastest=rate, kind=float(U.KINDS[kind]), used=12.0)
    )  # type: ignore[arg-type]
    assert text.startswith("12 steps do not reach the next output: the step size fell to 1.0e-05 s")
    assert ("rate of about 4.0e+01 1/s" in text) == speed and ("integrator radau" in text) == advice


@pytest.mark.parametrize("size", [1, 2, 3])
def test_non_finite_value_is_named(monkeypatch, size: int):
    """Names stand for equal parts of the values; finite ones come back as they are."""
    monkeypatch.setattr(not_finite, "cause", lambda instance, t, what: "because")
    instance: Any = None
    fine = np.zeros((2, size))
    assert not_finite.finite(instance, 0.0, "rates", fine, ["a", "b"]) is fine
    for k in range(2 * size):
        values = fine.copy()
        values.reshape(-1)[k:] = np.inf
        with pytest.raises(
            ArithmeticError,
            match=f"rates of '{'ab'[k // size]}': found inf, expected a finite number; because",
        ):
            not_finite.finite(instance, 0.0, "rates", values, ["a", "b"])
    with pytest.raises(ArithmeticError, match="rates: found nan"):
        not_finite.finite(instance, 0.0, "rates", np.array([np.nan]), [])


def test_forces_are_blamed_before_accelerations():
    compiled: Any = SimpleNamespace(
        registers={
            "start(x)": 0,
            "given(f)": 1,
            "o": 2,
            "force('a')": 3,
            "p": 4,
            "force('b')": 5,
            "preset(f)": 6,
        }
    )
    values = np.full(7, np.nan)
    assert not_finite.without_value(values, compiled) == "force('a')"
    values[3] = 1.0
    assert not_finite.without_value(values, compiled) == "force('b')"
    values[5] = 1.0
    assert not_finite.without_value(values, compiled) == "o"
    values[[2, 4]] = 1.0
    assert not_finite.without_value(values, compiled) == ""
