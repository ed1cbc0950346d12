"""Shared set-up of the tests: markers, and no garbage of what stays to the end."""

import gc
import os
import random

from hypothesis import HealthCheck, settings

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS", "1"
)  # a process for every core: threads that wait for one another would spin most of the time

MARKERS = {
    "slow": "takes more than a few seconds; left out of the fast suite",
    "platforms": "runs binaries of other platforms under Wine and QEMU; python3 scripts/dev.py platforms",
    "host": "loads built FMUs into a foreign FMI host",
}


def pytest_addoption(parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run tests in a drawn order")


def pytest_collection_modifyitems(config, items) -> None:
    """Draw the order in which files are run, and of the tests of each: none may need another one."""
    seed = config.getoption("--shuffle")
    if seed is not None:
        draw, files = random.Random(seed), sorted({str(item.path) for item in items})
        draw.shuffle(files)
        draw.shuffle(items)
        items.sort(key=lambda item: files.index(str(item.path)))


def pytest_configure(config) -> None:
    for name, text in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {text}")
    settings.register_profile("any load", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
    settings.load_profile("any load")


def pytest_collection_finish() -> None:
    """A million objects of collected tests and imported modules stay to the end: nobody who looks for garbage should go through them again."""
    gc.freeze()
