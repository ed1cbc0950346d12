"""Relaxation to a rest: steps that lead nowhere."""

from types import SimpleNamespace

import numpy as np
import pytest

from kinetree.models.analysis.pseudo_transient import trial_step


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_relaxation_step_with_undefined_value_is_rejected(wrong: float):
    """Slopes of laws that grow without bound give such steps; the search then tries a shorter one instead of going there."""
    assert trial_step(SimpleNamespace(f=1), np.zeros(1), np.array([0.0, wrong])) is None
