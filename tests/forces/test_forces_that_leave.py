"""Forces over a table of two variables that leave with the body whose motion they read (`leaves_with`): law, slopes, C sources."""

import numpy as np
import pytest
from system_slopes import compiled, slopes_of
from translated_engine import in_its_place

from kinetree.models import ModelError, load
from kinetree.models.run.sampled_blocks import needed_outputs

GRID = {"x": [0.0, 0.4, 1.0, 3.0], "y": [-1.0, 0.0, 2.0]}
Z = [[(1 + x) * (3 - y) for y in GRID["y"]] for x in GRID["x"]]  # a product of lines
LEAVES = {"leaves_with": ["jet"]}


def jet_and_plate(method: str = "linear", more: dict | None = None) -> dict:
    """Return a plate that is pushed by a jet in free flight, by distance and turn; the jet is dropped after 0.3 s."""
    own = {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}
    return {
        "format": "kinetree/1", "name": "jet", "gravity": [0, 0, 0],
        "tables": {"field": {**GRID, "z": Z, "method": method}},
        "bodies": {"plate": own, "jet": own},
        "joints": {
            "rail": {"child": "plate", "transforms": [{"shift": "x", "coordinate": "back", "start": -0.2}]},
            "flight": {"child": "jet", "transforms": [
                {"shift": "x", "coordinate": "far", "start": 0.3, "speed": 1.5},
                {"rotate": "y", "coordinate": "turn", "start": 0.4, "speed": -0.6},
            ]},
        },
        "outputs": {
            "apart": {"quantity": "distance", "between": [{"body": "plate"}, {"body": "jet"}]},
            "turned": {"quantity": "angles", "body": "jet", "reference": {"body": "plate"}},
        },
        "forces": {"push": {"coordinate": "back", "value": "-table('field', apart, turned[2])", **(more or {})}},
        "stages": [{"ends": {"after": 0.3}, "drop": ["jet"]}],
        "run": {"stop_time": 0.5, "output_step": 0.01},
    }  # fmt: skip


def test_force_of_two_variables_accelerates_by_its_law_until_it_leaves():
    """The speed of the plate from the integral of the product of lines; constant once the jet is dropped."""
    run = load(jet_and_plate(more=LEAVES)).compile().simulate(tolerance=1e-10)
    with_jet = run.time < 0.3 - 1e-9
    force = -(1 + run["apart"]) * (3 - run["turned[2]"])
    summed = np.concatenate(
        [[0.0], np.cumsum(0.5 * (force[1:] + force[:-1]) * np.diff(run.time) / 2.0)]
    )
    assert run["der(back)"][with_jet] == pytest.approx(summed[with_jet], abs=2e-4)
    after = run["der(back)"][run.time > 0.3 + 1e-9]
    assert after.size > 10 and np.ptp(after) < 1e-12


@pytest.mark.parametrize(
    ("more", "says"),
    [({}, "unknown name 'apart'"), ({"leaves_with": ["jett"]}, "unknown body 'jett'")],
)
def test_forces_that_read_what_has_left_are_refused(more: dict, says: str):
    with pytest.raises(ModelError, match=says):
        load(jet_and_plate(more=more)).compile().simulate()


@compiled
@pytest.mark.parametrize("method", ["linear", "monotone", "spline"])
def test_slopes_over_both_variables_are_those_of_differences(method: str):
    system = load(jet_and_plate(method, LEAVES)).compile()
    slopes = slopes_of(system, *system.start())
    exact, near = slopes.matrix(), slopes.by_differences()
    assert slopes.exact and np.abs(near).max() > 0.5
    assert exact == pytest.approx(near, abs=1e-6)


def test_models_inside_keep_outputs_whose_components_are_read():
    """An observer's model has the angles whose second one a force reads, and nothing that no law reads."""
    raw = jet_and_plate(more=LEAVES)
    raw["outputs"]["idle"] = {"quantity": "energy"}
    assert needed_outputs(load(raw).description, []) == {"apart", "turned"}


@pytest.mark.slow
def test_sources_in_c_have_tables_of_two_variables_and_forces_that_leave():
    def run(method: str):
        system = load(jet_and_plate(method, LEAVES)).compile()
        return system.simulate(integrator="rk4", step=1e-3)

    for method in ("linear", "monotone", "spline"):
        right = run(method)
        with in_its_place():
            found = run(method)
        for name in ("back", "der(back)", "apart"):
            assert found[name] == pytest.approx(right[name], abs=1e-12, nan_ok=True)
