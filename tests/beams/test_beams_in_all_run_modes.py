"""Beams in everything that works on bodies: forms, loops, stages, stations, FMUs, traces, slopes, lanes."""

from pathlib import Path

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.bench.flexible_cases import described
from kinetree.scripts.fmi.verify import verify
from kinetree.solvers.literal.kinds import FORMS

STEEL = (2.1e11, 8.1e10, 7850.0)
BAR = {"rectangle": [0.02, 0.03]}
RUN = {"stop_time": 0.1, "output_step": 0.01}


def arm(**beam) -> dict:
    """A hinged bar on a spring that carries a load at its tip."""
    return described(
        {"bar": {"length": 1.2, "section": BAR, "segments": 2, "damping": 0.05, **beam}},
        {
            "foot": {"child": "bar", "type": "revolute", "axis": "y", "coordinates": ["luff"]},
            "tip": {"parent": "bar", "station": 1.2, "child": "load", "type": "rigid"},
        },
        *STEEL,
        bodies={"load": {"mass": "m", "com": [0, 0.1, 0], "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}},
        gravity=[0, 0, -9.81],
        parameters={"m": 3.0},
        forces={"spring": {"coordinate": "luff", "stiffness": 500.0, "damping": 5.0}},
        outputs={
            "sag": {"quantity": "deflection", "beam": "bar", "station": 1.2, "axis": "z"},
            "root": {"quantity": "section_load", "beam": "bar", "station": 0.0, "axis": "my"},
        },
        run=RUN,
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"shear": True, "extension": True}, {"bending": "y"}])
def test_all_forms_give_equal_accelerations_with_beams(options: dict):
    system = load(arm(**options)).compile()
    rng = np.random.default_rng(1)
    q, u = system.start()
    u = u + 0.3 * rng.standard_normal(u.size)
    right = system.accelerations(0.0, q, u)
    for form in FORMS:
        if not form.name.endswith("-H"):
            found = system.accelerations(0.0, q, u, method=form.name)
            assert np.abs(found - right).max() < 1e-6 * np.abs(right).max(), form.name


def test_plane_beam_moves_as_spatial_beam_in_its_plane():
    def moved(bending: str):
        d = arm(bending=bending)
        d["bodies"]["load"]["com"] = [0, 0, 0]
        return load(d).compile().simulate(tolerance=1e-9)

    assert moved("y")["sag"] == pytest.approx(moved("all")["sag"], rel=1e-5, abs=1e-8)


def test_beam_in_a_closed_loop_matches_reference():
    """A four-bar with a flexible coupler: cut at a joint of the user, and nearly the motion of a rigid one where it is stiff."""
    pin = {"type": "revolute", "axis": "y"}

    def four_bar(coupler: str, thick: float) -> dict:
        section = {"rectangle": [thick, thick]}
        rigid = {
            "mass": 7850.0 * thick**2 * 2.0,
            "com": [1, 0, 0],
            "inertia": [1e-3, 1, 1, 0, 0, 0],
        }
        crank = {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1, 0, 0, 0]}
        far = {"child_station": 2.0} if coupler == "beam" else {"child_at": [2, 0, 0]}
        d = described(
            {"coupler": {"length": 2.0, "section": section, "segments": 2, "damping": 0.1}},
            {
                "a": {**pin, "child": "crank", "start": -1.2, "speed": -3.0},
                "b": {**pin, "parent": "crank", "at": [1, 0, 0], "child": "coupler", "start": 1.2},
                "d": {**pin, "child": "rocker", "at": [2, 0, 0], "start": -1.2},
                "c": {**pin, "parent": "rocker", "at": [1, 0, 0], "child": "coupler", **far},
            },
            *STEEL,
            bodies={"crank": crank, "rocker": crank},
        )  # fmt: skip
        if coupler != "beam":
            d["bodies"]["coupler"] = rigid
            d["beams"] = {}
        return d

    bent = load(four_bar("beam", 0.05)).compile()
    stiff = load(four_bar("body", 0.05)).compile()
    assert "coupler.hinge1.wx" in bent.speeds  # no hinge of the beam is cut
    first, second = (
        s.simulate(stop_time=0.4, output_step=0.1, tolerance=1e-8) for s in (bent, stiff)
    )
    name = next(each for each in stiff.coordinates if each.startswith("a"))
    assert first[name][-1] == pytest.approx(second[name][-1], abs=5e-3)


def test_beam_attached_at_tip_or_middle_equals_beam_attached_at_root():
    """The same bar, described from its other end, and by its middle."""

    def first(joint: dict) -> float:
        d = described({"b": {"length": 2.0, "section": BAR, "segments": 6}}, {"j": joint}, *STEEL)
        return load(d).compile().equilibrium().modes[0].frequency

    clamped = {"child": "b", "type": "rigid"}
    root = first(clamped)
    assert first({**clamped, "station": 2.0}) == pytest.approx(root, rel=1e-8)
    assert first({**clamped, "child_station": 1.0}) == pytest.approx(4.0 * root, rel=1e-3)
    turned = {"parent": "b", "child": "ground", "station": 2.0, "type": "rigid"}
    assert first(turned) == pytest.approx(root, rel=1e-8)


def test_points_and_stations_name_the_same_place():
    d = arm()
    d["outputs"] = {
        "a": {"quantity": "position", "body": "bar", "station": 0.7, "point": [0, 0, 0.02]},
        "b": {"quantity": "position", "body": "bar", "point": [0.7, 0, 0.02]},
        "root": {"quantity": "position", "body": "bar"},
    }
    result = load(d).compile().simulate()
    for k in (1, 2, 3):
        assert result[f"a[{k}]"] == pytest.approx(result[f"b[{k}]"], abs=1e-12)
        assert result[f"root[{k}]"] == pytest.approx(0.0, abs=1e-12)


def test_forces_contacts_and_actuators_act_at_stations():
    d = arm()
    d["forces"]["stay"] = {
        "between": [{"point": [0.6, 0, 1]}, {"body": "bar", "station": 0.6}],
        "stiffness": 4e4,
        "length": 1.0,
    }
    d["forces"]["pad"] = {
        "kind": "contact", "body": "bar", "station": 0.9, "radius": 0.02, "stiffness": 1e6, "height": -0.021,
    }  # fmt: skip
    d["actuators"] = {"lift": {"between": [{"point": [0, 0, -1]}, {"body": "bar", "station": 0.3}]}}
    d["outputs"]["pad"] = {"value": "force('pad')"}
    d["outputs"]["lift"] = {"value": "lift.length"}
    result = load(d).compile().simulate(stop_time=0.5, tolerance=1e-8)
    assert result["pad"].max() > 1.0
    assert result["lift"][0] == pytest.approx(np.hypot(1.0, 0.3), rel=1e-6)


def test_dropped_beam_leaves_with_all_its_pieces():
    d = arm()
    del d["joints"]["tip"]
    d["joints"]["load_way"] = {"child": "load", "type": "prismatic", "axis": "z"}
    d["outputs"] = {}
    d["stages"] = [{"name": "a", "ends": {"at": 0.02}, "drop": ["bar"]}, {"name": "b"}]
    d["forces"] = {}
    result = load(d).compile().simulate()
    assert result.time[-1] == pytest.approx(0.1)


def test_released_beam_moves_as_one_body():
    d = arm()
    d["stages"] = [{"name": "a", "ends": {"at": 0.02}, "free": ["foot"]}, {"name": "b"}]
    d["forces"] = {}
    d["outputs"] = {"z": {"quantity": "centre_velocity", "axis": "z"}}
    result = load(d).compile().simulate(tolerance=1e-9)
    late = result.time > 0.025
    fall = np.diff(result["z"][late]) / np.diff(result.time[late])
    assert fall == pytest.approx(-9.81, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "python", "source"])
def test_beam_fmus_match_simulation_in_process(backend: str, tmp_path: Path):
    source = {"integrator": "semi-implicit", "step": 2e-4}  # steel is too stiff for rk4
    given = source if backend == "source" else {}
    path = build_fmu(load(arm(segments=1)), tmp_path / "unit.fmu", backend, **given)
    report = verify(path)
    assert report.good, [check for check in report.checks if not check.good]


def test_ensemble_lanes_match_single_runs_with_beams():
    masses = 3.0 * np.linspace(0.5, 1.5, 5)
    many = load(arm()).compile().simulate_many({"m": masses}, stop_time=0.1, output_step=0.02)
    for k, mass in enumerate(masses):
        alone = load(arm()).compile(m=float(mass)).simulate(0.1, output_step=0.02, tolerance=1e-9)
        assert many["sag"][k] == pytest.approx(alone["sag"], rel=1e-3, abs=1e-6)


@pytest.mark.slow
def test_traced_beam_accelerations_match_engine():
    system = load(arm(segments=1)).compile()
    q, u = system.start()
    u = u + 0.1
    right = system.accelerations(0.0, q, u)
    assert system.specialise().accelerations(0.0, q, u) == pytest.approx(right, rel=1e-9)


@pytest.mark.slow
def test_run_gradient_with_beams_matches_differences():
    def run(**values: float):
        system = load(arm(segments=1, bending="y")).compile(**values)
        return system.simulate(stop_time=0.02, integrator="rk4", step=1e-5, output_step=0.01)

    slope = run().gradient("sag", ("m",))[0]
    plus, minus = (run(m=3.0 + h)["sag"][-1] for h in (1e-4, -1e-4))
    assert slope == pytest.approx((plus - minus) / 2e-4, rel=1e-5)


def test_stiffness_follows_parameters_without_compiling_anew():
    d = arm()
    d["parameters"]["soft"] = 1.0
    d["materials"]["material"]["youngs_modulus"] = "soft*2.1e11"
    d["joints"]["foot"] = {"child": "bar", "type": "rigid"}
    d["forces"] = {}
    system = load(d).compile()
    (one, two) = (each.outputs["sag"] for each in system.equilibria([{"soft": 1.0}, {"soft": 0.5}]))
    assert two == pytest.approx(2.0 * one, rel=2e-3)
