"""The plant of a run in the loop over an archive made by hand: what is looked up before, what is called in a step, and how it ends."""

import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fmpy.fmi1 import FMICallException
from plant_stand_in import scenario

from kinetree import models
from kinetree.fmu.archive import build
from kinetree.scripts.hil import plant
from kinetree.scripts.terminal.error_messages import BadInput


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is done with an archive of y, u and m, whose values are 2, 4, ..."""
    done: list[Any] = []

    def get(component: int, references: Any, count: int, values: Any) -> None:
        values[:] = [2.0 * (k + 1) for k in range(count)]
        done.append(("get", component, list(references), count))

    fmu = SimpleNamespace(
        component=17, fmi2GetReal=get, terminate=lambda: done.append("terminate"), freeInstance=lambda: done.append("free"),
        fmi2SetReal=lambda component, references, count, values: done.append(("set", component, list(references), count, list(values))),
        fmi2DoStep=lambda *given: done.append(("step", *given)),
    )  # fmt: skip

    class Archive:
        def __init__(self, path: Path):
            self.references, self.version = (
                {"y": 3, "u": 5, "m": 7},
                3 if "three" in path.name else 2,
            )
            units = {"y": "m", "u": "N", "m": None}
            self.description = SimpleNamespace(
                modelVariables=[SimpleNamespace(name=n, unit=u) for n, u in units.items()]
            )

        def __exit__(self, *reason: object) -> None:
            done.append("removed")

    monkeypatch.setattr(plant, "Archive", Archive)
    monkeypatch.setattr(
        plant,
        "Host",
        lambda archive: SimpleNamespace(
            fmu=fmu, messages=["it is empty"], start=lambda values: done.append(("start", values))
        ),
    )
    monkeypatch.setattr(models, "load", lambda source: source)
    monkeypatch.setattr(
        build,
        "build_fmu",
        lambda mechanism, path, *more, **_: (
            done.append((mechanism, *more)),
            path.write_text(""),
        )[0],
    )
    return done


def test_hil_plant_is_packed_and_stepped(log: list[Any]):
    asked = scenario()
    asked.values, asked.commands, asked.loops = {"m": 2.5}, ["u", "m"], []
    with plant.Plant(asked) as found:
        folder = Path(found.folder.name)
        assert (
            log == [("m", "native", "2"), ("start", {"m": 2.5})]
            and folder.is_dir()
            and (found.time, found.component) == (0.0, 17)
        )
        assert found.units == {"y": "m", "u": "N"}
        log.clear()
        assert found.measures() == (2.0,)
        found.command((1.5, -2.0))
        found.advance(0.25)
        found.advance(0.75)
        assert log == [
            ("get", 17, [3], 1),
            ("set", 17, [5, 7], 2, [1.5, -2.0]),
            ("step", 17, 0.0, 0.25, 1),
            ("step", 17, 0.25, 0.5, 1),
        ]
        assert found.time == 0.75
        log.clear()
    assert log == ["terminate", "free", "removed"] and not folder.exists()
    assert isinstance(plant.array([1, 2]), ctypes.Array) and list(plant.array([1, 2])) == [1, 2]


def test_unsuitable_plant_fmu_is_refused_by_name(log: list[Any], tmp_path: Path):
    asked = scenario()
    for name, there, said in (
        ("three.fmu", True, "FMI 3: expected an FMU of version 2"),
        ("a.fmu", False, "no such file: .*a.fmu"),
    ):
        asked.fmu = tmp_path / name
        if there:
            asked.fmu.write_text("")
        with pytest.raises(BadInput, match=said), plant.Plant(asked):
            pass
    asked.fmu.write_text("")
    for field, value, said in (
        ("measures", ["z"], "'z'"),
        ("commands", ["uu"], "'uu'; did you mean 'u'"),
        ("values", {"n": 1.0}, "'n'"),
    ):
        asked = scenario()
        asked.fmu = tmp_path / "a.fmu"
        setattr(asked, field, value)
        with (
            pytest.raises(BadInput, match=f"s.toml: the FMU has no variable {said}"),
            plant.Plant(asked),
        ):
            pass
    assert log == []


def test_fmu_failure_message_is_included(log: list[Any], monkeypatch: pytest.MonkeyPatch):
    """Its last words beside the call that failed; what refuses to end is freed all the same."""
    with (
        pytest.raises(ArithmeticError, match="fmi2DoStep failed with status 3.*: it is empty"),
        plant.Plant(scenario()) as found,
    ):

        def refuses() -> None:
            raise ValueError

        found.host.fmu.terminate = refuses
        raise FMICallException(function="fmi2DoStep", status=3)
    assert log[-2:] == ["free", "removed"]
    with pytest.raises(FMICallException), plant.Plant(scenario()) as found:
        found.host.messages.clear()
        raise FMICallException(function="fmi2DoStep", status=3)
    with pytest.raises(KeyError), plant.Plant(scenario()):
        raise KeyError
