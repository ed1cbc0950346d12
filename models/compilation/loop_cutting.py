"""Closed loops: the body at a cut joint is split into two halves, which constraints weld together.

Every cut joint carries a twin of the body it leads to, as a new leaf of the tree. Joint kinds,
prescribed motions and reactions of cut joints therefore need no special code: the loop is always
closed by the weld of a twin to its original ([SC24] joint-coordinate method). Couplings add rows of
their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.compilation.closing_joints import PARTS, closing_of, plain_closings
from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import Body, Description, JointSpec
from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.expressions.nodes import Node
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.graph.tree import GROUND, Topology, path_set
from kinetree.models.language.parameters import evaluate_parameters
from kinetree.solvers import layout as L
from kinetree.solvers.model_records import ARM

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder

ZERO_ROW = 1e-20  # part of its scale below which the diagonal of a row is the square of rounding
HEAVIER = 10.0  # times the mass of the child, from which on the parent is cut
HELD_COORDINATE, HELD_SPEED = 1, 2  # bits of u_held


@dataclass(frozen=True)
class Twin:
    """The twin: the second half of a body that is split at a cut joint."""

    name: str
    body: str  # its original
    other: str  # the body at the other end of the joint, which carries the twin
    joint: str
    reversed: bool  # the joint is used from its child to its parent


@dataclass(frozen=True)
class CutTopology(Topology):
    """A tree with the twins of cut joints as leaves; closing joints whose coordinates nothing reads
    have none.
    """

    twins: tuple[Twin, ...] = ()
    closings: tuple[str, ...] = ()
    halves: tuple[tuple[str, int], ...] = ()  # bodies that were cut, and into how many parts


def with_twins(
    description: Description, tree: Topology, locked: Collection[str] = ()
) -> CutTopology:
    """Return the tree with a leaf for every cut joint except unlocked plain closing joints."""
    number = {GROUND: 0} | {body: k for k, body in enumerate(tree.order, 1)}
    masses = masses_of(description) if tree.cuts else {}
    closings = plain_closings(description, tree.cuts, locked)
    welded = tuple(joint for joint in tree.cuts if joint not in closings)
    twins = tuple(twin_of(description.joints[joint], joint, masses) for joint in welded)
    parts: dict[str, int] = {}
    for twin in twins:
        parts[twin.body] = parts.get(twin.body, 1) + 1
    return CutTopology(
        order=tree.order + tuple(twin.name for twin in twins),
        parent=tree.parent + tuple(number[twin.other] for twin in twins),
        joint=tree.joint + welded,
        reversed=tree.reversed + tuple(twin.reversed for twin in twins),
        cuts=tree.cuts,
        twins=twins,
        halves=tuple(parts.items()),
        closings=closings,
    )


def twin_of(joint: JointSpec, name: str, masses: Mapping[str, float]) -> Twin:
    """Return which body of a joint to split: the child, or the parent if the child is massless or
    light.
    """
    sides = ((joint.child, joint.parent, False), (joint.parent, joint.child, True))
    able = [side for side in sides if masses[side[0]] > 0.0]
    if len(able) == 2 and masses[joint.parent] > HEAVIER * masses[joint.child]:
        able.reverse()
    body, other, turned = (
        able[0] if able else next((side for side in sides if side[0] == GROUND), sides[0])
    )
    return Twin(f"{body} at {name}", body, other, name, turned)


def masses_of(description: Description) -> dict[str, float]:
    """Return the masses for the current parameter values; the ground has none to share."""
    values, _ = evaluate_parameters(
        {name: parameter.value for name, parameter in description.parameters.items()}
    )
    masses = {
        name: body.mass if isinstance(body.mass, float) else evaluate_constant(body.mass, values)
        for name, body in description.bodies.items()
    }
    return {GROUND: 0.0} | masses


def body_shares(description: Description, topology: Topology) -> list[tuple[Body, str, float]]:
    """Return data, path and mass share of every body in the numbering."""
    parts = dict(topology.halves) if isinstance(topology, CutTopology) else {}
    twins = (
        {twin.name: twin for twin in topology.twins} if isinstance(topology, CutTopology) else {}
    )
    shares = []
    for name in topology.order:
        twin = twins.get(name)
        original = twin.body if twin else name
        if twin is not None and original == GROUND:
            shares.append((anchor(description.bodies[twin.other]), f"bodies.{twin.other}", 1.0))
        else:
            shares.append(
                (description.bodies[original], f"bodies.{original}", 1.0 / parts.get(original, 1))
            )
    return shares


def anchor(other: Body) -> Body:
    """Return a body that represents a piece of the ground as a twin; it never moves, so its inertia
    only needs a suitable magnitude.
    """
    tensor = other.inertia or other.inertia_at_origin or (0.0,) * 6
    size = "+".join(
        f"({each})" for each in (*tensor[:3], *(f"({other.mass})*({c})**2" for c in other.com))
    )
    known = any(part != 0.0 for part in (*tensor[:3], *other.com))
    mass = other.mass if other.mass != 0.0 else 1.0
    spin = size if known and other.mass != 0.0 else mass
    return Body(mass=mass, com=(0.0, 0.0, 0.0), inertia=(spin, spin, spin, 0.0, 0.0, 0.0))


def times(share: float, value: float | str | Node) -> float | str | Node:
    """Return a share of a number or expression of the description."""
    return value if share == 1.0 else (E(value) * share).node


# -- constraint rows ----------------------------------------------------------------------------------------------------------------------
@dataclass
class Group:
    """A group of constraint rows: six of a weld, three to five of a joint without a twin, one of a
    coupling.
    """

    name: str
    kind: int
    a: int  # original body, or first of the registers value, rate, rest of the second derivative
    b: int  # twin, or number among the rows of couplings
    bodies: tuple[int, ...]  # on the paths to the ground, ascending
    slopes: tuple[tuple[int, int], ...] = ()  # speed and register of the partial derivative
    parts: tuple[int, ...] = (0,)  # components of the residual that have rows
    level: int = L.POSITIONS
    arms: tuple[
        tuple[int, int, int, int], ...
    ] = ()  # body, registers of a point and of the derivatives by its velocity and by the spin
    points: tuple[int, int] = (-1, -1)  # registers of a joint's places on bodies a and b
    turns: tuple[int, int, int, int] = (-1, -1, -1, -1)  # registers of directions, see l_turn
    axes: int = 0  # body in whose axes the rows stand, but those of couplings and held turns

    @property
    def rows(self) -> int:
        return len(self.parts)


def add_groups(builder: Builder, joints: dict[str, list[int]]) -> list[Group]:
    """Add the constraint groups of all cut joints and couplings, ordered for a small envelope."""
    topology, parent = builder.topology, builder.topology.parent
    groups = []
    for twin in topology.twins if isinstance(topology, CutTopology) else ():
        a = 0 if twin.body == GROUND else topology.order.index(twin.body) + 1
        b = topology.order.index(twin.name) + 1
        bodies = sorted({*path_set(parent, a), *path_set(parent, b)})
        groups.append(Group(twin.joint, L.Loop.WELD, a, b, tuple(bodies), parts=tuple(range(6))))
    for name in topology.closings if isinstance(topology, CutTopology) else ():
        kind, a, b, points, turns = closing_of(builder, name)
        paths = tuple(sorted({*path_set(parent, a), *path_set(parent, b)}))
        groups.append(Group(name, kind, a, b, paths, parts=PARTS[kind], points=points, turns=turns))
    from kinetree.models.compilation.couplings import bodies_on_paths, coupling_rows

    for row in coupling_rows(builder):
        paths = bodies_on_paths(builder, row, joints["u_body"])
        groups.append(
            Group(
                row.name,
                L.Loop.COUPLING,
                row.first,
                row.number,
                paths,
                row.slopes,
                level=row.level,
                arms=row.arms,
            )
        )
    moving = [joints["u_at"][i + 1] > joints["u_at"][i] for i in range(len(topology.order) + 1)]
    # rows of positions first: their ranks must not count on rows that hold speeds only
    return [
        group
        for level in (L.POSITIONS, L.SPEEDS)
        for group in ordered([each for each in groups if each.level == level], moving)
    ]


def ordered(groups: list[Group], moving: Sequence[bool]) -> list[Group]:
    """Return the groups in the given or the reverse Cuthill-McKee order, whichever has the smaller
    envelope.
    """
    if len(groups) < 3:
        return groups
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    parts = [{i for i in group.bodies if moving[i]} for group in groups]
    meet = np.array([[bool(p & r) for r in parts] for p in parts])
    order = reverse_cuthill_mckee(csr_matrix(meet), symmetric_mode=True)
    plain, better = (
        sum(k - np.argmax(m[k, : k + 1]) for k in range(len(groups)))
        for m in (meet, meet[np.ix_(order, order)])
    )
    return [groups[k] for k in order] if better < plain else groups


def loop_arrays(
    groups: list[Group], parent: Sequence[int], joints: Mapping[str, list[int]], held: Sequence[int]
) -> dict[str, np.ndarray]:
    """Return the integer arrays of the constraint rows by field name."""
    u_at = joints["u_at"]
    c: dict[str, list[int]] = {
        name: []
        for name in (
            "l_kind",
            "l_a",
            "l_b",
            "l_level",
            "l_from",
            "l_into",
            "l_axes",
            "l_point",
            "l_turn",
            "l_body",
            "l_up",
            "l_x",
            "l_columns",
            "l_first",
            "l_speed",
            "l_slope",
            "l_part",
            "l_arm",
            "l_shared",
        )
    }
    c |= {
        "l_row": [0],
        "l_at": [0],
        "l_k": [0],
        "l_env": [0],
        "l_arm_at": [0],
        "l_block": [0],
        "l_shared_at": [0],
    }
    x = 0
    moving: list[dict[int, int]] = []
    for k, group in enumerate(groups):
        at = len(c["l_body"])
        place = {body: at + e for e, body in enumerate(group.bodies)}
        c["l_kind"].append(int(group.kind))
        c["l_a"].append(group.a)
        c["l_part"] += group.parts
        c["l_b"].append(group.b)
        c["l_level"].append(group.level)
        for body, *registers in group.arms:
            c["l_arm"] += [place[body], body, *registers]
        c["l_arm_at"].append(len(c["l_arm"]) // ARM.size)
        welded = group.kind != L.Loop.COUPLING
        c["l_from"].append(place.get(group.a, -1) if welded else -1)
        c["l_into"].append(place.get(group.b, -1) if welded else -1)
        c["l_point"] += group.points
        c["l_turn"] += group.turns
        c["l_axes"].append(group.axes)
        for body in group.bodies:
            c["l_body"].append(body)
            c["l_up"].append(place.get(parent[body - 1], -1))
            c["l_x"].append(x)
            x += group.rows * (u_at[body + 1] - u_at[body])
        c["l_columns"].append(sum(u_at[body + 1] - u_at[body] for body in group.bodies))
        moving.append({body: entry for body, entry in place.items() if u_at[body + 1] > u_at[body]})
        first = next(m for m in range(k + 1) if m == k or moving[m].keys() & moving[k].keys())
        for m in range(first, k + 1):
            shared = sorted(moving[m].keys() & moving[k].keys()) if m < k else ()
            c["l_shared"] += [
                entry for body in shared for entry in (moving[k][body], moving[m][body])
            ]
            c["l_shared_at"].append(len(c["l_shared"]) // 2)
        c["l_block"].append(len(c["l_shared_at"]) - 1)
        c["l_first"].append(first)
        c["l_env"].append(
            c["l_env"][-1] + group.rows * (c["l_row"][-1] + group.rows - c["l_row"][first])
        )
        c["l_row"].append(c["l_row"][-1] + group.rows)
        c["l_at"].append(len(c["l_body"]))
        c["l_speed"] += [speed for speed, _ in group.slopes]
        c["l_slope"] += [register for _, register in group.slopes]
        c["l_k"].append(len(c["l_speed"]))
    arrays = {name: np.array(values, dtype=np.int64) for name, values in c.items()}
    arrays["l_rank"] = np.array([group.rows for group in groups], dtype=np.int64)
    arrays["u_held"] = np.array(held, dtype=np.int64)
    arrays["l_size"] = np.array([x], dtype=np.int64)
    return arrays


def live_groups(
    groups: list[Group], ranks: np.ndarray, live: np.ndarray
) -> tuple[list[Group], np.ndarray]:
    """Return the groups without rows that are always zero, such as the out-of-plane rows of a
    planar mechanism.
    """
    kept, kept_ranks, row = [], [], 0
    for group, rank in zip(groups, ranks, strict=True):
        parts = tuple(
            part
            for r, part in enumerate(group.parts)
            if live[row + r] > ZERO_ROW or group.kind == L.Loop.COUPLING
        )
        row += group.rows
        kept.append(replace(group, parts=parts))
        kept_ranks.append(int(rank))
    return kept, np.array(kept_ranks, dtype=np.int64)


def with_axes(
    groups: list[Group], parent: Sequence[int], ranks: np.ndarray, live: np.ndarray
) -> list[Group] | None:
    """Return the groups with the rows of redundant loops expressed in axes of the nearest body that
    carries the whole loop, where some rows may vanish; None if no group changes.
    """
    turned, row = [], 0
    for group, rank in zip(groups, ranks, strict=True):
        alive = int(np.sum(live[row : row + group.rows] > ZERO_ROW))
        row += group.rows
        axes = 0
        if group.kind != L.Loop.COUPLING and rank < alive:
            axes = carrier_of(parent, group.a, group.b)
        turned.append(replace(group, axes=axes))
    return turned if any(group.axes for group in turned) else None


def carrier_of(parent: Sequence[int], a: int, b: int) -> int:
    """Return the nearest body that carries both bodies a and b, or is one of them; 0 is the ground."""
    return max({0, *path_set(parent, a)} & {0, *path_set(parent, b)})


def held_starts(
    description: Description, topology: Topology, speeds: Sequence[Sequence[str]]
) -> list[int]:
    """Return for each speed whether the user gave start values of its coordinate and of itself."""
    held: list[int] = []
    for joint, names_of_speeds in zip(topology.joint, speeds, strict=True):
        spec = description.joints[joint]
        if not names_of_speeds:  # rigid or locked
            continue
        first = len(held)
        if spec.transforms is None:
            bits = HELD_COORDINATE * (spec.start is not None) + HELD_SPEED * (
                spec.speed is not None
            )
            held += [bits] * len(names_of_speeds)
        else:
            given = {
                transform.coordinate: transform.model_fields_set
                - ({"start", "speed"} if transform.guess else set())
                for transform in reversed(spec.transforms)
                if transform.coordinate is not None
            }
            order = list(
                dict.fromkeys(
                    transform.coordinate
                    for transform in spec.transforms
                    if transform.coordinate is not None
                )
            )
            held += [
                HELD_COORDINATE * ("start" in given[name]) + HELD_SPEED * ("speed" in given[name])
                for name in order
            ]
        if description.starts:
            places = joint_elements(spec, joint).coordinates
            alike = len(places) == len(names_of_speeds)
            for k, speed in enumerate(names_of_speeds):
                mine = (places[k],) if alike else places
                held[first + k] |= HELD_COORDINATE * any(
                    name in description.starts for name in mine
                )
                held[first + k] |= HELD_SPEED * (speed in description.starts)
    return held


def loop_counts(arrays: dict[str, np.ndarray]) -> dict[str, int]:
    """Return the counts from which the sizes of fields are computed."""
    return {
        "nl": arrays["l_kind"].size,
        "nlr": int(arrays["l_row"][-1]),
        "nle": arrays["l_body"].size,
        "nlx": int(arrays["l_size"][0]),
        "nlg": int(arrays["l_env"][-1]),
        "ngh": arrays["ghosts"].size,
    }


def tree_of(topology: Topology) -> Topology:
    """Return the tree without its twins."""
    if not isinstance(topology, CutTopology):
        return topology
    count = len(topology.order) - len(topology.twins)
    return Topology(
        topology.order[:count],
        topology.parent[:count],
        topology.joint[:count],
        topology.reversed[:count],
        topology.cuts,
    )
