"""The truck: over a bump, braked on a slope to a true stop, lifted on its own jacks; on road and clay, in co-simulation and model exchange."""

from pathlib import Path

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.library.truck import describe
from kinetree.scripts.fmi.verify import verify

G = 9.81
CORNERS = ("front_left", "front_right", "rear_left", "rear_right")
MASS = 6500 + 500 + 700 + 50 + 4 * (120 + 80)


@pytest.mark.parametrize("soil", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_truck_drives_over_bump_steers_and_stops(soil: int):
    """The front springs feel the bump, then the rear ones, one wheelbase later; steering turns it and back; brakes end it."""
    truck = load("lib:truck", soil=soil, bump_at=5.0 if soil else 14.0)
    result = truck.compile().simulate()
    assert np.abs(result["energy_residual"]).max() < 1e-8 * np.abs(result["energy"]).max()
    felt = [
        result.time[
            np.abs(result[f"travel_{axle}_left"] - result[f"travel_{axle}_left"][0]).argmax()
        ]
        for axle in ("front", "rear")
    ]
    at = np.interp(felt, result.time, result["x"])
    if not soil:
        assert (
            at[1] > at[0] + 3.0 or result.time[-1] - felt[1] < 4.0
        )  # else it is the braking that presses most
        assert (
            np.abs(result["yaw"]).max() > 0.1
            and result["y"][-1] > 1.0
            and abs(result["yaw"][-1]) < 0.01
        )
    last = result.time > result.time[-1] - 1.0
    assert np.abs(result["speed"][last]).max() < 0.02 and np.ptp(result["x"][last]) < 0.01


def test_truck_bump_reaches_front_then_rear():
    """Loads of the wheels rise where each axle is over the bump."""
    result = load("lib:truck").compile().simulate(9.0)
    for name, ahead in (("front_left", 2.6), ("rear_left", -1.6)):
        x = result["x"] + ahead
        over = (x > 13.2) & (x < 14.8)
        assert result[f"load_{name}"][over].max() > 1.4 * result[f"load_{name}"][0]
        before = (x > 8.0) & (x < 12.0) if name == "front_left" else (x > 6.0) & (x < 9.0)
        assert (
            np.abs(result[f"load_{name}"][before] - result[f"load_{name}"][0]).max()
            < 0.3 * result[f"load_{name}"][0]
        )


def test_truck_steering_follows_ackermann_circle():
    """Slow and steady, the middle of the rear axle runs on the circle of radius wheelbase/tan(steer), but for the slip of the tyres."""
    d = load("lib:truck", trip=0).compile()
    steer, torque = 0.2, 900.0
    result = d.simulate(
        12.0,
        inputs={
            "steer": lambda t: steer * min(1.0, t),
            "drive": lambda t: torque if t < 5 else 300.0,
        },
    )
    late = result.time > 8.0
    rate, speed = (
        result["der(yaw)"][late].mean(),
        np.hypot(result["der(x)"], result["der(y)"])[late].mean(),
    )
    lateral = speed * rate / G
    assert lateral < 0.03
    assert rate / speed == pytest.approx(np.tan(steer) / 4.2, rel=0.03)


@pytest.mark.parametrize("soil", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_truck_brakes_to_full_stop_on_slope(soil: int):
    """Stands on its brakes, rolls down, is braked: at the end nothing moves for seconds, and the patches carry the slope's share of the weight."""
    system = load("lib:truck", trip=2, soil=soil).compile()
    result = system.simulate(40.0)
    assert np.abs(result["der(x)"][result.time < 0.9]).max() < 1e-3  # stands before
    assert result["der(x)"].min() < -1.5  # rolls
    last = result.time > 30.0
    assert np.ptp(result["x"][last]) < 2e-5 and np.abs(result["der(x)"][last]).max() < 1e-4
    along = sum(result[f"traction_{name}"][-1] for name in CORNERS)
    assert along == pytest.approx(
        MASS * G * np.sin(np.arctan(0.12)), rel=0.02
    )  # soil carries the rest in its ruts


def test_unbraked_truck_rolls_away():
    """Not braked again it rolls on, faster and faster."""
    d = describe(trip=2)
    d["tables"]["trip_brake"]["y"] = [0.4, 0, 0, 0]
    result = load(d).compile().simulate(8.0)
    assert result["der(x)"][-1] < -6.0


@pytest.mark.parametrize("soil", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_truck_lifts_itself_on_jacks(soil: int):
    """All wheels in the air, the weight on the jacks, while the crane turns its load; the loads of the jacks balance it."""
    result = load("lib:truck", trip=3, soil=soil).compile().simulate()
    assert result["wheels_off_ground"][0] == 0 and result["wheels_off_ground"][-1] == 4
    jacks = np.array([result[f"jack_load_{name}"] for name in CORNERS])
    weight = (MASS + 750) * G
    still = result.time > 18.0
    assert jacks.sum(axis=0)[still] == pytest.approx(weight, rel=0.01)
    assert jacks.min(axis=0)[still].min() > 0.0
    assert result["crane_slew"][-1] == pytest.approx(1.6, abs=0.01)
    assert jacks[0, still].mean() != pytest.approx(
        jacks[1, still].mean(), rel=0.2
    )  # the load is at one side
    assert result["heave"][-1] - result["heave"][0] > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("trip", [1, 2, 3])
@pytest.mark.parametrize("backend", ["native", "python"])
def test_truck_fmus_match_process(trip: int, backend: str, tmp_path: Path):
    """Co-simulation and model exchange beside the run in the process."""
    report = verify(build_fmu(load("lib:truck", trip=trip), tmp_path / "truck.fmu", backend))
    assert report.good, [check for check in report.checks if not check.good]
