"""`kinetree observe`: from a file and a record to estimates, a report, and an observer as an FMU."""

import json

import numpy as np
import pytest

from kinetree.models import load
from kinetree.scripts.cli import main

TASK = """
mechanism = "{mechanism}"
record = "rec.csv"
[measurements]
luff = {{ noise = {{ value = 0.5, unit = "mrad" }}, column = "angle" }}
[parameters]
load_mass = {{ start = 70, std = 50, min = 0 }}
[process]
speeds = 0.001
[truth]
load_mass = 120
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A record of a boom with 120 kg, and the file that asks for the payload."""
    monkeypatch.chdir(tmp_path)
    times = np.arange(0, 0.5005, 1e-3)
    force = 5600 + 400 * np.sin(6 * times)
    stepper = load("lib:boom", load_mass=120.0).compile().stepper(step=1e-3)
    angles = []
    for value in force:
        angles.append(stepper["luff"])
        stepper["lift.force"] = float(value)
        stepper.advance()
    noisy = np.array(angles) + 5e-4 * np.random.default_rng(7).standard_normal(times.size)
    table = np.column_stack([times, noisy, force])
    np.savetxt("rec.csv", table, delimiter=",", header="time,angle,lift.force", comments="")
    (tmp_path / "o.toml").write_text(TASK.format(mechanism="lib:boom"))
    return tmp_path


def test_observe_writes_estimates_results_and_report(folder, capsys):
    files = ["-o", "e.csv", "-o", "e.json", "--report", "e.html"]
    assert main(["observe", "o.toml", "--json", *files]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == json.loads((folder / "e.json").read_text())
    mass = said["estimates"]["load_mass"]
    assert abs(mass["value"] - 120.0) < 4 * mass["std"] < 4.0 and mass["unit"] == "kg"
    assert said["normalised_innovation_squared"]["verdict"] == "consistent"
    table = np.genfromtxt("e.csv", delimiter=",", names=True, deletechars="")
    assert table["load_mass"][-1] == pytest.approx(mass["value"], rel=1e-8)
    assert table["load_mass.std"][0] == 50.0
    page = (folder / "e.html").read_text()
    assert "load_mass" in page and page.count("<img") == 2


def test_observer_as_fmu_gives_the_same_estimates(folder, capsys):
    import fmpy

    assert main(["observe", "o.toml", "-q", "-o", "obs.fmu", "-o", "e.csv"]) == 0
    rows = np.genfromtxt("rec.csv", delimiter=",", names=True, deletechars="")
    kinds = [("time", float), ("measured.luff", float), ("lift.force", float)]
    signal = np.array(list(zip(*(rows[n] for n in rows.dtype.names), strict=True)), dtype=kinds)
    names = ["estimate.load_mass", "std.load_mass"]
    found = fmpy.simulate_fmu(
        "obs.fmu", stop_time=0.2, step_size=1e-3, output_interval=1e-3, input=signal, output=names
    )
    table = np.genfromtxt("e.csv", delimiter=",", names=True, deletechars="")
    # the FMU has predicted one step beyond the last reading it was given, which moves no parameter
    assert found["estimate.load_mass"][-1] == pytest.approx(table["load_mass"][200], rel=1e-9)
    assert found["std.load_mass"][-1] == pytest.approx(table["load_mass.std"][200], rel=1e-9)


def test_unknown_force_on_a_body_is_added_to_the_mechanism(folder, capsys):
    text = TASK.format(mechanism="lib:boom").replace("[parameters]", "[unknowns]")
    gust = 'gust = { body = "boom", point = [3.2, 0, 0], direction = [0, 0, -2], std = 500 }'
    text = text.replace("load_mass = { start = 70, std = 50, min = 0 }", gust)
    (folder / "o.toml").write_text(text.replace("load_mass = 120", ""))
    assert main(["observe", "o.toml", "--json"]) == 0
    gust = json.loads(capsys.readouterr().out)["estimates"]["gust"]
    assert gust["value"] == pytest.approx(50 * 9.81, rel=0.1)  # the payload's 50 kg weigh as much


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("noise", "nois", "nois"),
        ('unit = "mrad"', 'unit = "mblob"', "mblob"),
        ("luff =", "lufff =", "lufff"),
        ("load_mass = {{ start", "load_mas = {{ start", "load_mas"),
        ("rec.csv", "none.csv", "none.csv"),
        ('column = "angle"', 'column = "angel"', "angel"),
        ("std = 50", 'std = "much"', "std"),
    ],
)
def test_observer_file_mistakes_are_reported_in_one_line(folder, capsys, old, new, named):
    text = TASK.replace(old, new).format(mechanism="lib:boom")
    (folder / "o.toml").write_text(text)
    assert main(["observe", "o.toml"]) == 2
    said = capsys.readouterr().err
    assert named in said and "Traceback" not in said
