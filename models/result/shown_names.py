"""Names that plots and tables show for variables: those of `[report.names]`, else their own."""

from __future__ import annotations

from typing import Any


def shown_name(result: Any, name: str) -> str:
    """Return the name that a variable of a run has in plots and tables."""
    names = getattr(result, "shown_names", {})  # results of files have none
    return names.get(name, name)
