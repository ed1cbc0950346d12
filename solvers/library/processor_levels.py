"""Processor levels for which the engine is compiled, and the level of this machine.

With KINETREE_LEVELS=machine FMUs carry this machine's level alone, which saves time while kernels
are changed; such FMUs need an equal machine.
"""

import os
import platform
from functools import lru_cache
from pathlib import Path

# baseline; with AVX2 and FMA units; with AVX-512
LEVELS = ("x86-64", "x86-64-v3", "x86-64-v4")
SUFFIXES = {
    "x86-64-v3": "_v3",
    "x86-64-v4": "_v4",
}  # of the names of entries, so that one library can hold several levels
FLAGS = {
    "x86-64-v3": {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def suffix_of(name: str) -> str:
    """Return the suffix that entry names have for a processor level."""
    return SUFFIXES.get(name, "")


@lru_cache(maxsize=1)
def level() -> str:
    """Return the highest processor level whose instructions this machine has."""
    if platform.machine().lower() in ("aarch64", "arm64"):
        return "generic"
    try:
        flags = set(
            next(
                line
                for line in Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("flags")
            ).split()
        )
    except (OSError, StopIteration):
        return LEVELS[0]
    best = LEVELS[0]
    for name in LEVELS[1:]:
        if not FLAGS[name] <= flags:
            break
        best = name
    return best


def packed_levels() -> tuple[str, ...]:
    """Return the processor levels that FMUs carry for this platform, baseline first."""
    return (
        (level(),)
        if os.environ.get("KINETREE_LEVELS") == "machine" or level() not in LEVELS
        else LEVELS
    )
