"""Reduced finite-element bodies: their reduction, their motion beside beams, energy and mass, and what does not know them."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.linalg as sl
from bricks import bar

from kinetree.models import ModelError, load
from kinetree.models.beams.reduction import ReductionError, reduce_body, save_reduced
from kinetree.scripts import cli

LENGTH, WIDE, HIGH = 2.0, 0.06, 0.1
STEEL = (2.1e11, 0.3, 7850.0)


@pytest.fixture(scope="module")
def bricks():
    """Matrices, nodes and the two end faces of a steel bar."""
    K, M, nodes = bar(LENGTH, WIDE, HIGH, (20, 1, 2), *STEEL)
    ends = {"root": 0.0, "tip": LENGTH}
    return K, M, nodes, {k: np.flatnonzero(np.abs(nodes[:, 0] - x) < 1e-9) for k, x in ends.items()}


@pytest.fixture(scope="module")
def reduced(bricks, tmp_path_factory) -> Path:
    """The file of the bar with its six static shapes and four modes."""
    path = tmp_path_factory.mktemp("reduced") / "bar.npz"
    save_reduced(path, reduce_body(*bricks, "root", 4))
    return path


def swinging(path: Path, damping: float = 0.0, **more) -> dict:
    """The bar on a hinge with a load at its tip."""
    return {
        "format": "kinetree/1",
        "name": "swing",
        "bodies": {
            "bar": {"flexible": {"file": str(path), "damping": damping}},
            "load": {"mass": 3.0, "com": [0, 0.1, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        },
        "joints": {
            "root": {"child": "bar", "type": "revolute", "axis": "y", "coordinates": ["luff"]},
            "tip": {"parent": "bar.tip", "child": "load", "type": "revolute", "axis": "y"},
        },
        "outputs": {
            "z": {"quantity": "position", "body": "bar.tip", "axis": "z"},
            "energy": {"quantity": "energy"},
        },
    } | more


def test_reduced_body_keeps_frequencies_of_full_model(bricks):
    K, M, nodes, faces = bricks
    held = np.setdiff1d(np.arange(len(nodes)), faces["root"])
    dofs = (3 * held[:, None] + np.arange(3)).ravel()
    whole = K[dofs][:, dofs].toarray(), M[dofs][:, dofs].toarray()
    exact = np.sqrt(sl.eigh(*whole, eigvals_only=True, subset_by_index=(0, 3))) / (2 * np.pi)
    found = reduce_body(K, M, nodes, faces, "root", 6)
    assert found["frequencies"][:4] == pytest.approx(exact, rel=2e-3)
    assert found["mass"] == pytest.approx(STEEL[2] * LENGTH * WIDE * HIGH)


def test_reduced_body_conserves_energy_and_inertia_matches_kinetic_energy(reduced):
    system = load(swinging(reduced)).compile()
    rng = np.random.default_rng(3)
    q, u = system.start()
    q, u = q + 1e-3 * rng.standard_normal(q.size), u + 0.3 * rng.standard_normal(u.size)
    udot = system.accelerations(0.0, q, u)
    h = 1e-7
    ends = [sum(system.energy(0.0, q + s * h * u, u + s * h * udot)) for s in (1, -1)]
    assert abs(ends[0] - ends[1]) / (2 * h) < 1e-3 * sum(system.energy(0.0, q, u))
    unit = np.eye(system.n)
    T = np.array([system.energy(0.0, q, v)[0] for v in unit])
    M = np.array(
        [
            [system.energy(0.0, q, a + b)[0] - T[i] - T[k] for k, b in enumerate(unit)]
            for i, a in enumerate(unit)
        ]
    )
    answers = [system.accelerations(0.0, q, u, tau=v) - udot for v in unit]
    assert np.abs(M @ np.array(answers).T - unit).max() < 1e-5


def test_reduced_bar_swings_like_beam(reduced):
    beam = swinging(reduced)
    beam["materials"] = {"steel": {"density": 7850.0, "youngs_modulus": 2.1e11}}
    section = {"rectangle": [HIGH, WIDE]}
    beam["beams"] = {"bar": {"length": LENGTH, "section": section, "material": "steel"}}
    del beam["bodies"]["bar"]
    beam["joints"]["tip"] |= {"parent": "bar", "station": LENGTH}
    beam["outputs"]["z"] |= {"body": "bar", "station": LENGTH}
    runs = [
        load(d).compile().simulate(stop_time=0.5, output_step=0.01, tolerance=1e-8)
        for d in (swinging(reduced), beam)
    ]
    assert np.ptp(runs[0]["energy"]) < 1e-4 * 3.0 * 9.81
    assert runs[0]["z"] == pytest.approx(runs[1]["z"], abs=2e-3)


def test_reduced_interfaces_transmit_forces_exactly(reduced):
    d = swinging(reduced, 0.02)
    d["joints"]["root"] = {"child": "bar", "type": "rigid"}
    d["joints"]["tip"] |= {"type": "rigid"}
    del d["joints"]["tip"]["axis"]
    d["outputs"]["root"] = {"quantity": "reaction", "joint": "root", "part": "moment", "axis": "y"}
    rest = load(d).compile().equilibrium()
    weight, own = 3.0 * 9.81, 7850.0 * LENGTH * WIDE * HIGH * 9.81
    second = WIDE * HIGH**3 / 12.0
    sag = (weight * LENGTH**3 / 3 + own * LENGTH**3 / 8) / (2.1e11 * second)
    assert -rest.outputs["z"] == pytest.approx(sag, rel=0.02)
    assert abs(rest.outputs["root"]) == pytest.approx(weight * LENGTH + own * LENGTH / 2, rel=1e-3)


def test_radau_and_explicit_integrators_agree_on_reduced_body(reduced):
    d = swinging(reduced, 0.01)
    system = load(d).compile()
    runs = [
        system.simulate(stop_time=0.1, output_step=0.02, integrator=name, tolerance=1e-8)
        for name in ("radau", "rk45")
    ]
    assert runs[0]["z"] == pytest.approx(runs[1]["z"], abs=1e-5)


def test_ensemble_lanes_match_single_runs_with_reduced_bodies(reduced):
    d = swinging(reduced, 0.02, parameters={"m": 3.0})
    d["bodies"]["load"]["mass"] = "m"
    many = (
        load(d)
        .compile()
        .simulate_many({"m": np.array([2.0, 4.0])}, stop_time=0.05, output_step=0.01)
    )
    for k, mass in enumerate((2.0, 4.0)):
        alone = load(d).compile(m=mass).simulate(0.05, output_step=0.01, tolerance=1e-9)
        assert many["z"][k] == pytest.approx(alone["z"], rel=1e-3, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "python"])
def test_reduced_body_fmus_match_simulation_in_process(backend: str, reduced, tmp_path: Path):
    from kinetree.fmu.archive.build import build_fmu
    from kinetree.scripts.fmi.verify import verify

    d = swinging(reduced, 0.05, run={"stop_time": 0.1, "output_step": 0.01})
    report = verify(build_fmu(load(d), tmp_path / "unit.fmu", backend))
    assert report.good, [check for check in report.checks if not check.good]


def test_features_without_modal_bodies_refuse_them(reduced):
    system = load(swinging(reduced)).compile()
    q, u = system.start()
    for refused in (
        lambda: system.accelerations(0.0, q, u, method="CBM"),
        lambda: system.simulate(stop_time=0.01, method="LGR"),
        lambda: system.trace("mass_matrix"),
        lambda: system.trace("hamilton"),
        lambda: system.trace(form="CBM"),
    ):
        with pytest.raises(ValueError, match="'bar'"):
            refused()


def test_invalid_reduced_body_files_are_refused(reduced, tmp_path: Path):
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    for name in ("missing.npz", "other.npz"):
        with pytest.raises(ModelError, match=r"bodies\.bar\.flexible\.file"):
            load(swinging(tmp_path / name))


def test_invalid_reductions_are_refused(bricks):
    K, M, nodes, faces = bricks
    with pytest.raises(ReductionError, match="share"):
        reduce_body(K, M, nodes, faces | {"again": faces["tip"]}, "root", 2)
    with pytest.raises(ReductionError, match="at least 3"):
        reduce_body(K, M, nodes, {"root": faces["root"][:2]}, "root", 2)
    with pytest.raises(ReductionError, match="differ"):
        reduce_body(K, M + M.multiply(np.arange(M.shape[0]) % 3 == 0), nodes, faces, "root", 2)


def test_flexible_command_reduces_matrices(bricks, tmp_path: Path, capsys):
    K, M, nodes, _ = bricks
    scipy.io.mmwrite(tmp_path / "K.mtx", K)
    scipy.io.mmwrite(tmp_path / "M.mtx", M)
    np.savetxt(tmp_path / "nodes.csv", nodes, delimiter=",")
    arguments = ["flexible", str(tmp_path / "K.mtx"), "--mass", str(tmp_path / "M.mtx")]
    arguments += [
        "--nodes",
        str(tmp_path / "nodes.csv"),
        "--modes",
        "2",
        "-o",
        str(tmp_path / "b.npz"),
    ]
    assert cli.main([*arguments, "--interface", "root=x=0", "--interface", "tip=x=2"]) == 0
    assert "8 modes" in capsys.readouterr().out
    d = swinging(tmp_path / "b.npz")
    (tmp_path / "m.json").write_text(json.dumps(d))
    assert cli.main(["check", str(tmp_path / "m.json")]) == 0
    assert cli.main([*arguments, "--interface", "root=x=9"]) == 2
    arguments[1] = str(tmp_path / "missing.msh")
    assert cli.main([*arguments, "--interface", "root=x=0"]) == 2


def written_mesh(path: Path, kind: str) -> None:
    """Write a bar of 1 m by 0.1 m by 0.1 m, of one kind of solids."""
    import meshio
    import skfem

    axes = np.linspace(0, 1.0, 9), np.linspace(0, 0.1, 2), np.linspace(0, 0.1, 2)
    if kind == "tetra":
        skfem.MeshTet.init_tensor(*axes).save(str(path))
        return
    if kind == "tetra10":
        skfem.MeshTet2.from_mesh(skfem.MeshTet.init_tensor(*axes)).save(str(path))
        return
    x, y, z = (each.ravel() for each in np.meshgrid(*axes, indexing="ij"))
    at = np.arange(x.size).reshape([each.size for each in axes])
    ring = ((0, 0), (1, 0), (1, 1), (0, 1))
    cells = [[at[k + i, j, h] for h in (0, 1) for i, j in ring] for k in range(8)]
    points = np.column_stack([x, y, z])
    if kind == "hexahedron20":  # middles of edges, which do not count
        edges = [(m, (m + 1) % 4) for m in range(4)]
        edges += [(m + 4, n + 4) for m, n in edges] + [(m, m + 4) for m in range(4)]
        for cell in cells:
            corners = points[cell[:8]]
            cell += range(len(points), len(points) + 12)
            points = np.concatenate([points, [0.5 * (corners[m] + corners[n]) for m, n in edges]])
    if kind == "wedge":
        cells = [cell[:6] for cell in cells]
    meshio.Mesh(points, [(kind, np.array(cells))]).write(str(path))


@pytest.mark.parametrize("kind", ["tetra", "tetra10", "hexahedron", "hexahedron20"])
def test_meshes_of_solid_elements_are_reduced(tmp_path: Path, kind: str):
    pytest.importorskip("skfem")
    pytest.importorskip("meshio")
    source, target = tmp_path / "bar.vtu", tmp_path / "bar.npz"
    written_mesh(source, kind)
    arguments = ["flexible", str(source), "--modes", "2", "-o", str(target)]
    assert cli.main([*arguments, "--interface", "root=x=0", "--interface", "tip=x=1"]) == 0
    with np.load(target) as file:
        exact = 1.8751041**2 / (2 * np.pi) * np.sqrt(2.1e11 * 0.1**2 / 12 / 7850.0)
        assert file["mass"] == pytest.approx(78.5, rel=1e-9)
        assert file["frequencies"][0] == pytest.approx(exact, rel=0.03)
        corners = file["skin_points"][file["skin_triangles"]]
        assert np.isfinite(file["skin_stresses"][:, np.unique(file["skin_triangles"])]).all()
    volume = np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume == pytest.approx(0.01, rel=1e-5)


def test_meshes_in_millimetres_are_converted(tmp_path: Path):
    pytest.importorskip("skfem")
    pytest.importorskip("meshio")
    source, target = tmp_path / "bar.vtu", tmp_path / "bar.npz"
    written_mesh(source, "tetra")
    arguments = ["flexible", str(source), "--modes", "0", "--units", "mm", "-o", str(target)]
    assert cli.main([*arguments, "--interface", "a=x=0", "--interface", "b=x=0.001"]) == 0
    with np.load(target) as file:
        assert file["mass"] == pytest.approx(78.5e-9, rel=1e-6)


@pytest.mark.parametrize("name, what", [("bar.vtu", "wedge"), ("bar.msh", "no mesh")])
def test_files_without_known_solids_are_refused(tmp_path: Path, capsys, name: str, what: str):
    pytest.importorskip("skfem")
    pytest.importorskip("meshio")
    source = tmp_path / name
    if what == "wedge":
        written_mesh(source, what)
    else:
        source.write_text("$MeshFormat\n4.1 0", encoding="utf-8")
    arguments = ["flexible", str(source), "-o", str(tmp_path / "b.npz")]
    assert cli.main([*arguments, "--interface", "root=x=0"]) == 2
    assert what in capsys.readouterr().err
