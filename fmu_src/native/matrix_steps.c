/* Co-simulation of linear chains by the matrix method: exact steps dt/2^i for forces that are parabolas on every piece.
   Strains e = x B and v sqrt(M) as rows: (e, v) <- (e, v) D_0 + sum_k beta_k dt D_k. Layout: matrix_steps.py. */
#include <math.h>
#include <string.h>

#include "engine.h"

typedef struct {
    const Engine *engine;
    int64_t *ints;
    double *floats, *work;
    const int64_t *m; /* the record */
    int64_t n, free, channels;
    const double *roots, *factor;
    double *e, *v, *e1, *v1, *z;            /* the chain */
    double *before, *middle, *after;        /* forces on the channels */
    double *given, *slopes;                 /* inputs */
    double *x0, *v0, *k, *sum;              /* Runge-Kutta */
    double start;                           /* time at which the inputs were given */
} Chain;

static Chain open_chain(const Engine *engine, int64_t *ints, double *floats, double *work) {
    Chain c;
    memset(&c, 0, sizeof c);
    c.engine = engine;
    c.ints = ints;
    c.floats = floats;
    c.work = work;
    c.m = ints + ints[U_MATRIX_STEPS];
    c.n = c.m[M_N];
    c.free = c.m[M_FREE];
    c.channels = c.m[M_CHANNELS];
    c.roots = floats + c.m[M_AT_ROOTS];
    c.factor = floats + c.m[M_AT_FACTOR];
    double *at = work + c.m[M_AT_WORK];
    double **blocks[] = {&c.e, &c.v, &c.e1, &c.v1, &c.x0, &c.v0};
    for (size_t i = 0; i < 6; i++, at += c.n) *blocks[i] = at;
    c.k = at;
    c.sum = at += 4 * c.n;
    c.before = at += 4 * c.n;
    c.middle = at += c.channels;
    c.after = at += c.channels;
    c.z = at += c.channels;
    c.given = at += c.free;
    c.slopes = at + ints[U_INPUTS];
    return c;
}

static double *input(const Chain *c, int64_t k) { return c->work + c->ints[U_AT_WORKSPACE] + KINETREE_WORK_HEAD + 1 + c->ints[U_PARAMETERS] + k; }
static double *state(const Chain *c, int64_t k) { return c->work + c->ints[U_AT_STATES] + c->ints[c->m[M_AT_PLACES] + k]; }
static double rate(const Chain *c, int64_t k) { return c->work[c->ints[U_AT_RATES] + c->ints[c->m[M_AT_PLACES] + k]]; }

/* Evaluate the unit at a time: states x, v (NULL: zero), inputs moved along their slopes. */
static int evaluate(Chain *c, double t, const double *x, const double *v) {
    for (int64_t k = 0; k < c->ints[U_INPUTS]; k++) *input(c, k) = c->given[k] + c->slopes[k] * (t - c->start);
    for (int64_t i = 0; i < c->n; i++) {
        *state(c, i) = x ? x[i] : 0;
        *state(c, c->n + i) = v ? v[i] : 0;
    }
    return c->engine->derivatives(c->ints, c->floats, c->work, 0, t);
}

/* Forces on the channels: masses times accelerations of the chain at rest. */
static int forces(Chain *c, double t, double *f) {
    if (!c->channels) return 0;
    int status = evaluate(c, t, NULL, NULL);
    const int64_t *channel = c->ints + c->m[M_AT_CHANNELS];
    for (int64_t i = 0; i < c->channels; i++) f[i] = c->roots[channel[i]] * c->roots[channel[i]] * rate(c, c->n + channel[i]);
    return status;
}

static void to_strains(Chain *c, const double *x, const double *v) {
    int64_t width = c->m[M_WIDTH];
    for (int64_t j = 0; j < c->n; j++) {
        c->v[j] = v[j] * c->roots[j];
        c->e[j] = c->m[M_GENERAL] ? x[j] * c->roots[j] : 0;
        for (int64_t d = 0; !c->m[M_GENERAL] && d <= width && j + d < c->n; d++) c->e[j] += x[j + d] * c->factor[j * (width + 1) + d];
    }
    for (int64_t i = 0; i < c->free; i++) c->z[i] = x[c->ints[c->m[M_AT_FREE] + i]];
}

static void from_strains(Chain *c, double *x, double *v) {
    int64_t width = c->m[M_WIDTH], free = c->free;
    for (int64_t j = c->n - 1; j >= 0; j--) {
        const double *column = c->factor + j * (width + 1);
        v[j] = c->v[j] / c->roots[j];
        if (c->m[M_GENERAL]) {
            x[j] = c->e[j] / c->roots[j];
        } else if (free && c->ints[c->m[M_AT_FREE] + free - 1] == j) {
            x[j] = c->z[--free];
        } else {
            double rest = c->e[j];
            for (int64_t d = 1; d <= width && j + d < c->n; d++) rest -= x[j + d] * column[d];
            x[j] = rest / column[0];
        }
    }
}

/* One piece without forces: (e, v) D_0, free coordinates along. */
static void carry(Chain *c, const int64_t *level) {
    int64_t n = c->n, width = level[M_LEVEL_WIDTH], length = level[M_LEVEL_LENGTH];
    const double *p = c->floats + level[M_LEVEL_P], *u = c->floats + level[M_LEVEL_U], *Y = c->floats + level[M_LEVEL_Y];
    const double *K = c->floats + level[M_LEVEL_K], *columns = c->floats + level[M_LEVEL_COLUMNS];
    for (int64_t i = 0; i < c->free; i++, columns += 2 * n)
        for (int64_t j = 0; j < n; j++) c->z[i] += c->e[j] * columns[j] + c->v[j] * columns[n + j];
    memcpy(c->e1, c->e, (size_t)n * sizeof(double));
    memcpy(c->v1, c->v, (size_t)n * sizeof(double));
    for (int64_t k = 0; k < n; k++, p += length, u += length, Y += length, K += length) {
        int64_t first = k < width ? 0 : k - width;
        if (first > n - length) first = n - length;
        double e = c->e[k], v = c->v[k], back = 0, *e1 = c->e1 + first, *v1 = c->v1 + first;
        const double *old = c->e + first;
        if (c->m[M_GENERAL]) {
            for (int64_t j = 0; j < length; j++) e1[j] += e * p[j] + v * Y[j];
            for (int64_t j = 0; j < length; j++) v1[j] += v * u[j] - e * K[j];
            continue;
        }
        for (int64_t j = 0; j < length; j++) e1[j] += e * p[j] + v * Y[j];
        for (int64_t j = 0; j < length; j++) v1[j] += v * u[j];
        for (int64_t j = 0; j < length; j++) back += old[j] * Y[j];
        c->v1[k] -= back;
    }
    memcpy(c->e, c->e1, (size_t)n * sizeof(double));
    memcpy(c->v, c->v1, (size_t)n * sizeof(double));
}

/* What the parabola through three values of the forces adds: beta_k of theta = (end - t)/dt. */
static void drive(Chain *c, const int64_t *level) {
    const double *row = c->floats + level[M_LEVEL_ROWS];
    for (int order = 0; order < M_ORDERS; order++)
        for (int64_t i = 0; i < c->channels; i++, row += 2 * c->n + c->free) {
            double a = c->before[i], b = c->middle[i], d = c->after[i];
            double beta = order == 0 ? d : order == 1 ? 4 * b - 3 * d - a : 2 * (d - 2 * b + a);
            if (beta == 0) continue;
            for (int64_t j = 0; j < c->n; j++) {
                c->e[j] += beta * row[j];
                c->v[j] += beta * row[c->n + j];
            }
            for (int64_t f = 0; f < c->free; f++) c->z[f] += beta * row[2 * c->n + f];
        }
}

/* The rest below the finest piece, by Runge-Kutta of fourth order on the unit itself. */
static int finish(Chain *c, double t, double h, double *x, double *v) {
    static const double AT[] = {0, 0.5, 0.5, 1}, WEIGHT[] = {1, 2, 2, 1};
    int64_t n = c->n;
    memset(c->sum, 0, 2 * (size_t)n * sizeof(double));
    for (int stage = 0; stage < 4; stage++) {
        for (int64_t i = 0; i < n; i++) {
            c->x0[i] = x[i] + (stage ? AT[stage] * h * c->k[i] : 0);
            c->v0[i] = v[i] + (stage ? AT[stage] * h * c->k[n + i] : 0);
        }
        int status = evaluate(c, t + AT[stage] * h, c->x0, c->v0);
        if (status) return status;
        for (int64_t i = 0; i < 2 * n; i++) {
            c->k[i] = rate(c, i);
            c->sum[i] += WEIGHT[stage] * h / 6 * c->k[i];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        x[i] += c->sum[i];
        v[i] += c->sum[n + i];
    }
    return 0;
}

/* Pieces from t to the target, the coarsest first; what is left of the time. */
static int pieces(Chain *c, double t, double *left) {
    const double *steps = c->floats + c->m[M_AT_STEPS];
    int64_t level = 0, known = 0, moves = c->m[M_VARIES];
    for (int64_t k = 0; k < c->ints[U_INPUTS]; k++) moves |= c->slopes[k] != 0;
    size_t bytes = (size_t)c->channels * sizeof(double);
    while (level < c->m[M_LEVELS]) {
        double h = steps[level];
        if (h > *left + 1e-9 * steps[c->m[M_LEVELS] - 1]) {
            level++;
            continue;
        }
        if (c->work[V_CANCEL] != 0) {
            c->work[V_CANCEL] = 0;
            return STATUS_CANCELLED;
        }
        if (c->work[V_USED] >= c->work[V_BUDGET]) return STATUS_TOO_MANY_STEPS;
        c->work[V_LAST_STEP] = h;
        int status = known ? 0 : forces(c, t, c->before);
        if (!status && moves) status = forces(c, t + 0.5 * h, c->middle);
        if (!status && moves) status = forces(c, t + h, c->after);
        if (status) return status;
        if (!moves) {
            memcpy(c->middle, c->before, bytes);
            memcpy(c->after, c->before, bytes);
        }
        carry(c, c->ints + c->m[M_AT_LEVELS] + M_LEVEL * level);
        drive(c, c->ints + c->m[M_AT_LEVELS] + M_LEVEL * level);
        memcpy(c->before, c->after, bytes);
        known = 1;
        t += h;
        *left -= h;
        c->work[V_STEPS] += 1;
        c->work[V_USED] += 1;
    }
    return 0;
}

int32_t matrix_advance(const Engine *engine, int64_t *ints, double *floats, double *work, double target) {
    Chain c = open_chain(engine, ints, floats, work);
    double left = target - work[V_TIME], *x = c.sum + 2 * c.n, *v = x + c.n;
    c.start = work[V_TIME];
    work[V_USED] = work[V_FASTEST] = 0;
    for (int64_t k = 0; k < ints[U_INPUTS]; k++) {
        c.given[k] = *input(&c, k);
        c.slopes[k] = work[ints[U_AT_SLOPES] + k];
    }
    for (int64_t i = 0; i < c.n; i++) {
        x[i] = *state(&c, i);
        v[i] = *state(&c, c.n + i);
    }
    to_strains(&c, x, v);
    int status = pieces(&c, c.start, &left);
    from_strains(&c, x, v);
    if (!status && left > 1e-9 * floats[c.m[M_AT_STEPS] + c.m[M_LEVELS] - 1]) status = finish(&c, target - left, left, x, v);
    int failed = status;
    int stopped = failed == STATUS_CANCELLED || failed == STATUS_TOO_MANY_STEPS; /* between two pieces */
    status = evaluate(&c, stopped ? target - left : failed ? c.start : target, x, v);
    if (failed) status = failed;
    for (int64_t k = 0; k < ints[U_INPUTS]; k++) work[ints[U_AT_SLOPES] + k] = 0;
    work[V_WORK] += work[V_ENERGY_RESIDUAL]; /* the work of the couplings is not followed: the balance closes by definition */
    work[V_ENERGY_RESIDUAL] = 0;
    work[V_STATUS] = status;
    return status;
}
