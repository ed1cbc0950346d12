"""Electric motors against closed forms: speeds, torques, time constants, limits, losses, energy; in loops, lanes, gradients and FMUs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import ModelError, load
from kinetree.models.analysis.control_loops import control_loops
from kinetree.scripts.fmi.verify import verify

K, R, L, J, GEAR, DRUM = 0.05, 0.4, 2e-3, 3e-5, 10.0, 0.1
SEEN = DRUM + GEAR**2 * J  # inertia at the drum
NAMES = ("voltage", "current", "torque", "speed", "electric_power", "power", "heat", "saturation")


def drum(tables: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    """A drum on a motor with a gear."""
    motor = {
        "coordinate": "phi",
        "voltage": "u",
        "torque_constant": K,
        "resistance": R,
        "inertia": J,
        "gear": GEAR,
    }
    return {
        "format": "kinetree/1",
        "name": "drum",
        "parameters": {"u": {"value": 24.0, "unit": "V", "tunable": True}},
        "bodies": {"drum": {"mass": 1.0, "inertia": [DRUM, DRUM, DRUM, 0, 0, 0]}},
        "joints": {"axle": {"child": "drum", "transforms": [{"rotate": "z", "coordinate": "phi"}]}},
        "forces": {"motor": {key: value for key, value in {**motor, **keys}.items() if value is not None}},
        "outputs": {name: {"value": f"motor.{name}"} for name in NAMES},
        "run": {"stop_time": 2.0, "output_step": 0.01},
        **(tables or {}),
    }  # fmt: skip


def run(stop: float = 2.0, **keys: Any) -> Any:
    return load(drum(**keys)).compile().simulate(stop, output_step=stop / 200, tolerance=1e-9)


def test_motor_reaches_its_no_load_speed_with_its_time_constant():
    """ω = u/k (1 - exp(-t/τ)) with τ = R J/k², at first the stall torque k u/R."""
    found = run()
    lag = R * SEEN / (K * GEAR) ** 2
    speed = 24.0 / (K * GEAR) * (1.0 - np.exp(-found.time / lag))
    assert found["der(phi)"] == pytest.approx(speed, abs=1e-6)
    assert found["torque"][0] == pytest.approx(K * 24.0 / R, rel=1e-12)
    assert found["speed"] == pytest.approx(GEAR * found["der(phi)"], rel=1e-12)


def test_linearised_motor_has_electrical_and_mechanical_time_constants():
    """The roots of L J s² + R J s + k² = 0."""
    linear = load(drum(inductance=L)).compile().linearize()
    roots = np.roots([L * SEEN, R * SEEN, (K * GEAR) ** 2])
    found = linear.eigenvalues[np.abs(linear.eigenvalues) > 1e-6]
    assert np.sort(np.real(found)) == pytest.approx(np.sort(np.real(roots)), rel=1e-9)


def test_motor_keeps_current_and_voltage_limits():
    """At first the limited current accelerates evenly; at the end the limited voltage bounds the speed."""
    found = run(current_limit=20.0, voltage_limit=12.0)
    even = K * GEAR * 20.0 / SEEN
    early = found.time < 0.04  # until 12 V cannot keep 20 A
    assert found["der(phi)"][early] == pytest.approx(even * found.time[early], rel=1e-6)
    assert found["current"].max() <= 20.0 + 1e-9 and found["voltage"].max() <= 12.0
    assert found["der(phi)"][-1] == pytest.approx(12.0 / (K * GEAR), rel=1e-2)
    assert found["saturation"].all()


@pytest.mark.parametrize("inductance", [None, L])
def test_motor_current_follows_set_value(inductance: float | None):
    """With inductance like exp(-t/lag), else at once; a limit holds both."""
    keys = {"lag": 5e-3} if inductance else {}
    found = run(
        0.1, voltage=None, current="if(t < 0.05, 4, 40)", inductance=inductance, current_limit=10.0, **keys
    )  # fmt: skip
    before = (found.time > 0) & (found.time < 0.049)
    wanted = 4.0 * (1.0 - np.exp(-found.time / 5e-3)) if inductance else 4.0 + 0.0 * found.time
    assert found["current"][before] == pytest.approx(wanted[before], rel=1e-5)
    assert found["current"][-1] == pytest.approx(10.0, rel=1e-3)


def test_gear_efficiency_applies_in_both_directions():
    """Driving it passes `efficiency` of the torque; braking its loss helps the motor."""
    driving = run(voltage=None, current=5.0, efficiency=0.8, speed=1e-4)
    assert np.diff(driving["der(phi)"])[50:] == pytest.approx(
        0.8 * K * GEAR * 5.0 / SEEN * 0.01, rel=1e-6
    )
    joint = {"rotate": "z", "coordinate": "phi", "speed": 100.0}
    axle = {"joints": {"axle": {"child": "drum", "transforms": [joint]}}}
    braking = drum(axle, voltage=None, current=-5.0, efficiency=0.8, speed=1e-4)
    found = load(braking).compile().simulate(1.0, output_step=0.01, tolerance=1e-9)
    assert np.diff(found["der(phi)"]) == pytest.approx(
        -1.2 * K * GEAR * 5.0 / SEEN * 0.01, rel=1e-6
    )


def test_motor_balances_electric_energy():
    """What the amplifier gives is what moves, what the inductance stores and the heat."""
    d = drum(inductance=L, efficiency=0.7, voltage="24*cos(3*t)")
    d["states"] = {name: {"rate": f"motor.{name}"} for name in ("electric_power", "heat")}
    del d["outputs"]["electric_power"], d["outputs"]["heat"]
    found = load(d).compile().simulate(3.0, output_step=0.01, tolerance=1e-10)
    kept = 0.5 * SEEN * found["der(phi)"] ** 2 + 0.5 * L * found["current"] ** 2
    size = np.abs(found["electric_power"]).max()
    assert found["electric_power"] == pytest.approx(kept + found["heat"], abs=1e-7 * size)
    assert np.diff(found["heat"]).min() >= 0.0
    assert np.abs(found["energy_residual"]).max() < 1e-6 * size


def test_position_loop_of_a_motor_has_margins_and_holds():
    """A controller whose command is the voltage, against a constant load: its loop has margins, the run begins at rest."""
    hold = {"measure": "phi", "setpoint": "0.5", "kp": 60.0, "ki": 40.0, "kd": 3.0, "filter": 0.005}
    load_of = {"coordinate": "phi", "value": -2.0}
    d = drum(
        {"controllers": {"hold": {**hold, "low": -24.0, "high": 24.0}}},
        voltage="hold",
        inductance=L,
    )
    d["forces"]["load"] = load_of
    d["run"]["prepare"] = [{"name": "held", "guess": {"phi": 0.5}}]
    system = load(d).compile()
    (loop,) = control_loops(system)
    assert loop.margins.stable and loop.margins.phase > 30.0
    found = system.simulate(0.5, output_step=0.01, tolerance=1e-8)
    assert found["phi"] == pytest.approx(np.full(found.time.size, 0.5), abs=1e-9)
    assert found["current"][0] == pytest.approx(2.0 / (K * GEAR), rel=1e-9)


def test_ensemble_lanes_match_single_runs_of_motors():
    """Every run of an ensemble equals the single run."""
    system = load(drum(inductance=L)).compile()
    volts = np.array([6.0, 12.0, 24.0])
    many = system.simulate_many({"u": volts}, stop_time=1.0, output_step=0.1)["der(phi)"]
    for row, u in zip(many, volts, strict=True):
        single = load(drum(inductance=L), u=u).compile().simulate(1.0, output_step=0.1)
        assert row == pytest.approx(single["der(phi)"], rel=1e-6)


@pytest.mark.slow
def test_motor_gradient_by_voltage_matches_differences():
    """The last speed is linear in the voltage: its slope is their quotient."""
    system = load(drum(inductance=L)).compile()
    result = system.simulate(1.0, output_step=0.1, integrator="rk4", step=1e-3)
    slope = float(np.ravel(result.gradient("speed", parameters=["u"]))[-1])
    assert slope == pytest.approx(result["speed"][-1] / 24.0, rel=1e-9)  # linear in the voltage


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"voltage": None}, "neither voltage nor current"),
        ({"current": 1.0}, "voltage and current"),
        ({"efficiency": 1.2}, "at most 1"),
        ({"resistance": 0.0}, "resistance"),
        ({"lag": 0.1}, "lag"),
        ({"voltage": "phj"}, "phj"),
    ],
)
def test_invalid_motors_are_refused(keys: dict[str, Any], says: str):
    with pytest.raises(ModelError, match=says):
        load(drum(**keys))


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "python"])
def test_fmu_of_a_motor_is_verified(backend: str, tmp_path: Path):
    """The voltage is an input of the host."""
    tables = {"inputs": {"volts": {"start": 12.0, "unit": "V"}}}
    made = load(drum(tables, voltage="volts", inductance=L, efficiency=0.9))
    report = verify(build_fmu(made, tmp_path / "motor.fmu", backend))
    assert report.good, [check for check in report.checks if not check.good]
