"""`python -m kinetree.fmu.ship`: puts the engine for all platforms into this installation, from
which a wheel is built.

Such a wheel needs no compiler after installation: every file is searched in the user's cache first,
then here.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from kinetree.fmu.native.shell import shell_library
from kinetree.fmu.slave.loader import WITH_PYTHONFMU, loader
from kinetree.fmu.source.webassembly import CORE, LIVE, module_path
from kinetree.fmu.variables import FmuError
from kinetree.solvers.entries import LIBRARIES
from kinetree.solvers.library.build import build_all_levels, objects_for
from kinetree.solvers.library.c_compiler import LibraryError
from kinetree.solvers.library.platforms import NATIVE, this_platform
from kinetree.solvers.library.verified_files import SHIPPED, beside, library_folder, library_path


def ship(say: Callable[[str], None]) -> Path:
    """Build everything and copy it into the package, with sizes and hashes."""
    build_all_levels(say)
    own = this_platform()
    files = [
        library_path(name, level) for name in LIBRARIES for level in (own.levels if own else ())
    ]
    for target in NATIVE.values():
        files += [shell_library(target, say), *objects_for(target, say)]
        if target.name in WITH_PYTHONFMU:
            files += [loader(target, version) for version in (2, 3)]
    files += [module_path(module, say) for module in (LIVE, CORE)]
    folder = SHIPPED / library_folder().name
    shutil.rmtree(SHIPPED, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in dict.fromkeys(files):
        shutil.copy2(path, folder)
        shutil.copy2(beside(path), folder)
    return folder


def main() -> int:
    started = time.perf_counter()
    try:
        folder = ship(
            lambda text: print(f"  {text} ({time.perf_counter() - started:.0f} s)", flush=True)
        )
    except (LibraryError, FmuError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{folder}: {sum(path.stat().st_size for path in folder.iterdir()) / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
