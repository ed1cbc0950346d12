"""A plugin of pytest: tells coverage.py which test runs, so that every line knows its tests; notes seconds and failures; ends what takes too long."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from types import FrameType

import pytest

TIMES = (
    "KINETREE_REACHED_TIMES"  # the file for the seconds of the processor of every test that passed
)
FAILED = "KINETREE_REACHED_FAILED"  # the file for the names of tests that failed
LIMIT = "KINETREE_REACHED_LIMIT"  # seconds after which a test is left out, kernels as plain Python are slow, or fails where failures are noted
STARTERS = {
    "__main__.py",
    "cmdline.py",
    "execfile.py",
}  # of coverage.py: they run all that is measured
WAITING = 30.0  # how much longer a test may take that does not compute
SECONDS: dict[str, float] = {}
kept = 0.0  # when they were written last


def too_slow(number: int, frame: FrameType | None) -> None:
    """Leave the test, but not from within coverage.py: it would keep its lock for ever, and trace nothing any more."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.parent.name == "coverage" and path.name not in STARTERS:
            signal.setitimer(signal.ITIMER_PROF, 0.01)
            return
        frame = frame.f_back
    if os.environ.get(FAILED):
        pytest.fail("takes too long")
    pytest.skip("takes too long here")


def pytest_configure() -> None:
    """Lines of packed slaves count where they stand; without coverage.py nothing is changed."""
    try:
        from coverage import Coverage
    except ImportError:
        return
    if Coverage.current() is not None:
        from packed_slaves import install

        install()


def switch(context: str) -> None:
    """Lines from now on belong to this test; without coverage.py there is nobody to tell."""
    try:
        from coverage import Coverage
    except ImportError:
        return
    if (measuring := Coverage.current()) is not None:
        measuring.switch_context(context)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    """What fixtures of a module do counts for the test that asked first."""
    switch(item.nodeid)
    for each in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(each, too_slow)
    before = computed()
    result = yield
    switch("")
    if item.nodeid in SECONDS:
        SECONDS[item.nodeid] = round(computed() - before, 3)
    keep(at_most_every=5.0)
    return result


def computed() -> float:
    """Seconds of the processor so far, of this process and of those that it started: another load of the machine leaves them as they are."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    limit = float(os.environ.get(LIMIT, "0"))
    if limit:
        signal.setitimer(signal.ITIMER_PROF, limit)
        signal.setitimer(signal.ITIMER_REAL, WAITING * limit, limit)
    try:
        return (yield)
    finally:
        if limit:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.setitimer(signal.ITIMER_REAL, 0.0)


def failed(name: str) -> None:
    if file := os.environ.get(FAILED):
        with open(file, "a", encoding="utf-8") as stream:
            stream.write(name + "\n")


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        failed(report.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        failed(report.nodeid)
    if report.passed:
        SECONDS.setdefault(report.nodeid, 0.0)
    else:
        SECONDS.pop(report.nodeid, None)


def pytest_sessionfinish() -> None:
    keep()


def keep(at_most_every: float = 0.0) -> None:
    """Write down what is known, before the end too: a process may be ended."""
    global kept
    if (file := os.environ.get(TIMES)) and time.monotonic() - kept >= at_most_every:
        Path(file).write_text(json.dumps(SECONDS), encoding="utf-8")
        kept = time.monotonic()
