"""Carriers with two packs of modules side by side: places, orders, symmetry, drives that compensate, refusals."""

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.library.carrier_modules import cell, departures
from kinetree.scripts.studies import stabilisation


def test_first_half_of_the_modules_lies_in_the_right_pack():
    """Seven modules: four in the right pack (three and one above), three in the left one."""
    sizes = {"pack_distance": 1.8, "module_pitch": 0.5}
    aside = [evaluate_constant(cell(i, 7, 2).aside, sizes) for i in range(1, 8)]
    assert aside == pytest.approx([-1.4, -0.9, -0.4, -0.9, 0.4, 0.9, 1.4])
    assert [cell(i, 7, 2).row for i in range(1, 8)] == [0, 0, 0, 1, 0, 0, 0]


def test_orders_of_departure_over_two_packs():
    """One pack after the other, outermost first, innermost first, sides in turn."""
    assert departures(6, "rows", 2) == [1, 2, 3, 4, 5, 6]
    assert departures(6, "outer", 2) == [1, 6, 2, 5, 3, 4]
    assert departures(6, "inner", 2) == [3, 4, 2, 5, 1, 6]
    assert departures(6, "alternating", 2) == [1, 6, 2, 5, 3, 4]
    assert sorted(departures(50, "alternating", 2)) == list(range(1, 51))


def test_mirrored_salvos_move_the_carrier_in_mirrored_ways():
    """Straight ahead, right pack first or left one: slew, roll change their sign, luff, pitch, heave stay."""
    right, left = (
        load("lib:carrier", packs=2, modules=2, order=order, slew_command=0.0)
        .compile()
        .simulate(2.2, output_step=0.02, tolerance=1e-9)
        for order in ([1, 2], [2, 1])
    )
    assert right.phases == ["", *["departure 1"] * 2, *["departure 2"] * 2]
    assert np.ptp(right["slew"]) > 5e-4
    for name, sign in (("slew", -1), ("roll", -1), ("luff", 1), ("pitch", 1), ("heave", 1)):
        assert right[name] == pytest.approx(sign * left[name], abs=1e-7)


def test_load_after_a_departure_acts_on_the_pack_that_the_module_has_left():
    """Without push and friction of its own a strong load turns the platform to the side of the pack."""
    turned = []
    for order in ([1, 2], [2, 1]):
        strong = load("lib:carrier", packs=2, modules=2, order=order, blast_factor=10.0).compile()
        weak = load("lib:carrier", packs=2, modules=2, order=order, blast_factor=0.0).compile()
        runs = [each.simulate(1.3, output_step=0.02, tolerance=1e-7) for each in (strong, weak)]
        turned.append((runs[0]["slew"] - runs[1]["slew"])[runs[0].time > 1.1].mean())
    assert turned[0] < -1e-4 and turned[1] > 1e-4


def test_drives_compensate_departures_from_two_packs():
    """The study of stabilisation as it ships, with two packs: what is known ahead halves the deviations at least."""
    wanted = stabilisation.read_comparison()
    names = ("proportional", "proportional and advance")
    two = wanted.model_copy(update={"ways": {name: wanted.ways[name] for name in names}})
    two._path = wanted.path
    two = two.with_settings({"packs": 2, "modules": 2, "pace": 0.4})
    plain, ahead = (
        stabilisation.row(two, way, run).largest for way, run in stabilisation.compare(two).items()
    )
    for axis in ("slew", "luff"):
        assert ahead[axis] < 0.5 * plain[axis]


@pytest.mark.slow
def test_a_salvo_from_two_packs_plans_its_next_departure():
    """Half of the load is known at first: the second departure is compensated by what the first has shown."""
    half = {"advance": 1.0, "slew_advance": 0.5, "luff_advance": 0.5}
    runs = [
        load("lib:carrier", packs=2, modules=2, drives=1, replan=switch).compile(**half).simulate()
        for switch in (0, 1)
    ]
    for axis in ("slew", "luff"):
        second = [
            np.abs(run[axis] - run[axis][0])[run["stage"] >= run.phases.index("departure 2")].max()
            for run in runs
        ]
        assert second[1] < 0.8 * second[0]
        assert 0.6 < runs[1][f"{axis}_size"][-1] < 1.2


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"packs": 3}, "packs is 3, expected a whole number from 1 to 2"),
        ({"packs": 2, "modules": 1}, "each pack holds a module"),
        ({"packs": 2, "flexible": 1}, "flexible is 1 but packs is 2"),
        ({"packs": 2, "pack_distance": 1.3}, "pack_distance"),
        ({"pack_distance": 2.0}, "pack_distance"),
    ],
)
def test_packs_that_cannot_be_are_refused(settings: dict, says: str):
    with pytest.raises(ModelError, match=says):
        load("lib:carrier", **settings)
