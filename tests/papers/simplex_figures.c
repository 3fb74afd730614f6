/* SPDX-License-Identifier: MIT
 *
 * Figures 2 and 3 as tables: time against size and against density.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/papers/simplex.h"

/* ---- Figure 2 ---- */

enum { CLP_PRIMAL = WAYS * PLACES, CLP_DUAL, SERIES };

/* Solves by all series that were not over the limit at a smaller size. */
static void solve_size(study *s, const char *name, const mip *model, int passed[SERIES], figures found[SERIES]) {
    double reference = model->optimum_known ? model->optimum : NAN;
    int k;
    for (k = SERIES - 1; k >= 0; k--) { /* CLP first: its optimum is the reference */
        int place = k % PLACES,
            none = k < CLP_PRIMAL && place >= RANKS_1 && rank_counts[place - RANKS_1] > s->on.devices;
        found[k] = figures_of("-");
        if (none || passed[k]) continue;
        found[k] = k >= CLP_PRIMAL ? solve_clp(s, model, k == CLP_DUAL, limit_of(s, CLP))
                                   : solve_on(s, model, &ways[k / PLACES], place, 0, limit_of(s, place));
        passed[k] = isnan(found[k].seconds);
        if (k < CLP_PRIMAL) check_answer(s, name, &found[k], reference, 1e-6);
        else if (!model->optimum_known && !isnan(found[k].seconds)) reference = found[k].objective; /* the primal's */
    }
    for (k = 0; k < WAYS; k++) check_places(s, name, &found[k * PLACES]);
}

/* Without a GPU the model of the time is that of CPU ranks. */
static void keep_point(study *s, const char *name, const mip *model, const figures found[SERIES]) {
    point *to = &s->points[s->count++];
    int w, r;
    to->rows = model->columns.rows;
    to->cols = model->columns.cols;
    for (w = 0; w < WAYS; w++) {
        figures of[PLACES];
        memcpy(of, &found[w * PLACES], sizeof of);
        if (!s->on.cuda) {
            of[RANKS_1] = of[CPU_ONE];
            of[RANKS_2] = solve_on(s, model, &ways[w], RANKS_2, 1, limit_of(s, CPU_ONE));
            check_places(s, name, of);
        }
        for (r = 0; r < RANKS; r++)
            to->found[w][r] = solve_unproven(s, model, &ways[w], !s->on.cuda && r == 0 ? CPU_ONE : RANKS_1 + r,
                                             !s->on.cuda && r > 0, &of[RANKS_1 + r]);
    }
}

static void print_family(study *s, const char *family, const char *table_name, int count, const int *rows) {
    char title[2 * NAME], columns[4 * NAME], name[NAME];
    int passed[SERIES] = {0}, k, i;
    table t;
    snprintf(title, sizeof title,
             "Figure 2: seconds to the optimum against the size, %s:ROWS:COLS:0.04:1 (density 4%%; %s, with its own "
             "generator). \"-\": not there, or over the limit: CLP %g s, CPU %g s, GPUs %g s (the paper's: 1800 s).",
             family, PAPER_MACHINE, limit_of(s, CLP), limit_of(s, CPU_ONE), limit_of(s, RANKS_1));
    snprintf(columns, sizeof columns,
             "rows|cols|paper: faster|paper: CLP|CLP primal|CLP dual|immediate: 1 thread|%d threads|GPU|2 GPUs|4 GPUs|"
             "deferred: 1 thread|%d threads|GPU|2 GPUs|4 GPUs|iterations: CLP|immediate|deferred",
             s->p.threads, s->p.threads);
    table_start(&t, &s->p, table_name, title, columns);
    for (k = 0; k < count; k++) {
        figures found[SERIES];
        mip model;
        const int first = s->on.cuda ? RANKS_1 : CPU_ONE;
        snprintf(name, sizeof name, "%s:%d:%d:0.04:1", family, rows[k], 5 * rows[k]);
        load_program(s, name, &model);
        solve_size(s, name, &model, passed, found);
        if (strcmp(family, "meyer") == 0) keep_point(s, name, &model, found);
        mip_free(&model);
        table_text(&t, "%d", rows[k]);
        table_text(&t, "%d", 5 * rows[k]);
        table_text(&t, rows[k] > 750 ? "GPU" : "CLP if small");
        table_text(&t, rows[k] > 1250 ? "> 1800 s" : "-");
        table_number(&t, found[CLP_PRIMAL].seconds);
        table_number(&t, found[CLP_DUAL].seconds);
        for (i = 0; i < WAYS * PLACES; i++) table_number(&t, found[i].seconds);
        put_iterations(&t, &found[CLP_PRIMAL]);
        put_iterations(&t, &found[first]);
        put_iterations(&t, &found[DEFERRED * PLACES + first]);
    }
    table_end(&t);
}

void print_sizes(study *s) {
    static const int quick[] = {20, 40, 60, 100, 150}, hard[] = {30, 60, 100},
                     full[] = {20, 50, 100, 250, 500, 750, 1000, 1250, 2500, 3500, 5000},
                     full_hard[] = {50, 100, 250, 500, 750, 1000, 1500};
    if (s->p.quick) {
        print_family(s, "meyer", "simplex_fig2", 5, quick);
        print_family(s, "plant", "simplex_fig2_hard", 3, hard);
    } else {
        print_family(s, "meyer", "simplex_fig2", 11, full);
        print_family(s, "plant", "simplex_fig2_hard", 7, full_hard);
    }
}

/* ---- Figure 3 ---- */

enum { FIG3_PLACES = 3 };
static const int fig3_places[FIG3_PLACES] = {CPU_ONE, CPU_ALL, RANKS_1};

/* Runs all on one program; they must agree on the optimum if there is no cap. */
static void solve_density(study *s, const char *name, const mip *model, figures clp[2], figures found[WAYS][PLACES]) {
    int w, i;
    for (i = 0; i < 2; i++) clp[i] = solve_clp(s, model, i, limit_of(s, CLP));
    for (w = 0; w < WAYS; w++) {
        for (i = 0; i < PLACES; i++) found[w][i] = figures_of("-");
        for (i = 0; i < FIG3_PLACES; i++) {
            const int place = fig3_places[i];
            found[w][place] = solve_on(s, model, &ways[w], place, 0, limit_of(s, place));
            if (!s->cap) check_answer(s, name, &found[w][place], clp[0].objective, 1e-6);
        }
        check_places(s, name, found[w]);
    }
}

static double each(const figures *f) { return 1e6 * f->iterating / (double)f->iterations; }

/* With a cap microseconds of an iteration, else seconds of whole runs. */
static void print_fig3(study *s, const char *table_name, const char *title, const char *family, int rows, int cols,
                       int count, const double *density) {
    char columns[2 * NAME], name[NAME];
    table t;
    int k, w, i;
    snprintf(columns, sizeof columns,
             "density %%|paper: faster|CLP primal|CLP dual|immediate: 1 thread|%d threads|GPU|deferred: 1 thread|"
             "%d threads|GPU|iterations: CLP|immediate|deferred",
             s->p.threads, s->p.threads);
    table_start(&t, &s->p, table_name, title, columns);
    for (k = 0; k < count; k++) {
        figures clp[2], found[WAYS][PLACES];
        mip model;
        snprintf(name, sizeof name, "%s:%d:%d:%g:1", family, rows, cols, density[k] / 100);
        load_program(s, name, &model);
        solve_density(s, name, &model, clp, found);
        mip_free(&model);
        table_number(&t, density[k]);
        table_text(&t, density[k] > 5 ? "GPU" : "CLP");
        for (i = 0; i < 2; i++) table_number(&t, s->cap ? each(&clp[i]) : clp[i].seconds);
        for (w = 0; w < WAYS; w++)
            for (i = 0; i < FIG3_PLACES; i++) {
                const figures *f = &found[w][fig3_places[i]];
                table_number(&t, s->cap ? each(f) : f->seconds);
            }
        put_iterations(&t, &clp[0]);
        for (w = 0; w < WAYS; w++) put_iterations(&t, &found[w][s->on.cuda ? RANKS_1 : CPU_ONE]);
    }
    table_end(&t);
}

/* ---- How density grows ---- */

enum { STEPS = 8, MODELS = 4 };

/* The share of entries that are not 0 in the tableau's nonbasic columns, in percent; NaN after a failure. */
static double share_of(gpuopt_simplex *simplex, const mip *model) {
    const int32_t m = model->columns.rows, n = model->columns.cols, all = m + n;
    double *rows = malloc(sizeof *rows * (size_t)m * (size_t)all), result = NAN;
    int32_t *head = malloc(sizeof *head * (size_t)m), i, j;
    char *basic = calloc((size_t)all, 1);
    int64_t entries = 0;
    for (i = 0; head && i < m; i++) head[i] = i;
    if (rows && head && basic && !gpuopt_simplex_get_tableau_rows(simplex, GPUOPT_HOST, m, head, rows) &&
        !gpuopt_simplex_get_basic_variables(simplex, GPUOPT_HOST, head)) {
        for (i = 0; i < m; i++) basic[head[i]] = 1;
        for (i = 0; i < m; i++)
            for (j = 0; j < all; j++) entries += !basic[j] && fabs(rows[(size_t)i * (size_t)all + (size_t)j]) > 1e-9;
        result = 100 * (double)entries / ((double)m * n);
    }
    free(rows);
    free(head);
    free(basic);
    return result;
}

/* The shares after each eighth of the iterations of the paper's way. */
static void follow(study *s, const char *name, double share[STEPS + 1]) {
    mip model;
    figures whole;
    gpuopt_simplex_desc desc;
    gpuopt_simplex_rules rules = GPUOPT_INIT(gpuopt_simplex_rules);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex *simplex = NULL;
    gpuopt_status status;
    int64_t done = 0;
    int k;
    load_program(s, name, &model);
    whole = solve_on(s, &model, &ways[IMMEDIATE], CPU_ALL, 0, 60);
    desc = mip_simplex_desc(&model);
    desc.method = GPUOPT_METHOD_TABLEAU;
    desc.algorithm = GPUOPT_ALGORITHM_PRIMAL;
    desc.rules = &rules;
    rules.pricing = ways[IMMEDIATE].pricing;
    rules.ratio = ways[IMMEDIATE].ratio;
    rules.perturbation = ways[IMMEDIATE].perturbation;
    rules.deferred_pivots = ways[IMMEDIATE].deferred;
    status = gpuopt_simplex_create(s->p.all->context, &desc, NULL, &simplex);
    for (k = 0; k <= STEPS; k++) {
        const int64_t next = whole.iterations * k / STEPS;
        if (!status && next > done) status = gpuopt_simplex_iterate(simplex, next - done, &info);
        done = next;
        share[k] = status ? NAN : share_of(simplex, &model);
    }
    check(s, CHECK_DENSITY,
          fabs(share[0] - 100 * (double)mip_nonzeros(&model) / model.columns.rows / model.columns.cols) < 1e-9, name,
          "the first tableau has other entries than A");
    gpuopt_simplex_destroy(simplex);
    mip_free(&model);
}

static void print_growth(study *s, int rows, int cols) {
    static const double density[MODELS] = {.005, .01, .02, .04};
    double share[MODELS][STEPS + 1];
    char title[2 * NAME], name[NAME];
    table t;
    int k, step;
    snprintf(
        title, sizeof title,
        "Section 6: the share of entries that are not 0 in the tableau, in %%, during a run, meyer:%d:%d:DENSITY:1 "
        "(the paper: density often increased significantly)",
        rows, cols);
    table_start(&t, &s->p, "simplex_growth", title, "iterations %|density 0.5%|1%|2%|4%");
    for (k = 0; k < MODELS; k++) {
        snprintf(name, sizeof name, "meyer:%d:%d:%g:1", rows, cols, density[k]);
        follow(s, name, share[k]);
    }
    for (step = 0; step <= STEPS; step++) {
        table_number(&t, 100. * step / STEPS);
        for (k = 0; k < MODELS; k++) table_number(&t, share[k][step]);
    }
    table_end(&t);
}

void print_densities(study *s) {
    static const double full[] = {.5, 1, 2, 3.5, 5, 7.5, 10, 20, 50, 100}, quick[] = {1, 5, 20, 100};
    const double *density = s->p.quick ? quick : full;
    const int rows = s->p.quick ? 100 : 500, cols = 4 * rows, count = s->p.quick ? 4 : 10;
    char title[2 * NAME];
    s->cap = s->p.quick ? 100 : 500;
    snprintf(title, sizeof title,
             "Figure 3: microseconds of an iteration against the density, the first %d of plant:%d:%d:DENSITY:1 "
             "(%s; 500 x 2000)",
             (int)s->cap, rows, cols, PAPER_MACHINE);
    print_fig3(s, "simplex_fig3", title, "plant", rows, cols, count, density);
    s->cap = 0;
    snprintf(title, sizeof title, "The same densities in whole runs: seconds to the optimum, meyer:%d:%d:DENSITY:1",
             rows, cols);
    print_fig3(s, "simplex_fig3_runs", title, "meyer", rows, cols, count, density);
    print_growth(s, rows, cols);
}
