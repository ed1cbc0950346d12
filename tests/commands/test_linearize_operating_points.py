"""`kinetree linearize` where it was asked for: at the start, at a time, along a parameter; a pendulum's λ² is -(g/L) cos φ."""

import json
import math

import numpy as np
import pytest

from kinetree.models import load
from kinetree.scripts import cli

G = 9.81


def told(capsys: pytest.CaptureFixture, *options: str) -> dict:
    assert cli.main(["linearize", "lib:pendulum", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def squares(content: dict) -> list[complex]:
    return [complex(*mode["eigenvalue"]) ** 2 for mode in content["modes"]]


def test_linearize_at_start_uses_start_state(capsys: pytest.CaptureFixture):
    for phi in (0.5, 2.5):
        content = told(capsys, "--at", "start", "--set", f"phi0={phi}")
        assert content["at"] == "start"
        assert (
            all(abs(each + G * math.cos(phi)) < 1e-6 for each in squares(content))
            and len(content["A"]) == 2
        )


def test_linearize_at_time_uses_state_of_the_run(capsys: pytest.CaptureFixture):
    phi = load("lib:pendulum").compile().simulate(stop_time=0.3, output_step=0.3)["phi"][-1]
    assert abs(phi - math.pi / 2) > 0.1
    assert all(
        abs(each + G * math.cos(phi)) < 1e-5 for each in squares(told(capsys, "--at", "0.3"))
    )


@pytest.mark.parametrize("span", [(0.5, 1.5), (0.5, 8.0)])
def test_root_locus_follows_eigenvalues_over_a_parameter(
    capsys: pytest.CaptureFixture, span: tuple[float, float]
):
    """Even steps over a small span, even ratios over a wide one, ends included; ±i sqrt(g/L) at rest each time."""
    locus = told(capsys, "--root-locus", f"L={span[0]}:{span[1]}")["root_locus"][0]
    lengths = np.array(locus["values"])
    assert locus["parameter"] == "L" and (lengths[0], lengths[-1]) == pytest.approx(span)
    steps = np.diff(np.log(lengths)) if span[1] > 5 * span[0] else np.diff(lengths)
    assert np.ptp(steps) < 1e-9
    for length, values in zip(lengths, locus["eigenvalues"], strict=True):
        assert sorted(value[1] for value in values) == pytest.approx(
            [-math.sqrt(G / length), math.sqrt(G / length)], rel=1e-6
        )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--at", "noon"), "expected rest, start or a time in s"),
        (("--root-locus", "L=1"), "expected PARAMETER=FROM:TO"),
        (("--limit-cycle", "overlap=wide"), "expected PART=WIDTH"),
        (("--limit-cycle", "overlap=-1"), "expected a positive width"),
        (("--sweep", "1:20"), "expected FROM:TO:AMPLITUDE"),
        (("--sweep", "20:1:3"), "expected 0 < FROM <= TO"),
    ],
)
def test_unreadable_linearize_arguments_are_refused(
    capsys: pytest.CaptureFixture, options: tuple[str, str], said: str
):
    assert cli.main(["linearize", "lib:pendulum", *options]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
