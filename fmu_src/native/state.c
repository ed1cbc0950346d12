/* The state of an instance: its mode and the whole block of work. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

struct SavedState {
    int64_t magic, hash, doubles, mode, stale, exchange, located, early;
    int64_t checksum; /* of a state as bytes: over all of it, this place counted as 0 */
    double start_time;
    double work[];
};

static const int64_t STATE_MAGIC = 0x5441545345455254;

size_t state_size(const Instance *in) { return sizeof(SavedState) + (size_t)in->model.header[P_WORK] * sizeof(double); }

int state_save(Instance *in, SavedState **state) {
    if (!*state) *state = (SavedState *)malloc(state_size(in));
    if (!*state) return say(in, LEVEL_ERROR, "out of memory for a state");
    SavedState *s = *state;
    *s = (SavedState){STATE_MAGIC, in->model.header[P_HASH], in->model.header[P_WORK], in->mode, in->stale, in->exchange, in->located, in->early, 0, in->start_time};
    memcpy(s->work, in->work, (size_t)s->doubles * sizeof(double));
    return LEVEL_OK;
}

static int check(Instance *in, const SavedState *s) {
    if (!s || s->magic != STATE_MAGIC) return say(in, LEVEL_ERROR, "this is not a state of a Kinetree model");
    if (s->hash != in->model.header[P_HASH] || s->doubles != in->model.header[P_WORK]) return say(in, LEVEL_ERROR, "this is the state of another model");
    if (s->exchange != in->exchange) return say(in, LEVEL_ERROR, "a state cannot go from model exchange to co-simulation or back");
    return LEVEL_OK;
}

int state_restore(Instance *in, const SavedState *s) {
    int level = check(in, s);
    if (level) return level;
    in->mode = (Mode)s->mode;
    in->stale = (int)s->stale;
    in->located = s->located != 0;
    in->early = s->early != 0;
    in->start_time = s->start_time;
    memcpy(in->work, s->work, (size_t)s->doubles * sizeof(double));
    return LEVEL_OK;
}

/* What a state from outside must hold beside its checksum: numbers that are used as places. */
static int plausible(const Instance *in, const SavedState *s) {
    double stage = s->work[V_STAGE];
    int one_mode = s->mode >= INSTANTIATED && s->mode <= FAILED && (s->mode & (s->mode - 1)) == 0;
    return one_mode && s->stale >= 0 && s->stale <= (STALE_VALUES | STALE_PARAMETERS | STALE_START | STALE_GUARDS) && stage >= 0 &&
           stage < (double)in->model.header[P_STAGES] && stage == (double)(int)stage;
}

int state_write(Instance *in, const SavedState *s, char *bytes, size_t size) {
    int level = check(in, s);
    if (level) return level;
    if (!bytes || size < state_size(in)) return say(in, LEVEL_ERROR, "a state of this model needs %zu bytes, not %zu", state_size(in), size);
    memcpy(bytes, s, state_size(in));
    int64_t sum = checksum(0, s, state_size(in)); /* of the original, whose own sum is 0 */
    memcpy(bytes + offsetof(SavedState, checksum), &sum, sizeof sum);
    return LEVEL_OK;
}

void state_free(SavedState **state) {
    if (!state) return;
    free(*state);
    *state = NULL;
}

int state_parse(Instance *in, const char *bytes, size_t size, SavedState **state) {
    if (!bytes || size != state_size(in)) return say(in, LEVEL_ERROR, "a state of this model has %zu bytes, not %zu", state_size(in), size);
    SavedState *s = (SavedState *)malloc(size);
    if (!s) return say(in, LEVEL_ERROR, "out of memory for a state");
    memcpy(s, bytes, size);
    int64_t sum = s->checksum;
    s->checksum = 0;
    int level = check(in, s);
    if (!level && (sum != checksum(0, s, size) || !plausible(in, s))) level = say(in, LEVEL_ERROR, "this state is damaged");
    if (level) {
        free(s);
        return level;
    }
    *state = s;
    return LEVEL_OK;
}
