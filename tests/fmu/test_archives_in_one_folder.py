"""OpenModelica imports into its work folder: an archive unpacked over another leaves its description, binary and model there."""

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.solvers.library.platforms import this_platform

HERE = this_platform()
pytestmark = pytest.mark.skipif(HERE is None, reason="this machine has no native FMU")
STEP, COUNT = 0.01, 30
SLIDER = {
    "format": "kinetree/1",
    "name": "Same name",
    "gravity": [0, 0, -9.81],
    "parameters": {"k": 5.0},
    "bodies": {"slider": {"mass": 2.0}},
    "joints": {
        "j": {
            "child": "slider",
            "transforms": [{"shift": "z", "coordinate": "h", "start": 1.0}],
        }
    },
    "forces": {"spring": {"coordinate": "h", "value": "-k*h"}},
}
PENDULUM = SLIDER | {
    "bodies": SLIDER["bodies"]
    | {"rod": {"mass": 1.0, "com": [0.3, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
    "joints": SLIDER["joints"]
    | {
        "q": {
            "parent": "slider",
            "child": "rod",
            "transforms": [{"rotate": "y", "coordinate": "phi", "start": 0.5}],
        }
    },
}


def motion(archive: Archive, messages: list[str]) -> np.ndarray:
    """Height and speed at all steps."""
    host, rows = Host(archive, messages).start(), []
    for k in range(COUNT):
        host.step((k + 1) * STEP)
        rows.append(host.get(["h", "der(h)"]))
    host.close()
    return np.array(rows)


@pytest.mark.parametrize("specialised", [False, True])
def test_importing_an_archive_does_not_change_an_earlier_block(specialised: bool, tmp_path: Path):
    """The block that was imported first finds its model by its token; code of the last one's equations is not run on it."""
    assert HERE is not None
    first, last = tmp_path / "first.fmu", tmp_path / "last.fmu"
    build_fmu(load(SLIDER), first, "native", 2, platforms=[HERE.name])
    build_fmu(load(PENDULUM), last, "native", 2, platforms=[HERE.name], specialised=specialised)
    with Archive(first) as archive:
        expected = motion(archive, [])
        folder, messages = tmp_path / "work", list[str]()
        shutil.copytree(archive.folder, folder)
        with zipfile.ZipFile(last) as file:
            file.extractall(folder)
        archive.folder = str(folder)
        np.testing.assert_array_equal(motion(archive, messages), expected)
    assert specialised == any("another model" in message for message in messages)


def test_page_recommends_separate_folders_for_imports():
    """The description that OpenModelica reads there when the model runs is that of the last one, which no FMU can mend."""
    page = Path(__file__).parents[2] / "docs" / "openmodelica.md"
    assert "Make a folder for this FMU alone" in page.read_text(encoding="utf-8")
