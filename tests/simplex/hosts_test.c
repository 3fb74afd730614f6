/* SPDX-License-Identifier: MIT
 *
 * Callers that make the decisions: price, ratio test, pivot, flip, rebuild, and setting bases, against the textbook
 * method in long double.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/answer.h"
#include "tests/simplex/textbook.h"

/* ---- Models ---- */

/* Beale 1955, as in Dantzig 1963; Chvatal 1983; Kuhn, as in Balinski and Tucker 1969: all cycle under Dantzig's
 * rule. */
static mip beale(void) {
    static const double a[] = {0.25, -60, -0.04, 9, 0.5, -90, -0.02, 3, 0, 0, 1, 0}, rhs[] = {0, 0, 1};
    static const double cost[] = {-0.75, 150, -0.02, 6};
    return model_of(3, 4, a, cost, NULL, rhs, NULL, NULL);
}

static mip chvatal(void) {
    static const double a[] = {0.5, -5.5, -2.5, 9, 0.5, -1.5, -0.5, 1, 1, 0, 0, 0}, rhs[] = {0, 0, 1};
    static const double cost[] = {-10, 57, 9, 24};
    return model_of(3, 4, a, cost, NULL, rhs, NULL, NULL);
}

static mip kuhn(void) {
    static const double a[] = {-2, -9, 1, 9, 1 / 3., 1, -1 / 3., -2, 2, 3, -1, -12}, rhs[] = {0, 0, 2};
    static const double cost[] = {-2, -3, 1, 12};
    return model_of(3, 4, a, cost, NULL, rhs, NULL, NULL);
}

/* max sum 2^(n-j) x_j with sum over k < j of 2^(j-k+1) x_k + x_j <= 5^j: Dantzig's rule visits all 2^n vertices. */
static mip klee_minty(int n) {
    double a[100] = {0}, cost[10], rhs[10];
    int i, j;
    mip m;
    for (i = 0; i < n; i++) {
        cost[i] = ldexp(1, n - 1 - i);
        rhs[i] = pow(5, i + 1);
        for (j = 0; j <= i; j++) a[i * n + j] = i == j ? 1 : ldexp(1, i - j + 1);
    }
    m = model_of(n, n, a, cost, NULL, rhs, NULL, NULL);
    m.maximize = 1;
    return m;
}

/* A box with rows about its lowest corner, so that the slack basis is feasible; bounds of both signs, ranges, flips;
 * integers cause ties. */
static mip boxes(uint64_t seed, int32_t rows, int32_t cols, int whole) {
    double a[TEXTBOOK_MOST * TEXTBOOK_MOST / 4], vector[5 * TEXTBOOK_MOST];
    double *cost = vector, *lb = cost + cols, *ub = lb + cols, *lhs = ub + cols, *rhs = lhs + rows;
    int32_t k, j;
    mip m;
    for (k = 0; k < rows * cols; k++) a[k] = test_random_int(&seed, 0, 1) ? (double)test_random_int(&seed, -9, 9) : 0;
    for (k = 0; k < cols; k++) {
        cost[k] = (double)test_random_int(&seed, -9, 9) + (whole ? 0 : test_random(&seed));
        lb[k] = 0;
        ub[k] = (double)test_random_int(&seed, 1, 6);
        if (test_random_int(&seed, 0, 1)) lb[k] = -ub[k], ub[k] = 0;
    }
    for (k = 0; k < rows; k++) {
        double at = whole ? 0 : test_random(&seed);
        for (j = 0; j < cols; j++) at += a[k * cols + j] * lb[j];
        lhs[k] = test_random_int(&seed, 0, 2) ? at - (double)test_random_int(&seed, whole ? 0 : 1, 20) : -no_bound;
        rhs[k] = test_random_int(&seed, 0, 2) ? at + (double)test_random_int(&seed, whole ? 0 : 1, 20) : no_bound;
    }
    m = model_of(rows, cols, a, cost, lhs, rhs, lb, ub);
    m.maximize = (int)test_random_int(&seed, 0, 1);
    return m;
}

/* Without scaling and perturbation the library works on the caller's own numbers. */
static gpuopt_simplex_desc plain(const mip *model, int variant, gpuopt_simplex_rules *rules) {
    gpuopt_simplex_desc desc = tableau_desc(model);
    variant_set(&desc, variant);
    *rules = rules_of(&desc);
    rules->scaling = GPUOPT_OFF;
    rules->perturbation = GPUOPT_OFF;
    desc.rules = rules;
    return desc;
}

/* ---- The library and the textbook side by side ---- */

typedef struct pair {
    gpuopt_simplex *simplex;
    const mip *model;
    textbook t;
} pair;

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

static void near(const char *what, double found, long double expected) {
    if (!(fabsl(found - expected) <= 1e-8L * (1 + fabsl(expected))))
        fail_msg("%s: %.17g, not %.17Lg", what, found, expected);
}

/* A fixed variable, or an equation's activity, may be reported at either bound. */
static void unify(const textbook *t, uint8_t *status) {
    int j;
    for (j = 0; j < t->both; j++)
        if (t->low[j] == t->high[j] && status[j] == GPUOPT_VARIABLE_AT_UPPER) status[j] = GPUOPT_VARIABLE_AT_LOWER;
}

/* The handle's basis is `status`, and its numbers are the textbook's at that basis. */
static void look(pair *p, uint8_t *status) {
    answer a = answer_get(p->simplex, p->model);
    double sign = p->model->maximize ? -1 : 1;
    int j, cols = p->model->columns.cols;
    unify(&p->t, a.basis);
    unify(&p->t, status);
    assert_memory_equal(a.basis, status, (size_t)p->t.both);
    assert_true(textbook_at(&p->t, status));
    for (j = 0; j < p->t.both; j++) {
        near("x", j < cols ? a.x[j] : a.activity[j - cols], p->t.x[j]);
        near("reduced cost", sign * (j < cols ? a.reduced_cost[j] : a.dual[j - cols]), p->t.d[j]);
    }
    near("objective", sign * (a.info.objective - p->model->offset), textbook_objective(&p->t));
    assert_int_equal(a.info.phase, textbook_feasible(&p->t) ? 2 : 1);
    answer_free(&a);
}

/* With every column at its lower bound, and the rows basic. */
static void at_lower_corner(gpuopt_simplex *simplex, const mip *model, uint8_t *status) {
    int32_t cols = model->columns.cols;
    memset(status, GPUOPT_VARIABLE_AT_LOWER, (size_t)cols);
    memset(status + cols, GPUOPT_VARIABLE_BASIC, (size_t)model->columns.rows);
    must(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, status));
}

static void pair_begin(pair *p, gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *model,
                       uint8_t *status) {
    p->simplex = simplex_create(context, desc);
    p->model = model;
    textbook_load(&p->t, model);
    at_lower_corner(p->simplex, model, status);
    look(p, status);
    assert_true(textbook_feasible(&p->t));
}

/* The effect of the handle's pivot or flip on the statuses. */
static void exchange(uint8_t *status, int q, int direction, int leaving, int to_upper) {
    if (leaving == q) {
        status[q] = direction > 0 ? GPUOPT_VARIABLE_AT_UPPER : GPUOPT_VARIABLE_AT_LOWER;
        return;
    }
    status[q] = GPUOPT_VARIABLE_BASIC;
    status[leaving] = to_upper ? GPUOPT_VARIABLE_AT_UPPER : GPUOPT_VARIABLE_AT_LOWER;
}

/* The caller chooses by its own rule, and lets the library pivot; returns the number of iterations to the optimum. */
static int run_own(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *model, textbook_rule rule) {
    static uint8_t status[TEXTBOOK_MOST];
    static pair p;
    int count = 0, q, direction = 0, to_upper = 0, leaving;
    long double step, before;
    pair_begin(&p, context, desc, model, status);
    while ((q = textbook_enter(&p.t, rule, &direction)) >= 0) {
        gpuopt_simplex_info info;
        gpuopt_desc_init(&info, sizeof info);
        leaving = textbook_leave(&p.t, rule, q, direction, &to_upper, &step);
        assert_true(leaving >= 0);
        before = textbook_objective(&p.t) + p.t.d[q] * direction * step;
        if (leaving == q) must(gpuopt_simplex_flip(p.simplex, q, &info));
        else must(gpuopt_simplex_pivot(p.simplex, q, leaving, to_upper, &info));
        exchange(status, q, direction, leaving, to_upper);
        assert_int_equal(info.iterations, ++count);
        look(&p, status);
        near("objective after the step", (double)textbook_objective(&p.t), before);
        assert_true(count < 2000);
    }
    assert_int_equal(simplex_iterate(p.simplex, 1000).outcome, GPUOPT_OPTIMAL);
    assert_int_equal(simplex_info(p.simplex).iterations, count); /* it was optimal */
    gpuopt_simplex_destroy(p.simplex);
    return count;
}

static void blands_rule_does_not_cycle(void **state) {
    gpuopt_context *context = test_context(NULL);
    mip m[3];
    int k, method;
    (void)state;
    m[0] = beale(), m[1] = chvatal(), m[2] = kuhn();
    for (k = 0; k < 3; k++)
        for (method = 0; method < 2; method++) {
            gpuopt_simplex_rules rules;
            gpuopt_simplex_desc desc = plain(&m[k], method, &rules);
            int first = run_own(context, &desc, &m[k], TEXTBOOK_BLAND);
            rules.deferred_pivots = 1;
            assert_int_equal(run_own(context, &desc, &m[k], TEXTBOOK_BLAND), first);
        }
    for (k = 0; k < 3; k++) mip_free(&m[k]);
    gpuopt_context_destroy(context);
}

/* Every vertex of the cube: the worst case of Klee and Minty (1972), by the caller's choice and by the library's. */
static void klee_minty_visits_every_vertex(void **state) {
    gpuopt_context *context = test_context(NULL);
    int n, method;
    (void)state;
    for (n = 1; n <= 8; n++)
        for (method = 0; method < 2; method++) {
            mip m = klee_minty(n);
            gpuopt_simplex_rules rules;
            gpuopt_simplex_desc desc = plain(&m, method, &rules);
            gpuopt_simplex_info info;
            rules.pricing = GPUOPT_PRICING_DANTZIG;
            rules.ratio = GPUOPT_RATIO_TEXTBOOK;
            if (n <= 5) assert_int_equal(run_own(context, &desc, &m, TEXTBOOK_DANTZIG), (1 << n) - 1);
            info = answer_expect(context, &desc, &m, "Klee-Minty", GPUOPT_OPTIMAL, pow(5, n), 1e-12);
            assert_int_equal(info.iterations, (1 << n) - 1);
            mip_free(&m);
        }
    gpuopt_context_destroy(context);
}

static void own_rules_on_boxes(void **state) {
    int models = test_times(200, 12), k, flips = 0;
    gpuopt_context *context = test_context(NULL);
    (void)state;
    for (k = 0; k < models; k++) {
        mip m = boxes((uint64_t)k, 2 + k % 9, 3 + k % 13, 1);
        gpuopt_simplex_rules rules;
        gpuopt_simplex_desc desc = plain(&m, k, &rules);
        run_own(context, &desc, &m, k % 2 ? TEXTBOOK_BLAND : TEXTBOOK_DANTZIG);
        flips += answer_expect(context, &desc, &m, "boxes", GPUOPT_OPTIMAL, (double)0, HUGE_VAL).flips > 0;
        mip_free(&m);
    }
    assert_true(flips > 0);
    gpuopt_context_destroy(context);
}

/* ---- The library's own parts ---- */

/* The divisor of squared reduced costs: 1; devex: the reference framework's weights, by variable; steepest edge: 1 plus
 * the square of the norm of the variable's pivot column. */
static long double weight_of(const textbook *t, gpuopt_simplex_pricing pricing, const long double *devex, int j) {
    long double change[TEXTBOOK_MOST], norm = 1;
    int i;
    if (pricing == GPUOPT_PRICING_DANTZIG) return 1;
    if (pricing == GPUOPT_PRICING_DEVEX) return devex[j];
    textbook_column(t, j, change);
    for (i = 0; i < t->both; i++) norm += change[i] * change[i];
    return norm;
}

/* Before q takes the place of p (Forrest and Goldfarb 1992). */
static void update_devex(const textbook *t, long double *devex, int q, int p) {
    long double change[TEXTBOOK_MOST], pivot;
    int j;
    textbook_column(t, q, change);
    pivot = change[p];
    for (j = 0; j < t->both; j++) {
        if (t->status[j] == GPUOPT_VARIABLE_BASIC || j == q) continue;
        textbook_column(t, j, change);
        devex[j] = fmaxl(devex[j], change[p] / pivot * (change[p] / pivot) * devex[q]);
    }
    devex[p] = fmaxl(devex[q] / (pivot * pivot), 1);
}

/* The results of price and ratio_test at a basis of which the textbook has all data: the best score of all, the first
 * variable that blocks. */
static void check_parts(pair *p, const gpuopt_simplex_entering *e, const gpuopt_simplex_leaving *l,
                        gpuopt_simplex_pricing pricing, const long double *devex) {
    long double change[TEXTBOOK_MOST], step, best = 0, score;
    int j, to_upper = 0;
    for (j = 0; j < p->t.both; j++) {
        long double d = p->t.status[j] == GPUOPT_VARIABLE_AT_UPPER ? p->t.d[j] : -p->t.d[j];
        if (p->t.status[j] == GPUOPT_VARIABLE_BASIC || p->t.low[j] == p->t.high[j] || d < 1e-9L) continue;
        score = d * d / weight_of(&p->t, pricing, devex, j);
        if (score > best) best = score;
        if (j == e->variable) near("score", e->score, score);
    }
    near("best score", e->score, best);
    near("reduced cost of price", e->reduced_cost, p->t.d[e->variable]);
    assert_int_equal(e->direction, e->reduced_cost < 0 ? 1 : -1);
    textbook_column(&p->t, e->variable, change);
    textbook_leave(&p->t, TEXTBOOK_DANTZIG, e->variable, e->direction, &to_upper, &step);
    near("step", l->step, step);
    if (!l->flip) near("pivot", fabs(l->pivot), fabsl(change[l->variable]));
}

/* An iteration consists of price, ratio_test and pivot or flip. */
static void drive(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *model) {
    static uint8_t status[TEXTBOOK_MOST], other[TEXTBOOK_MOST];
    static pair p;
    gpuopt_simplex *twin = simplex_create(context, desc);
    gpuopt_simplex_entering e;
    gpuopt_simplex_leaving l;
    gpuopt_simplex_info info;
    long double devex[TEXTBOOK_MOST];
    int count = 0, j;
    for (j = 0; j < TEXTBOOK_MOST; j++) devex[j] = 1;
    gpuopt_desc_init(&e, sizeof e);
    gpuopt_desc_init(&l, sizeof l);
    gpuopt_desc_init(&info, sizeof info);
    pair_begin(&p, context, desc, model, status);
    at_lower_corner(twin, model, other);
    for (;;) {
        must(gpuopt_simplex_price(p.simplex, &e));
        if (e.variable < 0) break;
        must(gpuopt_simplex_ratio_test(p.simplex, e.variable, e.direction, &l));
        check_parts(&p, &e, &l, desc->rules->pricing, devex);
        if (!l.flip) update_devex(&p.t, devex, e.variable, l.variable);
        if (l.flip) must(gpuopt_simplex_flip(p.simplex, e.variable, &info));
        else must(gpuopt_simplex_pivot(p.simplex, e.variable, l.variable, l.to_upper, &info));
        exchange(status, e.variable, e.direction, l.flip ? e.variable : l.variable, l.to_upper);
        look(&p, status);
        assert_int_equal(info.iterations, ++count);
        simplex_iterate(twin, 1);
        must(gpuopt_simplex_get_basis(twin, GPUOPT_HOST, other));
        must(gpuopt_simplex_get_solution(
            twin, GPUOPT_HOST,
            &(gpuopt_simplex_solution){
                .struct_size = sizeof(gpuopt_simplex_solution)})); /* rebuilds as look() did: rounds the same */
        unify(&p.t, other);
        assert_memory_equal(other, status, (size_t)p.t.both);
        assert_true(count < 2000);
    }
    assert_int_equal(simplex_iterate(twin, 100).outcome, GPUOPT_OPTIMAL);
    assert_int_equal(simplex_info(twin).iterations, count);
    near("optimum", simplex_info(p.simplex).objective, simplex_info(twin).objective);
    gpuopt_simplex_destroy(twin);
    gpuopt_simplex_destroy(p.simplex);
}

static void parts_are_an_iteration(void **state) {
    int models = test_times(720, 36), k;
    gpuopt_context *context = test_context(NULL);
    (void)state;
    for (k = 0; k < models; k++) {
        mip m = boxes((uint64_t)k + 100, 2 + k % 9, 3 + k % 13, 0);
        gpuopt_simplex_rules rules;
        gpuopt_simplex_desc desc = plain(&m, k, &rules);
        rules.ratio = GPUOPT_RATIO_TEXTBOOK;
        drive(context, &desc, &m);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* From the slack basis, infeasible: both phases, by parts alone. */
static void parts_do_both_phases(void **state) {
    static const char *const names[] = {"plant:15:25:0.4:1", "plant:30:30:0.3:2", "plant:40:20:0.3:3"};
    gpuopt_context *context = test_context(NULL);
    int k, phases = 0;
    (void)state;
    for (k = 0; k < 6; k++) {
        mip m = model_load(names[k / 2]);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *simplex;
        gpuopt_simplex_entering e;
        gpuopt_simplex_leaving l;
        gpuopt_simplex_info info;
        variant_set(&desc, k);
        gpuopt_desc_init(&e, sizeof e);
        gpuopt_desc_init(&l, sizeof l);
        simplex = simplex_create(context, &desc);
        for (info = simplex_info(simplex);; phases |= info.phase) {
            assert_int_equal(info.phase, info.infeasibility > 1e-7 ? 1 : 2);
            must(gpuopt_simplex_price(simplex, &e));
            if (e.variable < 0 || info.iterations > 1000) break;
            must(gpuopt_simplex_ratio_test(simplex, e.variable, e.direction, &l));
            if (l.flip) must(gpuopt_simplex_flip(simplex, e.variable, &info));
            else must(gpuopt_simplex_pivot(simplex, e.variable, l.variable, l.to_upper, &info));
        }
        assert_int_equal(info.phase, 2);
        near("planted optimum", info.objective, m.optimum);
        assert_int_equal(simplex_iterate(simplex, 1000).outcome, GPUOPT_OPTIMAL);
        gpuopt_simplex_destroy(simplex);
        mip_free(&m);
    }
    assert_int_equal(phases, 3);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(blands_rule_does_not_cycle), cmocka_unit_test(klee_minty_visits_every_vertex),
    cmocka_unit_test(own_rules_on_boxes),         cmocka_unit_test(parts_are_an_iteration),
    cmocka_unit_test(parts_do_both_phases),
};
TEST_MAIN(tests)
