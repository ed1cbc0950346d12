"""The benchmark of dynamics compares equal things and reports what it says."""

import json

import numpy as np
import pytest

from kinetree.scripts.bench import (
    dynamics,
    dynamics_kinetree,
    dynamics_peers,
    dynamics_plots,
    dynamics_trees,
)
from kinetree.scripts.bench import selection_diagrams as dynamics_regions

CASES = [
    dynamics_trees.chain("revolute", 6),
    dynamics_trees.star("universal", 5),
    dynamics_trees.branched("spherical", 3, 2),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.topology}, {case.joint}")
def test_peers_and_kinetree_have_equal_accelerations(case):
    """Accelerations agree: bound ε·κ(M), κ < 1e5 for so few bodies."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    system = dynamics_trees.system(case)
    q, u = system.start()
    udot = system.accelerations(0.0, q, u)
    found = {peer.name: peer for peer in dynamics_peers.peers(case, q, u)}
    assert set(found) == {"pinocchio", "mujoco"}
    for peer in found.values():
        assert dynamics_kinetree.deviation(peer.udot, udot) < 2.2e-16 * 1e5
    assert found["pinocchio"].residual(udot) < 1e-13


def test_description_starts_at_the_drawn_state():
    for joint in dynamics_trees.JOINTS:
        case = dynamics_trees.chain(joint, 3)
        for have, want in zip(
            dynamics_trees.system(case).start(), dynamics_trees.state(case), strict=True
        ):
            assert np.abs(have - want).max() < 1e-15


def test_branches_hang_on_the_first_body():
    case = dynamics_trees.branched("revolute", 3, 2)
    assert case.parents == (0, 1, 1, 1, 2, 3, 4)
    assert (
        dynamics_trees.branched("revolute", 1, 3).parents
        == dynamics_trees.chain("revolute", 4).parents
    )
    assert dynamics_peers.depth_first(case) == [0, 1, 4, 2, 5, 3, 6]


def test_growth_exponents_are_fitted_from_times():
    """Times that grow with N^1.5 from 50 bodies on; smaller ones, where constants rule, do not count."""
    sizes = (5, 20, 50, 100, 1000)
    rows = [
        {
            "topology": "chain",
            "joint": "revolute",
            "bodies": n,
            "method": "DEC",
            "us": 2.0 * n**1.5 if n >= 50 else 1e6,
        }
        for n in sizes
    ]
    assert dynamics.growth(rows) == {"chain revolute DEC": pytest.approx(1.5, abs=1e-12)}


def test_prediction_quality_is_computed_from_times():
    """Two trees, right about one; following the other prediction costs twice the least. A form that was not timed cannot win."""
    first = {
        "branches": 1,
        "length": 1,
        "predicted": {"DEC": 2, "CBM": 1, "DRT": 0.5},
        "measured": {"DEC": 2, "CBM": 1},
    }
    second = {
        "branches": 2,
        "length": 1,
        "predicted": {"DEC": 2, "CBM": 1},
        "measured": {"DEC": 1, "CBM": 2},
    }
    assert dynamics_regions.winners([first, second], "measured", False) == {
        (1, 1): "CBM",
        (2, 1): "DEC",
    }
    assert dynamics_regions.winners([first, second], "measured", True) == {
        (1, 1): "CBM",
        (2, 1): "CBM",
    }
    assert dynamics_regions.judgement([first, second], False) == {
        "agree": 0.5,
        "largest_loss": 2.0,
        "mean_loss": 1.5,
    }


def test_quick_run_writes_results_and_pictures(tmp_path, monkeypatch):
    monkeypatch.setattr(dynamics, "QUICK", (("revolute", 3), ("spherical", 2)))
    monkeypatch.setattr(dynamics_kinetree, "ROUNDS", 3)
    dynamics.run(True, tmp_path / "out.json", tmp_path)
    data = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert {"machine", "versions", "results"} <= set(data)
    assert {row["method"] for row in data["results"]} >= set(dynamics.ALL)
    assert {(row["topology"], row["joint"], row["bodies"]) for row in data["results"]} == {
        ("chain", "revolute", 3),
        ("chain", "spherical", 2),
    }
    assert all(row["us"] > 0.0 for row in data["results"] if row["method"] == "DEC")
    assert all(row.get("deviation", 0.0) < 1e-10 for row in data["results"])
    assert (tmp_path / "dynamics_times.png").exists()


def test_selection_diagram_of_few_trees_is_computed(tmp_path):
    points = dynamics_regions.diagram("revolute", (1, 2))
    assert [(each["branches"], each["length"]) for each in points] == [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
    ]
    assert all(set(each["measured"]) <= set(each["predicted"]) for each in points)
    dynamics_plots.draw_regions(points, tmp_path / "regions.png")
    assert (tmp_path / "regions.png").exists()
