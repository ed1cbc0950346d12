"""Where the eye stands first: what it looks at, and the outline that is to fill the picture."""

from __future__ import annotations

from itertools import product

import numpy as np

FAR = 1.0  # sizes from the middle that the first view shows, at most
WAYS = np.array([way for way in product((-1.0, 0.0, 1.0), repeat=3) if any(way)])  # directions in which the outline is looked for


def first_view(cloud: np.ndarray, start: np.ndarray, size: float) -> tuple[np.ndarray, float, np.ndarray]:
    """Middle and radius of all points of a run that stay near, and the outermost of them."""
    near = cloud[np.linalg.norm(cloud - start, axis=1) < FAR * size]
    low, high = near.min(axis=0), near.max(axis=0)
    return 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low)), near[np.unique((near @ WAYS.T).argmax(axis=0))]
