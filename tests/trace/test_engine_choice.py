"""The choice between engine and straight-line code while a run goes on."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.specialised.engine_choice import Choice, engine_time, for_archive, operations


def chosen(worth: float, model: str = "lib:five-link", **how: float):
    choice = Choice(worth)
    result = (
        load(model)
        .compile()
        .simulate(stop_time=0.5, output_step=0.01, choice=choice.consider, **how)
    )
    return choice, result


def test_short_run_stays_with_the_engine():
    """A run of milliseconds compiles nothing, and says what was weighed."""
    choice, result = chosen(2.0)
    assert not choice.motions and choice.why.startswith("the engine: ")
    plain = load("lib:five-link").compile().simulate(stop_time=0.5, output_step=0.01)
    for name in plain.names:
        assert np.array_equal(plain[name], result[name], equal_nan=True)


@pytest.mark.parametrize("how", [{}, {"integrator": "rk4", "step": 1e-3}, {"integrator": "radau"}])
def test_switching_to_straight_line_code_keeps_the_motion(how):
    """Where it is worth it the rest of the run is straight-line code's: equal to rounding, equal twice."""
    choice, result = chosen(0.0, **how)
    assert choice.why.startswith("straight-line code for 1 of 1")
    plain = load("lib:five-link").compile().simulate(stop_time=0.5, output_step=0.01, **how)
    again = chosen(0.0, **how)[1]
    for name in load("lib:five-link").compile().coordinates:
        assert result[name] == pytest.approx(plain[name], rel=1e-9, abs=1e-9)
        assert np.array_equal(result[name], again[name])


def test_mechanism_without_straight_line_code_keeps_the_engine():
    """Contacts are switched by the engine; the reason is told."""
    choice, _ = chosen(0.0, "lib:rocking-block")
    assert choice.why.startswith("the engine: contacts")


def test_archives_take_code_that_is_made_quickly_and_small():
    """A small mechanism gets it for one processor, not for dozens; a large one or one that gains nothing stays with the engine."""
    small, large = (load("lib:chain", n=n).compile().compiled.running for n in (4, 300))
    assert for_archive([small], 2)[0]
    for structures, processors in (([small], 100), ([large], 1), ([small] * 60, 2)):
        good, why = for_archive(structures, processors)
        assert not good and why.startswith("the engine: ")


def test_code_cost_estimates_follow_mechanism_size():
    """Estimates grow with the mechanism and stay within a factor of two of what is traced."""
    sizes = []
    for model in ("lib:regulator", "lib:puma560", "lib:excavator"):
        system = load(model).compile()
        sizes.append((operations(system.compiled.running), engine_time(system.compiled.running)))
        assert 0.5 < sizes[-1][0] / system.trace().operations < 2.0
    assert sizes == sorted(sizes)
