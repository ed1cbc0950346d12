/* Random sequences of FMI calls: a record of eight bytes is a call, so that a sequence that fails is shrunk by leaving records out. */
#ifndef CALLS_H
#define CALLS_H

#include "engine.h"

enum { SLOTS = 4, STATES = 4, MOST = 8, LONGEST = 128, ROOM = 4096 };

typedef struct {
    uint8_t call, slot, a, b;
    uint32_t c;
} Record;

typedef struct {
    Instance *in;
    int version, silent; /* silent: made without a logger */
} Slot;

typedef struct {
    const char *folder, *damaged, *token; /* of the archive at hand, and a place for damaged copies of its payload */
    Slot slots[SLOTS];
    void *states[STATES];
    Instance *stepping; /* what a callback may read */
    char *bytes;        /* the last serialised state */
    size_t size;
    uint64_t digest, drawn; /* over all that came back; what the numbers of a record are drawn from */
    long calls, refused, messages;
} Host;

uint64_t draw(Host *h);
double number_of(Host *h);
int missing(Host *h); /* whether an argument is NULL, now and then */
void note(Host *h, const void *bytes, size_t size);
void expect(Host *h, int holds, const char *what);
uint32_t references(Host *h, const Instance *in, uint32_t *vr);

/* One call of a version by its number; the status, -1 where there is no such call. */
int call_fmi2(Host *h, Slot *s, int number);
int call_fmi3(Host *h, Slot *s, int number);
int call_absent(Host *h, Slot *s, int number);
Instance *make_fmi2(Host *h, const char *name, const char *token, const char *uri, int kind, int silent, int logging);
Instance *make_fmi3(Host *h, const char *name, const char *token, const char *uri, int kind, int silent, int logging);
void free_fmi2(Instance *in);
void free_fmi3(Instance *in);

/* starved.c: that allocation of the calls to come fails, -1: none; whether one did */
void starve(int number);
int starved(void);

/* On one state of an instance, beside the calls of the standard: they say what must hold. */
void same_again(Host *h, Slot *s);
void damaged_state(Host *h, Slot *s);
void damaged_payload(Host *h, int forged);
void every_message(Host *h, Slot *s);
void odd_location(Host *h, Slot *s);

#endif
