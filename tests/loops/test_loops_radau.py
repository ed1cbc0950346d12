"""Closed mechanisms by radau: states are projected for right-hand sides only once a step has ended far from the constraints."""

import pytest

from kinetree.models import load
from kinetree.models.run.simulation import Options, write_integrator_options
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.solvers.model_records import HEAD

TIP = (
    0.32845811154081538,
    0.94451853817860096,
)  # of the first crank after 10 s, N = 2 (IFToMM/UDC benchmark A02), exact


def ended(model: str, stop: float, tolerance: float, **settings: int) -> tuple[Run, bool]:
    """A run by radau, and whether it came to project."""
    system = load(model, **settings).compile()
    unit = make_unit(system, "radau")
    run = Run(unit)
    write_integrator_options(
        run, Options.of(system, stop, 0.0, 0.1, "radau", "auto", tolerance, None, None), False
    )
    status = run.call("unit_start", 0, 0.0)
    for k in range(round(stop / 0.1)):
        status = status or run.call("unit_advance", 0, 0.1 * (k + 1))
    assert status == 0 and run.head.constraint_residual < 1e-10
    return run, run.work[int(unit.header.at_workspace) + HEAD.at("on_constraints")] == 1.0


def test_radau_does_not_project_regular_loops_at_every_state():
    """Far from singular positions the directions across the constraints are not stiff."""
    assert not ended("lib:four_bar", 1.0, 1e-7)[1]
    assert not ended("lib:delta", 0.5, 1e-6)[1]


def test_drifting_radau_step_is_repeated_with_projection():
    """N four-bars pass positions in which they could fold; from then on states are projected, and the motion stays the exact one."""
    strayed = []
    for tolerance in (
        1e-9,
        1e-8,
        1e-7,
    ):  # which of them come near enough to a fold hangs on roundings
        run, projected = ended("lib:n_four_bar", 10.0, tolerance, n=2)
        places = {column.name: k for k, column in enumerate(run.unit.columns)}
        assert [run.columns[places[f"tip[{k}]"]] for k in (1, 2)] == pytest.approx(TIP, abs=1e-5)
        strayed.append(projected)
    assert any(strayed)
