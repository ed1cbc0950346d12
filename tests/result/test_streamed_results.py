"""Rows that go to a file while a run goes on."""

import errno
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.result import parquet_stream as streams
from kinetree.models.result import result as results
from kinetree.scripts import cli

parquet = pytest.importorskip("pyarrow.parquet")
SPINNING = {
    "gravity": [0, 0, 0],
    "bodies": {"top": {"mass": 1.0, "inertia": [1.0, 2.0, 3.0, 0, 0, 0]}},
    "joints": {"J": {"child": "top", "type": "spherical", "speed": [6.0, 0.1, 5.0]}},
    "outputs": {
        "e": {"quantity": "orientation", "body": "top"},
        "energy": {"quantity": "kinetic_energy"},
    },
}


@pytest.fixture
def short_groups(monkeypatch):
    monkeypatch.setattr(results, "CHUNK", 50)


def test_streamed_run_equals_run_in_memory(tmp_path: Path, short_groups):
    """Every column of file and result to the last bit, orientations continuous over the ends of row groups, as many groups as it takes."""
    system = load(SPINNING).compile()
    plain = system.simulate(stop_time=12.3, output_step=0.05)
    streamed = system.simulate(stop_time=12.3, output_step=0.05, stream=tmp_path / "r.parquet")
    file = parquet.ParquetFile(tmp_path / "r.parquet")
    assert file.num_row_groups == 5 and file.metadata.num_rows == len(plain) == 247
    table = file.read()
    assert table.column_names == ["time", *plain.names] and table.schema.field(
        "energy"
    ).metadata == {b"unit": b"J"}
    for name in table.column_names:
        assert np.array_equal(table[name].to_numpy(), plain[name], equal_nan=True), name
        assert np.array_equal(streamed[name], plain[name], equal_nan=True), name
    turns = np.column_stack([table[f"e[{k}]"].to_numpy() for k in range(1, 5)])
    assert (np.sum(turns[1:] * turns[:-1], axis=1) > 0.9).all() and turns.min() < -0.5


def test_failed_run_leaves_readable_parquet(tmp_path: Path, short_groups):
    """The file is closed and can be read up to the last row before the error."""
    law = {"coordinate": "x", "value": "-sqrt(1 - t)"}
    joint = {"child": "a", "type": "prismatic", "axis": "x", "coordinates": ["x"]}
    system = load(
        {"bodies": {"a": {"mass": 1.0}}, "joints": {"J": joint}, "forces": {"f": law}}
    ).compile()
    with pytest.raises(ArithmeticError) as caught:
        system.simulate(stop_time=2.0, output_step=0.01, stream=tmp_path / "r.parquet")
    table = parquet.read_table(tmp_path / "r.parquet")
    rows = len(caught.value.result)
    assert (
        90 < rows == table.num_rows and table["time"].to_numpy()[-1] == caught.value.result.time[-1]
    )


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--stream"], "not given"),
        (["--stream", "-o", "r.csv"], "r.csv"),
        (["--columns", "q1"], "--columns"),
    ],
)
def test_invalid_stream_options_are_refused(arguments, said, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    more = arguments if "--stream" in arguments else ["--stream", "-o", "r.parquet", *arguments]
    assert cli.main(["run", "lib:double-pendulum", "--stop-time", "0.1", *more]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("beginning", [True, False])
def test_full_disk_error_names_the_file(tmp_path: Path, short_groups, monkeypatch, beginning: bool):
    """No row is written to a place that the disk does not have; what was written before stays."""
    asked = []

    def allocate(file: int, offset: int, length: int) -> None:
        asked.append(length)
        if beginning or len(asked) > 2:
            raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(streams, "allocate", allocate)
    monkeypatch.setattr(streams, "RESERVE", 60 * 8 * 20)
    system, path = load(SPINNING).compile(), tmp_path / "r.parquet"
    with pytest.raises(OSError) as caught:
        system.simulate(stop_time=12.3, output_step=0.05, stream=path)
    assert caught.value.errno == errno.ENOSPC and caught.value.filename == str(path)
    assert parquet.read_table(path).num_rows == (0 if beginning else 100)
    assert len(list(tmp_path.iterdir())) == 1


def test_disk_space_is_reserved_before_rows_are_written(tmp_path: Path, short_groups, monkeypatch):
    monkeypatch.setattr(streams, "RESERVE", 1)
    reserved, allocate = [0], streams.allocate

    def noted(file: int, offset: int, length: int) -> None:
        assert offset == reserved[-1] and length > 0
        reserved.append(offset + length)
        allocate(file, offset, length)

    monkeypatch.setattr(streams, "allocate", noted)
    system = load(SPINNING).compile()
    result = system.simulate(stop_time=2.0, output_step=0.05, stream=tmp_path / "r.parquet")
    assert reserved[-1] >= 8 * len(result.names) * len(result)
