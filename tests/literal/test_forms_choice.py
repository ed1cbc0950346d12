"""The cheapest form: predicted, measured, remembered."""

import json

import pytest

from kinetree.models import load
from kinetree.models.analysis import form_choice as choice


def chain(bodies, kind="revolute"):
    return load(
        {
            "format": "kinetree/1",
            "name": "chain",
            "bodies": {
                f"b{i}": {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1, 0, 0, 0]}
                for i in range(bodies)
            },
            "joints": {
                f"j{i}": {
                    "type": kind,
                    "parent": f"b{i - 1}" if i else "ground",
                    "child": f"b{i}",
                    "axis": "z",
                    "at": [1.0 if i else 0.0, 0, 0],
                }
                for i in range(bodies)
            },
        }
    ).compile()


def test_predicted_costs_match_formulas():
    """Few bodies: composite bodies; a long chain of revolutes: the elimination of linear cost."""
    assert chain(7).choose() == "CBM"
    assert chain(60).choose() == "DEC"


@pytest.fixture
def memory(tmp_path, monkeypatch):
    monkeypatch.setattr(choice, "cache_root", lambda: tmp_path)
    return tmp_path


def test_measured_form_times_are_cached(memory, monkeypatch):
    monkeypatch.setattr(choice, "HOPELESS", 1.0)  # the cheapest by prediction, and DEC
    times = choice.measured_times(chain(4))
    assert set(times) == {chain(4).choose(), "DEC"}
    assert all(0.0 < value < 1.0 for value in times.values())
    monkeypatch.setattr(choice, "measure_forms", lambda system: pytest.fail("measured twice"))
    assert choice.measured_times(chain(4)) == times
    assert chain(4).choose(measured=True) == min(times, key=times.__getitem__)


def test_unreadable_cache_of_form_times_is_measured_again(memory, monkeypatch):
    path = choice.memory_path()
    path.parent.mkdir(parents=True)
    path.write_text("{", encoding="utf-8")
    monkeypatch.setattr(choice, "measure_forms", lambda system: {"DEC": 1e-6})
    assert choice.measured_times(chain(2)) == {"DEC": 1e-6}
    assert list(json.loads(path.read_text(encoding="utf-8")).values()) == [{"DEC": 1e-6}]


def test_class_of_tree_is_independent_of_numbering():
    assert choice.tree_class([1, 2, 3], [0, 1, 1]) == choice.tree_class([1, 3, 2], [0, 1, 1])
    assert choice.tree_class([1, 2, 3], [0, 1, 1]) != choice.tree_class([1, 2, 3], [0, 1, 2])


def test_forms_with_excessive_cost_are_not_timed(memory, monkeypatch):
    """A long chain: cubic forms are left out, the linear ones stay."""
    monkeypatch.setattr(choice, "evaluation_time", lambda system, method: 1.0)
    assert {"DEC", "ABM", "LGR"} <= set(choice.measure_forms(chain(300))) < set(chain(2).costs())
