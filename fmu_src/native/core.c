/* What both FMI versions do with an instance: evaluate lazily, read, write, step. Returns levels; 0 is OK. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

static int call(Instance *in, Entry entry, int64_t option, double t) { return entry(in->model.ints, in->model.floats, in->work, option, t); }

Instance *instance_new(const char *name, const char *token, const char *resources, int exchange, Sink sink, void *environment, Callback logger, int logging) {
    /* why an instance cannot be made is always said, also when there is no room for one */
    Instance first, *in = (Instance *)malloc(sizeof *in);
    memset(&first, 0, sizeof first); /* C++ knows no such initialisers as C99 has */
    first.sink = sink, first.environment = environment, first.logger = logger, first.exchange = exchange, first.logging = CATEGORY_ALL;
    if (!in) {
        say(&first, LEVEL_ERROR, "cannot instantiate: out of memory");
        return NULL;
    }
    *in = first;
    if (!name || !*name) name = "unnamed";
    if ((in->name = (char *)malloc(strlen(name) + 1))) strcpy(in->name, name);
    const char *problem = in->name ? model_load(&in->model, resources, token) : "out of memory";
    if (!problem && !(in->work = (double *)calloc((size_t)in->model.header[P_WORK], sizeof(double)))) problem = "out of memory";
    if (!problem && !(in->happened = (unsigned char *)calloc((size_t)in->model.header[P_GUARDS] + 1, 1))) problem = "out of memory";
    if (problem) say(in, LEVEL_ERROR, "cannot instantiate: %s (resource location '%s', identifier '%s')", problem, resources ? resources : "", token ? token : "");
    if (problem || instance_reset(in)) {
        instance_free(in);
        return NULL;
    }
    in->logging = logging ? CATEGORY_ALL : CATEGORY_ERROR;
    return in;
}

void instance_free(Instance *in) {
    if (!in) return;
    model_free(&in->model);
    free(in->work);
    free(in->spare);
    free(in->happened);
    free(in->name);
    free(in);
}

/* Whether there is no motion yet. Some hosts set parameters after initialization only, and read the states behind that. */
static int before_motion(const Instance *in) { return (in->mode & (INSTANTIATED | INITIALIZATION)) || in->early; }

/* Write a value; an input also to its start value while there is no motion yet. */
static void put(Instance *in, const Variable *v, double value) {
    in->work[v->write] = value;
    if (v->start >= 0 && before_motion(in)) in->work[v->start] = value;
}

/* The code of this library for the structures of its model. Hosts that unpack archives over one another may give it another model, which the general engine runs. */
static const OwnCode *own_code(Instance *in) {
#ifdef KINETREE_OWN_OF
    if (in->engine->own && strcmp(in->model.text + in->model.strings[1], KINETREE_OWN_OF)) {
        say(in, LEVEL_WARNING, "the straight-line code of this binary is that of another model: the general engine runs");
        return NULL;
    }
#endif
    return in->engine->own;
}

/* Tell the structures of the code that this library has for them; a file never carries addresses. */
static void give_own_code(Instance *in) {
    const OwnCode *own = own_code(in);
    int64_t *ints = in->model.ints;
    for (int64_t k = 0; k < ints[U_STAGES]; k++) ints[ints[U_SIZE + S_SIZE * k + S_INTS] + H_OWN] = own && own[k] ? (int64_t)(intptr_t)own[k] : 0;
}

int instance_reset(Instance *in) {
    in->engine = best_engine();
    if (!in->engine) return say(in, LEVEL_ERROR, "this archive was packed for newer processors than the one of this machine");
    give_own_code(in);
    in->mode = INSTANTIATED;
    in->stale = STALE_START;
    in->start_time = in->warned = in->early = in->located = 0;
    int status = call(in, in->engine->reset, 0, 0.0);
    for (int64_t k = 0; k < in->model.header[P_OPTIONS]; k++) in->work[(int)in->model.options[2 * k]] = in->model.options[2 * k + 1];
    for (int64_t v = 0; v < in->model.header[P_VARIABLES]; v++)
        if (in->model.variables[v].access == ACCESS_INPUT) put(in, in->model.variables + v, in->model.limits[3 * v + 2]);
    return status ? engine_failure(in, status, LEVEL_ERROR, "reset") : LEVEL_OK;
}

int setup(Instance *in, int tolerance_defined, double tolerance, double start_time) {
    if (!isfinite(start_time)) return say(in, LEVEL_ERROR, "the start time %g is not a finite number", start_time);
    if (tolerance_defined && !(tolerance > 0)) return say(in, LEVEL_ERROR, "the tolerance %g is not positive", tolerance);
    if (tolerance_defined) {
        in->work[V_ABSOLUTE] *= tolerance / in->work[V_RELATIVE];
        in->work[V_RELATIVE] = tolerance;
    }
    in->start_time = in->work[V_TIME] = start_time;
    return LEVEL_OK;
}

static int not_a_number(Instance *in, int level, const char *doing, int item) {
    double t = in->work[V_TIME], value = item < 0 ? 0 : in->work[in->model.ints[U_AT_WORKSPACE] + KINETREE_WORK_HEAD + item];
    if (item < 0) return say(in, level, "%s at t = %.9g: an acceleration or a rate is not a finite number", doing, t);
    const char *name = register_name(&in->model, in->work, item);
    if (isfinite(value))
        return say(in, level, "%s at t = %.9g: a value is not a finite number, because '%s' has grown to %.3g: %s", doing, t, name, value,
                   in->exchange ? "the host's integration is unstable, its step or tolerance too large" : "the motion is unstable; try a smaller step or tolerance");
    return say(in, level, "%s at t = %.9g: '%s' is not a finite number", doing, t, name);
}

static int too_many_steps(Instance *in, int level, const char *doing) {
    const double *w = in->work;
    char rate[80] = "";
    if (w[V_FASTEST] > 0) snprintf(rate, sizeof rate, ", the fastest motion has a rate of about %.1e 1/s", w[V_FASTEST]);
    return say(in, level, "%s at t = %.9g: %.0f steps of the integrator do not reach its end: steps are %.1e s%s. Try smaller communication steps%s", doing,
               w[V_TIME], w[V_USED], w[V_LAST_STEP], rate, w[V_KIND] == KIND_RADAU ? "" : ", or an FMU with integrator radau where stiff forces make it fast");
}

int engine_failure(Instance *in, int status, int level, const char *doing) {
    int item = (int)in->work[V_ITEM];
    double t = in->work[V_TIME];
    switch (status) {
        case STATUS_SINGULAR_JOINT:
            return say(in, level, "%s at t = %.9g: body '%s' has no inertia along a freedom of its joint", doing, t, body_name(&in->model, in->work, item));
        case STATUS_SINGULAR_BODY:
            return say(in, level, "%s at t = %.9g: body '%s' has no invertible mass matrix", doing, t, body_name(&in->model, in->work, item));
        case STATUS_NOT_A_NUMBER:
            return not_a_number(in, level, doing, item);
        case STATUS_STEP_TOO_SMALL:
            return say(in, level, "%s at t = %.9g: the step fell below the resolution of time: the motion is singular or a force jumps", doing, t);
        case STATUS_NO_CONVERGENCE: return say(in, level, "%s at t = %.9g: an iteration did not converge", doing, t);
        case STATUS_TOO_MANY_STEPS: return too_many_steps(in, level, doing);
        case STATUS_CANCELLED: return say(in, level, "%s at t = %.9g: cancelled by the host", doing, t);
        case STATUS_INCONSISTENT: return say(in, level, "%s at t = %.9g: the loop constraints cannot be satisfied (row %d)", doing, t, item);
        case STATUS_DEAD_POINT:
            return say(in, level, "%s at t = %.9g: a loop stands at a dead point, where it can begin to move and cannot go on (row %d)", doing, t, item);
        case STATUS_CANNOT_SET:
            return say(in, level, "%s at t = %.9g: an event cannot set '%s', which the constraints and what else is set determine", doing, t,
                       register_name(&in->model, in->work, item));
        case STATUS_NO_CONTACT_FORCE:
            return say(in, level, "%s at t = %.9g: contact %d: rigid bodies with Coulomb friction admit no force there, or several", doing, t, item + 1);
        case STATUS_PENETRATES: return say(in, level, "%s at t = %.9g: contact %d: the bodies overlap where the motion begins", doing, t, item + 1);
        case STATUS_DRIVEN_TOGETHER:
            return say(in, level, "%s at t = %.9g: contact %d: given motions drive the bodies into each other, and nothing gives way", doing, t, item + 1);
        case STATUS_SLIDING:
            return say(in, level, "%s at t = %.9g: the rate of '%s' jumps back and forth: a law switches there (sign, if, <); use a friction element or a hysteresis",
                       doing, t, register_name(&in->model, in->work, item));
        case STATUS_ESTIMATE_FAILED: return say(in, level, "%s at t = %.9g: an observer finds no finite estimate: the motion of its model diverges, or its loops do not close", doing, t);
        case STATUS_BLOCK_FAILED: return say(in, level, "%s at t = %.9g: a predictive controller finds no finite plan: the predicted motion diverges", doing, t);
        case STATUS_CHATTERING: return say(in, level, "%s at t = %.9g: events accumulate (condition %d)", doing, t, item);
        case STATUS_STAGE_NEVER_ENDS: return say(in, level, "%s at t = %.9g: stage '%s' never ends", doing, t, stage_name(&in->model, (int)in->work[V_STAGE]));
        default: return say(in, level, "%s at t = %.9g: status %d of the engine", doing, t, status);
    }
}

enum { CLOSE_LOOPS = -1, ARMED = 1, LOCATE = 2, NOTE = 3, LOOK = 4, GO_ON = 5, LEAVE = 6 }; /* options of the engine's event */

/* Roundings of a guard: bodies that rest on one another have distances of nothing but roundings, of any sign. */
static const double BAND = 1e-13;

/* Hosts take a change of sign for one beyond a hysteresis only, up to 1e-4 of their tolerance: indicators are as far from zero on both sides. */
static const double FLOOR = 1e-6;

double *guard_state(const Instance *in, int64_t k) {
    return in->work + in->model.ints[U_AT_LOCATOR] + LOCATOR_SIZE + k * GUARD_STATE_SIZE;
}

/* What has happened and is not clearly over stays what happened: armed again by roundings it would happen without end in hosts that look at signs. */
static void disarm(Instance *in) {
    const double *guards = in->work + in->model.ints[U_AT_GUARDS];
    for (int64_t k = 0; k < in->model.header[P_GUARDS]; k++)
        if (in->happened[k] && guards[k] >= -BAND) guard_state(in, k)[GUARD_ARMED] = 0;
}

static int happens(const Instance *in) {
    const double *guards = in->work + in->model.ints[U_AT_GUARDS];
    for (int64_t k = 0; k < in->model.header[P_GUARDS]; k++)
        if (guards[k] >= 0 && guard_state(in, k)[GUARD_ARMED] != 0) return 1;
    return 0;
}

/* A host that integrates gets finite rates or a word: integrators take infinity for a number. */
static int check_rates(Instance *in, int level, const char *doing) {
    const double *x = in->work + in->model.ints[U_AT_STATES], *rates = in->work + in->model.ints[U_AT_RATES], t = in->work[V_TIME];
    int64_t count = in->model.header[P_STATES], wrong = 0, grown = 0;
    while (wrong < count && isfinite(rates[wrong])) wrong++;
    if (wrong == count) return LEVEL_OK;
    while (grown < count && fabs(x[grown]) < 1e100) grown++;
    const char *name = state_name(&in->model, (size_t)(grown < count ? grown : wrong));
    if (grown == count) return say(in, level, "%s at t = %.9g: the rate of '%s' is not a finite number", doing, t, name);
    return say(in, level, "%s at t = %.9g: a rate is not a finite number, because '%s' has grown to %.3g: the host's integration is unstable, its step or tolerance too large",
               doing, t, name, x[grown]);
}

/* Evaluate what changed since the last evaluation. */
int settle(Instance *in) {
    if (!(in->stale & ~STALE_GUARDS) || in->mode == FAILED || in->mode == TERMINATED) return LEVEL_OK;
    int status = 0, level = LEVEL_ERROR;
    const char *doing = "evaluation";
    if (in->stale & STALE_START) {
        doing = "initialization";
        status = call(in, in->engine->start, 0, in->start_time);
    } else {
        double t = in->work[V_TIME];
        if (in->exchange) level = LEVEL_DISCARD; /* the host may try a smaller step */
        if (in->stale & STALE_PARAMETERS) status = call(in, in->engine->prepare, 0, t);
        if (!status) status = call(in, in->exchange ? in->engine->derivatives : in->engine->refresh, 0, t);
    }
    if (status) return engine_failure(in, status, level, doing);
    if (in->exchange && (level = check_rates(in, level, doing))) return level;
    in->stale = in->exchange && in->model.header[P_GUARDS] > 0 ? STALE_GUARDS : 0;
    return LEVEL_OK;
}

/* The same with the guards as an event would find them: a host leaves loops and closed contacts open by its errors, and an event closes them. */
static int settle_guards(Instance *in) {
    int level = settle(in);
    if (level || !(in->stale & STALE_GUARDS) || in->mode == FAILED || in->mode == TERMINATED) return level;
    in->stale &= ~STALE_GUARDS;
    call(in, in->engine->event, LOOK, in->work[V_TIME]);
    return level;
}

static const Variable *variable(Instance *in, uint32_t vr, Type type, int *level) {
    static const char *const TYPES[] = {"real", "integer", "string"};
    if (vr >= (uint64_t)in->model.header[P_VARIABLES]) {
        *level = say(in, LEVEL_ERROR, "there is no variable with value reference %u", vr);
        return NULL;
    }
    const Variable *v = in->model.variables + vr;
    if (v->type == (int64_t)type) return v;
    *level = say(in, LEVEL_ERROR, "'%s' (value reference %u) is not a%s %s", variable_name(&in->model, vr), vr, type == TYPE_INTEGER ? "n" : "", TYPES[type]);
    return NULL;
}

/* An event indicator: positive or negative as the guard is beyond roundings, which count for what it was before, and never near to zero. */
static double indicator(const Instance *in, int64_t k) {
    double value = in->work[in->model.ints[U_AT_GUARDS] + k];
    value += guard_state(in, k)[GUARD_ARMED] != 0 ? -BAND : BAND;
    return value < 0 ? value - FLOOR : value + FLOOR;
}

int get_reals(Instance *in, const uint32_t *vr, size_t n, double *values) {
    int early = in->mode == INSTANTIATED, level = LEVEL_OK, evaluated = 0;
    for (size_t k = 0; k < n; k++) {
        const Variable *v = variable(in, vr[k], TYPE_REAL, &level);
        if (!v) return level;
        if (early && v->access != ACCESS_NONE) { /* before the start a state is its start value */
            values[k] = in->work[v->write];
            continue;
        }
        int64_t guard = in->exchange ? v->at - in->model.ints[U_AT_GUARDS] : -1;
        int shows = guard >= 0 && guard < in->model.header[P_GUARDS];
        if (shows ? (level = settle_guards(in)) : !evaluated && in->stale && (level = settle(in))) return level;
        evaluated = 1;
        values[k] = shows ? indicator(in, guard) : in->work[v->at];
    }
    return level;
}

int get_integers(Instance *in, const uint32_t *vr, size_t n, int32_t *values) {
    int level = settle(in);
    for (size_t k = 0; k < n && !level; k++) {
        const Variable *v = variable(in, vr[k], TYPE_INTEGER, &level);
        if (v) values[k] = (int32_t)in->work[v->at];
    }
    return level;
}

int get_strings(Instance *in, const uint32_t *vr, size_t n, const char **values) {
    int level = settle(in);
    for (size_t k = 0; k < n && !level; k++)
        if (variable(in, vr[k], TYPE_STRING, &level)) values[k] = stage_name(&in->model, (int)in->work[V_STAGE]);
    return level;
}

/* Whether a variable may be set now; says why not. */
static int check_access(Instance *in, uint32_t vr, const Variable *v, double value) {
    const char *name = variable_name(&in->model, vr);
    int before = in->mode == INSTANTIATED || in->mode == INITIALIZATION;
    if (v->access == ACCESS_NONE) return say(in, LEVEL_ERROR, "'%s' cannot be set: it is computed", name);
    if (!isfinite(value)) return say(in, LEVEL_ERROR, "'%s' is set to %g, which is not a finite number", name, value);
    if (value == in->work[v->write] || (!before && value == in->work[v->at])) return LEVEL_OK; /* some hosts set everything again during the run */
    if (v->access == ACCESS_FIXED && !before && !in->early) return say(in, LEVEL_ERROR, "'%s' is a fixed parameter: it cannot change %s", name, mode_name(in->mode));
    if (v->access == ACCESS_START && !before) return say(in, LEVEL_ERROR, "'%s' is a state: it cannot be set %s", name, mode_name(in->mode));
    if (v->access == ACCESS_TUNABLE && in->mode == CONTINUOUS) return say(in, LEVEL_ERROR, "'%s' is a parameter: it changes in event mode only", name);
    const double *limit = in->model.limits + 3 * vr;
    if (v->access != ACCESS_INPUT && (value < limit[0] || value > limit[1]))
        return say(in, LEVEL_ERROR, "'%s' is set to %.9g, outside of its range %.9g to %.9g", name, value, limit[0], limit[1]);
    return LEVEL_OK;
}

int set_reals(Instance *in, const uint32_t *vr, size_t n, const double *values) {
    int level = LEVEL_OK;
    for (size_t k = 0; k < n; k++) {
        const Variable *v = variable(in, vr[k], TYPE_REAL, &level);
        if (!v || (level = check_access(in, vr[k], v, values[k]))) return level;
    }
    int before = in->mode == INSTANTIATED || in->mode == INITIALIZATION;
    for (size_t k = 0; k < n; k++) {
        const Variable *v = in->model.variables + vr[k];
        if (in->work[v->write] == values[k] || (!before && (v->access == ACCESS_START || (v->access == ACCESS_FIXED && !in->early)))) continue;
        put(in, v, values[k]);
        in->stale |= before || (in->early && v->access != ACCESS_INPUT) ? STALE_START : v->access == ACCESS_INPUT ? STALE_VALUES : STALE_PARAMETERS;
    }
    return level;
}

/* Copy consecutive numbers once everything is evaluated. */
int get_group(Instance *in, int64_t at, int64_t count, size_t n, double *values) {
    if ((int64_t)n != count) return say(in, LEVEL_ERROR, "%zu numbers were asked for, there are %d", n, (int)count);
    int level = settle(in);
    if (!level && n) memcpy(values, in->work + at, n * sizeof *values);
    return level;
}

int get_indicators(Instance *in, size_t n, double *values) {
    int level = settle_guards(in);
    if (!level) level = get_group(in, in->model.ints[U_AT_GUARDS], in->model.header[P_GUARDS], n, values);
    for (size_t k = 0; !level && k < n; k++) values[k] = indicator(in, (int64_t)k);
    return level;
}

int set_states(Instance *in, const double *x, size_t n) {
    if ((int64_t)n != in->model.header[P_STATES]) return say(in, LEVEL_ERROR, "%zu continuous states were given, there are %d", n, (int)in->model.header[P_STATES]);
    for (size_t k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return say(in, LEVEL_DISCARD, "the host's state '%s' is %g, which is not a finite number: its integration is unstable", state_name(&in->model, k), x[k]);
    if (n) memcpy(in->work + in->model.ints[U_AT_STATES], x, n * sizeof *x);
    in->stale |= STALE_VALUES;
    return LEVEL_OK;
}

int set_time(Instance *in, double t) {
    if (!isfinite(t)) return say(in, LEVEL_ERROR, "the time is set to %g, which is not a finite number", t);
    if (in->work[V_TIME] != t) in->stale |= STALE_VALUES;
    if (isfinite(in->work[V_NOTED])) call(in, in->engine->event, GO_ON, t);
    in->work[V_TIME] = t;
    return LEVEL_OK;
}

static void tell_events(Instance *in, double before) {
    if (in->work[V_EVENTS] != before && in->logging & CATEGORY_EVENTS)
        say(in, LEVEL_OK, "t = %.9g: event %d, stage '%s'", in->work[V_EVENT_TIME], (int)in->work[V_EVENTS], stage_name(&in->model, (int)in->work[V_STAGE]));
}

/* The derivatives pull open loops closed; in event mode, where states may change anyway, gaps [m or 1] beyond this are closed at once. */
static int open_loops(const Instance *in) { return in->exchange && in->work[V_CONSTRAINT_RESIDUAL] > 1e-10; }

/* A host that says so may try only, and take it back: nothing but a note is made, which counts once it goes on. */
int step_accepted(Instance *in) {
    int level = settle_guards(in);
    if (!level && in->exchange) call(in, in->engine->event, NOTE, in->work[V_TIME]);
    if (!level && in->exchange && in->work[V_CONSTRAINT_RESIDUAL] > 1e-3 && !in->warned) {
        in->warned = 1;
        say(in, LEVEL_WARNING, "t = %.9g: the host's integration leaves the closed loops open by %.1e: its step or tolerance is too large", in->work[V_TIME],
            in->work[V_CONSTRAINT_RESIDUAL]);
    }
    return level;
}

int exit_initialization(Instance *in) {
    int level = settle(in), events = in->exchange || in->event_mode_used;
    in->mode = level ? FAILED : events ? EVENT : STEP;
    in->early = in->mode == EVENT;
    return level;
}

/* From continuous time, or again: what a step has noted at the instant of an event is not used. */
int enter_event_mode(Instance *in) {
    if (in->mode != EVENT) in->located = 1;
    in->mode = EVENT;
    in->work[V_NOTED] = INFINITY;
    return LEVEL_OK;
}

/* Also where nothing has happened: hosts that complete no steps arm guards that way. */
int leave_event_mode(Instance *in, Mode mode) {
    int level = settle_guards(in);
    if (!level && in->exchange && call(in, in->engine->event, LEAVE, in->work[V_TIME]) == STATUS_EVENT) in->stale |= STALE_VALUES; /* a law is on another side of its jump */
    in->mode = mode;
    in->located = in->early = 0;
    return level;
}

/* The next corner of the laws of time, which a host's step must not pass; 0 when there is none. */
int next_event(const Instance *in, double *t) {
    int known = in->exchange && isfinite(in->work[V_NEXT]);
    *t = known ? in->work[V_NEXT] : 0;
    return known;
}

/* Carry out a corner of the laws of time, then the events of the guards that rose; changed: the continuous states have new values. */
int handle_event(Instance *in, int *changed) {
    int level = settle_guards(in);
    in->early = 0;
    if (level || !in->exchange) return level; /* a step of co-simulation has carried out its event already */
    double turned = in->work[V_TURNED], time = in->work[V_TIME];
    /* only what the host has located: what follows at the same instant comes true by itself, and margins of nothing but noise would take turns without end */
    int located = in->located && call(in, in->engine->event, LOCATE, time) == STATUS_EVENT;
    for (int64_t k = 0; !in->located && k < in->model.header[P_GUARDS]; k++) guard_state(in, k)[GUARD_MARK] = 0;
    in->located = 0;
    int failed = call(in, in->engine->corner, 0, time);
    if (failed) {
        in->mode = FAILED;
        return engine_failure(in, failed, LEVEL_ERROR, "corner");
    }
    if (in->work[V_TURNED] != turned) { /* speeds may have jumped: what has come true is told anew */
        for (int64_t k = 0; k < in->model.header[P_GUARDS]; k++)
            if (guard_state(in, k)[GUARD_MARK] == EVENT_FOUND) guard_state(in, k)[GUARD_MARK] = 0;
        in->stale |= STALE_VALUES;
        if ((level = settle_guards(in))) return level;
    }
    int closed = open_loops(in) && !call(in, in->engine->event, CLOSE_LOOPS, time);
    closed |= in->work[V_TURNED] != turned;
    double before = in->work[V_EVENTS];
    for (int64_t k = 0; k < in->model.header[P_GUARDS]; k++)
        in->happened[k] = (in->work[in->model.ints[U_AT_GUARDS] + k] >= 0 && guard_state(in, k)[GUARD_ARMED] != 0) || guard_state(in, k)[GUARD_MARK] != 0;
    int status = located || happens(in) ? call(in, in->engine->event, ARMED, time) : 0;
    if (status && status != STATUS_EVENT) {
        in->mode = FAILED;
        return engine_failure(in, status, LEVEL_ERROR, "event");
    }
    tell_events(in, before);
    *changed = closed || in->work[V_EVENTS] != before;
    if (*changed) in->stale |= STALE_VALUES;
    level = settle_guards(in);
    if (!level) disarm(in);
    /* another structure, or parameters, have other corners */
    if (!level && in->work[V_EVENTS] != before) call(in, in->engine->corner, 0, time);
    return level;
}

/* The engine up to the target, with a pause after every step of its integrator where the host wants one; TOO_MANY_STEPS within the budget: early return. */
static int advance(Instance *in, int64_t option, double target, int *early) {
    *early = 0;
    if (!in->pause) return call(in, in->engine->advance, option, target);
    double budget = in->work[V_BUDGET], used = 0;
    for (;;) {
        in->work[V_BUDGET] = 1;
        int status = call(in, in->engine->advance, option, target);
        in->work[V_BUDGET] = budget;
        used += in->work[V_USED];
        if (status != STATUS_TOO_MANY_STEPS || used >= budget) {
            in->work[V_USED] = used;
            return status;
        }
        in->stale |= STALE_VALUES;
        if ((*early = in->pause(in))) return STATUS_OK;
        option |= CONTINUED;
    }
}

int cancel_step(Instance *in) {
    if (!in->stepping) return say(in, LEVEL_ERROR, "no step is in progress");
    in->work[V_CANCEL] = 1;
    return LEVEL_OK;
}

int do_step(Instance *in, double t, double h, int stop_at_event, int *stopped) {
    double now = in->work[V_TIME], target = t + h, events = in->work[V_EVENTS];
    *stopped = 0;
    if (!isfinite(target) || h < 0) return say(in, LEVEL_ERROR, "a step of %.9g s at t = %.9g is impossible", h, t);
    if (fabs(t - now) > 1e-9 * (1 + fabs(now)) + 1e-6 * h)
        return say(in, LEVEL_ERROR, "the step is to begin at t = %.12g, but this instance stands at t = %.12g", t, now);
    if (target <= now) return settle(in);
    int status = 0, early = 0;
    in->stepping = 1;
    if (in->stale & STALE_PARAMETERS) status = call(in, in->engine->prepare, 0, now);
    if (!status) status = advance(in, stop_at_event ? STOP_AT_EVENT : 0, target, &early);
    in->stepping = 0;
    in->work[V_CANCEL] = 0;
    if (early || status == STATUS_CANCELLED) { /* the state is that of an instant on the way */
        in->stale = STALE_VALUES;
        tell_events(in, events);
        return early ? LEVEL_OK : engine_failure(in, status, LEVEL_DISCARD, "step");
    }
    if (status && status != STATUS_EVENT) {
        in->mode = FAILED;
        in->stale = 0;
        return engine_failure(in, status, LEVEL_ERROR, "step");
    }
    *stopped = status == STATUS_EVENT;
    in->stale = 0;
    tell_events(in, events);
    return LEVEL_OK;
}
