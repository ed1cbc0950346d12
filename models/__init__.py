"""Mechanisms: their description, compilation, motion and results. Imports are lazy, so that the command line starts quickly."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinetree.models.analysis.free_decay import free_decay
    from kinetree.models.analysis.identification import identify
    from kinetree.models.analysis.mode_matching import match_modes
    from kinetree.models.language.errors import ModelError
    from kinetree.models.result.result import Result
    from kinetree.models.run.input_functions import Signal
    from kinetree.models.system.mechanism import Mechanism, load
    from kinetree.models.system.system import System

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

HOMES = {
    "ModelError": "language.errors",
    "Mechanism": "system.mechanism",
    "load": "system.mechanism",
    "Result": "result.result",
    "Signal": "run.input_functions",
    "System": "system.system",
    "free_decay": "analysis.free_decay",
    "identify": "analysis.identification",
    "match_modes": "analysis.mode_matching",
}


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"kinetree.models.{HOMES[name]}"), name)
