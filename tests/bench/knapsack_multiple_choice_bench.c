/* SPDX-License-Identifier: MIT
 *
 * Measures searches of multiple-choice knapsacks as defined by D. Pisinger (A Minimal Algorithm for the Multiple-Choice
 * Knapsack Problem, 1995), with other random numbers.
 *     knapsack_multiple_choice_bench BACKEND,... [options]      BACKEND: cpu (one thread), cpu:N (N threads), cuda
 *       --kinds LIST       of uncorrelated, weak, strong, subset and sorted, separated by commas (all)
 *       --classes N        classes (100)
 *       --items N          of each (100)
 *       --range N          most of weights and profits (1000)
 *       --count N          instances of each (3)
 *       --seed N           of the first instance; the others follow (1)
 *       --states N         the descriptor's (0: the library's)
 *       --seconds N        limit of an instance; checked after each step (20)
 *       --json             a line of JSON an instance, not a table
 *       --write PREFIX     writes each to PREFIX-KIND-SEED.txt: classes, items of each and capacity, then
 *                          weights and profits, a line a class
 * uncorrelated: both from 1 to the range. weak: profits within 10 of the weights. strong: each item is the sum of the
 * earlier ones in its class and a further item with a profit of its weight plus 10. subset: profits equal weights.
 * sorted: weights and profits of a class are sorted separately (P. Sinha, A. Zoltners, 1979). The capacity is halfway
 * between the lightest and the heaviest items. Seconds are for creating the handle, searching, and fetching the items.
 * Solutions are checked, and the optima, counts and items of the backends against each other.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/knapsack_variants.h"
#include "tests/bench/bench.h"

enum { MOST = 1 << 24 };

typedef struct options {
    const char *kinds, *write;
    int64_t classes, items, range, count, seed, states, seconds;
    int json;
} options;

typedef struct instance {
    int64_t *begin, *weight, *profit, capacity;
    int32_t *chosen[MOST_MACHINES];
    gpuopt_knapsack_multiple_choice_info info[MOST_MACHINES];
    double seconds[MOST_MACHINES];
} instance;

/* SplitMix64 (Steele, Lea, Flood): in 1 .. range. */
static int64_t drawn(uint64_t *state, int64_t range) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return 1 + (int64_t)((double)range * ((double)((x ^ x >> 31) >> 11) / 9007199254740992.0));
}

static int compare(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Returns -1 if there is no such kind. */
static int draw(const options *o, const char *kind, int64_t seed, instance *in) {
    const int weak = !strcmp(kind, "weak"), strong = !strcmp(kind, "strong"), subset = !strcmp(kind, "subset"),
              sorted = !strcmp(kind, "sorted");
    uint64_t state = (uint64_t)seed * 1000003;
    int64_t c, j, both = 0;
    if (!weak && !strong && !subset && !sorted && strcmp(kind, "uncorrelated") != 0) return -1;
    for (c = 0; c < o->classes; c++) {
        int64_t *w = in->weight + c * o->items, *p = in->profit + c * o->items, least = INT64_MAX, most = 0;
        in->begin[c + 1] = (c + 1) * o->items;
        for (j = 0; j < o->items; j++) {
            w[j] = drawn(&state, o->range);
            p[j] = weak ? w[j] - 11 + drawn(&state, 21) : subset ? w[j] : drawn(&state, o->range);
            if (p[j] < 1) p[j] = 1;
            if (strong) p[j] = w[j] + 10;
            if (strong && j > 0) w[j] += w[j - 1], p[j] += p[j - 1];
        }
        if (sorted) qsort(w, (size_t)o->items, sizeof *w, compare), qsort(p, (size_t)o->items, sizeof *p, compare);
        for (j = 0; j < o->items; j++) {
            if (w[j] < least) least = w[j];
            if (w[j] > most) most = w[j];
        }
        both += least + most;
    }
    in->begin[0] = 0;
    in->capacity = both / 2;
    return 0;
}

static int write_instance(const options *o, const char *kind, int64_t seed, const instance *in) {
    char name[3 * NAME];
    FILE *file;
    int good;
    int64_t c, j;
    if (!o->write) return 0;
    snprintf(name, sizeof name, "%s-%s-%lld.txt", o->write, kind, (long long)seed);
    file = fopen(name, "w");
    good = file &&
           fprintf(file, "%lld %lld %lld\n", (long long)o->classes, (long long)o->items, (long long)in->capacity) > 0;
    for (c = 0; c < 2 * o->classes && good; c++) {
        const int64_t *number = (c < o->classes ? in->weight : in->profit) + c % o->classes * o->items;
        for (j = 0; j < o->items; j++) fprintf(file, "%lld%c", (long long)number[j], j + 1 < o->items ? ' ' : '\n');
        good = !ferror(file);
    }
    if (file && fclose(file)) good = 0;
    if (!good) fprintf(stderr, "%s: cannot be written\n", name);
    return good ? 0 : -1;
}

/* Checks a solution, and compares it with the first backend's result if that ended as well. */
static int right(const options *o, const instance *in, int m) {
    int64_t c, profit = 0, weight = 0;
    for (c = 0; c < o->classes; c++) {
        const int64_t j = in->chosen[m][c];
        if (j < in->begin[c] || j >= in->begin[c + 1]) return 0;
        weight += in->weight[j];
        profit += in->profit[j];
    }
    if (weight > in->capacity || profit != in->info[m].primal_bound || in->info[m].dual_bound < profit) return 0;
    if (in->info[m].outcome != GPUOPT_OPTIMAL || in->info[0].outcome != GPUOPT_OPTIMAL) return 1;
    return in->info[m].primal_bound == in->info[0].primal_bound && in->info[m].expanded == in->info[0].expanded &&
           memcmp(in->chosen[m], in->chosen[0], sizeof(int32_t) * (size_t)o->classes) == 0;
}

static gpuopt_status search(const machine *on, const options *o, instance *in, int m) {
    gpuopt_knapsack_multiple_choice_desc desc;
    gpuopt_knapsack_multiple_choice_info *info = &in->info[m];
    gpuopt_knapsack_multiple_choice *k = NULL;
    const double start = now();
    gpuopt_status status;
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(info, sizeof *info);
    desc.classes = (int32_t)o->classes;
    desc.begin = in->begin;
    desc.weight = in->weight;
    desc.profit = in->profit;
    desc.capacity = in->capacity;
    desc.states = o->states;
    status = gpuopt_knapsack_multiple_choice_create(on->context, &desc, NULL, &k);
    do
        if (!status) status = gpuopt_knapsack_multiple_choice_run(k, 0, 1, info);
    while (!status && info->outcome == GPUOPT_MORE && now() - start < (double)o->seconds);
    if (!status) status = gpuopt_knapsack_multiple_choice_get_items(k, GPUOPT_HOST, in->chosen[m], NULL);
    in->seconds[m] = now() - start;
    gpuopt_knapsack_multiple_choice_destroy(k);
    return status;
}

static int solve(const machine *on, const options *o, const char *kind, int64_t seed, instance *in, int m) {
    const gpuopt_knapsack_multiple_choice_info *info = &in->info[m];
    const gpuopt_status status = search(on, o, in, m);
    if (status) return failed(on, kind, "gpuopt_knapsack_multiple_choice", status);
    if (!right(o, in, m)) {
        fprintf(stderr, "%s, %s-%lld: a wrong solution, or not the first backend's\n", on->name, kind, (long long)seed);
        return -1;
    }
    printf(o->json ? "{\"classes\": %lld, \"items\": %lld, \"kind\": \"%s\", \"seed\": %lld, \"backend\": \"%s\", "
                     "\"outcome\": \"%s\", \"lower\": %lld, \"upper\": %lld, \"steps\": %lld, \"expanded\": %lld, "
                     "\"peak\": %lld, \"seconds\": %.4f}\n"
                   : "| %lld x %lld | %s | %lld | %s | %s | %lld | %lld | %lld | %lld | %lld | %.4f |\n",
           (long long)o->classes, (long long)o->items, kind, (long long)seed, on->name,
           gpuopt_outcome_string(info->outcome), (long long)info->primal_bound, (long long)info->dual_bound,
           (long long)info->steps, (long long)info->expanded, (long long)info->peak, in->seconds[m]);
    fflush(stdout);
    return 0;
}

static int parse(int argc, char **argv, options *o) {
    const options usual = {"uncorrelated,weak,strong,subset,sorted", NULL, 100, 100, 1000, 3, 1, 0, 20, 0};
    int k, good = argc > 1 && argv[1][0] != '-';
    *o = usual;
    for (k = 2; k < argc && good; k += 2) {
        const char *value = k + 1 < argc ? argv[k + 1] : "";
        if (strcmp(argv[k], "--json") == 0) o->json = 1, k--;
        else if (strcmp(argv[k], "--kinds") == 0) good = *(o->kinds = value) != 0;
        else if (strcmp(argv[k], "--write") == 0) good = *(o->write = value) != 0;
        else if (strcmp(argv[k], "--classes") == 0) good = whole_number(value, MOST, &o->classes) && o->classes > 0;
        else if (strcmp(argv[k], "--items") == 0) good = whole_number(value, MOST, &o->items) && o->items > 0;
        else if (strcmp(argv[k], "--range") == 0) good = whole_number(value, 1 << 30, &o->range) && o->range > 0;
        else if (strcmp(argv[k], "--count") == 0) good = whole_number(value, 1 << 20, &o->count);
        else if (strcmp(argv[k], "--seed") == 0) good = whole_number(value, 1 << 30, &o->seed);
        else if (strcmp(argv[k], "--states") == 0) good = whole_number(value, 1 << 30, &o->states);
        else if (strcmp(argv[k], "--seconds") == 0) good = whole_number(value, 1 << 20, &o->seconds);
        else good = 0;
    }
    return good && o->classes <= MOST / o->items;
}

/* Takes memory for all instances, in one piece. NULL: there is none. */
static int64_t *make_capacity(const options *o, int count, instance *in) {
    const int64_t items = o->classes * o->items;
    int64_t *memory = malloc(sizeof *memory * (size_t)(o->classes + 1 + 2 * items + count * o->classes));
    int k;
    if (!memory) return NULL;
    in->begin = memory;
    in->weight = in->begin + o->classes + 1;
    in->profit = in->weight + items;
    for (k = 0; k < count; k++) in->chosen[k] = (int32_t *)(in->profit + items + k * o->classes);
    return memory;
}

int main(int argc, char **argv) {
    options o;
    instance in;
    machine machines[MOST_MACHINES];
    char name[MOST_MACHINES][NAME], kind[NAME];
    int count, k, bad = 0;
    int64_t seed, *memory;
    if (!parse(argc, argv, &o)) {
        fprintf(stderr,
                "knapsack_multiple_choice_bench BACKEND,... [--kinds LIST] [--classes N] [--items N] [--range N] "
                "[--count N] [--seed N] [--states N] [--seconds N] [--json] [--write PREFIX]\n");
        return EXIT_BAD_INPUT;
    }
    count = open_machines("knapsack_multiple_choice_bench", argv[1], machines, name);
    if (count < 0) return EXIT_BAD_INPUT;
    memory = make_capacity(&o, count, &in);
    if (!memory) bad = -1;
    if (!o.json)
        printf("\n| size | kind | seed | backend | outcome | lower | upper | steps | expanded | peak | s |\n"
               "|---|---|---|---|---|---|---|---|---|---|---|\n");
    while (!bad && next_word(&o.kinds, kind))
        for (seed = o.seed; seed < o.seed + o.count && !bad; seed++) {
            bad = draw(&o, kind, seed, &in);
            if (bad) fprintf(stderr, "%s: no such kind\n", kind);
            if (!bad) bad = write_instance(&o, kind, seed, &in);
            for (k = 0; k < count && !bad; k++) bad = solve(&machines[k], &o, kind, seed, &in, k);
        }
    free(memory);
    close_machines(machines, count);
    return bad ? EXIT_FAILED : 0;
}
