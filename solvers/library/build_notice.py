"""Builds a missing library when it is first needed and reports progress on standard error."""

from __future__ import annotations

import sys
import threading
import time

from kinetree.solvers.library.build import build
from kinetree.solvers.library.c_compiler import LibraryError

TOLD_EVERY = 15.0  # seconds between signs of life where the output is no terminal
TAKES = {"core": "about a minute", "forms": "about a minute", "lanes": "about a minute"}


def build_once(library: str) -> bool:
    """Build a library of this machine and return whether that worked; without a linker, print that
    kernels are compiled just in time instead.
    """
    print(
        f"Kinetree prepares its engine for this machine ('{library}', once, {TAKES[library]}) ...",
        file=sys.stderr,
        flush=True,
    )
    try:
        with signs_of_life():
            build(libraries=[library])
        return True
    except LibraryError as error:
        print(f"{error}; going on without it, which starts slowly", file=sys.stderr, flush=True)
        return False


class signs_of_life:
    """Context manager that shows the seconds passed: on one line of a terminal, or now and then in
    a log.
    """

    def __enter__(self) -> None:
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.tell, daemon=True)
        self.thread.start()

    def tell(self) -> None:
        live, started = sys.stderr.isatty(), time.monotonic()
        while not self.done.wait(1.0 if live else TOLD_EVERY):
            print(
                f"\r  {time.monotonic() - started:.0f} s"
                if live
                else f"  {time.monotonic() - started:.0f} s",
                end="" if live else "\n",
                file=sys.stderr,
                flush=True,
            )
        if live:
            print("\r         \r", end="", file=sys.stderr, flush=True)

    def __exit__(self, *reason: object) -> None:
        self.done.set()
        self.thread.join()
