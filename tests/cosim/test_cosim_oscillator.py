"""Stability limits of the schemes on a mass and an oil spring, against what theory and measurement give."""

import math

import pytest

from kinetree.scripts.cosim.oscillator import LARGEST, growth, largest_step


def test_held_values_need_a_step_below_twice_the_damping():
    """The classical limit H omega <= 2 zeta."""
    for damping in (0.02, 0.05, 0.2):
        assert largest_step("held", damping) == pytest.approx(2.0 * damping, rel=0.05)


@pytest.mark.parametrize(
    ("scheme", "limit"), [("sequential", 2.0), ("repeat", 2.0), ("chambers", 3.1)]
)
def test_stability_limits_at_small_damping_match_formula(scheme: str, limit: float):
    """Published or derived for zeta -> 0: two for one side after the other (leapfrog), pi for held flows into an oscillator solved exactly."""
    assert largest_step(scheme, 0.02) == pytest.approx(limit, rel=0.05)


def test_stable_step_of_chambers_scheme_decreases_with_damping():
    assert 0.8 < largest_step("chambers", 1.0) < 1.0


@pytest.mark.parametrize("scheme", ["told", "jacobian"])
@pytest.mark.parametrize("damping", [0.02, 0.2, 1.0])
def test_told_stiffness_and_interface_jacobian_have_no_limit(scheme: str, damping: float):
    assert largest_step(scheme, damping) == LARGEST


def test_wrong_stiffness_changes_stability():
    """Half of it leaves the other half as held values (measured: 0.15); twice of it is stable."""
    assert largest_step("told half", 0.02) == pytest.approx(0.15, rel=0.1)
    assert largest_step("told twice", 0.02) == LARGEST


def test_growth_with_constant_inputs_matches_euler_method():
    """Both held: v + hF, F - hv in every step, a matrix (1, h; -h, 1) with |mu|^2 = 1 + h^2, so that log |mu| = h^2/2."""
    h = 1e-3
    assert math.log(growth("held", h, 0.0)) == pytest.approx(0.5 * h * h, rel=1e-2)
