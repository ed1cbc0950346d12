/* What the loaders ask of the system. */
#ifndef KINETREE_LOADER_H
#define KINETREE_LOADER_H

#include <stdio.h>

#ifdef _WIN32
#define ORIGINAL "win64/pythonfmu.dll"
#else
#define ORIGINAL "linux64/pythonfmu.so"
#endif

enum { PATH_SIZE = 4096, TEXT_SIZE = 2048, ALIAS_SIZE = 64 };
#define NO_SLAVE "the slave cannot be made: its script or its resources are damaged, or Python is older than 3.9"

/* opening.c: the folder of the resources, checked, and pythonfmu's library behind an interpreter. NULL, or why not. */
const char *found_archive(const char *resources, const char *token, char *path, char *alias);
const char *open_original(const char *resources, void **library);

/* interpreter.c */
const char *bring_python(const char *chosen); /* NULL, or why there is none */
void *open_library(const char *path);
void *find(void *library, const char *name);
void release_at_exit(void *library); /* what pythonfmu's library holds, while it still can */
const char *why_not(void);
FILE *open_text(const char *path);

/* pythonfmu takes %20 in a path for a blank: such a path gets another name for a while. NULL, or why it cannot. */
const char *without_escapes(char *path, size_t size, char *alias);
void remove_alias(const char *alias);

#endif
