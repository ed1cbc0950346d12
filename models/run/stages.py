"""The structures a mechanism passes through: one description per stage, changed by what the stages before it let go, drop, lock and set."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.models.description.errors import ModelError, Problem
from kinetree.models.description.force_parts import Force
from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import Description, Ends, JointSpec, Stage
from kinetree.models.description.value_parts import Output
from kinetree.models.graph.tree import Topology, regular_numbering


@dataclass(frozen=True)
class Structure:
    """A stage: its name, what the mechanism is during it, and how it was entered."""

    name: str
    description: Description
    locked: frozenset[str]
    end: Ends | None
    freed: tuple[str, ...] = ()  # bodies that became free at its beginning
    newly_locked: tuple[str, ...] = ()  # joints that became rigid at its beginning
    set: tuple[str, ...] = ()  # parameters that changed at its beginning


def numbering(description: Description, locked: frozenset[str] = frozenset()) -> Topology:
    """Spanning tree and regular numbering of a description."""
    freedoms = {name: 0 if name in locked else len(joint_elements(joint, name).speeds) for name, joint in description.joints.items()}
    edges = [(name, joint.parent, joint.child, joint.cut) for name, joint in description.joints.items()]
    return regular_numbering(list(description.bodies), edges, freedoms)


def flat(stages: tuple[Stage, ...]) -> list[Stage]:
    """Stages in order, sequences unrolled."""
    return [each for stage in stages for each in (flat(stage.sequence) if stage.sequence else [stage])]


def structures(description: Description) -> list[Structure]:
    """All structures in order; a mechanism without stages has one that never ends."""
    stages = flat(description.stages)
    if not stages:
        return [Structure("", description, frozenset(), None)]
    present, locked = description, frozenset[str]()
    found = [Structure(stages[0].name, present, locked, stages[0].ends)]
    for k, stage in enumerate(stages):
        changes = bool(stage.free or stage.drop or stage.lock or stage.set)
        following = stages[k + 1] if k + 1 < len(stages) else None
        if following is None and not (changes and stage.ends):
            break
        present, freed = without(present, stage, f"stages[{k}]")
        locked = (locked | set(stage.lock)) & set(present.joints)
        present = without_work(present, locked)
        name = following.name if following else f"after {stage.name}".strip()
        end = following.ends if following else None
        found.append(Structure(name, present, locked, end, freed, tuple(j for j in stage.lock if j in present.joints), tuple(stage.set)))
    return found


def without(description: Description, stage: Stage, key: str) -> tuple[Description, tuple[str, ...]]:
    """The description after the end of a stage, and the bodies that became free."""
    bodies = {name: body for name, body in description.bodies.items() if name not in stage.drop}
    joints = {name: j for name, j in description.joints.items() if j.child in {"ground", *bodies} and j.parent in {"ground", *bodies}}
    freed = []
    for name in stage.free:
        joint = joints.pop(name, None)
        if joint is None:
            raise ModelError(Problem(f"{key}.free", repr(name), "a joint that is still there", file=description.file))
        if not reaches_ground(joint.child, joints):
            free = joint.child if joint.child not in joints else f"{joint.child} free"
            joints[free] = JointSpec(parent="ground", child=joint.child, type="free")
            freed.append(joint.child)
    for name in bodies:
        if not reaches_ground(name, joints):
            raise ModelError(Problem(f"{key}.drop", repr(name), "no body that hangs on a dropped one; drop it too or let it go first"))
    parameters = {n: p.model_copy(update={"value": stage.set[n]}) if n in stage.set else p for n, p in description.parameters.items()}
    coordinates = {c for n, j in joints.items() for c in joint_elements(j, n).coordinates}
    forces = {n: f for n, f in description.forces.items() if force_stands(f, bodies, coordinates)}
    outputs = {n: o for n, o in description.outputs.items() if output_stands(o, bodies, joints, forces)}
    couplings = description.couplings
    changed = {"bodies": bodies, "joints": joints, "parameters": parameters, "forces": forces, "outputs": outputs, "couplings": couplings}
    return description.model_copy(update=changed), tuple(freed)


def without_work(description: Description, locked: frozenset[str]) -> Description:
    """The description without forces along coordinates of rigid joints."""
    rigid = {name for joint in locked for name in joint_elements(description.joints[joint], joint).coordinates}
    forces = {label: force for label, force in description.forces.items() if getattr(force, "coordinate", None) not in rigid}
    outputs = {label: output for label, output in description.outputs.items() if output.force is None or output.force in forces}
    return description.model_copy(update={"forces": forces, "outputs": outputs})


def reaches_ground(body: str, joints: dict[str, JointSpec]) -> bool:
    """Whether joints connect a body to the ground."""
    seen, stack = {body}, [body]
    while stack:
        here = stack.pop()
        for joint in joints.values():
            for a, b in ((joint.parent, joint.child), (joint.child, joint.parent)):
                if a == here and b not in seen:
                    if b == "ground":
                        return True
                    seen.add(b)
                    stack.append(b)
    return "ground" in seen


def force_stands(force: Force, bodies: dict, coordinates: set[str]) -> bool:
    """Whether everything a force acts on is still there."""
    there = {"ground", *bodies}
    ends = [point.body for point in getattr(force, "between", None) or ()]
    body = getattr(force, "body", None)
    coordinate = getattr(force, "coordinate", None)
    return set(ends) <= there and (body is None or body in there) and (coordinate is None or coordinate in coordinates)


def output_stands(output: Output, bodies: dict, joints: dict, forces: dict) -> bool:
    """Whether what a quantity measures is still there; expressions are judged when they are compiled."""
    there = {"ground", *bodies}
    named = {output.body, output.reference.body if output.reference else None, *(point.body for point in output.between or ())}
    named |= {output.frame} - {"body"}
    bodies_left = output.bodies is None or not set(output.bodies).isdisjoint(bodies)
    joint_left = output.joint is None or output.joint in joints
    return named <= {None, *there} and bodies_left and joint_left and (output.force is None or output.force in forces)
