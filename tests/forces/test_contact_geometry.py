"""Where outlines touch, by themselves: places worked out by hand, from outside and inside, and how fast what touches moves."""

import math
from itertools import product

import numpy as np
import pytest
from force_law_values import Bench

from kinetree.models.expressions.node_arithmetic import const, name
from kinetree.models.expressions.vectors import Vector
from kinetree.models.forces.contact_geometry import PAIRS, Spot, corners, on_ground, pair
from kinetree.models.forces.kinds import KINDS
from kinetree.models.forces.outline_contact_law import FLAT, add_shapes, hertz_radius
from kinetree.models.forces.outlines import Opposite, Outline, Placed, plane_axes
from kinetree.models.forces.plane_contact_patch import Patch, mixed, patch_on_ground, patch_on_plane

UPRIGHT = np.eye(3)  # columns: axes x, y, z of an outline
LIES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # z of the outline along x


def placed(bench: Bench, key: str, outline: Outline, body: str, **state) -> Placed:
    """An outline with measured centre, axes, velocity and spin."""
    made = Placed(bench, "f", key, outline, body, (0.0, 0.0, 0.0))  # type: ignore[arg-type]
    bench.sensed(f"f:{key} centre", state.get("centre", (0, 0, 0)))
    bench.sensed(f"f:{key} velocity", state.get("velocity", (0, 0, 0)))
    bench.sensed(f"f:{key} spin", state.get("spin", (0, 0, 0)))
    for k, axis in enumerate(np.asarray(state.get("axes", UPRIGHT)).T):
        bench.sensed(f"f:{key} axis {k}", axis)
    return made


MOVING = {"velocity": (0.3, -0.2, 0.5), "spin": (0.7, 0.4, -0.6)}
OTHER = {"velocity": (-0.1, 0.6, 0.2), "spin": (0.2, -0.5, 0.9)}


def spot(
    first: Outline, second: Outline, centre: tuple[float, ...], axes=UPRIGHT
) -> tuple[Bench, Spot, np.ndarray]:
    """The spot between two outlines; the second one's centre is at 1, 2, 3."""
    bench = Bench()
    middle = np.array([1.0, 2.0, 3.0])
    a = placed(bench, "shape", first, "a", centre=middle + centre, axes=axes, **MOVING)
    b = placed(bench, "against", second, "b", centre=middle, **OTHER)
    (found,) = PAIRS[a.shape, b.shape](a, b)
    return bench, found, np.asarray(centre, dtype=float)


CASES = [  # outlines, place of the first centre from the second one, normal, depth
    (Outline(sphere=0.5), Outline(sphere=0.25), (0.3, 0.0, 0.4), (0.6, 0.0, 0.8), 0.25),
    (Outline(sphere=0.5), Outline(sphere=0.25), (0.0, -1.0, 0.0), (0.0, -1.0, 0.0), -0.25),
    (Outline(sphere=0.5), Outline(capsule=(0.25, 2.0)), (0.6, 0.0, 0.4), (1.0, 0.0, 0.0), 0.15),
    (Outline(sphere=0.5), Outline(capsule=(0.25, 2.0)), (0.3, 0.0, 1.4), (0.6, 0.0, 0.8), 0.25),
    (Outline(sphere=0.5), Outline(capsule=(0.25, 2.0)), (0.0, 0.3, -1.4), (0.0, 0.6, -0.8), 0.25),
    (Outline(sphere=0.5), Outline(box=(2.0, 4.0, 6.0)), (1.3, 0.5, -1.0), (1.0, 0.0, 0.0), 0.2),
    (Outline(sphere=0.5), Outline(box=(2.0, 4.0, 6.0)), (0.5, -2.3, 1.0), (0.0, -1.0, 0.0), 0.2),
    (Outline(sphere=0.5), Outline(box=(2.0, 4.0, 6.0)), (1.3, 2.4, 0.0), (0.6, 0.8, 0.0), 0.0),
    (
        Outline(sphere=0.9),
        Outline(box=(2.0, 4.0, 6.0)),
        (-1.2, -2.4, -3.4),
        (-1 / 3, -2 / 3, -2 / 3),
        0.3,
    ),
    (
        Outline(sphere=0.5),
        Outline(box=(2.0, 4.0, 6.0)),
        (-0.9, 0.3, 0.2),
        (-1.0, 0.0, 0.0),
        0.6,
    ),  # inside, by the nearest face
    (Outline(sphere=0.5), Outline(box=(2.0, 4.0, 6.0)), (0.1, 1.8, 0.2), (0.0, 1.0, 0.0), 0.7),
    (Outline(sphere=0.5), Outline(box=(2.0, 4.0, 6.0)), (0.1, 0.2, -2.95), (0.0, 0.0, -1.0), 0.55),
    (
        Outline(sphere=0.5),
        Outline(box=(2.0, 2.0, 6.0)),
        (0.8, 0.8, 0.0),
        (1.0, 0.0, 0.0),
        0.7,
    ),  # two faces as near: the first one
    (Outline(sphere=0.5), Outline(cylinder=(1.0, 4.0)), (0.72, -0.96, 1.0), (0.6, -0.8, 0.0), 0.3),
    (Outline(sphere=0.5), Outline(cylinder=(1.0, 4.0)), (0.3, 0.2, 2.3), (0.0, 0.0, 1.0), 0.2),
    (Outline(sphere=0.5), Outline(cylinder=(1.0, 4.0)), (0.3, 0.2, -2.3), (0.0, 0.0, -1.0), 0.2),
    (Outline(sphere=0.5), Outline(cylinder=(1.0, 4.0)), (0.0, 1.3, 2.4), (0.0, 0.6, 0.8), 0.0),
    (
        Outline(sphere=0.5),
        Outline(cylinder=(1.0, 4.0)),
        (0.0, 0.8, 0.5),
        (0.0, 1.0, 0.0),
        0.7,
    ),  # inside, by the side or an end
    (Outline(sphere=0.5), Outline(cylinder=(1.0, 4.0)), (0.0, 0.3, 1.9), (0.0, 0.0, 1.0), 0.6),
    (Outline(sphere=0.5), Outline(cylinder=(1.0, 4.0)), (0.0, 0.3, -1.9), (0.0, 0.0, -1.0), 0.6),
    (
        Outline(sphere=0.5),
        Outline(cylinder=(1.0, 4.0)),
        (0.0, 0.0, 0.5),
        (1.0, 0.0, 0.0),
        1.5,
    ),  # on the axis: along x
    (Outline(sphere=0.5), Opposite(body="b", plane=True), (4.0, -5.0, 0.3), (0.0, 0.0, 1.0), 0.2),
    (Outline(sphere=0.5), Opposite(body="b", plane=True), (4.0, -5.0, 0.9), (0.0, 0.0, 1.0), -0.4),
]


@pytest.mark.parametrize(("first", "second", "centre", "normal", "depth"), CASES)
def test_sphere_contact_point_lies_between_both_surfaces(
    first: Outline, second: Outline, centre: tuple, normal: tuple, depth: float
):
    """Radius less half the depth below the centre (on a plane the whole radius); the speed is that of the one's material there over the other's."""
    bench, found, offset = spot(first, second, centre)
    assert bench.values(found.normal) == pytest.approx(normal, abs=1e-12) and bench.values(
        found.away
    ) == pytest.approx(normal, abs=1e-12)
    assert bench.value(found.depth) == pytest.approx(depth, abs=1e-12)
    half = 0.0 if second.shape == "plane" else 0.5 * depth
    arm = np.array(bench.values(found.arm))
    assert arm == pytest.approx(-(float(first.sphere or 0.0) - half) * np.array(normal), abs=1e-12)
    own = np.array(MOVING["velocity"]) + np.cross(MOVING["spin"], arm)
    theirs = np.array(OTHER["velocity"]) + np.cross(OTHER["spin"], offset + arm)
    assert bench.values(found.speed) == pytest.approx(own - theirs, abs=1e-12)
    assert bench.value(found.sinking) == pytest.approx(-(own - theirs) @ normal, abs=1e-12)


@pytest.mark.parametrize(
    ("axes", "centre", "arm", "normal", "depth"),
    [
        (LIES, (0.3, 0.2, 0.4), (-0.3, 0.0), (0.0, 1.0, 0.0), 0.55),  # crossed, nearest within both
        (LIES, (1.8, 0.0, 0.3), (-1.0, 0.0), (1.0, 0.0, 0.0), -0.05),  # the end of one
        (LIES, (1.8, 0.0, 1.6), (-1.0, 0.0), (0.8, 0.0, 0.6), -0.25),  # the ends of both
        (
            UPRIGHT,
            (0.6, 0.0, 0.5),
            (0.0, 0.25),
            (1.0, 0.0, 0.0),
            0.15,
        ),  # side by side: from -0.5 to 1 of both
        (UPRIGHT, (0.0, 0.3, 2.4), (0.0, 1.0), (0.0, 0.6, 0.8), 0.25),  # one above the other
        (UPRIGHT, (0.0, 0.3, -2.4), (0.0, -1.0), (0.0, 0.6, -0.8), 0.25),
    ],
)
def test_capsules_touch_at_nearest_points_of_segments(
    axes: np.ndarray, centre: tuple, arm: tuple, normal: tuple, depth: float
):
    """Lengths of 2, radii 0.5 and 0.25; `arm` is the place on the first segment, by its own axis, or on the second."""
    bench, found, _ = spot(Outline(capsule=(0.5, 2.0)), Outline(capsule=(0.25, 2.0)), centre, axes)
    assert bench.value(found.depth) == pytest.approx(depth, abs=1e-8) and bench.values(
        found.normal
    ) == pytest.approx(normal, abs=1e-8)
    along = axes[:, 2] * (arm[0] if axes is LIES else {0.5: -0.25, 2.4: -1.0, -2.4: 1.0}[centre[2]])
    assert bench.values(found.arm) == pytest.approx(
        along - (0.5 - 0.5 * depth) * np.array(normal), abs=1e-8
    )


@pytest.mark.parametrize("seed", range(8))
def test_capsule_contact_is_the_closest_point(seed: int):
    """Drawn directions and places: the spot's place is on the first segment, and no two of 41 by 41 places of both are nearer."""
    rng = np.random.default_rng(seed)
    axes, centre = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3)
    bench, found, _ = spot(
        Outline(capsule=(0.5, 2.0)), Outline(capsule=(0.25, 2.0)), tuple(centre), axes
    )
    depth, normal = bench.value(found.depth), np.array(bench.values(found.normal))
    place = np.array(bench.values(found.arm)) + (0.5 - 0.5 * depth) * normal
    along = place @ axes[:, 2]
    assert place == pytest.approx(along * axes[:, 2], abs=1e-9) and abs(along) <= 1.0 + 1e-9
    other = centre + place - (0.75 - depth) * normal
    assert other[:2] == pytest.approx([0.0, 0.0], abs=1e-9) and abs(other[2]) <= 1.0 + 1e-9
    ways = np.linspace(-1.0, 1.0, 41)
    first, second = centre + ways[:, None] * axes[:, 2], ways[:, None] * np.array([0.0, 0.0, 1.0])
    assert np.linalg.norm(first[:, None] - second[None], axis=2).min() > 0.75 - depth - 1e-9


def test_contact_pairs_are_supported():
    """And which have to change places for it."""
    shapes = ("sphere", "capsule", "box", "cylinder", "plane")
    told = {(a, b): pair(a, b) for a, b in product(shapes[:4], shapes)}
    assert {key for key, (can, _) in told.items() if not can} == {
        ("capsule", "box"), ("capsule", "cylinder"), ("box", "capsule"), ("box", "box"), ("box", "cylinder"), ("cylinder", "capsule"),
        ("cylinder", "box"), ("cylinder", "cylinder"),
    }  # fmt: skip
    assert {key for key, (can, swapped) in told.items() if can and swapped} == {
        ("capsule", "sphere"),
        ("box", "sphere"),
        ("cylinder", "sphere"),
    }
    assert FLAT == {"ground", "plane", "box"}


def test_outline_corners_are_computed():
    """Of a box all eight, of a capsule both ends, of a cylinder three of either rim: the lowest, and 120 degrees from it."""
    bench = Bench()
    up = Vector(const(0.0), const(0.0), const(1.0))
    points, radius = corners(placed(bench, "shape", Outline(box=(2.0, 4.0, 6.0)), "a"), up)
    assert {tuple(bench.values(each)) for each in points} == set(
        product((-1.0, 1.0), (-2.0, 2.0), (-3.0, 3.0))
    ) and bench.value(radius) == 0.0
    points, radius = corners(placed(bench, "shape", Outline(capsule=(0.5, 6.0)), "a"), up)
    assert [bench.values(each) for each in points] == [
        [0.0, 0.0, 3.0],
        [0.0, 0.0, -3.0],
    ] and bench.value(radius) == 0.5
    points, _ = corners(
        placed(bench, "shape", Outline(cylinder=(0.5, 6.0)), "a", axes=LIES), up
    )  # lies along x: lowest below
    side = 0.5 * math.sqrt(0.75)
    rim = [(0.0, -0.5), (side, 0.25), (-side, 0.25)]
    found = [bench.values(each) for each in points]
    assert np.array(sorted(found)) == pytest.approx(
        np.array(sorted([end, y, z] for end in (3.0, -3.0) for y, z in rim))
    )
    points, _ = corners(
        placed(bench, "shape", Outline(cylinder=(0.5, 6.0)), "a"), up
    )  # stands: by its own x
    assert bench.values(points[0]) == pytest.approx([0.5, 0.0, 3.0]) and bench.values(
        points[1]
    ) == pytest.approx([-0.25, side, 3.0])


def test_outline_axes_are_computed():
    """Turned about x, then y, then z of the body, or with z along a direction: an orthonormal, right-handed frame."""
    a, b, c = 0.3, -0.5, 0.8
    made = Placed(Bench(), "f", "shape", Outline(sphere=1.0, rotate=(a, b, c)), "a", (0, 0, 0))  # type: ignore[arg-type]
    X = np.array([[1, 0, 0], [0, math.cos(a), -math.sin(a)], [0, math.sin(a), math.cos(a)]])
    Y = np.array([[math.cos(b), 0, math.sin(b)], [0, 1, 0], [-math.sin(b), 0, math.cos(b)]])
    Z = np.array([[math.cos(c), -math.sin(c), 0], [math.sin(c), math.cos(c), 0], [0, 0, 1]])
    found = np.array([Bench().values(axis) for axis in made.in_body]).T
    assert found == pytest.approx(X @ Y @ Z, abs=1e-14)
    for direction in ((0, 0, 1), (0, 0, -1), (1, 2, -2), (2, -1, 2)):
        n = np.array(direction) / np.linalg.norm(direction)
        first, second = (
            np.array(Bench().values(each))
            for each in plane_axes(Vector(*map(const, map(float, n))))
        )
        assert np.column_stack([first, second, n]).T @ np.column_stack(
            [first, second, n]
        ) == pytest.approx(np.eye(3), abs=1e-14)
        assert np.cross(first, second) == pytest.approx(n, abs=1e-14)


def test_hertz_contact_radii_match_formula():
    """1/R = 1/R1 + 1/R2 of two spheres; what is flat adds nothing."""
    bench = Bench()
    ball, other = (
        placed(bench, "shape", Outline(sphere=0.3), "a"),
        placed(bench, "against", Outline(sphere=0.6), "b"),
    )
    assert (
        bench.value(hertz_radius(ball, other)) == pytest.approx(0.2)
        and bench.value(hertz_radius(ball, None)) == 0.3
    )
    assert (
        bench.value(hertz_radius(ball, placed(bench, "against", Outline(box=(1.0, 1.0, 1.0)), "b")))
        == 0.3
    )


def contact(**keys):
    return KINDS["contact"].table.model_validate(
        {"kind": "contact", "body": "a", "stiffness": 300.0} | keys
    )


def test_terrain_contact_spots_use_their_own_heights():
    """A box over z = 0.1 x: every corner by its height; a sphere below its centre."""
    bench = Bench()
    force = contact(shape={"box": [2, 4, 6]}, height="0.1*ground.x")
    spots = on_ground(
        bench,
        "f",
        force,
        placed(bench, "shape", Outline(box=(2.0, 4.0, 6.0)), "a", centre=(0.5, 0.0, 2.9), **MOVING),
    )  # type: ignore[arg-type]
    size = math.hypot(1.0, 0.1)
    for each in spots:
        arm = np.array(bench.values(each.arm))
        place = arm + [0.5, 0.0, 2.9]
        assert bench.value(each.depth) == pytest.approx((0.1 * place[0] - place[2]) / size)
        speed = np.array(MOVING["velocity"]) + np.cross(MOVING["spin"], arm)
        assert bench.values(each.speed) == pytest.approx(speed) and bench.value(
            each.sinking
        ) == pytest.approx(-speed @ [-0.1 / size, 0, 1 / size])
    assert len(spots) == 8
    ball = contact(shape={"sphere": 0.5}, height="0.1*ground.x")
    (spot,) = on_ground(
        bench, "f", ball, placed(bench, "shape", Outline(sphere=0.5), "a", centre=(0.5, 0.0, 0.4))
    )  # type: ignore[arg-type]
    assert bench.value(spot.depth) == pytest.approx((0.05 - 0.4) / size + 0.5) and bench.values(
        spot.arm
    ) == pytest.approx([0.05 / size, 0, -0.5 / size])


@pytest.mark.parametrize(
    "outline",
    [Outline(box=(2.0, 4.0, 6.0)), Outline(capsule=(0.5, 6.0)), Outline(cylinder=(0.5, 6.0))],
    ids=["box", "capsule", "rim"],
)
def test_patch_force_is_the_sum_of_its_spots(outline: Outline):
    """Depths, sinkings, centre of pressure and friction of a patch are those of its corners, one by one; rho² about the centre of pressure."""
    bench = Bench()
    axes = np.linalg.qr(np.array([[0.9, 0.2, 0.1], [-0.3, 0.8, 0.2], [0.1, -0.2, 1.1]]))[0]
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    first = placed(bench, "shape", outline, "a", centre=(0.1, 0.2, 2.0), axes=axes, **MOVING)
    second = placed(
        bench, "against", Opposite(body="b", plane=True), "b", centre=(0.0, 0.0, 0.1), **OTHER
    )
    for flat, base in (
        (patch_on_plane(first, second), True),
        (patch_on_ground(bench, "f", contact(shape={"sphere": 1.0}, height=0.1), first), False),
    ):  # type: ignore[arg-type]
        assert isinstance(flat, Patch)
        points, radius = corners(first, flat.normal)
        places = [
            np.array(bench.values(point)) - [0.0, 0.0, bench.value(radius)] for point in points
        ]
        ordered = [np.array(bench.values(spot)) for spot in spots_in(flat)]
        assert np.sort(np.round(places, 9), axis=0) == pytest.approx(
            np.sort(np.round(ordered, 9), axis=0)
        )
        middle, other = (
            np.array([0.1, 0.2, 1.9]),
            (np.array(OTHER["velocity"]), np.array(OTHER["spin"]))
            if base
            else (np.zeros(3), np.zeros(3)),
        )
        velocity = np.array(MOVING["velocity"]) - other[0] - np.cross(other[1], middle)
        spin = np.array(MOVING["spin"]) - other[1]
        assert bench.values(flat.depths()) == pytest.approx(
            [-(middle + each)[2] for each in ordered]
        )
        assert bench.values(flat.sinkings()) == pytest.approx(
            [-(velocity + np.cross(spin, each))[2] for each in ordered]
        )
        loads = np.linspace(3.0, 9.0, len(ordered))
        given = [const(float(load)) for load in loads]
        total, centre = loads.sum(), (loads[:, None] * ordered).sum(axis=0) / loads.sum()
        assert bench.value(flat.total(given)) == pytest.approx(total)
        weighted = flat.centre(given)
        assert np.array(bench.values(weighted)) / total - [
            0,
            0,
            bench.value(radius),
        ] == pytest.approx(centre)
        slip = flat.friction(const(0.4), const(5.0), given, const(float(total)), weighted)
        speed = (velocity + np.cross(spin, centre)) * [1, 1, 0]
        wide = (loads * ((np.array(ordered) - centre)[:, :2] ** 2).sum(axis=1)).sum() / total
        size = math.sqrt(speed @ speed + wide * spin[2] ** 2)
        drag = -0.4 * total * (2.0 - size / 5.0) / 5.0
        assert bench.values(slip.arm) == pytest.approx(centre) and bench.values(
            slip.speed
        ) == pytest.approx(speed)
        assert bench.values(slip.force) == pytest.approx(drag * speed) and bench.value(
            slip.moment
        ) == pytest.approx(drag * wide * spin[2])
        assert bench.value(slip.turning) == pytest.approx(spin[2])
        pressed = bench.values(flat.pressed(const(50.0), const(2.0)))
        assert pressed == pytest.approx(
            [
                50.0 * a + 2.0 * b
                for a, b in zip(
                    bench.values(flat.depths()), bench.values(flat.sinkings()), strict=True
                )
            ]
        )


def spots_in(flat: Patch) -> list[Vector]:
    """Spots as their rows of the basis tell them."""
    found = []
    for row in flat.rows:
        place = flat.normal.times(flat.radius).times(-1.0)
        for c, vector in zip(row, flat.basis, strict=True):
            place = place.plus(vector.times(c))
        found.append(place)
    return found


def test_weighted_sum_of_expressions_is_evaluated():
    values = [name("a"), name("b"), name("c"), name("d")]
    assert Bench().value(mixed((1.0, -1.0, 0.5, 0.0), values), a=3.0, b=5.0, c=8.0) == 2.0


@pytest.mark.parametrize("swapped", [False, True])
def test_contact_forces_are_independent_of_body_order(swapped: bool):
    """A sphere of a and a capsule of b: the load goes along the normal on the sphere, the opposite to the other, whoever is named first."""
    bench = Bench()
    table = {"shape": {"capsule": [0.25, 2.0]}, "body": "b", "against": {"body": "a", "sphere": 0.5}} if swapped else {
        "shape": {"sphere": 0.5}, "against": {"body": "b", "capsule": [0.25, 2.0]},
    }  # fmt: skip
    ball, capsule = ("against", "shape") if swapped else ("shape", "against")
    for key, centre, more in ((ball, (0.6, 0.0, 0.4), MOVING), (capsule, (0.0, 0.0, 0.0), OTHER)):
        placed(bench, key, Outline(sphere=1.0), "a", centre=centre, **more)
    add_shapes(bench, "f", contact(damping=2.0, friction=0.3, friction_speed=10.0, **table))  # type: ignore[arg-type]
    ((_, body, _, other, force, moment, frame),) = bench.forces
    assert (body, other, frame) == (1, 2, 0)
    arm = np.array([-0.425, 0.0, 0.0])
    speed = (
        np.array(MOVING["velocity"])
        + np.cross(MOVING["spin"], arm)
        - np.array(OTHER["velocity"])
        - np.cross(OTHER["spin"], np.array([0.6, 0, 0.4]) + arm)
    )
    load, slip = 300.0 * 0.15 - 2.0 * speed[0], speed * [0, 1, 1]
    size = np.linalg.norm(slip)
    acting = load * np.array([1.0, 0, 0]) - 0.3 * load * (2.0 - size / 10.0) / 10.0 * slip
    assert bench.values(force) == pytest.approx(acting) and bench.values(moment) == pytest.approx(
        np.cross(arm, acting)
    )
    assert bench.value("force('f')") == pytest.approx(load) and bench.value(
        "f.penetration"
    ) == pytest.approx(0.15)
    book = bench.books["f"]
    told = bench.values(book.force()), bench.values(book.moment()), book.body
    back = -np.cross(np.array([0.6, 0, 0.4]) + arm, acting)
    assert told[2] == (2 if swapped else 1) and told[0] == pytest.approx(
        -acting if swapped else acting
    )
    assert told[1] == pytest.approx(back if swapped else np.cross(arm, acting))
    assert bench.value(book.power()) == pytest.approx(acting @ speed) and bench.value(
        book.clearance
    ) == pytest.approx(-0.15)
    assert bench.value(book.stored) == pytest.approx(150.0 * 0.15**2)
    assert bench.value(book.dissipation()) == pytest.approx(
        -(2.0 * speed[0]) * -speed[0] - (acting - load * np.array([1.0, 0, 0])) @ speed
    )
