"""Automatic choice between the generic engine and specialised straight-line code, made during a
run, or when an archive is built.

The number of steps is not known in advance; it is extrapolated from the first part of the run.
Straight-line code is traced and compiled if the time it saves is a multiple of its cost. The
decision uses only operation counts with prices measured once, so that equal runs decide equally:
results do not depend, even in the last bits, on the load of the machine. `why` tells what was
chosen and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetree.solvers.model_records import HEADER

if TYPE_CHECKING:
    from kinetree.models.engine.compiled import Compiled
    from kinetree.models.run.simulation_unit import Run, Unit
    from kinetree.models.specialised.specialised_rates import Motion

TIME, ENERGY = 1, 4  # phases of the expressions: those between are evaluated every time

# seconds, measured over the mechanisms of the library on one processor (`kinetree bench trace`): others are faster or slower at both alike
ENGINE = 60e-9, 80e-9, 4e-9, 20e-9  # of an evaluation: body, constraint row, instruction, sensor
PER_OPERATION = 0.12e-9  # of an evaluation by straight-line code
OPERATIONS = 160.0, 100.0, 7.0, 10.0  # of straight-line code for the same things
BEGIN, MAKE = 0.15, 90e-6  # to import what compiles; to trace and compile an operation
EVALUATIONS = 4  # per step, in the mean over the methods
WORTH = 2.0  # times what making the code costs that it must save
JUDGED = 0.02, 2  # part of a run, and rows, after which the rest is foretold
# what the code may cost an archive, whose evaluations nobody can foretell, that takes it by itself
LONGEST, LARGEST = 1.0, 1e6  # seconds to trace it and to compile it for all processors; bytes
BYTES = 8.0  # of an operation, for one kind of processor


class Choice:
    """Switches to specialised straight-line code for the rest of a run if that pays."""

    def __init__(self, worth: float = WORTH) -> None:
        self.worth = worth
        self.why = "the engine: the run was over before anything was worth a choice"
        self.motions: list[Motion | str] = []
        self._open = True

    def consider(self, run: Run, rows: int, done: float) -> None:
        """Decide once, after `rows` rows and a fraction `done` of the run."""
        if not self._open or done < JUDGED[0] or rows < JUDGED[1]:
            return
        self._open = False
        unit, steps = run.unit, run.head.steps
        saved, price = gain(unit), cost(unit)
        left = EVALUATIONS * steps * (1.0 - done) / done
        told = f"{left:.2g} evaluations to come, {1e6 * saved:.2g} µs saved on each, code made in {price:.2g} s"
        if not saved * left > self.worth * price:
            self.why = f"the engine: {told}"
            return
        self.motions = made_for(unit)
        why = [each for each in self.motions if isinstance(each, str)]
        made = len(self.motions) - len(why)
        self.why = f"straight-line code for {made} of {len(self.motions)} structures: {told}"
        if not made:
            self.why = f"the engine: {why[0]}"


def for_archive(compiled: Sequence[Compiled], processors: int) -> tuple[bool, str]:
    """Return whether an archive for some kinds of processors takes straight-line code of all its
    structures by itself, and why.
    """
    saved, count = saved_by(compiled[0]), sum(map(operations, compiled))
    price, size = MAKE * count * (1 + processors), BYTES * count * processors
    good = saved > 0.0 and price <= LONGEST and size <= LARGEST
    told = f"{1e6 * saved:.2g} µs saved on an evaluation, code of {1e-6 * size:.2g} MB in {price:.2g} s"
    return good, f"{'straight-line code' if good else 'the engine'}: {told}"


def made_for(unit: Unit) -> list[Motion | str]:
    """Connect a unit with specialised code; return the operations of every structure, or why it has
    none.
    """
    # a run that needs none of it starts without importing what traces and compiles
    from kinetree.models.specialised.specialised_rates import attach, machine_of, motions

    found = motions(unit)
    attach(unit, found, machine_of(found))
    return found


def size(compiled: Compiled) -> tuple[int, int, int, int]:
    """Return the numbers of bodies, constraint rows, instructions and sensors in one evaluation of
    a structure.
    """
    counts, header = compiled.counts, HEADER.of(compiled.ints)
    phases = compiled.ints[HEADER.at("phase") :]
    instructions = int(phases[ENERGY] - phases[TIME])
    return int(counts["N"]), int(counts["nlr"]), instructions, int(header.idle_sensors)


def engine_time(compiled: Compiled) -> float:
    """Return the estimated seconds that the engine takes for one evaluation of a structure."""
    return sum(each * part for each, part in zip(ENGINE, size(compiled), strict=True))


def operations(compiled: Compiled) -> float:
    """Return the estimated number of operations of a structure's straight-line code."""
    return sum(each * part for each, part in zip(OPERATIONS, size(compiled), strict=True))


def gain(unit: Unit) -> float:
    """Return the seconds per evaluation that straight-line code saves, for the first structure."""
    possible = unit.method in ("auto", "DEC") and not unit.description.reduced
    return saved_by(unit.compiled[0]) if possible else 0.0


def saved_by(compiled: Compiled) -> float:
    """Return the seconds per evaluation that straight-line code of a structure saves."""
    return max(0.0, engine_time(compiled) - PER_OPERATION * operations(compiled))


def cost(unit: Unit) -> float:
    """Return the estimated seconds to trace and compile all structures of a unit."""
    return price_of(sum(map(operations, unit.compiled)))


def price_of(count: float) -> float:
    """Return the estimated seconds to trace and compile a number of operations."""
    return BEGIN + MAKE * count


def worthwhile(compiled: Compiled) -> tuple[float, float]:
    """Return the estimated operations of a structure's straight-line code, and the number of
    evaluations above which a run chooses it; infinity if it saves nothing.
    """
    count, saved = operations(compiled), saved_by(compiled)
    return count, WORTH * price_of(count) / saved if saved > 0.0 else float("inf")
