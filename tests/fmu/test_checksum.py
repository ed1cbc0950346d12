"""The checksum of native FMUs is that of zlib, which writes it."""

import ctypes
import subprocess
import zlib

import numpy as np

from kinetree.fmu.native.shell import FLAGS, HERE
from kinetree.solvers.library.c_compiler import compiler


def test_checksum_matches_zlib(tmp_path):
    """Eight bytes at once and what is left over, from any place, in one piece or two."""
    library = tmp_path / "checksum.so"
    subprocess.run(
        [*compiler(), *FLAGS, "-fPIC", "-shared", str(HERE / "checksum.c"), "-o", str(library)],
        check=True,
    )
    checksum = ctypes.CDLL(str(library)).checksum
    checksum.restype, checksum.argtypes = (
        ctypes.c_uint32,
        [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_size_t],
    )
    content = np.random.default_rng(5).bytes(100)
    for start in range(9):
        for size in range(40):
            piece, middle = content[start : start + size], start + size
            assert checksum(0, piece, size) == zlib.crc32(piece)
            assert checksum(
                checksum(0, content, middle), content[middle:], len(content) - middle
            ) == zlib.crc32(content)
