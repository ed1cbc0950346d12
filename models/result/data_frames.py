"""Columns of a result as pandas and xarray data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinetree.models.result.result import Result


def to_dataframe(result: Result, names: Sequence[str]):
    """Return columns as a pandas DataFrame indexed by time, with units in `attrs`."""
    try:
        from pandas import DataFrame, Index
    except ImportError:
        raise ValueError("data frames need pandas: pip install kinetree[tables]") from None
    frame = DataFrame({name: result[name] for name in names}, index=Index(result.time, name="time"))
    frame.attrs["units"] = {"time": "s", **{name: result.unit(name) for name in names}}
    return frame


def to_xarray(result: Result, names: Sequence[str]):
    """Return columns as an xarray Dataset over time, with the names of mechanism and stages in
    `attrs`.
    """
    try:
        from xarray import Dataset
    except ImportError:
        raise ValueError("data sets need xarray: pip install kinetree[tables]") from None
    variables = {name: ("time", result[name], {"units": result.unit(name)}) for name in names}
    attributes = {"name": result.name, "stages": list(result.stage_names)}
    return Dataset(
        variables, coords={"time": ("time", result.time, {"units": "s"})}, attrs=attributes
    )
