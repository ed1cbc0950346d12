"""Names of variables that OpenModelica's import can write: which are kept, what becomes of the others, and that this is told."""

import re
from xml.etree.ElementTree import fromstring
from zipfile import ZipFile

import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.names import RESERVED, imported, unique_names
from kinetree.fmu.unit import fmu_unit
from kinetree.fmu.variables import variable_table
from kinetree.models import load
from kinetree.models.description.reading.read_source import library_names
from kinetree.scripts.fmi.in_process_reference import InProcess

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_sound(names: list[str]) -> bool:
    there = [imported(name) for name in names]
    return len(set(there)) == len(there) and all(
        IDENTIFIER.fullmatch(name) and name not in RESERVED for name in there
    )


@pytest.mark.parametrize(
    "name, new",
    [
        ("time", "time_"), ("flow", "flow_"), ("fmi_x", "fmi_x_"), ("a-b", "a_b"), ("a:b/c~d@e+f", "a_b_c_d_e_f"), ("α", "_"), ("2x", "_2x"),
        ("x[1]", None), ("arm.position[1,2]", None), ("der(gamma,2)", None), ("two words", None), ("Flow", None), ("_", None),
    ],
)  # fmt: skip
def test_names_invalid_in_modelica_are_replaced(name, new):
    assert unique_names([name]) == ({} if new is None else {name: new})


def test_names_that_collide_after_import_are_distinguished():
    """The first keeps its name; indices stay behind, and a derivative follows its variable."""
    assert unique_names(["tank_pressure", "tank.pressure"]) == {"tank.pressure": "tank.pressure_"}
    assert unique_names(["a_1_", "a[1]", "a[2]"]) == {"a[1]": "a_[1]"}
    assert unique_names(["der(a-b)", "a-b", "der(a-b,2)"]) == {
        "a-b": "a_b", "der(a-b)": "der(a_b)", "der(a-b,2)": "der(a_b,2)",
    }  # fmt: skip
    assert unique_names(["x", "der(x)", "der_x_"]) == {"der(x)": "der(x_)"}
    assert unique_names(["a.b", "a_b", "a b", "a_b_"]) == {"a_b": "a_b_", "a b": "a b__", "a_b_": "a_b___"}  # fmt: skip
    assert unique_names(["Stage", "stage"]) == {}, "case counts"


def test_random_names_become_valid_and_unique():
    signs = ["a", "_", ".", "-", "[1]", "flow", "α", " ", "9", "der(a)"]
    names = [first + second + third for first in signs for second in signs for third in signs]
    new = unique_names(names)
    assert is_sound([new.get(name, name) for name in names])


def plain(name: str) -> dict:
    return {
        "format": "kinetree/1",
        "name": "named",
        "parameters": {name: {"value": 2.0}, name.replace(".", "_").replace("-", "_"): {"value": 3.0}},
        "bodies": {"b": {"mass": 1.0}},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "flow", "speed": 1.0}]}},
        "outputs": {"out": {"value": f"'{name}'*flow"}},
    }  # fmt: skip


def test_mechanism_with_renamed_variables_is_packed_and_reported(tmp_path, monkeypatch):
    told: list[str] = []
    path = build_fmu(
        load(plain("drive-gain")), tmp_path / "n.fmu", "native", platforms=["linux64"], say=told.append
    )  # fmt: skip
    with ZipFile(path) as archive:
        root = fromstring(archive.read("modelDescription.xml"))
    names = [v.get("name", "") for v in root.iter("ScalarVariable")]
    assert is_sound(names) and {"flow_", "der(flow_)", "drive_gain", "drive_gain_"} <= set(names)
    said = [line for line in told if "'flow'" in line]
    assert said and "'flow_'" in said[0]


def test_values_are_accessible_by_both_names():
    twin = InProcess(fmu_unit(load(plain("drive-gain")))).start({"flow": 0.5})
    assert twin.get(["flow", "flow_", "out"]) == [0.5, 0.5, 1.0]


@pytest.mark.parametrize("name", library_names())
def test_library_mechanisms_need_no_renaming(name):
    """Nor do they have constants, whose values the import drops."""
    table = variable_table(fmu_unit(load(f"lib:{name}")))
    names = [v.name for v in table.variables if v.causality != "independent"]
    assert not table.renamed and is_sound(names)
    assert all(v.variability != "constant" for v in table.variables)
