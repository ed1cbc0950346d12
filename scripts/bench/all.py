"""Runs all benchmarks in their quick selection and compares their times with those of an earlier
run.

Every benchmark runs in a process of its own and writes a JSON file; all results together are stored
in the cache folder, one file per machine. A time is recognised by the name of its entry in that
JSON. Times on shared machines are noisy: `bench instructions` counts instructions instead.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import typer

from kinetree.scripts.bench.results_file import machine
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.solvers.cache import cache_root

BUDGET = 600.0  # seconds for everything
LONGEST = 180.0  # for one
TIMES = {
    "us",
    "ms",
    "seconds",
    "kernel",
    "call",
    "evaluator",
    "total",
    "median",
    "p99",
}  # what is a time, or counts like one
NOTED = 1.1  # ratio from which on a change is told


def others() -> list[str]:
    """Return the names of the benchmarks to run, short ones first; `all` and `hosts` are left out."""
    from kinetree.scripts.commands.bench import benchmarks

    names = [
        name for name in benchmarks() if name not in ("all", "hosts")
    ]  # the table of hosts has no times
    first = ("instructions", "robots", "loops", "dynamics")
    return [
        *(name for name in first if name in names),
        *(name for name in names if name not in first),
    ]


def measured(name: str, folder: Path, seconds: float) -> dict[str, Any]:
    """Run a benchmark in a process of its own and return its results, or the reason why it has
    none.
    """
    path = folder / f"{name}.json"
    command = [
        sys.executable,
        "-m",
        "kinetree.scripts.cli",
        "bench",
        name,
        "--quick",
        "--json",
        str(path),
    ]
    try:
        finished = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {seconds:.0f} s"}
    if finished.returncode or not path.is_file():
        lines = (finished.stderr or finished.stdout).strip().splitlines()
        return {"failed": lines[-1] if lines else f"ended with {finished.returncode}"}
    return json.loads(path.read_text(encoding="utf-8"))


def times(data: Any, place: tuple[str, ...] = ()) -> dict[str, float]:
    """Return every time in a result by its path; list entries are labelled by their words and
    integers.
    """
    found: dict[str, float] = {}
    if isinstance(data, dict):
        for name, each in data.items():
            found |= times(each, (*place, name))
    elif isinstance(data, list):
        for each in data:
            if isinstance(each, dict):
                words = [
                    str(value)
                    for value in each.values()
                    if isinstance(value, str)
                    or (isinstance(value, int) and not isinstance(value, bool))
                ]
                found |= times(each, (*place, " ".join(words)))
    elif (
        isinstance(data, float)
        and place
        and any(word in TIMES for word in re.split(r"\W|_", place[-1]))
        and data > 0.0
    ):
        found[" / ".join(place)] = data
    return found


def compared(before: dict[str, float], after: dict[str, float]) -> list[str]:
    """Return the times that differ by more than a tenth between two runs, the worst first."""
    ratios = {name: after[name] / before[name] for name in after if name in before}
    noted = sorted(
        (name for name, ratio in ratios.items() if not 1.0 / NOTED < ratio < NOTED),
        key=lambda name: -ratios[name],
    )
    return [
        f"{ratios[name]:5.2f}  {name}: {before[name]:.4g} -> {after[name]:.4g}" for name in noted
    ]


def kept_path() -> Path:
    """Return the path of the file that stores the last results of this machine."""
    return cache_root() / "bench" / f"{re.sub(r'[^A-Za-z0-9]+', '-', machine())}.json"


def results_of(path: Path) -> dict[str, Any]:
    """Read the results of an earlier run of all benchmarks from a JSON file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"--against {path}: cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise BadInput(f"--against {path}: expected what `bench all --json` wrote")
    return found


def run(
    quick: bool, json_path: Path | None, plots: Path | None, against: Path | None = None
) -> None:
    """Run all benchmarks, compare them with --against or with the last results, and store the new
    ones.
    """
    began, found = time.monotonic(), {}
    path = kept_path()
    kept = results_of(path) if path.is_file() else {}
    earlier = kept if against is None else results_of(against)
    with tempfile.TemporaryDirectory() as folder:
        for name in others():
            left = BUDGET - (time.monotonic() - began)
            found[name] = (
                measured(name, Path(folder), min(LONGEST, left))
                if left > 10.0
                else {"failed": "no time left"}
            )
            typer.echo(
                f"{name:14s} {time.monotonic() - began:5.0f} s   {found[name].get('failed', 'done')}"
            )
    if earlier:
        before, after = times(earlier), times(found)
        lines = compared(before, after)
        what = against or "the last run here"
        typer.echo(
            f"\n{len(before.keys() & after.keys())} times beside {what}, now / then; {len(lines)} changed by more than a tenth"
        )
        typer.echo("\n".join(lines))
    path.parent.mkdir(parents=True, exist_ok=True)
    done = {name: each for name, each in found.items() if "failed" not in each}
    path.write_text(json.dumps(kept | done, indent=1), encoding="utf-8")
    if json_path:
        json_path.write_text(json.dumps(found, indent=1), encoding="utf-8")
