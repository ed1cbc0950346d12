"""Wheels with slip and brakes: the brush model and the shear of soil in closed form, combined slip, trail, true rest on a slope, books."""

import numpy as np
import pytest
from random_forces import random_mechanism

from kinetree.models import ModelError, load

N, RADIUS, LOADED, SLIP, CORNERING, FRICTION = 4000.0, 0.3, 0.28, 6e4, 4e4, 0.9
WHEEL = {
    "kind": "wheel", "body": "wheel", "radius": RADIUS, "stiffness": N / (RADIUS - LOADED), "damping": 2e3, "friction": FRICTION,
    "slip_stiffness": [SLIP, CORNERING], "patch_stiffness": [3e5, 2e5], "patch_damping": 500.0,
}  # fmt: skip
SHEAR = {"cohesion": 2000.0, "angle": 0.5, "modulus": 0.025, "width": 0.2, "length": 0.5}


def rig(
    ahead: float, turning: float, aside: float = 0.0, drop: tuple[str, ...] = (), **more
) -> dict:
    """A wheel on a carrier that is led over the ground, at a given speed of turning, under a given load."""
    lead = [
        {"shift": "x", "by": f"{ahead}*t"},
        {"shift": "y", "by": f"{aside}*t"},
        {"shift": "z", "coordinate": "z", "start": LOADED},
    ]
    law = {key: value for key, value in (WHEEL | more).items() if key not in drop}
    return {
        "format": "kinetree/1", "gravity": [0, 0, 0],
        "bodies": {"carrier": {"mass": 1.0}, "wheel": {"mass": 10.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {
            "lead": {"child": "carrier", "transforms": lead},
            "axle": {"parent": "carrier", "child": "wheel", "transforms": [{"rotate": "y", "by": f"{turning}*t"}]},
        },
        "forces": {"w": law, "press": {"body": "carrier", "force": [0, 0, -N]}},
        "outputs": {
            "drive": "w.drive", "side": "w.side", "load": "force('w')",
            "yaw": {"quantity": "reaction", "joint": "lead", "part": "moment", "axis": "z"},
        },
    }  # fmt: skip


def brush(along: float, across: float) -> np.ndarray:
    """Forces of the brush model by Pacejka, slips over the speed of rolling: F = limit (1 - (1 - θ s)³) along the weighted slip."""
    weighted = np.array([SLIP * along, CORNERING * across])
    size, limit = np.hypot(*weighted), FRICTION * N
    return -weighted / size * limit * (1.0 - max(0.0, 1.0 - size / (3.0 * limit)) ** 3)


@pytest.mark.parametrize(
    "ahead, turning, aside",
    [
        (10, 36, 0),
        (10, 40, 0),
        (10, 60, 0),
        (10, 30, 0),
        (10, 10 / LOADED, 0.5),
        (10, 33, 1),
        (-10, -36, 1),
    ],
)
def test_steady_slip_matches_brush_model(ahead: float, turning: float, aside: float):
    result = (
        load(rig(ahead, turning, aside)).compile().simulate(1.0, output_step=0.1, tolerance=1e-9)
    )
    rolled = turning * LOADED
    expected = brush((ahead - rolled) / abs(rolled), aside / abs(rolled))
    assert result["load"][-1] == pytest.approx(N, rel=1e-9)
    assert [result["drive"][-1], result["side"][-1]] == pytest.approx(
        expected, rel=1e-5, abs=1e-5 * N
    )


def test_a_locked_wheel_slides_with_its_friction():
    result = load(rig(8.0, 0.0, 6.0)).compile().simulate(0.5, output_step=0.1, tolerance=1e-9)
    assert np.hypot(result["drive"][-1], result["side"][-1]) == pytest.approx(
        FRICTION * N, rel=1e-6
    )
    assert result["drive"][-1] / result["side"][-1] == pytest.approx(8.0 / 6.0, rel=1e-3)


@pytest.mark.parametrize("turning", [36, 38, 40, 50, 100])
def test_driven_wheel_shear_matches_janosi_hanamoto(turning: float):
    """Thrust over slip of a rigid wheel or track: (A c + N tan φ)(1 - K/(i l)(1 - exp(-i l/K)))."""
    d = rig(10, turning, drop=("friction", "slip_stiffness"), shear=SHEAR)
    result = load(d).compile().simulate(1.0, output_step=0.1, tolerance=1e-9)
    slip = 1.0 - 10.0 / (turning * LOADED)
    j = slip * SHEAR["length"] / SHEAR["modulus"]
    limit = SHEAR["cohesion"] * SHEAR["width"] * SHEAR["length"] + N * np.tan(SHEAR["angle"])
    assert result["drive"][-1] == pytest.approx(limit * (1.0 - (1.0 - np.exp(-j)) / j), rel=1e-5)


def test_wheel_is_linear_at_small_slip():
    """Shear of soil at no slip: the patch forgets with 2 K w k/(limit l), both ways; slopes are as steep as the law, no more."""
    d = rig(2.0, 2.0 / LOADED, drop=("friction", "slip_stiffness"), shear=SHEAR, patch_damping=0.0)
    A = load(d).compile().linearize().A
    limit = SHEAR["cohesion"] * SHEAR["width"] * SHEAR["length"] + N * np.tan(SHEAR["angle"])
    expected = [
        -2 * SHEAR["modulus"] * 2.0 * k / (limit * SHEAR["length"])
        for k in WHEEL["patch_stiffness"]
    ]
    assert np.diag(A)[-2:] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("aside, share", [(0.01, 1.0), (0.5, None), (4.0, 0.0)])
def test_lateral_force_acts_behind_contact_centre(aside: float, share: float | None):
    """Pneumatic trail of the brush model with half the patch a: a/3 at small slip, a x (1 - x)³/(1 - (1 - x)³) at x = θ s, 0 where all slides."""
    a, turning = 0.1, 10 / LOADED
    result = (
        load(rig(10, turning, aside, patch_length=2 * a))
        .compile()
        .simulate(1.0, output_step=0.1, tolerance=1e-9)
    )
    x = min(1.0, CORNERING * aside / 10 / (3 * FRICTION * N))
    trail = a * x * (1 - x) ** 3 / (1 - (1 - x) ** 3)
    assert share is None or trail == pytest.approx(share * a / 3, abs=0.01 * a)
    assert result["yaw"][-1] == pytest.approx(
        trail * result["side"][-1], rel=2e-3, abs=1e-3 * N * a
    )


def test_tyre_side_force_has_relaxation_length():
    """A wheel that begins to roll aslant builds its side force up over the way C/k."""
    result = (
        load(rig(10, 10 / LOADED, 0.005)).compile().simulate(0.3, output_step=0.001, tolerance=1e-9)
    )
    left = 1.0 - result["side"] / result["side"][-1]
    rate = -np.polyfit(10 * result.time[5:30], np.log(left[5:30]), 1)[0]
    assert 1.0 / rate == pytest.approx(
        CORNERING / 2e5, rel=0.01
    )  # the curve of the brush bends by θ s = 0.002


def on_a_slope(slope: float, brake: str = "1e4") -> dict:
    """One braked wheel that carries a mass on a slope."""
    return {
        "format": "kinetree/1", "parameters": {"slope": slope},
        "bodies": {"carrier": {"mass": N / 9.81}, "wheel": {"mass": 10.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {
            "lead": {"child": "carrier", "transforms": [{"shift": "x", "coordinate": "x"}, {"shift": "z", "coordinate": "z", "start": LOADED}]},
            "axle": {"parent": "carrier", "child": "wheel", "transforms": [{"rotate": "y", "coordinate": "spin"}]},
        },
        "forces": {
            "w": WHEEL | {"height": "slope*ground.x", "rolling": 0.01, "patch_damping": 5e3},
            "b": {"coordinate": "spin", "largest": brake, "stiffness": 1e5, "damping": 1e3},
        },
        "outputs": {"drive": "w.drive", "heat": {"quantity": "dissipated_energy", "force": "b"}},
    }  # fmt: skip


def test_braked_wheel_holds_on_slope():
    """It sinks into its springs and then stands: no creep, to rounding, and the patch carries the slope's share of the weight."""
    result = load(on_a_slope(0.3)).compile().simulate(60.0, output_step=1.0, tolerance=1e-10)
    assert np.ptp(result["x"][40:]) < 1e-9 and abs(result["x"][-1]) < 0.05
    assert result["drive"][-1] == pytest.approx((N + 98.1) * np.sin(np.arctan(0.3)), rel=1e-6)


def test_a_wheel_rolls_down_and_is_braked_to_a_stop():
    """Free for two seconds, then braked: the energy is in the brake and in the patch, and nothing moves any more."""
    result = (
        load(on_a_slope(0.2, "if(t > 2, 700, 0)"))
        .compile()
        .simulate(12.0, output_step=0.02, tolerance=1e-9)
    )
    free = np.abs(result.time - 2.0).argmin()
    g_along = 9.81 * np.sin(np.arctan(0.2))
    mass, spun = N / 9.81 + 10.0, 1.0 / LOADED**2
    rolling = 0.01 * 9.81 * np.cos(np.arctan(0.2)) * mass
    speed = (
        2.0 * (mass * g_along - rolling) / (mass + spun)
    )  # of a rolling wheel; slip and the sinking at the start cost 1 %
    assert np.hypot(result["der(x)"][free], result["der(z)"][free]) == pytest.approx(
        speed, rel=0.02
    )
    assert np.abs(result["der(x)"][-50:]).max() < 1e-6 and np.ptp(result["x"][-50:]) < 1e-7
    assert result["heat"][-1] > 500.0 and np.diff(result["heat"]).min() > -1e-6
    assert np.abs(result["energy_residual"]).max() < 1e-3


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"shear": True},
        {"soil": True},
        {"friction": "0.8*(1 + sin(40*t))"},
        {"patch_reach": 0.05},
    ],
)
@pytest.mark.parametrize("seed", [1, 4])
def test_wheels_never_generate_energy(change: dict, seed: int):
    """Wheels of random mechanisms, on soil, by shear, under friction that comes and goes: what is lost only grows."""
    change = dict(change)
    if change.pop("soil", None):
        change["soil"] = {
            "strength": 20.0,
            "hardening": 400.0,
            "viscosity": 60.0,
            "stiffness": 900.0,
            "damping": 12.0,
        }
    d = random_mechanism("wheel", seed, **change)
    if d["forces"]["f"].get("shear"):
        d["forces"]["f"] |= {"shear": SHEAR}
        d["forces"]["f"] = {
            key: value
            for key, value in d["forces"]["f"].items()
            if key not in ("friction", "slip_stiffness")
        }
    result = load(d).compile().simulate(0.8, output_step=0.01, tolerance=1e-10)
    stored, lost, work = result["f.stored_energy"], result["f.dissipated_energy"], result["work"]
    size = 1.0 + np.abs(work).max() + np.abs(stored).max() + np.abs(result["f.power"]).max()
    assert np.abs(stored - stored[0] + work + lost).max() < 1e-6 * size
    assert np.diff(lost).min() > -1e-6 * size


def block(largest: str, push: str, **more) -> dict:
    """A mass on a slide with a brake, pushed."""
    return {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"b": {"mass": 2.0}},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x", **more}]}},
        "forces": {
            "f": {"coordinate": "x", "largest": largest, "stiffness": 1e5, "damping": 400.0, "reach": 1e-5}, "p": {"coordinate": "x", "value": push},
        },
        "outputs": {"hold": "force('f')"},
    }  # fmt: skip


def test_brake_sticks_below_and_slips_above_its_force():
    """Coulomb: below 10 N it stands on its spring, up to 7.5 N without having slipped at all; above it accelerates with what is over."""
    held = (
        load(block("10", "7*min(1, t)")).compile().simulate(3.0, output_step=0.5, tolerance=1e-10)
    )
    assert held["x"][-1] == pytest.approx(7.0 / 1e5, rel=1e-6)
    shaken = (
        load(block("10", "if(t < 1, 5*t, 5 - 2*sin(40*t))"))
        .compile()
        .simulate(20 * np.pi, output_step=0.2 * np.pi, tolerance=1e-10)
    )
    assert np.ptp(shaken["x"][40:]) < 1e-8  # the same place every fourth period
    slipping = load(block("10", "14")).compile().simulate(2.0, output_step=0.5, tolerance=1e-10)
    assert slipping["der(x)"][-1] - slipping["der(x)"][-2] == pytest.approx(
        0.5 * 4.0 / 2.0, rel=1e-6
    )
    assert slipping["hold"][-1] == pytest.approx(-10.0, rel=1e-6)


def test_brake_stopping_distance_matches_formula():
    """v²/(2 μ): 3 m/s against 10 N on 2 kg; the spring of the brake reaches 1e-4 m."""
    result = (
        load(block("10", "0", speed=3.0)).compile().simulate(2.0, output_step=0.1, tolerance=1e-9)
    )
    assert (
        result["x"][-1] == pytest.approx(9.0 * 2.0 / 20.0, abs=3e-4)
        and abs(result["der(x)"][-1]) < 1e-6
    )


@pytest.mark.parametrize(
    "change, wanted",
    [
        ({"friction": None}, "friction, or shear"), ({"shear": SHEAR}, "friction, or shear"), ({"slip_stiffness": None}, "slip and cornering"),
        ({"patch_stiffness": [1e5, -1.0]}, "patch_stiffness"), ({"soil": {"viscosity": 1.0, "area": 1.0, "friction_modulus": 1e5}}, "area"),
    ],
)  # fmt: skip
def test_contradictory_wheel_keys_are_refused(change: dict, wanted: str):
    d = rig(1, 1)
    d["forces"]["w"] = {
        key: value for key, value in (d["forces"]["w"] | change).items() if value is not None
    }
    with pytest.raises(ModelError, match=wanted):
        load(d)
