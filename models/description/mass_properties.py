"""Mass, centre of mass and inertia of bodies from the density of their shapes.

Values given for a body are kept. A given mass without an inertia scales the inertia of the shapes,
as if their density were such that the mass is right. If sizes or densities are expressions over
parameters, so are the results, and they follow tunable parameters in FMUs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kinetree.models.description import solids
from kinetree.models.description.reading.source_location import Origin, key_path
from kinetree.models.description.solids import Row, Solid, Value
from kinetree.models.description.surfaces import NoReader, SurfaceError, enclosed_solid
from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.expressions.nodes import Const
from kinetree.models.expressions.parse import ExpressionError, evaluate_constant
from kinetree.models.expressions.to_text import written
from kinetree.models.language.errors import Problem, shown, suggestion
from kinetree.models.language.numbers_and_expressions import DerivedExpression
from kinetree.models.language.parameters import evaluate_parameters
from kinetree.models.language.parts.base_table import ORIGIN

if TYPE_CHECKING:
    from kinetree.models.description.schema import Body, Description, Shape

Path_ = tuple[str | int, ...]
Number = float | str


@dataclass(frozen=True)
class MassProperties:
    """Mass properties computed from the shapes of a body: numbers, or expressions over parameters."""

    mass: Number
    com: tuple[Number, ...]
    tensor: tuple[Number, ...]  # xx yy zz xy xz yz
    about_com: bool  # or about the origin of the body


class _Refused(Exception):
    """Raised for a fault of one body; it carries no problem if the fault is reported elsewhere."""

    def __init__(self, path: Path_ = (), found: str = "", expected: str = "", hint: str = ""):
        self.path, self.found, self.expected, self.hint = path, found, expected, hint


def with_masses(description: Description, origin: Origin) -> tuple[Description, list[Problem]]:
    """Return the description with masses computed from densities, and the problems found."""
    weighed = [name for name, body in description.bodies.items() if has_density(body)]
    if not weighed:
        return description, []
    values, _ = evaluate_parameters(
        {name: parameter.value for name, parameter in description.parameters.items()}
    )
    bodies, found, problems = dict(description.bodies), {}, []
    for name in weighed:
        path = ("bodies", name)
        try:
            given = _Weighing(description, path, bodies[name], values).properties()
        except ExpressionError:
            continue  # reported with its expression
        except _Refused as fault:
            if fault.found:
                where = (*path, *fault.path)
                problems.append(
                    Problem(
                        key_path(where), fault.found, fault.expected, fault.hint,
                        origin.file, origin.line(where),
                    )
                )  # fmt: skip
            continue
        found[name] = given
        bodies[name] = _completed(bodies[name], given)
    result = description.model_copy(update={"bodies": bodies})
    result._weighed = found
    return result, problems


def has_density(body: Body) -> bool:
    """Return whether a body, or one of its shapes, has a density or a material."""
    parts = (body, *body.shapes, *((body.shape,) if body.shape else ()))
    return any(part.density is not None or part.material is not None for part in parts)


class _Weighing:
    """Computation of the mass properties of one body from its shapes."""

    def __init__(self, description: Description, path: Path_, body: Body, values: dict[str, float]):
        self.description, self.path, self.body, self.values = description, path, body, values

    def properties(self) -> MassProperties:
        """Return mass, centre and inertia; shapes of equal density are combined first."""
        groups: dict[Number, list[Solid]] = {}
        shapes = self._shapes()
        if not shapes:
            raise _Refused((), "a density, but no shapes", "shapes that have it")
        for path, shape in shapes:
            density = self._density(path, shape)
            if density is not None and density != 0.0:
                groups.setdefault(density, []).append(self._solid(path, shape))
        if not groups:
            raise _Refused((), "shapes without a density", "a density or a material of one of them")
        parts = self._about(groups, solids.ORIGIN)
        self._check_volume(parts)
        if len(parts) == 1:  # the density drops out of the centre of mass
            density, solid = parts[0]
            com: Row = tuple(each / solid.volume for each in solid.first)  # pyright: ignore
            mass = density * solid.volume
        else:
            mass = sum((density * solid.volume for density, solid in parts), 0.0)
            com = tuple(
                sum((density * solid.first[k] for density, solid in parts), 0.0) / mass
                for k in range(3)
            )  # pyright: ignore
        about_com = not any(isinstance(each, E) for each in com)
        if about_com:  # shapes far away lose no digits
            parts = self._about(groups, com)
        tensors = [
            [density * each for each in solids.moments(solid.second)] for density, solid in parts
        ]
        tensor = [sum(column, 0.0) for column in zip(*tensors, strict=True)]
        return MassProperties(
            text_of(mass),
            tuple(map(text_of, com)),
            tuple(map(text_of, tensor)),
            about_com,
        )

    def _about(self, groups: dict[Number, list[Solid]], point: Row) -> list[tuple[Value, Solid]]:
        """Return every density with the combined integrals of its shapes about a point."""
        return [
            (self._number(density), solids.joined(group, point))
            for density, group in groups.items()
        ]

    def _check_volume(self, parts: list[tuple[Value, Solid]]) -> None:
        total = sum((d * solid.volume for d, solid in parts), 0.0)
        mass = self._value(total)
        if not mass > 0.0:
            raise _Refused((), f"shapes with a mass of {mass:g} kg", "more than 0")

    def _shapes(self) -> list[tuple[Path_, Shape]]:
        own = [(("shape",), self.body.shape)] if self.body.shape is not None else []
        found: list[tuple[Path_, Shape]] = [
            *own,
            *((("shapes", k), shape) for k, shape in enumerate(self.body.shapes)),
        ]
        return found

    def _density(self, path: Path_, shape: Shape) -> Number | None:
        """Return the density of one shape, either its own or the body's; None if it has none."""
        for where, part in ((path, shape), ((), self.body)):
            if part.density is not None and part.material is not None:
                raise _Refused(where, "density and material", "one of them")
            if part.density is not None:
                if (value := self._value(self._number(part.density))) < 0.0:
                    raise _Refused((*where, "density"), f"{value:g}", "0 or more")
                return part.density
            if part.material is not None:
                known = self.description.materials
                if part.material not in known:
                    raise _Refused(
                        (*where, "material"),
                        f"the unknown material {shown(part.material)}",
                        hint=suggestion(part.material, known),
                    )
                return known[part.material].density
        return None

    def _number(self, value: Number) -> Value:
        """Return a number of the description as float or expression; raises if the expression
        cannot be evaluated.
        """
        if isinstance(value, str):
            evaluate_constant(value, self.values)
            return E(value)
        return float(value)

    def _value(self, value: Value) -> float:
        return (
            evaluate_constant(value.node, self.values)  # pyright: ignore[reportArgumentType]
            if isinstance(value, E)
            else value
        )

    def _solid(self, path: Path_, shape: Shape) -> Solid:
        """Return the volume integrals of a shape in the axes of the body."""

        def row(values: tuple[Number, ...]) -> Row:
            x, y, z = (self._number(each) for each in values)
            return x, y, z

        solid = self._own(path, shape)
        R = solids.UNIT
        if shape.axis is not None:
            R = solids.turned_along(row(shape.axis))
        elif shape.rotate is not None:
            R = solids.turned_by(row(shape.rotate))
        at = shape.at
        if path == ("shape",) and "at" not in shape.model_fields_set:
            at = self.body.at or ORIGIN
        return solids.placed(solid, R, row(at))

    def _own(self, path: Path_, shape: Shape) -> Solid:
        """Return the volume integrals of a shape in its own axes."""
        if shape.mesh is not None:
            hint = "density = 0 leaves a shape out of the mass"
            try:
                solid = enclosed_solid(folder_of(self.description) / shape.mesh, shape.solid)
            except SurfaceError as error:
                raise _Refused((*path, "mesh"), error.found, error.expected, hint) from None
            except NoReader as error:
                raise _Refused((*path, "mesh"), str(error), "", hint) from None
            return solids.scaled(solid, self._number(shape.scale))
        if shape.extrusion is not None and shape.height is not None and len(shape.extrusion) > 2:
            corners = [[self._number(each) for each in corner] for corner in shape.extrusion]
            return solids.extrusion(corners, self._number(shape.height))
        if shape.sphere is not None:
            return solids.sphere(self._number(shape.sphere))
        for kind, integrals in (
            ("box", solids.box),
            ("cylinder", solids.cylinder),
            ("capsule", solids.capsule),
        ):
            if (sizes := getattr(shape, kind)) is not None:
                return integrals(*(self._number(each) for each in sizes))
        raise _Refused  # no shape: reported by its check


def folder_of(description: Description) -> Path:
    """Return the folder to which relative paths of a description refer."""
    file = description.file
    return Path(file).parent if file and not file.startswith("lib:") else Path()


def text_of(value: Value) -> Number:
    """Return a value in the form in which descriptions contain numbers."""
    if not isinstance(value, E):
        return float(value) + 0.0
    return (
        value.node.value
        if isinstance(value.node, Const)
        else DerivedExpression(written(value.node))
    )


def _completed(body: Body, given: MassProperties) -> Body:
    """Return the body with missing mass properties taken from its shapes."""
    stated = body.model_fields_set
    update: dict[str, object] = {}
    if "mass" not in stated:
        update["mass"] = given.mass
    if "com" not in stated:
        update["com"] = given.com
    if body.inertia is None and body.inertia_at_origin is None:
        key = "inertia" if given.about_com else "inertia_at_origin"
        tensor = given.tensor
        if "com" in stated and not given.about_com:
            key, tensor = "inertia", _about_centre(given)
        if "mass" in stated:
            share = E(body.mass) / E(given.mass)
            tensor = tuple(text_of(share * E(each)) for each in tensor)
        update[key] = tensor
    return body.model_copy(update=update)


def _about_centre(given: MassProperties) -> tuple[Number, ...]:
    """Return the inertia tensor about the centre of mass of the shapes (parallel-axis theorem)."""
    m, (x, y, z) = E(given.mass), map(E, given.com)
    shift = (y * y + z * z, x * x + z * z, x * x + y * y, -(x * y), -(x * z), -(y * z))
    return tuple(
        text_of(E(each) - m * other) for each, other in zip(given.tensor, shift, strict=True)
    )
