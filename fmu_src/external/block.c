/* A mechanism behind a Modelica external object: what tools call of it, in the styles Exchange and Steps.

   Tools repeat, reorder and skip calls of functions. So each of these depends on nothing but its arguments: time, states, inputs and the epoch, which
   counts events (or samples). The object keeps what it remembers before and after the last event, and goes back to an epoch that it is asked for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#ifdef _WIN32 /* a library of Windows leaves no function to the program that loads it: it is looked for where it is loaded */
#include <stdarg.h>
#include <windows.h>
#include <psapi.h>
#define SHOWN __declspec(dllexport)
typedef void (*Teller)(const char *, ...);

static void tell_alone(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    exit(1);
}

static Teller teller(void) {
    static Teller found;
    HMODULE modules[1024];
    DWORD bytes = 0;
    if (!found && K32EnumProcessModules(GetCurrentProcess(), modules, sizeof modules, &bytes))
        for (DWORD k = 0; !found && k < bytes / sizeof *modules && k < 1024; k++) found = (Teller)(void (*)(void))GetProcAddress(modules[k], "ModelicaFormatError");
    return found ? found : (found = tell_alone);
}
#define ModelicaFormatError (*teller())
#else
#define SHOWN __attribute__((visibility("default")))
void ModelicaFormatError(const char *format, ...);
#endif

typedef struct {
    Instance *in;
    int epoch;                  /* of the instance */
    SavedState *before, *after; /* at the epoch before, or at the one behind where the tool has gone back */
    int has_before, has_after;
    double *x, *z, t; /* where the instance was placed last, and room for indicators */
    double next;
    double *first, first_next; /* states at the start, and the first instant that a step must not pass */
    char text[1024];
} Block;

static const double NEVER = 1e60, CLEARLY = 1e-10, FLOOR = 1e-6; /* of guards: see core.c */
static const double EPSILON = 2.220446049250313e-16;

static void sink(Instance *in, int level, const char *category, const char *text) {
    Block *b = (Block *)in->environment;
    if (b && level >= LEVEL_WARNING) snprintf(b->text, sizeof b->text, "%s", text);
}

static void fail(const Block *b, const char *doing) { ModelicaFormatError("%s: %s: %s\n", b->in ? b->in->name : "mechanism", doing, b->text); }

static size_t states_of(const Block *b) { return (size_t)b->in->model.header[P_STATES]; }

SHOWN void kinetree_block_free(void *object) {
    Block *b = (Block *)object;
    if (!b) return;
    if (b->in) instance_free(b->in);
    state_free(&b->before);
    state_free(&b->after);
    free(b->x);
    free(b->z);
    free(b->first);
    free(b);
}

/* `file`: model.kinetree, wherever it lies. */
SHOWN void *kinetree_block_new(const char *name, const char *file, const char *token, int exchange, double tolerance, double start, const int *vr, size_t n,
                         const double *values, size_t count) {
    Block *b = (Block *)calloc(1, sizeof *b);
    if (!b) {
        ModelicaFormatError("%s: out of memory\n", name);
        return NULL;
    }
    char folder[4096];
    size_t end = strlen(file);
    while (end && file[end - 1] != '/' && file[end - 1] != '\\') end--;
    snprintf(folder, sizeof folder, "%.*s", (int)end, file);
    b->in = instance_new(name, token, folder, exchange, sink, b, NULL, 0);
    if (!b->in) {
        ModelicaFormatError("%s: %s\n", name, b->text);
        return NULL;
    }
    b->x = (double *)calloc(states_of(b) + 1, sizeof(double));
    b->first = (double *)calloc(states_of(b) + 1, sizeof(double));
    b->z = (double *)calloc((size_t)b->in->model.header[P_GUARDS] + 1, sizeof(double));
    if (n != count || setup(b->in, tolerance > 0, tolerance, start)) fail(b, "setup");
    for (size_t k = 0; k < n; k++) {
        uint32_t reference = (uint32_t)vr[k];
        if (set_reals(b->in, &reference, 1, values + k)) fail(b, "parameter");
    }
    b->in->mode = INITIALIZATION;
    b->t = NAN;
    b->next = NEVER;
    return b;
}

static void note_next(Block *b, double t) {
    if (!next_event(b->in, &b->next) || b->next <= t) b->next = NEVER;
}

/* Carry out what is due at the present place, until nothing changes. */
static void carry_out(Block *b, const char *doing) {
    for (int changed = 1, k = 0; changed && k < 10; k++) {
        changed = 0;
        if (handle_event(b->in, &changed)) fail(b, doing);
    }
    if (leave_event_mode(b->in, CONTINUOUS)) fail(b, doing);
}

static void started(Block *b) {
    if (b->in->mode != INITIALIZATION) return;
    if (exit_initialization(b->in)) fail(b, "initialization");
    if (b->in->exchange) carry_out(b, "first event");
    note_next(b, b->in->start_time);
    b->first_next = b->next;
    if (get_group(b->in, b->in->model.ints[U_AT_STATES], (int64_t)states_of(b), states_of(b), b->first)) fail(b, "start");
}

static void go_to(Block *b, int epoch, const char *doing) {
    if (epoch == b->epoch) return;
    if (epoch == b->epoch - 1 && b->has_before) {
        if (state_save(b->in, &b->after) || state_restore(b->in, b->before)) fail(b, doing);
        b->has_after = 1, b->has_before = 0;
    } else if (epoch == b->epoch + 1 && b->has_after) {
        if (state_save(b->in, &b->before) || state_restore(b->in, b->after)) fail(b, doing);
        b->has_before = 1, b->has_after = 0;
    } else ModelicaFormatError("%s: %s: the tool asks for epoch %d, the object remembers %d and the one beside it\n", b->in->name, doing, epoch, b->epoch);
    b->epoch = epoch;
    b->t = NAN;
}

static void set_inputs(Block *b, const int *vr, const double *values, size_t n, const char *doing) {
    for (size_t k = 0; k < n; k++) {
        uint32_t reference = (uint32_t)vr[k];
        const Variable *v = reference < (uint64_t)b->in->model.header[P_VARIABLES] ? b->in->model.variables + reference : NULL;
        if (v && v->access == ACCESS_TUNABLE && b->in->work[v->write] == values[k]) continue; /* a parameter prepares everything anew */
        if (set_reals(b->in, &reference, 1, values + k)) fail(b, doing);
    }
}

static void place(Block *b, double t, const double *x, size_t nx, const int *uvr, const double *u, size_t nu, int epoch, const char *doing) {
    started(b);
    go_to(b, epoch, doing);
    if (nx != states_of(b)) ModelicaFormatError("%s: %s: %d states were given, there are %d\n", b->in->name, doing, (int)nx, (int)states_of(b));
    if (!(b->t == t && memcmp(b->x, x, nx * sizeof *x) == 0)) {
        if (set_time(b->in, t) || set_states(b->in, x, nx)) fail(b, doing);
        memcpy(b->x, x, nx * sizeof *x);
        b->t = t;
    }
    set_inputs(b, uvr, u, nu, doing);
}

/* States at the start, and the first instant that a step must not pass. */
SHOWN void kinetree_block_start(void *object, double *x, size_t nx, double *next) {
    Block *b = (Block *)object;
    started(b);
    if (nx != states_of(b)) ModelicaFormatError("%s: start: %d states are asked for, there are %d\n", b->in->name, (int)nx, (int)states_of(b));
    *next = b->first_next;
    memcpy(x, b->first, nx * sizeof *x);
}

/* -- Exchange: the tool integrates ------------------------------------------------------------------------------------------------------------ */
#define POSITION double t, const double *x, size_t nx, const int *uvr, size_t nuvr, const double *u, size_t nu, int epoch

SHOWN void kinetree_block_rates(void *object, POSITION, double *dx) {
    Block *b = (Block *)object;
    place(b, t, x, nx, uvr, u, nu, epoch, "rates");
    if (get_group(b->in, b->in->model.ints[U_AT_RATES], (int64_t)nx, nx, dx)) fail(b, "rates");
}

SHOWN void kinetree_block_outputs(void *object, POSITION, const int *vr, size_t n, double *y) {
    Block *b = (Block *)object;
    place(b, t, x, nx, uvr, u, nu, epoch, "outputs");
    if (get_reals(b->in, (const uint32_t *)vr, n, y)) fail(b, "outputs");
}

/* Of an epoch: what changes in events alone. */
SHOWN void kinetree_block_counts(void *object, int epoch, const int *vr, size_t n, int *y) {
    Block *b = (Block *)object;
    started(b);
    go_to(b, epoch, "counts");
    if (get_integers(b->in, (const uint32_t *)vr, n, (int32_t *)y)) fail(b, "counts");
}

/* One relation each: it comes true where an event is due, or, of a guard that has happened, where it may happen again. */
SHOWN void kinetree_block_guards(void *object, POSITION, double *z, size_t nz) {
    Block *b = (Block *)object;
    place(b, t, x, nx, uvr, u, nu, epoch, "guards");
    if (get_indicators(b->in, nz, z)) fail(b, "guards");
    const double *guard = b->in->work + b->in->model.ints[U_AT_GUARDS];
    for (size_t k = 0; k < nz; k++)
        if (guard_state(b->in, (int64_t)k)[GUARD_ARMED] == 0) z[k] = guard[k] < -CLEARLY ? FLOOR - guard[k] : -FLOOR - fabs(guard[k]);
}

static int event_is_due(const Block *b) {
    const double *guard = b->in->work + b->in->model.ints[U_AT_GUARDS];
    for (int64_t k = 0; k < b->in->model.header[P_GUARDS]; k++)
        if (guard_state(b->in, k)[GUARD_ARMED] == 0 && guard[k] < -CLEARLY) return 0; /* the tool has come to arm it */
    return 1;
}

/* d(rates) along changes of time, states and inputs, by central differences. */
SHOWN void kinetree_block_slopes(void *object, POSITION, double dt, const double *dx, size_t ndx, const double *du, size_t ndu, double *slopes) {
    Block *b = (Block *)object;
    double largest = fabs(dt), size = 1;
    if (dt != 0) size = fmax(size, fabs(t));
    for (size_t k = 0; k < ndx && k < nx; k++)
        if (dx[k] != 0) largest = fmax(largest, fabs(dx[k])), size = fmax(size, fabs(x[k]));
    for (size_t k = 0; k < ndu && k < nu; k++)
        if (du[k] != 0) largest = fmax(largest, fabs(du[k])), size = fmax(size, fabs(u[k]));
    for (size_t k = 0; k < nx; k++) slopes[k] = 0;
    if (largest == 0) return;
    double h = cbrt(EPSILON) * size / largest, *moved = (double *)calloc(2 * nx + nu + 1, sizeof(double));
    if (!moved) {
        ModelicaFormatError("%s: out of memory\n", b->in->name);
        return;
    }
    double *inputs = moved + nx, *found = inputs + nu;
    for (int side = -1; side <= 1; side += 2) {
        for (size_t k = 0; k < nx; k++) moved[k] = x[k] + side * h * (k < ndx ? dx[k] : 0);
        for (size_t k = 0; k < nu; k++) inputs[k] = u[k] + side * h * (k < ndu ? du[k] : 0);
        kinetree_block_rates(object, t + side * h * dt, moved, nx, uvr, nuvr, inputs, nu, epoch, found);
        for (size_t k = 0; k < nx; k++) slopes[k] += side * found[k] / (2 * h);
    }
    free(moved);
}

/* The next epoch, and the states in it; tunable parameters take the values given. */
SHOWN int kinetree_block_event(void *object, POSITION, const int *tvr, size_t ntvr, const double *tuned, size_t ntuned, double *following, double *next) {
    Block *b = (Block *)object;
    place(b, t, x, nx, uvr, u, nu, epoch, "event");
    if (state_save(b->in, &b->before)) fail(b, "event");
    b->has_before = 1, b->has_after = 0;
    if (get_indicators(b->in, (size_t)b->in->model.header[P_GUARDS], b->z)) fail(b, "event");
    enter_event_mode(b->in);
    b->in->located = event_is_due(b);
    set_inputs(b, tvr, tuned, ntuned < ntvr ? ntuned : ntvr, "tunable parameter");
    carry_out(b, "event");
    note_next(b, t);
    *next = b->next;
    b->epoch = epoch + 1;
    b->t = NAN;
    if (get_group(b->in, b->in->model.ints[U_AT_STATES], (int64_t)nx, nx, following)) fail(b, "event");
    return b->epoch;
}

/* -- Steps: the mechanism integrates itself from sample to sample ------------------------------------------------------------------------------- */
SHOWN int kinetree_block_step(void *object, double t, double h, const int *uvr, size_t nuvr, const double *u, size_t nu, const double *du, size_t ndu, int epoch,
                        const int *vr, size_t n, double *y) {
    Block *b = (Block *)object;
    started(b);
    go_to(b, epoch, "step");
    if (state_save(b->in, &b->before)) fail(b, "step");
    b->has_before = 1, b->has_after = 0;
    set_inputs(b, uvr, u, nu, "inputs");
    for (size_t k = 0; k < ndu; k++) {
        uint32_t reference = (uint32_t)uvr[k];
        int32_t one = 1;
        if (du[k] != 0 && set_slopes(b->in, &reference, 1, &one, du + k)) fail(b, "slopes");
    }
    int stopped = 0;
    double now = b->in->work[V_TIME];
    if (do_step(b->in, now, t + h - now, 0, &stopped) || get_reals(b->in, (const uint32_t *)vr, n, y)) fail(b, "step");
    return b->epoch = epoch + 1;
}

/* Before any step. */
SHOWN void kinetree_block_values(void *object, const int *vr, size_t n, double *y) {
    Block *b = (Block *)object;
    started(b);
    if (get_reals(b->in, (const uint32_t *)vr, n, y)) fail(b, "values");
}
