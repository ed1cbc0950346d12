"""What must not hang on rounding or on the steps: impacts of contacts at rest beside others, slips that turn, and some that a host left before."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import simulate_fmu
from scipy.integrate import solve_ivp
from test_contacts_in_model_exchange import coordinates, shoe, stands

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load

INTEGRATORS = ("adams", "radau", "tsit5", "verner65", "rk45")


def held_twice() -> dict[str, Any]:
    """A body on a ball joint and a rod, so that two freedoms are left: one contact comes to rest, which leaves one, then another one bounces.

    While it does, impulses of both contacts and friction along the one way press against each other: there is more than one answer to what holds.
    """
    body = {
        "mass": 1.3812845486715295,
        "com": [0.088, -0.041, -0.216],
        "inertia": [
            0.5879107850779393,
            0.7863383006005897,
            0.559096738458015,
            -0.054757167072743675,
            -0.3373572923916423,
            0.0001475256136325223,
        ],
    }
    start = [0.9082200601902313, 0.4172374390695839, 0.032223954672375085, 0.013391773370337697]
    joint = {
        "child": "b",
        "type": "spherical",
        "at": [-0.095, -0.253, -0.215],
        "child_at": [0.48, -0.258, -0.28],
        "start": start,
    }
    rod = {
        "between": [
            {"body": "b", "point": [0.604, -0.364, 0.334]},
            {"point": [1.304, 0.145, 0.424]},
        ],
        "length": 1.5756496913536697,
    }
    first = {
        "body": "b",
        "point": [-0.173, 0.314, 0.217],
        "at": [-0.7159957602782108, -0.2894315866999377, 0.5953169088205988],
    }
    second = {
        "body": "b",
        "point": [0.348, 0.319, 0.448],
        "at": [-0.17307796650426321, -0.4502791273396378, 0.7218126793095996],
    }
    rub = {"restitution": 0.3, "friction": 0.3, "law": "energetic"}
    return {
        "format": "kinetree/1",
        "gravity": [8.05, 1.187, 6.21],
        "bodies": {"b": body},
        "joints": {"j": joint | {"speed": [-0.112, 0.536, -0.304]}},
        "couplings": {"rod": rod},
        "contacts": {
            "bounces": second | {"normal": [-0.055, 0.614, -0.787]} | rub,
            "rests": first | {"normal": [0.245, -0.022, -0.969]},
        },
    }


@pytest.mark.parametrize("tolerance", [1e-8, 1e-10, 1e-12])
def test_impulse_choice_is_independent_of_rounding(tolerance: float):
    """The contact at rest has a rate of rounding, of either sign: the ratio of the bounces, 0.1609, is that of every integrator."""
    system = load(held_twice()).compile()
    for name in INTEGRATORS:
        bounces = [
            e
            for e in system.simulate(
                0.45, output_step=0.05, integrator=name, tolerance=tolerance
            ).events
            if "bounces" in e.cause
        ]
        ratios = [each.after[1] / each.before[1] for each in bounces[:2]]
        assert ratios == pytest.approx([-0.16087175] * 2, abs=1e-7), name


def puck(across: float) -> dict[str, Any]:
    """A point on a rough floor; a force stops it and drives it back, while it slips a little across: it turns by half a turn, nearly at rest."""
    plane = [
        {"shift": axis, "coordinate": axis, "start": 0.0, "speed": speed}
        for axis, speed in (("x", 0.1), ("y", across), ("z", 0.0))
    ]
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, -9.81],
        "bodies": {"b": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "b", "transforms": plane}},
        "forces": {"back": {"body": "b", "force": [-6.0, 0, 0], "frame": "ground"}},
        "contacts": {"floor": {"body": "b", "friction": 0.3}},
    }


@pytest.mark.parametrize("across", [1e-2, 1e-3, 1e-4])
def test_slow_slip_reversal_keeps_speed(across: float):
    """Slower than the speed of rest, 1 mm/s, as it turns: friction does not hold it, so it goes on, whether a step has seen the turn or not."""
    system = load(puck(across)).compile()
    right = system.simulate(0.03, output_step=0.03, integrator="verner65", tolerance=1e-13)
    assert right["der(x)"][-1] < -0.03
    for name in INTEGRATORS:
        for tolerance in (1e-10, 1e-12):
            found = system.simulate(0.03, output_step=0.03, integrator=name, tolerance=tolerance)
            for speed in ("der(x)", "der(y)"):
                assert found[speed][-1] == pytest.approx(right[speed][-1], abs=3e-8), (
                    name,
                    tolerance,
                    speed,
                )


def test_model_exchange_slip_before_reversal_is_followed(tmp_path: Path):
    """At the dead point of the crank no force brings the slip to rest: an event leaves it by the host's error on the side where it was, and friction
    drove the shoe on from there (7.30 for 6.54). However the host steps, its error shrinks with its tolerance."""
    path = build_fmu(load(shoe()), tmp_path / "shoe.fmu", "native", 2)
    right = stands(path, 1.0, coordinates(shoe))
    for tolerance, near in ((1e-5, 0.05), (3e-6, 0.01), (1e-6, 2e-3), (1e-7, 1e-3)):
        for rows in (20, 21, 23, 100):
            found = simulate_fmu(
                str(path),
                stop_time=1.0,
                relative_tolerance=tolerance,
                fmi_type="ModelExchange",
                output=["phi"],
                output_interval=1.0 / rows,
            )
            assert found["phi"][-1] == pytest.approx(right["phi"], abs=near), (tolerance, rows)


def driven_across(speed: float) -> dict[str, Any]:
    """A point on a rough floor that slips freely along x and is driven along y: it has one way, but friction is against its velocity."""
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, -9.81],
        "bodies": {"b": {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {
            "j": {
                "child": "b",
                "transforms": [
                    {"shift": "x", "coordinate": "x", "speed": 1.0},
                    {"shift": "y", "by": f"{speed}*t"},
                    {"shift": "z", "coordinate": "z"},
                ],
            }
        },
        "contacts": {"floor": {"body": "b", "friction": 0.4}},
    }


@pytest.mark.parametrize("speed", [0.3, 2.0, 1e-2])
def test_friction_opposes_prescribed_slip(speed: float):
    """x'' = -μ g x'/√(x'² + v²): √(x'² + v²) + v ln(x'/(v + √(x'² + v²))) falls evenly, by μ g t."""

    def gone(u: float) -> float:
        root = math.hypot(u, speed)
        return root + speed * math.log(u / (speed + root))

    system = load(driven_across(speed)).compile()
    for name in INTEGRATORS:
        result = system.simulate(0.2, output_step=0.05, integrator=name, tolerance=1e-10)
        lost = [gone(1.0) - gone(u) for u in result["der(x)"]]
        assert lost == pytest.approx(0.4 * 9.81 * result.time, abs=1e-7), name


def turned_by(rate: float) -> dict[str, Any]:
    """A point at rest on a rough floor under a force that grows beyond what friction holds, and turns while the slip begins."""
    model = puck(0.0)
    for part in model["joints"]["j"]["transforms"]:
        part["speed"] = 0.0
    force = [f"(2.9 + 0.1*t)*cos({rate}*t)", f"(2.9 + 0.1*t)*sin({rate}*t)", 0.0]
    return model | {
        "forces": {"f": {"body": "b", "force": force, "frame": "ground"}},
        "contacts": {"floor": {"body": "b", "friction": 0.3}},
    }


def way_under(rate: float, begin: float) -> float:
    """How far it has come along x after a second: Coulomb's law alone, from 1 pm/s along the force on."""

    def rates(t: float, y: np.ndarray) -> list[float]:
        force, size = 2.9 + 0.1 * t, math.hypot(y[2], y[3])
        return [
            y[2],
            y[3],
            *(
                force * f(rate * t) - 0.3 * 9.81 * v / size
                for f, v in ((math.cos, y[2]), (math.sin, y[3]))
            ),
        ]

    start = [0.0, 0.0, 1e-12 * math.cos(rate * begin), 1e-12 * math.sin(rate * begin)]
    return float(
        solve_ivp(rates, (begin, 1.0), start, method="Radau", rtol=1e-8, atol=1e-13).y[0, -1]
    )


@pytest.mark.parametrize(
    ("integrator", "tolerance", "off"),
    [("radau", 1e-4, 1e-2), ("radau", 1e-7, 1e-3), ("auto", 1e-7, 1e-3), ("adams", 1e-7, 1e-3)],
)
def test_slip_direction_follows_velocity_after_events(
    integrator: str, tolerance: float, off: float
):
    """Events in the first nm/s left the slip against the direction kept: friction pushed there for good, and radau was wrong a hundred times over."""
    right = way_under(3.0, 0.43)
    found = (
        load(turned_by(3.0))
        .compile()
        .simulate(1.0, output_step=1.0, integrator=integrator, tolerance=tolerance)
    )
    assert found["x"][-1] == pytest.approx(right, rel=max(1e-3, 100 * tolerance))


def closed_on_a_slope() -> dict[str, Any]:
    """A point of one body on a plane of the next, guided obliquely to it: it bounces ever less, is closed while it parts slowly, stops."""
    inertia = [
        0.3976312716286823,
        0.8328370603306412,
        0.7109217734793243,
        -0.007151961305870013,
        0.10618399937173494,
        0.14564017377814711,
    ]
    bodies = {
        "b1": {"mass": 2.8853873230939286},
        "b2": {"mass": 2.9566248450968544, "inertia": inertia},
        "b3": {"mass": 1.6841231795689722},
    }
    first = {
        "parent": "b1",
        "child": "ground",
        "type": "cylindrical",
        "at": [0.666, 0.373, -0.842],
        "axis": [0.362, -0.655, 0.663],
    }
    frame = {
        "frame": [{"rotate": [-0.436, -0.597, 0.674], "by": -0.5249475230698335}],
        "speed": [-0.422, -0.199, -0.775],
    }
    second = {
        "parent": "b1",
        "child": "b2",
        "type": "planar",
        "at": [0.179, -0.095, -1.046],
        "child_at": [0.12, 0.121, -0.335],
    }
    third = {"parent": "b1", "child": "b3", "type": "revolute", "child_at": [0.305, 0.031, -0.248]}
    point = {
        "body": "b1",
        "point": [-0.395, -0.133, 0.505],
        "on": "b2",
        "at": [-0.928327471284168, 0.17788390592096467, 1.0179949330240485],
    }
    return {
        "format": "kinetree/1",
        "gravity": [9.337, 0.92, 1.269],
        "bodies": bodies,
        "joints": {"j1": first | {"start": [-0.199, -0.606]}, "j2": second | frame, "j3": third},
        "contacts": {
            "touch": point
            | {
                "normal": [0.504, 0.232, -0.832],
                "restitution": 0.8,
                "friction": 0.3,
                "law": "poisson",
            }
        },
    }


def test_closing_slowly_separating_contact_reverses_slip():
    """Friction took the direction from before it was closed, across the one way there is: it drove the slip on, or a step reversed it unseen."""
    system = load(closed_on_a_slope()).compile()
    ends = [
        system.simulate(0.6, output_step=0.05, integrator=name, tolerance=1e-10)
        for name in INTEGRATORS
    ]
    for result in ends:
        stops = [event.time for event in result.events if "slip" in event.cause]
        assert stops == pytest.approx([0.405127053], abs=1e-7)
        assert result["j1.s"][-1] == pytest.approx(ends[0]["j1.s"][-1], abs=1e-8)
