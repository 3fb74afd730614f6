/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs: the handle, and the interface between the public calls (calls.h) and the backends.
 * The backends are cpu/batch.h and cuda/simplex/batch/calls.cuh. They share the method (solve.h and what it includes).
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BATCH_BACKEND_H
#define GPUOPT_IMPL_SIMPLEX_BATCH_BACKEND_H

#include "../backend.h"
#include "model.h"

/* The handle. */
struct gpuopt_simplex_batch {
    gpuopt_context *context;
    gpuopt_simplex_batch_desc desc;   /* defaults filled in */
    struct gpuopt__dealt *dealt;      /* with a group (share.h): desc.copies and set cover only this rank; or NULL */
    gpuopt_simplex_batch_info of_all; /* with a group: what the latest call found, over all ranks */
    gpuopt__simplex_batch_set set;    /* pattern and progress: host memory; numbers and results: the backend's */
    void *engine;                     /* the backend's */
};

/* A range of programs, and the results to read. */
typedef struct gpuopt__simplex_batch_wanted {
    gpuopt_memory_space where;
    int32_t first, count;
    gpuopt_simplex_batch_report report;
} gpuopt__simplex_batch_wanted;

/* The functions of a backend. The handle is complete except for `engine` and the backend's arrays of `set`. */
struct gpuopt__simplex_batch_backend {
    gpuopt_status (*plan)(const gpuopt_simplex_batch *, gpuopt_memory_plan *); /* adds */
    gpuopt_status (*create)(gpuopt_simplex_batch *);
    void (*destroy)(gpuopt_simplex_batch *);
    /* Copies the arrays. from[k]: array k, NULL for the default. *bad: place of the first number that is not allowed,
     * see gpuopt__simplex_batch_place; -1: none. */
    gpuopt_status (*load)(gpuopt_simplex_batch *, gpuopt_memory_space where, const double *const *from, int64_t *bad);
    /* Works on the programs, and sets their progress. */
    gpuopt_status (*run)(gpuopt_simplex_batch *);
    /* Delivers results, except outcomes and iterations. */
    gpuopt_status (*get)(gpuopt_simplex_batch *, const gpuopt__simplex_batch_wanted *);
};

/* ---- The arrays of a backend ---- */

/* Cuts arrays for the numbers and the results; with base NULL it only measures. */
static inline void gpuopt__simplex_batch_cut_set(gpuopt__arena *arena, int32_t copies, gpuopt__simplex_batch_set *s) {
    double **const of_cols[] = {&s->x, &s->ray, &s->ray_low},
                   **const of_rows[] = {&s->dual_y, &s->farkas, &s->farkas_low};
    int k;
    for (k = 0; k < GPUOPT__SIMPLEX_BATCH_ARRAYS; k++)
        s->number[k] = (double *)gpuopt__cut(arena, s->length[k] * (s->stride[k] == 0 ? 1 : copies), sizeof(double));
    s->objective = (double *)gpuopt__cut(arena, copies, sizeof(double));
    for (k = 0; k < 3; k++) *of_cols[k] = (double *)gpuopt__cut(arena, (int64_t)copies * s->cols, sizeof(double));
    for (k = 0; k < 3; k++) *of_rows[k] = (double *)gpuopt__cut(arena, (int64_t)copies * s->rows, sizeof(double));
    s->status = (uint8_t *)gpuopt__cut(arena, (int64_t)copies * (s->cols + s->rows), 1);
}

/* How many numbers are loaded into an array. */
static inline int64_t gpuopt__simplex_batch_loaded(const gpuopt__simplex_batch_set *s, int array) {
    return s->given[array] ? s->length[array] * (s->stride[array] == 0 ? 1 : s->count) : 0;
}

/* ---- Numbers that are not allowed ---- */

/* The place of a number: its array and its index there. With GPUOPT__SIMPLEX_BATCH_ARRAYS as array: a pair of sides
 * that cross, and the index refers to [count][rows]. */
GPUOPT_HD int64_t gpuopt__simplex_batch_place(int array, int64_t index) { return ((int64_t)array << 48) + index; }

GPUOPT_HD int gpuopt__simplex_batch_number_bad(const gpuopt__simplex_batch_set *s, int array, double x) {
    if (array == GPUOPT__SIMPLEX_BATCH_VALUE || array == GPUOPT__SIMPLEX_BATCH_COST) return !(fabs(x) < HUGE_VAL);
    return array == GPUOPT__SIMPLEX_BATCH_LHS || array == GPUOPT__SIMPLEX_BATCH_LB ? !(x < s->infinity)
                                                                                   : !(x > -s->infinity);
}

/* Whether both sides at an index of [count][rows] are given and cross. */
GPUOPT_HD int gpuopt__simplex_batch_sides_cross(const gpuopt__simplex_batch_set *s, int64_t index) {
    const int32_t k = (int32_t)(index / s->rows), row = (int32_t)(index % s->rows);
    return gpuopt__simplex_batch_number(s, GPUOPT__SIMPLEX_BATCH_LHS, k, row, -HUGE_VAL) >
           gpuopt__simplex_batch_number(s, GPUOPT__SIMPLEX_BATCH_RHS, k, row, HUGE_VAL);
}

#endif /* GPUOPT_IMPL_SIMPLEX_BATCH_BACKEND_H */
