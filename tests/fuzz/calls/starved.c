/* Memory that is used up: the shell allocates by these, and the allocation of this number from now on, counted by thread, gives nothing. */
#include <stdlib.h>

#include "calls.h"

static _Thread_local int left = -1, found;

static int none(void) { return left >= 0 && left-- == 0 && (found = 1); }

void *starved_malloc(size_t size) { return none() ? NULL : malloc(size); }

void *starved_calloc(size_t count, size_t size) { return none() ? NULL : calloc(count, size); }

void starve(int number) {
    left = number;
    found = 0;
}

int starved(void) { return found; }
