/* Messages to the host: formatted here, handed over as plain text. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core.h"

static const struct {
    const char *name;
    int flag;
} CATEGORIES[] = {{"logEvents", CATEGORY_EVENTS}, {"logStatusWarning", CATEGORY_WARNING}, {"logStatusDiscard", CATEGORY_DISCARD},
                  {"logStatusError", CATEGORY_ERROR}, {"logStatusFatal", CATEGORY_ERROR}, {"logAll", CATEGORY_ALL}};

int say(Instance *in, int level, const char *format, ...) {
    static const int place[] = {0, 1, 2, 3, 4};
    int k = place[level < LEVEL_OK || level > LEVEL_FATAL ? LEVEL_ERROR : level];
    if (in->logging & CATEGORIES[k].flag) {
        char text[1024];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        in->sink(in, level, CATEGORIES[k].name, text);
    }
    return level;
}

const char *mode_name(Mode mode) {
    switch (mode) {
        case INSTANTIATED: return "before initialization";
        case INITIALIZATION: return "in initialization mode";
        case STEP: return "between steps";
        case EVENT: return "in event mode";
        case CONTINUOUS: return "in continuous-time mode";
        case TERMINATED: return "after termination";
        default: return "after a failure";
    }
}

int refuse(Instance *in, const char *function) { return say(in, LEVEL_ERROR, "%s is not allowed %s", function, mode_name(in->mode)); }

int given_null(Instance *in, const char *function) { return say(in, LEVEL_ERROR, "%s was given NULL where it needs an address", function); }

int set_logging(Instance *in, int on, size_t n, const char *const *categories) {
    int level = LEVEL_OK;
    in->logging = on ? CATEGORY_ALL : CATEGORY_ERROR; /* what goes wrong is never silent */
    if (!on || n == 0 || !categories) return level;
    in->logging = 0;
    for (size_t k = 0; k < n; k++) {
        int known = 0;
        for (size_t c = 0; c < sizeof CATEGORIES / sizeof *CATEGORIES; c++)
            if (categories[k] && strcmp(categories[k], CATEGORIES[c].name) == 0) known = CATEGORIES[c].flag;
        in->logging |= known;
        if (!known) {
            in->logging |= CATEGORY_WARNING;
            level = say(in, LEVEL_WARNING, "unknown log category '%s'", categories[k] ? categories[k] : "");
        }
    }
    return level;
}
