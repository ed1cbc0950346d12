"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from kinetree.scripts.terminal.error_messages import BadInput

Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Description (.toml, .json), lib:NAME from the library, or a robot (.urdf, .xml).",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Give a parameter another value; may be repeated."
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input", metavar="NAME=VALUE", help="Hold an input at a value; may be repeated."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")]


def numbers(settings: list[str] | None, option: str = "--set") -> dict[str, float]:
    """NAME=VALUE pairs as numbers."""
    values = {}
    for setting in settings or []:
        name, separator, text = setting.partition("=")
        try:
            values[name.strip()] = (
                int(text) if text.strip().lstrip("+-").isdecimal() else float(text)
            )
        except ValueError:
            separator = ""
        if not separator or not name.strip():
            raise BadInput(
                f"{option} {setting}: expected NAME=VALUE with a number, for example {option} mass=2.5"
            )
    return values


def one_of(value: str, choices: tuple[str, ...], option: str) -> str:
    """The choice that is meant, in any case of letters."""
    for choice in choices:
        if value.lower() == choice.lower():
            return choice
    from difflib import get_close_matches

    near = get_close_matches(value.lower(), [choice.lower() for choice in choices], 1, 0.5)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise BadInput(f"{option} {value}: expected one of {', '.join(choices) or 'none'}{hint}")


def writable(path: Path | None, suffixes: tuple[str, ...], option: str) -> Path | None:
    """Refuse an output file before the work instead of after it."""
    if path is None:
        return None
    if path.suffix.lower() not in suffixes:
        raise BadInput(f"{option} {path}: expected a name that ends in {', '.join(suffixes)}")
    if not path.parent.exists():
        raise BadInput(f"{option} {path}: the folder {path.parent} does not exist")
    return path


def held(inputs: list[str] | None, names: tuple[str, ...]) -> dict[str, float] | None:
    """Inputs held at a value, checked against those the mechanism has."""
    values = numbers(inputs, "--input")
    for name in values:
        one_of(name, names, "--input")
    return values or None
