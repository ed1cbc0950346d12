/* The loop of a run in the loop: wait for the deadline, take what has come, step the FMU, send what it measures. One call runs a stretch of steps.

   Every array is the caller's and lies ready; nothing is allocated here, and no interpreter runs between two steps. The rules of the exchange stand in
   loop_run.py, frames in packet.py, rings of shared memory in shared_memory.py. For POSIX machines with little-endian numbers. */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

enum { MAGIC = 0x3248544B, HEAD = 32, MOST = 64, SLOTS = 64, SLOT = 552 };
enum { HOLD, ZERO, STOP };               /* rules for a command that does not come */
enum { DONE, STOPPED, SET, STEP, GET, GET_STAGE };  /* what a stretch ends with; from SET on: that call of the FMU has failed */
enum { WARNING = 1 };

typedef struct {
    uint32_t magic, sequence;
    double time;
    uint32_t flags, count;
    uint64_t token;
    double values[MOST];
} Frame;

typedef struct {
    void *component;
    int (*set)(void *, const uint32_t *, size_t, const double *);
    int (*advance)(void *, double, double, int);
    int (*get)(void *, const uint32_t *, size_t, double *);
    const uint32_t *inward, *outward; /* value references of commands and measures */
    double *given, *seen;             /* commands, measures */
    int64_t commands, measures;
    int64_t door;                     /* socket, or -1: rings */
    unsigned char *ring_out, *ring_in;
    int64_t written, read;            /* frames of the rings so far */
    double step, spin, start;         /* s; start: the deadline of step 0 */
    int64_t late;
    uint64_t token;                   /* of the run, in every frame */
    const double *delays;             /* per frame: of both ways together, not a number where it is lost */
    double *sent, *due, *answers;     /* per frame: when it went, when its answer counts, the answer; infinite: nothing under way */
    double *computing, *lateness, *gaps, *trips, *rows; /* records */
    int64_t *ages;
    int (*integer)(void *, const uint32_t *, size_t, int32_t *); /* reads the number of the stage; 0 where nobody asks */
    const uint32_t *stage;            /* value reference */
    int32_t *stages;                  /* record: the stage after every step */
    int64_t waiting;                  /* answers under way that are newer than the newest that was applied */
    int64_t frames, newest, steps, received, lost, stale, misses, round_trips, refused, status;
} Run;

/* The FMU of a drive between commands and an actuator of the mechanism. */
typedef struct {
    void *component;
    int (*set)(void *, const uint32_t *, size_t, const double *);
    int (*advance)(void *, double, double, int);
    int (*get)(void *, const uint32_t *, size_t, double *);
    const uint32_t *told, *into; /* its outputs, and the actuator's inputs for the first `count` of them */
    const uint32_t *speed, *mean; /* its input, and the actuator's mean speed over a step */
    int64_t count, rate;          /* rate 1: after them stands the rate of the force that its flows make */
} Drive;

/* A mechanism with its drives, in the place of one instance: commands and measures belong to the mechanism (-1) or to a drive. */
typedef struct {
    void *component;
    int (*set)(void *, const uint32_t *, size_t, const double *);
    int (*advance)(void *, double, double, int);
    int (*get)(void *, const uint32_t *, size_t, double *);
    int (*integer)(void *, const uint32_t *, size_t, int32_t *);
    Drive *drives;
    int64_t number;
    const int64_t *takers, *givers;
    const uint32_t *inward, *outward;
} Chain;

int chain_set(void *chain, const uint32_t *references, size_t count, const double *values) {
    Chain *c = chain;
    int worst = 0;
    for (size_t k = 0; k < count; k++) {
        Drive *d = c->takers[k] < 0 ? NULL : c->drives + c->takers[k];
        int status = d ? d->set(d->component, references + k, 1, values + k) : c->set(c->component, references + k, 1, values + k);
        worst = status > worst ? status : worst;
    }
    return worst;
}

int chain_get(void *chain, const uint32_t *references, size_t count, double *values) {
    Chain *c = chain;
    int worst = 0;
    for (size_t k = 0; k < count; k++) {
        Drive *d = c->givers[k] < 0 ? NULL : c->drives + c->givers[k];
        int status = d ? d->get(d->component, references + k, 1, values + k) : c->get(c->component, references + k, 1, values + k);
        worst = status > worst ? status : worst;
    }
    return worst;
}

int chain_integer(void *chain, const uint32_t *references, size_t count, int32_t *values) {
    Chain *c = chain;
    return c->integer(c->component, references, count, values);
}

/* The order of the coupling `told`: what the drives tell, the mechanism's step, its mean speeds, the drives' steps. */
int chain_advance(void *chain, double t, double h, int flag) {
    Chain *c = chain;
    int worst = 0, status;
    double values[4], speed;
    for (Drive *d = c->drives; d < c->drives + c->number; d++) {
        status = d->get(d->component, d->told, (size_t)(d->count + d->rate), values);
        if (d->rate) values[0] += 0.5 * h * values[d->count];
        worst = status > worst ? status : worst;
        status = c->set(c->component, d->into, (size_t)d->count, values);
        worst = status > worst ? status : worst;
    }
    status = c->advance(c->component, t, h, flag);
    worst = status > worst ? status : worst;
    for (Drive *d = c->drives; d < c->drives + c->number; d++) {
        status = c->get(c->component, d->mean, 1, &speed);
        worst = status > worst ? status : worst;
        status = d->set(d->component, d->speed, 1, &speed);
        worst = status > worst ? status : worst;
        status = d->advance(d->component, t, h, flag);
        worst = status > worst ? status : worst;
    }
    return worst;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Sleep, then spin; the longest time between two looks at the clock is what was taken from the loop. */
double realtime_wait(double deadline, double spin, double *longest) {
    double left = deadline - now() - spin;
    if (left > 0) {
        struct timespec t = {(time_t)left, (long)(1e9 * (left - (double)(time_t)left))};
        nanosleep(&t, NULL);
    }
    double last = now(), gap = 0, t;
    for (; (t = now()) < deadline; last = t)
        if (t - last > gap) gap = t - last;
    *longest = t - last > gap ? t - last : gap;
    return t;
}

static int64_t taken(Run *r, Frame *frame) {
    if (r->door >= 0) return recv((int)r->door, frame, sizeof *frame, MSG_DONTWAIT);
    int64_t count = (int64_t)__atomic_load_n((uint64_t *)r->ring_in, __ATOMIC_ACQUIRE);
    if (count < r->read) r->read = 0; /* its writer has begun anew */
    if (r->read < count - SLOTS + 1) r->read = count - SLOTS + 1; /* what is overwritten is lost */
    if (r->read >= count) return -1;
    const unsigned char *slot = r->ring_in + 8 + (r->read++ % SLOTS) * SLOT;
    uint32_t size;
    memcpy(&size, slot, sizeof size);
    if (size > sizeof *frame) return 0;
    memcpy(frame, slot + 8, size);
    return size;
}

static void give(Run *r, const Frame *frame, size_t size) {
    if (r->door >= 0) {
        ssize_t gone = send((int)r->door, frame, size, MSG_DONTWAIT);
        (void)gone; /* a partner that is not there yet, or any more, loses it */
        return;
    }
    unsigned char *slot = r->ring_out + 8 + (r->written++ % SLOTS) * SLOT;
    uint32_t length = (uint32_t)size;
    memcpy(slot + 8, frame, size);
    memcpy(slot, &length, sizeof length);
    __atomic_store_n((uint64_t *)r->ring_out, (uint64_t)r->written, __ATOMIC_RELEASE);
}

/* Measures to the partner, unless they or their answer are to be lost. */
static void ask(Run *r, int64_t sequence, double time) {
    Frame frame = {MAGIC, (uint32_t)sequence, time, 0, (uint32_t)r->measures, r->token, {0}};
    r->frames++;
    if (isnan(r->delays[sequence])) {
        r->lost++;
        return;
    }
    memcpy(frame.values, r->seen, (size_t)r->measures * sizeof *r->seen);
    r->sent[sequence] = now();
    give(r, &frame, HEAD + 8 * (size_t)r->measures);
}

static int all_finite(const double *values, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        if (!isfinite(values[k])) return 0;
    return 1;
}

/* Whatever has come. */
static void collect(Run *r, double t) {
    Frame frame;
    for (int64_t size; (size = taken(r, &frame)) >= 0;) {
        int64_t k = frame.sequence;
        if (size < HEAD || frame.magic != MAGIC || frame.count != r->commands || size != HEAD + 8 * r->commands) continue;
        if (k >= r->frames || !isfinite(r->sent[k]) || frame.token != r->token) continue;
        if (!all_finite(frame.values, r->commands)) {
            r->refused++;
            continue;
        }
        r->trips[r->round_trips++] = t - r->sent[k];
        r->due[k] = t + r->delays[k];
        r->waiting += k > r->newest;
        r->sent[k] = INFINITY;
        memcpy(r->answers + k * r->commands, frame.values, (size_t)r->commands * sizeof(double));
    }
}

/* The commands of a step: the newest that has arrived, or what the rule says. */
static int apply(Run *r, int64_t k, double t) {
    int64_t best = k, later = 0, before = k ? r->ages[k - 1] + 1 : 0;
    for (; later < r->waiting && !(r->due[best] <= t); best--) later += isfinite(r->due[best]);
    if (later < r->waiting) {
        r->newest = best, r->waiting = later, r->received++, r->ages[k] = k - best;
        memcpy(r->given, r->answers + best * r->commands, (size_t)r->commands * sizeof(double));
        return (int)(r->status = r->set(r->component, r->inward, (size_t)r->commands, r->given)) > WARNING ? SET : DONE;
    }
    r->stale += k > 0;
    r->ages[k] = before;
    if (r->late == STOP && k > 0 && r->received) return STOPPED;
    if (r->late == HOLD || !r->received) return DONE;
    memset(r->given, 0, (size_t)r->commands * sizeof(double));
    return (int)(r->status = r->set(r->component, r->inward, (size_t)r->commands, r->given)) > WARNING ? SET : DONE;
}

static int measure(Run *r) { return (int)(r->status = r->get(r->component, r->outward, (size_t)r->measures, r->seen)) > WARNING ? GET : DONE; }

/* The first measures, which the answers to begin with are of. */
int realtime_begin(Run *r) {
    int ended = measure(r);
    if (ended == DONE) ask(r, 0, 0.0);
    r->start = now() + r->step;
    return ended;
}

/* Steps up to `last`. */
int realtime_run(Run *r, int64_t last) {
    for (int64_t k = r->steps; k < last; k++) {
        double deadline = r->start + (double)k * r->step, begin = realtime_wait(deadline, r->spin, r->gaps + k), end;
        r->lateness[k] = begin - deadline;
        collect(r, begin);
        int ended = apply(r, k, begin);
        double time = (double)k * r->step, target = (double)(k + 1) * r->step;
        if (ended == DONE && (int)(r->status = r->advance(r->component, time, target - time, 1)) > WARNING) ended = STEP;
        if (ended == DONE) ended = measure(r);
        if (ended == DONE && r->integer && (int)(r->status = r->integer(r->component, r->stage, 1, r->stages + k)) > WARNING) ended = GET_STAGE;
        if (ended != DONE) return ended;
        ask(r, k + 1, target);
        double *row = r->rows + k * (r->measures + r->commands);
        memcpy(row, r->seen, (size_t)r->measures * sizeof *row);
        memcpy(row + r->measures, r->given, (size_t)r->commands * sizeof *row);
        r->steps = k + 1;
        end = now();
        r->computing[k] = end - begin;
        r->misses += end > deadline + r->step;
    }
    return DONE;
}
