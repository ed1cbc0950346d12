"""Controllers inside a mechanism against the recursions and differential equations that they stand for, sample by sample.

A free mass under a force that is held moves by s⁺ = s + v h + F h²/2m, v⁺ = v + F h/m exactly. The first sample comes a millionth of a period after
the start and every later one a whole number of periods behind it: values differ by that part, FIRST, of what they change in a period.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.signal import bilinear, lfilter, lti

from kinetree.models import ModelError, load
from kinetree.scripts.hil.controller import Loop

FIRST = 1e-6
MASS = 2.0
SLIDER = {
    "format": "kinetree/1",
    "name": "slider",
    "gravity": [0, 0, 0],
    "bodies": {"b": {"mass": MASS}},
    "joints": {"j": {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["s"]}},
    "actuators": {"push": {"coordinate": "s"}},
}


def slider(controller: dict, **more) -> dict:
    return {**SLIDER, "controllers": {"hold": {"drives": "push", **controller}}, **more}


def alone(controller: dict, inputs: dict) -> dict:
    """A controller without a mechanism."""
    return {
        "format": "kinetree/1",
        "name": "alone",
        "inputs": inputs,
        "controllers": {"c": controller},
    }


def recursion(
    period: float, delay: float, count: int, table: dict
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and commands at the samples: the loop of the laboratory's partner over the exact motion between its commands."""
    loop = Loop(0, table)
    s, v, acting = 0.0, 0.0, 0.0
    coming: list[tuple[float, float]] = []
    places, commands = [], []
    for k in range(count):
        places.append(s)
        command = loop.command(k * period, [s])
        commands.append(command)
        coming.append((k * period + delay, command))
        t = k * period
        while t < (k + 1) * period - 1e-12:
            due = [(at, value) for at, value in coming if at <= t + 1e-12]
            if due:
                acting = due[-1][1]
                coming = [(at, value) for at, value in coming if at > t + 1e-12]
            until = min(
                [at for at, _ in coming if at < (k + 1) * period - 1e-12], default=(k + 1) * period
            )
            h = until - t
            s, v, t = s + v * h + 0.5 * acting / MASS * h * h, v + acting / MASS * h, until
    return np.array(places), np.array(commands)


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.02, 0.047])
def test_sampled_pid_matches_difference_equation(delay):
    """Limits, anti-windup, filtered derivative, delays of parts and of whole periods, against the partner of the laboratory on exact motion."""
    period, gains = (
        0.02,
        {
            "kp": 60.0,
            "ki": 40.0,
            "kd": 12.0,
            "filter": 0.01,
            "low": -30.0,
            "high": 30.0,
            "setpoint": 1.0,
        },
    )
    count = 80
    places, commands = recursion(period, delay, count, gains)
    system = load(slider({"measure": "s", "period": period, "delay": delay, **gains})).compile()
    result = system.simulate(stop_time=count * period, output_step=period / 2)
    middle = result.time.searchsorted(
        np.arange(count) * period + period / 2 - 1e-9
    )  # half a period behind each sample
    scale = np.abs(np.diff(places)).max(), np.abs(np.diff(commands)).max()
    assert np.abs(result["hold.measured"][middle] - places).max() < 20 * FIRST * scale[0]
    late = round(delay // period + (delay % period > period / 2)) if delay else 0
    held = result["hold"][middle][late:]
    assert (
        np.abs(held - commands[: held.size]).max() < 200 * FIRST * scale[1]
    )  # the loop carries differences on
    assert (np.abs(commands) == 30.0).any()  # a limit was met


def test_continuous_pid_matches_differential_equation():
    """A mass under a PID with filtered derivative, against scipy on the equation written by hand; no kick of the derivative at the start."""
    kp, ki, kd, T = 50.0, 30.0, 15.0, 0.02

    def rates(t, y):
        s, v, i, slow = y
        e = 1.0 - s
        return [v, (kp * e + i + kd * (e - slow) / T) / MASS, ki * e, (e - slow) / T]

    times = np.linspace(0.0, 3.0, 61)
    expected = solve_ivp(
        rates, (0.0, 3.0), [0.0, 0.0, 0.0, 1.0], t_eval=times, rtol=1e-10, atol=1e-12
    ).y[0]
    system = load(
        slider({"measure": "s", "setpoint": 1, "kp": kp, "ki": ki, "kd": kd, "filter": T})
    ).compile()
    result = system.simulate(stop_time=3.0, output_step=0.05, tolerance=1e-9)
    assert (
        np.abs(result["s"] - expected).max() < 5e-6
    )  # the memory begins a microsecond after the start
    assert result["hold"][0] == pytest.approx(kp)


@pytest.mark.parametrize("way", [{}, {"tracking": 0.2}], ids=["held", "tracking"])
@pytest.mark.parametrize("period", [None, 0.01], ids=["continuous", "sampled"])
def test_controller_integral_does_not_wind_up(way, period):
    """While a limit holds the command for three seconds the integral stays within a command's size; without limits it would reach ki 3 s."""
    gains = {
        "measure": "0*y",
        "setpoint": "if(t < 3, 1, -1)",
        "kp": 1.0,
        "ki": 5.0,
        "low": -2.0,
        "high": 2.0,
        **way,
    }
    system = load(alone(gains | ({"period": period} if period else {}), {"y": 0.0})).compile()
    result = system.simulate(stop_time=4.0, output_step=0.1)
    assert abs(result["c.integral"]).max() < 3.1
    assert result["c"][29] == pytest.approx(2.0)
    assert result["c"][-1] == pytest.approx(-2.0)


@pytest.mark.parametrize(("limit", "side"), [("high", 1.0), ("low", -1.0)])
def test_sampled_integral_stops_at_command_limit(limit, side):
    """Steps of 1.6 between limits that are no whole number of them: the command stands at the limit, and the first error back counts in full."""
    gains = {
        "measure": "0*y",
        "setpoint": f"{side}*if(t < 0.95, 1, -0.25)",
        "kp": 0.5,
        "ki": 16.0,
        "period": 0.1,
        limit: 5.0 * side,
    }
    result = load(alone(gains, {"y": 0.0})).compile().simulate(stop_time=1.35, output_step=0.05)
    between = side * result["c"][1::2]  # of two samples
    assert between == pytest.approx(
        [0.5, 2.1, 3.7, *[5.0] * 7, 3.975, 3.575, 3.175, 2.775]
    )  # 4.5 - 0.4 k - 0.125
    assert abs(result["c.integral"]).max() == pytest.approx(4.5)


def test_lead_lag_and_notch_follow_their_transfer_functions():
    """Step responses of the continuous ones; samples of the sampled ones equal those of the bilinear transform (the notch prewarped)."""
    w, depth, width, T = 2 * np.pi * 3.0, 0.05, 0.6, 0.01
    cases = {
        "lead-lag": (
            {"gain": 2.0, "lead": 0.3, "lag_time": 0.05},
            [2 * 0.3, 2.0],
            [0.05, 1.0],
            1 / T,
        ),
        "notch": (
            {"gain": 1.5, "frequency": 3.0, "depth": depth, "width": width},
            [1.5, 3 * depth * w, 1.5 * w * w],
            [1, 2 * width * w, w * w],
            w / (2 * np.tan(w * T / 2)),
        ),
    }
    times = np.arange(0, 1.0, T)
    for kind, (numbers, top, bottom, warped) in cases.items():
        # the error is -measure; it leaves its rest at 0.1 s
        signal = "-(if(t < 0.1, 0, 1) + sin(9*t))"
        values = (times >= 0.1) + np.sin(9 * times)
        sampled = load(
            alone({"kind": kind, "measure": signal, "period": T, **numbers}, {"y": 0.0})
        ).compile()
        result = sampled.simulate(stop_time=1.0, output_step=T / 2)
        found = result["c"][result.time.searchsorted(times + T / 2 - 1e-9)]
        b, a = bilinear(top, bottom, fs=warped)
        assert np.abs(found - lfilter(b, a, values)).max() < 1e-3 * np.abs(values).max() * abs(
            b[0]
        )  # 9 T FIRST in each sample
        smooth = load(
            alone({"kind": kind, "measure": "-sin(9*t)", **numbers}, {"y": 0.0})
        ).compile()
        result = smooth.simulate(stop_time=1.0, output_step=0.01, tolerance=1e-9)
        fine = np.linspace(0.0, 1.0, 20001)
        _, response, _ = lti(top, bottom).output(np.sin(9 * fine), fine)
        assert (
            np.abs(result["c"] - response[::200]).max() < 1e-4
        )  # memory begins with the error of 1e-6 s, times gain lead/lag


def test_controller_keeps_its_rate_limit():
    """Continuous and sampled: a jump of 1 becomes a ramp of the rate."""
    for more in ({}, {"period": 0.01}):
        system = load(
            alone(
                {"kind": "rate-limit", "input": "if(t < 0.5, 0, 1)", "rate": 4.0, **more},
                {"y": 0.0},
            )
        ).compile()
        result = system.simulate(stop_time=1.0, output_step=0.01)
        steps = np.diff(result["c"])
        assert steps.max() <= 4.0 * 0.01 * (1 + 1e-6)
        assert result["c"][-1] == pytest.approx(1.0, abs=1e-6)
        assert result["c"][result.time.searchsorted(0.62)] == pytest.approx(0.48, abs=0.041)


def test_noise_has_its_density_and_its_seed():
    """4000 samples: mean and variance of a normal number within four standard errors, no correlation from one to the next, none of two seeds."""
    T, density = 0.001, 0.02
    sigma = density / np.sqrt(2 * T)

    def samples(seed: int) -> np.ndarray:
        table = {"kind": "sensor", "input": "y", "period": T, "noise": density, "seed": seed}
        result = (
            load(alone(table, {"y": 3.0}))
            .compile()
            .simulate(stop_time=4.0, output_step=T, integrator="rk4")
        )
        return result["c"][1:]

    first, again, other = samples(1), samples(1), samples(2)
    assert (first == again).all()
    n = first.size
    for values in (first, other):
        centred = (values - 3.0) / sigma
        assert abs(centred.mean()) < 4 / np.sqrt(n)
        assert abs(centred.var() - 1.0) < 4 * np.sqrt(2 / n)
        assert abs((centred**4).mean() - 3.0) < 4 * np.sqrt(96 / n)
        assert abs((centred[1:] * centred[:-1]).mean()) < 4 / np.sqrt(n)
    assert abs(np.corrcoef(first, other)[0, 1]) < 4 / np.sqrt(n)


def test_controllers_without_a_seed_draw_their_own_numbers():
    """Noise and jitter of two controllers are independent; a seed that both name makes them alike."""

    def noises(**seed) -> tuple[np.ndarray, np.ndarray]:
        table = {"kind": "sensor", "input": "y", "period": 0.001, "noise": 0.02, **seed}
        d = alone(table, {"y": 3.0})
        d["controllers"]["other"] = dict(table)
        result = load(d).compile().simulate(stop_time=1.0, output_step=0.001, integrator="rk4")
        return result["c"][1:], result["other"][1:]

    first, other = noises()
    assert abs(np.corrcoef(first, other)[0, 1]) < 4 / np.sqrt(first.size)
    assert (noises()[0] == first).all()
    assert np.array_equal(*noises(seed=0))


def test_measurements_are_quantised_and_commands_delayed():
    """Every value is a whole number of steps, the nearest one; jitter stays between 0 and its bound, and is spread evenly."""
    table = {
        "kind": "sensor",
        "input": "t",
        "period": 0.1,
        "resolution": 0.03,
        "delay": 0.02,
        "jitter": 0.05,
    }
    system = load(alone(table, {"y": 0.0})).compile()
    result = system.simulate(stop_time=20.0, output_step=0.1)
    steps = result["c.measured"] / 0.03
    assert np.abs(steps - np.round(steps)).max() < 1e-9
    assert np.abs(result["c.measured"][1:] - result.time[:-1]).max() < 0.1 + 0.5 * 0.03 + 1e-6
    lets = np.array([event.time for event in result.events if "release" in event.cause])
    late = np.round(lets / 0.1 - 0.5 - 1e-9).astype(int)
    waits = lets - 0.1 * late
    assert waits.min() > 0.02 and waits.max() < 0.07 + 1e-6
    assert abs(waits.mean() - 0.045) < 4 * 0.05 / np.sqrt(12 * waits.size)


def test_state_feedback_and_observer_place_their_poles():
    """A mass: state feedback gives m s² + k2 s + k1; an observer keeps those poles beside its own (separation), which the rest's eigenvalues show."""
    gains = {"s": 18.0, "der(s)": 8.0}
    fed = load(slider({"gains": gains, "rests": {"s": 0.5}})).compile()
    rest = fed.equilibrium()
    assert rest.coordinates["s"] == pytest.approx(0.5)
    assert np.sort(rest.eigenvalues.real) == pytest.approx(
        np.sort(np.roots([MASS, 8.0, 18.0]).real)
    )
    A, B, C = np.array([[0, 1], [0, 0.0]]), np.array([[0], [1 / MASS]]), np.array([[1.0, 0]])
    K, L = np.array([[18.0, 8.0]]), np.array([[21.0], [98.0]])
    table = {
        "measures": ["s - 0.5"],
        **{key: value.tolist() for key, value in {"A": A, "B": B, "C": C, "L": L, "K": K}.items()},
    }
    watched = load(slider(table)).compile().equilibrium()
    expected = np.concatenate((np.linalg.eigvals(A - B @ K), np.linalg.eigvals(A - L @ C)))
    assert np.sort_complex(watched.eigenvalues) == pytest.approx(
        np.sort_complex(expected), rel=1e-9
    )


def test_sampled_observer_matches_difference_equation():
    """Measures, states and commands of twenty samples against matrices, the plant's exact from sample to sample."""
    T = 0.05
    A, B = np.array([[1, T], [0, 1.0]]), np.array([[T * T / 2 / MASS], [T / MASS]])
    C, K, L = np.array([[1.0, 0]]), np.array([[30.0, 12.0]]), np.array([[0.6], [4.0]])
    table = {"measures": ["s - 0.5"], "period": T, "low": -10.0, "high": 10.0}
    table |= {
        key: value.tolist() for key, value in {"A": A, "B": B, "C": C, "L": L, "K": K}.items()
    }
    result = load(slider(table)).compile().simulate(stop_time=2.0, output_step=T / 2)
    plant, seen, commands = np.array([-0.5, 0.0]), np.zeros(2), []
    for _ in range(40):
        seen = seen + L[:, 0] * (plant[0] - seen[0])
        u = np.clip(-K[0] @ seen, -10.0, 10.0)
        commands.append(u)
        plant, seen = A @ plant + B[:, 0] * u, A @ seen + B[:, 0] * u
    assert np.abs(result["hold"][1:80:2] - commands).max() < 1e-3
    assert max(commands) == 10.0


def test_several_commands_drive_several_actuators():
    """Two masses under one observer: its commands are NAME.u1 and NAME.u2."""
    bodies = {"a": {"mass": 1.0}, "b": {"mass": 2.0}}
    joints = {
        k: {"child": k, "type": "prismatic", "axis": "x", "coordinates": [f"s{k}"]} for k in "ab"
    }
    zero = np.zeros((2, 2)).tolist()
    A = (-5 * np.eye(2)).tolist()
    controller = {
        "measures": ["sa - 1", "sb + 1"],
        "A": A,
        "B": zero,
        "C": zero,
        "L": (5 * np.eye(2)).tolist(),
        "K": (4 * np.eye(2)).tolist(),
    }
    d = {
        "format": "kinetree/1",
        "bodies": bodies,
        "joints": joints,
        "gravity": [0, 0, 0],
        "actuators": {k: {"coordinate": f"s{k}"} for k in "ab"},
    }
    d |= {"controllers": {"two": {**controller, "commands": ["a", "b"]}}}
    d |= {"forces": {k: {"coordinate": f"s{k}", "damping": 6.0} for k in "ab"}}
    result = load(d).compile().simulate(stop_time=10.0, output_step=0.1)
    assert result["sa"][-1] == pytest.approx(1.0, abs=1e-3)
    assert result["sb"][-1] == pytest.approx(-1.0, abs=1e-3)
    assert {"two.u1", "two.u2"} <= set(result.columns())


def test_controlled_run_starts_in_equilibrium():
    """`run.prepare` and statics find the command that holds the weight, sampled and continuous; nothing moves from there."""
    for more in ({}, {"period": 0.01, "delay": 0.013, "rate": 1e4}):
        table = {
            "measure": "s",
            "setpoint": 1,
            "kp": 200,
            "kd": 40,
            "filter": 0.01,
            "ki": 50,
            "low": -150,
            "high": 150,
            **more,
        }
        d = slider(table, gravity=[-9.81, 0, 0], run={"stop_time": 1, "prepare": [{}]})
        system = load(d).compile()
        assert system.equilibrium().outputs["hold"] == pytest.approx(MASS * 9.81)
        result = system.simulate(output_step=0.1)
        assert np.abs(result["s"] - 1.0).max() < 1e-9
        assert result["hold"] == pytest.approx(np.full(11, MASS * 9.81), rel=1e-9)


def test_late_start_keeps_sampling():
    """A run that begins after `run.start_time`: the condition of the first sample holds already; the controller wakes within three periods."""
    system = load(
        slider({"measure": "s", "setpoint": 1, "kp": 20, "kd": 8, "period": 0.05})
    ).compile()
    result = system.simulate(start_time=3.01, stop_time=4.0, output_step=0.05)
    assert result["hold"][4] != 0.0
    smooth = load(
        slider({"measure": "s", "setpoint": 1, "kp": 20, "kd": 8, "filter": 0.02})
    ).compile()
    late, usual = (
        smooth.simulate(start_time=3.0, stop_time=4.0, output_step=0.1),
        smooth.simulate(stop_time=1.0, output_step=0.1),
    )
    assert np.abs(late["s"] - usual["s"]).max() < 0.02


def test_controllers_continue_through_stages_and_copies():
    """Two copies; a stage drops one of the driven bodies: its controller and its force go, the other one holds on."""
    bodies = {"b{i}": {"mass": 1.0, "copies": 2}}
    joints = {
        "j{i}": {
            "child": "b{i}",
            "type": "prismatic",
            "axis": "x",
            "coordinates": ["s{i}"],
            "copies": 2,
        }
    }
    controllers = {
        "c{i}": {
            "measure": "s{i}",
            "setpoint": "0.1*{i}",
            "kp": 30,
            "kd": 10,
            "filter": 0.02,
            "period": 0.02,
            "drives": "a{i}",
            "copies": 2,
        }
    }
    d = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": bodies,
        "joints": joints,
        "controllers": controllers,
    }
    d |= {"actuators": {"a{i}": {"coordinate": "s{i}", "copies": 2}}}
    d |= {"stages": [{"name": "both", "ends": {"at": 2.0}, "drop": ["b1"]}, {"name": "one"}]}
    result = load(d).compile().simulate(stop_time=4.0, output_step=0.1)
    assert result["s1"][19] == pytest.approx(0.1, abs=1e-3)
    assert result["s2"][-1] == pytest.approx(0.2, abs=1e-6)
    assert [event for event in result.events if event.time > 2.5]  # the other one samples on


def test_controller_mistakes_name_the_key():
    """One sentence per mistake, at the key of the controller, not at the parts it is made of."""
    cases = {
        "controllers.hold.measure": {"measure": "sq", "kp": 1},
        "controllers.hold.drives": {"measure": "s", "kp": 1, "drives": "pusch"},
        "controllers.hold.delay": {"measure": "s", "kp": 1, "delay": 0.1},
        "controllers.hold.jitter": {
            "measure": "s",
            "kp": 1,
            "period": 0.1,
            "delay": 0.05,
            "jitter": 0.06,
        },
        "controllers.hold.filter": {"measure": "s", "kd": 1},
        "controllers.hold.high": {"measure": "s", "kp": 1, "low": 1, "high": 1},
        "controllers.hold.period": {"measure": "s", "kp": 1, "period": "T"},
        "controllers.hold.frequency": {
            "kind": "notch",
            "measure": "s",
            "frequency": 60,
            "period": 0.01,
        },
        "controllers.hold.rate": {"kind": "rate-limit", "input": "s"},
        "controllers.hold.K": {
            "measures": ["s"],
            "A": [[0.0]],
            "B": [[1.0]],
            "C": [[1.0]],
            "L": [[1.0]],
            "K": [[1.0, 2.0]],
        },
        "controllers.hold": {"measure": "s"},
    }
    for key, table in cases.items():
        parameters = {"T": {"value": 0.1, "tunable": True}}
        with pytest.raises(ModelError) as caught:
            load(slider(table, parameters=parameters))
        keys = [problem.key for problem in caught.value.problems]
        assert keys == [key], (key, str(caught.value))
    with pytest.raises(ModelError, match="already one of"):
        load(slider({"measure": "s", "kp": 1}, outputs={"hold": {"value": "s"}}))
    with pytest.raises(ModelError, match="may change in a run|chambers|inputs are flows"):
        load(
            slider(
                {"measure": "s", "kp": 1, "period": "T"},
                parameters={"T": {"value": 0.1, "tunable": True}},
            )
        )


@pytest.mark.parametrize("name", ["radau", "semi-implicit", "rk45"])
def test_constant_controller_states_stay_bitwise_constant(name: str):
    """Rows exchanged for the large entry of a flag's column gave the flag 1e-25: a condition `flag == 0` was never true again."""
    model = SLIDER | {
        "states": {"flag": {"rate": 0}, "lag": {"rate": "1e6*flag + 50*(s - lag)"}},
        "forces": {"f": {"coordinate": "s", "value": "-1e6*flag - 40*s + lag"}},
        "events": {"flagged": {"when": "flag == 0 and t > 0.1", "set": {"flag": "1e-6"}}},
    }
    model["joints"] = {"j": SLIDER["joints"]["j"] | {"start": [0.3], "speed": [1.0]}}
    result = load(model).compile().simulate(0.15, output_step=0.03, integrator=name, step=1e-3)
    assert [event.time for event in result.events] == [pytest.approx(0.1, abs=1e-9)]
    assert (result["flag"] == np.where(result.time < 0.1, 0.0, 1e-6)).all()


@pytest.mark.parametrize("name", ["radau", "rk45"])
def test_controllers_act_under_every_integrator(name: str):
    """The integral and the filter of a continuous law begin by an event, which implicit methods missed."""
    law = {
        "kind": "pid",
        "measure": "s",
        "setpoint": 0.5,
        "kp": 80.0,
        "ki": 30.0,
        "kd": 9.0,
        "filter": 0.02,
    }
    expected = (
        load(slider(law))
        .compile()
        .simulate(1.0, output_step=0.1, integrator="adams", tolerance=1e-10)
    )
    found = (
        load(slider(law)).compile().simulate(1.0, output_step=0.1, integrator=name, tolerance=1e-10)
    )
    assert (
        [event.cause for event in found.events] == [event.cause for event in expected.events] != []
    )
    assert found["s"] == pytest.approx(expected["s"], abs=1e-7)


def test_measurement_and_setpoint_units_agree():
    law = {"kind": "pid", "measure": "s", "kp": 1.0, "setpoint": "0.1*t"}
    for controller in (law, law | {"period": 0.01}):
        result = load(slider(controller)).compile().simulate(0.02, output_step=0.01)
        assert {result.unit(f"hold.{key}") for key in ("measured", "wanted", "error")} == {"m"}
        with pytest.raises(ModelError, match="expected a value in m"):
            load(
                slider(
                    controller | {"setpoint": "way"},
                    parameters={"way": {"value": 0.1, "unit": "rad"}},
                )
            ).compile()
        load(
            slider(
                controller | {"setpoint": "way"}, parameters={"way": {"value": 100, "unit": "mm"}}
            )
        ).compile()


@pytest.mark.parametrize("name", ["rate/max", "j-1", "der-1"])
def test_setpoint_feed_forward_accepts_quoted_names(name):
    """The derivative of 'rate/max'*t is the parameter, not a quotient: it moves as with a parameter of a plain name, k(s* - s) + c v* = m a."""
    law = {"measure": "s", "kp": 40.0, "kd": 12.0, "filter": 0.01, "speed_forward": 12.0}
    run = {"run": {"stop_time": 0.5, "output_step": 0.1}}
    quoted = (
        load(slider({**law, "setpoint": f"'{name}'*t"}, parameters={name: 0.6}, **run))
        .compile()
        .simulate()
    )
    plain = (
        load(slider({**law, "setpoint": "speed*t"}, parameters={"speed": 0.6}, **run))
        .compile()
        .simulate()
    )
    still = (
        load(
            slider(
                {**law, "setpoint": "speed*t", "speed_forward": 0.0},
                parameters={"speed": 0.6},
                **run,
            )
        )
        .compile()
        .simulate()
    )
    assert np.array_equal(quoted["s"], plain["s"]) and abs(quoted["s"][-1] - still["s"][-1]) > 0.01
