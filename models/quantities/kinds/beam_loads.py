"""Measured quantities of beams at their stations: deflections, section loads and stresses.

A section load is what the part of the beam towards the tip exerts on the part towards the root, in
axes of the section. It is the opposite of the reaction of the rigid joint at the section, so that
it follows from dynamic equilibrium and not from the springs of the hinges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import E, name
from kinetree.models.quantities.cross_sections import von_mises
from kinetree.models.quantities.kinds.reactions import measure_reaction
from kinetree.models.quantities.quantity_kind import QuantityKind

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder
    from kinetree.models.description.output_parts import Output

LOADS = ("n", "vy", "vz", "mx", "my", "mz")


def loads(builder: Builder, output: Output) -> list[E]:
    """Return the section loads n, vy, vz, mx, my, mz; each section is measured once."""
    found: list[E] = []
    for part in ("force", "moment"):
        names = [f"{hidden(str(output.joint), part)}[{k}]" for k in (1, 2, 3)]
        if names[0] not in builder.registers.names:
            wanted = list(zip(names, range(3), strict=True))
            measure_reaction(builder, str(output.joint), part == "moment", wanted, frame=1)
        found += [-name(each) for each in names]
    return found


def section_load(builder: Builder, label: str, output: Output) -> E:
    """Return one component of a section load."""
    return loads(builder, output)[LOADS.index(output.axis or "n")]


def stress(builder: Builder, label: str, output: Output) -> E:
    """Return the largest von Mises stress of a section."""
    form = builder.description.beam_forms[str(output.beam)]
    station = next(at for at, joint in form.sections if joint == output.joint)
    n, vy, vz, mx, my, mz = loads(builder, output)
    return von_mises(form.chain.profile.at(station), (n, vy, vz, mx, my, mz))


def undone(builder: Builder, label: str, output: Output) -> E:
    """Raise an error: deflections are replaced by positions of pieces when beams are discretised."""
    raise AssertionError(f"outputs.{label}: a deflection of a beam without pieces")


QUANTITIES = (
    QuantityKind(
        "deflection",
        "m",
        "way of a station of a beam from where the straight beam has it, in axes of its root",
        3,
        ("beam",),
        ("station", "point"),
        undone,
        rank=40,
    ),
    QuantityKind(
        "section_load",
        "N",
        "what the part of a beam beyond a station exerts on the part before it: n, vy, vz, mx, my or mz, axes of the section",
        1,
        ("beam",),
        ("station", "joint"),
        section_load,
        own_axes=LOADS,
        rank=41,
    ),
    QuantityKind(
        "stress",
        "Pa",
        "largest von Mises stress of a section of a beam",
        1,
        ("beam",),
        ("station", "joint"),
        stress,
        rank=42,
        display_unit="MPa",
    ),
)
