"""Distributions, spreads of points, measures; studies on several processes, resumed, reported."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from kinetree.scripts import cli
from kinetree.scripts.measures.run_measures import measured, parsed
from kinetree.scripts.studies.samplers import Correlated, Distribution, cube, drawn
from kinetree.scripts.studies.sobol_indices import indices, saltelli
from kinetree.scripts.studies.study_report import rank_correlations


def test_distributions_have_their_moments():
    """4096 points of a Sobol sequence: means to 1e-3 of the spread, deviations to 1 %."""
    spreads = {
        "u": Distribution("uniform", -1.0, 3.0),
        "n": Distribution("normal", 5.0, 2.0),
        "l": Distribution("lognormal", 4.0, 1.5),
    }
    found = drawn("sobol", spreads, 4096, 1)
    assert found["u"].mean() == pytest.approx(1.0, abs=4e-3) and found["u"].std() == pytest.approx(
        4 / np.sqrt(12), rel=1e-2
    )
    assert found["n"].mean() == pytest.approx(5.0, abs=4e-3) and found["n"].std() == pytest.approx(
        2.0, rel=1e-2
    )
    assert np.median(found["l"]) == pytest.approx(4.0, rel=2e-3) and np.log(
        found["l"]
    ).std() == pytest.approx(np.log(1.5), rel=1e-2)


SPREADS = {
    "a": Distribution("normal", 5.0, 2.0),
    "u": Distribution("uniform", 0.0, 1.0),
    "b": Distribution("normal", -1.0, 0.5),
}
SPREADS["c"] = Distribution("lognormal", 4.0, 1.5)
RHO = np.array([[1.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 1.0]])


@pytest.mark.parametrize("spread", ["random", "latin", "sobol"])
@pytest.mark.parametrize("key", ["correlation", "covariance"])
def test_correlated_parameters_have_the_covariance_that_was_given(spread: str, key: str):
    """N points: a covariance of two normal numbers is off by sqrt((1 + rho^2)/N) of their deviations, a mean by 1/sqrt(N); within four of these.

    The logarithms of the lognormal one count; what is not named stays as it is, alone.
    """
    sizes, N = np.array([2.0, 0.5, np.log(1.5)]), 4096
    given = RHO if key == "correlation" else RHO * np.outer(sizes, sizes)
    together = Correlated.among({"of": ["a", "b", "c"], key: given.tolist()}, SPREADS, "correlated")
    found = drawn(spread, SPREADS, N, 7, together)
    values = np.array([found["a"], found["b"], np.log(found["c"])])
    assert (np.abs(values.mean(axis=1) - [5.0, -1.0, np.log(4.0)]) < 4 * sizes / np.sqrt(N)).all()
    bound = 4 * np.outer(sizes, sizes) * np.sqrt((1 + RHO**2) / N)
    assert (np.abs(np.cov(values) - RHO * np.outer(sizes, sizes)) < bound).all()
    assert found["u"] == pytest.approx(drawn(spread, SPREADS, N, 7)["u"], abs=0) and abs(
        np.corrcoef(found["u"], found["b"])[0, 1]
    ) < 4 / np.sqrt(N)


def test_correlated_parameters_enter_cases(study: Path, capsys: pytest.CaptureFixture):
    """Logarithm of the stiffness and mass, nearly the same number; mistakes are named."""
    more = "[correlated]\nof = ['k', 'm']\ncovariance = [[{a}, {b}], [{b}, 0.01]]\n"
    size = float(np.log(1.3))
    good = more.format(a=repr(size**2), b=repr(0.999 * size * 0.1))
    study.write_text(STUDY + good)
    assert cli.main(["study", str(study), "-q", "-o", str(study.parent / "rows.csv")]) == 0
    found = rows(study.parent / "rows.csv")
    assert np.corrcoef(np.log(found[:, 0]), found[:, 1])[0, 1] > 0.99
    for wrong, said in (
        (
            good.replace("0.01]", "0.02]"),
            "the entry of 'm' with itself is 0.02, expected 0.01, the square of its deviation",
        ),
        (more.format(a=repr(size**2), b=repr(1.001 * size * 0.1)), "not positive definite"),
        (good.replace("'m'", "'z'"), "'z' is not drawn from a normal"),
        (good.replace("covariance", "spread"), "expected of = "),
        (good.replace("[[", "[[1, "), "expected a symmetric matrix of 2 rows"),
    ):
        study.write_text(STUDY + wrong)
        assert cli.main(["study", str(study), "-q"]) == 2 and said in capsys.readouterr().err
    study.write_text(STUDY.replace('"sobol"', '"indices"') + good)
    assert (
        cli.main(["study", str(study), "-q"]) == 2 and "found 'indices'" in capsys.readouterr().err
    )


def test_sobol_index_points_depend_on_seed():
    """Seeds may be any whole number; SALib takes those below 2^32."""
    pytest.importorskip("SALib")
    seen = [saltelli(2, 8, seed) for seed in (0, 1, 63, 64, 65, 2**31, 2**32 - 1)]
    assert all(not np.array_equal(a, b) for k, a in enumerate(seen) for b in seen[:k])
    assert np.array_equal(saltelli(2, 8, 2**32 + 1), seen[1]) and seen[0].shape == (32, 2)


@pytest.mark.parametrize("strange", ["constant", "with a gap", "infinite"])
def test_constant_measure_has_no_indices(strange: str):
    pytest.importorskip("SALib")
    points = saltelli(2, 8, 1)
    values = points[:, 0] + 0.1 * points[:, 1]
    assert indices(values, ["a", "b"])["ST"][0] > 0.9
    if strange == "constant":
        values[:] = 0.3
    else:
        values[5] = np.nan if strange == "with a gap" else np.inf
    assert all(
        np.isnan(found).all() and found.shape == (2,)
        for found in indices(values, ["a", "b"]).values()
    )


def test_latin_hypercube_fills_every_interval():
    points = cube("latin", 3, 50, 2)
    assert all(sorted((points[:, k] * 50).astype(int)) == list(range(50)) for k in range(3))
    for spread in ("random", "latin", "sobol"):
        assert (cube(spread, 2, 20, 3) == cube(spread, 2, 20, 3)).all() and (
            cube(spread, 2, 20, 3) != cube(spread, 2, 20, 4)
        ).any()


def test_measures_of_a_decay_match_formulas():
    """exp(-t) from 1: the integral is 1, it stays within 2 % of its change from ln 50 on."""
    t = np.linspace(0, 20, 20001)
    columns = {"y": np.exp(-t)}
    for text, right in (
        ("peak(y)", 1.0),
        ("integral(y)", 1.0),
        ("rms(y)", np.sqrt(1 / 40)),
        ("deviation(y)", 1.0),
        ("settling(y)", np.log(50)),
    ):
        assert measured(text, t, columns, lambda: None) == pytest.approx(right, abs=2e-3)
    assert parsed("max(force('a'))") == ("max", "force('a')")
    with pytest.raises(ValueError, match="expected measure"):
        parsed("median(y)")


def test_rank_correlations_of_monotone_laws_are_one():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=400), rng.normal(size=400)
    found = rank_correlations(np.column_stack((a, b, np.exp(3 * a), -(b**3), a * 0)), 2)
    assert (
        found[0] == pytest.approx([1.0, found[0, 1]])
        and found[1, 1] == pytest.approx(-1.0)
        and (found[2] == 0.0).all()
    )
    assert abs(found[0, 1]) < 4 / np.sqrt(400)


STUDY = """
mechanism = "m.json"
combine = "sobol"
samples = 16
seed = 3
rest = ["growth", "frequency"]
[vary]
k = { lognormal = [100.0, 1.3] }
m = { normal = [2.0, 0.1] }
[run]
stop_time = 1.0
output_step = 0.1
[report]
x = ["peak"]
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    mass = {"name": "m", "gravity": [0, 0, 0], "parameters": {"k": 100.0, "m": 2.0}}
    mass |= {
        "bodies": {"b": {"mass": "m", "inertia": [1, 1, 1, 0, 0, 0]}},
        "forces": {"s": {"coordinate": "x", "stiffness": "k", "damping": 1.0}},
    }
    mass |= {
        "joints": {
            "j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x", "start": 0.1}]}
        }
    }
    (tmp_path / "m.json").write_text(json.dumps(mass))
    path = tmp_path / "s.toml"
    path.write_text(STUDY)
    return path


def rows(path: Path) -> np.ndarray:
    with path.open() as stream:
        return np.array([*csv.reader(stream)][1:], dtype=float)


def test_worker_processes_write_the_same_file(study: Path):
    files = [study.parent / f"{k}.csv" for k in (1, 2)]
    for workers, file in zip(("1", "2"), files, strict=True):
        assert cli.main(["study", str(study), "-q", "--workers", workers, "-o", str(file)]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    found = rows(files[0])
    k, m, growth, frequency = found[:, 0], found[:, 1], found[:, 3], found[:, 4]
    assert growth == pytest.approx(-0.5 / m, rel=1e-9) and frequency == pytest.approx(
        np.sqrt(k / m) / (2 * np.pi), rel=1e-9
    )


def test_interrupted_study_continues(study: Path):
    """Half of the rows, the last line cut off: only what is missing is run, and the file is that of the whole study."""
    whole, part = study.parent / "whole.csv", study.parent / "part.csv"
    assert cli.main(["study", str(study), "-q", "-o", str(whole)]) == 0
    part.write_text("\n".join(whole.read_text().splitlines()[:8]) + "\n1.0,2.")
    (study.parent / "part.csv.study").write_bytes((study.parent / "whole.csv.study").read_bytes())
    assert cli.main(["study", str(study), "-q", "--resume", "-o", str(part)]) == 0
    assert part.read_bytes() == whole.read_bytes()
    part.write_text("a,b\n1,2\n")
    assert cli.main(["study", str(study), "-q", "--resume", "-o", str(part)]) == 2


def test_study_report_is_written(study: Path, capsys: pytest.CaptureFixture):
    page = study.parent / "page.html"
    assert cli.main(["study", str(study), "--report", str(page)]) == 0
    text = page.read_text()
    assert (
        "lognormal(100, 1.3)" in text
        and "0 % of 16 runs" in text
        and "data:image/png" in text
        and "https://" not in text
    )
    grid = (
        STUDY.replace('"sobol"', '"grid"')
        .replace("{ lognormal = [100.0, 1.3] }", "[50.0, 100.0]")
        .replace("{ normal = [2.0, 0.1] }", "[1.0, 2.0, 3.0]")
    )
    study.write_text(grid)
    assert (
        cli.main(["study", str(study), "-q", "--report", str(page)]) == 0
        and "Maps" in page.read_text()
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"sobol"', '"grid"'), "is a distribution"),
        (("[2.0, 0.1]", "[2.0, -0.1]"), "that spreads"),
        (("normal = [2", "gauss = [2"), "expected"),
        (('"growth"', '"groth"'), "expected one of 'growth'"),
    ],
)
def test_study_file_mistakes_are_named(
    study: Path, change: tuple[str, str], said: str, capsys: pytest.CaptureFixture
):
    study.write_text(STUDY.replace(*change))
    assert cli.main(["study", str(study), "-q"]) == 2 and said in capsys.readouterr().err
