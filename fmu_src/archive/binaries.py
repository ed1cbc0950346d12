"""Which platforms an archive carries a binary for, and where it lies in the archive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from kinetree.fmu.variables import FmuError
from kinetree.solvers.library.platforms import PLATFORMS, Platform, this_platform

Binaries = dict[Platform, Path]


def silent(text: str) -> None:
    """Say nothing."""


def platforms_of(text: str | Sequence[str] | None) -> tuple[Platform, ...] | None:
    """Platforms from their names, `all`, or None: this machine's and those that have been built already."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")] if isinstance(text, str) else list(text)
    names = list(PLATFORMS) if names == ["all"] else names
    for name in names:
        if name not in PLATFORMS:
            raise FmuError(
                f"unknown platform '{name}', expected all or some of {', '.join(PLATFORMS)}"
            )
    return tuple(dict.fromkeys(PLATFORMS[name] for name in names))


def binaries(
    platforms: tuple[Platform, ...] | None = None, say: Callable[[str], None] = silent
) -> Binaries:
    """The shell with the engine for each platform; those asked for are built where they are missing."""
    from kinetree.fmu.native.shell import ready, shell_library

    if platforms is not None:
        return {each: shell_library(each, say) for each in platforms}
    own = this_platform()
    found = {own: shell_library(own, say)} if own else {}
    others = {each: ready(each) for each in PLATFORMS.values() if each != own}
    return found | {each: path for each, path in others.items() if path is not None}


def missing(carried: Binaries) -> tuple[str, ...]:
    """Names of the platforms that could be there and are not."""
    return tuple(name for name, each in PLATFORMS.items() if each not in carried)


def place_of(target: Platform, identifier: str, version: int) -> str:
    """Name of a binary in the archive."""
    return (
        f"binaries/{target.name if version == 2 else target.tuple}/{identifier}{target.extension}"
    )
