"""Flexible beams against closed forms and published numbers."""

import math

import numpy as np
import pytest

from kinetree.models import load
from kinetree.scripts.bench import elastic_crank, swinging_cable
from kinetree.scripts.bench import flexible_cases as cases


@pytest.mark.parametrize("supports", cases.ROOTS)
@pytest.mark.parametrize("bending", ["z", "all"])
def test_default_segments_give_three_frequencies_within_half_a_percent(supports: str, bending: str):
    if bending == "all" and supports != "clamped":
        pytest.skip("the supports leave other motions free")
    assert np.abs(cases.frequency_errors(supports, bending=bending)).max() < 5e-3


def test_shear_and_extension_lower_frequencies_as_in_timoshenko_beams():
    """r/L = 0.05 and shear area A/2.8: the first frequency is lower by the known part (Timoshenko's equation, clamped)."""
    slender = cases.frequencies(load(cases.uniform()).compile(), 1)[0]
    radius = 0.05 * cases.LENGTH
    area = cases.BENDING / cases.AXIAL / radius**2
    section = {"area": area, "iy": 1.0, "iz": cases.BENDING / cases.AXIAL, "j": 1.0}
    section["shear_area"] = [area, area]
    d = cases.uniform(section=section, shear=True, extension=True, segments=8)
    d["materials"]["material"]["density"] = cases.LINE / area
    soft = cases.frequencies(load(d).compile(), 1)[0]
    assert soft / slender == pytest.approx(timoshenko(0.05, 2.0), abs=2e-4)


def timoshenko(slenderness: float, ratio: float) -> float:
    """First frequency of a clamped-free Timoshenko beam over Euler's; ratio = E/(kappa G), by bisection of its determinant."""
    r2, s2 = slenderness**2, slenderness**2 * ratio

    def determinant(b2: float) -> float:  # b2 = rho A w^2 L^4/(E I); Huang (1961)
        root = math.sqrt((r2 - s2) ** 2 + 4.0 / b2)
        a, b = (math.sqrt(0.5 * (sign * (r2 + s2) + root)) for sign in (-1.0, 1.0))
        k = math.sqrt(b2)
        return (
            2.0
            + (b2 * (r2 - s2) ** 2 + 2.0) * math.cosh(k * a) * math.cos(k * b)
            - k * (r2 + s2) / math.sqrt(1.0 - b2 * r2 * s2) * math.sinh(k * a) * math.sin(k * b)
        )

    low, high = 8.0, 13.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if determinant(low) * determinant(middle) > 0 else (low, middle)
    return math.sqrt(low) / cases.ROOTS["clamped"][0] ** 2


def test_tip_deflection_under_force_and_moment_and_weight_is_exact():
    force, moment, weight = 0.02, 0.03, 0.01
    d = cases.uniform()
    end = {"kind": "wrench", "body": "beam", "station": cases.LENGTH}
    d["forces"] = {"end": {**end, "force": [0, force, 0], "moment": [0, 0, moment]}}
    d["gravity"] = [0, -weight, 0]
    d["outputs"] = cases.tip_outputs("y")
    found = load(d).compile().equilibrium().outputs["tip_y"]
    bent = force * cases.LENGTH**3 / 3.0 + moment * cases.LENGTH**2 / 2.0
    bent -= weight * cases.LINE * cases.LENGTH**4 / 8.0
    assert found == pytest.approx(bent / cases.BENDING, rel=1e-6)


def test_interior_load_and_deflection_at_its_station_are_exact():
    place, force = 0.37 * cases.LENGTH, 0.05
    d = cases.uniform()
    d["forces"] = {
        "f": {"kind": "wrench", "body": "beam", "station": place, "force": [0, force, 0]}
    }
    d["outputs"] = cases.tip_outputs("y") | {
        "there": {"quantity": "deflection", "beam": "beam", "station": place, "axis": "y"}
    }
    found = load(d).compile().equilibrium().outputs
    there = force * place**3 / (3.0 * cases.BENDING)
    tip = there + force * place**2 / (2.0 * cases.BENDING) * (cases.LENGTH - place)
    assert found["there"] == pytest.approx(there, rel=1e-6)
    assert found["tip_y"] == pytest.approx(tip, rel=1e-6)


def test_taper_deflects_as_the_integral_of_its_curvature():
    depth, wide, young, force = (0.2, 0.08), 0.05, 2.1e11, 50.0
    section = [[at, {"rectangle": [h, wide]}] for at, h in zip((0.0, 3.0), depth, strict=True)]
    d = cases.described(
        {"b": {"length": 3.0, "section": section, "segments": 8}},
        {"root": {"child": "b", "type": "rigid"}}, young, 8e10, 7850.0,
        forces={"f": {"kind": "wrench", "body": "b", "station": 3.0, "force": [0, 0, force]}},
        outputs=cases.tip_outputs("z", 3.0, "b"),
    )  # fmt: skip
    x = np.linspace(0.0, 3.0, 20001)
    iy = wide * np.interp(x, (0.0, 3.0), depth) ** 3 / 12.0
    exact = np.trapezoid(force * (3.0 - x) ** 2 / (young * iy), x)
    system = load(d).compile()
    assert system.equilibrium().outputs["tip_z"] == pytest.approx(exact, rel=2e-3)
    masses = [system.description.bodies[name].mass for name in system.bodies]
    assert sum(masses) == pytest.approx(7850.0 * 3.0 * 0.14 * wide, rel=1e-12)


def test_end_moment_rolls_beam_into_circle():
    assert cases.roll_up(1.0, segments=6) < 1e-9
    assert cases.roll_up(0.5, segments=6) < 2.2e-3


def test_column_buckles_at_euler_load():
    assert cases.buckling_load(segments=12) == pytest.approx(1.0, abs=5e-4)


@pytest.mark.parametrize("speed, flap", [(2, 4.1373), (6, 7.3604), (10, 11.2031)])
def test_flapping_of_a_rotating_beam_is_stiffened(speed: float, flap: float):
    assert cases.rotating_frequency(speed, segments=8) == pytest.approx(flap, rel=1.5e-3)


def test_lateral_buckling_load_matches_prandtl():
    assert cases.lateral_buckling_load(segments=12) == pytest.approx(1.0, abs=3e-3)


def test_spin_up_matches_simo_and_vu_quoc():
    found = cases.spin_up(segments=8, extension=True)
    assert found["lag"] == pytest.approx(0.5738, abs=6e-4)
    assert found["stretch"] == pytest.approx(5.14e-4, rel=2e-3)


@pytest.mark.slow
def test_princeton_beam_deflections_match_reference():
    found = cases.princeton()
    assert np.abs(found[:, 0] - cases.PRINCETON_V).max() < 0.5e-3
    assert np.abs(found[:, 1] - cases.PRINCETON_W).max() < 0.5e-3


def test_bend_of_45_degrees_matches_bathe_and_bolourchi():
    assert cases.bend() == pytest.approx(np.array(cases.BEND_TIP), abs=0.2)


def test_whirl_of_a_turning_shaft_is_split_by_its_gyroscopic_moments():
    turning, exact = cases.whirl(2.0)
    assert turning == pytest.approx(exact, abs=1e-3)
    assert abs(exact - 1.0) > 5e-3  # of a shaft without rotary inertia


def test_soft_pendulum_moves_as_cable_elements_of_exudyn():
    pytest.importorskip("exudyn")
    here, there = swinging_cable.ours(segments=5), swinging_cable.theirs(step=1e-3)
    assert (here.x, here.y) == pytest.approx((there.x, there.y), abs=3e-4)


def test_elastic_slider_crank_matches_ivp_test_set(tmp_path):
    """Published to 14 digits; Mazzia, Magherini: Test Set for Initial Value Problem Solvers, "slider crank"."""
    found, known = elastic_crank.end_of_crank(tmp_path), elastic_crank.published_end()
    assert found["angle"] == pytest.approx(known["angle"], abs=1e-12)
    assert found["x"] == pytest.approx(known["x"], abs=1e-12)
    assert found["shapes"] == pytest.approx(known["shapes"], abs=1e-12)
