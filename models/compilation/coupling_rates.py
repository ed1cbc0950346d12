"""Exact rates of couplings, and the velocity-dependent part of their second derivatives, in terms
of speeds, point velocities and angular velocities.

A relation g(q, t, x, i, P) = 0 has the rate ġ = ∂g/∂q q̇ + ∂g/∂t + ∂g/∂x ẋ + ∂g/∂i i̇ + ∂g/∂P Ṗ; a
relation between speeds is a rate already. Both have the form ġ = a u + Σ b·V + Σ c·ω + d, linear in
the speeds u, the velocities V of points and the angular velocities ω of bodies; a, b and c form the
constraint row. In the second derivative the terms with u̇, V̇ and ω̇ are left to the kernels.
Measured quantities are reduced to positions, velocities and angular velocities in ground axes.
"""

from __future__ import annotations

from collections.abc import Callable

from kinetree.models.compilation.structure_builder import Builder
from kinetree.models.expressions.differentiate import differentiate
from kinetree.models.expressions.internal_names import early_name
from kinetree.models.expressions.node_arithmetic import E, const, name, root
from kinetree.models.expressions.nodes import ONE, ZERO, Der, Leaf, Name, Node, leaves, names
from kinetree.models.expressions.registers import PARAMETER, STATE
from kinetree.models.expressions.simplify import substitute
from kinetree.models.expressions.vectors import NOWHERE, Vector
from kinetree.models.joints.elements import JointForm
from kinetree.models.joints.moves import MOVES
from kinetree.models.language.errors import ModelError, Problem
from kinetree.solvers.sensors.kinds import BY_CODE as SENSORS
from kinetree.solvers.sensors.kinds import Kind
from kinetree.solvers.sensors.kinds.bodies import ANGULAR_VELOCITY, ORIENTATION
from kinetree.solvers.sensors.kinds.points import (
    DIRECTION,
    DISTANCE,
    DISTANCE_RATE,
    POSITION,
    VELOCITY,
)

ALLOWED = "parameters, t, coordinates, speeds, first-order states, inputs, and measured places, velocities and angular velocities"
Place = tuple[int, int]  # body, register of the point


class Leaves:
    """Time derivatives of the variables in couplings: coordinates, inputs, states, points and body
    angular velocities.
    """

    def __init__(self, builder: Builder):
        self.builder = builder
        self.rates: dict[str, Node] = {}  # of coordinates
        self.speeds: dict[str, int] = {}
        self.velocities: dict[str, tuple[Place, int]] = {}  # velocity of a point along an axis
        self.spins: dict[str, tuple[int, int]] = {}  # spin of a body about an axis
        self.inputs: dict[str, int] = {}  # input and register of its slope
        self.followed: set[str] = set()  # inputs that positions follow
        self._made: dict[str, Vector] = {}
        self._places: dict[str, Node] = {}  # rate of a place or an orientation
        for joint in builder.topology.joint:
            form = builder.forms[joint]
            for speed in form.speeds:
                self.speeds[speed] = len(self.speeds)
            self.rates |= coordinate_rates(form)

    # -- places -------------------------------------------------------------------------------------------------------------------------
    def sensed(self, label: str, kind: Kind, body: int, point: int = -1, count: int = 3) -> list[E]:
        """Return the components measured by sensors of one quantity; each sensor is added once."""
        keys = [f"{label}[{k}]" for k in range(count)]
        for axis, key in enumerate(keys):
            if key not in self.builder.registers.names:
                self.builder.add_sensor(key, kind, body, point, axis=axis)
        return [name(key) for key in keys]

    def place(self, body: int, point: int) -> Vector:
        """Return the position of a point of a body in ground axes."""
        label = f"place({body},{point})"
        if label not in self._made:
            place = self._made[label] = Vector(*self.sensed(label, POSITION, body, point))
            for part, rate in zip(place, self.velocity(body, point), strict=True):
                self._places[part.node.key] = rate.node  # type: ignore[attr-defined]
        return self._made[label]

    def velocity(self, body: int, point: int) -> Vector:
        """Return the velocity of a body's point, as variables of the coupling."""
        if body == 0:
            return NOWHERE
        velocity = Vector(*self.sensed(f"velocity({body},{point})", VELOCITY, body, point))
        for axis, part in enumerate(velocity):
            self.velocities[part.node.key] = ((body, point), axis)  # type: ignore[attr-defined]
        return velocity

    def spin(self, body: int) -> Vector:
        """Return the angular velocity of a body in ground axes."""
        if body == 0:
            return NOWHERE
        spin = Vector(*self.sensed(f"spin({body})", ANGULAR_VELOCITY, body))
        for axis, part in enumerate(spin):
            self.spins[part.node.key] = (body, axis)  # type: ignore[attr-defined]
        return spin

    def orientation(self, body: int) -> list[E]:
        """Return the quaternion of a body; its rate is half the angular velocity times the
        quaternion.
        """
        w, x, y, z = parts = self.sensed(f"orientation({body})", ORIENTATION, body, count=4)
        a, b, c = (0.5 * part for part in self.spin(body))
        rates = (
            -(a * x + b * y + c * z),
            a * w + b * z - c * y,
            b * w + c * x - a * z,
            c * w + a * y - b * x,
        )
        for part, rate in zip(parts, rates, strict=True):
            self._places[part.node.key] = rate.node  # type: ignore[attr-defined]
        return parts

    def axis(self, body: int, k: int) -> Vector:
        """Return axis k of a body in ground axes."""
        if body == 0:
            return Vector(*(E(float(k == c)) for c in range(3)))
        tip, foot = (
            self.builder.vector(E(float(length * (k == c))).node for c in range(3))
            for length in (1, 0)
        )
        return self.place(body, tip).minus(self.place(body, foot))

    # -- measured names -----------------------------------------------------------------------------------------------------------------
    def reduce(self, node: Node) -> Node:
        """Return the expression with its definitions inserted and its sensors reduced to positions,
        velocities and angular velocities.
        """
        records = {record[1]: record for record in self.builder.early}

        def measured(leaf: Leaf) -> Node | None:
            known = (
                leaf.key in self._places or leaf.key in self.velocities or leaf.key in self.spins
            )
            record = None if known else records.get(self.builder.registers.names.get(leaf.key, -1))
            return None if record is None else self.reduced(record).node

        return substitute(self.builder.registers.expand(node), measured)

    def reduced(self, record: tuple[int, ...]) -> E:
        """Replace one sensor by variables whose derivatives are known."""
        _, _, a, point_a, b, point_b, axis, frame = record
        kind = SENSORS[record[0]]
        if kind == ORIENTATION:
            return self.orientation(a)[axis]
        if kind in (DISTANCE, DISTANCE_RATE):
            r = self.place(b, point_b).minus(self.place(a, point_a))
            length = root(r.dot(r))
            return (
                length
                if kind == DISTANCE
                else r.dot(self.velocity(b, point_b).minus(self.velocity(a, point_a))) / length
            )
        found = {
            ANGULAR_VELOCITY: lambda: self.spin(a),
            POSITION: lambda: self.place(a, point_a),
            VELOCITY: lambda: self.velocity(a, point_a),
            DIRECTION: lambda: self.place(a, point_a).minus(
                self.place(a, self.builder.vector([const(0.0).node] * 3))
            ),
        }
        vector = found[kind]()
        if axis == 3:
            return root(vector.dot(vector))
        return vector.dot(self.axis(a, axis)) if frame else vector[axis]

    # -- rates --------------------------------------------------------------------------------------------------------------------------
    def moves(self, node: Node) -> bool:
        """Return whether an expression depends on speeds."""
        return any(
            leaf.key in self.speeds or leaf.key in self.velocities or leaf.key in self.spins
            for leaf in leaves(node)
        )

    def differentiate(self, node: Node, complain: Callable[[str, str], ModelError]) -> Node:
        """Return the time derivative at constant speeds."""
        return differentiate(node, lambda leaf: self.rate(leaf, complain))

    def rate(self, leaf: Leaf, complain: Callable[[str, str], ModelError]) -> Node | None:
        """Return the rate of one leaf; None if it is constant or if the kernels add its change."""
        key, builder = leaf.key, self.builder
        if (
            key in self.speeds
            or key in self.velocities
            or key in self.spins
            or key.startswith("bend(")
        ):
            return None
        if key.startswith("slope("):
            return Name(f"bend({key[6:]}")
        if leaf is Name("t"):
            return ONE
        if key in self.rates or key in self._places:
            return self.rates.get(key) or self._places[key]
        told = builder.rates_given.get(key) or builder.rates_given.get(early_name(key))
        if told is not None:
            return told
        if key in builder.inputs:
            return self.slope(key)
        if key in builder.states:
            return self.state_rate(key, complain)
        if (
            key in builder.registers.names
            and builder.registers.phase_of(leaf) == PARAMETER
            or key == "stage_start"
        ):
            return ZERO
        raise complain(f"'{key}'", ALLOWED)

    def slope(self, key: str) -> Node:
        """Return the time derivative of an input: from the host's extrapolation, or 0 for a held
        input.
        """
        label = f"slope({key})"
        if label not in self.builder.registers.names:
            self.inputs[key] = self.builder.registers.add(label, 0.0, STATE)
            self.builder.registers.add(f"bend({key})", 0.0, STATE)
        return Name(label)

    def state_rate(self, key: str, complain: Callable[[str, str], ModelError]) -> Node:
        """Return the derivative of a first-order state; it must not depend on accelerations."""
        rate = self.reduce(Name(f"der({key})"))
        for each in sorted(names(rate)):
            register = self.builder.registers.names.get(each)
            known = (
                each in self.builder.states
                or each in self.builder.inputs
                or each in self.rates
                or each in self._places
                or each in self.speeds
            )
            known = known or each in self.velocities or each in self.spins
            if not known and (
                register is None or self.builder.registers.phase_of(Name(each)) > STATE
            ):
                raise complain(f"the state '{key}', whose rate depends on '{each}'", ALLOWED)
        return rate


def coordinate_rates(form: JointForm) -> dict[str, Node]:
    """Return the time derivatives of a joint's coordinates in terms of its speeds, as in
    `solvers/elements`.
    """
    rates: dict[str, Node] = {coordinate: Der(coordinate) for coordinate in form.coordinates}
    for element in form.elements:
        move, k = MOVES.get(element.kind), element.coordinate
        if k is not None and move is not None and move.tangent is not None:
            coordinates = form.coordinates[k : k + len(move.units)]
            found = move.tangent.rates(
                [name(c) for c in coordinates],
                [name(s) for s in form.speeds[k : k + len(move.speed_units)]],
            )
            rates |= {
                name(c).node.key: rate.node  # type: ignore[attr-defined]
                for c, rate in zip(coordinates, found, strict=True)
            }
    return rates


def problem(builder: Builder, key: str) -> Callable[[str, str], ModelError]:
    """Return a function that makes errors about one coupling."""
    return lambda found, expected: ModelError(
        Problem(key, found, expected, file=builder.description.file)
    )
