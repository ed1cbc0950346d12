"""What the studio's views are made of, without a browser: graph, stages over time, charts, maps."""

import csv
import io

import numpy as np
import pytest

from kinetree.models import load
from kinetree.scripts.studio.graph import GROUND, graph_of
from kinetree.scripts.studio.maps import Axis, run_map, spread, suggested
from kinetree.scripts.studio.plots import chart
from kinetree.scripts.studio.session import Session
from kinetree.scripts.studio.timeline import spans


def test_structure_graph_has_every_body_joint_loop_and_force():
    graph = graph_of(load("lib:four-bar"))
    assert set(graph.places) == {GROUND, "crank", "coupler", "rocker"}
    kinds = sorted(edge.kind for edge in graph.edges)
    assert kinds == ["joint", "joint", "joint", "loop"]
    carrier = graph_of(load("lib:carrier", modules=2))
    pairs = {edge.name: (edge.a, edge.b, edge.kind) for edge in carrier.edges}
    assert pairs["jack_front_left"] == (GROUND, "base", "force") and pairs["ring"][:2] == (
        "base",
        "platform",
    )
    assert len(set(carrier.places.values())) == len(carrier.places), "two bodies at one place"
    rows = {body: row for body, (_, row) in carrier.places.items()}
    assert rows[GROUND] == 0 and rows["module1"] == rows["module2"] == rows["cradle"] + 1
    cradle = graph_of(load("lib:newtons-cradle"))
    assert {(edge.a, edge.b) for edge in cradle.edges if edge.kind == "force"} == {
        (f"ball{k + 1}", f"ball{k}") for k in range(1, 5)
    }


@pytest.fixture(scope="module")
def carrier() -> Session:
    session = Session("lib:carrier")
    session.set("modules", 2)
    session.run(None)
    return session


def test_timeline_stages_follow_without_gap(carrier: Session):
    result = carrier.runs[-1].result
    found = spans(result)
    assert [span.name for span in found[:3]] == ["rest", "travel 1", "swing 1"]
    assert found[0].begin == result.time[0] and found[-1].end == result.time[-1]
    assert all(a.end == b.begin for a, b in zip(found, found[1:], strict=False))
    assert "rail_length" in found[1].cause and found[-1].cause == "end of the run"
    for span in found:
        inside = (result.time > span.begin) & (result.time < span.end)
        assert {result.stage_names[int(k)] for k in result["stage"][inside]} <= {span.name}


def test_charts_share_a_unit_between_runs_and_mark_stages(carrier: Session):
    made = chart(carrier.runs, ["jack_load_front_left", "slew"], None, "#000")
    assert [axis["name"] for axis in made["yAxis"]] == ["kN", "rad"] and [
        line["yAxisIndex"] for line in made["series"]
    ] == [0, 1]
    first = np.array(made["series"][0]["data"])
    np.testing.assert_allclose(
        first[0, 1], carrier.runs[-1].result["jack_load_front_left"][0] / 1000, rtol=1e-12
    )
    assert len(made["series"][0]["markArea"]["data"]) == len(spans(carrier.runs[-1].result))


def test_parameter_maps_match_single_runs():
    session = Session("lib:pendulum")
    session.set("phi0", 0.01)
    axis = spread("L", 0.5, 2.0, 4, "m")
    found = run_map(session, (axis,), "frequency", None)
    np.testing.assert_allclose(
        found.numbers, np.sqrt(9.81 / np.array(axis.values)) / (2 * np.pi), rtol=1e-6
    )
    assert found.unit == "Hz" and found.place(largest=True)[0] == {"L": 0.5}
    two = run_map(session, (Axis("L", (1.0, 4.0)), Axis("phi0", (0.01, 0.02))), "max(phi)", 0.1)
    np.testing.assert_allclose(two.numbers, [[0.01, 0.02], [0.01, 0.02]], rtol=1e-6)
    rows = list(csv.reader(io.StringIO(two.csv())))
    assert (
        rows[0] == ["L", "phi0", "max(phi)"]
        and len(rows) == 5
        and float(rows[2][2]) == pytest.approx(0.02)
    )


def test_parameter_map_reports_failed_runs():
    session = Session("lib:pendulum")
    found = run_map(session, (Axis("L", (-1.0, 1.0)),), "max(phi)", 0.1)
    assert (
        np.isnan(found.numbers[0]) and np.isfinite(found.numbers[1]) and "L = -1" in found.failed[0]
    )
    with pytest.raises(ValueError, match="no point could be run"):
        run_map(session, (Axis("L", (-1.0, -2.0)),), "max(phi)", 0.1)
    with pytest.raises(ValueError, match="at most"):
        run_map(session, (spread("L", 1, 2, 100), spread("m", 1, 2, 100)), "max(phi)", 0.1)
    low, high = suggested(session, "L")
    assert low == 0.5 and high == 1.5
