"""What is said of a coupled run: being bounded is not being right."""

import numpy as np
import pytest

from kinetree.scripts.cosim.report import VERDICTS, show
from kinetree.scripts.cosim.run import Trace
from kinetree.scripts.cosim.study import Outcome

BAR = 1e5  # Pa
PEAK = 76 * BAR


def outcome(error: float, stable: bool = True, reference: bool = True) -> Outcome:
    """A run whose pressures err by so much beside a reference of 76 bar."""
    time = np.linspace(0.0, 1.0, 11)
    exact = {"time": time, "pressure_a": np.full(11, PEAK), "pressure_b": np.zeros(11), "length": np.ones(11)} if reference else {}
    columns = {"pressure_a": np.full(11, PEAK + error), "pressure_b": np.zeros(11), "length": np.ones(11)}
    return Outcome("boom", "held", 0.02, 1.0, Trace(time, columns, stable), exact, error if reference else np.nan, 0.1)


@pytest.mark.parametrize(
    ("error", "verdict"),
    [(0.0, "accurate"), (1.5 * BAR, "accurate"), (1.6 * BAR, "rough"), (7.5 * BAR, "rough"), (153 * BAR, "wrong"), (np.nan, "wrong")],
)
def test_accuracy_is_part_of_the_verdict(error: float, verdict: str):
    """An error of 153 bar on 76 was called stable, and no more."""
    found = outcome(error)
    told = found.report()
    assert found.verdict == told["verdict"] == verdict and told["peak_pressure_bar"] == pytest.approx(76.0)
    assert told["peak_pressure_error_bar"] == (pytest.approx(error / BAR) if np.isfinite(error) else None)


def test_what_grows_is_not_judged_further_and_what_has_no_reference_is_stable_at_most():
    assert outcome(0.0, stable=False).verdict == "not stable"
    assert outcome(0.0, reference=False).verdict == "stable"


def test_the_terminal_says_that_a_bounded_run_is_wrong(capsys: pytest.CaptureFixture[str]):
    show(outcome(153 * BAR), [])
    said = capsys.readouterr().out
    assert "stable but wrong" in said and "153 bar" in said and "76 bar" in said
    assert set(VERDICTS) == {"not stable", "wrong", "rough", "accurate", "stable"}
