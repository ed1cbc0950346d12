/* Plays sequences of calls: calls FOLDER DAMAGED TOKEN play FILE | run SEED FIRST COUNT PROGRESS | dump SEED NUMBER FILE | threads SEED COUNT */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "calls.h"

static uint64_t mixed(uint64_t x) { /* splitmix64 */
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t draw(Host *h) { return h->drawn = mixed(h->drawn); }

double number_of(Host *h) {
    static const double ODD[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e-308, 0.0, -0.0, 1.0, -1.0, 1e6, 1e-6};
    uint64_t k = draw(h) % 40;
    return k < sizeof ODD / sizeof *ODD ? ODD[k] : (double)(draw(h) >> 11) / (double)(1ull << 53) * (k & 1 ? -1 : 1);
}

int missing(Host *h) { return draw(h) % 24 == 0; }

void note(Host *h, const void *bytes, size_t size) {
    for (size_t k = 0; k < size; k++) h->digest = (h->digest ^ ((const unsigned char *)bytes)[k]) * 0x100000001B3u;
}

void expect(Host *h, int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "BROKEN: %s (call %ld)\n", what, h->calls);
    abort();
}

uint32_t references(Host *h, const Instance *in, uint32_t *vr) {
    uint32_t n = (uint32_t)(draw(h) % (MOST + 1)), known = in ? (uint32_t)in->model.header[P_VARIABLES] : 5;
    for (uint32_t k = 0; k < n; k++) vr[k] = draw(h) % 30 ? (uint32_t)(draw(h) % known) : draw(h) % 2 ? known : UINT32_MAX;
    return n;
}

/* -- one call -------------------------------------------------------------------------------------------------------------------------------- */
static void drop(Slot *s) {
    if (s->in && s->version == 2) free_fmi2(s->in);
    if (s->in && s->version == 3) free_fmi3(s->in);
    s->in = NULL;
}

static void make(Host *h, Slot *s, const Record *r) {
    static const char *const TOKENS[] = {"", "{}", "{00000000-0000-0000-0000-000000000000}", "%n%s"};
    static const char *const PLACES[] = {"", "/nowhere", "file:///nowhere%2", "file:"};
    char uri[ROOM];
    snprintf(uri, sizeof uri, "%s%s", r->a & 1 ? "file://" : "", h->folder);
    int wrong_token = draw(h) % 16 == 0, wrong_place = draw(h) % 16 == 0;
    const char *token = !wrong_token ? h->token : missing(h) ? NULL : TOKENS[draw(h) % 4], *place = !wrong_place ? uri : missing(h) ? NULL : PLACES[draw(h) % 4];
    drop(s);
    s->version = r->a & 2 ? 2 : 3;
    s->silent = draw(h) % 16 == 0;
    long before = h->messages;
    if (draw(h) % 8 == 0) starve((int)(draw(h) % 7));
    s->in = (s->version == 2 ? make_fmi2 : make_fmi3)(h, missing(h) ? NULL : "instance", token, place, r->b, s->silent, r->b & 64);
    int wrong = wrong_place || (wrong_token && strcmp(token ? token : "", h->token) != 0) || starved();
    starve(-1);
    expect(h, !s->in == wrong, "an instance is made of the right files, with memory, only");
    expect(h, s->in || s->silent || h->messages > before, "an instance that cannot be made says why");
}

static int quiet(const Slot *s) { return !s->in || s->silent || !(s->in->logging & CATEGORY_ERROR); }

static void play_one(Host *h, const Record *r) {
    Slot *s = h->slots + r->slot % SLOTS, absent = {NULL, r->a & 1 ? 2 : 3, 0};
    h->drawn = mixed(((uint64_t)r->c << 16) + r->a + 256u * r->b);
    h->calls++;
    if (!s->in || r->call >= 250) {
        make(h, s, r);
        return;
    }
    if (r->call >= 246) {
        damaged_payload(h, r->call & 1);
        return;
    }
    if (r->call >= 244) {
        (r->call & 1 ? every_message : odd_location)(h, s);
        return;
    }
    if (r->call >= 230) {
        (r->call & 1 ? same_again : damaged_state)(h, s);
        return;
    }
    if (draw(h) % 200 == 0) s = &absent;
    long before = h->messages;
    if (draw(h) % 16 == 0) starve(0);
    int quietly = quiet(s), status = r->call >= 224 ? -1 : s->version == 2 ? call_fmi2(h, s, r->call % 60) : call_fmi3(h, s, r->call % 64);
    if (status < 0 && s->version == 3) status = call_absent(h, s, r->c % 64);
    int without = starved();
    starve(-1);
    if (status < 0) return;
    expect(h, status > 1 || !without, "what has no memory fails");
    note(h, &status, sizeof status);
    expect(h, status <= 3, "no call ends with a fatal error");
    h->refused += status > 1;
    expect(h, status < 3 || quietly || quiet(s) || h->messages > before, "an error has a message");
}

static void finish(Host *h) {
    for (int k = 0; k < SLOTS; k++) drop(h->slots + k);
    for (int k = 0; k < STATES; k++) free(h->states[k]); /* as fmi2FreeFMUstate does, when its instance lives no longer */
    memset(h->states, 0, sizeof h->states);
    free(h->bytes);
    h->bytes = NULL;
    h->size = 0;
}

static void play(Host *h, const Record *records, int count) {
    h->digest = 0xCBF29CE484222325u;
    for (int k = 0; k < count; k++) play_one(h, records + k);
    finish(h);
}

/* -- sequences ------------------------------------------------------------------------------------------------------------------------------- */
/* The usual order with much that is wrong in between: without that most sequences would end in the first mode. */
static int make_sequence(uint64_t seed, uint64_t k, Record *records) {
    static const uint8_t USUAL[] = {250, 0, 1, 2, 3, 3, 3, 4, 3, 3}; /* make, set up, enter and leave initialization, event and step modes, steps */
    Host h = {.drawn = mixed(seed * 0x100000001ull + k)};
    int n = 8 + (int)(draw(&h) % (LONGEST - 8)), place[SLOTS] = {0};
    uint64_t wild = draw(&h) % 100;
    for (int i = 0; i < n; i++) {
        uint64_t x = draw(&h), y = draw(&h);
        Record r = {(uint8_t)x, (uint8_t)(draw(&h) % 4 ? 0 : x >> 8), (uint8_t)(x >> 16), (uint8_t)(x >> 24), (uint32_t)y};
        int *at = place + r.slot % SLOTS;
        if (draw(&h) % 100 >= wild && *at < (int)sizeof USUAL) r.call = USUAL[(*at)++];
        else if (r.call >= 250 && draw(&h) % 4) r.call = 3; /* a new instance in the place of one is rare */
        records[i] = r;
    }
    return n;
}

typedef struct {
    Host host;
    uint64_t seed, count;
} Thread;

static void *in_thread(void *argument) {
    Thread *t = argument;
    uint64_t sum = 0;
    Record records[LONGEST];
    for (uint64_t k = 0; k < t->count; k++) {
        play(&t->host, records, make_sequence(t->seed, k, records));
        sum = mixed(sum ^ t->host.digest);
    }
    t->host.digest = sum;
    return NULL;
}

/* The same sequences at once in four threads give the same. */
static int threads(const Host *h, uint64_t seed, uint64_t count) {
    Thread each[4];
    pthread_t id[4];
    char folders[4][ROOM];
    for (int k = 0; k < 4; k++) {
        each[k] = (Thread){*h, seed, count};
        snprintf(folders[k], sizeof folders[k], "%s.%d", h->damaged, k);
        each[k].host.damaged = folders[k];
        pthread_create(id + k, NULL, in_thread, each + k);
    }
    for (int k = 0; k < 4; k++) pthread_join(id[k], NULL);
    for (int k = 1; k < 4; k++) expect(&each[k].host, each[k].host.digest == each[0].host.digest, "threads that do the same get the same");
    printf("sequences %llu\ncalls %ld\nrefused %ld\n", (unsigned long long)(4 * count), 4 * each[0].host.calls, 4 * each[0].host.refused);
    return 0;
}

/* A call that keeps its host ends the program: one that computes for 30 seconds of the processor, which other loads do not lengthen, or that waits. */
static void limit(void) {
    struct itimerval computing = {.it_value = {.tv_sec = 30}};
    setitimer(ITIMER_PROF, &computing, NULL);
    alarm(600);
}

static int run(Host *h, uint64_t seed, uint64_t first, uint64_t count, const char *progress) {
    Record records[LONGEST];
    for (uint64_t k = first; k < first + count; k++) {
        FILE *file = fopen(progress, "w");
        if (file) fprintf(file, "%llu", (unsigned long long)k), fclose(file);
        limit();
        int n = make_sequence(seed, k, records);
        play(h, records, n);
        if (k % 8 == 0) { /* nothing of a sequence is left behind */
            uint64_t digest = h->digest;
            play(h, records, n);
            expect(h, digest == h->digest, "the same calls give the same");
        }
    }
    printf("sequences %llu\ncalls %ld\nrefused %ld\n", (unsigned long long)count, h->calls, h->refused);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 6) return 2;
    Host h = {.folder = argv[1], .damaged = argv[2], .token = argv[3]};
    Record records[LONGEST];
    const char *what = argv[4];
    if (!strcmp(what, "run") && argc > 8) return run(&h, strtoull(argv[5], 0, 10), strtoull(argv[6], 0, 10), strtoull(argv[7], 0, 10), argv[8]);
    if (!strcmp(what, "threads") && argc > 6) return threads(&h, strtoull(argv[5], 0, 10), strtoull(argv[6], 0, 10));
    FILE *file = fopen(argv[argc - 1], !strcmp(what, "dump") ? "wb" : "rb");
    if (!file) return 2;
    if (!strcmp(what, "dump") && argc > 7) {
        fwrite(records, sizeof *records, (size_t)make_sequence(strtoull(argv[5], 0, 10), strtoull(argv[6], 0, 10), records), file);
    } else {
        int n = (int)fread(records, sizeof *records, LONGEST, file);
        limit();
        for (int twice = 0; twice < 2; twice++) {
            uint64_t digest = h.digest;
            play(&h, records, n);
            expect(&h, !twice || digest == h.digest, "the same calls give the same");
        }
    }
    fclose(file);
    return 0;
}
