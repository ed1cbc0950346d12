"""Filters over mechanisms: against linear theory, through loops, rotations and stages, and honest about themselves."""

import math
from dataclasses import replace

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.observers.embedded_observer import watched_mechanism
from kinetree.models.observers.estimation import EstimationProblem
from kinetree.models.observers.estimation_setup import Recorded, Sensor, Setup, Unknown
from kinetree.models.observers.noise_fitting import fit_densities
from kinetree.models.observers.online_observer import OnlineObserver

STEP = 0.01
MASS, STIFFNESS, DAMPING = 2.0, 30.0, 1.5


def oscillator(**more):
    """A mass on a spring and a damper with a force from outside."""
    return load(
        {
            "format": "kinetree/1",
            "name": "oscillator",
            "gravity": [0, 0, 0],
            "parameters": {"m": MASS, "k": STIFFNESS, "c": DAMPING},
            "bodies": {"b": {"mass": "m"}},
            "joints": {"j": {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["x"]}},
            "forces": {"s": {"coordinate": "x", "value": "f - k*x - c*der(x)"}},
            "inputs": {"f": 0.0},
            **more,
        }
    ).compile()


def measured(system, column, noise, stop, inputs=None, seed=1, step=STEP):
    """A record of one column with noise, and the run that it is of."""
    result = system.simulate(stop_time=stop, output_step=step, inputs=inputs, tolerance=1e-10)
    noisy = result[column] + noise * np.random.default_rng(seed).standard_normal(result.time.size)
    return result, Recorded(result.time, {column: noisy})


def linear_filter(record, noise, density, start_deviation):
    """The Kalman filter of the oscillator, with the transition of one fourth-order Runge-Kutta step."""
    A = np.array([[0, 1], [-STIFFNESS / MASS, -DAMPING / MASS]])
    Ah = A * STEP
    phi = np.eye(2) + Ah + Ah @ Ah / 2 + Ah @ Ah @ Ah / 6 + Ah @ Ah @ Ah @ Ah / 24
    Q = density**2 * np.array([[STEP**3 / 3, STEP**2 / 2], [STEP**2 / 2, STEP]])
    x, P, H = np.zeros(2), np.eye(2) * start_deviation**2, np.array([[1.0, 0.0]])
    for k, value in enumerate(record.columns["x"]):
        if k:
            x, P = phi @ x, phi @ P @ phi.T + Q
        gain = P @ H.T / (H @ P @ H.T + noise**2)
        x, P = x + gain[:, 0] * (value - x[0]), P - gain @ H @ P
    return x, P


@pytest.mark.parametrize(
    ("method", "tolerance"), [("ekf", 1e-9), ("ukf", 1e-9), ("moving-horizon", 1e-8)]
)
def test_filter_of_linear_mechanism_equals_kalman_filter(method, tolerance):
    system = oscillator()
    _, record = measured(system, "x", 0.01, 0.5, seed=3)
    setup = Setup(
        (Sensor("x", 0.01),),
        method=method,
        horizon=5,
        start_deviations={"x": 0.1, "der(x)": 0.1},
        process={"speeds": 0.05},
    )
    found = EstimationProblem(system, setup).run(record)
    x, P = linear_filter(record, 0.01, 0.05, 0.1)
    assert found.values[-1] == pytest.approx(x, rel=tolerance, abs=tolerance)
    assert found.deviations[-1] == pytest.approx(np.sqrt(np.diag(P)), rel=1e-7)


@pytest.mark.parametrize("method", ["ekf", "ukf"])
def test_filter_estimates_boom_payload_from_its_angle(method):
    """120 kg from an angle with 0.5 mrad of noise, started at 70 kg: within its own deviation, which is right."""
    force = lambda t: 5600 + 400 * math.sin(3 * t)  # noqa: E731
    times = np.arange(0, 1.0005, 1e-3)
    inputs = {"lift.force": np.array([force(t) for t in times])}
    truth = load("lib:boom", load_mass=120.0).compile()
    stepper = truth.stepper(step=1e-3)
    angles = []
    for value in inputs["lift.force"]:
        angles.append(stepper["luff"])
        stepper["lift.force"] = float(value)
        stepper.advance()
    noisy = np.array(angles) + 5e-4 * np.random.default_rng(1).standard_normal(times.size)
    setup = Setup(
        (Sensor("luff", 5e-4),),
        parameters=(Unknown("load_mass", 70.0, 50.0, least=0.0),),
        method=method,
        start_deviations={"luff": 1e-3, "der(luff)": 1e-2},
        process={"speeds": 1e-3},
    )
    problem = EstimationProblem(load("lib:boom").compile(), setup)
    found = problem.run(Recorded(times, {"luff": noisy, **inputs}), {"load_mass": 120.0})
    error = found["load_mass"][-1] - 120.0
    assert abs(error) < 3 * found.deviation("load_mass")[-1] < 1.0
    assert found.innovation_band.inside
    assert max(abs(found.errors["load_mass"][200:])) < 4.0


def test_filter_handles_unknown_force_delay_period_bias_and_lost_readings():
    """A constant force of 3 N is found from readings that are late, rare, offset and partly lost."""
    system = oscillator()
    result = system.simulate(stop_time=4.0, output_step=STEP, inputs={"f": 3.0}, tolerance=1e-10)
    rng = np.random.default_rng(5)
    late = np.concatenate((np.zeros(5), result["x"][:-5])) + 1e-3 * rng.standard_normal(401)
    late[100:140] = np.nan
    speed = result["der(x)"] + 0.02 + 1e-3 * rng.standard_normal(401)
    record = Recorded(result.time, {"x": late, "der(x)": speed})
    setup = Setup(
        (
            Sensor("x", 1e-3, delay=5 * STEP, period=2 * STEP),
            Sensor("der(x)", 1e-3, bias=0.1),
        ),
        forces=(Unknown("f", 0.0, 10.0, walk=0.01),),
        process={"speeds": 1e-3},
    )
    found = EstimationProblem(system, setup).run(record)
    assert found["f"][-1] == pytest.approx(3.0, abs=4 * found.deviation("f")[-1] + 1e-3)
    assert found["bias(der(x))"][-1] == pytest.approx(0.02, abs=1e-3)
    times = found.readings["x"][0]
    assert np.diff(times).min() == pytest.approx(2 * STEP) and np.diff(times).max() > 0.35


@pytest.mark.parametrize("method", ["ekf", "ukf"])
def test_delayed_readings_give_same_estimate_as_timely_ones(method):
    """One sensor is five steps late, and not a whole number of them; the other is in time."""
    system, late = oscillator(), 4.5 * STEP
    result = system.simulate(stop_time=0.3, output_step=0.5 * STEP, inputs={"f": 1.0})
    rng, count = np.random.default_rng(8), 30
    seen = result["x"] + 1e-3 * rng.standard_normal(result.time.size)
    speed = result["der(x)"] + 1e-3 * rng.standard_normal(result.time.size)
    delayed, prompt = Sensor("x", 1e-3, delay=late), Sensor("der(x)", 1e-3)
    setup = Setup(
        (delayed, prompt), forces=(Unknown("f", 0.0, 1.0),), method=method, process={"speeds": 0.05}
    )
    online = OnlineObserver(EstimationProblem(system, setup), 0.0, 0.5 * STEP)
    for k in range(count):
        readings = {"der(x)": speed[2 * k]}
        if k >= 5:
            readings["x"] = seen[2 * k - 9]
        online.advance(STEP * (k + 1), readings, {})
    problem = EstimationProblem(
        system, replace(setup, sensors=(replace(delayed, delay=0.0), prompt))
    )
    wanted = problem.begin(0.0, 0.5 * STEP)
    for k in range(2 * count):
        values = {"der(x)": speed[k]} if k % 2 == 0 else {}
        if k % 2 == 1 and k <= 2 * (count - 1) - 9:
            values = {"x": seen[k]}
        if values:
            wanted.correct(problem.reading_of(values))
        wanted.predict(0.5 * STEP * (k + 1), {})
    values = problem.present(wanted.state)
    for name in ("x", "der(x)", "f"):
        assert online.values()[name] == pytest.approx(values[name], abs=1e-9)
    deviations = dict(zip(online.names, wanted.deviations, strict=True))
    assert online.deviations() == pytest.approx(deviations, rel=1e-7)


def test_filter_keeps_loop_closed_and_estimates_damping():
    truth = load("lib:four-bar", damping=0.4).compile()
    _, record = measured(truth, "phi", 1e-4, 0.3, seed=2)
    setup = Setup(
        (Sensor("phi", 1e-4),),
        parameters=(Unknown("damping", 0.1, 0.5, least=0.0),),
        start_deviations={},
        process={"speeds": 1e-3},
    )
    problem = EstimationProblem(load("lib:four-bar").compile(), setup)
    found = problem.run(record)
    assert abs(found["damping"][-1] - 0.4) < 4 * found.deviation("damping")[-1] < 0.4
    run = problem.begin(0.0, STEP).flow.run
    state = found.filter.state
    run.work[:] = state.work
    run.call("unit_refresh", 0, state.time)
    assert run.head.constraint_residual < 1e-8


def test_filter_keeps_quaternions_normalised():
    pendulum = load(
        {
            "format": "kinetree/1",
            "name": "ball",
            "bodies": {
                "b": {"mass": 1.0, "com": [0, 0, -0.5], "inertia": [0.02, 0.02, 0.01, 0, 0, 0]}
            },
            "joints": {
                "j": {"child": "b", "type": "spherical", "start": [0.9, 0.3, 0.2, 0.1], "speed": [0.1, 0.4, 1.0]}
            },
            "outputs": {
                "tip": {"quantity": "position", "body": "b", "point": [0, 0, -1], "axis": "x"}
            },
        }
    ).compile()  # fmt: skip
    _, record = measured(pendulum, "tip", 1e-3, 0.5)
    setup = Setup((Sensor("tip", 1e-3),), method="ukf", process={"speeds": 1e-2})
    found = EstimationProblem(pendulum, setup).run(record)
    layout = found.filter.flow.stages[0]
    assert np.linalg.norm(found.filter.state.work[layout.q]) == pytest.approx(1.0, abs=1e-9)
    assert found.values.shape[1] == 6


def test_filter_continues_through_stage_change():
    """A body is dropped: what was known of the rest is kept, and the change is told."""
    cart = {"mass": 2.0}
    system = oscillator(
        bodies={"b": {"mass": "m"}, "d": cart},
        joints={
            "j": {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["x"], "speed": [0.5]},
            "l": {"parent": "b", "child": "d", "type": "prismatic", "axis": "y", "coordinates": ["y"]},
        },
        stages=[{"ends": {"at": 0.255}, "drop": ["d"]}, {"name": "alone"}],
    )  # fmt: skip
    _, record = measured(system, "x", 1e-3, 0.5)
    setup = Setup((Sensor("x", 1e-3),), process={"speeds": 1e-3})
    found = EstimationProblem(system, setup).run(record)
    assert [stage for _, stage, _ in found.stage_notes] == ["alone"]
    assert found["x"][-1] == pytest.approx(record.columns["x"][-1], abs=3e-3)
    assert math.isnan(found["y"][-1]) and not math.isnan(found["y"][10])


def test_overconfident_filter_is_reported():
    system = oscillator()
    _, record = measured(system, "x", 0.02, 1.0, {"f": 1.0})
    setup = Setup((Sensor("x", 0.005),), start={}, process={"speeds": 0.01})
    record.columns["f"] = np.ones(record.time.size)
    problem = EstimationProblem(system, setup)
    assert problem.run(record).innovation_band.verdict == "overconfident"
    better, factors = fit_densities(problem, record, evaluations=25)
    assert 2.0 < factors["noise of x"] < 8.0
    assert better.run(record).innovation_band.inside


def test_jointly_acting_parameters_are_reported():
    """Stiffness and mass scale alike without a known force: only their ratio is seen."""
    system = oscillator(forces={"s": {"coordinate": "x", "value": "-k*x"}}, inputs={})
    system = load({**system.description.model_dump(exclude_unset=True), "joints": {
        "j": {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["x"], "start": [0.1]}}}
    ).compile()  # fmt: skip
    _, record = measured(system, "x", 1e-5, 2.0)
    unknowns = (Unknown("m", 2.1, 0.5, least=0.1), Unknown("k", 30.0, 8.0, least=1.0))
    setup = Setup((Sensor("x", 1e-5),), parameters=unknowns, process={"speeds": 1e-5})
    found = EstimationProblem(system, setup).run(record)
    assert {frozenset(pair[:2]) for pair in found.alike} == {frozenset(("m", "k"))}
    assert found["k"][-1] / found["m"][-1] == pytest.approx(15.0, rel=2e-3)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"method": "particle"}, ("particle", "ekf")),
        ({"sensors": ()}, ("measurements",)),
        ({"parameters": (Unknown("mm", 1.0, 1.0),)}, ("mm", "m")),
        ({"forces": (Unknown("g", 1.0, 1.0),)}, ("unknowns.g",)),
        ({"sensors": (Sensor("z", 1.0),)}, ("measurements.z",)),
        ({"start_deviations": {"y": 1.0}}, ("initial.y",)),
        ({"process": {"y": 1.0}}, ("process.y",)),
    ],
)
def test_filter_names_quantities_the_mechanism_lacks(change, names):
    setup = replace(Setup((Sensor("x", 1.0),)), **change)
    with pytest.raises(ValueError) as refusal:
        EstimationProblem(oscillator(), setup).run(
            Recorded(np.array([0.0, 0.1]), {"x": np.zeros(2), "z": np.zeros(2)})
        )
    assert all(name in str(refusal.value) for name in names)


def test_record_estimator_can_run_inside_its_mechanism():
    """What a native FMU holds: readings are inputs, estimates those of the record's filter; what the engine has no filter for is refused."""
    description = oscillator().description.model_dump(exclude_unset=True)
    result, record = measured(oscillator(), "x", 1e-3, 1.0, {"f": 2.0}, seed=4)
    record.columns["f"] = np.full(record.time.size, 2.0)
    setup = Setup(
        (Sensor("x", 1e-3),), parameters=(Unknown("k", 25.0, 5.0, least=1.0),), process={"speeds": 0.01}
    )  # fmt: skip
    description["parameters"]["k"] = {"value": STIFFNESS, "tunable": True}
    problem = EstimationProblem(load(description).compile(), setup)
    wanted = problem.run(record)
    stepper = load(watched_mechanism(description, problem, STEP)).compile().stepper(step=STEP)
    stepper["f"] = 2.0
    for value in record.columns["x"]:
        stepper["measured.x"] = float(value)
        stepper.advance()
    for name, key in (("x", "x"), ("der(x)", "der_x"), ("k", "k")):
        spread = wanted.deviation(name)[-1]
        assert stepper[f"estimate.{key}"] == pytest.approx(wanted[name][-1], abs=0.1 * spread)
        assert stepper[f"std.{key}"] == pytest.approx(spread, rel=0.01)
    late = replace(setup, sensors=(Sensor("x", 1e-3, delay=0.1),))
    for other, says in ((replace(setup, method="ukf"), "ukf"), (late, "delay")):
        with pytest.raises(ValueError, match=says):
            watched_mechanism(description, EstimationProblem(problem.system, other), STEP)
