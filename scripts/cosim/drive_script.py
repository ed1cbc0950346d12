"""The hydraulic drive as a slave."""

from kinetree.scripts.cosim.drive import Drive
from kinetree.scripts.cosim.oil import Cylinder, Valve
from kinetree.scripts.cosim.program_script import CAUSALITY, ProgramSlave

OUTPUTS = ("force", "stiffness", "damping", "force_rate", "resting_rate", "pressure_a", "pressure_b", "flow_a", "flow_b", "spool", "command")
NEEDS = {"stiffness": ("length",), "force_rate": ("length", "speed"), "resting_rate": ("length", "control"), "command": ("control",)}
NEEDS_INSIDE = {"flow_a": ("pressure_a",), "flow_b": ("pressure_b",), "command": ("control",)}


class HydraulicDrive(ProgramSlave):
    """Four-way valve and double-acting cylinder; with the oil at the partner, pressures come in and flows go out."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.modelName, inside, cylinder = "HydraulicDrive", self.spec["inside"], self.spec["cylinder"]
        self.add_parameters("cylinder")
        self.add_parameters("valve")
        self.add("load", CAUSALITY.parameter, self.given, "load", 0.0)
        self.given["length"] = 0.5 * (cylinder["shortest"] + cylinder["longest"])
        inputs = Drive.INPUTS[inside]
        for name in inputs:
            self.add(name, CAUSALITY.input, self.given, name, self.given.get(name, 0.0))
        if not inside:
            self.add("der(speed)", CAUSALITY.input, self.given, "acceleration", 0.0)
        self.add_outputs([name for name in OUTPUTS if name not in inputs], NEEDS_INSIDE if inside else NEEDS)

    def make(self):
        """The drive of the present parameters."""
        profile = [tuple(point) for point in self.spec["profile"]]
        return Drive(Cylinder(**self.spec["cylinder"]), Valve(**self.spec["valve"]), profile, self.spec["inside"])

    def begin(self):
        """Pressures at which the drive carries the load."""
        drive = self.make()
        drive.settle(self.given["length"], self.given["load"])
        drive.speed, drive.acceleration, drive.control = self.given.get("speed", 0.0), self.given.get("acceleration", 0.0), self.given["control"]
        return drive
