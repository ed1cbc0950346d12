"""Modelica packages whose external object calls the engine: a C program plays the tool, repeats, reorders and goes back an epoch."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kinetree.fmu.archive.payload import token_of
from kinetree.fmu.external.library import LIBRARY
from kinetree.fmu.external.package import package_text, write_package
from kinetree.fmu.unit import fmu_unit
from kinetree.fmu.variables import variable_table
from kinetree.models import load
from kinetree.scripts.cli import main
from kinetree.scripts.fmi.bare_c_host import launcher, no_compiler, why_not
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.solvers.library.c_compiler import compiler, cross_compiler
from kinetree.solvers.library.platforms import PLATFORMS, this_platform

HERE = this_platform()
TOOL = Path(__file__).parents[1] / "data" / "modelica_tool.c"
BALL = {
    "format": "kinetree/1",
    "name": "ball",
    "gravity": [0, 0, -9.81],
    "parameters": {"height": 1.0, "keeps": 0.7, "push": {"value": 1.0, "tunable": True}},
    "inputs": {"wind": {"start": 0.5}},
    "bodies": {"ball": {"mass": 2.0}},
    "joints": {
        "j": {
            "child": "ball",
            "transforms": [
                {"shift": "z", "coordinate": "h", "start": "height"},
                {"shift": "x", "coordinate": "x"},
            ],
        }
    },
    "forces": {"blow": {"coordinate": "x", "value": "push*wind*if(t > 0.35, 2, 1)"}},
    "events": {
        "bounce": {"when": "h < 0 and der(h) < 0", "set": {"h": 0.0, "der(h)": "-keeps*der(h)"}}
    },
}


@pytest.fixture(scope="module")
def tool(tmp_path_factory):
    """run(mechanism, style, end, step, names, ...) -> values, lines that are no values."""
    if HERE is None or HERE.system != "Linux" or no_compiler():
        pytest.skip("external objects are built on Linux, with a C compiler")
    folder = tmp_path_factory.mktemp("external")
    packages: dict[str, tuple[Path, object]] = {}

    def run(
        mechanism, style, end, step, names, hostile=False, inputs=None, parameters=None, tuned=None
    ):
        key = str(mechanism)
        if key not in packages:
            unit = fmu_unit(load(mechanism))
            place = write_package(unit, folder / f"Mechanism{len(packages)}", lambda text: None)
            program = place / "tool"
            library = next((place / "Resources" / "Library").iterdir())
            linked = [f"-L{library}", f"-l{LIBRARY}", f"-Wl,-rpath,{library}", "-lm"]
            line = [*compiler(), "-O1", "-w", str(TOOL), "-o", str(program), *linked]
            subprocess.run(line, check=True)
            packages[key] = place, unit
        place, unit = packages[key]
        table = variable_table(unit)
        reference = {v.name: vr for vr, v in table.numbered()}

        def pair(given):
            given = given or {}
            return [
                ",".join(str(reference[name]) for name in given),
                ",".join(repr(value) for value in given.values()),
            ]

        numbers = [len(table.states), len(table.indicators), end, step, int(hostile)]
        model = place / "Resources" / "Data" / "model.kinetree"
        wanted = ",".join(str(reference[name]) for name in names)
        later = [*pair(tuned[1]), str(tuned[0])] if tuned else []
        done = subprocess.run(
            [str(place / "tool"), str(model), token_of(unit, table), style, *map(str, numbers), wanted, *pair(inputs), *pair(parameters), *later],
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        rows = [line.split() for line in done.stdout.splitlines()]
        values = [float(row[1]) for row in rows if row[:1] == ["value"]]
        run.slopes = [float(row[1]) for row in rows if row[:1] == ["slope"]]
        return values, [" ".join(row) for row in rows if row[:1] not in (["value"], ["slope"])]

    return run


def stepped(mechanism, end, names, values=None):
    """The same by the own integrator."""
    twin = InProcess(fmu_unit(load(mechanism))).start(values)
    twin.step(end)
    return twin.get(names)


def test_integrating_tool_finds_events_of_external_object(tool):
    """A bounce, and a force that jumps at an instant; inputs, and parameters that decide the start."""
    names, given = ["h", "der(h)", "x"], {"height": 0.9, "keeps": 0.5}
    values, said = tool(BALL, "exchange", 1.0, 1e-2, names, inputs={"wind": 0.8}, parameters=given)
    right = stepped(BALL, 1.0, names, given | {"wind": 0.8})
    assert values == pytest.approx(right, abs=1e-9) and said[0].startswith("events ")


def test_repeated_reordered_and_stale_calls_have_no_effect(tool):
    names = ["h", "der(h)", "x", "der(x)"]
    for style, step in (("exchange", 1e-2), ("steps", 5e-3)):
        plain = tool(BALL, style, 1.0, step, names, inputs={"wind": 0.8})
        assert tool(BALL, style, 1.0, step, names, hostile=True, inputs={"wind": 0.8}) == plain


@pytest.mark.parametrize(("style", "step"), [("exchange", 1e-2), ("steps", 5e-3)])
@pytest.mark.parametrize("hostile", [False, True])
def test_tunable_parameters_change_during_the_run(style, step, hostile, tool):
    """An event of its own in Exchange, a sample in Steps; going back an epoch brings the old value back."""
    names, inputs = ["h", "x", "der(x)"], {"wind": 0.8}
    given = {"hostile": hostile, "inputs": inputs, "tuned": (0.5, {"push": 3.0})}
    values, said = tool(BALL, style, 1.0, step, names, **given)
    twin = InProcess(fmu_unit(load(BALL))).start(inputs)
    twin.step(0.5)
    twin.set({"push": 3.0})
    twin.step(1.0)
    assert values == pytest.approx(twin.get(names), abs=1e-7)
    assert not [line for line in said if line.startswith("differs")]
    assert abs(values[2] - tool(BALL, style, 1.0, step, names, inputs=inputs)[0][2]) > 0.3


def test_external_object_derivatives_match_rates(tool):
    """Along 1 in time, all states and the input: speeds by 1, the force by the wind over the mass."""
    tool(BALL, "exchange", 0.01, 1e-2, ["h"], inputs={"wind": 0.8})
    table = variable_table(fmu_unit(load(BALL)))
    names = [v.name for v in sorted((v for v in table.variables if v.state >= 0), key=lambda v: v.state)]  # fmt: skip
    right = {"h": 1.0, "x": 1.0, "der(h)": 0.0, "der(x)": 0.5}
    assert tool.slopes == pytest.approx([right[name] for name in names], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["win64", "darwin64", "aarch64-linux", "aarch64-darwin"])
def test_libraries_of_other_platforms_export_their_functions(name, tmp_path):
    """They are built here by zig; what a tool calls can be found in them."""
    pytest.importorskip("ziglang")
    place = write_package(fmu_unit(load(BALL)), tmp_path / "Ball", lambda text: None, [name])
    (library,) = (place / "Resources" / "Library" / name).iterdir()
    content = library.read_bytes()
    assert library.name == f"lib{LIBRARY}{library.suffix}"
    for function in ("new", "rates", "slopes", "event", "step"):
        assert f"{LIBRARY}_{function}".encode() in content


@pytest.mark.slow
@pytest.mark.platforms
@pytest.mark.parametrize("name", ["win64", "aarch64-linux"])
def test_tool_on_another_platform_finds_the_events(name, tmp_path):
    """The tool under Wine and QEMU, on the library of its platform: the bounces of the own integrator."""
    target = PLATFORMS[name]
    if reason := why_not(target):
        pytest.skip(reason)
    unit = fmu_unit(load("lib:bouncing-ball"))
    table = variable_table(unit)
    place = write_package(unit, tmp_path / "Ball", lambda text: None, name)
    (library,) = (place / "Resources" / "Library" / name).iterdir()
    program = Path(shutil.copy(library, tmp_path)).with_name(f"tool{'.exe' * (name == 'win64')}")
    linked = [str(library)] if name == "win64" else [f"-L{library.parent}", f"-l{LIBRARY}", f"-Wl,-rpath,{library.parent}", "-lm"]  # fmt: skip
    line = [*cross_compiler(target.zig), "-O1", "-w", str(TOOL), "-o", str(program), *linked]
    subprocess.run(line, check=True)
    command, environment = launcher(target)
    model = f"{'Z:' * (name == 'win64')}{place / 'Resources' / 'Data' / 'model.kinetree'}"
    reference = {v.name: str(vr) for vr, v in table.numbered()}
    states = [v.name for v in table.variables if v.state >= 0]
    numbers = [str(len(table.states)), str(len(table.indicators)), "1.0", "1e-3", "1"]
    done = subprocess.run(
        [*command, str(program), model, token_of(unit, table), "exchange", *numbers, ",".join(reference[each] for each in states)],
        capture_output=True, text=True, env=environment or None, timeout=120,
    )  # fmt: skip
    values = [float(row.split()[1]) for row in done.stdout.splitlines() if row[:5] == "value"]
    assert values == pytest.approx(stepped("lib:bouncing-ball", 1.0, states), abs=1e-6), done


def test_self_integrating_external_object_matches_run(tool):
    names = ["h", "der(h)", "x"]
    values, _ = tool(BALL, "steps", 1.0, 5e-3, names)
    assert values == pytest.approx(stepped(BALL, 1.0, names), abs=1e-7)


@pytest.mark.parametrize(
    "name, end, step",
    [("bouncing-ball", 1.0, 1e-3), ("pendulum-stop", 1.0, 1e-3), ("woodpecker", 0.3, 1e-4)],
)
def test_external_object_handles_contacts(name, end, step, tool):
    """Without and with friction."""
    names = [
        v.name for v in variable_table(fmu_unit(load(f"lib:{name}"))).variables if v.state >= 0
    ]
    right = stepped(f"lib:{name}", end, names)
    for hostile in (False, True):
        values, _ = tool(f"lib:{name}", "exchange", end, step, names, hostile=hostile)
        assert values == pytest.approx(right, abs=1e-6)


def test_external_object_errors_reach_the_tool(tool):
    _, said = tool(BALL, "exchange", 1.0, 1e-2, ["h"], parameters={"height": float("nan")})
    assert "height" in said[0] and "error" in said[0]


@pytest.mark.parametrize("name", ["boom", "bouncing-ball", "carrier", "boom-drive", "excavator"])
def test_written_packages_are_valid_modelica(name):
    """Braces and classes close, every variable is declared once, every class has its functions; rumoca's parser takes the text."""
    unit = fmu_unit(load(f"lib:{name}"))
    text = package_text(unit, "Made", "{token}")
    for sign, closing in ("{}", "()", "[]"):
        assert text.count(sign) == text.count(closing)
    assert "{token}" in text and text.rstrip().endswith("end Made;")
    assert "derivative = slopes" not in text
    told = package_text(unit, "Made", "{token}", derivatives=True)
    assert told.replace("\n    annotation(derivative = slopes);", "") == text != told
    for style in ("Exchange", "Steps"):
        body = text.split(f"  model {style} ")[1].split(f"  end {style};")[0]
        declared = [line.split("(")[0].split("[")[0].split() for line in body.split("equation")[0].splitlines()]  # fmt: skip
        names = [words[-1] for words in declared if len(words) > 1 and words[0] in ("Real", "Integer")]  # fmt: skip
        assert len(set(names)) == len(names)
    rumoca = pytest.importorskip("rumoca")
    for each_text in (text, told):
        assert not [each for each in rumoca.validate_source(each_text) if " error: " in str(each)]
    broken = text.replace("end when;", "end which;", 1)
    assert [each for each in rumoca.validate_source(broken) if " error: " in str(each)]


def test_modelica_command_writes_external_package(tmp_path, capsys):
    if HERE is None or HERE.system != "Linux":
        pytest.skip("external objects are built on Linux")
    assert main(["modelica", "lib:pendulum", "--external", "-o", str(tmp_path / "Swing")]) == 0
    assert "Swing.Exchange" in capsys.readouterr().out
    assert (tmp_path / "Swing" / "Resources" / "Data" / "model.kinetree").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()
    for name, word in (
        ("other", "other files"),
        ("no-name", "identifier"),
        ("model", "identifier"),
    ):
        assert main(["modelica", "lib:pendulum", "--external", "-o", str(tmp_path / name)]) == 2
        assert word in capsys.readouterr().err
