"""Contacts in every way to run: own runs with all integrators, co-simulation and model exchange, both back ends, the engine as C99, kept states."""

import math

import numpy as np
import pytest
from contacts import G, bead_on_a_dome, feet, plane_block
from fmpy import simulate_fmu
from fmpy.fmi2 import FMU2Model
from translated_engine import in_its_place

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.run.simulation_unit import Run, make_unit


def thrown_box() -> dict:
    """A box falls flat on the floor while it moves on: it bounces, slides, and comes to rest."""
    contacts = feet(0.4, 0.2, friction=0.3, restitution=0.4, rest_speed=0.05)
    box = plane_block(0.4, 0.2, (0, 0.3, 0), (2.0, 0, 0))
    outputs = {"load": "left.force + right.force", "state": "left.state"}
    return {
        "format": "kinetree/1",
        "name": "thrown box",
        **box,
        "contacts": contacts,
        "outputs": outputs,
    }


def where_it_rests() -> tuple[float, float]:
    """Place and load: free falls between impacts that take μ (1 + e) v from the speed, then sliding."""
    friction, e, v = 0.3, 0.4, math.sqrt(2 * G * 0.2)
    x, speed = 2.0 * v / G, 2.0
    while e * v > 0.05:
        speed -= friction * (1 + e) * v
        v *= e
        x += speed * 2 * v / G
    speed -= (
        friction * (1 + e if v > 0.05 else 1.0) * v
    )  # what would part slower than rest_speed stays
    return x + speed**2 / (2 * friction * G), G


@pytest.mark.parametrize("integrator", ["adams", "rk45", "radau", "rk4", "semi-implicit"])
def test_integrators_agree_on_contact_motion(integrator: str):
    """Parabolas and uniform slowing down: methods of order 2 and more are exact but for the instants, which all locate alike."""
    result = (
        load(thrown_box())
        .compile()
        .simulate(stop_time=1.5, output_step=0.1, integrator=integrator, step=1e-3)
    )
    place, load_ = where_it_rests()
    assert result["x"][-1] == pytest.approx(
        place, abs=1e-5 if integrator == "semi-implicit" else 1e-8
    )
    assert result["load"][-1] == pytest.approx(load_, rel=1e-8) and result["state"][-1] == 1.0


@pytest.mark.parametrize("backend, fmi", [("native", 2), ("native", 3), ("python", 2)])
@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_hosts_agree_on_contact_motion(backend: str, fmi: int, kind: str, tmp_path):
    """In a step of co-simulation, and under CVode, whose steps end at the event indicators of contacts."""
    if backend == "python" and kind == "ModelExchange":
        pytest.skip("the Python back end is for co-simulation")
    path = build_fmu(load(thrown_box()), tmp_path / "box.fmu", backend, fmi)
    names = ["x", "z", "load", "state"]
    found = simulate_fmu(
        str(path),
        stop_time=1.5,
        fmi_type=kind,
        output=names,
        relative_tolerance=1e-8,
        output_interval=0.05,
    )
    place, load_ = where_it_rests()
    assert found["x"][-1] == pytest.approx(place, abs=1e-5) and found["z"][-1] == pytest.approx(
        0.1, abs=1e-6
    )
    assert found["load"][-1] == pytest.approx(load_, rel=1e-5) and found["state"][-1] == 1.0


def test_bead_leaves_dome_in_model_exchange(tmp_path):
    """It opens without speed: the located instant lies on either side of the bound, by the tolerance of the host."""
    speed = 0.5
    made = load({"format": "kinetree/1", "name": "dome", **bead_on_a_dome(speed)})
    path = build_fmu(made, tmp_path / "dome.fmu", "native", 2)
    for tolerance in (1e-6, 1e-7, 1e-8, 1e-9, 1e-10):
        names = ["der(x)", "state"]
        found = simulate_fmu(
            str(path),
            stop_time=1.0,
            fmi_type="ModelExchange",
            output=names,
            relative_tolerance=tolerance,
            output_interval=0.05,
        )
        onward = math.sqrt(G) * ((2.0 + speed**2 / G) / 3.0) ** 1.5
        assert found["state"][-1] == 0.0 and found["der(x)"][-1] == pytest.approx(
            onward, abs=100 * tolerance
        ), tolerance


PULLED = {  # force, friction, what moves then, where it is at the end of 1.9 s
    "slides": ({"x": "min(1, t) + 3*max(0, t - 1)"}, 1.0 / G, "x", 3 * 0.9**3 / 6),
    "lifts": ({"z": "10*t"}, 0.5, "z", 0.1 + 10 * (1.9 - G / 10) ** 3 / 6),
}


@pytest.mark.parametrize("way", PULLED)
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_host_located_events_take_effect(way: str, tolerance: float, tmp_path):
    """A growing force drags a box of 1 kg that sticks, or lifts it: the host sees the bound passed at states that it has left by its tolerance, where
    closing takes them back below it. Left undone, the event was asked for again at every step, or, in hosts that look at signs alone, never."""
    forces, friction, name, place = PULLED[way]
    parts = plane_block(0.4, 0.2, (0, 0.1, 0)) | {
        "forces": {axis: {"coordinate": axis, "value": force} for axis, force in forces.items()}
    }
    parts["contacts"] = feet(0.4, 0.2, friction=friction)
    path = build_fmu(
        load({"format": "kinetree/1", "name": "pulled", **parts}), tmp_path / "box.fmu", "native", 2
    )
    modes, enter = [], FMU2Model.enterEventMode
    options = {
        "fmi_type": "ModelExchange",
        "output": [name],
        "relative_tolerance": tolerance,
        "output_interval": 0.1,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FMU2Model, "enterEventMode", lambda unit: (modes.append(1), enter(unit))[1])
        found = simulate_fmu(str(path), stop_time=1.9, **options)
    assert found[name][-1] == pytest.approx(place, abs=max(1e-6, 100 * tolerance))
    assert len(modes) < 15


def test_jammed_contact_slips_and_opens(tmp_path):
    """The woodpecker's sleeve jams, slips and lets go within 0.07 s: later the motion is that of co-simulation, at any tolerance."""
    path = build_fmu(load("lib:woodpecker"), tmp_path / "bird.fmu", "native", 2)
    names = ["z", "sleeve_angle", "bend"]
    right = simulate_fmu(
        str(path), stop_time=0.078, fmi_type="CoSimulation", output=names, output_interval=0.078
    )
    for tolerance in (1e-6, 1e-8, 1e-10):
        found = simulate_fmu(
            str(path),
            stop_time=0.078,
            fmi_type="ModelExchange",
            output=names,
            relative_tolerance=tolerance,
            output_interval=0.078,
            record_events=False,
        )
        for name in names:
            assert found[name][-1] == pytest.approx(right[name][-1], abs=100 * tolerance + 1e-6), (
                tolerance,
                name,
            )


def test_contact_kernels_in_c_match_compiled_ones():
    """The kernels of contacts as C99 move as the compiled ones."""

    def motion() -> np.ndarray:
        result = (
            load(thrown_box())
            .compile()
            .simulate(stop_time=1.0, output_step=0.05, integrator="rk4", step=1e-3)
        )
        return np.stack([result[name] for name in ("x", "z", "phi", "load", "state")])

    expected = motion()
    with in_its_place():
        assert np.abs(motion() - expected).max() < 1e-9


def test_saved_contact_state_continues_identically():
    """The block of work is the whole state: which contacts are closed, which way they slide."""
    unit = make_unit(load(thrown_box()).compile())
    run = Run(unit)
    assert run.call("unit_start", 0, 0.0) == 0
    for t in np.linspace(0.05, 0.5, 10):
        assert run.call("unit_advance", 0, float(t)) == 0
    kept = run.work.copy()
    assert run.call("unit_advance", 0, 0.8) == 0
    first = run.columns.copy()
    run.work[:] = kept
    assert run.call("unit_advance", 0, 0.8) == 0
    assert np.array_equal(run.columns, first)


def test_contacts_persist_across_stages():
    """A box that rests on the floor is let go from its rope, then pushed: contacts are found anew in every structure, nothing jumps."""
    parts = thrown_box()
    parts["bodies"]["rider"] = {"mass": 0.5, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}
    parts["joints"]["hold"] = {
        "parent": "block",
        "child": "rider",
        "type": "rigid",
        "at": [0, 0, 0.3],
    }
    parts["joints"]["move"]["transforms"][1]["start"] = 0.1
    parts["stages"] = [
        {"name": "together", "ends": {"at": 0.2}, "drop": ["rider"]},
        {"name": "alone"},
    ]
    result = load(parts).compile().simulate(stop_time=0.4, output_step=0.05)
    assert result["load"][2] == pytest.approx(1.5 * G, rel=1e-9) and result["load"][
        -1
    ] == pytest.approx(G, rel=1e-9)
    assert np.ptp(result["z"]) < 1e-9
    assert result["der(x)"][-1] == pytest.approx(2.0 - 0.3 * G * 0.4, abs=1e-8)
