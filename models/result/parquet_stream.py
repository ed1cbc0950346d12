"""Rows that go to a Parquet file while a run goes on: a row group for every ten thousand of them, so that memory stays flat however long the run.

The result can still be asked for everything: its rows stand in a nameless file beside the one that is written, mapped into memory, and the pages of
rows that have been passed on are given back.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from kinetree.models.result.files import needed
from kinetree.models.result.orientations import turn_continuously


class Stream:
    """The rows of a run on their way to a file."""

    def __init__(
        self,
        path: Path,
        shape: tuple[int, int],
        places: Mapping[str, int],
        units: Sequence[str],
        turns: list[list[int]],
    ):
        """`places` tells in which column of a table of that shape each name stands, `turns` which columns are whole orientations."""
        pa, parquet = needed("pyarrow"), needed("pyarrow.parquet")
        if path.suffix.lower() != ".parquet":
            raise ValueError(
                f"{path.name}: a run can be streamed to a file .parquet, found '{path.suffix}'"
            )
        fields = [
            pa.field(name, pa.float64(), metadata={"unit": unit})
            for name, unit in zip(("time", *places), ("s", *units), strict=True)
        ]
        self.schema = pa.schema(fields)
        self.writer = parquet.ParquetWriter(path, self.schema)
        with tempfile.TemporaryFile(dir=path.parent) as file:
            file.truncate(8 * shape[0] * shape[1])
            self.memory = mmap.mmap(file.fileno(), 0)
        self.table = np.frombuffer(self.memory).reshape(shape)
        self.places, self.turns = list(places.values()), turns
        self.passed = 0  # rows that have been written

    def pass_on(self, time: np.ndarray, rows: int) -> None:
        """Write the rows before `rows` that have not been written; their pages are given back."""
        pa = needed("pyarrow")
        part = slice(self.passed, rows)
        if rows > self.passed:
            for columns in self.turns:
                turn_continuously(self.table[max(0, self.passed - 1) : rows], columns)
            arrays = [
                pa.array(time[part]),
                *(
                    pa.array(np.ascontiguousarray(column))
                    for column in self.table[part, self.places].T
                ),
            ]
            self.writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self.schema))
            self.passed = rows
            self.give_back()

    def give_back(self) -> None:
        """What has been written need not stay in memory; systems without the call decide by themselves."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.memory.madvise(mmap.MADV_DONTNEED)

    def close(self, time: np.ndarray, rows: int) -> None:
        """Write the rest, and the end of the file."""
        self.pass_on(time, rows)
        self.writer.close()
