"""Names of the forms of the equations of motion, and what each needs in a workspace."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.solvers.layout import Method

LAGRANGE = {
    "DEC": Method.DEC, "DRT": Method.DRT, "CBM": Method.CBM, "LGR": Method.LGR, "ITR-M": Method.ITR_M, "ITR-G": Method.ITR_G,
    "ITR-DIRECT": Method.ITR_DIRECT, "ABM": Method.ABM,
}  # fmt: skip
HAMILTON = {"CBM-H": Method.CBM_H, "LGR-H": Method.LGR_H, "ITR-H": Method.ITR_H, "ABM-H": Method.ABM_H, "DEC-H": Method.DEC_H}
NO_GROUPS: frozenset[str] = frozenset()
LINEAR = frozenset({"literal"})
PATH = frozenset({"literal", "path"})
SIBLING = frozenset({"literal", "sibling"})
MASS = frozenset({"literal", "path", "dense"})
# what a form needs in the workspace besides the kinematics
GROUPS = {
    "DRT": PATH | {"direct"}, "CBM": PATH, "CBM-H": PATH, "LGR": SIBLING, "LGR-H": SIBLING, "ABM": LINEAR, "ABM-H": LINEAR, "DEC-H": LINEAR,
    "ITR-M": MASS, "ITR-G": MASS, "ITR-DIRECT": MASS, "ITR-H": MASS,
}  # fmt: skip


def known(method: str, methods: Mapping[str, Method], default: str) -> str:
    """The name of a method; `auto` is the default engine."""
    if method == "auto":
        return default
    if method not in methods:
        raise ValueError(f"unknown method '{method}', expected one of auto, {', '.join(methods)}")
    return method


def entry_name(method: str) -> str:
    return method.lower().replace("-", "_")
