"""The pythonfmu archive with the stand-in engine: every trap that is known of such slaves has its test."""

import gc
import json
import math
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from stub_unit import stub_shell, stub_unit

from kinetree.fmu.archive.build import pack_unit
from kinetree.scripts.fmi.fmpy_host import Archive, Host

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return pack_unit(
        stub_unit(),
        tmp_path_factory.mktemp("python slave %41 ü") / "spring.fmu",
        "python",
        shell=stub_shell(),
    )


@pytest.fixture(scope="module")
def archive(path):
    with Archive(path) as opened:
        yield opened


def alone(code: str, *arguments: str, **environment: str) -> dict:
    """Run code in a fresh process; the last line it prints is JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment or None,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_python_archive_equals_native_archive_bit_for_bit(host, tmp_path):
    native = Archive(pack_unit(stub_unit(), tmp_path / "n.fmu", "native", shell=stub_shell()))
    twin = Host(native)
    rows = []
    for each in (host, twin):
        each.start({"limit": 0.25, "x": 0.2, "der(x)": 1.0})
        rows.append([])
        for k in range(1, 101):
            each.set({"pull": math.sin(0.01 * k)})
            each.step(0.01 * k)
            rows[-1].append(
                [
                    *each.get(archive_names(each)),
                    *each.integers(["stage", "events", "solver_steps"]),
                    each.text("stage_name"),
                ]
            )
    assert rows[0] == rows[1]
    assert rows[0][-1][-1] == "released"
    twin.fmu.freeInstance()


def archive_names(host):
    return [name for name in host.archive.reals if not name.startswith("event_indicator")]


def test_python_archive_declares_no_execution_tool(archive):
    part = archive.description.coSimulation
    assert (part.needsExecutionTool, part.canBeInstantiatedOnlyOncePerProcess) == (False, False)
    assert (part.canGetAndSetFMUstate, part.canSerializeFMUstate) == (True, True)


def test_python_archive_needs_only_standard_library_and_pythonfmu(archive):
    code = """
import json, sys
sys.path.insert(0, sys.argv[1])
name = open(sys.argv[1] + "/slavemodule.txt").read().strip()
module = __import__(name)
slave = module.KinetreeSlave(instance_name="a", resources=sys.argv[1])
slave.setup_experiment(0.0); slave.enter_initialization_mode(); slave.exit_initialization_mode()
done = slave.do_step(0.0, 0.01)
print(json.dumps([done, [m for m in ("numpy", "numba", "kinetree") if m in sys.modules]]))
"""
    done, heavy = alone(code, str(Path(archive.folder) / "resources"))
    assert (done, heavy) == (True, [])


def test_fmu_falls_back_to_kernels_without_library(archive, tmp_path):
    """The stand-in engine has no kernels: what is tested is that their package comes along, under a name of its own, and is what is asked."""
    resources = Path(archive.folder) / "resources"
    packages = [p for p in resources.iterdir() if p.name.startswith("kinetree_kernels_")]
    assert len(packages) == 1
    assert (packages[0] / "entries" / "__init__.py").exists()
    assert not [
        p for p in packages[0].rglob("*.py") if "kinetree.solvers" in p.read_text(encoding="utf-8")
    ]


def test_two_instances_run_independently(archive):
    first = Host(archive).start()
    second = Host(archive).start({"x": 0.5})
    first.step(0.1)
    second.step(0.1)
    assert first.get(["x"]) != second.get(["x"])
    first.fmu.freeInstance()
    third = Host(archive).start({"x": 0.5})
    third.step(0.1)
    assert third.get(["x"]) == second.get(["x"])
    second.fmu.freeInstance()
    third.fmu.freeInstance()


def test_two_models_share_a_process(archive, tmp_path):
    other = Archive(
        pack_unit(stub_unit(k=10.0), tmp_path / "other.fmu", "python", shell=stub_shell())
    )
    a, b = Host(archive), Host(other)
    a.start()
    b.start()
    for k in range(1, 11):
        a.step(0.01 * k)
        b.step(0.01 * k)
    assert (a.get(["k"]), b.get(["k"])) == ([40.0], [10.0])
    assert a.get(["der(x,2)"]) == [
        pytest.approx((3 - 40 * a.get(["x"])[0] - 0.5 * a.get(["der(x)"])[0]) / 2)
    ]
    assert b.get(["der(x,2)"]) == [
        pytest.approx((3 - 10 * b.get(["x"])[0] - 0.5 * b.get(["der(x)"])[0]) / 2)
    ]
    a.fmu.freeInstance()
    b.fmu.freeInstance()


def test_python_archive_modules_have_unique_names(path, tmp_path):
    names = []
    for k in (40.0, 10.0):
        with zipfile.ZipFile(
            pack_unit(stub_unit(k=k), tmp_path / "x.fmu", "python", shell=stub_shell())
        ) as archive:
            names.append(archive.read("resources/slavemodule.txt").decode())
    assert all(name.startswith("kinetree_slave_") for name in names)


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"pull": math.nan}, "'pull' is set to nan"),
        ({"k": -1.0}, "outside of its range"),
        ({"m": 1.0}, "fixed parameter"),
        ({"power": 1.0}, "computed"),
    ],
)
def test_refused_values_are_named_and_change_nothing(host, values, word):
    """As in the native archive: an error with a message, and the steps after it go on; pythonfmu alone knows success and fatal only."""
    host.start()
    host.step(0.01)
    before = host.get(["x", "der(x)", "power", "k", "pull"])
    with pytest.raises(Exception, match="status 3"):
        host.set(values)
    assert any(word in message for message in host.messages)
    assert host.get(["x", "der(x)", "power", "k", "pull"]) == before
    host.step(0.02)


def test_wrong_call_order_is_an_error_not_fatal(host):
    with pytest.raises(Exception, match="status 3"):
        host.fmu.doStep(0.0, 0.01)
    assert any("not allowed before initialization" in message for message in host.messages)
    host.start()
    for begin, size in ((5.0, 0.01), (0.0, -0.01), (0.0, math.nan)):
        with pytest.raises(Exception, match="status 3"):
            host.fmu.doStep(begin, size)
    host.step(0.01)
    host.fmu.terminate()
    with pytest.raises(Exception, match="status 3"):
        host.fmu.doStep(0.01, 0.01)
    assert len(host.get(["x"])) == 1


def test_engine_failure_is_reported_and_recoverable(host):
    host.start()
    state = host.save()
    host.set({"pull": 1e308, "k": 1e308})
    with pytest.raises(Exception, match="status 3"):
        host.fmu.doStep(0.0, 0.01)
    assert any("not a finite number" in message for message in host.messages)
    host.get(["x", "power"])
    host.restore(state)
    host.step(0.01)


def test_unknown_references_are_errors_not_fatal(host):
    host.start()
    for call in (
        lambda: host.fmu.getReal([0, 4_000_000]),
        lambda: host.fmu.getInteger([1]),
        lambda: host.fmu.setReal([4_000_000], [1.0]),
        lambda: host.fmu.setInteger([1], [1]),
    ):
        with pytest.raises(Exception, match="status 3"):
            call()
    assert len(host.messages) == 4
    host.step(0.01)


def test_percent_signs_survive_in_messages(tmp_path):
    """The wrapper uses messages as printf formats."""
    unit = stub_unit()
    unit.stage_names = ["100 %s pulled", "50 %n released"]
    with Archive(pack_unit(unit, tmp_path / "x.fmu", "python", shell=stub_shell())) as archive:
        host = Host(archive).start({"limit": 0.3, "x": 0.2, "der(x)": 1.0})
        host.step(0.5)
        assert any("50 %n released" in message for message in host.messages)
        assert host.text("stage_name") == "50 %n released"
        host.fmu.freeInstance()


def test_saved_state_is_complete_and_transfers_between_instances(host, archive):
    host.start({"limit": 0.3, "x": 0.2, "der(x)": 1.0})
    state = host.save()
    data = host.serialized(state)
    host.step(0.5)
    end = host.get(["x", "event_time"])
    host.restore(state)
    assert host.integers(["stage"]) == [0]
    host.step(0.5)
    assert host.get(["x", "event_time"]) == end
    other = Host(archive).start()
    other.restore(other.parsed(data, 0.0))
    other.step(0.5)
    assert other.get(["x", "event_time"]) == end
    with pytest.raises(Exception, match="status 3"):
        other.restore(other.parsed(data[:-8], 0.5))
    assert any("damaged" in message for message in other.messages)
    other.fmu.freeInstance()
    host.forget(state)


def test_state_of_another_model_is_refused(host, tmp_path):
    host.start()
    with Archive(
        pack_unit(stub_unit(k=10.0), tmp_path / "other.fmu", "python", shell=stub_shell())
    ) as archive:
        other = Host(archive).start()
        with pytest.raises(Exception, match="status 3"):
            other.restore(other.parsed(host.serialized(host.save()), 0.0))
        assert any("another model" in message for message in other.messages)
        other.fmu.freeInstance()


def test_python_fmu_reset_restarts(host):
    host.start()
    host.step(0.1)
    end = host.get(["x"])
    host.fmu.reset()
    host.start()
    host.step(0.1)
    assert host.get(["x"]) == end


def test_python_fmu_keeps_no_data_per_step(archive):
    code = """
import json, sys, tracemalloc
sys.path.insert(0, sys.argv[1])
slave = __import__(open(sys.argv[1] + "/slavemodule.txt").read().strip()).KinetreeSlave(instance_name="a", resources=sys.argv[1])
slave.setup_experiment(0.0); slave.enter_initialization_mode(); slave.exit_initialization_mode()
def run(a, b):
    for k in range(a, b):
        slave.set_real([5], [float(k % 7)])
        slave.do_step(k * 1e-3, 1e-3)
        slave.get_real([6, 7, 8, 9])
run(0, 1000)
tracemalloc.start()
run(1000, 2000)
before = tracemalloc.get_traced_memory()[0]
run(2000, 12000)
print(json.dumps(tracemalloc.get_traced_memory()[0] - before))
"""
    assert alone(code, str(Path(archive.folder) / "resources")) < 2000


def test_python_fmu_keeps_no_memory_per_instance(archive):
    """pythonfmu's wrapper ran the whole script again for every instance: 50 kB of classes each stayed, and the module's names lost a reference that
    was not the wrapper's, so that a host with many instances could end in freed memory."""
    module = Path(archive.folder, "resources", "slavemodule.txt").read_text().strip()

    def made(count: int) -> tuple[int, int]:
        for _ in range(count):
            Host(archive).start().fmu.freeInstance()
        gc.collect()
        return len(gc.get_objects()), sys.getrefcount(sys.modules[module].__dict__)

    made(3)
    (objects, references), (more, still) = made(1), made(20)
    assert more - objects < 5 * 20  # 37 of each before
    assert still == references


def test_python_model_file_with_flipped_bit_is_refused(tmp_path):
    """As in the native archive: the checksum of the payload is looked at before anything of it is used."""
    path = pack_unit(stub_unit(), tmp_path / "x.fmu", "python", shell=stub_shell())
    for place in (17, 8 * 13, 300, 2000, -1):
        with Archive(
            path
        ) as archive:  # a folder of its own: a model is read once per folder and process
            file = Path(archive.folder) / "resources" / "model.kinetree"
            content = bytearray(file.read_bytes())
            content[place] ^= 4
            file.write_bytes(content)
            messages = []
            with pytest.raises(Exception, match="instantiate"):
                Host(archive, messages)
            assert any("resources/model.kinetree" in message for message in messages)


def test_damaged_states_are_refused_without_effect(host):
    host.start()
    state = host.save()
    data = host.serialized(state)
    host.step(0.1)
    before = host.get(["x", "der(x)"])
    for place in (0, 8, 40, len(data) // 2, len(data) - 1):
        damaged = bytearray(data)
        damaged[place] ^= 1
        with pytest.raises(Exception, match="status 3"):
            host.restore(host.parsed(bytes(damaged), 0.0))
        assert host.get(["x", "der(x)"]) == before
    host.restore(host.parsed(data, 0.0))
    assert host.get(["x"]) == [0.25]


def test_unchanged_values_are_accepted_at_any_time_in_python(host):
    host.start({"m": 1.5})
    host.step(0.01)
    host.set({"m": 1.5, "x": host.get(["x"])[0]})
    assert host.messages == []
    host.step(0.02)


def test_pythonfmu_has_no_model_exchange():
    """Why this back end is for co-simulation: what hosts call in model exchange is not in pythonfmu's library."""
    import pythonfmu

    (library,) = Path(pythonfmu.__file__).parent.glob("resources/binaries/linux64/*.so")
    functions = library.read_bytes()
    assert b"fmi2DoStep" in functions
    assert not any(
        name in functions
        for name in (b"fmi2GetDerivatives", b"fmi2EnterEventMode", b"fmi2GetContinuousStates")
    )
