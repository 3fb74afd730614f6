/* SPDX-License-Identifier: MIT
 *
 * Tables of single buckets, in which the kernel takes all of the time: variable 0 is eliminated, the others stay.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "gpuopt/inference.h"
#include "tests/bench/elimination_bench.h"
#ifdef TEST_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

enum { MOST_VARIABLES = 40, MOST_FUNCTIONS = 8, SPOTS = 512 };

typedef struct bucket {
    int32_t variables, functions;
    int32_t domain[MOST_VARIABLES];
    gpuopt_elimination_function function[MOST_FUNCTIONS];
    int32_t scope[MOST_FUNCTIONS][MOST_VARIABLES];
    int64_t entries[MOST_FUNCTIONS];
    int64_t message; /* entries */
    char name[NAME];
} bucket;

static const int32_t widths[] = {8, 16, 32};
/* For each width, a sum of all largest costs that needs it. */
static const int64_t largest_sum[] = {240, 60000, 100000000};

/* ---- Buckets ---- */

static uint64_t mixed(uint64_t z) { /* splitmix64 */
    z *= 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void begin(bucket *b, int32_t values) {
    memset(b, 0, sizeof *b);
    b->domain[0] = values;
    b->variables = 1;
    b->message = 1;
}

static void add_variable(bucket *b, int64_t values) {
    b->domain[b->variables++] = (int32_t)values;
    b->message *= values;
}

/* A function over variable 0 and the variables in a list that ends with -1. fill() makes its costs. */
static void add_function(bucket *b, const int32_t *others) {
    gpuopt_elimination_function *f = &b->function[b->functions];
    int32_t *scope = b->scope[b->functions];
    int64_t entries = b->domain[0];
    int32_t arity = 1;
    for (; *others >= 0; others++) {
        scope[arity++] = *others;
        entries *= b->domain[*others];
    }
    f->arity = arity;
    f->scope = scope;
    f->tuples = -1;
    b->entries[b->functions++] = entries;
}

/* A function over variable 0 and first .. last. */
static void add_range(bucket *b, int32_t first, int32_t last) {
    int32_t others[MOST_VARIABLES], k;
    for (k = first; k <= last; k++) others[k - first] = k;
    others[k - first] = -1;
    add_function(b, others);
}

/* Random costs, the same for any number of threads; the largest costs of all functions add up to at most `sum`. Returns
 * 0, or -1 if there is no memory. */
static int fill(bucket *b, int64_t sum) {
    uint64_t span = (uint64_t)(sum / b->functions) + 1;
    int32_t k;
    for (k = 0; k < b->functions; k++) {
        gpuopt_elimination_function *f = &b->function[k];
        int64_t *cost = f->cost ? (int64_t *)f->cost : malloc(sizeof *cost * (size_t)b->entries[k]);
        uint64_t from = (uint64_t)k << 48;
        int64_t i;
        f->cost = cost;
        if (!cost) return -1;
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
        for (i = 0; i < b->entries[k]; i++) cost[i] = (int64_t)((mixed(from + (uint64_t)i) >> 32) * span >> 32);
    }
    return 0;
}

static void end(bucket *b) {
    int32_t k;
    for (k = 0; k < b->functions; k++) free((void *)b->function[k].cost);
}

/* The entry of the message at value [variables], computed from the functions. */
static int64_t least_sum(const bucket *b, int32_t *value) {
    int64_t least = INT64_MAX;
    for (value[0] = 0; value[0] < b->domain[0]; value[0]++) {
        int64_t sum = 0;
        int32_t k, j;
        for (k = 0; k < b->functions; k++) {
            const gpuopt_elimination_function *f = &b->function[k];
            int64_t at = 0;
            for (j = 0; j < f->arity; j++) at = at * b->domain[f->scope[j]] + value[f->scope[j]];
            sum += f->cost[at];
        }
        if (sum < least) least = sum;
    }
    return least;
}

/* ---- Measuring ---- */

typedef struct figures {
    int32_t bits;
    double waited, each; /* seconds: one elimination with a wait; one of many with a wait after the last */
    const char *fault;   /* NULL: all entries checked are right */
} figures;

/* Reads entries `at` of message 0 from the backend's memory. */
static gpuopt_status read_entries(const machine *on, gpuopt_elimination *elimination,
                                  const gpuopt_elimination_message_info *info, const int64_t *at, int64_t *cost) {
    int64_t *table;
    gpuopt_status status;
    int k;
#ifdef TEST_WITH_CUDA
    if (on->cuda) {
        size_t bytes = (size_t)info->bits / 8;
        gpuopt_device_view view = GPUOPT_INIT(gpuopt_device_view);
        status = gpuopt_elimination_message_device_view(elimination, 0, 0, &view);
        for (k = 0; k < SPOTS && !status; k++) {
            uint64_t stored = 0; /* little-endian, as every CPU beside a GPU */
            if (cudaMemcpy(&stored, (const char *)view.data + (size_t)at[k] * bytes, bytes, cudaMemcpyDeviceToHost))
                return GPUOPT_ERROR_DEVICE;
            cost[k] = stored < info->forbidden ? info->offset + (int64_t)stored : INT64_MAX;
        }
        return status;
    }
#endif
    (void)on;
    table = malloc(sizeof *table * (size_t)info->entries);
    status =
        table ? gpuopt_elimination_message_get(elimination, GPUOPT_HOST, 0, 0, table, NULL, NULL) : GPUOPT_ERROR_MEMORY;
    for (k = 0; k < SPOTS && !status; k++) cost[k] = table[at[k]];
    free(table);
    return status;
}

/* Checks the first and the last entry of the message and random entries. */
static gpuopt_status check(const machine *on, gpuopt_elimination *elimination, const bucket *b, figures *f) {
    int64_t at[SPOTS], cost[SPOTS];
    int32_t value[MOST_VARIABLES] = {0};
    gpuopt_elimination_message_info info;
    gpuopt_status status;
    int k, j;
    gpuopt_desc_init(&info, sizeof info);
    status = gpuopt_elimination_message_get_info(elimination, 0, &info);
    if (status) return status;
    f->bits = info.bits;
    f->fault = "WRONG message";
    if (!info.ready || info.variable != 0 || info.entries != b->message || info.arity != b->variables - 1)
        return GPUOPT_OK;
    for (k = 0; k < SPOTS; k++)
        at[k] = k == 0 ? 0 : k == 1 ? b->message - 1 : (int64_t)(mixed((uint64_t)k) % (uint64_t)b->message);
    status = read_entries(on, elimination, &info, at, cost);
    for (k = 0; k < SPOTS && !status; k++) {
        int64_t rest = at[k];
        for (j = info.arity - 1; j >= 0; j--) {
            int32_t v = info.scope[j];
            value[v] = (int32_t)(rest % b->domain[v]);
            rest /= b->domain[v];
        }
        if (least_sum(b, value) == cost[k]) continue;
        f->fault = "WRONG entry";
        return GPUOPT_OK;
    }
    f->fault = NULL;
    return status;
}

/* Runs `count` eliminations from the start and waits for the last one. *seconds: of one. */
static gpuopt_status repeat(const machine *on, gpuopt_elimination *elimination, int count, double *seconds) {
    gpuopt_status status = GPUOPT_OK;
    double start = now();
    int k;
    for (k = 0; k < count && !status; k++) {
        status = gpuopt_elimination_set_evidence(elimination, GPUOPT_HOST, 0, NULL);
        if (!status) status = gpuopt_elimination_step(elimination, 1, NULL);
    }
    if (!status) status = gpuopt_context_wait(on->context);
    *seconds = (now() - start) / count;
    return status;
}

static gpuopt_status time_it(const machine *on, gpuopt_elimination *elimination, int64_t runs, figures *f) {
    double waited[MOST_REPEATS], each[MOST_REPEATS], once;
    gpuopt_status status = repeat(on, elimination, 1, &once);
    int done = 0, many;
    if (!status) status = repeat(on, elimination, 1, &once);
    many = !on->cuda || once > 0.02 ? 1 : once > 0.002 ? 10 : 20;
    do {
        if (!status) status = repeat(on, elimination, 1, &waited[done]);
        each[done] = waited[done];
        if (!status && many > 1) status = repeat(on, elimination, many, &each[done]);
    } while (++done < runs && !status && once * done < 5);
    if (status) return status;
    f->waited = median(waited, done);
    f->each = median(each, done);
    return status;
}

static int measure(const machine *on, const options *o, const bucket *b, figures *f) {
    static const int32_t order[] = {0};
    gpuopt_elimination *elimination = NULL;
    gpuopt_elimination_desc desc;
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    gpuopt_status status;
    const char *call = "create";
    gpuopt_desc_init(&desc, sizeof desc);
    memset(f, 0, sizeof *f);
    desc.variables = b->variables;
    desc.domain = b->domain;
    desc.functions = b->functions;
    desc.function = b->function;
    desc.order = order;
    desc.order_count = 1;
    desc.policy = GPUOPT_POLICY_EXACT;
    desc.memory = &memory;
    if (!on->cuda) memory.bytes = (uint64_t)o->memory << 30;
    status = gpuopt_elimination_create(on->context, &desc, NULL, &elimination);
    if (!status) status = time_it(on, elimination, o->repeat, f), call = "step";
    if (!status) status = check(on, elimination, b, f), call = "message";
    gpuopt_elimination_destroy(elimination);
    return status ? failed(on, b->name, call, status) : 0;
}

/* ---- Tables ---- */

/* The bytes that a kernel must move at least. */
static double least_bytes(const bucket *b, int32_t bits) {
    double entries = (double)b->message;
    int32_t k;
    for (k = 0; k < b->functions; k++) entries += (double)b->entries[k];
    return entries * bits / 8;
}

static const char *goal(double share, double least) { return share >= least ? "met" : "**missed**"; }

static void print_shares(const machine *on, const options *o, const bucket *b, const figures *f, int by_memory) {
    double rows = (double)b->message * b->domain[0], bytes = least_bytes(b, f->bits);
    double memory = bytes / f->each / COPY_SPEED, pairs = o->add_min > 0 ? rows / f->each / o->add_min : 0;
    printf("| %s | %d | %s | %d | %.4g | %.4g | %.1f | %.1f | %.3g |", on->name, (int)b->domain[0], b->name,
           (int)f->bits, rows, 1e-6 * bytes, 1e6 * f->waited, 1e6 * f->each, 1e-12 * rows / f->each);
    if (!on->cuda) printf(" | |");
    else if (pairs > 0) printf(" %.1f%% | %.1f%% |", 100 * memory, 100 * pairs);
    else printf(" %.1f%% | - |", 100 * memory);
    if (!on->cuda || (by_memory ? b->domain[0] > 8 : pairs == 0)) printf(" |");
    else if (by_memory) printf(" %s |", goal(memory, 0.7));
    else printf(" %s |", goal(pairs, 0.6));
    printf(" %s |\n", f->fault ? f->fault : "ok");
    fflush(stdout);
}

static void print_head(const char *title) {
    printf("\n%s\n\n| backend | d | functions, message | bits | joined rows | MB | us waited for | us each | Trows/s | "
           "memory | add-min | goal | entries |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
           title);
}

/* The rows of a bucket, one for each width. Its costs are made again for each. */
static int rows_of(const machine *on, const options *o, bucket *b, int by_memory) {
    int k, bad = 0;
    figures f;
    for (k = 0; k < 3; k++) {
        if (o->bits && o->bits != widths[k]) continue;
        if (fill(b, largest_sum[k])) {
            bad |= failed(on, b->name, "tables", GPUOPT_ERROR_MEMORY);
        } else if (measure(on, o, b, &f)) {
            bad = -1;
        } else {
            if (!f.fault && f.bits != widths[k]) f.fault = "WRONG width";
            bad |= f.fault ? -1 : 0;
            print_shares(on, o, b, &f, by_memory);
        }
    }
    return bad;
}

static int skipped(const options *o, int32_t values) { return o->domain > 0 && o->domain != values; }

/* Adds variables of `values` values, after one with fewer, until the message has at least `entries` entries. */
static void add_variables(bucket *b, int32_t values, int64_t entries) {
    int64_t product = 1;
    int32_t k, count = 0;
    while (product * values <= entries) {
        product *= values;
        count++;
    }
    if (product < entries) add_variable(b, (entries + product - 1) / product);
    for (k = 0; k < count; k++) add_variable(b, values);
}

int kernel_table(const machine *on, const options *o) {
    static const int32_t domains[] = {2, 3, 4, 5, 8, 10};
    int bad = 0, k, shape;
    bucket b;
    print_head("One bucket, big tables. Goal: 70% of a copy's speed for d <= 8.");
    for (k = 0; k < 6; k++) {
        /* At least 2^26 entries, so that a kernel takes 50 us or more. */
        int64_t entries = domains[k] == 2 ? (int64_t)1 << 27 : (int64_t)1 << 26;
        if (skipped(o, domains[k])) continue;
        entries >>= o->smaller;
        for (shape = 0; shape < 2; shape++) {
            int32_t last, small[3];
            begin(&b, domains[k]);
            add_variables(&b, domains[k], entries > 8 ? entries : 8);
            last = b.variables - 1;
            if (shape == 0) { /* variable 0 with all others; with the first; with a middle one and the last */
                add_range(&b, 1, last);
                add_range(&b, 1, 1);
                small[0] = (last + 1) / 2;
                small[1] = last;
                small[2] = -1;
                if (last > 1) add_function(&b, small);
                snprintf(b.name, sizeof b.name, "%d + 2 + 3 of %d", (int)last + 1, (int)last);
            } else { /* variable 0 with all others but the last; with all but the first */
                add_range(&b, 1, last - 1);
                add_range(&b, 2, last);
                snprintf(b.name, sizeof b.name, "%d + %d of %d", (int)last, (int)last, (int)last);
            }
            bad |= rows_of(on, o, &b, 1);
            end(&b);
        }
    }
    return bad;
}

/* The least multiple of 4 with a square of at least x. */
static int64_t side_of(int64_t x) {
    int64_t side = 4;
    while (side * side < x) side += 4;
    return side;
}

int domain_table(const machine *on, const options *o) {
    static const int32_t domains[] = {32, 44, 64, 100, 256};
    int bad = 0, k, shape;
    bucket b;
    print_head("One bucket, many values. Goal: 60% of the add-min rate for d >= 32.");
    for (k = 0; k < 5; k++) {
        int32_t values = domains[k], j;
        int64_t rows = ((int64_t)1 << 33) >> o->smaller, shared = 64, side;
        if (skipped(o, values)) continue;
        for (shape = 0; shape < 3; shape++) {
            begin(&b, values);
            if (shape == 0) { /* (a, c) from (x, a), (x, c) */
                side = side_of(rows / values);
                add_variable(&b, side);
                add_variable(&b, side);
                add_range(&b, 1, 1);
                add_range(&b, 2, 2);
                snprintf(b.name, sizeof b.name, "(x, a) + (x, c), %d x %d", (int)side, (int)side);
            } else if (shape == 1) { /* (a, b, c) from (x, a, b), (x, b, c) */
                side = side_of(rows / values / shared);
                add_variable(&b, side);
                add_variable(&b, shared);
                add_variable(&b, side);
                add_range(&b, 1, 2);
                add_range(&b, 2, 3);
                snprintf(b.name, sizeof b.name, "(x, a, b) + (x, b, c), %d x %d x %d", (int)side, (int)shared,
                         (int)side);
            } else { /* as in CELAR: a binary function for every neighbour */
                do add_variable(&b, values);
                while (b.variables < 3 || b.message * values < rows / 2);
                for (j = 1; j < b.variables; j++) add_range(&b, j, j);
                snprintf(b.name, sizeof b.name, "%d (x, y) of %d values", (int)b.variables - 1, (int)values);
            }
            bad |= rows_of(on, o, &b, 0);
            end(&b);
        }
    }
    return bad;
}
