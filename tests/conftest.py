"""Shared set-up of the tests: markers."""

MARKERS = {
    "slow": "takes more than a few seconds; left out of the fast suite",
    "platforms": "runs binaries of other platforms under Wine and QEMU; python3 scripts/dev.py platforms",
    "host": "loads built FMUs into a foreign FMI host",
}


def pytest_configure(config) -> None:
    for name, text in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {text}")
