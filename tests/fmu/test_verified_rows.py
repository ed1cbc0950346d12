"""Which rows `kinetree verify` compares where two integrations locate the same event a little apart."""

import numpy as np
import pytest

from kinetree.scripts.fmi.verify import clear_of_events

ROWS = np.array([0.1, 0.2, 0.3, 0.4, 0.5])


def test_a_row_between_the_two_instants_of_one_event_is_left_out():
    """One side shows speeds before the impact there, the other one those behind it."""
    clear, apart = clear_of_events(ROWS, np.array([0.0, 0.3 - 1e-7]), np.array([0.0, 0.3 + 2e-7]))
    assert clear.tolist() == [True, True, False, True, True] and apart == pytest.approx(3e-7)


def test_a_row_at_the_instant_itself_is_left_out():
    assert clear_of_events(ROWS, np.array([0.0, 0.4]), np.array([0.0, 0.4 + 1e-12]))[0].tolist() == [True, True, True, False, True]


def test_an_event_that_one_side_missed_hides_nothing():
    """What the other side has nowhere near is a deviation in every row behind it."""
    clear, apart = clear_of_events(ROWS, np.array([0.0]), np.array([0.0, 0.25, 0.399]))
    assert clear.all() and apart == 0.0
