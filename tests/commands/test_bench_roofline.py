"""Where microseconds go: what valgrind tells is read and set beside what the processor can do; pictures of published couplings."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kinetree.models import load
from kinetree.scripts.bench import instructions, roofline
from kinetree.scripts.cosim import benchmarks, oscillator
from kinetree.scripts.terminal.error_messages import BadInput

# by kind: loads, stores, operations
TOLD = """==1==  type        Loads       Stores       AluOps
==1==  -------------------------------------------
==1==  I64     {a:,}        1,000          5,000
==1==  F64     200              0          {b:,}
==1==  V256    10             20           4
"""


def test_operation_load_and_byte_counts_are_parsed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Numbers of one evaluation: the difference of a long and of a short call."""
    lines = []

    def run(line: list[str], **options: object) -> SimpleNamespace:
        lines.append(line)
        size = int(line[-5])
        return SimpleNamespace(stderr=TOLD.format(a=1000 + 8 * size, b=7000 + 3 * size))

    case = instructions.evaluations("a tree", "lib:pendulum")
    monkeypatch.setattr(roofline.subprocess, "run", run)
    found = roofline.counts(case, tmp_path / "engine.so", 100)
    assert (
        found["flops"] == 7300 + 4 * 4
        and found["loads"] == 1800 + 200 + 10
        and found["stores"] == 1020
    )
    assert found["bytes"] == 8 * (1800 + 1000) + 8 * 200 + 32 * 30 and lines[0][:2] == [
        "valgrind",
        "--tool=lackey",
    ]
    monkeypatch.setattr(roofline, "ROUNDS", 2)
    monkeypatch.setattr(
        roofline, "count", lambda case, engine: {"total": 50.0, "motion": 30.0, "place": 20.0}
    )
    monkeypatch.setattr(roofline, "seconds", lambda case, engine: 1e-6)
    roof = {"flops": 6e6, "loads": 16e6, "latency": 1e-9}
    row = roofline.measure(case, tmp_path, roof, 700.0)
    assert (row["flops"], row["loads"]) == (3.0, 8.0) and row["functions"] == {
        "motion": 0.6,
        "place": 0.4,
    }
    assert row["shares"] == pytest.approx({"operations": 0.5, "loads": 0.5, "waiting": 0.7})
    assert row["bottleneck"] == "waiting"


def test_longest_dependent_operation_chain_is_found():
    """A chain of n pendulums waits longer the longer it is; one pendulum waits for a sine and a product or two."""
    chains = [roofline.longest_chain(load("lib:chain", n=n).compile()) for n in (2, 4, 6)]
    assert chains == sorted(chains) and chains[2] > 1.5 * chains[0]
    assert 12.0 <= roofline.longest_chain(load("lib:pendulum").compile()) <= 16.0


def test_roofline_table_is_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    row = {
        "us": 1.5,
        "instructions": 50.0,
        "flops": 3.0,
        "loads": 8.0,
        "stores": 1.0,
        "bytes": 2e3,
        "shares": {"operations": 0.5, "loads": 0.25, "waiting": 0.1},
        "chain": 80.0,
        "bottleneck": "operations",
    }
    monkeypatch.setattr(roofline, "require_valgrind", lambda who: None)
    monkeypatch.setattr(roofline, "library", lambda: tmp_path)
    monkeypatch.setattr(roofline, "roofs", lambda: {"flops": 4e9, "loads": 3e9, "latency": 8e-10})
    monkeypatch.setattr(
        roofline,
        "measure",
        lambda case, engine, roof, chain: {"case": case.name, **row, "functions": {"motion": 0.6}},
    )
    roofline.run(True, tmp_path / "kept.json", None)
    said = capsys.readouterr().out
    assert "multiply-adds on single numbers 4.0 GFlop/s" in said
    assert (
        "| 1.50 | 50 | 3 | 8 | 1 | 2.0 | 50 % | 25 % | 260 | 10 % | operations | motion 60 % |"
        in said
    )
    assert [
        each["case"] for each in json.loads((tmp_path / "kept.json").read_text())["results"]
    ] == [case.name for case, *_ in roofline.cases()[:2]]


def test_roofline_kernels_compute_expected_sums():
    """In plain Python: the sums of geometric series, and of what stands at their places."""
    x, values = 0.5, np.arange(2048.0)
    series = sum((0.1 * k) * x**4 + 0.1 * k * sum(x**i for i in range(4)) for k in range(1, 9))
    assert roofline.multiply_adds.py_func(x, 4) == pytest.approx(series)
    assert roofline.waiting.py_func(x, 3) == pytest.approx(0.1 * (1 + x + x**2 + x**3))
    starts = (0, 131, 257, 389, 521, 653, 787, 919)
    assert roofline.reads.py_func(values, 3) == sum(start + k for start in starts for k in range(3))
    assert roofline.fastest(lambda: None) >= 0.0


def test_missing_valgrind_skips_counting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(instructions.shutil, "which", lambda name: None)
    with pytest.raises(BadInput, match="bench roofline needs valgrind: install it with"):
        roofline.run(True, None, None)
    failed = SimpleNamespace(returncode=3, stderr="first\nillegal instruction")
    monkeypatch.setattr(instructions.subprocess, "run", lambda line, **options: failed)
    case = replace(instructions.evaluations("a tree", "lib:pendulum"), count=1)
    with pytest.raises(BadInput, match="'a tree' ended with 3: illegal instruction"):
        instructions.count(case, tmp_path / "engine.so")


def test_published_couplings_are_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """What is published of the arm lies where the masters' errors are compared with it."""
    assert benchmarks.arm_sum(0.0, 0.0, 0.0) == 0.0 and benchmarks.arm_sum(
        0.0, 3e6, 4e6
    ) == pytest.approx(5.0)
    assert benchmarks.energy_error("jacobian", 0.02) < benchmarks.energy_error("held", 0.02)
    monkeypatch.setattr(benchmarks, "energy_error", lambda case, step: step**2)
    monkeypatch.setattr(
        benchmarks, "manipulator_error", lambda cut, step, exact: step if step < 1e-2 else np.nan
    )
    monkeypatch.setattr(benchmarks, "arm_error", lambda case, step: -step)
    monkeypatch.setattr(benchmarks, "run_wired", lambda *given: Fine())
    benchmarks.draw(str(tmp_path / "couplings.png"))
    assert (tmp_path / "couplings.png").read_bytes().startswith(b"\x89PNG")


class Fine:
    """A run that stands for the exact one."""

    class Trace(dict):
        time = np.zeros(2)

    trace = Trace({"mechanics.s": np.zeros(2)})


def test_map_of_stable_steps_is_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(
        oscillator,
        "largest_step",
        lambda case, damping: (
            oscillator.LARGEST if case == next(iter(oscillator.CASES)) else damping
        ),
    )
    oscillator.draw(str(tmp_path / "steps.png"))
    assert (tmp_path / "steps.png").read_bytes().startswith(b"\x89PNG")
