/* The calls of FMI 2.0 with drawn arguments. */
#include <stdlib.h>

#include "calls.h"
#include "fmi2Functions.h"

static void logger(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category, fmi2String message, ...) {
    Host *h = environment;
    h->messages++;
    expect(h, message && *message && category && *category && instance, "a message has a text, a category and an instance");
}

Instance *make_fmi2(Host *h, const char *name, const char *token, const char *uri, int kind, int silent, int logging) {
    fmi2CallbackFunctions functions = {silent ? NULL : logger, calloc, free, NULL, h};
    return fmi2Instantiate(name, kind & 1 ? fmi2ModelExchange : fmi2CoSimulation, token, uri, silent && missing(h) ? NULL : &functions, 0, logging);
}

void free_fmi2(Instance *in) { fmi2FreeInstance(in); }

#define MAYBE(pointer) (missing(h) ? NULL : (pointer))
#define VALUES(kind) MAYBE((kind *)room)

static int serialise(Host *h, Instance *in) {
    size_t size = 0;
    fmi2FMUstate state = h->states[draw(h) % STATES];
    int status = fmi2SerializedFMUstateSize(in, state, MAYBE(&size));
    if (status) return status;
    free(h->bytes);
    h->bytes = calloc(1, size);
    h->size = size;
    return fmi2SerializeFMUstate(in, state, MAYBE((fmi2Byte *)h->bytes), missing(h) ? size - 1 : size);
}

static int restore(Host *h, Instance *in) {
    fmi2FMUstate *state = h->states + draw(h) % STATES;
    if (*state) fmi2FreeFMUstate(in, state);
    if (*state) return -1; /* without an instance */
    return fmi2DeSerializeFMUstate(in, MAYBE((const fmi2Byte *)h->bytes), h->size, MAYBE(state));
}

/* What a host reads or writes. */
static int exchange(Host *h, Instance *in, int number, const uint32_t *vr, uint32_t n) {
    double room[MOST];
    fmi2Integer whole[MOST];
    fmi2String texts[MOST] = {NULL};
    fmi2EventInfo info;
    fmi2Boolean a, b;
    int status;
    for (int k = 0; k < MOST; k++) room[k] = number_of(h), whole[k] = missing(h) ? 7 : 1;
    switch (number) {
        case 0:
        case 1:
        case 2:
            if ((status = fmi2GetReal(in, vr, n, VALUES(double))) == 0 && in) note(h, room, n * sizeof *room);
            return status;
        case 3: return fmi2GetInteger(in, vr, n, MAYBE(whole));
        case 4: return fmi2GetBoolean(in, vr, n, MAYBE(whole));
        case 5: return fmi2GetString(in, vr, n, MAYBE(texts));
        case 6:
        case 7:
        case 8: return fmi2SetReal(in, vr, n, VALUES(double));
        case 9: return fmi2SetInteger(in, vr, n, MAYBE(whole));
        case 10: return fmi2SetBoolean(in, vr, n, MAYBE(whole));
        case 11: return fmi2SetString(in, vr, n, MAYBE(texts));
        case 12: return fmi2SetRealInputDerivatives(in, vr, n, MAYBE(whole), VALUES(double));
        case 13: return fmi2GetRealOutputDerivatives(in, vr, n, MAYBE(whole), VALUES(double));
        case 14: return fmi2GetDirectionalDerivative(in, vr, n, vr, n, VALUES(double), VALUES(double));
        case 15: return fmi2GetDirectionalDerivative(in, vr, n, vr + n / 2, n - n / 2, VALUES(double), MAYBE(room));
        case 16: return fmi2NewDiscreteStates(in, MAYBE(&info));
        case 17: return fmi2CompletedIntegratorStep(in, missing(h), MAYBE(&a), MAYBE(&b));
        default: return -1;
    }
}

static int continuous(Host *h, Instance *in, int number) {
    size_t states = in ? (size_t)in->model.header[P_STATES] : 3, guards = in ? (size_t)in->model.header[P_GUARDS] : 3, n = number == 1 ? guards : states;
    if (missing(h)) n = draw(h) % (n + 1);
    double *values = calloc(n + 1, sizeof *values);
    for (size_t k = 0; k < n; k++) values[k] = number == 4 ? 0.1 * number_of(h) : 0;
    if (number == 4 && in && n == states && draw(h) % 2) fmi2GetContinuousStates(in, values, n);
    double *given = MAYBE(values);
    int status = number == 0 ? fmi2GetDerivatives(in, given, n)
               : number == 1 ? fmi2GetEventIndicators(in, given, n)
               : number == 2 ? fmi2GetContinuousStates(in, given, n)
               : number == 3 ? fmi2GetNominalsOfContinuousStates(in, given, n + (draw(h) % 2 && given ? 1 : 0))
                             : fmi2SetContinuousStates(in, given, n);
    if (!status && given) note(h, values, n * sizeof *values);
    free(values);
    return status;
}

static int status_of(Host *h, Instance *in) {
    fmi2Status status;
    fmi2Real real;
    fmi2Integer whole;
    fmi2String text;
    fmi2StatusKind kind = (fmi2StatusKind)(draw(h) % 5);
    expect(h, fmi2GetVersion()[0] == '2' && fmi2GetTypesPlatform()[0] == 'd', "the version is 2.0, the platform the default");
    switch (draw(h) % 5) {
        case 0: return fmi2GetStatus(in, kind, MAYBE(&status));
        case 1: return fmi2GetRealStatus(in, kind, MAYBE(&real));
        case 2: return fmi2GetIntegerStatus(in, kind, MAYBE(&whole));
        case 3: return fmi2GetBooleanStatus(in, kind, MAYBE(&whole));
        default: return fmi2GetStringStatus(in, kind, MAYBE(&text));
    }
}

static int state(Host *h, Instance *in, int number) {
    fmi2FMUstate *at = h->states + draw(h) % STATES;
    switch (number) {
        case 0: return fmi2GetFMUstate(in, MAYBE(at));
        case 1: return fmi2SetFMUstate(in, MAYBE(*at));
        case 2: return fmi2FreeFMUstate(in, MAYBE(at));
        case 3: return serialise(h, in);
        default: return h->bytes ? restore(h, in) : -1;
    }
}

int call_fmi2(Host *h, Slot *s, int number) {
    static const fmi2String CATEGORIES[] = {"logEvents", "logStatusError", "logAll", "nothing", NULL, "logStatusDiscard"};
    Instance *in = s->in;
    uint32_t vr[MOST], n = references(h, in, vr);
    double t = in ? in->work[V_TIME] : 0, step = 0.001 * (double)(draw(h) % 40);
    int status;
    switch (number) {
        case 0: return fmi2SetupExperiment(in, draw(h) % 2, draw(h) % 2 ? 1e-6 : number_of(h), draw(h) % 3 ? 0 : number_of(h), fmi2False, 0);
        case 1: return fmi2EnterInitializationMode(in);
        case 2: return fmi2ExitInitializationMode(in);
        case 3:
        case 10:
        case 11:
        case 12:
            if (in && in->exchange) return fmi2SetTime(in, t + step);
            return fmi2DoStep(in, draw(h) % 20 ? t : number_of(h), draw(h) % 20 ? step : 0.1 * number_of(h), missing(h));
        case 4: return in && in->mode == EVENT ? fmi2EnterContinuousTimeMode(in) : fmi2EnterEventMode(in);
        case 5: return draw(h) % 8 ? -1 : fmi2Terminate(in);
        case 6: return draw(h) % 8 ? -1 : fmi2Reset(in);
        case 7: return fmi2SetDebugLogging(in, draw(h) % 2, draw(h) % 4, MAYBE(CATEGORIES + draw(h) % 3));
        case 8:
            if (in && draw(h) % 2) in->stepping = 1; /* as another thread finds it; the next step is cancelled */
            status = fmi2CancelStep(in);
            if (in) in->stepping = 0;
            return status;
        case 9: return fmi2SetTime(in, number_of(h));
        case 13:
        case 14: return status_of(h, in);
        default:
            if (number < 25) return state(h, in, (number - 15) / 2);
            if (number < 35) return continuous(h, in, (number - 25) / 2);
            return exchange(h, in, (int)(draw(h) % 18), MAYBE(vr), n);
    }
}
