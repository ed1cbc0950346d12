"""Processor levels for which the engine is compiled, and the one this machine has.

KINETREE_LEVELS=machine builds for this machine alone: for working on kernels; FMUs packed then need a machine like it.
"""

import os
from functools import lru_cache
from pathlib import Path

# baseline; with AVX2 and FMA units; with AVX-512
LEVELS = ("x86-64", "x86-64-v3", "x86-64-v4")
FLAGS = {
    "x86-64-v3": {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


@lru_cache(maxsize=1)
def level() -> str:
    """The highest processor level whose instructions this machine has."""
    try:
        flags = set(next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")).split())
    except (OSError, StopIteration):
        return LEVELS[0]
    best = LEVELS[0]
    for name in LEVELS[1:]:
        if not FLAGS[name] <= flags:
            break
        best = name
    return best


def levels_of(library: str) -> tuple[str, ...]:
    """Levels a library is compiled for: FMUs carry the core to other machines, everything else stays here."""
    everywhere = library == "core" and os.environ.get("KINETREE_LEVELS") != "machine"
    return LEVELS if everywhere else (level(),)
