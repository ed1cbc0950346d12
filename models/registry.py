"""Registries: folders in which every file declares one or several kinds."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def registered(package: str, path: Iterable[str], attribute: str, what: str) -> dict[str, Any]:
    """Return the entries that the files of a package define as `attribute`, by name in the order of
    docs.
    """
    given = [
        getattr(import_module(f"{package}.{module.name}"), attribute)
        for module in iter_modules(path)
    ]
    kinds = [
        kind for each in given for kind in (each if isinstance(each, (list, tuple)) else [each])
    ]
    names = [kind.name for kind in kinds]
    if len(set(names)) < len(names):
        raise ValueError(f"two {what} have one name: {sorted(names)}")
    return {kind.name: kind for kind in sorted(kinds, key=lambda kind: (kind.rank, kind.name))}
