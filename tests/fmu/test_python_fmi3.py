"""The Python back end in FMI 3.0: every call answers as in the native archive, by the same numbers, statuses and words."""

import ctypes
import gc
import math
import random
import re
import sys
from pathlib import Path

import fmpy
import numpy as np
import pytest
from exchange_in_steps import ExchangeHost
from fmpy.fmi1 import FMICallException
from stub_unit import stub_shell, stub_unit

from kinetree.fmu.archive import build
from kinetree.fmu.archive.build import FmuError, pack_unit
from kinetree.fmu.slave import loader
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.solvers.library.c_compiler import LibraryError

EARLY = {"limit": 0.3, "x": 0.2, "der(x)": 1.0}  # the stage changes after 129 ms
KINDS = ("CoSimulation", "ModelExchange")


def packed(folder: Path, backend: str, **parameters: float) -> Path:
    return pack_unit(
        stub_unit(**parameters), folder / f"{backend} %41 ü.fmu", backend, 3, shell=stub_shell()
    )


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    with Archive(packed(tmp_path_factory.mktemp("python 3"), "python")) as opened:
        yield opened


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    with Archive(packed(tmp_path_factory.mktemp("native 3"), "native")) as opened:
        yield opened


@pytest.fixture(scope="module")
def twins(archive, native):
    return archive, native


# -- what it says it is ----------------------------------------------------------------------------------------------------------------------
def test_python_fmi3_description_equals_native_archive(twins):
    """One table: names, references, units, starts, dependencies; only the moment of writing and one capability differ."""
    texts = [
        Path(each.folder, "modelDescription.xml").read_text(encoding="utf-8") for each in twins
    ]
    python, native = (
        re.sub(r'generationDateAndTime="[^"]*"| providesIntermediateUpdate="true"', "", text)
        for text in texts
    )
    assert python == native
    assert fmpy.validation.validate_fmu(str(twins[0].path)) == []
    terminals = [
        Path(each.folder, "terminalsAndIcons", "terminalsAndIcons.xml").read_bytes()
        for each in twins
    ]
    assert terminals[0] == terminals[1]


def test_loader_and_slave_share_status_codes():
    """The numbers stand in C and in Python: one list each, in one order."""
    words = re.search(r"enum \{ (BEGIN,[^}]*) \}", (loader.HERE / "loader3.c").read_text())
    listed = re.search(r"SAID = \(([^)]*)\)", (loader.HERE / "fmi3.py").read_text())
    assert words and listed
    first, second = (re.findall(r"\w+", found[1]) for found in (words, listed))
    assert len(first) == len(second)
    pairs = {
        "BEGIN": "begin", "SET_UP": "be_set_up", "EVENT_MODE": "enter_event_mode", "CONTINUOUS_TIME_MODE": "enter_continuous_time_mode",
        "STEP_MODE": "enter_step_mode", "COMPLETED_STEP": "complete_integrator_step", "EVALUATE_DISCRETE": "evaluate_discrete_states",
        "SLOPES": "give_slopes", "OUTPUT_RATES": "give_output_rates",
    }  # fmt: skip
    assert dict(zip(first, second)) == pairs


def test_python_fmi3_archive_requires_loader(monkeypatch, tmp_path):
    """pythonfmu3's library alone would take every instance for the same kind, start at 0 and hide what is refused."""

    def absent(*_):
        raise LibraryError("no C compiler found")

    monkeypatch.setattr(loader, "loader", absent)
    with pytest.raises(
        FmuError, match="needs a loader before its library, which cannot be made: no C compiler"
    ):
        packed(tmp_path, "python")
    assert not list(tmp_path.iterdir())


def test_platforms_without_a_library_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(build, "binaries_for", lambda *_: {})
    with pytest.raises(FmuError, match="needs a binary for linux64 or win64"):
        pack_unit(stub_unit(), tmp_path / "x.fmu", "python", 3)


# -- the same motion, bit for bit --------------------------------------------------------------------------------------------------------------
def reals(archive):
    return [name for name in archive.reals if not name.startswith("event_indicator")]


def test_co_simulation_equals_the_native_archive_bit_for_bit(twins):
    rows = []
    for each in map(Host, twins):
        each.start({"limit": 0.25, "x": 0.2, "der(x)": 1.0}, start_time=0.5, tolerance=1e-5)
        rows.append([])
        for k in range(1, 101):
            each.set({"pull": math.sin(0.01 * k)})
            each.step(0.5 + 0.01 * k)
            rows[-1].append(
                [
                    *each.get(reals(each.archive)),
                    *each.integers(["stage", "events", "solver_steps"]),
                    each.text("stage_name"),
                ]
            )
        each.close()
    assert rows[0] == rows[1]
    assert rows[0][-1][-1] == "released"
    assert rows[0][-1][reals(twins[0]).index("event_time")] > 0.5  # the start time has arrived


def test_model_exchange_equals_the_native_archive_bit_for_bit(twins):
    rows = []
    for each in twins:
        host = ExchangeHost(each).start(EARLY)
        rows.append(list(host.rows(1.0, 0.02, reals(each), lambda t: {"pull": math.sin(9 * t)})))
        assert host.events == 1
        assert host.numbers("NominalsOfContinuousStates") == [1.0, 1.0]
        host.host.close()
    assert rows[0] == rows[1]
    assert np.ptp([row[1] for row in rows[0]]) > 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_python_fmi3_derivatives_equal_native_archive(twins, kind):
    found = []
    for each in twins:
        host, ref = Host(each, kind=kind), each.references
        host.fmu.enterInitializationMode()
        knowns, unknowns = [ref["pull"], ref["x"], ref["der(x)"]], [ref["der(x,2)"], ref["power"]]
        found.append([host.fmu.getDirectionalDerivative(unknowns, [ref["m"]], [0.3])])
        host.fmu.exitInitializationMode()
        found[-1] += [
            host.fmu.getDirectionalDerivative(unknowns, knowns, seed)
            for seed in ([1, 0, 0], [0, 2.0, -1e3], [0, 0, 0])
        ]
        found[-1] += [
            host.fmu.getAdjointDerivative(unknowns, knowns, [2.0, -3.0], 3),
            host.get(["x", "power"]),
        ]
        if kind == "CoSimulation":
            host.step(0.1)
            found[-1].append(host.fmu.getOutputDerivatives([ref["x"], ref["power"]], [1, 1]))
        host.fmu.freeInstance()
    assert found[0] == found[1]
    assert found[0][1] == pytest.approx([0.5, 0.0], abs=1e-8)  # d(x'')/d(pull) = 1/m


def test_steps_stop_at_events_as_in_the_native_archive(twins):
    """needed, terminate, early, reached; hosts that agreed on event mode and not on early return go through."""
    for early in (True, False):
        told = []
        for each in twins:
            host = Host(each, event_mode_used=True, early_return_allowed=early)
            host.start(EARLY)
            told.append([host.fmu.updateDiscreteStates()])
            host.fmu.enterStepMode()
            told[-1].append(host.fmu.doStep(0.0, 0.5))
            host.fmu.enterEventMode()
            told[-1] += [
                host.fmu.updateDiscreteStates(),
                host.integers(["stage"]),
                host.get(["x", "event_time"]),
            ]
            host.fmu.enterStepMode()
            reached = told[-1][1][3]
            told[-1] += [host.fmu.doStep(reached, 0.7 - reached), host.get(reals(each))]
            host.close()
        assert told[0] == told[1]
        assert told[0][1][:3] == (early, False, early)
        assert (told[0][1][3] < 0.2) == early


# -- what is refused ---------------------------------------------------------------------------------------------------------------------------
def calls(archive):
    """Everything a host may call at the wrong time or with wrong values, by a name: how a host says it."""
    ref, no = archive.references, 4_000_000_000
    truth, number, size = ctypes.c_bool(), ctypes.c_double(), ctypes.c_size_t()
    numbers, texts = (ctypes.c_double * 8)(), (ctypes.c_char_p * 2)()

    def of(vr, *values):
        return (ctypes.c_uint * 1)(vr), 1, (ctypes.c_double * len(values))(*values), len(values)

    raw = {
        "EnterInitializationMode": (False, 0.0, 0.0, False, 0.0), "ExitInitializationMode": (), "EnterEventMode": (), "EnterStepMode": (),
        "EnterContinuousTimeMode": (), "EvaluateDiscreteStates": (), "SetTime": (0.1,),
        "CompletedIntegratorStep": (True, ctypes.byref(truth), ctypes.byref(truth)),
        "UpdateDiscreteStates": (*(ctypes.byref(truth) for _ in range(5)), ctypes.byref(number)),
        "SetContinuousStates": ((ctypes.c_double * 2)(0.25, 0.0), 2), "GetContinuousStates": (numbers, 2), "GetEventIndicators": (numbers, 1),
        "GetContinuousStateDerivatives": (numbers, 2), "GetNumberOfContinuousStates": (ctypes.byref(size),),
        "DoStep": (0.0, 0.01, True, ctypes.byref(truth), ctypes.byref(truth), ctypes.byref(truth), ctypes.byref(number)),
        "GetFloat64": of(ref["x"], 0.0), "SetFloat64": of(ref["pull"], 1.0), "Terminate": (), "EnterConfigurationMode": (),
    }  # fmt: skip
    step = ctypes.byref(truth), ctypes.byref(truth), ctypes.byref(truth), ctypes.byref(number)
    wrong = {
        "a setup with a start that is no number": ("EnterInitializationMode", (False, 0.0, math.nan, False, 0.0)),
        "a tolerance of 0": ("EnterInitializationMode", (True, 0.0, 0.0, False, 0.0)),
        "a tolerance that is no number": ("EnterInitializationMode", (True, math.nan, 0.0, False, 0.0)),
        "a step back": ("DoStep", (0.0, -0.01, True, *step)), "a gap": ("DoStep", (5.0, 0.01, True, *step)),
        "a step without end": ("DoStep", (0.0, math.inf, True, *step)), "a step of nan": ("DoStep", (0.0, math.nan, True, *step)),
        "a step told to nobody": ("DoStep", (0.0, 0.01, True, None, None, None, None)),
        **{f"{name} = {value}": ("SetFloat64", of(ref[name], value)) for name, value in (
            ("pull", math.nan), ("pull", math.inf), ("k", -1.0), ("k", 50.0), ("m", 1.0), ("c", 7.0), ("power", 1.0), ("x", 0.4), ("event_time", 0.0),
            ("stage", 1.0), ("stage_name", 1.0))},
        "an unknown reference": ("SetFloat64", of(no, 1.0)), "an unknown reference read": ("GetFloat64", of(no, 0.0)),
        "the last reference of all": ("GetFloat64", of(0xFFFFFFFF, 0.0)), "a text read as a number": ("GetFloat64", of(ref["stage_name"], 0.0)),
        "two numbers for one": ("SetFloat64", of(ref["pull"], 1.0, 2.0)), "numbers for nothing": ("SetFloat64", (None, 0, numbers, 4)),
        "nothing for numbers": ("GetFloat64", ((ctypes.c_uint * 1)(), 0, numbers, 4)), "no address": ("GetFloat64", (None, 1, None, 1)),
        "an integer read as a real": ("GetInt32", ((ctypes.c_uint * 1)(ref["x"]), 1, (ctypes.c_int * 1)(), 1)),
        "an unknown integer": ("GetInt32", ((ctypes.c_uint * 1)(no), 1, (ctypes.c_int * 1)(), 1)),
        "a real read as a text": ("GetString", ((ctypes.c_uint * 1)(ref["x"]), 1, texts, 1)),
        "three states": ("SetContinuousStates", ((ctypes.c_double * 3)(), 3)),
        "states of nan": ("SetContinuousStates", ((ctypes.c_double * 2)(math.nan, 0.0), 2)), "time of nan": ("SetTime", (math.nan,)),
        "no state": ("SetFMUState", (None,)), "a slope by a result": ("GetDirectionalDerivative", (
            (ctypes.c_uint * 1)(ref["x"]), 1, (ctypes.c_uint * 1)(ref["power"]), 1, (ctypes.c_double * 1)(1.0), 1, numbers, 1)),
        "a slope of nothing": ("GetDirectionalDerivative", (
            (ctypes.c_uint * 1)(no), 1, (ctypes.c_uint * 1)(ref["pull"]), 1, (ctypes.c_double * 1)(1.0), 1, numbers, 1)),
        "a second derivative": ("GetOutputDerivatives", ((ctypes.c_uint * 1)(ref["x"]), 1, (ctypes.c_int * 1)(2), numbers, 1)),
    }  # fmt: skip
    return {name: (name, arguments) for name, arguments in raw.items()} | wrong


MODES = {
    "CoSimulation": ((), ("EnterInitializationMode",), ("EnterInitializationMode", "ExitInitializationMode"),
                     ("EnterInitializationMode", "ExitInitializationMode", "Terminate")),
    "ModelExchange": ((), ("EnterInitializationMode",), ("EnterInitializationMode", "ExitInitializationMode"),
                      ("EnterInitializationMode", "ExitInitializationMode", "EnterContinuousTimeMode"),
                      ("EnterInitializationMode", "ExitInitializationMode", "Terminate")),
}  # fmt: skip
IN_OTHER_WORDS = {
    "EnterConfigurationMode",
    "a step told to nobody",
    "two numbers for one",
    "numbers for nothing",
}  # two reasons, one is told


@pytest.mark.parametrize(
    ("kind", "way"), [(kind, way) for kind, ways in MODES.items() for way in ways]
)
def test_every_call_in_every_mode_matches_native_archive(twins, kind, way):
    """Status, words and values afterwards."""
    hosts = [Host(each, kind=kind) for each in twins]
    for name in calls(twins[0]):
        told = []
        for host in hosts:
            host.fmu.reset()
            host.messages.clear()
            for step in (*way, name):
                function, arguments = calls(host.archive)[step]
                status = host.fmu.dll[f"fmi3{function}"](
                    ctypes.c_void_p(host.fmu.component), *map(plain, arguments)
                )  # knows no types
            words = host.messages if name not in IN_OTHER_WORDS else [bool(host.messages)]
            told.append((status, [*words], host.get(["x", "pull", "k", "m"])))
        assert told[0] == told[1], name
    for host in hosts:
        host.fmu.freeInstance()


def plain(value):
    """An argument of C: sizes are as wide as addresses."""
    return (
        ctypes.c_double(value)
        if isinstance(value, float)
        else ctypes.c_size_t(value)
        if type(value) is int
        else value
    )


@pytest.mark.parametrize("kind", KINDS)
def test_engine_failures_match_native_messages(twins, kind):
    """What went wrong, when, and that a state from before undoes it."""
    told = []
    for each in twins:
        host = Host(each, kind=kind).start()
        if kind == "ModelExchange":
            host.fmu.enterContinuousTimeMode()
            host.set({"pull": 1e308})
            host.fmu.setContinuousStates((ctypes.c_double * 2)(1e200, 1e200), 2)
            states = (ctypes.c_double * 2)()
            with pytest.raises(FMICallException, match="status 2"):
                host.fmu.getContinuousStateDerivatives(states, 2)
            host.fmu.setContinuousStates((ctypes.c_double * 2)(0.1, 0.0), 2)
            host.fmu.getContinuousStateDerivatives(states, 2)
        else:
            state = host.save()
            host.set({"pull": 1e308, "k": 1e308})
            with pytest.raises(FMICallException, match="status 3"):
                host.fmu.doStep(0.0, 0.01)
            host.get(["x", "power"])
            host.restore(state)
            host.step(0.01)
        told.append((host.messages, host.get(["x"])))
        host.fmu.freeInstance()
    assert told[0] == told[1]
    assert "not a finite number" in told[0][0][0]


def test_python_log_categories_select_messages(twins):
    def said(each, on, categories):
        host = Host(each)
        host.fmu.setDebugLogging(on, categories)
        host.start(EARLY)
        host.step(0.5)
        with pytest.raises(FMICallException):
            host.set({"pull": math.nan})
        host.fmu.freeInstance()
        return host.messages

    choices = (
        (True, ["logEvents"]),
        (True, ["logStatusError"]),
        (False, []),
        (True, ["logAll"]),
        (True, ["nonsense"]),
    )
    found = [[said(each, *choice) for choice in choices] for each in twins]
    assert found[0] == found[1]
    assert [len(messages) for messages in found[0]] == [1, 1, 1, 2, 1]


# -- states and instances ------------------------------------------------------------------------------------------------------------------------
def test_model_exchange_states_transfer_and_are_checked(archive):
    first = ExchangeHost(archive).start(EARLY)
    state = first.host.save()
    data = first.host.serialized(state)
    ends = []
    ends.append(list(first.rows(0.3, 0.02, ["x", "power"])))
    other = ExchangeHost(archive).start()
    for each, restored in ((first, state), (other, other.host.parsed(data, 0.0))):
        each.host.restore(restored)
        each.t, each.x = 0.0, each.numbers("ContinuousStates")
        ends.append(list(each.rows(0.3, 0.02, ["x", "power"])))
    assert ends[0] == ends[1] == ends[2]
    before = other.numbers("ContinuousStates")
    for place in (0, 8, 40, len(data) // 2, len(data) - 1):
        damaged = bytearray(data)
        damaged[place] ^= 1
        with pytest.raises(FMICallException, match="status 3"):
            other.host.restore(other.host.parsed(bytes(damaged), 0.0))
        assert other.numbers("ContinuousStates") == before
    stepping = Host(archive).start()
    with pytest.raises(FMICallException, match="status 3"):
        stepping.restore(stepping.parsed(data, 0.0))
    assert any("from model exchange to co-simulation" in message for message in stepping.messages)
    buffer = (ctypes.c_ubyte * 10)()
    with pytest.raises(FMICallException, match="status 3"):
        first.fmu.fmi3SerializeFMUState(first.fmu.component, state[1], buffer, 10)
    first.host.forget(state)
    for each in (first.host, other.host, stepping):
        each.fmu.freeInstance()


def test_both_kinds_and_both_versions_run_side_by_side(archive, tmp_path):
    """pythonfmu and pythonfmu3 in one process, instances of all kinds in turns: each moves as alone."""

    def stepping(path_or_archive, **values):
        host = Host(path_or_archive).start(values)
        return host, lambda k: host.step(0.01 * k), lambda: host.get(["x"])

    def exchanging(**values):
        host = ExchangeHost(archive).start(values)
        return host.host, lambda k: host.step(0.01), lambda: host.x[:1]

    with Archive(
        pack_unit(stub_unit(), tmp_path / "old.fmu", "python", 2, shell=stub_shell())
    ) as old:
        makers = (
            lambda: stepping(archive),
            lambda: stepping(old, x=0.1),
            lambda: exchanging(),
            lambda: exchanging(k=10.0),
            lambda: stepping(archive, k=9.0),
        )
        alone = []
        for make in makers:
            host, step, read = make()
            for k in range(1, 31):
                step(k)
            alone.append(read())
            host.fmu.freeInstance()
        made = [make() for make in makers]
        for k in range(1, 31):
            for _, step, _ in made:
                step(k)
        assert [read() for _, _, read in made] == alone
        for host, _, _ in made:
            host.fmu.freeInstance()


@pytest.mark.parametrize("kind", KINDS)
def test_reset_keeps_instance_kind(archive, kind):
    host = Host(
        archive,
        kind=kind,
        **(
            {"event_mode_used": True, "early_return_allowed": True}
            if kind == "CoSimulation"
            else {}
        ),
    )
    host.start({"k": 10.0})
    host.fmu.reset()
    assert host.get(["k"]) == [40.0]
    host.start(EARLY)
    host.fmu.updateDiscreteStates()
    if kind == "CoSimulation":
        host.fmu.enterStepMode()
        assert host.fmu.doStep(0.0, 0.5)[:3] == (True, False, True)
    else:
        host.fmu.enterContinuousTimeMode()
        host.fmu.completedIntegratorStep()
    host.fmu.freeInstance()


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_model_and_wrong_token_are_refused(kind, tmp_path):
    with Archive(packed(tmp_path, "python")) as archive:
        file = Path(archive.folder) / "resources" / "model.kinetree"
        content = bytearray(file.read_bytes())
        content[300] ^= 4
        file.write_bytes(content)
        messages = []
        with pytest.raises(Exception, match="instantiate"):
            Host(archive, messages, kind=kind)
        assert any("is damaged" in message for message in messages)
        archive.description.instantiationToken = "{another}"
        archive.description.guid = "{another}"
        with pytest.raises(Exception, match="instantiate"):
            Host(archive, messages, kind=kind)
        assert "identifier that the host gives is not this archive's" in messages[-1]


def test_python_fmu_keeps_no_memory_per_step(archive):
    """pythonfmu3 writes the folder into the path of modules once more for every instance."""

    def made(count):
        for _ in range(count):
            Host(archive).start().fmu.freeInstance()
        host = ExchangeHost(archive).start()
        for _ in range(count):
            state = host.host.save()
            host.step(1e-3)
            host.host.forget(state)
        host.host.fmu.freeInstance()
        gc.collect()
        return len(gc.get_objects()), len(sys.path)

    made(3)
    (objects, paths), (more, still) = made(3), made(30)
    assert more - objects < 5 * 27
    assert still == paths


# -- sequences that nobody planned ---------------------------------------------------------------------------------------------------------------
OFTEN = {
    "any": 6,
    "step": 6,
    "continuous": 8,
    "update": 4,
    "save": 2,
    "restore": 2,
    "drop": 1,
    "modes": 8,
    "reset": 0.3,
    "read": 3,
}


class Played:
    """One instance and what it answered to calls that are drawn: both archives are to be asked the same and to answer the same."""

    def __init__(self, archive, kind, **options):
        self.host, self.calls = Host(archive, kind=kind, **options), calls(archive)
        self.states, self.told, self.now = [], [], 0.0
        self.truths, self.number = [ctypes.c_bool() for _ in range(5)], ctypes.c_double()

    def call(self, function, *arguments):
        status = self.host.fmu.dll[f"fmi3{function}"](
            ctypes.c_void_p(self.host.fmu.component), *map(plain, arguments)
        )
        self.told.append((function, status, list(self.host.messages)))
        self.host.messages.clear()
        return status

    def asked(self, function, *arguments, truths, number=False):
        """A call that answers; what it leaves after an error says nothing."""
        answers = [ctypes.byref(each) for each in self.truths[:truths]] + [
            ctypes.byref(self.number)
        ] * number
        if self.call(function, *arguments, *answers) < 2:
            self.told.append(
                (
                    [each.value for each in self.truths[:truths]],
                    self.number.value if number else None,
                )
            )
            return True
        return False

    def play(self, rng):
        what = rng.choices(list(OFTEN), list(OFTEN.values()))[0]
        if what == "any":
            function, arguments = self.calls[
                rng.choice(sorted(set(self.calls) - IN_OTHER_WORDS - {"Terminate"}))
            ]
            self.call(function, *arguments)
        elif what == "step":
            if self.asked(
                "DoStep", self.now, rng.choice((0.0, 1e-14, 0.01, 0.2)), True, truths=3, number=True
            ):
                self.now = self.number.value
        elif what == "continuous":
            self.call("SetTime", self.now + rng.choice((0.0, 0.01, 0.05)))
            if (
                not self.call(
                    "SetContinuousStates",
                    (ctypes.c_double * 2)(rng.uniform(-0.5, 0.5), rng.uniform(-2, 2)),
                    2,
                )
                and rng.random() < 0.7
            ):
                self.asked("CompletedIntegratorStep", True, truths=2)
        elif what == "update":
            self.asked("UpdateDiscreteStates", truths=5, number=True)
        elif what == "save":
            state = ctypes.c_void_p()
            if not self.call("GetFMUState", ctypes.byref(state)):
                self.states.append(state)
        elif what == "restore" and self.states:
            self.call("SetFMUState", rng.choice(self.states))
        elif what == "drop" and self.states:
            self.call(
                "FreeFMUState", ctypes.byref(self.states.pop(rng.randrange(len(self.states))))
            )
        elif what == "modes":
            names = (
                "EnterInitializationMode",
                "ExitInitializationMode",
                "EnterEventMode",
                "EnterContinuousTimeMode",
                "EnterStepMode",
            )
            function, arguments = self.calls[rng.choice(names)]
            self.call(function, *arguments)
        elif what == "reset":
            self.call("Reset")
        elif what == "read":
            for name, size in (
                ("EventIndicators", 1),
                ("ContinuousStates", 2),
                ("ContinuousStateDerivatives", 2),
            ):
                room = (ctypes.c_double * size)()
                good = self.call(f"Get{name}", room, len(room)) < 2
                self.told.append(list(room) if good else name)
        self.told.append(self.look())

    def look(self):
        try:
            return (
                *self.host.get(["x", "der(x)", "power", "k", "pull", "event_time"]),
                *self.host.integers(["stage", "events"]),
            )
        except FMICallException as error:
            return (str(error),)

    def close(self):
        for state in self.states:
            self.call("FreeFMUState", ctypes.byref(state))
        self.host.fmu.freeInstance()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_random_call_sequences_match_native_archive(twins, kind, seed):
    options = (
        {"event_mode_used": seed % 2 == 0, "early_return_allowed": seed % 3 == 0}
        if kind == "CoSimulation"
        else {}
    )
    played = [Played(each, kind, **options) for each in twins]
    for k in range(250):
        for each in played:
            each.play(random.Random(1000 * seed + k))
        assert played[0].told == played[1].told, k
        for each in played:
            each.told.clear()
    for each in played:
        each.close()
