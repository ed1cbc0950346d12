/* A host without Python, for every platform: loads an FMI 2.0 co-simulation library and prints what it finds as lines "name value".
   usage: bare_host LIBRARY RESOURCES GUID COMMAND [VR,VR,... STEP COUNT FILE] */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _WIN32
#include <windows.h>
#define OPEN(path) (void *)LoadLibraryA(path)
#define FUNCTION(library, name) (void *)GetProcAddress((HMODULE)(library), name)
static const char *problem(void) {
    static char text[32];
    snprintf(text, sizeof text, "error %lu", GetLastError());
    return text;
}
#else
#include <dlfcn.h>
#include <pthread.h>
#define OPEN(path) dlopen(path, RTLD_NOW | RTLD_LOCAL)
#define FUNCTION(library, name) dlsym(library, name)
#define problem dlerror
#endif

#include "fmi2FunctionTypes.h"

#define FUNCTIONS(X) \
    X(Instantiate) X(FreeInstance) X(SetupExperiment) X(EnterInitializationMode) X(ExitInitializationMode) X(DoStep) X(GetReal) X(SetReal) X(Terminate) \
    X(Reset) X(GetFMUstate) X(SetFMUstate) X(FreeFMUstate) X(SerializedFMUstateSize) X(SerializeFMUstate) X(DeSerializeFMUstate)
#define DECLARE(name) static fmi2##name##TYPE *name;
FUNCTIONS(DECLARE)
DECLARE(GetDerivatives) /* of archives with model exchange */

static int messages;
static void logger(fmi2ComponentEnvironment e, fmi2String instance, fmi2Status status, fmi2String category, fmi2String message, ...) {
    va_list arguments;
    va_start(arguments, message);
    messages++;
    printf("format %s\nmessage ", message);
    vprintf(message, arguments);
    printf("\n");
    va_end(arguments);
}
static fmi2CallbackFunctions callbacks = {logger, calloc, free, NULL, NULL};
static char *resources, *guid;
enum { MOST = 4096 };
static unsigned references[MOST], reference;
static size_t named;
static double step;
static long count;

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return 1e6 * t.tv_sec + 1e-3 * t.tv_nsec;
}
static long memory(void) {
    long pages = 0, size;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &size, &pages) != 2) pages = 0;
    if (f) fclose(f);
    return pages * 4096;
}
static fmi2Component started(void) {
    fmi2Component c = Instantiate("bare", fmi2CoSimulation, guid, resources, &callbacks, 0, 1);
    if (c && (SetupExperiment(c, 0, 0, 0, 0, 0) || EnterInitializationMode(c) || ExitInitializationMode(c))) printf("start failed\n");
    return c;
}
static double run(fmi2Component c, long from, long to) {
    double value = 0;
    for (long k = from; k < to; k++)
        if (DoStep(c, k * step, step, 1)) printf("step %ld failed\n", k);
    GetReal(c, &reference, 1, &value);
    return value;
}
static void show(fmi2Component c) {
    static double values[MOST];
    if (GetReal(c, references, named, values)) printf("reading failed\n");
    for (size_t k = 0; k < named; k++) printf("value %.17g\n", values[k]);
}
#ifndef _WIN32
static void *in_thread(void *result) {
    fmi2Component c = started();
    *(double *)result = run(c, 0, count);
    FreeInstance(c);
    return NULL;
}
#endif

#define TRY(name, call) printf(name " %d\n", (int)(call))

int main(int n, char **a) {
    void *library = OPEN(a[1]);
    if (!library) return printf("dlopen %s\n", problem()), 1;
#define FIND(name) if (!(name = (fmi2##name##TYPE *)FUNCTION(library, "fmi2" #name))) return printf("missing " #name "\n"), 1;
    FUNCTIONS(FIND)
    GetDerivatives = (fmi2GetDerivativesTYPE *)FUNCTION(library, "fmi2GetDerivatives");
    resources = a[2], guid = a[3];
    for (char *at = n > 5 ? strtok(a[5], ",") : NULL; at && named < MOST; at = strtok(NULL, ",")) references[named++] = (unsigned)atol(at);
    reference = references[0], step = n > 6 ? atof(a[6]) : 1e-3, count = n > 7 ? atol(a[7]) : 100;
    fmi2FMUstate state = NULL;
    if (!strcmp(a[4], "run")) {
        double begin = now();
        fmi2Component c = started();
        printf("instantiation_us %.3f\n", now() - begin);
        begin = now();
        run(c, 0, count);
        printf("step_us %.4f\n", (now() - begin) / count);
        show(c);
        FreeInstance(c);
    } else if (!strcmp(a[4], "soak")) {
        fmi2Component c = started();
        run(c, 0, count / 10);
        long before = memory();
        run(c, count / 10, count);
        printf("grown %ld\n", memory() - before);
        before = memory();
        for (int k = 0; k < 50; k++) printf("%s", started() ? "" : "failed\n");
        printf("per_instance %ld\n", (memory() - before) / 50);
#ifndef _WIN32
    } else if (!strcmp(a[4], "threads")) {
        double values[4];
        pthread_t threads[4];
        for (int k = 0; k < 4; k++) pthread_create(threads + k, NULL, in_thread, values + k);
        for (int k = 0; k < 4; k++) pthread_join(threads[k], NULL), printf("value %.17g\n", values[k]);
#endif
    } else if (!strcmp(a[4], "refused")) {
        printf("refused %d\n", Instantiate("bare", fmi2CoSimulation, guid, resources, &callbacks, 0, 1) == NULL);
    } else if (!strcmp(a[4], "save") || !strcmp(a[4], "load")) {
        size_t size = 0;
        fmi2Component c = started();
        if (a[4][0] == 's') run(c, 0, count);
        GetFMUstate(c, &state);
        SerializedFMUstateSize(c, state, &size);
        char *bytes = malloc(size);
        FILE *f = fopen(a[8], a[4][0] == 's' ? "wb" : "rb");
        if (a[4][0] == 's') SerializeFMUstate(c, state, bytes, size), fwrite(bytes, 1, size, f);
        else if (fread(bytes, 1, size, f) == size) FreeFMUstate(c, &state), DeSerializeFMUstate(c, bytes, size, &state), SetFMUstate(c, state);
        fclose(f);
        run(c, count, 2 * count);
        show(c);
        FreeFMUstate(c, &state), FreeInstance(c);
    } else { /* misuse: nothing may crash */
        double x = 0, nan = 0.0 / 0.0;
        unsigned unknown = 4000000000u;
        TRY("wrong_guid", Instantiate("bare", fmi2CoSimulation, "{no}", resources, &callbacks, 0, 1) != NULL);
        TRY("wrong_folder", Instantiate("bare", fmi2CoSimulation, guid, "file:///nowhere", &callbacks, 0, 1) != NULL);
        fmi2Component c = Instantiate(NULL, fmi2CoSimulation, guid, resources, &callbacks, 0, 1);
        TRY("early_step", DoStep(c, 0, step, 1));
        TRY("early_terminate", Terminate(c));
        FreeInstance(c), FreeInstance(NULL);
        c = started();
        TRY("unknown_get", GetReal(c, &unknown, 1, &x));
        TRY("unknown_set", SetReal(c, &unknown, 1, &x));
        TRY("nan", SetReal(c, &reference, 1, &nan));
        TRY("gap", DoStep(c, 5, step, 1));
        TRY("backwards", DoStep(c, 0, -step, 1));
        TRY("other_kind", GetDerivatives ? GetDerivatives(c, &x, 1) : fmi2Error);
        TRY("good_step", DoStep(c, 0, step, 1));
        TRY("tiny_step", DoStep(c, step, 1e-14, 1));
        TRY("terminate", Terminate(c));
        TRY("after", DoStep(c, step, step, 1));
        TRY("read", GetReal(c, &reference, 1, &x));
        TRY("reset", Reset(c));
        TRY("again", SetupExperiment(c, 0, 0, 0, 0, 0) || EnterInitializationMode(c) || ExitInitializationMode(c) || DoStep(c, 0, step, 1));
        TRY("null", DoStep(NULL, 0, step, 1));
        FreeInstance(c);
    }
    return 0;
}
