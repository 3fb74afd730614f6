/* SPDX-License-Identifier: MIT */
#include "tests/simplex/children.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/clp.h"
#include "tests/simplex/exact.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* ---- Children ---- */

children *children_new(int32_t count) {
    children *all = calloc(1, sizeof *all);
    gpuopt_simplex_child_list c = GPUOPT_INIT(gpuopt_simplex_child_list);
    assert_non_null(all);
    assert_true(count <= CHILDREN_MOST);
    c.count = count;
    c.start = all->start[0], c.side_start = all->start[1], c.cost_start = all->start[2];
    c.col = all->index[0], c.row = all->index[1], c.cost_col = all->index[2];
    c.lb = all->low[0], c.ub = all->high[0];
    c.lhs = all->low[1], c.rhs = all->high[1];
    c.cost = all->low[2];
    all->c = c;
    return all;
}

static void draw_interval(uint64_t *seed, double *low, double *high) {
    int kind = (int)test_random_int(seed, 0, 9);
    double a = (double)test_random_int(seed, -9, 9), width = (double)test_random_int(seed, 0, 12);
    *low = kind == 0 || kind == 1 ? -INFINITY : a;
    *high = kind == 0 || kind == 2 ? INFINITY : kind == 3 ? a : a + width;
}

children *children_draw(uint64_t *seed, const mip *m, int32_t count, int kinds) {
    children *all = children_new(count);
    int32_t k, kind;
    for (kind = 0; kind < 3; kind++) {
        int32_t end = kind == 1 ? m->columns.rows : m->columns.cols;
        int64_t at = 0;
        for (k = 0; k < count; k++) {
            int64_t more = kinds >> kind & 1 ? test_random_int(seed, 0, end < 3 ? end : 3) : 0;
            all->start[kind][k] = at;
            for (; more > 0 && at < CHILDREN_ENTRIES; more--, at++) {
                double high;
                all->index[kind][at] = (int32_t)test_random_int(seed, 0, end - 1);
                draw_interval(seed, &all->low[kind][at], &high);
                if (kind == 2) all->low[kind][at] = (double)test_random_int(seed, -9, 9);
                else all->high[kind][at] = high;
                if (kind == 0 && test_random_int(seed, 0, 19) == 0) all->high[0][at] -= 20; /* bounds may cross */
            }
        }
        all->start[kind][count] = at;
    }
    return all;
}

children *children_branch(const mip *m, int32_t count, const int32_t *col, const double *x) {
    children *all = children_new(2 * count);
    int32_t k;
    for (k = 0; k <= 2 * count; k++) all->start[0][k] = k;
    for (k = 0; k < 2 * count; k++) {
        int32_t j = all->index[0][k] = col[k / 2];
        all->low[0][k] = k % 2 ? floor(x[j]) + 1 : m->lb[j];
        all->high[0][k] = k % 2 ? m->ub[j] : floor(x[j]);
    }
    return all;
}

void children_change(const children *all, int32_t k, mip *m) {
    int64_t e;
    for (e = all->start[0][k]; e < all->start[0][k + 1]; e++) {
        m->lb[all->index[0][e]] = all->low[0][e];
        m->ub[all->index[0][e]] = all->high[0][e];
    }
    for (e = all->start[1][k]; e < all->start[1][k + 1]; e++) {
        m->lhs[all->index[1][e]] = all->low[1][e];
        m->rhs[all->index[1][e]] = all->high[1][e];
    }
    for (e = all->start[2][k]; e < all->start[2][k + 1]; e++) m->cost[all->index[2][e]] = all->low[2][e];
}

void children_set(const children *all, int32_t k, gpuopt_simplex *simplex) {
    int32_t kind;
    for (kind = 0; kind < 3; kind++) {
        const int64_t at = all->start[kind][k], count = all->start[kind][k + 1] - at;
        const int32_t *index = all->index[kind] + at;
        const double *low = all->low[kind] + at;
        if (kind == 2) must(gpuopt_simplex_set_costs(simplex, GPUOPT_HOST, count, index, low));
        else if (kind == 1) must(gpuopt_simplex_set_sides(simplex, GPUOPT_HOST, count, index, low, all->high[1] + at));
        else must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, count, index, low, all->high[0] + at));
    }
}

static double *copy_of(const double *from, int32_t count) {
    double *to = calloc((size_t)count + 1, sizeof *to);
    assert_non_null(to);
    if (from) memcpy(to, from, sizeof *to * (size_t)count);
    return to;
}

mip children_copy(const mip *m) {
    mip copy = *m;
    copy.lb = copy_of(m->lb, m->columns.cols);
    copy.ub = copy_of(m->ub, m->columns.cols);
    copy.cost = copy_of(m->cost, m->columns.cols);
    copy.lhs = copy_of(m->lhs, m->columns.rows);
    copy.rhs = copy_of(m->rhs, m->columns.rows);
    return copy;
}

void children_free(mip *copy) {
    free(copy->lb);
    free(copy->ub);
    free(copy->cost);
    free(copy->lhs);
    free(copy->rhs);
}

gpuopt_outcome children_by_clp(const mip *m, const children *all, int32_t k, double *objective) {
    mip child = children_copy(m);
    gpuopt_outcome outcome;
    children_change(all, k, &child);
    outcome = clp_solve(&child, objective);
    children_free(&child);
    return outcome;
}

/* ---- Roots and batches ---- */

/* What a way's descriptor points to: [K is 2][dual pricing]. */
#define ROOT_RULES(k, p) \
    { .struct_size = sizeof(gpuopt_simplex_rules), .dual_pricing = GPUOPT_DUAL_PRICING_##p, .deferred_pivots = k }
static const gpuopt_simplex_rules root_rules[2][3] = {
    {ROOT_RULES(0, STEEPEST_EDGE), ROOT_RULES(0, DEVEX), ROOT_RULES(0, DANTZIG)},
    {ROOT_RULES(2, STEEPEST_EDGE), ROOT_RULES(2, DEVEX), ROOT_RULES(2, DANTZIG)}};

gpuopt_simplex_desc children_root_desc(const mip *m, int way) {
    gpuopt_simplex_desc desc = tableau_desc(m);
    desc.method = GPUOPT_METHOD_REVISED;
    if (test_on("cuda")) return desc;
    if (way & 1) desc.algorithm = GPUOPT_ALGORITHM_AUTO;
    if (way & 2) desc.method = GPUOPT_METHOD_TABLEAU;
    if (way & 4) desc.algorithm = GPUOPT_ALGORITHM_DUAL;
    desc.rules = &root_rules[way / 8 % 2][way / 16 % 3];
    return desc;
}

gpuopt_simplex_children_desc children_batch_desc(int32_t copies) {
    gpuopt_simplex_children_desc desc = GPUOPT_INIT(gpuopt_simplex_children_desc);
    desc.batch_size = copies;
    desc.changes = 9 * (int64_t)copies;
    desc.with_basis = desc.with_x = desc.with_farkas = 1;
    return desc;
}

gpuopt_simplex_children *children_batch(gpuopt_simplex *root, int32_t copies, int32_t pivots,
                                        gpuopt_simplex_on_pivot_limit when_full) {
    gpuopt_simplex_children_desc desc = children_batch_desc(copies);
    gpuopt_simplex_children *batch;
    desc.pivots = pivots;
    desc.on_pivot_limit = when_full;
    must(gpuopt_simplex_children_create(root, &desc, NULL, &batch));
    return batch;
}

mip children_cover(uint64_t seed, int32_t rows, int32_t cols) {
    double *a = calloc((size_t)rows * (size_t)cols, sizeof *a), *vector = calloc((size_t)(rows + 3 * cols), sizeof *a);
    double *cost = vector, *lb = cost + cols, *ub = lb + cols, *lhs = ub + cols;
    int32_t i, j, k;
    mip m;
    for (j = 0; j < cols; j++) {
        cost[j] = (double)test_random_int(&seed, 2, 4);
        ub[j] = 1;
        for (k = 0; k < 4; k++) a[test_random_int(&seed, 0, rows - 1) * cols + j] = 1;
    }
    for (i = 0; i < rows; i++) {
        for (k = 0; k < 2; k++) a[i * cols + test_random_int(&seed, 0, cols - 1)] = 1;
        lhs[i] = 1;
    }
    m = model_of(rows, cols, a, cost, lhs, NULL, lb, ub);
    free(a);
    free(vector);
    return m;
}

int32_t children_fractional(gpuopt_simplex *root, const mip *m, int32_t *col, double *x) {
    int32_t count = 0, j;
    must(gpuopt_simplex_get_solution(
        root, GPUOPT_HOST, &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x}));
    for (j = 0; j < m->columns.cols; j++)
        if (x[j] - floor(x[j]) > 1e-6 && x[j] - floor(x[j]) < 1 - 1e-6) col[count++] = j;
    return count;
}

/* ---- Reports ---- */

children_report *children_report_new(const mip *m, int32_t count) {
    const size_t rows = (size_t)m->columns.rows, cols = (size_t)m->columns.cols, children = (size_t)count;
    children_report *report = calloc(1, sizeof *report);
    gpuopt_simplex_child_report r = GPUOPT_INIT(gpuopt_simplex_child_report);
    assert_true(report && count <= CHILDREN_MOST);
    report->count = count;
    report->cutoff = NAN;
    r.basis = report->basis = calloc(children * (rows + cols) + 1, 1);
    r.x = report->x = calloc(children * cols + 1, sizeof(double));
    r.farkas = report->farkas = calloc(children * rows + 1, sizeof(double));
    r.farkas_low = report->farkas_low = calloc(children * rows + 1, sizeof(double));
    assert_true(r.basis && r.x && r.farkas && r.farkas_low);
    r.outcome = report->outcome;
    r.iterations = report->iterations;
    r.bound = report->bound;
    r.objective = report->objective;
    r.certainty = report->certainty;
    report->r = r;
    return report;
}

void children_report_free(children_report *r) {
    free(r->basis);
    free(r->x);
    free(r->farkas);
    free(r->farkas_low);
    free(r);
}

int children_report_equal(const mip *m, const children_report *a, const children_report *b) {
    const size_t count = (size_t)a->count, rows = (size_t)m->columns.rows, cols = (size_t)m->columns.cols;
    return a->count == b->count && !memcmp(a->outcome, b->outcome, count * sizeof *a->outcome) &&
           !memcmp(a->iterations, b->iterations, count * sizeof *a->iterations) &&
           !memcmp(a->certainty, b->certainty, count * sizeof *a->certainty) &&
           !memcmp(a->bound, b->bound, count * sizeof(double)) &&
           !memcmp(a->objective, b->objective, count * sizeof(double)) &&
           !memcmp(a->basis, b->basis, count * (rows + cols)) && !memcmp(a->x, b->x, count * cols * sizeof(double)) &&
           !memcmp(a->farkas, b->farkas, count * rows * sizeof(double)) &&
           !memcmp(a->farkas_low, b->farkas_low, count * rows * sizeof(double));
}

/* ---- Checking ---- */

static int crosses(const mip *m) {
    int32_t j;
    for (j = 0; j < m->columns.cols; j++)
        if (m->lb[j] > m->ub[j]) return 1;
    return 0;
}

static int boxed(const mip *m) {
    int32_t j;
    for (j = 0; j < m->columns.cols; j++)
        if (m->lb[j] <= -no_bound || m->ub[j] >= no_bound) return 0;
    return 1;
}

/* The bound of a child: never beyond the optimum, and next to it where the child is optimal and all columns are
 * bounded. */
static const char *bound_fault(const mip *m, const exact_answer *e, double bound, int optimal) {
    const double sign = m->maximize ? -1 : 1;
    if (isnan(bound)) return "the bound is not a number";
    if (e->outcome == GPUOPT_UNBOUNDED && sign * bound > -1e20) return "a bound of an unbounded model";
    if (e->outcome != GPUOPT_OPTIMAL) return NULL;
    if (sign * bound > sign * e->objective + 1e-14 * fabs(e->objective)) return "the bound is beyond the optimum";
    if (optimal && boxed(m) && sign * (e->objective - bound) > 1e-8 * fmax(1, fabs(e->objective)))
        return "the bound is far off";
    return NULL;
}

const char *children_fault(const mip *m, const children *all, const children_report *r, int32_t k, int *verdicts) {
    const int32_t rows = m->columns.rows, cols = m->columns.cols;
    const int outcome = r->outcome[k];
    const double sign = m->maximize ? -1 : 1;
    const uint8_t *basis = r->basis + (size_t)k * (size_t)(rows + cols);
    const double *x = r->x + (size_t)k * (size_t)cols;
    const char *fault = NULL;
    double *low = calloc((size_t)cols + 1, sizeof *low);
    int32_t j, basic = 0;
    exact_answer e;
    mip child = children_copy(m);
    children_change(all, k, &child);
    *verdicts |= 1 << outcome;
    for (j = 0; j < rows + cols; j++) basic += basis[j] == GPUOPT_VARIABLE_BASIC;
    if (basic != rows) fault = "not a basis";
    else if (r->certainty[k] != (outcome == GPUOPT_OPTIMAL ? GPUOPT_CERTAINTY_TOLERANCE : GPUOPT_CERTAINTY_NONE))
        fault = "another certainty than its outcome has";
    else if (crosses(&child)) {
        if (outcome != GPUOPT_INFEASIBLE || r->iterations[k] != 0) fault = "bounds cross";
    } else {
        e = exact_solve(&child, NULL);
        if (outcome == GPUOPT_OPTIMAL || outcome == GPUOPT_INFEASIBLE || outcome == GPUOPT_UNBOUNDED) {
            if (e.outcome != (gpuopt_outcome)outcome) fault = "another verdict than in rationals";
        } else if (outcome == GPUOPT_CUTOFF) {
            if (!(sign * r->bound[k] >= sign * r->cutoff)) fault = "the bound has not reached the cutoff";
        } else if (outcome != GPUOPT_MORE && outcome != GPUOPT_FULL && outcome != GPUOPT_IMPRECISE)
            fault = "not an outcome of a child";
        if (!fault && outcome == GPUOPT_OPTIMAL &&
            !(fabs(e.objective - r->objective[k]) <= 1e-9 * fmax(1, fabs(e.objective))))
            fault = "another objective than in rationals";
        if (!fault && outcome == GPUOPT_OPTIMAL && exact_primal_reached(&child, x, low) > 1e-9)
            fault = "the point is outside";
        if (!fault && outcome == GPUOPT_INFEASIBLE &&
            !(exact_farkas_margin(&child, r->farkas + (size_t)k * (size_t)rows,
                                  r->farkas_low + (size_t)k * (size_t)rows, 1e24) > 0))
            fault = "no proof in rationals";
        if (!fault) fault = bound_fault(&child, &e, r->bound[k], outcome == GPUOPT_OPTIMAL);
    }
    children_free(&child);
    free(low);
    return fault;
}

void children_agree_with_clp(const mip *m, const children *all, const children_report *r, int32_t k) {
    const double sign = m->maximize ? -1 : 1;
    double objective;
    const gpuopt_outcome outcome = children_by_clp(m, all, k, &objective);
    const double margin = 1e-7 * fmax(1, fabs(objective));
    if (r->outcome[k] != (int32_t)outcome)
        fail_msg("child %d: outcome %d, and CLP's %d", (int)k, (int)r->outcome[k], (int)outcome);
    if (outcome == GPUOPT_OPTIMAL &&
        !(fabs(r->objective[k] - objective) <= margin && sign * r->bound[k] <= sign * objective + margin))
        fail_msg("child %d: %.17g, bound %.17g, and CLP %.17g", (int)k, r->objective[k], r->bound[k], objective);
}

int children_is_verdict(int32_t outcome) {
    return outcome == GPUOPT_OPTIMAL || outcome == GPUOPT_INFEASIBLE || outcome == GPUOPT_UNBOUNDED;
}

int children_left_unbounded(const mip *m, const children *all, const children_report *r, int32_t k) {
    double objective;
    return test_on("cuda") && r->outcome[k] == GPUOPT_IMPRECISE &&
           children_by_clp(m, all, k, &objective) == GPUOPT_UNBOUNDED;
}
