"""Overlays of film frames and pictures: plots of selected variables with a cursor, name, stage and
time.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.result.number_format import written
from kinetree.models.scene.flexible_film import heat

INK, SOFT, LINE, PAPER = "#1c2430", "#5c6876", "#d7dde4", "#ffffff"
COLOURS = ("#1f6fb5", "#c9712b", "#3c9a55")
TICKS = 4
FACES = (
    "DejaVuSans.ttf",
    "LiberationSans-Regular.ttf",
    "Arial.ttf",
    "arial.ttf",
    "Helvetica.ttc",
)  # with accents, Greek letters and signs


def tools() -> Any:
    """Return the image module of Pillow."""
    try:
        from PIL import Image
    except ImportError:
        raise ValueError("films and pictures need Pillow: pip install kinetree[view]") from None
    return Image


@cache
def face(points: int) -> Any:
    """Return a font of the given size: matplotlib's, the system's, or Pillow's default."""
    from PIL import ImageFont

    found = find_spec("matplotlib")
    folders = (
        [Path(found.origin).parent / "mpl-data" / "fonts" / "ttf"]
        if found is not None and found.origin
        else []
    )
    for name in (*(str(folder / FACES[0]) for folder in folders), *FACES):
        try:
            return ImageFont.truetype(name, points)
        except OSError:
            continue
    return ImageFont.load_default(points)


def ticks(low: float, high: float, count: int = TICKS) -> list[float]:
    """Return round tick values between two limits."""
    raw = (high - low) / count
    power = 10.0 ** np.floor(np.log10(raw))
    step = power * next(each for each in (1.0, 2.0, 5.0, 10.0) if each * power >= raw * (1 - 1e-9))
    return [
        float(x) for x in np.arange(np.ceil(low / step - 1e-9) * step, high + 1e-9 * step, step)
    ]


def beside(
    scene: np.ndarray,
    data: Mapping[str, Any],
    clip: Mapping[str, Any],
    time: np.ndarray,
    k: int,
    size: tuple[int, int],
) -> np.ndarray:
    """Return a picture with the scene on the left, plots on the right, name and time on top."""
    from PIL import ImageDraw

    Image = tools()
    sheet = Image.new("RGB", size, PAPER)
    sheet.paste(Image.fromarray(scene), (0, 0))
    draw = ImageDraw.Draw(sheet)
    scale = size[1] / 720.0
    large, small = (face(round(points * scale)) for points in (19, 12))
    margin = 14 * scale
    draw.text((margin, margin), str(data["name"]), fill=INK, font=large)
    stage = next(
        (each["name"] for each in reversed(clip["marks"]["stages"]) if each["time"] <= time[k]), ""
    )
    draw.text(
        (margin, margin + 28 * scale),
        f"{time[k]:.3g} s   {stage}" if time.size > 1 else stage,
        fill=SOFT,
        font=small,
    )
    shown = [plot for plot in clip["plots"] if plot["shown"]]
    left, width = scene.shape[1], size[0] - scene.shape[1]
    for n, plot in enumerate(shown):
        height = size[1] / max(len(shown), 3)
        box = (
            left + 52 * scale,
            n * height + 28 * scale,
            left + width - 12 * scale,
            (n + 1) * height - 22 * scale,
        )
        strip(draw, plot, time, k, box, COLOURS[n % len(COLOURS)], small)
    if shown:
        draw.line([(left, 0), (left, size[1])], fill=LINE, width=1)
    return np.asarray(sheet)


def with_scale(scene: np.ndarray, stress: float, times: float) -> np.ndarray:
    """Return a picture with a colour scale of stresses [Pa] and the exaggeration factor of
    deformations below.
    """
    from PIL import ImageDraw

    sheet = tools().fromarray(scene)
    draw = ImageDraw.Draw(sheet)
    scale = scene.shape[0] / 720.0
    margin, width, height = 14 * scale, round(180 * scale), 8 * scale
    top = scene.shape[0] - margin - height
    bar = 255.0 * heat(np.linspace(0.0, 1.0, width)) ** (1 / 2.2)
    for n, colour in enumerate(bar.astype(int)):
        draw.line([(margin + n, top), (margin + n, top + height)], fill=tuple(map(int, colour)))
    text = f"0 … {written(stress / 1e6, 3)} MPa" + (f", bending × {times:g}" if times != 1 else "")
    draw.text((margin, top - 5 * scale), text, fill=SOFT, font=face(round(12 * scale)), anchor="ls")
    return np.asarray(sheet)


def strip(
    draw: Any,
    plot: Mapping[str, Any],
    time: np.ndarray,
    k: int,
    box: tuple[float, float, float, float],
    colour: str,
    font: Any,
) -> None:
    """Draw one variable over time with its current value."""
    values = np.frombuffer(b64decode(plot["values"]), dtype="<f4").astype(float) + plot["base"]
    known = values[np.isfinite(values)]
    low, high = float(known.min()), float(known.max())
    pad = 0.06 * (high - low) or abs(low) or 1.0
    low, high = low - pad, high + pad
    x0, y0, x1, y1 = box
    x = x0 + (time - time[0]) / (time[-1] - time[0] or 1.0) * (x1 - x0)
    y = y1 - (values - low) / (high - low) * (y1 - y0)
    unit = f" [{plot['unit']}]" if plot["unit"] not in ("", "1") else ""
    draw.text((x0, y0 - 6), plot["name"] + unit, fill=INK, font=font, anchor="ls")
    draw.text(
        (x1, y0 - 6),
        written(0.0 if abs(values[k]) < plot["least"] else float(values[k]), 4),
        fill=INK,
        font=font,
        anchor="rs",
    )
    for value in ticks(low, high):
        at = y1 - (value - low) / (high - low) * (y1 - y0)
        draw.line([(x0, at), (x1, at)], fill=LINE, width=1)
        draw.text((x0 - 6, at), written(round(value, 12), 4), fill=SOFT, font=font, anchor="rm")
    for value in ticks(float(time[0]), float(time[-1])) if time.size > 1 else ():
        draw.text(
            (x0 + (value - time[0]) / (time[-1] - time[0]) * (x1 - x0), y1 + 4),
            written(round(value, 12), 3),
            fill=SOFT,
            font=font,
            anchor="ma",
        )
    draw.line(
        [(float(a), float(b)) for a, b in zip(x, y, strict=True) if np.isfinite(b)],
        fill=colour,
        width=2,
    )
    draw.line([(float(x[k]), y0), (float(x[k]), y1)], fill=SOFT, width=1)
