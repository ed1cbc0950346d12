"""What a modelDescription declares is what its functions do: each capability is called by name, in both FMI versions."""

import ctypes
import math
import re

import pytest
from fmpy.fmi1 import FMICallException
from stub_unit import stub_shell, stub_unit

from kinetree.fmu.archive import capabilities
from kinetree.fmu.archive.build import pack_unit
from kinetree.fmu.native.shell import HERE, layout_header
from kinetree.scripts.fmi.fmpy_host import Archive, Host

K, M, C, PULL = 40.0, 2.0, 0.5, 3.0


@pytest.fixture(scope="module", params=[2, 3])
def archive(request, tmp_path_factory):
    with Archive(
        pack_unit(
            stub_unit(),
            tmp_path_factory.mktemp("capable") / "x.fmu",
            "native",
            request.param,
            shell=stub_shell(),
        )
    ) as opened:
        yield opened


def started(archive, kind="CoSimulation", **options):
    return Host(archive, kind=kind, **options).start()


def only(archive, version):
    if archive.version != version:
        pytest.skip(f"of FMI {version}.0")


def test_every_declared_capability_is_called_by_a_test():
    """A capability without a line here is not declared: the functions behind several were there and had never run."""
    tested = {
        "needsExecutionTool": "tests/fmu/test_fmu_python.py",
        "canNotUseMemoryManagementFunctions": "the shell allocates for itself; every test",
        "canHandleVariableCommunicationStepSize": "kinetree verify",
        "canInterpolateInputs": "test_input_derivatives_last_one_step",
        "maxOutputDerivativeOrder": "test_output_derivatives_match_motion",
        "providesDirectionalDerivative": "test_directional_derivatives_match_equation",
        "providesDirectionalDerivatives": "test_directional_derivatives_match_equation",
        "providesAdjointDerivatives": "test_adjoint_derivatives_equal_transposed_directional_ones",
        "providesEvaluateDiscreteStates": "test_evaluating_discrete_states_does_not_update_them",
        "needsCompletedIntegratorStep": "test_model_exchange_event_time_matches_cosimulation",
        "providesIntermediateUpdate": "test_fmi_3_event_mode_handles_events",
        "mightReturnEarlyFromDoStep": "test_fmi_3_event_mode_handles_events",
        "hasEventMode": "test_fmi_3_event_mode_handles_events",
        "canGetAndSetFMUstate": "test_state_of_one_stage_restores_from_another",
        "canGetAndSetFMUState": "test_state_of_one_stage_restores_from_another",
        "canSerializeFMUstate": "test_state_transfers_between_processes",
        "canSerializeFMUState": "test_state_transfers_between_processes",
    }
    offered = (
        capabilities.NATIVE_2,
        capabilities.NATIVE_3,
        capabilities.PYTHON_2,
        capabilities.PYTHON_3,
    )
    declared = {name for kinds in offered for names in kinds.values() for name in names}
    assert declared <= set(tested)


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_adjoint_derivatives_equal_transposed_directional_ones(archive, kind):
    """seedᵀ d(unknowns)/d(knowns) against the matrix that is known: x'' = (pull - k x - c x')/m and power = pull x'."""
    only(archive, 3)
    host = started(archive, kind)
    ref, seed = archive.references, [2.0, -3.0]
    unknowns = [ref["der(x,2)"], ref["power"]]
    v = host.get(["der(x)"])[0]
    found = host.fmu.getAdjointDerivative(unknowns, [ref["pull"], ref["x"], ref["der(x)"]], seed, 3)
    rows = [[1 / M, -K / M, -C / M], [v, 0.0, PULL]]
    assert list(found) == pytest.approx(
        [seed[0] * a + seed[1] * b for a, b in zip(*rows)], abs=1e-8
    )  # central differences: eps^(2/3)
    with pytest.raises(FMICallException):
        host.fmu.getAdjointDerivative(unknowns, [ref["power"]], seed, 1)
    host.fmu.freeInstance()


def test_evaluating_discrete_states_does_not_update_them(archive):
    only(archive, 3)
    host = started(archive, "ModelExchange")  # in event mode
    x, stage = host.get(["x"]), host.integers(["stage"])
    evaluate = lambda: host.fmu.dll.fmi3EvaluateDiscreteStates(ctypes.c_void_p(host.fmu.component))  # noqa: E731
    assert evaluate() == 0
    assert (host.get(["x"]), host.integers(["stage"])) == (x, stage)
    host.fmu.enterContinuousTimeMode()
    assert evaluate() == 3
    host.fmu.freeInstance()


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_reset_restores_the_initial_state_of_an_instance(archive, kind):
    host = started(archive, kind)
    first = host.get(archive.names("output"))
    if kind == "CoSimulation":
        host.set({"k": 10.0, "pull": -5.0})
        host.step(0.3)
    host.fmu.reset()
    assert host.get(["k", "pull"]) == [K, PULL]
    host.start()
    assert host.get(archive.names("output")) == first
    host.fmu.freeInstance()


def test_fmi_2_status_queries_are_answered(archive):
    """What is asked has an answer, or is not available; to cancel a step while there is none is an error with a message."""
    only(archive, 2)
    host = started(archive)
    host.step(0.1)
    c, dll = host.fmu.component, host.fmu.dll
    status, real, truth = ctypes.c_int(-1), ctypes.c_double(-1.0), ctypes.c_int(-1)
    assert (dll.fmi2GetStatus(ctypes.c_void_p(c), 0, ctypes.byref(status)), status.value) == (0, 0)
    assert (dll.fmi2GetRealStatus(ctypes.c_void_p(c), 2, ctypes.byref(real)), real.value) == (
        0,
        0.1,
    )
    assert (dll.fmi2GetBooleanStatus(ctypes.c_void_p(c), 3, ctypes.byref(truth)), truth.value) == (
        0,
        0,
    )
    assert dll.fmi2GetStatus(ctypes.c_void_p(c), 1, ctypes.byref(status)) == 2
    assert dll.fmi2GetIntegerStatus(ctypes.c_void_p(c), 0, ctypes.byref(status)) == 2
    assert dll.fmi2CancelStep(ctypes.c_void_p(c)) == 3
    assert any("no step is in progress" in message for message in host.messages)
    host.step(0.2)
    host.fmu.freeInstance()


def test_modes_of_an_instance_are_not_renamed_by_the_glossary():
    """A constant EVENT of the engine became the event mode of the shell, which then took continuous time for event mode in every call."""
    defined = {line.split()[1] for line in layout_header().splitlines()}
    words = {word for path in (*HERE.glob("*.h"), *HERE.glob("*.c")) for text in re.findall(r"enum[^{;]*\{([^}]*)\}", path.read_text())
             for word in re.findall(r"\b[A-Z][A-Z0-9_]*\b", re.sub(r"/\*.*?\*/", "", text))}  # fmt: skip
    assert {"EVENT", "STEP", "CONTINUOUS"} <= words
    assert not defined & words


def test_log_categories_select_messages(archive):
    """Events alone, everything, nothing but errors; a category that does not exist is a warning that names it."""
    values = {"limit": 0.3, "x": 0.2, "der(x)": 1.0}

    def said(on, categories):
        host = Host(archive)
        host.fmu.setDebugLogging(on, categories)
        host.start(values)
        host.step(0.5)
        with pytest.raises(FMICallException):
            host.set({"pull": math.nan})
        host.fmu.freeInstance()
        return ["event" if "event" in message else "error" for message in host.messages]

    assert said(True, ["logEvents"]) == ["event"]
    assert said(True, ["logStatusError"]) == ["error"]
    assert said(True, ["logAll"]) == said(True, []) == ["event", "error"]
    assert said(False, []) == ["error"]  # what goes wrong is never silent
    host = Host(archive)
    host.fmu.setDebugLogging(True, ["logNothing"])
    assert any("unknown log category 'logNothing'" in message for message in host.messages)
    host.fmu.freeInstance()
