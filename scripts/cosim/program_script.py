"""A program of this project as a pythonfmu slave; the builder puts the program's modules before it, and it needs nothing else.

Numbers, units and what depends on what come from a resource. What cannot be is refused and named: values that are no numbers, changes of parameters
during the run, steps that begin elsewhere; nothing that goes wrong leaves a callback as an exception, which would be fatal to the host.
The state is the whole state, plain numbers with a checksum.
"""

import json
import os
import struct
import zlib
from math import isfinite
from xml.etree.ElementTree import Element, SubElement

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real
from pythonfmu.enums import Fmi2Status

CAUSALITY, VARIABILITY = Fmi2Causality, Fmi2Variability
BEFORE, RUNNING, TERMINATED, FAILED = "before the end of the initialization", "between steps", "after termination", "after a failure"
WORD = struct.Struct("<q")


class ProgramSlave(Fmi2Slave):
    """Parameters and inputs are tables of numbers; `program` exists from the end of the initialization."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with open(os.path.join(self.resources, "program.json"), "rb") as file:
            text = file.read()
        self.spec, self.identity = json.loads(text), zlib.crc32(text)
        self.given, self.program, self.needs, self.cells = {}, None, {}, []
        self.mode, self.start_time = BEFORE, 0.0

    def tell(self, text):
        """Log an error, which the wrapper uses as a printf format; False, the result of what went wrong."""
        self.log(text.replace("%", "%%"), Fmi2Status.error, None)
        return False

    def add_parameters(self, part):
        """Numbers of one part of the program."""
        for name, value in self.spec[part].items():
            self.add(f"{part}.{name}", CAUSALITY.parameter, self.spec[part], name, value)

    def add(self, label, causality, table, name, start):
        """A variable that the host sets."""
        table[name] = start
        self.cells.append((table, name))
        variability = VARIABILITY.continuous if causality == CAUSALITY.input else VARIABILITY.fixed
        pair = {"getter": lambda: table[name], "setter": lambda value: self.accept(label, table, name, value)}
        self.register_variable(Real(label, causality=causality, variability=variability, start=start, **pair))

    def add_outputs(self, names, needs):
        """What the host reads; `needs`: the inputs on which an output depends at once."""
        for name in names:
            kind = {"causality": CAUSALITY.output, "variability": VARIABILITY.continuous}
            self.register_variable(Real(name, getter=lambda name=name: self.output(name), **kind))
            self.needs[name] = needs.get(name, ())

    def accept(self, label, table, name, value):
        """Values that cannot be are refused and named; the value before stays."""
        if not isfinite(value):
            self.tell(f"{label} is set to {value}, which is not a finite number; the value before stays")
        elif self.mode != BEFORE and table is not self.given and value != table[name]:
            self.tell(f"{label} is a fixed parameter: it cannot change {self.mode}")
        else:
            table[name] = value
            if self.program is not None and table is self.given and hasattr(self.program, name):
                setattr(self.program, name, value)

    def output(self, name):
        try:
            return 0.0 if self.program is None else float(getattr(self.program, name))
        except Exception as error:
            self.tell(f"{name}: {error}")
            return 0.0

    def get_real(self, vrs):
        return self.guarded(super().get_real, vrs, [0.0] * len(vrs))

    def set_real(self, vrs, values):
        for vr, value in zip(vrs, values):
            self.guarded(lambda pair: super(ProgramSlave, self).set_real([pair[0]], [pair[1]]), (vr, value), None)

    def guarded(self, call, argument, otherwise):
        """The result of a call of the base class, which raises for references that do not exist or cannot be set."""
        try:
            return call(argument)
        except Exception as error:
            self.tell(f"there is no such variable, or it cannot be set: {argument} ({type(error).__name__}: {error})")
            return otherwise

    def setup_experiment(self, start_time=0.0, stop_time=None, tolerance=None):
        self.start_time = start_time if isfinite(start_time) else 0.0

    def exit_initialization_mode(self):
        try:
            self.program = self.begin()
            self.program.time, self.mode = self.start_time, RUNNING
        except Exception as error:
            self.mode = FAILED
            self.tell(f"initialization: {error}")

    def terminate(self):
        self.mode = TERMINATED

    def do_step(self, current_time, step_size):
        if self.mode != RUNNING:
            return self.tell(f"no step is possible {self.mode}")
        now = self.program.time
        if not (isfinite(current_time + step_size) and step_size >= 0.0):
            return self.tell(f"a step of {step_size:.9g} s at t = {current_time:.9g} s is impossible")
        if abs(current_time - now) > 1e-9 * (1.0 + abs(now)) + 1e-6 * step_size:
            return self.tell(f"the step is to begin at t = {current_time:.12g} s, but this instance stands at t = {now:.12g} s")
        before = self.program.save()
        try:
            if step_size > 0.0:
                self.program.time = current_time
                self.program.step(step_size)
            return True
        except Exception as error:
            self.program.restore(before)
            return self.tell(f"step at t = {current_time:.6g} s: {error}")

    def to_xml(self, model_options=None):
        """Units, and for every output what it depends on: hosts take an undeclared dependency for a loop."""
        root = super().to_xml(model_options or {})
        places, units = {}, self.spec["units"]
        for place, variable in enumerate(root.find("ModelVariables"), 1):
            name = variable.get("name")
            places[name] = str(place)
            if units["of"].get(name):
                variable.find("Real").set("unit", units["of"][name])
        definitions = Element("UnitDefinitions")
        for unit in sorted({units["of"][name] for name in places if units["of"].get(name)}):
            SubElement(SubElement(definitions, "Unit", name=unit), "BaseUnit", units["base"][unit])
        root.insert([child.tag for child in root].index("CoSimulation") + 1, definitions)
        structure = root.find("ModelStructure")
        first = SubElement(structure, "InitialUnknowns")
        for unknown, name in zip(structure.find("Outputs"), self.needs):
            on = " ".join(sorted((places[need] for need in self.needs[name] if need in places), key=int))
            unknown.set("dependencies", on)
            SubElement(first, "Unknown", index=unknown.get("index"))
        return root

    def _get_fmu_state(self):
        inner = () if self.program is None else self.program.save()
        numbers = [*(table[name] for table, name in self.cells), *inner]
        modes = (BEFORE, RUNNING, TERMINATED, FAILED)
        return struct.pack(f"<qqqd{len(numbers)}d", self.identity, modes.index(self.mode), len(inner), self.start_time, *numbers)

    def _set_fmu_state(self, state):
        try:
            if len(state) < 32 or len(state) % 8:
                raise ValueError("this state is damaged")
            identity, mode, count, start_time, *numbers = struct.unpack(f"<qqqd{len(state) // 8 - 4}d", state)
            if identity != self.identity or len(numbers) != len(self.cells) + count:
                raise ValueError("this is the state of another model")
            if not (0 <= mode < 4 and all(isfinite(number) for number in numbers)):
                raise ValueError("this state is damaged")
            for (table, name), number in zip(self.cells, numbers):
                table[name] = number
            self.start_time, self.mode = start_time, (BEFORE, RUNNING, TERMINATED, FAILED)[mode]
            self.program = self.make() if count else None
            if count:
                self.program.restore(numbers[len(self.cells) :])
        except Exception as error:
            self.tell(str(error))

    @staticmethod
    def _fmu_state_to_bytes(state):
        return state + WORD.pack(zlib.crc32(state))

    @staticmethod
    def _fmu_state_from_bytes(state):
        """Damaged bytes become a state that no instance takes."""
        return state[:-8] if state[-8:] == WORD.pack(zlib.crc32(state[:-8])) else b""
