"""Binaries of native archives by platform, and their folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from kinetree.fmu.variables import FmuError
from kinetree.solvers.library.platforms import PLATFORMS, WEBASSEMBLY, Platform, this_platform

Binaries = dict[Platform, Path]


def silent(text: str) -> None:
    """Ignore a progress message."""


def platforms_of(text: str | Sequence[str] | None) -> tuple[Platform, ...] | None:
    """Return the platforms named in a text, all for `all`; None for no text, which means this
    machine's and those already built.
    """
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
    platforms: tuple[Platform, ...] | None = None,
    say: Callable[[str], None] = silent,
    components: bool = False,
) -> Binaries:
    """Return the shell with the engine for each platform, building missing ones; with `components`
    also the module for WebAssembly components.
    """
    from kinetree.fmu.native.shell import ready, shell_library
    from kinetree.fmu.source import webassembly

    if platforms is not None:
        return {
            each: webassembly.module_path(webassembly.CORE, say)
            if each == WEBASSEMBLY
            else shell_library(each, say)
            for each in platforms
        }
    own = this_platform()
    found = {own: shell_library(own, say)} if own else {}
    others = {
        each: webassembly.ready(webassembly.CORE) if each == WEBASSEMBLY else ready(each)
        for each in PLATFORMS.values()
        if each != own and (components or each != WEBASSEMBLY)
    }
    return found | {each: path for each, path in others.items() if path is not None}


def place_of(target: Platform, identifier: str, version: int) -> str:
    """Return the path of a binary inside the archive."""
    return (
        f"binaries/{target.name if version == 2 else target.tuple}/{identifier}{target.extension}"
    )
