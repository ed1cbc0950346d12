"""A parameter that a host sets before the start is the same parameter in the file: every parameter of every mechanism that ships, one step on."""

from typing import Any

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.unit import Parameter, fmu_unit
from kinetree.models import ModelError, load
from kinetree.models.description.reading.read_source import library_names
from kinetree.models.system.mechanism import Mechanism
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.in_process_reference import InProcess

STEP = 0.01
SLOW = ("carrier", "carrier-detailed", "truck", "quadruped", "puma560")
NAMES = [
    pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in library_names()
]
COUNTED = ("steps", "residual")  # of names that tell how the motion was found
SAME = 1e-9  # relative to 1 or the value: the numbers of both are the same but for what is folded where the file is read


def another(parameter: Parameter) -> float:
    """A value near the given one, within its bounds."""
    value = 0.99 * parameter.value if parameter.value else 0.01
    low, high = (
        (-np.inf if parameter.min is None else parameter.min),
        (np.inf if parameter.max is None else parameter.max),
    )
    return value if low <= value <= high else 1.01 * parameter.value


def changes(unit: Any) -> dict[str, float]:
    """New values of all parameters that hosts may set; a run that is prepared keeps what is 0: there is no rest on another slope."""
    settable = [each for each in unit.parameters if not each.computed and not each.frozen]
    return {
        each.name: another(each)
        for each in settable
        if each.value or not unit.description.run.prepare
    }


def prepared(mechanism: Mechanism, unit: Any) -> dict[str, float]:
    """Start values of the file where it begins at a state of rest, which hosts have to give."""
    return (
        {each.name: each.start for each in unit.states if np.isfinite(each.start)}
        if mechanism.description.run.prepare
        else {}
    )


def ends(device: InProcess, names: list[str]) -> np.ndarray:
    """Values at the start and after a step."""
    first = device.get(names)
    device.step(STEP)
    return np.array(first + device.get(names))


def worst(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference; a value that is none in one of them alone differs."""
    both = np.isnan(found) & np.isnan(expected)
    return float(
        np.where(both, 0.0, np.abs(found - expected) / (1.0 + np.abs(expected))).max(initial=0.0)
    )


def accepted(name: str, given: dict[str, float]) -> list[dict[str, float]]:
    """Changes that the file takes together: halves of those that do not fit each other, nothing of one that it refuses alone."""
    try:
        load(f"lib:{name}", **given)
        return [given]
    except ModelError:
        each = [*given.items()]
        half = len(each) // 2
        return (
            [part for some in (each[:half], each[half:]) for part in accepted(name, dict(some))]
            if half
            else []
        )


@pytest.mark.parametrize("name", NAMES)
def test_host_parameter_equals_file_parameter(name: str):
    unit = fmu_unit(load(f"lib:{name}"))
    wanted = changes(unit)
    parts = accepted(name, wanted)
    assert sum(len(part) for part in parts) >= 0.9 * len(wanted)
    for given in parts:
        same_in_both(name, unit, given)


def same_in_both(name: str, unit: Any, given: dict[str, float]) -> None:
    """One step of the original with what a host sets, and of the changed file."""
    mechanism = load(f"lib:{name}", **given)
    device, other = InProcess(unit), InProcess(fmu_unit(mechanism))
    names = [
        each
        for each in device.places
        if each in other.places and not any(word in each for word in COUNTED)
    ]
    found = ends(device.start(given | prepared(mechanism, other.unit)), names)
    expected = ends(other.start(), names)
    assert worst(found, expected) <= SAME, names[
        int(np.nanargmax(np.abs(found - expected))) % len(names)
    ]
    if given:  # the change is seen at all
        assert worst(ends(InProcess(unit).start(), names), expected) > SAME


@pytest.mark.parametrize(
    "name",
    [
        "excavator",
        pytest.param("mobile-robot", marks=pytest.mark.slow),
        pytest.param("regulator", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("version", [2, 3])
def test_host_parameter_equals_file_parameter_in_native_archives(name: str, version: int, tmp_path):
    """Through the shell, by the functions of the standard."""
    mechanism = load(f"lib:{name}")
    given = changes(fmu_unit(mechanism))
    other = InProcess(fmu_unit(load(f"lib:{name}", **given)))
    with Archive(build_fmu(mechanism, tmp_path / "m.fmu", "native", version)) as archive:
        names = [
            each
            for each in archive.reals
            if each in other.places and not any(word in each for word in COUNTED)
        ]
        host = Host(archive).start(given)
        found = host.get(names)
        host.step(STEP)
        found += host.get(names)
        host.close()
    assert worst(np.array(found), ends(other.start(), names)) <= SAME
