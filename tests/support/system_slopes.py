"""Slopes of a compiled system in a state, by dual numbers and by differences."""

import os

import numpy as np
import pytest

from kinetree.models.analysis.exact_derivatives import Slopes
from kinetree.models.system.local_coordinates import Chart, Evaluation

compiled = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="dual numbers exist in compiled kernels only"
)


def slopes_of(system, q, u) -> Slopes:
    q, u = system.project(0.0, q, u)
    chart, evaluation = Chart(system, 0.0, q), Evaluation(system, 0.0)
    columns = {column.name: column.register for column in system.compiled.outputs}
    shift = 1.0 + 0.2 * np.random.default_rng(2).random(
        evaluation.start_x.size
    )  # far from where circuits start: shut valves, pressures in balance
    x = evaluation.start_x * shift
    wanted = [
        register for name, register in columns.items() if not name.endswith("mean_speed")
    ]  # a jump where a step of the drive begins
    return Slopes(evaluation, chart, u[chart.independent], x, wanted)
