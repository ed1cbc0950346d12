"""What a run prints at its end."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = 24  # variables beyond this many are in the files only
EVENTS = 20
UNLIMITED = 1000  # characters of a line


def columns_table(result: Any, names: Sequence[str], title: str) -> "Table":
    """Start, end and extremes of columns."""
    import numpy as np
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), title=escape(title), title_justify="left", title_style="bold")
    for heading in ("", "start", "end", "smallest", "largest", ""):
        table.add_column(heading, justify="right" if heading else "left")
    for name in names:
        values, unit = result.shown(name)
        column = np.asarray(values)
        numbers = (f"{value:.6g}" for value in (column[0], column[-1], column.min(), column.max()))
        table.add_row(escape(name), *numbers, escape(unit))
    return table


def summary(system: Any, result: Any, written: list[Path]) -> None:
    """Outputs and coordinates at start and end with their extremes, events, cost, files."""
    from rich.console import Console
    from rich.markup import escape
    from rich.measure import Measurement

    console = Console(highlight=False, soft_wrap=True)
    names = (*(column.name for column in system.compiled.outputs), *system.coordinates)
    end = f"{result.time[-1]:.6g} s" + (" (interrupted)" if result.interrupted else "")
    table = columns_table(result, names[:COLUMNS], f"{system.name}: {end}")
    console.width = max(console.width, Measurement.get(console, console.options.update(width=UNLIMITED), table).maximum)  # names are not cut
    console.print(table)
    if len(names) > COLUMNS:
        console.print(f"... {len(names) - COLUMNS} more (--output writes all)")
    for event in result.events[:EVENTS]:
        console.print(escape(f"t = {event.time:.9g} s: {event.kind} {event.stage}"))
    if len(result.events) > EVENTS:
        console.print(f"... {len(result.events) - EVENTS} more events")
    if result.statistics:
        console.print(f"{result.statistics['steps']:.0f} steps in {result.statistics['seconds']:.3g} s")
    for path in written:
        console.print(f"written: {escape(str(path))}")
