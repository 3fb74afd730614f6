/* SPDX-License-Identifier: MIT */
#include "tests/propagate/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

mip problem_new(int32_t cols, int32_t rows, int64_t nonzeros) {
    mip p;
    memset(&p, 0, sizeof p);
    p.matrix.cols = cols;
    p.matrix.start = calloc((size_t)rows + 1, sizeof *p.matrix.start);
    p.matrix.index = calloc((size_t)nonzeros + 1, sizeof *p.matrix.index);
    p.matrix.value = calloc((size_t)nonzeros + 1, sizeof *p.matrix.value);
    p.lhs = calloc((size_t)rows + 1, sizeof *p.lhs);
    p.rhs = calloc((size_t)rows + 1, sizeof *p.rhs);
    p.lb = calloc((size_t)cols + 1, sizeof *p.lb);
    p.ub = calloc((size_t)cols + 1, sizeof *p.ub);
    p.integer = calloc((size_t)cols + 1, 1);
    assert_true(p.matrix.start && p.matrix.index && p.matrix.value && p.lhs && p.rhs && p.lb && p.ub && p.integer);
    return p;
}

void problem_col(mip *p, int32_t col, double lb, double ub, int integer) {
    p->lb[col] = lb;
    p->ub[col] = ub;
    p->integer[col] = (uint8_t)integer;
}

void problem_row(mip *p, double lhs, double rhs) {
    int64_t *start = (int64_t *)p->matrix.start;
    p->lhs[p->matrix.rows] = lhs;
    p->rhs[p->matrix.rows] = rhs;
    start[p->matrix.rows + 1] = start[p->matrix.rows];
    p->matrix.rows++;
}

void problem_entry(mip *p, int32_t col, double val) {
    int64_t *start = (int64_t *)p->matrix.start, k = start[p->matrix.rows]++;
    ((int32_t *)p->matrix.index)[k] = col;
    ((double *)p->matrix.value)[k] = val;
}

gpuopt_propagator *problem_create(gpuopt_context *context, const gpuopt_propagator_desc *desc) {
    gpuopt_propagator *p = NULL;
    assert_int_equal(gpuopt_propagator_create(context, desc, NULL, &p), GPUOPT_OK);
    assert_non_null(p);
    return p;
}

int problem_close(double a, double b) {
    if (isinf(a) || isinf(b)) return a == b;
    return fabs(a - b) <= 1e-8 + 1e-5 * fabs(b);
}

/* ---- Variants ---- */

static const problem_variant cpu_variants[] = {
    {"jacobi", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_AUTO, GPUOPT_DEFAULT},
    {"jacobi without marking", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_AUTO, GPUOPT_OFF},
    {"gauss-seidel", GPUOPT_MODE_GAUSS_SEIDEL, GPUOPT_DRIVER_AUTO, GPUOPT_DEFAULT},
};
static const problem_variant cuda_variants[] = {
    {"cooperative", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_COOPERATIVE, GPUOPT_OFF},
    {"cooperative with marking", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_COOPERATIVE, GPUOPT_ON},
    {"host loop", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_HOST, GPUOPT_OFF},
    {"host loop with marking", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_HOST, GPUOPT_ON},
    {"graph", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_GRAPH, GPUOPT_OFF},
    {"graph with marking", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_GRAPH, GPUOPT_ON},
};

const problem_variant *problem_variants(size_t *count) {
    *count =
        test_on("cuda") ? sizeof cuda_variants / sizeof *cuda_variants : sizeof cpu_variants / sizeof *cpu_variants;
    if (test_on("cuda") && getenv("GPUOPT_TEST_NO_GRAPH")) {
        print_message("the variants with a graph are left out\n");
        while (cuda_variants[*count - 1].driver == GPUOPT_DRIVER_GRAPH) --*count;
    }
    return test_on("cuda") ? cuda_variants : cpu_variants;
}

void problem_apply(const problem_variant *variant, gpuopt_propagator_desc *desc) {
    desc->mode = variant->mode;
    desc->driver = variant->driver;
    desc->marking = variant->marking;
}

gpuopt_propagator_info problem_round(gpuopt_propagator *p, int rounds) {
    gpuopt_propagator_info info;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_propagator_round(p, rounds, &info), GPUOPT_OK);
    assert_true(info.rounds <= rounds);
    return info;
}

void problem_bounds(gpuopt_propagator *p, double *lb, double *ub) {
    assert_int_equal(gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 0, NULL, lb, ub), GPUOPT_OK);
}

gpuopt_propagator_info problem_run(gpuopt_context *context, const gpuopt_propagator_desc *desc, int rounds, double *lb,
                                   double *ub) {
    gpuopt_propagator *p = problem_create(context, desc);
    gpuopt_propagator_info info = problem_round(p, rounds);
    problem_bounds(p, lb, ub);
    gpuopt_propagator_destroy(p);
    return info;
}

/* ---- Case files ---- */

static void expect_word(FILE *file, const char *word) {
    char found[64] = "";
    if (fscanf(file, "%63s", found) != 1 || strcmp(found, word))
        fail_msg("case file: '%s' where '%s' belongs", found, word);
}

static double read_double(FILE *file) {
    char word[64];
    char *end;
    double x;
    if (fscanf(file, "%63s", word) != 1) fail_msg("case file ends in the middle of a case");
    x = strtod(word, &end);
    if (*end) fail_msg("case file: '%s' is no number", word);
    return x;
}

static long read_long(FILE *file) { return (long)read_double(file); }

int problem_read_case(FILE *file, problem_case *result) {
    char line[4096], type[8];
    long cols, rows, i, k, count;
    memset(result, 0, sizeof *result);
    do {
        if (!fgets(line, sizeof line, file)) return 0;
    } while (sscanf(line, "case %63s", result->name) != 1);
    if (!fgets(line, sizeof line, file) || strncmp(line, "note", 4)) fail_msg("case %s has no note", result->name);
    expect_word(file, "cols");
    cols = read_long(file);
    result->model = problem_new((int32_t)cols, 4096, 65536);
    for (i = 0; i < cols; i++) {
        double lb = read_double(file), ub = read_double(file);
        if (fscanf(file, "%7s", type) != 1) fail_msg("case %s: column without a type", result->name);
        problem_col(&result->model, (int32_t)i, lb, ub, type[0] != 'c');
    }
    expect_word(file, "rows");
    rows = read_long(file);
    for (i = 0; i < rows; i++) {
        double lhs = read_double(file), rhs = read_double(file);
        problem_row(&result->model, lhs, rhs);
        count = read_long(file);
        for (k = 0; k < count; k++) {
            long col = read_long(file);
            problem_entry(&result->model, (int32_t)col, read_double(file));
        }
    }
    expect_word(file, "expect");
    if (fscanf(file, "%15s", result->status) != 1) fail_msg("case %s: no status", result->name);
    result->rounds = (int)read_long(file);
    result->lb = malloc(sizeof(double) * (size_t)(cols + 1));
    result->ub = malloc(sizeof(double) * (size_t)(cols + 1));
    for (i = 0; i < cols; i++) {
        result->lb[i] = read_double(file);
        result->ub[i] = read_double(file);
    }
    return 1;
}

void problem_free_case(problem_case *c) {
    mip_free(&c->model);
    free(c->lb);
    free(c->ub);
}

/* ---- The reference ---- */

static const long double infinite = 1e20L;

/* The sum of the least (sign = 1) or greatest (-1) terms of all columns but `skip`, and the count of infinite terms. */
static long double residual(const mip *m, int32_t row, int32_t skip, int sign, const long double *lb,
                            const long double *ub, int *infinities) {
    long double sum = 0;
    int64_t k;
    *infinities = 0;
    for (k = m->matrix.start[row]; k < m->matrix.start[row + 1]; k++) {
        int32_t j = m->matrix.index[k];
        long double a = m->matrix.value[k], b = (a > 0) == (sign > 0) ? lb[j] : ub[j];
        if (j == skip) continue;
        if (fabsl(b) >= infinite) ++*infinities;
        else sum += a * b;
    }
    return sum;
}

/* A row that is violated by less than the tolerance moves a bound at most to the opposite bound. */
static void offer(const mip *m, int32_t j, int upper, long double candidate, const long double *lb,
                  const long double *ub, long double *new_lb, long double *new_ub) {
    if (upper && lb[j] > -infinite && candidate < lb[j]) candidate = lb[j];
    if (!upper && ub[j] < infinite && candidate > ub[j]) candidate = ub[j];
    if (fabsl(candidate) >= infinite) return;
    if (m->integer[j]) candidate = upper ? floorl(candidate + 1e-6L) : ceill(candidate - 1e-6L);
    if (upper && (ub[j] >= infinite || ub[j] - candidate > 1e-9L) && candidate < new_ub[j]) new_ub[j] = candidate;
    if (!upper && (lb[j] <= -infinite || candidate - lb[j] > 1e-9L) && candidate > new_lb[j]) new_lb[j] = candidate;
}

gpuopt_propagator_info problem_reference(const mip *m, int rounds, long double *lb, long double *ub) {
    size_t n = (size_t)m->matrix.cols;
    long double *new_lb = malloc(sizeof *new_lb * (n + 1)), *new_ub = malloc(sizeof *new_ub * (n + 1));
    gpuopt_propagator_info info;
    int32_t i, j;
    int64_t k;
    gpuopt_desc_init(&info, sizeof info);
    info.infeasible_row = info.infeasible_col = -1;
    while (info.rounds < rounds && info.outcome == GPUOPT_MORE) {
        memcpy(new_lb, lb, sizeof *lb * n);
        memcpy(new_ub, ub, sizeof *ub * n);
        for (i = 0; i < m->matrix.rows; i++) {
            int min_inf, max_inf;
            long double lhs = m->lhs[i], rhs = m->rhs[i];
            long double min = residual(m, i, -1, 1, lb, ub, &min_inf), max = residual(m, i, -1, -1, lb, ub, &max_inf);
            if ((rhs < infinite && !min_inf && min > rhs + 1e-6L) ||
                (lhs > -infinite && !max_inf && max < lhs - 1e-6L)) {
                if (info.infeasible_row < 0) info.infeasible_row = i;
                continue;
            }
            for (k = m->matrix.start[i]; k < m->matrix.start[i + 1]; k++) {
                long double a = m->matrix.value[k];
                j = m->matrix.index[k];
                min = residual(m, i, j, 1, lb, ub, &min_inf);
                max = residual(m, i, j, -1, lb, ub, &max_inf);
                if (rhs < infinite && !min_inf) offer(m, j, a > 0, (rhs - min) / a, lb, ub, new_lb, new_ub);
                if (lhs > -infinite && !max_inf) offer(m, j, a < 0, (lhs - max) / a, lb, ub, new_lb, new_ub);
            }
        }
        info.rounds++;
        info.outcome = GPUOPT_CONVERGED;
        for (j = 0; j < m->matrix.cols; j++) {
            int moved = (new_lb[j] != lb[j]) + (new_ub[j] != ub[j]);
            info.changed += moved;
            if (moved) info.outcome = GPUOPT_MORE;
            if (new_lb[j] > new_ub[j] + 1e-6L && info.infeasible_col < 0) info.infeasible_col = j;
        }
        memcpy(lb, new_lb, sizeof *lb * n);
        memcpy(ub, new_ub, sizeof *ub * n);
        if (info.infeasible_row >= 0 || info.infeasible_col >= 0) info.outcome = GPUOPT_INFEASIBLE;
    }
    free(new_lb);
    free(new_ub);
    return info;
}
