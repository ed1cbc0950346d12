/* FMI 2.0. Stands before the library of pythonfmu: hosts without Python load it, and it brings the interpreter.

   The interpreter is the one that runs already, that of the archive's resources/python.txt, of PYTHONHOME, or python3 on the path. Every call is handed on;
   an error that the slave logs becomes the status of the call that made it, because pythonfmu itself knows success, failure of a step, and fatal only. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2Functions.h"
#include "loader.h"

typedef struct {
    fmi2Component slave;
    fmi2CallbackFunctions host, own;
    fmi2Status worst; /* of the messages since the present call began */
    int logging, dead;
    char *name;
} Wrapped;

#define CALLS(X) \
    X(Instantiate) X(FreeInstance) X(SetupExperiment) X(EnterInitializationMode) X(ExitInitializationMode) X(Terminate) X(Reset) X(GetReal) X(GetInteger) \
    X(GetBoolean) X(GetString) X(SetReal) X(SetInteger) X(SetBoolean) X(SetString) X(GetFMUstate) X(SetFMUstate) X(FreeFMUstate) \
    X(SerializedFMUstateSize) X(SerializeFMUstate) X(DeSerializeFMUstate) X(DoStep)
#define POINTER(name) fmi2##name##TYPE *name;
static struct { CALLS(POINTER) } slave;
static int ready;

/* -- messages ------------------------------------------------------------------------------------------------------------------------------- */
static void tell(const fmi2CallbackFunctions *host, const char *name, fmi2Status status, const char *category, const char *text) {
    char format[2 * TEXT_SIZE];
    size_t n = 0;
    for (; *text && n + 3 < sizeof format; text++) {
        if (*text == '%') format[n++] = '%';
        format[n++] = *text;
    }
    format[n] = 0;
    if (host && host->logger) host->logger(host->componentEnvironment, name, status, category, format);
}

static void from_slave(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category, fmi2String message, ...) {
    Wrapped *w = environment;
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message ? message : "", arguments);
    va_end(arguments);
    if (status > w->worst && status != fmi2Pending) w->worst = status;
    if (w->logging || status >= fmi2Error) tell(&w->host, w->name, status, category ? category : "logAll", text);
}

/* -- the interpreter and pythonfmu's library -------------------------------------------------------------------------------------------------- */
static const char *open_all(const char *resources) {
    void *library;
    const char *problem = ready ? NULL : open_original(resources, &library);
    if (ready || problem) return problem;
#define FIND(name) if (!(slave.name = (fmi2##name##TYPE *)find(library, "fmi2" #name))) return "pythonfmu's library lacks fmi2" #name;
    CALLS(FIND)
    ready = 1;
    return NULL;
}

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

static void forget(Wrapped *w) {
    free(w->name);
    free(w);
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean logging) {
    char path[PATH_SIZE], uri[PATH_SIZE + 16], alias[ALIAS_SIZE] = "";
    Wrapped *w = calloc(1, sizeof *w);
    if (!w || !(w->name = strdup(name && *name ? name : "unnamed"))) return free(w), NULL;
    if (functions) w->host = *functions;
    w->logging = logging;
    const char *problem = type != fmi2CoSimulation ? "this archive is for co-simulation only; one that is packed with --fmi 3 is for model exchange too" : found_archive(resources, guid, path, alias);
    if (!problem) problem = open_all(path);
    if (!problem) {
        snprintf(uri, sizeof uri, path[0] == '/' ? "file://%s" : "file:///%s", path);
        w->own = (fmi2CallbackFunctions){from_slave, calloc, free, NULL, w};
        w->slave = slave.Instantiate(w->name, type, guid, uri, &w->own, visible, fmi2True);
        if (w->slave) slave.SetReal(w->slave, NULL, 0, NULL); /* has the messages of the start handed over */
        if (!w->slave) problem = NO_SLAVE;
        if (w->worst >= fmi2Error) problem = "the slave says that it cannot be used";
    }
    if (*alias) remove_alias(alias);
    if (!problem) return w;
    char text[TEXT_SIZE];
    snprintf(text, sizeof text, "cannot instantiate: %s (resource location '%s')", problem, resources ? resources : "");
    tell(&w->host, w->name, fmi2Error, "logStatusError", text);
    if (w->slave) slave.FreeInstance(w->slave);
    forget(w);
    return NULL;
}

void fmi2FreeInstance(fmi2Component c) {
    Wrapped *w = c;
    if (!w) return;
    if (!w->dead) slave.FreeInstance(w->slave);
    forget(w);
}

/* -- calls that are handed on ------------------------------------------------------------------------------------------------------------------ */
static Wrapped *begun(fmi2Component c) {
    Wrapped *w = c;
    if (!w) return NULL;
    w->worst = fmi2OK;
    if (!w->dead) return w;
    tell(&w->host, w->name, fmi2Error, "logStatusError", "this instance has failed and can only be freed");
    return NULL;
}

/* A failure that is fatal to pythonfmu has freed its instance: it is not called again, and the host gets an error. */
static fmi2Status ended(Wrapped *w, fmi2Status status) {
    if (status == fmi2Fatal) {
        w->dead = 1;
        tell(&w->host, w->name, fmi2Error, "logStatusError", "the slave raised an exception; this instance can only be freed");
        return fmi2Error;
    }
    return w->worst > status ? w->worst : status;
}

#define HAND(declaration, call) \
    fmi2Status declaration { \
        Wrapped *w = begun(c); \
        return w ? ended(w, slave.call) : fmi2Error; \
    }
HAND(fmi2SetupExperiment(fmi2Component c, fmi2Boolean with, fmi2Real tolerance, fmi2Real start, fmi2Boolean until, fmi2Real stop),
     SetupExperiment(w->slave, with, tolerance, start, until, stop))
HAND(fmi2EnterInitializationMode(fmi2Component c), EnterInitializationMode(w->slave))
HAND(fmi2ExitInitializationMode(fmi2Component c), ExitInitializationMode(w->slave))
HAND(fmi2Terminate(fmi2Component c), Terminate(w->slave))
HAND(fmi2Reset(fmi2Component c), Reset(w->slave))
HAND(fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_set), DoStep(w->slave, t, h, no_set))
HAND(fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real values[]), GetReal(w->slave, vr, n, values))
HAND(fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer values[]), GetInteger(w->slave, vr, n, values))
HAND(fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean values[]), GetBoolean(w->slave, vr, n, values))
HAND(fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String values[]), GetString(w->slave, vr, n, values))
HAND(fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real values[]), SetReal(w->slave, vr, n, values))
HAND(fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer values[]), SetInteger(w->slave, vr, n, values))
HAND(fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean values[]), SetBoolean(w->slave, vr, n, values))
HAND(fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String values[]), SetString(w->slave, vr, n, values))
HAND(fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state), GetFMUstate(w->slave, state))
HAND(fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state), SetFMUstate(w->slave, state))
HAND(fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state), FreeFMUstate(w->slave, state))
HAND(fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size), SerializedFMUstateSize(w->slave, state, size))
HAND(fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size), SerializeFMUstate(w->slave, state, bytes, size))
HAND(fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state), DeSerializeFMUstate(w->slave, bytes, size, state))

/* -- what slaves in Python do not have -------------------------------------------------------------------------------------------------------- */
fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[]) {
    if (!c) return fmi2Error;
    ((Wrapped *)c)->logging = on;
    return fmi2OK;
}

static fmi2Status absent(fmi2Component c, const char *function) {
    Wrapped *w = begun(c);
    if (!w) return fmi2Error;
    char text[TEXT_SIZE];
    snprintf(text, sizeof text, "%s is not offered by this archive", function);
    tell(&w->host, w->name, fmi2Error, "logStatusError", text);
    return fmi2Error;
}
fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference u[], size_t n, const fmi2ValueReference k[], size_t m, const fmi2Real s[],
                                        fmi2Real r[]) {
    return absent(c, "fmi2GetDirectionalDerivative");
}
fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], const fmi2Real values[]) {
    return absent(c, "fmi2SetRealInputDerivatives");
}
fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], fmi2Real values[]) {
    return absent(c, "fmi2GetRealOutputDerivatives");
}
fmi2Status fmi2CancelStep(fmi2Component c) { return absent(c, "fmi2CancelStep: no step is in progress, and it"); }
fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value) { return fmi2Discard; }
fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value) { return fmi2Discard; }
fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value) { return fmi2Discard; }
fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value) { return fmi2Discard; }
fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value) { return fmi2Discard; }
