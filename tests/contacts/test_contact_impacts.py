"""Impacts: closed forms of textbooks, dense algebra, and energy that never grows."""

import math

import numpy as np
import pytest
from contacts import G, feet, line_of_balls, plane_block, system

ROUNDING = 1e-11  # of located instants and of speeds of order 1
ROD = {"mass": 1.3, "com": [0.1, 0.02, -0.5], "inertia": [0.12, 0.1, 0.06, 0.01, -0.02, 0.005]}


def after(parts: dict, **more) -> dict[str, float]:
    """Speeds just after an impact at the start."""
    made = system(parts, **more)
    result = made.simulate(stop_time=1e-6, output_step=1e-6)
    return {name: float(result[name][0]) for name in made.speeds}


def ball(height: float, **keys) -> dict:
    return {
        "bodies": {"ball": {"mass": 2.0, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}},
        "joints": {
            "line": {
                "child": "ball",
                "type": "prismatic",
                "axis": "z",
                "coordinates": ["z"],
                "start": height + 0.1,
            }
        },
        "contacts": {"floor": {"body": "ball", "radius": 0.1, **keys}},
    }


def test_bouncing_ball_rests_after_finite_impacts():
    """Impact k at √(2h/g) (1 + 2 e + ... + 2 e^k) leaves e^(k+1) of the first speed; the first that would leave less than rest_speed ends in rest."""
    e, rest = 0.6, 1e-3
    made = system(
        ball(1.0, restitution=e, rest_speed=rest),
        outputs={"load": "floor.force", "blow": "floor.impulse", "closed": "floor.state"},
    )
    result = made.simulate(stop_time=3.0, output_step=0.1, tolerance=1e-10)
    first, speed = math.sqrt(2.0 / G), math.sqrt(2.0 * G)
    count = next(k for k in range(100) if speed * e ** (k + 1) <= rest) + 1
    expected = [first * (1 + 2 * sum(e**j for j in range(1, k + 1))) for k in range(count)]
    assert [event.time for event in result.events] == pytest.approx(expected, abs=ROUNDING)
    assert {event.cause for event in result.events} == {"contact 'floor'"}
    assert result["blow"][5] == pytest.approx(
        2.0 * speed * (1 + e), abs=ROUNDING
    )  # the first one, at 0.45 s
    assert result["z"][-1] == pytest.approx(0.1, abs=1e-12) and abs(result["der(z)"][-1]) < 1e-12
    assert result["load"][-1] == pytest.approx(2.0 * G, rel=1e-12) and result["closed"][-1] == 1.0
    assert result["der(der(z))"][-1] == pytest.approx(0.0, abs=1e-12) and result["der(der(z))"][
        0
    ] == pytest.approx(-G)


def test_contact_resting_at_the_start_causes_no_event():
    """What touches and rests at the start is no event."""
    result = system(ball(0.0), outputs={"load": "floor.force"}).simulate(
        stop_time=0.5, output_step=0.1
    )
    assert (
        not result.events
        and result["load"] == pytest.approx(2.0 * G, rel=1e-12)
        and np.ptp(result["z"]) < 1e-14
    )


@pytest.mark.parametrize("law", ["newton", "poisson", "energetic"])
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_central_impact_of_two_bodies_matches_newton(law: str, e: float):
    """Without friction the three hypotheses are one: momentum stays, the relative speed turns to -e of itself."""
    parts = line_of_balls(2, restitution=e, law=law)
    parts["bodies"]["b1"]["mass"] = 3.0
    result = system(parts).simulate(stop_time=2.0, output_step=1.0)
    v = result["der(x0)"][-1], result["der(x1)"][-1]
    assert v[0] + 3.0 * v[1] == pytest.approx(1.0, abs=ROUNDING) and v[1] - v[0] == pytest.approx(
        e, abs=ROUNDING
    )
    assert result.events[0].time == pytest.approx(1.0, abs=ROUNDING)
    assert result.events[0].energy_loss == pytest.approx(0.5 * 0.75 * (1 - e * e), abs=ROUNDING)


@pytest.mark.parametrize(
    "order, expected",
    [("sequential", [0, 0, 0, 0, 1.0]), ("simultaneous", [-0.6, 0.4, 0.4, 0.4, 0.4])],
)
def test_newtons_cradle_transfers_all_speed(order: str, expected: list[float]):
    """Four balls in touch, hit by a fifth with e = 1: in sequence the last one leaves with all the speed; at once by Newton's hypothesis as here."""
    result = system(line_of_balls(5, restitution=1.0), run={"impacts": order}).simulate(
        stop_time=1.5, output_step=0.5
    )
    assert [result[f"der(x{k})"][-1] for k in range(5)] == pytest.approx(expected, abs=ROUNDING)
    assert len(result.events) == 1 and abs(result.events[0].energy_loss) < ROUNDING


def test_newtons_cradle_with_gaps_has_sequential_impacts():
    """Balls 1 mm apart: four impacts one after another, the same end by either rule."""
    for order in ("sequential", "simultaneous"):
        result = system(
            line_of_balls(5, gap=1e-3, restitution=1.0), run={"impacts": order}
        ).simulate(stop_time=1.5, output_step=0.5)
        assert [result[f"der(x{k})"][-1] for k in range(5)] == pytest.approx(
            [0, 0, 0, 0, 1.0], abs=ROUNDING
        )
        assert len(result.events) == 4


def falling_rod(angle: float, friction: float, e: float, law: str, slip: float = 0.0) -> dict:
    """A uniform rod of 1 kg and 2 m that comes down on its lower end with 1 m/s; x-z plane."""
    transforms = [
        {"shift": "x", "coordinate": "x", "speed": slip},
        {"shift": "z", "coordinate": "z", "start": math.sin(angle), "speed": -1.0},
        {"rotate": "y", "coordinate": "phi", "start": -angle},
    ]
    tip = {"body": "rod", "point": [-1, 0, 0], "restitution": e, "friction": friction, "law": law}
    rod = {"mass": 1.0, "inertia": [1e-3, 1 / 3, 1 / 3, 0, 0, 0]}
    return {
        "gravity": [0, 0, 0],
        "bodies": {"rod": rod},
        "joints": {"move": {"child": "rod", "transforms": transforms}},
        "contacts": {"tip": tip},
    }


@pytest.mark.parametrize("law", ["newton", "poisson", "energetic"])
def test_sliding_rod_impact_matches_formula(law: str):
    """With little friction and much slip the direction does not change: x_n = (1 + e) v_n/(G_nn - μ G_nt d), alike for all hypotheses."""
    angle, friction, e, slip = 1.0, 0.1, 0.5, 5.0
    found = after(falling_rod(angle, friction, e, law, slip))
    # velocity of the tip r = (-cos, -sin) from the centre: ż + φ̇ cos, ẋ - φ̇ sin (rotation about y turns z to x)
    a, b = math.cos(angle), -math.sin(angle)
    G_nn, G_nt = 1 + 3 * a * a, 3 * a * b
    x = (1 + e) / (G_nn - friction * G_nt)
    assert found["der(z)"] == pytest.approx(-1 + x, abs=ROUNDING)
    assert found["der(x)"] == pytest.approx(slip - friction * x, abs=ROUNDING)
    assert found["der(phi)"] == pytest.approx(3 * (a * x - b * friction * x), abs=ROUNDING)


@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_sticking_rod_impact_matches_formula(law: str):
    """With much friction the tip stops: x solves G x = -(v + e v_n), or its two phases, and lies in the cone."""
    angle, e = 1.2, 0.3
    found = after(falling_rod(angle, 5.0, e, law))
    a, b = math.cos(angle), -math.sin(angle)
    mobility = np.array([[1 + 3 * a * a, 3 * a * b], [3 * a * b, 1 + 3 * b * b]])
    x = np.linalg.solve(mobility, [1.0 + e, 0.0] if law == "newton" else [1.0, 0.0])
    if law == "poisson":  # expansion: the normal impulse is given, friction holds the tip
        x = x + np.array([e * x[0], -mobility[0, 1] * e * x[0] / mobility[1, 1]])
    assert [found["der(z)"], found["der(x)"], found["der(phi)"]] == pytest.approx(
        [-1 + x[0], x[1], 3 * (a * x[0] + b * x[1])], abs=ROUNDING
    )


def test_energetic_restitution_returns_work_fraction():
    """Normal work of expansion over that of compression is -e²; the rod sticks in both phases, so that each is a straight line."""
    angle, e = 1.2, 0.6
    a, b = math.cos(angle), -math.sin(angle)
    mobility = np.array([[1 + 3 * a * a, 3 * a * b], [3 * a * b, 1 + 3 * b * b]])
    effective = mobility[0, 0] - mobility[0, 1] ** 2 / mobility[1, 1]  # with the tip held sideways
    found = after(falling_rod(angle, 5.0, e, "energetic"))
    parting = found["der(z)"] + a * found["der(phi)"]
    assert parting == pytest.approx(e, abs=ROUNDING)  # W_c = ½/effective, W_e = ½ v²/effective
    assert effective > 0.0


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("law", ["newton", "poisson", "energetic"])
def test_impacts_never_increase_energy(seed: int, law: str):
    """Random blocks against the floor with friction, on one or two corners: no hypothesis may add energy; Newton's would (Kane and Levinson)."""
    random = np.random.default_rng(seed)
    width, height, e, friction = (
        1.0,
        float(random.uniform(0.2, 3.0)),
        float(random.uniform(0.3, 1.0)),
        float(random.uniform(0.1, 2.0)),
    )
    tilt = 0.0 if seed % 3 == 0 else float(random.uniform(0.05, 1.2))
    centre = 0.5 * (width * math.sin(tilt) + height * math.cos(tilt))
    speed = (
        float(random.normal()) * 3,
        -abs(float(random.normal())) - 0.1,
        float(random.normal()) * 2,
    )
    parts = plane_block(width, height, (0.0, centre, tilt), speed)
    found = after(
        parts,
        gravity=[0, 0, 0],
        contacts=feet(width, height, restitution=e, friction=friction, law=law),
    )
    inertia = (width**2 + height**2) / 12
    before, then = (
        v[0] ** 2 + v[1] ** 2 + inertia * v[2] ** 2 for v in (speed, tuple(found.values()))
    )
    assert then <= before * (1 + 1e-12)
    for sign in (-1, 1):  # corners on the floor do not go into it
        x, z = sign * width / 2, -height / 2
        low = centre - x * math.sin(tilt) + z * math.cos(tilt)
        if low < 1e-9:
            assert (
                found["der(z)"] - (x * math.cos(tilt) + z * math.sin(tilt)) * found["der(phi)"]
                > -1e-9
            )


def space_pendulum() -> dict:
    """A double pendulum in space."""

    def turn(axis: str, name: str, start: float, speed: float) -> dict:
        return {"rotate": axis, "coordinate": name, "start": start, "speed": speed}

    joints = {
        "a": {"child": "a", "transforms": [turn("y", "p", 0.4, 1.0), turn("x", "o", 0.2, 0.3)]},
        "b": {
            "parent": "a",
            "child": "b",
            "at": [0, 0, -1],
            "transforms": [turn("x", "q", -0.3, 2.0), turn("y", "r", 0.2, -1.0)],
        },
    }
    return {"bodies": {"a": ROD, "b": ROD}, "joints": joints}


@pytest.mark.parametrize("friction, e", [(0.0, 0.5), (0.3, 0.0), (3.0, 0.0), (30.0, 0.0)])
def test_impact_matches_dense_linear_algebra(friction: float, e: float):
    """A tip in space meets a skew wall: M (u⁺ - u⁻) = Jᵀ x with the mass matrix and the tip's Jacobian, and the laws of Newton and Coulomb.

    Friction of 3 slips in a direction that turns during the solution; a Gauss-Seidel sweep circles there for ever.
    """
    free = system(space_pendulum())
    q, u = free.start()
    tip = [0.1, -0.05, -1.1]
    point = free.point(0.0, q, u, "b", tip)
    normal = np.array([1.0, -2.0, 2.0]) / 3.0
    normal = normal if normal @ point.velocity < 0 else -normal
    wall = {
        "body": "b",
        "point": tip,
        "at": point.position.tolist(),
        "normal": normal.tolist(),
        "restitution": e,
        "friction": friction,
    }
    found = np.array(list(after(space_pendulum(), contacts={"wall": wall}).values()))
    mass, J = free.mass_matrix(0.0, q), np.asarray(point.jacobian)[:3]
    x, residual, _, _ = np.linalg.lstsq(J.T, mass @ (found - u), rcond=None)
    assert np.abs(J.T @ x - mass @ (found - u)).max() < 1e-10
    before, then = J @ u, J @ found
    assert normal @ then == pytest.approx(-e * (normal @ before), abs=1e-10)
    push, drag, slip = normal @ x, x - normal * (normal @ x), then - normal * (normal @ then)
    assert push > 0.0
    if np.linalg.norm(slip) < 1e-9:
        assert np.linalg.norm(drag) <= friction * push
    else:
        assert drag == pytest.approx(-friction * push * slip / np.linalg.norm(slip), abs=1e-9)
