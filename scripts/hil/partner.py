"""A partner in a process of its own: `python -m kinetree.scripts.hil.partner CONTROLLER.json [PORT [ADDRESS] | --shared FILE]`.

It prints the port it listens at, answers every frame of measures with one of commands, and ends with the frame that says so, after ten seconds of
silence, or five minutes without a first frame. The file holds {"measures": [...], "loops": [...]} of a scenario, or the FMU of a controller:
{"controller": {"fmu": ..., "inputs": [...], "outputs": [...]}}.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from contextlib import closing
from pathlib import Path

from kinetree.scripts.hil.controller import Answering, controller_of
from kinetree.scripts.hil.frame import Frame, unpacked
from kinetree.scripts.hil.mailbox import Mailbox
from kinetree.scripts.hil.prompt import prompt

FIRST, SILENCE = 300.0, 10.0  # s that it waits for its first frame, and for any other
PRIORITY = 40  # below that of a plant on the same machine
NAP = 2e-5  # s between two looks into a mailbox


def serve(controller: Answering, door: socket.socket) -> int:
    """Answer until the last frame; the number of frames answered."""
    door.settimeout(FIRST)
    answered = 0
    while True:
        try:
            data, sender = door.recvfrom(2048)
        except TimeoutError:
            return answered
        frame = unpacked(data)
        door.settimeout(SILENCE)
        if frame is None:
            continue
        if frame.last:
            return answered
        door.sendto(
            Frame(frame.sequence, frame.time, controller.answer(frame.time, frame.values)).packed(),
            sender,
        )
        answered += 1


def serve_shared(controller: Answering, box: Mailbox) -> int:
    """The same through a mailbox."""
    answered, until = 0, time.monotonic() + FIRST
    while time.monotonic() < until:
        try:
            frame = unpacked(box.recv(2048))
        except BlockingIOError:
            time.sleep(NAP)
            continue
        until = time.monotonic() + SILENCE
        if frame is None:
            continue
        if frame.last:
            break
        box.send(
            Frame(frame.sequence, frame.time, controller.answer(frame.time, frame.values)).packed()
        )
        answered += 1
    return answered


def main(arguments: list[str]) -> int:
    """Listen, say where, serve."""
    text = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    with controller_of(text) as controller, prompt(PRIORITY, []):
        if arguments[1:2] == ["--shared"]:
            with closing(Mailbox(Path(arguments[2]), plant=False)) as box:
                print(0, flush=True)
                serve_shared(controller, box)
            return 0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
            door.bind(
                (
                    arguments[2] if len(arguments) > 2 else "127.0.0.1",
                    int(arguments[1]) if len(arguments) > 1 else 0,
                )
            )
            print(door.getsockname()[1], flush=True)
            serve(controller, door)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
