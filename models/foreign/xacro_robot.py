"""URDF robots with xacro macros as descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kinetree.models.foreign.urdf import ARGUMENTS as ROBOT_ARGUMENTS
from kinetree.models.foreign.urdf import described, parsed
from kinetree.models.foreign.xacro_text import expanded

ARGUMENTS = ROBOT_ARGUMENTS


def describe(
    path: Path,
    floating: bool = False,
    limits: bool = False,
    torques: bool = False,
    keep_fixed: bool = False,
    arguments: Mapping[str, object] | None = None,
) -> tuple[dict, list[str]]:
    """Return the description of a robot and a list of what was left out; `arguments` are those of
    xacro:arg.
    """
    return described(
        path, parsed(path, expanded(path, arguments)), floating, limits, torques, keep_fixed
    )
