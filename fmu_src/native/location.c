/* Where the resources of an archive are, in all the forms in which hosts say it. */
#include <string.h>

#include "location.h"

static int hexadecimal(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The path that a resource location means: file:///path, file:/path, file://localhost/path with %XX, or a plain path. */
const char *path_from_uri(const char *uri, char *path, size_t size) {
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
        int high = is_uri && at[0] == '%' ? hexadecimal(at[1]) : -1, low = high < 0 ? -1 : hexadecimal(at[2]);
        path[n++] = low < 0 ? *at : (char)(16 * high + low);
        if (low >= 0) at += 2;
    }
    path[n] = 0;
    return path;
}
