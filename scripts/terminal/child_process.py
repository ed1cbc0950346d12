"""The option `--own-process`: runs the command in a child process that may crash with an FMU's
binary.
"""

import os
import signal
import subprocess
import sys
import tempfile
from typing import Annotated

import typer
from typer.exceptions import Exit

OPTION = "--own-process"
WINDOWS_FAULTS = 0xC0000000  # exit codes from here on are faults of the process


def again(context: typer.Context, wanted: bool) -> None:
    """If wanted, run the command line without the option in a child process and exit with its code."""
    if not wanted:
        return
    arguments = [each for each in context.find_root().obj or sys.argv[1:] if each != OPTION]
    with tempfile.TemporaryDirectory(
        prefix="kinetree-own-"
    ) as folder:  # what a crash leaves behind goes with it
        child = subprocess.Popen(
            [sys.executable, "-m", "kinetree.scripts.cli", *arguments],
            env=os.environ | {"TMPDIR": folder, "TEMP": folder},
        )
        code = waited(child)
    if fault := fault_of(code):
        print(
            f"kinetree: a binary that was run ended its process by {fault}; nothing was reported after that",
            file=sys.stderr,
        )
        raise Exit(1)
    raise Exit(code)


def waited(child: subprocess.Popen) -> int:
    """Wait for a child process and return its exit code; the child handles interrupts."""
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


def fault_of(code: int) -> str:
    """Return the signal or fault by which a process ended; empty for a normal end."""
    if code < 0:
        return signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"fault {code:#x}" if code >= WINDOWS_FAULTS else ""


OwnProcess = Annotated[
    bool,
    typer.Option(
        OPTION,
        callback=again,
        is_eager=True,
        help="Run the FMU binaries in a separate process, so that their crashes are only reported.",
    ),
]
