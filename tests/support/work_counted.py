"""Work counted instead of timed: calls of functions, the same on every machine and under every load."""

import sys
from collections.abc import Callable
from typing import Any


def calls(function: Callable[..., Any], *arguments: Any) -> int:
    """How many functions are called, those of C included, while one runs; what it raises is kept back."""
    count = 0

    def seen(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        function(*arguments)
    except Exception:
        return count
    finally:
        sys.setprofile(before)
    return count
