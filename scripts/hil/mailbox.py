"""Frames through a file that two processes map into their memory: the exchange without a network.

Two rings, to the partner first; all numbers little-endian. A ring: uint64 number of frames written so far, then SLOTS slots of SLOT bytes.
Frame k lies in slot k mod SLOTS: uint32 length, 4 bytes unused, the frame (frame.py). A writer fills the slot, then counts; a reader that has read
k frames finds the next one as soon as the count exceeds k. Frames that were overwritten before they were read are lost, as datagrams are.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

SLOTS, SLOT = 64, 552
RING = 8 + SLOTS * SLOT
COUNT, LENGTH = struct.Struct("<Q"), struct.Struct("<I")


class Mailbox:
    """One end, with the two calls of a socket that the exchange needs."""

    def __init__(self, path: Path, plant: bool):
        if plant:
            path.write_bytes(bytes(2 * RING))
        with path.open("r+b") as stream:
            self.memory = mmap.mmap(stream.fileno(), 2 * RING)
        self.out, self.inward = (0, RING) if plant else (RING, 0)
        self.sent, self.read = 0, 0

    def send(self, data: bytes) -> None:
        """Into the next slot."""
        at = self.out + 8 + (self.sent % SLOTS) * SLOT
        self.memory[at + 8 : at + 8 + len(data)] = data
        LENGTH.pack_into(self.memory, at, len(data))
        self.sent += 1
        COUNT.pack_into(self.memory, self.out, self.sent)

    def recv(self, size: int) -> bytes:
        """The next frame; BlockingIOError where there is none."""
        written = COUNT.unpack_from(self.memory, self.inward)[0]
        self.read = max(self.read, written - SLOTS + 1)  # what is overwritten is lost
        if self.read >= written:
            raise BlockingIOError
        at = self.inward + 8 + (self.read % SLOTS) * SLOT
        self.read += 1
        return self.memory[
            at + 8 : at + 8 + min(LENGTH.unpack_from(self.memory, at)[0], size, SLOT - 8)
        ]

    def close(self) -> None:
        self.memory.close()
