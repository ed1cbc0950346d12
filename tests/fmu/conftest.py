"""An instance for a test, out of the archive of its module."""

import pytest

from kinetree.scripts.fmi.fmpy_host import Host


@pytest.fixture
def host(archive):
    instance = Host(archive)
    yield instance
    instance.fmu.freeInstance()
