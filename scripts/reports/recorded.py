"""A result file read back: what `Result.save`, fmpy and Modelica tools write (CSV, Parquet, HDF5, MAT version 4)."""

import csv
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from kinetree.models.result.files import needed
from kinetree.models.result.result import Event, Result
from kinetree.scripts.terminal.arguments import one_of
from kinetree.scripts.terminal.failure import BadInput

Columns = dict[str, tuple[np.ndarray, str]]  # values and unit by name, the time first


class Recorded:
    """Columns of a file, as a Result shows them."""

    EXTRA = Result.EXTRA

    def __init__(self, path: Path):
        reader = READERS.get(path.suffix.lower())
        if reader is None:
            raise BadInput(f"{path}: expected a result file that ends in {', '.join(READERS)}")
        if not path.exists():
            raise BadInput(f"no such file: {path}")
        try:
            columns = reader(path)
        except Exception as error:  # whatever the four libraries raise about a file of another kind
            raise BadInput(f"{path}: cannot be read as {path.suffix[1:]} ({error})") from None
        if not columns or not len(next(iter(columns.values()))[0]):
            raise BadInput(f"{path}: no rows")
        self.name = path.stem
        times = [name for name in columns if name.lower() == "time"] or [next(iter(columns))]
        self.time = columns.pop(times[0])[0]
        self.events: list[Event] = []
        self._columns = columns

        self.stage_names: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._columns[name][0]

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def unit(self, name: str) -> str:
        return self._columns[name][1]

    def select(self, patterns: Iterable[str] | None) -> tuple[str, ...]:
        """Names in any case of letters, * for any text; all of them where none is given."""
        found: dict[str, None] = {}
        for pattern in patterns or ("*",):
            shape = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.IGNORECASE)
            matches = [name for name in self.names if name == pattern] or [name for name in self.names if shape.fullmatch(name)]
            if not matches:
                one_of(pattern, self.names, "variable")
            found |= dict.fromkeys(matches)
        return tuple(found)


def read_csv(path: Path) -> Columns:
    with path.open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    units = [""] * len(names)
    if rows and not is_number(rows[0][0]):
        units = rows.pop(0)
    values = np.array(rows, dtype=float).reshape(-1, len(names))
    return {name: (values[:, k], units[k]) for k, name in enumerate(names)}


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_parquet(path: Path) -> Columns:
    table = needed("pyarrow.parquet").read_table(path)
    units = {field.name: (field.metadata or {}).get(b"unit", b"").decode() for field in table.schema}
    return {name: (np.asarray(table[name], dtype=float), units[name]) for name in table.column_names}


def read_hdf5(path: Path) -> Columns:
    with needed("h5py").File(path) as file:
        return {name.replace("∕", "/"): (np.asarray(data), str(data.attrs.get("unit", ""))) for name, data in file.items() if data.ndim == 1}


def read_mat(path: Path) -> Columns:
    """The trajectory format of Modelica tools, "binTrans"; constants are stretched over time."""
    from scipy.io import loadmat

    content = loadmat(path, chars_as_strings=False)
    names, texts = (["".join(column).rstrip("\0 ") for column in content[key].T] for key in ("name", "description"))
    moving = content["data_2"]
    found: Columns = {}
    for name, text, (kind, place, *_) in zip(names, texts, content["dataInfo"].T.tolist(), strict=True):
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
