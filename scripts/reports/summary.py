"""The summary printed at the end of a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetree.models.result.number_format import DUST, as_read, written

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

COLUMNS = 24  # variables beyond this many are in the files only
EVENTS = 20
ROUNDING = 1e-9  # of the largest number of a row
UNLIMITED = 1000  # characters of a line


def columns_table(result: Any, names: Sequence[str], title: str) -> "Table":
    """Return a table with start, end and extremes of columns."""
    headings = ("", "start", "end", "smallest", "largest", "")
    return text_table(title, headings, [(name, *read_extremes(result, name)) for name in names])


def text_table(
    title: str,
    headings: tuple[str, ...],
    rows: list[tuple[str, ...]],
    texts: tuple[str, ...] = (),
) -> "Table":
    """Return a table for the terminal: numbers are aligned right; the first column, those without a
    heading and those in `texts` are aligned left.
    """
    from rich.markup import escape
    from rich.table import Table

    made = Table(
        box=None,
        padding=(0, 2),
        title=escape(title) or None,
        title_justify="left",
        title_style="bold",
    )
    for k, heading in enumerate(headings):
        left = k == 0 or not heading or heading in texts
        made.add_column(escape(heading), justify="left" if left else "right")
    for row in rows:
        made.add_row(*map(escape, row))
    return made


def show_table(table: "Table") -> "Console":
    """Print a table without cutting names, even if it is wider than the terminal."""
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(highlight=False, soft_wrap=True)
    console.width = max(
        console.width,
        Measurement.get(console, console.options.update(width=UNLIMITED), table).maximum,
    )
    console.print(table)
    return console


def read_extremes(result: Any, name: str, digits: int = 6) -> tuple[str, ...]:
    """Return start, end, smallest and largest value of a column as displayed, with their unit;
    rounding errors are shown as 0.
    """
    import numpy as np

    numbers = np.array(
        [value for key, value in extremes(result, name).items() if key != "unit"], dtype=float
    )
    dust = max(float(np.abs(numbers).max(initial=0.0)) * ROUNDING, DUST.get(result.unit(name), 0.0))
    numbers, shown = as_read(result, name, np.where(np.abs(numbers) < dust, 0.0, numbers))
    return (*(written(float(value), digits) for value in numbers), "" if shown == "1" else shown)


def extremes(result: Any, name: str) -> dict[str, float | str]:
    """Return start, end, smallest and largest value of a column, ignoring NaN."""
    import numpy as np

    column = np.asarray(result[name], dtype=float)
    known = column[np.isfinite(column)]
    low, high = (float(known.min()), float(known.max())) if known.size else (float("nan"),) * 2
    return {
        "start": float(column[0]),
        "end": float(column[-1]),
        "smallest": low,
        "largest": high,
        "unit": result.unit(name),
    }


def itr_advice(system: Any, result: Any) -> str:
    """Return a text on the step sizes with which a run by ITR (iterative form) is sure to converge,
    from its first row.
    """
    import numpy as np

    from kinetree.models.analysis.variable_metric_step import itr_step_advice

    q, u = (
        np.array([float(result[name][0]) for name in names])
        for names in (system.coordinates, system.speeds)
    )
    return str(itr_step_advice(system, float(result.time[0]), q, u))


def summary(system: Any, result: Any, written: list[Path], chosen: Sequence[str] = ()) -> None:
    """Print the summary of a run: columns at start and end with extremes, events, cost and files."""
    from rich.markup import escape

    names = tuple(chosen) or (
        *(column.name for column in system.compiled.outputs),
        *system.own_coordinates,
    )
    end = f"{result.time[-1]:.6g} s" + (" (interrupted)" if result.interrupted else "")
    table = columns_table(result, names[:COLUMNS], f"{system.name}: {end}")
    console = show_table(table)
    if len(names) > COLUMNS:
        console.print(f"... {len(names) - COLUMNS} more (--output writes all)")
    inner = tuple(f"event '{name}." for name in system.description.controllers) or ("\n",)
    told = [event for event in result.events if not (event.cause or "").startswith(inner)]
    sampled = sum(
        (event.cause or "").startswith(inner)
        and not (event.cause or "").partition(".")[2].startswith("begin")
        for event in result.events
    )
    for event in told[:EVENTS]:
        begins = f"; '{event.stage}' begins" if event.kind == "stage" else ""
        others = f" and {event.together - 1} more" if event.together > 1 else ""
        console.print(
            escape(f"t = {event.time:.9g} s: {event.cause or event.kind}{others}{begins}")
        )
    if len(told) > EVENTS:
        console.print(f"... {len(told) - EVENTS} more events")
    if sampled:
        console.print(f"{sampled} instants of sampled controllers")
    for name in getattr(result, "unreached", ()):
        console.print(
            escape(
                f"stage '{name}' was not reached: the run ended in stage '{result.stage_names[int(result['stage'][-1])]}'"
            )
        )
    if result.statistics:
        console.print(
            f"{result.statistics['steps']:.0f} integration steps computed in {result.statistics['seconds']:.3g} s"
        )
    if getattr(result.options, "method", "").startswith("ITR"):
        console.print(itr_advice(system, result))
    for path in written:
        console.print(f"written: {escape(str(path))}")
