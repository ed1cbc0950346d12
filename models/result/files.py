"""Result files: CSV, Parquet, HDF5, and MAT version 4 in the layout that Modelica tools write and read."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.language.read_files import needed_module
from kinetree.models.result.atomic_file import whole_file

if TYPE_CHECKING:
    from kinetree.models.result.result import Result

Names = tuple[str, ...]


def write(result: Result, path: Path, names: Names) -> None:
    """Write columns of a result in the format of the file's ending."""
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise ValueError(
            f"{path.name}: unknown ending '{path.suffix}', expected one of {', '.join(WRITERS)}"
        )
    with whole_file(path) as draft:
        writer(result, draft, names)


def write_csv(result: Result, path: Path, names: Names, units: bool = False) -> None:
    """Write comma-separated values with one header line and all digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["time", *names])
        if units:
            writer.writerow(["s", *(result.unit(name) for name in names)])
        for row in result.array(["time", *names]):
            writer.writerow([repr(float(value)) for value in row])


def write_parquet(result: Result, path: Path, names: Names) -> None:
    """Write columns with their units as metadata."""
    pa, parquet = needed_module("pyarrow"), needed_module("pyarrow.parquet")
    fields = [
        pa.field(name, pa.float64(), metadata={"unit": result.unit(name)})
        for name in ("time", *names)
    ]
    parquet.write_table(
        pa.Table.from_arrays([pa.array(result[f.name]) for f in fields], schema=pa.schema(fields)),
        path,
    )


def write_hdf5(result: Result, path: Path, names: Names) -> None:
    """Write one HDF5 data set per column with its unit; built in memory, since HDF5 aborts on a
    full disk.
    """
    with needed_module("h5py").File(path, "w", driver="core", backing_store=False) as file:
        file.attrs["name"] = result.name
        for name in ("time", *names):
            file.create_dataset(name.replace("/", "∕"), data=result[name]).attrs["unit"] = (
                result.unit(name)
            )
        file.flush()
        path.write_bytes(file.id.get_file_image())


def text_matrix(texts: list[str]) -> np.ndarray:
    """Return texts as the columns of a character matrix, the storage of names in MAT files of
    trajectories.
    """
    width = max(len(text.encode()) for text in texts) or 1
    return np.array([list(text.encode().ljust(width)) for text in texts], dtype=np.uint8).T


def matrix_header(name: str, array: np.ndarray, kind: int) -> bytes:
    """Return the header of a MAT version 4 matrix: type, rows, columns, real, name."""
    return (
        np.array([kind, array.shape[0], array.shape[1], 0, len(name) + 1], dtype="<i4").tobytes()
        + name.encode()
        + b"\0"
    )


def write_mat(result: Result, path: Path, names: Names) -> None:
    """Write the trajectory format of Modelica tools, "binTrans": names, descriptions, dataInfo,
    parameters, trajectories.
    """
    columns = ("time", *names)
    data = result.array(columns).T
    info = np.array(
        [
            [2 if k else 0 for k in range(len(columns))],
            range(1, len(columns) + 1),
            [0] * len(columns),
            [-1] * len(columns),
        ]
    )
    constant = np.array([[result.time[0], result.time[-1]]])
    described = [f"[{result.unit(name)}]" if result.unit(name) else "" for name in columns]
    parts = (
        (
            "Aclass",
            np.array(
                [
                    list(b"Atrajectory".ljust(11)),
                    list(b"1.1".ljust(11)),
                    [32] * 11,
                    list(b"binTrans".ljust(11)),
                ],
                dtype=np.uint8,
            ),
            51,
        ),
        ("name", text_matrix(list(columns)), 51),
        ("description", text_matrix(described), 51),
        ("dataInfo", info.astype("<i4"), 20),
        ("data_1", constant.astype("<f8"), 0),
        ("data_2", data.astype("<f8"), 0),
    )
    with path.open("wb") as file:
        for name, array, kind in parts:
            file.write(matrix_header(name, array, kind))
            file.write(np.asfortranarray(array).tobytes(order="F"))


WRITERS: dict[str, Callable[[Result, Path, Names], None]] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".h5": write_hdf5,
    ".hdf5": write_hdf5,
    ".mat": write_mat,
}
