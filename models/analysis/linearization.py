"""Linearisation about a state: M ÿ + F ẏ + K y = G w and the first-order form ż = A z + B w,
outputs C z + D w.

z = (y, ẏ, x): local coordinates (models/system/local_coordinates.py), independent speeds,
first-order states; w are changes of the inputs. Derivatives are exact to rounding
(models/analysis/exact_derivatives.py). K, F and G are those of the accelerations multiplied by the
mass matrix. Cost: an evaluation on dual numbers per eight entries of z and w.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

from kinetree.models.analysis.constrained_tangents import tangents
from kinetree.models.analysis.exact_derivatives import Slopes
from kinetree.models.analysis.input_rates import with_rates
from kinetree.models.analysis.moving_state import SLOPE_ROUNDING, largest_rates, state_rates
from kinetree.models.analysis.nominal_values import state_sizes
from kinetree.models.analysis.vehicle_motions import vehicle_motions
from kinetree.models.beams.beam_reports import beam_motions
from kinetree.models.controllers.expansion import commands_of, values_of
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.language.parts.predictive_parts import PredictiveController
from kinetree.models.system.local_coordinates import Chart, Evaluation

if TYPE_CHECKING:
    from kinetree.models.analysis.frequency_response import StateSpace
    from kinetree.models.system.system import System
    from kinetree.solvers.chain.constant_step_unit import Unit

RESTING = 1e-6  # m or rad beside the size of a state: what moves less does not move
STANDS = 1e-4  # m/s or rad/s: below, a state is one of rest
NEGLIGIBLE_SLOPE = 1e-6  # part of the largest row of slopes
NOISE = 3e-12  # relative size of slopes that stand for zero


class Mode(NamedTuple):
    """One mode exp(λt): a conjugate pair of eigenvalues or a real eigenvalue."""

    frequency: float  # |λ|/2π [Hz]
    damping: float  # -Re λ/|λ|; 0 where λ = 0
    eigenvalue: complex
    shape: dict[
        str, complex
    ]  # amplitudes of the local coordinates of all speeds, the largest is 1, then of the states; see `Linear.shape`

    @property
    def oscillates(self) -> bool:
        """Return whether the mode oscillates."""
        return self.eigenvalue.imag != 0.0


class Modes(list[Mode]):
    """A list of modes that notebooks show as a table."""

    def _repr_html_(self) -> str:
        from kinetree.models.scene.notebook import modes_html

        return modes_html(self)


@dataclass(frozen=True)
class Linear:
    """A linearised system (A, B, C, D and second-order matrices); `states` are the names of z."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    mass: np.ndarray
    damping: np.ndarray
    stiffness: np.ndarray
    force: np.ndarray  # G: generalised forces of unit changes of the inputs
    coordinates: tuple[str, ...]  # names of y
    tangent: np.ndarray  # changes of the local coordinates of all speeds by y
    local: tuple[str, ...]  # their names
    sizes: np.ndarray  # how large each first-order state is, so that they can be compared
    speeds: tuple[
        str, ...
    ]  # names of v, which are ẏ but where a moving state has more independent places than speeds
    moving: Mapping[str, float] = field(
        default_factory=dict
    )  # speeds of the state about which the motions are small; none at rest
    changing: Mapping[str, float] = field(
        default_factory=dict
    )  # independent accelerations and rates of states there; none in a steady motion
    shift: np.ndarray | None = (
        None  # z is less by this times w where relations follow inputs (models/analysis/input_rates.py)
    )
    shift_by_rates: np.ndarray | None = None  # and by this times ẇ
    improper: np.ndarray | None = None  # outputs that have a rate of an input in them
    sampled: Mapping[str, float] = field(
        default_factory=dict
    )  # controllers that stand as continuous ones in A, with their periods [s]
    motions: Mapping[str, str] = field(
        default_factory=dict
    )  # heave, roll and the like, by the names of local coordinates and speeds of vehicles
    bending: Mapping[str, str] = field(
        default_factory=dict
    )  # bending and twist of beams, by the names of local coordinates and speeds of hinges

    @property
    def about(self) -> list[str]:
        """Return sentences about an operating point that is not an equilibrium."""
        said = []
        if self.moving:
            said.append(f"about a moving state: {largest_rates(self.moving)}")
        if len(self.speeds) != len(self.coordinates):
            counts = f"{len(self.coordinates)} places and {len(self.speeds)} speeds are free"
            said.append(
                f"{counts}: constraints of speeds alone do not bind places, and those on which nothing depends have eigenvalues of 0"
            )
        if self.changing:
            said.append(
                f"not a steady state, {largest_rates(self.changing, 'd/dt ')}: eigenvalues are those of this instant, and tell no stability"
            )
        if self.shift is not None and self.improper is not None and np.any(self.shift):
            names = [
                name for name, column in zip(self.inputs, self.shift.T, strict=True) if column.any()
            ]
            said += [
                f"{self.outputs[k]} has the rate of {self.inputs[j]} in it, which A, B, C, D leave out"
                for k, j in np.argwhere(self.improper)
            ]
            said.append(
                f"constraints follow {', '.join(names)}: speeds among the states are less what they have by the input at once"
            )
        if self.sampled:
            names = ", ".join(f"'{name}' ({T:g} s)" for name, T in self.sampled.items())
            said.append(
                f"sampled: {names} stand here as continuous laws, without hold and delay; "
                "margins are those from sample to sample"
            )
        return said

    @property
    def mechanical(self) -> int:
        """Return the number of states that are positions and speeds; first-order states follow
        them.
        """
        return len(self.coordinates) + len(self.speeds)

    @property
    def conservative(self) -> bool:
        """Return whether the system has neither damping nor gyroscopic nor circulatory forces."""
        n, A = len(self.coordinates), self.A
        if len(self.speeds) != n or A.shape[0] > 2 * n or A[:n, :n].any():
            return False
        K, fastest = self.stiffness, np.sqrt(np.abs(A[n:, :n]).max(initial=0.0))
        return (
            bool(np.abs(A[n:, n:]).max(initial=0.0) <= NOISE * max(fastest, NOISE))
            and np.abs(K - K.T).max(initial=0.0) <= 1e-9 * np.abs(K).max()
        )

    def __repr__(self) -> str:
        from kinetree.models.language.word_lists import listed
        from kinetree.models.result.number_format import written

        seen = [name for name in self.inputs if ":" not in name]  # not those of the engine alone
        names = {"states": self.states, "inputs": seen, "outputs": self.outputs}
        parts = [f"{len(own)} {key}: {listed(own)}" for key, own in names.items() if own]
        modes = [f"{written(mode.frequency, 4)} Hz" for mode in self.modes() if mode.oscillates]
        return f"Linear({'; '.join([*parts, *([f'modes {listed(modes)}'] if modes else [])])})"

    def _repr_html_(self) -> str:
        from kinetree.models.scene.notebook import linear_html

        return linear_html(self)

    def modes(self) -> Modes:
        """Return the modes of free motion, slowest first."""
        values, vectors = self._conservative() if self.conservative else np.linalg.eig(self.A)
        found = []
        for value, vector in zip(values, vectors.T, strict=True):
            if value.imag < 0.0:
                continue
            size = float(abs(value))
            found.append(
                Mode(
                    size / (2 * np.pi),
                    float(-value.real / size) if size else 0.0,
                    complex(value),
                    self.shape(vector),
                )
            )
        return Modes(sorted(found, key=lambda mode: mode.frequency))

    def shape(self, vector: np.ndarray) -> dict[str, complex]:
        """Return the amplitudes of the local coordinates and of the states, in their own units: the
        largest coordinate is 1.

        If the mechanism hardly moves compared with its first-order states, the largest state,
        relative to its size, is 1 instead.
        """
        n, m = len(self.coordinates), self.mechanical
        moving, states = self.tangent @ vector[:n], vector[m:]
        beside = states / self.sizes
        ends = [part[np.abs(part).argmax()] if part.any() else 0.0 for part in (moving, beside)]
        top = ends[0] if abs(ends[0]) > RESTING * abs(ends[1]) else ends[1]
        shape = np.concatenate((moving, states)) / (top or 1.0)
        return dict(zip((*self.local, *self.states[m:]), map(complex, shape), strict=True))

    def _conservative(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the eigenvalues and vectors of the symmetric pair (K, M), exact for neutral modes."""
        squares, shapes = eigh(0.5 * (self.stiffness + self.stiffness.T), self.mass)
        squares[np.abs(squares) <= NOISE * np.abs(squares).max(initial=0.0)] = 0.0
        single = np.emath.sqrt(-squares).astype(complex)
        values = np.concatenate((single, -single))
        return values, np.vstack(
            (np.hstack((shapes, shapes)), np.hstack((shapes * single, -shapes * single)))
        )

    @property
    def eigenvalues(self) -> np.ndarray:
        """Return the eigenvalues of the system matrix A."""
        return self._conservative()[0] if self.conservative else np.linalg.eigvals(self.A)

    def part(self, inputs: Sequence[str], outputs: Sequence[str]) -> StateSpace:
        """Return the state-space system from some inputs to some outputs."""
        from kinetree.models.analysis.frequency_response import StateSpace

        columns, rows = (
            [named_index(name, names) for name in wanted]
            for wanted, names in ((inputs, self.inputs), (outputs, self.outputs))
        )
        if self.improper is not None and self.improper[np.ix_(rows, columns)].any():
            row, column = np.argwhere(self.improper[np.ix_(rows, columns)])[0]
            said = f"'{outputs[row]}' depends on how fast the input '{inputs[column]}' changes, which a constraint follows"
            raise ValueError(
                f"{said}: no A, B, C, D has that; leave one of them out, or let the constraint follow a first-order state"
            )
        return StateSpace(self.A, self.B[:, columns], self.C[rows], self.D[np.ix_(rows, columns)])

    def to_control(self) -> Any:
        """Return the system as StateSpace of python-control, with names.

        python-control does not allow dots in names; names that become equal without them get a
        number.
        """
        try:
            import control
        except ImportError:
            raise ImportError(
                "python-control is not installed: pip install 'kinetree[control]'"
            ) from None
        self.part(self.inputs, self.outputs)  # refuses outputs with rates of inputs in them
        names = {
            "states": without_dots(self.states),
            "inputs": without_dots(self.inputs),
            "outputs": without_dots(self.outputs),
        }
        return control.StateSpace(
            self.A, self.B, self.C, self.D, **names, remove_useless_states=False
        )

    def refuse_chain(self) -> None:
        """Raise if the linear system cannot be represented as a [chain]."""
        if len(self.states) > self.mechanical:
            raise ValueError(
                f"a chain has no first-order states, found {', '.join(self.states[self.mechanical :])}"
            )
        if len(self.speeds) != len(self.coordinates):
            raise ValueError(
                f"a chain has as many speeds as coordinates, found {len(self.speeds)} and {len(self.coordinates)}"
            )
        if self.shift is not None and np.any(self.shift):
            followed = [
                name for name, column in zip(self.inputs, self.shift.T, strict=True) if column.any()
            ]
            raise ValueError(
                f"a chain has forces as inputs, but constraints follow '{followed[0]}'"
            )

    def linear_chain(
        self, dt: float, channels: Sequence[str] | None = None, accuracy: float = 1e-10
    ) -> Unit:
        """Return the linear system as a chain with constant steps dt (matrix method,
        kinetree.solvers.chain); forces act at the named coordinates (default: all).
        """
        from kinetree.solvers.chain import linear_chain

        self.refuse_chain()
        for name in channels or ():
            if name not in self.coordinates:
                raise KeyError(
                    f"'{name}' is not a coordinate of the linearised system; coordinates: {', '.join(self.coordinates)}"
                )
        numbers = None if channels is None else [self.coordinates.index(name) for name in channels]
        return linear_chain(
            without_rounding(self.mass),
            without_rounding(self.damping),
            without_rounding(self.stiffness),
            dt,
            numbers,
            accuracy,
        )


def without_dots(names: Sequence[str]) -> list[str]:
    """Return the names with "_" for every dot, kept distinct."""
    found: list[str] = []
    taken = set(names)
    for name in names:
        plain, number = name.replace(".", "_"), 2
        while plain != name and plain in taken:
            plain, number = f"{name.replace('.', '_')}_{number}", number + 1
        taken.add(plain)
        found.append(plain)
    return found


def linearize(
    system: System,
    t: float,
    q: np.ndarray,
    u: np.ndarray | None = None,
    inputs: Mapping[str, float] | None = None,
    outputs: Sequence[str] | None = None,
    states: Mapping[str, float] | None = None,
    at_rest: bool = False,
) -> Linear:
    """Return the linearisation about a state; `outputs` may name any quantity with a value
    (default: all outputs).

    `at_rest`: take positions along the allowed speeds only, whatever states and inputs prescribe.
    """
    refuse_predictive(system)
    c = system.compiled
    columns = {column.name: column.register for column in c.outputs}
    names = tuple(columns) if outputs is None else tuple(outputs)
    for name in names:
        if name not in columns and name not in c.registers:
            raise KeyError(f"'{name}' is not an output; outputs: {', '.join(columns) or 'none'}")
    registers = [columns[name] if name in columns else c.registers[name] for name in names]
    evaluation = Evaluation(system, t, inputs)
    x = evaluation.start_x.copy()
    for name, value in (states or {}).items():
        x[c.states.index(name)] = value
    q, u = evaluation.project(q, np.zeros(system.n) if u is None else u, x)
    chart = Chart(system, t, q, lambda q, u: evaluation.project(q, u, x))
    if system.description.actuators:
        evaluation.begin(chart.q, u, x)
    moving = bool(np.abs(u).max(initial=0.0) > STANDS)
    further = (
        not at_rest and system.position_freedoms > system.freedoms
    )  # places that no allowed speed reaches at once
    along = tangents(evaluation, chart, u, x, every_place=further and moving)
    if further and not moving and along.driven:
        along = tangents(evaluation, chart, u, x, every_place=True)
    speeds = tuple(system.speeds[j] for j in along.independent)
    evaluation.call("outputs", chart.q, u, x)
    held = evaluation.instance
    held.finite(t, "accelerations", held.ws.udot, system.speeds)
    held.finite(t, "rates of states", held.ws.xdot, c.states)
    held.finite(t, "outputs", held.ws.val[registers], names)
    changing = state_rates(evaluation, along.independent, x, speeds)
    J = Slopes(evaluation, chart, u[chart.independent], x, registers, along, u).matrix()
    held.finite(t, "slopes of rates and outputs", J, (*speeds, *c.states, *names))
    p, f = along.coordinates.size, along.independent.size
    rows, size = f + x.size, p + f + x.size
    K = (chart.transport(u) @ along.places + along.speeds)[
        along.coordinates
    ]  # δ̇ of the independent places
    A, B = np.vstack((K[:, :size], J[:rows, :size])), np.vstack((K[:, size:], J[:rows, size:]))
    M = chart.T.T @ system.mass_matrix(t, chart.q) @ chart.T
    sampled = sampled_controllers(system)
    local = chart.names
    named = tuple(local[j] for j in along.coordinates)
    linear = Linear(
        A, B, J[rows:, :size], J[rows:, size:], (*named, *speeds, *c.states), c.inputs, names,
        M, -M @ J[:f, p : p + f], -M @ J[:f, :p], M @ J[:f, size:], named, along.places[:, :p], local, state_sizes(system, x), speeds,
        dict(zip(system.speeds, map(float, u), strict=True)) if moving else {}, changing,
        sampled=sampled, motions=vehicle_motions(system, chart.q),
        bending=beam_motions(system.description, (*local, *speeds)),
    )  # fmt: skip
    linear = without_noise(linear) if p > f else linear
    return (
        with_rates(linear, evaluation, chart.q, u, x, registers, along)
        if along.by_rates.size
        else linear
    )


def refuse_predictive(system: System) -> None:
    """Raise ValueError for a predictive controller whose commands are not inputs: it has no linear
    law.
    """
    for name, controller in system.description.written.controllers.items():
        if isinstance(controller, PredictiveController):
            if not set(commands_of(name, controller)) <= set(system.compiled.inputs):
                raise ValueError(
                    f"controllers.{name} is predictive: its command follows no law that could be linearised; "
                    f"take a copy of the mechanism in which the command is an input, or a force"
                )


def sampled_controllers(system: System) -> dict[str, float]:
    """Return the sampled controllers that a system replaces by continuous ones, with their periods
    [s].
    """
    d = system.description
    found = {
        name: controller.period
        for name, controller in d.written.controllers.items()
        if controller.period is not None and d.rests and name not in system.compiled.inputs
    }
    values = values_of(d.written) if found else {}
    return {name: evaluate_constant(period, dict(values)) for name, period in found.items()}


def without_noise(linear: Linear) -> Linear:
    """Return the system without couplings at rounding level to positions that have no influence."""
    p, f = len(linear.coordinates), len(linear.speeds)
    found = []
    for matrix in (linear.A, linear.C):
        top = np.abs(matrix[:, : p + f]).max(axis=1, keepdims=True, initial=0.0)
        top = np.maximum(
            top, NEGLIGIBLE_SLOPE * top.max(initial=0.0)
        )  # rows that are nothing but rounding
        found.append(
            np.where(
                (np.abs(matrix) <= SLOPE_ROUNDING * top) & (np.arange(matrix.shape[1]) < p + f),
                0.0,
                matrix,
            )
        )
    return replace(linear, A=found[0], C=found[1])


def named_index(name: str, names: Sequence[str]) -> int:
    """Return the index of a name; raise an error that lists the known ones."""
    if name not in names:
        from kinetree.models.language.errors import suggestion

        raise ValueError(f"'{name}' is not there; {suggestion(name, tuple(names))}")
    return list(names).index(name)


def without_rounding(matrix: np.ndarray) -> np.ndarray:
    """Return a matrix with rounding residues removed and symmetry restored."""
    size = np.sqrt(np.abs(np.diag(matrix)))
    scale = np.outer(size, size)
    top = np.abs(matrix).max(initial=0.0)
    matrix = np.where(np.abs(matrix) <= 10 * NOISE * np.maximum(scale, NOISE * top), 0.0, matrix)
    return (
        0.5 * (matrix + matrix.T)
        if np.abs(matrix - matrix.T).max(initial=0.0) <= 1e-9 * top
        else matrix
    )
