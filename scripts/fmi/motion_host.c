/* A host without Python that runs one archive in one of four ways and prints what it read: FMI 2.0 or 3.0, co-simulation or model exchange.
   usage: motion_host LIBRARY RESOURCES TOKEN fmi2|fmi3 cs|me VR,VR,... STEP COUNT
   Model exchange is integrated by Dormand and Prince's pair of order 5(4); events are found by halving the step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#define OPEN(path) (void *)LoadLibraryA(path)
#define FUNCTION(library, name) (void *)GetProcAddress((HMODULE)(library), name)
#else
#include <dlfcn.h>
#define OPEN(path) dlopen(path, RTLD_NOW | RTLD_LOCAL)
#define FUNCTION(library, name) dlsym(library, name)
#endif

#include "fmi2FunctionTypes.h"
#include "fmi3FunctionTypes.h"

#define BOTH(X, v) \
    X(v, FreeInstance) X(v, EnterInitializationMode) X(v, ExitInitializationMode) X(v, DoStep) X(v, Terminate) X(v, EnterEventMode) \
    X(v, EnterContinuousTimeMode) X(v, CompletedIntegratorStep) X(v, SetTime) X(v, SetContinuousStates) X(v, GetEventIndicators) X(v, GetContinuousStates)
#define ONLY_2(X) X(2, Instantiate) X(2, SetupExperiment) X(2, GetReal) X(2, NewDiscreteStates) X(2, GetDerivatives)
#define ONLY_3(X) \
    X(3, InstantiateCoSimulation) X(3, InstantiateModelExchange) X(3, GetFloat64) X(3, UpdateDiscreteStates) X(3, GetContinuousStateDerivatives) \
    X(3, GetNumberOfContinuousStates) X(3, GetNumberOfEventIndicators)
#define DECLARE(v, name) static fmi##v##name##TYPE *f##v##name;
BOTH(DECLARE, 2) BOTH(DECLARE, 3) ONLY_2(DECLARE) ONLY_3(DECLARE)
#define FIND(v, name) f##v##name = (fmi##v##name##TYPE *)FUNCTION(library, "fmi" #v #name);

enum { MOST = 4096, STAGES = 7 };
static const double TOLERANCE = 1e-9, SHORTEST = 1e-13;
static int three, exchange;
static void *c;
static size_t states, indicators;
static double time_now, next_event, h, x[MOST], z[MOST], k[STAGES][MOST], before[MOST], after[MOST];

/* Every call has to be good, or the run is over. */
static void good(int status, const char *what) {
    if (status <= 1) return;
    printf("failed %s with status %d at t = %.17g\n", what, status, time_now);
    exit(1);
}
#define CALL(name, ...) good(three ? (int)f3##name(c, __VA_ARGS__) : (int)f2##name(c, __VA_ARGS__), #name)
#define PLAIN(name) good(three ? (int)f3##name(c) : (int)f2##name(c), #name)

static void log_2(fmi2ComponentEnvironment e, fmi2String instance, fmi2Status status, fmi2String category, fmi2String message, ...) {
    fprintf(stderr, "%s\n", message);
}
static void log_3(fmi3InstanceEnvironment e, fmi3Status status, fmi3String category, fmi3String message) { fprintf(stderr, "%s\n", message); }
static fmi2CallbackFunctions callbacks = {log_2, calloc, free, NULL, NULL};

static void start(const char *resources, const char *token) {
    if (three && exchange) c = f3InstantiateModelExchange("motion", token, resources, 0, 0, NULL, log_3);
    else if (three) c = f3InstantiateCoSimulation("motion", token, resources, 0, 0, 0, 0, NULL, 0, NULL, log_3, NULL);
    else c = f2Instantiate("motion", exchange ? fmi2ModelExchange : fmi2CoSimulation, token, resources, &callbacks, 0, 0);
    good(c ? 0 : 3, "instantiation");
    if (three) good((int)f3EnterInitializationMode(c, 0, 0, 0, 0, 0), "EnterInitializationMode");
    else good((int)f2SetupExperiment(c, 0, 0, 0, 0, 0) | (int)f2EnterInitializationMode(c), "EnterInitializationMode");
    PLAIN(ExitInitializationMode);
}

static void step_to(double t) {
    if (three) {
        fmi3Boolean event, terminate, early;
        double last;
        good((int)f3DoStep(c, time_now, t - time_now, 1, &event, &terminate, &early, &last), "DoStep");
    } else good((int)f2DoStep(c, time_now, t - time_now, 1), "DoStep");
    time_now = t;
}

/* -- model exchange ------------------------------------------------------------------------------------------------------------------------- */
static void place(double t, const double *at) {
    CALL(SetTime, t);
    if (states) CALL(SetContinuousStates, at, states);
}

static void slopes(double t, const double *at, double *result) {
    place(t, at);
    if (states) good(three ? (int)f3GetContinuousStateDerivatives(c, result, states) : (int)f2GetDerivatives(c, result, states), "derivatives");
}

static void signs(double *result) {
    if (indicators) CALL(GetEventIndicators, result, indicators);
}

/* Event mode until nothing changes any more; states and the time of the next event are read anew. */
static void handle_event(int enter) {
    if (enter) PLAIN(EnterEventMode);
    for (int again = 1; again;) {
        if (three) {
            fmi3Boolean repeat, terminate, nominals, values, defined;
            good((int)f3UpdateDiscreteStates(c, &repeat, &terminate, &nominals, &values, &defined, &next_event), "UpdateDiscreteStates");
            again = repeat;
            if (!defined) next_event = INFINITY;
        } else {
            fmi2EventInfo info = {0};
            good((int)f2NewDiscreteStates(c, &info), "NewDiscreteStates");
            again = info.newDiscreteStatesNeeded;
            next_event = info.nextEventTimeDefined ? info.nextEventTime : INFINITY;
        }
    }
    PLAIN(EnterContinuousTimeMode);
    if (states) CALL(GetContinuousStates, x, states);
    signs(z);
    h = 1e-6;
}

/* One step of size s from x to result; the estimated error in units of the tolerance. */
static double dormand_prince(double s, double *result) {
    static const double nodes[STAGES] = {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
    static const double a[STAGES][6] = {{0}, {1. / 5}, {3. / 40, 9. / 40}, {44. / 45, -56. / 15, 32. / 9},
        {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729}, {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
        {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
    static const double e[STAGES] = {71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};
    double worst = 0;
    for (int i = 0; i < STAGES; i++) {
        for (size_t n = 0; n < states; n++) {
            result[n] = x[n];
            for (int j = 0; j < i; j++) result[n] += s * a[i][j] * k[j][n];
        }
        slopes(time_now + nodes[i] * s, result, k[i]);
    }
    for (size_t n = 0; n < states; n++) {
        double error = 0;
        for (int i = 0; i < STAGES; i++) error += s * e[i] * k[i][n];
        worst = fmax(worst, fabs(error) / (TOLERANCE * (1 + fmax(fabs(x[n]), fabs(result[n])))));
        if (!(error == error)) worst = INFINITY;
    }
    return worst;
}

static int crossed(const double *now) {
    for (size_t i = 0; i < indicators; i++)
        if ((now[i] > 0) != (z[i] > 0)) return 1;
    return 0;
}

static void exchange_to(double end) {
    while (time_now < end) {
        double stop = fmin(end, next_event), s = fmin(h, stop - time_now), error = s > 0 ? dormand_prince(s, after) : 0;
        int last = s >= stop - time_now, event = 0;
        fmi2Boolean asked = 0, finished = 0;
        if (error > 1 && s > SHORTEST) {
            h = s * fmax(0.2, 0.9 * pow(error, -0.2));
            continue;
        }
        signs(before);
        if ((event = crossed(before))) { /* halve until the instant is between two that agree but for roundings */
            double low = 0, high = s;
            while (high - low > SHORTEST * fmax(1, time_now)) {
                double middle = low + 0.5 * (high - low);
                dormand_prince(middle, after);
                signs(before);
                if (crossed(before)) high = middle;
                else low = middle;
            }
            dormand_prince(high, after);
            last = 0, s = high;
        }
        time_now = last ? stop : time_now + s;
        memcpy(x, after, states * sizeof *x);
        place(time_now, x);
        if (three) {
            fmi3Boolean wanted = 0, ended = 0;
            good((int)f3CompletedIntegratorStep(c, 1, &wanted, &ended), "CompletedIntegratorStep");
            asked = wanted;
        } else good((int)f2CompletedIntegratorStep(c, 1, &asked, &finished), "CompletedIntegratorStep");
        signs(z);
        if (!event) h = fmax(h, s) * fmin(4, 0.9 * pow(fmax(error, 1e-6), -0.2));
        if (event || asked || time_now >= next_event) handle_event(1);
    }
}

int main(int n, char **a) {
    static unsigned references[MOST];
    static double values[MOST];
    size_t named = 0;
    void *library = n > 8 ? OPEN(a[1]) : NULL;
    if (!library) return printf("failed loading of %s\n", n > 1 ? a[1] : "nothing"), 1;
    BOTH(FIND, 2) BOTH(FIND, 3) ONLY_2(FIND) ONLY_3(FIND)
    three = !strcmp(a[4], "fmi3"), exchange = !strcmp(a[5], "me");
    for (char *at = strtok(a[6], ","); at && named < MOST; at = strtok(NULL, ",")) references[named++] = (unsigned)atol(at);
    double step = atof(a[7]);
    long count = atol(a[8]);
    start(a[2], a[3]);
    if (exchange && three) {
        good((int)f3GetNumberOfContinuousStates(c, &states), "GetNumberOfContinuousStates");
        good((int)f3GetNumberOfEventIndicators(c, &indicators), "GetNumberOfEventIndicators");
    } else if (exchange && n > 10) states = (size_t)atol(a[9]), indicators = (size_t)atol(a[10]);
    if (states > MOST || indicators > MOST) return printf("failed: more than %d states\n", MOST), 1;
    if (exchange) handle_event(0);
    for (long at = 1; at <= count; at++)
        if (exchange) exchange_to(at * step);
        else step_to(at * step);
    good(three ? (int)f3GetFloat64(c, references, named, values, named) : (int)f2GetReal(c, references, named, values), "reading");
    for (size_t i = 0; i < named; i++) printf("value %.17g\n", values[i]);
    PLAIN(Terminate);
    if (three) f3FreeInstance(c);
    else f2FreeInstance(c);
    return 0;
}
