"""The long run of every fuzzer: `python3 scripts/dev.py fuzz --minutes 20 [--seed 1] [--kinds description,calls,...] [--out FOLDER]`.

Prints what was tried; what is found is shrunk and written to a file.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Protocol

from call_sequences import CallSequences, built, missing_tools
from controlled import ControlledMachines
from crossings import Crossings
from keys import Keys
from machines import Machines
from motions import Motions
from readers import Readers
from slopes import Slopes

READERS = ("description", "scenario", "study", "structure", "assembly", "modelica", "step")


class Fuzzer(Protocol):
    """Something that is tried round by round."""

    def round(self, draw: random.Random, out: Path) -> tuple[dict[str, int], list[str]]:
        """What was tried, by kind, and the findings."""
        ...


def fuzzers(wanted: list[str], folder: Path) -> list[Fuzzer]:
    """Those of the kinds that are wanted."""
    found: list[Fuzzer] = []
    if readers := [name for name in wanted if name in READERS]:
        found.append(Readers(readers))
    if "calls" in wanted:
        if why := missing_tools():
            print(f"calls are left out: {why}")
        else:
            found.append(CallSequences(built(folder)))
    if "keys" in wanted:
        found.append(Keys())
    if "motions" in wanted:
        found.append(Motions())
    if "crossings" in wanted:
        found.append(Crossings())
    if "machines" in wanted:
        found.append(Machines())
    if "controlled" in wanted:
        found.append(ControlledMachines())
    if "slopes" in wanted:
        found.append(Slopes())
    return found


def hunt(wanted: list[str], minutes: float, seed: int, out: Path) -> int:
    """Rounds until the time is over; 1 when something was found."""
    draw, end, tried, told = (
        random.Random(seed),
        time.monotonic() + 60 * minutes,
        Counter[str](),
        set[str](),
    )
    print(f"seed {seed}, {minutes:g} minutes: {', '.join(wanted)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        known = fuzzers(wanted, Path(folder))
        while known and time.monotonic() < end:
            for each in known:
                count, findings = each.round(draw, out)
                tried.update(count)
                for finding in findings:
                    word = finding.rsplit(": ", 1)[0]
                    if word not in told:
                        told.add(word)
                        print(f"FOUND {finding}", flush=True)
    print(
        f"tried {', '.join(f'{count} {name}' for name, count in tried.items())}: {len(told)} findings"
    )
    return int(bool(told))


def main() -> int:
    kinds = (*READERS, "keys", "calls", "motions", "crossings", "machines", "controlled", "slopes")
    parser = argparse.ArgumentParser(prog="dev.py fuzz", description="The fuzzers, for a while")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--kinds", default=",".join(kinds), help="which of " + ", ".join(kinds))
    parser.add_argument(
        "--out", type=Path, default=Path("fuzz-findings"), help="where findings are written"
    )
    options = parser.parse_args()
    if unknown := set(options.kinds.split(",")) - set(kinds):
        parser.error(f"unknown kind {', '.join(unknown)}; known: {', '.join(kinds)}")
    return hunt(options.kinds.split(","), options.minutes, options.seed, options.out)


if __name__ == "__main__":
    sys.exit(main())
