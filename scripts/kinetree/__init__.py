"""Kinetree: mechanisms described in files, their equations of motion, simulation, and export as
FMUs.

    import kinetree

    system = kinetree.load("lib:boom").compile()
    result = system.simulate(stop_time=5.0)

Public names are imported at their first use, so that `import kinetree` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinetree.models import (
        Mechanism,
        ModelError,
        Result,
        Signal,
        System,
        free_decay,
        identify,
        load,
        match_modes,
    )

__all__ = [
    "Mechanism",
    "ModelError",
    "Result",
    "Signal",
    "System",
    "free_decay",
    "identify",
    "load",
    "match_modes",
]
ROOMS = ("fmu", "models", "scripts", "solvers")


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("kinetree.models"), name)
    if name in ROOMS:
        return import_module(f"kinetree.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("kinetree")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, *ROOMS, "__version__"])
