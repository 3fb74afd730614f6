/* SPDX-License-Identifier: MIT
 *
 * The model of the time of an iteration (tests/bench/split_model.h) beside the measured runs, and the speed-ups that it
 * predicts.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/papers/simplex.h"

enum { KNOWN = 11, LARGE = 8000 /* rows */ };

/* Sizes from which the constants come; none is among those of Figure 2. Of large ones only the first iterations are
 * made, with deferred pivots, whose time does not depend on how full the tableau is. Without a large one that time
 * hardly depends on the size. They come last, and are left out where they do not fit. */
static const int cpu_known[KNOWN][2] = {{30, 150},  {50, 150},  {50, 250},  {80, 240},  {80, 400}, {120, 360},
                                        {120, 600}, {150, 450}, {170, 510}, {180, 900}, {220, 660}};
static const int cuda_known[KNOWN][2] = {{60, 240},     {300, 1500},   {600, 3000},   {900, 4500},
                                         {1400, 5600},  {1800, 9000},  {2200, 11000}, {3000, 9000},
                                         {4000, 20000}, {6000, 24000}, {12000, 60000}};

/* The seconds of an iteration by one way; NaN after a failure. */
static double time_iteration(study *s, const mip *model, int w, int r) {
    const int on_cpu = !s->on.cuda;
    figures f;
    s->cap = model->columns.rows > LARGE ? 600 : 0;
    f = solve_on(s, model, &ways[w], RANKS_1 + r, on_cpu, 60);
    s->cap = 0;
    f = solve_unproven(s, model, &ways[w], RANKS_1 + r, on_cpu, &f);
    return f.iterating / (double)f.iterations;
}

/* From runs of one and of two ranks, by all ways. */
static int calibrate(study *s, split_constants c[WAYS]) {
    const int(*size)[2] = s->on.cuda ? cuda_known : cpu_known;
    const int two = !s->on.cuda || s->on.devices > 1;
    double time[WAYS][2][KNOWN];
    int count[WAYS] = {0}, k, w, r;
    for (k = 0; k < KNOWN; k++) {
        char name[NAME];
        mip model;
        snprintf(name, sizeof name, "meyer:%d:%d:%g:7", size[k][0], size[k][1], size[k][0] > LARGE ? .01 : .04);
        load_program(s, name, &model);
        for (w = size[k][0] > LARGE ? DEFERRED : 0; w < WAYS; w++) {
            int good = 1;
            for (r = 0; r <= two; r++) {
                time[w][r][k] = time_iteration(s, &model, w, r);
                good = good && time[w][r][k] > 0;
            }
            if (!good && size[k][0] <= LARGE) return -1;
            count[w] += good;
        }
        mip_free(&model);
    }
    for (w = 0; w < WAYS; w++)
        for (r = 0; r <= two; r++) split_fit(count[w], size, time[w][r], r + 1, &c[w]);
    for (w = 0; w < WAYS && two; w++) {
        c[w].peers = s->peers;
        if (split_exchanges(&s->on, &c[w])) return -1;
    }
    return 0;
}

/* ---- Beside the runs ---- */

/* Predicted seconds of a run: what the run took to create, and its iterations. */
static double predicted(const split_constants *c, const point *at, const figures *f, int ranks) {
    return f->seconds - f->iterating + (double)f->iterations * split_predicted(c, at->rows, at->cols, ranks);
}

static void print_way(study *s, int w, const split_constants *c) {
    const char *kind = s->on.cuda ? "GPU" : "CPU rank";
    char title[2 * NAME], columns[2 * NAME], name[NAME];
    table t;
    int k, r;
    snprintf(title, sizeof title,
             "Section 6: seconds by the model T = T_init + r T_iteration and as measured, %s pivots, the runs of "
             "Figure 2, up to %d rows without the proof that the optimum is exact (T_init and r as measured; the "
             "constants of T_iteration come from other programs)",
             ways[w].name, PROVEN_ROWS);
    snprintf(columns, sizeof columns,
             "rows|cols|1 %s: predicted|measured|error %%|2 %ss: predicted|measured|error %%|4 %ss: predicted|measured|"
             "error %%",
             kind, kind, kind);
    snprintf(name, sizeof name, "simplex_model_%s", ways[w].name);
    table_start(&t, &s->p, name, title, columns);
    for (k = 0; k < s->count; k++) {
        const point *at = &s->points[k];
        table_text(&t, "%d", at->rows);
        table_text(&t, "%d", at->cols);
        for (r = 0; r < RANKS; r++) {
            const figures *f = &at->found[w][r];
            double want = predicted(c, at, f, rank_counts[r]);
            table_number(&t, want);
            table_number(&t, f->seconds);
            table_number(&t, 100 * (want / f->seconds - 1));
        }
    }
    table_end(&t);
}

static void print_correlations(study *s, const split_constants *c) {
    table t;
    int w, r, k;
    table_start(&t, &s->p, "simplex_correlation",
                "Section 6: correlation of the model and the runs (" PAPER_MACHINE ")",
                "ranks|paper: correlation|immediate: correlation|mean error %|largest %|sizes|deferred: correlation|"
                "mean error %|largest %|sizes");
    for (r = 0; r < RANKS; r++) {
        table_text(&t, "%d", rank_counts[r]);
        table_text(&t, "> 0.999");
        for (w = 0; w < WAYS; w++) {
            double want[MOST_POINTS], got[MOST_POINTS], error[MOST_POINTS];
            int count = 0;
            for (k = 0; k < s->count; k++) {
                const figures *f = &s->points[k].found[w][r];
                if (isnan(f->seconds)) continue;
                want[count] = predicted(&c[w], &s->points[k], f, rank_counts[r]);
                got[count] = f->seconds;
                error[count] = 100 * fabs(want[count] / got[count] - 1);
                count++;
            }
            if (count > 1) table_text(&t, "%.5f", correlation(count, want, got));
            else table_text(&t, "-");
            table_number(&t, count ? mean(error, count) : NAN);
            table_number(&t, count ? percentile(error, count, 100) : NAN);
            table_text(&t, "%d", count);
        }
    }
    table_end(&t);
}

/* ---- Speed-ups ---- */

/* How many times as fast `ranks` are as one; through host memory, or through peer memory if two ranks measured that. */
static double speed_up(const split_constants *c, double m, double n, int ranks, int peers) {
    double one = split_predicted(c, m, n, 1), many = split_predicted(c, m, n, ranks);
    if (peers && !c->peers) return NAN;
    if (c->among[0] + c->among[1] + c->among[2] + c->among[3] <= 0) return NAN; /* never measured */
    if (!peers && c->peers) many += log2(ranks) * (c->gather + c->broadcast + c->per_byte * 8 * m);
    return one / many;
}

static void print_speed_ups(study *s, const split_constants *c) {
    static const int sizes[][2] = {{5000, 25000}, {10000, 50000}, {20000, 100000}};
    static const int ranks[] = {2, 4, 8, 16, 32, 40};
    char title[2 * NAME];
    table t;
    size_t k, i;
    int w, peers;
    snprintf(title, sizeof title,
             "Section 6: speed-ups as predicted, not measured, from the constants of 1 and 2 %s (the paper: nearly "
             "optimal up to 40 for m > 5000 and n > 25000)",
             s->on.cuda ? "GPUs" : "CPU ranks");
    table_start(&t, &s->p, "simplex_speedup", title,
                "rows|cols|ranks|paper: speed-up|immediate: peer memory|host memory|deferred: peer memory|host memory");
    for (k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (i = 0; i < sizeof ranks / sizeof *ranks; i++) {
            table_text(&t, "%d", sizes[k][0]);
            table_text(&t, "%d", sizes[k][1]);
            table_text(&t, "%d", ranks[i]);
            if (sizes[k][0] > 5000) table_text(&t, "near %d", ranks[i]);
            else table_text(&t, "-");
            for (w = 0; w < WAYS; w++)
                for (peers = 1; peers >= 0; peers--)
                    table_number(&t, speed_up(&c[w], sizes[k][0], sizes[k][1], ranks[i], peers));
        }
    table_end(&t);
}

static void print_constants(const study *s, const split_constants *c) {
    int w, ranks;
    puts("\nConstants of T_iteration = start + row m + column n / P + cell m n / P");
    for (w = 0; w < WAYS; w++)
        for (ranks = 1; ranks <= 2; ranks++) {
            const double *cost = ranks > 1 ? c[w].among : c[w].alone;
            printf("%s, %d rank%s: start %.3g us, row %.3g ns, column %.3g ns, cell %.3g ns\n", ways[w].name, ranks,
                   ranks > 1 ? "s" : "", 1e6 * cost[0], 1e9 * cost[1], 1e9 * cost[2], 1e9 * cost[3]);
        }
    printf("two ranks: gather %.3g us, broadcast %.3g us and %.3g GB/s through host memory\n", 1e6 * c->gather,
           1e6 * c->broadcast, c->per_byte > 0 ? 1e-9 / c->per_byte : NAN);
    printf("pivots exchange through %s memory\n", c->peers ? "peer" : "host");
    if (s->on.cuda && s->on.devices < 2) puts("one GPU: nothing is predicted for more");
}

void print_model(study *s) {
    split_constants c[WAYS] = {{{0}, {0}, 0, 0, 0, 0}};
    int w;
    if (calibrate(s, c)) {
        fprintf(stderr, "%s: no times for the constants of the model\n", s->p.name);
        exit(EXIT_FAILED);
    }
    print_constants(s, c);
    for (w = 0; w < WAYS; w++) print_way(s, w, &c[w]);
    print_correlations(s, c);
    print_speed_ups(s, c);
}
