"""Pages generated from the code: commands, Python interface, gallery, changes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from kinetree.scripts.site.code_blocks import ROOT

INTERFACE: dict[str, tuple[str, tuple[str, ...]]] = {
    "Load and compile": ("kinetree.models", ("load", "Mechanism", "System", "ModelError")),
    "Run": ("kinetree.models", ("Result", "Signal")),
    "Events of a run": ("kinetree.models.result.result", ("Event", "StageChange")),
    "States of rest": ("kinetree.models.analysis.equilibrium", ("Equilibrium",)),
    "Linear systems": ("kinetree.models.analysis.linearization", ("Linear", "Mode")),
    "Frequency responses": (
        "kinetree.models.analysis.frequency_response",
        ("StateSpace", "Margins"),
    ),
    "Identification": ("kinetree.models", ("identify", "free_decay", "match_modes")),
    "What identification finds": (
        "kinetree.models.analysis.identification_result",
        ("Identification", "Estimate", "Fit"),
    ),
    "Chains": ("kinetree.models.chain.system", ("ChainSystem",)),
    "Equations": ("kinetree.models.trace.trace", ("Trace",)),
    "Straight-line code": ("kinetree.models.specialised.specialised_system", ("Specialised",)),
    "Scenes": ("kinetree.models.scene.make_scenes", ("Animation",)),
}


def api() -> str:
    """Return the page of the Python interface, generated from signatures and docstrings."""
    parts = [
        "# Python interface",
        "",
        "Written from the code. Names without a page here are inside matters and may change.",
        "",
    ]
    for title, (module, names) in INTERFACE.items():
        parts += [f"## {title}", ""]
        home = import_module(module)
        for name in names:
            parts += entry(f"{module}.{name}", getattr(home, name))
    return "\n".join(parts) + "\n"


def entry(path: str, thing: Any) -> Iterator[str]:
    """Return the documentation of a function, or of a class with its methods."""
    module, _, name = path.rpartition(".")
    yield from (f"### `{name}`", "", f"<small>`from {module} import {name}`</small>", "")
    if inspect.isclass(thing):
        yield from (paragraphs(thing), "")
        for member, value in public(thing):
            kind = (
                "attribute"
                if isinstance(value, property) or not callable(inspect.unwrap(bound(value)))
                else "method"
            )
            inside = (
                value.fget if isinstance(value, property) else getattr(value, "func", bound(value))
            )
            heading = f"{member}{signature(inside)}" if kind == "method" else member
            yield from (f"**`.{heading}`**", "", f":   {described(inside)}".rstrip(), "")
    else:
        yield from (f"```text\n{name}{signature(thing)}\n```", "", paragraphs(thing), "")


def bound(value: Any) -> Any:
    return value.__func__ if isinstance(value, (staticmethod, classmethod)) else value


def public(thing: type) -> list[tuple[str, Any]]:
    """Return the public methods and properties of a class, documented ones first."""
    found: dict[str, Any] = {}
    for base in reversed(thing.__mro__):
        if base.__module__.startswith("kinetree"):
            found.update(
                {name: value for name, value in vars(base).items() if not name.startswith("_")}
            )
    documented = (property, staticmethod, classmethod)
    return [
        (name, value)
        for name, value in found.items()
        if isinstance(value, documented) or inspect.isfunction(value) or hasattr(value, "func")
    ]


def signature(thing: Any) -> str:
    """Return the arguments of a function without self and without type annotations that only a type
    checker uses.
    """
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    kept = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in found.parameters.values()
        if p.name not in ("self", "cls")
    ]
    return re.sub(
        r"<[^>]*>",
        "...",
        str(found.replace(parameters=kept, return_annotation=inspect.Signature.empty)),
    )


def described(thing: Any) -> str:
    """Return a docstring as one paragraph of a definition list."""
    return (inspect.getdoc(thing) or "").replace("\n", "\n    ")


def paragraphs(thing: Any) -> str:
    return inspect.getdoc(thing) or ""


def commands() -> str:
    """Return the page of all commands with arguments and options."""
    from kinetree.scripts.cli import command_line

    root: Any = command_line([])
    parts = [
        "# Command line",
        "",
        "Written from the program. Exit codes: 0 done, 1 failed while running, 2 bad input. An error is one readable line; `--debug` shows the",
        "traceback. `kinetree --install-completion` completes commands, options and names of the library.",
        "",
    ]
    for name, command in root.commands.items():
        parts += [
            f"## `kinetree {name}`",
            "",
            *help_text(command.help or ""),
            "| argument or option | default | meaning |",
            "|---|---|---|",
        ]
        parts += [row(parameter) for parameter in command.params if parameter.name != "help"]
        parts.append("")
    return "\n".join(parts)


def help_text(text: str) -> Iterator[str]:
    """Return a help text as Markdown; preformatted paragraphs keep their lines."""
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        kept = part.lstrip().startswith("\b")
        body = part.replace("\b\n", "").replace("\b", "").replace("\\[", "[")
        yield from (("```text", body, "```", "") if kept else (body, ""))


def row(parameter: Any) -> str:
    """Return the table row of an argument or option of a command."""
    if parameter.param_type_name == "argument":
        name = parameter.metavar or parameter.name.upper()
        label = f"`{name}`"
    else:
        label = ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))
    default = parameter.default
    shown = "" if default in (None, False, (), "") or callable(default) else f"`{default}`"
    text = (parameter.help or "").replace("|", "\\|")
    return f"| {label} | {'required' if parameter.required else shown} | {text} |"


def changes() -> str:
    """Return CHANGELOG.md as a page, with links relative to the root of the repository."""
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
