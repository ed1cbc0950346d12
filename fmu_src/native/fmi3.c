/* FMI 3.0: co-simulation with event mode, early return and intermediate update, and model exchange. */
#include <string.h>

#include "engine.h"
#include "fmi3Functions.h"

#define BEGIN(function, modes) \
    Instance *in = (Instance *)instance; \
    if (!in) return fmi3Error; \
    if (!(in->mode & (modes))) return (fmi3Status)refuse(in, function);
#define STATUS fmi3Status /* of NEEDS */
#define RETURN(level) return (fmi3Status)(level)

enum {
    RUNNING = STEP | EVENT | CONTINUOUS,
    BEFORE = INSTANTIATED | INITIALIZATION,
    ALIVE = BEFORE | RUNNING,
    READABLE = ALIVE | TERMINATED | FAILED
};

static void sink(Instance *in, int level, const char *category, const char *text) {
    if (in->logger) ((fmi3LogMessageCallback)in->logger)(in->environment, (fmi3Status)level, category, text);
}

const char *fmi3GetVersion(void) { return fmi3Version; }

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean on, size_t n, const fmi3String categories[]) {
    BEGIN("fmi3SetDebugLogging", READABLE)
    RETURN(set_logging(in, on, n, categories));
}

/* Tell the host of a step of the integrator: it may read values, and ask for an early return, which is how a step is cancelled. */
static int tell_step(Instance *in, int may_return) {
    fmi3Boolean wanted = fmi3False;
    fmi3Float64 until = 0;
    ((fmi3IntermediateUpdateCallback)in->intermediate)(in->environment, in->work[V_TIME], fmi3False, fmi3True, fmi3True, may_return != 0, &wanted, &until);
    return may_return && wanted;
}

static int pause_step(Instance *in) { return tell_step(in, in->early_return_allowed); }

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
                                          fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
    return instance_new(name, token, resources, 1, sink, environment, (Callback)log, logging);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
                                         fmi3Boolean event_mode_used, fmi3Boolean early_return_allowed, const fmi3ValueReference required[],
                                         size_t n, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback intermediate) {
    Instance *in = instance_new(name, token, resources, 0, sink, environment, (Callback)log, logging);
    if (!in) return NULL;
    in->event_mode_used = event_mode_used;
    in->early_return_allowed = early_return_allowed;
    in->intermediate = (Callback)intermediate;
    in->pause = intermediate ? pause_step : NULL;
    return in;
}

void fmi3FreeInstance(fmi3Instance instance) { instance_free((Instance *)instance); }

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean tolerance_defined, fmi3Float64 tolerance, fmi3Float64 start,
                                       fmi3Boolean stop_defined, fmi3Float64 stop) {
    BEGIN("fmi3EnterInitializationMode", INSTANTIATED)
    int level = setup(in, tolerance_defined, tolerance, start);
    if (!level) in->mode = INITIALIZATION;
    RETURN(level);
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance) {
    BEGIN("fmi3ExitInitializationMode", INITIALIZATION)
    RETURN(exit_initialization(in));
}

fmi3Status fmi3EnterEventMode(fmi3Instance instance) {
    BEGIN("fmi3EnterEventMode", STEP | EVENT | CONTINUOUS)
    if (!in->exchange && !in->event_mode_used) RETURN(say(in, LEVEL_ERROR, "event mode was not agreed on at instantiation"));
    RETURN(enter_event_mode(in));
}

fmi3Status fmi3Terminate(fmi3Instance instance) {
    BEGIN("fmi3Terminate", RUNNING)
    settle(in);
    in->mode = TERMINATED;
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance instance) {
    BEGIN("fmi3Reset", READABLE)
    RETURN(instance_reset(in));
}

/* -- values --------------------------------------------------------------------------------------------------------------------------------- */
static int same_count(Instance *in, size_t n, size_t values) {
    return n == values ? LEVEL_OK : say(in, LEVEL_ERROR, "%zu values for %zu variables: all variables are scalars", values, n);
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float64 values[], size_t count) {
    BEGIN("fmi3GetFloat64", READABLE)
    NEEDS(!n || (vr && values))
    int level = same_count(in, n, count);
    RETURN(level ? level : get_reals(in, vr, n, values));
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Float64 values[], size_t count) {
    BEGIN("fmi3SetFloat64", ALIVE)
    NEEDS(!n || (vr && values))
    int level = same_count(in, n, count);
    RETURN(level ? level : set_reals(in, vr, n, values));
}

fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Int32 values[], size_t count) {
    BEGIN("fmi3GetInt32", READABLE)
    NEEDS(!n || (vr && values))
    int level = same_count(in, n, count);
    RETURN(level ? level : get_integers(in, vr, n, values));
}

fmi3Status fmi3GetString(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3String values[], size_t count) {
    BEGIN("fmi3GetString", READABLE)
    NEEDS(!n || (vr && values))
    int level = same_count(in, n, count);
    RETURN(level ? level : get_strings(in, vr, n, values));
}

/* -- state ------------------------------------------------------------------------------------------------------------------------------------ */
fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *state) {
    BEGIN("fmi3GetFMUState", READABLE)
    NEEDS(state)
    RETURN(state_save(in, (SavedState **)state));
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state) {
    BEGIN("fmi3SetFMUState", READABLE)
    NEEDS(state)
    RETURN(state_restore(in, (const SavedState *)state));
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *state) {
    BEGIN("fmi3FreeFMUState", READABLE)
    state_free((SavedState **)state);
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState state, size_t *size) {
    BEGIN("fmi3SerializedFMUStateSize", READABLE)
    NEEDS(size)
    *size = state_size(in);
    return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
    BEGIN("fmi3SerializeFMUState", READABLE)
    NEEDS(bytes)
    RETURN(state_write(in, (const SavedState *)state, (char *)bytes, size));
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state) {
    BEGIN("fmi3DeserializeFMUState", READABLE)
    NEEDS(state)
    RETURN(state_parse(in, (const char *)bytes, size, (SavedState **)state));
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t n, const fmi3ValueReference knowns[], size_t m,
                                        const fmi3Float64 seed[], size_t seeds, fmi3Float64 result[], size_t results) {
    BEGIN("fmi3GetDirectionalDerivative", INITIALIZATION | RUNNING | TERMINATED)
    NEEDS((!n || (unknowns && result)) && (!m || (knowns && seed)))
    int level = same_count(in, m, seeds);
    if (!level) level = same_count(in, n, results);
    RETURN(level ? level : directional(in, unknowns, n, knowns, m, seed, result));
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t n, const fmi3ValueReference knowns[], size_t m,
                                    const fmi3Float64 seed[], size_t seeds, fmi3Float64 result[], size_t results) {
    BEGIN("fmi3GetAdjointDerivative", INITIALIZATION | RUNNING | TERMINATED)
    NEEDS((!n || (unknowns && seed)) && (!m || (knowns && result)))
    int level = same_count(in, n, seeds);
    if (!level) level = same_count(in, m, results);
    for (size_t k = 0; k < m && !level; k++) {
        const double one = 1;
        result[k] = 0;
        for (size_t i = 0; i < n && !level; i++) {
            double slope = 0;
            if (seed[i] != 0) level = directional(in, unknowns + i, 1, knowns + k, 1, &one, &slope);
            result[k] += seed[i] * slope;
        }
    }
    RETURN(level);
}

/* -- events and model exchange ------------------------------------------------------------------------------------------------------------------ */
fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance instance) {
    BEGIN("fmi3EvaluateDiscreteStates", INITIALIZATION | EVENT)
    RETURN(settle(in));
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate, fmi3Boolean *nominals_changed,
                                    fmi3Boolean *values_changed, fmi3Boolean *next_defined, fmi3Float64 *next) {
    BEGIN("fmi3UpdateDiscreteStates", EVENT)
    NEEDS(again && terminate && nominals_changed && values_changed && next_defined && next)
    int changed = 0, level = handle_event(in, &changed);
    *again = *values_changed = changed != 0;
    *terminate = *nominals_changed = fmi3False;
    *next_defined = next_event(in, next) != 0;
    RETURN(level);
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance) {
    BEGIN("fmi3EnterContinuousTimeMode", EVENT)
    if (!in->exchange) RETURN(refuse(in, "fmi3EnterContinuousTimeMode of a co-simulation instance"));
    RETURN(leave_event_mode(in, CONTINUOUS));
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance instance, fmi3Boolean no_set_state, fmi3Boolean *enter_event_mode, fmi3Boolean *terminate) {
    BEGIN("fmi3CompletedIntegratorStep", CONTINUOUS)
    NEEDS(enter_event_mode && terminate)
    *enter_event_mode = *terminate = fmi3False;
    RETURN(step_accepted(in));
}

fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 t) {
    BEGIN("fmi3SetTime", EVENT | CONTINUOUS)
    if (!in->exchange) RETURN(refuse(in, "fmi3SetTime of a co-simulation instance"));
    RETURN(set_time(in, t));
}

fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 x[], size_t n) {
    BEGIN("fmi3SetContinuousStates", CONTINUOUS)
    NEEDS(!n || x)
    RETURN(set_states(in, x, n));
}

#define EXCHANGE (INITIALIZATION | EVENT | CONTINUOUS | TERMINATED | FAILED)

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 values[], size_t n) {
    BEGIN("fmi3GetContinuousStateDerivatives", EXCHANGE)
    NEEDS(!n || values)
    RETURN(get_group(in, in->model.ints[U_AT_RATES], in->model.header[P_STATES], n, values));
}

fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 values[], size_t n) {
    BEGIN("fmi3GetEventIndicators", EXCHANGE)
    NEEDS(!n || values)
    RETURN(get_indicators(in, n, values));
}

fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 values[], size_t n) {
    BEGIN("fmi3GetContinuousStates", EXCHANGE)
    NEEDS(!n || values)
    RETURN(get_group(in, in->model.ints[U_AT_STATES], in->model.header[P_STATES], n, values));
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 values[], size_t n) {
    BEGIN("fmi3GetNominalsOfContinuousStates", READABLE)
    NEEDS(!n || values)
    for (size_t k = 0; k < n; k++) values[k] = (int64_t)k < in->model.header[P_STATES] ? in->model.nominals[k] : 1;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t *n) {
    BEGIN("fmi3GetNumberOfEventIndicators", READABLE)
    NEEDS(n)
    *n = (size_t)in->model.header[P_GUARDS];
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t *n) {
    BEGIN("fmi3GetNumberOfContinuousStates", READABLE)
    NEEDS(n)
    *n = (size_t)in->model.header[P_STATES];
    return fmi3OK;
}

/* -- co-simulation -------------------------------------------------------------------------------------------------------------------------------- */
fmi3Status fmi3EnterStepMode(fmi3Instance instance) {
    BEGIN("fmi3EnterStepMode", EVENT)
    if (in->exchange) RETURN(refuse(in, "fmi3EnterStepMode of a model exchange instance"));
    RETURN(leave_event_mode(in, STEP));
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Int32 orders[], fmi3Float64 values[],
                                    size_t count) {
    BEGIN("fmi3GetOutputDerivatives", STEP | EVENT | TERMINATED)
    NEEDS(!n || (vr && orders && values))
    int level = same_count(in, n, count);
    RETURN(level ? level : output_rates(in, vr, n, orders, values));
}

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_set_state, fmi3Boolean *event_handling_needed,
                      fmi3Boolean *terminate, fmi3Boolean *early_return, fmi3Float64 *last_time) {
    BEGIN("fmi3DoStep", STEP)
    NEEDS(event_handling_needed && terminate && early_return && last_time)
    int stopped = 0, level = do_step(in, t, h, in->event_mode_used && in->early_return_allowed, &stopped);
    *event_handling_needed = stopped != 0;
    *terminate = fmi3False;
    *early_return = !level && in->work[V_TIME] < t + h - 1e-9 * h;
    *last_time = in->work[V_TIME];
    if (!level && in->intermediate && (stopped || !*early_return)) tell_step(in, 0); /* an early return by its wish has been told */
    RETURN(level);
}
