"""Runs an archive's macOS library, mapped into this Linux process, in fmpy.

`python -m kinetree.scripts.fmi.mapped_host ARCHIVE KIND STEP COUNT NAMES` prints the last values.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

from fmpy import fmi1

from kinetree.fmu.native.binaries import place_of
from kinetree.scripts.fmi.fmpy_host import Archive
from kinetree.scripts.fmi.host_programs import RESULT, Task, by_fmpy
from kinetree.scripts.fmi.mach_library import MachLibrary
from kinetree.solvers.library.platforms import PLATFORMS


def main() -> int:
    """Run the archive and print the last values."""
    path, kind, step, count, names = sys.argv[1:]
    with Archive(path) as archive:
        task = Task(archive, kind == "ME", json.loads(names), float(step), int(count))
        target = PLATFORMS["darwin64"]
        place = place_of(target, task.identifier, archive.version)
        mapped = MachLibrary(Path(archive.folder) / place)
        fmi1.cdll = SimpleNamespace(LoadLibrary=lambda path: mapped)
        fmi1.freeLibrary = lambda handle: None
        print(RESULT, json.dumps(by_fmpy(task, target)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
