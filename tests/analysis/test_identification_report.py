"""What an identification tells beside values: suspects, parameters without influence, the page."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import free_decay, identify, load
from kinetree.models.analysis import identification
from kinetree.models.analysis.amplitude_spectrum import amplitude_spectrum
from kinetree.models.analysis.identification import IdentificationError
from kinetree.scripts import cli


def two_masses(**values: float) -> dict:
    body = {"inertia": [1, 1, 1, 0, 0, 0]}
    units = {"m1": "kg", "m2": "kg", "k1": "N/m", "k2": "N/m", "c": "N.s/m"}
    numbers = {"m1": 2.0, "m2": 1.0, "k1": 100.0, "k2": 50.0, "c": 0.3} | values
    return {
        "format": "kinetree/1",
        "name": "two masses",
        "gravity": [0, 0, 0],
        "parameters": {name: {"value": x, "unit": units[name]} for name, x in numbers.items()},
        "bodies": {"a": body | {"mass": "m1"}, "b": body | {"mass": "m2"}},
        "joints": {
            "a": {"child": "a", "transforms": [{"shift": "x", "coordinate": "x", "start": 0.1}]},
            "b": {"parent": "a", "child": "b", "transforms": [{"shift": "x", "coordinate": "y"}]},
        },
        "forces": {
            "a": {"coordinate": "x", "stiffness": "k1", "damping": "c"},
            "b": {"coordinate": "y", "stiffness": "k2", "damping": 0.1},
        },
    }


@pytest.fixture(scope="module")
def record():
    return load(two_masses(k2=52.0)).compile().simulate(3.0, output_step=0.02)


def test_wrong_parameter_explains_residual_best(record):
    """Only k1 is fitted, and k2 is 4 % off: its true value is told, the fitted one is not."""
    data = {"time": record.time, "x": record["x"], "y": record["y"]}
    found = identify(two_masses(), data, ["k1"], suspects=True)
    best = found.suspects[0]
    assert best.name == "k2" and best.explained > 0.98
    assert best.value + best.change == pytest.approx(52.0, abs=0.1)
    assert "k1" not in {each.name for each in found.suspects}
    assert [each.explained for each in found.suspects] == sorted(
        (each.explained for each in found.suspects), reverse=True
    )
    assert identify(two_masses(), data, ["k1", "k2"], suspects=True).suspects == ()


@pytest.mark.parametrize(("names", "told"), [(["rho"], "'rho'"), (["g", "rho"], "'rho'")])
def test_parameters_that_only_rounding_depends_on_are_refused(names: list[str], told: str):
    """The mass per length of a four-bar under its weight alone does not change its motion."""
    mechanism = load("lib:four-bar")
    run = mechanism.compile().simulate(1.0, output_step=0.01)
    data = {"time": run.time, "phi": run["phi"], "chi": run["chi"]}
    with pytest.raises(IdentificationError, match=f"{told} has no influence"):
        identify(mechanism, data, names)


def test_indistinguishable_parameters_are_reported(record):
    """Masses, stiffnesses and dampings times one factor make the same motion."""
    free = two_masses()
    free["forces"]["b"]["damping"] = "c"
    run = load(free).compile().simulate(2.0, output_step=0.02)
    data = {"time": run.time, "x": run["x"], "y": run["y"]}
    with pytest.raises(IdentificationError, match="cannot be told apart"):
        identify(free, data, ["m1", "m2", "k1", "k2", "c"])


def test_counter_columns_are_not_used_as_measurements(record, tmp_path: Path, capsys):
    path, table = tmp_path / "two.json", tmp_path / "rec.csv"
    path.write_text(json.dumps(two_masses()))
    record.to_csv(table)
    assert cli.main(["identify", str(path), str(table), "-p", "k1,k2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["columns"]) == {"x", "y", "der(x)", "der(y)"}
    assert found["parameters"]["k2"]["value"] == pytest.approx(52.0, rel=1e-5)
    assert cli.main(["identify", str(table), "--json"]) == 0
    assert {each["name"] for each in json.loads(capsys.readouterr().out)["columns"]} == {
        "x", "y", "der(x)", "der(y)",
    }  # fmt: skip


def test_half_life_and_mean_amplitude_match_formula():
    t = np.linspace(0.0, 5.0, 501)
    decay = free_decay(t, {"x": 2.0 * np.exp(-0.4 * t) * np.cos(9.0 * t)})
    (mode,) = decay.modes
    assert mode.half_life == pytest.approx(math.log(2.0) / 0.4)
    mean = 2.0 * (1.0 - math.exp(-0.4 * 5.0)) / (0.4 * 5.0)
    assert mode.mean_amplitude(5.0)["x"] == pytest.approx(mean)


def test_amplitude_spectrum_shows_amplitudes_of_sines():
    """Sines that fit into the record have their amplitude; gaps are bridged."""
    t = np.arange(400) * 0.01
    y = 3.0 + 2.0 * np.sin(2 * math.pi * 2.5 * t) + 0.5 * np.cos(2 * math.pi * 10.0 * t)
    frequencies, sizes = amplitude_spectrum(t, y)
    for frequency, size in ((2.5, 2.0), (10.0, 0.5), (5.0, 0.0), (0.0, 0.0)):
        k = int(np.abs(frequencies - frequency).argmin())
        assert frequencies[k] == pytest.approx(frequency, abs=1e-9)
        assert sizes[k] == pytest.approx(size, abs=1e-9)
    y[100:102] = np.nan
    frequencies, sizes = amplitude_spectrum(t, y)
    assert sizes.max() == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("modes", [True, False])
def test_report_page_contains_record_spectrum_and_parameters(record, tmp_path: Path, modes: bool):
    pytest.importorskip("matplotlib")
    path, table, page = tmp_path / "two.json", tmp_path / "rec.csv", tmp_path / "page.html"
    path.write_text(json.dumps(two_masses()))
    record.to_csv(table, ["x", "y"])
    line = ["identify", str(path), str(table), "-p", "k1", "--report", str(page), "-q"]
    assert cli.main(line + ["--modes"] * modes) == 0
    text = page.read_text()
    assert text.count("<img") == 2 and "Amplitude spectrum" in text and "95 % interval" in text
    assert ("half-life" in text) is modes
    assert ("Possible causes" in text) is not modes
    assert modes or "<td>k2</td>" in text


def test_interrupt_ends_an_identification(record, monkeypatch):
    """A run that was cut short is no run to compare with."""
    trials = identification.SystemCache.at

    class Cut:
        def __init__(self, system):
            self.system = system

        def simulate(self, **options):
            result = self.system.simulate(**options)
            result.interrupted = "interrupted"
            return result

    monkeypatch.setattr(
        identification.SystemCache, "at", lambda self, values: Cut(trials(self, values))
    )
    with pytest.raises(KeyboardInterrupt):
        identify(two_masses(), {"time": record.time, "x": record["x"]}, ["k1"])
