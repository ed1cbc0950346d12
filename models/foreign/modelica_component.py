"""One component of a Modelica model: its path, class and modifications."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class Unreadable(ValueError):
    """Raised for an expression or class that cannot be evaluated; the text says which."""


@dataclass
class Component:
    """One component of a library class: its path, class and modifications."""

    path: str
    kind: str  # the last two names of the class, as Joints.Revolute
    values: dict[str, Any] = field(default_factory=dict)

    def number(self, key: str, default: float) -> float:
        """Return the value of a scalar parameter."""
        value = self.given(key)
        if value is None:
            return default
        if isinstance(value, str) or np.ndim(value) != 0 or not math.isfinite(value):
            raise Unreadable(f"{self.path}.{key} as a number")
        return float(value)

    def vector(self, key: str, default: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Return the value of a parameter with three components."""
        value = self.given(key)
        found = np.asarray(default if value is None else value)
        if found.shape != (3,) or found.dtype.kind not in "fiub" or not np.isfinite(found).all():
            raise Unreadable(f"{self.path}.{key} as three numbers")
        return found.astype(float)

    def given(self, key: str, inner: str = "") -> Any:
        """Return a modification, such as that of phi or of phi(start); None if it is missing."""
        value = self.values.get(key)
        if isinstance(value, dict):
            return value.get(inner)
        return None if inner else value

    def start(self, key: str, inner: str = "start") -> float:
        """Return the start value of a variable, 0 if it is missing."""
        value = self.given(key, inner)
        if value is None:
            return 0.0
        if isinstance(value, str) or np.ndim(value) != 0 or not math.isfinite(value):
            raise Unreadable(f"{self.path}.{key}({inner}) as a number")
        return float(value)

    def guess(self, key: str) -> float | None:
        """Return the start value of a variable if it is given or fixed, else None."""
        value = self.given(key, "start")
        if value is None:
            fixed = self.given(key, "fixed")
            return 0.0 if isinstance(fixed, (bool, np.bool_)) and fixed else None
        return self.start(key)

    def starts(self, key: str, rate: str) -> tuple[float | None, float | None, bool]:
        """Return the start values of a variable and of its rate, and whether both are guesses.

        A value that the model does not declare as fixed is a guess.
        """
        fixed = [self.given(each, "fixed") for each in (key, rate)]
        known = any(isinstance(each, (bool, np.bool_)) and each for each in fixed)
        return self.guess(key), self.guess(rate), not known

    def start_vector(self, key: str) -> np.ndarray:
        """Return the start value of a variable with three components, zeros if it is missing."""
        value = self.given(key, "start")
        found = np.zeros(3) if value is None else np.asarray(value)
        if found.shape != (3,) or found.dtype.kind not in "fiub" or not np.isfinite(found).all():
            raise Unreadable(f"{self.path}.{key}(start) as three numbers")
        return found.astype(float)
