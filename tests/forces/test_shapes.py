"""Contacts of outlines: distances and normals against coal, books, Hertz's impact, Hunt and Crossley's restitution, boxes that stand and slide."""

import coal
import numpy as np
import pytest
from random_forces import random_mechanism
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from kinetree.models import ModelError, load

G = 9.81
SHAPES = {
    "sphere": {"sphere": 0.3},
    "capsule": {"capsule": [0.2, 0.7]},
    "box": {"box": [0.5, 0.8, 0.6]},
    "cylinder": {"cylinder": [0.3, 0.7]},
    "polygon": {
        "polygon": [[0.4, 0.1], [0.2, -0.3], [-0.3, -0.25], [-0.35, 0.2], [0.0, 0.4]],
        "thickness": 0.5,
    },
    "hull": {
        "hull": [
            [0.4, 0, 0],
            [-0.3, 0.35, 0],
            [-0.3, -0.3, -0.1],
            [0, 0, 0.45],
            [0.1, 0.3, -0.4],
            [0, 0, 0],
        ]
    },
    "plane": {"plane": True},
}


def polyhedron() -> coal.Convex:
    """The hull as a convex polyhedron of coal, its triangles by scipy."""
    given = np.array(SHAPES["hull"]["hull"][:-1])
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(list(given))
    found = ConvexHull(given)
    for (a, b, c), plane in zip(found.simplices, found.equations, strict=True):
        out = np.cross(given[b] - given[a], given[c] - given[a]) @ plane[:3] > 0
        triangles.append(coal.Triangle(*map(int, (a, b, c) if out else (a, c, b))))
    return coal.Convex(points, triangles)


def prism() -> coal.Convex:
    """The polygon's prism as a convex polyhedron of coal."""
    flat = SHAPES["polygon"]["polygon"][::-1]  # counter-clockwise
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for z in (-0.25, 0.25):
        points.extend([np.array([x, y, z]) for x, y in flat])
    n = len(flat)
    for k in range(n):
        j = (k + 1) % n
        triangles.extend([coal.Triangle(k, j, j + n), coal.Triangle(k, j + n, k + n)])
    for k in range(1, n - 1):
        triangles.extend([coal.Triangle(0, k + 1, k), coal.Triangle(n, n + k, n + k + 1)])
    return coal.Convex(points, triangles)


SOLIDS = {
    "sphere": lambda: coal.Sphere(0.3),
    "capsule": lambda: coal.Capsule(0.2, 0.7),
    "box": lambda: coal.Box(0.5, 0.8, 0.6),
    "cylinder": lambda: coal.Cylinder(0.3, 0.7),
    "polygon": prism,
    "hull": polyhedron,
    "plane": lambda: coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0),
}
PAIRS = [("sphere", other) for other in SHAPES] + [
    ("capsule", "capsule"),
    *((other, "plane") for other in ("capsule", "box", "cylinder", "polygon", "hull")),
]
PAIRS += [("box", "sphere"), ("cylinder", "sphere"), ("capsule", "sphere"), ("polygon", "sphere")]
PAIRS += [("hull", "sphere")]
PAIRS += [("polygon", "polygon")]  # in the plane of either, so that coal's prisms are others
LAW = {"stiffness": 1e3}


def rotation(quaternion: np.ndarray) -> np.ndarray:
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def two(first: str, second: str, **law) -> dict:
    """Two free bodies that touch, the outlines off their origins and turned."""
    body = {"mass": 2.0, "inertia": [0.1, 0.2, 0.25, 0, 0, 0]}
    force = {
        "body": "a",
        "point": [0.1, -0.05, 0.2],
        "shape": SHAPES[first] | {"rotate": [0.4, -0.3, 0.7]},
    }
    force |= {
        "against": {
            "body": "b",
            "point": [-0.1, 0.2, 0.05],
            **SHAPES[second],
            "rotate": [-0.2, 0.5, 0.3],
        }
    }
    return {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"a": body, "b": body},
        "joints": {"ja": {"child": "a", "type": "free"}, "jb": {"child": "b", "type": "free"}},
        "forces": {"c": force | LAW | law},
        "outputs": {"depth": "c.penetration", "F": {"quantity": "force", "force": "c", "axis": "norm"}, "load": "force('c')"}
        | {f"n{axis}": {"quantity": "force", "force": "c", "axis": axis} for axis in "xyz"},
    }  # fmt: skip


def turn(angles: list[float]) -> np.ndarray:
    a, b, c = angles
    x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    z = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return x @ y @ z


def poses_of(rng: np.random.Generator, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Quaternions and places of two bodies."""
    e = rng.normal(size=(2, 4))
    return e / np.linalg.norm(e, axis=1)[:, None], rng.normal(scale=scale, size=(2, 3))


@pytest.mark.parametrize(("first", "second"), PAIRS[:-1])
def test_shape_distances_and_normals_match_coal(first: str, second: str):
    """200 random poses: signed distance to 1e-6 (coal's iterations for cylinders), direction of the force on the first one against the normal."""
    system = load(two(first, second)).compile()
    rng = np.random.default_rng(11)
    touching = 0
    for _ in range(200):
        e, places = poses_of(rng, 0.35)
        q = np.concatenate((places[0], e[0], places[1], e[1]))
        found = system.outputs(0.0, q, np.zeros(12))
        poses = []
        for k, (point, angles) in enumerate(
            (([0.1, -0.05, 0.2], [0.4, -0.3, 0.7]), ([-0.1, 0.2, 0.05], [-0.2, 0.5, 0.3]))
        ):
            R = rotation(e[k])
            poses.append(coal.Transform3s(R @ turn(angles), places[k] + R @ np.array(point)))
        answer = coal.DistanceResult()
        distance = coal.distance(
            SOLIDS[first](),
            poses[0],
            SOLIDS[second](),
            poses[1],
            coal.DistanceRequest(True, True),
            answer,
        )
        if "cylinder" in (first, second) and second != "plane" and found["depth"] > 0.29:
            continue  # the centre of the sphere is inside: coal's polytopes do not find the nearest face of a cylinder
        assert -found["depth"] == pytest.approx(distance, abs=2e-6), q
        if distance < -1e-3:
            touching += 1
            normal = np.array([found[f"n{axis}"] for axis in "xyz"]) / found["F"]
            assert (
                normal == pytest.approx(-answer.normal, abs=2e-3) or distance < -0.25
            )  # deep inside faces of a box are equally near
            if second != "plane" or first == "sphere":  # else several spots bear
                assert found["load"] == pytest.approx(LAW["stiffness"] * found["depth"], rel=1e-9)
    assert touching > 20


@pytest.mark.parametrize(("first", "second"), [pair for pair in PAIRS if pair[1] != "plane"])
def test_contact_is_independent_of_body_order(first: str, second: str):
    """Loads, friction and damping of random states, and of parallel axes: the same accelerations to rounding."""
    law = {
        "stiffness": 1e3,
        "dissipation": 0.3,
        "damping": 5.0,
        "friction": 0.4,
        "friction_speed": 0.1,
    }
    there = two(first, second, **law)
    back = there | {"forces": {"c": {key: there["forces"]["c"][key] for key in law}}}
    one, other = there["forces"]["c"]["shape"], there["forces"]["c"]["against"]
    turned = {key: value for key, value in other.items() if key not in ("body", "point")}
    back["forces"]["c"] |= {
        "body": "b",
        "point": other["point"],
        "shape": turned,
        "against": {"body": "a", "point": [0.1, -0.05, 0.2], **one},
    }
    systems = load(there).compile(), load(back).compile()
    rng = np.random.default_rng(5)
    touching = 0
    for k in range(60):
        e, places = poses_of(rng, 0.3)
        if k % 3 == 0:  # axes of the outlines parallel
            frames = [
                Rotation.from_matrix(turn(angles))
                for angles in ([0.4, -0.3, 0.7], [-0.2, 0.5, 0.3])
            ]
            both = Rotation.from_quat(e[0], scalar_first=True) * frames[0] * frames[1].inv()
            e[1] = both.as_quat(scalar_first=True)
        q, u = np.concatenate((places[0], e[0], places[1], e[1])), rng.normal(size=12)
        found = [system.accelerations(0.0, q, u) for system in systems]
        load_of = [system.outputs(0.0, q, u)["load"] for system in systems]
        touching += load_of[0] > 0.0
        assert load_of[1] == pytest.approx(load_of[0], rel=1e-9, abs=1e-9)
        assert found[1] == pytest.approx(
            found[0], rel=1e-6 if k % 3 == 0 else 1e-9, abs=1e-6 if k % 3 == 0 else 1e-9
        )
    assert touching > 10


CASES = {
    "sphere on ground": {"shape": {"sphere": 0.3}, "height": 0.2},
    "capsule on ground": {"shape": {"capsule": [0.1, 0.5]}, "height": 0.2},
    "box on ground": {"shape": {"box": [0.5, 0.6, 0.4]}, "height": 0.2},
    "box on terrain": {
        "shape": {"box": [0.5, 0.6, 0.4]},
        "height": "0.1 + 0.1*sin(2*ground.x)*cos(ground.y)",
    },
    "cylinder on ground": {"shape": {"cylinder": [0.25, 0.4]}, "height": 0.2},
    "hull on ground": {"shape": SHAPES["hull"], "height": 0.2},
    "polygon on ground": {
        "shape": {"polygon": [[-0.2, -0.2], [0.3, -0.2], [0.0, 0.3]]},
        "height": 0.2,
    },
} | {f"{a} on {b}": {"shape": SHAPES[a], "against": SHAPES[b]} for a, b in PAIRS}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "law",
    [{"dissipation": 0.3, "exponent": 1.5}, {"damping": 4.0}],
    ids=["hunt-crossley", "damped"],
)
def test_shape_contacts_never_generate_energy(case: str, law: dict):
    """Random mechanisms: work + stored + dissipated is constant, losses only grow. Corners of touchdowns cost about the tolerance, 1e-10."""
    description = random_mechanism("contact", 3, radius=0.0, height=0.0)
    force = description["forces"]["f"]
    other = next(body for body in description["bodies"] if body != force["body"])
    changed = {
        key: value
        for key, value in force.items()
        if key in ("kind", "body", "point", "friction", "friction_speed")
    } | {"stiffness": 400.0}
    changed |= law | CASES[case]
    if "against" in changed:
        changed["against"] = changed["against"] | {"body": other, "point": [0.05, 0.0, -0.1]}
    result = (
        load(description | {"forces": {"f": changed}})
        .compile()
        .simulate(0.8, output_step=0.01, tolerance=1e-10)
    )
    stored, lost, work = result["f.stored_energy"], result["f.dissipated_energy"], result["work"]
    size = 1.0 + np.abs(work).max() + np.abs(stored).max() + np.abs(result["f.power"]).max()
    assert np.abs(stored - stored[0] + work + lost).max() < 1e-6 * size
    assert np.diff(lost).min() > -1e-6 * size


def ball(law: dict, speed: float = 1.0) -> dict:
    """A ball without weight on a vertical slide that flies against the ground."""
    move = [{"shift": "z", "coordinate": "z", "start": 0.05, "speed": -speed}]
    return {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"b": {"mass": 0.5}}, "joints": {"j": {"child": "b", "transforms": move}},
        "forces": {"c": {"body": "b", "shape": {"sphere": 0.05}} | law}, "outputs": {"load": "force('c')", "depth": "c.penetration"},
    }  # fmt: skip


def test_ball_impact_matches_hertz():
    """Greatest approach a = (5 m v²/(4 k))^(2/5), k = 4/3 E* sqrt(R), duration 2.9432 a/v (Hertz 1882; K. L. Johnson, Contact Mechanics, 11.4)."""
    v, modulus = 1.0, 1e7
    k = 4 / 3 * modulus * np.sqrt(0.05)
    deepest = (5 * 0.5 * v**2 / (4 * k)) ** 0.4
    result = (
        load(ball({"modulus": modulus}))
        .compile()
        .simulate(1.2 * 2.9432 * deepest / v, output_step=2e-5, tolerance=1e-10)
    )
    assert result["depth"].max() == pytest.approx(deepest, rel=1e-4)
    touching = result.time[result["load"] > 0]
    assert touching[-1] == pytest.approx(2.9432 * deepest / v, abs=3e-5)
    assert result["der(z)"][-1] == pytest.approx(v, rel=1e-7)


@pytest.mark.parametrize("speed", [0.05, 0.2])
def test_restitution_matches_hunt_and_crossley(speed: float):
    """e = 1 - dissipation v for slow impacts (Hunt and Crossley 1975), to the second order in dissipation v."""
    result = (
        load(ball({"modulus": 1e7, "dissipation": 0.4}, speed))
        .compile()
        .simulate(0.05, output_step=1e-3, tolerance=1e-11)
    )
    loss = 0.4 * speed
    assert result["der(z)"][-1] / speed == pytest.approx(1 - loss, abs=loss**2)


def test_two_balls_use_combined_hertz_curvature():
    """R = r1 r2/(r1 + r2): load 4/3 E* sqrt(R) d^1.5, equal and opposite."""
    d = two("sphere", "sphere", modulus=1e6)
    del d["forces"]["c"]["stiffness"]
    d["forces"]["c"]["against"]["sphere"] = 0.6
    system = load(d).compile()
    q, u = system.start()
    found = system.outputs(0.0, q, u)
    assert found["load"] == pytest.approx(
        4 / 3 * 1e6 * np.sqrt(0.2) * found["depth"] ** 1.5, rel=1e-12
    )
    udot = system.accelerations(0.0, q, u)
    assert udot[:3] == pytest.approx(-udot[6:9], abs=1e-6)


def box(friction: float, slope: float = 0.0, **more) -> dict:
    """A box of 2 kg at rest on a slope, by the normal of the ground."""
    size, k = [0.4, 0.3, 0.2], 2e4
    sink = 2.0 * G * np.cos(slope) / (4 * k)
    law = {
        "stiffness": k,
        "damping": 60.0,
        "friction": friction,
        "friction_speed": 1e-3,
        "normal": [np.sin(slope), 0, np.cos(slope)],
    }
    inertia = [2.0 * (b * b + c * c) / 12 for b, c in ((0.3, 0.2), (0.4, 0.2), (0.4, 0.3))]
    half = slope / 2
    at = [
        np.sin(slope) * (0.1 - sink),
        0,
        np.cos(slope) * (0.1 - sink),
        np.cos(half),
        0,
        np.sin(half),
        0,
    ]
    return {
        "format": "kinetree/1", "gravity": [0, 0, -G], "bodies": {"b": {"mass": 2.0, "inertia": [*inertia, 0, 0, 0]}},
        "joints": {"j": {"child": "b", "type": "free", "start": [float(x) for x in at]} | more},
        "forces": {"c": {"body": "b", "shape": {"box": size}} | law},
        "outputs": {"load": "force('c')", "s": {"quantity": "velocity", "body": "b", "axis": "norm"}},
    }  # fmt: skip


def test_box_sticks_and_slides_on_slope():
    """Steeper than friction it slides with g (sin - mu cos), flatter it creeps at the most at friction_speed tan/mu."""
    slope = 0.4
    fast = load(box(0.3, slope)).compile().simulate(0.5, output_step=0.05, tolerance=1e-8)
    assert fast["s"][-1] == pytest.approx(G * (np.sin(slope) - 0.3 * np.cos(slope)) * 0.5, rel=0.01)
    slow = load(box(0.8, slope)).compile().simulate(0.5, output_step=0.05, tolerance=1e-8)
    assert slow["s"][-1] < 1e-3
    assert slow["load"][-1] == pytest.approx(2.0 * G * np.cos(slope), rel=1e-4)


def test_a_box_spun_on_its_face_stops():
    """Friction at four corners, r = 0.25 m: the spin falls with mu m g r/J, up to rocking."""
    result = (
        load(box(0.5, speed=[0, 0, 0, 0, 0, 6.0]))
        .compile()
        .simulate(0.06, output_step=0.01, tolerance=1e-8)
    )
    J = 2.0 * (0.16 + 0.09) / 12
    spin = (
        result["j.wz"] if "j.wz" in result.columns() else result[load(box(0.5)).compile().speeds[5]]
    )
    assert spin[-1] == pytest.approx(6.0 - 0.5 * 2.0 * G * 0.25 / J * 0.06, rel=0.02)


def test_cylinder_rolls_and_stands_on_its_end():
    """Down a slope: two thirds of g sin; upright: at rest on three points, on its rim it tips back."""
    slope, r = 0.1, 0.2
    d = box(0.9, slope)
    inertia = [3.0 * (3 * r * r + 0.25) / 12] * 2 + [1.5 * r * r]
    d["bodies"]["b"] = {"mass": 3.0, "inertia": [*inertia, 0, 0, 0]}
    d["forces"]["c"] |= {
        "shape": {"cylinder": [r, 0.5], "axis": "y"},
        "stiffness": 1e6,
        "damping": 300.0,
    }
    d["bodies"]["b"]["inertia"] = [inertia[0], inertia[2], inertia[0], 0, 0, 0]
    sink = 3.0 * G * np.cos(slope) / 2e6
    d["joints"]["j"]["start"][:3] = [
        float(x) for x in (np.sin(slope) * (r - sink), 0, np.cos(slope) * (r - sink))
    ]
    rolling = load(d).compile().simulate(1.0, output_step=0.1, tolerance=1e-8)
    assert rolling["s"][-1] == pytest.approx(2 / 3 * G * np.sin(slope), rel=0.01)
    up = box(0.9)
    up["bodies"]["b"] = {"mass": 3.0, "inertia": [*inertia, 0, 0, 0]}
    up["forces"]["c"] |= {"shape": {"cylinder": [r, 0.5]}, "stiffness": 1e5, "damping": 500.0}
    up["joints"]["j"]["start"] = [
        0,
        0,
        0.25 + 0.02,
        float(np.cos(0.1)),
        float(np.sin(0.1)),
        0,
        0,
    ]  # tilted by 0.2, less than r/(h/2)
    standing = load(up).compile().simulate(6.0, output_step=0.1, tolerance=1e-7)
    names = load(up).compile().coordinates
    assert standing[names[4]][-1] == pytest.approx(0.0, abs=1e-3)
    assert standing[names[2]][-1] == pytest.approx(0.25 - 3.0 * G / 3e5, abs=1e-5)


def test_ground_and_ground_plane_contacts_agree():
    """`against = {body = "ground", plane = true}` is the ground surface."""
    d = box(0.5, speed=[0.3, 0.1, 0, 0.2, 0.4, 2.0])
    plain = load(d).compile().simulate(0.3, output_step=0.05, tolerance=1e-9)
    del d["forces"]["c"]["normal"]
    d["forces"]["c"]["against"] = {"body": "ground", "plane": True}
    other = load(d).compile().simulate(0.3, output_step=0.05, tolerance=1e-9)
    assert plain["load"] == pytest.approx(other["load"], rel=1e-6)


MISTAKES = [
    ({"shape": {}}, "shape: found no outline, expected one of sphere, capsule, box, cylinder"),
    ({"shape": {"sphere": 1.0, "box": [1, 1, 1]}}, "found sphere and box"),
    ({"shape": {"sphere": -1.0}}, "numbers > 0"),
    ({"shape": {"box": [1, 0, 1]}}, "numbers > 0"),
    ({"shape": {"sphere": 1.0}, "radius": 0.2}, "shape and radius"),
    (
        {"shape": {"box": [1, 1, 1]}, "against": {"body": "b2", "box": [1, 1, 1]}},
        "a box against a box",
    ),
    ({"shape": {"sphere": 1.0}, "against": {"body": "b9", "sphere": 1.0}}, "unknown body 'b9'"),
    ({"shape": {"sphere": 1.0}, "against": {"body": "b2"}}, "against: found no outline"),
    (
        {"shape": {"sphere": 1.0}, "against": {"body": "b2", "plane": True}, "height": 1.0},
        "against and height",
    ),
    ({"against": {"body": "b2", "plane": True}}, "the outline that touches"),
    ({"shape": {"box": [1, 1, 1]}, "modulus": 1e6, "stiffness": None}, "for Hertz"),
    ({"shape": {"sphere": 1.0}, "modulus": 1e6}, "stiffness and modulus"),
    ({"shape": {"sphere": 1.0, "axis": "x", "rotate": [0, 0, 1]}}, "axis and rotate"),
    ({"shape": {"polygon": [[0, 0], [1, 0]]}}, "2 corners"),
    (
        {"shape": {"polygon": [[0, 0], [1, 0], [0.2, 0.2], [0, 1]]}},
        "corner 3, which points inwards",
    ),
    (
        {"shape": {"polygon": [[0, 0], [0, 1], [0.2, 0.2], [1, 0]]}},
        "corner 3, which points inwards",
    ),
    ({"shape": {"polygon": [[0, 0], [1, 0], [1, 0], [0, 1]]}}, "corners 2 and 3 in one place"),
    ({"shape": {"polygon": [[0, 3], [2, -3], [-3, 1], [3, 1], [-2, -3]]}}, "edges that cross"),
    ({"shape": {"polygon": [[0, 0], [1, 0], [0, 1]], "thickness": 0}}, "a number > 0"),
    ({"shape": {"sphere": 1.0, "thickness": 0.1}}, "one with a polygon"),
    ({"shape": {"sphere": 1.0, "scale": 0.1}}, "one with a file of a hull"),
    ({"shape": {"hull": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}}, "points in one plane"),
    ({"shape": {"hull": [[0, 0, 0], [1, 0, 0]]}}, "points in one plane"),
    ({"shape": {"hull": "nowhere.stl"}}, "no such file"),
    (
        {
            "shape": {"polygon": [[0, 0], [1, 0], [0, 1]]},
            "against": {"body": "b2", "box": [1, 1, 1]},
        },
        "a polygon against a box",
    ),
    ({"shape": {"sphere": 1.0}, "soil": {"strength": 1.0, "viscosity": 1.0}}, "shape and soil"),
]


@pytest.mark.parametrize(("change", "says"), MISTAKES)
def test_shape_description_mistakes_are_named(change: dict, says: str):
    d = random_mechanism("contact", 1)
    force = {"kind": "contact", "body": "b1", "stiffness": 1e3} | change
    with pytest.raises(ModelError, match=says):
        load(
            d | {"forces": {"f": {key: value for key, value in force.items() if value is not None}}}
        )


def test_box_rests_on_its_corners():
    """Statics: four corners carry a quarter each; where it lies and how it is turned about the vertical is free."""
    rest = load(box(0.5)).compile().equilibrium()
    assert rest.outputs["load"] == pytest.approx(2.0 * G, rel=1e-9)
    assert rest.coordinates[load(box(0.5)).compile().coordinates[2]] == pytest.approx(
        0.1 - 2.0 * G / 8e4, abs=1e-9
    )


@pytest.mark.parametrize("other", ["sphere", "box", "capsule"])
def test_the_ground_may_be_named_first(other: str):
    """A sphere of a body on an outline of the ground, and that outline on the sphere: one force, one motion."""
    law = (
        LAW
        | {"damping": 20.0}
        | ({} if other == "sphere" else {"friction": 0.3, "friction_speed": 0.01})
    )  # of spheres the first one's surface rubs
    on, off = (
        {"body": "a", "point": [0.1, 0.0, -0.2]},
        {"body": "ground", "point": [0.05, 0.1, 0.02]},
    )
    q, u = (
        np.array([0.1, 0.2, 0.4, 0.9, 0.1, -0.3, 0.3]),
        np.array([0.2, -0.1, -0.3, 0.5, 0.2, 0.1]),
    )
    q[3:] /= np.linalg.norm(q[3:])
    found = []
    for force in (
        {**on, "shape": SHAPES["sphere"], "against": off | SHAPES[other]},
        {**off, "shape": SHAPES[other], "against": on | SHAPES["sphere"]},
    ):
        body = {"a": {"mass": 2.0, "inertia": [0.1, 0.2, 0.25, 0, 0, 0]}}
        mechanism = {
            "format": "kinetree/1",
            "bodies": body,
            "joints": {"j": {"child": "a", "type": "free"}},
            "forces": {"c": force | law},
        }
        system = load(mechanism | {"outputs": {"load": "force('c')"}}).compile()
        assert system.outputs(0.0, q, u)["load"] > 10.0
        found.append(system.accelerations(0.0, q, u))
    assert found[1] == pytest.approx(found[0], rel=1e-12, abs=1e-12)
