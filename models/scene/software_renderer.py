"""Software renderer: triangles to pixels with a depth buffer, colours interpolated between corners,
shadows on the ground; needs no graphics card or window.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def seen(corners):
    """Return the corners of a triangle and twice its signed area; 0 if a corner is behind the
    camera.
    """
    a, b, c = (
        (corners[0, 0], corners[0, 1], corners[0, 2]),
        (corners[1, 0], corners[1, 1], corners[1, 2]),
        (corners[2, 0], corners[2, 1], corners[2, 2]),
    )
    area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
    return a, b, c, area if a[2] > 0.0 and b[2] > 0.0 and c[2] > 0.0 else 0.0


@njit(cache=True)
def fill(image, nearness, corners, colours) -> None:
    """Draw triangles of x, y [pixels] and 1/distance (n, 3, 3) with colours at their corners (n, 3,
    3); the nearest surface is visible.
    """
    height, width = nearness.shape
    for n in range(corners.shape[0]):
        (x0, y0, w0), (x1, y1, w1), (x2, y2, w2), area = seen(corners[n])
        if area == 0.0:
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
                            image[y, x, k] = (
                                a * colours[n, 0, k] + b * colours[n, 1, k] + c * colours[n, 2, k]
                            )


@njit(cache=True)
def stencil(mask, corners) -> None:
    """Mark in a mask the pixels that triangles cover."""
    height, width = mask.shape
    for n in range(corners.shape[0]):
        (x0, y0, _), (x1, y1, _), (x2, y2, _), area = seen(corners[n])
        if area == 0.0:
            continue
        for y in range(max(int(min(y0, y1, y2)), 0), min(int(max(y0, y1, y2)) + 1, height - 1) + 1):
            for x in range(
                max(int(min(x0, x1, x2)), 0), min(int(max(x0, x1, x2)) + 1, width - 1) + 1
            ):
                a = ((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)) / area
                b = ((x2 - x) * (y0 - y) - (x0 - x) * (y2 - y)) / area
                if a >= 0.0 and b >= 0.0 and a + b <= 1.0:
                    mask[y, x] = 1


class Eye:
    """A camera: maps points in ground axes to pixels and 1/distance."""

    def __init__(
        self,
        place: np.ndarray,
        target: np.ndarray,
        up: np.ndarray,
        angle: float,
        size: tuple[int, int],
    ):
        way = target - place
        back = -way / np.linalg.norm(way)
        side = np.cross(up, back)
        side /= np.linalg.norm(side)
        self.place, self.axes = place, np.array([side, np.cross(back, side), back])
        self.scale = 0.5 * size[1] / np.tan(0.5 * angle)
        self.size = size

    def see(self, points: np.ndarray) -> np.ndarray:
        """Return x, y in pixels from the upper left corner, and 1/distance, which is not positive
        behind the camera.
        """
        local = (points - self.place) @ self.axes.T
        w = -1.0 / np.where(np.abs(local[..., 2]) < 1e-12, 1e-12, local[..., 2])
        x = 0.5 * self.size[0] + self.scale * local[..., 0] * w
        y = 0.5 * self.size[1] - self.scale * local[..., 1] * w
        return np.stack([x, y, w], axis=-1)
