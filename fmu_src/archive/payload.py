"""The file resources/model.kinetree: memory blocks, table of variables and names in one binary file
that both back ends read (layout in native/core.h).
"""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from typing import Any

import numpy as np

from kinetree.fmu.variables import Table

MAGIC = int.from_bytes(b"KINETREE", "little", signed=True)
HEADER = 32
VERSION = 2
CHECKSUM = 13  # place in the header
VARIABLE = 8  # numbers per variable


def body_names(unit: Any) -> list[str]:
    """Return the names of the bodies of all structures, in the order of the unit's table."""
    return unit.bodies + ["?"] * (int(unit.header.bodies) - len(unit.bodies))


def token_of(unit: Any, table: Table) -> str:
    """Return the identifier of the model: a hash of its blocks and variables."""
    digest = hashlib.sha256()
    digest.update(np.ascontiguousarray(unit.ints, dtype="<i8").tobytes())
    digest.update(np.ascontiguousarray(unit.floats, dtype="<f8").tobytes())
    digest.update(
        repr(
            [(v.name, v.causality, v.at, v.write, v.unit, v.start) for v in table.variables]
        ).encode()
    )
    text = digest.hexdigest()
    return f"{{{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:32]}}}"


def payload(unit: Any, table: Table, token: str) -> bytes:
    """Return the content of the model file: the blocks of the unit and the table of variables."""
    ints = np.ascontiguousarray(unit.ints, dtype="<i8")
    floats = np.ascontiguousarray(unit.floats, dtype="<f8")
    records = np.array(
        [
            [v.type, v.at, v.write, v.access, v.state, v.rate, v.start_at, 0]
            for v in table.variables
        ],
        dtype="<i8",
    )
    limits = np.array(
        [
            [v.minimum, v.maximum, math.nan if v.follows else v.start or 0.0]
            for v in table.variables
        ],
        dtype="<f8",
    )
    nominals = np.array([table.variables[vr].nominal or 1.0 for vr in table.states], dtype="<f8")
    options = np.array(sorted(unit.options.items()), dtype="<f8").reshape(-1, 2)
    bodies = body_names(unit)
    strings = [
        unit.description.name,
        token,
        *(v.name for v in table.variables),
        *unit.stage_names,
        *bodies,
    ]
    encoded = [text.encode() + b"\0" for text in strings]
    offsets = np.concatenate(([0], np.cumsum([len(text) for text in encoded])))[:-1].astype("<i8")
    text = b"".join(encoded)
    text += b"\0" * (-len(text) % 8)
    model = int.from_bytes(hashlib.sha256(token.encode()).digest()[:8], "little", signed=True)
    counts = (
        ints.size,
        floats.size,
        unit.work_size,
        len(table.variables),
        len(table.states),
        len(table.indicators),
        len(unit.stage_names),
        len(bodies),
    )
    header = (MAGIC, VERSION, *counts, len(text), model, len(options))
    head = struct.pack(f"<{HEADER}q", *header, *(0,) * (HEADER - len(header)))
    blocks = (ints, floats, options, records, limits, nominals, offsets)
    return with_checksum(b"".join([head, *(block.tobytes() for block in blocks), text]))


def with_checksum(content: bytes) -> bytes:
    """Return the file with its checksum inserted."""
    place = 8 * CHECKSUM
    total = zlib.crc32(content[place + 8 :], zlib.crc32(content[:place]))
    return content[:place] + struct.pack("<q", total) + content[place + 8 :]
