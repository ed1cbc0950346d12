"""The slave of a Kinetree model for pythonfmu. It needs the standard library, the payload and the engine library in the same folder."""

import os
import struct
import zlib
from array import array
from math import isfinite
from typing import Any
from xml.etree.ElementTree import parse

from pythonfmu import Fmi2Slave
from pythonfmu.enums import Fmi2Status

from kinetree.fmu.slave.reader import IDENTIFIER, STATUS, Model, V

REAL, INTEGER, STRING = range(3)
NONE, INPUT, TUNABLE, FIXED, START = range(5)
MODES = ("before initialization", "in initialization mode", "between steps", "after termination", "after a failure")
BEFORE, INITIALIZATION, STEP, TERMINATED, FAILED = MODES
STALE_VALUES, STALE_PARAMETERS, STALE_START = 1, 2, 4


class KinetreeSlave(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.modelName = IDENTIFIER
        self.mode, self.count = FAILED, 0
        try:
            self.model = model = Model(self.resources)
        except Exception as error:  # told, and the loader then refuses the instance
            self.at, self.types, self.count = [], [], 0
            self.tell(f"{error}")
            return
        self.work = array("d", bytes(8 * model.work_size))
        self.call = model.call(self.work)
        self.mode, self.stale, self.start_time = BEFORE, STALE_START, 0.0
        self.at, self.types, self.count, self.stages = model.at, model.types, len(model.types), model.stages
        self.check(self.call("reset", 0, 0.0), "reset")
        for place, value in model.options:
            self.work[int(place)] = value
        for vr, access in enumerate(model.access):
            if access == INPUT:
                self.work[model.write[vr]] = self.work[model.start[vr]] = model.starts[vr]

    def to_xml(self, model_options=None):
        return parse(os.path.join(str(self.resources), "description.xml")).getroot()

    # -- messages -------------------------------------------------------------------------------------------------------------------------
    def tell(self, text, status=Fmi2Status.error, category=None):
        """Log a message, which the wrapper uses as a printf format; False, the result of what went wrong."""
        self.log(text.replace("%", "%%"), status, category)
        return False

    def name(self, vr):
        return f"'{self.model.names[vr]}'" if 0 <= vr < self.count else f"value reference {vr}"

    def check(self, status, doing):
        """Raise for anything but success."""
        if status:
            self.stale = 0
            values = {name: self.work[place] for name, place in V.items()}
            text = STATUS.get(status, f"status {status} of the engine").format(NAME=self.model.register_name(self.work), **values)
            raise ArithmeticError(f"{doing} at t = {self.work[V['TIME']]:.9g}: {text}")

    def fail(self, error):
        """An exception would be fatal to the host: log it and go on answering."""
        self.mode = FAILED
        return self.tell(str(error) or type(error).__name__)

    def settle(self):
        """Evaluate what changed since the last evaluation."""
        if not self.stale or self.mode in (FAILED, TERMINATED):
            return
        try:
            if self.stale & STALE_START:
                self.check(self.call("start", 0, self.start_time), "initialization")
            else:
                t = self.work[V["TIME"]]
                if self.stale & STALE_PARAMETERS:
                    self.check(self.call("prepare", 0, t), "evaluation")
                self.check(self.call("refresh", 0, t), "evaluation")
            self.stale = 0
        except Exception as error:
            self.fail(error)

    # -- modes ----------------------------------------------------------------------------------------------------------------------------
    def setup_experiment(self, start_time=0.0, stop_time=None, tolerance=None):
        if self.mode != BEFORE or not isfinite(start_time):
            self.tell(f"fmi2SetupExperiment({start_time}) is not allowed {self.mode}")
            return
        self.start_time = self.work[V["TIME"]] = start_time
        if tolerance and tolerance > 0:
            self.work[V["ABSOLUTE"]] *= tolerance / self.work[V["RELATIVE"]]
            self.work[V["RELATIVE"]] = tolerance

    def enter_initialization_mode(self):
        self.enter("fmi2EnterInitializationMode", BEFORE, INITIALIZATION)

    def exit_initialization_mode(self):
        self.settle()
        self.enter("fmi2ExitInitializationMode", INITIALIZATION, STEP)

    def terminate(self):
        self.enter("fmi2Terminate", STEP, TERMINATED)

    def enter(self, function, before, after):
        if self.mode == before:
            self.mode = after
        elif self.mode != FAILED:
            self.tell(f"{function} is not allowed {self.mode}")

    def do_step(self, current_time, step_size):
        try:
            return self.step(current_time, step_size)
        except Exception as error:
            return self.fail(error)

    def step(self, t, h):
        """Advance to t + h; False: the step was not done."""
        now, target = self.work[V["TIME"]], t + h
        if self.mode != STEP:
            return self.tell(f"fmi2DoStep is not allowed {self.mode}")
        if not isfinite(target) or h < 0:
            return self.tell(f"a step of {h:.9g} s at t = {t:.9g} is impossible")
        if abs(t - now) > 1e-9 * (1 + abs(now)) + 1e-6 * h:
            return self.tell(f"the step is to begin at t = {t:.12g}, but this instance stands at t = {now:.12g}")
        if target <= now:
            return True
        if self.stale & STALE_PARAMETERS:
            self.check(self.call("prepare", 0, now), "evaluation")
        events = self.work[V["EVENTS"]]
        self.check(self.call("advance", 0, target), "step")
        self.stale = 0
        if self.work[V["EVENTS"]] != events:
            self.tell(f"t = {self.work[V['EVENT_TIME']]:.9g}: event, stage '{self.stages[int(self.work[V['STAGE']])]}'", Fmi2Status.ok, "logEvents")
        return True

    # -- values ---------------------------------------------------------------------------------------------------------------------------
    def get_real(self, vrs):
        try:
            work, at = self.work, self.at
            if self.mode is BEFORE:
                return [self.value(vr, REAL) for vr in vrs]
            self.settle()
            return [work[at[vr]] if self.types[vr] == REAL else self.value(vr, REAL) for vr in vrs]
        except (KeyError, IndexError):
            return self.wrong(vrs, "real", 0.0)

    def value(self, vr, kind):
        """One value, checked; before the start a state is its start value."""
        if not 0 <= vr < self.count or self.types[vr] != kind:
            raise KeyError(vr)
        if self.mode is BEFORE and self.model.access[vr] != NONE:
            return self.work[self.model.write[vr]]
        self.settle()
        return self.work[self.at[vr]]

    def wrong(self, vrs, kind, value):
        """Values a host can live with when it asks for what does not exist."""
        self.tell(f"not all of the value references {list(vrs)} are of type {kind}")
        return [value] * len(vrs)

    def get_integer(self, vrs):
        try:
            return [int(self.value(vr, INTEGER)) for vr in vrs]
        except (KeyError, IndexError):
            return self.wrong(vrs, "integer", 0)

    def get_boolean(self, vrs):
        return self.wrong(vrs, "boolean", False)

    def get_string(self, vrs):
        try:
            if any(self.types[vr] != STRING for vr in vrs):
                raise KeyError
            self.settle()
            return [self.stages[int(self.work[V["STAGE"]])]] * len(vrs)
        except (KeyError, IndexError):
            return self.wrong(vrs, "string", "")

    def set_real(self, vrs, values):
        try:
            work, write = self.work, self.model.write
            for vr, value in zip(vrs, values):
                problem = self.problem(vr, value)
                if problem:
                    self.tell(problem)
                elif work[write[vr]] != value:
                    before = self.mode in (BEFORE, INITIALIZATION)
                    if not before and self.model.access[vr] in (FIXED, START):
                        continue
                    work[write[vr]] = value
                    if before and self.model.start[vr] >= 0:
                        work[self.model.start[vr]] = value
                    self.stale |= STALE_START if before else STALE_VALUES if self.model.access[vr] == INPUT else STALE_PARAMETERS
        except Exception as error:
            self.tell(f"{type(error).__name__}: {error}")

    def problem(self, vr, value):
        """Why a variable may not have this value now; nothing when it may."""
        if not 0 <= vr < self.count:
            return f"there is no variable with value reference {vr}"
        name, access, before = self.name(vr), self.model.access[vr], self.mode in (BEFORE, INITIALIZATION)
        if access == NONE:
            return f"{name} cannot be set: it is computed"
        if not isfinite(value):
            return f"{name} is set to {value}, which is not a finite number"
        if not before and value in (self.work[self.model.write[vr]], self.work[self.at[vr]]):
            return ""  # some hosts set everything again during the run
        if access in (FIXED, START) and not before:
            return f"{name} is a {'fixed parameter' if access == FIXED else 'state'}: it cannot be set {self.mode}"
        low, high = self.model.limits[vr]
        if access != INPUT and not low <= value <= high:
            return f"{name} is set to {value:.9g}, outside of its range {low:.9g} to {high:.9g}"
        return ""

    def refuse_all(self, vrs, values):
        self.tell(f"value references {list(vrs)}: only real variables can be set")

    set_integer = set_boolean = set_string = refuse_all

    # -- state: the mode and the whole work block -------------------------------------------------------------------------------------------
    def _get_fmu_state(self):
        head = struct.pack("<qqqd", self.model.hash, MODES.index(self.mode), self.stale, self.start_time)
        return head + self.work.tobytes()

    def _set_fmu_state(self, state: Any):
        try:
            if len(state) < 32:
                raise ValueError("this state is damaged")
            model, mode, stale, start_time = struct.unpack_from("<qqqd", state)
            if model != self.model.hash or len(state) != 32 + 8 * self.model.work_size:
                raise ValueError("this is the state of another model")
            (stage,) = struct.unpack_from("<d", state, 32 + 8 * V["STAGE"])
            if not (0 <= mode < len(MODES) and 0 <= stale < 8 and 0 <= stage < len(self.stages) and stage == int(stage)):
                raise ValueError("this state is damaged")
            memoryview(self.work).cast("B")[:] = state[32:]
            self.mode, self.stale, self.start_time = MODES[mode], stale, start_time
        except Exception as error:
            self.tell(str(error))

    @staticmethod
    def _fmu_state_to_bytes(state: Any):
        return state + struct.pack("<q", zlib.crc32(state))

    @staticmethod
    def _fmu_state_from_bytes(state):
        """Damaged bytes become a state that no instance takes."""
        return state[:-8] if state[-8:] == struct.pack("<q", zlib.crc32(state[:-8])) else b""
