"""Summary tables of a staged run: values at the start and at the end of stages and the largest deviations, mean, deviation and spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kinetree.models.result.result import Result

KINDS = ("start", "end", "max_deviation")


def table(result: Result, kind: str) -> dict:
    """Rows per stage and column, then mean, standard deviation and spread (largest minus smallest) over the stages."""
    if kind not in KINDS:
        raise ValueError(f"unknown table '{kind}', expected one of {', '.join(KINDS)}")
    names = [name for name in result.names if name not in result.EXTRA]
    shown = [result.shown(name) for name in names]
    values = np.column_stack([column for column, _ in shown])
    stages = result["stage"].astype(int)
    rows, labels = [], []
    for stage in np.unique(stages):
        part = values[stages == stage]
        labels.append(result.stage_names[stage])
        if kind == "max_deviation":
            deviation = part - part[0]
            rows.append(deviation[np.abs(deviation).argmax(axis=0), np.arange(len(names))])
        else:
            rows.append(part[0 if kind == "start" else -1])
    data = np.array(rows)
    return {
        "kind": kind,
        "columns": names,
        "units": [unit for _, unit in shown],
        "stages": labels,
        "values": data,
        "mean": data.mean(axis=0),
        "standard_deviation": data.std(axis=0, ddof=1) if len(rows) > 1 else np.zeros(len(names)),
        "spread": np.ptp(data, axis=0),
    }
