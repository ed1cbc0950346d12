"""`python -m kinetree.solvers.library build [PLATFORM ...]`: compile the engine ahead of time.

PLATFORM adds engines for FMUs on other platforms: linux64, win64, aarch64-linux, darwin64,
aarch64-darwin.
"""

import sys
import time

from kinetree.solvers.library.build import build, objects_for
from kinetree.solvers.library.c_compiler import LibraryError
from kinetree.solvers.library.platforms import NATIVE


def main() -> int:
    if sys.argv[1:2] != ["build"] or not set(sys.argv[2:]) <= set(NATIVE):
        print(
            f"usage: python -m kinetree.solvers.library build [{' '.join(NATIVE)}]",
            file=sys.stderr,
        )
        return 2
    started = time.perf_counter()

    def say(text: str) -> None:
        print(f"  engine: {text} ({time.perf_counter() - started:.0f} s)", flush=True)

    try:
        print(build(say))
        for name in sys.argv[2:]:
            objects_for(NATIVE[name], say)
    except LibraryError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
