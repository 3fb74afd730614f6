/* SPDX-License-Identifier: MIT */
#include "gpuopt/search.h"
#include "tests/group/script.h"

#include <stdlib.h>
#include <string.h>

typedef struct host {
    gpuopt_simplex *simplex;
    script_log *log;
    int32_t rows, cols;
    double *values;         /* [2 * (rows + cols)] */
    int32_t *list;          /* [rows + cols] */
    uint8_t *basis, *slack; /* [rows + cols] */
    gpuopt_status worst;
} host;

static void put(script_log *log, const void *bytes, size_t size) {
    if (log->size + size > log->capacity) {
        log->capacity = 2 * (log->size + size);
        log->bytes = realloc(log->bytes, log->capacity);
    }
    memcpy(log->bytes + log->size, bytes, size);
    log->size += size;
}

/* Notes a call's status; whether it filled its arrays. */
static int went(host *h, gpuopt_status status) {
    put(h->log, &status, sizeof status);
    h->log->calls++;
    if (status && status != GPUOPT_ERROR_NUMERIC && status != GPUOPT_ERROR_STATE && !h->worst) h->worst = status;
    return status == GPUOPT_OK;
}

static void record(host *h, gpuopt_status status, const void *what, size_t size) {
    if (went(h, status)) put(h->log, what, size);
}

static gpuopt_simplex_info state(host *h) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    record(h, gpuopt_simplex_get_info(h->simplex, &info), &info, sizeof info);
    record(h, gpuopt_simplex_get_basic_variables(h->simplex, GPUOPT_HOST, h->list), h->list,
           sizeof *h->list * (size_t)h->rows);
    record(h, gpuopt_simplex_get_basis(h->simplex, GPUOPT_HOST, h->basis), h->basis, (size_t)(h->rows + h->cols));
    return info;
}

/* Iterates until there is an outcome. */
static gpuopt_simplex_info solve(host *h, int64_t step) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    do {
        record(h, gpuopt_simplex_iterate(h->simplex, step, &info), &info, sizeof info);
        if (step == 1) info = state(h);
    } while (!h->worst && info.outcome == GPUOPT_MORE && info.iterations < 100000);
    return state(h);
}

/* Some iterations with variables chosen by the caller: the last candidate of three. */
static void choose(host *h) {
    gpuopt_simplex_entering entering = GPUOPT_INIT(gpuopt_simplex_entering);
    gpuopt_simplex_candidate candidate[3];
    gpuopt_simplex_leaving leaving = GPUOPT_INIT(gpuopt_simplex_leaving);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    int32_t k, found = 0;
    for (k = 0; k < 6 && !h->worst; k++) {
        memset(candidate, 0, sizeof candidate);
        record(h, gpuopt_simplex_price(h->simplex, &entering), &entering, sizeof entering);
        record(h, gpuopt_simplex_candidates(h->simplex, 3, candidate, &found), candidate, sizeof candidate);
        if (found == 0) return;
        record(h,
               gpuopt_simplex_ratio_test(h->simplex, candidate[found - 1].variable, candidate[found - 1].direction,
                                         &leaving),
               &leaving, sizeof leaving);
        if (leaving.flip)
            record(h, gpuopt_simplex_flip(h->simplex, candidate[found - 1].variable, &info), &info, sizeof info);
        else if (leaving.variable >= 0)
            record(h,
                   gpuopt_simplex_pivot(h->simplex, candidate[found - 1].variable, leaving.variable, leaving.to_upper,
                                        &info),
                   &info, sizeof info);
        state(h);
    }
}

static void read_solution(host *h) {
    double *x = h->values, *d = x + h->cols, *activity = d + h->cols, *dual = activity + h->rows, bound = 0;
    const size_t all = sizeof(double) * 2 * (size_t)(h->rows + h->cols);
    record(h,
           gpuopt_simplex_get_solution(h->simplex, GPUOPT_HOST,
                                       &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                                  .x = x,
                                                                  .reduced_cost = d,
                                                                  .activity = activity,
                                                                  .dual = dual}),
           x, all);
    memset(x, 0, all);
    record(
        h,
        gpuopt_simplex_get_solution(
            h->simplex, GPUOPT_HOST,
            &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x_low = x, .dual_low = dual}),
        x, all);
    record(h, gpuopt_simplex_get_bound(h->simplex, &bound), &bound, sizeof bound);
}

static void read_proof(host *h, const gpuopt_simplex_info *info) {
    const size_t count = (size_t)(h->rows + h->cols);
    double *to = calloc(count + 1, sizeof *to), *low = calloc(count + 1, sizeof *low);
    gpuopt_simplex_proof proof = GPUOPT_INIT(gpuopt_simplex_proof);
    gpuopt_status status;
    if (info->outcome == GPUOPT_INFEASIBLE) proof.farkas = to, proof.farkas_low = low;
    else proof.ray = to, proof.ray_low = low;
    status = gpuopt_simplex_get_proof(h->simplex, GPUOPT_HOST, &proof);
    record(h, status, to, sizeof *to * count);
    record(h, status, low, sizeof *low * count);
    if (status) {
        free(to);
        free(low);
        return;
    }
    h->log->proof = to;
    h->log->proof_low = low;
}

static void use_inverse(host *h) {
    const size_t size = sizeof(double) * (size_t)h->rows;
    int32_t i, position[2] = {0, h->rows - 1};
    double *table = calloc(2 * (size_t)(h->rows + h->cols), sizeof *table);
    for (i = 0; i < h->rows; i++) h->values[i] = i % 3 - 0.75;
    record(h, gpuopt_simplex_ftran(h->simplex, GPUOPT_HOST, 1, h->values), h->values, size);
    record(h, gpuopt_simplex_btran(h->simplex, GPUOPT_HOST, 1, h->values), h->values, size);
    record(h, gpuopt_simplex_get_tableau_rows(h->simplex, GPUOPT_HOST, 2, position, table), table,
           2 * sizeof(double) * (size_t)(h->rows + h->cols));
    free(table);
}

/* Bounds, sides and costs change, and bases are set: near the present one, which takes pivots, and far from it. */
static void change(host *h, const gpuopt_simplex_desc *desc, int64_t step) {
    const int32_t first[2] = {0, h->cols - 1}, row = h->rows / 2;
    const double zero[2] = {0, 0}, five[2] = {5, 5}, cost[2] = {-1, 2}, far = 1e30, low = -1e30;
    double *all;
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    int32_t j, some = h->cols > 1 ? 2 : 1;
    uint8_t *optimal = malloc((size_t)(h->rows + h->cols));
    (void)desc;
    memcpy(optimal, h->basis, (size_t)(h->rows + h->cols));
    went(h, gpuopt_simplex_set_bounds(h->simplex, GPUOPT_HOST, some, first, zero, five));
    solve(h, step);
    went(h, gpuopt_simplex_set_basis(h->simplex, GPUOPT_HOST, optimal));
    state(h);
    went(h, gpuopt_simplex_set_sides(h->simplex, GPUOPT_HOST, 1, &row, &low, &far));
    went(h, gpuopt_simplex_iterate(h->simplex, 5, NULL));
    for (j = 0; j < h->rows + h->cols; j++)
        h->slack[j] = j < h->cols ? GPUOPT_VARIABLE_AT_LOWER : GPUOPT_VARIABLE_BASIC;
    went(h, gpuopt_simplex_set_basis(h->simplex, GPUOPT_HOST, h->slack));
    went(h, gpuopt_simplex_iterate(h->simplex, 3, NULL));
    went(h, gpuopt_simplex_set_basis(h->simplex, GPUOPT_HOST, optimal));
    went(h, gpuopt_simplex_set_costs(h->simplex, GPUOPT_HOST, some, first, cost));
    all = malloc(sizeof *all * ((size_t)h->cols + 1));
    for (j = 0; j < h->cols; j++) all[j] = 1 + j % 3;
    went(h, gpuopt_simplex_set_costs(h->simplex, GPUOPT_HOST, 0, NULL, all));
    free(all);
    record(h, gpuopt_simplex_verify_basis(h->simplex, &info), &info, sizeof info);
    record(h, gpuopt_simplex_rebuild(h->simplex, 1, &info), &info, sizeof info);
    solve(h, 1000000);
    free(optimal);
}

gpuopt_status script_run(gpuopt_context *context, const gpuopt_simplex_desc *desc, int64_t step, script_log *log) {
    host h = {NULL, log, desc->matrix.rows, desc->matrix.cols, NULL, NULL, NULL, NULL, GPUOPT_OK};
    const size_t both = (size_t)h.rows + (size_t)h.cols + 1;
    memset(log, 0, sizeof *log);
    if (!went(&h, gpuopt_simplex_create(context, desc, NULL, &h.simplex))) return h.worst;
    h.values = calloc(2 * both, sizeof *h.values);
    h.list = calloc(both, sizeof *h.list);
    h.basis = calloc(both, 1);
    h.slack = calloc(both, 1);
    choose(&h);
    log->solved = solve(&h, step);
    read_solution(&h);
    read_proof(&h, &log->solved);
    use_inverse(&h);
    if (!h.worst) change(&h, desc, step);
    if (!h.worst) read_solution(&h);
    gpuopt_simplex_destroy(h.simplex);
    free(h.values), free(h.list), free(h.basis), free(h.slack);
    return h.worst;
}

void script_free(script_log *log) {
    free(log->bytes), free(log->proof), free(log->proof_low);
    memset(log, 0, sizeof *log);
}
