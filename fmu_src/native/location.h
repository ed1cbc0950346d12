#ifndef KINETREE_LOCATION_H
#define KINETREE_LOCATION_H

#include <stddef.h>

const char *path_from_uri(const char *uri, char *path, size_t size);

#endif
