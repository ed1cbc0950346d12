"""Mechanisms: their description, compilation, motion and results. Imports are lazy, so that the command line starts quickly."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinetree.models.description.errors import ModelError
    from kinetree.models.mechanism import Mechanism, load
    from kinetree.models.result import Result
    from kinetree.models.system import System

__all__ = ["Mechanism", "ModelError", "Result", "System", "load"]

HOMES = {"ModelError": "description.errors", "Mechanism": "mechanism", "load": "mechanism", "Result": "result", "System": "system"}


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"kinetree.models.{HOMES[name]}"), name)
