"""Study of ground and supports: one change at a time, at equilibrium and under disturbances.

`supports_file` defines what is varied and reported.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from kinetree.models import ModelError, Result, load
from kinetree.models.engine.status import EvaluationError
from kinetree.models.forces.force_schema import Standing
from kinetree.models.language.errors import suggestion
from kinetree.models.run.keyboard_interrupt import raise_if_interrupted
from kinetree.scripts.studies.stabilisation import settling
from kinetree.scripts.studies.supports_file import GROUND, SPECIAL, Supports
from kinetree.scripts.terminal.error_messages import BadInput

NEVER = 1e15  # load that no soil of a study ever sees [N]
SETTLING = (
    1e-2  # time in which soil beyond its bearing load settles, as part of the least stiffness [s]
)
CLOSE = 1e-4  # of the range: how near the extension of a preload is found
UNITS = {
    "bedding": "N/m³",
    "damping": "N·s/m³",
    "footprint": "m²",
    "bearing": "Pa",
    "hardening": "Pa/m",
}
MODES = 3  # slowest ones that are told


@dataclass
class Case:
    """Results of one case; `failed` is the reason if there are none."""

    aspect: str
    value: float
    unit: str = ""  # of the value
    described: float = math.nan  # what the value is in the case as described
    failed: str = ""
    modes: list[tuple[float, float]] = field(default_factory=list)  # frequency [Hz], damping ratio
    angles: dict[str, float] = field(default_factory=dict)
    loads: dict[str, float] = field(default_factory=dict)  # at rest, of supports and others [N]
    least: dict[str, float] = field(default_factory=dict)  # in the run
    largest: list[dict[str, float]] = field(
        default_factory=list
    )  # deviations of `hold`, a dict per disturbance
    left: list[dict[str, float]] = field(default_factory=list)  # deviations before the next one
    settled: list[dict[str, float]] = field(
        default_factory=list
    )  # times until they stay within the band
    units: dict[str, str] = field(default_factory=dict)  # of what is told and held
    extension: float = math.nan

    @property
    def margin_at_rest(self) -> float:
        """Return the least support load at equilibrium relative to the mean."""
        return min(self.loads[name] for name in self.least) / (
            sum(self.loads[name] for name in self.least) / len(self.least)
        )

    @property
    def margin(self) -> float:
        """Return the least support load in the run relative to its load at equilibrium; 0 means
        lift-off.
        """
        return min(
            self.least[name] / self.loads[name] if self.loads[name] > 0.0 else 0.0
            for name in self.least
        )


class NotPossible(Exception):
    """A case that has no equilibrium with loaded supports, or cannot be reached."""


class Study:
    """Runs the cases of a support study."""

    def __init__(self, wanted: Supports):
        self.wanted = wanted
        mechanism = load(wanted.source(), **wanted.settings)
        self.known = mechanism.description
        self.base: dict[str, Any] = mechanism.description.model_dump(
            exclude_unset=True, by_alias=True
        )
        self.supports, self.others = (
            self.named(patterns) for patterns in (wanted.supports, wanted.others)
        )
        parameters = tuple(self.known.parameters)
        for key in (
            *(key for key in wanted.vary if key not in SPECIAL),
            *filter(None, [wanted.extension]),
        ):
            if key not in parameters:
                raise BadInput(
                    f"{wanted.path}: no parameter '{key}'; {suggestion(key, (*SPECIAL, *parameters))}"
                )
        self.corner = wanted.corner or self.supports[0]
        if self.corner not in self.supports:
            raise BadInput(
                f"{wanted.path}: corner '{self.corner}' is no support; {suggestion(self.corner, self.supports)}"
            )

    def named(self, patterns: list[str]) -> list[str]:
        """Return the force elements on the ground whose names match the patterns."""
        standing = [
            name for name, force in self.known.forces.items() if isinstance(force, Standing)
        ]
        found = [
            name for name in standing if any(fnmatchcase(name, pattern) for pattern in patterns)
        ]
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in standing):
                raise BadInput(
                    f"{self.wanted.path}: nothing that stands on the ground is called '{pattern}'; {suggestion(pattern, standing)}"
                )
        return found

    def numbers(self, key: str, value: float) -> dict[str, float]:
        """Return the values of all variable quantities of a case, with one of them changed."""
        g = self.wanted.ground
        found = {name: getattr(g, name) for name in GROUND} | {
            "spread": 1.0,
            "slope": 0.0,
            "cross_slope": 0.0,
            "soft": 1.0,
        }
        return found | ({key: value} if key in found else {})

    def description(self, key: str, value: float, extension: float | None = None) -> dict[str, Any]:
        """Return the description of a case with a changed quantity."""
        made, n = copy.deepcopy(self.base), self.numbers(key, value)
        if not made.get("run", {}).get("prepare"):
            made["run"] = {**made.get("run", {}), "prepare": [{"name": "at rest"}]}
        middle = self.middle()
        for label in self.supports:
            force = made["forces"][label]
            if n["bedding"] is not None:
                force["soil"] = self.soil(n, n["soft"] if label == self.corner else 1.0)
            if n["spread"] != 1.0:
                point = force.get("point", (0.0, 0.0, 0.0))
                force["point"] = [
                    f"({c}) + ({x} - ({c}))*{n['spread']!r}"
                    for x, c in zip(point[:2], middle, strict=True)
                ] + [point[2]]
        if n["slope"] or n["cross_slope"]:
            made["gravity"] = tilted(
                made.get("gravity", (0.0, 0.0, -9.81)), n["slope"], n["cross_slope"]
            )
        changed = {key: value} if key and key not in SPECIAL else {}
        if extension is not None:
            changed |= {self.wanted.extension: extension}
        for name, number in changed.items():
            made["parameters"][name] = {**as_table(made["parameters"][name]), "value": number}
        return made

    def unit(self, key: str) -> str:
        """Return the unit of a varied quantity."""
        return (
            UNITS.get(key, "")
            if key in SPECIAL or not key
            else str(as_table(self.base["parameters"][key]).get("unit", ""))
        )

    def described(self, key: str) -> float:
        """Return the nominal value of a varied quantity, or NaN."""
        if key in SPECIAL:
            value = self.numbers("", math.nan).get(key)
        else:
            value = (
                self.wanted.settings.get(key, as_table(self.base["parameters"][key]).get("value"))
                if key
                else None
            )
        return float(value) if isinstance(value, int | float) else math.nan

    def middle(self) -> list[str]:
        """Return the mean position of the supports in the frame of their body."""
        points = [
            self.base["forces"][label].get("point", (0.0, 0.0, 0.0)) for label in self.supports
        ]
        return [
            "(" + " + ".join(f"({point[k]})" for point in points) + f")/{len(points)}"
            for k in (0, 1)
        ]

    def soil(self, n: Mapping[str, float], soft: float) -> dict[str, float]:
        """Return the soil parameters under one support; `soft` scales its stiffness and strength."""
        area = n["footprint"]
        stiffness, damping = n["bedding"] * area * soft, n["damping"] * area
        bearing = NEVER if n["bearing"] is None else n["bearing"] * area * soft
        found = {
            "strength": bearing,
            "hardening": n["hardening"] * area,
            "stiffness": stiffness,
            "damping": damping,
        }
        return found | {"viscosity": damping + SETTLING * stiffness}

    def case(self, key: str, value: float) -> Case:
        """Return the results of a case: equilibrium, modes and a run."""
        found = Case(key, value, self.unit(key), self.described(key))
        try:
            if key == "preload":
                found.extension = self.extension_of(value)
                self.look(found, self.description("", math.nan, found.extension))
            else:
                self.look(found, self.description(key, value))
        except (ModelError, EvaluationError, NotPossible) as error:
            found.failed = str(error).splitlines()[0]
        return found

    def look(self, case: Case, description: dict[str, Any]) -> None:
        """Compute equilibrium, modes and run of a case and store them in it."""
        system = load(description).compile()
        rest = system.equilibrium(q=system.start()[0])
        known = rest.outputs | rest.coordinates | rest.states
        for name in (*self.wanted.angles, *self.wanted.hold):
            if name not in known:
                raise BadInput(
                    f"{self.wanted.path}: no column '{name}'; {suggestion(name, tuple(known))}"
                )
        case.angles = {name: known[name] for name in self.wanted.angles}
        case.loads = {label: rest.forces[label] for label in (*self.supports, *self.others)}
        if sum(case.loads[label] for label in self.supports) <= 0.0:
            raise NotPossible("no support carries a load at equilibrium")
        slow = sorted(
            (mode for mode in rest.modes if mode.frequency > 1e-6 and mode.damping < 1.0),
            key=lambda mode: mode.frequency,
        )
        case.modes = [(mode.frequency, mode.damping) for mode in slow[:MODES]]
        result = raise_if_interrupted(
            system.simulate(**self.wanted.run_table.model_dump(exclude_unset=True))
        )
        case.units = {name: result.unit(name) for name in (*self.wanted.angles, *self.wanted.hold)}
        case.least = {label: float(result[f"force('{label}')"].min()) for label in self.supports}
        for begin, end in self.spans(result):
            inside = (result.time >= begin) & (result.time <= end)
            moved = {name: result[name] - result[name][0] for name in self.wanted.hold}
            case.largest.append({name: float(np.abs(d[inside]).max()) for name, d in moved.items()})
            case.left.append({name: float(d[inside][-1]) for name, d in moved.items()})
            final = {name: d - d[inside][-1] for name, d in moved.items()}
            case.settled.append(
                {
                    name: settling(result.time, d, begin, end, self.wanted.band)
                    for name, d in final.items()
                }
            )

    def spans(self, result: Result) -> list[tuple[float, float]]:
        """Return the time intervals that begin with a disturbance."""
        last = float(result.time[-1])
        if not self.wanted.disturbed:
            return [(float(result.time[0]), last)]
        begins = [e.time for e in result.events if e.stage.startswith(self.wanted.disturbed)]
        ends = [
            e.time
            for e in result.events
            if self.wanted.until and e.stage.startswith(self.wanted.until)
        ]
        return [
            (t, min([end for end in (*ends, *begins) if end > t], default=last)) for t in begins
        ] or [(float(result.time[0]), last)]

    def extension_of(self, share: float) -> float:
        """Return the extension at which `others` carry a given share of the weight, by bisection."""
        low, high = self.wanted.between
        if not (self.share(low) >= share >= self.share(high)):
            raise NotPossible(
                f"preload {share:g}: no {self.wanted.extension} from {low:g} to {high:g} gives it"
            )
        if share == 0.0:  # the least that lifts it off
            share = CLOSE
        while high - low > CLOSE * abs(self.wanted.between[1] - self.wanted.between[0]):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.share(middle) > share else (low, middle)
        return high

    def share(self, extension: float) -> float:
        """Return the share of the weight that `others` carry at equilibrium for an extension."""
        description = self.description("", math.nan, extension)
        for step in description.get("run", {}).get("prepare", ()):
            step.pop("require", None)
        system = load(description).compile()
        rest = system.equilibrium(q=system.start()[0])
        loads = {label: rest.forces[label] for label in (*self.supports, *self.others)}
        return sum(loads[label] for label in self.others) / sum(loads.values())


def as_table(parameter: Any) -> dict[str, Any]:
    return dict(parameter) if isinstance(parameter, dict) else {"value": parameter}


def tilted(gravity: Any, slope: float, cross: float) -> list[str]:
    """Return the components of gravity in the axes of a ground that rises along x, then along y."""
    a, b = math.atan(slope), math.atan(cross)
    along = np.array(
        [[math.cos(a), 0.0, math.sin(a)], [0.0, 1.0, 0.0], [-math.sin(a), 0.0, math.cos(a)]]
    )
    aside = np.array(
        [[1.0, 0.0, 0.0], [0.0, math.cos(b), math.sin(b)], [0.0, -math.sin(b), math.cos(b)]]
    )
    rows = along @ aside
    return [
        " + ".join(f"{float(part)!r}*({g})" for part, g in zip(row, gravity, strict=True))
        for row in rows
    ]


def study(wanted: Supports, progress: Callable[[float], None] = lambda done: None) -> list[Case]:
    """Compute all cases of a study, the nominal one first."""
    cases, made = [], Study(wanted)
    for k, (key, value) in enumerate(wanted.cases()):
        cases.append(made.case(key, value))
        progress(k + 1.0)
    return cases
