"""The archive of the source back end: engine and shell as C99, the model as an array, build
instructions.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from kinetree.fmu.native.shell import HERE as SHELL
from kinetree.fmu.native.shell import fmi_headers, layout_header
from kinetree.fmu.source.own_code import own_text
from kinetree.fmu.source.program import engine_source
from kinetree.fmu.variables import FmuError
from kinetree.models.specialised.specialised_rates import Motion
from kinetree.solvers.cache import SOURCES, cache_root, sources_hash
from kinetree.solvers.entries import LIBRARIES

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-ffp-contract=off")
ENGINE, MODEL, OWN, LAYOUT, NAMES = (
    "kinetree_engine.c",
    "kinetree_model.c",
    "kinetree_own.c",
    "unit_layout.h",
    "kinetree_names.h",
)
FRONTS = {2: ("fmi2.c",), 3: ("fmi3.c", "fmi3_absent.c")}
HEADERS = {
    2: ("fmi2Functions.h", "fmi2FunctionTypes.h", "fmi2TypesPlatform.h"),
    3: ("fmi3Functions.h", "fmi3FunctionTypes.h", "fmi3PlatformTypes.h"),
}


@lru_cache(maxsize=1)
def engine_text() -> str:
    """Return the engine in C99; it is translated once for each state of the kernels."""
    path = cache_root() / "source" / f"{sources_hash()}-{hash_of_texts()}.c"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(engine_source(), encoding="utf-8")
        draft.replace(path)
    return path.read_text(encoding="utf-8")


def hash_of_texts() -> str:
    """Return a hash of the source of the translator and of the kernels, whose docstrings become
    comments in C.
    """
    import hashlib

    digest = hashlib.sha256()
    for path in (*sorted(Path(__file__).parent.glob("*.py")), *sorted(SOURCES.rglob("*.py"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def model_text(payload: bytes) -> str:
    """Return the payload as a C array of 64-bit words."""
    words = np.frombuffer(payload, dtype="<u8")
    rows = [
        ", ".join(f"0x{word:X}u" for word in words[k : k + 8].tolist())
        for k in range(0, words.size, 8)
    ]
    head = "#include <stddef.h>\n#include <stdint.h>\n\nextern const uint64_t kinetree_model[];\nextern const size_t kinetree_model_size;\n"
    return (
        head
        + "const uint64_t kinetree_model[] = {\n    "
        + ",\n    ".join(rows)
        + "};\nconst size_t kinetree_model_size = sizeof kinetree_model;\n"
    )


def source_files(version: int) -> list[str]:
    """Return the names of the C files, in the order in which they are compiled."""
    fronts = {name for names in FRONTS.values() for name in names}
    shell = sorted(
        path.name
        for path in SHELL.glob("*.c")
        if path.name not in fronts or path.name in FRONTS[version]
    )
    return [*shell, ENGINE, MODEL, OWN]


def source_entries(
    identifier: str, payload: bytes, version: int, motions: Sequence[Motion | str] = ("",)
) -> dict[str, bytes | str | Path]:
    """Return the folder `sources` of an archive."""
    texts = {
        name: (SHELL / name).read_text(encoding="utf-8")
        for name in source_files(version)
        if (SHELL / name).exists()
    }
    texts |= {ENGINE: engine_text(), MODEL: model_text(payload), OWN: own_text(motions)}
    found: dict[str, bytes | str | Path] = {
        name: f'#include "{NAMES}"\n{text}' for name, text in texts.items()
    }
    found |= {path.name: path for path in SHELL.glob("*.h")} | {
        name: standard_header(name) for name in HEADERS[version]
    }
    found |= {
        NAMES: own_names(identifier),
        LAYOUT: layout_header()
        + "#define KINETREE_EMBEDDED 1\n#define KINETREE_BASE 1\n#define KINETREE_OWN 1\n",
    }
    if version == 3:
        found["buildDescription.xml"] = build_description(identifier)
    return {f"sources/{name}": content for name, content in found.items()}


def own_names(identifier: str) -> str:
    """Return macros that prefix every function of the shell and the engine by the model's
    identifier, so that several models can be linked into one program.
    """
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(SHELL.glob("*.h")))
    found = re.findall(r"^(?:EXPORTED )?(?:const )?\w+ \*?([a-z_]+)\(", text, re.M)
    found += [
        *(f"kt_{name}" for name in LIBRARIES["core"]["fmu_instance"]),
        "kinetree_model",
        "kinetree_model_size",
        "kt_own_table",
    ]
    lines = "".join(f"#define {name} {identifier}_{name}\n" for name in sorted(set(found)))
    return f"#ifndef KINETREE_NAMES_H\n#define KINETREE_NAMES_H\n{lines}#endif\n"


def standard_header(name: str) -> str:
    """Return a header of the FMI standard, extended by function prefixes where it has none."""
    text = (fmi_headers() / name).read_text(encoding="utf-8")
    prefixed = """#ifdef FMI2_FUNCTION_PREFIX
#define fmi2Paste(a, b) a##b
#define fmi2PasteB(a, b) fmi2Paste(a, b)
#define fmi2FullName(name) fmi2PasteB(FMI2_FUNCTION_PREFIX, name)
#else
#define fmi2FullName(name) name
#endif"""
    return (
        text.replace("#define fmi2FullName(name) name", prefixed)
        if "FMI2_FUNCTION_PREFIX)" not in text
        else text
    )


def build_description(identifier: str) -> bytes:
    """Return the FMI 3.0 build description."""
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    configuration = SubElement(root, "BuildConfiguration", {"modelIdentifier": identifier})
    files = SubElement(configuration, "SourceFileSet", {"language": "C99"})
    for name in source_files(3):
        SubElement(files, "SourceFile", {"name": name})
    SubElement(configuration, "Library", {"name": "m"})
    indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="utf-8")


def compile_sources(folder: str | Path, target: str | Path) -> Path:
    """Compile the sources of an unpacked archive as strict C99 into a library; warnings are errors."""
    from kinetree.solvers.library.c_compiler import LibraryError, compiler

    sources, target = Path(folder) / "sources", Path(target)
    files = sorted(sources.glob("*.c"))
    if not files:
        raise FmuError(f"{folder} holds no sources")
    try:
        tool = compiler()
    except LibraryError as error:
        raise FmuError(f"the sources cannot be compiled here: {error}") from error
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        draft = Path(scratch) / target.name
        command = [
            *tool,
            *STRICT,
            "-shared",
            "-fPIC",
            f"-I{sources}",
            *map(str, files),
            "-lm",
            "-o",
            str(draft),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise FmuError(f"the sources do not compile: {done.stderr.strip()[:2000]}")
        os.replace(draft, target)
    return target
