"""What a run prints at its end."""

from pathlib import Path
from typing import Any

COLUMNS = 24  # variables beyond this many are in the files only


def summary(system: Any, result: Any, written: list[Path]) -> None:
    """Outputs (coordinates where there are none) at start and end with their extremes, events, files."""
    import numpy as np
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=True)
    names = (*(column.name for column in system.compiled.outputs), *system.coordinates)[:COLUMNS]
    table = Table(box=None, padding=(0, 2), title=f"{escape(system.name)}: {result.time[-1]:.6g} s", title_justify="left", title_style="bold")
    for title in ("", "start", "end", "smallest", "largest"):
        table.add_column(title, justify="right" if title else "left")
    for name in names:
        column = np.asarray(result[name])
        table.add_row(escape(name), *(f"{value:.6g}" for value in (column[0], column[-1], column.min(), column.max())))
    console.print(table)
    for event in result.events:
        console.print(escape(str(event)))
    for path in written:
        console.print(f"written: {escape(str(path))}")
