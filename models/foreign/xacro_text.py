"""URDF from its macros: `.xacro` files through the package xacro, which replaces macros, properties, arguments and included files.

Expressions in such files are evaluated by that package while the file is read.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

from kinetree.models.foreign.robot import refused

KIND = "a robot in URDF with xacro's macros"


def expanded(path: Path, arguments: Mapping[str, object] | None = None) -> bytes:
    """Return the URDF of a xacro file; `arguments` are those of xacro:arg."""
    try:
        import xacro
    except ImportError:
        raise refused(
            str(path),
            "a file that needs the package xacro",
            KIND,
            "install it with 'pip install kinetree[robots]'",
        ) from None
    given = {name: str(value) for name, value in (arguments or {}).items()}
    said = io.StringIO()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(said):
            document: Any = xacro.process_file(str(path), mappings=given)
    except SystemExit:
        raise refused(
            str(path), f"what xacro cannot read: {said.getvalue().strip()[-200:]}", KIND
        ) from None
    except (
        xacro.XacroException,
        ExpatError,
        OSError,
        ValueError,
        TypeError,
        NameError,
        KeyError,
        AttributeError,
        ZeroDivisionError,
    ) as error:
        raise refused(
            str(path),
            f"what xacro cannot read: {error}",
            KIND,
            "arguments are given by --arg NAME=VALUE",
        ) from None
    except Exception as error:  # lookups of ROS packages raise what their own package defines
        if type(error).__module__.partition(".")[0] not in (
            "ament_index_python",
            "rospkg",
            "xacro",
        ):
            raise
        raise refused(str(path), f"a package that is not there: {error}", KIND) from None
    return document.toxml(encoding="utf-8")
