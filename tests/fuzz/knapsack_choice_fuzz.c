/* SPDX-License-Identifier: MIT
 *
 * A libFuzzer target for multiple-choice knapsacks: the input's bytes become a small model with numbers of all sizes,
 * and calls in any order. Bounds and answers are compared with a dynamic program over all sums of the classes, in which
 * nothing is left out.
 *
 * Longest input: 512
 */
#include "gpuopt/knapsack_variants.h"
#include "tests/fuzz/fuzz.h"

enum { CLASSES = 6, ITEMS = 3, SUMS = 4096 /* (ITEMS + 1) ^ CLASSES */, OPERATIONS = 16 };

typedef __int128 wide;

typedef struct fuzz {
    fuzz_bytes bytes;
    fuzz_host host;
    gpuopt_context *context;
    int64_t begin[CLASSES + 1], weight[CLASSES * ITEMS], profit[CLASSES * ITEMS];
    gpuopt_knapsack_multiple_choice_desc desc;
    gpuopt_knapsack_multiple_choice *handle;
    gpuopt_knapsack_multiple_choice_info was;
    wide optimum;
    int solvable;
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

static void solve(fuzz *f) {
    static wide weight[2][SUMS], profit[2][SUMS];
    int32_t c, count = 1, k;
    int now = 0;
    weight[0][0] = profit[0][0] = 0;
    for (c = 0; c < f->desc.classes; c++, now = !now) {
        int32_t made = 0;
        int64_t j;
        for (j = f->begin[c] - (f->desc.at_most_one != 0); j < f->begin[c + 1]; j++)
            for (k = 0; k < count; k++, made++) {
                weight[!now][made] = weight[now][k] + (j < f->begin[c] ? 0 : f->weight[j]);
                profit[!now][made] = profit[now][k] + (j < f->begin[c] ? 0 : f->profit[j]);
            }
        count = made;
    }
    for (k = 0; k < count; k++) {
        if (weight[now][k] > f->desc.capacity || (f->solvable && profit[now][k] <= f->optimum)) continue;
        f->optimum = profit[now][k];
        f->solvable = 1;
    }
}

static void make_model(fuzz *f) {
    const wide most = (wide)1 << 60;
    gpuopt_knapsack_multiple_choice_desc *d = &f->desc;
    wide weights = 0, profits = 0;
    int64_t j;
    int32_t c;
    gpuopt_desc_init(d, sizeof *d);
    d->classes = (int32_t)(take(f) % (CLASSES + 1));
    d->at_most_one = take(f) % 2 ? 1 : 0;
    d->states = take(f) % 4 ? 1 + take(f) : SUMS;
    d->state_limit = take(f) < 16 ? 1 + take(f) : 0;
    d->begin = f->begin;
    d->weight = f->weight;
    d->profit = f->profit;
    for (c = 0; c < d->classes; c++)
        for (j = f->begin[c + 1] = f->begin[c] + take(f) % (ITEMS + 1); j > f->begin[c]; j--) {
            f->weight[j - 1] = take_number(f);
            f->profit[j - 1] = take(f) % 2 ? take_number(f) : -take_number(f);
        }
    d->capacity = take_number(f);
    for (c = 0; c < d->classes; c++) {
        int64_t heaviest = 0, size = 0;
        for (j = f->begin[c]; j < f->begin[c + 1]; j++) {
            const int64_t p = f->profit[j] < 0 ? -f->profit[j] : f->profit[j];
            if (f->weight[j] > d->capacity) continue;
            if (f->weight[j] > heaviest) heaviest = f->weight[j];
            if (p > size) size = p;
        }
        weights += heaviest;
        profits += size;
    }
    f->fine = weights <= most && profits <= most;
    solve(f);
}

/* Whether these are items of their classes that fit together; *profit: their profit. */
static int fits(const fuzz *f, const int32_t *chosen, wide *profit) {
    wide weight = 0;
    int32_t c;
    *profit = 0;
    for (c = 0; c < f->desc.classes; c++) {
        if (chosen[c] == -1 && f->desc.at_most_one) continue;
        if (chosen[c] < f->begin[c] || chosen[c] >= f->begin[c + 1]) return 0;
        weight += f->weight[chosen[c]];
        *profit += f->profit[chosen[c]];
    }
    return weight <= f->desc.capacity;
}

static void check(fuzz *f) {
    gpuopt_knapsack_multiple_choice_info i;
    int32_t chosen[CLASSES];
    int64_t profit;
    wide sum;
    gpuopt_desc_init(&i, sizeof i);
    REQUIRE(gpuopt_knapsack_multiple_choice_get_info(f->handle, &i) == GPUOPT_OK);
    REQUIRE((i.outcome == GPUOPT_INFEASIBLE) == !f->solvable);
    if (!f->solvable) {
        REQUIRE(gpuopt_knapsack_multiple_choice_get_items(f->handle, GPUOPT_HOST, chosen, &profit) ==
                GPUOPT_ERROR_STATE);
        return;
    }
    REQUIRE(i.primal_bound <= f->optimum && f->optimum <= i.dual_bound);
    REQUIRE(i.outcome != GPUOPT_OPTIMAL || i.primal_bound == i.dual_bound);
    REQUIRE(i.outcome != GPUOPT_LIMIT || i.expanded >= f->desc.state_limit);
    REQUIRE(i.primal_bound >= f->was.primal_bound || f->was.struct_size == 0);
    REQUIRE(i.expanded >= f->was.expanded && i.steps >= f->was.steps && i.level <= i.levels);
    REQUIRE(i.alive <= i.peak && i.peak <= i.states && i.states == f->desc.states);
    f->was = i;
    REQUIRE(gpuopt_knapsack_multiple_choice_get_items(f->handle, GPUOPT_HOST, chosen, &profit) == GPUOPT_OK);
    REQUIRE(fits(f, chosen, &sum) && sum == profit && profit == i.primal_bound);
}

static void set_incumbent(fuzz *f) {
    int32_t chosen[CLASSES], c;
    wide profit;
    for (c = 0; c < f->desc.classes; c++) chosen[c] = (int32_t)(f->begin[c] + take(f) % (ITEMS + 1)) - 1;
    REQUIRE(gpuopt_knapsack_multiple_choice_set_incumbent(f->handle, GPUOPT_HOST, chosen) ==
            (fits(f, chosen, &profit) ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT));
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
    status = gpuopt_knapsack_multiple_choice_create(f.context, &f.desc, NULL, &f.handle);
    REQUIRE(status == (f.fine ? GPUOPT_OK : GPUOPT_ERROR_NUMERIC));
    for (operation = 0; operation < OPERATIONS && f.handle; operation++) {
        check(&f);
        if (take(&f) % 4 == 0) set_incumbent(&f);
        else
            REQUIRE(gpuopt_knapsack_multiple_choice_run(f.handle, take(&f), (int32_t)(take(&f) % 3), NULL) ==
                    GPUOPT_OK);
    }
    if (f.handle) {
        REQUIRE(gpuopt_knapsack_multiple_choice_run(f.handle, 0, 0, NULL) == GPUOPT_OK);
        check(&f);
        REQUIRE(!f.solvable || f.was.outcome == GPUOPT_OPTIMAL || f.desc.state_limit > 0 || f.desc.states < SUMS);
    }
    gpuopt_knapsack_multiple_choice_destroy(f.handle);
    fuzz_context_end(f.context, &f.host);
    return 0;
}
