"""The C shell with a stand-in engine whose solution is known: m x'' = pull - k x - c x'."""

import math
import os

import numpy as np
import pytest
from bare_host import bare_runner
from fmpy import simulate_fmu
from fmpy.fmi1 import FMICallException
from stub_unit import stub_calls, stub_shell, stub_unit

from kinetree.fmu.archive.build import pack_unit
from kinetree.scripts.fmi.host import Archive, Host
from kinetree.scripts.fmi.in_process import InProcess
from kinetree.scripts.fmi.verify import verify

K, M, C, PULL, X0 = 40.0, 2.0, 0.5, 3.0, 0.25


def exact(t: float) -> tuple[float, float]:
    """x and its rate of the damped oscillation about pull/k."""
    d, rest = C / (2 * M), PULL / K
    w = math.sqrt(K / M - d * d)
    a, b = X0 - rest, d * (X0 - rest) / w
    decay = math.exp(-d * t)
    x = decay * (a * math.cos(w * t) + b * math.sin(w * t))
    return rest + x, decay * w * (b * math.cos(w * t) - a * math.sin(w * t)) - d * x


@pytest.fixture(scope="module", params=[2, 3])
def archive(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("native") / "spring & mass ü.fmu"
    pack_unit(stub_unit(), path, "native", request.param, shell=stub_shell())
    with Archive(path) as opened:
        yield opened


@pytest.fixture
def host(archive):
    instance = Host(archive)
    yield instance
    instance.fmu.freeInstance()


def test_motion_is_the_known_one(host):
    host.start()
    for k in range(1, 101):
        host.step(k * 0.01)
    # fourth order with steps of 1 ms: error of the order (w h)^4 per unit of time
    assert host.get(["x", "der(x)"]) == pytest.approx(exact(1.0), abs=1e-9)


def test_verify_finds_nothing_wrong(archive):
    report = verify(archive.path, 1.0, lambda opened: InProcess(stub_unit(), stub_calls()))
    assert report.good, [check for check in report.checks if not check.good]


def test_start_values_parameters_and_inputs_before_the_start(host):
    host.set({"x": 0.1, "k": 10.0, "pull": 0.0})
    assert host.get(["x", "k", "pull"]) == [0.1, 10.0, 0.0]
    host.start()
    assert host.get(["der(x,2)"]) == [pytest.approx(-10.0 * 0.1 / M, rel=1e-15)]


def test_tunable_parameters_and_inputs_take_effect_at_once(host):
    host.start()
    host.step(0.01)
    x, v = host.get(["x", "der(x)"])
    host.set({"k": 0.0, "pull": 7.0})
    assert host.get(["der(x,2)"]) == [pytest.approx((7.0 - C * v) / M, rel=1e-14)]
    host.step(0.02)
    assert host.get(["k"]) == [0.0]


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"pull": math.nan}, "'pull' is set to nan"),
        ({"k": -1.0}, "outside of its range 0 to inf"),
        ({"m": 1.0}, "'m' is a fixed parameter"),
        ({"x": 1.0}, "'x' is a state"),
        ({"power": 1.0}, "'power' cannot be set"),
    ],
)
def test_refused_values_are_named_and_change_nothing(host, values, word):
    host.start()
    host.step(0.01)
    before = host.get(["x", "pull", "k", "m"])
    with pytest.raises(FMICallException):
        host.set(values)
    assert any(word in message for message in host.messages)
    assert host.get(["x", "pull", "k", "m"]) == before
    host.step(0.02)


def test_failing_evaluation_is_an_error_that_can_be_undone(host):
    host.start()
    state = host.save()
    host.set({"pull": 1e308, "k": 1e308})
    with pytest.raises(FMICallException):
        host.step(0.01)
    assert any("not a finite number" in message for message in host.messages)
    assert len(host.get(["x"])) == 1  # still readable
    with pytest.raises(FMICallException):
        host.step(0.02)
    host.restore(state)
    host.step(0.01)
    assert host.get(["x"])[0] == pytest.approx(exact(0.01)[0], abs=1e-12)


def test_stage_changes_inside_a_step(host):
    host.start({"limit": 0.3, "x": 0.2, "der(x)": 1.0})
    host.step(0.5)
    assert host.integers(["stage", "events"]) == [1, 1]
    assert host.text("stage_name") == "released"
    crossing = host.get(["event_time"])[0]
    assert 0.0 < crossing < 0.5


def test_state_of_one_stage_restores_from_another(host):
    host.start({"limit": 0.3, "x": 0.2, "der(x)": 1.0})
    state = host.save()
    host.step(0.5)
    end = host.get(["x"])
    host.restore(state)
    assert host.integers(["stage"]) == [0]
    host.step(0.5)
    assert host.get(["x"]) == end
    data = host.serialized(state)
    with pytest.raises(FMICallException):
        host.parsed(data[:-8], 0.0)
    with pytest.raises(FMICallException):
        host.parsed(data[:8] + bytes(8) + data[16:], 0.0)
    assert any("another model" in message for message in host.messages)


def test_directional_derivatives_are_those_of_the_equation(archive):
    host = Host(archive, kind="ModelExchange").start()
    fmu, ref = host.fmu, archive.references
    if archive.version == 2:
        slope = lambda known: fmu.getDirectionalDerivative([ref["der(x,2)"], ref["power"]], [ref[known]], [1.0])  # noqa: E731
    else:
        slope = lambda known: fmu.getDirectionalDerivative([ref["der(x,2)"], ref["power"]], [ref[known]], [1.0], 2)  # noqa: E731
    v = host.get(["der(x)"])[0]
    # central differences: error of the order eps^(2/3)
    assert list(slope("x")) == pytest.approx([-K / M, 0.0], abs=1e-8)
    assert list(slope("der(x)")) == pytest.approx([-C / M, PULL], abs=1e-8)
    assert list(slope("pull")) == pytest.approx([1 / M, v], abs=1e-8)
    host.fmu.freeInstance()


def test_slopes_of_inputs_last_one_step(archive):
    if archive.version == 3:
        pytest.skip("FMI 3.0 has no derivatives of inputs")
    ends = []
    for slope, size in ((True, 0.1), (False, 1e-4)):
        host = Host(archive).start({"pull": 0.0})
        for k in range(round(0.5 / size)):
            host.set({"pull": 20.0 * k * size + (0.0 if slope else 10.0 * size)})  # held at the middle: error of the second order
            if slope:
                host.fmu.setRealInputDerivatives([archive.references["pull"]], [1], [20.0])
            host.step((k + 1) * size)
        ends.append(host.get(["x", "der(x)"]))
        if slope:
            assert host.get(["pull"]) == [pytest.approx(10.0)]
            host.step(0.6)
            assert host.get(["pull"]) == [pytest.approx(10.0)]  # held again
            for references, order, value in (([archive.references["k"]], 1, 1.0), ([archive.references["pull"]], 2, 1.0), ([0], 1, math.nan)):
                with pytest.raises(FMICallException):
                    host.fmu.setRealInputDerivatives(references, [order], [value])
        host.fmu.freeInstance()
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)


def test_output_derivatives(host):
    host.start()
    host.step(0.1)
    call = host.fmu.getRealOutputDerivatives if host.archive.version == 2 else host.fmu.getOutputDerivatives
    references = [host.archive.references[name] for name in ("x", "der(x)", "power")]
    v, a = host.get(["der(x)", "der(x,2)"])
    assert list(call(references, [1, 1, 1])) == pytest.approx([v, a, PULL * a], rel=1e-8)
    with pytest.raises(FMICallException):
        call(references, [2, 1, 1])


def test_model_exchange_has_the_event_where_co_simulation_has_it(archive):
    values = {"limit": 0.3, "x": 0.2, "der(x)": 1.0}
    ends = []
    for kind in ("CoSimulation", "ModelExchange"):
        result = simulate_fmu(archive.folder, stop_time=0.5, fmi_type=kind, start_values=values, relative_tolerance=1e-10, output_interval=0.01)
        assert result["stage"][-1] == 1
        ends.append(result["event_time"][-1])
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)


def test_event_mode_of_fmi_3(archive):
    if archive.version == 2:
        pytest.skip("FMI 2.0 co-simulation has no event mode")
    seen = []
    host = Host(archive, event_mode_used=True, early_return_allowed=True, intermediate_update=lambda *a: seen.append(a[1]))
    host.start({"limit": 0.3, "x": 0.2, "der(x)": 1.0})
    host.fmu.updateDiscreteStates()
    host.fmu.enterStepMode()
    needed, _, early, reached = host.fmu.doStep(0.0, 0.5)
    assert needed
    assert early
    assert host.get(["x"]) == [pytest.approx(0.3, abs=1e-12)]
    host.fmu.enterEventMode()
    assert not host.fmu.updateDiscreteStates()[0]
    assert host.integers(["stage"]) == [1]
    host.fmu.enterStepMode()
    assert host.fmu.doStep(reached, 0.5 - reached)[3] == 0.5
    assert seen == [reached, 0.5]
    host.fmu.freeInstance()


def test_instances_are_independent(archive):
    hosts = [Host(archive).start({"x": 0.01 * k}) for k in range(50)]
    for k in range(1, 6):
        for host in hosts:
            host.step(0.01 * k)
    ends = [host.get(["x"])[0] for host in hosts]
    assert np.diff(ends, 2) == pytest.approx(0.0, abs=1e-13)  # linear in the start value
    for host in hosts:
        host.fmu.freeInstance()


# -- a host without Python -----------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bare folder %41 ü")


@pytest.fixture(scope="module")
def bare(folder):
    return bare_runner(pack_unit(stub_unit(), folder / "x.fmu", "native", 2, shell=stub_shell()), folder, "x")


def test_bare_host_gets_the_same_motion(bare):
    found = bare("run", 1e-3, 1000)
    assert float(found["value"][0]) == pytest.approx(exact(1.0)[0], abs=1e-9)
    assert float(found["instantiation_us"][0]) < 20e3


@pytest.mark.parametrize("form", ["{}", "{}/", "file://localhost{}"])
def test_resource_locations_of_every_form(bare, folder, form):
    plain = os.fspath(folder / "resources")
    assert "value" in bare("run", place=form.format(plain.replace("%", "%25") if "file" in form else plain))


def test_misuse_is_refused_and_nothing_crashes(bare):
    found = {key: values[0] for key, values in bare("misuse").items()}
    refused = ("early_step", "early_terminate", "unknown_get", "unknown_set", "nan", "gap", "backwards", "other_kind", "after", "null")
    assert [found[key] for key in refused] == ["3"] * len(refused)
    assert [found[key] for key in ("wrong_guid", "wrong_folder", "good_step", "tiny_step", "terminate", "read", "reset", "again")] == ["0"] * 8


def test_memory_is_flat_over_a_million_steps(bare):
    found = bare("soak", 1e-3, 1_000_000)
    assert int(found["grown"][0]) <= 256 * 1024  # buffers of the C library
    assert int(found["per_instance"][0]) <= 2**20


def test_threads_get_the_same_numbers(bare):
    assert len(set(bare("threads", 1e-3, 20000)["value"])) == 1


def test_state_crosses_processes(bare, tmp_path):
    file = str(tmp_path / "state")
    assert bare("save", 1e-3, 500, file)["value"] == bare("load", 1e-3, 500, file)["value"]
