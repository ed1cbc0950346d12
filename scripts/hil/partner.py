"""A partner in a process of its own: `python -m kinetree.scripts.hil.partner CONTROLLER.json [PORT [ADDRESS] | --shared FILE]`.

It prints the port it listens at, answers every frame of measures with one of commands, and ends
with the frame that says so, after ten seconds of silence, or five minutes without a first frame.
It hears one plant: the first whose frame has as many finite measures as the controller takes, by
its address and its token, or that with the "token" of the file; every other frame is left aside.
The file holds {"measures": [...], "loops": [...]} of a scenario, or the FMU of a controller:
{"controller": {"fmu": ..., "inputs": [...], "outputs": [...]}}.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from kinetree.scripts.hil.controller import Answering, controller_of
from kinetree.scripts.hil.frame import Frame, unpacked
from kinetree.scripts.hil.mailbox import Mailbox
from kinetree.scripts.hil.prompt import prompt

FIRST, SILENCE = 300.0, 10.0  # s that it waits for its first frame, and for any other
PRIORITY = 40  # below that of a plant on the same machine
NAP = 2e-5  # s between two looks into a mailbox


class Peer:
    """The one plant that is heard: the token that was agreed, or that of the first frame of measures, and the sender of that frame."""

    def __init__(self, count: int, token: int | None = None):
        self.count, self.token = count, token
        self.sender: Any = None

    def heard(self, frame: Frame | None, sender: Any) -> bool:
        """Return whether a frame is one of its plant: its end, or as many finite measures as the
        controller takes.
        """
        if frame is None or (self.sender is not None and sender != self.sender):
            return False
        if frame.last:
            return frame.token == self.token
        if len(frame.values) != self.count or not frame.finite:
            return False
        if self.token is None:
            self.token = frame.token
        if frame.token != self.token:
            return False
        self.sender = sender
        return True


def answer_of(controller: Answering, frame: Frame) -> bytes:
    values = controller.answer(frame.time, frame.values)
    return Frame(frame.sequence, frame.time, values, token=frame.token).packed()


def serve(controller: Answering, door: socket.socket, token: int | None = None) -> int:
    """Return answer until the last frame; the number of frames answered."""
    peer, answered, until = Peer(controller.count, token), 0, time.monotonic() + FIRST
    while (left := until - time.monotonic()) > 0.0:
        door.settimeout(left)
        try:
            data, sender = door.recvfrom(2048)
        except TimeoutError:
            break
        frame = unpacked(data)
        if frame is None or not peer.heard(frame, sender):
            continue
        if frame.last:
            break
        until = time.monotonic() + SILENCE
        door.sendto(answer_of(controller, frame), sender)
        answered += 1
    return answered


def serve_shared(controller: Answering, box: Mailbox, token: int | None = None) -> int:
    """Serve a controller through shared memory."""
    peer, answered, until = Peer(controller.count, token), 0, time.monotonic() + FIRST
    while time.monotonic() < until:
        try:
            frame = unpacked(box.recv(2048))
        except BlockingIOError:
            time.sleep(NAP)
            continue
        if frame is None or not peer.heard(frame, "mailbox"):
            continue
        if frame.last:
            break
        until = time.monotonic() + SILENCE
        box.send(answer_of(controller, frame))
        answered += 1
    return answered


def main(arguments: list[str]) -> int:
    """Listen, print the address and serve."""
    text = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    with controller_of(text) as controller, prompt(PRIORITY, []):
        if arguments[1:2] == ["--shared"]:
            with closing(Mailbox(Path(arguments[2]), plant=False)) as box:
                print(0, flush=True)
                serve_shared(controller, box, text.get("token"))
            return 0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
            door.bind(
                (
                    arguments[2] if len(arguments) > 2 else "127.0.0.1",
                    int(arguments[1]) if len(arguments) > 1 else 0,
                )
            )
            print(door.getsockname()[1], flush=True)
            serve(controller, door, text.get("token"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
