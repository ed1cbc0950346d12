"""Identifiability: parameters on which a record does not depend, and other parameters that the
residual points to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.analysis.identification_result import Suspect
from kinetree.models.checks.structural_parameters import frozen
from kinetree.models.compilation.compile import parameter_values

if TYPE_CHECKING:
    from kinetree.models.analysis.identification import Fitting

PARAMETER_STEP = (
    1e-4  # of the scaled parameters: cube root of the tolerance of the runs, rounded down
)
SUSPECTED = (
    *("kg", "kg.m2", "kg/m", "kg/m3", "N/m", "N.m/rad", "N.m", "Pa"),
    *("N.s/m", "N.m.s/rad", "N.m.s"),
)  # units of masses, inertias, stiffnesses, dampings
SUSPECT_STEP = 1e-3  # relative
INDEPENDENT = 1e-3  # part of slopes that others do not have, below which they are the same
COLUMN_ROUNDING = 1e-5  # of a column, beside its spread
BY_CHANCE = 6.0  # over the rows: part of noise that a parameter without meaning may explain
EXPLAINS = 0.01  # part of what is left, from which another parameter is named
FAINT_INFLUENCE = 1e-2  # the same, below which slopes are looked at with another step
VAGUE_RATIO = 1e-3  # singular value of the scaled Jacobian beside the largest, the same
OTHER_STEP = 3.0  # beside PARAMETER_STEP
DIFFERENT = 0.3  # part of slopes by which those of another step differ where they are rounding


class IdentificationError(ValueError):
    """Raised if data or parameters are unsuitable; the message says which and what was expected."""


def refuse_vague_parameters(fitting: Fitting, x: np.ndarray, J: np.ndarray) -> None:
    """Refuse parameters, or combinations of them, whose derivatives are only rounding errors of
    runs.

    Significant derivatives agree when they are computed with another step; rounding errors do not.
    """
    names = list(fitting.start)
    sizes = np.linalg.norm(J, axis=0)
    faint = np.abs(J).max(axis=0) < FAINT_INFLUENCE
    _, singular, V = np.linalg.svd(J / np.where(sizes > 0.0, sizes, 1.0), full_matrices=False)
    vague = singular < VAGUE_RATIO * singular[0]
    other = fitting.jacobian(x, OTHER_STEP * PARAMETER_STEP) if faint.any() or vague.any() else J
    for k, name in enumerate(names):
        if faint[k] and are_rounding(J[:, k], other[:, k]):
            raise IdentificationError(
                f"parameter '{name}' has no influence on {', '.join(fitting.sigma)}; "
                "leave it out or measure more"
            )
    for direction in V[vague]:
        if are_rounding(J @ (direction / sizes), other @ (direction / sizes)):
            alike = [name for name, part in zip(names, direction, strict=True) if abs(part) > 0.1]
            raise IdentificationError(
                f"parameters {' and '.join(alike)} cannot be told apart from these data; "
                "fix one of them or measure more"
            )


def are_rounding(slopes: np.ndarray, other: np.ndarray) -> bool:
    """Return whether derivatives computed with two steps agree so little that they are rounding
    errors.
    """
    size = float(np.linalg.norm(slopes))
    return size == 0.0 or float(np.linalg.norm(slopes - other)) > DIFFERENT * size


def suspected_parameters(
    fitting: Fitting, x: np.ndarray, J: np.ndarray, r: np.ndarray
) -> tuple[Suspect, ...]:
    """Return other parameters whose change would explain most of the residual of a fit.

    To first order, with the fitted parameters free to adapt: the residual loses its component along
    the derivatives by the other parameter.
    """
    if all(size < COLUMN_ROUNDING * fitting.spreads[name] for name, size in fitting.sigma.items()):
        return ()  # nothing is left but rounding
    description = fitting.mechanism.description
    known = parameter_values(description)
    fixed = {name for each in fitting.trials for name in each.settings}
    fixed |= {*fitting.start, *frozen(description)}
    Q, total, found = np.linalg.qr(J)[0], float(r @ r), []
    least = max(EXPLAINS, BY_CHANCE / r.size)
    for name, parameter in description.parameters.items():
        value, follows = known[name], isinstance(parameter.value, str)
        if name in fixed or follows or value == 0.0 or parameter.unit not in SUSPECTED:
            continue
        ends = []
        for side in (1.0, -1.0):
            fitting.other = {name: value * (1.0 + side * SUSPECT_STEP)}
            ends.append(fitting.residuals(x))
        fitting.other = {}
        slopes = (ends[0] - ends[1]) / (2.0 * SUSPECT_STEP)
        own = slopes - Q @ (Q.T @ slopes)
        size = float(own @ own)
        if size <= INDEPENDENT**2 * float(slopes @ slopes) or size == 0.0:
            continue  # the fit does already what it would do
        along = float(own @ r)
        part = along * along / size / max(total, 1e-300)
        if part > least:
            found.append(Suspect(name, value, -value * along / size, part, parameter.unit))
    return tuple(sorted(found, key=lambda each: -each.explained))
