"""Compiles entry points ahead of time: one LLVM module per library, and its machine code for any
processor of any platform.

Every entry becomes a C function of three pointers. numba's LLVM modules are linked into one, which
is optimised once per processor level. The code needs neither Python nor the numba runtime.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kinetree.solvers.entries import c_callback

RAISED = 99  # status of a kernel that raised after all; without it the library would need an interpreter to report the exception


def bare_wrapper(context, library, fndesc, env, call_helper):
    """Emit the C function of an entry point; for other kernels emit nothing, since their wrappers
    are never called.
    """
    from llvmlite import ir
    from numba import types

    if fndesc.restype != types.int32:
        return
    module = context.create_module("cfunc_wrapper")
    callee = ir.Function(
        module,
        context.call_conv.get_function_type(fndesc.restype, fndesc.argtypes),
        fndesc.llvm_func_name,
    )
    function_type = ir.FunctionType(
        context.get_value_type(fndesc.restype), [context.get_value_type(t) for t in fndesc.argtypes]
    )
    wrapper = ir.Function(module, function_type, fndesc.llvm_cfunc_wrapper_name)
    builder = ir.IRBuilder(wrapper.append_basic_block("entry"))
    status, out = context.call_conv.call_function(
        builder, callee, fndesc.restype, fndesc.argtypes, wrapper.args
    )
    builder.ret(builder.select(status.is_error, ir.Constant(out.type, RAISED), out))
    library.add_ir_module(module)


def keep_from_running() -> None:
    """Make numba stop at LLVM code in this process instead of generating machine code for every
    kernel.
    """
    from numba.core import codegen, cpu

    cpu.CPUContext.create_cfunc_wrapper = bare_wrapper

    codegen.CPUCodeLibrary.finalize = left_alone
    codegen.JITCodeLibrary.get_pointer_to_function = lambda library, name: 1
    codegen.JITCPUCodegen.set_env = lambda self, name, env: None


def left_alone(library) -> None:
    """Finish a numba code library without linking its callees, which `linked_module` does once for
    all.
    """
    library._raise_if_finalized()
    library._finalized = True


def linked_module(entries: dict[str, Callable]):
    """Return one LLVM module that contains all entry points, in which only they are visible."""
    import llvmlite.binding as llvm

    from kinetree.solvers.linked_kernels import REGISTERED, make_callback

    callbacks = {
        symbol[3:]: make_callback(function, shape)
        for symbol, (function, shape) in REGISTERED.items()
    }
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
    """Return LLVM code of all hooks: each calls the entry whose address is in `kt_hook_NAME`, or
    fails if that is null.
    """
    from llvmlite import ir

    from kinetree.solvers.linked_kernels import HOOKS

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
    """Return all numba code libraries that the given ones call, directly or indirectly, each once."""
    found: dict[int, object] = {}
    stack = list(libraries)
    while stack:
        library = stack.pop()
        if id(library) not in found:
            found[id(library)] = library
            stack.extend(library._linking_libraries)
    return list(found.values())


def hide(module) -> None:
    """Give everything but entry points internal linkage, so that unused functions are removed."""
    for f in module.functions:
        if not f.is_declaration and (not f.name.startswith("kt_") or f.name.startswith("kt_in_")):
            f.linkage = "internal"
    for g in module.global_variables:
        if not g.is_declaration and "llvm." not in g.name and not g.name.startswith("kt_hook_"):
            g.linkage = "internal"


def emit(bitcode: bytes, path: Path, processor: str, suffix: str = "", triple: str = "") -> None:
    """Optimise for one processor and write the object file; visible names end with `suffix`,
    `triple` names another platform.
    """
    import llvmlite.binding as llvm

    module = llvm.parse_bitcode(bitcode)
    if triple:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        module.triple = triple
    machine = llvm.Target.from_triple(module.triple).create_target_machine(
        cpu=processor, opt=3, reloc="pic", codemodel="default"
    )
    if triple:
        module.data_layout = str(machine.target_data)
    for each in (*module.functions, *module.global_variables):
        if (
            each.name.startswith("kt_")
            and not each.is_declaration
            and each.linkage == llvm.Linkage.external
        ):
            each.name += suffix
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.slp_vectorization = (
        False  # packing the components of small vectors costs 7 % of an evaluation
    )
    passes = llvm.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(module, passes)
    path.write_bytes(machine.emit_object(module))
