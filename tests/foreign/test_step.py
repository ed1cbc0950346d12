"""Parts in STEP: mass properties, holes offered as joints, masses that follow the density."""

import numpy as np
import pytest
from step_parts import BALL, BEAM, write_step

from kinetree.models import ModelError, load
from kinetree.models.description.step_files import read_step
from kinetree.models.foreign.step import describe


def test_step_solids_become_bodies_with_mass_properties(tmp_path):
    write_step(tmp_path / "part.step")
    description, told = describe(tmp_path / "part.step", density=1000.0)
    assert list(description["bodies"]) == ["part1", "part2"]
    mechanism = load(description)
    system = mechanism.compile()
    M = system.mass_matrix(0.0, system.start()[0])
    assert M[0, 0] == pytest.approx(1000 * BEAM, rel=1e-12)
    assert M[6, 6] == pytest.approx(1000 * BALL, rel=1e-9)
    heavier = load(description).compile(density=2000.0)
    assert heavier.mass_matrix(0.0, heavier.start()[0]) == pytest.approx(2.0 * M)
    assert not [each for each in told if "surfaces" in each]


def test_step_holes_and_pins_are_found_and_can_carry_the_part(tmp_path):
    write_step(tmp_path / "part.step")
    description, told = describe(tmp_path / "part.step", pin=1)
    offers = [each for each in told if each.startswith("offered")]
    assert len(offers) == 3 and "hole" in offers[0] and "0.04 m" in offers[0]
    assert "pin of" in offers[2] and "0.02 m" in offers[2]
    pin = description["joints"]["pin"]
    assert pin["child"] == "part1" and pin["axis"] == pytest.approx([0, 1, 0])
    assert pin["at"] == pytest.approx([0.1, 0, 0], abs=1e-12)
    result = load(tmp_path / "part.step").compile().simulate(stop_time=0.1, output_step=0.05)
    assert result.time[-1] == pytest.approx(0.1)


def test_step_meshes_are_closed_and_face_outwards(tmp_path):
    write_step(tmp_path / "part.step")
    for solid, volume in zip(read_step(tmp_path / "part.step").solids, (BEAM, BALL), strict=True):
        a, b, c = solid.points[solid.triangles.reshape(-1, 3)].transpose(1, 0, 2)
        enclosed = (
            np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0
        )  # signed: faces turned in count less
        assert enclosed == pytest.approx(volume, rel=0.05)


def test_step_hole_positions_have_no_rounding_residues(tmp_path):
    write_step(tmp_path / "part.step")
    for solid in read_step(tmp_path / "part.step").solids:
        for each in solid.cylinders:
            assert all(len(repr(x)) < 14 for x in (*each.at, *each.axis, each.radius, each.length))


def test_invalid_step_options_are_refused(tmp_path):
    write_step(tmp_path / "part.step")
    for wish in ({"pin": 4}, {"pin": 0}, {"density": 0.0}):
        with pytest.raises(ModelError):
            describe(tmp_path / "part.step", **wish)
    with pytest.raises(ModelError):
        load(tmp_path / "not-there.step")
