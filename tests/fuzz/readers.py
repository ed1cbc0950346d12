"""Structure-aware fuzzing of what users and others hand in: descriptions, scenarios, studies, system structures.

Starts from files that ship, changes their trees (values of other types and sizes, keys drawn from the JSON Schema, parts moved, doubled, taken
away), and hands them to the readers. They may refuse with a message of their own; anything else is a finding, which is shrunk and written to a file.
"""

from __future__ import annotations

import copy
import json
import random
import re
import signal
import tempfile
import time
import tomllib
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from cad_assemblies import first_generation, second_generation
from modelica_models import MODELS
from step_parts import write_step

from kinetree.models import ModelError, load
from kinetree.models.description.json_schema import json_schema
from kinetree.models.description.reading.read_source import library_names, read
from kinetree.models.engine.status import EvaluationError
from kinetree.scripts.cosim.scenario import SCENARIOS, scenario_of
from kinetree.scripts.ssp.read import read_ssd
from kinetree.scripts.ssp.structure import MAIN
from kinetree.scripts.studies.study import Study
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.input_files import checked

WORDS = re.compile(r"\w[\w.]*|[^\w\s]")
PATIENCE = 20  # seconds of the processor for one input
SMALL = 30_000  # characters of a library mechanism that is taken
VALUES: list[Any] = [
    *(
        0,
        1,
        -1,
        2.5,
        1e300,
        -1e-300,
        1e308,
        10**30,
        float("nan"),
        float("inf"),
        True,
        None,
        "",
        "t",
        "x",
        "nan",
        "1/0",
        "q + ",
        "(" * 300,
    ),
    *(
        "if(1, 2, 3)",
        "der(x)",
        "ground",
        "ä\u0000",
        "a" * 300,
        [],
        [1],
        [1, 2, 3],
        ["x", 0, 0],
        [[1]],
        {},
        {"value": 1, "unit": "mm"},
    ),
    *(
        {"value": [1, 2, 3], "unit": "deg"},
        {"value": 1, "unit": "furlong"},
        {"copies": 3},
        {"copies": 10**9},
        {"box": [1, 1, 1]},
        "sqrt(-1)",
    ),
    *("table('T', t)", "force('f')", "1e400", "2**99999"),
]
STUDY = {
    "mechanism": "lib:pendulum",
    "combine": "grid",
    "samples": 10,
    "seed": 1,
    "vary": {"m": [1.0, 2.0], "l": {"from": 1, "to": 2, "count": 5}},
    "run": {"stop_time": 1.0, "output_step": 0.1, "inputs": {}},
    "report": {"phi": ["max", "end"], "energy": "span"},
}
SSP = "http://ssp-standard.org/SSP1/SystemStructure"
SSD = f"""<s:SystemStructureDescription xmlns:s="{SSP}Description" xmlns:c="{SSP}Common" xmlns:v="{SSP}ParameterValues" version="1.0" name="n">
<s:System name="root"><s:Elements><s:Component name="a" source="u.fmu">
<s:Connectors><s:Connector name="y" kind="output"><c:Real unit="mm"/></s:Connector></s:Connectors>
<s:ParameterBindings><s:ParameterBinding><s:ParameterValues><v:ParameterSet version="1.0" name="p"><v:Parameters>
<v:Parameter name="w"><v:Real value="2" unit="mm"/></v:Parameter>
</v:Parameters></v:ParameterSet></s:ParameterValues></s:ParameterBinding></s:ParameterBindings></s:Component>
<s:Component name="b" source="u.fmu"><s:Connectors><s:Connector name="u" kind="input"><c:Real unit="m"/></s:Connector></s:Connectors></s:Component>
</s:Elements><s:Connections><s:Connection startElement="a" startConnector="y" endElement="b" endConnector="u">
<c:LinearTransformation factor="2"/></s:Connection></s:Connections></s:System>
<s:Units><c:Unit name="mm"><c:BaseUnit m="1" factor="0.001"/></c:Unit><c:Unit name="m"><c:BaseUnit m="1"/></c:Unit></s:Units>
<s:DefaultExperiment startTime="0" stopTime="1"/></s:SystemStructureDescription>"""


# -- trees ------------------------------------------------------------------------------------------------------------------------------------
def places(tree: Any, path: tuple = ()) -> list[tuple]:
    """Paths of all parts of a tree."""
    parts = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    return [path] + [each for key, part in parts for each in places(part, (*path, key))]


def at(tree: Any, path: tuple) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def changed(tree: Any, keys: list[str], draw: random.Random) -> Any:
    """A copy with one to three random changes."""
    tree = copy.deepcopy(tree)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        found = [path for path in places(tree) if path]
        if not found:
            return tree
        path = draw.choice(found)
        holder, key, way = at(tree, path[:-1]), path[-1], draw.randrange(7)
        if way == 0:
            del holder[key]
        elif way == 1:
            holder[key] = copy.deepcopy(draw.choice(VALUES))
        elif way == 2:
            holder[key] = copy.deepcopy(at(tree, draw.choice(found)))
        elif way == 3 and isinstance(holder, dict):
            holder[draw.choice(keys)] = copy.deepcopy(
                draw.choice(VALUES) if draw.random() < 0.5 else at(tree, draw.choice(found))
            )
        elif way == 4 and isinstance(holder, dict):
            holder[draw.choice((*keys, "Ω", "a.b", "", "x" * 250))] = holder.pop(key)
        elif (
            way == 5 and isinstance(holder[key], (int, float)) and not isinstance(holder[key], bool)
        ):
            holder[key] = draw.choice((-1, 1e12, 0, 1e-12)) * holder[key]
        elif way == 6 and isinstance(holder[key], str) and holder[key]:
            k = draw.randrange(len(holder[key]))
            holder[key] = (
                holder[key][:k]
                + draw.choice("()*/+-.,'\"{}x1 ^t")
                + holder[key][k + draw.randrange(2) :]
            )
        else:
            holder[key] = [copy.deepcopy(holder[key])] * 2
    return tree


def schema_keys(schema: Any) -> list[str]:
    """Every key of the format."""
    found = {
        key for table in (schema, *schema["$defs"].values()) for key in table.get("properties", {})
    }
    return sorted(found)


def shrunk(tree: Any, fails: Callable[[Any], bool]) -> Any:
    """A smaller tree that still fails: parts taken away one after another as long as any can go."""
    again, until = True, time.monotonic() + 60
    while again and time.monotonic() < until:
        again = False
        for path in sorted(
            (path for path in places(tree) if path),
            key=lambda path: (len(path), path[-1] if isinstance(path[-1], int) else 0),
        ):
            smaller = copy.deepcopy(tree)
            try:
                del at(smaller, path[:-1])[path[-1]]
            except (KeyError, IndexError, TypeError):
                continue
            if time.monotonic() < until and fails(smaller):
                tree, again = smaller, True
    return tree


# -- kinds ------------------------------------------------------------------------------------------------------------------------------------
@dataclass
class Kind:
    """Seeds, keys that may be put in, and the reader; `refusals` are what it may raise."""

    seeds: list[Any]
    keys: list[str]
    read: Callable[[Any], Any]
    refusals: tuple[type[BaseException], ...]


def mechanism(tree: Any) -> None:
    load(tree).compile()


def xml_text(tree: Any) -> bytes | None:
    """An XML tree of nested lists [tag, attributes, children, text] as a file; None for what is none any more."""

    def element(node: Any) -> ElementTree.Element:
        made = ElementTree.Element(str(node[0]), {str(k): str(v) for k, v in node[1].items()})
        made.extend([element(child) for child in node[2]])
        made.text = str(node[3]) if len(node) > 3 else None
        return made

    try:
        return ElementTree.tostring(element(tree))
    except (TypeError, IndexError, AttributeError, KeyError, ValueError):
        return None


def assembly(tree: Any) -> None:
    """An assembly of a CAD program, read and compiled."""
    text = xml_text(tree)
    if text is not None:
        read_foreign(text, ".xml")


def read_foreign(content: bytes, suffix: str) -> None:
    """A file of another format, from its bytes to a mechanism."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"fuzz{suffix}"
        path.write_bytes(content)
        load(path).compile()


def modelica(tree: Any) -> None:
    """A Modelica model from its words, read and compiled."""
    if isinstance(tree, list):
        read_foreign(" ".join(map(str, tree)).encode("utf-8", "replace"), ".mo")


def step_part(tree: Any) -> None:
    """A STEP file from its lines, read by gmsh and compiled."""
    if isinstance(tree, list):
        read_foreign("\n".join(map(str, tree)).encode("utf-8", "replace"), ".step")


def step_lines() -> list[str]:
    """The lines of a small STEP file; none where gmsh is not installed."""
    if find_spec("gmsh") is None:
        return []
    with tempfile.TemporaryDirectory() as name:
        write_step(Path(name) / "part.step")
        return (Path(name) / "part.step").read_text().split("\n")


def structure(tree: Any) -> None:
    """A system structure from its XML tree."""
    text = xml_text(tree)
    if text is None:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / MAIN).write_bytes(text)
        (folder / "u.fmu").write_bytes(b"")
        read_ssd(folder, "fuzz.ssp")


def listed(element: ElementTree.Element) -> list[Any]:
    children = [listed(child) for child in element]
    text = (element.text or "").strip()
    return [element.tag, dict(element.attrib), children, *([text] if text else [])]


def kinds() -> dict[str, Kind]:
    schema = json_schema()
    sources = [read(f"lib:{name}")[0] for name in library_names()]
    small = [tree for tree in sources if len(json.dumps(tree)) < SMALL]
    scenarios = [
        tomllib.loads(path.read_text("utf-8")) for path in sorted(SCENARIOS.glob("*.toml"))
    ]
    words = sorted(
        {key for tree in scenarios for path in places(tree) for key in path if isinstance(key, str)}
    )
    study_words = sorted({key for path in places(STUDY) for key in path if isinstance(key, str)})
    return {
        "description": Kind(small, schema_keys(schema), mechanism, (ModelError, EvaluationError)),
        "scenario": Kind(
            scenarios, words, lambda tree: scenario_of(tree, "fuzz.toml"), (BadInput,)
        ),
        "study": Kind(
            [STUDY], study_words, lambda tree: checked(Study, tree, "fuzz.toml"), (BadInput,)
        ),
        "assembly": Kind(
            [
                listed(ElementTree.fromstring(text))
                for text in (second_generation(True), second_generation(False), first_generation())
            ],
            ["uid", "name", "grounded", "entityUid", "geomType", "ref", "length", "mass"],
            assembly,
            (ModelError, EvaluationError),
        ),
        "modelica": Kind(
            [WORDS.findall(text) for text in MODELS],
            ["equation", "connect", "parameter", "Real", "fixed=true", "extends", "n={0,0,0}"],
            modelica,
            (ModelError, EvaluationError),
        ),
        "step": Kind(
            [step_lines()], ["#1=", "CYLINDRICAL_SURFACE"], step_part, (ModelError, EvaluationError)
        ),
        "structure": Kind(
            [listed(ElementTree.fromstring(SSD))],
            ["source", "name", "kind", "unit", "factor", "type"],
            structure,
            (BadInput,),
        ),
    }


# -- runs -------------------------------------------------------------------------------------------------------------------------------------
class Slow(Exception):
    """An input took too long."""


def failure(kind: Kind, tree: Any) -> str:
    """What went wrong and where; empty for what is read or refused as it should be."""
    try:
        kind.read(copy.deepcopy(tree))
    except kind.refusals as refusal:
        text = str(refusal)
        return "" if text.strip() and len(text) < 100_000 else "an empty or endless message"
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {Path(last.filename).name}:{last.name}"
    return ""


def fuzz(
    kind: Kind, draw: random.Random, count: int | None, until: float
) -> tuple[int, dict[str, Any]]:
    """Inputs tried, and one input per finding."""
    tried, found = 0, {}
    while (count is None or tried < count) and time.monotonic() < until:
        tree = changed(draw.choice(kind.seeds), kind.keys, draw)
        tried += 1
        if word := failure(kind, tree):
            found.setdefault(word, tree)
    return tried, found


class Readers:
    """Readers of some kinds, one input each per round."""

    def __init__(self, names: Sequence[str]):
        known = kinds()
        self.kinds = {name: known[name] for name in names}

    def round(self, draw: random.Random, out: Path) -> tuple[dict[str, int], list[str]]:
        """Inputs tried by kind, and the findings, each with its shrunk input in a file."""
        told = list[str]()
        for name, kind in self.kinds.items():
            with patience(PATIENCE):
                _, found = fuzz(kind, draw, 1, time.monotonic() + PATIENCE)
            for word, tree in found.items():
                small = shrunk(tree, lambda each, kind=kind, word=word: failure(kind, each) == word)
                path = numbered(out, name)
                path.write_text(
                    json.dumps({"finding": word, "input": small}, indent=1, ensure_ascii=True)
                )
                told.append(f"{name}: {word}: {path}")
        return dict.fromkeys(self.kinds, 1), told


def numbered(out: Path, name: str) -> Path:
    """A new file for a finding."""
    out.mkdir(parents=True, exist_ok=True)
    return next(path for k in range(1, 10**6) if not (path := out / f"{name}-{k}.json").exists())


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """What takes longer on the processor ends with Slow, where the system has such alarms: on a shared machine the clock tells of the others."""

    def too_slow(*_: object) -> None:
        raise Slow(f"more than {seconds} s of the processor")

    if not hasattr(signal, "ITIMER_PROF"):
        yield
        return
    before = signal.signal(signal.SIGPROF, too_slow)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
