"""System structures: what is written obeys the schemas, and the boom's archive gives the same numbers here, in libcosim and in ecos."""

import csv
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from kinetree.models import load
from kinetree.scripts.cli import main
from kinetree.scripts.cosim.scenario import read_scenario
from kinetree.scripts.cosim.scenario_verdict import BAR, run_coupled
from kinetree.scripts.cosim.wired_scenario import run_wired
from kinetree.scripts.ssp.structure import VERSIONS
from kinetree.scripts.ssp.write import identifiers

STEP, COUNT = 0.005, 240
SIDES = ("mechanism.lift.pressure_a", "mechanism.lift.pressure_b")

LIBCOSIM = """
import json, sys
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver
path, step, count, component, names = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5:]
execution = CosimExecution.from_ssp_file(path, step_size=int(step * 1e9))
observer = CosimObserver.create_last_value()
execution.add_observer(observer)
unit = next(info.index for info in execution.slave_infos() if info.name.decode() == component)
places = {v.name.decode(): v.reference for v in execution.slave_variables(unit)}
rows = []
for _ in range(count):
    assert execution.step()
    rows.append(observer.last_real_values(unit, [places[name] for name in names]))
print("RESULT", json.dumps(rows), flush=True)
"""

ECOS = """
import json, sys
from ecospy import EcosSimulation
path, step, count, component, names = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5:]
simulation = EcosSimulation(step, ssp_path=path)
simulation.init(parameter_set="initialValues")
rows = []
for _ in range(count):
    simulation.step(1)
    rows.append([simulation.get_real(f"{component}::{name}") for name in names])
print("RESULT", json.dumps(rows), flush=True)
simulation.terminate()
simulation.free()
"""


HOSTS = {"libcosimpy": LIBCOSIM, "ecospy": ECOS}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ssp") / "boom.ssp"
    assert (
        main(
            [
                "cosim",
                "lib:boom",
                "--ssp",
                str(path),
                "--step-size",
                str(STEP),
                "--stop-time",
                str(STEP * COUNT),
                "-q",
            ]
        )
        == 0
    )
    return path


def table(path: Path) -> dict[str, np.ndarray]:
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def run_here(archive: Path, folder: Path, *options: str) -> dict[str, np.ndarray]:
    result = folder / "result.csv"
    assert main(["cosim", str(archive), "-o", str(result), "-q", *options]) == 0
    return table(result)


def run_there(
    host: str, archive: Path, step: float, count: int, names: tuple[str, ...]
) -> np.ndarray:
    """Values at the ends of the steps, from a C++ host in a process of its own; COMPONENT.NAME each, all of one component."""
    try:
        __import__(host)
    except (ImportError, OSError) as error:
        pytest.skip(f"{host} cannot be loaded: {error}")
    component, variables = names[0].split(".")[0], [name.partition(".")[2] for name in names]
    command = [
        sys.executable,
        "-c",
        HOSTS[host],
        str(archive),
        str(step),
        str(count),
        component,
        *variables,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert lines, done.stdout[-2000:] + done.stderr[-2000:]
    return np.array(json.loads(lines[-1].removeprefix("RESULT ")))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_ssp_files_are_valid_by_schema(archive: Path, version: str, tmp_path: Path):
    """The schemas of SSP 1.0 that fmpy carries; 2.0 differs in the number and in additions that are not used."""
    from fmpy import ssp
    from lxml import etree

    if version == "2.0":
        archive = tmp_path / "boom.ssp"
        assert (
            main(["cosim", "lib:boom", "--ssp", str(archive), "--ssp-version", version, "-q"]) == 0
        )
    folder = Path(ssp.__file__).parent / "schema"
    with ZipFile(archive) as files:
        names = [name for name in files.namelist() if name.endswith((".ssd", ".ssv"))]
        assert len(names) == 3
        for name in names:
            kind = "Description" if name.endswith(".ssd") else "ParameterValues"
            schema = etree.XMLSchema(etree.parse(str(folder / f"SystemStructure{kind}.xsd")))
            root = etree.fromstring(files.read(name))
            assert root.get("version") == version
            root.set("version", "1.0")
            schema.assertValid(root)


@pytest.mark.parametrize("version", VERSIONS)
def test_ssp_names_become_identifiers(version: str, archive: Path, tmp_path: Path):
    """OMSimulator ends at names such as "Luffing boom with servo cylinder"; texts of outputs it logs as errors. The user's name comes back."""
    from lxml import etree

    from kinetree.scripts.ssp.archive import unpack
    from kinetree.scripts.ssp.read import read_ssd

    if version == "2.0":
        archive = tmp_path / "two.ssp"
        assert (
            main(["cosim", "lib:boom", "--ssp", str(archive), "--ssp-version", version, "-q"]) == 0
        )
    with ZipFile(archive) as files:
        root = etree.fromstring(files.read("SystemStructure.ssd"))
    named = [root, *(e for e in root.iter() if etree.QName(e).localname in ("System", "Component"))]
    assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", e.get("name")) for e in named)
    assert not [e for e in root.iter() if etree.QName(e).localname == "String"]
    assert (
        read_ssd(unpack(archive, tmp_path / "unpacked"), "boom").name
        == root.get("description")
        == "Luffing boom with servo cylinder"
    )


def test_component_identifiers_stay_distinct():
    assert identifiers(["drive 1", "drive_1", "drive-1", "2"]) == {
        "drive_1": "drive_1",
        "drive 1": "drive_1_1",
        "drive-1": "drive_1_2",
        "2": "m_2",
    }


def test_every_connector_is_a_variable_with_its_unit(archive: Path, tmp_path: Path):
    from fmpy import read_model_description

    from kinetree.scripts.ssp.archive import unpack
    from kinetree.scripts.ssp.read import read_ssd

    structure = read_ssd(unpack(archive, tmp_path), "boom")
    assert {c.name for c in structure.components} == {
        "mechanism",
        "drive",
    } and structure.scheme == "sequential"
    for component in structure.components:
        variables = {
            v.name: v
            for v in read_model_description(str(tmp_path / component.source)).modelVariables
        }
        for connector in component.connectors:
            assert variables[connector.name].causality == connector.kind
            assert (variables[connector.name].unit or "") == connector.unit
    for link in structure.links:
        ends = [structure.component(link.start), structure.component(link.end)]
        assert (
            ends[0]
            and ends[1]
            and ends[0].connector(link.start_connector)
            and ends[1].connector(link.end_connector)
        )


def test_ssp_archive_runs_like_the_scenario(archive: Path, tmp_path: Path):
    """The same FMUs, the same master: the same numbers to the last bit."""
    found = run_here(archive, tmp_path)
    trace = run_coupled(read_scenario("lib:boom"), "chambers", STEP, STEP * COUNT, "native").trace
    for side in ("pressure_a", "pressure_b"):
        assert (found[f"mechanism.lift.{side}"] == trace[side]).all()


@pytest.mark.parametrize("host", HOSTS)
def test_ssp_hosts_agree(archive: Path, host: str, tmp_path: Path):
    """Both hosts step all units at once: our held master to the rounding of times in ns, the one system to the error of the scheme.

    Pressures of 1e7 Pa change by up to 1e9 Pa/s, times differ by half a nanosecond: 1 Pa.
    """
    there, here = (
        run_there(host, archive, STEP, COUNT, SIDES),
        run_here(archive, tmp_path, "--scheme", "held"),
    )
    for column, side in enumerate(SIDES):
        assert np.abs(there[:, column] - here[side][1:]).max() < 1.0
    exact = run_coupled(read_scenario("lib:boom"), "chambers", STEP, STEP * COUNT).reference
    times = STEP * np.arange(1, COUNT + 1)
    for column, side in enumerate(("pressure_a", "pressure_b")):
        assert (
            np.abs(there[:, column] - np.interp(times, exact["time"], exact[side])).max()
            < 2.0 * BAR
        )


@pytest.mark.parametrize("host", HOSTS)
def test_ssp_hosts_run_the_carrier(host: str, tmp_path: Path):
    """Seven units, a departure, steps of 1 ms, at which held values are stable: the one system to a fiftieth of the motion.

    Hosts know no slopes: without them our held master gives the same to the rounding of times in ns, at 1e-2 rad/s and 1e3 steps.
    """
    step, count, names = 1e-3, 1200, ("carrier.slew", "carrier.luff")
    path = tmp_path / "carrier.ssp"
    assert (
        main(
            [
                "cosim",
                "lib:carrier",
                "--ssp",
                str(path),
                "--step-size",
                str(step),
                "--stop-time",
                str(step * count),
                "-q",
            ]
        )
        == 0
    )
    there, scenario = run_there(host, path, step, count, names), read_scenario("lib:carrier")
    bare = replace(
        scenario, connections=tuple(replace(c, slope="", mean=False) for c in scenario.connections)
    )
    here = run_wired(bare, "held", step, step * count, "native").trace
    settings = {"modules": 4, "pace": 0.8, "drives": 1, "cylinders": 1}
    exact = load("lib:carrier", **settings).compile().simulate(step * count, output_step=step)
    for column, name in enumerate(names):
        assert np.abs(there[:, column] - here[name][1:]).max() < 1e-8
        motion = exact[name.partition(".")[2]]
        assert np.abs(here[name] - here[name][0] - motion + motion[0]).max() < 0.02 * np.ptp(motion)


def test_schemes_that_degrade_to_held_are_named(tmp_path: Path, capsys: pytest.CaptureFixture):
    assert (
        main(
            [
                "cosim",
                "lib:boom",
                "--scheme",
                "told",
                "--ssp",
                str(tmp_path / "told.ssp"),
                "--units",
                "python",
            ]
        )
        == 0
    )
    assert "chambers stays stable there" in capsys.readouterr().out


def test_told_scheme_survives_ssp_export(tmp_path: Path):
    """Slopes, means and the order of the units stand in the archive: the same numbers as from the scenario."""
    path = tmp_path / "told.ssp"
    assert (
        main(
            [
                "cosim",
                "lib:boom",
                "--scheme",
                "told",
                "--ssp",
                str(path),
                "--step-size",
                "0.02",
                "--stop-time",
                "0.6",
                "-q",
            ]
        )
        == 0
    )
    found = run_here(path, tmp_path)
    trace = run_coupled(read_scenario("lib:boom"), "told", 0.02, 0.6, "native").trace
    assert len(trace.time) == len(found["time"])
    # force = A_a p_a - A_b p_b, two products and a difference of rounding
    force = 50e-4 * trace["pressure_a"] - 32e-4 * trace["pressure_b"]
    assert np.abs(found["drive.force"] - force).max() < 1e-8


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--units", "process"], "has no FMUs to write"),
        (["--ssp-version", "3.0"], "expected one of 1.0, 2.0"),
        ([], "ends in .ssp"),
    ],
)
def test_impossible_ssp_exports_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture, options: list[str], said: str
):
    path = tmp_path / ("boom.ssp" if options else "boom.zip")
    assert main(["cosim", "lib:boom", "--ssp", str(path), *options]) == 2
    assert said in capsys.readouterr().err


def test_fmus_export_writes_all_units(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Mechanism, drive and controller, each a valid FMU; what they start with is said."""
    from fmpy.validation import validate_fmu

    assert main(["cosim", "lib:slewing", "--fmus", str(tmp_path / "units")]) == 0
    assert "'load':" in capsys.readouterr().out
    made = sorted(path.name for path in (tmp_path / "units").iterdir())
    assert made == ["controller.fmu", "drive.fmu", "mechanism.fmu"]
    assert not any(validate_fmu(str(tmp_path / "units" / name)) for name in made)
