"""Rest, sliding and parting: contacts that stay closed, against closed forms; what rigid bodies cannot answer is refused."""

import math
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from contacts import G, bead_on_a_dome, feet, plane_block, system

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError
from kinetree.models.language.errors import ModelError
from kinetree.models.trace.symbolic_kernels import PlainKernels
from kinetree.solvers.contacts.contact_modes import OPEN, SLIDE, STICK

LOADS = {
    "left_load": "left.force",
    "right_load": "right.force",
    "left_drag": "left.friction",
    "left_state": "left.state",
}
TABLE = {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}


def test_a_sliding_box_stops():
    """v0/(μ g) after v0²/(2 μ g), exactly there; then friction takes what else it has to."""
    friction, speed = 0.3, 2.0
    box = plane_block(0.4, 0.2, (0, 0.1, 0), (speed, 0, 0))
    result = system(box, contacts=feet(0.4, 0.2, friction=friction), outputs=LOADS).simulate(
        stop_time=1.0, output_step=0.1
    )
    assert len(result.events) == 1 and result.events[0].time == pytest.approx(
        speed / (friction * G), abs=1e-11
    )
    assert result["x"][-1] == pytest.approx(speed**2 / (2 * friction * G), abs=1e-11)
    assert np.abs(result["left_load"] + result["right_load"] - G).max() < 1e-11
    # while it slides friction tilts the load forwards: moment μ m g h/2 over the width
    assert result["right_load"][3] - result["left_load"][3] == pytest.approx(
        friction * G * 0.2 / 0.4, abs=1e-10
    )
    assert result["left_state"][3] == 2.0 and result["left_state"][-1] == 1.0
    assert np.ptp(result["x"][8:]) < 1e-13


@pytest.mark.parametrize("share", [0.999, 1.001])
def test_block_on_incline_sticks_up_to_friction_angle(share: float):
    """μ just above tan α holds, just below lets go with g (sin α - μ cos α)."""
    angle = 0.4
    friction = math.tan(angle) / share
    box = plane_block(0.4, 0.2, (0, 0.1, 0))
    gravity = [G * math.sin(angle), 0, -G * math.cos(angle)]
    result = system(box, gravity=gravity, contacts=feet(0.4, 0.2, friction=friction)).simulate(
        stop_time=1.0, output_step=0.5
    )
    slide = max(0.0, G * (math.sin(angle) - friction * math.cos(angle)))
    assert result["x"][-1] == pytest.approx(0.5 * slide, abs=1e-10)


def test_box_reverses_on_incline():
    """Up the slope it is braked by gravity and friction, turns without a rest as tan α > μ, and slides down: two closed parabolas."""
    angle, friction, speed = 0.6, 0.3, 2.0
    box = plane_block(0.4, 0.2, (0, 0.1, 0), (-speed, 0, 0))
    gravity = [G * math.sin(angle), 0, -G * math.cos(angle)]
    result = system(box, gravity=gravity, contacts=feet(0.4, 0.2, friction=friction)).simulate(
        stop_time=1.0, output_step=0.5
    )
    up, down = (G * (math.sin(angle) + sign * friction * math.cos(angle)) for sign in (1, -1))
    turn = speed / up
    assert result.events[0].time == pytest.approx(turn, abs=1e-11)
    assert result["x"][-1] == pytest.approx(
        -0.5 * speed * turn + 0.5 * down * (1.0 - turn) ** 2, abs=1e-10
    )


def test_accelerating_table_throws_its_load_up():
    """A sin ωt with A ω² = 1.5 g: the load leaves where sin ωt = 1/1.5, with the force m (g - A ω² sin ωt) until then."""
    ball = {"mass": 2.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    joints = {
        "table": {"child": "table", "transforms": [{"shift": "z", "by": "A*sin(w*t)"}]},
        "line": {
            "child": "ball",
            "type": "prismatic",
            "axis": "z",
            "coordinates": ["z"],
            "start": 0.1,
            "speed": "A*w",
        },
    }
    parts = {
        "bodies": {"table": TABLE, "ball": ball},
        "joints": joints,
        "parameters": {"w": 10.0, "A": "1.5*9.81/w**2"},
    }
    contact = {"body": "ball", "radius": 0.1, "on": "table"}
    result = system(parts, contacts={"c": contact}, outputs={"load": "c.force"}).simulate(
        stop_time=0.3, output_step=0.01
    )
    leave = math.asin(1 / 1.5) / 10
    assert result.events[0].time == pytest.approx(leave, abs=1e-9)
    held = result.time < leave
    assert result["load"][held] == pytest.approx(
        2.0 * G * (1 - 1.5 * np.sin(10 * result.time[held])), abs=1e-7
    )
    assert np.all(result["load"][~held] == 0.0)


def test_sudden_table_motion_throws_its_load_by_impulse():
    """A table that starts and stops at once takes its load along by an impulse and throws it with its own speed: a parabola of 1 m/s."""
    joints = {
        "table": {"child": "table", "transforms": [{"shift": "z", "by": "table('way', t)"}]},
        "line": {
            "child": "ball",
            "type": "prismatic",
            "axis": "z",
            "coordinates": ["z"],
            "start": 0.1,
        },
    }
    parts = {
        "bodies": {"table": TABLE, "ball": TABLE},
        "joints": joints,
        "tables": {"way": {"x": [0, 0.3, 0.6, 1], "y": [0, 0, 0.3, 0.3]}},
    }
    contacts = {"c": {"body": "ball", "radius": 0.1, "on": "table"}}
    for integrator in ("auto", "rk45", "rk4"):
        result = system(parts, contacts=contacts).simulate(
            stop_time=0.7, output_step=0.05, integrator=integrator, step=1e-3
        )
        flight = result.time >= 0.6
        past = result.time[flight] - 0.6
        assert result["z"][flight] == pytest.approx(0.4 + past - 0.5 * G * past**2, abs=1e-9)
        assert result["z"][result.time < 0.6] == pytest.approx(
            0.1 + np.maximum(result.time[result.time < 0.6] - 0.3, 0), abs=1e-9
        )


def test_four_feet_on_a_floor_rest():
    """Forces of four feet are not determined: those found are none below zero, and carry the weight and its moments."""
    body = {"mass": 3.0, "com": [0.3, 0.25, 0], "inertia": [0.2, 0.2, 0.3, 0, 0, 0]}
    feet_of = {
        f"f{k}": {"body": "table", "point": [x, y, -0.5], "friction": 0.4}
        for k, (x, y) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1)))
    }
    parts = {
        "bodies": {"table": body},
        "joints": {"move": {"child": "table", "type": "free", "start": [0, 0, 0.5, 1, 0, 0, 0]}},
    }
    outputs = {f"n{k}": f"f{k}.force" for k in range(4)}
    result = system(parts, contacts=feet_of, outputs=outputs).simulate(
        stop_time=0.5, output_step=0.1
    )
    loads = np.array([result[f"n{k}"] for k in range(4)])
    assert not result.events and loads.min() >= 0.0
    assert loads.sum(axis=0) == pytest.approx(3.0 * G, rel=1e-10)
    assert loads[0] + loads[3] - loads[1] - loads[2] == pytest.approx(0.3 * 3.0 * G, rel=1e-9)
    assert loads[0] + loads[1] - loads[2] - loads[3] == pytest.approx(0.25 * 3.0 * G, rel=1e-9)


def test_a_ball_with_backspin_slips_until_it_rolls():
    """v = (5 v0 - 2 R ω0)/7 across both directions, after |slip|/(7/2 μ g): friction keeps its direction."""
    R, friction, v, w = 0.1, 0.25, (2.0, 0.5), (3.0, -15.0)
    body = {"mass": 1.0, "inertia": [0.4 * R * R] * 3 + [0, 0, 0]}
    joint = {
        "child": "ball",
        "type": "free",
        "start": [0, 0, R, 1, 0, 0, 0],
        "speed": [*v, 0, *w, 4.0],
    }
    contacts = {"floor": {"body": "ball", "radius": R, "friction": friction}}
    outputs = {"v": {"quantity": "velocity", "body": "ball"}}
    result = system(
        {"bodies": {"ball": body}, "joints": {"j": joint}}, contacts=contacts, outputs=outputs
    ).simulate(stop_time=1.0, output_step=0.1)
    slip = math.hypot(v[0] - R * w[1], v[1] + R * w[0])
    assert result.events[0].time == pytest.approx(slip / (3.5 * friction * G), abs=1e-7)
    assert [result["v[1]"][-1], result["v[2]"][-1]] == pytest.approx(
        [(5 * v[0] + 2 * R * w[1]) / 7, (5 * v[1] - 2 * R * w[0]) / 7], abs=1e-7
    )


@pytest.mark.parametrize("width, height", [(0.3, 1.0), (0.2, 0.5)])
def test_rocking_block_matches_housner(width: float, height: float):
    """Housner: every impact leaves (1 - 3/2 sin²α)² of the energy above rest, the old edge lifts off, nothing slips."""
    block = load("lib:rocking-block", width=width, height=height).compile()
    result = block.simulate(stop_time=3.0, output_step=0.01)
    alpha = math.atan(width / height)
    rest = 200.0 * G * height / 2
    for event in result.events[:6]:
        ratio = (event.after[4] - rest) / (event.before[4] - rest)
        assert ratio == pytest.approx((1 - 1.5 * math.sin(alpha) ** 2) ** 2, rel=1e-8)
    assert (
        len(result.events) >= 5
        and np.minimum(result["left_gap"], result["right_gap"]).min() > -1e-9
    )
    assert (
        np.abs(result["x"]).max() < 0.6 * math.hypot(width, height)
        and np.ptp(result["energy_residual"]) < 1e-4 * rest
    )


def test_falling_boxes_come_to_rest():
    """Three boxes fall 0.1 m and 0.05 m more each and come to rest as a stack: every floor carries what is above it, nothing moves any more."""
    size, count = 0.2, 3
    parts: dict = {"bodies": {}, "joints": {}, "contacts": {}, "outputs": {}}
    for k in range(count):
        name, inertia = f"box{k}", size**2 / 6
        parts["bodies"][name] = {"mass": 1.0, "inertia": [inertia, inertia, inertia, 0, 0, 0]}
        height = size * (k + 0.5) + 0.1 + 0.05 * k
        transforms = [
            {"shift": "x", "coordinate": f"x{k}"},
            {"shift": "z", "coordinate": f"z{k}", "start": height},
            {"rotate": "y", "coordinate": f"a{k}"},
        ]
        parts["joints"][f"j{k}"] = {"child": name, "transforms": transforms}
        under = {"on": f"box{k - 1}", "at": [0, 0, size / 2]} if k else {}
        for side, sign in (("l", -1), ("r", 1)):
            corner = {
                "body": name,
                "point": [sign * size / 2, 0, -size / 2],
                "restitution": 0.2,
                "friction": 0.5,
                "rest_speed": 0.02,
            }
            parts["contacts"][f"{side}{k}"] = {**corner, **under}
        parts["outputs"][f"load{k}"] = f"l{k}.force + r{k}.force"
    result = system(parts).simulate(stop_time=1.5, output_step=0.05)
    for k in range(count):
        assert result[f"load{k}"][-1] == pytest.approx((count - k) * G, rel=1e-9)
        assert (
            result[f"z{k}"][-1] == pytest.approx(size * (k + 0.5), abs=1e-10)
            and abs(result[f"der(z{k})"][-1]) < 1e-12
        )
    assert all(event.energy_loss > -1e-10 for event in result.events) and len(result.events) < 60


@pytest.mark.parametrize("integrator", ["adams", "rk45", "radau"])
def test_bead_leaves_dome_at_known_angle(integrator: str):
    """It parts without speed along the normal, where cos θ = (2 + v²/(g R))/3, and flies on with the horizontal speed it has there, for good.

    Whatever the tolerance: rounding and the error of the dense output put the located instant on either side."""
    for speed in (0.3, 0.5, 0.7, 1.0, 1.3):
        made = system(bead_on_a_dome(speed))
        height = (2.0 + speed**2 / G) / 3.0
        onward = math.sqrt(G) * height**1.5
        for tolerance in (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12):
            result = made.simulate(
                stop_time=1.0 if speed < 0.6 else 0.8,
                output_step=0.2,
                integrator=integrator,
                tolerance=tolerance,
            )
            assert result["state"][-1] == 0.0 and result["der(x)"][-1] == pytest.approx(
                onward, abs=1e3 * tolerance + 1e-9
            ), (speed, tolerance)
            energy = 0.5 * (result["der(x)"] ** 2 + result["der(z)"] ** 2) + G * result["z"]
            assert np.ptp(energy) < 1e3 * tolerance + 1e-9
            assert len(result.events) == 1


def sliding_rod(friction: float, speed: float) -> dict:
    """Painlevé's rod: 2 m, 60° steep, its lower end slides on the floor."""
    angle = math.radians(60)
    transforms = [
        {"shift": "x", "coordinate": "x", "speed": speed},
        {"shift": "z", "coordinate": "z", "start": math.sin(angle)},
        {"rotate": "y", "coordinate": "phi", "start": angle},
    ]
    rod = {"mass": 1.0, "inertia": [1e-3, 1 / 3, 1 / 3, 0, 0, 0]}
    tip = {"body": "rod", "point": [1, 0, 0], "friction": friction}
    return {
        "bodies": {"rod": rod},
        "joints": {"move": {"child": "rod", "transforms": transforms}},
        "contacts": {"tip": tip},
    }


def test_painleve_paradox_is_an_error():
    """The tip is driven into the floor by its own friction where 1 + 3 cos² - 3 μ sin cos <= 0: μ >= 1.347 at 60°. That is refused."""
    bound = (1 + 3 * math.cos(math.radians(60)) ** 2) / (
        3 * math.sin(math.radians(60)) * math.cos(math.radians(60))
    )
    with pytest.raises(EvaluationError, match="contact 'tip'.*Painlevé"):
        system(sliding_rod(1.001 * bound, 1.0)).simulate(stop_time=0.01, output_step=0.01)
    system(sliding_rod(0.5 * bound, 1.0)).simulate(stop_time=0.01, output_step=0.01)
    system(sliding_rod(1.001 * bound, -1.0)).simulate(
        stop_time=0.01, output_step=0.01
    )  # dragged, not pushed


@pytest.mark.parametrize("integrator", ["rk45", "tsit5", "adams"])
def test_infinite_force_far_away_does_not_stop_run(integrator: str):
    """Right after an event the rate of its guard is looked for ever further along the motion; where the far state is one without contact forces
    (Painlevé's paradox) the run had ended, though it never comes there. A cubic guard has no rate; the event changes nothing, the motion neither.
    """
    rod = sliding_rod(2.0, 6.0)
    transforms = rod["joints"]["move"]["transforms"]
    transforms[1]["start"], transforms[2]["start"] = math.sin(1.5), 1.5
    alone = system(rod).simulate(stop_time=0.03, output_step=0.01)
    event = {
        "events": {"passes": {"when": "(x - 0.05)**3 > 0", "set": {"passed": 1.0}}},
        "parameters": {"passed": 0.0},
    }
    result = system(rod, **event).simulate(stop_time=0.03, output_step=0.01, integrator=integrator)
    assert len(result.events) == 1 and result.events[0].time == pytest.approx(0.05 / 6.0, rel=0.1)
    for name in ("x", "phi", "der(x)", "der(phi)"):
        assert result[name] == pytest.approx(alone[name], rel=1e-6, abs=1e-7), name


@pytest.mark.parametrize("way", ["stage", "law of a stage", "event"])
@pytest.mark.parametrize("integrator", ["adams", "radau", "verner65"])
@pytest.mark.parametrize("angle", [0.1, 0.3, 1.2])
def test_releasing_contact_opens_once(way: str, integrator: str, angle: float):
    """A change at an instant lifts a resting block off: its gap is 0 of any sign by rounding, which was touch after touch, and chatter in the end."""
    normal, lift, instant = [math.sin(angle), 0, math.cos(angle)], 12.0, 0.21
    joint = {
        "child": "block",
        "type": "prismatic",
        "axis": normal,
        "coordinates": ["z"],
        "speed": [-0.5],
        "start": [0.03],
    }
    parts = {
        "bodies": {"block": TABLE},
        "joints": {"move": joint},
        "contacts": {"c": {"body": "block", "normal": normal}},
    }
    parts |= {
        "parameters": {"lift": 0.0},
        "forces": {"up": {"coordinate": "z", "value": "lift"}},
        "gravity": [0, 0, -G],
    }
    if way == "event":
        parts["events"] = {"e": {"when": f"t > {instant}", "set": {"lift": lift}}}
    else:
        parts["stages"] = [
            {"ends": {"at": instant}, "set": {"lift": lift if way == "stage" else f"{lift} + 0*z"}},
            {},
        ]
    result = system(parts).simulate(0.3, output_step=0.05, integrator=integrator)
    assert len(result.events) == 2 and result.events[1].time == pytest.approx(instant, abs=1e-9)
    up = lift - G * math.cos(angle)
    assert (
        result["z"][-1] == pytest.approx(0.5 * up * (0.3 - instant) ** 2, abs=1e-9)
        and abs(result["z"][3]) < 1e-12
    )


def rising(height: float, angle: float) -> dict:
    """A plastic ball above a floor that is tilted by an angle: what presses it up lets it go where it touches."""
    c, s = math.cos(angle), math.sin(angle)
    slides = [
        {"shift": "x", "coordinate": "x", "speed": 3.0},
        {"shift": "z", "coordinate": "z", "start": height, "speed": -1.0},
    ]
    joint = {"child": "ball", "transforms": [{"rotate": "y", "by": angle}, *slides]}
    forces = {
        "up": {"coordinate": "z", "value": "2 + sin(30*x)"},
        "back": {"coordinate": "x", "value": "-20*x"},
    }
    floor = {"body": "ball", "normal": [s, 0, c]}
    return {
        "gravity": [0, 0, 0],
        "bodies": {"ball": {"mass": 1.0}},
        "joints": {"move": joint},
        "forces": forces,
        "contacts": {"floor": floor},
    }


@pytest.mark.parametrize("integrator", ["adams", "rk45", "tsit5", "radau"])
@pytest.mark.parametrize("angle", [0.0, 0.3, 0.7, 1.1])
def test_plastic_impact_that_separates_happens_once(integrator: str, angle: float):
    """It leaves without speed: the error of the dense output, and the rate of the gap, which is rounding, took it back to the floor."""
    unit = system(rising(0.1, angle))
    for step in (0.2, 0.037):
        result = unit.simulate(
            stop_time=0.2, output_step=step, integrator=integrator, tolerance=1e-10
        )
        assert len(result.events) == 1 and result["z"][-1] > 0.0


@pytest.mark.parametrize("seed", [2, 10, 16, 23])
def test_separating_contact_at_start_does_not_touch(seed: int):
    """A point that moves along a wall, which it leaves by its acceleration alone, begins on it but for roundings of either sign."""
    rng = np.random.default_rng(seed)
    parts = {
        "bodies": {
            "bob": {"mass": 2.0, "com": [0.1, 0.2, 0.0], "inertia": [0.8, 0.4, 0.5, -0.1, 0.0, 0.0]}
        }
    }
    start, speed, point = (
        rng.normal(0, 0.5, 2).tolist(),
        rng.normal(0, 1, 2).tolist(),
        rng.normal(0, 0.4, 3).tolist(),
    )
    parts["joints"] = {
        "hang": {
            "child": "bob",
            "type": "universal",
            "start": start,
            "speed": speed,
            "child_at": [-0.13, -0.02, 0.15],
        }
    }
    parts["forces"] = {
        "pull": {
            "between": [{"body": "bob", "point": [1.1, -0.5, 0.0]}, {"point": [0.5, -0.1, 0.3]}],
            "stiffness": 30,
            "length": 0.4,
        }
    }
    seen = {
        word: {"quantity": word, "body": "bob", "point": point}
        for word in ("position", "velocity", "acceleration")
    }
    unit = system(parts, outputs=seen)
    values = unit.outputs(0.0, *unit.start())
    at, v, a = (np.array([values[f"{word}[{k}]"] for k in (1, 2, 3)]) for word in seen)
    along = v / np.linalg.norm(v)
    normal = a - along * (along @ a)
    wall = {
        "body": "bob",
        "point": point,
        "at": at.tolist(),
        "normal": (normal / np.linalg.norm(normal)).tolist(),
    }
    assert (
        not system(parts, contacts={"wall": wall})
        .simulate(stop_time=0.01, integrator="adams", tolerance=1e-10)
        .events
    )


def test_overlap_at_the_start_is_refused():
    with pytest.raises(EvaluationError, match="contact 'left'.*overlap"):
        system(plane_block(0.4, 0.2, (0, 0.05, 0)), contacts=feet(0.4, 0.2)).simulate(stop_time=0.1)


@pytest.mark.parametrize(
    "change, match",
    [
        ({"restitution": 1.5}, "restitution"),
        ({"friction": -0.1}, "friction"),
        ({"rest_speed": 0}, "rest_speed"),
        ({"body": "brick"}, "brick"),
        ({"on": "block"}, "itself"),
        ({"against": {"body": "ground", "radius": 1.0}, "normal": "x"}, "plane or a sphere"),
        ({"against": {"body": "ground"}}, "radius"),
        ({"normal": [0, 0, 0]}, "normal"),
    ],
)
def test_contact_description_mistakes_are_named(change: dict, match: str):
    contact = {"body": "block", "point": [0, 0, -0.1], **change}
    with pytest.raises(ModelError, match=match):
        load(
            {
                "format": "kinetree/1",
                **plane_block(0.4, 0.2, (0, 0.1, 0)),
                "contacts": {"c": contact},
            }
        )


def test_contacts_refuse_single_state_analyses():
    """States of rest, small motions, slopes and traces have no place for contacts, and say so; so do forms other than the engine's."""
    made = system(plane_block(0.4, 0.2, (0, 0.1, 0)), contacts=feet(0.4, 0.2))
    for ask in (made.equilibrium, made.linearize, made.trace):
        with pytest.raises(ValueError, match="contacts"):
            ask()
    with pytest.raises(ValueError, match="contacts"):
        made.simulate(stop_time=0.1, method="CBM")
    with pytest.raises(ModelError, match="auto or DEC"):
        system(plane_block(0.4, 0.2, (0, 0.1, 0)), contacts=feet(0.4, 0.2), run={"method": "CBM"})


def test_guards_name_the_margins_that_they_show():
    """Open, closed without friction, sticking and sliding contacts, in every order: of a margin its own number, of a gap or a slip none."""
    margin_at = PlainKernels(symbolic=False).kernel("contacts.forces", "monitored_margin")
    kinds = {"open": (OPEN, 3), "bare": (SLIDE, 1), "sticks": (STICK, 3), "slides": (SLIDE, 3)}
    for order in permutations(kinds):
        modes, rows = zip(*(kinds[name] for name in order), strict=True)
        guards = np.arange(10, 18)
        model = SimpleNamespace(c_law=np.zeros(4), c_row=np.cumsum((0, *rows)), c_guard=guards)
        ws = SimpleNamespace(c_mode=np.array(modes, dtype=float))
        for k, name in enumerate(order):
            shown = [margin_at(model, ws, register) for register in guards[2 * k : 2 * k + 2]]
            assert shown == [
                2 * k if name != "open" else -1,
                2 * k + 1 if name == "sticks" else -1,
            ], (order, name)
        assert margin_at(model, ws, 9) == -1


@pytest.mark.parametrize(
    ("mode", "gap", "rate", "told"),
    [(OPEN, 1e-6, 2e-3, True), (OPEN, -1e-9, -2e-3, True), (OPEN, 1.1e-6, 0.0, False), (OPEN, 0.0, 2.1e-3, False), (OPEN, 0.0, -2.1e-3, False),
     (STICK, 0.0, 0.0, False), (SLIDE, 0.0, 0.0, False)],
)  # fmt: skip
def test_nearly_closed_contacts_cause_no_events(mode: int, gap: float, rate: float, told: bool):
    """Up to 1 um, and as slowly as where bodies rest; told of the register of the gap alone."""
    hovers = PlainKernels(symbolic=False).kernel("contacts.located_contacts", "is_grazing")
    model = SimpleNamespace(
        c_law=np.zeros(2),
        c_row=np.array([0, 1, 4]),
        c_guard=np.array([10, -1, 12, 13]),
        c_value=np.array([0, 3, 6, 9]),
        c_number=np.arange(20, 26),
    )
    ws = SimpleNamespace(c_mode=np.array([STICK, mode], dtype=float), val=np.zeros(26))
    ws.val[3:5], ws.val[25] = (gap, rate), 2e-3
    assert [hovers(model, ws, register) for register in (10, 12, 13)] == [False, told, False]


@pytest.mark.parametrize(
    ("margin", "which", "mode", "gives"),
    [
        (-0.25, 3, STICK, False),
        (-0.125, 3, SLIDE, True),
        (0.5, 3, SLIDE, True),
        (-0.125, 2, OPEN, True),
        (-0.25, 2, STICK, False),
    ],
)
def test_sliding_starts_against_previous_friction(
    margin: float, which: int, mode: int, gives: bool
):
    """The second contact of two, held by 5 N of friction along (0.6, 0.8): within the noise of its margin it opens, or slides the other way."""
    give_way = PlainKernels(symbolic=False).kernel("contacts.forces", "release_contact")
    model = SimpleNamespace(c_row=np.array([0, 1, 4]))
    ws = SimpleNamespace(
        c_margin=np.full(4, -1.0),
        c_mode=np.array([SLIDE, STICK], dtype=float),
        c_dir=np.zeros(4),
        c_drift=np.array([7.0, 7.0, 0.0, 0.0]),
        c_lam=np.array([9.0, 7.0, 3.0, 4.0]),
    )
    ws.c_margin[which] = margin
    assert give_way(model, ws, which, 0.125) == gives and ws.c_mode.tolist() == [SLIDE, mode]
    assert ws.c_dir == pytest.approx([0.0, 0.0, -0.6, -0.8] if mode == SLIDE else [0.0] * 4)
    if mode == SLIDE:
        ws.c_lam[2:], ws.c_mode[1] = 0.0, STICK
        assert not give_way(model, ws, which, 0.125) and ws.c_mode[1] == STICK, (
            "nothing held it: it has no way to slide"
        )
        ws.c_drift[2:], ws.c_lam[2:] = (0.3, -0.4), (3.0, 4.0)
        assert give_way(model, ws, which, 0.125) and ws.c_dir[2:] == pytest.approx([0.6, -0.8]), (
            "what drives it across its way tells where it goes"
        )
