"""Modelica files as syntax trees, and classes found by name, also in neighbouring files.

The parser is pymoca. Its listener is extended by what it ignores: conditions of components and
`each`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from kinetree.models.foreign.robot import refused

KIND = "a model of Modelica.Mechanics.MultiBody"
LARGEST_MODELICA = 400_000  # bytes
MOST_BRACKETS = 40  # inside one another
MOST_FILES = 60  # of a package that are read beside the file
DEEPEST_PACKAGE = 10
PLAIN = ("Real", "Integer", "Boolean", "String")


def syntax_tree(path: Path) -> Any:
    """Return the syntax tree of a file; raises ModelError if it is not Modelica."""
    try:
        if (size := path.stat().st_size) > LARGEST_MODELICA:
            raise refused(str(path), f"{size} bytes", f"at most {LARGEST_MODELICA}")
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise refused(str(path), f"what cannot be read: {error}", KIND) from None
    if _nesting(text) > MOST_BRACKETS:
        raise refused(str(path), "expressions nested too deeply", KIND)
    try:
        listener = _listener()
    except ImportError:
        raise refused(
            str(path),
            "a file that needs the package pymoca",
            KIND,
            "install it with 'pip install kinetree[modelica]'",
        ) from None
    try:
        return listener(text)
    except RecursionError:
        raise refused(str(path), "expressions nested too deeply", KIND) from None
    except Exception as error:  # what the parser and the listeners of its tree raise
        raise refused(
            str(path), f"no Modelica: {' '.join(str(error).split())[:200]}", KIND
        ) from None


@lru_cache
def _listener() -> Any:
    """Return a function that parses text to a tree, with conditions and `each` marked."""
    from pymoca import parser as pymoca_parser
    from pymoca.generated.ModelicaLexer import ModelicaLexer
    from pymoca.generated.ModelicaParser import ModelicaParser
    from pymoca.parser import ASTListener, ModelicaParserErrorListener, file_to_tree

    antlr4 = pymoca_parser.antlr4  # its own runtime

    class Listener(ASTListener):
        """pymoca's listener, which also keeps conditions, `each` and the package of a file."""

        def exitComponent_declaration(self, ctx: Any) -> None:  # noqa: N802
            symbol = self.ast[ctx]
            super().exitComponent_declaration(ctx)
            if ctx.condition_attribute() is not None:
                symbol.condition = self.ast[ctx.condition_attribute().expression()]

        def exitArgument(self, ctx: Any) -> None:  # noqa: N802
            super().exitArgument(ctx)
            production = ctx.element_modification_or_replaceable()
            self.ast[ctx].each = production is not None and production.EACH() is not None

    def tree(text: str) -> Any:
        lexer = ModelicaLexer(antlr4.InputStream(text))
        parser = ModelicaParser(antlr4.CommonTokenStream(lexer))
        errors = ModelicaParserErrorListener()
        for each in (lexer, parser):
            each.removeErrorListeners()
            each.addErrorListener(errors)
        listener = Listener()
        antlr4.ParseTreeWalker().walk(listener, parser.stored_definition())
        file: Any = listener.file_node
        found: Any = file_to_tree(file)
        found.within_names = [] if not file.within else list(file.within[0].to_tuple())
        return found

    return tree


def _nesting(text: str) -> int:
    """Return the largest nesting depth of brackets outside strings and comments."""
    depth = most = 0
    for sign in re.findall(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|[(){}\[\]]', text, re.DOTALL):
        depth = max(0, depth + (sign in "({[") - (sign in ")}]")) if len(sign) == 1 else depth
        most = max(most, depth)
    return most


def models_of(tree: Any, path: str, around: tuple[Any, ...] = ()) -> Any:
    for name, each in tree.classes.items():
        inside = f"{path}.{name}".lstrip(".")
        if each.type in ("model", "block", "class") and name not in PLAIN:
            yield inside, each, (tree, *around)
        else:
            yield from models_of(each, inside, (tree, *around))


class Packages:
    """The packages around a file that are folders, up to the root that `within` names; files are
    read once.
    """

    def __init__(self, path: Path, within: list[str]):
        self.read = 0
        folder = path.resolve().parent
        self.around: list[Any] = []
        for depth in range(min(len(within), DEEPEST_PACKAGE)):
            name = ".".join(within[: len(within) - depth])
            if folder.name != within[len(within) - 1 - depth]:
                break
            self.around.append(_Folder(self, folder, name))
            folder = folder.parent
        if self.around and len(self.around) == len(within):
            self.around.append(_Root({within[0]: self.around[-1]}))

    def class_of(self, path: Path) -> Any:
        """Return the class defined in a file, None if there is none that can be read."""
        if self.read >= MOST_FILES or not path.is_file() or path.is_symlink():
            return None
        self.read += 1
        tree = syntax_tree(path)
        for name in tree.within_names:
            tree = tree.classes.get(name)
            if tree is None:
                return None
        return tree.classes.get(path.stem)


class _Folder:
    """A package that is a folder: its classes are the files and folders in it."""

    type = "package"

    def __init__(self, packages: Packages, folder: Path, name: str):
        self.packages, self.folder, self.name = packages, folder, name
        self.classes = self
        self.known: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """Return the class or package of a name in the folder, None if there is none."""
        if name not in self.known:
            self.known[name] = self._find(name) if name.isidentifier() else None
        return self.known[name]

    def _find(self, name: str) -> Any:
        whole = f"{self.name}.{name}"
        inside = f"{whole}.".startswith(EXAMPLES)
        if whole.startswith("Modelica.") and not inside and not EXAMPLES.startswith(f"{whole}."):
            return None  # classes of the library stay what they are
        if (self.folder / name / "package.mo").is_file():
            return _Folder(self.packages, self.folder / name, whole)
        return self.packages.class_of(self.folder / f"{name}.mo")


@dataclass
class _Root:
    """Placeholder for the outermost package, of which only the name is known."""

    classes: dict[str, Any]
    type: str = "package"


EXAMPLES = "Modelica.Mechanics.MultiBody.Examples."
