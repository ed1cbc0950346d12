"""Beams that slide in one another on pads: statics against beam theory, motion against the energy, pads that bear and leave."""

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.verify import verify
from kinetree.solvers.literal.kinds import FORMS

OUTER, INNER, OVERLAP = 3.0, 2.5, 0.8  # m
YOUNG, HIGH, WIDE = 2.1e11, 0.10, 0.06
PADS = 1e9  # N/m
BENDING = YOUNG * WIDE * HIGH**3 / 12.0


def telescope(bending: str = "y", segments: int = 6, **forces) -> dict:
    """An inner beam on two pads: one at the tip of the outer beam, one at its own root."""
    beam = {"section": {"rectangle": [HIGH, WIDE]}, "material": "steel", "segments": segments}
    beam |= {"bending": bending, "damping": 0.0}
    pad = {"kind": "rail", "across": "z", "stiffness": PADS, "clearance": 0.0}
    ways = [{"shift": "x", "coordinate": "out"}, {"shift": "z", "coordinate": "lift"}]
    slide = [{"shift": [OUTER - OVERLAP, 0, 0]}, *ways, {"rotate": "y", "coordinate": "tilt"}]
    front = [{"body": "inner", "station": 0.0}, {"body": "outer", "station": OUTER}]
    rear = [{"body": "outer", "station": 0.0}, {"body": "inner", "station": 0.0}]
    return {
        "format": "kinetree/1",
        "name": "telescope",
        "gravity": [0, 0, 0],
        "materials": {"steel": {"density": 7850.0, "youngs_modulus": YOUNG, "shear_modulus": 8e10}},
        "beams": {"outer": {"length": OUTER, **beam}, "inner": {"length": INNER, **beam}},
        "joints": {
            "root": {"child": "outer", "type": "rigid"},
            "slide": {"parent": "outer", "child": "inner", "transforms": slide},
        },
        "forces": {
            "front": {**pad, "between": front},
            "rear": {**pad, "between": rear},
            **forces,
        },
        "outputs": {
            "tip": {"quantity": "position", "body": "inner", "station": INNER, "axis": "z"},
            "at_front": "force('front')",
            "at_rear": "force('rear')",
            "travel": "front.travel",
            "gap": {"quantity": "clearance", "force": "front"},
        },
    }


def deflection(x: float, load: float, at: float) -> float:
    """Deflection of a cantilever at x under a load at a place."""
    if x > at:
        return load * at**2 * (3.0 * x - at) / (6.0 * BENDING)
    return load * x**2 * (3.0 * at - x) / (6.0 * BENDING)


@pytest.mark.parametrize("overlap", [0.5, 0.8, 1.4])
def test_loaded_telescope_tip_matches_beam_theory(overlap: float):
    load_at_tip, beyond = 500.0, INNER - overlap
    tip = {"kind": "wrench", "body": "inner", "station": INNER, "force": [0, 0, -load_at_tip]}
    hold = {"coordinate": "out", "value": f"1e6*({OVERLAP - overlap!r} - out) - 1e4*der(out)"}
    found = load(telescope(hold=hold, load=tip)).compile().equilibrium().outputs
    front, rear = load_at_tip * (beyond + overlap) / overlap, load_at_tip * beyond / overlap
    down = [
        deflection(x, front, OUTER) - deflection(x, rear, OUTER - overlap) + sign * each / PADS
        for x, sign, each in ((OUTER, 1.0, front), (OUTER - overlap, -1.0, rear))
    ]
    tilt = (down[0] - down[1]) / overlap
    bent = load_at_tip * beyond**2 * (beyond + overlap) / (3.0 * BENDING)
    assert found["tip"] == pytest.approx(-(down[0] + tilt * beyond + bent), rel=3e-3)
    assert (found["at_front"], found["at_rear"]) == pytest.approx((front, rear), rel=1e-3)
    assert found["travel"] == pytest.approx(overlap, abs=1e-3)


def test_extending_telescope_conserves_energy_across_beam_hinges():
    push = {"coordinate": "out", "value": "2e4*(0.6*t - out) + 2e3*(0.6 - der(out))"}
    d = telescope(segments=3, push=push)
    d["gravity"] = [0, 0, -9.81]
    for name in ("front", "rear"):
        d["forces"][name] |= {"stiffness": 1e7, "clearance": 1e-3, "friction": 0.1}
    d["run"] = {"stop_time": 0.6, "output_step": 0.005, "tolerances": 1e-6}
    result = load(d).compile().simulate()
    assert np.ptp(result["travel"]) > 0.3
    assert np.abs(result["energy_residual"]).max() < 5e-6 * np.ptp(result["energy"])
    assert result["gap"].max() > 1e-4 > -1e-4 > result["gap"].min()


@pytest.mark.parametrize("out, bears", [(0.7, True), (0.9, False)])
def test_pads_carry_load_only_along_the_beams(out: float, bears: bool):
    d = telescope(bending="all", segments=2)
    d["joints"]["slide"]["transforms"][1]["start"] = out
    d["joints"]["slide"]["transforms"][2]["start"] = -1e-3
    result = load(d).compile().simulate(stop_time=1e-4, output_step=1e-4)
    assert result["travel"][0] == pytest.approx(OVERLAP - out)
    for name in ("at_front", "at_rear"):
        assert result[name][0] == pytest.approx(PADS * 1e-3 if bears else 0.0, rel=1e-6)


def test_rail_across_a_beam_stays_attached():
    """A mast on the tip of a beam: a rail that does not run along the beam belongs to its section."""
    d = telescope(segments=2)
    pin = {"body": "inner", "station": 0.5, "point": [0, 0, 0.2]}
    mast = {"kind": "rail", "axis": "z", "between": [{"body": "outer", "station": OUTER}, pin]}
    d["forces"] = {"mast": {**mast, "stiffness": 1e5}}
    d["outputs"] = {"height": "mast.travel"}
    assert load(d).compile().simulate(stop_time=1e-4)["height"][0] == pytest.approx(0.2)


def pushed(segments: int = 1, stiffness: float = 1e6) -> dict:
    """A telescope that comes out over a hinge of its inner beam, with play and friction."""
    push = {"coordinate": "out", "value": "2e4*(0.6*t - out) + 2e3*(0.6 - der(out))"}
    d = telescope(segments=segments, push=push)
    d["parameters"] = {"play": {"value": 1e-3, "tunable": True}}
    d["gravity"] = [0, 0, -9.81]
    for name in ("front", "rear"):
        d["forces"][name] |= {"stiffness": stiffness, "damping": 1e3, "clearance": "play"}
        d["forces"][name] |= {"friction": 0.1}
    d["run"] = {"stop_time": 0.4, "output_step": 0.01, "tolerances": 1e-7}
    return d


def test_all_forms_give_equal_accelerations_of_a_moving_telescope():
    system = load(pushed(segments=2)).compile()
    q, u = system.start()
    q[system.coordinates.index("out")], q[system.coordinates.index("lift")] = 0.2, -4e-3
    u = u + 0.3 * np.random.default_rng(1).standard_normal(u.size)
    right = system.accelerations(0.0, q, u)
    for form in FORMS:
        if not form.name.endswith("-H"):
            found = system.accelerations(0.0, q, u, method=form.name)
            assert np.abs(found - right).max() < 1e-6 * np.abs(right).max(), form.name


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "python"])
def test_sliding_beam_fmus_are_verified(backend: str, tmp_path):
    description = pushed()
    description["run"] |= {"stop_time": 0.2, "output_step": 0.002}
    report = verify(build_fmu(load(description), tmp_path / "telescope.fmu", backend))
    assert report.good, [check for check in report.checks if not check.good]


@pytest.mark.slow
def test_sliding_beam_source_fmus_match_simulation_in_process(tmp_path):
    fixed = {"integrator": "semi-implicit", "step": 2e-5}  # contacts shift with the steps
    path = build_fmu(load(pushed()), tmp_path / "telescope.fmu", "source", **fixed)
    expected = load(pushed()).compile().simulate(stop_time=0.2)
    with Archive(path) as archive:
        host, rows = Host(archive).start(), []
        for t in expected.time[1:]:
            host.step(float(t))
            rows.append(host.get(["tip", "travel", "energy_residual"]))
        host.close()
    found = np.array(rows)
    assert found[:, 0] == pytest.approx(expected["tip"][1:], abs=1e-4)
    assert found[:, 1] == pytest.approx(expected["travel"][1:], abs=1e-5)
    assert np.abs(found[:, 2]).max() < 1e-2 * np.ptp(expected["energy"])


@pytest.mark.slow
def test_run_gradient_with_pads_matches_differences():
    def run(play: float):
        system = load(pushed()).compile(play=play)
        return system.simulate(stop_time=0.02, integrator="rk4", step=1e-5, output_step=0.01)

    slope = run(1e-3).gradient("tip", ("play",))[0]
    plus, minus = (run(1e-3 + h)["tip"][-1] for h in (1e-7, -1e-7))
    assert slope == pytest.approx((plus - minus) / 2e-7, rel=1e-4)
