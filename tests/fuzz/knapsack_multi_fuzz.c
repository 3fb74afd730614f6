/* SPDX-License-Identifier: MIT
 *
 * A libFuzzer target for multidimensional knapsacks: the input's bytes become a small model with numbers of all sizes,
 * and calls in any order. Bounds and answers are compared with an enumeration of all subsets.
 *
 * Longest input: 512
 */
#include "gpuopt/knapsack_variants.h"
#include "tests/fuzz/fuzz.h"

enum { MOST = 11, ROWS = 5, OPERATIONS = 16 };

typedef __int128 wide;

typedef struct fuzz {
    fuzz_bytes bytes;
    fuzz_host host;
    gpuopt_context *context;
    int64_t weight[ROWS * MOST], profit[MOST], capacity[ROWS];
    gpuopt_knapsack_multidimensional_desc desc;
    gpuopt_knapsack_multidimensional *handle;
    gpuopt_knapsack_multidimensional_info was;
    wide optimum;
    int fine; /* the sums are in range */
} fuzz;

static unsigned take(fuzz *f) { return fuzz_take(&f->bytes); }

static int64_t take_number(fuzz *f) {
    const unsigned tag = take(f);
    if (tag < 160) return tag % 16;
    if (tag < 220) return (int64_t)take(f) * 256 + take(f);
    if (tag < 240) return ((int64_t)1 << (40 + tag % 20)) - take(f) % 4;
    return INT64_MAX >> (tag % 16 * 4);
}

static wide weight_of(const fuzz *f, int32_t row, unsigned set) {
    wide sum = 0;
    int32_t j;
    for (j = 0; j < f->desc.items; j++)
        if (set >> j & 1) sum += f->weight[row * f->desc.items + j];
    return sum;
}

static wide profit_of(const fuzz *f, unsigned set) {
    wide sum = 0;
    int32_t j;
    for (j = 0; j < f->desc.items; j++)
        if (set >> j & 1) sum += f->profit[j];
    return sum;
}

static int fits(const fuzz *f, unsigned set) {
    int32_t i;
    for (i = 0; i < f->desc.rows; i++)
        if (weight_of(f, i, set) > f->capacity[i]) return 0;
    return 1;
}

static void make_model(fuzz *f) {
    const wide most = (wide)1 << 58;
    gpuopt_knapsack_multidimensional_desc *d = &f->desc;
    unsigned set, use = 0;
    int32_t i, j;
    gpuopt_desc_init(d, sizeof *d);
    d->items = (int32_t)(take(f) % (MOST + 1));
    d->rows = (int32_t)(take(f) % (ROWS + 1));
    d->workers = 1 << take(f) % 6;
    d->node_limit = take(f) < 16 ? 1 + take(f) : 0;
    d->weight = f->weight;
    d->profit = f->profit;
    d->capacity = f->capacity;
    for (j = 0; j < d->rows * d->items; j++) f->weight[j] = take_number(f);
    for (j = 0; j < d->items; j++) f->profit[j] = take_number(f);
    for (i = 0; i < d->rows; i++) {
        const wide half = weight_of(f, i, (1u << d->items) - 1) / 2;
        f->capacity[i] = take(f) % 2 ? take_number(f) : half > INT64_MAX ? INT64_MAX : (int64_t)half;
    }
    for (j = 0; j < d->items; j++)
        if (f->profit[j] > 0 && fits(f, 1u << j)) use |= 1u << j;
    f->fine = profit_of(f, use) <= most;
    for (i = 0; i < d->rows; i++) f->fine &= weight_of(f, i, use) <= most;
    for (set = 0; set < 1u << d->items; set++)
        if (profit_of(f, set) > f->optimum && fits(f, set)) f->optimum = profit_of(f, set);
}

static void check(fuzz *f) {
    gpuopt_knapsack_multidimensional_info i;
    int64_t taken[MOST], profit;
    unsigned set = 0;
    int32_t j;
    gpuopt_desc_init(&i, sizeof i);
    REQUIRE(gpuopt_knapsack_multidimensional_get_info(f->handle, &i) == GPUOPT_OK);
    REQUIRE(i.primal_bound <= f->optimum && f->optimum <= i.dual_bound);
    REQUIRE(i.primal_bound >= f->was.primal_bound && i.nodes >= f->was.nodes && i.rounds >= f->was.rounds);
    REQUIRE(i.busy <= f->desc.workers && (i.busy == 0) == (i.outcome == GPUOPT_OPTIMAL));
    REQUIRE(i.outcome != GPUOPT_OPTIMAL || i.primal_bound == i.dual_bound);
    REQUIRE(i.outcome != GPUOPT_LIMIT || i.nodes >= f->desc.node_limit);
    f->was = i;
    REQUIRE(gpuopt_knapsack_multidimensional_get_items(f->handle, GPUOPT_HOST, taken, &profit) == GPUOPT_OK);
    for (j = 0; j < f->desc.items; j++)
        if (taken[j]) set |= 1u << j;
    REQUIRE(fits(f, set) && profit_of(f, set) == profit && profit == i.primal_bound);
}

static void set_incumbent(fuzz *f) {
    const unsigned set = take(f) << 8 | take(f);
    int64_t taken[MOST];
    int32_t j;
    for (j = 0; j < f->desc.items; j++) taken[j] = set >> j & 1;
    REQUIRE(gpuopt_knapsack_multidimensional_set_incumbent(f->handle, GPUOPT_HOST, taken) ==
            (fits(f, set) ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f;
    int operation;
    gpuopt_status status;
    memset(&f, 0, sizeof f);
    f.bytes.data = data;
    f.bytes.size = size;
    make_model(&f);
    f.context = fuzz_context(&f.host);
    status = gpuopt_knapsack_multidimensional_create(f.context, &f.desc, NULL, &f.handle);
    REQUIRE(status == (f.fine ? GPUOPT_OK : GPUOPT_ERROR_NUMERIC));
    for (operation = 0; operation < OPERATIONS && f.handle; operation++) {
        check(&f);
        if (take(&f) % 4 == 0) set_incumbent(&f);
        else
            REQUIRE(gpuopt_knapsack_multidimensional_run(f.handle, take(&f), (int32_t)(take(&f) % 3), NULL) ==
                    GPUOPT_OK);
    }
    if (f.handle) {
        REQUIRE(gpuopt_knapsack_multidimensional_run(f.handle, 0, 0, NULL) == GPUOPT_OK);
        check(&f);
        REQUIRE(f.was.outcome == GPUOPT_OPTIMAL || f.desc.node_limit > 0);
    }
    gpuopt_knapsack_multidimensional_destroy(f.handle);
    fuzz_context_end(f.context, &f.host);
    return 0;
}
