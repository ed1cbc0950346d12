"""Slave behaviour common to all FMI versions: lazy evaluation, get, set, step.

It needs the standard library, the payload and the engine library in the same folder. The counterpart of `native/core.c`; `fmi2.py` and `fmi3.py` are
thin fronts of it for pythonfmu and pythonfmu3.
"""

import struct
import sys
import zlib
from array import array
from functools import wraps
from math import isfinite

from kinetree.fmu.slave.reader import LOCATED, PLACES, STATUS, STOP_AT_EVENT, Model, V

TYPES = REAL, INTEGER, STRING = "a real", "an integer", "a string"
NONE, INPUT, TUNABLE, FIXED, START = range(5)
BEFORE, INITIALIZATION, STEP, EVENT = (
    "before initialization",
    "in initialization mode",
    "between steps",
    "in event mode",
)
CONTINUOUS, TERMINATED, FAILED = "in continuous-time mode", "after termination", "after a failure"
MODES = (BEFORE, INITIALIZATION, STEP, EVENT, CONTINUOUS, TERMINATED, FAILED)
STALE_VALUES, STALE_PARAMETERS, STALE_START, STALE_GUARDS = (
    1,
    2,
    4,
    8,
)  # the last of model exchange, while loops and contacts are open
OK, WARNING, DISCARD, ERROR = range(4)
STATE = "<qqqqd"  # what stands before the work block in a saved state


class Refused(Exception):
    """A refused request, with a message and the FMI status of the call."""

    def __init__(self, text, level=ERROR):
        super().__init__(text)
        self.level = level


def answering(answer=lambda *arguments: None):
    """Decorator that turns exceptions into messages and harmless values, since they would crash the
    host.
    """

    def made(method):
        @wraps(method)
        def answered(self, *arguments):
            try:
                return method(self, *arguments)
            except Refused as refused:
                self.say(refused.level, str(refused))
            except Exception as error:
                self.say(ERROR, f"{type(error).__name__}: {error}")
            return answer(self, *arguments)

        return answered

    return made


class Core:
    """One instance of the slave. `exchange`: model exchange; `event_mode_used`: the host supports
    event mode.
    """

    PREFIX, SETTER = "fmi2", "SetReal"

    def say(self, level, text, category=None):
        """Send a log message to the host."""
        raise NotImplementedError

    def open(self, folder):
        """Load the model in a folder; on an error, report it and refuse the instance."""
        self.mode, self.count, self.exchange, self.event_mode_used = FAILED, 0, False, False
        self.types, self.stages, self.stale = [], [], 0
        while (
            sys.path.count(str(folder)) > 1
        ):  # the wrappers write it there once more for every instance
            sys.path.remove(str(folder))
        try:
            self.model = model = Model(folder)
        except Exception as error:
            self.say(ERROR, str(error))
            return
        self.work = array("d", bytes(8 * model.work_size))
        self.call = model.call(self.work)
        self.mode, self.stale, self.start_time = BEFORE, STALE_START, 0.0
        self.located = self.early = self.warned = False
        self.at, self.types, self.count, self.stages = (
            model.at,
            [TYPES[kind] for kind in model.types],
            len(model.types),
            model.stages,
        )
        self.check(self.call("reset", 0, 0.0), "reset")
        for place, value in model.options:
            self.work[int(place)] = value
        for vr, access in enumerate(model.access):
            if access == INPUT:
                self.work[model.write[vr]] = self.work[model.start[vr]] = model.starts[vr]

    # -- failures -------------------------------------------------------------------------------------------------------------------------
    def name(self, vr):
        return f"'{self.model.names[vr] if 0 <= vr < self.count else '?'}'"

    def check(self, status, doing, level=ERROR):
        """Raise Refused for any status but success."""
        if status:
            values = {name: self.work[place] for name, place in V.items()}
            name, body = self.model.register_name(self.work), self.model.body_name(self.work)
            words = {
                "NAME": name,
                "BODY": body,
                "NAME_OF_STAGE": self.stage_name(),
                "WHAT_IS_NO_NUMBER": self.no_number(name),
            }
            text = STATUS.get(status, f"status {status} of the engine").format(**values | words)
            raise Refused(f"{doing} at t = {self.work[V['TIME']]:.9g}: {text}", level)

    def no_number(self, name):
        """Return a message that names the non-finite or too large value of a failed evaluation."""
        item = int(self.work[V["ITEM"]])
        value = (
            self.work[self.model.ints[PLACES["BASE"]] + PLACES["HEAD"] + item] if item >= 0 else 0.0
        )
        if item < 0:
            return "an acceleration or a rate is not a finite number"
        if not isfinite(value):
            return f"{name} is not a finite number"
        unstable = "the host's integration is unstable, its step or tolerance too large"
        advice = (
            unstable if self.exchange else "the motion is unstable; try a smaller step or tolerance"
        )
        return f"a value is not a finite number, because {name} has grown to {value:.3g}: {advice}"

    def stage_name(self):
        return self.stages[int(self.work[V["STAGE"]])]

    def allowed(self, function, *modes):
        """Raise Refused if the standard does not allow a function in the present state."""
        if self.mode not in modes:
            raise Refused(f"{self.PREFIX}{function} is not allowed {self.mode}")

    def settle(self):
        """Evaluate the model if anything has changed since the last evaluation."""
        if not self.stale & ~STALE_GUARDS or self.mode in (FAILED, TERMINATED):
            return
        if self.stale & STALE_START:
            self.check(self.call("start", 0, self.start_time), "initialization")
        else:
            t, level = (
                self.work[V["TIME"]],
                DISCARD if self.exchange else ERROR,
            )  # a host that integrates may try a smaller step
            if self.stale & STALE_PARAMETERS:
                self.check(self.call("prepare", 0, t), "evaluation", level)
            self.check(
                self.call("derivatives" if self.exchange else "refresh", 0, t), "evaluation", level
            )
        if self.exchange:
            self.check_rates()
        self.stale = STALE_GUARDS if self.exchange and self.model.n_guards else 0

    def check_rates(self):
        """Refuse non-finite derivatives, which integrators would accept."""

    # -- modes ----------------------------------------------------------------------------------------------------------------------------
    def setup(self, start_time, tolerance):
        """Set start time and tolerance."""
        if not isfinite(start_time):
            raise Refused(f"the start time {start_time} is not a finite number")
        if tolerance is not None and not tolerance > 0:
            raise Refused(f"the tolerance {tolerance:g} is not positive")
        if tolerance is not None:
            self.work[V["ABSOLUTE"]] *= tolerance / self.work[V["RELATIVE"]]
            self.work[V["RELATIVE"]] = tolerance
        self.start_time = self.work[V["TIME"]] = start_time

    @answering()
    def enter_initialization_mode(self):
        self.allowed("EnterInitializationMode", BEFORE)
        self.mode = INITIALIZATION

    @answering()
    def exit_initialization_mode(self):
        self.allowed("ExitInitializationMode", INITIALIZATION)
        try:
            self.settle()
        except Exception:
            self.mode = FAILED
            raise
        self.early = self.exchange or self.event_mode_used
        self.mode = EVENT if self.early else STEP

    @answering()
    def terminate(self):
        self.allowed("Terminate", STEP, EVENT, CONTINUOUS)
        try:
            self.settle()
        finally:
            self.mode = TERMINATED

    def step(self, t, h, stop_at_event=False):
        """Advance to t + h; return whether the step ended early at an event."""
        self.allowed("DoStep", STEP)
        now, target, events = self.work[V["TIME"]], t + h, self.work[V["EVENTS"]]
        if not isfinite(target) or h < 0:
            raise Refused(f"a step of {h:.9g} s at t = {t:.9g} is impossible")
        if abs(t - now) > 1e-9 * (1 + abs(now)) + 1e-6 * h:
            raise Refused(
                f"the step is to begin at t = {t:.12g}, but this instance stands at t = {now:.12g}"
            )
        if target <= now:
            return bool(self.settle())
        try:
            if self.stale & STALE_PARAMETERS:
                self.check(self.call("prepare", 0, now), "step")
            status = self.call("advance", STOP_AT_EVENT if stop_at_event else 0, target)
            self.stale = 0
            self.check(status if status != LOCATED else 0, "step")
        except Exception:
            self.mode, self.stale = FAILED, 0
            raise
        self.tell_events(events)
        return status == LOCATED

    def tell_events(self, before):
        if self.work[V["EVENTS"]] != before:
            number = int(self.work[V["EVENTS"]])
            self.say(
                OK,
                f"t = {self.work[V['EVENT_TIME']]:.9g}: event {number}, stage '{self.stage_name()}'",
                "logEvents",
            )

    # -- values ---------------------------------------------------------------------------------------------------------------------------
    def checked(self, vr, kind):
        """Return a value reference after checking that it exists and has a type."""
        if not 0 <= vr < self.count:
            raise Refused(
                f"there is no variable with value reference {vr & 0xFFFFFFFF}"
            )  # pythonfmu makes large ones negative
        if self.types[vr] != kind:
            raise Refused(f"{self.name(vr)} (value reference {vr}) is not {kind}")
        return vr

    def reals(self, vrs):
        """Return the values of real variables; before the start, a state has its start value."""
        for vr in vrs:
            self.checked(vr, REAL)
        early = self.mode is BEFORE
        work, at, write, access = self.work, self.at, self.model.write, self.model.access
        if self.stale and not (early and all(access[vr] != NONE for vr in vrs)):
            self.settle()
        return [work[write[vr] if early and access[vr] != NONE else at[vr]] for vr in vrs]

    def integers(self, vrs):
        self.settle()
        return [int(self.work[self.at[self.checked(vr, INTEGER)]]) for vr in vrs]

    def texts(self, vrs):
        self.settle()
        return [self.stage_name() for vr in vrs if self.checked(vr, STRING) >= 0]

    def set_reals(self, vrs, values):
        """Set all values of real variables, or none if one is refused."""
        if vrs and self.mode in (TERMINATED, FAILED):
            raise Refused(f"{self.PREFIX}{self.SETTER} is not allowed {self.mode}")
        for vr, value in zip(vrs, values):
            self.check_access(self.checked(vr, REAL), value)
        work, model, before = self.work, self.model, self.mode in (BEFORE, INITIALIZATION)
        for vr, value in zip(vrs, values):
            access, place = model.access[vr], model.write[vr]
            kept = access == START or (access == FIXED and not self.early)
            if work[place] == value or (kept and not before):
                continue
            work[place] = value
            if (before or self.early) and model.start[vr] >= 0:
                work[model.start[vr]] = value
            if before or (self.early and access != INPUT):
                self.stale |= STALE_START
            else:
                self.stale |= STALE_VALUES if access == INPUT else STALE_PARAMETERS

    def check_access(self, vr, value):
        """Raise Refused if a variable must not be set now."""
        name, access, before = (
            self.name(vr),
            self.model.access[vr],
            self.mode in (BEFORE, INITIALIZATION),
        )
        if access == NONE:
            raise Refused(f"{name} cannot be set: it is computed")
        if not isfinite(value):
            raise Refused(f"{name} is set to {value}, which is not a finite number")
        if value == self.work[self.model.write[vr]] or (
            not before and value == self.work[self.at[vr]]
        ):
            return  # some hosts set everything again during the run
        if (
            access == FIXED and not before and not self.early
        ):  # some hosts set parameters after initialization only, and read the states behind that
            raise Refused(f"{name} is a fixed parameter: it cannot change {self.mode}")
        if access == START and not before:
            raise Refused(f"{name} is a state: it cannot be set {self.mode}")
        if access == TUNABLE and self.mode == CONTINUOUS:
            raise Refused(f"{name} is a parameter: it changes in event mode only")
        low, high = self.model.limits[vr]
        if access != INPUT and not low <= value <= high:
            raise Refused(
                f"{name} is set to {value:.9g}, outside of its range {low:.9g} to {high:.9g}"
            )

    def group(self, part, count):
        """Return `count` consecutive values of the work block at the place `part`, after an
        evaluation.
        """
        self.settle()
        at = self.model.ints[PLACES[part]]
        return self.work[at : at + count].tolist()

    # -- state: the mode and the whole work block -------------------------------------------------------------------------------------------
    def _get_fmu_state(self):
        flags = self.exchange + 2 * self.event_mode_used + 4 * self.located + 8 * self.early
        head = struct.pack(
            STATE, self.model.hash, MODES.index(self.mode), self.stale, flags, self.start_time
        )
        return head + self.work.tobytes()

    @answering()
    def _set_fmu_state(self, state):
        size = struct.calcsize(STATE)
        if len(state) < size:
            raise Refused("this state is damaged")
        model, mode, stale, flags, start_time = struct.unpack_from(STATE, state)
        if model != self.model.hash or len(state) != size + 8 * self.model.work_size:
            raise Refused("this is the state of another model")
        if flags & 1 != self.exchange:
            raise Refused("a state cannot go from model exchange to co-simulation or back")
        (stage,) = struct.unpack_from("<d", state, size + 8 * V["STAGE"])
        if not (
            0 <= mode < len(MODES)
            and 0 <= stale < 16
            and 0 <= flags < 16
            and 0 <= stage < len(self.stages)
            and stage == int(stage)
        ):
            raise Refused("this state is damaged")
        memoryview(self.work).cast("B")[:] = state[size:]
        self.mode, self.stale, self.start_time = MODES[mode], stale, start_time
        self.located, self.early = flags & 4 != 0, flags & 8 != 0

    @staticmethod
    def _fmu_state_to_bytes(state):
        return state + struct.pack("<q", zlib.crc32(state))

    @staticmethod
    def _fmu_state_from_bytes(state):
        """Return a serialised state; damaged bytes become an invalid state."""
        return state[:-8] if state[-8:] == struct.pack("<q", zlib.crc32(state[:-8])) else b""
