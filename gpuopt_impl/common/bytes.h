/* SPDX-License-Identifier: MIT
 *
 * Packed data of all families: numbers are little-endian on every machine.
 */
#ifndef GPUOPT_IMPL_BYTES_H
#define GPUOPT_IMPL_BYTES_H

#include <stdint.h>

static void gpuopt__put_bytes(unsigned char *to, uint64_t value, int bytes) {
    int k;
    for (k = 0; k < bytes; k++) to[k] = (unsigned char)(value >> (8 * k));
}

static uint64_t gpuopt__take_bytes(const unsigned char *from, int bytes) {
    uint64_t value = 0;
    int k;
    for (k = 0; k < bytes; k++) value |= (uint64_t)from[k] << (8 * k);
    return value;
}

#define GPUOPT__HASH_START 0xcbf29ce484222325u

/* FNV-1a (Fowler, Noll, Vo); `hash` is GPUOPT__HASH_START or the hash of what came before. */
static uint64_t gpuopt__hash(uint64_t hash, const unsigned char *bytes, uint64_t count) {
    uint64_t k;
    for (k = 0; k < count; k++) hash = (hash ^ bytes[k]) * 0x100000001b3u;
    return hash;
}

#endif /* GPUOPT_IMPL_BYTES_H */
