"""Progress of long work: a bar on a terminal, a line every few seconds elsewhere, no output for
short work.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 2.0  # seconds before anything is shown
PAUSE = 5.0  # seconds between lines where there is no terminal


@contextmanager
def progress(
    title: str, end: float, quiet: bool = False, unit: str = "s"
) -> Iterator[Callable[[float], None]]:
    """Context manager that yields a function to report progress from 0 to `end`."""
    if quiet:
        yield lambda done: None
        return
    shown = Bar(title, end) if sys.stderr.isatty() else Lines(title, end, unit)
    try:
        yield shown.update
    finally:
        shown.close()


class Lines:
    """Progress as one line every few seconds."""

    def __init__(self, title: str, end: float, unit: str):
        self.title, self.end, self.unit = title, end, unit
        self.start = self.said = time.monotonic()

    def update(self, done: float) -> None:
        now = time.monotonic()
        if now - self.said >= PAUSE:
            self.said = now
            part = (
                f" of {self.end:.4g} {self.unit} ({100 * done / self.end:.0f} %)"
                if self.end > 0
                else f" {self.unit}"
            )
            print(
                f"{self.title}: {done:.4g}{part}, elapsed {now - self.start:.0f} s",
                file=sys.stderr,
                flush=True,
            )

    def close(self) -> None:
        pass


class Bar:
    """Progress bar of rich, imported and shown only when the work takes long."""

    def __init__(self, title: str, end: float):
        self.title, self.end = title, end
        self.start = time.monotonic()
        self.bar = None

    def update(self, done: float) -> None:
        if self.bar is None:
            if time.monotonic() - self.start < PATIENCE:
                return
            from rich.console import Console
            from rich.progress import Progress

            self.bar = Progress(console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task(self.title, total=self.end)
            self.bar.start()
        self.bar.update(self.task, completed=done)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
