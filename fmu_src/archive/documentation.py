"""documentation/index.html of an archive: the mechanism, its variables, its stages and how it is solved."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from kinetree.fmu.archive.tree_picture import tree_svg
from kinetree.fmu.variables import Table
from kinetree.models.joints.kinds import KINDS

STYLE = """body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}table{border-collapse:collapse;margin:1em 0}
td,th{border-bottom:1px solid #ccd;padding:.2em .7em;text-align:left;vertical-align:top}
th{background:#eef1f5}.wide{overflow-x:auto}code{background:#f2f3f5}"""


def index_html(unit: Any, table: Table, notes: dict[str, str]) -> str:
    """Return the whole page; `notes` are rows of the section on the solution."""
    d, c = unit.description, unit.system.compiled
    title = escape(d.name or "Mechanism")
    size = f"{len(c.bodies)} bodies, {len(c.speeds)} freedoms, {len(d.inputs)} inputs, {len(d.outputs)} outputs, {len(unit.stage_names)} stage(s)"
    parts = [
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>{title}</title><style>{STYLE}</style></head><body>',
        f"<h1>{title}</h1>",
        f"<p>{escape(d.text)}</p>" if d.text else "",
        f"<p>{size}.</p>",
        "<h2>Tree</h2>",
        f'<div class="wide">{tree_svg(c.bodies, c.parents, c.joints)}</div>',
        stages_section(unit),
        "<h2>Solution</h2>",
        rows([("", "")], [(escape(key), escape(value)) for key, value in notes.items()]),
        "<h2>Assumptions</h2>",
        f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in assumptions(unit))}</ul>",
        "<h2>Variables</h2>",
        variables_section(table),
        "</body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def rows(head: list[tuple[str, ...]], body: list[tuple[str, ...]]) -> str:
    """Return a table; cells are HTML."""
    cells = lambda row, tag: "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in row) + "</tr>"  # noqa: E731
    titles = "".join(cells(row, "th") for row in head if any(row))
    return f"<table>{titles}{''.join(cells(row, 'td') for row in body)}</table>"


def stages_section(unit: Any) -> str:
    """Return the section on stages: their ends and changes."""
    stages = unit.description.stages
    if not stages:
        return ""
    body = []
    for number, name in enumerate(unit.stage_names):
        stage = (
            stages[number] if number < len(stages) and not any(s.sequence for s in stages) else None
        )
        ends = ", ".join(
            f"{key} {value}"
            for key, value in (
                stage.ends.model_dump(exclude_none=True) if stage and stage.ends else {}
            ).items()
        )
        changes = (
            []
            if stage is None
            else [
                f"{word} {', '.join(names)}"
                for word in ("free", "drop", "lock")
                if (names := getattr(stage, word))
            ]
        )
        changes += [] if stage is None else [f"{key} = {value}" for key, value in stage.set.items()]
        body.append(
            (
                str(number),
                escape(name),
                f"<code>{escape(ends)}</code>" if ends else "",
                escape("; ".join(changes)),
            )
        )
    return "<h2>Stages</h2>\n" + rows([("Number", "Name", "Ends", "Changes at its end")], body)


def assumptions(unit: Any) -> list[str]:
    """Return the section on the assumptions of the model."""
    d = unit.description
    lines = [
        "Bodies are rigid. All quantities are in SI units; frames are right-handed; the ground is fixed.",
        f"Gravity is ({', '.join(str(g) for g in d.gravity)}) m/s2 in ground axes.",
        "Inputs are held during a communication step, or follow the slopes the host gives.",
    ]
    if d.stages:
        lines.append(
            "A change of stage is located inside the communication step; speeds after it follow from the balance of momentum."
        )
    if any(joint.type and KINDS[joint.type].quaternion for joint in d.joints.values()):
        lines.append(
            "Spherical and free joints use unit quaternions (w, x, y, z) from child axes to parent axes; their speeds are in child axes."
        )
    return lines


def variables_section(table: Table) -> str:
    """Return the table of all variables."""
    body = []
    for vr, v in table.numbered():
        low, high = ("" if math.isinf(x) else f"{x:g}" for x in (v.minimum, v.maximum))
        limits = f"{low} … {high}" if low or high else ""
        start = "" if v.start is None else f"{v.start:g}"
        body.append(
            (
                escape(v.name),
                str(vr),
                v.causality,
                v.variability,
                escape(v.unit),
                start,
                limits,
                escape(v.text),
            )
        )
    return rows(
        [
            (
                "Name",
                "Reference",
                "Causality",
                "Variability",
                "Unit",
                "Start",
                "Range",
                "Description",
            )
        ],
        body,
    )
