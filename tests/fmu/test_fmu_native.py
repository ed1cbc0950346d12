"""The C shell with a stand-in engine whose solution is known: m x'' = pull - k x - c x'."""

import math
import os
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from bare_host import bare_runner
from fmpy import simulate_fmu
from fmpy.fmi1 import FMICallException
from stub_unit import stub_calls, stub_shell, stub_unit

from kinetree.fmu.archive.build import pack_unit
from kinetree.fmu.archive.payload import HEADER, payload, with_checksum
from kinetree.fmu.variables import variable_table
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.scripts.fmi.verify import verify
from kinetree.solvers import unit_layout as U

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


def test_native_fmu_matches_known_motion(host):
    host.start()
    for k in range(1, 101):
        host.step(k * 0.01)
    # fourth order with steps of 1 ms: error of the order (w h)^4 per unit of time
    assert host.get(["x", "der(x)"]) == pytest.approx(exact(1.0), abs=1e-9)


def test_verify_reports_no_error(archive):
    report = verify(archive.path, 1.0, lambda opened: InProcess(stub_unit(), stub_calls()))
    assert report.good, [check for check in report.checks if not check.good]


def test_start_values_parameters_and_inputs_before_the_start(host):
    host.set({"x": 0.1, "k": 10.0, "pull": 0.0})
    assert host.get(["x", "k", "pull"]) == [0.1, 10.0, 0.0]
    host.start()
    assert host.get(["der(x,2)"]) == [pytest.approx(-10.0 * 0.1 / M, rel=1e-15)]


def test_tunable_changes_take_effect_at_once(host):
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


def test_values_on_bounds_are_accepted(host):
    for c in (0.0, 5.0):
        host.set({"c": c})
        assert host.get(["c"]) == [c]
    for c in (math.nextafter(0.0, -1.0), math.nextafter(5.0, 6.0)):
        with pytest.raises(FMICallException):
            host.set({"c": c})
    assert host.get(["c"]) == [5.0]


def test_start_without_experiment_begins_at_zero(host, archive):
    """FMI 2 lets a host leave it out, also after a run that began elsewhere."""
    if archive.version != 2:
        pytest.skip("FMI 3 tells the start time on the way in")
    host.start(start_time=3.0)
    host.step(3.01)
    host.fmu.reset()
    host.fmu.enterInitializationMode()
    host.fmu.exitInitializationMode()
    host.time = 0.0
    host.step(0.01)
    assert host.get(["x", "der(x)"]) == pytest.approx(exact(0.01), abs=1e-9)


def test_unchanged_values_are_accepted_at_any_time(host):
    """OpenModelica 1.22 to 1.27 sets every parameter, unchanged, after the initialization: that changes nothing and ended every run there."""
    host.start({"m": 1.5, "x": 0.1})
    host.step(0.01)
    x = host.get(["x"])[0]
    host.set({"m": 1.5, "x": x, "limit": 1.0, "k": K})
    assert host.get(["x", "m"]) == [x, 1.5]
    for other in ({"m": 2.5}, {"x": x + 1e-9}):
        with pytest.raises(FMICallException):
            host.set(other)
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


def test_stage_change_happens_inside_a_step(host):
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


def test_corrupted_states_are_refused(host, archive):
    """The stage of a state is a place in tables of the model: a state from outside has a checksum, and what are places is looked at besides."""
    host.start()
    state = host.save()
    data = host.serialized(state)
    head = len(data) - 8 * stub_unit().work_size
    generator = np.random.default_rng(5)
    for place in [head + 8 * U.UNIT_HEAD.at("stage") + 7, *generator.integers(0, len(data), 60)]:
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(generator.integers(8))
        with pytest.raises(FMICallException):
            host.parsed(bytes(damaged), 0.0)
    for stage in (-1.0, 0.5, 2.0, 1e300, math.nan):
        forged = bytearray(data)
        struct.pack_into("<d", forged, head + 8 * U.UNIT_HEAD.at("stage"), stage)
        place = next(
            k
            for k in range(0, head, 8)
            if struct.unpack_from("<q", data, k)[0]
            == zlib.crc32(data[:k] + bytes(8) + data[k + 8 :])
        )
        struct.pack_into("<q", forged, place, 0)
        struct.pack_into("<q", forged, place, zlib.crc32(bytes(forged)))
        with pytest.raises(FMICallException):
            host.parsed(bytes(forged), 0.0)
    assert any("this state is damaged" in message for message in host.messages)
    host.restore(host.parsed(data, 0.0))
    host.step(0.1)


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_model_file_with_flipped_bit_is_refused(archive, tmp_path, kind):
    """A bit of a number gave another motion, one of a place a crash: the checksum is looked at when an instance is made, then the places."""
    unit = stub_unit()
    content = payload(
        unit,
        variable_table(unit),
        archive.description.guid
        if archive.version == 2
        else archive.description.instantiationToken,
    )
    generator = np.random.default_rng(3)
    lengths = [8 * k for k in range(2, 14)]  # the numbers of the header
    for place in [*lengths, *generator.integers(0, len(content), 40)]:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(generator.integers(8))
        (Path(archive.folder) / "resources" / "model.kinetree").write_bytes(damaged)
        messages = []
        with pytest.raises(Exception, match="instantiate"):
            Host(archive, messages, kind)
        assert any("resources/model.kinetree" in message for message in messages)
    (Path(archive.folder) / "resources" / "model.kinetree").write_bytes(content)


def test_lengths_are_checked_beyond_checksum(archive):
    """A file made on purpose: no length may reach beyond the file, no variable beyond the memory."""
    unit = stub_unit()
    content = payload(
        unit,
        variable_table(unit),
        archive.description.guid
        if archive.version == 2
        else archive.description.instantiationToken,
    )
    records = 8 * (HEADER + unit.ints.size + unit.floats.size + 2 * len(unit.options))
    for place, value in [
        (8 * k, v) for k in (2, 3, 5, 6, 8, 9, 10, 12) for v in (-1, 2**40, 2**62)
    ] + [(records + 8, 2**30), (records + 16, -2), *forged_tables()]:
        forged = bytearray(content)
        struct.pack_into("<q", forged, place, value)
        (Path(archive.folder) / "resources" / "model.kinetree").write_bytes(
            with_checksum(bytes(forged))
        )
        with pytest.raises(Exception, match="instantiate"):
            Host(archive)
    (Path(archive.folder) / "resources" / "model.kinetree").write_bytes(content)


def forged_tables() -> list[tuple[int, int]]:
    """Tables of the unit and of its first stage, which names are looked up in, beyond the numbers of the file."""
    stage = [U.UNIT.size + U.STAGE.at(name) for name in ("bodies", "columns")]
    places = [*stage, U.UNIT.at("at_columns"), U.UNIT.at("at_workspace")]
    return [(8 * (HEADER + at), value) for at in places for value in (-1, 2**40, 2**62)]


def test_archives_in_one_folder_stay_separate(archive, tmp_path):
    """OpenModelica imports several archives into one folder, where the last model.kinetree is left: each finds its own by its token, or says so."""
    resources = Path(archive.folder) / "resources"
    own = (resources / "model.kinetree").read_bytes()
    other = pack_unit(
        stub_unit(k=10.0), tmp_path / "other.fmu", "native", archive.version, shell=stub_shell()
    )
    with zipfile.ZipFile(other) as file:
        (resources / "model.kinetree").write_bytes(file.read("resources/model.kinetree"))
    instance = Host(archive)
    assert instance.get(["k"]) == [K]
    instance.fmu.freeInstance()
    named = next(path for path in resources.glob("*.kinetree") if path.name != "model.kinetree")
    named.rename(named.with_suffix(".away"))
    messages = []
    with pytest.raises(Exception, match="instantiate"):
        Host(archive, messages)
    assert any("another model" in message for message in messages)
    named.with_suffix(".away").rename(named)
    (resources / "model.kinetree").write_bytes(own)


def test_directional_derivatives_match_equation(archive):
    host = Host(archive, kind="ModelExchange").start()
    fmu, ref = host.fmu, archive.references
    if archive.version == 2:
        slope = lambda known: fmu.getDirectionalDerivative(  # noqa: E731
            [ref["der(x,2)"], ref["power"]], [ref[known]], [1.0]
        )
    else:
        slope = lambda known: fmu.getDirectionalDerivative(  # noqa: E731
            [ref["der(x,2)"], ref["power"]], [ref[known]], [1.0], 2
        )
    v = host.get(["der(x)"])[0]
    # central differences: error of the order eps^(2/3)
    assert list(slope("x")) == pytest.approx([-K / M, 0.0], abs=1e-8)
    assert list(slope("der(x)")) == pytest.approx([-C / M, PULL], abs=1e-8)
    assert list(slope("pull")) == pytest.approx([1 / M, v], abs=1e-8)
    host.fmu.freeInstance()


def test_input_derivatives_last_one_step(archive):
    if archive.version == 3:
        pytest.skip("FMI 3.0 has no derivatives of inputs")
    ends = []
    for slope, size in ((True, 0.1), (False, 1e-4)):
        host = Host(archive).start({"pull": 0.0})
        for k in range(round(0.5 / size)):
            host.set(
                {"pull": 20.0 * k * size + (0.0 if slope else 10.0 * size)}
            )  # held at the middle: error of the second order
            if slope:
                host.fmu.setRealInputDerivatives([archive.references["pull"]], [1], [20.0])
            host.step((k + 1) * size)
        ends.append(host.get(["x", "der(x)"]))
        if slope:
            assert host.get(["pull"]) == [pytest.approx(10.0)]
            host.step(0.6)
            assert host.get(["pull"]) == [pytest.approx(10.0)]  # held again
            for references, order, value in (
                ([archive.references["k"]], 1, 1.0),
                ([archive.references["pull"]], 2, 1.0),
                ([0], 1, math.nan),
            ):
                with pytest.raises(FMICallException):
                    host.fmu.setRealInputDerivatives(references, [order], [value])
        host.fmu.freeInstance()
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)


def test_output_derivatives_match_motion(host):
    host.start()
    host.step(0.1)
    call = (
        host.fmu.getRealOutputDerivatives
        if host.archive.version == 2
        else host.fmu.getOutputDerivatives
    )
    references = [host.archive.references[name] for name in ("x", "der(x)", "power")]
    v, a = host.get(["der(x)", "der(x,2)"])
    assert list(call(references, [1, 1, 1])) == pytest.approx([v, a, PULL * a], rel=1e-8)
    with pytest.raises(FMICallException):
        call(references, [2, 1, 1])


def test_model_exchange_event_time_matches_cosimulation(archive):
    values = {"limit": 0.3, "x": 0.2, "der(x)": 1.0}
    ends = []
    for kind in ("CoSimulation", "ModelExchange"):
        result = simulate_fmu(
            archive.folder,
            stop_time=0.5,
            fmi_type=kind,
            start_values=values,
            relative_tolerance=1e-10,
            output_interval=0.01,
        )
        assert result["stage"][-1] == 1
        ends.append(result["event_time"][-1])
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)


def test_fmi_3_event_mode_handles_events(archive):
    if archive.version == 2:
        pytest.skip("FMI 2.0 co-simulation has no event mode")
    seen = []
    host = Host(
        archive,
        event_mode_used=True,
        early_return_allowed=True,
        intermediate_update=lambda *a: seen.append(a[1]),
    )
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
    return bare_runner(
        pack_unit(stub_unit(), folder / "x.fmu", "native", 2, shell=stub_shell()), folder, "x"
    )


def test_bare_c_host_computes_equal_motion(bare):
    found = bare("run", 1e-3, 1000)
    assert float(found["value"][0]) == pytest.approx(exact(1.0)[0], abs=1e-9)
    assert float(found["instantiation_us"][0]) < 20e3


@pytest.mark.parametrize("form", ["{}", "{}/", "file://localhost{}"])
def test_resource_locations_of_every_form_are_read(bare, folder, form):
    plain = os.fspath(folder / "resources")
    found = bare("run", place=form.format(plain.replace("%", "%25") if "file" in form else plain))
    assert (
        "message" not in found and float(found["value"][0]) != 0.0
    )  # which it prints after a failure


@pytest.mark.parametrize("digits", ["%{:02x}", "%{:02X}"])
def test_escaped_resource_locations_are_decoded(bare, folder, digits):
    """Each byte but the separators as two digits of sixteen, small or large."""
    written = "".join(
        "/" if byte == ord("/") else digits.format(byte)
        for byte in os.fsencode(folder / "resources")
    )
    found = bare("run", place=f"file://{written}")
    assert "message" not in found and float(found["value"][0]) != 0.0


@pytest.mark.parametrize("end", ["%", "%2", "%2/", "%zz", "%4"])
def test_truncated_resource_locations_are_refused(bare, folder, end):
    """`%2` at the end of a location was read beyond its end."""
    found = bare("refused", place=f"file://{folder}{end}")
    assert "cannot be opened" in found["message"][0]


def test_messages_reach_hosts_that_print_the_format_itself(bare, folder):
    """They showed `%s`: the text itself is the format, its percent signs doubled."""
    found = bare("refused", place=f"{folder}/100%n%s")
    assert "100%%n%%s" in found["format"][0]
    assert "100%n%s" in found["message"][0]


def test_misuse_is_refused_and_nothing_crashes(bare):
    found = {key: values[0] for key, values in bare("misuse").items()}
    refused = (
        "early_step",
        "early_terminate",
        "unknown_get",
        "unknown_set",
        "nan",
        "gap",
        "backwards",
        "other_kind",
        "after",
        "null",
    )
    assert [found[key] for key in refused] == ["3"] * len(refused)
    assert [
        found[key]
        for key in (
            "wrong_guid",
            "wrong_folder",
            "good_step",
            "tiny_step",
            "terminate",
            "read",
            "reset",
            "again",
        )
    ] == ["0"] * 8


def test_memory_is_constant_over_a_million_steps(bare):
    found = bare("soak", 1e-3, 1_000_000)
    assert int(found["grown"][0]) <= 256 * 1024  # buffers of the C library
    assert int(found["per_instance"][0]) <= 2**20


def test_threads_compute_equal_results(bare):
    assert len(set(bare("threads", 1e-3, 20000)["value"])) == 1


def test_state_transfers_between_processes(bare, tmp_path):
    file = str(tmp_path / "state")
    assert bare("save", 1e-3, 500, file)["value"] == bare("load", 1e-3, 500, file)["value"]
