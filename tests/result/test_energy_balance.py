"""Runs whose energy balance is open tell so; those that only dissipate, drive or rest do not."""

import json
from pathlib import Path

import pytest

from kinetree.models import load
from kinetree.scripts import cli


def ball(**run) -> dict:
    return {
        "format": "kinetree/1",
        "bodies": {"ball": {"mass": 1.0, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}},
        "joints": {"f": {"child": "ball", "type": "prismatic", "coordinates": ["h"], "start": 1.0}},
        "forces": {
            "floor": {
                "kind": "contact", "body": "ball", "radius": 0.1, "stiffness": 1e8, "damping": 1e3,
            }
        },
        "run": {"stop_time": 2.0, "output_step": 0.01} | run,
    }  # fmt: skip


def slider(force: str, **more) -> dict:
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"a": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "a", "transforms": [{"shift": "x", "coordinate": "x"}]}},
        "forces": {"f": {"coordinate": "x", "value": force}},
        "run": {"stop_time": 2.0, "output_step": 0.01},
    } | more


def test_energy_error_of_too_long_steps_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture):
    description = ball(integrator="rk4", step=0.01)
    (told,) = load(description).compile().simulate().warnings
    assert "energy" in told and "rk4" in told and "0.01 s" in told and "kJ" in told
    path = tmp_path / "ball.json"
    path.write_text(json.dumps(description))
    assert cli.main(["run", str(path), "-q", "-o", str(tmp_path / "b.csv")]) == 0
    assert "warning: the energy balance" in capsys.readouterr().err
    assert cli.main(["run", str(path), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["warnings"]) == 1


@pytest.mark.parametrize(
    "description",
    [
        ball(),
        slider("0"),  # nothing moves
        slider("1e-9*sin(t)"),
        slider("-20*der(x) + 30*sin(5*t)"),  # driven and damped
        slider("-1e4*x - 100*der(x)", inputs={"p": 1.0}),
    ],
)
def test_closed_energy_balances_cause_no_warning(description: dict):
    assert load(description).compile().simulate().warnings == ()


@pytest.mark.parametrize("name", ["pendulum", "free-body", "four-bar", "carrier", "boom-drive"])
def test_library_mechanisms_balance_energy(name: str):
    assert load(f"lib:{name}").compile().simulate(stop_time=1.0).warnings == ()


@pytest.mark.parametrize(
    ("step", "row", "warned"), [(0.05, 0.001, True), (0.02, 0.03, True), (0.001, 0.01, False)]
)
def test_steps_cut_short_by_output_rows_are_told(step, row, warned):
    """A study of convergence would see the rows, not the steps."""
    system = load("lib:pendulum").compile()
    result = system.simulate(stop_time=0.3, integrator="rk4", step=step, output_step=row)
    assert any("output" in each for each in result.warnings) == warned
