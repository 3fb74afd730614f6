/* SPDX-License-Identifier: MIT
 *
 * Runs of the simplex method on the CPU, on ranks and by CLP, and the checks of their results.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/papers/simplex.h"

const way ways[WAYS] = {
    {"immediate", GPUOPT_METHOD_TABLEAU, GPUOPT_PRICING_STEEPEST_EDGE, GPUOPT_RATIO_EXPAND, GPUOPT_OFF, 1},
    {"deferred", GPUOPT_METHOD_TABLEAU, GPUOPT_PRICING_DEVEX, GPUOPT_RATIO_HARRIS, GPUOPT_ON, 0},
};
const int rank_counts[RANKS] = {1, 2, 4};

double limit_of(const study *s, int place) {
    if (s->p.quick) return 1;
    return place == CLP ? 4 : place < RANKS_1 ? 1 : 10;
}

void load_program(const study *s, const char *name, mip *model) {
    char error[1024];
    if (mip_load(name, model, error, sizeof error) == 0) {
        if (mip_columns(model) == 0) return;
        snprintf(error, sizeof error, "%s: out of memory", name);
    }
    fprintf(stderr, "%s: %s\n", s->p.name, error);
    exit(EXIT_FAILED);
}

typedef struct ranks_job {
    simplex_job job;
    figures found; /* of rank 0 */
} ranks_job;

static gpuopt_status run_rank(split_rank *r) {
    ranks_job *all = r->job;
    simplex_job job = all->job;
    gpuopt_status status = r->group ? gpuopt_group_agree(r->group, NULL, 0) : GPUOPT_OK;
    figures f;
    if (status) return status;
    job.context = r->context;
    job.group = r->group;
    f = simplex_run(&job);
    if (r->rank == 0) all->found = f;
    return isnan(f.seconds) ? GPUOPT_ERROR_STATE : GPUOPT_OK;
}

figures solve_on(study *s, const mip *model, const way *w, int place, int on_cpu, double limit) {
    const machine *one = place == CPU_ONE ? s->p.one : place == CPU_ALL ? s->p.all : NULL;
    const split_machine cpu = {0, 0}, *on = on_cpu ? &cpu : &s->on;
    int peers = 0;
    ranks_job all = {.found = figures_of(w->name)};
    all.job =
        (simplex_job){.backend = one || on_cpu ? "cpu" : "cuda",
                      .name = w->name,
                      .model = model,
                      .method = w->method,
                      .algorithm = w->method == GPUOPT_METHOD_TABLEAU ? GPUOPT_ALGORITHM_PRIMAL : GPUOPT_ALGORITHM_AUTO,
                      .pricing = w->pricing,
                      .ratio = w->ratio,
                      .perturbation = w->perturbation,
                      .deferred = w->deferred,
                      .limit = limit,
                      .cap = s->cap};
    if (one) {
        all.job.context = one->context;
        all.found = simplex_run(&all.job);
    } else if (on_cpu || rank_counts[place - RANKS_1] <= s->on.devices) {
        int lost = split_run(on, rank_counts[place - RANKS_1], run_rank, &all, &peers);
        s->peers |= peers;
        if (lost) fprintf(stderr, "%s: %s: %d ranks failed\n", s->p.name, w->name, rank_counts[place - RANKS_1]);
    }
    if (strcmp(all.found.status, gpuopt_outcome_string(GPUOPT_OPTIMAL)) &&
        strcmp(all.found.status, gpuopt_outcome_string(GPUOPT_LIMIT)))
        all.found.seconds = all.found.iterating = NAN;
    return all.found;
}

figures solve_unproven(study *s, const mip *model, const way *w, int place, int on_cpu, const figures *whole) {
    figures f = *whole;
    if (model->columns.rows > PROVEN_ROWS || isnan(whole->seconds) || whole->iterations < 2) return f;
    s->cap = whole->iterations - 1;
    f = solve_on(s, model, w, place, on_cpu, 60);
    s->cap = 0;
    return f;
}

figures solve_clp(const study *s, const mip *model, int dual, double limit) {
    clp_job job = {model, dual, s->cap, limit};
    figures f = clp_run(&job);
    if (strcmp(f.status, "optimal") && strcmp(f.status, "limit")) f.seconds = f.iterating = NAN;
    return f;
}

void put_iterations(table *t, const figures *f) {
    if (isnan(f->seconds)) table_text(t, "-");
    else table_text(t, "%lld", (long long)f->iterations);
}

/* ---- Checks ---- */

void check(study *s, int which, int holds, const char *model, const char *what) {
    s->cases[which]++;
    if (holds) return;
    s->broken[which]++;
    fprintf(stderr, "%s: %s: %s\n", s->p.name, model, what);
}

void check_answer(study *s, const char *model, const figures *f, double reference, double tolerance) {
    char what[NAME];
    double size = fmax(1, fabs(reference));
    if (isnan(f->seconds)) return;
    if (!isnan(reference)) {
        snprintf(what, sizeof what, "%s finds %.15g, not %.15g", f->who, f->objective, reference);
        check(s, CHECK_OPTIMUM, fabs(f->objective - reference) <= tolerance * size, model, what);
    }
    snprintf(what, sizeof what, "%s violates a bound or side by %g, a reduced cost by %g", f->who, f->primal, f->dual);
    check(s, CHECK_VIOLATION, f->primal <= 1e-6 && f->dual <= 1e-6, model, what);
}

static void check_pair(study *s, int which, const char *model, const figures *a, const figures *b) {
    char what[NAME];
    if (isnan(a->seconds) || isnan(b->seconds)) return;
    snprintf(what, sizeof what, "%s: %.17g after %lld iterations; %s: %.17g after %lld", a->who, a->objective,
             (long long)a->iterations, b->who, b->objective, (long long)b->iterations);
    check(s, which, a->iterations == b->iterations && memcmp(&a->objective, &b->objective, sizeof a->objective) == 0,
          model, what);
}

void check_places(study *s, const char *model, const figures *found) {
    check_pair(s, CHECK_THREADS, model, &found[CPU_ONE], &found[CPU_ALL]);
    check_pair(s, CHECK_RANKS, model, &found[RANKS_1], &found[RANKS_2]);
    check_pair(s, CHECK_RANKS, model, &found[RANKS_1], &found[RANKS_4]);
}
