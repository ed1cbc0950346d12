"""What needs a package that is not there says which one and how it is installed, before anything is written."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.models import ModelError
from kinetree.models.foreign import urdf
from kinetree.models.foreign.mjcf import describe
from kinetree.models.foreign.xacro_text import expanded
from kinetree.models.result import plots
from kinetree.models.result.data_frames import to_dataframe, to_xarray
from kinetree.models.scene import overlays
from kinetree.models.scene.shapes import extruded, read_mesh, signed_area, triangulated
from kinetree.models.scene.video import write_video
from kinetree.scripts.reports.study_page import write_page
from kinetree.scripts.studies import study_row_file as rows_file
from kinetree.scripts.studies import study_rows as rows
from kinetree.scripts.studies.ipopt import ipopt
from kinetree.scripts.terminal.error_messages import BadInput

RESULT: Any = SimpleNamespace(time=np.zeros(1), name="r", stage_names=())


@pytest.mark.parametrize(
    ("package", "call", "said"),
    [
        (
            "PIL",
            lambda folder: overlays.tools(),
            r"films and pictures need Pillow: pip install kinetree\[view\]",
        ),
        (
            "pandas",
            lambda folder: to_dataframe(RESULT, ()),
            r"data frames need pandas: pip install kinetree\[tables\]",
        ),
        (
            "xarray",
            lambda folder: to_xarray(RESULT, ()),
            r"data sets need xarray: pip install kinetree\[tables\]",
        ),
        (
            "imageio_ffmpeg",
            lambda folder: write_video({}, folder / "f.mp4"),
            r"films need imageio-ffmpeg: pip install kinetree\[films\]",
        ),
        (
            "trimesh",
            lambda folder: read_mesh(folder / "m.stl", 1.0),
            r"m.stl: meshes need trimesh: pip install kinetree\[view\]",
        ),
        (
            "xacro",
            lambda folder: expanded(folder / "r.xacro"),
            r"needs the package xacro.*pip install kinetree\[robots\]",
        ),
        (
            "mujoco",
            lambda folder: describe(folder / "r.xml"),
            r"needs the package mujoco.*pip install kinetree\[robots\]",
        ),
        (
            "yourdfpy",
            lambda folder: urdf.parsed(folder / "r.urdf"),
            r"needs the package yourdfpy.*pip install kinetree\[robots\]",
        ),
        (
            "jinja2",
            lambda folder: write_page(folder / "p.html", "title", ()),
            r"reports need jinja2: pip install 'kinetree\[studies\]'",
        ),
        (
            "pyarrow",
            lambda folder: rows_file.parquet(),
            r"Parquet needs pyarrow: pip install 'kinetree\[cluster\]'",
        ),
        (
            "dask",
            lambda folder: list(rows.on_cluster("", RESULT, {}, (), "", print, 0)),
            r"--cluster needs dask: pip install 'kinetree\[cluster\]'",
        ),
        (
            "matplotlib",
            lambda folder: plots.plot(RESULT),
            r"plots need matplotlib: pip install kinetree\[plots\]",
        ),
        (
            "casadi",
            lambda folder: ipopt(RESULT, np.zeros(1), 1.0),
            r"IPOPT comes with casadi: pip install 'kinetree\[optimize\]'",
        ),
    ],
)
def test_missing_package_is_named(
    package: str, call: Any, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    for name in [each for each in sys.modules if each.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises((ValueError, ModelError, BadInput)) as told:
        call(tmp_path)
    assert re.search(said, str(told.value).replace("\n", " ")) and not list(tmp_path.iterdir())


def test_glyphs_are_found_without_extra_packages(monkeypatch: pytest.MonkeyPatch):
    """Pillow has some of its own, where neither matplotlib nor the machine has any."""
    monkeypatch.setattr(overlays, "find_spec", lambda name: None)
    monkeypatch.setattr(overlays, "FACES", ("there is no such file.ttf",))
    own = overlays.face.__wrapped__(20)
    assert own.getbbox("A")[2] > 5


def test_unreadable_meshes_are_reported(tmp_path: Path):
    pytest.importorskip("trimesh")
    with pytest.raises(ModelError, match="no such file"):
        read_mesh(tmp_path / "m.stl", 1.0)
    (tmp_path / "m.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n")
    found = read_mesh(tmp_path / "m.obj", 0.5)
    assert (
        sorted(found["points"]) == sorted([0.0] * 7 + [0.5, 1.0]) and len(found["triangles"]) == 3
    )
    for name, text in (
        ("m.stl", "no mesh at all"),
        ("m.ply", "ply\nformat ascii 1.0\nelement vertex x\nend_header\n"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(ModelError, match="mesh"):
            read_mesh(tmp_path / name, 1.0)


def test_outline_orientation_does_not_matter():
    """A prism is the same whichever way its outline runs; one that crosses itself is cut somewhere, into as many triangles."""
    square = [np.array(each, dtype=float) for each in ((0, 0), (1, 0), (1, 1), (0, 1))]
    for corners in (square, square[::-1]):
        points, triangles = (
            np.array(extruded(corners, 2.0)[key]) for key in ("points", "triangles")
        )
        a, b, c = np.moveaxis(points.reshape(-1, 3)[triangles.reshape(-1, 3)], 1, 0)
        assert np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6.0 == pytest.approx(2.0)
    crossing = np.array([square[0], square[2], square[1], square[3], [0.5, 3.0]])
    assert len(triangulated(crossing)) == 3 and signed_area(np.array(square)) == 1.0
