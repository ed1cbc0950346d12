"""Selection of the fastest form (formulation): times of one evaluation measured on this machine and
cached per class of trees.

Trees of one class agree in the numbers of bodies with given depth, degrees of freedom and children,
whatever their order and parameters. Times are cached per processor, engine and kernel sources.
Forms that would need too much memory, or far more operations than the cheapest, are not measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.engine.entry_points import kind
from kinetree.models.engine.instance import Instance
from kinetree.solvers.cache import cache_root, sources_hash

if TYPE_CHECKING:
    from kinetree.models.system.system import System

EVALUATIONS = 15
HOPELESS = 30.0  # a form with so many times the operations of the cheapest is not measured
MEMORY = 5e7  # numbers that a form may keep


def measured_times(system: System) -> dict[str, float]:
    """Return the seconds per evaluation by form, cached or measured now."""
    path = memory_path()
    key = tree_class(freedoms_of(system), system.parents)
    known = read_times(path)
    if key not in known:
        known = read_times(path) | {key: measure_forms(system)}
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}")
        scratch.write_text(json.dumps(known, indent=1), encoding="utf-8")
        scratch.replace(path)
    return known[key]


def measure_forms(system: System) -> dict[str, float]:
    """Return the median time of one evaluation by every form worth measuring, along a slow motion
    as in an integration.
    """
    predicted = system.costs()
    if system.rotors:
        del predicted["LGR"]
    cheapest = min(predicted.values())
    tried = [
        name
        for name, flops in predicted.items()
        if flops <= HOPELESS * cheapest and extra_memory(system, name) <= MEMORY
    ]
    return {name: evaluation_time(system, name) for name in dict.fromkeys([*tried, "DEC"])}


def evaluation_time(system: System, method: str) -> float:
    """Return the median seconds of one evaluation by a form."""
    from kinetree.models.system.forms import GROUPS, entry_name

    instance = Instance(system.compiled, GROUPS.get(method, frozenset()))
    q, u = system.start()
    names = ("accelerations",) if method == "DEC" else ("literal_state", entry_name(method))
    drift = 1e-4 * np.cos(np.arange(len(q)))
    times = []
    for k in range(EVALUATIONS):
        instance.set_state(q + k * drift, u)
        started = time.perf_counter()
        for name in names:
            instance.call(name)
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])


def extra_memory(system: System, method: str) -> float:
    """Return the memory that a form needs beyond what is linear in the number of bodies."""
    counts = system.compiled.counts
    iterated = counts["nm"] + 2.0 * system.n**2
    by_form = {
        "DRT": counts["nm"] + counts["nb"],
        "CBM": counts["nm"],
        "LGR": counts["nh"],
        "ITR-M": iterated,
        "ITR-G": iterated,
    }
    return by_form.get(method, 0.0)


def freedoms_of(system: System) -> list[int]:
    """Return the degrees of freedom n_i of the joints of bodies 1..N."""
    from kinetree.models.engine.flat_blocks import model_fields

    return np.diff(model_fields(system.compiled.ints, system.compiled.floats).u_at)[1:].tolist()


def tree_class(freedoms: Sequence[int], parents: Sequence[int]) -> str:
    """Return the name of the class of a tree, which does not depend on the numbering of bodies."""
    depth = [0]
    children = [0] * (len(freedoms) + 1)
    for k in parents:
        depth.append(depth[k] + 1)
        children[k] += 1
    rows = sorted(zip(depth[1:], freedoms, children[1:], strict=True))
    return f"{len(freedoms)} bodies, {sum(freedoms)} freedoms, {hashlib.sha256(repr(rows).encode()).hexdigest()[:12]}"


def memory_path() -> Path:
    """Return the path of the cached times of this machine."""
    machine = hashlib.sha256(f"{processor_name()}/{kind()}/{sources_hash()}".encode()).hexdigest()[
        :16
    ]
    return cache_root() / "times" / f"{machine}.json"


def processor_name() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def read_times(path: Path) -> dict[str, dict[str, float]]:
    """Return the cached measurements; empty if the file cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
