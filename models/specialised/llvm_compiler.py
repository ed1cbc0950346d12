"""Compilation of LLVM text in this process, cached on disk by a hash of text and processor."""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from kinetree.solvers.cache import cache_root

WORD, REAL, POINTER = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
SIGNATURES = {
    "evaluate": (ctypes.c_int32, REAL, *(POINTER,) * 6),
    "many": (WORD, WORD, REAL, *(POINTER,) * 6),
    "lanes": (WORD, WORD, WORD, *(POINTER,) * 3),
}


@dataclass
class Machine:
    """The functions of one compiled LLVM text."""

    functions: dict[str, Callable[..., int]]
    engine: object  # keeps the code alive
    size: int  # bytes of the object
    fresh: bool  # compiled now, not found on disk

    def address(self, name: str) -> int:
        """Return the address of a compiled function."""
        return self.engine.get_function_address(name)  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name in SIGNATURES:
            return self.functions[name]
        raise AttributeError(name)


@lru_cache(maxsize=1)
def initialize() -> None:
    """Initialise LLVM for this processor."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def target():
    """Return a code generator for this processor; every engine needs its own."""
    import llvmlite.binding as llvm

    initialize()
    triple = llvm.Target.from_default_triple()
    return triple.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        jit=True,
    )


def object_code(text: str, triple: str, processor: str) -> bytes:
    """Return the object file of a text for a processor of any platform, optimised in the same way
    as for this machine.
    """
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor, opt=2, reloc="pic", codemodel="default"
    )
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = triple, str(machine.target_data)
    optimise(module, machine)
    return machine.emit_object(module)


def optimise(module, machine) -> None:
    """Run LLVM's optimisation passes for straight-line code."""
    import llvmlite.binding as llvm

    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.getModulePassManager().run(module, passes)


class Objects:
    """Cache of object code on disk, keyed by the hash of its source."""

    def __init__(self, key: str):
        self.path = cache_root() / "specialised" / f"{key}.o"
        self.size = 0

    def load(self, module) -> bytes | None:
        """Return cached object code for LLVM, or None."""
        if not self.path.exists():
            return None
        content = self.path.read_bytes()
        self.size = len(content)
        return content

    def keep(self, module, content: bytes) -> None:
        """Store compiled object code atomically."""
        self.size = len(content)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self.path.parent, delete=False) as file:
            file.write(content)
        os.replace(file.name, self.path)


def compiled(text: str) -> Machine:
    """Return the compiled functions of a text, from the cache if possible."""
    import llvmlite
    import llvmlite.binding as llvm

    machine = target()
    key = hashlib.sha256(
        f"{llvmlite.__version__} {llvm.get_host_cpu_name()}\n{text}".encode()
    ).hexdigest()[:24]
    cache = Objects(key)
    fresh = not cache.path.exists()
    module = llvm.parse_assembly(text if fresh else interface(text))
    module.triple = machine.triple
    if fresh:
        optimise(module, machine)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.set_object_cache(cache.keep, cache.load)
    engine.finalize_object()
    present = [name for name in SIGNATURES if f"@{name}(" in text]
    functions = {
        name: ctypes.CFUNCTYPE(*SIGNATURES[name])(engine.get_function_address(name))
        for name in present
    }
    return Machine(functions, engine, cache.size, fresh)


def interface(text: str) -> str:
    """Return only the declarations of a text, for object code that is cached."""
    found = [line for line in text.splitlines() if line.startswith("define i")]
    return "\n".join(
        line.replace("define", "declare", 1).removesuffix("{")
        for line in found
        if "internal" not in line
    )
