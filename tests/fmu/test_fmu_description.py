"""The one table of variables and the two modelDescriptions written from it."""

import math
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fmpy import read_model_description
from fmpy.validation import validate_fmu
from stub_unit import stub_shell, stub_unit

from kinetree.fmu.archive.build import FmuError, build_fmu, identifier_of, pack_unit
from kinetree.fmu.archive.licences import licences
from kinetree.fmu.unit import fmu_unit
from kinetree.fmu.variables import Access, fmi_name, is_structured, variable_table
from kinetree.models import load
from kinetree.solvers.library.platforms import PLATFORMS

ARCHIVES = [("native", 2), ("native", 3), ("python", 2)]


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archives")
    unit = stub_unit()
    return {
        key: pack_unit(
            unit,
            folder / f"{key[0]}{key[1]}.fmu",
            *key,
            files={"model.json": b"{}"},
            shell=stub_shell(),
        )
        for key in ARCHIVES
    }


@pytest.mark.parametrize("key", ARCHIVES)
def test_fmpy_validates_model_descriptions(archives, key):
    assert validate_fmu(str(archives[key])) == []


def test_all_archives_share_variables_and_references(archives):
    tables = []
    for path in archives.values():
        variables = read_model_description(str(path)).modelVariables
        tables.append(
            [
                (v.name, v.valueReference, v.causality, v.variability)
                for v in variables
                if v.causality != "independent"
            ]
        )
    assert tables[0] == tables[1] == tables[2]


@pytest.mark.parametrize("key", ARCHIVES)
def test_model_description_contains_units_limits_and_texts(archives, key):
    description = read_model_description(str(archives[key]))
    by_name = {v.name: v for v in description.modelVariables}
    k = by_name["k"]
    assert (k.unit, float(k.min), float(k.start), k.variability, k.description) == (
        "N/m",
        0.0,
        40.0,
        "tunable",
        "stiffness <of the spring>",
    )
    assert by_name["m"].variability == "fixed"
    base = {unit.name: unit.baseUnit for unit in description.unitDefinitions}
    assert (base["N/m"].kg, base["N/m"].m, base["N/m"].s) == (1, 0, -2)
    assert by_name["der(x)"].derivative is by_name["x"]
    assert by_name["der(x,2)"].derivative is by_name["der(x)"]
    for name in (
        "stage",
        "stage_name",
        "events",
        "event_time",
        "energy_residual",
        "constraint_residual",
        "solver_steps",
    ):
        assert by_name[name].causality == "output"


def test_dependencies_are_declared():
    table = variable_table(stub_unit())
    by_name = {v.name: v for v in table.variables}
    names = lambda v: {table.variables[vr].name for vr, _ in v.dependencies}  # noqa: E731
    assert names(by_name["power"]) == {"pull", "der(x)"}
    assert by_name["der(x,2)"].dependencies is None  # of everything
    assert names(by_name["x"]) == {"x"}
    assert names(by_name["stage"]) == set()


def test_variable_access_rules():
    by_name = {v.name: v for v in variable_table(stub_unit()).variables}
    assert [by_name[n].access for n in ("k", "m", "pull", "x", "power")] == [
        Access.TUNABLE,
        Access.FIXED,
        Access.INPUT,
        Access.START,
        Access.NONE,
    ]
    assert by_name["x"].start == 0.25
    assert math.isinf(by_name["k"].maximum)


@pytest.mark.parametrize("key", ARCHIVES)
def test_archive_contains_documented_files(archives, key):
    with zipfile.ZipFile(archives[key]) as archive:
        names = set(archive.namelist())
        page = archive.read("documentation/index.html").decode()
        assert len(names) == len(archive.namelist())
    assert "documentation/licenses/license.txt" in names
    assert ("model.png" if key[1] == 2 else "terminalsAndIcons/icon.png") in names
    assert "resources/model.json" in names
    ElementTree.fromstring(page.split("\n", 1)[1])  # well-formed
    for part in ("<svg", "block", "slide", "stiffness &lt;of the spring&gt;", "N.s/m"):
        assert part in page


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("x", True),
        ("der(x)", True),
        ("der(x,2)", True),
        ("arm.position[1]", True),
        ("der(arm.s)", True),
        ("a b", False),
        ("m²", False),
        ("der(der(x))", False),
    ],
)
def test_structured_names_are_valid(name, good):
    assert is_structured(name) is good


def test_second_derivatives_follow_the_naming_of_the_standard():
    assert fmi_name("der(der(arm.s))") == "der(arm.s,2)"


def test_identifiers_suit_the_language_c():
    assert [identifier_of(n) for n in ("Speed regulator", "3 links", "Träger ü", "")] == [
        "Speed_regulator",
        "m_3_links",
        "Trager_u",
        "mechanism",
    ]


def test_user_names_take_precedence_over_generated_names():
    unit = stub_unit()
    unit.columns[2].name = "stage"
    names = [v.name for v in variable_table(unit).variables]
    assert "stage" in names
    assert "fmu.stage" in names


@pytest.mark.parametrize(
    ("backend", "fmi", "word"),
    [("java", 2, "java"), ("source", 1, "FMI 1"), ("native", 1, "FMI 1")],
)
def test_impossible_requests_are_refused_with_a_reason(tmp_path, backend, fmi, word):
    with pytest.raises(FmuError, match=word):
        pack_unit(stub_unit(), tmp_path / "x.fmu", backend, fmi, shell=stub_shell())
    with pytest.raises(FmuError, match="fmu"):
        pack_unit(stub_unit(), tmp_path / "x.zip", "native", shell=stub_shell())


def test_python_back_end_accepts_its_library_name(tmp_path):
    made = build_fmu(load("lib:pendulum"), tmp_path / "p.fmu", "pythonfmu", platforms=["linux64"])
    with zipfile.ZipFile(made) as archive:
        assert "resources/slavemodule.txt" in archive.namelist()


@pytest.mark.parametrize("fmi", [2, 3])
def test_initial_unknowns_depend_on_the_inputs_they_need(tmp_path, fmi):
    """OMSimulator saw an algebraic loop around every system: an unknown without dependencies is one of all inputs."""
    archive = pack_unit(stub_unit(), tmp_path / "x.fmu", "native", fmi, shell=stub_shell())
    description = read_model_description(str(archive))
    by_name = {each.variable.name: each.dependencies for each in description.initialUnknowns}
    assert "pull" not in {v.name for v in by_name["x"]} if "x" in by_name else True
    assert all(
        dependencies is not None
        for name, dependencies in by_name.items()
        if not name.startswith(("der(x,2)", "power"))
    )
    residual = {v.name for v in by_name["energy_residual"]}
    assert "pull" not in residual and {"k", "m", "x"} <= residual


def test_plain_variable_names_have_no_commas(tmp_path):
    """A table without quotes shifted its columns at der(x,2)."""
    archive = pack_unit(
        stub_unit(), tmp_path / "x.fmu", "native", shell=stub_shell(), plain_names=True
    )
    description = read_model_description(str(archive))
    names = [v.name for v in description.modelVariables]
    assert "der(der(x))" in names and not [name for name in names if "," in name]
    assert description.variableNamingConvention == "flat"
    assert validate_fmu(str(archive)) == []


@pytest.mark.parametrize("backend", ["native", "python"])
def test_archive_contains_all_licences(backend, tmp_path):
    """pythonfmu's library and scripts travelled without their licence."""
    path = pack_unit(stub_unit(), tmp_path / "x.fmu", backend, shell=stub_shell())
    with zipfile.ZipFile(path) as archive:
        texts = {
            name.rpartition("/")[2]: archive.read(name).decode()
            for name in archive.namelist()
            if name.startswith("documentation/licenses/")
        }
    assert "BSD 3-Clause" in texts["license.txt"] and "compiler-rt" in texts["linked.txt"]
    assert (
        ("MIT License" in texts["pythonfmu.txt"])
        if backend == "python"
        else "pythonfmu.txt" not in texts
    )
    assert "mingw" not in texts["linked.txt"]


def test_licences_of_sources_and_of_windows():
    assert "Modelica Association" in str(
        licences("source", {})["documentation/licenses/fmi-headers.txt"]
    )
    assert "mingw-w64" in str(
        licences("native", {PLATFORMS["win64"]: Path("x.dll")})["documentation/licenses/linked.txt"]
    )


@pytest.mark.parametrize("tunable", [True, False])
def test_calculated_parameters_inherit_variability(tunable: bool):
    """Hosts that set `k` between steps read `twice` again only where it is tunable."""
    parameters = {"k": {"value": 40.0, "tunable": tunable}, "twice": {"value": "2*k"}}
    unit = fmu_unit(load({"format": "kinetree/1", "name": "p", "parameters": parameters, "states": {"s": {"rate": "-twice*s"}}}))  # fmt: skip
    (found,) = [v for v in variable_table(unit).variables if v.name == "twice"]
    expected = "tunable" if tunable else "fixed"
    assert (found.causality, found.variability) == ("calculatedParameter", expected)


def test_quaternion_rates_depend_on_quaternions_and_speeds():
    """A rate on which nothing depends is a constant for hosts that order equations by these lists."""
    described = {
        "format": "kinetree/1",
        "name": "ball",
        "bodies": {"a": {"mass": 1.0, "inertia": [0.1, 0.2, 0.3, 0, 0, 0]}},
        "joints": {"ball": {"child": "a", "type": "spherical"}},
    }
    table = variable_table(fmu_unit(load(described)))
    turns = {f"ball.q{axis}" for axis in "wxyz"}
    wanted = turns | {f"ball.w{axis}" for axis in "xyz"}
    rates = dict(zip(table.states, table.derivatives, strict=True))
    for state, rate in rates.items():
        if table.variables[state].name in turns:
            told = table.variables[rate].dependencies
            assert told is None or {table.variables[vr].name for vr, _ in told} >= wanted
