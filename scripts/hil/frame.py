"""The frame that the plant and its partner exchange, one UDP datagram each, all numbers little-endian.

offset  type      content
0       uint32    0x3148544B, the letters KTH1
4       uint32    sequence number: the plant's step; an answer bears the number of what it answers
8       float64   time of the plant [s]
16      uint32    flags: 1 the last frame of the run
20      uint32    n, number of values
24      float64   n values: measures to the partner, commands back, in the order of the scenario
"""

from __future__ import annotations

import struct
from typing import NamedTuple

MAGIC = 0x3148544B
HEAD = struct.Struct("<IIdII")
LAST = 1
MOST = 64  # values of a frame: it stays within one packet of any network


class Frame(NamedTuple):
    """One message."""

    sequence: int
    time: float
    values: tuple[float, ...]
    last: bool = False

    def packed(self) -> bytes:
        head = HEAD.pack(
            MAGIC, self.sequence & 0xFFFFFFFF, self.time, LAST if self.last else 0, len(self.values)
        )
        return head + struct.pack(f"<{len(self.values)}d", *self.values)


def unpacked(data: bytes) -> Frame | None:
    """A frame; None for anything else that arrives at the port."""
    if len(data) < HEAD.size:
        return None
    magic, sequence, time, flags, count = HEAD.unpack_from(data)
    if magic != MAGIC or count > MOST or len(data) != HEAD.size + 8 * count:
        return None
    return Frame(
        sequence, time, struct.unpack_from(f"<{count}d", data, HEAD.size), bool(flags & LAST)
    )
