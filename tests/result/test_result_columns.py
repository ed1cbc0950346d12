"""Columns that a result evaluates from its recorded states: accelerations, rates, reactions, forces, checked by the laws they obey."""

import math

import numpy as np
import pytest

from kinetree.models import load

G = 9.81
CART = {
    "format": "kinetree/1",
    "name": "cart on a spring with a rod that swings",
    "gravity": [0, -G, 0],
    "parameters": {"k": 40.0},
    "bodies": {
        "cart": {"mass": 3.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        "rod": {"mass": 2.0, "com": [0, -0.6, 0], "inertia": [0.24, 0.001, 0.24, 0, 0, 0]},
    },
    "joints": {
        "rail": {"child": "cart", "transforms": [{"shift": "x", "coordinate": "x", "start": 0.3}]},
        "pin": {
            "parent": "cart",
            "child": "rod",
            "transforms": [{"rotate": "z", "coordinate": "th", "start": 1.0}],
        },
    },
    "inputs": {"push": {"unit": "N"}},
    "states": {"lag": {"rate": "(x - lag)/0.2", "unit": "m"}},
    "forces": {
        "spring": {"coordinate": "x", "stiffness": "k"},
        "damper": {"coordinate": "x", "damping": 1.5},
        "motor": {"coordinate": "x", "value": "push"},
        "hinge": {"coordinate": "th", "damping": 0.1},
    },
    "outputs": {
        "a": {"value": "der(der(th))"},
        "load": {"value": "reaction('pin')"},
        "fx": {"quantity": "reaction", "joint": "pin", "frame": "body", "axis": "x"},
        "mz": {
            "quantity": "reaction",
            "joint": "rail",
            "part": "moment",
            "frame": "body",
            "axis": "z",
        },
        "k_spring": {"quantity": "force", "force": "spring"},
    },
}


@pytest.fixture(scope="module")
def swing():
    return (
        load(CART)
        .compile()
        .simulate(
            stop_time=2.0, output_step=0.05, tolerance=1e-9, inputs={"push": lambda t: 5.0 * t}
        )
    )


def test_mass_times_acceleration_is_the_sum_of_forces(swing):
    """Along the rail: (m + M) x'' + m d²/dt²(0.6 sin th) = spring + damper + motor. Rounding of sums of a few hundred newtons."""
    r = swing
    com = 0.6 * (np.cos(r["th"]) * r["der(der(th))"] - np.sin(r["th"]) * r["der(th)"] ** 2)
    inertia = 5.0 * r["der(der(x))"] + 2.0 * com
    assert (
        np.abs(inertia - (r["force('spring')"] + r["force('damper')"] + r["force('motor')"])).max()
        < 1e-11
    )


def test_force_laws_and_inputs_hold_in_every_row(swing):
    r = swing
    assert np.array_equal(r["force('spring')"], -40.0 * r["x"])
    assert np.abs(r["force('motor')"] - 5.0 * r.time).max() < 1e-13
    assert np.abs(r["der(lag)"] - (r["x"] - r["lag"]) / 0.2).max() < 1e-13


def test_reaction_accelerates_centre_of_rod(swing):
    """Newton for the rod: reaction turned to ground axes plus weight = mass times acceleration of its centre."""
    r = swing
    s, c, w, a = np.sin(r["th"]), np.cos(r["th"]), r["der(th)"], r["der(der(th))"]
    x, y = (r[f"reaction('pin')[{k}]"] for k in (1, 2))
    ax, ay = r["der(der(x))"] + 0.6 * (c * a - s * w**2), 0.6 * (s * a + c * w**2)
    assert np.abs(c * x - s * y - 2.0 * ax).max() < 1e-11
    assert np.abs(s * x + c * y - 2.0 * (ay + G)).max() < 1e-11
    assert np.abs(r["reaction('pin')"] - np.hypot(x, y)).max() < 1e-12


def test_derived_columns_equal_named_outputs(swing):
    for name, derived in (
        ("a", "der(der(th))"),
        ("load", "reaction('pin')"),
        ("fx", "reaction('pin')[1]"),
        ("mz", "reaction('rail')[6]"),
    ):
        assert (
            np.abs(swing[name] - swing[derived]).max() < 1e-14 * np.abs(swing[name]).max() + 1e-14
        ), name  # one root by another library
    assert np.array_equal(swing["force('pin')"], swing["reaction('pin')"])


def test_result_columns_have_units(swing):
    expected = {
        "x": "m",
        "der(x)": "m/s",
        "der(der(x))": "m/s2",
        "th": "rad",
        "der(der(th))": "rad/s2",
        "lag": "m",
        "der(lag)": "m/s",
    }
    expected |= {
        "force('spring')": "N",
        "force('hinge')": "N.m",
        "reaction('pin')": "N",
        "reaction('pin')[6]": "N.m",
    }
    assert {name: swing.unit(name) for name in expected} == expected
    assert "der(der(x))" in swing and "der(der(y))" not in swing
    with pytest.raises(KeyError, match=r"no column 'der\(der\(tt\)\)'"):
        swing["der(der(tt))"]


def test_reaction_at_rest_is_the_weight():
    """A body on a free chain of rigid and hinged joints hangs still: every joint carries what is below it."""
    bodies = {
        "a": {"mass": 2.0, "com": [0, 0, -0.5]},
        "b": {"mass": 3.0, "com": [0, 0, -0.5], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
    }
    joints = {
        "A": {"child": "a", "type": "rigid"},
        "B": {"parent": "a", "child": "b", "type": "spherical", "at": [0, 0, -1]},
    }
    r = (
        load({"format": "kinetree/1", "bodies": bodies, "joints": joints})
        .compile()
        .simulate(stop_time=1.0, output_step=0.5)
    )
    assert (
        np.abs(r["reaction('A')"] - 5.0 * G).max() < 1e-13
        and np.abs(r["reaction('B')[3]"] - 3.0 * G).max() < 1e-13
    )
    assert np.abs(r["der(B.wx)"]).max() < 1e-13


def test_stage_change_alters_columns():
    """The spring softens when the rod is let go; afterwards the pin is gone and the rod falls freely."""
    stages = [
        {"name": "swings", "ends": {"at": 0.52}, "free": ["pin"], "set": {"k": 10.0}},
        {"name": "falls"},
    ]
    outputs = {name: CART["outputs"][name] for name in ("k_spring",)}
    r = (
        load({**CART, "outputs": outputs, "stages": stages})
        .compile()
        .simulate(stop_time=1.0, output_step=0.1, tolerance=1e-9)
    )
    before, after = r.time < 0.52, r.time > 0.52
    assert np.array_equal(r["force('spring')"], r["k_spring"])
    assert np.abs(r["force('spring')"] + np.where(before, 40.0, 10.0) * r["x"]).max() < 1e-12
    assert (
        np.isfinite(r["reaction('pin')"][before]).all()
        and np.isnan(r["reaction('pin')"][after]).all()
    )
    wz, v = r["der(rod.wz)"][after], np.hypot(r["der(rod.vx)"][after], r["der(rod.vy)"][after])
    assert (
        np.abs(wz).max() < 1e-10 and v.min() > 1.0
    )  # the origin of the rod circles about its centre, which falls


def test_locked_coordinates_are_kept():
    """The rod locks to the cart at some angle: reactions of the locked joint belong to that angle."""
    stages = [{"name": "swings", "ends": {"when": "th < 0.5"}, "lock": ["pin"]}, {"name": "stiff"}]
    forces = {name: CART["forces"][name] for name in ("spring", "damper")}
    d = {
        **CART,
        "inputs": {},
        "forces": forces,
        "stages": stages,
        "outputs": {"load": {"value": "reaction('pin')"}},
    }
    r = load(d).compile().simulate(stop_time=1.0, output_step=0.02, tolerance=1e-9)
    assert r["stage"][-1] == 1 and np.abs(r["load"] - r["reaction('pin')"]).max() < 1e-13


def test_reset_parameters_are_kept():
    """An event changes a parameter: rows before and after it have their own."""
    d = {**CART, "events": {"soften": {"when": "x < 0", "set": {"k": "k/2"}}}}
    r = load(d).compile().simulate(stop_time=3.0, output_step=0.05)
    assert len(r.events) == 1 and np.array_equal(r["force('spring')"], r["k_spring"])


def test_closed_loops_have_reactions_of_cut_joints():
    r = load("lib:four-bar").compile().simulate(stop_time=0.5, output_step=0.1)
    joints = {name.split("'")[1] for name in r.derived if name.startswith("reaction(")}
    assert joints == set(load("lib:four-bar").description.joints)
    assert all(np.isfinite(r[f"reaction('{joint}')"]).all() for joint in joints)


def test_columns_are_selected_by_pattern(swing):
    assert swing.select(None) == swing.names
    assert swing.select("all") == swing.names + swing.derived
    assert swing.select(["th", "reaction('pin')*", "der(der(x))"])[:3] == (
        "th",
        "reaction('pin')",
        "reaction('pin')[1]",
    )
    with pytest.raises(KeyError, match="matches"):
        swing.select("nothing*")


def test_interrupt_keeps_the_rows_until_then():
    """A run that is interrupted in the middle of its outputs returns what there is, derived columns too."""

    def stop(t: float) -> None:
        if t > 0.45:
            raise KeyboardInterrupt

    whole = load(CART).compile().simulate(stop_time=1.0, output_step=0.1)
    part = load(CART).compile().simulate(stop_time=1.0, output_step=0.1, progress=stop)
    assert part.interrupted and not whole.interrupted
    assert len(part) == 6 and math.isclose(part.time[-1], 0.5)
    for name in ("x", "th", "reaction('pin')", "der(der(x))"):
        assert np.array_equal(part[name], whole[name][:6]), name


def test_orientations_are_continuous():
    """A body that spins about a skew axis for five turns: no column jumps by more than half the angle between two rows, and each is the turn."""
    spin = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"top": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
        "joints": {
            "J": {
                "child": "top",
                "type": "revolute",
                "axis": [1, 2, 2],
                "coordinates": ["a"],
                "speed": [6.0],
            }
        },
        "outputs": {"e": {"quantity": "orientation", "body": "top"}},
    }
    result = load(spin).compile().simulate(stop_time=6.0, output_step=0.05, tolerance=1e-10)
    e = result.array([f"e[{k}]" for k in range(1, 5)])
    assert np.abs(np.diff(e, axis=0)).max() < 0.5 * 6.0 * 0.05 * 1.001
    half = 0.5 * result["a"]
    turn = np.column_stack(
        [np.cos(half), np.sin(half) / 3, 2 * np.sin(half) / 3, 2 * np.sin(half) / 3]
    )
    assert np.abs(e * np.sign(np.sum(e[0] * turn[0])) - turn).max() < 1e-9
