"""`kinetree verify`: validates an FMU against its model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import Exit

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.child_process import OwnProcess
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.json_output import Json, show_json

if TYPE_CHECKING:
    from kinetree.scripts.fmi.verify import Report

WIDE = 400  # columns
FAMILIES = {"wasm": "wasm32", "darwin": "darwin"}  # short names of platforms: what is in theirs


def verify(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.fmu", help="An FMU made by `kinetree fmu`.")
    ],
    stop_time: Annotated[
        float | None,
        typer.Option(
            "--stop-time", help="End of the runs in s (default: that of the FMU, at most 5)."
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            help="Run the FMU in other hosts: fmpy, libcosim, ecos, bare (C), omc-like, oms-like, "
            "wine, qemu, mapped (macOS), apple, wasmtime, fmusim, omsimulator; with commas, or all.",
        ),
    ] = "",
    platform: Annotated[
        str,
        typer.Option(
            "--platform",
            help="Run the FMU's binaries of other platforms: wasm, darwin, or names as in `kinetree fmu --platforms`; with commas.",
        ),
    ] = "",
    own_process: OwnProcess = False,
    as_json: Json = False,
) -> None:
    """Validate an FMU and compare its results with the same model simulated by Kinetree itself.

    The checks vary the step size and save and restore states. Warning: the FMU's binary is executed.
    """
    from zipfile import is_zipfile

    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from kinetree.scripts.fmi.external_host_checks import in_hosts
    from kinetree.scripts.fmi.verify import verify as check

    if not file.exists():
        raise FileNotFoundError(2, "no such file", str(file))
    if not is_zipfile(file):
        raise BadInput(f"{file}: expected an FMU, found something that is no zip archive")
    names = list(dict.fromkeys([*hosts_of(host), *hosts_on(platform)]))
    report = check(file, stop_time)
    own_reference(report, file)
    in_hosts(report, file, names)
    if as_json:
        rows = [{"what": row.what, "result": row.result, "good": row.good} for row in report.checks]
        show_json({"file": str(file), "good": report.good, "checks": rows})
    else:
        table = Table(box=None, padding=(0, 2), show_header=False)
        for row in report.checks:
            table.add_row(
                "[green]good[/]" if row.good else "[red]BAD[/]",
                escape(row.what),
                escape(row.result),
            )
        console = Console(highlight=False, soft_wrap=True)
        if not console.is_terminal:
            console.width = WIDE  # lines of a file are not folded
        console.print(table)
    if not report.good:
        raise Exit(1)


def own_reference(report: Report, file: Path) -> None:
    """Compare an archive with the reference results that it contains, if any."""
    from kinetree.scripts.fmi.fmpy_host import Archive
    from kinetree.scripts.fmi.reference_results import carries_reference, check_reference

    if carries_reference(file):
        with Archive(file) as archive:
            check_reference(report, archive)


def hosts_of(text: str) -> list[str]:
    """Return the host names in the option --host; `all` means every host."""
    from kinetree.scripts.fmi.host_programs import FOREIGN

    names = (
        list(FOREIGN)
        if text == "all"
        else [name.strip() for name in text.split(",") if name.strip()]
    )
    for name in names:
        if name not in FOREIGN:
            raise BadInput(
                f"--host: unknown host '{name}', expected all or some of {', '.join(FOREIGN)}"
            )
    return names


def hosts_on(text: str) -> list[str]:
    """Return the names of the hosts that run on the platforms in the option --platform."""
    from kinetree.scripts.fmi.host_programs import FOREIGN
    from kinetree.solvers.library.platforms import PLATFORMS

    names = [name.strip() for name in text.split(",") if name.strip()]
    wanted: list[str] = []
    for name in names:
        family = FAMILIES.get(name)
        found = [each for each in PLATFORMS if each == name or (family and family in each)]
        if not found:
            raise BadInput(
                f"--platform: unknown platform '{name}', expected some of "
                f"{', '.join([*FAMILIES, *PLATFORMS])}"
            )
        wanted += found
    return [each.name for each in FOREIGN.values() if each.platform.name in wanted]


COMMAND = Command("verify", verify, place=120)
