"""The position controller as a slave."""

from kinetree.scripts.cosim.controller import Controller, Pid
from kinetree.scripts.cosim.program_script import CAUSALITY, ProgramSlave

INPUTS = ("measured", "target", "target_speed")
OUTPUTS = ("command", "setpoint", "error", "integral")


class PositionController(ProgramSlave):
    """PID with feed-forward, limits, anti-windup and a filtered derivative; one sample per step."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.modelName = "PositionController"
        self.add_parameters("pid")
        for name in INPUTS:
            self.add(name, CAUSALITY.input, self.given, name, self.spec["start"].get(name, 0.0))
        self.add_outputs(OUTPUTS, {"setpoint": ("target",), "error": ("target", "measured")})

    def make(self):
        """The controller of the present parameters."""
        return Controller(Pid(**self.spec["pid"]), [tuple(point) for point in self.spec["profile"]])

    def begin(self):
        """At rest where the start values are."""
        controller = self.make()
        controller.target, controller.target_speed = self.given["target"], self.given["target_speed"]
        controller.settle(self.given["measured"])
        return controller
