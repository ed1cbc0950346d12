"""System structures of others: subsystems, conversions of units, transformations; and what is refused, by name."""

from contextlib import suppress
from pathlib import Path
from xml.etree.ElementTree import fromstring
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from kinetree.scripts.cli import main
from kinetree.scripts.cosim.pack_drives import build_controller_fmu
from kinetree.scripts.cosim.position_controller import Controller, Pid
from kinetree.scripts.ssp.archive import unpack
from kinetree.scripts.ssp.read import other_step, read_ssd
from kinetree.scripts.ssp.structure import OMS, OSP, SSC, Structure
from kinetree.scripts.terminal.error_messages import BadInput

HEAD = (
    '<?xml version="1.0"?><s:SystemStructureDescription xmlns:s="http://ssp-standard.org/SSP1/SystemStructureDescription"'
    ' xmlns:c="http://ssp-standard.org/SSP1/SystemStructureCommon" xmlns:v="http://ssp-standard.org/SSP1/SystemStructureParameterValues"'
    ' version="{version}" name="foreign"><s:System name="root">{body}</s:System>{tail}</s:SystemStructureDescription>'
)
UNITS = '<s:Units><c:Unit name="mm"><c:BaseUnit m="1" factor="0.001"/></c:Unit><c:Unit name="m"><c:BaseUnit m="1"/></c:Unit></s:Units>'


def connector(name: str, kind: str, unit: str = "", element: str = "Real") -> str:
    return f'<s:Connector name="{name}" kind="{kind}"><c:{element}{f" unit={chr(34)}{unit}{chr(34)}" if unit else ""}/></s:Connector>'


def component(
    name: str, connectors: str, more: str = "", facts: str = 'source="resources/unit.fmu"'
) -> str:
    return f'<s:Component name="{name}" {facts}><s:Connectors>{connectors}</s:Connectors>{more}</s:Component>'


def connection(start: str, end: str, more: str = "") -> str:
    ends = []
    for which, text in (("start", start), ("end", end)):
        element, _, name = text.rpartition(".")
        ends.append(
            (f'{which}Element="{element}" ' if element else "") + f'{which}Connector="{name}"'
        )
    return f"<s:Connection {' '.join(ends)}>{more}</s:Connection>"


def system(elements: str, connections: str = "") -> str:
    return f"<s:Elements>{elements}</s:Elements>" + (
        f"<s:Connections>{connections}</s:Connections>" if connections else ""
    )


def read(folder: Path, body: str, tail: str = "", version: str = "1.0") -> Structure:
    (folder / "resources").mkdir(exist_ok=True)
    (folder / "resources" / "unit.fmu").write_bytes(b"")
    (folder / "SystemStructure.ssd").write_text(HEAD.format(body=body, tail=tail, version=version))
    return read_ssd(folder, "foreign.ssp")


A = component("a", connector("y", "output", "mm"))
B = component("b", connector("u", "input", "m"))


def test_units_are_converted_before_a_transformation(tmp_path: Path):
    """b.u = 2 (1e-3 a.y) + 1."""
    more = '<c:LinearTransformation factor="2" offset="1"/>'
    (link,) = read(tmp_path, system(A + B, connection("a.y", "b.u", more)), UNITS).links
    assert (link.factor, link.offset) == pytest.approx((2e-3, 1.0))


def test_unit_conversion_can_be_suppressed(tmp_path: Path):
    wire = connection("a.y", "b.u").replace(
        "<s:Connection ", '<s:Connection suppressUnitConversion="true" '
    )
    (link,) = read(tmp_path, system(A + B, wire), UNITS).links
    assert (link.factor, link.offset) == (1.0, 0.0)


def test_subsystems_are_flattened(tmp_path: Path):
    """a.y goes out of its system by 'out' (times 3), into another by 'in' (plus 1): the wire is direct."""
    inner = f'<s:System name="left"><s:Connectors>{connector("out", "output")}</s:Connectors>'
    inner += (
        system(
            component("a", connector("y", "output")),
            connection("a.y", "out", '<c:LinearTransformation factor="3"/>'),
        )
        + "</s:System>"
    )
    inner += f'<s:System name="right"><s:Connectors>{connector("in", "input")}</s:Connectors>'
    inner += (
        system(
            component("b", connector("u", "input")),
            connection("in", "b.u", '<c:LinearTransformation offset="1"/>'),
        )
        + "</s:System>"
    )
    structure = read(
        tmp_path,
        system(inner, connection("left.out", "right.in", '<c:LinearTransformation factor="2"/>')),
    )
    (link,) = structure.links
    assert [c.name for c in structure.components] == ["left.a", "right.b"]
    assert (link.start, link.start_connector, link.end, link.end_connector) == (
        "left.a",
        "y",
        "right.b",
        "u",
    )
    assert (link.factor, link.offset) == (6.0, 1.0)


def test_communication_steps_of_other_tools_are_read(tmp_path: Path):
    osp = (
        '<osp:Algorithm xmlns:osp="x"><osp:FixedStepAlgorithm baseStepSize="0.02"/></osp:Algorithm>'
    )
    note = f'<s:Annotations><c:Annotation type="com.opensimulationplatform">{osp}</c:Annotation></s:Annotations>'
    structure = read(
        tmp_path,
        system(A),
        f'<s:DefaultExperiment stopTime="3">{note}</s:DefaultExperiment>',
        "2.0",
    )
    assert (structure.step_size, structure.stop_time, structure.scheme) == (0.02, 3.0, "")


BINDING = "<s:ParameterBindings><s:ParameterBinding{}</s:ParameterBinding></s:ParameterBindings>"


INLINE = (
    '<s:ParameterValues><v:ParameterSet version="1.0" name="p"><v:Parameters>'
    '<v:Parameter name="width"><v:Real value="250" unit="mm"/></v:Parameter><v:Parameter name="count"><v:Integer value="3"/></v:Parameter>'
    '</v:Parameters><v:Units><c:Unit name="mm"><c:BaseUnit m="1" factor="0.001"/></c:Unit></v:Units></v:ParameterSet></s:ParameterValues>'
)


def test_values_are_converted_to_the_units_of_their_connectors(tmp_path: Path):
    body = component("a", connector("width", "parameter", "m"), BINDING.format(f">{INLINE}"))
    (unit,) = read(tmp_path, system(body), UNITS).components
    assert unit.values == {"width": pytest.approx(0.25), "count": 3}


def test_ssp_values_are_mapped_to_parameters(tmp_path: Path):
    """Only what a mapping names is given, under its target's name: half of the width in m, plus 1."""
    entry = '<m:MappingEntry source="width" target="half"><c:LinearTransformation factor="0.5" offset="1"/></m:MappingEntry>'
    space = 'xmlns:m="http://ssp-standard.org/SSP1/SystemStructureParameterMapping"'
    mapping = f'<s:ParameterMapping><m:ParameterMapping {space} version="1.0">{entry}</m:ParameterMapping></s:ParameterMapping>'
    body = component(
        "a", connector("half", "parameter", "m"), BINDING.format(f">{INLINE}{mapping}")
    )
    (unit,) = read(tmp_path, system(body), UNITS).components
    assert unit.values == {"half": pytest.approx(0.5 * 0.25 + 1.0)}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            system(component("a", "", "", 'source="resources/none.fmu"')),
            "component 'a': the archive has no 'resources/none.fmu'",
        ),
        (
            system(component("a", "", "", 'source="../unit.fmu"')),
            "component 'a': source '../unit.fmu' is not inside the archive",
        ),
        (
            system(
                component(
                    "a", "", "", 'source="resources/unit.fmu" type="application/x-ssp-package"'
                )
            ),
            "only FMUs .* are supported",
        ),
        (
            system(
                component("a", "", "", 'source="resources/unit.fmu" implementation="ModelExchange"')
            ),
            "asks for model exchange",
        ),
        (
            system('<s:SignalDictionaryReference name="d" dictionary="x"/>'),
            "<SignalDictionaryReference> 'd' is not supported",
        ),
        (system(A, connection("a.y", "b.u")), "there is no element 'b'"),
        (system(A + B, connection("a.z", "b.u")), "component 'a' has no connector 'z'"),
        (system(A + B, connection("b.u", "a.y")), "leads to an output"),
        (system(A + B, connection("a.y", "b.u") * 2), "two connections lead to b.u"),
        (
            system(A + B, connection("a.y", "b.u", "<c:BooleanMappingTransformation/>")),
            "only LinearTransformation",
        ),
        (
            system(
                component("a", connector("y", "output", "", "Binary")) + B, connection("a.y", "b.u")
            ),
            "a.y is of type Binary",
        ),
        (
            system(component("a", "", BINDING.format(f">{INLINE}<s:ParameterMapping/>"))),
            "a ParameterMapping without a source",
        ),
        (system(component("a", "", BINDING.format(">"))), "neither a source nor a ParameterSet"),
        (system(""), "no components"),
    ],
)
def test_unsupported_ssp_features_are_named(tmp_path: Path, body: str, said: str):
    with pytest.raises(BadInput, match=f"foreign.ssp: SystemStructure.ssd: .*({said})"):
        read(tmp_path, body)


def test_incompatible_ssp_units_are_named(tmp_path: Path):
    tail = UNITS.replace('name="m"><c:BaseUnit m="1"', 'name="m"><c:BaseUnit s="1"')
    with pytest.raises(BadInput, match="a.y -> b.u: mm cannot become m"):
        read(tmp_path, system(A + B, connection("a.y", "b.u")), tail)


@pytest.mark.parametrize(
    ("version", "said"),
    [("3.0", "version '3.0' of SSP is not known"), ("Draft", "version 'Draft'")],
)
def test_unknown_versions_are_named(tmp_path: Path, version: str, said: str):
    with pytest.raises(BadInput, match=said):
        read(tmp_path, system(A), "", version)


def test_invalid_ssp_archives_are_named(tmp_path: Path, capsys: pytest.CaptureFixture):
    path = tmp_path / "x.ssp"
    path.write_text("not a zip")
    assert main(["cosim", str(path)]) == 2 and "is not an SSP archive" in capsys.readouterr().err
    with ZipFile(path, "w") as archive:
        archive.writestr("../escape", "x")
    assert main(["cosim", str(path)]) == 2 and "leads out of it" in capsys.readouterr().err
    with ZipFile(path, "w") as archive:
        archive.writestr("readme", "x")
    assert (
        main(["cosim", str(path)]) == 2
        and "holds no SystemStructure.ssd" in capsys.readouterr().err
    )
    assert (
        main(["cosim", str(tmp_path / "none.ssp")]) == 2
        and "no such file" in capsys.readouterr().err
    )


def test_ssp_archive_of_another_tool_runs(tmp_path: Path):
    """Two proportional controllers in a row, the values inline with prefixes of components: u2 = g2 (0 - 1e-3 g1 (2 - 0))."""
    fmu = build_controller_fmu(Controller(Pid(gain=1.0, lower=-9.0, upper=9.0)), tmp_path / "c.fmu")
    values = "".join(
        f'<v:Parameter name="{name}"><v:Real value="{value}"/></v:Parameter>'
        for name, value in (("one.pid.gain", 3.0), ("two.pid.gain", 500.0), ("one.target", 2.0))
    )
    inline = f'><s:ParameterValues><v:ParameterSet version="1.0" name="p"><v:Parameters>{values}</v:Parameters></v:ParameterSet></s:ParameterValues>'
    parts = [
        component(name, connector("command", "output", "mm") + connector("measured", "input", "m"))
        for name in ("one", "two")
    ]
    body = BINDING.format(inline) + system(
        "".join(parts), connection("one.command", "two.measured")
    )
    path = tmp_path / "chain.ssp"
    with ZipFile(path, "w") as archive:
        archive.write(fmu, "resources/unit.fmu")
        archive.writestr("SystemStructure.ssd", HEAD.format(body=body, tail=UNITS, version="1.0"))
    result = tmp_path / "result.csv"
    scheme = ["--scheme", "sequential", "--step-size", "0.1", "--stop-time", "0.2"]
    assert main(["cosim", str(path), "-o", str(result), "-q", *scheme]) == 0
    assert float(result.read_text().splitlines()[-1].split(",")[1]) == pytest.approx(6.0)


def packed(path: Path, files: dict[str, bytes]) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "name",
    ["../out.txt", "/out.txt", "a/../../out.txt", "C:/out.txt", "..\\out.txt", "\\\\host\\out.txt"],
)
def test_archive_paths_cannot_escape(tmp_path: Path, name: str):
    path = packed(tmp_path / "x.ssp", {name: b"1"})
    with pytest.raises(BadInput, match="leads out of it"):
        unpack(path, tmp_path / "in")
    assert not list(tmp_path.rglob("out.txt"))


def test_archive_bombs_are_refused(tmp_path: Path):
    """60 MB of zeros in 60 kB; the same amount of noise is taken for what it is."""
    path = packed(tmp_path / "x.ssp", {"a.bin": bytes(60_000_000)})
    assert path.stat().st_size < 100_000
    with pytest.raises(BadInput, match="would become"):
        unpack(path, tmp_path / "in")
    assert not (tmp_path / "in" / "a.bin").exists()


def test_links_long_names_and_damage_are_refused(tmp_path: Path):
    link = ZipInfo("link")
    link.external_attr = 0o120777 << 16
    with ZipFile(tmp_path / "link.ssp", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(BadInput, match="is a link"):
        unpack(tmp_path / "link.ssp", tmp_path / "in")
    with pytest.raises(BadInput, match="more than 200 characters"):
        unpack(packed(tmp_path / "long.ssp", {"n" * 300: b"1"}), tmp_path / "in")
    good = packed(tmp_path / "good.ssp", {"SystemStructure.ssd": b"<a/>" * 1000}).read_bytes()
    for k in range(
        len(good)
    ):  # every byte of headers and content changed once: refused, or the same or other content, never another error
        (tmp_path / "bad.ssp").write_bytes(good[:k] + bytes([good[k] ^ 0x55]) + good[k + 1 :])
        with suppress(BadInput):
            unpack(tmp_path / "bad.ssp", tmp_path / "in")


@pytest.mark.parametrize(
    "source",
    [
        "/etc/hostname",
        "../secret.ssv",
        "file:///etc/hostname",
        "%2e%2e/secret.ssv",
        "a/../../secret.ssv",
        "C:\\secret.ssv",
    ],
)
def test_ssp_values_are_read_from_archive(tmp_path: Path, source: str):
    """The source of a parameter set, and of a mapping, is a file of the archive like that of a component."""
    (tmp_path / "secret.ssv").write_text("<ParameterSet/>")
    bound = component("a", "", BINDING.format(f' source="{source}">'))
    mapped = component("a", "", BINDING.format(f'>{INLINE}<s:ParameterMapping source="{source}"/>'))
    for body in (bound, mapped):
        with pytest.raises(BadInput, match="is not inside the archive"):
            read(tmp_path, system(body))


def test_xml_entities_are_refused(tmp_path: Path):
    (tmp_path / "SystemStructure.ssd").write_text('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>')
    with pytest.raises(BadInput, match="declares entities"):
        read_ssd(tmp_path, "x.ssp")


@pytest.mark.parametrize("source", ["u" * 300 + ".fmu", "(" * 5000, "a/" * 3000 + "unit.fmu"])
def test_sources_longer_than_names_of_files_are_refused(tmp_path: Path, source: str):
    """The system refuses to look for such a file, which was not a refusal of ours."""
    with pytest.raises(BadInput, match="the archive has no|is not inside"):
        read(tmp_path, system(component("a", connector("y", "output"), facts=f'source="{source}"')))


def values_of(folder: Path, kind: str, value: str, change: str = "") -> dict:
    """The values of a component with one parameter of a type, mapped with a transformation where there is one."""
    mapping = '<s:ParameterMapping><m:ParameterMapping xmlns:m="http://ssp-standard.org/SSP1/SystemStructureParameterMapping" version="1.0">'
    mapping += f'<m:MappingEntry source="p" target="p">{change}</m:MappingEntry></m:ParameterMapping></s:ParameterMapping>'
    inline = (
        f'><s:ParameterValues><v:ParameterSet version="1.0" name="n"><v:Parameters>'
        f'<v:Parameter name="p"><v:{kind} value="{value}"/></v:Parameter>'
    )
    inline += f"</v:Parameters></v:ParameterSet></s:ParameterValues>{mapping if change else ''}"
    (found,) = read(folder, system(component("a", "", BINDING.format(inline)))).components
    return dict(found.values)


TWICE = '<c:LinearTransformation factor="2" offset="1"/>'


@pytest.mark.parametrize(
    "kind, value, change, meant",
    [
        ("Real", "2.5", "", 2.5), ("Real", "2.5", TWICE, 6.0), ("Integer", "3", "", 3), ("Integer", "3", TWICE, 7),
        ("Integer", "3", '<c:LinearTransformation factor="0.5" offset="0.5"/>', 2),
        ("Boolean", "true", "", True), ("Boolean", "1", "", True), ("Boolean", "false", "", False), ("String", "true", "", "true"),
    ],
)  # fmt: skip
def test_values_keep_their_types(tmp_path: Path, kind: str, value: str, change: str, meant: object):
    """Mapped with a transformation whole numbers are computed as others are; it was left out."""
    found = values_of(tmp_path, kind, value, change)["p"]
    assert found == meant and type(found) is type(meant)


@pytest.mark.parametrize(
    "kind, value, change, said",
    [
        ("Integer", "2.7", "", "expected a whole number"),
        ("Integer", "3", '<c:LinearTransformation factor="0.5"/>', "expected a whole number"),
        ("Boolean", "true", TWICE, "a LinearTransformation is for numbers"),
        ("Binary", "00", "", "of type Binary"),
    ],
)
def test_invalid_ssp_values_are_refused(
    tmp_path: Path, kind: str, value: str, change: str, said: str
):
    with pytest.raises(BadInput, match=said):
        values_of(tmp_path, kind, value, change)


@pytest.mark.parametrize("owner", [OMS, OSP, "org.somebody"])
@pytest.mark.parametrize("kind", ["FixedStepMaster", "FixedStepAlgorithm", "VariableStepMaster"])
def test_foreign_step_sizes_are_read_from_annotations(owner: str, kind: str):
    """OMSimulator's master and libcosim's algorithm, each in the annotation of its own tool and by its own name of the step."""
    text = f'<r xmlns:c="{SSC}"><c:Annotation type="{owner}"><x:{kind} xmlns:x="u" stepSize="0.1" baseStepSize="0.2"/></c:Annotation></r>'
    told = {(OMS, "FixedStepMaster"): "0.1", (OSP, "FixedStepAlgorithm"): "0.2"}
    assert other_step(fromstring(text)) == told.get((owner, kind))
