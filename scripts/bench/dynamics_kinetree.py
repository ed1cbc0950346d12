"""Times of Kinetree's own forms of the equations of motion: DEC (the engine), batches of states,
literal forms, and the iterative forms ITR along a motion.

Momentum forms (in q, p) are timed with the rates of the momenta, which end their evaluation. A time
is the least of many short rounds, the methods in turns, so that all see the same load of the
machine.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kinetree.models.engine.instance import Instance
from kinetree.models.system.forms import GROUPS, HAMILTON, entry_name
from kinetree.models.system.system import System
from kinetree.solvers.literal.kinds import FORMS

ROUND = 3e-4  # s: shorter than a time slice of the operating system
ROUNDS, FEWEST = 200, 3
PATIENCE = 0.3  # s for one method of one case, once it has had its fewest rounds
FAST = ("DEC", "many")  # with their own kinematics
WARM = 10  # rounds of fewer evaluations begin after one that is not timed: else they would time caches that the other methods have left
ITERATED = tuple(form.name for form in FORMS if form.iterated)
AROUND = (
    "nothing",
    "literal_state",
    "literal_places",
    "literal_rates",
)  # what stands before and after a literal form
STEPS, STEP = 12, 1e-4  # of the run with fixed steps along which ITR is timed [s]
RUNS = 5  # times that it is timed
TOLERANCE = 1e-10  # relative residual at which ITR stops
BATCH = "many"  # the engine on many states at once
MOST_STATES, MOST_NUMBERS = 4096, 400_000  # of a batch: states, and states times freedoms

Timed = Callable[[int], object]  # evaluates so many times
State = tuple[np.ndarray, np.ndarray, np.ndarray]  # q, u, p


class Measured(NamedTuple):
    """Microseconds of one evaluation by name, kinematics included; mean iterations of ITR."""

    us: dict[str, float]
    iterations: dict[str, float]


def measure(
    forms: "Forms",
    methods: Sequence[str],
    others: Mapping[str, Timed] | None = None,
    rounds: int = ROUNDS,
) -> Measured:
    """Return the times of our forms and of other calls, measured in turns: the iterative forms
    (ITR) along a motion, all others at the start.
    """
    iterated = forms.iterated([method for method in methods if method in ITERATED])
    found = least(forms.calls(methods) | dict(others or {}), rounds) | {
        name: us for name, (us, _) in iterated.items()
    }
    nothing, before, places, after = (found.pop(name, 0.0) for name in AROUND)
    if BATCH in found:
        found[BATCH] /= forms.batch_size
    around = {
        name: places + after - 2 * nothing if name in HAMILTON else before - nothing
        for name in methods
        if name not in FAST
    }
    return Measured(
        {name: us + around.get(name, 0.0) for name, us in found.items()},
        {name: count for name, (_, count) in iterated.items()},
    )


def least(calls: Mapping[str, Timed], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the least time [µs] of one evaluation by name, over several rounds in turns."""
    counts, best, spent = {}, dict.fromkeys(calls, np.inf), dict.fromkeys(calls, 0.0)
    for name, call in calls.items():
        call(1)
        counts[name] = max(1, int(ROUND / seconds(call, 1)))
    for k in range(rounds):
        for name, call in calls.items():
            if k < FEWEST or spent[name] < PATIENCE:
                if counts[name] < WARM:
                    call(1)
                taken = seconds(call, counts[name])
                spent[name] += taken
                best[name] = min(best[name], 1e6 * taken / counts[name])
    return best


def seconds(call: Timed, count: int) -> float:
    """Return the elapsed seconds of call(count)."""
    begin = time.perf_counter()
    call(count)
    return time.perf_counter() - begin


class Forms:
    """The forms of the equations of motion of one mechanism, evaluated at its start."""

    def __init__(self, system: System):
        self.system = system
        self.q, self.u = system.start()
        self._instances: dict[frozenset[str], Instance] = {}
        self.around = Instance(
            system.compiled, GROUPS["DEC-H"]
        )  # kept as long as its entries are called
        self.p = self.momenta(self.q, self.u)

    def momenta(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the momenta p of a state, computed by the form DEC-H with memory of linear size."""
        instance = self.at(GROUPS["DEC-H"])
        instance.set_state(q, u)
        instance.call("momenta")
        return instance.ws.p.copy()

    def at(self, groups: frozenset[str]) -> Instance:
        """Return an instance of the engine with the arrays that a form needs."""
        if groups not in self._instances:
            self._instances[groups] = Instance(self.system.compiled, groups)
        return self._instances[groups]

    def before(self, method: str, q: np.ndarray, u: np.ndarray, p: np.ndarray) -> Instance:
        """Return an instance that is set to a state and ready to evaluate a literal form."""
        instance = self.at(GROUPS[method])
        instance.set_state(q, u)
        instance.ws.p[:] = p
        instance.call("literal_places" if method in HAMILTON else "literal_state")
        return instance

    def calls(self, methods: Sequence[str]) -> dict[str, Timed]:
        """Return the calls to be timed: non-iterative forms, the kinematics around them, and an
        empty call.
        """
        engine = self.at(frozenset())
        engine.set_state(self.q, self.u)
        repeat = engine.entry("repeat")
        found: dict[str, Timed] = {"DEC": repeating(repeat)} if "DEC" in methods else {}
        if BATCH in methods:
            found[BATCH] = self.batch()
        literal = [method for method in methods if method not in (*FAST, *ITERATED)]
        for method in literal:
            found[method] = repeating(
                self.before(method, self.q, self.u, self.p).entry(entry_name(method))
            )
        if any(method not in FAST for method in methods):
            around = self.around
            around.set_state(self.q, self.u)
            around.ws.p[:] = self.p
            for name in ("literal_state", "dec_h"):
                around.call(name)
            found |= {"nothing": looping(repeat)} | {
                name: looping(around.entry(name)) for name in AROUND[1:]
            }
        return found

    @property
    def batch_size(self) -> int:
        """Return the number of states of a batch, a multiple of the length of a vector register."""
        return max(64, min(MOST_STATES, MOST_NUMBERS // self.system.n // 8 * 8))

    def batch(self) -> Timed:
        """Return the call that evaluates many states around the start on one thread."""
        count, draw = self.batch_size, np.random.default_rng(2)
        q, u = np.tile(self.q, (count, 1)), self.u + 0.1 * draw.normal(size=(count, self.system.n))

        def call(times: int) -> None:
            for _ in range(times):
                self.system.accelerations_many(0.0, q, u, threads=1)

        return call

    def iterated(self, methods: Sequence[str]) -> dict[str, tuple[float, float]]:
        """Return the mean time [µs] and mean iterations of each ITR form along a motion, without
        the factorisation at its start.
        """
        if not methods:
            return {}
        states = [(q, u, self.momenta(q, u)) for q, u in motion(self.system)]
        return {method: self.along(method, states) for method in methods}

    def along(self, method: str, states: Sequence[State]) -> tuple[float, float]:
        """Return the time of one iterative form, the least of several runs averaged over states,
        and its iterations.
        """
        instance = self.at(GROUPS[method])
        solve, nothing, head = (
            looping(instance.entry(entry_name(method))),
            looping(instance.entry("repeat")),
            instance.ws.head,
        )
        head.itr_tolerance = TOLERANCE
        empty = min(seconds(nothing, 1) for _ in range(20))
        taken, iterations = np.full(len(states), np.inf), np.zeros(len(states))
        for _ in range(RUNS):
            head.held = 0.0
            for k, state in enumerate(states):
                self.before(method, *state)
                taken[k] = min(taken[k], seconds(solve, 1) - empty)
                iterations[k] = head.iterations
        return 1e6 * float(taken[1:].mean()), float(iterations[1:].mean())


def repeating(entry: Callable[[int, float], int]) -> Timed:
    """Return a timed call of an entry that repeats the evaluation `count` times by itself."""
    return lambda count: entry(count, 0.0)


def looping(entry: Callable[[int, float], int]) -> Timed:
    """Return a timed call of an entry that is called `count` times from Python."""

    def call(count: int) -> None:
        for _ in range(count):
            entry(0, 0.0)

    return call


def motion(system: System, step: float = STEP) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the states (q, u) of a run with fixed steps: by Störmer's method if there are as many
    speeds as coordinates, else by Runge-Kutta.
    """
    integrator = "stormer" if len(system.coordinates) == len(system.speeds) else "rk4"
    result = system.simulate(
        stop_time=STEPS * step, output_step=step, step=step, integrator=integrator
    )
    q, u = (
        np.array([result[name] for name in names]).T
        for names in (system.coordinates, system.speeds)
    )
    return list(zip(q, u, strict=True))


def deviation(udot: np.ndarray, reference: np.ndarray) -> float:
    """Return the largest difference of two acceleration vectors, relative to the largest reference
    value.
    """
    return float(np.abs(udot - reference).max() / np.abs(reference).max())
