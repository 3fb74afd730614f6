/* SPDX-License-Identifier: MIT
 *
 * Measures searches of multidimensional knapsacks as defined by Chu and Beasley (A Genetic Algorithm for the
 * Multidimensional Knapsack Problem, 1998), with other random numbers than the files of OR-Library.
 *     knapsack_multidimensional_bench BACKEND,... [options]      BACKEND: cpu (one thread), cpu:N (N threads), cuda
 *       --rows M           constraints (5)
 *       --items N          items (100)
 *       --tightness LIST   capacities in percent of all weights, separated by commas (25,50,75)
 *       --count N          instances of each (10)
 *       --seed N           of the first instance; the others follow (1)
 *       --workers N        the descriptor's (0: the library's)
 *       --nodes N          node limit (0: none)
 *       --seconds N        limit of an instance; checked after every 2^24 nodes or more (60)
 *       --json             a line of JSON an instance, not a table
 *       --write PREFIX     writes each to PREFIX-TIGHTNESS-SEED.txt, for highs_knapsack.py: rows and items, profits,
 *                          weights row by row, capacities
 * Weights are drawn from 1 to 1000, capacities are the given part of their sums, and the profit of an item is the mean
 * of its weights plus up to 500. Seconds are for creating the handle and searching. Solutions are checked, and the
 * optima, nodes and items of the backends against each other.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/knapsack_variants.h"
#include "tests/bench/bench.h"

enum { MOST_ITEMS = 4096, MOST_ROWS = 30 };

typedef struct options {
    const char *tightness, *write;
    int64_t rows, items, count, seed, workers, nodes, seconds;
    int json;
} options;

typedef struct instance {
    int64_t weight[MOST_ROWS * MOST_ITEMS], profit[MOST_ITEMS], capacity[MOST_ROWS];
    int64_t taken[MOST_MACHINES][MOST_ITEMS];
    gpuopt_knapsack_multidimensional_info info[MOST_MACHINES];
    double seconds[MOST_MACHINES];
} instance;

/* SplitMix64 (Steele, Lea, Flood): in [0, 1). */
static double drawn(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) / 9007199254740992.0;
}

static void draw(const options *o, int64_t percent, int64_t seed, instance *in) {
    uint64_t state = (uint64_t)seed * 1000003 + (uint64_t)percent;
    int64_t i, j, sum;
    for (i = 0; i < o->rows; i++) {
        for (sum = 0, j = 0; j < o->items; j++)
            sum += in->weight[i * o->items + j] = 1 + (int64_t)(1000 * drawn(&state));
        in->capacity[i] = sum * percent / 100;
    }
    for (j = 0; j < o->items; j++) {
        for (sum = 0, i = 0; i < o->rows; i++) sum += in->weight[i * o->items + j];
        in->profit[j] = sum / o->rows + (int64_t)(500 * drawn(&state));
    }
}

static int write_numbers(FILE *file, const int64_t *number, int64_t count) {
    int64_t k;
    for (k = 0; k < count; k++) fprintf(file, "%lld%c", (long long)number[k], k + 1 < count ? ' ' : '\n');
    return !ferror(file);
}

static int write_instance(const options *o, const char *percent, int64_t seed, const instance *in) {
    char name[3 * NAME];
    FILE *file;
    int good;
    int64_t i;
    if (!o->write) return 0;
    snprintf(name, sizeof name, "%s-%s-%lld.txt", o->write, percent, (long long)seed);
    file = fopen(name, "w");
    good = file && fprintf(file, "%lld %lld\n", (long long)o->rows, (long long)o->items) > 0 &&
           write_numbers(file, in->profit, o->items);
    for (i = 0; i < o->rows && good; i++) good = write_numbers(file, in->weight + i * o->items, o->items);
    if (good) good = write_numbers(file, in->capacity, o->rows);
    if (file && fclose(file)) good = 0;
    if (!good) fprintf(stderr, "%s: cannot be written\n", name);
    return good ? 0 : -1;
}

/* Checks a solution, and compares it with the first backend's result if that ended as well. */
static int right(const options *o, const instance *in, int m) {
    int64_t i, j, profit = 0, weight;
    for (i = 0; i < o->rows; i++) {
        for (weight = 0, j = 0; j < o->items; j++) weight += in->taken[m][j] * in->weight[i * o->items + j];
        if (weight > in->capacity[i]) return 0;
    }
    for (j = 0; j < o->items; j++) profit += in->taken[m][j] * in->profit[j];
    if (profit != in->info[m].primal_bound || in->info[m].dual_bound < profit) return 0;
    if (in->info[m].outcome != GPUOPT_OPTIMAL || in->info[0].outcome != GPUOPT_OPTIMAL) return 1;
    return in->info[m].primal_bound == in->info[0].primal_bound && in->info[m].nodes == in->info[0].nodes &&
           memcmp(in->taken[m], in->taken[0], (size_t)o->items * sizeof **in->taken) == 0;
}

static gpuopt_status search(const machine *on, const options *o, instance *in, int m) {
    gpuopt_knapsack_multidimensional_desc desc;
    gpuopt_knapsack_multidimensional_info *info = &in->info[m];
    gpuopt_knapsack_multidimensional *k = NULL;
    const double start = now();
    gpuopt_status status;
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(info, sizeof *info);
    desc.items = (int32_t)o->items;
    desc.rows = (int32_t)o->rows;
    desc.weight = in->weight;
    desc.profit = in->profit;
    desc.capacity = in->capacity;
    desc.workers = (int32_t)o->workers;
    desc.node_limit = o->nodes;
    status = gpuopt_knapsack_multidimensional_create(on->context, &desc, NULL, &k);
    do {
        if (!status) status = gpuopt_knapsack_multidimensional_run(k, 1 << 24, 0, info);
        in->seconds[m] = now() - start;
    } while (!status && info->outcome == GPUOPT_MORE && in->seconds[m] < (double)o->seconds);
    if (!status) status = gpuopt_knapsack_multidimensional_get_items(k, GPUOPT_HOST, in->taken[m], NULL);
    gpuopt_knapsack_multidimensional_destroy(k);
    return status;
}

static int solve(const machine *on, const options *o, const char *percent, int64_t seed, instance *in, int m) {
    const gpuopt_knapsack_multidimensional_info *info = &in->info[m];
    const gpuopt_status status = search(on, o, in, m);
    if (status) return failed(on, percent, "gpuopt_knapsack_multidimensional", status);
    if (!right(o, in, m)) {
        fprintf(stderr, "%s, %s-%lld: a wrong solution, or not the first backend's\n", on->name, percent,
                (long long)seed);
        return -1;
    }
    printf(o->json ? "{\"rows\": %lld, \"items\": %lld, \"tightness\": %s, \"seed\": %lld, \"backend\": \"%s\", "
                     "\"proven\": %s, \"lower\": %lld, \"upper\": %lld, \"free\": %d, \"nodes\": %lld, "
                     "\"seconds\": %.4f}\n"
                   : "| %lld x %lld | %s | %lld | %s | %s | %lld | %lld | %d | %lld | %.4f |\n",
           (long long)o->rows, (long long)o->items, percent, (long long)seed, on->name,
           o->json ? info->outcome == GPUOPT_OPTIMAL ? "true" : "false" : gpuopt_outcome_string(info->outcome),
           (long long)info->primal_bound, (long long)info->dual_bound, (int)info->free_items, (long long)info->nodes,
           in->seconds[m]);
    fflush(stdout);
    return 0;
}

static int parse(int argc, char **argv, options *o) {
    int k, good = argc > 1 && argv[1][0] != '-';
    const options usual = {"25,50,75", NULL, 5, 100, 10, 1, 0, 0, 60, 0};
    *o = usual;
    for (k = 2; k < argc && good; k += 2) {
        const char *value = k + 1 < argc ? argv[k + 1] : "";
        if (strcmp(argv[k], "--json") == 0) o->json = 1, k--;
        else if (strcmp(argv[k], "--tightness") == 0) good = *(o->tightness = value) != 0;
        else if (strcmp(argv[k], "--write") == 0) good = *(o->write = value) != 0;
        else if (strcmp(argv[k], "--rows") == 0) good = whole_number(value, MOST_ROWS, &o->rows) && o->rows > 0;
        else if (strcmp(argv[k], "--items") == 0) good = whole_number(value, MOST_ITEMS, &o->items) && o->items > 0;
        else if (strcmp(argv[k], "--count") == 0) good = whole_number(value, 1 << 20, &o->count);
        else if (strcmp(argv[k], "--seed") == 0) good = whole_number(value, 1 << 30, &o->seed);
        else if (strcmp(argv[k], "--workers") == 0) good = whole_number(value, 1 << 20, &o->workers);
        else if (strcmp(argv[k], "--nodes") == 0) good = whole_number(value, (int64_t)1 << 60, &o->nodes);
        else if (strcmp(argv[k], "--seconds") == 0) good = whole_number(value, 1 << 20, &o->seconds);
        else good = 0;
    }
    return good;
}

int main(int argc, char **argv) {
    options o;
    instance *in = malloc(sizeof *in);
    machine machines[MOST_MACHINES];
    char name[MOST_MACHINES][NAME], percent[NAME];
    int count, k, bad = 0;
    int64_t seed, number;
    if (!in || !parse(argc, argv, &o)) {
        fprintf(stderr,
                "knapsack_multidimensional_bench BACKEND,... [--rows M] [--items N] [--tightness LIST] [--count N] "
                "[--seed N] [--workers N] [--nodes N] [--seconds N] [--json] [--write PREFIX]\n");
        return EXIT_BAD_INPUT;
    }
    count = open_machines("knapsack_multidimensional_bench", argv[1], machines, name);
    if (count < 0) return EXIT_BAD_INPUT;
    if (!o.json)
        printf("\n| size | tightness | seed | backend | outcome | lower | upper | free | nodes | s |\n"
               "|---|---|---|---|---|---|---|---|---|---|\n");
    while (next_word(&o.tightness, percent) && !bad) {
        if (!whole_number(percent, 100, &number)) bad = -1;
        for (seed = o.seed; seed < o.seed + o.count && !bad; seed++) {
            draw(&o, number, seed, in);
            bad = write_instance(&o, percent, seed, in);
            for (k = 0; k < count && !bad; k++) bad = solve(&machines[k], &o, percent, seed, in, k);
        }
    }
    free(in);
    close_machines(machines, count);
    return bad ? EXIT_FAILED : 0;
}
