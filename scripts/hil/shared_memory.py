"""Shared-memory connection with the interface of a datagram socket.

The file has sixteen bytes of identification, then two rings, the one to the controller process
first; all numbers are little-endian. A ring: uint64 number of frames written so far, then SLOTS
slots of SLOT bytes. Frame k lies in slot k mod SLOTS: uint32 length, 4 bytes unused, the frame
(packet.py). A writer fills the slot, then increments the count; a reader that has read k frames
finds the next one as soon as the count exceeds k, and restarts if the count has decreased. Frames
that are overwritten before they are read are lost, as datagrams are. A process that opens an
existing mailbox continues with its counts, so that either end may be restarted while the other one
runs.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

from kinetree.scripts.terminal.error_messages import BadInput

MARK = b"kinetree box 2\n\0"
SLOTS, SLOT = 64, 552
RING = 8 + SLOTS * SLOT
SIZE = len(MARK) + 2 * RING
COUNT, LENGTH = struct.Struct("<Q"), struct.Struct("<I")


def made(path: Path) -> None:
    """Create the file of a new mailbox; an existing file is not overwritten."""
    try:
        place = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(place, "wb") as stream:
        stream.write(MARK + bytes(2 * RING))


def mapped(path: Path) -> mmap.mmap:
    """Return the memory of a mailbox file; any other file is refused and not changed."""
    place = os.open(path, os.O_RDWR | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(place, "r+b", buffering=0) as stream:
        found = os.fstat(stream.fileno())
        if not path.is_file() or found.st_size != SIZE or stream.read(len(MARK)) != MARK:
            raise BadInput(
                f"partner: '{path}' is there and is not a mailbox; expected the name of a new file, or of a mailbox of an earlier run"
            )
        return mmap.mmap(stream.fileno(), SIZE)


class Mailbox:
    """One end of the shared-memory connection."""

    def __init__(self, path: Path, plant: bool):
        if plant:
            made(path)
        self.memory = mapped(path)
        rings = len(MARK), len(MARK) + RING
        self.out, self.inward = rings if plant else rings[::-1]
        self.sent, self.read = (
            COUNT.unpack_from(self.memory, at)[0] for at in (self.out, self.inward)
        )

    def send(self, data: bytes) -> None:
        """Write a frame to the next slot."""
        at = self.out + 8 + (self.sent % SLOTS) * SLOT
        self.memory[at + 8 : at + 8 + len(data)] = data
        LENGTH.pack_into(self.memory, at, len(data))
        self.sent += 1
        COUNT.pack_into(self.memory, self.out, self.sent)

    def recv(self, size: int) -> bytes:
        """Return the next unread frame; raise BlockingIOError if there is none."""
        written = COUNT.unpack_from(self.memory, self.inward)[0]
        if written < self.read:  # its writer has begun anew
            self.read = 0
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
