"""Convex hulls of contacts: their corners, faces and edges, meshes in files, a ball that rests on one, its picture."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import ModelError, load
from kinetree.models.forces.convex_hull import hull_of
from kinetree.scripts.fmi.verify import verify

CUBE = [list(corner) for corner in itertools.product((-0.5, 0.5), repeat=3)]
STL = """solid pyramid
facet normal 0 0 -1
outer loop
vertex 0 0 0
vertex 0 1000 0
vertex 1000 0 0
endloop
endfacet
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1000 0 0
vertex 0 0 1000
endloop
endfacet
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 0 0 1000
vertex 0 1000 0
endloop
endfacet
facet normal 1 1 1
outer loop
vertex 1000 0 0
vertex 0 1000 0
vertex 0 0 1000
endloop
endfacet
endsolid pyramid
"""


def ball_over(hull: object, start: float = 1.0, **more: object) -> dict:
    """A ball on a vertical slide over a hull of the ground."""
    move = [{"shift": "z", "coordinate": "z", "start": start}]
    against = {"body": "ground", "hull": hull, **more}
    return {
        "format": "kinetree/1",
        "bodies": {"ball": {"mass": 2.0}},
        "joints": {"slide": {"child": "ball", "at": [0.1, 0.2, 0], "transforms": move}},
        "forces": {
            "touch": {
                "kind": "contact",
                "body": "ball",
                "shape": {"sphere": 0.1},
                "against": against,
                "stiffness": 1e4,
                "damping": 100.0,
            }
        },
        "outputs": {"depth": "touch.penetration"},
        "run": {"stop_time": 1.0, "output_step": 0.05, "tolerances": 1e-7},
    }


def test_hull_of_a_cube_has_its_faces_and_edges():
    """With points inside and on a face, which are no corners."""
    hull = hull_of([*CUBE, [0, 0, 0], [0.5, 0.1, 0.2]])
    assert hull is not None
    assert sorted(map(list, hull.corners.tolist())) == sorted(CUBE)
    assert len(hull.planes) == 6 and len(hull.edges) == 12
    assert np.linalg.norm(hull.corners[hull.edges[:, 1]] - hull.corners[hull.edges[:, 0]], axis=1) == (
        pytest.approx(np.ones(12))
    )  # fmt: skip


def test_ball_rests_on_a_hull():
    result = load(ball_over(CUBE, 0.65)).compile().simulate()
    assert result["z"][-1] == pytest.approx(0.6 - 2.0 * 9.81 / 1e4, abs=1e-6)


def test_hull_of_a_mesh_file_is_that_of_its_points(tmp_path: Path):
    """In millimetres, beside the description; the file is no longer needed afterwards."""
    (tmp_path / "part.stl").write_text(STL)
    text = (
        'format = "kinetree/1"\n[bodies.ball]\nmass = 2\n[joints.slide]\nchild = "ball"\nat = [0.1, 0.2, 0]\n'
        'transforms = [{ shift = "z", coordinate = "z", start = 1.0 }]\n'
        '[forces.touch]\nkind = "contact"\nbody = "ball"\nshape = { sphere = 0.1 }\nstiffness = 1e4\n'
        'against = { body = "ground", hull = "part.stl", scale = 1e-3 }\n[outputs]\ndepth = "touch.penetration"\n'
    )
    (tmp_path / "model.toml").write_text(text)
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    depths = []
    for model in (tmp_path / "model.toml", ball_over(corners)):
        system = load(model).compile()
        q, u = system.start()
        depths.append(system.outputs(0.0, q, u)["depth"])
    # Above the slanted face x + y + z = 1 by 0.3 m in z.
    assert depths == pytest.approx([0.1 - 0.3 / np.sqrt(3.0)] * 2, abs=1e-9)


def test_mesh_with_too_many_corners_is_refused():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(300, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    with pytest.raises(ModelError, match="a hull of 300 corners"):
        load(ball_over(points.tolist()))


def test_scene_shows_the_hull():
    from kinetree.models.scene.contact_shapes import hull_part

    part = hull_part(tuple(map(tuple, CUBE)))
    points = np.array(part["points"]).reshape(-1, 3)
    triangles = points[np.array(part["triangles"]).reshape(-1, 3)]
    a, b, c = triangles.transpose(1, 0, 2)
    assert np.einsum("ij,ij->i", np.cross(a, b), c).sum() / 6 == pytest.approx(1.0)  # its volume


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "source"])
def test_hull_contact_fmus_match_run(backend: str, tmp_path: Path):
    report = verify(build_fmu(load(ball_over(CUBE, 0.65)), tmp_path / "unit.fmu", backend))
    assert report.good, [check for check in report.checks if not check.good]
