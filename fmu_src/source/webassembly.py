"""Compiles the engine and the shell to WebAssembly modules without a model: one for live pages, one
for components of FMI 3.0.

A module is built once per state of the sources and cached; a wheel may contain it. Building needs
zig, the compiler of the extra `cross`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from kinetree.fmu.component.assemble import PAGES
from kinetree.fmu.native.shell import HERE as SHELL
from kinetree.fmu.native.shell import fmi_headers, layout_header
from kinetree.fmu.source.archive import ENGINE, LAYOUT, engine_text
from kinetree.fmu.variables import FmuError
from kinetree.solvers.library.c_compiler import LibraryError, cross_compiler, run
from kinetree.solvers.library.verified_files import library_folder, place, sound, written

HERE = Path(__file__).parent
COMPONENT = HERE.parent / "component"
TARGET = "wasm32-wasi"
CORE_FILES = ("checksum.c", "core.c", "engine.c", "log.c", "matrix_steps.c", "model.c", "state.c")
DEFINED = "#define KINETREE_EMBEDDED 1\n#define KINETREE_MODEL_GIVEN 1\n#define KINETREE_BASE 1\n"
FLAGS = ("-O2", "-std=c99", "-ffp-contract=off", "-w")
LINKED = ("-mexec-model=reactor", "-s", "-Wl,--gc-sections", "-Wl,-z,stack-size=1048576")


class Module(NamedTuple):
    """A WebAssembly module of the engine: its C front end, files of the shell, linker flags, and
    purpose.
    """

    name: str
    front: Path
    shell: tuple[str, ...]
    linked: tuple[str, ...]
    purpose: str


LIVE = Module("live", HERE / "live.c", CORE_FILES, LINKED, "to WebAssembly")
CORE = Module(
    "component",
    COMPONENT / "component.c",
    (*CORE_FILES, "derivatives.c", "fmi3.c", "fmi3_absent.c"),
    (*LINKED, "-Wl,--import-memory", f"-Wl,--initial-memory={65536 * PAGES}"),
    "for components of FMI 3.0",
)


def engine_module(say: Callable[[str], None] = lambda text: None) -> bytes:
    """Return the module of live pages; it is built if it is neither in the cache nor in the wheel."""
    return module_path(LIVE, say).read_bytes()


def path_of(module: Module) -> Path:
    """Return the path of a module, which may not exist yet."""
    return place(f"kinetree-{module.name}-{_sources_hash(module)}.wasm")


def ready(module: Module) -> Path | None:
    """Return the path of a module if it is already built."""
    path = path_of(module)
    return path if sound(path) else None


def module_path(module: Module, say: Callable[[str], None] = lambda text: None) -> Path:
    """Return the path of a module; it is built if it is neither in the cache nor in the wheel."""
    path = path_of(module)
    if not sound(path):
        say(f"compiling the engine {module.purpose} (once, half a minute)")
        path = library_folder() / path.name
        try:
            with written(path) as draft:
                _build(module, draft)
        except LibraryError as error:
            raise FmuError(f"the engine cannot be compiled to WebAssembly: {error}") from error
    return path


@lru_cache(maxsize=2)
def _sources_hash(module: Module) -> str:
    """Return the cache key of a module: a hash of everything from which it is compiled."""
    digest = hashlib.sha256("\0".join((layout_header(), DEFINED, *FLAGS, *module.linked)).encode())
    digest.update(engine_text().encode())
    for path in (*sorted(SHELL.glob("*.[ch]")), module.front):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _build(module: Module, draft: Path) -> None:
    """Compile and link a module; intermediate files are written beside the draft."""
    folder = draft.parent
    (folder / LAYOUT).write_text(layout_header() + DEFINED, encoding="utf-8")
    (folder / ENGINE).write_text(engine_text(), encoding="utf-8")
    sources = [folder / ENGINE, module.front, *(SHELL / name for name in module.shell)]
    objects = [folder / f"{path.stem}.o" for path in sources]
    includes = [f"-I{folder}", f"-I{SHELL}", f"-I{fmi_headers()}"]
    compile_one = [*cross_compiler(TARGET), *FLAGS, *includes, "-c"]
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(run, [*compile_one, str(source), "-o", str(target)])
            for source, target in zip(sources, objects, strict=True)
        ]
        for job in jobs:
            job.result()
    run([*cross_compiler(TARGET), *module.linked, *map(str, objects), "-o", str(draft)])
