"""Long work shows how far it is: a bar on a terminal, nothing for short work."""

import os
import subprocess
import sys

import pytest

CODE = """
import time
from kinetree.scripts.terminal import progress
progress.PATIENCE = {patience}
with progress.progress("swinging", 1.0) as told:
    for k in range(1, 21):
        told(k / 20)
        time.sleep(0.01)
"""


@pytest.mark.parametrize("patience, shown", [(0.05, True), (60.0, False)])
def test_progress_bar_is_shown_on_a_terminal(patience: float, shown: bool):
    """Only work that outlasts the patience is shown."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    subprocess.run(
        [sys.executable, "-c", CODE.format(patience=patience)],
        stderr=theirs,
        env=environment,
        check=True,
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert (b"swinging" in said and b"%" in said) == shown
