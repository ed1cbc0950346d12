/* CRC-32 as zlib has it: finds every flipped bit and every damaged run of up to 32 bits. */
#include "core.h"

enum { AT_ONCE = 8 }; /* bytes of one turn: byte by byte each waits for the one before, which took most of the time of an instantiation */

/* What a byte does to the sum when none to seven others follow it. */
static void tables_of(uint32_t table[AT_ONCE][256]) {
    uint32_t sum = 1;
    table[0][0] = 0;
    for (uint32_t bit = 128; bit; bit >>= 1) {
        sum = sum & 1 ? 0xEDB88320u ^ (sum >> 1) : sum >> 1;
        for (uint32_t k = 0; k < 256; k += 2 * bit) table[0][bit + k] = sum ^ table[0][k];
    }
    for (int n = 1; n < AT_ONCE; n++)
        for (uint32_t k = 0; k < 256; k++) table[n][k] = table[0][table[n - 1][k] & 255] ^ (table[n - 1][k] >> 8);
}

uint32_t checksum(uint32_t before, const void *bytes, size_t size) {
    uint32_t table[AT_ONCE][256], sum = ~before;
    const unsigned char *at = (const unsigned char *)bytes, *end = at + size;
    tables_of(table);
    for (; end - at >= AT_ONCE; at += AT_ONCE) {
        sum ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        sum = table[7][sum & 255] ^ table[6][sum >> 8 & 255] ^ table[5][sum >> 16 & 255] ^ table[4][sum >> 24] ^ table[3][at[4]] ^ table[2][at[5]] ^
              table[1][at[6]] ^ table[0][at[7]];
    }
    for (; at < end; at++) sum = table[0][(sum ^ *at) & 255] ^ (sum >> 8);
    return ~sum;
}
