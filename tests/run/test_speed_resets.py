"""An event that sets speeds: the least change in the metric of the masses under all constraints and all set values, against dense algebra."""

import numpy as np
import pytest
from instants import at, instants
from random_descriptions import random_description

from kinetree.models import load
from kinetree.models.compilation.set_speeds import set_speeds
from kinetree.models.engine.status import EvaluationError
from kinetree.models.expressions.parse import evaluate_constant

ROD = {"mass": 1.3, "com": [0.1, 0.02, -0.5], "inertia": [0.12, 0.1, 0.06, 0.01, -0.02, 0.005]}
EASY = {"mass": 0.7, "com": [0.0, 0.1, 0.2], "inertia": [0.05, 0.06, 0.04, 0, 0, 0]}
NOW = {"when": "t > 0.2"}


def turn(axis: str, name: str, start: float = 0.0, speed: float = 0.0) -> dict:
    return {"rotate": axis, "coordinate": name, "start": start, "speed": speed}


def double_pendulum(**more) -> dict:
    joints = {
        "a": {"child": "a", "transforms": [turn("y", "p", 0.4, 1.0)]},
        "b": {
            "parent": "a",
            "child": "b",
            "at": [0, 0, -1],
            "transforms": [turn("x", "q", -0.3, 2.0), turn("y", "r", 0.2, -1.0)],
        },
    }
    return {"format": "kinetree/1", "bodies": {"a": ROD, "b": EASY}, "joints": joints, **more}


def typed(kind: str, **more) -> dict:
    """A body on a ball or free, and one that hangs on it by a hinge."""
    joints = {
        "J": {
            "child": "a",
            "type": kind,
            "speed": [0.3, -0.5, 0.2] if kind == "spherical" else [0.3, 0.1, 0.2, 0.6, -0.4, 0.8],
        },
        "b": {
            "parent": "a",
            "child": "b",
            "at": [0, 0.3, -1],
            "transforms": [turn("x", "q", -0.3, 2.0)],
        },
    }
    return {"format": "kinetree/1", "bodies": {"a": ROD, "b": EASY}, "joints": joints, **more}


def four_bar(**more) -> dict:
    rod = {"mass": 1.0, "com": [0.2, 0, 0], "inertia": [0.001, 0.02, 0.02, 0, 0, 0]}
    joints = {
        "A": {"child": "crank", "transforms": [turn("z", "a", 1.0, 4.0)]},
        "B": {
            "parent": "crank",
            "child": "rod",
            "at": [0.2, 0, 0],
            "transforms": [turn("z", "b", -0.6)],
        },
        "C": {"child": "rocker", "at": [0.6, 0, 0], "transforms": [turn("z", "c", 1.5)]},
        "D": {
            "parent": "rod",
            "child": "rocker",
            "at": [0.5, 0, 0],
            "transforms": [turn("z", "d"), {"shift": [-0.4, 0, 0]}],
        },
    }
    return {
        "format": "kinetree/1",
        "gravity": [0, -9.81, 0],
        "bodies": dict.fromkeys(("crank", "rod", "rocker"), rod),
        "joints": joints,
        **more,
    }


def geared(**more) -> dict:
    """A chain of three hinges whose first and last are geared: two freedoms."""
    joints = {
        "a": {"child": "a", "transforms": [turn("y", "p", 0.1, 1.0)]},
        "b": {
            "parent": "a",
            "child": "b",
            "at": [0, 0, -1],
            "transforms": [turn("x", "q", -0.3, 2.0)],
        },
        "c": {"parent": "b", "child": "c", "at": [0, 0.2, -1], "transforms": [turn("y", "r", 0.2)]},
    }
    return {
        "format": "kinetree/1",
        "bodies": {"a": ROD, "b": EASY, "c": EASY},
        "joints": joints,
        "couplings": {"gear": "r - 2*p"},
        **more,
    }


def skate(**more) -> dict:
    """A body on the plane that cannot slip across its blade: a coupling of speeds."""
    joints = {
        "J": {
            "child": "a",
            "type": "planar",
            "coordinates": ["x", "y", "f"],
            "start": [0.1, 0.2, 0.3],
            "speed": [0.955, 0.296, 1.0],
        }
    }
    blade = {"blade": "der(x)*sin(f) - der(y)*cos(f)"}
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"a": EASY},
        "joints": joints,
        "couplings": blade,
        **more,
    }


CASES = {
    "blade": (skate, {"der(f)": "-der(f)"}),
    "blade across": (skate, {"der(x)": 1.0, "der(f)": 0.5}),
    "tree": (double_pendulum, {"der(q)": "-0.5*der(q)"}),
    "two of a tree": (double_pendulum, {"der(p)": 0.3, "der(r)": "der(r) + 1"}),
    "ball": (typed, {"J.wy": "-0.7*J.wy", "der(q)": 0.1}),
    "free": (typed, {"J.vz": 2.0, "J.wx": "-J.wx"}),
    "loop": (four_bar, {"der(a)": "-0.5*der(a)"}),
    "loop by another speed": (four_bar, {"der(d)": "2*der(d)"}),
    "gear": (geared, {"der(p)": "-der(p)"}),
    "gear, both freedoms": (geared, {"der(r)": 1.0, "der(q)": 0.0}),
}


def described(name: str, **more) -> dict:
    make, values = CASES[name]
    kind = {"ball": ("spherical",), "free": ("free",)}.get(name, ())
    return make(*kind, events={"E": {**NOW, "set": values}}, **more)


def directions(system, q) -> np.ndarray:
    """Columns that span the speeds which the constraints allow; their projection is linear."""
    if not system.compiled.loops:
        return np.eye(system.n)
    columns = np.column_stack([system.project(0.2, q, unit)[1] for unit in np.eye(system.n)])
    left, sizes, _ = np.linalg.svd(columns)
    return left[:, : int((sizes > 1e-8).sum())]


@pytest.mark.parametrize("name", CASES)
def test_speed_reset_matches_dense_minimum_norm_solution(name):
    """min (u⁺ - u⁻)ᵀ M (u⁺ - u⁻) over u⁺ = u⁻ + N z with S u⁺ = s, by dense matrices; condition of N'MN below 1e4, loops closed to 1e-10."""
    system = load(described(name)).compile()
    (found,) = instants(system, 0.3)
    q, u, after = (
        at(found.before, system.coordinates),
        at(found.before, system.speeds),
        at(found.after, system.speeds),
    )
    M, N = mass_matrix(system, q), directions(system, q)
    rows = [system.speeds.index(target) for target in CASES[name][1]]
    S = np.eye(system.n)[rows] @ N
    kkt = np.block([[N.T @ M @ N, S.T], [S, np.zeros((len(rows), len(rows)))]])
    z = np.linalg.lstsq(
        kkt, np.concatenate([np.zeros(N.shape[1]), after[rows] - u[rows]]), rcond=1e-12
    )[0]
    assert np.abs(u + N @ z[: N.shape[1]] - after).max() < 1e-8 * np.abs(u).max()
    assert np.abs(at(found.after, system.coordinates) - q).max() == 0.0


def mass_matrix(system, q, t: float = 0.2) -> np.ndarray:
    """From differences of the kinetic energy, which is quadratic in the speeds: exact to rounding, for loops too."""
    kinetic = lambda u: system.energy(t, q, u)[0]  # noqa: E731
    rest, single = kinetic(np.zeros(system.n)), [kinetic(unit) for unit in np.eye(system.n)]
    M = [
        [kinetic(a + b) - single[i] - single[j] + rest for j, b in enumerate(np.eye(system.n))]
        for i, a in enumerate(np.eye(system.n))
    ]
    return np.array(M)


@pytest.mark.parametrize("name", CASES)
def test_speed_reset_reaches_set_values(name):
    """To the last digit, and the rates of the loops stay closed; laws use the values before."""
    system = load(described(name)).compile()
    (found,) = instants(system, 0.3)
    for target, law in CASES[name][1].items():
        expected = law if isinstance(law, float) else evaluate_constant(law, found.before)
        assert found.after[target] == pytest.approx(expected, rel=1e-15, abs=0.0)
    residual = system.constraint_residual(
        0.2, at(found.after, system.coordinates), at(found.after, system.speeds)
    )
    assert residual < 1e-10


@pytest.mark.parametrize("seed", range(8))
def test_speed_reset_of_random_trees_is_minimum_norm(seed):
    """Joints of every kind, given motions, joints used backwards: impulses along the set speeds and along no others, M (u⁺ - u⁻) = Sᵀλ."""
    rng = np.random.default_rng(seed)
    d = random_description(rng, int(rng.integers(3, 9))).description
    speeds = load(d).compile().speeds
    chosen = [
        str(name)
        for name in rng.choice(
            speeds, size=min(len(speeds), int(rng.integers(1, 5))), replace=False
        )
    ]
    values = {name: float(rng.normal()) for name in chosen}
    system = load({**d, "events": {"E": {"when": "t > 0.01", "set": values}}}).compile()
    (found,) = instants(system, 0.0101, tolerance=1e-6)
    q, u, after = (
        at(found.before, system.coordinates),
        at(found.before, system.speeds),
        at(found.after, system.speeds),
    )
    assert all(found.after[name] == value for name, value in values.items())
    impulses = mass_matrix(system, q, found.time) @ (after - u)
    others = [k for k, name in enumerate(system.speeds) if name not in values]
    assert np.abs(impulses[others]).max(initial=0.0) < 1e-9 * np.abs(impulses).max()


@pytest.mark.parametrize("method", ["CBM", "LGR", "ABM", "DEC-H", "CBM-H", "LGR-H"])
def test_every_form_continues_from_reset_speeds(method):
    """Runs in momenta find them anew from the speeds that the event left."""
    system = load(described("two of a tree")).compile()
    runs = [
        system.simulate(stop_time=0.6, output_step=0.2, tolerance=1e-10, method=each)
        for each in ("auto", method)
    ]
    assert (
        np.abs(runs[0].array(system.coordinates) - runs[1].array(system.coordinates)).max() < 1e-7
    )


def test_internal_speed_reset_conserves_momenta_of_floating_pair():
    """Nothing but forces between the two bodies changes their relative speed: momentum and moment of momentum stay, to rounding."""
    outputs = {
        f"v{body}": {"quantity": "velocity", "body": body, "point": [0, 0, 0]} for body in "ab"
    }
    d = typed(
        "free",
        gravity=[0, 0, 0],
        events={"E": {**NOW, "set": {"der(q)": "-der(q)"}}},
        outputs=outputs,
    )
    result = load(d).compile().simulate(stop_time=0.3, output_step=0.1, tolerance=1e-11)
    (event,) = result.events
    assert np.abs(np.subtract(event.before[1:4], event.after[1:4])).max() < 1e-13 * 10.0


def test_speed_reset_balances_energy():
    """The impulses along the set speeds work with the mean speed: ΔT = ½ (u⁺ + u⁻)ᵀ M (u⁺ - u⁻), which is the event's entry in the books."""
    system = load(described("loop")).compile()
    (found,) = instants(system, 0.3)
    q, u, after = (
        at(found.before, system.coordinates),
        at(found.before, system.speeds),
        at(found.after, system.speeds),
    )
    result = system.simulate(stop_time=0.3, output_step=0.1, tolerance=1e-10, integrator="adams")
    work = 0.5 * (after + u) @ mass_matrix(system, q) @ (after - u)
    assert -result.events[0].energy_loss == pytest.approx(work, rel=1e-7)


@pytest.mark.parametrize("cut", ["A", "B", "C"])
def test_speed_reset_is_independent_of_loop_cut(cut):
    """The same reset with another joint of the loop cut, from the same position and speeds."""
    first = load(four_bar(events={"E": {**NOW, "set": {"der(a)": 1.0}}})).compile()
    other = four_bar(events={"E": {**NOW, "set": {"der(a)": 1.0}}})
    q, u = first.start()
    for name, value, speed in zip(first.coordinates, q, u, strict=True):
        (transform,) = (
            each
            for joint in other["joints"].values()
            for each in joint["transforms"]
            if each.get("coordinate") == name
        )
        transform |= {"start": float(value), "speed": float(speed)}
    other["joints"][cut]["cut"] = True
    one, two = (instants(each, 0.3, tolerance=1e-11)[0].after for each in (first, other))
    for name in ("der(a)", "der(b)", "der(c)", "der(d)"):
        assert one[name] == pytest.approx(two[name], abs=1e-7)


@pytest.mark.parametrize(
    "make, values, named",
    [
        (geared, {"der(p)": 1.0, "der(r)": 1.0}, r"der\((p|r)\)"),
        (four_bar, {"der(a)": 1.0, "der(c)": 30.0}, r"der\((a|c)\)"),
        (geared, {"p": 0.5, "r": 0.5}, "(p|r)"),
    ],
)
def test_determined_speeds_cannot_be_set(make, values, named):
    """Two values for one freedom: an error that names one of them, not a third value."""
    with pytest.raises(EvaluationError, match=f"cannot set '{named}'"):
        load(make(events={"E": {**NOW, "set": values}})).compile().simulate(stop_time=0.3)


@pytest.mark.parametrize("values", [{"der(p)": 1.0, "der(r)": 2.0}, {"p": 0.5, "r": 1.0}])
def test_consistent_redundant_speed_values_are_accepted(values):
    """The same two with values that the gear allows."""
    (found,) = instants(geared(events={"E": {**NOW, "set": values}}), 0.3)
    assert all(
        found.after[name] == pytest.approx(value, abs=1e-9) for name, value in values.items()
    )


def test_speed_reset_with_massless_geared_slider():
    """Its speed is set through the gear: the mass behind it gets its half."""
    bodies = {"a": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}, "m": {"mass": 0}}
    joints = {
        "j": {"child": "a", "type": "prismatic", "axis": "x", "coordinates": ["x"], "speed": [1.0]},
        "k": {"child": "m", "type": "prismatic", "axis": "x", "coordinates": ["y"]},
    }
    d = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": bodies,
        "joints": joints,
        "couplings": {"c": {"value": "y - 2*x"}},
    }
    (found,) = instants({**d, "events": {"E": {**NOW, "set": {"der(y)": -3.0}}}}, 0.3)
    assert found.after["der(y)"] == -3.0 and found.after["der(x)"] == pytest.approx(-1.5, rel=1e-12)


def test_coordinate_set_in_a_loop_is_kept():
    """The crank is put a tenth further; the other hinges follow on their branch, and the speeds agree with the constraints there."""
    system = load(four_bar(events={"E": {**NOW, "set": {"a": "a + 0.1"}}})).compile()
    (found,) = instants(system, 0.3)
    assert found.after["a"] == pytest.approx(found.before["a"] + 0.1, abs=1e-12)
    q, u = at(found.after, system.coordinates), at(found.after, system.speeds)
    assert system.constraint_residual(0.2, q, u) < 1e-9
    assert max(abs(found.after[name] - found.before[name]) for name in "bcd") < 0.3


def test_set_quaternions_are_normalised():
    """As the start of a run and as what an event sets: the body at rest keeps the orientation that they name."""
    body = {"mass": 1.0, "inertia": [0.5, 0.7, 0.9, 0, 0, 0]}
    names = ("J.qw", "J.qx", "J.qy", "J.qz")
    d = {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"a": body},
        "joints": {"J": {"child": "a", "type": "spherical", "start": [0, 0, 6, -8]}},
        "events": {"turn": {"when": "t > 0.2", "set": dict(zip(names, [3, 0, 4, 0], strict=True))}},
    }  # fmt: skip
    found = load(d).compile().simulate(0.4, output_step=0.1).array(names)
    for row, expected in (
        (0, [0.0, 0.0, 0.6, -0.8]),
        (1, [0.0, 0.0, 0.6, -0.8]),
        (-1, [0.6, 0.0, 0.8, 0.0]),
    ):
        assert found[row] == pytest.approx(expected, abs=8 * np.finfo(float).eps)


@pytest.mark.parametrize(
    ("entries", "speeds"),
    [((0,), [0]), ((1,), [1]), ((2,), [2, 3, 4]), ((5,), [2, 3, 4]), ((6,), [5]), ((7,), [0]), ((9,), [2]), ((12,), [5]), ((13,), []), ((-1,), []),
     ((6, 3, 7), [0, 2, 3, 4, 5]), ((), [])],
)  # fmt: skip
def test_set_coordinates_name_their_speeds(entries: tuple[int, ...], speeds: list[int]):
    """Two hinges of one body, a ball joint, a slide: seven coordinates, six speeds, states; quaternions count as a whole, all else by itself."""
    joints = {
        "q_at": [0, 0, 2, 6, 7],
        "u_at": [0, 0, 2, 5, 6],
        "u_q": [0, 1, -1, -1, -1, 6],
        "u_body": [1, 1, 2, 2, 2, 3],
    }
    assert set_speeds([(entry, 0, 0) for entry in entries], joints) == speeds
