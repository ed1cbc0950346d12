"""Model exchange and directional derivatives of the Python slave, as in `native/core.c` and
`derivatives.c`.
"""

from math import inf, isfinite

from kinetree.fmu.slave.core import (
    BEFORE,
    CONTINUOUS,
    DISCARD,
    EVENT,
    FAILED,
    INITIALIZATION,
    INPUT,
    NONE,
    REAL,
    STALE_GUARDS,
    STALE_VALUES,
    STEP,
    TERMINATED,
    WARNING,
    Core,
    Refused,
    V,
)
from kinetree.fmu.slave.reader import LOCATED, PLACES

CLOSE_LOOPS, ARMED, LOCATE, NOTE, LOOK, GO_ON, LEAVE = (
    -1,
    1,
    2,
    3,
    4,
    5,
    6,
)  # options of the engine's event
EVENT_FOUND = 3.0  # among the marks of guards: the host has located it; not a closed contact that opens or slides
BAND = 1e-13  # roundings of a guard: bodies that rest on one another have distances of nothing but roundings, of any sign
FLOOR = 1e-6  # hosts take a change of sign for one beyond a hysteresis only: indicators are as far from zero on both sides
STEP_OF_SLOPES = 6.0554544523933429e-06  # cube root of the machine's epsilon


class Exchange(Core):
    """Model exchange of the slave: event mode, continuous-time mode, directional derivatives."""

    def check_rates(self):
        x, rates = self.group_now("AT_STATES"), self.group_now("AT_RATES")
        wrong = next((k for k, rate in enumerate(rates) if not isfinite(rate)), None)
        if wrong is None:
            return
        t, grown = (
            self.work[V["TIME"]],
            next((k for k, value in enumerate(x) if not abs(value) < 1e100), None),
        )
        if grown is None:
            raise Refused(
                f"evaluation at t = {t:.9g}: the rate of {self.state_name(wrong)} is not a finite number",
                DISCARD,
            )
        raise Refused(
            f"evaluation at t = {t:.9g}: a rate is not a finite number, because {self.state_name(grown)} has grown to {x[grown]:.3g}: "
            "the host's integration is unstable, its step or tolerance too large",
            DISCARD,
        )

    def state_name(self, k):
        return self.name(self.model.states.index(k))

    def group_now(self, part, guards=False):
        """Return states, derivatives or event indicators as they are in memory, without an
        evaluation.
        """
        at = self.model.ints[PLACES[part]]
        return self.work[at : at + (self.model.n_guards if guards else self.model.n_states)]

    def put(self, part, numbers):
        at = self.model.ints[PLACES[part]]
        for k, number in enumerate(numbers):
            self.work[at + k] = number

    def guard_entries(self, name):
        """Return one entry (ARMED or MARK) of the records of all guards, as a view."""
        first, size = (
            self.model.ints[PLACES["AT_LOCATOR"]] + PLACES["LOCATOR"],
            PLACES["GUARD_STATE"],
        )
        first += PLACES[name]
        return self.work[first : first + size * self.model.n_guards : size]

    def put_guard_entries(self, name, numbers):
        """Write one entry (ARMED or MARK) of the records of all guards."""
        first, size = (
            self.model.ints[PLACES["AT_LOCATOR"]] + PLACES["LOCATOR"],
            PLACES["GUARD_STATE"],
        )
        for k, number in enumerate(numbers):
            self.work[first + PLACES[name] + size * k] = number

    def settle_guards(self):
        """Evaluate the event indicators with closed loops and solved contacts."""
        self.settle()
        if self.stale & STALE_GUARDS and self.mode not in (FAILED, TERMINATED):
            self.stale &= ~STALE_GUARDS
            self.call("event", LOOK, self.work[V["TIME"]])

    # -- continuous time ------------------------------------------------------------------------------------------------------------------
    def move_to(self, t):
        self.allowed("SetTime", EVENT, CONTINUOUS)
        if not self.exchange:
            raise Refused(
                f"{self.PREFIX}SetTime of a co-simulation instance is not allowed {self.mode}"
            )
        if not isfinite(t):
            raise Refused(f"the time is set to {t}, which is not a finite number")
        if self.work[V["TIME"]] != t:
            self.stale |= STALE_VALUES
        if isfinite(self.work[V["NOTED"]]):
            self.call("event", GO_ON, t)
        self.work[V["TIME"]] = t

    def move_states(self, values):
        self.allowed("SetContinuousStates", CONTINUOUS)
        if len(values) != self.model.n_states:
            raise Refused(
                f"{len(values)} continuous states were given, there are {self.model.n_states}"
            )
        for k, value in enumerate(values):
            if not isfinite(value):
                text = f"the host's state {self.state_name(k)} is {value}, which is not a finite number: its integration is unstable"
                raise Refused(text, DISCARD)
        self.put("AT_STATES", values)
        self.stale |= STALE_VALUES

    def indicators(self):
        """Return the event indicators; those that have fired stay positive until they are clearly
        negative.
        """
        self.settle_guards()
        shown = []
        for value, mark in zip(
            self.group("AT_GUARDS", self.model.n_guards), self.guard_entries("ARMED")
        ):
            value += -BAND if mark != 0 else BAND
            shown.append(value - FLOOR if value < 0 else value + FLOOR)
        return shown

    def reals(self, vrs):
        """Return the values of real variables; those of event indicators are up to date."""
        values, first = super().reals(vrs), self.model.ints[PLACES["AT_GUARDS"]]
        guards = [self.at[vr] - first for vr in vrs]
        if self.exchange and any(0 <= k < self.model.n_guards for k in guards):
            shown = self.indicators()
            values = [
                shown[k] if 0 <= k < self.model.n_guards else value
                for k, value in zip(guards, values)
            ]
        return values

    def step_accepted(self):
        """Record a completed step, which counts only if the host continues from it."""
        self.settle_guards()
        t, gap = self.work[V["TIME"]], self.work[V["CONSTRAINT_RESIDUAL"]]
        self.call("event", NOTE, t)
        if gap > 1e-3 and not self.warned:
            self.warned = True
            self.say(
                WARNING,
                f"t = {t:.9g}: the host's integration leaves the closed loops open by {gap:.1e}: its step or tolerance is too large",
            )

    # -- events ---------------------------------------------------------------------------------------------------------------------------
    def next_event(self):
        """Return the next discontinuity of functions of time, or None."""
        t = self.work[V["NEXT"]]
        return t if self.exchange and isfinite(t) else None

    def turn_to_events(self):
        """Enter event mode; a recorded step at the same time is discarded."""
        if self.mode != EVENT:
            self.mode, self.located = EVENT, True
        self.work[V["NOTED"]] = inf

    def leave_events(self, mode):
        """Leave event mode; guards are armed even if no event occurred."""
        self.mode, self.located = mode, False
        self.settle_guards()
        self.early = False
        if self.exchange and self.call("event", LEAVE, self.work[V["TIME"]]) == LOCATED:
            self.stale |= STALE_VALUES  # a law is on another side of its jump

    def handle_event(self):
        """Handle a discontinuity of functions of time, then the events of the guards that rose;
        return whether continuous states have changed.
        """
        self.allowed("UpdateDiscreteStates", EVENT)
        self.settle_guards()
        self.early = False
        if not self.exchange:
            return False  # a step of co-simulation has carried out its event already
        work, t, turned = self.work, self.work[V["TIME"]], self.work[V["TURNED"]]
        # only what the host has located: what follows at the same instant comes true by itself, and margins of noise alone would take turns for ever
        located = self.located and self.call("event", LOCATE, t) == LOCATED
        if not self.located:
            self.put_guard_entries("MARK", [0.0] * self.model.n_guards)
        self.located = False
        self.carried_out(self.call("corner", 0, t), "corner")
        if work[V["TURNED"]] != turned:  # speeds may have jumped: what has come true is told anew
            self.put_guard_entries(
                "MARK",
                [0.0 if mark == EVENT_FOUND else mark for mark in self.guard_entries("MARK")],
            )
            self.stale |= STALE_VALUES
            self.settle_guards()
        closed = work[V["CONSTRAINT_RESIDUAL"]] > 1e-10 and not self.call(
            "event", CLOSE_LOOPS, t
        )  # states may change in event mode anyway
        closed |= work[V["TURNED"]] != turned
        before, fired = work[V["EVENTS"]], self.guard_entries("MARK")
        guards, marks = self.group_now("AT_GUARDS", True), self.guard_entries("ARMED")
        armed = [value >= 0 and mark != 0 for value, mark in zip(guards, marks)]
        happened = [mine or mark != 0 for mine, mark in zip(armed, fired)]
        if located or any(armed):
            status = self.call("event", ARMED, t)
            self.carried_out(status if status != LOCATED else 0, "event")
        self.tell_events(before)
        changed = closed or work[V["EVENTS"]] != before
        if changed:
            self.stale |= STALE_VALUES
        self.settle_guards()
        # what has happened and is not clearly over stays what happened: armed again by roundings it would happen for ever in hosts that look at signs
        guards, marks = self.group_now("AT_GUARDS", True), self.guard_entries("ARMED")
        self.put_guard_entries(
            "ARMED",
            [
                0.0 if done and value >= -BAND else mark
                for done, value, mark in zip(happened, guards, marks)
            ],
        )
        if work[V["EVENTS"]] != before:
            self.call("corner", 0, t)  # another structure, or parameters, have other corners
        return changed

    def carried_out(self, status, doing):
        if status:
            self.mode = FAILED
            self.check(status, doing)

    # -- slopes by central differences on the block of work ---------------------------------------------------------------------------------
    def place(self, vr):
        """Return the memory index of a known variable for directional derivatives."""
        model, before = self.model, self.mode in (BEFORE, INITIALIZATION)
        if 0 <= vr < self.count and self.types[vr] == REAL:
            if model.access[vr] == INPUT or (before and model.access[vr] != NONE):
                return model.write[vr]
            if not before and model.states[vr] >= 0:
                return model.ints[PLACES["AT_STATES"]] + model.states[vr]
        raise Refused(f"{self.name(vr)} is not a known of directional derivatives {self.mode}")

    def evaluate(self, at_states):
        before = self.mode in (BEFORE, INITIALIZATION)
        entry = "start" if before else "derivatives" if at_states else "refresh"
        self.check(
            self.call(entry, 0, self.start_time if before else self.work[V["TIME"]]),
            "derivative",
            DISCARD,
        )

    def differences(self, places, h, at_states, move):
        """Return the central differences of entries of the work block at `places`; `move(side * h)`
        changes the knowns.
        """
        kept, found = self.work[:], [0.0] * len(places)
        try:
            for side in (-1, 1):
                move(side * h)
                self.evaluate(at_states)
                found = [
                    value + side * self.work[place] / (2 * h) for value, place in zip(found, places)
                ]
                self.work[:] = kept
        finally:
            self.work[:] = kept
        return found

    def slopes(self, unknowns, knowns, seed):
        """Return the directional derivative d(unknowns)/d(knowns) times the seed."""
        self.allowed(
            "GetDirectionalDerivative", INITIALIZATION, STEP, EVENT, CONTINUOUS, TERMINATED
        )
        self.settle()
        places = [self.place(vr) for vr in knowns]
        for vr in unknowns:
            if not (0 <= vr < self.count and self.types[vr] == REAL):
                raise Refused(f"{self.name(vr)} is not an unknown of directional derivatives")
        largest = max((abs(value) for value in seed), default=0.0)
        if largest == 0:
            return [0.0] * len(unknowns)
        size = max(
            [1.0, *(abs(self.work[place]) for place, value in zip(places, seed) if value != 0)]
        )

        def move(h):
            for place, value in zip(places, seed):
                self.work[place] += h * value

        at_states = self.exchange or any(self.model.states[vr] >= 0 for vr in knowns)
        return self.differences(
            [self.at[vr] for vr in unknowns], STEP_OF_SLOPES * size / largest, at_states, move
        )

    def output_rates(self, vrs, orders):
        """Return d(output)/dt, exact for states and by differences otherwise."""
        self.allowed("GetOutputDerivatives", STEP, EVENT, TERMINATED)
        self.settle()
        for vr, order in zip(vrs, orders):
            if not (0 <= vr < self.count and self.types[vr] == REAL and order == 1):
                raise Refused(f"there is no derivative of order {order} of {self.name(vr)}")
        known = [self.model.rates[vr] for vr in vrs]
        if all(place >= 0 for place in known):
            return [self.work[place] for place in known]
        at, x, rates = (
            self.model.ints[PLACES["AT_STATES"]],
            self.group_now("AT_STATES"),
            self.group_now("AT_RATES"),
        )
        fastest = max([1.0, *(abs(rate) / (1 + abs(value)) for rate, value in zip(rates, x))])

        def move(h):
            for k, rate in enumerate(rates):
                self.work[at + k] += h * rate
            self.work[V["TIME"]] += h

        found = self.differences([self.at[vr] for vr in vrs], STEP_OF_SLOPES / fastest, True, move)
        return [self.work[place] if place >= 0 else value for place, value in zip(known, found)]
