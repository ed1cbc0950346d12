"""A program of this project as a pythonfmu slave; the builder puts the program's modules before it, and it needs nothing else.

Numbers, units and what depends on what come from a resource, values that are no numbers are refused and named, the state is the whole state.
"""

import json
import os
import pickle
from math import isfinite
from xml.etree.ElementTree import Element, SubElement

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real
from pythonfmu.enums import Fmi2Status

CAUSALITY, VARIABILITY = Fmi2Causality, Fmi2Variability


class ProgramSlave(Fmi2Slave):
    """Parameters and inputs are tables of numbers; `program` exists from the end of the initialization."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with open(os.path.join(self.resources, "program.json"), encoding="utf-8") as file:
            self.spec = json.load(file)
        self.given, self.program, self.needs, self.named = {}, None, {}, {}

    def add_parameters(self, part):
        """Numbers of one part of the program."""
        for name, value in self.spec[part].items():
            self.add(f"{part}.{name}", CAUSALITY.parameter, self.spec[part], name, value)

    def add(self, label, causality, table, name, start):
        """A variable that the host sets."""
        table[name] = start
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
        """Values that are no numbers are refused and named."""
        if not isfinite(value):
            self.log(f"{label} is set to {value}, which is not a finite number; the value before stays", Fmi2Status.error, None)
            return
        table[name] = value
        if self.program is not None and table is self.given and hasattr(self.program, name):
            setattr(self.program, name, value)

    def output(self, name):
        return 0.0 if self.program is None else float(getattr(self.program, name))

    def exit_initialization_mode(self):
        self.program = self.begin()

    def do_step(self, current_time, step_size):
        try:
            self.program.time = current_time
            self.program.step(step_size)
            return True
        except (ValueError, ArithmeticError) as error:
            self.log(f"step at t = {current_time:.6g} s: {error}", Fmi2Status.error, None)
            return False

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
        return pickle.dumps((self.given, self.program.save() if self.program else None))

    def _set_fmu_state(self, state):
        given, inner = pickle.loads(state)
        self.given.update(given)
        if inner is not None and self.program is not None:
            self.program.restore(inner)

    @staticmethod
    def _fmu_state_to_bytes(state):
        return state

    @staticmethod
    def _fmu_state_from_bytes(state):
        return state
