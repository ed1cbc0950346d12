"""What benchmarks put together, without their clocks, their counters and their peers: which cases, which differences, which rows are told."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.scripts.bench import (
    bytecode_counts,
    fmu,
    fmu_step_instructions,
    instructions,
    integrate_exudyn,
    loops,
    trace_robots,
)
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.solvers.library.processor_levels import LEVELS

ROW = "{count:,} (10.0%)  ???:kinetree::solvers::engine::kinematics::{name}[abi:v65](model) [/c/{library}]\n"


def test_missing_engine_is_built_before_counting_instructions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Callgrind gets the blocks as files; what it tells is divided by the evaluations."""
    case = instructions.evaluations("a tree", "lib:pendulum")
    lines: list[list[str]] = []

    def run(line: list[str], **options: Any) -> SimpleNamespace:
        lines.append([str(word) for word in line])
        if line[0] == "valgrind":
            assert [Path(path).read_bytes() for path in line[-3:]] == [
                block.tobytes() for block in case.blocks
            ]
        return SimpleNamespace(
            returncode=0,
            stdout=ROW.format(count=40 * case.count, name="motion", library="engine.so"),
            stderr="",
        )

    monkeypatch.setattr(instructions.subprocess, "run", run)
    assert instructions.count(case, tmp_path / "engine.so") == {
        "total": 40.0,
        "engine.kinematics.motion": 40.0,
    }
    (out,) = (
        word.partition("=")[2] for word in lines[0] if word.startswith("--callgrind-out-file")
    )
    assert lines[0][-6].startswith("kt_repeat") and lines[1] == [
        "callgrind_annotate",
        "--threshold=100",
        out,
    ]
    made: list[tuple[str, str]] = []
    monkeypatch.setattr(instructions, "sound", lambda path: False)
    monkeypatch.setattr(instructions, "make_library", lambda *what: made.append(what))
    monkeypatch.setattr(instructions, "level", lambda: LEVELS[0])
    assert instructions.library() == instructions.library_path("core", LEVELS[0]) and made == [
        ("core", LEVELS[0])
    ]
    monkeypatch.setattr(instructions, "level", lambda: "generic")
    with pytest.raises(BadInput, match="counts on x86-64 machines"):
        instructions.library()


def test_fmu_step_count_is_the_difference_of_two_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """What loading costs, which both have, is no step's."""

    def watched(name: str, folder: Path, host: str, *arguments: str) -> str:
        count = int(arguments[-2])
        own = 30 * count + (7 if count > instructions.STEPS else 0)
        both = ROW.format(count=500 + own, name="motion", library="unit.so")
        return both + (
            ROW.format(count=20, name="rare", library="unit.so")
            if count > instructions.STEPS
            else ""
        )

    monkeypatch.setattr(
        fmu_step_instructions,
        "unpacked",
        lambda *what: (tmp_path / "unit.so", ["guid", "file:///resources"]),
    )
    monkeypatch.setattr(instructions, "watched", watched)
    found = instructions.fmu_step("a step")
    more = 7 / instructions.STEPS
    assert (
        found["engine.kinematics.motion"] == pytest.approx(30 + more)
        and found["engine.kinematics.rare"] == 20 / instructions.STEPS
    )
    assert found["total"] == pytest.approx(30 + more + 20 / instructions.STEPS)


def test_growth_of_instruction_count_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    cost = 100.0
    for name, value in (
        ("require_valgrind", lambda who: None), ("library", lambda: tmp_path), ("fmu_step", lambda name: {"total": cost, "step": cost}),
        ("compilation", lambda: {"total": cost, "nodes.node": cost}),
        ("count", lambda case, engine: {"total": cost, "motion": cost / 2, "dec": cost / 2}),
    ):  # fmt: skip
        monkeypatch.setattr(instructions, name, value)
    kept = tmp_path / "kept.json"
    instructions.run(False, kept, None)
    said = capsys.readouterr().out
    data = json.loads(kept.read_text())
    assert (
        len(data["instructions"]) == len({case.name for case in instructions.cases()}) + 1
        and "motion 50 %, dec 50 %" in said
    )
    instructions.run(True, None, None, kept)
    cost = 103.0
    with pytest.raises(BadInput) as told:
        instructions.run(True, None, None, kept)
    rows = str(told.value).splitlines()
    assert rows[0] == "more instructions than before:" and rows[1].endswith(
        "100 -> 103 instructions; motion 50 -> 52, dec 50 -> 52"
    )
    assert rows[-1] == "compile lib:chain6: 100 -> 103 instructions; nodes.node 100 -> 103"


def test_bytecode_counting_restores_previous_tracer():
    """Nothing of ours was called: nothing is counted, and whoever traced before goes on."""
    before = sys.gettrace()
    assert (
        bytecode_counts.bytecodes(lambda: sum(range(10))) == {"total": 0.0}
        and sys.gettrace() is before
    )


def test_fmu_benchmark_rows_contain_size_and_times(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """The smallest of both back ends, then a mechanism and chains by both; short runs have fewer chains."""

    def packed(mechanism: Any, path: Path, backend: str, **options: Any) -> Path:
        path.write_bytes(b"x" * 1500)
        return path

    def small(path: Path) -> Path:
        path.write_bytes(b"x" * 500)
        return path

    for name, value in (
        ("build_fmu", packed),
        ("minimal_native", small),
        ("minimal_python", small),
        ("cold_start", lambda path: 2.5),
    ):
        monkeypatch.setattr(fmu, name, value)
    monkeypatch.setattr(
        fmu,
        "calls",
        lambda path, outputs: {
            "step": path.stat().st_size / 500,
            "get": 1.0,
            "values": outputs,
            "set": 0.5,
        },
    )
    kept = tmp_path / "kept.json"
    report = fmu.run(True, kept)
    assert json.loads(kept.read_text())["step_s"] == fmu.STEP
    rows = [(row["model"], row["backend"], row["size"]) for row in report["rows"]]
    assert rows[:2] == [("minimal", "native", 0.5), ("minimal", "python", 0.5)]
    assert rows[2:] == [
        (model, backend, 1.5)
        for model in ("regulator", "chain of 2", "chain of 12")
        for backend in ("native", "python")
    ]
    said = capsys.readouterr().out
    assert said.count("3.0x") == 6 and said.count("1.0x") == 2 and "2.5" in said
    assert len(fmu.measure(False, tmp_path)) == 2 + 2 * 5


def test_minimal_slave_decays_exponentially(monkeypatch: pytest.MonkeyPatch):
    """Of the host's package it uses three names."""
    made: list[tuple[str, str]] = []

    class Fmi2Slave:
        def __init__(self, **arguments: Any):
            assert arguments == {"instance_name": "x"}

        def register_variable(self, variable: tuple[str, str]) -> None:
            made.append(variable)

    module = ModuleType("pythonfmu")
    vars(module).update(
        Fmi2Causality=SimpleNamespace(output="output"),
        Fmi2Slave=Fmi2Slave,
        Real=lambda name, causality: (name, causality),
    )
    monkeypatch.setitem(sys.modules, "pythonfmu", module)
    monkeypatch.delitem(sys.modules, "kinetree.scripts.bench.minimal_slave", raising=False)
    from kinetree.scripts.bench.minimal_slave import MinimalSlave

    monkeypatch.delitem(sys.modules, "kinetree.scripts.bench.minimal_slave")
    slave = MinimalSlave(instance_name="x")
    assert (
        slave.do_step(0.0, 0.1)
        and slave.do_step(0.1, 0.1)
        and slave.x == pytest.approx(0.81)
        and made == [("x", "output")]
    )


def test_robot_benchmark_rows_are_complete(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """Times without what calls cost; a robot without straight-line code says why; generated code that cannot be made is left out."""
    times = {
        "specialised": 1000.0,
        "generic": 3.0,
        "pinocchio": 2.5,
        "empty": 0.5,
        "generated": 1.5,
        "call": 0.25,
        "mujoco": 4.5,
    }
    from kinetree.models.specialised.specialised_system import REPEATS

    found = trace_robots.in_engine(dict(times))
    expected = {
        "specialised_us": 1000.0 / REPEATS,
        "generic_us": 3.0,
        "pinocchio_us": 2.0,
        "generated_us": 1.25,
        "mujoco_us": 4.0,
    }
    assert found == expected
    trace_robots.show(
        {
            "robot": "arm",
            "freedoms": 2,
            "operations": 90,
            "bytes": 2345,
            "seconds": 0.5,
            **found,
            "specialised_us": 0.5,
        }
    )
    trace_robots.show({"robot": "hand", "freedoms": 99, "why": "too many operations"})
    full, none = capsys.readouterr().out.splitlines()
    assert (
        full == "| arm | 2 | 90 | 2 kB | 0.50 s | 0.5 | 3 | 2 | **4.0** | 1.25 (2.5) | 4 (8.0) |"
        and none.endswith("| too many operations |")
    )
    assert trace_robots.generated(tmp_path / "arm.urdf", None, tmp_path) is None
    line: list[list[str]] = []
    failed = lambda words, **options: (  # noqa: E731
        line.append(words) or SimpleNamespace(returncode=1, stdout="", stderr="no casadi")
    )
    monkeypatch.setattr(trace_robots.subprocess, "run", failed)
    assert trace_robots.generated(tmp_path / "arm.urdf", Path("python"), tmp_path) is None and line[
        0
    ][-2:] == [str(tmp_path / "arm.urdf"), "arm.c"]
    bare = trace_robots.bare(
        '<robot><link name="a"><visual/><inertial><mass value="1"/></inertial></link><transmission/><joint name="j"/></robot>'
    )
    assert (
        bare
        == '<robot><link name="a"><inertial><mass value="1" /></inertial></link><joint name="j" /></robot>'
    )


def test_generated_code_and_empty_call_are_timed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """The function sees pointers of q, u, no forces and the result; the one that does nothing is compiled once."""
    import ctypes

    seen: list[Any] = []

    def accelerate(given: Any, results: Any, numbers: int, scratch: int, memory: int) -> int:
        q, u, none = (ctypes.cast(given[k], ctypes.POINTER(ctypes.c_double)) for k in range(3))
        ctypes.cast(results[0], ctypes.POINTER(ctypes.c_double))[0] = q[0] + 10.0 * u[0] + none[0]
        seen.append(memory)
        return 0

    out = np.zeros(1)
    trace_robots.called(accelerate, np.array([2.0]), np.array([0.5]), out)(3)
    assert out[0] == 7.0 and seen == [0, 0, 0]
    function = trace_robots.peer_of_nothing(tmp_path)
    assert function(None, None, None, None, 5) == 5
    monkeypatch.setattr(
        trace_robots.subprocess, "run", lambda *words, **options: pytest.fail("it is there already")
    )
    assert trace_robots.peer_of_nothing(tmp_path)(None, None, None, None, 6) == 6
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert trace_robots.mujoco_call("<robot/>", np.zeros(1), np.zeros(1)) is None


def test_peer_methods_are_configured_by_settings(monkeypatch: pytest.MonkeyPatch):
    """The least time of three runs, its error at the end by the scale; tolerances of one method, steps of the other."""
    clock = iter(np.linspace(3.0, 1.0, 1000))
    asked: list[tuple[int, float, str, float]] = []

    def chain_run(bodies: int, stop: float, solver: str, value: float) -> tuple[np.ndarray, float]:
        asked.append((bodies, stop, solver, value))
        return np.array([1.0, 2.0, 3.0, 4.0 + value]), next(clock)

    monkeypatch.setattr(integrate_exudyn, "chain_run", chain_run)
    found = integrate_exudyn.exudyn_points(
        "chain", 2.0, np.array([1.0, 2.0, 3.0, 4.0]), np.full(4, 10.0), True
    )
    assert set(found) == {"Exudyn DOPRI5", "Exudyn RK67"} and asked[0] == asked[2] == (
        2,
        2.0,
        "DOPRI5",
        1e-2,
    )
    for points in found.values():
        assert all(point[1] == pytest.approx(point[0] / 10.0) and point[2] == 0 for point in points)
    assert [point[0] for point in found["Exudyn RK67"]] == [20.0, 80.0, 320.0, 1280.0, 5120.0]
    assert found["Exudyn DOPRI5"][0][3] == pytest.approx(3.0 - 2 * 2.0 / 999)

    def missing(*what: Any) -> Any:
        raise ImportError

    monkeypatch.setattr(integrate_exudyn, "chain_run", missing)
    assert integrate_exudyn.exudyn_points("chain", 2.0, np.zeros(4), np.ones(4), False) == {}


def test_missing_peers_are_skipped_in_loop_benchmark(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """In the plane nothing is measured without its peer, in space the others are; what tells other accelerations is told and left out."""

    def missing(name: str, timed: Any) -> list[dict[str, Any]]:
        raise ImportError

    def mixed(name: str, timed: Any) -> list[dict[str, Any]]:
        if name == list(loops.loops_spatial.DRAWINGS)[0]:
            raise BadInput("cannot be drawn")
        return [
            {"method": "ours", "us": 1.0},
            {"method": "near", "us": 2.0, "deviation": 0.0},
            {"method": "far", "us": 3.0, "deviation": 1.0},
        ]

    monkeypatch.setattr(loops.loops_plane, "accelerations", missing)
    assert loops.others() == []
    monkeypatch.setattr(loops.loops_spatial, "accelerations", mixed)
    found = loops.in_space()
    assert [row["method"] for row in found] == ["ours", "near"] * (
        len(loops.loops_spatial.DRAWINGS) - 1
    )
    assert "far" in capsys.readouterr().out
    monkeypatch.setattr(
        loops,
        "version",
        lambda package: loops.__dict__["missing"](package) if package == "pin" else "1.2",
    )
    monkeypatch.setitem(
        loops.__dict__,
        "missing",
        lambda package: (_ for _ in ()).throw(loops.PackageNotFoundError(package)),
    )
    assert loops.versions() == {"mujoco": "1.2", "exudyn": "1.2", "numpy": "1.2"}


def test_mujoco_accelerations_agree_on_same_model():
    """Without contacts and limits it falls as any pendulum does; a text with other coordinates, or none that it reads, has no times."""
    mujoco: Any = pytest.importorskip("mujoco")
    inertial = '<origin xyz="0 0 -1"/><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    joint = '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>'
    text = f'<robot name="r"><link name="base"/><link name="arm"><inertial>{inertial}</inertial></link>{joint}</robot>'
    q, u = np.array([0.3]), np.array([0.1])
    call = trace_robots.mujoco_call(text, q, u)
    assert call is not None
    call(2)
    data = next(
        each.cell_contents
        for each in call.__closure__ or ()
        if isinstance(each.cell_contents, tuple)
    )[1]  # type: ignore[attr-defined]
    assert isinstance(data, mujoco.MjData) and data.qacc[0] == pytest.approx(
        -2.0 * 9.81 * np.sin(0.3) / (2.0 + 1.0)
    )
    assert (
        trace_robots.mujoco_call(text, np.zeros(2), u) is None
        and trace_robots.mujoco_call("no robot", q, u) is None
    )
