"""A short run of the fuzzer with a fixed seed: every reader reads or refuses by a message. Long runs: `scripts/dev.py fuzz --minutes 20`."""

import random
import signal
import time

import pytest
from readers import Slow, fuzz, kinds, patience, places, shrunk

KINDS = kinds()
COUNTS = {
    "description": 300,
    "scenario": 400,
    "study": 600,
    "structure": 300,
    "assembly": 120,
    "modelica": 40,
    "step": 4,
}


@pytest.mark.parametrize("name", KINDS)
def test_readers_accept_or_refuse_random_files(name):
    tried, found = fuzz(KINDS[name], random.Random(20), COUNTS[name], time.monotonic() + 60)
    assert not found, {word: str(tree)[:500] for word, tree in found.items()}
    assert tried > 0


def test_failing_files_are_shrunk():
    """Of a tree that fails because two keys meet, those two stay."""
    tree = {"a": {"b": [1, 2, {"x": 3}]}, "c": 4, "d": {"y": 5, "z": [6]}}

    def fails(each):
        return {"x", "y"} <= {key for path in places(each) for key in path}

    assert shrunk(tree, fails) == {"a": {"b": [{"x": 3}]}, "d": {"y": 5}}


@pytest.mark.skipif(not hasattr(signal, "ITIMER_PROF"), reason="no alarm by the processor's time")
def test_time_limit_counts_processor_time_only():
    """Waiting for longer than its patience is nothing, as for other people's work; working for longer ends."""
    with patience(0.05):
        time.sleep(0.2)
    with pytest.raises(Slow), patience(0.05):
        while True:
            pass
