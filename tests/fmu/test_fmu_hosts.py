"""Both archives in the C++ hosts libcosim and ecos: each run in a process of its own, so that a crash is seen as one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from stub_unit import stub_shell, stub_unit

from kinetree.fmu.archive.build import build_fmu, pack_unit
from kinetree.models import load
from kinetree.scripts.fmi.fmpy_host import Archive, Host

STEP, COUNT = 0.01, 100

COSIM = """
import json, sys
from libcosimpy.CosimEnums import CosimExecutionState
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimManipulator import CosimManipulator
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave
path, other, reference, given, step, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), int(sys.argv[6])
execution = CosimExecution.from_step_size(int(step * 1e9))
first = execution.add_local_slave(CosimLocalSlave(fmu_path=path, instance_name="first"))
second = execution.add_local_slave(CosimLocalSlave(fmu_path=other, instance_name="second"))
observer = CosimObserver.create_last_value()
execution.add_observer(observer)
execution.real_initial_value(first, given, 5.0)
for _ in range(count):
    assert execution.step()
status = execution.status()
values = [observer.last_real_values(slave, [reference])[0] for slave in (first, second)]
print("RESULT", json.dumps([*values, status.current_time * 1e-9]))
"""

ECOS = """
import json, sys
from ecospy import EcosSimulation, EcosSimulationStructure
path, other, name, given, step, count = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], float(sys.argv[5]), int(sys.argv[6])
structure = EcosSimulationStructure()
structure.add_model("first", path)
structure.add_model("second", other)
simulation = EcosSimulation(step, structure=structure)
simulation.set_real("first::" + given, 5.0)
simulation.init()
simulation.step(count)
print("RESULT", json.dumps([simulation.get_real("first::" + name), simulation.get_real("second::" + name), simulation.get_time()]), flush=True)
simulation.terminate()
simulation.free()
"""


def spring(k: float) -> dict:
    """A mass on a spring, pulled."""
    return {
        "format": "kinetree/1",
        "name": f"mass on a spring of {k:g} N/m",
        "bodies": {"mass": {"mass": 1.0}},
        "joints": {
            "rail": {
                "child": "mass",
                "transforms": [{"shift": "x", "coordinate": "x", "start": 0.1}],
            }
        },
        "inputs": {"pull": {"start": 0.0, "unit": "N"}},
        "forces": {"spring": {"coordinate": "x", "value": f"pull - {k}*x"}},
    }


def archive_of(backend: str, engine: str, k: float, path: Path) -> Path:
    """A model with the stub engine, which needs no compiled kernels, or with the real one."""
    if engine == "stub":
        return pack_unit(stub_unit(k=k), path, backend, shell=stub_shell())
    build_fmu(load(spring(k)), path, backend)
    return path


@pytest.fixture(
    scope="module",
    params=[(b, e) for e in ("stub", "engine") for b in ("native", "python")],
    ids="-".join,
)
def pair(request, tmp_path_factory):
    """Two models, and where each stands after the run."""
    folder = tmp_path_factory.mktemp("hosts")
    paths = [
        archive_of(*request.param, k, folder / f"{name}.fmu")
        for name, k in (("a", 40.0), ("b", 10.0))
    ]
    expected = []
    for path, values in zip(paths, ({"pull": 5.0}, {})):
        with Archive(path) as archive:
            host = Host(archive).start(values)
            for k in range(1, COUNT + 1):
                host.step(k * STEP)
            expected.append(host.get(["x"])[0])
            references = archive.references
            host.fmu.freeInstance()
    return [str(path) for path in paths], expected, references


def run(code: str, *arguments: object) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert lines, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(lines[-1].removeprefix("RESULT "))


def test_libcosim_runs_two_models_side_by_side(pair):
    pytest.importorskip("libcosimpy")
    paths, expected, references = pair
    first, second, time = run(COSIM, *paths, references["x"], references["pull"], STEP, COUNT)
    # times of the host are whole nanoseconds
    assert [first, second] == pytest.approx(expected, abs=1e-8)
    assert time == pytest.approx(STEP * COUNT)


def test_ecos_runs_two_models_side_by_side(pair):
    try:
        import ecospy  # noqa: F401
    except (ImportError, OSError) as error:
        pytest.skip(f"ecospy cannot be loaded (it needs the Debian package libtbb12): {error}")
    paths, expected, _ = pair
    first, second, time = run(ECOS, *paths, "x", "pull", STEP, COUNT)
    assert [first, second] == pytest.approx(expected, abs=1e-8)
    assert time == pytest.approx(STEP * COUNT)
