/* FMI 3.0 as a WebAssembly component: functions of the shell in the canonical form of the component model.

   A list or a text is an address and a length. Arguments lie in memory that the host asked for; it is given back at the end of each call.
   A result of more than one number is written to `answer`, whose address is returned; lists in it stay valid until the next call. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "fmi3Functions.h"

#define SHOWN(name) __attribute__((export_name(name)))
#define LIST(what) const void *what, size_t what##_size

/* An instance, with the name that goes with its messages. */
typedef struct {
    fmi3Instance fmi;
    char *name;
} Held;

typedef struct {
    const char *at;
    size_t size;
} Text;

__attribute__((import_module("callbacks"), import_name("log-message"))) void tell(LIST(name), uint32_t status, LIST(category), LIST(message));

/* Memory of arguments: blocks in a chain, each behind 16 bytes of its own. */
typedef struct Block {
    struct Block *next;
    size_t size;
    uint64_t contents[];
} Block;

static Block *arguments;

SHOWN("realloc") void *component_memory(void *old, size_t old_size, size_t alignment, size_t size) {
    Block *block = (Block *)malloc(sizeof(Block) + (size ? size : 1));
    if (!block) __builtin_trap();
    block->next = arguments;
    arguments = block;
    if (old_size) memcpy(block->contents, old, old_size < size ? old_size : size);
    return block->contents;
}

static void end_call(void) {
    while (arguments) {
        Block *next = arguments->next;
        free(arguments);
        arguments = next;
    }
}

static void *room_of(size_t size) { return component_memory(NULL, 0, 8, size); }

/* A text of the host with a zero at its end. */
static char *ended(const char *text, size_t size) {
    char *copy = (char *)room_of(size + 1);
    memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

static const char **all_ended(const Text *texts, size_t n) {
    const char **copies = (const char **)room_of(n * sizeof *copies);
    for (size_t k = 0; k < n; k++) copies[k] = ended(texts[k].at, texts[k].size);
    return copies;
}

/* Results. */
static union {
    uint8_t bytes[32];
    uint32_t words[8];
    uint64_t longs[4];
    double reals[4];
} answer;

static char *list;
static size_t list_size;

/* Memory of a list in a result, kept for the next one. */
static void *list_of(size_t size) {
    if (size > list_size) {
        free(list);
        list = (char *)malloc(size);
        list_size = list ? size : 0;
        if (!list) __builtin_trap();
    }
    return list ? list : (char *)8;
}

static uint32_t end_with(fmi3Status status) {
    end_call();
    return status;
}

/* ok(value) where a value counts, else err(status): the place of both is that of the value's alignment. */
static void *result(fmi3Status status, size_t place) {
    answer.bytes[0] = status > fmi3Warning;
    if (answer.bytes[0]) answer.bytes[place] = (uint8_t)status;
    end_call();
    return &answer;
}

static void *list_result(fmi3Status status, size_t n) {
    answer.words[1] = (uint32_t)(uintptr_t)list_of(0);
    answer.words[2] = (uint32_t)n;
    return result(status, 4);
}

/* The model: the archive's own module writes its bytes before anything else happens. */
const uint64_t *kinetree_model;
size_t kinetree_model_size;

SHOWN("model-room") void *model_room(size_t size) {
    void *room = malloc(size);
    if (!room) __builtin_trap();
    kinetree_model = (const uint64_t *)room;
    kinetree_model_size = size;
    return room;
}

static void told(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message) {
    const Held *held = (const Held *)environment;
    tell(held->name, strlen(held->name), status, category, strlen(category), message, strlen(message));
}

static Held *held_for(LIST(name)) {
    Held *held = (Held *)calloc(1, sizeof *held);
    if (held) held->name = (char *)malloc(name_size + 1);
    if (!held || !held->name) __builtin_trap();
    memcpy(held->name, name, name_size);
    held->name[name_size] = 0;
    return held;
}

SHOWN("free") void component_free(Held *held) {
    if (held->fmi) fmi3FreeInstance(held->fmi);
    free(held->name);
    free(held);
}

/* some(instance) or none; the archive's own module makes a handle of the address. */
static void *some(Held *held) {
    end_call();
    answer.words[0] = held->fmi != NULL;
    answer.words[1] = (uint32_t)(uintptr_t)held;
    if (!held->fmi) component_free(held);
    return &answer;
}

SHOWN("instantiate-model-exchange") void *new_exchange(LIST(name), LIST(token), LIST(resources), uint32_t visible, uint32_t logging) {
    Held *held = held_for(name, name_size);
    held->fmi = fmi3InstantiateModelExchange(held->name, ended(token, token_size), ended(resources, resources_size), visible != 0, logging != 0, held, told);
    return some(held);
}

SHOWN("instantiate-co-simulation") void *new_simulation(LIST(name), LIST(token), LIST(resources), uint32_t visible, uint32_t logging,
                                                        uint32_t event_mode_used, uint32_t early_return_allowed, LIST(required)) {
    Held *held = held_for(name, name_size);
    if (required_size)
        told(held, fmi3Warning, "logStatusWarning", "intermediate updates are not told by the WebAssembly component: read values between steps");
    held->fmi = fmi3InstantiateCoSimulation(held->name, ended(token, token_size), ended(resources, resources_size), visible != 0, logging != 0,
                                            event_mode_used != 0, early_return_allowed != 0, NULL, 0, held, told, NULL);
    return some(held);
}

SHOWN("get-version") void *get_version(void) {
    const char *version = fmi3GetVersion();
    answer.words[0] = (uint32_t)(uintptr_t)version;
    answer.words[1] = strlen(version);
    end_call();
    return &answer;
}

SHOWN("set-debug-logging") uint32_t set_debug_logging(Held *self, uint32_t on, const Text *categories, size_t n) {
    return end_with(fmi3SetDebugLogging(self->fmi, on != 0, n, all_ended(categories, n)));
}

SHOWN("enter-initialization-mode") uint32_t enter_initialization(Held *self, uint32_t has_tolerance, double tolerance, double start, uint32_t has_stop, double stop) {
    return end_with(fmi3EnterInitializationMode(self->fmi, has_tolerance != 0, tolerance, start, has_stop != 0, stop));
}

#define CHANGE(name, Function) \
    SHOWN(name) uint32_t component_##Function(Held *self) { return end_with(fmi3##Function(self->fmi)); }
CHANGE("exit-initialization-mode", ExitInitializationMode)
CHANGE("enter-event-mode", EnterEventMode)
CHANGE("enter-step-mode", EnterStepMode)
CHANGE("enter-continuous-time-mode", EnterContinuousTimeMode)
CHANGE("enter-configuration-mode", EnterConfigurationMode)
CHANGE("exit-configuration-mode", ExitConfigurationMode)
CHANGE("evaluate-discrete-states", EvaluateDiscreteStates)
CHANGE("terminate", Terminate)
CHANGE("reset", Reset)

SHOWN("update-discrete-states") void *update_discrete_states(Held *self) {
    bool again = false, terminate = false, nominals = false, values = false, defined = false;
    double time = 0;
    fmi3Status status = fmi3UpdateDiscreteStates(self->fmi, &again, &terminate, &nominals, &values, &defined, &time);
    uint8_t *at = answer.bytes + 8;
    *at++ = again, *at++ = terminate, *at++ = nominals, *at++ = values, *at = defined;
    answer.reals[2] = time;
    return result(status, 8);
}

/* Values by type. */
#define VALUES(name, Kind) \
    SHOWN("get-" name) void *get_##Kind(Held *self, const uint32_t *vr, size_t n) { \
        fmi3Status status = fmi3Get##Kind(self->fmi, vr, n, (fmi3##Kind *)list_of(n * sizeof(fmi3##Kind)), n); \
        return list_result(status, n); \
    } \
    SHOWN("set-" name) uint32_t set_##Kind(Held *self, const uint32_t *vr, size_t n, const fmi3##Kind *values, size_t count) { \
        return end_with(fmi3Set##Kind(self->fmi, vr, n, values, count)); \
    }
VALUES("float32", Float32)
VALUES("float64", Float64)
VALUES("int8", Int8)
VALUES("int16", Int16)
VALUES("int32", Int32)
VALUES("int64", Int64)
VALUES("uint8", UInt8)
VALUES("uint16", UInt16)
VALUES("uint32", UInt32)
VALUES("uint64", UInt64)
VALUES("boolean", Boolean)

/* A call whose lists differ in length has no function in FMI's terms where a count is missing there. */
static fmi3Status unequal(Held *self, const char *function) {
    return (fmi3Status)say((Instance *)self->fmi, LEVEL_ERROR, "%s: there are not as many values as value references", function);
}

SHOWN("get-string") void *get_string(Held *self, const uint32_t *vr, size_t n) {
    const char **values = (const char **)room_of(n * sizeof *values);
    fmi3Status status = fmi3GetString(self->fmi, vr, n, values, n);
    Text *texts = (Text *)list_of(n * sizeof *texts);
    for (size_t k = 0; k < n && status <= fmi3Warning; k++) texts[k] = (Text){values[k], strlen(values[k])};
    return list_result(status, n);
}

SHOWN("set-string") uint32_t set_string(Held *self, const uint32_t *vr, size_t n, const Text *values, size_t count) {
    return end_with(fmi3SetString(self->fmi, vr, n, all_ended(values, count), count));
}

SHOWN("get-binary") void *get_binary(Held *self, const uint32_t *vr, size_t n) {
    size_t *sizes = (size_t *)room_of(n * sizeof *sizes);
    fmi3Binary *values = (fmi3Binary *)room_of(n * sizeof *values);
    fmi3Status status = fmi3GetBinary(self->fmi, vr, n, sizes, values, n);
    Text *found = (Text *)list_of(n * sizeof *found);
    for (size_t k = 0; k < n && status <= fmi3Warning; k++) found[k] = (Text){(const char *)values[k], sizes[k]};
    return list_result(status, n);
}

SHOWN("set-binary") uint32_t set_binary(Held *self, const uint32_t *vr, size_t n, const Text *given, size_t count) {
    size_t *sizes = (size_t *)room_of(count * sizeof *sizes);
    fmi3Binary *values = (fmi3Binary *)room_of(count * sizeof *values);
    for (size_t k = 0; k < count; k++) sizes[k] = given[k].size, values[k] = (fmi3Binary)given[k].at;
    return end_with(fmi3SetBinary(self->fmi, vr, n, sizes, values, count));
}

SHOWN("get-clock") void *get_clock(Held *self, const uint32_t *vr, size_t n) {
    fmi3Status status = fmi3GetClock(self->fmi, vr, n, (fmi3Clock *)list_of(n * sizeof(fmi3Clock)));
    return list_result(status, n);
}

SHOWN("set-clock") uint32_t set_clock(Held *self, const uint32_t *vr, size_t n, const fmi3Clock *values, size_t count) {
    return end_with(n == count ? fmi3SetClock(self->fmi, vr, n, values) : unequal(self, "fmi3SetClock"));
}

/* What the FMU does not have: the shell says so. */
SHOWN("get-number-of-variable-dependencies") void *number_of_dependencies(Held *self, uint32_t vr) {
    size_t n = 0;
    fmi3Status status = fmi3GetNumberOfVariableDependencies(self->fmi, vr, &n);
    answer.longs[1] = n;
    return result(status, 8);
}
SHOWN("get-variable-dependencies") void *component_dependencies(Held *self, uint32_t vr) {
    return list_result(fmi3GetVariableDependencies(self->fmi, vr, NULL, NULL, NULL, NULL, 0), 0);
}
#define NO_INTERVALS(name, Function, ...) \
    SHOWN(name) void *get_##Function(Held *self, const uint32_t *vr, size_t n) { return list_result(fmi3Get##Function(self->fmi, vr, n, __VA_ARGS__), 0); }
NO_INTERVALS("get-interval-decimal", IntervalDecimal, NULL, NULL)
NO_INTERVALS("get-interval-fraction", IntervalFraction, NULL, NULL, NULL)
NO_INTERVALS("get-shift-decimal", ShiftDecimal, NULL)
NO_INTERVALS("get-shift-fraction", ShiftFraction, NULL, NULL)
#define NO_INTERVAL_SET(name, Function, ...) \
    SHOWN(name) uint32_t set_##Function(Held *self, const uint32_t *vr, size_t n, LIST(given)) { return end_with(fmi3Set##Function(self->fmi, vr, n, __VA_ARGS__)); }
NO_INTERVAL_SET("set-interval-decimal", IntervalDecimal, NULL)
NO_INTERVAL_SET("set-interval-fraction", IntervalFraction, NULL, NULL)
NO_INTERVAL_SET("set-shift-decimal", ShiftDecimal, NULL)
NO_INTERVAL_SET("set-shift-fraction", ShiftFraction, NULL, NULL)
SHOWN("set-input-derivatives") uint32_t set_input_derivatives(Held *self, LIST(requests), LIST(values)) {
    return end_with(requests_size ? (fmi3Status)say((Instance *)self->fmi, LEVEL_ERROR, "derivatives of inputs are not taken: set values") : fmi3OK);
}

/* States as bytes. */
SHOWN("get-fmu-state") void *get_state(Held *self) {
    fmi3FMUState state = NULL;
    size_t size = 0;
    fmi3Status status = fmi3GetFMUState(self->fmi, &state);
    if (status <= fmi3Warning) status = fmi3SerializedFMUStateSize(self->fmi, state, &size);
    if (status <= fmi3Warning) status = fmi3SerializeFMUState(self->fmi, state, (fmi3Byte *)list_of(size), size);
    if (state) fmi3FreeFMUState(self->fmi, &state);
    return list_result(status, size);
}

SHOWN("set-fmu-state") uint32_t set_state(Held *self, const fmi3Byte *bytes, size_t size) {
    fmi3FMUState state = NULL;
    fmi3Status status = fmi3DeserializeFMUState(self->fmi, bytes, size, &state);
    if (status <= fmi3Warning) status = fmi3SetFMUState(self->fmi, state);
    if (state) fmi3FreeFMUState(self->fmi, &state);
    return end_with(status);
}

/* Derivatives of outputs by inputs and states. */
SHOWN("get-directional-derivative") void *component_directional(Held *self, const uint32_t *unknowns, size_t n, const uint32_t *knowns, size_t m, const double *seed, size_t size) {
    return list_result(fmi3GetDirectionalDerivative(self->fmi, unknowns, n, knowns, m, seed, size, (double *)list_of(n * sizeof(double)), n), n);
}

SHOWN("get-adjoint-derivative") void *component_adjoint(Held *self, const uint32_t *unknowns, size_t n, const uint32_t *knowns, size_t m, const double *seed, size_t size) {
    return list_result(fmi3GetAdjointDerivative(self->fmi, unknowns, n, knowns, m, seed, size, (double *)list_of(m * sizeof(double)), m), m);
}

SHOWN("get-output-derivatives") void *output_derivatives(Held *self, const uint32_t *requests, size_t n) {
    uint32_t *vr = (uint32_t *)room_of(n * sizeof *vr);
    fmi3Int32 *orders = (fmi3Int32 *)room_of(n * sizeof *orders);
    for (size_t k = 0; k < n; k++) vr[k] = requests[2 * k], orders[k] = (fmi3Int32)requests[2 * k + 1];
    return list_result(fmi3GetOutputDerivatives(self->fmi, vr, n, orders, (double *)list_of(n * sizeof(double)), n), n);
}

/* Co-simulation. */
SHOWN("do-step") void *component_step(Held *self, double t, double h, uint32_t no_set_state) {
    bool event = false, terminate = false, early = false;
    double last = t;
    fmi3Status status = fmi3DoStep(self->fmi, t, h, no_set_state != 0, &event, &terminate, &early, &last);
    answer.reals[1] = last;
    uint8_t *at = answer.bytes + 16;
    *at++ = event, *at++ = terminate, *at = early;
    return result(status, 8);
}

/* Model exchange. */
SHOWN("set-time") uint32_t set_time_of(Held *self, double t) { return end_with(fmi3SetTime(self->fmi, t)); }

SHOWN("set-continuous-states") uint32_t component_set_states(Held *self, const double *x, size_t n) { return end_with(fmi3SetContinuousStates(self->fmi, x, n)); }

static size_t states_of(Held *self) { return (size_t)((Instance *)self->fmi)->model.header[P_STATES]; }
static size_t guards_of(Held *self) { return (size_t)((Instance *)self->fmi)->model.header[P_GUARDS]; }

#define NUMBERS(name, Function, count) \
    SHOWN(name) void *get_##Function(Held *self) { \
        size_t n = count(self); \
        return list_result(fmi3Get##Function(self->fmi, (double *)list_of(n * sizeof(double)), n), n); \
    }
NUMBERS("get-continuous-states", ContinuousStates, states_of)
NUMBERS("get-continuous-state-derivatives", ContinuousStateDerivatives, states_of)
NUMBERS("get-nominals-of-continuous-states", NominalsOfContinuousStates, states_of)
NUMBERS("get-event-indicators", EventIndicators, guards_of)

#define COUNT(name, Function) \
    SHOWN(name) void *get_##Function(Held *self) { \
        size_t n = 0; \
        fmi3Status status = fmi3Get##Function(self->fmi, &n); \
        answer.longs[1] = n; \
        return result(status, 8); \
    }
COUNT("get-number-of-event-indicators", NumberOfEventIndicators)
COUNT("get-number-of-continuous-states", NumberOfContinuousStates)

SHOWN("completed-integrator-step") void *completed_step(Held *self, uint32_t no_set_state) {
    bool event = false, terminate = false;
    fmi3Status status = fmi3CompletedIntegratorStep(self->fmi, no_set_state != 0, &event, &terminate);
    answer.bytes[1] = event, answer.bytes[2] = terminate;
    return result(status, 1);
}
