"""Registry of typed joints: each file of this folder declares one kind.

The `type` of a joint in descriptions, its keys and their checks, names and start values of
coordinates and speeds, units, docs and the joints of random test mechanisms come from the registry.
A new typed joint is one file with a JOINT: a sequence of elements, which may share coordinates.
"""

from __future__ import annotations

from kinetree.models.joints.joint_kind import JointKind
from kinetree.models.registry import registered

KINDS: dict[str, JointKind] = registered(__name__, __path__, "JOINT", "kinds of joints")
