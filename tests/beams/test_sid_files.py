"""Files of standard input data: bodies in them move as the same bodies from matrices do."""

from pathlib import Path

import numpy as np
import pytest
import scipy.linalg as sl
from bricks import bar

from kinetree.models import load
from kinetree.models.beams.reduction import (
    ReductionError,
    plate_motion,
    reduce_body,
    save_reduced,
    scalar_mass,
)
from kinetree.models.beams.sid_files import read_standard_input, reduced_of
from kinetree.scripts import cli


def matrix(name: str, m0: np.ndarray, m1: np.ndarray | None = None, structure: int = 3) -> str:
    """One matrix of a file."""
    rows = [name, f"order = {0 if m1 is None else 1}", f"nrow = {m0.shape[0]}"]
    rows += [f"ncol = {m0.shape[1]}", f"structure = {structure}"]
    for (i, j), value in np.ndenumerate(m0):
        if structure == 3 or j <= i:
            rows.append(f"m0( {i + 1}, {j + 1}) = {value:.17e}")
    for (i, j, k), value in np.ndenumerate(np.zeros((0, 0, 0)) if m1 is None else m1):
        rows.append(f"m1( {i + 1}, {j + 1}, {k + 1}) = {value:.17e}")
    return "\n".join([*rows, f"end {name}"])


def written(K, M, nodes, faces, mix: np.ndarray, at: np.ndarray) -> str:
    """The bar as a file: modes that are mixed and carry a motion of the whole, places from `at`."""
    arrays = reduce_body(K, M, nodes, faces, "root", 2)
    scalar = scalar_mass(M).toarray()
    x = nodes - at
    phi = arrays["shapes"] @ mix
    count = phi.shape[2]
    rng = np.random.default_rng(5)
    phi = (
        phi
        + rng.uniform(-0.1, 0.1, (3, count))
        + np.cross(rng.uniform(-0.1, 0.1, (count, 3))[None], x[:, None, :], axis=2).transpose(
            0, 2, 1
        )
    )
    flat = phi.reshape(-1, count)
    fields = np.concatenate([x[:, :, None], phi], axis=2)
    P = np.einsum("sia,st,tjb->abij", fields, scalar, fields)
    S = np.einsum("st,tia->ai", scalar, fields)
    J = np.einsum("abii->ab", P)[..., None, None] * np.eye(3) - 0.5 * (P + P.swapaxes(2, 3))
    V = np.stack([P[..., a, b] - P[..., b, a] for a, b in ((1, 2), (2, 0), (0, 1))], axis=2)
    C = flat.T @ (K @ flat)
    six = [J[:, :, a, b] * (1 if a == b else 2) for a, b in
           ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))]  # fmt: skip
    Oe = -np.stack([each[1:, 0] for each in six], axis=1)
    Oe1 = -np.stack([each[1:, 1:] for each in six], axis=1)
    blocks = []
    for number, face in enumerate(faces.values(), 1):
        place = nodes[face].mean(axis=0)
        shift, turn = plate_motion(nodes[face] - place, phi[face])
        blocks += [f"new node = {number}", "rframe = body ref"]
        blocks.append(matrix("origin", (place - at)[:, None], shift.T[:, None, :]))
        blocks += [matrix("phi", shift.T), matrix("psi", turn.T), "end node"]
    return "\n".join(
        [
            "a bar", "part", "new modal", "refmod", f"mass = {scalar.sum():.17e}",
            f"nelastq = {count}", "end refmod", "frame", *blocks, "end frame",
            matrix("mdCM", S[0][:, None], S[1:].T[:, None, :]),
            matrix("J", J[0, 0], 2 * np.moveaxis(J[0, 1:], 0, 2), 2),
            matrix("Ct", S[1:]), matrix("Cr", V[0, 1:], np.moveaxis(V[1:, 1:], 0, 2)),
            matrix("Me", np.einsum("abii->ab", P)[1:, 1:], None, 2), matrix("Oe", Oe, Oe1),
            matrix("Ke", 0.5 * (C + C.T), None, 2), "end modal", "end part",
        ]
    )  # fmt: skip


@pytest.fixture(scope="module")
def bricks():
    K, M, nodes = bar(1.0, 0.06, 0.1, (5, 1, 1), 2e8, 0.3, 1000.0)
    ends = {"root": 0.0, "tip": 1.0}
    faces = {k: np.flatnonzero(np.abs(nodes[:, 0] - x) < 1e-9) for k, x in ends.items()}
    return K, M, nodes, faces


@pytest.fixture(scope="module")
def text(bricks) -> str:
    mix = sl.expm(np.random.default_rng(2).uniform(-0.3, 0.3, (8, 8)))
    return written(*bricks, mix, np.array([0.3, 0.1, -0.2]))


def swinging(path: Path) -> dict:
    """The bar on a ball joint, carrying a load."""
    return {
        "format": "kinetree/1",
        "name": "swing",
        "bodies": {
            "bar": {"flexible": {"file": str(path), "damping": 0.0}},
            "load": {"mass": 1.0, "com": [0, 0.1, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        },
        "joints": {
            "root": {"child": "bar", "type": "revolute", "axis": [0, 0.8, 0.6], "speed": 3.0},
            "tip": {"parent": "bar.tip", "child": "load", "type": "rigid"},
        },
        "outputs": {"tip": {"quantity": "acceleration", "body": "bar.tip"}},
    }


def test_body_from_sid_file_equals_body_from_matrices(bricks, text, tmp_path: Path):
    found = reduced_of(read_standard_input(text), {"root": "1", "tip": "2"}, "root")
    given = reduce_body(*bricks, "root", 2)
    assert found["frequencies"] == pytest.approx(given["frequencies"], rel=1e-6)
    assert found["points"] == pytest.approx(given["points"], abs=1e-12)
    tips = []
    for name, arrays in (("sid", found), ("own", given)):
        save_reduced(tmp_path / f"{name}.npz", arrays)
        system = load(swinging(tmp_path / f"{name}.npz")).compile()
        result = system.simulate(0.2, output_step=0.1, tolerance=1e-10)
        tips.append(np.array([result[f"tip[{k}]"] for k in (1, 2, 3)]))
    assert tips[0] == pytest.approx(tips[1], rel=1e-5, abs=1e-3)


def test_flexible_command_reads_sid_files(text, tmp_path: Path, capsys):
    (tmp_path / "bar.SID_FEM").write_text(text)
    arguments = ["flexible", str(tmp_path / "bar.SID_FEM"), "-o", str(tmp_path / "bar.npz")]
    assert cli.main([*arguments, "--interface", "root=1", "--interface", "tip=2"]) == 0
    assert "8 modes" in capsys.readouterr().out
    assert load(swinging(tmp_path / "bar.npz")).compile().n == 9
    assert cli.main([*arguments, "--interface", "root=1", "--interface", "tip=7"]) == 2
    assert "no node '7'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("new node = 1", "end node", "no node"),
        ("mass =", "mess =", "mass"),
        ("Ke\norder", "Kx\norder", "ke"),
        ("m0( 1, 1) =", "m0( 1, 1) = x", "no number"),
        ("m0( 3, 1)", "m0( 9, 1)", "entry"),
        ("end Oe", "m0(1, 1) = 500\nend Oe", "Oe"),
    ],
)
def test_invalid_sid_files_are_refused(text, old: str, new: str, told: str):
    assert old in text
    with pytest.raises(ReductionError, match=told):
        reduced_of(
            read_standard_input(text.replace(old, new, 1)), {"root": "1", "tip": "2"}, "root"
        )
