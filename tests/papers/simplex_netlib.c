/* SPDX-License-Identifier: MIT
 *
 * The NETLIB models by CLP, the paper's way and ours, against the published optima.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/papers/simplex.h"

enum { MOST_MODELS = 64, LINE = 1024 };

typedef struct entry {
    char name[64];
    int rows, cols;
    double optimum;
} entry;

static int read_index(const study *s, entry *to) {
    char path[LINE], line[LINE];
    FILE *file;
    int count = 0;
    if (!s->p.data) return puts("\nNETLIB is left out: there is no folder of public models"), 0;
    snprintf(path, sizeof path, "%s/netlib/index.csv", s->p.data);
    file = fopen(path, "r");
    if (!file) return printf("\nNETLIB is left out: there is no %s\n", path), 0;
    while (count < MOST_MODELS && fgets(line, sizeof line, file))
        count += sscanf(line, "%63[^,],%d,%d,%*[^,],%*[^,],%*[^,],%*[^,],%lf", to[count].name, &to[count].rows,
                        &to[count].cols, &to[count].optimum) == 4;
    fclose(file);
    return count;
}

/* The library's choice of the method: without a GPU the revised one with sparse factors, for nearly all of these. */
static const way automatic = {"automatic", GPUOPT_METHOD_AUTO, GPUOPT_PRICING_DEVEX, GPUOPT_RATIO_HARRIS, GPUOPT_ON, 0};

enum { CLP_PRIMAL, CPU_IMMEDIATE, CPU_AUTOMATIC, GPU_IMMEDIATE, GPU_DEFERRED, SOLVERS };

static figures solve(study *s, int solver, const mip *model, double limit) {
    /* Those that would pass the limit. */
    if (model->columns.rows > (solver == CPU_IMMEDIATE ? 700 : solver == CPU_AUTOMATIC ? 2000 : 20000))
        return figures_of("-");
    switch (solver) {
    case CLP_PRIMAL: return solve_clp(s, model, 0, limit);
    case CPU_IMMEDIATE: return solve_on(s, model, &ways[IMMEDIATE], CPU_ALL, 0, limit / 2);
    case CPU_AUTOMATIC: return solve_on(s, model, &automatic, CPU_ONE, 0, limit / 2);
    case GPU_IMMEDIATE: return solve_on(s, model, &ways[IMMEDIATE], RANKS_1, 0, limit);
    default: return solve_on(s, model, &ways[DEFERRED], RANKS_1, 0, limit);
    }
}

/* As far as the optimum is published: 7 digits of etamacro. */
static double tolerance_of(const char *name) { return strcmp(name, "etamacro") == 0 ? 1e-7 : 1e-8; }

static void print_entry(study *s, table *t, const entry *e, double limit) {
    char name[2 * LINE], what[2 * NAME];
    figures f[SOLVERS];
    double worst = NAN;
    mip model;
    int k;
    snprintf(name, sizeof name, "%.1900s/netlib/%.63s.mps.xz", s->p.data, e->name);
    load_program(s, name, &model);
    for (k = 0; k < SOLVERS; k++) {
        f[k] = solve(s, k, &model, limit);
        if (k == CLP_PRIMAL || isnan(f[k].seconds)) continue;
        worst = fmax(worst, fabs(f[k].objective - e->optimum) / fmax(1, fabs(e->optimum)));
        snprintf(what, sizeof what, "%.47s finds %.15g, not %.15g", f[k].who, f[k].objective, e->optimum);
        check(s, CHECK_NETLIB, fabs(f[k].objective - e->optimum) <= tolerance_of(e->name) * fmax(1, fabs(e->optimum)),
              e->name, what);
    }
    mip_free(&model);
    table_text(t, "%s", e->name);
    table_text(t, "%d", e->rows);
    table_text(t, "%d", e->cols);
    table_text(t, "%.10g", e->optimum);
    table_number(t, worst);
    for (k = 0; k < SOLVERS; k++) {
        table_number(t, f[k].seconds);
        put_iterations(t, &f[k]);
    }
}

void print_netlib(study *s) {
    static entry entries[MOST_MODELS];
    const double limit = 2;
    const int count = read_index(s, entries), most = s->p.quick ? 600 : 1000000;
    char title[2 * NAME], columns[2 * NAME];
    table t;
    int k;
    if (!count) return;
    snprintf(title, sizeof title,
             "Section 6: NETLIB models, seconds and iterations (\"-\": not there, or over %g s, on the CPU %g s; the "
             "paper: as functional as CLP, without numbers)",
             limit, limit / 2);
    snprintf(columns, sizeof columns,
             "model|rows|cols|published optimum|our largest relative error|CLP primal|iterations|immediate: %d "
             "threads|iterations|automatic: 1 thread|iterations|immediate: GPU|iterations|deferred: GPU|iterations",
             s->p.threads);
    table_start(&t, &s->p, "simplex_netlib", title, columns);
    for (k = 0; k < count; k++)
        if (entries[k].rows + entries[k].cols <= most) print_entry(s, &t, &entries[k], limit);
    table_end(&t);
}
