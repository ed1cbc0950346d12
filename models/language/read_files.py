"""Tables read from files, as written by `Result.save`, fmpy, Modelica tools and instruments (CSV,
Parquet, HDF5, MAT version 4).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np

from kinetree.models.language.plain_files import apart, fault_of

MAX_FILE_BYTES = 4_000_000_000  # bytes of a file, and of what it says it holds
TOGETHER = 10_000  # rows of a CSV file that are texts at one time
SECONDS = 60.0  # for an HDF5 file, and as long again for every RATE bytes of it
RATE = 1e9
Columns = dict[str, tuple[np.ndarray, str]]  # values and unit by name, in the order of the file
UNIT_IN_HEAD = re.compile(
    r"(.*\S)\s*\[([^\[\]]+)\]"
)  # Force [kN]; a component such as tip[1] is none


def needed_module(module: str):
    """Return an imported module that belongs to the extra `tables`."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise ValueError(
            f"this format needs {module.split('.')[0]}: pip install kinetree[tables]"
        ) from None


def read_columns(path: Path) -> Columns:
    """Return the columns of a file, read by its suffix; raise ValueError with the problem of a
    faulty one.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"{path}: expected a table that ends in {', '.join(READERS)}")
    if not path.exists():
        raise ValueError(f"no such file: {path}")
    if fault := fault_of(path, MAX_FILE_BYTES):
        raise ValueError(f"{path}: {fault}")
    try:
        columns = reader(path)
    except Exception as error:  # whatever the four libraries raise about a file of another kind
        raise ValueError(f"{path}: cannot be read as {path.suffix[1:]} ({error})") from None
    if not columns or not len(next(iter(columns.values()))[0]):
        raise ValueError(f"{path}: no rows")
    return columns


def with_unit(head: str) -> tuple[str, str]:
    """Return name and unit of a column heading such as `Force [kN]`; a number in brackets is a
    component.
    """
    found = UNIT_IN_HEAD.fullmatch(head.strip())
    return (found[1], found[2]) if found and not found[2].isdecimal() else (head.strip(), "")


def read_csv(path: Path) -> Columns:
    with path.open(newline="", encoding="utf-8") as file:
        lines = csv.reader(file)
        names, units = (list(part) for part in zip(*map(with_unit, next(lines)), strict=True))
        rows, parts = list(islice(lines, TOGETHER)), [np.empty((0, len(names)))]
        if rows and not is_number(rows[0][0]):
            units = rows.pop(0)
        while rows:
            parts.append(np.array(rows, dtype=float).reshape(-1, len(names)))
            rows = list(islice(lines, TOGETHER))
    values = np.concatenate(parts)
    return {name: (values[:, k], units[k]) for k, name in enumerate(names)}


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_parquet(path: Path) -> Columns:
    table = needed_module("pyarrow.parquet").read_table(path)
    units = {
        field.name: (field.metadata or {}).get(b"unit", b"").decode() for field in table.schema
    }
    return {
        name: (np.asarray(table[name], dtype=float), units[name]) for name in table.column_names
    }


def read_hdf5(path: Path) -> Columns:
    """Read an HDF5 file in a separate process, since the library can hang on damaged files."""
    needed_module("h5py")
    seconds = SECONDS * (1.0 + path.stat().st_size / RATE)
    return apart(__name__, hdf5_columns.__name__, path, seconds=seconds)


def hdf5_columns(path: Path) -> Columns:
    """Return the columns of an HDF5 file unless they are larger than allowed."""
    with needed_module("h5py").File(path) as file:
        columns = {
            name.replace("∕", "/"): data
            for name, data in file.items()
            if getattr(data, "ndim", 0) == 1
        }
        size = sum(int(data.size) * data.dtype.itemsize for data in columns.values())
        if size > MAX_FILE_BYTES:
            raise ValueError(f"columns of {size} bytes, expected at most {MAX_FILE_BYTES}")
        return {
            name: (np.asarray(data), str(data.attrs.get("unit", "")))
            for name, data in columns.items()
        }


def read_mat(path: Path) -> Columns:
    """Return the columns of a Modelica result file ("binTrans"); constants are repeated at every
    time.
    """
    from scipy.io import loadmat

    content = loadmat(path, chars_as_strings=False)
    names, texts = (
        ["".join(column).rstrip("\0 ") for column in content[key].T]
        for key in ("name", "description")
    )
    moving = content["data_2"]
    found: Columns = {}
    for name, text, (kind, place, *_) in zip(
        names, texts, content["dataInfo"].T.tolist(), strict=True
    ):
        data = content["data_1"] if kind == 1 else moving
        values = np.sign(place) * data[abs(place) - 1]
        unit = text.rpartition("[")[2].split("|")[0].rstrip("]") if text.endswith("]") else ""
        found[name] = (values if kind != 1 else np.full(moving.shape[1], values[0]), unit)
    return found


READERS: dict[str, Callable[[Path], Columns]] = {
    ".csv": read_csv,
    ".parquet": read_parquet,
    ".h5": read_hdf5,
    ".hdf5": read_hdf5,
    ".mat": read_mat,
}
