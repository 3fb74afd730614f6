/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/elimination_messages.h"

enum { HEAD = 72, CHECKSUM = 56 };

static unsigned take(fuzz *f) { return fuzz_take(&f->bytes); }

static void seal(unsigned char *bytes, uint64_t size) {
    uint64_t sum = 0, at, k;
    for (at = 0; at < size; at += 8) {
        uint64_t word = 0;
        for (k = 0; k < 8 && at + k < size && at != CHECKSUM; k++) word |= (uint64_t)bytes[at + k] << 8 * k;
        word += (at / 8 + 1) * 0x9e3779b97f4a7c15u;
        word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
        word = (word ^ word >> 27) * 0x94d049bb133111ebu;
        sum += word ^ word >> 31;
    }
    for (k = 0; k < 8; k++) bytes[CHECKSUM + k] = (unsigned char)(sum >> 8 * k);
}

/* Cut, changed, changed with a correct checksum, or for another model. */
static void unpack_broken(fuzz *f, const unsigned char *packed, uint64_t size, uint64_t model) {
    gpuopt_elimination_packed_info p;
    gpuopt_status status;
    uint64_t kept = take(f) % 4 ? size : size * take(f) / 256, k;
    unsigned char *bytes = (unsigned char *)malloc(kept + 1), *begin = bytes + 1;
    int sealed, whole;
    for (k = 0; k < kept; k++) begin[k] = packed[k];
    for (k = take(f) % 4; k > 0 && kept > 0; k--) {
        unsigned at = take(f) + (take(f) % 2 ? 256 * take(f) : 0);
        begin[at % kept] ^= (unsigned char)take(f);
    }
    sealed = take(f) % 2 && kept >= HEAD;
    if (sealed) seal(begin, kept);
    whole = kept == size && memcmp(begin, packed, size) == 0;
    gpuopt_desc_init(&p, sizeof p);
    status = gpuopt_elimination_message_inspect(f->context, GPUOPT_HOST, begin, kept, &p);
    REQUIRE(!whole || (status == GPUOPT_OK && p.model == model));
    if (status) {
        REQUIRE(status == GPUOPT_ERROR_ARGUMENT);
        REQUIRE(gpuopt_elimination_message_unpack(f->context, model, begin, kept, NULL, NULL, NULL, NULL, NULL) ==
                status);
    } else {
        int32_t *scope = (int32_t *)malloc(sizeof *scope * (size_t)p.arity + 1);
        int32_t *domain = (int32_t *)malloc(sizeof *domain * (size_t)p.arity + 1);
        int64_t *cost = (int64_t *)malloc(sizeof *cost * (size_t)p.entries);
        double *value = (double *)malloc(sizeof *value * (size_t)p.entries);
        uint64_t *count = (uint64_t *)malloc(sizeof *count * (size_t)p.entries);
        uint64_t *counts = p.semiring == GPUOPT_SEMIRING_MIN_COUNT ? count : NULL;
        REQUIRE(whole || sealed);
        REQUIRE(kept >= HEAD && (uint64_t)p.entries <= kept);
        REQUIRE(gpuopt_elimination_message_unpack(f->context, p.model ^ (1 + take(f)), begin, kept, scope, domain, cost,
                                                  value, counts) == GPUOPT_ERROR_ARGUMENT);
        REQUIRE(gpuopt_elimination_message_unpack(f->context, p.model, begin, kept, scope, domain, cost, value,
                                                  counts) == GPUOPT_OK);
        free(scope), free(domain), free(cost), free(value), free(count);
    }
    free(bytes);
}

/* A message survives packing and unpacking. */
static void check_message(fuzz *f, const gpuopt_elimination_message_info *info, int32_t message, int32_t copy) {
    size_t entries = (size_t)info->entries, bytes = sizeof(int64_t) * entries;
    int counts = f->m.semiring == GPUOPT_SEMIRING_MIN_COUNT, doubles = f->m.type == GPUOPT_COST_DOUBLE;
    int32_t scope[VARIABLES], domain[VARIABLES], k;
    uint64_t size = 0, *count[2];
    int64_t *cost[2];
    double *value[2];
    unsigned char *packed;
    gpuopt_status allowed = info->ready ? GPUOPT_OK : GPUOPT_ERROR_STATE;
    for (k = 0; k < 2; k++) {
        cost[k] = (int64_t *)malloc(bytes);
        value[k] = (double *)malloc(bytes);
        count[k] = (uint64_t *)malloc(bytes);
    }
    REQUIRE(gpuopt_elimination_message_get(f->e, GPUOPT_HOST, message, copy, cost[0], value[0],
                                           counts ? count[0] : NULL) == allowed);
    REQUIRE(gpuopt_elimination_message_pack(f->e, GPUOPT_HOST, message, copy, NULL, 0, &size) == GPUOPT_OK);
    packed = (unsigned char *)malloc((size_t)size);
    REQUIRE(gpuopt_elimination_message_pack(f->e, GPUOPT_HOST, message, copy, packed, size - 1, NULL) ==
            GPUOPT_ERROR_ARGUMENT);
    REQUIRE(gpuopt_elimination_message_pack(f->e, GPUOPT_HOST, message, copy, packed, size, &size) == allowed);
    if (info->ready) {
        REQUIRE(gpuopt_elimination_message_unpack(f->context, info->model, packed, size, scope, domain, cost[1],
                                                  value[1], counts ? count[1] : NULL) == GPUOPT_OK);
        REQUIRE(memcmp(doubles ? (void *)value[0] : (void *)cost[0], doubles ? (void *)value[1] : (void *)cost[1],
                       bytes) == 0);
        REQUIRE(!counts || memcmp(count[0], count[1], bytes) == 0);
        for (k = 0; k < info->arity; k++) REQUIRE(scope[k] == info->scope[k] && domain[k] == f->m.domain[scope[k]]);
        unpack_broken(f, packed, size, info->model);
    }
    free(packed);
    for (k = 0; k < 2; k++) free(cost[k]), free(value[k]), free(count[k]);
}

void check_messages(fuzz *f) {
    gpuopt_elimination_message_info info;
    int32_t message, k;
    for (message = 0; message < f->estimate.messages + 1; message++) {
        int64_t entries = 1;
        gpuopt_desc_init(&info, sizeof info);
        if (gpuopt_elimination_message_get_info(f->e, message, &info)) break;
        REQUIRE(info.variable >= -1 && info.variable < f->m.variables && info.parent >= -1);
        for (k = 0; k < info.arity; k++) {
            REQUIRE(info.scope[k] >= 0 && info.scope[k] < f->m.variables && info.scope[k] != info.variable);
            entries *= f->m.domain[info.scope[k]];
        }
        REQUIRE(entries == info.entries && info.parent < f->m.variables);
        check_message(f, &info, message, (int32_t)take(f) % copies_of(f));
    }
    REQUIRE(message == f->estimate.messages);
}
