"""The format kinetree/1 as one pydantic model; the JSON Schema that editors use is generated from
it.

SI units. Right-handed frames; `ground` is body 0. `Number` is a float or an expression over
parameters, `TimeNumber` also over t, `Law` also over coordinates, speeds, states, inputs and
outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr

from kinetree.models.description.output_parts import OutputTable
from kinetree.models.forces.kinds import Force
from kinetree.models.hydraulics.kinds import Hydraulic
from kinetree.models.joints.kinds import KINDS as JOINT_KINDS
from kinetree.models.language.errors import Problem
from kinetree.models.language.numbers_and_expressions import (
    Axes,
    Law,
    Number,
    StartPressure,
    Vector,
)
from kinetree.models.language.parts.base_table import ORIGIN, Named, Part, Point
from kinetree.models.language.parts.beam_parts import Beam
from kinetree.models.language.parts.body_parts import Body, Shape, Transform
from kinetree.models.language.parts.chain_parts import Chain
from kinetree.models.language.parts.contact_parts import Contact
from kinetree.models.language.parts.controller_parts import Controller
from kinetree.models.language.parts.coupling_parts import Coupling
from kinetree.models.language.parts.material_parts import Material
from kinetree.models.language.parts.observer_parts import Observer
from kinetree.models.language.parts.report_parts import Report
from kinetree.models.language.parts.value_parts import (
    InputTable,
    OrBare,
    ParameterTable,
    StateTable,
    table_or,
)
from kinetree.solvers.integrate.kinds import NAMES
from kinetree.solvers.literal.kinds import FORMS

FORMAT = "kinetree/1"
METHODS = ("auto", *(form.name for form in FORMS))
INTEGRATORS = NAMES


def listed(value: Any) -> Any:
    """Return a single value as a tuple of one; lists are unchanged."""
    return value if isinstance(value, (list, tuple)) else (value,)


Numbers = Annotated[tuple[Number, ...], BeforeValidator(listed), OrBare()]


if TYPE_CHECKING:
    from kinetree.models.system.start_values import Beginning

    JointType = str
else:
    JointType = Literal[tuple(JOINT_KINDS)]


class JointSpec(Named):
    """A joint: `type`, or `transforms` from the parent frame to the child frame in order."""

    parent: str = Field(default="ground", description="A body, or ground")
    child: str = Field(description="A body, or ground")
    station: Number | None = Field(
        default=None,
        description="Distance from the root of the beam that is the parent (else the child); `at` is added [m]",
    )
    child_station: Number | None = Field(
        default=None,
        description="Distance from the root of the beam that is the child (default: 0) [m]",
    )
    type: JointType | None = Field(
        default=None, description="Joint type, an abbreviation of a sequence of transforms"
    )
    axis: Axes | None = Field(
        default=None,
        description="Axis in the joint frame (default z); two axes for a universal joint (default x, y)",
    )
    at: Vector = Field(default=ORIGIN, description="Position of the joint in the parent frame [m]")
    frame: tuple[Transform, ...] = Field(
        default=(),
        description="Further constant transforms after `at`: orientation of the joint frame",
    )
    child_at: Vector = Field(
        default=ORIGIN, description="Position of a joint with `type` in the child frame [m]"
    )
    child_frame: tuple[Transform, ...] = Field(
        default=(),
        description="Further constant transforms after `child_at`: orientation of the joint in the child",
    )
    pitch: Number | None = Field(default=None, description="Screw: advance per turn [m]")
    coordinates: tuple[str, ...] | None = Field(
        default=None, description="Names of the coordinates instead of the default ones"
    )
    start: Numbers | None = Field(
        default=None,
        description="Coordinates at the start; spherical w, x, y, z; free x, y, z, w, x, y, z",
    )
    speed: Numbers | None = Field(
        default=None, description="Speeds at the start; of spherical and free joints in child axes"
    )
    transforms: tuple[Transform, ...] | None = Field(
        default=None, description="Elementary transforms"
    )
    rotor_inertia: Numbers | None = Field(
        default=None,
        description="Inertia of the motor reflected to the joint, per speed [kg.m2 or kg]",
    )
    cut: bool | None = Field(
        default=None,
        description="In a closed loop: true replaces this joint by constraints; false keeps it in the spanning tree if possible",
    )


Values = Annotated[tuple[Number, ...], Field(min_length=2)]


class Table(Named):
    """A function given by points: y over x, or z over x and y (z has a row per x)."""

    x: Values = Field(
        default=(), description="Ascending points; left out only where a file has them"
    )
    y: Values = Field(
        default=(), description="Values at x, or ascending points of the second variable"
    )
    z: tuple[Values, ...] | None = Field(default=None, description="Values, one row per x")
    method: Literal["linear", "cubic", "monotone", "spline"] = Field(
        default="linear",
        description="Interpolation; cubic (also called monotone) has continuous slopes and stays "
        "between neighbouring values; spline has continuous second derivatives and may overshoot",
    )
    outside: Literal["clamped", "extrapolated"] = Field(
        default="clamped", description="Behaviour outside the range of the points"
    )
    file: str = Field(
        default="",
        description="Table of points in the place of x and y (.csv, .parquet, .h5, .mat), beside the description",
    )
    columns: tuple[str, str] | None = Field(
        default=None, description="Columns of the file for x and y; left out: its first two"
    )
    units: tuple[str, str] | None = Field(
        default=None,
        description="Units of both columns, converted to SI (default: those given in the file)",
    )


class Chambers(Part):
    """Oil chambers of a double-acting cylinder inside the model: flows in, pressures out."""

    area_a: Number = Field(description="Piston area of the extending side [m2]")
    area_b: Number = Field(description="Piston area of the retracting side [m2]")
    volume_a: Number = Field(description="Dead volume of the extending side [m3]")
    volume_b: Number = Field(description="Dead volume of the retracting side [m3]")
    shortest: Number = Field(description="Length between the points when fully retracted [m]")
    longest: Number = Field(description="Length between the points when fully extended [m]")
    bulk_modulus: Number = Field(
        default=1.4e9, description="Bulk modulus of the oil without air [Pa]"
    )
    air: Number = Field(
        default=0.0, description="Volume fraction of free air at atmospheric pressure [1]"
    )
    leakage: Number = Field(
        default=0.0, description="Flow past the piston per pressure difference [m3/(s.Pa)]"
    )
    pressure_a: StartPressure = Field(
        default=1e5,
        description="Pressure at the start [Pa]; `steady`: the pressure at which nothing starts to move",
    )
    pressure_b: StartPressure = Field(
        default=1e5, description="Pressure at the start [Pa], or steady"
    )
    coulomb: Number = Field(default=0.0, description="Dry friction of the seals [N]")
    viscous: Number = Field(default=0.0, description="Viscous friction [N.s/m]")
    speed: Number = Field(
        default=1e-3, description="Speed over which dry friction changes its sign [m/s]"
    )
    end_stiffness: Number = Field(default=1e8, description="Stiffness of the end stops [N/m]")
    end_damping: Number = Field(default=0.0, description="Damping of the end stops [N.s/m]")


class Actuator(Named):
    """The interface for an external drive: between two points, or along a coordinate."""

    between: tuple[Point, Point] | None = Field(default=None, description="The two points")
    coordinate: str | None = Field(default=None, description="Coordinate driven instead")
    force: Number = Field(default=0.0, description="Force until the drive gives one [N or N.m]")
    chambers: Chambers | None = Field(
        default=None, description="Make the oil volumes of a cylinder states of the mechanism"
    )


class Ends(Part):
    """The end of a stage; the first condition that becomes true ends it."""

    when: Law | None = Field(default=None, description="Comparison that ends the stage")
    at: Number | None = Field(default=None, description="Time [s]")
    after: Number | None = Field(default=None, description="Time since the stage began [s]")


class Stage(Named):
    """A phase of the run with its own structure; `sequence` groups stages that `copies` repeats."""

    name: str = Field(default="", description="Shown in results")
    phase: str = Field(
        default="",
        description="Phase of the stage, as 'departure 1': consecutive stages of one phase share a row in tables",
    )
    ends: Ends | None = Field(
        default=None, description="When it ends; the last stage may leave it out"
    )
    free: tuple[str, ...] = Field(
        default=(), description="Joints that release at its end: the child becomes a free body"
    )
    drop: tuple[str, ...] = Field(default=(), description="Bodies that leave the model at its end")
    lock: tuple[str, ...] = Field(default=(), description="Joints that become rigid at its end")
    set: dict[str, Law] = Field(
        default_factory=dict,
        description="Parameters, coordinates, der(coordinate), speeds and states set at its end, as in an event",
    )
    sequence: tuple[Stage, ...] | None = Field(
        default=None, description="Stages that are repeated together by `copies`"
    )


class Event(Named):
    """Actions at an instant that do not change the structure, such as a change of a parameter."""

    when: Law = Field(description="Comparison that triggers the event by becoming true")
    set: dict[str, Law] = Field(
        description="New values of coordinates, der(coordinate), speeds, states or parameters, by old values"
    )


class Tolerances(Part):
    """Error control of the integrators."""

    relative: Number = Field(default=1e-8, description="Relative tolerance")
    absolute: Number | None = Field(
        default=None, description="Absolute tolerance; left out: a hundredth of the relative one"
    )


class Preparation(Part):
    """An equilibrium computed as a step towards the initial state."""

    name: str = Field(default="", description="Shown in messages")
    set: dict[str, Number] = Field(
        default_factory=dict, description="Parameters that differ from their values in the run"
    )
    guess: dict[str, Number] = Field(
        default_factory=dict,
        description="Start values of the search, instead of the previous equilibrium",
    )
    require: dict[str, Law] = Field(
        default_factory=dict,
        description="Conditions on the equilibrium: a sentence and a comparison each",
    )


class Run(Part):
    """Defaults of a run."""

    start_time: Number = Field(default=0.0, description="[s]")
    stop_time: Number | None = Field(default=None, description="[s]")
    output_step: Number | None = Field(default=None, description="[s]")
    step: Number | None = Field(default=None, description="Step of fixed-step integrators [s]")
    method: Literal[METHODS] = Field(default="auto", description="Formulation")  # type: ignore[valid-type]
    integrator: Literal[INTEGRATORS] = Field(default="auto", description="Integrator")  # type: ignore[valid-type]
    impacts: Literal["simultaneous", "sequential"] = Field(
        default="simultaneous",
        description="Simultaneous impacts: solved all at once, or one by one, the fastest first",
    )
    merge: bool = Field(
        default=True,
        description="Merge bodies on rigid joints with the bodies that carry them, if nothing refers to them",
    )
    step_limit: Number | None = Field(
        default=None, description="Largest number of steps per output interval (default: 1e6)"
    )
    tolerances: Annotated[Tolerances | None, table_or("relative"), OrBare()] = Field(
        default=None, description="A number (relative) or a table"
    )
    itr_tolerance: Number | None = Field(
        default=None,
        description="Relative residual at which an iterative method (ITR) stops (default: rounding level)",
    )
    prepare: tuple[Preparation, ...] = Field(
        default=(),
        description="Equilibria, each computed from the previous one; the run starts in the last one",
    )


def section(text: str) -> Any:
    """Return the schema of a section of named tables."""
    return Field(default_factory=dict, description=text)


class Description(Part):
    """A mechanism."""

    format: Literal["kinetree/1"] = Field(default=FORMAT, description="Version of the format")
    name: str = Field(default="", description="Name of the mechanism")
    text: str = Field(default="", description="Description in a few words")
    gravity: Vector = Field(default=(0.0, 0.0, -9.81), description="Gravity, ground axes [m/s2]")
    scenery: tuple[Shape, ...] = Field(
        default=(), description="Shapes that stand on the ground, for pictures only"
    )
    parameters: dict[str, ParameterTable] = section("Named numbers that expressions may use")
    materials: dict[str, Material] = section("Materials of bodies and beams")
    bodies: dict[str, Body] = section("Rigid bodies")
    beams: dict[str, Beam] = section("Flexible beams, which tables name like bodies")
    joints: dict[str, JointSpec] = section(
        "Joints between bodies; a second one into a body closes a loop"
    )
    couplings: dict[str, Annotated[Coupling, table_or("value"), OrBare()]] = section(
        "Constraints: gears, distances, curves, blades, rolling"
    )
    contacts: dict[str, Contact] = section("Rigid contacts with impacts, rest and friction")
    forces: dict[str, Force] = section("Force elements")
    inputs: dict[str, InputTable] = section("Inputs, given by a run or an FMI host")
    outputs: dict[str, OutputTable] = section("Reported quantities")
    states: dict[str, StateTable] = section("First-order states")
    tables: dict[str, Table] = section("Functions given by points")
    actuators: dict[str, Actuator] = section("Interfaces for external drives")
    controllers: dict[str, Controller] = section(
        "Control laws from measured values to commands, continuous or sampled"
    )
    observers: dict[str, Observer] = section(
        "Kalman filters that estimate unmeasured states, parameters and forces"
    )
    hydraulics: dict[str, Hydraulic] = section("Nodes and components of hydraulic circuits")
    events: dict[str, Event] = section(
        "Sudden changes of coordinates, speeds, states or parameters, such as impacts"
    )
    stages: tuple[Stage, ...] = Field(
        default=(), description="Phases of the run with different topology"
    )
    run: Run = Field(default_factory=Run, description="Defaults of a run")
    report: Report = Field(default_factory=Report, description="Tables and plots of a run")
    chain: Chain | None = Field(
        default=None, description="A linear multi-mass chain in the place of bodies and joints"
    )

    _file: str = PrivateAttr("")
    _own_names: frozenset[str] | None = PrivateAttr(None)
    _warnings: tuple[Problem, ...] = PrivateAttr(())
    _slips: tuple[Problem, ...] = PrivateAttr(())
    _left_out: tuple[str, ...] = PrivateAttr(())
    _made: dict[tuple[str, str], str] = PrivateAttr(default_factory=dict)
    _pieces: dict[tuple[str, str], str] = PrivateAttr(default_factory=dict)
    _motion_laws: dict[str, tuple[str | int, ...]] = PrivateAttr(default_factory=dict)
    _beam_forms: dict[str, Any] = PrivateAttr(default_factory=dict)
    _modal_parts: dict[tuple[str, str], str] = PrivateAttr(default_factory=dict)
    _reduced: dict[str, Any] = PrivateAttr(default_factory=dict)
    _written: Description | None = PrivateAttr(None)
    _weighed: dict[str, Any] = PrivateAttr(default_factory=dict)
    _rests: bool = PrivateAttr(False)
    _counted: tuple[str, ...] = PrivateAttr(())
    _beginning: Any = PrivateAttr(None)  # Beginning | None

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return a list of what a foreign file contains but this description does not represent."""
        return self._left_out

    @property
    def made(self) -> dict[tuple[str, str], str]:
        """Return sections and names of tables generated for controllers, with the controller's
        name.
        """
        return self._made

    @property
    def pieces(self) -> dict[tuple[str, str], str]:
        """Return the sections and names of tables generated for beams, with the beam's name."""
        return self._pieces

    @property
    def motion_laws(self) -> dict[str, tuple[str | int, ...]]:
        """Return the couplings generated for transforms over coordinates, with the path of `by`."""
        return self._motion_laws

    @property
    def beam_forms(self) -> dict[str, Any]:
        """Return the discretisation of every beam (`beams.beam_expansion.BeamForm`)."""
        return self._beam_forms

    @property
    def starts(self) -> Mapping[str, float]:
        """Return the start values given in addition to the description."""
        return self._beginning.values if self._beginning else {}

    @property
    def beginning(self) -> Beginning | None:
        """Return the start given in addition to the description, or None."""
        return self._beginning

    @property
    def reduced(self) -> dict[str, Any]:
        """Return the reduced flexible bodies by name (`beams.reduced_bodies.Reduced`)."""
        return self._reduced

    @property
    def modal_parts(self) -> dict[tuple[str, str], str]:
        """Return section and name of tables generated for reduced bodies, with the body's name."""
        return self._modal_parts

    @property
    def counted(self) -> tuple[str, ...]:
        """Return the expressions that gave numbers of copies."""
        return self._counted

    @property
    def written(self) -> Description:
        """Return the description as written, before beams and controllers were expanded."""
        return self._written or self

    @property
    def weighed(self) -> dict[str, Any]:
        """Return the `MassProperties` of every body whose shapes have a density."""
        return self._weighed

    @property
    def rests(self) -> bool:
        """Return whether controllers are replaced by their variant "rest", without events."""
        return self._rests

    @property
    def file(self) -> str:
        """Return the file name for messages."""
        return self._file

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Return the warnings about probable mistakes."""
        return self._warnings

    @property
    def slips(self) -> tuple[Problem, ...]:
        """Return those warnings that are about overrides of parameters."""
        return self._slips

    @property
    def own_names(self) -> frozenset[str]:
        """Return the names defined in any stage; generated names avoid them."""
        names = (*self.parameters, *self.inputs, *self.states, *self.outputs)
        return frozenset(names) if self._own_names is None else self._own_names
