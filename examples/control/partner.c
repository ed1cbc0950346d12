/* A partner of `kinetree hil` in C: one PD loop that holds the boom. Build and run it, then name it in the scenario:

     cc -O2 -o partner partner.c && ./partner 5005
     partner = "127.0.0.1:5005", measures = ["luff"], commands = ["lift.force"]     (in the place of [[loops]])

   A frame is little-endian: uint32 0x3148544B, uint32 sequence, float64 time, uint32 flags (1: the last), uint32 n, n float64. An answer bears the
   sequence number and the time of what it answers. For a big-endian machine swap the bytes. */
#include <arpa/inet.h>
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
    double values[MOST];
};

int main(int count, char **words) {
    int door = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(count > 1 ? atoi(words[1]) : 5005), .sin_addr.s_addr = htonl(INADDR_ANY)};
    if (door < 0 || bind(door, (struct sockaddr *)&own, sizeof own)) return perror("partner"), 1;
    double before = 0.0, last = 0.0;
    int known = 0;
    for (;;) {
        struct frame f;
        struct sockaddr_in sender;
        socklen_t size = sizeof sender;
        ssize_t got = recvfrom(door, &f, sizeof f, 0, (struct sockaddr *)&sender, &size);
        if (got < 24 || f.magic != 0x3148544B || f.count > MOST || got != 24 + 8 * (ssize_t)f.count) continue;
        if (f.flags & 1) return 0;
        double error = 0.55 - f.values[0], slope = known && f.time > last ? (error - before) / (f.time - last) : 0.0;
        before = error, last = f.time, known = 1;
        f.count = 1;
        f.values[0] = 4256.45 + 6.5e5 * error + 4.5e4 * slope;
        sendto(door, &f, 24 + 8 * f.count, 0, (struct sockaddr *)&sender, size);
    }
}
