"""Arguments of the carriers: orders of departure, switches, hydraulic jacks, soil, contacts, and what broken settings are told."""

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.models.library import carrier
from kinetree.models.library.carrier_modules import cell, departures
from kinetree.models.library.carrier_parts import JACKS

G = 9.81
BODIES = 20000.0  # without modules [kg]
LOADS = [f"jack_load_{name}" for name in JACKS]


def test_departure_orders_are_generated():
    """Rows of five: outer ones first, inner ones first, sides in turn, a list."""
    assert departures(5, "outer") == departures(5, 1) == [1, 5, 2, 4, 3]
    assert departures(5, "inner") == [3, 2, 4, 1, 5]
    assert departures(5, 3) == [1, 5, 2, 4, 3]
    assert departures(3, [2, 3, 1]) == [2, 3, 1]
    for rule in range(4):
        assert sorted(departures(12, rule)) == list(range(1, 13))
    sides = [cell(i, 10)[0] for i in departures(10, "alternating")]
    assert all(a * b <= 0 for a, b in zip(sides, sides[1:]))


def test_modules_depart_in_given_order_and_pace():
    result = (
        load("lib:carrier", modules=3, order=[2, 3, 1], pace=0.3).compile().simulate(tolerance=1e-6)
    )
    assert [event.stage for event in result.events if event.stage.startswith("travel")] == [
        "travel 2",
        "travel 3",
        "travel 1",
    ]
    changes = {event.stage: event.time for event in result.events}
    assert changes["travel 3"] - changes["swing 2"] == pytest.approx(0.3, abs=1e-9)
    assert changes["travel 1"] - changes["swing 3"] == pytest.approx(0.3, abs=1e-9)


@pytest.mark.parametrize("variant", ["carrier", "carrier-detailed"])
@pytest.mark.parametrize("switch", ["full", "hydraulic", "soil", "contacts", "drives", "helical"])
def test_carrier_switches_change_the_model(variant: str, switch: str):
    """Every variant begins at rest and lets its module go; jack loads stay about the weight.

    At rest nothing bounds the steps but the tolerance: it has to be as fine as what is asserted.
    """
    result = (
        load(f"lib:{variant}", modules=1, **{switch: 1})
        .compile()
        .simulate(1.2, output_step=0.01, tolerance=1e-8)
    )
    assert [event.stage for event in result.events][:2] == ["travel 1", "swing 1"]
    resting = result.time < 0.49
    assert max(np.ptp(result[name][resting]) for name in ("heave", "slew", "luff", "s1")) < 1e-8
    carried = sum(result[jack] for jack in LOADS)
    assert 0.5 < carried.min() / (BODIES * G) < carried.max() / (BODIES * G) < 1.5


def test_hydraulic_jacks_carry_their_load_by_their_pressures():
    """p_a A_a - p_b A_b of the double-acting jack is its load."""
    rest = load("lib:carrier", modules=1, hydraulic=1).compile().equilibrium()
    for name in JACKS:
        force = (
            rest.outputs[f"jack_pressure_a_{name}"] * 0.002
            - rest.outputs[f"jack_pressure_b_{name}"] * 0.001
        )
        assert force == pytest.approx(rest.outputs[f"jack_load_{name}"], rel=1e-9)


def test_hydraulic_jacks_differ_from_mechanical_ones():
    """The rod side is pulled to its vapour, and the piston side alone holds the carrier, higher than mechanical jacks do."""
    system = load("lib:carrier", modules=1, hydraulic=1).compile()
    rest, other = system.equilibrium(), load("lib:carrier", modules=1).compile().equilibrium()
    assert rest.coordinates["heave"] - other.coordinates["heave"] > 0.01
    for name in JACKS:
        assert rest.outputs[f"jack_pressure_b_{name}"] == pytest.approx(2e4, rel=1e-12)


def test_pin_and_band_carry_their_modules():
    """At the defaults the weight of a module presses pin and band against their guides, at rest and while it travels; its tilt is the clearance's."""
    result = (
        load("lib:carrier", modules=1, contacts=1)
        .compile()
        .simulate(1.2, output_step=0.005, tolerance=1e-8)
    )
    travelling = (result.time > 0.55) & (
        result["s1"] < 2.3
    )  # the pin leaves its groove before the module leaves its rail
    assert travelling.sum() > 20
    for name in ("pin_load1", "bearing_load1"):
        assert result[name][0] > 50.0 and result[name][travelling].min() > 10.0
    free = load("lib:carrier", modules=1).compile().simulate(1.2, output_step=0.005, tolerance=1e-8)
    assert (
        np.abs(result["tilt1"] - free["tilt1"])[travelling].min() > 5e-4
    )  # of a clearance of 1e-3 at 0.8 m


def test_longer_jacks_are_softer():
    """A mechanical jack loses stiffness with its extension: the carrier sinks more on longer jacks."""
    sunk = {}
    for extension in (0.95, 1.15):
        rest = (
            load("lib:carrier", modules=1, jack_extension=extension, slew_command=0.0)
            .compile()
            .equilibrium()
        )
        sunk[extension] = 0.4 + extension - rest.coordinates["heave"]
    assert sunk[1.15] > 1.03 * sunk[0.95]


def test_soil_settles_under_heavy_jacks():
    """Soil stronger than every load only gives elastically; weaker soil gives way until its strength has grown to the load: k e = load of it."""
    firm, soft = (
        load("lib:carrier", modules=1, soil=1, **strength).compile().equilibrium()
        for strength in ({"soil_strength": 7e4}, {})
    )
    for name in JACKS:
        z, e, N = (
            soft.states[f"jack_{name}.settlement"],
            soft.states[f"jack_{name}.deflection"],
            soft.outputs[f"jack_load_{name}"],
        )
        assert firm.states[f"jack_{name}.settlement"] == pytest.approx(0.0, abs=1e-12)
        assert firm.states[f"jack_{name}.deflection"] == pytest.approx(
            firm.outputs[f"jack_load_{name}"] / 2e7, rel=1e-9
        )
        assert z >= (N - 3e4) / 5e6 * (1 - 1e-6) > 1e-3  # visible at the defaults
        assert (2e7 + 2e8 * z) * e == pytest.approx(N, rel=1e-9)
        assert (
            soft.outputs[f"soil_sinkage_{name}"] == pytest.approx(z + e, rel=1e-12)
            and 4e-3 < z + e < 0.05
        )


def test_soil_keeps_settling_while_modules_leave():
    """Pushes load some jacks more than ever before: their soil settles further, none heaves, and what they stand in stays."""
    result = (
        load("lib:carrier", modules=2, soil=1).compile().simulate(tolerance=1e-9)
    )  # dense output errs by the tolerance of a step
    for name in JACKS:
        z = result[f"jack_{name}.settlement"]
        assert np.diff(z).min() > -1e-9
    assert max(np.ptp(result[f"jack_{name}.settlement"]) for name in JACKS) > 1e-5


def test_loss_of_contact_is_reported():
    """A push strong enough tilts the carrier until wheels and jacks leave the ground: the outputs count them, their loads are zero, never less."""
    result = (
        load("lib:carrier", modules=1, push_factor=60.0, latch_strength=2e5)
        .compile()
        .simulate(1.5, output_step=0.005, tolerance=1e-6)
    )
    assert result["wheels_off_ground"][0] == 4.0
    assert result["jacks_off_ground"][0] == 0.0
    assert result["jacks_off_ground"].max() >= 1.0
    for name in LOADS:
        assert result[name].min() >= 0.0
    assert sum((result[name] == 0.0).astype(float) for name in LOADS) == pytest.approx(
        result["jacks_off_ground"]
    )


BROKEN = [
    ({"modules": 0}, "whole number from 1 to 50"),
    ({"modules": 51}, "whole number from 1 to 50"),
    ({"modules": 2.5}, "whole number from 1 to 50"),
    ({"full": 2}, "full is 2, expected 0 or 1"),
    (
        {"order": 7},
        "order is 7, expected 0 .rows., 1 .outer., 2 .inner., 3 .alternating., or a list of numbers",
    ),
    ({"order": "random"}, "order is 'random'"),
    ({"order": [1, 1, 2]}, "every number from 1 to 4 once"),
    ({"drives": 1, "outside": 1}, "either outside or inside"),
    (
        {"rail_length": 1.0},
        r"parameters.rail_length: found 1, expected a number >= 2 \(module_length\)",
    ),
    ({"module_pitch": 0.3}, ">= 0.4"),
    ({"jack_extension": -0.1}, ">= 0"),
    ({"jack_extension": 1.5}, "<= 1.2"),
    ({"slew_command": 2.0}, ">= -0.7 and <= 0.7"),
    ({"luff_command": 1.2}, "<= 0.9"),
    ({"pace": -1.0}, "pace: found -1, expected a number >= 0"),
]


@pytest.mark.parametrize("variant", ["carrier", "carrier-detailed"])
@pytest.mark.parametrize(("settings", "says"), BROKEN)
def test_invalid_carrier_settings_are_refused(variant: str, settings: dict, says: str):
    with pytest.raises(ModelError, match=says):
        load(f"lib:{variant}", **settings)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (
            {"jack_short_front_left": 0.3},
            r"'on jacks'\.require: found .*jack_load_front_left = 0,.*expected every jack on the ground",
        ),
        (
            {"jack_extension": 0.7},
            r"'on jacks'\.require: .*jack_load_rear_right = 0, expected every jack on the ground",
        ),
        (
            {"tyre_radius": 0.1},
            r"'on wheels'\.require: found wheel_load_front_left = 0,.*expected every wheel on the ground",
        ),
    ],
)
def test_jack_off_the_ground_is_named(settings: dict, says: str):
    with pytest.raises(ModelError, match=says):
        load("lib:carrier", modules=1, **settings).compile()


def test_carrier_runs_on_wheels():
    """With the jacks drawn in, the tyres carry everything, and modules leave all the same."""
    result = (
        load("lib:carrier", modules=1, jack_extension=0.5)
        .compile()
        .simulate(1.2, output_step=0.01, tolerance=1e-6)
    )
    assert sum(result[f"wheel_load_{name}"][0] for name in JACKS) == pytest.approx(
        (BODIES + 120) * G, rel=1e-9
    )
    assert result.events[1].stage == "swing 1"


@pytest.mark.parametrize("full", [0, 1])
@pytest.mark.parametrize("contacts", [0, 1])
def test_helical_grooves_turn_the_modules(full: int, contacts: int):
    """A module that turns once in a pitch travels as one that is heavier by its inertia.

    With clearance, the pin turns no further from its groove than that allows, but for the groove's own elasticity.
    """
    settings = {"modules": 1, "full": full, "contacts": contacts, "clearance": 2e-3}
    if not contacts:
        del settings["clearance"]
    straight, helical = (
        load("lib:carrier", helical=k, **settings).compile().simulate(2.0, tolerance=1e-7)
        for k in (0, 1)
    )
    times = [[each.time for each in run.events][:2] for run in (straight, helical)]
    taken = [end - begin for begin, end in times]
    heavier = 1.0 + (2 * 0.4**2 / 12) * (2 * np.pi / 6.0) ** 2
    assert taken[1] / taken[0] == pytest.approx(np.sqrt(heavier), rel=3e-3)
    if full and contacts:
        inside = helical["stage"] == 1
        twist = np.abs(helical["twist1"][inside])
        assert 0.5 * 2e-3 / 0.2 < twist.max() < 1.5 * 2e-3 / 0.2
    balance = np.abs(helical["energy_residual"]).max()
    assert balance < 1e-4 * np.ptp(helical["energy"])


def test_released_module_keeps_spin_of_its_groove():
    """Its angular velocity about its own axis is 2 pi over the pitch times the speed at which it left the rail."""
    raw = carrier.describe(modules=1, helical=1)
    quantity = {"quantity": "angular_velocity", "body": "module1", "axis": "x", "frame": "body"}
    raw["outputs"]["spin"] = quantity
    run = load(raw).compile().simulate(1.5, tolerance=1e-7, output_step=1e-3)
    at = np.flatnonzero(run["stage"] == 2)[5]
    speed = run.picked(run.stage_changes[1].before, ["der(s1)"])[0]
    assert run["spin"][at] == pytest.approx(2 * np.pi / 6.0 * speed, rel=2e-2)
