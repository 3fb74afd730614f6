/* SPDX-License-Identifier: MIT
 *
 * A libFuzzer target for the calls on knapsacks. The input's bytes become a small model with numbers of all sizes, or a
 * larger model of small numbers. They also give a descriptor, and calls in any order on two handles that share the
 * nodes. Answers are compared with an enumeration of all subsets, or with a dynamic programme. Packed nodes always
 * unpack. Packed nodes are damaged, some of them with a corrected checksum; they must be refused, or give a search that
 * ends.
 *
 * Longest input: 512
 */
#include "gpuopt/batch.h"
#include "tests/fuzz/fuzz.h"

enum { FEW = 12, MOST = 26, SMALL = 64, OPERATIONS = 24, HEAD = 80, CHECKSUM = HEAD - 8 };

typedef __int128 wide;

typedef struct fuzz {
    fuzz_bytes bytes;
    fuzz_host host;
    gpuopt_context *context;
    int32_t items;
    int64_t weight[MOST], profit[MOST];
    gpuopt_knapsack_desc desc;
    wide optimum;
    int64_t claim;               /* the largest so far */
    gpuopt_knapsack *handle[2];  /* the second one starts without nodes */
    gpuopt_knapsack_info was[2]; /* the latest info of each */
} fuzz;

static unsigned take(fuzz *f) { return fuzz_take(&f->bytes); }

/* ---- The model ---- */

static int64_t take_number(fuzz *f) {
    static const int64_t table[] = {100,
                                    255,
                                    65535,
                                    46341,
                                    INT32_MAX,
                                    (int64_t)INT32_MAX + 1,
                                    3037000500,
                                    UINT32_MAX,
                                    (int64_t)1 << 53,
                                    ((int64_t)1 << 53) + 1,
                                    (int64_t)1 << 61,
                                    ((int64_t)1 << 62) - 1,
                                    (int64_t)1 << 62,
                                    INT64_MAX / 3,
                                    INT64_MAX - 1,
                                    INT64_MAX};
    unsigned tag = take(f);
    if (tag < 160) return tag % 16;
    if (tag < 200) return (int64_t)take(f) * 256 + take(f);
    if (tag < 240) return table[tag % 16] - (tag < 220 ? (int64_t)(take(f) % 16) : 0);
    return INT64_MAX >> (tag % 16 * 4);
}

/* best[c]: the most profit with weight at most c. */
static int64_t optimum_by_weight(const fuzz *f) {
    int64_t best[MOST * SMALL] = {0}, c;
    int32_t j;
    for (j = 0; j < f->items; j++)
        for (c = f->desc.capacity; c >= f->weight[j]; c--)
            if (best[c - f->weight[j]] + f->profit[j] > best[c]) best[c] = best[c - f->weight[j]] + f->profit[j];
    return best[f->desc.capacity];
}

static void make_model(fuzz *f) {
    gpuopt_knapsack_desc *d = &f->desc;
    unsigned kind, set;
    int32_t j;
    unsigned large = fuzz_take(&f->bytes) % 2;
    f->items = (int32_t)take(f) % ((large ? MOST : FEW) + 1);
    for (j = 0; j < f->items; j++) {
        f->weight[j] = large ? (int64_t)(take(f) % SMALL) : take_number(f);
        kind = take(f);
        if (large) {
            f->profit[j] = kind < 128 ? f->weight[j] + 10 * (kind < 64) : kind % SMALL;
            continue;
        }
        f->profit[j] = kind < 64                           ? f->weight[j]
                       : kind < 128 && f->weight[j] < 1000 ? f->weight[j] + 10
                                                           : take_number(f);
    }
    gpuopt_desc_init(d, sizeof *d);
    d->items = f->items;
    d->weight = f->weight;
    d->profit = f->profit;
    d->capacity = take_number(f);
    if (take(f) % 2) { /* half of all weights */
        wide sum = 0;
        for (j = 0; j < f->items; j++) sum += f->weight[j];
        d->capacity = sum / 2 > INT64_MAX ? INT64_MAX : (int64_t)(sum / 2);
    }
    d->search = (gpuopt_knapsack_search)(take(f) % 3);
    d->on_pool_full = (gpuopt_knapsack_on_pool_full)(take(f) % 2);
    d->pool = 1 + take(f);
    d->node_limit = take(f) < 16 ? 1 + take(f) : 0;
    d->reduction = (gpuopt_switch)(take(f) % 3);
    d->hybrid_threshold = (int32_t)(take(f) % 64);
    if (large) {
        d->capacity %= MOST * SMALL;
        f->optimum = optimum_by_weight(f);
        return;
    }
    for (set = 0; set < 1u << f->items; set++) {
        wide w = 0, p = 0;
        for (j = 0; j < f->items; j++)
            if (set >> j & 1) w += f->weight[j], p += f->profit[j];
        if (w <= d->capacity && p > f->optimum) f->optimum = p;
    }
}

/* Dantzig's bound, rounded down: items by decreasing profit per weight, then a fraction of the break item. */
static wide root_bound(const fuzz *f) {
    int used[MOST] = {0};
    wide bound = 0, residual = f->desc.capacity;
    int32_t j, best;
    for (;;) {
        for (best = -1, j = 0; j < f->items; j++)
            if (!used[j] && f->weight[j] <= f->desc.capacity &&
                (best < 0 || (wide)f->profit[j] * f->weight[best] > (wide)f->profit[best] * f->weight[j] ||
                 (f->weight[j] == 0 && f->profit[j] > 0)))
                best = j;
        if (best < 0) return bound;
        used[best] = 1;
        if (f->weight[best] > residual) return bound + residual * f->profit[best] / f->weight[best];
        residual -= f->weight[best];
        bound += f->profit[best];
    }
}

/* ---- What must hold ---- */

static gpuopt_knapsack_info check_info(fuzz *f, int h) {
    const gpuopt_knapsack_info *was = &f->was[h];
    gpuopt_knapsack_info i;
    gpuopt_desc_init(&i, sizeof i);
    REQUIRE(gpuopt_knapsack_get_info(f->handle[h], &i) == GPUOPT_OK);
    REQUIRE(i.primal_bound >= 0 && i.primal_bound <= f->optimum && i.dual_bound >= i.primal_bound);
    REQUIRE(i.primal_bound >= was->primal_bound && i.expanded >= was->expanded && i.pruned >= was->pruned &&
            i.steps >= was->steps);
    REQUIRE(i.dominated >= was->dominated && i.slices >= was->slices && i.slices <= i.steps && i.peak >= was->peak);
    REQUIRE(i.alive >= 0 && i.alive <= i.pool && i.peak <= i.pool && (i.alive == 0) == (i.level == -1));
    REQUIRE(i.level <= i.free_items && i.free_items <= f->items && i.pool >= 2 * f->items + 8);
    REQUIRE(i.dominated == 0 || f->desc.search == GPUOPT_SEARCH_DOMINANCE);
    REQUIRE(i.slices == 0 || f->desc.on_pool_full == GPUOPT_ON_POOL_FULL_DEPTH_FIRST);
    if (i.alive == 0) {
        REQUIRE(i.outcome == GPUOPT_OPTIMAL || i.outcome == GPUOPT_INFEASIBLE);
        REQUIRE((i.outcome == GPUOPT_OPTIMAL) == (i.primal_bound == i.dual_bound && i.primal_bound >= 0) ||
                i.outcome == GPUOPT_INFEASIBLE);
        REQUIRE(i.outcome == GPUOPT_OPTIMAL || i.primal_bound < f->claim);
    } else {
        REQUIRE(i.outcome == GPUOPT_MORE || i.outcome == GPUOPT_LIMIT || i.outcome == GPUOPT_FULL);
        REQUIRE(i.outcome != GPUOPT_FULL || f->desc.on_pool_full == GPUOPT_ON_POOL_FULL_STOP);
        REQUIRE((i.outcome == GPUOPT_LIMIT) == (f->desc.node_limit > 0 && i.expanded >= f->desc.node_limit));
    }
    f->was[h] = i;
    /* One of the two handles has the nodes that lead to the optimum. */
    if (f->claim <= f->optimum) REQUIRE(f->was[0].dual_bound >= f->optimum || f->was[1].dual_bound >= f->optimum);
    return i;
}

static void check_items(fuzz *f, int h) {
    int64_t taken[MOST + 1], profit = -1, weight = -1;
    wide p = 0, w = 0;
    int32_t j;
    for (j = 0; j <= MOST; j++) taken[j] = 9;
    REQUIRE(gpuopt_knapsack_get_items(f->handle[h], GPUOPT_HOST, taken, &profit, &weight) == GPUOPT_OK);
    for (j = 0; j < f->items; j++) {
        REQUIRE(taken[j] == 0 || taken[j] == 1);
        if (taken[j]) p += f->profit[j], w += f->weight[j];
    }
    REQUIRE(taken[f->items] == 9);
    REQUIRE(p == profit && w == weight && w <= f->desc.capacity && profit >= f->was[h].primal_bound);
    REQUIRE(check_info(f, h).primal_bound == profit);
}

/* ---- Calls ---- */

static void expand(fuzz *f, int h, int64_t nodes, int32_t levels) {
    int64_t expanded = f->was[h].expanded, steps = f->was[h].steps, lower = f->was[h].primal_bound;
    gpuopt_knapsack_info i, reported;
    gpuopt_desc_init(&reported, sizeof reported);
    REQUIRE(gpuopt_knapsack_expand(f->handle[h], nodes, levels, &reported) == GPUOPT_OK);
    i = check_info(f, h);
    REQUIRE(memcmp(&reported, &i, sizeof i) == 0 && i.primal_bound >= lower);
    REQUIRE(levels == 0 || i.steps <= steps + levels);
    REQUIRE(i.outcome != GPUOPT_MORE || (nodes > 0 && i.expanded >= expanded + nodes) ||
            (levels > 0 && i.steps == steps + levels));
}

static void set_incumbent(fuzz *f, int h) {
    int64_t taken[MOST + 1], profit;
    unsigned set = take(f) + 256 * take(f), kind = take(f);
    wide p = 0, w = 0;
    int good;
    int32_t j;
    for (j = 0; j < f->items; j++) {
        taken[j] = set >> j % 16 & 1;
        if (taken[j]) p += f->profit[j], w += f->weight[j];
    }
    profit = kind < 32 || p > INT64_MAX ? take_number(f) : (int64_t)p;
    good = w <= f->desc.capacity && p == profit;
    if (kind >= 248 && f->items > 0) { /* not an item's number of copies */
        taken[set % (unsigned)f->items] = kind & 1 ? 2 : -1;
        good = 0;
    }
    REQUIRE(gpuopt_knapsack_set_incumbent(f->handle[h], GPUOPT_HOST, profit, taken) ==
            (good ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT));
    REQUIRE(check_info(f, h).primal_bound >= (good ? profit : 0));
}

static void set_claim(fuzz *f, int h) {
    unsigned kind = take(f);
    int64_t claim = kind < 32 ? take_number(f) : (int64_t)f->optimum - (int64_t)(kind % 4);
    if (kind >= 240 && f->optimum < INT64_MAX) claim = (int64_t)f->optimum + 1;
    REQUIRE(gpuopt_knapsack_set_incumbent(f->handle[h], GPUOPT_HOST, claim, NULL) ==
            (claim < 0 ? GPUOPT_ERROR_ARGUMENT : GPUOPT_OK));
    if (claim > f->claim) f->claim = claim;
    check_info(f, h);
}

/* ---- Nodes ---- */

/* The caller frees the bytes. */
static unsigned char *pack(gpuopt_knapsack *handle, int64_t nodes, int remove, uint64_t *size) {
    uint64_t again;
    unsigned char *bytes;
    REQUIRE(gpuopt_knapsack_pack(handle, nodes, remove, NULL, 0, size) == GPUOPT_OK && *size >= HEAD);
    bytes = (unsigned char *)malloc(*size);
    REQUIRE(gpuopt_knapsack_pack(handle, nodes, remove, bytes, *size - 1, NULL) == GPUOPT_ERROR_ARGUMENT);
    REQUIRE(gpuopt_knapsack_pack(handle, nodes, remove, bytes, *size, &again) == GPUOPT_OK && again == *size);
    return bytes;
}

/* Some nodes go to the other handle, unless it has only the root, which it would lose. */
static void share(fuzz *f, int h) {
    int64_t alive = f->was[h].alive, held = f->was[!h].alive, nodes = (int64_t)(take(f) % 32) - 1, moved;
    uint64_t size;
    unsigned char *bytes;
    gpuopt_status status;
    if (held == 1) return;
    bytes = pack(f->handle[h], nodes, 0, &size);
    status = gpuopt_knapsack_unpack(f->handle[!h], bytes, size, 0);
    free(bytes);
    moved = nodes < 0 || nodes > alive ? alive : nodes;
    if (held > 1) REQUIRE(status == GPUOPT_ERROR_STATE);
    else REQUIRE(status == GPUOPT_OK);
    if (!status) free(pack(f->handle[h], nodes, 1, &size));
    f->was[0].dual_bound = f->was[1].dual_bound = INT64_MAX; /* the optimum may be below the nodes of either now */
    REQUIRE(check_info(f, !h).alive == (status ? held : moved));
    REQUIRE(check_info(f, h).alive == (status ? alive : alive - moved));
}

static uint64_t checksum(unsigned char *bytes, uint64_t size) {
    uint64_t hash = 0xCBF29CE484222325u, k;
    memset(bytes + CHECKSUM, 0, 8);
    for (k = 0; k < size; k++) hash = (hash ^ bytes[k]) * 0x100000001B3u;
    return hash;
}

/* Unpacks into a new handle: bytes that are whole, damaged, or damaged with a corrected checksum. */
static void unpack_copy(fuzz *f, int h) {
    gpuopt_knapsack *copy;
    gpuopt_knapsack_info info;
    gpuopt_status status;
    uint64_t size, hash, kept, k;
    unsigned char *bytes = pack(f->handle[h], (int64_t)(take(f) % 64) - 1, 0, &size);
    unsigned char *broken = (unsigned char *)malloc(size + 1);
    unsigned kind = take(f) % 4, changes;
    memcpy(broken, bytes, size);
    hash = checksum(broken, size);
    for (k = 0; k < 8; k++) REQUIRE(bytes[CHECKSUM + k] == (unsigned char)(hash >> 8 * k));
    memcpy(broken, bytes, size);
    kept = kind == 1 ? size * take(f) / 256 : size;
    for (changes = kind >= 2 ? 1 + take(f) % 4 : 0; changes > 0; changes--) {
        unsigned at = take(f) + 256 * take(f);
        broken[at % size] = (unsigned char)take(f);
    }
    hash = checksum(broken, size);
    for (k = 0; k < 8; k++) broken[CHECKSUM + k] = kind == 3 ? (unsigned char)(hash >> 8 * k) : bytes[CHECKSUM + k];
    REQUIRE(gpuopt_knapsack_create(f->context, &f->desc, NULL, &copy) == GPUOPT_OK);
    status = gpuopt_knapsack_unpack(copy, broken, kept, 0);
    REQUIRE(status == GPUOPT_OK || status == GPUOPT_ERROR_ARGUMENT ||
            (kind == 3 && status == GPUOPT_ERROR_UNSUPPORTED));
    REQUIRE(kind == 3 || (status == GPUOPT_ERROR_ARGUMENT) == (kept < size || memcmp(bytes, broken, size) != 0));
    gpuopt_desc_init(&info, sizeof info);
    REQUIRE(gpuopt_knapsack_expand(copy, 20000, 0, &info) == GPUOPT_OK);
    REQUIRE(info.outcome != GPUOPT_MORE || info.expanded >= 20000);
    if (kind != 3) REQUIRE(info.primal_bound <= f->optimum);
    REQUIRE(gpuopt_knapsack_get_items(copy, GPUOPT_HOST, NULL, NULL, NULL) == GPUOPT_OK);
    gpuopt_knapsack_destroy(copy);
    free(broken);
    free(bytes);
}

/* ---- All calls ---- */

static int create(fuzz *f) {
    gpuopt_memory_plan plan;
    uint64_t before = f->host.live, size;
    gpuopt_status status;
    int h;
    gpuopt_desc_init(&plan, sizeof plan);
    REQUIRE(gpuopt_knapsack_create(f->context, &f->desc, &plan, NULL) == GPUOPT_OK && f->host.live == before);
    if (fuzz_rarely(&f->bytes)) {
        f->host.failing = 1 + take(f) % 3;
        status = gpuopt_knapsack_create(f->context, &f->desc, NULL, &f->handle[0]);
        REQUIRE(status == GPUOPT_ERROR_MEMORY ? f->host.failing <= 0 : f->host.failing > 0);
        gpuopt_knapsack_destroy(f->handle[0]);
        REQUIRE(f->host.live == before);
        f->host.failing = 0;
    }
    for (h = 0; h < 2; h++) {
        status = gpuopt_knapsack_create(f->context, &f->desc, NULL, &f->handle[h]);
        REQUIRE(status == GPUOPT_OK || status == GPUOPT_ERROR_NUMERIC);
        REQUIRE((status == GPUOPT_OK) == (f->handle[h] != NULL));
        REQUIRE(status == GPUOPT_OK ? f->optimum <= INT64_MAX : root_bound(f) > INT64_MAX && f->host.live == before);
        if (status) return 0;
        REQUIRE(f->host.live == before + (uint64_t)(h + 1) * plan.host_bytes);
    }
    free(pack(f->handle[1], -1, 1, &size));
    check_info(f, 0);
    return 1;
}

static void operate(fuzz *f) {
    int k, h;
    for (k = 0; k < OPERATIONS && f->bytes.size > 0; k++) {
        unsigned choice = take(f);
        h = choice & 1;
        switch (choice / 2 % 8) {
        case 0: set_incumbent(f, h); break;
        case 1: set_claim(f, h); break;
        case 2: check_items(f, h); break;
        case 3: share(f, h); break;
        case 4: unpack_copy(f, h); break;
        case 5: expand(f, h, 1 + take(f) % 64, 0); break;
        default: expand(f, h, 0, 1 + (int32_t)(take(f) % 4)); break;
        }
    }
    for (h = 0; h < 2; h++) {
        expand(f, h, 100000, 0); /* the least pools can make a search very long */
        check_items(f, h);
    }
    if (f->was[0].alive + f->was[1].alive > 0 || f->claim > f->optimum) return;
    REQUIRE(f->was[0].primal_bound == f->optimum || f->was[1].primal_bound == f->optimum);
}

/* The model as a batch of one: the optimum, or the same with a limit of a node, and then with two copies of each
 * item. */
static void solve_batch(fuzz *f) {
    gpuopt_knapsack_batch *batch;
    gpuopt_knapsack_batch_desc desc;
    gpuopt_knapsack_problems p;
    gpuopt_knapsack_report r;
    int32_t outcome, taken[MOST], upper[MOST], j;
    int64_t lower, most;
    wide sum = 0, weight = 0, profit = 0;
    gpuopt_status status;
    if (f->items == 0) return;
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&p, sizeof p);
    gpuopt_desc_init(&r, sizeof r);
    desc.items = f->items;
    desc.count = p.count = 1;
    p.weight = f->weight;
    p.profit = f->profit;
    p.capacity = &f->desc.capacity;
    r.outcome = &outcome;
    r.primal_bound = &lower;
    r.dual_bound = &most;
    r.copies = taken;
    for (j = 0; j < f->items; j++) {
        upper[j] = 2;
        if (f->weight[j] <= f->desc.capacity) sum += f->profit[j];
    }
    REQUIRE(gpuopt_knapsack_batch_create(f->context, &desc, NULL, &batch) == GPUOPT_OK);
    status = gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &p, &r);
    REQUIRE(status == (sum > INT64_MAX ? GPUOPT_ERROR_NUMERIC : GPUOPT_OK));
    if (!status) {
        REQUIRE(outcome == GPUOPT_OPTIMAL ? lower == f->optimum && most == lower
                                          : outcome == GPUOPT_LIMIT && lower <= f->optimum && f->optimum <= most);
        p.node_limit = 1;
        REQUIRE(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &p, &r) == GPUOPT_OK);
        REQUIRE(lower <= f->optimum && f->optimum <= most);
        p.node_limit = 1000;
        p.copies_max = upper;
        status = gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &p, &r);
        REQUIRE(status == GPUOPT_OK || (status == GPUOPT_ERROR_NUMERIC && 2 * sum > INT64_MAX));
        for (j = 0; j < f->items && !status; j++) {
            REQUIRE(taken[j] >= 0 && taken[j] <= 2);
            weight += (wide)taken[j] * f->weight[j];
            profit += (wide)taken[j] * f->profit[j];
        }
        if (!status) REQUIRE(weight <= f->desc.capacity && profit == lower && lower <= most && f->optimum <= most);
    }
    gpuopt_knapsack_batch_destroy(batch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f;
    int h;
    memset(&f, 0, sizeof f);
    f.bytes.data = data;
    f.bytes.size = size;
    make_model(&f);
    f.context = fuzz_context(&f.host);
    if (create(&f)) operate(&f);
    solve_batch(&f);
    for (h = 0; h < 2; h++) gpuopt_knapsack_destroy(f.handle[h]);
    fuzz_context_end(f.context, &f.host);
    return 0;
}
