"""Reading a description from a file, a dict or the library into plain dicts and lists of bounded size."""

from __future__ import annotations

import importlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kinetree.models.description.reading.copies import MOST_CHARACTERS, MOST_NODES
from kinetree.models.description.reading.source_location import Origin
from kinetree.models.language.errors import ModelError, Problem, shown, suggestion
from kinetree.models.language.numbers_and_expressions import LONGEST_EXPRESSION
from kinetree.models.language.plain_files import fault_of

LIBRARY = Path(__file__).parent.parent.parent / "library"
LARGEST_FILE = {".toml": 8_000_000, ".json": 64_000_000}  # bytes
LARGEST_ROBOT = 64_000_000  # bytes of a file in a format of others
DEEPEST = 12  # tables and lists inside one another
# a key of so many parts costs the TOML parser quadratic time
ENDLESS_KEY = re.compile(
    r"""(?:\.[ \t]*(?:[\w-]{1,200}|"[^"\n]{0,200}"|'[^'\n]{0,200}')[ \t]*){30}"""
)
UNQUOTED = re.compile(r"""\s*(?:\[[\w.\[ ]*|[\w.]*)\{""")

XML = {  # readers of .xml files by what stands near their beginning; MJCF otherwise
    b"<robot": "urdf",
    b"SimscapeMultibodyImportXML": "simscape",
    b"<PhysicalModelingXMLFile": "simmechanics",
    b"<SimMechanics": "simmechanics",
}
FOREIGN = {
    ".urdf": ("urdf", "URDF"),
    ".xacro": ("xacro_robot", "URDF with xacro's macros"),
    ".xml": ("mjcf", "MJCF, URDF or Simscape Multibody XML"),
    ".mjcf": ("mjcf", "MJCF"),
    ".mo": ("modelica", "Modelica"),
    ".step": ("step", "STEP"),
    ".stp": ("step", "STEP"),
}


@dataclass(frozen=True)
class Text:
    """A description given as text, treated as the file `name` (.toml or .json) in messages and for
    relative paths.
    """

    text: str
    name: str


Source = str | os.PathLike[str] | Mapping[str, Any] | Text
Generator = Callable[..., dict[str, Any]]


def read(source: Source) -> tuple[dict[str, Any], Origin]:
    """Return the raw description and where it came from; a library generator runs with its
    defaults.
    """
    if isinstance(source, Mapping):
        return plain(source, ""), Origin()
    if isinstance(source, Text):
        return read_text(source.text, Path(source.name).suffix.lower(), source.name)
    if isinstance(source, str) and source.startswith("lib:"):
        entry = library_entry(source)
        return (
            read_file(entry, source)
            if isinstance(entry, Path)
            else (plain(entry(), source), Origin(source))
        )
    if is_foreign(source):
        raw, left_out = foreign_reader(source)()
        return plain(raw, os.fspath(source)[:200]), Origin(
            os.fspath(source)[:200], left_out=tuple(left_out)
        )
    if not isinstance(source, (str, os.PathLike)):
        raise ModelError(
            Problem(key="", found=shown(source), expected='a file, a dict, or "lib:NAME"')
        )
    return read_file(Path(source), os.fspath(source)[:200])


def is_foreign(source: Source) -> bool:
    """Return whether a file has a foreign format, such as URDF, MJCF or STEP assemblies."""
    return isinstance(source, (str, os.PathLike)) and Path(source).suffix.lower() in FOREIGN


def foreign_reader(source: Source) -> Callable[..., tuple[dict[str, Any], list[str]]]:
    """Return the function that reads a foreign file and returns the description and what was left
    out.
    """
    path = Path(os.fspath(source))  # pyright: ignore[reportArgumentType, reportCallIssue]
    module, kind = FOREIGN[path.suffix.lower()]
    if not path.is_file():
        raise ModelError(
            Problem(
                key="",
                file=os.fspath(path)[:200],
                found="no file of that name",
                expected=f"a file in {kind}",
            )
        )
    if path.suffix.lower() == ".xml":
        with path.open("rb") as file:
            begin = file.read(4000)
        module = next((each for sign, each in XML.items() if sign in begin), module)
    if fault := fault_of(path, LARGEST_ROBOT):
        raise ModelError(Problem(key="", file=os.fspath(path)[:200], found=fault))
    if (
        path.suffix.lower() == ".xml"
        and "<robot" in path.read_text("utf-8", errors="replace")[:4000]
    ):
        module = FOREIGN[".urdf"][0]
    reader = importlib.import_module(f"kinetree.models.foreign.{module}").describe
    return partial(reader, path)


def library_names() -> list[str]:
    """Return the names of all library mechanisms: files of the format, and modules with a generator
    `describe`.
    """
    entries = (
        path
        for path in LIBRARY.iterdir()
        if path.suffix == ".toml"
        or (path.suffix == ".py" and "\ndef describe(" in path.read_text("utf-8"))
    )
    return sorted(path.stem.replace("_", "-") for path in entries)


def library_entry(source: str) -> Path | Generator:
    """Return the file of a library mechanism, or the function that generates its description."""
    name = source.removeprefix("lib:")
    if name.replace("_", "-") not in library_names():
        raise ModelError(
            Problem(
                key="",
                found=shown(source),
                expected="the name of a library mechanism",
                hint=suggestion(name, library_names()),
            )
        )
    for stem in (name, name.replace("-", "_"), name.replace("_", "-")):
        if (path := LIBRARY / f"{stem}.toml").exists():
            return path
    return importlib.import_module(f"kinetree.models.library.{name.replace('-', '_')}").describe


def read_file(path: Path, name: str) -> tuple[dict[str, Any], Origin]:
    def refuse(found: str, expected: str = "", **more: Any) -> ModelError:
        return ModelError(Problem(key="", file=name, found=found, expected=expected, **more))

    suffix = path.suffix.lower()
    there = [each for each in LARGEST_FILE if not suffix and os.path.isfile(f"{path}{each}")]
    if there:
        raise refuse("a name without ending", hint=f"did you mean {name}{there[0]}?")
    if suffix not in LARGEST_FILE:
        raise refuse(
            f"a file ending in '{suffix[:20]}'",
            "a .toml or .json file, a robot in .urdf, .xacro or .xml, a part in .step",
            hint='mechanisms of the library are named "lib:NAME"',
        )
    try:
        if fault := fault_of(path, LARGEST_FILE[suffix]):
            found, _, expected = fault.partition(", expected ")
            raise refuse(found, expected or "a file that has an end")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refuse(
            "bytes that are not UTF-8", "text in UTF-8", hint=f"first one at byte {error.start}"
        ) from None
    except FileNotFoundError:
        raise ModelError(Problem(key="", file=name, hint=not_found(path))) from None
    except (OSError, ValueError) as error:
        raise refuse(
            getattr(error, "strerror", None) or "a name that cannot be a file",
            "a file that can be read",
        ) from None
    return read_text(text, suffix, name)


def not_found(path: Path) -> str:
    """Return a message that a file does not exist, with a similarly named file of its folder."""
    if not path.parent.is_dir():
        return f"file not found: there is no folder {path.parent}"
    there = [each.name for each in path.parent.iterdir() if each.suffix.lower() in LARGEST_FILE]
    near = suggestion(path.name, there)
    return f"file not found; {near}" if near else "file not found"


def read_text(text: str, suffix: str, name: str) -> tuple[dict[str, Any], Origin]:
    """Return the raw description from text in TOML or JSON, and its origin."""

    def refuse(found: str, expected: str = "") -> ModelError:
        return ModelError(Problem(key="", file=name, found=found, expected=expected))

    try:
        return plain(parse_toml(text) if suffix == ".toml" else parse_json(text), name), Origin(
            name, text if suffix == ".toml" else ""
        )
    except RecursionError:
        raise refuse("tables or lists nested too deeply", f"at most {DEEPEST} levels") from None
    except ValueError as error:  # both parsers derive their errors from it
        place = re.search(r"line (\d+),? column (\d+)", str(error))
        hint = re.sub(r"\s*[:(]?\s*\(?(?:at )?line \d+,? column \d+.*$", "", str(error))[:200]
        line, column = (int(place[1]), int(place[2])) if place else (None, None)
        if line is not None and UNQUOTED.match(text.split("\n")[line - 1]):
            hint = 'a name with {i} stands in quotes, as in [bodies."module{i}"]'
        raise ModelError(
            Problem(
                key="",
                file=name,
                line=line,
                column=column,
                found=f"text that is not {suffix[1:].upper()}",
                hint=hint,
            )
        ) from None


def parse_toml(text: str) -> dict[str, Any]:
    if ENDLESS_KEY.search(text):
        raise ValueError("a key with more than 30 parts")
    return tomllib.loads(text)


def parse_json(text: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) < len(pairs):
            keys = [key for key, _ in pairs]
            raise ValueError(
                f"the key {shown(next(key for key in keys if keys.count(key) > 1))} twice in one table"
            )
        return table

    return json.loads(text, object_pairs_hook=unique)


def plain(source: object, file: str) -> dict[str, Any]:
    """Return a copy of dicts, lists and scalars; raises ModelError for structures that are too
    deep, too large or of other types.
    """
    nodes = characters = 0

    def refuse(path: str, found: str, expected: str) -> ModelError:
        return ModelError(Problem(key=path, file=file, found=found, expected=expected))

    def copy(value: Any, depth: int, path: str) -> Any:
        nonlocal nodes, characters
        nodes += 1
        if nodes > MOST_NODES or characters > MOST_CHARACTERS:
            raise refuse(
                "",
                "a description that is too large",
                f"at most {MOST_NODES} values and {MOST_CHARACTERS} characters",
            )
        if depth > DEEPEST:
            raise refuse(path, "tables or lists nested too deeply", f"at most {DEEPEST} levels")
        if isinstance(value, str):
            characters += len(value)
            if len(value) > LONGEST_EXPRESSION:
                raise refuse(
                    path, f"a text of {len(value)} characters", f"at most {LONGEST_EXPRESSION}"
                )
            return str(value)
        if isinstance(value, Mapping):
            table = {}
            for key, inner in value.items():
                if not isinstance(key, str) or len(key) > 200:
                    raise refuse(
                        path, f"the key {shown(key)}", "text of at most 200 characters as a key"
                    )
                table[key] = copy(
                    inner, depth + 1, f"{path}.{key}" if depth < 2 and path else path or key
                )
            return table
        if isinstance(value, (list, tuple)):
            return [copy(inner, depth + 1, path) for inner in value]
        if hasattr(value, "tolist"):
            return copy(value.tolist(), depth, path)
        return value

    if not isinstance(source, Mapping):
        raise refuse("", shown(source), "a table of tables")
    return copy(source, 0, "")
