"""`kinetree view`: shows a result file, or a mechanism in motion."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Settings, loaded, numbers, writable
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.json_output import Json, show_json
from kinetree.scripts.terminal.progress import progress

if TYPE_CHECKING:
    from kinetree.scripts.terminal.result_columns import Recorded

PICTURES = (".png", ".pdf", ".svg")


def view(
    file: Annotated[
        str,
        typer.Argument(
            metavar="RESULT|MODEL",
            help="Result (.csv, .parquet, .h5, .mat), description, or lib:NAME.",
        ),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Variables to show, * matches any text (default: all)."
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write one page with the moving mechanism and its plots."),
    ] = None,
    video: Annotated[
        Path | None, typer.Option("--video", help="Write a film of the motion: .mp4 or .gif.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", help="Write a picture of one instant with plots: .png."),
    ] = None,
    at: Annotated[
        float | None, typer.Option("--at", help="Instant of --picture in s (default: the start).")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Description to which a result file belongs.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Write a plot of the variables: .png, .pdf or .svg."),
    ] = None,
    deviation: Annotated[
        bool, typer.Option("--deviation", help="Plot differences from the start values.")
    ] = False,
    stop_time: Annotated[
        float | None, typer.Option("--stop-time", help="End of the run of a description in s.")
    ] = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="The page simulates while it is shown; inputs, parameters and bodies can be changed by hand.",
        ),
    ] = False,
    bending: Annotated[
        float,
        typer.Option(
            "--bending", help="Factor by which the deformation of flexible bodies is exaggerated."
        ),
    ] = 1.0,
    stresses: Annotated[
        bool, typer.Option("--stress/--no-stress", help="Colour flexible bodies by their stress.")
    ] = True,
    settings: Settings = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    json: Json = False,
) -> None:
    """Summarise and plot a result file, or show a mechanism in three dimensions."""
    from kinetree.scripts.terminal.result_columns import READERS

    writable(plot, PICTURES, "--plot")
    writable(html, (".html", ".htm"), "--html")
    writable(video, (".mp4", ".gif"), "--video")
    writable(picture, (".png",), "--picture")
    if not 1.0 <= bending <= 1000.0:
        raise BadInput(f"--bending {bending:g}: expected a number from 1 to 1000")
    look = {"bending": bending, "stresses": stresses}
    if live:
        write_live(
            file,
            names or plot or deviation or json or video or picture or model,
            html,
            numbers(settings),
            stop_time,
            show,
            look,
        )
        return
    recorded = None
    if Path(file).suffix.lower() in READERS:
        recorded = read(Path(file), names, plot, deviation, json)
        if not (html or video or picture or show):
            return
        if model is None:
            raise BadInput(
                f"{file}: a result file holds columns only; --model FILE names the description that moves by them"
            )
    elif names or plot or deviation or json:
        raise BadInput(
            f"{file}: variables are shown of a result file; kinetree run {file} -o result.csv makes one"
        )
    source = model or file
    target = html or (
        None if video or picture else Path(f"{Path(source.removeprefix('lib:')).stem}.html")
    )
    data = scene(source, numbers(settings), stop_time, recorded) | look
    write(data, target, video, picture, at)
    if show and target:
        import webbrowser

        webbrowser.open(target.resolve().as_uri())


def write_live(
    file: str,
    other: object,
    html: Path | None,
    settings: dict[str, float],
    stop_time: float | None,
    show: bool,
    look: dict[str, Any],
) -> None:
    """Write a page that simulates the mechanism in the browser while it is shown."""
    from kinetree.fmu.live import live_data
    from kinetree.scripts.terminal.result_columns import READERS

    if Path(file).suffix.lower() in READERS:
        raise BadInput(
            f"{file}: --live computes a mechanism, and this file holds results: name the description"
        )
    if other:
        raise BadInput(
            "--live writes one page: it goes with --html, --set, --bending, --stop-time and --open only"
        )
    target = html or Path(f"{Path(file.removeprefix('lib:')).stem}.html")
    data = live_data(loaded(file, settings), stop_time, say) | look
    write(data, target, None, None, None)
    if show:
        import webbrowser

        webbrowser.open(target.resolve().as_uri())


def say(text: str) -> None:
    """Print a progress message on standard error."""
    typer.echo(f"kinetree: {text}", err=True)


def read(
    path: Path, patterns: list[str] | None, plot: Path | None, deviation: bool, json: bool
) -> "Recorded":
    """Print and plot the chosen columns of a result file; return the recorded result."""
    from kinetree.scripts.reports.summary import columns_table, extremes, show_table
    from kinetree.scripts.terminal.result_columns import Recorded

    recorded = Recorded(path)
    wanted = recorded.select(patterns)
    if json:
        variables = {name: extremes(recorded, name) for name in wanted}
        show_json(
            {
                "file": str(path),
                "start_time": float(recorded.time[0]),
                "stop_time": float(recorded.time[-1]),
                "variables": variables,
            }
        )
    else:
        show_table(
            columns_table(
                recorded, wanted, f"{path}: {recorded.time[0]:.6g} to {recorded.time[-1]:.6g} s"
            )
        )
    if plot:
        from kinetree.models.result.plots import plot as draw

        draw(recorded, plot, wanted if patterns else None, deviation=deviation)  # type: ignore[arg-type]
        if not json:
            typer.echo(f"written: {plot}")
    return recorded


def scene(
    source: str, settings: dict[str, float], stop_time: float | None, recorded: "Recorded | None"
) -> dict[str, Any]:
    """Return the scene of a description, simulated now or moved by the columns of a result file."""
    from kinetree.models.scene.make_scenes import run_data

    mechanism = loaded(source, settings)
    if mechanism.description.chain is not None:
        return run_data(mechanism.chain().simulate(stop_time))
    system = mechanism.compile()
    if recorded is not None:
        return recorded_data(system, recorded)
    from kinetree.scripts.commands.run import end_of

    try:
        with progress(system.name, end_of(system, stop_time)) as told:
            result = system.simulate(stop_time, progress=told)
    except ArithmeticError as error:  # what was computed until then is shown
        result = getattr(error, "result", None)
        if result is None or len(result) < 2:
            raise
        typer.echo(f"kinetree: {error}; shown until then", err=True)
    return run_data(result)


def recorded_data(system: Any, recorded: "Recorded") -> dict[str, Any]:
    """Return the scene of a mechanism moved by the columns of a result file."""
    from kinetree.models.scene.body_poses import of_columns
    from kinetree.models.scene.scene import Scene

    known = {name: recorded[name] for name in recorded.names}
    missing = [name for name in system.coordinates if name not in known]
    if missing:
        raise BadInput(
            f"{recorded.name}: no columns of the coordinates {', '.join(missing[:5])} of {system.name}"
        )
    recorded.stage_names = tuple(stage.name for stage in system.stages)
    return Scene(system.description, of_columns(system, recorded.time, known), recorded).data()  # type: ignore[arg-type]


def write(
    data: dict[str, Any],
    html: Path | None,
    video: Path | None,
    picture: Path | None,
    at: float | None,
) -> None:
    from kinetree.models.scene.make_scenes import Animation

    made = Animation(data)
    for path in filter(None, (html, video, picture)):
        made.save(path, at)
        typer.echo(f"written: {path} ({path.stat().st_size / 1e6:.2f} MB)")


COMMAND = Command("view", view, place=160)
