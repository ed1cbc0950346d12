"""`kinetree identify`: parameters of a mechanism from measured columns, or the modes of a free decay."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import (
    Inputs,
    Quiet,
    Settings,
    held,
    loaded,
    numbers,
    writable,
)
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.json_output import Json, keep_json, show_json

if TYPE_CHECKING:
    from rich.console import Console

    from kinetree.models.analysis.free_decay import Decay
    from kinetree.models.analysis.identification_result import Identification
    from kinetree.models.analysis.mode_matching import MatchedModes
    from kinetree.models.system.mechanism import Mechanism
    from kinetree.scripts.terminal.measured_files import Record

PICTURES = (".png", ".pdf", ".svg")


def identify(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="[MODEL] DATA...",
            help="Model (file or lib:NAME) and measured files (.csv, ...). FILE@NAME=VALUE,... sets parameters of one file.",
        ),
    ],
    parameters: Annotated[
        str, typer.Option("--parameters", "-p", help="NAME,NAME,...: the parameters to identify.")
    ] = "",
    columns: Annotated[
        str,
        typer.Option(
            "--columns", help="NAME,NAME,...: the measured columns to fit (default: all)."
        ),
    ] = "",
    bounds: Annotated[
        list[str] | None,
        typer.Option(
            "--bounds", metavar="NAME=LOW:HIGH", help="Bounds of a parameter; may be repeated."
        ),
    ] = None,
    robust: Annotated[
        bool, typer.Option("--robust", help="Give outliers less weight (robust loss).")
    ] = False,
    maps: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="COLUMN=NAME[:UNIT]",
            help="Variable of the model for a measured column, and its unit.",
        ),
    ] = None,
    experiments: Annotated[
        Path | None,
        typer.Option(
            "--experiments",
            metavar="FILE.toml",
            help="Without DATA: predict parameter standard deviations of planned experiments.",
        ),
    ] = None,
    diagram: Annotated[
        Path | None,
        typer.Option(
            "--diagram", help="Stabilisation diagram of a free decay: .png, .pdf or .svg."
        ),
    ] = None,
    modes: Annotated[
        bool, typer.Option("--modes", help="Match the modes of a free decay instead of the motion.")
    ] = False,
    order: Annotated[
        int | None,
        typer.Option(
            "--order", help="Model order of a free decay: 2 per oscillation, 1 per real mode."
        ),
    ] = None,
    settings: Settings = None,
    inputs: Inputs = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write all results to this .json file."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Plot of measured and fitted columns: .png, .pdf or .svg."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", help="Report with measurements, spectra, modes and parameters: .html."
        ),
    ] = None,
    suspects: Annotated[
        bool,
        typer.Option(
            "--suspects",
            help="Report which other mass, stiffness or damping would explain the remaining misfit.",
        ),
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Identify parameters of a model from measurements by least squares, or modes from a free decay."""
    from kinetree.scripts.reports.identification_page import write_page
    from kinetree.scripts.terminal import measured_files

    writable(output, (".json",), "--output")
    writable(plot, PICTURES, "--plot")
    writable(diagram, PICTURES, "--diagram")
    writable(report, (".html", ".htm"), "--report")
    wanted, chosen = names_of(parameters), names_of(columns)
    if experiments:
        return plan(files, experiments, wanted, numbers(settings), output, quiet, json)
    if len(files) == 1:
        if wanted:
            raise BadInput(
                "--parameters needs a MODEL before the data: kinetree identify MODEL DATA --parameters ..."
            )
        data = measured_files.single(files[0], maps)
        if diagram:
            draw_diagram(data, chosen, diagram)
        decay = decay_of(data, chosen, order)
        if report:
            write_page(report, Path(files[0]).name, decay)
        return tell_decay(decay, output, plot, quiet, json)
    mechanism = loaded(files[0], settings)
    limits = bounds_of(bounds)
    if not wanted:
        raise BadInput(
            f"--parameters: expected names out of {', '.join(mechanism.description.parameters) or 'none'}"
        )
    if (modes or diagram) and len(files) > 2:
        raise BadInput("--modes and --diagram take one record")
    data = [measured_files.single(text, maps, mechanism) for text in files[1:]]
    if modes:
        from kinetree.models.analysis.mode_matching import match_modes

        if diagram:
            draw_diagram(data[0], chosen, diagram)
        decay = decay_of(data[0], chosen, order)
        values = match_modes(
            mechanism, decay.modes, wanted, bounds=limits, inputs=numbers(inputs, "--input")
        )
        if report:
            write_page(report, mechanism.description.name, decay, values)
        return tell_decay(decay, output, plot, quiet, json, mechanism, values)
    given = held(inputs, mechanism.compile().compiled.inputs)
    more = suspects or report is not None
    found = fit(mechanism, data, wanted, chosen, limits, given, robust, quiet or json, more)
    if report:
        write_page(report, mechanism.description.name, found)
    tell_fit(found, output, plot, quiet, json)


def fit(
    mechanism: "Mechanism",
    data: "list[Record]",
    wanted: list[str],
    columns: list[str],
    bounds: dict,
    inputs: dict | None,
    robust: bool,
    quiet: bool,
    suspects: bool,
) -> "Identification":
    """Return the least-squares fit of the parameters, with a progress bar."""
    from kinetree.models.analysis.identification import identify
    from kinetree.scripts.terminal.progress import progress

    values, settings = (
        [{"time": each.time, **each.columns} for each in data],
        [each.settings for each in data],
    )
    more = {"columns": columns or None, "bounds": bounds, "inputs": inputs}
    loss = "soft_l1" if robust else "linear"
    with progress(f"identify {mechanism.description.name}", 0.0, quiet, "runs") as told:
        return identify(
            mechanism,
            values,
            wanted,
            settings=settings,
            loss=loss,
            progress=told,
            suspects=suspects,
            **more,
        )


def names_of(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def bounds_of(texts: list[str] | None) -> dict[str, tuple[float, float]]:
    """Return the bounds in NAME=LOW:HIGH settings; an empty side is unbounded."""
    found = {}
    for text in texts or []:
        name, _, limits = text.partition("=")
        low, colon, high = limits.partition(":")
        try:
            found[name.strip()] = (float(low or "-inf"), float(high or "inf"))
        except ValueError:
            colon = ""
        if not colon:
            raise BadInput(
                f"--bounds {text}: expected NAME=LOW:HIGH, for example --bounds mass=1:5"
            )
    return found


def decay_of(data: "Record", columns: list[str], order: int | None) -> "Decay":
    """Return the modes of a free decay, identified from the chosen columns or from all."""
    from kinetree.models.analysis.free_decay import free_decay

    return free_decay(data.time, channels_of(data, columns), order)


def channels_of(data: "Record", columns: list[str]) -> dict[str, Any]:
    for name in columns:
        if name not in data.columns:
            from kinetree.models.language.errors import suggestion

            raise BadInput(
                f"--columns {name}: no such column; {suggestion(name, tuple(data.columns))}"
            )
    return {name: data.columns[name] for name in columns or signals(data.columns)}


def signals(columns: dict[str, Any]) -> list[str]:
    """Return the names of the measured columns without counters and constant columns."""
    import numpy as np

    from kinetree.models.result.result import Result

    found = [
        name
        for name, values in columns.items()
        if name not in Result.EXTRA and np.nanstd(np.asarray(values, dtype=float)) > 0.0
    ]
    if not found:
        raise BadInput("the record has no column that moves")
    return found


def draw_diagram(data: "Record", columns: list[str], path: Path) -> None:
    """Draw a stabilisation diagram and return the modes that are stable over the order."""
    from kinetree.models.analysis.stabilisation_diagram import stabilisation_diagram

    found = stabilisation_diagram(data.time, channels_of(data, columns))
    found.plot(path)
    for frequency, damping, count in found.lines():
        typer.echo(
            f"stable: {frequency:.6g} Hz, damping ratio {damping:.4g}, in {count} of {len(found.orders)} orders"
        )


def plan(
    files: list[str],
    path: Path,
    wanted: list[str],
    settings: dict[str, float],
    output: Path | None,
    quiet: bool,
    json: bool,
) -> None:
    """Predict the parameter standard deviations of planned experiments."""
    from kinetree.scripts.studies.experiment_plans import show_plan, told_by

    if len(files) != 1 or not wanted:
        raise BadInput(
            "--experiments: expected kinetree identify MODEL --parameters NAME,... --experiments FILE.toml"
        )
    content = told_by(loaded(files[0], settings), path, wanted)
    keep_json(content, output)
    if json:
        show_json(content)
    elif not quiet:
        show_plan(content)


def kept(
    found: "Identification | Decay",
    content: dict,
    output: Path | None,
    plot: Path | None,
    quiet: bool,
    json: bool,
) -> "Console | None":
    """Write the requested files or print JSON; return the console for the tables, or None where
    nothing is printed.
    """
    from rich.console import Console

    keep_json(content, output)
    if plot:
        found.plot(plot)
    if json:
        show_json(content)
    return None if json or quiet else Console(highlight=False, soft_wrap=True)


def tell_fit(
    found: "Identification", output: Path | None, plot: Path | None, quiet: bool, json: bool
) -> None:
    """Write the requested files and print the tables of parameters and columns."""
    content = found.to_dict()
    console = kept(found, content, output, plot, quiet, json)
    if console is None:
        return
    from kinetree.scripts.reports.summary import show_table, text_table

    rows = [
        (
            e.name,
            f"{e.start:.6g}",
            f"{e.value:.8g}",
            f"{e.deviation:.2g}",
            f"{100 * e.deviation / abs(e.value):.2g} %" if e.value else "",
            e.unit,
            e.note,
        )
        for e in found.estimates
    ]
    show_table(text_table(found.name, ("parameter", "start", "found", "± 1σ", "", "", ""), rows))
    columns = [
        (
            f.name,
            str(f.rows),
            f"{f.rms:.4g}",
            f"{100 * f.mean_deviation:.2g} %",
            f"{f.correlation:.6f}",
        )
        for f in found.fits
    ]
    show_table(
        text_table("", ("column", "rows", "rms left", "mean deviation", "correlation"), columns)
    )
    for first, second, value in found.alike:
        console.print(
            f"{first} and {second} can hardly be distinguished by these data: correlation {value:.3f}"
        )
    for each in found.suspects:
        console.print(
            f"{each.name} = {each.value + each.change:.6g} instead of {each.value:.6g} "
            f"{each.unit}".rstrip()
            + f" would explain {100 * each.explained:.3g} % of the remaining misfit"
        )
    if not found.converged:
        console.print("the fit did not converge: the values are the best that were found")
    console.print(f"{found.runs} runs")


def tell_decay(
    found: "Decay",
    output: Path | None,
    plot: Path | None,
    quiet: bool,
    json: bool,
    mechanism: "Mechanism | None" = None,
    values: "MatchedModes | None" = None,
) -> None:
    """Write the requested files and print the table of modes and the matched parameters."""
    from dataclasses import asdict

    rows = [
        asdict(mode) | {"damping": mode.damping, "half_life": mode.half_life}
        for mode in found.modes
    ]
    matched = (
        {}
        if values is None
        else {"parameters": values, "estimates": {e.name: e.to_dict() for e in values.estimates}}
    )
    notes = [*found.notes, *(values.notes if values is not None else ())]
    content = {
        "modes": rows,
        "columns": [asdict(each) for each in found.fits],
        "notes": notes,
    } | matched
    console = kept(found, content, output, plot, quiet, json)
    if console is None:
        return
    from kinetree.scripts.reports.summary import show_table, text_table

    duration = float(found.time[-1] - found.time[0])
    lines = []
    for mode in found.modes:
        mean = mode.mean_amplitude(duration)
        sizes = ", ".join(
            f"{name} {size:.4g} (mean {mean[name]:.3g}) at {mode.phases[name]:.2f}"
            for name, size in mode.amplitudes.items()
        )
        lines.append(
            (
                f"{mode.frequency:.6g}",
                f"{mode.frequency_deviation:.1g}",
                f"{mode.decay:.4g}",
                f"{mode.decay_deviation:.1g}",
                f"{mode.damping:.4g}",
                f"{mode.half_life:.4g}",
                f"{100 * mode.left:.2g} %",
                sizes,
                mode.note,
            )
        )
    headings = (
        "frequency [Hz]",
        "± 1σ",
        "decay [1/s]",
        "± 1σ",
        "damping ratio",
        "half-life [s]",
        "left beside",
        "amplitude and phase [rad]",
        "",
    )
    show_table(text_table("Free decay", headings, lines))
    columns = [
        (f.name, f"{f.rms:.4g}", f"{100 * f.mean_deviation:.2g} %", f"{f.correlation:.6f}")
        for f in found.fits
    ]
    show_table(text_table("", ("column", "rms left", "mean deviation", "correlation"), columns))
    if mechanism is not None and values:
        lines = [
            (e.name, f"{e.start:.6g}", f"{e.value:.8g}", f"{e.deviation:.2g}", e.unit, e.note)
            for e in values.estimates
        ]
        show_table(
            text_table(
                mechanism.description.name, ("parameter", "start", "found", "± 1σ", "", ""), lines
            )
        )
    for note in notes:
        console.print(note, markup=False)


COMMAND = Command("identify", identify, place=80)
