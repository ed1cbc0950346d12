"""Assembly: independence of the cut, starts that change, dead points, bodies without mass, momenta of loops."""

from typing import Any

import numpy as np
import pytest
from test_loops_identities import CUTS, described, four_bar_with, numerical_jacobian, with_cuts

from kinetree.models import ModelError, load
from kinetree.models.engine.status import EvaluationError
from kinetree.scripts import cli
from kinetree.solvers.layout import Status

ROD = {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1, 0, 0, 0]}
PLATE = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}


def turn(name: str, **start: float) -> dict[str, Any]:
    return {"rotate": "z", "coordinate": name, **start}


# -- starts ---------------------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["four_bar", "six_bar", "slider_crank_spatial"])
def test_assembled_position_does_not_depend_on_the_cut(name):
    """Steps of Gauss and Newton ended at places that depended on which joint they closed; the nearest place to the guesses is one for all cuts."""
    found = []
    for cuts in CUTS[name]:
        d = with_cuts(name, *cuts)
        for joint in d["joints"].values():
            for transform in joint.get("transforms", ()):
                transform.pop("start", None)
        system, plain = load(d).compile(), load(with_cuts(name)).compile()
        start = dict(zip(plain.coordinates, plain.start()[0], strict=True))
        rng = np.random.default_rng(5)
        rough = {key: start[key] + 0.15 * rng.uniform(-1, 1) for key in sorted(start)}
        q, u = system.assemble(
            0.0, np.array([rough[key] for key in system.coordinates]), np.zeros(system.n)
        )
        assert system.constraint_residual(0.0, q) < 1e-9
        found.append(dict(zip(system.coordinates, q, strict=True)))
    for other in found[1:]:
        assert {key: other[key] for key in found[0]} == pytest.approx(found[0], abs=1e-7)


def test_changed_starts_are_reported():
    """Given starts that do not fit gave way in silence: the system and the command line say before and after."""
    system = load(four_bar_with(chi=-1.3)).compile()
    changes = system.start_changes
    assert changes["chi"][0] == -1.3 and abs(changes["chi"][1] + 1.3) > 0.1
    assert any("'chi': -1.3 became" in text for text in system.warnings)
    assert load("lib:four-bar").compile().warnings == ()


@pytest.mark.parametrize("cut", ["slide", "pin"])
def test_infeasible_prescribed_motions_are_reported(cut: str):
    """A slider that is pinned to the ground and carried aside: closed at the start, wherever it is cut, with no speed to stay so."""
    slide = {
        "child": "a",
        "transforms": [
            {"shift": "x", "coordinate": "x", "start": 0.3},
            {"shift": "y", "by": "0.1*t"},
        ],
    }
    joints = {"slide": slide, "pin": {"child": "a", "type": "spherical", "at": [0.3, 0, 0]}}
    joints[cut]["cut"] = True
    with pytest.raises(EvaluationError, match="no speeds keep it closed"):
        load({"bodies": {"a": PLATE}, "joints": joints}).compile().start()
    slide["transforms"][1]["by"] = 0.0
    system = load({"bodies": {"a": PLATE}, "joints": joints}).compile()
    assert dict(zip(system.coordinates, system.start()[0], strict=True))["x"] == pytest.approx(0.3)


def test_command_line_warns_of_changed_start_values(tmp_path, capsys):
    """`check` and `run` print the warnings of a system."""
    import json

    file = tmp_path / "m.json"
    file.write_text(json.dumps(four_bar_with(chi=-1.3)))
    assert cli.main(["check", str(file)]) == 0
    assert "'chi': -1.3 became" in capsys.readouterr().err


@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
def test_changed_start_value_is_reported(first: bool):
    """Two rods of length 1 on pivots 1 apart and a coupler of length 1 between them: both rods stand alike, so 0.9 and 0.2 cannot both be."""
    joints = {
        "left": {"child": "a", "type": "revolute", "axis": "y", "coordinates": ["p"], "start": 0.9},
        "right": {
            "child": "b",
            "at": [1, 0, 0],
            "type": "revolute",
            "axis": "y",
            "coordinates": ["q"],
            "start": 0.2,
        },
    }
    if not first:
        joints = dict(reversed(joints.items()))
    bodies = dict.fromkeys(("a", "b") if first else ("b", "a"), ROD)
    ends = [{"body": "a", "point": [1, 0, 0]}, {"body": "b", "point": [1, 0, 0]}]
    system = load(
        {
            "format": "kinetree/1",
            "bodies": bodies,
            "joints": joints,
            "couplings": {"rod": {"length": 1.0, "between": ends}},
        }
    ).compile()
    q, _ = system.start()
    changes = system.start_changes
    assert changes and all(given != became for given, became in changes.values())
    for name, (given, became) in changes.items():
        assert given == {"p": 0.9, "q": 0.2}[name] and became == q[system.coordinates.index(name)]
    assert set(changes) == {
        name
        for name, given in (("p", 0.9), ("q", 0.2))
        if abs(q[system.coordinates.index(name)] - given) > 1e-6
    }


def test_changed_spherical_joint_start_is_reported():
    """A rod on a ball joint at the ground, its tip held by a link: the quaternion that was given does not lead there."""
    joints = {
        "foot": {
            "child": "a",
            "type": "spherical",
            "coordinates": ["w", "x", "y", "z"],
            "start": [1, 0, 0, 0],
        }
    }
    ends = [{"body": "a", "point": [1, 0, 0]}, {"body": "ground", "point": [0.5, 1.2, 0.3]}]
    system = load(
        {
            "format": "kinetree/1",
            "bodies": {"a": ROD},
            "joints": joints,
            "couplings": {"link": {"length": 0.5, "between": ends}},
        }
    ).compile()
    q, _ = system.start()
    assert (
        system.start_changes["w"] == (1.0, q[0]) and abs(q[0]) < 0.99 and abs(q @ q - 1.0) < 1e-12
    )


# -- dead points ----------------------------------------------------------------------------------------------------------------------------
def truss(second: float = 1.0, base: bool = False) -> dict[str, Any]:
    """Two bars stretched between pins at a distance of 1 + second, with a pendulum beside them; or on a free base."""
    parent = "base" if base else "ground"
    d: dict[str, Any] = {
        "format": "kinetree/1",
        "gravity": [0, -9.81, 0],
        "bodies": {
            "a": ROD,
            "b": {**ROD, "com": [second / 2, 0, 0]},
            "p": {**ROD, "com": [0, -1, 0]},
        },
        "joints": {
            "A": {"parent": parent, "child": "a", "transforms": [turn("p")]},
            "B": {"parent": "a", "child": "b", "at": [1, 0, 0], "transforms": [turn("q")]},
            "C": {
                "parent": "b",
                "child": parent,
                "transforms": [
                    {"shift": [second, 0, 0]},
                    turn("r"),
                    {"shift": [-1 - second, 0, 0]},
                ],
            },
            "P": {"child": "p", "transforms": [turn("s", start=0.3)]},
        },
    }
    if base:
        d["bodies"]["base"] = PLATE
        d["joints"]["F"] = {"child": "base", "type": "free"}
    return d


@pytest.mark.parametrize("base", [False, True])
@pytest.mark.parametrize("second", [1.0, 0.4])
def test_collinear_truss_is_assembled(second, base):
    """Rows that vanish in first order were left out as if they vanished always, and the pin left the wall: the position is named instead."""
    with pytest.raises(EvaluationError, match="dead point") as caught:
        load(truss(second, base)).compile().start()
    assert caught.value.status == Status.DEAD_POINT and "'C'" in str(caught.value)


@pytest.mark.parametrize("order", [1, -1])
def test_rigid_truss_beside_loop_is_named(order):
    """Every loop is judged by its own coordinates, whichever comes first."""
    d, stuck = described("four_bar"), truss()
    for section in ("bodies", "joints"):
        d[section] = (
            {**d[section], **stuck[section]} if order == 1 else {**stuck[section], **d[section]}
        )
    with pytest.raises(EvaluationError, match="dead point") as caught:
        load(d).compile().start()
    assert "'C'" in str(caught.value)


def test_flat_four_bar_is_not_reported_as_rigid():
    """A parallelogram that starts on one line has two ways to go on, so that it is no dead point of this kind."""
    d = described("four_bar")
    d["parameters"] |= {"a": 0.5, "b": 1.0, "c": 0.5, "d": 1.0}
    d["parameters"]["crank_0"] = 0.0
    system = load(d).compile()
    assert (
        system.start()[0] == pytest.approx([0, 0, 0, 0], abs=1e-9)
        or system.constraint_residual(0.0, system.start()[0]) < 1e-9
    )


def test_residual_counts_directions_without_rows():
    """A plane four-bar has no rows out of its plane; a position that is open there shows it all the same."""
    system = load(with_cuts("four_bar", "pin")).compile()
    q, u = system.start()
    system._fast.ws.val[system.compiled.registers["t"]] = 0.0
    assert system.constraint_residual(0.0, q, u) < 1e-10
    d = with_cuts("four_bar", "pin")
    d["joints"]["pin"]["transforms"].append(
        {"shift": [0, 0, 0.01]}
    )  # the pin lies 1 cm beside the plane of the others
    with pytest.raises(EvaluationError, match="'pin' stays open in z"):
        load(d).compile().start()


# -- bodies without mass --------------------------------------------------------------------------------------------------------------------
def geared(ratio: float = 2.0, force: float = 0.0) -> dict[str, Any]:
    """A mass, and a slider without any that runs `ratio` times as fast."""
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"a": {**PLATE, "mass": 3.0}, "m": {"mass": 0}},
        "joints": {
            "j": {
                "child": "a",
                "type": "prismatic",
                "axis": "x",
                "coordinates": ["x"],
                "speed": [1.0],
            },
            "k": {"child": "m", "type": "prismatic", "axis": "x", "coordinates": ["y"]},
        },
        "couplings": {"c": {"value": f"y - {ratio}*x"}},
        "forces": {"push": {"coordinate": "y", "value": force}},
    }


def test_massless_slider_on_a_gear_is_solved():
    """The tree has no inertia for it, the whole has: 3 kg feel twice the force on the slider, to the last digits but three."""
    system = load(geared(2.0, 1.5)).compile()
    q, u = system.start()
    assert system.accelerations(0.0, q, u) == pytest.approx([1.0, 2.0], rel=1e-11)
    result = system.simulate(stop_time=1)
    assert result["y"][-1] == pytest.approx(2.0 * (1.0 + 0.5), rel=1e-9)


def test_parallel_massless_sliders_are_solved():
    """Each has a gear of its own: 3 kg feel twice the one force and three times the other, 2*1.5 + 3*1 N."""
    d = geared(2.0, 1.5)
    d["bodies"]["n"] = {"mass": 0}
    d["joints"]["l"] = {"child": "n", "type": "prismatic", "axis": "x", "coordinates": ["z"]}
    d["couplings"]["d"] = {"value": "z - 3*x"}
    d["forces"]["pull"] = {"coordinate": "z", "value": 1.0}
    system = load(d).compile()
    assert system.accelerations(0.0, *system.start()) == pytest.approx([2.0, 4.0, 6.0], rel=1e-11)


def test_set_speed_is_unaffected_by_proximal_inertia():
    """Projection in the metric of the masses alone: the speed of the mass stays, the slider follows it."""
    system = load(geared()).compile()
    q, u = system.project(0.0, [0.0, 0.0], [1.0, 0.0])
    assert u == pytest.approx([1.0, 2.0], rel=1e-11)


@pytest.mark.parametrize("massless", ["coupler", "rocker", "crank"])
def test_four_bar_with_massless_links_is_solved(massless):
    """One link without mass, any joint cut: all cuts give the motion that a link of a billionth of the mass has."""
    light = described(
        "four_bar"
    )  # by its default cut: the heavier of two bodies is cut, else rows are equal but for the ratio of the masses
    light["bodies"][massless] |= {"mass": "1e-9*rho", "inertia": [0, 1e-10, 1e-10, 0, 0, 0]}
    reference = load(light).compile()
    q, u = reference.start()
    right = dict(zip(reference.speeds, reference.accelerations(0.0, q, u), strict=True))
    values, speeds = (
        dict(zip(reference.coordinates, q, strict=True)),
        dict(zip(reference.speeds, u, strict=True)),
    )
    for (cut,) in CUTS["four_bar"]:
        d = with_cuts("four_bar", cut)
        d["bodies"][massless] = {"mass": 0}
        system = load(d).compile()
        found = system.accelerations(
            0.0, [values[c] for c in system.coordinates], [speeds[s] for s in system.speeds]
        )
        assert dict(zip(system.speeds, found, strict=True)) == pytest.approx(right, rel=1e-6), cut


def test_unconstrained_massless_body_is_refused():
    """A body without mass that no relation holds has no motion: the body is named."""
    d = geared()
    d["couplings"] = {"c": {"value": "x - 1"}}
    with pytest.raises(ModelError, match=r"bodies\.m\.mass"):
        load(d).compile()


# -- momenta --------------------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["DEC-H", "CBM-H", "ABM-H", "ITR-H"])
@pytest.mark.parametrize("name", ["four-bar", "slider-crank-spatial", "rolling-disc"])
def test_momentum_rates_of_loops_match_forces(name, method):
    """Rates of momenta lacked the forces of the constraints; they are the differences of the momenta along the motion (error step²)."""
    system = load(f"lib:{name}").compile()
    q, u = system.start()
    a, h = system.accelerations(0.0, q, u), 1e-5
    v, rates = system.hamilton(0.0, q, system.momenta(0.0, q, u), method=method)
    assert v == pytest.approx(u, abs=1e-8 * max(1.0, np.abs(u).max()))
    from test_loops_identities import shifted

    ends = [system.momenta(0.0, *shifted(system, q, u, a, s)) for s in (h, -h)]
    expected = (ends[0] - ends[1]) / (2 * h)
    assert np.abs(rates - expected).max() < 1e-6 * max(1.0, np.abs(expected).max(), np.abs(a).max())


def test_constraint_forces_are_orthogonal_to_motion():
    """Jᵀλ does no work on speeds that the constraints allow."""
    system = load("lib:slider-crank-spatial").compile()
    q, u = system.start()
    forces = system.constraint_forces(0.0, q, u)
    J = numerical_jacobian(system, q)
    free = np.linalg.svd(J)[2][system.n - system.freedoms :]
    assert np.abs(free @ forces).max() < 1e-9 * np.abs(forces).max()


def test_open_loop_names_its_gap():
    """Two bars of 1 m between bearings 5 m apart: 3 m are missing."""
    bar = {"mass": 1, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    turn = {"type": "revolute", "axis": "y"}
    joints = {
        "near": {"child": "a", **turn},
        "knee": {"parent": "a", "child": "b", "at": [1, 0, 0], **turn},
        "far": {"child": "b", "at": [5, 0, 0], "child_at": [1, 0, 0], **turn},
    }
    description = {"format": "kinetree/1", "bodies": {"a": bar, "b": bar}, "joints": joints}
    with pytest.raises(EvaluationError, match=r"stays open in x \(ground axes\) by 3 m"):
        load(description).compile().start()
