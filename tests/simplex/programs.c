/* SPDX-License-Identifier: MIT */
#include "tests/simplex/programs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/exact.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

static double *doubles(int64_t count) { return calloc((size_t)count + 1, sizeof(double)); }

/* ---- Models ---- */

/* The numbers of one program, in the order of a dense matrix by rows. */
static double *dense_of(const mip *m) {
    const gpuopt_matrix *a = &m->columns;
    double *dense = doubles((int64_t)a->rows * a->cols);
    int32_t j;
    int64_t e;
    for (j = 0; j < a->cols; j++)
        for (e = a->start[j]; e < a->start[j + 1]; e++) dense[(int64_t)a->index[e] * a->cols + j] = a->value[e];
    return dense;
}

/* The pattern: entries that some model has. */
static void find_pattern(programs *all, double *const *dense, gpuopt_layout layout) {
    const int csr = layout == GPUOPT_LAYOUT_CSR;
    const int32_t lines = csr ? all->rows : all->cols, width = csr ? all->cols : all->rows;
    int32_t line, i, k;
    all->start = calloc((size_t)lines + 1, sizeof *all->start);
    all->index = calloc((size_t)lines * (size_t)width + 1, sizeof *all->index);
    for (line = 0; line < lines; line++) {
        for (i = width - 1; i >= 0; i--) { /* in any order */
            int used = 0;
            for (k = 0; k < all->count; k++)
                used |= dense[k][csr ? (int64_t)line * all->cols + i : (int64_t)i * all->cols + line] != 0;
            if (used) all->index[all->nonzeros++] = i;
        }
        all->start[line + 1] = all->nonzeros;
    }
}

programs *programs_of(int32_t count, mip *model, int pattern, gpuopt_layout layout) {
    programs *all = calloc(1, sizeof *all);
    const int csr = layout == GPUOPT_LAYOUT_CSR;
    double **dense = calloc((size_t)count + 1, sizeof *dense);
    int32_t k, line, lines, i;
    int64_t e;
    int array;
    all->count = count;
    all->model = model;
    all->rows = model[0].columns.rows, all->cols = model[0].columns.cols;
    lines = csr ? all->rows : all->cols;
    for (k = 0; k < count; k++) dense[k] = dense_of(&model[k]);
    if (pattern) find_pattern(all, dense, layout);
    else all->nonzeros = (int64_t)all->rows * all->cols;
    all->number[0] = doubles(count * all->nonzeros);
    for (array = 1; array < 6; array++)
        all->number[array] = doubles((int64_t)count * (array == 2 || array == 3 ? all->rows : all->cols));
    for (k = 0; k < count; k++) {
        const mip *m = &model[k];
        const double *const from[] = {m->cost, m->lhs, m->rhs, m->lb, m->ub};
        double *value = all->number[0] + k * all->nonzeros;
        int64_t at = 0;
        for (line = 0; line < lines; line++) {
            const int32_t width = csr ? all->cols : all->rows;
            const int64_t first = pattern ? all->start[line] : 0, end = pattern ? all->start[line + 1] : width;
            for (e = first; e < end; e++) {
                i = pattern ? all->index[e] : (int32_t)e;
                value[at++] = dense[k][csr ? (int64_t)line * all->cols + i : (int64_t)i * all->cols + line];
            }
        }
        for (array = 1; array < 6; array++) {
            const int32_t length = array == 2 || array == 3 ? all->rows : all->cols;
            for (i = 0; from[array - 1] && i < length; i++)
                all->number[array][(int64_t)k * length + i] = from[array - 1][i];
        }
        free(dense[k]);
    }
    free(dense);
    gpuopt_desc_init(&all->desc, sizeof all->desc);
    all->desc.batch_size = count;
    all->desc.rows = all->rows, all->desc.cols = all->cols;
    all->desc.start = all->start, all->desc.index = all->index;
    all->desc.layout = layout;
    all->desc.maximize = model[0].maximize;
    gpuopt_desc_init(&all->p, sizeof all->p);
    all->p.count = count;
    all->p.value = all->number[0];
    all->p.cost = all->number[1];
    all->p.lhs = all->number[2], all->p.rhs = all->number[3];
    all->p.lb = all->number[4], all->p.ub = all->number[5];
    return all;
}

void programs_free(programs *all) {
    int k;
    for (k = 0; k < 6; k++) free(all->number[k]);
    for (k = 0; k < all->count; k++) mip_free(&all->model[k]);
    free(all->model);
    free(all->start);
    free(all->index);
    free(all);
}

/* ---- Reports ---- */

programs_report *programs_report_new(const programs *all, int32_t count) {
    programs_report *r = calloc(1, sizeof *r);
    const int64_t rows = (int64_t)count * all->rows, cols = (int64_t)count * all->cols;
    gpuopt_desc_init(&r->r, sizeof r->r);
    r->count = count;
    r->r.outcome = calloc((size_t)count + 1, sizeof *r->r.outcome);
    r->r.iterations = calloc((size_t)count + 1, sizeof *r->r.iterations);
    r->r.certainty = calloc((size_t)count + 1, sizeof *r->r.certainty);
    r->r.objective = doubles(count);
    r->r.x = doubles(cols), r->r.ray = doubles(cols), r->r.ray_low = doubles(cols);
    r->r.dual = doubles(rows), r->r.farkas = doubles(rows), r->r.farkas_low = doubles(rows);
    r->r.basis = calloc((size_t)(rows + cols) + 1, 1);
    return r;
}

void programs_report_free(programs_report *r) {
    free(r->r.outcome), free(r->r.iterations), free(r->r.objective), free(r->r.x), free(r->r.ray), free(r->r.ray_low);
    free(r->r.dual), free(r->r.farkas), free(r->r.farkas_low), free(r->r.basis), free(r->r.certainty);
    free(r);
}

int programs_report_equal(const programs *all, const programs_report *a, int32_t first_a, const programs_report *b,
                          int32_t first_b, int32_t count) {
    const gpuopt_simplex_batch_report *x = &a->r, *y = &b->r;
    const size_t rows = (size_t)all->rows, cols = (size_t)all->cols, n = (size_t)count;
#define SAME(member, length)                                                                \
    (memcmp(x->member + (size_t)first_a * (length), y->member + (size_t)first_b * (length), \
            sizeof *x->member * n * (length)) == 0)
    return SAME(outcome, 1) && SAME(iterations, 1) && SAME(objective, 1) && SAME(x, cols) && SAME(dual, rows) &&
           SAME(farkas, rows) && SAME(farkas_low, rows) && SAME(ray, cols) && SAME(ray_low, cols) &&
           SAME(basis, rows + cols) && SAME(certainty, 1);
#undef SAME
}

gpuopt_simplex_batch *programs_create(gpuopt_context *context, const programs *all) {
    gpuopt_simplex_batch *many;
    must(gpuopt_simplex_batch_create(context, &all->desc, NULL, &many));
    must(gpuopt_simplex_batch_load(many, GPUOPT_HOST, &all->p));
    return many;
}

programs_report *programs_get(gpuopt_simplex_batch *many, const programs *all) {
    programs_report *r = programs_report_new(all, all->p.count);
    must(gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, all->p.count, &r->r));
    return r;
}

/* ---- Against rationals ---- */

static int all_zero(const double *x, int32_t count) {
    while (count > 0 && x[count - 1] == 0) count--;
    return count == 0;
}

/* Whether x (or the duals) of double precision is within the tolerance, in rationals. */
static int beyond(const programs *all, const mip *m, const double *x, const double *dual, const uint8_t *basis) {
    double *zero = doubles(all->rows + all->cols);
    const double reached = dual ? exact_dual_reached(m, dual, zero, basis) : exact_primal_reached(m, x, zero);
    free(zero);
    return !(reached <= 1.000001e-9);
}

/* Whether a nonbasic column differs from its place by the basis. */
static int misplaced(const mip *m, const double *x, const uint8_t *basis) {
    int32_t j;
    for (j = 0; j < m->columns.cols; j++) {
        if (basis[j] == GPUOPT_VARIABLE_AT_LOWER && x[j] != m->lb[j]) return 1;
        if (basis[j] == GPUOPT_VARIABLE_AT_UPPER && x[j] != m->ub[j]) return 1;
        if (basis[j] == GPUOPT_VARIABLE_AT_ZERO && x[j] != 0) return 1;
    }
    return 0;
}

/* The promises of proofs and points. */
static const char *evidence_fault(const programs *all, const programs_report *r, int32_t k) {
    const mip *m = &all->model[k];
    const int32_t rows = all->rows, cols = all->cols;
    const double *x = r->r.x + (int64_t)k * cols, *dual = r->r.dual + (int64_t)k * rows;
    const double *farkas = r->r.farkas + (int64_t)k * rows, *farkas_low = r->r.farkas_low + (int64_t)k * rows;
    const double *ray = r->r.ray + (int64_t)k * cols, *ray_low = r->r.ray_low + (int64_t)k * cols;
    const uint8_t *basis = r->r.basis + (int64_t)k * (rows + cols);
    const int outcome = r->r.outcome[k];
    double objective = m->offset, gain;
    int32_t j, basic = 0;
    int crossing = 0;
    for (j = 0; j < cols; j++) crossing |= m->lb[j] > m->ub[j];
    for (j = 0; j < rows + cols; j++) basic += basis[j] == GPUOPT_VARIABLE_BASIC;
    if (basic != rows) return "the basis has another number of variables";
    if (r->r.certainty[k] != (outcome == GPUOPT_OPTIMAL ? GPUOPT_CERTAINTY_TOLERANCE : GPUOPT_CERTAINTY_NONE))
        return "another certainty than the outcome has";
    if (!crossing && misplaced(m, x, basis)) return "x of a nonbasic column is not at its bound";
    for (j = 0; j < cols; j++) objective += (m->cost ? m->cost[j] : 0) * x[j];
    if (!(fabs(r->r.objective[k] - objective) <= 1e-9 * fmax(1, fabs(objective)))) return "objective is not that of x";
    if (outcome == GPUOPT_OPTIMAL) {
        if (beyond(all, m, x, NULL, NULL)) return "x is beyond the tolerance";
        if (beyond(all, m, NULL, dual, basis)) return "a reduced cost is beyond the tolerance";
    } else if (outcome != GPUOPT_MORE && outcome != GPUOPT_LIMIT && outcome != GPUOPT_IMPRECISE &&
               !all_zero(dual, rows))
        return "duals without an optimum";
    if (outcome == GPUOPT_INFEASIBLE && !crossing) {
        double largest = 0;
        for (j = 0; j < rows; j++) largest = fmax(largest, fabs(farkas[j]));
        if (!(largest >= 1 && largest < 2)) return "the largest multiplier is not in [1, 2)";
        if (!(exact_farkas_margin(m, farkas, farkas_low, 1e24) > 0)) return "y proves nothing";
    } else if (!all_zero(farkas, rows) || !all_zero(farkas_low, rows)) return "a Farkas vector that is not called for";
    if (outcome == GPUOPT_UNBOUNDED) {
        double largest = 0;
        for (j = 0; j < cols; j++) largest = fmax(largest, fabs(ray[j]));
        if (!(largest >= 1 && largest < 2)) return "the largest entry of the ray is not in [1, 2)";
        gain = exact_ray_gain(m, ray, ray_low);
        if (!(gain > 0)) return "the ray gains nothing";
        if (!(exact_ray_wrong(m, ray, ray_low) * (1e18 / gain) <= 1e-9)) return "the ray leaves a row";
        if (beyond(all, m, x, NULL, NULL)) return "x, where the ray begins, is beyond the tolerance";
    } else if (!all_zero(ray, cols) || !all_zero(ray_low, cols)) return "a ray that is not called for";
    return NULL;
}

const char *programs_fault_beside(const programs *all, const programs_report *r, int32_t k, gpuopt_outcome outcome,
                                  double objective) {
    static char text[128];
    if (r->r.outcome[k] != (int32_t)outcome) {
        snprintf(text, sizeof text, "%s, and not %s", gpuopt_outcome_string((gpuopt_outcome)r->r.outcome[k]),
                 gpuopt_outcome_string(outcome));
        return text;
    }
    if (outcome == GPUOPT_OPTIMAL && !(fabs(r->r.objective[k] - objective) <= 1e-7 * fmax(1, fabs(objective)))) {
        snprintf(text, sizeof text, "the optimum is %.17g, and not %.17g", objective, r->r.objective[k]);
        return text;
    }
    return evidence_fault(all, r, k);
}

const char *programs_fault(const programs *all, const programs_report *r, int32_t k, int *verdicts) {
    const exact_answer exact = exact_solve(&all->model[k], NULL);
    *verdicts |= 1 << r->r.outcome[k];
    return programs_fault_beside(all, r, k, exact.outcome, exact.objective);
}
