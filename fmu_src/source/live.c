/* The interface of the WebAssembly module to the page that carries it: one model, given as bytes, instances of it, their memory as the page reads it. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define SHOWN(name) __attribute__((export_name(#name)))

const uint64_t *kinetree_model;
size_t kinetree_model_size;
static char text[2048];

static void sink(Instance *in, int level, const char *category, const char *message) {
    (void)in, (void)category;
    if (level >= LEVEL_WARNING) strncpy(text, message, sizeof text - 1);
}

/* Memory for the bytes of the model; the page writes them before it opens an instance. */
SHOWN(live_model) void *live_model(size_t size) {
    void *room = malloc(size);
    kinetree_model = (const uint64_t *)room;
    kinetree_model_size = room ? size : 0;
    return room;
}

SHOWN(live_room) void *live_room(size_t size) { return malloc(size); }

/* The last warning or error as text. */
SHOWN(live_message) const char *live_message(void) { return text; }

/* A new instance of the model whose identifier stands behind its bytes; NULL: the message says why. */
SHOWN(live_open) Instance *live_open(const char *token) { return instance_new("live", token, "", 0, sink, NULL, NULL, 0); }

SHOWN(live_close) void live_close(Instance *in) { instance_free(in); }

/* The memory of an instance, and how many numbers it holds. */
SHOWN(live_work) double *live_work(Instance *in) { return in->work; }
SHOWN(live_work_size) int live_work_size(Instance *in) { return (int)in->model.header[P_WORK]; }

/* Values before the start are start values; afterwards inputs and tunable parameters can be set. */
SHOWN(live_set) int live_set(Instance *in, uint32_t vr, double value) {
    text[0] = 0;
    return set_reals(in, &vr, 1, &value);
}

SHOWN(live_start) int live_start(Instance *in, double t) {
    text[0] = 0;
    int level = setup(in, 0, 0, t);
    in->mode = INITIALIZATION;
    if (!level) level = settle(in);
    in->mode = level ? FAILED : STEP;
    return level;
}

SHOWN(live_step) int live_step(Instance *in, double t, double h) {
    int stopped;
    text[0] = 0;
    int level = do_step(in, t, h, 0, &stopped);
    return level ? level : settle(in);
}

/* Saved states: every number of an instance. */
SHOWN(live_save) SavedState *live_save(Instance *in) {
    SavedState *saved = NULL;
    return state_save(in, &saved) ? NULL : saved;
}
SHOWN(live_restore) int live_restore(Instance *in, const SavedState *saved) {
    int level = state_restore(in, saved);
    return level ? level : settle(in);
}
SHOWN(live_forget) void live_forget(SavedState *saved) { state_free(&saved); }
SHOWN(live_state_size) size_t live_state_size(Instance *in) { return state_size(in); }
