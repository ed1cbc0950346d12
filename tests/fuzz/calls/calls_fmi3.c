/* The calls of FMI 3.0 with drawn arguments. */
#include <stdlib.h>

#include "calls.h"
#include "fmi3Functions.h"

static void logger(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message) {
    Host *h = environment;
    h->messages++;
    expect(h, message && *message && category && *category, "a message has a text and a category");
}

static void update(fmi3InstanceEnvironment environment, fmi3Float64 t, fmi3Boolean set, fmi3Boolean get, fmi3Boolean done, fmi3Boolean may_return,
                   fmi3Boolean *wanted, fmi3Float64 *until) {
    Host *h = environment;
    note(h, &t, sizeof t);
    double values[MOST];
    uint32_t vr[MOST] = {0}, count = get && h->stepping ? 3 : 0;
    if (count && !fmi3GetFloat64(h->stepping, vr, count, values, count)) note(h, values, count * sizeof *values);
    *wanted = may_return && h->digest % 16 == 0;
    *until = t;
}

Instance *make_fmi3(Host *h, const char *name, const char *token, const char *uri, int kind, int silent, int logging) {
    fmi3LogMessageCallback log = silent ? NULL : logger;
    if (kind & 1) return fmi3InstantiateModelExchange(name, token, uri, 0, logging, h, log);
    fmi3Instance none = fmi3InstantiateScheduledExecution(name, token, uri, 0, logging, h, log, NULL, NULL, NULL);
    expect(h, !none, "there is no scheduled execution");
    return fmi3InstantiateCoSimulation(name, token, uri, 0, logging, (kind & 2) != 0, (kind & 4) != 0, NULL, 0, h, log, kind & 8 ? update : NULL);
}

void free_fmi3(Instance *in) { fmi3FreeInstance(in); }

#define MAYBE(pointer) (missing(h) ? NULL : (pointer))

static int serialise(Host *h, Instance *in) {
    size_t size = 0;
    fmi3FMUState state = h->states[draw(h) % STATES];
    int status = fmi3SerializedFMUStateSize(in, state, MAYBE(&size));
    if (status) return status;
    free(h->bytes);
    h->bytes = calloc(1, size);
    h->size = size;
    return fmi3SerializeFMUState(in, state, MAYBE((fmi3Byte *)h->bytes), missing(h) ? size - 1 : size);
}

static int restore(Host *h, Instance *in) {
    fmi3FMUState *state = h->states + draw(h) % STATES;
    if (*state) fmi3FreeFMUState(in, state);
    if (*state) return -1;
    return fmi3DeserializeFMUState(in, MAYBE((const fmi3Byte *)h->bytes), h->size, MAYBE(state));
}

static int exchange(Host *h, Instance *in, int number, const uint32_t *vr, uint32_t n) {
    double room[MOST], more[MOST];
    fmi3Int32 whole[MOST];
    fmi3String texts[MOST] = {NULL};
    fmi3Boolean f[5];
    size_t count = missing(h) ? n + 1 : n;
    int status;
    for (int k = 0; k < MOST; k++) room[k] = number_of(h), whole[k] = missing(h) ? 7 : 1, more[k] = 0;
    switch (number) {
        case 0:
        case 1:
        case 2:
            if ((status = fmi3GetFloat64(in, vr, n, MAYBE(room), count)) == 0 && in) note(h, room, n * sizeof *room);
            return status;
        case 3: return fmi3GetInt32(in, vr, n, MAYBE(whole), count);
        case 4: return fmi3GetString(in, vr, n, MAYBE(texts), count);
        case 5:
        case 6:
        case 7: return fmi3SetFloat64(in, vr, n, MAYBE(room), count);
        case 8: return fmi3GetOutputDerivatives(in, vr, n, MAYBE(whole), MAYBE(room), count);
        case 9: return fmi3GetDirectionalDerivative(in, vr, n, vr, n, MAYBE(room), count, MAYBE(more), n);
        case 10: return fmi3GetAdjointDerivative(in, vr, n, vr, n, MAYBE(room), n, MAYBE(more), count);
        case 11: return fmi3UpdateDiscreteStates(in, MAYBE(f), MAYBE(f + 1), MAYBE(f + 2), MAYBE(f + 3), MAYBE(f + 4), MAYBE(more));
        case 12: return fmi3CompletedIntegratorStep(in, missing(h), MAYBE(f), MAYBE(f + 1));
        case 13: return fmi3EvaluateDiscreteStates(in);
        default: return -1;
    }
}

static int continuous(Host *h, Instance *in, int number) {
    size_t states = 3, guards = 3;
    if (in) fmi3GetNumberOfContinuousStates(in, MAYBE(&states)), fmi3GetNumberOfEventIndicators(in, MAYBE(&guards));
    size_t n = missing(h) ? 1 : number == 1 ? guards : states;
    double *values = calloc(n + 1, sizeof *values);
    for (size_t k = 0; k < n; k++) values[k] = number == 4 ? 0.1 * number_of(h) : 0;
    if (number == 4 && in && draw(h) % 2) fmi3GetContinuousStates(in, values, n);
    double *given = MAYBE(values);
    int status = number == 0 ? fmi3GetContinuousStateDerivatives(in, given, n)
               : number == 1 ? fmi3GetEventIndicators(in, given, n)
               : number == 2 ? fmi3GetContinuousStates(in, given, n)
               : number == 3 ? fmi3GetNominalsOfContinuousStates(in, given, n)
                             : fmi3SetContinuousStates(in, given, n);
    if (!status && given) note(h, values, n * sizeof *values);
    free(values);
    return status;
}

static int state(Host *h, Instance *in, int number) {
    fmi3FMUState *at = h->states + draw(h) % STATES;
    switch (number) {
        case 0: return fmi3GetFMUState(in, MAYBE(at));
        case 1: return fmi3SetFMUState(in, MAYBE(*at));
        case 2: return fmi3FreeFMUState(in, MAYBE(at));
        case 3: return serialise(h, in);
        default: return h->bytes ? restore(h, in) : -1;
    }
}

static int step(Host *h, Instance *in, double t, double size) {
    fmi3Boolean needed, terminate, early;
    double reached;
    if (in && in->exchange) return fmi3SetTime(in, t + size);
    if (in && in->mode == EVENT && draw(h) % 8) return fmi3EnterStepMode(in);
    expect(h, fmi3GetVersion()[0] == '3', "the version is 3.0");
    h->stepping = in;
    int status = fmi3DoStep(in, draw(h) % 20 ? t : number_of(h), draw(h) % 20 ? size : 0.1 * number_of(h), missing(h), MAYBE(&needed), MAYBE(&terminate),
                            MAYBE(&early), MAYBE(&reached));
    h->stepping = NULL;
    return status;
}

int call_fmi3(Host *h, Slot *s, int number) {
    static const fmi3String CATEGORIES[] = {"logEvents", "logStatusError", "logAll", "nothing", NULL, "logStatusDiscard"};
    Instance *in = s->in;
    uint32_t vr[MOST], n = references(h, in, vr);
    double t = in ? in->work[V_TIME] : 0, size = 0.001 * (double)(draw(h) % 40);
    switch (number) {
        case 0: return fmi3SetDebugLogging(in, draw(h) % 2, draw(h) % 4, MAYBE(CATEGORIES + draw(h) % 3));
        case 1: return fmi3EnterInitializationMode(in, draw(h) % 2, draw(h) % 2 ? 1e-6 : number_of(h), draw(h) % 4 ? 0 : number_of(h), 0, 0);
        case 2: return fmi3ExitInitializationMode(in);
        case 3:
        case 10:
        case 11:
        case 12: return step(h, in, t, size);
        case 4:
            if (in && in->exchange) return in->mode == EVENT ? fmi3EnterContinuousTimeMode(in) : fmi3EnterEventMode(in);
            return in && in->mode == EVENT ? fmi3EnterStepMode(in) : fmi3EnterEventMode(in);
        case 5: return draw(h) % 8 ? -1 : fmi3Terminate(in);
        case 6: return draw(h) % 8 ? -1 : fmi3Reset(in);
        case 7: return fmi3EnterStepMode(in);
        case 8: return fmi3EnterContinuousTimeMode(in);
        case 9: return fmi3SetTime(in, number_of(h));
        default:
            if (number < 23) return state(h, in, (number - 13) / 2);
            if (number < 33) return continuous(h, in, (number - 23) / 2);
            return number < 38 ? -1 : exchange(h, in, (int)(draw(h) % 14), MAYBE(vr), n);
    }
}
