"""FMUs of drives between controller and mechanism in the loop, against one system of both."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import load
from kinetree.scripts.hil.compiled_loop import library
from kinetree.scripts.hil.drives import DrivenPlant
from kinetree.scripts.hil.loop_run import simulate
from kinetree.scripts.hil.scenario import read_scenario
from kinetree.scripts.terminal.error_messages import BadInput

DRIVE = """
[[drives]]
name = "cylinder"
mechanism = "lib:servo-drive"
actuator = "lift"
[drives.wires]
force = "lift.force"
stiffness = "lift.stiffness"
resting_rate = "lift.resting_rate"
[[loops]]
measure = "luff"
command = "cylinder.command"
"""
MOTOR = Path(__file__).parents[2] / "examples" / "control"


def scenario(folder: Path, text: str = DRIVE, step: float = 0.01, stop: float = 1.2):
    path = folder / "loop.toml"
    path.write_text(f'mechanism = "lib:boom"\nstep = {step}\nstop_time = {stop}\n{text}')
    return read_scenario(path)


def test_hydraulic_drive_in_the_loop_matches_monolithic_system(tmp_path: Path):
    """At 10 ms, where the oil mode of 18 Hz would tear held forces apart (H·ω = 1.1 above 0.08)."""
    record = simulate(scenario(tmp_path))
    whole = load("lib:boom-drive").compile().simulate(stop_time=1.2, output_step=0.01)
    luff = np.array(record.rows)[:, 0]
    assert np.ptp(whole["luff"]) > 0.03
    assert luff == pytest.approx(whole["luff"][1:], abs=5e-4)


def test_compiled_chain_steps_as_python_does(tmp_path: Path):
    loaded = library()
    if isinstance(loaded, str):
        pytest.skip(loaded)
    text = (MOTOR / "driven_boom.toml").read_text()
    path = tmp_path / "driven.toml"
    path.write_text(text.replace("electric_drive.toml", str(MOTOR / "electric_drive.toml")))
    wanted = read_scenario(path)
    rows = []
    for compiled in (False, True):
        with DrivenPlant(wanted) as plant:
            assert plant.first_commands() == pytest.approx([14.18818], rel=1e-3)
            chain = plant.calls(loaded)["component"] if compiled else None
            for k in range(20):
                values = (ctypes.c_double * 1)(14.0 + 0.3 * k)
                if chain is None:
                    plant.command(tuple(values))
                    plant.advance(0.002 * (k + 1))
                    rows.append(plant.measures())
                else:
                    seen = (ctypes.c_double * 1)()
                    assert loaded.chain_set(chain, plant.inward, ctypes.c_size_t(1), values) == 0
                    at = ctypes.c_double(0.002 * k), ctypes.c_double(0.002 * (k + 1) - 0.002 * k)
                    assert loaded.chain_advance(chain, *at, 1) == 0
                    assert loaded.chain_get(chain, plant.outward, ctypes.c_size_t(1), seen) == 0
                    rows.append(tuple(seen))
    assert rows[:20] == rows[20:] and len(set(rows)) == 20


@pytest.mark.slow
def test_electric_drive_of_the_example_holds_the_boom():
    wanted = read_scenario(MOTOR / "driven_boom.toml")
    wanted.stop_time = 1.5
    record = simulate(wanted)
    luff = np.array(record.rows)[:, 0]
    assert luff[-1] == pytest.approx(0.55, abs=1e-4) and luff.max() < 0.57


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('actuator = "lift"', 'actuator = "lft"', "lft.force"),
        ('force = "lift.force"', 'force = "lift.frce"', "lift.frce"),
        ('name = "cylinder"', "", "name is missing"),
        ('mechanism = "lib:servo-drive"', "", "either mechanism or fmu"),
        ('command = "cylinder.command"', 'command = "cylinder.comand"', "comand"),
    ],
)
def test_incompatible_drives_are_refused(tmp_path: Path, before: str, after: str, message: str):
    with pytest.raises(BadInput, match=message):
        wanted = scenario(tmp_path, DRIVE.replace(before, after))
        with DrivenPlant(wanted):
            pass
