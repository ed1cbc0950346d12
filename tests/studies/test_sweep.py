"""Frequency responses measured through the FMU: on the linear one where the mechanism hardly bends, off it as its law says where it does."""

import os

import numpy as np
import pytest

from kinetree.models import load
from kinetree.scripts import cli
from kinetree.scripts.studies.sweep import swept
from kinetree.scripts.terminal.failure import BadInput

compiled = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="native FMUs carry compiled kernels")


def mass(force: str, start: float = 0.0) -> dict:
    return {
        "name": "mass", "gravity": [0, 0, 0], "bodies": {"b": {"mass": 1.0}}, "inputs": {"f": {"start": 0.5, "unit": "N"}},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x", "start": start}]}},
        "forces": {"law": {"coordinate": "x", "value": force}}, "outputs": {"pull": {"value": "100*x"}},
    }  # fmt: skip


@compiled
def test_a_swept_sine_lies_on_the_linear_response():
    """1/(s² + 2 s + 100) from 0.3 to 10 Hz; what is left is the staircase's own harmonics."""
    mechanism = load(mass("f - 100*x - 2*der(x)"))
    found = swept(mechanism, mechanism.compile(), "f", ["x", "pull"], 0.3, 10.0, 2.0)
    s = 2j * np.pi * found.frequencies
    assert found.linear == pytest.approx(np.outer(1 / (s * s + 2 * s + 100), [1, 100]), rel=1e-9)
    assert found.apart.max() < 2e-4 and found.distortion.max() < 2e-3


@compiled
def test_a_hardening_spring_bends_it():
    """A cubic spring far below its resonance: 100 x + c x³ = a sin has the harmonic balance 100 X + 3/4 c X³ = a and a third harmonic of c X³/400."""
    c, a = 4e5, 0.2
    mechanism = load(mass(f"f - 0.5 - 100*x - 20*der(x) - {c}*x**3"))
    found = swept(mechanism, mechanism.compile(), "f", ["x"], 0.02, 0.02, a)
    X = min((root.real for root in np.roots([0.75 * c, 0, 100, -a]) if abs(root.imag) < 1e-12), key=abs)
    assert abs(found.measured[0, 0]) == pytest.approx(X / a, rel=5e-3)
    assert abs(found.linear[0, 0]) == pytest.approx(0.01, rel=2e-2) and found.distortion[0, 0] == pytest.approx(c * X**2 / 400, rel=0.15)


def test_what_cannot_be_swept_is_said(capsys: pytest.CaptureFixture):
    mechanism = load(mass("f - 0.5 + 10*x"))
    with pytest.raises(BadInput, match="not stable"):
        swept(mechanism, mechanism.compile(), "f", ["x"], 1.0, 2.0, 0.1)
    command = ["linearize", "lib:boom", "--inputs", "lift.force", "--outputs", "luff"]
    assert cli.main([*command, "--sweep", "2:1:3"]) == 2 and cli.main([*command, "--limit-cycle", "overlap=-1"]) == 2
    assert cli.main([*command, "--limit-cycle", "magic=1"]) == 2
    assert "limit-cycle" in capsys.readouterr().err
