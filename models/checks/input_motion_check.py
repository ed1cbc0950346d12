"""Checks of motions prescribed by inputs: rate and acceleration must be given or come from a
filter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.language.parts.input_motion_parts import Following, followings

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker


RATES = ("rate", "acceleration")


def check_followings(checker: Checker) -> None:
    seen: dict[str, Following] = {}
    for path, follow in followings(checker.description):
        in_coupling = path[0] == "couplings"
        if not in_coupling:
            transform = (checker.description.joints[str(path[1])].transforms or ())[int(path[3])]
            for key in ("by", "coordinate"):
                if getattr(transform, key) is not None:
                    checker.complain(path, f"{key} and follow", "one of them")
        for key in ("input", "rate", "acceleration"):
            checker.known((*path, key), getattr(follow, key), checker.description.inputs, "input")
        rates = [key for key in RATES if getattr(follow, key) is not None]
        if (
            follow.bandwidth is None
            and len(rates) < 2
            and not (in_coupling and follow.rate is not None)
        ):  # in a relation of speeds
            hint = "the derivatives of an input are unknown: give inputs for both, or a bandwidth for a filter that follows it smoothly"
            checker.complain(
                path,
                "without " + " and ".join(key for key in RATES if key not in rates),
                "rate and acceleration, or bandwidth",
                hint,
            )
        if follow.bandwidth is not None and rates:
            checker.complain(
                (*path, rates[0]),
                f"{rates[0]} beside bandwidth",
                "rate and acceleration, or bandwidth",
            )
        if follow.bandwidth is None and "damping" in follow.model_fields_set:
            checker.complain((*path, "damping"), "damping", "bandwidth beside it")
        for key, value in (
            ("bandwidth", checker.number(follow.bandwidth)),
            ("damping", checker.number(follow.damping)),
        ):
            if value is not None and not value > 0.0:
                checker.complain((*path, key), f"{value:g}", "a number above 0")
        if seen.setdefault(follow.input, follow) != follow:
            checker.complain(
                path,
                f"'{follow.input}' followed in two ways",
                "the same rates, or the same bandwidth and damping, everywhere",
            )
