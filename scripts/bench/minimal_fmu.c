/* The smallest co-simulation FMU worth the name: x' = -x by one Euler step per communication step. A yardstick for the cost of the calls alone. */
#include <stdlib.h>

#include "fmi2FunctionTypes.h"


typedef struct {
    double t, x;
} Slave;

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return "2.0"; }
fmi2Component fmi2Instantiate(fmi2String n, fmi2Type t, fmi2String g, fmi2String r, const fmi2CallbackFunctions *f, fmi2Boolean v, fmi2Boolean l) {
    Slave *s = calloc(1, sizeof *s);
    if (s) s->x = 1;
    return s;
}
void fmi2FreeInstance(fmi2Component c) { free(c); }
fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean a, fmi2Real b, fmi2Real start, fmi2Boolean d, fmi2Real e) {
    ((Slave *)c)->t = start;
    return fmi2OK;
}
fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2Terminate(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2Reset(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real values[]) {
    for (size_t k = 0; k < n; k++) values[k] = ((Slave *)c)->x;
    return fmi2OK;
}
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real values[]) {
    for (size_t k = 0; k < n; k++) ((Slave *)c)->x = values[k];
    return fmi2OK;
}
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_set) {
    ((Slave *)c)->x -= h * ((Slave *)c)->x;
    ((Slave *)c)->t = t + h;
    return fmi2OK;
}

/* hosts look for every name of the standard */
#define ABSENT(name) int fmi2##name(void) { return fmi2Error; }
ABSENT(SetDebugLogging)
ABSENT(GetInteger)
ABSENT(GetBoolean)
ABSENT(GetString)
ABSENT(SetInteger)
ABSENT(SetBoolean)
ABSENT(SetString)
ABSENT(GetFMUstate)
ABSENT(SetFMUstate)
ABSENT(FreeFMUstate)
ABSENT(SerializedFMUstateSize)
ABSENT(SerializeFMUstate)
ABSENT(DeSerializeFMUstate)
ABSENT(GetDirectionalDerivative)
ABSENT(SetRealInputDerivatives)
ABSENT(GetRealOutputDerivatives)
ABSENT(CancelStep)
ABSENT(GetStatus)
ABSENT(GetRealStatus)
ABSENT(GetIntegerStatus)
ABSENT(GetBooleanStatus)
ABSENT(GetStringStatus)
