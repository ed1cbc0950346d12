/* A partner of `kinetree hil` in C: one PD loop that holds the boom. Build and run it, then name it in the scenario:

     cc -O2 -o partner partner.c && ./partner 5005
     partner = "127.0.0.1:5005", measures = ["luff"], commands = ["lift.force"]     (in the place of [[loops]])

   A frame is little-endian: uint32 0x3248544B, uint32 sequence, float64 time, uint32 flags (1: the last), uint32 n,
   uint64 token of the run, n float64. An answer bears the sequence number, the time and the token of what it answers.
   The first frame of measures tells which plant and which run are heard; every other frame is left aside, and so are
   values that are no numbers. For a big-endian machine swap the bytes. */
#include <arpa/inet.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { MOST = 64 };

struct frame {
    uint32_t magic, sequence;
    double time;
    uint32_t flags, count;
    uint64_t token;
    double values[MOST];
};

int main(int count, char **words) {
    int door = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(count > 1 ? atoi(words[1]) : 5005), .sin_addr.s_addr = htonl(INADDR_ANY)};
    if (door < 0 || bind(door, (struct sockaddr *)&own, sizeof own)) return perror("partner"), 1;
    double before = 0.0, last = 0.0;
    int known = 0;
    uint64_t token = 0;
    struct sockaddr_in plant = {0};
    for (;;) {
        struct frame f;
        struct sockaddr_in sender;
        socklen_t size = sizeof sender;
        ssize_t got = recvfrom(door, &f, sizeof f, 0, (struct sockaddr *)&sender, &size);
        if (got < 32 || f.magic != 0x3248544B || f.count > MOST || got != 32 + 8 * (ssize_t)f.count) continue;
        int its = sender.sin_addr.s_addr == plant.sin_addr.s_addr && sender.sin_port == plant.sin_port && f.token == token;
        if (known ? !its : f.flags & 1) continue;
        if (f.flags & 1) return 0;
        if (f.count != 1 || !isfinite(f.values[0])) continue;
        plant = sender, token = f.token;
        double error = 0.55 - f.values[0], slope = known && f.time > last ? (error - before) / (f.time - last) : 0.0;
        before = error, last = f.time, known = 1;
        f.count = 1;
        f.values[0] = 4256.45 + 6.5e5 * error + 4.5e4 * slope;
        sendto(door, &f, 32 + 8 * f.count, 0, (struct sockaddr *)&sender, size);
    }
}
