"""No call keeps its caller: a budget of steps, a wish to stop, and messages that name the number to blame."""

import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.models.engine.status import EvaluationError
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import Status

BODY = {"mass": 1.0, "com": [0, 0, -1.0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}


def swing(**parts) -> dict:
    joint = {"child": "a", "transforms": [{"rotate": "y", "coordinate": "q", "start": 0.5}]}
    return {"format": "kinetree/1", "bodies": {"a": BODY}, "joints": {"j": joint}, **parts}


def test_too_fast_motion_ends_with_error():
    """Gravity of 1e18: a million steps inside the first output; the message tells the rate, sqrt(m g l/J) = 3e9 1/s within a factor."""
    with pytest.raises(
        EvaluationError,
        match=r"100000 steps do not reach the next output: the step size .* rate of about .*radau",
    ) as caught:
        load(swing(gravity=[0, 0, -9.81e18])).compile().simulate(1.0, step_limit=1e5)
    assert caught.value.status == Status.TOO_MANY_STEPS
    rate = float(str(caught.value).split("rate of about ")[1].split()[0])
    assert 1e8 < rate < 1e11
    assert caught.value.result is not None and caught.value.result.time.size == 1


@pytest.mark.parametrize("integrator", ["rk4", "rk45", "radau", "tsit5"])
def test_step_limit_applies_per_output_interval(integrator: str):
    """A hundred intervals of fifty steps pass where one of five thousand does not."""
    system = load(swing()).compile()
    options = {"integrator": integrator, "step": 0.002, "largest_step": 0.002, "step_limit": 200}
    assert system.simulate(10.0, output_step=0.1, **options).statistics["steps"] >= 5000
    with pytest.raises(EvaluationError, match="step_limit"):
        system.simulate(10.0, output_step=10.0, **options)


def test_description_sets_step_limit():
    model = swing(
        run={
            "stop_time": 1.0,
            "output_step": 1.0,
            "step": 0.001,
            "integrator": "rk4",
            "step_limit": 100,
        }
    )
    with pytest.raises(EvaluationError, match="100 steps"):
        load(model).compile().simulate()


def advanced(run: Run, until: float, option: int = 0) -> int:
    return run.call("unit_advance", option, until)


def test_cancelled_advance_continues_bit_for_bit():
    """The wish stops the engine between two steps; another call takes up where it stopped, as if nothing had been."""
    unit = make_unit(load(swing()).compile())
    whole, parts = Run(unit), Run(unit)
    for run in (whole, parts):
        assert run.call("unit_start", 0, 0.0) == 0
    assert advanced(whole, 10.0) == 0
    parts.head.cancel = 1.0
    assert advanced(parts, 10.0) == Status.CANCELLED and parts.head.time < 10.0
    parts.head.budget = 7.0
    while (status := advanced(parts, 10.0, U.CONTINUED)) == Status.TOO_MANY_STEPS:
        assert parts.head.used == 7.0
    assert status == 0 and parts.columns.tobytes() == whole.columns.tobytes()


def test_another_thread_can_cancel():
    """The engine runs without Python's lock; without the wish this advance would take hours."""
    run = Run(make_unit(load(swing()).compile()))
    assert run.call("unit_start", 0, 0.0) == 0
    run.head.budget, run.head.largest_step = 1e15, 1e-6
    timer = threading.Timer(0.3, lambda: setattr(run.head, "cancel", 1.0))
    timer.start()
    assert advanced(run, 1e6) == Status.CANCELLED
    assert 0.0 < run.head.time < 1e6 and run.head.cancel == 0.0


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_interrupt_is_handled_inside_an_output_interval():
    """One output interval of 1e6 s in steps of 1e-6 s would take days."""
    code = (
        "import sys, json, signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell has its background jobs ignore it
        "from kinetree.models import load\n"
        "s = load(json.loads(sys.argv[1])).compile(); print('ready', flush=True)\n"
        "r = s.simulate(1e6, output_step=1e6, largest_step=1e-6, step_limit=1e15)\n"
        "print(r.interrupted, r.time.size)"
    )
    import json

    with subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(swing())], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(2.0)
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=60.0)
            assert said == "interrupted 1\n" and process.returncode == 0
        finally:
            process.kill()  # whatever became of the test: it would run for days


def test_interrupt_handler_is_restored():
    """Who listened to signals before the run listens again afterwards."""
    before, handler = signal.set_wakeup_fd(-1), signal.getsignal(signal.SIGINT)
    load(swing()).compile().simulate(0.1)
    assert signal.set_wakeup_fd(before) == -1 and signal.getsignal(signal.SIGINT) is handler


def test_undefined_law_is_named():
    """The root of a negative number inside an expression: the name of what is computed from it."""
    model = swing(
        forces={"drive": {"coordinate": "q", "value": "sqrt(0.4 - q)"}},
        outputs={"o": {"value": "q"}},
    )
    with pytest.raises(EvaluationError, match="is not a finite number: its law has no value here"):
        load(model).compile().simulate(1.0)


def test_law_undefined_at_start_is_named():
    """A parameter of 0 below a line: the law is evaluated before the run, and no state is to blame."""
    model = swing(
        parameters={"k": 0.0},
        forces={"drive": {"coordinate": "q", "value": "1/k"}},
        outputs={"o": {"value": "q"}},
    )
    with pytest.raises(
        EvaluationError,
        match=r"is not a finite number: look for .*; 'force\('drive'\)' has no finite value",
    ):
        load(model).compile().simulate(1.0)


def test_diverging_state_is_named():
    """Negative damping: the speed leaves every bound, and is not reported as a body without inertia."""
    model = swing(
        forces={"feed": {"coordinate": "q", "value": "50*der(q)*abs(der(q))"}}, gravity=[0, 0, 0]
    )
    model["joints"]["j"]["transforms"][0]["speed"] = 1.0
    with pytest.raises(EvaluationError) as caught:
        load(model).compile().simulate(10.0, integrator="rk4", step=0.01)
    assert "'der(q)'" in str(caught.value) or "'q'" in str(caught.value)
    assert "inertia" not in str(caught.value)


def test_tolerances_mean_the_same_everywhere():
    """[run] tolerances = x, simulate(tolerance=x): the absolute one is a hundredth of it, unless it is given."""
    by_call = load(swing()).compile().simulate(1.0, tolerance=1e-6)
    by_run = load(swing(run={"tolerances": 1e-6})).compile().simulate(1.0)
    given = (
        load(swing(run={"tolerances": {"relative": 1e-6, "absolute": 1e-3}}))
        .compile()
        .simulate(1.0)
    )
    assert (
        (by_call.options.relative, by_call.options.absolute)
        == (by_run.options.relative, by_run.options.absolute)
        == (1e-6, 1e-8)
    )
    assert by_call["q"].tobytes() == by_run["q"].tobytes()
    assert given.options.absolute == 1e-3
    assert load(swing()).compile().simulate(0.1).options.absolute == 1e-10


@pytest.mark.parametrize("wrong", [0.0, -1e-6, 1.0, 2.5])
def test_tolerances_outside_of_0_and_1_are_refused(wrong: float):
    """A relative tolerance of 2 ran until its steps made no sense, and blamed the motion."""
    with pytest.raises(ValueError, match="tolerance is"):
        load(swing()).compile().simulate(0.1, tolerance=wrong)
    with pytest.raises(ModelError, match=r"run\.tolerances\.relative"):
        load(swing(run={"tolerances": wrong})).compile()


def test_described_method_is_used():
    model = swing(run={"stop_time": 1.0, "method": "CBM"})
    result = load(model).compile().simulate(tolerance=1e-10)
    assert result.options.method == "CBM"
    assert load(model).compile().simulate(method="LGR").options.method == "LGR"
    assert (
        np.abs(result["q"] - load(swing()).compile().simulate(1.0, tolerance=1e-10)["q"]).max()
        < 1e-8
    )


@pytest.mark.parametrize(
    ("integrator", "told"), [("rk4", True), ("adams-fixed", True), ("rk45", False)]
)
def test_unstable_fixed_step_error_recommends_smaller_step(integrator, told):
    """A stiff spring blows the motion up, or a force that feeds it."""
    force = (
        {"coordinate": "x", "stiffness": 1e9} if told else {"coordinate": "x", "value": "x**3*1e6"}
    )
    d = {
        "format": "kinetree/1",
        "name": "stiff",
        "gravity": [0, 0, 0],
        "bodies": {"b": {"mass": 1.0}},
        "joints": {
            "j": {
                "child": "b",
                "type": "prismatic",
                "coordinates": ["x"],
                "start": [0.1],
                "speed": [1.0],
            }
        },
        "forces": {"f": force},
    }
    step = {"step": 1e-3} if told else {}
    with pytest.raises(EvaluationError) as failure:
        load(d).compile().simulate(stop_time=10.0, integrator=integrator, **step)
    assert ("fixed steps of 0.001 s" in str(failure.value)) == told
