"""Impacts of contacts that given motions drive across the only way that joints leave them, or without one: dense algebra and closed forms."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contacts import G, system
from exchange_host import Exchange
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.engine.status import EvaluationError

EXACT = 1e-10  # of speeds and impulses of order 1: rounding of both solutions
NOW = 1e-9  # s: as good as the instant of an impact at the start


def thrown(across: float, slip: float, e: float, law: str, mu: float = 0.4) -> dict[str, Any]:
    """A point on a floor, free along x and z and driven along y; it comes down with 1.5 m/s."""
    transforms = [
        {"shift": "x", "coordinate": "x", "speed": slip},
        {"shift": "y", "by": f"{across}*t"},
        {"shift": "z", "coordinate": "z", "speed": -1.5},
    ]
    return {
        "bodies": {"b": {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "b", "transforms": transforms}},
        "contacts": {"floor": {"body": "b", "friction": mu, "restitution": e, "law": law}},
        "outputs": {"blow": "floor.impulse", "state": "floor.state"},
    }


def slip_left(slip: float, across: float, bound: float) -> float:
    """s with s + bound s/√(s² + across²) = slip: friction of an impulse over the mass, `bound`, takes its share along the way."""
    return brentq(
        lambda s: s + bound * s / math.hypot(s, across) - slip, 0.0, slip, xtol=1e-16, rtol=1e-14
    )


@pytest.mark.parametrize(
    "law, e", [("newton", 0.0), ("newton", 0.6), ("poisson", 0.6), ("energetic", 0.6)]
)
@pytest.mark.parametrize("across", [2.0, -0.3, 2e-2])
@pytest.mark.parametrize("slip", [3.0, 0.4])
def test_impact_friction_opposes_prescribed_slip(law: str, e: float, across: float, slip: float):
    """x_n = (1 + e) m v, at once or in two phases; what would stop without the drive, 0.4 m/s, creeps on, and the contact slides."""
    found = system(thrown(across, slip, e, law), gravity=[0, 0, 0]).simulate(
        stop_time=NOW, output_step=NOW
    )
    blows = [1.5 * (1 + e)] if law == "newton" else [1.5, 1.5 * e]
    expected = slip
    for blow in blows:
        expected = slip_left(expected, across, 0.4 * blow) if blow else expected
    assert found["der(x)"][0] == pytest.approx(expected, abs=EXACT)
    assert found["der(z)"][0] == pytest.approx(1.5 * e, abs=EXACT) and found["blow"][
        0
    ] == pytest.approx(2.0 * 1.5 * (1 + e), abs=EXACT)
    assert found["state"][0] == (0.0 if e else 2.0)


def pushed(law: str, push: float) -> dict[str, Any]:
    """A point of 2 kg at rest on a floor, pushed along x, where it is free, by less than the 7.85 N of friction, and given its motion along y."""
    transforms = [
        {"shift": "x", "coordinate": "x"},
        {"shift": "y", "by": law},
        {"shift": "z", "coordinate": "z"},
    ]
    return {
        "format": "kinetree/1",
        "name": "pushed",
        "gravity": [0, 0, -G],
        "bodies": {"b": {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "b", "transforms": transforms}},
        "forces": {"push": {"kind": "wrench", "body": "b", "force": [push, 0, 0]}},
        "contacts": {"floor": {"body": "b", "friction": 0.4}},
        "outputs": {"state": "floor.state", "drag": "floor.friction"},
    }


FRICTION = 0.4 * 2.0 * G  # N
# motion across that begins smoothly, its speed, and from when on it has one
BEGINNINGS: dict[str, tuple[Callable[[float], float], float]] = {
    "0.1*t**2": (lambda t: 0.2 * t, 0.0),
    "-0.1*t**3": (lambda t: -0.3 * t * t, 0.0),
    "0.1*(1 - cos(10*t))": (lambda t: math.sin(10 * t), 0.0),
    "0.1*max(t - 0.1, 0)**2": (lambda t: 0.2 * max(t - 0.1, 0.0), 0.1),
    "1e-4*(1 - cos(3*t))": (lambda t: 3e-4 * math.sin(3 * t), 0.0),
}


def creeps(law: str, push: float, times: np.ndarray) -> np.ndarray:
    """x of `pushed` by m x'' = push - friction x'/|v|; it begins as it goes on, with push = friction x'/|v|."""
    speed, begin = BEGINNINGS[law]

    def rates(t: float, y: np.ndarray) -> list[float]:
        return [y[1], (push - FRICTION * y[1] / math.hypot(y[1], speed(t))) / 2.0]

    first = begin + 1e-7
    start = [0.0, abs(speed(first)) * math.tan(math.asin(push / FRICTION))]
    return solve_ivp(
        rates, (first, times[-1]), start, method="Radau", rtol=1e-10, atol=1e-14, t_eval=times
    ).y[0]


@pytest.mark.parametrize("integrator", ["adams", "radau", "verner65"])
@pytest.mark.parametrize("push", [2.0, -7.0])
@pytest.mark.parametrize("law", BEGINNINGS)
def test_contact_dragged_by_given_motion_creeps_along_push(law: str, push: float, integrator: str):
    """Friction that held the push turns to the motion, however softly that begins; slips of up to 1 um/s are told as they would become."""
    found = system(pushed(law, push)).simulate(0.4, output_step=0.1, integrator=integrator)
    assert found["x"][2:] == pytest.approx(creeps(law, push, found.time[2:]), abs=1e-6 * 0.4)
    assert found["state"][-1] == 2.0 and found["drag"][1:] == pytest.approx(
        [FRICTION] * 4, rel=1e-9
    )


@pytest.mark.parametrize("integrator", ["adams", "radau", "verner65"])
@pytest.mark.parametrize("lean", [0.5, -0.5])
def test_oblique_guide_adds_normal_force(lean: float, integrator: str):
    """The point is free along x and along (0, lean, 1); y = 0.1 t². Along that guide m lean y'' = N - m g - lean μ N y'/|v|, on x as before.

    At first x' = y' tan a, so that the push less friction is m y'' tan a.
    """
    parts, F, m, mu = pushed("0.1*t**2", 2.0), 2.0, 2.0, 0.4
    parts["joints"]["j"]["transforms"][2] = {"shift": [0, lean, 1], "coordinate": "w"}

    def load(along: float) -> float:
        return m * (G + lean * 0.2) / (1.0 - lean * mu * along)

    def rates(t: float, y: np.ndarray) -> list[float]:
        v = math.hypot(y[1], 0.2 * t)
        return [y[1], (F - mu * load(0.2 * t / v) * y[1] / v) / m]

    begins = brentq(
        lambda angle: mu * load(math.cos(angle)) * math.sin(angle) + m * 0.2 * math.tan(angle) - F,
        0.0,
        1.5,
        xtol=1e-15,
    )
    times = np.linspace(0.1, 0.4, 4)
    x = solve_ivp(
        rates,
        (1e-7, 0.4),
        [0.0, 0.2e-7 * math.tan(begins)],
        method="Radau",
        rtol=1e-10,
        atol=1e-14,
        t_eval=times,
    ).y[0]
    found = system(parts).simulate(0.4, output_step=0.1, integrator=integrator)
    assert found["x"][1:] == pytest.approx(x, abs=1e-8)
    assert (
        found["drag"][0] == pytest.approx(mu * load(math.cos(begins)), rel=1e-6)
        and np.abs(found["w"]).max() < 1e-9
    )


def test_body_rests_after_dragging_ends():
    """The motion across begins and ends without a corner of its speed: 10 s³ - 15 s⁴ + 6 s⁵ of 0.1 m within 0.3 s. Then nothing creeps."""
    law = "0.1*min(t/0.3, 1)**3*(10 - 15*min(t/0.3, 1) + 6*min(t/0.3, 1)**2)"
    ends = {
        name: system(pushed(law, 2.0)).simulate(0.6, output_step=0.1, integrator=name)
        for name in ("adams", "radau", "verner65")
    }
    x = [result["x"][3] for result in ends.values()]
    assert max(x) - min(x) < 1e-7 and min(x) > 0.015
    for name, result in ends.items():
        assert np.abs(result["x"][3:] - result["x"][3]).max() < 1e-6, name


def test_model_exchange_detects_start_of_dragging(tmp_path: Path):
    """Instants by halving, in steps of 2 ms, which are too long for the direction of a slip slower than 5 mm/s: 1e-5 m of it."""
    law = "0.1*max(t - 0.1, 0)**2"
    host = Exchange(
        build_fmu(load(pushed(law, 2.0)), tmp_path / "pushed.fmu", "native", 2),
        tmp_path / "unpacked",
        2e-3,
    )
    host.advance(0.4)
    assert host.read("x") == pytest.approx(creeps(law, 2.0, np.array([0.4]))[0], abs=1e-5)
    host.end()


def test_followed_input_drags_contact():
    """As a given motion: the host says how fast the point goes across."""
    parts = thrown(0.0, 3.0, 0.0, "newton")
    parts["joints"]["j"]["transforms"][1] = {
        "shift": "y",
        "follow": {"input": "y", "rate": "v", "acceleration": "a"},
    }
    found = system(
        parts,
        gravity=[0, 0, 0],
        inputs={"y": {"start": 0.0}, "v": {"start": -1.2}, "a": {"start": 0.0}},
    ).simulate(NOW, output_step=NOW)
    assert found["der(x)"][0] == pytest.approx(slip_left(3.0, -1.2, 0.4 * 1.5), abs=EXACT)


def carried(seed: int, turns: int) -> tuple[dict[str, Any], list[float]]:
    """An arm that shifts and turns, or turns alone, on a carriage that is driven along a skew line; its tip."""
    random = np.random.default_rng(seed)
    free = [
        {
            "rotate": "yxz"[c],
            "coordinate": f"q{c}",
            "start": float(random.uniform(-1, 1)),
            "speed": float(random.normal()),
        }
        for c in range(turns)
    ]
    drive = [{"shift": axis, "by": f"{random.normal()!r}*t"} for axis in "xyz"]
    parts = {
        "bodies": {
            "arm": {
                "mass": 1.4,
                "com": [0.1, -0.2, 0.3],
                "inertia": [0.3, 0.4, 0.35, 0.02, -0.03, 0.04],
            }
        },
        "joints": {"j": {"child": "arm", "transforms": [*drive, *free]}},
        "gravity": [0, 0, 0],
    }
    return parts, random.normal(size=3).round(3).tolist()


def dense_impact(
    J: np.ndarray, mass: np.ndarray, before: np.ndarray, e: float, mu: float
) -> tuple[np.ndarray, np.ndarray]:
    """Change of the speeds by Newton's law and what is left along the ways, by the root of one equation; rows of J are normal and plane."""
    mobility = J @ np.linalg.solve(mass, J.T)
    G_nn, G_nt, G_tt = mobility[0, 0], mobility[0, 1:], mobility[1:, 1:]
    still = before[1:] - G_nt / G_nn * before[0]  # along the plane while the gap holds
    values, vectors = np.linalg.eigh(G_tt - np.outer(G_nt, G_nt) / G_nn)
    way = vectors[:, 1] if values[1] > 1e-9 else np.zeros(2)
    assert values[0] < 1e-9 and G_nn > mu * np.linalg.norm(G_nt)  # one solution
    drift = still - way * (way @ still)

    def impulse(s: float) -> np.ndarray:
        d = (s * way + drift) / np.hypot(s, np.linalg.norm(drift))
        return -(1 + e) * before[0] / (G_nn - mu * G_nt @ d) * np.array([1.0, *(-mu * d)])

    def misses(s: float) -> float:
        return s - way @ (before[1:] + mobility[1:] @ impulse(s))

    s = brentq(misses, -1e3, 1e3, xtol=1e-16, rtol=1e-15) if way.any() else 0.0
    return np.linalg.solve(mass, J.T @ impulse(s)), impulse(s)


@pytest.mark.parametrize("e", [0.0, 0.5])
@pytest.mark.parametrize("turns", [1, 2])
@pytest.mark.parametrize("seed", range(1, 6))
def test_driven_tip_matches_dense_algebra(seed: int, turns: int, e: float):
    """One way, or none, on skew planes: what is driven across them pushes the tip into the plane, or out of it, by its friction."""
    parts, tip = carried(seed, turns)
    free, mu = system(parts), 0.25
    q, u = free.start()
    point, rest = free.point(0.0, q, u, "arm", tip), free.point(0.0, q, 0.0 * u, "arm", tip)
    random = np.random.default_rng(seed + 100)
    frame = np.linalg.qr(random.normal(size=(3, 3)))[0].T
    frame[0] *= -math.copysign(1.0, frame[0] @ point.velocity)
    jacobian = np.asarray(point.jacobian)[:3]
    assert point.velocity == pytest.approx(jacobian @ u + rest.velocity, abs=1e-12)
    change, impulse = dense_impact(
        frame @ jacobian, free.mass_matrix(0.0, q), frame @ point.velocity, e, mu
    )
    wall = {
        "body": "arm",
        "point": tip,
        "at": point.position.tolist(),
        "normal": frame[0].tolist(),
        "friction": mu,
        "restitution": e,
    }
    found = system(parts, contacts={"wall": wall}, outputs={"blow": "wall.impulse"}).simulate(
        NOW, output_step=NOW
    )
    assert [found[name][0] for name in free.speeds] == pytest.approx(
        u + change, abs=1e-8
    )  # of what moves on within the instant that is looked at
    assert found["blow"][0] == pytest.approx(impulse[0], rel=1e-8)


@pytest.mark.parametrize("order", ["simultaneous", "sequential"])
def test_two_driven_feet_share_slip(order: str):
    """A flat block on both feet: together they stop m v at once; in turns each blow, x = w/G, lets the other foot come down, w = (1/m - l²/I) x."""
    parts = thrown(0.7, 2.0, 0.0, "newton")
    parts["joints"]["j"]["transforms"].append({"rotate": "y", "coordinate": "tilt"})
    foot = parts["contacts"].pop("floor")
    parts["contacts"] = {
        side: foot | {"point": [sign * 0.8, 0, 0]} for side, sign in (("left", -1), ("right", 1))
    }
    parts["outputs"] = {"blow": "left.impulse + right.impulse"}
    found = system(parts, gravity=[0, 0, 0], run={"impacts": order}).simulate(NOW, output_step=NOW)
    blows, approach, other, own, cross = (
        [],
        1.5,
        1.5,
        1 / 2.0 + 0.8**2 / 1.0,
        1 / 2.0 - 0.8**2 / 1.0,
    )
    while (
        order == "sequential" and approach > 1e-3
    ):  # the speed of rest: what is slower ends together
        blows.append(approach / own)
        approach, other = other - cross * blows[-1], 0.0
    slip = 2.0
    for blow in [*blows, 2.0 * 1.5 - sum(blows)]:
        slip = slip_left(slip, 0.7, 0.4 * blow / 2.0)
    assert found["blow"][0] == pytest.approx(2.0 * 1.5, abs=EXACT) and found["der(tilt)"][
        0
    ] == pytest.approx(0.0, abs=EXACT)
    assert found["der(x)"][0] == pytest.approx(slip, abs=EXACT)


@pytest.mark.parametrize("belt, friction", [("x", 0.6), ("x", -0.6), ("y", 0.6)])
def test_rod_falling_on_a_belt_matches_reference(belt: str, friction: float):
    """No way is left to the tip: I ω = x_n (cos φ ± μ sin φ) on a belt that runs away from the hinge or to it, x_n cos φ on one that runs across."""
    angle, mu = -0.5, abs(friction)
    parts = {
        "gravity": [0, 0, 0],
        "bodies": {
            "rod": {"mass": 2.0, "com": [0.5, 0, 0], "inertia": [1e-3, 0.17, 0.17, 0, 0, 0]},
            "belt": {"mass": 1.0},
        },
        "joints": {
            "hinge": {
                "child": "rod",
                "type": "revolute",
                "axis": "y",
                "coordinates": ["phi"],
                "start": -angle,
                "speed": 1.5,
            },
            "run": {
                "child": "belt",
                "transforms": [{"shift": belt, "by": f"{math.copysign(2.0, friction)}*t"}],
            },
        },
        "contacts": {
            "tip": {
                "body": "rod",
                "point": [1, 0, 0],
                "on": "belt",
                "at": [0, 0, math.sin(angle)],
                "friction": mu,
            }
        },
        "outputs": {"blow": "tip.impulse"},
    }
    made = system(parts)
    found = made.simulate(NOW, output_step=NOW)
    moment = float(made.mass_matrix(0.0, made.start()[0])[0, 0]) * 1.5
    lever = math.cos(angle) + (friction * math.sin(-angle) if belt == "x" else 0.0)
    assert found["der(phi)"][0] == pytest.approx(0.0, abs=1e-8) and found["blow"][
        0
    ] == pytest.approx(moment / lever, rel=1e-8)


def test_jammed_rod_is_an_error():
    """It runs into a rod so steep that friction presses more than it holds apart, cos φ < μ sin φ: rigid bodies have no impulse there."""
    rod = {"mass": 2.0, "com": [0.5, 0, 0], "inertia": [1e-3, 0.17, 0.17, 0, 0, 0]}
    hinge = {
        "child": "rod",
        "type": "revolute",
        "axis": "y",
        "coordinates": ["phi"],
        "start": 1.0,
        "speed": 1.5,
    }
    joints = {
        "hinge": hinge,
        "run": {"child": "belt", "transforms": [{"shift": "x", "by": "-2*t"}]},
    }
    tip = {
        "body": "rod",
        "point": [1, 0, 0],
        "on": "belt",
        "at": [0, 0, -math.sin(1.0)],
        "friction": 2.0,
    }
    made = system(
        {
            "gravity": [0, 0, 0],
            "bodies": {"rod": rod, "belt": {"mass": 1.0}},
            "joints": joints,
            "contacts": {"tip": tip},
        }
    )
    with pytest.raises(EvaluationError, match="'tip'"):
        made.simulate(NOW, output_step=NOW)


def bouncing() -> dict[str, Any]:
    """The point of `thrown` falls by 0.2 m, with e = 0.7, driven across with 0.5 m/s."""
    parts = thrown(0.5, 2.0, 0.7, "newton", 0.2)
    parts["joints"]["j"]["transforms"][2] |= {"start": 0.2, "speed": 0.0}
    return {"format": "kinetree/1", "name": "bouncing", "gravity": [0, 0, -G], **parts}


def thrown_on(stop: float) -> tuple[float, int]:
    """x of `bouncing` at an instant, and how often it has touched: between blows it goes on evenly."""
    slip, x, t, fall, count = 2.0, 0.0, math.sqrt(2 * 0.2 / G), math.sqrt(2 * 0.2 * G), 0
    begin = 0.0
    while t < stop:
        x, begin, count = x + slip * (t - begin), t, count + 1
        slip = slip_left(slip, 0.5, 0.2 * 1.7 * fall)
        fall *= 0.7
        t += 2 * fall / G
    return x + slip * (stop - begin), count


@pytest.mark.parametrize("integrator", ["adams", "radau", "verner65"])
def test_repeated_impacts_of_a_driven_body_match_reference(integrator: str):
    """However the flights between are integrated, each blow leaves its share along the way."""
    x, count = thrown_on(1.0)
    found = (
        load(bouncing())
        .compile()
        .simulate(1.0, output_step=0.5, integrator=integrator, tolerance=1e-10)
    )
    assert len(found.events) == count > 4 and found["x"][-1] == pytest.approx(x, abs=1e-9)


def test_model_exchange_gives_same_impacts(tmp_path: Path):
    """Instants by halving, in steps of 2 ms."""
    host = Exchange(
        build_fmu(load(bouncing()), tmp_path / "bouncing.fmu", "native", 2),
        tmp_path / "unpacked",
        2e-3,
    )
    host.advance(1.0)
    assert host.read("x") == pytest.approx(thrown_on(1.0)[0], abs=1e-8)
    host.end()
