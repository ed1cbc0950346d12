"""The examples of the format: each is a mechanism together with the base, and every key of every table stands in one."""

import re
import tomllib
from typing import Any

import pytest

from kinetree.models import load
from kinetree.models.description.reference import EXAMPLES, TABLES, slug
from kinetree.models.description.schema import Description
from kinetree.models.expressions.function_help import MEANINGS
from kinetree.models.expressions.functions import RESERVED
from kinetree.models.forces.force_schema import ForceTable
from kinetree.models.forces.kinds import KINDS
from kinetree.models.hydraulics.kinds import KINDS as HYDRAULICS
from kinetree.models.language.parts.base_table import Named
from kinetree.models.language.parts.controller_parts import CONTROLLERS

TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.toml"))}
WHOLE = [
    name for name, text in TEXTS.items() if text.startswith("format") or name == "base"
]  # mechanisms by themselves
SHOWN: dict[str, type] = {
    "description": Description,
    **{slug(title): model for title, model in TABLES.items()},
    **{slug("force", name): kind.table for name, kind in KINDS.items()},
    **{slug("hydraulics", name): kind.table for name, kind in HYDRAULICS.items()},
    **{slug("controllers", name): model for name, model in CONTROLLERS.items()},
}


def together(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Tables of both; where both have a name the second has it."""
    found = dict(base)
    for key, value in more.items():
        found[key] = (
            {**base[key], **value}
            if isinstance(value, dict) and isinstance(base.get(key), dict)
            else value
        )
    return found


@pytest.mark.parametrize("name", TEXTS)
def test_every_format_example_is_a_mechanism(name: str):
    content = tomllib.loads(TEXTS[name])
    whole = content if name in WHOLE else together(tomllib.loads(TEXTS["base"]), content)
    mechanism = load(whole)
    if "chain" in whole:
        assert mechanism.chain().n > 1
    else:
        assert mechanism.compile().n > 0


@pytest.mark.parametrize("name", SHOWN)
def test_every_key_has_an_example(name: str):
    """Keys that all controllers or forces share stand in one of them; a key that is missing goes into models/schema/examples/NAME.toml."""
    text = (
        "".join(TEXTS[each] for each in TEXTS if each.startswith("controllers"))
        if name.startswith("controllers")
        else TEXTS.get(name, "")
    )
    model: Any = SHOWN[name]
    common = set(Named.model_fields) if issubclass(model, Named) else set()
    if issubclass(model, ForceTable) and name != "force_coordinate":
        common = common | set(ForceTable.model_fields)
    keys = {field.alias or key for key, field in model.model_fields.items()} - common - {"kind"}
    missing = [key for key in sorted(keys) if not re.search(rf"(?<![\w]){key}\b", text)]
    assert not missing, f"models/schema/examples/{name}.toml: no {', '.join(missing)}"


def test_every_example_has_its_table():
    assert set(TEXTS) == set(SHOWN) | {"base"}


def test_every_function_and_constant_is_explained():
    assert set(MEANINGS) == RESERVED
