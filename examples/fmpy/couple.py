"""Couple arm and controller: read the arm, step the controller, set the torque, step the arm."""

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Slave


class Unit:
    """An FMU whose variables are read and set by name."""

    def __init__(self, path):
        description = fmpy.read_model_description(path)
        self.references = {v.name: v.valueReference for v in description.modelVariables}
        self.slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=fmpy.extract(path),
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=path,
        )
        self.slave.instantiate()
        self.slave.setupExperiment(startTime=0.0)
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()

    def __getitem__(self, name):
        return self.slave.getReal([self.references[name]])[0]

    def __setitem__(self, name, value):
        self.slave.setReal([self.references[name]], [value])

    def step(self, time, size):
        self.slave.doStep(currentCommunicationPoint=time, communicationStepSize=size)


arm, controller, size = Unit("arm.fmu"), Unit("Controller.fmu"), 0.01
rows = [(0.0, arm["lift"])]
for k in range(400):
    controller["angle"], controller["speed"] = arm["lift"], arm["lift_speed"]
    controller.step(k * size, size)
    arm["torque"] = controller["torque"]  # the arm's next step goes with it
    arm.step(k * size, size)
    rows.append(((k + 1) * size, arm["lift"]))
time, lift = np.array(rows).T
reference = np.genfromtxt("closed.csv", delimiter=",", names=True)
inside = np.interp(time, reference["time"], reference["lift"])
print(f"lift at 2 s: {lift[200]:.4f} rad, at 4 s: {lift[-1]:.4f} rad")
print(f"largest difference to the controller inside the mechanism: {abs(lift - inside).max():.1e}")
