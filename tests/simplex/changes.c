/* SPDX-License-Identifier: MIT */
#include "tests/simplex/changes.h"

#include <math.h>
#include <stdlib.h>

#include "tests/simplex/exact.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* ---- Drawing ---- */

static void draw_interval(uint64_t *seed, double *low, double *high) {
    int kind = (int)test_random_int(seed, 0, 9);
    double a = (double)test_random_int(seed, -9, 9), width = (double)test_random_int(seed, 0, 12);
    *low = kind == 0 || kind == 1 ? -INFINITY : a;
    *high = kind == 0 || kind == 2 ? INFINITY : kind == 3 ? a : a + width;
}

mip changes_model(uint64_t *seed, int32_t rows, int32_t cols) {
    size_t size = (size_t)rows * (size_t)cols + 1;
    double *a = calloc(size, sizeof *a), *cost = calloc((size_t)cols + 1, sizeof *cost);
    double *side[2], *bound[2];
    int32_t k;
    mip m;
    for (k = 0; k < 2; k++) {
        side[k] = calloc((size_t)rows + 1, sizeof **side);
        bound[k] = calloc((size_t)cols + 1, sizeof **bound);
    }
    for (k = 0; k < rows * cols; k++)
        if (test_random_int(seed, 0, 2)) a[k] = (double)test_random_int(seed, -9, 9);
    for (k = 0; k < cols; k++) cost[k] = (double)test_random_int(seed, -9, 9);
    for (k = 0; k < cols; k++) draw_interval(seed, &bound[0][k], &bound[1][k]);
    for (k = 0; k < rows; k++) draw_interval(seed, &side[0][k], &side[1][k]);
    m = model_of(rows, cols, a, cost, side[0], side[1], bound[0], bound[1]);
    m.maximize = (int)test_random_int(seed, 0, 1);
    free(a);
    free(cost);
    for (k = 0; k < 2; k++) {
        free(side[k]);
        free(bound[k]);
    }
    return m;
}

enum { LIST = 3 };

void changes_make(uint64_t *seed, gpuopt_simplex *simplex, mip *m) {
    int kind = (int)test_random_int(seed, 0, 3), k;
    int32_t end = kind == 2 ? m->columns.rows : m->columns.cols;
    int64_t count = test_random_int(seed, 0, end < LIST ? end : LIST);
    int32_t index[LIST] = {0};
    double low[LIST] = {0}, high[LIST] = {0};
    int sides = (int)test_random_int(seed, 1, 3);
    for (k = 0; k < count; k++) {
        index[k] = (int32_t)test_random_int(seed, 0, end - 1);
        draw_interval(seed, &low[k], &high[k]);
        if (kind == 3) low[k] = (double)test_random_int(seed, -9, 9);
        if (kind == 3) m->cost[index[k]] = low[k];
        else if (kind == 2) m->lhs[index[k]] = low[k], m->rhs[index[k]] = high[k];
        else {
            if (sides & 1) m->lb[index[k]] = low[k];
            if (sides & 2) m->ub[index[k]] = high[k];
        }
    }
    if (kind == 3) must(gpuopt_simplex_set_costs(simplex, GPUOPT_HOST, count, index, low));
    else if (kind == 2) must(gpuopt_simplex_set_sides(simplex, GPUOPT_HOST, count, index, low, high));
    else
        must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, count, index, sides & 1 ? low : NULL,
                                       sides & 2 ? high : NULL));
}

/* ---- Checking ---- */

static int crosses(const mip *m) {
    int32_t j;
    for (j = 0; j < m->columns.cols; j++)
        if (m->lb[j] > m->ub[j]) return j;
    return -1;
}

const char *changes_fault(gpuopt_simplex *simplex, const mip *m, int *verdicts) {
    answer a = answer_get(simplex, m);
    int crossing = crosses(m);
    const char *fault = crossing < 0 ? answer_fault(m, &a, 1e-9) : NULL;
    *verdicts |= 1 << a.info.outcome;
    if (a.info.crossing != crossing) fault = "another column crosses";
    else if (crossing >= 0) {
        if (a.info.outcome != GPUOPT_INFEASIBLE) fault = "bounds cross";
        else if (a.info.certificate_margin != m->lb[crossing] - m->ub[crossing])
            fault = "the margin of crossing bounds";
    } else if (!fault) {
        exact_answer e = exact_solve(m, NULL);
        double low[16] = {0};
        if (e.outcome != a.info.outcome) fault = "another verdict than in rationals";
        else if (e.outcome == GPUOPT_OPTIMAL &&
                 fabs(e.objective - a.info.objective) > 1e-9 * fmax(1, fabs(e.objective)))
            fault = "another objective than in rationals";
        else if (e.outcome == GPUOPT_INFEASIBLE) {
            must(gpuopt_simplex_get_proof(
                simplex, GPUOPT_HOST,
                &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas_low = low}));
            if (!(exact_farkas_margin(m, a.farkas, low, 1e24) > 0)) fault = "no proof in rationals";
        }
    }
    answer_free(&a);
    return fault;
}

mip changes_tree_model(uint64_t *seed, int32_t rows, int32_t cols) {
    double *a = calloc((size_t)(rows * cols), sizeof *a), *cost = calloc((size_t)cols, sizeof *cost);
    double *lhs = calloc((size_t)rows, sizeof *lhs), *rhs = calloc((size_t)rows, sizeof *rhs);
    double *ub = calloc((size_t)cols, sizeof *ub);
    int32_t k;
    mip m;
    for (k = 0; k < rows * cols; k++)
        if (test_random_int(seed, 0, 4) == 0) a[k] = (double)test_random_int(seed, 1, 9);
    for (k = 0; k < cols; k++) cost[k] = (double)test_random_int(seed, 1, 40), ub[k] = 3;
    for (k = 0; k < rows; k++) {
        lhs[k] = k % 2 ? (double)test_random_int(seed, 10, 40) : -INFINITY;
        rhs[k] = k % 2 ? INFINITY : (double)test_random_int(seed, 40, 90);
    }
    m = model_of(rows, cols, a, cost, lhs, rhs, NULL, ub);
    free(a);
    free(cost);
    free(lhs);
    free(rhs);
    free(ub);
    return m;
}
