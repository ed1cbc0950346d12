"""The packet (frame) exchanged with the controller process: sequence number, time and values.

offset  type      content
0       uint32    0x3248544B, the letters KTH2
4       uint32    sequence number: the plant's step; an answer bears the number of what it answers
8       float64   time of the plant [s]
16      uint32    flags: 1 the last frame of the run
20      uint32    n, number of values
24      uint64    token of the run, which the plant draws: an answer bears the token of what it answers, a frame with another one is left aside
32      float64   n values: measures to the partner, commands back, in the order of the scenario; a frame with one that is not finite is left aside
"""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

MAGIC = 0x3248544B
HEAD = struct.Struct("<IIdIIQ")
LAST = 1
MOST = 64  # values of a frame: it stays within one packet of any network


class Frame(NamedTuple):
    """One packet: sequence number, time, values, end flag, token."""

    sequence: int
    time: float
    values: tuple[float, ...]
    last: bool = False
    token: int = 0

    def packed(self) -> bytes:
        flags = LAST if self.last else 0
        head = HEAD.pack(
            MAGIC, self.sequence & 0xFFFFFFFF, self.time, flags, len(self.values), self.token
        )
        return head + struct.pack(f"<{len(self.values)}d", *self.values)

    @property
    def finite(self) -> bool:
        """Return whether all values are finite."""
        return math.isfinite(self.time) and all(map(math.isfinite, self.values))


def unpacked(data: bytes) -> Frame | None:
    """Return the frame in a datagram; None for any other content."""
    if len(data) < HEAD.size:
        return None
    magic, sequence, time, flags, count, token = HEAD.unpack_from(data)
    if magic != MAGIC or count > MOST or len(data) != HEAD.size + 8 * count:
        return None
    values = struct.unpack_from(f"<{count}d", data, HEAD.size)
    return Frame(sequence, time, values, bool(flags & LAST), token)
