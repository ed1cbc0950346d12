"""The row file of a study: CSV, or Parquet in parts; an interrupted study can be resumed from
either.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kinetree.models.result.atomic_file import opened, whole_file, write_text
from kinetree.scripts.studies.portable_description import marks
from kinetree.scripts.studies.study import Study
from kinetree.scripts.terminal.error_messages import BadInput

ENDINGS = (".csv", ".parquet")
PART = 64  # rows of a part, at least
PAUSE = 2.0  # seconds between parts, at least: rows that come fast share the cost of a file
Row = list[float]


def parts_of(path: Path) -> Path:
    """Return the folder with the parts of an unfinished Parquet file."""
    return path.with_name(path.name + ".parts")


def parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise BadInput("Parquet needs pyarrow: pip install 'kinetree[cluster]'") from None
    return pyarrow


@contextmanager
def alone(path: Path | None) -> Iterator[None]:
    """Context manager that locks the row file against other studies."""
    if path is None:
        yield
        return
    from filelock import FileLock, Timeout

    target = path.resolve()
    file = target.with_name(f".{target.name}.lock")
    lock = FileLock(str(file), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BadInput(
            f"{path}: another study is writing to it; wait for its end, or take another --output"
        ) from None
    try:
        yield
    finally:
        if os.name != "nt":
            file.unlink(missing_ok=True)  # while it is still held: later ones make a new one
        lock.release()


@contextmanager
def rows_file(
    path: Path | None, columns: list[str], rows: list[Row]
) -> Iterator[Callable[[Row], None]]:
    """Context manager that yields a function to append rows."""
    if path is None:
        yield lambda row: None
    elif path.suffix.lower() == ".parquet":
        with parquet_rows(path, columns, rows) as write:
            yield write
    else:
        write_csv(path, columns, rows)
        with path.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)

            def write_line(row: Row) -> None:
                writer.writerow(row)
                stream.flush()

            yield write_line


@contextmanager
def parquet_rows(
    path: Path, columns: list[str], rows: list[Row]
) -> Iterator[Callable[[Row], None]]:
    """Context manager that yields a function to append rows; a part gets its final name when
    complete.
    """
    folder, waiting, numbers, said = parts_of(path), [], itertools.count(), -math.inf
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()

    def flush() -> None:
        nonlocal said
        if waiting:
            name = folder / f"{next(numbers):06d}.parquet"
            save(name.with_suffix(".open"), columns, waiting)
            name.with_suffix(".open").rename(name)
            waiting.clear()
            said = time.monotonic()

    def write(row: Row) -> None:
        waiting.append(row)
        if len(waiting) >= PART and time.monotonic() - said >= PAUSE:
            flush()

    waiting += rows
    flush()
    try:
        yield write
    finally:
        flush()


def write_csv(path: Path, columns: list[str], rows: list[Row]) -> None:
    """Write all rows so far, atomically."""
    with opened(path) as stream:
        csv.writer(stream).writerows([columns, *rows])


def save(path: Path, columns: list[str], rows: list[Row]) -> None:
    arrow = parquet()
    data = {name: [row[k] for row in rows] for k, name in enumerate(columns)}
    schema = arrow.schema([(name, arrow.float64()) for name in columns])
    with whole_file(path) as draft:
        arrow.parquet.write_table(arrow.table(data, schema=schema), draft)


def finish(path: Path | None, columns: list[str], rows: list[Row]) -> None:
    """Write the complete file in the order of the cases."""
    if path is None:
        return
    if path.suffix.lower() == ".parquet":
        save(path, columns, rows)
        shutil.rmtree(parts_of(path), ignore_errors=True)
    else:
        write_csv(path, columns, rows)


def mark_file(path: Path) -> Path:
    """Return the file beside the rows that identifies their study."""
    return path.with_name(f"{path.name}.study")


def marks_of(wanted: Study) -> dict[str, str]:
    """Return hashes of what the rows of a study depend on besides the varied values: the mechanism
    with its files, and every option of its runs.
    """
    return marks(wanted.source(), **{f"[run] {key}": each for key, each in wanted.run.items()})


def sign(path: Path | None, wanted: Study) -> None:
    """Write the file that identifies the study of the rows, so that --resume reuses rows of the
    same study only.
    """
    if path is not None:
        write_text(mark_file(path), json.dumps({"kinetree study": marks_of(wanted)}, indent=1))


def check_same(path: Path, wanted: Study) -> None:
    """Raise BadInput if the rows belong to another study, with the differences."""
    now = marks_of(wanted)
    try:
        then = json.loads(mark_file(path).read_text(encoding="utf-8"))["kinetree study"]
        other = sorted(name for name in {*then, *now} if then.get(name) != now.get(name))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(
            f"--resume {path}: nothing tells of which study its rows are ({mark_file(path).name} is not there); run without --resume"
        ) from None
    if other:
        raise BadInput(
            f"--resume {path}: its rows were computed with another {', '.join(other)}; run without --resume, or take another --output"
        )


def kept_rows(path: Path, wanted: Study) -> list[Row]:
    """Return the rows of an interrupted run of this study; an incomplete last line is left out."""
    head, lines = lines_of(path)
    if head is None:
        return []
    if head != wanted.columns():
        raise BadInput(f"--resume {path}: its columns are not those of this study")
    known = {tuple(case.values()) for case in wanted.cases()}
    count = len(wanted.vary)
    kept = [row for row in lines if len(row) == len(head) and tuple(row[:count]) in known]
    if kept:
        check_same(path, wanted)
    return kept


def lines_of(path: Path) -> tuple[list[str] | None, list[Row]]:
    """Return columns and complete rows of a row file; columns are None without a file."""
    if path.suffix.lower() == ".parquet":
        found = [path] if path.exists() else sorted(parts_of(path).glob("*.parquet"))
        tables = [parquet().parquet.read_table(each) for each in found]
        if not tables:
            return None, []
        return tables[0].column_names, [
            list(row)
            for table in tables
            for row in zip(*(table[name].to_pylist() for name in table.column_names))
        ]
    if not path.exists():
        return None, []
    with path.open(newline="", encoding="utf-8") as stream:
        whole = [line for line in stream if line.endswith("\n")]
    if not whole:
        return None, []
    head, *lines = csv.reader(whole)
    rows = []
    for line in lines:
        try:
            rows.append([float(cell) for cell in line])
        except ValueError:
            continue
    return head, rows


def remaining(wanted: Study, rows: list[Row]) -> list[dict[str, float]]:
    """Return the indices of cases without a row."""
    if not rows:
        return list(wanted.cases())
    done = {tuple(row[: len(wanted.vary)]) for row in rows}
    return [case for case in wanted.cases() if tuple(case.values()) not in done]


def in_order(wanted: Study, rows: list[Row]) -> list[Row]:
    """Return rows in the order of the cases instead of the order of completion."""
    found = {tuple(row[: len(wanted.vary)]): row for row in rows}
    return [
        found[case] for case in (tuple(each.values()) for each in wanted.cases()) if case in found
    ]
