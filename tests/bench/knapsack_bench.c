/* SPDX-License-Identifier: MIT
 *
 * Measures the time of branch and bound for knapsack problems.
 *     knapsack_bench BACKEND,... [options]      BACKEND: cpu (one thread), cpu:N (N threads), cuda
 *       --tables LIST   which of the tables below, separated by commas (default: all)
 *       --models LIST   instances for the table classes, as solve_knapsack takes them (default: a built-in list)
 *       --nodes N       node limit of searches without dominance (2e9; a fortieth of it on the CPU and for hybrid)
 *       --limit S       time limit in seconds for each instance of levels and classes (60)
 *       --repeat N      runs per instance of the table paper; the median is printed (5)
 * Prints tables in Markdown:
 *   paper        the paper's instances, ten seeds per size: the slowest and the mean time of _create, search and
 *                _get_items together, beside Table 1 of the paper
 *   trees        the same instances searched as in the paper, without dominance: breadth and hybrid, with a node limit
 *   levels       only the steps with long lists, without and with dominance: nodes per second, and the node bytes read
 *                and written per second, also as a share of the 4.28 TB/s of a copy on an H200
 *   classes      instances that are hard for other solvers, solved to the end: seconds, beside combo's
 * Answers are checked: item sets against the model, and the optima of the backends against each other.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/bench/knapsack_search.h"

static const char *const tables[] = {"paper", "trees", "levels", "classes", NULL};

enum { SEEDS = 10, SIZES = 5, NODE_BYTES = 20 };
#define BIG_POOL ((int64_t)1 << 31) /* nodes, on the device: 43 GB */
#define CPU_POOL ((int64_t)1 << 28)

/* Boukedjar, Lalami, El Baz (2012), Table 1: seconds on one CPU core and with a Tesla C2050. */
static const double table_1[SIZES][2] = {{1.59, 0.41}, {4.85, 0.91}, {9.82, 1.44}, {10.94, 1.27}, {13.39, 1.44}};

/* Seconds of combo on one core, measured on the CPU of an H200 machine; 0: not measured; 120: stopped at that time. */
static const struct {
    const char *model;
    double combo;
} usual[] = {{"strong:1000:1000000:1", 0.020},
             {"inverse-strong:1000:1000000:1", 0.0019},
             {"almost-strong:1000:1000000:1", 0},
             {"multiple-strong:1000:1000000:1", 3.2},
             {"profit-ceiling:10000:1000000:1", 9.9},
             {"circle:1000:1000000:1", 0},
             {"circle:3000:1000000:1", 0},
             {"circle:10000:1000000:1", 31},
             {"span:10000:1000000:1", 4.4},
             {"uncorrelated:10000:1000000:1", 0},
             {"weak:10000:1000000:1", 0},
             {"similar:10000:1000000:1", 0},
             {"multiple-strong:10000:1000000:1", 120.},
             {"strong:10000:1000000:1", 0}};

typedef struct options {
    const char *models;
    int64_t nodes, limit, repeat;
} options;

/* ---- The paper's instances ---- */

/* Runs an instance several times; the time is the median. */
static int paper_run(const machine *on, const char *name, const gpuopt_knapsack_desc *with, const options *o,
                     search_result *r) {
    double seconds[MOST_REPEATS] = {0};
    knapsack_model model;
    gpuopt_knapsack_desc desc;
    int k, bad = 0;
    if (search_load(name, &model)) return -1;
    desc = search_describe(&model);
    desc.search = with->search;
    desc.pool = with->pool;
    desc.node_limit = with->node_limit;
    for (k = -1; k < o->repeat && !bad; k++) { /* one to warm up */
        bad = search_run(on, name, &model, &desc, 1e9, NULL, r);
        if (k >= 0) seconds[k] = r->seconds;
    }
    if (!bad) r->seconds = median(seconds, (int)o->repeat);
    knapsack_free(&model);
    return bad;
}

static int paper_table(const machine *machines, int count, const options *o) {
    gpuopt_knapsack_desc desc;
    char name[NAME];
    int size, seed, k, bad = 0;
    search_result r;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.pool = 50000; /* 1 MB */
    printf("\n| n | nodes, most | in the pool, most | kB |");
    for (k = 0; k < count; k++) printf(" %s, ms, slowest | mean |", machines[k].name);
    printf(" paper's CPU, s | its GPU, s |\n|---|---|---|---|");
    for (k = 0; k < count; k++) printf("---|---|");
    printf("---|---|\n");
    for (size = 0; size < SIZES && !bad; size++) {
        int64_t nodes = 0, peak = 0;
        double worst[MOST_MACHINES] = {0}, sum[MOST_MACHINES] = {0};
        for (seed = 1; seed <= SEEDS; seed++) {
            int64_t optimum = -1;
            snprintf(name, sizeof name, "paper:%d:%d", 100 * (size + 1), seed);
            for (k = 0; k < count; k++) {
                if (paper_run(&machines[k], name, &desc, o, &r)) return -1;
                if (r.info.outcome != GPUOPT_OPTIMAL || (optimum >= 0 && r.info.primal_bound != optimum)) {
                    fprintf(stderr, "%s: not solved, or with another optimum\n", name);
                    return -1;
                }
                optimum = r.info.primal_bound;
                if (r.info.expanded > nodes) nodes = r.info.expanded;
                if (r.info.peak > peak) peak = r.info.peak;
                if (r.seconds > worst[k]) worst[k] = r.seconds;
                sum[k] += r.seconds / SEEDS;
            }
        }
        printf("| %d | %lld | %lld | %.1f |", 100 * (size + 1), (long long)nodes, (long long)peak,
               (double)(peak * NODE_BYTES) / 1000);
        for (k = 0; k < count; k++) printf(" %.3f | %.3f |", 1e3 * worst[k], 1e3 * sum[k]);
        printf(" %.2f | %.2f |\n", table_1[size][0], table_1[size][1]);
        fflush(stdout);
    }
    return bad;
}

static int tree_table(const machine *machines, int count, const options *o) {
    options once = *o;
    char name[NAME];
    int size, search_kind, k;
    search_result r;
    once.repeat = 1;
    printf("\n| n | search | backend | solved | nodes | in the pool, most | s | nodes/s |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (size = 0; size < SIZES; size++)
        for (k = 0; k < count; k++)
            for (search_kind = GPUOPT_SEARCH_BREADTH; search_kind <= GPUOPT_SEARCH_HYBRID; search_kind++) {
                int64_t nodes = 0, peak = 0, solved = 0, seed;
                double seconds = 0;
                gpuopt_knapsack_desc desc;
                gpuopt_desc_init(&desc, sizeof desc);
                desc.search = (gpuopt_knapsack_search)search_kind;
                desc.pool = search_kind == GPUOPT_SEARCH_HYBRID || !machines[k].cuda ? 1 << 26 : 1 << 28;
                desc.node_limit = machines[k].cuda && search_kind == GPUOPT_SEARCH_BREADTH ? o->nodes : o->nodes / 40;
                for (seed = 1; seed <= SEEDS; seed++) {
                    snprintf(name, sizeof name, "paper:%d:%d", 100 * (size + 1), (int)seed);
                    if (paper_run(&machines[k], name, &desc, &once, &r)) return -1;
                    nodes += r.info.expanded;
                    seconds += r.seconds;
                    solved += r.info.outcome == GPUOPT_OPTIMAL;
                    if (r.info.peak > peak) peak = r.info.peak;
                }
                printf("| %d | %s | %s | %d of %d | %lld | %lld | %.3f | %.3g |\n", 100 * (size + 1),
                       search_kind == GPUOPT_SEARCH_BREADTH ? "breadth" : "hybrid", machines[k].name, (int)solved,
                       SEEDS, (long long)nodes, (long long)peak, seconds, (double)nodes / seconds);
                fflush(stdout);
            }
    return 0;
}

/* ---- Long lists ---- */

/* The steps that take at least so many nodes. */
typedef struct long_steps {
    int64_t longer;
    int64_t nodes, children; /* expanded, and kept */
    double seconds;
} long_steps;

static void add_step(void *data, int64_t nodes, int64_t children, double seconds) {
    long_steps *steps = data;
    if (nodes < steps->longer) return;
    steps->seconds += seconds;
    steps->nodes += nodes;
    steps->children += children;
}

static int level_line(const machine *on, const char *name, gpuopt_knapsack_search kind, int64_t longer,
                      const options *o) {
    knapsack_model model;
    gpuopt_knapsack_desc desc;
    long_steps steps = {longer, 0, 0, 0};
    const step_hook hook = {add_step, &steps};
    double bytes;
    search_result r;
    int bad;
    if (search_load(name, &model)) return -1;
    desc = search_describe(&model);
    desc.search = kind;
    desc.pool = on->cuda && kind != GPUOPT_SEARCH_HYBRID ? BIG_POOL : CPU_POOL;
    desc.node_limit = on->cuda && kind != GPUOPT_SEARCH_HYBRID ? 30 * o->nodes : o->nodes / 4;
    bad = search_run(on, name, &model, &desc, (double)o->limit, &hook, &r);
    knapsack_free(&model);
    if (bad) return -1;
    bytes = NODE_BYTES * (double)(steps.nodes * (kind == GPUOPT_SEARCH_DOMINANCE ? 2 : 1) + steps.children);
    if (steps.seconds > 0)
        printf("| %s | %s | %s | %lld | %lld | %lld | %.3f | %.3g | %.3g | %.1f%% |\n", name,
               kind == GPUOPT_SEARCH_DOMINANCE ? "dominance"
               : kind == GPUOPT_SEARCH_BREADTH ? "breadth"
                                               : "hybrid",
               on->name, (long long)longer, (long long)steps.nodes, (long long)r.info.peak, steps.seconds,
               (double)steps.nodes / steps.seconds, bytes / steps.seconds, 100 * bytes / steps.seconds / COPY_SPEED);
    fflush(stdout);
    return 0;
}

static int level_table(const machine *machines, int count, const options *o) {
    int k, bad = 0;
    printf("\n| model | search | backend | lists from | nodes of these | in the pool, most | s | nodes/s | bytes/s | "
           "share |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (k = 0; k < count && !bad; k++) {
        bad = level_line(&machines[k], "paper:200:3", GPUOPT_SEARCH_BREADTH, 500000, o) ||
              level_line(&machines[k], "paper:200:3", GPUOPT_SEARCH_BREADTH, 1000000, o) ||
              level_line(&machines[k], "paper:200:3", GPUOPT_SEARCH_HYBRID, 1000000, o) ||
              level_line(&machines[k], "multiple-strong:1000:1000000:1", GPUOPT_SEARCH_DOMINANCE, 1000000, o) ||
              level_line(&machines[k], "circle:10000:1000000:1", GPUOPT_SEARCH_DOMINANCE, 1000000, o);
    }
    return bad;
}

/* ---- Hard classes ---- */

static int class_line(const machine *machines, int count, const char *name, double combo, const options *o) {
    knapsack_model model;
    int64_t optimum = -1;
    int k, bad = 0;
    if (search_load(name, &model)) return -1;
    for (k = 0; k < count && !bad; k++) {
        gpuopt_knapsack_desc desc = search_describe(&model);
        search_result r;
        desc.pool = 1 << 26;
        bad = search_run(&machines[k], name, &model, &desc, (double)o->limit, NULL, &r);
        if (bad) break;
        printf("| %s | %s | %s | %lld | %lld | %lld | %.4f | %.3g | ", name, machines[k].name,
               gpuopt_outcome_string(r.info.outcome), (long long)r.info.primal_bound, (long long)r.info.expanded,
               (long long)r.info.peak, r.seconds, (double)r.info.expanded / r.seconds);
        printf(combo > 0 ? "%g |\n" : "|\n", combo);
        fflush(stdout);
        if (r.info.outcome != GPUOPT_OPTIMAL) continue;
        if (optimum >= 0 && r.info.primal_bound != optimum) bad = -1, fprintf(stderr, "%s: another optimum\n", name);
        optimum = r.info.primal_bound;
    }
    knapsack_free(&model);
    return bad;
}

static int class_table(const machine *machines, int count, const options *o) {
    const char *at = o->models;
    char word[NAME];
    size_t k;
    int bad = 0;
    printf("\n| model | backend | outcome | profit | nodes | in the pool, most | s | nodes/s | combo, s |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    if (at)
        while (next_word(&at, word)) bad |= class_line(machines, count, word, 0, o);
    else
        for (k = 0; k < sizeof usual / sizeof *usual; k++)
            bad |= class_line(machines, count, usual[k].model, usual[k].combo, o);
    return bad;
}

static int parse(int argc, char **argv, options *o, const char **asked) {
    char word[NAME];
    const char *at;
    int k, good = argc > 1 && argv[1][0] != '-';
    memset(o, 0, sizeof *o);
    o->nodes = 2000000000;
    o->limit = 60;
    o->repeat = 5;
    *asked = "paper,trees,levels,classes";
    for (k = 2; k < argc && good; k += 2) {
        const char *value = k + 1 < argc ? argv[k + 1] : "";
        if (strcmp(argv[k], "--tables") == 0) good = *(*asked = value) != 0;
        else if (strcmp(argv[k], "--models") == 0) good = *(o->models = value) != 0;
        else if (strcmp(argv[k], "--nodes") == 0) good = whole_number(value, (int64_t)1 << 40, &o->nodes);
        else if (strcmp(argv[k], "--limit") == 0) good = whole_number(value, 1000000, &o->limit);
        else if (strcmp(argv[k], "--repeat") == 0) good = whole_number(value, MOST_REPEATS, &o->repeat);
        else good = 0;
    }
    for (at = *asked; good && next_word(&at, word);) good = choice(word, tables) >= 0;
    return good;
}

int main(int argc, char **argv) {
    options o;
    machine machines[MOST_MACHINES];
    char name[MOST_MACHINES][NAME], word[NAME];
    const char *asked;
    int count, bad = 0;
    if (!parse(argc, argv, &o, &asked)) {
        fprintf(stderr, "knapsack_bench BACKEND,... [--tables paper,trees,levels,classes] [--models LIST] [--nodes N] "
                        "[--limit S] [--repeat N]\n");
        return EXIT_BAD_INPUT;
    }
    count = open_machines("knapsack_bench", argv[1], machines, name);
    if (count < 0) return EXIT_BAD_INPUT;
    while (next_word(&asked, word) && !bad) {
        int table = choice(word, tables);
        bad = table == 0   ? paper_table(machines, count, &o)
              : table == 1 ? tree_table(machines, count, &o)
              : table == 2 ? level_table(machines, count, &o)
                           : class_table(machines, count, &o);
    }
    close_machines(machines, count);
    return bad ? EXIT_FAILED : 0;
}
