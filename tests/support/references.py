"""Published numbers and trajectories that tests compare with."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parents[1] / "data"


def reference(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def columns(name: str) -> dict[str, np.ndarray]:
    """A trajectory by its column names."""
    with (DATA / f"{name}.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return dict(zip(header, np.array(rows, float).T, strict=True))
