"""Assemblies of CAD programs: Simscape Multibody XML of both generations."""

import numpy as np
import pytest
from cad_assemblies import (
    LINKS,
    MASSES,
    first_generation,
    inertia,
    native,
    poses,
    second_generation,
)

from kinetree.models import ModelError, load
from kinetree.models.foreign.mates import Geometry, Mate, freedoms_of
from kinetree.models.foreign.simscape import describe

FILES = {
    "joints": second_generation(joints=True),
    "mates": second_generation(joints=False),
    "inches and pounds": second_generation(joints=False, length="inch", mass="pound"),
    "millimetres": second_generation(joints=True, length="millimeter"),
    "first generation": first_generation(),
}


def described(tmp_path, text: str) -> tuple[dict, list[str]]:
    path = tmp_path / "machine.xml"
    path.write_text(text, encoding="utf-8")
    description = load(path).description
    return description, list(description.left_out)


@pytest.mark.parametrize("name", FILES)
def test_simscape_masses_and_inertias_are_imported(tmp_path, name):
    description, _ = described(tmp_path, FILES[name])
    assert len(description.bodies) == 3
    for link, mass in MASSES.items():
        body = next(body for key, body in description.bodies.items() if key.startswith(link))
        assert body.mass == pytest.approx(mass, rel=1e-12)
        assert body.com == pytest.approx([LINKS[link] / 2, 0, 0], abs=1e-12)
        J = inertia(link)
        order = [J[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        assert body.inertia == pytest.approx(order, rel=1e-9)


@pytest.mark.parametrize("name", FILES)
def test_simscape_loops_match_reference(tmp_path, name):
    """The place of the middle of the coupler over a second."""
    path = tmp_path / "machine.xml"
    path.write_text(FILES[name], encoding="utf-8")
    from kinetree.models.description.reading.read_source import foreign_reader

    raw, _ = foreign_reader(path)()
    tracks = []
    for description in (raw, native()):
        coupler = next(key for key in description["bodies"] if key.startswith("coupler"))
        description["gravity"] = [0, -9.81, 0]
        description["outputs"] = {
            "p": {"quantity": "position", "body": coupler, "point": [1.0, 0, 0]}
        }
        result = (
            load(description).compile().simulate(stop_time=1.0, output_step=0.1, tolerance=1e-9)
        )
        tracks.append(np.column_stack([result[f"p[{k}]"] for k in (1, 2, 3)]))
    assert tracks[0][0] == pytest.approx(poses()["coupler"][0] @ [1, 0, 0] + poses()["coupler"][1])
    assert np.ptp(tracks[1], axis=0).max() > 0.3
    assert tracks[0] == pytest.approx(tracks[1], abs=1e-6)


def test_simscape_joints_with_frames_keep_coordinates(tmp_path):
    """An angle is that from the base frame to the follower frame of the file."""
    description, _ = described(tmp_path, FILES["joints"])
    by_hand = native()["joints"]
    for pin in "ABCD":
        assert description.joints[pin].start[0] == pytest.approx(by_hand[pin]["start"], abs=1e-9)


def test_simscape_omissions_and_assumptions_are_named(tmp_path):
    text = FILES["mates"].replace("</Constraints>", GEAR + "</Constraints>")
    text = text.replace(' grounded="true"', "")
    _, told = described(tmp_path, text)
    assert any("Gear" in each and "GearMate1" in each for each in told)
    assert any(each.startswith("assumed") and "stands on the ground" in each for each in told)
    assert any("4 geometry files" in each for each in told)


GEAR = (
    '<Gear name="GearMate1"><ConstraintGeometry geomType="circle"><InstancePath><Uid>crank-1</Uid>'
    '</InstancePath><Position>0 0 0</Position><Axis>0 0 1</Axis></ConstraintGeometry>'
    '<ConstraintGeometry geomType="circle"><InstancePath><Uid>rocker-1</Uid></InstancePath>'
    "<Position>0 0 0</Position><Axis>0 0 1</Axis></ConstraintGeometry></Gear>"
)  # fmt: skip


def test_simscape_welded_parts_merge_and_loose_parts_move_freely(tmp_path):
    weld = FILES["joints"].replace('<Revolute name="B">', '<Weld name="B">', 1)
    end = weld.index("</Revolute>", weld.index('<Weld name="B">'))
    weld = weld[:end] + "</Weld>" + weld[end + len("</Revolute>") :]
    description, told = described(tmp_path, weld)
    assert len(description.bodies) == 2
    total = sum(body.mass for body in description.bodies.values())
    assert total == pytest.approx(sum(MASSES.values()), rel=1e-12)
    loose = FILES["joints"]
    for pin in "CD":
        begin = loose.index(f'<Revolute name="{pin}">')
        end = loose.index("</Revolute>", begin) + len("</Revolute>")
        loose = loose[:begin] + loose[end:]
    description, told = described(tmp_path, loose)
    assert any("moves freely" in each for each in told)
    assert any(joint.type == "free" for joint in description.joints.values())


BAD = {
    "no XML": FILES["mates"][:-100],
    "entities": FILES["mates"].replace("<Sim", '<!DOCTYPE x [<!ENTITY a "b">]><Sim', 1),
    "unit": FILES["mates"].replace('"meter"', '"furlong"'),
    "number": FILES["mates"].replace("<Mass>", "<Mass>x"),
    "not finite": FILES["mates"].replace("<Mass>", "<Mass>1e999 "),
    "instance": FILES["mates"].replace("<Uid>crank-1", "<Uid>crank-2"),
    "rotation": FILES["mates"].replace("<Rotation>1.0", "<Rotation>3.0", 1),
    "no frame": FILES["first generation"].replace('ref="1"', 'ref="77"', 1),
    "no centre": FILES["first generation"].replace('"CG"', '"CX"'),
    "circle of frames": FILES["first generation"].replace('Origin>"WORLD"', 'Origin>"CG"'),
}


@pytest.mark.parametrize("name", BAD)
def test_damaged_simscape_files_are_refused_in_one_line(tmp_path, name):
    with pytest.raises(ModelError) as caught:
        described(tmp_path, BAD[name])
    assert "machine.xml" in str(caught.value) and len(str(caught.value).splitlines()) == 1


# -- mates as joints ----------------------------------------------------------------------------------
def geometry(kind: str, point=(0, 0, 0), axis=(0, 0, 1)) -> Geometry:
    return Geometry(kind, np.array(point, float), np.array(axis, float))


def joint(*mates: tuple[str, Geometry, Geometry]) -> str:
    found = freedoms_of([Mate(kind, kind, "a", "b", (g, h)) for kind, g, h in mates], 1.0)
    return found.kind or ", ".join(way for way, _ in found.moves)


PLANE, LINE = geometry("plane"), geometry("cylinder")
CASES = {
    "revolute": [("Concentric", LINE, LINE), ("Coincident", PLANE, PLANE)],
    "cylindrical": [("Concentric", LINE, LINE)],
    "planar": [("Coincident", PLANE, geometry("plane", (1, 2, 0)))],
    "prismatic": [("Coincident", PLANE, PLANE), ("Coincident", *[geometry("plane", axis=(0, 1, 0))] * 2)],
    "spherical": [("Coincident", geometry("point"), geometry("sphere"))],
    "rigid": [("Lock", PLANE, PLANE)],
    "slide, turn": [
        ("Coincident", PLANE, PLANE),
        ("Coincident", geometry("point"), geometry("plane", axis=(1, 0, 0))),
    ],
    "slide, slide": [("Parallel", *[geometry("plane", axis=(1, 0, 0))] * 2), ("Coincident", PLANE, PLANE)],
    "slide, slide, turn, turn": [("Tangent", LINE, geometry("plane", (1, 0, 0), (1, 0, 0)))],
    "universal": [
        ("Coincident", geometry("point"), geometry("point")),
        ("Perpendicular", LINE, geometry("line", axis=(1, 0, 0))),
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_mates_of_two_parts_become_the_remaining_joint(kind):
    assert joint(*CASES[kind]) == kind


def test_distance_and_angle_mates_constrain_like_coincidences():
    apart = geometry("plane", (0, 0, 0.5))
    assert joint(("Concentric", LINE, LINE), ("Distance", PLANE, apart)) == "revolute"
    turned = geometry("plane", axis=(1, 1, 0))
    hinge = [("Concentric", LINE, LINE), ("Angle", geometry("plane", axis=(1, 0, 0)), turned)]
    assert joint(*hinge) == "prismatic"


def test_meaningless_import_options_are_refused():
    with pytest.raises(TypeError):
        describe("x.xml", floating=True)  # type: ignore[call-arg]
