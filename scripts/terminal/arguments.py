"""Parsing of arguments and options that several commands share."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.scripts.terminal.error_messages import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kinetree.models import Mechanism
    from kinetree.models.description.schema import Description

Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Mechanism: .toml or .json file, built-in lib:NAME, or robot file (.urdf, .xml).",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE|@FILE",
        help="Override a parameter, such as length=800mm (default unit: SI), or those listed in a "
        "file (rows name,value,unit or JSON); may be repeated.",
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input", metavar="NAME=VALUE", help="Set an input to a constant value; may be repeated."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print neither progress nor summary.")]


Starts = Annotated[
    list[str] | None,
    typer.Option(
        "--start",
        metavar="NAME=VALUE",
        help="Override a start value, such as luff=24deg; may be repeated.",
    ),
]
Origin = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="RESULT@TIME",
        help="Start from a saved result at a time in s (default: its last row).",
    ),
]
NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(\D.*)?$")
WITH_UNITS = ("--set", "--start")
FILE_MARK = "@"  # before the name of a file of values


def numbers(settings: list[str] | None, option: str = "--set") -> dict[str, float]:
    """Return the values of NAME=VALUE settings in SI; units are allowed where the option defines them."""
    values: dict[str, float] = {}
    for setting in settings or []:
        if setting.startswith(FILE_MARK) and option == "--set":
            values |= numbers_of_file(setting.removeprefix(FILE_MARK))
            continue
        name, separator, text = setting.partition("=")
        value = quantity(text, f"{option} {setting}", option in WITH_UNITS)
        if not separator or not name.strip() or value is None:
            like = "mass=2.5 or length=800mm" if option in WITH_UNITS else "mass=2.5"
            raise BadInput(
                f"{option} {setting}: expected NAME=VALUE with a number, for example {option} {like}"
            )
        values[name.strip()] = value
    return values


def numbers_of_file(path: str) -> dict[str, float]:
    """Return the values of a file in SI: rows name,value,unit or JSON; those without a unit are in SI."""
    from kinetree.scripts.terminal.value_rows import value_rows

    where = f"--set {FILE_MARK}{path}"
    try:
        rows = value_rows(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadInput(f"{where}: {error.strerror or 'cannot be read'}") from None
    except ValueError as error:  # bytes that are no text, too
        raise BadInput(f"{where}: {error}") from None
    values = {}
    for name, value, unit in rows:
        number = quantity(str(value), where, units=False)
        if number is None:
            raise BadInput(f"{where}: {name}: expected a number, found {value!r}")
        values[name] = measured(number, unit, f"{where}: {name}") if unit else number
    return values


def quantity(text: str, where: str, units: bool) -> float | None:
    """Return a number with an optional unit in SI units, or None if the text is no number."""
    if text.strip().lstrip("+-").isdecimal():
        return int(text)
    found = NUMBER.match(text)
    unit = found[2].strip() if found and found[2] else ""
    if not unit:
        try:
            return float(text)
        except ValueError:
            return None
    return measured(float(found[1]), unit, where) if found and units else None


def measured(number: float, unit: str, where: str) -> float:
    """Return a number of a unit in SI, with the unit that it was given in."""
    from kinetree.models.language.units.si_conversion import Measured
    from kinetree.models.language.units.unit_of_measure import UnitError, parse_unit

    try:
        return Measured(float(parse_unit(unit).to_si(number)), unit)
    except UnitError as error:
        raise BadInput(f"{where}: {error}") from None


def loaded(file: str, settings: list[str] | dict[str, float] | None) -> "Mechanism":
    """Return the mechanism of a file with the values of --set; likely slips of units are told."""
    from kinetree.models import load

    values = settings if isinstance(settings, dict) else numbers(settings)
    mechanism = load(file, **values)
    for warning in getattr(getattr(mechanism, "description", None), "slips", ()):
        typer.echo(f"warning: {warning}", err=True)
    return mechanism


def told_slips(description: "Description", values: "Mapping[str, float]") -> None:
    """Print likely slips of units of further values of parameters."""
    from kinetree.models.checks.plausibility_check import unit_slip

    for name, value in values.items():
        parameter = description.parameters.get(name)
        if parameter is not None and parameter.display_unit:
            slip = unit_slip(name, value, parameter.display_unit, parameter.value)
            if slip is not None:
                typer.echo(f"warning: {slip}", err=True)


def begun(mechanism: "Mechanism", starts: list[str] | None, origin: str | None) -> "Mechanism":
    """Return the mechanism with the start state given by --start and --from."""
    if not starts and origin is None:
        return mechanism
    path, time = (origin, None) if origin is None or Path(origin).exists() else instant(origin)
    values = numbers(starts, "--start")
    given = {name: as_given(value) for name, value in values.items()}
    told_turns(mechanism.description, values)
    try:
        return mechanism.starting(given, path, time)
    except KeyError as error:
        raise BadInput(f"--start: {error.args[0]}") from None
    except ValueError as error:
        raise BadInput(f"{'--start' if origin is None else '--from'}: {error}") from None


def told_turns(description: "Description", starts: dict[str, float]) -> None:
    """Print start values of angles without a unit that are likely in degrees."""
    from kinetree.models.checks.plausibility_check import LARGEST_ANGLE
    from kinetree.models.description.joint_units import joint_units

    units = joint_units(description.joints)
    for name, value in starts.items():
        angle = units.get(name, ("", ""))[0] == "rad" and not hasattr(value, "unit")
        if angle and abs(value) > LARGEST_ANGLE:
            typer.echo(
                f"warning: --start {name}={value:g} is in radians; {name}={value:g}deg takes degrees",
                err=True,
            )


def as_given(value: float) -> "float | dict[str, float | str]":
    """Return a start value with the unit in which it was given."""
    unit = getattr(value, "unit", "")
    if not unit:
        return value
    from kinetree.models.language.units.unit_of_measure import parse_unit

    return {"value": float(parse_unit(unit).from_si(float(value))), "unit": unit}


def instant(text: str) -> tuple[str, float | None]:
    """Split RESULT@TIME into file and time."""
    path, separator, time = text.rpartition("@")
    if not separator:
        raise BadInput(f"--from {text}: no such file")
    try:
        return path, float(time.strip().removesuffix("s"))
    except ValueError:
        raise BadInput(f"--from {text}: expected RESULT@TIME with a time in s") from None


def one_of(value: str, choices: tuple[str, ...], option: str) -> str:
    """Return the choice that a value matches, ignoring case; raise BadInput if there is none."""
    for choice in choices:
        if value.lower() == choice.lower():
            return choice
    from difflib import get_close_matches

    near = get_close_matches(value.lower(), [choice.lower() for choice in choices], 1, 0.5)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    if not choices:
        raise BadInput(f"{option} {value}: there is nothing that it could name; leave it out")
    raise BadInput(f"{option} {value}: expected one of {', '.join(choices)}{hint}")


def writable(path: Path | None, suffixes: tuple[str, ...], option: str) -> Path | None:
    """Return an output path after checking its suffix and folder; raise BadInput before the work
    starts.
    """
    if path is None:
        return None
    if path.suffix.lower() not in suffixes:
        raise BadInput(f"{option} {path}: expected a name that ends in {', '.join(suffixes)}")
    if not path.parent.exists():
        raise BadInput(f"{option} {path}: the folder {path.parent} does not exist")
    return path


def held(inputs: list[str] | None, names: tuple[str, ...]) -> dict[str, float] | None:
    """Return constant inputs by name, after checking that the mechanism has these inputs."""
    values = numbers(inputs, "--input")
    for name in values:
        one_of(name, names, "--input")
    return values or None
