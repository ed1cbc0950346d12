"""Triangles to pixels: a depth buffer, colours between the corners, shadows on the ground. No graphics card, no window."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def fill(image, nearness, corners, colours) -> None:
    """Draw triangles of x, y [pixels] and 1/distance (n, 3, 3) with colours at their corners (n, 3, 3), the nearest in front."""
    height, width = nearness.shape
    for n in range(corners.shape[0]):
        x0, y0, w0 = corners[n, 0]
        x1, y1, w1 = corners[n, 1]
        x2, y2, w2 = corners[n, 2]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if area == 0.0 or not (w0 > 0.0 and w1 > 0.0 and w2 > 0.0):
            continue
        left, right = max(int(min(x0, x1, x2)), 0), min(int(max(x0, x1, x2)) + 1, width - 1)
        top, bottom = max(int(min(y0, y1, y2)), 0), min(int(max(y0, y1, y2)) + 1, height - 1)
        for y in range(top, bottom + 1):
            for x in range(left, right + 1):
                a = ((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)) / area
                b = ((x2 - x) * (y0 - y) - (x0 - x) * (y2 - y)) / area
                c = 1.0 - a - b
                if a >= 0.0 and b >= 0.0 and c >= 0.0:
                    w = a * w0 + b * w1 + c * w2
                    if w > nearness[y, x]:
                        nearness[y, x] = w
                        for k in range(3):
                            image[y, x, k] = a * colours[n, 0, k] + b * colours[n, 1, k] + c * colours[n, 2, k]


@njit(cache=True)
def stencil(mask, corners) -> None:
    """Mark the pixels that triangles cover."""
    height, width = mask.shape
    for n in range(corners.shape[0]):
        x0, y0, w0 = corners[n, 0]
        x1, y1, w1 = corners[n, 1]
        x2, y2, w2 = corners[n, 2]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if area == 0.0 or not (w0 > 0.0 and w1 > 0.0 and w2 > 0.0):
            continue
        for y in range(max(int(min(y0, y1, y2)), 0), min(int(max(y0, y1, y2)) + 1, height - 1) + 1):
            for x in range(max(int(min(x0, x1, x2)), 0), min(int(max(x0, x1, x2)) + 1, width - 1) + 1):
                a = ((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)) / area
                b = ((x2 - x) * (y0 - y) - (x0 - x) * (y2 - y)) / area
                if a >= 0.0 and b >= 0.0 and a + b <= 1.0:
                    mask[y, x] = 1


class Eye:
    """A camera: world points to pixels and 1/distance."""

    def __init__(self, place: np.ndarray, target: np.ndarray, up: np.ndarray, angle: float, size: tuple[int, int]):
        way = target - place
        back = -way / np.linalg.norm(way)
        side = np.cross(up, back)
        side /= np.linalg.norm(side)
        self.place, self.axes = place, np.array([side, np.cross(back, side), back])
        self.scale = 0.5 * size[1] / np.tan(0.5 * angle)
        self.size = size

    def see(self, points: np.ndarray) -> np.ndarray:
        """x, y in pixels from the upper left, and 1/distance, which is not above 0 behind the eye."""
        local = (points - self.place) @ self.axes.T
        w = -1.0 / np.where(np.abs(local[..., 2]) < 1e-12, 1e-12, local[..., 2])
        x = 0.5 * self.size[0] + self.scale * local[..., 0] * w
        y = 0.5 * self.size[1] - self.scale * local[..., 1] * w
        return np.stack([x, y, w], axis=-1)
