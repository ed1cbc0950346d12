"""Compiles all entry points ahead of time into one shared library that needs neither Python nor the numba runtime.

Every entry becomes a C function over three pointers; numba's LLVM modules are linked into one, optimised once and emitted for each processor level.
The library is kept by content: its name holds the hash of all kernel sources.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from kinetree.solvers.entries import LIBRARIES
from kinetree.solvers.kernel import FAST, cache_root, sources_hash

LEVELS = ("x86-64", "x86-64-v3")  # baseline, and processors with AVX2 and FMA units


class LibraryError(Exception):
    """The library cannot be built or loaded; says why and what to do."""


def compiler() -> str:
    """The machine's C compiler."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return name
    raise LibraryError("no C compiler found: install one, for example with 'apt-get install gcc'")


def library_folder() -> Path:
    """Where the libraries of the present sources are kept."""
    return cache_root() / "library" / sources_hash()


def library_path(library: str, level: str) -> Path:
    """File of a library for one processor level."""
    return library_folder() / f"kinetree-{library}-{level}.so"


def object_path(library: str, level: str) -> Path:
    """Object code of a library, for linking it into something else."""
    return library_path(library, level).with_suffix(".o")


def as_c_function(function):
    """The numba C callback of one entry."""
    from numba import cfunc, types

    signature = types.int32(*(types.CPointer(t) for t in (types.int64, types.float64, types.float64)), types.int64, types.float64)

    def wrapper(ints_at, floats_at, work_at, option, t):
        return function(ints_at, floats_at, work_at, option, t)

    return cfunc(signature, error_model="numpy", fastmath=FAST)(wrapper)


def linked_module(entries: dict[str, Callable]):
    """All entries in one LLVM module; only the entries stay visible."""
    import llvmlite.binding as llvm

    from kinetree.solvers.boundary import REGISTERED, make_callback

    for symbol in REGISTERED:  # numba resolves symbols at once; this code is never run
        llvm.add_symbol(symbol, 1)
    whole = None
    callbacks = {name[3:]: make_callback(function, shape) for name, (function, shape) in REGISTERED.items()}
    for name, callback in (callbacks | {name: as_c_function(function) for name, function in entries.items()}).items():
        module = llvm.parse_assembly(str(callback._library._final_module))
        for f in module.functions:
            if f.name == callback._wrapper_name:
                f.name = f"kt_{name}"
                f.linkage = "external"
            elif not f.is_declaration:
                f.linkage = "linkonce_odr"
        for g in module.global_variables:
            if not g.is_declaration and "llvm." not in g.name:
                g.linkage = "linkonce_odr"
        if whole is None:
            whole = module
        else:
            whole.link_in(module)
    for f in whole.functions:
        if not f.is_declaration and (not f.name.startswith("kt_") or f.name.startswith("kt_in_")):
            f.linkage = "internal"
    for g in whole.global_variables:
        if not g.is_declaration and "llvm." not in g.name:
            g.linkage = "internal"
    return whole


def emit(module_text: str, level: str, path: Path) -> None:
    """Optimise for one processor level and write the object file."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(module_text)
    machine = llvm.Target.from_triple(module.triple).create_target_machine(cpu=level, opt=3, reloc="pic", codemodel="default")
    for _ in range(2):  # the error paths, which cannot be taken, are only seen to be dead once everything is inlined
        passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
        passes.getModulePassManager().run(module, passes)
    path.write_bytes(machine.emit_object(module))


def build(say: Callable[[str], None] = lambda text: None) -> Path:
    """Build all libraries of all levels unless they are there, one process each; returns their folder."""
    folder = library_folder()
    wanted = [name for name in LIBRARIES if not all(library_path(name, level).exists() for level in LEVELS)]
    if wanted:
        compiler()
        folder.mkdir(parents=True, exist_ok=True)
        for name in wanted:
            say(f"compiling {name}")
        with whole_program_optimisation(), ProcessPoolExecutor(max_workers=len(wanted), mp_context=get_context("spawn")) as pool:
            for name in pool.map(build_library, wanted, [str(folder)] * len(wanted)):
                say(f"{name} is ready")
    return folder


@contextmanager
def whole_program_optimisation():
    """Child processes leave optimisation to `emit`: numba would optimise every kernel again in each of its callers."""
    before = os.environ.get("NUMBA_OPT")
    os.environ["NUMBA_OPT"] = "0"
    try:
        yield
    finally:
        os.environ.pop("NUMBA_OPT")
        if before is not None:
            os.environ["NUMBA_OPT"] = before


def build_library(library: str, folder: str) -> str:
    """Compile and link one library into the folder; the files appear complete or not at all."""
    from kinetree.solvers.entries import entries

    text = str(linked_module(entries(library)))
    for level in LEVELS:
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            code, shared = Path(scratch) / "engine.o", Path(scratch) / "engine.so"
            emit(text, level, code)
            command = [compiler(), "-shared", "-o", str(shared), str(code), "-lm", "-Wl,-z,defs"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise LibraryError(f"linking failed: {done.stderr.strip()}")
            os.replace(code, Path(folder) / object_path(library, level).name)
            os.replace(shared, Path(folder) / library_path(library, level).name)
    return library
