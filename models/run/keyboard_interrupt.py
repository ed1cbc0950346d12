"""Ctrl-C during a long call of the engine: the engine occupies the main thread, so another thread
passes on the request.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from kinetree.solvers import unit_layout as U

CANCEL = U.UNIT_HEAD.at("cancel")


@contextlib.contextmanager
def interruptible(work: np.ndarray) -> Iterator[None]:
    """Context manager in which SIGINT stops a running advance between two steps.

    The system's signal handler writes signal numbers to a socket, which another thread reads while
    the engine computes.
    """
    if threading.current_thread() is not threading.main_thread() or not callable(
        signal.getsignal(signal.SIGINT)
    ):
        yield
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    listener = threading.Thread(target=forward_signals, args=(reader, work, before), daemon=True)
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)
        writer.close()  # ends the thread
        listener.join()
        reader.close()
        work[CANCEL] = 0.0


def forward_signals(reader: socket.socket, work: np.ndarray, others: int) -> None:
    """Pass SIGINT on to the engine, and every signal to the previous handlers."""
    while heard := reader.recv(64):
        if signal.SIGINT in heard:
            work[CANCEL] = 1.0
        if others >= 0:
            with contextlib.suppress(OSError):
                os.write(others, heard)


def raise_if_interrupted(result: Any) -> Any:
    """Return the result of a run that is part of longer work; raise KeyboardInterrupt if the run
    was interrupted.
    """
    if getattr(result, "interrupted", ""):
        raise KeyboardInterrupt
    return result
