"""Generator of the format's reference pages; `python -m` this module renews docs/format*."""

from __future__ import annotations

import re
import types
from collections.abc import Iterable
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from kinetree.models.description import schema
from kinetree.models.description.output_parts import Output
from kinetree.models.description.reading import copies, read_source
from kinetree.models.expressions.function_help import MEANINGS, NAMES
from kinetree.models.forces.kinds import KINDS
from kinetree.models.forces.kinds.bushing import Six
from kinetree.models.forces.kinds.guide import Helix
from kinetree.models.forces.kinds.rope import Drum, Sheave
from kinetree.models.forces.kinds.wheel import Shear
from kinetree.models.forces.locked_cylinder import ShutOil
from kinetree.models.forces.outlines import Opposite, Outline
from kinetree.models.forces.soil_schema import Soil, Track
from kinetree.models.hydraulics.kinds import KINDS as HYDRAULICS
from kinetree.models.joints.kinds import KINDS as JOINTS
from kinetree.models.language import numbers_and_expressions
from kinetree.models.language.parts import value_parts
from kinetree.models.language.parts.base_table import Named, Point
from kinetree.models.language.parts.beam_parts import Beam, Section
from kinetree.models.language.parts.chain_parts import Chain, Couplings, Support
from kinetree.models.language.parts.contact_parts import Sphere
from kinetree.models.language.parts.controller_parts import CONTROLLERS, Rows
from kinetree.models.language.parts.coupling_parts import Blade, Rolling
from kinetree.models.language.parts.input_motion_parts import Following
from kinetree.models.language.parts.material_parts import Material
from kinetree.models.language.parts.observer_parts import (
    EstimatedForce,
    EstimatedNumber,
    Observer,
    Reading,
)
from kinetree.models.language.parts.predictive_parts import (
    LimitedValue,
    PlannedCommand,
    TrackedValue,
)
from kinetree.models.language.parts.report_parts import Report, ReportPlot, ReportTable, Texts

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = Path(__file__).parents[1] / "schema" / "examples"
WORDS = {
    numbers_and_expressions.Number: "number",
    numbers_and_expressions.TimeNumber: "number of t",
    numbers_and_expressions.InputNumber: "number of t and inputs",
    numbers_and_expressions.Law: "law",
    numbers_and_expressions.GroundNumber: "number of the place",
    numbers_and_expressions.Vector: "3 numbers",
    numbers_and_expressions.LawVector: "3 laws",
    numbers_and_expressions.Tensor: "6 numbers",
    numbers_and_expressions.Axis: "axis",
    numbers_and_expressions.Axes: "axis or two",
    schema.Numbers: "numbers",
    schema.Values: "numbers",
    Couplings: "numbers or rows",
    Texts: "text or texts",
    Rows: "rows of numbers",
    Six: "6 numbers",
    tuple[Six, Six, Six, Six, Six, Six]: "6 rows of 6 numbers",
    str: "text",
    bool: "true/false",
    int: "whole number",
    Any: "anything",
}
TABLES: dict[str, type[BaseModel]] = {
    "[parameters]": value_parts.Parameter,
    "[materials.NAME]": Material,
    "[bodies.NAME]": schema.Body,
    "shape, shapes, scenery": schema.Shape,
    "[beams.NAME]": Beam,
    "section": Section,
    "[joints.NAME]": schema.JointSpec,
    "transforms": schema.Transform,
    "follow": Following,
    "[couplings.NAME]": schema.Coupling,
    "blade": Blade,
    "rolling": Rolling,
    "[contacts.NAME]": schema.Contact,
    "[contacts.NAME.against]": Sphere,
    "[inputs]": value_parts.Input,
    "[outputs]": Output,
    "[states.NAME]": value_parts.State,
    "[tables.NAME]": schema.Table,
    "[actuators.NAME]": schema.Actuator,
    "chambers": schema.Chambers,
    "[[stages]]": schema.Stage,
    "ends": schema.Ends,
    "[run]": schema.Run,
    "tolerances": schema.Tolerances,
    "prepare": schema.Preparation,
    "[events.NAME]": schema.Event,
    "[report]": Report,
    "[report.tables.NAME]": ReportTable,
    "[report.plots.NAME]": ReportPlot,
    "[chain]": Chain,
    "[chain.supports.NAME]": Support,
    "point, as in between": Point,
    "[forces.NAME.shape]": Outline,
    "[forces.NAME.against]": Opposite,
    "soil": Soil,
    "track": Track,
    "oil": ShutOil,
    "shear": Shear,
    "over": Sheave,
    "drum": Drum,
    "helix": Helix,
    "planned command": PlannedCommand,
    "tracked value": TrackedValue,
    "limited value": LimitedValue,
    "[observers.NAME]": Observer,
    "reading": Reading,
    "estimated number": EstimatedNumber,
    "estimated force": EstimatedForce,
}
TOUCHING = ("contact", "tyre", "wheel", "jack", "guide", "rail")  # forces on a page of their own
CHAPTERS: dict[
    str, tuple[str, str, tuple[str, ...]]
] = {  # by file: title, what is read there, tables
    "file": (
        "The whole file, parameters, inputs, outputs",
        "what a description consists of, and its numbers, signals and tables",
        ("[parameters]", "[inputs]", "[outputs]", "[states.NAME]", "[tables.NAME]"),
    ),
    "bodies": (
        "Bodies, materials and beams",
        "mass, shape and flexibility of bodies",
        ("[bodies.NAME]", "shape, shapes, scenery", "[materials.NAME]", "[beams.NAME]", "section"),
    ),
    "joints": (
        "Joints and couplings",
        "how bodies move against each other, and relations between their motions",
        ("[joints.NAME]", "transforms", "follow", "[couplings.NAME]", "blade", "rolling"),
    ),
    "forces": (
        "Forces along lines and coordinates",
        "springs, dampers, drives, ropes, gears, and what holds or pushes",
        ("over", "drum", "point, as in between"),
    ),
    "touching": (
        "Forces of what touches",
        "soft contacts, tyres, wheels, jacks, rails and guides",
        ("[forces.NAME.shape]", "[forces.NAME.against]", "soil", "track", "oil", "shear", "helix"),
    ),
    "contacts": (
        "Rigid contacts",
        "contacts with impacts, rest and dry friction",
        ("[contacts.NAME]", "[contacts.NAME.against]"),
    ),
    "hydraulics": (
        "Actuators and hydraulic circuits",
        "drives from outside the mechanism, and oil inside it",
        ("[actuators.NAME]", "chambers"),
    ),
    "controllers": (
        "Controllers and observers",
        "laws and estimators inside the mechanism",
        (
            *("planned command", "tracked value", "limited value", "[observers.NAME]"),
            *("reading", "estimated number", "estimated force"),
        ),
    ),
    "run": (
        "Run, stages, events, reports",
        "runs: duration and accuracy, stages and events, reports",
        (
            *("[run]", "tolerances", "prepare", "[[stages]]", "ends", "[events.NAME]"),
            *("[report]", "[report.tables.NAME]", "[report.plots.NAME]"),
        ),
    ),
    "chain": (
        "Linear chains",
        "linear chains of masses and springs",
        ("[chain]", "[chain.supports.NAME]"),
    ),
}
OVERVIEWS: dict[str, tuple[str, str, tuple[str, ...]]] = {  # sections that list kinds, by file
    "joints": ("Types of joints", "The types, what they move and their names.", tuple(JOINTS)),
    "forces": ("`[forces.NAME]`", "The kinds of forces and their laws.", tuple(KINDS)),
    "hydraulics": ("`[hydraulics.NAME]`", "A circuit and its kinds of parts.", tuple(HYDRAULICS)),
    "controllers": ("`[controllers.NAME]`", "The kinds of controllers.", tuple(CONTROLLERS)),
}
OPENING = f"""# The description file, key by key

A mechanism is described by a TOML file, a JSON file, or a Python dict of the same structure. Quantities are in SI units, frames are
right-handed, and `ground` is body 0. These pages are generated from the model that checks the files; `models/schema/kinetree-1.schema.json`
holds the same information for editors.

Types used in the column "value":

* *number*: a number, or an expression over parameters written as text;
* *number of t*: the expression may also contain the time `t`;
* *number of t and inputs*: the expression may also contain the time and inputs;
* *number of the place*: the expression may contain parameters, `t`, inputs, first-order states, and the position of the contact point
  (`ground.x`, `ground.y`, `ground.z`);
* *law*: the expression may also contain coordinates, speeds `der(NAME)`, first-order states, inputs and outputs; in outputs, states and stages
  also accelerations `der(der(NAME))`, `force('NAME')` and `reaction('JOINT')`;
* *axis*: `"x"`, `"-z"`, ..., or three numbers.

Every number may be given with a unit, as in `mass = {{ value = 2, unit = "t" }}` or `point = {{ value = [800, 0, 20], unit = "mm" }}`. It is
converted to SI when the file is read; a unit of the wrong dimension is an error. The same holds for values, bounds and start values of parameters,
inputs and states that have a `unit`. Expressions are computed in SI. If all names in an expression have units, terms of different dimension may not
be added. A literal factor keeps the dimension (`load/2` is a mass, as `load` is), unless a usual quantity may hide in it, such as a stiffness or a
time. The `unit` of a parameter, input, state or output is also the unit in which it is displayed: in tables, in plots and, as `displayUnit`, in FMI
hosts. Results, FMU variables and overrides (`--set`, keyword arguments) are in SI.

Every table with a name may contain `text` and `copies`. `copies = N` makes N copies of the table. In names and texts, `{{i}}` is replaced by the
number of the copy, counted from 1; arithmetic such as `{{i-1}}`, `{{2*i}}`, `{{i//2}}` is allowed. N may be an expression over parameters.

Size limits protect programs that read files from others: {read_source.LARGEST_FILE[".toml"] // 10**6} MB of TOML or
{read_source.LARGEST_FILE[".json"] // 10**6} MB of JSON; {read_source.DEEPEST} levels of tables and lists; {copies.MOST_NODES:,} values and
{copies.MOST_CHARACTERS:,} characters after all copies are made; {copies.MOST_COPIES:,} copies of one table;
{numbers_and_expressions.LONGEST_EXPRESSION:,} characters in a text. Expressions are parsed, never executed as Python.
"""


class Entry(NamedTuple):
    """A section of the reference: its title, its schema table, the name of its example."""

    title: str
    model: type[BaseModel]
    shown: str


def entries() -> dict[str, list[Entry]]:
    """Return the sections of every reference page by file name."""
    found = {
        file: [Entry(f"`{title}`", TABLES[title], slug(title)) for title in titles]
        for file, (_, _, titles) in CHAPTERS.items()
    }
    found["file"].insert(0, Entry("At the top level", schema.Description, "description"))
    kinds: list[tuple[str, str, str, Any]] = [
        ("touching" if name in TOUCHING else "forces", "force", name, kind.table)
        for name, kind in KINDS.items()
    ]
    kinds += [("hydraulics", "hydraulics", name, kind.table) for name, kind in HYDRAULICS.items()]
    kinds += [("controllers", "controllers", name, model) for name, model in CONTROLLERS.items()]
    for file, room, name, model in kinds:
        found[file].append(Entry(f'`kind = "{name}"`', model, slug(room, name)))
    return found


def anchor(title: str) -> str:
    """Return the anchor of a heading on the site."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())


def reference_pages() -> dict[str, str]:
    """Return the pages as Markdown by their names below docs/: the index, and one per chapter."""
    sections = entries()
    pages = {"format.md": "\n".join([OPENING, index(sections), words()])}
    for file, (title, about, _) in CHAPTERS.items():
        opening = (
            f"# {title}\n\nAfter this page you know every key of {about}. All tables with a filter, and "
            'the types in the column "value": [the description file](../format.md).\n'
        )
        parts = [section(each.title, each.model, each.shown) for each in sections[file]]
        pages[f"format/{file}.md"] = "\n".join([opening, *before(file), *parts])
    return pages


def before(file: str) -> list[str]:
    """Return the lines with which a page begins: tables of kinds."""
    if file == "joints":
        return [joint_table()]
    if file in ("forces", "touching"):
        names = [name for name in KINDS if (name in TOUCHING) == (file == "touching")]
        return [
            "## `[forces.NAME]`\n\nThe keys of the table determine its kind; give `kind` where they fit several kinds.\n",
            force_table(names),
        ]
    if file == "hydraulics":
        text = "A hydraulic circuit: nodes with a pressure, and components with a flow between them. [Hydraulics](../hydraulics.md) shows an example."
        return [f"## `[hydraulics.NAME]`\n\n{text}\n"]
    if file == "controllers":
        text = "Control laws inside the mechanism, continuous or sampled ([example](../laboratory.md)). All have the keys of `sensor`."
        return [f"## `[controllers.NAME]`\n\n{text}\n"]
    return []


def index(sections: dict[str, list[Entry]]) -> str:
    """Return the overview of all tables with their keys; the site puts a filter above it."""
    lines = [
        "## All tables",
        "",
        "On the site, text typed into the field above this list hides all rows that do not contain it. `kinetree explain KEY` finds keys, too.",
        "",
        '<div class="filtered" markdown>',
        "",
        "| table | what it is | keys |",
        "|---|---|---|",
    ]
    taken: set[str] = set()
    for file, found in sections.items():
        here: set[str] = set()
        if file in OVERVIEWS:
            title, told, kinds = OVERVIEWS[file]
            goal = anchor(title)
            names = " ".join(f"`{name}`" for name in kinds)
            place = f'<span id="{goal}"></span>[{title}](format/{file}.md#{goal})'
            lines.append(f"| {place} | {told} | {names} |")
        for title, model, _ in found:
            goal, old = anchor(title), anchor(title)
            while goal in here:
                goal += "_1"
            while old in taken:
                old += "_1"
            here.add(goal)
            taken.add(old)
            common = Named.model_fields if issubclass(model, Named) else {}
            keys = [f"`{key}`" for key in model.model_fields if key not in common and key != "kind"]
            told = cleandoc(str(model.__doc__)).split("\n\n")[0].replace("\n", " ")
            place = f'<span id="{old}"></span>[{title}](format/{file}.md#{goal})'
            lines.append(f"| {place} | {plain(told, '*|')} | {' '.join(keys)} |")
    return "\n".join([*lines, "", "</div>", ""])


def joint_table() -> str:
    """Return the table of all typed joints: their motion, coordinates and speeds."""
    lines = [
        "## Types of joints",
        "",
        "Names are JOINT.suffix unless `coordinates` names them.",
        "",
    ]
    lines += ["| type | what moves | coordinates | speeds | axes |", "|---|---|---|---|---|"]
    for name, kind in JOINTS.items():
        own = ", ".join(f"`{suffix}`" for suffix in kind.coordinates)
        speeds = (
            ", ".join(f"`{suffix}`" for suffix in kind.speeds)
            if kind.speeds
            else "their derivatives"
            if own
            else ""
        )
        lines.append(
            f"| `{name}` | {plain(kind.says, '*|')} | {own} | {speeds} | {len(kind.axes) or ''} |"
        )
    return "\n".join(lines) + "\n"


def force_table(names: Iterable[str]) -> str:
    """Return a table with one line per kind of force element: its law and its names for
    expressions.
    """
    lines = ["| kind | law | names |", "|---|---|---|"]
    for name, kind in ((name, KINDS[name]) for name in names):
        offered = ", ".join(f"`NAME.{suffix}`" for suffix in kind.measures)
        lines.append(f"| `{name}` | {plain(kind.says, '*|')} | {offered} |")
    return "\n".join(lines) + "\n"


def slug(*words: str) -> str:
    """Return the name of a table's example: the first word of its title, then the kind."""
    text = "_".join(words).replace(".NAME", "").strip("[]`").split(",")[0]
    return re.sub(r"\W+", "_", text).strip("_")


def example(name: str) -> str:
    """Return the example file that shows every key of a table."""
    return f"```toml\n{(EXAMPLES / f'{name}.toml').read_text(encoding='utf-8')}```\n"


def words() -> str:
    """Return the section on functions, constants and names of expressions."""
    lines = [
        "## Expressions",
        "",
        "Operators: `+ - * / % **`, `< <= > >= == !=`, `and or not`, brackets. Numbers as `1e-3` or `100_000`.",
        "",
    ]
    lines += ["| word | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {plain(text, '*|')} |" for name, text in (MEANINGS | NAMES).items()]
    block = "force = \"if(t > 1 and travel < 0.5, 2*k*travel, table('push', t)) - c*der(travel)*abs(der(travel)) + 10*sin(2*pi*t)\""
    return "\n".join([*lines, "", f"```toml\n{block}\n```", ""])


def section(title: str, model: type[BaseModel], shown: str) -> str:
    """Return the section of a table: heading, description, keys and example."""
    hints = get_type_hints(model, include_extras=True)
    lines = [
        f"## {title}",
        "",
        cleandoc(str(model.__doc__)),
        "",
        "| key | value | default | meaning |",
        "|---|---|---|---|",
    ]
    common = Named.model_fields if issubclass(model, Named) else {}
    for name, field in model.model_fields.items():
        if name not in common and name != "kind":
            lines.append(
                f"| `{name}` | {word(hints[name])} | {default(field)} | {plain(field.description or '', '*|')} |"
            )
    return "\n".join(lines) + f"\n\n{example(shown)}"


def plain(text: str, signs: str) -> str:
    """Return text with Markdown's special characters escaped, except inside backquotes."""
    parts = text.split("`")
    parts[::2] = [re.sub(f"([{re.escape(signs)}])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def word(annotation: Any) -> str:
    """Return the name of a type for readers of the reference."""
    for known, name in WORDS.items():
        if annotation == known:
            return name
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return word(arguments[0])
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in arguments)
    if origin in (Union, types.UnionType):
        names = dict.fromkeys(
            word(argument) for argument in arguments if argument is not type(None)
        )
        return " or ".join(names) if len(names) < 4 else "table"
    if origin is tuple:
        names = dict.fromkeys(word(argument) for argument in arguments if argument is not Ellipsis)
        plural = ", ".join(name if name.endswith("s") else f"{name}s" for name in names)
        return f"list of {plural}" if Ellipsis in arguments else f"{len(arguments)} {plural}"
    return "tables" if origin is dict and arguments[1] is not Any else "table"


def default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is None or field.default_factory is not None or value in ((), ""):
        return ""
    if isinstance(value, tuple):
        return (
            "[" + ", ".join(each if isinstance(each, str) else f"{each:g}" for each in value) + "]"
        )
    return (
        f"{value:g}"
        if isinstance(value, float)
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )


if __name__ == "__main__":
    (DOCS / "format").mkdir(exist_ok=True)
    for name, page in reference_pages().items():
        (DOCS / name).write_text(page, encoding="utf-8")
