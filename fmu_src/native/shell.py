"""Builds the one binary of all native FMUs for a platform: the C shell linked with the engine's object code for every processor level.

The binary contains no model, so it is built once per engine and cached by its content hash; packing
an FMU copies it under the model's name.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from kinetree.fmu.native import matrix_steps
from kinetree.fmu.variables import FmuError
from kinetree.solvers import unit_layout as U
from kinetree.solvers.fields import REGISTERS
from kinetree.solvers.layout import GuardMark, Status
from kinetree.solvers.library.build import object_path, objects_for, silent
from kinetree.solvers.library.c_compiler import LibraryError, compiler, cross_compiler, run
from kinetree.solvers.library.platforms import PLATFORMS, Platform, levels_for, this_platform
from kinetree.solvers.library.processor_levels import suffix_of
from kinetree.solvers.library.verified_files import library_folder, place, sound, written
from kinetree.solvers.model_records import HEADER

HERE = Path(__file__).parent
FLAGS = (
    "-std=c11",
    "-D_GNU_SOURCE",
    "-O2",
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
)
ENTRIES = ("reset", "start", "prepare", "refresh", "advance", "derivatives", "event", "corner")


@lru_cache(maxsize=1)
def fmi_headers() -> Path:
    """Return the folder of the FMI standard's header files, which are part of fmpy."""
    from importlib.util import find_spec

    found = find_spec("fmpy")
    if found is None or found.origin is None:
        raise FmuError(
            "fmpy is not installed: its folder c-code holds the headers of the FMI standard"
        )
    return Path(found.origin).parent / "c-code"


def layout_header() -> str:
    """Return a C header with the offsets of records, bits and codes of units as constants: U_ for
    ints, V_ for work.
    """
    shown = (
        U.UNIT.constants("U")
        | U.UNIT_HEAD.constants("V")
        | U.STAGE.constants("S")
        | U.GUARD_STATE.constants("GUARD")
        | matrix_steps.layout()
    )
    shown |= {
        name: getattr(U, name)
        for name in ("STOP_AT_EVENT", "STOP_AROUND_EVENT", "CONTINUED", "STOP_BEFORE_FULL")
    }
    shown |= {f"KIND_{name.upper().replace('-', '_')}": value for name, value in U.KINDS.items()}
    shown |= {f"STATUS_{status.name}": status.value for status in Status}
    shown |= {
        "KINETREE_WORK_HEAD": REGISTERS,
        "U_SIZE": U.UNIT.size,
        "S_SIZE": U.STAGE.size,
        "LOCATOR_SIZE": U.LOCATOR.size,
        "GUARD_STATE_SIZE": U.GUARD_STATE.size,
        "EVENT_FOUND": GuardMark.EVENT_FOUND.value,
        "H_OWN": HEADER.at("own"),
    }
    return "".join(f"#define {key} {value}\n" for key, value in shown.items())


def sources() -> list[Path]:
    return sorted(HERE.glob("*.c"))


def shell_hash(objects: Sequence[Path]) -> str:
    """Return a hash of the C sources, the layout of records and the object code."""
    digest = hashlib.sha256(layout_header().encode())
    for path in (*sources(), *sorted(HERE.glob("*.h"))):
        digest.update(path.read_bytes())
    for path in objects:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def shell_library(target: Platform | None = None, say: Callable[[str], None] = silent) -> Path:
    """Return the shell binary of a platform (default: this machine), built if missing."""
    target = target or this_platform()
    if target is None:
        raise FmuError(
            f"no FMU can run on a machine like this yet: there are binaries for {', '.join(PLATFORMS)}"
        )
    try:
        return linked(objects_for(target, say), target, levels_for(target), say)
    except LibraryError as error:
        raise FmuError(f"the binary for {target.name} cannot be built: {error}") from error


def ready(target: Platform) -> Path | None:
    """Return the shell binary of a platform if it is already built."""
    objects = [object_path(target, level) for level in levels_for(target)]
    if not all(sound(path) for path in objects):
        return None
    path = shell_path(objects, target)
    return path if sound(path) else None


def shell_path(objects: Sequence[Path], target: Platform | None) -> Path:
    name = f"shell-{shell_hash(objects)}" + (
        f"-{target.name}{target.extension}" if target else ".so"
    )
    return place(name) if target else objects[0].parent / name


def bound(
    name: str, ints: np.ndarray, floats: np.ndarray, work: np.ndarray
) -> Callable[[int, float], int]:
    """Return a function call(option, t) for an entry as FMUs call it, with the matrix method for
    chains, on blocks in this process.
    """
    library = ctypes.CDLL(str(shell_library()))
    library.best_engine.restype = ctypes.POINTER(ctypes.c_void_p)
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_double,
    )
    entry = kind(library.best_engine()[ENTRIES.index(name.removeprefix("unit_"))])
    return lambda option, t: entry(
        ints.ctypes.data, floats.ctypes.data, work.ctypes.data, option, t
    )


def linked(
    objects: Sequence[Path],
    target: Platform | None = None,
    levels: Sequence[str] = ("",),
    say: Callable[[str], None] = silent,
) -> Path:
    """Compile the shell and link it with the engine objects, one for each processor level; return
    the binary.
    """
    path = shell_path(objects, target)
    if sound(path):
        return path
    path = (library_folder() if target else objects[0].parent) / path.name
    say(f"linking the binary for {target.name}" if target else "linking")
    with written(path) as draft:
        link(draft, objects, target, levels)
    return path


def link(
    draft: Path,
    objects: Sequence[Path],
    target: Platform | None,
    levels: Sequence[str],
    define: Sequence[str] = (),
    more: Sequence[Path] = (),
    exports: str = "",
) -> None:
    """Compile the shell and link it with object files.

    `more`: further C files; `exports`: the symbols that they export, and those that the loading
    program provides.
    """
    folder = draft.parent
    (folder / "unit_layout.h").write_text(layout_header())
    # FMI functions are the only symbols a host sees, so that several FMUs in one process never bind to each other's
    shown = folder / "exports.map"
    shown.write_text(f"{{ global: {exports or 'fmi2*; fmi3*; best_engine'}; local: *; }};\n")
    define = [f"-DKINETREE{(suffix_of(level) or '_base').upper()}" for level in levels] + list(
        define
    )
    includes = [f"-I{folder}", f"-I{HERE}", f"-I{fmi_headers()}"]
    flags = ["-shared", "-s", *link_flags(target, shown)]
    if exports:
        flags = [flag for flag in flags if flag != "-Wl,-z,defs"]
        if target is not None and target.system == "Darwin":
            flags.append("-Wl,-undefined,dynamic_lookup")
    tool = compiler() if target is None or target == this_platform() else cross_compiler(target.zig)
    run(
        [
            *tool,
            *FLAGS,
            *define,
            *includes,
            *map(str, sources()),
            *map(str, more),
            *map(str, objects),
            *flags,
            "-o",
            str(draft),
        ]
    )


def link_flags(target: Platform | None, exports: Path) -> list[str]:
    """Return the linker flags of a platform by which a host sees the functions of FMI only."""
    system = target.system if target else "Linux"
    if system == "Windows":
        return []
    if system == "Darwin":  # a name independent of the folder in which the library was built
        return ["-fPIC", "-fvisibility=hidden", "-Wl,-install_name,@rpath/kinetree.dylib"]
    return ["-fPIC", "-Wl,-z,defs", "-Wl,-Bsymbolic", f"-Wl,--version-script={exports}", "-lm"]
