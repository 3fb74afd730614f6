/* SPDX-License-Identifier: MIT
 *
 * A handle with rows and columns that are added and removed: the capacity is planned, and refused changes change
 * nothing.
 */
#include <math.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/simplex/answer.h"
#include "tests/simplex/growing.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* The plan counts the capacity, exactly; changes allocate no memory; removals free capacity. */
static void memory_is_planned(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 8;
    int method, round;
    (void)state;
    for (method = 0; method < 2; method++) {
        mip m = model_load("meyer:12:30:0.3:1");
        growing g = growing_of(&m);
        gpuopt_spare spare;
        gpuopt_simplex_desc desc = growing_desc(&m, 34, &spare), plain;
        gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan), without = GPUOPT_INIT(gpuopt_memory_plan);
        gpuopt_simplex *s;
        uint64_t before = host.bytes[GPUOPT_HOST], on_device = host.bytes[GPUOPT_DEVICE];
        long allocations;
        desc.method = method ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
        plain = desc;
        plain.spare = NULL;
        must(gpuopt_simplex_create(context, &plain, &without, NULL));
        must(gpuopt_simplex_create(context, &desc, &plan, NULL));
        assert_true(plan.host_bytes > without.host_bytes);
        s = simplex_create(context, &desc);
        assert_true(host.bytes[GPUOPT_HOST] - before == plan.host_bytes);
        assert_true(host.bytes[GPUOPT_DEVICE] - on_device == plan.device_bytes);
        allocations = host.allocations;
        for (round = 0; round < 20; round++) {
            while (g.rows < 34) growing_add(&seed, s, &g, 1, 1);
            while (g.cols < 34) growing_add(&seed, s, &g, 0, 1);
            simplex_iterate(s, 10);
            growing_remove(&seed, s, &g, round & 1, round);
        }
        assert_int_equal(host.allocations, allocations);
        gpuopt_simplex_destroy(s);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* Refused calls name the reason, and leave the handle unchanged, to the bit. */
static void refused(void **state) {
    static const double one[] = {1, 1}, zero[] = {0, 0}, nan_value[] = {NAN, 0}, tiny[] = {5e-324, 1}, huge[] = {1e300};
    static const int64_t start[] = {0, 1, 2}, none[] = {0, 0, 0};
    static const int32_t first[] = {0, 0}, beyond[] = {99, 0}, negative[] = {-1};
    test_host host;
    gpuopt_context *context = test_strict_context(&host);
    mip m = model_load("meyer:12:30:0.3:1");
    gpuopt_simplex_desc desc = tableau_desc(&m);
    gpuopt_spare spare = GPUOPT_INIT(gpuopt_spare);
    gpuopt_matrix rows = {2, 30, start, first, one, GPUOPT_LAYOUT_CSR};
    gpuopt_matrix cols = {12, 2, start, first, one, GPUOPT_LAYOUT_CSC}, other;
    gpuopt_simplex *s;
    answer before, after;
    (void)state;
#define REFUSED(code, text, ...)                        \
    host.error[0] = 0;                                  \
    assert_int_equal(__VA_ARGS__, GPUOPT_ERROR_##code); \
    if (!strstr(host.error, text)) fail_msg("the log says: %s", host.error)
    desc.spare = &spare;
    spare.rows = -1;
    REFUSED(ARGUMENT, "desc->spare->rows", gpuopt_simplex_create(context, &desc, NULL, &s));
    spare.rows = 1 << 28;
    REFUSED(UNSUPPORTED, "2^28", gpuopt_simplex_create(context, &desc, NULL, &s));
    spare.rows = spare.cols = INT32_MAX;
    REFUSED(UNSUPPORTED, "2^31", gpuopt_simplex_create(context, &desc, NULL, &s));
    spare.rows = spare.cols = 2;
    spare.nonzeros = -1;
    REFUSED(ARGUMENT, "desc->spare->nonzeros", gpuopt_simplex_create(context, &desc, NULL, &s));
    spare.nonzeros = 3;
    if (test_on("cuda")) {
        gpuopt_simplex_desc without = desc;
        without.spare = NULL;
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
    REFUSED(ARGUMENT, "row 0 is repeated", gpuopt_simplex_remove_rows(s, 2, first));
    REFUSED(ARGUMENT, "NULL", gpuopt_simplex_remove_rows(s, 1, NULL));
    REFUSED(ARGUMENT, "negative", gpuopt_simplex_remove_rows(s, -1, first));
    REFUSED(ARGUMENT, "col[0] = -1", gpuopt_simplex_remove_cols(s, 1, negative));
    REFUSED(ARGUMENT, "col 0 is repeated", gpuopt_simplex_remove_cols(s, 2, first));
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

/* ---- A caller that denies memory ---- */

enum { ROWS = 12, COLS = 30 };

/* Changes, by columns if rows are added and the reverse, and the later queries of the basis. The row's sides are far
 * away, and the column is fixed to 0, so that the optimum stays the same. */
static gpuopt_status change(gpuopt_simplex *s, int which, const uint8_t *slack) {
    static const int32_t none[COLS + 1] = {0}, last_row = ROWS, last_col = COLS;
    static const double one[] = {1}, far[] = {1e6}, fixed[] = {0};
    int64_t start[COLS + 1] = {0};
    gpuopt_matrix row = {1, COLS, start, none, one, GPUOPT_LAYOUT_CSC};
    gpuopt_matrix col = {ROWS + 1, 1, start, none, one, GPUOPT_LAYOUT_CSR};
    int k;
    for (k = 1; k <= COLS; k++) start[k] = 1;
    switch (which) {
    case 0: return gpuopt_simplex_add_rows(s, &row, NULL, far);
    case 1: return gpuopt_simplex_add_cols(s, &col, far, NULL, fixed);
    case 2: return gpuopt_simplex_set_basis(s, GPUOPT_HOST, slack);
    case 3: return gpuopt_simplex_remove_rows(s, 1, &last_row);
    case 4: return gpuopt_simplex_remove_cols(s, 1, &last_col);
    default: return gpuopt_simplex_rebuild(s, 1, NULL);
    }
}

/* A change that needs more memory is refused, and succeeds once there is some; a change that needs none succeeds. */
static void memory_is_denied(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_load("meyer:12:30:0.3:1");
    static const gpuopt_spare spare = {sizeof spare, 1, 1, 2};
    uint8_t slack[COLS + 1 + ROWS + 1] = {0};
    int variant, which;
    long denied = 0;
    (void)state;
    for (which = 0; which <= COLS; which++) slack[which] = GPUOPT_VARIABLE_AT_LOWER;
    for (; which < (int)sizeof slack; which++) slack[which] = GPUOPT_VARIABLE_BASIC;
    for (variant = 0; variant < VARIANTS; variant += test_few() ? 7 : 1) {
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *s;
        double objective;
        variant_set(&desc, variant);
        desc.spare = &spare;
        s = simplex_create(context, &desc);
        simplex_iterate(s, 100000);
        objective = simplex_info(s).objective;
        for (which = 0; which < 6; which++) {
            const long live = host.live;
            gpuopt_simplex_info before = simplex_info(s), after;
            gpuopt_status status;
            long some;
            test_deny_memory(&host, 1);
            status = change(s, which, slack);
            some = test_deny_memory(&host, 0);
            assert_int_equal(status, some ? GPUOPT_ERROR_MEMORY : GPUOPT_OK);
            assert_int_equal(host.live, live);
            after = simplex_info(s);
            if (some) assert_memory_equal(&before, &after, sizeof before);
            if (some) must(change(s, which, slack));
            denied += some;
            assert_int_equal(simplex_iterate(s, 100000).outcome, GPUOPT_OPTIMAL);
            assert_true(fabs(simplex_info(s).objective - objective) <= 1e-9 * (1 + fabs(objective)));
        }
        gpuopt_simplex_destroy(s);
    }
    assert_true(denied > 0); /* _set_basis allocates; adding and removing do not */
    mip_free(&m);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(memory_is_planned),
    cmocka_unit_test(refused),
    cmocka_unit_test(memory_is_denied),
};

TEST_MAIN(tests)
