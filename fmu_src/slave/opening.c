/* What the loaders of both versions do before there is an instance: the place of the archive, the interpreter, the library of pythonfmu or pythonfmu3. */
#include <stdio.h>
#include <string.h>

#include "loader.h"
#include "location.h"

/* First line of a file among the resources; empty when there is none. */
static const char *line_of(const char *resources, const char *name, char *line, size_t size) {
    char path[PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", resources, name);
    FILE *file = open_text(path);
    *line = 0;
    if (file) {
        if (!fgets(line, (int)size, file)) *line = 0;
        line[strcspn(line, "\r\n")] = 0;
        fclose(file);
    }
    return line;
}

const char *found_archive(const char *resources, const char *token, char *path, char *alias) {
    char line[PATH_SIZE];
    if (!resources) return "no resource location was given";
    path_from_uri(resources, path, PATH_SIZE);
    size_t length = strlen(path);
    while (length > 1 && (path[length - 1] == '/' || path[length - 1] == '\\')) path[--length] = 0;
    if (!*line_of(path, "slavemodule.txt", line, sizeof line)) return "resources/slavemodule.txt cannot be read";
    if (*line_of(path, "token.txt", line, sizeof line) && strcmp(line, token ? token : "")) return "the identifier that the host gives is not this archive's";
    return without_escapes(path, PATH_SIZE, alias);
}

const char *open_original(const char *resources, void **library) {
    static char problem[TEXT_SIZE];
    char path[PATH_SIZE + 64], chosen[PATH_SIZE];
    line_of(resources, "python.txt", chosen, sizeof chosen);
    const char *without = bring_python(chosen);
    if (without) return without;
    snprintf(path, sizeof path, "%s/%s", resources, ORIGINAL);
    if ((*library = open_library(path))) {
        release_at_exit(*library);
        return NULL;
    }
    snprintf(problem, sizeof problem, "pythonfmu's library '%.900s' cannot be loaded: %.900s", path, why_not());
    return problem;
}
