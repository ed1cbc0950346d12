/* CRC-32 as zlib has it: finds every flipped bit and every damaged run of up to 32 bits. */
#include "core.h"

uint32_t checksum(uint32_t before, const void *bytes, size_t size) {
    uint32_t table[256], sum = ~before;
    for (uint32_t k = 0; k < 256; k++) {
        table[k] = k;
        for (int bit = 0; bit < 8; bit++) table[k] = table[k] & 1 ? 0xEDB88320u ^ (table[k] >> 1) : table[k] >> 1;
    }
    for (const unsigned char *at = (const unsigned char *)bytes, *end = at + size; at < end; at++) sum = table[(sum ^ *at) & 255] ^ (sum >> 8);
    return ~sum;
}
