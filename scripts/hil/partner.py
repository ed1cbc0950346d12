"""A partner in a process of its own: `python -m kinetree.scripts.hil.partner CONTROLLER.json [PORT]`.

It prints the port it listens at, answers every frame of measures with one of commands, and ends with the frame that says so, or after ten seconds of
silence. The file holds {"measures": [...], "loops": [...]} of a scenario.
"""

from __future__ import annotations

import gc
import json
import socket
import sys
from pathlib import Path

from kinetree.scripts.hil.controller import Controller
from kinetree.scripts.hil.frame import Frame, unpacked

SILENCE = 10.0  # s


def serve(controller: Controller, door: socket.socket) -> int:
    """Answer until the last frame; the number of frames answered."""
    door.settimeout(SILENCE)
    answered = 0
    while True:
        try:
            data, sender = door.recvfrom(2048)
        except TimeoutError:
            return answered
        frame = unpacked(data)
        if frame is None:
            continue
        if frame.last:
            return answered
        door.sendto(Frame(frame.sequence, frame.time, controller.answer(frame.time, frame.values)).packed(), sender)
        answered += 1


def main(arguments: list[str]) -> int:
    """Listen, say where, serve."""
    text = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.bind(("127.0.0.1", int(arguments[1]) if len(arguments) > 1 else 0))
        print(door.getsockname()[1], flush=True)
        gc.disable()
        serve(Controller(text["measures"], text["loops"]), door)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
