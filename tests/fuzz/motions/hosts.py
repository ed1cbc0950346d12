"""Random mechanisms as units: stepped as a host steps them, packed by every back end, under model exchange, and on other processor levels."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from differences import TOLERANCE, Case, Difference, agree, inputs_of, run
from random_mechanisms import STOP
from translated_engine import in_its_place

from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.unit import fmu_unit
from kinetree.models import load
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.solvers.library import build
from kinetree.solvers.library.processor_levels import LEVELS, level

EXCHANGE = 1e-8  # tolerance of the host's integrator


def held(case: Case) -> dict[str, float]:
    """Where the bodies are at the end with inputs that stay at their starts."""
    result = (
        case.system.simulate(integrator="adams") if inputs_of(case.description) else case.result
    )
    return {name: float(result[name][-1]) for name in case.names if name in result}


def compare(
    case: Case,
    what: str,
    expected: dict[str, float],
    found: dict[str, float],
    tolerance: float,
    nudges: float = 10.0,
) -> None:
    for name, value in expected.items():
        allowed = tolerance * (1.0 + abs(value)) + nudges * float(case.spread[name][-1])
        if not (abs(found[name] - value) <= allowed or (np.isnan(value) and np.isnan(found[name]))):
            raise Difference(
                what, f"{name} at the end: {value!r} and {found[name]!r}, allowed {allowed:.2g}"
            )


def communication_points(rng: np.random.Generator) -> np.ndarray:
    """Steps of any length, some of them tiny."""
    inner = np.sort(rng.uniform(0.0, STOP, int(rng.integers(3, 30))))
    return np.concatenate((inner[np.diff(inner, append=STOP) > 1e-7], [STOP]))


def stepped(case: Case, rng: np.random.Generator) -> None:
    """Co-simulation in this process."""
    unit = InProcess(fmu_unit(load(case.description), integrator="adams")).start()
    for t in communication_points(rng):
        unit.step(float(t))
    names = [name for name in held(case) if name in unit.places]
    compare(
        case,
        "co-simulation in this process",
        held(case),
        dict(zip(names, unit.get(names), strict=True)),
        30 * TOLERANCE,
    )


def archived(case: Case, rng: np.random.Generator, backend: str, version: int) -> None:
    """An archive as a host has it: two instances that take turns, one of them restored from bytes on the way."""
    expected = held(case)
    with tempfile.TemporaryDirectory() as folder:
        path = build_fmu(
            load(case.description), Path(folder) / "m.fmu", backend, version, integrator="adams"
        )
        with Archive(path) as archive:
            hosts = [Host(archive).start() for _ in range(2)]
            points = communication_points(rng)
            for k, t in enumerate(points):
                for host in hosts:
                    host.step(float(t))
                if k == points.size // 2 and backend == "native":
                    state = hosts[0].save()
                    data = hosts[0].serialized(state)
                    hosts[0].forget(state)
                    hosts[1].restore(hosts[1].parsed(data, hosts[1].time))
            names = [name for name in expected if name in archive.references]
            for host in hosts:
                compare(
                    case,
                    f"back end {backend}, FMI {version}",
                    expected,
                    dict(zip(names, host.get(names), strict=True)),
                    30 * TOLERANCE,
                )
                host.fmu.freeInstance()


def native(case: Case, rng: np.random.Generator) -> None:
    archived(case, rng, "native", int(rng.choice((2, 3))))


def python(case: Case, rng: np.random.Generator) -> None:
    archived(case, rng, "python", 2)


def exchanged(case: Case, rng: np.random.Generator) -> None:
    """Model exchange under another integrator; loops stay within its tolerance.

    What happens and is over within a step of its own, as a touch that grazes, a host cannot see, and its errors add up over many small bounces:
    shorter steps then decide, and a tighter tolerance, to which the error must shrink.
    """
    expected = held(case)
    with tempfile.TemporaryDirectory() as folder:
        path = build_fmu(
            load(case.description), Path(folder) / "m.fmu", "native", int(rng.choice((2, 3)))
        )
        with Archive(path) as archive:
            try:
                exchanged_in(archive, case, expected, 20)
            except Difference:
                exchanged_in(archive, case, expected, 200, EXCHANGE, 10.0)
                exchanged_in(archive, case, expected, 200, 0.01 * EXCHANGE)


def exchanged_in(
    archive: Archive,
    case: Case,
    expected: dict[str, float],
    intervals: int,
    tolerance: float = EXCHANGE,
    factor: float = 1.0,
) -> None:
    """The same with so many intervals, at whose ends the host's steps end."""
    from fmpy import simulate_fmu

    names = [name for name in expected if name in archive.references]
    found = simulate_fmu(
        archive.folder,
        model_description=archive.description,
        fmi_type="ModelExchange",
        stop_time=STOP,
        output=names,
        relative_tolerance=tolerance,
        output_interval=STOP / intervals,
    )
    # every event restarts its integrator with order 1: ten steps, each with an error of EXCHANGE, are a nudge
    nudges = 10.0 + len(case.result.events)
    compare(
        case,
        "model exchange",
        expected,
        {name: float(found[name][-1]) for name in names},
        2e-4 * factor,
        nudges * factor,
    )


def translated(case: Case, rng: np.random.Generator) -> None:
    """A run by the engine as C99, which the source back end packs."""
    with in_its_place():
        agree(
            case,
            "engine as C99",
            run(load(case.description).compile(), case.description, integrator="adams"),
        )


HOSTS = {
    "co-simulation": stepped,
    "engine as C99": translated,
    "native": native,
    "model exchange": exchanged,
    "python": python,
}


# -- processor levels -------------------------------------------------------------------------------------------------------------------------
CHILD = """
import json, sys
from kinetree.solvers.library import levels
levels.level.cache_clear()
import kinetree.solvers.library.load as loading, kinetree.solvers.library.build as building
for module in (levels, loading, building):
    module.level = lambda: sys.argv[1]
from kinetree.models import load
from kinetree.models.engine.status import EvaluationError
ends = []
for description in json.load(sys.stdin):
    try:
        result = load(description).compile().simulate(integrator="adams")
        ends.append({name: result[name][-1] for name in result.names if (name.startswith("b") and "_" in name) or name == "lag"})
    except EvaluationError as error:
        ends.append({"failed": float(error.status or 0)})
print(json.dumps(ends))
"""


def other_levels() -> list[str]:
    """Levels below this machine's, on which it can run the engine too."""
    return list(LEVELS[: LEVELS.index(level())]) if level() in LEVELS else []


def at_level(name: str, descriptions: list[dict[str, Any]]) -> list[dict[str, float]]:
    """Ends of runs on another level of this machine's processor, whose library is built for that."""
    build.make_library("core", name)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, name],
        input=json.dumps(descriptions),
        capture_output=True,
        text=True,
        timeout=1800,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])
