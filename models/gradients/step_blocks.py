"""Blocks of steps in one structure: forward pass with all data that the backward pass needs,
backward pass from any block.

A block holds as many steps as fit into MEMORY. Of blocks before the last one only the starts are
kept, and their steps are repeated in the backward pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.gradients.adjoint_code import AdjointCode
from kinetree.models.gradients.adjoint_layout import ADJOINT, ADJOINT_HEAD, ENDING, FIXED, PARTS
from kinetree.models.gradients.backward_steps import go_backwards
from kinetree.models.gradients.forward_steps import find_crossings, go_forwards
from kinetree.models.gradients.saltation import LawJump, hermite, hermite_slopes, law_jumps
from kinetree.models.gradients.trajectory import LocatedEvent, Piece
from kinetree.solvers.integrate.kinds import CODES

if TYPE_CHECKING:
    from kinetree.models.gradients.gradient import Slopes
    from kinetree.models.run.simulation import Options

MEMORY = 4_000_000  # numbers of one block
SLOTS = 5  # vectors that a step keeps


@dataclass
class SavedStart:
    """Saved state and header at the beginning of a block of steps."""

    head: np.ndarray
    state: np.ndarray


class StepBlocks:
    """Memory and entry points for the steps of one structure."""

    def __init__(self, codes: AdjointCode, options: Options):
        self.codes, self.n = codes, codes.n
        self.capacity = max(1, MEMORY // (SLOTS * max(1, self.n)))
        self.inputs = len(codes.system.compiled.inputs)
        self.step = options.step
        self.method = CODES[options.integrator]
        self.lay_out(1)

    def lay_out(self, targets: int) -> None:
        """Allocate memory for a number of targets."""
        steps = {
            "n": self.n,
            "given": self.codes.given,
            "inputs": self.inputs,
            "targets": targets,
            "capacity": self.capacity,
            "sides": self.codes.sides,
        }
        at, places = ADJOINT_HEAD.size, {}
        for part in PARTS:
            places[f"at_{part.name}"] = at
            at += round(evaluate_constant(part.size, steps))
        addresses = {
            name: self.codes.address(name)
            for name in ("rates", "back", "bend", "close", "open", "stand")
        }
        numbers = addresses | steps | places | {"method": self.method}
        self.ints = np.array(ADJOINT.filled(**numbers), dtype=np.int64)
        self.work = np.zeros(at)
        self.record, self.head = ADJOINT.of(self.ints), ADJOINT_HEAD.of(self.work)

    def part(self, name: str, k: int = 0, size: int | None = None) -> np.ndarray:
        """Return vector k (of `size` values) of a named part of the memory."""
        size = self.n if size is None else size
        at = int(getattr(self.record, f"at_{name}")) + k * size
        return self.work[at : at + size]

    # -- forwards -------------------------------------------------------------------------------------------------------------------------
    def tell(self, piece: Piece) -> None:
        """Write targets and inputs of a piece to memory."""
        count = len(piece.targets)
        if count > int(self.record.targets):
            kept = self.work[: ADJOINT_HEAD.size].copy()
            self.lay_out(2 * count)
            self.work[: kept.size] = kept
        self.record.targets = count
        self.part("targets", 0, count)[:] = piece.targets
        self.part("given", 0, self.codes.given)[:] = piece.given
        self.record.curved = int(piece.curves is not None)
        if piece.curves is not None:
            self.part("curves", 0, 6 * self.inputs)[:] = piece.curves.ravel()
        self.head.origin, self.head.step = piece.time, self.step
        self.head.stop = piece.happening.time if piece.happening else np.inf

    def enter(self, piece: Piece, before: StepBlocks | None) -> None:
        """Go to the start of a piece; its step grid starts there, or continues that of the piece
        before.
        """
        self.tell(piece)
        head = self.head
        if before is None:
            head.base, head.counted, head.moves = piece.time, 0.0, float(piece.moves)
        else:
            head.base, head.counted, head.moves = (
                before.head.base,
                before.head.counted,
                before.head.moves,
            )
        head.time, head.next, head.steps = piece.time, 0.0, 0.0
        self.part("path")[:] = piece.state

    def forwards(self) -> list[SavedStart]:
        """Integrate to the end of the piece and return the saved starts of its blocks."""
        found = []
        while True:
            found.append(
                SavedStart(self.work[: ADJOINT_HEAD.size].copy(), self.part("path").copy())
            )
            self.go()
            if int(self.head.next) >= int(self.record.targets) or self.head.time >= self.head.stop:
                return found
            self.part("path")[:] = self.end

    def go(self) -> None:
        """Integrate one block of steps."""
        if go_forwards(self.ints, self.work) != 0:
            raise ValueError(
                f"the straight-line equations do not hold at t = {self.head.time:.9g}: an angle beyond their range, or a singular position"
            )

    @property
    def steps(self) -> int:
        return int(self.head.steps)

    @property
    def end(self) -> np.ndarray:
        """Return the state at the end of the last block."""
        return self.part("path", SLOTS * self.steps).copy()

    def given_at_end(self) -> np.ndarray:
        """Return the given values, with the inputs at the end of the piece."""
        self.go_inputs(self.head.time)
        return self.part("given", 0, self.codes.given).copy()

    def go_inputs(self, t: float) -> None:
        """Set the inputs to their values at time t."""
        if self.record.curved:
            rows = self.part("curves", 0, 6 * self.inputs).reshape(-1, 6)
            self.part("given", 0, self.codes.given)[: self.inputs] = rows @ (
                t - self.head.origin
            ) ** np.arange(6)

    # -- dense output of the last step ----------------------------------------------------------------------------------------------------
    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        """Return the right-hand side f(t, y)."""
        self.go_inputs(t)
        return self.codes.call("rates", t, y, self.part("given", 0, self.codes.given))[: self.n]

    def ends(self) -> tuple[float, float, np.ndarray, np.ndarray]:
        """Return start and end time of the last step with the states there."""
        return self.step_at(self.steps - 1)

    def state_at(self, t: float) -> np.ndarray:
        """Return the state interpolated by cubic Hermite polynomials in the last step; the state
        itself if there is none.
        """
        if self.steps == 0:
            return self.end
        t0, t1, y0, y1 = self.ends()
        a, b, c, d = hermite((t - t0) / (t1 - t0))
        return a * y0 + b * y1 + (t1 - t0) * (c * self.rates(t0, y0) + d * self.rates(t1, y1))

    def rate_at(self, t: float) -> np.ndarray:
        """Return the time derivative of the interpolated state."""
        t0, t1, y0, y1 = self.ends()
        h = t1 - t0
        a, b, c, d = hermite_slopes((t - t0) / h)
        return (a * y0 + b * y1) / h + c * self.rates(t0, y0) + d * self.rates(t1, y1)

    # -- backwards ------------------------------------------------------------------------------------------------------------------------
    def load(self, piece: Piece, block: SavedStart) -> None:
        """Repeat and store all steps of a block."""
        here = np.array_equal(self.loaded, block.head) if self.loaded is not None else False
        if here and self.loaded_piece is piece:
            return
        self.tell(piece)
        self.work[: ADJOINT_HEAD.size] = block.head
        self.part("path")[:] = block.state
        self.go()
        self.loaded, self.loaded_piece = block.head, piece

    loaded: np.ndarray | None = None
    loaded_piece: Piece | None = None

    def backwards(self, slopes: Slopes, happening: LocatedEvent | None) -> None:
        """Propagate adjoints through a block, beginning at an event inside its last step if there
        is one.
        """
        steps = self.steps
        if (
            steps == 0
        ):  # what happened was due at the beginning of the piece, whose instant is that of the event before it
            return
        self.head.shift = slopes.shift
        self.part("slopes", 0, self.codes.given)[:] = slopes.given
        last = steps - 1 if happening is not None else -1
        jumps = self.jumps(happening)
        extra: np.ndarray | float = 0.0
        if happening is not None:
            extra = self.from_inside(slopes.state, happening.time)
        else:
            self.part("adjoint")[:] = slopes.state
        top = steps
        for k in sorted({*jumps, *range(max(last, 0), last + 1)}, reverse=True):
            self.over(k + 1, top)
            behind = slopes.state if k == last else self.part("adjoint").copy()
            self.over(k, k + 1)
            if k == last:
                self.part("adjoint")[:] += extra
            self.through_jumps(jumps.get(k, []), k, behind, happening if k == last else None)
            top = k
        self.over(0, top)
        slopes.state, slopes.given = (
            self.part("adjoint").copy(),
            self.part("slopes", 0, self.codes.given).copy(),
        )
        slopes.shift = float(self.head.shift) if self.began_at_event() else 0.0

    def jumps(self, happening: LocatedEvent | None) -> dict[int, list[LawJump]]:
        """Return the jumps of laws by the index of their step in the block."""
        if not self.codes.sides:
            return {}
        if find_crossings(self.ints, self.work) != 0:
            raise ValueError(f"conditions of laws have no value before t = {self.head.time:.9g}")
        found = {}
        for k in self.part("crossed", 0, int(self.head.crossings)).astype(int).tolist():
            inside = happening is not None and k == self.steps - 1
            until = happening.time if happening is not None and inside else np.inf
            jumps = [jump for jump in law_jumps(self, k) if jump.time <= until]
            if jumps:
                found[k] = jumps
        return found

    def through_jumps(
        self, jumps: list[LawJump], k: int, behind: np.ndarray, happening: LocatedEvent | None
    ) -> None:
        """Add the effect of jumps inside step k on the adjoints, after the step itself has been
        processed.

        `behind` contains the derivatives by the state at the end of the step, or at the event.
        """
        times, adjoint = self.part("times", 0, self.capacity + 1), self.part("adjoint")
        before, begin = adjoint.copy(), float(times[k])
        end = float(times[k + 1]) if happening is None else happening.time
        for jump in jumps:
            share = (jump.time - begin) / (end - begin)
            moved = float(jump.change @ ((1.0 - share) * before + share * behind))
            adjoint += moved * jump.instant[: self.n]
            self.part("slopes", 0, self.codes.given)[:] += moved * jump.instant[self.n + 1 :]
            if self.part("anchors", 0, self.capacity)[k] != FIXED:
                self.head.shift += moved * self.by_time(jump.time, jump.instant)

    def step_at(self, k: int) -> tuple[float, float, np.ndarray, np.ndarray]:
        """Return start and end time of step k, and the states there."""
        times = self.part("times", 0, self.capacity + 1)
        ends = self.part("path", SLOTS * k).copy(), self.part("path", SLOTS * (k + 1)).copy()
        return float(times[k]), float(times[k + 1]), *ends

    def began_at_event(self) -> bool:
        """Return whether the start time of the block depends on an event."""
        return self.part("anchors", 0, self.capacity)[0] != FIXED

    def over(self, lowest: int, highest: int) -> None:
        """Propagate adjoints over the steps lowest..highest - 1."""
        self.head.lowest, self.head.highest = lowest, highest
        if go_backwards(self.ints, self.work) != 0:
            raise ValueError(f"slopes of the steps before t = {self.head.time:.9g} are not finite")

    def from_inside(self, adjoint: np.ndarray, t: float) -> np.ndarray:
        """Convert adjoints of an interpolated state inside the last step to its end; return the
        part at its start.
        """
        t0, t1, y0, y1 = self.ends()
        h, s = t1 - t0, (t - t0) / (t1 - t0)
        a, b, c, d = hermite(s)
        f0, f1 = self.rates(t0, y0), self.rates(t1, y1)
        n, anchor = self.n, self.part("anchors", 0, self.capacity)[self.steps - 1]
        by_begin, by_end = (
            self.products(t0, y0, h * c * adjoint),
            self.products(t1, y1, h * d * adjoint),
        )
        self.part("adjoint")[:] = b * adjoint + by_end[:n]
        self.part("slopes", 0, self.codes.given)[:] += by_begin[n + 1 :] + by_end[n + 1 :]
        if anchor != FIXED:
            rate = self.rate_at(t)
            own = float(adjoint @ rate)
            at_begin, at_end = self.by_time(t0, by_begin), self.by_time(t1, by_end)
            by_size = float(adjoint @ (c * f0 + d * f1)) - s * own
            # a full step moves as a whole; one that ends at a target begins later and is shorter
            self.head.shift += at_begin - own + (at_end if anchor != ENDING else -by_size)
        return a * adjoint + by_begin[:n]

    def products(self, t: float, y: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Return the products of factors with the derivatives of the rates."""
        self.go_inputs(t)
        return self.codes.call(
            "back", t, np.concatenate([y, factors]), self.part("given", 0, self.codes.given)
        )

    def by_time(self, t: float, products: np.ndarray) -> float:
        """Return the product of adjoints with the time derivative, varying inputs included."""
        found = float(products[self.n])
        if self.record.curved:
            rows = self.part("curves", 0, 6 * self.inputs).reshape(-1, 6)
            found += float(
                products[self.n + 1 : self.n + 1 + self.inputs]
                @ (rows[:, 1:] @ (np.arange(1, 6) * (t - self.head.origin) ** np.arange(5)))
            )
        return found
