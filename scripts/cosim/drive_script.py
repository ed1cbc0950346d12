"""The hydraulic drive as a pythonfmu slave; the builder puts the texts of `oil.py` and `drive.py` before it, and it needs nothing else."""

import json
import os
import pickle
from math import isfinite

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real
from pythonfmu.enums import Fmi2Status

from kinetree.scripts.cosim.drive import Drive
from kinetree.scripts.cosim.oil import Cylinder, DriveError, Valve

OUTPUTS = ("force", "stiffness", "damping", "force_rate", "resting_rate", "pressure_a", "pressure_b", "flow_a", "flow_b", "spool", "command")
CAUSALITY, VARIABILITY = Fmi2Causality, Fmi2Variability


class HydraulicDrive(Fmi2Slave):
    """Four-way valve and double-acting cylinder; with the oil at the partner, pressures come in and flows go out."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with open(os.path.join(self.resources, "drive.json"), encoding="utf-8") as file:
            spec = json.load(file)
        self.modelName, self.inside, self.profile = "HydraulicDrive", spec["inside"], [tuple(point) for point in spec["profile"]]
        self.given = {"load": 0.0, "length": 0.5 * (spec["cylinder"]["shortest"] + spec["cylinder"]["longest"]), "speed": 0.0}
        self.parts = {name: {**spec[name]} for name in ("cylinder", "valve")}
        self.drive = None
        for part, numbers in self.parts.items():
            for name, value in numbers.items():
                self.add(f"{part}.{name}", CAUSALITY.parameter, numbers, name, value)
        self.add("load", CAUSALITY.parameter, self.given, "load", 0.0)
        inputs = ("pressure_a", "pressure_b") if self.inside else ("length", "speed")
        for name in inputs:
            self.given.setdefault(name, 0.0)
            self.add(name, CAUSALITY.input, self.given, name, self.given[name])
        for name in OUTPUTS:
            if name not in inputs:
                kind = {"causality": CAUSALITY.output, "variability": VARIABILITY.continuous}
                self.register_variable(Real(name, getter=lambda name=name: self.output(name), **kind))

    def add(self, label, causality, table, name, start):
        """A variable that the host sets."""
        variability = VARIABILITY.continuous if causality == CAUSALITY.input else VARIABILITY.fixed
        pair = {"getter": lambda: table[name], "setter": lambda value: self.accept(label, table, name, value)}
        self.register_variable(Real(label, causality=causality, variability=variability, start=start, **pair))

    def accept(self, label, table, name, value):
        """Values that are no numbers are refused and named."""
        if not isfinite(value):
            self.log(f"{label} is set to {value}, which is not a finite number; the value before stays", Fmi2Status.error, None)
            return
        table[name] = value
        if self.drive is not None and table is self.given and name != "load":
            setattr(self.drive, name, value)

    def output(self, name):
        drive = self.drive
        if drive is None or name == "damping":
            return 0.0
        if name in ("flow_a", "flow_b"):
            return drive.flows[name == "flow_b"]
        return drive.command(drive.time) if name == "command" else float(getattr(drive, name))

    def exit_initialization_mode(self):
        """Pressures at which the drive carries the load."""
        self.drive = Drive(Cylinder(**self.parts["cylinder"]), Valve(**self.parts["valve"]), self.profile, self.inside)
        self.drive.settle(self.given["length"], self.given["load"])
        self.drive.speed = self.given["speed"]

    def do_step(self, current_time, step_size):
        try:
            self.drive.time = current_time
            self.drive.step(step_size)
            return True
        except (DriveError, OverflowError) as error:
            self.log(f"step at t = {current_time:.6g} s: {error}", Fmi2Status.error, None)
            return False

    def _get_fmu_state(self):
        return pickle.dumps((self.given, self.drive.save() if self.drive else None))

    def _set_fmu_state(self, state):
        given, inner = pickle.loads(state)
        self.given.update(given)
        if inner is not None and self.drive is not None:
            self.drive.restore(inner)

    @staticmethod
    def _fmu_state_to_bytes(state):
        return state

    @staticmethod
    def _fmu_state_from_bytes(state):
        return state
