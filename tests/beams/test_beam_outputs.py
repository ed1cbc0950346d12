"""Deflections, section loads and stresses of beams."""

import math

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.expressions.nodes import Const
from kinetree.models.language.parts.beam_parts import Section
from kinetree.models.quantities.cross_sections import moments, sizes_of, von_mises
from kinetree.scripts.bench.flexible_cases import described

LENGTH, MASS, G = 3.0, 5.0, 9.81
TUBE = {"tube": [0.05, 0.045]}
AREA = math.pi * (0.05**2 - 0.045**2)
SECOND = math.pi / 4 * (0.05**4 - 0.045**4)


def loaded(**more) -> dict:
    """A clamped tube with a load at its tip, under gravity."""
    d = described(
        {"b": {"length": LENGTH, "section": TUBE, "damping": 0.02}},
        {
            "root": {"child": "b", "type": "rigid"},
            "tip": {"parent": "b", "station": LENGTH, "child": "load", "type": "rigid"},
        },
        2.1e11, 8.1e10, 7850.0,
        bodies={"load": {"mass": MASS, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
        gravity=[0, 0, -G],
        outputs={
            f"{axis}_{k}": {"quantity": "section_load", "beam": "b", "station": s, "axis": axis}
            for axis in ("n", "vz", "my")
            for k, s in enumerate((0.0, 1.1, LENGTH))
        }
        | {"stress": {"quantity": "stress", "beam": "b", "station": 0.0}},
    )  # fmt: skip
    return d | more


def test_static_section_loads_match_loads_beyond_the_section():
    found = load(loaded()).compile().equilibrium().outputs
    line = 7850.0 * AREA
    for k, s in enumerate((0.0, 1.1, LENGTH)):
        left = LENGTH - s
        assert found[f"vz_{k}"] == pytest.approx(-(MASS + line * left) * G, rel=1e-3)
        assert found[f"my_{k}"] == pytest.approx(
            (MASS * left + line * left**2 / 2) * G, rel=1e-3, abs=1e-2
        )
    bent = found["my_0"] * 0.05 / SECOND
    assert found["stress"] == pytest.approx(bent, rel=1e-3)


def test_dynamic_section_loads_balance_inertia_beyond_the_section():
    """A beam that is turned with a given acceleration: the moment at the root is that of the moving mass, bent as it is."""
    d = loaded(gravity=[0, 0, 0])
    d["joints"]["root"] = {"child": "b", "transforms": [{"rotate": "y", "by": "0.5*t**2"}]}
    d["outputs"]["spin"] = {"quantity": "angular_momentum", "about": "point", "axis": "y"}
    result = load(d).compile().simulate(stop_time=0.5, output_step=1e-3, tolerance=1e-9)
    change = np.gradient(result["spin"], result.time, edge_order=2)
    assert -result["my_0"][5:-5] == pytest.approx(change[5:-5], abs=2e-3 * np.abs(change).max())


def test_stresses_are_shown_in_megapascals_by_default():
    d = loaded()
    d["outputs"] |= {"in_bar": d["outputs"]["stress"] | {"unit": "bar"}}
    result = load(d).compile().simulate(stop_time=0.01)
    assert result.display_unit("stress") == "MPa" and result.unit("stress") == "Pa"
    assert result.display_unit("in_bar") == "bar"


def test_moments_are_shown_in_units_of_moments():
    d = loaded()
    d["outputs"] = {
        "m": {"quantity": "section_load", "beam": "b", "station": 0, "axis": "mx", "unit": "kN.m"},
        "v": {"quantity": "section_load", "beam": "b", "station": 0, "axis": "vz", "unit": "kN"},
    }
    assert load(d).compile().simulate(stop_time=0.01).unit("m") == "N.m"


def test_axial_force_in_tension_is_positive():
    d = loaded(gravity=[G, 0, 0])
    found = load(d).compile().equilibrium().outputs
    assert found["n_0"] == pytest.approx((MASS + 7850.0 * AREA * LENGTH) * G, rel=1e-5)


def stress(section: dict, **load_values: float) -> float:
    """Von Mises stress of a section under some loads."""
    loads = [E(Const(load_values.get(key, 0.0))) for key in ("n", "vy", "vz", "mx", "my", "mz")]
    node = von_mises(sizes_of(Section.model_validate(section)), tuple(loads)).node  # type: ignore[arg-type]
    return float(node.value)


def test_stresses_of_section_shapes_match_textbook_formulas():
    assert stress({"tube": [0.02, 0.0]}, mx=100.0) == pytest.approx(
        math.sqrt(3.0) * 2 * 100.0 / (math.pi * 0.02**3)
    )
    assert stress({"rectangle": [0.2, 0.1]}, my=100.0) == pytest.approx(6 * 100.0 / (0.1 * 0.2**2))
    assert stress({"rectangle": [0.2, 0.1]}, mz=100.0) == pytest.approx(6 * 100.0 / (0.2 * 0.1**2))
    assert stress({"rectangle": [0.2, 0.1]}, vz=100.0) == pytest.approx(
        math.sqrt(3.0) * 1.5 * 100.0 / 0.02
    )
    box = {"box": [0.2, 0.1, 0.005]}
    assert stress(box, mx=100.0) == pytest.approx(
        math.sqrt(3.0) * 100.0 / (2 * 0.005 * 0.195 * 0.095)
    )
    assert stress(box, n=-100.0) == pytest.approx(100.0 / (0.2 * 0.1 - 0.19 * 0.09))


def test_section_constants_match_textbook_formulas():
    found = moments(sizes_of(Section.model_validate({"rectangle": [0.2, 0.1]})))
    assert found[:3] == pytest.approx((0.02, 0.1 * 0.2**3 / 12, 0.2 * 0.1**3 / 12))
    assert found.j == pytest.approx(0.229 * 0.2 * 0.1**3, rel=2e-3)  # Timoshenko, h/b = 2
    box = moments(sizes_of(Section.model_validate({"box": [0.1, 0.1, 0.001]})))
    assert box.j == pytest.approx(0.099**3 * 0.001)


def test_beam_damping_key_sets_damping_ratio_of_first_mode():
    d = loaded()
    del d["joints"]["tip"], d["bodies"]["load"]
    d["gravity"] = [0, 0, 0]
    modes = sorted(load(d).compile().equilibrium().modes, key=lambda mode: mode.frequency)
    assert modes[0].damping == pytest.approx(0.02, rel=1e-3)


def test_total_energy_includes_elastic_energy_of_beams():
    d = loaded()
    d["beams"]["b"]["damping"] = 0.0
    d["outputs"] = {"energy": {"quantity": "energy"}}
    result = load(d).compile().simulate(stop_time=0.5, output_step=0.01, tolerance=1e-9)
    assert np.ptp(result["energy"]) < 1e-6 * 5.0
