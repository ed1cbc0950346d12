"""Tables of several kinds, such as force elements; the validator of a kind is built when its first
table is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache, reduce
from operator import or_
from typing import Annotated, Any

from pydantic import BaseModel, Discriminator, Tag, TypeAdapter
from pydantic_core import PydanticKnownError, core_schema

OTHER = ""  # tag of nothing: a union of one kind would lose the tag, by which errors tell the kind


class OneOf:
    """Annotation of tables of several kinds, equivalent to pydantic's union discriminated by
    `kind_of`.
    """

    def __init__(
        self, tables: Mapping[str, type[BaseModel]], kind_of: Callable[[Any], str | None]
    ) -> None:
        self.tables, self.kind_of = tables, kind_of
        self.reader = lru_cache(maxsize=None)(self.made)

    def made(self, kind: str) -> TypeAdapter[Any]:
        """Return the validator of tables of one kind."""
        return self.union({kind: self.tables[kind], OTHER: None})

    @cached_property
    def all_kinds(self) -> TypeAdapter[Any]:
        """Return the validator of all kinds, from which the JSON Schema is generated."""
        return self.union(self.tables)

    def union(self, tables: Mapping[str, Any]) -> TypeAdapter[Any]:
        made_of: Any = Annotated  # made while running, which type checkers cannot follow
        either: Any = reduce(or_, (made_of[table, Tag(kind)] for kind, table in tables.items()))
        return TypeAdapter(made_of[either, Discriminator(self.kind_of)])

    def read(self, value: Any) -> Any:
        told = {"discriminator": f"{self.kind_of.__name__}()"}
        if (kind := self.kind_of(value)) is None:
            raise PydanticKnownError("union_tag_not_found", told)
        if kind not in self.tables:
            raise PydanticKnownError(
                "union_tag_invalid", told | {"tag": kind, "expected_tags": ", ".join(self.tables)}
            )
        return self.reader(kind).validate_python(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return handler(self.all_kinds.core_schema)
