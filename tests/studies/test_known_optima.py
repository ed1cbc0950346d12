"""Known optima found again from runs alone, by every method and by both kinds of gradient; searches that go on; a Pareto front."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

from kinetree.models import load
from kinetree.scripts import cli
from kinetree.scripts.studies.optimise import optimise
from kinetree.scripts.studies.optimise_file import read_task
from kinetree.scripts.studies.optimise_search import Search
from kinetree.scripts.terminal.error_messages import BadInput


def mass(value: str, parameters: dict, **more) -> dict:
    """A unit mass under a force."""
    return {
        "name": "m",
        "gravity": [0, 0, 0],
        "parameters": parameters,
        "bodies": {"m": {"mass": 1.0}},
        "joints": {"j": {"child": "m", "type": "prismatic", "axis": "x", "coordinates": ["x"]}},
        "forces": {"law": {"coordinate": "x", "value": value}},
        **more,
    }


def written(folder: Path, mechanism: dict, text: str) -> Path:
    (folder / "m.json").write_text(json.dumps(mechanism))
    path = folder / "task.toml"
    path.write_text('mechanism = "m.json"\n' + text)
    return path


def test_optimisation_finds_time_optimal_double_integrator(tmp_path: Path):
    """From 0 to 1 and at rest there with |force| <= 1: full force for 1 s, full brake for 1 s, 2 s in all (Pontryagin)."""
    d = mass(
        "if(t < turn, 1, if(t < turn + brake, -1, 0))",
        {"turn": 0.7, "brake": 1.4},
        outputs={"duration": {"value": "turn + brake"}},
    )
    text = """
[optimize]
[optimize.variables]
turn = { from = 0.2, to = 2.0, start = 0.7 }
brake = { from = 0.2, to = 2.0, start = 1.4 }
[optimize.measures]
"end(duration)" = 1.0
[optimize.constraints]
"end(x)" = { min = 1.0 }
"end(der(x))" = { min = -1e-6, max = 1e-6 }
[run]
stop_time = 4.0
output_step = 0.5
"""
    found = optimise(read_task(written(tmp_path, d, text)))
    assert found.feasible
    assert found.values == pytest.approx({"turn": 1.0, "brake": 1.0}, abs=2e-4)
    assert found.objective == pytest.approx(2.0, abs=2e-4)


REGULATOR = """
[optimize]
method = "{method}"
gradient = "{gradient}"
over = "mean"
[optimize.variables]
k1 = {{ from = 0.2, to = 4.0, start = 3.0 }}
k2 = {{ from = 0.4, to = 4.0, start = 1.0 }}
[optimize.measures]
"end(cost)" = 1.0
[run]
stop_time = 20.0
output_step = 1.0
integrator = "rk4"
step = 0.02
[[scenarios]]
set = {{ x0 = 1.0, v0 = 0.0 }}
[[scenarios]]
set = {{ x0 = 0.0, v0 = 1.0 }}
"""


def regulator() -> dict:
    joints = {
        "j": {
            "child": "m",
            "type": "prismatic",
            "axis": "x",
            "coordinates": ["x"],
            "start": "x0",
            "speed": "v0",
        }
    }
    states = {"cost_so_far": {"rate": "x**2 + der(x)**2 + (k1*x + k2*der(x))**2"}}
    d = mass("-k1*x - k2*der(x)", {"k1": 1.0, "k2": 1.0, "x0": 1.0, "v0": 0.0}, states=states)
    return d | {"joints": joints, "outputs": {"cost": {"value": "cost_so_far"}}}


@pytest.mark.parametrize(
    ("method", "gradient"),
    [
        ("slsqp", "differences"),
        ("slsqp", "adjoint"),
        ("trust-constr", "adjoint"),
        ("ipopt", "differences"),
        ("ipopt", "adjoint"),
    ],
)
def test_optimisation_of_runs_finds_lqr_gains(tmp_path: Path, method: str, gradient: str):
    """Q = 1, R = 1: K = (1, √3); the mean of both starts costs half the trace of P, 2√3/2."""
    if method == "ipopt":
        pytest.importorskip("casadi")
    found = optimise(
        read_task(
            written(tmp_path, regulator(), REGULATOR.format(method=method, gradient=gradient))
        )
    )
    assert found.values["k1"] == pytest.approx(1.0, abs=1e-3) and found.values[
        "k2"
    ] == pytest.approx(np.sqrt(3.0), abs=1e-3)
    assert found.objective == pytest.approx(np.sqrt(3.0), rel=1e-6)


def test_adjoint_gradient_is_limit_of_differences(tmp_path: Path):
    """Slopes of all measures at three points by both ways; the central difference is off by its step squared."""
    ways = []
    for gradient in ("adjoint", "differences"):
        search = Search(
            read_task(
                written(tmp_path, regulator(), REGULATOR.format(method="slsqp", gradient=gradient))
            ),
            lambda done, best: None,
        )
        ways.append(
            [search.jacobian(np.array(point)) for point in ([0.3, 0.4], [0.5, 0.5], [0.8, 0.2])]
        )
    for exact, near in zip(*ways, strict=True):
        assert near == pytest.approx(exact, rel=1e-5)


def crane(length: float, time: float, count: int) -> dict:
    """A trolley that follows an acceleration of cosines, the load hanging from it (small swings), and the effort ∫a²."""
    law = " + ".join(f"c{k}*cos({k}*pi*t/{time!r})" for k in range(count))
    states = {
        "place": {"rate": "speed"}, "speed": {"rate": law}, "sway": {"rate": "swing"},
        "swing": {"rate": f"-9.81/{length!r}*sway - ({law})/{length!r}"},
        "sum": {"rate": f"({law})**2"},
    }  # fmt: skip
    outputs = {"effort": {"value": "sum"}} | {
        f"{name}_there": {"value": name} for name in ("place", "speed", "sway", "swing")
    }
    return {
        "name": "crane",
        "parameters": {f"c{k}": 0.01 for k in range(count)},
        "states": states,
        "outputs": outputs,
    }


def test_optimisation_finds_least_effort_crane_motion_without_sway(tmp_path: Path):
    """One metre in 3 s, at rest at the end and no sway: the least ∫a² is zᵀW⁻¹z with the controllability Gramian W; eight cosines come within 1 %."""
    length, time, count = 2.0, 3.0, 8
    w2 = 9.81 / length
    A = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, -w2, 0]])
    B = np.array([[0.0], [1], [0], [-1 / length]])
    big = expm(np.block([[-A, B @ B.T], [np.zeros((4, 4)), A.T]]) * time)
    W = big[4:, 4:].T @ big[:4, 4:]
    goal = np.array([1.0, 0, 0, 0])
    least = float(goal @ np.linalg.solve(W, goal))
    variables = "\n".join(
        f"c{k} = {{ from = -4.0, to = 4.0, start = {0.5 if k == 1 else 0.0} }}"
        for k in range(count)
    )
    limits = "\n".join(f'"end({name}_there)" = {{ min = {low}, max = {high} }}' for name, low, high in [
        ("place", 1.0, 1.0), ("speed", -1e-6, 1e-6), ("sway", -1e-6, 1e-6), ("swing", -1e-6, 1e-6)])  # fmt: skip
    text = f"""
[optimize]
gradient = "adjoint"
[optimize.variables]
{variables}
[optimize.measures]
"end(effort)" = 1.0
[optimize.constraints]
{limits}
[run]
stop_time = {time}
output_step = 0.5
integrator = "rk4"
step = 0.02
"""
    found = optimise(read_task(written(tmp_path, crane(length, time, count), text)))
    assert found.feasible
    assert 1.0 - 1e-4 < found.objective / least < 1.01
    after = (
        load(crane(length, time, count), **found.values)
        .compile()
        .simulate(stop_time=time, output_step=time, integrator="rk4", step=0.02)
    )
    assert (
        abs(after["sway"][-1]) < 1e-5
        and abs(after["swing"][-1]) < 1e-5
        and after["place"][-1] == pytest.approx(1.0, abs=1e-5)
    )


def test_interrupted_optimisation_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """Interrupted after nine evaluations, then begun again: the same answer, the same number of evaluations, none run twice."""
    path = written(tmp_path, regulator(), REGULATOR.format(method="slsqp", gradient="differences"))
    whole = optimise(read_task(path))
    ran: list[int] = []
    original = Search.scenario

    def counted(self, mechanism, system, which, points):
        if sum(ran) >= 18:
            raise KeyboardInterrupt
        ran.append(len(points))
        return original(self, mechanism, system, which, points)

    state = tmp_path / "state.jsonl"
    monkeypatch.setattr(Search, "scenario", counted)
    broken = optimise(read_task(path), state=state)
    assert broken.interrupted and 0 < broken.evaluations < whole.evaluations
    with state.open("a") as stream:
        stream.write('{"at": [0.5, 0.')  # a line that was cut off
    ran.clear()
    monkeypatch.setattr(
        Search, "scenario", lambda *given: (ran.append(len(given[4])), original(*given))[1]
    )
    again = optimise(read_task(path), state=state)
    assert (
        again.values == whole.values
        and again.evaluations == whole.evaluations
        and again.history == whole.history
    )
    assert sum(ran) == 2 * (whole.evaluations - broken.evaluations)
    monkeypatch.undo()
    assert (
        cli.main(
            [
                "optimize",
                str(path),
                "--state",
                str(state),
                "-q",
                "-o",
                str(tmp_path / "f.json"),
                "--report",
                str(tmp_path / "f.html"),
            ]
        )
        == 0
    )
    assert json.loads((tmp_path / "f.json").read_text())["values"] == whole.values
    path.write_text(path.read_text().replace("20.0", "21.0"))
    assert (
        cli.main(["optimize", str(path), "--state", str(state), "-q"]) == 2
        and "another task" in capsys.readouterr().err
    )


def test_pareto_front_of_two_squares_matches_closed_form(tmp_path: Path):
    """(a - 1)² + b² and (a + 1)² + b²: the front is b = 0, √f1 + √f2 = 2; its ends are (0, 4) and (4, 0)."""
    outputs = {"one": {"value": "(a - 1)**2 + b**2"}, "two": {"value": "(a + 1)**2 + b**2"}}
    text = """
[optimize]
pareto = 7
[optimize.variables]
a = { from = -3, to = 3, start = 2 }
b = { from = -3, to = 3, start = 1 }
[optimize.measures]
"end(one)" = 1.0
"end(two)" = 1.0
[run]
stop_time = 0.1
output_step = 0.1
"""
    path = written(tmp_path, mass("0", {"a": 0.0, "b": 0.0}, outputs=outputs), text)
    found = optimise(read_task(path))
    values = np.array(
        [[row["measures"]["end(one)"], row["measures"]["end(two)"]] for row in found.front]
    )
    assert len(values) == 7
    assert np.sqrt(np.maximum(values, 0)).sum(axis=1) == pytest.approx(2.0, abs=1e-3)
    assert (
        (np.diff(values[:, 0]) < 0).all()
        and values[0] == pytest.approx([4, 0], abs=1e-6)
        and values[-1] == pytest.approx([0, 4], abs=1e-3)
    )
    assert cli.main(["optimize", str(path), "-q", "--report", str(tmp_path / "front.html")]) == 0
    assert "Pareto front" in (tmp_path / "front.html").read_text()


def test_invalid_optimisation_is_refused(tmp_path: Path):
    """Keys that do not go together."""
    for change, message in (
        (('gradient = "adjoint"', 'gradient = "adjoint"\npareto = 5'), "two measures"),
        (('"end(cost)"', '"peak(cost)"'), "the adjoint takes"),
        (
            ('gradient = "adjoint"', 'gradient = "magic"'),
            "expected one of auto, adjoint, differences",
        ),
    ):
        path = written(
            tmp_path,
            regulator(),
            REGULATOR.format(method="slsqp", gradient="adjoint").replace(*change),
        )
        with pytest.raises(BadInput, match=message):
            read_task(path)


PARABOLA = mass(
    "0",
    {"a": 0.0, "b": 0.3, "d": 0.0},
    outputs={"error": {"value": "t**2 + d*t - a - b*t"}, "slope": {"value": "b"}},
)
LARGEST = """
[optimize]
method = "minimax"
iterations = 20
[optimize.variables]
a = { from = -2, to = 2, start = 0 }
b = { from = -2, to = 2, start = 0.3 }
[optimize.measures]
"peak(error)" = 2.0
"""
RUN = "[run]\nstop_time = 1.0\noutput_step = 0.0625\n"


def test_minimax_finds_chebyshev_approximation(tmp_path: Path):
    """The line nearest to t² over 0..1 in the largest error is t - 1/8, off by 1/8 at 0, 1/2 and 1 (Chebyshev)."""
    found = optimise(read_task(written(tmp_path, PARABOLA, LARGEST + RUN)))
    assert found.values == pytest.approx({"a": -0.125, "b": 1.0}, abs=1e-6)
    assert found.objective == pytest.approx(0.25, abs=1e-6)


def test_minimax_respects_constraints_and_scenarios(tmp_path: Path):
    """With b <= 1/2 the error is half the range of t² - t/2, which is -1/16..1/2. The worst of two slopes d at once: beside a
    simplex search over the formula."""
    bound = "[optimize.constraints]\n'end(slope)' = { max = 0.5 }\n"
    found = optimise(read_task(written(tmp_path, PARABOLA, LARGEST + bound + RUN)))
    assert found.feasible and found.objective == pytest.approx(0.5 + 1 / 16, abs=1e-5)
    both = "[[scenarios]]\nset = { d = 0.0 }\n[[scenarios]]\nset = { d = 1.0 }\n"
    found = optimise(read_task(written(tmp_path, PARABOLA, LARGEST + RUN + both)))
    from scipy.optimize import minimize

    t = np.arange(17) / 16

    def worst(p):
        return max(np.abs(t**2 + d * t - p[0] - p[1] * t).max() for d in (0.0, 1.0))

    least = min(
        minimize(
            worst,
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
        ).fun
        for start in ([0, 1.5], [-0.2, 1])
    )
    assert found.objective == pytest.approx(2.0 * least, abs=1e-5)


def test_numbered_variables_expand(tmp_path: Path):
    d = mass("0", {"p_1": 0.5, "p_2": 0.5}, outputs={"sum": {"value": "p_1 + 2*p_2 - 1"}})
    text = (
        LARGEST.replace("a = {", '"p_[1-2]" = {')
        .replace("b = { from = -2, to = 2, start = 0.3 }\n", "")
        .replace("error", "sum")
    )
    task = read_task(written(tmp_path, d, text + RUN))
    assert list(task.variables) == ["p_1", "p_2"]
    assert optimise(task).objective == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(BadInput, match="minimax takes measures deviation"):
        read_task(written(tmp_path, d, text.replace("peak(sum)", "rms(sum)") + RUN))
