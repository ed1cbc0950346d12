"""Report page of an import: tree, what was read, left out, assumed and offered, and a scene."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from kinetree.models.language.word_lists import counted
from kinetree.scripts.reports.html_report import heading, paragraph, table, write_report

if TYPE_CHECKING:
    from kinetree.models.system.system import System

SIGNS = {"assumed: ": "Assumed", "offered: ": "Offered"}


def sorted_remarks(told: Sequence[str]) -> dict[str, list[str]]:
    """Return the remarks of an importer by kind: left out, assumed, offered."""
    found: dict[str, list[str]] = {"Left out": [], "Assumed": [], "Offered": []}
    for each in told:
        sign = next((sign for sign in SIGNS if each.startswith(sign)), "")
        found[SIGNS.get(sign, "Left out")].append(each.removeprefix(sign))
    return found


def tree_lines(system: System) -> list[str]:
    """Return the spanning tree as lines of text, each body with the joint that carries it."""
    bodies, parents = system.bodies, system.parents
    carried: dict[int, list[int]] = {}
    for number, parent in enumerate(parents, 1):
        carried.setdefault(int(parent), []).append(number)
    lines = ["ground"]

    def grow(number: int, depth: int) -> None:
        waiting = [(each, depth) for each in reversed(carried.get(number, ()))]
        while waiting:
            each, deep = waiting.pop()
            lines.append(f"{'  ' * deep}└ {bodies[each - 1]}")
            waiting += [(child, deep + 1) for child in reversed(carried.get(each, ()))]

    grow(0, 1)
    return lines


def write_import_report(path: Path, source: str, system: System, told: Sequence[str]) -> Path:
    """Write the report page of an imported file."""
    from kinetree.models.expressions.parse import evaluate_constant

    d = system.description
    values = {name: float(evaluate_constant(p.value, {})) for name, p in d.parameters.items()}
    bodies = [["body", "mass [kg]", "centre of mass [m]", "shapes"]]
    for name, body in d.bodies.items():
        com = ", ".join(
            f"{round(evaluate_constant(each, values), 12) + 0.0:.6g}" for each in body.com
        )
        count = len(body.shapes) + (body.shape is not None)
        bodies.append([name, f"{evaluate_constant(body.mass, values):.9g}", com, str(count)])
    joints = [["joint", "from", "to", "type"]]
    for name, joint in d.joints.items():
        joints.append([name, joint.parent, joint.child, joint.type or "transforms"])
    counts = ", ".join(
        (
            counted(len(d.bodies), "body", "bodies"),
            counted(len(d.joints), "joint"),
            counted(system.freedoms, "degree of freedom", "degrees of freedom"),
        )
    )
    tree = "\n".join(tree_lines(system))
    parts = [
        paragraph(f"Read from {source}: {counts}."),
        heading("Tree"),
        f"<pre>{escape(tree)}</pre>",
        heading("Read"),
        table(bodies),
        table(joints),
    ]
    for title, lines in sorted_remarks(told).items():
        if lines:
            items = "".join(f"<li>{escape(each)}</li>" for each in lines)
            parts += [heading(title), f"<ul>{items}</ul>"]
        elif title == "Left out":
            parts += [heading(title), paragraph("Nothing.")]
    parts += [heading("Scene"), _scene(system)]
    return write_report(path, f"Import of {Path(source).name}", parts)


def _scene(system: System) -> str:
    """Return the scene of the mechanism at its start as HTML, or the reason why it is missing."""
    from kinetree.models.language.errors import ModelError
    from kinetree.models.scene.html_page import page
    from kinetree.models.scene.make_scenes import start_scene

    try:
        html = page(start_scene(system).data())
    except (ValueError, ModelError) as error:
        return paragraph(f"The scene is left out: {error}.")
    return f'<iframe title="scene" srcdoc="{escape(html)}" loading="lazy"></iframe>'
