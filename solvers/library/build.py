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
from pathlib import Path

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


def library_path(level: str) -> Path:
    """File of the library for one processor level."""
    return library_folder() / f"kinetree-{level}.so"


def as_c_function(function):
    """The numba C callback of one entry."""
    from numba import cfunc, types

    signature = types.int32(*(types.CPointer(t) for t in (types.int64, types.float64, types.float64)), types.int64, types.float64)

    def wrapper(ints_at, floats_at, work_at, option, t):
        return function(ints_at, floats_at, work_at, option, t)

    return cfunc(signature, error_model="numpy", fastmath=FAST)(wrapper)


def linked_module(entries: dict[str, Callable], say: Callable[[str], None]):
    """All entries in one LLVM module; only the entries stay visible."""
    import llvmlite.binding as llvm

    whole = None
    for name, function in entries.items():
        say(name)
        callback = as_c_function(function)
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
        if not f.is_declaration and not f.name.startswith("kt_"):
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
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    path.write_bytes(machine.emit_object(module))


def build(say: Callable[[str], None] = lambda text: None) -> Path:
    """Build the libraries of all levels unless they are there; returns their folder."""
    folder = library_folder()
    if all(library_path(level).exists() for level in LEVELS):
        return folder
    cc = compiler()
    from kinetree.solvers.entries import entries

    folder.mkdir(parents=True, exist_ok=True)
    text = str(linked_module(entries(), say))
    for level in LEVELS:
        say(f"machine code for {level}")
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            code = Path(scratch) / "engine.o"
            shared = Path(scratch) / "engine.so"
            emit(text, level, code)
            command = [cc, "-shared", "-o", str(shared), str(code), "-lm", "-Wl,-z,defs"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise LibraryError(f"linking failed: {done.stderr.strip()}")
            os.replace(shared, library_path(level))
    return folder
