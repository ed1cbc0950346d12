"""Keys of the format: some with a fixed seed here, all in the slow tests, with any values by `python3 scripts/dev.py fuzz --kinds keys`."""

import random

import pytest
from keys import Keys, counts, key_path, meant

from kinetree.models import load

KNOWN = Keys().known
SOME = random.Random(7).sample([(name, key) for name in KNOWN for key in KNOWN[name]], 10)


@pytest.mark.parametrize("name, key", SOME, ids=[f"{name}-{key_path(key)}" for name, key in SOME])
def test_changing_a_key_changes_the_motion(name, key):
    assert counts(name, key, KNOWN[name][key], random.Random(1))


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_changing_every_key_changes_the_motion(name):
    assert not [
        key_path(key)
        for key, paths in KNOWN[name].items()
        if not counts(name, key, paths, random.Random(1))
    ]


def test_unused_keys_are_detected(monkeypatch):
    """As if nothing were made of descriptions; what is refused still speaks."""
    mass, paths = (
        ("bodies", "module{i}", "mass", "value"),
        [("bodies", "module{i}", "mass", "value")],
    )
    assert counts("bodies", mass, paths, random.Random(1))
    monkeypatch.setattr("keys.meaning", lambda tree, scene: load(tree) and ())
    meant.cache_clear()
    assert not counts("bodies", mass, paths, random.Random(1))
    monkeypatch.setattr("keys.others", lambda value, tree, draw: [-value])
    assert counts("bodies", mass, paths, random.Random(1))
    meant.cache_clear()
