"""Step the FMU by hand: inputs before a step, outputs after it, a state saved and restored."""

import fmpy
from fmpy.fmi2 import FMU2Slave

FMU = "arm.fmu"
description = fmpy.read_model_description(FMU)
references = {variable.name: variable.valueReference for variable in description.modelVariables}
arm = FMU2Slave(
    guid=description.guid,
    unzipDirectory=fmpy.extract(FMU),
    modelIdentifier=description.coSimulation.modelIdentifier,
    instanceName="arm",
)
arm.instantiate()
arm.setupExperiment(startTime=0.0, stopTime=4.0)
arm.enterInitializationMode()
arm.setReal([references["load_mass"]], [3.0])
arm.exitInitializationMode()


def real(name):
    return arm.getReal([references[name]])[0]


step, stage = 0.01, 0
for k in range(400):
    time = k * step
    arm.setReal([references["torque"]], [84.0 if time < 2.0 else 50.0])
    if k == 300:
        saved = arm.getFMUState()  # to come back to t = 3 s
    arm.doStep(currentCommunicationPoint=time, communicationStepSize=step)
    now = arm.getInteger([references["stage"]])[0]
    if now != stage:
        print(f"stage {stage} -> {now} at {real('event_time'):.3f} s, lift {real('lift'):.4f} rad")
        stage = now
first = real("tip_height")

arm.setFMUState(saved)  # back to 3 s, once more without a torque
arm.setReal([references["torque"]], [0.0])
for k in range(300, 400):
    arm.doStep(currentCommunicationPoint=k * step, communicationStepSize=step)
print(f"tip height at 4 s: {first:.4f} m, without torque since 3 s: {real('tip_height'):.4f} m")
arm.freeFMUState(saved)
arm.terminate()
arm.freeInstance()
