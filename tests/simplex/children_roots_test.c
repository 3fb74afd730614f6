/* SPDX-License-Identifier: MIT
 *
 * Children of several bases in one call: against batches over one handle for each of them (on the CPU to the bit),
 * against the simplex method in exact rationals, and misuse.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/changes.h"
#include "tests/simplex/children.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

enum { ROOTS = 5, EACH = 6, COUNT = (ROOTS + 1) * EACH };

/* ---- Roots ---- */

/* Roots of a model: the arrays that a batch gets, and the models themselves. Number ROOTS is the handle. */
typedef struct roots {
    gpuopt_simplex_root_list list;
    mip m[ROOTS + 1];
    uint8_t *basis;
    double *lb, *ub, *lhs, *rhs;
} roots;

static void *array(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

/* Each root has some changes of bounds and sides, and the basis that a handle reaches in a few iterations or at the
 * end. */
static roots *draw_roots(gpuopt_context *context, const gpuopt_simplex_desc *desc, uint64_t *seed, const mip *m,
                         int kinds) {
    const size_t rows = (size_t)m->columns.rows, cols = (size_t)m->columns.cols;
    children *changes = children_draw(seed, m, ROOTS, kinds);
    roots *r = array(1, sizeof *r);
    int32_t k;
    r->basis = array(ROOTS * (rows + cols), 1);
    r->lb = array(ROOTS * cols, sizeof(double)), r->ub = array(ROOTS * cols, sizeof(double));
    r->lhs = array(ROOTS * rows, sizeof(double)), r->rhs = array(ROOTS * rows, sizeof(double));
    for (k = 0; k < ROOTS; k++) {
        gpuopt_simplex *way = simplex_create(context, desc);
        const int64_t few = test_random_int(seed, 0, 9);
        r->m[k] = children_copy(m);
        children_change(changes, k, &r->m[k]);
        children_set(changes, k, way);
        if (few > 0) simplex_iterate(way, few < 5 ? few : 100000);
        must(gpuopt_simplex_get_basis(way, GPUOPT_HOST, r->basis + (size_t)k * (rows + cols)));
        memcpy(r->lb + (size_t)k * cols, r->m[k].lb, sizeof(double) * cols);
        memcpy(r->ub + (size_t)k * cols, r->m[k].ub, sizeof(double) * cols);
        memcpy(r->lhs + (size_t)k * rows, r->m[k].lhs, sizeof(double) * rows);
        memcpy(r->rhs + (size_t)k * rows, r->m[k].rhs, sizeof(double) * rows);
        gpuopt_simplex_destroy(way);
    }
    r->m[ROOTS] = children_copy(m);
    gpuopt_desc_init(&r->list, sizeof r->list);
    r->list.count = ROOTS;
    r->list.basis = r->basis;
    r->list.lb = r->lb, r->list.ub = r->ub;
    r->list.lhs = r->lhs, r->list.rhs = r->rhs;
    free(changes);
    return r;
}

static void free_roots(roots *r) {
    int k;
    for (k = 0; k <= ROOTS; k++) children_free(&r->m[k]);
    free(r->basis), free(r->lb), free(r->ub), free(r->lhs), free(r->rhs), free(r);
}

/* A new handle that is root k. */
static gpuopt_simplex *root_alone(gpuopt_context *context, const gpuopt_simplex_desc *desc, const roots *r, int32_t k) {
    const int32_t rows = r->m[k].columns.rows, cols = r->m[k].columns.cols;
    gpuopt_simplex *s = simplex_create(context, desc);
    must(gpuopt_simplex_set_bounds(s, GPUOPT_HOST, cols, NULL, r->m[k].lb, r->m[k].ub));
    must(gpuopt_simplex_set_sides(s, GPUOPT_HOST, rows, NULL, r->m[k].lhs, r->m[k].rhs));
    must(gpuopt_simplex_set_basis(s, GPUOPT_HOST, r->basis + (size_t)k * (size_t)(rows + cols)));
    return s;
}

/* The children whose root is that one; *which [EACH]: their numbers. */
static children *children_of(const children *all, const int32_t *root, int32_t wanted, int32_t *which) {
    children *some = children_new(EACH);
    int32_t k, kind, count = 0;
    for (k = 0; k < COUNT; k++)
        if (root[k] == wanted) which[count++] = k;
    for (kind = 0; kind < 3; kind++) {
        int64_t at = 0, e;
        for (k = 0; k < count; k++) {
            some->start[kind][k] = at;
            for (e = all->start[kind][which[k]]; e < all->start[kind][which[k] + 1]; e++, at++) {
                some->index[kind][at] = all->index[kind][e];
                some->low[kind][at] = all->low[kind][e];
                if (kind < 2) some->high[kind][at] = all->high[kind][e];
            }
        }
        some->start[kind][count] = at;
    }
    assert_int_equal(count, EACH);
    return some;
}

static gpuopt_simplex_children *batch_of_roots(gpuopt_simplex *handle, int32_t pivots,
                                               gpuopt_simplex_on_pivot_limit when_full) {
    gpuopt_simplex_children_desc desc = children_batch_desc(COUNT);
    gpuopt_simplex_children *batch;
    desc.pivots = pivots;
    desc.on_pivot_limit = when_full;
    desc.roots = ROOTS;
    must(gpuopt_simplex_children_create(handle, &desc, NULL, &batch));
    return batch;
}

/* ---- Against batches of one root ---- */

/* Fails unless child k of `all` is as child n of a batch over its root alone. */
static int compared, left_open; /* on the GPU: children with a verdict on both sides, and others */
static void check_same(const mip *m, const children_report *r, int32_t k, const children_report *alone, int32_t n) {
    const size_t rows = (size_t)m->columns.rows, cols = (size_t)m->columns.cols, a = (size_t)k, b = (size_t)n;
    const double objective = r->objective[k], expected = alone->objective[n];
    int same = r->outcome[k] == alone->outcome[n];
    if (test_on("cuda")) {
        if (r->outcome[k] == GPUOPT_IMPRECISE || alone->outcome[n] == GPUOPT_IMPRECISE) {
            left_open++;
            return;
        }
        compared++;
        if (same && r->outcome[k] == GPUOPT_OPTIMAL)
            /* A bound charges each reduced cost's rounding with the range of its column. Pivots in another order
             * round differently, so bounds agree up to a part of what is charged. */
            same = fabs(objective - expected) <= 1e-9 * fmax(1, fabs(expected)) &&
                   fabs(r->bound[k] - alone->bound[n]) <=
                       1e-6 * fmax(1, fabs(alone->bound[n])) + 0.5 * fabs(expected - alone->bound[n]);
    } else
        same = same && r->iterations[k] == alone->iterations[n] && !memcmp(&objective, &expected, sizeof expected) &&
               !memcmp(&r->bound[k], &alone->bound[n], sizeof(double)) &&
               !memcmp(r->basis + a * (rows + cols), alone->basis + b * (rows + cols), rows + cols) &&
               !memcmp(r->x + a * cols, alone->x + b * cols, sizeof(double) * cols) &&
               !memcmp(r->farkas + a * rows, alone->farkas + b * rows, sizeof(double) * rows);
    if (!same)
        fail_msg("child %d: %s, %d iterations, %.17g, bound %.17g; alone %s, %d, %.17g, bound %.17g", (int)k,
                 gpuopt_outcome_string((gpuopt_outcome)r->outcome[k]), (int)r->iterations[k], objective, r->bound[k],
                 gpuopt_outcome_string((gpuopt_outcome)alone->outcome[n]), (int)alone->iterations[n], expected,
                 alone->bound[n]);
}

static void as_batches_alone(void **state) {
    static const char *const models[] = {"shah:40:1", "plant:30:60:0.2:2", "meyer:30:100:0.1:1", "plant:50:30:0.3:7"};
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 19;
    int way;
    (void)state;
    for (way = 0; way < test_times(48, 80); way++) {
        mip m = model_load(models[way % 4]);
        gpuopt_simplex_desc desc = children_root_desc(&m, way);
        const gpuopt_simplex_on_pivot_limit when_full =
            way % 3 == 2 ? GPUOPT_ON_PIVOT_LIMIT_REFACTOR : GPUOPT_ON_PIVOT_LIMIT_END;
        const int32_t pivots = way % 3 == 2 ? 4 : 0;
        const int64_t iterations = way % 5 == 4 ? 3 : 1000;
        roots *r = draw_roots(context, &desc, &seed, &m, CHILDREN_BOUNDS | (way % 2 ? CHILDREN_SIDES : 0));
        children *all = children_draw(&seed, &m, COUNT, 1 + way % 7);
        children_report *report = children_report_new(&m, COUNT), *alone = children_report_new(&m, EACH);
        gpuopt_simplex *handle = simplex_create(context, &desc);
        gpuopt_simplex_children *batch;
        int32_t root[COUNT], which[EACH], k, n;
        for (k = 0; k < COUNT; k++) root[k] = (k * 5 + way) % (ROOTS + 1) - 1;
        all->c.root = root;
        batch = batch_of_roots(handle, pivots, when_full);
        if (way % 4 < 2) simplex_iterate(handle, way % 4 ? 4 : 100000);
        must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &r->list));
        if (way % 4 == 3) simplex_iterate(handle, 100000); /* which moves no root */
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, iterations, &report->r));
        for (n = 0; n < ROOTS; n++) {
            gpuopt_simplex *single = root_alone(context, &desc, r, n);
            gpuopt_simplex_children *of_one = children_batch(single, EACH, pivots, when_full);
            children *some = children_of(all, root, n, which);
            must(gpuopt_simplex_children_run(of_one, GPUOPT_HOST, &some->c, iterations, &alone->r));
            for (k = 0; k < EACH; k++) check_same(&m, report, which[k], alone, k);
            gpuopt_simplex_children_destroy(of_one);
            gpuopt_simplex_destroy(single);
            free(some);
        }
        { /* and the handle's */
            children *some = children_of(all, root, -1, which);
            gpuopt_simplex_children *of_one = children_batch(handle, EACH, pivots, when_full);
            must(gpuopt_simplex_children_run(of_one, GPUOPT_HOST, &some->c, iterations, &alone->r));
            for (k = 0; k < EACH; k++) check_same(&m, report, which[k], alone, k);
            gpuopt_simplex_children_destroy(of_one);
            free(some);
        }
        gpuopt_simplex_children_destroy(batch);
        gpuopt_simplex_destroy(handle);
        children_report_free(report);
        children_report_free(alone);
        free(all);
        free_roots(r);
        mip_free(&m);
    }
    print_message("%d children compared on the GPU, %d left open\n", compared, left_open);
    assert_true(left_open <= compared);
    gpuopt_context_destroy(context);
}

/* ---- Against rationals ---- */

/* Any roots and children; then with other costs and a cutoff of the handle, which hold for children of all roots. */
static void any_against_rationals(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 31;
    int model, verdicts = 0, all_children = 0, imprecise = 0;
    (void)state;
    for (model = 0; model < test_times(100, 120); model++) {
        mip m = changes_model(&seed, (int32_t)test_random_int(&seed, 1, 8), (int32_t)test_random_int(&seed, 1, 8));
        gpuopt_simplex_desc desc = children_root_desc(&m, model);
        roots *r = draw_roots(context, &desc, &seed, &m, 1 + model % 3);
        children *all = children_draw(&seed, &m, COUNT, 1 + model % 7);
        children_report *report = children_report_new(&m, COUNT);
        gpuopt_simplex *handle = simplex_create(context, &desc);
        gpuopt_simplex_children *batch = batch_of_roots(handle, 1 + model % 4, GPUOPT_ON_PIVOT_LIMIT_REFACTOR);
        const double sign = m.maximize ? -1 : 1, cost = 3;
        const int32_t col = 0;
        int32_t root[COUNT], k, run;
        for (k = 0; k < COUNT; k++) root[k] = (int32_t)test_random_int(&seed, -1, ROOTS - 1);
        all->c.root = root;
        if (model % 3) simplex_iterate(handle, 100000);
        must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &r->list));
        for (run = 0; run < 2; run++) {
            if (run == 1) {
                must(gpuopt_simplex_set_costs(handle, GPUOPT_HOST, 1, &col, &cost));
                for (k = 0; k <= ROOTS; k++) r->m[k].cost[0] = cost;
                report->cutoff = sign * 5;
                must(gpuopt_simplex_set_cutoff(handle, report->cutoff));
            }
            must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &report->r));
            for (k = 0; k < COUNT; k++) {
                const char *fault = children_fault(&r->m[root[k] < 0 ? ROOTS : root[k]], all, report, k, &verdicts);
                if (fault) fail_msg("model %d, run %d, child %d: %s", model, (int)run, (int)k, fault);
                all_children++;
                imprecise += !children_is_verdict(report->outcome[k]) && report->outcome[k] != GPUOPT_CUTOFF;
            }
        }
        gpuopt_simplex_children_destroy(batch);
        gpuopt_simplex_destroy(handle);
        children_report_free(report);
        free(all);
        free_roots(r);
        mip_free(&m);
    }
    assert_true(verdicts & 1 << GPUOPT_OPTIMAL && verdicts & 1 << GPUOPT_INFEASIBLE && verdicts & 1 << GPUOPT_CUTOFF);
    print_message("%d of %d children without a verdict\n", imprecise, all_children);
    if (!test_on("cuda")) assert_int_equal(imprecise, 0);
    gpuopt_context_destroy(context);
}

/* ---- Strong branching ---- */

/* Both children of columns of several roots are those that _run makes of their bounds. The second root differs by its
 * bounds alone, and has the handle's sides. */
static void branches_of_roots(void **state) {
    enum { COLUMNS = COUNT / 2 };
    gpuopt_context *context = test_context(NULL);
    mip m = children_cover(3, 40, 70);
    gpuopt_simplex_desc desc = children_root_desc(&m, 1);
    gpuopt_simplex *handle = simplex_create(context, &desc);
    gpuopt_simplex_children *batch = batch_of_roots(handle, 0, GPUOPT_ON_PIVOT_LIMIT_END);
    const size_t rows = (size_t)m.columns.rows, cols = (size_t)m.columns.cols;
    gpuopt_simplex_root_list list = GPUOPT_INIT(gpuopt_simplex_root_list);
    children_report *report = children_report_new(&m, COUNT), *again = children_report_new(&m, COUNT);
    children *all = children_new(COUNT);
    uint8_t *basis = array(2 * (rows + cols), 1);
    double *ub = array(2 * cols, sizeof *ub), x[200], value[COLUMNS];
    int32_t col[200], of_column[COLUMNS], root[COUNT], fixed, k;
    (void)state;
    assert_int_equal(simplex_iterate(handle, 100000).outcome, GPUOPT_OPTIMAL);
    assert_true(children_fractional(handle, &m, col, x) > 3);
    fixed = col[0];
    for (k = 0; k < 2; k++) {
        must(gpuopt_simplex_get_basis(handle, GPUOPT_HOST, basis + (size_t)k * (rows + cols)));
        memcpy(ub + (size_t)k * cols, m.ub, sizeof *ub * cols);
    }
    ub[cols + (size_t)fixed] = 0;
    list.count = 2, list.basis = basis, list.ub = ub;
    must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &list));
    for (k = 0; k < COLUMNS; k++) {
        of_column[k] = k % 3 - 1;
        col[k] = col[k % 3 + 1];
        value[k] = x[col[k]];
    }
    for (k = 0; k < COUNT; k++) {
        const int32_t j = all->index[0][k] = col[k / 2];
        all->start[0][k] = k;
        all->low[0][k] = k % 2 ? floor(x[j]) + 1 : m.lb[j];
        all->high[0][k] = k % 2 ? m.ub[j] : floor(x[j]);
        root[k] = of_column[k / 2];
    }
    all->start[0][COUNT] = COUNT;
    all->c.root = root;
    must(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, COLUMNS, of_column, col, value, 1000, &report->r));
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &again->r));
    assert_true(children_report_equal(&m, report, again));
    for (k = 0; k < COUNT; k++) {
        mip of_root = children_copy(&m);
        if (root[k] == 1) of_root.ub[fixed] = 0;
        children_agree_with_clp(&of_root, all, report, k);
        children_free(&of_root);
    }
    assert_int_equal(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, 1, of_column, col, NULL, 10, NULL),
                     GPUOPT_ERROR_ARGUMENT);
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(handle);
    children_report_free(report);
    children_report_free(again);
    free(all), free(basis), free(ub);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* ---- Misuse, and memory ---- */

#define REFUSED(code, text, ...)                        \
    host.error[0] = 0;                                  \
    assert_int_equal(__VA_ARGS__, GPUOPT_ERROR_##code); \
    if (!strstr(host.error, text)) fail_msg("the log says: %s", host.error)

/* Refused roots leave those of before, but for a singular basis; refused runs write nothing. */
static void refused_roots(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 6;
    mip m = model_load("plant:20:40:0.3:2");
    const size_t rows = 20, cols = 40;
    gpuopt_simplex_desc desc = children_root_desc(&m, 0);
    gpuopt_simplex *handle = simplex_create(context, &desc);
    gpuopt_simplex_children_desc of_batch = children_batch_desc(COUNT);
    gpuopt_simplex_children *batch, *without;
    gpuopt_simplex_root_list bad;
    roots *r = draw_roots(context, &desc, &seed, &m, CHILDREN_BOUNDS);
    children *all = children_draw(&seed, &m, COUNT, CHILDREN_BOUNDS);
    children_report *before = children_report_new(&m, COUNT), *after = children_report_new(&m, COUNT);
    int32_t root[COUNT], k, col = 1;
    double *const wrong = array(ROOTS * cols, sizeof(double));
    const double one = 1;
    (void)state;
    for (k = 0; k < COUNT; k++) root[k] = k % ROOTS;
    all->c.root = root;
#define CREATE(value) (of_batch.roots = value, gpuopt_simplex_children_create(handle, &of_batch, NULL, &batch))
    REFUSED(ARGUMENT, "roots is not in", CREATE(-1));
    REFUSED(ARGUMENT, "roots is not in", CREATE(65537));
    must(CREATE(0));
    without = batch;
    must(CREATE(ROOTS));
    REFUSED(STATE, "no roots", gpuopt_simplex_children_set_roots(without, GPUOPT_HOST, &r->list));
    REFUSED(ARGUMENT, "root[35]", gpuopt_simplex_children_run(without, GPUOPT_HOST, &all->c, 100, &after->r));
    REFUSED(STATE, "no roots are set", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
    must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &r->list));
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &before->r));
#define SET(code, text, change) \
    bad = r->list;              \
    change;                     \
    REFUSED(code, text, gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &bad))
    SET(ARGUMENT, "count", bad.count = -1);
    SET(MEMORY, "so many roots", bad.count = ROOTS + 1);
    SET(ARGUMENT, "basis is NULL", bad.basis = NULL);
    SET(ARGUMENT, "struct_size", bad.struct_size = 3);
    memcpy(wrong, r->lb, sizeof(double) * ROOTS * cols);
    wrong[3 * cols + 2] = NAN;
    SET(ARGUMENT, "root 3: lb[2]", bad.lb = wrong);
    SET(ARGUMENT, "root 3: ub[2]", bad.ub = wrong);
    memcpy(wrong, r->lhs, sizeof(double) * ROOTS * rows);
    wrong[rows + 5] = NAN;
    SET(ARGUMENT, "root 1: lhs[5]", bad.lhs = wrong);
    for (k = 0; k < (int32_t)(ROOTS * rows); k++) wrong[k] = 1e9;
    SET(ARGUMENT, "root 0: lhs[0] = 1e+09 exceeds", bad.lhs = wrong);
    SET(ARGUMENT, "root 0: lhs[0] exceeds rhs[0]", (bad.lhs = wrong, bad.rhs = NULL));
    r->basis[2] ^= 1; /* BASIC or not: another number of basic variables */
    SET(ARGUMENT, "root 0: ", bad.count = ROOTS);
    r->basis[2] ^= 1;
    REFUSED(ARGUMENT, "list is NULL", gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, NULL));
    REFUSED(ARGUMENT, "where", gpuopt_simplex_children_set_roots(batch, (gpuopt_memory_space)9, &r->list));
    assert_int_equal(gpuopt_simplex_children_set_roots(NULL, GPUOPT_HOST, &r->list), GPUOPT_ERROR_ARGUMENT);
    root[7] = ROOTS;
    REFUSED(ARGUMENT, "root[7]", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
    root[7] = -2;
    REFUSED(ARGUMENT, "root[7]", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
    root[7] = 7 % ROOTS;
    assert_true(after->x[0] == 0 && after->objective[0] == 0);                 /* nothing is written */
    must(gpuopt_simplex_set_bounds(handle, GPUOPT_HOST, 1, &col, NULL, &one)); /* of the handle, not of the roots */
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
    assert_true(children_report_equal(&m, before, after));
    bad = r->list;
    bad.count = 0;
    must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &bad));
    REFUSED(STATE, "no roots are set", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
    all->c.root = NULL;
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_children_destroy(without);
    gpuopt_simplex_destroy(handle);
    children_report_free(before);
    children_report_free(after);
    free(all), free(wrong);
    free_roots(r);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Two equal columns are in no basis together. */
static void singular_roots(void **state) {
    static const double a[] = {1, 1, 0, 2, 2, 1}, cost[] = {1, 2, 3}, lhs[] = {1, 1}, ub[] = {9, 9, 9};
    static const uint8_t basis[] = {GPUOPT_VARIABLE_BASIC,    GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_BASIC,
                                    GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_AT_LOWER, /* */
                                    GPUOPT_VARIABLE_BASIC,    GPUOPT_VARIABLE_BASIC,    GPUOPT_VARIABLE_AT_LOWER,
                                    GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_AT_LOWER};
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_of(2, 3, a, cost, lhs, NULL, NULL, ub);
    gpuopt_simplex_desc desc = children_root_desc(&m, 0);
    gpuopt_simplex *handle = simplex_create(context, &desc);
    gpuopt_simplex_children *batch = batch_of_roots(handle, 0, GPUOPT_ON_PIVOT_LIMIT_END);
    gpuopt_simplex_root_list list = GPUOPT_INIT(gpuopt_simplex_root_list);
    gpuopt_simplex_child_list one = GPUOPT_INIT(gpuopt_simplex_child_list);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    const int32_t first = 0;
    int32_t outcome = -1;
    double objective = 0;
    (void)state;
    list.count = 2, list.basis = basis;
    one.count = 1, one.root = &first;
    report.outcome = &outcome, report.objective = &objective;
    REFUSED(NUMERIC, "root 1 is singular", gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &list));
    REFUSED(STATE, "no roots are set", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &one, 100, &report));
    list.count = 1;
    must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &list));
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &one, 100, &report));
    assert_int_equal(outcome, GPUOPT_OPTIMAL);
    assert_true(fabs(objective - 1) <= 1e-9); /* the first column at 1 suffices for both rows */
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(handle);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* After rows were added, roots must be set again. A row of another node has infinite sides in a root. */
static void rows_come_and_go(void **state) {
    static const double a[] = {1, 1}, cost[] = {-1, -2}, rhs[] = {4}, ub[] = {3, 3}, cut[] = {1, 2}, most[] = {5};
    static const int64_t start[] = {0, 2};
    static const int32_t index[] = {0, 1}, root[] = {0, 1, -1};
    static const gpuopt_spare spare = {.struct_size = sizeof spare, .rows = 2, .cols = 1, .nonzeros = 8};
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_of(1, 2, a, cost, NULL, rhs, NULL, ub);
    gpuopt_simplex_desc desc = children_root_desc(&m, 0);
    gpuopt_simplex *handle;
    gpuopt_simplex_children *batch;
    gpuopt_simplex_root_list list = GPUOPT_INIT(gpuopt_simplex_root_list);
    gpuopt_simplex_child_list three = GPUOPT_INIT(gpuopt_simplex_child_list);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    gpuopt_matrix row = {0};
    uint8_t basis[8];
    double objective[3], sides[4] = {4, 1e30, 4, 5};
    int32_t outcome[3];
    (void)state;
    desc.spare = &spare;
    handle = simplex_create(context, &desc);
    batch = batch_of_roots(handle, 0, GPUOPT_ON_PIVOT_LIMIT_REFACTOR);
    simplex_iterate(handle, 100);
    must(gpuopt_simplex_get_basis(handle, GPUOPT_HOST, basis));
    list.count = 1, list.basis = basis;
    three.count = 3, three.root = root;
    report.outcome = outcome, report.objective = objective;
    must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &list));
    row.rows = 1, row.cols = 2, row.start = start, row.index = index, row.value = cut;
    must(gpuopt_simplex_add_rows(handle, &row, NULL, most));
    REFUSED(ARGUMENT, "root[1]", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &three, 100, &report));
    three.count = 1;
    REFUSED(STATE, "after the roots were set", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &three, 100, &report));
    must(gpuopt_simplex_get_basis(handle, GPUOPT_HOST, basis));
    must(gpuopt_simplex_get_basis(handle, GPUOPT_HOST, basis + 4));
    list.count = 2, list.rhs = sides;
    three.count = 3;
    must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &list));
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &three, 100, &report));
    /* max x + 2 y: 1 + 6 without the cut x + 2 y <= 5, which bounds the others */
    assert_true(outcome[0] == GPUOPT_OPTIMAL && outcome[1] == GPUOPT_OPTIMAL && outcome[2] == GPUOPT_OPTIMAL);
    assert_true(fabs(objective[0] + 7) <= 1e-9 && fabs(objective[1] + 5) <= 1e-9 && fabs(objective[2] + 5) <= 1e-9);
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(handle);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* The plan is exact, and neither setting roots nor a run takes memory. */
static void memory_is_planned(void **state) {
    static const char *const models[] = {"plant:20:40:0.3:2", "shah:40:1"};
    uint64_t seed = 2;
    int model;
    (void)state;
    for (model = 0; model < 2; model++) {
        test_host host;
        gpuopt_context *context = test_context(&host);
        mip m = model_load(models[model]);
        gpuopt_simplex_desc desc = children_root_desc(&m, 0);
        roots *r = draw_roots(context, &desc, &seed, &m, CHILDREN_BOUNDS);
        children *all = children_draw(&seed, &m, COUNT, CHILDREN_BOUNDS);
        gpuopt_simplex *handle = simplex_create(context, &desc);
        gpuopt_simplex_children_desc of_batch = children_batch_desc(COUNT);
        gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan), none = GPUOPT_INIT(gpuopt_memory_plan);
        gpuopt_simplex_children *batch;
        const uint64_t before[2] = {host.bytes[0], host.bytes[1]};
        const long live = host.live;
        int32_t root[COUNT], k;
        for (k = 0; k < COUNT; k++) root[k] = k % (ROOTS + 1) - 1;
        all->c.root = root;
        must(gpuopt_simplex_children_create(handle, &of_batch, &none, NULL));
        of_batch.roots = ROOTS;
        must(gpuopt_simplex_children_create(handle, &of_batch, &plan, NULL));
        assert_true(plan.host_bytes > none.host_bytes && (plan.device_bytes > none.device_bytes) == test_on("cuda"));
        must(gpuopt_simplex_children_create(handle, &of_batch, NULL, &batch));
        assert_int_equal(host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST], plan.host_bytes);
        assert_int_equal(host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE], plan.device_bytes);
        simplex_iterate(handle, 100000);
        test_forbid_allocation(1);
        must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &r->list));
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, NULL));
        test_forbid_allocation(0);
        gpuopt_simplex_children_destroy(batch);
        assert_int_equal(host.live, live);
        gpuopt_simplex_destroy(handle);
        free(all);
        free_roots(r);
        mip_free(&m);
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_batches_alone),  cmocka_unit_test(any_against_rationals),
        cmocka_unit_test(branches_of_roots), cmocka_unit_test(refused_roots),
        cmocka_unit_test(singular_roots),    cmocka_unit_test(rows_come_and_go),
        cmocka_unit_test(memory_is_planned),
    };
    return test_main(argc, argv, __FILE__, tests, sizeof tests / sizeof *tests);
}
