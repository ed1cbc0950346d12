/* FMI 2.0: co-simulation and model exchange. */
#include <string.h>

#include "engine.h"
#include "fmi2Functions.h"

#define BEGIN(function, modes) \
    Instance *in = (Instance *)c; \
    if (!in) return fmi2Error; \
    if (!(in->mode & (modes))) return (fmi2Status)refuse(in, function);
#define STATUS fmi2Status /* of NEEDS */
#define RETURN(level) return (fmi2Status)(level)

enum {
    RUNNING = STEP | EVENT | CONTINUOUS,
    BEFORE = INSTANTIATED | INITIALIZATION,
    ALIVE = BEFORE | RUNNING,
    READABLE = ALIVE | TERMINATED | FAILED
};

static void sink(Instance *in, int level, const char *category, const char *text) {
    char format[2 * 1024]; /* hosts without variable arguments show the format itself: it is the finished text, percent signs doubled */
    size_t n = 0;
    for (; *text && n + 3 < sizeof format; text++) {
        if (*text == '%') format[n++] = '%';
        format[n++] = *text;
    }
    format[n] = 0;
    if (in->logger) ((fmi2CallbackLogger)in->logger)(in->environment, in->name ? in->name : "unnamed", (fmi2Status)level, category, format);
}

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[]) {
    BEGIN("fmi2SetDebugLogging", READABLE)
    RETURN(set_logging(in, on, n, categories));
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean logging) {
    void *environment = functions ? functions->componentEnvironment : NULL;
    Callback logger = functions ? (Callback)functions->logger : NULL;
    return instance_new(name, guid, resources, type == fmi2ModelExchange, sink, environment, logger, logging);
}

void fmi2FreeInstance(fmi2Component c) { instance_free((Instance *)c); }

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start, fmi2Boolean stop_defined, fmi2Real stop) {
    BEGIN("fmi2SetupExperiment", INSTANTIATED)
    RETURN(setup(in, tolerance_defined, tolerance, start));
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    BEGIN("fmi2EnterInitializationMode", INSTANTIATED)
    in->mode = INITIALIZATION;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    BEGIN("fmi2ExitInitializationMode", INITIALIZATION)
    RETURN(exit_initialization(in));
}

fmi2Status fmi2Terminate(fmi2Component c) {
    BEGIN("fmi2Terminate", RUNNING)
    settle(in);
    in->mode = TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c) {
    BEGIN("fmi2Reset", READABLE)
    RETURN(instance_reset(in));
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real values[]) {
    BEGIN("fmi2GetReal", READABLE)
    NEEDS(!n || (vr && values))
    RETURN(get_reals(in, vr, n, values));
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer values[]) {
    BEGIN("fmi2GetInteger", READABLE)
    NEEDS(!n || (vr && values))
    RETURN(get_integers(in, vr, n, values));
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean values[]) {
    BEGIN("fmi2GetBoolean", READABLE)
    NEEDS(!n || (vr && values))
    RETURN(n ? say(in, LEVEL_ERROR, "'%s' is not a boolean", variable_name(&in->model, vr[0])) : LEVEL_OK);
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String values[]) {
    BEGIN("fmi2GetString", READABLE)
    NEEDS(!n || (vr && values))
    RETURN(get_strings(in, vr, n, values));
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real values[]) {
    BEGIN("fmi2SetReal", ALIVE)
    NEEDS(!n || (vr && values))
    RETURN(set_reals(in, vr, n, values));
}

#define NOT_SETTABLE(Kind) \
    fmi2Status fmi2Set##Kind(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2##Kind values[]) { \
        BEGIN("fmi2Set" #Kind, ALIVE) \
        NEEDS(!n || vr) \
        RETURN(n ? say(in, LEVEL_ERROR, "'%s' cannot be set: it is computed", variable_name(&in->model, vr[0])) : LEVEL_OK); \
    }
NOT_SETTABLE(Integer)
NOT_SETTABLE(Boolean)
NOT_SETTABLE(String)

/* -- state -------------------------------------------------------------------------------------------------------------------------------- */
fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
    BEGIN("fmi2GetFMUstate", READABLE)
    NEEDS(state)
    RETURN(state_save(in, (SavedState **)state));
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
    BEGIN("fmi2SetFMUstate", READABLE)
    NEEDS(state)
    RETURN(state_restore(in, (const SavedState *)state));
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
    BEGIN("fmi2FreeFMUstate", READABLE)
    state_free((SavedState **)state);
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
    BEGIN("fmi2SerializedFMUstateSize", READABLE)
    NEEDS(size)
    *size = state_size(in);
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
    BEGIN("fmi2SerializeFMUstate", READABLE)
    NEEDS(bytes)
    RETURN(state_write(in, (const SavedState *)state, bytes, size));
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
    BEGIN("fmi2DeSerializeFMUstate", READABLE)
    NEEDS(state)
    RETURN(state_parse(in, bytes, size, (SavedState **)state));
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t n, const fmi2ValueReference knowns[], size_t m,
                                        const fmi2Real seed[], fmi2Real result[]) {
    BEGIN("fmi2GetDirectionalDerivative", INITIALIZATION | RUNNING)
    NEEDS((!n || (unknowns && result)) && (!m || (knowns && seed)))
    RETURN(directional(in, unknowns, n, knowns, m, seed, result));
}

/* -- model exchange ------------------------------------------------------------------------------------------------------------------------- */
fmi2Status fmi2EnterEventMode(fmi2Component c) {
    BEGIN("fmi2EnterEventMode", EVENT | CONTINUOUS) /* OpenModelica begins every event with it, the first one too */
    RETURN(enter_event_mode(in));
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
    BEGIN("fmi2NewDiscreteStates", EVENT)
    NEEDS(info)
    int changed = 0, level = handle_event(in, &changed);
    memset(info, 0, sizeof *info);
    info->newDiscreteStatesNeeded = info->valuesOfContinuousStatesChanged = changed;
    info->nextEventTimeDefined = next_event(in, &info->nextEventTime);
    RETURN(level);
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
    BEGIN("fmi2EnterContinuousTimeMode", EVENT)
    RETURN(leave_event_mode(in, CONTINUOUS));
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_set_state, fmi2Boolean *enter_event_mode, fmi2Boolean *terminate) {
    BEGIN("fmi2CompletedIntegratorStep", CONTINUOUS)
    NEEDS(enter_event_mode && terminate)
    *enter_event_mode = *terminate = fmi2False;
    RETURN(step_accepted(in));
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t) {
    BEGIN("fmi2SetTime", EVENT | CONTINUOUS)
    RETURN(set_time(in, t));
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n) {
    BEGIN("fmi2SetContinuousStates", EVENT | CONTINUOUS)
    NEEDS(!n || x)
    RETURN(set_states(in, x, n));
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real values[], size_t n) {
    BEGIN("fmi2GetDerivatives", INITIALIZATION | EVENT | CONTINUOUS | TERMINATED | FAILED)
    NEEDS(!n || values)
    RETURN(get_group(in, in->model.ints[U_AT_RATES], in->model.header[P_STATES], n, values));
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real values[], size_t n) {
    BEGIN("fmi2GetEventIndicators", INITIALIZATION | EVENT | CONTINUOUS | TERMINATED | FAILED)
    NEEDS(!n || values)
    RETURN(get_indicators(in, n, values));
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real values[], size_t n) {
    BEGIN("fmi2GetContinuousStates", INITIALIZATION | EVENT | CONTINUOUS | TERMINATED | FAILED)
    NEEDS(!n || values)
    RETURN(get_group(in, in->model.ints[U_AT_STATES], in->model.header[P_STATES], n, values));
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real values[], size_t n) {
    BEGIN("fmi2GetNominalsOfContinuousStates", READABLE)
    NEEDS(!n || values)
    for (size_t k = 0; k < n; k++) values[k] = (int64_t)k < in->model.header[P_STATES] ? in->model.nominals[k] : 1;
    return fmi2OK;
}

/* -- co-simulation ---------------------------------------------------------------------------------------------------------------------------- */
fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], const fmi2Real values[]) {
    BEGIN("fmi2SetRealInputDerivatives", STEP)
    NEEDS(!n || (vr && order && values))
    RETURN(set_slopes(in, vr, n, order, values));
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], fmi2Real values[]) {
    BEGIN("fmi2GetRealOutputDerivatives", STEP | TERMINATED)
    NEEDS(!n || (vr && order && values))
    RETURN(output_rates(in, vr, n, order, values));
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_set_state) {
    BEGIN("fmi2DoStep", STEP)
    int stopped;
    RETURN(do_step(in, t, h, 0, &stopped));
}

fmi2Status fmi2CancelStep(fmi2Component c) {
    BEGIN("fmi2CancelStep", READABLE)
    RETURN(cancel_step(in)); /* from another thread: fmi2DoStep then returns fmi2Discard */
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value) {
    BEGIN("fmi2GetStatus", READABLE)
    NEEDS(value)
    if (kind == fmi2DoStepStatus) *value = in->mode == FAILED ? fmi2Error : fmi2OK;
    RETURN(kind == fmi2DoStepStatus ? LEVEL_OK : LEVEL_DISCARD);
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value) {
    BEGIN("fmi2GetRealStatus", READABLE)
    NEEDS(value)
    if (kind == fmi2LastSuccessfulTime) *value = in->work[V_TIME];
    RETURN(kind == fmi2LastSuccessfulTime ? LEVEL_OK : LEVEL_DISCARD);
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value) {
    return fmi2Discard;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value) {
    BEGIN("fmi2GetBooleanStatus", READABLE)
    NEEDS(value)
    if (kind == fmi2Terminated) *value = fmi2False;
    RETURN(kind == fmi2Terminated ? LEVEL_OK : LEVEL_DISCARD);
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value) {
    return fmi2Discard;
}
