"""`kinetree verify`: does an FMU do what it says?"""

from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import Exit

from kinetree.scripts.terminal.failure import BadInput


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE.fmu", help="An FMU made by `kinetree fmu`.")],
    stop_time: Annotated[float | None, typer.Option("--stop-time", help="End of the runs in s (default: that of the FMU, at most 5).")] = None,
) -> None:
    """Validate an FMU, run it against the same model in this process, vary steps, save and restore."""
    from zipfile import is_zipfile

    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from kinetree.scripts.fmi.verify import verify as check

    if not file.exists():
        raise FileNotFoundError(2, "no such file", str(file))
    if not is_zipfile(file):
        raise BadInput(f"{file}: expected an FMU, found something that is no zip archive")
    report = check(file, stop_time)
    table = Table(box=None, padding=(0, 2), show_header=False)
    for row in report.checks:
        table.add_row("[green]good[/]" if row.good else "[red]BAD[/]", escape(row.what), escape(row.result))
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    if not report.good:
        raise Exit(1)
