"""Kinds of force elements by themselves, between bodies that move anyhow: values, forces on bodies, rates of states and books by vector algebra."""

import math

import numpy as np
import pytest
from force_law_values import Bench, Moving

from kinetree.models.forces.kinds import KINDS
from kinetree.solvers import layout as L


def unit(*parts: float) -> np.ndarray:
    return np.array(parts) / np.linalg.norm(parts)


A = Moving((0.3, -0.2, 0.25), unit(0.9, 0.1, -0.2, 0.15), (0.7, -0.4, -0.2), (0.3, 2.1, -0.4))
B = Moving((1.1, 0.4, 0.9), unit(0.7, -0.3, 0.4, 0.2), (-0.2, 0.5, 0.3), (0.6, -0.8, 0.5))
ENDS = [{"body": "a", "point": [0.1, 0.2, -0.1]}, {"body": "b", "point": [-0.2, 0.1, 0.3]}]
FIRST, SECOND = (np.array(end["point"]) for end in ENDS)


def lowered(kind: str, **keys: object) -> Bench:
    """The law of an element f on a bench with bodies a and b as they move above; states are the bench's numbers."""
    numbers = {key: keys.pop(key) for key in [key for key in keys if key.startswith("f.")]}
    numbers |= {key: keys.pop(key) for key in ("x", "y", "der(x)", "der(y)") if key in keys}
    bench = Bench(**numbers)  # type: ignore[arg-type]
    bench.moving[1:] = [A, B]
    made = KINDS[kind].table.model_validate({"kind": kind, **keys})
    bench.states = dict.fromkeys(f"f.{key}" for key in KINDS[kind].states(made))
    KINDS[kind].law(bench, "f", made)  # type: ignore[arg-type]
    return bench


def wrench(bench: Bench, body: int) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment on a body, ground axes, about its origin."""
    total, turned = np.zeros(3), np.zeros(3)
    for kind, *record in bench.forces:
        if kind == L.Force.WRENCH:
            i, point, force, moment, frame = record
            there = [(i, point, force, moment, frame, 1.0)]
        elif kind == L.Force.PAIR:
            i, point, j, force, moment, frame = record
            there = [(i, point, force, moment, frame, 1.0), (j, None, force, moment, frame, -1.0)]
            place = bench.moving[i].at(bench.values(point))
        else:
            continue
        for on, point, force, moment, frame, sign in there:
            if on != body:
                continue
            assert frame == 0
            arm = (
                place if point is None else bench.moving[on].at(bench.values(point))
            ) - bench.moving[on].place
            push = sign * np.array(bench.values(force))
            total, turned = (
                total + push,
                turned + sign * np.array(bench.values(moment)) + np.cross(arm, push),
            )
    return total, turned


SOFT = {"body": "a", "stiffness": 900.0, "damping": 4.0}


def test_ground_contact_acts_at_lowest_point():
    bench = lowered(
        "contact",
        point=[0.1, 0, 0],
        radius=0.3,
        friction=0.4,
        friction_speed=20.0,
        height=0.05,
        normal=[0.1, 0, 1],
        **SOFT,
    )
    n = unit(0.1, 0, 1)
    r, v = A.at([0.1, 0, 0]), A.speed([0.1, 0, 0])
    depth = 0.05 - r @ n + 0.3
    load = 900.0 * depth - 4.0 * v @ n
    slip = v + np.cross(A.spin, -0.3 * n)
    slip -= (slip @ n) * n
    size = np.linalg.norm(slip)
    sides = -0.4 * load * (2 - size / 20) / 20 * slip
    assert (
        depth > 0
        and load > 0
        and bench.value("force('f')") == pytest.approx(load)
        and bench.value("f.penetration") == pytest.approx(depth)
    )
    force, moment = wrench(bench, 1)
    assert force == pytest.approx(load * n + sides) and moment == pytest.approx(
        np.cross(r - A.place, load * n + sides) + np.cross(-0.3 * n, sides)
    )
    book = bench.books["f"]
    assert bench.value(book.power()) == pytest.approx(load * n @ v + sides @ slip) and bench.value(
        book.clearance
    ) == pytest.approx(-depth)
    assert bench.value(book.dissipation()) == pytest.approx(
        4.0 * (v @ n) ** 2 - sides @ slip
    ) and bench.values(book.force()) == pytest.approx(load * n + sides)
    point = lowered("contact", friction=0.4, height=0.5, **SOFT)
    force, moment = wrench(point, 1)
    assert moment == pytest.approx(np.zeros(3), abs=1e-12) and np.linalg.norm(
        force[:2]
    ) == pytest.approx(0.4 * force[2])


def test_tyre_resists_lateral_motion():
    travel, side = 0.01, np.array([0.2, 1.0, -0.1])
    bench = lowered(
        "tyre",
        point=[0, 0.1, 0],
        radius=0.3,
        friction=5.0,
        side=side.tolist(),
        side_stiffness=300.0,
        side_damping=2.0,
        **SOFT,
        **{"f.travel": travel},
    )
    n = np.array([0.0, 0.0, 1.0])
    r, v = A.at([0, 0.1, 0]), A.speed([0, 0.1, 0])
    depth, axle = 0.3 - r[2], A.R @ unit(*side)
    axle = unit(*(axle - axle[2] * n))
    arm = (depth - 0.3) * n
    slip = (v + np.cross(A.spin, arm)) @ axle
    load, pull = 900.0 * depth - 4.0 * v[2], -(300.0 * travel + 2.0 * slip)
    assert abs(pull) < 5.0 * load
    force, moment = wrench(bench, 1)
    assert force == pytest.approx(load * n + pull * axle) and moment == pytest.approx(
        np.cross(r - A.place, force) + np.cross(arm, pull * axle)
    )
    assert bench.value(bench.books["f"].power()) == pytest.approx(load * v[2] + pull * slip)
    reach = 5.0 * load / 300.0
    gone = min((travel / reach) ** 2, 1.0) / reach**2 * max(travel * slip, 0.0)
    assert bench.rate("f.travel") == pytest.approx(slip - gone * travel)


def test_jack_stands_on_its_foot():
    """Travels along both directions of the ground; the leg extends at 0.3 m/s, which counts in the damper and in no power of its own."""
    bench = lowered(
        "jack", point=[0.1, 0, 0.1], axis=[0.1, 0, -1], extension="0.4 + 0.3*t", friction=2.0, side_stiffness=300.0, side_damping=2.0, **SOFT,
        **{"f.travel_1": 0.004, "f.travel_2": -0.006},
    )  # fmt: skip
    bench.numbers["t"] = 0.5
    axis = A.R @ unit(0.1, 0, -1)
    arm, own = 0.55 * axis, 0.3 * axis
    r = A.at([0.1, 0, 0.1]) + arm
    v = A.speed([0.1, 0, 0.1]) + np.cross(A.spin, arm) + own
    load = 900.0 * -r[2] - 4.0 * v[2]
    sides = -(300.0 * np.array([0.004, -0.006]) + 2.0 * v[:2])
    sides *= min(1.0, 2.0 * load / np.linalg.norm(sides))
    force, moment = wrench(bench, 1)
    assert (
        load > 0
        and force == pytest.approx([*sides, load])
        and moment == pytest.approx(np.cross(r - A.place, [*sides, load]))
    )
    assert bench.value(bench.books["f"].power()) == pytest.approx(
        load * (v - own)[2] + sides @ (v - own)[:2]
    )
    assert bench.value("f.penetration") == pytest.approx(-r[2])


PATCH = {
    "slip_stiffness": [3000.0, 2000.0],
    "patch_stiffness": [400.0, 300.0],
    "patch_damping": 1.5,
    "patch_length": 0.2,
    "rolling": 0.03,
}


@pytest.mark.parametrize("shear", [False, True])
def test_wheel_forces_act_at_contact_patch(shear: bool):
    """Brush model, or the shear of soil, at any deflection; trail, rolling resistance, damping that fades with rolling."""
    e = np.array([0.02, -0.03])
    law = (
        {"shear": {"cohesion": 50.0, "angle": 0.5, "modulus": 0.02, "width": 0.1, "length": 0.3}}
        if shear
        else {"friction": 0.8}
    )
    keys = {key: value for key, value in PATCH.items() if not shear or key != "slip_stiffness"}
    bench = lowered(
        "wheel",
        point=[0, 0.1, 0],
        radius=0.3,
        axle=[0.1, 1, 0],
        **SOFT,
        **law,
        **keys,
        **{"f.along": e[0], "f.across": e[1]},
    )
    n = np.array([0.0, 0.0, 1.0])
    r, v = A.at([0, 0.1, 0]), A.speed([0, 0.1, 0])
    depth = 0.3 - r[2]
    load, reach = 900.0 * depth - 4.0 * v[2], 0.3 - depth
    axle = A.R @ unit(0.1, 1, 0)
    side = unit(*(axle - axle[2] * n))
    ahead = np.cross(side, n)
    rolled = A.spin @ side * reach
    k, force = np.array([400.0, 300.0]), np.array([400.0, 300.0]) * e
    limit = 50.0 * 0.1 * 0.3 + load * math.tan(0.5) if shear else 0.8 * load
    own = max(limit, 400.0 * 1e-3)
    share = np.linalg.norm(force) / own
    assert 0.0 < share < 0.7 and load > 0 and rolled > 0
    y = (1.0 - share) ** (1 / 3)
    trail = math.tanh(rolled / 0.2) * 0.5 * 0.2 * y**3 / (1 + y + y * y)
    arm = -reach * n - trail * ahead
    slip = v + np.cross(A.spin, arm)
    slips = np.array([slip @ ahead, slip @ side])
    if shear:
        x = bench_inverse(share)
        renewed = rolled * 0.02 / 0.3 * x / share / own * force
    else:
        renewed = rolled * 3 / (1 + y + y * y) * force / np.array([3000.0, 2000.0])
    assert [bench.rate("f.along"), bench.rate("f.across")] == pytest.approx(
        slips - renewed, rel=1e-5
    )
    damping = 1.5 * math.exp(-((rolled / 0.2) ** 2))
    pull = force + damping * slips
    pull *= -min(1.0, limit / np.linalg.norm(pull))
    drag = -0.03 * load * reach * math.tanh(rolled / 0.02)
    total = load * n + pull[0] * ahead + pull[1] * side
    found, moment = wrench(bench, 1)
    sides = pull[0] * ahead + pull[1] * side
    assert found == pytest.approx(total) and moment == pytest.approx(
        np.cross(r - A.place, total) + np.cross(arm, sides) + drag * side
    )
    told = {
        key: bench.value(f"f.{key}")
        for key in ("slip_along", "slip_across", "rolled", "drive", "side")
    }
    assert list(told.values()) == pytest.approx([*slips, rolled, *pull])
    power = load * v[2] + pull @ slips + drag * side @ A.spin
    book = bench.books["f"]
    assert bench.value(book.power()) == pytest.approx(power) and bench.values(
        book.moment()
    ) == pytest.approx(drag * side)
    kept = 900.0 * depth * -v[2] + force @ (slips - renewed)
    assert bench.value(book.dissipation()) == pytest.approx(-power - kept, rel=1e-6)
    assert bench.value(book.stored) == pytest.approx(450.0 * depth**2 + 0.5 * (k * e * e).sum())


def bench_inverse(share: float) -> float:
    """x of f = 1 - (1 - exp(-x))/x by halving."""
    low, high = 1e-9, 1e3
    for _ in range(200):
        x = 0.5 * (low + high)
        low, high = (x, high) if 1 - (1 - math.exp(-x)) / x < share else (low, x)
    return x


@pytest.mark.parametrize("across", [None, "z"])
def test_rail_constrains_its_pin(across: str | None):
    """Tube or groove: depth |offset| - clearance, friction along and around; on the guided body, the opposite on the one with the rail."""
    keys = {
        "between": ENDS,
        "axis": [1, 0.2, 0],
        "clearance": 0.1,
        "stiffness": 900.0,
        "damping": 4.0,
        "friction": 0.3,
        "friction_speed": 20.0,
    }
    bench = lowered("rail", **keys, **({} if across is None else {"across": [0.1, 0, 1]}))
    axis = A.R @ unit(1, 0.2, 0)
    offset = B.at(SECOND) - A.at(FIRST)
    v = B.speed(SECOND) - A.speed(FIRST) - np.cross(A.spin, offset)
    radial = offset - (offset @ axis) * axis
    if across:
        side = A.R @ unit(0.1, 0, 1)
        side = unit(*(side - (side @ axis) * axis))
        radial = (offset @ side) * side
    size, normal = np.linalg.norm(radial), unit(*radial)
    load = 900.0 * (size - 0.1) + 4.0 * v @ normal
    slip = v - (v @ normal) * normal
    total = -load * normal - 0.3 * load * (2 - np.linalg.norm(slip) / 20) / 20 * slip
    assert (
        load > 0
        and bench.value("f.travel") == pytest.approx(offset @ axis)
        and bench.value("force('f')") == pytest.approx(load)
    )
    force, moment = wrench(bench, 2)
    assert force == pytest.approx(total) and moment == pytest.approx(
        np.cross(B.at(SECOND) - B.place, total)
    )
    force, moment = wrench(bench, 1)
    assert force == pytest.approx(-total) and moment == pytest.approx(
        np.cross(B.at(SECOND) - A.place, -total)
    )
    book = bench.books["f"]
    assert bench.value(book.power()) == pytest.approx(total @ v) and bench.value(
        book.dissipation()
    ) == pytest.approx(4.0 * (v @ normal) ** 2 - (total + load * normal) @ v)


@pytest.mark.parametrize(
    ("begin", "end", "held"),
    [(0.0, None, True), (0.0, 5.0, True), (5.0, 9.0, False), (-5.0, 0.0, False)],
)
def test_rail_releases_pin_at_its_ends(begin: float, end: float | None, held: bool):
    keys = {"between": ENDS, "axis": [1, 0.2, 0], "stiffness": 900.0, "begin": begin} | (
        {} if end is None else {"end": end}
    )
    assert (lowered("rail", **keys).value("force('f')") > 0.0) == held


def test_guide_finds_closest_point_on_helix():
    """The place by looking at 40 000 others; the law of a contact there, and beyond the ends nothing."""
    law = {
        "between": ENDS,
        "clearance": 0.1,
        "stiffness": 900.0,
        "damping": 4.0,
        "friction": 0.3,
        "friction_speed": 20.0,
    }
    helix = lowered(
        "guide", **law, helix={"radius": 0.4, "pitch": 0.5, "begin": -20.0, "end": 20.0}
    )
    offset = A.R.T @ (B.at(SECOND) - A.at(FIRST))
    angles = np.linspace(-20, 20, 40001)
    curve = np.column_stack(
        [0.4 * np.cos(angles), 0.4 * np.sin(angles), 0.5 / (2 * math.pi) * angles]
    )
    ways = np.linalg.norm(curve - offset, axis=1)
    best = int(ways.argmin())
    assert helix.value("f.travel") == pytest.approx(angles[best], abs=1.1e-3) and helix.value(
        "f.penetration"
    ) == pytest.approx(ways[best] - 0.1, abs=1e-6)
    normal = A.R @ unit(*(offset - curve[best]))
    v = B.speed(SECOND) - A.speed(FIRST) - np.cross(A.spin, B.at(SECOND) - A.at(FIRST))
    load = max(900.0 * (ways[best] - 0.1) + 4.0 * v @ normal, 0.0)
    slip = v - (v @ normal) * normal
    total = -load * normal - 0.3 * load * (2 - np.linalg.norm(slip) / 20) / 20 * slip
    assert wrench(helix, 2)[0] == pytest.approx(total, rel=2e-3) and wrench(helix, 1)[
        0
    ] == pytest.approx(-total, rel=2e-3)
    for begin, end in ((-20.0, angles[best] - 0.01), (angles[best] + 0.01, 20.0)):
        short = lowered(
            "guide",
            **law,
            helix={"radius": 0.4, "pitch": 0.5, "begin": float(begin), "end": float(end)},
        )
        assert short.value("force('f')") == 0.0 and short.value("f.penetration") == pytest.approx(
            -0.1
        )


def test_bushing_force_matches_its_matrices():
    """-(K z + C ż) by shifts in its axes and a rotation vector; the moment does the work of the rotation vector's rate."""
    K, C = np.diag([60.0, 50.0, 40.0, 3.0, 2.0, 1.0]), np.diag([1.0, 0.8, 0.6, 0.1, 0.1, 0.2])
    bench = lowered(
        "bushing",
        between=ENDS,
        stiffness=np.diag(K).tolist(),
        damping=np.diag(C).tolist(),
        rotate=[0.3, -0.2, 0.4],
        turned=[0.1, 0.2, -0.1],
    )

    def turned(vector) -> np.ndarray:
        angle = np.linalg.norm(vector)
        a = np.asarray(vector) / angle
        X = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
        return np.eye(3) + math.sin(angle) * X + (1 - math.cos(angle)) * X @ X

    own = turned([0.3, 0, 0]) @ turned([0, -0.2, 0]) @ turned([0, 0, 0.4])

    def shape(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Rotation vector between the frames."""
        R = (first @ own).T @ second @ turned([0.1, 0.2, -0.1]).T @ own
        angle = math.acos((np.trace(R) - 1) / 2)
        return (
            angle
            / (2 * math.sin(angle))
            * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        )

    axes = A.R @ own
    offset = B.at(SECOND) - A.at(FIRST)
    v = B.speed(SECOND) - A.speed(FIRST) - np.cross(A.spin, offset)
    turn, h = shape(A.R, B.R), 1e-6
    spins = [
        (turned(h * A.spin) @ A.R, turned(h * B.spin) @ B.R),
        (turned(-h * A.spin) @ A.R, turned(-h * B.spin) @ B.R),
    ]
    twisting = (shape(*spins[0]) - shape(*spins[1])) / (2 * h)
    z, rates = np.concatenate([axes.T @ offset, turn]), np.concatenate([axes.T @ v, twisting])
    assert [
        bench.value(f"f.{key}")
        for key in ("shift_x", "shift_y", "shift_z", "turn_x", "turn_y", "turn_z")
    ] == pytest.approx(z)
    acting = K @ z + C @ rates
    force, moment = wrench(bench, 2)
    assert force == pytest.approx(-axes @ acting[:3])
    pure = moment - np.cross(B.at(SECOND) - B.place, force)
    assert pure @ (B.spin - A.spin) == pytest.approx(-acting[3:] @ twisting, rel=1e-6)
    assert bench.value(bench.potential_of["f"]) == pytest.approx(0.5 * z @ K @ z)
    book = bench.books["f"]
    assert bench.value(book.dissipation()) == pytest.approx(
        rates @ C @ rates, rel=1e-6
    ) and bench.value("force('f')") == pytest.approx(np.linalg.norm(force))
    assert bench.value(book.power()) == pytest.approx(
        force @ v + pure @ (B.spin - A.spin)
    ) and bench.values(book.force()) == pytest.approx(-force)


def test_rope_pulls_at_every_sheave():
    over = [{"body": "a", "point": [0, 0.1, 0.4]}, {"body": "ground", "point": [0.5, 0.5, 2.0]}]
    keys = {
        "between": [{"body": "ground", "point": [0, 0, 1]}, ENDS[1]],
        "over": over,
        "stiffness": 80.0,
        "damping": 2.0,
        "length": 2.0,
    }
    bench = lowered(
        "rope", **keys, drum={"coordinate": "y", "radius": 0.2}, **{"y": 1.5, "der(y)": 0.4}
    )
    points = [np.array([0, 0, 1.0]), A.at([0, 0.1, 0.4]), np.array([0.5, 0.5, 2.0]), B.at(SECOND)]
    speeds = [np.zeros(3), A.speed([0, 0.1, 0.4]), np.zeros(3), B.speed(SECOND)]
    ways = np.diff(points, axis=0)
    lengths = np.linalg.norm(ways, axis=1)
    along = ways / lengths[:, None]
    growth = (np.diff(speeds, axis=0) * along).sum()
    stretch = lengths.sum() + 0.2 * 1.5 - 2.0
    T = 80.0 * stretch + 2.0 * (growth + 0.2 * 0.4)
    assert T > 0 and bench.value("force('f')") == pytest.approx(T)
    assert [bench.value(f"f.{key}") for key in ("length", "rate", "elongation")] == pytest.approx(
        [lengths.sum(), growth, stretch]
    )
    assert wrench(bench, 1)[0] == pytest.approx(T * (along[1] - along[0])) and wrench(bench, 2)[
        0
    ] == pytest.approx(-T * along[2])
    assert wrench(bench, 0)[0] == pytest.approx(np.zeros(3)) and wrench(bench, 1)[
        1
    ] == pytest.approx(np.cross(points[1] - A.place, T * (along[1] - along[0])))
    ((index, value),) = [record[1:] for record in bench.forces if record[0] == L.Force.COORDINATE]
    assert index == 1 and bench.values(value) == pytest.approx([-0.2 * T])
    book = bench.books["f"]
    assert bench.value(book.power()) == pytest.approx(-T * (growth + 0.08)) and bench.value(
        book.stored
    ) == pytest.approx(40.0 * stretch**2)
    assert bench.value(book.dissipation()) == pytest.approx(
        2.0 * (growth + 0.08) ** 2
    ) and bench.values(book.force()) == pytest.approx(T * along[0])
    slack = lowered("rope", **keys | {"length": 9.0})
    assert (
        slack.value("force('f')") == 0.0
        and slack.value(slack.books["f"].stored) == 0.0
        and slack.value("f.elongation") < 0.0
    )


@pytest.mark.parametrize(
    ("x", "rate", "force"),
    [
        (0.04, 3.0, 0.0),
        (0.05, 3.0, 0.0),
        (0.15, 0.0, -3.0),
        (0.15, 1.0, -3.4),
        (0.15, -9.0, 0.0),
        (-0.15, 0.0, 3.0),
        (-0.15, 9.0, 0.0),
        (-0.15, -1.0, 3.4),
    ],
)
def test_gear_teeth_touch_beyond_half_backlash(x: float, rate: float, force: float):
    """Stiffness 30 beyond 0.05, damping 0.4 without pulling; 2.5 times as much along the other coordinate."""
    bench = lowered(
        "gear",
        coordinate="x",
        other="y",
        ratio=2.5,
        stiffness=30.0,
        damping=0.4,
        backlash=0.1,
        **{"x": x - 0.5, "y": 0.2, "der(x)": rate - 1.0, "der(y)": 0.4},
    )
    assert bench.value("force('f')") == pytest.approx(force, abs=1e-12) and bench.value(
        "f.mesh"
    ) == pytest.approx(x)
    ((first, one), (second, two)) = [record[1:] for record in bench.forces]
    assert (
        (first, second) == (0, 1)
        and bench.values(one) == pytest.approx([force], abs=1e-12)
        and bench.values(two) == pytest.approx([2.5 * force], abs=1e-12)
    )
    deep = max(abs(x) - 0.05, 0.0)
    book = bench.books["f"]
    assert bench.value(book.power()) == pytest.approx(force * rate, abs=1e-12) and bench.value(
        book.stored
    ) == pytest.approx(15.0 * deep**2, abs=1e-12)
    spring = -30.0 * math.copysign(deep, x)
    assert bench.value(book.dissipation()) == pytest.approx((spring - force) * rate, abs=1e-12)
    plain = lowered(
        "gear",
        coordinate="x",
        other="y",
        ratio=2.5,
        stiffness=30.0,
        damping=0.4,
        **{"x": x - 0.5, "y": 0.2, "der(x)": rate - 1.0, "der(y)": 0.4},
    )
    assert plain.value("force('f')") == pytest.approx(-(30.0 * x + 0.4 * rate))


def test_tension_only_lines_do_not_push():
    law = {"between": ENDS, "stiffness": 80.0, "damping": 0.6}
    away = B.at(SECOND) - A.at(FIRST)
    size, rate = (
        np.linalg.norm(away),
        away @ (B.speed(SECOND) - A.speed(FIRST)) / np.linalg.norm(away),
    )
    for length in (size - 0.1, size + 0.1):
        spring = -(80.0 * (size - length) + 0.6 * rate)
        bench = lowered("line", **law, length=float(length))
        assert bench.value("force('f')") == pytest.approx(spring) and bench.value(
            bench.potential_of["f"]
        ) == pytest.approx(0.4)
        assert bench.values(bench.books["f"].force()) == pytest.approx(
            -spring * away / size
        ) and bench.value("f.rate") == pytest.approx(rate)
        rope, buffer = (
            lowered("line", **law, length=float(length), **{key: True})
            for key in ("tension_only", "compression_only")
        )
        taut = length < size
        assert rope.value("force('f')") == pytest.approx(
            min(spring, 0.0) if taut else 0.0
        ) and rope.value(rope.potential_of["f"]) == pytest.approx(0.4 * taut)
        assert buffer.value("force('f')") == pytest.approx(
            0.0 if taut else max(spring, 0.0)
        ) and buffer.value(buffer.potential_of["f"]) == pytest.approx(0.4 * (not taut))


@pytest.mark.parametrize("frame", ["ground", "body"])
def test_wrenches_report_power(frame: str):
    force, moment = np.array([1.0, -2.0, 0.5]), np.array([0.1, 0.2, -0.3])
    bench = lowered(
        "wrench",
        body="a",
        point=FIRST.tolist(),
        force=force.tolist(),
        moment=moment.tolist(),
        frame=frame,
    )
    R = A.R if frame == "body" else np.eye(3)
    book = bench.books["f"]
    assert bench.values(book.force()) == pytest.approx(R @ force) and bench.values(
        book.moment()
    ) == pytest.approx(R @ moment)
    power = R @ force @ A.speed(FIRST) + R @ moment @ A.spin
    assert bench.value(book.power()) == pytest.approx(power) and bench.value(
        book.dissipation()
    ) == pytest.approx(-power)
    assert bench.value("force('f')") == pytest.approx(np.linalg.norm(force)) and bench.forces[0][
        -1
    ] == (frame == "body")
    pair = lowered("pair", between=ENDS, force=force.tolist(), moment=moment.tolist(), frame=frame)
    assert pair.value("force('f')") == pytest.approx(np.linalg.norm(force))
    carried = B.velocity + np.cross(B.spin, A.at(FIRST) - B.place)
    expected = R @ force @ (A.speed(FIRST) - carried) + R @ moment @ (A.spin - B.spin)
    assert (
        pair.value(pair.books["f"].power()) == pytest.approx(expected)
        and pair.forces[0][:2] == (L.Force.PAIR, 1)
        and pair.forces[0][-1] == (frame == "body")
    )
