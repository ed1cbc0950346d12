"""The file of a support study.

mechanism = "lib:carrier"
supports = ["jack_*"]              # force elements of the ground (contact, jack, tyre, wheel) that carry, by names or patterns
others = ["wheel_*"]               # those that may carry beside them
angles = ["pitch", "roll"]         # coordinates or outputs whose values at rest are told
hold = ["pitch", "roll"]           # columns whose deviations from the start of the run are told
disturbed = "swing"                # stages whose beginnings disturb; left out: the start of the run
until = "travel"                   # stages before which it is to be settled
extension = "jack_extension"       # parameter that takes the load off `others`, for `preload`
range = [0.5, 1.1]                 # where it is sought
corner = "jack_front_left"         # the one that `soft` and `short` change; left out: the first
[ground]                           # under every support: elastic, or as the description has it where `bedding` is missing
bedding = 1e8                      # pressure per elastic sinkage [N/m3]
damping = 1e6                      # the same of its rate [N.s/m3]
footprint = 0.25                   # area of a support [m2]
bearing = 3e5                      # pressure from which it settles for good [Pa]; left out: never
hardening = 1e7                    # growth of that pressure with the settlement [Pa/m]
[set]                              # parameters and settings of all cases
[run]
stop_time = 5.0
[vary]                             # one at a time: keys of [ground], spread, slope, cross_slope, soft, preload, or any parameter
bedding = [2e7, 1e8, 1e9]

A support on the ground is its own law in series with bedding·footprint (`soil`). A slope turns gravity; `spread` moves the supports along the ground
away from their middle. Runs begin at rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PrivateAttr, model_validator

from kinetree.scripts.studies.study import RunTable
from kinetree.scripts.terminal.input_files import FileTable, Positive, Real, checked, read_toml

SHIPPED = Path(__file__).parent.parent / "templates" / "supports.toml"
GROUND = ("bedding", "damping", "footprint", "bearing", "hardening")
SPECIAL = (*GROUND, "spread", "slope", "cross_slope", "soft", "preload")


class Ground(FileTable):
    """Settings of the ground."""

    bedding: Positive | None = None
    damping: Positive = 1e6
    footprint: Positive = 0.25
    bearing: Positive | None = None
    hardening: Annotated[Real, Field(ge=0.0)] = 0.0


class Supports(FileTable):
    """Settings of a support study."""

    mechanism: Annotated[str, Field(strict=True, min_length=1)]
    supports: Annotated[list[str], Field(min_length=1)]
    others: list[str] = []
    angles: list[str] = []
    hold: Annotated[list[str], Field(min_length=1)]
    disturbed: str = ""
    until: str = ""
    extension: str = ""
    between: Annotated[list[Real], Field(min_length=2, max_length=2)] = Field(
        [0.0, 1.0], alias="range"
    )
    corner: str = ""
    ground: Ground = Ground()
    settings: dict[str, Any] = Field({}, alias="set")
    run_table: RunTable = Field(RunTable(), alias="run")
    vary: Annotated[dict[str, Annotated[list[Real], Field(min_length=1)]], Field(min_length=1)]
    band: Positive = 2e-4

    _path: Path = PrivateAttr(SHIPPED)

    @model_validator(mode="after")
    def sensible(self) -> Supports:
        if "preload" in self.vary and not (self.extension and self.others):
            raise ValueError("vary.preload: it needs `extension` and `others`")
        if self.ground.bedding is None and any(
            key in self.vary for key in ("damping", "footprint", "bearing", "hardening", "soft")
        ):
            raise ValueError(
                "ground.bedding: nothing; the ground has to give way before its other numbers matter"
            )
        return self

    def source(self) -> str:
        """Return the mechanism; a file is meant relative to the study's own folder."""
        return (
            self.mechanism
            if self.mechanism.startswith("lib:")
            else str(self._path.parent / self.mechanism)
        )

    def with_settings(self, settings: Mapping[str, Any]) -> Supports:
        made = self.model_copy(update={"settings": {**self.settings, **settings}})
        made._path = self._path
        return made

    @property
    def path(self) -> Path:
        return self._path

    def cases(self) -> list[tuple[str, float]]:
        """Return the nominal case and all single changes."""
        return [
            ("", math.nan),
            *((key, float(value)) for key, values in self.vary.items() for value in values),
        ]


def read_supports(path: Path = SHIPPED) -> Supports:
    """Read and check a file."""
    found = checked(Supports, read_toml(path), str(path))
    found._path = path
    return found
