"""The scenario file as a pydantic model."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from kinetree.models.language.errors import shown
from kinetree.scripts.cosim.masters import ORDERS
from kinetree.scripts.cosim.schemes import SCHEMES, scheme_name
from kinetree.scripts.terminal.input_files import FileTable, Positive, Real

KINDS = ("description", "fmu", "drive", "controller")
FILE_NAME = 'the name of a file: at most 200 bytes, no dot or space at the beginning, none of / \\ : * ? " < > |'
UNFIT = re.compile(r'[. ]|.*[/\\:*?"<>|]')
Text = Annotated[str, Field(strict=True, min_length=1)]
Flag = Annotated[bool, Field(strict=True)]


def canonical_scheme(raw: Any) -> Any:
    """Return the scheme's own name where a file gives its alias from the literature."""
    return scheme_name(raw) if isinstance(raw, str) else raw


def points(raw: Any) -> Any:
    """Return points [time, value] after checking that each is a pair of numbers."""
    plain = lambda x: isinstance(x, (int, float)) and not isinstance(x, bool)  # noqa: E731
    if isinstance(raw, (list, tuple)) and all(
        isinstance(p, (list, tuple)) and len(p) == 2 and all(map(plain, p)) for p in raw
    ):
        return raw
    raise ValueError("expected points [time, value]")


def ascending(profile: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    """Return the points of a profile after checking that their times increase."""
    if any(b[0] < a[0] for a, b in zip(profile, profile[1:])):
        raise ValueError("times must ascend")
    return profile


Profile = Annotated[tuple[tuple[Real, Real], ...], BeforeValidator(points)]


class CouplingTable(FileTable):
    """A drive coupled to an actuator, with an optional controller of the drive."""

    mechanism: Text = "mechanism"
    actuator: Text = "lift"
    drive: Text = "drive"
    controller: Annotated[str, Field(strict=True)] = ""


class WireTable(FileTable):
    """to = factor * from + offset."""

    source: Text = Field(alias="from")
    target: Text = Field(alias="to")
    slope: Annotated[str, Field(strict=True)] = ""
    factor: Real = 1.0
    offset: Real = 0.0
    mean: Flag = False
    hold: Flag = False
    bond: Annotated[str, Field(strict=True)] = ""


class DriveTable(FileTable):
    """Values of a hydraulic drive, checked by the classes of its parts."""

    cylinder: dict[str, Real] = Field(default_factory=dict)
    valve: dict[str, Real] = Field(default_factory=dict)
    profile: Profile = ((0.0, 0.0),)
    rotary: Flag = False
    _ascending = field_validator("profile")(ascending)


class ControllerTable(FileTable):
    """Values of a position controller."""

    pid: dict[str, Real] = Field(default_factory=dict)
    profile: Profile = ()
    unit: Annotated[str, Field(strict=True)] = "m"
    _ascending = field_validator("profile")(ascending)


class UnitTable(FileTable):
    """A unit: exactly one of a description, an FMU, a drive, a controller."""

    description: Text | None = None
    fmu: Text | None = None
    drive: DriveTable | None = None
    controller: ControllerTable | None = None
    start: dict[str, Real] = Field(default_factory=dict)
    settings: dict[str, Real] = Field(default_factory=dict)

    @model_validator(mode="after")
    def one_kind(self) -> UnitTable:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(
                f"expected exactly one of {', '.join(KINDS)}, found {', '.join(given) or 'none'}"
            )
        if self.settings and self.description is None:
            raise ValueError(
                "settings: only a description has parameters to set before it is compiled"
            )
        return self


class ControlTable(FileTable):
    """Settings of the step control by the power of the coupling."""

    tolerance: Positive = 0.01
    smallest: Positive | None = None
    largest: Positive | None = None


class ScenarioFile(FileTable):
    """A whole scenario."""

    name: Annotated[str, Field(strict=True)] = ""
    units: Annotated[dict[str, UnitTable], Field(min_length=1)]
    coupling: CouplingTable | None = None
    wires: tuple[WireTable, ...] = ()
    outputs: tuple[Text, ...] = ()
    stop_time: Positive = 1.0
    step_size: Positive = 0.01
    scheme: Annotated[Literal[tuple(SCHEMES)], BeforeValidator(canonical_scheme)] | None = None  # type: ignore[valid-type]
    extrapolation: Literal[tuple(ORDERS)] = 0  # type: ignore[valid-type]
    step_control: ControlTable | None = None

    @field_validator("units")
    @classmethod
    def as_files(cls, units: dict[str, UnitTable]) -> dict[str, UnitTable]:
        """Check that unit names are valid file names, since every unit may become an FMU."""
        for name in units:
            if not name or not name.isprintable() or UNFIT.match(name) or len(name.encode()) > 200:
                raise ValueError(f"found the name {shown(name)}, expected {FILE_NAME}")
        return units

    @model_validator(mode="after")
    def one_way(self) -> ScenarioFile:
        if self.coupling and self.wires:
            raise ValueError(
                "[coupling] chooses the wires itself; leave out either it or [[wires]]"
            )
        return self
