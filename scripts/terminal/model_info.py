"""Structure of a mechanism as plain data: the content of `kinetree info` and of its JSON."""

from typing import Any


def engine_of(system: Any) -> str:
    """Return the form (formulation) used for runs: [run] method, or DEC (block decomposition) by
    default.
    """
    method = system.description.run.method
    return "DEC" if method == "auto" else method


def straight_line_of(system: Any) -> dict[str, Any] | None:
    """Return the approximate operation count of straight-line code, and the number of evaluations
    from which a run uses it; None if it never does.
    """
    from kinetree.models.specialised.engine_choice import worthwhile

    compiled = system.compiled.running
    count, least = worthwhile(compiled)
    never = compiled.contacts or system.description.reduced or engine_of(system) != "DEC"
    if never or least == float("inf"):
        return None
    return {"operations": round(count), "evaluations": round(least)}


def beams_of(system: Any) -> list[dict[str, Any]]:
    """Return length, mass, elements, hinges, pieces and clamped natural frequencies [Hz] of every
    beam.
    """
    from kinetree.models.beams.beam_reports import clamped_frequencies

    description = system.description
    bodies = {name: [] for name in description.beam_forms}
    for (section, each), beam in description.pieces.items():
        if section == "bodies" and beam in bodies:
            bodies[beam].append(each)
    return [
        {
            "name": name,
            "length": form.chain.length,
            "elements": len(form.chain.ends) - 1,
            "hinges": len(form.hinges),
            "pieces": bodies[name],
            "frequencies": clamped_frequencies(description, name),
        }
        for name, form in description.beam_forms.items()
    ]


def anatomy(system: Any) -> dict[str, Any]:
    """Return bodies, joints, degrees of freedom, loops, inputs, outputs, parameters, costs and the
    method used.
    """
    from kinetree.models.description.joints import joint_elements

    description, compiled = system.description, system.compiled
    topology = compiled.topology
    names = ("ground", *topology.order)
    joints, known = {}, {joint for joint, _ in compiled.all_joints}
    for name, joint in description.joints.items():
        form = joint_elements(joint, name)
        moving = name in known or name not in topology.cuts
        joints[name] = {
            "name": name,
            "parent": joint.parent,
            "child": joint.child,
            "type": joint.type or "transforms",
            "freedoms": len(form.speeds),
            "coordinates": list(form.coordinates) if moving else [],
            "speeds": list(form.speeds) if moving else [],
            "cut": name in topology.cuts,
        }
    costs = {method: float(flops) for method, flops in system.costs().items()}
    return {
        "name": system.name,
        "text": description.text,
        "bodies": [
            {"name": body, "parent": names[parent], "joint": joint}
            for body, parent, joint in zip(topology.order, topology.parent, topology.joint)
        ],
        "beams": beams_of(system),
        "merged": dict(compiled.running.carriers),
        "joints": list(joints.values()),
        "freedoms": system.freedoms,
        "position_freedoms": system.position_freedoms,
        "couplings": list(system.description.couplings),
        "coordinates": list(system.coordinates),
        "speeds": list(system.speeds),
        "cut_joints": list(system.cut_joints),
        "redundant": list(system.redundant),
        "inputs": [
            {"name": name, "start": value.start, "unit": value.unit, "text": value.text}
            for name, value in description.inputs.items()
        ],
        "outputs": [
            {"name": column.name, "unit": column.unit, "text": column.text}
            for column in compiled.outputs
        ],
        "states": list(description.states),
        "forces": list(description.forces),
        "parameters": [
            {
                "name": name,
                "value": value.value,
                "unit": value.unit,
                "tunable": value.tunable,
                "text": value.text,
            }
            for name, value in description.parameters.items()
        ],
        "stages": [stage.name or str(number) for number, stage in enumerate(description.stages, 1)],
        "costs": costs,
        "engine": engine_of(system),
        "straight_line": straight_line_of(system),
        "cheapest": system.choose(),
    }
