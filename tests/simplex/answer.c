/* SPDX-License-Identifier: MIT */
#include "tests/simplex/answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/lp_check.h"

/* ---- Models ---- */

static double *copy_or(const double *from, int32_t count, double otherwise) {
    double *to = malloc(sizeof *to * ((size_t)count + 1));
    int32_t k;
    assert_non_null(to);
    for (k = 0; k < count; k++) to[k] = from ? from[k] : otherwise;
    return to;
}

mip model_of(int32_t rows, int32_t cols, const double *by_rows, const double *cost, const double *lhs,
             const double *rhs, const double *lb, const double *ub) {
    size_t most = (size_t)rows * (size_t)cols + 1;
    int64_t *start = calloc((size_t)cols + 1, sizeof *start), count = 0;
    int32_t *row = malloc(sizeof *row * most), i, j;
    double *val = malloc(sizeof *val * most);
    mip m;
    memset(&m, 0, sizeof m);
    assert_true(start && row && val);
    for (j = 0; j < cols; j++) {
        for (i = 0; i < rows; i++) {
            double a = by_rows[(size_t)i * (size_t)cols + (size_t)j];
            if (a != 0) row[count] = i, val[count++] = a;
        }
        start[j + 1] = count;
    }
    m.matrix.rows = m.columns.rows = rows;
    m.matrix.cols = m.columns.cols = cols;
    m.columns.start = start;
    m.columns.index = row;
    m.columns.value = val;
    m.columns.layout = GPUOPT_LAYOUT_CSC;
    m.cost = copy_or(cost, cols, 0);
    m.lhs = copy_or(lhs, rows, -no_bound);
    m.rhs = copy_or(rhs, rows, no_bound);
    m.lb = copy_or(lb, cols, 0);
    m.ub = copy_or(ub, cols, no_bound);
    m.integer = calloc((size_t)cols + 1, 1);
    return m;
}

mip model_load(const char *name) {
    char error[1024];
    mip m;
    if (mip_load(name, &m, error, sizeof error)) fail_msg("%s", error);
    assert_int_equal(mip_columns(&m), 0);
    return m;
}

mip model_file(const char *folder, const char *name) {
    char file[512];
    const char *path;
    snprintf(file, sizeof file, "%s/%s.mps.xz", folder, name);
    path = test_data(file);
    if (!path) {
        snprintf(file, sizeof file, "%s/%s.mps", folder, name);
        path = test_data(file);
    }
    if (!path) fail_msg("no %s", file);
    return model_load(path);
}

gpuopt_simplex_desc tableau_desc(const mip *model) {
    gpuopt_simplex_desc desc = mip_simplex_desc(model);
    desc.method = GPUOPT_METHOD_TABLEAU;
    desc.algorithm = GPUOPT_ALGORITHM_PRIMAL;
    return desc;
}

static double larger_finite(double scale, const double *value, int32_t count) {
    int32_t k;
    for (k = 0; k < count; k++)
        if (fabs(value[k]) < no_bound && fabs(value[k]) > scale) scale = fabs(value[k]);
    return scale;
}

double model_primal_scale(const mip *model) {
    double scale = larger_finite(1, model->lb, model->columns.cols);
    scale = larger_finite(scale, model->ub, model->columns.cols);
    scale = larger_finite(scale, model->lhs, model->columns.rows);
    return larger_finite(scale, model->rhs, model->columns.rows);
}

double model_dual_scale(const mip *model) {
    return model->cost ? larger_finite(1, model->cost, model->columns.cols) : 1;
}

/* ---- Handles ---- */

/* The rules that a variant's descriptor points to: [K is 1][ratio][pricing]. */
#define RULES(p, r, k)                                                                                         \
    {                                                                                                          \
        .struct_size = sizeof(gpuopt_simplex_rules), .pricing = GPUOPT_PRICING_##p, .ratio = GPUOPT_RATIO_##r, \
        .deferred_pivots = k                                                                                   \
    }
#define ALL_PRICINGS(r, k) \
    { RULES(DEVEX, r, k), RULES(DANTZIG, r, k), RULES(STEEPEST_EDGE, r, k) }
static const gpuopt_simplex_rules variants[2][3][3] = {
    {ALL_PRICINGS(HARRIS, 0), ALL_PRICINGS(EXPAND, 0), ALL_PRICINGS(TEXTBOOK, 0)},
    {ALL_PRICINGS(HARRIS, 1), ALL_PRICINGS(EXPAND, 1), ALL_PRICINGS(TEXTBOOK, 1)}};

void variant_set(gpuopt_simplex_desc *desc, int variant) {
    desc->method = variant % 2 ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
    desc->rules = &variants[variant / 18 % 2][variant / 6 % 3][variant / 2 % 3];
}

gpuopt_simplex_rules rules_of(const gpuopt_simplex_desc *desc) {
    return desc->rules ? *desc->rules : GPUOPT_INIT(gpuopt_simplex_rules);
}

const char *variant_name(const gpuopt_simplex_desc *desc) {
    static const char *const methods[] = {"tableau", "revised"}, *const pricings[] = {"devex", "dantzig", "steepest"};
    static const char *const ratios[] = {"harris", "expand", "textbook"};
    const gpuopt_simplex_rules rules = rules_of(desc);
    static char name[64];
    snprintf(name, sizeof name, "%s %s %s K=%d", methods[desc->method == GPUOPT_METHOD_REVISED],
             pricings[rules.pricing], ratios[rules.ratio], (int)rules.deferred_pivots);
    return name;
}

gpuopt_simplex *simplex_create(gpuopt_context *context, const gpuopt_simplex_desc *desc) {
    gpuopt_simplex *simplex = NULL;
    assert_int_equal(gpuopt_simplex_create(context, desc, NULL, &simplex), GPUOPT_OK);
    return simplex;
}

gpuopt_simplex_info simplex_iterate(gpuopt_simplex *simplex, int64_t iterations) {
    gpuopt_simplex_info info;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_simplex_iterate(simplex, iterations, &info), GPUOPT_OK);
    return info;
}

gpuopt_simplex_info simplex_info(gpuopt_simplex *simplex) {
    gpuopt_simplex_info info;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_simplex_get_info(simplex, &info), GPUOPT_OK);
    return info;
}

/* ---- Answers ---- */

static double *numbers(int32_t count) {
    double *value = calloc((size_t)count + 1, sizeof *value);
    assert_non_null(value);
    return value;
}

answer answer_get(gpuopt_simplex *simplex, const mip *model) {
    int32_t rows = model->columns.rows, cols = model->columns.cols;
    answer a;
    a.x = numbers(cols);
    a.reduced_cost = numbers(cols);
    a.ray = numbers(cols);
    a.activity = numbers(rows);
    a.dual = numbers(rows);
    a.farkas = numbers(rows);
    a.basis = calloc((size_t)rows + (size_t)cols + 1, 1);
    assert_non_null(a.basis);
    a.info = simplex_info(simplex);
    assert_int_equal(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, a.basis), GPUOPT_OK);
    assert_int_equal(
        gpuopt_simplex_get_solution(simplex, GPUOPT_HOST,
                                    &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                               .x = a.x,
                                                               .reduced_cost = a.reduced_cost,
                                                               .activity = a.activity,
                                                               .dual = a.dual}),
        GPUOPT_OK);
    assert_int_equal(gpuopt_simplex_get_proof(
                         simplex, GPUOPT_HOST,
                         &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas = a.farkas}),
                     a.info.outcome == GPUOPT_INFEASIBLE ? GPUOPT_OK : GPUOPT_ERROR_STATE);
    assert_int_equal(
        gpuopt_simplex_get_proof(simplex, GPUOPT_HOST,
                                 &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .ray = a.ray}),
        a.info.outcome == GPUOPT_UNBOUNDED ? GPUOPT_OK : GPUOPT_ERROR_STATE);
    return a;
}

answer answer_after(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *model, int64_t iterations) {
    gpuopt_simplex *simplex = simplex_create(context, desc);
    answer a;
    simplex_iterate(simplex, iterations);
    a = answer_get(simplex, model);
    gpuopt_simplex_destroy(simplex);
    return a;
}

void answer_free(answer *a) {
    free(a->x);
    free(a->reduced_cost);
    free(a->ray);
    free(a->activity);
    free(a->dual);
    free(a->farkas);
    free(a->basis);
}

int answer_equal(const mip *model, const answer *a, const answer *b) {
    size_t rows = sizeof(double) * (size_t)model->columns.rows, cols = sizeof(double) * (size_t)model->columns.cols;
    return !memcmp(&a->info, &b->info, sizeof a->info) && !memcmp(a->x, b->x, cols) && !memcmp(a->ray, b->ray, cols) &&
           !memcmp(a->reduced_cost, b->reduced_cost, cols) && !memcmp(a->activity, b->activity, rows) &&
           !memcmp(a->dual, b->dual, rows) && !memcmp(a->farkas, b->farkas, rows) &&
           !memcmp(a->basis, b->basis, (rows + cols) / sizeof(double));
}

/* ---- Faults ---- */

static char fault[256];

static const char *describe(const char *what, int32_t k, double found, double expected) {
    snprintf(fault, sizeof fault, "%s %d: %.17g, not %.17g", what, (int)k, found, expected);
    return fault;
}

/* Whether two numbers agree up to the rounding of a sum of terms of this size. */
static int agree(double a, long double b, long double size) { return fabsl(a - b) <= 1e-9L * (1 + size); }

/* Reduced costs and activities are computed from the duals and from x. */
static const char *product_fault(const mip *model, const answer *a) {
    const gpuopt_matrix *m = &model->columns;
    long double *sum = calloc(2 * (size_t)m->rows + 2, sizeof *sum), *size = sum + m->rows + 1;
    const char *found = NULL;
    int32_t i, j;
    int64_t e;
    for (j = 0; j < m->cols && !found; j++) {
        long double cost = model->cost ? model->cost[j] : 0, most = fabsl(cost);
        for (e = m->start[j]; e < m->start[j + 1]; e++) {
            long double term = (long double)m->value[e] * a->dual[m->index[e]];
            cost -= term;
            most += fabsl(term);
            sum[m->index[e]] += (long double)m->value[e] * a->x[j];
            size[m->index[e]] += fabsl((long double)m->value[e] * a->x[j]);
        }
        if (!agree(a->reduced_cost[j], cost, most))
            found = describe("reduced cost", j, a->reduced_cost[j], (double)cost);
    }
    for (i = 0; i < m->rows && !found; i++)
        if (!agree(a->activity[i], sum[i], size[i])) found = describe("activity", i, a->activity[i], (double)sum[i]);
    free(sum);
    return found;
}

/* `rows` variables are basic; a nonbasic one lies where its status requires: a column exactly, a row's activity within
 * the tolerance, absolute. */
static const char *basis_fault(const mip *model, const answer *a, double tolerance) {
    int32_t k, basic = 0, rows = model->columns.rows, cols = model->columns.cols;
    for (k = 0; k < cols + rows; k++) {
        int column = k < cols;
        double x = column ? a->x[k] : a->activity[k - cols], least = column ? model->lb[k] : model->lhs[k - cols];
        double most = column ? model->ub[k] : model->rhs[k - cols], at = x;
        if (a->basis[k] == GPUOPT_VARIABLE_BASIC) basic++;
        else at = a->basis[k] == GPUOPT_VARIABLE_AT_LOWER ? least : a->basis[k] == GPUOPT_VARIABLE_AT_UPPER ? most : 0;
        if (a->basis[k] == GPUOPT_VARIABLE_AT_ZERO && (least > -no_bound || most < no_bound))
            return describe("free", k, least, most);
        if (!(fabs(x - at) <= (column ? 0 : tolerance))) return describe("nonbasic variable", k, x, at);
    }
    return basic == rows ? NULL : describe("basic variables in rows", rows, basic, rows);
}

static const char *optimum_fault(const mip *model, const answer *a, double primal, double dual) {
    double violation = lp_primal_violation(model, a->x), wrong = lp_dual_violation(model, a->x, a->dual);
    if (!(violation <= primal)) return describe("primal violation in phase", a->info.phase, violation, primal);
    if (!(wrong <= dual)) return describe("dual violation in phase", a->info.phase, wrong, dual);
    if (!(fabs(a->info.primal_violation - violation) <= 1e-3 * primal))
        return describe("info.primal_violation in phase", a->info.phase, a->info.primal_violation, violation);
    if (!(a->info.dual_violation >= 0 && a->info.dual_violation <= dual))
        return describe("info.dual_violation in phase", a->info.phase, a->info.dual_violation, wrong);
    return a->info.phase == 2 ? NULL : describe("phase", a->info.phase, a->info.phase, 2);
}

static const char *proof_fault(lp_proof proof, const gpuopt_simplex_info *info) {
    if (!(proof.margin > 0)) return describe("margin of certificate in phase", info->phase, proof.margin, 1);
    if (!(proof.residual <= 1e-9 && proof.residual < 1e-3 * proof.margin))
        return describe("residual of certificate in phase", info->phase, proof.residual, 1e-9);
    if (!(info->certificate_margin > 0 && info->certificate_residual <= 1e-9))
        return describe("info.certificate in phase", info->phase, info->certificate_margin, proof.margin);
    return NULL;
}

/* If bounds let x become large, rounding is relative to that. */
static double rounding_scale(const mip *model, const double *x) {
    return fmax(model_primal_scale(model), 1e-4 * larger_finite(0, x, model->columns.cols));
}

const char *answer_fault(const mip *model, const answer *a, double tolerance) {
    double primal = tolerance * rounding_scale(model, a->x), dual = tolerance * model_dual_scale(model);
    double objective = lp_objective(model, a->x);
    const char *found = product_fault(model, a);
    if (!found && a->info.outcome >= GPUOPT_OPTIMAL && a->info.outcome <= GPUOPT_UNBOUNDED)
        found = basis_fault(model, a, primal); /* before a verdict, bounds are perturbed */
    if (!found && !agree(a->info.objective, objective, fabs(objective)))
        found = describe("info.objective in phase", a->info.phase, a->info.objective, objective);
    if (found) return found;
    if (a->info.outcome == GPUOPT_OPTIMAL) return optimum_fault(model, a, primal, dual);
    if (a->info.outcome == GPUOPT_INFEASIBLE) return proof_fault(lp_farkas(model, a->farkas), &a->info);
    if (a->info.outcome != GPUOPT_UNBOUNDED) return NULL;
    if (!(lp_primal_violation(model, a->x) <= primal))
        return describe("primal violation in phase", a->info.phase, lp_primal_violation(model, a->x), primal);
    return proof_fault(lp_ray(model, a->ray), &a->info);
}

const char *answer_try(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *model,
                       gpuopt_outcome outcome, double objective, double tolerance, gpuopt_simplex_info *info) {
    answer a = answer_after(context, desc, model, 1000000);
    const char *found = answer_fault(model, &a, 1e-9);
    *info = a.info;
    if (!found && a.info.outcome != outcome) {
        snprintf(fault, sizeof fault, "%s, not %s", gpuopt_outcome_string(a.info.outcome),
                 gpuopt_outcome_string(outcome));
        found = fault;
    }
    if (!found && outcome == GPUOPT_OPTIMAL &&
        !(fabs(a.info.objective - objective) <= tolerance * fmax(1, fabs(objective))))
        found = describe("objective in phase", a.info.phase, a.info.objective, objective);
    answer_free(&a);
    return found;
}

gpuopt_simplex_info answer_expect(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *model,
                                  const char *name, gpuopt_outcome outcome, double objective, double tolerance) {
    gpuopt_simplex_info info;
    const char *found = answer_try(context, desc, model, outcome, objective, tolerance, &info);
    if (found) fail_msg("%s, %s: %s", name, variant_name(desc), found);
    return info;
}
