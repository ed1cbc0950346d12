"""Platforms whose FMU binaries can be built on any machine: LLVM generates code for all of them,
zig links for all of them.
"""

from __future__ import annotations

import platform
from typing import NamedTuple

from kinetree.solvers.library.processor_levels import LEVELS, packed_levels


class Platform(NamedTuple):
    """An operating system with a processor architecture."""

    name: str  # its folder in archives of FMI 2.0
    tuple: str  # its folder in archives of FMI 3.0
    triple: str  # LLVM's
    zig: str  # zig's; the C library named is the oldest one that serves
    levels: tuple[str, ...]  # processors it gets code for, the least first
    extension: str
    system: str  # as Python names it
    machines: tuple[str, ...]


NATIVE = {
    each.name: each
    for each in (
        Platform(
            "linux64",
            "x86_64-linux",
            "x86_64-unknown-linux-gnu",
            "x86_64-linux-gnu.2.17",
            LEVELS,
            ".so",
            "Linux",
            ("x86_64", "amd64"),
        ),
        Platform(
            "win64",
            "x86_64-windows",
            "x86_64-pc-windows-gnu",
            "x86_64-windows-gnu",
            LEVELS[:2],
            ".dll",
            "Windows",
            ("x86_64", "amd64"),
        ),
        Platform(
            "aarch64-linux",
            "aarch64-linux",
            "aarch64-unknown-linux-gnu",
            "aarch64-linux-gnu.2.17",
            ("generic",),
            ".so",
            "Linux",
            ("aarch64", "arm64"),
        ),
        Platform(
            "darwin64",
            "x86_64-darwin",
            "x86_64-apple-macosx11.0.0",
            "x86_64-macos.11.0",
            LEVELS[:2],
            ".dylib",
            "Darwin",
            ("x86_64", "amd64"),
        ),
        Platform(
            "aarch64-darwin",
            "aarch64-darwin",
            "arm64-apple-macosx11.0.0",
            "aarch64-macos.11.0",
            ("apple-m1",),
            ".dylib",
            "Darwin",
            ("aarch64", "arm64"),
        ),
    )
}


# a component that any machine runs which has a runtime of WebAssembly: it is made from C, not from object code
WEBASSEMBLY = Platform(
    "wasm32-wasip2", "wasm32-wasip2", "", "wasm32-wasi", (), ".wasm", "WebAssembly", ()
)
PLATFORMS = {**NATIVE, WEBASSEMBLY.name: WEBASSEMBLY}


def this_platform() -> Platform | None:
    """Return the platform of this machine, or None if FMUs do not support it."""
    found = (
        p
        for p in PLATFORMS.values()
        if p.system == platform.system() and platform.machine().lower() in p.machines
    )
    return next(found, None)


def levels_for(target: Platform) -> tuple[str, ...]:
    """Return the processor levels for which code of a platform is generated."""
    return packed_levels() if target == this_platform() else target.levels
