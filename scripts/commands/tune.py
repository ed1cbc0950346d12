"""`kinetree tune`: tunes the controllers of a scenario to stability margins of the linearised
mechanism.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinetree.models.result.atomic_file import write_text
from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Quiet, writable
from kinetree.scripts.terminal.json_output import Json, keep_json, show_json

if TYPE_CHECKING:
    from kinetree.scripts.studies.controller_design import Design

WAYS = {"pid": "loops", "lqr": "state feedback", "lqg": "observer"}


def tune(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="SCENARIO.toml",
            help="Scenario of `kinetree hil` with [[loops]]; optional: [tune], [lqr], [lqg].",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write all results (.json) or the [controllers] tables (.toml)."
        ),
    ] = None,
    into: Annotated[
        Path | None, typer.Option("--into", help="Write the mechanism with its controllers: .toml.")
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="pid|lqr|lqg",
            help="Which design --output and --into write (default: the first available).",
        ),
    ] = "",
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            help="Write a report with gains, margins and step responses to the setpoints: .html.",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Design for each control loop the fastest P, PI, PD or PID controller with given stability margins.

    The design includes sampling and delay. In the scenario, [lqr] adds state feedback, [lqg] an
    observer, and [tune] notch filters and feed-forward. The loops are tuned one after another in the
    order of the file, and then again while all other loops are closed.
    """
    from kinetree.scripts.hil.scenario import read_scenario
    from kinetree.scripts.studies.controller_design import design
    from kinetree.scripts.terminal.error_messages import BadInput

    writable(output, (".json", ".toml"), "--output")
    writable(into, (".toml",), "--into")
    writable(report, (".html",), "--report")
    if by and by not in WAYS:
        raise BadInput(f"--by {by}: expected one of {', '.join(WAYS)}")
    scenario = read_scenario(file)
    found = design(scenario)
    if by and by not in found.blocks:
        raise BadInput(f"--by {by}: {file} asks for {', '.join(found.blocks) or 'nothing'}")
    runs, more = ran(found) if report or not (json or quiet) else ([], [])
    if json:
        show_json(plain(found))
    elif not quiet:
        show(found)
        for line in [*(each.sentence() for each in runs), *more]:
            typer.echo(line)
    if report:
        tell(found, runs, more, file, report)
    if output or into:
        write(found, by or next(iter(found.blocks)), file, output, into)


def ran(found: "Design") -> tuple[list[Any], list[str]]:
    """Return the runs of the tuned loops to their setpoints, and sentences on variants with less
    overshoot.
    """
    from kinetree.models.engine.status import EvaluationError
    from kinetree.scripts.studies.step_response import better, responses

    try:
        made = responses(found)
        return made, better(found, made)
    except EvaluationError as error:
        return [], [f"the run to the setpoints fails: {error}"]


def tell(found: "Design", runs: list[Any], more: list[str], file: Path, path: Path) -> None:
    """Write the report page: runs, gains, margins."""
    from kinetree.scripts.reports.study_page import Section, write_page
    from kinetree.scripts.studies.controller_design import name_of
    from kinetree.scripts.studies.step_response import response_section

    sections = [response_section(runs, more)] if runs else [Section("Run").say(*more)]
    keys = ("kp", "ki", "kd", "filter")
    gains = [
        (name_of(table), *(float(result.numbers.get(key, float("nan"))) for key in keys))
        for table, result, _ in found.loops
    ]
    if gains:
        sections.append(Section("Controllers").table(("loop", *keys), gains))
    rows = [
        (name, "stable" if m.stable else "unstable", m.gain, m.phase, 1e3 * m.delay, m.modulus)
        for name, m in (
            *((f"{name_of(table)}, as designed", result.margins) for table, result, _ in found.loops),
            *((f"{each.name}, in the mechanism ({WAYS[way]})", each.margins) for way, loops in found.closed.items() for each in loops),
        )
    ]  # fmt: skip
    head = ("loop", "", "gain margin", "phase margin [°]", "delay margin [ms]", "modulus margin")
    sections.append(Section("Margins").say(*found.notes).table(head, rows))
    write_page(
        path,
        f"Controllers for {found.scenario.mechanism}",
        sections,
        more={
            "scenario": file,
            "step [ms]": 1e3 * found.scenario.step,
            "delay [ms]": 1e3 * found.delay,
        },
    )


def show(found: "Design") -> None:
    """Print gains, margins and a [[loops]] table for `kinetree hil`."""
    from kinetree.scripts.reports.linear_text import loop_sentence, sampling, sentence_of
    from kinetree.scripts.studies.controller_design import name_of
    from kinetree.scripts.studies.loop_tuning import keeps, snippet

    for table, result, forward in found.loops:
        late = f"sampled every {1e3 * found.scenario.step:.3g} ms, commands {1e3 * found.delay:.3g} ms late"
        late += (
            f", about {table['measure']} = {found.known[table['measure']]:.4g}"
            if table["measure"] in found.known
            else ""
        )
        typer.echo(f"{name_of(table)}: crosses at {result.crossover / 6.283185307:.4g} Hz, {late}")
        if result.notch:
            typer.echo(
                f"  behind a notch at {result.notch['frequency']:.4g} Hz (damping {result.notch['depth']:.3g} of {result.notch['width']:.3g})"
            )
        if forward:
            typer.echo(
                f"  feed-forward: {forward[0]:.6g} per speed, {forward[1]:.6g} per acceleration of the setpoint"
            )
        short = (
            ""
            if keeps(result.margins, found.scenario.tune)
            else "; less than was asked for, now that the other loops are closed"
        )
        typer.echo(f"  {sentence_of(result.margins)}{short}\n{snippet(table, result.numbers)}")
    if found.feedback is not None and found.linear is not None:
        for command, row in zip(found.scenario.commands, found.feedback[0], strict=True):
            pairs = zip(found.linear.states, row, strict=True)
            typer.echo(
                f"{command} = -(" + " + ".join(f"{gain:.6g}*{state}" for state, gain in pairs) + ")"
            )
        typer.echo("eigenvalues with it: " + listed(found.feedback[1]))
    if found.observer is not None:
        largest = abs(found.observer.eigenvalues).max()
        order = len(found.observer.plant.A)
        typer.echo(
            f"observer of order {order} at {1.0 / found.observer.period:.6g} Hz: largest eigenvalue {largest:.6g} of one sample to the next"
        )
    for way, loops in found.closed.items():
        for each in loops:
            typer.echo(
                f"{WAYS[way]}, controller {each.name} in the mechanism ({sampling(each)}): {loop_sentence(each)}"
            )
    for note in found.notes:
        typer.echo(note)


def listed(values: Any) -> str:
    """Return the complex numbers with non-negative imaginary part as text."""
    return ", ".join(f"{value.real:.4g}{value.imag:+.4g}j" for value in values if value.imag >= 0)


def write(found: "Design", way: str, file: Path, output: Path | None, into: Path | None) -> None:
    """Write the results as JSON, the controller tables, or the mechanism with its controllers."""
    from kinetree.models.foreign.toml_text import toml_text
    from kinetree.scripts.studies.controller_tables import block_text, with_blocks

    remark = f"Controllers that kinetree tune {file.name} found for {found.scenario.mechanism} ({WAYS[way]})."
    if output and output.suffix.lower() == ".json":
        keep_json(plain(found), output)
    elif output:
        note = "The actuators they drive give no force of their own: force = 0."
        write_text(output, block_text(found.blocks[way], [remark, note]))
    if into:
        numbers = {
            name: value
            for name, value in found.scenario.values.items()
            if name in parameters_of(found)
        }
        made = with_blocks(found.scenario.described(), found.blocks[way], numbers)
        write_text(into, toml_text(made, [remark]))


def parameters_of(found: "Design") -> Any:
    from kinetree.models import load

    return load(found.scenario.described()).description.parameters


def plain(found: "Design") -> dict[str, Any]:
    """Return the design as plain data."""
    from kinetree.scripts.studies.controller_design import name_of

    every: dict[str, Any] = {}
    for table, result, forward in found.loops:
        numbers = {
            **result.numbers,
            "crossover": result.crossover,
            "bandwidth": result.bandwidth,
            "period": found.scenario.step,
            "delay": found.delay,
        }
        extra = ({"notch": result.notch} if result.notch else {}) | (
            {"forward": list(forward)} if forward else {}
        )
        every[name_of(table)] = {**numbers, **extra, **result.margins.to_dict()}
    if found.feedback is not None and found.linear is not None:
        K, values = found.feedback
        gains = {
            u: dict(zip(found.linear.states, map(float, row), strict=True))
            for u, row in zip(found.scenario.commands, K, strict=True)
        }
        every["lqr"] = {
            "gains": gains,
            "eigenvalues": [[value.real, value.imag] for value in values],
        }
    if found.observer is not None:
        values = found.observer.eigenvalues
        every["lqg"] = {key: getattr(found.observer, key).tolist() for key in "KL"} | {
            "eigenvalues": [[v.real, v.imag] for v in values]
        }
    every["blocks"] = found.blocks
    every["margins"] = {
        way: {each.name: each.margins.to_dict() for each in loops}
        for way, loops in found.closed.items()
    }
    return every


COMMAND = Command("tune", tune, place=140)
