"""Capability flags of each kind of archive; only tested ones are declared."""

STATE_2 = {"canGetAndSetFMUstate": "true", "canSerializeFMUstate": "true"}
STATE_3 = {"canGetAndSetFMUState": "true", "canSerializeFMUState": "true"}
NATIVE_2 = {
    "ModelExchange": {
        "needsExecutionTool": "false",
        "canNotUseMemoryManagementFunctions": "true",
        "providesDirectionalDerivative": "true",
    }
    | STATE_2,
    "CoSimulation": {
        "needsExecutionTool": "false",
        "canHandleVariableCommunicationStepSize": "true",
        "canInterpolateInputs": "true",
        "maxOutputDerivativeOrder": "1",
        "canNotUseMemoryManagementFunctions": "true",
        "providesDirectionalDerivative": "true",
    }
    | STATE_2,
}
NATIVE_3 = {
    "ModelExchange": {
        "needsCompletedIntegratorStep": "true",
        "providesDirectionalDerivatives": "true",
        "providesAdjointDerivatives": "true",
        "providesEvaluateDiscreteStates": "true",
    }
    | STATE_3,
    "CoSimulation": {
        "canHandleVariableCommunicationStepSize": "true",
        "maxOutputDerivativeOrder": "1",
        "providesIntermediateUpdate": "true",
        "mightReturnEarlyFromDoStep": "true",
        "hasEventMode": "true",
        "providesDirectionalDerivatives": "true",
        "providesAdjointDerivatives": "true",
        "providesEvaluateDiscreteStates": "true",
    }
    | STATE_3,
}
PYTHON_2 = {
    "CoSimulation": {
        "needsExecutionTool": "false",
        "canHandleVariableCommunicationStepSize": "true",
        "canNotUseMemoryManagementFunctions": "true",
    }
    | STATE_2
}
PYTHON_3 = {
    "ModelExchange": NATIVE_3["ModelExchange"],
    "CoSimulation": {
        name: value
        for name, value in NATIVE_3["CoSimulation"].items()
        if name != "providesIntermediateUpdate"
    },
}
