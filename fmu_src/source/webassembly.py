"""Compiles the engine and the shell to one WebAssembly module that holds no model: a browser gives it the bytes of any mechanism.

The module is built once per state of the sources and kept in the cache; a wheel may carry it. Building needs zig, the compiler of the extra `cross`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from kinetree.fmu.native.shell import HERE as SHELL
from kinetree.fmu.native.shell import layout_header
from kinetree.fmu.source.archive import ENGINE, LAYOUT, engine_text
from kinetree.fmu.variables import FmuError
from kinetree.solvers.library.c_compiler import LibraryError, cross_compiler, run
from kinetree.solvers.library.verified_files import library_folder, place, sound, written

HERE = Path(__file__).parent
TARGET = "wasm32-wasi"
SHELL_FILES = ("checksum.c", "core.c", "engine.c", "log.c", "matrix_steps.c", "model.c", "state.c")
DEFINED = "#define KINETREE_EMBEDDED 1\n#define KINETREE_MODEL_GIVEN 1\n#define KINETREE_BASE 1\n"
FLAGS = ("-O2", "-std=c99", "-ffp-contract=off", "-w")
LINKED = ("-mexec-model=reactor", "-s", "-Wl,--gc-sections", "-Wl,-z,stack-size=1048576")


def engine_module(say: Callable[[str], None] = lambda text: None) -> bytes:
    """Return the module; built when it is neither in the cache nor in the wheel."""
    return module_path(say).read_bytes()


def module_path(say: Callable[[str], None] = lambda text: None) -> Path:
    """Return the file of the module; built when it is neither in the cache nor in the wheel."""
    path = place(f"kinetree-live-{_sources_hash()}.wasm")
    if not sound(path):
        say("compiling the engine to WebAssembly (once, half a minute)")
        path = library_folder() / path.name
        try:
            with written(path) as draft:
                _build(draft)
        except LibraryError as error:
            raise FmuError(f"the engine cannot be compiled to WebAssembly: {error}") from error
    return path


@lru_cache(maxsize=1)
def _sources_hash() -> str:
    """Return the key of the module: a hash of everything that it is compiled from."""
    digest = hashlib.sha256("\0".join((layout_header(), DEFINED, *FLAGS, *LINKED)).encode())
    digest.update(engine_text().encode())
    for path in (*sorted(SHELL.glob("*.[ch]")), HERE / "live.c"):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _build(draft: Path) -> None:
    """Compile and link the module; notes of the work lie beside the draft."""
    folder = draft.parent
    (folder / LAYOUT).write_text(layout_header() + DEFINED, encoding="utf-8")
    (folder / ENGINE).write_text(engine_text(), encoding="utf-8")
    sources = [folder / ENGINE, HERE / "live.c", *(SHELL / name for name in SHELL_FILES)]
    objects = [folder / f"{path.stem}.o" for path in sources]
    compile_one = [*cross_compiler(TARGET), *FLAGS, f"-I{folder}", f"-I{SHELL}", "-c"]
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(run, [*compile_one, str(source), "-o", str(target)])
            for source, target in zip(sources, objects, strict=True)
        ]
        for job in jobs:
            job.result()
    run([*cross_compiler(TARGET), *LINKED, *map(str, objects), "-o", str(draft)])
