"""Amplitude spectra of sampled signals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kinetree.models.result.atomic_file import whole_file

EVEN = 1e-6  # relative difference of the steps of even samples


def amplitude_spectrum(time: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies [Hz] and amplitudes of a signal without its mean.

    A sine with a whole number of periods in the record appears with its true amplitude. Signals
    with uneven sampling or missing rows are interpolated to even times.
    """
    there = np.isfinite(values)
    t, y = time[there], values[there]
    steps = np.diff(t)
    if t.size < time.size or np.ptp(steps) > EVEN * steps.mean():
        even = np.linspace(t[0], t[-1], t.size)
        t, y = even, np.interp(even, t, y)
    n = t.size
    sizes = np.abs(np.fft.rfft(y - y.mean())) * 2.0 / n
    if n % 2 == 0:
        sizes[-1] *= 0.5
    return np.fft.rfftfreq(n, (t[-1] - t[0]) / (n - 1)), sizes


def draw_spectra(
    time: np.ndarray, columns: Mapping[str, np.ndarray], path: str | Path, marks: tuple = ()
) -> None:
    """Draw the amplitude spectra of columns into a file, one panel each; `marks` are frequencies
    [Hz] to indicate.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError("plots need matplotlib: pip install kinetree[plots]") from None
    figure = Figure(figsize=(9.0, 0.8 + 2.0 * len(columns)), layout="constrained")
    panels = np.atleast_1d(np.array(figure.subplots(len(columns), 1, sharex=True)))
    for panel, (name, values) in zip(panels, columns.items(), strict=True):
        frequencies, sizes = amplitude_spectrum(time, values)
        panel.plot(frequencies, sizes, linewidth=1.2, color="#1f5f8b")
        for mark in marks:
            panel.axvline(mark, linewidth=0.8, linestyle="--", color="#b04a2f")
        panel.set_ylabel(name)
        panel.set_ylim(bottom=0.0)
        panel.grid(True, linewidth=0.4, alpha=0.6)
        panel.margins(x=0.0)
    panels[-1].set_xlabel("frequency [Hz]")
    with whole_file(path) as draft:
        figure.savefig(draft, dpi=130)
