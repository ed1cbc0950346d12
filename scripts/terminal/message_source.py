"""Finds the source of an error message: the module that raises it, found by its words, and the
documentation page of that module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from kinetree import fmu, models, scripts

PAGES = {
    "models/analysis/decay": "docs/identification.md, free decays",
    "models/analysis/identi": "docs/identification.md",
    "models/analysis/experiments": "docs/identification.md",
    "models/analysis/mode_matching": "docs/identification.md",
    "models/analysis/statics": "docs/statics.md",
    "models/analysis": "docs/statics.md, docs/laboratory.md",
    "models/beams": "docs/beams.md",
    "models/chain": "docs/chain.md",
    "models/checks/contact": "docs/contacts.md",
    "models/checks/beam": "docs/beams.md",
    "models/checks/controller": "docs/laboratory.md",
    "models/controllers": "docs/laboratory.md",
    "models/compilation/coupling": "docs/loops.md",
    "models/equations": "docs/equations.md",
    "models/trace": "docs/equations.md",
    "models/specialised": "docs/equations.md, straight-line code",
    "models/expressions": "docs/format.md, Expressions",
    "models/forces": "docs/forces.md",
    "models/foreign/step": "docs/geometry.md",
    "models/foreign": "docs/robots.md, docs/geometry.md",
    "models/gradients": "docs/identification.md, gradients",
    "models/hydraulics": "docs/hydraulics.md",
    "models/joints": "docs/format.md, Types of joints",
    "models/language/units": "docs/format.md, units",
    "models/library": "docs/library.md",
    "models/modelica": "docs/openmodelica.md",
    "models/observers": "docs/observers.md",
    "models/result": "docs/results.md, docs/tables.md",
    "models/run": "docs/integrators.md, docs/events.md",
    "models/scene": "docs/view.md",
    "models/system/stepper": "docs/stepper.md",
    "models": "docs/format.md",
    "fmu": "docs/fmu.md",
    "scripts/cosim": "docs/coupling.md",
    "scripts/ssp": "docs/coupling.md, archives (.ssp)",
    "scripts/fmi": "docs/fmu.md",
    "scripts/hil": "docs/laboratory.md, in the loop",
    "scripts/reports": "docs/tables.md",
    "scripts/studies/observer": "docs/observers.md",
    "scripts/studies/support": "docs/carrier.md",
    "scripts/studies": "docs/laboratory.md",
    "scripts/studio": "docs/view.md, the studio",
    "scripts": "docs/commands.md",
}  # of parts of the program; the longest beginning counts
LEAST_WORDS, LEAST_LETTERS = 2, 8  # of a passage that tells where a message comes from
BREAK = re.compile(r'"\s*\n\s*f?"')  # between the lines of one text in the source


def message_source(message: str) -> list[tuple[str, str]]:
    """Return the purpose of the module that raises a message, the related command, and its page;
    empty if no module or several have these words.
    """
    for passage in passages(message):
        found = [(path, name) for path, name, text in sources() if passage in text]
        told = [(path, name) for path, name in found if passage in messages_in(path)]
        if len({page_of(name) for _, name in told}) > 1:
            return []  # parts of several pages say the same
        if told:
            path, name = told[0]
            lines = [("about", subject(path))]
            if name.startswith("scripts/commands/"):
                command = name.rsplit("/", 1)[1].removesuffix(".py").replace("_", "-")
                lines.append(("see also", f"kinetree {command} --help"))
            return [*lines, ("page", page_of(name))]
    return []


def passages(message: str) -> list[str]:
    """Return the word sequences of a message, the longest first."""
    words = re.sub(r"\s+", " ", message).strip().split(" ")
    runs = [
        " ".join(words[a:b])
        for a in range(len(words))
        for b in range(a + LEAST_WORDS, len(words) + 1)
    ]
    return sorted((run for run in runs if len(run) >= LEAST_LETTERS), key=len, reverse=True)


@cache
def sources() -> list[tuple[Path, str, str]]:
    """Return for every file of the program its path, its name such as models/run/simulation.py, and
    its texts.
    """
    found = []
    for label, package in (("models", models), ("fmu", fmu), ("scripts", scripts)):
        root = Path(next(iter(package.__path__)))
        for path in sorted(root.rglob("*.py")):
            text = BREAK.sub("", path.read_text(encoding="utf-8"))
            found.append((path, f"{label}/{path.relative_to(root).as_posix()}", text))
    return found


@cache
def messages_in(path: Path) -> str:
    """Return the string constants of a file without docstrings, one per line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return "\n".join(texts(tree))


def texts(tree: ast.Module) -> Iterator[str]:
    """Yield the string constants of a module without its docstrings; formatted values separate
    them.
    """
    documented = (ast.Module, ast.FunctionDef, ast.ClassDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in docstrings:
                yield node.value


def subject(path: Path) -> str:
    """Return the purpose of a file: the first sentence of its docstring."""
    told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"\n\n|(?<=\.)\s", told.strip())[0].replace("\n", " ").rstrip(".")


def page_of(name: str) -> str:
    """Return the documentation page about a module."""
    fitting = [part for part in PAGES if name.startswith(part)]
    return PAGES[max(fitting, key=len)]
