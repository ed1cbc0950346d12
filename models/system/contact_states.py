"""Refusal of analyses of single states for mechanisms with contacts: a state alone does not tell
which contacts are closed, stick or slide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinetree.models.system.system import System


def refuse_contacts(system: System, what: str) -> None:
    """Raise if a mechanism has contacts; `what` names the analysis."""
    if system.compiled.contacts:
        names = ", ".join(f"'{name}'" for name in system.compiled.contacts[:3])
        hint = "use joints and couplings for what stays closed, or force elements of kind contact"
        raise ValueError(
            f"{what} of '{system.name}': contacts ({names}) open, close and slide, which only runs know; {hint}"
        )
