"""Identification of parameters from modes: the linearised mechanism is matched to identified
frequencies and decay rates.

min Σ_i (ln f_i(θ)/f̂_i)² + ((s_i(θ) - ŝ_i)/(2π f̂_i))² with every identified mode paired with the
nearest one of the mechanism

Modes that are overdamped for some parameter values are represented by pairs of real eigenvalues
(`motions_of`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinetree.models.analysis.finite_differences import bounded_differences
from kinetree.models.analysis.free_decay import DecayMode
from kinetree.models.analysis.identifiability import (
    FAINT_INFLUENCE,
    OTHER_STEP,
    IdentificationError,
    are_rounding,
)
from kinetree.models.analysis.identification import checked_bounds, checked_parameters
from kinetree.models.analysis.identification_result import Estimate
from kinetree.models.analysis.linearization import Linear
from kinetree.models.engine.status import EvaluationError
from kinetree.models.system.mechanism import Mechanism, load

PARAMETER_STEP = 1e-5  # of the scaled parameters; modes are good to about 1e-11
AT = 1e-3  # relative distance to a bound: trust regions stay inside
APART = 0.02  # relative difference of modes from which a match is none
WORST = 10.0  # residual where a mechanism has too few modes
FAINT = 1e-5  # amplitude beside the largest mode of a column, below which a mode is rounding
TAKES_PART = 0.05  # the same, from which a mode counts in a further part of the mechanism
MOVED = 0.01  # of the largest coordinate of a mode, from which another one moves in it
TANGENT = 0.25  # part of a squared frequency below which its logarithm is continued by a tangent


def match_modes(
    source: Mechanism | str | Path | dict[str, Any],
    modes: Sequence[DecayMode],
    parameters: Sequence[str],
    *,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    inputs: Mapping[str, float] | None = None,
    damping: bool = True,
) -> MatchedModes:
    """Return the values of `parameters` for which the oscillations of the mechanism match the
    identified ones; `damping = False` ignores the decay rates.

    Modes that carry a note are left out. Standard deviations come from those of the modes, or from
    the residual of the match if that is larger.
    """
    from scipy.optimize import least_squares

    mechanism = source if isinstance(source, Mechanism) else load(source)
    start = checked_parameters(mechanism, parameters)
    limits = checked_bounds(mechanism, start, bounds or {})
    unit = np.array([abs(value) or 1.0 for value in start.values()])

    def present(values: Mapping[str, float]) -> list[ModeQuadratic]:
        return motions_of(mechanism.compile(**values).equilibrium(inputs=inputs).linear)

    def residuals(x: np.ndarray) -> np.ndarray:
        values = dict(zip(start, map(float, x * unit), strict=True))
        try:
            return paired_residuals(wanted, present(values), damping)
        except EvaluationError:  # no equilibrium: a step too far
            return np.full(len(wanted) * (2 if damping else 1), WORST)

    there = present(start)
    wanted = seen_parts([mode for mode in modes if mode.frequency > 0.0 and not mode.note], there)
    count = len(wanted) * (2 if damping else 1)
    if count < len(start):
        raise IdentificationError(
            f"{len(wanted)} oscillations give {count} numbers, too few for {len(start)} parameters"
        )
    if len(there) < len(wanted):
        raise IdentificationError(
            f"the record has {len(wanted)} modes, the mechanism {len(there)} at the start values: "
            "leave columns out, or add what moves"
        )
    x0 = np.array(list(start.values())) / unit
    low, high = (np.array([limits[name][side] for name in start]) / unit for side in (0, 1))
    found = least_squares(
        residuals,
        x0,
        "3-point",
        (low, high),
        diff_step=PARAMETER_STEP,
        xtol=1e-14,
        ftol=1e-14,
        gtol=1e-14,
    )
    one, other = (
        bounded_differences(residuals, found.x, step * np.maximum(np.abs(found.x), 1.0), low, high)
        for step in (PARAMETER_STEP, OTHER_STEP * PARAMETER_STEP)
    )
    for k, name in enumerate(start):
        if np.abs(one[:, k]).max() < FAINT_INFLUENCE and are_rounding(one[:, k], other[:, k]):
            raise IdentificationError(f"parameter '{name}' has no influence on the modes")
    free = found.fun.size - found.x.size
    J, spread = found.jac, residual_deviations(wanted, damping)
    inverse = np.linalg.pinv(J)
    covariance = inverse @ np.diag(spread**2) @ inverse.T
    if free > 0:
        covariance = np.maximum(
            covariance, np.linalg.pinv(J.T @ J) * float(found.fun @ found.fun) / free
        )
    units, estimates = mechanism.description.parameters, []
    for k, (name, value) in enumerate(start.items()):
        near = AT * max(abs(float(found.x[k])), 1e-300)
        bound = (
            "at its lower bound"
            if found.x[k] <= low[k] + near
            else "at its upper bound"
            if found.x[k] >= high[k] - near
            else ""
        )
        deviation = float(np.sqrt(max(covariance[k, k], 0.0)) * unit[k])
        estimates.append(
            Estimate(name, value, float(found.x[k] * unit[k]), deviation, units[name].unit, bound)
        )
    return MatchedModes(estimates, float(np.sqrt(np.mean(found.fun**2))))


class MatchedModes(dict[str, float]):
    """Parameter values by name, with `estimates` (standard deviations and notes) and `left`: the
    root mean square of the remaining relative differences of the modes.
    """

    def __init__(self, estimates: Sequence[Estimate], left: float):
        super().__init__({each.name: each.value for each in estimates})
        self.estimates, self.left = tuple(estimates), left

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes about unmatched or doubtful modes."""
        bounds = tuple(
            f"{each.name} is {each.note}: it says where the bound is, not what the parameter is"
            for each in self.estimates
            if each.note
        )
        vague = tuple(
            f"{each.name} is hardly known from these modes"
            for each in self.estimates
            if each.deviation > abs(each.value) > 0.0
        )
        apart = (
            (
                f"the modes are missed by {100 * self.left:.2g} %: other parameters, or another mechanism?",
            )
            if self.left > APART
            else ()
        )
        return bounds + vague + apart


class SeenMode(NamedTuple):
    """An identified mode restricted to coordinates that are coupled; an empty set stands for all
    coordinates.
    """

    mode: DecayMode
    names: frozenset[str]


def seen_parts(modes: Sequence[DecayMode], present: Sequence[ModeQuadratic]) -> list[SeenMode]:
    """Return every identified mode once for each part of the mechanism that oscillates in it.

    Parts are sets of coordinates that no mode of the mechanism couples: two independent oscillators
    of equal frequency are one mode of the record but two of the mechanism. Modes that are
    negligible in each of their columns are left out.
    """
    columns = list(dict.fromkeys(name for mode in modes for name in mode.amplitudes))
    largest = {
        name: max(mode.amplitudes.get(name, 0.0) for mode in modes) or 1.0 for name in columns
    }
    names = {name: name.removeprefix("der(").removesuffix(")") for name in columns}
    known = {name for each in present for name in each.moves}
    if not columns or not known.issuperset(names.values()):
        return [SeenMode(mode, frozenset()) for mode in modes]
    parts = [{name} for name in sorted(set(names.values()))]
    for each in present:
        moved = {name for name, size in each.moves.items() if size > MOVED}
        together = [part for part in parts if part & moved]
        if together:
            parts = [part for part in parts if not part & moved] + [set().union(*together)]
    found = []
    for mode in modes:
        sizes = [
            max(
                mode.amplitudes.get(column, 0.0) / largest[column]
                for column in columns
                if names[column] in part
            )
            for part in parts
        ]
        if max(sizes) > FAINT:
            limit = min(max(sizes), TAKES_PART)
            found += [
                SeenMode(mode, frozenset(part))
                for part, size in zip(parts, sizes, strict=True)
                if size >= limit
            ]
    return found


def residual_deviations(seen: Sequence[SeenMode], damping: bool) -> np.ndarray:
    """Return the standard deviations of residuals that follow from those of the modes."""
    wanted = [each.mode for each in seen]
    frequencies = [mode.frequency_deviation / mode.frequency for mode in wanted]
    return np.array(
        frequencies
        + (
            [mode.decay_deviation / (2.0 * np.pi * mode.frequency) for mode in wanted]
            if damping
            else []
        )
    )


class ModeQuadratic(NamedTuple):
    """A mode as the quadratic s² + 2 decay s + decay² + (2π)² square; `square` [Hz²] is negative
    for overdamped modes.
    """

    square: float  # of the frequency [Hz²]; negative where the mode creeps back without swinging
    decay: float  # 1/s
    moves: Mapping[str, float]  # coordinates, the largest 1


def motions_of(linear: Linear) -> list[ModeQuadratic]:
    """Return the modes of a mechanism, with non-oscillating ones as pairs of real eigenvalues.

    With growing damping a conjugate pair becomes two real eigenvalues with the shape of the mode;
    real eigenvalues with the most similar shapes are paired.
    """
    modes = linear.modes()
    found = [
        ModeQuadratic(
            (mode.eigenvalue.imag / (2.0 * np.pi)) ** 2,
            -mode.eigenvalue.real,
            {name: abs(mode.shape[name]) for name in linear.local},
        )
        for mode in modes
        if mode.oscillates
    ]
    real = [mode for mode in modes if not mode.oscillates and mode.eigenvalue.real < 0.0]
    shapes = [np.array([mode.shape[name] for name in linear.local]) for mode in real]
    alike = {
        (i, j): modal_assurance(shapes[i], shapes[j])
        for i in range(len(real))
        for j in range(i + 1, len(real))
    }
    while alike:
        i, j = max(alike, key=alike.__getitem__)
        fast, slow = (-real[k].eigenvalue.real for k in (i, j))
        half = 0.5 * (fast - slow)
        moves = {name: abs(real[j].shape[name]) for name in linear.local}
        found.append(ModeQuadratic(-((half / (2.0 * np.pi)) ** 2), 0.5 * (fast + slow), moves))
        alike = {pair: value for pair, value in alike.items() if not {i, j} & set(pair)}
    return found


def modal_assurance(a: np.ndarray, b: np.ndarray) -> float:
    """Return the modal assurance criterion of two shapes: 1 where they are parallel."""
    size = float(np.vdot(a, a).real * np.vdot(b, b).real)
    return float(abs(np.vdot(a, b)) ** 2) / size if size > 0.0 else 0.0


def frequency_residual(seen: SeenMode, motion: ModeQuadratic) -> float:
    """Return ln(f/f̂), continued by its tangent for small f; WORST if other parts of the mechanism
    move.
    """
    if seen.names and not any(motion.moves[name] > MOVED for name in seen.names):
        return WORST
    part = motion.square / seen.mode.frequency**2
    return 0.5 * (
        math.log(part) if part > TANGENT else math.log(TANGENT) + (part - TANGENT) / TANGENT
    )


def paired_residuals(
    wanted: Sequence[SeenMode], present: Sequence[ModeQuadratic], damping: bool
) -> np.ndarray:
    """Return the residuals of the best pairing of identified and computed modes."""
    from scipy.optimize import linear_sum_assignment

    if len(present) < len(wanted):
        return np.full(len(wanted) * (2 if damping else 1), WORST)
    far = np.array([[frequency_residual(seen, each) for each in present] for seen in wanted])
    rows, columns = linear_sum_assignment(np.abs(far))
    rates = [
        (present[j].decay - wanted[i].mode.decay) / (2.0 * np.pi * wanted[i].mode.frequency)
        for i, j in zip(rows, columns, strict=True)
    ]
    return np.array([*far[rows, columns], *(rates if damping else [])])
