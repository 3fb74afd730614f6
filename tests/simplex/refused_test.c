/* SPDX-License-Identifier: MIT
 *
 * Refused calls leave no trace: two handles make the same calls, one also makes refused calls, and both stay equal to
 * the bit. And a pivot accepts the result of the ratio test, on models with nearly dependent rows.
 */
#include <math.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/simplex/answer.h"

enum { MOST = 12 };

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

typedef struct model {
    int32_t rows, cols;
    double dense[MOST * MOST], cost[MOST], lhs[MOST], rhs[MOST], lb[MOST], ub[MOST];
    gpuopt_simplex_desc desc;
    gpuopt_simplex_rules rules;
} model;

/* Rows from the third on are sums of two others, up to `difference`; 0: integers, no such rows. A point within all
 * bounds is planted. */
static void make(model *m, uint64_t *random, int variant, double difference) {
    double point[MOST];
    int i, j;
    memset(m, 0, sizeof *m);
    m->rows = (int32_t)test_random_int(random, 3, 9);
    m->cols = (int32_t)test_random_int(random, 3, MOST);
    for (j = 0; j < m->cols; j++) {
        point[j] = (double)test_random_int(random, -3, 5);
        m->lb[j] = test_random_int(random, 0, 4) ? point[j] - (double)test_random_int(random, 0, 3) : -INFINITY;
        m->ub[j] = test_random_int(random, 0, 2) ? point[j] + (double)test_random_int(random, 0, 4) : INFINITY;
        m->cost[j] = (double)test_random_int(random, -5, 5);
        for (i = 0; i < m->rows; i++) {
            double *entry = &m->dense[j * m->rows + i];
            *entry = test_random_int(random, 0, 2) ? (double)test_random_int(random, -4, 4) : 0;
            if (i >= 2 && difference > 0)
                *entry = entry[-1] + entry[-2] + difference * (double)test_random_int(random, -3, 3);
        }
    }
    for (i = 0; i < m->rows; i++) {
        double activity = 0;
        for (j = 0; j < m->cols; j++) activity += m->dense[j * m->rows + i] * point[j];
        m->lhs[i] = test_random_int(random, 0, 1) ? activity - (double)test_random_int(random, 0, 2) : -INFINITY;
        m->rhs[i] = test_random_int(random, 0, 2) ? activity + (double)test_random_int(random, 0, 3) : INFINITY;
    }
    gpuopt_desc_init(&m->desc, sizeof m->desc);
    m->desc.matrix.rows = m->rows, m->desc.matrix.cols = m->cols;
    m->desc.dense = m->dense, m->desc.cost = m->cost;
    m->desc.lhs = m->lhs, m->desc.rhs = m->rhs, m->desc.lb = m->lb, m->desc.ub = m->ub;
    variant_set(&m->desc, variant);
    m->rules = rules_of(&m->desc);
    m->desc.rules = &m->rules;
    m->rules.rebuild_pivots = (int32_t)test_random_int(random, 0, 8);
    m->rules.deferred_pivots = (int32_t)test_random_int(random, 0, 4);
    m->rules.seed = (uint64_t)variant;
}

/* ---- Refused calls ---- */

/* A basis with two copies of a column, which is singular if the column appears twice in the model, or one with a wrong
 * count or an unknown status. Returns the expected status of set_basis; OK: no such basis was found. */
static gpuopt_status bad_basis(const model *m, uint64_t *random, uint8_t *status) {
    int kind = (int)test_random_int(random, 0, 2), j, basic = 0;
    for (j = 0; j < m->rows + m->cols; j++) status[j] = j < m->cols ? 1 : 0;
    if (kind == 0) {
        status[m->cols] = 7;
        return GPUOPT_ERROR_ARGUMENT;
    }
    if (kind == 1) {
        status[0] = 0;
        return GPUOPT_ERROR_ARGUMENT;
    }
    /* Columns 0 and 1 are multiples of each other, see below. */
    status[0] = status[1] = 0;
    for (j = m->cols; j < m->cols + m->rows && basic < 2; j++)
        if (m->dense[j - m->cols] != 0 || basic == 1) status[j] = 2, basic++;
    return basic == 2 ? GPUOPT_ERROR_NUMERIC : GPUOPT_OK;
}

static int refuse_one(const model *m, uint64_t *random, gpuopt_simplex *s) {
    uint8_t status[2 * MOST];
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex_leaving leaving = GPUOPT_INIT(gpuopt_simplex_leaving);
    gpuopt_status expected = GPUOPT_ERROR_ARGUMENT, found = GPUOPT_ERROR_ARGUMENT;
    int32_t basic = -1, nonbasic = -1, j;
    must(gpuopt_simplex_get_basis(s, GPUOPT_HOST, status));
    for (j = 0; j < m->rows + m->cols; j++) *(status[j] ? &nonbasic : &basic) = j;
    switch (test_random_int(random, 0, 5)) {
    case 0:
    case 1:
        expected = bad_basis(m, random, status);
        if (expected == GPUOPT_OK) return 0;
        found = gpuopt_simplex_set_basis(s, GPUOPT_HOST, status);
        break;
    case 2: found = gpuopt_simplex_pivot(s, basic, basic, 1, &info); break;
    case 3: found = gpuopt_simplex_pivot(s, nonbasic, nonbasic, 0, &info); break;
    case 4: found = gpuopt_simplex_flip(s, basic, &info); break;
    default: found = gpuopt_simplex_ratio_test(s, basic, 1, &leaving); break;
    }
    assert_int_equal(found, expected);
    return found == GPUOPT_ERROR_NUMERIC;
}

/* The same call, chosen by `what`, on both. Returns 0 if the handles have no further iterations. */
static int same_call(const model *m, gpuopt_simplex *const s[2], int what, int32_t number) {
    int k;
    gpuopt_status status[2];
    gpuopt_simplex_info info[2];
    gpuopt_simplex_entering entering[2];
    gpuopt_simplex_leaving leaving[2];
    double x[2][4 * MOST];
    uint8_t basis[2][2 * MOST];
    memset(x, 0, sizeof x), memset(basis, 0, sizeof basis);
    for (k = 0; k < 2; k++) {
        gpuopt_desc_init(&info[k], sizeof info[k]);
        gpuopt_desc_init(&entering[k], sizeof entering[k]);
        gpuopt_desc_init(&leaving[k], sizeof leaving[k]);
        switch (what) {
        case 0: status[k] = gpuopt_simplex_iterate(s[k], number + 1, &info[k]); break;
        case 1:
            status[k] = gpuopt_simplex_price(s[k], &entering[k]);
            if (!status[k] && entering[k].variable >= 0)
                status[k] = gpuopt_simplex_ratio_test(s[k], entering[k].variable, entering[k].direction, &leaving[k]);
            if (status[k] || entering[k].variable < 0) break;
            if (leaving[k].flip) status[k] = gpuopt_simplex_flip(s[k], entering[k].variable, &info[k]);
            else if (leaving[k].variable >= 0)
                status[k] = gpuopt_simplex_pivot(s[k], entering[k].variable, leaving[k].variable, leaving[k].to_upper,
                                                 &info[k]);
            break;
        case 2: status[k] = gpuopt_simplex_get_info(s[k], &info[k]); break;
        case 3: status[k] = gpuopt_simplex_get_basis(s[k], GPUOPT_HOST, basis[k]); break;
        case 4: status[k] = gpuopt_simplex_rebuild(s[k], number & 1, &info[k]); break;
        default:
            status[k] =
                gpuopt_simplex_get_solution(s[k], GPUOPT_HOST,
                                            &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                                       .x = x[k],
                                                                       .reduced_cost = x[k] + MOST,
                                                                       .activity = x[k] + 2 * MOST,
                                                                       .dual = x[k] + 3 * MOST});
        }
    }
    (void)m;
    assert_int_equal(status[0], status[1]);
    assert_memory_equal(&info[0], &info[1], sizeof info[0]);
    assert_memory_equal(&entering[0], &entering[1], sizeof entering[0]);
    assert_memory_equal(&leaving[0], &leaving[1], sizeof leaving[0]);
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_memory_equal(basis[0], basis[1], sizeof basis[0]);
    return 1;
}

static void refused_calls_leave_no_trace(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 1;
    int round, singular = 0;
    (void)state;
    for (round = 0; round < test_times(600, 60); round++) {
        gpuopt_simplex *s[2];
        model m;
        int step, k, i;
        make(&m, &random, round % VARIANTS, 0);
        for (i = 0; i < m.rows; i++) m.dense[m.rows + i] = 2 * m.dense[i];
        for (k = 0; k < 2; k++) s[k] = simplex_create(context, &m.desc);
        for (step = 0; step < 12; step++) {
            for (k = (int)test_random_int(&random, 0, 3); k > 0; k--) singular += refuse_one(&m, &random, s[0]);
            same_call(&m, s, (int)test_random_int(&random, 0, 5), (int32_t)test_random_int(&random, 0, 3));
        }
        for (step = 0; step < 6; step++) same_call(&m, s, step, 1000);
        for (k = 0; k < 2; k++) gpuopt_simplex_destroy(s[k]);
    }
    assert_true(singular > 100 || test_on("cuda") || test_few());
    gpuopt_context_destroy(context);
}

/* Noticed only if there is not enough memory to keep the old inverse. */
static void set_basis_without_memory(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t random = 5;
    int variant, without = 0;
    (void)state;
    for (variant = 0; variant < VARIANTS; variant++) {
        gpuopt_simplex *s[2];
        model m;
        uint8_t basis[2 * MOST], now[2 * MOST];
        gpuopt_status result;
        long live;
        int k, entering = 0;
        make(&m, &random, variant, 0);
        for (k = 0; k < 2; k++) s[k] = simplex_create(context, &m.desc);
        must(gpuopt_simplex_get_basis(s[0], GPUOPT_HOST, basis));
        must(gpuopt_simplex_iterate(s[0], 3, NULL));
        must(gpuopt_simplex_iterate(s[1], 3, NULL));
        must(gpuopt_simplex_get_basis(s[0], GPUOPT_HOST, now));
        for (k = 0; k < m.desc.matrix.rows + m.desc.matrix.cols; k++)
            entering += basis[k] == GPUOPT_VARIABLE_BASIC && now[k] != GPUOPT_VARIABLE_BASIC;
        live = host.live;
        host.fail_at = host.allocations + 1;
        result = gpuopt_simplex_set_basis(s[0], GPUOPT_HOST, basis);
        host.fail_at = 0;
        if (entering == 0 && !test_on("cuda")) { /* the present basis takes none */
            assert_int_equal(result, GPUOPT_OK);
            must(gpuopt_simplex_set_basis(s[1], GPUOPT_HOST, basis));
        } else assert_int_equal(result, GPUOPT_ERROR_MEMORY);
        without += result == GPUOPT_ERROR_MEMORY;
        same_call(&m, s, 0, 1000);
        must(gpuopt_simplex_set_basis(s[0], GPUOPT_HOST, basis));
        assert_int_equal(host.live, live);
        for (k = 0; k < 2; k++) gpuopt_simplex_destroy(s[k]);
    }
    assert_true(without > VARIANTS / 2);
    gpuopt_context_destroy(context);
}

/* ---- What the ratio test names ---- */

/* Lets the best candidate with a safe pivot enter, until none does. Returns the number of steps; *unsafe counts
 * candidates passed over. */
static int walk(gpuopt_simplex *s, int32_t cols, int64_t *unsafe) {
    int step;
    for (step = 0; step < 400; step++) {
        gpuopt_simplex_candidate list[MOST];
        gpuopt_simplex_entering best = GPUOPT_INIT(gpuopt_simplex_entering);
        gpuopt_simplex_leaving leaving = GPUOPT_INIT(gpuopt_simplex_leaving);
        int32_t found = -1, one, k;
        must(gpuopt_simplex_price(s, &best));
        must(gpuopt_simplex_candidates(s, MOST, list, &found));
        assert_true(found >= 0 && found <= cols && (found > 0) == (best.variable >= 0));
        must(gpuopt_simplex_candidates(s, 1, list + (found < MOST ? found : 0), &one));
        assert_int_equal(one, found > 0);
        must(gpuopt_simplex_candidates(s, 2, list, &one));
        assert_int_equal(one, found < 2 ? found : 2);
        if (found == 0) return step;
        must(gpuopt_simplex_candidates(s, MOST, list, &found));
        assert_true(list[0].variable == best.variable && list[0].direction == best.direction);
        assert_true(list[0].score == best.score && list[0].reduced_cost == best.reduced_cost);
        for (k = 1; k < found; k++) assert_true(list[k].score <= list[k - 1].score && list[k].score > 0);
        for (k = 0; k < found; k++) {
            must(gpuopt_simplex_ratio_test(s, list[k].variable, list[k].direction, &leaving));
            if (!leaving.unsafe) break;
            assert_true(leaving.variable == -1 && !leaving.flip && leaving.pivot != 0);
            (*unsafe)++;
        }
        if (k == found) return step; /* no candidate has a safe pivot */
        if (leaving.flip) must(gpuopt_simplex_flip(s, list[k].variable, NULL));
        else if (leaving.variable < 0) return step; /* unbounded */
        else must(gpuopt_simplex_pivot(s, list[k].variable, leaving.variable, leaving.to_upper, NULL));
    }
    return step;
}

static void pivots_of_the_ratio_test_are_accepted(void **state) {
    static const double differences[] = {1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 11;
    int64_t unsafe = 0, steps = 0;
    int round;
    (void)state;
    for (round = 0; round < test_times(4200, 200); round++) {
        model m;
        gpuopt_simplex *s;
        make(&m, &random, round % VARIANTS, differences[round % 6]);
        s = simplex_create(context, &m.desc);
        steps += walk(s, m.cols, &unsafe);
        gpuopt_simplex_destroy(s);
    }
    print_message("%lld steps, none refused; %lld candidates had no safe pivot\n", (long long)steps, (long long)unsafe);
    assert_true(steps > 0 && (unsafe > 0 || test_on("cuda")));
    gpuopt_context_destroy(context);
}

/* ---- The basis right after create ---- */

static void basis_after_create(void **state) {
    static const double lb[] = {-INFINITY, -INFINITY, 1, -2, 3}, ub[] = {-7, INFINITY, INFINITY, 5, 3};
    static const double a[] = {1, 1, 1, 1, 1};
    static const uint8_t expected[] = {GPUOPT_VARIABLE_AT_UPPER, GPUOPT_VARIABLE_AT_ZERO,  GPUOPT_VARIABLE_AT_LOWER,
                                       GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_BASIC};
    gpuopt_context *context = test_context(NULL);
    mip m = model_of(1, 5, a, NULL, NULL, NULL, lb, ub);
    int variant;
    (void)state;
    for (variant = 0; variant < VARIANTS; variant++) {
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *simplex;
        uint8_t basis[6];
        variant_set(&desc, variant);
        simplex = simplex_create(context, &desc);
        must(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, basis));
        assert_memory_equal(basis, expected, sizeof basis);
        simplex_info(simplex);
        must(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, basis));
        assert_memory_equal(basis, expected, sizeof basis);
        gpuopt_simplex_destroy(simplex);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* ---- Numbers at the end of the range ---- */

/* Models of tiny and huge numbers: an info and a solution have finite numbers, or the call returns NUMERIC and logs the
 * reason. */
static void overflow_is_reported(void **state) {
    static const double number[] = {1e300, -1e300, 1.7e308, -1.7e308, 1, -1, 1e-300, 5e-324, 1e19, 1e150, -1e150, 3};
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t random = 3;
    int round, k, reported = 0, finite = 0;
    (void)state;
    for (round = 0; round < test_times(6000, 200); round++) {
        gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
        gpuopt_simplex *s;
        gpuopt_status status;
        double x[4 * MOST];
        model m;
        make(&m, &random, round % VARIANTS, 0);
        m.desc.matrix.rows = m.rows = (int32_t)test_random_int(&random, 1, 3);
        m.desc.matrix.cols = m.cols = (int32_t)test_random_int(&random, 1, 3);
        m.rules.scaling = (gpuopt_switch)test_random_int(&random, 0, 2);
        if (test_random_int(&random, 0, 1)) m.desc.infinity = INFINITY;
        for (k = 0; k < 9; k++) m.dense[k] = number[test_random_int(&random, 0, 11)];
        for (k = 0; k < 3; k++) {
            double a = number[test_random_int(&random, 0, 11)], b = number[test_random_int(&random, 0, 11)];
            m.cost[k] = number[test_random_int(&random, 0, 11)];
            m.lb[k] = fmin(0, a), m.ub[k] = fmax(0, a);
            m.lhs[k] = fmin(0, b), m.rhs[k] = fmax(0, b);
        }
        s = simplex_create(context, &m.desc);
        host.error[0] = 0;
        status = gpuopt_simplex_iterate(s, 10000, &info);
        if (status) assert_true(status == GPUOPT_ERROR_NUMERIC && host.error[0]);
        reported += status != GPUOPT_OK;
        if (!status) {
            finite++;
            assert_true(isfinite(info.objective) && isfinite(info.infeasibility));
            assert_true(isfinite(info.primal_violation) && isfinite(info.dual_violation));
        }
        status = gpuopt_simplex_get_solution(s, GPUOPT_HOST,
                                             &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                                        .x = x,
                                                                        .reduced_cost = x + MOST,
                                                                        .activity = x + 2 * MOST,
                                                                        .dual = x + 3 * MOST});
        if (status) assert_true(status == GPUOPT_ERROR_NUMERIC && host.error[0]);
        for (k = 0; k < m.cols && !status; k++) assert_true(isfinite(x[k]) && isfinite(x[MOST + k]));
        for (k = 0; k < m.rows && !status; k++) assert_true(isfinite(x[2 * MOST + k]) && isfinite(x[3 * MOST + k]));
        gpuopt_simplex_destroy(s);
    }
    print_message("%d with finite numbers, %d beyond the range\n", finite, reported);
    assert_true(finite > 0 && reported > 0);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(refused_calls_leave_no_trace),
    cmocka_unit_test(set_basis_without_memory),
    cmocka_unit_test(pivots_of_the_ratio_test_are_accepted),
    cmocka_unit_test(basis_after_create),
    cmocka_unit_test(overflow_is_reported),
};
TEST_MAIN(tests)
