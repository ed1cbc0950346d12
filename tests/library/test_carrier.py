"""The carriers as mechanisms: balance of forces and moments, hand-calculated cases, books, parabola, modes against free decays, rigid joints."""

from typing import Any

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.library import carrier, carrier_detailed
from kinetree.models.library.carrier_parts import JACKS, WHEELS

G = 9.81
VARIANTS = {"carrier": carrier.describe, "carrier-detailed": carrier_detailed.describe}
BODIES = 6000 + 7000 + 1500 + 3000 + 2500  # without modules [kg]
LOADS = [f"jack_load_{name}" for name in JACKS]
UNDER_WHEELS = [f"wheel_load_{name}" for name in WHEELS]
QUIET = {
    "slew_damping": 0,
    "luff_damping": 0,
    "jack_damping": 0,
    "tyre_damping": 0,
    "tilt_damping": 0,
    "latch_damping": 0,
    "rail_friction": 0,
}


OTHER = {"jack_front": 2.7, "jack_rear": 2.8, "jack_width": 1.6}


def surveyed(
    describe: Any, feet: dict[str, tuple[float, float]] = JACKS, **settings: Any
) -> dict[str, Any]:
    """The description with places of all centres of mass, jack feet and wheel centres as outputs."""
    source = describe(**settings)
    points = {f"com {name}": (name, body["com"]) for name, body in source["bodies"].items()}
    for kind, places, height in (
        ("jack", feet, "-0.4 - jack_extension"),
        ("wheel", WHEELS, "-0.7"),
    ):
        for name, (x, y) in places.items():
            points[f"{kind} {name}"] = (source["forces"][f"{kind}_{name}"]["body"], [x, y, height])
    outputs = {
        name.replace(" ", "_at_"): {"quantity": "position", "body": body, "point": point}
        for name, (body, point) in points.items()
    }
    return source | {"outputs": source["outputs"] | outputs}


@pytest.mark.parametrize(
    ("variant", "layout"), [*((variant, {}) for variant in VARIANTS), (next(iter(VARIANTS)), OTHER)]
)
def test_carrier_preparation_states_balance_forces_and_moments(
    variant: str, layout: dict[str, float]
):
    """On wheels, on jacks, at the commanded angles: loads sum to the weight, their moments about the ground's axes to those of the bodies."""
    feet = (
        {name: (2.7 if x > 0 else -2.8, 1.6 if y > 0 else -1.6) for name, (x, y) in JACKS.items()}
        if layout
        else JACKS
    )
    system = load(surveyed(VARIANTS[variant], feet, modules=4)).compile(**layout)
    masses = dict(zip(system.bodies, masses_of(system), strict=True))
    weight = (BODIES + 4 * 120) * G
    assert sum(masses.values()) * G == pytest.approx(weight, rel=1e-14)
    down = {"slew_command": 0.0, "luff_command": 0.0}
    rests = system.equilibria(
        [
            {"jack_extension": 0.5, **down},
            {"jack_extension": 0.95, **down},
            {"slew_command": 0.3, "luff_command": 0.5},
        ]
    )
    for rest, standing, idle in (
        (rests[0], "wheel", LOADS),
        (rests[1], "jack", UNDER_WHEELS),
        (rests[2], "jack", UNDER_WHEELS),
    ):
        assert rest.stable
        assert [rest.outputs[name] for name in idle] == [0.0] * 4
        carried = {name: rest.outputs[f"{standing}_load_{name}"] for name in JACKS}
        assert sum(carried.values()) == pytest.approx(weight, rel=1e-9)
        for axis in (1, 2):
            from_below = sum(
                load_ * rest.outputs[f"{standing}_at_{name}[{axis}]"]
                for name, load_ in carried.items()
            )
            from_above = sum(
                mass * G * rest.outputs[f"com_at_{name}[{axis}]"] for name, mass in masses.items()
            )
            assert from_below == pytest.approx(from_above, abs=1e-9 * weight)


def masses_of(system) -> list[float]:
    """Masses of the bodies as they were compiled."""
    from kinetree.models.engine.flat_blocks import model_fields

    fields = model_fields(system.compiled.ints, system.compiled.floats)
    return [float(system._fast.ws.val[int(k)]) for k in fields.b_mass[1 : len(system.bodies) + 1]]


@pytest.mark.parametrize("variant", VARIANTS)
def test_carrier_run_starts_in_equilibrium(variant: str):
    """Until the first push nothing moves by more than the rounding of the forces: 1e-12 of the weight over the jacks' stiffness.

    The tolerance is that of the bound: at the looser one of the description, steps near the limit of stability may let rounding grow up to it.
    """
    result = (
        load(f"lib:{variant}", modules=3).compile().simulate(0.5, output_step=0.05, tolerance=1e-10)
    )
    for name in ("heave", "pitch", "roll", "slew", "luff", "s1", "tilt2", "turn3"):
        assert np.ptp(result[name]) < 1e-11


def test_symmetric_carrier_loads_match_hand_calculation():
    """Slew 0: both sides equal; front and rear from the moment of the centre of mass about the axles, with the angles of the found position."""
    system = load("lib:carrier", modules=2, slew_command=0.0, luff_command=0.0).compile()
    rest = system.equilibrium()
    loads = [rest.outputs[jack] for jack in LOADS]
    assert loads[0] == pytest.approx(loads[1], rel=1e-10)
    assert loads[2] == pytest.approx(loads[3], rel=1e-10)
    pitch, luff = rest.coordinates["pitch"], rest.coordinates["luff"]

    def turned(x: float, z: float, angle: float) -> np.ndarray:
        return np.array(
            [np.cos(angle) * x + np.sin(angle) * z, -np.sin(angle) * x + np.cos(angle) * z]
        )

    def at(x: float, z: float) -> float:
        """Place along the ground of a point of the base."""
        return float(turned(x, z, pitch)[0])

    moment = 6000 * at(1.7, 0) + 7000 * at(-1.6, 0) + 1500 * at(-0.5, 0.5) + 3000 * at(-0.8, 1.1)
    hinge = np.array([-2.0, 1.5])
    for mass, x, z in (
        (2500.0, 2.0, 0.3),
        (120.0, 1.6 + rest.coordinates["s1"], 0.9),
        (120.0, 1.6 + rest.coordinates["s2"], 0.9),
    ):
        moment += mass * at(*(hinge + turned(x, z, -luff)))
    total = (BODIES + 240) * G
    foot = {x: at(x, -0.4 - 0.95) for x in (2.9, -2.9)}
    front = (moment * G - total * foot[-2.9]) / (foot[2.9] - foot[-2.9])
    assert 2 * loads[0] == pytest.approx(front, rel=1e-10)


def test_jack_and_latch_loads_match_hand_calculation():
    """Compression of a jack from its load by the piecewise law; stretch of a latch from the weight of its module along the rail."""
    system = load("lib:carrier", modules=1, luff_command=0.6).compile()
    rest = system.equilibrium()
    tilt = rest.coordinates["luff"] - rest.coordinates["pitch"] * np.cos(rest.coordinates["slew"])
    down = np.sin(tilt) * 120 * G
    assert rest.coordinates["s1"] == pytest.approx(
        -down / 2e6, rel=1e-3
    )  # the roll's share is of second order
    foot = rest.coordinates["heave"] - 0.4 - 0.95
    mean = sum(rest.outputs[name] for name in LOADS) / 4
    assert -foot == pytest.approx(
        0.005 + (mean - 8e5 * 0.005) / 1.2e6, rel=1e-4
    )  # the law is linear there; pitch and roll are of second order


@pytest.mark.parametrize("variant", VARIANTS)
def test_carrier_modes_are_vehicle_modes(variant: str):
    """The four slowest oscillations between 1 and 4 Hz, damping 0.05 to 0.3."""
    for n in (4, 12):
        slowest = load(f"lib:{variant}", modules=n).compile().equilibrium().modes[:4]
        assert all(1.0 < mode.frequency < 4.0 and 0.05 < mode.damping < 0.3 for mode in slowest)


@pytest.mark.parametrize("variant", VARIANTS)
def test_free_decay_frequencies_match_modes(variant: str):
    """Displaced along each of its four slowest oscillations and let go: frequency and decay of the recorded motion within 1 %.

    The recurrence y(k+1) - a y(k) + b y(k-1) = 0 of one damped oscillation, fitted to the samples of the coordinate that moves most.
    """
    source = VARIANTS[variant](modules=1)
    source["parameters"]["pause"]["value"] = 10.0
    source["run"].pop("prepare")
    rest = load(source).compile().equilibrium()
    size, step = 1e-4, 0.01
    for mode in rest.modes[:4]:
        for joint in source["joints"].values():
            for transform in joint["transforms"]:
                name = transform.get("coordinate")
                if name:
                    transform["start"] = rest.coordinates[name] + size * mode.shape[name].real
                    transform["speed"] = size * (mode.eigenvalue * mode.shape[name]).real
        result = (
            load(source).compile().simulate(2 / mode.frequency, output_step=step, tolerance=1e-11)
        )
        largest = max(mode.shape, key=lambda name: abs(mode.shape[name]))
        y = result[largest] - rest.coordinates[largest]
        (a, b), *_ = np.linalg.lstsq(np.column_stack([y[1:-1], -y[:-2]]), y[2:], rcond=None)
        root = np.log(complex(a / 2, np.sqrt(b - a * a / 4))) / step
        assert root.imag == pytest.approx(mode.eigenvalue.imag, rel=0.01)
        assert root.real == pytest.approx(mode.eigenvalue.real, rel=0.01)


def test_departed_modules_follow_parabolas():
    """Between departure and drop the centre of mass falls freely and moves uniformly along the ground, all modules in any order."""
    source = carrier.describe(modules=3, order="outer")
    for i in (1, 2, 3):
        source["outputs"][f"place{i}"] = {"quantity": "position", "body": f"module{i}"}
    result = load(source).compile().simulate(output_step=0.005, tolerance=1e-10)
    changes = [(event.time, event.stage) for event in result.events]
    for (left, stage), (dropped, _) in zip(changes, changes[1:]):
        if stage.startswith("swing"):
            inside = (result.time > left) & (result.time < dropped)
            t = result.time[inside] - result.time[inside][0]
            for axis, acceleration in ((1, 0.0), (2, 0.0), (3, -G)):
                place = result[f"place{stage.split()[1]}[{axis}]"][inside]
                fit = np.polyfit(t, place, 2)
                assert 2 * fit[0] == pytest.approx(acceleration, abs=1e-6)
                assert np.abs(np.polyval(fit, t) - place).max() < 1e-9


@pytest.mark.parametrize(("variant", "order"), [("carrier", 0), ("carrier-detailed", 3)])
def test_carrier_departures_balance_energy(variant: str, order: int):
    """Without damping, friction and loads after departures: energy balance of work and motion, mass and momentum continuous at each departure."""
    result = (
        load(f"lib:{variant}", modules=12, order=order, blast_factor=0, **QUIET)
        .compile()
        .simulate(output_step=0.002, tolerance=1e-10)
    )
    assert len(result.events) == 25
    assert np.abs(result["energy_residual"]).max() < 1e-8 * np.abs(result["energy"]).max()
    largest = max(abs(value) for event in result.events for value in event.before[1:4])
    for event in result.events:
        if event.stage.startswith("swing"):
            assert event.after[0] == event.before[0]
            assert event.after[1:4] == pytest.approx(event.before[1:4], abs=1e-11 * largest)
            module, last = event.stage.split()[1], np.searchsorted(result.time, event.time) - 1
            wait = event.time - result.time[last]
            angles = (
                result[f"{way}{module}"][last] + wait * result[f"der({way}{module})"][last]
                for way in ("tilt", "turn")
            )
            elastic = 4e4 / 2 * sum(angle**2 for angle in angles)
            assert event.energy_loss == pytest.approx(
                elastic, rel=0.02, abs=1e-5
            )  # of the guides, goes with the joint


def test_locked_detailed_carrier_matches_basic_one():
    """The parts of the base locked together are the base, before and after a departure."""
    basic = (
        load("lib:carrier", modules=1).compile().simulate(1.5, output_step=0.05, tolerance=1e-11)
    )
    rigid = (
        load("lib:carrier-detailed", modules=1, rigid=1)
        .compile()
        .simulate(1.5, output_step=0.05, tolerance=1e-11)
    )
    assert [event.stage for event in basic.events] == ["travel 1", "swing 1"]
    assert np.ptp(basic["luff"]) > 1e-3
    for name in ("heave", "pitch", "roll", "slew", "luff", "module1.x", "module1.z"):
        both = ~np.isnan(basic[name])
        assert rigid[name][both] == pytest.approx(basic[name][both], abs=1e-8)
