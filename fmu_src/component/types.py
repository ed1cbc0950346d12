"""Indexed types of a WebAssembly component: every scope (a component, the type of an instance) has
an index space of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kinetree.fmu.component.encoding import name as label
from kinetree.fmu.component.encoding import number, signed, vector
from kinetree.fmu.component.world import fields, split_at_commas

PRIMITIVE = {
    "bool": 0x7F,
    "s8": 0x7E,
    "u8": 0x7D,
    "s16": 0x7C,
    "u16": 0x7B,
    "s32": 0x7A,
    "u32": 0x79,
    "s64": 0x78,
    "u64": 0x77,
    "f32": 0x76,
    "f64": 0x75,
    "string": 0x73,
}
RECORD, TUPLE, LIST, OPTION, RESULT, ENUM, OWN, BORROW = (
    b"\x72",
    b"\x6f",
    b"\x70",
    b"\x6b",
    b"\x6a",
    b"\x6d",
    b"\x69",
    b"\x68",
)
EQUAL, RESOURCE = b"\x00", b"\x01"  # bounds of a type that is imported or exported


class Scope:
    """The types of one scope. `define` writes the definition of the next type; `named` maps names
    to indices.
    """

    def __init__(self, define: Callable[[bytes], None]):
        self.define, self.named = define, dict[str, int]()
        self.made: dict[bytes, int] = {}
        self.count = 0

    def add(self) -> int:
        """Return the index of a new type that is not defined here, such as an imported one."""
        self.count += 1
        return self.count - 1

    def new(self, content: bytes, again: bool = True) -> int:
        """Return the index of a type definition, which is written once; with `again` false it is
        always written anew.
        """
        if again and content in self.made:
            return self.made[content]
        self.define(content)
        index = self.add()
        if again:
            self.made[content] = index
        return index

    def index(self, text: str) -> int:
        """Return the index of a type that needs a definition: a record, an enumeration, or a
        compound type.
        """
        return self.new(self.content(text), again=False)

    def content(self, text: str) -> bytes:
        """Return the encoded definition of a type."""
        word, _, rest = text.partition(" ")
        if word == "record":
            return RECORD + vector(label(key) + self.value(kind) for key, kind in fields(rest))
        if word == "enum":
            return ENUM + vector(label(each) for each in split_at_commas(rest))
        word, _, rest = text.removesuffix(">").partition("<")
        if not rest:
            return bytes([PRIMITIVE[text]])
        if word in ("own", "borrow"):
            return (OWN if word == "own" else BORROW) + number(self.named[rest])
        parts = [self.value(part) for part in split_at_commas(rest)]
        if word == "tuple":
            return TUPLE + vector(parts)
        if word == "result":
            return RESULT + b"".join(b"\x01" + part for part in parts)
        return (LIST if word == "list" else OPTION) + parts[0]

    def value(self, text: str) -> bytes:
        """Return the encoded reference to a type: the code of a primitive, or the index of any
        other type.
        """
        if text in PRIMITIVE:
            return bytes([PRIMITIVE[text]])
        return signed(self.named[text] if text in self.named else self.new(self.content(text)))

    def function(self, text: str) -> int:
        """Return the index of a function type given as `name: type, name: type -> type`."""
        given, _, result = text.rpartition("->")
        listed = vector(label(key) + self.value(kind) for key, kind in fields(given))
        result = result.strip()
        return self.new(
            b"\x40" + listed + (b"\x00" + self.value(result) if result else b"\x01\x00")
        )

    def all_of(self, types: Mapping[str, str]) -> dict[str, int]:
        """Define types in an order in which each follows its parts; return their indices by name."""
        found = {}
        for name, text in types.items():
            found[name] = self.named[name] = self.index(text)
        return found
