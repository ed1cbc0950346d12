"""Loads an x86_64 library of macOS into a Linux process: both systems have the same calling
convention, so its code can be run and tested on Linux.

Segments are mapped, addresses rebased, and the symbols of the C library bound to those of this process.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from pathlib import Path

SEGMENT_64, DYLD_INFO, DYLD_INFO_ONLY, SYMBOL_TABLE = 0x19, 0x22, 0x80000022, 0x02
OTHER_NAMES = {"__bzero": "bzero"}
# macOS returns sine and cosine in xmm0 and xmm1: machine code around sincos(x, &s, &c), whose address it holds
SINCOS = bytes.fromhex("4883ec18 4889e7 488d742408 48b8")
SINCOS_END = bytes.fromhex("ffd0 f20f100424 f20f104c2408 4883c418 c3")


class MachLibrary:
    """A mapped macOS library; its functions are attributes, as those of ctypes.CDLL."""

    def __init__(self, path: Path):
        self.data = path.read_bytes()
        if struct.unpack_from("<I", self.data)[0] != 0xFEEDFACF:
            raise ValueError(f"{path} is not a 64-bit Mach-O file")
        self.segments: list[
            tuple[int, int, int, int]
        ] = []  # address, size, offset, size in the file
        self.info = self.symbols = (0,) * 10
        self._read_commands()
        size = max(address + length for address, length, *_ in self.segments)
        self.room = self._executable(size)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.room))
        for address, _, offset, length in self.segments:
            self.room[address : address + length] = self.data[offset : offset + length]
        self.code = self._executable(4096)
        self._libraries = (ctypes.CDLL(None), ctypes.CDLL("libm.so.6"))
        self._kept: list[object] = []
        self._handle = 0  # hosts close libraries by it
        self.exported = self._symbol_table()
        self._rebase()
        for at, size in (
            (self.info[2], self.info[3]),
            (self.info[4], self.info[5]),
            (self.info[6], self.info[7]),
        ):
            self._bind(self.data[at : at + size])

    @staticmethod
    def _executable(size: int) -> mmap.mmap:
        whole = (size + 4095) // 4096 * 4096
        return mmap.mmap(-1, whole, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)

    def _read_commands(self) -> None:
        count, at = struct.unpack_from("<I", self.data, 16)[0], 32
        for _ in range(count):
            kind, size = struct.unpack_from("<II", self.data, at)
            if kind == SEGMENT_64:
                self.segments.append(struct.unpack_from("<QQQQ", self.data, at + 24))
            elif kind in (DYLD_INFO, DYLD_INFO_ONLY):
                self.info = struct.unpack_from("<10I", self.data, at + 8)
            elif kind == SYMBOL_TABLE:
                self.symbols = struct.unpack_from("<IIII", self.data, at + 8)
            at += size

    def _symbol_table(self) -> dict[str, int]:
        """Return the addresses of defined external symbols, names without the leading underscore."""
        at, count, strings, _ = self.symbols[:4]
        found = {}
        for k in range(count):
            name, kind, _, _, value = struct.unpack_from("<IBBHQ", self.data, at + 16 * k)
            end = self.data.index(b"\0", strings + name)
            if (
                kind & 1 and not kind & 0x10 and kind & 0x0E == 0x0E
            ):  # external, not private, in a section
                found[self.data[strings + name : end].decode().removeprefix("_")] = value
        return found

    def _number(self, stream: bytes, at: int) -> tuple[int, int]:
        """Return an unsigned LEB128 number and the position after it."""
        value = shift = 0
        while True:
            byte = stream[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value, at

    def _add_base(self, at: int, count: int, gap: int = 0) -> int:
        for _ in range(count):
            struct.pack_into(
                "<Q", self.room, at, struct.unpack_from("<Q", self.room, at)[0] + self.base
            )
            at += 8 + gap
        return at

    def _rebase(self) -> None:
        stream, at, place = self.data[self.info[0] : self.info[0] + self.info[1]], 0, 0
        while at < len(stream):
            code, low = stream[at] & 0xF0, stream[at] & 0x0F
            at += 1
            if code == 0x00:
                break
            if code == 0x20:
                offset, at = self._number(stream, at)
                place = self.segments[low][0] + offset
            elif code == 0x30:
                offset, at = self._number(stream, at)
                place = (place + offset) & 0xFFFFFFFFFFFFFFFF
            elif code == 0x40:
                place += 8 * low
            elif code == 0x50:
                place = self._add_base(place, low)
            elif code == 0x60:
                count, at = self._number(stream, at)
                place = self._add_base(place, count)
            elif code == 0x70:
                gap, at = self._number(stream, at)
                place = self._add_base(place, 1, gap)
            elif code == 0x80:
                count, at = self._number(stream, at)
                gap, at = self._number(stream, at)
                place = self._add_base(place, count, gap)

    def _bind(self, stream: bytes) -> None:
        at = place = addend = 0
        name = ""

        def put() -> None:
            nonlocal place
            struct.pack_into(
                "<Q", self.room, place, (self._address(name) + addend) & 0xFFFFFFFFFFFFFFFF
            )
            place += 8

        while at < len(stream):
            code, low = stream[at] & 0xF0, stream[at] & 0x0F
            at += 1
            if code == 0x20:
                _, at = self._number(stream, at)
            elif code == 0x40:
                end = stream.index(b"\0", at)
                name, at = stream[at:end].decode().removeprefix("_"), end + 1
            elif code == 0x60:
                addend, at = self._number(stream, at)
            elif code == 0x70:
                offset, at = self._number(stream, at)
                place = self.segments[low][0] + offset
            elif code == 0x80:
                offset, at = self._number(stream, at)
                place = (place + offset) & 0xFFFFFFFFFFFFFFFF
            elif code == 0x90:
                put()
            elif code == 0xA0:
                put()
                offset, at = self._number(stream, at)
                place = (place + offset) & 0xFFFFFFFFFFFFFFFF
            elif code == 0xB0:
                put()
                place += 8 * low
            elif code == 0xC0:
                count, at = self._number(stream, at)
                gap, at = self._number(stream, at)
                for _ in range(count):
                    put()
                    place += gap

    def _address(self, name: str) -> int:
        """Return the address of a symbol of the library, else of this process."""
        if name in self.exported:
            return self.base + self.exported[name]
        if name == "dyld_stub_binder":
            return 0
        if name == "__sincos_stret":
            sincos = ctypes.cast(self._libraries[1].sincos, ctypes.c_void_p).value or 0
            code = SINCOS + struct.pack("<Q", sincos) + SINCOS_END
            self.code[: len(code)] = code
            return ctypes.addressof(ctypes.c_char.from_buffer(self.code))
        if name == "memset_pattern16":
            return self._pattern_function()
        for library in self._libraries:
            try:
                function = getattr(library, OTHER_NAMES.get(name, name))
            except AttributeError:
                continue
            return ctypes.cast(function, ctypes.c_void_p).value or 0
        raise ValueError(f"this process has no '{name}'")

    def _pattern_function(self) -> int:
        def fill(target: int, pattern: int, length: int) -> None:
            bytes16 = ctypes.string_at(pattern, 16)
            ctypes.memmove(target, (bytes16 * (length // 16 + 1))[:length], length)

        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
        filler = kind(fill)
        self._kept.append(filler)
        return ctypes.cast(filler, ctypes.c_void_p).value or 0

    def __getattr__(self, name: str):
        if name.startswith("_") or name not in self.exported:
            raise AttributeError(name)
        function = ctypes.CFUNCTYPE(ctypes.c_int)(self.base + self.exported[name])
        setattr(self, name, function)
        return function
