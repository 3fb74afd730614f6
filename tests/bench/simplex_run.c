/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "tests/bench/simplex_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common.h"
#include "gpuopt/group.h"

/* In pieces that let the clock be read about every half second. On the GPU the end of a piece costs an exchange of some
 * 100 us, so the first piece is long. */
static gpuopt_status iterate(gpuopt_simplex *simplex, const simplex_job *j, gpuopt_simplex_info *info,
                             double *seconds) {
    int64_t piece = strcmp(j->backend, "cuda") == 0 ? 2000 : 16;
    gpuopt_status status = GPUOPT_OK;
    gpuopt_desc_init(info, sizeof *info);
    *seconds = 0;
    while (!status && info->outcome == GPUOPT_MORE && *seconds < j->limit) {
        double taken = now();
        status = gpuopt_simplex_iterate(simplex, piece, info);
        taken = now() - taken;
        /* All ranks make the same pieces. */
        if (!status && j->group) status = gpuopt_group_all_reduce(j->group, GPUOPT_REDUCE_MAX, 1, NULL, &taken);
        *seconds += taken;
        if (taken < 0.25) piece *= 2;
        else if (taken > 1 && piece > 1) piece /= 2;
    }
    return status;
}

static gpuopt_status take_answer(gpuopt_simplex *simplex, const mip *model, figures *f) {
    double *x = calloc((size_t)model->columns.cols + 1, sizeof *x);
    double *dual = calloc((size_t)model->columns.rows + 1, sizeof *dual);
    gpuopt_status status =
        x && dual
            ? gpuopt_simplex_get_solution(
                  simplex, GPUOPT_HOST,
                  &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x, .dual = dual})
            : GPUOPT_ERROR_MEMORY;
    if (!status) figures_check(f, model, x, dual);
    free(x);
    free(dual);
    return status;
}

/* The bytes that an iteration on dense data must move. An immediate pivot reads and writes the tableau. A deferred pivot
 * moves a K-th of that, and reads the collected pivots, on average K / 2 columns and rows. */
static double least_bytes(const mip *model, double deferred_pivots) {
    double m = model->columns.rows, n = model->columns.cols, collected = 8 * (m + n) * deferred_pivots / 2;
    return 16 * m * n / deferred_pivots + (deferred_pivots > 1 ? collected : 0);
}

figures simplex_run(const void *of) {
    const simplex_job *j = of;
    gpuopt_simplex_desc desc = mip_simplex_desc(j->model);
    gpuopt_simplex_rules rules = GPUOPT_INIT(gpuopt_simplex_rules);
    gpuopt_simplex *simplex = NULL;
    gpuopt_simplex_info info;
    gpuopt_status status;
    figures f = figures_of(j->backend);
    double create;
    snprintf(f.who, sizeof f.who, "%s %s", j->backend, j->name);
    desc.method = j->method;
    desc.rules = &rules;
    desc.group = j->group;
    rules.pricing = j->pricing;
    rules.ratio = j->ratio;
    rules.perturbation = j->perturbation;
    rules.deferred_pivots = j->deferred;
    desc.algorithm = j->algorithm;
    desc.iteration_limit = j->cap;
    create = now();
    status = gpuopt_simplex_create(j->context, &desc, NULL, &simplex);
    create = now() - create;
    if (!status) status = iterate(simplex, j, &info, &f.iterating);
    if (!status && info.outcome == GPUOPT_OPTIMAL) status = take_answer(simplex, j->model, &f);
    if (!status && j->warming) status = gpuopt_simplex_rebuild(simplex, 1, NULL);
    gpuopt_simplex_destroy(simplex);
    f.status = status ? gpuopt_status_string(status) : gpuopt_outcome_string(info.outcome);
    if (status) return f;
    if (info.outcome == GPUOPT_MORE) f.status = "over limit";
    else if (info.outcome != GPUOPT_OPTIMAL) f.objective = info.objective;
    f.seconds = create + f.iterating;
    f.iterations = info.iterations;
    if (desc.method == GPUOPT_METHOD_TABLEAU) f.bytes = least_bytes(j->model, info.deferred_pivots);
    snprintf(f.who, sizeof f.who, "%s %s K=%d", j->backend, j->name, (int)info.deferred_pivots);
    return f;
}
