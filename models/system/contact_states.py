"""Contacts belong to motions: a state alone does not tell which of them are closed, stick or slide."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinetree.models.system.system import System


def refuse_contacts(system: System, what: str) -> None:
    """Raise where a mechanism has contacts."""
    if system.compiled.contacts:
        names = ", ".join(f"'{name}'" for name in system.compiled.contacts[:3])
        hint = "use joints and couplings for what stays closed, or force elements of kind contact"
        raise ValueError(
            f"{what} of '{system.name}': contacts ({names}) open, close and slide, which only runs know; {hint}"
        )
