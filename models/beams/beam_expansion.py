"""Beams as rigid pieces and joints of their mechanism.

The piece at the root has the name of the beam; the others are NAME.piece1, ..., joined by
NAME.hinge1, ... A section whose load is an output divides its piece by a rigid joint NAME.section1,
..., which transmits that load. References to the beam are replaced by references to a piece.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kinetree.models.beams.beam_references import Located, Path, References, shifted, total
from kinetree.models.beams.discretization import (
    SAME,
    BeamProblem,
    Chain,
    Piece,
    chain_of,
    moduli,
    piece_of,
    plain_number,
    text_of,
)
from kinetree.models.description.output_parts import Output
from kinetree.models.description.schema import Description, JointSpec
from kinetree.models.expressions.parse import ExpressionError
from kinetree.models.language.parameters import evaluate_parameters
from kinetree.models.language.parts.base_table import Point
from kinetree.models.language.parts.beam_parts import Beam
from kinetree.models.language.parts.body_parts import Body, Shape, Transform
from kinetree.models.quantities.cross_sections import half_sizes

SECTION_QUANTITIES = ("section_load", "stress")
THIN = (
    1e-6  # of the length: what stands beside a section at an end, so that no body is without mass
)
ATTACHING = (
    "forces",
    "actuators",
    "contacts",
    "couplings",
    "hydraulics",
)  # sections that load a beam


@dataclass
class BeamForm:
    """The discretisation of one beam: bodies, hinges and section joints."""

    chain: Chain
    pieces: list[tuple[str, Piece]] = field(default_factory=list)
    hinges: list[str] = field(default_factory=list)
    sections: list[tuple[float, str]] = field(default_factory=list)  # station, rigid joint
    joints: dict[str, JointSpec] = field(default_factory=dict)
    slides: dict[str, Piece] = field(default_factory=dict)  # thin discs between slides and balls

    def locate(self, x: float) -> Located:
        """Return the piece at a station (distance from the root); at a boundary the piece on the
        root's side.
        """
        tolerance = SAME * self.chain.length
        for name, piece in self.pieces:
            if x <= piece.end + tolerance and x < self.chain.length - tolerance:
                return Located(name, piece.begin)
        name, piece = self.pieces[-1]
        return Located(name, piece.begin)

    def section(self, x: float) -> str:
        """Return the rigid joint that represents the section at a station."""
        return min(self.sections, key=lambda each: abs(each[0] - x))[1]


def with_beams(description: Description) -> Description:
    """Return the description with its beams replaced by rigid pieces and joints."""
    if not description.beams:
        return description
    values, _ = evaluate_parameters(
        {name: parameter.value for name, parameter in description.parameters.items()}
    )
    forms = {
        name: form
        for name, beam in description.beams.items()
        if (form := form_of(name, beam, description, values)) is not None
    }
    return Pieces(description, values, forms).made()


def form_of(
    name: str, beam: Beam, description: Description, values: Mapping[str, float]
) -> BeamForm | None:
    """Return the discretisation of a beam; None if it is impossible, which the check reports."""
    try:
        return divided(name, beam, description, values)
    except (BeamProblem, ExpressionError, ArithmeticError, KeyError):
        return None


def divided(
    name: str, beam: Beam, description: Description, values: Mapping[str, float]
) -> BeamForm:
    """Return the discretisation of a beam; raises BeamProblem or ExpressionError."""
    loads, sections, free = stations(name, description, values)
    chain = chain_of(beam, description.materials[beam.material], values, loads, free)
    density, *_ = moduli(description.materials[beam.material])
    form = BeamForm(chain)
    tolerance, thin = SAME * chain.length, THIN * chain.length
    limits = [0.0, *(hinge.station for hinge in chain.hinges), chain.length]
    last = len(limits) - 2
    for k, (a, b) in enumerate(zip(limits, limits[1:], strict=False)):
        cuts = [
            min(max(s, a + thin), b - thin)
            for s in sections
            if a - tolerance <= s < b - tolerance or (k == last and s >= b - tolerance)
        ]
        label = name if k == 0 else f"{name}.piece{k}"
        if k:
            hinge = f"{name}.hinge{k}"
            form.hinges.append(hinge)
            before, piece = form.pieces[-1]
            form.joints |= hinge_joints(form, hinge, before, label, a - piece.begin, beam, k)
        begin, disc = a, 0.0
        if k and f"{name}.slide{k}" in form.joints:
            disc = thin
            form.slides[f"{name}.slide{k}"] = piece_of(chain, density, a, a + disc)
        for cut in cuts:
            form.pieces.append((label, piece_of(chain, density, begin, cut, disc)))
            joint = f"{name}.section{len(form.sections) + 1}"
            form.sections.append((cut, joint))
            spec = {"parent": label, "child": joint, "type": "rigid", "at": [cut - begin, 0, 0]}
            form.joints[joint] = JointSpec.model_validate({**spec, "cut": False})
            label, begin, disc = joint, cut, 0.0
        form.pieces.append((label, piece_of(chain, density, begin, b, disc)))
    return form


def hinge_joints(
    form: BeamForm, hinge: str, before: str, after: str, x: float, beam: Beam, k: int
) -> dict[str, JointSpec]:
    """Return the joints of one hinge: a ball or a revolute joint, preceded by slides if the beam
    stretches or shears.
    """
    stiffness = form.chain.hinges[k - 1].stiffness
    stem = hinge.rpartition(".")[0]
    slides = [
        {"shift": axis, "coordinate": f"{stem}.{word}{k}"}
        for axis, word, key in (
            ("x", "stretch", "along_x"),
            ("y", "shear_y", "along_y"),
            ("z", "shear_z", "along_z"),
        )
        if not is_zero(getattr(stiffness, key))
    ]
    common = {"parent": before, "child": after, "cut": False}
    place = {"shift": [x, 0.0, 0.0]}
    if beam.bending != "all":
        turn = {"rotate": beam.bending, "coordinate": f"{stem}.bend{k}"}
        spec = {**common, "transforms": [place, *slides, turn]}
        return {hinge: JointSpec.model_validate(spec)}
    if not slides:
        spec = {**common, "type": "spherical", "at": [x, 0.0, 0.0]}
        return {hinge: JointSpec.model_validate(spec)}
    slide = f"{stem}.slide{k}"
    return {
        slide: JointSpec.model_validate({**common, "child": slide, "transforms": [place, *slides]}),
        hinge: JointSpec.model_validate({**common, "parent": slide, "type": "spherical"}),
    }


def is_zero(value: Any) -> bool:
    """Return whether a stiffness is zero for all parameter values, so that the hinge does not need
    that motion.
    """
    return isinstance(value, (float, int)) and value == 0.0


def stations(
    name: str, description: Description, values: Mapping[str, float]
) -> tuple[list[float], list[float], bool]:
    """Return the stations of attachments and requested sections, and whether the beam is free."""
    found: list[float] = []
    beam = description.beams[name]
    length = plain_number(beam.length, values)

    def note(path: Path, beam_name: str, x: Any) -> Located:
        if beam_name == name:
            try:
                found.append(min(max(plain_number(x, values), 0.0), length))
            except ExpressionError:
                pass  # reported with its expression
        return Located(beam_name, 0.0)

    look = References(description.beams, note, {})
    for section in ATTACHING:
        look.of(getattr(description, section), (section,))
    types = []
    for label, joint in description.joints.items():
        for end in joint_ends(joint, description.beams):
            if end.beam == name:
                note(("joints", label, end.key), name, end.station)
                types.append(joint.type)
    sections: list[float] = []
    for output in description.outputs.values():
        if output.quantity in SECTION_QUANTITIES and output.beam == name:
            x = plain_number(output.station or 0.0, values)
            x = min(max(x, 0.0), length)
            if all(abs(x - each) > SAME * length for each in sections):
                sections.append(x)
    return found, sorted(sections), set(types) == {"free"}


def deciding_numbers(description: Description) -> Iterator[tuple[str, str]]:
    """Yield the expressions whose values determine the discretisation, with what each determines."""
    found: list[tuple[str, str]] = []

    def note(path: Path, beam: str, x: Any) -> Located:
        if isinstance(x, str):
            found.append((x, f"a station of the beam '{beam}'"))
        return Located(beam, 0.0)

    look = References(description.beams, note, {})
    for section in (*ATTACHING, "outputs"):
        look.of(getattr(description, section), (section,))
    for label, joint in description.joints.items():
        for end in joint_ends(joint, description.beams):
            note(("joints", label), end.beam, end.station)
    for output in description.outputs.values():
        if output.beam in description.beams:
            note(("outputs",), output.beam, output.station)
    yield from found
    for name, beam in description.beams.items():
        for number in (beam.length, *(at for at, _ in beam.section)):
            if isinstance(number, str):
                yield number, f"the length of the beam '{name}'"


@dataclass(frozen=True)
class JointEnd:
    """An end of a joint that is attached to a beam."""

    key: str  # parent or child
    beam: str
    station: Any


def joint_ends(joint: JointSpec, beams: Mapping[str, Beam]) -> list[JointEnd]:
    """Return the ends of a joint that are on beams; `station` applies to the child if only that is
    a beam.
    """
    ends = []
    on_parent = joint.parent in beams
    if on_parent:
        first = next(iter(joint.transforms or ()), None)
        more = (
            first.shift[0]
            if joint.station is None
            and first is not None
            and first.shift is not None
            and first.by is None
            and first.coordinate is None
            and first.follow is None
            else 0.0
        )
        x = total(joint.at[0], joint.station or 0.0, more)
        ends.append(JointEnd("parent", joint.parent, x))
    if joint.child in beams:
        ends.append(
            JointEnd("child", joint.child, total(joint.child_at[0], child_station(joint, beams)))
        )
    return ends


def child_station(joint: JointSpec, beams: Mapping[str, Beam]) -> Any:
    """Return the station of a joint on the beam that is its child body."""
    if joint.child_station is not None:
        return joint.child_station
    return 0.0 if joint.parent in beams or joint.station is None else joint.station


class Pieces:
    """Writes a description in which beams are replaced by their pieces."""

    def __init__(
        self, description: Description, values: Mapping[str, float], forms: dict[str, BeamForm]
    ):
        self.d, self.values, self.forms = description, values, forms
        names = {name: self.names_of(name) for name in description.beams}
        self.references = References(description.beams, self.locate, names)

    def names_of(self, beam: str) -> tuple[str, ...]:
        """Return the names of all bodies of a beam."""
        if beam not in self.forms:
            return (beam,)
        form = self.forms[beam]
        return (*(name for name, _ in form.pieces), *form.slides)

    def locate(self, path: Path, beam: str, x: Any) -> Located:
        """Return the piece of a beam at a station."""
        form = self.forms.get(beam)
        try:
            return Located(beam, 0.0) if form is None else form.locate(plain_number(x, self.values))
        except ExpressionError:
            return Located(beam, 0.0)

    def made(self) -> Description:
        """Return the complete description with beams replaced by bodies and joints."""
        d = self.d
        bodies, joints = dict(d.bodies), {}
        owners: dict[tuple[str, str], str] = {}
        for name, beam in d.beams.items():
            own = self.bodies_of(name, beam)
            specs = self.forms[name].joints if name in self.forms else {}
            bodies |= own
            owners |= {("bodies", each): name for each in own}
            owners |= {("joints", each): name for each in specs}
        for label, joint in d.joints.items():
            joints[label] = self.joint(label, joint)
        for form in self.forms.values():
            joints |= form.joints
        update: dict[str, Any] = {"bodies": bodies, "joints": joints}
        for section in (*ATTACHING, "stages"):
            update[section] = self.references.of(getattr(d, section), (section,))
        update["outputs"] = {label: self.output(label, each) for label, each in d.outputs.items()}
        result = d.model_copy(update=update)
        result._beam_forms, result._pieces, result._written = self.forms, owners, d
        return result

    def bodies_of(self, name: str, beam: Beam) -> dict[str, Body]:
        """Return the rigid bodies of a beam."""
        form = self.forms.get(name)
        if form is None:
            return {name: Body.model_validate({"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]})}
        shapes: dict[str, list[Any]] = defaultdict(list)
        for k, shape in enumerate(beam.shapes):
            at = self.locate(("beams", name, "shapes", k), name, shape.at[0])
            moved = shape.model_copy(update={"at": shifted(shape.at, -at.begin)})
            shapes[at.body].append(moved)
        found = {}
        for label, piece in (*form.pieces, *form.slides.items()):
            own = [*own_shapes(form.chain, piece, beam), *shapes[label]]
            found[label] = Body(
                mass=text_of(piece.mass),
                com=(text_of(piece.centre), 0.0, 0.0),
                inertia=(*map(text_of, piece.inertia), 0.0, 0.0, 0.0),
                shapes=tuple(own),
                text=f"piece of beam {name}",
            )
        return found

    def joint(self, label: str, joint: JointSpec) -> JointSpec:
        """Return a joint with its ends attached to beam pieces."""
        changes: dict[str, Any] = {}
        for end in joint_ends(joint, self.d.beams):
            found = self.locate(("joints", label, end.key), end.beam, end.station)
            changes[end.key] = found.body
            if end.key == "parent":
                changes["at"] = shifted(joint.at, joint.station or 0.0, -found.begin)
            else:
                along = total(child_station(joint, self.d.beams), -found.begin)
                if joint.transforms is not None:
                    back = Transform(shift=(total(f"-({along})"), 0.0, 0.0))
                    changes["transforms"] = (*joint.transforms, *((back,) if along else ()))
                else:
                    changes["child_at"] = shifted(joint.child_at, along)
        return (
            joint.model_copy(update={**changes, "station": None, "child_station": None})
            if changes
            else joint
        )

    def output(self, label: str, output: Output) -> Output:
        """Return an output that refers to pieces instead of beams."""
        path: Path = ("outputs", label)
        form = self.forms.get(output.beam or "")
        station = 0.0 if output.station is None else output.station
        if output.quantity == "deflection" and form is not None:
            found = self.locate((*path, "station"), str(output.beam), station)
            straight = Point(body=str(output.beam), point=shifted(output.point, station))
            return output.model_copy(
                update={
                    "quantity": "position",
                    "beam": None,
                    "station": None,
                    "body": found.body,
                    "point": shifted(output.point, station, -found.begin),
                    "reference": straight,
                    "frame": str(output.beam),
                }
            )
        if output.quantity in SECTION_QUANTITIES and form is not None:
            try:
                joint = form.section(plain_number(station, self.values))
            except ExpressionError:
                return output
            return output.model_copy(update={"joint": joint})
        moved = self.references.of(output, path)
        if "point" not in output.model_fields_set:  # the section itself: turns take no point
            moved.model_fields_set.discard("point")
        return moved


def own_shapes(chain: Chain, piece: Piece, beam: Beam) -> list[Any]:
    """Return the shape of a piece for display: a cylinder or a box with the section at its middle."""
    length = piece.end - piece.begin
    if length <= 2.0 * THIN * chain.length:
        return []
    sizes = chain.profile.at(piece.begin + 0.5 * length)
    y, z = (text_of(each) for each in half_sizes(sizes))
    shape = (
        {"cylinder": [y, length], "axis": "x"}
        if sizes.form in ("tube", "numbers")
        else {
            "box": [
                length,
                text_of(2.0 * half_sizes(sizes)[0]),
                text_of(2.0 * half_sizes(sizes)[1]),
            ]
        }
    )
    colour = {} if beam.colour is None else {"colour": beam.colour}
    return [Shape.model_validate({**shape, **colour, "at": [0.5 * length, 0.0, 0.0]})]
