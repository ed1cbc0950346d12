"""Sobol indices: which share of the variance of a measure comes from each parameter, alone (first order) and with all others (total).

Points by Saltelli's scheme and indices with bootstrap bounds of 95 % from SALib (A. Saltelli et al., Comput. Phys. Commun. 181 (2010) 259).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.scripts.terminal.error_messages import BadInput


def salib() -> Any:
    try:
        import SALib.analyze.sobol
        import SALib.sample.sobol
    except ImportError:
        raise BadInput("Sobol indices need SALib: pip install 'kinetree[studies]'") from None
    return SALib


def problem(names: Sequence[str]) -> dict[str, Any]:
    return {"num_vars": len(names), "names": list(names), "bounds": [[0.0, 1.0]] * len(names)}


def saltelli(count: int, samples: int, seed: int) -> np.ndarray:
    """Return Saltelli's points in the unit cube, samples (count + 2) rows."""
    names = [str(k) for k in range(count)]
    return salib().sample.sobol.sample(
        problem(names), samples, calc_second_order=False, seed=seed % 2**32
    )


def indices(values: np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the Sobol indices S1, S1_conf, ST, ST_conf of one measure, given its values at the
    points of `saltelli`.
    """
    if np.ptp(values) == 0.0 or not np.isfinite(values).all():
        return {key: np.full(len(names), np.nan) for key in ("S1", "S1_conf", "ST", "ST_conf")}
    centred = (values - values.mean()) / values.std()
    found = salib().analyze.sobol.analyze(problem(names), centred, calc_second_order=False, seed=1)
    return {key: np.asarray(found[key], dtype=float) for key in ("S1", "S1_conf", "ST", "ST_conf")}
