"""Elastic forces and moments of beam hinges along the hinges' coordinates.

With the rotation vector θ of a ball (R = exp θ×) and the angular velocity ω in child axes dθ/dt =
(1 + [θ]/2 + c [θ]²) ω, so that the potential θᵀKθ/2 and damping dθ/dtᵀ C dθ/dt give the torque -(1
- [θ]/2 + c [θ]²)(K θ + C dθ/dt) about the child axes; c = (1 - φ/2 cot(φ/2))/φ².
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinetree.models.beams.discretization import Stiffness
from kinetree.models.beams.reduced_bodies import modal_forces
from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import E, const, name
from kinetree.models.expressions.vectors import Vector
from kinetree.models.forces.kinds.bushing import Turned
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.beams.beam_expansion import BeamForm
    from kinetree.models.compilation.structure_builder import Builder
    from kinetree.models.joints.elements import JointForm

WORDS = {"stretch": "along_x", "shear_y": "along_y", "shear_z": "along_z"}


def add_springs(builder: Builder) -> None:
    """Add springs and dampers of all hinges to the model; NAME:energy is the elastic energy of a
    beam.
    """
    first = 0
    index: dict[str, int] = {}
    for joint in builder.topology.joint:
        index[joint] = first
        first += len(builder.forms[joint].speeds)
    add_modal_forces(builder, index)
    for beam, form in builder.description.beam_forms.items():
        stored = const(0.0)
        for k, hinge in enumerate(form.hinges, 1):
            for joint in (hinge, f"{beam}.slide{k}"):
                if joint in index and builder.forms[joint].speeds and joint not in builder.locked:
                    spring = HingeSpring(builder, beam, form, k)
                    stored = stored + spring.add(joint, index[joint])
        builder.define(hidden(beam, "energy"), stored.node)
        if form.hinges:
            builder.store(name(hidden(beam, "energy")).node)


def add_modal_forces(builder: Builder, index: dict[str, int]) -> None:
    """Add stiffness and damping of the modes of reduced bodies to the model."""
    numbers = modal_forces(builder.description) if builder.description.reduced else {}
    for joint, first in index.items():
        for k, coordinate in enumerate(builder.forms[joint].coordinates):
            if coordinate in numbers and builder.forms[joint].speeds:
                stiffness, damping = numbers[coordinate]
                q, rate = name(coordinate), name(f"der({coordinate})")
                register = builder.register((-(stiffness * q + damping * rate)).node)
                builder.add_force(L.Force.COORDINATE, first + k, register)
                builder.store((0.5 * stiffness * q * q).node)


class HingeSpring:
    """Springs and dampers of one beam hinge."""

    def __init__(self, builder: Builder, beam: str, form: BeamForm, k: int):
        self.builder, self.beam, self.k = builder, beam, k
        self.stiffness, self.damping = (
            Stiffness(*(E(each) if not isinstance(each, E) else each for each in numbers))
            for numbers in form.chain.hinges[k - 1][1:]
        )

    def add(self, joint: str, first: int) -> E:
        """Add the forces along the speeds of a joint and return its potential energy."""
        form = self.builder.forms[joint]
        if form.quaternion:
            return self.ball(joint, form, first)
        stored = const(0.0)
        for index, coordinate in enumerate(form.coordinates):
            key = self.key_of(coordinate)
            q, rate = name(coordinate), name(f"der({coordinate})")
            k, c = getattr(self.stiffness, key), getattr(self.damping, key)
            self.push(coordinate, first + index, -(k * q + c * rate))
            stored = stored + 0.5 * k * q * q
        return stored

    def key_of(self, coordinate: str) -> str:
        """Return the key of the stiffness that acts on a coordinate."""
        word = coordinate.rpartition(".")[2].rstrip("0123456789")
        if word in WORDS:
            return WORDS[word]
        beam = self.builder.description.beams[self.beam]
        return f"about_{beam.bending}"

    def ball(self, joint: str, form: JointForm, first: int) -> E:
        """Add the torque of a ball about the axes of its child and return its potential energy."""
        turn = Turned(tuple(name(each) for each in form.coordinates))  # type: ignore[arg-type]
        spin = Vector(*(name(each) for each in form.speeds))
        K, C = (Vector(*numbers[:3]) for numbers in (self.stiffness, self.damping))
        elastic = Vector(*(k * angle for k, angle in zip(K, turn.vector, strict=True)))
        rate = turn.rate(spin, 0.5)
        lost = Vector(*(c * each for c, each in zip(C, rate, strict=True)))
        torque = turn.rate(elastic.plus(lost), -0.5)
        for axis, value in enumerate(torque):
            self.push(f"{joint}:{axis}", first + axis, -value)
        return 0.5 * turn.vector.dot(elastic)

    def push(self, label: str, index: int, value: Any) -> None:
        """Add a force along one speed."""
        register = self.builder.register(value.node)
        self.builder.add_force(L.Force.COORDINATE, index, register)
