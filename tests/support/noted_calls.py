"""Calls of a kernel's surroundings that are only noted: what was called, with which instants, and which of them fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FAILURE = 6


class Noted:
    """Stand-ins for functions of a module; `fails` names the one that does not succeed, `values` what others give back."""

    def __init__(self, monkeypatch, module: Any, *names: str, fails: str = "", **values: Any):
        self.told: list[str] = []
        self.fails = fails
        for name in (*names, *values):
            monkeypatch.setattr(module, name, self.call(name, values.get(name, 0)))

    def call(self, name: str, value: Any = 0) -> Callable[..., Any]:
        """A function that notes its name and the floats it is given, and gives back the value, or what it makes of the arguments."""

        def noted(*arguments: Any) -> Any:
            self.told.append(
                " ".join([name, *(f"{each:g}" for each in arguments if isinstance(each, float))])
            )
            found = value(*arguments) if callable(value) else value
            return FAILURE if name == self.fails else found

        return noted
