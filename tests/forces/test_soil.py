"""Soil against mechanics: Bekker's plate and rigid wheel, unloading and rebound, ruts that stay where they were made, books, mistakes."""

import json
from pathlib import Path

import numpy as np
import pytest
from random_forces import random_mechanism

from kinetree.models import ModelError, load

G = 9.81
SOILS = json.loads((Path(__file__).parents[1] / "data" / "soils.json").read_text())["soils"]
ELASTIC = {
    "strength": 20.0,
    "hardening": 400.0,
    "viscosity": 60.0,
    "stiffness": 900.0,
    "stiffening": 2000.0,
    "damping": 12.0,
}
BEKKER = {
    "friction_modulus": 2e3,
    "cohesion_modulus": 50.0,
    "exponent": 0.8,
    "width": 0.3,
    "viscosity": 50.0,
    "stiffness": 2e3,
    "damping": 15.0,
}
TRACK = {"at": [-3, 0, 0], "along": "x", "length": 6.0, "cells": 13}
CASES = {
    "contact, rigid": (
        "contact",
        {k: v for k, v in ELASTIC.items() if k in ("strength", "hardening", "viscosity")},
    ),
    "contact, elastic": ("contact", ELASTIC),
    "contact, Bekker": ("contact", BEKKER | {"area": 0.1}),
    "jack, elastic": ("jack", ELASTIC),
    "tyre, rigid": ("tyre", {"strength": 20.0, "hardening": 100.0, "viscosity": 60.0}),
    "tyre, elastic": ("tyre", ELASTIC),
    "tyre, Bekker": ("tyre", BEKKER),
    "tyre on a track": ("tyre", BEKKER | {"track": TRACK}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", [1, 2, 5])
def test_soil_never_generates_energy(case: str, seed: int):
    """Work + stored + dissipated is constant, and the losses never fall below zero: wheels and feet of random mechanisms on soft ground.

    The corner of every touchdown costs about the tolerance, times the energies and powers that are turned over."""
    kind, soil = CASES[case]
    result = (
        load(random_mechanism(kind, seed, soil=soil))
        .compile()
        .simulate(0.8, output_step=0.01, tolerance=1e-10)
    )
    stored, lost, work = result["f.stored_energy"], result["f.dissipated_energy"], result["work"]
    size = 1.0 + np.abs(work).max() + np.abs(stored).max() + np.abs(result["f.power"]).max()
    assert np.abs(stored - stored[0] + work + lost).max() < 1e-6 * size
    assert (
        np.diff(lost).min() > -1e-6 * size
        or "side_stiffness" in random_mechanism(kind, seed)["forces"]["f"]
    )
    assert lost.min() > -1e-6 * size


def plate(soil: dict, load_law: str, **more) -> dict:
    """A light plate on a vertical slide, pressed by a given force."""
    return {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"b": {"mass": 1.0}},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "z", "coordinate": "z"}]}},
        "tables": {"press": {"x": [0, 4, 6, 8, 12], "y": [0, 1, 0, 1, 2]}},
        "forces": {
            "c": {"body": "b", "stiffness": 1e8, "damping": 1e4, "soil": soil},
            "press": {"body": "b", "force": [0, 0, f"-({load_law})"]},
        },
        "outputs": {"load": "force('c')"},
    } | more  # fmt: skip


@pytest.mark.parametrize("name", SOILS)
def test_plates_follow_bekkers_curve(name: str):
    """Loaded, unloaded, loaded again and beyond: on the curve, back along the stiffness, up again to where it was, on along the curve.

    Overstress viscosity times settling speed, 20 N.s/m * 0.05 m/s, and the compression of the contact, 1e4/1e8 m, beside 1e4 N and 0.02 m."""
    area, width, most = 0.06, 0.2, 4000.0
    soil = SOILS[name] | {
        "area": area,
        "width": width,
        "viscosity": 20.0,
        "stiffness": 2e7,
        "damping": 300.0,
    }
    result = (
        load(plate(soil, f"{most}*table('press', t)"))
        .compile()
        .simulate(12.0, output_step=0.02, tolerance=1e-8, integrator="radau")
    )
    w, N, t = result["c.settlement"] + result["c.deflection"], result["load"], result.time
    n, modulus = soil["exponent"], soil["cohesion_modulus"] / width + soil["friction_modulus"]

    def curve(w: np.ndarray) -> np.ndarray:
        return area * modulus * np.maximum(w, 0.0) ** n

    loading = ((t > 0.5) & (t < 4.0)) | (t > 8.2)
    assert N[loading] == pytest.approx(curve(w[loading]), rel=0.01)
    unloading = (t > 4.2) & (t < 5.8)
    assert np.polyfit(w[unloading], N[unloading], 1)[0] == pytest.approx(2e7, rel=1e-3)
    again = (t > 6.2) & (t < 7.8)
    assert N[again] == pytest.approx(
        np.interp(w[again], w[unloading][::-1], N[unloading][::-1]), abs=0.01 * most
    )
    assert result["c.settlement"][t < 8].max() == pytest.approx(
        result["c.settlement"][np.searchsorted(t, 6.0)], rel=1e-3
    )  # nothing more, until 8 s
    rebound = w[t < 6.0].max() - w[np.searchsorted(t, 6.0)]
    assert rebound == pytest.approx(most / 2e7, rel=0.02)


def test_soil_stiffens_with_its_settlement():
    """The slope of unloading is stiffness + stiffening * settlement."""
    soil = {
        "strength": 0.0,
        "hardening": 1e5,
        "viscosity": 20.0,
        "stiffness": 5e5,
        "stiffening": 4e7,
        "damping": 300.0,
    }
    result = (
        load(plate(soil, "2000*table('press', t)"))
        .compile()
        .simulate(6.0, output_step=0.02, tolerance=1e-8, integrator="radau")
    )
    w, N, z, t = (
        result["c.settlement"] + result["c.deflection"],
        result["load"],
        result["c.settlement"],
        result.time,
    )
    back = (t > 4.2) & (t < 5.8)
    assert z[-1] > 0.015
    assert np.polyfit(w[back], N[back], 1)[0] == pytest.approx(5e5 + 4e7 * z[-1], rel=1e-3)


def rig(soil: dict, weight: float, way: str, **more) -> dict:
    """A wheel in a single-wheel rig: moved along x as given, free to sink."""
    return {
        "format": "kinetree/1", "gravity": [0, 0, -G], "bodies": {"b": {"mass": weight / G}},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "by": way}, {"shift": "z", "coordinate": "z", "start": 0.55}]}},
        "forces": {"w": {"kind": "tyre", "body": "b", "radius": 0.55, "stiffness": 5e7, "damping": 1e4, "soil": soil}},
        "outputs": {
            "load": "force('w')", "pull": {"quantity": "force", "force": "w", "axis": "x"}, "x": {"quantity": "position", "body": "b", "axis": "x"},
        },
    } | more  # fmt: skip


@pytest.mark.parametrize("name", SOILS)
@pytest.mark.parametrize("weight", [3e3, 8e3])
def test_rigid_wheel_sinkage_matches_bekker(name: str, weight: float):
    """Sinkage [3 W/((3 - n)(k_c + b k_phi) sqrt(D))]^(2/(2n + 1)) and compaction resistance of a rolling wheel.

    Viscosity and damping times settling speed, 3100 N.s/m * 0.005 m/s, beside the load: 5e-3; the elastic part, W/1e8, beside the sinkage: 3e-3."""
    width, diameter, soil = 0.25, 1.1, SOILS[name]
    found = load(
        rig(
            soil | {"width": width, "viscosity": 100.0, "stiffness": 1e8, "damping": 3e3},
            weight,
            "0.03*t",
        )
    ).compile()
    result = found.simulate(80.0, output_step=1.0, tolerance=1e-8, integrator="radau")
    n, k = soil["exponent"], soil["cohesion_modulus"] + width * soil["friction_modulus"]
    sinkage = (3 * weight / ((3 - n) * k * np.sqrt(diameter))) ** (2 / (2 * n + 1))
    resistance = (3 * weight / np.sqrt(diameter)) ** ((2 * n + 2) / (2 * n + 1)) / (
        (3 - n) ** ((2 * n + 2) / (2 * n + 1)) * (n + 1) * k ** (1 / (2 * n + 1))
    )
    assert result["load"][-1] == pytest.approx(weight, rel=1e-4)
    assert result["w.settlement"][-1] == pytest.approx(sinkage, rel=0.01)
    assert -result["pull"][-1] == pytest.approx(resistance, rel=0.01)


WHEEL = SOILS["sandy loam"] | {"width": 0.25, "viscosity": 100.0, "stiffness": 1e8, "damping": 3e3}


def test_ruts_persist_on_tracks():
    """There and back on a track: a rut is left behind, soil beyond the turn is fresh, and in its own rut the wheel rolls nearly freely."""
    track = {"at": [0, 0, 0], "along": "x", "length": 4.0, "cells": 41}
    way = "1 - cos(0.1*t)"  # to x = 2 m, at 10 pi s
    system = load(rig(WHEEL | {"track": track}, 5e3, way)).compile()
    result = system.simulate(
        20 * np.pi, output_step=0.05 * np.pi, tolerance=1e-7, integrator="radau"
    )
    ruts = np.array([result[f"w.rut_{k}"][-1] for k in range(1, 42)])
    depth = result["w.settlement"][np.abs(result.time - 5 * np.pi).argmin()]
    assert ruts[2:19] == pytest.approx(
        depth, rel=0.05
    )  # up to 1.8 m; where it was put down it sank deeper
    assert ruts[22:].max() == 0.0  # from 2.2 m on
    there, back = (
        result["pull"][np.abs(result.time - t).argmin()] for t in (5 * np.pi, 15 * np.pi)
    )
    assert there < -100.0 and abs(back) < 0.1 * abs(there)


def test_soil_without_track_has_no_memory():
    system = load(rig(WHEEL, 5e3, "1 - cos(0.1*t)")).compile()
    result = system.simulate(
        20 * np.pi, output_step=0.05 * np.pi, tolerance=1e-7, integrator="radau"
    )
    there, back = (
        result["pull"][np.abs(result.time - t).argmin()] for t in (5 * np.pi, 15 * np.pi)
    )
    assert there < -100.0 and back == pytest.approx(-there, rel=0.01)


def test_the_second_wheel_rolls_in_the_rut_of_the_first():
    """Two wheels one behind the other: the second pays little; with soil of its own it pays as the first does."""
    track = {"at": [-3, 0, 0], "along": "x", "length": 6.0, "cells": 61}
    pulls = {}
    for follows in ((), ("w",)):
        d = rig(WHEEL | {"track": track}, 8e3, "0.05*t")
        d["joints"]["j"]["transforms"].append({"rotate": "y", "coordinate": "pitch"})
        d["bodies"]["b"] |= {"inertia": [300, 300, 300, 0, 0, 0]}
        first = d["forces"]["w"] | {"point": [1, 0, 0]}
        second = first | {
            "point": [-1, 0, 0],
            "soil": first["soil"] | {"track": track | {"follows": follows}},
        }
        d["forces"] = {"w": first, "v": second}
        d["outputs"] |= {"second": {"quantity": "force", "force": "v", "axis": "x"}}
        result = (
            load(d).compile().simulate(50.0, output_step=1.0, tolerance=1e-7, integrator="radau")
        )
        pulls[follows] = result["second"][-1] / result["pull"][-1]
    assert pulls[()] == pytest.approx(1.0, abs=0.05) and 0.0 <= pulls[("w",)] < 0.2


def test_soil_stops_a_wheel_that_coasts():
    """Kinetic energy pays the rut: what the soil takes is what the motion loses, and at rest nothing pulls."""
    d = rig(WHEEL, 5e3, "0")
    d["joints"]["j"]["transforms"][0] = {"shift": "x", "coordinate": "x", "speed": 1.5}
    d["outputs"] |= {
        "lost": {"quantity": "dissipated_energy", "force": "w"},
        "E": {"quantity": "energy"},
    }
    del d["outputs"]["x"]
    result = load(d).compile().simulate(6.0, output_step=0.02, tolerance=1e-8, integrator="radau")
    assert result["E"] + result["lost"] == pytest.approx(
        result["E"][0], abs=1e-3 * result["lost"][-1]
    )
    assert 0.5 < result["x"][-1] < 3.0 and abs(result["der(x)"][-1]) < 1e-3
    assert np.diff(result["E"]).max() < 1e-5 * result["E"][0]


def test_body_rests_on_elastic_soil():
    """Statics finds settlement and deflection: k e = weight, and the strength has grown to the load."""
    soil = {
        "strength": 5.0,
        "hardening": 1e3,
        "viscosity": 200.0,
        "stiffness": 2e3,
        "damping": 50.0,
    }
    d = plate(soil, "20")
    rest = load(d).compile().equilibrium()
    assert rest.states["c.deflection"] == pytest.approx(20.0 / 2e3, rel=1e-9)
    assert rest.states["c.settlement"] == pytest.approx((20.0 - 5.0) / 1e3, rel=1e-5)


MISTAKES = [
    ("contact", {"viscosity": 1.0}, "soil: found nothing that carries"),
    ("contact", {"viscosity": 0.0, "strength": 1.0}, "viscosity: found 0, expected a number > 0"),
    ("contact", BEKKER, "soil.area: found nothing"),
    ("tyre", {k: v for k, v in BEKKER.items() if k != "width"}, "soil.width: found nothing"),
    ("tyre", BEKKER | {"area": 0.1}, "soil.area: found area, expected no area"),
    ("tyre", ELASTIC | {"width": 0.1}, "soil.width: found width, expected friction_modulus"),
    ("contact", {"strength": 1.0, "viscosity": 1.0, "stiffness": 10.0}, "soil.damping: found 0"),
    (
        "contact",
        {"strength": 1.0, "viscosity": 1.0, "damping": 10.0},
        "soil.stiffness: found nothing",
    ),
    ("jack", ELASTIC | {"track": TRACK}, "only tyres roll|no track"),
    ("tyre", ELASTIC | {"track": TRACK | {"follows": ["nobody"]}}, "unknown force 'nobody'"),
    ("tyre", ELASTIC | {"track": TRACK | {"cells": 1}}, "cells"),
    ("tyre", ELASTIC | {"track": TRACK | {"along": [0, 0, 0]}}, "a direction of length 0"),
]


@pytest.mark.parametrize(("kind", "soil", "says"), MISTAKES)
def test_soil_description_mistakes_are_named(kind: str, soil: dict, says: str):
    with pytest.raises(ModelError, match=says):
        load(random_mechanism(kind, 1, soil=soil))
