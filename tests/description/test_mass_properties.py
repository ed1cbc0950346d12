"""Mass, centre of mass and inertia of bodies from the density of their shapes."""

import math
from itertools import pairwise

import numpy as np
import pytest
from step_parts import BALL, BEAM, write_step

from kinetree.models import ModelError, load
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.language.parameters import evaluate_parameters

RHO = 2700.0
TIGHT = {"rel": 1e-12, "abs": 1e-13}


def described(body: dict, **more) -> dict:
    joint = {"j": {"child": "b", "type": "free"}}
    return {"format": "kinetree/1", "bodies": {"b": body}, "joints": joint} | more


def properties(body: dict, **more) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and tensor about it."""
    description = load(described(body, **more)).description
    values, _ = evaluate_parameters({k: p.value for k, p in description.parameters.items()})
    b = description.bodies["b"]
    mass = evaluate_constant(b.mass, values)
    com = np.array([evaluate_constant(each, values) for each in b.com])
    given = b.inertia or b.inertia_at_origin
    xx, yy, zz, xy, xz, yz = (evaluate_constant(each, values) for each in given)
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if b.inertia is None:
        J = J - mass * (com @ com * np.eye(3) - np.outer(com, com))
    return mass, com, J


def solid(shape: dict) -> tuple[float, np.ndarray, np.ndarray]:
    return properties({"density": RHO, "shapes": [shape]})


def test_mass_properties_of_primitive_shapes_match_closed_forms():
    a, b, c, r, h = 0.4, 0.3, 0.2, 0.05, 0.7
    m, com, J = solid({"box": [a, b, c]})
    assert m == pytest.approx(RHO * a * b * c, **TIGHT) and not com.any()
    box = m / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    assert pytest.approx(box, **TIGHT) == J
    m, _, J = solid({"cylinder": [r, h]})
    side = m * (r * r / 4 + h * h / 12)
    assert m == pytest.approx(RHO * math.pi * r * r * h, **TIGHT)
    assert np.diag(J) == pytest.approx([side, side, m * r * r / 2], **TIGHT)
    m, _, J = solid({"sphere": r})
    assert m == pytest.approx(RHO * 4 / 3 * math.pi * r**3, **TIGHT)
    assert np.diag(J) == pytest.approx([0.4 * m * r * r] * 3, **TIGHT)
    m, _, J = solid({"capsule": [r, h]})
    middle, ends = RHO * math.pi * r * r * h, RHO * 4 / 3 * math.pi * r**3
    side = middle * (r * r / 4 + h * h / 12) + ends * (0.4 * r * r + h * h / 4 + 3 / 8 * h * r)
    assert m == pytest.approx(middle + ends, **TIGHT)
    assert np.diag(J) == pytest.approx(
        [side, side, middle * r * r / 2 + ends * 0.4 * r * r], **TIGHT
    )


@pytest.mark.parametrize("corners", [[[0, 0], [0.3, 0], [0, 0.6]], [[0, 0], [0, 0.6], [0.3, 0]]])
def test_extrusion_mass_properties_do_not_depend_on_outline_orientation(corners):
    h = 0.5
    m, com, J = solid({"extrusion": corners, "height": h})
    assert m == pytest.approx(RHO * 0.09 * h, **TIGHT)
    assert com == pytest.approx([0.1, 0.2, 0.0], **TIGHT)
    xx, yy, xy = m * 0.6**2 / 18, m * 0.3**2 / 18, m * 0.3 * 0.6 / 36  # of a triangle
    assert J[0, 0] == pytest.approx(xx + m * h * h / 12, **TIGHT)
    assert J[1, 1] == pytest.approx(yy + m * h * h / 12, **TIGHT)
    assert J[2, 2] == pytest.approx(xx + yy, **TIGHT)
    assert J[0, 1] == pytest.approx(xy, **TIGHT)


def test_mass_properties_use_drawn_shape_poses():
    """Far away from the origin, too, nothing is lost."""
    far, r, h = [120.0, -50.0, 3.0], 0.1, 0.8
    m, com, J = solid({"cylinder": [r, h], "axis": [1, 0, 0], "at": far})
    assert com == pytest.approx(far, **TIGHT)
    side = m * (r * r / 4 + h * h / 12)
    assert np.diag(J) == pytest.approx([m * r * r / 2, side, side], **TIGHT)
    a, b, c = 0.1, 0.2, 0.5
    m, _, J = solid({"box": [a, b, c], "rotate": [0.3, -0.4, 0.5]})
    from scipy.spatial.transform import Rotation

    R = Rotation.from_euler("xyz", [0.3, -0.4, 0.5]).as_matrix()
    J0 = m / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    assert pytest.approx(R @ J0 @ R.T, **TIGHT) == J
    _, _, along = solid({"box": [a, b, c], "axis": [0.2, 0.3, -0.5]})
    _, _, written = properties(
        {"density": RHO, "shapes": [{"box": [a, b, c], "axis": ["0.2*k", "0.3*k", "-0.5*k"]}]},
        parameters={"k": 3.0},
    )
    assert written == pytest.approx(along, **TIGHT)


def test_mass_properties_of_several_shapes_add_up():
    """A steel ball on an aluminium rod; paint has no mass; the material of a shape wins."""
    materials = {"steel": {"density": 7850.0}, "alu": {"density": {"value": 2.7, "unit": "g/cm3"}}}
    body = {
        "material": "alu",
        "shapes": [
            {"box": [1.0, 0.1, 0.1], "at": [0.5, 0, 0]},
            {"sphere": 0.1, "at": [1, 0, 0], "material": "steel"},
            {"box": [3, 3, 3], "density": 0},
        ],
    }
    m, com, J = properties(body, materials=materials)
    rod, ball = 27.0, 7850 * 4 / 3 * math.pi * 1e-3
    x = (rod * 0.5 + ball) / (rod + ball)
    assert m == pytest.approx(rod + ball, **TIGHT) and com == pytest.approx([x, 0, 0], **TIGHT)
    yy = rod * (1.01 / 12 + (x - 0.5) ** 2) + ball * (0.4 * 0.01 + (1 - x) ** 2)
    assert J[1, 1] == pytest.approx(yy, **TIGHT)


def test_mass_of_single_shape_key_uses_its_position():
    m, com, _ = properties({"density": 1000, "shape": {"box": [1, 1, 1]}, "at": [0, 0, 2]})
    assert m == pytest.approx(1000, **TIGHT) and com == pytest.approx([0, 0, 2], **TIGHT)


def test_mass_properties_follow_parameters():
    """Expressions over sizes and densities give the numbers that the values give."""
    shapes = [
        {"box": ["l", "w", "2*w"], "at": ["l/2", 0, 0]},
        {"capsule": ["w", "l"], "axis": "y", "density": "rho/2"},
        {"extrusion": [[0, 0], ["l", 0], ["l", "w"]], "height": "w", "rotate": [0, "tilt", 0]},
    ]
    parameters = {
        "l": {"value": 1.5, "unit": "m"}, "w": {"value": 200, "unit": "mm"}, "tilt": 1.5,
        "rho": {"value": 7850, "unit": "kg/m3"},
    }  # fmt: skip
    given = properties({"density": "rho", "shapes": shapes}, parameters=parameters)
    plain = [
        {"box": [1.5, 0.2, 0.4], "at": [0.75, 0, 0]},
        {"capsule": [0.2, 1.5], "axis": "y", "density": 3925},
        {"extrusion": [[0, 0], [1.5, 0], [1.5, 0.2]], "height": 0.2, "rotate": [0, 1.5, 0]},
    ]
    for one, other in zip(given, properties({"density": 7850, "shapes": plain}), strict=True):
        assert one == pytest.approx(other, rel=1e-11, abs=1e-11)


def test_a_density_that_changes_during_the_run_changes_the_motion():
    d = described(
        {"density": "rho", "shapes": [{"box": [1, 1, 1]}]},
        gravity=[0, 0, 0],
        parameters={"rho": {"value": 10.0, "tunable": True}},
        forces={"push": {"body": "b", "force": [20, 0, 0]}},
        events={"denser": {"when": "t > 1", "set": {"rho": "40"}}},
        outputs={"a": {"quantity": "acceleration", "body": "b", "axis": "x"}},
    )
    d["joints"]["j"] = {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["s"]}
    result = load(d).compile().simulate(stop_time=2.0, output_step=0.5)
    assert result["a"][0] == pytest.approx(2.0) and result["a"][-1] == pytest.approx(0.5)


def test_stated_mass_properties_take_precedence():
    """A stated mass scales the inertia of the shapes; a stated tensor is left alone."""
    shapes = [{"box": [1, 1, 1]}]
    m, _, J = properties({"density": 10, "mass": 11, "shapes": shapes})
    assert m == 11 and pytest.approx(11 / 6 * np.eye(3), **TIGHT) == J
    body = {"density": 10, "inertia": [1.7, 1.6, 1.5, 0, 0, 0], "com": [0.1, 0, 0]}
    m, com, J = properties(body | {"shapes": shapes})
    assert m == pytest.approx(10) and com.tolist() == [0.1, 0, 0]
    assert np.diag(J).tolist() == [1.7, 1.6, 1.5]


@pytest.mark.parametrize(
    ("stated", "key"),
    [
        ({"mass": 12.5}, "mass"),
        ({"com": [0.2, 0, 0]}, "com"),
        ({"inertia": [1.6, 1.6, 2.1, 0, 0, 0]}, "inertia"),
        ({"inertia_at_origin": [1.6, 1.6, 2.1, 0, 0, 0]}, "inertia_at_origin"),
        ({"mass": 11, "com": [0.05, 0, 0], "inertia": [1.8, 1.8, 1.9, 0, 0, 0]}, ""),
    ],
)
def test_stated_mass_properties_far_from_shapes_are_warned(stated, key):
    body = {"density": 10, "shapes": [{"box": [1, 1, 1]}]} | stated
    warnings = load(described(body)).description.warnings
    assert [each.key for each in warnings] == ([f"bodies.b.{key}"] if key else [])


BAD = {
    "bodies.b.mass": {"shapes": [{"sphere": 1}]},
    "bodies.b.material": {"material": "stel", "shapes": [{"sphere": 1}]},
    "bodies.b.shapes[0].material": {"shapes": [{"sphere": 1, "material": "wood"}]},
    "bodies.b": {"density": 1.0},
    "bodies.b.density": {"density": -1.0, "shapes": [{"sphere": 1}]},
    "bodies.b.shapes[0].mesh": {"density": 1.0, "shapes": [{"mesh": "not-there.stl"}]},
    "bodies.b.shapes[0].solid": {"mass": 1.0, "shapes": [{"sphere": 1.0, "solid": 1}]},
}


@pytest.mark.parametrize("key", BAD)
def test_densities_without_positive_mass_are_refused_by_key(key):
    with pytest.raises(ModelError) as caught:
        load(described(BAD[key], materials={"steel": {"density": 7850}}))
    assert [problem.key for problem in caught.value.problems] == [key]


def test_a_density_and_a_material_together_and_empty_shapes_are_refused():
    both = {"density": 1.0, "material": "steel", "shapes": [{"sphere": 1}]}
    for body in (both, {"density": 1.0, "shapes": [{"sphere": 0.0}]}):
        with pytest.raises(ModelError) as caught:
            load(described(body, materials={"steel": {"density": 7850}}))
        assert caught.value.problems[0].key == "bodies.b"


def test_scenery_shapes_have_no_mass():
    body = {"mass": 1.0}
    with pytest.raises(ModelError) as caught:
        load(described(body, scenery=[{"sphere": 1, "density": 3.0}]))
    assert caught.value.problems[0].key == "scenery[0]"


# -- meshes -------------------------------------------------------------------------------------------
def prism(corners, z0, z1):
    """Triangles of a straight prism over a convex outline that runs counter-clockwise."""
    n = len(corners)
    points = [[x, y, z0] for x, y in corners] + [[x, y, z1] for x, y in corners]
    faces = []
    for k in range(1, n - 1):
        faces += [[0, k + 1, k], [n, n + k, n + k + 1]]
    for a, b in pairwise([*range(n), 0]):
        faces += [[a, b, b + n], [a, b + n, a + n]]
    return np.array(points, float), np.array(faces)


def write_obj(path, points, faces):
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in points.tolist()]
    path.write_text("\n".join([*lines, *("f " + " ".join(str(k + 1) for k in f) for f in faces)]))


OUTLINE = [[0.1, 0.0], [0.9, 0.2], [1.1, 0.7], [0.3, 0.9]]


def test_closed_mesh_mass_properties_are_exact(tmp_path):
    """As the extrusion over the same outline, in another unit, inside out, and far away."""
    pytest.importorskip("trimesh")
    points, faces = prism(OUTLINE, -0.25, 0.25)
    right = solid({"extrusion": OUTLINE, "height": 0.5})
    write_obj(tmp_path / "mm.obj", points * 1000, faces)
    write_obj(tmp_path / "inside.obj", points, faces[:, ::-1])
    write_obj(tmp_path / "far.obj", points + 100.0, faces)
    for shape in (
        {"mesh": "mm.obj", "scale": 1e-3},
        {"mesh": "inside.obj"},
        {"mesh": "far.obj", "at": [-100] * 3},
    ):
        path = tmp_path / shape["mesh"]
        found = solid(shape | {"mesh": str(path)})
        for one, other in zip(found, right, strict=True):
            tight = 1e-10 if "far" in path.name else 1e-12
            assert one == pytest.approx(other, rel=tight, abs=tight)


def test_open_meshes_are_refused_and_can_be_left_out(tmp_path):
    pytest.importorskip("trimesh")
    points, faces = prism(OUTLINE, -0.25, 0.25)
    write_obj(tmp_path / "open.obj", points, faces[1:])
    mesh = {"mesh": str(tmp_path / "open.obj")}
    with pytest.raises(ModelError) as caught:
        solid(mesh)
    assert caught.value.problems[0].key == "bodies.b.shapes[0].mesh"
    assert "3 edges" in str(caught.value)
    m, _, _ = properties({"density": 1.0, "shapes": [mesh | {"density": 0}, {"box": [1, 1, 1]}]})
    assert m == pytest.approx(1.0)


# -- STEP ---------------------------------------------------------------------------------------------
def test_step_file_mass_properties_are_exact(tmp_path):
    """Boundary representation, not triangles: the ball has its closed form."""
    write_step(tmp_path / "parts.step")
    mesh = {"mesh": str(tmp_path / "parts.step")}
    m, com, J = solid(mesh | {"solid": 2})
    assert m == pytest.approx(RHO * BALL, rel=1e-9)
    assert com == pytest.approx([0, 0, 1], abs=1e-9)
    assert np.diag(J) == pytest.approx([0.4 * m * 0.05**2] * 3, rel=1e-9)
    beam, _, _ = solid(mesh | {"solid": 1})
    both, _, _ = solid(mesh)
    assert beam == pytest.approx(RHO * BEAM, rel=1e-12)
    assert both == pytest.approx(beam + m, rel=1e-12)
    with pytest.raises(ModelError):
        solid(mesh | {"solid": 3})


def test_invalid_step_file_is_refused(tmp_path):
    pytest.importorskip("gmsh")
    for text in ("", "ISO-10303-21;\nHEADER;\nENDSEC;\nDATA;\n#1=FOO(", "\x00" * 300):
        (tmp_path / "bad.step").write_text(text)
        with pytest.raises(ModelError) as caught:
            solid({"mesh": str(tmp_path / "bad.step")})
        assert caught.value.problems[0].key == "bodies.b.shapes[0].mesh"
