"""`kinetree verify`: does a built FMU do what the model does?"""

from pathlib import Path
from typing import Annotated

import typer

from kinetree.scripts.failure import BadInput


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE.fmu", help="Archive made by 'kinetree fmu'.")],
    stop_time: Annotated[float | None, typer.Option("--stop-time", help="End of the compared motion in s.")] = None,
) -> None:
    """Validate an FMU, run it beside the model in this process and print the largest deviations."""
    from zipfile import is_zipfile

    if not file.exists():
        raise BadInput(f"no such file: {file}")
    if not is_zipfile(file):
        raise BadInput(f"{file} is not an FMU (not a zip archive)")

    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from kinetree.scripts.verify import verify as run_checks

    report = run_checks(file, stop_time)
    table = Table(box=None, show_header=False, padding=(0, 2), title=escape(str(file)), title_justify="left", title_style="bold")
    for check in report.checks:
        table.add_row("good" if check.good else "[bold red]BAD[/bold red]", escape(check.what), escape(check.result))
    Console(highlight=False, soft_wrap=True).print(table)
    if not report.good:
        raise typer.Exit(1)
