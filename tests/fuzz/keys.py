"""Every key of the format counts: its value is changed in an example that uses it, and the check speaks or something becomes another.

What may become another: the blocks of the unit with its names, values and bounds, and what a scene shows. A key whose changes all leave that as it
is, without a word, is a finding.
"""

from __future__ import annotations

import copy
import json
import random
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from readers import at, numbered

from kinetree.fmu.unit import fmu_unit
from kinetree.fmu.variables import FmuError
from kinetree.models import ModelError, load
from kinetree.models.description.json_schema import json_schema
from kinetree.models.description.reading.source_location import key_path
from kinetree.models.description.reference import EXAMPLES
from kinetree.models.engine.status import EvaluationError
from kinetree.models.scene.make_scenes import start_scene

AXES = ("x", "y", "z", "-x", "-y", "-z")
TOLD = ("text", "name", "format")  # said to people, or the only word there is
NOT_HERE = {  # what its example cannot show
    ("run", "run.merge"): "no body of the base rests on a rigid joint",
    (
        "prepare",
        "run.prepare[0].set.load",
    ): "the rest before is where the search of the next one begins",
    ("run", "run.prepare[0].guess.angle"): "there is one rest, from wherever it is looked for",
    ("prepare", "run.prepare[1].guess.angle"): "there is one rest, from wherever it is looked for",
}
Key = tuple[str | int, ...]


def example(name: str) -> dict[str, Any]:
    """An example of the format together with what it stands on."""
    own, base = (
        tomllib.loads((EXAMPLES / f"{each}.toml").read_text("utf-8")) for each in (name, "base")
    )
    if "format" in own:
        return own
    more = {
        key: {**base.get(key, {}), **value} if isinstance(value, dict) else value
        for key, value in own.items()
    }
    return {**base, **more}


def leaves(tree: Any, path: Key = ()) -> Iterator[Key]:
    """Paths of all values."""
    parts = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else None
    )
    if parts is None:
        yield path
    else:
        for key, part in parts:
            yield from leaves(part, (*path, key))


def key_of(path: Key) -> Key:
    """The key in which a value stands, alone or in a list."""
    while isinstance(path[-1], int):
        path = path[:-1]
    return path


def keys(name: str) -> dict[Key, list[Key]]:
    """The keys of an example, each with the paths of its values."""
    found: dict[Key, list[Key]] = {}
    for path in leaves(tomllib.loads((EXAMPLES / f"{name}.toml").read_text("utf-8"))):
        if key_of(path)[-1] not in TOLD and (name, key_path(key_of(path))) not in NOT_HERE:
            found.setdefault(key_of(path), []).append(path)
    return found


@cache
def words() -> list[list[str]]:
    """Values that are words, as the schema lists them."""

    def lists(node: Any) -> Iterator[list[str]]:
        if isinstance(node, dict):
            if "enum" in node:
                yield node["enum"]
            for part in node.values():
                yield from lists(part)
        elif isinstance(node, list):
            for part in node:
                yield from lists(part)

    return list(lists(json_schema()))


def others(value: Any, tree: dict[str, Any], draw: random.Random) -> list[Any]:
    """Values that may stand in the place of one."""
    if isinstance(value, bool):
        return [not value]
    factor = draw.choice((0.93, 0.97, 1.04, 1.07))
    if isinstance(value, int):
        return [value + 1, value - 1, value * factor if value else 0.013, -0.013]
    if isinstance(value, float):
        return [value * factor if value else 0.013]
    known = [
        [*tree.get(section, ())]
        for section in (
            "bodies",
            "joints",
            "forces",
            "inputs",
            "tables",
            "contacts",
            "hydraulics",
            "actuators",
            "parameters",
        )
    ]
    known[0].append("ground")
    near = [
        each
        for group in (AXES, *words(), *known)
        if value in group
        for each in group
        if each != value
    ]
    return [
        *draw.sample(near, len(near)),
        f"{factor}*({value})",
        f"{factor}*({value}) + 0.013",
        f"0*({value})",
    ]


def meaning(tree: dict[str, Any], scene: bool) -> tuple[Any, ...]:
    """All that is made of a description."""
    mechanism = load(tree)
    if scene:
        return (repr(start_scene(mechanism.compile()).data()),)
    try:
        unit = fmu_unit(mechanism)
    except FmuError:  # what runs in this process only
        compiled = mechanism.compile().compiled
        return compiled.ints.tobytes(), compiled.floats.tobytes(), repr(mechanism.description.run)
    names = (
        unit.columns,
        unit.states,
        unit.parameters,
        unit.inputs,
        unit.stage_names,
        unit.options,
        unit.run,
        mechanism.description.report,
        [stage.phase for stage in mechanism.description.stages],  # rows of tables
    )
    return unit.ints.tobytes(), unit.floats.tobytes(), repr(names)


def counts(name: str, key: Key, paths: list[Key], draw: random.Random) -> bool:
    """Whether some change of the key is refused, warned of, or seen."""
    tree, spoken = example(name), False
    for path in paths:
        for value in others(at(tree, path), tree, draw):
            changed = copy.deepcopy(tree)
            at(changed, path[:-1])[path[-1]] = value
            try:
                if any(meaning(changed, scene) != meant(name, scene) for scene in (False, True)):
                    return True
            except (ModelError, EvaluationError):
                spoken = True
    return spoken or any(
        warning.key.startswith(key_path(key)) for warning in load(tree).description.warnings
    )


@cache
def meant(name: str, scene: bool) -> tuple[Any, ...]:
    """What an example means as it is."""
    return meaning(example(name), scene)


class Keys:
    """One key of one example per round."""

    def __init__(self) -> None:
        self.known = {
            name: keys(name)
            for name in sorted(path.stem for path in EXAMPLES.glob("*.toml"))
            if name != "base"
        }

    def round(self, draw: random.Random, out: Path) -> tuple[dict[str, int], list[str]]:
        name = draw.choice(list(self.known))
        key = draw.choice(list(self.known[name]))
        if counts(name, key, self.known[name][key], draw):
            return {"keys": 1}, []
        path = numbered(out, "key")
        path.write_text(
            json.dumps({"finding": f"{key_path(key)} changes nothing", "example": name}, indent=1)
        )
        return {"keys": 1}, [
            f"key: {key_path(key)} of the example '{name}' changes nothing: {path}"
        ]
