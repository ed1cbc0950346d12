"""Reads the payload and loads the entry points in the slave, with the standard library only.

The slave script in the archive is the text of this module, of `core.py` and of `fmi2.py` or
`fmi3.py`.
"""

import ctypes
import os
import platform
import struct
import sys
import zlib
from array import array
from functools import cache
from importlib import import_module

# written by the builder: names, places in the head of work, messages, places in ints, a status of the engine, a bit of its options
IDENTIFIER, KERNELS, V, STATUS, PLACES, LOCATED, STOP_AT_EVENT = "", "", {}, {}, {}, 0, 0
X86, ARM = ("x86_64", "amd64"), ("aarch64", "arm64")
LIBRARIES = {
    ("Linux", X86): ("linux64", "engine.so"),
    ("Windows", X86): ("win64", "engine.dll"),
    ("Linux", ARM): ("aarch64-linux", "engine.so"),
    ("Darwin", X86): ("darwin64", "engine.dylib"),
    ("Darwin", ARM): ("aarch64-darwin", "engine.dylib"),
}
ENTRIES = ("reset", "start", "prepare", "refresh", "advance", "derivatives", "event", "corner")
HEADER, VARIABLE, CHECKSUM = 32, 8, 8 * 13


@cache
class Model:
    """The content of the payload, read once per process."""

    def __init__(self, folder):
        with open(os.path.join(folder, "model.kinetree"), "rb") as file:
            data = file.read()
        if len(data) < 8 * HEADER or data[:8] != b"KINETREE" or data[8] != 2:
            raise ValueError("resources/model.kinetree is not a model of this version of Kinetree")
        head = struct.unpack_from(f"<{HEADER}q", data)
        if head[13] != zlib.crc32(data[CHECKSUM + 8 :], zlib.crc32(data[:CHECKSUM])):
            raise ValueError(
                "resources/model.kinetree is damaged: its checksum is not that of its content"
            )
        (
            n_ints,
            n_floats,
            self.work_size,
            n_variables,
            self.n_states,
            self.n_guards,
            n_stages,
            n_bodies,
            n_text,
            self.hash,
            n_options,
        ) = head[2:13]
        at = 8 * HEADER

        def take(kind, count):
            nonlocal at
            block = array(kind, data[at : at + 8 * count])
            at += 8 * count
            return block

        self.ints, self.floats = take("q", n_ints), take("d", n_floats)
        for k in range(n_stages):  # a file never carries addresses of code
            self.ints[
                self.ints[PLACES["STAGES_AT"] + PLACES["STAGE"] * k + PLACES["INTS"]]
                + PLACES["OWN"]
            ] = 0
        options = take("d", 2 * n_options)
        self.options = list(zip(options[0::2], options[1::2]))
        records, limits = take("q", VARIABLE * n_variables), take("d", 3 * n_variables)
        self.nominals = take("d", self.n_states).tolist()
        take("q", 2 + n_variables + n_stages + n_bodies)  # offsets of strings
        names = [name.decode() for name in data[at : at + n_text].split(b"\0")]
        self.names, self.stages = (
            names[2 : 2 + n_variables],
            names[2 + n_variables : 2 + n_variables + n_stages],
        )
        self.bodies = names[2 + n_variables + n_stages :][:n_bodies]
        self.types, self.at, self.write, self.access, self.states, self.rates, self.start = (
            records[k::VARIABLE].tolist() for k in range(7)
        )
        self.limits, self.starts = list(zip(limits[0::3], limits[1::3])), limits[2::3]
        self.call = native(folder, self) or jitted(folder, self)

    def body_name(self, work):
        """Return the name of the body in which an evaluation failed."""
        first = self.ints[
            PLACES["STAGES_AT"] + PLACES["STAGE"] * int(work[V["STAGE"]]) + PLACES["BODIES"]
        ]
        return next(
            (name for k, name in enumerate(self.bodies) if self.ints[first + k] == work[V["ITEM"]]),
            "?",
        )

    def register_name(self, work):
        """Return the name of the variable at which an evaluation failed."""
        register, header = int(work[V["ITEM"]]), PLACES
        columns = self.ints[
            header["STAGES_AT"] + header["STAGE"] * int(work[V["STAGE"]]) + header["COLUMNS"]
        ]
        for name, at, write in zip(self.names, self.at, self.write):
            column = at - self.ints[header["AT_COLUMNS"]]
            if self.ints[header["BASE"]] + header["HEAD"] + register in (at, write):
                return f"'{name}'"
            if 0 <= column < self.ints[header["COUNT"]] and self.ints[columns + column] == register:
                return f"'{name}'"
        return "an acceleration or a rate" if register < 0 else "an intermediate value"


def native(folder, model):
    """Return a function work -> entry -> call(option, t) for the engine library; None if the
    archive has none for this platform.
    """
    system, machine = platform.system(), platform.machine().lower()
    place = next(
        (
            where
            for (name, machines), where in LIBRARIES.items()
            if name == system and machine in machines
        ),
        None,
    )
    path = os.path.join(folder, *place) if place else ""
    if os.environ.get("KINETREE_FMU_ENGINE") == "kernels" or not os.path.exists(path):
        return None
    library = ctypes.CDLL(path)
    library.best_engine.restype = ctypes.POINTER(ctypes.c_void_p)
    table = library.best_engine()
    if not table:
        return None  # code for newer processors only
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_double,
    )
    entries = {name: kind(table[k]) for k, name in enumerate(ENTRIES)}
    ints, floats = model.ints.buffer_info()[0], model.floats.buffer_info()[0]

    def bind(work):
        address = work.buffer_info()[0]
        return lambda name, option, t: entries[name](ints, floats, address, option, t)

    return bind


def jitted(folder, model):
    """Return the entry points of kernels compiled by numba."""
    sys.path[:0] = [folder] if folder not in sys.path else []
    return import_module(f"{KERNELS}.fallback").jitted(model.ints, model.floats)
