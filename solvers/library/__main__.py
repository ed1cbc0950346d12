"""`python -m kinetree.solvers.library build`: compile the engine once, so that nobody waits for it later."""

import sys
import time

from kinetree.solvers.library.build import LibraryError, build


def main() -> int:
    if sys.argv[1:] != ["build"]:
        print("usage: python -m kinetree.solvers.library build", file=sys.stderr)
        return 2
    started = time.perf_counter()

    def say(text: str) -> None:
        print(f"  engine: {text} ({time.perf_counter() - started:.0f} s)", flush=True)

    try:
        print(build(say))
    except LibraryError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
