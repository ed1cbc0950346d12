"""Files of others end in bounded time and memory, in one line: archives, macros, copies, chains, meshes, pipes, tables, damaged files."""

import json
import os
import subprocess
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.models.description.step_files import read_step
from kinetree.models.language.plain_files import apart, fault_of
from kinetree.models.language.read_files import read_columns
from kinetree.models.scene.shapes import read_mesh
from kinetree.scripts import cli
from kinetree.scripts.fmi.fmpy_host import Archive
from kinetree.scripts.terminal.error_messages import BadInput

HINGE = '<joint type="hinge"/><geom size="0.1"/>'


def one_line(said: str, *words: str) -> None:
    assert len(said.strip().splitlines()) == 1 and "defect" not in said, said
    for word in words:
        assert word in said, said


@pytest.mark.parametrize("what", ["bomb", "up"])
def test_unsafe_archive_is_not_unpacked(what: str, tmp_path: Path, capsys: pytest.CaptureFixture):
    """Few bytes that would become many, and names that lead out: nothing of it reaches the disk."""
    path = tmp_path / "a" / "x.fmu"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", "<fmiModelDescription/>")
        if what == "bomb":
            archive.writestr("resources/zeros", bytes(120_000_000))
        else:
            archive.writestr("../../escaped.txt", "out")
    said = "would become" if what == "bomb" else "leads out"
    assert cli.main(["verify", str(path)]) == 2
    one_line(capsys.readouterr().err, said)
    with pytest.raises(BadInput, match=said):
        Archive(path)
    assert not list(tmp_path.rglob("escaped.txt"))


XACRO = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'


@pytest.mark.parametrize("how", ["for ever", "doubling"])
def test_endless_macros_are_refused(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """One that calls itself, and thirty that call the one below twice."""
    pytest.importorskip("xacro")
    pytest.importorskip("yourdfpy")
    monkeypatch.setattr("kinetree.models.foreign.xacro_text.SECONDS", 4.0)
    if how == "for ever":
        text = (
            '<xacro:macro name="m" params="n"><xacro:m n="${n+1}"/></xacro:macro><xacro:m n="0"/>'
        )
    else:
        text = '<xacro:macro name="m0"><link name="a"/></xacro:macro>'
        for k in range(1, 31):
            text += f'<xacro:macro name="m{k}"><xacro:m{k - 1}/><xacro:m{k - 1}/></xacro:macro>'
        text += "<xacro:m30/>"
    path = tmp_path / "r.xacro"
    path.write_text(XACRO.format(text))
    begun = time.monotonic()
    with pytest.raises(ModelError, match="without an end|recursion|after 4 s"):
        load(path)
    assert time.monotonic() - begun < 30.0


@pytest.mark.parametrize(
    "text",
    [
        f'<replicate count="100000000" offset="1 0 0"><body>{HINGE}</body></replicate>',
        f'<replicate count="10000"><replicate count="10000"><body>{HINGE}</body></replicate></replicate>',
        '<composite type="cable" count="1000000000 1 1"/>',
        '<replicate count="1000"><include file="many.xml"/></replicate>',
    ],
    ids=["copies", "copies of copies", "composite", "included"],
)
def test_too_many_copies_are_refused(text: str, tmp_path: Path):
    pytest.importorskip("mujoco")
    path = tmp_path / "m.xml"
    path.write_text(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
    many = "".join(f'<body name="b{k}"/>' for k in range(1000))
    (tmp_path / "many.xml").write_text(f"<mujocoinclude>{many}</mujocoinclude>")
    begun = time.monotonic()
    with pytest.raises(ModelError, match="with all copies.*at most"):
        load(path)
    assert time.monotonic() - begun < 20.0


@pytest.mark.slow
def test_chain_of_ten_thousand_links_is_read(tmp_path: Path):
    """Names and carried links are looked up, not searched; one link more is refused."""
    pytest.importorskip("yourdfpy")
    path = tmp_path / "chain.urdf"
    for count in (10_000, 10_001):
        inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
        parts = ['<robot name="r"><link name="l0"/>']
        for k in range(1, count):
            parts.append(
                f'<link name="l{k}"><inertial><mass value="1"/>{inertia}</inertial></link>'
                f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/></joint>'
            )
        path.write_text("".join([*parts, "</robot>"]))
        begun = time.monotonic()
        if count == 10_000:
            assert len(load(path).description.joints) == 9_999
        else:
            with pytest.raises(ModelError, match="10001 links"):
                load(path)
        assert time.monotonic() - begun < 120.0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are those of POSIX")
@pytest.mark.parametrize("name", ["m.toml", "m.json", "m.urdf", "m.xml", "m.xacro"])
def test_pipe_as_mechanism_file_is_refused(name: str, tmp_path: Path):
    os.mkfifo(tmp_path / name)
    with pytest.raises(ModelError, match="no plain file|no file of that name|end"):
        load(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are those of POSIX")
@pytest.mark.parametrize("ending", ["csv", "parquet", "h5", "mat"])
def test_pipe_and_endless_file_as_table_are_refused(ending: str, tmp_path: Path):
    path = tmp_path / f"t.{ending}"
    os.mkfifo(path)
    with pytest.raises(ValueError, match="no plain file"):
        read_columns(path)
    path.unlink()
    with path.open("wb") as stream:  # takes no room on the disk
        stream.truncate(5_000_000_000)
    with pytest.raises(ValueError, match="expected at most"):
        read_columns(path)


def test_a_study_that_is_a_pipe_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names")
    os.mkfifo(tmp_path / "s.toml")
    assert cli.main(["study", str(tmp_path / "s.toml")]) == 2
    one_line(capsys.readouterr().err, "s.toml", "no plain file")


def test_long_tables_are_read_in_parts(tmp_path: Path):
    """Numbers of all parts, units where they have a line of their own, a row that is too short anywhere."""
    path = tmp_path / "t.csv"
    rows = [f"{k},{0.5 * k}" for k in range(25_001)]
    path.write_text("\n".join(["t,x", "s,m", *rows]) + "\n")
    found = read_columns(path)
    np.testing.assert_array_equal(found["x"][0], 0.5 * np.arange(25_001))
    assert found["t"][1] == "s" and found["x"][1] == "m"
    path.write_text("\n".join(["t,x", *rows, "3"]) + "\n")
    with pytest.raises(ValueError, match="cannot be read as csv"):
        read_columns(path)


def test_hdf5_with_wrong_or_endless_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A column of 10^12 numbers of which none is stored; a file that keeps its reader busy."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "t.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", shape=(10**12,), chunks=(1000,), dtype="f8")
    with pytest.raises(ValueError, match="bytes, expected at most"):
        read_columns(path)
    with h5py.File(path, "w") as file:
        file["x"], file["t"] = np.arange(5.0), np.arange(5.0)
    assert list(read_columns(path)["x"][0]) == [0.0, 1.0, 2.0, 3.0, 4.0]
    monkeypatch.setattr("kinetree.models.language.read_files.SECONDS", 0.01)
    with pytest.raises(ValueError, match="not read after"):
        read_columns(path)


def test_work_in_another_process_ends_in_time_with_result_or_reason():
    assert apart("math", "hypot", 3.0, 4.0, seconds=60.0) == 5.0
    with pytest.raises(ValueError, match="math domain error"):
        apart("math", "sqrt", -1.0, seconds=60.0)
    with pytest.raises(ValueError, match="after 0.5 s"):
        apart("time", "sleep", 60.0, seconds=0.5)
    with pytest.raises(ValueError, match="ended by itself"):
        apart("os", "_exit", 3, seconds=60.0)


@pytest.mark.parametrize("make", [lambda p: p.write_bytes(bytes(1)), lambda p: p.mkdir()])
def test_plain_files_are_recognised(make: Callable[[Path], object], tmp_path: Path):
    make(tmp_path / "x")
    assert bool(fault_of(tmp_path / "x", 1)) == (tmp_path / "x").is_dir()


@pytest.mark.parametrize("name", ["huge.stl", "packed.zip"])
def test_oversized_mesh_is_refused(name: str, tmp_path: Path):
    pytest.importorskip("trimesh")
    with (tmp_path / name).open("wb") as stream:
        stream.truncate(3_000_000_000)
    with pytest.raises(ModelError, match="bytes, expected at most|an archive"):
        read_mesh(tmp_path / name, 1.0)


@pytest.mark.parametrize(("count", "offers"), [(8, True), (20_000, False)])
def test_step_file_with_many_holes_is_read_in_linear_time(
    count: int, offers: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Twenty thousand holes are two hundred million pairs: the part is read, and that they are not compared is said."""
    holes = [
        [[0.01 * k, 0, 0], [0, 0, 1], 0.003, 0, 0.01, 6.283185307179586, True] for k in range(count)
    ]
    solid = {
        "name": "sieve", "volume": 1e-3, "com": [0, 0, 0], "inertia": [1e-6, 0, 0, 0, 1e-6, 0, 0, 0, 1e-6],
        "cylinders": holes, "points": [], "triangles": [],
    }  # fmt: skip
    told = json.dumps({"solids": [solid], "left_out": []}).encode()
    monkeypatch.setattr(
        "kinetree.models.description.step_files.subprocess.run",
        lambda *_, **__: subprocess.CompletedProcess([], 0, b"\x1e" + told, b""),
    )
    path = tmp_path / f"sieve{count}.step"
    path.write_text("ISO-10303-21;")
    file = read_step(path)
    assert len(file.solids[0].cylinders) == (count if offers else 0)
    assert bool(file.left_out) != offers
