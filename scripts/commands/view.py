"""`kinetree view`: look into a result file."""

from pathlib import Path
from typing import Annotated

import typer

from kinetree.scripts.terminal.arguments import one_of, writable


def view(
    file: Annotated[Path, typer.Argument(metavar="RESULT", help="Result file: .csv, .parquet, .h5 or .mat.")],
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Variables; left out: all of them.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Picture: .png, .pdf or .svg.")] = None,
    deviation: Annotated[bool, typer.Option("--deviation", help="Draw deviations from the start.")] = False,
) -> None:
    """Show start, end and extremes of the variables of a result, and draw them."""
    from rich.console import Console

    from kinetree.scripts.reports.recorded import Recorded
    from kinetree.scripts.reports.summary import columns_table

    writable(plot, (".png", ".pdf", ".svg"), "--plot")
    recorded = Recorded(file)
    wanted = tuple(one_of(name, recorded.names, "variable") for name in names or ())
    console = Console(highlight=False, soft_wrap=True)
    console.print(columns_table(recorded, wanted or recorded.names, f"{file}: {recorded.time[0]:.6g} to {recorded.time[-1]:.6g} s"))
    if plot:
        from kinetree.models.result.plots import plot as draw

        draw(recorded, plot, wanted or None, deviation=deviation)  # type: ignore[arg-type]
        console.print(f"written: {plot}")
