/* What damage must not do, and what a state must bring back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "calls.h"
#include "location.h"

/* The same step from the same state gives the same numbers. */
void same_again(Host *h, Slot *s) {
    Instance *in = s->in;
    SavedState *state = NULL;
    if (in->exchange || in->mode != STEP || in->stale & STALE_PARAMETERS || state_save(in, &state)) return;
    size_t bytes = (size_t)in->model.header[P_WORK] * sizeof(double);
    double t = in->work[V_TIME], step = 1e-3 * (double)(1 + draw(h) % 20), *first = malloc(bytes);
    int stopped, a, b, (*pause)(Instance *) = in->pause;
    in->pause = NULL; /* the host's wish to return early is not of the state */
    a = do_step(in, t, step, 0, &stopped);
    memcpy(first, in->work, bytes);
    expect(h, !state_restore(in, state), "a state of this instance is taken back");
    b = do_step(in, t, step, 0, &stopped);
    expect(h, a == b && !memcmp(first, in->work, bytes), "a step from a restored state is the step that was taken");
    in->pause = pause;
    free(first);
    state_free(&state);
}

/* Bytes of a state that were changed, cut off or made longer are refused. */
void damaged_state(Host *h, Slot *s) {
    Instance *in = s->in;
    SavedState *state = NULL, *other = NULL;
    if (state_save(in, &state)) return;
    size_t size = state_size(in);
    char *bytes = malloc(size + 8);
    expect(h, !state_write(in, state, bytes, size), "a state is written");
    expect(h, !state_parse(in, bytes, size, &other), "a state is read");
    state_free(&other);
    long before = h->messages;
    int quiet = s->silent || !(in->logging & CATEGORY_ERROR);
    size_t wrong = draw(h) % 3 ? size : draw(h) % (size + 8);
    if (wrong == size)
        for (uint64_t flips = 1 + draw(h) % 3, k = 0; k < flips; k++) bytes[draw(h) % size] ^= (char)(1 << draw(h) % 8);
    int level = state_parse(in, wrong != size && missing(h) ? NULL : bytes, wrong, &other);
    char *again = malloc(size); /* two flips of one bit leave the state whole, and so does a length that is right */
    state_write(in, state, again, size);
    expect(h, level ? !other && (quiet || h->messages > before) : !memcmp(again, bytes, size), "a damaged state is refused with a word");
    free(again);
    state_free(&other);
    free(bytes);
    state_free(&state);
}

static char *payload(const char *folder, size_t *size) {
    char path[ROOM];
    snprintf(path, sizeof path, "%s/model.kinetree", folder);
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *content = malloc(*size);
    if (fread(content, 1, *size, file) != *size) *size = 0;
    fclose(file);
    return content;
}

/* A payload with flipped bits or without its end is refused; one that somebody forged, its sum right, is refused or has all its names. */
void damaged_payload(Host *h, int forged) {
    size_t size = 0, end;
    char *content = payload(h->folder, &size), path[ROOM];
    if (!content) return;
    end = !forged && draw(h) % 4 == 0 ? draw(h) % size : size;
    int64_t *header = (int64_t *)content;
    size_t blocks = 8 * (size_t)(PAYLOAD_HEADER + header[P_INTS] + header[P_FLOATS]);
    if (forged) {
        for (uint64_t k = 0, n = 1 + draw(h) % 3; k < n; k++) {
            static const int64_t ODD[] = {-1, 0, 1, 7, 1 << 20, INT64_MAX, INT64_MIN, -2};
            static const int COUNTS[] = {U_STAGES, U_STATES, U_GUARDS, U_BODIES, U_WORK_SIZE}; /* in the unit's own table */
            size_t at = draw(h) % 3 ? 8 * (draw(h) % 4 ? draw(h) % (P_CHECKSUM + 1) : (uint64_t)(PAYLOAD_HEADER + COUNTS[draw(h) % 5])) : blocks + 8 * (draw(h) % ((size - blocks) / 8));
            int64_t odd = ODD[draw(h) % 8];
            if (draw(h) % 2) memcpy(content + at, &odd, sizeof odd);
            else content[at] = (char)(content[at] + (int)(draw(h) % 9) - 4);
        }
        header[P_CHECKSUM] = checksum(checksum(0, content, 8 * P_CHECKSUM), content + 8 * (P_CHECKSUM + 1), size - 8 * (P_CHECKSUM + 1));
    } else if (end == size) {
        content[draw(h) % size] ^= (char)(1 << draw(h) % 8);
    }
    mkdir(h->damaged, 0700);
    snprintf(path, sizeof path, "%s/model.kinetree", h->damaged);
    FILE *file = fopen(path, "wb");
    if (file) fwrite(content, 1, end, file), fclose(file);
    Model model;
    const char *problem = model_load(&model, h->damaged, h->token);
    expect(h, forged || problem, "a damaged payload is refused");
    if (!problem) {
        double *work = calloc((size_t)model.header[P_WORK] + 1, sizeof *work); /* all that the shell reads of a model outside of the engine */
        for (int k = -2; work && k < 300; k++) {
            work[V_STAGE] = k;
            const char *names[] = {variable_name(&model, (size_t)k), stage_name(&model, k), body_name(&model, work, k), state_name(&model, (size_t)k), register_name(&model, work, k)};
            for (size_t i = 0; i < sizeof names / sizeof *names; i++) note(h, names[i], strlen(names[i]));
        }
        free(work);
        model_free(&model);
    }
    free(content);
}

/* Whatever the engine may return, about whatever item, in whatever stage, has a message of its own. */
void every_message(Host *h, Slot *s) {
    Instance *in = s->in;
    if (s->silent || !(in->logging & CATEGORY_ERROR)) return;
    double item = in->work[V_ITEM], stage = in->work[V_STAGE];
    for (int status = 1; status < 24; status++) {
        long before = h->messages;
        in->work[V_ITEM] = (double)(int64_t)(draw(h) % 60) - 5;
        in->work[V_STAGE] = (double)(draw(h) % 6) - 1;
        expect(h, engine_failure(in, status, LEVEL_ERROR, "a test") == LEVEL_ERROR && h->messages == before + 1, "every failure is told once");
    }
    in->work[V_ITEM] = item;
    in->work[V_STAGE] = stage;
}

/* Locations of every form, cut off anywhere, into places of every size. */
void odd_location(Host *h, Slot *s) {
    static const char *const FORMS[] = {"file:///a%20b/%c3%bc/", "file:/a/%", "file://host/x%2", "file:", "file://", "/plain/%41", "C:\\x\\", "file:///C:/x", "", "%zz%4G"};
    char uri[64], *path;
    snprintf(uri, sizeof uri, "%s", FORMS[draw(h) % 10]);
    if (draw(h) % 2) uri[draw(h) % (strlen(uri) + 1)] = 0;
    size_t size = 1 + draw(h) % 40;
    path = malloc(size);
    expect(h, strlen(path_from_uri(uri, path, size)) < size, "a path has room and an end");
    note(h, path, strlen(path));
    free(path);
}
