"""Counts of Python bytecode instructions by function, reproducible for equal sources."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

OURS = tuple(str(Path(__file__).parents[2] / folder) for folder in ("solvers", "models"))


def bytecodes(call: Callable[[], object]) -> dict[str, float]:
    """Return the number of bytecode instructions that a call executes, by function of Kinetree, and
    their sum.
    """
    found: Counter[CodeType] = Counter()

    def inside(frame: FrameType, event: str, _: Any) -> Any:
        if event == "opcode":
            found[frame.f_code] += 1
        return inside

    def watch(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return inside

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        call()
    finally:
        sys.settrace(before)
    named: dict[str, float] = {"total": 0.0}
    for code, count in found.items():
        name = f"{Path(code.co_filename).stem}.{code.co_qualname}"
        named[name] = named.get(name, 0.0) + count
        named["total"] += count
    return named
