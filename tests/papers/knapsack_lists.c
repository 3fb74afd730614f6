/* SPDX-License-Identifier: MIT
 *
 * What the length of a list decides: the hybrid's threshold, speed-ups by length, and classes with short lists.
 */
#include <math.h>
#include <string.h>

#include "tests/papers/knapsack_study.h"

/* ---- The hybrid's threshold ---- */

void threshold_table(study *s) {
    static const int32_t thresholds[] = {256, 512, 1024, 2048, 4096, 5000, 8192, 16384, 32768, 65536};
    static const int sizes[] = {100, 300, 500};
    enum { COUNT = sizeof thresholds / sizeof *thresholds, KINDS = sizeof sizes / sizeof *sizes };
    const machine *on = s->paper.gpu ? s->paper.gpu : s->paper.one;
    double total[COUNT][KINDS] = {{0}}, seconds;
    gpuopt_knapsack_desc options = tree_options(s);
    gpuopt_knapsack_info info, first;
    char title[2 * NAME];
    int k, kind, seed;
    table t;
    options.search = GPUOPT_SEARCH_HYBRID;
    options.node_limit = s->limit / 4;
    memset(&first, 0, sizeof first);
    for (kind = 0; kind < KINDS; kind++)
        for (seed = 1; seed <= s->seeds; seed++) {
            instance of;
            instance_open(&of, "paper:%d:%d", sizes[kind], seed);
            for (k = 0; k < COUNT; k++) {
                total[k][kind] += s->paper.gpu ? 0 : NAN;
                if (!s->paper.gpu && k > 0 && k < COUNT - 1) continue; /* the CPU backend ignores it */
                options.hybrid_threshold = thresholds[k];
                search_one(s, on, &of, &options, NULL, &seconds, &info);
                total[k][kind] += 1e3 * seconds / s->seeds;
                if (k == 0) first = info;
                check_case(&s->thresholds,
                           info.expanded == first.expanded && info.pruned == first.pruned &&
                               info.primal_bound == first.primal_bound && info.dual_bound == first.dual_bound,
                           of.name, "other counts or bounds with another threshold");
            }
            instance_close(&of);
        }
    snprintf(title, sizeof title,
             "Section 3.2.2: the hybrid by the length from which lists go to the GPU, ms, means of %d instances, at "
             "most %lld nodes each (paper: Tesla C2050, more than 5000 nodes).",
             s->seeds, (long long)options.node_limit);
    table_start(&t, &s->paper, "knapsack_threshold", title,
                "threshold|paper|GPU, hybrid, n = 100|GPU, hybrid, n = 300|GPU, hybrid, n = 500");
    for (k = 0; k < COUNT; k++) {
        table_text(&t, "%d", (int)thresholds[k]);
        table_text(&t, thresholds[k] == 5000 ? "chosen" : "-");
        for (kind = 0; kind < KINDS; kind++) table_number(&t, total[k][kind]);
    }
    table_end(&t);
}

/* ---- Speed-ups by the length of lists ---- */

enum { LENGTHS = 14 }; /* from 4^k to less than 4^(k + 1) nodes */

typedef struct by_length {
    double nodes[LENGTHS], seconds[LENGTHS];
} by_length;

static void add_step(void *data, int64_t nodes, int64_t children, double seconds) {
    by_length *sum = data;
    int k = 0;
    (void)children;
    while (k < LENGTHS - 1 && nodes >= (int64_t)1 << (2 * k + 2)) k++;
    sum->nodes[k] += (double)nodes;
    sum->seconds[k] += seconds;
}

void length_table(study *s) {
    static const char *const names[] = {"paper:100:3", "paper:200:3", "paper:300:1", "paper:400:1", "paper:500:1"};
    enum { COUNT = sizeof names / sizeof *names };
    by_length sum[WAYS];
    step_hook hook[WAYS];
    double seconds[WAYS], rate[WAYS];
    gpuopt_knapsack_desc options = tree_options(s);
    gpuopt_knapsack_info info;
    char title[2 * NAME];
    int k, way;
    table t;
    memset(sum, 0, sizeof sum);
    for (way = 0; way < WAYS; way++) hook[way] = (step_hook){add_step, &sum[way]};
    options.node_limit = 4 * s->limit;
    options.pool = 4 * s->pool;
    for (k = 0; k < COUNT; k++) {
        instance of;
        instance_open(&of, "%s", names[k]);
        search_all(s, &of, &options, hook, seconds, &info);
        instance_close(&of);
    }
    snprintf(title, sizeof title,
             "Section 4: speed-up by the number of nodes in a step's list, over one thread (paper: up to 11 on a Tesla "
             "C2050 for many nodes). Million nodes a second, over %d instances of 100 to 500 items, at most %lld nodes "
             "each. Threads: %d.",
             (int)COUNT, (long long)options.node_limit, s->paper.threads);
    table_start(&t, &s->paper, "knapsack_lengths", title,
                "list from|to less than|M nodes|CPU|CPU, threads|GPU, hybrid|GPU, breadth|speed-up, threads|"
                "speed-up, hybrid|speed-up, breadth");
    for (k = 3; k < LENGTHS; k++) {
        if (sum[CPU_ONE].nodes[k] == 0) continue;
        for (way = 0; way < WAYS; way++) rate[way] = 1e-6 * sum[way].nodes[k] / sum[way].seconds[k];
        table_text(&t, "%lld", 1LL << (2 * k));
        table_text(&t, "%lld", 1LL << (2 * k + 2));
        table_number(&t, 1e-6 * sum[CPU_ONE].nodes[k]);
        for (way = 0; way < WAYS; way++) table_number(&t, rate[way]);
        for (way = 1; way < WAYS; way++) table_number(&t, rate[way] / rate[CPU_ONE]);
    }
    table_end(&t);
}

/* ---- Other classes ---- */

static void class_row(study *s, table *t, const char *class, int n) {
    const int easy = strcmp(class, "uncorrelated") == 0;
    gpuopt_knapsack_desc options = tree_options(s);
    gpuopt_knapsack_info info;
    double seconds[WAYS], total[WAYS] = {0}, nodes = 0, longest = 0;
    int seed, way, ended = 0;
    options.node_limit = s->limit / 4;
    for (seed = 1; seed <= s->seeds; seed++) {
        instance of;
        instance_open(&of, "%s:%d:100:%d", class, n, seed);
        search_all(s, &of, &options, NULL, seconds, &info);
        if (easy) check_case(&s->easy, info.peak < 5000, of.name, "a long list");
        instance_close(&of);
        for (way = 0; way < WAYS; way++) total[way] += 1e3 * seconds[way] / s->seeds;
        nodes += (double)info.expanded / s->seeds;
        longest = fmax(longest, (double)info.peak);
        ended += info.outcome == GPUOPT_OPTIMAL;
    }
    table_text(t, "%s", class);
    table_text(t, "%d", n);
    table_text(t, "%d", ended);
    table_text(t, "%.0f", nodes);
    table_text(t, "%.0f", longest);
    for (way = 0; way < WAYS; way++) table_number(t, total[way]);
    table_text(t, easy ? "none" : "-");
    for (way = GPU_HYBRID; way < WAYS; way++) table_number(t, total[CPU_ONE] / total[way]);
}

void class_table(study *s) {
    static const char *const others[] = {"weak",           "inverse-strong",  "subset-sum",
                                         "profit-ceiling", "multiple-strong", "circle"};
    char title[2 * NAME];
    table t;
    size_t k;
    int n;
    snprintf(title, sizeof title,
             "Section 4: other classes, weights or profits up to 100, ms, means of %d instances, at most %lld nodes "
             "each (paper: uncorrelated problems only, Tesla C2050). Threads: %d.",
             s->seeds, (long long)s->limit / 4, s->paper.threads);
    table_start(&t, &s->paper, "knapsack_classes", title,
                "class|n|ended|nodes|longest list|CPU|CPU, threads|GPU, hybrid|GPU, breadth|paper speed-up|"
                "speed-up, hybrid|speed-up, breadth");
    for (n = 100; n <= 500; n += 100) class_row(s, &t, "uncorrelated", n);
    for (k = 0; k < sizeof others / sizeof *others; k++) class_row(s, &t, others[k], 500);
    table_end(&t);
}
