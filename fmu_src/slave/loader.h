/* What the loader asks of the system. */
#ifndef KINETREE_LOADER_H
#define KINETREE_LOADER_H

#include <stdio.h>

#ifdef _WIN32
#define ORIGINAL "win64/pythonfmu.dll"
#else
#define ORIGINAL "linux64/pythonfmu.so"
#endif

const char *bring_python(const char *chosen); /* NULL, or why there is none */
void *open_library(const char *path);
void *find(void *library, const char *name);
const char *why_not(void);
FILE *open_text(const char *path);

/* pythonfmu takes %20 in a path for a blank: such a path gets another name for a while. NULL, or why it cannot. */
const char *without_escapes(char *path, size_t size, char *alias);
void remove_alias(const char *alias);

#endif
