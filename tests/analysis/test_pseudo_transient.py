"""Relaxation to a rest: steps that lead nowhere."""

from types import SimpleNamespace

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.analysis.pseudo_transient import trial_step


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_relaxation_step_with_undefined_value_is_rejected(wrong: float):
    """Slopes of laws that grow without bound give such steps; the search then tries a shorter one instead of going there."""
    assert trial_step(SimpleNamespace(f=1), np.zeros(1), np.array([0.0, wrong])) is None


def balanced_cart(angle: float) -> dict:
    """A pendulum that a state feedback balances on a cart (gains of a regulator): the force on the cart points away from where it is to go."""
    return {
        "format": "kinetree/1",
        "name": "balanced cart",
        "gravity": [0, 0, -9.81],
        "bodies": {
            "cart": {"mass": 1.2},
            "rod": {"mass": 0.3, "com": [0, 0, 0.3], "inertia": [0.009, 0.009, 1e-5, 0, 0, 0]},
        },
        "joints": {
            "rail": {"child": "cart", "type": "prismatic", "axis": "x", "coordinates": ["x"]},
            "hinge": {
                "parent": "cart",
                "child": "rod",
                "type": "revolute",
                "axis": "y",
                "coordinates": ["theta"],
                "start": [angle],
            },
        },
        "forces": {"push": {"coordinate": "x", "value": "balance"}},
        "controllers": {
            "balance": {
                "kind": "state-feedback",
                "gains": {"x": -10.0, "theta": -60.0, "der(x)": -14.0, "der(theta)": -12.0},
            }
        },
    }


@pytest.mark.parametrize("angle", [-0.7, 0.001, 0.07])
def test_balanced_pendulum_rests_upright_from_any_angle(angle):
    """Feedback makes statics without a potential: steps that lessen one lead away, the motion itself leads to the rest."""
    rest = load(balanced_cart(angle)).compile().equilibrium()
    assert rest.q == pytest.approx([0.0, 0.0], abs=1e-9) and rest.stable
