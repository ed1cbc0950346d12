"""Puts the loader before pythonfmu's library in an archive, so that hosts without Python can load it."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree.ElementTree import fromstring

from kinetree.fmu.native.shell import HERE as NATIVE
from kinetree.fmu.native.shell import fmi_headers
from kinetree.solvers.library.platforms import PLATFORMS, Platform, this_platform
from kinetree.solvers.library.store import library_folder, place, sound, written
from kinetree.solvers.library.tools import LibraryError, compiler, cross_compiler, run

HERE = Path(__file__).parent
SOURCES = (HERE / "loader.c", HERE / "interpreter.c", NATIVE / "location.c")
HEADERS = (HERE / "loader.h", NATIVE / "location.h")


def loader(target: Platform) -> Path:
    """The loader for a platform; built when it is not there yet."""
    path = loader_path(target)
    if not sound(path):
        tool = compiler() if target == this_platform() else cross_compiler(target.zig)
        windows = target.system == "Windows"
        with written(library_folder() / path.name) as draft:
            exports = draft.parent / "exports.map"
            exports.write_text("{ global: fmi2*; local: *; };\n")
            link = ["-ladvapi32"] if windows else ["-fPIC", "-Wl,-z,defs", "-Wl,-Bsymbolic", f"-Wl,--version-script={exports}", "-ldl"]
            includes = [f"-I{HERE}", f"-I{NATIVE}", f"-I{fmi_headers()}"]
            run(
                [*tool, "-std=c11", "-O2", "-Wall", "-Wno-format-nonliteral", "-shared", "-s", *includes, *map(str, SOURCES), *link, "-o", str(draft)]
            )
    return loader_path(target)


def usable() -> list[Platform]:
    """Platforms for which a program's archive gets the loader: this machine's, and others for which it has been built already."""
    own = this_platform()
    others = [each for each in PLATFORMS.values() if each != own and sound(loader_path(each))]
    return [*([own] if own else []), *others]


def loader_path(target: Platform) -> Path:
    content = hashlib.sha256(b"".join(path.read_bytes() for path in (*SOURCES, *HEADERS))).hexdigest()[:16]
    return place(f"loader-{content}-{target.name}{target.extension}")


def with_loaders(entries: Mapping[str, bytes], targets: Iterable[Platform]) -> dict[str, bytes]:
    """The archive's entries with the loader under the name of the binary, and pythonfmu's library among the resources."""
    found = dict(entries)
    token = fromstring(entries["modelDescription.xml"]).get("guid", "")
    for target in targets:
        for name in [name for name in entries if name.startswith(f"binaries/{target.name}/") and name.endswith(target.extension)]:
            try:
                before = loader(target).read_bytes()
            except LibraryError as error:
                print(f"{error}; hosts without Python cannot load this archive for {target.name}", file=sys.stderr)
                continue
            found[f"resources/{target.name}/pythonfmu{target.extension}"] = found[name]
            found[name] = before
            found["resources/token.txt"] = token.encode()
    return found
