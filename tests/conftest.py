"""Shared set-up of the tests: markers, and which files share a process."""

import gc

import pytest

MARKERS = {
    "slow": "takes more than a few seconds; left out of the fast suite",
    "platforms": "runs binaries of other platforms under Wine and QEMU; python3 scripts/dev.py platforms",
    "host": "loads built FMUs into a foreign FMI host",
}
ALIKE = ("tests/integrate/", "tests/run/test_integrators_")  # files that compile the same kernels, with numba: once, in one process


def pytest_configure(config) -> None:
    for name, text in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {text}")


def pytest_collection_finish() -> None:
    """A million objects of collected tests and imported modules stay to the end: nobody who looks for garbage should go through them again."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Files stay whole, as `--dist loadfile` has them, and those that are alike together."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "alike" if nodeid.startswith(ALIKE) else super()._split_scope(nodeid)

    return Together(config, log)
