"""The structures of a mechanism: one per stage, after the releases, drops, locks and settings at
the ends of the stages before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kinetree.models.compilation.compile import compile_structure
from kinetree.models.compilation.rigid_body_merging import attached, merged
from kinetree.models.description.joints import joint_elements
from kinetree.models.description.output_parts import Output
from kinetree.models.description.schema import Description, Ends, JointSpec, Stage
from kinetree.models.engine.compiled import Compiled
from kinetree.models.expressions.parse import names, parse
from kinetree.models.forces.force_schema import ForceTable
from kinetree.models.graph.tree import GROUND, Topology, regular_numbering
from kinetree.models.language.errors import ModelError, Problem
from kinetree.models.language.parts.coupling_parts import bodies_of
from kinetree.models.language.parts.value_parts import Parameter


@dataclass(frozen=True)
class Structure:
    """The structure of one stage: its name, its mechanism, and the transition into it."""

    name: str
    description: Description
    locked: frozenset[str]
    end: Ends | None
    freed: tuple[str, ...] = ()  # bodies that became free at its beginning
    newly_locked: tuple[str, ...] = ()  # joints that became rigid at its beginning
    set: tuple[str, ...] = ()  # parameters that changed at its beginning
    at_end: Mapping[str, float | str] = field(
        default_factory=dict
    )  # what its end sets by laws of the state, before the structure changes
    parts: frozenset[str] = frozenset()  # bodies that are parts of others in every structure


def numbering(description: Description, locked: frozenset[str] = frozenset()) -> Topology:
    """Return the spanning tree and regular numbering of a description."""
    freedoms = {
        name: 0 if name in locked else len(joint_elements(joint, name).speeds)
        for name, joint in description.joints.items()
    }
    edges = [
        (name, joint.parent, joint.child, joint.cut) for name, joint in description.joints.items()
    ]
    return regular_numbering(list(description.bodies), edges, freedoms)


def compile_stage(
    stage: Structure, later: bool = True, starts: Mapping[str, float] | None = None
) -> Compiled:
    """Return the compiled flat blocks of one structure."""
    tree = numbering(stage.description, stage.locked)
    try:
        whole = compile_structure(
            stage.description, tree, stage.locked, stage.end, later, starts, stage.at_end
        )
    except ModelError as error:
        where = f"in stage '{stage.name}'" if stage.name else ""
        raise ModelError(
            [replace(each, hint=f"{each.hint} {where}".strip()) for each in error.problems]
            if later
            else error.problems
        ) from None
    found = merged(stage.description, tree, stage.parts) if stage.parts else None
    if found is None:
        return whole
    few = compile_structure(
        found.description,
        found.topology,
        stage.locked,
        stage.end,
        later,
        starts,
        stage.at_end,
        found.around,
    )
    return replace(whole, fewer=replace(few, carriers=found.carriers))


def flat(stages: tuple[Stage, ...]) -> list[Stage]:
    """Return the stages in order, with sequences unrolled."""
    return [
        each for stage in stages for each in (flat(stage.sequence) if stage.sequence else [stage])
    ]


def structures(description: Description) -> list[Structure]:
    """Return the structures of all stages in order; a single one without stages."""
    stages = flat(description.stages)
    parts = attached(description, numbering(description))
    if not stages:
        return [Structure("", description, frozenset(), None, parts=parts)]
    present, locked = description, frozenset[str]()
    found: list[Structure] = []
    name = stages[0].name
    entered: dict[str, Any] = {}
    for k, stage in enumerate(stages):
        following = stages[k + 1] if k + 1 < len(stages) else None
        changes = bool(stage.free or stage.drop or stage.lock or stage.set)
        ends = stage.ends if following or changes else None
        fixed, at_end = split(stage, present)
        found.append(
            Structure(
                name, present, locked, ends, at_end=at_end if ends else {}, parts=parts, **entered
            )
        )
        if ends is None:
            break
        present, freed = without(present, stage, fixed, f"stages[{k}]")
        for joint in stage.lock:
            if joint not in present.joints or joint in locked:
                what = f"'{joint}', which is locked already" if joint in locked else repr(joint)
                raise ModelError(
                    Problem(
                        f"stages[{k}].lock",
                        what,
                        "a joint that is still there",
                        file=description.file,
                    )
                )
        locked = (locked | set(stage.lock)) & set(present.joints)
        present = without_work(present, locked)
        name = following.name if following else f"after {stage.name}".strip()
        entered = {"freed": freed, "newly_locked": stage.lock, "set": tuple(fixed)}
        if following is None:
            found.append(Structure(name, present, locked, None, parts=parts, **entered))
    return found


def split(
    stage: Stage, description: Description
) -> tuple[dict[str, float | str], dict[str, float | str]]:
    """Return the settings at the end of a stage, split into constant parameter values and
    expressions evaluated at the event.
    """
    fixed: dict[str, float | str] = {}
    at_end: dict[str, float | str] = {}
    for target, value in stage.set.items():
        known = description.parameters
        plain = (
            target in known
            and (used := made_of(value, known)) <= known.keys()
            and target not in used
        )
        (fixed if plain else at_end)[target] = value
    return fixed, at_end


def made_of(value: float | str, parameters: Mapping[str, Parameter]) -> set[str]:
    """Return the names in a value, and in the parameters from which it is computed."""
    found, rest = set[str](), [value]
    while rest:
        new = names(parse(each)) - found if isinstance(each := rest.pop(), str) else set()
        found |= new
        rest += [parameters[name].value for name in new if name in parameters]
    return found


def without(
    description: Description, stage: Stage, fixed: Mapping[str, float | str], key: str
) -> tuple[Description, tuple[str, ...]]:
    """Return the description after the end of a stage, and the bodies that were released."""
    if not (stage.free or stage.drop or fixed):
        return description, ()
    dropped = set(stage.drop)
    bodies = {name: body for name, body in description.bodies.items() if name not in dropped}
    there = {GROUND, *bodies}
    joints = {
        name: j for name, j in description.joints.items() if j.child in there and j.parent in there
    }
    freed = []
    for name in stage.free:
        joint = joints.pop(name, None)
        if joint is None:
            gone = name in description.joints and dropped & {
                description.joints[name].parent,
                description.joints[name].child,
            }
            expected = (
                f"a joint whose bodies stay; {', '.join(sorted(gone))} leaves by drop"
                if gone
                else "a joint that is still there"
            )
            raise ModelError(Problem(f"{key}.free", repr(name), expected, file=description.file))
        if joint.child not in grounded(joints):
            free = joint.child if joint.child not in joints else f"{joint.child} free"
            joints[free] = JointSpec(parent=GROUND, child=joint.child, type="free")
            freed.append(joint.child)
    for name in sorted(bodies.keys() - grounded(joints), key=list(bodies).index):
        raise ModelError(
            Problem(
                f"{key}.drop",
                repr(name),
                "no body that hangs on a dropped one; drop it too or let it go first",
            )
        )
    parameters = {
        n: p.model_copy(update={"value": fixed[n]}) if n in fixed else p
        for n, p in description.parameters.items()
    }
    lost = {
        c
        for n, j in description.joints.items()
        if n not in joints
        for c in joint_elements(j, n).coordinates
    }
    forces = {n: f for n, f in description.forces.items() if force_stands(f, there, lost)}
    outputs = {
        n: o for n, o in description.outputs.items() if output_stands(o, there, joints, forces)
    }
    couplings = {n: c for n, c in description.couplings.items() if bodies_of(c) <= there}
    changed = {
        "bodies": bodies,
        "joints": joints,
        "parameters": parameters,
        "forces": forces,
        "outputs": outputs,
        "couplings": couplings,
    }
    return description.model_copy(update=changed), tuple(freed)


def without_work(description: Description, locked: frozenset[str]) -> Description:
    """Return the description without forces along coordinates of joints that have become rigid."""
    rigid = {
        name
        for joint in locked
        for name in joint_elements(description.joints[joint], joint).coordinates
    }
    forces = {
        label: force
        for label, force in description.forces.items()
        if not acts_on_all_of(force, rigid)
    }
    outputs = {
        label: output
        for label, output in description.outputs.items()
        if output.force is None or output.force in forces
    }
    return description.model_copy(update={"forces": forces, "outputs": outputs})


def acts_on_all_of(force: ForceTable, coordinates: Collection[str]) -> bool:
    """Return whether a force acts along the given coordinates and no others."""
    named = [name for _, name in force.coordinates()]
    between = "between" in type(force).model_fields
    return bool(named) and not between and set(named) <= set(coordinates)


def grounded(joints: Mapping[str, JointSpec]) -> set[str]:
    """Return the bodies that joints connect to the ground, and the ground."""
    around: dict[str, list[str]] = {}
    for joint in joints.values():
        around.setdefault(joint.parent, []).append(joint.child)
        around.setdefault(joint.child, []).append(joint.parent)
    seen, stack = {GROUND}, [GROUND]
    while stack:
        for body in around.get(stack.pop(), ()):
            if body not in seen:
                seen.add(body)
                stack.append(body)
    return seen


def force_stands(force: ForceTable, there: Collection[str], lost: Collection[str]) -> bool:
    """Return whether all bodies and coordinates that a force acts on still exist."""
    return all(body in there for _, body in force.bodies()) and not any(
        name in lost for _, name in force.coordinates()
    )


def output_stands(
    output: Output, there: Collection[str], joints: Collection[str], forces: Collection[str]
) -> bool:
    """Return whether everything that an output refers to still exists."""
    named = {
        output.body,
        output.reference.body if output.reference else None,
        *(point.body for point in output.between or ()),
    }
    named |= {output.frame} - {"body"}
    bodies_left = output.bodies is None or any(body in there for body in output.bodies)
    joint_left = output.joint is None or output.joint in joints
    return (
        named <= {None, GROUND, *there}
        and bodies_left
        and joint_left
        and (output.force is None or output.force in forces)
    )
