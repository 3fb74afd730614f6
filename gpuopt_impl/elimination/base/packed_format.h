/* SPDX-License-Identifier: MIT
 *
 * Elimination: the bytes of a packed message, as the caller and kernels read and write them. gpuopt.h states the
 * format, at gpuopt_elimination_message_pack.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_BASE_PACKED_FORMAT_H
#define GPUOPT_IMPL_ELIMINATION_BASE_PACKED_FORMAT_H

#include "table.h"
#include "../../common/bytes.h"

#define GPUOPT__ELIMINATION_PACKED_HEAD 72
#define GPUOPT__ELIMINATION_PACKED_VERSION 4   /* behind "GPUM" */
#define GPUOPT__ELIMINATION_PACKED_MODEL 48    /* where the model's number is, */
#define GPUOPT__ELIMINATION_PACKED_CHECKSUM 56 /* the checksum, */
#define GPUOPT__ELIMINATION_PACKED_SPREAD 64   /* and the spread */

/* The beginnings of the costs and the counts, and the end of the message. */
typedef struct gpuopt__elimination_parts {
    uint64_t cost, count, end;
} gpuopt__elimination_parts;

/* Properties of all costs of a message together. Costs are as stored, values as keys. */
typedef struct gpuopt__elimination_scan {
    uint64_t sum;            /* the checksum */
    uint64_t least, largest; /* of allowed costs, of finite values; least > largest: there are none */
    uint64_t bad;            /* not 0: a value is NaN, or the infinity that does not mean forbidden */
} gpuopt__elimination_scan;

/* A message with its head read. */
typedef struct gpuopt__elimination_packed {
    const unsigned char *bytes; /* [parts.end], in `where` */
    gpuopt_memory_space where;
    gpuopt_elimination_packed_info info;
    gpuopt__elimination_parts parts;
    int64_t offset; /* this and the next are as in gpuopt_elimination_message_info */
    uint64_t forbidden;
    double spread;  /* as in gpuopt__elimination_table */
    uint64_t limit; /* stored costs of this and more are forbidden in the receiving model */
    gpuopt__elimination_scan scan;
} gpuopt__elimination_packed;

static inline gpuopt__elimination_parts gpuopt__elimination_packed_parts(int32_t arity, int64_t entries, int32_t bits,
                                                                         gpuopt_elimination_semiring semiring) {
    gpuopt__elimination_parts p;
    p.cost = GPUOPT__ELIMINATION_PACKED_HEAD + 8 * (uint64_t)arity;
    p.count = p.cost + (uint64_t)entries * (uint64_t)(bits / 8);
    p.end = p.count + (semiring == GPUOPT_SEMIRING_MIN_COUNT ? 8 * (uint64_t)entries : 0);
    return p;
}

/* ---- Numbers ---- */

/* gpuopt__take_bytes() of 8 bytes, written out so that compilers recognise one load. */
GPUOPT_HD uint64_t gpuopt__elimination_take_word(const unsigned char *f) {
    return (uint64_t)f[0] | (uint64_t)f[1] << 8 | (uint64_t)f[2] << 16 | (uint64_t)f[3] << 24 | (uint64_t)f[4] << 32 |
           (uint64_t)f[5] << 40 | (uint64_t)f[6] << 48 | (uint64_t)f[7] << 56;
}

/* The term that word `number` (from 0 on) adds to the checksum. It is a bijection of the word, so a change within one
 * word always changes the checksum. The order of the additions does not matter. */
GPUOPT_HD uint64_t gpuopt__elimination_mix(uint64_t word, uint64_t number) {
    return gpuopt__scramble(word + (number + 1) * GPUOPT__MIX_STEP);
}

/* Doubles as integers in the same order; -0 and 0 differ. */
GPUOPT_HD uint64_t gpuopt__elimination_key(uint64_t bits) { return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63; }

static inline double gpuopt__elimination_value_of_key(uint64_t key) {
    const uint64_t bits = key >> 63 ? key ^ (uint64_t)1 << 63 : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Takes one stored number into account. semiring: of the model. */
GPUOPT_HD void gpuopt__elimination_scan_one(gpuopt__elimination_scan *s, gpuopt_elimination_cost type,
                                            gpuopt_elimination_semiring semiring, uint64_t limit, uint64_t stored) {
    const uint64_t infinity = 0x7ff0000000000000u, size = stored & ~((uint64_t)1 << 63);
    if (type == GPUOPT_COST_INT64 ? stored >= limit : size >= infinity) {
        if (type == GPUOPT_COST_DOUBLE &&
            (size > infinity || (stored >> 63 == 0) != (semiring == GPUOPT_SEMIRING_MIN_SUM)))
            s->bad = 1;
        return;
    }
    if (type == GPUOPT_COST_DOUBLE) stored = gpuopt__elimination_key(stored);
    if (stored < s->least) s->least = stored;
    if (stored > s->largest) s->largest = stored;
}

/* ---- On the CPU ---- */

/* The checksum of a message. */
static inline uint64_t gpuopt__elimination_packed_sum(const unsigned char *bytes, uint64_t size) {
    uint64_t sum = 0, words = size / 8, k;
    for (k = 0; k < words; k++)
        sum += gpuopt__elimination_mix(
            k == GPUOPT__ELIMINATION_PACKED_CHECKSUM / 8 ? 0 : gpuopt__elimination_take_word(bytes + 8 * k), k);
    if (size % 8) sum += gpuopt__elimination_mix(gpuopt__take_bytes(bytes + 8 * words, (int32_t)(size % 8)), k);
    return sum;
}

/* Scans a message in host memory. range: the costs, too. */
static inline void gpuopt__elimination_packed_scan(const gpuopt__elimination_packed *p,
                                                   gpuopt_elimination_semiring semiring, int range,
                                                   gpuopt__elimination_scan *s) {
    const int32_t width = p->info.bits / 8;
    int64_t k;
    memset(s, 0, sizeof *s);
    s->least = UINT64_MAX;
    s->sum = gpuopt__elimination_packed_sum(p->bytes, p->parts.end);
    for (k = 0; range && k < p->info.entries; k++)
        gpuopt__elimination_scan_one(s, p->info.type, semiring, p->limit,
                                     gpuopt__take_bytes(p->bytes + p->parts.cost + k * width, width));
}

/* Returns the fault in the head of a message of `size` bytes, or NULL. Fills p except for bytes, where, limit and
 * scan. */
static inline const char *gpuopt__elimination_packed_head(const unsigned char *from, uint64_t size,
                                                          gpuopt__elimination_packed *p) {
    gpuopt_elimination_packed_info *m = &p->info;
    uint64_t spread;
    if (size < GPUOPT__ELIMINATION_PACKED_HEAD) return "the message is cut short";
    if (gpuopt__take_bytes(from, 4) != 0x4d555047) return "these bytes are not a message";
    if (gpuopt__take_bytes(from + 4, 4) != GPUOPT__ELIMINATION_PACKED_VERSION)
        return "the message is of another version";
    m->type = (gpuopt_elimination_cost)gpuopt__take_bytes(from + 8, 4);
    m->semiring = (gpuopt_elimination_semiring)gpuopt__take_bytes(from + 12, 4);
    m->bits = (int32_t)gpuopt__take_bytes(from + 16, 4);
    m->arity = (int32_t)gpuopt__take_bytes(from + 20, 4);
    m->entries = (int64_t)gpuopt__take_bytes(from + 24, 8);
    m->model = gpuopt__take_bytes(from + GPUOPT__ELIMINATION_PACKED_MODEL, 8);
    p->offset = (int64_t)gpuopt__take_bytes(from + 32, 8);
    p->forbidden = gpuopt__take_bytes(from + 40, 8);
    spread = gpuopt__take_bytes(from + GPUOPT__ELIMINATION_PACKED_SPREAD, 8);
    memcpy(&p->spread, &spread, sizeof spread);
    if ((unsigned)m->type > GPUOPT_COST_DOUBLE || (unsigned)m->semiring > GPUOPT_SEMIRING_MIN_COUNT)
        return "the message's type or semiring is unknown";
    if (m->type == GPUOPT_COST_INT64 ? m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP
                                     : m->semiring == GPUOPT_SEMIRING_MIN_COUNT)
        return "the semiring of the message does not fit its type";
    if ((m->bits != 8 && m->bits != 16 && m->bits != 32 && m->bits != 64) ||
        (m->type == GPUOPT_COST_DOUBLE && m->bits != 64))
        return "the width of the message is invalid";
    if (m->arity < 0 || m->entries < 1 || m->entries > GPUOPT__ELIMINATION_MOST_ENTRIES)
        return "the size of the message is invalid";
    if (!(p->spread >= 0)) return "the spread in the message is invalid";
    if (size - GPUOPT__ELIMINATION_PACKED_HEAD < 8 * (uint64_t)m->arity) return "the message is cut short";
    p->parts = gpuopt__elimination_packed_parts(m->arity, m->entries, m->bits, m->semiring);
    return NULL;
}

/* The same with the scope, after the head has been checked; `from` has p->parts.cost bytes. */
static inline const char *gpuopt__elimination_packed_scope(const unsigned char *from, uint64_t size,
                                                           const gpuopt__elimination_packed *p) {
    const gpuopt_elimination_packed_info *m = &p->info;
    int64_t entries = 1;
    int32_t k;
    for (k = 0; k < m->arity; k++) {
        int64_t domain =
            (int64_t)gpuopt__take_bytes(from + GPUOPT__ELIMINATION_PACKED_HEAD + 4 * ((int64_t)m->arity + k), 4);
        if (gpuopt__take_bytes(from + GPUOPT__ELIMINATION_PACKED_HEAD + 4 * (int64_t)k, 4) > INT32_MAX)
            return "the scope of the message is invalid";
        if (domain < 1 || domain > INT32_MAX || entries > m->entries / domain)
            return "the domain sizes of the message do not give its size";
        entries *= domain;
    }
    if (entries != m->entries) return "the domain sizes of the message do not give its size";
    if (p->parts.end != size)
        return size < p->parts.end ? "the message is cut short" : "there are bytes after the message";
    return NULL;
}

/* The fault behind the head, or NULL: from the scan and the checksum in the message. */
static inline const char *gpuopt__elimination_packed_rest(const gpuopt__elimination_packed *p, uint64_t checksum) {
    if (checksum != p->scan.sum) return "the message is damaged";
    if (p->info.type == GPUOPT_COST_INT64 &&
        (p->offset == INT64_MIN || p->forbidden > (uint64_t)(p->offset > 0 ? INT64_MAX - p->offset : INT64_MAX)))
        return "the message's costs do not fit 63 bits";
    return NULL;
}

#endif /* GPUOPT_IMPL_ELIMINATION_BASE_PACKED_FORMAT_H */
