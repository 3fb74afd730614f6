/* SPDX-License-Identifier: MIT
 *
 * Packed data of all families, with little-endian numbers on every machine; and hashes.
 */
#ifndef GPUOPT_IMPL_BYTES_H
#define GPUOPT_IMPL_BYTES_H

#include <stdint.h>
#include <string.h>

#include "numerics.h"

static inline void gpuopt__put_bytes(unsigned char *to, uint64_t value, int bytes) {
    int k;
    for (k = 0; k < bytes; k++) to[k] = (unsigned char)(value >> (8 * k));
}

GPUOPT_HD uint64_t gpuopt__take_bytes(const unsigned char *from, int bytes) {
    uint64_t value = 0;
    int k;
    for (k = 0; k < bytes; k++) value |= (uint64_t)from[k] << (8 * k);
    return value;
}

#define GPUOPT__HASH_START 0xcbf29ce484222325u

/* FNV-1a (Fowler, Noll, Vo); `hash` is GPUOPT__HASH_START or the hash of the preceding bytes. */
static inline uint64_t gpuopt__hash(uint64_t hash, const unsigned char *bytes, uint64_t count) {
    uint64_t k;
    for (k = 0; k < count; k++) hash = (hash ^ bytes[k]) * 0x100000001b3u;
    return hash;
}

/* The same over a number in one step. Different numbers give different hashes. */
static inline uint64_t gpuopt__hash_number(uint64_t hash, uint64_t number) {
    hash = (hash ^ number) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

/* The same over `count` numbers of 8 bytes. */
static inline uint64_t gpuopt__hash_numbers(uint64_t hash, const void *numbers, int64_t count) {
    uint64_t number;
    int64_t k;
    for (k = 0; k < count; k++) {
        memcpy(&number, (const char *)numbers + sizeof number * (size_t)k, sizeof number);
        hash = gpuopt__hash_number(hash, number);
    }
    return hash;
}

/* The checksum of packed bytes. The 8 bytes from place `at` on hold the checksum and count as 0. A change within one
 * byte always changes the checksum, since every step of the hash is a bijection. */
static inline uint64_t gpuopt__checksum(const unsigned char *bytes, uint64_t size, uint64_t at) {
    static const unsigned char nothing[8] = {0};
    uint64_t hash = gpuopt__hash(GPUOPT__HASH_START, bytes, at);
    hash = gpuopt__hash(hash, nothing, sizeof nothing);
    return gpuopt__hash(hash, bytes + at + 8, size - at - 8);
}

static inline void gpuopt__seal(unsigned char *bytes, uint64_t size, uint64_t at) {
    gpuopt__put_bytes(bytes + at, gpuopt__checksum(bytes, size, at), 8);
}

static inline int gpuopt__is_sealed(const unsigned char *bytes, uint64_t size, uint64_t at) {
    return gpuopt__take_bytes(bytes + at, 8) == gpuopt__checksum(bytes, size, at);
}

#endif /* GPUOPT_IMPL_BYTES_H */
