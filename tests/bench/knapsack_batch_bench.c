/* SPDX-License-Identifier: MIT
 *
 * Measures the time of a batch of small knapsacks.
 *     knapsack_batch_bench BACKEND,... [options]      BACKEND: cpu (one thread), cpu:N (N threads), cuda
 *       --classes LIST  classes of solve_knapsack, separated by commas (default: all)
 *       --count N       knapsacks in a call (100000)
 *       --items N       items of each (50)
 *       --range R       weights up to this (1000)
 *       --copies N      most copies of each item, drawn from 1 to N (1)
 *       --nodes N       node limit of each (0: the library's, 2^20)
 *       --repeat N      runs, after one to warm up; the median is printed (3)
 * Prints a table in Markdown. Seconds are for a call with all arrays in host memory, copies to the device and back
 * included. Solutions are checked against the model, and the results and nodes of the backends against each other.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/batch.h"
#include "examples/io/knapsack.h"
#include "tests/bench/bench.h"

static const char *const all_classes =
    "uncorrelated,weak,strong,inverse-strong,almost-strong,subset-sum,similar,span,multiple-strong,profit-ceiling,"
    "circle";

typedef struct options {
    const char *classes;
    int64_t count, items, range, copies, nodes, repeat;
} options;

/* The knapsacks of a class, and the backends' results. */
typedef struct work {
    int64_t *weight, *profit, *capacity, *lower[MOST_MACHINES], *upper[MOST_MACHINES], *nodes[MOST_MACHINES];
    int32_t *copies, *taken[MOST_MACHINES], *outcome[MOST_MACHINES];
} work;

static void *capacity(int64_t count, size_t size) {
    void *memory = calloc((size_t)count, size);
    if (memory) return memory;
    fprintf(stderr, "out of memory\n");
    exit(EXIT_FAILED);
}

static int draw_class(const char *class, const options *o, work *w) {
    knapsack_model model;
    char name[2 * NAME], error[256];
    int64_t k, j;
    for (k = 0; k < o->count; k++) {
        snprintf(name, sizeof name, "%s:%lld:%lld:%lld", class, (long long)o->items, (long long)o->range,
                 (long long)k + 1);
        if (knapsack_load(name, &model, error, sizeof error)) {
            fprintf(stderr, "%s\n", error);
            return -1;
        }
        memcpy(w->weight + k * o->items, model.weight, sizeof *w->weight * (size_t)o->items);
        memcpy(w->profit + k * o->items, model.profit, sizeof *w->profit * (size_t)o->items);
        w->capacity[k] = model.capacity;
        for (j = 0; j < o->items; j++) w->copies[k * o->items + j] = 1 + (int32_t)((k * 31 + j * 17) % o->copies);
        knapsack_free(&model);
    }
    return 0;
}

static int right(const options *o, const work *w, int m) {
    int64_t k, j;
    for (k = 0; k < o->count; k++) {
        int64_t weight = 0, profit = 0;
        for (j = k * o->items; j < (k + 1) * o->items; j++) {
            if (w->taken[m][j] < 0 || w->taken[m][j] > w->copies[j]) return 0;
            weight += w->taken[m][j] * w->weight[j];
            profit += w->taken[m][j] * w->profit[j];
        }
        if (weight > w->capacity[k] || profit != w->lower[m][k] || w->upper[m][k] < profit) return 0;
    }
    return memcmp(w->lower[m], w->lower[0], sizeof(int64_t) * (size_t)o->count) == 0 &&
           memcmp(w->upper[m], w->upper[0], sizeof(int64_t) * (size_t)o->count) == 0 &&
           memcmp(w->nodes[m], w->nodes[0], sizeof(int64_t) * (size_t)o->count) == 0 &&
           memcmp(w->taken[m], w->taken[0], sizeof(int32_t) * (size_t)(o->count * o->items)) == 0;
}

static int by_size(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int class_line(const machine *on, int m, const char *class, const options *o, work *w) {
    gpuopt_knapsack_batch *batch = NULL;
    gpuopt_knapsack_batch_desc desc;
    gpuopt_knapsack_problems p;
    gpuopt_knapsack_report r;
    double seconds[MOST_REPEATS] = {0}, sum = 0, each;
    int64_t k, solved = 0, *sorted;
    int run;
    gpuopt_status status;
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&p, sizeof p);
    gpuopt_desc_init(&r, sizeof r);
    desc.items = (int32_t)o->items;
    desc.count = p.count = (int32_t)o->count;
    p.weight = w->weight;
    p.profit = w->profit;
    p.capacity = w->capacity;
    p.copies_max = o->copies > 1 ? w->copies : NULL;
    p.weight_stride = p.profit_stride = p.copies_max_stride = o->items;
    p.capacity_stride = 1;
    p.node_limit = o->nodes;
    r.outcome = w->outcome[m];
    r.primal_bound = w->lower[m];
    r.dual_bound = w->upper[m];
    r.nodes = w->nodes[m];
    r.copies = w->taken[m];
    status = gpuopt_knapsack_batch_create(on->context, &desc, NULL, &batch);
    for (run = -1; run < o->repeat && !status; run++) {
        const double start = now();
        status = gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &p, &r);
        if (run >= 0) seconds[run] = now() - start;
    }
    gpuopt_knapsack_batch_destroy(batch);
    if (status) return failed(on, class, "gpuopt_knapsack_batch_run", status);
    if (!right(o, w, m)) {
        fprintf(stderr, "%s, %s: a wrong solution, or not the first backend's\n", on->name, class);
        return -1;
    }
    sorted = capacity(o->count, sizeof *sorted);
    memcpy(sorted, w->nodes[m], sizeof *sorted * (size_t)o->count);
    qsort(sorted, (size_t)o->count, sizeof *sorted, by_size);
    for (k = 0; k < o->count; k++) {
        solved += w->outcome[m][k] == GPUOPT_OPTIMAL;
        sum += (double)sorted[k];
    }
    each = median(seconds, (int)o->repeat);
    printf("| %s | %s | %lld | %lld | %.0f | %lld | %.4f | %.3g |\n", class, on->name, (long long)(o->count - solved),
           (long long)sorted[o->count / 2], sum / (double)o->count, (long long)sorted[o->count * 99 / 100], each,
           sum / each);
    fflush(stdout);
    free(sorted);
    return 0;
}

static int parse(int argc, char **argv, options *o) {
    int k, good = argc > 1 && argv[1][0] != '-';
    const options usual = {all_classes, 100000, 50, 1000, 1, 0, 3};
    *o = usual;
    for (k = 2; k < argc && good; k += 2) {
        const char *value = k + 1 < argc ? argv[k + 1] : "";
        if (strcmp(argv[k], "--classes") == 0) good = *(o->classes = value) != 0;
        else if (strcmp(argv[k], "--count") == 0) good = whole_number(value, 1 << 24, &o->count);
        else if (strcmp(argv[k], "--items") == 0) good = whole_number(value, 256, &o->items);
        else if (strcmp(argv[k], "--range") == 0) good = whole_number(value, 1 << 28, &o->range);
        else if (strcmp(argv[k], "--copies") == 0) good = whole_number(value, 1 << 20, &o->copies);
        else if (strcmp(argv[k], "--nodes") == 0) good = whole_number(value, (int64_t)1 << 40, &o->nodes);
        else if (strcmp(argv[k], "--repeat") == 0) good = whole_number(value, MOST_REPEATS, &o->repeat);
        else good = 0;
    }
    return good;
}

int main(int argc, char **argv) {
    options o;
    work w;
    machine machines[MOST_MACHINES];
    char name[MOST_MACHINES][NAME], class[NAME];
    int count, k, bad = 0;
    if (!parse(argc, argv, &o)) {
        fprintf(stderr, "knapsack_batch_bench BACKEND,... [--classes LIST] [--count N] [--items N] [--range R] "
                        "[--copies N] [--nodes N] [--repeat N]\n");
        return EXIT_BAD_INPUT;
    }
    count = open_machines("knapsack_batch_bench", argv[1], machines, name);
    if (count < 0) return EXIT_BAD_INPUT;
    w.weight = capacity(o.count * o.items, sizeof *w.weight);
    w.profit = capacity(o.count * o.items, sizeof *w.profit);
    w.copies = capacity(o.count * o.items, sizeof *w.copies);
    w.capacity = capacity(o.count, sizeof *w.capacity);
    for (k = 0; k < count; k++) {
        w.lower[k] = capacity(o.count, sizeof(int64_t));
        w.upper[k] = capacity(o.count, sizeof(int64_t));
        w.nodes[k] = capacity(o.count, sizeof(int64_t));
        w.outcome[k] = capacity(o.count, sizeof(int32_t));
        w.taken[k] = capacity(o.count * o.items, sizeof(int32_t));
    }
    printf("\n%lld knapsacks of %lld items, weights up to %lld, up to %lld copies\n\n"
           "| class | backend | not solved | nodes, median | mean | 99 %% | s | nodes/s "
           "|\n|---|---|---|---|---|---|---|---|\n",
           (long long)o.count, (long long)o.items, (long long)o.range, (long long)o.copies);
    while (next_word(&o.classes, class) && !bad) {
        bad = draw_class(class, &o, &w);
        for (k = 0; k < count && !bad; k++) bad = class_line(&machines[k], k, class, &o, &w);
    }
    for (k = 0; k < count; k++)
        free(w.lower[k]), free(w.upper[k]), free(w.nodes[k]), free(w.outcome[k]), free(w.taken[k]);
    free(w.weight), free(w.profit), free(w.copies), free(w.capacity);
    close_machines(machines, count);
    return bad ? EXIT_FAILED : 0;
}
