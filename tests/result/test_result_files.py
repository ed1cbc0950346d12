"""Files, tables and pages of plots of a staged run, read by foreign readers."""

import re
import struct
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import load

STAGED = {
    "format": "kinetree/1",
    "name": "two masses",
    "gravity": [0, 0, -9.81],
    "bodies": {"a": {"mass": 1.0}, "b": {"mass": 2.0}},
    "joints": {
        "ja": {"child": "a", "type": "prismatic", "axis": "z", "coordinates": ["za"], "start": 1.0},
        "jb": {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["xb"], "speed": 0.5},
    },
    "parameters": {"k": 50.0},
    "forces": {
        "spring": {"coordinate": "za", "stiffness": "k"},
        "second": {"coordinate": "xb", "stiffness": "k"},
    },
    "outputs": {"load": {"value": "force('spring')"}},
    "stages": [
        {"name": "first", "ends": {"at": 0.4}, "set": {"k": 80.0}},
        {"name": "second", "ends": {"after": 0.35}, "set": {"k": 20.0}},
        {"name": "third"},
    ],
}


@pytest.fixture(scope="module")
def staged():
    return load(STAGED).compile().simulate(stop_time=1.2, output_step=0.05, tolerance=1e-9)


def test_mat_files_are_read_by_scipy(staged, tmp_path: Path):
    """Version 4, binTrans as Modelica tools write it: names and descriptions down the columns, dataInfo pointing at rows of data_2."""
    loadmat = pytest.importorskip("scipy.io").loadmat
    staged.save(tmp_path / "r.mat", "all")
    assert struct.unpack("<5i", (tmp_path / "r.mat").read_bytes()[:20]) == (51, 4, 11, 0, 7)
    content = loadmat(tmp_path / "r.mat", chars_as_strings=False)
    assert "".join(content["Aclass"][3]).strip() == "binTrans"
    names = ["".join(column).rstrip() for column in content["name"].T]
    units = ["".join(column).rstrip() for column in content["description"].T]
    assert names == ["time", *staged.select("all")] and content["dataInfo"].shape == (4, len(names))
    for k, name in enumerate(names):
        table, row, *_ = content["dataInfo"][:, k]
        assert table == (2 if k else 0) and np.array_equal(
            content["data_2"][row - 1], staged[name], equal_nan=True
        )
        unit = staged.unit(name)
        assert units[k] == (f"[{unit}]" if unit else "")
    assert list(content["data_1"][0]) == [staged.time[0], staged.time[-1]]


def test_parquet_and_hdf5_keep_every_bit_and_unit(staged, tmp_path: Path):
    parquet, h5py = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("h5py")
    staged.save(tmp_path / "r.parquet", "all")
    staged.save(tmp_path / "r.h5", "all")
    table = parquet.read_table(tmp_path / "r.parquet")
    with h5py.File(tmp_path / "r.h5") as file:
        assert table.column_names == ["time", *staged.select("all")] and set(file) == set(
            table.column_names
        )
        assert file.attrs["name"] == "two masses"
        for name in table.column_names:
            assert np.array_equal(table[name].to_numpy(), staged[name], equal_nan=True)
            assert np.array_equal(file[name][:], staged[name], equal_nan=True)
            assert (
                file[name].attrs["unit"]
                == staged.unit(name)
                == table.schema.field(name).metadata[b"unit"].decode()
            )


def test_csv_keeps_every_digit(staged, tmp_path: Path):
    staged.to_csv(tmp_path / "r.csv", ["za", "load"], units=True)
    head, units, *rows = (line.split(",") for line in (tmp_path / "r.csv").read_text().splitlines())
    assert head == ["time", "za", "load"] and units == ["s", "m", staged.unit("load")]
    assert np.array_equal(np.array(rows, float), staged.array(head))


def test_unknown_file_suffixes_are_named(staged, tmp_path: Path):
    with pytest.raises(
        ValueError, match=r"r.xls: unknown ending '.xls', expected one of .csv, .parquet"
    ):
        staged.save(tmp_path / "r.xls")


def free_fall(z: float, v: float, k: float, t: float) -> tuple[float, float]:
    """z and its rate of the mass on its spring after t."""
    w, rest = np.sqrt(k), -9.81 / k
    c, s = np.cos(w * t), np.sin(w * t)
    return rest + (z - rest) * c + v / w * s, v * c - w * (z - rest) * s


def test_summary_tables_list_stages(staged):
    """One row per stage, at the instants of the events; deviations from the start of the run; sums over all stages; units beside them."""
    one = free_fall(1.0, 0.0, 50.0, 0.4)
    two = free_fall(*one, 80.0, 0.35)
    three = free_fall(*two, 20.0, 0.45)
    expected = {"start": [1.0, one[0], two[0]], "end": [one[0], two[0], three[0]]}
    parts = [staged["za"][staged["stage"] == number] - 1.0 for number in (0, 1, 2)]
    edges = ([0.0, one[0] - 1.0], [one[0] - 1.0, two[0] - 1.0], [two[0] - 1.0, three[0] - 1.0])
    expected["max_deviation"] = [
        max((*part, *edge), key=abs) for part, edge in zip(parts, edges, strict=True)
    ]
    for kind, values in expected.items():
        table = staged.table(kind)
        assert table["stages"] == ["first", "second", "third"]
        k = table["columns"].index("za")
        assert table["values"][:, k] == pytest.approx(values, abs=1e-7) and table["units"][k] == "m"
        assert table["mean"][k] == pytest.approx(np.mean(values), abs=1e-7)
        assert table["spread"][k] == pytest.approx(max(values) - min(values), abs=1e-7)
        assert table["standard_deviation"][k] == pytest.approx(np.std(values), abs=1e-7)
        away = np.array(values) - (0.0 if kind == "max_deviation" else 1.0)
        assert table["deviation"][k] == pytest.approx(np.sqrt(np.mean(away**2)), abs=1e-7)
    with pytest.raises(ValueError, match="unknown table 'middle'"):
        staged.table("middle")


@pytest.mark.parametrize("step", [0.3, 0.05, 0.0071])
def test_tables_do_not_depend_on_the_output_step(staged, step: float):
    """Values at the ends of stages are those of the instants: the same for every output step, in `result.table` and in the tables of the command."""
    from kinetree.scripts.reports.stage_tables import TITLES, tables

    other = load(STAGED).compile().simulate(stop_time=1.2, output_step=step, tolerance=1e-9)
    for kind in ("start", "end"):
        assert other.table(kind)["values"] == pytest.approx(staged.table(kind)["values"], abs=1e-7)
    for kind in TITLES:
        shown = tables(other, ["za"])[TITLES[kind]]
        table = other.table(kind)
        column = table["columns"].index("za")
        assert [row[1] for row in shown[2:5]] == [
            f"{value:.6g}" for value in table["values"][:, column]
        ]
        sums = [table[key][column] for key in ("mean", "standard_deviation", "deviation")]
        assert [row[1] for row in shown[5:8]] == [f"{value:.6g}" for value in sums]


@pytest.mark.parametrize("ending, sign", [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_plots_of_many_columns_have_pages(staged, tmp_path: Path, ending: str, sign: bytes):
    """Five columns, two per figure: three pages in files of their own, each with both marks of stages; the last page is half full."""
    pytest.importorskip("matplotlib")
    names = ["za", "der(za)", "xb", "load", "der(der(za))"]
    figures = staged.plot(tmp_path / f"p.{ending}", names, per_page=2)
    files = [tmp_path / f"p{part}.{ending}" for part in ("", "-2", "-3")]
    assert [len(figure.axes) for figure in figures] == [2, 2, 1] and sorted(
        tmp_path.iterdir()
    ) == sorted(files)
    assert all(file.read_bytes().startswith(sign) for file in files)
    axes = [axis for figure in figures for axis in figure.axes]
    for axis, name in zip(axes, names, strict=True):
        curve, *marks = axis.lines
        assert np.array_equal(curve.get_ydata(), staged[name]) and axis.get_ylabel().startswith(
            name
        )
        assert [mark.get_xdata()[0] for mark in marks] == pytest.approx([0.4, 0.75])
        assert [text.get_text() for text in axis.texts] == ["second", "third"]
    assert re.search(r"\[m/s2\]", axes[-1].get_ylabel())


def test_deviations_are_plotted(staged):
    pytest.importorskip("matplotlib")
    (figure,) = staged.plot(names=["za"], deviation=True)
    assert np.array_equal(figure.axes[0].lines[0].get_ydata(), staged["za"] - 1.0) and figure.axes[
        0
    ].get_ylabel().startswith("Δ za")
