"""Settings of reports of a run: tables over stages and sets of plots."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from kinetree.models.language.parts.base_table import Part

REPORT_ROWS = (
    "start",
    "end",
    "mean",
    "std",
    "rms",
    "smallest",
    "largest",
    "range",
    "max_deviation",
    "changes",
)
SUMS = (
    *("mean", "std", "rms", "smallest", "largest", "range", "initial"),
    *("whole_mean", "whole_std", "whole_range"),
)


def several(value: object) -> object:
    """Return a single text as a list of one."""
    return (value,) if isinstance(value, str) else value


Texts = Annotated[tuple[str, ...], BeforeValidator(several)]
Window = tuple[float, float]


class ReportTable(Part):
    """A table over the stages of a run: one row per stage (or per change of stage), one column per variable, and sums over the rows."""

    title: str = Field(default="", description="Above the table; left out: its name")
    columns: Texts = Field(
        default=(),
        description="Variables; * and ? match any text and any letter (default: coordinates that exist in all stages)",
    )
    rows: Literal[REPORT_ROWS] = Field(  # type: ignore[valid-type]
        default="end",
        description="A stage's value at its start or end, over its time, its largest deviation; changes: just before and just after each change",
    )
    stages: Texts = Field(
        default=(),
        description="Names of stages in the order of the run, * for any text: 'swing*' is a group; left out: all",
    )
    over: Literal["stages", "phases"] = Field(
        default="stages",
        description="One row per stage or per phase; names of phases in `stages` mean phases",
    )
    reference: Literal["start", "stage"] | float | dict[str, float] | None = Field(
        default=None,
        description="Show deviations from the start of the run, of each stage, from an instant [s], or from values by variable [SI]",
    )
    sums: tuple[Literal[SUMS], ...] = Field(  # type: ignore[valid-type]  # pyright: ignore[reportInvalidTypeForm]
        default=("mean", "std", "rms", "range"),
        description="Statistics over the rows; initial: root mean square difference from the start; whole_*: over the time of all rows",
    )


class ReportPlot(Part):
    """A set of plots over time."""

    title: str = Field(
        default="", description="Above the plots; left out: the name of the mechanism"
    )
    columns: Texts = Field(
        default=(),
        description="Variables; * and ? match any text and any letter (default: outputs, then moving coordinates)",
    )
    window: Window | None = Field(default=None, description="From and to [s]")
    stages: Texts = Field(
        default=(), description="Stages that are shown; * matches any text (default: all)"
    )
    deviation: bool = Field(default=False, description="Plot differences from the start values")
    per_page: int = Field(
        default=4, gt=0, le=12, description="Panels on a page; further pages are NAME-2, ..."
    )


class Report(Part):
    """Tables and plots that `kinetree run --tables` and `--plots` write, and names of variables in them."""

    tables: dict[str, ReportTable] = Field(
        default_factory=dict, description="Tables over the stages of a run"
    )
    plots: dict[str, ReportPlot] = Field(default_factory=dict, description="Sets of plots")
    names: dict[str, str] = Field(
        default_factory=dict,
        description="Display names of variables in plots and tables",
    )
