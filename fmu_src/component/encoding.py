"""Binary format of WebAssembly: numbers, names, sections; small core modules and the sections of components.

Written after the specifications of WebAssembly 2.0 and of the component model (Binary.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MODULE = b"\0asm\x01\0\0\0"
COMPONENT = b"\0asm\x0d\0\x01\0"
# sections of a component
CORE_MODULE, CORE_INSTANCE, NESTED, INSTANCE, ALIAS, TYPE, CANON, IMPORT, EXPORT = (
    1,
    2,
    4,
    5,
    6,
    7,
    8,
    10,
    11,
)
# kinds of things that are named in components, and of those in core modules
FUNCTION, TYPE_KIND, INSTANCE_KIND = b"\x01", b"\x03", b"\x05"
CORE_FUNCTION, CORE_MEMORY, CORE_INSTANCE_KIND = b"\x00", b"\x02", b"\x12"


def number(value: int) -> bytes:
    """Return an unsigned integer in LEB128 encoding (groups of seven bits, the lowest first)."""
    found = bytearray()
    while True:
        value, low = value >> 7, value & 127
        found.append(low | (128 if value else 0))
        if not value:
            return bytes(found)


def signed(value: int) -> bytes:
    """Return a signed integer in LEB128 encoding (groups of seven bits, the lowest first)."""
    found = bytearray()
    while not -64 <= value < 64:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value & 127])


def sized(content: bytes) -> bytes:
    """Return bytes preceded by their number."""
    return number(len(content)) + content


def name(text: str) -> bytes:
    return sized(text.encode())


def vector(items: Iterable[bytes]) -> bytes:
    """Return encoded items preceded by their number."""
    listed = list(items)
    return number(len(listed)) + b"".join(listed)


def section(kind: int, content: bytes) -> bytes:
    return bytes([kind]) + sized(content)


def external(text: str) -> bytes:
    """Return the encoded name of an import or export of a component."""
    return b"\x00" + name(text)


def functype(parameters: str, results: str = "") -> bytes:
    """Return the type of a core function from one letter per parameter and result: i for i32, d for
    f64.
    """
    codes = {"i": b"\x7f", "d": b"\x7c"}
    return (
        b"\x60"
        + vector(codes[each] for each in parameters)
        + vector(codes[each] for each in results)
    )


def memory_module(pages: int) -> bytes:
    """Return a core module with nothing but a growable memory of `pages` pages of 64 KiB."""
    return (
        MODULE
        + section(5, vector([b"\x00" + number(pages)]))
        + section(7, vector([name("memory") + CORE_MEMORY + number(0)]))
    )


def core_instance(module: int, given: Sequence[tuple[str, int]]) -> bytes:
    """Return the section that instantiates a core module with given instances for its imports."""
    arguments = vector(name(text) + CORE_INSTANCE_KIND + number(k) for text, k in given)
    return section(CORE_INSTANCE, vector([b"\x00" + number(module) + arguments]))


def core_exports(shown: Sequence[tuple[str, bytes, int]]) -> bytes:
    """Return the section that makes a core instance from existing items: name, kind, index."""
    items = vector(name(text) + kind + number(k) for text, kind, k in shown)
    return section(CORE_INSTANCE, vector([b"\x01" + items]))


def core_alias(instance: int, kind: bytes, text: str) -> bytes:
    """Return the section that defines an alias of an export of a core instance."""
    return section(ALIAS, vector([b"\x00" + kind + b"\x01" + number(instance) + name(text)]))


def alias(instance: int, kind: bytes, text: str) -> bytes:
    """Return the section that defines an alias of an export of a component instance."""
    return section(ALIAS, vector([kind + b"\x00" + number(instance) + name(text)]))


def lifted(function: int, memory: int, realloc: int, kind: int) -> bytes:
    """Return the section that lifts a core function to a component function of type `kind`, with
    strings as UTF-8.
    """
    options = vector([b"\x00", b"\x03" + number(memory), b"\x04" + number(realloc)])
    return section(CANON, vector([b"\x00\x00" + number(function) + options + number(kind)]))


def lowered(function: int, memory: int) -> bytes:
    """Return the section that lowers an imported function to one that core modules can call."""
    options = vector([b"\x00", b"\x03" + number(memory)])
    return section(CANON, vector([b"\x01\x00" + number(function) + options]))


def maker_of_handles(resource: int) -> bytes:
    """Return the section with the core function that creates a handle of a resource from an
    integer.
    """
    return section(CANON, vector([b"\x02" + number(resource)]))


def instance_of(component: int, given: Sequence[tuple[str, bytes, int]]) -> bytes:
    """Return the section that instantiates a nested component with arguments (name, kind, index)."""
    arguments = vector(name(text) + kind + number(k) for text, kind, k in given)
    return section(INSTANCE, vector([b"\x00" + number(component) + arguments]))
