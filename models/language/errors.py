"""Errors of the models layer: one exception with all problems of a description, each as one
readable line.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

MOST_PROBLEMS = 100  # of one kind; further ones would only repeat themselves
SHOWN = 60  # characters of a found value that a message repeats


@dataclass(frozen=True)
class Problem:
    """One problem of a description: its path, the value found, what was expected, and a suggestion."""

    key: str  # dotted path of the key, "" for the file as a whole
    found: str = ""
    expected: str = ""
    hint: str = ""
    file: str = ""
    line: int | None = None
    column: int | None = None  # of the offending character inside an expression, from 1

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file and self.line else self.file
        text = f"{place}: " if place else ""
        text += f"{self.key}: " if self.key else ""
        parts = [f"found {self.found}"] if self.found else []
        parts += [f"expected {self.expected}"] if self.expected else []
        text += ", ".join(parts)
        text += f" (column {self.column})" if self.column is not None else ""
        text = f"{text}; {self.hint}" if self.hint and parts else text + self.hint
        return (
            text
            if text.isprintable()
            else "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
        )


class ModelError(Exception):
    """Raised for a description that cannot become a mechanism; `problems` lists everything that is
    wrong with it.
    """

    def __init__(self, problems: Iterable[Problem] | Problem | str):
        if isinstance(problems, str):
            problems = Problem(key="", hint=problems)
        self.problems: list[Problem] = (
            [problems] if isinstance(problems, Problem) else list(problems)
        )
        super().__init__(str(self))

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


def shown(value: object) -> str:
    """Return a found value for a message, quoted and shortened."""
    if isinstance(value, str):
        text = repr(str(value[: SHOWN + 2]))
    elif isinstance(value, dict):
        text = (
            f"a table with {len(value)} keys"
            if len(value) > 3
            else "a table with " + (", ".join(map(str, value)) or "no keys")
        )
    elif isinstance(value, (list, tuple)) and len(value) > 8:
        text = f"a list of {len(value)}"
    elif isinstance(value, int) and value.bit_length() > 200:
        text = "a huge integer"
    else:
        try:
            text = repr(value)
        except RecursionError:
            text = "something nested too deeply"
    return text if len(text) <= SHOWN + 3 else text[:SHOWN] + "..."


# words of other tools and textbooks, and the keys that mean them here, the likeliest first
OTHER_WORDS = {
    ("sample_time", "sampling_time", "sampling_period", "sample", "ts", "dt"): ("period", "step"),
    ("k", "spring_constant", "spring_rate", "spring"): ("stiffness", "kp"),
    ("c", "d", "b", "damper", "viscous"): ("damping", "kd"),
    ("rest_length", "free_length", "natural_length", "l0", "unstretched"): ("length", "rest"),
    ("min", "minimum", "lower", "lower_limit", "limits"): ("low", "min"),
    ("max", "maximum", "upper", "upper_limit"): ("high", "max"),
    ("gains", "p", "gain"): ("kp", "gain"),
    ("initial", "initial_value", "q0", "x0", "init"): ("start",),
    ("velocity", "v0", "initial_speed"): ("speed",),
    ("position", "origin", "pos", "location", "xyz"): ("at", "point", "com"),
    ("centre_of_mass", "center_of_mass", "cog", "cg"): ("com",),
    ("modulus", "e", "young", "young_modulus"): ("youngs_modulus",),
    ("g", "shear"): ("shear_modulus",),
    ("type",): ("kind",),
    ("kind",): ("type",),
    ("input", "sensor", "feedback", "measured"): ("measure", "input"),
    ("reference", "target", "desired", "set_point", "command"): ("setpoint",),
    ("friction", "mu", "friction_coefficient"): ("friction", "mu"),
    ("base", "from", "predecessor", "body1"): ("parent",),
    ("to", "successor", "link", "body2"): ("child",),
    ("end_time", "t_end", "duration", "tstop"): ("stop_time",),
    ("cardan", "u_joint", "hooke"): ("universal",),
    ("hinge", "pin", "pivot", "rotational", "continuous"): ("revolute",),
    ("slider", "slide", "sliding", "translational"): ("prismatic",),
    ("ball", "ball_joint", "ball_and_socket"): ("spherical",),
    ("fixed", "weld", "welded"): ("rigid",),
    ("floating", "six_dof"): ("free",),
}


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return `did you mean ...?` for a similar known name, else the known names if they are few."""
    known = list(known)
    text = str(name)[:100]
    for words, meant in OTHER_WORDS.items():
        if text.lower() in words and (found := [each for each in meant if each in known]):
            return f"did you mean '{found[0]}'?"
    lowered = {candidate.lower(): candidate for candidate in known[:1000]}
    close = difflib.get_close_matches(
        text.lower(), lowered, n=1, cutoff=0.6 if len(text) > 3 else 0.5
    )
    if close:
        return f"did you mean '{lowered[close[0]]}'?"
    return "known: " + ", ".join(known) if 0 < len(known) <= 12 else ""
