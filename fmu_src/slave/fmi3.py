"""The slave for pythonfmu3: FMI 3.0, co-simulation with event mode, and model exchange.

pythonfmu3's library does not pass on
the kind of instance, start time, tolerance, mode changes and completed steps, and drops the results
of a step. The loader in front of it exchanges them by `set_float64` and `get_float64` without value
references.
"""

import os
from typing import NamedTuple
from xml.etree.ElementTree import parse

from pythonfmu3 import CoSimulation, Fmi3SlaveBase, Fmi3Status, ModelExchange

from kinetree.fmu.slave.core import (
    BEFORE,
    CONTINUOUS,
    EVENT,
    FAILED,
    INITIALIZATION,
    STEP,
    TERMINATED,
    Refused,
    V,
    answering,
)
from kinetree.fmu.slave.exchange import Exchange
from kinetree.fmu.slave.reader import IDENTIFIER

# what the loader says, in the order of its numbers (loader3.c)
SAID = (
    "begin", "be_set_up", "enter_event_mode", "enter_continuous_time_mode", "enter_step_mode", "complete_integrator_step", "evaluate_discrete_states",
    "give_slopes", "give_output_rates",
)  # fmt: skip


class Updated(NamedTuple):
    """The result of updateDiscreteStates in the form that pythonfmu3's library reads."""

    discreteStatesNeedUpdate: bool = False
    terminateSimulation: bool = False
    nominalContinuousStatesChanged: bool = False
    valuesOfContinuousStatesChanged: bool = False
    nextEventTimeDefined: bool = False
    nextEventTime: float = 0.0


def zeros(self, *_):
    return [0.0] * (self.model.n_states if self.count else 0)


class Slave(Exchange, ModelExchange, CoSimulation, Fmi3SlaveBase):
    PREFIX, SETTER = "fmi3", "SetFloat64"
    time = 0.0  # pythonfmu3 asks for one; the instance's own stands in its block of work

    def __init__(self, **kwargs):
        Fmi3SlaveBase.__init__(self, **kwargs)
        self.modelName, self.said, self.early_return_allowed = IDENTIFIER, [], False
        self.open(self.resources)

    def to_xml(self, model_options=None):
        return parse(os.path.join(str(self.resources), "description.xml")).getroot()

    def say(self, level, text, category=None):
        self.log(text, Fmi3Status(level), category)

    # -- what the loader says and asks ----------------------------------------------------------------------------------------------------
    @answering()
    def hear(self, what, *numbers):
        self.said = []
        self.said = getattr(self, SAID[int(what)])(*numbers) or []

    def begin(self, exchange, event_mode_used, early_return_allowed):
        self.exchange, self.event_mode_used, self.early_return_allowed = (
            exchange != 0,
            event_mode_used != 0,
            early_return_allowed != 0,
        )

    def be_set_up(self, start_time, with_tolerance, tolerance):
        self.allowed("EnterInitializationMode", BEFORE)
        self.setup(start_time, tolerance if with_tolerance else None)

    def enter_event_mode(self):
        self.allowed("EnterEventMode", STEP, EVENT, CONTINUOUS)
        if not self.exchange and not self.event_mode_used:
            raise Refused("event mode was not agreed on at instantiation")
        self.turn_to_events()

    def enter_continuous_time_mode(self):
        self.allowed("EnterContinuousTimeMode", EVENT)
        if not self.exchange:
            raise Refused(
                f"fmi3EnterContinuousTimeMode of a co-simulation instance is not allowed {self.mode}"
            )
        self.leave_events(CONTINUOUS)

    def enter_step_mode(self):
        self.allowed("EnterStepMode", EVENT)
        if self.exchange:
            raise Refused(
                f"fmi3EnterStepMode of a model exchange instance is not allowed {self.mode}"
            )
        self.leave_events(STEP)

    def complete_integrator_step(self):
        self.allowed("CompletedIntegratorStep", CONTINUOUS)
        self.step_accepted()

    def evaluate_discrete_states(self):
        self.allowed("EvaluateDiscreteStates", INITIALIZATION, EVENT)
        self.settle()

    def give_slopes(self, n, m, *numbers):
        n, m = int(n), int(m)
        references = [int(number) for number in numbers[: n + m]]
        return self.slopes(references[:n], references[n:], numbers[n + m :])

    def give_output_rates(self, *numbers):
        half = len(numbers) // 2
        return self.output_rates(
            [int(number) for number in numbers[:half]], [int(number) for number in numbers[half:]]
        )

    # -- co-simulation ----------------------------------------------------------------------------------------------------------------------
    @answering(lambda self, t, h: False)
    def do_step(self, current_time, step_size):
        """Make a step; return its event, early-return and time information."""
        self.said = [0.0, 0.0, self.work[V["TIME"]]]
        stopped = self.step(
            current_time, step_size, self.event_mode_used and self.early_return_allowed
        )
        now = self.work[V["TIME"]]
        self.said = [float(stopped), float(now < current_time + step_size - 1e-9 * step_size), now]
        return True

    # -- model exchange ---------------------------------------------------------------------------------------------------------------------
    @answering()
    def set_time(self, time):
        self.move_to(time)

    @answering()
    def set_continuous_states(self, values):
        self.move_states(values)

    def exchanging(self, function):
        self.allowed(function, INITIALIZATION, EVENT, CONTINUOUS, TERMINATED, FAILED)

    @answering(zeros)
    def get_continuous_states(self):
        self.exchanging("GetContinuousStates")
        return self.group("AT_STATES", self.model.n_states)

    @answering(zeros)
    def get_continuous_state_derivatives(self):
        self.exchanging("GetContinuousStateDerivatives")
        return self.group("AT_RATES", self.model.n_states)

    @answering(lambda self: [0.0] * self.model.n_guards)
    def get_event_indicators(self):
        self.exchanging("GetEventIndicators")
        return self.indicators()

    def get_nominals_of_continuous_states(self, size):
        return self.model.nominals

    def get_number_of_continuous_states(self):
        return self.model.n_states

    def get_number_of_event_indicators(self):
        return self.model.n_guards

    @answering(lambda self: Updated())
    def update_discrete_states(self):
        changed = self.handle_event()
        following = self.next_event()
        return Updated(changed, False, False, changed, following is not None, following or 0.0)

    # -- values ---------------------------------------------------------------------------------------------------------------------------
    @answering(lambda self, vrs: [0.0] * len(vrs))
    def get_float64(self, vrs):
        return self.reals(vrs) if vrs else self.said

    @answering(lambda self, vrs: [0] * len(vrs))
    def get_int32(self, vrs):
        return self.integers(vrs)

    @answering(lambda self, vrs: [""] * len(vrs))
    def get_string(self, vrs):
        return self.texts(vrs)

    @answering()
    def set_float64(self, vrs, values):
        if vrs:
            self.set_reals(vrs, values)
        elif values:
            self.hear(*values)
