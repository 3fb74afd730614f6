/* SPDX-License-Identifier: MIT
 *
 * Prints the tables of Boukedjar, Lalami, El Baz: Parallel Branch and Bound on a CPU-GPU System (2012), with the
 * paper's own numbers beside those measured here. Each optimum is compared with a dynamic programme's, and the paper's
 * tree with a search written from the paper's text.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/papers/knapsack_study.h"

#define PAPER_MACHINE "paper: one core of a Xeon E5640 at 2.66 GHz, and a Tesla C2050"

/* Table 1 of the paper: seconds on the CPU, on CPU and GPU, and the speed-up; means of ten instances. Section 4 has the
 * largest speed-up of a single instance, with 500 items. */
static const double table_1[SIZES][3] = {
    {1.59, .41, 3.84}, {4.85, .91, 5.33}, {9.82, 1.44, 6.80}, {10.94, 1.27, 8.61}, {13.39, 1.44, 9.27}};
static const double largest_of_500 = 11;

/* ---- Table 1: the paper's tree ---- */

enum { MOST_COLUMNS = 16 };

static void tree_row(study *s, table *t, int size, double sum[MOST_COLUMNS]) {
    double total[WAYS] = {0}, seconds[WAYS], largest[WAYS] = {0}, value[MOST_COLUMNS];
    gpuopt_knapsack_desc options = tree_options(s);
    gpuopt_knapsack_info info;
    int64_t nodes = 0;
    int seed, way, ended = 0, k = 0;
    for (seed = 1; seed <= SEEDS; seed++) {
        instance of;
        instance_open(&of, "paper:%d:%d", 100 * (size + 1), seed);
        search_all(s, &of, &options, NULL, seconds, &info);
        instance_close(&of);
        nodes += info.expanded;
        ended += info.outcome == GPUOPT_OPTIMAL;
        for (way = 0; way < WAYS; way++) {
            total[way] += seconds[way] / SEEDS;
            largest[way] = isnan(seconds[way]) ? NAN : fmax(largest[way], seconds[CPU_ONE] / seconds[way]);
        }
    }
    for (way = 0; way < WAYS; way++) s->rate[size][way] = (double)nodes / SEEDS / total[way];
    value[k++] = table_1[size][0];
    value[k++] = total[CPU_ONE];
    value[k++] = total[CPU_ALL];
    value[k++] = table_1[size][1];
    value[k++] = total[GPU_HYBRID];
    value[k++] = total[GPU_BREADTH];
    value[k++] = table_1[size][2];
    value[k++] = total[CPU_ONE] / total[GPU_HYBRID];
    value[k++] = total[CPU_ONE] / total[GPU_BREADTH];
    value[k++] = size == SIZES - 1 ? largest_of_500 : NAN;
    value[k++] = largest[GPU_HYBRID];
    value[k++] = largest[GPU_BREADTH];
    value[k++] = 1e-6 * (double)nodes / SEEDS;
    table_text(t, "%d", 100 * (size + 1));
    for (way = 0; way < k; way++) table_number(t, value[way]), sum[way] += value[way];
    table_text(t, "%d", ended);
}

static void tree_table(study *s) {
    double sum[MOST_COLUMNS] = {0};
    char title[2 * NAME];
    int size, k;
    table t;
    snprintf(title, sizeof title,
             "Table 1: time of the paper's search, s, means of ten instances (" PAPER_MACHINE
             "). Speed-ups are over one thread. A search stops at %lld nodes here; \"ended\": how many of ten end "
             "before. Threads: %d.",
             (long long)s->limit, s->paper.threads);
    table_start(&t, &s->paper, "knapsack_table1", title,
                "n|paper CPU|CPU|CPU, threads|paper CPU-GPU|GPU, hybrid|GPU, breadth|paper speed-up|"
                "speed-up, hybrid|speed-up, breadth|paper largest|largest, hybrid|largest, breadth|M nodes|ended");
    for (size = 0; size < SIZES; size++) tree_row(s, &t, size, sum);
    table_text(&t, "mean");
    for (k = 0; k < 13; k++) table_number(&t, k == 9 ? NAN : sum[k] / SIZES);
    table_text(&t, "-");
    table_end(&t);
}

/* ---- The paper's tree, as far as one GPU gets in a moment ---- */

static void far_table(study *s) {
    gpuopt_knapsack_desc options = tree_options(s);
    gpuopt_knapsack_info info;
    char title[2 * NAME];
    int size, seed;
    table t;
    if (!s->paper.quick) options.pool = (int64_t)1 << 29; /* 10.7 GB */
    options.node_limit *= s->paper.quick ? 2 : 100;
    snprintf(title, sizeof title,
             "The same instances with %lld nodes each, breadth first on the GPU: not in the paper.",
             (long long)options.node_limit);
    table_start(&t, &s->paper, "knapsack_far", title, "n|ended|G nodes|longest list, M|slices of lists|s|G nodes/s");
    for (size = 0; size < SIZES; size++) {
        double total = 0, nodes = 0, longest = 0, seconds;
        int64_t slices = 0;
        int ended = 0;
        for (seed = 1; seed <= SEEDS && s->paper.gpu; seed++) {
            instance of;
            instance_open(&of, "paper:%d:%d", 100 * (size + 1), seed);
            search_one(s, s->paper.gpu, &of, &options, NULL, &seconds, &info);
            instance_close(&of);
            total += seconds;
            nodes += 1e-9 * (double)info.expanded;
            longest = fmax(longest, 1e-6 * (double)info.peak);
            slices += info.slices;
            ended += info.outcome == GPUOPT_OPTIMAL;
        }
        table_text(&t, "%d", 100 * (size + 1));
        if (!s->paper.gpu) total = nodes = longest = NAN;
        table_text(&t, s->paper.gpu ? "%d" : "-", ended);
        table_number(&t, nodes);
        table_number(&t, longest);
        table_text(&t, s->paper.gpu ? "%lld" : "-", (long long)slices);
        table_number(&t, total);
        table_number(&t, nodes / total);
    }
    table_end(&t);
}

/* ---- The same instances to the end ---- */

static void dominance_table(study *s) {
    const paper *p = &s->paper;
    const machine *const on[] = {p->one, p->all, p->gpu};
    const int repeat = p->quick ? 1 : 5;
    gpuopt_knapsack_desc options = GPUOPT_INIT(gpuopt_knapsack_desc);
    gpuopt_knapsack_info info;
    char title[2 * NAME];
    int size, seed, k, run;
    table t;
    snprintf(title, sizeof title,
             "The instances of Table 1 with dominance, all ten solved: means of ten (" PAPER_MACHINE
             "). Beside it a dynamic programme over all capacities, one thread. Threads: %d.",
             p->threads);
    table_start(&t, p, "knapsack_dominance", title,
                "n|paper CPU, s|paper CPU-GPU, s|CPU, ms|CPU, threads, ms|GPU, ms|dynamic programme, ms|nodes, mean|"
                "nodes, most|longest list");
    for (size = 0; size < SIZES; size++) {
        double total[3] = {0}, seconds[MOST_REPEATS], programme = 0, nodes = 0, most = 0, longest = 0;
        for (seed = 1; seed <= SEEDS; seed++) {
            instance of;
            instance_open(&of, "paper:%d:%d", 100 * (size + 1), seed);
            for (k = 0; k < 3; k++) {
                for (run = 0; run < repeat; run++) search_one(s, on[k], &of, &options, NULL, &seconds[run], &info);
                total[k] += on[k] ? 1e3 * median(seconds, repeat) / SEEDS : NAN;
                if (on[k]) check_case(&s->optima, info.outcome == GPUOPT_OPTIMAL, of.name, "not solved");
            }
            programme += 1e3 * of.programme_seconds / SEEDS;
            instance_close(&of);
            nodes += (double)info.expanded / SEEDS;
            most = fmax(most, (double)info.expanded);
            longest = fmax(longest, (double)info.peak);
        }
        table_text(&t, "%d", 100 * (size + 1));
        for (k = 0; k < 2; k++) table_number(&t, table_1[size][k]);
        for (k = 0; k < 3; k++) table_number(&t, total[k]);
        table_number(&t, programme);
        table_text(&t, "%.0f", nodes);
        table_text(&t, "%.0f", most);
        table_text(&t, "%.0f", longest);
    }
    table_end(&t);
}

/* ---- The paper's text, literally ---- */

/* Its rate over all ten instances, the nodes of those that end. */
typedef struct literal_sums {
    int ended;
    int64_t text, here;  /* nodes */
    double seconds, all; /* of the text's search; its nodes */
    double largest;      /* difference in nodes, in percent */
} literal_sums;

static void literal_instance(study *s, const char *name, int64_t limit, literal_sums *sum) {
    gpuopt_knapsack_desc options = tree_options(s);
    gpuopt_knapsack_info info;
    literal_search found;
    instance of;
    double start, seconds, ratio;
    instance_open(&of, "%s", name);
    start = now();
    if (knapsack_by_paper(&of.model, limit, &found)) exit(EXIT_FAILED);
    sum->seconds += now() - start;
    sum->all += (double)found.branched;
    options.node_limit = found.ended ? 2 * limit : limit;
    search_one(s, s->paper.all, &of, &options, NULL, &seconds, &info);
    ratio = (double)info.expanded / (double)(found.ended ? found.branched : limit);
    check_case(&s->literal, ratio > .75 && (ratio < 1.25 || !found.ended), name, "another tree");
    if (found.ended) {
        check_case(&s->literal, found.profit == of.optimum, name, "another optimum by the paper's text");
        sum->ended++;
        sum->text += found.branched;
        sum->here += info.expanded;
        sum->largest = fmax(sum->largest, 100 * fabs(ratio - 1));
    }
    instance_close(&of);
}

static void literal_table(study *s) {
    char name[NAME];
    int size, seed;
    table t;
    table_start(
        &t, &s->paper, "knapsack_literal",
        "Table 1 over a search written from the paper's text (one thread, linear bounds): nodes a second, which "
        "make the speed-ups, and the nodes of those of ten instances that this search ends (" PAPER_MACHINE ").",
        "n|paper speed-up|speed-up, hybrid|speed-up, breadth|text, M nodes/s|CPU, M nodes/s|"
        "GPU, hybrid, M nodes/s|GPU, breadth, M nodes/s|limit|ended|nodes of the text|nodes here|"
        "largest difference, %");
    for (size = 0; size < SIZES; size++) {
        const int64_t limit = s->paper.quick ? size ? 20000 : 200000 : size ? 5000000 : 30000000;
        const double *rate = s->rate[size];
        literal_sums sum = {0};
        double text;
        for (seed = 1; seed <= SEEDS; seed++) {
            snprintf(name, sizeof name, "paper:%d:%d", 100 * (size + 1), seed);
            literal_instance(s, name, limit, &sum);
        }
        text = sum.all / sum.seconds;
        table_text(&t, "%d", 100 * (size + 1));
        table_number(&t, table_1[size][2]);
        table_number(&t, rate[GPU_HYBRID] / text);
        table_number(&t, rate[GPU_BREADTH] / text);
        table_number(&t, 1e-6 * text);
        table_number(&t, 1e-6 * rate[CPU_ONE]);
        table_number(&t, 1e-6 * rate[GPU_HYBRID]);
        table_number(&t, 1e-6 * rate[GPU_BREADTH]);
        table_text(&t, "%lld", (long long)limit);
        table_text(&t, "%d", sum.ended);
        table_text(&t, "%lld", (long long)sum.text);
        table_text(&t, "%lld", (long long)sum.here);
        table_number(&t, sum.ended ? sum.largest : NAN);
    }
    table_end(&t);
}

/* ---- All of it ---- */

static int print_check(const check *c) {
    printf("check: %s %s (%lld cases)\n", c->what, c->wrong ? "DOES NOT HOLD" : "holds", (long long)c->cases);
    return c->wrong > 0;
}

/* The first search on a GPU takes longer. */
static void warm_up(study *s) {
    gpuopt_knapsack_desc options = tree_options(s);
    gpuopt_knapsack_info info;
    double seconds[WAYS];
    instance of;
    options.node_limit = s->limit / 4;
    instance_open(&of, "paper:200:3");
    search_all(s, &of, &options, NULL, seconds, &info);
    instance_close(&of);
}

int main(int argc, char **argv) {
    study s = {.optima = {.what = "each optimum is the dynamic programme's"},
               .bounds = {.what = "at a limit, the optimum is within the bounds"},
               .counts = {.what = "counts and bounds are the same on all machines"},
               .literal = {.what = "the search of the paper's text has the same optimum and nearly the same tree"},
               .thresholds = {.what = "the hybrid's threshold changes no count and no bound"},
               .easy = {.what = "lists of uncorrelated problems stay below 5000 nodes"}};
    int bad = paper_open(&s.paper, argc, argv);
    if (bad) return bad;
    s.limit = s.paper.quick ? 200000 : 20000000;
    s.pool = s.paper.quick ? 1 << 21 : 1 << 26;
    s.seeds = s.paper.quick ? 3 : SEEDS;
    warm_up(&s);
    tree_table(&s);
    far_table(&s);
    dominance_table(&s);
    literal_table(&s);
    threshold_table(&s);
    length_table(&s);
    class_table(&s);
    puts("");
    bad = print_check(&s.optima) + print_check(&s.bounds) + print_check(&s.counts) + print_check(&s.literal) +
          print_check(&s.thresholds) + print_check(&s.easy);
    paper_close(&s.paper);
    return bad ? EXIT_FAILED : 0;
}
