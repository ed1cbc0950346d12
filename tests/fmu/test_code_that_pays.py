"""Native archives take straight-line code by themselves where it pays, and the engine where it cannot be made, which is said."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.solvers.library.platforms import this_platform

HERE = this_platform()
pytestmark = pytest.mark.skipif(HERE is None, reason="this machine has no native FMU")
FALLING: dict[str, Any] = {
    "format": "kinetree/1",
    "name": "rod",
    "gravity": [0, 0, -9.81],
    "bodies": {"rod": {"mass": 1.0, "com": [0.3, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
    "joints": {
        "lift": {"child": "rod", "type": "prismatic", "axis": "z", "start": [0.05]},
    },
}
DOUBLE = FALLING | {
    "bodies": FALLING["bodies"] | {"end": FALLING["bodies"]["rod"]},
    "joints": {
        "one": {"child": "rod", "type": "revolute", "axis": "y", "start": [0.4]},
        "two": {
            "parent": "rod",
            "child": "end",
            "type": "revolute",
            "axis": "y",
            "at": [0.6, 0, 0],
        },
    },
}
LOCKING = DOUBLE | {
    "stages": [{"name": "both", "ends": {"at": 0.045}, "lock": ["two"]}, {"name": "one"}]
}
TOUCHING = FALLING | {
    "contacts": {"floor": {"body": "rod", "on": "ground", "normal": "z", "restitution": 0.5}}
}


def packed(
    mechanism: dict[str, Any], path: Path, specialised: bool | None = None
) -> tuple[bool, list[str]]:
    """Build an archive; return whether it carries straight-line code, and what was said about it."""
    said: list[str] = []
    assert HERE is not None
    build_fmu(
        load(mechanism),
        path,
        "native",
        2,
        platforms=[HERE.name],
        say=said.append,
        specialised=specialised,
    )
    with zipfile.ZipFile(path) as archive:
        options = json.loads(archive.read("resources/options.json"))
    told = [each for each in said if each.startswith(("the engine", "straight-line code"))]
    return bool(options.get("specialised")), told


def motion(path: Path, name: str) -> np.ndarray:
    """Return a variable at ten steps of 10 ms."""
    with Archive(path) as archive:
        host, found = Host(archive).start(), []
        for k in range(10):
            host.step(0.01 * (k + 1))
            found += host.get([name])
        host.close()
    return np.array(found)


@pytest.mark.parametrize("mechanism", [DOUBLE, LOCKING], ids=["two rods", "a stage that locks one"])
def test_archive_takes_code_that_pays(mechanism: dict[str, Any], tmp_path: Path):
    """Two rods get straight-line code, which moves them as the engine does, also where a stage ends
    between two steps of the host; asked for the engine, none.
    """
    own, told = packed(mechanism, tmp_path / "own.fmu")
    assert own and len(told) == 1 and told[0].startswith("straight-line code")
    assert packed(mechanism, tmp_path / "engine.fmu", False) == (False, [])
    expected = motion(tmp_path / "engine.fmu", "two.angle")
    assert motion(tmp_path / "own.fmu", "two.angle") == pytest.approx(expected, abs=1e-9)
    if mechanism is LOCKING:
        assert np.ptp(expected[5:]) == 0.0 and np.ptp(expected[:4]) > 1e-3


@pytest.mark.parametrize("tool", ["", "false"], ids=["no compiler", "a compiler that fails"])
def test_archive_stays_with_the_engine_where_code_cannot_be_made(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """No compiler, or one that ends with an error: the engine in the archive, and one sentence why."""
    packed(FALLING, tmp_path / "engine.fmu", False)  # the shell is built by the working compiler
    monkeypatch.setenv("CC", tool)
    if not tool:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr("kinetree.solvers.library.c_compiler.has_zig", lambda: False)
    own, told = packed(DOUBLE, tmp_path / "left.fmu")
    assert not own and len(told) == 1 and told[0].startswith("the engine: ")
    monkeypatch.undo()
    packed(DOUBLE, tmp_path / "asked.fmu", False)
    expected = motion(tmp_path / "asked.fmu", "two.angle")
    np.testing.assert_array_equal(motion(tmp_path / "left.fmu", "two.angle"), expected)


def test_archive_with_contacts_stays_with_the_engine(tmp_path: Path):
    """Contacts have no straight-line code: the archive is made all the same, and why is said."""
    own, told = packed(TOUCHING, tmp_path / "touching.fmu")
    assert not own and len(told) == 1 and told[0].startswith("the engine") and "contacts" in told[0]
    assert motion(tmp_path / "touching.fmu", "lift.s").min() > -1e-6
