/* SPDX-License-Identifier: MIT
 *
 * The dual simplex method part by part. Models solved by a caller's loop have the verdicts and proofs of exact
 * rationals, with additional detours. The pivots equal whole iterations'. Each part has the documented result and
 * effect. Refusals.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/simplex/changes.h"
#include "tests/simplex/dual_ways.h"
#include "tests/simplex/exact.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

enum { MOST = 16 };

static gpuopt_simplex_dual_leaving price(gpuopt_simplex *s) {
    gpuopt_simplex_dual_leaving leaving = GPUOPT_INIT(gpuopt_simplex_dual_leaving);
    must(gpuopt_simplex_dual_price(s, &leaving));
    return leaving;
}

static gpuopt_simplex_dual_entering ratio_test(gpuopt_simplex *s, int32_t leaving) {
    gpuopt_simplex_dual_entering entering = GPUOPT_INIT(gpuopt_simplex_dual_entering);
    must(gpuopt_simplex_dual_ratio_test(s, leaving, &entering));
    return entering;
}

/* The pivot that the two parts select: the two variables are exchanged, and the reported number of variables flips. */
static const char *pivot_fault(gpuopt_simplex *s, const mip *m, const gpuopt_simplex_dual_leaving *out,
                               const gpuopt_simplex_dual_entering *in) {
    const int32_t cols = m->columns.cols, both = cols + m->columns.rows, row = out->variable - cols;
    const int fixed = row < 0 ? m->lb[out->variable] == m->ub[out->variable] : m->lhs[row] == m->rhs[row];
    uint8_t before[MOST], after[MOST];
    int32_t j, flips = 0;
    gpuopt_simplex_info was = simplex_info(s), info = GPUOPT_INIT(gpuopt_simplex_info);
    if (!(out->infeasibility > 0 && out->score > 0)) return "what leaves is not outside";
    if (!(in->step >= 0 && in->step < HUGE_VAL) || in->pivot == 0 || in->unsafe) return "what enters makes no step";
    must(gpuopt_simplex_get_basis(s, GPUOPT_HOST, before));
    must(gpuopt_simplex_dual_pivot(s, out->variable, in->variable, &info));
    must(gpuopt_simplex_get_basis(s, GPUOPT_HOST, after));
    if (info.iterations != was.iterations + 1 || info.dual_iterations != was.dual_iterations + 1) return "no iteration";
    if (before[out->variable] != GPUOPT_VARIABLE_BASIC || after[in->variable] != GPUOPT_VARIABLE_BASIC)
        return "they have not been exchanged";
    if (!fixed && after[out->variable] != (out->to_upper ? GPUOPT_VARIABLE_AT_UPPER : GPUOPT_VARIABLE_AT_LOWER))
        return "it has not left at its bound";
    for (j = 0; j < both; j++)
        if (j != out->variable && j != in->variable) flips += before[j] != after[j];
    return flips == in->flips ? NULL : "another number of flips";
}

/* A detour: any nonbasic variable enters, if it can. */
static void detour(uint64_t *seed, gpuopt_simplex *s, int32_t both, int32_t leaving) {
    int32_t entering = (int32_t)test_random_int(seed, 0, both - 1);
    gpuopt_status status = gpuopt_simplex_dual_pivot(s, leaving, entering, NULL);
    assert_true(status == GPUOPT_OK || status == GPUOPT_ERROR_ARGUMENT || status == GPUOPT_ERROR_NUMERIC);
}

static void small_against_rationals(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 31;
    int model, verdicts = 0, pivots = 0, flips = 0, shows_none = 0;
    (void)state;
    for (model = 0; model < test_times(600, 1200); model++) {
        mip m = changes_model(&seed, (int32_t)test_random_int(&seed, 1, 8), (int32_t)test_random_int(&seed, 1, 8));
        const int32_t both = m.columns.rows + m.columns.cols;
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex_rules rules;
        gpuopt_simplex *s;
        const char *fault = NULL;
        int step;
        dual_set(&desc, model % DUAL_WAYS);
        rules = rules_of(&desc);
        desc.rules = &rules;
        rules.scaling = (gpuopt_switch)test_random_int(&seed, 0, 2);
        rules.rebuild_pivots = (int32_t)test_random_int(&seed, 0, 3);
        s = simplex_create(context, &desc);
        for (step = 0; step < 60 && !fault; step++) {
            gpuopt_simplex_dual_leaving out = price(s);
            gpuopt_simplex_dual_entering in;
            if (out.variable < 0) break;
            if (step < 20 && test_random_int(&seed, 0, 5) == 0) detour(&seed, s, both, out.variable);
            if (step < 20 && test_random_int(&seed, 0, 9) == 0) simplex_iterate(s, 1);
            out = price(s);
            if (out.variable < 0) break;
            in = ratio_test(s, out.variable);
            if (in.variable < 0) {
                shows_none++;
                assert_true(in.unsafe || in.step == HUGE_VAL);
                break;
            }
            fault = pivot_fault(s, &m, &out, &in);
            pivots++;
            flips += in.flips;
        }
        simplex_iterate(s, 100000);
        if (!fault) fault = changes_fault(s, &m, &verdicts);
        if (fault) fail_msg("model %d, step %d, %s: %s", model, step, dual_name(&desc), fault);
        assert_int_equal(price(s).variable, -1);
        gpuopt_simplex_destroy(s);
        mip_free(&m);
    }
    print_message("%d pivots, %d flips; nothing could enter %d times\n", pivots, flips, shows_none);
    assert_true(pivots > test_times(400, 400) && flips > test_times(20, 20) && shows_none > test_times(20, 20));
    assert_int_equal(verdicts, 1 << GPUOPT_OPTIMAL | 1 << GPUOPT_INFEASIBLE | 1 << GPUOPT_UNBOUNDED);
    gpuopt_context_destroy(context);
}

/* A covering model with a dual feasible slack basis. */
static mip covering(uint64_t *seed) {
    enum { ROWS = 6, COLS = 9 };
    double value[ROWS * COLS], cost[COLS], lhs[ROWS], ub[COLS];
    int k;
    for (k = 0; k < ROWS * COLS; k++) value[k] = test_random_int(seed, 0, 1) ? (double)test_random_int(seed, 1, 9) : 0;
    for (k = 0; k < COLS; k++)
        cost[k] = (double)test_random_int(seed, 100, 900) / 7, ub[k] = (double)test_random_int(seed, 1, 3);
    for (k = 0; k < ROWS; k++) lhs[k] = (double)test_random_int(seed, 5, 20);
    return model_of(ROWS, COLS, value, cost, lhs, NULL, NULL, ub);
}

/* From there on, the parts do the pivots of whole iterations. */
static void same_pivots(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 12;
    int model, pivots = 0;
    (void)state;
    for (model = 0; model < test_times(240, 240); model++) {
        mip m = covering(&seed);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *whole, *parts;
        gpuopt_simplex_dual_leaving out;
        gpuopt_simplex_dual_entering in;
        dual_set(&desc, model % DUAL_WAYS);
        whole = simplex_create(context, &desc);
        parts = simplex_create(context, &desc);
        for (out = price(parts); out.variable >= 0; out = price(parts)) {
            uint8_t a[MOST], b[MOST];
            in = ratio_test(parts, out.variable);
            if (in.variable < 0) break;
            must(gpuopt_simplex_dual_pivot(parts, out.variable, in.variable, NULL));
            simplex_iterate(whole, 1);
            must(gpuopt_simplex_get_basis(parts, GPUOPT_HOST, a));
            must(gpuopt_simplex_get_basis(whole, GPUOPT_HOST, b));
            if (memcmp(a, b, (size_t)m.columns.rows + (size_t)m.columns.cols))
                fail_msg("model %d, %s: another basis", model, dual_name(&desc));
            pivots++;
        }
        assert_int_equal(simplex_iterate(parts, 1000).outcome, simplex_iterate(whole, 1000).outcome);
        gpuopt_simplex_destroy(whole);
        gpuopt_simplex_destroy(parts);
        mip_free(&m);
    }
    assert_true(pivots > test_times(400, 400));
    gpuopt_context_destroy(context);
}

static void refused(void **state) {
    static const double a[] = {1, 1, 1, -1}, cost[] = {1, 2}, lhs[] = {2, -5}, rhs[] = {9, 5}, above[] = {-1};
    static const int32_t first[] = {0};
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_of(2, 2, a, cost, lhs, rhs, NULL, NULL);
    gpuopt_simplex_desc desc = tableau_desc(&m);
    gpuopt_simplex_dual_leaving out = GPUOPT_INIT(gpuopt_simplex_dual_leaving), no_out = {0};
    gpuopt_simplex_dual_entering in = GPUOPT_INIT(gpuopt_simplex_dual_entering), no_in = {0};
    gpuopt_simplex_info no_info;
    gpuopt_simplex *s = simplex_create(context, &desc);
    (void)state;
    memset(&no_info, 0, sizeof no_info);
#define REFUSED(code, text, ...)                        \
    host.error[0] = 0;                                  \
    assert_int_equal(__VA_ARGS__, GPUOPT_ERROR_##code); \
    if (!strstr(host.error, text)) fail_msg("the log says: %s", host.error)
    REFUSED(STATE, "PRIMAL", gpuopt_simplex_dual_price(s, &out));
    REFUSED(STATE, "PRIMAL", gpuopt_simplex_dual_ratio_test(s, 2, &in));
    REFUSED(STATE, "PRIMAL", gpuopt_simplex_dual_pivot(s, 2, 0, NULL));
    gpuopt_simplex_destroy(s);
    desc.algorithm = GPUOPT_ALGORITHM_DUAL;
    s = simplex_create(context, &desc);
    REFUSED(ARGUMENT, "NULL", gpuopt_simplex_dual_price(s, NULL));
    REFUSED(ARGUMENT, "struct_size", gpuopt_simplex_dual_price(s, &no_out));
    REFUSED(ARGUMENT, "NULL", gpuopt_simplex_dual_ratio_test(s, 2, NULL));
    REFUSED(ARGUMENT, "struct_size", gpuopt_simplex_dual_ratio_test(s, 2, &no_in));
    REFUSED(ARGUMENT, "struct_size", gpuopt_simplex_dual_pivot(s, 2, 0, &no_info));
    assert_int_equal(gpuopt_simplex_dual_price(NULL, &out), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_dual_ratio_test(NULL, 2, &in), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_dual_pivot(NULL, 2, 0, NULL), GPUOPT_ERROR_ARGUMENT);
    out = price(s); /* row 0 is below its side */
    assert_true(out.variable == 2 && !out.to_upper);
    REFUSED(ARGUMENT, "variable 0 is not basic", gpuopt_simplex_dual_ratio_test(s, 0, &in));
    REFUSED(ARGUMENT, "within its bounds", gpuopt_simplex_dual_ratio_test(s, 3, &in));
    REFUSED(ARGUMENT, "variable -1", gpuopt_simplex_dual_ratio_test(s, -1, &in));
    REFUSED(ARGUMENT, "within its bounds", gpuopt_simplex_dual_pivot(s, 3, 0, NULL));
    REFUSED(ARGUMENT, "not nonbasic", gpuopt_simplex_dual_pivot(s, 2, 3, NULL));
    REFUSED(ARGUMENT, "not nonbasic", gpuopt_simplex_dual_pivot(s, 2, 4, NULL));
    assert_int_equal(ratio_test(s, 2).variable, 0); /* the cheaper column */
    must(gpuopt_simplex_dual_pivot(s, 2, 1, NULL)); /* the dearer one: the cost of column 0 is shifted */
    assert_int_equal(price(s).variable, -1);
    assert_int_equal(simplex_iterate(s, 100).outcome, GPUOPT_OPTIMAL);
    assert_true(simplex_info(s).objective == 2);
    assert_int_equal(price(s).variable, -1);
    REFUSED(STATE, "verdict", gpuopt_simplex_dual_ratio_test(s, 3, &in));
    REFUSED(STATE, "verdict", gpuopt_simplex_dual_pivot(s, 3, 1, NULL));
    assert_true(simplex_info(s).objective == 2 && simplex_info(s).outcome == GPUOPT_OPTIMAL);
    must(gpuopt_simplex_set_bounds(s, GPUOPT_HOST, 1, first, NULL, above));
    assert_int_equal(price(s).variable, -1);
    REFUSED(STATE, "cross", gpuopt_simplex_dual_ratio_test(s, 3, &in));
    REFUSED(STATE, "cross", gpuopt_simplex_dual_pivot(s, 3, 1, NULL));
    gpuopt_simplex_destroy(s);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_against_rationals),
    cmocka_unit_test(same_pivots),
    cmocka_unit_test(refused),
};
TEST_MAIN(tests)
