"""Flexible beams beside closed forms and published values: every reference, the computed value, the
difference, and the computing time.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import typer

from kinetree.scripts.bench import elastic_crank, swinging_cable
from kinetree.scripts.bench import flexible_cases as cases
from kinetree.scripts.bench.floating_frame import told
from kinetree.scripts.bench.results_file import write_results


class Row(NamedTuple):
    """One reference: what it is, its source, its value and ours, and the largest accepted
    difference.
    """

    what: str
    source: str
    reference: float
    found: float
    allowed: float
    seconds: float

    @property
    def good(self) -> bool:
        return abs(self.found - self.reference) <= self.allowed


def timed(measure: Callable[[], object]) -> tuple[object, float]:
    """Return the result of a function and its elapsed time [s], including compilation."""
    start = time.perf_counter()
    return measure(), time.perf_counter() - start


def rows(quick: bool) -> Iterator[Row]:
    """Return the rows of all references; `quick` leaves out those that take more than a second."""
    yield from frequency_rows()
    yield from large_deflections()
    yield from turning_rows()
    yield from crank_rows()
    if quick:
        return
    yield from reduced_rows()
    yield from cable_rows()
    table, seconds = timed(cases.princeton)
    for k, degrees in enumerate(range(0, 91, 15)):
        for axis, references in enumerate((cases.PRINCETON_V, cases.PRINCETON_W)):
            name = f"Princeton beam, load at {degrees} degrees: {'vw'[axis]} of the tip [mm]"
            value = 1e3 * float(np.asarray(table)[k, axis])
            yield Row(name, "Obrezkov et al. (2022)", 1e3 * references[k], value, 0.5, seconds / 14)


def frequency_rows() -> Iterator[Row]:
    """Yield rows of natural frequencies of beams without rotation."""
    for supports in cases.ROOTS:
        errors, seconds = timed(lambda supports=supports: cases.frequency_errors(supports))
        for k, error in enumerate(np.asarray(errors), 1):
            name = f"frequency {k} of a {supports} beam over the exact one"
            yield Row(name, "Euler, Bernoulli", 1.0, 1.0 + float(error), 5e-3, seconds / 3)


def large_deflections() -> Iterator[Row]:
    """Yield rows of static large deflections and of buckling loads."""
    for part in (0.5, 1.0):
        error, seconds = timed(lambda part=part: cases.roll_up(part, segments=6))
        name = f"roll-up to {part:g} of a turn: way of the tip from the circle over the length"
        yield Row(name, "closed form", 0.0, float(error), 2.2e-3, seconds)  # type: ignore[arg-type]
    load, seconds = timed(lambda: cases.buckling_load(segments=12))
    yield Row("buckling load over Euler's", "closed form", 1.0, float(load), 5e-4, seconds)  # type: ignore[arg-type]
    load, seconds = timed(lambda: cases.lateral_buckling_load(segments=12))
    source = "Prandtl, Michell"
    yield Row("lateral buckling load of a cantilever", source, 1.0, float(load), 3e-3, seconds)  # type: ignore[arg-type]
    tip, seconds = timed(cases.bend)
    for axis, reference, value in zip("xyz", cases.BEND_TIP, np.asarray(tip), strict=True):
        name = f"45 degree bend under 600 lb: {axis} of the tip [in]"
        yield Row(name, "Bathe, Bolourchi (1979)", reference, float(value), 0.2, seconds / 3)


def turning_rows() -> Iterator[Row]:
    """Yield rows of rotating beams and shafts."""
    for speed, flap in ((2.0, 4.1373), (6.0, 7.3604), (10.0, 11.2031)):
        value, seconds = timed(lambda speed=speed: cases.rotating_frequency(speed, segments=8))
        name = f"flapping of a beam that rotates with {speed:g} sqrt(E I/(m L^4))"
        yield Row(name, "five modes, closed form", flap, float(value), 2e-2, seconds)  # type: ignore[arg-type]
    for speed in (0.5, 2.0):
        found, seconds = timed(lambda speed=speed: cases.whirl(speed))
        name = f"whirl of a shaft at {speed:g} of its first frequency, in turning axes"
        value, exact = np.asarray(found)
        yield Row(name, "Rayleigh, gyroscopic", float(exact), float(value), 1e-3, seconds)
    found, seconds = timed(lambda: cases.spin_up(segments=8, extension=True))
    assert isinstance(found, dict)
    source = "Simo, Vu-Quoc (1986)"
    yield Row("spin-up: largest lag of the tip [m]", source, 0.5738, found["lag"], 6e-4, seconds)
    yield Row("spin-up: steady extension [m]", source, 5.14e-4, found["stretch"], 2e-6, 0.0)


def crank_rows() -> Iterator[Row]:
    """Yield rows of the slider-crank with an elastic rod, a reduced body in a closed loop."""
    with tempfile.TemporaryDirectory() as folder:
        end, seconds = timed(lambda: elastic_crank.end_of_crank(Path(folder)))
    assert isinstance(end, dict)
    known = elastic_crank.published_end()
    names = ("angle of the rod [rad]", "place of the block [m]")
    names += tuple(f"elastic coordinate {k} [m]" for k in range(1, 5))
    pairs = [(each["angle"], each["x"], *each["shapes"]) for each in (known, end)]
    for name, reference, value in zip(names, *pairs, strict=True):
        what = f"elastic slider-crank: {name}"
        yield Row(what, "Test Set for IVP Solvers", reference, float(value), 1e-11, seconds / 6)


def cable_rows() -> Iterator[Row]:
    """Yield rows of a soft pendulum beside Exudyn's cable elements, if Exudyn is installed."""
    if find_spec("exudyn") is None:
        return
    there, here = swinging_cable.theirs(), swinging_cable.ours()
    for axis in "xy":
        values = getattr(there, axis), getattr(here, axis)
        name = f"soft pendulum of 1 m: {axis} of the tip after {swinging_cable.STOP:g} s [m]"
        yield Row(name, "ANCF in Exudyn", *values, 2e-4, here.seconds / 2)


def reduced_rows() -> Iterator[Row]:
    """Yield rows of a bar of tetrahedra reduced to ten modes, with second-order terms (geometric
    stiffening).
    """
    if find_spec("skfem") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path, seconds = timed(lambda: cases.reduced_bar(Path(folder)))
        assert isinstance(path, Path)
        for speed, flap in ((0.0, 3.5160), (2.0, 4.1373), (6.0, 7.3604), (10.0, 11.2031)):
            value = cases.reduced_frequency(path, speed)
            name = f"the same of a reduced bar that rotates with {speed:g}"
            yield Row(name, "five modes, closed form", flap, value, 2e-2, seconds / 4)
        found, seconds = timed(lambda: cases.spinning_bar(path))
        assert isinstance(found, dict)
        source = "Simo, Vu-Quoc (1986)"
        name = "spin-up of the reduced bar: largest lag of the tip [m]"
        yield Row(name, source, 0.5738, found["lag"], 2e-3, seconds)
        name = "spin-up of the reduced bar: steady extension [m]"
        yield Row(name, source, 5.14e-4, found["stretch"], 1e-5, 0.0)


def beside_exudyn() -> Iterator[str]:
    """Return lines of the comparison with Exudyn's floating frame formulation, if Exudyn is
    installed.
    """
    missing = [name for name in ("exudyn", "skfem") if find_spec(name) is None]
    if missing:
        yield f"floating frame beside Exudyn: {', '.join(missing)} not installed"
    else:
        yield from told()


WITHOUT_NUMBERS = {
    "Princeton beam as measured (Dowell, Traybar)": "curves only; the numbers above are of beam elements",
    "four-bar with a misaligned pin (Bauchau et al. 2016)": "curves only; no table is published",
    "rotating shaft through its critical speed (Bauchau et al. 2016)": (
        "curves only; whirl above is of the closed form"
    ),
    "spin-up of Kane, Ryan and Banerjee (1987)": (
        "curves only; that of Simo and Vu-Quoc above is the same manoeuvre with numbers"
    ),
}


def run(quick: bool, json_path: Path | None, plots: Path | None) -> None:
    """Print the table of references, and write it as JSON."""
    found = []
    width = 72
    typer.echo(f"{'':{width}}  {'reference':>11}  {'computed':>11}  {'time':>7}")
    for row in rows(quick):
        found.append(row)
        mark = "" if row.good else f"  more than {row.allowed:g} apart"
        typer.echo(
            f"{row.what:{width}}  {row.reference:11.6g}  {row.found:11.6g}  {row.seconds:5.2f} s"
            f"  {row.source}{mark}"
        )
    for name, reason in WITHOUT_NUMBERS.items():
        typer.echo(f"not here: {name}: {reason}")
    for line in () if quick else beside_exudyn():
        typer.echo(line)
    good = sum(row.good for row in found)
    typer.echo(f"{good} of {len(found)} within their tolerances")
    write_results(json_path, results=[row._asdict() | {"good": row.good} for row in found])
