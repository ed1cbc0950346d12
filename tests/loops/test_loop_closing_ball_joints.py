"""Closing joints whose coordinates nothing reads, and linkages on moving bodies: the same motion and forces by fewer rows."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_loops_hosts import Host
from test_loops_identities import described, floating_four_bar

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError
from kinetree.models.run.reparameterize import reparameterized_system


def bar_on_two_balls(**ball: Any) -> dict[str, Any]:
    """A bar that hangs between a crank and a slider on a moving base, closed by a ball off both origins."""
    body = {"mass": 1.0, "com": [0.3, 0.02, 0.01], "inertia": [0.01, 0.05, 0.04, 0, 0, 0]}
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, -9.81],
        "parameters": {"reach": {"value": 0.5, "tunable": True}},
        "bodies": {"base": body, "crank": body, "bar": body, "slider": body},
        "joints": {
            "tilt": {
                "child": "base",
                "type": "revolute",
                "axis": "y",
                "start": [0.1],
                "speed": [0.4],
            },
            "pin": {"parent": "base", "child": "crank", "type": "revolute", "start": [0.3]},
            "first": {
                "parent": "crank",
                "child": "bar",
                "type": "universal",
                "at": ["reach", 0, 0],
            },
            "slide": {"parent": "base", "child": "slider", "type": "prismatic", "axis": "x"},
            "last": {
                "parent": "bar",
                "child": "slider",
                "type": "spherical",
                "at": [0.6, 0, 0.02],
                "child_at": [-0.1, "0.1*reach", 0.05],
                "cut": True,
                **ball,
            },
        },
    }


READ = {"spherical": "wx", "revolute": "angle", "universal": "angle1"}


def bar_on_axes(kind: str) -> dict[str, Any]:
    """The bar on a ball at the crank, closed by a hinge or a Cardan joint with axes of its own."""
    d = bar_on_two_balls()
    d["joints"]["first"]["type"] = "spherical"
    axis = {"revolute": [0.1, 0.2, 1.0], "universal": [[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]]}[kind]
    turned = [{"rotate": "x", "by": 0.3}] if kind == "universal" else []
    d["joints"]["last"] |= {"type": kind, "axis": axis, "frame": turned}
    if kind == "revolute":  # a hinge leaves the slider its own turn
        d["joints"]["slide"]["type"] = "cylindrical"
    return d


def plane_four_bar(**pin: Any) -> dict[str, Any]:
    """A four-bar in the plane whose last hinge may close it by two rows."""
    bar = {"mass": 1.0, "com": [0.5, 0.1, 0], "inertia": [0.01, 0.1, 0.1, 0, 0, 0]}
    hinge = {"type": "revolute", "at": [1, 0, 0]}
    end = {"child_at": [0.8, 0, 0], "cut": True}
    return {
        "format": "kinetree/1",
        "gravity": [0, -9.81, 0],
        "bodies": {"crank": bar, "coupler": bar, "rocker": bar},
        "joints": {
            "A": {"child": "crank", "type": "revolute", "start": [1.2], "speed": [2.0]},
            "B": {"parent": "crank", "child": "coupler", **hinge},
            "C": {"child": "rocker", **hinge},
            "last": {"parent": "coupler", "child": "rocker", **hinge, **end, **pin},
        },
    }


def both(d: dict[str, Any]) -> tuple[Any, Any]:
    """The mechanism as it is, and with an output that reads its closing joint."""
    name = "last" if "last" in d["joints"] else "ball"
    read = f"{name}.{READ[d['joints'][name]['type']]}"
    return load(d).compile(), load({**d, "outputs": {"turning": {"value": read}}}).compile()


def slider_crank() -> dict[str, Any]:
    return {
        key: value for key, value in described("slider_crank_spatial").items() if key != "outputs"
    }


@pytest.mark.parametrize(
    "d, saved, rows",
    [
        (slider_crank(), 3, 3),
        (bar_on_two_balls(), 3, 3),
        (bar_on_axes("universal"), 2, 4),
        (bar_on_axes("revolute"), 1, 5),
        (plane_four_bar(), 1, 2),
    ],
    ids=["ball on the ground", "ball", "Cardan joint", "hinge", "hinge in a plane"],
)
def test_loop_closing_joint_has_no_coordinates(d: dict[str, Any], saved: int, rows: int):
    """Freedoms, accelerations, constraint forces and reactions of all joints are those of the joint with its coordinates."""
    few, all_of_it = both(d)
    assert few.n == all_of_it.n - saved and few.freedoms == all_of_it.freedoms
    assert few._fast.ws.loop_r.size == rows
    q, u = all_of_it.start()
    u = all_of_it.project(0.0, q, u + 0.5)[1]
    values = dict(zip((*all_of_it.coordinates, *all_of_it.speeds), (*q, *u), strict=True))
    state = (
        np.array([values[key] for key in few.coordinates]),
        np.array([values[key] for key in few.speeds]),
    )
    assert few.constraint_residual(0.0, *state) < 1e-11
    wanted = dict(zip(all_of_it.speeds, all_of_it.accelerations(0.0, q, u), strict=True))
    found = few.accelerations(0.0, *state)
    assert found == pytest.approx([wanted[key] for key in few.speeds], rel=1e-9, abs=1e-9)
    reactions = all_of_it.joint_reactions(0.0, q, u)
    here = few.joint_reactions(0.0, *state)
    assert here.keys() == reactions.keys()
    for joint, wrench in here.items():
        assert wrench == pytest.approx(reactions[joint], abs=1e-9), joint


@pytest.mark.parametrize(
    "d, method",
    [
        (bar_on_two_balls(), "adams"),
        (bar_on_axes("universal"), "adams"),
        (bar_on_axes("revolute"), "radau"),
        (plane_four_bar(), "adams"),
    ],
    ids=["ball", "Cardan joint", "hinge", "hinge in a plane"],
)
def test_motion_with_loop_closing_joint_matches_reference(d: dict[str, Any], method: str):
    """The run of fewer coordinates is that of all, to 1e-6 at tolerances of 1e-10; angles, rates and reactions of the joint are there."""
    systems = both(d)
    few, all_of_it = (
        system.simulate(stop_time=1.0, output_step=0.1, tolerance=1e-10, integrator=method)
        for system in systems
    )
    names = {*all_of_it.names} - {"turning", "solver_steps"}
    names |= {name for name in few.derived if name.startswith("reaction('last')")}
    if d["joints"]["last"]["type"] == "spherical":
        names -= {name for name in names if name.startswith("last.")}
    for name in names:
        found, wanted = few[name], all_of_it[name]
        if name.startswith("last.angle"):  # whole turns of the first row are free
            wanted = wanted - 2 * np.pi * np.round((wanted[0] - found[0]) / (2 * np.pi))
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-6), name


def test_hinge_upside_down_is_open():
    """A body turned over at its closing hinge is half a turn from closed, though its axis lies on the other."""
    body = {"mass": 1.0, "inertia": [1, 2, 3, 0, 0, 0]}
    joints = {
        "arm": {"child": "arm", "type": "revolute"},
        "loose": {"child": "plate", "type": "free"},
        "pin": {"parent": "arm", "child": "plate", "type": "revolute", "cut": True},
    }
    d = {"format": "kinetree/1", "bodies": {"arm": body, "plate": body}, "joints": joints}
    system = load(d).compile()
    q = dict.fromkeys(system.coordinates, 0.0)
    upright, over = ({**q, f"loose.{name}": 1.0} for name in ("qw", "qx"))
    residuals = [system.constraint_residual(0.0, [*each.values()]) for each in (upright, over)]
    assert residuals == pytest.approx([0.0, np.pi], abs=1e-12)


@pytest.mark.parametrize("kind", ["universal", "revolute"])
def test_straight_line_code_and_linearisation_of_closing_axes(kind: str):
    """Traced formulas give the engine's accelerations; the linearisation has the modes of the joint with coordinates."""
    few, all_of_it = both(bar_on_axes(kind))
    q, u = few.start()
    u = few.project(0.0, q, u + 0.5)[1]
    fast = few.specialise()
    assert fast.accelerations(0.0, q, u) == pytest.approx(few.accelerations(0.0, q, u), rel=1e-9)
    exact = few.derivatives(0.0, q, u).tau
    units = np.eye(few.n)
    slopes = [
        few.accelerations(0.0, q, u, tau=one) - few.accelerations(0.0, q, u, tau=-one)
        for one in units
    ]
    assert exact == pytest.approx(np.array(slopes).T / 2.0, abs=1e-8)
    found, wanted = (np.sort_complex(each.linearize().eigenvalues) for each in (few, all_of_it))
    assert found == pytest.approx(wanted, abs=1e-5)


def test_loop_closing_ball_joint_follows_a_parameter():
    """The place of a closing ball follows a parameter that is set after compilation."""
    d = bar_on_two_balls()
    later = reparameterized_system(load(d).compile(), {"reach": 0.55})
    d["parameters"]["reach"]["value"] = 0.55
    q, u = (fresh := load(d).compile()).start()
    assert later.accelerations(0.0, q, u) == pytest.approx(
        fresh.accelerations(0.0, q, u), rel=1e-12
    )


def test_loop_closing_ball_joint_at_merged_bodies_matches_reference():
    """A ball at a bracket that is merged with its carrier closes at the bracket's place."""
    d = bar_on_two_balls()
    rigid = {"type": "rigid", "at": [0.1, 0.2, 0.0], "frame": [{"rotate": "z", "by": 0.4}]}
    d["bodies"]["bracket"] = {"mass": 0.0, "inertia": [0, 0, 0, 0, 0, 0]}
    d["joints"]["bolts"] = {"parent": "slider", "child": "bracket", **rigid}
    d["joints"]["last"]["child"] = "bracket"
    apart = load({**d, "run": {"merge": False}}).compile()
    merged = load(d).compile()
    q, u = apart.start()
    assert merged.start()[0] == pytest.approx(q, abs=1e-10)
    assert merged.compiled.running.counts["N"] == apart.compiled.running.counts["N"] - 1
    ends = [
        each.simulate(stop_time=0.3, tolerance=1e-10, output_step=0.3) for each in (merged, apart)
    ]
    for name in apart.coordinates:
        assert ends[0][name] == pytest.approx(ends[1][name], abs=1e-8), name


@pytest.mark.parametrize("given", [{"start": [1, 0, 0, 0]}, {"coordinates": ["a", "b", "c", "d"]}])
def test_loop_closing_ball_joint_keeps_given_start_values(given: dict[str, Any]):
    """A ball whose start or coordinates the description names keeps its coordinates."""
    assert load(bar_on_two_balls(**given)).compile().n == 8


@pytest.mark.parametrize(
    "given", [{"start": [-1.9]}, {"coordinates": ["mu"]}, {"rotor_inertia": [0.1]}]
)
def test_closing_hinge_keeps_what_is_given(given: dict[str, Any]):
    """A hinge whose start, coordinate or motor the description names keeps its coordinate."""
    assert load(plane_four_bar(**given)).compile().n == 4


def test_loop_closing_ball_joint_out_of_reach_is_reported():
    """What cannot be closed is refused with the joint's name."""
    d = bar_on_two_balls(child_at=[0, 0, 50.0])
    with pytest.raises(EvaluationError, match="last"):
        load(d).compile().start()


def test_model_exchange_host_keeps_ball_joint_closed():
    """A ball opened by 1e-4 closes under model exchange, as any loop does."""
    host = Host(bar_on_two_balls())
    y = host.start.copy()
    y[1] += 1e-4
    before = host.gap(0.0, y)
    found = solve_ivp(host, (0.0, 1.0), y, method="RK45", rtol=1e-9, atol=1e-11)
    assert before > 1e-5 and host.gap(1.0, found.y[:, -1]) < 1e-2 * before


def test_linkage_on_a_moving_body_has_the_rows_of_its_plane():
    """A four-bar on a free body: three rows, those out of its plane vanish in the axes of that body."""
    system = load(floating_four_bar()).compile()
    assert system.freedoms == 7
    q, u = system.start()
    assert system._fast.ws.loop_r.size == 3
    result = system.simulate(stop_time=1.0, output_step=0.25, tolerance=1e-10)
    last = [
        np.array([result[name][-1] for name in names])
        for names in (system.coordinates, system.speeds)
    ]
    assert system.constraint_residual(1.0, *last) < 1e-9
    assert set(system.redundant) == {"pin: z", "pin: rotation x", "pin: rotation y"}
