"""`kinetree import`: converts robots and machines from other formats to descriptions."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import Exit

from kinetree.models.language.word_lists import counted
from kinetree.models.result.atomic_file import write_text
from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import one_of, writable
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.json_output import Json, show_json


def import_robot(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Robot (.urdf, .xacro, .xml or .mjcf), assembly (Simscape Multibody .xml), part (.step), model (.mo).",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Description (.toml, default NAME.toml here) or a verified FMU (.fmu) to write.",
        ),
    ] = None,
    floating: Annotated[
        bool,
        typer.Option("--floating", help="URDF: the base moves freely (free joint root_joint)."),
    ] = False,
    limits: Annotated[
        bool, typer.Option("--limits", help="Add end stops at the joint limits.")
    ] = False,
    torques: Annotated[
        bool, typer.Option("--torques", help="Add an input force or torque to every joint.")
    ] = False,
    keep_fixed: Annotated[
        bool,
        typer.Option("--keep-fixed", help="Keep rigidly attached links as bodies of their own."),
    ] = False,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            "--arg",
            metavar="NAME=VALUE",
            help="xacro: value of an argument of the file; may be repeated.",
        ),
    ] = None,
    density: Annotated[
        float | None,
        typer.Option("--density", help="STEP: density of all solids in kg/m3 (default: steel)."),
    ] = None,
    pin: Annotated[
        int | None,
        typer.Option(
            "--pin",
            help="STEP: number of the hole where a revolute joint connects the part to the ground.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="Modelica: which model of the file (default: last)."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", help="Report (.html): body tree, what was read and left out, 3D scene."
        ),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option("--backend", help="FMU: python (default), native or source."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    json: Json = False,
) -> None:
    """Convert URDF, MJCF, Simscape, STEP or Modelica files to a description; list what is left out.

    With `-o NAME.fmu` the mechanism is also exported as an FMU, which is verified at once.
    """
    from kinetree.models import load
    from kinetree.models.description.reading.read_source import is_foreign

    if not is_foreign(file):
        raise BadInput(f"{file}: expected .urdf, .xacro, .xml, .mjcf, .step or .mo")
    default = Path(f"{file.name.split('.')[0]}.toml")
    path = writable(output or default, (".toml", ".fmu"), "--output")
    assert path is not None
    if path.exists() and output is None and not force:
        raise BadInput(f"{path} exists already; --force overwrites it, -o names another")
    if backend is not None and path.suffix != ".fmu":
        raise BadInput(f"--backend {backend}: it is for FMUs, as with -o {path.stem}.fmu")
    page = writable(report, (".html",), "--report")
    options: dict[str, Any] = {
        "floating": floating,
        "limits": limits,
        "torques": torques,
        "keep_fixed": keep_fixed,
        "density": density,
        "pin": pin,
        "model": model,
    }
    options["arguments"] = dict(pair(each) for each in arg or ())
    description, left_out = described(file, options)
    mechanism = load(description)
    if page is not None:
        from kinetree.scripts.reports.import_report import write_import_report

        write_import_report(page, file.name, mechanism.compile(), left_out)
    told: dict[str, Any] = {
        "file": path,
        "bodies": len(description["bodies"]),
        "joints": len(description["joints"]),
        "left_out": left_out,
    }
    if path.suffix == ".fmu":
        checks = verified_fmu(mechanism, path, backend or "python")
        told |= {"checks": len(checks), "bad": [each for each in checks if not each["good"]]}
    else:
        from kinetree.models.foreign.toml_text import toml_text

        remarks = [f"{description['name']}, imported from {file.name}"]
        remarks += [line(each) for each in left_out]
        write_text(path, toml_text(beside(description, path.absolute().parent), remarks))
    show(told, json)
    if told.get("bad"):
        raise Exit(1)


def described(file: Path, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the description converted from another format with given options, and remarks on what
    was left out.
    """
    from inspect import signature

    from kinetree.models.description.reading.read_source import foreign_reader

    reader = foreign_reader(file)
    known = signature(reader).parameters
    unknown = [name for name, value in options.items() if value and name not in known]
    if unknown:
        if unknown[0] == "arguments":
            raise BadInput(
                f"--arg has no meaning for {file.suffix}: only xacro files have arguments"
            )
        raise BadInput(
            f"--{unknown[0].replace('_', '-')} has no meaning for {file.suffix} files of this kind"
        )
    return reader(
        **{name: value for name, value in options.items() if name in known and value is not None}
    )


def verified_fmu(mechanism: Any, path: Path, backend: str) -> list[dict[str, Any]]:
    """Write a mechanism as an FMU, verify it, and return the lines of the verification."""
    from kinetree.fmu.archive.build import ALIASES, BACKENDS, build_fmu
    from kinetree.scripts.fmi.verify import verify

    build_fmu(mechanism, path, one_of(backend, (*BACKENDS, *ALIASES), "--backend"))
    checks = verify(path).checks
    return [{"what": each.what, "result": each.result, "good": each.good} for each in checks]


def show(told: dict[str, Any], json: bool) -> None:
    """Print what was written and what was left out, and the result of the FMU's verification."""
    if json:
        show_json(told)
        return

    counts = f"{counted(told['bodies'], 'body', 'bodies')}, {counted(told['joints'], 'joint')}"
    if "bad" in told:
        bad = [f"BAD {each['what']}: {each['result']}" for each in told["bad"]]
        state = f"{len(bad)} of {told['checks']} checks failed" if bad else "verified"
        more = f", {told['checks']} checks passed" if not bad else ""
        typer.echo(f"{told['file']} written: {counts}; {state}{more}.")
        for each in bad:
            typer.echo(each)
    else:
        typer.echo(f"{told['file']} written: {counts}. Next: kinetree check {told['file']}")
    for each in told["left_out"]:
        typer.echo(line(each))


def beside(part: Any, folder: Path) -> Any:
    """Return a description whose mesh files have paths relative to its own folder. Mesh files that
    share no folder but the root keep their absolute paths.
    """
    if isinstance(part, dict):
        return {
            key: relative(value, folder) if key == "mesh" else beside(value, folder)
            for key, value in part.items()
        }
    return [beside(each, folder) for each in part] if isinstance(part, (list, tuple)) else part


def relative(file: Any, folder: Path) -> Any:
    """Return an absolute path relative to a folder, if both share a folder below the root; other
    values are unchanged.
    """
    if not isinstance(file, str) or not Path(file).is_absolute():
        return file
    try:
        shared = Path(os.path.commonpath([file, folder]))
    except ValueError:  # on another drive
        return file
    return file if len(shared.parts) < 2 else Path(os.path.relpath(file, folder)).as_posix()


def line(told: str) -> str:
    """Return a remark of the importer with its category in front."""
    return told if told.startswith(("assumed: ", "offered: ")) else f"left out: {told}"


def pair(text: str) -> tuple[str, str]:
    """Return the name and value in NAME=VALUE, or in xacro's NAME:=VALUE."""
    name, found, value = text.partition("=")
    if not found or not name.strip(": "):
        raise BadInput(f"--arg {text}: expected NAME=VALUE")
    return name.strip(": "), value


COMMAND = Command("import", import_robot, place=190)
