"""The carriers: balance of forces, books over departures, the parabola of a departed module, rigid joints, switches, refusals."""

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.models.library.carrier import describe

G = 9.81
JACKS = [f"jack_load_{name}" for name in ("front_left", "front_right", "rear_left", "rear_right")]
WHEELS = [name.replace("jack", "wheel") for name in JACKS]
BODIES = 6000 + 7000 + 1500 + 3000 + 2500  # without modules [kg]
QUIET = {"slew_damping": 0, "luff_damping": 0, "jack_damping": 0, "tyre_damping": 0, "tilt_damping": 0, "latch_damping": 0, "rail_friction": 0}


@pytest.fixture(scope="module")
def two():
    return load("lib:carrier", modules=2)


@pytest.mark.parametrize("name", ["carrier", "carrier-detailed"])
def test_jacks_carry_the_weight(name: str):
    """The loads of the jacks sum to the weight, their moments to those of the bodies."""
    rest = load(f"lib:{name}", modules=4).compile().equilibrium()
    weight = (BODIES + 4 * 120) * G
    assert sum(rest.outputs[jack] for jack in JACKS) == pytest.approx(weight, rel=1e-9)
    assert sum(rest.outputs[wheel] for wheel in WHEELS) == 0.0
    assert rest.stable
    assert rest.residual < 1e-9


def test_carrier_stands_on_its_wheels():
    """With the jacks drawn in, the tyres carry everything."""
    rest = load("lib:carrier", modules=2, jack_extension=0.5).compile().equilibrium()
    assert sum(rest.outputs[wheel] for wheel in WHEELS) == pytest.approx((BODIES + 240) * G, rel=1e-9)
    assert sum(rest.outputs[jack] for jack in JACKS) == 0.0


def test_symmetric_case_by_hand():
    """Slew 0: both sides equal; front and rear from the moment of the centre of mass about the axles, with the angles of the found position."""
    system = load("lib:carrier", modules=2, slew_command=0.0, luff_command=0.0).compile()
    rest = system.equilibrium()
    loads = [rest.outputs[jack] for jack in JACKS]
    assert loads[0] == pytest.approx(loads[1], rel=1e-10)
    assert loads[2] == pytest.approx(loads[3], rel=1e-10)
    pitch, luff = rest.coordinates["pitch"], rest.coordinates["luff"]

    def turned(x: float, z: float, angle: float) -> np.ndarray:
        return np.array([np.cos(angle) * x + np.sin(angle) * z, -np.sin(angle) * x + np.cos(angle) * z])

    def at(x: float, z: float) -> float:
        """Place along the ground of a point of the base."""
        return float(turned(x, z, pitch)[0])

    moment = 6000 * at(1.7, 0) + 7000 * at(-1.6, 0) + 1500 * at(-0.5, 0.5) + 3000 * at(-0.8, 1.1)
    hinge = np.array([-2.0, 1.5])
    for mass, x, z in ((2500.0, 2.0, 0.3), (120.0, 1.6 + rest.coordinates["s1"], 0.9), (120.0, 1.6 + rest.coordinates["s2"], 0.9)):
        moment += mass * at(*(hinge + turned(x, z, -luff)))
    total = (BODIES + 240) * G
    foot = {x: at(x, -0.4 - 0.95) for x in (2.9, -2.9)}
    front = (moment * G - total * foot[-2.9]) / (foot[2.9] - foot[-2.9])
    assert 2 * loads[0] == pytest.approx(front, rel=1e-10)


def test_modes_are_those_of_a_vehicle():
    """The four slowest oscillations between 1 and 4 Hz, damping 0.05 to 0.3."""
    slowest = [mode for mode in load("lib:carrier", modules=12).compile().equilibrium().modes if mode.frequency > 0][:4]
    assert all(1.0 < mode.frequency < 4.0 and 0.05 < mode.damping < 0.3 for mode in slowest)


def test_departed_module_flies_its_parabola(two):
    """After its departure the centre of mass of module 1 falls freely, until it is dropped."""
    result = two.compile().simulate(1.6, output_step=0.005, tolerance=1e-10)
    left, dropped = (event.time for event in result.events[1:3])
    inside = (result.time > left) & (result.time < dropped)
    t = result.time[inside]
    z = result["module1_height"][inside]
    fit = np.polyfit(t - t[0], z, 2)
    assert 2 * fit[0] == pytest.approx(-G, abs=1e-6)
    assert np.abs(np.polyval(fit, t - t[0]) - z).max() < 1e-9


def test_books_close_over_departures():
    """Without damping and friction the energy balance of work and motion closes over all departures; momentum is continuous at each."""
    result = load("lib:carrier", modules=3, **QUIET).compile().simulate(4.0, output_step=0.02, tolerance=1e-10)
    assert len(result.events) == 7
    assert np.abs(result["energy_residual"]).max() < 1e-8 * np.abs(result["energy"]).max()
    for event in result.events:
        if event.stage.startswith("swing"):
            assert event.after[1:4] == pytest.approx(event.before[1:4], rel=1e-12, abs=1e-9)


def test_rigid_detailed_carrier_moves_as_the_basic_one():
    """The parts of the base locked together are the base."""
    basic = load("lib:carrier", modules=1).compile().simulate(1.5, output_step=0.05, tolerance=1e-11)
    rigid = load("lib:carrier-detailed", modules=1, rigid=1).compile().simulate(1.5, output_step=0.05, tolerance=1e-11)
    for name in ("heave", "pitch", "roll", "slew", "luff", "tilt1"):
        assert rigid[name] == pytest.approx(basic[name], abs=1e-8)


@pytest.mark.parametrize("switch", ["full", "hydraulic", "soil", "contacts"])
def test_switches(switch: str):
    """Every variant departs its module; jack loads stay about the weight."""
    result = load("lib:carrier", modules=1, **{switch: 1}).compile().simulate(1.2, output_step=0.01, tolerance=1e-6)
    assert [event.stage for event in result.events][:2] == ["travel 1", "swing 1"]
    carried = sum(result[jack] for jack in JACKS)
    assert 0.5 < carried.min() / (BODIES * G) < carried.max() / (BODIES * G) < 1.5


def test_outside_drives_hold_through_told_stiffness():
    """Drives outside that tell the stiffness of the locked ones and hold its force: slew and luff stay."""
    system = load("lib:carrier", modules=1, outside=1, slew_command=0.0).compile()
    inputs = {
        "slew_drive.stiffness": -3e6,
        "slew_drive.damping": -8e4,
        "luff_drive.force": 9e4,
        "luff_drive.stiffness": -5e6,
        "luff_drive.damping": -5e4,
    }
    result = system.simulate(0.2, output_step=0.2, inputs=inputs)
    assert abs(result["slew"][-1]) < 1e-3
    assert abs(result["luff"][-1] - 0.5) < 0.1
    assert result["luff_drive.effective_mass"][0] > 1e3


@pytest.mark.parametrize("name", ["carrier", "carrier-detailed"])
@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"modules": 0}, "whole number from 1 to 50"),
        ({"modules": 51}, "whole number from 1 to 50"),
        ({"full": 2}, "expected 0 or 1"),
        ({"rail_length": 1.0}, ">= 2"),
        ({"jack_extension": -0.1}, ">= 0"),
    ],
)
def test_broken_settings_are_refused(name: str, settings: dict, says: str):
    with pytest.raises(ModelError, match=says):
        load(f"lib:{name}", **settings)


@pytest.mark.slow
def test_fifty_modules_leave():
    """101 structures: every departure in order."""
    result = load("lib:carrier", modules=50).compile().simulate(output_step=0.05, tolerance=1e-6)
    assert len(result.events) == 101
    assert np.diff([event.time for event in result.events]).min() > 0.1


def test_free_decay_follows_the_linearised_mode():
    """Displaced along its slowest oscillation, the standing carrier moves as exp(λt) says: within 1 % of the displacement over a period."""
    source = describe(modules=1)
    source["parameters"]["pause"]["value"] = 10.0
    rest = load(source).compile().equilibrium()
    mode = next(mode for mode in rest.modes if mode.oscillates)
    value, shape, size = mode.eigenvalue, mode.shape, 1e-4
    source["run"].pop("prepare")
    for joint in source["joints"].values():
        for step in joint["transforms"]:
            name = step.get("coordinate")
            if name:
                step["start"] = rest.coordinates[name] + size * shape[name].real
                step["speed"] = size * (value * shape[name]).real
    result = load(source).compile().simulate(1 / mode.frequency, output_step=0.02, tolerance=1e-11)
    for name in rest.coordinates:
        expected = rest.coordinates[name] + size * (shape[name] * np.exp(value * result.time)).real
        assert np.abs(result[name] - expected).max() < 0.01 * size
