"""Rigidly joined bodies run as one: against the same mechanism with every body of its own, in accelerations, runs, stages, loops and archives."""

from typing import Any

import numpy as np
import pytest
from fmpy import simulate_fmu
from random_descriptions import random_body, unit, vector

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.compilation.rigid_body_merging import words
from kinetree.models.system.controller_variants import system_of

MOVING = ("revolute", "prismatic", "universal", "spherical", "screw")


def random_parts(rng: np.random.Generator, bodies: int, loop: bool = False) -> dict[str, Any]:
    """A tree in which every second body is a rigid part, turned and shifted, and joints begin at parts as often as at what carries them."""
    d: dict[str, Any] = {
        "format": "kinetree/1",
        "gravity": vector(rng.normal(0.0, 6.0, 3)),
        "parameters": {"m": 1.3, "a": 0.4},
    }
    d["bodies"], d["joints"], names = {}, {}, ["ground"]
    for k in range(1, bodies + 1):
        name, parent = f"b{k}", names[int(rng.integers(max(0, len(names) - 3), len(names)))]
        d["bodies"][name] = random_body(rng) | (
            {"mass": f"m*{rng.uniform(1.0, 2.0)!r}"} if rng.random() < 0.3 else {}
        )
        joint: dict[str, Any] = {"parent": parent, "child": name}
        if k % 2 == 0 and parent != "ground":
            places = [
                {"shift": [float(rng.normal()), "a", 0.1]},
                {"rotate": vector(2.0 * unit(rng)), "by": "a + m"},
                {"shift": vector(rng.normal(0, 0.2, 3))},
            ]
            joint |= (
                {"transforms": places[: int(rng.integers(1, 4))]}
                if rng.random() < 0.7
                else {"type": "rigid", "child_at": [0.1, 0, "a"]}
            )
        else:
            kind = MOVING[int(rng.integers(len(MOVING)))]
            joint |= {
                "type": kind,
                "at": vector(rng.normal(0, 0.3, 3)),
                "frame": [{"rotate": vector(unit(rng)), "by": 0.7}],
            }
            joint |= {"pitch": 0.3} if kind == "screw" else {}
        d["joints"][f"j{k}"] = joint
        names.append(name)
    if loop:  # through parts on both sides
        system = load(d | {"run": {"merge": False}}).compile()
        q, u = system.start()
        first, second = names[-1], names[1]
        point = system.point(0.0, q, u, first)
        there = system.point(0.0, q, u, second)
        at = there.rotation.T @ (point.position - there.position)
        d["joints"]["closing"] = {
            "parent": second,
            "child": first,
            "type": "spherical",
            "at": vector(at),
            "cut": True,
        }
    return d


def apart(d: dict[str, Any]) -> dict[str, Any]:
    return d | {"run": d.get("run", {}) | {"merge": False}}


@pytest.mark.parametrize("seed", range(6))
def test_merged_bodies_equal_separate_bodies(seed: int):
    """Accelerations at random states, also of other parameters, and energies; fewer bodies run."""
    rng = np.random.default_rng(seed)
    d = random_parts(rng, int(rng.integers(3, 9)))
    for numbers in ({}, {"m": 2.1, "a": -0.3}):
        one, own = (load(each).compile(**numbers) for each in (d, apart(d)))
        few = one.compiled.running
        assert (
            few.carriers
            and len(few.bodies) == len(one.bodies) - len(few.carriers)
            and own.compiled.fewer is None
        )
        for _ in range(3):
            q, u = one.start()
            q, u = q + rng.normal(0.0, 0.4, q.size), u + rng.normal(size=u.size)
            for k in one.compiled.quaternions:
                q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
            expected = own.accelerations(0.0, q, u)
            assert one.accelerations(0.0, q, u) == pytest.approx(
                expected, abs=1e-11 * max(1.0, np.abs(expected).max())
            )
            udot = np.empty(one.n)
            one.evaluator()(0.0, q, u, udot)
            assert (udot == one.accelerations(0.0, q, u)).all()


def compared(d: dict[str, Any], stop: float = 0.5, tolerance: float = 1e-8, **more: Any) -> Any:
    """Runs of both: every column, event and reaction of every joint."""
    one, own = (
        load(each)
        .compile()
        .simulate(stop_time=stop, output_step=stop / 10, tolerance=1e-11, **more)
        for each in (d, apart(d))
    )
    assert one.names == own.names
    for name in (
        *own.names,
        *(f"reaction('{joint}')[{k}]" for joint in d["joints"] for k in range(1, 7)),
    ):
        if name != "solver_steps":
            assert one[name] == pytest.approx(
                own[name],
                abs=tolerance * max(1.0, float(np.nanmax(np.abs(own[name])))),
                nan_ok=True,
            ), name
    assert [(e.kind, e.cause) for e in one.events] == [(e.kind, e.cause) for e in own.events]
    assert [e.time for e in one.events] == pytest.approx([e.time for e in own.events], abs=1e-7)
    return one


@pytest.mark.parametrize("seed", [3, 4, 5, 6])
def test_outputs_and_reactions_of_merged_parts_match(seed: int):
    """Centre of mass, momenta and kinetic energy of all bodies; reactions of rigid joints from the structure with all bodies."""
    d = random_parts(np.random.default_rng(seed), 5)
    d["outputs"] = {
        "c": {"quantity": "centre_of_mass"},
        "l": {"quantity": "angular_momentum"},
        "p": {"quantity": "momentum"},
    }
    assert compared(d).names
    assert load(d).compile().compiled.running.carriers


@pytest.mark.parametrize("seed", [1, 2, 4, 7])
def test_loops_through_merged_parts_match(seed: int):
    """The cut joint leads from part to part; both sides merge, the loop closes at the same place."""
    d = random_parts(np.random.default_rng(seed), 6, loop=True)
    system = load(d).compile()
    assert (
        system.compiled.running.carriers and system.compiled.running.loops == system.compiled.loops
    )
    q, u = system.start()
    own = load(apart(d)).compile()
    expected = own.accelerations(0.0, q, u)
    assert system.accelerations(0.0, q, u) == pytest.approx(
        expected, abs=1e-9 * max(1.0, np.abs(expected).max())
    )
    compared(d, stop=0.2, tolerance=1e-6)


def arm() -> dict[str, Any]:
    """Two hinged links; tools on rigid joints at both, the second link hangs on the first one's tool."""
    body = {"mass": 1.0, "com": [0.2, 0, -0.1], "inertia": [0.02, 0.05, 0.04, 0.001, 0, 0]}
    return {
        "format": "kinetree/1",
        "name": "arm",
        "parameters": {"load": {"value": 0.5, "tunable": True, "min": 0.0}},
        "bodies": {
            "upper": body,
            "tool": {"mass": "load", "com": [0.1, 0, 0]},
            "lower": body,
            "hook": {**body, "mass": "2*load"},
        },
        "joints": {
            "shoulder": {"child": "upper", "type": "revolute", "axis": "y", "start": 0.3},
            "flange": {
                "parent": "upper",
                "child": "tool",
                "type": "rigid",
                "at": [0.5, 0, 0],
                "frame": [{"rotate": "z", "by": 0.4}],
            },
            "elbow": {
                "parent": "tool",
                "child": "lower",
                "type": "revolute",
                "axis": [0, 1, 0.2],
                "at": [0.2, 0, 0],
            },
            "grip": {
                "parent": "lower",
                "child": "hook",
                "type": "rigid",
                "at": [0.4, 0, 0],
                "frame": [{"rotate": "x", "by": -0.3}],
            },
        },
    }


def carriers(d: dict[str, Any]) -> dict[str, str]:
    return load(d).compile().compiled.running.carriers


def test_named_bodies_are_not_merged():
    """By an output, a force, a contact, a stage, an expression with the joint's name."""
    assert carriers(arm()) == {"tool": "upper", "hook": "lower"}
    assert carriers(apart(arm())) == {}
    named = [
        {"outputs": {"x": {"quantity": "position", "body": "hook"}}},
        {"outputs": {"x": {"quantity": "mass", "bodies": ["hook"]}}},
        {"outputs": {"x": {"value": "2*reaction('grip')"}}},
        {"outputs": {"x": {"quantity": "reaction", "joint": "grip"}}},
        {
            "forces": {
                "f": {
                    "between": [{"body": "hook"}, {"body": "ground"}],
                    "stiffness": 1.0,
                    "length": 0.5,
                }
            }
        },
        {"contacts": {"f": {"body": "hook", "at": [0, 0, -9]}}},
        {"stages": [{"ends": {"at": 1.0}, "free": ["grip"]}, {"name": "away"}]},
        {"states": {"worn": {"rate": "1e-3*reaction('grip')"}}},
    ]
    for each in named:
        assert carriers(arm() | each) == {"tool": "upper"}, each
        compared(arm() | each, stop=0.2)


def test_merged_masses_follow_parameters():
    """An event and a stage change the load that is part of both links."""
    d = arm() | {"events": {"drop": {"when": "t > 0.2", "set": {"load": 0.1}}}}
    compared(d)
    d = arm() | {
        "stages": [
            {"ends": {"at": 0.2}, "set": {"load": 2.0}},
            {"ends": {"when": "t > 0.4"}, "lock": ["shoulder"]},
            {"name": "held"},
        ]
    }
    assert carriers(d)
    compared(d, stop=0.6)


def test_released_link_takes_merged_parts():
    """The elbow lets go: the lower link flies on with its hook; its pose comes from the merged structure, momentum and energy stay."""
    d = arm() | {"stages": [{"ends": {"at": 0.2}, "free": ["elbow"]}, {"name": "apart"}]}
    d["outputs"] = {"p": {"quantity": "momentum"}, "x": {"quantity": "position", "body": "lower"}}
    assert carriers(d) == {"tool": "upper", "hook": "lower"}
    compared(d, stop=0.6)


def test_ground_parts_are_classified():
    """A base with weight keeps its potential and carries its own parts; one without mass is the ground."""
    d = arm()
    d["bodies"] |= {
        "base": {"mass": 3.0, "com": [0, 0, 1]},
        "plate": {"mass": 0.0},
        "column": {"mass": 1.0},
    }
    d["joints"] |= {
        "bolt": {"child": "base", "type": "rigid", "at": [0, 0, 0.2]},
        "weld": {"parent": "base", "child": "column", "type": "rigid"},
        "glue": {"child": "plate", "type": "rigid", "at": [1, 0, 0]},
        "shoulder": d["joints"]["shoulder"] | {"parent": "column"},
    }
    assert carriers(d) == {"column": "base", "plate": "ground", "tool": "upper", "hook": "lower"}
    d["outputs"] = {"e": {"value": "load"}}
    one, own = load(d).compile(), load(apart(d)).compile()
    q, u = one.start()
    assert one.energy(0.0, q, u) == pytest.approx(own.energy(0.0, q, u), rel=1e-13)
    compared(d)


def test_queries_accept_names_of_merged_bodies():
    """Loads, reactions and points at parts."""
    d = arm()
    one, own = load(d).compile(), load(apart(d)).compile()
    q, u = one.start()
    loads = np.random.default_rng(1).normal(size=(4, 6))
    assert one.bodies == own.bodies
    assert (
        one.accelerations(0.0, q, u, loads=loads) == own.accelerations(0.0, q, u, loads=loads)
    ).all()
    assert (one.reactions(0.0, q, u) == own.reactions(0.0, q, u)).all()
    assert (one.point(0.0, q, u, "hook").position == own.point(0.0, q, u, "hook").position).all()


@pytest.mark.parametrize(
    "backend, kind",
    [("native", "CoSimulation"), ("native", "ModelExchange"), ("python", "CoSimulation")],
)
def test_fmus_change_masses_of_merged_bodies(backend: str, kind: str, tmp_path):
    """A host halves the load at 0.25 s: the run with an event that does so."""
    d = arm() | {"events": {"lighter": {"when": "t > 0.25", "set": {"load": 0.25}}}}
    right = load(apart(d)).compile().simulate(stop_time=0.5, output_step=0.5, tolerance=1e-10)
    path = build_fmu(load(arm()), tmp_path / "arm.fmu", backend)
    given = np.array(
        [(0.0, 0.5), (0.25, 0.5), (0.25, 0.25), (0.5, 0.25)],
        dtype=[("time", float), ("load", float)],
    )
    names = ["shoulder.angle", "elbow.angle"]
    found = simulate_fmu(
        str(path),
        fmi_type=kind,
        stop_time=0.5,
        input=given,
        output=names,
        output_interval=0.005,
        relative_tolerance=1e-9,
    )
    for name in names:
        assert found[name][-1] == pytest.approx(right[name][-1], abs=1e-5), name


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["boom", "closed-three-link", "excavator", "gyroscope", "impact-pair", "snakeboard"]
)
def test_merging_keeps_library_motion(name: str):
    """All mechanisms of the library with rigid joints."""
    d = load(f"lib:{name}").description
    own = system_of(d.model_copy(update={"run": d.run.model_copy(update={"merge": False})}))
    stop = min(1.0, float(d.run.stop_time or 1.0))
    one, own = (
        each.simulate(stop_time=stop, output_step=stop / 10, tolerance=1e-9)
        for each in (load(f"lib:{name}").compile(), own)
    )
    for column in set(own.names) - {"solver_steps", "energy_residual", "constraint_residual"}:
        assert one[column] == pytest.approx(
            own[column], abs=2e-6 * max(1.0, np.abs(own[column]).max())
        ), column


def test_every_name_in_a_law_counts_as_mentioned():
    """Whole, quoted, and the beginnings of what has dots: a body that a law names stays a body of its own."""
    assert set(words("2*max(lift.oil.pressure, 'left leg') - q")) >= {
        "lift",
        "lift.oil",
        "lift.oil.pressure",
        "left leg",
        "q",
        "max",
    }
    assert set(words({"of": ["a", ("b.c",)]})) >= {"of", "a", "b", "b.c"}
