"""Optimisation against known optima: damping, regulators, constraints, several minima, scenarios."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.system.mechanism import Mechanism
from kinetree.scripts import cli
from kinetree.scripts.measures import run_measures as measures
from kinetree.scripts.studies import optimise_search
from kinetree.scripts.studies.optimise import optimise
from kinetree.scripts.studies.optimise_file import MOST_PLACES, places, read_task
from kinetree.scripts.studies.optimise_search import Search
from kinetree.scripts.terminal.error_messages import BadInput


def mass(law: str, cost: str, start: float = 1.0, **parameters: float) -> dict:
    """A unit mass under a law, with a state that adds up a cost."""
    return {
        "gravity": [0, 0, 0],
        "parameters": parameters,
        "bodies": {"m": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {
            "j": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x", "start": start}]}
        },
        "forces": {"law": {"coordinate": "x", "value": law}},
        "states": {"cost": {"rate": cost}},
    }


@pytest.mark.parametrize("count", [2, 3, MOST_PLACES])
def test_permutation_has_one_variable_per_position(count: int):
    """Counted, or listed in the order to begin with."""
    found = places("p", {"order": count}, "here")
    assert list(found) == [f"p[{k}]" for k in range(1, count + 1)] and found == places(
        "p", {"order": list(range(1, count + 1))}, "here"
    )
    turned = places("p", {"order": list(range(count, 0, -1))}, "here")
    assert [v.start for v in turned.values()] == [float(k) for k in range(count, 0, -1)]
    assert all((v.low, v.high, v.whole) == (1.0, float(count), True) for v in turned.values())


@pytest.mark.parametrize(
    "order", [0, 1, MOST_PLACES + 1, -3, [1], [1, 1], [0, 1], [2, 3], "2", 2.5, [1, 2, 4]]
)
def test_invalid_permutation_is_refused(order: object):
    with pytest.raises(BadInput, match="with N from 2 to"):
        places("p", {"order": order}, "here")


def task(folder: Path, mechanism: dict, text: str):
    (folder / "m.json").write_text(json.dumps({"name": "m", **mechanism}))
    path = folder / "task.toml"
    path.write_text('mechanism = "m.json"\n' + text)
    return path


SQUARES = """
[optimize]
method = "{method}"
[optimize.variables]
d = {{ from = 0.2, to = 3.0, start = 2.5 }}
[optimize.measures]
"end(cost)" = 1.0
[run]
stop_time = 60.0
output_step = 1.0
tolerance = 1e-9
"""


@pytest.mark.parametrize("method", ["slsqp", "trust-constr", "differential-evolution"])
def test_optimisation_finds_damping_of_least_integral_square(tmp_path: Path, method: str):
    """ẍ = -x - d ẋ from x = 1: ∫x² = (1 + d²)/(2d), least at d = 1 with the value 1."""
    path = task(tmp_path, mass("-x - d*der(x)", "x**2", d=2.0), SQUARES.format(method=method))
    found = optimise(read_task(path))
    assert (
        found.values["d"] == pytest.approx(1.0, abs=2e-3)
        and found.objective == pytest.approx(1.0, abs=1e-5)
        and found.feasible
    )


def test_optimisation_of_runs_finds_regulator(tmp_path: Path):
    """∫x² + u² of the double integrator: Riccati's equation gives u = -x - √2 ẋ and the cost √2 x²."""
    text = """
[optimize]
[optimize.variables]
k = { from = 0.2, to = 5.0, start = 3.0 }
d = { from = 0.2, to = 5.0, start = 1.0 }
[optimize.measures]
"end(cost)" = 1.0
[run]
stop_time = 30.0
output_step = 1.0
tolerance = 1e-10
"""
    found = optimise(
        read_task(
            task(
                tmp_path, mass("-k*x - d*der(x)", "x**2 + (k*x + d*der(x))**2", k=1.0, d=1.0), text
            )
        )
    )
    assert (found.values["k"], found.values["d"]) == pytest.approx((1.0, math.sqrt(2.0)), abs=2e-3)
    assert found.objective == pytest.approx(math.sqrt(2.0), rel=1e-6)


def test_optimisation_ends_at_active_constraint(tmp_path: Path):
    """A stiffness may not pull with more than 2.5 N at the start: k x0 = 2.5 is as fast as it gets."""
    text = """
[optimize]
[optimize.variables]
k = { from = 0.5, to = 10.0, start = 1.0 }
[optimize.measures]
"integral(x)" = -1.0
[optimize.constraints]
"max(der(x))" = { max = 0.5 }
[run]
stop_time = 1.0
output_step = 0.02
"""
    found = optimise(
        read_task(
            task(
                tmp_path,
                mass("-k*x - 1*der(x)", "0", -1.0, k=1.0),
                text.replace('"integral(x)" = 1.0', '"integral(x)" = -1.0'),
            )
        )
    )
    assert found.feasible and found.measures["max(der(x))"] == pytest.approx(0.5, abs=2e-4)
    assert 0.5 < found.values["k"] < 10.0


def test_multistart_finds_global_minimum(tmp_path: Path):
    """A measure with two valleys: from the shallow one's side the deep one is found by other starts, and all of them are reported."""
    law = "0*x"
    cost = "sin(3*p) + 0.4*p"  # on 0..4: valleys near 1.53 and 3.62
    text = """
[optimize]
multistart = 6
[optimize.variables]
p = { from = 0.0, to = 4.0, start = 3.5 }
[optimize.measures]
"end(cost)" = 1.0
[run]
stop_time = 1.0
output_step = 1.0
"""
    found = optimise(read_task(task(tmp_path, mass(law, cost, p=1.0), text)))
    best = min(np.linspace(0, 4, 40001), key=lambda p: math.sin(3 * p) + 0.4 * p)
    assert found.values["p"] == pytest.approx(best, abs=1e-3) and len(found.starts) == 7
    assert found.starts[0][1] > found.objective + 0.5


def test_optimisation_minimises_worst_of_scenarios(tmp_path: Path):
    """|p - c| for c = 0 and c = 2: the worst is least in the middle, the mean anywhere between."""
    text = """
[optimize]
method = "differential-evolution"
[optimize.variables]
p = { from = -1.0, to = 5.0 }
[optimize.measures]
"end(cost)" = 1.0
[run]
stop_time = 1.0
output_step = 1.0
[[scenarios]]
set = { c = 0.0 }
[[scenarios]]
set = { c = 2.0 }
"""
    found = optimise(read_task(task(tmp_path, mass("0*x", "abs(p - c)", p=1.0, c=0.0), text)))
    assert found.values["p"] == pytest.approx(1.0, abs=1e-2) and found.objective == pytest.approx(
        1.0, abs=1e-2
    )


def test_optimisation_uses_equilibrium_measures(tmp_path: Path):
    """The damping ratio at rest, d/(2√k), as a constraint: as little damping as gives 0.3."""
    text = """
[optimize]
[optimize.variables]
d = { from = 0.1, to = 4.0, start = 2.0 }
[optimize.measures]
"end(cost)" = 1.0
[optimize.constraints]
"damping" = { min = 0.3 }
[run]
stop_time = 1.0
output_step = 1.0
"""
    source = mass("-4*x - d*der(x)", "d", 0.0, d=1.0)
    source["states"] = {"cost": {"rate": "d - cost"}}
    found = optimise(read_task(task(tmp_path, source, text)))
    assert found.values["d"] == pytest.approx(2 * 0.3 * 2.0, abs=1e-3)


def test_optimised_points_equal_compiled_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """To the last bit, of two scenarios; only the bounds are compiled, each point rests once for all measures, numbers of a scenario yield."""
    text = """
[optimize]
[optimize.variables]
d = { from = 0.1, to = 1.0 }
k = { from = 1.0, to = 9.0 }
[optimize.measures]
"growth" = 1.0
"rest(x)" = 2.0
[optimize.constraints]
"damping" = { min = 0.3 }
[run]
inputs = { f = 3.0 }
[[scenarios]]
[[scenarios]]
set = { m = 0.5, k = 100.0 }
"""
    source = mass("f - k*x - d*der(x)", "d", 0.0, d=1.0, k=1.0, m=1.0)
    source |= {"inputs": {"f": 0.0}, "bodies": {"m": {"mass": "m", "inertia": [1, 1, 1, 0, 0, 0]}}}
    del source["states"]
    file = task(tmp_path, source, text)
    search, asked, rests, plain, rest = (
        Search(read_task(file), lambda done, best: None),
        list[dict[str, float]](),
        [],
        Mechanism.compile,
        measures.AtRest,
    )
    monkeypatch.setattr(
        Mechanism,
        "compile",
        lambda mechanism, **numbers: asked.append(numbers) or plain(mechanism, **numbers),
    )
    monkeypatch.setattr(
        optimise_search, "AtRest", lambda *given: rests.append(given) or rest(*given)
    )
    points = np.array([[0.25, 0.5], [0.5, 0.125], [0.75, 0.875]])
    found = search.run(list(points))
    assert (
        asked
        == [
            {**more, "d": d, "k": k}
            for more in ({}, {"m": 0.5})
            for d, k in ((0.1, 1.0), (1.0, 9.0))
        ]
        and len(rests) == 6
    )
    for which, m in enumerate((1.0, 0.5)):
        for row, (d, k) in enumerate(search.low + points * search.width):
            there = rest(plain(search.mechanism, d=d, k=k, m=m), {"f": 3.0})
            assert found[which, row].tolist() == [
                measures.measured(name, np.zeros(0), {}, lambda there=there: there)
                for name in search.task.texts
            ]
            assert found[which, row] == pytest.approx([-d / 2 / m, 3 / k, d / 2 / math.sqrt(k * m)])


def test_optimisation_gradients_match_formula(tmp_path: Path):
    """d/dd of (1 + d²)/(2d) times the width of the bounds; differences of 1e-4 of them, squared, and the tolerance of the runs over the step."""
    search = Search(
        read_task(
            task(tmp_path, mass("-x - d*der(x)", "x**2", d=2.0), SQUARES.format(method="slsqp"))
        ),
        lambda done, best: None,
    )
    s = np.array([0.6])
    d = 0.2 + 0.6 * 2.8
    assert search.slope(s)[0] == pytest.approx((0.5 - 0.5 / d**2) * 2.8, rel=1e-4)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("d = {", "dd = {"), "optimize.variables: no parameter 'dd'; did you mean 'd'"),
        (("d = {", '"2k" = {'), "optimize.variables: no parameter '2k'; known: d"),
        (
            ("[run]", "[[scenarios]]\nset = { load = 1.0 }\n[run]"),
            "scenarios: no parameter 'load'; known: d",
        ),
        (("end(cost)", "end(costs)"), "no column 'costs'; did you mean 'cost'"),
        (("end(cost)", "last(cost)"), "expected measure"),
        (('method = "slsqp"', 'method = "magic"'), "expected one of slsqp"),
        (("from = 0.2", "from = 9.0"), "expected from < to"),
        (("stop_time", "stop"), "unknown key 'stop'"),
        (('[optimize.measures]\n"end(cost)" = 1.0', ""), "is missing"),
        (
            ('method = "slsqp"', 'method = "slsqp"\nover = "most"'),
            "optimize.over: found 'most', expected worst or mean",
        ),
        (
            ('method = "slsqp"', 'method = "slsqp"\nseed = 0.5'),
            "optimize.seed: found 0.5, expected a whole number",
        ),
        (
            ('method = "slsqp"', 'method = "slsqp"\niterations = -1'),
            "optimize.iterations: found -1, expected a whole number",
        ),
        (
            ("{ from = 0.2, to = 3.0, start = 2.5 }", "{ from = 0.2 }"),
            "variables.d: expected { from = a, to = b, start = c }",
        ),
        (
            ("{ from = 0.2, to = 3.0, start = 2.5 }", "{ from = 0.2, to = 3.0, whole = 1 }"),
            "variables.d.whole: expected true or false, found 1",
        ),
        (
            ("[run]", '[optimize.constraints]\n"end(x)" = { most = 1.0 }\n[run]'),
            "expected { min = a, max = b }, one of them or both",
        ),
    ],
)
def test_optimisation_file_mistakes_are_named(tmp_path: Path, change: tuple[str, str], said: str):
    path = task(
        tmp_path,
        mass("-x - d*der(x)", "x**2", d=2.0),
        SQUARES.format(method="slsqp").replace(*change),
    )
    with pytest.raises(BadInput, match=said):
        optimise(read_task(path))


def test_optimize_command_prints_result(tmp_path: Path, capsys: pytest.CaptureFixture):
    path = task(tmp_path, mass("-x - d*der(x)", "x**2", d=2.0), SQUARES.format(method="slsqp"))
    out, page = tmp_path / "found.json", tmp_path / "page.html"
    assert cli.main(["optimize", str(path), "-o", str(out), "--report", str(page)]) == 0
    assert json.loads(out.read_text())["values"]["d"] == pytest.approx(1.0, abs=2e-3)
    text = page.read_text()
    assert (
        "data:image/png;base64," in text
        and "http://" not in text
        and "https://" not in text
        and "end(cost)" in text
    )
    assert "objective 1 after" in capsys.readouterr().out


def test_integer_variables_are_optimised(tmp_path: Path, capsys: pytest.CaptureFixture):
    """(n - 7.4)² + (y - 0.25)² by n whole and y not: 7 and 0.25, from all evaluations at whole n; other methods and bad bounds are refused."""
    d = {
        "name": "n",
        "parameters": {"n": 3.0, "y": 0.9},
        "states": {"s": {"rate": "(n - 7.4)**2 + (y - 0.25)**2"}},
        "outputs": {"cost": {"value": "s"}},
    }
    (tmp_path / "m.json").write_text(json.dumps(d))
    text = 'mechanism = "m.json"\n[optimize]\nmethod = "differential-evolution"\n[optimize.variables]\nn = { from = 1, to = 12, whole = true }\n'
    text += 'y = { from = 0, to = 1 }\n[optimize.measures]\n"end(cost)" = 1.0\n[run]\nstop_time = 1.0\noutput_step = 1.0\n'
    (tmp_path / "o.toml").write_text(text)
    found = optimise(read_task(tmp_path / "o.toml"), state=tmp_path / "o.jsonl")
    assert (
        found.values["n"] == 7.0
        and found.values["y"] == pytest.approx(0.25, abs=2e-3)
        and found.objective == pytest.approx(0.16, abs=1e-5)
    )
    rows = [
        json.loads(line)["at"][0] * 11 + 1
        for line in (tmp_path / "o.jsonl").read_text().splitlines()[1:]
    ]
    assert rows == pytest.approx(np.round(rows), abs=1e-9) and len(set(np.round(rows))) > 5
    for wrong, said in (
        ("differential-evolution", "slsqp"),
        ("to = 12,", "to = 12.5,"),
        ("{ from = 1, to = 12, whole = true }", "{ order = [1, 1] }"),
    ):
        (tmp_path / "w.toml").write_text(text.replace(wrong, said))
        with pytest.raises(
            BadInput, match="differential-evolution|whole numbers|list of the numbers"
        ):
            read_task(tmp_path / "w.toml")


@pytest.mark.slow
def test_optimisation_searches_order_of_departures(tmp_path: Path):
    """Three modules with their rails beside one another: of all six orders, each run by itself, the one with the least swing of the platform."""
    text = 'mechanism = "lib:carrier"\n[set]\nmodules = 3\n[optimize]\nmethod = "differential-evolution"\niterations = 3\n'
    text += '[optimize.variables]\norder = { order = 3 }\n[optimize.measures]\n"deviation(slew)" = 1000.0\n[run]\nstop_time = 4.0\n'
    (tmp_path / "o.toml").write_text(text)
    found = optimise(read_task(tmp_path / "o.toml"))
    sizes = {}
    for order in itertools.permutations((1, 2, 3)):
        result = load("lib:carrier", modules=3, order=list(order)).compile().simulate(stop_time=4.0)
        sizes[order] = 1000.0 * np.abs(result["slew"] - result["slew"][0]).max()
    best = min(sizes, key=sizes.__getitem__)
    assert [found.values[f"order[{k}]"] for k in (1, 2, 3)] == list(
        best
    ) and found.objective == pytest.approx(sizes[best], rel=1e-6)
    assert found.evaluations == 6 and max(sizes.values()) > 1.003 * min(
        sizes.values()
    )  # this deviation hardly depends on it


FAILING = """
iterations = 2
[optimize.variables]
k = { from = 1.0, to = 2.0, start = 1.5 }
[optimize.measures]
"growth" = 1.0
[run]
stop_time = 0.1
"""


@pytest.mark.parametrize("method", ["slsqp", "differential-evolution"])
def test_search_in_which_every_evaluation_fails_has_no_result(tmp_path, method):
    """A force that is never in balance: the reason of the first failure is told, and no optimum is."""
    path = task(tmp_path, mass("k", "0", k=1.5), f'[optimize]\nmethod = "{method}"\n{FAILING}')
    with pytest.raises(ArithmeticError, match="equilibrium"):
        optimise(read_task(path))


def test_evaluations_that_fail_are_counted_and_the_first_reason_is_kept(tmp_path):
    """A root of a negative number beyond k = 2: the search goes on with the others."""
    text = """
    [optimize]
    method = "differential-evolution"
    iterations = 3
    [optimize.variables]
    k = { from = 1.0, to = 3.0, start = 1.5 }
    [optimize.measures]
    "end(cost)" = 1.0
    [run]
    stop_time = 0.1
    """
    path = task(tmp_path, mass("-x*sqrt(2 - k)", "x**2", k=1.5), text)
    found = optimise(read_task(path))
    assert 0 < found.failed < found.evaluations and found.failure
    assert found.values["k"] <= 2.0 and found.objective < 1.0
