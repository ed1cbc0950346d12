"""URDF from `.xacro` files by the package xacro, which expands macros, properties, arguments and
included files.

Expressions in such files are evaluated by that package while the file is read.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kinetree.models.foreign.robot import refused
from kinetree.models.language.plain_files import apart

SECONDS = 60.0  # for the macros of a file
MAX_EXPANDED_BYTES = 64_000_000  # bytes of what they write
KIND = "a robot in URDF with xacro's macros"


def expanded(path: Path, arguments: Mapping[str, object] | None = None) -> bytes:
    """Return the URDF text of a xacro file; `arguments` are those of xacro:arg."""
    if find_spec("xacro") is None:
        raise refused(
            str(path),
            "a file that needs the package xacro",
            KIND,
            "install it with 'pip install kinetree[robots]'",
        )
    given = {name: str(value) for name, value in (arguments or {}).items()}
    try:
        return apart(__name__, written.__name__, str(path), given, seconds=SECONDS)
    except ValueError as error:
        raise refused(
            str(path),
            f"what xacro cannot read: {error}",
            KIND,
            "arguments are given by --arg NAME=VALUE",
        ) from None


def written(path: str, given: dict[str, str]) -> bytes:
    """Expand the macros in this process, without a limit on time or depth."""
    import xacro

    said = io.StringIO()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(said):
            document: Any = xacro.process_file(path, mappings=given)
    except SystemExit:
        raise ValueError(said.getvalue().strip()[-200:]) from None
    except RecursionError:
        raise ValueError("macros that call one another without an end") from None
    except (ImportError, LookupError) as error:  # of ROS packages, or of names
        raise ValueError(str(error)) from None
    text = document.toxml(encoding="utf-8")
    if len(text) > MAX_EXPANDED_BYTES:
        raise ValueError(f"{len(text)} bytes, expected at most {MAX_EXPANDED_BYTES}")
    return text
