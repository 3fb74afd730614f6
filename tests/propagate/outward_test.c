/* SPDX-License-Identifier: MIT
 *
 * Bounds are never tighter than their row implies, by exact rational arithmetic (GMP). No point that satisfies a model
 * exactly is cut off or declared infeasible. Where the sums are exact, so is the bound.
 */
#include <gmp.h>
#include <math.h>

#include "tests/propagate/model.h"

static int trials(int on_the_cpu) { return test_few() ? 20 : test_times(on_the_cpu, on_the_cpu / 100); }

/* ---- One row ---- */

enum { MOST = 40 };

/* The kinds of a row of 1 to MOST columns. */
enum { INTEGERS, DECIMALS, DOUBLES, MAGNITUDES, TINY, KINDS };

static double draw(uint64_t *seed, int kind) {
    double sign = test_random_int(seed, 0, 1) ? 1 : -1, any = (double)test_random_int(seed, 1, INT64_C(1) << 53);
    switch (kind) {
    case INTEGERS: return sign * (double)test_random_int(seed, 1, 1000);
    case DECIMALS: return sign * (double)test_random_int(seed, 1, 9999) / 100;
    case DOUBLES: return sign * any * 0x1p-50;
    case MAGNITUDES: return sign * ldexp(any, (int)test_random_int(seed, -90, 0));
    default: return sign * ldexp(any, (int)test_random_int(seed, -600, -530));
    }
}

/* single: of numbers that single precision represents. */
static mip draw_row(uint64_t *seed, int kind, int single) {
    int length = (int)test_random_int(seed, 1, test_random_int(seed, 0, 3) ? 4 : MOST), j;
    mip m = problem_new(length, 1, length);
    double side = draw(seed, kind);
    int sides = (int)test_random_int(seed, 0, 2);
    for (j = 0; j < length; j++) {
        double a = draw(seed, kind), b = draw(seed, kind), low = fmin(a, b), high = fmax(a, b);
        int bounds = (int)test_random_int(seed, 0, 7);
        if (bounds == 0) low = 0, high = fabs(a);
        if (bounds == 1 && j == 0) high = INFINITY;
        if (bounds == 2 && j == 0) low = -INFINITY;
        if (single) low = (float)low, high = (float)high;
        problem_col(&m, j, low, high, 0);
    }
    problem_row(&m, sides == 0 ? -INFINITY : side, sides == 1 ? INFINITY : side);
    for (j = 0; j < length; j++) problem_entry(&m, j, single ? (float)draw(seed, kind) : draw(seed, kind));
    return m;
}

/* Adds a bound's term to the sum and, if it is finite, its size to another. Returns whether it is infinite. */
static int add_term(mpq_t sum, mpq_t size, double a, double bound) {
    mpq_t x, y;
    if (isinf(bound)) return 1;
    mpq_inits(x, y, NULL);
    mpq_set_d(x, a);
    mpq_set_d(y, bound);
    mpq_mul(x, x, y);
    mpq_add(sum, sum, x);
    mpq_abs(x, x);
    mpq_add(size, size, x);
    mpq_clears(x, y, NULL);
    return 0;
}

/* The bound that one side of the row implies for column j, and the sum of the sizes of all terms over |a|. Returns 0 if
 * it implies none. upper: the side is the rhs. */
static int implied(const mip *m, int32_t j, int upper, mpq_t bound, mpq_t size) {
    double side = upper ? m->rhs[0] : m->lhs[0];
    int infinite = 0;
    mpq_t a, own;
    int64_t k;
    if (isinf(side)) return 0;
    mpq_inits(a, own, NULL);
    mpq_set_ui(bound, 0, 1);
    mpq_set_ui(size, 0, 1);
    for (k = 0; k < m->matrix.start[1]; k++) {
        double c = m->matrix.value[k];
        int32_t i = m->matrix.index[k];
        int without = add_term(i == j ? own : bound, size, c, (c > 0) == (upper != 0) ? m->lb[i] : m->ub[i]);
        infinite |= without && i != j;
    }
    mpq_set_d(a, side);
    mpq_sub(bound, a, bound);
    mpq_set_d(a, m->matrix.value[j]);
    mpq_div(bound, bound, a);
    mpq_div(size, size, a);
    mpq_abs(size, size);
    mpq_clears(a, own, NULL);
    return !infinite;
}

/* A bound that moved must not be tighter than the exact one. It may be looser by two units in the last place and the
 * error of sums in twice the precision. Returns whether it is the exact one. */
static int check_bound(const char *what, int trial, double found, mpq_t exact, mpq_t size, int upper, int single) {
    mpq_t x, allowed;
    double ulp = fabs(single ? nextafterf((float)found, INFINITY) - found : nextafter(found, INFINITY) - found);
    int tight, loose, same;
    mpq_inits(x, allowed, NULL);
    mpq_set_d(x, found);
    if (upper) mpq_sub(x, x, exact);
    else mpq_sub(x, exact, x);
    tight = mpq_sgn(x) < 0;
    same = mpq_sgn(x) == 0;
    mpq_set_d(allowed, 0x1p-90);
    mpq_mul(size, size, allowed);
    mpq_set_d(allowed, 2 * ulp);
    mpq_add(allowed, allowed, size);
    loose = mpq_cmp(x, allowed) > 0;
    mpq_clears(x, allowed, NULL);
    if (tight || loose)
        fail_msg("%s, trial %d: the bound %.17g is too %s", what, trial, found, tight ? "tight" : "loose");
    return same;
}

static void check_rows(gpuopt_context *context, int kind, int single, int count) {
    static const char *const name[KINDS] = {"integers", "decimals", "doubles", "magnitudes", "tiny"};
    uint64_t seed = 40 + (uint64_t)kind;
    long moved = 0, exact = 0;
    int trial;
    mpq_t bound, size;
    mpq_inits(bound, size, NULL);
    for (trial = 0; trial < count; trial++) {
        mip m = draw_row(&seed, kind, single);
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        double lb[MOST], ub[MOST];
        int32_t j;
        int side;
        if (single) desc.precision = GPUOPT_PRECISION_FP32;
        problem_run(context, &desc, 1, lb, ub);
        for (j = 0; j < m.matrix.cols; j++)
            for (side = 0; side < 2; side++) {
                int upper = (m.matrix.value[j] > 0) == (side == 0);
                if (upper ? !(ub[j] < m.ub[j]) : !(lb[j] > m.lb[j])) continue;
                if (lb[j] == ub[j]) continue;                  /* they may have crossed, and are shown as one */
                if (!implied(&m, j, side == 0, bound, size)) { /* only the other one moves this bound */
                    fail_msg("%s, trial %d: nothing is implied for column %d", name[kind], trial, j);
                }
                exact += check_bound(name[kind], trial, upper ? ub[j] : lb[j], bound, size, upper, single);
                moved++;
            }
        mip_free(&m);
    }
    mpq_clears(bound, size, NULL);
    assert_true(moved > (count >= 100 ? count / 4 : 0));
    /* Integers: every quotient that is a double, at least the integers among them. */
    if (kind == INTEGERS && !single && count >= 1000) assert_true(exact > moved / 100);
}

static void no_bound_is_tighter_than_its_row(void **state) {
    gpuopt_context *context = test_context(NULL);
    int kind;
    (void)state;
    for (kind = 0; kind < KINDS; kind++) check_rows(context, kind, 0, trials(8000));
    for (kind = 0; kind < TINY; kind++) check_rows(context, kind, 1, trials(4000));
    gpuopt_context_destroy(context);
}

/* q x <= 1 and q x >= -1: the least double that is not below 1 / q, for each q. */
static void thirds_are_rounded_up(void **state) {
    gpuopt_context *context = test_context(NULL);
    int q;
    (void)state;
    for (q = 1; q < 1000; q++) {
        mip m = model_one_column(-10, 10, -1, 1);
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        double lb, ub;
        mpq_t one, below;
        ((double *)m.matrix.value)[0] = q;
        problem_run(context, &desc, 5, &lb, &ub);
        mpq_inits(one, below, NULL);
        mpq_set_d(one, ub);
        mpq_set_d(below, nextafter(ub, 0));
        mpz_mul_ui(mpq_numref(one), mpq_numref(one), (unsigned long)q);
        mpz_mul_ui(mpq_numref(below), mpq_numref(below), (unsigned long)q);
        mpq_canonicalize(one);
        mpq_canonicalize(below);
        if (mpq_cmp_ui(one, 1, 1) < 0 || mpq_cmp_ui(below, 1, 1) >= 0 || lb + ub > 0 || lb + ub < 0)
            fail_msg("%d x <= 1: x in [%.17g, %.17g]", q, lb, ub);
        mpq_clears(one, below, NULL);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* q x = 0: x is 0, not a nearby subnormal number, for each q. */
static void nothing_over_anything_is_zero(void **state) {
    gpuopt_context *context = test_context(NULL);
    int q;
    (void)state;
    for (q = -600; q < 600; q++) {
        mip m = model_one_column(-10, 10, 0, 0);
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        double lb, ub;
        ((double *)m.matrix.value)[0] = (q & 1 ? -1 : 1) * ldexp(1 + (q & 7) / 9.0, q / 8);
        problem_run(context, &desc, 5, &lb, &ub);
        if (fabs(lb) + fabs(ub) > 0) fail_msg("%.17g x = 0: x in [%.17g, %.17g]", m.matrix.value[0], lb, ub);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* Small integers in all rows: every quotient that is an integer, a half or a quarter is exact. */
static void exact_results_stay_exact(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 50;
    int trial;
    (void)state;
    for (trial = 0; trial < trials(20000); trial++) {
        double x = (double)test_random_int(&seed, -40, 40) / 4, a[3], lb[3], ub[3], sum = 0;
        const double none = -INFINITY;
        mip m;
        gpuopt_propagator_desc desc;
        int j;
        for (j = 0; j < 3; j++) a[j] = (double)test_random_int(&seed, 1, 9) * (j ? 1 : 8);
        for (j = 1; j < 3; j++) sum += a[j] * (double)j;
        sum += a[0] * x;
        m = model_dense(1, 3, a, &none, &sum, -100, 1e6, 0);
        for (j = 1; j < 3; j++) m.lb[j] = j;
        desc = mip_propagator_desc(&m);
        problem_run(context, &desc, 1, lb, ub);
        if (ub[0] < x || ub[0] > x) fail_msg("trial %d: %.17g instead of %.17g", trial, ub[0], x);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* 2^60 + 1 - 2^-60 - 2^60 + x <= 3, with the four terms in one partial sum: 1 - 2^-60 is no double, and x <= 2 +
 * 2^-60. */
static void lost_digits_count(void **state) {
    gpuopt_context *context = test_context(NULL);
    static const double terms[17] = {[0] = 0x1p60, [4] = 1, [8] = -0x1p-60, [12] = -0x1p60};
    double lb[17], ub[17];
    mip m = problem_new(17, 1, 17);
    gpuopt_propagator_desc desc;
    int j;
    (void)state;
    for (j = 0; j < 16; j++) problem_col(&m, j, terms[j], terms[j], 0);
    problem_col(&m, 16, -100, 100, 0);
    problem_row(&m, -INFINITY, 3);
    for (j = 0; j < 17; j++) problem_entry(&m, j, 1);
    desc = mip_propagator_desc(&m);
    problem_run(context, &desc, 1, lb, ub);
    assert_true(ub[16] > 2 && ub[16] < 2 + 0x1p-20);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* x <= 1 + 2^-1076, with a second term that rounds to 0. And q x <= 1 in units of the least normal number, where q
 * times a quotient has too many digits for a double. */
static void underflow_counts(void **state) {
    gpuopt_context *context = test_context(NULL);
    mpq_t x, one;
    int q;
    (void)state;
    mpq_inits(x, one, NULL);
    for (q = 1; q < 1000; q++) {
        mip m = problem_new(2, 1, 2);
        gpuopt_propagator_desc desc;
        double lb[2], ub[2];
        problem_col(&m, 0, 0x1p-476, 0x1p-476, 0);
        problem_col(&m, 1, -10, 10, 0);
        problem_row(&m, -INFINITY, q == 1 ? 1 : 0x1p-1022);
        if (q == 1) problem_entry(&m, 0, -0x1p-600);
        problem_entry(&m, 1, q == 1 ? 1 : q * 0x1p-1022);
        desc = mip_propagator_desc(&m);
        problem_run(context, &desc, 1, lb, ub);
        mpq_set_d(x, ub[1]);
        mpq_set_d(one, q);
        mpq_mul(x, x, one);
        if (mpq_cmp_ui(x, 1, 1) < (q == 1)) fail_msg("%d: %.17g is too tight", q, ub[1]);
        mip_free(&m);
    }
    mpq_clears(x, one, NULL);
    gpuopt_context_destroy(context);
}

/* ---- Models with a point that satisfies them exactly ---- */

/* The least double that is not below q. */
static double round_up(const mpq_t q) {
    mpq_t x;
    double d = mpq_get_d(q);
    mpq_init(x);
    for (mpq_set_d(x, d); mpq_cmp(x, q) < 0; mpq_set_d(x, d)) d = nextafter(d, INFINITY);
    mpq_clear(x);
    return d;
}

static void set_sum(mpq_t sum, double a, double x, double b, double y) {
    mpq_t size;
    mpq_init(size);
    mpq_set_ui(sum, 0, 1);
    add_term(sum, size, a, x);
    add_term(sum, size, b, y);
    mpq_clear(size);
}

/* a x0 + e x2 <= r,  x0 + s x1 within one unit in the last place. The point (x0, x1, x2) satisfies both rows exactly,
 * and x1 is an integer with a tiny coefficient. */
static void no_integer_point_is_cut(void **state) {
    gpuopt_context *context = test_context(NULL);
    size_t variants, v;
    const problem_variant *variant = problem_variants(&variants);
    uint64_t seed = 1;
    int trial, count = trials(200000);
    mpq_t sum;
    (void)state;
    mpq_init(sum);
    for (trial = 0; trial < count; trial++) {
        double x[3] = {(double)test_random_int(&seed, 0, 3999999) / 4, (double)test_random_int(&seed, 0, 9),
                       (double)test_random_int(&seed, 0, 999)};
        double a = 1 + (double)test_random_int(&seed, 0, 899) / 100, e = (double)test_random_int(&seed, 1, 99) / 10,
               s = 1e-5 * (double)test_random_int(&seed, 1, 9), lb[3], ub[3], lhs, rhs;
        mip m = problem_new(3, 2, 4);
        gpuopt_propagator_desc desc;
        gpuopt_propagator_info info;
        int j;
        set_sum(sum, a, x[0], e, x[2]);
        problem_col(&m, 0, 0, 1e6, 0);
        problem_col(&m, 1, 0, 10, 1);
        problem_col(&m, 2, x[2], x[2], 1);
        problem_row(&m, -INFINITY, round_up(sum));
        problem_entry(&m, 0, a);
        problem_entry(&m, 2, e);
        set_sum(sum, 1, x[0], s, x[1]);
        rhs = round_up(sum);
        mpq_neg(sum, sum);
        lhs = -round_up(sum);
        problem_row(&m, lhs, rhs);
        problem_entry(&m, 0, 1);
        problem_entry(&m, 1, s);
        desc = mip_propagator_desc(&m);
        v = (size_t)trial % variants;
        problem_apply(&variant[v], &desc);
        info = problem_run(context, &desc, 100, lb, ub);
        if (info.outcome == GPUOPT_INFEASIBLE) fail_msg("trial %d, %s: infeasible", trial, variant[v].name);
        for (j = 0; j < 3; j++)
            if (lb[j] > x[j] || ub[j] < x[j])
                fail_msg("trial %d, %s: x%d = %.17g is not in [%.17g, %.17g]", trial, variant[v].name, j, x[j], lb[j],
                         ub[j]);
        mip_free(&m);
    }
    mpq_clear(sum);
    gpuopt_context_destroy(context);
}

/* x = 3 satisfies both rows exactly; with x >= -9.9e19 or -1e15 the first bounds come with large errors. */
static void check_three_is_feasible(gpuopt_context *context, gpuopt_propagator_desc desc) {
    static const double least[] = {-9.9e19, -1e15, 0};
    size_t k;
    for (k = 0; k < sizeof least / sizeof *least; k++) {
        gpuopt_propagator_info info;
        double lb, ub;
        desc.lb = &least[k];
        info = problem_run(context, &desc, 9, &lb, &ub);
        assert_int_equal(info.outcome, GPUOPT_CONVERGED);
        assert_true(lb <= 3 && ub >= 3);
    }
}

static mip three(void) {
    static const double a[2] = {16509.263029602258, -171446626.02714634}, lhs[2] = {-INFINITY, -514339878.08143902},
                        rhs[2] = {49527.789088806778, -514339878.08143902};
    mpq_t product, side; /* 3 a is exactly the side, or below it */
    mpq_inits(product, side, NULL);
    set_sum(product, a[0], 3, 0, 0);
    mpq_set_d(side, rhs[0]);
    assert_true(mpq_cmp(product, side) <= 0);
    set_sum(product, a[1], 3, 0, 0);
    mpq_set_d(side, rhs[1]);
    assert_true(mpq_cmp(product, side) == 0);
    mpq_clears(product, side, NULL);
    return model_dense(2, 1, a, lhs, rhs, 0, 4, 0);
}
MODEL_VARIANTS_TEST(three_is_feasible, three())

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_bound_is_tighter_than_its_row),
    cmocka_unit_test(thirds_are_rounded_up),
    cmocka_unit_test(nothing_over_anything_is_zero),
    cmocka_unit_test(exact_results_stay_exact),
    cmocka_unit_test(lost_digits_count),
    cmocka_unit_test(underflow_counts),
    cmocka_unit_test(no_integer_point_is_cut),
    cmocka_unit_test(three_is_feasible),
};
TEST_MAIN(tests)
