/* One instance of a model: data from resources/model.kinetree, one block of work, and the engine's entries over both.
   The two FMI versions are thin fronts of what is declared here. */
#ifndef KINETREE_CORE_H
#define KINETREE_CORE_H

#ifdef __GNUC__ /* the standard's functions have arguments that not every model needs */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#include <stddef.h>
#include <stdint.h>

/* payload file: HEADER numbers, then ints, floats, options, variables, limits, nominals, offsets of strings, strings */
enum { PAYLOAD_HEADER = 32, PAYLOAD_VERSION = 2 };
enum { P_MAGIC, P_VERSION, P_INTS, P_FLOATS, P_WORK, P_VARIABLES, P_STATES, P_GUARDS, P_STAGES, P_BODIES, P_TEXT, P_HASH, P_OPTIONS, P_CHECKSUM };

typedef enum { TYPE_REAL, TYPE_INTEGER, TYPE_STRING } Type;
typedef enum { ACCESS_NONE, ACCESS_INPUT, ACCESS_TUNABLE, ACCESS_FIXED, ACCESS_START } Access;

typedef struct {
    int64_t type, at, write, access, state, rate, start, spare; /* at, write, rate, start: positions in work, -1: none */
} Variable;

typedef struct {
    int64_t *file; /* the whole payload */
    const int64_t *header;
    int64_t *ints;
    double *floats;
    const double *options; /* pairs: place in the head of work, value after a reset */
    const Variable *variables;
    const double *limits;   /* smallest, largest and start value per variable */
    const double *nominals; /* per continuous state */
    const int64_t *strings; /* offsets in text: model name, token, variables, stages, bodies */
    const char *text;
} Model;

typedef int32_t (*Entry)(int64_t *ints, double *floats, double *work, int64_t option, double t);
/* rates of a structure by code of its own: 0 when they count (solvers/instance/derivatives.py) */
typedef int32_t (*OwnCode)(double t, const double *y, const double *val, double *ydot);

typedef struct {
    Entry reset, start, prepare, refresh, advance, derivatives, event, corner;
    const OwnCode *own; /* straight-line right-hand sides by structure, or NULL */
} Engine;

typedef enum {
    INSTANTIATED = 1,
    INITIALIZATION = 2,
    STEP = 4,       /* co-simulation, between steps */
    EVENT = 8,      /* event mode */
    CONTINUOUS = 16, /* model exchange, continuous-time mode */
    TERMINATED = 32,
    FAILED = 64
} Mode;

enum { STALE_VALUES = 1, STALE_PARAMETERS = 2, STALE_START = 4, STALE_GUARDS = 8 /* of model exchange, while loops and contacts are open */ };
enum { LEVEL_OK, LEVEL_WARNING, LEVEL_DISCARD, LEVEL_ERROR, LEVEL_FATAL };
enum { CATEGORY_EVENTS = 1, CATEGORY_WARNING = 2, CATEGORY_DISCARD = 4, CATEGORY_ERROR = 8, CATEGORY_ALL = 15 };

typedef struct Instance Instance;
typedef void (*Callback)(void); /* a function of the host, of the FMI version at hand */
typedef void (*Sink)(Instance *in, int level, const char *category, const char *text);

struct Instance {
    Model model;
    const Engine *engine;
    double *work;
    double *spare;  /* copy of work while derivatives are taken, allocated when first needed */
    unsigned char *happened; /* guards of the event that is carried out */
    Mode mode;
    int exchange; /* 1: model exchange, 0: co-simulation */
    int stale;
    double start_time;
    int located;     /* the host has entered event mode, and nothing has happened there yet: what it has located may happen */
    int early;       /* initialization is over, and nothing has happened yet: parameters may still decide the start */
    volatile int stepping; /* a step is under way: another thread may cancel it */
    int warned;            /* the host was told that it leaves the loops wide open */
    int (*pause)(Instance *in); /* called between two steps of the integrator; not 0: return early */
    int event_mode_used, early_return_allowed; /* FMI 3 */
    int logging;
    char *name;
    void *environment; /* the host's */
    Callback logger, intermediate;
    Sink sink;
};

/* checksum.c */
uint32_t checksum(uint32_t before, const void *bytes, size_t size);

/* model.c */
const char *model_load(Model *model, const char *resources, const char *token);
void model_free(Model *model);
const char *variable_name(const Model *model, size_t vr);
const char *stage_name(const Model *model, int stage);
const char *body_name(const Model *model, const double *work, int number);
const char *state_name(const Model *model, size_t k);
const char *register_name(const Model *model, const double *work, int number);

/* core.c */
Instance *instance_new(const char *name, const char *token, const char *resources, int exchange, Sink sink, void *environment, Callback logger, int logging);
void instance_free(Instance *in);
int instance_reset(Instance *in);
int setup(Instance *in, int tolerance_defined, double tolerance, double start_time);
int settle(Instance *in);
int get_reals(Instance *in, const uint32_t *vr, size_t n, double *values);
int set_reals(Instance *in, const uint32_t *vr, size_t n, const double *values);
int get_integers(Instance *in, const uint32_t *vr, size_t n, int32_t *values);
int get_strings(Instance *in, const uint32_t *vr, size_t n, const char **values);
int get_group(Instance *in, int64_t at, int64_t count, size_t n, double *values);
/* the record of guard k: GUARD_ARMED, GUARD_MARK, ... */
double *guard_state(const Instance *in, int64_t k);
int get_indicators(Instance *in, size_t n, double *values);
int set_states(Instance *in, const double *x, size_t n);
int set_time(Instance *in, double t);
int exit_initialization(Instance *in);
int enter_event_mode(Instance *in);
int handle_event(Instance *in, int *changed);
int leave_event_mode(Instance *in, Mode mode);
int step_accepted(Instance *in);
int next_event(const Instance *in, double *t);
int do_step(Instance *in, double t, double h, int stop_at_event, int *stopped);
int cancel_step(Instance *in);
int engine_failure(Instance *in, int status, int level, const char *doing);

/* log.c */
int say(Instance *in, int level, const char *format, ...);
int refuse(Instance *in, const char *function);
int given_null(Instance *in, const char *function);
int set_logging(Instance *in, int on, size_t n, const char *const *categories);
const char *mode_name(Mode mode);

/* What a function of the standard needs behind its addresses: hosts that give NULL get an error instead of their end. */
#define NEEDS(holds) \
    if (!(holds)) return (STATUS)given_null(in, __func__);

/* state.c */
typedef struct SavedState SavedState;
int state_save(Instance *in, SavedState **state);
int state_restore(Instance *in, const SavedState *state);
size_t state_size(const Instance *in);
int state_write(Instance *in, const SavedState *state, char *bytes, size_t size);
void state_free(SavedState **state);
int state_parse(Instance *in, const char *bytes, size_t size, SavedState **state);

/* derivatives.c */
int directional(Instance *in, const uint32_t *unknowns, size_t n, const uint32_t *knowns, size_t m, const double *seed, double *result);
int set_slopes(Instance *in, const uint32_t *vr, size_t n, const int32_t *order, const double *values);
int output_rates(Instance *in, const uint32_t *vr, size_t n, const int32_t *order, double *values);

#endif
