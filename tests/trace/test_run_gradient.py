"""Gradients of whole runs by the discrete adjoint against differences of runs."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.gradients import step_blocks

PENDULUM = {
    "format": "kinetree/1",
    "name": "driven",
    "gravity": [0, 0, -9.81],
    "parameters": {"m": 1.2, "L": 0.8, "k": 3.0, "d": 0.2, "p0": 0.5, "w": 0.3},
    "inputs": {"f": {"start": 0.7}},
    "states": {"work": {"rate": "d*der(p)**2", "start": "w"}},
    "bodies": {
        "a": {"mass": "m", "com": ["L/2", 0, 0], "inertia": [0.01, "m*L**2/12", "m*L**2/12", 0, 0, 0]},
        "b": {"mass": 0.5, "com": [0.2, 0, 0.1], "inertia": [0.01, 0.02, 0.02, 0, 0, 0]},
    },
    "joints": {
        "j": {"parent": "ground", "child": "a", "transforms": [{"rotate": "y", "coordinate": "p", "start": "p0"}]},
        "s": {"parent": "a", "child": "b", "transforms": [{"shift": ["L", 0, 0]}, {"rotate": "z", "coordinate": "r", "start": 0.2, "speed": 1.0}]},
    },
    "forces": {"spring": {"coordinate": "p", "value": "f - k*p - d*der(p) + max(0, p)*k"}},
    "outputs": {"height": {"quantity": "position", "body": "b", "point": [0.3, 0, 0], "axis": "z"}, "sum": {"value": "k*p + work"}},
}  # fmt: skip
NAMES = ("m", "L", "k", "d", "p0", "w")


def run(**parameters: float):
    return (
        load(PENDULUM)
        .compile(**parameters)
        .simulate(
            stop_time=0.73,
            integrator="rk4",
            step=2e-3,
            output_step=0.05,
            inputs={"f": lambda t: 0.7 + 0.4 * t},
        )
    )


@pytest.mark.parametrize("output", ["p", "der(r)", "work", "height", "sum"])
def test_gradient_matches_differences(output: str):
    """Central differences of runs: h² of the third derivative and rounding over h, together about 1e-8 of the value.

    Parameters act through masses, lengths, laws, start values and the output itself; an input moves; steps are shortened at outputs."""
    found = run().gradient(output, NAMES)
    for k, name in enumerate(NAMES):
        value = PENDULUM["parameters"][name]
        h = 1e-5 * value
        plus, minus = (run(**{name: value + s * h})[output][-1] for s in (1, -1))
        assert found[k] == pytest.approx((plus - minus) / (2 * h), rel=1e-7, abs=1e-8)


def test_gradient_handles_quaternions_and_default_parameters():
    """A free top: all parameters of the description, in their order."""
    system = load("lib:heavy-top").compile()
    result = system.simulate(stop_time=0.05, integrator="rk4", step=5e-4, output_step=0.01)
    found = result.gradient(system.coordinates[1])
    assert found.shape == (len(system.compiled.parameters),)
    name = next(
        name for name, slope in zip(system.compiled.parameters, found, strict=True) if slope != 0.0
    )
    value = float(system._fast.ws.val[system.compiled.registers[name]])
    h = 1e-5 * abs(value)
    sides = [load("lib:heavy-top").compile(**{name: value + s * h}) for s in (1, -1)]
    ends = [
        side.simulate(stop_time=0.05, integrator="rk4", step=5e-4, output_step=0.01)
        for side in sides
    ]
    difference = (ends[0][system.coordinates[1]][-1] - ends[1][system.coordinates[1]][-1]) / (2 * h)
    assert found[system.compiled.parameters.index(name)] == pytest.approx(
        difference, rel=1e-5, abs=1e-8
    )


def differences(make, names, values, output: str, part: float = 1e-4) -> np.ndarray:
    """Differences of fourth order of runs; parameters that are 0 move by the part itself."""
    rows = []
    for name in names:
        h = part * (abs(values[name]) or 1.0)
        ends = [make(**{name: values[name] + k * h})[output][-1] for k in (-2, -1, 1, 2)]
        rows.append(np.dot(ends, [1.0, -8.0, 8.0, -1.0]) / (12.0 * h))
    return np.array(rows)


def close(found: np.ndarray, right: np.ndarray, tolerance: float = 1e-7) -> None:
    assert np.abs(found - right).max() < tolerance * max(1.0, np.abs(right).max())


STAGED = {
    "format": "kinetree/1",
    "name": "staged",
    "gravity": [0, 0, -9.81],
    "parameters": {"m": 1.3, "k": 40.0, "d": 0.3, "bound": 0.113, "e": 0.7, "wait": 0.2137, "gain": 1.0, "grow": 1.5, "v0": 1.1, "drop": "2*bound"},
    "states": {"cost": {"rate": "gain*s**2"}},
    "bodies": {
        "a": {"mass": "m", "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        "b": {"mass": 1.0, "com": [0, 0, -0.5], "inertia": [0.02, 0.02, 0.01, 0, 0, 0]},
    },
    "joints": {
        "slide": {"parent": "ground", "child": "a", "transforms": [{"shift": "x", "coordinate": "s", "speed": "v0"}]},
        "hinge": {"parent": "a", "child": "b", "transforms": [{"rotate": "y", "coordinate": "p", "start": 0.4}]},
    },
    "forces": {"spring": {"coordinate": "s", "value": "-k*s - d*der(s)"}, "push": {"coordinate": "p", "value": "max(p - 0.1, 0)*sin(3*t) + 0.2*t"}},
    "events": {"wall": {"when": "s > bound", "set": {"der(s)": "-e*der(s)", "gain": "gain*grow"}}},
    "stages": [
        {"name": "swing", "ends": {"when": "p < -drop/2"}},
        {"name": "held", "lock": ["slide"], "ends": {"after": "wait"}},
        {"name": "free"},
    ],
    "outputs": {"height": {"quantity": "position", "body": "b", "point": [0, 0, -1], "axis": "z"}},
}  # fmt: skip


@pytest.mark.parametrize("integrator", ["rk4", "semi-implicit"])
def test_gradient_passes_events_and_stage_changes(integrator: str):
    """A wall that is hit and counts by a parameter, a joint that locks with a plastic impact, a stage of given length, a joint that is freed.

    The steps behind each instant begin there; what an event sets, and the instants themselves, depend on all parameters. By the implicit method the
    differences carry the noise of its numerical Jacobian."""

    def make(**parameters: float):
        return (
            load(STAGED)
            .compile(**parameters)
            .simulate(stop_time=1.43, integrator=integrator, step=4e-3, output_step=0.11)
        )

    result = make()
    assert [event.kind for event in result.events].count("reset") >= 1 and result["stage"][
        -1
    ] == 2.0
    names = ("m", "k", "bound", "e", "wait", "gain", "grow", "v0")
    outputs = ("cost", "p", "der(p)", "height")
    found = result.gradient(outputs, names)
    values = {name: STAGED["parameters"][name] for name in names}
    for row, output in zip(found, outputs, strict=True):
        close(row, differences(make, names, values, output), 1e-7 if integrator == "rk4" else 2e-6)


def test_gradient_handles_two_stage_ends_at_one_instant():
    """A stage whose condition holds when it begins: both changes, of different structures, have slopes of their own."""
    first, held, last = STAGED["stages"]
    passed = {"name": "passed", "free": ["hinge"], "ends": {"when": "p < 0"}, "set": {"k": "2*k"}}
    description = {**STAGED, "stages": [first, passed, {**held, "lock": ["slide"]}, last]}

    def make(**parameters: float):
        return (
            load(description)
            .compile(**parameters)
            .simulate(stop_time=1.0, integrator="rk4", step=4e-3, output_step=0.1)
        )

    result = make()
    together = [event.time for event in result.events if event.kind == "stage"]
    assert together[0] == together[1] < together[2]
    names = ("m", "bound", "wait", "v0")
    close(result.gradient("b.z", names), differences(make, names, STAGED["parameters"], "b.z"))


def test_gradient_handles_event_at_output_time():
    """A stage that ends at an instant of output: behind it the steps are those of the outputs, whichever side the instant moves to."""

    def make(**parameters: float):
        return (
            load(STAGED)
            .compile(drop=0.0, wait=0.3, **parameters)
            .simulate(stop_time=0.9, integrator="rk4", step=2e-3, output_step=0.1)
        )

    event = next(event for event in make().events if event.stage == "free")
    wait = 0.3 + round(event.time, 1) - event.time

    def other(**parameters: float):
        return (
            load(STAGED)
            .compile(drop=0.0, **{"wait": wait, **parameters})
            .simulate(stop_time=0.9, integrator="rk4", step=2e-3, output_step=0.1)
        )

    result = other()
    assert any(
        abs(event.time - round(event.time, 1)) < 1e-9 and event.stage == "free"
        for event in result.events
    )
    close(result.gradient("p", ["wait"]), differences(other, ["wait"], {"wait": wait}, "p"), 1e-6)


@pytest.mark.parametrize("name", ["four-bar", "slider-crank-spatial", "rolling-disc"])
def test_gradient_through_closed_loops(name: str):
    """The projection after every step is part of the map; start values are assembled."""

    def make(**parameters: float):
        return (
            load(f"lib:{name}")
            .compile(**parameters)
            .simulate(stop_time=0.3, integrator="rk4", step=2.5e-3, output_step=0.1)
        )

    system = load(f"lib:{name}").compile()
    c, val = system.compiled, system._fast.ws.val
    values = {
        each: float(val[c.registers[each]])
        for each in c.parameters
        if val[c.registers[each]] != 0.0
    }
    names = tuple(values)[:4]
    close(
        make().gradient(system.coordinates[0], names),
        differences(make, names, values, system.coordinates[0]),
    )


def test_gradient_of_prepared_run_matches_differences():
    """The state of rest moves with the parameters: from what keeps its accelerations zero, as searched anew."""
    hanging = {
        **PENDULUM,
        "forces": {"spring": {"coordinate": "p", "value": "f - k*p - d*der(p)"}, "twist": {"coordinate": "r", "value": "0.3*t - 2*r - 0.1*der(r)"}},
        "run": {"prepare": [{"name": "at rest"}]},
    }  # fmt: skip

    def make(**parameters: float):
        return (
            load(hanging)
            .compile(**parameters)
            .simulate(stop_time=0.4, integrator="rk4", step=2e-3, output_step=0.1)
        )

    names = ("m", "L", "k")
    values = {name: PENDULUM["parameters"][name] for name in names}
    close(make().gradient("p", names), differences(make, names, values, "p", 1e-3), 1e-6)


def test_gradient_with_small_memory_blocks_is_equal(monkeypatch: pytest.MonkeyPatch):
    """Of earlier blocks only the beginnings are kept: the same slopes to the last digit."""
    right = run().gradient("height", NAMES)
    monkeypatch.setattr(step_blocks, "MEMORY", 20 * 7)
    assert np.array_equal(run().gradient("height", NAMES), right)


@pytest.mark.parametrize(
    ("model", "integrator", "message"),
    [
        ("lib:regulator", "adams", "rk4"),
        ("lib:regulator", "stormer", "rk4 and semi-implicit"),
        ("lib:rocking-block", "rk4", "contacts"),
    ],
)
def test_runs_without_an_adjoint_are_refused(model: str, integrator: str, message: str):
    system = load(model).compile()
    result = system.simulate(stop_time=0.05, integrator=integrator, output_step=0.01, step=1e-2)
    with pytest.raises(ValueError, match=message):
        result.gradient(system.coordinates[0])


def test_gradient_with_actuators_between_outputs_matches_differences():
    """What an actuator holds from output to output does not matter while its stiffness and damping are zero; what depends on it is refused."""

    def make(inputs=None, **parameters: float):
        force = {"lift.force": 5e4} | (inputs or {})
        return (
            load("lib:boom")
            .compile(**parameters)
            .simulate(stop_time=0.3, integrator="rk4", step=2e-3, output_step=0.1, inputs=force)
        )

    names, system = ("reach", "load_mass"), load("lib:boom").compile()
    values = {name: float(system._fast.ws.val[system.compiled.registers[name]]) for name in names}
    for output in ("luff", "tip"):
        close(make().gradient(output, names), differences(make, names, values, output))
    for result, output in ((make(), "lift.mean_speed"), (make({"lift.stiffness": -1e5}), "luff")):
        with pytest.raises(ValueError, match="what actuators hold"):
            result.gradient(output, names)


def test_gradient_with_actuators_and_events():
    """Differences through the event leave roundings where nothing depends on what an actuator holds."""
    law = {
        "kind": "pid",
        "measure": "s",
        "setpoint": 0.8,
        "kp": 40.0,
        "kd": 4.0,
        "filter": 0.02,
        "drives": "push",
    }
    raw = {
        "parameters": {"m": 2.0},
        "bodies": {"b": {"mass": "m"}},
        "joints": {"j": {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["s"]}},
        "actuators": {"push": {"coordinate": "s"}},
        "controllers": {"keep": law},
    }

    def make(**parameters: float):
        return (
            load(raw)
            .compile(**parameters)
            .simulate(stop_time=0.3, integrator="rk4", step=2e-3, output_step=0.1)
        )

    assert make().events
    close(make().gradient("s", ("m",)), differences(make, ("m",), {"m": 2.0}, "s"))


def test_gradient_refuses_unknown_names():
    result = run()
    with pytest.raises(KeyError, match="unknown parameters: z"):
        result.gradient("p", ["z"])
    with pytest.raises(KeyError, match="'z' is no coordinate"):
        result.gradient("z")


def test_table_points_have_no_gradient():
    """It was 0, without a word: tables are built with their points. By name it is refused, in traces too; others are as before."""
    joint = {"child": "a", "type": "revolute", "axis": "y", "coordinates": ["q"], "start": 0.5}
    d = {
        "format": "kinetree/1", "bodies": {"a": {"mass": 1.0, "com": [0, 0, -1], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}}, "joints": {"j": joint},
        "parameters": {"k": 1.0, "half": "k/2", "c": 0.3}, "tables": {"T": {"x": [-1, 1], "y": ["half", 2]}},
        "forces": {"f": {"coordinate": "q", "value": "table('T', q) + c*q"}},
    }  # fmt: skip
    system = load(d).compile()
    result = system.simulate(0.5, integrator="rk4", step=0.01, output_step=0.1)
    for names in (["k"], ["c", "k"], None):
        with pytest.raises(ValueError, match="'k' decides points of the table 'T'"):
            result.gradient("q", names)
    h = 1e-4
    up, down = (
        load(d)
        .compile(c=0.3 + s * h)
        .simulate(0.5, integrator="rk4", step=0.01, output_step=0.1)["q"][-1]
        for s in (1, -1)
    )
    assert result.gradient("q", ["c"])[0] == pytest.approx((up - down) / (2 * h), rel=1e-6)
    trace = system.trace(parameters="symbols")
    with pytest.raises(ValueError, match="'k' is a number in this trace"):
        trace.gradient(["k"])
    changed = {"k": 7.0, "c": 0.6}
    given = [changed.get(name, 0.0) for name in trace.arguments["parameters"]]
    assert trace.evaluate(0.0, [0.4], [0.2], parameters=given) == pytest.approx(
        load(d).compile(c=0.6).accelerations(0.0, [0.4], [0.2]), rel=1e-12
    )


def test_single_sweep_gives_all_parameters():
    """The gradient by one parameter takes the same work as that by all: the columns agree exactly."""
    result = run()
    every = result.gradient("height", NAMES)
    assert np.array_equal(every[2:3], result.gradient("height", ["k"]))


def test_adjoint_gradient_matches_duals():
    """The tangent of the same Runge-Kutta steps, forwards, by the exact slopes of the engine's dual numbers: equal but for roundings.

    A parameter that adds to an input moves the rates as the input does; start values are directions at the beginning."""
    description = {each: PENDULUM[each] for each in ("format", "gravity", "inputs", "bodies")} | {
        "name": "beside duals"
    }
    description["parameters"] = PENDULUM["parameters"] | {"lift": 0.1, "v0": 0.2}
    hinge = {
        "parent": "ground",
        "child": "a",
        "transforms": [{"rotate": "y", "coordinate": "p", "start": "p0", "speed": "v0"}],
    }
    description["joints"] = PENDULUM["joints"] | {"j": hinge}
    description["forces"] = {
        "spring": {"coordinate": "p", "value": "f + lift - k*p - d*der(p) + 0.3*k*p**3"}
    }
    system, h, count = load(description).compile(), 2e-3, 100
    result = system.simulate(stop_time=h * count, integrator="rk4", step=h, output_step=h * count)
    found = result.gradient(("p", "r", "der(p)", "der(r)"), ("lift", "p0", "v0"))

    def rates(t: float, y: np.ndarray, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slopes = system.derivatives(t, y[:2], y[2:])
        by_lift = np.outer(slopes.inputs[:, 0], [1.0, 0.0, 0.0])
        return np.append(y[2:], system.accelerations(t, y[:2], y[2:])), np.vstack(
            [S[2:], slopes.q @ S[:2] + slopes.u @ S[2:] + by_lift]
        )

    y, S = (
        np.concatenate(system.start()),
        np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
    )
    for k in range(count):
        parts = [rates(k * h, y, S)]
        for part in (0.5, 0.5, 1.0):
            f, T = parts[-1]
            parts.append(rates(k * h + part * h, y + part * h * f, S + part * h * T))
        y, S = (
            each + h / 6.0 * sum(w * part[i] for w, part in zip((1, 2, 2, 1), parts, strict=True))
            for i, each in enumerate((y, S))
        )
    assert np.abs(y - [result[name][-1] for name in ("p", "r", "der(p)", "der(r)")]).max() < 1e-13
    assert np.abs(found[:, 0] - S[:, 0]).max() < 1e-15
    close(
        found[:, 1:], S[:, 1:], 1e-10
    )  # how start values follow from parameters is found by differences of fourth order
