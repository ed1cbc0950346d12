"""Frequency responses measured through the FMU: on the linear one where the mechanism hardly bends, off it as its law says where it does."""

import math
import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.models import load
from kinetree.scripts import cli
from kinetree.scripts.studies import sine_sweep as sweep
from kinetree.scripts.studies.sine_sweep import swept
from kinetree.scripts.terminal.error_messages import BadInput

compiled = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="native FMUs carry compiled kernels"
)


def mass(force: str, start: float = 0.0) -> dict:
    return {
        "name": "mass", "gravity": [0, 0, 0], "bodies": {"b": {"mass": 1.0}}, "inputs": {"f": {"start": 0.5, "unit": "N"}},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x", "start": start}]}},
        "forces": {"law": {"coordinate": "x", "value": force}}, "outputs": {"pull": {"value": "100*x"}},
    }  # fmt: skip


@compiled
def test_sweep_of_linear_system_matches_linear_response():
    """1/(s² + 2 s + 100) from 0.3 to 10 Hz; what is left is the staircase's own harmonics."""
    mechanism = load(mass("f - 100*x - 2*der(x)"))
    found = swept(mechanism, mechanism.compile(), "f", ["x", "pull"], 0.3, 10.0, 2.0)
    s = 2j * np.pi * found.frequencies
    assert found.linear == pytest.approx(np.outer(1 / (s * s + 2 * s + 100), [1, 100]), rel=1e-9)
    assert found.apart.max() < 2e-4 and found.distortion.max() < 2e-3


@compiled
def test_measured_response_of_hardening_spring_matches_harmonic_balance():
    """A cubic spring far below its resonance: 100 x + c x³ = a sin has the harmonic balance 100 X + 3/4 c X³ = a and a third harmonic of c X³/400."""
    c, a = 4e5, 0.2
    mechanism = load(mass(f"f - 0.5 - 100*x - 20*der(x) - {c}*x**3"))
    found = swept(mechanism, mechanism.compile(), "f", ["x"], 0.02, 0.02, a)
    X = min(
        (root.real for root in np.roots([0.75 * c, 0, 100, -a]) if abs(root.imag) < 1e-12), key=abs
    )
    assert abs(found.measured[0, 0]) == pytest.approx(X / a, rel=5e-3)
    assert abs(found.linear[0, 0]) == pytest.approx(0.01, rel=2e-2) and found.distortion[
        0, 0
    ] == pytest.approx(c * X**2 / 400, rel=0.15)


def test_invalid_sweep_is_refused(capsys: pytest.CaptureFixture):
    mechanism = load(mass("f - 0.5 + 10*x"))
    with pytest.raises(BadInput, match="not stable"):
        swept(mechanism, mechanism.compile(), "f", ["x"], 1.0, 2.0, 0.1)
    command = ["linearize", "lib:boom", "--inputs", "lift.force", "--outputs", "luff"]
    assert (
        cli.main([*command, "--sweep", "2:1:3"]) == 2
        and cli.main([*command, "--limit-cycle", "overlap=-1"]) == 2
    )
    assert cli.main([*command, "--limit-cycle", "magic=1"]) == 2
    assert "limit-cycle" in capsys.readouterr().err


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a sweep asks of a plant that falls by exp(-2 t), whose answers are the number of the frequency."""
    import kinetree.fmu.archive.build as build
    import kinetree.models.analysis.linearization as linearization
    import kinetree.models.system.controller_variants as variants
    import kinetree.scripts.fmi.fmpy_host as host

    log: list[Any] = []
    rest = SimpleNamespace(t=0.5, q="q", states={"s": 3.0}, coordinates={"x": 1.0, "y": 2.0})
    plant = SimpleNamespace(
        A=np.diag([-5.0, -2.0]), response=lambda omega: np.array([[[w], [2.0 * w]] for w in omega])
    )
    linear = SimpleNamespace(part=lambda ins, outs: log.append(("part", ins, outs)) or plant)

    class Archive:
        references = {"x": 1, "s": 2, "f": 3}

        def __init__(self, path: Any):
            pass

        def __enter__(self) -> "Archive":
            return self

        def __exit__(self, *given: Any) -> None:
            log.append("closed")

    class Host:
        def __init__(self, archive: Archive):
            self.fmu = SimpleNamespace(
                terminate=lambda: log.append("terminated"), freeInstance=lambda: log.append("freed")
            )

        def start(self, values: dict[str, float]) -> "Host":
            log.append(values)
            return self

    monkeypatch.setattr(
        variants,
        "resting",
        lambda system: SimpleNamespace(equilibrium=lambda inputs: log.append(inputs) or rest),
    )
    monkeypatch.setattr(
        linearization, "linearize", lambda system, *given: log.append(given) or linear
    )
    monkeypatch.setattr(
        build, "build_fmu", lambda mechanism, path, kind, version: log.append((kind, version))
    )
    monkeypatch.setattr(host, "Archive", Archive)
    monkeypatch.setattr(host, "Host", Host)
    monkeypatch.setattr(
        sweep,
        "answers",
        lambda host, given, outputs, middle, amplitude, frequency, wait: log.append(
            (middle, amplitude, frequency, wait)
        ),
    )
    monkeypatch.setattr(
        sweep, "harmonics", lambda rows, amplitude: (np.array([1j, 2j]), np.array([0.25, 0.5]))
    )
    return log


def plant(prepared: bool = False) -> Any:
    return SimpleNamespace(
        description=SimpleNamespace(run=SimpleNamespace(prepare=prepared)), compiled=SimpleNamespace(inputs=["g", "f"]),
        _fast=SimpleNamespace(input_starts=lambda: np.array([7.0, 9.0])),
    )  # fmt: skip


def test_sweep_waits_for_transient_decay(asked: list[Any]):
    """A part of 1e-5 of the slowest motion, in whole periods and one more; it begins at rest, with the input where it is held or starts."""
    told: list[float] = []
    found = swept(None, plant(), "f", ["x", "y"], 0.5, 8.0, 0.25, {"g": 4.0}, told.append)
    hertz = np.geomspace(0.5, 8.0, 13)
    assert asked[:4] == [
        {"g": 4.0},
        (0.5, "q", None, {"g": 4.0}, ["x", "y"], {"s": 3.0}),
        ("part", ["f"], ["x", "y"]),
        ("native", "2"),
    ]
    runs = asked[4:-1]
    assert (
        runs[0::4] == [{"x": 1.0, "s": 3.0, "g": 4.0, "f": 9.0}] * 13
        and runs[2::4] == ["terminated"] * 13
        and runs[3::4] == ["freed"] * 13
    )
    expected = [(9.0, 0.25, f, math.ceil(math.log(1e5) / 2.0 * f) + 1) for f in hertz]
    assert (
        runs[1::4] == expected
        and told == [float(k) for k in range(1, 14)]
        and asked[-1] == "closed"
    )
    assert found.frequencies.tolist() == hertz.tolist() and found.outputs == ("x", "y")
    assert (
        found.measured.tolist() == [[1j, 2j]] * 13
        and found.distortion.tolist() == [[0.25, 0.5]] * 13
    )
    assert found.linear == pytest.approx(2 * np.pi * np.column_stack((hertz, 2.0 * hertz)))


def test_single_frequency_sweep_holds_input(
    asked: list[Any],
):
    found = swept(None, plant(prepared=True), "f", ["x"] * 2, 3.0, 3.0, 0.25, {"f": 2.0})
    assert found.frequencies.tolist() == [3.0] and asked[4] == {"f": 2.0} and asked[5][0] == 2.0


def test_sweep_with_too_many_periods_is_refused(asked: list[Any]):
    """Two million steps: 200 in each of the periods that it waits and of the four that count."""
    most = 2_000_000 // 200 - 4
    fits = 2.0 * (most - 1) / math.log(1e5) * (1 - 1e-9)
    assert (
        swept(None, plant(), "f", ["x"] * 2, fits, fits, 0.25).frequencies.size == 1
        and asked[-4][3] == most
    )
    with pytest.raises(BadInput, match="motions that take 0.5 s to fall need too many periods"):
        swept(None, plant(), "f", ["x"] * 2, fits * (1 + 1e-6), 0.0, 0.25)
