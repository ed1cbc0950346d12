"""Static equilibria: solve u̇(q, 0, x) = 0, ẋ(q, 0, x) = 0 from a start.

Newton's method in local coordinates y (models/system/local_coordinates.py) and first-order states
x: (S - ∂(a, ẋ)/∂(y, x)) (Δy, Δx) = (a, ẋ). The shift S = s 1 of the rows of y is the
pseudo-transient term: s exceeds the largest positive eigenvalue of ∂a/∂y (with x in quasi-static
equilibrium, symmetric part in the mass metric), so that every step decreases the potential and
unstable positions are left. Near a stable one s is zero, convergence is quadratic, and a line
search guards each step. Derivatives are exact (models/analysis/exact_derivatives.py). States that
keep any value at standstill (deflections of tyres and friction elements) follow the displacement as
in a slow motion: Δx = ∂ẋ/∂ẏ Δy. If these steps do not converge, or converge to a state that is
dynamically unstable, the search follows the motion (models/analysis/pseudo_transient.py).

The residual is the unbalanced generalised force relative to the weight: |(M a)_j| / (g √(m M_jj)),
which is force over weight along a translation and moment over weight times radius of gyration about
an axis.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from kinetree.models.analysis.equilibrium import (
    GROWTH,
    Equilibrium,
    equilibrium_record,
    largest_growth,
    memory_states,
)
from kinetree.models.analysis.exact_derivatives import Slopes
from kinetree.models.analysis.linearization import STANDS
from kinetree.models.analysis.nominal_values import state_sizes
from kinetree.models.analysis.pseudo_transient import polish_iterations, rate_slopes, relax
from kinetree.models.analysis.single_thread_algebra import in_one_thread
from kinetree.models.compilation.element_states import settlements, states_of
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.engine.status import EvaluationError
from kinetree.models.system.local_coordinates import Chart, Evaluation
from kinetree.models.system.system import System
from kinetree.solvers.layout import Status
from kinetree.solvers.model_records import HEADER

LARGEST_STEP = 0.3  # rad or m per iteration, well within what a linearisation describes
FLAT = 1e-9  # relative size below which a direction counts as not determined
BALANCED = 1e-6  # part of the residual that a good linearised step leaves
SOFT = (
    1e-13  # the same where a short step along it balances a force: a drive beside hinges of beams
)
LARGEST_CHANGE = 0.9  # of a state in such a step, part of its size
ASIDE = 0.01  # rad, m, part of its size for a state: first step away from a rest that lets go
FAINT = 1e-6  # part of its size below which a state counts as zero
CLOSE = 1e-8  # residual from which a stable position only needs to be polished
CREEP = 1e-2  # 1/s: what changes by CLOSE of this part of its size stands still
MEMORY_SPEED = 1e-6  # part of the speeds at which memories follow a displacement
LEAST_PACE = 1e-200  # part of a rate: a pace below it is none
DONE = 1e-13  # a few roundings of the weight
HALVINGS = 12
CRAWL = 3  # halvings from which a leap is tried
RETURNS = 6


class Search:
    """The current point of an equilibrium search: residuals and their scales."""

    close = CLOSE

    def __init__(
        self,
        system: System,
        t: float,
        q: np.ndarray,
        inputs: Mapping[str, float] | None,
        states: Mapping[str, float] | None,
    ):
        self.system, self.t = system, t
        self.evaluation = Evaluation(system, t, inputs)
        self.q, self.x = q, self.evaluation.start_x.copy()
        for name, value in (states or {}).items():
            self.x[system.compiled.states.index(name)] = value
        soils = settlements(system.description)
        self.settling = np.array([name in soils for name in system.compiled.states], dtype=bool)
        self.least = np.where(self.settling, self.x, -np.inf)  # soil does not rise again
        self.firm = bool(
            self.settling.any()
        )  # soil is held until rest is found: loads on the way there do not count
        self.mass, self.gravity = body_weight(self.evaluation)
        self.change = np.ones(self.x.size)
        self.memory = np.zeros(self.x.size, dtype=bool)

    def settle(self) -> None:
        """Compute local chart, matrices and residual at (q, x)."""
        self.chart = Chart(self.system, self.t, self.q)
        T = self.chart.T
        self.M = T.T @ self.system.mass_matrix(self.t, self.q) @ T
        self.scale = self.gravity * np.sqrt(self.mass * np.diag(self.M))
        self.f = self.chart.independent.size
        self.r = self.residual(self.q, self.x)
        self.refuse_what_is_no_number()
        full = Slopes(self.evaluation, self.chart, np.zeros(self.f), self.x).matrix()
        names = (
            *(self.system.speeds[k] for k in self.chart.independent),
            *self.system.compiled.states,
        )
        self.evaluation.instance.finite(self.t, "slopes of rates", full, names)
        f = self.f
        kept = [*range(f), *range(2 * f, 2 * f + self.x.size)]
        self.J = full[: f + self.x.size, kept]
        sizes = np.concatenate((np.ones(f), state_sizes(self.system, self.x)))
        self.memory = memory_states(self.J[f:], sizes, self.r[f:]) & ~self.settling
        for k in f + np.flatnonzero(self.memory):
            self.J[k, :f], self.J[k, k] = full[k, f : 2 * f], -1.0
        if self.firm:
            held = self.f + np.flatnonzero(self.settling)
            self.J[held] = 0.0
            self.J[held, held] = -1.0
        self.columns, self.rows = self.balance()
        self.change = self.pace()
        self.size = self.measure(self.r)

    def refuse_what_is_no_number(self) -> None:
        """Raise if an acceleration or rate is not finite at the current point."""
        if not np.isfinite(self.r).all():
            names = (
                *(self.system.speeds[k] for k in self.chart.independent),
                *self.system.compiled.states,
            )
            wrong = names[int(np.flatnonzero(~np.isfinite(self.r))[0])]
            raise EvaluationError(
                f"no equilibrium found: the rate of {wrong} is not a finite number where the search stands",
                Status.NOT_A_NUMBER,
            )

    def pace(self) -> np.ndarray:
        """Return the scale of each state's rate: the size of its terms before they cancel."""
        parts = np.abs(self.J[self.f :])
        made = parts @ np.concatenate((np.ones(self.f), np.abs(self.x)))
        sizes = state_sizes(self.system, self.x)
        faint = FAINT * (parts @ np.concatenate((np.ones(self.f), sizes)))
        return np.maximum(np.maximum(made, faint), np.where(parts.any(axis=1), CREEP * sizes, 0.0))

    def residual(self, q: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return accelerations of the independent speeds and rates of the states at (q, 0, x)."""
        n, rates = self.system.n, self.evaluation.rates(q, np.zeros(self.system.n), x)
        return np.concatenate(
            (rates[:n][self.chart.independent], np.where(self.firm & self.settling, 0.0, rates[n:]))
        )

    def measure(self, r: np.ndarray) -> float:
        """Return the largest relative residual: forces relative to the weight, rates to their
        scale.
        """
        forces = np.abs(self.M @ r[: self.f]) / self.scale
        return max(float(forces.max(initial=0.0)), float(self.paced(r).max(initial=0.0)))

    def paced(self, r: np.ndarray) -> np.ndarray:
        """Return the rates of the states relative to their scale; infinite for a state without a
        scale.
        """
        rates = np.abs(r[self.f :])
        nothing = np.where(rates > 0.0, np.inf, 0.0)
        return np.divide(rates, self.change, out=nothing, where=self.change > LEAST_PACE * rates)

    def balance(self) -> tuple[np.ndarray, np.ndarray]:
        """Return factors for the columns and rows of J that scale states of any unit to the size of
        1; a state follows a coordinate by -J_xy/J_xx.
        """
        follows = np.abs(self.J[self.f :, : self.f]).max(axis=1, initial=0.0)
        own = np.abs(np.diag(self.J)[self.f :])
        followed = np.divide(follows, own, out=np.zeros_like(own), where=own > 0.0)
        columns = np.concatenate(
            (np.ones(self.f), np.maximum(state_sizes(self.system, self.x), followed))
        )
        largest = np.abs(self.J * columns).max(axis=1, initial=0.0)
        return columns, np.where(
            (np.arange(columns.size) < self.f) | (largest == 0.0),
            1.0,
            1.0 / np.maximum(largest, 1e-300),
        )

    def moved(self, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (q, x) after a step; states that keep any value follow the displacement."""
        q = self.chart.position(step[: self.f])
        x = np.maximum(self.x + step[self.f :], self.least)
        if self.memory.any():
            way = self.chart.local(q)
            places = (self.q, self.chart.moved(self.q, 0.5 * way), q)
            first, middle, last = (
                self.evaluation.rates(each, MEMORY_SPEED * way, self.x)[self.system.n :]
                for each in places
            )
            x = np.where(
                self.memory, self.x + (first + 4.0 * middle + last) / (6.0 * MEMORY_SPEED), x
            )
        return q, x

    def leaving(self) -> tuple[np.ndarray, np.ndarray, bool] | None:
        """Return a neighbouring position from which the motion leads away, or None for a stable
        equilibrium.

        A law with a kink at the equilibrium (a valve at its centre) may be stable on one side and
        unstable on the other; states are therefore perturbed one by one.
        """
        sizes = state_sizes(self.system, self.x)
        moves = [
            (-1, 0.0),
            *(
                (k, sign * FAINT * sizes[k])
                for k in range(self.x.size)
                if not self.settling[k]
                for sign in (1.0, -1.0)
            ),
        ]
        for k, move in moves:
            here = self.x.copy()
            here[k] += move
            values, vectors = np.linalg.eig(rate_slopes(self, np.zeros(self.f), here))
            j = int(np.real(values).argmax())
            if values[j].real > GROWTH * np.abs(values).max():
                way = np.real(vectors[:, j]).copy()
                states = way[2 * self.f :]
                way *= (
                    (np.sign(states[k] * move) or 1.0)
                    * ASIDE
                    / max(
                        float(np.abs(states / sizes).max()),
                        np.abs(way[: self.f]).max(initial=0.0),
                        1e-300,
                    )
                )
                return *self.moved(np.concatenate((way[: self.f], way[2 * self.f :]))), bool(move)
        return None

    def newton(self, shift: float, flat: float = FLAT) -> np.ndarray:
        """Return the Newton step; of minimum norm if some direction has no stiffness.

        The norm is that of the kinetic energy, whichever coordinates are independent, so that a
        symmetric mechanism takes symmetric steps. `flat` is the relative stiffness below which a
        direction counts as free.
        """
        f = self.f
        S = np.zeros_like(self.J)
        S[:f, :f] = shift * np.eye(f)
        columns, rows = np.diag(self.columns), np.diag(self.rows)
        if f:
            L = cholesky(self.M, lower=True) / np.sqrt(np.trace(self.M) / f)
            columns[:f, :f] = solve_triangular(L, np.eye(f), lower=True).T
            rows[:f, :f] = L.T
        matrix = rows @ (S - self.J) @ columns
        return columns @ np.linalg.lstsq(matrix, rows @ self.r, rcond=flat)[0]

    @property
    def ceiling(self) -> float:
        """Return the square of the largest growth rate of small motions; 0 at a stable position."""
        return largest_growth(self.M, self.rows[:, None] * self.J * self.columns, self.f)

    def downhill(self, ceiling: float) -> tuple[np.ndarray, float]:
        """Return a step with the pseudo-transient shift that decreases the potential, at most
        LARGEST_STEP long, and the shift.
        """
        top = np.abs(self.J).max(initial=0.0)
        shift = 1.5 * ceiling + 1e-3 * top * min(1.0, self.size) if ceiling > 0.0 else 0.0
        step = self.newton(shift)
        left = self.left(step, shift)
        if left > BALANCED * self.size and (soft := self.soft_step(shift, 0.1 * left)) is not None:
            return soft, shift
        if left > 0.1 * self.size:  # a force along a direction in which nothing gives way
            shift += np.abs(self.r[: self.f]).max(initial=0.0) / LARGEST_STEP
            step = self.newton(shift)
        return step * min(
            1.0,
            LARGEST_STEP
            / max(float(np.abs(self.chart.T @ step[: self.f]).max(initial=0.0)), 1e-300),
        ), shift

    def left(self, step: np.ndarray, shift: float) -> float:
        """Return the residual that remains after a step according to the linearised equations."""
        left = self.r + self.J @ step
        left[: self.f] -= shift * step[: self.f]
        return self.measure(left)

    def soft_step(self, shift: float, allowed: float) -> np.ndarray | None:
        """Return the step including directions that are much softer than others, such as a drive in
        a mechanism with beams.

        None if the step is long, so that these directions have no stiffness, or leaves a larger
        residual than allowed.
        """
        step = self.newton(shift, SOFT)
        moves = np.abs(self.chart.T @ step[: self.f]).max(initial=0.0)
        changes = np.abs(step[self.f :] / state_sizes(self.system, self.x)).max(initial=0.0)
        short = moves <= LARGEST_STEP and changes <= LARGEST_CHANGE
        return step if short and self.left(step, shift) <= allowed else None

    def advance(self, step: np.ndarray, shift: float) -> None:
        """Take the longest part of a step that decreases the residual or, with a shift, does not
        overshoot the minimum of the potential.
        """
        for halving in range(HALVINGS):
            part = step * 0.5**halving
            q, x = self.moved(part)
            r = self.residual(q, x)
            work, before = (float(each[: self.f] @ self.M @ part[: self.f]) for each in (r, self.r))
            if self.measure(r) < self.size or (shift > 0.0 and work > -0.9 * abs(before)):
                break
        if shift > 0.0 or halving < CRAWL or not self.leapt(step):
            self.q, self.x = q, x

    def leapt(self, step: np.ndarray) -> bool:
        """Try a full step along a curved, stiff valley of the potential; keep it and return True if
        the residual decreases.
        """
        q, x, size = self.q, self.x, self.size
        soft = (
            np.abs(self.r[: self.f]).max(initial=0.0) / LARGEST_STEP
        )  # keeps soft directions in place meanwhile, more and more
        self.q, self.x = self.moved(step)
        for _ in range(RETURNS):
            self.settle()
            if self.size < size:
                return True
            soft *= 4.0
            back = self.newton(soft + 1.5 * self.ceiling)
            self.q, self.x = self.moved(
                back
                * min(
                    1.0, LARGEST_STEP / max(float(np.abs(back[: self.f]).max(initial=0.0)), 1e-300)
                )
            )
        self.q, self.x = q, x
        self.settle()
        return False

    def polish(self) -> bool:
        """Make one more Newton step; keep it and return True if it halves the residual."""
        q, x = self.moved(self.newton(0.0))
        r = self.residual(q, x)
        if not self.measure(r) < 0.5 * self.size:
            return False
        self.q, self.x = q, x
        return True

    def worst(self) -> str:
        """Return text that names the largest residual."""
        f, c, d = self.f, self.system.compiled, self.system.description
        forces, rates = np.abs(self.M @ self.r[:f]) / self.scale, self.paced(self.r)
        if rates.max(initial=0.0) > forces.max(initial=0.0):
            k, known = int(rates.argmax()), states_of(d)
            unit = known[c.states[k]].unit if c.states[k] in known else ""
            rate = f"{self.r[f + k]:.3g} {unit}".strip()
            return f"the balance of {c.states[k]} is open, it changes by {rate} per second"
        j = int(forces.argmax())
        speed = self.system.speeds[self.chart.independent[j]]
        left = float(self.M[j] @ self.r[:f])
        return (
            f"the balance of forces along {speed} is open by {left:.3g} N or N.m, "
            f"{100.0 * forces[j]:.3g} % of the weight"
        )


def body_weight(evaluation: Evaluation) -> tuple[float, float]:
    """Return the mass [kg] of the mechanism and gravity [m/s²]; each is 1 where it is zero."""
    ws, ints = evaluation.instance.ws, evaluation.system.compiled.ints
    fields = model_fields(ints, evaluation.system.compiled.floats)
    count = len(evaluation.system.bodies)
    mass = float(sum(ws.val[int(k)] for k in fields.b_mass[1 : count + 1]))
    gravity = float(np.linalg.norm(ws.val[int(HEADER.of(ints).gravity) :][:3]))
    return mass if mass > 0.0 else 1.0, gravity if gravity > 0.0 else 1.0


@in_one_thread
def find_equilibrium(
    system: System,
    t: float,
    q: np.ndarray,
    inputs: Mapping[str, float] | None,
    states: Mapping[str, float] | None,
    iterations: int = 200,
) -> tuple[Search, int]:
    """Return the search at the equilibrium reached from a position, and its number of iterations."""
    search = Search(system, t, q, inputs, states)
    count = newton_iterations(search, iterations)
    away = search.leaving() if search.x.size and count is not None else None
    if count is None or away is not None:
        other = Search(system, t, q, inputs, states)
        if away is not None and away[2]:
            other.q, other.x = away[:2]
        more = None
        if relax(other):
            more = polish_iterations(other, iterations) if count is None else None
            more = newton_iterations(other, iterations) if more is None else more
        if more is not None and (count is None or other.leaving() is None):
            return other, more + (count or iterations)
    if count is None:
        text = f"no equilibrium found in {iterations} iterations: {search.worst()}"
        raise EvaluationError(text, Status.NO_CONVERGENCE)
    return search, count


def newton_iterations(search: Search, iterations: int) -> int | None:
    """Iterate to the equilibrium; return the number of iterations, or None if there are too many."""
    for k in range(iterations):
        search.settle()
        top = search.ceiling
        if search.size < (DONE if top > 0.0 else CLOSE) and (
            search.size == 0.0 or top > 0.0 or not search.polish()
        ):
            if not search.firm:
                return k
            search.firm = False
            continue
        if search.size >= CLOSE or top > 0.0:
            search.advance(*search.downhill(top))
    return None


def equilibrium(
    system: System,
    t: float | None = None,
    q: np.ndarray | None = None,
    inputs: Mapping[str, float] | None = None,
    states: Mapping[str, float] | None = None,
    iterations: int = 200,
) -> Equilibrium:
    """Return the equilibrium reached from `q` and `states` (default: the start)."""
    t = system.compiled.start_time if t is None else t
    start = system.start()[0] if q is None else system.project(t, q, np.zeros(system.n))[0]
    refuse_asked_speeds(system, t, start, inputs, states)
    search, count = find_equilibrium(system, t, start, inputs, states, iterations)
    return equilibrium_record(system, search.t, search.q, search.x, inputs, search.size, count)


def refuse_asked_speeds(
    system: System,
    t: float,
    q: np.ndarray,
    inputs: Mapping[str, float] | None,
    states: Mapping[str, float] | None,
) -> None:
    """Raise if velocity constraints require motion, which excludes an equilibrium."""
    if not system.compiled.loops or system.position_freedoms == system.freedoms:
        return
    search = Search(system, t, q, inputs, states)
    u = search.evaluation.project(q, np.zeros(system.n), search.x)[1]
    j = int(np.abs(u).argmax())
    if abs(u[j]) > STANDS:
        text = f"no equilibrium: velocity constraints require {system.speeds[j]} = {u[j]:.4g} where the search begins"
        raise EvaluationError(
            f"{text}; let the inputs and states that drive them be 0", Status.NO_CONVERGENCE
        )
