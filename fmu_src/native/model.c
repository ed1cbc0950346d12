/* Reads the payload of the archive and names what it holds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#ifndef KINETREE_EMBEDDED
#include "location.h"
#ifdef _WIN32
#include <windows.h>
#endif
#endif

#define NAMED(problem) "resources/model.kinetree " problem

/* The sum over all of the file but the place where it stands. */
static int64_t sum_of(const int64_t *file, size_t size) {
    uint32_t sum = checksum(0, file, P_CHECKSUM * sizeof *file);
    return checksum(sum, file + P_CHECKSUM + 1, size - (P_CHECKSUM + 1) * sizeof *file);
}

static int inside(int64_t at, int64_t size) { return at >= -1 && at < size; }

/* Whether a table of a length lies in what it is a part of. */
static int room(int64_t at, int64_t length, int64_t size) { return at >= 0 && length >= 0 && length <= size && at <= size - length; }

/* Whether everything that is used as a place lies in what it is a place of. */
static const char *places(const Model *m, int64_t strings) {
    const int64_t *h = m->header;
    for (int64_t k = 0; k < strings; k++)
        if (m->strings[k] < 0 || m->strings[k] >= h[P_TEXT]) return NAMED("has names outside of its text");
    if (h[P_TEXT] < 1 || m->text[h[P_TEXT] - 1]) return NAMED("has a text without an end");
    for (int64_t k = 0; k < h[P_VARIABLES]; k++) {
        const Variable *v = m->variables + k;
        if (!inside(v->at, h[P_WORK]) || !inside(v->write, h[P_WORK]) || !inside(v->rate, h[P_WORK]) || !inside(v->start, h[P_WORK]))
            return NAMED("has variables outside of its memory");
    }
    for (int64_t k = 0; k < h[P_OPTIONS]; k++)
        if (!(m->options[2 * k] >= 0 && m->options[2 * k] < (double)h[P_WORK])) return NAMED("has options outside of its memory");
    return NULL;
}

/* Whether the counts of the header are those of the unit, whose own table tells where its numbers stand. */
static const char *counts(const Model *m) {
    const int64_t *h = m->header, *u = m->ints;
    if (h[P_INTS] < U_SIZE || h[P_STAGES] < 1 || h[P_STAGES] != u[U_STAGES] || h[P_INTS] < U_SIZE + S_SIZE * h[P_STAGES])
        return NAMED("has no table of stages");
    if (h[P_STATES] != u[U_STATES] || h[P_GUARDS] > u[U_GUARDS] || h[P_GUARDS] < 0 || h[P_BODIES] != u[U_BODIES]) return NAMED("has other counts than its unit");
    if (!room(u[U_AT_COLUMNS], u[U_COLUMNS], h[P_WORK]) || u[U_AT_WORKSPACE] < 0 || u[U_AT_WORKSPACE] > h[P_WORK]) return NAMED("has tables outside of its memory");
    for (int64_t k = 0; k < h[P_STAGES]; k++) {
        const int64_t *stage = u + U_SIZE + S_SIZE * k;
        if (!room(stage[S_BODIES], u[U_BODIES], h[P_INTS]) || !room(stage[S_COLUMNS], u[U_COLUMNS], h[P_INTS]))
            return NAMED("has stages whose tables lie outside of it");
    }
    if (h[P_WORK] < u[U_WORK_SIZE] || h[P_WORK] > INT64_MAX / 16) return NAMED("has less memory than its unit needs");
    return NULL;
}

static const char *lay_out(Model *m, size_t size) {
    static const int WEIGHT[][2] = {{P_INTS, 1}, {P_FLOATS, 1}, {P_OPTIONS, 2}, {P_VARIABLES, 12}, {P_STATES, 1}, {P_STAGES, 1}, {P_BODIES, 1}};
    const int64_t *h = m->header = m->file;
    char magic[8] = {'K', 'I', 'N', 'E', 'T', 'R', 'E', 'E'};
    if (size < 8 * PAYLOAD_HEADER || memcmp(&h[P_MAGIC], magic, 8)) return NAMED("is not a Kinetree model");
    if (h[P_VERSION] != PAYLOAD_VERSION) return NAMED("was written by another version of Kinetree");
    uint64_t expected = 8 * (PAYLOAD_HEADER + 2) + (uint64_t)h[P_TEXT];
    for (size_t k = 0; k < sizeof WEIGHT / sizeof *WEIGHT; k++) {
        if (h[WEIGHT[k][0]] < 0 || (uint64_t)h[WEIGHT[k][0]] > size) return NAMED("is damaged: a length is impossible");
        expected += 8 * (uint64_t)WEIGHT[k][1] * (uint64_t)h[WEIGHT[k][0]];
    }
    if (h[P_TEXT] < 0 || (uint64_t)h[P_TEXT] > size || expected != size) return NAMED("is incomplete or damaged");
    if (h[P_CHECKSUM] != sum_of(m->file, size)) return NAMED("is damaged: its checksum is not that of its content");
    int64_t strings = 2 + h[P_VARIABLES] + h[P_STAGES] + h[P_BODIES];
    int64_t *at = m->file + PAYLOAD_HEADER;
    m->ints = at;
    m->floats = (double *)(at += h[P_INTS]);
    m->options = (const double *)(at += h[P_FLOATS]);
    m->variables = (const Variable *)(at += 2 * h[P_OPTIONS]);
    m->limits = (const double *)(at += 8 * h[P_VARIABLES]);
    m->nominals = (const double *)(at += 3 * h[P_VARIABLES]);
    m->strings = (at += h[P_STATES]);
    m->text = (const char *)(at += strings);
    const char *problem = counts(m);
    return problem ? problem : places(m, strings);
}

static int is_of(const Model *m, const char *token) { return token && strcmp(token, m->text + m->strings[1]) == 0; }

#ifdef KINETREE_EMBEDDED /* the model stands in memory: a copy of it, as from a file */
#ifdef KINETREE_MODEL_GIVEN /* the host puts it there before it makes an instance */
extern const uint64_t *kinetree_model;
extern size_t kinetree_model_size;
#else /* it stands in the sources */
extern const uint64_t kinetree_model[];
extern const size_t kinetree_model_size;
#endif

const char *model_load(Model *m, const char *resources, const char *token) {
    (void)resources;
    memset(m, 0, sizeof *m);
    if (!(m->file = (int64_t *)malloc(kinetree_model_size))) return "out of memory";
    memcpy(m->file, kinetree_model, kinetree_model_size);
    const char *problem = lay_out(m, kinetree_model_size);
    if (!problem && !is_of(m, token)) problem = "the model is another one than the identifier that the host gives";
    if (problem) model_free(m);
    return problem;
}
#else
enum { TOKEN_SIZE = 36 };

/* Paths are UTF-8 everywhere. */
static FILE *open_file(const char *path) {
#ifdef _WIN32
    wchar_t wide[4096];
    return MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 4096) ? _wfopen(wide, L"rb") : NULL;
#else
    return fopen(path, "rb");
#endif
}

static const char *read_file(Model *m, const char *path) {
    FILE *file = open_file(path);
    if (!file) return NAMED("cannot be opened");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    m->file = size > 0 ? (int64_t *)malloc((size_t)size) : NULL;
    const char *problem = size > 0 && !m->file ? "out of memory" : NULL;
    if (!problem && !(m->file && fread(m->file, 1, (size_t)size, file) == (size_t)size)) problem = NAMED("cannot be read");
    fclose(file);
    if (!problem) problem = lay_out(m, (size_t)size);
    if (problem) model_free(m);
    return problem;
}

/* Some hosts unpack several archives into one folder, so that the last model.kinetree stays for all: a copy carries the model's own token as its name. */
const char *model_load(Model *m, const char *resources, const char *token) {
    char path[4096];
    memset(m, 0, sizeof *m);
    if (!resources || !*resources) return "no resource location was given";
    path_from_uri(resources, path, sizeof path - 64);
    size_t length = strlen(path), braces = token ? strspn(token, "{") : 0, size = token ? strcspn(token + braces, "}") : 0;
    if (length && path[length - 1] != '/' && path[length - 1] != '\\') path[length++] = '/';
    strcpy(path + length, "model.kinetree");
    const char *problem = read_file(m, path);
    if (problem || is_of(m, token)) return problem;
    model_free(m);
    if (size != TOKEN_SIZE || strspn(token + braces, "0123456789abcdef-") != size) return NAMED("is of another model than the identifier that the host gives");
    memcpy(path + length, token + braces, size);
    strcpy(path + length + size, ".kinetree");
    if (!read_file(m, path) && is_of(m, token)) return NULL;
    model_free(m);
    return NAMED("is of another model than the identifier that the host gives");
}
#endif

void model_free(Model *m) {
    free(m->file);
    m->file = NULL;
}

static const char *string(const Model *m, int64_t k) { return m->text + m->strings[k]; }

const char *variable_name(const Model *m, size_t vr) { return vr < (size_t)m->header[P_VARIABLES] ? string(m, 2 + (int64_t)vr) : "?"; }

const char *stage_name(const Model *m, int stage) {
    return stage >= 0 && stage < m->header[P_STAGES] ? string(m, 2 + m->header[P_VARIABLES] + stage) : "?";
}

static const int64_t *stage_record(const Model *m, const double *work) {
    int64_t stage = (int64_t)work[V_STAGE];
    return m->ints + U_SIZE + S_SIZE * (stage >= 0 && stage < m->header[P_STAGES] ? stage : 0);
}

const char *body_name(const Model *m, const double *work, int number) {
    const int64_t *numbers = m->ints + stage_record(m, work)[S_BODIES];
    for (int64_t k = 0; k < m->header[P_BODIES]; k++)
        if (numbers[k] == number) return string(m, 2 + m->header[P_VARIABLES] + m->header[P_STAGES] + k);
    return "?";
}

const char *state_name(const Model *m, size_t k) {
    for (int64_t v = 0; v < m->header[P_VARIABLES]; v++)
        if (m->variables[v].state == (int64_t)k) return variable_name(m, (size_t)v);
    return "?";
}

const char *register_name(const Model *m, const double *work, int number) {
    const int64_t *columns = m->ints + stage_record(m, work)[S_COLUMNS];
    int64_t at_columns = m->ints[U_AT_COLUMNS], at_registers = m->ints[U_AT_WORKSPACE] + KINETREE_WORK_HEAD;
    for (int64_t v = 0; v < m->header[P_VARIABLES]; v++) {
        int64_t at = m->variables[v].at, column = at - at_columns;
        if (at == at_registers + number) return variable_name(m, (size_t)v);
        if (m->variables[v].type == TYPE_REAL && column >= 0 && column < m->ints[U_COLUMNS] && columns[column] == number) return variable_name(m, (size_t)v);
    }
    return "an intermediate value";
}
