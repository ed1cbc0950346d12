"""Report page of an identification: records, spectra, modes, parameters and their uncertainty."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from kinetree.models.result.number_format import written
from kinetree.scripts.reports.html_report import heading, paragraph, picture, table, write_report

if TYPE_CHECKING:
    import numpy as np

    from kinetree.models.analysis.free_decay import Decay
    from kinetree.models.analysis.identification_result import Estimate, Identification, Suspect
    from kinetree.models.analysis.mode_matching import MatchedModes

SURE = 1.96  # standard deviations of a 95 % interval


def modes_table(decay: Decay) -> list[tuple[str, ...]]:
    """Return a table of modes, the head first."""
    duration = float(decay.time[-1] - decay.time[0])
    head = ("frequency [Hz]", "± 1σ", "decay [1/s]", "± 1σ", "damping ratio", "half-life [s]")
    rows: list[tuple[str, ...]] = [(*head, "mean amplitude", "note")]
    for mode in decay.modes:
        mean = mode.mean_amplitude(duration)
        rows.append(
            (
                f"{mode.frequency:.6g}",
                f"{mode.frequency_deviation:.1g}",
                f"{mode.decay:.4g}",
                f"{mode.decay_deviation:.1g}",
                f"{mode.damping:.4g}",
                written(mode.half_life, 4),
                ", ".join(f"{name} {size:.4g}" for name, size in mean.items()),
                mode.note,
            )
        )
    return rows


def parameters_table(estimates: tuple[Estimate, ...]) -> list[tuple[str, ...]]:
    """Return a table of parameters with 95 % confidence intervals, the head first."""
    rows: list[tuple[str, ...]] = [
        ("parameter", "start", "found", "± 1σ", "95 % interval", "unit", "note")
    ]
    for each in estimates:
        reach = SURE * each.deviation
        rows.append(
            (
                each.name,
                f"{each.start:.6g}",
                f"{each.value:.8g}",
                f"{each.deviation:.2g}",
                f"{each.value - reach:.6g} to {each.value + reach:.6g}",
                each.unit,
                each.note,
            )
        )
    return rows


def suspects_table(suspects: tuple[Suspect, ...]) -> list[tuple[str, ...]]:
    """Return a table of other parameters that could explain the residual."""
    rows: list[tuple[str, ...]] = [
        ("parameter", "in the description", "would be", "explains of what is left", "unit")
    ]
    for each in suspects:
        value = f"{each.value + each.change:.6g}"
        part = f"{100 * each.explained:.3g} %"
        rows.append((each.name, f"{each.value:.6g}", value, part, each.unit))
    return rows


def write_page(
    path: Path,
    title: str,
    found: Identification | Decay,
    matched: MatchedModes | None = None,
) -> Path:
    """Write the page of a least-squares fit, or of a free decay with the parameters matched to it."""
    from kinetree.models.analysis.amplitude_spectrum import draw_spectra
    from kinetree.models.analysis.free_decay import Decay

    decay = found if isinstance(found, Decay) else None
    fit = None if isinstance(found, Decay) else found
    estimates = fit.estimates if fit else matched.estimates if matched else ()
    parts = [heading("Record")]
    marks = tuple(mode.frequency for mode in decay.modes if mode.frequency) if decay else ()
    columns: dict[str, np.ndarray] = found.measured
    with tempfile.TemporaryDirectory() as folder:
        motion, spectra = Path(folder) / "motion.png", Path(folder) / "spectra.png"
        found.plot(motion)
        draw_spectra(found.time, columns, spectra, marks)
        parts.append(picture(motion, "Measured columns and what was fitted"))
        fits = [("column", "rows", "rms left", "mean deviation", "correlation")]
        fits += [
            (
                column.name,
                str(column.rows),
                f"{column.rms:.4g}",
                f"{100 * column.mean_deviation:.2g} %",
                f"{column.correlation:.6f}",
            )
            for column in found.fits
        ]
        parts += [table(fits), heading("Amplitude spectrum")]
        lines = "; dashed: the modes that were found" if marks else ""
        parts.append(picture(spectra, f"Amplitudes of the measured columns{lines}"))
    if decay is not None:
        parts += [heading("Modes"), table(modes_table(decay))]
        parts += [paragraph(note) for note in decay.notes]
    if estimates:
        parts += [heading("Parameters"), table(parameters_table(tuple(estimates)))]
        parts += [paragraph(note) for note in (matched.notes if matched else ())]
    if fit is not None:
        for first, second, value in fit.alike:
            parts.append(
                paragraph(
                    f"{first} and {second} can hardly be distinguished: correlation {value:.3f}."
                )
            )
        parts.append(heading("Possible causes of the remaining misfit"))
        parts.append(
            table(suspects_table(fit.suspects))
            if fit.suspects
            else paragraph(
                "No other mass, stiffness or damping explains 1 % of the remaining misfit."
            )
        )
    return write_report(path, f"Identification: {title}", parts)
