"""Names that the compiler makes up: hidden ones hold a colon, which no name of a description can; offered ones yield to the description's own."""

from __future__ import annotations

STAGE_START = "stage:start"  # register with the time at which the present stage began


def hidden(label: str, key: str) -> str:
    """The name of a value inside a force element or an actuator."""
    return f"{label}:{key}"


def rate_of_state(state: str) -> str:
    """The name of the rate of a state that an element brings along."""
    return hidden(state, "rate")


def early_name(key: str) -> str:
    """The name of an input or a state that is known before the kinematics."""
    return hidden(key, "early")


def free_name(wanted: str, taken: frozenset[str] | set[str]) -> str:
    """`wanted`, with as many underscores behind it as make it new."""
    while wanted in taken:
        wanted += "_"
    return wanted
