"""`kinetree check`: validates a description."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import typer
from typer.exceptions import Exit

from kinetree.models.language.word_lists import counted
from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Settings, Source, numbers
from kinetree.scripts.terminal.json_output import Json, show_json

if TYPE_CHECKING:
    from kinetree.models.description.schema import Description
    from kinetree.models.system.system import System


def check(file: Source, settings: Settings = None, json: Json = False) -> None:
    """Validate a model file: list all errors and likely mistakes (such as degrees in place of radians)."""
    from kinetree.models.language.errors import ModelError

    try:
        told = examined(file, numbers(settings))
    except ModelError as error:
        if not json:
            raise
        show_json(
            {
                "file": file,
                "good": False,
                "problems": [
                    asdict(problem) | {"text": str(problem)} for problem in error.problems
                ],
            }
        )
        raise Exit(2) from None
    if json:
        return show_json({"file": file, "good": True} | told)

    for warning in told["warnings"]:
        typer.echo(f"warning: {warning}", err=True)
    if "masses" in told:
        typer.echo(f"{file}: OK: a chain of {counted(told['masses'], 'mass', 'masses')}")
    else:
        parts = [
            counted(told["bodies"], "body", "bodies"),
            counted(told["freedoms"], "degree of freedom", "degrees of freedom"),
        ]
        if "controllers" in told:
            parts.append(
                "controllers "
                + ", ".join(f"{name} ({kind})" for name, kind in told["controllers"].items())
            )
        typer.echo(f"{file}: OK: {', '.join(parts)}")
    if told["without_parent"]:
        typer.echo(
            f"on the ground, as no parent is given: joints {', '.join(told['without_parent'])}"
        )
    if told.get("point_masses"):
        typer.echo(
            f"point masses, as no inertia is given: bodies {', '.join(told['point_masses'])}"
        )
    for each in told["left_out"]:
        typer.echo(each if each.startswith(("assumed: ", "offered: ")) else f"left out: {each}")
    for each in told["in_fmus"]:
        typer.echo(f"in FMUs: {each}")
    return None


def examined(file: str, settings: dict[str, float]) -> dict[str, Any]:
    """Return counts and warnings of a valid description, and the quantities that FMUs fix at build
    time.
    """
    from kinetree.models import load
    from kinetree.models.checks.structural_parameters import kept_by_fmus
    from kinetree.models.run.prerun_checks import points_of_mass, prerun_warnings

    mechanism = load(file, **settings)
    told: dict[str, Any] = {
        "warnings": [str(warning) for warning in mechanism.description.warnings]
    }
    told["left_out"] = list(mechanism.description.left_out)
    told["without_parent"] = without_parent(mechanism.description)
    told["in_fmus"] = kept_by_fmus(mechanism.description)
    if mechanism.description.chain is not None:
        return told | {"masses": mechanism.chain().n}
    system = mechanism.compile()
    refuse_missing_inertia(file, system)
    told["point_masses"] = points_of_mass(mechanism.description)
    told["warnings"] += [
        *map(str, system.warnings),
        *prerun_warnings(system),
    ]  # mistakes of later stages show here, not in the middle of a run
    controllers = {name: each.kind for name, each in mechanism.description.controllers.items()}
    return (
        told
        | {"bodies": len(system.bodies), "freedoms": system.freedoms}
        | ({"controllers": controllers} if controllers else {})
    )


def refuse_missing_inertia(file: str, system: "System") -> None:
    """Raise for a body without inertia that the joints would have to turn for the motion to begin."""
    from kinetree.models.description.reading.read_source import read
    from kinetree.models.language.errors import ModelError
    from kinetree.models.run.prerun_checks import body_without_inertia

    problem = body_without_inertia(system)
    if problem is not None:
        _, origin = read(file)
        raise ModelError(replace(problem, line=origin.line(tuple(problem.key.split(".", 1)))))


def without_parent(description: "Description") -> list[str]:
    """Return the joints that stand on the ground because no parent is given, unless it is the only
    joint there: one has to stand on the ground.
    """
    grounded = [name for name, joint in description.joints.items() if joint.parent == "ground"]
    bare = [name for name in grounded if "parent" not in description.joints[name].model_fields_set]
    return bare if len(grounded) > 1 else []


COMMAND = Command("check", check, place=10)
