"""Benchmarks of integrators, chains, FMUs and the carrier at their smallest size, and all benchmarks one after another."""

import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kinetree.scripts import cli
from kinetree.scripts.bench import all as everything
from kinetree.scripts.bench import (
    carrier,
    chain,
    chain_components,
    chain_plots,
    dynamics,
    fmu,
    integrate,
    integrator_problems,
    integrators,
)
from kinetree.scripts.bench import chain_peers as peers
from kinetree.scripts.bench.integrate_cases import Case
from kinetree.scripts.bench.integrate_exudyn import exudyn_points
from kinetree.scripts.terminal.error_messages import BadInput


def test_integrator_benchmark_agrees_with_peers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Errors fall with the tolerance, for everybody; the cheapest run of an accuracy is told."""
    pytest.importorskip("sksundae")
    monkeypatch.setattr(integrators, "REPEATS", 1)
    from scipy.integrate import solve_ivp

    def kepler(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate((y[2:], -y[:2] / np.hypot(*y[:2]) ** 3))

    def run(
        name: str, case: integrator_problems.Problem, times: np.ndarray, memory: dict
    ) -> SimpleNamespace:
        """In the place of ours, which take seconds to compile: an explicit method at the tolerance."""
        if memory.get("rtol") == 1e-3:
            return SimpleNamespace(status=7, seconds=1.0)
        done = solve_ivp(
            kepler, (0.0, case.stop), case.start, rtol=memory.get("rtol", 1e-6), atol=1e-12
        )
        return SimpleNamespace(status=0, states=done.y.T, evaluations=done.nfev, seconds=1e-3)

    monkeypatch.setattr(integrators, "run_method", run)
    monkeypatch.setattr(
        integrators,
        "memory",
        lambda name, case, rtol=1e-6, atol=1e-6, **options: {"rtol": rtol, **options},
    )
    monkeypatch.setattr(
        integrators,
        "cases",
        lambda quick: [
            integrator_problems.kepler(0.5, 1.0),
            integrator_problems.kepler(0.5, 0.5)._replace(stiff=True),
        ],
    )
    report = integrators.run(True, tmp_path / "kept.json", tmp_path)
    orbit, part = report["problems"].values()
    assert {"rk4", "DOP853", "CVODE Adams"} <= set(orbit) and {
        "radau",
        "Radau",
        "CVODE BDF",
    } <= set(part)
    for curves in (orbit, part):
        for name, points in curves.items():
            errors = [point["error"] for point in points if "error" in point]
            assert errors[-1] <= max(errors[0], 1e-11) and points[-1]["evaluations"] > 0, name
    assert orbit["adams"][0] == {"setting": 1e-3, "status": 7}, "what fails is kept as such"
    assert integrators.with_reference(
        integrator_problems.kepler(0.5, 1.0)._replace(end=None)
    ).end == pytest.approx(integrator_problems.kepler(0.5, 1.0).end, abs=1e-5)
    assert (
        integrators.best(orbit["adams"], 1e-6)["error"] <= 1e-6
        and integrators.best(orbit["adams"], 0.0) is None
    )
    assert (
        json.loads((tmp_path / "kept.json").read_text()) == report
        and (tmp_path / "integrators-2.png").stat().st_size > 0
    )


def test_mechanism_benchmark_agrees_with_peers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    pytest.importorskip("sksundae")
    from kinetree.models import load

    case = Case(
        "smooth tree", "pendulum", lambda: load("lib:pendulum").compile(), 0.3, 1.0, corners=(0.1,)
    )
    skipped = case._replace(name="never", quick=False)
    monkeypatch.setattr(integrate, "REPEATS", 1)
    monkeypatch.setattr(integrate, "CASES", (case, skipped))
    integrate.run(True, tmp_path / "kept.json", None)
    (found,) = json.loads((tmp_path / "kept.json").read_text())["results"]
    for points in (
        found["ours"]["adams"],
        found["ours"]["adams, straight-line"],
        found["peers"]["CVODE"],
        found["peers"]["LSODA"],
    ):
        assert points[-1][1] < 1e-5, "the error at the tightest tolerance"
    assert found["ratios"] and "time of the best peer over ours" in capsys.readouterr().out


def test_failing_method_is_reported_and_skipped(capsys: pytest.CaptureFixture):
    def once(
        system: object, case: Case, name: str, tolerance: float
    ) -> tuple[np.ndarray, int, float]:
        if tolerance < 1e-3:
            raise RuntimeError("status 3\nand more")
        return np.zeros((1, 1)), 5, integrate.PEER_LIMIT + tolerance

    case = Case("class", "name", lambda: None, 1.0, 1.0)  # type: ignore[arg-type, return-value]
    (point,) = integrate.curve(once, 1, case, "Radau", [1e-4, 1e-2, 1e-3], np.ones((1, 1)))
    assert point == (1e-2, 1.0, 5, integrate.PEER_LIMIT + 1e-2), (
        "what takes too long ends the curve"
    )
    assert capsys.readouterr().out.strip() == "Radau at 0.0001: status 3"
    assert (
        "not reached by ours"
        in list(
            integrate.lines(
                {"class": "a", "case": "b", "us": 1.0, "row us": 0.0, "ours": {}, "peers": {}}, 1.0
            )
        )[-1]
    )


def test_exudyn_error_decreases_with_step_size():
    pytest.importorskip("exudyn")
    found = exudyn_points("loops", 2.0, np.zeros(0), np.zeros(0), True)
    errors = [point[1] for point in found["Exudyn generalised alpha"]]
    assert len(errors) == 4 and all(b < a for a, b in zip(errors, errors[1:], strict=False))


def test_chain_benchmark_methods_agree(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """All ways give the same motion; the report is printed and drawn."""
    pytest.importorskip("sksundae")
    made = chain.compare(
        "two-mass cars", chain.case("two-mass cars", 6, 1e2, 4), 1, slow_peers=True, explicit=True
    )
    assert {row["method"] for row in made} == set(chain_plots.METHODS)
    assert (
        all(row["error"] < 1e-4 for row in made) and sum(row["error"] < 1e-7 for row in made) >= 6
    )
    made += chain.compare("soft support", chain.case("soft support", 4, 1e2, 4), 1)
    bands = chain_components.bands(12, 3, 1, (0.1, 0.5))
    rows = chain_components.choices(1, ("uniform, 30",), (1.0,))
    assert rows[0]["slower"] >= 0.0 and rows[0]["chosen"]
    monkeypatch.setattr(chain_components, "RUNS", ((6, 1.0, 3),))
    monkeypatch.setattr(chain_components, "LIBRARY_RUNS", ())
    report = {
        "machine": chain.machine(),
        "results": made,
        "headline": 3.0,
        "bands": bands,
        "choices": rows,
        "rule": chain_components.rule(),
    }
    report |= {
        "fill_in": {what: chain_components.fill_in(bands, what) for what in ("doubling", "steps")},
        "forms": chain_components.forms(6, 3, 1),
    }
    chain_plots.show(report)
    said = capsys.readouterr().out
    assert (
        "headline: 3.0" in said
        and "dense is faster from half-widths of" in said
        and "counted" in said
        and "SUNDIALS CVODE" in said
    )
    chain_plots.plot(report, tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.png")) == [
        "chain_bands.png",
        "chain_size.png",
        "chain_stretch.png",
    ]


def test_chain_benchmark_reads_chain_from_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A chain of a description under its own forces; what is none is refused before anything is measured."""
    name, case = chain.case_of("lib:train")
    assert case.steps > 10 and case.force.shape == (case.steps + 1, len(case.channels)) and name
    short = case._replace(force=case.force[:5])
    monkeypatch.setattr(chain, "case_of", lambda source: (name, short))
    monkeypatch.setattr(chain, "case", lambda kind, n, ratio, steps: peers_case(4, 4))
    found = chain.measure(True, "lib:train")
    assert (
        found["results"][0]["n"] == len(case.mass)
        and found["headline"] == found["results"][0]["best_equal_peer_over_chain"]
    )


def peers_case(n: int, steps: int) -> peers.Case:
    return chain_components.uniform(n, 1.0, steps)


def test_fmu_benchmark_compares_with_minimal_fmu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    whole = fmu.median
    monkeypatch.setattr(fmu, "median", lambda call, repeats=2000: whole(call, 20))
    rows = [{"model": "minimal", "backend": name, "packed": math.nan, **fmu.facts(make(tmp_path / f"minimal-{name}.fmu"))}
            for name, make in (("native", fmu.minimal_native), ("python", fmu.minimal_python))]  # fmt: skip
    path = tmp_path / "chain.fmu"
    fmu.build_fmu(fmu.load(fmu.chain(2)), path, "native", integrator="rk4")
    rows.append({"model": "chain of 2", "backend": "native", "packed": 0.1, **fmu.facts(path)})
    assert (
        all(row["step"] > 0.0 and row["cold"] > 0.0 and row["size"] > 0.0 for row in rows)
        and rows[0]["values"] == 1
    )
    assert rows[0]["step"] < rows[1]["step"], "a step in C costs less than one in Python"
    fmu.show({"machine": "here", "step_s": fmu.STEP, "rows": rows})
    said = capsys.readouterr().out
    assert "chain of 2" in said and "1.0x" in said


def test_carrier_benchmark_reports_steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name, value in (("RUNS", 1), ("CHECKED", 0.05), ("MODULES", (1, 2))):
        monkeypatch.setattr(carrier, name, value)
    left, steps, costs = carrier.departures, carrier.steps, carrier.costs
    monkeypatch.setattr(carrier, "departures", lambda n: left(1))
    monkeypatch.setattr(
        carrier, "steps", lambda *case: steps("carrier", 1, "rk4", carrier.STEP, 0.02)
    )
    monkeypatch.setattr(carrier, "costs", lambda name, n: costs(name, n // 4))
    carrier.run(True, tmp_path / "kept.json", tmp_path)
    found = json.loads((tmp_path / "kept.json").read_text())
    assert found["departures"][0]["modules"] == 1 and found["departures"][0]["events"] >= 1
    (row,) = found["steps"]
    assert row["error"] < 1e-6 and row["largest"] >= row["p99.9"] >= row["median"] > 0.0
    one, two = (next(each for each in found["methods"] if each["modules"] == n) for n in (1, 3))
    assert one["flops"]["DEC"] < two["flops"]["DEC"] and one["times"]["engine"] > 0.0
    assert (tmp_path / "carrier_methods.png").stat().st_size > 0


def test_selection_diagrams_of_forms_are_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    cases = dynamics.full_cases()
    assert len(cases) == 2 * (3 * len(dynamics.SIZES) + 2 * len(dynamics.LARGE))
    monkeypatch.setattr(dynamics.trees, "JOINTS", {"revolute": 1})
    whole = dynamics.regions.diagram
    monkeypatch.setattr(dynamics.regions, "diagram", lambda joint: whole(joint, (1, 2)))
    assert (
        len(dynamics.choices()) == 4
        and "prediction names the fastest in" in capsys.readouterr().out
    )


def test_bench_all_compares_with_previous_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """The second run is compared with the first; what fails is told with its last line and keeps what was there."""
    assert "all" not in everything.others() and everything.others()[0] == "instructions"
    script = "import json, sys; json.dump({'results': [{'robot': 'a', 'us': float(sys.argv[2])}]}, open(sys.argv[1], 'w'))"
    times = {"quick": "1.0", "slow": "2.0"}

    def run(command: list[str], **options: object) -> object:
        name, path = command[4], command[-1]
        if name == "broken":
            return plain(
                [sys.executable, "-c", "import sys; sys.exit('first\\nno such thing')"], **options
            )
        return plain([sys.executable, "-c", script, path, times[name]], **options)

    plain = everything.subprocess.run
    monkeypatch.setattr(everything.subprocess, "run", run)
    monkeypatch.setattr(everything, "others", lambda: ["quick", "broken", "slow"])
    monkeypatch.setattr(everything, "kept_path", lambda: tmp_path / "bench" / "here.json")
    everything.run(True, tmp_path / "first.json", None)
    first = json.loads((tmp_path / "first.json").read_text())
    assert (
        first["broken"] == {"failed": "no such thing"} and first["quick"]["results"][0]["us"] == 1.0
    )
    capsys.readouterr()
    times["slow"] = "3.0"
    everything.run(True, None, None)
    said = capsys.readouterr().out
    assert (
        "2 times beside the last run here, now / then; 1 changed" in said
        and "1.50  slow / results / a / us: 2 -> 3" in said
    )
    assert set(json.loads((tmp_path / "bench" / "here.json").read_text())) == {"quick", "slow"}
    everything.run(True, None, None, against=tmp_path / "first.json")
    assert "1.50  slow / results / a / us: 2 -> 3" in capsys.readouterr().out
    with pytest.raises(BadInput, match="nowhere"):
        everything.run(True, None, None, against=tmp_path / "nowhere.json")
    monkeypatch.setattr(
        everything.subprocess,
        "run",
        lambda *given, timeout, **options: plain(["sleep", "5"], timeout=0.05),
    )
    assert everything.measured("slow", tmp_path, 0.05) == {"failed": "not done after 0 s"}


def test_benchmarks_are_listed_and_wrong_names_refused(
    capsys: pytest.CaptureFixture, tmp_path: Path
):
    assert cli.main(["bench"]) == 0 and "robots\nroofline\n" in capsys.readouterr().out
    assert (
        cli.main(["bench", "robot"]) == 2
        and "bench robot: expected one of" in capsys.readouterr().err
    )
    assert cli.main(["bench", "loops", "a.toml", "--plots", str(tmp_path / "new")]) == 2
    assert (
        "bench loops: takes no file, got a.toml" in capsys.readouterr().err
        and (tmp_path / "new").is_dir()
    )
