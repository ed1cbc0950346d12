/* FMI 3.0. Stands before the library of pythonfmu3, as loader2.c before pythonfmu's: it brings the interpreter, and hands calls on.

   pythonfmu3's library does not tell the slave what kind of instance it is, start time, tolerance, changes of modes and ends of steps, and leaves out what
   a step tells. That goes by its fmi3SetFloat64 and fmi3GetFloat64 with numbers and without value references, which no host can send: hosts give as many
   numbers as references. Functions that end the host there by an exception of C++ are answered here. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi3Functions.h"
#include "loader.h"

enum { CATEGORIES = 6 };
static const char *const CATEGORY[CATEGORIES] = {"logEvents", "logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal", "logAll"};
enum { ERRORS = 1 << 3 | 1 << 4, EVERYTHING = (1 << CATEGORIES) - 1 }; /* bits of categories */

typedef struct {
    fmi3Instance slave;
    fmi3InstanceEnvironment environment; /* the host's */
    fmi3LogMessageCallback log;
    fmi3Status worst; /* of the messages since the present call began */
    int logging, dead;
    double kind[3]; /* model exchange; event mode used; early return allowed */
    size_t states, indicators;
} Wrapped;

/* what is said to the slave, in the order of SAID in fmi3.py */
enum { BEGIN, SET_UP, EVENT_MODE, CONTINUOUS_TIME_MODE, STEP_MODE, COMPLETED_STEP, EVALUATE_DISCRETE, SLOPES, OUTPUT_RATES };

#define CALLS(X) \
    X(InstantiateCoSimulation) X(InstantiateModelExchange) X(FreeInstance) X(EnterInitializationMode) X(ExitInitializationMode) X(Terminate) X(Reset) \
    X(GetFloat64) X(SetFloat64) X(GetInt32) X(GetString) X(GetFMUState) X(SetFMUState) X(FreeFMUState) X(SerializedFMUStateSize) X(SerializeFMUState) \
    X(DeserializeFMUState) X(DoStep) X(SetTime) X(SetContinuousStates) X(GetContinuousStates) X(GetContinuousStateDerivatives) X(GetEventIndicators) \
    X(GetNominalsOfContinuousStates) X(GetNumberOfContinuousStates) X(GetNumberOfEventIndicators) X(UpdateDiscreteStates)
#define POINTER(name) fmi3##name##TYPE *name;
static struct { CALLS(POINTER) } slave;
static int ready;

/* -- messages ------------------------------------------------------------------------------------------------------------------------------- */
static fmi3Status tell(Wrapped *w, fmi3Status status, const char *category, const char *format, ...) {
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int bit = CATEGORIES - 1;
    for (int k = 0; k < CATEGORIES; k++)
        if (category && !strcmp(category, CATEGORY[k])) bit = k;
    if (w->log && w->logging >> bit & 1) w->log(w->environment, status, CATEGORY[bit], text);
    return status;
}
static fmi3Status wrong(Wrapped *w, const char *text) { return tell(w, fmi3Error, "logStatusError", "%s", text); }

static void from_slave(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message) {
    Wrapped *w = environment;
    if (status > w->worst) w->worst = status;
    tell(w, status, category, "%s", message ? message : "");
}

/* -- instances -------------------------------------------------------------------------------------------------------------------------------- */
static const char *open_all(const char *resources) {
    void *library;
    const char *problem = ready ? NULL : open_original(resources, &library);
    if (ready || problem) return problem;
#define FIND(name) if (!(slave.name = (fmi3##name##TYPE *)find(library, "fmi3" #name))) return "pythonfmu3's library lacks fmi3" #name;
    CALLS(FIND)
    ready = 1;
    return NULL;
}

static fmi3Status say(Wrapped *w, int what, const double *numbers, size_t n) {
    double *all = malloc((n + 1) * sizeof *all);
    if (!all) return wrong(w, "out of memory");
    all[0] = what;
    if (n) memcpy(all + 1, numbers, n * sizeof *all);
    fmi3Status status = slave.SetFloat64(w->slave, NULL, 0, all, n + 1);
    free(all);
    return status > w->worst ? status : w->worst;
}

/* What the slave has to answer to what was said, or to a step. */
static fmi3Status answer(Wrapped *w, double *values, size_t n) { return n ? slave.GetFloat64(w->slave, NULL, 0, values, n) : fmi3OK; }

const char *fmi3GetVersion(void) { return fmi3Version; }

static fmi3Instance made(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment environment,
                         fmi3LogMessageCallback log, const double kind[3]) {
    char path[PATH_SIZE], alias[ALIAS_SIZE] = "";
    Wrapped *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->environment = environment, w->log = log, w->logging = EVERYTHING;
    memcpy(w->kind, kind, sizeof w->kind);
    if (!name || !*name) name = "unnamed";
    const char *problem = found_archive(resources, token, path, alias);
    if (!problem) problem = open_all(path);
    if (!problem) {
        w->slave = kind[0] ? slave.InstantiateModelExchange(name, token, path, visible, fmi3True, w, from_slave)
                           : slave.InstantiateCoSimulation(name, token, path, visible, fmi3True, fmi3False, fmi3False, NULL, 0, w, from_slave, NULL);
        if (!w->slave) problem = NO_SLAVE;
        else if (say(w, BEGIN, kind, 3) >= fmi3Error || slave.GetNumberOfContinuousStates(w->slave, &w->states) ||
                 slave.GetNumberOfEventIndicators(w->slave, &w->indicators))
            problem = "the slave says that it cannot be used";
    }
    if (*alias) remove_alias(alias);
    if (!problem) {
        w->logging = logging ? EVERYTHING : ERRORS;
        return w;
    }
    tell(w, fmi3Error, "logStatusError", "cannot instantiate: %s (resource location '%s')", problem, resources ? resources : "");
    if (w->slave) slave.FreeInstance(w->slave);
    free(w);
    return NULL;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
                                          fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
    return made(name, token, resources, visible, logging, environment, log, (double[]){1, 0, 0});
}
fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
                                         fmi3Boolean event_mode_used, fmi3Boolean early_return_allowed, const fmi3ValueReference required[], size_t n,
                                         fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback intermediate) {
    return made(name, token, resources, visible, logging, environment, log, (double[]){0, event_mode_used, early_return_allowed});
}
fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3ClockUpdateCallback clock,
                                               fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock) {
    if (log) log(environment, fmi3Error, "logStatusError", "this FMU has no scheduled execution");
    return NULL;
}
void fmi3FreeInstance(fmi3Instance c) {
    Wrapped *w = c;
    if (w && !w->dead) slave.FreeInstance(w->slave);
    free(w);
}

/* -- calls that are handed on ------------------------------------------------------------------------------------------------------------------ */
static Wrapped *begun(fmi3Instance c) {
    Wrapped *w = c;
    if (!w) return NULL;
    w->worst = fmi3OK;
    if (!w->dead) return w;
    wrong(w, "this instance has failed and can only be freed");
    return NULL;
}

/* A failure that is fatal to pythonfmu3 has freed its instance: it is not called again, and the host gets an error. */
static fmi3Status ended(Wrapped *w, fmi3Status status) {
    if (status == fmi3Fatal) {
        w->dead = 1;
        return wrong(w, "the slave raised an exception; this instance can only be freed");
    }
    return w->worst > status ? w->worst : status;
}

#define BEGUN(c) \
    Wrapped *w = begun(c); \
    if (!w) return fmi3Error;
#define NEEDS(holds) \
    if (!(holds)) return tell(w, fmi3Error, "logStatusError", "%s was given NULL where it needs an address", __func__);
#define SAME(n, count) \
    if ((n) != (count)) return tell(w, fmi3Error, "logStatusError", "%zu values for %zu variables: all variables are scalars", (size_t)(count), (size_t)(n));
#define OF(n, count) \
    if ((n) != (count)) return tell(w, fmi3Error, "logStatusError", "%zu numbers were asked for, there are %zu", (size_t)(n), (size_t)(count));

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean with, fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean until, fmi3Float64 stop) {
    BEGUN(c)
    fmi3Status status = say(w, SET_UP, (double[]){start, with, with ? tolerance : 0}, 3);
    return ended(w, status ? status : slave.EnterInitializationMode(w->slave, with, tolerance, start, until, stop));
}
fmi3Status fmi3ExitInitializationMode(fmi3Instance c) {
    BEGUN(c)
    return ended(w, slave.ExitInitializationMode(w->slave));
}
fmi3Status fmi3Terminate(fmi3Instance c) {
    BEGUN(c)
    return ended(w, slave.Terminate(w->slave));
}
fmi3Status fmi3Reset(fmi3Instance c) {
    BEGUN(c)
    fmi3Status status = slave.Reset(w->slave);
    return ended(w, status ? status : say(w, BEGIN, w->kind, 3));
}
#define VALUES(Function, type) \
    fmi3Status fmi3##Function(fmi3Instance c, const fmi3ValueReference vr[], size_t n, type values[], size_t count) { \
        BEGUN(c) \
        NEEDS(!n || (vr && values)) \
        SAME(n, count) \
        return n ? ended(w, slave.Function(w->slave, vr, n, values, count)) : fmi3OK; \
    }
VALUES(GetFloat64, fmi3Float64)
VALUES(SetFloat64, const fmi3Float64)
VALUES(GetInt32, fmi3Int32)
VALUES(GetString, fmi3String)

/* -- state ------------------------------------------------------------------------------------------------------------------------------------ */
fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state) {
    BEGUN(c)
    fmi3Status status = state && *state ? slave.FreeFMUState(w->slave, state) : fmi3OK;
    if (state) *state = NULL;
    return ended(w, status);
}
fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state) {
    BEGUN(c)
    NEEDS(state)
    fmi3FMUState before = *state; /* a state that the host gives again is renewed */
    fmi3Status status = slave.GetFMUState(w->slave, state);
    if (!status && before) slave.FreeFMUState(w->slave, &before);
    return ended(w, status);
}
fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state) {
    BEGUN(c)
    NEEDS(state)
    return ended(w, slave.SetFMUState(w->slave, state));
}
fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size) {
    BEGUN(c)
    NEEDS(state && size)
    return ended(w, slave.SerializedFMUStateSize(w->slave, state, size));
}
fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
    BEGUN(c)
    NEEDS(state && bytes)
    size_t needed = 0;
    fmi3Status status = slave.SerializedFMUStateSize(w->slave, state, &needed);
    if (!status && size < needed) return tell(w, fmi3Error, "logStatusError", "a state of this model needs %zu bytes, not %zu", needed, size);
    return ended(w, status ? status : slave.SerializeFMUState(w->slave, state, bytes, needed));
}
fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state) {
    BEGUN(c)
    NEEDS(bytes && state)
    return ended(w, slave.DeserializeFMUState(w->slave, bytes, size, state));
}

/* -- events and model exchange ------------------------------------------------------------------------------------------------------------------ */
#define SAID(Function, what) \
    fmi3Status fmi3##Function(fmi3Instance c) { \
        BEGUN(c) \
        return ended(w, say(w, what, NULL, 0)); \
    }
SAID(EnterEventMode, EVENT_MODE)
SAID(EnterContinuousTimeMode, CONTINUOUS_TIME_MODE)
SAID(EnterStepMode, STEP_MODE)
SAID(EvaluateDiscreteStates, EVALUATE_DISCRETE)

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_set_state, fmi3Boolean *enter_event_mode, fmi3Boolean *terminate) {
    BEGUN(c)
    NEEDS(enter_event_mode && terminate)
    *enter_event_mode = *terminate = fmi3False;
    return ended(w, say(w, COMPLETED_STEP, NULL, 0));
}
fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *again, fmi3Boolean *terminate, fmi3Boolean *nominals_changed, fmi3Boolean *values_changed,
                                    fmi3Boolean *next_defined, fmi3Float64 *next) {
    BEGUN(c)
    NEEDS(again && terminate && nominals_changed && values_changed && next_defined && next)
    *again = *terminate = *nominals_changed = *values_changed = *next_defined = fmi3False; /* pythonfmu3 writes what it finds only */
    *next = 0;
    return ended(w, slave.UpdateDiscreteStates(w->slave, again, terminate, nominals_changed, values_changed, next_defined, next));
}
fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 t) {
    BEGUN(c)
    return ended(w, slave.SetTime(w->slave, t));
}
fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 values[], size_t n) {
    BEGUN(c)
    NEEDS(!n || values)
    return ended(w, slave.SetContinuousStates(w->slave, values, n));
}
#define GROUP(Function, count) \
    fmi3Status fmi3##Function(fmi3Instance c, fmi3Float64 values[], size_t n) { \
        BEGUN(c) \
        NEEDS(!n || values) \
        OF(n, w->count) \
        return ended(w, slave.Function(w->slave, values, n)); \
    }
GROUP(GetContinuousStates, states)
GROUP(GetContinuousStateDerivatives, states)
GROUP(GetNominalsOfContinuousStates, states)
GROUP(GetEventIndicators, indicators)

#define NUMBER(Function, count) \
    fmi3Status fmi3##Function(fmi3Instance c, size_t *n) { \
        BEGUN(c) \
        NEEDS(n) \
        *n = w->count; \
        return fmi3OK; \
    }
NUMBER(GetNumberOfContinuousStates, states)
NUMBER(GetNumberOfEventIndicators, indicators)

/* -- slopes ------------------------------------------------------------------------------------------------------------------------------------- */
/* The unknowns' slopes along the seed of the knowns. */
static fmi3Status slopes(Wrapped *w, const fmi3ValueReference unknowns[], size_t n, const fmi3ValueReference knowns[], size_t m, const double seed[], double result[]) {
    double *numbers = malloc((2 + n + 2 * m) * sizeof *numbers), *at = numbers;
    if (!numbers) return wrong(w, "out of memory for derivatives");
    *at++ = (double)n;
    *at++ = (double)m;
    for (size_t k = 0; k < n; k++) *at++ = unknowns[k];
    for (size_t k = 0; k < m; k++) *at++ = knowns[k];
    for (size_t k = 0; k < m; k++) *at++ = seed[k];
    fmi3Status status = say(w, SLOPES, numbers, 2 + n + 2 * m);
    free(numbers);
    return status >= fmi3Discard ? status : answer(w, result, n);
}
fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n, const fmi3ValueReference knowns[], size_t m,
                                        const fmi3Float64 seed[], size_t seeds, fmi3Float64 result[], size_t results) {
    BEGUN(c)
    NEEDS((!n || (unknowns && result)) && (!m || (knowns && seed)))
    SAME(m, seeds)
    SAME(n, results)
    return ended(w, slopes(w, unknowns, n, knowns, m, seed, result));
}
fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n, const fmi3ValueReference knowns[], size_t m,
                                    const fmi3Float64 seed[], size_t seeds, fmi3Float64 result[], size_t results) {
    BEGUN(c)
    NEEDS((!n || (unknowns && seed)) && (!m || (knowns && result)))
    SAME(n, seeds)
    SAME(m, results)
    fmi3Status status = fmi3OK;
    for (size_t k = 0; k < m && status < fmi3Discard; k++) {
        const double one = 1;
        result[k] = 0;
        for (size_t i = 0; i < n && status < fmi3Discard; i++) {
            double slope = 0;
            if (seed[i] != 0) status = slopes(w, unknowns + i, 1, knowns + k, 1, &one, &slope);
            result[k] += seed[i] * slope;
        }
    }
    return ended(w, status);
}
fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Int32 orders[], fmi3Float64 values[], size_t count) {
    BEGUN(c)
    NEEDS(!n || (vr && orders && values))
    SAME(n, count)
    double *numbers = calloc(2 * n + 1, sizeof *numbers);
    if (!numbers) return wrong(w, "out of memory for derivatives");
    for (size_t k = 0; k < n; k++) numbers[k] = vr[k], numbers[n + k] = orders[k];
    fmi3Status status = say(w, OUTPUT_RATES, numbers, 2 * n);
    free(numbers);
    return ended(w, status >= fmi3Discard ? status : answer(w, values, n));
}

/* -- co-simulation -------------------------------------------------------------------------------------------------------------------------------- */
fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_set_state, fmi3Boolean *event_handling_needed, fmi3Boolean *terminate,
                      fmi3Boolean *early_return, fmi3Float64 *last_time) {
    BEGUN(c)
    NEEDS(event_handling_needed && terminate && early_return && last_time)
    double told[3] = {0, 0, t};
    *event_handling_needed = *terminate = *early_return = fmi3False;
    fmi3Status status = slave.DoStep(w->slave, t, h, no_set_state, event_handling_needed, terminate, early_return, last_time);
    if (status != fmi3Fatal && answer(w, told, 3) == fmi3Fatal) status = fmi3Fatal;
    *event_handling_needed = told[0] != 0;
    *early_return = told[1] != 0;
    *last_time = told[2];
    return ended(w, status);
}

/* -- what slaves in Python do not have -------------------------------------------------------------------------------------------------------- */
fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String categories[]) {
    BEGUN(c)
    fmi3Status status = fmi3OK;
    w->logging = on ? EVERYTHING : ERRORS; /* what goes wrong is never silent */
    if (!on || !n || !categories) return status;
    w->logging = 0;
    for (size_t i = 0; i < n; i++) {
        int known = 0;
        for (int k = 0; k < CATEGORIES; k++)
            if (categories[i] && !strcmp(categories[i], CATEGORY[k])) known = k == CATEGORIES - 1 ? EVERYTHING : 1 << k;
        w->logging |= known;
        if (!known) {
            w->logging |= 2;
            status = tell(w, fmi3Warning, "logStatusWarning", "unknown log category '%s'", categories[i] ? categories[i] : "");
        }
    }
    return status;
}

#define NOTHING \
    BEGUN(c) \
    return n ? tell(w, fmi3Error, "logStatusError", "%s: no variable of this FMU is of this type, or can be set", __func__) : fmi3OK;
#define GET(Kind) \
    fmi3Status fmi3Get##Kind(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3##Kind values[], size_t count) { NOTHING }
#define SET(Kind) \
    fmi3Status fmi3Set##Kind(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3##Kind values[], size_t count) { NOTHING }
GET(Float32) GET(Int8) GET(UInt8) GET(Int16) GET(UInt16) GET(UInt32) GET(Int64) GET(UInt64) GET(Boolean)
SET(Float32) SET(Int8) SET(UInt8) SET(Int16) SET(UInt16) SET(Int32) SET(UInt32) SET(Int64) SET(UInt64) SET(Boolean) SET(String)
fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, size_t sizes[], fmi3Binary values[], size_t count) { NOTHING }
fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const size_t sizes[], const fmi3Binary values[], size_t count) { NOTHING }
fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Clock values[]) { NOTHING }
fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Clock values[]) { NOTHING }

#define ABSENT(Name, ...) \
    fmi3Status fmi3##Name(fmi3Instance c __VA_ARGS__) { \
        BEGUN(c) \
        return tell(w, fmi3Error, "logStatusError", "%s is not offered by this archive", __func__); \
    }
#define AND ,
ABSENT(EnterConfigurationMode)
ABSENT(ExitConfigurationMode)
ABSENT(GetNumberOfVariableDependencies, AND fmi3ValueReference vr, size_t *n)
ABSENT(GetVariableDependencies, AND fmi3ValueReference vr, size_t a[], fmi3ValueReference b[], size_t d[], fmi3DependencyKind kinds[], size_t n)
ABSENT(GetIntervalDecimal, AND const fmi3ValueReference vr[], size_t n, fmi3Float64 a[], fmi3IntervalQualifier b[])
ABSENT(GetIntervalFraction, AND const fmi3ValueReference vr[], size_t n, fmi3UInt64 a[], fmi3UInt64 b[], fmi3IntervalQualifier d[])
ABSENT(GetShiftDecimal, AND const fmi3ValueReference vr[], size_t n, fmi3Float64 a[])
ABSENT(GetShiftFraction, AND const fmi3ValueReference vr[], size_t n, fmi3UInt64 a[], fmi3UInt64 b[])
ABSENT(SetIntervalDecimal, AND const fmi3ValueReference vr[], size_t n, const fmi3Float64 a[])
ABSENT(SetIntervalFraction, AND const fmi3ValueReference vr[], size_t n, const fmi3UInt64 a[], const fmi3UInt64 b[])
ABSENT(SetShiftDecimal, AND const fmi3ValueReference vr[], size_t n, const fmi3Float64 a[])
ABSENT(SetShiftFraction, AND const fmi3ValueReference vr[], size_t n, const fmi3UInt64 a[], const fmi3UInt64 b[])
ABSENT(ActivateModelPartition, AND fmi3ValueReference clock, fmi3Float64 t)
