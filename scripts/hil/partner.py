"""The controller process of a hardware-in-the-loop run.

Usage: `python -m kinetree.scripts.hil.partner CONTROLLER.json [PORT [ADDRESS] | --shared FILE]`.
The process prints the port on which it listens, answers every frame of measurements with one of commands, and ends
with a frame that has the end flag, after ten seconds of silence, or after five minutes without a
first frame. It serves one plant, identified by its address and token: the plant with the "token" of
the file, or the first one whose frame has as many finite measurements as the controller needs;
other frames are ignored. The file contains {"measures": [...], "loops": [...]} of a scenario, or
the FMU of a controller: {"controller": {"fmu": ..., "inputs": [...], "outputs": [...]}}.
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
from kinetree.scripts.hil.packet import Frame, unpacked
from kinetree.scripts.hil.realtime_scheduling import realtime_priority
from kinetree.scripts.hil.shared_memory import Mailbox

FIRST, SILENCE = 300.0, 10.0  # s that it waits for its first frame, and for any other
PRIORITY = 40  # below that of a plant on the same machine
NAP = 2e-5  # s between two looks into a mailbox


class Peer:
    """The one plant that is served: the agreed token, or that of its first frame of measurements,
    and its address.
    """

    def __init__(self, count: int, token: int | None = None):
        self.count, self.token = count, token
        self.sender: Any = None

    def heard(self, frame: Frame | None, sender: Any) -> bool:
        """Return whether a frame comes from the plant and is valid: an end frame, or one with as
        many finite measurements as the controller needs.
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
    """Answer frames from a UDP socket until the end frame or a timeout; return the number of frames
    answered.
    """
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
    """Answer frames from shared memory until the end frame or a timeout; return the number of
    frames answered.
    """
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
    """Open the connection, print the address, and serve the controller in the file."""
    text = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    with controller_of(text) as controller, realtime_priority(PRIORITY, []):
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
