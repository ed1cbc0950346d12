"""FMI calls in any order with any arguments, under the sanitizers for addresses and undefined behaviour.

Wrong order, wrong references, NULL, NaN, states and payloads with flipped bits or without their end, instances in threads: no call ends the
host, an error has a message, a step from a restored state is the step that was taken, the same calls give the same.
Long runs: `scripts/dev.py fuzz --kinds calls`.
"""

import pytest
from call_sequences import COUNTERS, built, cause, missing_tools, shrunk
from shell_lines import play, read, shares, table

WITHOUT = missing_tools()


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if WITHOUT:
        pytest.skip(WITHOUT)
    return built(tmp_path_factory.mktemp("calls"))


@pytest.mark.parametrize("name", ["staged", "loop", "chain", "endless"])
def test_random_call_sequences_do_not_crash_the_host(program, name):
    assert program.run(name, seed=20, first=0, count=120) == ""
    assert program.tried["calls"] > program.tried["refused"] > 1000


@pytest.mark.parametrize("name", ["staged", "loop", "chain", "endless"])
def test_threads_call_fmu_independently(program, name):
    code, said = program.played(name, "threads", 21, 12)
    assert code == 0, cause(code, said)


def test_call_sequences_cover_the_shell(tmp_path):
    """What no sequence reaches, no fuzzer tests; `scripts/dev.py coverage --c` plays more of them, and hosts, and reaches more branches."""
    if why := missing_tools(COUNTERS):
        pytest.skip(why)
    program = built(tmp_path, COUNTERS)
    assert play(program, seed=1, count=300) == ""
    lines, branches = shares(sources := read(program))
    assert lines >= 95.0 and branches >= 80.0, table(sources)


def test_failing_call_sequences_are_shrunk():
    """Of 40 calls, two make it fail together: they stay."""
    content = b"".join(bytes([k] * 8) for k in range(40))
    assert shrunk(
        content, lambda each: bytes([7] * 8) in each and bytes([31] * 8) in each
    ) == bytes([7] * 8 + [31] * 8)
