"""The host of instances, call by call in both versions of the standard, over functions that note what they are asked; nothing is run."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fmpy.simulation
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from kinetree.fmu.variables import Access
from kinetree.models.engine.status import EvaluationError
from kinetree.scripts.cosim.time_profile import value_at
from kinetree.scripts.fmi import host_programs, model_exchange
from kinetree.scripts.fmi.bare_c_host import HostError
from kinetree.scripts.fmi.fmpy_host import Archive, Host, Reals, reasons
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.solvers.layout import Status
from kinetree.solvers.library.platforms import PLATFORMS


class Fmu:
    """Every function notes its name and what it is given, and answers with numbers."""

    def __init__(self) -> None:
        self.log: list[Any] = []
        self.refuses = False

    def __getattr__(self, name: str) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            self.log.append((name, *given, *sorted(named.items())))
            if name == "terminate" and self.refuses:
                raise ValueError("it does not")
            return [b"text"] if name == "getString" else [1.0, 2.0]

        return call


@pytest.fixture(params=[2, 3])
def host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Host:
    made: list[Any] = []
    monkeypatch.setattr(
        fmpy.simulation,
        "instantiate_fmu",
        lambda *given, **named: (made.append((given, named)), Fmu())[1],
    )
    archive: Any = SimpleNamespace(
        version=request.param, folder="f", description="d", references={"a": 3, "b": 4}
    )
    found = Host(archive, kind="ModelExchange", early=True)
    ((given, named),) = made
    assert (
        given == ("f", "d", "ModelExchange")
        and named.pop("logger")
        and named == {"debug_logging": True, "early": True}
    )
    return found


def test_host_calls_fmi_functions_in_order(host: Host):
    two = host.archive.version == 2
    host.start({"b": 7.0}, start_time=0.5, tolerance=1e-3)
    times = (("startTime", 0.5), ("tolerance", 1e-3))
    setting = ("setReal" if two else "setFloat64", [4], [7.0])
    begin = (
        [("setupExperiment", *times), setting, ("enterInitializationMode",)]
        if two
        else [setting, ("enterInitializationMode", *times)]
    )
    assert host.fmu.log == [*begin, ("exitInitializationMode",)] and host.time == 0.5
    host.fmu.log.clear()
    host.step(0.75)
    host.set({})
    assert (
        host.get(["b", "a"]) == [1.0, 2.0]
        and host.integers(["a"]) == [1.0, 2.0]
        and host.text("b") == "text"
        and host.time == 0.75
    )
    state = host.save()
    host.step(1.0)
    host.restore(state)
    assert (
        state == (0.75, [1.0, 2.0])
        and host.time == 0.75
        and host.serialized(state) == [1.0, 2.0]
        and host.parsed(b"x", 2.0) == (2.0, [1.0, 2.0])
    )
    host.forget(state)
    host.close()
    word = "FMUstate" if two else "FMUState"
    assert host.fmu.log == [
        ("doStep", ("communicationStepSize", 0.25), ("currentCommunicationPoint", 0.5)), ("getReal" if two else "getFloat64", [4, 3]),
        ("getInteger" if two else "getInt32", [3]), ("getString", [4]), (f"get{word}",),
        ("doStep", ("communicationStepSize", 0.25), ("currentCommunicationPoint", 0.75)), (f"set{word}", state[1]),
        (f"serialize{word}", state[1]), (f"deSerialize{word}" if two else f"deserialize{word}", b"x"), (f"free{word}", state[1]),
        ("terminate",), ("freeInstance",),
    ]  # fmt: skip
    host.fmu.log.clear()
    host.fmu.refuses = True
    with pytest.raises(ValueError, match="it does not"):
        host.close()
    assert [each[0] for each in host.fmu.log] == ["terminate", "freeInstance"]
    logger: Any = host._log_2 if two else host._log_3
    for words in (b"it says", b""):
        logger(*[None] * (4 if two else 3), words)
    assert host.messages == ["it says", ""]


@pytest.mark.parametrize("status", [0, 1, 2])
def test_real_variables_are_read_in_one_call(host: Host, status: int):
    """One call with places for the values, twice their number in FMI 3.0; a warning is no failure."""
    from fmpy.fmi1 import FMICallException

    asked: list[Any] = []

    def read(component: Any, references: Any, *rest: Any) -> int:
        asked.append(
            (
                component,
                list(references),
                [each if isinstance(each, int) else len(each) for each in rest],
            )
        )
        rest[1][:] = [0.5, 2.5]
        return status

    name = "fmi2GetReal" if host.archive.version == 2 else "fmi3GetFloat64"
    host.fmu.component, host.fmu.dll = 17, SimpleNamespace(**{name: read})
    reals = Reals(host, [7, 9])
    if status == 2:
        with pytest.raises(FMICallException, match=f"{name} failed with status 2"):
            reals.read()
    else:
        assert list(reals.read()) == [0.5, 2.5]
    assert asked == [(17, [7, 9], [2, 2] if host.archive.version == 2 else [2, 2, 2])]


def test_archive_lists_variable_names():
    """Reals of a causality; those that are compared are outputs and locals."""
    archive = object.__new__(Archive)
    kinds = [
        ("a", "Real", "output"),
        ("b", "Float64", "local"),
        ("c", "Integer", "output"),
        ("d", "Real", "input"),
        ("e", "Float64", "output"),
    ]
    archive.description = SimpleNamespace(
        modelVariables=[SimpleNamespace(name=n, type=t, causality=c) for n, t, c in kinds]
    )  # type: ignore[assignment]
    assert archive.names("output") == ["a", "e"] and archive.names("input") == ["d"]


def test_source_archive_is_compiled_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """For this platform, in the place of its version; what has binaries, or no sources, is left as it is."""
    from kinetree.fmu.source import archive as sources
    from kinetree.solvers.library import platforms

    made: list[Any] = []
    here: list[Any] = [PLATFORMS["linux64"]]
    monkeypatch.setattr(sources, "compile_sources", lambda *given: made.append(given))
    monkeypatch.setattr(platforms, "this_platform", lambda: here[0])
    archive: Any = object.__new__(Archive)
    archive.folder = str(tmp_path)
    part = SimpleNamespace(modelIdentifier="m")
    archive.description = SimpleNamespace(coSimulation=None, modelExchange=part, fmiVersion="3.0")
    assert not archive._compile()
    (tmp_path / "sources").mkdir()
    assert archive._compile() and made == [
        (tmp_path, tmp_path / "binaries" / "x86_64-linux" / "m.so")
    ]
    archive.description = SimpleNamespace(coSimulation=part, modelExchange=None, fmiVersion="2.0")
    assert archive._compile() and made[1] == (tmp_path, tmp_path / "binaries" / "linux64" / "m.so")
    here[0] = None
    assert not archive._compile()
    here[0] = PLATFORMS["linux64"]
    (tmp_path / "binaries").mkdir()
    assert not archive._compile() and len(made) == 2
    assert not archive.needs_python
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "slavemodule.txt").write_text("")
    assert archive.needs_python
    archive.unpack(tmp_path.parent / "there")
    assert (
        archive.folder == str(tmp_path.parent / "there")
        and archive.needs_python
        and not tmp_path.exists()
    )
    archive.__exit__()
    assert not Path(archive.folder).exists()


class Drive:
    """A drive by simple laws."""

    force, pressure_a, pressure_b, spool, profile = 9.0, 2.0, 3.0, 0.25, ((0.0, 0.0), (2.0, 1.0))
    cylinder = SimpleNamespace(force=lambda a, b: a - 2.0 * b)
    valve = SimpleNamespace(time_constant=0.5)

    def rates(self, spool: float, length: float, speed: float, a: float, b: float) -> np.ndarray:
        return np.array([spool + length, speed + a * b])


def test_exchange_combines_mechanism_and_drive(monkeypatch: pytest.MonkeyPatch):
    """Time and states go into the FMU, length and speed come out, the force goes in before its rates; the spool follows its profile."""
    log: list[Any] = []

    def states(at: Any, count: int) -> None:
        at[0], at[1] = 5.0, 6.0

    def rates(at: Any, count: int) -> None:
        at[0], at[1] = log[-1]["lift.force"], 1.5

    fmu = SimpleNamespace(
        enterContinuousTimeMode=lambda: log.append("continuous"), getContinuousStates=states, setTime=lambda t: log.append(t),
        setContinuousStates=lambda at, count: log.append((at[0], at[1], count)), getDerivatives=rates,
    )  # fmt: skip

    class Stub:
        def __init__(self, archive: Any, kind: str):
            self.fmu = fmu
            log.append(kind)

        def start(self, values: dict[str, float]) -> "Stub":
            log.append(values)
            return self

        def get(self, names: tuple[str, ...]) -> list[float]:
            log.append(names)
            return [0.125, -4.0]

        def set(self, values: dict[str, float]) -> None:
            log.append(values)

    monkeypatch.setattr(model_exchange, "Host", Stub)
    archive: Any = SimpleNamespace(description=SimpleNamespace(numberOfContinuousStates=2))
    drive: Any = Drive()
    whole = model_exchange.Exchanged(archive, drive, "lift")
    assert whole.start.tolist() == [5.0, 6.0, 2.0, 3.0, 0.25] and log == [
        "ModelExchange",
        {"lift.force": 9.0},
        "continuous",
    ]
    log.clear()
    found = whole(1.0, np.array([7.0, 8.0, 4.0, 1.0, 0.5]))
    assert log == [1.0, (7.0, 8.0, 2), ("lift.length", "lift.speed"), {"lift.force": 2.0}]
    assert found.tolist() == [2.0, 1.5, 0.625, 0.0, (value_at(drive.profile, 1.0) - 0.5) / 0.5]


def test_fmpy_run_returns_last_values(monkeypatch: pytest.MonkeyPatch):
    """Steps at multiples, so that nothing adds up; of model exchange the last row."""
    done: list[Any] = []
    stub = SimpleNamespace(
        step=done.append,
        get=lambda names: (done.append(names), [1.0])[1],
        close=lambda: done.append("close"),
    )
    monkeypatch.setattr(host_programs, "Host", lambda archive: SimpleNamespace(start=lambda: stub))
    task = host_programs.Task(SimpleNamespace(folder="f"), False, ["x"], 0.1, 3)  # type: ignore[arg-type]
    assert (
        host_programs.by_fmpy(task, PLATFORMS["linux64"]) == [1.0]
        and done == [0.1, 0.2, 3 * 0.1, ["x"], "close"]
        and task.end == 3 * 0.1
    )
    result = np.array([(0.0, 1.0), (0.5, 2.0)], dtype=[("time", float), ("x", float)])
    monkeypatch.setattr(
        fmpy, "simulate_fmu", lambda folder, **options: (done.append((folder, options)), result)[1]
    )
    task = host_programs.Task(SimpleNamespace(folder="f"), True, ["x"], 0.25, 2)  # type: ignore[arg-type]
    assert host_programs.by_fmpy(task, PLATFORMS["linux64"]) == [2.0]
    wanted = {
        "stop_time": 0.5,
        "fmi_type": "ModelExchange",
        "solver": "CVode",
        "relative_tolerance": 1e-8,
        "output_interval": 0.25,
    }
    assert done[-1] == ("f", wanted | {"output": ["x"], "record_events": False})


def test_c_host_command_line_is_complete(monkeypatch: pytest.MonkeyPatch):
    """Library, resources, token, version and kind, references; step, count, states by their rates, indicators. Lines of values count."""
    asked: list[Any] = []
    variables = [SimpleNamespace(derivative=each) for each in (None, 1, 2, None)]
    description = SimpleNamespace(
        guid="g", instantiationToken="t", modelVariables=variables, numberOfEventIndicators=None, coSimulation=SimpleNamespace(modelIdentifier="m"),
        modelExchange=SimpleNamespace(modelIdentifier="e"),
    )  # fmt: skip
    monkeypatch.setattr(host_programs, "launcher", lambda platform: (["run"], {"A": "b"}))
    monkeypatch.setattr(host_programs, "native_program", lambda name, platform: Path(f"/{name}"))
    monkeypatch.setattr(host_programs, "resources_place", lambda archive, platform: "place")

    def finished(
        line: list[str], folder: Path, environment: dict[str, str], read: Any
    ) -> list[float]:
        asked.append((line, folder, environment))
        return read("noise\nvalue 1.5\nvalues 3\nvalue -2\n")

    monkeypatch.setattr(host_programs, "finished", finished)
    for version, is_exchange, words in (
        (2, False, ["g", "fmi2", "cs"]),
        (3, True, ["t", "fmi3", "me"]),
    ):
        archive: Any = SimpleNamespace(
            folder="/f", version=version, description=description, references={"a": 7, "b": 9}
        )
        task = host_programs.Task(archive, is_exchange, ["b", "a"], 0.5, 4)
        assert host_programs.by_c_program(task, PLATFORMS["linux64"]) == [1.5, -2.0]
        chosen = replace(task, tolerance=1e-3, parameters={"a": 2.5, "b": 1.0})
        assert host_programs.by_c_program(chosen, PLATFORMS["linux64"], "omc") == [1.5, -2.0]
        assert asked.pop()[0][-2:] == ["0.001", "7=2.5,9=1.0"]
        line, folder, environment = asked.pop()
        assert (
            line[:2] == ["run", "/motion_host"]
            and line[2].startswith("/f/binaries/")
            and Path(line[2]).stem == ("e" if is_exchange else "m")
        )
        assert (
            line[3:] == ["place", *words, "9,7", "0.5", "4", "2", "0"]
            and folder == Path("/f")
            and environment == {"A": "b"}
        )


def test_result_table_row_at_a_time_is_read(tmp_path: Path):
    """The last row within a millionth of it; columns by their plain names."""
    path = tmp_path / "t.csv"
    path.write_text(
        "time,model.root.a, b ,c[1,2],f(g(x,y),z)\n1.0,1,2,3,4\n2.0000029,5,6,7,8\n2.0,9,10,11,12\n2.0000031,0,0,0,0\n"
    )
    assert host_programs.row_at(path, ["f(g(x,y),z)", "c[1,2]", "b", "a"], 2.0) == [
        12.0,
        11.0,
        10.0,
        9.0,
    ]
    assert host_programs.row_at(path, ["a"], 1.0 + 1.9e-6) == [1.0]
    with pytest.raises(HostError, match="no row at t = 1"):
        host_programs.row_at(path, ["a"], 1.0 + 2.1e-6)
    path.write_text("time,a\n0.000001,1\n")
    with pytest.raises(HostError, match="no row at t = 0"):
        host_programs.row_at(path, ["a"], 0.0)
    names = ["x", "x_residual", "y.mean_speed", "der(x,2)", "z"]
    assert host_programs.outputs(SimpleNamespace(names=lambda causality: names)) == ["x", "z"]  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [0, 2])
def test_in_process_twin_calls_engine_entries(status: int, monkeypatch: pytest.MonkeyPatch):
    """Inputs at their starts before the start, at themselves after it; parameters are prepared anew; options are set after every reset."""
    from kinetree.scripts.fmi import in_process_reference as in_process

    calls: list[Any] = []
    variables = [
        SimpleNamespace(name="u", access=Access.INPUT, start_at=40, write=41, at=41),
        SimpleNamespace(name="p", access=Access.TUNABLE, write=42, at=42),
    ]  # fmt: skip
    monkeypatch.setattr(
        in_process, "variable_table", lambda unit: SimpleNamespace(variables=variables, renamed={})
    )
    ends = [0]

    def bind(name: str, ints: Any, floats: Any, work: np.ndarray) -> Any:
        calls.append(("bind", name))
        return lambda option, t: (calls.append((name, option, t)), ends[0])[1]

    unit = SimpleNamespace(work_size=64, options={50: 2.5}, ints=None, floats=None)
    twin = InProcess(unit, bind)
    assert calls == [("bind", "unit_reset"), ("unit_reset", 0, 0.0)] and twin.work[50] == 2.5
    twin.work[50] = 0.0
    twin.reset()
    assert twin.work[50] == 2.5 and calls[2:] == [("unit_reset", 0, 0.0)]
    calls.clear()
    twin.start({"u": 3.0, "p": 4.0}, 0.5)
    assert twin.work[[40, 41, 42]].tolist() == [3.0, 0.0, 4.0] and calls == [
        ("bind", "unit_start"),
        ("unit_start", 0, 0.5),
    ]
    twin.head.time = 0.75
    calls.clear()
    twin.set({"u": 6.0})
    twin.set({"p": 7.0, "u": 8.0})
    twin.step(1.0)
    assert twin.get(["p", "u"]) == [7.0, 8.0] and [each for each in calls if each[0] != "bind"] == [
        ("unit_refresh", 0, 0.75), ("unit_prepare", 0, 0.75), ("unit_advance", 0, 1.0)
    ]  # fmt: skip
    ends[0] = status
    if status:
        twin.head.item = 3
        with pytest.raises(
            EvaluationError, match=r"the model in this process, at t = 0.75: [a-z ]+, item 3"
        ):
            twin.step(1.5)


@pytest.mark.parametrize(
    ("raised", "said", "told"),
    [
        (FMICallException("fmi2DoStep", 3), b"it tips over", "fmi2DoStep.*: it tips over"),
        (
            Exception("Failed to instantiate model"),
            b"it is damaged",
            "instantiate.*: it is damaged",
        ),
        (FMICallException("fmi2DoStep", 3), b"", "fmi2DoStep failed with status 3"),
        (ValueError("no such column"), b"it tips over", "^no such column$"),
        (EvaluationError("too many steps", Status.TOO_MANY_STEPS), b"so it is", "^too many steps$"),
    ],
)
def test_host_errors_include_message_of_the_fmu(raised: Exception, said: bytes, told: str):
    """The last line that it logs follows the name of the call; other errors are told as they are."""
    listening: Any = SimpleNamespace(messages=[])
    with pytest.raises(Exception, match=told), reasons():
        Host.heard(listening, said)
        raise raised
    assert listening.messages == [said.decode()]
