/* FMI 3.0: the functions of what this FMU does not have: other types, clocks, configuration, scheduled execution. */
#include "engine.h"
#include "fmi3Functions.h"

#define STATUS fmi3Status /* of NEEDS */
#define BEGIN(function, modes) \
    Instance *in = (Instance *)instance; \
    if (!in) return fmi3Error; \
    if (!(in->mode & (modes))) return (fmi3Status)refuse(in, function);

enum { ANY = INSTANTIATED | INITIALIZATION | STEP | EVENT | CONTINUOUS | TERMINATED | FAILED };

#define NOTHING(function) \
    BEGIN(function, ANY) \
    NEEDS(!n || vr) \
    return (fmi3Status)(n ? say(in, LEVEL_ERROR, "%s: '%s' is not of this type or cannot be set", function, variable_name(&in->model, vr[0])) : LEVEL_OK);
#define NO_VALUES(Kind) \
    fmi3Status fmi3Get##Kind(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3##Kind values[], size_t count) { \
        NOTHING("fmi3Get" #Kind) \
    }
#define NOT_SETTABLE(Kind) \
    fmi3Status fmi3Set##Kind(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3##Kind values[], size_t count) { \
        NOTHING("fmi3Set" #Kind) \
    }
NO_VALUES(Float32)
NO_VALUES(Int8)
NO_VALUES(UInt8)
NO_VALUES(Int16)
NO_VALUES(UInt16)
NO_VALUES(UInt32)
NO_VALUES(Int64)
NO_VALUES(UInt64)
NO_VALUES(Boolean)
NOT_SETTABLE(Float32)
NOT_SETTABLE(Int8)
NOT_SETTABLE(UInt8)
NOT_SETTABLE(Int16)
NOT_SETTABLE(UInt16)
NOT_SETTABLE(Int32)
NOT_SETTABLE(UInt32)
NOT_SETTABLE(Int64)
NOT_SETTABLE(UInt64)
NOT_SETTABLE(Boolean)
NOT_SETTABLE(String)

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, size_t sizes[], fmi3Binary values[], size_t count) {
    NOTHING("fmi3GetBinary")
}
fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const size_t sizes[], const fmi3Binary values[], size_t count) {
    NOTHING("fmi3SetBinary")
}
fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Clock values[]) { NOTHING("fmi3GetClock") }
fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Clock values[]) { NOTHING("fmi3SetClock") }

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3ClockUpdateCallback clock,
                                               fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock) {
    if (log) log(environment, fmi3Error, "logStatusError", "this FMU has no scheduled execution");
    return NULL;
}

#define ABSENT(Name, ...) \
    fmi3Status fmi3##Name(fmi3Instance instance, __VA_ARGS__) { \
        BEGIN("fmi3" #Name, 0) \
        return fmi3Error; \
    }
fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance) { BEGIN("fmi3EnterConfigurationMode", 0) return fmi3Error; }
fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance) { BEGIN("fmi3ExitConfigurationMode", 0) return fmi3Error; }
ABSENT(GetNumberOfVariableDependencies, fmi3ValueReference vr, size_t *n)
ABSENT(GetVariableDependencies, fmi3ValueReference vr, size_t a[], fmi3ValueReference b[], size_t c[], fmi3DependencyKind kinds[], size_t n)
ABSENT(GetIntervalDecimal, const fmi3ValueReference vr[], size_t n, fmi3Float64 a[], fmi3IntervalQualifier b[])
ABSENT(GetIntervalFraction, const fmi3ValueReference vr[], size_t n, fmi3UInt64 a[], fmi3UInt64 b[], fmi3IntervalQualifier c[])
ABSENT(GetShiftDecimal, const fmi3ValueReference vr[], size_t n, fmi3Float64 a[])
ABSENT(GetShiftFraction, const fmi3ValueReference vr[], size_t n, fmi3UInt64 a[], fmi3UInt64 b[])
ABSENT(SetIntervalDecimal, const fmi3ValueReference vr[], size_t n, const fmi3Float64 a[])
ABSENT(SetIntervalFraction, const fmi3ValueReference vr[], size_t n, const fmi3UInt64 a[], const fmi3UInt64 b[])
ABSENT(SetShiftDecimal, const fmi3ValueReference vr[], size_t n, const fmi3Float64 a[])
ABSENT(SetShiftFraction, const fmi3ValueReference vr[], size_t n, const fmi3UInt64 a[], const fmi3UInt64 b[])
ABSENT(ActivateModelPartition, fmi3ValueReference clock, fmi3Float64 t)
