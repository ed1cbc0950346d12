"""What benchmarks compare: counts of instructions by function, and times of the last run on this machine."""

import json
import shutil

import pytest

from kinetree.scripts import cli
from kinetree.scripts.bench import all as everything
from kinetree.scripts.bench import instructions
from kinetree.solvers.library.verified_files import library_path, sound

REPORT = """
--------------------------------------------------------------------------------
45,385,876 (100.0%)  PROGRAM TOTALS
 74,180 ( 0.16%)  ???:kinetree::solvers::engine::evaluation::place[abi:v60][abi:c8tJ](Blocks_28model_29) [/c/kinetree-core-x86-64-v3.so]
 61,720 ( 0.14%)  ???:kinetree::solvers::engine::kinematics::motion[abi:v65](Blocks_28model_29) [/c/kinetree-core-x86-64-v3.so]
  4,020 ( 0.01%)  ???:kt_in_abfcbd4aaad2d7dd_solve_accelerations_of [/c/kinetree-core-x86-64-v3.so]
  9,000 ( 0.01%)  ???:_PyEval_EvalFrameDefault [/usr/lib/libpython3.so]
"""


def test_counted_instructions_belong_to_the_engine():
    found = instructions.functions(REPORT, "kinetree-core-x86-64-v3.so")
    assert found == {
        "total": 139920.0,
        "engine.evaluation.place": 74180.0,
        "engine.kinematics.motion": 61720.0,
        "solve_accelerations_of": 4020.0,
    }


def counted(**functions: float) -> dict:
    counts = {"total": sum(functions.values())} | functions
    return {
        "versions": {"numba": "1"},
        "level": "x86-64-v3",
        "instructions": {"chain": counts},
        "python": "3.0",
        "bytecodes": {"compile": counts},
    }


def test_instruction_growth_names_the_function():
    """Two per cent more fails, less does not; what grew most comes first; other compilers are not compared."""
    before = counted(motion=1000.0, dec=1000.0)
    assert instructions.compare(before, counted(motion=1030.0, dec=1000.0)) == []
    for said in instructions.compare(before, counted(motion=1010.0, dec=1200.0)):
        assert "2000 -> 2210" in said and said.index("dec 1000 -> 1200") < said.index(
            "motion 1000 -> 1010"
        )
    for other, left in (({"versions": {"numba": "2"}}, "compile"), ({"python": "2.7"}, "chain")):
        (said,) = instructions.compare(before | other, counted(motion=9000.0))
        assert said.startswith(left)


def test_python_bytecode_counts_repeat_and_cover_own_code():
    """The same description takes the same instructions, to the last one, and functions are named."""
    first, second = instructions.compilation(), instructions.compilation()
    assert first == second and first["total"] == sum(first.values()) - first["total"]
    assert first["nodes.postorder"] > 0.0 and not any(name.startswith("typing.") for name in first)


def test_benchmark_without_comparison_reports_it(capsys):
    assert cli.main(["bench", "loops", "--quick", "--against", "b.json"]) != 0
    assert "compares nothing" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.skipif(
    not sound(library_path("core", instructions.counted_level())),
    reason="the engine is not built for the level that is counted",
)
def test_counts_repeat_to_the_last_instruction(tmp_path, capsys):
    """No clock is asked: two runs agree exactly, and a run compared with one of fewer instructions fails with the function named."""
    first = tmp_path / "first.json"
    assert cli.main(["bench", "instructions", "--quick", "--json", str(first)]) == 0
    assert (
        cli.main(
            [
                "bench",
                "instructions",
                "--quick",
                "--json",
                str(tmp_path / "second.json"),
                "--against",
                str(first),
            ]
        )
        == 0
    )
    kept = json.loads(first.read_text())
    assert kept == json.loads((tmp_path / "second.json").read_text())
    loops = kept["instructions"]["10 plane loops"]
    loops["total"] *= 0.9
    loops["loops.planar_loops.spread_in_plane"] = 0.0
    first.write_text(json.dumps(kept))
    assert cli.main(["bench", "instructions", "--quick", "--against", str(first)]) != 0
    assert "10 plane loops" in capsys.readouterr().err


def test_benchmark_times_are_found_in_nested_results():
    data = {
        "robots": {
            "results": [{"robot": "ur5", "freedoms": 6, "kernel": 0.4, "left": 1e-15}],
            "machine": "m",
        }
    }
    assert everything.times(data) == {"robots / results / ur5 6 / kernel": 0.4}
    said = everything.compared(
        {"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 1.05, "b": 1.5, "c": 0.5, "d": 3.0}
    )
    assert [line.split()[1] for line in said] == ["b:", "c:"]
