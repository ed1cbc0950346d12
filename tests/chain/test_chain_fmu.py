"""Chains inside an FMU: large steps by the matrix method against this process, hosts, and a System handed over."""

import json
from itertools import pairwise

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.unit import fmu_unit
from kinetree.models import load
from kinetree.scripts import cli
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.scripts.fmi.verify import verify

STIFF = 1e8  # N/m on 1 kg: omega = 1e4 rad/s and more, steps of 0.05 s turn it 500 rad and more
CHAINS = {
    "held": {"stiffness": [2.0, STIFF, 3.0, 0.0]},
    "free": {"stiffness": [STIFF, 3.0]},
    "free twice": {"stiffness": [STIFF, 0.0], "damping": [0.0, 0.0]},
    "soft": {"stiffness": [40.0, 30.0]},
    "under a constant force": {
        "stiffness": [2.0, STIFF, 3.0, 0.0],
        "forces": {"x3": "pull"},
        "supports": {},
    },
    "left alone": {"stiffness": [2.0, STIFF, 3.0, 0.0], "forces": {}, "supports": {}},
    "damped unevenly": {"stiffness": [2.0, STIFF, 3.0, 0.0], "damping": [0.0, 5.0, 0.3, 0.1]},
    "unsymmetric": {
        "stiffness": [[5.0, -2.0, 0.0], [-1.0, 4.0, -2.5], [0.0, -2.0, 3.0]],
        "damping": [[0.1, 0.2, 0], [-0.2, 0.1, 0], [0, 0, 0.1]],
    },
    "indefinite": {"stiffness": [[1.0, -2.0, 0.0], [-2.0, 1.0, -1.0], [0.0, -1.0, 2.0]]},
}


def chain(kind: str) -> dict:
    """Three masses under a force that grows and a support that swings."""
    shared = {
        "mass": [1.0, 1.0, 2.0],
        "start": [0.1, 0.1, -0.1],
        "speed": [0.2, 0.2, 1.0],
        "forces": {"x3": "pull*(1 + t - t**2/8)"},
    }
    return {
        "inputs": {"pull": 0.7},
        "chain": shared
        | {"supports": {"x3": {"stiffness": 1.5, "motion": "0.1*t"}}}
        | CHAINS[kind],
        "outputs": {"stretch": "x3 - x1"},
        "run": {"stop_time": 2.0, "output_step": 0.05},
    }


def names(system) -> tuple[str, ...]:
    return (*system.coordinates, *system.speeds)


@pytest.mark.parametrize("steps", [40, 8, 23])
@pytest.mark.parametrize("kind", CHAINS)
def test_chain_fmu_steps_of_any_length_are_exact(kind, steps):
    """Forces are parabolas, so nothing depends on where steps end; pieces that are no dt/2^i end in one Runge-Kutta step, 1e-11."""
    mechanism = load(chain(kind))
    twin = InProcess(fmu_unit(mechanism)).start()
    system = mechanism.chain()
    expected = system.simulate()
    for t in np.linspace(0.0, 2.0, steps + 1)[1:]:
        twin.step(float(t))
    for name in names(system):
        size = np.abs(expected[name]).max() + np.abs(expected["x1"]).max()
        assert twin.get([name])[0] == pytest.approx(expected[name][-1], abs=1e-8 * size)
    assert twin.get(["stretch"])[0] == pytest.approx(expected["stretch"][-1], abs=1e-8)
    assert twin.head.time == 2.0


def test_narrow_bands_are_packed_completely():
    """Sixty soft masses: what a short step moves reaches a few neighbours only, so that matrices are bands that begin at their own column."""
    count = 60
    coordinates = [f"x{k + 1}" for k in range(count)]
    moved = {
        "start": [0.1 * (-1) ** k for k in range(count)],
        "speed": [0.05 * k for k in range(count)],
        "forces": {"x3": "pull*(1 + t)"},
    }
    parts = {"mass": count * [1.0], "stiffness": [2.0 + 0.1 * k for k in range(count + 1)]}
    mechanism = load(
        {
            "inputs": {"pull": 0.7},
            "chain": parts | moved,
            "run": {"stop_time": 1.0, "output_step": 0.05},
        }
    )
    unit = fmu_unit(mechanism)
    twin, expected = InProcess(unit).start(), mechanism.chain().simulate()
    for t in np.linspace(0.0, 1.0, 21)[1:]:
        twin.step(float(t))
    for name in coordinates:
        assert twin.get([name])[0] == pytest.approx(expected[name][-1], abs=1e-8)


def test_chain_fmu_follows_linear_inputs_exactly():
    mechanism = load(chain("held"))
    unit = fmu_unit(mechanism)
    twin = InProcess(unit).start()
    expected = mechanism.chain().simulate(inputs={"pull": lambda t: 0.7 + 0.3 * t})
    at = int(unit.header.at_slopes)
    for a, b in pairwise(np.linspace(0.0, 2.0, 11).tolist()):
        twin.work[twin.places["pull"].write], twin.work[at] = 0.7 + 0.3 * a, 0.3
        twin.step(b)
        assert twin.work[at] == 0.0
    assert twin.get(["x3"])[0] == pytest.approx(
        expected["x3"][-1], abs=1e-5
    )  # cubic now, parabolas between: (0.05)^4


@pytest.mark.parametrize("force", ["pull", "pull*t", "pull*t**2", "pull*(t - 1)**2"])
def test_chain_fmu_motion_is_proportional_to_forces(force):
    """By powers of two exactly, roots of the masses are whole: no size of a force is another case than any other."""
    shared = {
        "mass": [1.0, 1.0, 4.0],
        "stiffness": [2.0, STIFF, 3.0, 0.0],
        "damping": [0.1, 0.0, 0.2, 0.0],
        "forces": {"x3": force},
    }
    mechanism = load(
        {"inputs": {"pull": 1.0}, "chain": shared, "run": {"stop_time": 1.0, "output_step": 0.05}}
    )
    reached = []
    for pull in (1.0, 0.25, 0.5, 2.0, 4.0):
        twin = InProcess(fmu_unit(mechanism)).start({"pull": pull})
        for k in range(1, 6):
            twin.step(0.2 * k)
        reached.append(np.array(twin.get(list(names(mechanism.chain())))) / pull)
    assert np.abs(reached[0]).min() > 0.0
    for each in reached[1:]:
        assert np.array_equal(each, reached[0])


def test_explicit_integrator_replaces_matrix_method():
    unit = fmu_unit(load(chain("unsymmetric")), "rk45")
    assert unit.header.matrix_steps == 0 and unit.chain is None and unit.run.integrator == "rk45"


@pytest.mark.parametrize("backend, fmi", [("native", 2), ("native", 3), ("python", 2)])
def test_chain_archives_pass_all_checks(backend, fmi, tmp_path):
    """Validation, co-simulation in a host, model exchange, any steps, saved states."""
    report = verify(
        build_fmu(
            load(chain("soft" if fmi == 3 else "unsymmetric")), tmp_path / "chain.fmu", backend, fmi
        )
    )
    assert report.good, [check for check in report.checks if not check.good]
    assert any(check.what == "matrix method" for check in report.checks)


def cars(count: int = 4, stiffness: float = 1e9) -> dict:
    """Cars on a rail, joined by stiff springs between points."""
    bodies, joints, forces = {}, {}, {"engine": {"coordinate": f"s{count}", "value": "pull"}}
    for i in range(1, count + 1):
        bodies[f"car{i}"] = {"mass": 1000.0 * i, "inertia": [1.0, 1.0, 1.0, 0, 0, 0]}
        transforms = [{"shift": [3.0 * i, 0, 0]}, {"shift": "x", "coordinate": f"s{i}"}]
        joints[f"rail{i}"] = {"parent": "ground", "child": f"car{i}", "transforms": transforms}
        behind = {"body": f"car{i - 1}"} if i > 1 else {"body": "ground"}
        k = 1e5 if i == 1 else stiffness
        forces[f"coupling{i}"] = {
            "between": [behind, {"body": f"car{i}"}],
            "stiffness": k,
            "damping": 50.0,
            "length": 3.0,
        }
    outputs = {
        "stretch": {"value": f"s{count} - s1", "unit": "m"},
        "place": {"quantity": "position", "body": "car2"},
    }
    run = {"stop_time": 2.0, "output_step": 0.1}
    return {
        "inputs": {"pull": {"start": 1e3}},
        "bodies": bodies,
        "joints": joints,
        "forces": forces,
        "outputs": outputs,
        "run": run,
    }


def test_chain_fmu_of_elastic_system_takes_large_steps():
    """The handover: a System linearised, as FMU with steps of 0.1 s where its own integrator takes steps of 1e-3 s; springs in line stay linear."""
    mechanism = load(cars())
    expected = mechanism.compile().simulate(tolerance=1e-10)
    twin = InProcess(fmu_unit(mechanism.linear())).start()
    for k in range(1, 21):
        twin.step(0.1 * k)
    for name, own in (
        ("s1", "s1"),
        ("s4", "s4"),
        ("stretch", "stretch"),
        ("s4.speed", "der(s4)"),
        ("place_1", "place[1]"),
    ):
        assert twin.get([name])[0] == pytest.approx(expected[own][-1], abs=1e-9)  # of 0.02 m
    assert twin.head.steps == 20 < 0.1 * expected.statistics["steps"]


def test_full_mass_matrices_are_packed_into_chain_fmus():
    """Modes of the chain are those of the linearised mechanism."""
    mechanism = load("lib:double-pendulum")
    system, linear = mechanism.compile(), mechanism.linear().chain()
    assert linear.frequencies() == pytest.approx(
        [mode.frequency for mode in system.equilibrium().modes], rel=1e-9
    )


def test_chain_fmu_command_packs_linear_model(tmp_path, capsys):
    (tmp_path / "cars.json").write_text(json.dumps(cars()))
    made = str(tmp_path / "cars.fmu")
    assert (
        cli.main(
            ["fmu", str(tmp_path / "cars.json"), "--linear", "--backend", "native", "-o", made]
        )
        == 0
    )
    assert cli.main(["verify", made, "--stop-time", "1"]) == 0
    assert "matrix method" in capsys.readouterr().out
