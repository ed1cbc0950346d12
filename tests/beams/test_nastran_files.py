"""Matrices of Nastran files: reduced like those of files of scipy, in each kind of fields, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from bricks import bar

from kinetree.models.beams.nastran_files import NastranError, entries, number, read_nastran
from kinetree.models.beams.reduction import reduce_body
from kinetree.scripts import cli

MILLIMETRES = 1e3


@pytest.fixture(scope="module")
def matrices():
    """Stiffness, mass and nodes of a steel bar of 0.5 m in SI."""
    K, M, nodes = bar(0.5, 0.06, 0.1, (3, 1, 1), 2.1e11, 0.3, 7850.0)
    return sp.csc_array(K), sp.csc_array(M), nodes


def dmig(name: str, matrix, numbers: list[int], wide: bool = True) -> list[str]:
    """Entries of the lower triangle of a symmetric matrix, in fields of 16 or 8."""
    lines = [f"DMIG    {name:8}{0:8d}{6:8d}{2:8d}{0:8d}"]
    for c in range(matrix.shape[1]):
        column = matrix[:, [c]].tocoo()
        rows = [(int(r), v) for r, v in zip(column.coords[0], column.data, strict=True) if r >= c]
        at = (numbers[c // 3], c % 3 + 1)
        if wide:
            lines.append(f"DMIG*   {name:16}{at[0]:16d}{at[1]:16d}")
            lines += [
                f"*       {numbers[r // 3]:16d}{r % 3 + 1:16d}{f'{v:.9E}'.replace('E', 'D'):>16}"
                for r, v in rows
            ]
        else:
            parts = [f"{numbers[r // 3]},{r % 3 + 1},{v:.12e}," for r, v in rows]
            lines.append(f"DMIG,{name},{at[0]},{at[1]},,{parts[0]}")
            lines += [f",{part}" for part in parts[1:]]
    return lines


def written(folder: Path, matrices, wide: bool = True) -> tuple[Path, Path]:
    """A punch file and a bulk data file in millimetres, tonnes and newtons, grid points numbered anew."""
    K, M, nodes = matrices
    numbers = [7 * k + 3 for k in range(len(nodes))]
    lines = dmig("KAAX", K / MILLIMETRES, numbers, wide) + dmig("MAAX", M / 1e3, numbers, wide)
    grids = [
        f"GRID    {n:8d}        " + "".join(f"{MILLIMETRES * each:8.3f}" for each in place)
        for n, place in zip(numbers, nodes, strict=True)
    ]
    punch, bulk = folder / "bar.pch", folder / "bar.bdf"
    punch.write_text("$TITLE   = BAR\n" + "\n".join(lines) + "\n", encoding="utf-8")
    bulk.write_text("BEGIN BULK\n" + "\n".join(grids) + "\nENDDATA\n", encoding="utf-8")
    return punch, bulk


@pytest.mark.parametrize("wide", [True, False])
def test_body_from_punch_file_equals_body_from_matrices(tmp_path: Path, matrices, wide: bool):
    punch, bulk = written(tmp_path, matrices, wide)
    arguments = ["flexible", str(punch), "--nodes", str(bulk), "--units", "mm", "--modes", "3"]
    arguments += ["--interface", "root=x=0", "--interface", "tip=x=0.5"]
    assert cli.main([*arguments, "-o", str(tmp_path / "bar.npz")]) == 0
    K, M, nodes = matrices
    ends = {k: np.flatnonzero(np.abs(nodes[:, 0] - x) < 1e-9) for k, x in (("a", 0.0), ("b", 0.5))}
    right = reduce_body(K, M, nodes, ends, "a", 3)
    with np.load(tmp_path / "bar.npz") as file:
        assert file["mass"] == pytest.approx(0.5 * 0.06 * 0.1 * 7850.0, rel=1e-6)
        assert file["frequencies"] == pytest.approx(right["frequencies"], rel=1e-6)


def test_short_field_numbers_and_continuations_are_read():
    assert [number(each) for each in ("1.5+3", "-2.-1", "1.D-2", "3.0E2")] == [
        1500.0,
        -0.2,
        0.01,
        300,
    ]
    lines = [
        "GRID*                  4                             1.0             2.0",
        "*                    3.0",
    ]
    assert next(entries(lines))[:6] == ["GRID", "4", "", "1.0", "2.0", "3.0"]


@pytest.mark.parametrize(
    "change, said",
    [
        (("DMIG    MAAX", "DMIG    XAAX", "DMIG*   MAAX", "DMIG*   XAAX"), "one M"),
        (("*                      3               1", "*                      3               5"), "rotation"),
        (("*                      3               1", "*                      3               0"), "scalar"),
    ],
)  # fmt: skip
def test_constrained_or_non_solid_nastran_models_are_refused(
    tmp_path: Path, matrices, change, said: str
):
    punch, bulk = written(tmp_path, matrices)
    text = punch.read_text(encoding="utf-8")
    for old, new in zip(change[::2], change[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    punch.write_text(text, encoding="utf-8")
    with pytest.raises(NastranError, match=said):
        read_nastran(punch, bulk)


def test_missing_grid_points_are_named(tmp_path: Path, matrices):
    punch, _ = written(tmp_path, matrices)
    with pytest.raises(NastranError, match="GRID 3"):
        read_nastran(punch, None)
