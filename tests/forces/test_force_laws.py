"""Laws by themselves, at numbers that are easy to work out: where they begin, bend and end, and how fast what they keep is forgotten."""

import math

import numpy as np
import pytest
from force_law_values import Bench

from kinetree.models.checks.loader import describe
from kinetree.models.expressions.node_arithmetic import E, const, name
from kinetree.models.expressions.vectors import Vector
from kinetree.models.forces.bristle import Bristles
from kinetree.models.forces.contacts import (
    add_load,
    normal_force,
    raised,
    share_of,
    side_forces,
    sliding,
)
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.kinds import KINDS
from kinetree.models.forces.kinds.wheel import left, travel_over_share
from kinetree.models.forces.line_laws import end_stops, rubbing
from kinetree.models.forces.locked_cylinder import ShutOil, shut_oil
from kinetree.models.forces.soil import Footprint, power
from kinetree.models.forces.soil_schema import Soil
from kinetree.models.forces.wrench_pairs import add_pair
from kinetree.models.scene.attachments import Numbers
from kinetree.models.scene.default_shapes import ROD
from kinetree.solvers import layout as L


def bristles(
    stiffness: tuple[float, ...] = (40.0,), limit: float = 2.0, reach: float = 1e-3
) -> tuple[Bench, Bristles]:
    bench = Bench()
    names = tuple(f"e{k}" for k in range(len(stiffness)))
    return bench, Bristles(names, tuple(const(k) for k in stiffness), const(limit), const(reach))


@pytest.mark.parametrize(
    ("share", "slip"),
    [(0.5, 0.0), (0.75, 0.0), (0.8125, 0.25), (0.875, 0.5), (1.0, 1.0), (1.5, 1.0)],
)  # 4 f - 3 from three quarters on, 1 from the limit on
def test_bristle_friction_slips_above_three_quarters_of_limit(share: float, slip: float):
    """Pulled outward at 0.3 the deflection 2/40 share gives way by the part `slip`; pushed inward it never does. Beyond the limit it is forgotten."""
    bench, own = bristles()
    own.follow(bench, [name("v")])
    e, beyond = share * 2.0 / 40.0, (1.0 / 5e-3) * (1.0 - 1.0 / max(share, 1.0))
    assert bench.rate("e0", e0=e, v=0.3) == pytest.approx(
        (1.0 - slip) * 0.3 - beyond * e, rel=1e-12, abs=1e-15
    )
    assert bench.rate("e0", e0=-e, v=-0.3) == pytest.approx(
        -(1.0 - slip) * 0.3 + beyond * e, rel=1e-12, abs=1e-15
    )
    assert bench.rate("e0", e0=e, v=-0.3) == pytest.approx(-0.3 - beyond * e, rel=1e-12)


def test_two_dimensional_bristles_slip_along_their_force():
    """At twice the limit what goes outward is taken away along F, weighted by stiffness: Σ k F n/Σ k F² of it; what goes across stays."""
    bench, own = bristles((40.0, 10.0), 2.0)
    own.follow(bench, [name("v0"), name("v1")], [name("g0"), name("g1")])
    e, v, gone = np.array([0.08, 0.24]), np.array([0.3, 0.5]), np.array([0.1, -0.2])
    force = np.array([40.0, 10.0]) * e  # 3.2, 2.4: of the size 4
    net, k = v - gone, np.array([40.0, 10.0])
    slip = (k * force * net).sum() / (k * force * force).sum()
    numbers = {"e0": e[0], "e1": e[1], "v0": v[0], "v1": v[1], "g0": gone[0], "g1": gone[1]}
    for i in range(2):
        assert bench.rate(f"e{i}", **numbers) == pytest.approx(
            net[i] - slip * force[i] - 100.0 * e[i], rel=1e-12
        )
    assert bench.value(own.share(), **numbers) == pytest.approx(2.0, rel=1e-12)
    assert bench.value(own.stored(), **numbers) == pytest.approx(
        0.5 * (40.0 * e[0] ** 2 + 10.0 * e[1] ** 2), rel=1e-12
    )
    pull = [name("p0"), name("p1")]
    speeds = [name("v0"), name("v1")]
    lost = bench.value(own.lost(pull, speeds), p0=-1.0, p1=-2.0, **numbers)
    kept = sum(force[i] * bench.rate(f"e{i}", **numbers) for i in range(2))
    assert lost == pytest.approx(1.0 * 0.3 + 2.0 * 0.5 - kept, rel=1e-12)


def test_bristle_friction_regularises_small_limits():
    """Below stiffness times reach, 0.04, bristles feel and give the part limit/0.04 of it; without a limit they forget within 5 ms."""
    bench, own = bristles(limit=0.01)
    own.follow(bench, [name("v")])
    assert bench.value(own.lever()) == pytest.approx(0.25) and bench.value(
        own.own_limit()
    ) == pytest.approx(0.04)
    assert bench.rate("e0", e0=5e-4, v=0.3) == pytest.approx(0.25 * 0.3)
    assert bench.values(own.pull([const(0.0)], const(0.0)), e0=5e-4) == pytest.approx(
        [-0.25 * 40.0 * 5e-4]
    )
    for limit in (0.0, -1.0):
        bench, own = bristles(limit=limit)
        own.follow(bench, [name("v")])
        assert (
            bench.rate("e0", e0=5e-4, v=0.3) == pytest.approx(-5e-4 / 5e-3)
            and bench.value(own.lever()) == 0.0
        )


def test_bristle_friction_stays_within_limit():
    """Elastic force and damping together, cut at the limit as one vector."""
    bench, own = bristles((40.0, 10.0), 2.0)
    free = bench.values(
        own.pull([name("v0"), name("v1")], const(0.5)), e0=0.01, e1=0.02, v0=0.2, v1=-0.4
    )
    assert free == pytest.approx([-(0.4 + 0.1), -(0.2 - 0.2)], abs=1e-15)
    cut = bench.values(
        own.pull([name("v0"), name("v1")], const(0.5)), e0=0.075, e1=0.4, v0=0.0, v1=0.0
    )  # 3 and 4
    assert cut == pytest.approx([-1.2, -1.6])


def contact(kind: str, **keys: object):
    table = KINDS[kind].table
    return table.model_validate({"kind": kind, "body": "a", "stiffness": 300.0} | keys)


@pytest.mark.parametrize(
    ("speed", "share"), [(0.0, 0.0), (0.02, 0.36), (0.05, 0.75), (0.1, 1.0), (0.3, 1.0)]
)
def test_sliding_friction_grows_parabolically_with_speed(speed: float, share: float):
    """s (2 - s) up to the speed 0.1 at which it is whole."""
    assert Bench().value(share_of(const(speed), const(0.1))) * speed == pytest.approx(share)
    found = Bench().values(
        sliding(
            Bench(),
            "f",
            contact("contact", friction=0.4, friction_speed=0.1),
            const(50.0),
            [const(0.6 * speed), const(-0.8 * speed)],
        )
    )
    assert found == pytest.approx([-0.4 * 50.0 * share * 0.6, 0.4 * 50.0 * share * 0.8])


@pytest.mark.parametrize(
    ("keys", "load", "part"),
    [
        ({}, 300.0 * 0.04, 0.5),
        ({"exponent": 1.5}, 300.0 * 0.008, 0.4),
        ({"exponent": 2.0}, 300.0 * 0.0016, 1.0 / 3.0),
        ({"modulus": 2e4}, 4.0 / 3.0 * 2e4 * 0.3 * 0.008, 0.4),
    ],
)
def test_contact_springs_match_their_potentials(keys: dict, load: float, part: float):
    """Pressed in by 0.04 with a radius of 0.09; the potential is the part 1/(exponent + 1) of load times depth."""
    bench = Bench()
    spring, share = raised(bench, "f", contact("contact", **keys), name("d"), const(0.09))
    assert bench.value(spring, d=0.04) == pytest.approx(load) and bench.value(
        share
    ) == pytest.approx(part)
    assert bench.value(spring, d=0.0) == 0.0


@pytest.mark.parametrize(
    ("depth", "rate", "load"),
    [
        (0.04, 0.0, 12.0),
        (0.04, 0.5, 13.0),
        (0.04, -5.0, 2.0),
        (0.04, -7.0, 0.0),
        (0.0, 3.0, 0.0),
        (-0.01, 3.0, 0.0),
    ],
)
def test_contact_forces_are_never_tensile(depth: float, rate: float, load: float):
    bench = Bench(d=depth, r=rate)
    found = normal_force(bench, "f", contact("contact", damping=2.0), name("d"), name("r"))
    assert bench.value(found) == pytest.approx(load) and bench.value("f.penetration") == depth
    crossley = Bench(d=depth, r=rate)
    found = normal_force(crossley, "f", contact("contact", dissipation=0.1), name("d"), name("r"))
    assert crossley.value(found) == pytest.approx(
        max(300.0 * max(depth, 0.0) * (1.0 + 0.15 * rate), 0.0)
    )
    assert bench.value(bench.potential_of["f"]) == pytest.approx(150.0 * max(depth, 0.0) ** 2)


TYRE = {"side_stiffness": 150.0, "side_damping": 3.0}


def test_lateral_forces_are_limited_by_friction():
    """Outward slips the fourth power of travel over reach, friction load/stiffness = 0.4 50/150; beyond it all, and 5 ms forget."""
    reach = 0.4 * 50.0 / 150.0
    for share in (0.5, 1.0, 2.0):
        bench = Bench(y=share * reach, v=0.2, load=50.0)
        bench.made = lambda made: "y"
        (pull,) = side_forces(
            bench,
            "f",
            contact("tyre", friction=0.4, **TYRE),
            ("travel",),
            name("load"),
            [name("v")],
        )
        gone = share * reach * (1.0 - 1.0 / max(share, 1.0)) / 5e-3
        assert bench.rate("y") == pytest.approx(
            0.2 * (1.0 - min(share**4, 1.0)) - gone, rel=1e-9, abs=1e-12
        )
        elastic = 150.0 * share * reach + 3.0 * 0.2
        assert bench.value(pull) == pytest.approx(-min(elastic, 20.0))
        assert bench.rate("y", v=-0.2) == pytest.approx(-0.2 - gone, rel=1e-9)
        assert bench.rate("y", load=0.0) == pytest.approx(
            -share * reach / 5e-3, rel=1e-5
        )  # but for the smallest reach of 1e-9
        assert bench.value(pull, load=0.0) == 0.0


def test_lateral_forces_without_friction_coefficient_are_unlimited():
    bench = Bench(y=0.7, v=0.2, load=50.0)
    bench.made = lambda made: "y"
    (pull,) = side_forces(
        bench, "f", contact("tyre", **TYRE), ("travel",), name("load"), [name("v")]
    )
    assert bench.value(pull) == pytest.approx(-(105.0 + 0.6)) and bench.rate("y") == 0.2
    assert bench.value(pull, load=0.0) == 0.0 and bench.rate("y", load=0.0) == pytest.approx(-140.0)
    (drag,) = side_forces(
        Bench(), "f", contact("tyre", side_damping=3.0), (), name("load"), [name("v")]
    )
    assert (
        Bench().value(drag, load=1.0, v=0.2) == pytest.approx(-0.6)
        and Bench().value(drag, load=0.0, v=0.2) == 0.0
    )


def test_reversed_dry_friction_is_antisymmetric():
    law = rubbing(Bench(), const(3.0), const(0.5), const(0.1), name("v"), const(5.0))
    assert Bench().value(law, v=0.2) == pytest.approx(-(3.0 * math.tanh(2.0) + 0.1))
    assert (
        Bench().value(law, v=-0.2) == pytest.approx(5.0 * math.tanh(2.0) + 0.1)
        and Bench().value(law, v=0.0) == 0.0
    )


@pytest.mark.parametrize(
    ("length", "rate", "force", "stored"),
    [
        (1.2, 5.0, 7.0, 0.0), (1.0, -5.0, 7.0, 0.0), (1.5, 5.0, 7.0, 0.0), (0.9, 0.0, 17.0, 0.5), (0.9, -1.0, 20.0, 0.5), (0.9, 4.0, 7.0, 0.5),
        (1.7, 0.0, -13.0, 2.0), (1.7, 1.0, -16.0, 2.0), (1.7, -7.0, 7.0, 2.0),
    ],
)  # fmt: skip
def test_end_stops_push_only_outwards(length: float, rate: float, force: float, stored: float):
    """Between 1 and 1.5 the value of 7 alone; a stop of 100 N/m and 3 N.s/m outside."""
    table = KINDS["cylinder"].table
    between = [{"body": "a"}, {"body": "b"}]
    stops = table.model_validate(
        {
            "kind": "cylinder",
            "between": between,
            "area_a": 1,
            "shortest": 1,
            "longest": 1.5,
            "end_stiffness": 100,
            "end_damping": 3,
        }
    )
    bench = Bench()
    value, potential = end_stops(bench, stops, name("l"), name("v"), const(7.0))
    assert bench.value(value, l=length, v=rate) == pytest.approx(force)
    assert bench.value(potential, l=length) == pytest.approx(stored)


@pytest.mark.parametrize("inside", [0.0, 0.03, 0.2, 0.9])
def test_locked_oil_energy_is_integral_of_its_pressures(inside: float):
    """p_a = p_a0 - E log(1 - A_a x/V_a), p_b = max(p_b0 - E log(1 + A_b x/V_b), 2e4); the energy is the work of the load from 0 on."""
    oil = ShutOil(
        area_a=0.002,
        area_b=0.001,
        volume_a=1e-3,
        volume_b=2e-3,
        stroke=1.2,
        bulk_modulus=1e6,
        pressure_b=1e5,
    )
    columns = 1e-3 + 0.002 * 0.5, 2e-3 + 0.001 * 0.7
    bench = Bench()
    load, stored = shut_oil(bench, "j", oil, const(0.5), name("x"))

    def pressures(x: float) -> tuple[float, float]:
        ratios = max(1.0 - 0.002 * x / columns[0], 0.01), max(1.0 + 0.001 * x / columns[1], 0.01)
        return 0.5e5 - 1e6 * math.log(ratios[0]), max(1e5 - 1e6 * math.log(ratios[1]), 2e4)

    assert (
        bench.value("j.pressure_a", x=inside),
        bench.value("j.pressure_b", x=inside),
    ) == pytest.approx(pressures(inside), rel=1e-12)
    x = np.linspace(0.0, inside, 20001)
    loads = np.array([0.002 * a - 0.001 * b for a, b in map(pressures, x)])
    assert bench.value(load, x=inside) == pytest.approx(loads[-1], rel=1e-12, abs=1e-12)
    assert bench.value(stored, x=inside) == pytest.approx(
        np.trapezoid(loads, x), rel=1e-6, abs=1e-9
    )


def test_oil_stiffness_is_bounded_below_a_hundredth_of_volume():
    oil = ShutOil(
        area_a=1.0,
        area_b=1.0,
        volume_a=1.0,
        volume_b=1.0,
        stroke=0.0,
        bulk_modulus=1e6,
        pressure_b=1e5,
    )
    bench = Bench()
    shut_oil(bench, "j", oil, const(0.0), name("x"))
    for x in (0.99, 0.995, 2.0):
        assert bench.value("j.pressure_a", x=x) == pytest.approx(
            1e5 - 1e6 * math.log(0.01), rel=1e-12
        )
        assert bench.value("j.pressure_b", x=-x) == pytest.approx(
            1e5 - 1e6 * math.log(0.01), rel=1e-12
        )


# -- wheels and soil --------------------------------------------------------------------------------------------------------------------------
def test_remaining_friction_share_is_bounded():
    """Third root of 1 - f, of a millionth from there on."""
    for share, third in ((0.0, 1.0), (0.875, 0.5), (1.0, 0.01), (3.0, 0.01)):
        assert Bench().value(left(const(share))) == pytest.approx(third)


@pytest.mark.parametrize("x", [1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0, 1000.0])
def test_soil_shear_law_is_inverted(x: float):
    """f = 1 - (1 - exp(-x))/x has the inverse x to 1e-6."""
    f = 1.0 - (-math.expm1(-x)) / x
    assert Bench().value(travel_over_share(const(f))) * f == pytest.approx(x, rel=3e-6)


SOIL = {"strength": 20.0, "hardening": 100.0, "viscosity": 8.0}


def soil(bench: Bench, radius: float | None = None, **keys: object) -> Footprint:
    return Footprint(
        bench, "f", Soil.model_validate(SOIL | keys), None if radius is None else const(radius)
    )


def test_rigid_soil_settles_above_its_strength():
    """(N - F)/(viscosity + damping) of the leg, whose load is that of the leg less what settling takes of its damping."""
    bench = Bench(**{"f.settlement": 0.1})
    load, kept = soil(bench).load(name("in"), name("spring"), const(2.0), name("rate"))
    for spring, rate, growth in (
        (80.0, 0.0, 5.0),
        (80.0, 5.0, 6.0),
        (20.0, 0.0, 0.0),
        (30.0, 0.0, 0.0),
    ):
        numbers = {"in": 0.3, "spring": spring, "rate": rate}
        assert bench.rate("f.settlement", **numbers) == pytest.approx(growth)
        assert bench.value(load, **numbers) == pytest.approx(spring + 2.0 * rate - 2.0 * growth)
    apart = {"in": 0.0, "spring": 80.0, "rate": 5.0}
    assert (
        bench.value(load, **apart) == bench.rate("f.settlement", **apart) == 0.0
        and bench.value(kept) == 0.0
    )


def test_elastic_soil_settles_above_strength():
    """k = 500 + 40 z: N = (3 (f + 2 rate) + 2 k e)/5, dz/dt = max(0, min(k e - F, k e - 20 e²))/viscosity, de/dt = (N - k e)/3 - dz/dt."""
    bench = Bench(**{"f.settlement": 0.1, "f.deflection": 0.12})
    load, kept = soil(bench, stiffness=500.0, stiffening=40.0, damping=3.0).load(
        name("in"), name("spring"), const(2.0), name("rate")
    )
    for e, spring, rate in (
        (0.12, 90.0, 0.5),
        (0.05, 10.0, -1.0),
        (0.12, 0.0, -100.0),
        (20.0, 90.0, 0.0),
    ):
        numbers = {"f.deflection": e, "in": 0.3, "spring": spring, "rate": rate}
        elastic = 504.0 * e
        N = max((3.0 * (spring + 2.0 * rate) + 2.0 * elastic) / 5.0, 0.0)
        growth = max(min(elastic - 30.0, elastic - 20.0 * e * e), 0.0) / 8.0
        assert bench.value(load, **numbers) == pytest.approx(N)
        assert bench.rate("f.settlement", **numbers) == pytest.approx(growth)
        assert bench.rate("f.deflection", **numbers) == pytest.approx((N - elastic) / 3.0 - growth)
        assert bench.value(kept, **numbers) == pytest.approx(0.5 * elastic * e)
    assert bench.value(load, **{"in": 0.0, "spring": 90.0, "rate": 0.0}) == 0.0


BEKKER = {
    "strength": 0.0,
    "hardening": 0.0,
    "cohesion_modulus": 30.0,
    "friction_modulus": 200.0,
    "exponent": 0.8,
    "width": 0.3,
}


def test_bekker_curves_match_formulas():
    """Plate: A (k_c/b + k_phi) w^n; wheel: b (k_c/b + k_phi) (3 - n)/3 sqrt(2 r) w^(n + 1/2); straight below a millionth, nothing above ground."""
    plate, wheel = Bench(**{"f.settlement": 0.05}), Bench(**{"f.settlement": 0.05})
    assert plate.value(soil(plate, area=0.4, **BEKKER).curve()) == pytest.approx(
        0.4 * 300.0 * 0.05**0.8
    )
    assert wheel.value(soil(wheel, 0.5, **BEKKER).curve()) == pytest.approx(
        0.3 * 300.0 * 2.2 / 3.0 * 0.05**1.3
    )
    law = power(name("w"), const(0.8))
    for w, factor in ((1e-6, 1.0), (5e-7, 0.5), (0.0, 0.0), (-1.0, 0.0), (2e-6, 2.0**0.8)):
        assert Bench().value(law, w=w) == pytest.approx(factor * 1e-6**0.8)


def test_wheel_leaves_rut():
    """Lifted by |v| (z - z_m)/l, l = (n + 1) (3 - n)/3 sqrt(2 r w), n = 1 without Bekker's law; against v acts (z - z_m)/l of the load."""
    for keys, n in (({}, 1.0), (BEKKER, 0.8)):
        bench = Bench(**{"f.settlement": 0.02})
        ground = soil(bench, 0.5, **keys)
        v = Vector(name("vx"), name("vy"), const(0.0))
        share = ground.roll(v, Vector(const(0.0), const(0.0), const(0.0)))
        reach = (n + 1.0) * (3.0 - n) / 3.0 * math.sqrt(2.0 * 0.5 * 0.02)
        assert bench.value(ground.given, vx=0.3, vy=0.4) == pytest.approx(0.5 * 0.02 / reach)
        assert bench.values(share, vx=0.3, vy=0.4) == pytest.approx(
            [-0.6 * 0.02 / reach, -0.8 * 0.02 / reach, 0.0]
        )
        slow = bench.value(
            ground.given, vx=3e-4, vy=4e-4
        )  # below 1 mm/s it begins as the square of the speed
        assert slow == pytest.approx(0.5 * 5e-4 * 0.02 / reach)


def test_a_track_remembers_ruts_between_its_cells():
    """Five cells 0.5 apart along x from -1: read one cell ahead, written one behind, in proportion to what is near; depths only grow."""
    numbers = {f"f.rut_{k}": depth for k, depth in enumerate((0.01, 0.02, 0.04, 0.03, 0.0), 1)}
    bench = Bench(**{"f.settlement": 0.05} | numbers)
    ground = soil(bench, 0.5, track={"at": [-1, 5, 0], "along": [2, 0, 0], "length": 2, "cells": 5})
    place = Vector(name("x"), const(7.0), const(0.0))
    assert ground.soil.track is not None
    deep = ground.remembered(
        ground.soil.track, place, Vector(name("v"), const(0.0), const(0.0)), name("way")
    )
    at = {"x": -0.65, "v": 0.2, "way": 0.2}  # cell 0.7
    assert bench.value(deep, **at) == pytest.approx(0.3 * 0.02 + 0.7 * 0.04)
    assert bench.value(deep, **at | {"v": 0.0}) == bench.value(deep, **at)
    assert bench.value(deep, **at | {"v": -0.2}) == pytest.approx(
        0.7 * 0.01
    )  # one cell behind, at -0.3
    assert bench.rate("f.rut_1", **at) == pytest.approx(16.0 / 0.5 * 0.3 * 0.2 * 0.04)
    assert bench.rate("f.rut_2", **at) == 0.0
    assert bench.rate("f.rut_2", **at | {"v": -0.2}) == pytest.approx(16.0 / 0.5 * 0.7 * 0.2 * 0.03)
    assert bench.rate("f.rut_1", **at | {"v": -0.2}) == 0.0
    assert bench.rate("f.rut_1", **at | {"f.settlement": 0.005}) == 0.0
    ground.soil = ground.soil.model_copy(
        update={"track": ground.soil.track.model_copy(update={"follows": ("g", "gone")})}
    )
    bench.description.forces["g"] = contact(
        "tyre", soil=SOIL | {"track": {"at": [-1, 0, 0], "length": 2, "cells": 3}}
    )
    both = ground.remembered(
        ground.soil.track, place, Vector(name("v"), const(0.0), const(0.0)), name("way")
    )
    theirs = {"g.rut_1": 0.0, "g.rut_2": 0.06, "g.rut_3": 0.2}  # cell 0.35, one ahead 1.35
    assert bench.value(both, **at | theirs) == pytest.approx(0.65 * 0.06 + 0.35 * 0.2)


# -- where forces act -------------------------------------------------------------------------------------------------------------------------
def test_force_pairs_act_on_their_bodies():
    """On the second body at its point and the opposite there on the first one; on the ground alone nothing acts, its part goes to the other."""
    force, offset, moment = (
        Vector(*map(const, each)) for each in ((1.0, 2.0, 3.0), (0.5, -0.4, 0.2), (0.1, 0.3, -0.2))
    )
    bench = Bench()
    add_pair(bench, 1, 2, 7, 8, force, offset, moment)
    ((kind, b, pin, a, pushed, turned, frame),) = bench.forces
    assert (kind, b, pin, a, frame) == (L.Force.PAIR, 2, 8, 1, 0)
    assert (bench.values(pushed), bench.values(turned)) == ([1.0, 2.0, 3.0], [0.1, 0.3, -0.2])
    bench = Bench()
    add_pair(bench, 1, 0, 7, 8, force, offset, moment)
    ((kind, a, begin, pushed, turned, frame),) = bench.forces
    assert (kind, a, begin, frame) == (L.Force.WRENCH, 1, 7, 0) and bench.values(pushed) == [
        -1.0,
        -2.0,
        -3.0,
    ]
    assert bench.values(turned) == pytest.approx(
        -np.cross([0.5, -0.4, 0.2], [1.0, 2.0, 3.0]) - [0.1, 0.3, -0.2]
    )
    bench = Bench()
    add_load(bench, 0, 3, force, force, offset)
    assert not bench.forces
    add_load(bench, 2, 3, force, moment, offset)
    ((kind, b, point, pushed, turned, frame),) = bench.forces
    assert (kind, b, point, frame) == (L.Force.WRENCH, 2, 3, 0) and bench.values(
        pushed
    ) == pytest.approx([1.1, 2.3, 2.8])
    assert bench.values(turned) == pytest.approx(np.cross([0.5, -0.4, 0.2], [0.1, 0.3, -0.2]))


def test_latch_keeps_opening_once_started():
    """At 1.01 - b in the release time, from its strength on or from a millionth of an opening; the spring that is left is 1 - b of it."""
    bench = Bench(**{"f:length": 0.5, "f:rate": 0.2, "f.open": 0.25})
    table = KINDS["latch"].table
    force = table.model_validate(
        {
            "kind": "latch",
            "between": [{"body": "a"}, {"body": "b"}],
            "stiffness": 80,
            "damping": 3,
            "length": 0.4,
            "strength": 8,
            "release": 0.01,
        }
    )
    KINDS["latch"].law(bench, "f", force)
    assert bench.value("force('f')") == pytest.approx(-0.75 * (8.0 + 0.6)) and bench.value(
        bench.potential_of["f"]
    ) == pytest.approx(0.75 * 0.4)
    assert bench.rate("f.open") == pytest.approx(0.76 / 0.01)
    for opened, length, going in (
        (0.0, 0.499, 0.0),
        (0.0, 0.301, 0.0),
        (0.0, 0.501, 1.01),
        (0.0, 0.299, 1.01),
        (1e-6, 0.4, 0.0),
        (1.2e-6, 0.4, 1.01),
        (1.0, 0.9, 0.0),
    ):
        assert bench.rate("f.open", **{"f.open": opened, "f:length": length}) == pytest.approx(
            going / 0.01, rel=1e-5
        )
    book = bench.books["f"]
    fading = 0.5 * 80.0 * 0.01 * 0.76 / 0.01
    assert bench.value(book.dissipation()) == pytest.approx(0.75 * 3.0 * 0.04 + fading)
    assert bench.value(book.dissipation(), **{"f.open": 1.0}) == 0.0


def test_drawing_sizes_and_points_of_force_elements():
    """Ropes and latches are thinner than rods, springs thicker; what touches the ground: a point of its body and a radius about it."""
    numbers = Numbers(describe({"parameters": {"r": 0.4}, "outputs": {"o": "r"}}))

    def made(kind: str, **keys: object):
        return KINDS[kind].table.model_validate({"kind": kind, **keys})

    ends = {"between": [{"body": "a"}, {"body": "b"}]}
    spring, given, soft = (
        made("line", **ends, **keys)
        for keys in ({"stiffness": 5, "length": 1}, {"value": 3}, {"damping": 3})
    )
    rope = made("line", **ends, stiffness=5, length=1, tension_only=True)
    table = made("line", **ends, law="T", length=1)
    looks = [
        KINDS["line"].look(each, numbers, 2.0, 1.0) for each in (spring, rope, table, given, soft)
    ]  # type: ignore[misc]
    assert [each["kind"] for each in looks] == ["spring", "rope", "spring", "cylinder", "cylinder"]
    assert [looks[0]["radius"], looks[1]["radius"]] == pytest.approx(
        [1.6 * ROD * 2.0, 0.35 * ROD * 2.0]
    )
    hoist = made("rope", **ends, stiffness=5, length=1)
    latch = made("latch", **ends, stiffness=5, length=1, strength=1)
    assert KINDS["rope"].look(hoist, numbers, 2.0, 1.0)["radius"] == pytest.approx(0.35 * ROD * 2.0)  # type: ignore[misc]
    assert KINDS["latch"].look(latch, numbers, 2.0, 1.0)["radius"] == pytest.approx(0.8 * ROD * 2.0)  # type: ignore[misc]
    for kind, keys, point, radius in (
        ("contact", {"point": [1, 0, 2], "radius": "r"}, [1, 0, 2], 0.4), ("tyre", {"point": [1, 0, 2], "radius": 0.3}, [1, 0, 2], 0.3),
        ("jack", {"point": [1, 0, 2], "axis": [0, 3, 4], "extension": "r"}, [1, 0.24, 2.32], 0.0), ("jack", {"extension": 0.5}, [0, 0, -0.5], 0.0),
    ):  # fmt: skip
        found = KINDS[kind].touch(contact(kind, **keys), numbers)  # type: ignore[misc]
        assert found is not None and found[0] == pytest.approx(point) and found[1] == radius
    assert KINDS["contact"].touch(contact("contact", shape={"sphere": 1}), numbers) is None  # type: ignore[misc]
    own = ForceKind(spring.__class__, lambda *given: None, "", {})
    assert (
        own.name == "line"
        and own.place == "between"
        and own.names(spring) == {}
        and own.rank == 100
    )


def test_parameters_of_laws_may_be_expressions():
    """The bench itself: what it defines and hands out has the numbers that stand behind it."""
    bench = Bench(x=3.0)
    bench.define("y", (name("x") * 2.0).node)
    assert (
        bench.value("y") == 6.0
        and bench.values(bench.vector((E("y").node, 1.0))) == [6.0, 1.0]
        and bench.value("y", y=1.0) == 1.0
    )
