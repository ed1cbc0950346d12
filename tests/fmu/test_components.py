"""FMUs as WebAssembly components: digits, events, states and refusals of the component are those of the native binary."""

import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.component.assemble import MANIFEST
from kinetree.fmu.variables import FmuError
from kinetree.models import load
from kinetree.scripts.commands.verify import hosts_on
from kinetree.scripts.fmi.bare_c_host import HostError
from kinetree.scripts.fmi.component_host import (
    ComponentInstance,
    ExchangeRun,
    LoadedComponent,
    component_of,
)
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.solvers.library.platforms import WEBASSEMBLY, this_platform

HERE = this_platform()
pytestmark = [
    pytest.mark.skipif(find_spec("wasmtime") is None, reason="wasmtime is not installed"),
    pytest.mark.skipif(find_spec("ziglang") is None, reason="zig is not installed"),
    pytest.mark.skipif(HERE is None, reason="this machine has no native FMU"),
]
STEP, COUNT = 0.02, 70
SAME = 1e-12
WALL = {
    "format": "kinetree/1",
    "name": "Ball between walls ü",
    "gravity": [0, 0, -9.81],
    "parameters": {"keeps": 0.7, "width": {"value": 1.0, "tunable": True}},
    "inputs": {"wind": {"start": 0.5}},
    "bodies": {"ball": {"mass": 2.0}},
    "joints": {
        "j": {
            "child": "ball",
            "transforms": [
                {"shift": "z", "coordinate": "h", "start": 1.0},
                {"shift": "x", "coordinate": "x", "start": 0.1},
            ],
        }
    },
    "forces": {"blow": {"coordinate": "x", "value": "wind*sin(3*t) - 4*x/width"}},
    "events": {
        "bounce": {"when": "h < 0 and der(h) < 0", "set": {"h": 0.0, "der(h)": "-keeps*der(h)"}}
    },
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("component") / "ball.fmu"
    assert HERE is not None
    build_fmu(load(WALL), path, "native", 3, platforms=[HERE.name, WEBASSEMBLY.name])
    with Archive(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def instance(archive):
    """instance(exchange) -> a new instance of the component"""
    d: Any = archive.description
    loaded = LoadedComponent(component_of(archive, d.coSimulation.modelIdentifier))

    def new(exchange: bool = False, token: str = "") -> ComponentInstance:
        return ComponentInstance(loaded, token or d.instantiationToken, exchange)

    return new


def test_component_archive_declares_its_layered_standard(archive):
    with zipfile.ZipFile(archive.path) as file:
        (name,) = (n for n in file.namelist() if n.startswith("binaries/wasm32-wasip2/"))
        assert Path(name).name == f"{archive.description.coSimulation.modelIdentifier}.wasm"
        told = ElementTree.fromstring(file.read(MANIFEST)).attrib
    assert [value for key, value in told.items() if key.endswith("fmi-ls-name")] == [
        "org.modelica.fmi-ls-wasm"
    ]


def test_component_motion_equals_native_binary_bitwise(archive, instance):
    """With an input and a tunable parameter that change, through bounces."""
    names = [name for name in archive.reals if not name.endswith("_residual")]
    references = [archive.references[name] for name in names]
    native, component = Host(archive).start(), instance()
    component.begin()
    for k in range(COUNT):
        given = {"wind": 0.1 * k, "width": 1.0 + 0.01 * k}
        native.set(given)
        component(
            "set-float64",
            [archive.references[n] for n in given],
            [float(x) for x in given.values()],
        )
        native.step((k + 1) * STEP)
        component.step(k * STEP, STEP)
        np.testing.assert_allclose(component.read(references), native.get(names), SAME, SAME)
    assert component("get-int32", [archive.references["events"]])[0] >= 2
    native.close()


def test_component_model_exchange_finds_events_of_a_run(archive, instance):
    """Indicators cross, the host halves to the instant, the event turns the speed."""
    native, names = Host(archive).start(), ["h", "der(h)", "x", "der(x)"]
    for k in range(COUNT):
        native.step((k + 1) * STEP)
    fmu = instance(exchange=True)
    run = ExchangeRun(fmu)
    assert fmu("get-number-of-continuous-states") == len(run.states) == 4
    assert len(fmu("get-nominals-of-continuous-states")) == 4
    run.until(COUNT * STEP)
    run.move(run.time, run.states)
    found = fmu.read([archive.references[name] for name in names])
    np.testing.assert_allclose(found, native.get(names), 1e-7, 1e-7)
    native.close()


def test_states_transfer_between_component_and_native_binary(archive, instance):
    names = archive.names("output")
    references = [archive.references[name] for name in names]
    native, first, second = Host(archive).start(), instance(), instance()
    first.begin()
    for k in range(COUNT // 2):
        first.step(k * STEP, STEP)
    state = first("get-fmu-state")
    at = COUNT // 2 * STEP
    native.restore(native.parsed(state, at))
    second("set-fmu-state", state)
    assert second("get-fmu-state") == state
    for k in range(COUNT // 2, COUNT):
        native.step((k + 1) * STEP)
        second.step(k * STEP, STEP)
    np.testing.assert_allclose(second.read(references), native.get(names), SAME, SAME)
    assert second.raw("set-fmu-state", state[:-8]) == "error"
    assert second.raw("set-fmu-state", state[:-1] + bytes([state[-1] ^ 1])) == "error"
    native.close()


def test_component_returns_directional_and_adjoint_derivatives(archive, instance):
    """v.J.s is the same both ways."""
    fmu = instance(exchange=True)
    ExchangeRun(fmu)
    known = [archive.references["wind"], archive.references["x"]]
    unknown = [archive.references["der(x,2)"]]
    rows = [fmu("get-directional-derivative", unknown, known, list(s)) for s in np.eye(2)]
    np.testing.assert_allclose(np.ravel(rows), [0.0, -2.0], atol=1e-7)  # sin(0), 4/width/mass
    back = fmu("get-adjoint-derivative", unknown, known, [1.0])
    np.testing.assert_allclose(back, np.ravel(rows), atol=1e-12)


def test_component_refuses_misuse_with_a_message(archive, instance):
    """An error is a status, never the end of the host; the instance says what was wrong."""
    with pytest.raises(HostError, match="identifier"):
        instance(token="{another}")
    fmu = instance()
    fmu.raw("set-debug-logging", True, ["logAll"])
    assert fmu.raw("do-step", 0.0, STEP, False) == "error"
    fmu.begin()
    assert fmu.raw("get-float64", [10**6]) == "error"
    assert fmu.raw("set-float64", [archive.references["wind"]], [np.nan]) == "error"
    assert fmu.raw("set-float64", [archive.references["wind"]], []) == "error"
    assert fmu.raw("get-int8", [archive.references["wind"]]) == "error"
    assert fmu.raw("get-binary", []) == []
    assert fmu.raw("get-interval-decimal", []) == "error"
    assert fmu.raw("set-clock", [], [True]) == "error"
    assert fmu.raw("enter-configuration-mode") == "error"
    assert "wind" in " ".join(fmu.messages)
    for method in fmu.interface.methods:
        assert fmu.function(f"[method]{fmu.interface.resource}.{method}") is not None
    assert fmu.step(0.0, STEP) == STEP
    fmu("reset")
    fmu.begin()
    other = instance()
    other.begin()
    assert other.step(0.0, STEP) == fmu.step(0.0, STEP) == STEP
    other.close()
    assert fmu.step(STEP, STEP) == 2 * STEP


def test_component_returns_version_and_strings(archive, instance):
    fmu = instance()
    place = fmu.inside.get_export_index(fmu.store, "fmi:fmi3/common@3.0.0")
    version = fmu.inside.get_export_index(fmu.store, "get-version", place)
    assert fmu.inside.get_func(fmu.store, version)(fmu.store) == "3.0"
    fmu.begin()
    texts = [v for v in archive.description.modelVariables if v.type == "String"]
    references = [v.valueReference for v in texts]
    assert all(fmu("get-string", references)) if references else fmu("get-string", []) == []


def test_verify_accepts_platform_names_and_families():
    assert hosts_on("wasm") == ["wasmtime"]
    assert hosts_on("darwin, win64") == ["wine", "mapped", "apple"]
    assert hosts_on("") == []
    with pytest.raises(BadInput, match="'vax'"):
        hosts_on("wasm,vax")


def test_component_requires_fmi_3_and_native_back_end(tmp_path):
    """Named alone it is refused; among all it is left out, which is said."""
    for backend, fmi in (("native", 2), ("python", 3)):
        with pytest.raises(FmuError, match="--backend native --fmi 3"):
            build_fmu(load(WALL), tmp_path / "x.fmu", backend, fmi, platforms=[WEBASSEMBLY.name])
