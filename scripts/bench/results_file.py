"""The JSON file that a benchmark writes for `--json`: the machine, the version of Python, results."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any


def machine() -> str:
    """Return the name of the processor, as the operating system tells it, and its cores."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    return f"{name}, {len(names) or 1} cores"


def write_results(path: Path | None, **results: Any) -> None:
    """Write results with the machine and the version of Python; without a path nothing is written."""
    if path is not None:
        content = {"machine": machine(), "python": platform.python_version(), **results}
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
