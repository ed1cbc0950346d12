"""`kinetree hil`: a mechanism in the loop with a controller in another process or machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinetree.models.result.atomic_file import opened
from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Quiet, writable
from kinetree.scripts.terminal.json_output import Json, show_json

if TYPE_CHECKING:
    from kinetree.scripts.hil.loop_run import Record


def hil(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="SCENARIO.toml",
            help="Scenario file with the plant, step size, network channel and controllers.",
        ),
    ],
    simulated: Annotated[
        bool,
        typer.Option(
            "--simulated", help="Simulate the loop in virtual time (reproducible bit for bit)."
        ),
    ] = False,
    specialised: Annotated[
        bool | None,
        typer.Option(
            "--specialised/--generic",
            help="Always or never run the plant by machine code generated for it (default: if it is faster).",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the measured values and controller commands of every step: .csv.",
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write a report: .html.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Hardware-in-the-loop test: run a native FMU in real time with a controller over UDP.

    The test reports latency, packet loss and the resulting stability margins.
    """
    from kinetree.scripts.hil.scenario import read_scenario
    from kinetree.scripts.terminal.error_messages import BadInput
    from kinetree.scripts.terminal.progress import progress

    writable(output, (".csv",), "--output")
    writable(report, (".html",), "--report")
    scenario = read_scenario(file)
    if specialised is not None:
        if scenario.fmu is not None:
            raise BadInput(
                f"{file}: --specialised and --generic are for a plant that is built now, not for {scenario.fmu}"
            )
        scenario.specialised = specialised
    if simulated:
        from kinetree.scripts.hil.loop_run import simulate as run

        if not scenario.loops and not scenario.controller:
            raise BadInput(
                f"{file}: --simulated needs [[loops]] or a [controller]: an outside partner has a clock of its own"
            )
    else:
        from kinetree.scripts.hil.realtime_loop import run
    failed: BaseException | None = None
    try:
        with progress(f"hil {file.stem}", scenario.stop_time, quiet or json) as told:
            record = run(scenario, told)
    except (Exception, KeyboardInterrupt) as error:
        record = getattr(error, "record", None)
        if record is None or not record.time:
            raise
        failed = error  # its rows and its report are kept
    if output:
        keep(record, output)
    if report:
        from kinetree.scripts.hil.report import write_report

        write_report(record, report)
    if json:
        show_json(told_of(record))
    elif not quiet:
        show(record)
    if failed is not None:
        raise failed
    if scenario.limits:
        refuse_broken(record)


def refuse_broken(record: "Record") -> None:
    """Raise ArithmeticError with the limits of the scenario that a run has broken."""
    from kinetree.scripts.hil.report import limit_rows

    broken = [
        f"{text} is {value:.4g}, {f'less than {low:g}' if value < low else f'not at most {high:g}'}"
        for text, value, low, high, word in limit_rows(record)
        if word == "broken"
    ]
    if broken:
        raise ArithmeticError("limits of the scenario are broken: " + "; ".join(broken))


def keep(record: "Record", path: Path) -> None:
    """Write rows as CSV with 17 significant digits, so that equal files mean equal runs."""
    import csv

    with opened(path) as stream:
        rows = (
            [repr(value) for value in (time, *row)]
            for time, row in zip(record.time, record.rows, strict=True)
        )
        csv.writer(stream).writerows([["time", *record.columns], *rows])


def told_of(record: "Record") -> dict[str, Any]:
    """Return the report of a run as plain data: times in µs, delays in ms, phases in degrees."""
    from kinetree.scripts.hil.report import (
        HELD,
        held_rows,
        limit_rows,
        margin_rows,
        measure_rows,
        sentences,
        times,
    )

    heads = (
        "loop",
        "delay_ms",
        "verdict",
        "gain_margin",
        "phase_margin_deg",
        "delay_margin_ms",
        "modulus",
    )
    return {
        "sentences": list(sentences(record)),
        "times_us": {
            name: dict(zip(("p50", "p99", "p99.9", "largest"), values))
            for name, *values in times(record)
        }
        if record.computing
        else {},
        "held": [dict(zip(HELD, row)) for row in held_rows(record)],
        "measures": dict(measure_rows(record)),
        "limits": [
            dict(zip(("measure", "value", "least", "most", "verdict"), row))
            for row in limit_rows(record)
        ],
        "margins": [dict(zip(heads, row)) for row in margin_rows(record)],
    }


def show(record: "Record") -> None:
    """Print the sentences and the table of times of a run."""
    from rich.console import Console

    from kinetree.scripts.hil.report import (
        held_rows,
        limit_rows,
        margin_rows,
        measure_rows,
        sentences,
        times,
    )
    from kinetree.scripts.reports.summary import show_table, text_table

    console = Console(highlight=False, soft_wrap=True)
    for line in sentences(record):
        console.print(line, markup=False)
    for name, goal, most, end, settled, limited in held_rows(record):
        when = f"settled at {settled} s" if settled != "no" else "not settled"
        text = f"{name}: setpoint {goal:g}, at most {most:.4g} away, at the end {end:.4g}, {when}"
        at = f", its command at a limit in {limited:.3g} % of the steps" if limited else ""
        console.print(text + at, markup=False)
    for text, value in measure_rows(record):
        console.print(f"{text}: {value:.4g}", markup=False)
    for text, value, low, high, word in limit_rows(record):
        console.print(f"{text}: {value:.4g}, {word} (limits {low:g} to {high:g})", markup=False)
    if record.computing:
        rows = [(name, *(f"{value:.4g}" for value in values)) for name, *values in times(record)]
        show_table(text_table("Times [µs]", ("", "50 %", "99 %", "99.9 %", "largest"), rows))
    for name, delay, word, gain, phase, wait, modulus in margin_rows(record):
        text = (
            f"{name} ({delay:.3g} ms): {word}, gain margin {gain:.3g}, phase margin {phase:.3g}°, "
            f"delay margin {wait:.3g} ms, modulus {modulus:.3g}"
        )
        console.print(text, markup=False)


COMMAND = Command("hil", hil, place=150)
