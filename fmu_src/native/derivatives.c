/* Partial derivatives by central differences on a copy of the work block, output derivatives, slopes of inputs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define CUBE_ROOT_OF_EPSILON 6.0554544523933429e-06

static int keep(Instance *in) {
    size_t bytes = (size_t)in->model.header[P_WORK] * sizeof(double);
    if (!in->spare && !(in->spare = (double *)malloc(bytes))) return say(in, LEVEL_ERROR, "out of memory for derivatives");
    memcpy(in->spare, in->work, bytes);
    return LEVEL_OK;
}

static void restore(Instance *in) { memcpy(in->work, in->spare, (size_t)in->model.header[P_WORK] * sizeof(double)); }

/* Where a known can be moved: inputs, start values and parameters before the start, continuous states. */
static double *place(Instance *in, uint32_t vr) {
    if (vr >= (uint64_t)in->model.header[P_VARIABLES]) return NULL;
    const Variable *v = in->model.variables + vr;
    int before = in->mode == INSTANTIATED || in->mode == INITIALIZATION;
    if (v->type != TYPE_REAL) return NULL;
    if (v->access == ACCESS_INPUT || (before && v->access != ACCESS_NONE)) return in->work + v->write;
    if (!before && v->state >= 0) return in->work + in->model.ints[U_AT_STATES] + v->state;
    return NULL;
}

static int evaluate(Instance *in, int at_states) {
    const Engine *e = in->engine;
    int before = in->mode == INSTANTIATED || in->mode == INITIALIZATION;
    Entry entry = before ? e->start : at_states ? e->derivatives : e->refresh;
    int status = entry(in->model.ints, in->model.floats, in->work, 0, before ? in->start_time : in->work[V_TIME]);
    return status ? engine_failure(in, status, LEVEL_DISCARD, "derivative") : LEVEL_OK;
}

int directional(Instance *in, const uint32_t *unknowns, size_t n, const uint32_t *knowns, size_t m, const double *seed, double *result) {
    int level = settle(in), at_states = in->exchange;
    if (level || (level = keep(in))) return level;
    double largest = 0, size = 1;
    for (size_t k = 0; k < m; k++) {
        double *x = place(in, knowns[k]);
        if (!x) return say(in, LEVEL_ERROR, "'%s' is not a known of directional derivatives %s", variable_name(&in->model, knowns[k]), mode_name(in->mode));
        largest = fmax(largest, fabs(seed[k]));
        if (seed[k] != 0) size = fmax(size, fabs(*x));
        if (in->model.variables[knowns[k]].state >= 0) at_states = 1;
    }
    for (size_t k = 0; k < n; k++) {
        if (unknowns[k] >= (uint64_t)in->model.header[P_VARIABLES] || in->model.variables[unknowns[k]].type != TYPE_REAL)
            return say(in, LEVEL_ERROR, "'%s' is not an unknown of directional derivatives", variable_name(&in->model, unknowns[k]));
        result[k] = 0;
    }
    if (largest == 0) return LEVEL_OK;
    double h = CUBE_ROOT_OF_EPSILON * size / largest;
    for (int side = -1; side <= 1 && !level; side += 2) {
        for (size_t k = 0; k < m; k++) *place(in, knowns[k]) += side * h * seed[k];
        level = evaluate(in, at_states);
        for (size_t k = 0; k < n; k++) result[k] += side * in->work[in->model.variables[unknowns[k]].at] / (2 * h);
        restore(in);
    }
    return level;
}

/* Slopes of inputs during the next step. */
int set_slopes(Instance *in, const uint32_t *vr, size_t n, const int32_t *order, const double *values) {
    const int64_t *ints = in->model.ints;
    int64_t first = ints[U_AT_WORKSPACE] + KINETREE_WORK_HEAD + ints[U_START_INPUTS];
    for (size_t k = 0; k < n; k++) {
        const char *name = variable_name(&in->model, vr[k]);
        if (vr[k] >= (uint64_t)in->model.header[P_VARIABLES] || in->model.variables[vr[k]].access != ACCESS_INPUT)
            return say(in, LEVEL_ERROR, "'%s' is not an input that could have a derivative", name);
        if (order[k] != 1) return say(in, LEVEL_ERROR, "'%s' takes a first derivative, not one of order %d", name, order[k]);
        if (!isfinite(values[k])) return say(in, LEVEL_ERROR, "the derivative of '%s' is set to %g, which is not a finite number", name, values[k]);
    }
    for (size_t k = 0; k < n; k++) in->work[ints[U_AT_SLOPES] + in->model.variables[vr[k]].start - first] = values[k];
    return LEVEL_OK;
}

/* d(output)/dt: the rate of a state is known, of others the difference along the motion. */
int output_rates(Instance *in, const uint32_t *vr, size_t n, const int32_t *order, double *values) {
    int level = settle(in), differences = 0;
    if (level) return level;
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= (uint64_t)in->model.header[P_VARIABLES] || in->model.variables[vr[k]].type != TYPE_REAL || order[k] != 1)
            return say(in, LEVEL_ERROR, "there is no derivative of order %d of '%s'", order[k], variable_name(&in->model, vr[k]));
        const Variable *v = in->model.variables + vr[k];
        values[k] = v->rate >= 0 ? in->work[v->rate] : 0;
        differences |= v->rate < 0;
    }
    if (!differences || (level = keep(in))) return level;
    int64_t count = in->model.header[P_STATES], at = in->model.ints[U_AT_STATES], rates = in->model.ints[U_AT_RATES];
    double fastest = 1;
    for (int64_t i = 0; i < count; i++) fastest = fmax(fastest, fabs(in->work[rates + i]) / (1 + fabs(in->work[at + i])));
    double h = CUBE_ROOT_OF_EPSILON / fastest;
    for (int side = -1; side <= 1 && !level; side += 2) {
        for (int64_t i = 0; i < count; i++) in->work[at + i] += side * h * in->work[rates + i];
        in->work[V_TIME] += side * h;
        level = evaluate(in, 1);
        for (size_t k = 0; k < n; k++)
            if (in->model.variables[vr[k]].rate < 0) values[k] += side * in->work[in->model.variables[vr[k]].at] / (2 * h);
        restore(in);
    }
    return level;
}
