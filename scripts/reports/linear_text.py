"""The text output of kinetree linearize: modes, zeros, margins, limit cycles, measured responses."""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinetree.models.analysis.frequency_response import Margins
    from kinetree.models.analysis.linearization import Linear
    from kinetree.scripts.studies.sine_sweep import Sweep


def show(title: str, linear: Linear, facts: dict[str, Any], at: str) -> None:
    """Print modes, zeros, margins, limit cycles and measured responses of a linear system."""
    from kinetree.scripts.reports.summary import show_table, text_table

    rows = [
        (
            f"{k}",
            f"{m.frequency:.6g}",
            f"{round(m.damping, 5) + 0.0:.5g}",
            f"{m.eigenvalue.real:.5g}",
            f"{m.eigenvalue.imag:.5g}",
            m.word,
        )
        for k, m in enumerate(facts["modes"], 1)
    ]
    about = "at equilibrium" if at == "rest" else f"at {at}" + (" s" if at != "start" else "")
    head = ("", "frequency\n[Hz]", "damping\nratio", "real\n[1/s]", "imaginary\n[rad/s]", "motion")
    console = show_table(text_table(f"{title} {about}: modes", head, rows, texts=("motion",)))
    for sentence in facts["said"]:
        console.print(sentence, markup=False)
    if facts["zero_array"].size:
        console.print(
            "zeros: "
            + ", ".join(
                f"{value.real:.5g}{value.imag:+.5g}j"
                for value in facts["zero_array"]
                if value.imag >= 0.0
            )
        )
    for (given, output), margin in facts["margin_objects"].items():
        console.print(
            f"control loop closed by {given} = -{output}: {sentence_of(margin)}", markup=False
        )
    for each in facts["loops"]:
        console.print(
            f"controller {each.name} ({sampling(each)}): {loop_sentence(each)}", markup=False
        )
    if facts.get("stages"):
        show_stages(facts["stages"])
    for name, cycles in facts["cycles"]:
        console.print(f"{name}: {cycle_text(cycles)}", markup=False)
    if facts["sweep"] is not None:
        show_sweep(facts["sweep"])


STAGE_HEAD = ("stage", "begins\n[s]", "controller", "", "gain\nmargin", "phase\nmargin [°]")


def stage_rows(stages: list[Any]) -> list[tuple[str, ...]]:
    """Return a row per loop and stage: stage, time, controller, stability and margins."""
    return [
        (
            stage.stage,
            f"{stage.time:.5g}",
            loop.name,
            "stable" if loop.margins.stable else "unstable",
            f"{loop.margins.gain:.4g}",
            f"{loop.margins.phase:.4g}",
            f"{loop.margins.modulus:.3g}",
        )
        for stage in stages
        for loop in stage.loops
    ]


def worst_of(stages: list[Any]) -> str:
    """Return a sentence on the stage and loop with the smallest modulus margin."""
    from kinetree.models.analysis.control_loops import worst_loop

    found = worst_loop(stages)
    if found is None:
        return ""
    stage, loop = found
    return f"worst: {loop.name} as '{stage.stage}' begins at {stage.time:.5g} s: {sentence_of(loop.margins)}"


def show_stages(stages: list[Any]) -> None:
    """Print the margins of the loops at the start of each stage, and the smallest of them."""
    from kinetree.scripts.reports.summary import show_table, text_table

    title = "Margins of the controllers at the start of every stage"
    head = (*STAGE_HEAD, "modulus\nmargin")
    console = show_table(text_table(title, head, stage_rows(stages)))
    console.print(worst_of(stages), markup=False)


def sampling(each: Any) -> str:
    """Return a text with sample rate and delay of a controller loop, and whether its command is at
    its limit.
    """
    words = (
        f"{1.0 / each.period:.6g} Hz, delay {1e3 * each.delay:.4g} ms"
        if each.period
        else "continuous" + (f", delay {1e3 * each.delay:.4g} ms" if each.delay else "")
    )
    return words + ", command at its limit" * each.limited


def loop_sentence(each: Any) -> str:
    """Return a line with the margins of a controller loop and what is not exact about them."""
    line = sentence_of(each.margins)
    if not each.known:
        line = line.replace("unstable", "stability not known", 1)
    return f"{line}; {each.said}" if each.said else line


def sentence_of(margin: Margins) -> str:
    """Return a line with stability, gain, phase, delay and disk margin of a loop."""
    import numpy as np

    hertz = 2 * np.pi
    parts = ["stable" if margin.stable else "unstable"]
    if np.isfinite(margin.gain):
        parts.append(f"gain margin {margin.gain:.4g} at {margin.gain_at / hertz:.4g} Hz")
    if margin.gain_below > 0.0:
        parts.append(f"gain reduction margin {margin.gain_below:.4g}")
    if np.isfinite(margin.phase):
        size = (
            f"{-margin.phase:.4g}° (of lead)"
            if margin.stable and margin.phase < 0.0
            else f"{margin.phase:.4g}°"
        )
        parts.append(
            f"phase margin {size} at {margin.phase_at / hertz:.4g} Hz, delay margin {margin.delay:.4g} s"
        )
    if margin.stable:
        parts.append(
            f"disk margin {margin.disk:.3g} (gain factor {1 / margin.disk_gain:.3g} to {margin.disk_gain:.3g}, or phase {margin.disk_phase:.3g}°)"
        )
    return ", ".join(parts)


def cycle_text(cycles: list[Any]) -> str:
    """Return a line with frequency, amplitude and stability of limit cycles."""
    import numpy as np

    kinds = {True: "stable", False: "unstable: larger amplitudes grow"}
    words = [
        f"at {each.omega / (2 * np.pi):.4g} Hz with an amplitude of {each.amplitude:.4g} ({kinds[each.stable]})"
        for each in cycles
    ]
    return "limit cycle " + ", ".join(words) if words else "no limit cycle"


def show_sweep(sweep: Sweep) -> None:
    """Print measured and linear frequency responses, one table per output."""
    from kinetree.scripts.reports.summary import show_table, text_table

    head = (
        "frequency\n[Hz]",
        "gain\nmeasured",
        "gain\nlinear",
        "phase\nmeasured\n[°]",
        "phase\nlinear\n[°]",
        "distortion",
    )
    for k, output in enumerate(sweep.outputs):
        rows = [
            (f"{f:.5g}", f"{abs(a):.5g}", f"{abs(b):.5g}", degrees(a), degrees(b), f"{d:.2g}")
            for f, a, b, d in zip(
                sweep.frequencies,
                sweep.measured[:, k],
                sweep.linear[:, k],
                sweep.distortion[:, k],
                strict=True,
            )
        ]
        console = show_table(text_table(f"{output}, measured on the FMU", head, rows))
        console.print(
            f"largest relative deviation from the linear response: {sweep.apart[:, k].max():.2g}",
            markup=False,
        )


def degrees(response: complex) -> str:
    """Return the phase of a complex response in degrees, rounded to 0.01."""
    return f"{round(math.degrees(cmath.phase(response)), 2) + 0.0:.5g}"
