"""Stiffness, mass and grid points of Nastran files: DMIG and GRID entries of a punch or bulk data
file, in fields of 8, of 16, or free.

Solvers write them with PARAM,EXTOUT,DMIGPCH and all displacements in the a-set. Grid points must
have displacements only (solids); rotations, scalar points and local coordinate systems are refused.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

SYMMETRIC = 6  # form of a matrix of which one triangle is written
SHORT = re.compile(r"(?<=[\d.])([+-]\d+)$")  # 1.5+3 is 1500
EMPTY = 1e-12  # of the largest entry: rotations of solids have none


class NastranError(ValueError):
    """Raised for a file without matrices of solids."""


def entries(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the fields of every entry, continuations included; the first field is the entry's name
    without a star.
    """
    found: list[str] = []
    for line in lines:
        text = line.split("$", 1)[0].rstrip()
        if not text:
            continue
        first = text[:8]
        more = fields(text)
        if first[:1] in ("+", "*") or (found and (not first.strip() or text[0] == ",")):
            found += more[1:]
            continue
        if found:
            yield found
        found = [more[0].rstrip("*").upper(), *more[1:]]
    if found:
        yield found


def fields(text: str) -> list[str]:
    """Return the fields of a line without its continuation field."""
    if "," in text:
        parts = [each.strip() for each in text.split(",")][:9]
        return parts + [""] * (9 - len(parts))
    wide = 16 if "*" in text[:8] else 8
    row = text.expandtabs(8).ljust(72)[:72]
    return [row[:8].strip()] + [row[k : k + wide].strip() for k in range(8, 72, wide)]


def number(text: str) -> float:
    """Return a number in Nastran notation, such as 1.5D+3 or 1.5+3."""
    plain = text.upper().replace("D", "E")
    return float(plain if "E" in plain else SHORT.sub(r"E\1", plain))


def grid_points(paths: Iterable[Path]) -> dict[int, np.ndarray]:
    """Return the positions of all grid points by their number."""
    found: dict[int, np.ndarray] = {}
    for path in paths:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for each in entries(lines):
                if each[0] != "GRID":
                    continue
                known = [*each, *[""] * 8]
                if any(known[k] not in ("", "0") for k in (2, 6)):
                    raise NastranError(
                        f"GRID {known[1]} in a coordinate system of its own: expected the basic one"
                    )
                found[int(known[1])] = np.array([number(known[k] or "0.0") for k in (3, 4, 5)])
    return found


class Matrix:
    """One matrix from DMIG entries: its form, and values by row and column (grid point, component)."""

    def __init__(self) -> None:
        self.form = 1
        self.rows: list[tuple[int, int]] = []
        self.columns: list[tuple[int, int]] = []
        self.values: list[float] = []

    def add(self, column: tuple[int, int], rest: list[str]) -> None:
        """Add the values of a column from fields: grid point, component, real part, imaginary part,
        ...
        """
        for k in range(0, len(rest) - 2, 4):
            if rest[k]:
                self.rows.append((int(rest[k]), int(rest[k + 1] or "0")))
                self.columns.append(column)
                self.values.append(number(rest[k + 2] or "0.0"))

    def sparse(self, at: dict[tuple[int, int], int]) -> Any:
        """Return the sparse matrix over the given displacements; other rows and columns are left
        out.
        """
        pairs = zip(self.rows, self.columns, self.values, strict=True)
        known = [(at[r], at[c], v) for r, c, v in pairs if r in at and c in at]
        rows, columns, values = np.array(known).reshape(-1, 3).T
        places = (rows.astype(int), columns.astype(int))
        found = sp.coo_array((values, places), shape=(len(at), len(at))).tocsc()
        if self.form != SYMMETRIC:
            return found
        return found + found.T - sp.diags_array(found.diagonal())


def matrices(path: Path) -> dict[str, Matrix]:
    """Return the matrices of DMIG entries by name."""
    found: dict[str, Matrix] = defaultdict(Matrix)
    with path.open(encoding="utf-8", errors="replace") as lines:
        for each in entries(lines):
            if each[0] != "DMIG":
                continue
            matrix = found[each[1]]
            if each[2] == "0":
                matrix.form = int(each[3])
                continue
            wide = 5 if len(each) > 5 and not each[4] and each[5] else 4
            matrix.add((int(each[2]), int(each[3] or "0")), each[wide:])
    return dict(found)


def only(found: dict[str, Matrix], letter: str) -> Matrix:
    """Return the one matrix whose name begins with a letter."""
    names = [name for name in found if name.upper().startswith(letter)]
    if len(names) != 1:
        raise NastranError(f"DMIG {', '.join(found) or 'none'}: expected one K... and one M...")
    return found[names[0]]


def read_nastran(punch: str | Path, bulk: str | Path | None) -> tuple[Any, Any, np.ndarray]:
    """Return stiffness, mass (three displacements per grid point) and grid points (N, 3) of Nastran
    files.
    """
    found = matrices(Path(punch))
    K, M = only(found, "K"), only(found, "M")
    places = grid_points(Path(each) for each in (punch, bulk) if each is not None)
    check_displacements(K)
    used = sorted({point for point, _ in (*K.rows, *K.columns)})
    missing = [point for point in used if point not in places]
    if missing:
        raise NastranError(f"no GRID {missing[0]}: --nodes names the bulk data file")
    held = {(p, c) for p in used for c in (1, 2, 3)} - {*K.rows, *K.columns}
    if held:
        point, part = min(held)
        raise NastranError(f"grid point {point} has no displacement {part}: expected a free body")
    at = {(p, c): 3 * k + c - 1 for k, p in enumerate(used) for c in (1, 2, 3)}
    return K.sparse(at), M.sparse(at), np.array([places[point] for point in used])


def check_displacements(K: Matrix) -> None:
    """Raise for scalar points, and for stiffness of rotations."""
    scale = max(map(abs, K.values), default=0.0)
    for (point, part), value in zip((*K.rows, *K.columns), (*K.values, *K.values), strict=True):
        if part == 0:
            raise NastranError(f"scalar point {point}: expected displacements of grid points")
        if part > 3 and abs(value) > EMPTY * scale:
            raise NastranError(
                f"grid point {point} has stiffness in rotation {part}: expected a mesh of solids"
            )
