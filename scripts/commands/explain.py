"""`kinetree explain`: explains keys, tables, functions, words of the glossary and messages."""

import re
from functools import cache
from typing import Annotated, get_type_hints

import typer

from kinetree.models.expressions.function_help import MEANINGS
from kinetree.scripts.commands import Command
from kinetree.scripts.commands import found as found_commands
from kinetree.scripts.terminal.error_hints import advice, form_advice
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.explain_lookup import choices, example, inside, values
from kinetree.scripts.terminal.glossary import TERMS, glossary_entries
from kinetree.scripts.terminal.json_output import Json, show_json
from kinetree.scripts.terminal.message_source import message_source

# a message about a key begins with it, behind a file and a line perhaps
KEY_FIRST = re.compile(r"(kinetree: )?(\S+:(\d+:)? )?[a-z_]+(\.[^\s:]+|\[[^\]]*\])+: ")

LONGEST_NAME = 3  # words of a key with its tables; more are a message


def explain(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY|WORD|MESSAGE",
            help="Key (bodies.arm.inertia), table, function, glossary word, or a message in quotes.",
        ),
    ],
    json: Json = False,
) -> None:
    """Explain a key of a description, a function, a word of the glossary or an error message."""
    asked = " ".join(words).strip()
    found = advice(asked)
    if not found or " " not in asked or KEY_FIRST.match(asked):
        named = len(asked.split()) <= LONGEST_NAME or KEY_FIRST.match(asked)
        found = [
            *(meanings(asked) if named else []),
            *(values(asked) if " " not in asked else []),
            *glossary_entries(asked),
            *found,
        ]
    if " " in asked and not any(place == "about" for place, _ in found):
        found += message_help(asked, found)
    if not found:
        from difflib import get_close_matches

        near = get_close_matches(asked.lower(), known(), 3, 0.6)
        raise BadInput(
            f"'{asked}' is neither a key, a table, a function nor a word of the glossary"
            + (f"; did you mean {', '.join(near)}?" if near else "")
        )
    if json:
        show_json([{"place": place, "what": what} for place, what in found])
        return
    width = max(len(place) for place, _ in found)
    for place, what in found:
        typer.echo(f"{place:<{width}}  {what}")
    shown = (
        [example(place) for place, _ in found if not place.startswith("  ")]
        if sum(not place.startswith("  ") for place, _ in found) < 3
        else []
    )
    for text in dict.fromkeys(filter(None, shown)):
        typer.echo(f"\n{text}")


def message_help(message: str, found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the meaning and the source of an error message by its form, where nothing else
    explains it.
    """
    source = [*option_help(message), *message_source(message)]
    if not found:
        return [*form_advice(message), *source]
    return [line for line in source if line[0] != "about"] if advice(message) else source


def option_help(message: str) -> list[tuple[str, str]]:
    """Return what the options named in a message do, without repetitions."""
    options = dict.fromkeys(re.findall(r"(?<!\S)--[a-z][a-z-]*[a-z]", message))
    lines: dict[tuple[str, str], None] = {}
    for command in found_commands().values() if options else ():
        for hint in get_type_hints(command, include_extras=True).values():
            for option in getattr(hint, "__metadata__", ()):
                names = (
                    getattr(option, "default", ""),
                    *(getattr(option, "param_decls", ()) or ()),
                )
                declared = " ".join(map(str, names)).replace("/", " ")
                for name in options.keys() & set(declared.split()):
                    lines[name, option.help or ""] = None
    return list(lines)


@cache
def tables() -> list[tuple[str, type]]:
    """Return (label, model) of every table of the format; a label's words name the table, its
    sections first.
    """
    from kinetree.models.description.reference import TABLES
    from kinetree.models.description.schema import Description
    from kinetree.models.forces.kinds import KINDS
    from kinetree.models.hydraulics.kinds import KINDS as HYDRAULICS
    from kinetree.models.language.parts.controller_parts import CONTROLLERS

    found: list[tuple[str, type]] = [("description", Description)]
    for title, model in TABLES.items():
        found += [
            (name.replace(".NAME", ""), model)
            for name in (part.split(" as in ")[0] for part in title.split(", "))
            if not name.startswith("as ")
        ]
    found += [(f"[forces] kind = {name}", kind.table) for name, kind in KINDS.items()]
    found += [(f"[hydraulics] kind = {name}", kind.table) for name, kind in HYDRAULICS.items()]
    return found + [(f"[controllers] kind = {name}", model) for name, model in CONTROLLERS.items()]


def path_of(label: str) -> list[str]:
    """Return the words of a label: 'report', 'tables' for [report.tables]."""
    return [word for word in re.findall(r"[a-z_]+(?:-[a-z]+)*", label) if word != "kind"]


def known() -> list[str]:
    """Return all words that can be explained, in alphabetical order."""
    every = tables()
    keys = {key for _, model in every for key in model.model_fields}  # type: ignore[attr-defined]
    words = {word for terms in TERMS.values() for word in terms}
    labels = {word for label, _ in every for word in path_of(label)}
    return sorted({*MEANINGS, *keys, *words, *labels})


def meanings(asked: str) -> list[tuple[str, str]]:
    """Return (place, meaning) for a key, table or function; of a path such as forces.spring, the
    last word is explained.
    """
    paths = [
        path
        for path in re.findall(r"(?:^|\s)([a-z_]+(?:\.[\w-]+|\[\d+\])+)(?=[:\s]|$)", asked)
        if not path.endswith((".toml", ".json"))
    ]
    text = re.sub(r"\[\d+\]", "", paths[0] if paths else asked)
    parts = [part for part in re.split(r"[.\s]+", text.strip("[]").lower()) if part]
    if not parts:
        return []
    last, section = parts[-1], parts[0]
    named = [
        (label, model)
        for label, model in tables()
        if last in path_of(label) and (len(parts) == 1 or section in path_of(label))
    ]
    exact = [(label, model) for label, model in named if path_of(label) in (parts, [last])] or named
    if len(exact) == 1:  # one table, and a line for each that stands inside or is called the same
        ((label, model),) = exact
        keys = [
            (f"  {key}", described(model, key))
            for key in model.model_fields
            if key not in ("kind", "copies")
        ]  # type: ignore[attr-defined]
        return [
            (label, first_paragraph(model)),
            *keys,
            *((other, first_paragraph(each)) for other, each in named if other != label),
        ]
    if exact:
        return [(label, first_paragraph(model)) for label, model in exact]
    if last == "kind":
        return [
            (
                "kind",
                "which kind of a table it is; `kinetree explain forces`, `hydraulics` and `controllers` list them",
            )
        ]
    exactly = {
        (name, key)
        for label, model in tables()
        for name in [" ".join(path_of(label))]
        for key in model.model_fields
    }  # type: ignore[attr-defined]
    found = [
        (
            f"{' '.join(label.replace('[', '').replace(']', '').split())}: {last}",
            described(model, last),
        )
        for label, model in tables()
        if last in model.model_fields and (len(parts) == 1 or section in path_of(label))  # type: ignore[attr-defined]
        if [section] == path_of(label) or (section, last) not in exactly
    ]
    if len(parts) > 1 and not found:
        return (
            nearest(section, last)
            or meanings(last)
            or (meanings(section) if len(parts) == 2 else [])
        )  # NAME of a section is the user's
    near = [
        each
        for label, model in tables()
        if section in path_of(label) or len(parts) == 1
        for each in held(model, last)
    ]
    inner = {
        table: name for name, table in sorted(near, key=lambda each: each[0] == last)
    }  # the label that is the key itself, if there is one
    if len(inner) == 1:
        ((model, label),) = inner.items()
        found += [
            (label, first_paragraph(model)),
            *((f"  {key}", described(model, key)) for key in model.model_fields),
        ]  # type: ignore[attr-defined]
    return [*found, *([(last, MEANINGS[last])] if last in MEANINGS else [])]


def held(model: type, key: str) -> list[tuple[str, type]]:
    """Return the tables, with their labels, that a key of a table may contain."""
    fields = model.model_fields  # type: ignore[attr-defined]
    inner = inside(model, key) if key in fields else []
    return [(label, each) for label, each in tables() if each in inner]


def nearest(section: str, key: str) -> list[tuple[str, str]]:
    """Return the keys in a section that are similar to an unknown one, with their meanings."""
    from difflib import get_close_matches

    return [
        (f"{label.replace('[', '').replace(']', '')}: {near}", described(model, near))
        for label, model in tables()
        if section in path_of(label)
        for near in get_close_matches(key, list(model.model_fields), 1, 0.7)  # type: ignore[attr-defined]
    ]


def first_paragraph(model: type) -> str:
    """Return the first paragraph of the docstring of a table as one line."""
    return " ".join((model.__doc__ or "").strip().split("\n\n")[0].split())


def described(model: type, key: str) -> str:
    """Return the description of a key with its default."""
    from kinetree.models.description.reference import default

    field = model.model_fields[key]  # type: ignore[attr-defined]
    without = default(field)
    if key in choices() and field.annotation is not None:
        return f"{field.description or ''}: {choices()[key]}" + (
            f" (default {without})" if without else ""
        )
    return (field.description or "") + (
        f" ({without})" if without == "required" else f" (default {without})" if without else ""
    )


COMMAND = Command("explain", explain, place=200)
