/* Reads the payload of the archive and names what it holds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

static const char *path_from_uri(const char *uri, char *path, size_t size) {
    const char *at = uri;
    if (strncmp(at, "file:", 5) == 0) {
        at += 5;
        if (strncmp(at, "//", 2) == 0) { /* file://host/path: the host is this machine */
            at += 2;
            while (*at && *at != '/') at++;
        }
#ifdef _WIN32
        if (at[0] == '/' && at[1] && at[2] == ':') at++;
#endif
    }
    size_t n = 0;
    int is_uri = at != uri;
    for (; *at && n + 1 < size; at++) {
        unsigned code;
        if (is_uri && at[0] == '%' && sscanf(at + 1, "%2x", &code) == 1) {
            path[n++] = (char)code;
            at += 2;
        } else {
            path[n++] = *at;
        }
    }
    path[n] = 0;
    return path;
}

static const char *lay_out(Model *m, size_t size) {
    const int64_t *h = m->header = m->file;
    char magic[8] = {'K', 'I', 'N', 'E', 'T', 'R', 'E', 'E'};
    if (size < 8 * PAYLOAD_HEADER || memcmp(&h[P_MAGIC], magic, 8)) return "is not a Kinetree model";
    if (h[P_VERSION] != PAYLOAD_VERSION) return "was written by another version of Kinetree";
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
    if ((size_t)((const char *)at - (const char *)m->file) + (size_t)h[P_TEXT] != size) return "is incomplete";
    return NULL;
}

const char *model_load(Model *m, const char *resources) {
    char path[4096];
    memset(m, 0, sizeof *m);
    if (!resources || !*resources) return "no resource location was given";
    path_from_uri(resources, path, sizeof path - 32);
    size_t length = strlen(path);
    if (length && path[length - 1] != '/' && path[length - 1] != '\\') strcat(path, "/");
    strcat(path, "model.kinetree");
    FILE *file = fopen(path, "rb");
    if (!file) return "resources/model.kinetree cannot be opened";
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    m->file = size > 0 ? malloc((size_t)size) : NULL;
    const char *problem = m->file && fread(m->file, 1, (size_t)size, file) == (size_t)size ? NULL : "resources/model.kinetree cannot be read";
    fclose(file);
    if (!problem) problem = lay_out(m, (size_t)size);
    if (problem) model_free(m);
    return problem;
}

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
    return m->ints + UNIT_HEADER + STAGE * (stage >= 0 && stage < m->header[P_STAGES] ? stage : 0);
}

const char *body_name(const Model *m, const double *work, int number) {
    const int64_t *numbers = m->ints + stage_record(m, work)[S_BODIES];
    for (int64_t k = 0; k < m->header[P_BODIES]; k++)
        if (numbers[k] == number) return string(m, 2 + m->header[P_VARIABLES] + m->header[P_STAGES] + k);
    return "?";
}

const char *register_name(const Model *m, const double *work, int number) {
    const int64_t *columns = m->ints + stage_record(m, work)[S_COLUMNS];
    int64_t at_columns = m->ints[U_AT_COLUMNS], at_registers = m->ints[U_BASE] + KINETREE_WORK_HEAD;
    for (int64_t v = 0; v < m->header[P_VARIABLES]; v++) {
        int64_t at = m->variables[v].at, column = at - at_columns;
        if (at == at_registers + number) return variable_name(m, (size_t)v);
        if (m->variables[v].type == TYPE_REAL && column >= 0 && column < m->ints[U_COLUMNS] && columns[column] == number) return variable_name(m, (size_t)v);
    }
    return "an intermediate value";
}
