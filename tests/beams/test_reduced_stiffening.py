"""Terms of second order of reduced bodies: energy, rotating and loaded bars, what stands in files, and the linear range."""

from pathlib import Path

import numpy as np
import pytest
from bricks import bar

from kinetree.models import ModelError, load
from kinetree.models.beams.reduction import reduce_body, save_reduced
from kinetree.models.engine.status import EvaluationError
from kinetree.models.run.prerun_checks import prerun_warnings
from kinetree.scripts.bench.flexible_cases import (
    on_a_root,
    reduced_bar,
    reduced_frequency,
    spinning_bar,
)


@pytest.fixture(scope="module")
def stiffened(tmp_path_factory) -> Path:
    """A soft bar with random terms of second order, which energy does not care for."""
    K, M, nodes = bar(1.0, 0.06, 0.1, (4, 1, 1), 2e8, 0.3, 1000.0)
    faces = {k: np.flatnonzero(np.abs(nodes[:, 0] - x) < 1e-9) for k, x in (("a", 0.0), ("b", 1.0))}
    rng = np.random.default_rng(4)

    def stiffening(fields, shapes):
        found = 1e-3 * rng.standard_normal((len(fields), *2 * shapes.shape[1:]))
        return found + np.swapaxes(found, 1, 2)

    path = tmp_path_factory.mktemp("stiffened") / "bar.npz"
    save_reduced(path, reduce_body(K, M, nodes, faces, "a", 2, stiffening))
    return path


def carrying(path: Path) -> dict:
    """The bar on a ball joint with a load on another."""
    return {
        "format": "kinetree/1",
        "name": "carrying",
        "bodies": {
            "bar": {"flexible": {"file": str(path), "damping": 0.0}},
            "load": {"mass": 0.5, "com": [0, 0.1, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        },
        "joints": {
            "root": {"child": "bar", "type": "spherical"},
            "tip": {"parent": "bar.b", "child": "load", "type": "spherical"},
        },
    }


def test_reduced_body_with_second_order_terms_conserves_energy(stiffened):
    system = load(carrying(stiffened)).compile()
    rng = np.random.default_rng(3)
    q, u = system.start()
    modes = [k for k, name in enumerate(system.coordinates) if ".mode" in name]
    q[modes] = 0.02 * rng.standard_normal(len(modes))
    u = rng.standard_normal(u.size)
    h, ends = 3e-8, []
    udot = system.accelerations(0.0, q, u)
    for s in (1, -1):
        moved, speeds = q.copy(), u + s * h * udot
        for name in ("root", "tip"):
            k = system.coordinates.index(f"{name}.qw")
            w = s * h * u[[n for n, each in enumerate(system.speeds) if each.startswith(f"{name}")]]
            a, b = moved[k], moved[k + 1 : k + 4].copy()
            moved[k] -= 0.5 * b @ w
            moved[k + 1 : k + 4] += 0.5 * (a * w + np.cross(b, w))
            moved[k : k + 4] /= np.linalg.norm(moved[k : k + 4])
        for k in modes:
            speed = system.speeds.index(f"der({system.coordinates[k]})")
            moved[k] += s * h * u[speed] + 0.5 * h * h * udot[speed]
        ends.append(sum(system.energy(0.0, moved, speeds)))
    size = max(map(abs, system.energy(0.0, q, u)))
    assert abs(ends[0] - ends[1]) / (2 * h) < 1e-5 * size


def test_files_with_wrong_shapes_of_second_order_are_refused(stiffened, tmp_path: Path):
    with np.load(stiffened) as file:
        arrays = dict(file)
    arrays["second_turn"] = arrays["second_turn"][:-1]
    save_reduced(tmp_path / "short.npz", arrays)
    with pytest.raises(ModelError, match="second_turn"):
        load(carrying(tmp_path / "short.npz"))


def test_too_large_deflection_of_reduced_body_is_reported(stiffened):
    d = carrying(stiffened)
    d["joints"]["root"] = {"child": "bar", "type": "rigid"}
    assert not list(prerun_warnings(load(d).compile()))
    d["bodies"]["load"]["mass"] = 80.0
    system = load(d).compile()
    assert any("'b' turns by" in each for each in prerun_warnings(system))
    result = system.simulate(0.5, output_step=0.01)
    assert any("bodies.bar.flexible" in each for each in result.warnings)


@pytest.fixture(scope="module")
def slender(tmp_path_factory) -> Path:
    """A bar of 10 m and 8 cm with ten modes, one of them twist."""
    pytest.importorskip("skfem")
    return reduced_bar(tmp_path_factory.mktemp("slender"), elements=12)


def bent_on_a_ball(path: Path, mode: int, turn: float):
    """Mass matrix of the bar on a ball joint, bent by one mode until its tip turns by an angle [rad]."""
    body = {"flexible": {"file": str(path), "damping": 0.0}}
    joint = {"child": "bar", "type": "spherical"}
    d = on_a_root(path, bodies={"bar": body}, joints={"root": joint})
    system = load(d).compile()
    with np.load(path) as file:
        q, per_metre = system.start()[0], np.linalg.norm(file["turns"][0, mode - 1])
    q[system.coordinates.index(f"bar.mode{mode}")] = turn / per_metre
    return system.mass_matrix(0.0, q)


@pytest.mark.parametrize("mode", [1, 3, 5, 7, 9])
def test_slender_reduced_bar_keeps_positive_inertia(slender, mode: int):
    """Bending and twist move further together than twist alone: cut off, the inertia about the bar's axis would be below zero."""
    assert np.linalg.eigvalsh(bent_on_a_ball(slender, mode, 0.03))[0] > 0.0


def test_body_bent_beyond_second_order_terms_is_named(slender):
    with pytest.raises(EvaluationError, match=r"'bar'.*second-order"):
        bent_on_a_ball(slender, 1, 0.1)


def test_rotation_stiffens_and_compression_softens_reduced_bar(slender):
    path = slender
    still = reduced_frequency(path)
    assert still == pytest.approx(3.5160, rel=5e-3)
    assert reduced_frequency(path, speed=6.0) == pytest.approx(7.3604, rel=5e-3)
    half = np.pi**2 / 8.0  # half of Euler's load
    assert reduced_frequency(path, push=half) == pytest.approx(2.5346, rel=5e-3)


@pytest.mark.slow
def test_reduced_spin_up_matches_kane_and_simo_vu_quoc(tmp_path: Path):
    pytest.importorskip("skfem")
    found = spinning_bar(reduced_bar(tmp_path, elements=40))
    assert found["lag"] == pytest.approx(0.5738, abs=2e-3)
    assert found["stretch"] == pytest.approx(5.14e-4, rel=0.02)
