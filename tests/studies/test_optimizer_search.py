"""Searches by hand: files, scaled points, distances to bounds, differences, what is and what is remembered of evaluations."""

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.scripts.studies import optimise_search
from kinetree.scripts.studies.optimise_file import (
    Task,
    Variable,
    bounds,
    numbered,
    read_task,
    variable,
)
from kinetree.scripts.studies.optimise_search import Search, stored, worth
from kinetree.scripts.terminal.error_messages import BadInput

FREE = (-math.inf, math.inf)
EPS = float(np.finfo(float).eps)
STEP, KEPT, BAD = 1e-4, 1e-6, 1e12  # of differences; of a bound that is exceeded; of what failed


def task(**more: Any) -> Task:
    variables = {"a": Variable(1.0, 5.0, 2.0), "b": Variable(-1.0, 1.0, 0.5)}
    return Task(
        "lib:x",
        **{
            "variables": variables,
            "measures": {"end(x)": 2.0, "max(y)": -1.0},
            "constraints": {"end(z)": FREE},
            **more,
        },
    )


def search(wanted: Task) -> Search:
    """Without a mechanism: what it measures is put in by hand."""
    made = Search.__new__(Search)
    made.task, made.told, made.state, made.stored = wanted, lambda done, best: None, None, {}
    made.low = np.array([each.low for each in wanted.variables.values()])
    made.width = np.array([each.high for each in wanted.variables.values()]) - made.low
    made.known, made.kept, made.of_place = {}, None, {}
    made.count, made.history, made.best = 0, [], (math.inf, math.inf, np.zeros(0))
    made.backwards = False
    return made


def test_numbered_names_cover_ranges():
    assert numbered("p_[2-4]x") == ["p_2x", "p_3x", "p_4x"] and numbered("p[7-7]") == ["p7"]
    assert (
        numbered("p[3-2]") == ["p[3-2]"]
        and numbered("plain") == ["plain"]
        and numbered("p[1]") == ["p[1]"]
    )


def test_constraint_bounds_may_be_open():
    assert bounds({"min": 1.0}, "c") == (1.0, math.inf) and bounds({"max": -2}, "c") == (
        -math.inf,
        -2.0,
    )
    assert bounds({"min": -1.0, "max": 3.0}, "c") == (-1.0, 3.0)
    for wrong in ({}, 3.0, {"min": 1.0, "most": 2.0}):
        with pytest.raises(BadInput, match="expected { min = a, max = b }"):
            bounds(wrong, "c")


def test_variables_start_between_bounds():
    """In their middle where nothing is said; a whole one at a whole number, between whole ones."""
    assert (
        variable({"from": 1.0, "to": 4.0}, "v") == Variable(1.0, 4.0, 2.5)
        and variable({"from": 1, "to": 4, "start": 4}, "v").start == 4.0
    )
    assert variable({"from": 1.0, "to": 4.0, "start": 1.0}, "v") == Variable(1.0, 4.0, 1.0, False)
    assert variable({"from": 1, "to": 6, "whole": True}, "v") == Variable(1.0, 6.0, 4.0, True), (
        "3.5 to the even one"
    )
    for wrong in (
        {"from": 1.0, "to": 1.0}, {"from": 2.0, "to": 1.0}, {"from": 1.0, "to": 2.0, "start": 2.5}, {"from": 1.0, "to": 2.0, "start": 0.5},
        {"from": 1.0, "to": 2.5, "whole": True}, {"from": 0.5, "to": 2.0, "whole": True}, {"from": 1.0}, {"from": 1.0, "to": 2.0, "step": 1.0}, 3.0,
    ):  # fmt: skip
        with pytest.raises(BadInput, match=r"^v"):
            variable(wrong, "v")


FILE = """mechanism = "{mechanism}"
[optimize]
{more}
[optimize.variables]
a = {{ from = 0, to = 1 }}
[optimize.measures]
{measures}
[run]
integrator = "{integrator}"
"""


@pytest.mark.parametrize(
    ("more", "measures", "integrator", "gradient"),
    [
        ("", ["end(x)"], "rk4", "auto"), ("", ["end(x)"], "semi-implicit", "auto"), ("", ["end(x)"], "rk45", "differences"),
        ("", ["end(x)", "max(x)"], "rk4", "differences"), ('gradient = "adjoint"', ["end(x)"], "rk4", "adjoint"),
        ('gradient = "differences"', ["end(x)"], "rk4", "differences"),
    ],
)  # fmt: skip
def test_adjoint_requires_end_values_and_fixed_steps(
    tmp_path: Path, more: str, measures: list[str], integrator: str, gradient: str
):
    path = tmp_path / "o.toml"
    path.write_text(
        FILE.format(
            mechanism="m.toml",
            more=more,
            measures="\n".join(f'"{each}" = 1.0' for each in measures),
            integrator=integrator,
        )
    )
    found = read_task(path)
    assert (
        found.gradient == gradient
        and found.source == str(tmp_path / "m.toml")
        and len(found.mark) == 16
    )
    path.write_text(path.read_text().replace("m.toml", "lib:boom"))
    assert read_task(path).source == "lib:boom" and read_task(path).mark != found.mark


@pytest.mark.parametrize(
    ("more", "measures", "good"),
    [
        ("pareto = 3", 2, True), ("pareto = 2", 2, False), ("pareto = 3", 1, False), ("pareto = 3", 3, False), ("pareto = 1000000", 2, True),
        ("seed = 1000001", 1, False), ("multistart = true", 1, False), ("multistart = 0", 1, True), ("iterations = 1000000", 1, True),
        ('method = "minimax"', 1, False),
    ],
)  # fmt: skip
def test_optimisation_counts_have_limits(tmp_path: Path, more: str, measures: int, good: bool):
    """A front has two measures and at least three points; every count is a whole number up to a million."""
    path = tmp_path / "o.toml"
    named = "\n".join(f'"end({name})" = 1.0' for name in "xyz"[:measures])
    path.write_text(FILE.format(mechanism="m.toml", more=more, measures=named, integrator="rk4"))
    if good:
        assert getattr(read_task(path), more.partition(" ")[0]) == int(more.rpartition(" ")[2])
    else:
        with pytest.raises(BadInput, match=r"optimize\.(pareto|seed|multistart|method): "):
            read_task(path)


def test_bound_distances_are_relative():
    """Below and above, in the order of the constraints; of a bound at 0 in units of 1e-9; what has no bound has none. Their slopes likewise."""
    made = search(
        task(
            constraints={
                "end(z)": (2.0, 4.0),
                "end(u)": (-math.inf, -8.0),
                "end(w)": (0.0, math.inf),
                "end(v)": FREE,
            }
        )
    )
    values = np.array([9.0, 9.0, 3.0, -9.0, 2e-9, 5.0])
    assert (
        made.limits(values) == pytest.approx([0.5, 0.25, 0.125, 2.0], rel=4 * EPS)
        and made.broken(values) == 0.0
    )
    values[2:5] = [1.0, -6.0, -1e-9]
    assert made.limits(values) == pytest.approx(
        [-0.5, 0.75, -0.25, -1.0], rel=4 * EPS
    ) and made.broken(values) == pytest.approx(1.0)
    assert made.objective(values) == 2.0 * 9.0 - 9.0
    made.measures = lambda points: np.column_stack([points @ slope for slope in SLOPES])  # type: ignore[method-assign]
    found = made.limit_slopes(np.array([0.5, 0.25]))
    expected = [SLOPES[2] / 2.0, -SLOPES[2] / 4.0, -SLOPES[3] / 8.0, SLOPES[4] / 1e-9]
    assert found == pytest.approx(
        np.array(expected), rel=1e-10
    )  # roundings of differences: eps over the step
    assert made.slope(np.array([0.5, 0.25])) == pytest.approx(
        2.0 * SLOPES[0] - SLOPES[1], rel=1e-10
    )
    made.task = task(constraints={})
    assert made.limit_slopes(np.array([0.5, 0.25])).shape == (0, 2) and made.broken(values) == 0.0


SLOPES = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25], [8.0, -16.0], [2.0, 1.0], [1.0, 1.0]])


def test_differences_are_central_except_near_bounds():
    """A point on each side, none beyond the bounds; however near a bound is, they are a step apart, or roundings would count for slopes."""
    made = search(task())
    for at, ahead, behind in (
        (0.5, STEP, STEP),
        (0.0, STEP, 0.0),
        (1.0, 0.0, STEP),
        (STEP / 4, STEP, STEP / 4),
        (1.0 - STEP / 4, STEP / 4, STEP),
    ):
        points, distances = made.around(np.array([at, 0.25]))
        expected = [
            [at, 0.25],
            [at + ahead, 0.25],
            [at, 0.25 + STEP],
            [at - behind, 0.25],
            [at, 0.25 - STEP],
        ]
        assert (
            points == pytest.approx(np.array(expected), abs=4 * EPS)
            and ((points >= 0.0) & (points <= 1.0)).all()
        )
        assert (
            distances == pytest.approx([ahead + behind, 2 * STEP], rel=1e-9)
            and (distances >= STEP * (1 - 1e-9)).all()
        )
    made.measures = lambda points: np.array([[p[0] ** 2, p[1] ** 3, 1.0] for p in points])  # type: ignore[method-assign]
    assert made.jacobian(np.array([0.5, 0.25])) == pytest.approx(
        np.array([[1.0, 0.0], [0.0, 3 / 16 + STEP**2], [0.0, 0.0]]), abs=1e-11
    )


@pytest.mark.parametrize(("gradient", "falls_back"), [("adjoint", False), ("auto", True)])
def test_missing_gradient_uses_differences(gradient: str, falls_back: bool):
    made, asked = search(task(gradient=gradient)), []
    made.backwards = True

    def adjoint(s: np.ndarray) -> np.ndarray:
        asked.append(s)
        raise ValueError("no way back")

    made.adjoint, made.measures = adjoint, lambda points: points  # type: ignore[method-assign]
    if not falls_back:
        with pytest.raises(ValueError, match="no way back"):
            made.jacobian(np.array([0.5, 0.5]))
        return
    for _ in range(2):
        assert made.jacobian(np.array([0.5, 0.5])) == pytest.approx(np.eye(2), rel=1e-10)
    assert len(asked) == 1, "it is tried once"


@pytest.mark.parametrize(("over", "objective"), [("worst", [3.0, 0.0]), ("mean", [2.0, 1.5])])
def test_scenarios_count_as_worst_or_mean(over: str, objective: list[float]):
    """Of a value between two bounds that which is nearer to either, or beyond it; slopes are those of the same scenarios."""
    limits = {
        "end(z)": (0.0, 10.0),
        "end(u)": (-math.inf, 5.0),
        "end(w)": (1.0, math.inf),
        "end(v)": (0.0, 10.0),
        "end(s)": (0.0, 8.0),
    }
    made = search(task(over=over, constraints=limits))
    found = np.array([[1.0, 3.0, 2.0, 1.0, 4.0, 7.0, 2.0], [3.0, 0.0, 7.0, 3.0, 2.0, 9.0, 6.0]])
    slopes = np.array([10.0, 100.0])[:, None, None] * found[..., None]
    values, ways = made.together(found, slopes)
    assert values.tolist() == [*objective, 2.0, 3.0, 2.0, 9.0, 6.0], (
        "the last one is as near to both: the upper one is told"
    )
    expected = [300.0, 0.0] if over == "worst" else [155.0, 15.0]
    assert ways is not None and ways[:, 0].tolist() == [*expected, 20.0, 300.0, 200.0, 900.0, 600.0]
    alone, none = made.together(found)
    assert alone.tolist() == values.tolist() and none is None and found[1, 0] == 3.0


def test_integers_and_permutation_positions_are_rounded():
    """To the nearest whole number; the places of an order are the ranks of their numbers, the first of equal ones first."""
    variables = {
        "n": Variable(2.0, 6.0, 3.0, True),
        "x": Variable(0.0, 1.0, 0.5),
        **{f"p[{k}]": Variable(1.0, 3.0, k, True) for k in (1, 2, 3)},
    }
    made = search(task(variables=variables, orders=("p",)))
    points = np.array([[0.3, 0.33, 0.9, 0.1, 0.5], [0.9, 0.77, 0.2, 0.2, 0.1]])
    found = made.snapped(points)
    assert (
        found.tolist() == [[0.25, 0.33, 1.0, 0.0, 0.5], [1.0, 0.77, 0.5, 1.0, 0.0]]
        and points[0, 0] == 0.3
    )
    assert made.values(found[0]) == {"n": 3.0, "x": 0.33, "p[1]": 3.0, "p[2]": 1.0, "p[3]": 2.0}


def measured_by(made: Search, values: dict[float, list[float]]) -> list[list[float]]:
    """Values of points by their first coordinate; the points that were run, call by call."""
    ran: list[list[float]] = []

    def run(points: list[np.ndarray]) -> np.ndarray:
        ran.append([float(p[0]) for p in points])
        return np.array([[values[float(p[0])] for p in points]])

    made.run = run  # type: ignore[method-assign]
    return ran


def test_points_run_once_and_best_is_feasible(tmp_path: Path):
    """Within a millionth of a bound it is kept, and the first of equal ones stays; nothing that keeps them: what breaks them least."""
    made = search(task(measures={"end(x)": 1.0}, constraints={"end(z)": (-math.inf, 1.0)}))
    told: list[tuple[float, float]] = []
    made.told, made.state = lambda done, best: told.append((done, best)), tmp_path / "s.jsonl"
    values = {
        0.1: [5.0, 1.5],
        0.2: [9.0, 1.25],
        0.3: [4.0, 1.25],
        0.4: [7.0, 1.0 + 0.9 * KEPT],
        0.5: [7.0, 0.0],
        0.6: [6.0, 1.0 + 1.2 * KEPT],
        0.7: [3.0, 0.5],
    }
    ran = measured_by(made, values)
    points = np.array([[each, 0.0] for each in values])
    assert made.measures(points[[0, 1, 0]]).tolist() == [
        values[0.1],
        values[0.2],
        values[0.1],
    ] and ran == [[0.1, 0.2]]
    for k in range(2, 7):
        made.measures(points[[0, k]])
    assert ran[1:] == [[0.3], [0.4], [0.5], [0.6], [0.7]] and made.count == 7
    assert made.history == [5.0, 9.0, 4.0, 7.0, 7.0, 7.0, 3.0] and told == list(
        zip(np.arange(1.0, 8.0), made.history, strict=True)
    )
    assert made.best[2].tolist() == [0.7, 0.0] and made.best[:2] == (0.0, 3.0)
    assert [json.loads(line)["at"][0] for line in made.state.read_text().splitlines()] == list(
        values
    )
    made = search(made.task)
    measured_by(made, values)
    for k in (3, 4):
        made.measures(points[[k]])
    assert made.best[2][0] == 0.4


def test_stored_evaluations_are_reused(tmp_path: Path):
    """A file of the same task; lines that are cut off go, those that are whole stay as they are, digit by digit."""
    path, wanted = tmp_path / "s.jsonl", task(mark="a", measures={"end(x)": 1.0})
    model = tmp_path / "m.json"
    model.write_text('{"name": "m", "parameters": {"k": 1.0}}')
    wanted = replace(wanted, source=str(model))
    assert stored(None, wanted) == {} and stored(path, wanted) == {}
    head = path.read_text()
    assert head.startswith('{"kinetree optimize": ') and head.endswith("}\n")
    path.write_text("")
    assert stored(path, wanted) == {} and path.read_text() == head
    whole = '{"at": [0.1, 0.30000000000000004], "measures": [2.0, 0.1]}'
    path.write_text(head + whole + '\n{"at": [0.5]}\n{"at": [0.5, 0.')
    found = stored(path, wanted)
    at = np.array([0.1, 0.30000000000000004])
    assert list(found) == [at.tobytes()] and found[at.tobytes()].tolist() == [2.0, 0.1]
    assert path.read_text() == head + whole + "\n"
    made = search(wanted)
    made.stored, ran = found, measured_by(made, {0.7: [1.0, 0.0]})
    for _ in range(2):
        assert made.measures(np.array([at, [0.7, 0.0]])).tolist() == [[2.0, 0.1], [1.0, 0.0]]
    assert ran == [[0.7]] and made.count == 2 and made.history == [2.0, 1.0]
    with pytest.raises(BadInput, match="another task"):
        stored(path, replace(wanted, mark="b"))
    model.write_text('{"name": "m", "parameters": {"k": 2.0}}')
    with pytest.raises(BadInput, match="mechanism"):
        stored(path, wanted)


class Runs(dict):
    failures: dict[int, str] = {}

    time = np.array([0.0, 1.0])

    def __len__(self) -> int:
        return len(next(iter(self.values())))


def test_failed_measures_get_penalty_value():
    """Not a number in one of the measures makes all of them bad; variables go to the runs in their units, inputs and settings as they are."""
    made = search(
        task(
            run={"stop_time": 3.0, "inputs": {"f": 2.0}},
            scenarios=[{"load": 7.0}],
            measures={"end(x)": 1.0, "max(x)": 1.0},
        )
    )
    asked: list[Any] = []
    columns = [[1.0, 2.0], [3.0, math.nan], [5.0, 4.0]]

    def many(given: Any, **options: Any) -> Runs:
        asked.append((given, options))
        return Runs(x=np.array(columns), z=np.array(columns))

    system: Any = SimpleNamespace(simulate_many=many)
    points = np.array([[0.0, 0.5], [0.25, 1.0], [1.0, 0.0]])
    found = made.scenario(SimpleNamespace(), system, 0, points)  # type: ignore[arg-type]
    assert found.tolist() == [[2.0, 2.0, 2.0], [BAD] * 3, [4.0, 5.0, 4.0]]
    ((given, options),) = asked
    assert {name: list(column) for name, column in given.items()} == {
        "a": [1.0, 2.0, 5.0],
        "b": [0.0, 1.0, -1.0],
    }
    assert options == {
        "inputs": {"f": 2.0},
        "outputs": ["x", "z"],
        "stop_time": 3.0,
    } and made.task.run["inputs"] == {"f": 2.0}
    made.of_place, columns[:] = {"a": "order", "b": "order"}, [[1.0, 2.0]]
    assert (
        made.scenario(SimpleNamespace(), system, 0, points).tolist() == [[2.0, 2.0, 2.0]] * 3
        and asked[1][0] == {}
    )  # type: ignore[arg-type]


def test_histories_are_stored_per_scenario():
    """Of a point that is asked for again those of the last time; a copy, since the columns of many runs share their memory."""
    made = search(task(measures={"end(x)": 1.0}, constraints={}, scenarios=[{}, {}]))
    made.kept, block = {}, np.array([[1.0, 2.0]])
    system: Any = SimpleNamespace(simulate_many=lambda given, **options: Runs(x=block))
    p = np.array([0.5, 0.5])
    for factor in (1.0, 10.0):
        for which in (0, 1):
            block[:] = factor * np.array([which, 2.0 + which])
            made.scenario(SimpleNamespace(), system, which, p[None])  # type: ignore[arg-type]
    assert [kept["x"].tolist() for kept in made.histories(p)] == [
        [0.0, 20.0],
        [10.0, 30.0],
    ] and made.apart(p).tolist() == [[20.0], [30.0]]
    made.run = lambda points: made.kept.__setitem__(points[0].tobytes(), [({}, np.array([4.0]))])  # type: ignore[method-assign, union-attr, return-value]
    assert made.apart(2.0 * p).tolist() == [[4.0]], (
        "what a state file told is run when its history is asked for"
    )


def test_missing_equilibrium_gets_penalty_value(
    monkeypatch: pytest.MonkeyPatch,
):
    """With the parameters of the point, and the inputs of the runs."""
    made, asked = (
        search(
            task(
                measures={"end(x)": 1.0},
                constraints={"growth": (-math.inf, 0.0)},
                scenarios=[{"load": 7.0}],
                run={"inputs": {"f": 2.0}},
            )
        ),
        [],
    )

    def rest(system: Any, inputs: Any) -> Any:
        asked.append((system, inputs))
        if system["a"] > 2.0:
            raise ArithmeticError("it tips over")
        return SimpleNamespace(linear=SimpleNamespace(eigenvalues=np.array([-1.0])))

    monkeypatch.setattr(optimise_search, "AtRest", rest)
    made.kept = {}
    system: Any = SimpleNamespace(
        simulate_many=lambda given, **options: Runs(x=np.array([[1.0, 2.0], [3.0, 4.0]]))
    )
    points = np.array([[0.0, 0.5], [0.5, 0.5]])
    found = made.scenario(SimpleNamespace(at=lambda given: given), system, 0, points)  # type: ignore[arg-type]
    assert found.tolist() == [[2.0, -1.0], [BAD, BAD]] and [
        kept["x"].tolist() for kept in made.histories(points[1])
    ] == [[3.0, 4.0]]
    assert asked == [({"a": a, "b": 0.0}, {"f": 2.0}) for a in (1.0, 3.0)]
    made.task = task(measures={"growth": 1.0}, constraints={}, scenarios=[{}])
    assert made.scenario(SimpleNamespace(at=lambda given: given), None, 0, points[:1]).tolist() == [
        [-1.0]
    ], "nothing runs"  # type: ignore[arg-type]


def test_permutations_are_compiled_once(monkeypatch: pytest.MonkeyPatch):
    """The first one of sixty-four goes when another comes."""
    made, loaded = search(task(orders=("p",), settings={"pace": 2.0}, scenarios=[{"k": 1.0}])), []
    mechanism = SimpleNamespace(
        compile=lambda **given: given, description=SimpleNamespace(chain="a train")
    )
    monkeypatch.setattr(
        "kinetree.models.load", lambda source, **settings: loaded.append(settings) or mechanism
    )
    made.ordered = {}
    for k in (*range(64), 0, 64, 1, 0):
        rests, runs = made.of_order(((k, 1),))
        assert runs == [{"k": 1.0}] and [(each.mechanism, each.settings) for each in rests] == [
            (mechanism, {"k": 1.0})
        ]
    assert (
        [each["p"][0] for each in loaded] == [*range(64), 64, 0]
        and len(made.ordered) == 64
        and loaded[0] == {"pace": 2.0, "p": [0, 1]}
    )


@pytest.mark.parametrize(
    "change", [{}, {"loops": 1}, {"guards": 1}, {"contacts": 1}, {"stages": 2}]
)
def test_gradient_pays_above_variable_count(change: dict[str, int]):
    """Beyond twenty where runs share lanes, beyond two where they do not."""
    has = {"loops": 0, "guards": 0, "contacts": 0, "stages": 1} | change
    system: Any = SimpleNamespace(
        compiled=SimpleNamespace(
            counts={"ng": has["guards"] + 3, "nj": 3},
            **{key: [0] * count for key, count in has.items()},
        ),
        stages=[0] * has["stages"],
    )
    assert worth(system) == (2 if change else 20)


def made_of(monkeypatch: pytest.MonkeyPatch, gradient: str, variables: int) -> Search:
    """Of a mechanism that is nothing but its names."""
    compiled = SimpleNamespace(
        outputs=[SimpleNamespace(name="x")],
        coordinates=("q",),
        speeds=(),
        states=(),
        loops=[],
        guards=[],
        counts={"ng": 0, "nj": 0},
        contacts=[],
    )
    names = [f"v{k}" for k in range(variables)]
    description = SimpleNamespace(parameters=dict.fromkeys(names), chain="a train")
    mechanism = SimpleNamespace(
        description=description,
        compile=lambda **given: SimpleNamespace(compiled=compiled, stages=[0]),
    )
    monkeypatch.setattr("kinetree.models.load", lambda source, **settings: mechanism)
    wanted = task(
        variables={name: Variable(0.0, 2.0, 1.0) for name in names},
        measures={"end(x)": 1.0},
        constraints={},
        gradient=gradient,
    )
    return Search(wanted, lambda done, best: None)


@pytest.mark.parametrize(
    ("gradient", "variables", "back"),
    [("auto", 20, False), ("auto", 21, True), ("adjoint", 1, True), ("differences", 30, False)],
)
def test_gradient_source_is_chosen(
    monkeypatch: pytest.MonkeyPatch, gradient: str, variables: int, back: bool
):
    made = made_of(monkeypatch, gradient, variables)
    assert (
        made.backwards == back
        and made.count == 0
        and made.kept is None
        and 0.0 <= made.seconds < 1e4
    )
    assert made.width.tolist() == [2.0] * variables and made.best[:2] == (math.inf, math.inf)


def test_adjoint_measures_and_differentiates(monkeypatch: pytest.MonkeyPatch):
    """By all variables, in their scale, the worst of two scenarios; the point counts as an evaluation."""
    made = search(
        task(
            gradient="adjoint",
            scenarios=[{"load": 1.0}, {"load": 2.0}],
            measures={"end(x)": 1.0},
            run={"inputs": {"f": 1.0}, "step": 0.1},
        )
    )
    seen: list[Any] = []

    class Run(dict):
        def gradient(self, columns: list[str], names: list[str]) -> np.ndarray:
            seen.append((columns, names))
            return np.array([[self["load"], 1.0], [10.0, self["load"]]])

    def compile(load: float, a: float, b: float) -> Any:
        simulate = lambda **options: (  # noqa: E731
            seen.append((a, b, options))
            or Run(x=np.array([0.0, load]), z=np.array([9.0, 9.0]), load=load)
        )
        return SimpleNamespace(simulate=simulate)

    made.mechanism = SimpleNamespace(compile=compile)  # type: ignore[assignment]
    made.measures = lambda points: seen.append(points.tolist())  # type: ignore[method-assign, return-value]
    found = made.adjoint(np.array([0.25, 0.5]))
    assert found.tolist() == [[2.0 * 4.0, 2.0], [10.0 * 4.0, 2.0 * 1.0]], (
        "widths 4 and 2; of the constraint, equal in both, the first scenario"
    )
    one = (2.0, 0.0, {"inputs": {"f": 1.0}, "step": 0.1})
    assert seen == [[[0.25, 0.5]], one, (["x", "z"], ["a", "b"]), one, (["x", "z"], ["a", "b"])]
