"""`kinetree explain`: what a key, a table, a function or an error message is about."""

import re
from typing import Annotated

import typer

from kinetree.models.expressions.meanings import MEANINGS
from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.advice import advice
from kinetree.scripts.terminal.as_json import Json, show_json
from kinetree.scripts.terminal.failure import BadInput


def explain(
    words: Annotated[list[str], typer.Argument(metavar="KEY|MESSAGE", help="A key (bodies.arm.inertia), table, function, or a message in quotes.")],
    json: Json = False,
) -> None:
    """Tell what a key of a description, a function or an error message is about."""
    asked = " ".join(words).strip()
    found = [*meanings(asked), *advice(asked)]
    if not found:
        from difflib import get_close_matches

        near = get_close_matches(asked.lower(), known(), 3, 0.6)
        raise BadInput(f"'{asked}' is neither a key, a table nor a function" + (f"; did you mean {', '.join(near)}?" if near else ""))
    if json:
        show_json([{"place": place, "what": what} for place, what in found])
        return
    width = max(len(place) for place, _ in found)
    for place, what in found:
        typer.echo(f"{place:<{width}}  {what}")


def tables() -> dict[str, type]:
    """Every table of the format by the words that name it."""
    from kinetree.models.description.hydraulic_parts import HYDRAULICS
    from kinetree.models.description.reference import TABLES
    from kinetree.models.description.schema import Description
    from kinetree.models.forces.kinds import KINDS

    found: dict[str, type] = {"description": Description}
    for title, model in TABLES.items():
        names = re.findall(r"[a-z_]+", title)[-1:] if title.startswith("[") else [part.split()[0] for part in title.split(", ") if " " not in part]
        found |= dict.fromkeys(names, model)
    found |= {f"forces {name}": kind.table for name, kind in KINDS.items()}
    return found | {f"hydraulics {kind}": model for kind, model in HYDRAULICS.items()}


def known() -> list[str]:
    """Every word that has a meaning."""
    every = tables()
    keys = {key for model in every.values() for key in model.model_fields}  # type: ignore[attr-defined]
    return sorted({*MEANINGS, *keys, *(word for name in every for word in name.split())})


def meanings(asked: str) -> list[tuple[str, str]]:
    """(place, meaning) of everything that is asked for: the last word of a path first of all."""
    paths = [path for path in re.findall(r"(?:^|\s)([a-z_]+(?:\.[\w-]+|\[\d+\])+)(?=[:\s]|$)", asked) if not path.endswith((".toml", ".json"))]
    text = re.sub(r"\[\d+\]", "", paths[0] if paths else asked)
    parts = [part for part in re.split(r"[.\s]+", text.strip("[]")) if part]
    if not parts:
        return []
    last, section = parts[-1].lower(), parts[0].lower()
    every = tables()
    found: list[tuple[str, str]] = []
    for name, model in every.items():
        words = name.split()
        if last in words and (len(parts) == 1 or section in words or section == last):
            found.append((f"[{words[0]}]" + (f" kind = {words[1]}" if len(words) > 1 else ""), first_line(model)))
            found += [(f"  {key}", described(model, key)) for key in model.model_fields if key not in ("kind", "copies")]  # type: ignore[attr-defined]
    if found:
        kinds = [each for each in found if " kind = " in each[0]]
        return kinds if len(kinds) > 1 and last == kinds[0][0].partition("]")[0][1:] else found  # a section of many kinds: a line for each
    for name, model in every.items():
        if last in model.model_fields and (len(parts) == 1 or section in name.split()):  # type: ignore[attr-defined]
            found.append((f"{name.replace(' ', ' kind = ')}: {last}", described(model, last)))
    if len(parts) > 1 and not found:
        return meanings(last) or nearest(section, last)
    return [*found, *([(last, MEANINGS[last])] if last in MEANINGS else [])]


def nearest(section: str, key: str) -> list[tuple[str, str]]:
    """Keys of a section that are written nearly like one it does not have."""
    from difflib import get_close_matches

    found = []
    for name, model in tables().items():
        if section in name.split():
            for near in get_close_matches(key, list(model.model_fields), 1, 0.7):  # type: ignore[attr-defined]
                found.append((f"{name.replace(' ', ' kind = ')}: {near}", described(model, near)))
    return found


def first_line(model: type) -> str:
    return (model.__doc__ or "").strip().split("\n")[0]


def described(model: type, key: str) -> str:
    """What a key is for, and its default."""
    from kinetree.models.description.reference import default

    field = model.model_fields[key]  # type: ignore[attr-defined]
    without = default(field)
    return (field.description or "") + (f" ({without})" if without == "required" else f" (default {without})" if without else "")


COMMAND = Command("explain", explain, place=200)
