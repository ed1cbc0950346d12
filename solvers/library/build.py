"""Compiles all entry points ahead of time into one shared library that needs neither Python nor the numba runtime.

Every entry becomes a C function over three pointers; numba's LLVM modules are linked into one, optimised once and emitted for each processor level.
The library is kept by content: its name holds the hash of all kernel sources.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

from kinetree.solvers.cache import cache_root, engine_hash
from kinetree.solvers.entries import LIBRARIES, c_callback
from kinetree.solvers.library.levels import levels_of

KEPT = 24  # libraries of former sources that stay

try:
    import fcntl
except ImportError:  # not on Windows: there every process builds for itself
    fcntl = None


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
    return cache_root() / "library" / engine_hash()


def library_path(library: str, level: str) -> Path:
    """File of a library for one processor level."""
    return library_folder() / f"kinetree-{library}-{level}.so"


def object_path(library: str, level: str) -> Path:
    """Object code of a library, for linking it into something else."""
    return library_path(library, level).with_suffix(".o")


RAISED = 99  # status of a kernel that raised after all; without it the library would need an interpreter to report the exception


def bare_wrapper(context, library, fndesc, env, call_helper):
    """The C function around a callback; nobody calls those that numba makes around other kernels."""
    from llvmlite import ir
    from numba import types

    if fndesc.restype != types.int32:
        return
    module = context.create_module("cfunc_wrapper")
    callee = ir.Function(module, context.call_conv.get_function_type(fndesc.restype, fndesc.argtypes), fndesc.llvm_func_name)
    function_type = ir.FunctionType(context.get_value_type(fndesc.restype), [context.get_value_type(t) for t in fndesc.argtypes])
    wrapper = ir.Function(module, function_type, fndesc.llvm_cfunc_wrapper_name)
    builder = ir.IRBuilder(wrapper.append_basic_block("entry"))
    status, out = context.call_conv.call_function(builder, callee, fndesc.restype, fndesc.argtypes, wrapper.args)
    builder.ret(builder.select(status.is_error, ir.Constant(out.type, RAISED), out))
    library.add_ir_module(module)


def keep_from_running() -> None:
    """Have numba stop at LLVM code in this process: it would make machine code of every kernel, with all its callees, that nobody calls."""
    from numba.core import codegen, cpu

    cpu.CPUContext.create_cfunc_wrapper = bare_wrapper

    codegen.JITCodeLibrary._finalize_specific = lambda library: None
    codegen.JITCodeLibrary.get_pointer_to_function = lambda library, name: 1
    codegen.JITCPUCodegen.set_env = lambda self, name, env: None


def linked_module(entries: dict[str, Callable]):
    """All entries in one LLVM module; only the entries stay visible."""
    import llvmlite.binding as llvm

    from kinetree.solvers.boundary import REGISTERED, make_callback

    callbacks = {symbol[3:]: make_callback(function, shape) for symbol, (function, shape) in REGISTERED.items()}
    callbacks |= {name: c_callback(name, function) for name, function in entries.items()}
    symbols = {callback._wrapper_name: f"kt_{name}" for name, callback in callbacks.items()}
    whole = llvm.parse_assembly(f'target triple = "{llvm.get_process_triple()}"')
    for library in reachable([callback._library for callback in callbacks.values()]):
        module = llvm.parse_assembly(str(library._final_module))
        for each in (*module.functions, *module.global_variables):
            if each.name in symbols:
                each.name, each.linkage = symbols[each.name], "external"
            elif not each.is_declaration and "llvm." not in each.name:
                each.linkage = "weak_odr"  # one of several copies is kept, whether something before it has called it or not
        whole.link_in(module)
    whole.link_in(llvm.parse_assembly(hooks()))
    hide(whole)
    return whole


def hooks() -> str:
    """LLVM code of all hooks: each calls the entry whose address stands in its cell `kt_hook_NAME`, and fails while there is none."""
    from llvmlite import ir

    from kinetree.solvers.boundary import HOOKS

    word, real, status = ir.IntType(64), ir.DoubleType(), ir.IntType(32)
    blocks = [word.as_pointer(), real.as_pointer(), word.as_pointer(), real.as_pointer()]
    entry_type = ir.FunctionType(status, [*blocks[:2], blocks[3], word, real]).as_pointer()
    module = ir.Module("hooks")
    for symbol, name in HOOKS.items():
        cell = ir.GlobalVariable(module, entry_type, f"kt_hook_{name}")
        cell.initializer = ir.Constant(entry_type, None)
        function = ir.Function(module, ir.FunctionType(status, [*blocks, real]), symbol)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        entry, (ints, floats, _, work, t) = builder.load(cell), function.args
        with builder.if_then(builder.icmp_unsigned("==", entry, ir.Constant(entry_type, None))):
            builder.ret(ir.Constant(status, RAISED))
        builder.ret(builder.call(entry, [ints, floats, work, ir.Constant(word, 0), t]))
    return str(module)


def reachable(libraries: list) -> list:
    """The code libraries of numba that these ones call, each once."""
    found: dict[int, object] = {}
    stack = list(libraries)
    while stack:
        library = stack.pop()
        if id(library) not in found:
            found[id(library)] = library
            stack.extend(library._linking_libraries)
    return list(found.values())


def hide(module) -> None:
    """Make everything but the entries internal, so that what nobody calls disappears."""
    for f in module.functions:
        if not f.is_declaration and (not f.name.startswith("kt_") or f.name.startswith("kt_in_")):
            f.linkage = "internal"
    for g in module.global_variables:
        if not g.is_declaration and "llvm." not in g.name and not g.name.startswith("kt_hook_"):
            g.linkage = "internal"


def emit(module_text: str, level: str, path: Path) -> None:
    """Optimise for one processor level and write the object file."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(module_text)
    machine = llvm.Target.from_triple(module.triple).create_target_machine(cpu=level, opt=3, reloc="pic", codemodel="default")
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.slp_vectorization = False  # packing the components of small vectors costs 7 % of an evaluation
    passes = llvm.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(module, passes)
    path.write_bytes(machine.emit_object(module))


def build(say: Callable[[str], None] = lambda text: None) -> Path:
    """Build all libraries of all levels unless they are there, one process each; returns their folder."""
    folder = library_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with one_builder(folder):
        compile_missing(folder, say)
    forget_old(folder)
    return folder


def forget_old(present: Path) -> None:
    """Delete libraries of former sources but the latest ones."""
    others = sorted((path for path in present.parent.iterdir() if path.is_dir() and path != present), key=lambda path: path.stat().st_mtime)
    for path in others[:-KEPT]:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def one_builder(folder: Path):
    """Processes that want the same library wait for the first one instead of building it again."""
    with (folder / "lock").open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def compile_missing(folder: Path, say: Callable[[str], None]) -> None:
    """Compile what the folder lacks, one process per library."""
    wanted = [name for name in LIBRARIES if not all(library_path(name, level).exists() for level in levels_of(name))]
    if not wanted:
        return
    compiler()
    running = {}
    for name in wanted:
        say(f"compiling {name}")
        code = f"from kinetree.solvers.library.build import build_library; build_library({name!r}, {str(folder)!r})"
        running[name] = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], env=child_environment(), stderr=subprocess.PIPE, text=True)
    for name, process in running.items():
        _, errors = process.communicate()
        if process.returncode:
            raise LibraryError(f"compiling {name} failed: {errors.strip().splitlines()[-1] if errors.strip() else 'no message'}")
        say(f"{name} is ready")


def child_environment() -> dict[str, str]:
    """Child processes leave optimisation to `emit`: numba would optimise every kernel again in each of its callers."""
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_DISABLE_JIT"}
    return environment | {"NUMBA_OPT": "0"}


def build_library(library: str, folder: str) -> str:
    """Compile and link one library into the folder; the files appear complete or not at all."""
    from kinetree.solvers.entries import entries

    keep_from_running()
    text = str(linked_module(entries(library)))
    for level in levels_of(library):
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
