"""What is read from system structures of others, at its bounds: wires through systems, conversions of units, values, names, sizes of archives."""

from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest
from test_ssp_foreign import (
    BINDING,
    HEAD,
    INLINE,
    UNITS,
    component,
    connection,
    connector,
    read,
    system,
)

from kinetree.scripts.cosim.import_ssp import scenario_of_ssp
from kinetree.scripts.ssp import archive
from kinetree.scripts.ssp.structure import Base, Component, Connector, Link, Structure
from kinetree.scripts.ssp.wiring import Edge, direct
from kinetree.scripts.terminal import foreign_archives
from kinetree.scripts.terminal.error_messages import BadInput

KINDS = {
    "y": "output",
    "z": "output",
    "u": "input",
    "w": "input",
    "c": "calculatedParameter",
    "p": "parameter",
}
ENDS = {
    (element, name): Connector(name, kind)
    for element in ("a", "b", "left.in")
    for name, kind in KINDS.items()
}


def wired(*edges: Edge) -> list[Edge]:
    return direct(edges, ENDS, {"a", "b", "left.in"}, {"", "left", "right"}, BadInput)


def test_nested_connections_are_flattened():
    """Factors multiply from the start to the end, what forbids a conversion forbids it for all; from the root's own connectors nothing comes."""
    chain = (
        Edge(("a", "y"), ("left", "out"), 2.0, 1.0), Edge(("left", "out"), ("right", "in"), 3.0, 5.0, True),
        Edge(("right", "in"), ("b", "u"), 7.0, 11.0),
    )  # fmt: skip
    expected = Edge(("a", "y"), ("b", "u"), 42.0, 7.0 * (3.0 * 1.0 + 5.0) + 11.0, True)
    assert wired(*chain) == wired(*chain[::-1]) == [expected]
    plain = Edge(("a", "y"), ("b", "u"))
    assert wired(plain, Edge(("", "outside"), ("b", "w")), Edge(("b", "y"), ("", "result"))) == [
        plain
    ]
    assert (plain.factor, plain.offset, plain.plain) == (1.0, 0.0, False)
    circle = (
        Edge(("left", "one"), ("right", "two")),
        Edge(("right", "two"), ("left", "one")),
        Edge(("left", "one"), ("a", "w")),
    )
    assert wired(*circle) == [], "a ring of connectors begins nowhere"
    both = (
        Edge(("a", "p"), ("left", "out")),
        Edge(("left", "out"), ("a", "u")),
        Edge(("left", "out"), ("b", "u")),
    )
    assert [(e.start, e.end) for e in wired(*both)] == [
        (("a", "p"), ("a", "u")),
        (("a", "p"), ("b", "u")),
    ]


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ([Edge(("a", "y"), ("b", "y"))], "a.y -> b.y leads to an output"), ([Edge(("a", "y"), ("b", "c"))], "leads to an output"),
        ([Edge(("a", "y"), ("b", "u")), Edge(("a", "z"), ("b", "u"))], "two connections lead to b.u"),
        ([Edge(("a", "y"), ("left", "u")), Edge(("a", "z"), ("left", "u"))], "two connections lead to left.u"),
        ([Edge(("other", "y"), ("b", "u"))], "no element 'other'"), ([Edge(("a", "y"), ("other", "u"))], "no element 'other'"),
        ([Edge(("a", "q"), ("b", "u"))], "'a' has no connector 'q'"), ([Edge(("a", "y"), ("b", "q"))], "'b' has no connector 'q'"),
    ],
)  # fmt: skip
def test_invalid_ssp_connections_are_named(edges: list[Edge], said: str):
    with pytest.raises(BadInput, match=said):
        wired(*edges)


TEMPERATURES = (
    f'<s:Units><c:Unit name="degF"><c:BaseUnit K="1" m="0" factor="{5 / 9!r}" offset="{459.67 * 5 / 9!r}"/></c:Unit>'
    '<c:Unit name="degC"><c:BaseUnit K="1" offset="273.15"/></c:Unit><c:Unit name="s"><c:BaseUnit s="1"/></c:Unit></s:Units>'
)
WARM = component("a", connector("y", "output", "degF")) + component(
    "b", connector("u", "input", "degC")
)


@pytest.mark.parametrize(
    ("plain", "expected"),
    [("", (32.0, 1.0, 212.0, 201.0)), ('suppressUnitConversion="1" ', (0.0, 1.0, 10.0, 21.0))],
)
def test_units_with_offsets_are_converted_before_a_transformation(
    tmp_path: Path, plain: str, expected: tuple[float, ...]
):
    """Water boils at 212 °F, 100 °C, of which twice and one more are given."""
    wire = connection("a.y", "b.u", '<c:LinearTransformation factor="2" offset="1"/>').replace(
        "<s:Connection ", f"<s:Connection {plain}"
    )
    structure = read(tmp_path, system(WARM, wire), TEMPERATURES)
    (link,) = structure.links
    assert [link.factor * y + link.offset for y in expected[::2]] == pytest.approx(
        list(expected[1::2]), abs=1e-11
    )
    assert structure.units["degC"] == Base({"K": 1}, 1.0, 273.15) and structure.units[
        "degF"
    ].exponents == {"K": 1}


def bound(value: str, mapping: str = "", more: str = "") -> str:
    """A set of one value with its units, for a component or a system."""
    head = '<s:ParameterValues><v:ParameterSet version="1.0" name="p"><v:Parameters>'
    units = TEMPERATURES.replace("s:Units", "v:Units")
    return BINDING.format(
        f"{more}>{head}{value}</v:Parameters>{units}</v:ParameterSet></s:ParameterValues>{mapping}"
    )


def mapped(*entries: tuple[str, str, str]) -> str:
    space = 'xmlns:m="http://ssp-standard.org/SSP1/SystemStructureParameterMapping"'
    text = "".join(
        f'<m:MappingEntry source="{a}" target="{b}">{change}</m:MappingEntry>'
        for a, b, change in entries
    )
    return f'<s:ParameterMapping><m:ParameterMapping {space} version="1.0">{text}</m:ParameterMapping></s:ParameterMapping>'


BOILS = '<v:Parameter name="T"><v:Real value="212" unit="degF"/></v:Parameter>'
Y = component("a", connector("y", "output"))
TWICE = '<c:LinearTransformation factor="2" offset="1"/>'


def test_values_are_converted_and_then_mapped(tmp_path: Path):
    """To every target of a mapping and to no other; without a unit at either end a number stays; what cannot be converted is refused."""
    ends = "".join(
        connector(name, "parameter", unit)
        for name, unit in (("T", "degC"), ("F", "degF"), ("n", ""), ("t", "s"))
    )

    def given(mapping: str = "", value: str = BOILS) -> dict:
        (unit,) = read(
            tmp_path, system(component("a", ends, bound(value, mapping))), TEMPERATURES
        ).components
        return dict(unit.values)

    assert given() == {"T": pytest.approx(100.0)} and given(
        "", BOILS.replace(' unit="degF"', "")
    ) == {"T": 212.0}
    found = given(mapped(("T", "T", TWICE), ("T", "F", TWICE), ("T", "n", ""), ("other", "F", "")))
    assert found == {"T": pytest.approx(201.0), "F": 425.0, "n": 212.0}
    assert given(mapped(("other", "F", ""))) == {}
    with pytest.raises(BadInput, match="value 'a.t': degF cannot become s"):
        given(mapped(("T", "t", "")))


def test_values_of_outer_systems_take_precedence(tmp_path: Path):
    """Of the parts inside, with a prefix where there is one; what belongs to no component is noted."""
    inside = f'<s:System name="left">{bound(BOILS, more=chr(32) + chr(112) + "refix=" + chr(34) + "a." + chr(34))}'
    inside += system(component("a", "", bound(BOILS.replace("212", "1")))) + "</s:System>"
    inner = read(tmp_path, system(inside))
    assert [(c.name, dict(c.values)) for c in inner.components] == [
        ("left.a", {"T": 212.0})
    ] and inner.notes == ()
    outer = read(
        tmp_path,
        bound(BOILS.replace('"T"', '"left.a.T"').replace("212", "2")) + bound("") + system(inside),
    )
    assert dict(outer.components[0].values) == {"T": 2.0}
    lost = read(tmp_path, bound(BOILS) + system(component("a", "") + component("b", "")))
    assert lost.notes == ("value 'T' belongs to no component and is ignored",) and not any(
        c.values for c in lost.components
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (system(Y, connection("a.y", "u", '<c:LinearTransformation factor="x"/>')), "found 'x', expected a finite"),
        (system(Y, connection("a.y", "u", '<c:LinearTransformation offset="inf"/>')), "found 'inf'"),
        (system(component("a", "", bound(BOILS, more=' type="application/x-other"'))), "only sets inside the archive"),
        (system(component("a", "", bound(BOILS, more=' sourceBase="component"'))), "only sets inside the archive"),
        (system(component("a", "", bound(BOILS, mapped().replace(">", ' sourceBase="component">', 1)))), "Mapping without"),
        (system(component("a", "", bound('<v:Parameter name="T"/>'))), "values of 'a': 'T' has none"),
        (bound('<v:Parameter name="T"/>') + system(component("a", "")), "values of 'the system': 'T' has none"),
        (system(component("a", '<s:Connector name="y" kind="output"><c:Real/><c:Dimension size="2"/></s:Connector>')), "a.y is an array"),
        (system(component("a", '<s:Connector name="y" kind="output"><c:Real/><s:Dimension size="2"/></s:Connector>')), "a.y is an array"),
        (system(component("", "")), "expected a name of 1 to 200 characters"), (system(component("n" * 201, "")), "expected a name of 1 to 200"),
    ],
)  # fmt: skip
def test_unsupported_ssp_elements_are_named(tmp_path: Path, body: str, said: str):
    with pytest.raises(BadInput, match=f"foreign.ssp: SystemStructure.ssd: .*({said})"):
        read(tmp_path, body)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('m="1.5"', "found '1.5', expected a whole number"),
        ('m="1" factor="0"', "unit 'm' has the factor 0"),
    ],
)
def test_invalid_ssp_units_are_refused(tmp_path: Path, change: str, said: str):
    with pytest.raises(BadInput, match=said):
        read(
            tmp_path,
            system(WARM),
            UNITS.replace('name="m"><c:BaseUnit m="1"', f'name="m"><c:BaseUnit {change}'),
        )


def test_connectors_without_types_and_with_long_names_are_accepted(tmp_path: Path):
    """Two hundred characters, fifty systems inside one another; a connector may leave its type open, one of a boolean is a number."""
    ends = '<s:Connector name="y" kind="output"/>' + connector("u", "input", "", "Boolean")
    structure = read(
        tmp_path,
        system(component("n" * 200, ends), connection("n" * 200 + ".y", "n" * 200 + ".u")),
        version="1",
    )
    assert structure.components[0].connectors == (
        Connector("y", "output", ""),
        Connector("u", "input", "Boolean"),
    )
    assert [
        (link.start_connector, link.end_connector, link.factor, link.offset)
        for link in structure.links
    ] == [("y", "u", 1.0, 0.0)]
    nested = system(component("a", ""))
    for _ in range(50):
        nested = system(f'<s:System name="s">{nested}</s:System>')
    assert read(tmp_path, nested).components[0].name == "s." * 50 + "a"
    with pytest.raises(BadInput, match="more than 50 deep"):
        read(tmp_path, system(f'<s:System name="s">{nested}</s:System>'))


OURS = (
    '<s:DefaultExperiment{}><s:Annotations><c:Annotation type="org.kinetree"><k:CoSimulation xmlns:k="urn:kinetree:cosimulation" {}>'
    '<k:Wire to="b.u" slope="rate" {}/></k:CoSimulation></c:Annotation></s:Annotations></s:DefaultExperiment>'
)


def test_ssp_defaults_for_step_and_stop_time(tmp_path: Path):
    """A thousandth of the run where nothing is said of the step, a second where nothing is said of the run, held values by another's scheme."""
    ends = component("a", connector("y", "output") + connector("rate", "output")) + component(
        "b", connector("u", "input"), BINDING.format(f">{INLINE}")
    )
    path = tmp_path / "x.ssp"

    def scenario(tail: str):
        with ZipFile(path, "w") as made:
            made.writestr("resources/unit.fmu", b"")
            made.mkdir("more")
            made.writestr(
                "SystemStructure.ssd",
                HEAD.format(
                    body=system(ends, connection("a.y", "b.u", TWICE)), tail=tail, version="1.0"
                ),
            )
        return scenario_of_ssp(path, tmp_path / "in")

    bare = scenario("")
    assert (bare.stop_time, bare.step_size, bare.scheme, bare.coupling, bare.name) == (
        1.0,
        0.001,
        "held",
        None,
        "foreign",
    )
    (wire,) = bare.connections
    assert (
        wire.source,
        wire.target,
        wire.slope,
        wire.factor,
        wire.offset,
        wire.mean,
        wire.hold,
        wire.bond,
    ) == (
        "a.y",
        "b.u",
        "",
        2,
        1,
        False,
        False,
        "",
    )
    assert [(unit.name, unit.fmu, unit.start) for unit in bare.units] == [
        ("a", str(tmp_path / "in" / "resources/unit.fmu"), {}), ("b", str(tmp_path / "in" / "resources/unit.fmu"), {"width": 250.0, "count": 3}),
    ]  # fmt: skip
    assert (tmp_path / "in" / "more").is_dir()
    told = scenario(
        OURS.format(' stopTime="2"', 'scheme="repeat" stepSize="0.25"', 'mean="true" bond="p"')
    )
    assert (told.stop_time, told.step_size, told.scheme) == (2.0, 0.25, "repeat")
    assert (
        told.connections[0].slope,
        told.connections[0].mean,
        told.connections[0].hold,
        told.connections[0].bond,
    ) == ("a.rate", True, False, "p")
    other = scenario(
        OURS.format(' startTime="0.0" stopTime="4"', 'scheme="chambers"', 'hold="true" mean="1"')
    )
    assert (
        other.scheme,
        other.step_size,
        other.connections[0].hold,
        other.connections[0].mean,
    ) == ("held", 0.004, True, False)
    with pytest.raises(BadInput, match="starts at 0.5 s; masters start at 0"):
        scenario(OURS.format(' startTime="0.5"', "", ""))


def member(name: str, size: int = 0, packed: int = 0) -> ZipInfo:
    found = ZipInfo(name)
    found.file_size, found.compress_size = size, packed
    return found


def test_ssp_size_and_name_limits_are_inclusive():
    """Ten thousand files, names of 200 characters, 2 GB; above 50 MB no more than two hundred bytes of each packed one."""
    check = lambda *members: foreign_archives.check_members(Path("x.ssp"), list(members))  # noqa: E731
    check(*[member("a")] * 10_000)
    check(member("n" * 200 + "/" + "m" * 200), member("a", 50_000_000, 1), member("d/"))
    check(member("a", 30_000_000, 150_000), member("b", 30_000_000, 150_000))
    check(member("a", 2_000_000_000, 1_000_000_000))
    for members, said in (
        ([member("a")] * 10_001, "10001 files, expected at most 10000"), ([member("a/" + "n" * 201)], "more than 200 characters"),
        ([member("a", 50_000_001, 250_000)], "250000 bytes would become 50000001"), ([member("a", 2_000_000_001, 1_000_000_000)], "would become"),
        ([member("a", 30_000_000, 149_999), member("b", 30_000_000, 150_000)], "299999 bytes would become 60000000"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=said):
            check(*members)


def test_ssp_sources_stay_in_the_folder(tmp_path: Path):
    assert [foreign_archives.stays(name) for name in ("a", "a/b", "a..b", "./a")] == [True] * 4
    assert [
        foreign_archives.stays(name)
        for name in ("", "/a", "..", "a/../b", "a\\..\\b", "C:a", "\\a", "a\0b")
    ] == [False] * 8
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    assert archive.is_inside(tmp_path / "in", "a/b")
    assert not any(
        archive.is_inside(tmp_path / "in", name)
        for name in ("link/a", "http://x/a", "#a", "file:a", "../in/a")
    )


def test_missing_ssp_entries_stay_empty():
    assert Link("a", "y", "b", "u") == Link(
        "a", "y", "b", "u", 1.0, 0.0, "", False, False, ""
    ) and Base({}) == Base({}, 1.0, 0.0)
    empty = Structure("n", (Component("a", "f", (Connector("y", "output"),)),), ())
    assert (empty.start_time, empty.stop_time, empty.step_size, empty.scheme) == (
        0.0,
        None,
        None,
        "",
    )
    assert empty.component("a") is empty.components[0] and empty.component("b") is None
    assert (
        empty.components[0].connector("y") == Connector("y", "output", "Real", "")
        and empty.components[0].connector("x") is None
    )
