"""Puts a loader in front of the library of pythonfmu or pythonfmu3 in an archive, so that hosts
without Python can load it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree.ElementTree import fromstring

from kinetree.fmu.native.shell import HERE as NATIVE
from kinetree.fmu.native.shell import fmi_headers
from kinetree.fmu.variables import FmuError
from kinetree.solvers.library.c_compiler import LibraryError, compiler, cross_compiler, run
from kinetree.solvers.library.platforms import PLATFORMS, Platform, this_platform
from kinetree.solvers.library.verified_files import library_folder, place, sound, written

HERE = Path(__file__).parent
WITH_PYTHONFMU = ("linux64", "win64")  # platforms for which pythonfmu and pythonfmu3 have a library
COMMON = (HERE / "opening.c", HERE / "interpreter.c", NATIVE / "location.c")
HEADERS = (HERE / "loader.h", NATIVE / "location.h")


def sources(version: int) -> tuple[Path, ...]:
    return (HERE / f"loader{version}.c", *COMMON)


def loader(target: Platform, version: int = 2) -> Path:
    """Return the loader of a platform and FMI version; it is built if missing."""
    path = loader_path(target, version)
    if not sound(path):
        tool = compiler() if target == this_platform() else cross_compiler(target.zig)
        windows = target.system == "Windows"
        with written(library_folder() / path.name) as draft:
            exports = draft.parent / "exports.map"
            exports.write_text(f"{{ global: fmi{version}*; local: *; }};\n")
            link = (
                ["-ladvapi32"]
                if windows
                else [
                    "-fPIC",
                    "-Wl,-z,defs",
                    "-Wl,-Bsymbolic",
                    f"-Wl,--version-script={exports}",
                    "-ldl",
                ]
            )
            includes = [f"-I{HERE}", f"-I{NATIVE}", f"-I{fmi_headers()}"]
            flags = ["-std=c11", "-O2", "-Wall", "-Wno-format-nonliteral", "-shared", "-s"]
            run([*tool, *flags, *includes, *map(str, sources(version)), *link, "-o", str(draft)])
    return loader_path(target, version)


def usable() -> list[Platform]:
    """Return the platforms for which archives get the loader: this machine's, and those for which
    it is already built.
    """
    own = this_platform()
    others = [each for each in PLATFORMS.values() if each != own and sound(loader_path(each))]
    return [*([own] if own else []), *others]


def loader_path(target: Platform, version: int = 2) -> Path:
    content = hashlib.sha256(
        b"".join(path.read_bytes() for path in (*sources(version), *HEADERS))
    ).hexdigest()[:16]
    return place(f"loader{version}-{content}-{target.name}{target.extension}")


def with_loaders(
    entries: Mapping[str, bytes], targets: Iterable[Platform], version: int = 2
) -> dict[str, bytes]:
    """Return the archive's entries with the loader under the name of the binary, and pythonfmu's
    library among the resources. pythonfmu3 needs the loader, which passes on what its library does
    not; binaries without a loader are left out.
    """
    found = dict(entries)
    token = fromstring(entries["modelDescription.xml"]).get(
        "guid" if version == 2 else "instantiationToken", ""
    )
    loaded, refused = set(), ""
    for target in targets:
        folder = f"binaries/{target.name if version == 2 else target.tuple}/"
        for name in [
            name for name in entries if name.startswith(folder) and name.endswith(target.extension)
        ]:
            try:
                before = loader(target, version).read_bytes()
            except LibraryError as error:
                refused = str(error)
                lost = (
                    "hosts without Python cannot load this archive for"
                    if version == 2
                    else "the archive has no binary for"
                )
                print(f"{error}; {lost} {target.name}", file=sys.stderr)
                continue
            found[f"resources/{target.name}/pythonfmu{target.extension}"] = found[name]
            found[name] = before
            found["resources/token.txt"] = token.encode()
            loaded.add(name)
    if version == 3:
        if not loaded:
            raise FmuError(
                f"an archive of pythonfmu3 needs a loader before its library, which cannot be made: {refused}"
            )
        found = {
            name: content
            for name, content in found.items()
            if name in loaded or not name.startswith(("binaries/", "sources/"))
        }
    return found
