/* SPDX-License-Identifier: MIT
 *
 * A handle whose rows and columns come and go: after each change of a random sequence the inverse is that of the new
 * basis, the verdict is that of the simplex method in exact rationals on the changed model, or CLP's where the model is
 * larger, and proofs hold. A new row leaves a dual feasible basis dual feasible, a new column a primal feasible one
 * primal feasible. Refused changes change nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/changes.h"
#include "tests/simplex/children.h"
#include "tests/simplex/clp.h"
#include "tests/simplex/dual_ways.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* ---- A model that changes, dense ---- */

enum { ROOM = 40 };
typedef struct growing {
    int32_t rows, cols;
    int maximize;
    double a[ROOM][ROOM], cost[ROOM], lhs[ROOM], rhs[ROOM], lb[ROOM], ub[ROOM];
} growing;

static mip mip_of(const growing *g) {
    double *a = calloc(ROOM * ROOM, sizeof *a);
    int32_t i;
    mip m;
    for (i = 0; i < g->rows; i++) memcpy(a + (size_t)i * (size_t)g->cols, g->a[i], sizeof *a * (size_t)g->cols);
    m = model_of(g->rows, g->cols, a, g->cost, g->lhs, g->rhs, g->lb, g->ub);
    m.maximize = g->maximize;
    free(a);
    return m;
}

static growing growing_of(const mip *m) {
    growing g;
    int32_t i, j;
    int64_t e;
    memset(&g, 0, sizeof g);
    g.rows = m->columns.rows;
    g.cols = m->columns.cols;
    g.maximize = m->maximize;
    for (j = 0; j < g.cols; j++) {
        for (e = m->columns.start[j]; e < m->columns.start[j + 1]; e++)
            g.a[m->columns.index[e]][j] = m->columns.value[e];
        g.cost[j] = m->cost[j];
        g.lb[j] = m->lb[j];
        g.ub[j] = m->ub[j];
    }
    for (i = 0; i < g.rows; i++) g.lhs[i] = m->lhs[i], g.rhs[i] = m->rhs[i];
    return g;
}

static void draw_interval(uint64_t *seed, double *low, double *high) {
    int kind = (int)test_random_int(seed, 0, 9);
    *low = kind == 0 || kind == 1 ? -INFINITY : (double)test_random_int(seed, -9, 9);
    *high = kind == 0 || kind == 2 ? INFINITY : (isinf(*low) ? 0 : *low) + (double)test_random_int(seed, 0, 12);
}

/* Rows first .. rows - 1, or columns, of the model as a matrix of either layout. */
typedef struct lines {
    gpuopt_matrix matrix;
    int64_t start[ROOM + 1];
    int32_t index[ROOM * ROOM];
    double value[ROOM * ROOM];
} lines;

static const gpuopt_matrix *lines_of(lines *l, const growing *g, int by_rows, int32_t first, gpuopt_layout layout) {
    int32_t row = by_rows ? first : 0, col = by_rows ? 0 : first, i, j;
    int csr = layout == GPUOPT_LAYOUT_CSR;
    int64_t count = 0;
    l->matrix.rows = g->rows - row;
    l->matrix.cols = g->cols - col;
    l->matrix.start = l->start;
    l->matrix.index = l->index;
    l->matrix.value = l->value;
    l->matrix.layout = layout;
    for (i = 0; i < (csr ? l->matrix.rows : l->matrix.cols); i++) {
        l->start[i] = count;
        for (j = 0; j < (csr ? l->matrix.cols : l->matrix.rows); j++) {
            double value = csr ? g->a[row + i][col + j] : g->a[row + j][col + i];
            if (value == 0) continue;
            l->index[count] = j;
            l->value[count++] = value;
        }
    }
    l->start[i] = count;
    return &l->matrix;
}

static void add_some(uint64_t *seed, gpuopt_simplex *s, growing *g, int by_rows, int32_t count) {
    int32_t k, j, first = by_rows ? g->rows : g->cols;
    gpuopt_layout layout = (gpuopt_layout)test_random_int(seed, 0, 1);
    lines l;
    for (k = first; k < first + count; k++) {
        for (j = 0; j < (by_rows ? g->cols : g->rows); j++)
            *(by_rows ? &g->a[k][j] : &g->a[j][k]) =
                test_random_int(seed, 0, 2) ? (double)test_random_int(seed, -9, 9) : 0;
        if (by_rows) draw_interval(seed, &g->lhs[k], &g->rhs[k]);
        else draw_interval(seed, &g->lb[k], &g->ub[k]), g->cost[k] = (double)test_random_int(seed, -9, 9);
    }
    if (by_rows) g->rows += count;
    else g->cols += count;
    lines_of(&l, g, by_rows, first, layout);
    if (by_rows) must(gpuopt_simplex_add_rows(s, &l.matrix, g->lhs + first, g->rhs + first));
    else must(gpuopt_simplex_add_cols(s, &l.matrix, g->cost + first, g->lb + first, g->ub + first));
}

static void take_out(growing *g, int by_rows, int32_t at) {
    int32_t i;
    if (by_rows) {
        for (i = at; i + 1 < g->rows; i++) {
            memcpy(g->a[i], g->a[i + 1], sizeof g->a[i]);
            g->lhs[i] = g->lhs[i + 1];
            g->rhs[i] = g->rhs[i + 1];
        }
        g->rows--;
        return;
    }
    for (i = 0; i < g->rows; i++) memmove(&g->a[i][at], &g->a[i][at + 1], sizeof(double) * (size_t)(g->cols - at - 1));
    for (i = at; i + 1 < g->cols; i++) {
        g->cost[i] = g->cost[i + 1];
        g->lb[i] = g->lb[i + 1];
        g->ub[i] = g->ub[i + 1];
    }
    g->cols--;
}

static void remove_some(uint64_t *seed, gpuopt_simplex *s, growing *g, int by_rows, int32_t count) {
    int32_t list[ROOM], k, left = by_rows ? g->rows : g->cols, all = left;
    for (k = 0; k < left; k++) list[k] = k;
    for (k = 0; k < count; k++) { /* distinct ones, in no order */
        int32_t at = (int32_t)test_random_int(seed, k, all - 1), kept = list[k];
        list[k] = list[at];
        list[at] = kept;
    }
    must(by_rows ? gpuopt_simplex_remove_rows(s, count, list) : gpuopt_simplex_remove_cols(s, count, list));
    for (k = all - 1; k >= 0; k--) {
        int32_t n, gone = 0;
        for (n = 0; n < count; n++) gone |= list[n] == k;
        if (gone) take_out(g, by_rows, k);
    }
}

/* The largest entry of B^-1 B - I, by the calls for solves on the host's data. */
static double inverse_error(gpuopt_simplex *s, const growing *g) {
    int32_t head[ROOM], i, p;
    double column[ROOM], worst = 0;
    if (g->rows == 0) return 0;
    must(gpuopt_simplex_get_head(s, GPUOPT_HOST, head));
    for (p = 0; p < g->rows; p++) {
        for (i = 0; i < g->rows; i++)
            column[i] = head[p] < g->cols ? g->a[i][head[p]] : -(double)(head[p] - g->cols == i);
        must(gpuopt_simplex_ftran(s, GPUOPT_HOST, 1, column));
        for (i = 0; i < g->rows; i++) worst = fmax(worst, fabs(column[i] - (i == p)));
    }
    return worst;
}

/* ---- Tests ---- */

static gpuopt_simplex_desc desc_of(const mip *m, int32_t most) {
    gpuopt_simplex_desc desc = mip_simplex_desc(m);
    desc.spare_rows = most - m->columns.rows;
    desc.spare_cols = most - m->columns.cols;
    desc.spare_nonzeros = (int64_t)most * most;
    return desc;
}

/* Adds, removes or changes. */
static void change_once(uint64_t *seed, gpuopt_simplex *s, growing *g, int32_t most) {
    int kind = (int)test_random_int(seed, 0, 5), by_rows = kind & 1;
    int32_t present = by_rows ? g->rows : g->cols, count = (int32_t)test_random_int(seed, 0, 2);
    if (kind >= 4) {
        mip m = mip_of(g);
        changes_make(seed, s, &m);
        *g = growing_of(&m);
        mip_free(&m);
    } else if (kind < 2 && present + count <= most) add_some(seed, s, g, by_rows, count);
    else if (present > count) remove_some(seed, s, g, by_rows, count);
}

static void small_against_rationals(void **state) {
    enum { MOST = 9 };
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 71;
    int model, step, verdicts = 0;
    (void)state;
    for (model = 0; model < test_times(500, 500); model++) {
        const int32_t rows = (int32_t)test_random_int(&seed, 0, 6), cols = (int32_t)test_random_int(&seed, 0, 6);
        mip m = changes_model(&seed, rows, cols);
        growing g = growing_of(&m);
        gpuopt_simplex_desc desc = desc_of(&m, MOST);
        gpuopt_simplex *s;
        if (model & 1) variant_set(&desc, model / 2 % VARIANTS);
        else dual_set(&desc, model / 2 % DUAL_WAYS);
        desc.scaling = (gpuopt_switch)test_random_int(&seed, 0, 2);
        desc.perturbation = (gpuopt_switch)test_random_int(&seed, 0, 2);
        s = simplex_create(context, &desc);
        mip_free(&m);
        for (step = 0; step < 14; step++) {
            const char *fault = NULL;
            int64_t few = test_random_int(&seed, 0, 3);
            if (few) simplex_iterate(s, few); /* the change may come in the midst of a solve */
            change_once(&seed, s, &g, MOST);
            if (few == 1) change_once(&seed, s, &g, MOST);
            if (!(inverse_error(s, &g) <= 1e-6)) fault = "the inverse is another basis's";
            if (few == 2) simplex_info(s); /* which refreshes */
            simplex_iterate(s, 100000);
            m = mip_of(&g);
            if (!fault) fault = changes_fault(s, &m, &verdicts);
            if (fault)
                fail_msg("model %d, step %d, %s, %s: %s", model, step, variant_name(&desc), dual_name(&desc), fault);
            mip_free(&m);
        }
        gpuopt_simplex_destroy(s);
    }
    if (!test_few()) assert_int_equal(verdicts, 1 << GPUOPT_OPTIMAL | 1 << GPUOPT_INFEASIBLE | 1 << GPUOPT_UNBOUNDED);
    gpuopt_context_destroy(context);
}

/* The optimum of the model by CLP, which must find one. */
static double clp_objective(const growing *g) {
    mip m = mip_of(g);
    double objective;
    assert_int_equal(clp_solve(&m, &objective), GPUOPT_OPTIMAL);
    mip_free(&m);
    return objective;
}

static void is_optimal(const gpuopt_simplex_info *info, double objective) {
    assert_int_equal(info->outcome, GPUOPT_OPTIMAL);
    assert_true(fabs(info->objective - objective) <= 1e-7 * fmax(1, fabs(objective)));
}

/* Random rows that cut off the optimum, and rows that no longer bind leave; against CLP. The basis stays dual feasible:
 * the bound that it proves is the one of before, and the dual method alone mends it, without another inverse. */
static void cuts_against_clp(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 19;
    int way, round;
    (void)state;
    for (way = 0; way < DUAL_WAYS; way += test_few() ? 5 : 1) {
        mip m = model_load("meyer:12:30:0.3:1");
        growing g = growing_of(&m);
        gpuopt_simplex_desc desc = desc_of(&m, ROOM);
        gpuopt_simplex_info info;
        gpuopt_simplex *s;
        dual_set(&desc, way);
        s = simplex_create(context, &desc);
        mip_free(&m);
        info = simplex_iterate(s, 100000);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        for (round = 0; round < 12; round++) {
            double x[ROOM], activity[ROOM], bound, before, objective, at = 0;
            int64_t dual = info.dual_iterations, all = info.iterations, reinversions = info.reinversions;
            int32_t k, j, list[ROOM], count = 0;
            lines l;
            must(gpuopt_simplex_get_bound(s, &before));
            must(gpuopt_simplex_get_solution(s, GPUOPT_HOST, x, NULL, NULL, NULL));
            k = g.rows++;
            for (j = 0; j < g.cols; j++) {
                g.a[k][j] = (double)test_random_int(&seed, 0, 5);
                at += g.a[k][j] * x[j];
            }
            g.lhs[k] = -INFINITY;
            g.rhs[k] = 0.9 * at;
            must(gpuopt_simplex_add_rows(s, lines_of(&l, &g, 1, k, GPUOPT_LAYOUT_CSR), NULL, g.rhs + k));
            must(gpuopt_simplex_get_bound(s, &bound));
            assert_true(fabs(bound - before) <= 1e-6 * fmax(1, fabs(before)));
            info = simplex_iterate(s, 100000);
            objective = clp_objective(&g);
            is_optimal(&info, objective);
            assert_true(info.dual_iterations > dual && info.dual_iterations - dual == info.iterations - all);
            assert_int_equal(info.reinversions, reinversions);
            if (round % 4 != 3) continue;
            must(gpuopt_simplex_get_solution(s, GPUOPT_HOST, NULL, NULL, activity, NULL));
            for (k = g.rows - 1; k >= 12; k--) /* cuts that do not bind */
                if (activity[k] < g.rhs[k] - 1e-6) list[count++] = k;
            must(gpuopt_simplex_remove_rows(s, count, list));
            for (k = 0; k < count; k++) take_out(&g, 1, list[k]);
            all = info.iterations;
            info = simplex_iterate(s, 100000);
            is_optimal(&info, objective);
            assert_int_equal(info.iterations, all); /* still optimal */
            assert_int_equal(info.reinversions, reinversions);
        }
        gpuopt_simplex_destroy(s);
    }
    gpuopt_context_destroy(context);
}

/* Columns with the best reduced costs of a pool come in, and unused ones go: the basis stays primal feasible, and no
 * inverse is computed anew. */
static void columns_against_clp(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 23;
    int way, round;
    (void)state;
    for (way = 0; way < 12; way += test_few() ? 5 : 1) {
        mip m = model_load("meyer:12:20:0.3:1");
        growing g = growing_of(&m);
        gpuopt_simplex_desc desc = desc_of(&m, ROOM);
        gpuopt_simplex_info info;
        gpuopt_simplex *s;
        variant_set(&desc, 3 * way);
        s = simplex_create(context, &desc);
        mip_free(&m);
        info = simplex_iterate(s, 100000);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        for (round = 0; round < 14; round++) {
            double dual[ROOM], reduced = 0, objective, before = info.objective;
            const double sign = g.maximize ? -1 : 1;
            int64_t reinversions, iterations;
            int32_t i, j, k = g.cols, list[ROOM], count = 0;
            uint8_t basis[2 * ROOM];
            lines l;
            must(gpuopt_simplex_get_solution(s, GPUOPT_HOST, NULL, NULL, NULL, dual));
            for (i = 0; i < g.rows; i++) {
                g.a[i][k] = (double)test_random_int(&seed, 0, 5);
                reduced += g.a[i][k] * dual[i];
            }
            g.cost[k] = reduced - sign * 5;
            g.lb[k] = 0;
            g.ub[k] = round % 3 ? INFINITY : 2;
            g.cols++;
            must(gpuopt_simplex_add_cols(s, lines_of(&l, &g, 0, k, GPUOPT_LAYOUT_CSC), g.cost + k, NULL, g.ub + k));
            info = simplex_info(s);
            assert_true(info.outcome == GPUOPT_MORE && info.phase == 2 && info.primal_violation <= 1e-7);
            assert_true(fabs(info.objective - before) <= 1e-9 * fmax(1, fabs(before)));
            info = simplex_iterate(s, 100000);
            objective = clp_objective(&g);
            is_optimal(&info, objective);
            if (round % 4 != 3) continue;
            reinversions = info.reinversions;
            must(gpuopt_simplex_get_basis(s, GPUOPT_HOST, basis));
            for (j = g.cols - 1; j >= 0; j--)
                if (basis[j] == GPUOPT_VARIABLE_AT_LOWER && g.lb[j] == 0 && count < 5) list[count++] = j;
            must(gpuopt_simplex_remove_cols(s, count, list));
            for (j = 0; j < count; j++) take_out(&g, 0, list[j]);
            iterations = info.iterations;
            info = simplex_iterate(s, 100000);
            is_optimal(&info, objective);
            assert_int_equal(info.iterations, iterations);
            assert_int_equal(info.reinversions, reinversions);
        }
        gpuopt_simplex_destroy(s);
    }
    gpuopt_context_destroy(context);
}

/* A batch over a handle that grows afterwards has children of the new model, by the simplex method in exact rationals. On
 * the GPU one that is unbounded is IMPRECISE. */
static void batches_go_on(void **state) {
    enum { EACH = 10 };
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 3;
    int method, round, verdicts = 0;
    (void)state;
    for (method = 0; method < 2; method++) {
        mip m = model_load("meyer:12:30:0.3:1");
        growing g = growing_of(&m);
        gpuopt_simplex_desc desc = desc_of(&m, ROOM);
        gpuopt_simplex_batch_desc batch_of = GPUOPT_INIT(gpuopt_simplex_batch_desc);
        gpuopt_simplex *s;
        gpuopt_simplex_batch *batch;
        desc.method = (gpuopt_simplex_method)method;
        desc.algorithm = GPUOPT_ALGORITHM_AUTO;
        s = simplex_create(context, &desc);
        mip_free(&m);
        batch_of.copies = EACH;
        batch_of.changes = 9 * EACH;
        batch_of.with_basis = batch_of.with_x = batch_of.with_farkas = 1;
        if (test_on("cuda") && desc.method == GPUOPT_METHOD_TABLEAU) {
            assert_int_equal(gpuopt_simplex_batch_create(s, &batch_of, &batch), GPUOPT_ERROR_UNSUPPORTED);
            gpuopt_simplex_destroy(s);
            continue;
        }
        must(gpuopt_simplex_batch_create(s, &batch_of, &batch));
        for (round = 0; round < 12; round++) {
            children *all;
            children_report *report;
            int32_t child;
            m = mip_of(&g);
            all = children_draw(&seed, &m, EACH, 1 + round % 7);
            report = children_report_new(&m, EACH);
            if (round % 4 != 3) simplex_iterate(s, 100000);
            must(gpuopt_simplex_batch_run(batch, GPUOPT_HOST, &all->c, 100000, &report->r));
            for (child = 0; child < EACH; child++) {
                const char *fault = children_fault(&m, all, report, child, &verdicts);
                const int outcome = report->outcome[child];
                if (!fault && outcome != GPUOPT_OPTIMAL && outcome != GPUOPT_INFEASIBLE &&
                    outcome != GPUOPT_UNBOUNDED && !(test_on("cuda") && outcome == GPUOPT_IMPRECISE))
                    fault = "no verdict";
                if (fault) fail_msg("method %d, round %d, child %d: %s", method, round, (int)child, fault);
            }
            children_report_free(report);
            free(all);
            mip_free(&m);
            if (round % 3 == 2) remove_some(&seed, s, &g, round / 3 & 1, 3);
            else add_some(&seed, s, &g, round % 3, 1 + round % 2);
        }
        gpuopt_simplex_batch_destroy(batch);
        gpuopt_simplex_destroy(s);
    }
    assert_true(verdicts & 1 << GPUOPT_OPTIMAL && verdicts & 1 << GPUOPT_INFEASIBLE);
    gpuopt_context_destroy(context);
}

/* The plan counts the room, exactly; changes take no memory; what is removed is room again. */
static void memory_is_planned(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 8;
    int method, round;
    (void)state;
    for (method = 0; method < 2; method++) {
        mip m = model_load("meyer:12:30:0.3:1");
        growing g = growing_of(&m);
        gpuopt_simplex_desc desc = desc_of(&m, 34), plain;
        gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan), without = GPUOPT_INIT(gpuopt_memory_plan);
        gpuopt_simplex *s;
        uint64_t before = host.bytes[GPUOPT_HOST], on_device = host.bytes[GPUOPT_DEVICE];
        long allocations;
        desc.method = (gpuopt_simplex_method)method;
        plain = desc;
        plain.spare_rows = plain.spare_cols = 0;
        plain.spare_nonzeros = 0;
        must(gpuopt_simplex_plan(context, &plain, &without));
        must(gpuopt_simplex_plan(context, &desc, &plan));
        assert_true(plan.host_bytes > without.host_bytes);
        s = simplex_create(context, &desc);
        assert_true(host.bytes[GPUOPT_HOST] - before == plan.host_bytes);
        assert_true(host.bytes[GPUOPT_DEVICE] - on_device == plan.device_bytes);
        allocations = host.allocations;
        for (round = 0; round < 20; round++) {
            while (g.rows < 34) add_some(&seed, s, &g, 1, 1);
            while (g.cols < 34) add_some(&seed, s, &g, 0, 1);
            simplex_iterate(s, 10);
            remove_some(&seed, s, &g, round & 1, round);
        }
        assert_int_equal(host.allocations, allocations);
        gpuopt_simplex_destroy(s);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* Down to nothing, and up again from nothing. */
static void from_nothing(void **state) {
    gpuopt_context *context = test_context(NULL);
    int method, round, verdicts = 0;
    uint64_t seed = 2;
    (void)state;
    for (method = 0; method < 2; method++) {
        growing g;
        mip m;
        gpuopt_simplex_desc desc;
        gpuopt_simplex *s;
        memset(&g, 0, sizeof g);
        m = mip_of(&g);
        desc = desc_of(&m, 8);
        desc.method = (gpuopt_simplex_method)method;
        s = simplex_create(context, &desc);
        mip_free(&m);
        for (round = 0; round < 20; round++) {
            const char *fault;
            add_some(&seed, s, &g, 1, round % 5);
            add_some(&seed, s, &g, 0, (round + 2) % 5);
            simplex_iterate(s, 1000);
            m = mip_of(&g);
            fault = changes_fault(s, &m, &verdicts);
            if (fault) fail_msg("method %d, round %d: %s", method, round, fault);
            mip_free(&m);
            remove_some(&seed, s, &g, round & 1, round & 1 ? g.rows : g.cols);
            remove_some(&seed, s, &g, !(round & 1), round & 1 ? g.cols : g.rows);
            assert_int_equal(simplex_iterate(s, 1000).outcome, GPUOPT_OPTIMAL);
        }
        gpuopt_simplex_destroy(s);
    }
    gpuopt_context_destroy(context);
}

/* Refused calls name the reason, and leave the handle as it is, to the bit. */
static void refused(void **state) {
    static const double one[] = {1, 1}, zero[] = {0, 0}, nan_value[] = {NAN, 0}, tiny[] = {5e-324, 1}, huge[] = {1e300};
    static const int64_t start[] = {0, 1, 2}, none[] = {0, 0, 0};
    static const int32_t first[] = {0, 0}, beyond[] = {99, 0}, negative[] = {-1};
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_load("meyer:12:30:0.3:1");
    gpuopt_simplex_desc desc = mip_simplex_desc(&m);
    gpuopt_matrix rows = {2, 30, start, first, one, GPUOPT_LAYOUT_CSR};
    gpuopt_matrix cols = {12, 2, start, first, one, GPUOPT_LAYOUT_CSC}, other;
    gpuopt_simplex *s;
    answer before, after;
    (void)state;
#define REFUSED(code, text, ...)                        \
    host.error[0] = 0;                                  \
    assert_int_equal(__VA_ARGS__, GPUOPT_ERROR_##code); \
    if (!strstr(host.error, text)) fail_msg("the log says: %s", host.error)
    desc.spare_rows = -1;
    REFUSED(ARGUMENT, "spare_rows", gpuopt_simplex_create(context, &desc, &s));
    desc.spare_rows = 1 << 28;
    REFUSED(UNSUPPORTED, "2^28", gpuopt_simplex_create(context, &desc, &s));
    desc.spare_rows = desc.spare_cols = INT32_MAX;
    REFUSED(UNSUPPORTED, "2^31", gpuopt_simplex_create(context, &desc, &s));
    desc.spare_rows = desc.spare_cols = 2;
    desc.spare_nonzeros = -1;
    REFUSED(ARGUMENT, "spare_nonzeros", gpuopt_simplex_create(context, &desc, &s));
    desc.spare_nonzeros = 3;
    if (test_on("cuda")) {
        gpuopt_simplex_desc without = desc;
        without.spare_rows = without.spare_cols = 0;
        without.spare_nonzeros = 0;
        s = simplex_create(context, &without);
        REFUSED(UNSUPPORTED, "spare", gpuopt_simplex_add_rows(s, &rows, NULL, one));
        REFUSED(UNSUPPORTED, "spare", gpuopt_simplex_add_cols(s, &cols, one, NULL, NULL));
        REFUSED(UNSUPPORTED, "spare", gpuopt_simplex_remove_rows(s, 1, first));
        REFUSED(UNSUPPORTED, "spare", gpuopt_simplex_remove_cols(s, 1, first));
        gpuopt_simplex_destroy(s);
    }
    s = simplex_create(context, &desc);
    simplex_iterate(s, 100000);
    before = answer_get(s, &m);
    REFUSED(ARGUMENT, "NULL", gpuopt_simplex_add_rows(s, NULL, NULL, one));
    REFUSED(ARGUMENT, "NULL", gpuopt_simplex_add_cols(s, NULL, one, NULL, NULL));
    REFUSED(ARGUMENT, "has 2 columns, the handle 30", gpuopt_simplex_add_rows(s, &cols, NULL, one));
    REFUSED(ARGUMENT, "has 2 rows, the handle 12", gpuopt_simplex_add_cols(s, &rows, one, NULL, NULL));
    other = rows;
    other.index = beyond;
    REFUSED(ARGUMENT, "index[0] = 99", gpuopt_simplex_add_rows(s, &other, NULL, one));
    other = cols;
    other.value = nan_value;
    REFUSED(ARGUMENT, "value[0]", gpuopt_simplex_add_cols(s, &other, one, NULL, NULL));
    other.value = zero;
    REFUSED(ARGUMENT, "value[0]", gpuopt_simplex_add_cols(s, &other, one, NULL, NULL));
    REFUSED(ARGUMENT, "lhs[0]", gpuopt_simplex_add_rows(s, &rows, nan_value, one));
    REFUSED(ARGUMENT, "exceeds", gpuopt_simplex_add_rows(s, &rows, one, zero));
    REFUSED(ARGUMENT, "cost[0]", gpuopt_simplex_add_cols(s, &cols, nan_value, NULL, NULL));
    REFUSED(ARGUMENT, "ub[0]", gpuopt_simplex_add_cols(s, &cols, one, NULL, nan_value));
    other = rows;
    other.value = tiny;
    REFUSED(NUMERIC, "entry of the matrix", gpuopt_simplex_add_rows(s, &other, NULL, one));
    other.value = huge;
    other.rows = 1;
    REFUSED(NUMERIC, "entry of the matrix", gpuopt_simplex_add_rows(s, &other, NULL, one));
    REFUSED(ARGUMENT, "row[0] = 99", gpuopt_simplex_remove_rows(s, 1, beyond));
    REFUSED(ARGUMENT, "row 0 is there twice", gpuopt_simplex_remove_rows(s, 2, first));
    REFUSED(ARGUMENT, "NULL", gpuopt_simplex_remove_rows(s, 1, NULL));
    REFUSED(ARGUMENT, "negative", gpuopt_simplex_remove_rows(s, -1, first));
    REFUSED(ARGUMENT, "col[0] = -1", gpuopt_simplex_remove_cols(s, 1, negative));
    REFUSED(ARGUMENT, "col 0 is there twice", gpuopt_simplex_remove_cols(s, 2, first));
    assert_int_equal(gpuopt_simplex_add_rows(NULL, &rows, NULL, one), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_add_cols(NULL, &cols, one, NULL, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_remove_rows(NULL, 1, first), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_remove_cols(NULL, 1, first), GPUOPT_ERROR_ARGUMENT);
    must(gpuopt_simplex_remove_rows(s, 0, NULL));
    must(gpuopt_simplex_remove_cols(s, 0, NULL));
    other = rows;
    other.rows = 0;
    must(gpuopt_simplex_add_rows(s, &other, NULL, NULL));
    after = answer_get(s, &m);
    assert_true(answer_equal(&m, &before, &after));
    answer_free(&before);
    answer_free(&after);
    must(gpuopt_simplex_add_rows(s, &rows, NULL, NULL)); /* two of three entries */
    other = rows;
    other.rows = 1;
    REFUSED(MEMORY, "0 more rows", gpuopt_simplex_add_rows(s, &other, NULL, NULL));
    cols.rows = 14;
    REFUSED(MEMORY, "1 more nonzeros", gpuopt_simplex_add_cols(s, &cols, NULL, NULL, NULL));
    cols.start = none;
    must(gpuopt_simplex_add_cols(s, &cols, NULL, NULL, NULL)); /* without entries */
    assert_int_equal(simplex_iterate(s, 100000).outcome, GPUOPT_OPTIMAL);
    gpuopt_simplex_destroy(s);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_against_rationals),
    cmocka_unit_test(cuts_against_clp),
    cmocka_unit_test(columns_against_clp),
    cmocka_unit_test(batches_go_on),
    cmocka_unit_test(memory_is_planned),
    cmocka_unit_test(from_nothing),
    cmocka_unit_test(refused),
};
TEST_MAIN(tests)
