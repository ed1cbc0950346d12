"""Shared set-up of the tests: markers."""

MARKERS = {
    "slow": "takes more than a few seconds; left out of the fast suite",
    "host": "loads built FMUs into a foreign FMI host",
}


def pytest_configure(config) -> None:
    for name, text in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {text}")
