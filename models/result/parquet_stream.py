"""Streaming of rows to a Parquet file during a run, in groups of ten thousand and with constant
memory.

The result remains fully accessible: its rows are in an unnamed temporary file, mapped into memory,
and the memory pages of rows already written are released. Disk space is reserved before rows are
written, since a mapped page without disk space would terminate the process without a message.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from kinetree.models.language.read_files import needed_module
from kinetree.models.result.orientations import turn_continuously

RESERVE = 1 << 24  # bytes that are reserved at once


class Stream:
    """A Parquet file to which the rows of a run are streamed."""

    def __init__(
        self,
        path: Path,
        shape: tuple[int, int],
        places: Mapping[str, int],
        units: Sequence[str],
        turns: list[list[int]],
    ):
        """Open the file; `places` gives the table column of each name, `turns` the columns of
        quaternions.
        """
        pa, parquet = needed_module("pyarrow"), needed_module("pyarrow.parquet")
        if path.suffix.lower() != ".parquet":
            raise ValueError(
                f"{path.name}: a run can be streamed to a file .parquet, found '{path.suffix}'"
            )
        fields = [
            pa.field(name, pa.float64(), metadata={"unit": unit})
            for name, unit in zip(("time", *places), ("s", *units), strict=True)
        ]
        self.schema = pa.schema(fields)
        self.path, self.row, self.size = path, 8 * shape[1], 8 * shape[0] * shape[1]
        self.reserved = 0  # bytes
        with self.naming_file():
            self.writer = parquet.ParquetWriter(path, self.schema)
            self.file = tempfile.TemporaryFile(dir=path.parent)
            self.file.truncate(self.size)
            self.memory = mmap.mmap(self.file.fileno(), 0)
        self.table = np.frombuffer(self.memory).reshape(shape)
        self.places, self.turns = list(places.values()), turns
        self.passed = 0  # rows that have been written

    @contextmanager
    def naming_file(self) -> Iterator[None]:
        """Context manager that adds the file name to system errors and closes the file."""
        try:
            yield
        except OSError as error:
            with suppress(Exception):
                self.writer.close()  # what was written before can be read
            if error.errno is None:
                raise
            raise OSError(error.errno, os.strerror(error.errno), str(self.path)) from error

    def reserve(self, rows: int) -> None:
        """Reserve disk space for the first `rows` rows."""
        if rows * self.row > self.reserved:
            length = min(max(RESERVE, rows * self.row - self.reserved), self.size - self.reserved)
            with self.naming_file():
                allocate(self.file.fileno(), self.reserved, length)
            self.reserved += length

    def pass_on(self, time: np.ndarray, rows: int) -> None:
        """Write the rows before `rows` that have not been written yet, and release their memory
        pages.
        """
        pa = needed_module("pyarrow")
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
            with self.naming_file():
                self.writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self.schema))
            self.passed = rows
            self.give_back()

    def give_back(self) -> None:
        """Release the memory of rows already written, if the operating system supports that."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.memory.madvise(mmap.MADV_DONTNEED)

    def close(self, time: np.ndarray, rows: int) -> None:
        """Write the remaining rows and close the file."""
        try:
            self.pass_on(time, rows)
        finally:
            with self.naming_file():
                self.writer.close()
            self.file.close()


def allocate(file: int, offset: int, length: int) -> None:
    """Reserve disk space for part of a file, or raise OSError."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, offset, length)
    else:  # zeros are what is there already
        os.lseek(file, offset, os.SEEK_SET)
        os.write(file, bytes(length))
