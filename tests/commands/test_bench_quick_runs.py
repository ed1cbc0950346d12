"""Every benchmark at its smallest size: what it writes is what it measured, and what it measures agrees with its peers."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetree.scripts.bench import (
    dynamics_trees,
    large,
    loops,
    loops_plane,
    loops_spatial,
    robots,
    slopes,
    start,
    trace,
    trace_large,
    trace_robots,
)


def written(run: Any, folder: Path, plots: bool = False) -> dict[str, Any]:
    """What a benchmark keeps."""
    path = folder / "kept.json"
    run(True, path, folder if plots else None)
    return json.loads(path.read_text())


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Few rounds: clocks are not what is tested."""
    monkeypatch.setattr(robots, "ROUNDS", 2)
    monkeypatch.setattr(loops, "REPEATS", 1)
    return monkeypatch


def test_robot_benchmark_agrees_with_pinocchio(brief: pytest.MonkeyPatch, tmp_path: Path):
    pytest.importorskip("pinocchio")
    brief.setattr(robots, "FILES", robots.FILES[:1])
    (row,) = written(robots.run, tmp_path, plots=True)["results"]
    assert (row["robot"], row["freedoms"]) == ("ur5_robot", 6) and row["left"] < robots.LEFT
    assert (
        row["kernel_ratio"] == pytest.approx(row["pin_kernel"] / row["kernel"])
        and (tmp_path / "robots.png").stat().st_size > 0
    )


def test_robot_with_remaining_forces_is_refused(brief: pytest.MonkeyPatch):
    pytest.importorskip("pinocchio")
    brief.setattr(robots, "LEFT", -1.0)
    with pytest.raises(robots.BadInput, match="ur5_robot: .* of the forces are left over"):
        robots.measure(robots.folder() / f"{robots.FILES[0]}.urdf")


def test_slope_benchmark_agrees_with_pinocchio(brief: pytest.MonkeyPatch, tmp_path: Path):
    pytest.importorskip("pinocchio")
    brief.setattr(slopes, "CHAINS", (2,))
    brief.setattr(slopes, "star", lambda joint, bodies: dynamics_trees.star(joint, 2))
    brief.setattr(slopes, "ROBOTS", ("panda",))
    found = written(slopes.run, tmp_path)["results"]
    assert [row["freedoms"] for row in found] == [2, 2] and all(
        row["apart"] < slopes.APART for row in found
    )
    ((name, own, model, _at),) = slopes.robots()
    assert name == "panda" and own.n == model.nv
    brief.setattr(slopes, "APART", -1.0)
    with pytest.raises(slopes.BadInput, match="of the largest one apart"):
        slopes.measure(*slopes.trees()[0])


def test_growth_benchmark_reports_all_sizes(brief: pytest.MonkeyPatch, tmp_path: Path):
    brief.setattr(large, "BODIES", (2, 4))
    brief.setattr(large, "LOOPS", (1, 2))
    brief.setattr(large, "STEPS", 10_000)
    found = written(large.run, tmp_path)
    assert [row["bodies"] for row in found["bodies"]] == [2, 4] and [
        row["loops"] for row in found["loops"]
    ] == [1, 2]
    assert (
        found["run"]["steps"] == 100
        and found["run"]["rows"] == 11
        and found["run"]["MB at the end"] > 1.0
    )


def test_startup_benchmark_times_commands(brief: pytest.MonkeyPatch, tmp_path: Path):
    """Commands are timed by the processor; what fails has no time."""
    brief.setattr(start, "COMMANDS", {"--help": 0.15})
    brief.setattr(start, "PEERS", {"python": "pass", "nothing": "raise SystemExit(3)"})
    brief.setattr(start, "INSTANCES", {"regulator": {}})
    whole = start.stages
    brief.setattr(start, "stages", lambda modules: whole(2))
    found = written(start.run, tmp_path)
    help_row, python, nothing = found["commands"]
    assert help_row["seconds"] > python["seconds"] > 0.0 and math.isnan(nothing["seconds"])
    assert (found["stages"]["modules"], found["stages"]["departures"]) == (
        2,
        len(range(found["stages"]["structures"] - 1)),
    )
    (row,) = found["instances"]
    assert 0.0 < row["instantiated ms"] and 0.0 < row["initialised ms"]


def test_loop_benchmark_agrees_with_peers(brief: pytest.MonkeyPatch, tmp_path: Path):
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    pytest.importorskip("exudyn")
    brief.setattr(loops, "QUICK", (1, 2))
    brief.setattr(loops_plane, "PLANE", ("four-bar",))
    brief.setattr(
        loops,
        "simulations",
        lambda quick: [
            loops.own_simulation(2, 2.0, 1e-8, "adams"),
            *loops.peers.simulations(2, 2.0, loops.TIPS[2.0], quick),
        ],
    )
    whole = loops.projection
    brief.setattr(
        loops,
        "projection",
        lambda model, step, **settings: (
            whole(model, step, **settings) if settings == {"n": 2} else {}
        ),
    )
    found = written(loops.run, tmp_path, plots=True)
    assert {row["loops"] for row in found["results"]} == {1, 2} and all(
        row["us"] > 0.0 for row in found["results"]
    )
    assert {row["mechanism"] for row in found["others"]} >= {"four-bar", *loops_spatial.DRAWINGS}
    assert all(
        row["deviation"] < loops_spatial.AGREED for row in found["others"] if "deviation" in row
    )
    own, *exudyn = found["runs"]
    assert (
        own["error"] < 1e-6
        and [row["steps"] for row in exudyn] == [500, 4000]
        and exudyn[1]["error"] < exudyn[0]["error"]
    )
    assert found["projection"][0]["step us"] > found["projection"][0]["evaluation us"] > 0.0


def test_growth_is_the_slope_of_the_larger_half():
    rows = [
        {"method": "m", "loops": n, "us": 3.0 * n**1.5 if n > 1 else 100.0} for n in (1, 2, 4, 8)
    ]
    assert loops.growth(rows, "m") == pytest.approx(1.5) and math.isnan(loops.growth(rows, "none"))


def test_trace_benchmark_reports_operations(brief: pytest.MonkeyPatch, tmp_path: Path):
    pytest.importorskip("pinocchio")
    for module, name, value in (
        (trace, "QUICK", ("double-pendulum",)), (trace, "CHAINS", ((2, False),)), (trace, "MANY", 16), (trace, "RUN", 0.01), (trace, "ROUNDS", 1),
        (trace_large, "CHAINS", (3,)), (trace_large, "FOUR_BARS", (1,)), (trace_robots, "WRITTEN", (("chain", {"n": 2}),)),
    ):  # fmt: skip
        brief.setattr(module, name, value)
    brief.delenv("KINETREE_CASADI_PYTHON", raising=False)
    found = written(trace.run, tmp_path, plots=True)
    (forms,) = found["forms"]
    assert forms["freedoms"] == 2 and {
        name for name, count in forms["folded"].items() if count is None
    } == {"LGR body axes", "LGR-H body axes"}
    pendulum, chain = found["results"]
    assert pendulum["operations"] > 0 and pendulum["lanes_us"] > 0.0 and chain["deviation"] < 1e-9
    (large_row,), (loop,), (run,), (robot,) = (
        found["large"],
        found["loops"],
        found["runs"],
        found["robots"],
    )
    assert (
        large_row["bodies"] == 3
        and large_row["whole_bytes"] > 0
        and loop["loops"] == 1
        and loop["peers"]
    )
    assert (
        run["structures"] == 1
        and robot["freedoms"] == 2
        and robot["deviation"] < 1e-9
        and (tmp_path / "trace.png").stat().st_size > 0
    )


MAKER = """#!/bin/sh
if [ "$1" != "-c" ]; then exit 2; fi
printf 'int twice(const double **a, double **r, long long *i, double *w, int m) { r[0][0] = 2*a[0][0] + a[1][0] + a[2][0]; return 0; }' > "$4"
echo "twice 12"
"""


def test_generated_code_is_compiled_and_called(tmp_path: Path):
    """What another Python writes as C is called on the state; where it cannot be made there is none."""
    python = tmp_path / "python"
    python.write_text(MAKER)
    python.chmod(0o755)
    made = trace_robots.generated(tmp_path / "arm.urdf", python, tmp_path)
    assert made is not None and made[1] == 12
    out = np.zeros(1)
    trace_robots.called(made[0], np.array([3.0]), np.array([0.5]), out)(1)
    assert out[0] == 6.5
    trace_robots.called(trace_robots.peer_of_nothing(tmp_path), np.zeros(1), np.zeros(1), out)(1)
    assert out[0] == 6.5
    python.write_text("#!/bin/sh\nexit 1\n")
    assert trace_robots.generated(tmp_path / "arm.urdf", python, tmp_path) is None
