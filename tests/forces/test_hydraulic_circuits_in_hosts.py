"""A hydraulic circuit by itself, as the drive of a mechanism elsewhere: the same rates, what a coupling is told, and the coupled boom."""

import csv
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boom_with_circuit import one_system

from kinetree.models import ModelError, load
from kinetree.models.system.local_coordinates import Evaluation
from kinetree.scripts.cli import main
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.valve_cylinder import Cylinder, Valve

BAR = 1e5
OURS = Cylinder(
    area_a=5e-3,
    area_b=3.2e-3,
    volume_a=0.5e-3,
    volume_b=0.7e-3,
    shortest=1.35,
    longest=2.35,
    air=0.01,
    leakage=1e-12,
)
CIRCUIT: dict[str, Any] = {
    "tank": {"pressure": 5e5}, "rail": {"pressure": 210e5},
    "a": {"volume": 0.5e-3, "air": 0.01, "start": 40e5}, "b": {"volume": 0.7e-3, "air": 0.01, "start": 50e5},
    "servo": {"supply": "rail", "tank": "tank", "a": "a", "b": "b", "command": "x", "rated_flow": 6e-4, "overlap": 0.04},
    "lift": {
        "a": "a", "b": "b", "length": "s", "rate": "v", "area_a": 5e-3, "area_b": 3.2e-3, "shortest": 1.35, "longest": 2.35, "leakage": 1e-12,
    },
}  # fmt: skip
for side in "ab":
    CIRCUIT[f"relief_{side}"] = {"path": [side, "tank"], "opens": 275e5, "gain": 1e-9}
    CIRCUIT[f"make_up_{side}"] = {"path": ["tank", side], "gain": 1e-9}


def alone(**change: Any) -> dict[str, Any]:
    """The circuit without a mechanism; length, speed and spool are inputs."""
    return {
        "format": "kinetree/1",
        "inputs": {"s": 1.8, "v": 0.0, "x": 0.0},
        "hydraulics": deepcopy(CIRCUIT) | change,
    }


def test_circuit_rates_match_drive_in_python():
    """25 random states, valves open and shut, air in the oil: rounding of sums of flows."""
    system, drive, random = (
        load(alone()).compile(),
        Drive(OURS, Valve(overlap=0.04)),
        np.random.default_rng(3),
    )
    assert system.compiled.states == ("a.pressure", "b.pressure") and system.bodies == ()
    nothing = np.zeros(0)
    for _ in range(25):
        spool, length, speed = (
            random.uniform(-1, 1),
            random.uniform(1.4, 2.3),
            random.uniform(-0.5, 0.5),
        )
        pressures = random.uniform(1e5, 320e5, 2)
        inputs = {"s": length, "v": speed, "x": spool}
        found = Evaluation(system, 0.0, inputs).rates(
            nothing, nothing, pressures, np.array([inputs[name] for name in system.compiled.inputs])
        )
        assert found == pytest.approx(drive.rates(spool, length, speed, *pressures), rel=1e-10)


def test_circuit_reports_stiffness_to_coupling():
    """Stiffness is dF/ds of the shut bottle, resting_rate the rate of the force by the flows alone."""
    description = alone() | {"states": {"stroke": {"rate": "v", "start": 1.8}}}
    description["hydraulics"]["lift"] |= {"length": "stroke", "leakage": 0.0}
    system = load(description).compile()
    squeezed = system.simulate(0.01, output_step=0.01, inputs={"v": 1e-4}, tolerance=1e-11)
    force, told = squeezed["lift.force"], squeezed["lift.stiffness"]
    assert (force[1] - force[0]) / 1e-6 == pytest.approx(
        told[0], rel=1e-4
    )  # second order in the way of 1 µm
    fed = system.simulate(1e-5, output_step=1e-5, inputs={"x": 0.5, "v": 0.1}, tolerance=1e-11)
    rate = (fed["lift.force"][1] - fed["lift.force"][0]) / 1e-5
    assert rate == pytest.approx(
        fed["lift.resting_rate"][0] + told[0] * 0.1, rel=1e-3
    )  # the rates change within the 10 µs


def test_hydraulic_motor_at_given_speed_matches_formula():
    """Shut in, the moment rises with the angle: -2 E D²/V."""
    description = {"format": "kinetree/1", "inputs": {"w": 0.0}, "hydraulics": {
        "a": {"volume": 1e-3, "start": 50e5}, "b": {"volume": 1e-3, "start": 50e5},
        "drive": {"rate": "w", "displacement": 2e-4, "a": "a", "b": "b"},
    }}  # fmt: skip
    result = load(description).compile().simulate(0.1, output_step=0.1, inputs={"w": 0.01})
    assert result["drive.stiffness"][0] == pytest.approx(-2 * 1.4e9 * 4e-8 / 1e-3)
    assert result["drive.force"][1] == pytest.approx(result["drive.stiffness"][0] * 1e-3, rel=1e-6)


def coupled(folder: Path, step: float, *options: str) -> dict[str, np.ndarray]:
    """lib:boom-circuit: the boom and the circuit as two units."""
    path = folder / f"{step}.csv"
    assert (
        main(
            [
                "cosim",
                "lib:boom-circuit",
                "--step-size",
                str(step),
                "--stop-time",
                "1.2",
                "-o",
                str(path),
                "-q",
                *options,
            ]
        )
        == 0
    )
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def test_coupled_boom_converges_with_second_order(tmp_path: Path):
    """Told stiffness and resting rate by plain wires: 20 ms are 2.3 radians of the oil's oscillation."""
    exact, errors = one_system(), []
    for step in (0.02, 0.01, 0.005):
        found = coupled(tmp_path, step, "--units", "process")
        names = ("hose_a.pressure", "hose_b.pressure")
        errors.append(
            max(
                np.abs(
                    found[f"drive.{name}"] - np.interp(found["time"], exact.time, exact[name])
                ).max()
                / BAR
                for name in names
            )
        )
    assert errors[0] < 4.0 and errors[2] < 0.5
    assert errors[0] / errors[1] > 2**1.5 and errors[1] / errors[2] > 2**1.5


@pytest.mark.slow
@pytest.mark.parametrize("units", ["native", "python"])
def test_circuit_becomes_fmu(tmp_path: Path, units: str):
    """Both back ends run the same binary. pythonfmu takes no slopes, but the wires are means already: the same numbers."""
    here, there = (
        coupled(tmp_path, 0.01, "--units", "process"),
        coupled(tmp_path, 0.01, "--units", units),
    )
    assert np.abs(there["drive.hose_a.pressure"] - here["drive.hose_a.pressure"]).max() < 1e-6 * BAR


def test_info_lists_circuit_elements(capsys: pytest.CaptureFixture):
    assert main(["info", "lib:servo-drive"]) == 0
    assert "lift.resting_rate" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"length": None}, "between, or length with rate"),
        ({"between": [{"body": "ground"}, {"body": "b"}]}, "between, or length with rate"),
        ({"rate": "vv"}, "unknown name 'vv'"),
    ],
)
def test_circuit_motion_has_one_source(change: dict, said: str):
    lift = {key: value for key, value in (CIRCUIT["lift"] | change).items() if value is not None}
    with pytest.raises(ModelError, match=said):
        load(alone(lift=lift))
