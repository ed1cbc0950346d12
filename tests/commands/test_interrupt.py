"""A long run at a terminal: a bar after two seconds, and an interrupt from the keyboard writes what was computed."""

import csv
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo terminal")
def test_interrupted_run_shows_a_bar_and_writes_its_rows(tmp_path: Path):
    """The bar is awaited, then the run interrupted: exit code 130, a file with the rows until then, the first ones those of a whole run."""
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell has its background jobs ignore it
    code += "from kinetree.scripts import cli; sys.exit(cli.main(sys.argv[1:]))"
    options = ["run", "lib:three-link", "--output-interval", "1", "--tolerance", "1e-8"]
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    long = [sys.executable, "-c", code, *options, "--stop-time", "1000000", "-o", "long.csv"]
    process = subprocess.Popen(
        long, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=theirs
    )
    os.close(theirs)
    said, until = b"", time.monotonic() + 60.0
    while b"%" not in said and time.monotonic() < until and process.poll() is None:
        if select.select([ours], [], [], 0.5)[0]:
            said += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    while process.poll() is None and time.monotonic() < until:
        if select.select([ours], [], [], 0.5)[0]:
            try:
                os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
    assert process.wait(30.0) == 130 and b"%" in said
    os.close(ours)
    subprocess.run(
        [sys.executable, "-c", code, *options, "--stop-time", "20", "-o", "short.csv", "--quiet"],
        cwd=tmp_path,
        check=True,
    )
    whole, part = (
        list(csv.reader((tmp_path / name).open(encoding="utf-8")))
        for name in ("short.csv", "long.csv")
    )
    assert 100 < len(part) < 1_000_000 and part[0] == whole[0]
    assert [row[:4] for row in part[1:21]] == [row[:4] for row in whole[1:21]]
