/* SPDX-License-Identifier: MIT
 *
 * The model of the time of a pivot with a tableau split over ranks (split_model.h), beside measured times. The
 * constants come from ten programs, none of which is in the table.
 *     split_bench cpu|cuda [--ranks N,...] [--pivots N] [--blocks N] [--deferred K] [--sizes ROWSxCOLS,...]
 * --deferred: pivots applied at once, 1: each by itself; default: the library's choice. --sizes: times only programs of
 * these sizes, beside the first number of ranks, without the model. The ranks of cuda have the devices 0, 1, ... If
 * there is only device 0, two ranks share it for their constants, and the table has at most one rank. The least of N
 * blocks (4) of pivots (as many as rows, 64 to 1024) counts. Prints the constants. For each size and number of ranks
 * prints predicted and measured microseconds a pivot, and the error; then its mean and the correlation; and predictions
 * for up to 64 ranks, without measurements.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/mip.h"
#include "tests/bench/bench.h"
#include "tests/bench/split_model.h"

enum { SIZES = 14, KNOWN = 10 };

typedef struct options {
    const char *backend, *ranks, *sizes;
    int64_t pivots, blocks, deferred;
    split_machine on;
} options;

typedef struct job {
    const options *o;
    const mip *model;
    double pivot; /* seconds */
} job;

/* ---- A rank ---- */

static gpuopt_status run_pivots(split_rank *r) {
    job *j = r->job;
    const options *o = j->o;
    gpuopt_simplex_desc desc = mip_simplex_desc(j->model);
    gpuopt_simplex_rules rules = GPUOPT_INIT(gpuopt_simplex_rules);
    gpuopt_simplex *simplex = NULL;
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    /* A call ends by gathering the state of all columns on the CPU, so this many pivots share one. */
    const int64_t most = desc.matrix.rows < 64 ? 64 : desc.matrix.rows < 1024 ? desc.matrix.rows : 1024;
    const int64_t pivots = o->pivots ? o->pivots : most;
    double least = HUGE_VAL;
    int64_t block, before = 0;
    gpuopt_status status;
    desc.method = GPUOPT_METHOD_TABLEAU;
    desc.algorithm = GPUOPT_ALGORITHM_PRIMAL;
    desc.group = r->group;
    desc.rules = &rules;
    rules.rebuild_pivots = INT32_MAX;
    rules.deferred_pivots = (int32_t)o->deferred;
    status = gpuopt_simplex_create(r->context, &desc, NULL, &simplex);
    if (!status) status = gpuopt_simplex_iterate(simplex, 1, &info); /* with the first rebuild */
    for (block = 0; block < o->blocks && !status && info.outcome == GPUOPT_MORE; block++) {
        const int64_t rebuilds = info.rebuilds;
        double start = now(), taken;
        before = info.iterations;
        status = gpuopt_simplex_iterate(simplex, pivots, &info);
        taken = now() - start;
        if (info.rebuilds == rebuilds && info.iterations == before + pivots)
            least = fmin(least, taken / (double)pivots);
    }
    gpuopt_simplex_destroy(simplex);
    if (r->rank == 0) j->pivot = least;
    return status;
}

/* Seconds of a pivot; infinite if the program was solved before a block was full; -1 after a message. */
static double time_pivot(const options *o, int rows, int cols, int ranks, int *peers) {
    job j = {o, NULL, 0};
    char name[64], error[256];
    mip model;
    int status;
    snprintf(name, sizeof name, "plant:%d:%d:%g:1", rows, cols,
             (double)rows * cols > 3e6 ? fmin(0.02, 2e7 / rows / cols) : 0.5);
    if (mip_load(name, &model, error, sizeof error)) return fprintf(stderr, "%s\n", error), -1;
    j.model = &model;
    status = split_run(&o->on, ranks, run_pivots, &j, peers);
    mip_free(&model);
    return status ? -1 : j.pivot;
}

/* Programs from which the constants come. */
static const int cpu_known[KNOWN][2] = {{60, 240},   {100, 500},  {150, 450},  {200, 800},  {250, 1500},
                                        {350, 1050}, {450, 1350}, {500, 2500}, {700, 2100}, {900, 1800}};
static const int cuda_known[KNOWN][2] = {{60, 240},    {400, 1600},   {700, 5600},   {1500, 4500},  {1500, 12000},
                                         {3000, 6000}, {3500, 14000}, {6000, 30000}, {8000, 24000}, {12000, 60000}};

/* The constants of one rank, or of two. */
static int calibrate(const options *o, int ranks, split_constants *c) {
    const int(*size)[2] = o->on.cuda ? cuda_known : cpu_known;
    double time[KNOWN];
    int k;
    for (k = 0; k < KNOWN; k++) {
        time[k] = time_pivot(o, size[k][0], size[k][1], ranks, ranks > 1 ? &c->peers : NULL);
        if (!(time[k] > 0 && time[k] < HUGE_VAL)) return -1;
    }
    split_fit(KNOWN, size, time, ranks, c);
    return 0;
}

/* ---- Output ---- */

static const int cpu_sizes[SIZES][2] = {{100, 300},  {100, 800},  {200, 400},  {200, 1200}, {200, 2000},
                                        {300, 900},  {400, 1600}, {400, 3000}, {600, 1200}, {600, 2400},
                                        {800, 1600}, {800, 2400}, {900, 2700}, {1000, 2800}};
static const int cuda_sizes[SIZES][2] = {{300, 1200},   {500, 1500},   {500, 4000},    {1000, 3000},   {1000, 8000},
                                         {2000, 4000},  {2000, 12000}, {3000, 9000},   {4000, 8000},   {4000, 20000},
                                         {5000, 15000}, {5000, 25000}, {10000, 50000}, {20000, 100000}};

static void print_constants(const options *o, const split_constants *c) {
    int ranks;
    printf("%d CUDA devices\n", o->on.devices);
    for (ranks = 1; ranks <= 2; ranks++) {
        const double *cost = ranks == 2 ? c->among : c->alone;
        printf("%d rank%s: start %.3g us, row %.3g ns, column %.3g ns, cell %.3g ns\n", ranks,
               ranks == 1           ? ""
               : o->on.devices == 1 ? "s on one device"
                                    : "s",
               cost[0] * 1e6, cost[1] * 1e9, cost[2] * 1e9, cost[3] * 1e9);
    }
    printf("gather %.3g us, broadcast %.3g us and %.3g GB/s\n", c->gather * 1e6, c->broadcast * 1e6,
           c->per_byte > 0 ? 1e-9 / c->per_byte : HUGE_VAL);
    printf("two ranks exchange through %s\n", c->peers ? "peer memory" : "host memory");
}

static int print_measured(const options *o, const split_constants *c, int ranks) {
    const int(*sizes)[2] = o->on.cuda ? cuda_sizes : cpu_sizes;
    double want[SIZES], got[SIZES], worst = 0, sum = 0;
    int k, count = 0;
    for (k = 0; k < SIZES; k++) {
        const double model = split_predicted(c, sizes[k][0], sizes[k][1], ranks);
        const double measured = time_pivot(o, sizes[k][0], sizes[k][1], ranks, NULL), error = model / measured - 1;
        if (measured < 0) return -1;
        if (!(measured < HUGE_VAL)) {
            printf("%6d %6d %3d %12.2f %12s\n", sizes[k][0], sizes[k][1], ranks, model * 1e6, "-");
            continue;
        }
        want[count] = model;
        got[count++] = measured;
        worst = fmax(worst, fabs(error));
        sum += fabs(error);
        printf("%6d %6d %3d %12.2f %12.2f %+7.1f%%\n", sizes[k][0], sizes[k][1], ranks, model * 1e6, measured * 1e6,
               100 * error);
        fflush(stdout);
    }
    if (count > 1)
        printf("%d ranks, %d sizes: mean error %.1f%%, largest %.1f%%, correlation %.4f\n", ranks, count,
               100 * sum / count, 100 * worst, correlation(count, want, got));
    return 0;
}

/* Programs of the sizes that were asked for. */
static int print_sizes(const options *o) {
    const char *size = o->sizes, *at;
    char word[NAME], number[NAME];
    printf("%6s %6s %3s %12s %8s\n", "rows", "cols", "P", "us a pivot", "times");
    while (next_word(&size, word)) {
        double first = 0;
        int rows, cols;
        if (sscanf(word, "%dx%d", &rows, &cols) != 2 || rows < 1 || cols < 1)
            return fprintf(stderr, "split_bench: %s is no size\n", word), -1;
        for (at = o->ranks; next_word(&at, number);) {
            int64_t ranks = 0;
            double measured;
            if (!whole_number(number, MOST_RANKS, &ranks)) return -1;
            measured = time_pivot(o, rows, cols, (int)ranks, NULL);
            printf("%6d %6d %3d ", rows, cols, (int)ranks);
            if (measured < 0 || !(measured < HUGE_VAL)) {
                printf("%12s\n", measured < 0 ? "failed" : "-");
                continue;
            }
            if (first == 0) first = measured;
            printf("%12.2f %8.2f\n", measured * 1e6, first / measured);
            fflush(stdout);
        }
    }
    return 0;
}

/* See parse_options(). */
static const char *const values[] = {"ranks", "pivots", "blocks", "deferred", "sizes", NULL};

static int take(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "ranks") == 0) return *(o->ranks = value) != 0;
    if (strcmp(name, "pivots") == 0) return whole_number(value, 100000, &o->pivots);
    if (strcmp(name, "blocks") == 0) return whole_number(value, 100000, &o->blocks);
    if (strcmp(name, "deferred") == 0) return whole_number(value, 100000, &o->deferred);
    if (strcmp(name, "sizes") == 0) return *(o->sizes = value) != 0;
    return 0;
}

int main(int argc, char **argv) {
    static const char usage[] = "usage: split_bench cpu|cuda [--ranks N,...] [--pivots N] [--blocks N] [--deferred K]\n"
                                "                   [--sizes ROWSxCOLS,...]\n";
    static const int beyond[][2] = {{2000, 10000}, {10000, 50000}, {20000, 100000}};
    options o = {NULL, "1,2", NULL, 0, 4, 0, {0, 0}};
    split_constants c;
    const char *at;
    char word[NAME];
    int json, ranks;
    size_t k;
    memset(&c, 0, sizeof c);
    if (parse_options(argc, argv, usage, values, NULL, take, &o, &o.backend, &json)) return EXIT_BAD_INPUT;
    o.on.cuda = strcmp(o.backend, "cuda") == 0;
    if (!o.on.cuda && strcmp(o.backend, "cpu")) return fputs(usage, stderr), EXIT_BAD_INPUT;
    if (o.on.cuda) o.on.devices = split_devices();
    if (o.on.cuda && o.on.devices == 0) return fprintf(stderr, "split_bench: no backend cuda here\n"), EXIT_FAILED;
    if (o.sizes) return print_sizes(&o) ? EXIT_FAILED : finish_output(0);
    if (calibrate(&o, 1, &c) || calibrate(&o, 2, &c) || split_exchanges(&o.on, &c))
        return fprintf(stderr, "split_bench: no times for the constants\n"), EXIT_FAILED;
    print_constants(&o, &c);
    printf("%6s %6s %3s %12s %12s %8s\n", "rows", "cols", "P", "predicted us", "measured us", "error");
    for (at = o.ranks; next_word(&at, word);) {
        int64_t wanted = 0;
        if (!whole_number(word, MOST_RANKS, &wanted)) return fputs(usage, stderr), EXIT_BAD_INPUT;
        if (o.on.cuda && wanted > o.on.devices)
            printf("%d ranks: not measured, for want of as many devices\n", (int)wanted);
        else if (print_measured(&o, &c, (int)wanted)) return EXIT_FAILED;
    }
    printf("Predictions, not measured:\n");
    for (k = 0; k < sizeof beyond / sizeof *beyond; k++)
        for (ranks = 1; ranks <= 64; ranks *= 2)
            printf("%6d %6d %3d %12.2f %12s\n", beyond[k][0], beyond[k][1], ranks,
                   split_predicted(&c, beyond[k][0], beyond[k][1], ranks) * 1e6, "predicted");
    return finish_output(0);
}
