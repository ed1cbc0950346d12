"""What the matrix method costs: the rules against measured times (processor time of one process), bands beside dense matrices, the benchmark."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from kinetree.scripts import cli
from kinetree.scripts.bench import chain as bench
from kinetree.scripts.bench import chain_components, chain_plots
from kinetree.scripts.bench import chain_peers as peers
from kinetree.solvers import chain
from kinetree.solvers.chain import energy_doubling


def alone(name: str, settings: dict[str, str] | None = None) -> list[dict]:
    """A measurement in a process whose BLAS has one thread, with more settings of its environment."""
    code = f"import json; from kinetree.scripts.bench import chain_components; print(json.dumps(chain_components.{name}))"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"} | (
        settings or {}
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_predicted_doublings_match_printed_rule():
    """2n < 2^m/m."""
    assert (
        chain.cheaper_than_runge_kutta(20, 9)
        and not chain.cheaper_than_runge_kutta(200, 9)
        and not chain.cheaper_than_runge_kutta(1, 0)
    )


def test_large_angles_and_many_steps_select_the_matrix_method():
    few, many = (
        chain.operations(chain.scale(c.mass, c.damping, c.stiffness), c.dt)
        for c in (chain_components.uniform(100, a, 1) for a in (0.2, 50.0))
    )
    assert not few.pays(3) and many.pays(400) and not many.pays(400, renewals=10**6)


@pytest.mark.slow
def test_cost_rule_agrees_with_measured_times():
    """Which way is cheaper, wherever the times differ by more than half; counted ratios within a factor of three of the measured ones."""
    rows = alone("rule()")
    assert len(rows) == len(chain_components.RUNS) + len(chain_components.LIBRARY_RUNS)
    assert [row for row in rows if not row["agree"] and not 2 / 3 < row["measured"] < 3 / 2] == []
    assert [row for row in rows if not 1 / 3 < row["counted"] / row["measured"] < 3.0] == []


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["as it comes", "returned", "kept"])
def test_chosen_series_order_is_near_the_fastest(memory):
    """Never more than 20 % slower than a fixed choice, on every chain, also when freed memory always or never goes back to the system.

    The times are the least of seven in turns. Load of the machine only adds to them, so that a chain counts as slower when three measurements say so.
    """
    threshold = {"returned": 2**17, "kept": 2**30}.get(memory)
    settings = (
        {f"MALLOC_{name}_THRESHOLD_": str(threshold) for name in ("TRIM", "MMAP")}
        if threshold
        else {}
    )
    names: tuple[str, ...] = ()
    for _ in range(3):
        slower = [
            row for row in alone(f"choices(names={names!r})", settings) if row["slower"] > 0.2
        ]
        names = tuple({row["chain"]: None for row in slower})
        if not names:
            return
    assert slower == []


@pytest.mark.slow
def test_bands_beat_dense_matrices_below_the_fill_in_point():
    """Half-widths up to 0.4 n: doublings and steps are faster, memory less; the switch of the doublings lies where they cost the same."""
    rows = alone("bands(300, 400, 5)")
    narrow = [row for row in rows if row["half_width"] < 0.4 * row["n"]]
    assert len(narrow) >= 4
    for row in narrow:
        assert (
            row["band_doubling"] < row["dense_doubling"] and row["band_steps"] < row["dense_steps"]
        )
        assert row["band_memory_MB"] < row["dense_memory_MB"]
    assert narrow[0]["band_doubling"] < 0.2 * narrow[0]["dense_doubling"]
    assert abs(chain_components.fill_in(rows) - energy_doubling.FILL) < 0.2


def test_fill_in_lies_between_the_measured_points():
    rows = [
        {"n": 10, "half_width": w, "band_doubling": 2.0**w, "dense_doubling": 32.0}
        for w in (2, 4, 6)
    ]
    assert (
        chain_components.fill_in(rows) == pytest.approx(0.5)
        and chain_components.fill_in(rows[:2]) == 1.0
    )


CASES = [
    "two-mass cars",
    "random springs",
    "soft support",
    "lib:train",
    "lib:chain-drive",
    "lib:helical-spring",
]


def knots(name: str) -> tuple[peers.Case, np.ndarray]:
    """A small chain and its motion by D_0."""
    c = bench.case_of(name)[1] if name.startswith("lib:") else bench.case(name, 12, 100.0, 23)
    return c, np.hstack(bench.by_chain(c, 1e-13, "matrices"))


@pytest.mark.parametrize("name", CASES)
def test_matrix_exponential_peers_give_the_same_chain_motion(name):
    c, reference = knots(name)
    for found in (bench.by_chain(c, 1e-12), peers.by_expm(c), peers.by_blocks(c), peers.by_lsim(c)):
        assert bench.error(found, reference) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_adaptive_peers_give_the_same_chain_motion(name):
    """The first knots; tolerances times the angle of the fastest mode."""
    c, reference = knots(name)
    for peer, tolerance in ((peers.by_rk4, 1e-9), (peers.by_radau, 1e-8), (peers.by_cvode, 1e-9)):
        assert bench.error(peer(c, tolerance, 3), reference) < 1e-4


def test_forms_of_the_doubling_agree_with_extended_precision():
    """The energy form keeps its digits where the printed one loses them; U alone is no better."""
    rows = {
        (row["omega_dt"], row["ratio"], row["form"]): row
        for row in chain_components.forms(12, repeats=1)
    }
    stiff = {
        form: rows[1e4, 1e4, form]["U_0"]
        for form in ("energy form", "printed, U and W", "printed, U alone")
    }
    assert stiff["energy form"] < 1e-11 < min(stiff["printed, U and W"], stiff["printed, U alone"])
    assert all(
        row["U_0"] < 1e-12
        for (angle, _, form), row in rows.items()
        if angle == 1e2 and form != "extended precision"
    )


def test_chain_benchmark_writes_plots(tmp_path):
    rows = [
        {
            "chain": "two-mass cars",
            "n": n,
            "ratio": 1e4,
            "method": "kinetree chain",
            "seconds": 1e-3 * n,
            "error": 1e-9,
        }
        for n in (10, 200)
    ]
    chain_plots.plot({"results": rows, "bands": chain_components.bands(40, 10, 1)}, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "chain_size.png",
        "chain_stretch.png",
        "chain_bands.png",
    }


@pytest.mark.slow
def test_chain_benchmark_runs_a_description(tmp_path, capsys):
    """From the command line, with a file."""
    assert (
        cli.main(
            ["bench", "chain", "lib:helical-spring", "--quick", "--json", str(tmp_path / "b.json")]
        )
        == 0
    )
    assert "kinetree chain" in capsys.readouterr().out
    report = json.loads((tmp_path / "b.json").read_text())
    assert {row["chain"] for row in report["results"]} == {"Helical spring of 8 turns"} and report[
        "headline"
    ] > 1.0


def test_benchmark_file_without_chain_is_refused():
    assert (
        cli.main(["bench", "numbers", "x.toml"]) == 2 and cli.main(["bench", "fmu", "x.toml"]) == 2
    )
