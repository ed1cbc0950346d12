/* A host without Python that runs one archive in one of four ways and prints what it read: FMI 2.0 or 3.0, co-simulation or model exchange.
   usage: motion_host LIBRARY RESOURCES TOKEN fmi2|fmi3 cs|me|omc|oms|quiet VR,VR,... STEP COUNT STATES INDICATORS TOLERANCE VR=VALUE,...
   Model exchange is integrated by Dormand and Prince's pair of order 5(4); events are found by halving the step. The habits of hosts:
   me     one completed step each, event mode until nothing changes: as fmusim and fmpy
   omc    as OpenModelica's import block: parameters once more behind initialization; it looks at indicators with a hysteresis, and completes a step at
          every look, at trial points and at points behind the last step; every event begins with EnterEventMode, and has one update
   oms    as OMSimulator: states before the time, parameters before the start
   quiet  completes no steps at all */
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
#define ONLY_2(X) X(2, Instantiate) X(2, SetupExperiment) X(2, GetReal) X(2, SetReal) X(2, NewDiscreteStates) X(2, GetDerivatives)
#define ONLY_3(X) \
    X(3, InstantiateCoSimulation) X(3, InstantiateModelExchange) X(3, GetFloat64) X(3, SetFloat64) X(3, UpdateDiscreteStates) X(3, GetContinuousStateDerivatives) \
    X(3, GetNumberOfContinuousStates) X(3, GetNumberOfEventIndicators)
#define DECLARE(v, name) static fmi##v##name##TYPE *f##v##name;
BOTH(DECLARE, 2) BOTH(DECLARE, 3) ONLY_2(DECLARE) ONLY_3(DECLARE)
#define FIND(v, name) f##v##name = (fmi##v##name##TYPE *)FUNCTION(library, "fmi" #v #name);

enum { MOST = 4096, STAGES = 7 };
static const double SHORTEST = 1e-13;
static int three, exchange, omc, oms, quiet, events;
static void *c;
static size_t states, indicators, named, given;
static unsigned references[MOST], parameters[MOST];
static double tolerance = 1e-9, time_now, next_event, h, x[MOST], z[MOST], k[STAGES][MOST], before[MOST], after[MOST], values[MOST], chosen[MOST];

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

static void set_parameters(void) {
    if (given) good(three ? (int)f3SetFloat64(c, parameters, given, chosen, given) : (int)f2SetReal(c, parameters, given, chosen), "setting parameters");
}

static void read_values(void) {
    if (named) good(three ? (int)f3GetFloat64(c, references, named, values, named) : (int)f2GetReal(c, references, named, values), "reading");
}

static void start(const char *resources, const char *token) {
    if (three && exchange) c = f3InstantiateModelExchange("motion", token, resources, 0, 0, NULL, log_3);
    else if (three) c = f3InstantiateCoSimulation("motion", token, resources, 0, 0, 0, 0, NULL, 0, NULL, log_3, NULL);
    else c = f2Instantiate("motion", exchange ? fmi2ModelExchange : fmi2CoSimulation, token, resources, &callbacks, 0, 0);
    good(c ? 0 : 3, "instantiation");
    if (!omc) set_parameters();
    if (three) good((int)f3EnterInitializationMode(c, 0, 0, 0, 0, 0), "EnterInitializationMode");
    else good((int)f2SetupExperiment(c, 0, 0, 0, 0, 0) | (int)f2EnterInitializationMode(c), "EnterInitializationMode");
    PLAIN(ExitInitializationMode);
    if (omc) set_parameters();
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
    if (states && oms) CALL(SetContinuousStates, at, states);
    CALL(SetTime, t);
    if (states && !oms) CALL(SetContinuousStates, at, states);
}

/* Whether the host is asked to enter event mode. */
static int complete_step(void) {
    fmi2Boolean asked = 0, finished = 0;
    fmi3Boolean wanted = 0, ended = 0;
    if (quiet) return 0;
    if (three) good((int)f3CompletedIntegratorStep(c, 1, &wanted, &ended), "CompletedIntegratorStep");
    else good((int)f2CompletedIntegratorStep(c, 1, &asked, &finished), "CompletedIntegratorStep");
    return asked || wanted;
}

static void slopes(double t, const double *at, double *result) {
    place(t, at);
    if (states) good(three ? (int)f3GetContinuousStateDerivatives(c, result, states) : (int)f2GetDerivatives(c, result, states), "derivatives");
}

static void signs(double *result) {
    if (indicators) CALL(GetEventIndicators, result, indicators);
    if (!omc) return;
    complete_step();
    read_values();
}

/* Sign of an indicator, with a hysteresis about its last one. */
static int positive(double now, double last) {
    double least = omc ? 1e-4 * tolerance * (1 + fabs(now)) : 0;
    return fabs(now) <= least ? last > 0 : now > 0;
}

/* What the host keeps of indicators: inside the hysteresis the last ones. */
static void remember(const double *now) {
    for (size_t i = 0; i < indicators; i++)
        if (fabs(now[i]) > (omc ? 1e-4 * tolerance * (1 + fabs(now[i])) : -1)) z[i] = now[i];
}

/* One update of the discrete states: whether there is to be another. */
static int update(void) {
    int again, defined;
    if (three) {
        fmi3Boolean repeat, terminate, nominals, changed, known;
        good((int)f3UpdateDiscreteStates(c, &repeat, &terminate, &nominals, &changed, &known, &next_event), "UpdateDiscreteStates");
        again = repeat, defined = known;
    } else {
        fmi2EventInfo info = {0};
        good((int)f2NewDiscreteStates(c, &info), "NewDiscreteStates");
        again = info.newDiscreteStatesNeeded, defined = info.nextEventTimeDefined;
        next_event = info.nextEventTime;
    }
    good(!defined && next_event != 0 ? 3 : 0, "nextEventTime, which is read where it is not defined: it is not 0 but");
    if (!defined) next_event = INFINITY;
    return again;
}

/* Event mode until nothing changes any more, or once; states and the time of the next event are read anew. */
static void handle_event(int enter) {
    if (enter || omc) PLAIN(EnterEventMode);
    while (update() && !omc) {}
    events += enter;
    PLAIN(EnterContinuousTimeMode);
    if (states) CALL(GetContinuousStates, x, states);
    if (omc) place(time_now, x);
    signs(before);
    remember(before);
    h = 1e-6;
}

/* Between the ends of a step that is over: hosts that write rows there look at all that they look at elsewhere. */
static void look_back(double s, const double *end) {
    static const double parts[] = {0.8, 0.3, 0.5};
    static double between[MOST], now[MOST];
    for (int i = 0; i < 3; i++) {
        double r = parts[i];
        for (size_t n = 0; n < states; n++) {
            double d = end[n] - x[n];
            between[n] = x[n] + r * d + r * (1 - r) * ((1 - r) * (s * k[0][n] - d) - r * (s * k[STAGES - 1][n] - d));
        }
        place(time_now + r * s, between);
        signs(now);
    }
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
        worst = fmax(worst, fabs(error) / (tolerance * (1 + fmax(fabs(x[n]), fabs(result[n])))));
        if (!(error == error)) worst = INFINITY;
    }
    return worst;
}

static int crossed(const double *now) {
    for (size_t i = 0; i < indicators; i++)
        if (positive(now[i], z[i]) != (z[i] > 0)) return 1;
    return 0;
}

static void exchange_to(double end) {
    while (time_now < end) {
        double stop = fmin(end, next_event), s = fmin(h, stop - time_now), error = 0;
        if (s > 0) error = dormand_prince(s, after);
        else memcpy(after, x, states * sizeof *x);
        int last = s >= stop - time_now, event = 0, asked = 0;
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
        } else if (omc && s > 1e-9) look_back(s, after);
        time_now = last ? stop : time_now + s;
        memcpy(x, after, states * sizeof *x);
        place(time_now, x);
        if (!omc) asked = complete_step();
        signs(before);
        remember(before);
        if (!event) h = fmax(h, s) * fmin(4, 0.9 * pow(fmax(error, 1e-6), -0.2));
        if (event || asked || time_now >= next_event) handle_event(1);
    }
}

int main(int n, char **a) {
    void *library = n > 8 ? OPEN(a[1]) : NULL;
    if (!library) return printf("failed loading of %s\n", n > 1 ? a[1] : "nothing"), 1;
    BOTH(FIND, 2) BOTH(FIND, 3) ONLY_2(FIND) ONLY_3(FIND)
    three = !strcmp(a[4], "fmi3"), exchange = strcmp(a[5], "cs") != 0;
    omc = !strcmp(a[5], "omc"), oms = !strcmp(a[5], "oms"), quiet = !strcmp(a[5], "quiet");
    for (char *at = strtok(a[6], ","); at && named < MOST; at = strtok(NULL, ",")) references[named++] = (unsigned)atol(at);
    double step = atof(a[7]);
    long count = atol(a[8]);
    if (n > 11 && atof(a[11]) > 0) tolerance = atof(a[11]);
    for (char *at = n > 12 ? strtok(a[12], ",") : NULL; at && given < MOST; at = strtok(NULL, ","), given++) {
        parameters[given] = (unsigned)atol(at);
        chosen[given] = atof(strchr(at, '=') + 1);
    }
    start(a[2], a[3]);
    if (exchange && three) {
        good((int)f3GetNumberOfContinuousStates(c, &states), "GetNumberOfContinuousStates");
        good((int)f3GetNumberOfEventIndicators(c, &indicators), "GetNumberOfEventIndicators");
    } else if (exchange && n > 10) states = (size_t)atol(a[9]), indicators = (size_t)atol(a[10]);
    if (states > MOST || indicators > MOST) return printf("failed: more than %d states\n", MOST), 1;
    if (exchange && omc) { /* before its first event, in event mode */
        if (states) CALL(GetContinuousStates, x, states);
        CALL(SetTime, time_now);
        if (states && !three) CALL(SetContinuousStates, x, states);
        if (indicators) CALL(GetEventIndicators, z, indicators);
        read_values();
    }
    if (exchange) handle_event(0);
    for (long at = 1; at <= count; at++)
        if (exchange) exchange_to(at * step);
        else step_to(at * step);
    read_values();
    for (size_t i = 0; i < named; i++) printf("value %.17g\n", values[i]);
    printf("events %d\n", events);
    PLAIN(Terminate);
    if (three) f3FreeInstance(c);
    else f2FreeInstance(c);
    return 0;
}
